/* bars.c: solve.svg: matrix by matrix, the solve time of every solver over that of the reference,
 * as bars.
 *
 * A ratio r is drawn on a logarithmic axis as a bar between 1 and r.  Its length is |log r|, so
 * that twice as fast and half as fast look alike, to the left and to the right; the length of a bar
 * that began at the end of the axis would depend on where the axis ends.  A bar that reaches beyond
 * the axis is cut there, and its ratio is written beside it. */
#include "config.h"

#include "kinds.h"
#include "script.h"

#include "bin/common/exits.h"

#include <math.h>

enum { MOST = 300 }; /* triangles: nobody reads more of them, and the file would grow huge */

enum { BAR = 7, GAP = 7, AROUND = 130 }; /* pixels: of a bar, between matrices, of title and key */

/* gnuplot takes "?" for no number: one of the two solvers did not run. */
static void put_ratio(FILE *f, double ratio)
{
    if (isnan(ratio)) fputs(" ?", f);
    else fprintf(f, " %.5g", ratio);
}

static void put_data(FILE *f, const result_list *l, const comparison *v)
{
    const result *first = first_solved(l);
    fputs("$d << EOD\nmatrix", f);
    for (int c = 0; c < first->count; c++)
        if (v->points[c]) fprintf(f, " %s", first->cells[c].solver.name);
    for (int i = 0; i < l->count; i++) {
        const result *r = &l->r[i];
        if (!r->count) continue;
        fputc('\n', f);
        put_column(f, r->name);
        for (int c = 0; c < r->count; c++)
            if (v->points[c]) put_ratio(f, ratio_of(v, r, c));
    }
    fputs("\nEOD\n", f);
}

/* The names of the rows: "set ytics ('name' 0, ...)". */
static void put_names(FILE *f, const result_list *l)
{
    int row = 0;
    fputs("set ytics scale 0 font ',11' (", f);
    for (int i = 0; i < l->count; i++) {
        if (!l->r[i].count) continue;
        if (row) fputs(", ", f);
        put_quoted(f, l->r[i].name);
        fprintf(f, " %d", row++);
    }
    fputs(")\n", f);
}

/* A row has the height 1, from $0 - 1/2 to $0 + 1/2, which the middles of its bars cut into bars + 1
 * equal parts: that of bar k is y(k). */
static void put_axes(FILE *f, int rows, const comparison *v)
{
    fprintf(f, "bars = %d\n", v->drawn);
    put_cut(f, v);
    for (int top = 0; top < 2; top++)
        fprintf(f, "set logscale x%s\nset x%srange [low:high]\nset x%stics %s\n", top ? "2" : "",
                top ? "2" : "", top ? "2" : "", ratio_tics);
    fprintf(f, "set yrange [%d - 0.5:-0.5]\n", rows);
    fputs("set grid xtics noytics\nset key outside top center horizontal\nset rmargin 9\n"
          "set style fill solid 1 noborder\n"
          "set arrow from 1, graph 0 to 1, graph 1 nohead front lw 1.2 lc 'black'\n"
          "y(k) = $0 + (k - 0.5 * (bars + 1)) / (bars + 1)\n"
          "half = 0.45 / (bars + 1)\n"
          "beyond(r) = r < low || r > high ? cut(r) : NaN\n",
          f);
}

int add_bars(const result_list *l, const comparison *v, figure_list *figures)
{
    char title[128];
    const result *first = first_solved(l);
    const int rows = v->triangles, bars = v->drawn;
    writer w;
    if (!bars || rows > MOST) return EXIT_GOOD;
    snprintf(title, sizeof title, "Solve time over that of %s (below 1: faster)", v->reference);
    const int key = 10 * bars; /* its lines are 20 high, and name two bars each */
    const int height = AROUND + key + rows * (BAR * bars + GAP);
    int code = figure_begin(&w, "solve", title, FIGURE_WIDTH, height);
    if (code) return code;
    snprintf(
        w.figure.caption, sizeof w.figure.caption,
        "Bars begin at 1, %s: to the left a solver is faster, to the right it is slower. A bar "
        "that is longer than the axis is cut off, and its ratio is written at its end.%s",
        v->reference, v->left_out);
    put_data(w.f, l, v);
    put_names(w.f, l);
    put_axes(w.f, rows, v);
    for (int c = 0, bar = 1; c < first->count; c++) {
        if (!v->points[c]) continue;
        fprintf(next_part(&w),
                "$d using (cut(column(%d))):(y(%d)):(1):(cut(column(%d))):(y(%d) - half):"
                "(y(%d) + half) with boxxyerror title columnheader(%d) lc rgb '%s'",
                bar + 1, bar, bar + 1, bar, bar, bar + 1, colour_of(place_of(l, c)));
        bar++;
    }
    fputs("for [k=1:bars] $d using (beyond(column(k+1))):(y(k)):(sprintf('%.4g', column(k+1))) "
          "with labels left offset 0.3,0 font ',9' notitle columnheader",
          next_part(&w));
    return figure_end(&w, figures);
}
