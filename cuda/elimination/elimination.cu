/* elimination.cu: implements lib/elimination/elimination.h: the choice of a kernel, and what is common to
 * all kernels. */
#include "config.h"

#include "kernels.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const elimination_kernel *const kernels[] = {&row_elimination, &entry_elimination};
enum { KERNELS = sizeof kernels / sizeof *kernels };

struct trs_elimination {
    trs_context *ctx;
    trs_elimination_pattern p;
    const elimination_kernel *kernel;
    void *data; /* of the kernel */
};

/* ---- the shape of a pattern ------------------------------------------------------------------------------ */

static __device__ inline void raise(unsigned long long *most, long long v)
{
    for (int by = 16; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    if (threadIdx.x % 32 == 0) atomicMax(most, (unsigned long long)max(v, 0ll));
}

enum { LONGEST, CANDIDATES, LAST_PLACE, ALIKE, FOUND };

/* found [FOUND], 0 before.  A warp has a row at a time. */
static __global__ void shape_kernel(const trs_elimination_pattern p, unsigned long long *found)
{
    long long longest = 0, candidates = 0, last = 0, alike = 0;
    for (int64_t i = index_of_thread() / 32; i < p.n; i += all_threads() / 32) {
        const int64_t begin = p.ptr[i], end = p.ptr[i + 1], diag = p.diag[i];
        longest = max(longest, (long long)(end - begin));
        if (is_like_last(p, i)) alike += threadIdx.x % 32 == 0;
        for (int64_t q = begin + threadIdx.x % 32; q < end; q += 32) {
            const int32_t k = p.idx[q];
            if (q < diag) candidates += p.ptr[k + 1] - p.diag[k] - 1;
            last = max(last, max((long long)p.src[q], (long long)p.to[q]));
        }
    }
    raise(found + LONGEST, longest);
    add_to(found + CANDIDATES, candidates);
    raise(found + LAST_PLACE, last);
    add_to(found + ALIKE, alike);
}

static int find_shape(trs_context *ctx, const trs_elimination_pattern *p, elimination_shape *s)
{
    unsigned long long there[FOUND] = {0};
    unsigned long long *found = (unsigned long long *)trs_gpu_scratch(ctx, sizeof there, "a shape");
    if (!found) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(found, 0, sizeof there, NULL);
    if (e) return cuda_status(e, "the shape of a pattern");
    shape_kernel<<<few_blocks(32 * (int64_t)p->n + 1), PLAIN>>>(*p, found);
    int rc = launched();
    if (!rc) rc = trs_gpu_get(ctx, there, found, sizeof there);
    *s = elimination_shape{(int32_t)there[LONGEST], (int64_t)there[CANDIDATES],
                           (int64_t)there[LAST_PLACE], (int64_t)there[ALIKE]};
    return rc;
}

/* ---- the kernel ------------------------------------------------------------------------------------------ */

/* Of those that were not tried, the kernel that is predicted to take least; NULL: none fits. */
static const elimination_kernel *cheapest(const trs_elimination *e, const elimination_shape *s,
                                          const bool *tried)
{
    const elimination_kernel *best = NULL;
    double least = INFINITY;
    for (int k = 0; k < KERNELS; k++) {
        const double cost = tried[k] ? INFINITY : kernels[k]->cost(&e->p, s);
        if (cost < least) best = kernels[k], least = cost;
    }
    return best;
}

/* The environment variable TRISOLVE_ELIMINATION, which is for tests, names the only kernel to be tried. */
static bool is_left_out(const elimination_kernel *kernel)
{
    const char *only = getenv("TRISOLVE_ELIMINATION");
    return only && strcmp(only, kernel->name) != 0;
}

static int choose(trs_elimination *e)
{
    elimination_shape s;
    bool tried[KERNELS];
    for (int k = 0; k < KERNELS; k++) tried[k] = is_left_out(kernels[k]);
    int rc = find_shape(e->ctx, &e->p, &s);
    if (rc) return rc;
    while ((e->kernel = cheapest(e, &s, tried))) {
        rc = e->kernel->create(e->ctx, &e->p, &s, &e->data);
        if (rc != TRS_ESUPPORT) return rc;
        for (int k = 0; k < KERNELS; k++) tried[k] = tried[k] || kernels[k] == e->kernel;
    }
    return TRS_ESUPPORT;
}

int trs_elimination_create(trs_context *ctx, const trs_elimination_pattern *p, trs_elimination **e)
{
    *e = NULL;
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    trs_elimination *x = (trs_elimination *)trs_alloc_zero(&ctx->mem, 1, sizeof *x);
    if (!x) return trs_fail(TRS_EMEM, "out of memory");
    x->ctx = ctx;
    x->p = *p;
    rc = choose(x);
    if (rc) trs_elimination_destroy(x);
    else *e = x;
    return rc;
}

void trs_elimination_destroy(trs_elimination *e)
{
    if (!e) return;
    if (e->data) e->kernel->destroy(e->ctx, e->data);
    trs_free(&e->ctx->mem, e);
}

static __global__ void clear_kernel(trs_elimination_outcome *outcome)
{
    *outcome = trs_elimination_outcome{.first = UINT64_MAX, .first_boosted = UINT64_MAX};
}

int trs_elimination_run(trs_elimination *e, const trs_elimination_job *job)
{
    clear_kernel<<<1, 1, 0, (cudaStream_t)job->stream>>>(job->outcome);
    const int rc = launched();
    if (rc) return rc;
    return e->kernel->run(&e->p, e->data, job);
}

const char *trs_elimination_kernel(const trs_elimination *e)
{
    return e->kernel->name;
}
