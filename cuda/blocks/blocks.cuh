/* blocks.cuh: shared code of dense-blocked and cuda-supernodal, which cut a triangle into blocks of 64 rows and
 * solve it by one kernel whose thread blocks wait for each other's x (README.md). */
#ifndef TRS_BLOCKS_CUH
#define TRS_BLOCKS_CUH

#include "inverse.cuh"
#include "published.cuh"

/* f (integral_constant R, k) for the smallest of R = 1, 8, 32, 64 that is not less than nrhs, k = 0, 1, 2, 3 its
 * number.  Complex numbers have no kernel for 64: more than 32 right-hand sides are solved in batches. */
template <class T, class F> static auto for_width(int nrhs, F f)
{
    using std::integral_constant;
    if (nrhs <= 1) return f(integral_constant<int, 1>(), 0);
    if (nrhs <= 8) return f(integral_constant<int, 8>(), 1);
    if constexpr (std::is_floating_point_v<T>)
        if (nrhs > 32) return f(integral_constant<int, 64>(), 3);
    return f(integral_constant<int, 32>(), 2);
}

/* ---- work spaces -------------------------------------------------------------------------------------- */

struct published_work {
    turn *state;
    void *copy; /* [2][copy_size] published x */
    int64_t copy_size;
    int most;    /* right-hand sides at a time: 1, 8, 32 or 64 */
    int grid[4]; /* thread blocks of a launch, for each of those */
};

/* For nrhs right-hand sides, with a place for each of rows in a copy.  grid (integral_constant R) says how many thread
 * blocks the kernel for R right-hand sides has; 0: not one fits.  Both copies are empty, and it is turn 0. */
template <class T, class G>
static int published_start(const trs_instance *inst, trs_context *ctx, int nrhs, int64_t rows,
                           published_work *w, G grid)
{
    w->most = for_width<T>(nrhs, [](auto width, int) { return decltype(width)::value; });
    w->copy_size = rows * w->most;
    for (int n = 1; n <= 64; n *= 2)
        if (!for_width<T>(n, [&](auto width, int k) { return w->grid[k] = grid(width); }))
            return trs_fail(TRS_EDEVICE, "%s needs more shared memory than there is",
                            inst->solver->name);
    const size_t bytes = 2 * (size_t)w->copy_size * sizeof(T);
    w->state = device_new<turn>(ctx, 1, "the state of a solve");
    if (w->state) w->copy = trs_gpu_new(ctx, (int64_t)bytes, 1, "published x");
    if (!w->copy) return TRS_EMEM;
    cudaError_t e = cudaMemset(w->state, 0, sizeof *w->state);
    if (!e) e = cudaMemset(w->copy, 0xff, bytes);
    return e ? cuda_status(e, "cudaMemset") : trs_gpu_wait(NULL);
}

inline void published_destroy(trs_context *ctx, void *work)
{
    published_work *w = (published_work *)work;
    device_free(ctx, w->state, w->copy);
    trs_free(&ctx->mem, w);
}

#endif
