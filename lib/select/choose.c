/* choose.c: predicted seconds of a solve, solver by solver, and the choice of the cheapest.
 *
 * A prediction has four terms: bytes moved, launches and barriers, hops (steps that wait for one
 * another), and copies of B and X when they live on the other side.  Each solver computes its own from
 * the shape of the triangle and the costs of single steps (machine.c). */
#include "config.h"

#include "base/device.h"
#include "select.h"
#include "base/noun.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows)
{
    double entry = s->elem + 4, row = 8 + 3 * s->elem;
    bool cached = (double)s->nnz * entry + (double)s->n * row < TRS_CACHE;
    double bytes = (entries * entry + rows * row) * (cached ? m->cpu_cached : m->cpu_byte);
    const double each = m->cpu_entry * (s->is_complex ? TRS_COMPLEX_TIMES : 1);
    return (bytes + entries * each + rows * m->cpu_row) * s->nrhs;
}

double trs_cpu_wait(const trs_machine *m, double waiting, double rows, double work)
{
    const double latency = rows * m->cpu_hop;
    return latency > work ? waiting * (latency - work) : 0;
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

/* Does row i wait for row i-1? */
static bool waits(const trs_side *s, int64_t i)
{
    const int64_t diagonal = s->tri.ptr[i + 1] - 1;
    return diagonal > s->tri.ptr[i] && s->tri.idx[diagonal - 1] == i - 1;
}

enum { LINE = 8 }; /* rows whose x share a cache line, about */

/* Are row k of the level order and the one before it apart? */
static bool is_scattered(const trs_side *s, int64_t k)
{
    const int32_t *topo = s->lv.topo;
    return k > 0 && (topo[k] < topo[k - 1] || topo[k] > topo[k - 1] + LINE);
}

/* Fraction of the rows of which that holds: of all when they are few, else of some runs of neighbours at equal
 * distances, for a row at every so many would fall in with the lines of a grid. */
static double fraction(const trs_side *s, bool (*holds)(const trs_side *, int64_t))
{
    enum { RUN = 64, RUNS = 64 };
    const int64_t n = s->tri.n, step = n > RUN * RUNS ? n / RUNS : RUN;
    int64_t seen = 0, found = 0;
    for (int64_t begin = 0; begin < n; begin += step)
        for (int64_t k = begin; k < begin + RUN && k < n; k++, seen++) found += holds(s, k);
    return seen ? (double)found / (double)seen : 0;
}

void trs_shape_of(const trs_context *ctx, const trs_side *s, trs_shape *shape)
{
    const bool seen =
        s->tri.ptr && s->tri.idx; /* else it is on the device, and the worst is assumed */
    *shape = (trs_shape){.n = s->tri.n,
                         .nnz = s->tri.nnz,
                         .levels = s->lv.count,
                         .widest = s->lv.widest,
                         .longest = s->tally.longest,
                         .sum_longest = (double)s->tally.sum_longest,
                         .thin_entries = (double)s->tally.thin,
                         .wide_levels = s->tally.wide,
                         .waiting = seen ? fraction(s, waits) : 1,
                         .scattered = seen && s->lv.topo ? fraction(s, is_scattered) : 1,
                         .blocks = s->super.count,
                         .height = s->super.depth,
                         .chained = s->super.chain_links,
                         .store = s->super.stored,
                         .wide_blocks = s->super.large,
                         .wide_steps = s->super.large_levels,
                         .tasks = s->super.tasks,
                         .narrow_rows = (double)s->super.small_rows,
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
    const trs_machine *m = &ctx->machine;
    memset(c, 0, sizeof *c);
    if (part && s->cost_now) s->cost_now(part, shape, m, c);
    else s->cost(shape, m, c);
    if (s->place == TRS_ON_CUDA && !on_device)
        c->copies =
            2 * m->link_start + 2 * (double)shape->n * shape->elem * shape->nrhs * m->link_byte;
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

/* Another solver is taken instead of the simplest only where it is predicted to be so many times as fast. */
static const double CLEARLY = 1.25;

/* Sorted in, if it is among the cheapest; what falls off the end is forgotten. */
static int insert(trs_candidate *list, int count, const trs_candidate *c)
{
    int k = count < TRS_CANDIDATES ? count++ : TRS_CANDIDATES;
    for (; k > 0 && c->seconds < list[k - 1].seconds; k--)
        if (k < TRS_CANDIDATES) list[k] = list[k - 1];
    if (k < TRS_CANDIDATES) list[k] = *c;
    return count;
}

enum { TINY = 500 }; /* entries: solves of a microsecond are left to cpu-serial */

/* Costs of another machine may be wrong by so much. */
static const double HOPELESS = 2;

/* Are both to be solved with?  Not where it is hopeless, nor where both go through the rows in one order and there are no
 * threads to gain from.  In a large triangle there are caches, other threads and rows of changing length besides what
 * the prediction knows. */
static bool is_worth_a_try(const trs_shape *shape, const trs_candidate *twin,
                           const trs_candidate *serial)
{
    const bool large = shape->nnz >= TRS_SHARED_FROM, other_order = shape->scattered != 0;
    if (!twin->solver || !serial->solver || twin->seconds > HOPELESS * serial->seconds)
        return false;
    if (large && other_order) return true;
    if (large) return twin->seconds < serial->seconds;
    return other_order && shape->nnz >= TINY && twin->seconds <= serial->seconds;
}

/* Put it first, before what is there already. */
static int put_first(trs_candidate *list, int count, const trs_candidate *c)
{
    int k = 0;
    while (k < count && list[k].solver != c->solver) k++;
    if (k == count && count < TRS_CANDIDATES) count++;
    if (k == TRS_CANDIDATES) k--;
    for (; k > 0; k--) list[k] = list[k - 1];
    list[0] = *c;
    return count;
}

/* cpu-serial first, unless the cheapest is clearly better; before it the twin that is to be tried.  No twin is taken
 * untried: a prediction by another machine's costs is no reason to be slower than cpu-serial. */
static int prefer_simple(trs_candidate *list, int count, const trs_candidate *serial,
                         const trs_candidate *twin)
{
    const bool is_twin = list[0].solver == twin->solver;
    if (!serial->solver || (serial->seconds > CLEARLY * list[0].seconds && !is_twin)) return count;
    count = put_first(list, count, serial);
    return twin->try_both ? put_first(list, count, twin) : count;
}

/* Why cpu-serial is first although this one is predicted to be faster. */
static void describe_kept(char *text, size_t size, const trs_candidate *faster)
{
    const char *serial = trs_solver_cpu_serial.name;
    if (faster->solver->twin)
        snprintf(text, size, "; %s is kept: too small to try %s", serial, faster->solver->name);
    else
        snprintf(text, size,
                 "; %s, the simplest, is kept unless another is predicted to be %g times as fast",
                 serial, CLEARLY);
}

int trs_choose(const trs_context *ctx, const trs_shape *shape, bool on_device,
               trs_candidate list[TRS_CANDIDATES], char *reason, size_t size)
{
    trs_candidate serial = {0}, twin = {0};
    int gpu = -1, count = 0;
    for (int k = 0; trs_solver_at(k); k++) {
        trs_candidate c = {.solver = trs_solver_at(k)};
        if (!eligible(ctx, c.solver, shape, on_device, &gpu)) continue;
        c.seconds = trs_predict(ctx, c.solver, NULL, shape, on_device, &c.cost);
        if (c.solver == &trs_solver_cpu_serial) serial = c;
        if (c.solver->twin && (!twin.solver || c.seconds < twin.seconds)) twin = c;
        count = insert(list, count, &c);
    }
    if (!count) return 0;
    twin.try_both = is_worth_a_try(shape, &twin, &serial);
    count = prefer_simple(list, count, &serial, &twin);
    size_t used = trs_describe_shape(reason, size, shape);
    for (int k = 0; k < count && k < 2; k++)
        used += describe(reason + used, size - used, k ? "; next " : ": predicted ", list[k].solver,
                         &list[k].cost);
    if (count > 1 && list[0].solver == serial.solver && list[1].seconds < serial.seconds)
        describe_kept(reason + used, size - used, &list[1]);
    return count;
}
