/* t_residual.c: the backward error is compared with three simple loops over a full matrix. */
#include "tests/common/model.h"

#include <float.h>
#include <limits.h>
#include <math.h>

/* y = op(T) x of the model, in long double; its parts are in re [n] and im [n]. */
static void naive(const model *m, const form *f, trs_op op, const zz *x, long double *re,
                  long double *im)
{
    for (int i = 0; i < m->n; i++) re[i] = im[i] = 0;
    for (int64_t k = 0; k < m->nnz; k++) {
        int i = op == TRS_N ? m->row[k] : m->col[k], j = op == TRS_N ? m->col[k] : m->row[k];
        zz a = f->unit && i == j ? 1 : m->val[k];
        if (!trs_is_complex(f->dtype)) a = creal(a);
        if (op == TRS_H) a = conj(a);
        re[i] += (long double)creal(a) * creal(x[j]) - (long double)cimag(a) * cimag(x[j]);
        im[i] += (long double)creal(a) * cimag(x[j]) + (long double)cimag(a) * creal(x[j]);
    }
}

static int64_t at(int64_t i, int r, int64_t ld, trs_layout layout)
{
    return layout == TRS_ROW_MAJOR ? i * ld + r : i + r * ld;
}

static void one_form(uint64_t seed)
{
    random_t r = {seed};
    form f = form_random((trs_dtype)random_below(&r, 4), &r);
    const bool cplx = trs_is_complex(f.dtype);
    model m = model_new(seed % 2 ? RANDOM : FULL, random_below(&r, 2), true, cplx, &r);
    trs_mat a = show(&m, &f, &r);
    trs_op op = (trs_op)random_below(&r, 3);
    trs_layout layout = (trs_layout)random_below(&r, 2);
    const int nrhs = 1 + random_below(&r, 3);
    const int64_t n = m.n, ld = (layout ? nrhs : n) + random_below(&r, 3);
    const size_t count = (size_t)(ld * (layout ? n : nrhs)) + 1;
    void *x = calloc(count, sizeof(zz)), *y = calloc(count, sizeof(zz));
    zz *xr = calloc((size_t)n, sizeof *xr);
    long double *re = calloc((size_t)n, sizeof *re), *im = calloc((size_t)n, sizeof *im);
    assert_true(x && y && xr && re && im);
    for (size_t k = 0; k < count; k++)
        set_number(x, f.dtype, (int64_t)k, random_uniform(&r) + random_uniform(&r) * I);
    for (int c = 0; c < nrhs; c++) {
        for (int64_t i = 0; i < n; i++) xr[i] = get_number(x, f.dtype, at(i, c, ld, layout));
        naive(&m, &f, op, xr, re, im);
        for (int64_t i = 0; i < n; i++)
            set_number(y, f.dtype, at(i, c, ld, layout), (double)re[i] + (double)im[i] * I);
    }
    /* y is op(A) x up to rounding */
    trs_error e;
    assert_int_equal(trs_backward_error(&a, op, nrhs, y, ld, x, ld, layout, &e), TRS_OK);
    assert_at_most(e.omega, epsilon(f.dtype));
    assert_at_most(e.normwise, epsilon(f.dtype));

    /* one component is made wrong: its row and its error must be found */
    const int64_t i = random_below(&r, m.n);
    const int c = random_below(&r, nrhs);
    zz was = get_number(y, f.dtype, at(i, c, ld, layout));
    set_number(y, f.dtype, at(i, c, ld, layout), was + 64);
    assert_int_equal(trs_backward_error(&a, op, nrhs, y, ld, x, ld, layout, &e), TRS_OK);
    assert_int_equal(e.row, i);
    assert_int_equal(e.col, c);
    assert_at_most(fabs(e.residual - 64), 64 * 64 * epsilon(f.dtype));
    quality q = quality_of(
        &m, f.unit, op, f.dtype, (char *)y + (size_t)at(0, c, ld, layout) * trs_size(f.dtype),
        at(1, 0, ld, layout), (char *)x + (size_t)at(0, c, ld, layout) * trs_size(f.dtype),
        at(1, 0, ld, layout));
    assert_at_most(fabs(e.omega - q.omega), 1e-12 * q.omega);
    set_number(y, f.dtype, at(i, c, ld, layout), NAN);
    assert_int_equal(trs_backward_error(&a, op, nrhs, y, ld, x, ld, layout, &e), TRS_OK);
    assert_false(e.omega <= 1);
    assert_int_equal(e.row, i);
    free(x), free(y), free(xr), free(re), free(im);
    mat_free(&a);
    model_free(&m);
}

static void test_forms(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 200; k++) one_form(k);
}

/* With kind 0 every entry counts; and 0/0 = 0. */
static void test_general(void **state)
{
    (void)state;
    const double val[] = {1, 3, 2, 4}, x[] = {1, 10}, zero[] = {0, 0};
    trs_mat a = {.n = 2, .ld = 2, .val = val, .format = TRS_DENSE};
    const double y[] = {21, 43}, yt[] = {31, 42};
    trs_error e;
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, y, 2, x, 2, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega == 0);
    assert_int_equal(trs_backward_error(&a, TRS_T, 1, yt, 2, x, 2, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega == 0);
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, zero, 2, zero, 2, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega == 0 && e.residual == 0 && e.normwise == 0);
}

/* 1 x 1 systems a x = b whose x is the nearest number, but subnormal.  u is the smallest number of all, and
 * safe = (2 + a) safmin = (2 + a) u / eps. */
static void test_underflow(void **state)
{
    (void)state;
    const double u = DBL_TRUE_MIN, big = 0x1p1000;
    const struct {
        double a, b, x, omega;
    } table[] = {
        {3, 4 * u, u, DBL_EPSILON / 5},                     /* r = u, x = 4/3 u rounded */
        {3, 0, 0, 0},                                       /* 0/0 */
        {big, 0x1p-60 * (1 + 0x1p-20), 0x1p-1060, 0x1p-58}, /* r = 2^-80, safe = 2^-22 */
        {1, 1e-300, 2e-300, 1. / 3},                        /* x is wrong, which must be found */
        {1e-300, 1e-300, 2, 1. / 3},
    };
    const double safe = DBL_MIN * 3; /* it is added to 3e-300 */
    trs_error e;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        const trs_mat a = {.n = 1, .ld = 1, .val = &table[k].a, .format = TRS_DENSE};
        assert_int_equal(
            trs_backward_error(&a, TRS_N, 1, &table[k].b, 1, &table[k].x, 1, TRS_COL_MAJOR, &e),
            TRS_OK);
        print_message("%g x = %g, x = %g: omega %.3g, by hand %.3g\n", table[k].a, table[k].b,
                      table[k].x, e.omega, table[k].omega);
        assert_at_most(fabs(e.omega - table[k].omega), (1e-6 + safe / 3e-300) * table[k].omega);
    }
    const float low = 3, b = 4 * FLT_TRUE_MIN, x = FLT_TRUE_MIN;
    const trs_mat a = {.n = 1, .ld = 1, .val = &low, .format = TRS_DENSE, .dtype = TRS_F32};
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, &b, 1, &x, 1, TRS_COL_MAJOR, &e), TRS_OK);
    assert_at_most(fabs(e.omega - (double)FLT_EPSILON / 5), 1e-6 * (double)FLT_EPSILON);
}

/* TRS_STRICT is about blocks: entries above the diagonal in a diagonal block are ignored, not refused. */
static void test_strict_blocks(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 1};
    const int32_t idx[] = {0};
    const double val[] = {1, 2, 9, 3}, x[] = {1, 10};
    trs_mat a = {.n = 2, .nnz = 1, .ptr = ptr, .idx = idx, .val = val, .block = 2};
    a.format = TRS_BSR, a.kind = TRS_LOWER | TRS_STRICT;
    const double y[] = {1, 32};
    trs_error e;
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, y, 2, x, 2, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega == 0);
}

/* Of several columns with the largest error the first one is named, whichever thread has it. */
static void test_many_columns(void **state)
{
    (void)state;
    enum { COLUMNS = 37 };
    const double val[] = {2};
    const trs_mat a = {.n = 1, .ld = 1, .val = val, .format = TRS_DENSE};
    double x[COLUMNS], y[COLUMNS];
    trs_error e;
    for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++)
        for (int c = 0; c < COLUMNS; c++) {
            const int64_t ld = layout == TRS_ROW_MAJOR ? COLUMNS : 1;
            for (int k = 0; k < COLUMNS; k++) x[k] = k + 1;
            for (int k = 0; k < COLUMNS; k++) y[k] = 2 * x[k];
            for (int k = c; k < COLUMNS; k += 5) x[k] = y[k] = 1; /* all of them equally wrong */
            assert_int_equal(
                trs_backward_error(&a, TRS_N, COLUMNS, y, ld, x, ld, (trs_layout)layout, &e),
                TRS_OK);
            assert_true(e.row == 0 && e.col == c && e.residual == 1 && e.omega == 1. / 3);
            y[COLUMNS - 1] = NAN;
            assert_int_equal(
                trs_backward_error(&a, TRS_N, COLUMNS, y, ld, x, ld, (trs_layout)layout, &e),
                TRS_OK);
            assert_true(e.col == COLUMNS - 1 && isnan(e.omega) && isnan(e.residual));
        }
}

/* One column of a matrix with enough work for several threads.  Rows are x(i-1) + 2 x(i) + 3 x(i+1), all numbers are integers;
 * of two rows that are equally wrong the first one is named, whichever thread has it. */
static void test_one_column(void **state)
{
    enum { BIG = 200003 };
    int64_t *ptr = calloc(BIG + 1, sizeof *ptr);
    int32_t *idx = calloc(3 * (size_t)BIG, sizeof *idx);
    double *val = calloc(3 * (size_t)BIG, sizeof *val), *x = calloc(2 * (size_t)BIG, sizeof *x);
    double *y = x + BIG;
    trs_error e;
    (void)state;
    assert_true(ptr && idx && val && x);
    for (int i = 0; i < BIG; i++) {
        int64_t k = ptr[i];
        for (int j = i ? i - 1 : 0; j <= i + 1 && j < BIG; j++, k++) idx[k] = j, val[k] = j - i + 2;
        ptr[i + 1] = k;
        x[i] = i % 7 - 3;
    }
    const trs_mat a = {.n = BIG, .nnz = ptr[BIG], .ptr = ptr, .idx = idx, .val = val};
    for (int op = TRS_N; op <= TRS_H; op++) {
        const int below = op == TRS_N ? 1 : 3;
        for (int i = 0; i < BIG; i++)
            y[i] =
                2 * x[i] + (i ? below * x[i - 1] : 0) + (i + 1 < BIG ? (4 - below) * x[i + 1] : 0);
        assert_status(trs_backward_error(&a, (trs_op)op, 1, y, BIG, x, BIG, TRS_COL_MAJOR, &e),
                      TRS_OK);
        assert_true(e.omega == 0 && e.residual == 0 && e.normwise == 0);
        for (int r = 100002; r > 100; r -= 7 * 7000) {
            y[r] += 1000; /* the other wrong row is alike: 7 divides the distance */
            assert_status(trs_backward_error(&a, (trs_op)op, 1, y, BIG, x, BIG, TRS_COL_MAJOR, &e),
                          TRS_OK);
            assert_true(e.row == r && e.col == 0 && e.residual == 1000 && e.omega > 0.5);
            assert_true(fabs(e.normwise * (6 * 3 + fabs(y[r])) - 1000) < 1e-9);
        }
        y[BIG - 1] = NAN;
        assert_status(trs_backward_error(&a, (trs_op)op, 1, y, BIG, x, BIG, TRS_COL_MAJOR, &e),
                      TRS_OK);
        assert_true(e.row == BIG - 1 && isnan(e.omega) && isnan(e.residual));
    }
    free(ptr), free(idx), free(val), free(x);
}

static void test_wrong_use(void **state)
{
    (void)state;
    const double val[] = {1, 3, 2, 4};
    const double x[] = {1, 1}, y[] = {1, 1};
    trs_mat a = {.n = 2, .ld = 2, .val = val, .format = TRS_DENSE}, bad = a;
    trs_error e;
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR, NULL), TRS_EARG);
    assert_int_equal(trs_backward_error(&a, TRS_N, INT_MAX, x, INT64_MAX, y, 2, TRS_COL_MAJOR, &e),
                     TRS_EARG);
    assert_int_equal(trs_backward_error(NULL, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EARG);
    assert_int_equal(trs_backward_error(&a, (trs_op)3, 1, x, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EARG);
    assert_int_equal(trs_backward_error(&a, TRS_N, -1, x, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EARG);
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, NULL, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EARG);
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, x, 2, y, 1, TRS_COL_MAJOR, &e), TRS_EARG);
    bad.device = TRS_CUDA(1000000);
    assert_int_equal(trs_backward_error(&bad, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR, &e),
                     TRS_EDEVICE);
    bad = a, bad.n = -1;
    assert_int_equal(trs_backward_error(&bad, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EARG);
    a.n = 0;
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, NULL, 0, NULL, 0, TRS_COL_MAJOR, &e), TRS_OK);
    assert_int_equal(e.row, -1);
    assert_int_equal(trs_backward_error(&a, TRS_N, INT_MAX, NULL, 0, NULL, 0, TRS_COL_MAJOR, &e),
                     TRS_OK);
    assert_true(e.row == -1 && e.col == -1);
}

/* A few columns of a small matrix are no work for several threads.  It is the first test, so that there are none yet. */
static void test_small(void **state)
{
    const int64_t ptr[] = {0, 1, 3};
    const int32_t idx[] = {0, 0, 1};
    const double val[] = {2, 1, 4}, X[] = {1, 1, 1, 2}, right[] = {2, 5, 2, 9};
    const trs_mat a = {.n = 2, .nnz = 3, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    const int before = count_threads();
    double Y[4];
    trs_error e;
    (void)state;
    for (int k = 0; k < 10; k++) {
        assert_status(trs_multiply(&a, TRS_N, 2, X, 2, Y, 2, TRS_COL_MAJOR), TRS_OK);
        assert_memory_equal(Y, right, sizeof Y);
        assert_status(trs_backward_error(&a, TRS_N, 2, Y, 2, X, 2, TRS_COL_MAJOR, &e), TRS_OK);
        assert_true(e.omega == 0);
    }
    assert_int_equal(count_threads(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),         cmocka_unit_test(test_forms),
        cmocka_unit_test(test_general),       cmocka_unit_test(test_underflow),
        cmocka_unit_test(test_strict_blocks), cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_one_column),    cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
