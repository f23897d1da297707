/* t_columns.c: the analysis of cpu-columns is what columns.h says, and the sequential reference of its algorithm
 *
 *     x = b;   for j = 1..n:   x(j) = x(j) / L(j, j),   x(i) = x(i) - L(i, j) x(j)  for i > j
 *
 * computes the x of forward substitution, and what the solver computes. */
#include "tests/common/reference.h"

#include "example/columns.h"

/* Entry q of column j is an entry of row row [q]; rows ascend, and the first of them is the diagonal. */
static void check_column(const trs_tri *L, const trs_columns *c, int32_t j)
{
    assert_int_equal(c->row[c->ptr[j]], j);
    for (int64_t q = c->ptr[j]; q < c->ptr[j + 1]; q++) {
        const int32_t i = c->row[q];
        assert_int_equal(L->idx[c->place[q]], j);
        assert_true(L->ptr[i] <= c->place[q] && c->place[q] < L->ptr[i + 1]);
        assert_true(q == c->ptr[j] || i > c->row[q - 1]);
    }
}

static void solve(const trs_tri *L, const trs_columns *c, const double *b, double *x)
{
    const double *Lx = L->val;
    memcpy(x, b, (size_t)L->n * sizeof *x);
    for (int32_t j = 0; j < L->n; j++) {
        int64_t q = c->ptr[j];
        x[j] /= Lx[c->place[q]];
        for (q++; q < c->ptr[j + 1]; q++) x[c->row[q]] -= Lx[c->place[q]] * x[j];
    }
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    trs_operator op = {0};
    const void *found, *again;
    trs_tri copy;
    double *b = random_vector(L->n), *x = random_vector(L->n), *right = random_vector(L->n);
    assert_int_equal(trs_tri_copy(ctx, L, &copy), TRS_OK);
    trs_operator_from_host(&op, ctx, &copy);
    assert_int_equal(trs_operator_analysis(&op, &trs_column_analysis, true, &found), TRS_OK);
    assert_int_equal(trs_operator_analysis(&op, &trs_column_analysis, false, &again), TRS_OK);
    assert_ptr_equal(found, again); /* made once */
    const trs_columns *c = found;
    assert_int_equal(c->ptr[L->n], L->nnz);
    assert_true(c->apart >= 0 && c->apart <= 1);
    for (int32_t j = 0; j < L->n; j++) check_column(L, c, j);
    solve(L, c, b, x);
    check_solved(L, b, x);
    substitute(L, b, right);
    assert_near(L->n, x, right);
    compare_with_solver("cpu-columns", L, b, x);
    trs_operator_free(&op);
    free(b);
    free(x);
    free(right);
}

static void test_all(void **state)
{
    (void)state;
    for_all_triangles(701, check_triangle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
