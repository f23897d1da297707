/* t_rows.c: the sequential reference of cuda-rows, with the order in which the lanes of a warp sum up a row, on all
 * triangles. */
#include "tests/common/reference.h"

enum { WARP = 32, LONG = 64 }; /* as in rows.cu */

/* By one lane, or by all lanes of a warp, whose sums are added by halving. */
static double sum_of(const trs_tri *L, int32_t i, const double *x)
{
    const double *Lx = L->val;
    const int64_t begin = L->ptr[i], length = L->ptr[i + 1] - 1 - begin;
    const int lanes = length > LONG ? WARP : 1;
    double sum[WARP] = {0};
    for (int64_t q = 0; q < length; q++) sum[q % lanes] += Lx[begin + q] * x[L->idx[begin + q]];
    for (int by = lanes / 2; by > 0; by /= 2)
        for (int k = 0; k < by; k++) sum[k] += sum[k + by];
    return sum[0];
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    const double *Lx = L->val;
    double *b = random_vector(L->n), *x = random_vector(L->n), *right = random_vector(L->n);
    (void)ctx;
    substitute(L, b, right);
    for (int32_t i = 0; i < L->n; i++)
        x[i] = (b[i] - sum_of(L, i, x)) * (1 / Lx[L->ptr[i + 1] - 1]);
    assert_near(L->n, x, right);
    compare_with_solver("cuda-rows", L, b, x);
    free(b);
    free(x);
    free(right);
}

static void test_all(void **state)
{
    (void)state;
    for_all_triangles(1003, check_triangle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
