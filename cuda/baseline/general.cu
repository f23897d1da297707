/* general.cu: the functions of general.cuh: full matrices on the device, checks of pivots, substitution.
 *
 *     L y = b:  for i = 0 .. n-1:  y(i) = b(i) - sum, j < i, of A(i, j) y(j)
 *     U x = y:  for i = n-1 .. 0:  x(i) = (y(i) - sum, j > i, of A(i, j) x(j)) / A(i, i)
 *
 * Substitution has a block of threads a right-hand side: for each row the block sums the products, whose A(i, j) are
 * contiguous, and passes a barrier.  No other block reads its x, so barriers make it visible.  No block waits for
 * another one: it cannot hang.
 * Bytes: elem n^2 a right-hand side.  The time is that of 2 n reductions, about 1.5 us each. */
#include "config.h"

#include "general.cuh"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdlib>

enum { THREADS = 256, PAPERS_BLOCK = 64 };

/* ---- the data of an instance ---------------------------------------------------------------------------- */

/* TRS_LU_BLOCK=16 .. 512: threads of a block; the best in Bandara and Ranasinghe's paper was 64. */
static int block_size(void)
{
    const char *s = getenv("TRS_LU_BLOCK");
    const int b = s ? atoi(s) : 0;
    return b >= 16 && b <= 512 ? b : PAPERS_BLOCK;
}

int general_build(trs_instance *inst)
{
    const trs_tri *t = &inst->op->tri;
    const int64_t count = (int64_t)t->n * t->n;
    general_data *d = data_new<general_data>(inst->ctx, &inst->data);
    if (!d) return TRS_EMEM;
    d->block = block_size();
    d->A = trs_gpu_new(inst->ctx, count, trs_size(t->dtype), "the full matrix");
    if (d->A) d->columns = trs_gpu_new(inst->ctx, count, trs_size(t->dtype), "the full matrix");
    return d->columns ? TRS_OK : TRS_EMEM;
}

void general_release(trs_instance *inst)
{
    general_data *d = (general_data *)inst->data;
    device_free(inst->ctx, d->A, d->columns);
    trs_free(&inst->ctx->mem, d);
}

int64_t general_bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return (int64_t)(2 * s->elem * (double)s->n * (double)s->n);
}

/* A thread an element: from columns to rows. */
template <class T> static __global__ void rows_kernel(int64_t n, const T *columns, T *A)
{
    const int64_t e = index_of_thread();
    if (e < n * n) A[e] = columns[e % n * n + e / n];
}

int general_values(const trs_instance *inst, general_data *d, void *stream)
{
    trs_operator *op = inst->op;
    const int64_t n = op->tri.n;
    const size_t bytes = (size_t)(n * n) * trs_size(op->tri.dtype);
    int rc = trs_operator_device(op, TRS_OP_VALUES);
    if (!rc) rc = trs_gpu_wait(stream); /* what follows is on the default one */
    if (!rc)
        rc = cuda_status(cudaMemcpy(d->columns, op->device.val, bytes, cudaMemcpyDeviceToDevice),
                         "copy of the full matrix");
    if (!rc) trs_operator_drop(op, TRS_OP_VALUES);
    if (rc || n == 0) return rc;
    return for_type(op->tri.dtype, [&]<class T>(T) {
        rows_kernel<T><<<blocks_of(n * n), PLAIN>>>(n, (const T *)d->columns, (T *)d->A);
        return launched();
    });
}

/* ---- pivots ------------------------------------------------------------------------------------------ */

struct verdict {
    /* the bits of the largest magnitude: those of numbers >= 0 compare as integers like the numbers, and a NaN is
     * larger than all of them */
    unsigned long long most;
    unsigned long long first; /* bad pivot, all ones: none */
};

/* A block of threads a row.  Pivots that are not above tiny are bad; tiny < 0: none is. */
template <class T>
static __global__ void look_kernel(int64_t n, const T *A, bool upper, double tiny, verdict *v)
{
    const int64_t i = blockIdx.x;
    double most = 0;
    for (int64_t j = (upper ? i : 0) + threadIdx.x; j < n; j += blockDim.x) {
        const double a = magnitude(A[i * n + j]);
        if (a > most || isnan(a)) most = a;
    }
    atomicMax(&v->most, (unsigned long long)__double_as_longlong(most));
    const double pivot = magnitude(A[i * n + i]);
    if (threadIdx.x == 0 && tiny >= 0 && (!(pivot > tiny) || isinf(pivot)))
        atomicMin(&v->first, (unsigned long long)i);
}

static int look(const trs_instance *inst, const general_data *d, bool upper, double tiny,
                verdict *v)
{
    const int64_t n = inst->op->tri.n;
    const verdict start = {0, ~0ull};
    verdict *there = device_copy(inst->ctx, &start, 1, "a verdict");
    if (!there) return TRS_EMEM;
    int rc = for_type(inst->op->tri.dtype, [&]<class T>(T) {
        look_kernel<T><<<(unsigned)n, THREADS>>>(n, (const T *)d->A, upper, tiny, there);
        return launched();
    });
    if (!rc) rc = trs_gpu_get(inst->ctx, v, there, sizeof *v);
    trs_gpu_free(inst->ctx, there);
    return rc;
}

int general_largest(const trs_instance *inst, const general_data *d, bool upper, double *most)
{
    verdict v;
    int rc = look(inst, d, upper, -1, &v);
    *most = rc ? 0 : std::bit_cast<double>(v.most);
    return rc;
}

int general_verdict(trs_instance *inst, const general_data *d, double before)
{
    const trs_dtype t = inst->op->tri.dtype;
    const double eps = t == TRS_F64 || t == TRS_C64 ? DBL_EPSILON : FLT_EPSILON;
    verdict v;
    /* of a matrix with a NaN or an infinity the pivots that are not finite are bad, and those that are zero */
    const double tiny = std::isfinite(before) ? eps * before : 0;
    int rc = look(inst, d, true, tiny, &v);
    if (rc) return rc;
    return trs_general_judge(inst, std::bit_cast<double>(v.most) / before,
                             v.first == ~0ull ? -1 : (int64_t)v.first);
}

int general_pivots(const trs_instance *inst, trs_context *, void *u, bool *)
{
    return trs_general_diagonal_there(inst, ((const general_data *)inst->data)->A, u);
}

/* ---- substitution -------------------------------------------------------------------------------------- */

template <class T>
static __global__ void substitute_kernel(int64_t n, const T *A, view<T> x, bool cj)
{
    T *s = shared_numbers<T>();
    const int r = blockIdx.x, t = threadIdx.x;
    for (int64_t k = 0; k < 2 * n; k++) {
        const bool back = k >= n; /* L y = b is done, U x = y */
        const int64_t i = back ? 2 * n - 1 - k : k, from = back ? i + 1 : 0, to = back ? n : i;
        T sum = number<T>(0);
        for (int64_t j = from + t; j < to; j += THREADS)
            sum = sum + conj_if(cj, A[i * n + j]) * x(j, r);
        s[t] = sum;
        __syncthreads();
        block_sum(s, THREADS);
        if (t == 0) {
            const T v = x(i, r) - s[0];
            x(i, r) = back ? v / conj_if(cj, A[i * n + i]) : v;
        }
        __syncthreads();
    }
}

int general_solve(const trs_instance *inst, const trs_job *job)
{
    const general_data *d = (const general_data *)inst->data;
    int rc = copy_b(inst, job);
    if (rc) return rc;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        substitute_kernel<T>
            <<<(unsigned)job->nrhs, THREADS, THREADS * sizeof(T), (cudaStream_t)job->stream>>>(
                inst->op->tri.n, (const T *)d->A, typed<T>(job->x), job->conj);
        return launched();
    });
}

const char *general_estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                             trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = (double)s->n * (double)s->n * s->elem * s->nrhs * m->gpu_byte;
    c->sync = 2 * m->gpu_launch;
    c->latency = 2 * (double)s->n * m->general_row;
    return NULL;
}
