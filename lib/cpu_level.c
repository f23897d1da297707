/* cpu_level.c: the rows of a level are shared among threads, a barrier between levels.
 *
 * The rows are stored anew in the order of topo, so that a level reads its entries as one stream.
 * A barrier costs as much as some thousand entries, so a run of thin levels is done by one thread
 * without any, and only a wide level is shared out.  A row is computed by one thread in one order,
 * so the bits are those of cpu-serial, whatever the number of threads.
 * Bytes as cpu-serial, plus topo; bound by them, then by 2 barriers a wide level. */
#ifndef T

#include "config.h"

#include "internal.h"

typedef struct stage { /* levels first..last-1, one wide level or a run of thin ones */
    int32_t first, last;
    bool wide;
} stage;

typedef struct level_data {
    bool any_wide;
    trs_tri rows; /* row k of it is row topo [k] of the side; src: places in side->tri */
    int32_t stages;
    stage stage[];
} level_data;

#define TRS_BODY "cpu_level.c"
#include "each_type.h"

typedef void (*solve_fn)(const trs_part *, const trs_job *);

static int solve(const trs_part *part, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[part->side->tri.dtype](part, job);
    return TRS_OK;
}

static bool is_wide(const trs_part *part, int32_t level)
{
    const trs_levels *lv = part->lv;
    const int64_t *Lp = part->side->tri.ptr;
    int64_t entries = 0;
    for (int32_t k = lv->ptr[level]; k < lv->ptr[level + 1] && entries < TRS_THIN; k++)
        entries += Lp[lv->topo[k] + 1] - Lp[lv->topo[k]];
    return entries >= TRS_THIN;
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    level_data *d =
        trs_new(ctx, 1, sizeof *d + (size_t)part->lv->count * sizeof *d->stage, "stages");
    if (!d) return TRS_EMEM;
    part->data = d;
    d->stages = 0;
    d->any_wide = false;
    for (int32_t l = 0; l < part->lv->count; l++) {
        bool wide = is_wide(part, l);
        d->any_wide |= wide;
        stage *last = d->stages > 0 ? &d->stage[d->stages - 1] : NULL;
        if (last && !wide && !last->wide) last->last = l + 1;
        else d->stage[d->stages++] = (stage){l, l + 1, wide};
    }
    return trs_tri_take(ctx, &part->side->tri, part->lv->topo, part->to - part->from, &d->rows);
}

static int update(trs_part *part)
{
    trs_tri_read_values(&((level_data *)part->data)->rows, part->side->tri.val);
    return TRS_OK;
}

static void release(trs_part *part)
{
    trs_tri_free(part->ctx, &((level_data *)part->data)->rows);
    trs_free(&part->ctx->mem, part->data);
}

static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    double share =
        s->nnz > 0 ? 1 - s->thin_entries / (double)s->nnz : 0; /* of the work, in wide levels */
    double all = trs_cpu_stream(m, s, (double)s->nnz, (double)s->n);
    c->bytes = all * (1 - share + share / m->cpu_threads);
    if (s->wide_levels > 0) c->sync = (2 + (double)s->wide_levels * s->nrhs) * m->cpu_barrier;
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
};

#else

#include "cpu_row.h"

static void FN(solve)(const trs_part *part, const trs_job *job)
{
    const level_data *d = part->data;
    const trs_tri *L = &d->rows;
    const int32_t *topo = part->lv->topo, *lv = part->lv->ptr;
    const int64_t bs = job->b.rs, xs = job->x.rs;
#pragma omp parallel num_threads(d->any_wide ? job->threads : 1)
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        for (int32_t s = 0; s < d->stages; s++) {
            const int32_t begin = lv[d->stage[s].first], end = lv[d->stage[s].last];
            if (d->stage[s].wide) {
#pragma omp for schedule(static)
                for (int32_t k = begin; k < end; k++)
                    FN(row)(L, k, topo[k], b, bs, x, xs, job->conj);
            } else {
#pragma omp single
                for (int32_t k = begin; k < end; k++)
                    FN(row)(L, k, topo[k], b, bs, x, xs, job->conj);
            }
        }
    }
}

#endif
