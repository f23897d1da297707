/* ldlt.c: A(P, P) = L D L^H for Hermitian matrices that need not be definite, with D diagonal and the pivots on the diagonal.
 *
 * Every order of a quasi-definite matrix [K B'; B -M], with K and M positive definite, has such factors (Vanderbei 1995), as
 * interior-point methods meet them.  Other indefinite matrices may have small pivots: `boost` replaces them, or those whose
 * sign is not the one that the caller expects, and counts them; a step of refinement repairs what rounding adds.
 *
 * Row k of L comes from a triangular solve with the rows before it:
 *
 *     L(0..k-1, 0..k-1) w = A(0..k-1, k),   l(k, j) = conj (w(j)) / d(j),   d(k) = a(k, k) - sum over j of l(k, j) w(j),
 *
 * with j along the paths in the elimination tree that lead from the entries of column k to k, children first.
 *
 * The plan of L serves L and L^H, so the factor that is kept is that of A(P, P) = F S F^H: F = L |D|^(1/2), S = sign (D).
 * Sources: Davis, Algorithm 849: a concise sparse Cholesky factorization package, ACM TOMS 31 (2005) 587-591; Vanderbei,
 * Symmetric quasidefinite matrices, SIAM J. Optimization 5 (1995) 100-113. */
#include "config.h"

#include "symbolic.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

#include <float.h>
#include <inttypes.h>
#include <string.h>

typedef struct job {
    const trs_lu *lu;
    const trs_csc *A;
    const trs_symbolic *d;
    double *val; /* of L, in its pattern; those of L^T's diagonal are not written until the end */
    double *D;   /* [n] */
    double
        *y; /* [n], or twice as many: 0 but where row k has entries that are not yet eliminated */
    int32_t *place;  /* [n] P(place(i)) = i */
    int32_t *parent; /* [n] in the elimination tree; -1: a root */
    int64_t *end;    /* [n] the entries that column j has so far */
    int32_t *mark;   /* [n] the last row that came to j */
    int32_t *path;   /* [n] at its end: columns of row k, children before their parents */
    double *largest; /* [n] of each column of A, in the order of A; NULL: nothing is boosted */
    int64_t boosted; /* pivots */
    int64_t first;   /* of these, row of A; -1: none */
} job;

/* ---- a row ------------------------------------------------------------------------------------------- */

/* y = y - l a.  Here and below parts is a constant: 1 for real numbers, 2 for complex ones. */
static inline void subtract(double *y, const double *l, const double *a, int parts)
{
    y[0] -= l[0] * a[0];
    if (parts == 1) return;
    y[0] += l[1] * a[1];
    y[1] -= l[0] * a[1] + l[1] * a[0];
}

/* Put the column of A into y, its diagonal into *diagonal, and the columns of row k at path [top ..]; returns top. */
static inline int32_t begin_row(const job *b, int32_t k, double *diagonal, int parts)
{
    const trs_csc *A = b->A;
    const int32_t *place = b->place, *parent = b->parent;
    const int64_t column = ((const int64_t *)b->d->L->Perm)[k];
    int32_t top = (int32_t)A->n;
    b->mark[k] = k;
    *diagonal = 0;
    for (int64_t p = A->p[column]; p < A->p[column + 1]; p++) {
        int32_t j = place[A->i[p]], length = 0;
        if (j == k) *diagonal = A->x[parts * p];
        if (j >= k) continue;
        for (int q = 0; q < parts; q++) b->y[parts * j + q] = A->x[parts * p + q];
        for (; b->mark[j] != k; j = parent[j]) {
            TRS_ASSERT(j >= 0 && j < k && length < top);
            b->path[length++] = j;
            b->mark[j] = k;
        }
        while (length > 0) b->path[--top] = b->path[--length];
    }
    return top;
}

/* Eliminate column j of row k, which gets its entry; returns what that takes from the diagonal. */
static inline double eliminate(job *b, int32_t j, int parts)
{
    const int64_t begin = b->d->ptr[j], end = b->end[j]++;
    const int32_t *idx = b->d->idx;
    double w[2] = {b->y[parts * j], 0};
    double *l = b->val + parts * end;
    b->y[parts * j] = 0;
    if (parts == 2) w[1] = b->y[2 * j + 1], b->y[2 * j + 1] = 0;
    for (int64_t p = begin + 1; p < end; p++)
        subtract(b->y + parts * idx[p], b->val + parts * p, w, parts);
    l[0] = w[0] / b->D[j];
    if (parts == 1) return l[0] * w[0];
    l[1] = -w[1] / b->D[j];
    return l[0] * w[0] - l[1] * w[1];
}

/* ---- a pivot ----------------------------------------------------------------------------------------- */

static int bad_pivot(const job *b, int64_t row)
{
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": a pivot is zero or not finite; boost replaces it",
                    row + b->lu->base);
}

/* The pivot that is used in place of d. */
static double boosted(job *b, int64_t row, double d)
{
    const int8_t *signs = b->lu->signs;
    const double least = b->lu->boost * b->largest[row];
    const int sign = signs ? signs[row] : 0;
    const bool wrong = (sign > 0 && d < least) || (sign < 0 && d > -least);
    if (!wrong && fabs(d) >= least) return d;
    if (b->boosted++ == 0) b->first = row;
    return sign ? sign * least : copysign(least, d);
}

static int take_pivot(job *b, int32_t k, double d)
{
    const int64_t row = ((const int64_t *)b->d->L->Perm)[k];
    if (isfinite(d) && b->largest) d = boosted(b, row, d);
    b->D[k] = d;
    return isfinite(d) && d != 0 ? TRS_OK : bad_pivot(b, row);
}

static inline __attribute__((always_inline)) int factor_rows(job *b, int parts)
{
    const int32_t n = (int32_t)b->A->n;
    int rc = TRS_OK;
    for (int32_t k = 0; k < n && !rc; k++) {
        double d;
        for (int32_t at = begin_row(b, k, &d, parts); at < n; at++)
            d -= eliminate(b, b->path[at], parts);
        rc = take_pivot(b, k, d);
        if (k % 4096 == 0 && !rc) rc = trs_step("factorization", (double)k / n);
    }
    return rc;
}

/* ---- F and S ----------------------------------------------------------------------------------------- */

/* Column j of L becomes that of F, and its diagonal sqrt |d(j)|. */
static void scale_columns(const job *b, int parts, int8_t *sign)
{
    const int64_t *ptr = b->d->ptr;
    for (int64_t j = 0; j < b->A->n; j++) {
        const double root = sqrt(fabs(b->D[j]));
        for (int64_t p = parts * (ptr[j] + 1); p < parts * ptr[j + 1]; p++) b->val[p] *= root;
        b->val[parts * ptr[j]] = root;
        if (parts == 2) b->val[2 * ptr[j] + 1] = 0;
        sign[j] = b->D[j] < 0 ? -1 : 1;
    }
}

/* rcond: the smallest pivot over the largest. */
static double ratio(const double *D, int64_t n)
{
    double least = INFINITY, most = 0;
    for (int64_t k = 0; k < n; k++) {
        if (fabs(D[k]) < least) least = fabs(D[k]);
        if (fabs(D[k]) > most) most = fabs(D[k]);
    }
    return most > 0 ? least / most : 0;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static void find_largest(const trs_csc *A, double *largest)
{
    for (int64_t j = 0; j < A->n; j++) {
        largest[j] = 0;
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
            const double size = A->is_complex ? hypot(A->x[2 * p], A->x[2 * p + 1]) : fabs(A->x[p]);
            if (size > largest[j]) largest[j] = size;
        }
    }
}

/* The parent of j is the first row below its diagonal. */
static void find_tree(const job *b)
{
    const int64_t *ptr = b->d->ptr, *P = b->d->L->Perm;
    for (int64_t j = 0; j < b->A->n; j++) {
        b->place[P[j]] = (int32_t)j;
        b->parent[j] = ptr[j] + 1 < ptr[j + 1] ? b->d->idx[ptr[j] + 1] : -1;
        b->end[j] = ptr[j] + 1;
        b->mark[j] = -1;
    }
}

static int compute(job *b, trs_factors *f)
{
    const int64_t n = b->A->n;
    const bool is_complex = b->A->is_complex;
    memset(b->y, 0, (size_t)n * (is_complex ? 2 : 1) * sizeof *b->y);
    find_tree(b);
    if (b->largest) find_largest(b->A, b->largest);
    const int rc = is_complex ? factor_rows(b, 2) : factor_rows(b, 1);
    if (rc) return rc;
    scale_columns(b, is_complex ? 2 : 1, f->sign);
    f->rcond = ratio(b->D, n);
    return TRS_OK;
}

static int run(trs_lu *lu, const trs_csc *A, const trs_symbolic *d, trs_factors *f)
{
    const int64_t n = A->n;
    const char *const what = "a factorisation";
    job b = {.lu = lu, .A = A, .d = d, .val = (double *)f->L.val, .first = -1};
    b.D = trs_lu_alloc(lu, n, sizeof *b.D, what);
    b.y = trs_lu_alloc(lu, n, A->is_complex ? 16 : 8, what);
    b.end = trs_lu_alloc(lu, n, sizeof *b.end, what);
    b.mark = trs_lu_alloc(lu, n, sizeof *b.mark, what);
    b.path = trs_lu_alloc(lu, n, sizeof *b.path, what);
    b.place = trs_lu_alloc(lu, n, sizeof *b.place, what);
    b.parent = trs_lu_alloc(lu, n, sizeof *b.parent, what);
    const bool there = b.D && b.y && b.end && b.mark && b.path && b.place && b.parent;
    int rc = there ? TRS_OK : TRS_EMEM;
    if (!rc && lu->boost > 0) {
        b.largest = trs_lu_alloc(lu, n, sizeof *b.largest, what);
        if (!b.largest) rc = TRS_EMEM;
    }
    if (!rc) rc = compute(&b, f);
    lu->info.boosted = b.boosted;
    lu->info.first_boosted = b.first;
    trs_lu_free(lu, b.D, b.y, b.end, b.mark, b.path, b.place, b.parent, b.largest);
    return rc;
}

static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    trs_symbolic *d = NULL;
    *data = NULL;
    if (!named) return TRS_OK;
    const int rc = trs_symbolic_new(lu, A, ordering, &d);
    *data = d;
    return rc;
}

static int factor(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    trs_symbolic *d = data;
    f->cholesky = true;
    f->library = "LDL'";
    f->ordering = trs_cholmod_ordering_used(d->L);
    f->sign = trs_lu_alloc(lu, A->n, sizeof *f->sign, "the signs of pivots");
    int rc = f->sign ? trs_symbolic_find(lu, d) : TRS_EMEM;
    if (!rc) rc = trs_symbolic_order(lu, d, &f->P);
    if (!rc) rc = trs_symbolic_triangle(lu, d, A->is_complex, &f->L);
    f->L.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    f->L.val = trs_lu_alloc(lu, f->L.nnz, A->is_complex ? 16 : 8, "the values of a factor");
    if (!rc && !f->L.val) rc = TRS_EMEM;
    if (!rc) rc = run(lu, A, d, f);
    if (rc) trs_lu_factors_free(lu, f);
    return rc;
}

const trs_method trs_method_ldlt = {.name = "ldlt",
                                    .hermitian = TRS_INDEFINITE,
                                    .analyse = analyse,
                                    .numeric = factor,
                                    .release = trs_symbolic_free};

#endif
