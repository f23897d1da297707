/* many.c: nodes with several right-hand sides, as rows of one or two lines: X is [n][lanes] in scratch.
 *
 * A tile is multiplied by X some of its rows at a time (scatter), or of its columns (gather): each number of the tile
 * is used for all right-hand sides, each vector of X for several rows, so that there are two multiply-adds or more for a load.
 * Values are read once for two lines of right-hand sides: bound by arithmetic where lists are long, else by the rows of X
 * that lists read and write. */
#ifndef T

#include "config.h"

#include "supernodal.h"

#include "base/debug.h"

#include <string.h>

enum { FROM_X = 1, TO_X = 2 }; /* copies of the rows of a node */

#define TRS_BODY "solvers/supernodal/many.c"
#include "base/each_width.h"

const kernels *const supernodal_many[2][4] = TRS_PER_WIDTH(&many);

#else

#include "tiles.h"

enum { FN(MOST) = 2 * FN(PARTS) }; /* vectors of a row of X, at most */

/* Rows, or columns, of a tile at a time.  Each has a sum for each vector, with complex numbers two.  Of the 16 registers of AVX2
 * eight sums leave enough for operands, and they keep a core busy. */
TRS_INLINE int FN(block)(int vectors)
{
    return FN(PARTS) == 1 ? 4 : 8 / (IS_COMPLEX + 1) / vectors;
}

/* ---- rows of X, of so many vectors ---------------------------------------------------------------- */

typedef struct FN(sums) {
    FN(pair) of[4][FN(MOST)];
} FN(sums);

/* s += a x, with complex numbers as p = re (a) x and q = im (a) x. */
TRS_INLINE void FN(accumulate)(FN(pair) * s, T a, const T *x, int vectors)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        const FN(vector) row = FN(load)(x + v * FN(LANES));
#if IS_COMPLEX
        s[v].p += row * creal(a);
        s[v].q += row * cimag(a);
#else
        s[v].p += row * a;
#endif
    }
}

/* p + i q, or p - i q, for the conjugate of a. */
TRS_INLINE FN(vector) FN(summed)(FN(pair) s, bool conj)
{
#if IS_COMPLEX
    return s.p + FN(turned)(s.q) * (conj ? FN(signs)(1, -1) : FN(signs)(-1, 1));
#else
    (void)conj;
    return s.p;
#endif
}

TRS_INLINE void FN(clear)(FN(pair) * s, int vectors)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) s[v] = (FN(pair)){{0}, {0}};
}

TRS_INLINE void FN(subtract_row)(T *x, const FN(pair) * s, int vectors, bool conj)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        FN(store)(x + v * FN(LANES), FN(load)(x + v * FN(LANES)) - FN(summed)(s[v], conj));
}

TRS_INLINE void FN(put_row)(T *x, const FN(pair) * s, int vectors, bool conj)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) FN(store)(x + v * FN(LANES), FN(summed)(s[v], conj));
}

/* x = x / d where d has no normal inverse. */
static __attribute__((cold, noinline)) void FN(divide_row)(T *x, T d, int vectors)
{
    for (int l = 0; l < vectors * FN(LANES); l++) x[l] = FN(quotient)(x[l], d);
}

TRS_INLINE void FN(scale_row)(T *x, T by, int vectors)
{
    FN(pair) s[FN(MOST)];
    FN(clear)(s, vectors);
    FN(accumulate)(s, by, x, vectors);
    FN(put_row)(x, s, vectors, false);
}

static inline T *FN(row_at)(const solving *s, int32_t number)
{
    return (T *)s->x + (int64_t)number * s->lanes;
}

/* The rows of a node are in the opposite order in memory of a reversed operator. */
TRS_INLINE void FN(take_rows)(const solving *s, const node *k, T *t, int vectors)
{
    const int64_t step = s->d->reversed ? -s->lanes : s->lanes;
    const T *x = FN(row_at)(s, in_memory(s->d, k->first));
    for (int32_t i = 0; i < k->width; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            FN(store)(t + (i * vectors + v) * FN(LANES), FN(load)(x + i * step + v * FN(LANES)));
}

TRS_INLINE void FN(give_rows)(const solving *s, const node *k, const T *t, int vectors)
{
    const int64_t step = s->d->reversed ? -s->lanes : s->lanes;
    T *x = FN(row_at)(s, in_memory(s->d, k->first));
    for (int32_t i = 0; i < k->width; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            FN(store)(x + i * step + v * FN(LANES), FN(load)(t + (i * vectors + v) * FN(LANES)));
}

/* ---- tiles ---------------------------------------------------------------------------------------- */

/* s = rows row .. row+BLOCK-1 of a tile times t. */
TRS_INLINE void FN(tile_times)(const T *tile, int32_t columns, int row, const T *t, int vectors,
                               FN(sums) * s)
{
#pragma GCC unroll 4
    for (int r = 0; r < FN(block)(vectors); r++) FN(clear)(s->of[r], vectors);
    for (int32_t k = 0; k < columns; k++) {
        TRS_PREFETCH(tile + k * FN(LINE) + FN(AHEAD));
#pragma GCC unroll 4
        for (int r = 0; r < FN(block)(vectors); r++) FN(accumulate)
        (s->of[r], tile[k * FN(LINE) + row + r], t + k * vectors * FN(LANES), vectors);
    }
}

static __attribute__((cold, noinline)) void FN(substitute)(const T *a, int32_t columns, T *t,
                                                           int vectors, bool cj)
{
    const int lanes = vectors * FN(LANES);
    for (int32_t k = 0; k < columns; k++) {
        const T *column = a + k * FN(LINE);
        for (int l = 0; l < lanes; l++)
            t[k * lanes + l] = FN(divide)(t[k * lanes + l], cj ? CONJ(column[k]) : column[k]);
        for (int32_t i = k + 1; i < columns; i++)
            for (int l = 0; l < lanes; l++)
                t[i * lanes + l] -= (cj ? CONJ(column[i]) : column[i]) * t[k * lanes + l];
    }
}

/* t = M t, a strip of it. */
TRS_INLINE void FN(apply)(const T *inverse, int32_t columns, T *t, int vectors, bool cj)
{
    T to[FN(LINE) * FN(MOST) * FN(LANES)];
    const int lanes = vectors * FN(LANES);
    FN(sums) s;
    for (int row = 0; row < columns; row += FN(block)(vectors)) {
        const int32_t most =
            row + FN(block)(vectors) < columns ? row + FN(block)(vectors) : columns;
        FN(tile_times)(inverse, most, row, t, vectors, &s);
#pragma GCC unroll 4
        for (int r = 0; r < FN(block)(vectors); r++)
            FN(put_row)(to + (row + r) * lanes, s.of[r], vectors, cj);
    }
    memcpy(t, to, (size_t)(columns * lanes) * sizeof *t);
}

/* t = D^-1 t; t has room for whole tiles. */
TRS_INLINE void FN(solve_diagonal)(const node *k, const T *value, T *t, int vectors, bool cj)
{
    const int lanes = vectors * FN(LANES);
    FN(sums) s;
    for (int32_t j = 0; j < k->width; j += FN(LINE)) {
        const int32_t columns = k->width - j < FN(LINE) ? k->width - j : FN(LINE);
        if (k->substituted >> (j / FN(LINE)) & 1)
            FN(substitute)(value, columns, t + j * lanes, vectors, cj);
        else FN(apply)(value, columns, t + j * lanes, vectors, cj);
        value += FN(LINE) * columns;
        for (int32_t i = j + FN(LINE); i < k->width; i += FN(LINE)) {
            for (int row = 0; row < FN(LINE) && i + row < k->width; row += FN(block)(vectors)) {
                FN(tile_times)(value, columns, row, t + j * lanes, vectors, &s);
#pragma GCC unroll 4
                for (int r = 0; r < FN(block)(vectors); r++)
                    FN(subtract_row)(t + (i + row + r) * lanes, s.of[r], vectors, cj);
            }
            value += FN(LINE) * columns;
        }
    }
}

/* t = D^-1 t, where t is read from x before, or written to it afterwards. */
TRS_INLINE void FN(solve_some)(const solving *s, const node *k, T *t, int copies, int vectors)
{
    if (copies & FROM_X) FN(take_rows)(s, k, t, vectors);
    FN(solve_diagonal)(k, (const T *)s->d->value + k->value, t, vectors, s->conj);
    if (copies & TO_X) FN(give_rows)(s, k, t, vectors);
}

/* Where tile number `tile` of the list begins. */
static inline const T *FN(tile_at)(const solving *s, const node *k, int32_t tile)
{
    return (const T *)s->d->value + k->value + diagonal_numbers(k->width, FN(LINE)) +
           (int64_t)tile * FN(LINE) * k->width;
}

/* ---- scatter -------------------------------------------------------------------------------------- */

TRS_INLINE void FN(spread_tiles)(const solving *s, const node *k, int32_t begin, int32_t end,
                                 const T *t, T *sum, int vectors)
{
    const int32_t *list = s->d->list + k->list;
    const T *tile = FN(tile_at)(s, k, begin);
    FN(sums) a;
    for (int32_t e = begin * FN(LINE); e < end * FN(LINE); e += FN(LINE)) {
        for (int row = 0; row < FN(LINE) && e + row < k->rows; row += FN(block)(vectors)) {
            FN(tile_times)(tile, k->width, row, t, vectors, &a);
            for (int r = 0; r < FN(block)(vectors) && e + row + r < k->rows; r++) {
                const int32_t number = list[e + row + r];
                T *to =
                    e + row + r < k->own ? FN(row_at)(s, number) : sum + (int64_t)number * s->lanes;
                FN(subtract_row)(to, a.of[r], vectors, s->conj);
            }
        }
        tile += FN(LINE) * k->width;
    }
}

/* ---- sparse rows ---------------------------------------------------------------------------------- */

/* s = a sparse row times X, whose column c is row c of x, or row -c; columns are narrow, or wide, the other is NULL. */
TRS_INLINE void FN(sparse)(const T *value, const uint16_t *narrow, const int32_t *wide,
                           int64_t count, const T *x, int64_t step, int vectors, FN(pair) * s)
{
    FN(pair) odd[FN(MOST)];
    int64_t e = 0;
    FN(clear)(s, vectors);
    FN(clear)(odd, vectors);
    for (; e + 1 < count; e += 2) {
        FN(accumulate)(s, value[e], x + (narrow ? narrow[e] : wide[e]) * step, vectors);
        FN(accumulate)
        (odd, value[e + 1], x + (narrow ? narrow[e + 1] : wide[e + 1]) * step, vectors);
    }
    if (e < count) FN(accumulate)(s, value[e], x + (narrow ? narrow[e] : wide[e]) * step, vectors);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        s[v].p += odd[v].p;
#if IS_COMPLEX
        s[v].q += odd[v].q;
#endif
    }
}

TRS_INLINE void FN(scatter_leaf)(const solving *s, const node *k, T *sum, int vectors)
{
    const supernodal *d = s->d;
    const uint16_t *count = d->count + k->count, *column = d->column + k->entry;
    const T *value = (const T *)d->value + k->value;
    const int32_t *list = d->list + k->list;
    const int64_t step = d->reversed ? -s->lanes : s->lanes;
    T *x = FN(row_at)(s, in_memory(d, k->first));
    FN(pair) a[FN(MOST)];
    for (int32_t i = 0; i < k->width; i++, count++) {
        TRS_PREFETCH(value + FN(AHEAD));
        FN(sparse)(value, column, NULL, *count, x, step, vectors, a);
        value += *count, column += *count;
        FN(subtract_row)(x + i * step, a, vectors, s->conj);
        const T by = s->conj ? CONJ(*value) : *value;
        if (k->substituted) FN(divide_row)(x + i * step, by, vectors);
        else FN(scale_row)(x + i * step, by, vectors);
        value++;
    }
    for (int32_t e = 0; e < k->rows; e++, count++) {
        TRS_PREFETCH(value + FN(AHEAD));
        FN(sparse)(value, column, NULL, *count, x, step, vectors, a);
        value += *count, column += *count;
        FN(subtract_row)
        ((e < k->own ? (T *)s->x : sum) + (int64_t)list[e] * s->lanes, a, vectors, s->conj);
    }
}

TRS_INLINE void FN(gather_leaf)(const solving *s, const node *k, int vectors)
{
    const trs_tri *L = s->L;
    const T *Lx = L->val;
    const int64_t step = s->d->reversed ? -s->lanes : s->lanes;
    T *x = FN(row_at)(s, in_memory(s->d, 0));
    FN(pair) a[FN(MOST)];
    for (int64_t i = k->first; i < k->first + k->width; i++) {
        const int64_t p = L->ptr[i], diagonal = L->ptr[i + 1] - 1;
        TRS_PREFETCH(Lx + p + FN(AHEAD));
        FN(sparse)(Lx + p, NULL, L->idx + p, diagonal - p, x, step, vectors, a);
        FN(subtract_row)(x + i * step, a, vectors, s->conj);
        const T by = s->conj ? CONJ(Lx[diagonal]) : Lx[diagonal], inverse = 1 / by;
        if (NORMAL(inverse)) FN(scale_row)(x + i * step, inverse, vectors);
        else FN(divide_row)(x + i * step, by, vectors);
    }
}

/* ---- gather --------------------------------------------------------------------------------------- */

/* Columns column .. column+columns-1 of a tile, columns <= BLOCK, times its rows of X; total is subtracted from. */
TRS_INLINE void FN(gather_columns)(const solving *s, const T *tile, const int32_t *list,
                                   int32_t rows, int columns, T *total, int vectors)
{
    FN(sums) a;
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) FN(clear)(a.of[c], vectors);
    for (int32_t l = 0; l < rows; l++) {
        const T *x = FN(row_at)(s, list[l]);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++)
            FN(accumulate)(a.of[c], tile[c * FN(LINE) + l], x, vectors);
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++)
        FN(subtract_row)(total + c * vectors * FN(LANES), a.of[c], vectors, s->conj);
}

/* total -= tiles begin .. end-1 times X.  from_x: it is set to the rows of the node before. */
TRS_INLINE void FN(collect_tiles)(const solving *s, const node *k, int32_t begin, int32_t end,
                                  T *total, bool from_x, int vectors)
{
    const int32_t *list = s->d->list + k->list;
    const T *tile = FN(tile_at)(s, k, begin);
    const int lanes = vectors * FN(LANES);
    if (from_x) FN(take_rows)(s, k, total, vectors);
    for (int32_t e = begin * FN(LINE); e < end * FN(LINE); e += FN(LINE)) {
        const int32_t rows = k->rows - e < FN(LINE) ? k->rows - e : FN(LINE);
        int32_t c = 0;
        for (; c + FN(block)(vectors) <= k->width; c += FN(block)(vectors)) {
            TRS_PREFETCH(tile + c * FN(LINE) + FN(AHEAD));
            TRS_PREFETCH(tile + (c + 2) * FN(LINE) + FN(AHEAD));
            FN(gather_columns)
            (s, tile + c * FN(LINE), list + e, rows, FN(block)(vectors), total + c * lanes,
             vectors);
        }
        for (; c < k->width; c++) FN(gather_columns)
        (s, tile + c * FN(LINE), list + e, rows, 1, total + c * lanes, vectors);
        tile += FN(LINE) * k->width;
    }
}

/* ---- functions for one line and for two ---------------------------------------------------------- */

#define FOR_VECTORS(s, call, ...)                                                                  \
    do {                                                                                           \
        if ((s)->lanes == FN(LINE)) call(__VA_ARGS__, FN(PARTS));                                  \
        else call(__VA_ARGS__, FN(MOST));                                                          \
    } while (0)

enum { FN(ROOM) = (WIDTH + FN(LINE)) * FN(MOST) * FN(LANES) }; /* of t */

static WIDTH_CLONES void FN(solve_rows)(const solving *s, const node *k, T *t, int copies)
{
    FOR_VECTORS(s, FN(solve_some), s, k, t, copies);
}

static WIDTH_CLONES void FN(scatter_rows)(const solving *s, const node *k, int32_t begin,
                                          int32_t end, const T *t, T *sum)
{
    FOR_VECTORS(s, FN(spread_tiles), s, k, begin, end, t, sum);
}

static WIDTH_CLONES void FN(collect_rows)(const solving *s, const node *k, int32_t begin,
                                          int32_t end, T *total, bool from_x)
{
    FOR_VECTORS(s, FN(collect_tiles), s, k, begin, end, total, from_x);
}

static WIDTH_CLONES void FN(leaf)(const solving *s, const node *k, T *sum)
{
    if (s->d->gather) FOR_VECTORS(s, FN(gather_leaf), s, k);
    else FOR_VECTORS(s, FN(scatter_leaf), s, k, sum);
}

#undef FOR_VECTORS

/* ---- nodes ---------------------------------------------------------------------------------------- */

static void FN(scatter)(const solving *s, const node *k, T *sum)
{
    T t[FN(ROOM)];
    FN(solve_rows)(s, k, t, FROM_X | TO_X);
    FN(scatter_rows)(s, k, 0, tiles_of(k->rows, FN(LINE)), t, sum);
}

static void FN(gather)(const solving *s, const node *k)
{
    T t[FN(ROOM)];
    FN(collect_rows)(s, k, 0, tiles_of(k->rows, FN(LINE)), t, true);
    FN(solve_rows)(s, k, t, TO_X);
}

static void FN(run)(const solving *s, const int32_t *nodes, int32_t count, void *sum)
{
    for (int32_t q = 0; q < count; q++) {
        const node *k = &s->d->node[nodes[q]];
        if (k->leaf) FN(leaf)(s, k, sum);
        else if (s->d->gather) FN(gather)(s, k);
        else FN(scatter)(s, k, sum);
    }
}

/* b is x. */
static void FN(take)(const solving *s, const int32_t *nodes, int32_t count)
{
    TRS_ASSERT(s->b == s->x);
    (void)s, (void)nodes, (void)count;
}

static void FN(join)(const solving *s, int32_t begin, int32_t end)
{
    const supernodal *d = s->d;
    for (int32_t k = begin; k < end; k++) {
        T *x = FN(row_at)(s, d->top[k]);
        for (int w = 0; w < d->workers; w++) {
            const T *sum = (const T *)s->sum + ((int64_t)w * d->tops + k) * s->lanes;
            for (int l = 0; l < s->lanes; l++) x[l] += sum[l];
        }
    }
}

/* ---- nodes that are shared ------------------------------------------------------------------------ */

static void FN(spread)(const solving *s, const node *k, int32_t begin, int32_t end, void *held)
{
    FN(solve_rows)(s, k, held, FROM_X);
    FN(scatter_rows)(s, k, begin, end, held, s->x);
}

static void FN(keep)(const solving *s, const node *k, const void *held)
{
    FN(give_rows)(s, k, held, s->lanes / FN(LANES));
}

static void FN(collect)(const solving *s, const node *k, int32_t begin, int32_t end, void *part)
{
    memset(part, 0, (size_t)k->width * (size_t)s->lanes * sizeof(T));
    FN(collect_rows)(s, k, begin, end, part, false);
}

/* The parts have been subtracted from zero. */
static void FN(finish)(const solving *s, const node *k)
{
    T t[FN(ROOM)];
    const T *part = (const T *)s->part;
    FN(collect_rows)(s, k, 0, 0, t, true);
    for (int w = 0; w < k->shares; w++, part += WIDTH * s->lanes)
        for (int32_t c = 0; c < k->width * s->lanes; c++) t[c] += part[c];
    FN(solve_rows)(s, k, t, TO_X);
}

static const kernels FN(many) = {FN(run),  FN(take),    FN(join),  FN(spread),
                                 FN(keep), FN(collect), FN(finish)};

#endif
