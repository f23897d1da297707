/* t_flow.c: the schedule of cuda-dataflow: a solve that goes through it node after node is right, and what the
 * device makes of a triangle is the schedule of the reference. */
#include "tests/common/dags.h"

#include "base/device.h"
#include "reference.h"

/* A triangle, and its pattern on the device, where there is one. */
typedef struct scene {
    trs_context ctx;
    model m;
    trs_tri t;
    int32_t *level; /* [n] the earliest of each row */
    trs_pattern p;
} scene;

static void scene_new(scene *s, model m, trs_dtype d, random_t *r)
{
    form f = {.dtype = d, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    *s = (scene){.ctx = {.threads = 1}, .m = m};
    trs_mat a = show(&s->m, &f, r);
    assert_int_equal(trs_tri_import(&s->ctx, &a, &s->t), TRS_OK);
    mat_free(&a);
    s->level = calloc((size_t)m.n + 1, sizeof *s->level);
    assert_non_null(s->level);
    s->p = (trs_pattern){.n = m.n, .levels = reference_levels(&s->t, s->level), .nnz = s->t.nnz};
    for (int32_t i = 0; i < m.n; i++)
        if (s->p.longest < s->t.ptr[i + 1] - s->t.ptr[i])
            s->p.longest = s->t.ptr[i + 1] - s->t.ptr[i];
}

static void scene_free(scene *s)
{
    trs_tri_free(&s->ctx, &s->t);
    model_free(&s->m);
    free(s->level);
}

/* ---- the reference ---------------------------------------------------------------------------------------- */

/* Every node is in one task, waits for nodes of earlier tasks only, and has the least lanes with one batch
 * each; in a wide triangle it has one, and its operands ascend. */
static void check_tasks(const trs_flow *f)
{
    int32_t next = 0;
    for (const trs_flow_task *w = f->task; w < f->task + f->tasks; w++) {
        assert_int_equal(w->first, next);
        assert_true(w->count > 0 && w->count * w->lanes <= TRS_FLOW_WARP);
        next += w->count;
        for (int32_t k = w->first; k < next; k++) {
            const int64_t length = f->ptr[k + 1] - f->ptr[k];
            if (f->wide) assert_int_equal(w->lanes, 1);
            else assert_true(w->lanes == TRS_FLOW_WARP || w->lanes * TRS_FLOW_BATCH >= length);
            assert_true(w->lanes == 1 || w->lanes / 2 * TRS_FLOW_BATCH < length);
            for (int64_t q = f->ptr[k]; q < f->ptr[k + 1]; q++) {
                assert_true(f->idx[q] >= 0 && f->idx[q] < w->first);
                if (f->wide && q > f->ptr[k]) assert_true(f->idx[q - 1] < f->idx[q]);
            }
        }
    }
    assert_int_equal(next, f->nodes);
    assert_int_equal(f->ptr[f->nodes], f->nnz);
}

/* The residual of a solve by the reference, with three columns. */
static double residual(const scene *s, const trs_flow *f)
{
    enum { NRHS = 3 };
    const int64_t n = s->t.n;
    const trs_dtype d = s->t.dtype;
    zz *b = calloc((size_t)n * NRHS + 1, sizeof *b), *x = calloc((size_t)n * NRHS + 1, sizeof *x);
    void *bd = calloc((size_t)n + 1, sizeof(zz)), *xd = calloc((size_t)n + 1, sizeof(zz));
    random_t r = {3};
    double worst = 0;
    assert_true(b && x && bd && xd);
    for (int64_t k = 0; k < n * NRHS; k++) b[k] = random_uniform(&r);
    reference_solve(f, &s->t, NRHS, b, x);
    for (int c = 0; c < NRHS; c++) {
        for (int64_t i = 0; i < n; i++) set_number(bd, d, i, b[i * NRHS + c]);
        for (int64_t i = 0; i < n; i++) set_number(xd, d, i, x[i * NRHS + c]);
        const quality q = quality_of(&s->m, false, TRS_N, d, bd, 1, xd, 1);
        assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(d));
        if (worst < q.omega / epsilon(d)) worst = q.omega / epsilon(d);
    }
    free(b), free(x), free(bd), free(xd);
    return worst;
}

/* omega / eps */
static double check_reference(scene *s)
{
    trs_flow f = reference_flow(&s->t, s->level, s->p.levels);
    check_tasks(&f);
    const double worst = residual(s, &f);
    reference_free(&f);
    return worst;
}

/* ---- what the device makes ---------------------------------------------------------------------------------- */

static void *put(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *p = trs_gpu_new(ctx, count, size, "a pattern");
    assert_non_null(p);
    assert_int_equal(trs_gpu_put(ctx, p, from, (size_t)count * size), TRS_OK);
    return p;
}

/* from NULL: zeros. */
static void *fetch(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    if (from) assert_int_equal(trs_gpu_get(ctx, p, from, (size_t)count * size), TRS_OK);
    return p;
}

static void pattern_put(scene *s)
{
    s->p.ptr = put(&s->ctx, s->t.ptr, (int64_t)s->t.n + 1, sizeof *s->p.ptr);
    s->p.idx = put(&s->ctx, s->t.idx, s->t.nnz, sizeof *s->p.idx);
    s->p.level = put(&s->ctx, s->level, s->t.n, sizeof *s->p.level);
}

static void pattern_free(scene *s)
{
    trs_gpu_free(&s->ctx, (void *)s->p.ptr);
    trs_gpu_free(&s->ctx, (void *)s->p.idx);
    trs_gpu_free(&s->ctx, (void *)s->p.level);
    trs_gpu_drop_scratch(&s->ctx);
}

/* The same with arrays on the host, for reference_free. */
static trs_flow flow_fetch(trs_context *ctx, const trs_flow *d)
{
    trs_flow f = *d;
    f.ptr = fetch(ctx, d->ptr, d->nodes ? (int64_t)d->nodes + 1 : 0, sizeof *f.ptr);
    f.idx = fetch(ctx, d->idx, d->nnz, sizeof *f.idx);
    f.order = fetch(ctx, d->wide ? d->order : NULL, d->nnz, sizeof *f.order);
    f.within = fetch(ctx, d->wide ? d->within : NULL, d->nodes, sizeof *f.within);
    f.row = fetch(ctx, d->row, d->nodes, sizeof *f.row);
    f.partials = fetch(ctx, d->partials, d->nodes, sizeof *f.partials);
    f.source = fetch(ctx, d->source, d->nodes, sizeof *f.source);
    f.sorted = fetch(ctx, d->sorted, d->sorted_count, sizeof *f.sorted);
    f.task = fetch(ctx, d->task, d->tasks, sizeof *f.task);
    return f;
}

#define assert_same(a, b, count) assert_memory_equal(a, b, (size_t)(count) * sizeof *(a))

/* Where the operands of each node begin in those of its task. */
static void check_within(const trs_flow *f)
{
    for (const trs_flow_task *w = f->task; w < f->task + f->tasks; w++)
        for (int32_t k = w->first; k < w->first + w->count; k++)
            assert_int_equal(f->within[k], f->ptr[k] - f->ptr[w->first]);
}

/* In which order long rows are sorted is left to chance: so entries are compared, and not where they are
 * named. */
static void check_same(const trs_flow *f, const trs_flow *r)
{
    assert_int_equal(f->nodes, r->nodes);
    assert_int_equal(f->tasks, r->tasks);
    assert_int_equal(f->nnz, r->nnz);
    assert_int_equal(f->sorted_count, r->sorted_count);
    assert_int_equal(f->wide, r->wide);
    assert_int_equal(f->most, r->most);
    if (f->nodes == 0) return;
    assert_same(f->ptr, r->ptr, f->nodes + 1);
    assert_same(f->idx, r->idx, f->nnz);
    assert_same(f->row, r->row, f->nodes);
    assert_same(f->partials, r->partials, f->nodes);
    assert_same(f->task, r->task, f->tasks);
    if (f->wide) check_within(f);
    for (int32_t k = 0; k < f->nodes; k++) {
        const int64_t own = f->ptr[k + 1] - f->ptr[k] - f->partials[k] + (f->row[k] >= 0);
        for (int64_t e = 0; e < own; e++)
            assert_int_equal(reference_entry(f, k, e), reference_entry(r, k, e));
    }
}

/* Values stand in the order of the operands, partial sums have 1; inv is what is kept of the diagonal, which is
 * near 1 in these triangles, or -1. */
static void check_values(const trs_flow *f, const trs_tri *t, const void *val, const void *inv)
{
    const trs_dtype d = t->dtype;
    for (int32_t k = 0; k < f->nodes; k++) {
        const int64_t first = f->ptr[k] + f->partials[k], own = f->ptr[k + 1] - first;
        const zz kept = get_number(inv, d, k);
        for (int64_t q = f->ptr[k]; q < first; q++) assert_true(get_number(val, d, q) == 1);
        for (int64_t e = 0; e < own; e++)
            assert_true(get_number(val, d, first + e) ==
                        get_number(t->val, d, reference_entry(f, k, e)));
        if (f->row[k] < 0) assert_true(kept == -1);
        else
            assert_at_most(cabs(kept * get_number(t->val, d, reference_entry(f, k, own)) - 1),
                           8 * epsilon(d));
    }
}

static void check_device(scene *s)
{
    trs_context *ctx = &s->ctx;
    const size_t size = trs_size(s->t.dtype);
    trs_flow there, r = reference_flow(&s->t, s->level, s->p.levels);
    pattern_put(s);
    assert_int_equal(trs_flow_make(ctx, &s->p, &there), TRS_OK);
    void *from = put(ctx, s->t.val, s->t.nnz, size);
    void *val_there = trs_gpu_new(ctx, there.nnz, size, "values");
    void *inv_there = trs_gpu_new(ctx, there.nodes, size, "reciprocals");
    assert_true(val_there && inv_there);
    assert_int_equal(trs_flow_take(&there, s->t.dtype, from, val_there, inv_there, NULL), TRS_OK);
    trs_flow f = flow_fetch(ctx, &there);
    void *val = fetch(ctx, val_there, f.nnz, size), *inv = fetch(ctx, inv_there, f.nodes, size);
    check_same(&f, &r);
    check_values(&f, &s->t, val, inv);
    free(val), free(inv);
    reference_free(&f);
    reference_free(&r);
    trs_flow_free(ctx, &there);
    trs_gpu_free(ctx, from);
    trs_gpu_free(ctx, val_there);
    trs_gpu_free(ctx, inv_there);
    pattern_free(s);
}

/* ---- slack --------------------------------------------------------------------------------------------------- */

/* The level of each row that trs_flow_slack finds, by going through the rows both ways. */
static void check_slack(scene *s, bool expected)
{
    const trs_tri *t = &s->t;
    const size_t size = (size_t)t->n * sizeof(int32_t);
    int32_t *late = malloc(size), *found = malloc(size);
    assert_true(late && found);
    pattern_put(s);
    int32_t *there = put(&s->ctx, s->level, t->n, sizeof *there);
    assert_int_equal(trs_flow_slack(&s->ctx, &s->p, there), TRS_OK);
    assert_int_equal(trs_gpu_get(&s->ctx, found, there, size), TRS_OK);
    for (int32_t i = 0; i < t->n; i++) late[i] = s->p.levels - 1;
    for (int32_t i = t->n - 1; i >= 0; i--)
        for (int64_t q = t->ptr[i]; q < t->ptr[i + 1] - 1; q++)
            if (late[t->idx[q]] >= late[i]) late[t->idx[q]] = late[i] - 1;
    for (int32_t i = 0; i < t->n; i++)
        assert_int_equal(found[i], expected ? (s->level[i] + late[i]) / 2 : s->level[i]);
    free(late);
    free(found);
    trs_gpu_free(&s->ctx, there);
    pattern_free(s);
}

/* Kind 0 is a chain, whose rows have no slack.  Rows that need two others by chance have some; in kind 2 there are a
 * few beside them that need half of all before them. */
static void add_columns(model *m, int i, int kind, random_t *r)
{
    const int j = random_below(r, i), other = random_below(r, i);
    if (kind == 0) model_add(m, i, i - 1, 1);
    else if (kind == 2 && i % 500 == 499)
        for (int k = 0; k < i; k += 2) model_add(m, i, k, 1);
    else {
        model_add(m, i, j < other ? j : other, 1);
        if (j != other) model_add(m, i, j < other ? other : j, 1);
    }
}

static model with_slack(int n, int kind, random_t *r)
{
    model m = {.n = n};
    for (int i = 0; i < n; i++) {
        if (i > 0) add_columns(&m, i, kind, r);
        model_add(&m, i, i, 2);
    }
    return m;
}

/* ---- the tests --------------------------------------------------------------------------------------------------- */

static void skip_without_gpu(void)
{
    char why[200];
    if (!trs_gpu_probe(0, why, sizeof why)) return;
    print_message("%s\n", why);
    skip();
}

/* f of every pattern in every type, and of every triangle that is awkward. */
static void for_all(void (*f)(scene *s, const char *name))
{
    scene s;
    for (int p = 0; p < PATTERNS; p++)
        for (int d = 0; d < 4; d++) {
            random_t r = {(uint64_t)(p * 4 + d)};
            const bool is_complex = trs_is_complex((trs_dtype)d);
            scene_new(&s, model_new((pattern)p, false, false, is_complex, &r), (trs_dtype)d, &r);
            f(&s, pattern_name[p]);
            scene_free(&s);
        }
    for (int k = 0; k < DAGS; k++) {
        random_t r = {(uint64_t)k};
        scene_new(&s, model_of(&dags[k], 2003, false, &r), TRS_F64, &r);
        f(&s, dags[k].name);
        scene_free(&s);
    }
}

static void say_reference(scene *s, const char *name)
{
    print_message("%s: omega %.2f eps\n", name, check_reference(s));
}

static void say_device(scene *s, const char *name)
{
    print_message("%s\n", name);
    check_device(s);
}

static void test_reference(void **state)
{
    (void)state;
    for_all(say_reference);
}

static void test_device(void **state)
{
    (void)state;
    skip_without_gpu();
    for_all(say_device);
}

/* Every triangle without long rows as if its levels were wide. */
static void test_wide(void **state)
{
    char why[200];
    (void)state;
    setenv("TRISOLVE_WIDE_ROWS", "1", 1);
    for_all(say_reference);
    if (trs_gpu_probe(0, why, sizeof why)) print_message("%s\n", why);
    else for_all(say_device);
    unsetenv("TRISOLVE_WIDE_ROWS");
}

static void test_slack(void **state)
{
    (void)state;
    skip_without_gpu();
    for (int kind = 0; kind < 3; kind++) {
        random_t r = {(uint64_t)kind};
        scene s;
        scene_new(&s, with_slack(5000, kind, &r), TRS_F64, &r);
        check_slack(&s, kind > 0);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_device), cmocka_unit_test(test_wide),
                                       cmocka_unit_test(test_slack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
