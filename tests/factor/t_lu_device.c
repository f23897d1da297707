/* t_lu_device.c: complete factors that are computed on a device by the pivots of a library: L U = R A(P, Q), or L L^H, also
 * with new values from either side, and with entries that cancelled at first.  Values that drift away from the pivots are
 * seen before x is wrong, and factored again on demand. */
#include "there.h"

#include "base/number/number.h"
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
            worst = larger(worst, cabs(sum - a) / size);
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
        r = larger(r, cabs(sum));
        size = larger(size, s);
    }
    return r / size;
}

/* x by the plans, with b of this type on the device. */
static void solve_there(trs_lu *lu, trs_dtype t, int n, const zz *b, zz *x)
{
    const size_t bytes = (size_t)n * size_of(t);
    char *v = calloc(1, bytes);
    for (int k = 0; k < n; k++) set_value(v, t, k, b[k]);
    void *d = array_there(v, bytes);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, d, n, d, n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), v, d, bytes), TRS_OK);
    for (int k = 0; k < n; k++) x[k] = get_value(v, t, k);
    free_there(d);
    free(v);
}

static trs_lu_info info_of(const trs_lu *lu)
{
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    return info;
}

static void check(trs_lu *lu, const full *A, trs_dtype t)
{
    zz b[64], x[64];
    trs_det det;
    for (int k = 0; k < 64; k++) b[k] = (float)uniform();
    const double worst = residual(lu, A, b, x);
    if (!(worst <= 64 * DBL_EPSILON))
        print_message("%s %s by %s: residual %.3g eps\n", info_of(lu).library, info_of(lu).ordering,
                      info_of(lu).kernel ? info_of(lu).kernel : "the host", worst / DBL_EPSILON);
    assert_true(worst <= 64 * DBL_EPSILON);
    assert_true(error_of(A, b, x) <= 1e-10);
    solve_there(lu, t, A->n, b, x);
    assert_true(error_of(A, b, x) <= (trs_is_single(t) ? 1e-5 : 1e-10));
    assert_int_equal(trs_lu_determinant(lu, &det), TRS_OK);
    assert_true(det.mantissa >= 1 && det.mantissa < 2);
}

/* Other values on the pattern, which do not change the pivots much; still Hermitian on demand. */
static void perturb(full *A, bool symmetric, double by)
{
    const int n = A->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (symmetric && i < j) A->a[i + n * j] = conj(A->a[j + n * i]);
            else A->a[i + n * j] *= 1 + by * uniform();
        }
}

static void renew(twin *t, bool symmetric)
{
    perturb(&t->A, symmetric, 0.01);
    round_to(&t->A, t->m.dtype);
    twin_renew(t);
}

static full matrix(int symmetric, bool is_complex)
{
    return symmetric ? hermitian(40, is_complex, 50) : unsymmetric(40, is_complex);
}

static void new_values(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++)
        for (int symmetric = 0; symmetric < 2; symmetric++)
            for (int k = 0; k < FORMS; k++) {
                const bool stays = forms[k].format != TRS_DENSE;
                full A = matrix(symmetric, c);
                round_to(&A, c ? forms[k].cplx : forms[k].real);
                twin t = twin_new(A, &forms[k]);
                trs_lu *lu = factored(k % 2 ? &t.d : &t.m, (trs_factor_options){0}, stays);
                check(lu, &A, t.m.dtype);
                for (int side = 0; side < 3; side++) { /* the last: without a pattern */
                    renew(&t, symmetric);
                    trs_mat values = side == 1 ? t.m : t.d;
                    if (side == 2) values.ptr = values.idx = NULL;
                    assert_int_equal(trs_lu_update(lu, &values), TRS_OK);
                    check(lu, &A, t.m.dtype);
                }
                trs_lu_destroy(lu);
                twin_free(&t);
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
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = factored(&m, opt, true);
    check(lu, &A, m.dtype);
    A.a[2] = 2;
    hide(&m);
    m = show_full(&A, &plain);
    assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    check(lu, &A, m.dtype);
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
    trs_mat a = show_full(&A, &plain), b = show_full(&B, &plain);
    trs_lu *lu = factored(&a, (trs_factor_options){0}, true);
    assert_int_equal(trs_lu_update(lu, &b), TRS_OK);
    check(lu, &B, TRS_F64);
    assert_int_equal(trs_lu_update(lu, &a), TRS_OK);
    check(lu, &A, TRS_F64);
    trs_lu_destroy(lu);
    hide(&a);
    hide(&b);
    free(A.a);
    free(B.a);
}

/* Plans in single precision. */
static void single_precision(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        twin t = twin_new(matrix(symmetric, false), &plain);
        trs_lu *lu = factored(&t.m, (trs_factor_options){.single = 1}, true);
        for (int again = 0; again < 2; again++) {
            zz b[40], x[40];
            for (int k = 0; k < 40; k++) b[k] = uniform();
            solve_there(lu, TRS_F64, 40, b, x);
            const double error = error_of(&t.A, b, x);
            assert_true(error <= 1e-4 && error > 1e-14);
            assert_int_equal(trs_lu_update(lu, &t.d), TRS_OK);
        }
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

/* |b - A x| / (|A| |x| + |b|) of the sparse matrix m, in the maximum norm. */
static double sparse_error(const trs_mat *m, const double *b, const double *x)
{
    double *r = calloc(2 * (size_t)m->n, sizeof *r), *size = r + m->n, most = 0, large = 0;
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = ptr[l]; p < ptr[l + 1]; p++) {
            const int64_t i = m->format == TRS_CSC ? idx[p] : l,
                          j = m->format == TRS_CSC ? l : idx[p];
            const double v = creal(get_value(m->val, m->dtype, p)) * x[j];
            r[i] += v;
            size[i] += fabs(v);
        }
    for (int64_t i = 0; i < m->n; i++) {
        most = larger(most, fabs(b[i] - r[i]));
        large = larger(large, size[i] + fabs(b[i]));
    }
    free(r);
    return most / large;
}

/* Entry (i, j) and entry (j, i) change alike, and no two others: what cancelled exactly does so no more. */
static double noise(int64_t i, int64_t j)
{
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return 1 + 1e-8 * sin((double)(7 * low + 13 * high + 1));
}

/* 10 perturbed systems on the pattern of a real matrix, whose values are changed. */
static void follow_values(trs_lu *lu, const trs_mat *m, double *worst)
{
    const int n = (int)m->n;
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    const size_t bytes = (size_t)n * sizeof(double);
    trs_mat d = there(m);
    double *val = (double *)m->val, *b = malloc(2 * bytes + 1), *x = b + n;
    *worst = 0;
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < n; i++) b[i] = uniform();
        for (int i = 0; i < n; i++) /* row and column i alike, so that it stays definite */
            for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
                val[p] *= (1 + 0.01 * b[i]) * (1 + 0.01 * b[idx[p]]) * noise(i, idx[p]);
        send_values(&d, m);
        void *v = array_there(b, bytes);
        assert_int_equal(trs_lu_update(lu, &d), TRS_OK);
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, v, n, v, n, NULL), TRS_OK);
        assert_int_equal(trs_lu_status(lu, NULL, NULL, NULL), TRS_OK);
        assert_int_equal(trs_device_get(TRS_CUDA(0), x, v, bytes), TRS_OK);
        *worst = larger(*worst, sparse_error(m, b, x));
        free_there(v);
    }
    free(b);
    away(&d);
}

static void real_matrices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const char *const files[] = {"1138_bus.mtx",    "bcsstk02.mtx",         "bfwa62.mtx",
                                        "cavity10.mtx.xz", "impcol_a.mtx",         "plskz362.mtx",
                                        "rdb3200l.mtx",    "superlu_airfoil2.mtx", "west0067.mtx"};
    const char *dir = getenv("TRS_SRCDIR");
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char path[500];
        trs_mm mm;
        trs_mat m;
        double worst;
        snprintf(path, sizeof path, "%s/matrices/%s", dir ? dir : ".", files[k]);
        if (trs_mm_read(path, NULL, &mm)) {
            print_message("%s: %s\n", path, trs_message());
            continue;
        }
        trs_mm_mat(&mm, 0, &m);
        trs_lu *lu = NULL;
        const trs_factor_options opt = {.plan.device = TRS_CUDA(0)};
        assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
        follow_values(lu, &m, &worst);
        const trs_lu_info info = info_of(lu);
        print_message("%s: %s %s, error %.1e\n", files[k], info.library,
                      info.kernel ? info.kernel : "on the host", worst);
        assert_true(worst <= 1e-12);
        trs_lu_destroy(lu);
        trs_mm_free(&mm);
    }
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

/* How many of 100 systems were not solved by these pivots. */
static int follow(trs_growth on_growth)
{
    enum { N = 40 };
    const full first = dominant(N);
    full A = full_new(N, false);
    memcpy(A.a, first.a, N * N * sizeof *A.a);
    twin t = twin_new(A, &plain);
    trs_lu *lu = factored(&t.m, (trs_factor_options){.on_growth = on_growth}, true);
    int caught = 0;
    for (int s = 0; s < 100; s++) {
        zz b[N], x[N];
        int64_t bad, row;
        double growth;
        drift(&A, &first, s);
        twin_renew(&t);
        const int rc = trs_lu_update(lu, &t.d), now = trs_lu_status(lu, &bad, &row, &growth);
        assert_int_equal(rc, TRS_OK);
        if (now) {
            assert_int_equal(now, TRS_EGROWTH);
            assert_true(growth > 1e6);
            caught++;
            continue;
        }
        for (int k = 0; k < N; k++) b[k] = uniform();
        residual(lu, &A, b, x);
        assert_true(error_of(&A, b, x) <= 1e-8);
    }
    trs_lu_destroy(lu);
    twin_free(&t);
    free(first.a);
    return caught;
}

static void drifting(void **state)
{
    (void)state;
    if (!has_device()) skip();
    const int caught = follow(TRS_GROWTH_REPORT);
    print_message("%d of 100 systems need other pivots\n", caught);
    assert_in_range(caught, 10, 90);
    assert_int_equal(follow(TRS_GROWTH_REFACTOR), 0);
}

/* ---- pivots on the diagonal, from the first values on -------------------------------------------------- */

static void static_pivots(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++)
        for (int symmetric = 0; symmetric < 2; symmetric++)
            for (int k = 0; k < FORMS; k++) {
                if (forms[k].format == TRS_DENSE) continue;
                full A = matrix(symmetric, c);
                for (int i = 0; i < A.n; i++) A.a[i + A.n * i] = 50;
                round_to(&A, c ? forms[k].cplx : forms[k].real);
                twin t = twin_new(A, &forms[k]);
                const trs_factor_options opt = {.method = "static"};
                trs_lu *lu = factored(k % 2 ? &t.d : &t.m, opt, true);
                assert_string_equal(info_of(lu).library, "static pivots");
                check(lu, &A, t.m.dtype);
                renew(&t, symmetric);
                assert_int_equal(trs_lu_update(lu, &t.d), TRS_OK);
                check(lu, &A, t.m.dtype);
                trs_lu_destroy(lu);
                twin_free(&t);
            }
}

/* A full matrix of 600 rows, with this diagonal: numbers enough for the device to be worth it. */
static full large_one(double diagonal)
{
    full A = full_new(600, false);
    for (int k = 0; k < A.n * A.n; k++) A.a[k] = uniform();
    for (int k = 0; k < A.n; k++) A.a[k + A.n * k] = diagonal;
    return A;
}

/* By itself where the diagonal is strong; where the factors grow, a library chooses pivots, now and later. */
static void static_or_not(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int good = 0; good < 2; good++) {
        full A = large_one(good ? 600 : 0.02);
        zz *b = calloc(2 * (size_t)A.n, sizeof *b), *x = b + A.n;
        twin t = twin_new(A, &plain);
        trs_lu *lu = NULL;
        const trs_factor_options opt = {.plan.device = TRS_CUDA(0)};
        for (int k = 0; k < A.n; k++) b[k] = uniform();
        for (int again = 0; again < 2; again++) {
            const int rc = again ? trs_lu_update(lu, &t.m) : trs_factor(&lu, &t.m, &opt);
            if (rc) fail_msg("%s", trs_message());
            assert_int_equal(!strcmp(info_of(lu).library, "static pivots"), good);
            solve_there(lu, TRS_F64, A.n, b, x);
            assert_true(error_of(&A, b, x) <= 1e-11); /* threshold pivoting, not refined */
        }
        trs_lu_destroy(lu);
        const trs_factor_options named = {.plan.device = TRS_CUDA(0), .method = "static"};
        assert_int_equal(trs_factor(&lu, &t.m, &named), good ? TRS_OK : TRS_EGROWTH);
        trs_lu_destroy(lu);
        twin_free(&t);
        free(b);
    }
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
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu = factored(&m, opt, true);
        const zz kept = A.a[0];
        A.a[0] = 0.25, A.a[4 + 6 * 4] = 4; /* singular: 0.25 1; 1 4 */
        hide(&m);
        m = show_full(&A, &plain);
        const int rc = trs_lu_update(lu, &m);
        if (g == TRS_GROWTH_REPORT) {
            assert_int_equal(rc, TRS_OK);
            assert_int_equal(trs_lu_status(lu, &bad, &first, &growth), TRS_EPIVOT);
            print_message("%s\n", trs_message());
            assert_true(bad > 0 && (first == 0 || first == 4));
        } else assert_int_equal(rc, TRS_EPIVOT); /* the host finds none either */
        A.a[0] = kept;
        hide(&m);
        m = show_full(&A, &plain);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_int_equal(trs_lu_status(lu, &bad, &first, &growth), TRS_OK);
        check(lu, &A, m.dtype);
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
        twin t = twin_new(matrix(symmetric, false), &plain);
        trs_lu *lu = factored(&t.d, (trs_factor_options){0}, true);
        cudaStream_t s = new_stream();
        const trs_exec exec = {.stream = s};
        assert_int_equal(trs_lu_update_on(lu, &t.d, &exec), TRS_OK);
        begin_capture(s);
        const int rc = trs_lu_update_on(lu, &t.d, &exec);
        cudaGraphExec_t graph = end_capture(s);
        assert_int_equal(rc, TRS_OK);
        for (int step = 0; step < 5; step++) {
            renew(&t, symmetric);
            assert_int_equal(cudaGraphLaunch(graph, s), cudaSuccess);
            assert_int_equal(trs_lu_status(lu, NULL, NULL, NULL), TRS_OK);
            check(lu, &t.A, TRS_F64);
        }
        cudaGraphExecDestroy(graph);
        cudaStreamDestroy(s);
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_values),       cmocka_unit_test(cancellation),
        cmocka_unit_test(another_pattern),  cmocka_unit_test(drifting),
        cmocka_unit_test(single_precision), cmocka_unit_test(real_matrices),
        cmocka_unit_test(zero_pivot),       cmocka_unit_test(static_pivots),
        cmocka_unit_test(static_or_not),    cmocka_unit_test(replayed),
    };
    return cmocka_run_group_tests_name("lu_device", tests, NULL, NULL);
}
