/* t_cut.c: no row of the head depends on the tail, the numbers of entries that costs go by are those of the three
 * blocks, and every entry is in one of them; the cut is the same for any number of threads. */
#include "tests/common/dags.h"

#include "matrix/submatrix.h"
#include "cuda/segments/cut.h"

static bool has_cuda_solvers(void)
{
    for (int k = 0; trs_solver_at(k); k++)
        if (trs_solver_at(k)->place == TRS_ON_CUDA) return true;
    return false;
}

static trs_side side_of(trs_context *ctx, const model *m, bool blocks)
{
    random_t r = {1};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_side s = {.used = true};
    trs_mat a = show(m, &f, &r);
    assert_int_equal(trs_tri_import(ctx, &a, &s.tri), TRS_OK);
    assert_int_equal(trs_level_rows(ctx, &s.tri, 0, m->n, &s.lv), TRS_OK);
    trs_tally_levels(ctx, &s);
    if (blocks) assert_int_equal(trs_supernodes_make(ctx, &s.tri, &s.super), TRS_OK);
    mat_free(&a);
    return s;
}

/* number: the inverse of s->cut.row */
static void judge_rows(const trs_side *s, int32_t *number)
{
    const int32_t n = s->tri.n, head = (int32_t)s->cut.shape[0].n;
    assert_in_range(head, 1, n - 1);
    assert_int_equal(head + s->cut.shape[1].n, n);
    for (int32_t i = 0; i < n; i++) number[i] = -1;
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = s->cut.row[k];
        assert_in_range(i, 0, n - 1);
        assert_int_equal(number[i], -1);
        assert_true(k == 0 || k == head || i > s->cut.row[k - 1]);
        number[i] = k;
    }
}

/* The number of entries that are picked: they must be those of these rows and columns, and seen [nnz] of the triangle
 * must not have them yet. */
static int64_t judge_pick(trs_context *ctx, const trs_tri *t, const trs_pick *k, char *seen)
{
    trs_picked a;
    assert_int_equal(trs_pick_rows(ctx, t, k, &a), TRS_OK);
    const int32_t rows = k->end - k->begin;
    for (int32_t i = 0; i < rows; i++)
        for (int64_t q = a.ptr[i]; q < a.ptr[i + 1]; q++) {
            const int64_t p = a.src[q];
            const int32_t row = k->row[k->begin + i];
            assert_true(p >= t->ptr[row] && p < t->ptr[row + 1]);
            assert_int_equal(t->idx[p], k->row[k->first + a.idx[q]]);
            assert_true(k->first + a.idx[q] < k->last && !seen[p]);
            seen[p] = 1;
        }
    const int64_t count = a.ptr[rows];
    trs_picked_free(ctx, &a);
    return count;
}

static void judge_cut(trs_context *ctx, const trs_side *s)
{
    const trs_tri *t = &s->tri;
    const int32_t n = t->n, head = (int32_t)s->cut.shape[0].n;
    for (int e = 0; e < 2; e++) assert_false(s->cut.solver[e]->guesses);
    int32_t *number = malloc((size_t)n * sizeof *number);
    char *seen = calloc((size_t)t->nnz, 1);
    assert_true(number && seen);
    judge_rows(s, number);
    const int32_t *row = s->cut.row;
    const trs_pick A = {row, number, 0, head, 0, head}, B = {row, number, head, n, 0, head},
                   C = {row, number, head, n, head, n};
    assert_int_equal(judge_pick(ctx, t, &A, seen), s->cut.shape[0].nnz);
    assert_int_equal(judge_pick(ctx, t, &B, seen), s->cut.coupling);
    assert_int_equal(judge_pick(ctx, t, &C, seen), s->cut.shape[1].nnz);
    for (int64_t p = 0; p < t->nnz; p++)
        assert_true(seen[p]); /* no row of the head depends on the tail */
    free(number);
    free(seen);
}

static void side_free(trs_context *ctx, trs_side *s)
{
    trs_cut_free(ctx, &s->cut);
    trs_supernodes_free(ctx, &s->super);
    trs_levels_free(ctx, &s->lv);
    trs_tri_free(ctx, &s->tri);
}

static void compare_threads(const model *m, bool blocks)
{
    trs_context one = {.threads = 1, .nrhs = 1}, more = {.threads = 4, .nrhs = 1};
    trs_side a = side_of(&one, m, blocks), b = side_of(&more, m, blocks);
    assert_int_equal(trs_cut_find(&one, &a, true), TRS_OK);
    assert_int_equal(trs_cut_find(&more, &b, true), TRS_OK);
    assert_int_equal(!a.cut.row, a.lv.count < 2 || !has_cuda_solvers());
    if (a.cut.row) {
        judge_cut(&one, &a);
        judge_cut(&more, &b);
        assert_memory_equal(a.cut.row, b.cut.row, (size_t)m->n * sizeof(int32_t));
        assert_ptr_equal(a.cut.solver[0], b.cut.solver[0]);
        assert_ptr_equal(a.cut.solver[1], b.cut.solver[1]);
    }
    side_free(&one, &a);
    side_free(&more, &b);
}

static void test_cuts(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 37, 700, 3001};
    for (int d = 0; d < DAGS; d++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            random_t r = {(uint64_t)d};
            model m = model_of(&dags[d], sizes[k], false, &r);
            compare_threads(&m, false);
            compare_threads(&m, true);
            model_free(&m);
        }
}

/* Rows that depend on few others, then full ones: the tail must be about the full ones. */
static void test_dense_end(void **state)
{
    (void)state;
    enum { N = 60000, FULL_ROWS = 2000 };
    if (!has_cuda_solvers()) skip();
    random_t r = {9};
    trs_context ctx = {.threads = 2, .nrhs = 1};
    model m = {.n = N};
    for (int i = 0; i < N; i++) {
        const int from = N - FULL_ROWS;
        if (i > 0 && i <= from) model_add(&m, i, random_below(&r, i), 0.1);
        for (int j = from; j < i; j++) model_add(&m, i, j, 1e-4);
        model_add(&m, i, i, 1);
    }
    trs_side s = side_of(&ctx, &m, false);
    assert_int_equal(trs_cut_find(&ctx, &s, false), TRS_OK);
    assert_non_null(s.cut.row);
    judge_cut(&ctx, &s);
    print_message("# %s, %s %d\n", s.cut.solver[0]->name, s.cut.solver[1]->name,
                  (int)s.cut.shape[1].n);
    assert_true(s.cut.solver[1]->full);
    assert_in_range(s.cut.shape[1].n, FULL_ROWS / 2, 2 * FULL_ROWS);
    side_free(&ctx, &s);
    model_free(&m);
}

/* A thin end of few rows, whose levels cuda-merged hopes to merge: that hope must not keep a cut from being found. */
static void test_guess(void **state)
{
    (void)state;
    enum { N = 13000, END = 500, NEED = 12 };
    if (!has_cuda_solvers()) skip();
    random_t r = {4};
    trs_context ctx = {.threads = 1, .nrhs = 1};
    model m = {.n = N};
    for (int i = 0; i < N; i++) {
        const int end = i - (N - END); /* which row of the end */
        if (i > 0) model_add(&m, i, random_below(&r, i < N - END ? i : N - END), 0.1);
        for (int k = end < NEED ? end : NEED; k > 0; k--) model_add(&m, i, i - k, 0.01);
        model_add(&m, i, i, 1);
    }
    trs_side s = side_of(&ctx, &m, false);
    assert_int_equal(trs_cut_find(&ctx, &s, false), TRS_OK);
    assert_non_null(s.cut.row);
    judge_cut(&ctx, &s);
    side_free(&ctx, &s);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_dense_end),
        cmocka_unit_test(test_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
