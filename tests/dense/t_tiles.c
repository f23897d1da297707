/* t_tiles.c: the sequential reference of dense-blocked on all triangles, and on triangles whose inverses grow so much that
 * panels are split, or rows of tiles substituted. */
#include "tiles_reference.h"

static int split, substituted; /* panels, rows of tiles: so far */

static void check_triangle(trs_context *ctx, const trs_tri *t)
{
    double *b = random_vector(t->n), *x = random_vector(t->n), *right = random_vector(t->n);
    int panels;
    (void)ctx;
    substituted += solve_by_tiles(t, b, x, &panels);
    split += panels;
    substitute(t, b, right);
    assert_near(t->n, x, right);
    compare_with_solver("dense-blocked", t, b, right);
    free(b);
    free(x);
    free(right);
}

static void test_all(void **state)
{
    (void)state;
    split = 0;
    for_all_triangles(333, check_triangle);
    assert_int_equal(split, 0);
}

/* In each block of 256 rows the first `count` rows, in steps of `distance`, form paths whose products of entries grow as
 * powers of `entry`. */
static void check_growth(int distance, double entry, int count)
{
    trs_context ctx = {.threads = 1};
    trs_tri t, u;
    model m = {.n = 500};
    for (int i = 0; i < m.n; i++) {
        const int k = i % 256;
        if (k >= distance && k < distance * count) model_add(&m, i, i - distance, entry);
        model_add(&m, i, i, 1);
    }
    split = substituted = 0;
    model_triangles(&ctx, &m, &t, &u);
    check_triangle(&ctx, &t);
    check_triangle(&ctx, &u);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

static void test_growth(void **state)
{
    (void)state;
    check_growth(64, 30, 4); /* from tile to tile of a panel: each tile may be inverted */
    assert_true(split > 0 && substituted == 0);
    check_growth(1, 2, 30); /* within a tile */
    assert_true(split > 0 && substituted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
