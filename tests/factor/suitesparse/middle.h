/* middle.h: L S L^H = A(P, P) against the full matrix, and its inertia against LAPACK's, or eigenvalues by Jacobi's method. */
#ifndef TRS_TESTS_MIDDLE_H
#define TRS_TESTS_MIDDLE_H

#include "tests/common/full.h"
#include "trisolve-suitesparse.h"

#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

/* [K B'; B -M] with K and M positive definite, M of `lower` rows. */
static inline full quasi_definite(int n, int lower, bool is_complex)
{
    full A = hermitian(n, is_complex, n / 3);
    for (int j = n - lower; j < n; j++)
        for (int i = n - lower; i < n; i++) A.a[i + n * j] *= -1;
    return A;
}

/* Of three rows, two have zeros on the diagonal and need each other as a pivot; the third one has a pivot of either sign.  All are
 * coupled weakly, and rows and columns have scales of their own. */
static inline full with_pairs(int n, bool is_complex)
{
    full A = hermitian(n, is_complex, 0);
    for (int p = 0; p < n * n; p++) A.a[p] *= 0.05;
    for (int k = 0; k < n; k++) {
        const int j = k % 3 == 0 ? k + 1 : k;
        A.a[k + n * k] = 0;
        if (k % 3 == 2 || (k % 3 == 0 && j == n)) A.a[k + n * k] = k % 2 ? -3 : 3;
        else if (k % 3 == 0) A.a[k + n * j] = A.a[j + n * k] = 4;
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) A.a[i + n * j] *= ldexp(1, i * 7 % 5 + j * 7 % 5);
    return A;
}

/* How many are negative.  [Re -Im; Im Re] is real and symmetric, and has each of them twice. */
static inline int negative_eigenvalues(const full *A)
{
    const int n = A->n, m = 2 * n;
    double *s = calloc((size_t)(m * m), sizeof *s);
    int negative = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const zz z = A->a[i + n * j];
            s[i + m * j] = s[i + n + m * (j + n)] = creal(z);
            s[i + n + m * j] = cimag(z);
            s[i + m * (j + n)] = -cimag(z);
        }
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < m; p++)
            for (int q = p + 1; q < m; q++) {
                const double angle = 0.5 * atan2(2 * s[p + m * q], s[q + m * q] - s[p + m * p]);
                const double c = cos(angle), d = sin(angle);
                for (int k = 0; k < m; k++) {
                    const double x = s[p + m * k], y = s[q + m * k];
                    s[p + m * k] = c * x - d * y, s[q + m * k] = d * x + c * y;
                }
                for (int k = 0; k < m; k++) {
                    const double x = s[k + m * p], y = s[k + m * q];
                    s[k + m * p] = c * x - d * y, s[k + m * q] = d * x + c * y;
                }
            }
    for (int p = 0; p < m; p++) negative += s[p + m * p] < 0;
    free(s);
    assert_int_equal(negative % 2, 0);
    return negative / 2;
}

/* How many eigenvalues are negative, by D of LAPACK's factors. */
static inline int negative_by_lapack(const full *A)
{
#ifdef HAVE_LAPACKE
    const int n = A->n;
    int negative = 0;
    zz *a = malloc((size_t)(n * n) * sizeof *a);
    lapack_int *pivot = malloc((size_t)n * sizeof *pivot);
    memcpy(a, A->a, (size_t)(n * n) * sizeof *a);
    assert_int_equal(LAPACKE_zhetrf(LAPACK_COL_MAJOR, 'L', n, a, n, pivot), 0);
    for (int k = 0; k < n; k++) {
        const double d = creal(a[k + n * k]);
        if (pivot[k] > 0) negative += d < 0;
        else { /* a block, whose determinant is negative */
            const double e = creal(a[k + 1 + n * (k + 1)]), size = cabs(a[k + 1 + n * k]);
            assert_true(d * e < size * size);
            negative++, k++;
        }
    }
    free(a);
    free(pivot);
    return negative;
#else
    return negative_eigenvalues(A);
#endif
}

/* ---- factors ------------------------------------------------------------------------------------------ */

static inline void check_inertia(const trs_lu *lu, const full *A)
{
    int64_t positive, negative;
    assert_int_equal(trs_lu_inertia(lu, &positive, &negative, NULL), TRS_OK);
    assert_int_equal(negative, A->n > 50 ? negative_by_lapack(A) : negative_eigenvalues(A));
    assert_int_equal(positive, A->n - negative);
}

/* Componentwise, but pairs that a device has turned are as exact as the largest entry. */
static inline void check_rounding(const full *error, const full *size, bool turned)
{
    const int n = error->n;
    double most = 0;
    for (int p = 0; p < n * n; p++) most = larger(most, creal(size->a[p]));
    for (int p = 0; p < n * n; p++) {
        const double e = creal(error->a[p]), of = turned ? most : creal(size->a[p]);
        if (!(e <= 8 * n * DBL_EPSILON * of)) fail_msg("(%d, %d): %g of %g", p % n, p / n, e, of);
    }
}

static inline void check_factors(const trs_lu *lu, const full *A)
{
    const int n = A->n;
    double *diagonal = calloc(3 * (size_t)n, sizeof *diagonal), *beside = diagonal + n;
    trs_mat l;
    trs_lu_info info;
    const int64_t *P;
    int64_t blocks;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_int_equal(trs_lu_factors(lu, &l, NULL, &P, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_middle(lu, diagonal, beside, &blocks), TRS_OK);
    full L = unfold(&l), LS = full_new(n, A->is_complex),
         sizes = full_new(n, false); /* L S, |L| |S| */
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            LS.a[i + n * k] += L.a[i + n * k] * diagonal[k];
            sizes.a[i + n * k] += cabs(L.a[i + n * k] * diagonal[k]);
            if (k + 1 == n) continue;
            const zz s = get_value(beside, l.dtype, k);
            LS.a[i + n * (k + 1)] += L.a[i + n * k] * s;
            LS.a[i + n * k] += L.a[i + n * (k + 1)] * conj(s);
            sizes.a[i + n * (k + 1)] += cabs(L.a[i + n * k] * s);
            sizes.a[i + n * k] += cabs(L.a[i + n * (k + 1)] * s);
        }
    full error = full_new(n, false), size = full_new(n, false);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            zz sum = -A->a[P[i] + n * P[j]];
            size.a[i + n * j] = cabs(sum);
            for (int k = 0; k < n; k++) {
                sum += LS.a[i + n * k] * conj(L.a[j + n * k]);
                size.a[i + n * j] += creal(sizes.a[i + n * k]) * cabs(L.a[j + n * k]);
            }
            error.a[i + n * j] = cabs(sum);
        }
    check_rounding(&error, &size, info.kernel && blocks > 0);
    free(error.a);
    free(size.a);
    free(diagonal);
    free(L.a);
    free(LS.a);
    free(sizes.a);
}

#endif
