/* merged.cu: the solver cuda-merged: level rewriting, pass after pass (merge.h), then cuda-dataflow on the result.
 *
 * A pass k turns T x = b into (M T) x = M b.  With p passes a solve makes M_p ... M_1 b, one launch for each pass,
 * and then solves T_p x = M_p ... M_1 b in one launch: single.cu and many.cuh explain who owns a row, how x becomes
 * visible, and why it cannot hang.  Bytes: those of cuda-dataflow on T_p, and for each pass 16 n + 20 nnz (N).  Bound
 * by levels of T_p x a dependency latency, where levels are wide by the gathers of x.
 *
 * Accuracy: from the residual r_p of T_p follows that of T, r = M_1^-1 ... M_p^-1 r_p, and the roundings of pass k
 * are relative to |M_k| times its operands.  Here |M_k| = |M_k^-1| = I + |N_k|, whose maximum norm is g_k = 1 + ||
 * N_k ||; in the middle of the product |M_p^-1| |M_p| = I + 2 |N_p|, since N_p N_p = 0.  So the backward error grows
 * at most by about
 *
 *     g_1^2 g_2^2 ... g_(p-1)^2 g_p.
 *
 * If that exceeds GROWTH at an update, cuda-dataflow solves T itself.  A refresh does not wait, and goes on with
 * what the last update has found.  The growth stays on the device until it is read; if it exceeds HOPELESS, x
 * becomes NaN. */
#include "config.h"

#include "cuda/dataflow/dataflow.cuh"
#include "merge.cuh"

static const double GROWTH = 1e4;
/* With which half of the digits would be gone; in single precision an update allows as much. */
static const double HOPELESS_DOUBLE = 1e8, HOPELESS_SINGLE = GROWTH;

struct merged {
    int passes;
    merge_pass pass[MERGE_PASSES];
    int32_t *level;   /* [n] of T, on the device: half way between the earliest and the latest */
    dataflow flow;    /* of the last T' */
    dataflow plain;   /* of T; made when an update first needs it */
    uint64_t *growth; /* [MERGE_PASSES] on the device: see merge_pass_values; of the last values */
    bool too_large;   /* at the last update: T itself is solved */
};

static trs_pattern pattern_of(const trs_instance *inst)
{
    trs_pattern p = trs_pattern_of(inst->op);
    p.level = ((const merged *)inst->data)->level;
    return p;
}

/* Level sets have each row as early as it can be.  A row that can be later without any other being later is put half
 * way between the two, for then fewer rows need one of the level just before. */
static int take_levels(trs_instance *inst)
{
    merged *d = (merged *)inst->data;
    const trs_pattern p = trs_pattern_of(inst->op);
    d->level = device_new<int32_t>(inst->ctx, p.n, "levels");
    if (!d->level) return TRS_EMEM;
    const cudaError_t e =
        cudaMemcpy(d->level, p.level, (size_t)p.n * sizeof *d->level, cudaMemcpyDeviceToDevice);
    if (e) return cuda_status(e, "level rewriting");
    return trs_flow_slack(inst->ctx, &p, d->level);
}

/* Passes, odd levels and even ones in turn, until neither is worth one. */
static int merge_all(trs_instance *inst, trs_pattern *p)
{
    trs_context *ctx = inst->ctx;
    merged *d = (merged *)inst->data;
    merge_survey survey = {};
    int64_t most = MERGE_TIMES * p->nnz + MERGE_FEW;
    int rc = merge_survey_new(ctx, p->levels, &survey);
    for (int odd = 1; d->passes < MERGE_PASSES && !rc; odd = !odd) {
        merge_pass *m = &d->pass[d->passes];
        rc = merge_pass_new(ctx, &survey, p, &odd, most, inst->op->tri.dtype, m);
        if (rc || !m->to.levels) {
            merge_pass_free(ctx, m);
            break;
        }
        if (ctx->refreshes && !ctx->limit) rc = merge_recipe_new(ctx, m);
        most -= m->to.nnz + m->n_nnz;
        *p = m->to;
        d->passes++;
    }
    merge_survey_free(ctx, &survey);
    return rc;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    merged *d = data_new<merged>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    if (inst->op->tri.n == 0) return TRS_OK;
    int rc = trs_operator_device(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN); /* for plain, when an update needs it */
    d->growth = device_new<uint64_t>(ctx, MERGE_PASSES, "growth");
    rc = d->growth ? take_levels(inst) : TRS_EMEM;
    trs_pattern p = pattern_of(inst);
    if (!rc) rc = merge_all(inst, &p);
    if (rc) return rc;
    return dataflow_new(ctx, &p, inst->op->tri.dtype, &d->flow);
}

static void release(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    merged *d = (merged *)inst->data;
    for (int k = 0; k < MERGE_PASSES; k++) merge_pass_free(ctx, &d->pass[k]);
    dataflow_free(ctx, &d->flow);
    dataflow_free(ctx, &d->plain);
    device_free(ctx, d->level, d->growth);
    trs_free(&ctx->mem, d);
}

/* The values of T' and N of all passes, and d->growth; *val is that of T before, and of the last T' after it. */
static int take_passes(const merged *d, trs_dtype t, const void **val, void *stream)
{
    const size_t bytes = MERGE_PASSES * sizeof *d->growth;
    int rc = cuda_status(cudaMemsetAsync(d->growth, 0, bytes, (cudaStream_t)stream), "growth");
    for (int k = 0; k < d->passes && !rc; k++) {
        rc = merge_pass_values(&d->pass[k], t, *val, d->growth + k, stream);
        *val = d->pass[k].to_val;
    }
    return rc;
}

/* Of so many passes, the sums that merge_pass_values has left of each; 0 is one below 1. */
static __host__ __device__ double growth_of(const double *largest, int passes)
{
    double growth = 1;
    for (int k = 0; k < passes; k++) {
        const double one = 1 + (largest[k] <= 1 ? 1 : largest[k]);
        growth *= k + 1 < passes ? one * one : one;
    }
    return growth;
}

/* Of the values that T' has.  It waits for the stream. */
static int find_growth(trs_instance *inst, void *stream)
{
    const merged *d = (const merged *)inst->data;
    const cudaStream_t s = (cudaStream_t)stream;
    double largest[MERGE_PASSES];
    if (inst->op->tri.n == 0 || d->too_large) return TRS_OK;
    cudaError_t e = cudaMemcpyAsync(largest, d->growth, sizeof largest, cudaMemcpyDeviceToHost, s);
    if (!e) e = cudaStreamSynchronize(s);
    inst->growth = growth_of(largest, d->passes);
    return cuda_status(e, "level rewriting");
}

/* T', by which T is solved unless its values grow too much. */
static int take(trs_instance *inst, const void *val, void *stream)
{
    merged *d = (merged *)inst->data;
    const trs_dtype t = inst->op->tri.dtype;
    d->too_large = false;
    int rc = take_passes(d, t, &val, stream);
    if (!rc) rc = find_growth(inst, stream);
    if (rc) return rc;
    d->too_large = !(inst->growth <= GROWTH);
    if (!d->too_large) return dataflow_take(&d->flow, val, stream);
    inst->growth = 1;
    /* a solve that was captured with T' cannot be told to solve T: it is made to give NaN, not a bad x */
    const size_t bytes = (size_t)d->flow.flow.nodes * trs_size(t);
    return cuda_status(cudaMemsetAsync(d->flow.inv, 0xff, bytes, (cudaStream_t)stream),
                       "level rewriting");
}

/* cuda-dataflow on T itself. */
static int make_plain(trs_instance *inst)
{
    merged *d = (merged *)inst->data;
    const trs_pattern p = pattern_of(inst);
    const int rc = dataflow_new(inst->ctx, &p, inst->op->tri.dtype, &d->plain);
    if (rc) dataflow_free(inst->ctx, &d->plain);
    trs_gpu_drop_scratch(inst->ctx); /* the analysis may be long over */
    return rc;
}

/* Both that there are get the values: a captured solve goes on with the one that it was captured with. */
static int update(trs_instance *inst, void *stream)
{
    merged *d = (merged *)inst->data;
    if (inst->op->tri.n == 0) return TRS_OK;
    int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    const void *val = inst->op->device.val;
    if (!rc) rc = take(inst, val, stream);
    if (!rc && d->too_large && !d->plain.inv) rc = make_plain(inst);
    if (rc || !d->plain.inv) return rc;
    return dataflow_take(&d->plain, val, stream);
}

/* If the growth is more than most, what is kept of the diagonals becomes NaN: words [count] of 32 bits.  A thread has every
 * all_threads ()-th word; usually it reads the growth and ends. */
static __global__ void refuse_kernel(const uint64_t *growth, int passes, double most, int64_t count,
                                     unsigned *words)
{
    if (growth_of((const double *)growth, passes) <= most) return;
    for (int64_t k = index_of_thread(); k < count; k += all_threads()) words[k] = ~0u;
}

/* T' as it was found good by the last update, and T where it was needed before. */
static int refresh(trs_instance *inst, void *stream)
{
    const merged *d = (const merged *)inst->data;
    const trs_dtype t = inst->op->tri.dtype;
    const void *val = inst->op->device.val;
    int rc = TRS_OK;
    if (d->plain.inv) rc = dataflow_take(&d->plain, val, stream);
    if (rc || d->too_large || inst->op->tri.n == 0) return rc;
    rc = take_passes(d, t, &val, stream);
    if (!rc) rc = dataflow_take(&d->flow, val, stream);
    if (rc || d->passes == 0) return rc;
    const int64_t words = d->flow.flow.nodes * (int64_t)(trs_size(t) / sizeof(unsigned));
    refuse_kernel<<<few_blocks(words), PLAIN, 0, (cudaStream_t)stream>>>(
        d->growth, d->passes, trs_is_single(t) ? HOPELESS_SINGLE : HOPELESS_DOUBLE, words,
        (unsigned *)d->flow.inv);
    return launched();
}

/* M b, and what cuda-dataflow wants, for T' or for T. */
static int64_t product_bytes(const trs_instance *inst, int nrhs)
{
    const trs_tri *t = &inst->op->tri;
    return ((int64_t)t->n * nrhs * (int64_t)trs_size(t->dtype) + 255) / 256 * 256;
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    const merged *d = (const merged *)inst->data;
    const trs_tri *t = &inst->op->tri;
    int64_t nodes = t->n + t->nnz / TRS_FLOW_PARTIAL;
    if (nodes < d->flow.flow.nodes) nodes = d->flow.flow.nodes;
    return product_bytes(inst, nrhs) + dataflow_work_bytes(nodes, t->n, t->dtype, nrhs);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const merged *d = (const merged *)inst->data;
    const trs_tri *t = &inst->op->tri;
    const trs_view product = {job->work, 1, t->n};
    trs_job next = *job;
    if (t->n == 0) return TRS_OK;
    if (d->too_large) return dataflow_solve(&d->plain, job);
    for (int k = 0; k < d->passes; k++) {
        const int rc = merge_product(&d->pass[k], t->dtype, job, next.b, product);
        if (rc) return rc;
        next.b = product;
    }
    next.work = (char *)job->work + product_bytes(inst, job->nrhs);
    return dataflow_solve(&d->flow, &next);
}

/* Once it is built, what the passes did; of T itself where values grow too much. */
static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    if (!built) {
        merge_cost(p, m, c);
        c->preliminary = true;
        return NULL;
    }
    const merged *d = (const merged *)built->data;
    merge_outcome o = {(double)s->levels, (double)s->nnz, 0};
    if (s->n > 0 && !d->too_large)
        o = {(double)d->flow.flow.levels, (double)(d->flow.flow.nnz + s->n), (double)d->passes};
    merge_cost_of(s, &o, m, c);
    return NULL;
}

static int64_t held(const trs_instance *inst)
{
    const merged *d = (const merged *)inst->data;
    int64_t bytes = dataflow_bytes(&d->flow) + dataflow_bytes(&d->plain);
    for (int k = 0; k < d->passes; k++) bytes += d->pass[k].bytes + d->pass[k].listed_bytes;
    if (d->growth) bytes += MERGE_PASSES * (int64_t)sizeof *d->growth;
    return d->level ? bytes + inst->op->tri.n * (int64_t)sizeof *d->level : bytes;
}

/* At most: T, the passes, and the last one and T in the order of the solve; and about what recipes take. */
static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const int64_t elem = (int64_t)s->elem, recipe = p->op && p->op->ctx->refreshes ? 12 : 0;
    const int64_t entries = 4 + (2 * MERGE_TIMES + 1) * (elem + 12) + MERGE_TIMES * recipe;
    return s->nnz * entries + MERGE_FEW * (elem + 8) +
           s->n * (12 + 21 * MERGE_PASSES + 2 * (48 + elem));
}

const trs_solver trs_solver_merged = {
    .name = "cuda-merged",
    .about = "level rewriting: a level merged into the one before, then cuda-dataflow",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .reconsiders = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .held = held,
    .build = build,
    .update = update,
    .refresh = refresh,
    .find_growth = find_growth,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
