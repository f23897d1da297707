/* cpu_level.c: the rows of a level are shared among threads.
 *
 * The rows are stored anew in the order of topo, so that a level reads its entries as one stream.  A
 * stage is a wide level, cut into chunks, or a run of thin levels, which is one chunk: handing work from
 * core to core costs as much as some thousand entries.  Threads claim the chunks of a stage and go on to
 * the next when all of them are done; a thread that the system has put aside holds nobody up unless it
 * has a chunk in hand.
 * A row is computed by one thread in one order: the bits are those of cpu-serial for any number of
 * threads.  Bytes as cpu-serial, plus topo; bound by them, then by the hand-overs. */
#ifndef T

#include "config.h"

#include "internal.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct stage { /* rows begin..end-1 of the stored ones */
    int32_t begin, end;
    int32_t chunks;
} stage;

typedef struct level_data {
    bool shared;  /* has a stage of several chunks */
    trs_tri rows; /* row k of it is row topo [k] of the side; src: places in side->tri */
    int32_t stages;
    stage stage[];
} level_data;

typedef struct progress {     /* of one stage */
    atomic_int claimed, done; /* chunks */
} progress;

enum { CHUNK = 2000 }; /* entries, at least */

#define TRS_BODY "cpu_level.c"
#include "each_type.h"

typedef void (*rows_fn)(const trs_part *, const trs_job *, int32_t, int32_t);

enum { SPINS = 2000 }; /* then give way: whoever has the chunk may need this core */

static void wait_for(atomic_int *done, int chunks)
{
    for (int spin = 0; atomic_load_explicit(done, memory_order_acquire) < chunks; spin++)
        if (spin >= SPINS) sched_yield();
}

/* What each thread does. */
static void run_stages(const trs_part *part, const trs_job *job, rows_fn rows)
{
    const level_data *d = part->data;
    progress *now = job->work;
    for (int32_t s = 0; s < d->stages; s++) {
        const stage *g = &d->stage[s];
        const int64_t count = g->end - g->begin, chunks = g->chunks;
        int64_t c;
        while ((c = atomic_fetch_add(&now[s].claimed, 1)) < chunks) {
            rows(part, job, (int32_t)(g->begin + count * c / chunks),
                 (int32_t)(g->begin + count * (c + 1) / chunks));
            atomic_fetch_add_explicit(&now[s].done, 1, memory_order_release);
        }
        wait_for(&now[s].done, g->chunks);
    }
}

static int team_size(void)
{
#ifdef _OPENMP
    return omp_get_num_threads();
#else
    return 1;
#endif
}

static int solve(const trs_part *part, const trs_job *job)
{
    static const rows_fn table[] = TRS_PER_TYPE(rows);
    const rows_fn rows = table[part->side->tri.dtype];
    const level_data *d = part->data;
    if (!d->shared || job->threads <= 1) {
        rows(part, job, 0, part->to - part->from);
        return TRS_OK;
    }
    progress *now = job->work, *left = now + d->stages;
    memset(now, 0, ((size_t)d->stages + 1) * sizeof *now);
#pragma omp parallel num_threads(job->threads)
    {
        run_stages(part, job, rows);
        /* a thread that has not begun may be waiting for the core of one that is done: OpenMP's own
         * barrier would spin on it for milliseconds */
        atomic_fetch_add(&left->done, 1);
        wait_for(&left->done, team_size());
    }
    return TRS_OK;
}

static int64_t work_bytes(const trs_part *part, int nrhs)
{
    (void)nrhs;
    return (((const level_data *)part->data)->stages + 1) * (int64_t)sizeof(progress);
}

static int64_t entries_of(const trs_part *part, int32_t level)
{
    const trs_levels *lv = part->lv;
    const int64_t *Lp = part->side->tri.ptr;
    int64_t entries = 0;
    for (int32_t k = lv->ptr[level]; k < lv->ptr[level + 1]; k++)
        entries += Lp[lv->topo[k] + 1] - Lp[lv->topo[k]];
    return entries;
}

/* Wide levels are stages of their own, runs of thin ones are one. */
static void cut_stages(const trs_part *part, level_data *d)
{
    const int32_t *lv = part->lv->ptr;
    const int64_t most = 2 * (int64_t)part->ctx->threads;
    for (int32_t l = 0; l < part->lv->count; l++) {
        int64_t entries = entries_of(part, l), chunks = entries >= TRS_THIN ? entries / CHUNK : 1;
        if (chunks > most) chunks = most;
        stage *last = d->stages > 0 ? &d->stage[d->stages - 1] : NULL;
        if (last && chunks == 1 && last->chunks == 1) last->end = lv[l + 1];
        else d->stage[d->stages++] = (stage){lv[l], lv[l + 1], (int32_t)chunks};
        d->shared |= chunks > 1 && part->side->tri.nnz >= TRS_SHARED_FROM;
    }
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    const int64_t levels = part->lv->count;
    level_data *d = trs_new(ctx, 1, sizeof *d + (size_t)levels * sizeof *d->stage, "stages");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    part->data = d;
    cut_stages(part, d);
    return trs_tri_take(ctx, &part->side->tri, part->lv->topo, part->to - part->from, &d->rows);
}

static int update(trs_part *part)
{
    trs_tri_read_values(part->ctx, &((level_data *)part->data)->rows, part->side->tri.val);
    return TRS_OK;
}

static void release(trs_part *part)
{
    trs_tri_free(part->ctx, &((level_data *)part->data)->rows);
    trs_free(&part->ctx->mem, part->data);
}

static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    double share = s->nnz >= TRS_SHARED_FROM ? 1 - s->thin_entries / (double)s->nnz
                                             : 0; /* of the work, in wide levels */
    double all = trs_cpu_stream(m, s, (double)s->nnz, (double)s->n);
    c->bytes = all * (1 - share + share / m->cpu_threads);
    if (share > 0) c->sync = (2 + (double)s->wide_levels * s->nrhs) * m->cpu_barrier;
    c->hops = (double)s->levels * m->cpu_hop * s->nrhs;
}

static int64_t bytes(const trs_shape *s)
{
    return s->levels * (int64_t)sizeof(stage) + s->nnz * (int64_t)(s->elem + 12) + 8 * s->n;
}

const trs_solver trs_solver_cpu_level = {
    .name = "cpu-level",
    .about = "CSR, the rows of a wide level shared among threads (OpenMP)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_PARTS,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .cost = cost,
    .bytes = bytes,
    .analyse = analyse,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};

#else

#include "cpu_row.h"

static void FN(rows)(const trs_part *part, const trs_job *job, int32_t begin, int32_t end)
{
    const level_data *d = part->data;
    FN(all_rows)(&d->rows, begin, end, part->lv->topo, job);
}

#endif
