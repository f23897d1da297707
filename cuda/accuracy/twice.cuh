/* twice.cuh: sums of products in twice the working precision.
 *
 * For float these are sums in double, where a product is exact.  For double a sum is a pair s + c: s is what plain
 * summation gives, and c adds up the errors of each product and of each sum, which a few operations find exactly:
 *
 *     p = a b      e = fma (a, b, -p)                            a b = p + e
 *     t = s + p    z = t - s    f = (s - (t - z)) + (p - z)      s + p = t + f
 *
 * Once an intermediate result is infinite, c is NaN; the sum is then s, as in plain summation.
 * Source: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005) 1955-1988 (Dot2). */
#ifndef TRS_TWICE_CUH
#define TRS_TWICE_CUH

#include "cuda/runtime/cuda.cuh"

#include <type_traits>

template <class R>
struct twice; /* R: the type of a real number, or of the parts of a complex one */

template <> struct twice<float> {
    double s = 0;
    __device__ void add(double v) { s += v; }
    __device__ void negate() { s = -s; }
    __device__ void add_product(float a, float b) { s += (double)a * (double)b; }
    __device__ void add_from(int mask) { s += __shfl_xor_sync(~0u, s, mask); }
    __device__ double value() const { return s; }
};

template <> struct twice<double> {
    double s = 0, c = 0;
    __device__ void add(double v)
    {
        const double t = __dadd_rn(s, v), z = __dadd_rn(t, -s);
        c = __dadd_rn(c, __dadd_rn(__dadd_rn(s, -__dadd_rn(t, -z)), __dadd_rn(v, -z)));
        s = t;
    }
    __device__ void negate() { s = -s, c = -c; }
    __device__ void add_product(double a, double b)
    {
        const double p = __dmul_rn(a, b);
        c = __dadd_rn(c, __fma_rn(a, b, -p));
        add(p);
    }
    /* The sum of the lane whose number differs in the bits of mask is added: both lanes have the same one then. */
    __device__ void add_from(int mask)
    {
        const double other = __shfl_xor_sync(~0u, s, mask), errors = __shfl_xor_sync(~0u, c, mask);
        const double larger = fabs(s) >= fabs(other) ? s : other;
        const double smaller = fabs(s) >= fabs(other) ? other : s;
        const double t = __dadd_rn(s, other);
        c = __dadd_rn(__dadd_rn(c, errors), __dadd_rn(smaller, -__dadd_rn(t, -larger)));
        s = t;
    }
    __device__ double value() const { return isfinite(c) ? s + c : s; }
};

template <class T> constexpr bool is_complex = false;
template <> inline constexpr bool is_complex<cuFloatComplex> = true;
template <> inline constexpr bool is_complex<cuDoubleComplex> = true;

/* |re| + |im| in double precision. */
template <class T> __device__ inline double size_of(T a)
{
    if constexpr (is_complex<T>) return fabs((double)a.x) + fabs((double)a.y);
    else return fabs((double)a);
}

/* A sum of numbers of type T. */
template <class T> struct sum_of {
    using R = std::conditional_t<sizeof(T) == (is_complex<T> ? 8 : 4), float, double>;
    twice<R> re, im; /* im stays 0, and is left out by the compiler, for a real T */
    __device__ void add(T v)
    {
        if constexpr (is_complex<T>) re.add(v.x), im.add(v.y);
        else re.add(v);
    }
    __device__ void negate() { re.negate(), im.negate(); }
    __device__ void add_product(T a, T b)
    {
        if constexpr (is_complex<T>) {
            re.add_product(a.x, b.x), re.add_product(-a.y, b.y);
            im.add_product(a.x, b.y), im.add_product(a.y, b.x);
        } else re.add_product(a, b);
    }
    __device__ void add_from(int mask)
    {
        re.add_from(mask);
        if constexpr (is_complex<T>) im.add_from(mask);
    }
    __device__ T value() const
    {
        if constexpr (is_complex<T>) return {(R)re.value(), (R)im.value()};
        else return (T)re.value();
    }
    __device__ double size() const
    {
        return is_complex<T> ? fabs(re.value()) + fabs(im.value()) : fabs(re.value());
    }
};

#endif
