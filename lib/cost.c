/* cost.c: predicted seconds of a solve, solver by solver, and the choice of the cheapest.
 *
 * A prediction has four terms: bytes moved, launches and barriers, hops (steps that wait for one
 * another), and copies of B and X when they live on the other side.  Each solver computes its own from
 * the shape of the triangle and the costs of single steps below. */
#include "config.h"

#include "gpu.h"
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Measured on an NVIDIA H200 and its host; see doc/performance.md. */
static const trs_machine h200 = {
    .cpu_threads = 1,
    .cpu_byte = 1 / 15e9,
    .cpu_cached = 1 / 40e9,
    .cpu_entry = 0.2e-9,
    .cpu_row = 2e-9,
    .cpu_hop = 2e-9,
    .cpu_barrier = 2e-6,
    .gpu_byte = 1 / 4.5e12,
    .gpu_gather = 1 / 118e9,
    .gpu_launch = 2.7e-6,
    .link_byte = 1 / 25e9,
    .link_start = 10e-6,
};

enum { CACHE = 48 << 20 }; /* bytes of a matrix that stay near the core between solves */

double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows)
{
    double entry = s->elem + 4, row = 8 + 3 * s->elem;
    bool cached = (double)s->nnz * entry + (double)s->n * row < CACHE;
    double bytes = (entries * entry + rows * row) * (cached ? m->cpu_cached : m->cpu_byte);
    return (bytes + entries * m->cpu_entry + rows * m->cpu_row) * s->nrhs;
}

static double seconds(const trs_cost *c)
{
    return c->bytes + c->sync + c->hops + c->copies;
}

void trs_shape_of(const trs_side *s, int nrhs, trs_shape *shape)
{
    const trs_levels *lv = &s->lv;
    *shape =
        (trs_shape){.n = s->tri.n, .nnz = s->tri.nnz, .levels = lv->count, .widest = lv->widest};
    shape->elem = (double)trs_size(s->tri.dtype);
    shape->nrhs = nrhs;
    for (int32_t l = 0; l < lv->count; l++) {
        int64_t entries = 0, longest = 0;
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) {
            int64_t length = s->tri.ptr[lv->topo[k] + 1] - s->tri.ptr[lv->topo[k]];
            entries += length;
            if (length > longest) longest = length;
        }
        shape->sum_longest += (double)longest;
        if (longest > shape->longest) shape->longest = longest;
        if (entries < TRS_THIN) shape->thin_entries += (double)entries;
        else shape->wide_levels++;
    }
}

enum {
    FULL_LIMIT = 8
}; /* GiB that a solver storing a full matrix may take when nothing was said */

bool trs_fits(const trs_solver *s, const trs_shape *shape, int64_t limit)
{
    if (limit == 0 && s->full) limit = (int64_t)FULL_LIMIT << 30;
    return limit == 0 || s->bytes(shape) <= limit;
}

double trs_predict(const trs_context *ctx, const trs_solver *s, const trs_shape *shape,
                   bool on_device, trs_cost *c)
{
    trs_machine m = h200;
    m.cpu_threads = ctx->threads < 8 ? ctx->threads : 8; /* beyond, memory is the limit */
    memset(c, 0, sizeof *c);
    s->cost(shape, &m, c);
    if (s->place == TRS_ON_CUDA && !on_device)
        c->copies =
            2 * m.link_start + 2 * (double)shape->n * shape->elem * shape->nrhs * m.link_byte;
    return seconds(c);
}

/* What snprintf wrote of what it wanted to write. */
static size_t written(int wanted, size_t size)
{
    if (wanted < 0 || size == 0) return 0;
    return (size_t)wanted < size ? (size_t)wanted : size - 1;
}

size_t trs_describe_shape(char *text, size_t size, const trs_shape *s)
{
    return written(snprintf(text, size,
                            "%" PRId64 " levels, widest %" PRId64 ", longest row %" PRId64,
                            s->levels, s->widest, s->longest),
                   size);
}

/* "; next cpu-level 1.4 ms (bytes 1.1, sync 0.2, hops 0.1, copies 0)" */
static size_t describe(char *text, size_t size, const char *before, const trs_solver *s,
                       const trs_cost *c)
{
    return written(snprintf(text, size,
                            "%s%s %.3g ms (bytes %.2g, sync %.2g, hops %.2g, copies %.2g)", before,
                            s->name, 1e3 * seconds(c), 1e3 * c->bytes, 1e3 * c->sync, 1e3 * c->hops,
                            1e3 * c->copies),
                   size);
}

/* Can it be asked at all? The GPU is looked for once: *gpu is -1 before. */
static bool eligible(const trs_context *ctx, const trs_solver *s, const trs_shape *shape,
                     bool on_device, int *gpu)
{
    char why[200];
    if (s->family != TRS_TRIANGLE || !trs_fits(s, shape, ctx->limit)) return false;
    if (ctx->layout == TRS_ROW_MAJOR && ctx->nrhs > 1 && !(s->caps & TRS_CAP_ROW_MAJOR))
        return false;
    if (ctx->bitwise && !(s->caps & TRS_CAP_BITWISE)) return false;
    if (s->place == TRS_ON_CPU) return !on_device;
    if (*gpu < 0) *gpu = !trs_gpu_probe(ctx->device, why, sizeof why);
    return *gpu && trs_solver_available(s, ctx->device, why, sizeof why);
}

/* The simplest solver is left only for one that is clearly predicted to be faster. */
static const double CLEARLY = 1.25, NOT_WORTH_IT = 10e-6;

typedef struct candidate {
    const trs_solver *solver;
    double seconds;
    trs_cost cost;
} candidate;

const trs_solver *trs_choose(const trs_context *ctx, const trs_shape *shape, bool on_device,
                             double *predicted, char *reason, size_t size)
{
    candidate best = {0}, second = {0}, serial = {0};
    int gpu = -1;
    for (int k = 0; trs_solver_at(k); k++) {
        candidate c = {.solver = trs_solver_at(k)};
        if (!eligible(ctx, c.solver, shape, on_device, &gpu)) continue;
        c.seconds = trs_predict(ctx, c.solver, shape, on_device, &c.cost);
        if (c.solver == &trs_solver_cpu_serial) serial = c;
        if (!best.solver || c.seconds < best.seconds) second = best, best = c;
        else if (!second.solver || c.seconds < second.seconds) second = c;
    }
    if (!best.solver) return NULL;
    if (best.solver != serial.solver && serial.solver &&
        serial.seconds <= CLEARLY * best.seconds + NOT_WORTH_IT)
        second = best, best = serial;
    *predicted = best.seconds;
    size_t used = trs_describe_shape(reason, size, shape);
    used += describe(reason + used, size - used, ": predicted ", best.solver, &best.cost);
    if (second.solver) describe(reason + used, size - used, "; next ", second.solver, &second.cost);
    return best.solver;
}
