/* t_cond.c: the estimate of the condition number is compared with the inverse of the full matrix, and with LAPACK's trcon. */
#include "tests/common/model.h"

#include <float.h>
#include <math.h>
#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

/* The model as a full column-major matrix, with the values that the form gives it. */
static zz *full_of(const model *m, const form *f)
{
    zz *a = calloc((size_t)(m->n * m->n) + 1, sizeof *a);
    assert_non_null(a);
    for (int64_t k = 0; k < m->nnz; k++) {
        zz v = f->unit && m->row[k] == m->col[k] ? 1 : m->val[k];
        a[m->row[k] + m->n * m->col[k]] = trs_is_complex(f->dtype) ? v : creal(v);
    }
    return a;
}

static double norm_of(const zz *a, int n, trs_norm which)
{
    double most = 0;
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int l = 0; l < n; l++)
            sum += cabs(which == TRS_NORM_ONE ? a[l + n * k] : a[k + n * l]);
        most = larger(most, sum);
    }
    return most;
}

/* The inverse, column by column, with rows in the order of their dependencies: those before row c stay zero. */
static zz *inverse_of(const zz *a, int n, bool upper)
{
    zz *v = calloc((size_t)(n * n) + 1, sizeof *v);
    assert_non_null(v);
    for (int c = 0; c < n; c++)
        for (int k = upper ? n - 1 - c : c, first = k; k < n; k++) {
            const int i = upper ? n - 1 - k : k;
            zz sum = i == c;
            for (int l = first; l < k; l++) {
                const int j = upper ? n - 1 - l : l;
                sum -= a[i + n * j] * v[j + n * c];
            }
            v[i + n * c] = sum / a[i + n * i];
        }
    return v;
}

#ifdef HAVE_LAPACKE
static double trcon(const zz *a, int n, bool upper, trs_norm which, trs_dtype t)
{
    const char norm = which == TRS_NORM_ONE ? '1' : 'I', uplo = upper ? 'U' : 'L';
    void *b = calloc((size_t)(n * n), sizeof(zz));
    double rcond = 0;
    float single = 0;
    for (int k = 0; k < n * n; k++) set_number(b, t, k, a[k]);
    int rc = 0;
    switch (t) {
    case TRS_F64:
        rc = LAPACKE_dtrcon(LAPACK_COL_MAJOR, norm, uplo, 'N', n, b, n, &rcond);
        break;
    case TRS_F32:
        rc = LAPACKE_strcon(LAPACK_COL_MAJOR, norm, uplo, 'N', n, b, n, &single);
        break;
    case TRS_C64:
        rc = LAPACKE_ztrcon(LAPACK_COL_MAJOR, norm, uplo, 'N', n, b, n, &rcond);
        break;
    case TRS_C32:
        rc = LAPACKE_ctrcon(LAPACK_COL_MAJOR, norm, uplo, 'N', n, b, n, &single);
        break;
    default:
        fail();
    }
    assert_int_equal(rc, 0);
    free(b);
    return t == TRS_F32 || t == TRS_C32 ? (double)single : rcond;
}
#endif

static trs_plan *plan_of(const trs_mat *a, unsigned ops)
{
    trs_plan *plan;
    const trs_options opt = {.ops = ops, .solver = "cpu-serial"};
    int rc = trs_plan_create(&plan, a, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    assert_status(rc, TRS_OK);
    return plan;
}

static double worst, apart;

static void one_triangle(pattern p, uint64_t seed)
{
    random_t r = {seed};
    form f = form_random((trs_dtype)(seed % 4), &r);
    model m = model_new(p, seed % 3 == 0, true, trs_is_complex(f.dtype), &r);
    if (m.n == 0 || m.n > 300) {
        model_free(&m);
        return;
    }
    trs_mat a = show(&m, &f, &r);
    trs_plan *plan = plan_of(&a, 7);
    zz *T = full_of(&m, &f), *V = inverse_of(T, m.n, m.upper);
    for (trs_norm which = TRS_NORM_ONE; which <= TRS_NORM_INF; which++) {
        double rcond, exact = 1 / (norm_of(T, m.n, which) * norm_of(V, m.n, which));
        assert_int_equal(trs_condest(plan, &a, which, &rcond), TRS_OK);
        const double loose = exact > 100 * epsilon(f.dtype) ? 0.1 : 10;
        assert_at_most(exact, rcond * (1 + loose));
        /* it is nearly always within a factor of 3, but no bound is known */
        assert_at_most(rcond, exact * (100 + loose));
        if (exact > 100 * epsilon(f.dtype)) worst = larger(worst, rcond / exact);
#ifdef HAVE_LAPACKE
        const double lapack = trcon(T, m.n, m.upper, which, f.dtype);
        if (exact > 1e3 * epsilon(f.dtype)) {
            assert_at_most(fabs(rcond - lapack), 1e3 * epsilon(f.dtype) / exact * lapack);
            if (f.dtype == TRS_F64) apart = larger(apart, fabs(rcond - lapack) / lapack);
        }
#endif
    }
    free(T), free(V);
    trs_plan_destroy(plan);
    mat_free(&a);
    model_free(&m);
}

static void test_triangles(void **state)
{
    (void)state;
    for (int p = 0; p < PATTERNS; p++)
        for (uint64_t seed = 1; seed <= 24; seed++) one_triangle((pattern)p, seed);
    print_message("at most %.2g times too good, from LAPACK %.2g\n", worst, apart);
}

/* A known inverse: T with ones on the diagonal and -1 below has |T^-1| = 2^(n-1). */
static void test_known(void **state)
{
    (void)state;
    enum { N = 40 };
    int64_t ptr[N + 1] = {0};
    int32_t idx[N * N];
    double val[N * N], rcond;
    for (int i = 0; i < N; i++) {
        ptr[i + 1] = ptr[i];
        for (int j = 0; j <= i; j++) idx[ptr[i + 1]] = j, val[ptr[i + 1]++] = i == j ? 1 : -1;
    }
    trs_mat a = {.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    trs_plan *plan = plan_of(&a, 7);
    assert_int_equal(trs_condest(plan, &a, TRS_NORM_ONE, &rcond), TRS_OK);
    assert_at_most(fabs(rcond * N * 549755813888.0 - 1), 1e-12); /* 2^39 */
    a.kind |= TRS_UNIT; /* the same when the diagonal is not read */
    trs_plan *unit = plan_of(&a, 7);
    for (int i = 0; i < N; i++) val[ptr[i + 1] - 1] = NAN;
    assert_int_equal(trs_condest(unit, &a, TRS_NORM_ONE, &rcond), TRS_OK);
    assert_at_most(fabs(rcond * N * 549755813888.0 - 1), 1e-12);
    trs_plan_destroy(plan);
    trs_plan_destroy(unit);
}

/* An inverse below 1: of 8 I the condition number is 1. */
static void test_large_numbers(void **state)
{
    (void)state;
    enum { N = 6 };
    int64_t ptr[N + 1] = {0};
    int32_t idx[N];
    double val[N], rcond;
    for (int i = 0; i < N; i++) idx[i] = i, val[i] = 8, ptr[i + 1] = i + 1;
    const trs_mat a = {.n = N, .nnz = N, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    trs_plan *plan = plan_of(&a, 7);
    for (trs_norm which = TRS_NORM_ONE; which <= TRS_NORM_INF; which++) {
        assert_int_equal(trs_condest(plan, &a, which, &rcond), TRS_OK);
        assert_true(rcond == 1);
    }
    trs_plan_destroy(plan);
}

static void test_wrong_use(void **state)
{
    (void)state;
    random_t r = {5};
    form f = form_random(TRS_F64, &r);
    f.format = TRS_CSR;
    model m = model_new(RANDOM, false, true, false, &r);
    trs_mat a = show(&m, &f, &r), b = a;
    trs_plan *plan = plan_of(&a, 7), *only = plan_of(&a, 1u << TRS_N);
    double rcond;
    assert_int_equal(trs_condest(NULL, &a, TRS_NORM_ONE, &rcond), TRS_EARG);
    assert_int_equal(trs_condest(plan, NULL, TRS_NORM_ONE, &rcond), TRS_EARG);
    assert_int_equal(trs_condest(plan, &a, TRS_NORM_ONE, NULL), TRS_EARG);
    assert_int_equal(trs_condest(plan, &a, (trs_norm)2, &rcond), TRS_EARG);
    assert_int_equal(trs_condest(only, &a, TRS_NORM_ONE, &rcond), TRS_ESTATE);
    b.device = TRS_CUDA(1000000);
    assert_int_equal(trs_condest(plan, &b, TRS_NORM_ONE, &rcond), TRS_EDEVICE);
    b = a;
    b.kind ^= TRS_UNIT;
    assert_int_equal(trs_condest(plan, &b, TRS_NORM_ONE, &rcond), TRS_EARG);
    b = a;
    b.ptr = NULL;
    assert_int_equal(trs_condest(plan, &b, TRS_NORM_ONE, &rcond), TRS_EARG);
    trs_plan_destroy(plan);
    trs_plan_destroy(only);
    mat_free(&a);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests_name("cond", tests, NULL, NULL);
}
