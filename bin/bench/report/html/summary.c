/* summary.c: the head of the page: how many matrices were solved, how good the choice is, how the
 * solvers stand. */
#include "config.h"

#include "page.h"

#include "base/noun.h"
#include "bin/bench/measure/summary.h"
#include "bin/bench/report/text.h"

#include <math.h>
#include <string.h>

/* ---- facts ----------------------------------------------------------------------------------- */

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

static void put_counts(FILE *f, const census *n)
{
    fprintf(f, "<li><b>%d</b> %s</li>\n", n->matrices, trs_noun(n->matrices, "matrix", "matrices"));
    fprintf(f, "<li><b>%d</b> %s</li>\n", n->triangles,
            n->triangles != n->matrices - n->refused ? "triangles of them solved" : "solved");
    if (n->refused) fprintf(f, "<li><b>%d</b> <a href=\"#failed\">refused</a></li>\n", n->refused);
    if (n->inaccurate)
        fprintf(f,
                "<li class=\"bad\"><b>%d</b> <a href=\"#failed\">solves too inaccurate</a></li>\n",
                n->inaccurate);
}

void put_summary(const report *p)
{
    FILE *f = p->f;
    const census n = take_census(p->all);
    const choice_sum sum = sum_choices(p->settings, p->all);
    const result *first = first_solved(p->all);
    fputs("<section id=\"summary\"><h2>Summary</h2>\n<ul class=\"facts\">\n", f);
    put_counts(f, &n);
    if (first && !p->settings->dense) fprintf(f, "<li><b>%d</b> solvers</li>\n", first->count);
    if (sum.count) put_choice(f, &sum);
    fputs("</ul>\n", f);
    if (first && *first->costs) {
        fputs("<p class=\"why\">The choice goes by these costs: ", f);
        put_text(f, first->costs);
        fputs(".</p>\n", f);
    }
    fputs("</section>\n", f);
}

/* ---- solvers --------------------------------------------------------------------------------- */

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

/* The values in the order of the headings; NaN: a dash. */
static void list_values(const standing *t, double value[HEADINGS])
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

/* Marks the headings whose columns would not hold dashes alone. */
static void find_shown(const report *p, int solvers, bool shown[HEADINGS])
{
    double value[HEADINGS];
    for (int c = 0; c < solvers; c++) {
        const standing t = find_standing(p->settings, p->all, c);
        list_values(&t, value);
        for (int h = 0; h < HEADINGS; h++) shown[h] = shown[h] || !isnan(value[h]);
    }
}

static void put_solver(const report *p, const char *name, int solver, const bool shown[HEADINGS])
{
    double value[HEADINGS];
    const standing t = find_standing(p->settings, p->all, solver);
    list_values(&t, value);
    fprintf(p->f, "<tr><td>%s</td>", name);
    for (int h = 0; h < HEADINGS; h++)
        if (shown[h]) put_number(p->f, value[h]);
    fputs("</tr>\n", p->f);
}

void put_solvers(const report *p)
{
    FILE *f = p->f;
    const result *first = first_solved(p->all);
    bool shown[HEADINGS] = {false};
    fprintf(
        f,
        "<section id=\"solvers\"><h2>Solvers</h2>\n<p>Counts of triangles; then geometric means, "
        "over the triangles that both solve, of the solve time over that of the fastest solver "
        "and over those of two that are named.%s</p>\n"
        "<div class=\"wide\"><table><tr><th>solver</th>",
        in_device_memory(p->settings)
            ? " Solvers on the CPU take no part in the choice, nor in what is fastest: their B "
              "and X are on the host."
            : "");
    find_shown(p, first->count, shown);
    for (int h = 0; h < HEADINGS; h++)
        if (shown[h]) fprintf(f, "<th title=\"%s\">%s</th>", headings[h].about, headings[h].name);
    fputs("</tr>\n", f);
    for (int c = 0; c < first->count; c++) put_solver(p, first->cells[c].solver.name, c, shown);
    fputs("</table></div></section>\n", f);
}
