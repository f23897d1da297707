/* lanes.h: what both factor.c and solve.c do with vectors whose lanes are systems, for the type that each_type.h has set.  It
 * is included after base/number/vector.h, once for each type. */

#if IS_COMPLEX
#define PARTS 2
#else
#define PARTS 1
#endif

/* the same bits as integers, and what a comparison gives */
typedef __typeof__((FN(vector)){0} < (FN(vector)){0}) FN(mask);

TRS_INLINE FN(vector) FN(select)(FN(mask) where, FN(vector) a, FN(vector) b)
{
    return (FN(vector))(((FN(mask))a & where) | ((FN(mask))b & ~where));
}

/* |a| of each lane; of a complex number |re a| + |im a| in both parts. */
TRS_INLINE FN(vector) FN(sizes)(FN(vector) a)
{
    const FN(vector) size = FN(select)(a < (FN(vector)){0}, -a, a);
#if IS_COMPLEX
    FN(vector) other = {0};
#pragma GCC unroll 16
    for (int k = 0; k < 2 * FN(LANES); k += 2) other[k] = size[k + 1], other[k + 1] = size[k];
    return size + other;
#else
    return size;
#endif
}

/* The larger one; a NaN is passed over. */
TRS_INLINE FN(vector) FN(larger)(FN(vector) a, FN(vector) b)
{
    return FN(select)(b > a, b, a);
}

/* Number p of each array. */
TRS_INLINE FN(vector) FN(collect)(const T *const *a, int64_t p)
{
    FN(vector) v = {0};
#pragma GCC unroll 16
    for (int k = 0; k < FN(LANES); k++) {
        v[k * PARTS] = creal(a[k][p]);
#if IS_COMPLEX
        v[k * PARTS + 1] = cimag(a[k][p]);
#endif
    }
    return v;
}

/* The values of entry q of A in all lanes. */
TRS_INLINE FN(vector) FN(gather)(const trs_lu_batch_rows *r, int64_t q, const T *const *a)
{
    FN(vector) v = FN(collect)(a, r->a_from[q] >> TRS_WHOLE_BITS);
#if IS_COMPLEX
    const int how = (int)(r->a_from[q] & ((1 << TRS_WHOLE_BITS) - 1));
    if (how != TRS_STORED) {
#pragma GCC unroll 16
        for (int k = 1; k < 2 * FN(LANES); k += 2) v[k] = how == TRS_CONJUGATE ? -v[k] : 0;
    }
#endif
    return v;
}

/* Where the values of each system of a group begin.  Lanes without a system get those of another one.  Returns how many
 * lanes have one. */
TRS_INLINE int FN(values_of)(const trs_lu_batch_job *j, int64_t first, const T **a)
{
    const trs_systems *s = j->s;
    const T *some = NULL;
    int count = 0;
    for (int k = 0; k < FN(LANES); k++) {
        const int64_t system = first + k;
        a[k] = NULL;
        if (!trs_lu_batch_has(s, system)) continue;
        count++;
        if (s->val_of) a[k] = s->val_of[system];
        else a[k] = (const T *)s->val + system * s->val_stride;
        some = a[k];
    }
    for (int k = 0; k < FN(LANES); k++)
        if (!a[k]) a[k] = some;
    return count;
}
