/* one.c: nodes with one right-hand side, x being contiguous in memory.
 *
 * A core goes through the values of a supernode as they stand, a tile after the other.  A tile of the list adds up in one
 * register (scatter), or in one for each column (gather).  Nodes of at most eight rows, where a loop over columns would take
 * longer than what it does, have machine code for each width.
 *
 * Bytes: a value is read once, 8 bytes in fp64 where CSR has 12, and one index of four bytes for a row of a list.  Bound by
 * memory where supernodes are wide, by the scalar loads and stores of lists where they are narrow. */
#ifndef T

#include "config.h"

#include "supernodal.h"

#include "base/debug.h"

#include <string.h>

#define TRS_BODY "solvers/supernodal/one.c"
#include "base/each_width.h"

const kernels *const supernodal_one[2][4] = TRS_PER_WIDTH(&one);

#else

#include "tiles.h"
#include "solvers/cpu_row.h"

/* Lanes of v in the opposite order. */
TRS_INLINE FN(vector) FN(backwards)(FN(vector) v)
{
    FN(vector) r;
    const int parts = (int)(sizeof(T) / sizeof(REAL)), last = parts * (FN(LANES) - 1);
#pragma GCC unroll 16
    for (int k = 0; k < parts * FN(LANES); k += parts)
        for (int c = 0; c < parts; c++) r[k + c] = v[last - k + c];
    return r;
}

/* t = rows of x, the first one at x, the others behind it, or before it if reversed. */
TRS_INLINE void FN(take_rows)(const T *x, int32_t rows, bool reversed, T *t)
{
    int32_t k = 0;
    for (; k + FN(LANES) <= rows; k += FN(LANES))
        if (reversed) FN(store)(t + k, FN(backwards)(FN(load)(x - k - FN(LANES) + 1)));
        else FN(store)(t + k, FN(load)(x + k));
    for (; k < rows; k++) t[k] = reversed ? x[-k] : x[k];
}

TRS_INLINE void FN(give_rows)(const T *t, int32_t rows, bool reversed, T *x)
{
    int32_t k = 0;
    for (; k + FN(LANES) <= rows; k += FN(LANES))
        if (reversed) FN(store)(x - k - FN(LANES) + 1, FN(backwards)(FN(load)(t + k)));
        else FN(store)(x + k, FN(load)(t + k));
    for (; k < rows; k++)
        if (reversed) x[-k] = t[k];
        else x[k] = t[k];
}

/* ---- the diagonal block of a supernode ------------------------------------------------------------ */

/* t = a^-1 t, a being a block of so many columns. */
static __attribute__((cold, noinline)) void FN(substitute)(const T *a, int32_t columns, T *t,
                                                           bool cj)
{
    for (int32_t k = 0; k < columns; k++) {
        const T *column = a + k * FN(LINE);
        t[k] = FN(divide)(t[k], cj ? CONJ(column[k]) : column[k]);
        for (int32_t i = k + 1; i < columns; i++) t[i] -= (cj ? CONJ(column[i]) : column[i]) * t[k];
    }
}

/* t = D^-1 t; t has room for whole vectors.  Returns where the tiles of the list begin. */
TRS_INLINE const T *FN(solve_diagonal)(const node *s, const T *value, int32_t width, T *t, bool cj)
{
    for (int32_t j = 0; j < width; j += FN(LINE)) {
        const int32_t columns = width - j < FN(LINE) ? width - j : FN(LINE);
        if (__builtin_expect(s->substituted >> (j / FN(LINE)) & 1, 0))
            FN(substitute)(value, columns, t + j, cj);
        else FN(product)(value, columns, t + j, cj, t + j);
        value += FN(LINE) * columns;
        for (int32_t i = j + FN(LINE); i < width; i += FN(LINE), value += FN(LINE) * columns) {
            T v[FN(LINE)];
            FN(product)(value, columns, t + j, cj, v);
            for (int k = 0; k < FN(LINE); k += FN(LANES))
                FN(store)(t + i + k, FN(load)(t + i + k) - FN(load)(v + k));
        }
    }
    return value;
}

/* ---- scatter -------------------------------------------------------------------------------------- */

/* Tiles begin .. end-1 of the list, the first of which is at tile. */
TRS_INLINE void FN(spread_tiles)(const solving *s, const node *k, const T *tile, int32_t width,
                                 int32_t begin, int32_t end, const T *t, T *sum)
{
    const int32_t *list = s->d->list + k->list;
    T *x = s->x, v[FN(LINE)];
    for (int32_t e = begin * FN(LINE); e < end * FN(LINE); e += FN(LINE)) {
        FN(product)(tile, width, t, s->conj, v);
        tile += FN(LINE) * width;
        if (e + FN(LINE) <= k->own) {
#pragma GCC unroll 16
            for (int l = 0; l < FN(LINE); l++) x[list[e + l]] -= v[l];
        } else
            for (int l = 0; l < FN(LINE) && e + l < k->rows; l++)
                (e + l < k->own ? x : sum)[list[e + l]] -= v[l];
    }
}

TRS_INLINE void FN(scatter)(const solving *s, const node *k, int32_t width, T *sum)
{
    T t[WIDTH + FN(LINE)], *x = (T *)s->x + in_memory(s->d, k->first);
    FN(take_rows)(x, width, s->d->reversed, t);
    const T *tile = FN(solve_diagonal)(k, (const T *)s->d->value + k->value, width, t, s->conj);
    FN(give_rows)(t, width, s->d->reversed, x);
    FN(spread_tiles)(s, k, tile, width, 0, tiles_of(k->rows, FN(LINE)), t, sum);
}

/* The sum of a leaf's row times x, whose number `column` is x [column], or x [-column]. */
TRS_INLINE T FN(sparse)(const T *value, const uint16_t *column, int32_t count, const T *x,
                        bool reversed, bool cj)
{
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int32_t e = 0;
#define TERM(e) ((cj ? CONJ(value[e]) : value[e]) * x[reversed ? -column[e] : column[e]])
    for (; e + 3 < count; e += 4)
        s0 += TERM(e), s1 += TERM(e + 1), s2 += TERM(e + 2), s3 += TERM(e + 3);
    for (; e < count; e++) s0 += TERM(e);
#undef TERM
    return (s0 + s1) + (s2 + s3);
}

TRS_INLINE void FN(scatter_leaf)(const solving *s, const node *k, bool reversed, T *sum)
{
    const supernodal *d = s->d;
    const uint16_t *count = d->count + k->count, *column = d->column + k->entry;
    const T *value = (const T *)d->value + k->value;
    const int32_t *list = d->list + k->list;
    T *all = s->x, *x = all + in_memory(d, k->first);
    for (int32_t i = 0; i < k->width; i++, count++) {
        TRS_PREFETCH(value + FN(AHEAD));
        TRS_PREFETCH(column + 512);
        T *to = reversed ? x - i : x + i;
        const T r = *to - FN(sparse)(value, column, *count, x, reversed, s->conj);
        value += *count, column += *count;
        const T inverse = s->conj ? CONJ(*value) : *value;
        *to = __builtin_expect(k->substituted != 0, 0) ? FN(quotient)(r, inverse) : r * inverse;
        value++;
    }
    for (int32_t e = 0; e < k->rows; e++, count++) {
        TRS_PREFETCH(value + FN(AHEAD));
        TRS_PREFETCH(column + 512);
        (e < k->own ? all : sum)[list[e]] -=
            FN(sparse)(value, column, *count, x, reversed, s->conj);
        value += *count, column += *count;
    }
}

/* ---- gather --------------------------------------------------------------------------------------- */

/* LANES numbers of x, or as many as the list has. */
TRS_INLINE FN(vector) FN(listed)(const T *x, const int32_t *list, int32_t count)
{
    FN(vector) v = {0};
#if IS_COMPLEX
#pragma GCC unroll 4
    for (int l = 0; l < FN(LANES); l++)
        if (l < count) v[2 * l] = creal(x[list[l]]), v[2 * l + 1] = cimag(x[list[l]]);
#else
#pragma GCC unroll 16
    for (int l = 0; l < FN(LANES); l++)
        if (l < count) v[l] = x[list[l]];
#endif
    return v;
}

/* What is added up for a column of the node, lane by lane: with complex numbers p = a .* x, q = a .* turned (x). */
TRS_INLINE T FN(total)(const FN(pair) * s, bool conj)
{
    FN(vector) p = s->p;
#pragma GCC unroll 2
    for (int v = 1; v < FN(PARTS); v++) p += s[v].p;
#if IS_COMPLEX
    FN(vector) q = s->q;
    REAL re[2] = {0, 0}, im[2] = {0, 0};
#pragma GCC unroll 2
    for (int v = 1; v < FN(PARTS); v++) q += s[v].q;
    for (int k = 0; k < 2 * FN(LANES); k++) re[k % 2] += p[k], im[k % 2] += q[k];
    if (conj) return (T)CMPLX(re[0] + re[1], im[0] - im[1]);
    return (T)CMPLX(re[0] - re[1], im[0] + im[1]);
#else
    REAL v[FN(LANES)];
    (void)conj;
    FN(store)(v, p);
#pragma GCC unroll 4
    for (int half = FN(LANES) / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) v[k] += v[k + half];
    return v[0];
#endif
}

/* sum [width][PARTS] += the columns of a tile times x [PARTS], lane by lane */
TRS_INLINE void FN(gather_tile)(const T *tile, int32_t width, const FN(vector) * x, FN(pair) * sum)
{
#if IS_COMPLEX
    FN(vector) turned[FN(PARTS)];
#pragma GCC unroll 2
    for (int v = 0; v < FN(PARTS); v++) turned[v] = FN(turned)(x[v]);
#endif
#pragma GCC unroll 8
    for (int32_t k = 0; k < width; k++) {
        TRS_PREFETCH(tile + k * FN(LINE) + FN(AHEAD));
#pragma GCC unroll 2
        for (int v = 0; v < FN(PARTS); v++) {
            const FN(vector) a = FN(load)(tile + k * FN(LINE) + v * FN(LANES));
            sum[k * FN(PARTS) + v].p += a * x[v];
#if IS_COMPLEX
            sum[k * FN(PARTS) + v].q += a * turned[v];
#endif
        }
    }
}

/* total [k] = the sum over tiles begin .. end-1 of column k. */
TRS_INLINE void FN(collect_tiles)(const solving *s, const node *k, const T *tile, int32_t width,
                                  int32_t begin, int32_t end, T *total)
{
    const int32_t *list = s->d->list + k->list;
    const T *x = s->x;
    FN(pair) sum[WIDTH * FN(PARTS)];
    FN(vector) v[FN(PARTS)];
#pragma GCC unroll 8
    for (int32_t c = 0; c < width * FN(PARTS); c++) sum[c] = (FN(pair)){{0}, {0}};
    for (int32_t e = begin * FN(LINE); e < end * FN(LINE); e += FN(LINE)) {
#pragma GCC unroll 2
        for (int32_t h = 0, l = e; h < FN(PARTS); h++, l += FN(LANES))
            v[h] = e + FN(LINE) <= k->rows ? FN(listed)(x, list + l, FN(LANES))
                                           : FN(listed)(x, list + l, k->rows - l);
        FN(gather_tile)(tile, width, v, sum);
        tile += FN(LINE) * width;
    }
#pragma GCC unroll 8
    for (int32_t c = 0; c < width; c++) total[c] = FN(total)(sum + c * FN(PARTS), s->conj);
}

TRS_INLINE void FN(gather)(const solving *s, const node *k, int32_t width)
{
    const supernodal *d = s->d;
    T t[WIDTH + FN(LINE)], total[WIDTH];
    const T *value = (const T *)d->value + k->value;
    const int32_t at = in_memory(d, k->first);
    FN(collect_tiles)
    (s, k, value + diagonal_numbers(width, FN(LINE)), width, 0, tiles_of(k->rows, FN(LINE)), total);
    FN(take_rows)((const T *)s->b + at, width, d->reversed, t);
#pragma GCC unroll 8
    for (int32_t c = 0; c < width; c++) t[c] -= total[c];
    FN(solve_diagonal)(k, value, width, t, s->conj);
    FN(give_rows)(t, width, d->reversed, (T *)s->x + at);
}

TRS_INLINE void FN(leaf_rows)(const solving *s, const node *k, int64_t step, bool scales,
                              bool chained)
{
    const int32_t first = in_memory(s->d, 0), end = k->first + k->width;
    const T *b = (const T *)s->b + first;
    T *x = (T *)s->x + first;
    FN(rows)
    (s->L, k->first, end, b, step, x, step, s->conj, TRS_FETCH_ENTRIES, scales, chained);
}

/* A function by itself, because the rows need all registers.  Rows of factors are mostly chained. */
static WIDTH_CLONES void FN(gather_leaf)(const solving *s, const node *k)
{
    const supernodal *d = s->d;
    if (IS_COMPLEX || !d->scales || !d->chained)
        FN(leaf_rows)(s, k, d->reversed ? -1 : 1, d->scales, d->chained);
    else if (d->reversed) FN(leaf_rows)(s, k, -1, true, true);
    else FN(leaf_rows)(s, k, 1, true, true);
}

/* ---- nodes of any width, and nodes that are shared -------------------------------------------------- */

/* t = D^-1 t of a node, and tiles begin .. end-1 of its list. */
static WIDTH_CLONES void FN(spread_rows)(const solving *s, const node *k, int32_t begin,
                                         int32_t end, T *t, T *sum)
{
    FN(take_rows)((const T *)s->x + in_memory(s->d, k->first), k->width, s->d->reversed, t);
    const T *tile = FN(solve_diagonal)(k, (const T *)s->d->value + k->value, k->width, t, s->conj);
    FN(spread_tiles)
    (s, k, tile + (int64_t)begin * FN(LINE) * k->width, k->width, begin, end, t, sum);
}

static void FN(spread)(const solving *s, const node *k, int32_t begin, int32_t end, void *held)
{
    FN(spread_rows)(s, k, begin, end, held, s->x);
}

static void FN(keep)(const solving *s, const node *k, const void *held)
{
    FN(give_rows)(held, k->width, s->d->reversed, (T *)s->x + in_memory(s->d, k->first));
}

static void FN(scatter_any)(const solving *s, const node *k, T *sum)
{
    T t[WIDTH + FN(LINE)];
    FN(spread_rows)(s, k, 0, tiles_of(k->rows, FN(LINE)), t, sum);
    FN(keep)(s, k, t);
}

static WIDTH_CLONES void FN(collect)(const solving *s, const node *k, int32_t begin, int32_t end,
                                     void *part)
{
    const int64_t tile =
        diagonal_numbers(k->width, FN(LINE)) + (int64_t)begin * FN(LINE) * k->width;
    FN(collect_tiles)(s, k, (const T *)s->d->value + k->value + tile, k->width, begin, end, part);
}

/* x_s = D_s^-1 (b_s - the sum of parts), part [parts][WIDTH] */
static WIDTH_CLONES void FN(finish_rows)(const solving *s, const node *k, const T *part, int parts)
{
    const supernodal *d = s->d;
    T t[WIDTH + FN(LINE)];
    const int32_t at = in_memory(d, k->first);
    FN(take_rows)((const T *)s->b + at, k->width, d->reversed, t);
    for (int w = 0; w < parts; w++)
        for (int32_t c = 0; c < k->width; c++) t[c] -= part[w * WIDTH + c];
    FN(solve_diagonal)(k, (const T *)d->value + k->value, k->width, t, s->conj);
    FN(give_rows)(t, k->width, d->reversed, (T *)s->x + at);
}

static void FN(finish)(const solving *s, const node *k)
{
    FN(finish_rows)(s, k, (const T *)s->part, k->shares);
}

static void FN(gather_any)(const solving *s, const node *k)
{
    T total[WIDTH];
    FN(collect)(s, k, 0, tiles_of(k->rows, FN(LINE)), total);
    FN(finish_rows)(s, k, total, 1);
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

/* Code for each width up to eight, or to four for complex numbers. */
#define FOR_WIDTH(width, call, other)                                                              \
    switch (width) {                                                                               \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        call(3);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    case 5:                                                                                        \
        if (IS_COMPLEX) other;                                                                     \
        else call(5);                                                                              \
        break;                                                                                     \
    case 6:                                                                                        \
        if (IS_COMPLEX) other;                                                                     \
        else call(6);                                                                              \
        break;                                                                                     \
    case 7:                                                                                        \
        if (IS_COMPLEX) other;                                                                     \
        else call(7);                                                                              \
        break;                                                                                     \
    case 8:                                                                                        \
        if (IS_COMPLEX) other;                                                                     \
        else call(8);                                                                              \
        break;                                                                                     \
    default:                                                                                       \
        other;                                                                                     \
        break;                                                                                     \
    }

static WIDTH_CLONES void FN(run_scatter)(const solving *s, const int32_t *nodes, int32_t count,
                                         T *sum)
{
    for (int32_t q = 0; q < count; q++) {
        const node *k = &s->d->node[nodes[q]];
        if (k->leaf && s->d->reversed) FN(scatter_leaf)(s, k, true, sum);
        else if (k->leaf) FN(scatter_leaf)(s, k, false, sum);
        else {
#define CALL(width) FN(scatter)(s, k, width, sum)
            FOR_WIDTH(k->width, CALL, FN(scatter_any)(s, k, sum))
#undef CALL
        }
    }
}

static WIDTH_CLONES void FN(run_gather)(const solving *s, const int32_t *nodes, int32_t count)
{
    for (int32_t q = 0; q < count; q++) {
        const node *k = &s->d->node[nodes[q]];
        if (k->leaf) FN(gather_leaf)(s, k);
        else {
#define CALL(width) FN(gather)(s, k, width)
            FOR_WIDTH(k->width, CALL, FN(gather_any)(s, k))
#undef CALL
        }
    }
}

static void FN(run)(const solving *s, const int32_t *nodes, int32_t count, void *sum)
{
    if (s->d->gather) FN(run_gather)(s, nodes, count);
    else FN(run_scatter)(s, nodes, count, sum);
}

static void FN(take)(const solving *s, const int32_t *nodes, int32_t count)
{
    const T *b = s->b;
    T *x = s->x;
    for (int32_t q = 0; q < count && b != x; q++) {
        const node *k = &s->d->node[nodes[q]];
        const int32_t at = in_memory(s->d, k->first) - (s->d->reversed ? k->width - 1 : 0);
        memcpy(x + at, b + at, (size_t)k->width * sizeof *x);
    }
}

static void FN(join)(const solving *s, int32_t begin, int32_t end)
{
    const supernodal *d = s->d;
    const T *b = s->b, *sum = (const T *)s->sum;
    T *x = s->x;
    for (int32_t k = begin; k < end; k++) {
        T all = b[d->top[k]];
        for (int w = 0; w < d->workers; w++) all += sum[(int64_t)w * d->tops + k];
        x[d->top[k]] = all;
    }
}

static const kernels FN(one) = {FN(run),  FN(take),    FN(join),  FN(spread),
                                FN(keep), FN(collect), FN(finish)};

#undef FOR_WIDTH

#endif
