/* merged.cu: levels made one by substitution, pass after pass (merge.cu), then cuda-dataflow.
 *
 * In the solve M b is made, a pass after the other, and T' x = M b solved: who owns a row, how x becomes
 * visible and why it cannot hang: dataflow.cu.  Bytes: those of cuda-dataflow on T', and for each pass 16 n +
 * 20 nnz (N).  Bound by hops, then by the gathers of T'.
 * The residual of T is M^-1 = I + N times that of T', and what is rounded in a pass is as large as I + N times what
 * it is made of: so errors grow with the product of 1 + the largest sum of a row of N, squared but for the last
 * pass.  Where that is more than GROWTH at an update, T itself is solved. */
#include "config.h"

#include "cuda/dataflow/dataflow.cuh"
#include "merge.cuh"

static const double GROWTH = 1e4;

struct merged {
    int passes;
    merging pass[MERGE_PASSES];
    int32_t *level;       /* [n] of T, between the earliest and the latest */
    dataflow flow, plain; /* of the last T', and of T when the growth is too large */
    uint64_t *growth;     /* [MERGE_PASSES] on the device, of the values that came last */
    bool too_large;
};

static int failed(cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "merged levels: %s", cudaGetErrorString(e));
}

static trs_pattern pattern_of(const trs_part *part)
{
    trs_pattern p = trs_pattern_of(part->side);
    p.level = ((const merged *)part->data)->level;
    return p;
}

static int take_levels(trs_part *part)
{
    merged *d = (merged *)part->data;
    const trs_pattern p = trs_pattern_of(part->side);
    d->level = (int32_t *)trs_gpu_new(part->ctx, p.n, sizeof *d->level, "levels");
    if (!d->level) return TRS_EMEM;
    const cudaError_t e =
        cudaMemcpy(d->level, p.level, (size_t)p.n * sizeof *d->level, cudaMemcpyDeviceToDevice);
    return e ? failed(e) : trs_flow_slack(part->ctx, &p, d->level);
}

/* Passes, odd levels and even ones in turn, until neither kind is worth one. */
static int merge_all(trs_part *part, trs_pattern *p)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)part->data;
    merge_desk desk = {};
    int64_t room = MERGE_TIMES * p->nnz + MERGE_FEW;
    int rc = merge_desk_new(ctx, p->levels, &desk);
    for (int odd = 1; d->passes < MERGE_PASSES && !rc; odd = !odd) {
        merging *m = &d->pass[d->passes];
        rc = merge_new(ctx, &desk, p, &odd, room, part->side->tri.dtype, m);
        if (rc || !m->to.levels) {
            merge_free(ctx, m);
            break;
        }
        room -= m->to.nnz + m->nnz;
        *p = m->to;
        d->passes++;
    }
    merge_desk_free(ctx, &desk);
    return rc;
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    part->data = d;
    if (part->side->tri.n == 0) return TRS_OK;
    d->growth = (uint64_t *)trs_gpu_new(ctx, MERGE_PASSES, sizeof *d->growth, "growth");
    int rc = d->growth ? take_levels(part) : TRS_EMEM;
    trs_pattern p = pattern_of(part);
    if (!rc) rc = merge_all(part, &p);
    return rc ? rc : dataflow_new(ctx, &p, part->side->tri.dtype, &d->flow);
}

static void release(trs_part *part)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)part->data;
    for (int k = 0; k < MERGE_PASSES; k++) merge_free(ctx, &d->pass[k]);
    dataflow_free(ctx, &d->flow);
    dataflow_free(ctx, &d->plain);
    trs_gpu_free(ctx, d->level);
    trs_gpu_free(ctx, d->growth);
    trs_free(&ctx->mem, d);
}

/* T' and M of all passes; waits, for the growth has to be known. */
static int take(trs_part *part, const void *val, void *stream)
{
    merged *d = (merged *)part->data;
    const trs_dtype t = part->side->tri.dtype;
    const cudaStream_t s = (cudaStream_t)stream;
    double largest[MERGE_PASSES] = {0};
    cudaError_t e = cudaMemsetAsync(d->growth, 0, sizeof largest, s);
    for (int k = 0; k < d->passes; k++) {
        const int rc = merge_take(&d->pass[k], t, val, d->growth + k, stream);
        if (rc) return rc;
        val = d->pass[k].val;
    }
    if (!e) e = cudaMemcpyAsync(largest, d->growth, sizeof largest, cudaMemcpyDeviceToHost, s);
    if (!e) e = cudaStreamSynchronize(s);
    if (e) return failed(e);
    part->growth = 1;
    for (int k = 0; k < d->passes; k++) {
        const double one = 1 + (largest[k] <= 1 ? 1 : largest[k]);
        part->growth *= k + 1 < d->passes ? one * one : one;
    }
    d->too_large = !(part->growth <= GROWTH);
    if (!d->too_large) return dataflow_take(&d->flow, val, stream);
    part->growth = 1;
    /* so that a solve that was captured with T' gives NaN, not a bad x */
    e = cudaMemsetAsync(d->flow.inv, 0xff, (size_t)d->flow.flow.nodes * trs_size(t), s);
    return e ? failed(e) : TRS_OK;
}

/* T itself, made when it is wanted first. */
static int make_plain(trs_part *part)
{
    merged *d = (merged *)part->data;
    const trs_pattern p = pattern_of(part);
    const int rc = dataflow_new(part->ctx, &p, part->side->tri.dtype, &d->plain);
    if (rc) dataflow_free(part->ctx, &d->plain);
    trs_gpu_drop_scratch(part->ctx); /* the analysis may be long over */
    return rc;
}

/* Both that there are get the values: a captured solve goes on with the one that it was captured with. */
static int update_direct(trs_part *part, const void *val, void *stream)
{
    merged *d = (merged *)part->data;
    if (part->side->tri.n == 0) return TRS_OK;
    int rc = take(part, val, stream);
    if (!rc && d->too_large && !d->plain.inv) rc = make_plain(part);
    return !rc && d->plain.inv ? dataflow_take(&d->plain, val, stream) : rc;
}

/* M b, and what cuda-dataflow wants, for T' or for T. */
static int64_t product_bytes(const trs_part *part, int nrhs)
{
    const trs_tri *t = &part->side->tri;
    return ((int64_t)t->n * nrhs * (int64_t)trs_size(t->dtype) + 255) / 256 * 256;
}

static int64_t work_bytes(const trs_part *part, int nrhs)
{
    const merged *d = (const merged *)part->data;
    const trs_tri *t = &part->side->tri;
    int64_t nodes = t->n + t->nnz / TRS_FLOW_PARTIAL;
    if (nodes < d->flow.flow.nodes) nodes = d->flow.flow.nodes;
    return product_bytes(part, nrhs) + dataflow_work_bytes(nodes, t->n, t->dtype, nrhs);
}

static int solve(const trs_part *part, const trs_job *job)
{
    const merged *d = (const merged *)part->data;
    const trs_tri *t = &part->side->tri;
    const trs_view product = {job->work, 1, t->n};
    trs_job next = *job;
    if (t->n == 0) return TRS_OK;
    if (d->too_large) return dataflow_solve(&d->plain, job);
    for (int k = 0; k < d->passes; k++) {
        const int rc = merge_product(&d->pass[k], t->dtype, job, next.b, product);
        if (rc) return rc;
        next.b = product;
    }
    next.work = (char *)job->work + product_bytes(part, job->nrhs);
    return dataflow_solve(&d->flow, &next);
}

/* What they did; of T itself where values grow too much. */
static void cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const merged *d = (const merged *)part->data;
    merge_outcome o = {(double)s->levels, (double)s->nnz, 0};
    if (s->n > 0 && !d->too_large)
        o = {(double)d->flow.flow.levels, (double)(d->flow.flow.nnz + s->n), (double)d->passes};
    merge_cost_of(s, &o, m, c);
}

/* At most: T, the passes, and the last one and T in the order of the solve. */
static int64_t bytes(const trs_shape *s)
{
    const int64_t elem = (int64_t)s->elem, entries = 4 + (2 * MERGE_TIMES + 1) * (elem + 12);
    return s->nnz * entries + MERGE_FEW * (elem + 8) +
           s->n * (12 + 21 * MERGE_PASSES + 2 * (48 + elem));
}

const trs_solver trs_solver_merged = {
    .name = "cuda-merged",
    .about = "pairs of levels made one by substitution, then cuda-dataflow",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .pattern = true,
    .direct = true,
    .guesses = true,
    .cost = merge_cost,
    .cost_now = cost_now,
    .bytes = bytes,
    .analyse = analyse,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
