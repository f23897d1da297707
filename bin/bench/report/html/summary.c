/* summary.c: the head of the page: how many matrices were solved, how good the choice is, how the
 * solvers stand. */
#include "config.h"

#include "page.h"

#include "base/noun.h"
#include "bin/bench/measure/summary.h"
#include "bin/bench/report/text.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- facts ----------------------------------------------------------------------------------- */

static void put_choice(FILE *f, const choice_sum *sum)
{
    fprintf(f, "<li><b>%.0f %%</b> of the choices are the fastest solver</li>\n",
            100. * sum->fastest / sum->count);
    for (int k = 0; k < BOUNDS; k++)
        fprintf(f, "<li><b>%.0f %%</b> are within %.1f of it</li>\n",
                100. * sum->within[k] / sum->count, choice_bounds[k]);
    fprintf(f, "<li><b>%.3f</b> geometric mean of choice over fastest</li>\n", choice_mean(sum));
    fprintf(f, "<li><b>%s</b> at worst</li>\n", number(sum->worst).s);
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
    if (first && *first->costs)
        fprintf(f, "<p class=\"why\">The choice goes by these costs: %s.</p>\n",
                escaped(first->costs).s);
    fputs("</section>\n", f);
}

/* ---- solvers --------------------------------------------------------------------------------- */

static const struct heading {
    const char *name, *about;
    size_t value; /* where it is in a standing */
} headings[] = {
    {"solved", "triangles that it solved accurately", offsetof(standing, good)},
    {"inaccurate", "triangles on which its backward error is too large",
     offsetof(standing, inaccurate)},
    {"refused", "triangles that it cannot solve", offsetof(standing, refused)},
    {"chosen", "triangles on which it is the automatic choice", offsetof(standing, chosen)},
    {"fastest", "triangles on which it is the fastest", offsetof(standing, fastest)},
    {"/fastest", "solve time over that of the fastest solver", offsetof(standing, over_fastest)},
    {"/cusparse", "solve time over that of cusparse", offsetof(standing, over_cusparse)},
    {"/cpu-serial", "solve time over that of cpu-serial", offsetof(standing, over_serial)},
};

enum { HEADINGS = sizeof headings / sizeof headings[0] };

static double value(const standing *t, int heading)
{
    return *(const double *)((const char *)t + headings[heading].value);
}

/* Columns that would hold dashes alone are left out. */
static void put_standings(FILE *f, const result *first, const standing *t)
{
    bool shown[HEADINGS] = {false};
    for (int h = 0; h < HEADINGS; h++) {
        for (int c = 0; c < first->count; c++) shown[h] = shown[h] || !isnan(value(&t[c], h));
        if (shown[h]) fprintf(f, "<th title=\"%s\">%s</th>", headings[h].about, headings[h].name);
    }
    fputs("</tr>\n", f);
    for (int c = 0; c < first->count; c++) {
        fprintf(f, "<tr><td>%s</td>", first->cells[c].solver.name);
        for (int h = 0; h < HEADINGS; h++)
            if (shown[h]) put_number(f, value(&t[c], h));
        fputs("</tr>\n", f);
    }
}

void put_solvers(const report *p)
{
    FILE *f = p->f;
    const result *first = first_solved(p->all);
    standing *t = calloc((size_t)first->count + 1, sizeof *t);
    for (int c = 0; t && c < first->count; c++) t[c] = find_standing(p->settings, p->all, c);
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
    if (t) put_standings(f, first, t);
    fputs("</table></div></section>\n", f);
    free(t);
}
