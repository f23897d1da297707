/* t_supernodes.c: supernodes, packed panels and tasks are what supernodes.h says, and a solve by them, one task
 * after the other (tests/analysis/supernodal_reference.c), gives what substitution gives. */
#include "tests/common/counter.h"
#include "tests/common/dags.h"
#include "tests/analysis/supernodal_reference.h"

#include "analysis/trapezoids.h"

#include <math.h>

static int make_supernodes(trs_context *ctx, const trs_tri *t, trs_supernodes *s)
{
    trs_fundamental f;
    int rc = trs_fundamental_make(ctx, t, &f);
    if (!rc) rc = trs_supernodes_of(ctx, &f, s);
    trs_fundamental_free(ctx, &f);
    return rc;
}

/* The rows of D and S of a supernode of a chain: the columns are those of the supernodes of the chain, and the late
 * columns are the same for all of them. */
static void check_chain(const trs_supernodes *s, int32_t t)
{
    const trs_supernode *k = &s->supernode[t], *first = k - k->chain_place;
    assert_in_range(k->chain_length, 2, TRS_CHAIN);
    assert_in_range(k->panels, k->chain_place + 1, k->chain_place + 1 + TRS_CHAIN_LATE);
    assert_int_equal(k->diagonal, k->panel + k->chain_place);
    for (int32_t u = 0; u <= k->chain_place; u++) {
        const trs_panel *p = &s->panel[k->panel + u];
        assert_int_equal(first[u].chain_place, u);
        assert_int_equal(first[u].chain_length, k->chain_length);
        if (u < k->chain_place)
            assert_int_equal(first[u].first + first[u].rows, first[u + 1].first);
        assert_int_equal(p->columns, first[u].rows);
        assert_int_equal(s->column[p->column], first[u].first);
        assert_int_equal(s->column[p->column + p->columns - 1], first[u].first + p->columns - 1);
    }
    for (int32_t q = 1; k->diagonal + q < k->panel + k->panels; q++) {
        const trs_panel *p = &s->panel[k->diagonal + q], *f = &s->panel[first->diagonal + q];
        assert_int_equal(__builtin_popcountll(p->row_mask), k->rows);
        assert_int_equal(p->columns, f->columns);
        assert_memory_equal(s->column + p->column, s->column + f->column,
                            (size_t)p->columns * sizeof *s->column);
    }
}

/* Of each panel of D before the diagonal at least half is filled, as far as rows and columns without an entry tell. */
static void check_filled(const trs_tri *t, const trs_supernodes *s, const trs_supernode *k)
{
    for (int u = 0; u < k->chain_place; u++) {
        const trs_supernode *from = k - k->chain_place + u;
        uint64_t rows = 0, columns = 0;
        for (int i = 0; i < k->rows; i++)
            for (int64_t p = t->ptr[k->first + i]; p < t->ptr[k->first + i + 1]; p++) {
                const int32_t c = t->idx[p] - from->first;
                if (c < 0 || c >= from->rows) continue;
                rows |= (uint64_t)1 << i, columns |= (uint64_t)1 << c;
            }
        const int area = __builtin_popcountll(rows) * __builtin_popcountll(columns);
        assert_true(2 * area >= k->rows * from->rows);
        assert_true(s->panel[k->panel + u].columns == from->rows);
    }
}

static int alone; /* batches so far of one supernode that has too many entries for a warp */

/* Entries beside the diagonal block. */
static int64_t off_diagonal(const trs_supernodes *s, const trs_supernode *k)
{
    int64_t entries = 0;
    for (int p = k->panel; p < k->panel + k->panels; p++)
        if (p != k->diagonal)
            entries += (int64_t)__builtin_popcountll(s->panel[p].row_mask) * s->panel[p].columns;
    return entries;
}

static void check_supernode(const trs_supernodes *s, int32_t t)
{
    const trs_supernode *k = &s->supernode[t];
    const bool large = k->rows > TRS_SMALL;
    assert_in_range(k->rows, 1, TRS_SUPERNODE);
    assert_in_range(k->diagonal, k->panel, k->panel + k->panels - 1);
    assert_int_equal(s->panel[k->diagonal].columns, k->rows);
    for (int p = k->panel; p < k->panel + k->panels; p++) {
        assert_int_equal(s->panel[p].supernode, t);
        assert_true(!large || s->panel[p].columns <= TRS_SUPERNODE);
    }
    assert_true(large || k->panels <= 2);
    assert_true(!large || k->panels <= TRS_TASK_PANELS);
    assert_in_range(k->slices, 1, (k->rows + TRS_SLICE - 1) / TRS_SLICE);
    if (k->chain_length > 1) check_chain(s, t);
}

/* Every row is in one supernode. */
static void check_rows(const trs_tri *t, const trs_supernodes *s)
{
    char *seen = calloc((size_t)t->n + 1, 1);
    assert_non_null(seen);
    for (int k = 0; k < s->count; k++)
        for (int i = 0; i < s->supernode[k].rows; i++)
            assert_int_equal(seen[s->supernode[k].first + i]++, 0);
    for (int i = 0; i < t->n; i++) assert_int_equal(seen[i], 1);
    free(seen);
}

/* What kind of task supernodes, and panels, are given to. */
static void check_task(const trs_supernodes *s, const trs_task *task)
{
    const trs_supernode *k = &s->supernode[task->supernode];
    const bool partial = task->kind == TRS_TASK_PARTIAL_SUM || task->kind == TRS_TASK_PARTIAL_RHS;
    assert_true(task->panels <= TRS_TASK_PANELS);
    assert_in_range(task->supernodes, 1, task->kind == TRS_TASK_SMALL ? TRS_BATCH : 1);
    for (int p = task->panel; p < task->panel + task->panels; p++) {
        assert_int_equal(s->panel[p].supernode, task->supernode);
        assert_true(s->panel[p].columns <= TRS_SUPERNODE);
        assert_true(!partial || p < k->panel);
    }
    if (task->kind == TRS_TASK_PARTIAL_SUM)
        assert_in_range(task->partial, k->partial, k->partial + k->partials - 1);
    if (task->kind == TRS_TASK_PARTIAL_RHS || task->kind == TRS_TASK_CHAIN) {
        assert_true(k->chain_length > 1);
        assert_in_range(task->slice, 0, k->slices - 1);
    }
    if (task->kind == TRS_TASK_LARGE) assert_true(k->rows > TRS_SMALL && k->chain_length == 1);
    for (int u = 0; u < task->supernodes && task->kind == TRS_TASK_SMALL; u++) {
        const bool too_many = off_diagonal(s, k + u) > TRS_BATCH_ENTRIES;
        assert_true(k[u].rows <= TRS_SMALL && (!too_many || task->supernodes == 1));
        alone += too_many;
    }
}

/* No two panels share a stored entry, and together they have room for all of the triangle. */
static void check_stored(const trs_tri *t, const trs_supernodes *s)
{
    int64_t stored = 0, room = 0;
    for (int p = 0; p < s->panels; p++) {
        const trs_panel *k = &s->panel[p];
        const int64_t rows = __builtin_popcountll(k->row_mask);
        assert_int_equal(k->offset, stored);
        assert_int_equal(k->offset % 4, 0);
        stored += rows * ((k->columns + 3) / 4 * 4);
        room += rows * k->columns;
    }
    assert_int_equal(stored, s->stored);
    assert_true(room >= t->nnz);
}

/* One after the deepest level that it waits for; partial sums wait for no deeper one. */
static int level_of(const trs_supernodes *s, const trs_supernode *k)
{
    int level = 0;
    for (int p = k->panel; p < k->panel + k->panels; p++)
        if (s->panel[p].level + 1 > level) level = s->panel[p].level + 1;
    return level;
}

/* The sums over the levels that the cost model is told, found level by level. */
static void check_levels(const trs_supernodes *s)
{
    int64_t rows = 0, large = 0;
    for (int l = 0; l < s->depth; l++) {
        int most_rows = 0, has_large = 0;
        for (int t = 0; t < s->count; t++) {
            const trs_supernode *k = &s->supernode[t];
            if (level_of(s, k) != l) continue;
            if (k->rows > TRS_SMALL) has_large = 1;
            else if (k->rows > most_rows) most_rows = k->rows;
        }
        rows += most_rows;
        large += has_large;
    }
    assert_int_equal(rows, s->small_rows);
    assert_int_equal(large, s->large_levels);
}

/* Solving by the data structure is right, and no task needs what is published later, which is NaN until then. */
static void check_solve(const trs_tri *t, const trs_supernodes *s)
{
    const int64_t partials = (int64_t)s->partials * TRS_SUPERNODE;
    double *b = malloc((size_t)t->n * sizeof *b + 1), *x = malloc((size_t)t->n * sizeof *x + 1);
    double *stored = malloc((size_t)s->stored * sizeof *stored + 1);
    double *partial = malloc((size_t)partials * sizeof *partial + 1);
    assert_true(b && x && stored && partial);
    for (int i = 0; i < t->n; i++) b[i] = 1 + i % 7, x[i] = NAN;
    for (int64_t i = 0; i < partials; i++) partial[i] = NAN;
    reference_update(t, s, stored);
    reference_solve(s, stored, b, x, partial);
    check_solved(t, b, x);
    free(b);
    free(x);
    free(stored);
    free(partial);
}

static void compare(trs_context *ctx, const trs_tri *t, trs_supernodes *s)
{
    assert_int_equal(make_supernodes(ctx, t, s), TRS_OK);
    check_rows(t, s);
    check_stored(t, s);
    check_levels(s);
    for (int k = 0; k < s->count; k++) {
        check_supernode(s, k);
        check_filled(t, s, &s->supernode[k]);
    }
    for (int k = 0; k < s->tasks; k++) check_task(s, &s->task[k]);
    check_solve(t, s);
}

/* Lower and upper as they are, and transposed. */
static void compare_model(const model *m, trs_supernodes *keep)
{
    trs_context ctx = {0};
    trs_tri t, u;
    trs_supernodes s;
    model_triangles(&ctx, m, &t, &u);
    compare(&ctx, &u, &s);
    trs_supernodes_free(&ctx, &s);
    compare(&ctx, &t, &s);
    if (keep) *keep = s;
    trs_supernodes_free(&ctx, &s);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
}

static void test_patterns(void **state)
{
    (void)state;
    for (int p = 0; p < PATTERNS; p++)
        for (int upper = 0; upper < 2; upper++) {
            random_t r = {(uint64_t)p};
            model m = model_new((pattern)p, upper, true, false, &r);
            compare_model(&m, NULL);
            model_free(&m);
        }
}

/* Among them supernodes with more panels than a task takes, all of one level. */
static void test_dags(void **state)
{
    (void)state;
    alone = 0;
    for (int k = 0; k < DAGS; k++) {
        random_t r = {(uint64_t)k};
        model m = model_of(&dags[k], 2003, false, &r);
        compare_model(&m, NULL);
        model_free(&m);
    }
    assert_true(alone > 0);
}

static model full(int n)
{
    model m = {.n = n};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) model_add(&m, i, j, i == j ? 2 : 1.0 / (i + j));
    return m;
}

/* A full triangle is one set of columns: n / 64 supernodes with panels of 64 x 64, in chains of four. */
static void test_full(void **state)
{
    (void)state;
    model m = full(2000);
    trs_supernodes s;
    compare_model(&m, &s);
    assert_int_equal(s.count, 32);
    assert_int_equal(s.depth, 8);
    assert_int_equal(s.chains, 8);
    assert_int_equal(s.large, 32);
    assert_int_equal(s.panels, 32 * 33 / 2);
    assert_true(s.partials > 0);
    model_free(&m);
}

/* Sets of 3 equal rows, as finite elements with three unknowns a node have. */
static void test_fused_rows(void **state)
{
    (void)state;
    model m = {.n = 300};
    for (int i = 0; i < m.n; i++) {
        const int node = i / 3;
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 3; k++)
                if (node >= 7 * d && 3 * (node - 7 * d) + k < i)
                    model_add(&m, i, 3 * (node - 7 * d) + k, 0.25);
        model_add(&m, i, i, 2);
    }
    trs_supernodes s;
    compare_model(&m, &s);
    assert_true(s.count <= 100);
    model_free(&m);
}

/* As factors are: supernodes of 1 to 90 columns, each with some later rows, often those of the one before. */
static model factor(int n, random_t *r)
{
    model m = {.n = n};
    char *row = calloc((size_t)n, 1);
    assert_non_null(row);
    for (int j = 0, end; j < n; j = end) {
        end = j + 1 + random_below(r, random_below(r, 6) ? 8 : 90);
        if (end > n) end = n;
        if (random_below(r, 4) == 0) memset(row, 0, (size_t)n);
        for (int k = random_below(r, 9); k > 0; k--) {
            const int from = end + random_below(r, n), length = 1 + random_below(r, 12);
            for (int i = from; i < n && i < from + length; i++) row[i] = 1;
        }
        for (int c = j; c < end; c++)
            for (int i = c; i < n; i++)
                if (i < end || row[i]) model_add(&m, i, c, i == c ? 2 : 0.01);
    }
    free(row);
    return m;
}

static void assert_same(const trs_supernodes *a, const trs_supernodes *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->panels, b->panels);
    assert_int_equal(a->tasks, b->tasks);
    assert_int_equal(a->partials, b->partials);
    assert_int_equal(a->large, b->large);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->chains, b->chains);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->stored, b->stored);
    assert_memory_equal(a->supernode, b->supernode, (size_t)a->count * sizeof *a->supernode);
    assert_memory_equal(a->panel, b->panel, (size_t)a->panels * sizeof *a->panel);
    assert_memory_equal(a->column, b->column, (size_t)a->columns * sizeof *a->column);
    assert_memory_equal(a->task, b->task, (size_t)a->tasks * sizeof *a->task);
}

static void check_threads(const trs_tri *t)
{
    static const int threads[] = {1, 2, 5};
    trs_supernodes s[3];
    assert_true(t->nnz > TRS_SHARED_FROM);
    for (int k = 0; k < 3; k++) {
        trs_context ctx = {.threads = threads[k]};
        assert_int_equal(make_supernodes(&ctx, t, &s[k]), TRS_OK);
        assert_same(&s[0], &s[k]);
    }
    for (int k = 0; k < 3; k++) trs_supernodes_free(&(trs_context){0}, &s[k]);
}

/* Whatever the number of threads, everything is at the same place. */
static void test_threads(void **state)
{
    (void)state;
    random_t r = {7};
    model m[] = {factor(16000, &r), full(1500)};
    for (int k = 0; k < 2; k++) {
        trs_context ctx = {0};
        trs_tri t, u;
        model_triangles(&ctx, &m[k], &t, &u);
        check_threads(&t);
        check_threads(&u);
        trs_tri_free(&ctx, &t);
        trs_tri_free(&ctx, &u);
        model_free(&m[k]);
    }
}

static void test_factor(void **state)
{
    (void)state;
    random_t r = {3};
    model m = factor(2500, &r);
    compare_model(&m, NULL);
    model_free(&m);
}

/* A chain of two supernodes that need each second source: their late columns are found in another order than that of the
 * sources, and of many sources the last ones are kept.  A supernode that no other needs keeps the chain from being merged
 * with sources. */
static void test_late_columns(void **state)
{
    (void)state;
    enum { SOURCE = 20, PART = TRS_SUPERNODE };
    for (int sources = 3; sources <= 12; sources += 9) {
        const int first = (sources + 1) * SOURCE;
        model m = {.n = first + 2 * PART};
        trs_supernodes s;
        for (int i = 0; i < m.n; i++)
            for (int j = 0; j <= i; j++) {
                const int source = j / SOURCE, part = i < first + PART ? 0 : 1;
                const bool wanted = source < sources && source % 2 == part;
                const bool needed = i < first ? i / SOURCE == source : wanted;
                if (j >= first || needed) model_add(&m, i, j, i == j ? 2 : 1.0 / (i + j));
            }
        compare_model(&m, &s);
        assert_int_equal(s.count, sources + 3);
        assert_int_equal(s.chains, 1);
        model_free(&m);
    }
}

/* Every allocation fails once; nothing leaks. */
static void test_out_of_memory(void **state)
{
    (void)state;
    random_t r = {1};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .dtype = TRS_F64};
    model m = full(1800);
    trs_context ctx = {0};
    trs_tri t;
    trs_supernodes s;
    trs_mat a = show(&m, &f, &r);
    assert_int_equal(trs_tri_import(&ctx, &a, &t), TRS_OK);
    counter memory = {0};
    trs_context poor = {.mem = counted_memory(&memory)};
    int rc = TRS_EMEM;
    bool refused = true;
    for (long allowed = 0; refused; allowed++) {
        assert_true(allowed < 1000);
        memory = (counter){.fail_at = allowed};
        rc = make_supernodes(&poor, &t, &s);
        if (!rc) trs_supernodes_free(&poor, &s);
        assert_int_equal(memory.live, 0);
        refused = was_refused(&memory);
        assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
    }
    assert_int_equal(rc, TRS_OK);
    trs_tri_free(&ctx, &t);
    mat_free(&a);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),     cmocka_unit_test(test_dags),
        cmocka_unit_test(test_full),         cmocka_unit_test(test_fused_rows),
        cmocka_unit_test(test_factor),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_late_columns), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
