/* t_rewrite.c: the reference for level rewriting (rewrite.h) solves what substitution solves, and the passes of the
 * device are those of the reference, entry for entry and bit for bit. */
#include "rewrite.h"

#include "tests/common/dags.h"

#include "base/device.h"

#include <math.h>

/* ---- triangles ----------------------------------------------------------------------------------- */

typedef struct triple {
    int row, col;
    double val;
} triple;

static int by_row(const void *a, const void *b)
{
    const triple *x = a, *y = b;
    return x->row != y->row ? x->row - y->row : x->col - y->col;
}

static void find_levels(sparse *t)
{
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
            const int32_t j = t->idx[p], level = j < i ? t->level[j] + 1 : t->level[i];
            if (level > t->level[i]) t->level[i] = level;
            if (t->level[i] >= t->levels) t->levels = t->level[i] + 1;
        }
}

/* The mean of the earliest level of each row, which it has, and the latest that it may have. */
static void move_to_middle(sparse *t)
{
    int32_t *latest = malloc(((size_t)t->n + 1) * sizeof *latest);
    assert_non_null(latest);
    for (int32_t i = 0; i < t->n; i++) latest[i] = t->levels - 1;
    for (int32_t i = t->n - 1; i >= 0; i--) {
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1] - 1; p++)
            if (latest[t->idx[p]] >= latest[i]) latest[t->idx[p]] = latest[i] - 1;
        t->level[i] = (t->level[i] + latest[i]) / 2;
    }
    free(latest);
}

static sparse sparse_of(const model *m, bool middle)
{
    sparse t = sparse_new(m->n);
    triple *all = malloc(((size_t)m->nnz + 1) * sizeof *all);
    assert_non_null(all);
    for (int64_t k = 0; k < m->nnz; k++) all[k] = (triple){m->row[k], m->col[k], creal(m->val[k])};
    qsort(all, (size_t)m->nnz, sizeof *all, by_row);
    for (int64_t k = 0; k < m->nnz; k++) {
        sparse_push(&t, all[k].col, all[k].val);
        t.ptr[all[k].row + 1] = t.nnz;
    }
    free(all);
    find_levels(&t);
    if (middle) move_to_middle(&t);
    return t;
}

/* ---- the reference ------------------------------------------------------------------------------- */

/* y = a x */
static void multiply(const sparse *a, const double *x, double *y)
{
    for (int32_t i = 0; i < a->n; i++) {
        y[i] = 0;
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) y[i] += a->val[p] * x[a->idx[p]];
    }
}

/* Every entry of T' is in an earlier level than its row, and N N = 0. */
static void check_levels(const sparse *to, const sparse *n)
{
    for (int32_t i = 0; i < to->n; i++) {
        const int64_t diagonal = to->ptr[i + 1] - 1;
        assert_int_equal(to->idx[diagonal], i);
        assert_true(to->level[i] >= 0 && to->level[i] < to->levels);
        for (int64_t p = to->ptr[i]; p < diagonal; p++)
            assert_true(to->level[to->idx[p]] < to->level[i]);
        for (int64_t p = n->ptr[i]; p < n->ptr[i + 1]; p++)
            assert_true(n->ptr[n->idx[p]] == n->ptr[n->idx[p] + 1]);
    }
}

/* T' z = T z - N (T z) for some z, but for what is rounded; largest: see rewriting. */
static void check_product(const sparse *t, const sparse *n, const sparse *to, double largest)
{
    double *z = calloc(4 * (size_t)t->n + 1, sizeof *z), *y = z + t->n, *ny = y + t->n,
           *to_z = ny + t->n;
    random_t r = {1};
    double size = 0;
    assert_non_null(z);
    for (int32_t i = 0; i < t->n; i++) z[i] = random_uniform(&r);
    multiply(t, z, y);
    multiply(n, y, ny);
    multiply(to, z, to_z);
    for (int64_t p = 0; p < t->nnz; p++) size = larger(size, fabs(t->val[p]));
    for (int32_t i = 0; i < t->n; i++)
        assert_at_most(fabs(to_z[i] - (y[i] + ny[i])), 1e-12 * t->n * size * (1 + largest));
    free(z);
}

static double growth_of(const rewriting *w)
{
    double growth = 1;
    for (int k = 0; k < w->passes; k++) {
        const double one = 1 + fmax(w->largest[k], 1);
        growth *= k + 1 < w->passes ? one * one : one;
    }
    return growth;
}

/* x by rewriting is as good as merged.cu says, and about the x of substitution. */
static void check_solution(const model *m, const rewriting *w)
{
    const rewriting plain = {.t = {w->t[0]}};
    const double growth = growth_of(w);
    double *b = calloc(3 * (size_t)m->n + 1, sizeof *b), *x = b + m->n, *y = x + m->n;
    random_t r = {2};
    assert_non_null(b);
    for (int i = 0; i < m->n; i++) b[i] = x[i] = y[i] = random_uniform(&r);
    rewrite_solve(w, x);
    rewrite_solve(&plain, y);
    const quality q = quality_of(m, false, TRS_N, TRS_F64, b, 1, x, 1);
    const quality q_plain = quality_of(m, false, TRS_N, TRS_F64, b, 1, y, 1);
    const double most = 4 * (q.longest + 1) * epsilon(TRS_F64);
    assert_at_most(q_plain.omega, most);
    assert_at_most(q.normwise, most * growth);
    free(b);
}

/* ---- the device ---------------------------------------------------------------------------------- */

static bool has_device;

#ifdef HAVE_CUDA

static void *put(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *p = trs_gpu_new(ctx, count, size, "a test");
    assert_non_null(p);
    assert_int_equal(trs_gpu_put(ctx, p, from, (size_t)count * size), TRS_OK);
    return p;
}

static void assert_same(trs_context *ctx, const void *device, const void *host, int64_t count,
                        size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    if (count) assert_int_equal(trs_gpu_get(ctx, p, device, (size_t)count * size), TRS_OK);
    assert_memory_equal(p, host, (size_t)count * size);
    free(p);
}

/* A pass of the device, and what it says of the growth. */
static void compare(trs_context *ctx, const merge_pass *m, const sparse *to, const sparse *n,
                    const uint64_t *growth, double largest)
{
    double found = 0;
    assert_int_equal(m->to.levels, to->levels);
    assert_int_equal(m->to.nnz, to->nnz);
    assert_int_equal(m->n_nnz, n->nnz);
    assert_same(ctx, m->to_ptr, to->ptr, to->n + 1, sizeof *to->ptr);
    assert_same(ctx, m->to_idx, to->idx, to->nnz, sizeof *to->idx);
    assert_same(ctx, m->to_level, to->level, to->n, sizeof *to->level);
    assert_same(ctx, m->to_val, to->val, to->nnz, sizeof *to->val);
    assert_same(ctx, m->n_ptr, n->ptr, n->n + 1, sizeof *n->ptr);
    assert_same(ctx, m->n_idx, n->idx, n->nnz, sizeof *n->idx);
    assert_same(ctx, m->n_val, n->val, n->nnz, sizeof *n->val);
    assert_int_equal(trs_gpu_get(ctx, &found, growth, sizeof found), TRS_OK);
    if (largest <= 1) largest = 0; /* the device says nothing then */
    assert_at_most(fabs(found - largest), 1e-12 * largest);
}

/* No numbers. */
static void spoil(trs_context *ctx, void *device, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    void *p = malloc(bytes + 1);
    assert_non_null(p);
    memset(p, 0xff, bytes);
    assert_int_equal(trs_gpu_put(ctx, device, p, bytes), TRS_OK);
    free(p);
}

/* The same values by a recipe. */
static void compare_recipe(trs_context *ctx, merge_pass *m, const rewriting *w, int k,
                           const void *from, uint64_t *growth)
{
    const uint64_t zero = 0;
    assert_int_equal(merge_recipe_new(ctx, m), TRS_OK);
    assert_non_null(m->source);
    spoil(ctx, m->to_val, m->to.nnz);
    spoil(ctx, m->n_val, m->n_nnz);
    assert_int_equal(trs_gpu_put(ctx, growth, &zero, sizeof zero), TRS_OK);
    assert_int_equal(merge_pass_values(m, TRS_F64, from, growth, NULL), TRS_OK);
    compare(ctx, m, &w->t[k + 1], &w->n[k], growth, w->largest[k]);
}

static void check_device(const rewriting *w)
{
    trs_context ctx = {.threads = 1};
    const sparse *t = &w->t[0];
    const uint64_t zero = 0;
    merge_pass pass[MERGE_PASSES] = {0};
    merge_survey survey = {0};
    int64_t most = MERGE_TIMES * t->nnz + MERGE_FEW;
    void *const ptr = put(&ctx, t->ptr, t->n + 1, sizeof *t->ptr);
    void *const idx = put(&ctx, t->idx, t->nnz, sizeof *t->idx);
    void *const level = put(&ctx, t->level, t->n, sizeof *t->level);
    void *const val = put(&ctx, t->val, t->nnz, sizeof *t->val), *from = val;
    void *const growth = put(&ctx, &zero, 1, sizeof zero);
    trs_pattern p = {t->n, t->levels, t->nnz, ptr, idx, level, 0, false, false};
    assert_int_equal(merge_survey_new(&ctx, p.levels, &survey), TRS_OK);
    for (int k = 0, odd = 1; k < MERGE_PASSES; k++, odd = !odd) {
        merge_pass *m = &pass[k];
        assert_int_equal(merge_pass_new(&ctx, &survey, &p, &odd, most, TRS_F64, m), TRS_OK);
        assert_int_equal(m->to.levels > 0, k < w->passes);
        if (k >= w->passes) break;
        assert_int_equal(trs_gpu_put(&ctx, growth, &zero, sizeof zero), TRS_OK);
        assert_int_equal(merge_pass_values(m, TRS_F64, from, growth, NULL), TRS_OK);
        compare(&ctx, m, &w->t[k + 1], &w->n[k], growth, w->largest[k]);
        compare_recipe(&ctx, m, w, k, from, growth);
        most -= m->to.nnz + m->n_nnz;
        p = m->to;
        from = m->to_val;
    }
    for (int k = 0; k < MERGE_PASSES; k++) merge_pass_free(&ctx, &pass[k]);
    merge_survey_free(&ctx, &survey);
    void *const all[] = {ptr, idx, level, val, growth};
    for (int k = 0; k < 5; k++) trs_gpu_free(&ctx, all[k]);
    trs_gpu_drop_scratch(&ctx);
}

#else

static void check_device(const rewriting *w)
{
    (void)w;
}

#endif

/* ---- cases --------------------------------------------------------------------------------------- */

static int passes; /* of all cases of a test */

static void run(model m, bool middle)
{
    rewriting w = rewrite(sparse_of(&m, middle));
    for (int k = 0; k < w.passes; k++) {
        check_levels(&w.t[k + 1], &w.n[k]);
        check_product(&w.t[k], &w.n[k], &w.t[k + 1], w.largest[k]);
    }
    check_solution(&m, &w);
    if (has_device && m.n > 0) check_device(&w);
    passes += w.passes;
    rewriting_free(&w);
    model_free(&m);
}

static void test_patterns(void **state)
{
    (void)state;
    passes = 0;
    for (int p = 0; p < 2 * PATTERNS; p += case_step()) {
        random_t r = {(uint64_t)p};
        run(model_new((pattern)(p / 2), false, true, false, &r), p % 2);
    }
    assert_true(passes > 0);
}

static void test_dags(void **state)
{
    static const int sizes[] = {1, 33, 1000, 4001};
    (void)state;
    passes = 0;
    for (int k = 0; k < 8 * DAGS; k += case_step()) {
        random_t r = {(uint64_t)k};
        run(model_of(&dags[k / 8], sizes[(k + k / 8) % 4], false, &r), k / 4 % 2);
    }
    assert_true(passes > 0);
    print_message("# %d passes\n", passes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns),
                                       cmocka_unit_test(test_dags)};
    char why[200];
    has_device = !trs_gpu_probe(0, why, sizeof why);
    if (!has_device) print_message("# not compared with the device: %s\n", why);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
