/* t_flow.c: the nodes of a data-flow solver, gone through on the host as a device would. */
#include "model.h"

#include "flow.h"

/* Every node is in one task, and waits for nodes of earlier tasks only. */
static void check_tasks(const trs_flow *f)
{
    int32_t next = 0;
    for (int32_t t = 0; t < f->tasks; t++) {
        const trs_flow_task *task = &f->task[t];
        assert_int_equal(task->first, next);
        assert_true(task->count > 0 && task->count * task->lanes <= TRS_FLOW_WARP);
        next += task->count;
        for (int32_t k = task->first; k < next; k++)
            for (int64_t q = f->ptr[k]; q < f->ptr[k + 1]; q++)
                assert_true(f->idx[q] >= 0 && f->idx[q] < task->first);
    }
    assert_int_equal(next, f->nodes);
    assert_int_equal(f->ptr[0], 0);
    assert_int_equal(f->ptr[f->nodes], f->nnz);
}

/* The lanes are the least with which the entries are one batch, at most a warp. */
static void check_lanes(const trs_flow *f)
{
    for (int32_t t = 0; t < f->tasks; t++)
        for (int32_t k = f->task[t].first; k < f->task[t].first + f->task[t].count; k++) {
            const int64_t length = f->ptr[k + 1] - f->ptr[k], lanes = f->task[t].lanes;
            assert_true(lanes == TRS_FLOW_WARP || lanes * TRS_FLOW_BATCH >= length);
            assert_true(lanes == 1 || lanes / 2 * TRS_FLOW_BATCH < length);
        }
}

/* What is packed stands where the places say. */
static void check_places(const trs_flow *f, const trs_tri *t, const void *val, const void *inv)
{
    const trs_dtype d = t->dtype;
    int64_t *src = malloc((size_t)(f->nnz + f->nodes + 1) * sizeof *src), *diagonal = src + f->nnz;
    assert_non_null(src);
    trs_flow_places(f, src, diagonal);
    for (int64_t q = 0; q < f->nnz; q++)
        assert_true(get_number(val, d, q) == (src[q] < 0 ? 1 : get_number(t->val, d, src[q])));
    for (int32_t k = 0; k < f->nodes; k++) {
        assert_int_equal(diagonal[k] < 0, f->row[k] < 0);
        if (diagonal[k] < 0) assert_true(get_number(inv, d, k) == -1);
        else assert_int_equal(diagonal[k], t->ptr[f->row[k] + 1] - 1);
    }
    free(src);
}

/* x by the nodes in order: (b - sum) times the reciprocal, a piece having b = 0. */
static void run(const trs_context *ctx, const trs_flow *f, const trs_tri *t, const void *b, void *x)
{
    const trs_dtype d = t->dtype;
    const size_t entries = (size_t)f->nnz + 1, nodes = (size_t)f->nodes + 1;
    void *val = calloc(entries, sizeof(zz)), *inv = calloc(nodes, sizeof(zz));
    zz *y = calloc(nodes, sizeof *y);
    assert_true(val && inv && y);
    trs_flow_pack(ctx, f, t, val, inv);
    check_places(f, t, val, inv);
    for (int32_t k = 0; k < f->nodes; k++) {
        zz s = f->row[k] < 0 ? 0 : get_number(b, d, f->row[k]);
        for (int64_t q = f->ptr[k]; q < f->ptr[k + 1]; q++)
            s -= get_number(val, d, q) * y[f->idx[q]];
        y[k] = s * get_number(inv, d, k);
        if (f->row[k] >= 0) set_number(x, d, f->row[k], y[k]);
    }
    free(val);
    free(inv);
    free(y);
}

static void one_case(pattern pat, trs_dtype d, int threads)
{
    random_t r = {(uint64_t)pat * 4 + (uint64_t)d};
    form f = {.dtype = d, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    model m = model_new(pat, false, false, trs_is_complex(d), &r);
    trs_mat a = show(&m, &f, &r);
    trs_context ctx = {.threads = threads};
    trs_tri t;
    trs_flow flow;
    void *b = calloc((size_t)m.n + 1, sizeof(zz)), *x = calloc((size_t)m.n + 1, sizeof(zz));
    assert_true(b && x);
    for (int i = 0; i < m.n; i++) set_number(b, d, i, random_uniform(&r));
    assert_int_equal(trs_tri_import(&ctx, &a, &t), TRS_OK);
    assert_int_equal(trs_flow_make(&ctx, &t, &flow), TRS_OK);
    check_tasks(&flow);
    check_lanes(&flow);
    run(&ctx, &flow, &t, b, x);
    const quality q = judge(&m, false, TRS_N, d, b, 1, x, 1);
    assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(d));
    free(b);
    free(x);
    trs_flow_free(&ctx, &flow);
    trs_tri_free(&ctx, &t);
    mat_free(&a);
    model_free(&m);
}

static void test_patterns(void **state)
{
    (void)state;
    for (int p = 0; p < PATTERNS; p++)
        for (int d = 0; d < 4; d++) one_case((pattern)p, (trs_dtype)d, 1 + (p + d) % 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
