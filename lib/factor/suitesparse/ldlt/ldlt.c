/* ldlt.c: A(P, P) = L D L^H for Hermitian matrices that need not be definite.
 *
 * Every order of a quasi-definite matrix [K B'; B -M], with K and M positive definite, has such factors with numbers in D
 * (Vanderbei 1995), as interior-point methods meet them.  If a number on the diagonal of the first A is zero, as in saddle points,
 * D has blocks of 2 x 2 numbers as well, whose rows are found before A is ordered (pairs.c).  Pivots stay on the diagonal: what is
 * small there, or has another sign than the caller expects, `boost` replaces and counts; a step of refinement repairs what
 * rounding adds.
 * Source: Vanderbei, Symmetric quasidefinite matrices, SIAM J. Optimization 5 (1995) 100-113. */
#include "config.h"

#include "numbers.h"
#include "pairs.h"
#include "trust.h"

#ifdef HAVE_CHOLMOD

#include <float.h>
#include <string.h>

/* Columns with nearly the same rows become runs: 5 % of entries that are zero made factors of maros-r7's KKT system in 56 ms
 * instead of 83, and did not matter where runs are short.  A device, which factors later values, has runs of its own. */
static const double ZEROS = 0.05;

/* On a device other methods prefer nested dissection, which has fewer levels.  It eliminates rows of a KKT system that have only
 * their regularisation before those that give them good pivots: that of stocfor3 then has a pivot that is zero.  So AMD orders,
 * unless its elimination tree has many levels and METIS makes it this much less deep.  AMD's order returns if the first pivots
 * of the other one are zero or replaced, or if its factors grow beyond MUCH_GROWTH. */
static const double MUCH_DEEPER = 1.5, MUCH_GROWTH = 1e12;
enum { MANY_LEVELS = 256 };

/* If the caller has named no method: on the host KLU is as fast with fewer flops for each entry of L, and the blocks of UMFPACK with
 * more of them. */
static const double FEW_FLOPS_AN_ENTRY = 40, MOST_FLOPS_AN_ENTRY = 500;
/* ... and the backward error of a solve must be that of L U, where a step of refinement follows before and after it, and in single
 * precision before x is rounded. */
static const double GOOD_BEFORE = 1e-9, GOOD_AFTER = 4 * DBL_EPSILON;

typedef struct analysis {
    trs_symbolic *d;
    bool named;         /* by the caller */
    trs_ldlt_rows rows; /* lists from the first factorisation on */
    /* the order is METIS's, and the caller has not asked for it */
    bool chosen;
} analysis;

/* Which rows are pairs?  Where the caller knows the signs of all pivots, none are. */
static int find_pairs(trs_lu *lu, const trs_csc *A, trs_ldlt_rows *r)
{
    if (lu->signs || !trs_pairs_needed(A)) return TRS_OK;
    r->mate = trs_lu_alloc(lu, A->n, sizeof *r->mate, "pivots of two rows");
    r->scale = trs_lu_alloc(lu, A->n, sizeof *r->scale, "pivots of two rows");
    return r->mate && r->scale ? trs_pairs_find(lu, A, r->mate, r->scale) : TRS_EMEM;
}

/* *levels: those of the elimination tree.  TRS_OK, TRS_EMEM. */
static int find_depth(trs_lu *lu, const trs_symbolic *d, int64_t *levels)
{
    const int64_t n = (int64_t)d->L->n;
    int64_t *level = trs_lu_alloc(lu, n, sizeof *level, "the depth of a tree");
    *levels = 0;
    if (!level) return TRS_EMEM;
    memset(level, 0, (size_t)n * sizeof *level);
    for (int64_t j = 0; j < n; j++) {
        if (level[j] >= *levels) *levels = level[j] + 1;
        if (d->ptr[j] + 1 == d->ptr[j + 1]) continue;
        const int32_t parent = d->idx[d->ptr[j] + 1];
        if (level[parent] <= level[j]) level[parent] = level[j] + 1;
    }
    trs_lu_free(lu, level);
    return TRS_OK;
}

static int find_order(trs_lu *lu, const trs_csc *A, const char *ordering, const int32_t *mate,
                      trs_symbolic **d)
{
    const double zeros = lu->opt.device <= 0 ? ZEROS : 0;
    int rc = trs_symbolic_new(lu, A, ordering, mate, zeros, d);
    if (!rc) rc = trs_symbolic_find(lu, A, *d);
    return rc;
}

/* levels: those of AMD's order.  If METIS's order is much less deep, it replaces a->d. */
static int try_metis(trs_lu *lu, const trs_csc *A, int64_t levels, analysis *a)
{
    trs_symbolic *other = NULL;
    int64_t fewer;
    int rc = find_order(lu, A, "metis", a->rows.mate, &other);
    if (!rc) rc = find_depth(lu, other, &fewer);
    if (!rc && (double)levels > MUCH_DEEPER * (double)fewer) {
        trs_symbolic *const worse = a->d;
        a->d = other;
        other = worse;
        a->chosen = true;
    }
    trs_symbolic_free(lu, other);
    if (rc != TRS_ESUPPORT) return rc;
    trs_forget(); /* this build has no METIS */
    return TRS_OK;
}

/* The caller leaves the order to us. */
static int choose_order(trs_lu *lu, const trs_csc *A, analysis *a)
{
    int64_t levels = 0;
    int rc = find_order(lu, A, "amd", a->rows.mate, &a->d);
    if (!rc) rc = find_depth(lu, a->d, &levels);
    return rc || levels < MANY_LEVELS ? rc : try_metis(lu, A, levels, a);
}

/* May these factors be used though the caller has not asked for them?  A library that solves itself needs no plans for one solve. */
static bool may_choose(const trs_lu *lu)
{
    if (lu->single || lu->opt.pivot == TRS_PIVOT_SKIP) return false;
    return lu->opt.device > 0 || lu->opt.solves != 1;
}

/* Those of L L^H. */
static double flops_an_entry(const trs_symbolic *d)
{
    const int64_t n = (int64_t)d->L->n;
    double flops = 0;
    for (int64_t j = 0; j < n; j++) {
        const double count = (double)(d->ptr[j + 1] - d->ptr[j]);
        flops += count * count;
    }
    return flops / (double)d->ptr[n];
}

static void release(trs_lu *lu, void *data)
{
    analysis *a = data;
    if (!a) return;
    trs_ldlt_rows_free(lu, &a->rows);
    trs_lu_free(lu, a->rows.mate, a->rows.scale);
    trs_symbolic_free(lu, a->d);
    trs_lu_free(lu, a);
}

/* rc: of the ordering, which may be one that only other methods know. */
static bool is_declined(const trs_lu *lu, const analysis *a, int rc)
{
    if (rc == TRS_ESUPPORT) trs_forget();
    if (rc) return rc == TRS_ESUPPORT;
    const double flops = flops_an_entry(a->d);
    return lu->opt.device <= 0 && (flops < FEW_FLOPS_AN_ENTRY || flops > MOST_FLOPS_AN_ENTRY);
}

static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    *data = NULL;
    if (!named && !may_choose(lu)) return TRS_OK;
    analysis *a = *data = trs_lu_alloc(lu, 1, sizeof *a, "an analysis");
    if (!a) return TRS_EMEM;
    memset(a, 0, sizeof *a);
    a->named = named;
    int rc = find_pairs(lu, A, &a->rows);
    if (!rc && !ordering && lu->opt.device > 0) rc = choose_order(lu, A, a);
    else if (!rc) rc = find_order(lu, A, ordering, a->rows.mate, &a->d);
    if (!named && is_declined(lu, a, rc)) {
        release(lu, a);
        *data = NULL;
        return TRS_OK;
    }
    a->rows.d = a->d;
    if (!rc) rc = trs_ldlt_rows_make(lu, A, &a->rows);
    return rc;
}

/* Return to AMD's order. */
static int order_again(trs_lu *lu, const trs_csc *A, analysis *a)
{
    trs_symbolic_free(lu, a->d);
    trs_ldlt_rows_free(lu, &a->rows);
    a->chosen = false;
    int rc = find_order(lu, A, "amd", a->rows.mate, &a->d);
    a->rows.d = a->d;
    if (!rc) rc = trs_ldlt_rows_make(lu, A, &a->rows);
    return rc;
}

static int factor_in_order(trs_lu *lu, const trs_csc *A, const analysis *a, trs_factors *f)
{
    f->cholesky = true;
    f->library = "LDL'";
    f->ordering = trs_cholmod_ordering_used(a->d->L);
    f->sign = trs_lu_alloc(lu, A->n, sizeof *f->sign, "the signs of pivots");
    int rc = f->sign ? trs_symbolic_order(lu, a->d, &f->P) : TRS_EMEM;
    if (!rc && a->rows.second) {
        f->block = trs_lu_alloc(lu, 4 * A->n, sizeof *f->block, "pivots of two rows");
        if (!f->block) rc = TRS_EMEM;
    }
    if (!rc) rc = trs_symbolic_triangle(lu, a->d, A->is_complex, &f->L);
    f->L.format = TRS_CSC;
    f->L.kind = TRS_LOWER;
    if (!rc)
        f->L.val = trs_lu_alloc(lu, f->L.nnz, A->is_complex ? 16 : 8, "the values of a factor");
    if (!rc && !f->L.val) rc = TRS_EMEM;
    if (!rc) rc = trs_ldlt_run(lu, A, &a->rows, f);
    if (rc) trs_lu_factors_free(lu, f);
    return rc;
}

/* As trs_lu_status defines it. */
static double growth(const trs_csc *A, const trs_factors *f)
{
    double most = 0;
    for (int64_t p = 0; p < A->nnz; p++) most = fmax(most, trs_csc_size(A, p));
    return f->largest_l * f->largest_l / most;
}

/* Is x as exact as with L U?  TRS_EPIVOT: it is not. */
static int check_trust(trs_lu *lu, const trs_csc *A, const trs_factors *f)
{
    const bool low = lu->dtype == TRS_F32 || lu->dtype == TRS_C32;
    const bool refines = lu->opt.device <= 0 && !low;
    double omega[2];
    const int rc = trs_ldlt_measure(lu, A, f, omega);
    if (rc) return rc;
    bool good = lu->info.boosted == 0;
    if (refines || low) good = good && omega[0] <= GOOD_BEFORE && omega[1] <= GOOD_AFTER;
    else good = good && omega[0] <= trs_lu_accurate(A->n);
    if (good) return TRS_OK;
    lu->info.boosted = 0;
    lu->info.first_boosted = -1;
    return trs_fail(TRS_EPIVOT, "the pivots of L D L^H are not good enough");
}

static int factor_and_order(trs_lu *lu, const trs_csc *A, analysis *a, trs_factors *f)
{
    int rc = factor_in_order(lu, A, a, f);
    const bool bad =
        rc == TRS_EPIVOT || (!rc && (lu->info.boosted > 0 || growth(A, f) > MUCH_GROWTH));
    if (!bad || !a->chosen) return rc;
    if (rc) trs_forget();
    trs_lu_factors_free(lu, f);
    rc = order_again(lu, A, a);
    return rc ? rc : factor_in_order(lu, A, a, f);
}

static int factor(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    analysis *a = data;
    int rc = factor_and_order(lu, A, a, f);
    if (rc || a->named) return rc;
    rc = check_trust(lu, A, f);
    if (rc) trs_lu_factors_free(lu, f);
    return rc;
}

static int renew(trs_lu *lu, const trs_csc *A, const void *data, trs_factors *f)
{
    const analysis *a = data;
    return trs_ldlt_run(lu, A, &a->rows, f);
}

const trs_method trs_method_ldlt = {.name = "ldlt",
                                    .hermitian = TRS_INDEFINITE,
                                    .analyse = analyse,
                                    .numeric = factor,
                                    .renew = renew,
                                    .release = release};

#endif
