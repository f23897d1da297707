/* profile.c: profile.svg: the performance profile of the solvers.
 *
 * E. D. Dolan and J. J. More, "Benchmarking optimization software with performance profiles",
 * Mathematical Programming 91 (2002), 201-213.  With t(p, s) the time of solver s on problem p,
 *
 *     r(p, s)   = t(p, s) / min over s of t(p, s),   infinite when s does not solve p,
 *     rho(s, x) = (number of p with r(p, s) <= x) / (number of problems).
 *
 * rho(s, 1) is the share of the problems on which s is the fastest, and the height that its curve
 * reaches is the share that it solves at all. */
#include "config.h"

#include "kinds.h"
#include "script.h"

#include "bin/bench/measure/summary.h"
#include "bin/common/message.h"

#include <math.h>
#include <stdlib.h>

static const double widest_axis = 100; /* ratios that are larger lie beyond the figure */

typedef struct profile {
    const settings *settings;
    const result_list *all;
    int problems;  /* that some solver solves */
    int curves;    /* of solvers that are drawn */
    double *ratio; /* [all->count] the ratios of the solver that is looked at */
    double end;    /* of the axis */
} profile;

enum { CHOICE = -1 }; /* in place of a solver's number: the one that is chosen on each problem */

/* The cell of a solver that counts towards its profile; NULL: it did not solve this problem, or
 * nobody did. */
static const cell *find_solve(const profile *p, const result *r, const choice *one, int solver)
{
    if (!one->best) return NULL;
    const cell *c = solver == CHOICE ? one->taken : &r->cells[solver];
    return c && counts(p->settings, c) ? c : NULL;
}

/* Stores the finite ratios of a solver in p->ratio, ascending; returns how many there are. */
static int find_ratios(const profile *p, int solver)
{
    int count = 0;
    for (int i = 0; i < p->all->count; i++) {
        const result *r = &p->all->r[i];
        const choice one = find_choice(p->settings, r);
        const cell *c = find_solve(p, r, &one, solver);
        if (c) p->ratio[count++] = c->solve.median / one.best->solve.median;
    }
    qsort(p->ratio, (size_t)count, sizeof *p->ratio, ascending);
    return count;
}

/* The steps of rho as points: gnuplot draws from each to the next first along x, then up. */
static void put_curve(writer *w, const profile *p, int solver)
{
    const int count = find_ratios(p, solver);
    const int place = solver == CHOICE ? 0 : place_of(p->all, solver);
    char style[100] = "with steps lw 3 dt '.' lc 'black'";
    if (!count || p->ratio[0] > p->end) return; /* it has no point within the axis */
    if (solver != CHOICE)
        snprintf(style, sizeof style, "with steps lw 2 dt %d lc rgb '%s'", 1 + place / 10,
                 colour_of(place));
    curve_begin(w, solver + 1, style,
                solver == CHOICE ? "automatic choice"
                                 : first_solved(p->all)->cells[solver].solver.name);
    fputs("1 0\n", w->f);
    for (int k = 0; k < count; k++)
        if (k + 1 == count || p->ratio[k] < p->ratio[k + 1])
            fprintf(w->f, "%.5g %.5g\n", p->ratio[k], (double)(k + 1) / p->problems);
    fprintf(w->f, "%.5g %.5g\n", fmax(p->end, p->ratio[count - 1]), (double)count / p->problems);
    curve_end(w);
}

/* Counts problems and curves; the axis ends at the largest ratio, or at the widest axis. */
static void find_scope(profile *p)
{
    const result *first = first_solved(p->all);
    for (int i = 0; i < p->all->count; i++)
        p->problems += find_choice(p->settings, &p->all->r[i]).best != NULL;
    p->end = 2;
    for (int c = 0; c < first->count; c++) {
        const int count = find_ratios(p, c);
        if (count) p->end = fmax(p->end, 1.05 * p->ratio[count - 1]);
    }
    p->end = fmin(p->end, widest_axis);
    for (int c = 0; c < first->count; c++)
        p->curves += find_ratios(p, c) > 0 && p->ratio[0] <= p->end;
}

static int add_figure(const profile *p, figure_list *l)
{
    writer w;
    int code = figure_begin(&w, "profile", "Performance profile of the solves", FIGURE_WIDTH,
                            figure_height(p->curves + 1));
    if (code) return code;
    snprintf(
        w.figure.caption, sizeof w.figure.caption,
        "For each solver the share of the %d triangles that it solves in at most so many times "
        "the time of the fastest (Dolan and Mor\xc3\xa9, 2002). At 1 that is the share on which "
        "it is the fastest; a curve that stays below 1 belongs to a solver that cannot solve "
        "them all, or takes on some more than %.3g times as long. Solvers that always do are "
        "not drawn.%s",
        p->problems, p->end,
        in_device_memory(p->settings)
            ? " Those on the CPU take no part: their B and X are elsewhere."
            : "");
    fprintf(w.f,
            "set logscale x\nset xrange [1:%.4g]\nset yrange [0:1.02]\nset xtics %s\n"
            "set xlabel 'times as long as the fastest' offset 0,0.4\n"
            "set ylabel 'share of the triangles'\nset key below height 1\n",
            p->end, ratio_tics);
    for (int c = 0; c < first_solved(p->all)->count; c++) put_curve(&w, p, c);
    put_curve(&w, p, CHOICE);
    return figure_end(&w, l);
}

int add_profile(const settings *s, const result_list *results, figure_list *l)
{
    profile p = {.settings = s, .all = results};
    p.ratio = calloc((size_t)results->count + 1, sizeof *p.ratio);
    if (!p.ratio) return out_of_memory();
    find_scope(&p);
    int code = p.curves > 1 && p.problems > 1 ? add_figure(&p, l) : EXIT_GOOD;
    free(p.ratio);
    return code;
}
