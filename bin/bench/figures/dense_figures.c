/* dense_figures.c: the figures of the seed documents, drawn anew from what --dense measured.
 *
 * A table says which curves a figure has.  There are the two figures of the seed "Dense Lower
 * Triangular Solver", figures 7 to 11 of "Effective GPU Strategies for LU Decomposition", the ratio
 * of "Improving Parallel LU Decomposition by ~20x", and one with every solver of each family. */
#include "config.h"

#include "kinds.h"
#include "script.h"

#include "base/debug.h"
#include "bin/common/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum quantity {
    KERNEL, /* ms to solve */
    FACTOR, /* ms to factor */
    MOVES,  /* ms to allocate on the device and to copy */
    RATIO   /* of lu-fullgrid over lu-submatrix */
} quantity;

typedef struct curve_spec { /* what a curve shows */
    const char *solver;     /* NULL, in the first of a figure: every solver of the family */
    int block;              /* as in cell */
    quantity what;
} curve_spec;

enum { SPECS = 8, CURVES = 64 };

static const struct {
    const char *file, *title, *y;
    bool triangle;
    curve_spec curves[SPECS]; /* up to the first that is all 0 */
} figures[] = {
    {"dense-kernels",
     "Dense Lower Triangular Solver, first figure: kernels",
     "ms",
     true,
     {{"dense-serial", 0, KERNEL},
      {"dense-simple", 0, KERNEL},
      {"dense-pair", 0, KERNEL},
      {"dense-doubling", 0, KERNEL},
      {"dense-doubling-tiled", 0, KERNEL},
      {"dense-blocked", 0, KERNEL},
      {"cublas-dense", 0, KERNEL}}},
    {"dense-copies",
     "Dense Lower Triangular Solver, second figure: allocation and copies against the CPU",
     "ms",
     true,
     {{"allocate and copy", 0, MOVES}, {"dense-serial", 0, KERNEL}, {"dense-blocked", 0, KERNEL}}},
    {"lu-figure7",
     "LU, figure 7: CPU and simple (without blocking) GPU",
     "ms to factor",
     false,
     {{"lu-serial", 0, FACTOR}, {"lu-simple", 0, FACTOR}}},
    {"lu-figure8",
     "LU, figure 8: update through rows, global and shared memory",
     "ms to factor",
     false,
     {{"lu-row-global", 0, FACTOR}, {"lu-row-shared", 0, FACTOR}}},
    {"lu-figure9",
     "LU, figure 9: update through columns, global and shared memory",
     "ms to factor",
     false,
     {{"lu-column-global", 0, FACTOR}, {"lu-column-shared", 0, FACTOR}}},
    {"lu-figure10",
     "LU, figure 10: rows, columns, elements",
     "ms to factor",
     false,
     {{"lu-row-shared", 0, FACTOR}, {"lu-column-shared", 0, FACTOR}, {"lu-element", 0, FACTOR}}},
    {"lu-figure11",
     "LU, figure 11: block size of the update through columns, shared memory",
     "ms to factor",
     false,
     {{"lu-column-shared", 16, FACTOR},
      {"lu-column-shared", 32, FACTOR},
      {"lu-column-shared", 64, FACTOR},
      {"lu-column-shared", 128, FACTOR},
      {"lu-column-shared", 256, FACTOR},
      {"lu-column-shared", 512, FACTOR}}},
    {"lu-submatrix",
     "LU: the full grid over the sub-matrix (the seed had 23)",
     "times as long",
     false,
     {{"lu-fullgrid / lu-submatrix", 0, RATIO}}},
    {"all-triangles", "Triangles: every solver", "ms", true, {{NULL, 0, KERNEL}}},
    {"all-general", "LU and Gauss, to factor and to solve", "ms", false, {{NULL, 0, KERNEL}}},
};

enum { FIGURES = sizeof figures / sizeof figures[0] };

static double value(const result *r, const curve_spec *l)
{
    const cell *c = find_cell(r, l->solver, l->block);
    const cell *full = find_cell(r, "lu-fullgrid", 0), *sub = find_cell(r, "lu-submatrix", 0);
    switch (l->what) {
    case KERNEL:
        return c ? 1e3 * seconds_to_solve(r, c) : (double)NAN;
    case FACTOR:
        return c && c->factor > 0 ? 1e3 * c->factor : (double)NAN;
    case MOVES:
        return r->alloc > 0 && r->copy > 0 ? 1e3 * (r->alloc + r->copy) : (double)NAN;
    default:
        return full && sub ? full->factor / sub->factor : (double)NAN;
    }
}

typedef struct canvas { /* the curves of one figure */
    const result_list *results;
    bool triangle;
    int count, points;
    curve curve[CURVES];
    double *x; /* [points] the sizes */
    double *y; /* [CURVES * points] the curves, one after the other */
} canvas;

/* Adds a curve, unless it has no point. */
static void add_curve(canvas *v, const curve_spec *l)
{
    if (v->count == CURVES) return;
    double *y = v->y + v->count * v->points;
    curve *c = &v->curve[v->count];
    bool any = false;
    int point = 0;
    for (int i = 0; i < v->results->count; i++) {
        const result *r = &v->results->r[i];
        if (is_triangle(r) != v->triangle) continue;
        v->x[point] = (double)r->n;
        y[point] = value(r, l);
        any = any || !isnan(y[point]);
        point++;
    }
    TRS_ASSERT(point <= v->points);
    *c = (curve){.count = point, .x = v->x, .y = y};
    if (l->block) snprintf(c->name, sizeof c->name, "block %d", l->block);
    else snprintf(c->name, sizeof c->name, "%s", l->solver);
    if (any) v->count++;
}

static void add_every_solver(canvas *v, quantity what)
{
    const result *r = v->results->r, *end = r + v->results->count;
    while (r < end && (!r->count || is_triangle(r) != v->triangle)) r++;
    if (r == end) return;
    for (int k = 0; k < r->count; k++)
        if (!r->cells[k].block) add_curve(v, &(curve_spec){r->cells[k].solver.name, 0, what});
}

int add_dense_figures(const result_list *results, figure_list *l)
{
    int code = EXIT_GOOD;
    canvas v = {.results = results, .points = results->count};
    v.x = calloc((size_t)results->count + 1, sizeof *v.x);
    v.y = calloc(CURVES * ((size_t)results->count + 1), sizeof *v.y);
    if (!v.x || !v.y) code = out_of_memory();
    for (int i = 0; i < FIGURES && !code; i++) {
        const curve_spec *spec = figures[i].curves;
        v.count = 0;
        v.triangle = figures[i].triangle;
        if (!spec[0].solver) add_every_solver(&v, spec[0].what);
        for (int m = 0; m < SPECS && spec[m].solver; m++) add_curve(&v, &spec[m]);
        if (v.count)
            code = add_curves(l, figures[i].file, figures[i].title, figures[i].y, v.count, v.curve);
    }
    free(v.x);
    free(v.y);
    return code;
}
