/* tiles.h: products with tiles, for the type that each_type.h has set.
 *
 * With complex numbers a product is summed in two vectors, which need no shuffle for an entry:
 *
 *     a x = p + i q,     p = sum of a re (x),  q = sum of a im (x),  lane by lane
 *
 * with the conjugate of a, conj (p) + i conj (q).  With real numbers p and q are two sums that do not depend on one
 * another. */
#include "base/number/divide.h"
#include "base/number/vector.h"

typedef struct FN(pair) {
    FN(vector) p, q;
} FN(pair);

#if IS_COMPLEX

/* q with the parts of each number exchanged. */
TRS_INLINE FN(vector) FN(turned)(FN(vector) q)
{
    FN(vector) t;
    for (int k = 0; k < 2 * FN(LANES); k += 2) t[k] = q[k + 1], t[k + 1] = q[k];
    return t;
}

/* The sign of re and of im. */
TRS_INLINE FN(vector) FN(signs)(REAL re, REAL im)
{
    FN(vector) s;
    for (int k = 0; k < 2 * FN(LANES); k += 2) s[k] = re, s[k + 1] = im;
    return s;
}

TRS_INLINE FN(vector) FN(joined)(FN(pair) s, bool conj)
{
    const FN(vector) t = FN(turned)(s.q);
    if (conj) return s.p * FN(signs)(1, -1) + t;
    return s.p + t * FN(signs)(-1, 1);
}

TRS_INLINE void FN(add)(FN(pair) * s, FN(vector) a, T x)
{
    s->p += a * creal(x);
    s->q += a * cimag(x);
}

#else

TRS_INLINE FN(vector) FN(joined)(FN(pair) s, bool conj)
{
    (void)conj;
    return s.p + s.q;
}

#endif

/* to [LINE] = the sum of columns k of a tile times x [k]; x and to may be the same. */
TRS_INLINE void FN(product)(const T *tile, int32_t columns, const T *x, bool conj, T *to)
{
    FN(pair) s[FN(PARTS)] = {{{0}, {0}}};
    int32_t k = 0;
#if IS_COMPLEX
#pragma GCC unroll 4
    for (; k < columns; k++) {
        TRS_PREFETCH(tile + k * FN(LINE) + FN(AHEAD));
#pragma GCC unroll 2
        for (int v = 0; v < FN(PARTS); v++)
            FN(add)(&s[v], FN(load)(tile + k * FN(LINE) + v * FN(LANES)), x[k]);
    }
#else
#pragma GCC unroll 4
    for (; k + 1 < columns; k += 2) {
        TRS_PREFETCH(tile + k * FN(LINE) + FN(AHEAD));
        TRS_PREFETCH(tile + (k + 1) * FN(LINE) + FN(AHEAD));
#pragma GCC unroll 2
        for (int v = 0; v < FN(PARTS); v++) {
            s[v].p += FN(load)(tile + k * FN(LINE) + v * FN(LANES)) * x[k];
            s[v].q += FN(load)(tile + (k + 1) * FN(LINE) + v * FN(LANES)) * x[k + 1];
        }
    }
    if (k < columns) {
        TRS_PREFETCH(tile + k * FN(LINE) + FN(AHEAD));
#pragma GCC unroll 2
        for (int v = 0; v < FN(PARTS); v++)
            s[v].p += FN(load)(tile + k * FN(LINE) + v * FN(LANES)) * x[k];
    }
#endif
#pragma GCC unroll 2
    for (int v = 0; v < FN(PARTS); v++) FN(store)(to + v * FN(LANES), FN(joined)(s[v], conj));
}
