/* t_level.c: level sets against their definition, row by row. */
#include "tests/common/model.h"

/* level(i) = 1 + the largest level of the rows that row i needs, by repeated passes. */
static int naive_levels(const model *m, int *level)
{
    int count = 0;
    for (int i = 0; i < m->n; i++) level[i] = 0;
    for (bool more = true; more;) {
        more = false;
        for (int64_t k = 0; k < m->nnz; k++) {
            int i = m->row[k], j = m->col[k];
            if (i != j && level[i] <= level[j]) level[i] = level[j] + 1, more = true;
        }
    }
    for (int i = 0; i < m->n; i++)
        if (level[i] >= count) count = level[i] + 1;
    return count;
}

static void compare(const model *m)
{
    random_t r = {1};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_context ctx = {0};
    trs_tri t, csc;
    trs_levels lv;
    trs_mat a = show(m, &f, &r);
    int *level = malloc((size_t)(m->n + 1) * sizeof *level);
    assert_non_null(level);
    assert_int_equal(trs_tri_import(&ctx, &a, &t), TRS_OK);
    assert_int_equal(trs_tri_transpose(&ctx, &t, false, &csc), TRS_OK);
    assert_int_equal(trs_level_sets(&ctx, &csc, &lv), TRS_OK);
    assert_int_equal(lv.count, naive_levels(m, level));
    assert_int_equal(lv.ptr[0], 0);
    assert_int_equal(lv.ptr[lv.count], m->n);
    int widest = 0;
    for (int l = 0; l < lv.count; l++) {
        const int rows = lv.ptr[l + 1] - lv.ptr[l];
        assert_true(rows > 0);
        if (rows > widest) widest = rows;
        for (int k = lv.ptr[l]; k < lv.ptr[l + 1]; k++) {
            assert_int_equal(level[lv.topo[k]], l);
            assert_true(k == lv.ptr[l] || lv.topo[k] > lv.topo[k - 1]);
        }
    }
    assert_int_equal(lv.widest, widest);
    free(level);
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &csc);
    mat_free(&a);
}

static void test_patterns(void **state)
{
    (void)state;
    for (int p = 0; p < PATTERNS; p++) {
        random_t r = {(uint64_t)p};
        model m = model_new((pattern)p, false, true, false, &r);
        compare(&m);
        model_free(&m);
    }
}

/* topo and lv_ptr as the caller sees them. */
static void expect(pattern p, bool upper, trs_format format, const int32_t *topo,
                   const int32_t *ptr, int levels)
{
    random_t r = {3};
    form f = {.format = format, .ptr_bits = 32, .idx_bits = 64, .base = 1, .shuffled = true};
    model m = model_new(p, upper, true, false, &r);
    trs_mat a = show(&m, &f, &r);
    for (int order = 0; order < 3; order++) {
        trs_options opt = {.solver = "cpu-serial", .order = (trs_order)order, .ops = 7};
        trs_plan *plan;
        trs_info info;
        const int32_t *t, *l;
        assert_int_equal(trs_plan_create(&plan, &a, &opt), TRS_OK);
        assert_int_equal(trs_plan_levels(plan, &t, &l), TRS_ESTATE);
        assert_status(trs_plan_analyse(plan), TRS_OK);
        assert_int_equal(trs_plan_levels(plan, &t, &l), TRS_OK);
        assert_int_equal(trs_plan_info(plan, &info), TRS_OK);
        assert_int_equal(info.levels, levels);
        assert_memory_equal(t, topo, (size_t)m.n * sizeof *t);
        assert_memory_equal(l, ptr, (size_t)(levels + 1) * sizeof *l);
        trs_plan_destroy(plan);
    }
    mat_free(&a);
    model_free(&m);
}

static void test_seed(void **state)
{
    (void)state;
    static const int32_t count[] = {0, 1, 2, 3, 4}, five[] = {0, 3, 5}, four[] = {0, 2, 3, 4};
    static const int32_t five_up[] = {2, 3, 4, 0, 1}, two_three[] = {0, 3, 5};
    static const int32_t four_up[] = {1, 3, 2, 0};
    for (int f = 0; f < 3; f++) {
        if (f == TRS_DENSE) continue; /* zeros of a full matrix count as entries */
        expect(SEED5, false, (trs_format)f, count, five, 2);
        expect(SEED4, false, (trs_format)f, count, four, 3);
        expect(SEED5, true, (trs_format)f, five_up, two_three, 2);
        expect(SEED4, true, (trs_format)f, four_up, four, 3);
    }
}

/* An analysed plan; *how: which analysis it says it had. */
static trs_plan *analysed(const trs_mat *a, const char *solver, const char **how)
{
    const trs_options opt = {.solver = solver, .ops = 7};
    trs_plan *p;
    trs_info info;
    assert_int_equal(trs_plan_create(&p, a, &opt), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_string_equal(info.analysis, "");
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    *how = info.analysis;
    return p;
}

static void test_analysis(void **state)
{
    (void)state;
    char why[200];
    const char *how;
    random_t r = {4};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    for (int upper = 0; upper < 2; upper++) {
        model m = model_new(RANDOM, upper, true, false, &r);
        trs_mat a = show(&m, &f, &r);
        trs_plan *swept = analysed(&a, NULL, &how);
        assert_string_equal(how, "one sweep over the rows");
        assert_int_equal(trs_plan_find_levels(swept, &swept->side[1]), TRS_OK);
        for (int k = 0; trs_solver_at(k); k++) {
            const trs_solver *s = trs_solver_at(k);
            if (s->family != TRS_TRIANGLE || !trs_solver_available(s, 0, why, sizeof why)) continue;
            trs_plan *p = analysed(&a, s->name, &how);
            assert_string_equal(how, s->by_columns ? "topological sort by in-degree (CSC)"
                                                   : "one sweep over the rows");
            for (int op = 0; op < 2; op++) {
                const trs_levels *x = &p->side[op].op.lv, *y = &swept->side[op].op.lv;
                assert_int_equal(x->count, y->count);
                assert_int_equal(x->widest, y->widest);
                assert_memory_equal(x->ptr, y->ptr, ((size_t)y->count + 1) * sizeof *y->ptr);
                assert_memory_equal(x->topo, y->topo, (size_t)m.n * sizeof *y->topo);
            }
            trs_plan_destroy(p);
        }
        trs_plan_destroy(swept);
        mat_free(&a);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_analysis),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
