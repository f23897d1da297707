/* t_solve_once.c: x of a solve without a plan has the backward error of substitution, for every pattern, form, type, op and
 * layout; pivots and patterns that are bad are errors, and no pattern makes it read or write outside the arrays. */
#include "tests/common/model.h"

#include <math.h>

typedef struct sides {
    trs_dtype dtype;
    trs_layout layout;
    int n, nrhs;
    int64_t ld;
    void *b, *x;
} sides;

static int64_t place(const sides *s, int64_t i, int r)
{
    return s->layout == TRS_ROW_MAJOR ? i * s->ld + r : i + r * s->ld;
}

static int64_t numbers(const sides *s)
{
    const bool rows = s->layout == TRS_ROW_MAJOR;
    return s->ld * ((rows ? s->n : s->nrhs) - 1) + (rows ? s->nrhs : s->n);
}

/* Arrays of exactly the size, for sanitizers. */
static sides sides_new(trs_dtype t, trs_layout layout, int n, random_t *r)
{
    sides s = {.dtype = t, .layout = layout, .n = n, .nrhs = 1 + random_below(r, 3)};
    s.ld = (layout == TRS_ROW_MAJOR ? s.nrhs : n) + random_below(r, 3);
    s.b = malloc((size_t)numbers(&s) * trs_size(t));
    s.x = malloc((size_t)numbers(&s) * trs_size(t));
    assert_true(s.b && s.x);
    for (int64_t k = 0; k < numbers(&s); k++) {
        set_number(s.b, t, k, random_uniform(r) + random_uniform(r) * I);
        set_number(s.x, t, k, -7);
    }
    return s;
}

static void check(const model *m, bool unit, trs_op op, const sides *s)
{
    const int64_t size = (int64_t)trs_size(s->dtype);
    const int64_t step = s->layout == TRS_ROW_MAJOR ? s->ld : 1;
    for (int r = 0; r < s->nrhs; r++) {
        const quality q = quality_of(m, unit, op, s->dtype, (char *)s->b + place(s, 0, r) * size,
                                     step, (char *)s->x + place(s, 0, r) * size, step);
        assert_at_most(q.omega, (q.longest + 4) * epsilon(s->dtype));
    }
}

static void one_form(int number)
{
    random_t r = {(uint64_t)number};
    form f = form_random((trs_dtype)(number % 4), &r);
    f.format = number / 4 % 2 ? TRS_CSC : TRS_CSR;
    model m = model_new((pattern)(number / 8 % PATTERNS), random_below(&r, 2), true,
                        trs_is_complex(f.dtype), &r);
    trs_mat A = show(&m, &f, &r);
    for (int op = TRS_N; op <= TRS_H && m.n; op++)
        for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
            sides s = sides_new(f.dtype, (trs_layout)layout, m.n, &r);
            const size_t bytes = (size_t)numbers(&s) * trs_size(f.dtype);
            assert_status(trs_solve_once(&A, (trs_op)op, s.nrhs, s.b, s.ld, s.x, s.ld, s.layout),
                          TRS_OK);
            check(&m, f.unit, (trs_op)op, &s);
            void *same = malloc(bytes);
            assert_non_null(same);
            memcpy(same, s.b, bytes);
            assert_status(trs_solve_once(&A, (trs_op)op, s.nrhs, same, s.ld, same, s.ld, s.layout),
                          TRS_OK);
            for (int64_t i = 0; i < m.n; i++)
                for (int c = 0; c < s.nrhs; c++)
                    assert_true(get_number(same, f.dtype, place(&s, i, c)) ==
                                get_number(s.x, f.dtype, place(&s, i, c)));
            free(same), free(s.b), free(s.x);
        }
    mat_free(&A);
    model_free(&m);
}

static void test_forms(void **state)
{
    (void)state;
    for (int number = 0; number < 700; number++) one_form(number);
}

/* ---- what is refused ------------------------------------------------------------------------------- */

enum { N = 3, NNZ = 5 };

/* Lower triangle of CSR, upper one of CSC: 2, 1 4, 1 8. */
static const int64_t ptr[] = {0, 1, 3, 5}, columns[] = {0, 0, 1, 0, 2};
/* Of the other triangles. */
static const int64_t above_ptr[] = {0, 2, 4, 5}, above[] = {0, 1, 1, 2, 2};
static const double values[] = {2, 1, 4, 1, 8}, b[] = {2, 5, 9};

static int solve(const int64_t *p, const int64_t *i, const double *v, unsigned kind,
                 trs_format format, trs_op op, double x[N])
{
    const trs_mat A = {.n = N,
                       .nnz = NNZ,
                       .ptr = p,
                       .idx = i,
                       .idx_bits = 64,
                       .val = v,
                       .kind = kind,
                       .format = format};
    return trs_solve_once(&A, op, 1, b, N, x, N, TRS_COL_MAJOR);
}

/* The same solve, gathered and scattered. */
static void refuse(const int64_t *p, const int64_t *i, const double *v, unsigned strict, int status)
{
    double x[N];
    assert_int_equal(solve(p, i, v, TRS_LOWER | strict, TRS_CSR, TRS_N, x), status);
    assert_true(strlen(trs_message()) > 10);
    assert_int_equal(solve(p, i, v, TRS_UPPER | strict, TRS_CSC, TRS_N, x), status);
    assert_true(strlen(trs_message()) > 10);
}

static void test_values(void **state)
{
    (void)state;
    double x[N];
    assert_status(solve(ptr, columns, values, TRS_LOWER, TRS_CSR, TRS_N, x), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 1 && x[2] == 1);
    assert_status(solve(ptr, columns, values, TRS_UPPER, TRS_CSC, TRS_T, x), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 1 && x[2] == 1);
    /* U = [2 1 1; 0 4 0; 0 0 8] */
    assert_status(solve(ptr, columns, values, TRS_UPPER, TRS_CSC, TRS_N, x), TRS_OK);
    assert_true(x[2] == 1.125 && x[1] == 1.25 && x[0] == (2 - 1.25 - 1.125) / 2);
    const int64_t twice[] = {0, 0, 1, 0, 0},
                  two_ptr[] = {0, 1, 3, 5}; /* row 2 lacks its diagonal */
    assert_status(solve(two_ptr, twice, values, TRS_LOWER | TRS_UNIT, TRS_CSR, TRS_N, x), TRS_OK);
    assert_true(x[0] == 2 && x[1] == 3 && x[2] == 9 - 2 * 1 - 2 * 8); /* counts twice */
}

static void test_errors(void **state)
{
    (void)state;
    static const double bad[] = {0, NAN, INFINITY};
    double v[NNZ], x[N];
    int64_t i[NNZ], p[N + 1];
    for (int k = 0; k < 3; k++) {
        memcpy(v, values, sizeof v);
        v[2] = bad[k];
        refuse(ptr, columns, v, 0, TRS_EPIVOT);
    }
    static const int64_t wrong[] = {-1, N, INT64_MIN, INT64_MAX, (INT64_C(1) << 32)};
    for (int e = 0; e < NNZ; e++)
        for (int k = 0; k < 5; k++) {
            memcpy(i, columns, sizeof i);
            i[e] = wrong[k];
            double y[N];
            const int rc = solve(ptr, i, values, TRS_LOWER, TRS_CSR, TRS_N, y);
            assert_true(rc == TRS_EMATRIX); /* also where the diagonal is then missing */
            assert_true(solve(ptr, i, values, TRS_UPPER, TRS_CSC, TRS_N, y) == TRS_EMATRIX);
            memcpy(i, above, sizeof i);
            i[e] = wrong[k];
            assert_true(solve(above_ptr, i, values, TRS_UPPER, TRS_CSR, TRS_N, y) == TRS_EMATRIX);
            assert_true(solve(above_ptr, i, values, TRS_LOWER, TRS_CSC, TRS_N, y) == TRS_EMATRIX);
        }
    for (int e = 0; e <= N; e++)
        for (int k = 0; k < 4; k++) {
            memcpy(p, ptr, sizeof p);
            p[e] = wrong[k] == N ? NNZ + 1 : wrong[k];
            refuse(p, columns, values, 0, TRS_EMATRIX);
        }
    memcpy(i, columns, sizeof i);
    i[1] = 1; /* twice the diagonal of row 1 */
    refuse(ptr, i, values, 0, TRS_EMATRIX);
    i[1] = 2; /* the other triangle, of which NaN is ignored */
    memcpy(v, values, sizeof v);
    v[1] = NAN;
    assert_status(solve(ptr, i, v, TRS_LOWER, TRS_CSR, TRS_N, x), TRS_OK);
    assert_true(x[1] == 1.25);
    refuse(ptr, i, v, TRS_STRICT, TRS_EMATRIX);
    i[1] = 0, i[2] = 0; /* no diagonal */
    refuse(ptr, i, values, 0, TRS_EPIVOT);
}

static void test_arguments(void **state)
{
    (void)state;
    double x[2 * N], B[2 * N] = {1};
    trs_mat A = {.n = N,
                 .nnz = NNZ,
                 .ptr = ptr,
                 .idx = columns,
                 .idx_bits = 64,
                 .val = values,
                 .kind = TRS_LOWER};
    const trs_layout by_columns = TRS_COL_MAJOR;
    assert_int_equal(trs_solve_once(NULL, TRS_N, 1, B, N, x, N, by_columns), TRS_EARG);
    assert_int_equal(trs_solve_once(&A, (trs_op)3, 1, B, N, x, N, by_columns), TRS_EARG);
    assert_int_equal(trs_solve_once(&A, TRS_N, -1, B, N, x, N, by_columns), TRS_EARG);
    assert_int_equal(trs_solve_once(&A, TRS_N, 1, B, N - 1, x, N, by_columns), TRS_EARG);
    assert_int_equal(trs_solve_once(&A, TRS_N, 1, B, N, B + 1, N, by_columns), TRS_EARG);
    assert_int_equal(trs_solve_once(&A, TRS_N, 1, B, N, x, N, (trs_layout)2), TRS_EARG);
    assert_int_equal(trs_solve_once(&A, TRS_N, 0, NULL, N, NULL, N, by_columns), TRS_OK);
    for (unsigned kind = 0; kind < 4; kind++) { /* none, both, more than a triangle */
        static const unsigned kinds[] = {0, TRS_LOWER | TRS_UPPER, TRS_LOWER | TRS_SELFADJOINT,
                                         TRS_PERMUTED};
        A.kind = kinds[kind];
        assert_int_equal(trs_solve_once(&A, TRS_N, 1, B, N, x, N, by_columns), TRS_EARG);
    }
    A.kind = TRS_LOWER, A.format = TRS_DENSE, A.ld = N;
    assert_int_equal(trs_solve_once(&A, TRS_N, 1, B, N, x, N, by_columns), TRS_ESUPPORT);
    A.format = TRS_CSR, A.device = 1;
    assert_int_equal(trs_solve_once(&A, TRS_N, 1, B, N, x, N, by_columns), TRS_ESUPPORT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
