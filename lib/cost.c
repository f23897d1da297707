/* cost.c: predicted seconds of a solve, solver by solver, and the choice of the cheapest.
 *
 * A prediction has four terms: bytes moved, launches and barriers, hops (steps that wait for one
 * another), and copies of B and X when they live on the other side.  Each solver computes its own from
 * the shape of the triangle and the costs of single steps (machine.c). */
#include "config.h"

#include "gpu.h"
#include "internal.h"
#include "noun.h"
#include "stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMPLEX = 8 }; /* times the arithmetic of an entry: no two are done at once */

double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows)
{
    double entry = s->elem + 4, row = 8 + 3 * s->elem;
    bool cached = (double)s->nnz * entry + (double)s->n * row < TRS_CACHE;
    double bytes = (entries * entry + rows * row) * (cached ? m->cpu_cached : m->cpu_byte);
    const double each = m->cpu_entry * (s->is_complex ? COMPLEX : 1);
    return (bytes + entries * each + rows * m->cpu_row) * s->nrhs;
}

static double seconds(const trs_cost *c)
{
    return c->bytes + c->sync + c->hops + c->copies;
}

typedef struct counting { /* integers, so the same for any number of threads */
    const trs_side *s;
    _Atomic int64_t longest, sum_longest, thin, wide;
} counting;

/* Of levels begin..end-1. */
static trs_tally tally_of(const trs_side *s, int64_t begin, int64_t end)
{
    const trs_levels *lv = &s->lv;
    const int64_t *Lp = s->tri.ptr;
    trs_tally t = {0};
    for (int64_t l = begin; l < end; l++) {
        int64_t entries = 0, most = 0;
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) {
            const int64_t length = Lp[lv->topo[k] + 1] - Lp[lv->topo[k]];
            entries += length;
            if (length > most) most = length;
        }
        t.sum_longest += most;
        if (most > t.longest) t.longest = most;
        if (entries < TRS_THIN) t.thin += entries;
        else t.wide++;
    }
    return t;
}

/* The same where each is the row of that number, and short. */
static bool tally_chain(const trs_side *s, int64_t begin, int64_t end, trs_tally *t)
{
    const int64_t *Lp = s->tri.ptr, entries = Lp[end] - Lp[begin];
    int64_t longest = 0;
    if (s->lv.count < s->tri.n) return false;
    for (int64_t i = begin; i < end; i++)
        longest = Lp[i + 1] - Lp[i] > longest ? Lp[i + 1] - Lp[i] : longest;
    *t = (trs_tally){longest, entries, entries, 0};
    return longest < TRS_THIN;
}

static void tally_some(void *user, int64_t begin, int64_t end)
{
    counting *all = user;
    trs_tally t;
    if (!tally_chain(all->s, begin, end, &t)) t = tally_of(all->s, begin, end);
    all->sum_longest += t.sum_longest;
    all->thin += t.thin;
    all->wide += t.wide;
    int64_t found = all->longest;
    while (t.longest > found && !atomic_compare_exchange_weak(&all->longest, &found, t.longest))
        continue;
}

void trs_tally_levels(const trs_context *ctx, trs_side *s)
{
    counting all = {.s = s};
    const int64_t count = s->lv.count;
    trs_share(trs_team(ctx, s->tri.nnz), count, 1 + count / 256, tally_some, &all);
    s->tally = (trs_tally){all.longest, all.sum_longest, all.thin, all.wide};
}

void trs_shape_of(const trs_context *ctx, const trs_side *s, trs_shape *shape)
{
    *shape = (trs_shape){.n = s->tri.n,
                         .nnz = s->tri.nnz,
                         .levels = s->lv.count,
                         .widest = s->lv.widest,
                         .longest = s->tally.longest,
                         .sum_longest = (double)s->tally.sum_longest,
                         .thin_entries = (double)s->tally.thin,
                         .wide_levels = s->tally.wide,
                         .blocks = s->super.blocks,
                         .height = s->super.height,
                         .chained = s->super.chained,
                         .store = s->super.store,
                         .wide_blocks = s->super.wide,
                         .wide_steps = s->super.wide_levels,
                         .tasks = s->super.tasks,
                         .narrow_rows = (double)s->super.narrow_rows,
                         .strips = s->strip_rows ? (s->tri.n - 1) / s->strip_rows + 1 : 0,
                         .stretches = s->stretches.solver[0] ? &s->stretches : NULL,
                         .elem = (double)trs_size(s->tri.dtype),
                         .is_complex = trs_is_complex(s->tri.dtype),
                         .nrhs = ctx->nrhs};
}

enum {
    FULL_LIMIT = 8
}; /* GiB that a solver storing a full matrix may take when nothing was said */

bool trs_fits(const trs_solver *s, const trs_shape *shape, int64_t limit)
{
    if (limit == 0 && s->full) limit = (int64_t)FULL_LIMIT << 30;
    return limit == 0 || s->bytes(shape) <= limit;
}

double trs_predict(const trs_context *ctx, const trs_solver *s, const trs_part *part,
                   const trs_shape *shape, bool on_device, trs_cost *c)
{
    trs_machine m = ctx->machine;
    m.cpu_threads = ctx->threads < 8 ? ctx->threads : 8; /* beyond, memory is the limit */
    memset(c, 0, sizeof *c);
    if (part && s->cost_now) s->cost_now(part, shape, &m, c);
    else s->cost(shape, &m, c);
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
    return written(snprintf(text, size, "%" PRId64 " %s, widest %" PRId64 ", longest row %" PRId64,
                            s->levels, trs_noun(s->levels, "level", "levels"), s->widest,
                            s->longest),
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
    if (s->full && trs_inverts_blindly(s)) return false;
    if (s->supernodes && !shape->blocks) return false;
    if (s->strips && !shape->strips) return false;
    if (s->stretches && !shape->stretches) return false;
    if (ctx->layout == TRS_ROW_MAJOR && ctx->nrhs > 1 && !(s->caps & TRS_CAP_ROW_MAJOR))
        return false;
    if (ctx->bitwise && !(s->caps & TRS_CAP_BITWISE)) return false;
    if (s->place == TRS_ON_CPU) return !on_device;
    if (*gpu < 0) *gpu = !trs_gpu_probe(ctx->device, why, sizeof why);
    return *gpu && trs_solver_available(s, ctx->device, why, sizeof why);
}

/* The simplest solver is left only for one that is clearly predicted to be faster. */
static const double CLEARLY = 1.25, NOT_WORTH_IT = 2e-6;

/* Sorted in, if it is among the cheapest; what falls off the end is forgotten. */
static int insert(trs_candidate *list, int count, const trs_candidate *c)
{
    int k = count < TRS_CANDIDATES ? count++ : TRS_CANDIDATES;
    for (; k > 0 && c->seconds < list[k - 1].seconds; k--)
        if (k < TRS_CANDIDATES) list[k] = list[k - 1];
    if (k < TRS_CANDIDATES) list[k] = *c;
    return count;
}

/* cpu-serial to the front, unless the first is clearly better. */
static int prefer_simple(trs_candidate *list, int count, const trs_candidate *serial)
{
    if (!serial->solver || list[0].solver == serial->solver ||
        serial->seconds > CLEARLY * list[0].seconds + NOT_WORTH_IT)
        return count;
    int k = 1;
    while (k < count && list[k].solver != serial->solver) k++;
    if (k == count && count < TRS_CANDIDATES) count++;
    if (k == TRS_CANDIDATES) k--;
    for (; k > 0; k--) list[k] = list[k - 1];
    list[0] = *serial;
    return count;
}

int trs_choose(const trs_context *ctx, const trs_shape *shape, bool on_device,
               trs_candidate list[TRS_CANDIDATES], char *reason, size_t size)
{
    trs_candidate serial = {0};
    int gpu = -1, count = 0;
    for (int k = 0; trs_solver_at(k); k++) {
        trs_candidate c = {.solver = trs_solver_at(k)};
        if (!eligible(ctx, c.solver, shape, on_device, &gpu)) continue;
        c.seconds = trs_predict(ctx, c.solver, NULL, shape, on_device, &c.cost);
        if (c.solver == &trs_solver_cpu_serial) serial = c;
        count = insert(list, count, &c);
    }
    if (!count) return 0;
    count = prefer_simple(list, count, &serial);
    size_t used = trs_describe_shape(reason, size, shape);
    for (int k = 0; k < count && k < 2; k++)
        used += describe(reason + used, size - used, k ? "; next " : ": predicted ", list[k].solver,
                         &list[k].cost);
    return count;
}
