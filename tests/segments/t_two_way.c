/* t_two_way.c: the sequential reference of cuda-segments: the rows in the order of a two-way cut, three sub-matrices,
 *
 *     y_A = A^-1 b_A,   y_C = C^-1 (b_C - B y_A),   x (row) = y
 *
 * for cuts at the first, the middle and the last level, for the cut that is found where the library has solvers for it,
 * and for none. */
#include "tests/common/reference.h"

#include "cuda/segments/cut.h"
#include "matrix/submatrix.h"

typedef struct cut { /* as segments.cu has it */
    const trs_tri *L;
    int32_t *row, *number; /* [n] the order and its inverse */
    int32_t head;
} cut;

typedef struct block { /* a sub-matrix with its values */
    int32_t n;
    trs_picked at;
    double *val;
} block;

static block pick(trs_context *ctx, const cut *c, int32_t begin, int32_t end, int32_t first,
                  int32_t last)
{
    const trs_pick k = {c->row, c->number, begin, end, first, last};
    block a = {.n = end - begin};
    assert_int_equal(trs_pick_rows(ctx, c->L, &k, &a.at), TRS_OK);
    a.val = malloc((size_t)a.at.ptr[a.n] * sizeof *a.val + 1);
    assert_non_null(a.val);
    for (int64_t p = 0; p < a.at.ptr[a.n]; p++) a.val[p] = ((double *)c->L->val)[a.at.src[p]];
    return a;
}

static void drop(trs_context *ctx, block *a)
{
    trs_picked_free(ctx, &a->at);
    free(a->val);
}

/* y = a^-1 y; the diagonal of a row is its last entry. */
static void solve(const block *a, double *y)
{
    const trs_tri t = {.n = a->n, .ptr = a->at.ptr, .idx = a->at.idx, .val = a->val};
    for (int32_t i = 0; i < a->n; i++) assert_int_equal(t.idx[t.ptr[i + 1] - 1], i);
    substitute(&t, y, y);
}

/* to -= a from */
static void subtract_product(const block *a, const double *from, double *to)
{
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t p = a->at.ptr[i]; p < a->at.ptr[i + 1]; p++)
            to[i] -= a->val[p] * from[a->at.idx[p]];
}

static void solve_cut(trs_context *ctx, const cut *c, const double *b, double *x)
{
    const int32_t n = c->L->n, head = c->head;
    block A = pick(ctx, c, 0, head, 0, head), B = pick(ctx, c, head, n, 0, head),
          C = pick(ctx, c, head, n, head, n);
    double *y = random_vector(n);
    assert_int_equal(A.at.ptr[A.n] + B.at.ptr[B.n] + C.at.ptr[C.n], c->L->nnz);
    for (int32_t k = 0; k < n; k++) y[k] = b[c->row[k]];
    solve(&A, y);
    subtract_product(&B, y, y + head);
    solve(&C, y + head);
    for (int32_t k = 0; k < n; k++) x[c->row[k]] = y[k];
    free(y);
    drop(ctx, &A);
    drop(ctx, &B);
    drop(ctx, &C);
}

static void check_cut(trs_context *ctx, cut *c, const double *b, const double *right)
{
    double *x = random_vector(c->L->n);
    for (int32_t k = 0; k < c->L->n; k++) c->number[c->row[k]] = k;
    solve_cut(ctx, c, b, x);
    check_solved(c->L, b, x);
    assert_near(c->L->n, x, right);
    free(x);
}

/* The head has the rows of all levels below one, ascending, and so has the tail the others. */
static void cut_at_level(const trs_levels *lv, int32_t level, cut *c)
{
    int32_t next[2] = {0, lv->ptr[level]};
    for (int32_t k = 0; k < c->L->n; k++) c->number[lv->topo[k]] = k >= lv->ptr[level];
    for (int32_t i = 0; i < c->L->n; i++) c->row[next[c->number[i]]++] = i;
    c->head = lv->ptr[level];
}

static void check_found(trs_context *ctx, trs_operator *op, cut *c, const double *b,
                        const double *right)
{
    const void *found;
    assert_int_equal(trs_operator_analysis(op, &trs_cut_analysis, true, &found), TRS_OK);
    if (!found) return;
    memcpy(c->row, ((const trs_cut *)found)->row, (size_t)c->L->n * sizeof *c->row);
    c->head = (int32_t)((const trs_cut *)found)->part[0].shape.n;
    check_cut(ctx, c, b, right);
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    const size_t bytes = (size_t)L->n * sizeof(int32_t) + 1;
    trs_operator op = {0};
    trs_tri copy;
    cut c = {L, malloc(bytes), malloc(bytes), 0};
    double *b = random_vector(L->n), *right = random_vector(L->n);
    assert_true(c.row && c.number);
    assert_int_equal(trs_tri_copy(ctx, L, &copy), TRS_OK);
    trs_operator_from_host(&op, ctx, &copy);
    assert_int_equal(trs_find_levels(&op), TRS_OK);
    substitute(L, b, right);
    const int32_t count = op.lv.count, levels[] = {0, 1, count / 2, count - 1, count};
    for (int k = 0; k < 5 && count > 0; k++) {
        cut_at_level(&op.lv, levels[k], &c);
        check_cut(ctx, &c, b, right);
    }
    check_found(ctx, &op, &c, b, right);
    compare_with_solver("cuda-segments", L, b, right);
    trs_operator_free(&op);
    free(c.row);
    free(c.number);
    free(b);
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
