/* dense_figures.c: the figures of the seed documents, drawn anew from what --dense measured.
 *
 * A table says which curves a figure has.  There are the two figures of the seed "Dense Lower
 * Triangular Solver", figures 7 to 11 of "Effective GPU Strategies for LU Decomposition", the ratio
 * of "Improving Parallel LU Decomposition by ~20x", and one with every solver of each family. */
#include "config.h"

#include "kinds.h"
#include "script.h"

#include "bin/common/exits.h"

#include <math.h>

enum { MOST_CURVES = 8 };

static const char moves[] = "allocate and copy"; /* a curve of no solver */

/* clang-format off: a figure in a few lines, not each string in one */
/* What a figure shows of which solvers, up to the first that is NULL; SOLVER/N: with blocks of N.
 * One that names none shows every solver of the family. */
static const struct {
    const char *file, *title, *y;
    bool triangle;
    quantity what;
    const char *curves[MOST_CURVES];
} figures[] = {
    {"dense-kernels",
     "Dense Lower Triangular Solver, first figure: kernels",
     "ms",
     true,
     SOLVE_MS,
     {"dense-serial", "dense-simple", "dense-pair", "dense-doubling", "dense-doubling-tiled",
      "dense-blocked", "cublas-dense"}},
    {"dense-copies",
     "Dense Lower Triangular Solver, second figure: allocation and copies against the CPU",
     "ms",
     true,
     SOLVE_MS,
     {moves, "dense-serial", "dense-blocked"}},
    {"lu-figure7",
     "LU, figure 7: CPU and simple (without blocking) GPU",
     "ms to factor",
     false,
     FACTOR_MS,
     {"lu-serial", "lu-simple"}},
    {"lu-figure8",
     "LU, figure 8: update through rows, global and shared memory",
     "ms to factor",
     false,
     FACTOR_MS,
     {"lu-row-global", "lu-row-shared"}},
    {"lu-figure9",
     "LU, figure 9: update through columns, global and shared memory",
     "ms to factor",
     false,
     FACTOR_MS,
     {"lu-column-global", "lu-column-shared"}},
    {"lu-figure10",
     "LU, figure 10: rows, columns, elements",
     "ms to factor",
     false,
     FACTOR_MS,
     {"lu-row-shared", "lu-column-shared", "lu-element"}},
    {"lu-figure11",
     "LU, figure 11: block size of the update through columns, shared memory",
     "ms to factor",
     false,
     FACTOR_MS,
     {"lu-column-shared/16", "lu-column-shared/32", "lu-column-shared/64", "lu-column-shared/128",
      "lu-column-shared/256", "lu-column-shared/512"}},
    {"lu-submatrix",
     "LU: the full grid over the sub-matrix (the seed had 23)",
     "times as long",
     false,
     SUBMATRIX_RATIO,
     {"lu-fullgrid / lu-submatrix"}},
    {"all-triangles", "Triangles: every solver", "ms", true, SOLVE_MS, {NULL}},
    {"all-general", "LU and Gauss, to factor and to solve", "ms", false, SOLVE_MS, {NULL}},
};
/* clang-format on */

enum { FIGURES = sizeof figures / sizeof figures[0] };

/* Draws a curve over n, unless it has no point. */
static void add_curve(writer *w, const result_list *l, bool triangle, quantity what,
                      const char *curve)
{
    char solver[80], title[80];
    const int before = w->drawn;
    int block = 0;
    snprintf(title, sizeof title, "%s", curve);
    if (sscanf(curve, "%79[^/]/%d", solver, &block) == 2)
        snprintf(title, sizeof title, "block %d", block);
    if (curve == moves) what = MOVES_MS;
    for (const result *r = l->r; r < l->r + l->count; r++) {
        const double y = quantity_of(r, find_cell(r, solver, block), what);
        if (is_triangle(r) != triangle || isnan(y)) continue;
        if (w->drawn == before) curve_begin(w, before, "with linespoints lw 2", title);
        fprintf(w->f, "%.9g %.9g\n", (double)r->n, y);
    }
    if (w->drawn > before) curve_end(w);
}

static void add_every_solver(writer *w, const result_list *l, bool triangle, quantity what)
{
    const result *r = l->r, *end = l->r + l->count;
    while (r < end && (!r->count || is_triangle(r) != triangle)) r++;
    for (int k = 0; r < end && k < r->count; k++)
        if (!r->cells[k].block) add_curve(w, l, triangle, what, r->cells[k].solver.name);
}

int add_dense_figures(const result_list *results, figure_list *l)
{
    int code = EXIT_GOOD;
    for (int i = 0; i < FIGURES && !code; i++) {
        const char *const *curves = figures[i].curves;
        const bool triangle = figures[i].triangle;
        const quantity what = figures[i].what;
        writer w;
        code = figure_begin(&w, figures[i].file, figures[i].title, 860, 520);
        if (code) return code;
        fprintf(w.f,
                "set xlabel 'n'\nset logscale x 2\nset logscale y\nset format y '%%g'\n"
                "set key outside right top\nset ylabel '%s'\n",
                figures[i].y);
        if (!curves[0]) add_every_solver(&w, results, triangle, what);
        for (int k = 0; k < MOST_CURVES && curves[k]; k++)
            add_curve(&w, results, triangle, what, curves[k]);
        code = figure_end(&w, l);
    }
    return code;
}
