/* html.c: --html: one page that needs no other file: where it ran, a summary, the figures where gnuplot
 * is there to draw them, and a table a matrix.  What a visitor wants first stands first, so that the page is
 * written when all results are there. */
#include "config.h"

#include "bin/bench/figures/figures.h"
#include "html.h"
#include "summary.h"

#include <stdlib.h>
#include <string.h>

typedef struct html {
    const settings *settings;
    const host *host;
    output out;
    kept all;
} html;

/* Tables that are wider than the window scroll by themselves, with their first column in sight; the
 * page never does.  Figures are drawn on white: in the dark their lightness is turned round. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--faint:#5f6670;--line:#d8dce1;"
    "--shade:#f3f5f7;--link:#0b57a4;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e3e5e8;--paper:#16181b;--faint:#9aa2ac;"
    "--line:#363b42;--shade:#1f2327;--link:#7fb8f5;--bad:#ff8a80}"
    "figure svg{filter:invert(.91) hue-rotate(180deg)}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:68rem;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.5rem;margin:.3em 0}\n"
    "h2{font-size:1.25rem;margin:2em 0 .5em;border-bottom:1px solid var(--line)}\n"
    "h3{font-size:1rem;margin:1.8em 0 0;overflow-wrap:anywhere}p{margin:.4em 0}\n"
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
    ".why,small,figcaption{color:var(--faint)}.bad,.bad td{color:var(--bad)}\n"
    "nav ul,.facts{list-style:none;padding:0;margin:.8em 0;display:flex;flex-wrap:wrap;"
    "gap:.4em 1.2em}\n"
    ".facts{gap:.6em}.facts li{background:var(--shade);border-radius:6px;padding:.4em .8em}"
    ".facts b{font-size:1.25rem;margin-right:.2em}\n"
    ".wide{overflow-x:auto;margin:.5em 0}figure div{overflow:auto;max-height:90vh}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:.15em .7em;text-align:right;vertical-align:top;white-space:nowrap}\n"
    "th{font-weight:600;box-shadow:inset 0 -1px var(--faint)}\n"
    "tr:nth-child(2n+3) td{background:var(--shade)}\n"
    "td:first-child,th:first-child{text-align:left;position:sticky;left:0;"
    "background:var(--paper)}\n"
    "td.why,th.why,.word{text-align:left}td.why{white-space:normal;min-width:16em}\n"
    "tr.best td{font-weight:600}td small{font-weight:400;margin-left:.4em}\n"
    "tr:target td,:target>h3{background:#fd05}\n"
    "figure{margin:1.5em 0}figure svg{display:block;width:100%;max-width:860px;min-width:520px;"
    "height:auto}figcaption{max-width:54rem}\n"
    "@media(max-width:40rem){body{padding:.7rem}td,th{padding:.15em .45em;font-size:14px}"
    "td:first-child{min-width:9em;max-width:11em;white-space:normal;overflow-wrap:anywhere}"
    "td small{display:block;margin:0}}\n";

void html_text(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '<') fputs("&lt;", f);
        else if (*text == '&') fputs("&amp;", f);
        else if (*text == '"') fputs("&quot;", f);
        else fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
}

void html_number(FILE *f, double v)
{
    char t[32];
    fprintf(f, "<td>%s</td>", number(t, sizeof t, v));
}

int html_place(const kept *k, const result *r)
{
    return (int)(r - k->r) + 1;
}

void html_link(FILE *f, const kept *k, const result *r)
{
    fprintf(f, "<a href=\"#m%d\">", html_place(k, r));
    html_text(f, r->name);
    fputs("</a>", f);
}

static int begin(const settings *s, const host *h, void **data)
{
    if (!s->html) return EXIT_GOOD;
    html *p = *data = calloc(1, sizeof *p);
    if (!p) return out_of_memory();
    p->settings = s;
    p->host = h;
    return file_open(&p->out, s->html);
}

static int add(void *data, const result *r)
{
    return keep(&((html *)data)->all, r);
}

/* ---- figures ------------------------------------------------------------------------------------------ */

/* The svg element without what stands before it in a file of its own, and with the title of the figure,
 * which is what is shown to who cannot see it; false: it could not be drawn. */
static bool put_svg(FILE *f, const figure *one)
{
    char line[4096];
    bool inside = false;
    FILE *svg = tmpfile();
    if (!svg) return false;
    bool drawn = draw(one->script, svg) == 0;
    rewind(svg);
    while (drawn && fgets(line, sizeof line, svg)) {
        inside = inside || !strncmp(line, "<svg", 4);
        if (!inside) continue;
        if (strncmp(line, "<title>", 7)) fputs(line, f);
        else fputs("<title>", f), html_text(f, one->title), fputs("</title>\n", f);
    }
    fclose(svg);
    return inside;
}

static bool put_figure(FILE *f, const figure *one)
{
    fprintf(f, "<figure id=\"figure-%s\"><div>\n", one->file);
    const bool drawn = put_svg(f, one);
    fputs("</div>", f);
    if (*one->caption) {
        fputs("<figcaption>", f);
        html_text(f, one->caption);
        fputs("</figcaption>", f);
    }
    fputs("</figure>\n", f);
    return drawn;
}

/* All figures in a file of their own, since the contents before them name only what could be drawn; NULL: they could
 * not be. */
static FILE *draw_figures(const figure_list *l)
{
    FILE *drawn = l->count ? tmpfile() : NULL;
    for (int k = 0; k < l->count && drawn; k++) {
        if (put_figure(drawn, &l->figure[k])) continue;
        fclose(drawn);
        drawn = NULL;
    }
    if (l->count && !drawn) complain("--html: gnuplot is not here, or failed: no figures");
    return drawn;
}

static void put_figures(FILE *f, FILE *drawn)
{
    char some[4096];
    fputs("<section id=\"figures\"><h2>Figures</h2>\n", f);
    if (!drawn) fputs("<p>gnuplot is not here, or failed: no figures.</p>\n", f);
    else rewind(drawn);
    for (size_t n; drawn && (n = fread(some, 1, sizeof some, drawn)) > 0;) fwrite(some, 1, n, f);
    fputs("</section>\n", f);
}

/* ---- the page ----------------------------------------------------------------------------------------- */

static void put_head(const html *p)
{
    const host *h = p->host;
    FILE *f = p->out.f;
    fprintf(f,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>trisolve-bench, %s</title>\n<style>%s</style></head><body>\n"
            "<h1>trisolve-bench</h1>\n<p>Version %s, %s<br>GPU: ",
            h->date, style, trs_version(), h->date);
    html_text(f, h->gpu);
    fputs("<br>CPU: ", f);
    html_text(f, h->cpu);
    fprintf(
        f,
        ", %d thread%s</p>\n<p>Times in ms, medians, warm; %s. Bold: the fastest solve. A ratio "
        "below 1 is faster.</p>\n",
        h->threads, h->threads == 1 ? "" : "s",
        p->settings->on_host ? "B and X on the host" : "GPU solvers find B and X in device memory");
}

/* Sections that --dense has not: its two families have other solvers, and nothing is chosen. */
static bool has_choices(const html *p)
{
    return first_solved(&p->all) && !p->settings->dense;
}

static void put_contents(FILE *f, const html *p, const figure_list *l, bool drawn)
{
    fputs("<nav><ul><li><a href=\"#summary\">Summary</a></li>", f);
    if (has_choices(p)) fputs("<li><a href=\"#solvers\">Solvers</a></li>", f);
    if (l->count) fputs("<li><a href=\"#figures\">Figures</a>", f);
    for (int k = 0; k < l->count && drawn; k++)
        fprintf(f, "%s <a href=\"#figure-%s\">%s</a>", k ? "," : ":", l->figure[k].file,
                l->figure[k].file);
    if (l->count) fputs("</li>", f);
    if (has_choices(p)) fputs("<li><a href=\"#slow\">Where the choice is slow</a></li>", f);
    if (html_any_failed(&p->all))
        fputs("<li><a href=\"#failed\">Refused or inaccurate</a></li>", f);
    fputs("<li><a href=\"#matrices\">Matrices</a></li></ul></nav>\n", f);
}

static void put_page(const html *p, const figure_list *l, FILE *drawn)
{
    FILE *f = p->out.f;
    put_head(p);
    put_contents(f, p, l, drawn != NULL);
    html_summary(f, p->settings, &p->all);
    if (has_choices(p)) html_solvers(f, p->settings, &p->all);
    if (l->count) put_figures(f, drawn);
    if (has_choices(p)) html_slow(f, p->settings, &p->all);
    html_failed(f, &p->all);
    html_index(f, p->settings, &p->all);
    for (int i = 0; i < p->all.count; i++)
        if (p->all.r[i].count) html_matrix(f, p->settings, &p->all, &p->all.r[i]);
    fputs("</body></html>\n", f);
}

static int write_page(const html *p)
{
    figure_list l;
    int code = make_figures(p->settings, &p->all, &l);
    FILE *drawn = code ? NULL : draw_figures(&l);
    if (!code) put_page(p, &l, drawn);
    if (drawn) fclose(drawn);
    figures_free(&l);
    return code;
}

static int end(void *data, bool complete)
{
    html *p = data;
    int code = EXIT_GOOD;
    if (p->out.f) {
        if (complete) code = write_page(p);
        int closed = file_close(&p->out, complete && !code);
        if (!code) code = closed;
    }
    kept_free(&p->all);
    free(p);
    return code;
}

const report report_html = {begin, add, end};
