/* cpu_level.c: forward substitution by rows, where threads share the rows of a level.
 *
 * The rows are stored anew in level order (topo), so that a level reads its entries as one stream.  A stage is a wide
 * level, cut into chunks that threads claim, or a sequence of thin levels, which is one chunk: to hand work from core
 * to core costs as much as some thousand entries (base/parallel.h).
 *
 *     levels     |  0  |      1      | 2 | 3 | 4 |       5       |
 *     stages     |  0  |      1      |     2     |       3       |
 *     chunks     | | | | | | | | | | |           | | | | | | | | |
 *
 * A row is computed by one thread in the order of cpu_row.h: the bits are those of cpu-serial for any number of
 * threads.
 * It reads the bytes of cpu-serial, and topo.  These, and the waiting of the threads between stages, are its time. */
#ifndef T

#include "config.h"

#include "cpu_serial.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

typedef struct level_data {
    bool shared;  /* there is a stage of several chunks */
    bool chained; /* rows are (trs_rows_chained) */
    bool scales;  /* no x is a quotient (cpu_row.h) */
    trs_fetch fetch;
    trs_tri rows; /* row k of it is row topo [k] of the operator */
    int32_t stages;
    trs_level_stage stage[];
} level_data;

enum {
    CHUNK = 2000, /* a chunk has at least so many entries */
    ROWS = 4096,  /* rows that a thread copies at a time */
    LATER = 32    /* rows from the one that is solved to that whose b and x are fetched */
};

#define TRS_BODY "solvers/cpu_level.c"
#include "base/each_type.h"

typedef void (*rows_fn)(const trs_instance *, const trs_job *, int32_t, int32_t);

typedef struct level_solve { /* what the threads share */
    const trs_instance *inst;
    const trs_job *job;
    rows_fn rows;
} level_solve;

static void do_rows(void *user, int thread, int32_t begin, int32_t end)
{
    const level_solve *r = user;
    (void)thread;
    r->rows(r->inst, r->job, begin, end);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const rows_fn table[] = TRS_PER_TYPE(range);
    const level_data *d = inst->data;
    level_solve r = {inst, job, table[inst->op->tri.dtype]};
    if (!d->shared || job->threads <= 1) r.rows(inst, job, 0, inst->op->tri.n);
    else trs_stages_run(d->stage, d->stages, job->work, job->threads, do_rows, &r);
    return TRS_OK;
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    (void)nrhs;
    return (((const level_data *)inst->data)->stages + 1) * (int64_t)sizeof(trs_stage_progress);
}

/* A wide level is a stage of its own, a sequence of thin ones is one stage. */
static void cut_stages(const trs_instance *inst, level_data *d)
{
    const int32_t *lv = inst->op->lv.ptr;
    const int64_t most = 2 * (int64_t)inst->ctx->threads;
    for (int32_t l = 0; l < inst->op->lv.count; l++) {
        const int64_t entries = d->rows.ptr[lv[l + 1]] - d->rows.ptr[lv[l]];
        int64_t chunks = entries >= TRS_THIN ? entries / CHUNK : 1;
        if (chunks > most) chunks = most;
        trs_level_stage *last = d->stages > 0 ? &d->stage[d->stages - 1] : NULL;
        if (last && chunks == 1 && last->chunks == 1) last->end = lv[l + 1];
        else d->stage[d->stages++] = (trs_level_stage){lv[l], lv[l + 1], (int32_t)chunks};
        TRS_ASSERT(d->stages == 1 || d->stage[d->stages - 1].begin == d->stage[d->stages - 2].end);
        d->shared |= chunks > 1 && inst->op->tri.nnz >= TRS_SHARED_FROM;
    }
}

static void take_columns(void *user, int64_t begin, int64_t end)
{
    const trs_instance *inst = user;
    const trs_tri *L = &inst->op->tri, *rows = &((const level_data *)inst->data)->rows;
    for (int64_t k = begin; k < end; k++) {
        const int32_t *from = L->idx + L->ptr[inst->op->lv.topo[k]];
        int32_t *to = rows->idx + rows->ptr[k];
        for (int64_t e = 0; e < rows->ptr[k + 1] - rows->ptr[k]; e++) to[e] = from[e];
    }
}

/* Copy the rows in the order of topo, without their values. */
static int take_rows(trs_instance *inst, trs_tri *rows)
{
    const trs_tri *L = &inst->op->tri;
    const int32_t *topo = inst->op->lv.topo, count = inst->op->tri.n;
    *rows = (trs_tri){.n = count, .dtype = L->dtype};
    rows->ptr = trs_new(inst->ctx, (int64_t)count + 1, sizeof *rows->ptr, "row pointers");
    if (!rows->ptr) return TRS_EMEM;
    rows->ptr[0] = 0;
    for (int32_t k = 0; k < count; k++)
        rows->ptr[k + 1] = rows->ptr[k] + L->ptr[topo[k] + 1] - L->ptr[topo[k]];
    rows->nnz = rows->ptr[count];
    TRS_ASSERT(rows->nnz == L->nnz);
    if (trs_tri_entries(inst->ctx, rows, true, false)) return TRS_EMEM;
    trs_share(trs_team(inst->ctx, rows->nnz), count, ROWS, take_columns, inst);
    return TRS_OK;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (rc) return rc;
    const int64_t levels = inst->op->lv.count;
    level_data *d = trs_new(ctx, 1, sizeof *d + (size_t)levels * sizeof *d->stage, "stages");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    inst->data = d;
    rc = take_rows(inst, &d->rows);
    if (!rc) cut_stages(inst, d);
    d->chained = trs_rows_chained(&inst->op->tri);
    return rc;
}

static int update(trs_instance *inst, void *stream)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(take_values);
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    if (rc) return rc;
    trs_share(trs_team(inst->ctx, inst->op->tri.nnz), inst->op->tri.n, ROWS,
              table[inst->op->tri.dtype], inst);
    level_data *d = inst->data;
    d->scales = trs_rows_scale(&inst->op->tri, d->chained);
    d->fetch = TRS_FETCH_ENTRIES;
    if (d->scales) d->fetch = trs_rows_fetch(inst->op, &inst->ctx->machine);
    return TRS_OK;
}

static void release(trs_instance *inst)
{
    trs_tri_free(inst->ctx, &((level_data *)inst->data)->rows);
    trs_free(&inst->ctx->mem, inst->data);
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    const bool shared = m->cpu_threads > 1 && s->nnz >= TRS_SHARED_FROM;
    const double share = shared ? 1 - s->thin_entries / (double)s->nnz : 0; /* of the work */
    const double topo = 4 * (double)s->n * m->cpu_cached * s->nrhs;
    const double all =
        trs_cpu_stream(m, s, (double)s->nnz, (double)s->n) + topo + trs_cpu_scatter(m, s);
    c->bytes = all * (1 - share + share / m->cpu_threads);
    if (share > 0) c->sync = (2 + (double)s->wide_levels) * m->cpu_barrier;
    c->latency = trs_cpu_wait(m, 1, (double)s->levels * s->nrhs, c->bytes);
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->levels * (int64_t)sizeof(trs_level_stage) + s->nnz * (int64_t)(s->elem + 4) +
           8 * s->n;
}

const trs_solver trs_solver_cpu_level = {
    .name = "cpu-level",
    .about = "CSR, the rows of a wide level shared among threads (OpenMP)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .serial_bits = true,
    .by_columns = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};

#else

#include "cpu_row.h"

static void FN(take_values)(void *user, int64_t begin, int64_t end)
{
    const trs_instance *inst = user;
    const trs_tri *L = &inst->op->tri, *rows = &((const level_data *)inst->data)->rows;
    for (int64_t k = begin; k < end; k++) {
        const T *from = (const T *)L->val + L->ptr[inst->op->lv.topo[k]];
        T *to = (T *)rows->val + rows->ptr[k];
        for (int64_t e = 0; e < rows->ptr[k + 1] - rows->ptr[k]; e++) to[e] = from[e];
    }
}

/* One right-hand side. */
TRS_INLINE void FN(column)(const level_data *d, const int32_t *topo, int32_t begin, int32_t end,
                           const T *b, int64_t bs, T *x, int64_t xs, bool cj, trs_fetch fetch,
                           bool scales, bool chained)
{
    for (int32_t k = begin; k < end; k++) {
        const int32_t i = topo[k];
        if (fetch != TRS_FETCH_NOTHING && k + LATER < end) {
            TRS_PREFETCH(b + topo[k + LATER] * bs);
            TRS_PREFETCH(x + topo[k + LATER] * xs);
        }
        x[i * xs] =
            FN(row)(&d->rows, k, i, b[i * bs], x, xs, x + (i - 1) * xs, cj, fetch, scales, chained);
    }
}

/* The same for strides of 1 where no x is a quotient. */
TRS_INLINE void FN(plain_column)(const level_data *d, const int32_t *topo, int32_t begin,
                                 int32_t end, const T *b, T *x, bool cj, trs_fetch fetch)
{
    if (d->chained) FN(column)(d, topo, begin, end, b, 1, x, 1, cj, fetch, true, true);
    else FN(column)(d, topo, begin, end, b, 1, x, 1, cj, fetch, true, false);
}

CLONES static void FN(range)(const trs_instance *inst, const trs_job *job, int32_t begin,
                             int32_t end)
{
    const level_data *d = inst->data;
    const int32_t *topo = inst->op->lv.topo;
    const int64_t bs = job->b.rs, xs = job->x.rs;
    const bool plain = d->scales && bs == 1 && xs == 1;
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        if (!plain) FN(column)
        (d, topo, begin, end, b, bs, x, xs, job->conj, d->fetch, d->scales, d->chained);
        else if (d->fetch == TRS_FETCH_X)
            FN(plain_column)(d, topo, begin, end, b, x, job->conj, TRS_FETCH_X);
        else if (d->fetch == TRS_FETCH_ENTRIES)
            FN(plain_column)(d, topo, begin, end, b, x, job->conj, TRS_FETCH_ENTRIES);
        else FN(plain_column)(d, topo, begin, end, b, x, job->conj, TRS_FETCH_NOTHING); }
}

#endif
