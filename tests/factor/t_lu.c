/* t_lu.c: the factors are what the header says, solves with them are as accurate as LAPACK's, and what cannot be factored
 * is refused with its row. */
#include "tests/common/counter.h"
#include "tests/common/full.h"
#include "tests/common/methods.h"
#include "trisolve-suitesparse.h"

#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

/* The largest |F - G| / (n eps max |F| |G|) for the two sides of the identity that the header states. */
static double identity_error(const trs_lu *lu, const full *A)
{
    trs_mat Lm, Um;
    const int64_t *P, *Q;
    const double *s;
    const int n = A->n;
    double worst = 0;
    assert_int_equal(trs_lu_factors(lu, &Lm, &Um, &P, &Q, &s), TRS_OK);
    const bool cholesky = Um.n == 0;
    full L = unfold(&Lm), U = cholesky ? full_new(n, A->is_complex) : unfold(&Um);
    for (int j = 0; cholesky && j < n; j++)
        for (int i = 0; i < n; i++) U.a[i + n * j] = conj(L.a[j + n * i]);
    for (int k = 0; k < n; k++)
        for (int m = 0; m < n; m++) {
            zz sum = 0;
            double size = 0;
            for (int t = 0; t < n; t++) {
                sum += L.a[k + n * t] * U.a[t + n * m];
                size += cabs(L.a[k + n * t] * U.a[t + n * m]);
            }
            const zz a = (s ? s[P[k]] : 1) * A->a[P[k] + n * Q[m]];
            const double r = cabs(sum - a);
            if (r > 0 && !(r / (size + cabs(a)) <= worst)) worst = r / (size + cabs(a));
        }
    free(L.a);
    free(U.a);
    return worst / (n * DBL_EPSILON);
}

static void check_identity(const full *A, const form *s, const char *method, const char *library)
{
    trs_lu *lu;
    trs_lu_info info;
    trs_mat m = show_full(A, s);
    const trs_factor_options opt = {.method = method};
    int rc = trs_factor(&lu, &m, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    hide(&m); /* the lu must have kept what it needs */
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_string_equal(info.library, library);
    const bool single = s->real == TRS_F32;
    const double error = identity_error(lu, A) * (single ? DBL_EPSILON / (double)FLT_EPSILON : 1);
    print_message("%-8s n = %d %s, form %d: |LU - A| = %.2g n eps\n", library, A->n,
                  A->is_complex ? "complex" : "real", (int)(s - forms), error);
    assert_true(error < 4);
    trs_lu_destroy(lu);
}

static void identities(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int n = 1; n <= 40; n += 13) {
                full A = unsymmetric(n, c), H = hermitian(n, c, 4 + n);
                if (n > 1) check_identity(&A, &forms[k], "umfpack", "UMFPACK");
                check_identity(&H, &forms[k], NULL, "CHOLMOD");
#ifdef HAVE_KLU
                check_identity(&A, &forms[k], "klu", "KLU");
                check_identity(&H, &forms[k], "klu", "KLU");
#endif
                free(A.a);
                free(H.a);
            }
}

/* ---- solving -------------------------------------------------------------------------------- */

/* Numbers of the type of the solve, which are pairs for a complex A. */
static void put(void *v, bool is_complex, int64_t k, zz z)
{
    set_value(v, is_complex ? TRS_C64 : TRS_F64, k, z);
}

static zz take(const void *v, bool is_complex, int64_t k)
{
    return is_complex ? ((const zz *)v)[k] : ((const double *)v)[k];
}

/* op(A) as a full matrix. */
static full op_of(const full *A, trs_op op)
{
    const int n = A->n;
    full f = full_new(n, A->is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            zz a = op == TRS_N ? A->a[i + n * j] : A->a[j + n * i];
            f.a[i + n * j] = op == TRS_H ? conj(a) : a;
        }
    return f;
}

/* LAPACK's X of op(A) X = B, column-major; NULL without LAPACK. */
static zz *lapack(const full *A, trs_op op, int nrhs, const zz *B)
{
#ifdef HAVE_LAPACKE
    const int n = A->n;
    full F = op_of(A, op);
    zz *X = malloc((size_t)(n * nrhs) * sizeof *X);
    double *R = malloc((size_t)(n * n) * sizeof *R), *r = malloc((size_t)(n * nrhs) * sizeof *r);
    int *pivot = malloc((size_t)n * sizeof *pivot);
    for (int k = 0; k < n * n; k++) R[k] = creal(F.a[k]);
    for (int k = 0; k < n * nrhs; k++) X[k] = B[k], r[k] = creal(B[k]);
    if (A->is_complex)
        assert_int_equal(LAPACKE_zgesv(LAPACK_COL_MAJOR, n, nrhs, F.a, n, pivot, X, n), 0);
    else {
        assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, n, nrhs, R, n, pivot, r, n), 0);
        for (int k = 0; k < n * nrhs; k++) X[k] = r[k];
    }
    free(F.a);
    free(R);
    free(r);
    free(pivot);
    return X;
#else
    (void)A, (void)op, (void)nrhs, (void)B;
    return NULL;
#endif
}

/* |b - F x| / (|b| + |F| |x|) in row i, b being b(i); x(j) is number first + j step of x. */
static double row_error(const full *F, zz b, const void *x, int first, int step, int i)
{
    zz res = b;
    double size = cabs(b);
    for (int j = 0; j < F->n; j++) {
        const zz term = F->a[i + F->n * j] * take(x, F->is_complex, first + j * step);
        res -= term;
        size += cabs(term);
    }
    return cabs(res) > 0 ? cabs(res) / size : 0;
}

static void check_solve(trs_lu *lu, const full *A, trs_op op, int nrhs, trs_layout layout)
{
    const int n = A->n, ld = layout == TRS_ROW_MAJOR ? nrhs + 2 : n + 3, ldx = ld + 1;
    const bool rows = layout == TRS_ROW_MAJOR;
    const size_t count = (size_t)(rows ? ldx * n : ldx * nrhs) + 1;
    const trs_exec exec = {.layout = layout};
    zz *B = malloc((size_t)(n * nrhs) * sizeof *B);
    void *b = calloc(count, sizeof(zz)), *x = calloc(count, sizeof(zz));
    /* element (i, r) is number i*step + r*next of B, i*step_x + r*next_x of X */
    const int step = rows ? ld : 1, next = rows ? 1 : ld;
    const int step_x = rows ? ldx : 1, next_x = rows ? 1 : ldx;
    for (int r = 0; r < nrhs; r++)
        for (int i = 0; i < n; i++) {
            B[i + n * r] = number(A->is_complex);
            put(b, A->is_complex, i * step + r * next, B[i + n * r]);
        }
    assert_int_equal(trs_lu_solve(lu, op, nrhs, b, ld, x, ldx, &exec), TRS_OK);
    assert_int_equal(trs_lu_solve(lu, op, nrhs, b, ld, b, ld, &exec), TRS_OK);
    full F = op_of(A, op);
    zz *X = lapack(A, op, nrhs, B);
    double omega = 0, apart = 0, largest = 0;
    for (int r = 0; r < nrhs; r++)
        for (int i = 0; i < n; i++) {
            omega = larger(omega, row_error(&F, B[i + n * r], x, r * next_x, step_x, i));
            const zz xi = take(x, A->is_complex, i * step_x + r * next_x);
            assert_true(take(b, A->is_complex, i * step + r * next) == xi);
            if (!X) continue;
            apart = larger(apart, cabs(xi - X[i + n * r]));
            largest = larger(largest, cabs(X[i + n * r]));
        }
    print_message("n = %d %s, op %c, %d rhs, %s: omega = %.2g, from LAPACK %.2g\n", n,
                  A->is_complex ? "complex" : "real", "NTH"[op], nrhs, rows ? "rows" : "columns",
                  omega, X ? apart / largest : 0);
    /* KLU takes pivots a thousand times smaller than others of their column */
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    const double grown = strcmp(info.library, "KLU") ? 1 : 1000;
    assert_true(omega < 1e-13 * grown);
    if (X) assert_true(apart <= 1e-11 * grown * largest);
    free(F.a);
    free(X);
    free(B);
    free(b);
    free(x);
}

static void check_solves(const full *A, const char *method, int width)
{
    trs_factor_options opt = {.method = method, .plan = {.ops = 7, .nrhs = width}};
    trs_mat m = show_full(A, &plain);
    trs_lu *lu;
    assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
    for (trs_op op = TRS_N; op <= TRS_H; op++)
        for (int nrhs = 1; nrhs <= 3; nrhs += 2) {
            check_solve(lu, A, op, nrhs, TRS_COL_MAJOR);
            check_solve(lu, A, op, nrhs, TRS_ROW_MAJOR);
        }
    trs_lu_destroy(lu);
    hide(&m);
}

static void solves(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 3; k++)
            for (int width = 0; width < 3; width += 2) {
                const double diagonal = k == 1 ? 20 : 0.1;
                full A = k == 0 ? unsymmetric(25, c) : hermitian(25, c, diagonal);
                check_solves(&A, NULL, width);
                for (int t = 0; t < METHODS; t++)
                    if (k == 1 || takes_any_matrix(methods[t])) check_solves(&A, methods[t], width);
                free(A.a);
            }
}

static void check_ordering(const full *A, const char *method, const char *name)
{
    trs_mat m = show_full(A, &plain);
    trs_lu *lu;
    trs_lu_info info;
    trs_factor_options opt = {.method = method, .ordering = name};
    int rc = trs_factor(&lu, &m, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    print_message("%s, %s: %s %s, %d + %d entries\n", method, name, info.library, info.ordering,
                  (int)info.nnz_l, (int)info.nnz_u);
    if (!strcmp(name, "natural")) assert_string_equal(info.ordering, "natural");
    if (!strcmp(name, "metis")) assert_string_equal(info.ordering, "METIS");
    assert_true(identity_error(lu, A) < 4);
    check_solve(lu, A, TRS_N, 1, TRS_COL_MAJOR);
    trs_lu_destroy(lu);
    hide(&m);
}

static void orderings(void **state)
{
    (void)state;
    static const char *const name[] = {"amd", "colamd", "metis", "natural", "best"};
    full A = hermitian(30, false, 20), B = unsymmetric(30, false);
    for (int k = 0; k < 5; k++)
        for (int t = 0; t < METHODS; t++) {
            check_ordering(&A, methods[t], name[k]);
            if (takes_any_matrix(methods[t])) check_ordering(&B, methods[t], name[k]);
        }
    free(A.a);
    free(B.a);
}

/* ---- refinement ----------------------------------------------------------------------------- */

/* D A E, whose rows and columns differ very much in size, and x of the size of E^-1.  Row scaling lets the large columns
 * choose the pivots, and these have the least effect on x. */
static void refinement(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (trs_op op = TRS_N; op <= TRS_H; op++) {
            const int n = 60;
            full A = unsymmetric(n, c);
            double d[60], e[60];
            for (int i = 0; i < n; i++)
                d[i] = pow(10, 12 * uniform()), e[i] = pow(10, 12 * uniform());
            for (int k = 0; k < n * n; k++) A.a[k] *= d[k % n] * e[k / n];
            trs_mat m = show_full(&A, &plain);
            trs_lu *lu;
            trs_factor_options opt = {.plan = {.ops = 7}};
            assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
            zz b[120], x[120];
            for (int k = 0; k < 2 * n; k++) put(x, c, k, number(c) / (op == TRS_N ? e : d)[k % n]);
            assert_int_equal(trs_multiply(&m, op, 2, x, n, b, n, TRS_COL_MAJOR), TRS_OK);
            assert_int_equal(trs_lu_solve(lu, op, 2, b, n, x, n, NULL), TRS_OK);
            trs_error before, after, again;
            int steps;
            assert_int_equal(trs_backward_error(&m, op, 2, b, n, x, n, TRS_COL_MAJOR, &before),
                             TRS_OK);
            assert_int_equal(trs_lu_refine(lu, &m, op, 2, b, n, x, n, NULL, 10, &steps, &after),
                             TRS_OK);
            assert_int_equal(trs_backward_error(&m, op, 2, b, n, x, n, TRS_COL_MAJOR, &again),
                             TRS_OK);
            print_message("op %c: omega %.2g -> %.2g in %d steps\n", "NTH"[op], before.omega,
                          after.omega, steps);
            assert_true(after.omega <= before.omega);
            assert_true(after.omega <= (n + 1) * DBL_EPSILON);
            assert_true(again.omega == after.omega && again.residual == after.residual);
            assert_true(again.stop == TRS_STOP_NONE && after.stop == TRS_STOP_CONVERGED);
            assert_true(again.row == after.row && again.col == after.col);
            assert_true(fabs(again.normwise - after.normwise) <= 1e-6 * after.normwise);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* A factor that is wrong on purpose: refinement must reduce omega all the same, or leave x as it is. */
static void refinement_of_a_neighbour(void **state)
{
    (void)state;
    enum { N = 30 };
    full A = unsymmetric(N, false);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
    for (int k = 0; k < m.nnz; k++) ((double *)m.val)[k] *= 1 + 1e-5 * uniform();
    double b[N], x[N], kept[N];
    trs_error before, after;
    int steps;
    for (int i = 0; i < N; i++) b[i] = uniform();
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    assert_int_equal(trs_backward_error(&m, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &before), TRS_OK);
    assert_int_equal(trs_lu_refine(lu, &m, TRS_N, 1, b, N, x, N, NULL, 20, &steps, &after), TRS_OK);
    print_message("a neighbour: omega %.2g -> %.2g in %d steps\n", before.omega, after.omega,
                  steps);
    assert_true(before.omega > 1e-9 && after.omega < 1e-14 && steps >= 2);
    assert_int_equal(after.stop, TRS_STOP_CONVERGED);
    for (int k = 0; k < m.nnz; k++)
        ((double *)m.val)[k] *= 3; /* now each step increases the error */
    memcpy(kept, x, sizeof x);
    assert_int_equal(trs_lu_refine(lu, &m, TRS_N, 1, b, N, x, N, NULL, 20, &steps, &after), TRS_OK);
    assert_int_equal(after.stop, TRS_STOP_DIVERGED);
    assert_int_equal(steps, 14); /* the residual doubles: 2^14 > 10^4 */
    assert_memory_equal(kept, x, sizeof x);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* A, B and X are in single precision, the factors in double. */
static void single_precision(void **state)
{
    (void)state;
    enum { N = 40 };
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 2; k++) {
            full A = k ? hermitian(N, c, 9) : unsymmetric(N, c);
            trs_mat m = show_full(&A, &forms[FORMS - 1]);
            trs_lu *lu;
            trs_error before, after;
            float complex b[2 * N], x[2 * N];
            assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
            for (int i = 0; i < 2 * N; i++) set_value(b, m.dtype, i, number(c));
            assert_int_equal(trs_lu_solve(lu, TRS_N, 2, b, N, x, N, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&m, TRS_N, 2, b, N, x, N, TRS_COL_MAJOR, &before),
                             TRS_OK);
            assert_int_equal(trs_lu_refine(lu, &m, TRS_N, 2, b, N, x, N, NULL, 5, NULL, &after),
                             TRS_OK);
            print_message("single: omega %.2g, refined %.2g\n", before.omega, after.omega);
            assert_true(before.omega <= 2 * (double)FLT_EPSILON && after.omega <= before.omega);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* ---- determinants --------------------------------------------------------------------------- */

/* det A by Gaussian elimination with complete pivoting in long double, as mantissa 2^shift. */
static complex long double eliminated(const full *A, int64_t *shift)
{
    const int n = A->n;
    complex long double *a = malloc((size_t)(n * n + 1) * sizeof *a), det = 1;
    assert_non_null(a);
    *shift = 0;
    for (int k = 0; k < n * n; k++) a[k] = A->a[k];
    for (int k = 0; k < n; k++) {
        int e, row = k, col = k;
        for (int j = k; j < n; j++)
            for (int i = k; i < n; i++)
                if (cabsl(a[i + n * j]) > cabsl(a[row + n * col])) row = i, col = j;
        for (int j = 0; j < n && row != k; j++) {
            const complex long double t = a[k + n * j];
            a[k + n * j] = a[row + n * j], a[row + n * j] = t;
        }
        for (int i = 0; i < n && col != k; i++) {
            const complex long double t = a[i + n * k];
            a[i + n * k] = a[i + n * col], a[i + n * col] = t;
        }
        det *= a[k + n * k] * ((row != k) != (col != k) ? -1 : 1);
        (void)frexpl(cabsl(det), &e);
        det /= powl(2, e);
        *shift += e;
        for (int j = k + 1; j < n; j++)
            for (int i = k + 1; i < n; i++)
                a[i + n * j] -= a[i + n * k] / a[k + n * k] * a[k + n * j];
    }
    free(a);
    return det;
}

/* The relative error |det - mantissa 2^shift| / |mantissa 2^shift|. */
static double away(const trs_det *d, complex long double mantissa, int64_t shift)
{
    assert_true(d->mantissa >= 1 && d->mantissa < 2);
    const long double size = scalbnl(d->mantissa, (int)(d->exponent - shift));
    return (double)(cabsl((d->re + d->im * I) * size - mantissa) / cabsl(mantissa));
}

static void check_determinant(const full *A, const form *f, const trs_factor_options *opt,
                              const char *library, double most)
{
    trs_lu *lu;
    trs_lu_info info;
    trs_det d;
    int64_t shift;
    trs_mat m = show_full(A, f);
    assert_int_equal(trs_factor(&lu, &m, opt), TRS_OK);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_string_equal(info.library, library);
    assert_int_equal(trs_lu_determinant(lu, &d), TRS_OK);
    const complex long double det = eliminated(A, &shift);
    const double apart = away(&d, det, shift);
    if (apart > 0.1 * most) print_message("%s n = %d: %.2g away\n", library, A->n, apart);
    assert_true(apart <= most);
    if (!A->is_complex) assert_true(fabs(d.re) == 1 && d.im == 0);
    trs_lu_destroy(lu);
    hide(&m);
}

static void determinants(void **state)
{
    (void)state;
    const trs_factor_options umfpack = {.method = "umfpack"};
#ifdef HAVE_KLU
    const trs_factor_options klu = {.method = "klu"};
#endif
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int n = 1; n <= 57; n += 7) {
                full A = unsymmetric(n, c), H = hermitian(n, c, 4 + n);
                const double most = 1e-11 * (forms[k].real == TRS_F32 ? 1e7 : 1);
                check_determinant(&A, &forms[k], &umfpack, "UMFPACK", most);
                check_determinant(&H, &forms[k], &umfpack, "UMFPACK", most);
                check_determinant(&H, &forms[k], NULL, "CHOLMOD", most);
#ifdef HAVE_KLU
                check_determinant(&A, &forms[k], &klu, "KLU", most);
                check_determinant(&H, &forms[k], &klu, "KLU", most);
#endif
                free(A.a);
                free(H.a);
            }
}

/* The matrix of p scaled by 2, 3, 4, 5 has the determinant sgn (p) 120, or 0 where p takes a column twice. */
static void check_permutation(const int p[4])
{
    const trs_factor_options umfpack = {.method = "umfpack"};
    trs_lu *lu;
    trs_det d;
    int inversions = 0, same = 0;
    full A = full_new(4, false);
    for (int i = 0; i < 4; i++) {
        A.a[i + 4 * p[i]] = i + 2;
        for (int j = 0; j < i; j++) inversions += p[j] > p[i], same += p[j] == p[i];
    }
    double sign = inversions % 2 ? -1 : 1;
    if (same) sign = 0;
    trs_mat m = show_full(&A, &plain);
    const int rc = trs_factor(&lu, &m, &umfpack);
    assert_int_equal(rc, same ? TRS_EPIVOT : TRS_OK);
    assert_int_equal(trs_lu_determinant(lu, &d),
                     TRS_OK); /* also of a matrix with an empty column */
    assert_true(d.re == sign && d.im == 0);
    assert_true(fabs(ldexp(d.mantissa, (int)d.exponent) - (same ? 0 : 120)) < 1e-12);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void determinants_of_permutations(void **state)
{
    (void)state;
    for (int k = 0; k < 256; k++)
        check_permutation((const int[4]){k & 3, k >> 2 & 3, k >> 4 & 3, k >> 6});
}

/* The second difference of N rows has the determinant N + 1; that of -1e300 I is beyond a double. */
static void large_determinants(void **state)
{
    enum { N = 200 };
    full A = full_new(N, false), D = full_new(N, false);
    trs_lu *lu;
    trs_det d;
    (void)state;
    for (int i = 0; i < N; i++) {
        A.a[i + N * i] = 2, D.a[i + N * i] = -1e300;
        if (i > 0) A.a[i + N * (i - 1)] = A.a[i - 1 + N * i] = -1;
    }
    for (int k = 0; k < 4; k++) {
        const trs_factor_options opt = {.method = k < 2 ? NULL : "umfpack"}; /* CHOLMOD if it can */
        trs_mat m = show_full(k % 2 ? &A : &D, &plain);
        assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
        assert_int_equal(trs_lu_determinant(lu, &d), TRS_OK);
        assert_true(d.re == 1 && d.im == 0);
        if (k % 2) assert_true(fabs(ldexp(d.mantissa, (int)d.exponent) - (N + 1)) < 1e-10);
        else assert_true(fabs((double)d.exponent + log2(d.mantissa) - N * log2(1e300)) < 1e-9);
        trs_lu_destroy(lu);
        hide(&m);
    }
    free(A.a);
    free(D.a);
}

/* A matrix that is singular in its last pivot has determinant 0.  With new values it is regular again; and what was never
 * factored has no determinant. */
static void determinant_of_a_singular_matrix(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        full A = full_new(2, c);
        trs_lu *lu;
        trs_det d = {.re = 7};
        const zz u = c ? 1 + 2 * I : 1;
        A.a[0] = u, A.a[1] = 2 * u, A.a[2] = 2 * u, A.a[3] = 4 * u;
        trs_mat m = show_full(&A, &plain);
        assert_int_equal(trs_factor(&lu, &m, NULL), TRS_EPIVOT);
        assert_int_equal(trs_lu_determinant(lu, &d), TRS_OK);
        assert_true(d.re == 0 && d.im == 0 && d.mantissa == 0 && d.exponent == 0);
        hide(&m);
        A.a[3] = 7 * u; /* det = 3 u^2 */
        m = show_full(&A, &plain);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_int_equal(trs_lu_determinant(lu, &d), TRS_OK);
        assert_true(away(&d, 3 * u * u, 0) < 1e-14);
        ((double *)m.val)[0] = NAN;
        assert_int_equal(trs_lu_update(lu, &m), TRS_EMATRIX);
        assert_int_equal(trs_lu_determinant(lu, &d), TRS_ESTATE);
        assert_true(d.mantissa == 0);
        assert_int_equal(trs_lu_determinant(lu, NULL), TRS_EARG);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
    full A = hermitian(6, false, 20);
    A.a[3 + 6 * 4] = A.a[4 + 6 * 3] = 100; /* CHOLMOD breaks down, which says nothing about det A */
    const trs_factor_options cholmod = {.method = "cholmod"};
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    trs_det d;
    assert_int_equal(trs_factor(&lu, &m, &cholmod), TRS_EPIVOT);
    assert_int_equal(trs_lu_determinant(lu, &d), TRS_ESTATE);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refuse(const full *A, const form *f, const trs_factor_options *opt, int code,
                   const char *says)
{
    trs_lu *lu;
    trs_mat m = show_full(A, f);
    const int rc = trs_factor(&lu, &m, opt);
    assert_refused(lu, rc, code, says);
    hide(&m);
}

/* The plans are in single precision, the factors and x in double.  The first x has the errors of single precision, even
 * where B is far outside its range, and refinement removes them. */
static void one_rounded(bool definite, bool c, trs_op op)
{
    enum { N = 40 };
    full A = definite ? hermitian(N, c, 9) : unsymmetric(N, c);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    const trs_factor_options opt = {.plan = {.ops = 7, .nrhs = 2}, .single = 1};
    const double range[] = {1, 1e60, 1e-60};
    trs_error before, after;
    zz b[3 * N], x[3 * N];
    assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
    for (int i = 0; i < 3 * N; i++) put(b, c, i, range[i / N] * number(c));
    for (int k = 0; k < 2; k++) { /* the second time with new values, 3 A */
        assert_int_equal(trs_lu_solve(lu, op, 3, b, N, x, N, NULL), TRS_OK);
        assert_int_equal(trs_backward_error(&m, op, 3, b, N, x, N, TRS_COL_MAJOR, &before), TRS_OK);
        assert_int_equal(trs_lu_refine(lu, &m, op, 3, b, N, x, N, NULL, 10, NULL, &after), TRS_OK);
        print_message("%s, op %c: omega %.2g, refined %.2g\n", definite ? "L L'" : "L U", "NTH"[op],
                      before.omega, after.omega);
        assert_true(before.omega > 1e-10 && before.omega < 1e-4);
        assert_true(after.omega <= (N + 1) * DBL_EPSILON && after.stop == TRS_STOP_CONVERGED);
        for (int64_t p = 0; p < (c ? 2 : 1) * m.nnz; p++) ((double *)m.val)[p] *= 3;
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    }
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void rounded_factors(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        for (trs_op op = TRS_N; op <= TRS_H; op++) one_rounded(k & 1, k & 2, op);
    full A = hermitian(5, false, 9);
    const trs_factor_options opt = {.method = "cholmod", .single = 1};
    for (int k = 0; k < 25; k++) A.a[k] *= 1e90; /* the square root is 1e45 */
    refuse(&A, &plain, &opt, TRS_ESUPPORT, "factor L in single precision: ");
    for (int k = 0; k < 25; k++) A.a[k] *= 1e-190;
    refuse(&A, &plain, &opt, TRS_EPIVOT, "factor L in single precision: row 0: diagonal is zero");
    free(A.a);
}

static void singular(void **state)
{
    (void)state;
    full A = full_new(4, false);
    for (int k = 0; k < 4; k++) A.a[5 * k] = 2;
    A.a[1 + 4 * 2] = 1;
    A.a[5 * 2] = 0; /* row and column 2 are empty */
    refuse(&A, &forms[0], NULL, TRS_EPIVOT, "row 2 is empty");
    refuse(&A, &forms[2], NULL, TRS_EPIVOT, "row 3 is empty");
    A.a[2 + 4 * 1] = 1;
    A.a[1 + 4 * 2] = 0;
    refuse(&A, &forms[0], NULL, TRS_EPIVOT, "column 2 is empty");
    A.a[2 + 4 * 2] = 0.5; /* row 2 is a multiple of row 1 */
    A.a[1 + 4 * 2] = 1;
    A.a[1 + 4 * 1] = 2;
    refuse(&A, &forms[0], NULL, TRS_EPIVOT, "singular (3 of 4");
    refuse(&A, &forms[1], NULL, TRS_EPIVOT, "row ");
    free(A.a);
    A = full_new(5,
                 true); /* structurally singular: rows 0..2 have entries in columns 0 and 1 only */
    for (int i = 0; i < 3; i++) A.a[i] = 1 + I * (double)i, A.a[i + 5] = 2 - 3 * I * (double)i;
    for (int j = 2; j < 5; j++) A.a[3 + 5 * j] = 1, A.a[4 + 5 * j] = j;
    refuse(&A, &forms[0], NULL, TRS_EPIVOT, "singular (4 of 5");
    free(A.a);
}

#ifdef HAVE_KLU

/* KLU names the column in which it found no pivot. */
static void singular_for_klu(void **state)
{
    (void)state;
    const trs_factor_options klu = {.method = "klu"};
    for (int c = 0; c < 2; c++) {
        full A = full_new(5, c);
        for (int k = 0; k < 5; k++) A.a[6 * k] = 2 + k;
        A.a[3 + 5 * 1] = 1; /* columns 1 and 3 become multiples of each other */
        A.a[1 + 5 * 3] = 6, A.a[3 + 5 * 3] = 2;
        refuse(&A, &forms[0], &klu, TRS_EPIVOT, "A is singular (");
        A.a[3 + 5 * 1] = A.a[3 + 5 * 3] = 0; /* rows 1 and 3 have one column between them */
        A.a[3 + 5 * 1] = 1;
        A.a[1 + 5 * 3] = 0;
        A.a[1 + 5 * 1] = 3;
        A.a[0 + 5 * 3] = 1;
        refuse(&A, &forms[0], &klu, TRS_EPIVOT, "A is singular (");
        free(A.a);
    }
}

#endif

static void indefinite(void **state)
{
    (void)state;
    const trs_factor_options cholmod = {.method = "cholmod"};
    for (int c = 0; c < 2; c++) {
        full A = hermitian(6, c, 20);
        A.a[3 + 6 * 4] = 100,
                    A.a[4 + 6 * 3] = 100; /* the diagonal is positive, but A is not definite */
        refuse(&A, &plain, &cholmod, TRS_EPIVOT, "not positive definite");
        trs_lu *lu;
        trs_lu_info info;
        trs_mat m = show_full(&A, &plain);
        assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
        trs_lu_get_info(lu, &info);
        assert_string_not_equal(info.library, "CHOLMOD");
        check_solve(lu, &A, TRS_N, 1, TRS_COL_MAJOR);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK); /* CHOLMOD is not tried again */
        check_solve(lu, &A, TRS_N, 1, TRS_COL_MAJOR);
        trs_lu_destroy(lu);
        hide(&m);
        A.a[3 + 6 * 4] = 99;
        refuse(&A, &plain, &cholmod, TRS_EMATRIX, "not Hermitian");
        free(A.a);
    }
}

/* Entry (i, j) below the diagonal lacks its mirror image (j, i), or that is another number: column j is named, whatever
 * follows in column i or in the column after it.  Where (i, j) is missing, column i is behind in the next column. */
static void not_hermitian(void **state)
{
    (void)state;
    enum { N = 5 };
    const trs_factor_options cholmod = {.method = "cholmod"};
    for (int c = 0; c < 2; c++)
        for (int j = 0; j < N; j++)
            for (int i = j + 1; i < N; i++)
                for (int how = 0; how < 5; how++) {
                    char words[40];
                    full A = full_new(N, c);
                    for (int k = 0; k < N * N; k++) A.a[k] = k % (N + 1) ? 1 : 20;
                    if (how == 0) A.a[j + N * i] = 0;
                    else if (how == 1) A.a[j + N * i] = 2;
                    else if (how == 2) A.a[i + N * j] = 0;
                    else /* column i ends where the mirror image is missing */
                        for (int k = j; k < N; k++) A.a[k + N * i] = 0;
                    /* ... and the next column begins as if it went on */
                    for (int k = 0; how == 4 && i + 1 < N && k < j; k++)
                        A.a[k + N * (i + 1)] = A.a[i + 1 + N * k] = 0;
                    snprintf(words, sizeof words, "column %d: A is not", how == 2 ? j + 1 : j);
                    const bool empty = how > 2 && j == 0;
                    if (!empty) refuse(&A, &plain, &cholmod, TRS_EMATRIX, words);
                    free(A.a);
                }
}

static void free_nothing(void *user, void *p)
{
    (void)user;
    (void)p;
}

static void wrong_arguments(void **state)
{
    (void)state;
    full A = unsymmetric(5, false);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = NULL;
    const trs_factor_options method = {.method = "mumps"}, ordering = {.ordering = "random"};
    const trs_factor_options misspelt = {.method = "ltld"};
    const trs_factor_options of_umfpack = {.method = "umfpack", .ordering = "random"};
    const trs_factor_options growth = {.growth_limit = -1}, on = {.on_growth = 2};
    const trs_factor_options device = {.plan = {.device = TRS_CUDA(1000000)}};
    const trs_factor_options solver = {.plan = {.solver = "no-such"}};
    assert_int_equal(trs_factor(NULL, &m, NULL), TRS_EARG);
    assert_int_equal(trs_factor(&lu, NULL, NULL), TRS_EARG);
    assert_null(lu);
    refuse(&A, &plain, &method, TRS_ESUPPORT, "mumps");
    refuse(&A, &plain, &ordering, TRS_ESUPPORT, "random");
    refuse(&A, &plain, &misspelt, TRS_ESUPPORT, "did you mean \"ldlt\"?");
    refuse(&A, &plain, &of_umfpack, TRS_ESUPPORT, "random");
    refuse(&A, &plain, &growth, TRS_EARG, "growth");
    refuse(&A, &plain, &on, TRS_EARG, "growth");
    refuse(&A, &plain, &device, TRS_EDEVICE, "cannot be used");
    refuse(&A, &plain, &solver, TRS_ESUPPORT, "no-such");
    assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
    double b[5] = {1}, x[10];
    assert_int_equal(trs_lu_solve(lu, TRS_T, 1, b, 5, x, 5, NULL), TRS_ESTATE); /* not announced */
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 4, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, 5, x + 1, 5, NULL), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, -1, b, 5, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 5, x, 5, &(trs_exec){.threads = -1}), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 0, NULL, 0, NULL, 0, NULL), TRS_OK);
    trs_mat other = m;
    other.dtype = TRS_F32;
    assert_int_equal(trs_lu_refine(lu, &other, TRS_N, 1, b, 5, x, 5, NULL, 1, NULL, NULL),
                     TRS_EARG);
    assert_int_equal(trs_lu_condest(lu, &other, TRS_NORM_ONE, x), TRS_EARG);
    trs_lu_destroy(lu);
    other = m, other.format = TRS_BSR, other.block = 1;
    assert_int_equal(trs_factor(&lu, &other, NULL), TRS_ESUPPORT);
    trs_lu_destroy(lu);
    trs_factor_options half_of_two = {.plan.memory = {.free = free_nothing}};
    assert_int_equal(trs_factor(&lu, &m, &half_of_two), TRS_EARG);
    assert_null(lu);
    int64_t row = 0, *ptr = (int64_t *)m.ptr;
    while (ptr[row + 1] - ptr[row] < 2) row++;
    ((int32_t *)m.idx)[ptr[row]] = ((int32_t *)m.idx)[ptr[row] + 1];
    assert_int_equal(trs_factor(&lu, &m, NULL), TRS_EMATRIX);
    assert_non_null(strstr(trs_message(), "stored twice"));
    trs_lu_destroy(lu);
    hide(&m);
    form from_one = plain;
    from_one.base = 1;
    A.a[7] = NAN;
    refuse(&A, &plain, NULL, TRS_EMATRIX, "row 2, column 1: the value is not finite");
    refuse(&A, &from_one, NULL, TRS_EMATRIX, "row 3, column 2: the value is not finite");
    free(A.a);
}

static void tiny_matrices(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            full A = full_new(0, c);
            trs_mat m = show_full(&A, &forms[k]);
            trs_lu *lu;
            trs_error e;
            trs_det d;
            assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
            assert_int_equal(trs_lu_solve(lu, TRS_N, 3, NULL, 0, NULL, 0, NULL), TRS_OK);
            assert_int_equal(trs_lu_refine(lu, &m, TRS_N, 1, NULL, 0, NULL, 0, NULL, 3, NULL, &e),
                             TRS_OK);
            trs_lu_info before, after;
            assert_int_equal(trs_lu_get_info(lu, &before), TRS_OK);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            assert_int_equal(trs_lu_get_info(lu, &after), TRS_OK);
            assert_true(after.rcond == before.rcond);
            assert_int_equal(trs_lu_determinant(lu, &d), TRS_OK);
            assert_true(d.re == 1 && d.im == 0 && d.mantissa == 1 && d.exponent == 0);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
            A = full_new(1, c);
            refuse(&A, &forms[k], NULL, TRS_EPIVOT, forms[k].base ? "row 1" : "row 0");
            A.a[0] = -4;
            m = show_full(&A, &forms[k]);
            assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
            if (k < FORMS - 1) check_solve(lu, &A, TRS_N, 3, TRS_COL_MAJOR);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* Rows so small that 1 / Rs overflows. */
static void check_tiny_rows(const char *method)
{
    full A = unsymmetric(12, false);
    for (int j = 0; j < 12; j++) A.a[5 + 12 * j] *= 1e-305, A.a[8 + 12 * j] *= 1e-312;
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    const trs_factor_options opt = {.method = method};
    assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
    double b[12] = {1, 2, 3}, x[12];
    trs_error e;
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 12, x, 12, NULL), TRS_OK);
    assert_int_equal(trs_lu_refine(lu, &m, TRS_N, 1, b, 12, x, 12, NULL, 5, NULL, &e), TRS_OK);
    print_message("%s, rows of 1e-305 and 1e-312: omega %.2g\n", method, e.omega);
    assert_true(e.omega < 1e-11); /* subnormal numbers near 1e-312 have twelve digits */
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void tiny_rows(void **state)
{
    (void)state;
    for (int t = 0; t < METHODS; t++)
        if (takes_any_matrix(methods[t])) check_tiny_rows(methods[t]);
}

/* ---- real matrices --------------------------------------------------------------------------- */

/* Of the folder matrices, or of the one that may lie beside the sources. */
static int read_matrix(const char *file, trs_mm *mm, trs_mat *A)
{
    char path[1000];
    const char *dir = getenv("TRS_SRCDIR");
    if (!dir) dir = getenv("srcdir");
    snprintf(path, sizeof path, "%s/matrices/%s", dir ? dir : ".", file);
    int rc = trs_mm_read(path, NULL, mm);
    if (rc == TRS_EFILE) {
        snprintf(path, sizeof path, "%s/../shared/matrices/%s", dir ? dir : ".", file);
        rc = trs_mm_read(path, NULL, mm);
    }
    if (!rc) return trs_mm_mat(mm, 0, A);
    print_message("%s\n", trs_message());
    trs_mm_free(mm);
    return rc;
}

/* How many entries the longest row or column has. */
static int64_t longest_line(const trs_mm *mm)
{
    int64_t *count = calloc(2 * (size_t)mm->rows, sizeof *count), longest = 0;
    assert_non_null(count);
    for (int64_t i = 0; i < mm->rows; i++)
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++) {
            const int64_t j = mm->rows + mm->idx[p];
            if (++count[i] > longest) longest = count[i];
            if (++count[j] > longest) longest = count[j];
        }
    free(count);
    return longest;
}

/* Which library factors circuits, power grids, and what else is as sparse. */
#ifdef HAVE_KLU
#define BY_PATTERN "KLU"
#else
#define BY_PATTERN "UMFPACK"
#endif

/* Which factors a grid of three dimensions whose diagonal is good, and a mesh of two. */
#ifdef HAVE_CHOLMOD
#define BY_FRONTS "static pivots"
#define OF_A_MESH "static pivots"
#else
#define BY_FRONTS "UMFPACK"
#define OF_A_MESH BY_PATTERN
#endif

/* For b = op(A) (1, ..., 1), solve and refine until the backward error is about that of a stable substitution: an eps for
 * each entry of the longest row, and one more. */
static bool check_ones(const char *file, const char *library, bool beside)
{
    trs_mm mm;
    trs_mat A;
    trs_lu *lu;
    trs_lu_info info;
    trs_error e;
    const trs_factor_options opt = {.plan = {.ops = 7}};
    int rc = read_matrix(file, &mm, &A), steps;
    /* the file is packed, and there is no libarchive; or it is one of those beside the sources */
    if (rc == TRS_ESUPPORT || (rc == TRS_EFILE && beside)) return false;
    assert_int_equal(rc, TRS_OK);
    const bool c = A.dtype == TRS_C64;
    const int64_t n = A.n;
    zz *one = calloc((size_t)n, sizeof *one), *b = calloc((size_t)n, sizeof *b);
    zz *x = calloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) put(one, c, i, 1);
    assert_int_equal(trs_factor(&lu, &A, &opt), TRS_OK);
    trs_lu_get_info(lu, &info);
    assert_string_equal(info.library, library);
    const double good = fmax(((double)longest_line(&mm) + 1) * DBL_EPSILON, 1e-14);
    for (trs_op op = TRS_N; op <= TRS_H; op++) {
        assert_int_equal(trs_multiply(&A, op, 1, one, n, b, n, TRS_COL_MAJOR), TRS_OK);
        assert_int_equal(trs_lu_solve(lu, op, 1, b, n, x, n, NULL), TRS_OK);
        assert_int_equal(trs_lu_refine(lu, &A, op, 1, b, n, x, n, NULL, 5, &steps, &e), TRS_OK);
        print_message("%s: %s, op %c: omega %.2g after %d steps\n", file, library, "NTH"[op],
                      e.omega, steps);
        assert_true(e.omega <= good);
    }
    trs_lu_destroy(lu);
    trs_mm_free(&mm);
    free(one);
    free(b);
    free(x);
    return true;
}

static void real_matrices(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"1138_bus.mtx", "CHOLMOD"},  {"bcsstk02.mtx", "CHOLMOD"},
        {"bfwa62.mtx", BY_PATTERN},   {"cavity10.mtx.xz", "UMFPACK"},
        {"cg20.mtx", BY_PATTERN},     {"impcol_a.mtx", BY_PATTERN},
        {"plskz362.mtx", BY_PATTERN}, {"qc324.mtx", BY_FRONTS},
        {"rdb3200l.mtx", OF_A_MESH},  {"superlu_airfoil2.mtx", "UMFPACK"},
        {"west0067.mtx", BY_PATTERN}, {"seed4.mtx", BY_PATTERN},
        {"seed5.mtx", BY_PATTERN},
    };
    static const char *const circuits[] = {"add20.mtx.xz", "memplus.mtx.xz", "ibmpg1_mna.mtx.xz",
                                           "case13659pegase_dcB.mtx.xz", "case2737sop_Ybus.mtx.xz"};
    bool missing = false;
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++)
        missing |= !check_ones(files[k][0], files[k][1], false);
    for (size_t k = 0; k < sizeof circuits / sizeof circuits[0]; k++)
        (void)check_ones(circuits[k], BY_PATTERN, true);
    trs_mm mm;
    trs_mat A;
    trs_lu *lu;
    assert_int_equal(read_matrix("Erdos971.mtx", &mm, &A), TRS_OK);
    assert_int_equal(trs_factor(&lu, &A, NULL), TRS_EPIVOT);
    print_message("Erdos971: %s\n", trs_message());
    trs_lu_destroy(lu);
    trs_mm_free(&mm);
    if (missing) skip(); /* though the others are solved */
}

/* ---- new values ----------------------------------------------------------------------------- */

static void update(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 2; k++) {
            full A = k ? hermitian(20, c, 20) : unsymmetric(20, c);
            trs_mat m = show_full(&A, &plain);
            trs_lu *lu;
            trs_lu_info before, after;
            assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
            trs_lu_get_info(lu, &before);
            hide(&m);
            for (int t = 0; t < 400; t++) A.a[t] *= k ? 2 : 1 + 0.9 * uniform();
            m = show_full(&A, &plain);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            trs_lu_get_info(lu, &after);
            if (k) assert_ptr_equal(before.l, after.l); /* the plan was kept */
            assert_true(identity_error(lu, &A) < 4);
            check_solve(lu, &A, TRS_N, 2, TRS_COL_MAJOR);
            hide(&m);
            full S = full_new(20, c); /* a column of zeros makes it singular; the pattern stays */
            m = show_full(&A, &plain);
            for (int64_t p = 0; p < m.nnz; p++)
                if (((const int32_t *)m.idx)[p] == 7) put((void *)m.val, c, p, 0);
            assert_int_equal(trs_lu_update(lu, &m), TRS_EPIVOT);
            zz b[20] = {1}, x[20];
            assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 20, x, 20, NULL), TRS_ESTATE);
            hide(&m);
            A.a[3] = k ? A.a[3] : 0.25; /* with k = 0 the pattern may change */
            m = show_full(&A, &plain);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            check_solve(lu, &A, TRS_N, 1, TRS_COL_MAJOR);
            hide(&m);
            m = show_full(&S, &plain);
            m.n = 19;
            assert_int_equal(trs_lu_update(lu, &m), TRS_EARG);
            hide(&m);
            free(S.a);
            trs_lu_destroy(lu);
            free(A.a);
        }
}

/* The triangle of a Hermitian matrix that is stored, in a copy. */
static trs_mat triangle_of(const full *A, const form *f, unsigned kind)
{
    full H = full_new(A->n, A->is_complex);
    for (int j = 0; j < A->n; j++)
        for (int i = 0; i < A->n; i++)
            if (kind & TRS_LOWER ? i >= j : i <= j) H.a[i + A->n * j] = A->a[i + A->n * j];
    trs_mat m = show_full(&H, f);
    m.kind = kind | TRS_SELFADJOINT;
    free(H.a);
    return m;
}

/* Either triangle of a Hermitian matrix, definite or not, then other values, and then another pattern. */
static void one_triangle(void **state)
{
    (void)state;
    for (int k = 0; k < 8 * (FORMS - 1); k++) { /* the last form is of single precision */
        const bool c = k & 1, definite = k & 2;
        const unsigned kind = k & 4 ? TRS_LOWER : TRS_UPPER;
        const form f = forms[k / 8];
        full A = hermitian(20, c, definite ? 20 : -3);
        trs_lu *lu;
        trs_lu_info info;
        double rcond;
        const trs_factor_options opt = {.method = definite ? NULL : "umfpack", .plan = {.ops = 7}};
        trs_mat m = triangle_of(&A, &f, kind);
        assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
        trs_lu_get_info(lu, &info);
        if (definite) assert_string_equal(info.library, "CHOLMOD");
        assert_true(identity_error(lu, &A) < 4);
        hide(&m);
        for (int t = 0; t < 400; t++) A.a[t] *= 3;
        A.a[2 + 20 * 17] = A.a[17 + 20 * 2] = A.a[2 + 20 * 17] == 0 ? 0.5 : 0;
        m = triangle_of(&A, &f, kind);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_true(identity_error(lu, &A) < 4);
        check_solve(lu, &A, TRS_T, 2, TRS_COL_MAJOR);
        assert_int_equal(trs_lu_condest(lu, &m, TRS_NORM_INF, &rcond), TRS_OK);
        assert_true(rcond > 0);
        m.kind = TRS_LOWER;
        trs_lu_destroy(lu);
        assert_int_equal(trs_factor(&lu, &m, NULL), TRS_EARG);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

#ifdef HAVE_KLU

/* A band of a symmetric pattern, whose factors have no more entries than it has: KLU's.  So is what has short rows and no
 * diagonal, and what has fewer than 2000 entries.  What has many products an entry, as a full matrix, needs no library. */
static void chosen_by_pattern(void **state)
{
    (void)state;
    enum { N = 64 };
    static const struct {
        int below, above; /* entries of row i are in columns i - below .. i + above */
        const char *library;
    } cases[] = {{2, 2, "KLU"},  {2, 0, "KLU"},   {0, 3, "KLU"},
                 {-1, 4, "KLU"}, {20, 20, "KLU"}, {N, N, BY_FRONTS}};
    for (int c = 0; c < 2; c++)
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            full A = full_new(N, c);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    if ((j >= i - cases[k].below && j <= i + cases[k].above) ||
                        (cases[k].below < 0 && j < i - N + cases[k].above)) /* around the end */
                        A.a[i + N * j] = number(c) + (i == j ? 9 : 0);
            check_identity(&A, &plain, NULL, cases[k].library);
            free(A.a);
        }
}

/* Half of a band, with a diagonal but far from symmetric, of 3 n - 3 entries: from 2000 on UMFPACK's. */
static void chosen_by_size(void **state)
{
    (void)state;
    enum { MOST = 668 };
    int64_t ptr[MOST + 1] = {0};
    int32_t idx[3 * MOST];
    double val[3 * MOST];
    for (int n = MOST - 1; n <= MOST; n++) {
        trs_lu *lu;
        trs_lu_info info;
        int q = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i < 2 ? 0 : i - 2; j <= i; j++) idx[q] = j, val[q++] = i == j ? 4 : 1;
            ptr[i + 1] = q;
        }
        const trs_mat A = {.n = n, .nnz = q, .ptr = ptr, .idx = idx, .val = val};
        assert_int_equal(q < 2000, n < MOST);
        assert_int_equal(trs_factor(&lu, &A, NULL), TRS_OK);
        trs_lu_get_info(lu, &info);
        assert_string_equal(info.library, q < 2000 ? "KLU" : "UMFPACK");
        trs_lu_destroy(lu);
    }
}

/* omega of the solution that the factors give. */
static double omega_of(trs_lu *lu, const trs_mat *m, bool c)
{
    zz b[64], x[64];
    trs_error e;
    assert_true(m->n <= 64);
    for (int64_t i = 0; i < m->n; i++) put(b, c, i, number(c));
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, m->n, x, m->n, NULL), TRS_OK);
    assert_int_equal(trs_backward_error(m, TRS_N, 1, b, m->n, x, m->n, TRS_COL_MAJOR, &e), TRS_OK);
    return e.omega;
}

/* Values that drift keep pivots, patterns and plans. */
static void update_keeps_pivots(void **state)
{
    (void)state;
    const trs_factor_options klu = {.method = "klu"};
    for (int c = 0; c < 2; c++) {
        full A = hermitian(40, c, 9);
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu;
        trs_lu_info before, after;
        assert_int_equal(trs_factor(&lu, &m, &klu), TRS_OK);
        trs_lu_get_info(lu, &before);
        for (int step = 0; step < 100; step++) {
            hide(&m);
            for (int k = 0; k < 40 * 40; k++) A.a[k] *= 1 + 0.01 * uniform();
            m = show_full(&A, &plain);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            trs_lu_get_info(lu, &after);
            assert_ptr_equal(before.l, after.l);
            assert_ptr_equal(before.u, after.u);
            assert_true(omega_of(lu, &m, c) < 1e-13);
        }
        assert_true(identity_error(lu, &A) < 4);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

/* The pivots become ever smaller against the rest of their columns.  U must not grow as it would with the old pivots, nor
 * the error with it; and pivots that are zero must be exchanged. */
static void update_sees_growth(void **state)
{
    (void)state;
    const trs_factor_options klu = {.method = "klu"};
    double most = 0;
    for (int c = 0; c < 2; c++) {
        full A = hermitian(40, c, 9);
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, &m, &klu), TRS_OK);
        for (int step = 0; step < 60; step++) {
            hide(&m);
            for (int i = 0; i < 40; i++) A.a[41 * i] *= i % 2 ? 0.5 : 1;
            m = show_full(&A, &plain);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            most = larger(most, omega_of(lu, &m, c));
        }
        for (int64_t i = 0; i < 40; i += 2) /* explicit zeros, so that the pattern is the same */
            for (int64_t p = ((const int64_t *)m.ptr)[i]; p < ((const int64_t *)m.ptr)[i + 1]; p++)
                if (((const int32_t *)m.idx)[p] == i) put((void *)m.val, c, p, 0);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        most = larger(most, omega_of(lu, &m, c));
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
    print_message("omega at most %.2g\n", most);
    assert_true(most < 1e-9);
}

/* The first pivot, e, becomes small, and L = 1; 0 1; 1/e -1/e 1 large, but no entry of U = e 1 0; 0 1 0; 0 0 1 does. */
static void update_sees_growth_in_l(void **state)
{
    (void)state;
    const trs_factor_options klu = {.method = "klu", .ordering = "natural"};
    double most = 0;
    for (int c = 0; c < 2; c++) {
        const zz e[] = {1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14};
        full A = full_new(3, c);
        trs_lu *lu = NULL;
        A.a[0 + 3 * 1] = A.a[1 + 3 * 1] = A.a[2 + 3 * 0] = A.a[2 + 3 * 2] = c ? 0.6 + 0.8 * I : 1;
        for (int k = 0; k < 6; k++) {
            zz b[3], x[3];
            trs_error error;
            A.a[0] = e[k];
            trs_mat m = show_full(&A, &plain);
            assert_int_equal(lu ? trs_lu_update(lu, &m) : trs_factor(&lu, &m, &klu), TRS_OK);
            for (int i = 0; i < 3; i++) put(x, c, i, 1);
            assert_int_equal(trs_multiply(&m, TRS_N, 1, x, 3, b, 3, TRS_COL_MAJOR), TRS_OK);
            assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 3, x, 3, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&m, TRS_N, 1, b, 3, x, 3, TRS_COL_MAJOR, &error),
                             TRS_OK);
            most = larger(most, error.omega);
            hide(&m);
        }
        trs_lu_destroy(lu);
        free(A.a);
    }
    print_message("omega at most %.2g\n", most);
    assert_true(most < 1e-11);
}

#endif

/* ---- memory --------------------------------------------------------------------------------- */

/* An update with other pivots makes other plans.  Work spaces of before are refused, new ones are good. */
static void work_after_update(void **state)
{
    (void)state;
    enum { N = 30 };
    int refused = 0;
    for (int k = 0; k < 10; k++) {
        full A = unsymmetric(N, false);
        trs_mat m = show_full(&A, &plain);
        const trs_factor_options opt = {.method = "umfpack"};
        trs_lu *lu;
        trs_lu_work *work[2];
        zz b[N] = {0}, x[N];
        trs_error e;
        if (trs_factor(&lu, &m, &opt) == TRS_ESUPPORT) skip();
        assert_int_equal(trs_lu_work_create(&work[0], lu, 1), TRS_OK);
        for (int64_t p = 0; p < m.nnz; p++) ((double *)m.val)[p] = uniform();
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_int_equal(trs_lu_work_create(&work[1], lu, 1), TRS_OK);
        for (int i = 0; i < N; i++) put(b, false, i, number(false));
        for (int w = 0; w < 2; w++) {
            const trs_exec exec = {.lu_work = work[w]};
            const int rc = trs_lu_solve(lu, TRS_N, 1, b, N, x, N, &exec);
            if (w == 0 && rc == TRS_ESTATE) refused++;
            else assert_int_equal(rc, TRS_OK);
        }
        assert_int_equal(trs_backward_error(&m, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &e), TRS_OK);
        assert_true(e.omega < 1e-9);
        for (int w = 0; w < 2; w++) trs_lu_work_destroy(work[w]);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
    assert_true(refused > 0);
}

/* Each allocation fails once: there must be TRS_EMEM and a sentence, and nothing may be lost. */
static void out_of_memory(void **state)
{
    (void)state;
    for (int k = 0; k < 4 * (1 + METHODS); k++) {
        const char *method = k / 4 ? methods[k / 4 - 1] : NULL;
        if (method && !takes_any_matrix(method) && !(k & 1)) continue;
        full A = k & 1 ? hermitian(9, k & 2, 20) : unsymmetric(9, k & 2);
        trs_mat m = show_full(&A, &forms[2]);
        int rc = TRS_EMEM, allowed = 0;
        bool refused = true; /* an allocation, which may be one that can be done without */
        for (; refused; allowed++) {
            counter c = {.fail_at = allowed};
            trs_factor_options opt = {.method = method, .plan = {.memory = counted_memory(&c)}};
            opt.single = k % 4 > 1;
            trs_lu *lu;
            trs_det d;
            zz b[9] = {1}, x[9];
            rc = trs_factor(&lu, &m, &opt);
            if (!rc) rc = trs_lu_update(lu, &m);
            if (!rc) rc = trs_lu_solve(lu, TRS_N, 1, b, 9, x, 9, NULL);
            if (!rc) rc = trs_lu_refine(lu, &m, TRS_N, 1, b, 9, x, 9, NULL, 3, NULL, NULL);
            if (rc && lu) assert_true(*trs_message());
            if (!rc) rc = trs_lu_determinant(lu, &d);
            trs_lu_destroy(lu);
            refused = was_refused(&c);
            assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
            assert_int_equal(c.live, 0);
        }
        print_message("%d allocations\n", allowed - 1);
        assert_int_equal(rc, TRS_OK);
        hide(&m);
        free(A.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities),
        cmocka_unit_test(solves),
        cmocka_unit_test(orderings),
        cmocka_unit_test(refinement),
        cmocka_unit_test(refinement_of_a_neighbour),
        cmocka_unit_test(single_precision),
        cmocka_unit_test(rounded_factors),
        cmocka_unit_test(singular),
#ifdef HAVE_KLU
        cmocka_unit_test(singular_for_klu),
        cmocka_unit_test(chosen_by_pattern),
        cmocka_unit_test(chosen_by_size),
        cmocka_unit_test(update_keeps_pivots),
        cmocka_unit_test(update_sees_growth),
        cmocka_unit_test(update_sees_growth_in_l),
#endif
        cmocka_unit_test(indefinite),
        cmocka_unit_test(not_hermitian),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(tiny_matrices),
        cmocka_unit_test(tiny_rows),
        cmocka_unit_test(real_matrices),
        cmocka_unit_test(update),
        cmocka_unit_test(one_triangle),
        cmocka_unit_test(work_after_update),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(determinants),
        cmocka_unit_test(determinants_of_permutations),
        cmocka_unit_test(large_determinants),
        cmocka_unit_test(determinant_of_a_singular_matrix),
    };
    print_message("%s\n", trs_suitesparse_version());
    return cmocka_run_group_tests_name("lu", tests, NULL, NULL);
}
