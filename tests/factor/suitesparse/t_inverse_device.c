/* t_inverse_device.c: factors on a device that solve one column by the full inverse: residuals for all forms, ops and layouts; its
 * condition number against Gauss-Jordan elimination here; new values, also under a CUDA graph; and when there is none. */
#include "tests/factor/there.h"

#include "trisolve-suitesparse.h"

#ifdef HAVE_CUDA
#include "factor/device/inverse.h"

enum { OFTEN = 1000000 };

static trs_lu *factor(const trs_mat *m, trs_factor_options opt)
{
    trs_lu *lu;
    opt.plan.device = TRS_CUDA(0);
    const int rc = trs_factor(&lu, m, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    return lu;
}

static trs_lu *factor_often(const trs_mat *m, unsigned ops)
{
    const trs_factor_options opt = {
        .plan = {.ops = ops, .solves = TRS_SOLVES_MANY, .solves_per_update = OFTEN}};
    return factor(m, opt);
}

/* unsymmetric, with a stronger diagonal */
static full strong(int n, bool is_complex)
{
    full A = unsymmetric(n, is_complex);
    for (int i = 0; i < n; i++) A.a[i + n * i] += 10;
    return A;
}

/* A grid of m * m points, without boundary values, so that only `shift` keeps it from being singular. */
static full grid(int m, double shift)
{
    const int n = m * m;
    full A = full_new(n, false);
    for (int i = 0; i < n; i++) {
        const int beside[4] = {i % m > 0 ? i - 1 : -1, i % m < m - 1 ? i + 1 : -1, i - m,
                               i + m < n ? i + m : -1};
        A.a[i + n * i] += shift;
        for (int k = 0; k < 4; k++)
            if (beside[k] >= 0) A.a[i + n * beside[k]] = -1, A.a[i + n * i] += 1;
    }
    return A;
}

/* B and X, on the host and there. */
typedef struct columns {
    const trs_mat *m;
    int nrhs;
    trs_layout layout;
    int64_t ld;
    size_t bytes;
    char *b, *x;
    void *dev_b, *dev_x;
} columns;

static columns columns_new(const trs_mat *m, int nrhs, trs_layout layout)
{
    columns c = {.m = m, .nrhs = nrhs, .layout = layout};
    const bool rows = layout == TRS_ROW_MAJOR;
    c.ld = (rows ? nrhs : m->n) + 3;
    const int64_t count = c.ld * (rows ? m->n : nrhs);
    c.bytes = (size_t)count * size_of(m->dtype);
    c.b = calloc(2, c.bytes);
    assert_non_null(c.b);
    c.x = c.b + c.bytes;
    for (int64_t k = 0; k < count; k++) set_value(c.b, m->dtype, k, number(true));
    c.dev_b = array_there(c.b, c.bytes);
    c.dev_x = array_there(c.b, c.bytes);
    return c;
}

static void columns_free(columns *c)
{
    free(c->b);
    free_there(c->dev_b);
    free_there(c->dev_x);
}

static void fetch(columns *c, const void *x)
{
    assert_int_equal(trs_device_get(TRS_CUDA(0), c->x, x, c->bytes), TRS_OK);
}

static double error_of(const columns *c, trs_op op)
{
    trs_error e;
    assert_int_equal(trs_backward_error(c->m, op, c->nrhs, c->b, c->ld, c->x, c->ld, c->layout, &e),
                     TRS_OK);
    return e.normwise;
}

/* x has an error of a few eps times the condition number, which is at most 50 here. */
static void assert_solved(const columns *c, trs_op op)
{
    const double error = error_of(c, op);
    if (!(error <= 1e3 * eps_of(c->m->dtype))) fail_msg("error %g", error);
}

static void solve(columns *c, trs_lu *lu, trs_op op, void *x)
{
    const trs_exec exec = {.layout = c->layout};
    const int rc = trs_lu_solve(lu, op, c->nrhs, c->dev_b, c->ld, x, c->ld, &exec);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    fetch(c, x);
}

static void solve_all(const trs_mat *m, trs_lu *lu, int nrhs, trs_layout layout)
{
    columns c = columns_new(m, nrhs, layout);
    char *first = malloc(c.bytes);
    assert_non_null(first);
    for (trs_op op = TRS_N; op <= TRS_H; op++) {
        solve(&c, lu, op, c.dev_x);
        assert_solved(&c, op);
        memcpy(first, c.x, c.bytes);
        for (int again = 0; again < 2; again++) { /* the same bits, and then in place */
            solve(&c, lu, op, again ? c.dev_b : c.dev_x);
            for (int r = 0; r < nrhs; r++)
                for (int64_t i = 0; i < m->n; i++) {
                    const int64_t k = layout == TRS_ROW_MAJOR ? i * c.ld + r : i + r * c.ld;
                    assert_true(get_value(c.x, m->dtype, k) == get_value(first, m->dtype, k));
                }
        }
        assert_int_equal(trs_device_put(TRS_CUDA(0), c.dev_b, c.b, c.bytes), TRS_OK);
    }
    free(first);
    columns_free(&c);
}

static void solves(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * FORMS; k++) {
        const form *f = &forms[k / 2];
        for (int c = 0; c < 2; c++) {
            full A = k % 2 ? hermitian(129 + k, c, 50) : strong(129 + k, c);
            trs_mat m = show_full(&A, f);
            trs_lu *lu = factor_often(&m, 7);
            if (!lu->inverse)
                assert_true(f->format > TRS_CSC || m.dtype == TRS_F32 || m.dtype == TRS_C32);
            for (int nrhs = 1; nrhs <= 3; nrhs += 2)
                for (trs_layout o = TRS_COL_MAJOR; o <= TRS_ROW_MAJOR; o++)
                    solve_all(&m, lu, nrhs, o);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
    }
}

/* |A| |A^-1| in the norm of rows or of columns, by Gauss-Jordan elimination without pivoting. */
static double condition(const full *A, bool by_rows)
{
    const int n = A->n;
    double most[2] = {0, 0};
    zz *m = calloc((size_t)(2 * n * n), sizeof *m); /* [A I] by columns */
    assert_non_null(m);
    memcpy(m, A->a, (size_t)(n * n) * sizeof *m);
    for (int i = 0; i < n; i++) m[n * n + i + n * i] = 1;
    for (int k = 0; k < n; k++) {
        const zz pivot = m[k + n * k];
        for (int j = 0; j < 2 * n; j++) m[k + n * j] /= pivot;
        for (int i = 0; i < n; i++) {
            const zz by = m[i + n * k];
            for (int j = 0; j < 2 * n && i != k; j++) m[i + n * j] -= by * m[k + n * j];
        }
    }
    for (int half = 0; half < 2; half++)
        for (int l = 0; l < n; l++) {
            const zz *a = half ? m + n * n : A->a;
            double sum = 0;
            for (int k = 0; k < n; k++) sum += cabs(by_rows ? a[l + n * k] : a[k + n * l]);
            most[half] = larger(most[half], sum);
        }
    free(m);
    return most[0] * most[1];
}

static void conditions(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        full A = strong(100, k / 2);
        for (int j = 0; j < 100; j++) /* norms of rows and columns differ */
            for (int i = 0; i < 100; i++) A.a[i + 100 * j] *= 1 + 0.1 * j;
        form g = plain;
        g.format = k % 2 ? TRS_CSC : TRS_CSR;
        twin t = twin_new(A, &g);
        trs_lu *lu = factor_often(&t.m, 1);
        assert_non_null(lu->inverse);
        for (int round = 0; round < 3; round++) { /* first, from the host, from the device */
            double found = 0;
            const double is = condition(&t.A, !(k % 2));
            assert_int_equal(trs_lu_inverse_growth(lu, &found), TRS_OK);
            if (!(fabs(found - is) <= 1e-10 * is)) fail_msg("%g is not %g", found, is);
            assert_true(fabs(is - condition(&t.A, k % 2)) > 1e-3 * is);
            for (int i = 0; i < 100; i++) t.A.a[i + 100 * i] *= 1.5;
            twin_renew(&t);
            assert_int_equal(trs_lu_update(lu, round ? &t.d : &t.m), TRS_OK);
        }
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

static full lower_of(const full *A)
{
    full L = full_new(A->n, A->is_complex);
    for (int j = 0; j < A->n; j++)
        for (int i = j; i < A->n; i++) L.a[i + A->n * j] = A->a[i + A->n * j];
    return L;
}

/* A comes as one triangle. */
static void half(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        full A = hermitian(120, k % 2, 50);
        twin t = twin_new(lower_of(&A), &plain);
        t.m.kind = t.d.kind = TRS_SELFADJOINT | TRS_LOWER;
        trs_lu *lu = factor_often(k / 2 ? &t.d : &t.m, 1);
        assert_non_null(lu->inverse);
        for (int round = 0; round < 3; round++) {
            trs_mat whole = show_full(&A, &plain);
            columns c = columns_new(&whole, 1, TRS_COL_MAJOR);
            double found = 0;
            const double is = condition(&A, true);
            assert_int_equal(trs_lu_inverse_growth(lu, &found), TRS_OK);
            if (!(fabs(found - is) <= 1e-10 * is)) fail_msg("%g is not %g", found, is);
            solve(&c, lu, TRS_N, c.dev_x);
            assert_solved(&c, TRS_N);
            columns_free(&c);
            hide(&whole);
            for (int i = 0; i < 120; i++) A.a[i + 120 * i] *= 1 + 0.01 * i;
            free(t.A.a);
            t.A = lower_of(&A);
            twin_renew(&t);
            t.m.kind = t.d.kind;
            assert_int_equal(trs_lu_update(lu, round ? &t.d : &t.m), TRS_OK);
        }
        trs_lu_destroy(lu);
        twin_free(&t);
        free(A.a);
    }
}

/* A solve in a graph follows updates, with values from the host and from the device.  The pivots are those of the first values, so
 * that the errors of the triangles grow, too. */
static void updates(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        full A = k % 2 ? hermitian(150, k / 2 % 2, 50) : strong(150, k / 2 % 2);
        twin t = twin_new(A, &plain);
        trs_lu *lu = factor_often(k / 4 ? &t.d : &t.m, 1);
        columns c = columns_new(&t.m, 1, TRS_COL_MAJOR);
        columns two = columns_new(&t.m, 2, TRS_COL_MAJOR);
        cudaStream_t stream = new_stream();
        const trs_exec exec = {.stream = stream};
        assert_non_null(lu->inverse);
        begin_capture(stream);
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, c.dev_b, c.ld, c.dev_x, c.ld, &exec), TRS_OK);
        cudaGraphExec_t run = end_capture(stream);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 150; i++) t.A.a[i + 150 * i] *= 1.25;
            twin_renew(&t);
            assert_int_equal(trs_lu_update_on(lu, round % 2 ? &t.d : &t.m, &exec), TRS_OK);
            assert_true(trs_lu_inverse_solves(lu, TRS_N, 1));
            replay(run, stream);
            fetch(&c, c.dev_x);
            solve(&two, lu, TRS_N, two.dev_x); /* by triangles */
            const double mine = error_of(&c, TRS_N), theirs = error_of(&two, TRS_N);
            if (!(mine <= 50 * (theirs + eps_of(TRS_F64)))) fail_msg("%g and %g", mine, theirs);
            assert_true(mine <= 1e-11);
        }
        columns_free(&two);
        cudaGraphExecDestroy(run);
        cudaStreamDestroy(stream);
        columns_free(&c);
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

/* An ill-conditioned A is solved by triangles; a graph that multiplies by its inverse gives NaN, and later the right x again. */
static void ill_conditioned(void **state)
{
    (void)state;
    full shifted[3] = {grid(13, 1), grid(13, 1e-5), grid(13, 1e-9)};
    trs_mat m[3];
    for (int k = 0; k < 3; k++) m[k] = show_full(&shifted[k], &plain);
    for (int k = 1; k < 3; k++) {
        trs_lu *lu = factor_often(&m[k], 1);
        assert_null(lu->inverse);
        trs_lu_destroy(lu);
    }
    trs_lu *lu = factor_often(&m[0], 1);
    columns c = columns_new(&m[0], 1, TRS_COL_MAJOR);
    cudaStream_t stream = new_stream();
    const trs_exec exec = {.stream = stream};
    double growth = 0;
    assert_int_equal(trs_lu_inverse_growth(lu, &growth), TRS_OK);
    assert_true(fabs(growth - 9) <=
                1e-9); /* 9 times 1: A e = e, and no entry of A^-1 is negative */
    begin_capture(stream);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, c.dev_b, c.ld, c.dev_x, c.ld, &exec), TRS_OK);
    cudaGraphExec_t run = end_capture(stream);
    for (int k = 2; k >= 0; k--) {
        int rc = trs_lu_update_on(lu, &m[k], &exec);
        if (!rc) rc = trs_lu_status(lu, NULL, NULL, NULL);
        if (k == 2 && rc) assert_int_equal(rc, TRS_EGROWTH);
        else assert_int_equal(rc, TRS_OK);
        if (k == 0) assert_true(trs_lu_inverse_solves(lu, TRS_N, 1));
        replay(run, stream);
        fetch(&c, c.dev_x);
        const double x = creal(get_value(c.x, TRS_F64, 0));
        assert_true(isnan(x) == (k == 2));
    }
    assert_solved(&c, TRS_N);
    cudaGraphExecDestroy(run);
    cudaStreamDestroy(stream);
    columns_free(&c);
    trs_lu_destroy(lu);
    for (int k = 0; k < 3; k++) hide(&m[k]), free(shifted[k].a);
}

static bool has_inverse(const trs_mat *m, trs_factor_options opt)
{
    trs_lu *lu = factor(m, opt);
    const bool has = lu->inverse != NULL;
    assert_true(!has || !trs_lu_inverse_solves(lu, TRS_N, 2));
    trs_lu_destroy(lu);
    return has;
}

/* Few solves, an unknown number of them, a named solver, single precision, little memory, or other ops: no inverse. */
static void choice(void **state)
{
    (void)state;
    full A = grid(32, 1);
    trs_mat m = show_full(&A, &plain);
    const trs_factor_options often = {
        .plan = {.ops = 7, .solves = TRS_SOLVES_MANY, .solves_per_update = 100000}};
    trs_factor_options opt = often;
    assert_true(has_inverse(&m, opt));
    opt.plan.memory_limit = 7 << 20; /* of 8 MiB */
    assert_false(has_inverse(&m, opt));
    opt = often, opt.plan.solves_per_update = 10;
    assert_false(has_inverse(&m, opt));
    opt = often, opt.plan.solves = 0;
    assert_false(has_inverse(&m, opt));
    opt = often, opt.plan.solves = 20;
    assert_false(has_inverse(&m, opt));
    opt = often, opt.single = 1;
    assert_false(has_inverse(&m, opt));
    opt = often, opt.plan.solver = "cuda-dataflow";
    assert_false(has_inverse(&m, opt));
    hide(&m);
    free(A.a);
    A = strong(500, false);
    m = show_full(&A, &plain);
    assert_true(has_inverse(&m, often));
    opt = often, opt.plan.ops = 6;
    assert_false(has_inverse(&m, opt));
    hide(&m);
    free(A.a);
}

#endif

int main(void)
{
#ifdef HAVE_CUDA
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves),  cmocka_unit_test(conditions),      cmocka_unit_test(half),
        cmocka_unit_test(updates), cmocka_unit_test(ill_conditioned), cmocka_unit_test(choice),
    };
    return run_on_device(tests);
#else
    return skip_all();
#endif
}
