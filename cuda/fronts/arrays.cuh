/* arrays.cuh: the arrays that the kernels of a run read and write, and the front of a block. */
#ifndef TRS_FRONTS_ARRAYS_CUH
#define TRS_FRONTS_ARRAYS_CUH

#include "cuda/elimination/boost.cuh"

extern "C" {
#include "schedule.h"
}

#include "base/debug.h"

enum { PANEL = TRS_FRONT_PANEL, TILE = TRS_FRONT_TILE };

/* Of a schedule on the device; schedule.h says what each is. */
template <class T> struct fronts_view {
    T *panels, *pool;
    const trs_front_numbers *numbers;
    const int32_t *child, *to, *pivot;
    const int64_t *strip_ptr;
    const trs_front_share *share;
    trs_elimination_outcome *outcome;
    bool cholesky; /* L L^H or L S L^H; there is no upper */
    /* of L S L^H, else NULL: S by column, and by pivot, where the caller wants it */
    int8_t *sign, *sign_out;
    const int8_t *signs; /* by pivot, that it should have; NULL: any */
    /* by pivot: it is replaced if it is smaller than boost times this; NULL: none is */
    const double *largest;
    double boost;
};

/* The launch that a kernel belongs to, on the device. */
struct launch_view {
    const int32_t *list, *start;
    int32_t fronts, panel;
};

/* The front of this block, and the number of the block among those of the front.  All lanes of a warp call it: they look at
 * 32 places of start at a time. */
__device__ inline const trs_front_numbers &front_of_block(const trs_front_numbers *numbers,
                                                          const launch_view &l, int32_t *block)
{
    const int32_t mine = (int32_t)blockIdx.x, lane = (int32_t)threadIdx.x % 32;
    int32_t low = 0, count = l.fronts;
    while (count > 1) {
        const int32_t step = (count + 31) / 32, at = low + lane * step;
        const bool before = lane * step < count && l.start[at] <= mine;
        low += (__popc(__ballot_sync(~0u, before)) - 1) * step;
        count = min(step, l.fronts - low);
    }
    *block = mine - l.start[low];
    return numbers[l.list[low]];
}

/* Number `at` of the pairs (i, j), 0 <= j <= i < q, is in column j: columns of q, q-1, ... tiles. */
__device__ inline void lower_tile(int32_t at, int32_t q, int32_t *i, int32_t *j)
{
    const double edge = q + 0.5;
    int32_t column = (int32_t)(edge - sqrt(edge * edge - 2.0 * at));
    column = max(0, min(column, q - 1));
    while (column > 0 && (int64_t)column * q - (int64_t)column * (column - 1) / 2 > at) column--;
    while ((column + 1ll) * q - (column + 1ll) * column / 2 <= at) column++;
    *j = column;
    *i = column + (at - (int32_t)((int64_t)column * q - (int64_t)column * (column - 1) / 2));
}

/* Each kernel of a level calls it before it reads what earlier launches have written.  On GPUs that can, it is started
 * while the one before it still runs, so that its launch costs less (fronts.cu); here it waits until that one is done, and
 * then lets the next one be started.  All of its blocks call it, so that whoever is done comes after all earlier
 * launches. */
__device__ inline void after_earlier_launches()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* ---- pivots ----------------------------------------------------------------------------------------------- */

template <class T> constexpr bool IS_COMPLEX = sizeof(T) != sizeof(decltype(square(T())));

template <class T> __device__ inline double real_of(T a)
{
    if constexpr (IS_COMPLEX<T>) return (double)a.x;
    else return (double)a;
}

/* Of L L^H only the real part counts. */
template <class T> __device__ inline T pivot_of(bool cholesky, T a)
{
    return cholesky && IS_COMPLEX<T> ? number<T>(real_of(a)) : a;
}

/* The pivot of the new column k, of which elimination left a; one thread that counts asks for it. */
template <class T>
__device__ inline T used_pivot(const fronts_view<T> &v, int32_t k, T a, bool counts)
{
    if (!v.largest) return a;
    const int32_t row = v.pivot[k];
    bool boosted;
    const double d =
        boosted_pivot(real_of(a), v.boost * v.largest[row], v.signs ? v.signs[row] : 0, boosted);
    if (boosted && counts) {
        atomicAdd((unsigned long long *)&v.outcome->boosted, 1ull);
        note_boosted(v.outcome, row);
    }
    return number<T>(d);
}

/* A pivot whose inverse overflows counts as zero. */
template <class T>
__device__ inline trs_ilu_fault fault_of(const fronts_view<T> &v, T pivot, T inverse)
{
    if (!is_finite(pivot)) return TRS_ILU_INFINITE;
    if (v.cholesky && !v.sign && real_of(pivot) < 0) return TRS_ILU_NEGATIVE;
    return is_finite(inverse) ? TRS_ILU_GOOD : TRS_ILU_ZERO;
}

/* Count the pivot of the new column k if there is a fault with it, and store its sign. */
template <class T>
__device__ inline void judge(const fronts_view<T> &v, int32_t k, T pivot, T inverse)
{
    const trs_ilu_fault fault = fault_of(v, pivot, inverse);
    if (v.sign) v.sign[k] = v.sign_out[v.pivot[k]] = real_of(pivot) < 0 ? -1 : 1;
    if (fault == TRS_ILU_GOOD) return;
    atomicAdd((unsigned long long *)&v.outcome->bad, 1ull);
    atomicMin((unsigned long long *)&v.outcome->first,
              4ull * (unsigned)v.pivot[k] + (unsigned)fault);
}

/* The diagonal entry of the factor that has pivots on it. */
template <class T> __device__ inline T diagonal_of(const fronts_view<T> &v, T pivot)
{
    if (!v.cholesky) return pivot;
    return number<T>(sqrt(v.sign ? fabs(real_of(pivot)) : real_of(pivot)));
}

/* What a column of L is multiplied by when it was eliminated unscaled: of L L^H 1 / sqrt (pivot), of L S L^H with its sign. */
template <class T> __device__ inline T scale_of(const fronts_view<T> &v, T pivot, T inverse)
{
    if (!v.cholesky) return inverse;
    return number<T>(copysign(1 / real_of(diagonal_of(v, pivot)), real_of(pivot)));
}

#endif
