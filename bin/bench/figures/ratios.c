/* ratios.c: levels.svg: the solve time of every solver over that of the reference, against the
 * number of levels.  It shows what is gained where few levels let many rows be solved at a time,
 * and what many levels cost. */
#include "config.h"

#include "kinds.h"
#include "script.h"

#include "bin/common/exits.h"

#include <inttypes.h>
#include <math.h>

static int count_points(const result_list *l, int solver, const char *reference)
{
    int count = 0;
    for (int i = 0; i < l->count; i++) {
        const result *r = &l->r[i];
        count += r->count && !isnan(over_solve(r, &r->cells[solver], reference));
    }
    return count;
}

static void put_points(FILE *f, const result_list *l, int solver, const char *reference)
{
    fprintf(f, "$d%d << EOD\n", solver);
    for (int i = 0; i < l->count; i++) {
        const result *r = &l->r[i];
        const double ratio = r->count ? over_solve(r, &r->cells[solver], reference) : (double)NAN;
        if (!isnan(ratio)) fprintf(f, "%" PRId64 " %.5g\n", r->levels, ratio);
    }
    fputs("EOD\n", f);
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
    const char *join = "plot";
    const result *first = first_solved(l);
    int most = 0;
    writer w;
    for (int c = 0; c < v->solvers; c++) {
        const int points = v->is_drawn[c] ? count_points(l, c, v->reference) : 0;
        if (points > most) most = points;
    }
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
    for (int c = 0; c < first->count; c++)
        if (v->is_drawn[c]) put_points(w.f, l, c, v->reference);
    for (int c = 0; c < first->count; c++) {
        if (!v->is_drawn[c]) continue;
        const int place = place_of(l, c);
        fprintf(w.f, "%s $d%d using 1:(cut($2)) with points pt %d", join, c, 4 + place % 11);
        put_colour(w.f, place);
        fputs(" title ", w.f);
        put_quoted(w.f, first->cells[c].solver.name);
        join = ", \\\n ";
    }
    fputc('\n', w.f);
    return figure_end(&w, figures);
}
