/* t_lu_refine.c: solves with factors of large growth are as accurate as a stable method, whatever the type, op, layout and
 * work space; factors without growth are not refined.  What one op tells of the
 * condition. */
#include "tests/common/full.h"
#include "tests/common/methods.h"
#include "tests/common/report.h"
#include "trisolve-suitesparse.h"

enum { SIDE = 24, N = SIDE * SIDE, NRHS = 3 };

/* Those whose pivots need not be the largest. */
#ifdef HAVE_CHOLMOD
enum { WEAK_METHODS = METHODS - 1 };
#else
enum { WEAK_METHODS = METHODS };
#endif

typedef struct grid { /* of SIDE x SIDE nodes, by columns */
    int64_t ptr[N + 1];
    int32_t idx[5 * N];
    zz value[5 * N];
    char val[5 * N * sizeof(zz)];
    trs_mat m;
} grid;

static void add(grid *g, int64_t *q, int i, zz value)
{
    g->idx[*q] = i;
    g->value[(*q)++] = value;
}

/* A grid whose neighbours have weights of random sign near 1, and whose diagonal has numbers of this size. */
static void make(grid *g, trs_dtype t, double diagonal)
{
    const bool c = t == TRS_C64 || t == TRS_C32;
    int64_t q = 0;
    for (int j = 0; j < N; j++) {
        const int row = j / SIDE, col = j % SIDE;
        g->ptr[j] = q;
        if (row > 0) add(g, &q, j - SIDE, number(c));
        if (col > 0) add(g, &q, j - 1, number(c));
        add(g, &q, j, diagonal * number(c));
        if (col < SIDE - 1) add(g, &q, j + 1, number(c));
        if (row < SIDE - 1) add(g, &q, j + SIDE, number(c));
    }
    g->ptr[N] = q;
    for (int64_t p = 0; p < q; p++) set_value(g->val, t, p, g->value[p]);
    g->m =
        (trs_mat){.n = N, .nnz = q, .ptr_bits = 64, .idx_bits = 32, .format = TRS_CSC, .dtype = t};
    g->m.ptr = g->ptr, g->m.idx = g->idx, g->m.val = g->val;
}

static int64_t refines(const trs_lu *lu)
{
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    return info.refines;
}

/* The backward error of x, from residuals in long double, with B and X apart and in the same place. */
static void check_solve(trs_lu *lu, const grid *g, trs_op op, trs_layout layout, trs_lu_work *work)
{
    static char b[NRHS * N * sizeof(zz)], x[sizeof b];
    const trs_exec exec = {.layout = layout, .lu_work = work};
    const int64_t ld = layout == TRS_ROW_MAJOR ? NRHS : N;
    const bool c = g->m.dtype == TRS_C64;
    trs_error e;
    for (int k = 0; k < NRHS * N; k++) set_value(b, g->m.dtype, k, number(c));
    for (int in_place = 0; in_place < 2; in_place++) {
        if (in_place) memcpy(x, b, sizeof b);
        assert_int_equal(trs_lu_solve(lu, op, NRHS, in_place ? x : b, ld, x, ld, &exec), TRS_OK);
        assert_int_equal(trs_backward_error(&g->m, op, NRHS, b, ld, x, ld, layout, &e), TRS_OK);
        if (!(e.omega <= 20 * DBL_EPSILON))
            fail_msg("%s, op %d, layout %d, in place %d: omega %g", c ? "complex" : "real", (int)op,
                     (int)layout, in_place, e.omega);
    }
}

static void check_solves(trs_lu *lu, const grid *g)
{
    trs_lu_work *work;
    assert_int_equal(trs_lu_work_create(&work, lu, 2), TRS_OK);
    for (int op = TRS_N; op <= TRS_H; op++)
        for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
            check_solve(lu, g, (trs_op)op, (trs_layout)layout, NULL);
            check_solve(lu, g, (trs_op)op, (trs_layout)layout, work);
        }
    trs_lu_work_destroy(work);
}

/* Weak diagonals are refined; strong ones need no step; then weak ones again. */
static void weak_diagonals(void **state)
{
    (void)state;
    static grid weak, strong;
    for (int k = 0; k < 2 * WEAK_METHODS; k++) {
        const trs_dtype t = k & 1 ? TRS_C64 : TRS_F64;
        const trs_factor_options opt = {.method = methods[k / 2], .plan = {.ops = 7}};
        trs_lu *lu;
        make(&weak, t, 1e-3);
        make(&strong, t, 100);
        assert_int_equal(trs_factor(&lu, &weak.m, &opt), TRS_OK);
        assert_int_equal(refines(lu), 1);
        check_solves(lu, &weak);
        for (int64_t p = 0; p < weak.m.nnz; p++) weak.value[p] *= 1 + creal(number(false)) / 50;
        for (int64_t p = 0; p < weak.m.nnz; p++) set_value(weak.val, t, p, weak.value[p]);
        assert_int_equal(trs_lu_update(lu, &weak.m), TRS_OK); /* with the old pivots */
        assert_int_equal(refines(lu), 1);
        check_solves(lu, &weak);
        assert_int_equal(trs_lu_update(lu, &strong.m), TRS_OK);
        assert_int_equal(refines(lu), 0);
        check_solves(lu, &strong);
        assert_int_equal(trs_lu_update(lu, &weak.m), TRS_OK);
        assert_int_equal(refines(lu), 1);
        memset(weak.val, 0, sizeof weak.val); /* the factors have a copy */
        for (int64_t p = 0; p < weak.m.nnz; p++) set_value(strong.val, t, p, weak.value[p]);
        check_solves(lu, &strong);
        trs_lu_destroy(lu);
    }
}

/* A plan with TRS_T alone is measured and refined too. */
static void one_op(void **state)
{
    (void)state;
    static grid g;
    make(&g, TRS_F64, 1e-3);
    for (int op = TRS_T; op <= TRS_H; op++) {
        const trs_factor_options opt = {.method = methods[0], .plan = {.ops = 1u << op}};
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        assert_int_equal(refines(lu), 1);
        check_solve(lu, &g, (trs_op)op, TRS_COL_MAJOR, NULL);
        trs_lu_destroy(lu);
    }
}

/* The backward error, in eps, of the x that the library looks at: its numbers are between 1 and 2. */
static double omega_of(trs_lu *lu, const trs_mat *m)
{
    static double y[N], b[N], x[N];
    const int64_t n = m->n, *ptr = m->ptr;
    trs_error e;
    memset(b, 0, sizeof b);
    for (int64_t j = 0; j < n; j++) {
        y[j] = 1 + fmod(0.6180339887498949 * (double)j, 1);
        for (int64_t p = ptr[j]; p < ptr[j + 1]; p++)
            b[((const int32_t *)m->idx)[p]] += ((const double *)m->val)[p] * y[j];
    }
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, n, x, n, NULL), TRS_OK);
    assert_int_equal(trs_backward_error(m, TRS_N, 1, b, n, x, n, TRS_COL_MAJOR, &e), TRS_OK);
    return e.omega / DBL_EPSILON;
}

/* m = the first n rows and columns of g, in arrays that have room for g. */
static trs_mat corner(const grid *g, int64_t n, int64_t *ptr, int32_t *idx, double *val)
{
    trs_mat m = g->m;
    int64_t q = 0;
    for (int64_t j = 0; j < n; j++) {
        ptr[j] = q;
        for (int64_t p = g->ptr[j]; p < g->ptr[j + 1]; p++)
            if (g->idx[p] < n) idx[q] = g->idx[p], val[q++] = creal(g->value[p]);
    }
    ptr[n] = q;
    m.n = n, m.nnz = q, m.ptr = ptr, m.idx = idx, m.val = val;
    return m;
}

/* Errors of partial pivoting, about sqrt (n) eps, are not refined, larger ones are.  With fewer than 2000 entries the pivots are
 * so large that nothing is. */
static void no_larger_than_usual(void **state)
{
    (void)state;
    static grid g;
    static int64_t ptr[N + 1];
    static int32_t idx[5 * N];
    static double val[5 * N];
    const double size[] = {1e-3, 0.3, 5, 10, 15, 100};
    int between = 0;
    for (int k = 0; k < 12; k++) {
        make(&g, TRS_F64, size[k / 2]);
        const trs_mat m = corner(&g, k & 1 ? 200 : N, ptr, idx, val);
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
        const int steps = (int)refines(lu); /* it makes the plans, which solve from now on */
        const double omega = omega_of(lu, &m);
        print_message("n = %d, diagonal %g: refines %d, omega %.2g eps\n", (int)m.n, size[k / 2],
                      steps, omega);
        assert_true(omega < 2 * sqrt((double)m.n));
        if (k & 1) assert_int_equal(refines(lu), 0);
        between += m.n == N && !refines(lu) && omega > 5;
        trs_lu_destroy(lu);
    }
    assert_true(between > 0);
}

/* Where the residual overflows, in a row with large numbers, x is what it is without a step. */
static void near_overflow(void **state)
{
    (void)state;
    static grid g;
    static double b[N], x[N], exact[N];
    trs_lu *lu;
    make(&g, TRS_F64, 1e-3);
    for (int64_t p = 0; p < g.m.nnz; p++)
        if (g.idx[p] == 7) set_value(g.val, TRS_F64, p, 1e20 * g.value[p]);
    assert_int_equal(trs_factor(&lu, &g.m, &(trs_factor_options){.method = methods[0]}), TRS_OK);
    assert_int_equal(refines(lu), 1);
    for (int i = 0; i < N; i++) b[i] = creal(number(false));
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    double most = 0;
    for (int i = 0; i < N; i++) most = larger(most, fabs(x[i]));
    for (int i = 0; i < N; i++) b[i] *= 1e300 / most, exact[i] = x[i] * (1e300 / most);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++)
        if (!(fabs(x[i] - exact[i]) <= 1e290)) fail_msg("row %d: %g, not %g", i, x[i], exact[i]);
    trs_lu_destroy(lu);
}

/* Numbers of single precision, and factors rounded to it, have no digits to gain. */
static void single_precision(void **state)
{
    (void)state;
    static grid g;
    trs_lu *lu;
    make(&g, TRS_F32, 1e-3);
    assert_int_equal(trs_factor(&lu, &g.m, &(trs_factor_options){.method = methods[0]}), TRS_OK);
    assert_int_equal(refines(lu), 0);
    trs_lu_destroy(lu);
    make(&g, TRS_F64, 1e-3);
    assert_int_equal(
        trs_factor(&lu, &g.m, &(trs_factor_options){.method = methods[0], .single = 1}), TRS_OK);
    assert_int_equal(refines(lu), 0);
    trs_lu_destroy(lu);
}

/* The largest column sum of |op(A)^-1|, or row sum if not `columns`, by N solves. */
static double inverse_norm(trs_lu *lu, const grid *g, trs_op op, bool columns)
{
    static char x[N * sizeof(zz)];
    static double sum[N];
    double most = 0;
    memset(sum, 0, sizeof sum);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) set_value(x, g->m.dtype, i, i == j);
        assert_int_equal(trs_lu_solve(lu, op, 1, x, N, x, N, NULL), TRS_OK);
        for (int i = 0; i < N; i++) sum[columns ? j : i] += cabs(get_value(x, g->m.dtype, i));
    }
    for (int i = 0; i < N; i++) most = larger(most, sum[i]);
    return most;
}

/* The largest column or row sum of |A|. */
static double norm_of(const grid *g, bool columns)
{
    static double sum[N];
    double most = 0;
    memset(sum, 0, sizeof sum);
    for (int j = 0; j < N; j++)
        for (int64_t p = g->ptr[j]; p < g->ptr[j + 1]; p++)
            sum[columns ? j : g->idx[p]] += cabs(get_value(g->val, g->m.dtype, p));
    for (int i = 0; i < N; i++) most = larger(most, sum[i]);
    return most;
}

/* Factors that solve with one op alone give a bound of the condition, in either norm, that is off by about N at most. */
static void condition_with_one_op(void **state)
{
    (void)state;
    static grid g;
    for (int k = 0; k < 12; k++) {
        const trs_op op = (trs_op)(k % 3);
        const trs_norm which = k / 3 % 2 ? TRS_NORM_INF : TRS_NORM_ONE;
        const trs_factor_options opt = {.method = methods[0], .plan = {.ops = 1u << op}};
        const bool columns = which == TRS_NORM_ONE;
        trs_lu *lu;
        double rcond;
        make(&g, k / 6 ? TRS_C64 : TRS_F64, 1);
        for (int64_t p = 0; p < g.m.nnz; p++) /* row 40 is nearly zero */
            if (g.idx[p] == 40) set_value(g.val, g.m.dtype, p, 1e-9 * g.value[p]);
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        const double inverse = inverse_norm(lu, &g, op, columns == (op == TRS_N));
        const double exact = 1 / (norm_of(&g, columns) * inverse);
        assert_int_equal(trs_lu_condest(lu, &g.m, which, &rcond), TRS_OK);
        if (!(rcond >= exact * (1 - 1e-6) && rcond <= 2 * N * exact))
            fail_msg("op %d, norm %d: rcond %g, not %g", (int)op, (int)which, rcond, exact);
        trs_lu_destroy(lu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_diagonals),       cmocka_unit_test(one_op),
        cmocka_unit_test(no_larger_than_usual), cmocka_unit_test(near_overflow),
        cmocka_unit_test(single_precision),     cmocka_unit_test(condition_with_one_op),
    };
    return cmocka_run_group_tests_name("lu_refine", tests, NULL, NULL);
}
