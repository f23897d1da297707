/* pair.cuh: row operations that make every 2x2 triangle on the diagonal the identity: the first step of dense-pair and
 * of dense-doubling.
 * Source: "Dense Lower Triangular Solver", the "triangle solver" of sections "GPU Complex 1" and "GPU Complex 2":
 *
 *     even y:  L(y, x) = L(y, x) / L(y, y)                                     the same for b(y)

 *     odd y:   L(y, x) = L(y, x) / L(y, y) - L(y, y-1) / L(y, y) L(y-1, x)     the same for b(y)
 *
 * L is changed once, by an update, and b by every solve.  In the document a kernel reads L(y, y), L(y, y-1) and L(y-1,
 * x) while the threads that own them overwrite them.  Here pivots and multipliers are copied first, which b needs later
 * anyhow, and a thread owns both rows of a pair.  A row is divided before it is multiplied, where the document divides
 * last: rows may be of very different sizes, and the product could overflow. */
#ifndef TRS_PAIR_CUH
#define TRS_PAIR_CUH

#include "cuda/matrix/full.cuh"

struct pair_data {
    device_full full;
    void *pivot;      /* [n] L(y, y) */
    void *multiplier; /* [n] L(y, y-1) / L(y, y), 0 for even y */
};

enum { PAIR_THREADS = 256, PAIR_WIDE = 32, PAIR_HIGH = 8 };

template <class T>
static __global__ void pair_pivots(int64_t n, view<const T> L, T *pivot, T *multiplier)
{
    const int64_t y = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (y >= n) return;
    pivot[y] = L(y, y);
    multiplier[y] = y % 2 ? L(y, y - 1) / L(y, y) : number<T>(0);
}

/* A thread a square of 2x2 elements. */
template <class T>
static __global__ void pair_matrix(int64_t n, view<T> L, const T *pivot, const T *multiplier)
{
    const int64_t x0 = 2 * (blockIdx.x * (int64_t)PAIR_WIDE + threadIdx.x);
    const int64_t y = 2 * (blockIdx.y * (int64_t)PAIR_HIGH + threadIdx.y);
    if (y >= n) return;
    for (int64_t x = x0; x < x0 + 2 && x <= y + 1 && x < n; x++) {
        const T even = L(y, x) / pivot[y];
        L(y, x) = even;
        if (y + 1 < n) L(y + 1, x) = L(y + 1, x) / pivot[y + 1] - multiplier[y + 1] * even;
    }
}

/* A thread a pair of rows of b. */
template <class T>
static __global__ void pair_b(int64_t n, const T *pivot, const T *multiplier, view<T> x, bool cj)
{
    const int64_t y = 2 * (blockIdx.x * (int64_t)blockDim.x + threadIdx.x);
    const int r = blockIdx.y;
    if (y >= n) return;
    const T even = x(y, r) / conj_if(cj, pivot[y]);
    x(y, r) = even;
    if (y + 1 < n)
        x(y + 1, r) =
            x(y + 1, r) / conj_if(cj, pivot[y + 1]) - conj_if(cj, multiplier[y + 1]) * even;
}

template <bool BY_ROWS> inline int pair_build(trs_instance *inst)
{
    const trs_tri *t = &inst->op->tri;
    int rc = dense_build<pair_data, BY_ROWS>(inst);
    if (rc) return rc;
    pair_data *d = (pair_data *)inst->data;
    d->pivot = trs_gpu_new(inst->ctx, t->n, trs_size(t->dtype), "pivots");
    if (d->pivot) d->multiplier = trs_gpu_new(inst->ctx, t->n, trs_size(t->dtype), "multipliers");
    return d->multiplier ? TRS_OK : TRS_EMEM;
}

inline void pair_release(trs_instance *inst)
{
    pair_data *d = (pair_data *)inst->data;
    device_free(inst->ctx, d->pivot, d->multiplier);
    dense_release<pair_data>(inst);
}

/* The full matrix with its 2x2 triangles solved. */
struct pairs_solved {
    using data = pair_data;
    template <class T> static void make(T, const pair_data *d, cudaStream_t s)
    {
        const int64_t n = d->full.n, pairs = (n + 1) / 2;
        T *pivot = (T *)d->pivot, *multiplier = (T *)d->multiplier;
        const dim3 grid(blocks_of(pairs, PAIR_WIDE), blocks_of(pairs, PAIR_HIGH));
        pair_pivots<T><<<blocks_of(n, PAIR_THREADS), PAIR_THREADS, 0, s>>>(
            n, typed<const T>(d->full), pivot, multiplier);
        pair_matrix<T>
            <<<grid, dim3(PAIR_WIDE, PAIR_HIGH), 0, s>>>(n, typed<T>(d->full), pivot, multiplier);
    }
};

template <class T>
inline void pair_right(const pair_data *d, view<T> x, int count, bool cj, cudaStream_t stream)
{
    const dim3 grid(blocks_of((d->full.n + 1) / 2, PAIR_THREADS), (unsigned)count);
    pair_b<T><<<grid, PAIR_THREADS, 0, stream>>>(d->full.n, (const T *)d->pivot,
                                                 (const T *)d->multiplier, x, cj);
}

#endif
