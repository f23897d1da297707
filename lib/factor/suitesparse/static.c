/* static.c: the pattern of L and U for pivots on the diagonal; a device computes their numbers, from the first values on.
 *
 * A library that factors on the host uses one core, and most of its time goes into numbers.  With the pivots known in
 * advance,
 *
 *     (L U)(k, m) = A(P(k), P(m))      or      L L^H = A(P, P),
 *
 * the host only orders A + A' and lists the rows of each column of L (symbolic.c): U has the pattern of L'.
 * Numbers are then computed on the device as for new values (device/complete.c), and the growth says whether the pivots were
 * good.  If they were not, a library with pivoting factors A.
 *
 * It is for matrices whose diagonal promises good pivots, whose pattern is nearly symmetric, and whose factors need so much
 * arithmetic that the host would take longer than the device needs to be set up.
 * Source: Li, Demmel, Making sparse Gaussian elimination scalable by static pivoting, SC 1998. */
#include "config.h"

#include "symbolic.h"

#ifdef HAVE_CHOLMOD

/* The device is set up in some 20 ms, in which one core computes FEW_FLOPS.  With fewer flops than FLOPS_AN_ENTRY for each
 * entry of the factors, as in circuits, the host takes about as long to list the pattern as KLU takes to factor. */
static const double FEW_FLOPS = 5e7, FLOPS_AN_ENTRY = 40;
/* How small a number on the diagonal may be, relative to the largest of its column. */
static const double WEAK = 1e-2;
/* Entries of A + A' for each entry of A. */
static const double MOST_SYMMETRIC = 1.25;

/* ---- does A suit? ------------------------------------------------------------------------------------ */

static double size_of(const trs_csc *A, int64_t p)
{
    return A->is_complex ? hypot(A->x[2 * p], A->x[2 * p + 1]) : fabs(A->x[p]);
}

static bool is_strong(const trs_csc *A, int64_t j)
{
    double largest = 0, diagonal = 0;
    for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
        const double size = size_of(A, p);
        if (size > largest) largest = size;
        if (A->i[p] == j) diagonal = size;
    }
    return diagonal > 0 && diagonal >= WEAK * largest;
}

static bool is_diagonal_strong(const trs_csc *A)
{
    for (int64_t j = 0; j < A->n; j++)
        if (!is_strong(A, j)) return false;
    return true;
}

static bool is_worth_it(const cholmod_common *c)
{
    return c->fl >= FEW_FLOPS && c->fl >= FLOPS_AN_ENTRY * c->lnz;
}

/* ---- analysis ---------------------------------------------------------------------------------------- */

/* A's values decide, too: values that do not suit later are found by their growth. */
static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    trs_symbolic *d;
    *data = NULL;
    if (lu->opt.device <= 0) {
        if (!named) return TRS_OK;
        return trs_fail(TRS_ESUPPORT, "static pivots are for factors on a device");
    }
    if (!named && !A->hermitian && !is_diagonal_strong(A)) return TRS_OK;
    const int rc = trs_symbolic_new(lu, A, ordering, NULL, 0, &d);
    *data = d;
    if (rc || named) return rc;
    const double both = (double)cholmod_l_nnz(d->S, &d->common);
    if (both <= MOST_SYMMETRIC * (double)A->nnz && is_worth_it(&d->common)) return TRS_OK;
    trs_symbolic_free(lu, d);
    *data = NULL;
    return TRS_OK;
}

/* ---- factors without numbers ------------------------------------------------------------------------- */

/* U = L' */
static int mirror(trs_lu *lu, const trs_symbolic *d, bool is_complex, trs_factors *f)
{
    int rc = trs_symbolic_triangle(lu, d, is_complex, &f->U);
    if (!rc) rc = trs_symbolic_order(lu, d, &f->Q);
    if (rc) return rc;
    f->U.format = TRS_CSR;
    f->U.kind = TRS_UPPER;
    return TRS_OK;
}

static int list(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    trs_symbolic *d = data;
    f->symbolic = true;
    f->cholesky = A->hermitian;
    f->library = "static pivots";
    f->ordering = trs_cholmod_ordering_used(d->L);
    int rc = trs_symbolic_find(lu, d);
    if (!rc) rc = trs_symbolic_order(lu, d, &f->P);
    if (!rc && !f->cholesky) rc = mirror(lu, d, A->is_complex, f);
    if (rc) {
        trs_lu_factors_free(lu, f);
        return rc;
    }
    trs_symbolic_give(d, A->is_complex, &f->L);
    f->L.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    return TRS_OK;
}

const trs_method trs_method_static = {.name = "static",
                                      .symbolic = true,
                                      .analyse = analyse,
                                      .numeric = list,
                                      .release = trs_symbolic_free};

#endif
