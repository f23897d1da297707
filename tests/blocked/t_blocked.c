/* t_blocked.c: the tiles of cpu-blocked are what blocks.h says, and the sequential reference of its algorithm
 *
 *     x = b;   block by block of columns:  its own rows:  y(i) = y(i) - L(i,k) y(k) / L(k,k), then x(i) = y(i) / L(i,i)
 *                                          rows below it: y(i) = y(i) - L(i,k) x(k)
 *
 * computes the x of forward substitution, and what the solver computes.  Pivots whose reciprocals are no normal numbers
 * are divided by, and the size of the blocks does not change the bits of x. */
#include "tests/common/reference.h"

#include "solvers/blocked/blocks.h"

#include <math.h>

/* ---- the structure ----------------------------------------------------------------------------------- */

typedef struct entry {
    int32_t row, column;
    int64_t p; /* in CSR */
} entry;

/* Entry e of tile (j, q). */
static entry entry_of(const trs_tri *L, const trs_blocks *b, int32_t j, int32_t q, int64_t e)
{
    const int32_t first = trs_first_row(b, q);
    return (entry){.row = first + (int32_t)(b->at[e] >> 16),
                   .column = (j << b->columns) + (int32_t)(b->at[e] & 0xffff),
                   .p = L->ptr[first] + b->place[e]};
}

static void check_tile(const trs_tri *L, const trs_blocks *b, int32_t j, int32_t q)
{
    const int64_t begin = b->tile[(int64_t)j * b->tiles + q],
                  end = b->tile[(int64_t)j * b->tiles + q + 1];
    assert_true(begin <= end && (j <= trs_block_of(b, q) || begin == end));
    for (int64_t e = begin; e < end; e++) {
        const entry here = entry_of(L, b, j, q, e);
        assert_true(here.row < trs_first_row(b, q + 1) && here.column < here.row);
        assert_true(L->ptr[here.row] <= here.p && here.p < L->ptr[here.row + 1]);
        assert_int_equal(L->idx[here.p], here.column);
        if (j == trs_block_of(b, q))
            assert_int_equal(e >= b->corner[q], here.column >= trs_first_row(b, q));
        if (e == begin) continue;
        const entry last = entry_of(L, b, j, q, e - 1);
        assert_true(last.column < here.column ||
                    (last.column == here.column && last.row < here.row));
    }
}

/* Each entry stands in one tile, since they are as many as there are, and all differ. */
static void check_blocks(const trs_tri *L, const trs_blocks *b)
{
    assert_int_equal(b->tile[0], 0);
    assert_int_equal(b->tile[(int64_t)b->blocks * b->tiles], L->nnz - L->n);
    assert_true(b->rows < b->columns || b->columns == 0);
    for (int32_t j = 0; j < b->blocks; j++)
        for (int32_t q = 0; q < b->tiles; q++) check_tile(L, b, j, q);
}

/* ---- the reference ------------------------------------------------------------------------------------- */

static double pivot(const trs_tri *L, int32_t i)
{
    return ((const double *)L->val)[L->ptr[i + 1] - 1];
}

/* Tile (j, q).  In the corner the x of a column is not known yet, but all that it takes is. */
static void update(const trs_tri *L, const trs_blocks *b, int32_t j, int32_t q, double *x)
{
    for (int64_t k = (int64_t)j * b->tiles + q, e = b->tile[k]; e < b->tile[k + 1]; e++) {
        const entry a = entry_of(L, b, j, q, e);
        const bool known = a.column < trs_first_row(b, q);
        const double by = known ? x[a.column] : x[a.column] * (1 / pivot(L, a.column));
        x[a.row] -= ((const double *)L->val)[a.p] * by;
    }
}

static void solve(const trs_tri *L, const trs_blocks *b, const double *rhs, double *x)
{
    if (L->n) memcpy(x, rhs, (size_t)L->n * sizeof *x);
    for (int32_t j = 0; j < b->blocks; j++)
        for (int32_t q = trs_first_tile(b, j); q < b->tiles; q++) {
            update(L, b, j, q, x);
            if (trs_block_of(b, q) > j) continue;
            for (int32_t i = trs_first_row(b, q); i < trs_first_row(b, q + 1); i++)
                x[i] *= 1 / pivot(L, i);
        }
}

static void check_sizes(trs_context *ctx, const trs_tri *L, int columns, int rows)
{
    trs_blocks blocks = {.columns = columns, .rows = rows};
    double *b = random_vector(L->n), *x = random_vector(L->n), *right = random_vector(L->n);
    assert_int_equal(trs_blocks_make(ctx, L, &blocks), TRS_OK);
    check_blocks(L, &blocks);
    solve(L, &blocks, b, x);
    check_solved(L, b, x);
    substitute(L, b, right);
    assert_near(L->n, x, right);
    compare_with_solver("cpu-blocked", L, b, x);
    trs_blocks_free(ctx, &blocks);
    free(b);
    free(x);
    free(right);
}

static void check_triangle(trs_context *ctx, const trs_tri *L)
{
    check_sizes(ctx, L, 1, 0);
    check_sizes(ctx, L, 5, 3);
    check_sizes(ctx, L, 16, 11);
}

static void test_reference(void **state)
{
    (void)state;
    for_all_triangles(701, check_triangle);
}

/* ---- sizes ----------------------------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
    (void)state;
    static const double elems[] = {4, 8, 16}, caches[] = {1, 262144, 2097152, 1e9};
    for (double n = 0; n < 2147483647; n = 3 * n + 1)
        for (int k = 0; k < 3 * 4 * 3; k++) {
            int columns, rows;
            const double nnz = n * (k % 2 ? 1 : 50);
            trs_blocks_sizes((int64_t)n, (int64_t)nnz, elems[k % 3], caches[k / 3 % 4],
                             1 << k / 12 * 3, &columns, &rows);
            assert_true(0 <= rows && rows < columns && columns <= 16);
            /* the table of tiles is no larger than the entries */
            const double table = (floor(n / (1 << columns)) + 1) * (floor(n / (1 << rows)) + 1);
            assert_at_most(table, nnz + 1000);
        }
}

/* ---- pivots ------------------------------------------------------------------------------------------------ */

static trs_plan *plan_for(const trs_tri *L, int threads)
{
    const trs_options opt = {.solver = "cpu-blocked", .threads = threads};
    const trs_mat m = mat_of(L);
    trs_plan *p;
    assert_status(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

/* Some rows are multiplied by a power of two, so that 1 / L(i,i) is subnormal there; x stays what it was. */
static void test_divides(void **state)
{
    (void)state;
    const int n = 3000;
    random_t r = {3};
    trs_context ctx = {.threads = 1, .nrhs = 1};
    model m = model_of(&dags[DAGS - 1], n, false, &r);
    trs_tri L, unused;
    model_triangles(&ctx, &m, &L, &unused);
    double *b = random_vector(n), *x = random_vector(n), *y = random_vector(n);
    trs_plan *p = plan_for(&L, 1);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, n, x, n, NULL), TRS_OK);
    trs_plan_destroy(p);
    for (int i = 0; i < n; i += 700) {
        const double by = ldexp(1, 1023 - ilogb(pivot(&L, i)));
        for (int64_t e = L.ptr[i]; e < L.ptr[i + 1]; e++) ((double *)L.val)[e] *= by;
        b[i] *= by;
        assert_false(isnormal(1 / pivot(&L, i)));
    }
    p = plan_for(&L, 1);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, n, y, n, NULL), TRS_OK);
    trs_plan_destroy(p);
    assert_near(n, y, x);
    trs_tri_free(&ctx, &L);
    trs_tri_free(&ctx, &unused);
    model_free(&m);
    free(b);
    free(x);
    free(y);
}

/* One pivot at a time has a reciprocal that is subnormal and has lost bits, at the ends and in the middle of a tile of rows;
 * twice that reciprocal is normal.  All x are exact: x = b / L(i,i) with b = L(i,i) k. */
static void test_divides_alone(void **state)
{
    (void)state;
    enum { N = 300 };
    trs_context ctx = {.threads = 1, .nrhs = 1};
    model m = {.n = N};
    for (int i = 0; i < N; i++) model_add(&m, i, i, 1);
    trs_tri L, unused;
    model_triangles(&ctx, &m, &L, &unused);
    double *val = L.val;
    double b[N], x[N];
    for (int i = 0; i < N; i++) {
        const double large = 1.2 * 0x1p1022;
        for (int k = 0; k < N; k++) b[k] = k + 1;
        assert_true(!isnormal(1 / large) && isnormal(2 / large) && large * (1 / large) != 1);
        val[i] = b[i] = large;
        trs_plan *p = plan_for(&L, 1);
        assert_int_equal(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
        trs_plan_destroy(p);
        for (int k = 0; k < N; k++) assert_true(x[k] == (k == i ? 1 : k + 1));
        val[i] = 1;
    }
    trs_tri_free(&ctx, &L);
    trs_tri_free(&ctx, &unused);
    model_free(&m);
}

/* The sizes of blocks go by the number of threads that was announced, and the bits of x do not. */
static void test_bits(void **state)
{
    (void)state;
    const int n = 4000;
    for (int d = 0; d < DAGS; d++) {
        random_t r = {11};
        trs_context ctx = {.threads = 1, .nrhs = 1};
        model m = model_of(&dags[d], n, false, &r);
        trs_tri L, unused;
        model_triangles(&ctx, &m, &L, &unused);
        double *b = random_vector(n), *x = random_vector(n), *y = random_vector(n);
        for (int threads = 1; threads <= 64; threads *= 4) {
            trs_plan *p = plan_for(&L, threads);
            assert_int_equal(trs_solve(p, TRS_N, 1, b, n, threads == 1 ? x : y, n, NULL), TRS_OK);
            trs_plan_destroy(p);
            if (threads > 1) assert_memory_equal(x, y, (size_t)n * sizeof *x);
        }
        trs_tri_free(&ctx, &L);
        trs_tri_free(&ctx, &unused);
        model_free(&m);
        free(b);
        free(x);
        free(y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_sizes), cmocka_unit_test(test_divides),
                                       cmocka_unit_test(test_divides_alone),
                                       cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
