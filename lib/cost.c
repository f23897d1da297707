/* cost.c: predicted seconds of a solve, solver by solver, and the choice of the cheapest.
 *
 * A prediction has four terms: bytes moved, launches and barriers, hops (steps that wait for one
 * another), and copies of B and X when they live on the other side.  Each solver computes its own from
 * the shape of the triangle and the costs of single steps below. */
#include "config.h"

#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Measured on an NVIDIA H200 and its host; see doc/performance.md. */
static const trs_machine h200 = {
    .cpu_bytes = 15e9,
    .cpu_threads = 1,
    .cpu_entry = 0.45e-9,
    .cpu_barrier = 1.5e-6,
    .cpu_hop = 4e-9,
    .gpu_bytes = 4.5e12,
    .gpu_launch = 3.15e-6,
    .gpu_hop = 1.5e-6,
    .gpu_barrier = 0.03e-6,
    .gpu_gather = 118e9,
    .link_bytes = 25e9,
    .link_start = 10e-6,
};

const trs_machine *trs_machine_default(void)
{
    return &h200;
}

double trs_cost_seconds(const trs_cost *c)
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

static double predict(const trs_solver *s, const trs_shape *shape, const trs_machine *m,
                      bool on_device, trs_cost *c)
{
    memset(c, 0, sizeof *c);
    s->cost(shape, m, c);
    if (s->place == TRS_ON_CUDA && !on_device)
        c->copies =
            2 * m->link_start + 2 * (double)shape->n * shape->elem * shape->nrhs / m->link_bytes;
    return trs_cost_seconds(c);
}

/* "cpu-level 1.4 ms (bytes 1.1, sync 0.2, hops 0.1, copies 0)" */
static int describe(char *text, size_t size, const trs_solver *s, const trs_cost *c)
{
    return snprintf(text, size, "%s %.3g ms (bytes %.2g, sync %.2g, hops %.2g, copies %.2g)",
                    s->name, 1e3 * trs_cost_seconds(c), 1e3 * c->bytes, 1e3 * c->sync,
                    1e3 * c->hops, 1e3 * c->copies);
}

const trs_solver *trs_choose(const trs_context *ctx, const trs_shape *shape, bool on_device,
                             double *seconds, char *reason, size_t size)
{
    const trs_solver *best = NULL, *second = NULL;
    trs_cost cost, best_cost = {0}, second_cost = {0};
    trs_machine m = *trs_machine_default();
    char why[200];
    m.cpu_threads =
        ctx->threads < 8 ? ctx->threads : 8; /* memory, not cores, is the limit beyond */
    int gpu = -1;                            /* asked once: the answer is the same for all */
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || !trs_fits(s, shape, ctx->limit)) continue;
        if (s->place == TRS_ON_CPU && on_device) continue;
        if (s->place == TRS_ON_CUDA && gpu < 0)
            gpu = trs_solver_available(s, ctx->device, why, sizeof why);
        if (s->place == TRS_ON_CUDA &&
            (!gpu || !trs_solver_available(s, ctx->device, why, sizeof why)))
            continue;
        if (ctx->layout == TRS_ROW_MAJOR && ctx->nrhs > 1 && !(s->caps & TRS_CAP_ROW_MAJOR))
            continue;
        double t = predict(s, shape, &m, on_device, &cost);
        if (!best || t < trs_cost_seconds(&best_cost)) {
            second = best, second_cost = best_cost;
            best = s, best_cost = cost;
        } else if (!second || t < trs_cost_seconds(&second_cost)) {
            second = s, second_cost = cost;
        }
    }
    if (!best) return NULL;
    *seconds = trs_cost_seconds(&best_cost);
    int used = snprintf(
        reason, size, "%" PRId64 " levels, widest %" PRId64 ", longest row %" PRId64 ": predicted ",
        shape->levels, shape->widest, shape->longest);
    if (used > 0 && (size_t)used < size)
        used += describe(reason + used, size - (size_t)used, best, &best_cost);
    if (second && used > 0 && (size_t)used + 2 < size) {
        used += snprintf(reason + used, size - (size_t)used, "; next ");
        if ((size_t)used < size) describe(reason + used, size - (size_t)used, second, &second_cost);
    }
    return best;
}
