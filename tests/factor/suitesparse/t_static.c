/* t_static.c: which matrices have pivots on the diagonal, and the pattern of their factors, which is that of boolean
 * elimination of A + A' in the order that was found; on the host their numbers too.  (t_lu_device.c computes those of a device,
 * t_again.c updates.) */
#include "tests/common/counter.h"
#include "tests/common/full.h"

#include "factor/suitesparse/factor.h"
#include "factor/suitesparse/klu_order.h"
#include "trisolve-suitesparse.h"

enum { N = 60 };

static trs_lu on_device(void)
{
    return (trs_lu){.opt.device = TRS_CUDA(0)};
}

/* The analysis of A, NULL: it does not suit; and the pattern of its factors. */
static void *analysed(trs_lu *lu, const full *A, bool named, bool cholesky, trs_csc *csc)
{
    trs_mat m = show_full(A, &plain);
    void *data = NULL;
    assert_int_equal(trs_lu_csc(lu, &m, csc), TRS_OK);
    csc->hermitian = cholesky;
    assert_int_equal(trs_method_static.analyse(lu, csc, NULL, named, &data), TRS_OK);
    hide(&m);
    return data;
}

static bool suits(const full *A)
{
    trs_lu lu = on_device();
    trs_csc csc;
    void *data = analysed(&lu, A, false, false, &csc);
    trs_method_static.release(&lu, data);
    trs_lu_csc_free(&lu, &csc);
#ifdef HAVE_KLU
    if (lu.order) trs_klu_order_free(&lu, lu.order);
    trs_lu_free(&lu, lu.order);
#endif
    return data != NULL;
}

/* in [i + n*j]: may L + U of A + A' have (i, j)?  P is its order. */
static void eliminate(const full *A, const int64_t *P, bool *in)
{
    const int n = A->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            in[i + n * j] = i == j || A->a[P[i] + n * P[j]] != 0 || A->a[P[j] + n * P[i]] != 0;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                if (in[i + n * k] && in[k + n * j]) in[i + n * j] = true;
}

/* Has m, whose majors are the columns of the pattern below the diagonal, just its entries, in order? */
static void check_triangle(const trs_mat *m, const bool *in)
{
    const int n = (int)m->n;
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    int64_t p = 0;
    for (int j = 0; j < n; j++) {
        assert_int_equal(ptr[j], p);
        for (int i = j; i < n; i++)
            if (in[i + n * j]) {
                assert_int_equal(idx[p++], i);
            }
    }
    assert_int_equal(ptr[n], p);
    assert_int_equal(m->nnz, p);
}

static void patterns(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            full A = symmetric ? hermitian(N, c, 50) : unsymmetric(N, c);
            bool *in = calloc((size_t)A.n * (size_t)A.n, 1);
            trs_lu lu = on_device();
            trs_factors f = {0};
            trs_csc csc;
            void *data = analysed(&lu, &A, true, symmetric, &csc);
            assert_int_equal(trs_method_static.numeric(&lu, &csc, data, &f), TRS_OK);
            assert_int_equal(trs_method_static.take(&lu, &csc, data, &f), TRS_OK);
            assert_true(f.symbolic && f.cholesky == symmetric);
            eliminate(&A, f.P, in);
            assert_int_equal(f.L.format, TRS_CSC);
            check_triangle(&f.L, in);
            if (!symmetric) { /* by rows: U' has L's pattern */
                assert_int_equal(f.U.format, TRS_CSR);
                assert_memory_equal(f.Q, f.P, N * sizeof *f.P);
                check_triangle(&f.U, in);
            }
            trs_lu_factors_free(&lu, &f);
            trs_method_static.release(&lu, data);
            trs_lu_csc_free(&lu, &csc);
            free(in);
            free(A.a);
        }
}

/* A full matrix, all of whose entries below the diagonal are e. */
static full filled(int n, double e)
{
    full A = full_new(n, false);
    for (int k = 0; k < n * n; k++) A.a[k] = k % n > k / n ? e : 1;
    return A;
}

static void choice(void **state)
{
    (void)state;
    full large = filled(600, 0.5), band = filled(1000, 0.5), weak = filled(600, 200);
    for (int k = 0; k < 1000 * 1000; k++)
        if (abs(k % 1000 - k / 1000) > 3) band.a[k] = 0;
    assert_true(suits(&large));
    assert_false(suits(&band)); /* 3 flops an entry */
    assert_false(suits(&weak));
    for (int k = 1; k < 600; k++) /* triangular: A + A' has twice the entries */
        for (int i = k; i < 600; i++) large.a[i + 600 * (k - 1)] = 0;
    assert_false(suits(&large));
    free(large.a);
    free(band.a);
    free(weak.a);
}

/* ---- on the host ------------------------------------------------------------------------------------- */

/* A full matrix whose diagonal dominates. */
static full dominant(int n, bool is_complex)
{
    full A = full_new(n, is_complex);
    for (int k = 0; k < n * n; k++) A.a[k] = number(is_complex) + (k % n == k / n ? 2 * n : 0);
    return A;
}

/* max |L U - A(P, Q)| / max |A|, by sums over full matrices. */
static double identity_error(const trs_lu *lu, const full *A)
{
    trs_mat lower, upper;
    const int64_t *P, *Q;
    const double *scale;
    const int n = A->n;
    double worst = 0, most = 0;
    assert_int_equal(trs_lu_factors(lu, &lower, &upper, &P, &Q, &scale), TRS_OK);
    assert_null(scale);
    full L = unfold(&lower), U = unfold(&upper);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            zz sum = -A->a[P[i] + n * Q[j]];
            most = larger(most, cabs(sum));
            for (int k = 0; k <= i && k <= j; k++) sum += L.a[i + n * k] * U.a[k + n * j];
            if (!(cabs(sum) <= worst)) worst = cabs(sum);
        }
    free(L.a);
    free(U.a);
    return worst / most;
}

/* The largest backward error of solves with all ops. */
static double omega_of(trs_lu *lu, const trs_mat *m)
{
    const int n = (int)m->n;
    void *b = calloc((size_t)n, sizeof(zz)), *x = calloc((size_t)n, sizeof(zz));
    double worst = 0;
    for (int i = 0; i < n; i++) set_value(b, m->dtype, i, number(m->dtype == TRS_C64));
    for (trs_op op = TRS_N; op <= TRS_H; op++) {
        trs_error e;
        assert_int_equal(trs_lu_solve(lu, op, 1, b, n, x, n, NULL), TRS_OK);
        assert_int_equal(trs_backward_error(m, op, 1, b, n, x, n, TRS_COL_MAJOR, &e), TRS_OK);
        if (!(e.omega <= worst)) worst = e.omega;
    }
    free(b);
    free(x);
    return worst;
}

static const char *library_of(const trs_lu *lu)
{
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    return info.library;
}

static void numbers(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int f = 0; f < FORMS; f++) {
            const trs_factor_options opt = {.plan = {.ops = 7}};
            const bool fits = forms[f].format != TRS_DENSE;
            full A = dominant(160, c);
            const trs_dtype type = c ? forms[f].cplx : forms[f].real;
            round_to(&A, type);
            trs_mat m = show_full(&A, &forms[f]);
            trs_lu *lu;
            assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
            assert_int_equal(!strcmp(library_of(lu), "static pivots"), fits);
            if (fits) assert_true(identity_error(lu, &A) < 40 * DBL_EPSILON);
            assert_true(omega_of(lu, &m) < 40 * eps_of(type));
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* a(i, j) a(j, i) = 1 = a(i, i): on the diagonal every second pivot is zero, in any order. */
static full without_pivots(int n)
{
    full A = full_new(n, false);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const int power = i == j ? 0 : rand() % 7 - 3;
            A.a[i + n * j] = ldexp(1, power);
            A.a[j + n * i] = ldexp(1, -power);
        }
    return A;
}

/* A diagonal that is just not weak, so that L and U have large numbers; nearly: the last two rows are nearly alike. */
static full growing(int n, bool nearly)
{
    full A = dominant(n, false);
    for (int k = 0; k < n; k++) A.a[k + n * k] = 0.012;
    for (int j = 0; j < n && nearly; j++)
        A.a[n - 1 + n * j] = A.a[n - 2 + n * j] + 1e-13 * number(false);
    return A;
}

/* Pivots that do not suit: the library factors A, at first and later, also when they would suit again. */
static void pivots_that_grow(void **state)
{
    (void)state;
    const trs_factor_options named = {.method = "static"};
    for (int later = 0; later < 2; later++) {
        const trs_factor_options opt = {.plan = {.ops = 7}};
        full A = without_pivots(160), good = dominant(160, false);
        trs_mat m = show_full(&A, &plain), first = show_full(&good, &plain);
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, later ? &first : &m, &opt), TRS_OK);
        assert_int_equal(!strcmp(library_of(lu), "static pivots"), later);
        if (later) assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_string_not_equal(library_of(lu), "static pivots");
        assert_true(omega_of(lu, &m) < 1e-13);
        assert_int_equal(trs_lu_update(lu, &first), TRS_OK);
        assert_true(omega_of(lu, &first) < 1e-13);
        trs_lu_destroy(lu);
        assert_refused(lu, trs_factor(&lu, &m, &named), TRS_EGROWTH, "do not suit");
        hide(&m);
        hide(&first);
        free(A.a);
        free(good.a);
    }
    full A = growing(160, true);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    assert_refused(lu, trs_factor(&lu, &m, &named), TRS_EGROWTH, "cost too many digits");
    hide(&m);
    free(A.a);
}

/* Growth that a step of refinement repairs, which all solves then take. */
static void growth_that_is_repaired(void **state)
{
    (void)state;
    const trs_factor_options opt = {.plan = {.ops = 7}};
    full A = growing(160, false);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    trs_lu_info info;
    assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
    assert_true(omega_of(lu, &m) < 4 * DBL_EPSILON);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_string_equal(info.library, "static pivots");
    assert_int_equal(info.refines, 1);
    assert_true(omega_of(lu, &m) < 40 * DBL_EPSILON);
    hide(&m);
    trs_lu_destroy(lu);
    free(A.a);
}

/* What fronts cannot compute again, and what a library does better. */
static void left_to_libraries(void **state)
{
    (void)state;
    full A = dominant(160, false), H = dominant(160, false);
    for (int i = 0; i < 160; i++)
        for (int j = 0; j < i; j++) H.a[i + 160 * j] = H.a[j + 160 * i];
    trs_mat m = show_full(&A, &plain), h = show_full(&H, &plain);
    const trs_factor_options single = {.single = 1}, once = {.plan.solves = 1}, none = {0};
    const trs_factor_options skip = {.plan.pivot = TRS_PIVOT_SKIP};
    const trs_factor_options named = {.method = "static", .single = 1};
    const struct {
        const trs_mat *m;
        const trs_factor_options *opt;
        bool is_static;
    } cases[] = {{&m, &none, true},
                 {&m, &single, false},
                 {&m, &once, true},
                 {&m, &skip, false},
                 {&h, &none, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, cases[k].m, cases[k].opt), TRS_OK);
        assert_int_equal(!strcmp(library_of(lu), "static pivots"), cases[k].is_static);
        trs_lu_destroy(lu);
    }
    trs_lu *lu;
    assert_refused(lu, trs_factor(&lu, &m, &named), TRS_ESUPPORT, "double precision");
    hide(&m);
    hide(&h);
    free(A.a);
    free(H.a);
}

/* Each allocation of the factorisation fails once. */
static void out_of_memory(void **state)
{
    (void)state;
    full A = dominant(110, false);
    trs_mat m = show_full(&A, &plain);
    bool refused = true;
    for (int at = 0; refused; at++) {
        counter c = {.fail_at = at};
        const trs_factor_options opt = {.method = "static", .plan = {.memory = counted_memory(&c)}};
        trs_lu *lu;
        const int rc = trs_factor(&lu, &m, &opt);
        refused = was_refused(&c);
        assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
        if (rc) assert_true(*trs_message());
        trs_lu_destroy(lu);
        assert_int_equal(c.live, 0);
    }
    hide(&m);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns),
                                       cmocka_unit_test(choice),
                                       cmocka_unit_test(numbers),
                                       cmocka_unit_test(pivots_that_grow),
                                       cmocka_unit_test(left_to_libraries),
                                       cmocka_unit_test(out_of_memory),
                                       cmocka_unit_test(growth_that_is_repaired)};
    return cmocka_run_group_tests_name("t_static", tests, NULL, NULL);
}
