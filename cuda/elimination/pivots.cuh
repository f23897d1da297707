/* pivots.cuh: how the kernels of elimination treat pivots, and what they report.
 *
 * The rules are those of lib/factor/incomplete/ilu_rows.c, and of L S L^H those of boost.cuh.  Before elimination the diagonal is
 * multiplied by 1 + shift.  After it a pivot smaller than boost times the largest number of its row of A is replaced.  A
 * row is bad when one of its numbers is not finite, or its pivot is zero, or, of L L^H, not positive; it is only reported.
 *
 * Other rows need the inverse of a pivot more often than the pivot.  So the published form is that of divide.cuh: 1 /
 * u if u is near 1, else u itself; over (true, s, kept) is s / u.
 *
 * Deterministic: counts of rows are sums of integers, the first bad row is a minimum and the largest number a maximum
 * of integers.  The largest number is stored by the upper half of its bits, rounded down by at most 2^-20. */
#ifndef TRS_PIVOTS_CUH
#define TRS_PIVOTS_CUH

#include "boost.cuh"

#include <float.h>

struct pivot_rules {
    bool cholesky; /* L L^H, or with sign L S L^H */
    double shift, boost;
    trs_elimination_outcome *outcome;
    int8_t *sign; /* of L S L^H, where S is written; else NULL */
    const int8_t *signs;
};

inline pivot_rules rules_of(const trs_elimination_pattern *p, const trs_elimination_job *job)
{
    return {p->cholesky, job->shift, job->boost, job->outcome, job->sign, job->signs};
}

/* ---- sizes ----------------------------------------------------------------------------------------------- */

/* |a|, by which pivots are judged and growth is measured. */
template <class R> __device__ inline R size_of(R a)
{
    return fabs(a);
}
template <> __device__ inline float size_of(float a)
{
    return fabsf(a);
}
__device__ inline float size_of(cuFloatComplex a)
{
    return hypotf(a.x, a.y);
}
__device__ inline double size_of(cuDoubleComplex a)
{
    return hypot(a.x, a.y);
}

/* The upper 32 bits of the size of a number: as integers they are ordered as the sizes are, NaN above all. */
__device__ inline unsigned size_bits(float size)
{
    return (unsigned)__float_as_int(size);
}
__device__ inline unsigned size_bits(double size)
{
    return (unsigned)__double2hiint(size);
}
template <class T> __device__ inline void note(unsigned &largest, T a)
{
    largest = max(largest, size_bits(size_of(a)));
}

/* The size, in double precision, of which a number of type T left these bits; Inf for a NaN. */
template <class T> __device__ inline double size_from(unsigned bits)
{
    double size;
    if constexpr (sizeof(size_of(T())) == 4) size = (double)__int_as_float((int)bits);
    else size = __hiloint2double((int)bits, 0);
    return size <= DBL_MAX ? size : __longlong_as_double(0x7ff0000000000000ll);
}

/* ---- pivots ---------------------------------------------------------------------------------------------- */

__device__ inline float real_part(float a)
{
    return a;
}
__device__ inline double real_part(double a)
{
    return a;
}
template <class T> __device__ inline auto real_part(T a)
{
    return a.x;
}

/* The diagonal entry a(i, i), as elimination begins with it. */
template <class T> __device__ inline T shifted(const pivot_rules &r, T a)
{
    const double by = 1 + r.shift;
    if (r.cholesky) return number<T>((double)real_part(a) * by);
    return for_parts(a, [=](auto part) { return (decltype(part))((double)part * by); });
}

/* The pivot of a row of L S L^H; one thread asks for it. */
__device__ inline double signed_pivot(const pivot_rules &r, int32_t row, double d, double least,
                                      bool &boosted)
{
    if (r.boost > 0) d = boosted_pivot(d, least, r.signs ? r.signs[row] : 0, boosted);
    if (boosted) note_boosted(r.outcome, row);
    r.sign[row] = d < 0 ? -1 : 1;
    return d;
}

/* u(i, i), of which elimination left d; a pivot below least = boost max |a(i, j)| is replaced, and its sign or phase kept. */
template <class T>
__device__ inline T used_pivot(const pivot_rules &r, int32_t row, T d, double least, bool &boosted)
{
    boosted = false;
    if (!r.cholesky && !(r.boost > 0)) return d;
    if (r.sign) return number<T>(signed_pivot(r, row, (double)real_part(d), least, boosted));
    const double re = (double)real_part(d);
    if (r.cholesky) {
        boosted = r.boost > 0 && re < least;
        return number<T>(boosted ? least : re);
    }
    const double size = magnitude(d);
    if (!(size < least)) return d;
    boosted = true;
    if (size == 0) return number<T>(least);
    return for_parts(d, [=](auto part) { return (decltype(part))((double)part / size * least); });
}

/* What is wrong with row i, all of whose other numbers are finite, or not. */
template <class T> __device__ inline trs_ilu_fault fault_of(const pivot_rules &r, T d, bool finite)
{
    const double re = (double)real_part(d);
    if (!finite || !is_finite(d)) return TRS_ILU_INFINITE;
    if (r.cholesky && !r.sign && re < 0) return TRS_ILU_NEGATIVE;
    return size_of(d) == 0 ? TRS_ILU_ZERO : TRS_ILU_GOOD;
}

/* l(i, i) of L L^H or L S L^H. */
template <class T> __device__ inline T root(const pivot_rules &r, T d)
{
    const auto re = real_part(d);
    return number<T>(re > 0 || r.sign ? sqrt(fabs((double)re)) : 0);
}

/* An inverse of a number that is well inside of what is near 1: to a unit or two of the last place, in a third of the time
 * of a division. */
__device__ inline double quick_inverse(double d)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    r = fma(r, fma(-d, r, 1.0), r);
    return fma(r, fma(-d, r, 1.0), r);
}
__device__ inline float quick_inverse(float d)
{
    return 1 / d;
}
template <class T> __device__ inline T quick_inverse(T d)
{
    const auto r = quick_inverse(square(d));
    return {d.x * r, -d.y * r};
}

/* Is a within [1 / by, by], by a power of 2?  Integers are faster than the product of is_near_one (divide.cuh). */
__device__ inline bool is_within(double a, double by)
{
    const unsigned long long low = (unsigned long long)__double_as_longlong(1 / by);
    const unsigned long long high = (unsigned long long)__double_as_longlong(by);
    return (unsigned long long)__double_as_longlong(fabs(a)) - low <= high - low;
}
__device__ inline bool is_within(float a, float by)
{
    const unsigned low = (unsigned)__float_as_int(1 / by), high = (unsigned)__float_as_int(by);
    return (unsigned)__float_as_int(fabsf(a)) - low <= high - low;
}
template <class T, class R> __device__ inline bool is_within(T a, R by)
{
    const R s = square(a);
    return s >= 1 / by / by && s <= by * by;
}

/* Is this what was kept of a pivot near 1, its inverse?  The same answer as is_near_one. */
template <class T> __device__ inline bool is_inverse(T kept)
{
    return is_within(kept, NEAR<decltype(square(kept))>);
}

/* What is published of a pivot. */
template <class T> __device__ inline T kept_pivot(T d)
{
    int divides;
    return is_within(d, NEAR<decltype(square(d))> / 16) ? quick_inverse(d) : kept(d, &divides);
}

/* The pivot of which this was published, to rounding. */
template <class T> __device__ inline T pivot_of(T kept)
{
    return is_near_one(kept) ? number<T>(1) / kept : kept;
}

/* ---- what is said of them -------------------------------------------------------------------------------- */

/* What a lane has seen.  largest: of the products and of u; largest_a: of the numbers of A. */
struct pivot_counts {
    unsigned bad, boosted, largest, largest_a;
};

/* A row has that fault; one lane says so. */
__device__ inline void report(const pivot_rules &r, pivot_counts &t, int32_t row, trs_ilu_fault f)
{
    if (f == TRS_ILU_GOOD) return;
    t.bad++;
    atomicMin((unsigned long long *)&r.outcome->first, 4ull * (unsigned)row + f);
}

__device__ inline unsigned warp_largest(unsigned v)
{
#pragma unroll
    for (int by = 16; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    return v;
}

/* *most = max (*most, v), v >= 0, whose bits are ordered as it is.  Most warps only look: atomics on one number take their
 * turns. */
__device__ inline void raise_to(double *most, double v)
{
    if (v > *(volatile double *)most) atomic_larger(most, v);
}

/* In the end: every lane of the warp calls it. */
template <class T> __device__ inline void conclude(const pivot_rules &r, const pivot_counts &t)
{
    const double a = size_from<T>(warp_largest(t.largest_a));
    const double u = size_from<T>(warp_largest(t.largest));
    add_to((unsigned long long *)&r.outcome->bad, t.bad);
    add_to((unsigned long long *)&r.outcome->boosted, t.boosted);
    if (threadIdx.x % 32) return;
    raise_to(&r.outcome->largest_a, a);
    raise_to(&r.outcome->largest, u);
}

#endif
