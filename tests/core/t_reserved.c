/* t_reserved.c: structures that callers allocate keep their size, and what they have reserved for new members is refused
 * unless it is zero. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "trisolve-sparse.h"

#include <string.h>

/* Programs have these sizes compiled in (where pointers have 64 bits). */
#if defined(__LP64__)
#define SAME(type, size)                                                                           \
    _Static_assert(sizeof(type) == size, "a program that was built before has another " #type)
SAME(trs_mat, 120);
SAME(trs_solver_info, 280);
SAME(trs_options, 184);
SAME(trs_exec, 64);
SAME(trs_info, 200);
SAME(trs_error, 80);
SAME(trs_lu_info, 136);
SAME(trs_ilu_options, 256);
SAME(trs_lu_batch_options, 120);
SAME(trs_systems, 104);
SAME(trs_lu_batch_info, 96);
SAME(trs_map, 96);
SAME(trs_krylov_options, 112);
SAME(trs_krylov_goal, 96);
SAME(trs_krylov_info, 112);
SAME(trs_mm_options, 120);
SAME(trs_mm, 256);
SAME(trs_det, 32);
#endif

static const int64_t ptr[] = {0, 1};
static const int32_t idx[] = {0};
static const double two[] = {2};

static trs_mat one_by_one(void)
{
    return (trs_mat){.n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = two, .kind = TRS_LOWER};
}

static void refused(int rc)
{
    assert_int_equal(rc, TRS_EARG);
    assert_non_null(strstr(trs_message(), "reserved"));
}

static void test_matrix(void **state)
{
    (void)state;
    trs_mat A = one_by_one();
    trs_plan *plan;
    double x;
    A.reserved[3] = 1;
    refused(trs_plan_create(&plan, &A, NULL));
    assert_null(plan);
    refused(trs_multiply(&A, TRS_N, 1, two, 1, &x, 1, TRS_COL_MAJOR));
    refused(trs_mm_write("t_reserved.mtx", &A, 1, 1, TRS_GENERAL, NULL));
}

static void test_options(void **state)
{
    (void)state;
    trs_mat A = one_by_one();
    trs_options opt = {.reserved = {1}};
    trs_ilu_options ilu = {.reserved = {-1}}, within = {.plan = opt};
    trs_mm_options mm_opt = {.reserved = {[2] = 5}};
    trs_plan *plan;
    trs_lu *lu;
    trs_mm mm;
    refused(trs_plan_create(&plan, &A, &opt));
    A.kind = 0;
    refused(trs_ilu(&lu, &A, &ilu));
    trs_lu_destroy(lu);
    refused(trs_ilu(&lu, &A, &within));
    trs_lu_destroy(lu);
    refused(trs_mm_read("none.mtx", &mm_opt, &mm));
    trs_mm_free(&mm);
}

static void test_exec(void **state)
{
    (void)state;
    trs_mat A = one_by_one();
    trs_exec exec = {.reserved = {[3] = 1}};
    trs_plan *plan;
    trs_lu *lu;
    double x;
    assert_int_equal(trs_plan_create(&plan, &A, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    refused(trs_solve(plan, TRS_N, 1, two, 1, &x, 1, &exec));
    refused(trs_refine(plan, &A, TRS_N, 1, two, 1, &x, 1, &exec, 1, NULL, NULL));
    refused(trs_plan_update(plan, &A, &exec));
    trs_plan_destroy(plan);
    A.kind = 0;
    assert_int_equal(trs_ilu(&lu, &A, NULL), TRS_OK);
    refused(trs_lu_solve(lu, TRS_N, 1, two, 1, &x, 1, &exec));
    refused(trs_lu_refine(lu, &A, TRS_N, 1, two, 1, &x, 1, &exec, 1, NULL, NULL));
    refused(trs_lu_update_on(lu, &A, &exec));
    refused(trs_multiply_on(&A, TRS_N, 1, two, 1, &x, 1, &exec));
    trs_lu_destroy(lu);
}

/* What a program has not cleared may be anything, and what the library fills in is all of a structure. */
static void test_filled(void **state)
{
    (void)state;
    trs_mm mm = {.rows = 1, .cols = 1, .nnz = 1, .ptr = (int64_t *)ptr, .idx = (int32_t *)idx};
    double val[] = {2};
    trs_mat shown;
    trs_plan *plan;
    mm.val = val;
    memset(&shown, 0xff, sizeof shown);
    assert_int_equal(trs_mm_mat(&mm, TRS_LOWER, &shown), TRS_OK);
    assert_int_equal(trs_plan_create(&plan, &shown, NULL), TRS_OK);
    trs_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
