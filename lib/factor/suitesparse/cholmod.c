/* cholmod.c: A(P, P) = L L^H by CHOLMOD, for Hermitian positive definite matrices.
 *
 * L is returned by columns, with ascending rows and the diagonal first.  A supernodal factor stores explicit zeros where
 * columns were merged (7 to 9 % on a grid); cholmod_resymbol drops them, so that L has its exact pattern, which depends on
 * the pattern of A alone.
 * The symbolic analysis is stored, and copied for every numeric factorisation: CHOLMOD would factor again into a simplicial
 * factor by its simplicial method, which is slow.
 * Source: Chen, Davis, Hager, Rajamanickam, Algorithm 887: CHOLMOD, ACM TOMS 35 (2008) 22:1-22:14. */
#include "config.h"

#include "cholmod.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

#include <float.h>
#include <inttypes.h>
#include <string.h>

typedef struct chol {
    cholmod_common common;
    cholmod_factor *symbolic;
    cholmod_factor *L;        /* of the last A, until take has copied it */
    cholmod_dense *x, *y, *e; /* CHOLMOD's work space for solves */
} chol;

int trs_cholmod_failed(const cholmod_common *c, const char *doing)
{
    if (c->status == CHOLMOD_OUT_OF_MEMORY || c->status == CHOLMOD_TOO_LARGE)
        return trs_fail(TRS_EMEM, "CHOLMOD is out of memory while %s", doing);
    if (c->status == CHOLMOD_NOT_INSTALLED)
        return trs_fail(TRS_ESUPPORT, "CHOLMOD was built without a module it needs for %s", doing);
    return trs_fail(TRS_ELIBRARY, "CHOLMOD failed while %s: status %d", doing, c->status);
}

cholmod_sparse trs_cholmod_view(const trs_csc *A)
{
    cholmod_sparse S = {.nzmax = (size_t)A->nnz, .p = A->p, .i = A->i, .x = A->x, .stype = -1};
    S.nrow = S.ncol = (size_t)A->n;
    S.itype = CHOLMOD_LONG;
    S.dtype = CHOLMOD_DOUBLE;
    S.xtype = A->is_complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
    S.sorted = S.packed = 1;
    return S;
}

/* ---- analysis ------------------------------------------------------------------------------- */

static const struct {
    const char *name;  /* in the options */
    const char *shown; /* in trs_lu_info */
    int value;
} orderings[] = {{"amd", "AMD", CHOLMOD_AMD},
                 {"metis", "METIS", CHOLMOD_METIS},
                 {"natural", "natural", CHOLMOD_NATURAL},
                 {"nesdis", "NESDIS", CHOLMOD_NESDIS},
                 {"colamd", "COLAMD", CHOLMOD_COLAMD}};

enum { ORDERINGS = sizeof orderings / sizeof orderings[0] };

int trs_cholmod_set_ordering(cholmod_common *c, const char *name)
{
    if (!name) return TRS_OK;
    if (!strcmp(name, "best")) {
        c->nmethods = 9;
        return TRS_OK;
    }
    for (int k = 0; k < ORDERINGS; k++) {
        if (strcmp(name, orderings[k].name)) continue;
        c->nmethods = 1;
        c->method[0].ordering = orderings[k].value;
        c->postorder = orderings[k].value != CHOLMOD_NATURAL;
        return TRS_OK;
    }
    return trs_fail(TRS_ESUPPORT, "CHOLMOD has no ordering \"%s\"", name);
}

const char *trs_cholmod_ordering_used(const cholmod_factor *L)
{
    for (int k = 0; k < ORDERINGS; k++)
        if (L->ordering == orderings[k].value) return orderings[k].shown;
    return "other";
}

/* Flops for each entry of L from which dense blocks pay.  CHOLMOD has 40; with 69, a 5-point grid of 120^2, it takes 16 ms
 * with them and 10 ms without, with 213, a 7-point grid of 16^3, 15 ms and 23 ms. */
enum { DENSE_FLOPS = 90 };

static void set_defaults(cholmod_common *c)
{
    c->print = c->useGPU = 0;
    c->final_ll = 1;
    c->supernodal_switch = DENSE_FLOPS;
}

const char *trs_cholmod_first_ordering(const trs_lu *lu, const char *name)
{
    return !name && trs_few_levels_pay(lu) ? "amd" : name;
}

int trs_cholmod_dissect(trs_lu *lu, cholmod_sparse *S, cholmod_common *c, cholmod_factor **L)
{
    const double most = 1.5, entries = c->lnz, flops = c->fl;
    if (!trs_few_levels_pay(lu) || (*L)->ordering == CHOLMOD_METIS) return TRS_OK;
    int rc = trs_step("ordering", -1);
    if (!rc) rc = trs_cholmod_set_ordering(c, "metis");
    cholmod_factor *other = rc ? NULL : cholmod_l_analyze(S, c);
    if (other && other->ordering == CHOLMOD_METIS && c->lnz <= most * entries) {
        cholmod_factor *keep = other;
        other = *L;
        *L = keep;
    } else c->lnz = entries, c->fl = flops; /* those of L */
    cholmod_l_free_factor(&other, c);
    return rc;
}

static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    (void)named;
    chol *d = *data = trs_lu_alloc(lu, 1, sizeof *d, "CHOLMOD's handle");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    cholmod_l_start(&d->common);
    set_defaults(&d->common);
    int rc = trs_cholmod_set_ordering(&d->common, trs_cholmod_first_ordering(lu, ordering));
    if (rc) return rc;
    cholmod_sparse S = trs_cholmod_view(A);
    d->symbolic = cholmod_l_analyze(&S, &d->common);
    if (!d->symbolic) return trs_cholmod_failed(&d->common, "ordering A");
    if (ordering && strcmp(ordering, "best")) return TRS_OK;
    return trs_cholmod_dissect(lu, &S, &d->common, &d->symbolic);
}

static void drop(trs_lu *lu, void *data)
{
    chol *d = data;
    (void)lu;
    cholmod_l_free_factor(&d->L, &d->common);
    cholmod_l_free_dense(&d->x, &d->common);
    cholmod_l_free_dense(&d->y, &d->common);
    cholmod_l_free_dense(&d->e, &d->common);
}

static void release(trs_lu *lu, void *data)
{
    chol *d = data;
    if (!d) return;
    drop(lu, d);
    cholmod_l_free_factor(&d->symbolic, &d->common);
    cholmod_l_finish(&d->common);
    trs_lu_free(lu, d);
}

/* ---- numeric factorisation ------------------------------------------------------------------ */

/* The sentence and the code when column k of L has no good pivot. */
static int indefinite(trs_lu *lu, const cholmod_factor *L, size_t k)
{
    const int64_t *P = L->Perm;
    return trs_fail(TRS_EPIVOT,
                    "row %" PRId64 ": A is not positive definite, or singular in working precision",
                    P[k] + lu->base);
}

/* A(j, j), which is stored. */
static double diagonal(const trs_csc *A, int64_t j)
{
    int64_t p = A->p[j];
    while (A->i[p] != j) p++;
    return A->x[A->is_complex ? 2 * p : p];
}

/* Is d, the pivot of column k, good?  d^2 is A(i, i) minus a sum of squares, i = P(k).  When almost nothing is left of
 * A(i, i), that is rounding error, and A is semidefinite or indefinite, however its rows are scaled. */
static bool is_good(const trs_csc *A, const cholmod_factor *L, size_t k, double d)
{
    const int64_t *P = L->Perm;
    TRS_ASSERT(P[k] >= 0 && P[k] < A->n);
    return isfinite(d) && d * d > 8 * DBL_EPSILON * diagonal(A, P[k]);
}

/* The first column without a good pivot, or n; of a simplicial L. */
static size_t first_bad_column(const trs_csc *A, const cholmod_factor *L)
{
    const int64_t *Lp = L->p;
    const double *Lx = L->x;
    const int64_t step = A->is_complex ? 2 : 1;
    size_t k = 0;
    while (k < L->n && is_good(A, L, k, Lx[step * Lp[k]])) k++;
    return k;
}

/* The same for a supernodal L: supernode s has columns super [s] to super [s+1]-1, in dense columns of pi [s+1] - pi [s]
 * rows from px [s] on, with the diagonal on top. */
static size_t first_bad_of_blocks(const trs_csc *A, const cholmod_factor *L)
{
    const int64_t *super = L->super, *pi = L->pi, *px = L->px;
    const double *Lx = L->x;
    const int64_t step = A->is_complex ? 2 : 1;
    for (size_t s = 0; s < L->nsuper; s++)
        for (int64_t k = super[s], p = px[s]; k < super[s + 1]; k++, p += pi[s + 1] - pi[s] + 1)
            if (!is_good(A, L, (size_t)k, Lx[step * p])) return (size_t)k;
    return L->n;
}

static int check_pivots(trs_lu *lu, const trs_csc *A, const cholmod_factor *L)
{
    const size_t k = L->is_super ? first_bad_of_blocks(A, L) : first_bad_column(A, L);
    return k < L->n ? indefinite(lu, L, k) : TRS_OK;
}

static void *copy(trs_lu *lu, const void *from, int64_t count, size_t size, const char *what)
{
    void *to = trs_lu_alloc(lu, count, size, what);
    if (to && count) memcpy(to, from, (size_t)count * size);
    return to;
}

/* Copy L by columns, with its exact pattern: a supernodal factor stores explicit zeros. */
static int take(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    chol *d = data;
    cholmod_factor *L = d->L;
    cholmod_sparse S = trs_cholmod_view(A);
    const bool was_super = L->is_super;
    if (!cholmod_l_change_factor(L->xtype, 1, 0, 1, 1, L, &d->common) ||
        (was_super && !cholmod_l_resymbol(&S, NULL, 0, 1, L, &d->common)))
        return trs_cholmod_failed(&d->common, "packing L");
    const int64_t n = (int64_t)L->n, nnz = ((const int64_t *)L->p)[n];
    f->L = (trs_mat){.n = n, .nnz = nnz, .ptr_bits = 64, .idx_bits = 32};
    f->L.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    f->L.dtype = A->is_complex ? TRS_C64 : TRS_F64;
    f->L.ptr = copy(lu, L->p, n + 1, 8, "the pointers of L");
    f->L.idx = trs_narrow(lu, L->i, nnz, n);
    f->L.val = copy(lu, L->x, nnz, A->is_complex ? 16 : 8, "the values of L");
    f->P = copy(lu, L->Perm, n, 8, "P");
    return f->L.ptr && f->L.idx && f->L.val && f->P ? TRS_OK : TRS_EMEM;
}

static int factor(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    chol *d = data;
    cholmod_common *c = &d->common;
    cholmod_sparse S = trs_cholmod_view(A);
    drop(lu, d);
    cholmod_factor *L = d->L = cholmod_l_copy_factor(d->symbolic, c);
    if (!L) return trs_cholmod_failed(c, "copying the analysis");
    int rc = TRS_OK;
    if (!cholmod_l_factorize(&S, L, c)) rc = trs_cholmod_failed(c, "factoring A");
    if (!rc && L->minor < L->n) rc = indefinite(lu, L, L->minor);
    if (!rc && c->status == CHOLMOD_NOT_POSDEF) rc = indefinite(lu, L, 0);
    if (!rc) rc = check_pivots(lu, A, L);
    if (rc) return rc;
    f->cholesky = true;
    f->library = "CHOLMOD";
    f->ordering = trs_cholmod_ordering_used(L);
    f->rcond = cholmod_l_rcond(L, c);
    f->L.nnz = (int64_t)c->lnz;
    return TRS_OK;
}

/* A = A^H */
static int solve(const trs_csc *A, void *data, trs_op op, double *x, const double *b, double *work)
{
    chol *d = data;
    const size_t n = (size_t)A->n;
    cholmod_dense B = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = (double *)b};
    (void)work, (void)op;
    B.xtype = A->is_complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
    if (!cholmod_l_solve2(CHOLMOD_A, d->L, &B, NULL, &d->x, NULL, &d->y, &d->e, &d->common))
        return trs_cholmod_failed(&d->common, "solving");
    memcpy(x, d->x->x, n * (A->is_complex ? 2 : 1) * sizeof *x);
    return TRS_OK;
}

const trs_method trs_method_cholmod = {
    .name = "cholmod",
    .hermitian = TRS_DEFINITE,
    .analyse = analyse,
    .numeric = factor,
    .take = take,
    .solve = solve,
    .drop = drop,
    .release = release,
};

#endif
