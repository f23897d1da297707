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

static trs_operator operator_of(trs_context *ctx, const model *m, bool blocks)
{
    random_t r = {1};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_operator s = {0};
    const void *found;
    trs_tri t;
    trs_mat a = show(m, &f, &r);
    assert_int_equal(trs_tri_import(ctx, &a, &t), TRS_OK);
    trs_operator_from_host(&s, ctx, &t);
    assert_int_equal(trs_find_levels(&s), TRS_OK);
    if (blocks)
        assert_int_equal(trs_operator_analysis(&s, &trs_supernode_analysis, true, &found), TRS_OK);
    mat_free(&a);
    return s;
}

/* number: the inverse of cut->row */
static void check_rows(int32_t n, const trs_cut *cut, int32_t *number)
{
    const int32_t head = (int32_t)cut->part[0].shape.n;
    assert_in_range(head, 1, n - 1);
    assert_int_equal(head + cut->part[1].shape.n, n);
    for (int32_t i = 0; i < n; i++) number[i] = -1;
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = cut->row[k];
        assert_in_range(i, 0, n - 1);
        assert_int_equal(number[i], -1);
        assert_true(k == 0 || k == head || i > cut->row[k - 1]);
        number[i] = k;
    }
}

/* The number of entries that are picked: they must be those of these rows and columns, and seen [nnz] of the triangle
 * must not have them yet. */
static int64_t check_pick(trs_context *ctx, const trs_tri *t, const trs_pick *k, char *seen)
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

static void check_cut(trs_context *ctx, const trs_operator *s, const trs_cut *cut)
{
    const trs_tri *t = &s->tri;
    const int32_t n = t->n, head = (int32_t)cut->part[0].shape.n;
    int32_t *number = malloc((size_t)n * sizeof *number);
    char *seen = calloc((size_t)t->nnz, 1);
    assert_true(number && seen);
    check_rows(n, cut, number);
    const int32_t *row = cut->row;
    const trs_pick A = {row, number, 0, head, 0, head}, B = {row, number, head, n, 0, head},
                   C = {row, number, head, n, head, n};
    assert_int_equal(check_pick(ctx, t, &A, seen), cut->part[0].shape.nnz);
    assert_int_equal(check_pick(ctx, t, &B, seen), cut->coupling);
    assert_int_equal(check_pick(ctx, t, &C, seen), cut->part[1].shape.nnz);
    for (int64_t p = 0; p < t->nnz; p++)
        assert_true(seen[p]); /* no row of the head depends on the tail */
    free(number);
    free(seen);
}

static const trs_cut *cut_of(trs_operator *s, bool needed)
{
    const void *found;
    assert_int_equal(trs_operator_analysis(s, &trs_cut_analysis, needed, &found), TRS_OK);
    return found;
}

static void compare_threads(const model *m, bool blocks)
{
    trs_context one = {.threads = 1, .nrhs = 1}, more = {.threads = 4, .nrhs = 1};
    trs_operator a = operator_of(&one, m, blocks), b = operator_of(&more, m, blocks);
    const trs_cut *x = cut_of(&a, true), *y = cut_of(&b, true);
    assert_int_equal(!x, a.lv.count < 2 || !has_cuda_solvers());
    assert_int_equal(!x, !y);
    if (x) {
        check_cut(&one, &a, x);
        check_cut(&more, &b, y);
        assert_memory_equal(x->row, y->row, (size_t)m->n * sizeof(int32_t));
        assert_ptr_equal(x->part[0].solver, y->part[0].solver);
        assert_ptr_equal(x->part[1].solver, y->part[1].solver);
    }
    trs_operator_free(&a);
    trs_operator_free(&b);
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

/* In a triangle of few rows no cut pays, and none is made unless one is needed. */
static void test_no_cut(void **state)
{
    (void)state;
    enum { FEW_ROWS = 37 };
    if (!has_cuda_solvers()) skip();
    for (int d = 0; d < DAGS; d++) {
        random_t r = {(uint64_t)d};
        trs_context ctx = {.threads = 1, .nrhs = 1};
        model m = model_of(&dags[d], FEW_ROWS, false, &r);
        trs_operator s = operator_of(&ctx, &m, false);
        if (cut_of(&s, false)) fail_msg("%s with %d rows is cut", dags[d].name, FEW_ROWS);
        trs_operator_free(&s);
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
    trs_operator s = operator_of(&ctx, &m, false);
    const trs_cut *cut = cut_of(&s, false);
    assert_non_null(cut);
    check_cut(&ctx, &s, cut);
    print_message("# %s, %s %d\n", cut->part[0].solver->name, cut->part[1].solver->name,
                  (int)cut->part[1].shape.n);
    assert_true(cut->part[1].solver->full);
    assert_in_range(cut->part[1].shape.n, FULL_ROWS / 2, 2 * FULL_ROWS);
    trs_operator_free(&s);
    model_free(&m);
}

/* A thin end of few rows, whose levels cuda-merged is predicted to merge: too good a prediction, made before the passes,
 * must not keep a cut from being found. */
static void test_thin_end(void **state)
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
    trs_operator s = operator_of(&ctx, &m, false);
    const trs_cut *cut = cut_of(&s, false);
    assert_non_null(cut);
    check_cut(&ctx, &s, cut);
    trs_operator_free(&s);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_no_cut),
        cmocka_unit_test(test_dense_end),
        cmocka_unit_test(test_thin_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
