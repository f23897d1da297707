/* umfpack.c: P R A Q = L U by UMFPACK, for any square matrix, real or complex.
 *
 * Its conventions, from umfpack_get_numeric.h and checked in tests/factor/t_lu.c: (L U)(k, m) = s(P(k)) A(P(k), Q(m)), with
 * s(i) = Rs(i) if do_recip, else 1 / Rs(i), by row of A; L is by rows, with its unit diagonal stored last; U is by columns,
 * diagonal last.  For a singular A there is a warning, and a Numeric object all the same.
 * The 64-bit interfaces are used.  Complex numbers are packed, which a NULL for the imaginary part says.
 * Source: Davis, Algorithm 832: UMFPACK V4.3, ACM TOMS 30 (2004) 196-199. */
#include "config.h"

#include "factor.h"
#include "base/debug.h"

#ifdef HAVE_UMFPACK

#include <inttypes.h>
#include <string.h>
#include <umfpack.h>

typedef struct umfpack {
    bool is_complex;
    void *Symbolic;
    void *Numeric; /* of the last A, until it was copied */
    const char *ordering;
    double Control[UMFPACK_CONTROL];
    double Info[UMFPACK_INFO];
} umfpack;

/* ---- one function for real and complex ------------------------------------------------------- */

/* UMFPACK's function for real or for complex numbers, if both have the same arguments. */
#define UMFPACK(u, name) ((u)->is_complex ? umfpack_zl_##name : umfpack_dl_##name)

static int64_t symbolic(const trs_csc *A, umfpack *u)
{
    if (A->is_complex)
        return umfpack_zl_symbolic(A->n, A->n, A->p, A->i, A->x, NULL, &u->Symbolic, u->Control,
                                   u->Info);
    return umfpack_dl_symbolic(A->n, A->n, A->p, A->i, A->x, &u->Symbolic, u->Control, u->Info);
}

static int64_t numeric(const trs_csc *A, umfpack *u)
{
    if (A->is_complex)
        return umfpack_zl_numeric(A->p, A->i, A->x, NULL, u->Symbolic, &u->Numeric, u->Control,
                                  u->Info);
    return umfpack_dl_numeric(A->p, A->i, A->x, u->Symbolic, &u->Numeric, u->Control, u->Info);
}

/* Get P, Q, Rs and D, the diagonal of U. */
static int64_t get_order(const umfpack *u, trs_factors *f, double *D, int64_t *recip)
{
    if (u->is_complex)
        return umfpack_zl_get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, f->P, f->Q, D,
                                      NULL, recip, f->scale, u->Numeric);
    return umfpack_dl_get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, f->P, f->Q, D, recip,
                                  f->scale, u->Numeric);
}

static int64_t get_triangles(const umfpack *u, trs_factors *f)
{
    int64_t *Lp = (int64_t *)f->L.ptr, *Lj = (int64_t *)f->L.idx;
    int64_t *Up = (int64_t *)f->U.ptr, *Ui = (int64_t *)f->U.idx;
    double *Lx = (double *)f->L.val, *Ux = (double *)f->U.val;
    if (u->is_complex)
        return umfpack_zl_get_numeric(Lp, Lj, Lx, NULL, Up, Ui, Ux, NULL, NULL, NULL, NULL, NULL,
                                      NULL, NULL, u->Numeric);
    return umfpack_dl_get_numeric(Lp, Lj, Lx, Up, Ui, Ux, NULL, NULL, NULL, NULL, NULL, u->Numeric);
}

/* ---- analysis ------------------------------------------------------------------------------- */

static int failed(int64_t status, const char *doing)
{
    if (status == UMFPACK_ERROR_out_of_memory)
        return trs_fail(TRS_EMEM, "UMFPACK is out of memory while %s", doing);
    return trs_fail(TRS_ELIBRARY, "UMFPACK failed while %s: status %" PRId64, doing, status);
}

static int set_ordering(umfpack *u, const char *name)
{
    static const struct {
        const char *name;
        int value;
    } table[] = {{"amd", UMFPACK_ORDERING_AMD},      {"colamd", UMFPACK_ORDERING_AMD},
                 {"metis", UMFPACK_ORDERING_METIS},  {"best", UMFPACK_ORDERING_BEST},
                 {"natural", UMFPACK_ORDERING_NONE}, {"cholmod", UMFPACK_ORDERING_CHOLMOD}};
    if (!name) return TRS_OK;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        if (strcmp(name, table[k].name)) continue;
        u->Control[UMFPACK_ORDERING] = table[k].value;
        return TRS_OK;
    }
    return trs_fail(TRS_ESUPPORT, "UMFPACK has no ordering \"%s\"", name);
}

static const char *ordering_used(const umfpack *u)
{
    const bool symmetric = u->Info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC;
    switch ((int)u->Info[UMFPACK_ORDERING_USED]) {
    case UMFPACK_ORDERING_AMD:
        return symmetric ? "AMD" : "COLAMD";
    case UMFPACK_ORDERING_METIS:
        return "METIS";
    case UMFPACK_ORDERING_NONE:
        return "natural";
    default:
        return "other";
    }
}

/* The flops that are predicted: of L L' by AMD if the strategy is symmetric, else of an upper bound, which is often ten
 * times too high. */
static double flops(const umfpack *u)
{
    if (u->Info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC)
        return u->Info[UMFPACK_SYMMETRIC_FLOPS];
    return u->Info[UMFPACK_FLOPS_ESTIMATE] / 10;
}

/* AMD and COLAMD are quick, but on a large three-dimensional mesh their factors have more fill than those of METIS.  METIS
 * takes about 1 us for each entry of A, and saves half of the flops at best.  So it is tried if much work is predicted for
 * each entry, and the better of the two is used.  On a device, where a solve waits for levels more than for entries, it is
 * always tried, and may cost more: nested dissection gives between two thirds and a tenth of the levels, and ex40, with twice
 * the entries, is solved in 0.24 ms instead of 0.63.  It is no error when METIS fails or is missing. */
static void try_metis(const trs_lu *lu, const trs_csc *A, umfpack *u)
{
    const bool always = trs_few_levels_pay(lu);
    const double enough = always ? 0 : 10000,
                 most = always ? 3 : 1; /* flops for each entry; times the flops */
    umfpack m = *u;
    if (flops(u) < enough * (double)A->nnz || trs_step("ordering", -1)) return;
    m.Symbolic = NULL;
    m.Control[UMFPACK_ORDERING] = UMFPACK_ORDERING_METIS;
    if (symbolic(A, &m) >= 0 &&
        m.Info[UMFPACK_FLOPS_ESTIMATE] < most * u->Info[UMFPACK_FLOPS_ESTIMATE]) {
        UMFPACK(u, free_symbolic)(&u->Symbolic);
        *u = m;
    } else UMFPACK(u, free_symbolic)(&m.Symbolic);
}

static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    (void)named;
    umfpack *u = *data = trs_lu_alloc(lu, 1, sizeof *u, "UMFPACK's handle");
    if (!u) return TRS_EMEM;
    memset(u, 0, sizeof *u);
    u->is_complex = A->is_complex;
    UMFPACK(u, defaults)(u->Control);
    u->Control[UMFPACK_PRL] = 0;
    if (ordering && !strcmp(ordering, "best") && lu->opt.device > 0) ordering = NULL;
    int rc = set_ordering(u, ordering);
    if (rc) return rc;
    int64_t status = symbolic(A, u);
    if (status < 0) return failed(status, "ordering A");
    if (!ordering) try_metis(lu, A, u);
    u->ordering = ordering_used(u);
    return TRS_OK;
}

static void drop(trs_lu *lu, void *data)
{
    umfpack *u = data;
    (void)lu;
    UMFPACK(u, free_numeric)(&u->Numeric);
}

static void release(trs_lu *lu, void *data)
{
    umfpack *u = data;
    if (!u) return;
    drop(lu, u);
    UMFPACK(u, free_symbolic)(&u->Symbolic);
    trs_lu_free(lu, u);
}

/* ---- numeric factorisation ------------------------------------------------------------------ */

/* Refuse a factorisation with pivots that are zero or not finite. */
static int check_pivots(trs_lu *lu, const umfpack *u, const trs_factors *f, const double *D,
                        int64_t n)
{
    const int step = u->is_complex ? 2 : 1;
    int64_t first = n, good = 0, finite = 0;
    for (int64_t k = n - 1; k >= 0; k--) {
        const double *z = D + step * k;
        const bool is_finite = trs_is_finite(z, u->is_complex);
        finite += is_finite;
        if (is_finite && (z[0] != 0 || z[step - 1] != 0)) good++;
        else first = k;
    }
    if (good == n) return TRS_OK;
    TRS_ASSERT(first < n);
    lu->singular = finite == n;
    return trs_fail(TRS_EPIVOT,
                    "row %" PRId64 ", column %" PRId64 ": no pivot left, A is singular (%" PRId64
                    " of %" PRId64 " pivots found)",
                    f->P[first] + lu->base, f->Q[first] + lu->base, good, n);
}

/* Make the factors that rows are multiplied with of Rs; false: one is out of range, because a row of A is tiny. */
static bool to_multipliers(double *s, int64_t n, int64_t recip)
{
    for (int64_t i = 0; i < n; i++) {
        if (!recip) s[i] = 1 / s[i];
        if (!isfinite(s[i])) return false;
    }
    return true;
}

/* Take P, Q and the scaling, and check the pivots. */
static int take_order(trs_lu *lu, const umfpack *u, trs_factors *f, int64_t n, bool *scalable)
{
    int64_t recip = 0;
    f->P = trs_lu_alloc(lu, n, sizeof *f->P, "P");
    f->Q = trs_lu_alloc(lu, n, sizeof *f->Q, "Q");
    f->scale = trs_lu_alloc(lu, n, sizeof *f->scale, "the row scaling");
    double *D = trs_lu_alloc(lu, 2 * n, sizeof *D, "the pivots");
    int rc = f->P && f->Q && f->scale && D ? TRS_OK : TRS_EMEM;
    if (!rc && get_order(u, f, D, &recip)) rc = failed(-1, "copying P and Q");
    if (!rc) *scalable = to_multipliers(f->scale, n, recip);
    if (!rc && *scalable) rc = check_pivots(lu, u, f, D, n);
    trs_lu_free(lu, D);
    return rc;
}

/* How many entries L and U have. */
static int64_t count_entries(const umfpack *u, int64_t *lnz, int64_t *unz)
{
    int64_t rows, cols, diagonal;
    return UMFPACK(u, get_lunz)(lnz, unz, &rows, &cols, &diagonal, u->Numeric);
}

/* Copy L and U. */
static int take(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    umfpack *u = data;
    bool scalable;
    int64_t lnz, unz, status = count_entries(u, &lnz, &unz);
    if (status) return failed(status, "counting entries");
    int rc = f->P ? TRS_OK : take_order(lu, u, f, A->n, &scalable);
    if (!rc) rc = trs_triangle_new(lu, &f->L, u->is_complex, A->n, lnz);
    if (!rc) rc = trs_triangle_new(lu, &f->U, u->is_complex, A->n, unz);
    if (rc) return rc;
    f->L.format = TRS_CSR;
    f->L.kind = TRS_LOWER;
    f->U.format = TRS_CSC;
    f->U.kind = TRS_UPPER;
    status = get_triangles(u, f);
    if (status) return failed(status, "copying L and U");
    rc = trs_triangle_narrow(lu, &f->L);
    if (rc) return rc;
    return lu->opt.device > 0 ? trs_triangle_narrow(lu, &f->U) : trs_triangle_to_rows(lu, &f->U);
}

/* Factor once, with the scaling that Control asks for. */
static int attempt(trs_lu *lu, const trs_csc *A, umfpack *u, trs_factors *f, bool *scalable)
{
    drop(lu, u);
    int64_t status = numeric(A, u);
    if (status < 0) return failed(status, "factoring A");
    f->library = "UMFPACK";
    f->ordering = u->ordering;
    f->rcond = u->Info[UMFPACK_RCOND];
    status = count_entries(u, &f->L.nnz, &f->U.nnz);
    if (status) return failed(status, "counting entries");
    return take_order(lu, u, f, A->n, scalable);
}

static int factor(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    umfpack *u = data;
    bool scalable = true;
    u->Control[UMFPACK_SCALE] = UMFPACK_DEFAULT_SCALE;
    int rc = attempt(lu, A, u, f, &scalable);
    if (!rc && !scalable) { /* 1 / Rs overflows */
        trs_lu_factors_free(lu, f);
        u->Control[UMFPACK_SCALE] = UMFPACK_SCALE_NONE;
        rc = attempt(lu, A, u, f, &scalable);
    }
    return rc;
}

/* ---- solving ---------------------------------------------------------------------------------- */

static int solve(const trs_csc *A, void *data, trs_op op, double *x, const double *b, double *work)
{
    static const int system[] = {[TRS_N] = UMFPACK_A, [TRS_T] = UMFPACK_Aat, [TRS_H] = UMFPACK_At};
    umfpack *u = data;
    int64_t *Wi = (int64_t *)(work + 4 * A->n), status;
    u->Control[UMFPACK_IRSTEP] = 0;
    if (u->is_complex)
        status = umfpack_zl_wsolve(system[op], A->p, A->i, A->x, NULL, x, NULL, b, NULL, u->Numeric,
                                   u->Control, u->Info, Wi, work);
    else
        status = umfpack_dl_wsolve(system[op], A->p, A->i, A->x, x, b, u->Numeric, u->Control,
                                   u->Info, Wi, work);
    return status < 0 ? failed(status, "solving") : TRS_OK;
}

const trs_method trs_method_umfpack = {
    .name = "umfpack",
    .hermitian = 0,
    .analyse = analyse,
    .numeric = factor,
    .take = take,
    .solve = solve,
    .drop = drop,
    .release = release,
};

#endif
