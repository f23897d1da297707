/* t_chains.c: where the inverse of a whole chain may not be used, x is as good as by substitution.
 *
 * The solvers by supernodes invert diagonal blocks of up to four supernodes, and multiply columns left of them by the
 * inverse.  Two triangles tempt them: one with a chain whose inverse grows, though that of each supernode does not, and
 * one with a chain whose inverse times the columns overflows, beside a chain where all is well. */
#include "tests/common/model.h"

#include "analysis/trapezoids.h"

#include <float.h>
#include <math.h>

enum { TILE = TRS_SUPERNODE, LONGEST = 8 * TILE };

/* What an inverse may cost: four digits of sixteen, or two of seven. */
static const double WORST = 1e4, WORST_SINGLE = 1e2;

static bool is_single(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32;
}

static int make_supernodes(const model *m, trs_supernodes *s)
{
    trs_context ctx = {0};
    trs_tri t, u;
    trs_fundamental f;
    model_triangles(&ctx, m, &t, &u);
    int rc = trs_fundamental_make(&ctx, &t, &f);
    if (!rc) rc = trs_supernodes_of(&ctx, &f, s);
    trs_fundamental_free(&ctx, &f);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    return rc;
}

/* There are that many chains; number k of the supernodes begins one of that length, with late columns or without. */
static void assert_chain(const trs_supernodes *s, int chains, int k, int length, bool late)
{
    const trs_supernode *first = &s->supernode[k];
    assert_int_equal(s->chains, chains);
    assert_true(k < s->count);
    assert_int_equal(first->chain_place, 0);
    assert_int_equal(first->chain_length, length);
    assert_int_equal(first->panel + first->panels > first->diagonal + 1, late);
}

/* b = L x; then x is found again.  Returns the backward error. */
static double solve(const char *name, const model *m, trs_dtype t, const zz *x)
{
    random_t r = {3};
    const form f = {.dtype = t, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    const trs_options opt = {.solver = name};
    trs_mat a = show(m, &f, &r);
    zz sum[LONGEST] = {0}, b[LONGEST], found[LONGEST];
    double omega = 0;
    trs_plan *p;
    for (int64_t k = 0; k < m->nnz; k++) sum[m->row[k]] += m->val[k] * x[m->col[k]];
    for (int i = 0; i < m->n; i++) set_number(b, t, i, sum[i]);
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    for (int turn = 0; turn < 2; turn++) { /* values once more are taken as the first were */
        memset(found, 0xff, sizeof found);
        assert_status(trs_solve(p, TRS_N, 1, b, m->n, found, m->n, NULL), TRS_OK);
        const quality q = quality_of(m, false, TRS_N, t, b, 1, found, 1);
        const double most = is_single(t) ? WORST_SINGLE * FLT_EPSILON : WORST * DBL_EPSILON;
        if (!(q.omega <= most))
            fail_msg("%s %s: omega %g in row %d, bound %g", name, type_name[t], q.omega, q.row,
                     most);
        omega = larger(omega, q.omega);
        assert_status(trs_plan_update(p, &a, NULL), TRS_OK);
    }
    trs_plan_destroy(p);
    mat_free(&a);
    return omega;
}

static void solve_by_all(const model *m, trs_dtype t, const zz *x)
{
    static const char *const names[] = {"cpu-serial", "cpu-supernodal", "cuda-supernodal"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (available_solver(&names[k], 1)) (void)solve(names[k], m, t, x);
}

static void random_x(int n, zz *x)
{
    random_t r = {7};
    for (int i = 0; i < n; i++) x[i] = 1 + 0.5 * random_uniform(&r);
}

/* Four supernodes.  The first row of each has, beside its diagonal, one number, in the first column of the supernode before
 * it: the inverse of the chain has its powers there, and nowhere else. */
static model linked(double link)
{
    random_t r = {5};
    model m = {.n = 4 * TILE};
    for (int i = 0; i < m.n; i++) {
        const int before = i % TILE == 0 ? i - TILE : -1;
        for (int j = 0; j < i; j++) {
            const double other = i % TILE == 0 ? 0 : random_uniform(&r) / TILE;
            model_add(&m, i, j, j == before ? link : other);
        }
        model_add(&m, i, i, i % TILE == 0 ? 1 : 1 + 0.1 * random_uniform(&r));
    }
    return m;
}

static void test_growth(void **state)
{
    (void)state;
    zz x[LONGEST];
    for (int t = 0; t < 4; t++) {
        model m = linked(is_single((trs_dtype)t) ? 300.1 : 1000.1);
        trs_supernodes s;
        assert_int_equal(make_supernodes(&m, &s), TRS_OK);
        assert_chain(&s, 1, 0, TRS_CHAIN, false);
        trs_context ctx = {0};
        trs_supernodes_free(&ctx, &s);
        random_x(m.n, x);
        solve_by_all(&m, (trs_dtype)t, x);
        model_free(&m);
    }
}

/* The largest row of |D| |M| |D| e over that of |D| e, for the first rows of the supernodes: D has 1 and the link, and M the
 * powers of it. */
static double growth_of(double link)
{
    double sum[4], h[4], most = 0;
    for (int t = 0; t < 4; t++) {
        double power = 1;
        sum[t] = t ? 1 + link : 1;
        h[t] = 0;
        for (int s = t; s >= 0; s--, power *= link) h[t] += power * sum[s];
        const double all = h[t] + (t ? link * h[t - 1] : 0);
        most = larger(most, all / sum[t]);
    }
    return most;
}

/* Just below the growth that is allowed cuda-supernodal uses the inverse, just above it does not: x has lost digits, or not. */
static void test_limit(void **state)
{
    static const char *const name = "cuda-supernodal";
    static const double links[] = {44.3, 56.7};
    (void)state;
    zz x[LONGEST];
    if (!available_solver(&name, 1)) skip();
    for (int k = 0; k < 4; k++) {
        const trs_dtype t = k / 2 ? TRS_C64 : TRS_F64;
        const double growth = growth_of(links[k % 2]);
        model m = linked(links[k % 2]);
        random_x(m.n, x);
        const double omega = solve(name, &m, t, x);
        print_message("# %s, growth %g: omega %g\n", type_name[t], growth, omega);
        assert_int_equal(growth < WORST, k % 2 == 0);
        assert_true(fabs(growth / WORST - 1) < 0.4);
        assert_int_equal(omega > 40 * DBL_EPSILON, growth < WORST);
        model_free(&m);
    }
}

/* A chain of four supernodes, and two of two, which depend on the fourth and not on each other.  The first number left of the
 * first of these is huge, and the inverse of its chain makes it a hundred times as large; x in its column is tiny, and its
 * own row has no other number. */
static model overflowing(double huge)
{
    enum { LAST = 3 * TILE, FIRST = 4 * TILE, SECOND = 6 * TILE };
    random_t r = {6};
    model m = {.n = 8 * TILE};
    for (int i = 0; i < m.n; i++) {
        const int chain = i < SECOND ? FIRST : SECOND;
        for (int j = i < FIRST ? 0 : LAST; j < i; j++) {
            double v = random_uniform(&r) / 16;
            if (j >= FIRST && j < chain) continue;
            if (i == LAST) v = 0;
            if (i == FIRST && j == LAST) v = huge;
            if (i == FIRST + TILE && j >= FIRST) v = j == FIRST ? 100 : 0;
            model_add(&m, i, j, v);
        }
        model_add(&m, i, i, 1 + 0.1 * random_uniform(&r));
    }
    return m;
}

static void test_overflow(void **state)
{
    (void)state;
    zz x[LONGEST];
    for (int t = 0; t < 4; t++) {
        const double huge = is_single((trs_dtype)t) ? 1e37 : 1e307;
        model m = overflowing(huge);
        trs_supernodes s;
        assert_int_equal(make_supernodes(&m, &s), TRS_OK);
        assert_chain(&s, 3, 4, 2, true);
        assert_chain(&s, 3, 6, 2, true);
        trs_context ctx = {0};
        trs_supernodes_free(&ctx, &s);
        random_x(m.n, x);
        x[3 * TILE] = 3 / huge;
        solve_by_all(&m, (trs_dtype)t, x);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth), cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
