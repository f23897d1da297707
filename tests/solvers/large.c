/* large.c: the patterns of large triangles; see large.h. */
#include "large.h"

/* The columns of row i below the diagonal, in any order; twice the same: it is stored once. */
typedef int (*columns_fn)(int i, int *column, random_t *r);

enum {
    GRID = 35,
    GRID_ROWS = GRID * GRID * GRID,
    ROWS = 60000,
    TOP = 500, /* rows of a dense top, and rows in each of the branches below it */
    BRANCH = 375,
    TOP_BEGINS = 4 * BRANCH,
    MOST_COLUMNS = TOP_BEGINS + TOP
};

static int scattered(int i, int *column, random_t *r)
{
    const int count = i < 12 ? i : 12;
    for (int k = 0; k < count; k++) column[k] = random_below(r, i);
    return count;
}

/* 27 points of a grid in three dimensions */
static int grid(int i, int *column, random_t *r)
{
    const int x = i % GRID, y = i / GRID % GRID, z = i / (GRID * GRID);
    int count = 0;
    (void)r;
    for (int k = 0; k < 13; k++) {
        const int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
        if (u >= 0 && v >= 0 && w >= 0 && u < GRID && v < GRID && w < GRID)
            column[count++] = (w * GRID + v) * GRID + u;
    }
    return count;
}

/* Dense blocks that wait for one column each of eight earlier ones. */
static int blocks(int i, int *column, random_t *r)
{
    enum { ROWS_EACH = 32 };
    const int first = i / ROWS_EACH * ROWS_EACH;
    int count = 0;
    (void)r;
    for (int k = first; k < i; k++) column[count++] = k;
    for (int k = 1; k <= 8 && first > 0; k++) column[count++] = (int)((int64_t)first * k * k / 65);
    return count;
}

/* A factor of a matrix that is dissected: branches of dense blocks that do not know of one another, and a dense top, whose
 * supernodes are so large that threads share each of them.  The columns of a block of a branch are alike, rows of the top are
 * not: cpu-supernodal goes by columns for N, and by rows for T. */
static int top(int i, int *column, random_t *r)
{
    enum { ROWS_EACH = 25 };
    const int branch = i / BRANCH * BRANCH, before = i / ROWS_EACH * ROWS_EACH - ROWS_EACH;
    int first = before > branch ? before : branch, count = 0;
    (void)r;
    if (i >= TOP_BEGINS) first = 0;
    for (int k = first; k < i; k++)
        if (i < TOP_BEGINS || k >= TOP_BEGINS || (i + k / ROWS_EACH) % 3) column[count++] = k;
    return count;
}

static const columns_fn columns[LARGE_PATTERNS] = {scattered, grid, blocks, top};
static const int rows[LARGE_PATTERNS] = {ROWS, GRID_ROWS, ROWS / 2, TOP_BEGINS + TOP};
const char *const large_name[LARGE_PATTERNS] = {"scattered", "grid", "blocks", "top"};

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

large large_new(int shape)
{
    random_t r = {1};
    large t = {.n = rows[shape]};
    t.ptr = zeroed(t.n + 1, sizeof *t.ptr);
    int64_t room = 0;
    for (int i = 0; i < t.n; i++) {
        int column[MOST_COLUMNS];
        const int count = columns[shape](i, column, &r);
        if (t.nnz + count >= room) {
            room = 2 * room + count + 1;
            t.idx = realloc(t.idx, (size_t)room * sizeof *t.idx);
            assert_non_null(t.idx);
        }
        qsort(column, (size_t)count, sizeof *column, compare);
        for (int k = 0; k < count; k++)
            if (k == 0 || column[k] != column[k - 1]) t.idx[t.nnz++] = column[k];
        t.idx[t.nnz++] = i;
        t.ptr[i + 1] = t.nnz;
    }
    assert_true(t.nnz >= TRS_SHARED_FROM);
    return t;
}

void large_free(large *t)
{
    free(t->ptr);
    free(t->idx);
}
