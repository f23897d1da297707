/* blocks.c: sorts the entries of a triangle into tiles.
 *
 * The entries of a row tile are sorted by columns, which puts them into the right order, and the tiles of one block
 * after those of another.  It is a radix sort, least significant digits first, of a few thousand entries that stay in
 * the cache: O(nnz), by several threads, one row tile each. */
#include "config.h"

#include "base/debug.h"
#include "base/parallel.h"
#include "blocks.h"

#include <string.h>

/* ---- sizes ------------------------------------------------------------------------------------ */

enum {
    MOST_COLUMNS = 16, /* bits of a coordinate */
    LEAST_COLUMNS = 4,
    NEAR_BYTES = 14,     /* a row tile of x, which the first-level cache has room for */
    BLOCKS_A_THREAD = 8, /* so that threads have equal shares */
    ENTRIES_A_TILE = 64  /* on the average at least, if it can be */
};

/* The binary logarithm, rounded down. */
static int log2_of(double a)
{
    int k = 0;
    for (; a >= 2; a /= 2) k++;
    return k;
}

/* How many tiles there are, also empty ones. */
static double tiles_of(int64_t n, int columns, int rows)
{
    return (double)((n >> columns) + 1) * (double)((n >> rows) + 1);
}

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

void trs_blocks_sizes(int64_t n, int64_t nnz, double elem, double cache, int threads, int *columns,
                      int *rows)
{
    int c = at_most(log2_of(cache / 4 / elem), MOST_COLUMNS);
    c = at_most(c, log2_of((double)n / (BLOCKS_A_THREAD * threads)));
    if (c < LEAST_COLUMNS) c = LEAST_COLUMNS;
    for (; nnz >= TRS_SHARED_FROM && (n >> c) * TRS_THIN > nnz && c < MOST_COLUMNS; c++) continue;
    int r = at_most(NEAR_BYTES - log2_of(elem), c - 1);
    for (; r < c - 1 && tiles_of(n, c, r) * ENTRIES_A_TILE > (double)nnz; r++) continue;
    for (; c < MOST_COLUMNS && tiles_of(n, c, r) > (double)nnz; c++, r++) continue;
    *columns = c;
    *rows = r;
}

bool trs_blocks_fit(int64_t longest, int rows)
{
    return longest < (int64_t)1 << (32 - rows);
}

/* ---- how many entries a tile has ---------------------------------------------------------------- */

typedef struct sorting {
    const trs_tri *L;
    trs_blocks *b;
    int bits, passes; /* of a digit; how many digits */
    int64_t most;     /* entries of a row tile */
    char *scratch;    /* of each thread */
    int64_t each;     /* bytes of that */
    atomic_int next;
} sorting;

enum {
    TILES_EACH = 32
}; /* row tiles that a thread counts at a time: their counts stand side by side */

/* The entries of rows are counted with their diagonals, which are taken off their own block afterwards. */
static void count_tiles(void *user, int64_t begin, int64_t end)
{
    const sorting *s = user;
    trs_blocks *b = s->b;
    for (int32_t q = (int32_t)begin; q < end; q++) {
        const int32_t first = trs_first_row(b, q), last = trs_first_row(b, q + 1);
        int64_t *count = b->tile + q;
        for (int32_t j = 0; j < b->blocks; j++) count[(int64_t)j * b->tiles] = 0;
        for (int64_t p = s->L->ptr[first]; p < s->L->ptr[last]; p++)
            count[(int64_t)(s->L->idx[p] >> b->columns) * b->tiles]++;
        count[(int64_t)trs_block_of(b, q) * b->tiles] -= last - first;
    }
}

static void sum_up(trs_blocks *b)
{
    int64_t entries = 0;
    for (int64_t k = 0; k < (int64_t)b->blocks * b->tiles; k++) {
        const int64_t count = b->tile[k];
        b->tile[k] = entries;
        entries += count;
    }
    b->tile[(int64_t)b->blocks * b->tiles] = entries;
}

/* ---- sorting -------------------------------------------------------------------------------------- */

enum { DIGIT = 11 }; /* bits at most */

/* column << 32 | place within the row tile */
static int64_t take_entries(const sorting *s, int32_t q, uint64_t *key, uint16_t *row)
{
    const trs_tri *L = s->L;
    const int32_t first = trs_first_row(s->b, q), last = trs_first_row(s->b, q + 1);
    const int64_t origin = L->ptr[first];
    int64_t count = 0;
    for (int32_t i = first; i < last; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1] - 1; p++) {
            key[count++] = (uint64_t)L->idx[p] << 32 | (uint64_t)(p - origin);
            row[p - origin] = (uint16_t)(i - first);
        }
    return count;
}

/* A stable pass by the digit that begins at bit `shift` of the key. */
static void sort_digit(const uint64_t *from, uint64_t *to, int64_t count, int shift, int bits)
{
    uint32_t begin[1 << DIGIT] = {0}, sum = 0;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (int64_t e = 0; e < count; e++) begin[from[e] >> shift & mask]++;
    for (uint64_t d = 0; d <= mask; d++) {
        const uint32_t here = begin[d];
        begin[d] = sum;
        sum += here;
    }
    for (int64_t e = 0; e < count; e++) to[begin[from[e] >> shift & mask]++] = from[e];
}

static void put_entries(const sorting *s, int32_t q, const uint64_t *key, int64_t count,
                        const uint16_t *row)
{
    trs_blocks *b = s->b;
    const uint32_t mask = ((uint32_t)1 << b->columns) - 1;
    const uint32_t first = (uint32_t)trs_first_row(b, q);
    int64_t e = 0;
    for (int32_t j = 0; j <= trs_block_of(b, q); j++) {
        const int64_t begin = b->tile[(int64_t)j * b->tiles + q];
        const int64_t entries = b->tile[(int64_t)j * b->tiles + q + 1] - begin;
        for (int64_t k = 0; k < entries; k++, e++) {
            const uint32_t column = (uint32_t)(key[e] >> 32), place = (uint32_t)key[e];
            TRS_ASSERT(column >> b->columns == (uint32_t)j);
            b->at[begin + k] = (uint32_t)row[place] << 16 | (column & mask);
            b->place[begin + k] = place;
        }
    }
    TRS_ASSERT(e == count);
    int64_t corner = b->tile[(int64_t)trs_block_of(b, q) * b->tiles + q + 1];
    while (count > 0 && key[--count] >> 32 >= first) corner--;
    b->corner[q] = corner;
}

static void sort_tiles(void *user, int thread, int team)
{
    sorting *s = user;
    uint64_t *key = (uint64_t *)(s->scratch + thread * s->each), *other = key + s->most;
    uint16_t *row = (uint16_t *)(other + s->most);
    (void)team;
    for (int32_t q; (q = atomic_fetch_add(&s->next, 1)) < s->b->tiles;) {
        const int64_t count = take_entries(s, q, key, row);
        uint64_t *from = key, *to = other;
        for (int k = 0; k < s->passes; k++) {
            sort_digit(from, to, count, 32 + k * s->bits, s->bits);
            uint64_t *sorted = to;
            to = from;
            from = sorted;
        }
        put_entries(s, q, from, count, row);
    }
}

static int sort_all(trs_context *ctx, sorting *s)
{
    const trs_blocks *b = s->b;
    const int team = trs_team(ctx, s->L->nnz);
    const int digits = log2_of(b->n) + 1;
    s->passes = (digits + DIGIT - 1) / DIGIT;
    s->bits = (digits + s->passes - 1) / s->passes;
    for (int32_t q = 0; q < b->tiles; q++) {
        const int64_t entries = s->L->ptr[trs_first_row(b, q + 1)] - s->L->ptr[trs_first_row(b, q)];
        if (entries > s->most) s->most = entries;
    }
    s->each = (s->most * 18 + 127) / 128 * 128;
    s->scratch = trs_new(ctx, team, (size_t)s->each, "sorting entries");
    if (!s->scratch) return TRS_EMEM;
    trs_team_run(team, sort_tiles, s);
    trs_free(&ctx->mem, s->scratch);
    return TRS_OK;
}

/* ---- all of it --------------------------------------------------------------------------------- */

int trs_blocks_make(trs_context *ctx, const trs_tri *L, trs_blocks *b)
{
    sorting s = {.L = L, .b = b};
    const int64_t entries = L->nnz - L->n;
    b->n = L->n;
    b->blocks = (int32_t)(((int64_t)L->n + (1 << b->columns) - 1) >> b->columns);
    b->tiles = (int32_t)(((int64_t)L->n + (1 << b->rows) - 1) >> b->rows);
    b->tile = trs_new(ctx, (int64_t)b->blocks * b->tiles + 1, sizeof *b->tile, "tiles");
    b->corner = trs_new(ctx, b->tiles, sizeof *b->corner, "tiles");
    b->at = trs_new_touched(ctx, entries, sizeof *b->at, "coordinates");
    b->place = trs_new_touched(ctx, entries, sizeof *b->place, "places of values");
    if (!b->tile || !b->corner || !b->at || !b->place) return TRS_EMEM;
    trs_share(trs_team(ctx, L->nnz), b->tiles, TILES_EACH, count_tiles, &s);
    sum_up(b);
    TRS_ASSERT(b->tile[(int64_t)b->blocks * b->tiles] == entries);
    return sort_all(ctx, &s);
}

void trs_blocks_free(trs_context *ctx, trs_blocks *b)
{
    trs_free(&ctx->mem, b->tile);
    trs_free(&ctx->mem, b->corner);
    trs_free(&ctx->mem, b->at);
    trs_free(&ctx->mem, b->place);
}
