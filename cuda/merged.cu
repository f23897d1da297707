/* merged.cu: levels made one by substitution, pass after pass (merge.cu), then cuda-dataflow.
 *
 * In the solve M b is made, a pass after the other, and T' x = M b solved: who owns a row, how x becomes
 * visible and why it cannot hang: dataflow.cu.  Bytes: those of cuda-dataflow on T', and for each pass 16 n +
 * 20 nnz (N).  Bound by hops, then by the gathers of T'.
 * The residual of T is M^-1 = I + N times that of T', and what is rounded in a pass is as large as I + N times what
 * it is made of: so errors grow with the product of 1 + the largest sum of a row of N, squared but for the last
 * pass.  Where that is more than GROWTH at an update, T itself is solved. */
#include "config.h"

#include "dataflow.cuh"
#include "merge.cuh"

enum {
    PASSES = 6,  /* at most */
    ENTRIES = 8, /* of all passes together, for one of T, at most, and */
    FEW = 1 << 20
};
static const double GROWTH = 1e4;

struct merged {
    int passes;
    merging pass[PASSES];
    int32_t *level;       /* [n] of T, between the earliest and the latest */
    dataflow flow, plain; /* of the last T', and of T when the growth is too large */
    uint64_t *growth;     /* [PASSES] on the device, of the values that came last */
    bool too_large;
};

static int failed(trs_context *ctx, cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(ctx, TRS_EDEVICE, "merged levels: %s", cudaGetErrorString(e));
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
    return e ? failed(part->ctx, e) : trs_flow_slack(part->ctx, &p, d->level);
}

/* Passes until two in a row, of both kinds, have merged nothing. */
static int merge_all(trs_part *part, trs_pattern *p)
{
    merged *d = (merged *)part->data;
    int64_t room = ENTRIES * p->nnz + FEW;
    int rc = TRS_OK;
    for (int odd = 1, idle = 0; d->passes < PASSES && idle < 2 && !rc; odd = !odd) {
        merging *m = &d->pass[d->passes];
        rc = merge_new(part->ctx, p, odd, room, part->side->tri.dtype, m);
        if (!rc && m->to.levels) {
            room -= m->to.nnz + m->nnz;
            *p = m->to;
            d->passes++;
            idle = 0;
        } else {
            merge_free(part->ctx, m);
            idle++;
        }
    }
    return rc;
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(ctx, TRS_EMEM, "out of memory");
    part->data = d;
    if (part->side->tri.n == 0) return TRS_OK;
    d->growth = (uint64_t *)trs_gpu_new(ctx, PASSES, sizeof *d->growth, "growth");
    int rc = d->growth ? take_levels(part) : TRS_EMEM;
    trs_pattern p = pattern_of(part);
    if (!rc) rc = merge_all(part, &p);
    return rc ? rc : dataflow_new(ctx, &p, part->side->tri.dtype, &d->flow);
}

static void release(trs_part *part)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)part->data;
    for (int k = 0; k < PASSES; k++) merge_free(ctx, &d->pass[k]);
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
    double largest[PASSES] = {0};
    cudaError_t e = cudaMemsetAsync(d->growth, 0, sizeof largest, s);
    for (int k = 0; k < d->passes; k++) {
        const int rc = merge_take(&d->pass[k], t, val, d->growth + k, stream);
        if (rc) return rc;
        val = d->pass[k].val;
    }
    if (!e) e = cudaMemcpyAsync(largest, d->growth, sizeof largest, cudaMemcpyDeviceToHost, s);
    if (!e) e = cudaStreamSynchronize(s);
    if (e) return failed(part->ctx, e);
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
    return e ? failed(part->ctx, e) : TRS_OK;
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
    int64_t nodes = t->n + t->nnz / TRS_FLOW_PIECE;
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

/* T', and how many passes have made it. */
struct outcome {
    double levels, nnz, passes;
};

/* How many times as long a wait is for several columns. */
static double turns(const trs_shape *s)
{
    return 1 + 0.5 * log2((double)s->nrhs);
}

/* Of a pass, in hops, measured from launch to launch: more than merge_new counts, which the bits go by.  With several
 * columns, rows beyond those that merge_product reads in batches cost more, and rows of which N is wide. */
static double product_hops(const trs_shape *s)
{
    const double n = (double)s->n, wide = (double)s->nrhs * (double)s->longest / double(PLAIN);
    if (s->nrhs == 1) return 6 + n / 1.2e5;
    return (20 + max(n - 2e5, 0.) / 9e3) * turns(s) + 0.36 * wide;
}

/* By so many hops one takes longer in T' than in T: few entries of a row are there long before the last.  Several
 * columns are waited for in rounds of lines of y. */
static double longer_hop(const trs_shape *s, double length)
{
    const double lines = s->nrhs <= 16 ? 16 : 8;
    if (s->nrhs == 1) return max(0.225 * log2(length) - 0.4, 0.);
    const double longest = min(s->sum_longest / (double)s->levels, double(2 * TRS_FLOW_PIECE));
    return (0.28 * turns(s) * length + 0.067 * longest) / lines;
}

/* One column is read while longer hops are waited for, half of the time. */
static void cost_of(const trs_shape *s, const outcome *o, const trs_machine *m, trs_cost *c)
{
    const int columns = many_at_once(s->nrhs), times = (s->nrhs + columns - 1) / columns;
    trs_shape then = *s;
    then.levels = (int64_t)o->levels;
    then.nnz = (int64_t)o->nnz;
    trs_solver_dataflow.cost(&then, m, c);
    if (o->passes == 0) return;
    then = *s;
    then.nrhs = columns;
    const double longer = times * o->levels * longer_hop(&then, o->nnz / (double)s->n) * m->gpu_hop;
    c->hops += longer - (s->nrhs == 1 ? 0.5 * min(longer, c->bytes) : 0);
    c->sync += times * o->passes * product_hops(&then) * m->gpu_hop;
}

/* Rows, one after the other, that have one pattern and so bring no entries when their levels are merged; on the
 * average. */
static double alike(const trs_shape *s)
{
    const double n = (double)s->n;
    if ((double)s->nnz == n * (n + 1) / 2) return n;
    return s->height > 0 ? max((double)s->levels / (double)s->height, 1.) : 1;
}

/* T' on the way, as far as a shape tells. */
struct progress {
    outcome o;
    double widest, longest; /* level, and row of a level on the average */
    double alike, room;
};

/* One more pass, if merge_new would probably make it.  Levels have widest * u^(ratio - 1) rows for u from 0 to 1; rows
 * of levels that are merged become twice as long where they are not alike, and have as many entries in N. */
static bool guess_pass(double n, progress *g)
{
    const double length = g->o.nnz / n - 1, longer = (1 - min(log2(g->alike), 1.)) * length;
    const double room = double(MERGE_ROOM), much = double(MERGE_LONG_PRICE);
    const double price = 4 * longer > room ? much : 1;
    const double adds = price * (2 * longer + 1); /* of a row */
    const double adds_longest = g->longest > room ? much * g->longest * longer / 2 : 0;
    const double few = (MERGE_ENTRIES - adds_longest) / (g->widest * adds);
    if (few <= 0) return false;
    const double ratio = max(g->widest * g->o.levels / n, 1.1);
    const double share = few >= 1 ? 1 : pow(few, 1 / (ratio - 1)), pairs = g->o.levels / 2 * share;
    const double rows = n / 2 * pow(share, ratio); /* merged */
    const double gain = pairs - (rows * adds + pairs * adds_longest) / MERGE_ENTRIES;
    g->room -= g->o.nnz - n + rows * adds;
    if (gain < merge_product_hops(n) || g->room < 0) return false;
    g->o = {g->o.levels - pairs, g->o.nnz + rows * longer, g->o.passes + 1};
    if (few >= 1) g->widest *= 2;
    g->longest *= 1 + longer / length / 2;
    g->alike = max(g->alike / 2, 1.);
    return true;
}

static outcome guess(const trs_shape *s)
{
    progress g = {{(double)s->levels, (double)s->nnz, 0},
                  (double)s->widest,
                  s->sum_longest / (double)s->levels,
                  alike(s),
                  double(ENTRIES) * (double)s->nnz + double(FEW)};
    while (g.o.passes < double(PASSES) && g.o.nnz > (double)s->n && guess_pass((double)s->n, &g))
        continue;
    return g.o;
}

/* Nothing is said for what was not measured: more than 20 GB of passes.  Where more than a few rows are alike, as in
 * factors, values have grown too much more often than not: T and T' in equal parts. */
static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    enum { LARGE = 200000000 };
    const double few_alike = 4;
    const outcome plain = {(double)s->levels, (double)s->nnz, 0};
    const outcome o = s->nnz < LARGE && s->n > 0 ? guess(s) : plain;
    cost_of(s, &o, m, c);
    if (alike(s) > few_alike) {
        trs_cost other = {};
        cost_of(s, &plain, m, &other);
        c->bytes = (c->bytes + other.bytes) / 2;
        c->sync = (c->sync + other.sync) / 2;
        c->hops = (c->hops + other.hops) / 2;
    }
    c->sync += m->gpu_launch;
}

/* What they did; of T itself where values grow too much. */
static void cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const merged *d = (const merged *)part->data;
    outcome o = {(double)s->levels, (double)s->nnz, 0};
    if (s->n > 0 && !d->too_large)
        o = {(double)d->flow.flow.levels, (double)(d->flow.flow.nnz + s->n), (double)d->passes};
    cost_of(s, &o, m, c);
}

/* At most: T, the passes, and the last one and T in the order of the solve. */
static int64_t bytes(const trs_shape *s)
{
    const int64_t elem = (int64_t)s->elem, entries = 4 + (2 * ENTRIES + 1) * (elem + 12);
    return s->nnz * entries + FEW * (elem + 8) + s->n * (12 + 21 * PASSES + 2 * (48 + elem));
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
    .cost = cost,
    .cost_now = cost_now,
    .bytes = bytes,
    .analyse = analyse,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
