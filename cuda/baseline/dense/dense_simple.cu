/* dense_simple.cu: a launch a column, a thread a row.
 * Source: "Dense Lower Triangular Solver", section "GPU Simple":
 *
 *     for i:  kernel, row y >= i:  if (i > 0) b(y) = b(y) - L(y, i-1) x(i-1)
 *                                  if (y == i) x(i) = b(i) / L(i, i)
 *
 * b and x are one vector: row y is b until its own launch, and x from then on.  Positions without a stored entry of L
 * are skipped, so a NaN spreads only to rows that depend on it (full.cu).
 *
 * Row y belongs to one thread of every launch.  x becomes visible because launches in a stream follow one another.
 * Nothing waits inside a kernel: it cannot hang.
 * Bytes: elem n^2 / 2, read by columns and so coalesced, and n^2 / 2 numbers of x read and written.  The time is that
 * of n launches. */
#include "config.h"

#include "cuda/matrix/full.cuh"

enum { THREADS = 256 };

template <class T>
static __global__ void column_kernel(int64_t n, int64_t i, view<const T> L, view<T> x, bool cj)
{
    const int64_t y = i + blockIdx.x * (int64_t)THREADS + threadIdx.x;
    const int r = blockIdx.y;
    if (y >= n) return;
    T b = x(y, r);
    if (i > 0 && is_entry(L(y, i - 1))) b = b - conj_if(cj, L(y, i - 1)) * x(i - 1, r);
    x(y, r) = y == i ? b / conj_if(cj, L(i, i)) : b;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const device_full *L = &((const dense_data *)inst->data)->full;
    return solve_in_place(inst, job, [&]<class T>(view<T> x, int count) {
        for (int64_t i = 0; i < L->n; i++) {
            const dim3 grid(blocks_of(L->n - i, THREADS), (unsigned)count);
            column_kernel<T><<<grid, THREADS, 0, (cudaStream_t)job->stream>>>(
                L->n, i, typed<const T>(*L), x, job->conj);
        }
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = 0.5 * (double)s->n * (double)s->n * s->elem * (1 + 2 * s->nrhs) * m->gpu_byte;
    c->sync = (double)s->n * m->gpu_launch;
    return NULL;
}

const trs_solver trs_solver_dense_simple = {
    .name = "dense-simple",
    .about = "full triangle, a launch a column, a thread a row (baseline, GPU Simple)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = device_full_bytes,
    .build = dense_build<dense_data, false>,
    .update = dense_fill<dense_data>,
    .solve = solve,
    .release = dense_release<dense_data>,
};
