/* t_rows.c: solvers that go row by row.  A reference goes by the formula of lib/solvers/cpu_row.h and is compared with plain
 * substitution; cpu-serial, in each of its ways through the rows, and cpu-level give the same bits for every stride. */
#include "tests/common/model.h"

#include "solvers/cpu_serial.h"

#include <math.h>

enum { NRHS = 3 };

/* ---- triangles that make cpu-serial take each of its ways ------------------------------------------ */

typedef enum kind {
    SMALL,
    QUOTIENTS,
    LONG,
    LARGE,
    LONG_AND_LARGE,
    IRREGULAR, /* columns are anywhere, and x is larger than the cache that most cores have */
    CHAINED,   /* nearly every row has an entry in the column just before */
    CHAINED_QUOTIENTS,
    CHAINED_LARGE,
    KINDS
} kind;

/* Large ones have more than 8 MiB of values and columns, which cpu-serial takes for cached. */
static const int rows_of[KINDS] = {300, 300, 200, 250000, 250000, 270000, 300, 300, 250000};

static zz draw(random_t *r)
{
    return random_uniform(r) + I * random_uniform(r);
}

/* Entries in any columns, which are few but for some rows; half of them are 0, so that rows do not depend on too many. */
static model irregular_triangle(random_t *r)
{
    model m = {.n = rows_of[IRREGULAR]};
    for (int i = 0; i < m.n; i++) {
        const int entries = random_below(r, 200) ? 3 : 24;
        int column = 0;
        for (int k = 0; k < entries && column < i; k++) {
            column += random_below(r, (i - column + 1) / 2 + 1);
            if (column < i) model_add(&m, i, column++, random_below(r, 2) ? draw(r) : 0);
        }
        model_add(&m, i, i, 40 + I * random_uniform(r));
    }
    return m;
}

/* Entries in some of the columns i-1, i-2 .. */
static model triangle(kind k, random_t *r)
{
    model m = {.n = rows_of[k]};
    if (k == IRREGULAR) return irregular_triangle(r);
    for (int i = 0; i < m.n; i++) {
        const bool is_long = k == LONG || (k == LONG_AND_LARGE && random_below(r, 50) == 0);
        const int near = is_long ? 40 : 4 + (k == LARGE) * 3;
        const bool links = k >= CHAINED && random_below(r, 20);
        double sum = 0;
        for (int d = 1; d <= near && d <= i; d++) {
            if (!(d == 1 && links) && random_below(r, 2)) continue;
            const zz v = random_below(r, 20) ? draw(r) : 0; /* stored zeros are entries */
            model_add(&m, i, i - d, v);
            sum += cabs(v);
        }
        /* 1 / d is subnormal for some, in double and in single precision */
        const double huge =
            (k == QUOTIENTS || k == CHAINED_QUOTIENTS) && i % 7 == 0 ? 0x1.8p127 : 1;
        model_add(&m, i, i, huge > 1 ? huge : 1 + sum + I * random_uniform(r));
    }
    return m;
}

/* ---- the reference ------------------------------------------------------------------------------ */

static void by_rows(const trs_tri *L, const double *b, double *x, bool scaled, bool chained)
{
    const double *Lx = L->val;
    for (int32_t i = 0; i < L->n; i++) {
        const int64_t q = L->ptr[i + 1] - 1;
        const bool follows = chained && q > L->ptr[i] && L->idx[q - 1] == i - 1;
        const double r = 1 / Lx[q], c = follows ? Lx[q - 1] * r : 0;
        double s = b[i];
        for (int64_t p = L->ptr[i]; p < q - follows; p++) s -= Lx[p] * x[L->idx[p]];
        if (scaled && isnormal(r) && (isnormal(c) || !follows || Lx[q - 1] == 0))
            x[i] = follows ? s * r - c * x[i - 1] : s * r;
        else x[i] = (follows ? s - Lx[q - 1] * x[i - 1] : s) / Lx[q];
    }
}

/* ---- solving ------------------------------------------------------------------------------------ */

static void *solve(const trs_mat *a, const char *solver, trs_op op, const void *b, int nrhs,
                   trs_layout layout)
{
    const trs_options opt = {.solver = solver, .ops = 7, .nrhs = nrhs, .threads = 2};
    const trs_exec exec = {.layout = layout, .threads = 2};
    const int64_t ld = layout == TRS_ROW_MAJOR ? nrhs : a->n;
    void *x = zeroed(a->n * nrhs, trs_size(a->dtype));
    trs_plan *p;
    assert_status(trs_plan_create(&p, a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_solve(p, op, nrhs, b, ld, x, ld, &exec), TRS_OK);
    trs_plan_destroy(p);
    return x;
}

/* Columns and rows of B, and both solvers. */
static void same_bits(const model *m, const trs_mat *a, trs_op op, random_t *r)
{
    const size_t size = trs_size(a->dtype);
    const int64_t n = a->n;
    void *b = zeroed(n * NRHS, size), *rows = zeroed(n * NRHS, size), *x, *y, *z;
    for (int64_t k = 0; k < n * NRHS; k++) set_number(b, a->dtype, k, 1 + draw(r));
    for (int64_t k = 0; k < n * NRHS; k++)
        set_number(rows, a->dtype, k / n + k % n * NRHS, get_number(b, a->dtype, k));
    x = solve(a, "cpu-serial", op, b, NRHS, TRS_COL_MAJOR);
    y = solve(a, "cpu-level", op, b, NRHS, TRS_COL_MAJOR);
    z = solve(a, "cpu-serial", op, rows, NRHS, TRS_ROW_MAJOR);
    assert_memory_equal(x, y, (size_t)(n * NRHS) * size);
    for (int64_t k = 0; k < n * NRHS; k++)
        assert_true(get_number(x, a->dtype, k) == get_number(z, a->dtype, k / n + k % n * NRHS));
    const quality q = quality_of(m, false, op, a->dtype, b, 1, x, 1);
    assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(a->dtype));
    free(b), free(rows), free(x), free(y), free(z);
}

static void test_bits(void **state)
{
    (void)state;
    random_t r = {21};
    for (int k = 0; k < KINDS; k++)
        for (int t = 0; t < 4; t++) {
            model m = triangle((kind)k, &r);
            form f = {.dtype = (trs_dtype)t, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
            trs_mat a = show(&m, &f, &r);
            for (int op = 0; op < 3; op++)
                if (m.n < 1000 || op == (k + t) % 3) same_bits(&m, &a, (trs_op)op, &r);
            mat_free(&a);
            model_free(&m);
        }
}

/* The formula is right, and the solver follows it. */
static void test_reference(void **state)
{
    (void)state;
    random_t r = {22};
    for (int k = 0; k < KINDS; k++) {
        model m = triangle((kind)k, &r);
        form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
        trs_mat a = show(&m, &f, &r);
        trs_context ctx = {.threads = 1};
        trs_tri L, t;
        model_triangles(&ctx, &m, &L, &t);
        assert_int_equal(trs_rows_chained(&L), k >= CHAINED);
        double *b = zeroed(m.n, 8), *x = zeroed(m.n, 8), *plain = zeroed(m.n, 8), *y;
        for (int i = 0; i < m.n; i++) b[i] = random_uniform(&r);
        by_rows(&L, b, plain, false, false);
        by_rows(&L, b, x, true, k >= CHAINED);
        y = solve(&a, "cpu-serial", TRS_N, b, 1, TRS_COL_MAJOR);
        for (int i = 0; i < m.n; i++) {
            assert_at_most(fabs(x[i] - plain[i]), 1e-13);
            assert_at_most(fabs(y[i] - plain[i]), 1e-13);
        }
        free(b), free(x), free(plain), free(y);
        trs_tri_free(&ctx, &L);
        trs_tri_free(&ctx, &t);
        mat_free(&a);
        model_free(&m);
    }
}

/* Inf and NaN reach the rows that depend on them, and no others. */
static void test_spread(void **state)
{
    (void)state;
    random_t r = {23};
    for (int k = 0; k < KINDS; k++) {
        model m = triangle((kind)k, &r);
        form f = {
            .dtype = k % 2 ? TRS_C64 : TRS_F64, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
        trs_mat a = show(&m, &f, &r);
        bool *reached = zeroed(m.n, sizeof *reached);
        void *b = zeroed(m.n, trs_size(f.dtype));
        for (int step = 0; step < 4; step++) {
            const int at = random_below(&r, m.n);
            for (int i = 0; i < m.n; i++) set_number(b, f.dtype, i, 1);
            set_number(b, f.dtype, at, step % 2 ? NAN : INFINITY);
            reach(&m, TRS_N, at, reached);
            void *x = solve(&a, "cpu-serial", TRS_N, b, 1, TRS_COL_MAJOR);
            for (int i = 0; i < m.n; i++)
                assert_true(reached[i] || isfinite(cabs(get_number(x, f.dtype, i))));
            free(x);
        }
        free(b), free(reached);
        mat_free(&a);
        model_free(&m);
    }
}

/* 1 / d, or l / d, overflows, is subnormal or zero, but no x does. */
static void test_extremes(void **state)
{
    (void)state;
    static const double d[] = {1, 0x1p-1030, 1, 0x1p-600, 0x1p1023, 0x1p-600, 0x1p1000, 2};
    static const double l[] = {0, -0x1p-1031, 0, -0x1p500, -0x1p1000, 0, -0x1p-100, -1};
    static const double b[] = {1, 0x1p-1030, 0, 0x1p-600, 0x1p1000, 0x1p400, 0, 1};
    enum { N = 8 };
    int64_t ptr[N + 1], q = 0;
    int32_t idx[2 * N];
    double val[2 * N], x[N];
    for (int i = 0; i < N; i++) {
        ptr[i] = q;
        if (i) idx[q] = i - 1, val[q++] = l[i];
        idx[q] = i, val[q++] = d[i];
        x[i] = ((i ? b[i] - l[i] * x[i - 1] : b[i]) / d[i]);
    }
    ptr[N] = q;
    const trs_mat a = {.n = N,
                       .nnz = q,
                       .dtype = TRS_F64,
                       .format = TRS_CSR,
                       .ptr = ptr,
                       .idx = idx,
                       .val = val,
                       .kind = TRS_LOWER};
    for (int k = 0; k < 2; k++) {
        double *y = solve(&a, k ? "cpu-level" : "cpu-serial", TRS_N, b, 1, TRS_COL_MAJOR);
        for (int i = 0; i < N; i++)
            assert_true(y[i] == x[i] || fabs(y[i] - x[i]) <= 1e-15 * fabs(x[i]));
        free(y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
