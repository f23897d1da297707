/* klu.c: P R A Q = L U by KLU, for matrices whose factors stay sparse: circuits, power grids.
 *
 * Its conventions, from klu.h and checked in tests/factor/t_lu.c: (L U)(k, m) = A(P(k), Q(m)) / Rs(k), where Rs is in the
 * order of the pivots; L and U are by columns, with the unit diagonal of L stored first and the diagonal of U last, once
 * they are sorted.  KLU works on one column at a time, without dense blocks, and prefers pivots on the diagonal.  So its
 * factors have the pattern that klu_order.c predicts when that of A is symmetric.
 * The 64-bit interfaces are used.
 * Source: Davis, Palamadai Natarajan, Algorithm 907: KLU, ACM TOMS 37 (2010) 36:1-36:17. */
#include "config.h"

#include "factor.h"

#ifdef HAVE_KLU

#include "klu_order.h"
#include "base/debug.h"

#include <inttypes.h>
#include <string.h>
#include <klu.h>

typedef struct klu {
    bool is_complex;
    const char *ordering;
    klu_l_common common;
    klu_l_symbolic *symbolic;
    klu_l_numeric *numeric; /* of the last A; NULL: it was copied */
} klu;

/* KLU's function for real or for complex numbers; both have the same arguments. */
#define KLU(k, name) ((k)->is_complex ? klu_zl_##name : klu_l_##name)

static void free_numeric(klu *k)
{
    KLU(k, free_numeric)(&k->numeric, &k->common);
}

/* ---- analysis ------------------------------------------------------------------------------- */

static int failed(const klu *k, const char *doing)
{
    if (k->common.status == KLU_OUT_OF_MEMORY || k->common.status == KLU_TOO_LARGE)
        return trs_fail(TRS_EMEM, "KLU is out of memory while %s", doing);
    return trs_fail(TRS_ELIBRARY, "KLU failed while %s: status %d", doing, (int)k->common.status);
}

/* If fill is little, as in circuits, power grids and small meshes, nothing is gained by the dense blocks of UMFPACK, nor by
 * its search for rows: up to about 60 flops for each entry KLU takes 0.4 to 0.95 of the time.  The bound on the entries of A
 * spares other matrices the ordering. */
enum { FEW_ENTRIES = 40, FEW_FLOPS = 60 };

/* A pivot on the diagonal is taken unless another one of its column is so many times larger.  KLU has 0.001, since on a
 * diagonal of A pivots are mostly good.  One that was matched by the pattern alone is not, one whose rounding errors are those
 * of single precision is not good enough, and small factors stay small: with 0.5 there, they have at most 17 % more entries,
 * and need no refinement.  On a device no solve is refined. */
static double tolerance(const trs_lu *lu, const trs_csc *A, const trs_klu_order *o)
{
    if (o->diagonals < 0.5 || trs_klu_is_small(A) || lu->single) return 0.5;
    return lu->opt.device > 0 ? 0.1 : 0.001;
}

static bool suits(const trs_klu_order *o, const trs_csc *A)
{
    return o->Q && (trs_klu_is_small(A) || o->flops < FEW_FLOPS * o->entries);
}

/* *o: the order, which the caller frees; *suited: A is one for KLU, or the caller has named it. */
static int find_order(trs_lu *lu, const trs_csc *A, const char *ordering, bool named,
                      trs_klu_order *o, bool *suited)
{
    int rc = TRS_OK;
    if (lu->order && !ordering && !named) {
        *o = *lu->order; /* of static.c, for the same A */
        memset(lu->order, 0, sizeof *o);
    } else rc = trs_klu_order_make(lu, A, ordering, named, o);
    *suited = !rc && (named || suits(o, A));
    if (*suited && !ordering && trs_few_levels_pay(lu))
        rc = trs_klu_order_try_metis(lu, A, o, trs_klu_order_better);
    trs_klu_order_drop_pattern(lu, o);
    return rc;
}

static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    trs_klu_order o;
    bool suited;
    *data = NULL;
    if (!named && A->nnz > FEW_ENTRIES * A->n) return TRS_OK;
    int rc = find_order(lu, A, ordering, named, &o, &suited);
    klu *k = NULL;
    if (!rc && suited) {
        k = *data = trs_lu_alloc(lu, 1, sizeof *k, "KLU's handle");
        if (!k) rc = TRS_EMEM;
    }
    if (k) {
        memset(k, 0, sizeof *k);
        k->is_complex = A->is_complex;
        k->ordering = o.name;
        klu_l_defaults(&k->common);
        k->common.btf = 0;
        k->common.tol = tolerance(lu, A, &o);
        k->symbolic = klu_l_analyze_given(A->n, A->p, A->i, o.P, o.Q, &k->common);
        if (!k->symbolic) rc = failed(k, "analysing A");
    }
    trs_klu_order_free(lu, &o);
    return rc;
}

static void release(trs_lu *lu, void *data)
{
    klu *k = data;
    if (!k) return;
    free_numeric(k);
    klu_l_free_symbolic(&k->symbolic, &k->common);
    trs_lu_free(lu, k);
}

/* ---- numeric factorisation ------------------------------------------------------------------ */

/* How many pivots are finite.  None is zero, since KLU stops at such a one. */
static int64_t finite_pivots(const klu *k)
{
    const int step = k->is_complex ? 2 : 1;
    const double *D = k->numeric->Udiag;
    int64_t finite = 0;
    for (int64_t j = 0; j < k->numeric->n; j++)
        finite += trs_is_finite(D + step * j, k->is_complex);
    return finite;
}

/* Can every row be multiplied with 1 / Rs?  It overflows where a row of A is tiny. */
static bool scalable(const klu *k)
{
    const double *Rs = k->numeric->Rs;
    for (int64_t i = 0; Rs && i < k->numeric->n; i++)
        if (!isfinite(1 / Rs[i])) return false;
    return true;
}

/* The sentence and the code when column j of A gave no pivot. */
static int singular(const trs_lu *lu, int64_t j, int64_t good, int64_t n)
{
    return trs_fail(TRS_EPIVOT,
                    "column %" PRId64 ": no pivot left, A is singular (%" PRId64 " of %" PRId64
                    " pivots found)",
                    j + lu->base, good, n);
}

static int attempt(const trs_lu *lu, const trs_csc *A, klu *k, int scaling)
{
    free_numeric(k);
    k->common.scale = scaling;
    k->numeric = KLU(k, factor)(A->p, A->i, A->x, k->symbolic, &k->common);
    if (k->numeric) return TRS_OK;
    if (k->common.status != KLU_SINGULAR) return failed(k, "factoring A");
    return singular(lu, k->common.singular_col, k->common.numerical_rank, A->n);
}

/* Choose pivots, with rows scaled by their sums. */
static int factor_numbers(const trs_lu *lu, const trs_csc *A, klu *k)
{
    enum { NO_SCALING = 0, BY_SUM = 1 };
    int rc = attempt(lu, A, k, BY_SUM);
    if (!rc && !scalable(k)) rc = attempt(lu, A, k, NO_SCALING);
    if (rc) return rc;
    const int64_t good = finite_pivots(k);
    if (good == A->n) return TRS_OK;
    return trs_fail(TRS_EPIVOT,
                    "A cannot be factored: %" PRId64 " of %" PRId64 " pivots are not finite",
                    A->n - good, A->n);
}

/* ---- the factors ---------------------------------------------------------------------------- */

/* x = the complex numbers re + i im. */
static void zip(double *x, const double *re, const double *im, int64_t count)
{
    for (int64_t p = 0; p < count; p++) x[2 * p] = re[p], x[2 * p + 1] = im[p];
}

/* Copy P, Q, Rs, and the triangles; Rs is NULL when there is no scaling. */
static int copy_complex(trs_lu *lu, klu *k, trs_factors *f, double *Rs)
{
    double *L = trs_lu_alloc(lu, 2 * f->L.nnz, sizeof *L, "the values of L");
    double *U = trs_lu_alloc(lu, 2 * f->U.nnz, sizeof *U, "the values of U");
    int rc = L && U ? TRS_OK : TRS_EMEM;
    if (!rc &&
        !klu_zl_extract(k->numeric, k->symbolic, (int64_t *)f->L.ptr, (int64_t *)f->L.idx, L,
                        L + f->L.nnz, (int64_t *)f->U.ptr, (int64_t *)f->U.idx, U, U + f->U.nnz,
                        NULL, NULL, NULL, NULL, f->P, f->Q, Rs, NULL, &k->common))
        rc = failed(k, "copying L and U");
    if (!rc) zip((double *)f->L.val, L, L + f->L.nnz, f->L.nnz);
    if (!rc) zip((double *)f->U.val, U, U + f->U.nnz, f->U.nnz);
    trs_lu_free(lu, L, U);
    return rc;
}

static int copy(trs_lu *lu, klu *k, trs_factors *f, double *Rs)
{
    if (k->is_complex) return copy_complex(lu, k, f, Rs);
    if (klu_l_extract(k->numeric, k->symbolic, (int64_t *)f->L.ptr, (int64_t *)f->L.idx,
                      (double *)f->L.val, (int64_t *)f->U.ptr, (int64_t *)f->U.idx,
                      (double *)f->U.val, NULL, NULL, NULL, f->P, f->Q, Rs, NULL, &k->common))
        return TRS_OK;
    return failed(k, "copying L and U");
}

/* Allocate P, Q and, if rows are scaled, the scaling by row of A and by pivot. */
static int new_order(trs_lu *lu, trs_factors *f, int64_t n, bool scaled, double **Rs)
{
    f->P = trs_lu_alloc(lu, n, sizeof *f->P, "P");
    f->Q = trs_lu_alloc(lu, n, sizeof *f->Q, "Q");
    if (!f->P || !f->Q) return TRS_EMEM;
    if (!scaled) return TRS_OK;
    *Rs = trs_lu_alloc(lu, n, sizeof **Rs, "the row scaling");
    f->scale = trs_lu_alloc(lu, n, sizeof *f->scale, "the row scaling");
    return *Rs && f->scale ? TRS_OK : TRS_EMEM;
}

/* The form in which plans take L and U fastest.  On a device they are sorted by columns. */
static int arrange(trs_lu *lu, trs_factors *f)
{
    int (*const change)(trs_lu *, trs_mat *) =
        lu->opt.device > 0 ? trs_triangle_narrow : trs_triangle_to_rows;
    const int rc = change(lu, &f->L);
    return rc ? rc : change(lu, &f->U);
}

/* Copy the factors. */
static int copy_factors(trs_lu *lu, klu *k, trs_factors *f)
{
    const int64_t n = k->numeric->n;
    const bool scaled = k->numeric->Rs != NULL;
    double *Rs = NULL;
    if (lu->opt.device > 0 && !KLU(k, sort)(k->symbolic, k->numeric, &k->common))
        return failed(k, "sorting L and U");
    int rc = new_order(lu, f, n, scaled, &Rs);
    if (!rc) rc = trs_triangle_new(lu, &f->L, k->is_complex, n, k->numeric->lnz);
    if (!rc) rc = trs_triangle_new(lu, &f->U, k->is_complex, n, k->numeric->unz);
    f->L.format = f->U.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    f->U.kind = TRS_UPPER;
    if (!rc) rc = copy(lu, k, f, Rs);
    for (int64_t i = 0; i < n && scaled && !rc; i++) {
        TRS_ASSERT(f->P[i] >= 0 && f->P[i] < n);
        f->scale[f->P[i]] = 1 / Rs[i];
    }
    trs_lu_free(lu, Rs);
    return rc ? rc : arrange(lu, f);
}

static void name(klu *k, trs_factors *f)
{
    f->library = "KLU";
    f->ordering = k->ordering;
    KLU(k, rcond)(k->symbolic, k->numeric, &k->common);
    f->rcond = k->common.rcond;
    f->L.nnz = k->numeric->lnz;
    f->U.nnz = k->numeric->unz;
}

/* ---- factoring ------------------------------------------------------------------------------ */

static int factor(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    klu *k = data;
    const int rc = factor_numbers(lu, A, k);
    if (rc) free_numeric(k);
    else name(k, f);
    return rc;
}

static int take(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    (void)A;
    return copy_factors(lu, data, f);
}

static void drop(trs_lu *lu, void *data)
{
    (void)lu;
    free_numeric(data);
}

static int solve(const trs_csc *A, void *data, trs_op op, double *x, const double *b, double *work)
{
    klu *k = data;
    const int64_t n = A->n;
    bool solved;
    (void)work;
    memcpy(x, b, (size_t)n * (k->is_complex ? 2 : 1) * sizeof *x);
    if (op == TRS_N) solved = KLU(k, solve)(k->symbolic, k->numeric, n, 1, x, &k->common);
    else if (!k->is_complex) solved = klu_l_tsolve(k->symbolic, k->numeric, n, 1, x, &k->common);
    else solved = klu_zl_tsolve(k->symbolic, k->numeric, n, 1, x, op == TRS_H, &k->common);
    return solved ? TRS_OK : failed(k, "solving");
}

const trs_method trs_method_klu = {
    .name = "klu",
    .hermitian = TRS_ANY,
    .analyse = analyse,
    .numeric = factor,
    .take = take,
    .solve = solve,
    .drop = drop,
    .release = release,
};

#endif
