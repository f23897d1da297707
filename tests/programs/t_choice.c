/* t_choice.c: the fastest of made-up solvers is judged by the first half of their solves, and its time and the ratio of the
 * choice are those of the second half; and what bounds a solve, worked out by hand. */
#include "bin/bench/measure/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

const char program_name[] = "t_choice";

enum { CELLS = 4 };

static cell make_cell(const char *name, double first, double second)
{
    return (cell){.solver = {.name = name, .needs = "cpu"},
                  .first = {.count = 5, .median = first},
                  .solve = {.count = 5, .median = second},
                  .accurate = true};
}

static void test_choice(void **state)
{
    (void)state;
    const settings s = {.device = TRS_HOST};
    /* b is the fastest by the first half, a by both together, and c is wrong */
    cell cells[CELLS] = {make_cell("a", 2, 1), make_cell("b", 1.5, 3), make_cell("c", 0.1, 0.1),
                         make_cell("cpu-serial", 4, 6)};
    const result r = {.count = CELLS, .cells = cells};
    cells[2].accurate = false;
    cells[3].auto_host = true;
    choice c = find_choice(&s, &r);
    assert_ptr_equal(c.best, &cells[1]);
    assert_ptr_equal(c.taken, &cells[3]);
    assert_true(c.ratio == 2);
    cells[3].auto_host = false;
    cells[0].auto_host = true;
    c = find_choice(&s, &r);
    assert_true(fabs(c.ratio - 1. / 3) < 1e-15); /* it is faster than what looked fastest */
}

static void test_bound(void **state)
{
    (void)state;
    cell c = make_cell("a", 1, 1e-3);
    result r = {
        .kind = TRS_LOWER, .n = 100, .nnz = 1000, .levels = 10, .byte = {1e-9}, .level = {2e-6}};
    assert_true(least_bytes(&r, 1) == 12 * 1000 + 20 * 100);
    bound b = bound_of(&r, &c, 1);
    assert_true(fabs(b.rate - 14e6) < 1 && fabs(b.memory - 14e-6) < 1e-12);
    assert_true(fabs(b.levels - 20e-6) < 1e-12 && fabs(b.ratio - 50) < 1e-9);
    r.levels = 1; /* the memory takes longer */
    assert_true(fabs(bound_of(&r, &c, 1).ratio - 1e-3 / 14e-6) < 1e-9);
    c.solver.needs = "cuda"; /* whose costs are not known */
    assert_true(isnan(bound_of(&r, &c, 1).rate));
    r.kind |= TRS_UNIT;
    r.dtype = TRS_C32;
    assert_true(least_bytes(&r, 3) == 12 * 900 + 52 * 100);
}

static void test_quantities(void **state)
{
    (void)state;
    cell cells[CELLS] = {make_cell("lu-fullgrid", 1, 4e-3), make_cell("lu-submatrix", 1, 5e-3),
                         make_cell("lu-fullgrid", 1, 6e-3), make_cell("lu-serial", 1, 7e-3)};
    result r = {.count = CELLS, .cells = cells, .alloc = 3e-3, .copy = 2e-3};
    cells[2].block = 32; /* another size of blocks is none of those that are compared */
    for (int k = 0; k < CELLS; k++) cells[k].factor = 1e-3 * (10 + 36 * !k);
    assert_true(fabs(quantity_of(&r, &cells[0], SOLVE_MS) - 50) < 1e-12); /* 46 + 4 */
    assert_true(fabs(quantity_of(&r, NULL, ALLOC_MS) - 3) < 1e-12);
    assert_true(fabs(quantity_of(&r, NULL, COPY_MS) - 2) < 1e-12);
    assert_true(fabs(quantity_of(&r, NULL, SUBMATRIX_RATIO) - 4.6) < 1e-12);
    assert_true(isnan(quantity_of(&r, NULL, SOLVE_MS)));
    r.kind = TRS_LOWER; /* is not factored */
    assert_true(fabs(quantity_of(&r, &cells[0], SOLVE_MS) - 4) < 1e-12);
    cells[1].status = TRS_ESUPPORT;
    r.alloc = 0;
    assert_true(isnan(quantity_of(&r, NULL, SUBMATRIX_RATIO)));
    assert_true(isnan(quantity_of(&r, NULL, ALLOC_MS)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_bound),
                                       cmocka_unit_test(test_quantities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
