/* t_operator.c: an operator makes each analysis once, unless somebody needs what was not worth making or has failed; it keeps
 * all of them, lists those that have found something, and frees the arrays of each result once. */
#include "tests/common/model.h"

enum { KINDS = 5 };

typedef struct result {
    int number;
    void *array;
} result;

static int made[KINDS], trimmed[KINDS];
static bool finds[KINDS], fails[KINDS]; /* unless it is needed */

static int make(int k, bool needed, result *r, bool *found)
{
    made[k]++;
    r->array = malloc(1);
    if (fails[k] && !needed) return trs_fail(TRS_EMEM, "this analysis fails");
    r->number = 10 * k + needed;
    *found = finds[k] || needed;
    return TRS_OK;
}

static void trim(int k, result *r)
{
    trimmed[k] += r->array != NULL;
    free(r->array);
    r->array = NULL;
}

#define KIND(k)                                                                                    \
    static int make_##k(trs_operator *op, bool needed, void *to, bool *found)                      \
    {                                                                                              \
        (void)op;                                                                                  \
        return make(k, needed, to, found);                                                         \
    }                                                                                              \
    static void trim_##k(trs_context *ctx, void *r)                                                \
    {                                                                                              \
        (void)ctx;                                                                                 \
        trim(k, r);                                                                                \
    }
KIND(0)
KIND(1)
KIND(2)
KIND(3)
KIND(4)
#undef KIND

static const trs_analysis kinds[KINDS] = {
    {.name = "0", .size = sizeof(result), .make = make_0, .trim = trim_0},
    {.name = "1", .size = sizeof(result), .make = make_1, .trim = trim_1},
    {.name = "2", .size = sizeof(result), .make = make_2, .trim = trim_2},
    {.name = "3", .size = sizeof(result), .make = make_3, .trim = trim_3, .stays = true},
    {.name = "4", .size = sizeof(result), .make = make_4, .trim = trim_4}};

/* Which analyses are listed, a bit each, all of them once. */
static unsigned listed(const trs_operator *op)
{
    unsigned bits = 0;
    const void *found;
    const trs_analysis *a;
    for (int k = 0; (a = trs_operator_analysis_at(op, k, &found)); k++) {
        const unsigned bit = 1u << (a - kinds);
        assert_true(k < KINDS && a >= kinds && a < kinds + KINDS && !(bits & bit));
        assert_int_equal(((const result *)found)->number / 10, a - kinds);
        bits |= bit;
    }
    return bits;
}

static void test_analyses(void **state)
{
    (void)state;
    trs_context ctx = {0};
    trs_operator op = {.ctx = &ctx};
    const void *found, *again;
    finds[0] = finds[1] = finds[3] = fails[4] = true;
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < KINDS; k++) {
            assert_int_equal(trs_operator_analysis(&op, &kinds[k], false, &found), TRS_OK);
            assert_int_equal(found != NULL, finds[k]);
            assert_int_equal(made[k], 1);
        }
    assert_int_equal(listed(&op), 0xb);
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < KINDS; k++) {
            assert_int_equal(trs_operator_analysis(&op, &kinds[k], true, &found), TRS_OK);
            assert_int_equal(trs_operator_analysis(&op, &kinds[k], false, &again), TRS_OK);
            assert_ptr_equal(found, again);
            assert_int_equal(made[k], finds[k] ? 1 : 2);
            assert_int_equal(((const result *)found)->number, 10 * k + !finds[k]);
        }
    assert_int_equal(listed(&op), 0x1f);
    trs_operator_trim(&op);
    assert_int_equal(listed(&op), 0x1f); /* the numbers stay */
    for (int k = 0; k < KINDS; k++) assert_int_equal(trimmed[k], made[k] - (k == 3));
    trs_operator_free(&op);
    for (int k = 0; k < KINDS; k++) assert_int_equal(trimmed[k], made[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_analyses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
