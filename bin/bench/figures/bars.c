/* bars.c: solve.svg: matrix by matrix, the solve time of every solver over that of the reference, as bars.
 *
 * A ratio r is drawn on a logarithmic axis as a bar between 1 and r: its length is |log r|, so that twice
 * as fast and half as fast look alike, to the left and to the right.  (Bars that begin at the end of the
 * axis have lengths that depend on where the axis ends.)  What lies beyond the axis is cut there and
 * its number is written beside it. */
#include "config.h"

#include "figures.h"
#include "bin/bench/report/summary.h"

#include <math.h>

/* Triangles: of a larger collection nobody reads them all, and the file grows huge. */
enum { MOST = 300 };

enum { BAR = 7, GAP = 7, AROUND = 130 }; /* pixels: a bar, between matrices, title and key */

/* "?" where one of the two did not run. */
static void put_ratio(FILE *f, double ratio)
{
    if (isnan(ratio)) fputs(" ?", f);
    else fprintf(f, " %.5g", ratio);
}

static int count_rows(const kept *k)
{
    int rows = 0;
    for (int i = 0; i < k->count; i++) rows += k->r[i].count > 0;
    return rows;
}

static void put_data(FILE *f, const kept *k, const comparison *v)
{
    const result *first = first_solved(k);
    fputs("$d << EOD\nmatrix", f);
    for (int c = 0; c < first->count; c++)
        if (v->is_drawn[c]) fprintf(f, " %s", first->cells[c].solver.name);
    for (int i = 0; i < k->count; i++) {
        const result *r = &k->r[i];
        if (!r->count) continue;
        fputc('\n', f);
        put_column(f, r->name);
        for (int c = 0; c < r->count; c++)
            if (v->is_drawn[c]) put_ratio(f, over_solve(r, &r->cells[c], v->reference));
    }
    fputs("\nEOD\n", f);
}

/* "set ytics ('name' 0, ...)": the names of the rows. */
static void put_names(FILE *f, const kept *k)
{
    int row = 0;
    fputs("set ytics scale 0 font ',11' (", f);
    for (int i = 0; i < k->count; i++) {
        if (!k->r[i].count) continue;
        if (row) fputs(", ", f);
        put_quoted(f, k->r[i].name);
        fprintf(f, " %d", row++);
    }
    fputs(")\n", f);
}

/* Bar k of row $0 goes from 1 to its ratio, and its middle is at y(k). */
static void put_axes(FILE *f, int rows, const comparison *v)
{
    fprintf(f, "bars = %d\nlow = %.4g\nhigh = %.4g\n", v->drawn, v->low, v->high);
    for (int top = 0; top < 2; top++)
        fprintf(f, "set logscale x%s\nset x%srange [low:high]\nset x%stics %s\n", top ? "2" : "",
                top ? "2" : "", top ? "2" : "", ratio_tics);
    fprintf(f, "set yrange [%d - 0.5:-0.5]\n", rows);
    fputs("set grid xtics noytics\nset key outside top center horizontal\nset rmargin 9\n"
          "set style fill solid 1 noborder\n"
          "set arrow from 1, graph 0 to 1, graph 1 nohead front lw 1.2 lc 'black'\n"
          "y(k) = $0 + (k - 0.5 * (bars + 1)) / (bars + 1)\n"
          "half = 0.45 / (bars + 1)\n"
          "cut(r) = r < low ? low : r > high ? high : r\n"
          "beyond(r) = r < low || r > high ? cut(r) : NaN\n",
          f);
}

int add_bars(const kept *k, const comparison *v, figure_list *l)
{
    char title[128];
    const result *first = first_solved(k);
    const int rows = count_rows(k), bars = v->drawn;
    writer w;
    if (!bars || rows > MOST) return EXIT_GOOD;
    snprintf(title, sizeof title, "Solve time over that of %s (below 1: faster)", v->reference);
    const int height = AROUND + 10 * bars + rows * (BAR * bars + GAP); /* the key: two in 20 */
    int code = figure_begin(&w, "solve", title, FIGURE_WIDTH, height);
    if (code) return code;
    snprintf(
        w.figure.caption, sizeof w.figure.caption,
        "Bars begin at 1, %s: to the left a solver is faster, to the right it is slower. A bar "
        "that is longer than the axis is cut off, and its ratio is written at its end.%s",
        v->reference, v->left_out);
    put_data(w.f, k, v);
    put_names(w.f, k);
    put_axes(w.f, rows, v);
    fputs("plot", w.f);
    for (int c = 0, bar = 0; c < first->count; c++) {
        if (!v->is_drawn[c]) continue;
        bar++;
        fprintf(w.f,
                " $d using (cut(column(%d))):(y(%d)):(1):(cut(column(%d))):(y(%d) - half):"
                "(y(%d) + half) with boxxyerror title columnheader(%d)",
                bar + 1, bar, bar + 1, bar, bar, bar + 1);
        put_colour(w.f, place_of(k, c));
        fputs(", \\\n ", w.f);
    }
    fputs(" for [k=1:bars] $d using (beyond(column(k+1))):(y(k)):(sprintf('%.4g', column(k+1))) "
          "with labels left offset 0.3,0 font ',9' notitle columnheader\n",
          w.f);
    return figure_end(&w, l);
}
