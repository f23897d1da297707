/* chain.cu: triangles with at most one off-diagonal entry a row, by pointer jumping.
 *
 * Such rows form trees.  Every row points to the row that it depends on, its parent p(i):
 *
 *     x(i) = c(i) + a(i) x(p(i)),   c(i) = b(i) / L(i,i),   a(i) = -L(i,p(i)) / L(i,i);   p(i) = -1: no parent
 *
 * A round replaces each parent by its own parent, so that all paths become half as long (Wyllie 1979; for linear
 * recurrences Kogge and Stone 1973).  The coefficients follow from L alone, so an update makes them for all rounds:
 *
 *     update:  a, p of round 0;  then  a'(i) = a(i) a(p(i)),  p'(i) = p(p(i));  where p(i) = -1: a'(i) = 0, p'(i) = -1
 *     solve:   x = c;  in every round  x'(i) = x(i) + a(i) x(p(i)),  with a and p of this round
 *
 * Paths of n rows take ceil (log2 n) rounds, at least one.  A round is a launch with a thread a row, which reads the
 * x of the round before and writes another array: no row waits for another, so nothing can hang, and the order of
 * every sum is fixed, so the bits are the same every time.
 *
 * If products of a grow too much, a diagonal is not near 1 (divide.cuh) or a row has more entries, one thread
 * substitutes row after row; the solver refuses to do so for millions of entries.  An update sets a flag on the
 * device that selects between the two, so a captured solve follows later updates.
 * Bytes: (3 elem + 4) n a round.  Up to some 10^5 rows the time is that of the launches. */
#include "config.h"

#include "base/debug.h"
#include "cuda/blocks/blocks.cuh"

enum { THREADS = PLAIN };

struct chain {
    int rounds;       /* 0: rows have more entries */
    int *substituted; /* on the device; 1: rounds are no good; the others are in its block */
    int32_t *p;       /* [rounds][n] */
    void *a;          /* [rounds][n] */
};

/* ---- solve ------------------------------------------------------------------------------------------- */

/* x = c. */
template <class T>
static __global__ void first_kernel(int32_t n, const int64_t *Lp, const T *Lx, const view<T> b,
                                    T *x, bool cj)
{
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    const int r = blockIdx.y;
    if (i < n) x[(int64_t)r * n + i] = b(i, r) / conj_if(cj, Lx[Lp[i + 1] - 1]);
}

template <class T> struct round_args {
    int32_t n;
    const int32_t *p;
    const T *a;
    const T *from; /* [columns][n] x of the round before */
    bool cj;
    __device__ T operator()(int32_t i, int r) const
    {
        const T *x = from + (int64_t)r * n;
        TRS_ASSERT(p[i] < i);
        return p[i] < 0 ? x[i] : x[i] + conj_if(cj, a[i]) * x[p[i]];
    }
};

template <class T> static __global__ void round_kernel(const round_args<T> k, T *to)
{
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    const int r = blockIdx.y;
    if (i < k.n) to[(int64_t)r * k.n + i] = k(i, r);
}

template <class T>
static __device__ void substitute(int32_t n, const int64_t *Lp, const int32_t *Li, const T *Lx,
                                  const view<T> b, const view<T> x, int r, bool cj)
{
    for (int32_t i = 0; i < n; i++) {
        T s = b(i, r);
        int64_t p = Lp[i];
        for (; p < Lp[i + 1] - 1; p++) s = s - conj_if(cj, Lx[p]) * x(Li[p], r);
        x(i, r) = s / conj_if(cj, Lx[p]);
    }
}

/* The last round, which alone writes to the caller's X: B may be X, and is read until then where rows are substituted.
 * Or, where they are, a thread a right-hand side for all of it. */
template <class T>
static __global__ void last_kernel(const round_args<T> k, const int64_t *Lp, const int32_t *Li,
                                   const T *Lx, const view<T> b, const view<T> x,
                                   const int *substituted)
{
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    const int r = blockIdx.y;
    TRS_ASSERT(k.p || *substituted);
    const T v = k.p && i < k.n ? k(i, r) : number<T>(0);
    if (!*substituted && i < k.n) x(i, r) = v;
    if (*substituted && i == 0) substitute(k.n, Lp, Li, Lx, b, x, r, k.cj);
}

template <class T>
static int solve_columns(const trs_instance *inst, const trs_job *job, int first, int count)
{
    const chain *d = (const chain *)inst->data;
    const int32_t n = inst->op->tri.n;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const view<T> b = from_column(typed<T>(job->b), first),
                  x = from_column(typed<T>(job->x), first);
    const trs_device_view *L = &inst->op->device;
    const T *Lx = (const T *)L->val;
    const dim3 grid(d->rounds ? blocks_of(n) : 1, (unsigned)count);
    T *from = (T *)job->work, *to = from + (int64_t)job->nrhs * n;
    round_args<T> k = {n, d->rounds ? d->p : NULL, (const T *)d->a, from, job->conj};
    if (d->rounds) first_kernel<T><<<grid, THREADS, 0, stream>>>(n, L->ptr, Lx, b, from, k.cj);
    for (int round = 1; round < d->rounds; round++) {
        T *const was = from;
        round_kernel<T><<<grid, THREADS, 0, stream>>>(k, to);
        k.p += n, k.a += n, k.from = to;
        from = to, to = was;
    }
    last_kernel<T><<<grid, THREADS, 0, stream>>>(k, L->ptr, L->idx, Lx, b, x, d->substituted);
    return launched();
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    if (inst->op->tri.n == 0) return TRS_OK;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        return for_columns(job->nrhs, [&](int first, int count) {
            return solve_columns<T>(inst, job, first, count);
        });
    });
}

/* ---- analyse, update ----------------------------------------------------------------------------------- */

/* Round 0; *inaccurate is set where b / L(i,i) or a(i) may overflow though x does not. */
template <class T>
static __global__ void start_kernel(int32_t n, const int64_t *Lp, const int32_t *Li, const T *Lx,
                                    int32_t *p, T *a, int *inaccurate)
{
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const int64_t d = Lp[i + 1] - 1;
    const bool has = d > Lp[i];
    p[i] = has ? Li[d - 1] : -1;
    a[i] = has ? number<T>(0) - Lx[d - 1] / Lx[d] : number<T>(0);
    if (!is_near_one(Lx[d]) || !is_finite(a[i])) *inaccurate = 1;
}

/* The round after one; *inaccurate is set where a product is larger than `worst`, or no number: a rounding error of an
 * early x is multiplied by it. */
template <class T>
static __global__ void jump_kernel(int32_t n, const int32_t *p, const T *a, int32_t *next_p,
                                   T *next_a, double worst, int *inaccurate)
{
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const int32_t j = p[i];
    const T v = j < 0 ? number<T>(0) : a[i] * a[j];
    next_p[i] = j < 0 ? -1 : p[j];
    TRS_ASSERT(j < i && next_p[i] < i);
    next_a[i] = v;
    if (!(magnitude(v) <= worst)) *inaccurate = 1;
}

static void release(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    chain *d = (chain *)inst->data;
    trs_gpu_free(ctx, d->substituted);
    trs_free(&ctx->mem, d);
}

/* For paths of that many rows: after k rounds a parent is 2^k rows back. */
static int rounds_of(int64_t levels)
{
    int k = 1;
    while ((int64_t)1 << k < levels) k++;
    return k;
}

enum { MOST = 1000000 }; /* entries that one thread is asked to substitute */

/* The first row with more than one entry beside the diagonal; n: none. */
static int32_t long_row(const trs_operator *s)
{
    const trs_tri *t = &s->tri;
    int32_t i = s->statistics.longest > 2 ? 0 : t->n;
    while (i < t->n && t->ptr[i + 1] - t->ptr[i] <= 2) i++;
    return i;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *t = &inst->op->tri;
    chain *d = data_new<chain>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    const int32_t row = long_row(inst->op);
    if (row == t->n) d->rounds = rounds_of(inst->op->lv.count);
    else if (t->nnz > MOST)
        return trs_fail(TRS_ESUPPORT,
                        "cuda-chain is for one entry a row beside the diagonal, and a row has %d",
                        (int)(t->ptr[row + 1] - t->ptr[row] - 1));
    rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    const int64_t jumps = (int64_t)d->rounds * t->n;
    carve_new(ctx, "jumps", [&](carver &carve) {
        carve(d->substituted, 1);
        carve(d->p, jumps);
        carve(d->a, jumps * (int64_t)trs_size(t->dtype));
    });
    return d->substituted ? TRS_OK : TRS_EMEM;
}

template <class T>
static int make_rounds(const chain *d, int32_t n, const trs_device_view *L, cudaStream_t stream)
{
    const unsigned blocks = blocks_of(n);
    T *a = (T *)d->a;
    cudaMemsetAsync(d->substituted, d->rounds ? 0 : 1, sizeof *d->substituted, stream);
    if (d->rounds == 0 || n == 0) return launched();
    start_kernel<T><<<blocks, THREADS, 0, stream>>>(n, L->ptr, L->idx, (const T *)L->val, d->p, a,
                                                    d->substituted);
    for (int k = 1; k < d->rounds; k++) {
        const int64_t was = (int64_t)(k - 1) * n;
        jump_kernel<T><<<blocks, THREADS, 0, stream>>>(n, d->p + was, a + was, d->p + was + n,
                                                       a + was + n, WORST<T>, d->substituted);
    }
    return launched();
}

static int update(trs_instance *inst, void *stream)
{
    const trs_tri *t = &inst->op->tri;
    return for_type(t->dtype, [&]<class T>(T) {
        return make_rounds<T>((const chain *)inst->data, t->n, &inst->op->device,
                              (cudaStream_t)stream);
    });
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    return 2 * (int64_t)nrhs * inst->op->tri.n * (int64_t)trs_size(inst->op->tri.dtype);
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const double n = (double)s->n * s->nrhs;
    if (s->longest > 2) { /* one thread: a read of memory after the other */
        c->latency = (double)s->nnz * m->gpu_latency;
        return NULL;
    }
    c->sync = (rounds_of(s->levels) + m->chain_launches) * m->gpu_launch;
    c->bytes = rounds_of(s->levels) * n * (4 * s->elem + 4) * m->gpu_byte;
    c->update =
        rounds_of(s->levels) * (m->gpu_launch + (double)s->n * (3 * s->elem + 12) * m->gpu_byte);
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const int rounds = s->longest > 2 ? 0 : rounds_of(s->levels);
    return s->nnz * (int64_t)(s->elem + 4) + 8 * (s->n + 1) +
           rounds * s->n * (int64_t)(s->elem + 4);
}

const trs_solver trs_solver_chain = {
    .name = "cuda-chain",
    .about = "one entry a row beside the diagonal, by pointer jumping; else one thread",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
