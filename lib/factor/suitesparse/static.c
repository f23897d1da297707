/* static.c: the pattern of L and U for pivots on the diagonal; a device computes their numbers, from the first values on.
 *
 * A library that factors on the host uses one core, and most of its time goes into numbers.  With the pivots known in
 * advance,
 *
 *     (L U)(k, m) = A(P(k), P(m))      or      L L^H = A(P, P),
 *
 * the host only orders A + A' (CHOLMOD calls AMD or METIS), and lists the rows of each column of L: U has the pattern of L'.
 * Numbers are then computed on the device as for new values (device/complete.c), and the growth says whether the pivots were
 * good.  If they were not, a library with pivoting factors A.
 *
 * It is for matrices whose diagonal promises good pivots, whose pattern is nearly symmetric, and whose factors need so much
 * arithmetic that the host would take longer than the device needs to be set up.
 * Source: Li, Demmel, Making sparse Gaussian elimination scalable by static pivoting, SC 1998; Davis, Direct Methods for
 * Sparse Linear Systems, SIAM 2006, section 4.8: rows of L as paths in the elimination tree. */
#include "config.h"

#include "cholmod.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

#include <string.h>

/* The device is set up in some 20 ms, in which one core computes FEW_FLOPS.  With fewer flops than FLOPS_AN_ENTRY for each
 * entry of the factors, as in circuits, the host takes about as long to list the pattern as KLU takes to factor. */
static const double FEW_FLOPS = 5e7, FLOPS_AN_ENTRY = 40;
/* How small a number on the diagonal may be, relative to the largest of its column. */
static const double WEAK = 1e-2;
/* Entries of A + A' for each entry of A. */
static const double MOST_SYMMETRIC = 1.25;

typedef struct analysis {
    cholmod_common common;
    cholmod_sparse *S; /* A + A', without numbers */
    cholmod_factor *L; /* the order, and the entries of each column */
} analysis;

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

/* *S = the pattern of A + A', all of it. */
static int add_transpose(const trs_csc *A, cholmod_common *c, cholmod_sparse **S)
{
    double one[2] = {1, 0};
    cholmod_sparse M = trs_cholmod_view(A);
    M.stype = 0;
    M.xtype = CHOLMOD_PATTERN;
    M.x = NULL;
    cholmod_sparse *T = cholmod_l_transpose(&M, 0, c);
    *S = T ? cholmod_l_add(&M, T, one, one, 0, 1, c) : NULL;
    cholmod_l_free_sparse(&T, c);
    return *S ? TRS_OK : trs_cholmod_failed(c, "adding A and its transpose");
}

static int order(trs_lu *lu, const trs_csc *A, const char *ordering, analysis *d)
{
    cholmod_common *c = &d->common;
    int rc = trs_cholmod_set_ordering(c, ordering);
    if (!rc) rc = add_transpose(A, c, &d->S);
    if (rc) return rc;
    d->S->stype = -1;
    d->L = cholmod_l_analyze(d->S, c);
    if (!d->L) return trs_cholmod_failed(c, "ordering A");
    if (ordering && strcmp(ordering, "best")) return TRS_OK;
    return trs_cholmod_dissect(lu, d->S, c, &d->L);
}

static void release(trs_lu *lu, void *data)
{
    analysis *d = data;
    if (!d) return;
    cholmod_l_free_sparse(&d->S, &d->common);
    cholmod_l_free_factor(&d->L, &d->common);
    cholmod_l_finish(&d->common);
    trs_lu_free(lu, d);
}

/* A's values decide, too: values that do not suit later are found by their growth. */
static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    *data = NULL;
    if (lu->opt.device <= 0) {
        if (!named) return TRS_OK;
        return trs_fail(TRS_ESUPPORT, "static pivots are for factors on a device");
    }
    if (!named && !A->hermitian && !is_diagonal_strong(A)) return TRS_OK;
    analysis *d = *data = trs_lu_alloc(lu, 1, sizeof *d, "the analysis of static pivots");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    cholmod_l_start(&d->common);
    d->common.print = 0;
    const int rc = order(lu, A, ordering, d);
    if (rc || named) return rc;
    const bool symmetric =
        (double)cholmod_l_nnz(d->S, &d->common) <= MOST_SYMMETRIC * (double)A->nnz;
    if (symmetric && is_worth_it(&d->common)) return TRS_OK;
    release(lu, d);
    *data = NULL;
    return TRS_OK;
}

/* ---- the pattern of L -------------------------------------------------------------------------------- */

/* Column j of L has a place for row k when j is on the path from an entry of row k of A to k in the elimination tree.  Rows
 * are taken one after the other, so those of a column ascend.  next [n]: the free place of a column; mark, parent [n]. */
static void list_rows(const analysis *d, const int32_t *place, int32_t *idx, int64_t *next,
                      int32_t *mark, int32_t *parent)
{
    const int64_t *P = d->L->Perm, *Sp = d->S->p, *Si = d->S->i;
    const int32_t n = (int32_t)d->L->n;
    for (int32_t k = 0; k < n; k++) {
        mark[k] = k;
        parent[k] = -1;
        idx[next[k]++] = k;
        for (int64_t p = Sp[P[k]]; p < Sp[P[k] + 1]; p++)
            for (int32_t j = place[Si[p]]; j < k && mark[j] != k; j = parent[j]) {
                mark[j] = k;
                idx[next[j]++] = k;
                if (parent[j] < 0) parent[j] = k;
            }
    }
}

static int find_pattern(trs_lu *lu, const analysis *d, trs_mat *L)
{
    const int64_t n = (int64_t)d->L->n;
    const int64_t *P = d->L->Perm;
    int32_t *work = trs_lu_alloc(lu, 3 * n, sizeof *work, "the elimination tree");
    int64_t *next = trs_lu_alloc(lu, n, sizeof *next, "columns of L");
    const int rc = work && next ? TRS_OK : TRS_EMEM;
    if (!rc) {
        for (int64_t k = 0; k < n; k++) work[P[k]] = (int32_t)k;
        memcpy(next, L->ptr, (size_t)n * sizeof *next);
        list_rows(d, work, (int32_t *)L->idx, next, work + n, work + 2 * n);
        TRS_ASSERT(next[n - 1] == L->nnz);
    }
    trs_lu_free(lu, work, next);
    return rc;
}

/* ---- factors without numbers ------------------------------------------------------------------------- */

/* Arrays for a triangle whose majors have so many entries; its values are those of the unit matrix. */
static int new_triangle(trs_lu *lu, const analysis *d, bool is_complex, trs_mat *m)
{
    const int64_t n = (int64_t)d->L->n, *count = d->L->ColCount;
    const size_t size = is_complex ? 16 : 8;
    int64_t *ptr = trs_lu_alloc(lu, n + 1, sizeof *ptr, "the pointers of a factor");
    *m = (trs_mat){.n = n, .ptr = ptr, .ptr_bits = 64, .idx_bits = 32};
    m->dtype = is_complex ? TRS_C64 : TRS_F64;
    if (!ptr) return TRS_EMEM;
    ptr[0] = 0;
    for (int64_t k = 0; k < n; k++) ptr[k + 1] = ptr[k] + count[k];
    m->nnz = ptr[n];
    m->idx = trs_lu_alloc(lu, m->nnz, sizeof(int32_t), "the indices of a factor");
    double *val = trs_lu_alloc(lu, m->nnz, size, "the values of a factor");
    m->val = val;
    if (!m->idx || !val) return TRS_EMEM;
    memset(val, 0, (size_t)m->nnz * size);
    for (int64_t k = 0; k < n; k++) val[ptr[k] * (is_complex ? 2 : 1)] = 1;
    return TRS_OK;
}

/* U = L' */
static int mirror(trs_lu *lu, const analysis *d, bool is_complex, trs_factors *f)
{
    const int rc = new_triangle(lu, d, is_complex, &f->U);
    if (rc) return rc;
    memcpy((void *)f->U.idx, f->L.idx, (size_t)f->L.nnz * sizeof(int32_t));
    f->U.format = TRS_CSR;
    f->U.kind = TRS_UPPER;
    f->Q = trs_lu_alloc(lu, f->L.n, sizeof *f->Q, "Q");
    if (!f->Q) return TRS_EMEM;
    memcpy(f->Q, f->P, (size_t)f->L.n * sizeof *f->Q);
    return TRS_OK;
}

static int list(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    const analysis *d = data;
    f->symbolic = true;
    f->cholesky = A->hermitian;
    f->library = "static pivots";
    f->ordering = trs_cholmod_ordering_used(d->L);
    f->P = trs_lu_alloc(lu, A->n, sizeof *f->P, "P");
    int rc = f->P ? new_triangle(lu, d, A->is_complex, &f->L) : TRS_EMEM;
    f->L.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    if (!rc) {
        memcpy(f->P, d->L->Perm, (size_t)A->n * sizeof *f->P);
        rc = find_pattern(lu, d, &f->L);
    }
    if (!rc && !f->cholesky) rc = mirror(lu, d, A->is_complex, f);
    if (rc) trs_lu_factors_free(lu, f);
    return rc;
}

const trs_method trs_method_static = {
    .name = "static", .symbolic = 1, .analyse = analyse, .numeric = list, .release = release};

#endif
