/* t_det.c: determinants by every solver, compared with determinants that are known, of triangles with the product of
 * the diagonal in logarithms, and with LAPACK's; of singular matrices, and of those whose determinant no double can
 * hold. */
#include "tests/common/model.h"

#include <float.h>
#include <math.h>

#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

/* Is det = value 2^shift, to so many eps?  For 0 eps it must be exact. */
static void check_det(const trs_solver *s, const trs_det *d, zz value, int64_t shift, double most)
{
    const zz phase = d->re + d->im * I;
    const double apart = cabs(phase * scalbn(d->mantissa, (int)(d->exponent - shift)) - value);
    if (!(apart <= most * DBL_EPSILON * cabs(value)))
        fail_msg("%s: (%.17g + %.17g i) %.17g 2^%lld, not (%.17g + %.17g i) 2^%lld", s->name, d->re,
                 d->im, d->mantissa, (long long)d->exponent, creal(value), cimag(value),
                 (long long)shift);
    if (value == 0) assert_true(!d->re && !d->im && !d->mantissa && !d->exponent);
    else {
        assert_true(d->mantissa >= 1 && d->mantissa < 2);
        assert_at_most(fabs(cabs(phase) - 1), 2 * DBL_EPSILON);
        if (cimag(value) == 0) assert_true(fabs(d->re) == 1 && d->im == 0 && !signbit(d->im));
    }
}

/* ---- general matrices ----------------------------------------------------------------------- */

typedef struct known { /* a matrix whose determinant is known */
    int n;
    zz *a; /* [n*n] by columns */
    zz det;
} known;

static known known_new(int n, zz det)
{
    known k = {n, calloc((size_t)(n * n) + 1, sizeof *k.a), det};
    assert_non_null(k.a);
    return k;
}

static known by_hand(void) /* 2 (12 - 2) + (1 - 3) */
{
    static const double rows[9] = {2, 0, 1, 1, 3, 2, 1, 1, 4};
    known k = known_new(3, 18);
    for (int e = 0; e < 9; e++) k.a[e] = rows[e / 3 + e % 3 * 3];
    return k;
}

static known complex_by_hand(void) /* (1 + i) (4 - i) - 6 */
{
    known k = known_new(2, -1 + 3 * I);
    k.a[0] = 1 + I, k.a[1] = 3, k.a[2] = 2, k.a[3] = 4 - I;
    return k;
}

static known second_difference(int n)
{
    known k = known_new(n, n + 1);
    for (int i = 0; i < n; i++) {
        k.a[i + i * n] = 2;
        if (i > 0) k.a[i + (i - 1) * n] = k.a[i - 1 + i * n] = -1;
    }
    return k;
}

static known vandermonde(int n) /* of 1, 2, ..., n: the product of j - i, i < j */
{
    known k = known_new(n, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            k.a[i + j * n] = pow(i + 1, j);
            if (i < j) k.det *= j - i;
        }
    return k;
}

static known hilbert_of_5(void)
{
    known k = known_new(5, 1 / 266716800000.0);
    for (int e = 0; e < 25; e++) k.a[e] = 1.0 / (e / 5 + e % 5 + 1);
    return k;
}

/* The number-th permutation of n, with its sign from the inversions. */
static known permutation(int n, int number)
{
    known k = known_new(n, 1);
    int p[8], left[8];
    for (int i = 0; i < n; i++) left[i] = i;
    for (int i = 0; i < n; i++) {
        const int pick = number % (n - i);
        number /= n - i;
        p[i] = left[pick];
        memmove(left + pick, left + pick + 1, (size_t)(n - i - pick - 1) * sizeof *left);
        k.a[i + p[i] * n] = 1;
        for (int j = 0; j < i; j++)
            if (p[j] > p[i]) k.det = -k.det;
    }
    return k;
}

static trs_mat shown(const known *k, trs_dtype t)
{
    char *val = calloc((size_t)(k->n * k->n) + 1, sizeof(zz));
    assert_non_null(val);
    for (int e = 0; e < k->n * k->n; e++) set_number(val, t, e, k->a[e]);
    return (trs_mat){.n = k->n, .ld = k->n, .val = val, .dtype = t, .format = TRS_DENSE};
}

static bool can_run(const trs_solver *s, trs_family family)
{
    char why[200];
    return s->family == family && (family == TRS_TRIANGLE || s->pivots) &&
           trs_solver_available(s, 0, why, sizeof why);
}

/* A solver that exchanges rows, but does not record which, says so. */
static void no_pivots_kept(void **state)
{
    (void)state;
    char why[200];
    for (int a = 0; trs_solver_at(a); a++) {
        const trs_solver *s = trs_solver_at(a);
        if (s->family != TRS_GENERAL_DENSE || s->pivots ||
            !trs_solver_available(s, 0, why, sizeof why))
            continue;
        const double one = 1;
        const trs_mat m = {.n = 1, .ld = 1, .val = &one, .format = TRS_DENSE};
        trs_plan *p;
        trs_det d;
        assert_status(trs_plan_create(&p, &m, &(trs_options){.solver = s->name}), TRS_OK);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_int_equal(trs_plan_determinant(p, &d), TRS_ESUPPORT);
        assert_non_null(strstr(trs_message(), "keeps no record of its row exchanges"));
        trs_plan_destroy(p);
    }
}

/* The same with values on the device. */
static void update_there(trs_plan *p, const trs_mat *m, int code)
{
    const size_t bytes = (size_t)m->n * (size_t)m->n * trs_size(m->dtype);
    trs_mat there = *m;
    void *val;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &val), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), val, m->val, bytes), TRS_OK);
    there.val = val;
    there.device = TRS_CUDA(0);
    assert_status(trs_plan_update(p, &there, NULL), code);
    trs_device_free(TRS_CUDA(0), val);
}

/* false: this solver does not have that type. */
static bool try_general(const trs_solver *s, const known *k, trs_dtype t, unsigned ops, double most)
{
    trs_mat m = shown(k, t);
    trs_plan *p;
    trs_det d;
    const int code = k->det == 0 ? TRS_EPIVOT : TRS_OK;
    assert_status(trs_plan_create(&p, &m, &(trs_options){.solver = s->name, .ops = ops}), TRS_OK);
    int rc = trs_plan_analyse(p);
    if (rc != TRS_ESUPPORT) {
        const double eps = epsilon(t) / DBL_EPSILON;
        assert_status(rc, code);
        assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
        check_det(s, &d, k->det, 0, most * eps);
        if (s->place == TRS_ON_CUDA && m.n > 0) {
            update_there(p, &m, code);
            assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
            check_det(s, &d, k->det, 0, most * eps);
        }
    }
    trs_plan_destroy(p);
    free((void *)m.val);
    return rc != TRS_ESUPPORT;
}

static int try_all(const trs_solver *s, known k, double most)
{
    const bool is_complex = cimag(k.det) != 0;
    int count = 0;
    for (int t = is_complex ? TRS_C64 : TRS_F64; t <= TRS_C32; t++)
        for (unsigned ops = 1; ops < 4; ops++) count += try_general(s, &k, (trs_dtype)t, ops, most);
    free(k.a);
    return count;
}

static void known_determinants(void **state)
{
    (void)state;
    for (int a = 0; trs_solver_at(a); a++) {
        const trs_solver *s = trs_solver_at(a);
        if (!can_run(s, TRS_GENERAL_DENSE)) continue;
        int count = try_all(s, known_new(0, 1), 0);
        count += try_all(s, by_hand(), 10);
        count += try_all(s, complex_by_hand(), 10);
        for (int n = 1; n <= 70; n += 23) count += try_all(s, second_difference(n), 4 * n);
        count += try_all(s, vandermonde(6), 1e4); /* the error is eps times the condition number */
        count += try_all(s, hilbert_of_5(), 1e6);
        known singular = known_new(2, 0); /* in the last pivot, where no exchange could help */
        singular.a[0] = 1, singular.a[1] = 2, singular.a[2] = 2, singular.a[3] = 4;
        count += try_all(s, singular, 0);
        for (int k = 0; k < 120 && s->caps & TRS_CAP_PIVOTS; k++)
            count += try_all(s, permutation(5, k), 0);
        if (s->caps & TRS_CAP_PIVOTS) count += try_all(s, known_new(3, 0), 0);
        print_message("%-20s %d determinants\n", s->name, count);
    }
}

/* diag (v, ..., v) of size 200: v^200 is no double, and parts of it are no float.  The logarithm is compared. */
static void try_range(const trs_solver *s, trs_dtype t, double v)
{
    enum { N = 200 };
    known k = known_new(N, 1);
    for (int i = 0; i < N; i++) k.a[i + i * N] = i == 7 ? -v : v;
    trs_mat m = shown(&k, t);
    trs_plan *p;
    trs_det d;
    const double one = creal(get_number(m.val, t, 0));
    assert_status(trs_plan_create(&p, &m, &(trs_options){.solver = s->name}), TRS_OK);
    const int rc = trs_plan_analyse(p);
    if (rc != TRS_ESUPPORT) {
        assert_status(rc, TRS_OK);
        assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
        assert_true(d.re == -1 && d.im == 0 && d.mantissa >= 1 && d.mantissa < 2);
        assert_at_most(fabs((double)d.exponent + log2(d.mantissa) - N * log2(one)), 1e-9);
    }
    trs_plan_destroy(p);
    free((void *)m.val);
    free(k.a);
}

static void beyond_the_range(void **state)
{
    (void)state;
    for (int a = 0; trs_solver_at(a); a++)
        for (int t = 0; t < 4 && can_run(trs_solver_at(a), TRS_GENERAL_DENSE); t++) {
            const bool half = t == TRS_F32 || t == TRS_C32;
            try_range(trs_solver_at(a), (trs_dtype)t, half ? 1e30 : 1e300);
            try_range(trs_solver_at(a), (trs_dtype)t, half ? 1e-30 : 1e-300);
        }
}

/* After a zero pivot with rows below it, the product of the other pivots is not the determinant. */
static void want_of_an_exchange(void **state)
{
    const double a[4] = {0, 1, 1, 0}, b[4] = {0, 2, 3, 5}, good[4] = {1, 2, 3, 5};
    (void)state;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        trs_mat m = {.n = 2, .ld = 2, .val = a, .format = TRS_DENSE};
        trs_plan *p;
        trs_det d = {.re = 5};
        if (!can_run(s, TRS_GENERAL_DENSE)) continue;
        assert_status(trs_plan_create(&p, &m, &(trs_options){.solver = s->name}), TRS_OK);
        assert_int_equal(trs_plan_determinant(p, &d), TRS_ESTATE);
        assert_true(d.re == 0);
        const int rc = trs_plan_analyse(p);
        if (rc != TRS_ESUPPORT) {
            const bool pivots = s->caps & TRS_CAP_PIVOTS;
            assert_status(rc, pivots ? TRS_OK : TRS_EPIVOT);
            assert_int_equal(trs_plan_determinant(p, &d), rc);
            if (pivots) check_det(s, &d, -1, 0, 0);
            m.val = b;
            assert_status(trs_plan_update(p, &m, NULL), rc);
            assert_int_equal(trs_plan_determinant(p, &d), rc);
            if (pivots) check_det(s, &d, -6, 0, 2);
            m.val = good;
            assert_status(trs_plan_update(p, &m, NULL), TRS_OK);
            assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
            check_det(s, &d, -1, 0, 8);
            m.n = 1; /* an update that is refused leaves no values */
            assert_status(trs_plan_update(p, &m, NULL), TRS_EARG);
            assert_int_equal(trs_plan_determinant(p, &d), TRS_ESTATE);
        }
        trs_plan_destroy(p);
    }
}

#ifdef HAVE_LAPACKE

/* Many row exchanges: compared with the product of the pivots of LAPACK's factors. */
static void the_same_as_lapack(void **state)
{
    enum { N = 90 };
    random_t r = {3};
    known k = known_new(N, 1);
    double *A = malloc(N * N * sizeof *A);
    lapack_int pivot[N];
    int64_t shift = 0;
    (void)state;
    assert_non_null(A);
    for (int e = 0; e < N * N; e++) k.a[e] = A[e] = random_uniform(&r);
    assert_int_equal(LAPACKE_dgetrf(LAPACK_COL_MAJOR, N, N, A, N, pivot), 0);
    for (int i = 0; i < N; i++) {
        int e;
        k.det = frexp(creal(k.det) * A[i + i * N] * (pivot[i] == i + 1 ? 1 : -1), &e);
        shift += e;
    }
    trs_mat m = shown(&k, TRS_F64);
    for (int a = 0; trs_solver_at(a); a++) {
        const trs_solver *s = trs_solver_at(a);
        trs_plan *p;
        trs_det d;
        if (!can_run(s, TRS_GENERAL_DENSE) || !(s->caps & TRS_CAP_PIVOTS)) continue;
        assert_status(trs_plan_create(&p, &m, &(trs_options){.solver = s->name}), TRS_OK);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
        check_det(s, &d, k.det, shift, 1e5);
        trs_plan_destroy(p);
    }
    free((void *)m.val);
    free(k.a);
    free(A);
}

#endif

/* ---- triangles ------------------------------------------------------------------------------ */

/* Compare with sum log2 |T(k, k)| and the sum of the phases. */
static void check_triangle(const trs_solver *s, const trs_plan *p, const model *m, bool unit)
{
    long double size = 0;
    zz phase = 1;
    trs_det d;
    for (int64_t e = 0; e < m->nnz && !unit; e++)
        if (m->row[e] == m->col[e]) {
            size += log2l(cabsl((complex long double)m->val[e]));
            phase *= m->val[e] / cabs(m->val[e]);
        }
    assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
    const double apart = fabs((double)((long double)d.exponent + log2l(d.mantissa) - size));
    const double turned = cabs(d.re + d.im * I - phase);
    if (!(apart <= 1e-14 * (m->n + 8)) || !(turned <= 1e-15 * (m->n + 8)))
        fail_msg("%s: log2 %g away, phase %g", s->name, apart, turned);
}

static void run_triangle(const trs_solver *s, int number)
{
    random_t r = {(uint64_t)number * 31 + 11};
    const form f = form_random((trs_dtype)(number % 4), &r);
    model m = model_new((pattern)(number / 4 % PATTERNS), number % 3 == 0, true,
                        trs_is_complex(f.dtype), &r);
    trs_mat a = show(&m, &f, &r);
    const trs_options opt = {
        .solver = s->name, .ops = 1 + (unsigned)number % 7, .order = (trs_order)(number % 3)};
    trs_plan *p;
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    int rc = trs_plan_analyse(p);
    if (rc != TRS_ESUPPORT) {
        assert_status(rc, TRS_OK);
        check_triangle(s, p, &m, f.unit);
    }
    trs_plan_destroy(p);
    if (s->place == TRS_ON_CUDA && rc == TRS_OK && a.format != TRS_DENSE && a.n > 0) {
        trs_mat there = mat_to_device(&a); /* the plan is made and updated from there */
        assert_status(trs_plan_create(&p, &there, &opt), TRS_OK);
        assert_status(trs_plan_analyse(p), TRS_OK);
        check_triangle(s, p, &m, f.unit);
        assert_status(trs_plan_update(p, &there, NULL), TRS_OK);
        check_triangle(s, p, &m, f.unit);
        assert_status(trs_plan_update(p, &a, NULL), TRS_OK);
        check_triangle(s, p, &m, f.unit);
        trs_plan_destroy(p);
        mat_free_device(&there);
    }
    mat_free(&a);
    model_free(&m);
}

static void triangles(void **state)
{
    (void)state;
    for (int a = 0; trs_solver_at(a); a++)
        for (int k = 0; k < 8 * PATTERNS && can_run(trs_solver_at(a), TRS_TRIANGLE); k++)
            run_triangle(trs_solver_at(a), k);
}

/* A triangle with diagonal (2, v, 5), and entries below it. */
static void bad_pivots(void **state)
{
    static const struct {
        double v, value;
        trs_pivot policy;
        int analyse, code;
        double det;
    } all[] = {
        {0, 0, TRS_PIVOT_SKIP, TRS_OK, TRS_OK, 10},
        {NAN, 0, TRS_PIVOT_SKIP, TRS_OK, TRS_OK, 10},
        {0, -3, TRS_PIVOT_REPLACE, TRS_OK, TRS_OK, -30},
        {INFINITY, -3, TRS_PIVOT_REPLACE, TRS_OK, TRS_OK, -30},
        {0, 0, TRS_PIVOT_FAIL, TRS_EPIVOT, TRS_OK, 0},
        {NAN, 0, TRS_PIVOT_FAIL, TRS_EPIVOT, TRS_EPIVOT, 0},
        {4, 0, TRS_PIVOT_FAIL, TRS_OK, TRS_OK, 40},
    };
    const int64_t ptr[] = {0, 1, 3, 5};
    const int32_t idx[] = {0, 0, 1, 1, 2};
    (void)state;
    for (int a = 0; trs_solver_at(a); a++)
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
            const trs_solver *s = trs_solver_at(a);
            const double val[] = {2, 1, all[k].v, 1, 5};
            const trs_mat T = {
                .n = 3, .nnz = 5, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
            const trs_options opt = {
                .solver = s->name, .pivot = all[k].policy, .pivot_value = all[k].value};
            trs_plan *p;
            trs_det d;
            if (!can_run(s, TRS_TRIANGLE)) continue;
            assert_status(trs_plan_create(&p, &T, &opt), TRS_OK);
            assert_status(trs_plan_analyse(p), all[k].analyse);
            assert_int_equal(trs_plan_determinant(p, &d), all[k].code);
            check_det(s, &d, all[k].det, 0, 0);
            trs_plan_destroy(p);
        }
}

static void wrong_arguments(void **state)
{
    const double one = 1;
    const trs_mat A = {.n = 1, .ld = 1, .val = &one, .kind = TRS_LOWER, .format = TRS_DENSE};
    trs_plan *p;
    trs_det d;
    (void)state;
    assert_int_equal(trs_plan_determinant(NULL, &d), TRS_EARG);
    assert_int_equal(trs_lu_determinant(NULL, &d), TRS_EARG);
    assert_status(trs_plan_create(&p, &A, NULL), TRS_OK);
    assert_int_equal(trs_plan_determinant(p, NULL), TRS_EARG);
    assert_int_equal(trs_plan_determinant(p, &d), TRS_ESTATE);
    trs_plan_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_determinants), cmocka_unit_test(no_pivots_kept),
        cmocka_unit_test(beyond_the_range),   cmocka_unit_test(want_of_an_exchange),
#ifdef HAVE_LAPACKE
        cmocka_unit_test(the_same_as_lapack),
#endif
        cmocka_unit_test(triangles),          cmocka_unit_test(bad_pivots),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("det", tests, NULL, NULL);
}
