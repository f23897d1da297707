/* cholmod.c: A(P, P) = L L^H by CHOLMOD, for Hermitian positive definite matrices.
 *
 * L is returned by columns, with ascending rows and the diagonal first.  A supernodal factor stores explicit zeros where
 * columns were merged (7 to 9 % on a grid); final_resymbol drops them, so that L has its exact pattern, which depends on
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

static void set_defaults(cholmod_common *c)
{
    c->print = c->useGPU = 0;
    /* L is to be of the form LL', simplicial, packed, with its exact pattern */
    c->final_asis = c->final_super = 0;
    c->final_ll = c->final_pack = c->final_monotonic = c->final_resymbol = 1;
}

int trs_cholmod_dissect(trs_lu *lu, cholmod_sparse *S, cholmod_common *c, cholmod_factor **L)
{
    const double most = 1.5, entries = c->lnz, flops = c->fl;
    if (lu->opt.device <= 0 || (*L)->ordering == CHOLMOD_METIS) return TRS_OK;
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
    int rc = trs_cholmod_set_ordering(&d->common, ordering);
    if (rc) return rc;
    cholmod_sparse S = trs_cholmod_view(A);
    d->symbolic = cholmod_l_analyze(&S, &d->common);
    if (!d->symbolic) return trs_cholmod_failed(&d->common, "ordering A");
    if (ordering && strcmp(ordering, "best")) return TRS_OK;
    return trs_cholmod_dissect(lu, &S, &d->common, &d->symbolic);
}

static void release(trs_lu *lu, void *data)
{
    chol *d = data;
    if (!d) return;
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

/* L(k, k)^2 is A(i, i) minus a sum of squares, i = P(k).  When almost nothing is left of A(i, i), that is rounding error,
 * and A is semidefinite or indefinite, however its rows are scaled. */
static int check_pivots(trs_lu *lu, const trs_csc *A, const cholmod_factor *L)
{
    const int64_t *Lp = L->p, *P = L->Perm;
    const double *Lx = L->x;
    const int64_t step = A->is_complex ? 2 : 1;
    for (size_t k = 0; k < L->n; k++) {
        const double d = Lx[step * Lp[k]];
        TRS_ASSERT(P[k] >= 0 && P[k] < A->n);
        if (!isfinite(d) || !(d * d > 8 * DBL_EPSILON * diagonal(A, P[k])))
            return indefinite(lu, L, k);
    }
    return TRS_OK;
}

static void *copy(trs_lu *lu, const void *from, int64_t count, size_t size, const char *what)
{
    void *to = trs_lu_alloc(lu, count, size, what);
    if (to && count) memcpy(to, from, (size_t)count * size);
    return to;
}

/* *f = the factors, copied. */
static int take(trs_lu *lu, const cholmod_factor *L, trs_factors *f, cholmod_common *c)
{
    const int64_t n = (int64_t)L->n, nnz = ((const int64_t *)L->p)[n];
    const bool is_complex = L->xtype == CHOLMOD_COMPLEX;
    f->L = (trs_mat){.n = n, .nnz = nnz, .ptr_bits = 64, .idx_bits = 32};
    f->L.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    f->L.dtype = is_complex ? TRS_C64 : TRS_F64;
    f->L.ptr = copy(lu, L->p, n + 1, 8, "the pointers of L");
    f->L.idx = trs_narrow(lu, L->i, nnz, n);
    f->L.val = copy(lu, L->x, nnz, is_complex ? 16 : 8, "the values of L");
    f->P = copy(lu, L->Perm, n, 8, "P");
    f->cholesky = true;
    f->library = "CHOLMOD";
    f->ordering = trs_cholmod_ordering_used(L);
    f->rcond = cholmod_l_rcond((cholmod_factor *)L, c);
    return f->L.ptr && f->L.idx && f->L.val && f->P ? TRS_OK : TRS_EMEM;
}

static int factor(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    chol *d = data;
    cholmod_common *c = &d->common;
    cholmod_sparse S = trs_cholmod_view(A);
    cholmod_factor *L = cholmod_l_copy_factor(d->symbolic, c);
    if (!L) return trs_cholmod_failed(c, "copying the analysis");
    int rc = TRS_OK;
    if (!cholmod_l_factorize(&S, L, c)) rc = trs_cholmod_failed(c, "factoring A");
    if (!rc && L->minor < L->n) rc = indefinite(lu, L, L->minor);
    if (!rc && c->status == CHOLMOD_NOT_POSDEF) rc = indefinite(lu, L, 0);
    if (!rc && !cholmod_l_change_factor(L->xtype, 1, 0, 1, 1, L, c))
        rc = trs_cholmod_failed(c, "packing L");
    if (!rc) rc = check_pivots(lu, A, L);
    if (!rc) rc = take(lu, L, f, c);
    cholmod_l_free_factor(&L, c);
    if (rc) trs_lu_factors_free(lu, f);
    return rc;
}

const trs_method trs_method_cholmod = {
    .name = "cholmod",
    .hermitian = TRS_DEFINITE,
    .analyse = analyse,
    .numeric = factor,
    .release = release,
};

#endif
