/* ratios.c: levels.svg: the solve time of every solver over that of the reference, against the
 * number of levels.  It shows what is gained where few levels let many rows be solved at a time,
 * and what many levels cost. */
#include "config.h"

#include "kinds.h"
#include "script.h"

#include "bin/common/exits.h"

#include <inttypes.h>
#include <math.h>

static void put_points(writer *w, const result_list *l, const comparison *v, int solver)
{
    const int place = place_of(l, solver);
    char style[100];
    snprintf(style, sizeof style, "using 1:(cut($2)) with points pt %d lc rgb '%s'", 4 + place % 11,
             colour_of(place));
    curve_begin(w, solver, style, first_solved(l)->cells[solver].solver.name);
    for (int i = 0; i < l->count; i++) {
        const double ratio = ratio_of(v, &l->r[i], solver);
        if (!isnan(ratio)) fprintf(w->f, "%" PRId64 " %.5g\n", l->r[i].levels, ratio);
    }
    curve_end(w);
}

static void put_axes(FILE *f, const comparison *v)
{
    put_cut(f, v);
    fprintf(f, "set yrange [low:high]\nset logscale xy\nset format x '%%g'\nset ytics %s\n",
            ratio_tics);
    fprintf(f, "set xlabel 'levels' offset 0,0.4\nset ylabel 'times as long as %s'\n",
            v->reference);
    fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead lc 'black'\n"
          "set key below height 1\nset pointsize 0.7\n",
          f);
}

int add_ratios(const result_list *l, const comparison *v, figure_list *figures)
{
    char title[128];
    int most = 0;
    writer w;
    for (int c = 0; c < v->solvers; c++)
        if (v->points[c] > most) most = v->points[c];
    if (most < 2) return EXIT_GOOD;
    snprintf(title, sizeof title, "Solve time over that of %s, by levels (below 1: faster)",
             v->reference);
    int code = figure_begin(&w, "levels", title, FIGURE_WIDTH, figure_height(v->drawn));
    if (code) return code;
    snprintf(w.figure.caption, sizeof w.figure.caption,
             "A point is a triangle. The levels are the rows on its longest path of dependencies: "
             "the fewer there are, the more rows can be solved side by side. "
             "What lies beyond the axis is drawn at its end.%s",
             v->left_out);
    put_axes(w.f, v);
    for (int c = 0; c < v->solvers; c++)
        if (v->points[c]) put_points(&w, l, v, c);
    return figure_end(&w, figures);
}
