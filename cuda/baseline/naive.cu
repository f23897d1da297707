/* naive.cu: one block of threads goes through the rows in order.
 * Source: slides "GPU-accelerated sparse triangular solver", page "Naive": "one block, multithreads; solve order: row
 * by row; pro: easy to implement; con: efficiency is bad, not parallelized".
 *
 *     for i:  s[t] = sum of L(i, j) x(j) over every 256th entry;  sum of s by halving;  x(i) = (b(i) - s[0]) / L(i, i)
 *
 * A block has a right-hand side, and its threads share the entries of one row at a time.  Thread 0 writes x(i), which
 * the block sees after the barrier that ends the row.  No block waits for another one: it cannot hang.
 * Bytes: 12 nnz + 20 n, on one SM; the time is that of two barriers, a reduction and a division a row. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

enum { THREADS = 256 };

template <class T>
static __global__ void naive_kernel(int32_t rows, const int64_t *Lp, const int32_t *Li, const T *Lx,
                                    view<T> b, view<T> x, bool cj)
{
    __shared__ T s[THREADS];
    const int r = blockIdx.x, t = threadIdx.x;
    for (int32_t k = 0; k < rows; k++) {
        const int64_t begin = Lp[k], diagonal = Lp[k + 1] - 1;
        T sum = number<T>(0);
        for (int64_t p = begin + t; p < diagonal; p += THREADS)
            sum = sum + conj_if(cj, Lx[p]) * x(Li[p], r);
        s[t] = sum;
        __syncthreads();
        block_sum(s, diagonal - begin < THREADS ? int(diagonal - begin) : int(THREADS));
        if (t == 0) {
            T rest = diagonal > begin ? b(k, r) - s[0] : b(k, r);
            x(k, r) = rest / conj_if(cj, Lx[diagonal]);
        }
        __syncthreads();
    }
}

static int build(trs_instance *inst)
{
    const int rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (!rc) trs_operator_hold(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const trs_device_view *L = &inst->op->device;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        naive_kernel<T><<<job->nrhs, THREADS, 0, (cudaStream_t)job->stream>>>(
            inst->op->tri.n, L->ptr, L->idx, (const T *)L->val, typed<T>(job->b), typed<T>(job->x),
            job->conj);
        return launched();
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = (double)s->nnz * m->naive_entry;
    c->sync = m->gpu_launch;
    c->latency = (double)s->n * m->naive_row;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 8 * (s->n + 1);
}

const trs_solver trs_solver_naive = {
    .name = "cuda-naive",
    .about = "CSR, one block, rows in order, a thread a nonzero (baseline)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .by_columns = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .solve = solve,
};
