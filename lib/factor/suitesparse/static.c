/* static.c: the pattern of L and U for pivots on the diagonal, whose numbers are computed as for new values.
 *
 * Most of the time of a library goes into numbers, for which KLU and UMFPACK use one core.  With the pivots known in advance,
 *
 *     (L U)(k, m) = A(P(k), P(m))      or      L L^H = A(P, P),
 *
 * all there is to do before the numbers is to order A + A' and, for a device, to list the rows of each column of L (symbolic.c): U
 * has the pattern of L'.  Numbers are then computed on the device (device/complete.c) or by fronts on the host (again/again.c),
 * where the list is for plans alone, and the growth says whether the pivots were good.  If they were not, a library with pivoting
 * factors A.
 *
 * It is for matrices whose diagonal promises good pivots, whose pattern is nearly symmetric, and whose factors need so much
 * arithmetic that a library would take longer.
 * Source: Li, Demmel, Making sparse Gaussian elimination scalable by static pivoting, SC 1998. */
#include "config.h"

#include "klu_order.h"
#include "symbolic.h"

#include <string.h>

#ifdef HAVE_CHOLMOD

/* Flops for each entry of the factors from which fronts take less time than KLU or UMFPACK.  With fewer, as in circuits, listing the
 * pattern takes about as long as KLU's factors. */
static const double FLOPS_AN_ENTRY = 30;
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

/* flops and entries: of L L^H and L, or of L U and both */
static bool is_worth_it(double flops, double entries)
{
    return flops >= FLOPS_AN_ENTRY * entries;
}

/* Can fronts on the host be computed again for new values of A (again/again.c)? */
static bool host_may(const trs_lu *lu, const trs_csc *A)
{
    return A->by_lines && !lu->single && lu->opt.pivot != TRS_PIVOT_SKIP;
}

/* CHOLMOD is as fast when A is Hermitian. */
static bool host_should(const trs_lu *lu, const trs_csc *A)
{
    return host_may(lu, A) && !A->hermitian;
}

/* ---- analysis ---------------------------------------------------------------------------------------- */

#ifdef HAVE_KLU

/* Flops for each entry of L, and entries of L for each of A, from which METIS pays on the host, as in CHOLMOD. */
static const double METIS_FLOPS = 500, METIS_FILL = 5;

/* Entries of A + A'; A has all of its diagonal. */
static double joined_entries(const trs_csc *A, const trs_klu_order *o)
{
    return (2 - o->symmetry) * (double)(A->nnz - A->n) + (double)A->n;
}

static bool is_unsymmetric(const trs_csc *A, const trs_klu_order *o)
{
    return joined_entries(A, o) > MOST_SYMMETRIC * (double)A->nnz;
}

static double lower_entries(const trs_csc *A, const trs_klu_order *o)
{
    return (o->entries + (double)A->n) / 2;
}

/* Does METIS pay?  On a device a solve waits for levels, of which it leaves few.  On the host raefsky2 has 22 % fewer entries. */
static bool may_take_metis(const trs_lu *lu, const trs_csc *A, const trs_klu_order *o)
{
    const double lower = (joined_entries(A, o) + (double)A->n) / 2;
    if (trs_few_levels_pay(lu)) return true;
    return o->flops >= METIS_FLOPS * o->entries && lower_entries(A, o) >= METIS_FILL * lower;
}

/* As in trs_cholmod_dissect, and where levels do not count METIS must have fewer entries. */
static bool is_better(const trs_lu *lu, const trs_klu_order *metis, const trs_klu_order *other)
{
    return metis->entries <= (trs_few_levels_pay(lu) ? 1.5 : 1) * other->entries;
}

#endif

/* Order A for KLU, which then needs no other order if its prediction says that A is KLU's.  *declined: it is, or its pattern is far
 * from symmetric, which is known before it is ordered. */
static int predict(trs_lu *lu, const trs_csc *A, bool *declined)
{
#ifdef HAVE_KLU
    *declined = trs_klu_is_small(A);
    if (*declined) return TRS_OK;
    lu->order = trs_lu_alloc(lu, 1, sizeof *lu->order, "an order");
    if (!lu->order) return TRS_EMEM;
    const int rc = trs_klu_order_make(lu, A, NULL, false, lu->order);
    const trs_klu_order *o = lu->order;
    const bool few = o->Q && !is_worth_it(o->flops, o->entries);
    *declined = !rc && (few || is_unsymmetric(A, o));
    return rc;
#else
    (void)lu, (void)A;
    *declined = false;
    return TRS_OK;
#endif
}

/* By the order that predict has found, if it has, or METIS's. */
static int find_order(trs_lu *lu, const trs_csc *A, const char *ordering, trs_symbolic **d)
{
#ifdef HAVE_KLU
    trs_klu_order *o = lu->order;
    if (o && o->Q) {
        int rc = TRS_OK;
        if (may_take_metis(lu, A, o)) rc = trs_klu_order_try_metis(lu, A, o, is_better);
        if (!rc) rc = trs_symbolic_given(lu, A->n, o->Q, o->name, lower_entries(A, o), d);
        if (!rc && lu->opt.device > 0) { /* the host makes plans later, perhaps */
            (*d)->both = o->ptr, (*d)->row = o->row;
            o->ptr = o->row = NULL;
        }
        trs_klu_order_drop_pattern(lu, o);
        return rc;
    }
#endif
    return trs_symbolic_new(lu, A, ordering, NULL, 0, d);
}

/* Are A's pattern and the cost of its factors those of static pivots, if the caller has named no method? */
static bool is_ours(const trs_csc *A, trs_symbolic *d)
{
    if (d->P) return true; /* predict has looked */
    const double both = (double)cholmod_l_nnz(d->S, &d->common);
    return both <= MOST_SYMMETRIC * (double)A->nnz && is_worth_it(d->common.fl, d->common.lnz);
}

/* Does A suit, if the caller has named no method?  A's values decide, too: values that do not suit later are found by their growth. */
static int look_at(trs_lu *lu, const trs_csc *A, const char *ordering, bool *suits)
{
    const bool here = lu->opt.device <= 0;
    bool declined = false;
    *suits = !here || host_should(lu, A);
    if (*suits && !A->hermitian) *suits = is_diagonal_strong(A);
    if (!*suits || ordering) return TRS_OK;
    const int rc = predict(lu, A, &declined);
    *suits = !declined;
    return rc;
}

static int analyse(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **data)
{
    trs_symbolic *d;
    bool suits = true;
    int rc = TRS_OK;
    *data = NULL;
    if (!named) rc = look_at(lu, A, ordering, &suits);
    else if (lu->opt.device <= 0 && !host_may(lu, A))
        rc = trs_fail(TRS_ESUPPORT,
                      "static pivots on the host are for CSR and CSC, in double precision, "
                      "and not for TRS_PIVOT_SKIP");
    if (rc || !suits) return rc;
    rc = find_order(lu, A, ordering, &d);
    *data = d;
    if (rc || named) return rc;
    if (is_ours(A, d)) return TRS_OK;
    trs_symbolic_free(lu, d);
    *data = NULL;
    return TRS_OK;
}

/* ---- factors without numbers ------------------------------------------------------------------------- */

/* L by rows, of its columns. */
static void fill_rows(const trs_symbolic *d, int64_t *ptr, int64_t *next, int32_t *idx)
{
    const int64_t n = (int64_t)d->L->n;
    memset(ptr, 0, ((size_t)n + 1) * sizeof *ptr);
    for (int64_t p = 0; p < d->ptr[n]; p++) ptr[d->idx[p] + 1]++;
    for (int64_t k = 0; k < n; k++) next[k] = ptr[k], ptr[k + 1] += ptr[k];
    for (int64_t k = 0; k < n; k++)
        for (int64_t p = d->ptr[k]; p < d->ptr[k + 1]; p++) idx[next[d->idx[p]]++] = (int32_t)k;
}

/* L by rows, since a plan on the host takes those as they are. */
static int turn(trs_lu *lu, const trs_symbolic *d, bool is_complex, trs_mat *L)
{
    const int64_t n = (int64_t)d->L->n, nnz = d->ptr[n];
    int64_t *ptr = trs_lu_alloc(lu, n + 1, sizeof *ptr, "the pointers of a factor");
    int64_t *next = trs_lu_alloc(lu, n, sizeof *next, "the pointers of a factor");
    int32_t *idx = trs_lu_alloc(lu, nnz, sizeof *idx, "the indices of a factor");
    const bool there = ptr && next && idx;
    if (there) fill_rows(d, ptr, next, idx);
    trs_lu_free(lu, next);
    *L = (trs_mat){.n = n, .nnz = nnz, .ptr = ptr, .idx = idx, .ptr_bits = 64, .idx_bits = 32};
    L->dtype = is_complex ? TRS_C64 : TRS_F64;
    L->format = TRS_CSR;
    return there ? TRS_OK : TRS_EMEM;
}

/* U = L', by rows: those are the columns of L that were found. */
static int list_upper(trs_lu *lu, trs_symbolic *d, bool keeps, bool is_complex, trs_mat *U)
{
    int rc = TRS_OK;
    if (keeps) rc = trs_symbolic_triangle(lu, d, is_complex, U);
    else trs_symbolic_give(d, is_complex, U);
    U->format = TRS_CSR;
    U->kind = TRS_UPPER;
    return rc;
}

/* P = Q */
static int copy_order(trs_lu *lu, const trs_symbolic *d, trs_factors *f)
{
    const int rc = f->P ? TRS_OK : trs_symbolic_order(lu, d, &f->P);
    return rc || f->cholesky || f->Q ? rc : trs_symbolic_order(lu, d, &f->Q);
}

static int begin(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    const trs_symbolic *d = data;
    f->symbolic = true;
    f->cholesky = A->hermitian;
    f->library = "static pivots";
    f->ordering = d->name;
    f->L.nnz = (int64_t)d->common.lnz;
    f->U.nnz = f->cholesky ? 0 : f->L.nnz;
    return copy_order(lu, d, f);
}

static int list(trs_lu *lu, const trs_csc *A, void *data, trs_factors *f)
{
    trs_symbolic *d = data;
    const bool here = lu->opt.device <= 0;
    int rc = copy_order(lu, d, f);
    if (!rc) rc = trs_symbolic_find(lu, A, d);
    if (!rc && here) rc = turn(lu, d, A->is_complex, &f->L);
    if (!rc && !f->cholesky) rc = list_upper(lu, d, !here, A->is_complex, &f->U);
    if (!rc && !here) {
        trs_symbolic_give(d, A->is_complex, &f->L);
        f->L.format = TRS_CSC;
    }
    f->L.kind = TRS_LOWER;
    return rc;
}

const trs_method trs_method_static = {.name = "static",
                                      .symbolic = true,
                                      .analyse = analyse,
                                      .numeric = begin,
                                      .take = list,
                                      .release = trs_symbolic_free};

#endif
