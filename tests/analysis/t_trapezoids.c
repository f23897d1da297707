/* t_trapezoids.c: fundamental and relaxed supernodes are those of their definitions (trapezoids.h, relaxation.c), found in a
 * full matrix of flags. */
#include "tests/common/dags.h"
#include "analysis/trapezoids.h"

#include <limits.h>

typedef struct reference { /* supernodes; below [n*k + i]: row i is below supernode k */
    int n, count;
    trs_columns *set;
    char *below;
} reference;

/* a [i + n*j]: A has an entry (i, j). */
static char *flags_of(const trs_tri *L, bool by_rows)
{
    const int n = L->n;
    char *a = calloc((size_t)n * (size_t)n + 1, 1);
    assert_non_null(a);
    for (int i = 0; i < n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) {
            const int64_t j = L->idx[p];
            a[by_rows ? n - 1 - j + (int64_t)n * (n - 1 - i) : i + n * j] = 1;
        }
    return a;
}

static int64_t count_below(const reference *r, int k, int from)
{
    int64_t count = 0;
    for (int i = from; i < r->n; i++) count += r->below[(int64_t)r->n * k + i];
    return count;
}

/* Columns whose entries below are in the same rows. */
static reference find_fundamental(const char *a, int n)
{
    reference r = {n, 0, calloc((size_t)n + 1, sizeof *r.set),
                   calloc((size_t)n * (size_t)n + 1, 1)};
    assert_true(r.set && r.below);
    for (int j = 0; j < n; j++) {
        const char *column = a + (int64_t)n * j;
        if (j == 0 || memcmp(column - n + j, column + j, (size_t)(n - j)) != 0)
            r.set[r.count++].first = j;
        r.set[r.count - 1].end = j + 1;
        memset(r.below + (int64_t)n * (r.count - 1), 0, (size_t)j + 1);
        memcpy(r.below + (int64_t)n * (r.count - 1) + j + 1, column + j + 1, (size_t)(n - j - 1));
    }
    for (int k = 0; k < r.count; k++)
        r.set[k].entries =
            trs_trapezoid(r.set[k].end - r.set[k].first, count_below(&r, k, r.set[k].end));
    return r;
}

/* Merge supernode k with k-1, if that is allowed. */
static bool merge(reference *r, int k, const trs_fill_limit *limit)
{
    trs_columns *p = &r->set[k - 1];
    const trs_columns *q = &r->set[k];
    char *p_below = r->below + (int64_t)r->n * (k - 1);
    const char *q_below = p_below + r->n;
    const int width = q->end - p->first;
    const double entries = (double)(p->entries + q->entries);
    int percent = limit->percent[3], below = 0, common = 0;
    for (int w = 2; w >= 0; w--)
        if (width <= 8 << w) percent = limit->percent[w];
    for (int i = q->first; i < q->end; i++) common += p_below[i];
    for (int i = q->end; i < r->n; i++) below += p_below[i] || q_below[i];
    const double fill = (double)trs_trapezoid(width, below) - entries;
    if ((!common && width > 8) || fill > percent / 100.0 * entries * (1 + 1e-12)) return false;
    *p = (trs_columns){.first = p->first, .end = q->end, .entries = p->entries + q->entries};
    for (int i = 0; i < r->n; i++) p_below[i] = i >= q->end && (p_below[i] || q_below[i]);
    return true;
}

/* The supernode with the first row below k, which is its parent; count: none. */
static int parent(const reference *r, int k)
{
    int i = r->set[k].end, up = k + 1;
    while (i < r->n && !r->below[(int64_t)r->n * k + i]) i++;
    while (up < r->count && r->set[up].end <= i) up++;
    return up;
}

/* Where the subtree of each supernode begins, if that is one of the largest of up to `most` columns; -1: it is not. */
static void find_merged(const reference *r, int most, int *from)
{
    int *up = calloc((size_t)r->count + 1, sizeof *up),
        *columns = calloc((size_t)r->count + 1, sizeof *up);
    assert_true(up && columns);
    for (int k = 0; k < r->count; k++) up[k] = parent(r, k), from[k] = r->n;
    for (int k = 0; k < r->count; k++)
        for (int a = k; a < r->count; a = up[a]) {
            columns[a] += r->set[k].end - r->set[k].first;
            if (r->set[k].first < from[a]) from[a] = r->set[k].first;
        }
    columns[r->count] = INT_MAX; /* the whole forest is no subtree */
    for (int k = 0; k < r->count; k++)
        if (columns[k] > most || columns[up[k]] <= most || r->set[k].end - from[k] != columns[k])
            from[k] = -1;
    free(up), free(columns);
}

/* The last supernode and that before it become one, whatever the fill. */
static void join_last(reference *r)
{
    trs_columns *p = &r->set[r->count - 2];
    char *p_below = r->below + (int64_t)r->n * (r->count - 2);
    p->end = p[1].end;
    for (int i = 0; i < r->n; i++) p_below[i] = i >= p->end && (p_below[i] || p_below[r->n + i]);
    r->count--;
}

/* One after the other is merged with those before it. */
static void relax(reference *r, const trs_fill_limit *limit)
{
    const int count = r->count;
    int *from = calloc((size_t)count + 1, sizeof *from);
    assert_non_null(from);
    find_merged(r, limit->subtree, from);
    r->count = 0;
    for (int k = 0; k < count; k++) {
        const int to = r->count++;
        r->set[to] = r->set[k];
        memmove(r->below + (int64_t)r->n * to, r->below + (int64_t)r->n * k, (size_t)r->n);
        while (from[k] >= 0 && r->count > 1 && r->set[r->count - 2].first >= from[k]) join_last(r);
        trs_columns *last = &r->set[r->count - 1];
        if (from[k] >= 0)
            last->entries =
                trs_trapezoid(last->end - last->first, count_below(r, r->count - 1, last->end));
        while (r->count > 1 && merge(r, r->count - 1, limit)) r->count--;
    }
    free(from);
}

static void assert_same(const trs_supernode_set *s, const reference *r)
{
    char *below = malloc((size_t)r->n + 1);
    assert_non_null(below);
    assert_int_equal(s->count, r->count);
    for (int k = 0; k < s->count; k++) {
        const trs_columns *g = &s->supernode[k];
        assert_int_equal(g->first, r->set[k].first);
        assert_int_equal(g->end, r->set[k].end);
        assert_int_equal(g->entries, r->set[k].entries);
        assert_int_equal(g->below, count_below(r, k, 0));
        memset(below, 0, (size_t)r->n);
        for (int q = 0; q < g->runs; q++) {
            const trs_run *run = &s->run[g->from + q];
            assert_true(run->begin < run->end && (q == 0 || run[-1].end <= run->begin));
            memset(below + run->begin, 1, (size_t)(run->end - run->begin));
        }
        assert_memory_equal(below, r->below + (int64_t)r->n * k, (size_t)r->n);
        for (int j = g->first; j < g->end; j++) assert_int_equal(s->of_column[j], k);
    }
    free(below);
}

static int relaxed_less; /* triangles of which some supernodes were merged, and some not */
static int by_subtrees;  /* supernodes that merging subtrees alone has made fewer */

static void compare(const trs_tri *L, int threads)
{
    static const trs_fill_limit limits[] = {{.percent = {500, 200, 40, 10}},
                                            {.percent = {0}},
                                            {.percent = {30, 30, 30, 30}},
                                            {.percent = {1000, 600, 200, 40}, .subtree = 128},
                                            {.percent = {0}, .subtree = 20}};
    trs_context ctx = {.threads = threads};
    trs_fundamental f;
    trs_supernode_set s;
    assert_int_equal(trs_fundamental_make(&ctx, L, &f), TRS_OK);
    char *a = flags_of(L, f.by_rows);
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        reference r = find_fundamental(a, L->n);
        assert_same(&f.set, &r);
        relax(&r, &limits[k]);
        assert_int_equal(trs_relax(&ctx, &f, &limits[k], &s), TRS_OK);
        assert_same(&s, &r);
        relaxed_less += s.count > 1 && s.count < f.set.count;
        if (limits[k].percent[0] == 0) by_subtrees += limits[k].subtree ? -s.count : s.count;
        trs_supernode_set_free(&ctx, &s);
        free(r.set), free(r.below);
    }
    free(a);
    trs_fundamental_free(&ctx, &f);
}

static void compare_model(model m)
{
    trs_context ctx = {0};
    trs_tri t, u;
    assert_in_range(m.n, 0, 2047); /* one range of columns: beyond, ranges are merged apart */
    model_triangles(&ctx, &m, &t, &u);
    compare(&t, 1 + m.n % 3);
    compare(&u, 1 + m.n % 3);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

static void test_patterns(void **state)
{
    (void)state;
    for (int p = 0; p < PATTERNS; p++) {
        random_t r = {(uint64_t)p};
        compare_model(model_new((pattern)p, p % 2, true, false, &r));
    }
}

static void test_dags(void **state)
{
    (void)state;
    for (int k = 0; k < DAGS; k++) {
        random_t r = {(uint64_t)k};
        compare_model(model_of(&dags[k], 900, false, &r));
    }
}

/* Blocks of columns that share rows, as factors have them, of all widths up to 40. */
static void test_blocks(void **state)
{
    (void)state;
    for (int trial = 0; trial < 12; trial++) {
        random_t r = {(uint64_t)trial + 1};
        model m = {.n = 300 + trial};
        for (int j = 0, end; j < m.n; j = end) {
            end = j + 1 + random_below(&r, random_below(&r, 4) ? 5 : 40);
            if (end > m.n) end = m.n;
            const int step = 1 + random_below(&r, 20), to = end + random_below(&r, 150);
            for (int c = j; c < end; c++) {
                for (int i = c; i < end; i++) model_add(&m, i, c, 1);
                for (int i = end; i < to && i < m.n; i += step) model_add(&m, i, c, 1);
            }
        }
        compare_model(m);
    }
    assert_true(relaxed_less >= 20);
    assert_true(by_subtrees > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns), cmocka_unit_test(test_dags),
                                       cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
