/* dags.c: triangles that are awkward for solvers in which rows wait for one another. */
#include "dags.h"

/* ---- the columns that row i of n waits for, and how many ------------------------------------------------ */

static int span(int from, int to, int *col)
{
    int count = 0;
    for (int j = from < 0 ? 0 : from; j < to; j++) col[count++] = j;
    return count;
}

static int alone(int n, int i, int *col)
{
    (void)n, (void)i, (void)col;
    return 0;
}

static int chain(int n, int i, int *col)
{
    (void)n;
    return span(i - 1, i, col);
}

static int band(int n, int i, int *col)
{
    (void)n;
    return span(i - 5, i, col);
}

static int grid(int n, int i, int *col)
{
    (void)n;
    const int side = 37, above = i >= side ? span(i - side, i - side + 1, col) : 0;
    return above + (i % side ? span(i - 1, i, col + above) : 0);
}

enum { LEVEL = 211 }; /* rows; not a multiple of anything */

/* Whoever comes first in a level waits for whoever comes last in the one before. */
static int mirrored(int n, int i, int *col)
{
    const int j = i / LEVEL * LEVEL - 1 - i % LEVEL;
    (void)n;
    return i < LEVEL ? 0 : span(j, j + 1, col);
}

static int last_of_level(int n, int i, int *col)
{
    const int level = i / LEVEL * LEVEL;
    (void)n;
    return span(level - 1, level, col);
}

/* One row waits for all before it, and all behind it for that row. */
static int hub(int n, int i, int *col)
{
    const int m = n / 2;
    if (i < m) return 0;
    return i == m ? span(0, m, col) : span(m, m + 1, col);
}

/* Some rows at the end wait for all those at the beginning, and for none of each other. */
static int two_levels(int n, int i, int *col)
{
    return i < n - 100 ? 0 : span(0, n - 100, col);
}

static int arrow(int n, int i, int *col)
{
    if (i == 0) return 0;
    return i < n - 60 ? span(0, 1, col) : span(0, i, col);
}

static int triangle(int n, int i, int *col)
{
    const int first = n / 3, last = first + 149;
    if (i < first) return 0;
    return i <= last ? span(first, i, col) : span(last, last + 1, col);
}

static int blocks(int n, int i, int *col)
{
    (void)n;
    return span(i / 50 * 50 - 50, i, col);
}

static int stars(int n, int i, int *col)
{
    const int center = i / 38 * 38;
    (void)n;
    return i > center ? span(center, center + 1, col) : span(center - 37, center, col);
}

/* Some rows are so long that cuda-dataflow makes partial sums of them. */
static int random_rows(int n, int i, int *col)
{
    random_t r = {(uint64_t)i};
    const int most = i % 97 == 96 ? 700 : random_below(&r, 6), count = most < i ? most : i;
    const int start = random_below(&r, i);
    (void)n;
    for (int k = 0; k < count; k++) col[k] = (start + k) % i;
    return count;
}

static int deep_and_wide(int n, int i, int *col)
{
    const int deep = 40, period = 340, first = i / period * period, end = first + deep;
    (void)n;
    if (i == first) return span(first - (period - deep), first, col);
    return i < end ? span(i - 1, i, col) : span(end - 1, end, col);
}

static int late_level(int n, int i, int *col)
{
    const int half = n / 2;
    return i < half ? span(i - 1, i, col) : span(half - 1, half, col);
}

/* Full triangles of 60 rows, each with three times 10 rows that wait for one and the same third of those before. */
static int long_blocks(int n, int i, int *col)
{
    const int full = 60, rows = 10, period = full + 3 * rows, far = 600;
    const int first = i / period * period, block = (i - first - full) / rows;
    (void)n;
    if (i < first + full) return span(first, i, col);
    int count = 0;
    for (int j = first > far ? first - far : 0; j < first; j++)
        if (j % 3 == block) col[count++] = j;
    return count + span(first + full + block * rows, i, col + count);
}

const dag dags[DAGS] = {
    {"nothing but the diagonal", alone},
    {"chain", chain},
    {"band", band},
    {"grid", grid},
    {"mirrored levels", mirrored},
    {"last row of a level", last_of_level},
    {"hub", hub},
    {"two levels", two_levels},
    {"arrow", arrow},
    {"full triangle inside", triangle},
    {"blocks", blocks},
    {"stars", stars},
    {"random with long rows", random_rows},
    {"deep and wide", deep_and_wide},
    {"late wide level", late_level},
    {"long narrow blocks", long_blocks},
};

/* ---- as a matrix ------------------------------------------------------------------------------------------ */

model model_of(const dag *d, int n, bool is_complex, random_t *r)
{
    model m = {.n = n};
    int *col = malloc((size_t)n * sizeof *col);
    assert_non_null(col);
    for (int i = 0; i < n; i++) {
        const int count = d->waits(n, i, col);
        for (int k = 0; k < count; k++) {
            const zz v = random_uniform(r) + (is_complex ? random_uniform(r) * I : 0);
            model_add(&m, i, col[k], v / (2 * count));
        }
        model_add(&m, i, i, random_below(r, 2) ? 1.5 + random_uniform(r) / 2 : -2);
    }
    free(col);
    return m;
}
