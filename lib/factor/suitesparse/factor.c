/* factor.c: which library factors A.  CHOLMOD does when A is Hermitian with a positive diagonal, KLU does when its factors
 * promise to stay sparse, as those of circuits do, and UMFPACK does in every other case, also when one of these breaks
 * down.
 *
 * For the next values of A the method, its symbolic analysis and the pattern that was analysed are kept. */
#include "config.h"

#include "factor.h"
#include "klu_order.h"
#include "base/debug.h"
#include "base/nearest.h"
#include "trisolve-suitesparse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct backend {
    char wanted[16];   /* the method that the caller named; "": none was named */
    char ordering[16]; /* "": the default */
    int first;         /* of the table: those before did not suit the pattern, or broke down */
    bool known;        /* the first A has set n and dtype */
    int64_t n;
    trs_dtype dtype;
    bool waits;               /* L and U stay in the library for now (lu_first.c) */
    const trs_method *method; /* what made symbolic; NULL: there is none */
    void *symbolic;
    trs_csc pattern; /* what was analysed; x = NULL, unless solves or updates need it */
    int64_t *next;   /* [n] scratch of the test of symmetry; NULL: none yet */
} backend;

/* ---- the table ------------------------------------------------------------------------------ */

/* If the caller has named none, the first that suits A is used. */
static const trs_method *const methods[] = {
#ifdef HAVE_CHOLMOD
    &trs_method_static,  &trs_method_ldlt, &trs_method_cholmod,
#endif
#ifdef HAVE_KLU
    &trs_method_klu,
#endif
#ifdef HAVE_UMFPACK
    &trs_method_umfpack,
#endif
};

enum { METHODS = sizeof methods / sizeof methods[0] };

/* Its place in the table, or -1. */
static int method_named(const char *name)
{
    for (int k = 0; k < METHODS; k++)
        if (!strcmp(methods[k]->name, name)) return k;
    return -1;
}

#define STRING_(x)               #x
#define STRING(x)                STRING_(x)
#define LIBRARY_VERSION(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

#ifdef HAVE_UMFPACK
#include <umfpack.h>
#define UMFPACK_VERSION_TEXT                                                                       \
    "UMFPACK " LIBRARY_VERSION(UMFPACK_MAIN_VERSION, UMFPACK_SUB_VERSION, UMFPACK_SUBSUB_VERSION)
#else
#define UMFPACK_VERSION_TEXT "no UMFPACK"
#endif
#ifdef HAVE_CHOLMOD
#include <cholmod.h>
#define CHOLMOD_VERSION_TEXT                                                                       \
    "CHOLMOD " LIBRARY_VERSION(CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION)
#else
#define CHOLMOD_VERSION_TEXT "no CHOLMOD"
#endif

#ifdef HAVE_KLU
#include <klu.h>
#define KLU_VERSION_TEXT                                                                           \
    "KLU " LIBRARY_VERSION(KLU_MAIN_VERSION, KLU_SUB_VERSION, KLU_SUBSUB_VERSION)
#else
#define KLU_VERSION_TEXT "no KLU"
#endif

const char *trs_suitesparse_version(void)
{
    return UMFPACK_VERSION_TEXT ", " CHOLMOD_VERSION_TEXT ", " KLU_VERSION_TEXT;
}

/* ---- triangles that a library fills --------------------------------------------------------- */

int32_t *trs_narrow(trs_lu *lu, const int64_t *from, int64_t count, int64_t n)
{
    int32_t *to = trs_lu_alloc(lu, count, sizeof *to, "the indices of a factor");
    for (int64_t p = 0; to && p < count; p++) {
        TRS_ASSERT(from[p] >= 0 && from[p] < n);
        to[p] = (int32_t)from[p];
    }
    return to;
}

int trs_triangle_new(trs_lu *lu, trs_mat *m, bool is_complex, int64_t n, int64_t nnz)
{
    *m = (trs_mat){.n = n, .nnz = nnz, .ptr_bits = 64, .idx_bits = 64};
    m->dtype = is_complex ? TRS_C64 : TRS_F64;
    m->ptr = trs_lu_alloc(lu, n + 1, 8, "the pointers of a factor");
    m->idx = trs_lu_alloc(lu, nnz, 8, "the indices of a factor");
    m->val = trs_lu_alloc(lu, nnz, is_complex ? 16 : 8, "the values of a factor");
    return m->ptr && m->idx && m->val ? TRS_OK : TRS_EMEM;
}

int trs_triangle_narrow(trs_lu *lu, trs_mat *m)
{
    int32_t *to = trs_narrow(lu, m->idx, m->nnz, m->n);
    if (!to) return TRS_EMEM;
    trs_lu_free(lu, (void *)m->idx);
    m->idx = to;
    m->idx_bits = 32;
    return TRS_OK;
}

/* The bytes of a number. */
static size_t size_of(const trs_mat *m)
{
    return m->dtype == TRS_C64 ? 16 : 8;
}

/* to = m by rows, where m has columns in any order; columns ascend in each row. */
static void fill_rows(const trs_mat *m, trs_mat *to)
{
    const int64_t *from = m->ptr, *row = m->idx;
    const size_t size = size_of(m);
    int64_t *ptr = (int64_t *)to->ptr;
    /* the place of the next entry of row i; in the end the first of row i + 1 */
    int64_t *next = ptr + 1;
    int32_t *column = (int32_t *)to->idx;
    memset(ptr, 0, ((size_t)m->n + 2) * sizeof *ptr);
    for (int64_t p = 0; p < m->nnz; p++) next[row[p] + 1]++;
    for (int64_t i = 0; i < m->n; i++) next[i + 1] += next[i];
    for (int64_t j = 0; j < m->n; j++)
        for (int64_t p = from[j]; p < from[j + 1]; p++) {
            const int64_t q = next[row[p]]++;
            column[q] = (int32_t)j;
            if (size == 8) ((double *)to->val)[q] = ((const double *)m->val)[p];
            else
                memcpy((char *)to->val + size * (size_t)q, (const char *)m->val + size * (size_t)p,
                       size);
        }
}

int trs_triangle_to_rows(trs_lu *lu, trs_mat *m)
{
    trs_mat to = *m;
    to.format = TRS_CSR;
    to.idx_bits = 32;
    to.ptr = trs_lu_alloc(lu, m->n + 2, 8, "the pointers of a factor");
    to.idx = trs_lu_alloc(lu, m->nnz, 4, "the indices of a factor");
    to.val = trs_lu_alloc(lu, m->nnz, size_of(m), "the values of a factor");
    const bool good = to.ptr && to.idx && to.val;
    if (good) fill_rows(m, &to);
    trs_mat *old = good ? m : &to;
    trs_lu_free(lu, (void *)old->ptr, (void *)old->idx, (void *)old->val);
    if (good) *m = to;
    return good ? TRS_OK : TRS_EMEM;
}

/* ---- is A Hermitian, with a positive real diagonal? ------------------------------------------- */

/* Are the values of entries p and q conjugates of each other? */
static bool conjugates(const trs_csc *A, int64_t p, int64_t q)
{
    if (!A->is_complex) return A->x[p] == A->x[q];
    return A->x[2 * p] == A->x[2 * q] && A->x[2 * p + 1] == -A->x[2 * q + 1];
}

static bool positive(const trs_csc *A, int64_t p)
{
    if (!A->is_complex) return A->x[p] > 0;
    return A->x[2 * p] > 0 && A->x[2 * p + 1] == 0;
}

/* Does the part of column j that begins at *p, and must not begin above the diagonal, begin with a good diagonal?  *p moves
 * behind that.  If A may be indefinite, a zero on the diagonal need not be stored. */
static bool pass_diagonal(const trs_csc *A, int64_t j, bool definite, int64_t *p)
{
    const bool stored = *p < A->p[j + 1] && A->i[*p] == j;
    if (!stored) return !definite && (*p == A->p[j + 1] || A->i[*p] > j);
    if (definite ? !positive(A, *p) : A->is_complex && A->x[2 * *p + 1] != 0) return false;
    ++*p;
    return true;
}

/* w [j] moves along column j, whose rows ascend.  Each entry (i, j) below the diagonal must have its mirror image (j, i) at
 * w [i], which then moves on.  So when the columns before j are done, w [j] has passed all entries above the diagonal of
 * column j, and must be at the diagonal.  Returns the first column where this fails, or n. */
static int64_t first_unsymmetric(const trs_csc *A, bool definite, int64_t *w)
{
    const int64_t *const ptr = A->p, *const idx = A->i;
    memcpy(w, ptr, (size_t)A->n * sizeof *w);
    for (int64_t j = 0; j < A->n; j++) {
        const int64_t end = ptr[j + 1];
        int64_t p = w[j];
        if (!pass_diagonal(A, j, definite, &p)) return j;
        for (; p < end; p++) {
            const int64_t i = idx[p], q = w[i]++; /* the places of A(i, j) and of A(j, i) */
            TRS_ASSERT(i > j && q <= ptr[i + 1]);
            if (q == ptr[i + 1] || idx[q] != j || !conjugates(A, p, q)) return j;
        }
    }
    return A->n;
}

static int first_not_hermitian(trs_lu *lu, backend *b, const trs_csc *A, bool definite,
                               int64_t *column)
{
    if (!b->next) b->next = trs_lu_alloc(lu, A->n, sizeof *b->next, "the test of symmetry");
    if (!b->next) return TRS_EMEM;
    *column = first_unsymmetric(A, definite, b->next);
    return TRS_OK;
}

/* Of a Hermitian A. */
static bool is_diagonal_positive(const trs_csc *A)
{
    for (int64_t j = 0; j < A->n; j++) {
        int64_t p = A->p[j];
        while (p < A->p[j + 1] && A->i[p] < j) p++;
        if (!pass_diagonal(A, j, true, &p)) return false;
    }
    return true;
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* An empty row or column is refused before any work is done. */
static int refuse_empty_lines(trs_lu *lu, const trs_csc *A)
{
    char *seen = trs_lu_alloc(lu, A->n, 1, "the test for empty rows");
    if (!seen) return TRS_EMEM;
    int rc = TRS_OK;
    memset(seen, 0, (size_t)A->n);
    for (int64_t p = 0; p < A->nnz; p++) seen[A->i[p]] = 1;
    for (int64_t k = 0; k < A->n && !rc; k++)
        if (!seen[k] || A->p[k] == A->p[k + 1])
            rc = trs_fail(TRS_EPIVOT, "%s %" PRId64 " is empty: A is singular",
                          seen[k] ? "column" : "row", k + lu->base);
    lu->singular = rc != TRS_OK;
    trs_lu_free(lu, seen);
    return rc;
}

/* ---- factoring ------------------------------------------------------------------------------ */

/* Release the symbolic analysis. */
static void forget(trs_lu *lu, backend *b)
{
    lu->refined = NULL;
    if (b->method) b->method->release(lu, b->symbolic);
    b->method = NULL;
    b->symbolic = NULL;
    trs_lu_csc_free(lu, &b->pattern);
}

static void release(trs_lu *lu, void *data)
{
    backend *b = data;
    forget(lu, b);
    trs_lu_free(lu, b->next, b);
}

/* Has this method analysed the pattern of A? */
static bool is_known(const backend *b, const trs_csc *A, const trs_method *method)
{
    const trs_csc *was = &b->pattern;
    return b->method == method && was->p && was->n == A->n && was->nnz == A->nnz &&
           !memcmp(was->p, A->p, ((size_t)A->n + 1) * sizeof *A->p) &&
           !memcmp(was->i, A->i, (size_t)A->nnz * sizeof *A->i);
}

/* Copy L and U to f, and let the library free them. */
static int take(trs_lu *lu, backend *b, const trs_csc *A, trs_factors *f)
{
    int rc = TRS_OK;
    if (!f->L.ptr) rc = b->method->take(lu, A, b->symbolic, f);
    if (!rc && b->method->drop) b->method->drop(lu, b->symbolic);
    return rc;
}

/* Free what take copies, and leave the names. */
static void free_arrays(trs_lu *lu, trs_factors *f)
{
    trs_lu_free(lu, f->P, f->Q, f->scale);
    f->P = f->Q = NULL;
    f->scale = NULL;
}

/* Factor A, whose pattern was analysed. */
static int run_numeric(trs_lu *lu, backend *b, const trs_csc *A, trs_factors *f)
{
    int rc = trs_step("factorization", -1);
    if (!rc) rc = b->method->numeric(lu, A, b->symbolic, f);
    if (f->symbolic && f->cholesky) b->waits = false; /* its fronts do not solve */
    if (!rc && !b->waits) rc = take(lu, b, A, f);
    if (rc) trs_lu_factors_free(lu, f);
    else if (b->waits && b->method->take && !f->symbolic) free_arrays(lu, f);
    return rc;
}

/* Factor A by this method; the analysis is done again only if it is of another pattern.  *suited: the method is one for
 * this pattern, or the caller has named it, or there is no other. */
static int run(trs_lu *lu, backend *b, const trs_csc *A, int k, trs_factors *f, bool *suited)
{
    TRS_ASSERT(k >= 0 && k < METHODS);
    const trs_method *method = methods[k];
    const bool named = *b->wanted || k == METHODS - 1;
    int rc = TRS_OK;
    if (!is_known(b, A, method)) {
        forget(lu, b);
        b->method = method;
        rc = trs_step("ordering", -1);
        if (!rc)
            rc = method->analyse(lu, A, *b->ordering ? b->ordering : NULL, named, &b->symbolic);
        if (rc || !b->symbolic) forget(lu, b);
    }
    *suited = rc || b->method;
    if (rc || !*suited) return rc;
    return run_numeric(lu, b, A, f);
}

static void drop_order(trs_lu *lu)
{
#ifdef HAVE_KLU
    if (!lu->order) return;
    trs_klu_order_free(lu, lu->order);
    trs_lu_free(lu, lu->order);
    lu->order = NULL;
#else
    (void)lu;
#endif
}

/* Factor A by the first method that suits it and does not break down. */
static int run_first(trs_lu *lu, backend *b, const trs_csc *A, trs_factors *f)
{
    for (int k = b->first; k < METHODS; k++) {
        bool suited;
        if (methods[k]->hermitian == TRS_INDEFINITE && !A->indefinite) continue;
        if (methods[k]->hermitian == TRS_DEFINITE && !A->hermitian) continue;
        const int rc = run(lu, b, A, k, f, &suited);
        if (suited && (rc != TRS_EPIVOT || k == METHODS - 1)) return rc;
        trs_lu_factors_free(lu, f);
        b->first = k + 1;
    }
    return trs_fail(TRS_ESUPPORT, "A is not Hermitian, and this build has no UMFPACK");
}

/* Factor A by the method that the caller has named. */
static int run_wanted(trs_lu *lu, backend *b, const trs_csc *A, int64_t unlike, trs_factors *f)
{
    bool suited;
    const int k = method_named(b->wanted);
    TRS_ASSERT(k >= 0 && unlike >= 0 && unlike <= A->n);
    if (!methods[k]->hermitian || unlike == A->n) return run(lu, b, A, k, f, &suited);
    return trs_fail(TRS_EMATRIX, "column %" PRId64 ": A is not Hermitian%s, which %s requires",
                    unlike + lu->base,
                    methods[k]->hermitian == TRS_DEFINITE ? " with a positive diagonal" : "",
                    b->wanted);
}

/* The factors for n = 0, where a library has nothing to do. */
static int no_rows(trs_lu *lu, const trs_csc *A, trs_factors *f)
{
    int64_t *ptr = trs_lu_alloc(lu, 1, sizeof *ptr, "pointers");
    *f = (trs_factors){.library = "none", .ordering = "natural", .cholesky = true};
    f->L = (trs_mat){.ptr = ptr, .format = TRS_CSC, .kind = TRS_LOWER};
    f->L.dtype = A->is_complex ? TRS_C64 : TRS_F64;
    f->P = trs_lu_alloc(lu, 0, sizeof *f->P, "a permutation");
    if (!ptr || !f->P) return TRS_EMEM;
    ptr[0] = 0;
    return TRS_OK;
}

static int refuse_name(const char *name)
{
    const char *best = NULL;
    for (int k = 0; k < METHODS; k++) trs_nearer(name, methods[k]->name, &best);
    if (!best) return trs_fail(TRS_ESUPPORT, "no factorisation \"%s\" in this build", name);
    return trs_fail(TRS_ESUPPORT, "no factorisation \"%s\" in this build; did you mean \"%s\"?",
                    name, best);
}

static inline double larger(double a, double most)
{
    return a > most ? a : most; /* not a NaN */
}

/* max |x|, by four numbers, which do not wait for one another. */
static double largest_number(const double *x, int64_t count)
{
    double most[4] = {0, 0, 0, 0};
    int64_t p = 0;
    for (; p + 4 <= count; p += 4)
        for (int q = 0; q < 4; q++) most[q] = larger(fabs(x[p + q]), most[q]);
    for (; p < count; p++) most[0] = larger(fabs(x[p]), most[0]);
    return larger(larger(most[0], most[1]), larger(most[2], most[3]));
}

/* max |scale a|, by which the growth of later factors is measured. */
static double largest_entry(const trs_csc *A, const double *scale)
{
    if (!A->is_complex && !scale) return largest_number(A->x, A->nnz);
    const int parts = A->is_complex ? 2 : 1;
    double most = 0;
    for (int64_t p = 0; p < A->nnz; p++) {
        const double *z = A->x + parts * p, s = scale ? scale[A->i[p]] : 1;
        most = larger(s * (fabs(z[0]) + (A->is_complex ? fabs(z[1]) : 0)), most);
    }
    return most;
}

static int factor_csc(trs_lu *lu, backend *b, trs_csc *A, trs_factors *f)
{
    int64_t unlike = 0; /* the first column without its mirror image, n: A is Hermitian */
    const int wanted = *b->wanted ? method_named(b->wanted) : -1;
    if (*b->wanted && wanted < 0) return refuse_name(b->wanted);
    if (A->n == 0) return no_rows(lu, A, f);
    const bool definite = wanted >= 0 && methods[wanted]->hermitian != TRS_INDEFINITE;
    int rc = first_not_hermitian(lu, b, A, definite, &unlike);
    if (!rc) rc = refuse_empty_lines(lu, A);
    if (rc) return rc;
    A->hermitian = unlike == A->n;
    if (*b->wanted) return run_wanted(lu, b, A, unlike, f);
    A->indefinite = A->hermitian && !is_diagonal_positive(A);
    if (A->indefinite) A->hermitian = false;
    rc = run_first(lu, b, A, f);
    drop_order(lu);
    return rc;
}

/* Move A, which was analysed, to the backend. */
static void keep(trs_lu *lu, backend *b, trs_csc *A)
{
    trs_lu_csc_free(lu, &b->pattern);
    if (b->method) {
        b->pattern = *A;
        *A = (trs_csc){0};
    }
    trs_lu_csc_free(lu, A);
}

/* Free the values of the matrix that was analysed, unless solves need them. */
static void drop_values(trs_lu *lu, backend *b)
{
    if (lu->refined || b->waits || (b->method && b->method->renew)) return;
    trs_lu_free(lu, b->pattern.x);
    b->pattern.x = NULL;
}

/* A must have the n and dtype of the first one. */
static int same_kind(trs_lu *lu, backend *b, const trs_csc *A)
{
    if (b->known && (b->n != A->n || b->dtype != lu->dtype))
        return trs_fail(TRS_EARG, "update: A has another n or dtype than at first");
    b->known = true;
    b->n = A->n;
    b->dtype = lu->dtype;
    return TRS_OK;
}

/* The BLAS of the libraries that factor, looked for once: that takes longer than to solve with 50 rows. */
static trs_blas blas;

static void find_blas(void)
{
    blas = trs_blas_find(RTLD_DEFAULT);
}

static void begin_limit(trs_blas_limit *limit, int threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_blas);
    trs_blas_begin(limit, blas, threads);
}

static int solve_first(trs_lu *lu, trs_op op, double *x, const double *b, double *work)
{
    const backend *own = lu->backend;
    trs_blas_limit limit;
    begin_limit(&limit, lu->opt.threads);
    const int rc = own->method->solve(&own->pattern, own->symbolic, op, x, b, work);
    trs_blas_end(&limit);
    return rc;
}

/* Number p of val, which may have two parts, goes to places [p] of A. */
static void scatter(const trs_csc *A, const double *val, const int64_t *places)
{
    if (A->is_complex)
        for (int64_t p = 0; p < A->nnz; p++)
            memcpy(A->x + 2 * places[p], val + 2 * p, 2 * sizeof *val);
    else
        for (int64_t p = 0; p < A->nnz; p++) A->x[places[p]] = val[p];
}

/* New numbers for the factors in lu->f, which are not in the library.  places [p]: where entry p of mat is in the A that was
 * analysed.  *done = false and TRS_OK: A has to be factored from the beginning. */
static int renew(trs_lu *lu, const trs_mat *mat, const int64_t *places, bool *done)
{
    backend *b = lu->backend;
    trs_csc *A = &b->pattern;
    int64_t unlike = A->n;
    int rc = TRS_OK;
    *done = false;
    if (mat->dtype != (A->is_complex ? TRS_C64 : TRS_F64)) return TRS_OK;
    scatter(A, mat->val, places);
    if (!lu->half) rc = first_not_hermitian(lu, b, A, false, &unlike);
    if (rc || unlike < A->n) return rc;
    rc = b->method->renew(lu, A, b->symbolic, &lu->f);
    lu->f.largest_a = largest_entry(A, NULL);
    *done = rc != TRS_EPIVOT;
    return *done ? rc : (trs_forget(), TRS_OK);
}

/* mat: the A that was factored; NULL: it is gone, and lu->pattern is its pattern. */
static int adopt(trs_lu *lu, const trs_mat *mat, trs_factors *f)
{
    const backend *b = lu->backend;
    if (b->pattern.x)
        f->largest_a = largest_entry(&b->pattern, f->scale); /* n = 0: there is none */
    return trs_lu_adopt_there(lu, mat, f);
}

/* Copy L and U from the library, and make the plans. */
static int settle(trs_lu *lu)
{
    backend *b = lu->backend;
    trs_factors f = lu->f;
    memset(&lu->f, 0, sizeof lu->f);
    f.L = (trs_mat){0};
    int rc = b->method->take(lu, &b->pattern, b->symbolic, &f);
    if (!rc) rc = adopt(lu, NULL, &f);
    if (!rc) rc = trs_lu_watch(lu, &b->pattern);
    trs_lu_factors_free(lu, &f);
    if (rc) return rc;
    if (b->method->drop) b->method->drop(lu, b->symbolic);
    b->waits = false;
    drop_values(lu, b);
    return TRS_OK;
}

static int exchange(const trs_lu *lu, trs_lu **other);

/* Pairs of rows have no L U in the same order, and pivots that the caller has not asked for need refinement. */
static bool needs_exchange(const trs_lu *lu, const backend *b)
{
    return b->method && b->method->hermitian == TRS_INDEFINITE && b->pattern.x &&
           (!*b->wanted || lu->f.block);
}

static int factor_once(trs_lu *lu, const trs_mat *mat)
{
    trs_factors f = {0};
    trs_csc A = {0};
    backend *b = lu->backend;
    trs_blas_limit limit;
    const double start = trs_now();
    lu->ready = lu->singular = false;
    lu->refined = NULL;
    trs_lu_stop_waiting(lu);
    b->waits = trs_lu_may_wait(lu);
    int rc = trs_step("import", -1);
    if (!rc) rc = trs_lu_csc(lu, mat, &A);
    if (!rc) rc = same_kind(lu, b, &A);
    if (!rc) {
        begin_limit(&limit, lu->opt.threads);
        rc = factor_csc(lu, b, &A, &f);
        trs_blas_end(&limit);
        lu->info.nnz_a = A.nnz;
        keep(lu, b, &A);
    }
    trs_lu_csc_free(lu, &A);
    lu->info.seconds_factor = trs_now() - start;
    b->waits = b->waits && !rc && b->method && b->method->take; /* n = 0 has no method */
    if (b->waits) rc = trs_lu_wait(lu, mat, &f, &b->pattern);
    else if (!rc) rc = adopt(lu, mat, &f);
    if (!rc && !b->waits) rc = trs_lu_watch(lu, &b->pattern);
    if (rc) lu->ready = false;
    drop_values(lu, b);
    lu->exchange = !rc && needs_exchange(lu, b) ? exchange : NULL;
    trs_lu_factors_free(lu, &f);
    return rc;
}

/* Pivots on the diagonal may turn out to be bad on the device: then a library with pivoting factors A, and all later ones. */
static int factor(trs_lu *lu, const trs_mat *mat)
{
    backend *b = lu->backend;
    const int rc = factor_once(lu, mat);
    if (rc != TRS_EGROWTH || *b->wanted || !b->method || !b->method->symbolic) return rc;
    trs_forget();
    b->first++;
    return factor_once(lu, mat);
}

/* ---- public --------------------------------------------------------------------------------- */

/* What "ldlt" does with pivots. */
static int take_signs(trs_lu *lu, const trs_mat *A, const trs_factor_options *opt)
{
    if (!(opt->boost >= 0 && opt->boost <= 1))
        return trs_fail(TRS_EARG, "boost is not between 0 and 1");
    lu->boost = opt->boost;
    if (!opt->signs) return TRS_OK;
    for (int64_t i = 0; i < A->n; i++)
        if (opt->signs[i] < -1 || opt->signs[i] > 1)
            return trs_fail(TRS_EARG, "signs[%" PRId64 "] = %d is not -1, 0 or 1", i,
                            (int)opt->signs[i]);
    lu->signs = trs_lu_alloc(lu, A->n, sizeof *lu->signs, "the signs of pivots");
    if (!lu->signs) return TRS_EMEM;
    if (A->n > 0) memcpy(lu->signs, opt->signs, (size_t)A->n * sizeof *lu->signs);
    return TRS_OK;
}

/* All but the factors. */
static int prepare(trs_lu **lu, const trs_mat *A, const trs_factor_options *opt)
{
    int rc = trs_lu_new(lu, A, &opt->plan, 1);
    if (!rc) rc = TRS_CHECK_RESERVED(opt, "trs_factor_options");
    if (rc) return rc;
    if ((unsigned)opt->on_growth > TRS_GROWTH_REFACTOR || !(opt->growth_limit >= 0))
        return trs_fail(TRS_EARG, "on_growth or growth_limit out of range");
    if (opt->plan.sweeps) return trs_fail(TRS_ESUPPORT, "sweeps are for incomplete factors");
    rc = take_signs(*lu, A, opt);
    if (rc) return rc;
    (*lu)->single = opt->single != 0;
    (*lu)->refactors = opt->on_growth == TRS_GROWTH_REFACTOR;
    (*lu)->growth_limit = opt->growth_limit;
    (*lu)->reads_pattern = true;
    backend *b = trs_lu_alloc(*lu, 1, sizeof *b, "a handle");
    if (!b) return TRS_EMEM;
    memset(b, 0, sizeof *b);
    (*lu)->backend = b;
    (*lu)->release = release;
    (*lu)->update = factor;
    (*lu)->solve_first = solve_first;
    (*lu)->settle = settle;
    (*lu)->renew = renew;
    (*lu)->analysed = &b->pattern;
    if (opt->method) snprintf(b->wanted, sizeof b->wanted, "%s", opt->method);
    if (opt->ordering) snprintf(b->ordering, sizeof b->ordering, "%s", opt->ordering);
    return TRS_OK;
}

static int factor_new(trs_lu **lu, const trs_mat *A, const trs_factor_options *opt)
{
    static const trs_factor_options defaults = {0};
    const int rc = prepare(lu, A, opt ? opt : &defaults);
    return rc ? rc : trs_lu_begin(*lu, A);
}

static int exchange(const trs_lu *lu, trs_lu **other)
{
    const trs_csc *A = &((const backend *)lu->backend)->pattern;
    const trs_factor_options opt = {.plan = {.memory = lu->mem, .threads = lu->opt.threads}};
    const trs_mat m = {.n = A->n,
                       .nnz = A->nnz,
                       .ptr = A->p,
                       .idx = A->i,
                       .val = A->x,
                       .ptr_bits = 64,
                       .idx_bits = 64,
                       .dtype = A->is_complex ? TRS_C64 : TRS_F64,
                       .format = TRS_CSC};
    const int rc = prepare(other, &m, &opt);
    if (rc) return rc;
    ((backend *)(*other)->backend)->first = method_named("ldlt") + 1;
    return trs_lu_begin(*other, &m);
}

int trs_factor(trs_lu **lu, const trs_mat *A, const trs_factor_options *opt)
{
    return trs_call(factor_new(lu, A, opt));
}
