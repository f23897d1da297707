/* segments.cu: a triangle cut in two; the head and the tail each have the solver that suits them.
 *
 *     [ A    ]     x_A = A^-1 b_A
 *     [ B  C ]     x_C = C^-1 (b_C - B x_A)
 *
 * cut.c decides which rows are the head and which solvers are used.  A and C are separate operators with contiguous
 * rows.  A solve is a sequence of kernels in one stream: b_A is gathered into the work space y, A is solved there in
 * place, y_C = b_C - B y_A, C is solved in place, and y is scattered to X.  The last read of the right-hand sides
 * precedes the first write to X, so X may be B.
 *
 * A team of threads owns a row of the product and adds its entries in a fixed order: the bits are the same every time.
 * No block of threads waits for another one, so nothing can hang unless the two solvers do.
 * Bytes: those of the two solvers, (elem + 4) nnz (B) and 5 elem n.  The time is that of the solvers. */
#include "config.h"

#include "base/debug.h"
#include "base/noun.h"
#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "analysis/level.h"
#include "cut.h"
#include "matrix/submatrix.h"
}

#include <cstdio>

enum { THREADS = PLAIN, COLUMNS = 4 /* at a time, of several */ };

struct coupling { /* B by rows, on the device */
    int32_t n;    /* rows */
    int64_t nnz;
    int64_t longest; /* entries of the longest row */
    int64_t *ptr;    /* [n+1] */
    int32_t *idx;    /* [nnz] columns, counted from its first one */
    int64_t *src;    /* [nnz] entry p is entry src[p] of the triangle */
    void *val;       /* [nnz] */
};

struct segments {
    int32_t *row;           /* [n] on the device: rows of the head, then of the tail */
    int32_t head;           /* rows of it */
    trs_operator op[2];     /* A, C: their values are places in those of the triangle */
    trs_instance solver[2]; /* none: it has no rows */
    coupling B;
};

struct segments_work {
    void *y; /* [n][nrhs] x of the head, then of the tail */
    trs_instance_work work[2];
};

/* ---- solve --------------------------------------------------------------------------------------- */

/* y = x (row), or x (row) = y: a thread a row. */
template <class T>
static __global__ void move_kernel(int32_t n, int nrhs, const int32_t *row, view<T> y, view<T> x,
                                   bool gather)
{
    const int32_t k = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (k >= n) return;
    for (int r = 0; r < nrhs; r++)
        if (gather) y(k, r) = x(row[k], r);
        else x(row[k], r) = y(k, r);
}

template <class T> struct product_args { /* to = b (row) - B from */
    int32_t n;
    int nrhs;
    const int32_t *row, *idx;
    const int64_t *ptr;
    const T *val;
    view<T> b, from, to;
    bool cj;
};

/* The sum over a team of lanes of a warp, or over the block of threads, in its first lane.  All threads of the block
 * call it. */
template <int TEAM, class T> static __device__ T sum_of_team(T v)
{
    __shared__ T all[THREADS];
    if (TEAM < THREADS) {
        for (int by = TEAM / 2; by > 0; by /= 2) v = v + shuffle_xor(v, by);
        return v;
    }
    all[threadIdx.x] = v;
    __syncthreads();
    block_sum(all, THREADS);
    v = all[0];
    __syncthreads();
    return v;
}

/* Entries of a row that a thread has at a time. */
template <int WIDTH> constexpr int BATCH = WIDTH == 1 ? 4 : 1;

/* a = entries p, p + TEAM, ... before end, v = right-hand sides r, r+1, ... of x in their columns.  All loads of a batch
 * are under way before the first product needs one, because a row of B reads x at random. */
template <int TEAM, class T, int COUNT, int WIDTH>
static __device__ inline void load(const product_args<T> &k, int64_t p, int64_t end, int r,
                                   T (&a)[COUNT], T (&v)[COUNT][WIDTH])
{
#pragma unroll
    for (int e = 0; e < COUNT; e++) {
        if (p + e * TEAM >= end) continue;
        a[e] = conj_if(k.cj, k.val[p + e * TEAM]);
        const int32_t j = k.idx[p + e * TEAM];
        TRS_ASSERT(j >= 0);
#pragma unroll
        for (int c = 0; c < WIDTH; c++) v[e][c] = r + c < k.nrhs ? k.from(j, r + c) : number<T>(0);
    }
}

/* A team a row, WIDTH right-hand sides at a time.  Rows past the last one have no entries: their teams are here for the
 * barriers of sum_of_team. */
template <class T, int TEAM, int WIDTH>
static __global__ void product_kernel(const product_args<T> k)
{
    constexpr int COUNT = BATCH<WIDTH>;
    const int64_t i = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / TEAM;
    const int lane = threadIdx.x % TEAM;
    const int64_t begin = i < k.n ? k.ptr[i] : 0, end = i < k.n ? k.ptr[i + 1] : 0;
    for (int r = 0; r < k.nrhs; r += WIDTH) {
        T sum[WIDTH];
        for (int c = 0; c < WIDTH; c++) sum[c] = number<T>(0);
        for (int64_t p = begin + lane; p < end; p += COUNT * TEAM) {
            T a[COUNT], v[COUNT][WIDTH];
            load<TEAM>(k, p, end, r, a, v);
#pragma unroll
            for (int e = 0; e < COUNT; e++)
#pragma unroll
                for (int c = 0; c < WIDTH; c++)
                    if (p + e * TEAM < end) sum[c] = sum[c] + a[e] * v[e][c];
        }
#pragma unroll
        for (int c = 0; c < WIDTH; c++) {
            const T all = sum_of_team<TEAM>(sum[c]);
            if (lane == 0 && i < k.n && r + c < k.nrhs) k.to(i, r + c) = k.b(k.row[i], r + c) - all;
        }
    }
}

template <class T, int TEAM> static int launch_product(const product_args<T> &k, void *stream)
{
    const unsigned blocks = blocks_of((int64_t)k.n * TEAM);
    const auto kernel = k.nrhs == 1 ? product_kernel<T, TEAM, 1> : product_kernel<T, TEAM, COLUMNS>;
    kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(k);
    return launched();
}

/* Long rows want large teams, and few rows leave room for them; many rows with few entries each want small ones. */
template <class T>
static int subtract(const segments *d, const trs_job *job, view<T> from, view<T> to)
{
    enum { FEW_ROWS = 20000, LONG = 512, SHORT = 16 };
    const coupling &B = d->B;
    const product_args<T> k = {B.n,   job->nrhs,        d->row + d->head, B.idx,
                               B.ptr, (const T *)B.val, typed<T>(job->b), from,
                               to,    job->conj};
    if (B.n <= FEW_ROWS && B.longest > LONG) return launch_product<T, THREADS>(k, job->stream);
    if (B.n <= FEW_ROWS || B.nnz > (int64_t)SHORT * B.n)
        return launch_product<T, 32>(k, job->stream);
    return launch_product<T, 4>(k, job->stream);
}

template <class T>
static void move(const segments *d, int32_t n, const trs_job *job, view<T> y, trs_view x,
                 bool gather)
{
    move_kernel<T><<<blocks_of(n), THREADS, 0, (cudaStream_t)job->stream>>>(n, job->nrhs, d->row, y,
                                                                            typed<T>(x), gather);
}

static int solve_one(const segments *d, int k, const trs_job *job, void *y, int64_t n)
{
    const segments_work *w = (const segments_work *)job->work;
    trs_job one = *job;
    one.b = one.x = {y, 1, n};
    one.work = w->work[k].p;
    return d->solver[k].solver->solve(&d->solver[k], &one);
}

template <class T> static int solve_all(const trs_instance *inst, const trs_job *job)
{
    const segments *d = (const segments *)inst->data;
    const int32_t n = inst->op->tri.n, head = d->head;
    T *y = (T *)((const segments_work *)job->work)->y;
    const view<T> first = {y, 1, n}, second = {y + head, 1, n};
    move(d, head, job, first, job->b, true);
    int rc = solve_one(d, 0, job, y, n);
    if (!rc && head < n) rc = subtract(d, job, first, second);
    if (!rc && head < n) rc = solve_one(d, 1, job, y + head, n);
    if (rc) return rc;
    move(d, n, job, first, job->x, false);
    return launched();
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    if (inst->op->tri.n == 0) return TRS_OK;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) { return solve_all<T>(inst, job); });
}

/* ---- work space ------------------------------------------------------------------------------------- */

static void work_destroy(trs_context *ctx, void *work)
{
    segments_work *w = (segments_work *)work;
    for (int k = 0; k < 2; k++) trs_instance_work_destroy(ctx, &w->work[k]);
    trs_gpu_free(ctx, w->y);
    trs_free(&ctx->mem, w);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const segments *d = (const segments *)inst->data;
    const trs_tri *t = &inst->op->tri;
    segments_work *w = data_new<segments_work>(ctx, work);
    if (!w) return TRS_EMEM;
    w->y = trs_gpu_new(ctx, (int64_t)t->n * nrhs, trs_size(t->dtype), "X of head and tail");
    int rc = w->y ? TRS_OK : TRS_EMEM;
    for (int k = 0; k < 2 && !rc; k++)
        if (d->solver[k].solver)
            rc = trs_instance_work_create(&d->solver[k], ctx, nrhs, &w->work[k]);
    return rc;
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* The values of B, of A and of C; take (solver) tells the solvers of A and C. */
template <class F> static int take_values(trs_instance *inst, void *stream, F take)
{
    segments *d = (segments *)inst->data;
    const trs_operator *T = inst->op;
    const void *val = T->device.val;
    int rc = trs_gpu_take_values(T->tri.dtype, d->B.nnz, d->B.src, val, d->B.val, stream);
    for (int k = 0; k < 2 && !rc; k++) {
        if (!d->solver[k].solver) continue;
        rc = trs_operator_take_values(&d->op[k], val, true, stream);
        if (!rc) rc = take(&d->solver[k]);
    }
    return rc;
}

/* The larger growth of the two. */
static void compare_growth(trs_instance *inst)
{
    const segments *d = (const segments *)inst->data;
    inst->growth = max(d->solver[0].growth, d->solver[1].growth);
}

static int update(trs_instance *inst, void *stream)
{
    int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    if (!rc)
        rc = take_values(inst, stream,
                         [=](trs_instance *part) { return trs_instance_update(part, stream); });
    compare_growth(inst);
    return rc;
}

static int refresh(trs_instance *inst, void *stream)
{
    return take_values(inst, stream,
                       [=](trs_instance *part) { return trs_instance_refresh(part, stream); });
}

static int find_growth(trs_instance *inst, void *stream)
{
    segments *d = (segments *)inst->data;
    int rc = TRS_OK;
    for (int k = 0; k < 2 && !rc; k++)
        if (d->solver[k].solver) rc = trs_instance_find_growth(&d->solver[k], stream);
    compare_growth(inst);
    return rc;
}

/* ---- build ---------------------------------------------------------------------------------------------- */

/* The rows and columns that k picks, as an operator without values: they come by the first update. */
static int make_operator(const trs_instance *inst, const trs_pick *k, trs_operator *op)
{
    trs_picked a;
    int rc = trs_pick_rows(inst->ctx, &inst->op->tri, k, &a);
    if (rc) {
        trs_picked_free(inst->ctx, &a);
        return rc;
    }
    trs_tri t = {};
    t.n = k->end - k->begin;
    t.nnz = a.ptr[t.n];
    t.dtype = inst->op->tri.dtype;
    t.ptr = a.ptr;
    t.idx = a.idx;
    t.src = a.src;
    trs_operator_from_host(op, inst->ctx, &t);
    op->on_host = TRS_OP_PATTERN;
    rc = trs_find_levels_on_device(op);
    return rc == TRS_ESUPPORT ? trs_find_levels(op) : rc;
}

static int make_coupling(const trs_instance *inst, const trs_pick *k, coupling *B)
{
    trs_context *ctx = inst->ctx;
    trs_picked a;
    int rc = trs_pick_rows(ctx, &inst->op->tri, k, &a);
    B->n = k->end - k->begin;
    B->nnz = rc ? 0 : a.ptr[B->n];
    for (int32_t i = 0; i < B->n && !rc; i++) B->longest = max(B->longest, a.ptr[i + 1] - a.ptr[i]);
    if (!rc) {
        B->ptr = device_copy(ctx, a.ptr, (int64_t)B->n + 1, "rows");
        B->idx = device_copy(ctx, a.idx, B->nnz, "columns");
        B->src = device_copy(ctx, a.src, B->nnz, "places of values");
        B->val = trs_gpu_new(ctx, B->nnz, trs_size(inst->op->tri.dtype), "values");
        rc = B->ptr && B->idx && B->src && B->val ? TRS_OK : TRS_EMEM;
    }
    trs_picked_free(ctx, &a);
    return rc;
}

/* A, C and their solvers, then B.  Without a cut A is all, and there are no C and no B.  It refreshes if both do. */
static int make_blocks(trs_instance *inst, const trs_cut *cut, const int32_t *row)
{
    segments *d = (segments *)inst->data;
    const int32_t n = inst->op->tri.n, from[] = {0, d->head, n};
    const int32_t *number = row + n;
    int rc = TRS_OK;
    for (int k = 0; k < 2 && from[k] < from[k + 1] && !rc; k++) {
        const trs_pick diagonal = {row, number, from[k], from[k + 1], from[k], from[k + 1]};
        const trs_solver *solver = cut ? cut->part[k].solver : &trs_solver_dataflow;
        rc = make_operator(inst, &diagonal, &d->op[k]);
        if (!rc) rc = trs_instance_build(&d->solver[k], &d->op[k], solver);
        inst->refreshes = inst->refreshes && d->solver[k].refreshes;
        if (!rc) trs_operator_trim(&d->op[k]);
    }
    const trs_pick coupled = {row, number, d->head, n, 0, d->head};
    if (!rc && d->head < n) rc = make_coupling(inst, &coupled, &d->B);
    /* no entry stands right of A, so no row of the head depends on the tail */
    TRS_ASSERT(rc || d->op[0].tri.nnz + d->op[1].tri.nnz + d->B.nnz == inst->op->tri.nnz);
    return rc;
}

/* row [n]: those of the head, then of the tail; in row [n..2n-1]: the inverse. */
static void order_rows(const trs_cut *cut, int32_t n, int32_t *row)
{
    for (int32_t k = 0; k < n; k++) {
        row[k] = cut ? cut->row[k] : k;
        TRS_ASSERT(row[k] >= 0 && row[k] < n);
        row[n + row[k]] = k;
    }
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const int32_t n = inst->op->tri.n;
    const void *found;
    int rc = trs_operator_show(inst->op, TRS_OP_PATTERN);
    if (!rc) rc = trs_operator_analysis(inst->op, &trs_cut_analysis, true, &found);
    if (rc) return rc;
    const trs_cut *cut = (const trs_cut *)found;
    segments *d = data_new<segments>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    d->head = cut ? (int32_t)cut->part[0].shape.n : n;
    int32_t *row = (int32_t *)trs_new(ctx, 2 * (int64_t)n, sizeof *row, "rows of head and tail");
    if (!row) return TRS_EMEM;
    order_rows(cut, n, row);
    d->row = device_copy(ctx, row, n, "rows of head and tail");
    rc = d->row ? make_blocks(inst, cut, row) : TRS_EMEM;
    trs_free(&ctx->mem, row);
    return rc;
}

static void release(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    segments *d = (segments *)inst->data;
    for (int k = 0; k < 2; k++) {
        trs_instance_release(&d->solver[k]);
        trs_operator_free(&d->op[k]);
    }
    device_free(ctx, d->B.ptr, d->B.idx, d->B.src, d->B.val, d->row);
    trs_free(&ctx->mem, d);
}

/* ---- what it takes ------------------------------------------------------------------------------------- */

/* What the solvers of head and tail say now, less what they said before they were built. */
static void add_news(const trs_instance *built, const trs_cut *cut, const trs_machine *m,
                     trs_cost *c)
{
    segments *d = (segments *)built->data;
    for (int k = 0; k < 2; k++) {
        const trs_solver *s = d->solver[k].solver;
        trs_prospect before, after;
        trs_cost was = {}, now = {};
        if (!s || !s->reconsiders) continue;
        trs_cut_prospect(&cut->part[k], 0, &before);
        trs_prospect_of(&d->op[k], TRS_LOOK, &after);
        (void)s->estimate(&before, NULL, m, &was);
        if (s->estimate(&after, &d->solver[k], m, &now)) continue;
        c->bytes += now.bytes - was.bytes;
        c->sync += now.sync - was.sync;
        c->latency += now.latency - was.latency;
        c->update += now.update - was.update;
    }
}

/* Without a cut, which a triangle of one level has not: cuda-dataflow between a gather and a scatter. */
static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_cut *cut = (const trs_cut *)trs_prospect_analysis(p, &trs_cut_analysis, true);
    if (!cut && p->effort != TRS_NEED) return "no two-way cut pays";
    if (!cut) {
        (void)trs_solver_dataflow.estimate(p, NULL, m, c);
        c->sync += 2 * m->gpu_launch;
        return NULL;
    }
    trs_cut_cost(cut, m, c);
    if (built) add_news(built, cut, m, c);
    return NULL;
}

/* "; 22904 rows by cuda-supernodal, 4096 by dense-blocked" */
static void describe(const trs_prospect *p, char *text, size_t size)
{
    const trs_cut *cut = (const trs_cut *)trs_prospect_analysis(p, &trs_cut_analysis, true);
    if (!cut) return;
    const trs_cut_part *head = &cut->part[0], *tail = &cut->part[1];
    snprintf(text, size, "; %d %s by %s, %d by %s", (int)head->shape.n,
             trs_noun(head->shape.n, "row", "rows"), head->solver->name, (int)tail->shape.n,
             tail->solver->name);
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const trs_cut *cut = (const trs_cut *)trs_prospect_analysis(p, &trs_cut_analysis, true);
    int64_t each = cut ? 0 : trs_solver_dataflow.bytes(p);
    for (int k = 0; k < 2 && cut; k++) {
        trs_prospect part;
        trs_cut_prospect(&cut->part[k], 0, &part);
        each += cut->part[k].solver->bytes(&part);
    }
    return each + s->nnz * (2 * (int64_t)s->elem + 16) + s->n * 32;
}

const trs_solver trs_solver_segments = {
    .name = "cuda-segments",
    .about = "a two-way cut: a head and a tail, each by a solver of its own",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .reconsiders = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .refresh = refresh,
    .find_growth = find_growth,
    .solve = solve,
    .describe = describe,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
