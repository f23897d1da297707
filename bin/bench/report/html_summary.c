/* html_summary.c: the head of the page: how many matrices were solved, how good the choice is, how
 * the solvers stand, where the choice is slow, what was refused; and every matrix in a line, with a link to
 * its own table. */
#include "config.h"

#include "html.h"
#include "summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts -------------------------------------------------------------------------------------- */

typedef struct census {
    int matrices, triangles, refused; /* --factor makes two triangles of a matrix */
    int inaccurate;                   /* solves by one solver */
} census;

static census take_census(const kept *k)
{
    census n = {0};
    for (int i = 0; i < k->count; i++) {
        const result *r = &k->r[i];
        const bool same =
            i > 0 && r->file && k->r[i - 1].file && !strcmp(r->file, k->r[i - 1].file);
        n.matrices += !same;
        n.triangles += r->count > 0;
        n.refused += r->count == 0;
        for (int c = 0; c < r->count; c++)
            n.inaccurate += !r->cells[c].status && !r->cells[c].accurate;
    }
    return n;
}

static choice_sum sum_choices(const settings *s, const kept *k)
{
    choice_sum sum = {0};
    for (int i = 0; i < k->count; i++) {
        const pick p = find_pick(s, &k->r[i]);
        if (k->r[i].count) choice_add(&sum, &p);
    }
    return sum;
}

/* ---- summary ------------------------------------------------------------------------------------- */

static void put_fact(FILE *f, const char *number_text, const char *what)
{
    fprintf(f, "<li><b>%s</b> %s</li>\n", number_text, what);
}

static void put_choice(FILE *f, const choice_sum *sum)
{
    char t[32], u[64];
    snprintf(t, sizeof t, "%.0f %%", 100. * sum->fastest / sum->count);
    put_fact(f, t, "of the choices are the fastest solver");
    for (int k = 0; k < BOUNDS; k++) {
        snprintf(t, sizeof t, "%.0f %%", 100. * sum->within[k] / sum->count);
        snprintf(u, sizeof u, "are within %.1f of it", choice_bounds[k]);
        put_fact(f, t, u);
    }
    snprintf(t, sizeof t, "%.3f", choice_mean(sum));
    put_fact(f, t, "geometric mean of choice over fastest");
    put_fact(f, number(t, sizeof t, sum->worst), "at worst");
}

void html_summary(FILE *f, const settings *s, const kept *k)
{
    const census n = take_census(k);
    const choice_sum sum = sum_choices(s, k);
    const result *first = first_solved(k);
    fputs("<section id=\"summary\"><h2>Summary</h2>\n<ul class=\"facts\">\n", f);
    fprintf(f, "<li><b>%d</b> matri%s</li>\n", n.matrices, n.matrices == 1 ? "x" : "ces");
    if (n.triangles != n.matrices - n.refused)
        fprintf(f, "<li><b>%d</b> triangles of them solved</li>\n", n.triangles);
    else fprintf(f, "<li><b>%d</b> solved</li>\n", n.triangles);
    if (n.refused) fprintf(f, "<li><b>%d</b> <a href=\"#failed\">refused</a></li>\n", n.refused);
    if (n.inaccurate)
        fprintf(f,
                "<li class=\"bad\"><b>%d</b> <a href=\"#failed\">solves too inaccurate</a></li>\n",
                n.inaccurate);
    if (first && !s->dense) fprintf(f, "<li><b>%d</b> solvers</li>\n", first->count);
    if (sum.count) put_choice(f, &sum);
    fputs("</ul>\n", f);
    if (first && *first->costs) {
        fputs("<p class=\"why\">The choice goes by these costs: ", f);
        html_text(f, first->costs);
        fputs(".</p>\n", f);
    }
    fputs("</section>\n", f);
}

/* ---- solvers ------------------------------------------------------------------------------------- */

static const struct heading {
    const char *name, *about;
} headings[] = {
    {"solved", "triangles that it solved accurately"},
    {"inaccurate", "triangles on which its backward error is too large"},
    {"refused", "triangles that it cannot solve"},
    {"chosen", "triangles on which it is the automatic choice"},
    {"fastest", "triangles on which it is the fastest"},
    {"/fastest", "solve time over that of the fastest solver"},
    {"/cusparse", "solve time over that of cusparse"},
    {"/cpu-serial", "solve time over that of cpu-serial"},
};

enum { HEADINGS = sizeof headings / sizeof headings[0] };

/* Of standings in the order of headings; NaN: a dash. */
static void put_values(const standing *t, double value[HEADINGS])
{
    const double all[HEADINGS] = {t->good,
                                  t->inaccurate,
                                  t->refused,
                                  t->chosen,
                                  t->fastest < 0 ? (double)NAN : t->fastest,
                                  t->over_fastest,
                                  t->over_cusparse,
                                  t->over_serial};
    memcpy(value, all, sizeof all);
}

void html_solvers(FILE *f, const settings *s, const kept *k)
{
    const result *first = first_solved(k);
    bool shown[HEADINGS] = {false};
    double value[HEADINGS];
    fprintf(
        f,
        "<section id=\"solvers\"><h2>Solvers</h2>\n<p>Counts of triangles; then geometric means, "
        "over the triangles that both solve, of the solve time over that of the fastest solver "
        "and over those of two that are named.%s</p>\n"
        "<div class=\"wide\"><table><tr><th>solver</th>",
        s->device != TRS_HOST && !s->on_host
            ? " Solvers on the CPU take no part in the choice, nor in what is fastest: their B "
              "and X are on the host."
            : "");
    for (int c = 0; c < first->count; c++) {
        const standing t = find_standing(s, k, c);
        put_values(&t, value);
        for (int h = 0; h < HEADINGS; h++) shown[h] = shown[h] || !isnan(value[h]);
    }
    for (int h = 0; h < HEADINGS; h++)
        if (shown[h]) fprintf(f, "<th title=\"%s\">%s</th>", headings[h].about, headings[h].name);
    fputs("</tr>\n", f);
    for (int c = 0; c < first->count; c++) {
        const standing t = find_standing(s, k, c);
        put_values(&t, value);
        fprintf(f, "<tr><td>%s</td>", first->cells[c].solver.name);
        for (int h = 0; h < HEADINGS; h++)
            if (shown[h]) html_number(f, value[h]);
        fputs("</tr>\n", f);
    }
    fputs("</table></div></section>\n", f);
}

/* ---- where the choice is slow ----------------------------------------------------------------------- */

typedef struct slow {
    const result *r;
    pick pick;
} slow;

static int slowest_first(const void *a, const void *b)
{
    const double x = ((const slow *)a)->pick.ratio, y = ((const slow *)b)->pick.ratio;
    return (x < y) - (x > y);
}

static int find_slow(const settings *s, const kept *k, slow *list)
{
    int count = 0;
    for (int i = 0; i < k->count; i++) {
        const pick p = find_pick(s, &k->r[i]);
        if (p.ratio > choice_bounds[BOUNDS - 1]) list[count++] = (slow){&k->r[i], p};
    }
    qsort(list, (size_t)count, sizeof *list, slowest_first);
    return count;
}

void html_slow(FILE *f, const settings *s, const kept *k)
{
    enum { SHOWN = 25 };
    const double bound = choice_bounds[BOUNDS - 1];
    slow *list = calloc((size_t)k->count + 1, sizeof *list);
    const int count = list ? find_slow(s, k, list) : 0;
    fputs("<section id=\"slow\"><h2>Where the choice is slow</h2>\n", f);
    if (!count) fprintf(f, "<p>Nowhere more than %.1f times the fastest.</p>\n", bound);
    else {
        fprintf(f,
                "<p>On %d triangle%s it takes more than %.1f times as long as the fastest%s.</p>\n",
                count, count == 1 ? "" : "s", bound, count > SHOWN ? "; the worst" : "");
        fputs("<div "
              "class=\"wide\"><table><tr><th>matrix</th><th>levels</th><th "
              "class=\"word\">choice</th><th>ms</th>"
              "<th class=\"word\">fastest</th><th>ms</th><th>/fastest</th></tr>\n",
              f);
    }
    for (int i = 0; i < count && i < SHOWN; i++) {
        const pick *p = &list[i].pick;
        fputs("<tr><td>", f);
        html_link(f, k, list[i].r);
        fprintf(f, "</td><td>%" PRId64 "</td><td class=\"word\">%s</td>", list[i].r->levels,
                p->taken->solver.name);
        html_number(f, 1e3 * p->taken->solve.median);
        fprintf(f, "<td class=\"word\">%s</td>", p->best->solver.name);
        html_number(f, 1e3 * p->best->solve.median);
        html_number(f, p->ratio);
        fputs("</tr>\n", f);
    }
    if (count) fputs("</table></div>\n", f);
    fputs("</section>\n", f);
    free(list);
}

/* ---- what failed -------------------------------------------------------------------------------- */

static void put_inaccurate(FILE *f, const kept *k, const result *r, const cell *c)
{
    fputs("<tr class=\"bad\"><td>", f);
    html_link(f, k, r);
    fprintf(f, "</td><td class=\"why\">%s: backward error %.1e</td></tr>\n", c->solver.name,
            c->solver.accuracy == TRS_INVERTING ? c->error.normwise : c->error.omega);
}

bool html_any_failed(const kept *k)
{
    const census n = take_census(k);
    return n.refused || n.inaccurate;
}

void html_failed(FILE *f, const kept *k)
{
    if (!html_any_failed(k)) return;
    fputs("<section id=\"failed\"><h2>Refused or inaccurate</h2>\n<div class=\"wide\"><table>\n"
          "<tr><th>matrix</th><th class=\"why\">why</th></tr>\n",
          f);
    for (int i = 0; i < k->count; i++) {
        const result *r = &k->r[i];
        for (int c = 0; c < r->count; c++)
            if (!r->cells[c].status && !r->cells[c].accurate) put_inaccurate(f, k, r, &r->cells[c]);
        if (r->count) continue;
        fprintf(f, "<tr id=\"m%d\"><td>", i + 1);
        html_text(f, r->name);
        fputs("</td><td class=\"why\">", f);
        html_text(f, r->trouble);
        fputs("</td></tr>\n", f);
    }
    fputs("</table></div></section>\n", f);
}

/* ---- every matrix in a line ------------------------------------------------------------------------ */

static void put_line(FILE *f, const settings *s, const kept *k, const result *r, bool choices)
{
    const pick p = find_pick(s, r);
    fputs("<tr><td>", f);
    html_link(f, k, r);
    if (!r->count) {
        fprintf(f, "</td><td colspan=\"%d\" class=\"why\">refused</td></tr>\n", choices ? 7 : 5);
        return;
    }
    fprintf(f, "</td><td>%" PRId64 "</td><td>%" PRId64 "</td><td>%" PRId64 "</td>", r->n, r->nnz,
            r->levels);
    fprintf(f, "<td class=\"word\">%s</td>", p.best ? p.best->solver.name : "-");
    html_number(f, p.best ? 1e3 * dense_seconds(r, p.best) : (double)NAN);
    if (choices) {
        fprintf(f, "<td class=\"word\">%s</td>", p.taken ? p.taken->solver.name : "-");
        html_number(f, p.ratio);
    }
    fputs("</tr>\n", f);
}

void html_index(FILE *f, const settings *s, const kept *k)
{
    const bool choices = sum_choices(s, k).count > 0;
    fprintf(
        f,
        "<section id=\"matrices\"><h2>Matrices</h2>\n<div class=\"wide\"><table>"
        "<tr><th>matrix</th><th>n</th><th>nnz</th><th>levels</th><th class=\"word\">fastest</th>"
        "<th>ms</th>%s</tr>\n",
        choices ? "<th class=\"word\">choice</th><th>/fastest</th>" : "");
    for (int i = 0; i < k->count; i++) put_line(f, s, k, &k->r[i], choices);
    fputs("</table></div></section>\n", f);
}
