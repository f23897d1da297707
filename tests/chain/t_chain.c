/* t_chain.c: the sequential reference of cuda-chain: pointer jumping by the rounds of chain.cu,
 *
 *     update:  a(i) = -L(i,p(i)) / L(i,i);  then round after round  a'(i) = a(i) a(p(i)),  p'(i) = p(p(i))
 *     solve:   x(i) = b(i) / L(i,i);        then round after round  x'(i) = x(i) + a(i) x(p(i))
 *
 * on all triangles with at most one entry a row beside the diagonal, and on trees and chains of many rows. */
#include "tests/common/reference.h"

#include <math.h>

static const double WORST = 1e4; /* as in blocks.cuh */
static int checked, accurate;

typedef struct chain {
    int n, rounds;
    int32_t *p; /* [rounds][n] */
    double *a;  /* [rounds][n] */
} chain;

static bool has_long_row(const trs_tri *L)
{
    for (int32_t i = 0; i < L->n; i++)
        if (L->ptr[i + 1] - L->ptr[i] > 2) return true;
    return false;
}

static int rounds_of(trs_context *ctx, const trs_tri *L)
{
    int rounds = 1;
    trs_levels lv;
    assert_int_equal(trs_level_rows(ctx, L, &lv), TRS_OK);
    while (1 << rounds < lv.count) rounds++;
    trs_levels_free(ctx, &lv);
    return rounds;
}

/* Round 0. */
static void start(const trs_tri *L, chain *c)
{
    const double *Lx = L->val;
    for (int32_t i = 0; i < L->n; i++) {
        const int64_t d = L->ptr[i + 1] - 1;
        const bool has = d > L->ptr[i];
        c->p[i] = has ? L->idx[d - 1] : -1;
        c->a[i] = has ? -Lx[d - 1] / Lx[d] : 0;
    }
}

/* All rounds, until no parent has a parent; false: their products grow too much. */
static bool jump(chain *c)
{
    bool good = true;
    for (int k = 1; k < c->rounds; k++) {
        const int32_t *p = c->p + (size_t)(k - 1) * (size_t)c->n;
        const double *a = c->a + (size_t)(k - 1) * (size_t)c->n;
        int32_t *next_p = c->p + (size_t)k * (size_t)c->n;
        double *next_a = c->a + (size_t)k * (size_t)c->n;
        for (int i = 0; i < c->n; i++) {
            const int32_t j = p[i];
            assert_true(j < i);
            next_p[i] = j < 0 ? -1 : p[j];
            next_a[i] = j < 0 ? 0 : a[i] * a[j];
            good = good && fabs(next_a[i]) <= WORST;
        }
    }
    const int32_t *last = c->p + (size_t)(c->rounds - 1) * (size_t)c->n;
    for (int i = 0; i < c->n; i++) assert_true(last[i] < 0 || last[last[i]] < 0);
    return good;
}

/* Each round reads one array and writes the other. */
static void solve(const trs_tri *L, const chain *c, const double *b, double *x)
{
    const size_t n = (size_t)c->n;
    double *y = random_vector(c->n), *from = c->rounds % 2 ? y : x, *to = c->rounds % 2 ? x : y;
    for (size_t i = 0; i < n; i++) from[i] = b[i] / ((double *)L->val)[L->ptr[i + 1] - 1];
    for (int k = 0; k < c->rounds; k++) {
        const int32_t *p = c->p + (size_t)k * n;
        const double *a = c->a + (size_t)k * n;
        double *const was = from;
        for (size_t i = 0; i < n; i++) to[i] = p[i] < 0 ? from[i] : from[i] + a[i] * from[p[i]];
        from = to, to = was;
    }
    assert_ptr_equal(from, x);
    free(y);
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    if (has_long_row(L)) return;
    chain c = {.n = L->n, .rounds = rounds_of(ctx, L)};
    assert_non_null(c.p = malloc((size_t)(c.n * c.rounds + 1) * sizeof *c.p));
    assert_non_null(c.a = malloc((size_t)(c.n * c.rounds + 1) * sizeof *c.a));
    double *b = random_vector(L->n), *x = random_vector(L->n), *right = random_vector(L->n);
    checked++;
    substitute(L, b, right);
    start(L, &c);
    if (jump(&c)) {
        accurate++;
        solve(L, &c, b, x);
        assert_near(L->n, x, right);
    }
    compare_with_solver("cuda-chain", L, b, right);
    free(c.p);
    free(c.a);
    free(b);
    free(x);
    free(right);
}

static void test_all(void **state)
{
    (void)state;
    checked = 0;
    for_all_triangles(701, check_triangle);
    assert_true(checked > 10);
}

/* N rows, each with the row before as its parent, or any; L(i,p(i)) / L(i,i) = ratio. */
static void check_tree(bool random, double ratio, bool is_accurate)
{
    enum { N = 5000 };
    random_t r = {3};
    trs_context ctx = {.threads = 1};
    trs_tri t, u;
    model m = {.n = N};
    for (int i = 1; i < N; i++) model_add(&m, i, random ? random_below(&r, i) : i - 1, -2 * ratio);
    for (int i = 0; i < N; i++) model_add(&m, i, i, 2);
    model_triangles(&ctx, &m, &t, &u);
    accurate = 0;
    check_triangle(&ctx, &t);
    assert_int_equal(accurate, is_accurate);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

static void test_trees(void **state)
{
    (void)state;
    check_tree(false, 0.75, true);
    check_tree(true, 1, true);
    check_tree(true, 10, false); /* products grow: rows are substituted */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
