/* bench_html.c: --html: one page with everything in it: where it ran, a table a matrix, and the figures,
 * where gnuplot is there to draw them. */
#include "config.h"

#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct html {
    const settings *settings;
    const host *host;
    output out;
    kept all;
} html;

static const char style[] =
    "body{font:15px sans-serif;margin:2em;max-width:72em}table{border-collapse:collapse}\n"
    "td,th{padding:.15em .7em;text-align:right}th{border-bottom:1px solid}\n"
    "td:first-child,th:first-child,td.why{text-align:left}tr.best{font-weight:bold}\n"
    ".why{color:#666}svg{max-width:100%;height:auto}\n";

static void put_text(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '<') fputs("&lt;", f);
        else if (*text == '&') fputs("&amp;", f);
        else if (*text == '"') fputs("&quot;", f);
        else fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
}

static int begin(const settings *s, const host *h, void **data)
{
    if (!s->html) return EXIT_GOOD;
    html *p = *data = calloc(1, sizeof *p);
    if (!p) return out_of_memory();
    p->settings = s;
    p->host = h;
    int code = file_open(&p->out, s->html);
    if (code) return code;
    FILE *f = p->out.f;
    fprintf(f,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<title>trisolve-bench</title>\n<style>%s</style></head><body>\n"
            "<h1>trisolve-bench %s, %s</h1>\n<p>GPU: ",
            style, trs_version(), h->date);
    put_text(f, h->gpu);
    fputs("<br>CPU: ", f);
    put_text(f, h->cpu);
    fprintf(f,
            ", %d thread%s</p>\n<p>Times in ms, medians, warm; %s. "
            "Bold: the fastest solve.</p>\n",
            h->threads, h->threads == 1 ? "" : "s",
            s->on_host ? "B and X on the host" : "GPU solvers find B and X in device memory");
    return EXIT_GOOD;
}

/* ---- a table a matrix ----------------------------------------------------------------------------- */

static void put_number(FILE *f, double v)
{
    char t[32];
    fprintf(f, "<td>%s</td>", number(t, sizeof t, v));
}

static void put_cell(FILE *f, const result *r, const cell *c, bool best)
{
    const bool normwise = c->solver.accuracy == TRS_INVERTING;
    fputs(best ? "<tr class=\"best\"><td>" : "<tr><td>", f);
    put_text(f, c->solver.name);
    if (c->block) fprintf(f, "/%d", c->block);
    fputs("</td>", f);
    if (c->status) {
        fputs("<td colspan=\"8\" class=\"why\">refused: ", f);
        put_text(f, c->message);
        fputs("</td></tr>\n", f);
        return;
    }
    put_number(f, 1e3 * c->analysis);
    put_number(f, 1e3 * c->setup);
    put_number(f, 1e3 * c->update);
    put_number(f, c->factor > 0 ? 1e3 * c->factor : (double)NAN);
    put_number(f, 1e3 * c->solve.median);
    fprintf(f, "<td>%.1e%s%s</td>", normwise ? c->error.normwise : c->error.omega,
            normwise ? " N" : "", c->accurate ? "" : " inaccurate");
    put_number(f, over_solve(r, c, "cusparse"));
    put_number(f, over_solve(r, c, "cpu-serial"));
    fprintf(f, "<td class=\"why\">%s%s%s</td></tr>\n", c->auto_host ? "choice for the host" : "",
            c->auto_host && c->auto_device ? ", " : "",
            c->auto_device ? "choice for the device" : "");
}

static const cell *fastest(const result *r)
{
    const cell *best = NULL;
    for (int k = 0; k < r->count; k++) {
        const cell *c = &r->cells[k];
        if (!c->status && c->accurate && (!best || dense_seconds(r, c) < dense_seconds(r, best)))
            best = c;
    }
    return best;
}

static int add(void *data, const result *r)
{
    html *p = data;
    FILE *f = p->out.f;
    fputs("<h2>", f);
    put_text(f, r->name);
    fputs("</h2>\n", f);
    if (*r->trouble) {
        fputs("<p class=\"why\">refused: ", f);
        put_text(f, r->trouble);
        fputs("</p>\n", f);
        return EXIT_GOOD;
    }
    fprintf(f,
            "<p>%s, n %" PRId64 ", nnz %" PRId64 ", %" PRId64 " levels, widest %" PRId64
            ", longest row %" PRId64 "; %s, op %s, %d right-hand side%s</p>\n<table>"
            "<tr><th>solver</th><th>analysis</th><th>setup</th><th>update</th><th>factor</th>"
            "<th>solve</th><th>error</th><th>/cusparse</th><th>/cpu-serial</th><th></th></tr>\n",
            kind_name(r->kind), r->n, r->nnz, r->levels, r->widest, r->longest,
            dtype_name(r->dtype), op_name(p->settings->op), p->settings->nrhs,
            p->settings->nrhs == 1 ? "" : "s");
    for (int k = 0; k < r->count; k++) put_cell(f, r, &r->cells[k], &r->cells[k] == fastest(r));
    fputs("</table>\n", f);
    return keep(&p->all, r);
}

/* ---- figures ------------------------------------------------------------------------------------------ */

/* The svg element without what stands before it in a file of its own; false: it could not be drawn. */
static bool put_figure(FILE *f, const figure *one)
{
    char line[4096];
    bool inside = false;
    FILE *svg = tmpfile();
    if (!svg) return false;
    bool drawn = draw(one->script, svg) == 0;
    rewind(svg);
    while (drawn && fgets(line, sizeof line, svg)) {
        inside = inside || !strncmp(line, "<svg", 4);
        if (inside) fputs(line, f);
    }
    fclose(svg);
    return inside;
}

static int put_figures(html *p)
{
    FILE *f = p->out.f;
    figure_list l;
    int code = make_figures(p->settings, &p->all, &l);
    bool drawn = true;
    if (l.count) fputs("<h2>Figures</h2>\n", f);
    for (int k = 0; k < l.count && drawn; k++) {
        fputs("<div>\n", f);
        drawn = put_figure(f, &l.figure[k]);
        fputs("</div>\n", f);
    }
    if (!drawn) fputs("<p>gnuplot is not here, or failed: no figures.</p>\n", f);
    if (!drawn) complain("--html: gnuplot is not here, or failed: no figures");
    figures_free(&l);
    fputs("</body></html>\n", f);
    return code;
}

static int end(void *data, bool complete)
{
    html *p = data;
    int code = EXIT_GOOD;
    if (p->out.f) {
        if (complete) code = put_figures(p);
        int closed = file_close(&p->out, complete && !code);
        if (!code) code = closed;
    }
    kept_free(&p->all);
    free(p);
    return code;
}

const report report_html = {begin, add, end};
