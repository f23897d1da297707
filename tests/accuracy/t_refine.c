/* t_refine.c: refinement makes x from a plan in single precision as good as x from one in double.  The residuals are
 * those of simple loops, for every pattern, form, op and layout. */
#include "tests/common/counter.h"
#include "tests/common/reference.h"

#include <float.h>
#include <limits.h>
#include <math.h>

/* The same matrix with values rounded to single precision; the caller frees its val. */
static trs_mat rounded(const trs_mat *a)
{
    trs_mat s = *a;
    const int64_t size = a->format == TRS_BSR ? (int64_t)a->block * a->block : 1;
    const int64_t count = a->format == TRS_DENSE ? a->ld * a->n : a->nnz * size;
    s.dtype = a->dtype == TRS_F64 ? TRS_F32 : TRS_C32;
    void *val = calloc((size_t)count + 1, sizeof(zz));
    assert_non_null(val);
    for (int64_t k = 0; k < count; k++)
        set_number(val, s.dtype, k, get_number(a->val, a->dtype, k));
    s.val = val;
    return s;
}

static trs_plan *plan_of(const trs_mat *a)
{
    trs_plan *plan;
    const trs_options opt = {.ops = 7};
    int rc = trs_plan_create(&plan, a, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    assert_status(rc, TRS_OK);
    return plan;
}

static double worst_before, worst_after;

/* Both columns of a system, and what their errors are measured by. */
typedef struct columns {
    const model *m;
    const trs_mat *a;
    bool unit;
    trs_op op;
    const void *b, *x;
    int64_t step, next; /* element (i, c) is number i*step + c*next */
} columns;

/* The larger omega of both columns; *longest: how many entries the longest row has, zeros of full blocks included. */
static double worst_omega(const columns *s, double *longest)
{
    const trs_dtype t = s->a->dtype;
    const bool zeros_count = s->a->format == TRS_DENSE || s->a->format == TRS_BSR;
    double omega = 0;
    *longest = 0;
    for (int c = 0; c < 2 && s->m->n; c++) {
        const size_t at = (size_t)(c * s->next) * trs_size(t);
        quality q = quality_of(s->m, s->unit, s->op, t, (const char *)s->b + at, s->step,
                               (const char *)s->x + at, s->step);
        omega = larger(omega, q.omega);
        *longest = zeros_count ? (double)s->m->n : q.longest;
    }
    return omega;
}

/* mixed: the plan is in single precision.  b may be scaled far outside its range. */
static void one_triangle(pattern p, uint64_t seed, bool mixed)
{
    random_t r = {seed};
    form f = form_random(seed % 2 ? TRS_C64 : TRS_F64, &r);
    model m = model_new(p, seed % 3 == 0, true, seed % 2, &r);
    trs_mat a = show(&m, &f, &r), s = rounded(&a);
    trs_plan *plan = plan_of(mixed ? &s : &a);
    const trs_op op = (trs_op)(seed % 3);
    const trs_exec exec = {.layout = (trs_layout)random_below(&r, 2)};
    const int64_t n = m.n, ld = (exec.layout ? 2 : n) + random_below(&r, 3);
    const size_t count = (size_t)(ld * (exec.layout ? n : 2)) + 1;
    static const double scales[] = {1e60, 1e-60, 1, 1};
    const double scale = scales[seed % 4];
    zz *b = calloc(count, sizeof *b), *x = calloc(count, sizeof *x);
    assert_true(b && x);
    for (int64_t k = 0; k < (int64_t)count; k++)
        set_number(b, a.dtype, k, scale * (random_uniform(&r) + random_uniform(&r) * I));
    const columns both = {&m, &a, f.unit, op, b, x, exec.layout ? ld : 1, exec.layout ? 1 : ld};
    trs_error e;
    int steps;
    for (int limit = 1; limit <= 10; limit += 9) { /* one step from x = 0 is a solve */
        assert_int_equal(trs_refine(plan, &a, op, 2, b, ld, x, ld, &exec, limit, &steps, &e),
                         TRS_OK);
        double longest;
        const double omega = worst_omega(&both, &longest);
        assert_at_most(fabs(omega - e.omega), 1e-6 * omega + 1e-18);
        assert_true(steps <= limit);
        if (limit == 1) worst_before = larger(worst_before, omega);
        else {
            worst_after = larger(worst_after, omega / (longest + 1));
            assert_at_most(omega, (longest + 1) * DBL_EPSILON);
        }
    }
    free(b), free(x);
    free((void *)s.val);
    trs_plan_destroy(plan);
    mat_free(&a);
    model_free(&m);
}

static void test_refined(void **state)
{
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        worst_before = worst_after = 0;
        for (int p = 0; p < PATTERNS; p++)
            for (uint64_t seed = 1; seed <= 12; seed++) one_triangle((pattern)p, seed, mixed);
        print_message("%s: omega %.2g before, %.2g (longest + 1) after\n",
                      mixed ? "mixed" : "fixed", worst_before, worst_after);
        assert_true(mixed ? worst_before > 1e-9 : worst_before < 1e-14);
    }
}

/* x is as good as the longest row of op(T) asks for, also where the longest column has far more entries: T has one full
 * column, T' one full row. */
static void test_goal(void **state)
{
    (void)state;
    enum { N = 4000 };
    for (int k = 0; k < 8; k++) {
        random_t r = {(uint64_t)k};
        const bool full_row = k & 1;
        const trs_op op = k & 2 ? TRS_T : TRS_N;
        const form f = {.format = k & 4 ? TRS_CSC : TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
        model m = {.n = N};
        for (int i = 0; i < N; i++) {
            model_add(&m, i, i, 1 + random_uniform(&r) / 4);
            if (i > 0 && !full_row) model_add(&m, i, 0, random_uniform(&r));
            if (i < N - 1 && full_row) model_add(&m, N - 1, i, random_uniform(&r) / N);
        }
        trs_mat a = show(&m, &f, &r), s = rounded(&a);
        trs_plan *plan = plan_of(&s);
        double *b = random_vector(N), *x = zeroed(N, sizeof *x);
        assert_int_equal(trs_refine(plan, &a, op, 1, b, N, x, N, NULL, 10, NULL, NULL), TRS_OK);
        const quality q = quality_of(&m, false, op, TRS_F64, b, 1, x, 1);
        assert_int_equal(q.longest, full_row == (op == TRS_N) ? N : 2);
        assert_at_most(q.omega, (q.longest + 1) * DBL_EPSILON);
        trs_plan_destroy(plan);
        free(b), free(x);
        free((void *)s.val);
        mat_free(&a);
        model_free(&m);
    }
}

/* T = 1 is refined through the plan of m: from x = 0, x += (1 - x) / m, so that r(k) = (1 - 1/m)^k and
 * omega(k) = |r| / (|x| + 1).  The second column begins with its solution. */
static void test_stops(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 1};
    const int32_t idx[] = {0};
    const struct {
        double m;
        /* steps that are allowed, that are done, and that lead to the best x */
        int limit, steps, kept;
        trs_stop stop;
    } table[] = {
        {10, 1000, 330, 330, TRS_STOP_CONVERGED}, /* 0.9^330 = 7.9e-16; omega halves in 7 steps */
        {10, 20, 20, 20, TRS_STOP_STEPS},
        {1, 20, 1, 1, TRS_STOP_CONVERGED},
        {10000, 1000, 50, 50, TRS_STOP_STAGNATED},
        {0.25, 1000, 9, 1, TRS_STOP_DIVERGED}, /* r = (-3)^k; omega = 1, 3/5, 1, 27/29, ... */
        {0.25, 3, 3, 1, TRS_STOP_STEPS},
        {10, 0, 0, 0, TRS_STOP_STEPS},
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        const double one = 1, b[] = {1, 1};
        double x[] = {0, 1};
        trs_mat T = {.n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = &one, .kind = TRS_LOWER};
        trs_mat m = T;
        trs_error e;
        int steps;
        m.val = &table[k].m;
        trs_plan *plan = plan_of(&m);
        assert_int_equal(
            trs_refine(plan, &T, TRS_N, 2, b, 1, x, 1, NULL, table[k].limit, &steps, &e), TRS_OK);
        print_message("m = %g, at most %d: %d steps, stop %d, x = %.17g, omega %.2g\n", table[k].m,
                      table[k].limit, steps, (int)e.stop, x[0], e.omega);
        assert_int_equal(e.stop, table[k].stop);
        const int slack = e.stop == TRS_STOP_CONVERGED ? 2 : 0; /* rounding errors near the goal */
        assert_true(abs(steps - table[k].steps) <= slack);
        assert_at_most(fabs(x[0] - (1 - pow(1 - 1 / table[k].m, table[k].kept))), 1e-14);
        assert_at_most(fabs(e.omega - fabs(1 - x[0]) / (fabs(x[0]) + 1)), 1e-15);
        assert_true(x[1] == 1);
        trs_plan_destroy(plan);
    }
}

/* T = I is refined through the plan of M = 1 0; c 1.  I - M^-1 is nilpotent, so that the residual first grows c times,
 * and is 0 after two steps.  An x that is not finite is left as it is. */
static void test_growth_first(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 1, 3};
    const int32_t idx[] = {0, 0, 1};
    const double identity[] = {1, 0, 1}, val[] = {1, 1000, 1}, b[] = {1, 1};
    double x[] = {0, 0};
    trs_mat T = {.n = 2, .nnz = 3, .ptr = ptr, .idx = idx, .val = identity, .kind = TRS_LOWER};
    trs_mat m = T;
    trs_error e;
    int steps;
    m.val = val;
    trs_plan *plan = plan_of(&m);
    assert_int_equal(trs_refine(plan, &T, TRS_N, 1, b, 2, x, 2, NULL, 10, &steps, &e), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 1 && steps == 2 && e.stop == TRS_STOP_CONVERGED);
    x[1] = NAN;
    assert_int_equal(trs_refine(plan, &T, TRS_N, 1, b, 2, x, 2, NULL, 10, &steps, &e), TRS_OK);
    assert_true(x[0] == 1 && isnan(x[1]) && steps == 0 && e.stop == TRS_STOP_DIVERGED);
    assert_int_equal(trs_refine(plan, &T, TRS_N, 0, b, 2, x, 2, NULL, 10, &steps, &e), TRS_OK);
    assert_true(steps == 0 && e.stop == TRS_STOP_NONE);
    trs_plan_destroy(plan);
}

static long given, taken_back;

static void *device_alloc(void *user, int device, size_t bytes)
{
    void *p = NULL;
    (void)user;
    given += !trs_device_new(device, bytes, &p);
    return p;
}

static void device_free(void *user, int device, void *p)
{
    (void)user;
    taken_back++;
    trs_device_free(device, p);
}

/* The plan takes B and X on a device, refinement and condition take them on the host.  Memory for the copies comes from
 * the callbacks of the plan. */
static void test_on_a_device(void **state)
{
    (void)state;
    char why[200];
    if (trs_device_name(TRS_CUDA(0), why, sizeof why)) skip();
    random_t r = {11};
    form f = form_random(TRS_F64, &r);
    f.format = TRS_CSR;
    model m = model_new(RANDOM, false, true, false, &r);
    trs_mat a = show(&m, &f, &r), s = rounded(&a);
    const trs_options opt = {
        .ops = 7, .device = TRS_CUDA(0), .device_memory = {device_alloc, device_free, NULL}};
    const trs_options host = {.ops = 7};
    trs_plan *there, *high, *here;
    assert_int_equal(trs_plan_create(&there, &s, &opt), TRS_OK);
    assert_status(trs_plan_analyse(there), TRS_OK);
    assert_int_equal(trs_plan_create(&high, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(high), TRS_OK);
    assert_int_equal(trs_plan_create(&here, &a, &host), TRS_OK);
    assert_status(trs_plan_analyse(here), TRS_OK);
    const int64_t n = m.n;
    double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x), one, two;
    assert_true(b && x);
    for (int64_t i = 0; i < n; i++) b[i] = random_uniform(&r);
    const long before = given;
    assert_int_equal(trs_refine(there, &a, TRS_N, 1, b, n, x, n, NULL, 10, NULL, NULL), TRS_OK);
    assert_int_equal(given, before + 1);
    quality q = quality_of(&m, f.unit, TRS_N, TRS_F64, b, 1, x, 1);
    assert_at_most(q.omega, (q.longest + 1) * DBL_EPSILON);
    assert_int_equal(trs_condest(high, &a, TRS_NORM_ONE, &one), TRS_OK);
    assert_int_equal(given, before + 2);
    assert_int_equal(trs_condest(here, &a, TRS_NORM_ONE, &two), TRS_OK);
    print_message("omega %.2g, rcond %.6g on the device, %.6g on the host\n", q.omega, one, two);
    assert_at_most(fabs(one - two), 1e-9 * two);
    trs_plan_destroy(there);
    trs_plan_destroy(high);
    trs_plan_destroy(here);
    assert_int_equal(given, taken_back);
    free(b), free(x);
    free((void *)s.val);
    mat_free(&a);
    model_free(&m);
}

/* Each allocation of a refinement, and of an estimate of the condition, fails once. */
static void fail_each(trs_plan *plan, const trs_mat *a, counter *c)
{
    const int64_t n = a->n;
    const long live = c->live;
    zz *b = zeroed(n, sizeof *b), *x = zeroed(n, sizeof *x);
    double rcond;
    for (int estimate = 0; estimate < 2; estimate++) {
        bool refused = true;
        for (c->fail_at = 0; refused; c->fail_at++) {
            c->calls = 0;
            const int rc = estimate
                               ? trs_condest(plan, a, TRS_NORM_INF, &rcond)
                               : trs_refine(plan, a, TRS_N, 1, b, n, x, n, NULL, 2, NULL, NULL);
            refused = was_refused(c);
            assert_int_equal(rc, refused ? TRS_EMEM : TRS_OK);
            assert_int_equal(c->live, live);
            if (rc && !strstr(trs_message(), " for "))
                fail_msg("allocation %ld: %s", c->fail_at, trs_message());
        }
        assert_true(c->fail_at > 2);
    }
    free(b);
    free(x);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    static const trs_format formats[] = {TRS_CSR, TRS_BSR, TRS_DENSE};
    for (int k = 0; k < 6; k++) {
        random_t r = {(uint64_t)k};
        form f = form_random(k % 2 ? TRS_C64 : TRS_F64, &r);
        f.format = formats[k / 2];
        model m = model_new(RANDOM, false, true, k % 2, &r);
        trs_mat a = show(&m, &f, &r);
        counter c = {.fail_at = -1};
        const trs_options opt = {.ops = 7, .solver = "cpu-serial", .memory = counted_memory(&c)};
        trs_plan *plan;
        assert_int_equal(trs_plan_create(&plan, &a, &opt), TRS_OK);
        assert_int_equal(trs_plan_analyse(plan), TRS_OK);
        fail_each(plan, &a, &c);
        trs_plan_destroy(plan);
        assert_int_equal(c.live, 0);
        mat_free(&a);
        model_free(&m);
    }
}

static void test_wrong_use(void **state)
{
    (void)state;
    random_t r = {7};
    form f = form_random(TRS_F64, &r);
    f.format = TRS_CSC;
    f.unit = false;
    model m = model_new(SEED5, false, true, false, &r);
    trs_mat a = show(&m, &f, &r), s = rounded(&a), c = a;
    trs_plan *plan = plan_of(&s), *high = plan_of(&a), *fresh;
    double b[5] = {1, 2, 3, 4, 5}, x[5] = {0};
    assert_int_equal(trs_plan_create(&fresh, &a, NULL), TRS_OK);
    const struct {
        const trs_plan *plan;
        const trs_mat *a;
        int op, nrhs;
        const double *b;
        double *x;
        int ld, steps, code;
    } table[] = {
        {NULL, &a, TRS_N, 1, b, x, 5, 3, TRS_EARG},
        {plan, NULL, TRS_N, 1, b, x, 5, 3, TRS_EARG},
        {plan, &a, 3, 1, b, x, 5, 3, TRS_EARG},
        {plan, &a, TRS_N, -1, b, x, 5, 3, TRS_EARG},
        {plan, &a, TRS_N, 1, NULL, x, 5, 3, TRS_EARG},
        {plan, &a, TRS_N, 1, b, NULL, 5, 3, TRS_EARG},
        {plan, &a, TRS_N, 1, x, x, 5, 3, TRS_EARG},
        {plan, &a, TRS_N, 1, x + 1, x, 5, 3, TRS_EARG},
        {plan, &a, TRS_N, 1, b, x, 4, 3, TRS_EARG},
        {plan, &a, TRS_N, INT_MAX, b, x, INT_MAX, 3, TRS_EARG},
        {plan, &a, TRS_N, 1, b, x, 5, -1, TRS_EARG},
        {fresh, &a, TRS_N, 1, b, x, 5, 3, TRS_ESTATE},
        {high, &s, TRS_N, 1, b, x, 5, 3, TRS_EARG}, /* the plan has the higher precision */
        {plan, &a, TRS_N, 1, b, x, 5, 0, TRS_OK},
        {plan, &a, TRS_N, 0, NULL, NULL, 5, 3, TRS_OK},
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        assert_int_equal(trs_refine(table[k].plan, table[k].a, (trs_op)table[k].op, table[k].nrhs,
                                    table[k].b, table[k].ld, table[k].x, table[k].ld, NULL,
                                    table[k].steps, NULL, NULL),
                         table[k].code);
    for (int threads = -1; threads <= 1025; threads += 1026) {
        const trs_exec bad = {.threads = threads};
        assert_int_equal(trs_refine(plan, &a, TRS_N, 1, b, 5, x, 5, &bad, 0, NULL, NULL), TRS_EARG);
    }
    c.ptr = NULL;
    assert_int_equal(trs_refine(plan, &c, TRS_N, 1, b, 5, x, 5, NULL, 3, NULL, NULL), TRS_EARG);
    assert_memory_equal(trs_message(), "refine: ", 8);
    c.device = TRS_CUDA(0);
    assert_int_equal(trs_refine(plan, &c, TRS_N, 1, b, 5, x, 5, NULL, 3, NULL, NULL), TRS_ESUPPORT);
    trs_plan_destroy(plan);
    trs_plan_destroy(high);
    trs_plan_destroy(fresh);
    free((void *)s.val);
    mat_free(&a);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refined),     cmocka_unit_test(test_goal),
        cmocka_unit_test(test_stops),       cmocka_unit_test(test_growth_first),
        cmocka_unit_test(test_on_a_device), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests_name("refine", tests, NULL, NULL);
}
