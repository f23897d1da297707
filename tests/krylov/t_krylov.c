/* t_krylov.c: each method solves systems of every type, form and op; known examples take the known steps; and what cannot be
 * solved is reported by its name.  Residuals are sums in long double over full matrices. */
#include "tests/common/counter.h"
#include "tests/common/full.h"

enum { N = 24, METHODS = 5 };

/* ---- allocations --------------------------------------------------------------------------------- */

static long allocations;
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __real_calloc(count, bytes);
}

/* ---- what the cases share ------------------------------------------------------------------------- */

static trs_krylov *made(trs_krylov_method method, trs_dtype t, int64_t n, int restart)
{
    trs_krylov *k;
    const trs_krylov_options o = {.method = method, .dtype = t, .n = n, .restart = restart};
    assert_int_equal(trs_krylov_create(&k, &o), TRS_OK);
    return k;
}

static zz element(const full *f, trs_op op, int i, int j)
{
    if (op == TRS_N) return f->a[i + f->n * j];
    return op == TRS_T ? f->a[j + f->n * i] : conj(f->a[j + f->n * i]);
}

/* |b - op(A) x| */
static double residual_of(const full *f, trs_op op, trs_dtype t, const void *b, const void *x)
{
    long double square = 0;
    for (int i = 0; i < f->n; i++) {
        const zz bi = get_value(b, t, i);
        long double re = creal(bi), im = cimag(bi);
        for (int j = 0; j < f->n; j++) {
            const zz a = element(f, op, i, j), xj = get_value(x, t, j);
            re -= (long double)creal(a) * creal(xj) - (long double)cimag(a) * cimag(xj);
            im -= (long double)creal(a) * cimag(xj) + (long double)cimag(a) * creal(xj);
        }
        square += re * re + im * im;
    }
    return (double)sqrtl(square);
}

/* A method with A as a full matrix of doubles. */
static trs_krylov_info solve_full(trs_krylov_method method, int n, const double *rows,
                                  const double *b, double *x, const trs_krylov_goal *goal,
                                  int restart)
{
    full f = full_new(n, false);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) f.a[i + n * j] = rows[i * n + j];
    trs_mat A = show_full(&f, &plain);
    trs_krylov *k = made(method, TRS_F64, n, restart);
    trs_krylov_info info;
    assert_int_equal(trs_krylov_solve(k, &(trs_map){.mat = &A}, NULL, 1, b, n, x, n, goal, &info),
                     TRS_OK);
    trs_krylov_destroy(k);
    hide(&A);
    free(f.a);
    return info;
}

/* ---- every type, form and op -------------------------------------------------------------------------- */

static bool needs_hermitian(trs_krylov_method m)
{
    return m == TRS_CG || m == TRS_MINRES;
}

static void solve_form(trs_krylov_method method, const form *s, bool is_complex, trs_op op,
                       bool ilu)
{
    full f = needs_hermitian(method) ? hermitian(N, is_complex, 12) : unsymmetric(N, is_complex);
    for (int i = 0; i < N; i++) f.a[i + N * i] += 6; /* for incomplete factors */
    round_to(&f, is_complex ? s->cplx : s->real);
    trs_mat A = show_full(&f, s);
    const trs_dtype t = A.dtype;
    const double rtol = 100 * eps_of(t);
    const trs_krylov_goal goal = {.rtol = rtol, .max_iterations = 40 * N};
    const trs_ilu_options o = {.method = needs_hermitian(method) ? TRS_IC0 : TRS_ILU0,
                               .plan = {.ops = 7}};
    trs_lu *lu = NULL;
    if (needs_hermitian(method) && s->format != TRS_DENSE) A.kind = TRS_LOWER | TRS_SELFADJOINT;
    if (ilu) assert_int_equal(trs_ilu(&lu, &A, &o), TRS_OK);
    const trs_map a = {.mat = &A, .op = op}, m = {.lu = lu, .op = op};
    trs_krylov *k = made(method, t, N, 7);
    trs_krylov_info info[2];
    zz b[2 * N], x[2 * N];
    for (int i = 0; i < 2 * N; i++) set_value(b, t, i, number(is_complex));
    memset(x, -1, sizeof x); /* NaN: X is not read */
    const int rc = trs_krylov_solve(k, &a, ilu ? &m : NULL, 2, b, N, x, N, &goal, info);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    for (int c = 0; c < 2; c++) {
        const char *bc = (char *)b + (size_t)c * N * size_of(t),
                   *xc = (char *)x + (size_t)c * N * size_of(t);
        const double r = residual_of(&f, op, t, bc, xc);
        if (info[c].stop != TRS_STOP_CONVERGED)
            print_message("method %d, format %d, type %d, op %d: %s, %g of %g\n", method, s->format,
                          t, op, info[c].why, info[c].residual, info[c].norm_b);
        assert_int_equal(info[c].stop, TRS_STOP_CONVERGED);
        assert_true(r <= rtol * info[c].norm_b * (1 + 1e-9));
        assert_true(fabs(r - info[c].residual) <= 1e-3 * r);
        assert_true(info[c].iterations > 0 && info[c].products >= info[c].iterations);
    }
    trs_krylov_destroy(k);
    trs_lu_destroy(lu);
    hide(&A);
    free(f.a);
}

static void test_forms(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++)
        for (int s = 0; s < FORMS; s++)
            for (int c = 0; c < 2; c++)
                for (int op = 0; op < 3; op++)
                    for (int ilu = 0; ilu < 2; ilu++) {
                        const bool dense = forms[s].format == TRS_DENSE;
                        const bool half = needs_hermitian((trs_krylov_method)m);
                        if (ilu && (dense || (c && op == TRS_T && half))) continue;
                        solve_form((trs_krylov_method)m, &forms[s], c, (trs_op)op, ilu);
                    }
}

/* ---- known examples ------------------------------------------------------------------------------------- */

/* The first step of CG from (2, 1), and the exact solution after two. */
static void test_cg_by_hand(void **state)
{
    (void)state;
    const double A[] = {4, 1, 1, 3}, b[] = {1, 2};
    double x[] = {2, 1};
    trs_krylov_goal goal = {.rtol = 1e-14, .max_iterations = 1, .guess = 1};
    trs_krylov_info info = solve_full(TRS_CG, 2, A, b, x, &goal, 0);
    assert_int_equal(info.stop, TRS_STOP_STEPS);
    assert_true(fabs(x[0] - 2 - -8 * 73.0 / 331) < 1e-15 &&
                fabs(x[1] - 1 - -3 * 73.0 / 331) < 1e-15);
    x[0] = 2, x[1] = 1;
    goal.max_iterations = 2;
    info = solve_full(TRS_CG, 2, A, b, x, &goal, 0);
    assert_int_equal(info.stop, TRS_STOP_CONVERGED);
    assert_true(fabs(x[0] - 1.0 / 11) < 1e-15 && fabs(x[1] - 7.0 / 11) < 1e-15);
}

/* Steps are as many as there are distinct eigenvalues: k / 8 on the diagonal, and of minres both signs. */
static void test_steps(void **state)
{
    (void)state;
    for (int signs = 0; signs < 2; signs++) {
        double A[64] = {0}, b[8], x[8];
        for (int i = 0; i < 8; i++) A[9 * i] = (1 + i / 2) * (signs && i < 4 ? -1 : 1), b[i] = 1;
        const trs_krylov_goal goal = {.rtol = 1e-13};
        for (int m = 0; m < METHODS; m++) {
            if (signs && m == TRS_CG) continue;
            const trs_krylov_info info = solve_full((trs_krylov_method)m, 8, A, b, x, &goal, 8);
            assert_int_equal(info.stop, TRS_STOP_CONVERGED);
            if (m != TRS_BICGSTAB) assert_int_equal(info.iterations, 4);
            for (int i = 0; i < 8; i++) assert_true(fabs(x[i] - 1 / A[9 * i]) < 1e-12);
        }
    }
}

/* GMRES with a cyclic shift makes no progress before step n, and with restarts none at all.  Source: Nachtigal, Reddy,
 * Trefethen, How fast are nonsymmetric matrix iterations?, SIAM J. Matrix Anal. Appl. 13 (1992). */
static void test_shift(void **state)
{
    (void)state;
    enum { M = 6 };
    double A[M * M] = {0}, b[M] = {1}, x[M], history[20];
    for (int i = 0; i < M; i++) A[i * M + (i + 1) % M] = 1;
    const trs_krylov_goal goal = {.rtol = 1e-12, .max_iterations = 19, .history = history};
    trs_krylov_info info = solve_full(TRS_GMRES, M, A, b, x, &goal, M);
    assert_int_equal(info.stop, TRS_STOP_CONVERGED);
    assert_int_equal(info.iterations, M);
    for (int i = 0; i < M; i++) assert_true(history[i] == 1);
    assert_true(history[M] < 1e-15 && x[1] == 1);
    info = solve_full(TRS_GMRES, M, A, b, x, &goal, M - 1);
    assert_int_equal(info.stop, TRS_STOP_STAGNATED);
    assert_int_equal(info.iterations, M - 1);
    assert_true(*info.why && info.residual == 1);
}

/* One Gram-Schmidt loses V'V = I where eigenvalues spread over ten decades; with a second one, where it is needed, a cycle of n
 * steps ends within cond(A) eps, and two do within that squared.  With one alone it takes 59 steps. */
static void test_orthogonality(void **state)
{
    (void)state;
    enum { M = 20 };
    double A[M * M] = {0}, b[M], x[M];
    for (int i = 0; i < M; i++) A[i * M + i] = pow(10, -10.0 * i / (M - 1)), b[i] = 1;
    const trs_krylov_goal goal = {.rtol = 1e-12, .max_iterations = 3 * M};
    for (int m = TRS_GMRES; m <= TRS_FGMRES; m++) {
        const trs_krylov_info info = solve_full((trs_krylov_method)m, M, A, b, x, &goal, M);
        assert_int_equal(info.stop, TRS_STOP_CONVERGED);
        assert_true(info.iterations <= 2 * M);
    }
}

/* The Laplacian of a path with free ends is singular; b is orthogonal to its null vector, or not. */
static void test_singular(void **state)
{
    (void)state;
    enum { M = 10 };
    double A[M * M] = {0}, b[M] = {1}, x[M];
    for (int i = 0; i + 1 < M; i++) {
        A[i * M + i]++, A[(i + 1) * M + i + 1]++;
        A[i * M + i + 1] = A[(i + 1) * M + i] = -1;
    }
    b[M - 1] = -1;
    const trs_krylov_goal goal = {.rtol = 1e-12};
    for (int m = 0; m < METHODS; m++) {
        const trs_krylov_info info = solve_full((trs_krylov_method)m, M, A, b, x, &goal, M);
        assert_int_equal(info.stop, TRS_STOP_CONVERGED);
        for (int i = 0; i + 1 < M; i++) assert_true(fabs(x[i] - x[i + 1] - 1) < 1e-10);
    }
    b[M - 1] = 0;
    for (int m = 0; m < METHODS; m++) {
        const trs_krylov_info info = solve_full((trs_krylov_method)m, M, A, b, x, &goal, M);
        print_message("inconsistent, method %d: stop %d, %s\n", m, info.stop, info.why);
        assert_int_not_equal(info.stop, TRS_STOP_CONVERGED);
        assert_true(!(info.residual < 0.3)); /* 1 / sqrt(10) is the least */
    }
}

static void test_breakdown(void **state)
{
    (void)state;
    const double indefinite[] = {1, 0, 0, 0, -1, 0, 0, 0, 3}, ones[] = {1, 1, 1};
    const double r0v[] = {0, -1, -1, -1, -1, -1, -1, -1, -1};
    const double rho[] = {-1, -1, -1, -1, -1, -1, 1, -1, 0};
    const double omega[] = {-1, -1, -1, -1, -1, -1, -1, 0, 2};
    const double zero[9] = {0}, e1[] = {1, 0, 0};
    const struct {
        trs_krylov_method method;
        const double *A, *b;
        int64_t iterations;
        const char *why;
    } cases[] = {{TRS_CG, indefinite, ones, 1, "A is not positive definite"},
                 {TRS_BICGSTAB, r0v, e1, 0, "r0' A p is zero"},
                 {TRS_BICGSTAB, rho, e1, 1, "rho = r0' r is zero"},
                 {TRS_BICGSTAB, omega, e1, 1, "omega is zero"},
                 {TRS_GMRES, zero, e1, 1, "A, or A M^-1, is singular"},
                 {TRS_MINRES, zero, e1, 0, "A, or A M^-1, is singular"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double x[3];
        const trs_krylov_info info =
            solve_full(cases[k].method, 3, cases[k].A, cases[k].b, x, NULL, 0);
        print_message("case %zu: stop %d after %d: %s\n", k, info.stop, (int)info.iterations,
                      info.why);
        assert_int_equal(info.stop, TRS_STOP_BREAKDOWN);
        assert_string_equal(info.why, cases[k].why);
        assert_int_equal(info.iterations, cases[k].iterations);
        for (int i = 0; i < 3; i++) assert_true(isfinite(x[i]));
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    double A[] = {2, 1, 1, 3}, b[] = {1, NAN}, x[2];
    for (int m = 0; m < METHODS; m++) {
        trs_krylov_info info = solve_full((trs_krylov_method)m, 2, A, b, x, NULL, 0);
        assert_int_equal(info.stop, TRS_STOP_DIVERGED);
        assert_string_equal(info.why, "b is not finite");
        assert_true(isnan(info.norm_b) && info.iterations == 0 && x[0] == 0 && x[1] == 0);
    }
    A[1] = A[2] = INFINITY, b[1] = 1;
    for (int m = 0; m < METHODS; m++) {
        const trs_krylov_info info = solve_full((trs_krylov_method)m, 2, A, b, x, NULL, 0);
        assert_int_equal(info.stop, TRS_STOP_DIVERGED);
        assert_true(*info.why && info.iterations <= 1);
    }
}

/* A target that no arithmetic reaches. */
static void test_stagnation(void **state)
{
    (void)state;
    const double A[] = {3, 1, 0, 1, 3, 1, 0, 1, 3}, b[] = {1, 1.0 / 3, 0.1};
    double x[3];
    const trs_krylov_goal goal = {.rtol = 1e-40, .max_iterations = 1000};
    for (int m = 0; m < METHODS; m++) {
        const trs_krylov_info info = solve_full((trs_krylov_method)m, 3, A, b, x, &goal, 0);
        print_message("method %d: stop %d after %d, %s\n", m, info.stop, (int)info.iterations,
                      info.why);
        assert_true(info.stop != TRS_STOP_CONVERGED && info.iterations < 1000);
        assert_true(info.residual < 1e-15);
    }
}

/* ---- nothing to do ----------------------------------------------------------------------------------------- */

static void test_nothing(void **state)
{
    (void)state;
    const double A[] = {2, 0, 0, 4}, zero[] = {0, 0}, b[] = {2, 4};
    for (int m = 0; m < METHODS; m++) {
        double x[] = {5, NAN}, history[2];
        trs_krylov_goal goal = {.guess = 1, .history = history, .max_iterations = 1};
        trs_krylov_info info = solve_full((trs_krylov_method)m, 2, A, zero, x, &goal, 0);
        assert_true(info.stop == TRS_STOP_CONVERGED && !info.iterations && info.residual == 0);
        assert_true(x[0] == 0 && x[1] == 0 && history[0] == 0);
        x[0] = x[1] = 1;
        info = solve_full((trs_krylov_method)m, 2, A, b, x, &goal, 0);
        assert_true(info.stop == TRS_STOP_CONVERGED && !info.iterations && info.residual == 0);
        assert_true(x[0] == 1 && x[1] == 1 && info.products > 0);
        goal = (trs_krylov_goal){.atol = 5};
        info = solve_full((trs_krylov_method)m, 2, A, b, x, &goal, 0);
        assert_true(info.stop == TRS_STOP_CONVERGED && !info.iterations && x[0] == 0);
        trs_krylov *k = made((trs_krylov_method)m, TRS_F64, 0, 0);
        const int64_t ptr = 0;
        const trs_mat none = {.ptr = &ptr};
        assert_int_equal(
            trs_krylov_solve(k, &(trs_map){.mat = &none}, NULL, 1, NULL, 0, NULL, 0, NULL, &info),
            TRS_OK);
        assert_int_equal(info.stop, TRS_STOP_CONVERGED);
        assert_int_equal(
            trs_krylov_solve(k, &(trs_map){.mat = &none}, NULL, 0, NULL, 0, NULL, 0, NULL, NULL),
            TRS_OK);
        trs_krylov_destroy(k);
    }
}

/* ---- functions of the caller ----------------------------------------------------------------------------------- */

/* The Laplacian of a path, times a sign; fails in call `fail`. */
typedef struct path {
    int n, calls, fail;
    double sign;
} path;

static int path_product(void *user, const void *from, void *to, void *stream)
{
    path *p = user;
    const double *x = from;
    double *y = to;
    assert_null(stream);
    if (++p->calls == p->fail) return 42;
    for (int i = 0; i < p->n; i++) {
        y[i] = 2 * x[i];
        if (i) y[i] -= x[i - 1];
        if (i + 1 < p->n) y[i] -= x[i + 1];
        y[i] *= p->sign;
    }
    return TRS_OK;
}

/* Steepest descent on the path: as many steps as this call is in number, so that it differs from call to call. */
static int inner_steps(void *user, const void *from, void *to, void *stream)
{
    path *p = user, product = {p->n, 0, 0, 1};
    const double *r = from;
    double *z = to, q[100];
    if (++p->calls == p->fail) return TRS_EFILE;
    for (int i = 0; i < p->n; i++) z[i] = 0;
    for (int s = 0; s <= p->calls; s++) {
        path_product(&product, z, q, stream);
        for (int i = 0; i < p->n; i++) z[i] += 0.25 * (r[i] - q[i]);
    }
    return TRS_OK;
}

/* x(i) of the path with b = 1 is (i + 1) (n - i) / 2. */
static void test_functions(void **state)
{
    (void)state;
    enum { M = 40 };
    double b[M], x[M];
    const trs_krylov_goal goal = {.rtol = 1e-11};
    for (int i = 0; i < M; i++) b[i] = 1;
    for (int m = 0; m < METHODS; m++) {
        path p = {M, 0, 0, 1}, inner = {M, 0, 0, 0};
        trs_krylov *k = made((trs_krylov_method)m, TRS_F64, M, M);
        const trs_map A = {.apply = path_product, .user = &p};
        const trs_map inexact = {.apply = inner_steps, .user = &inner};
        const trs_map *M1 = m == TRS_FGMRES ? &inexact : NULL;
        trs_krylov_info info;
        assert_int_equal(trs_krylov_solve(k, &A, M1, 1, b, M, x, M, &goal, &info), TRS_OK);
        assert_int_equal(info.stop, TRS_STOP_CONVERGED);
        assert_int_equal(info.products, p.calls);
        assert_int_equal(info.applications, inner.calls);
        for (int i = 0; i < M; i++) assert_true(fabs(x[i] - (i + 1) * (M - i) / 2.0) < 1e-7);
        if (M1) assert_true(info.iterations < M / 2);
        for (int fail = 1; fail <= 4; fail++) {
            p = (path){M, 0, fail, 1};
            assert_int_equal(trs_krylov_solve(k, &A, M1, 1, b, M, x, M, &goal, &info), 42);
            assert_non_null(strstr(trs_message(), "the function of A returned 42"));
            assert_int_equal(p.calls, fail);
        }
        p = (path){M, 0, 0, 1}, inner = (path){M, 0, 3, 0};
        const int rc = trs_krylov_solve(k, &A, &inexact, 1, b, M, x, M, &goal, NULL);
        assert_int_equal(rc, TRS_EFILE);
        assert_non_null(strstr(trs_message(), "the function of M returned -7"));
        if (needs_hermitian((trs_krylov_method)m)) {
            path minus = {M, 0, 0, -1};
            const trs_map negative = {.apply = path_product, .user = &minus};
            assert_int_equal(trs_krylov_solve(k, &A, &negative, 1, b, M, x, M, &goal, &info),
                             TRS_OK);
            assert_int_equal(info.stop, TRS_STOP_BREAKDOWN);
            assert_string_equal(info.why, "the preconditioner is not positive definite");
        }
        trs_krylov_destroy(k);
    }
}

typedef struct watcher {
    trs_krylov *krylov;
    const trs_map *A;
    double *history, *b, *x;
    int64_t count, until;
} watcher;

/* Sees what the history has, and cannot use the vectors. */
static int watch(void *user, int column, int64_t iteration, double residual)
{
    watcher *w = user;
    assert_int_equal(iteration, w->count++);
    assert_int_equal(column, 0);
    assert_true(residual == w->history[iteration]);
    double x[40];
    assert_int_equal(trs_krylov_solve(w->krylov, w->A, NULL, 1, w->b, 40, x, 40, NULL, NULL),
                     TRS_ESTATE);
    return iteration == w->until;
}

static void test_monitor(void **state)
{
    (void)state;
    enum { M = 40 };
    double b[M], x[M], history[101];
    for (int i = 0; i < M; i++) b[i] = 1;
    for (int m = 0; m < METHODS; m++) {
        path p = {M, 0, 0, 1};
        const trs_map A = {.apply = path_product, .user = &p};
        trs_krylov *k = made((trs_krylov_method)m, TRS_F64, M, M);
        watcher w = {k, &A, history, b, x, 0, -1};
        const trs_krylov_goal goal = {
            .max_iterations = 100, .history = history, .monitor = watch, .user = &w};
        trs_krylov_info info;
        assert_int_equal(trs_krylov_solve(k, &A, NULL, 1, b, M, x, M, &goal, &info), TRS_OK);
        assert_int_equal(w.count, info.iterations + 1);
        assert_true(history[0] == info.norm_b);
        assert_true(history[info.iterations] <= 1e-8 * info.norm_b);
        w.count = 0, w.until = 5;
        assert_int_equal(trs_krylov_solve(k, &A, NULL, 1, b, M, x, M, &goal, &info), TRS_ECANCELED);
        assert_int_equal(w.count, 6);
        assert_int_equal(info.iterations, 5);
        trs_krylov_destroy(k);
    }
}

/* ---- a plan, columns, threads ------------------------------------------------------------------------------- */

/* The 7-point matrix of a grid with m^3 points, with a wind w, CSR. */
static trs_mat grid(int m, double w)
{
    const int64_t n = (int64_t)m * m * m;
    int64_t *ptr = malloc((size_t)(n + 1) * 8), nnz = 0;
    int32_t *idx = malloc((size_t)n * 28);
    double *val = malloc((size_t)n * 56);
    assert_true(ptr && idx && val);
    const int step[] = {-m * m, -m, -1, 0, 1, m, m * m};
    for (int64_t i = 0; i < n; i++) {
        const int at[] = {(int)(i / m / m), (int)(i / m % m), (int)(i % m)};
        ptr[i] = nnz;
        for (int s = 0; s < 7; s++) {
            const int axis = s < 3 ? s : 6 - s;
            if (s < 3 && at[axis] == 0) continue;
            if (s > 3 && at[axis] == m - 1) continue;
            idx[nnz] = (int32_t)(i + step[s]);
            val[nnz] = s < 3 ? -1 - w : -1 + w;
            if (s == 3) val[nnz] = 6;
            nnz++;
        }
    }
    ptr[n] = nnz;
    return (trs_mat){.n = n, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val};
}

/* A triangle of A as a preconditioner, three right-hand sides, each with the bits that it has alone. */
static void test_columns(void **state)
{
    (void)state;
    trs_mat A = grid(6, 0.3), L = A;
    enum { ROWS = 216, LD = 220 };
    double b[3 * LD], x[3 * LD], one[ROWS];
    for (int i = 0; i < 3 * LD; i++) b[i] = uniform(), x[i] = 7;
    L.kind = TRS_LOWER;
    trs_plan *plan;
    assert_int_equal(trs_plan_create(&plan, &L, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    const trs_map a = {.mat = &A}, gauss_seidel = {.plan = plan};
    for (int m = TRS_BICGSTAB; m <= TRS_FGMRES; m++) {
        trs_krylov *k = made((trs_krylov_method)m, TRS_F64, ROWS, 10);
        trs_krylov_info info[3], alone;
        assert_int_equal(trs_krylov_solve(k, &a, &gauss_seidel, 3, b, LD, x, LD, NULL, info),
                         TRS_OK);
        for (int c = 0; c < 3; c++) {
            assert_int_equal(info[c].stop, TRS_STOP_CONVERGED);
            assert_int_equal(trs_krylov_solve(k, &a, &gauss_seidel, 1, b + c * LD, ROWS, one, ROWS,
                                              NULL, &alone),
                             TRS_OK);
            assert_memory_equal(one, x + c * LD, sizeof one);
            assert_int_equal(alone.iterations, info[c].iterations);
            assert_true(c == 2 || x[c * LD + ROWS] == 7);
            assert_int_equal(
                trs_krylov_solve(k, &a, NULL, 1, b + c * LD, ROWS, one, ROWS, NULL, &alone),
                TRS_OK);
            assert_true(alone.iterations > info[c].iterations);
        }
        trs_krylov_destroy(k);
    }
    trs_plan_destroy(plan);
    hide(&A);
}

/* The same bits by one thread and by two, without an allocation in an iteration. */
static void test_threads(void **state)
{
    (void)state;
    trs_mat A = grid(64, 0);
    const size_t bytes = (size_t)A.n * 8;
    double *b = malloc(bytes), *x[2] = {malloc(bytes), malloc(bytes)}, history[2][13];
    assert_true(b && x[0] && x[1]);
    for (int64_t i = 0; i < A.n; i++) b[i] = uniform();
    for (int m = 0; m < METHODS; m++) {
        for (int t = 0; t < 2; t++) {
            trs_krylov *k;
            const trs_krylov_options o = {
                .method = (trs_krylov_method)m, .n = A.n, .restart = 12, .threads = t + 1};
            const trs_krylov_goal goal = {.max_iterations = 12, .history = history[t]};
            assert_int_equal(trs_krylov_create(&k, &o), TRS_OK);
            const long before = allocations;
            assert_int_equal(
                trs_krylov_solve(k, &(trs_map){.mat = &A}, NULL, 1, b, A.n, x[t], A.n, &goal, NULL),
                TRS_OK);
            assert_int_equal(allocations, before);
            trs_krylov_destroy(k);
        }
        assert_memory_equal(x[0], x[1], bytes);
        assert_memory_equal(history[0], history[1], sizeof history[0]);
    }
    free(b), free(x[0]), free(x[1]);
    hide(&A);
}

/* A product across the lines of A takes memory before the iteration: as much for many iterations as for one. */
static void test_allocations(void **state)
{
    (void)state;
    trs_mat A = grid(45, 0.1);
    A.format = TRS_CSC;
    double *b = calloc((size_t)A.n, 8), *x = calloc((size_t)A.n, 8);
    assert_true(b && x);
    b[0] = 1;
    for (int m = 0; m < METHODS; m++) {
        trs_krylov *k = made((trs_krylov_method)m, TRS_F64, A.n, 8);
        long took[2];
        for (int many = 0; many < 2; many++) {
            const trs_krylov_goal goal = {.max_iterations = many ? 8 : 1, .rtol = 1e-15};
            const long before = allocations;
            assert_int_equal(
                trs_krylov_solve(k, &(trs_map){.mat = &A}, NULL, 1, b, A.n, x, A.n, &goal, NULL),
                TRS_OK);
            took[many] = allocations - before;
        }
        assert_int_equal(took[0], took[1]);
        trs_krylov_destroy(k);
    }
    free(b), free(x);
    hide(&A);
}

/* ---- memory, wrong use ------------------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
    (void)state;
    full f = hermitian(N, false, 12);
    trs_mat A = show_full(&f, &plain);
    A.kind = TRS_UPPER | TRS_SELFADJOINT;
    double b[N], x[N];
    for (int i = 0; i < N; i++) b[i] = uniform();
    bool refused = true;
    int allowed = 0, rc = TRS_EMEM;
    for (; refused; allowed++) {
        counter c = {.fail_at = allowed};
        trs_krylov_options o = {.n = N, .memory = counted_memory(&c)};
        trs_krylov *k;
        int64_t host, device;
        rc = trs_krylov_create(&k, &o);
        if (!rc) {
            assert_int_equal(trs_krylov_bytes(&o, &host, &device), TRS_OK);
            assert_int_equal(host, c.bytes);
            assert_int_equal(device, 0);
            rc = trs_krylov_solve(k, &(trs_map){.mat = &A}, NULL, 1, b, N, x, N, NULL, NULL);
        } else assert_null(k);
        if (rc) assert_true(*trs_message());
        trs_krylov_destroy(k);
        refused = was_refused(&c);
        assert_int_equal(rc, refused ? TRS_EMEM : TRS_OK);
        assert_int_equal(c.live, 0);
    }
    assert_true(allowed > 3);
    hide(&A);
    free(f.a);
}

static void test_refused(void **state)
{
    (void)state;
    trs_mat A = grid(2, 0), lower = A;
    double b[8] = {1}, x[8], history[3];
    trs_krylov *k = made(TRS_CG, TRS_F64, 8, 0), *none;
    trs_plan *plan;
    lower.kind = TRS_LOWER;
    assert_int_equal(trs_plan_create(&plan, &lower, NULL), TRS_OK);
    const trs_map good = {.mat = &A}, empty = {0}, two = {.mat = &A, .apply = path_product},
                  early = {.plan = plan}, op = {.mat = &A, .op = (trs_op)3};
    trs_mat other = A, single = A, wrong = A;
    int64_t bad_ptr[9];
    memcpy(bad_ptr, A.ptr, sizeof bad_ptr);
    bad_ptr[4] = 1000;
    other.n = 7, single.dtype = TRS_F32, wrong.ptr = bad_ptr;
    const trs_map smaller = {.mat = &other}, floats = {.mat = &single}, broken = {.mat = &wrong};
    const trs_map newer = {.mat = &A, .reserved = {1}};
#define SOLVE(k, A, M, nrhs, b, ld, goal) trs_krylov_solve(k, A, M, nrhs, b, ld, x, 8, goal, NULL)
    assert_int_equal(SOLVE(k, &good, NULL, 1, b, 8, NULL), TRS_OK);
    assert_int_equal(SOLVE(NULL, &good, NULL, 1, b, 8, NULL), TRS_EARG);
    assert_int_equal(SOLVE(k, NULL, NULL, 1, b, 8, NULL), TRS_EARG);
    assert_int_equal(SOLVE(k, &good, NULL, -1, b, 8, NULL), TRS_EARG);
    assert_int_equal(SOLVE(k, &good, NULL, 1, NULL, 8, NULL), TRS_EARG);
    assert_int_equal(SOLVE(k, &good, NULL, 1, x, 8, NULL), TRS_EARG);
    assert_int_equal(SOLVE(k, &good, NULL, 1, b, 7, NULL), TRS_EARG);
    const trs_map *const bad[] = {&empty, &two, &op, &smaller, &floats, &newer};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(SOLVE(k, bad[i], NULL, 1, b, 8, NULL), TRS_EARG);
        assert_int_equal(SOLVE(k, &good, bad[i], 1, b, 8, NULL), TRS_EARG);
    }
    assert_int_equal(SOLVE(k, &broken, NULL, 1, b, 8, NULL), TRS_EMATRIX);
    assert_int_equal(SOLVE(k, &good, &early, 1, b, 8, NULL), TRS_ESTATE);
    const trs_krylov_goal goals[] = {{.rtol = -1},         {.rtol = NAN},
                                     {.atol = INFINITY},   {.max_iterations = -1},
                                     {.history = history}, {.reserved = {0, 1}}};
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++)
        assert_int_equal(SOLVE(k, &good, NULL, 1, b, 8, &goals[i]), TRS_EARG);
    assert_int_equal(SOLVE(k, &good, NULL, 1, b, 8, NULL), TRS_OK);
    const trs_krylov_options options[] = {{.method = (trs_krylov_method)5},
                                          {.dtype = TRS_I64},
                                          {.n = -1},
                                          {.n = INT32_MAX},
                                          {.restart = -1},
                                          {.restart = 10001},
                                          {.threads = 1025},
                                          {.reserved = {1}}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        assert_int_equal(trs_krylov_create(&none, &options[i]), TRS_EARG);
    assert_null(none);
    assert_int_equal(trs_krylov_create(NULL, &options[0]), TRS_EARG);
    assert_int_equal(trs_krylov_create(&none, NULL), TRS_EARG);
    trs_krylov_destroy(NULL);
    trs_krylov_destroy(k);
    trs_plan_destroy(plan);
    hide(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),         cmocka_unit_test(test_cg_by_hand),
        cmocka_unit_test(test_steps),         cmocka_unit_test(test_shift),
        cmocka_unit_test(test_orthogonality), cmocka_unit_test(test_singular),
        cmocka_unit_test(test_breakdown),     cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_stagnation),    cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_functions),     cmocka_unit_test(test_monitor),
        cmocka_unit_test(test_columns),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_allocations),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
