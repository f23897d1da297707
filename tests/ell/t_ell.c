/* t_ell.c: the blocks of cpu-ell are what blocks.h says, and the sequential reference of its algorithm, which goes through
 * them one row after the other, computes the x of forward substitution, and what the solver computes. */
#include "tests/common/reference.h"

#include "solvers/cpu_serial.h"
#include "solvers/ell/blocks.h"

/* Each row is there once; those of a block are of one level and have one length; levels ascend, and lengths within them. */
static void check_blocks(const trs_operator *op, const trs_ell_blocks *e)
{
    const bool chained = trs_rows_chained(&op->tri);
    const int32_t n = op->tri.n, *column = e->column;
    int32_t *level = zeroed(n, sizeof *level), level_before = -1, key_before = 0;
    char *seen = zeroed(n, 1);
    for (int32_t l = 0; l < op->lv.count; l++)
        for (int32_t k = op->lv.ptr[l]; k < op->lv.ptr[l + 1]; k++) level[op->lv.topo[k]] = l;
    assert_int_equal(e->block[0].begin, 0);
    assert_int_equal(e->block[e->blocks].begin, n);
    for (int32_t q = 0; q < e->blocks; q++) {
        const trs_ell_block *g = &e->block[q];
        assert_true(g->begin < g[1].begin);
        const int32_t now = level[e->row[g->begin]];
        const int32_t key = 2 * g->length + g->chained;
        assert_true(now > level_before || (now == level_before && key > key_before));
        for (int32_t k = g->begin; k < g[1].begin; k++) {
            const int32_t i = e->row[k];
            assert_true(!seen[i]++ && level[i] == now && (k == g->begin || i > e->row[k - 1]));
            assert_int_equal(op->tri.ptr[i + 1] - op->tri.ptr[i] - 1, g->length);
            assert_int_equal(g->chained,
                             chained && g->length > 0 && column[g->length - 1] == i - 1);
            for (int32_t m = 0; m < g->length; m++)
                assert_int_equal(*column++, op->tri.idx[op->tri.ptr[i] + m]);
        }
        level_before = now, key_before = key;
    }
    assert_int_equal(column - e->column, op->tri.nnz - n);
    free(level);
    free(seen);
}

static void solve(const trs_operator *op, const trs_ell_blocks *e, const double *b, double *x)
{
    const double *Lx = op->tri.val;
    const int32_t *column = e->column;
    for (int32_t q = 0; q < e->blocks; q++) {
        const trs_ell_block *g = &e->block[q];
        for (int32_t k = g->begin; k < g[1].begin; k++) {
            const int32_t i = e->row[k];
            const double *v = Lx + op->tri.ptr[i];
            double s = b[i];
            for (int32_t m = 0; m < g->length; m++) s -= v[m] * x[*column++];
            x[i] = s / v[g->length];
        }
    }
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    trs_operator op = {0};
    trs_ell_blocks e;
    trs_tri copy;
    double *b = random_vector(L->n), *x = random_vector(L->n), *right = random_vector(L->n);
    assert_int_equal(trs_tri_copy(ctx, L, &copy), TRS_OK);
    trs_operator_from_host(&op, ctx, &copy);
    assert_int_equal(trs_find_levels(&op), TRS_OK);
    assert_int_equal(trs_ell_make(ctx, &op, &e), TRS_OK);
    check_blocks(&op, &e);
    solve(&op, &e, b, x);
    substitute(L, b, right);
    assert_near(L->n, x, right);
    compare_with_solver("cpu-ell", L, b, x);
    trs_ell_free(ctx, &e);
    trs_operator_free(&op);
    free(b);
    free(x);
    free(right);
}

static void test_all(void **state)
{
    static const int sizes[] = {0, 1, 2, 17, 64, 400};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for_all_triangles(sizes[k], check_triangle);
}

static void bidiagonal(int n, double first, double *val, int64_t *ptr, int32_t *idx)
{
    for (int i = 0, p = 0; i < n; i++) {
        if (i % 3 > 0) idx[p] = i - 1, val[p++] = 0.5;
        idx[p] = i, val[p++] = i == 0 ? first : 1;
        ptr[i + 1] = p;
    }
}

/* Rows without entries and with a pivot of 1 are left as they are in place, but not when their pivots change, nor where X is
 * not B; and a pivot without a normal inverse is divided by. */
static void test_first_block(void **state)
{
    enum { N = 30 };
    static const double first[] = {1, 4, 0x1p-1070, 0x1p1000, 1};
    int64_t ptr[N + 1] = {0};
    int32_t idx[2 * N];
    double val[2 * N], b[N], x[N];
    const trs_options opt = {.solver = "cpu-ell"};
    trs_plan *p;
    (void)state;
    bidiagonal(N, 2, val, ptr, idx);
    trs_mat m = {.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    for (size_t k = 0; k < sizeof first / sizeof first[0]; k++) {
        bidiagonal(N, first[k], val, ptr, idx);
        for (int i = 0; i < N; i++) b[i] = i ? 1 + i % 5 : 4 * first[k];
        assert_int_equal(trs_plan_update(p, &m, NULL), TRS_OK);
        assert_int_equal(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
        assert_int_equal(trs_solve(p, TRS_N, 1, b, N, b, N, NULL), TRS_OK);
        assert_memory_equal(b, x, sizeof x);
        for (int i = 0; i < N; i++) {
            const double before = i % 3 > 0 ? 0.5 * x[i - 1] : 0;
            assert_true(x[i] == (i > 0 ? 1 + i % 5 - before : 4));
        }
    }
    trs_plan_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_first_block)};
    return cmocka_run_group_tests_name("t_ell", tests, NULL, NULL);
}
