/* vector.h: vectors of TRS_NARROW bytes, or of a line in the wide copy of each_width.h, for the type that each_type.h has set.
 *
 * GNU vector types: the compiler maps one to the registers of the processor, one of 64 bytes or four of 16.  A vector
 * has LANES numbers; a complex number is its real and its imaginary part, as in memory.
 *
 *     FN(load) (p), FN(store) (p, v)    p need not be aligned
 *     FN(splat) (a)                     a in all lanes
 *     FN(subtract) (s, a, x, conj)      s - a x lane by lane, with conj (a) if conj
 *     FN(multiply) (a, x, conj)         a x lane by lane, the same
 *     FN(minus), FN(times)              the same two of numbers, with the same roundings
 *
 * The product of complex numbers is subtracted in two steps, each of which has one product of real numbers (clones.h):
 *
 *     re (s) - re (a) re (x) + im (a) im (x),   im (s) - re (a) im (x) - im (a) re (x)
 *
 * and a x alone is computed by subtracting -a x from zero. */
#ifndef TRS_VECTOR_H
#define TRS_VECTOR_H

#include "clones.h"
#include "number.h"

#include <stdbool.h>
#include <tgmath.h>

#ifdef TRS_WIDE
enum { FN(BYTES) = TRS_LINE };
#else
enum { FN(BYTES) = TRS_NARROW };
#endif

typedef REAL FN(vector) __attribute__((vector_size(FN(BYTES)), aligned(sizeof(REAL)), may_alias));

enum {
    FN(LANES) = FN(BYTES) / sizeof(T),
    FN(LINE) = TRS_LINE / sizeof(T),  /* numbers of a line, */
    FN(PARTS) = FN(LINE) / FN(LANES), /* and its vectors */
    FN(AHEAD) = 4096 / sizeof(T) /* entries from those that a loop reads to those that it fetches */
};

TRS_INLINE FN(vector) FN(load)(const T *p)
{
    return *(const FN(vector) *)p;
}

TRS_INLINE void FN(store)(T *p, FN(vector) v)
{
    *(FN(vector) *)p = v;
}

TRS_INLINE FN(vector) FN(splat)(T a)
{
#if IS_COMPLEX
    FN(vector) v = {0};
#pragma GCC unroll 16
    for (int k = 0; k < 2 * FN(LANES); k += 2) v[k] = creal(a), v[k + 1] = cimag(a);
    return v;
#else
    return a - (FN(vector)){0};
#endif
}

#if IS_COMPLEX

TRS_INLINE FN(vector) FN(subtract)(FN(vector) s, FN(vector) a, FN(vector) x, bool conj)
{
    /* by lanes: re (a), re (a); - im (a), im (a); im (x), re (x) */
    FN(vector) re = {0}, im = {0}, turned = {0};
#pragma GCC unroll 16
    for (int k = 0; k < 2 * FN(LANES); k += 2) {
        re[k] = re[k + 1] = a[k];
        im[k] = conj ? a[k + 1] : -a[k + 1];
        im[k + 1] = conj ? -a[k + 1] : a[k + 1];
        turned[k] = x[k + 1], turned[k + 1] = x[k];
    }
    s -= re * x;
    s -= im * turned;
    return s;
}

/* Compilers that put both parts into a vector of two would not fuse one of them: so each is a number by itself. */
TRS_INLINE T FN(minus)(T s, T a, T x, bool conj)
{
    const REAL im = conj ? -cimag(a) : cimag(a);
    REAL s_re = creal(s), s_im = cimag(s);
    s_re -= creal(a) * creal(x);
    s_re += im * cimag(x);
    s_im -= creal(a) * cimag(x);
    s_im -= im * creal(x);
    TRS_ROUNDED(s_re);
    TRS_ROUNDED(s_im);
    return (T)CMPLX(s_re, s_im);
}

TRS_INLINE FN(vector) FN(multiply)(FN(vector) a, FN(vector) x, bool conj)
{
    const FN(vector) zero = {0};
    return FN(subtract)(zero, -a, x, conj);
}

TRS_INLINE T FN(times)(T a, T x, bool conj)
{
    return FN(minus)(0, -a, x, conj);
}

#else

TRS_INLINE FN(vector) FN(subtract)(FN(vector) s, FN(vector) a, FN(vector) x, bool conj)
{
    (void)conj;
    return s - a * x;
}

TRS_INLINE T FN(minus)(T s, T a, T x, bool conj)
{
    (void)conj;
    return s - a * x;
}

TRS_INLINE FN(vector) FN(multiply)(FN(vector) a, FN(vector) x, bool conj)
{
    (void)conj;
    return a * x;
}

TRS_INLINE T FN(times)(T a, T x, bool conj)
{
    T t = a * x;
    (void)conj;
    TRS_ROUNDED(t);
    return t;
}

#endif

#endif
