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

typedef struct curve_spec { /* what a curve shows */
    const char *solver;     /* NULL, in the first of a figure: every solver of the family */
    int block;              /* as in cell */
    quantity what;
} curve_spec;

enum { SPECS = 8 };

static const struct {
    const char *file, *title, *y;
    bool triangle;
    curve_spec curves[SPECS]; /* up to the first that is all 0 */
} figures[] = {
    {"dense-kernels",
     "Dense Lower Triangular Solver, first figure: kernels",
     "ms",
     true,
     {{"dense-serial", 0, SOLVE_MS},
      {"dense-simple", 0, SOLVE_MS},
      {"dense-pair", 0, SOLVE_MS},
      {"dense-doubling", 0, SOLVE_MS},
      {"dense-doubling-tiled", 0, SOLVE_MS},
      {"dense-blocked", 0, SOLVE_MS},
      {"cublas-dense", 0, SOLVE_MS}}},
    {"dense-copies",
     "Dense Lower Triangular Solver, second figure: allocation and copies against the CPU",
     "ms",
     true,
     {{"allocate and copy", 0, MOVES_MS},
      {"dense-serial", 0, SOLVE_MS},
      {"dense-blocked", 0, SOLVE_MS}}},
    {"lu-figure7",
     "LU, figure 7: CPU and simple (without blocking) GPU",
     "ms to factor",
     false,
     {{"lu-serial", 0, FACTOR_MS}, {"lu-simple", 0, FACTOR_MS}}},
    {"lu-figure8",
     "LU, figure 8: update through rows, global and shared memory",
     "ms to factor",
     false,
     {{"lu-row-global", 0, FACTOR_MS}, {"lu-row-shared", 0, FACTOR_MS}}},
    {"lu-figure9",
     "LU, figure 9: update through columns, global and shared memory",
     "ms to factor",
     false,
     {{"lu-column-global", 0, FACTOR_MS}, {"lu-column-shared", 0, FACTOR_MS}}},
    {"lu-figure10",
     "LU, figure 10: rows, columns, elements",
     "ms to factor",
     false,
     {{"lu-row-shared", 0, FACTOR_MS},
      {"lu-column-shared", 0, FACTOR_MS},
      {"lu-element", 0, FACTOR_MS}}},
    {"lu-figure11",
     "LU, figure 11: block size of the update through columns, shared memory",
     "ms to factor",
     false,
     {{"lu-column-shared", 16, FACTOR_MS},
      {"lu-column-shared", 32, FACTOR_MS},
      {"lu-column-shared", 64, FACTOR_MS},
      {"lu-column-shared", 128, FACTOR_MS},
      {"lu-column-shared", 256, FACTOR_MS},
      {"lu-column-shared", 512, FACTOR_MS}}},
    {"lu-submatrix",
     "LU: the full grid over the sub-matrix (the seed had 23)",
     "times as long",
     false,
     {{"lu-fullgrid / lu-submatrix", 0, SUBMATRIX_RATIO}}},
    {"all-triangles", "Triangles: every solver", "ms", true, {{NULL, 0, SOLVE_MS}}},
    {"all-general", "LU and Gauss, to factor and to solve", "ms", false, {{NULL, 0, SOLVE_MS}}},
};

enum { FIGURES = sizeof figures / sizeof figures[0] };

/* Draws a curve over n, unless it has no point. */
static void add_curve(writer *w, const result_list *l, bool triangle, const curve_spec *one)
{
    char name[80];
    const int before = w->drawn;
    snprintf(name, sizeof name, "%s", one->solver);
    if (one->block) snprintf(name, sizeof name, "block %d", one->block);
    for (const result *r = l->r; r < l->r + l->count; r++) {
        const double y = quantity_of(r, find_cell(r, one->solver, one->block), one->what);
        if (is_triangle(r) != triangle || isnan(y)) continue;
        if (w->drawn == before) curve_begin(w, before, "with linespoints lw 2", name);
        fprintf(w->f, "%.9g %.9g\n", (double)r->n, y);
    }
    if (w->drawn > before) curve_end(w);
}

static void add_every_solver(writer *w, const result_list *l, bool triangle, quantity what)
{
    const result *r = l->r, *end = l->r + l->count;
    while (r < end && (!r->count || is_triangle(r) != triangle)) r++;
    for (int k = 0; r < end && k < r->count; k++)
        if (!r->cells[k].block)
            add_curve(w, l, triangle, &(curve_spec){r->cells[k].solver.name, 0, what});
}

int add_dense_figures(const result_list *results, figure_list *l)
{
    int code = EXIT_GOOD;
    for (int i = 0; i < FIGURES && !code; i++) {
        const curve_spec *spec = figures[i].curves;
        const bool triangle = figures[i].triangle;
        writer w;
        code = figure_begin(&w, figures[i].file, figures[i].title, 860, 520);
        if (code) return code;
        fprintf(w.f,
                "set xlabel 'n'\nset logscale x 2\nset logscale y\nset format y '%%g'\n"
                "set key outside right top\nset ylabel '%s'\n",
                figures[i].y);
        if (!spec[0].solver) add_every_solver(&w, results, triangle, spec[0].what);
        for (int m = 0; m < SPECS && spec[m].solver; m++)
            add_curve(&w, results, triangle, &spec[m]);
        code = figure_end(&w, l);
    }
    return code;
}
