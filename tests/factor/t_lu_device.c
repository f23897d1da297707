/* t_lu_device.c: complete factors that are computed on a device by the pivots of a library: L U = R A(P, Q), or L L^H, also with
 * new values from either side, and with entries that cancelled at first.  Values that drift away from the pivots are seen
 * before x is wrong, and factored again on demand. */
#include "there.h"

#include "trisolve-suitesparse.h"

static trs_lu *factored(const trs_mat *m, trs_factor_options opt, bool on_device)
{
    trs_lu *lu;
    trs_lu_info info;
    opt.plan.device = TRS_CUDA(0);
    const int rc = trs_factor(&lu, m, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_int_equal(info.kernel != NULL, on_device);
    return lu;
}

/* The largest |L U - R A(P, Q)| / (|L| |U|), of factors as full matrices; *x solves A x = b by them. */
static double residual(const trs_lu *lu, const full *A, const zz *b, zz *x)
{
    const int n = A->n;
    trs_mat l, u;
    const int64_t *P, *Q;
    const double *scale;
    double worst = 0;
    assert_int_equal(trs_lu_factors(lu, &l, &u, &P, &Q, &scale), TRS_OK);
    full L = unfold(&l), U;
    if (u.ptr) U = unfold(&u);
    else {
        U = full_new(n, L.is_complex);
        for (int k = 0; k < n * n; k++) U.a[k] = conj(L.a[k / n + n * (k % n)]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const zz a = A->a[P[i] + n * Q[j]] * (scale ? scale[P[i]] : 1);
            zz sum = 0;
            double size = 1e-300;
            for (int k = 0; k < n; k++) {
                sum += L.a[i + n * k] * U.a[k + n * j];
                size += cabs(L.a[i + n * k] * U.a[k + n * j]);
            }
            worst = fmax(worst, cabs(sum - a) / size);
        }
    zz *y = calloc((size_t)n, sizeof *y);
    for (int i = 0; i < n; i++) {
        y[i] = b[P[i]] * (scale ? scale[P[i]] : 1);
        for (int k = 0; k < i; k++) y[i] -= L.a[i + n * k] * y[k];
        y[i] /= L.a[i + n * i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) y[i] -= U.a[i + n * k] * y[k];
        y[i] /= U.a[i + n * i];
        x[Q[i]] = y[i];
    }
    free(y);
    free(L.a);
    free(U.a);
    return worst;
}

/* |b - A x| / (|A| |x| + |b|) in the maximum norm. */
static double error_of(const full *A, const zz *b, const zz *x)
{
    const int n = A->n;
    double r = 0, size = 0;
    for (int i = 0; i < n; i++) {
        zz sum = b[i];
        double s = cabs(b[i]);
        for (int j = 0; j < n; j++)
            sum -= A->a[i + n * j] * x[j], s += cabs(A->a[i + n * j] * x[j]);
        r = fmax(r, cabs(sum));
        size = fmax(size, s);
    }
    return r / size;
}

static void check(const trs_lu *lu, const full *A)
{
    zz b[64], x[64];
    for (int k = 0; k < 64; k++) b[k] = uniform();
    const double worst = residual(lu, A, b, x);
    assert_true(worst <= 64 * DBL_EPSILON);
    assert_true(error_of(A, b, x) <= 1e-10);
}

/* Other values on the pattern, which do not change the pivots much; still Hermitian on demand. */
static void perturb(full *A, bool symmetric, double by)
{
    const int n = A->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (symmetric && i > j) A->a[i + n * j] = conj(A->a[j + n * i]);
            else A->a[i + n * j] *= 1 + by * uniform();
        }
}

static void round_to(full *f, trs_dtype t)
{
    if (t == TRS_F32 || t == TRS_C32)
        for (int k = 0; k < f->n * f->n; k++) f->a[k] = (zz)(float complex)f->a[k];
}

static void new_values(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++)
        for (int symmetric = 0; symmetric < 2; symmetric++)
            for (int k = 0; k < FORMS; k++) {
                const bool dense = forms[k].format == TRS_DENSE;
                full A = symmetric ? hermitian(40, c, 50) : unsymmetric(40, c);
                round_to(&A, forms[k].real);
                trs_mat m = show(&A, &forms[k]), d = there(&m);
                trs_lu *lu = factored(k % 2 ? &d : &m, (trs_factor_options){0}, !dense);
                check(lu, &A);
                for (int side = 0; side < 3; side++) { /* the last: without a pattern */
                    perturb(&A, symmetric, 0.01);
                    round_to(&A, forms[k].real);
                    hide(&m);
                    m = show(&A, &forms[k]);
                    send_values(&d, &m);
                    trs_mat values = side == 1 ? m : d;
                    if (side == 2) values.ptr = values.idx = NULL;
                    assert_int_equal(trs_lu_update(lu, &values), TRS_OK);
                    check(lu, &A);
                }
                trs_lu_destroy(lu);
                away(&d);
                hide(&m);
                free(A.a);
            }
}

/* Fill of (3, 4) cancels at first: 1 1 - 1 1. */
static void cancellation(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = full_new(4, false);
    for (int k = 0; k < 4; k++) A.a[k + 4 * k] = 4;
    A.a[2] = 1, A.a[2 + 4 * 1] = 1;
    A.a[4 * 3] = 1, A.a[1 + 4 * 3] = -1;
    const trs_factor_options opt = {.method = "umfpack", .ordering = "natural"};
    trs_mat m = show(&A, &plain);
    trs_lu *lu = factored(&m, opt, true);
    check(lu, &A);
    A.a[2] = 2;
    hide(&m);
    m = show(&A, &plain);
    assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    check(lu, &A);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* Another pattern on the host is factored anew; one pattern more or less there makes no difference. */
static void another_pattern(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = unsymmetric(30, false), B = unsymmetric(30, false);
    trs_mat a = show(&A, &plain), b = show(&B, &plain);
    trs_lu *lu = factored(&a, (trs_factor_options){0}, true);
    assert_int_equal(trs_lu_update(lu, &b), TRS_OK);
    check(lu, &B);
    assert_int_equal(trs_lu_update(lu, &a), TRS_OK);
    check(lu, &A);
    trs_lu_destroy(lu);
    hide(&a);
    hide(&b);
    free(A.a);
    free(B.a);
}

/* ---- values that leave their pivots ------------------------------------------------------------------ */

/* In step s some diagonal entries, which are pivots at first, are 10^(-s/6) times what they were. */
static void drift(full *A, const full *first, int s)
{
    const int n = A->n;
    memcpy(A->a, first->a, (size_t)(n * n) * sizeof *A->a);
    perturb(A, false, 0.01);
    for (int k = 0; k < n; k += 3) A->a[k + n * k] *= pow(10, -s / 6.0);
}

static full dominant(int n)
{
    full f = unsymmetric(n, false);
    for (int k = 0; k < n; k++) f.a[k + n * k] = n;
    return f;
}

/* *caught = how many of 100 systems were not solved by these pivots. */
static void follow(trs_growth on_growth, int *caught)
{
    enum { N = 40 };
    const full first = dominant(N);
    full A = full_new(N, false);
    memcpy(A.a, first.a, N * N * sizeof *A.a);
    trs_mat m = show(&A, &plain), d = there(&m);
    trs_lu *lu = factored(&m, (trs_factor_options){.on_growth = on_growth}, true);
    *caught = 0;
    for (int s = 0; s < 100; s++) {
        zz b[N], x[N];
        int64_t bad, row;
        double growth;
        drift(&A, &first, s);
        hide(&m);
        m = show(&A, &plain);
        send_values(&d, &m);
        const int rc = trs_lu_update(lu, &d), now = trs_lu_status(lu, &bad, &row, &growth);
        assert_int_equal(rc, TRS_OK);
        if (now) {
            assert_int_equal(now, TRS_EGROWTH);
            assert_true(growth > 1e6);
            ++*caught;
            continue;
        }
        for (int k = 0; k < N; k++) b[k] = uniform();
        residual(lu, &A, b, x);
        assert_true(error_of(&A, b, x) <= 1e-8);
    }
    trs_lu_destroy(lu);
    away(&d);
    hide(&m);
    free(A.a);
    free(first.a);
}

static void drifting(void **state)
{
    (void)state;
    if (!has_device()) skip();
    int caught;
    follow(TRS_GROWTH_REPORT, &caught);
    print_message("%d of 100 systems need other pivots\n", caught);
    assert_in_range(caught, 10, 90);
    follow(TRS_GROWTH_REFACTOR, &caught);
    assert_int_equal(caught, 0);
}

/* A pivot that becomes zero is told by its row of A, and is no hindrance where the host may look for another. */
static void zero_pivot(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = full_new(6, false);
    for (int k = 0; k < 6; k++) A.a[k + 6 * k] = 4;
    A.a[4] = A.a[6 * 4] = 1; /* 4 1; 1 4, rows 0 and 4 */
    for (trs_growth g = TRS_GROWTH_REPORT; g <= TRS_GROWTH_REFACTOR; g++) {
        const trs_factor_options opt = {.method = "umfpack", .on_growth = g};
        int64_t bad, first;
        double growth;
        trs_mat m = show(&A, &plain);
        trs_lu *lu = factored(&m, opt, true);
        const zz kept = A.a[0];
        A.a[0] = 0.25, A.a[4 + 6 * 4] = 4; /* singular: 0.25 1; 1 4 */
        hide(&m);
        m = show(&A, &plain);
        const int rc = trs_lu_update(lu, &m);
        if (g == TRS_GROWTH_REPORT) {
            assert_int_equal(rc, TRS_OK);
            assert_int_equal(trs_lu_status(lu, &bad, &first, &growth), TRS_EPIVOT);
            print_message("%s\n", trs_message());
            assert_true(bad > 0 && (first == 0 || first == 4));
        } else assert_int_equal(rc, TRS_EPIVOT); /* the host finds none either */
        A.a[0] = kept;
        hide(&m);
        m = show(&A, &plain);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_int_equal(trs_lu_status(lu, &bad, &first, &growth), TRS_OK);
        check(lu, &A);
        trs_lu_destroy(lu);
        hide(&m);
    }
    free(A.a);
}

/* ---- streams and graphs ---------------------------------------------------------------------------------- */

static void replayed(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        full A = symmetric ? hermitian(40, false, 50) : unsymmetric(40, false);
        trs_mat m = show(&A, &plain), d = there(&m);
        trs_lu *lu = factored(&d, (trs_factor_options){0}, true);
        cudaStream_t s = new_stream();
        const trs_exec exec = {.stream = s};
        assert_int_equal(trs_lu_update_on(lu, &d, &exec), TRS_OK);
        assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        const int rc = trs_lu_update_on(lu, &d, &exec);
        cudaGraphExec_t graph = end_capture(s);
        assert_int_equal(rc, TRS_OK);
        for (int step = 0; step < 5; step++) {
            int64_t bad, first;
            double growth;
            perturb(&A, symmetric, 0.01);
            hide(&m);
            m = show(&A, &plain);
            send_values(&d, &m);
            assert_int_equal(cudaGraphLaunch(graph, s), cudaSuccess);
            assert_int_equal(trs_lu_status(lu, &bad, &first, &growth), TRS_OK);
            check(lu, &A);
        }
        cudaGraphExecDestroy(graph);
        cudaStreamDestroy(s);
        trs_lu_destroy(lu);
        away(&d);
        hide(&m);
        free(A.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_values),      cmocka_unit_test(cancellation),
        cmocka_unit_test(another_pattern), cmocka_unit_test(drifting),
        cmocka_unit_test(zero_pivot),      cmocka_unit_test(replayed),
    };
    return cmocka_run_group_tests_name("lu_device", tests, NULL, NULL);
}
