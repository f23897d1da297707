/* sweeps.cu: Jacobi sweeps on a triangle, in place of a solve.
 * lib/solvers/sweeps/sweeps.h has the equations and the vectors of each pass.
 *
 * A pass is a launch.  A row belongs to LANES neighbouring threads, 1 to 32, about as many as rows have entries: each
 * adds every LANES-th entry of the row, and their sums are added by halving, always in the same order.  The next launch
 * sees all of x, so that no thread waits for another one: it cannot hang.
 * k sweeps move k (12 nnz + 32 n) + 20 n bytes for double, at the speed of memory if the triangle is large; k + 1 launches
 * bound those of small ones.
 *
 * The bound of the error takes k + 1 more launches, in double precision, at those updates that wait. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "solvers/sweeps/sweeps.h"
}

typedef struct sweeps_data {
    int lanes; /* of a row */
} sweeps_data;

template <class T> struct triangle {
    int64_t n;
    const int64_t *ptr;
    const int32_t *idx;
    const T *val;
};

template <class T> static triangle<T> triangle_of(const trs_instance *inst)
{
    const trs_device_view *L = &inst->op->device;
    return {inst->op->tri.n, L->ptr, L->idx, (const T *)L->val};
}

/* z = D^-1 b */
template <class T>
static __global__ void divide_kernel(const triangle<T> L, view<T> b, view<T> z, bool cj)
{
    const int64_t i = index_of_thread();
    if (i >= L.n) return;
    z(i, blockIdx.y) = b(i, blockIdx.y) / conj_if(cj, L.val[L.ptr[i + 1] - 1]);
}

/* to = z - D^-1 (T - D) from */
template <int LANES, class T>
static __global__ void sweep_kernel(const triangle<T> L, view<T> z, view<T> from, view<T> to,
                                    bool cj)
{
    const int64_t i = index_of_thread() / LANES;
    const int r = blockIdx.y;
    const bool there = i < L.n;
    const int64_t first = there ? L.ptr[i] : 0, diagonal = there ? L.ptr[i + 1] - 1 : 0;
    T sum = number<T>(0);
    for (int64_t q = first + threadIdx.x % LANES; q < diagonal; q += LANES)
        sum = sum + conj_if(cj, L.val[q]) * from(L.idx[q], r);
    for (int by = LANES / 2; by > 0; by /= 2) sum = sum + shuffle_xor(sum, by);
    if (!there || threadIdx.x % LANES) return;
    const T zi = z(i, r);
    to(i, r) = first < diagonal ? zi - sum / conj_if(cj, L.val[diagonal]) : zi;
}

/* Calls f with the number of lanes as a constant. */
template <class F> static int for_lanes(int lanes, F f)
{
    switch (lanes) {
    case 1:
        return f(std::integral_constant<int, 1>());
    case 4:
        return f(std::integral_constant<int, 4>());
    case 16:
        return f(std::integral_constant<int, 16>());
    default:
        return f(std::integral_constant<int, 32>());
    }
}

template <class T>
static int sweep(const trs_instance *inst, const trs_job *job, view<T> z, view<T> from, view<T> to)
{
    const triangle<T> L = triangle_of<T>(inst);
    return for_lanes(((const sweeps_data *)inst->data)->lanes, [&](auto lanes) {
        return for_columns(job->nrhs, [&](int r, int count) {
            const dim3 blocks(blocks_of(L.n * lanes), (unsigned)count);
            sweep_kernel<lanes, T><<<blocks, PLAIN, 0, (cudaStream_t)job->stream>>>(
                L, from_column(z, r), from_column(from, r), from_column(to, r), job->conj);
            return launched();
        });
    });
}

template <class T> static int solve_with(const trs_instance *inst, const trs_job *job)
{
    const triangle<T> L = triangle_of<T>(inst);
    const trs_sweeps w = trs_sweeps_in(inst, job);
    const int64_t k = inst->ctx->sweeps;
    int rc = for_columns(job->nrhs, [&](int r, int count) {
        const dim3 blocks(blocks_of(L.n), (unsigned)count);
        divide_kernel<T><<<blocks, PLAIN, 0, (cudaStream_t)job->stream>>>(
            L, from_column(typed<T>(job->b), r), from_column(typed<T>(w.z), r), job->conj);
        return launched();
    });
    for (int64_t s = 1; s <= k && !rc; s++)
        rc = sweep<T>(inst, job, typed<T>(w.z), typed<T>(trs_sweeps_from(&w, job, s, k)),
                      typed<T>(trs_sweeps_to(&w, job, s, k)));
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    if (inst->op->tri.n == 0) return TRS_OK;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) { return solve_with<T>(inst, job); });
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    return trs_sweeps_bytes(inst, nrhs);
}

/* ---- the bound of the error ---- */

/* to = |D^-1 (T - D)| from, and *largest the largest of to, where a NaN is the largest.  from = NULL: it is 1. */
template <class T>
static __global__ void size_kernel(const triangle<T> L, const double *from, double *to,
                                   double *largest)
{
    const int64_t i = index_of_thread();
    if (i >= L.n) return;
    const int64_t diagonal = L.ptr[i + 1] - 1;
    double sum = 0;
    for (int64_t q = L.ptr[i]; q < diagonal; q++)
        sum += magnitude(L.val[q]) * (from ? from[L.idx[q]] : 1);
    if (sum != 0) sum = fabs(sum / magnitude(L.val[diagonal])); /* |NaN|: its sign bit is cleared */
    to[i] = sum;
    if (sum != 0) atomic_larger(largest, sum);
}

template <class T> static int find_error_with(trs_instance *inst, double *u, cudaStream_t stream)
{
    const triangle<T> L = triangle_of<T>(inst);
    const unsigned blocks = blocks_of(L.n);
    double *from = u, *to = u + L.n, *largest = u + 2 * L.n;
    int rc = TRS_OK;
    for (int64_t s = 0; s <= inst->ctx->sweeps && !rc; s++) {
        rc = cuda_status(cudaMemsetAsync(largest, 0, sizeof *largest, stream), "sweeps");
        if (rc) break;
        size_kernel<T><<<blocks, PLAIN, 0, stream>>>(L, s ? from : NULL, to, largest);
        rc = launched();
        double *const last = from;
        from = to, to = last;
    }
    if (rc) return rc;
    cudaError_t e = cudaMemcpyAsync(&inst->sweep_error, largest, sizeof *largest,
                                    cudaMemcpyDeviceToHost, stream);
    if (!e) e = cudaStreamSynchronize(stream);
    return cuda_status(e, "the error of sweeps");
}

static int find_error(trs_instance *inst, void *stream)
{
    if (inst->op->tri.n == 0) return TRS_OK;
    double *u =
        device_new<double>(inst->ctx, 2 * (int64_t)inst->op->tri.n + 1, "the error of sweeps");
    if (!u) return TRS_EMEM;
    const int rc = for_type(inst->op->tri.dtype, [&]<class T>(T) {
        return find_error_with<T>(inst, u, (cudaStream_t)stream);
    });
    device_free(inst->ctx, u);
    return rc;
}

/* ---- the solver ---- */

static int build(trs_instance *inst)
{
    sweeps_data *d = data_new<sweeps_data>(inst->ctx, &inst->data);
    const int rc = d ? trs_operator_device(inst->op, TRS_OP_PATTERN) : TRS_EMEM;
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    const trs_tri *L = &inst->op->tri;
    const int64_t each = L->n ? L->nnz / L->n : 0; /* entries of a row */
    d->lanes = 1;
    while (d->lanes < 16 && each >= 4 * d->lanes) d->lanes *= 4;
    if (each >= 64) d->lanes = 32;
    return TRS_OK;
}

static int update(trs_instance *inst, void *stream)
{
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    return rc ? rc : find_error(inst, stream);
}

/* Sweeps read the arrays of the operator, and the error stays that of the last update. */
static int refresh(trs_instance *, void *)
{
    return TRS_OK;
}

static void release(trs_instance *inst)
{
    trs_free(&inst->ctx->mem, inst->data);
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const double sweeps = p->ctx ? (double)p->ctx->sweeps : 1;
    const double entries = (double)s->nnz * (s->elem + 4), rows = (double)s->n * (8 + 3 * s->elem);
    c->bytes = sweeps * (entries + rows * s->nrhs) * m->gpu_byte;
    c->sync = (sweeps + 1) * m->gpu_launch;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 8 * (s->n + 1) + 16 * s->n;
}

const trs_solver trs_solver_sweeps = {
    .name = "cuda-sweeps",
    .about = "CSR, Jacobi sweeps that approximate x (trs_options.sweeps)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .approximates = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .refresh = refresh,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
