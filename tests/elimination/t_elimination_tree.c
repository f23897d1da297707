/* t_elimination_tree.c: the elimination tree and the counts of columns are those of boolean elimination of a full matrix. */
#include "tests/common/model.h"

#include "elimination/elimination_tree.h"

enum { MOST = 40 };

typedef struct graph {
    int n;
    bool in[MOST][MOST]; /* symmetric */
} graph;

/* Neighbours on both sides in random order, some of them twice, some rows with themselves. */
static int32_t *list(const graph *a, random_t *r, int64_t *ptr)
{
    int32_t *adj = zeroed(2 * MOST * MOST, sizeof *adj);
    int64_t q = 0;
    for (int k = 0; k < a->n; k++) {
        int64_t *order = random_order(a->n, r);
        ptr[k] = q;
        for (int t = 0; t < a->n; t++) {
            const int i = (int)order[t];
            const bool shown = i == k ? random_below(r, 2) : a->in[i][k];
            if (shown) adj[q++] = i;
            if (shown && random_below(r, 3) == 0) adj[q++] = i;
        }
        free(order);
    }
    ptr[a->n] = q;
    return adj;
}

/* The factor's pattern, in place. */
static void eliminate(graph *a)
{
    for (int k = 0; k < a->n; k++)
        for (int i = k + 1; i < a->n; i++)
            for (int j = k + 1; j < a->n; j++)
                if (a->in[i][k] && a->in[j][k]) a->in[i][j] = a->in[j][i] = true;
}

static void check(const graph *shown, random_t *r)
{
    const int n = shown->n;
    graph a = *shown;
    int64_t ptr[MOST + 1];
    int32_t parent[MOST], count[MOST], scratch[5 * MOST];
    int32_t *adj = list(&a, r, ptr);
    trs_elimination_tree(n, ptr, adj, parent, scratch);
    trs_column_counts(n, ptr, adj, parent, count, scratch);
    eliminate(&a);
    for (int k = 0; k < n; k++) {
        int first = -1, entries = 0;
        for (int i = n - 1; i > k; i--)
            if (a.in[i][k]) first = i, entries++;
        assert_int_equal(parent[k], first);
        assert_int_equal(count[k], entries);
    }
    free(adj);
}

static void random_patterns(void **state)
{
    (void)state;
    random_t r = {41};
    for (int turn = 0; turn < 3000; turn++) {
        graph a = {.n = random_below(&r, MOST + 1)};
        const int few = 1 + random_below(&r, 20);
        for (int i = 0; i < a.n; i++)
            for (int j = 0; j < i; j++) a.in[i][j] = a.in[j][i] = random_below(&r, few) == 0;
        check(&a, &r);
    }
}

/* A chain, a star with its centre first and last, a full matrix, and a grid. */
static void known_patterns(void **state)
{
    (void)state;
    random_t r = {42};
    for (int kind = 0; kind < 5; kind++) {
        graph a = {.n = 36};
        for (int i = 0; i < a.n; i++)
            for (int j = 0; j < i; j++) {
                const bool grid = i - j == 6 || (i - j == 1 && i % 6 > 0);
                const bool is[] = {i - j == 1, j == 0, i == a.n - 1, true, grid};
                a.in[i][j] = a.in[j][i] = is[kind];
            }
        check(&a, &r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(known_patterns),
    };
    return cmocka_run_group_tests_name("elimination_tree", tests, NULL, NULL);
}
