/* dense_figures.c: the figures of the seed documents, drawn anew from what --dense measured.
 *
 * One table: which curves a figure has.  Seed "Dense Lower Triangular Solver": its two; seed "Effective
 * GPU Strategies for LU Decomposition": figures 7 to 11; seed "Improving Parallel LU Decomposition by
 * ~20x": its ratio; and each family whole. */
#include "config.h"

#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum quantity { KERNEL, FACTOR, MOVES, RATIO } quantity;

typedef struct line {
    const char *solver; /* NULL with KERNEL and FACTOR: every solver of the family */
    int block;
    quantity what;
} line;

enum { LINES = 8, CURVES = 64 };

static const struct {
    const char *file, *title, *y;
    bool triangle;
    line lines[LINES]; /* up to the first of nothing */
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

static double value(const result *r, const line *l)
{
    const cell *c = find_cell(r, l->solver, l->block);
    const cell *full = find_cell(r, "lu-fullgrid", 0), *sub = find_cell(r, "lu-submatrix", 0);
    switch (l->what) {
    case KERNEL:
        return c ? 1e3 * dense_seconds(r, c) : (double)NAN;
    case FACTOR:
        return c && c->factor > 0 ? 1e3 * c->factor : (double)NAN;
    case MOVES:
        return r->alloc > 0 && r->copy > 0 ? 1e3 * (r->alloc + r->copy) : (double)NAN;
    default:
        return full && sub ? full->factor / sub->factor : (double)NAN;
    }
}

typedef struct canvas { /* the curves of one figure */
    const kept *results;
    bool triangle;
    int count, points;
    curve curve[CURVES];
    double *number; /* [(CURVES + 1) * points]: the sizes, then the curves */
} canvas;

/* One curve; none without a single point. */
static void add_curve(canvas *v, const line *l)
{
    if (v->count == CURVES) return;
    double *y = v->number + (v->count + 1) * v->points;
    curve *c = &v->curve[v->count];
    bool any = false;
    int point = 0;
    for (int i = 0; i < v->results->count; i++) {
        const result *r = &v->results->r[i];
        if (!!(r->kind & TRS_LOWER) != v->triangle) continue;
        v->number[point] = (double)r->n;
        y[point] = value(r, l);
        any = any || !isnan(y[point]);
        point++;
    }
    *c = (curve){.count = point, .x = v->number, .y = y};
    if (l->block) snprintf(c->name, sizeof c->name, "block %d", l->block);
    else snprintf(c->name, sizeof c->name, "%s", l->solver);
    if (any) v->count++;
}

static void add_every_solver(canvas *v, quantity what)
{
    const result *r = v->results->r, *end = r + v->results->count;
    while (r < end && (!r->count || !!(r->kind & TRS_LOWER) != v->triangle)) r++;
    if (r == end) return;
    for (int k = 0; k < r->count; k++)
        if (!r->cells[k].block) add_curve(v, &(line){r->cells[k].solver.name, 0, what});
}

int add_dense_figures(const kept *k, figure_list *l)
{
    int code = EXIT_GOOD;
    canvas v = {.results = k, .points = k->count};
    v.number = calloc((size_t)(CURVES + 1) * (size_t)(k->count + 1), sizeof *v.number);
    if (!v.number) return out_of_memory();
    for (int i = 0; i < FIGURES && !code; i++) {
        const line *lines = figures[i].lines;
        v.count = 0;
        v.triangle = figures[i].triangle;
        if (!lines[0].solver) add_every_solver(&v, lines[0].what);
        for (int m = 0; m < LINES && lines[m].solver; m++) add_curve(&v, &lines[m]);
        if (v.count)
            code = add_lines(l, figures[i].file, figures[i].title, figures[i].y, v.count, v.curve);
    }
    free(v.number);
    return code;
}
