/* again_number.h: numbers of the factors of A, for the type T of A that each_type.h has set: in double precision. */
#if IS_COMPLEX
typedef double complex FN(number);
#else
typedef double FN(number);
#endif

/* a b, without the test for NaN that the C standard demands of complex products. */
TRS_INLINE FN(number) FN(product)(FN(number) a, FN(number) b)
{
#if IS_COMPLEX
    const double re = creal(a) * creal(b) - cimag(a) * cimag(b);
    const double im = creal(a) * cimag(b) + cimag(a) * creal(b);
    return CMPLX(re, im);
#else
    return a * b;
#endif
}

TRS_INLINE double FN(size)(FN(number) z)
{
    return fabs(creal(z)) + fabs(cimag(z));
}

/* The largest |a(i, j)| so far; one that is not finite is noticed, because a larger number may replace a NaN. */
TRS_INLINE void FN(larger_a)(double size, double *largest, trs_again_outcome *o)
{
    if (size <= *largest) return;
    *largest = size;
    if (!isfinite(size)) o->bad = true;
}

/* The pivot of row i.  Returns its inverse, with which rows of L are multiplied. */
TRS_INLINE FN(number)
    FN(pivot)(const trs_again_rows *r, int32_t i, FN(number) pivot, trs_again_outcome *o)
{
    const double size = FN(size)(pivot);
    const FN(number) inverse = ((FN(number) *)r->inverse)[i] = 1 / pivot;
    if (size < o->least) o->least = size;
    if (size > o->most) o->most = size;
    if (!isnormal(size) || !isnormal(FN(size)(inverse))) o->bad = true;
    return inverse;
}

/* largest: of row i of U. */
TRS_INLINE void FN(row_done)(const trs_again_rows *r, int32_t i, double largest,
                             trs_again_outcome *o)
{
    r->largest[i] = largest;
    if (largest > o->largest) o->largest = largest;
    if (!isfinite(largest)) o->bad = true;
}
