/* t_levels.c: the sequential reference of cuda-levels: one sweep over all rows for each level. */
#include "tests/common/reference.h"

enum { MOST_LEVELS = 16, MOST_ENTRIES = 64 }; /* as in levels.cu */

static int solved;

static void sweep(const trs_tri *L, const int32_t *level, int32_t l, const double *b, double *x)
{
    const double *Lx = L->val;
    for (int32_t i = 0; i < L->n; i++) {
        const int64_t diagonal = L->ptr[i + 1] - 1;
        double sum = 0;
        if (level[i] != l) continue;
        for (int64_t p = L->ptr[i]; p < diagonal; p++) sum += Lx[p] * x[L->idx[p]];
        x[i] = (b[i] - sum) / Lx[diagonal];
    }
}

static bool is_suitable(const trs_tri *L, const trs_levels *lv)
{
    for (int32_t i = 0; i < L->n; i++)
        if (L->ptr[i + 1] - L->ptr[i] > MOST_ENTRIES) return false;
    return lv->count <= MOST_LEVELS;
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    trs_levels lv;
    double *b = random_vector(L->n), *x = random_vector(L->n), *right = random_vector(L->n);
    int32_t *level = zeroed(L->n, sizeof *level);
    assert_int_equal(trs_level_rows(ctx, L, &lv), TRS_OK);
    for (int32_t l = 0; l < lv.count; l++)
        for (int32_t k = lv.ptr[l]; k < lv.ptr[l + 1]; k++) level[lv.topo[k]] = l;
    substitute(L, b, right);
    for (int32_t l = 0; l < lv.count; l++) sweep(L, level, l, b, x);
    assert_near(L->n, x, right);
    if (is_suitable(L, &lv)) {
        compare_with_solver("cuda-levels", L, b, right);
        solved++;
    }
    trs_levels_free(ctx, &lv);
    free(level);
    free(b);
    free(x);
    free(right);
}

static void test_all(void **state)
{
    (void)state;
    solved = 0;
    for_all_triangles(503, check_triangle);
    assert_true(solved > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
