/* dense_pair.cu: the 2x2 triangles on the diagonal first (pair.cuh), then two columns a launch, a thread a row.
 * Source: "Dense Lower Triangular Solver", section "GPU Complex 1":
 *
 *     for i < n/2:  kernel, row y > 2i+1:  b(y) = b(y) - L(y, 2i) b(2i) - L(y, 2i+1) b(2i+1)
 *
 * For odd n the last row has no partner; pair.cuh handles it.
 *
 * Row y belongs to one thread of every launch; b(2i) and b(2i+1) are x since the launch before.  Launches in a stream
 * follow one another, and nothing waits inside a kernel: it cannot hang.
 * Bytes: elem n^2 / 2, read by columns and so coalesced, and n^2 / 4 numbers of x read and written.  The time is that
 * of n / 2 launches. */
#include "config.h"

#include "pair.cuh"

enum { THREADS = 256 };

template <class T>
static __global__ void columns_kernel(int64_t n, int64_t j, view<const T> L, view<T> b, bool cj)
{
    const int64_t y = j + 2 + blockIdx.x * (int64_t)THREADS + threadIdx.x;
    const int r = blockIdx.y;
    if (y >= n) return;
    b(y, r) = b(y, r) - conj_if(cj, L(y, j)) * b(j, r) - conj_if(cj, L(y, j + 1)) * b(j + 1, r);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const pair_data *d = (const pair_data *)inst->data;
    const int64_t n = d->full.n;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    return solve_in_place(inst, job, [&]<class T>(view<T> x, int count) {
        pair_right<T>(d, x, count, job->conj, stream);
        for (int64_t j = 0; j + 2 < n; j += 2) {
            const dim3 grid(blocks_of(n - j - 2, THREADS), (unsigned)count);
            columns_kernel<T>
                <<<grid, THREADS, 0, stream>>>(n, j, typed<const T>(d->full), x, job->conj);
        }
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = 0.5 * (double)s->n * (double)s->n * s->elem * (1 + s->nrhs) * m->gpu_byte;
    c->sync = 0.5 * (double)s->n * m->gpu_launch;
    return NULL;
}

const trs_solver trs_solver_dense_pair = {
    .name = "dense-pair",
    .about = "full triangle, 2x2 triangles first, two columns a launch (baseline, Complex 1)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = device_full_bytes,
    .build = pair_build<false>,
    .update = dense_update<pairs_solved>,
    .solve = solve,
    .release = pair_release,
};
