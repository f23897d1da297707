/* t_check.c: what is not a well-formed matrix is refused, with a sentence that names row and column. */
#include "tests/common/model.h"

/* 4x4 lower, base 1: rows 1: 1; 2: 1 2; 3: 3; 4: 2 4 */
typedef struct arrays {
    int64_t ptr[5];
    int32_t idx[6];
    double val[6];
} arrays;

static const arrays good = {{1, 2, 4, 5, 7}, {1, 1, 2, 3, 2, 4}, {1, 2, 3, 4, 5, 6}};

static trs_mat mat_of(const arrays *a)
{
    return (trs_mat){.n = 4,
                     .nnz = 6,
                     .ptr = a->ptr,
                     .idx = a->idx,
                     .val = a->val,
                     .base = 1,
                     .kind = TRS_LOWER | TRS_STRICT};
}

static void refused_(const trs_mat *m, int code, const char *words, int line)
{
    trs_plan *p = (trs_plan *)m;
    int rc = trs_plan_create(&p, m, NULL);
    if (rc != code || !strstr(trs_message(), words))
        print_error("line %d: %d \"%s\"\n", line, rc, trs_message());
    assert_int_equal(rc, code);
    assert_non_null(strstr(trs_message(), words));
    assert_null(p);
}

#define refused(m, code, words) refused_(m, code, words, __LINE__)

static void test_good(void **state)
{
    (void)state;
    trs_mat m = mat_of(&good);
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    assert_string_equal(trs_message(), "");
    trs_plan_destroy(p);
}

/* Pointers of 32 bits that are taken for 64, also if the first row is empty. */
static void test_width_of_pointers(void **state)
{
    (void)state;
    arrays a = good;
    trs_mat m = mat_of(&a);
    int32_t ptr[2][10] = {{1, 2, 4, 5, 6}, {1, 1, 3, 4, 6}};
    assert_int_equal(m.nnz, good.ptr[4] - 1);
    for (int k = 0; k < 2; k++) {
        ptr[k][4] = (int32_t)good.ptr[4];
        m.ptr = ptr[k];
        refused(&m, TRS_EMATRIX, "ptr_bits = 32");
    }
}

static void test_pointers(void **state)
{
    (void)state;
    arrays a = good;
    trs_mat m = mat_of(&a);
    a.ptr[0] = 0;
    refused(&m, TRS_EMATRIX, "ptr[0] = 0");
    a = good, a.ptr[2] = 1; /* row 2 runs backwards */
    refused(&m, TRS_EMATRIX, "row 2");
    a = good, a.ptr[2] = 100;
    refused(&m, TRS_EMATRIX, "row 2");
    a = good, a.ptr[3] = INT64_MAX;
    refused(&m, TRS_EMATRIX, "row 3");
    a = good, a.ptr[3] = INT64_MIN;
    refused(&m, TRS_EMATRIX, "row 3");
    a = good, a.ptr[4] = 6; /* an entry that belongs to no row */
    refused(&m, TRS_EMATRIX, "ptr[n] = 6");
}

static void test_indices(void **state)
{
    (void)state;
    arrays a = good;
    trs_mat m = mat_of(&a);
    a.idx[4] = 5;
    refused(&m, TRS_EMATRIX, "row 4: column 5 is not in 1 .. 4");
    a = good, a.idx[1] = 0;
    refused(&m, TRS_EMATRIX, "row 2: column 0 is not in 1 .. 4");
    a = good, a.idx[1] = INT32_MIN;
    refused(&m, TRS_EMATRIX, "row 2");
    const int64_t far[] = {1, INT64_MIN, 2, 3, 2, 4}; /* less 1 is no number */
    m.idx = far, m.idx_bits = 64;
    refused(&m, TRS_EMATRIX, "row 2: column -9223372036854775808 is not in 1 .. 4");
    m = mat_of(&a);
    a = good, a.idx[1] = 2; /* twice (2, 2) */
    refused(&m, TRS_EMATRIX, "row 2, column 2 is stored twice");
    a = good, a.idx[5] = 2; /* twice (4, 2) */
    refused(&m, TRS_EMATRIX, "row 4, column 2 is stored twice");
    a = good, a.idx[0] = 3; /* above the diagonal */
    refused(&m, TRS_EMATRIX, "row 1, column 3: an entry outside the lower triangle");
    m.format = TRS_CSC, a = good; /* the same arrays by columns are an upper triangle */
    refused(&m, TRS_EMATRIX, "row 1, column 2: an entry outside the lower triangle");
    m.kind = TRS_UPPER | TRS_STRICT, a.idx[4] = 9;
    refused(&m, TRS_EMATRIX, "column 4: row 9 is not in 1 .. 4");
}

static void test_other_triangle(void **state)
{
    (void)state;
    arrays a = good;
    trs_mat m = mat_of(&a);
    trs_plan *p;
    a.idx[0] = 3;
    m.kind = TRS_LOWER; /* without TRS_STRICT it is ignored, and then the diagonal is missing */
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_EPIVOT);
    assert_non_null(strstr(trs_message(), "row 1: diagonal is missing"));
    trs_plan_destroy(p);
}

static void test_shape(void **state)
{
    (void)state;
    trs_mat m = mat_of(&good);
    m.n = -1;
    refused(&m, TRS_EARG, "n = -1");
    m.n = INT32_MAX;
    refused(&m, TRS_EARG, "n = 2147483647");
    m.n = INT64_MAX;
    refused(&m, TRS_EARG, "n = ");
    m = mat_of(&good), m.nnz = -1;
    refused(&m, TRS_EARG, "nnz = -1");
    m = mat_of(&good), m.nnz = INT64_MAX;
    refused(&m, TRS_EMATRIX, "nnz = 9223372036854775807 is more than 4 squared");
    arrays a = {.ptr = {1, 2, 4, 5, 1 + ((int64_t)1 << 40)}}; /* consistent, and a lie */
    m = mat_of(&a), m.nnz = (int64_t)1 << 40;
    refused(&m, TRS_EMATRIX, "nnz = 1099511627776 is more than 4 squared");
    m = mat_of(&good), m.dtype = (trs_dtype)4;
    refused(&m, TRS_EARG, "dtype 4");
    m = mat_of(&good), m.dtype = (trs_dtype)-1;
    refused(&m, TRS_EARG, "dtype -1");
    m = mat_of(&good), m.format = TRS_COO;
    refused(&m, TRS_EARG, "format 3");
    m = mat_of(&good), m.base = 2;
    refused(&m, TRS_EARG, "base 2");
    m = mat_of(&good), m.kind = TRS_LOWER | TRS_UPPER;
    refused(&m, TRS_EARG, "both");
    m = mat_of(&good), m.kind = 0;
    refused(&m, TRS_EARG, "neither");
    m = mat_of(&good), m.kind = 16 | TRS_LOWER;
    refused(&m, TRS_EARG, "kind");
    m = mat_of(&good), m.ptr_bits = 16;
    refused(&m, TRS_EARG, "ptr_bits 16");
    m = mat_of(&good), m.idx_bits = 63;
    refused(&m, TRS_EARG, "idx_bits 63");
    m = mat_of(&good), m.ptr = NULL;
    refused(&m, TRS_EARG, "ptr is NULL");
    m = mat_of(&good), m.idx = NULL;
    refused(&m, TRS_EARG, "idx is NULL");
    m = mat_of(&good), m.val = NULL;
    refused(&m, TRS_EARG, "val is NULL");
    m = (trs_mat){.n = 4, .ld = 3, .val = good.val, .format = TRS_DENSE, .kind = TRS_LOWER};
    refused(&m, TRS_EARG, "ld = 3 is less than n = 4");
}

static void test_full(void **state)
{
    (void)state;
    double val[] = {1, 1, 0, 1}; /* by columns */
    trs_mat m = {.n = 2, .ld = 2, .val = val, .format = TRS_DENSE, .kind = TRS_LOWER | TRS_STRICT};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    trs_plan_destroy(p);
    val[2] = 1e-300;
    refused(&m, TRS_EMATRIX, "row 0, column 1: an entry outside the lower triangle");
    m.kind = TRS_UPPER | TRS_STRICT;
    refused(&m, TRS_EMATRIX, "row 1, column 0: an entry outside the upper triangle");
    m.kind = TRS_LOWER, m.ld = INT64_MAX / 8;
    refused(&m, TRS_EARG, "too large");
}

/* Blocks of 2 x 2, base 1, lower by blocks: (1, 1), (2, 1), (2, 2). */
static void test_blocks(void **state)
{
    (void)state;
    static const double val[12] = {1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1};
    int32_t ptr[] = {1, 2, 4}, idx[] = {1, 1, 2};
    const trs_mat fine = {.n = 4,
                          .nnz = 3,
                          .ptr = ptr,
                          .idx = idx,
                          .val = val,
                          .ptr_bits = 32,
                          .base = 1,
                          .format = TRS_BSR,
                          .kind = TRS_LOWER | TRS_STRICT,
                          .block = 2};
    trs_mat m = fine;
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    trs_plan_destroy(p);
    m.block = 0;
    refused(&m, TRS_EARG, "block = 0");
    m.block = -2;
    refused(&m, TRS_EARG, "block = -2");
    m.block = 3;
    refused(&m, TRS_EARG, "block = 3 does not divide n = 4");
    m = fine, m.block_layout = (trs_layout)2;
    refused(&m, TRS_EARG, "layout of blocks");
    m = fine, m.nnz = INT64_MAX / 2;
    refused(&m, TRS_EMATRIX, "too many");
    m = fine, m.val = NULL;
    refused(&m, TRS_EARG, "val is NULL");
    m = fine, ptr[1] = 5;
    refused(&m, TRS_EMATRIX, "row of blocks 1");
    ptr[1] = 2, idx[2] = 3;
    refused(&m, TRS_EMATRIX, "block row 2: column 3 is not in 1 .. 2");
    idx[2] = 1;
    refused(&m, TRS_EMATRIX, "row 3, column 1 is stored twice");
    idx[2] = 2, idx[0] = 2;
    refused(&m, TRS_EMATRIX, "block row 1, column 2: an entry outside the lower triangle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),           cmocka_unit_test(test_width_of_pointers),
        cmocka_unit_test(test_pointers),       cmocka_unit_test(test_indices),
        cmocka_unit_test(test_other_triangle), cmocka_unit_test(test_shape),
        cmocka_unit_test(test_blocks),         cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
