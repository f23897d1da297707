/* segments.cu: a triangle cut in two, the head and the tail solved each by the solver that suits it.
 *
 *     [ A    ]     x_A = A^-1 b_A
 *     [ B  C ]     x_C = C^-1 (b_C - B x_A)
 *
 * Which rows are the head and who solves them is found in cut.c.  A and C are plans of their own, whose rows stand side
 * by side.  A solve is a sequence of kernels in one stream: b_A is gathered into the work space y, A is solved there in
 * place, y_C = b_C - B y_A, C is solved in place, and y is scattered to X.  B is read for the last time before X is
 * written, so that X may be B.
 *
 * A team of threads owns a row of the product and adds its entries in a fixed order: the bits are the same every time.
 * No block of threads waits for another one, so nothing can hang unless the two solvers do.
 * Bytes: those of the two solvers, (elem + 4) nnz (B) and 5 elem n.  The time is that of the solvers. */
#include "config.h"

#include "base/debug.h"
#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "matrix/submatrix.h"
#include "cut.h"
#include "core/work.h"
}

enum { THREADS = PLAIN, COLUMNS = 4 /* at a time, of several */ };

struct submatrix { /* A, C or B by rows, on the device */
    int32_t n;     /* rows */
    int64_t nnz;
    int64_t longest; /* entries of the longest row */
    int64_t *ptr;    /* [n+1] */
    int32_t *idx;    /* [nnz] columns, counted from its first one */
    int64_t *src;    /* [nnz] entry p is entry src[p] of the side */
    void *val;       /* [nnz] */
};

struct segments {
    int32_t *row;          /* [n] on the device: rows of the head, then of the tail */
    trs_plan *plan[2];     /* of A, of C; NULL: it has no rows */
    submatrix triangle[2]; /* A, C; once the plans are made without ptr and idx */
    submatrix coupling;    /* B */
};

struct segments_work {
    void *y; /* [n][nrhs] x of the head, then of the tail */
    trs_work *work[2];
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
        for (int by = TEAM / 2; by > 0; by /= 2)
            v = v + for_parts(v, [=](auto part) { return __shfl_xor_sync(~0u, part, by); });
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
    const submatrix &B = d->coupling;
    const product_args<T> k = {B.n,   job->nrhs,        d->row + d->triangle[0].n, B.idx,
                               B.ptr, (const T *)B.val, typed<T>(job->b),          from,
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
    return trs_solve_in_place(d->plan[k], w->work[k], &one);
}

template <class T> static int solve_all(const trs_part *part, const trs_job *job)
{
    const segments *d = (const segments *)part->data;
    const int32_t n = part->side->tri.n, head = d->triangle[0].n;
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

static int solve(const trs_part *part, const trs_job *job)
{
    if (part->side->tri.n == 0) return TRS_OK;
    return for_type(part->side->tri.dtype,
                    [&](auto zero) { return solve_all<decltype(zero)>(part, job); });
}

/* ---- work space ------------------------------------------------------------------------------------- */

static void work_destroy(trs_context *ctx, void *work)
{
    segments_work *w = (segments_work *)work;
    for (int k = 0; k < 2; k++) trs_work_destroy(w->work[k]);
    trs_gpu_free(ctx, w->y);
    trs_free(&ctx->mem, w);
}

static int work_create(const trs_part *part, trs_context *ctx, int nrhs, void **work)
{
    const segments *d = (const segments *)part->data;
    const trs_tri *t = &part->side->tri;
    segments_work *w = (segments_work *)trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    *work = w;
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    w->y = trs_gpu_new(ctx, (int64_t)t->n * nrhs, trs_size(t->dtype), "X of head and tail");
    int rc = w->y ? TRS_OK : TRS_EMEM;
    for (int k = 0; k < 2 && !rc; k++)
        if (d->plan[k]) rc = trs_work_make(&w->work[k], d->plan[k], nrhs, ctx);
    return rc;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static trs_mat matrix(const trs_part *part, const submatrix *a)
{
    trs_mat m = {};
    m.n = a->n;
    m.nnz = a->nnz;
    m.ptr = a->ptr;
    m.idx = a->idx;
    m.val = a->val;
    m.ptr_bits = 64;
    m.idx_bits = 32;
    m.dtype = part->side->tri.dtype;
    m.format = TRS_CSR;
    m.kind = TRS_LOWER;
    m.device = TRS_CUDA(part->ctx->device);
    return m;
}

/* Bad pivots of A and C are no failure here: they are those of the side, for which the plan of the side looks itself. */
static int told(int rc)
{
    return !rc || rc == TRS_EPIVOT ? TRS_OK : trs_fail(rc, "head or tail: %s", trs_message());
}

static int take(const trs_part *part, const submatrix *a, const void *val, void *stream)
{
    return trs_gpu_take_values(part->side->tri.dtype, a->nnz, a->src, val, a->val, stream);
}

static int update_direct(trs_part *part, const void *val, void *stream)
{
    segments *d = (segments *)part->data;
    trs_exec exec = {};
    exec.stream = stream;
    int rc = take(part, &d->coupling, val, stream);
    part->growth = 0;
    for (int k = 0; k < 2 && !rc; k++) {
        if (!d->plan[k]) continue;
        const trs_mat m = matrix(part, &d->triangle[k]);
        rc = take(part, &d->triangle[k], val, stream);
        if (!rc) rc = told(trs_plan_update(d->plan[k], &m, &exec));
        part->growth = max(part->growth, d->plan[k]->side[0].part->growth);
    }
    return rc;
}

/* f (val), where val are the values of the side on the host, copied to the device for that long. */
template <class F> static int with_values(const trs_part *part, F f)
{
    const trs_tri *t = &part->side->tri;
    void *val = device_copy(part->ctx, t->val, t->nnz, trs_size(t->dtype), "values");
    int rc = val ? f(val) : TRS_EMEM;
    if (!rc) rc = trs_gpu_wait(NULL);
    trs_gpu_free(part->ctx, val);
    return rc;
}

static int update(trs_part *part)
{
    return with_values(part, [=](const void *val) { return update_direct(part, val, NULL); });
}

/* ---- analyse ------------------------------------------------------------------------------------------- */

static void submatrix_free(trs_context *ctx, submatrix *a)
{
    void *const all[] = {a->ptr, a->idx, a->src, a->val};
    for (void *p : all) trs_gpu_free(ctx, p);
}

/* The rows and columns that k picks, with these values of the side. */
static int put_submatrix(const trs_part *part, const trs_pick *k, const void *val, submatrix *to)
{
    trs_context *ctx = part->ctx;
    trs_picked host;
    int rc = trs_pick_rows(ctx, &part->side->tri, k, &host);
    to->n = k->end - k->begin;
    to->nnz = rc ? 0 : host.ptr[to->n];
    for (int32_t i = 0; i < to->n && !rc; i++)
        to->longest = max(to->longest, host.ptr[i + 1] - host.ptr[i]);
    if (!rc) {
        to->ptr = (int64_t *)device_copy(ctx, host.ptr, (int64_t)to->n + 1, 8, "rows");
        to->idx = (int32_t *)device_copy(ctx, host.idx, to->nnz, 4, "columns");
        to->src = (int64_t *)device_copy(ctx, host.src, to->nnz, 8, "places of values");
        to->val = trs_gpu_new(ctx, to->nnz, trs_size(part->side->tri.dtype), "values");
        rc = to->ptr && to->idx && to->src && to->val ? take(part, to, val, NULL) : TRS_EMEM;
    }
    trs_picked_free(ctx, &host);
    return rc;
}

static int make_plan(const trs_part *part, const trs_solver *solver, submatrix *a, trs_plan **plan)
{
    trs_context *ctx = part->ctx;
    const trs_mat m = matrix(part, a);
    trs_options opt = {};
    opt.solver = solver->name;
    opt.device = m.device;
    opt.nrhs = ctx->nrhs;
    opt.threads = ctx->threads;
    opt.memory_limit = ctx->limit;
    opt.memory = ctx->mem;
    opt.device_memory = ctx->device_memory;
    int rc = trs_gpu_wait(NULL);
    if (!rc) rc = trs_plan_create(plan, &m, &opt);
    if (!rc) rc = trs_plan_analyse(*plan);
    trs_gpu_free(ctx, a->ptr);
    trs_gpu_free(ctx, a->idx);
    a->ptr = NULL;
    a->idx = NULL;
    return told(rc);
}

/* A, C and their plans, then B.  Without a cut A is all, and there are no C and no B. */
static int make_submatrices(const trs_part *part, const int32_t *row, int32_t head, const void *val)
{
    segments *d = (segments *)part->data;
    const trs_cut *s = &part->side->cut;
    const int32_t n = part->side->tri.n, from[] = {0, head, n};
    const int32_t *number = row + n;
    int rc = TRS_OK;
    for (int k = 0; k < 2 && from[k] < from[k + 1] && !rc; k++) {
        const trs_pick diagonal = {row, number, from[k], from[k + 1], from[k], from[k + 1]};
        rc = put_submatrix(part, &diagonal, val, &d->triangle[k]);
        if (!rc)
            rc = make_plan(part, s->row ? s->solver[k] : &trs_solver_dataflow, &d->triangle[k],
                           &d->plan[k]);
    }
    const trs_pick coupling = {row, number, head, n, 0, head};
    if (!rc && head < n) rc = put_submatrix(part, &coupling, val, &d->coupling);
    /* no entry stands right of A, so no row of the head depends on the tail */
    TRS_ASSERT(rc ||
               d->triangle[0].nnz + d->triangle[1].nnz + d->coupling.nnz == part->side->tri.nnz);
    return rc;
}

/* row [n]: those of the head, then of the tail; in row [n..2n-1]: the inverse. */
static void order_rows(const trs_cut *s, int32_t n, int32_t *row)
{
    for (int32_t k = 0; k < n; k++) {
        row[k] = s->row ? s->row[k] : k;
        TRS_ASSERT(row[k] >= 0 && row[k] < n);
        row[n + row[k]] = k;
    }
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    const trs_tri *t = &part->side->tri;
    const trs_cut *s = &part->side->cut;
    segments *d = (segments *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    part->data = d;
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    int32_t *row = (int32_t *)trs_new(ctx, 2 * (int64_t)t->n, sizeof *row, "rows of head and tail");
    if (!row) return TRS_EMEM;
    order_rows(s, t->n, row);
    d->row = (int32_t *)device_copy(ctx, row, t->n, sizeof *row, "rows of head and tail");
    const int32_t head = s->row ? (int32_t)s->shape[0].n : t->n;
    const int rc = !d->row ? TRS_EMEM : with_values(part, [=](const void *val) {
        return make_submatrices(part, row, head, val);
    });
    trs_free(&ctx->mem, row);
    return rc;
}

static void release(trs_part *part)
{
    trs_context *ctx = part->ctx;
    segments *d = (segments *)part->data;
    for (int k = 0; k < 2; k++) {
        trs_plan_destroy(d->plan[k]);
        submatrix_free(ctx, &d->triangle[k]);
    }
    submatrix_free(ctx, &d->coupling);
    trs_gpu_free(ctx, d->row);
    trs_free(&ctx->mem, d);
}

/* ---- what it takes ------------------------------------------------------------------------------------- */

/* Without a cut, which a triangle of one level has not: cuda-dataflow between a gather and a scatter. */
static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    if (s->cut) {
        trs_cut_cost(s->cut, m, c);
        return;
    }
    trs_solver_dataflow.cost(s, m, c);
    c->sync += 2 * m->gpu_launch;
}

/* The same with what the plans of head and tail have found out since. */
static void cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const segments *d = (const segments *)part->data;
    cost(s, m, c);
    for (int k = 0; k < 2 && s->cut; k++) {
        const trs_plan *p = d->plan[k];
        const trs_side *side = &p->side[0];
        trs_cost was = {}, now = {};
        trs_shape shape;
        if (!p->wanted->cost_now) continue;
        trs_shape_of(&p->ctx, side, &shape);
        s->cut->solver[k]->cost(&s->cut->shape[k], m, &was);
        p->wanted->cost_now(side->part, &shape, m, &now);
        c->bytes += now.bytes - was.bytes;
        c->sync += now.sync - was.sync;
        c->hops += now.hops - was.hops;
    }
}

static int64_t bytes(const trs_shape *s)
{
    const trs_cut *two = s->cut;
    const int64_t each =
        two ? two->solver[0]->bytes(&two->shape[0]) + two->solver[1]->bytes(&two->shape[1])
            : trs_solver_dataflow.bytes(s);
    return each + s->nnz * (2 * (int64_t)s->elem + 16) + s->n * 32;
}

const trs_solver trs_solver_segments = {
    .name = "cuda-segments",
    .about = "a head and a tail of the levels, each by a solver of its own",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .cut = true,
    .cost = cost,
    .cost_now = cost_now,
    .bytes = bytes,
    .analyse = analyse,
    .update = update,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
