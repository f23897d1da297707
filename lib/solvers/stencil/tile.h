/* tile.h: a unit of a run, tile by tile, for the type that each_type.h has set.
 *
 * A tile is LANES rows.  Its values are in vectors: for each distance d of the pattern, in descending order, L(i,
 * i-d) of all rows i; then c(i) = L(i, i-1) r(i), if rows are chained; then r(i) = 1 / L(i, i).
 *
 *     s = b - L(:, :-d) x(:-d)      for distances of at least LANES: vectors of x, solved before the tile
 *     s(i) = s(i) - L(i, i-d) x(i-d)              for smaller ones, row by row
 *     t = s r,   x(i) = t(i) - c(i) x(i-1)        the recurrence, from a register
 *
 * Sums and roundings are those of cpu_row.h.
 * Bytes: a row reads as many numbers as its pattern has distances, r and b, and writes x; there are no indices.  These, and
 * the latency of the recurrence, are the time. */

#include "solvers/cpu_row.h"

/* Numbers from here to those that are fetched: processors do not fetch beyond the end of a page by themselves. */
enum {
    FN(VALUES_AHEAD) = 8192 / sizeof(T),
    FN(ROWS_AHEAD) = 1024 / sizeof(T) /* of B and X */
};

typedef struct FN(unit) { /* what all tiles of a unit have in common */
    const int32_t *distance;
    int32_t far, near; /* distances of at least LANES; smaller ones */
    int32_t four;      /* so many of these are summed up in four sums */
    int32_t n;
    bool follows, reversed, conj;
} FN(unit);

/* Where the first lane of the tile at row i stands in memory. */
TRS_INLINE int32_t FN(base)(const FN(unit) * u, int32_t i)
{
    return u->reversed ? u->n - i - FN(LANES) : i;
}

/* The lane of row k of a tile. */
TRS_INLINE int FN(lane)(const FN(unit) * u, int k)
{
    return u->reversed ? FN(LANES) - 1 - k : k;
}

/* s - entries with distance k; x is that of the first lane. */
TRS_INLINE FN(vector)
    FN(subtract_far)(const FN(unit) * u, FN(vector) s, const T *v, int32_t k, const T *x)
{
    const T *a = v + k * FN(LANES);
    const int32_t d = u->distance[k];
    TRS_PREFETCH(a + FN(VALUES_AHEAD));
    return FN(subtract)(s, FN(load)(a), FN(load)(u->reversed ? x + d : x - d), u->conj);
}

/* s [4] - all entries that are far; the four sums are added up when all their entries are far. */
TRS_INLINE void FN(subtract_all_far)(const FN(unit) * u, FN(vector) s[4], const T *v, const T *x)
{
    const int32_t end = u->far < u->four ? u->far : u->four;
    int32_t k = 0;
    for (; k + 4 <= end; k += 4) {
        s[0] = FN(subtract_far)(u, s[0], v, k, x);
        s[1] = FN(subtract_far)(u, s[1], v, k + 1, x);
        s[2] = FN(subtract_far)(u, s[2], v, k + 2, x);
        s[3] = FN(subtract_far)(u, s[3], v, k + 3, x);
    }
    if (k < end) s[0] = FN(subtract_far)(u, s[0], v, k, x);
    if (k + 1 < end) s[1] = FN(subtract_far)(u, s[1], v, k + 1, x);
    if (k + 2 < end) s[2] = FN(subtract_far)(u, s[2], v, k + 2, x);
    if (u->four && u->four <= u->far) s[0] = (s[0] + s[1]) + (s[2] + s[3]);
    for (k = end; k < u->far; k++) s[0] = FN(subtract_far)(u, s[0], v, k, x);
}

/* The sum of a row, whose sums of far entries are s [4]; v and x are those of its lane. */
TRS_INLINE T FN(subtract_near)(const FN(unit) * u, T s[4], const T *v, const T *x)
{
    int32_t k = u->far;
    for (; k < u->four; k++) {
        const int32_t d = u->distance[k];
        s[k % 4] = FN(minus)(s[k % 4], v[k * FN(LANES)], u->reversed ? x[d] : x[-d], u->conj);
    }
    if (u->far < u->four) s[0] = (s[0] + s[1]) + (s[2] + s[3]);
    for (; k < u->far + u->near; k++) {
        const int32_t d = u->distance[k];
        s[0] = FN(minus)(s[0], v[k * FN(LANES)], u->reversed ? x[d] : x[-d], u->conj);
    }
    return s[0];
}

/* The rows of a tile with near entries, one by one.  y is x of the row before; starts: there is none.  Returns x of the
 * last row. */
TRS_INLINE T FN(near_rows)(const FN(unit) * u, const FN(vector) sum[4], const T *v, int rows, T *x,
                           T y, bool starts)
{
    const T *c = v + (u->far + u->near) * FN(LANES), *r = c + u->follows * FN(LANES);
    T s[4][FN(LANES)];
    for (int q = 0; q < 4; q++) FN(store)(s[q], sum[q]);
    for (int k = 0; k < rows; k++) {
        const int l = FN(lane)(u, k);
        T sums[4] = {s[0][l], s[1][l], s[2][l], s[3][l]};
        const T all = FN(subtract_near)(u, sums, v + l, x + l);
        const T t = FN(times)(r[l], all, u->conj);
        const bool recurs = u->follows && !(starts && k == 0);
        x[l] = y = recurs ? FN(minus)(t, c[l], y, u->conj) : t;
    }
    return y;
}

/* The same without near entries. */
TRS_INLINE T FN(far_rows)(const FN(unit) * u, FN(vector) sum, const T *v, int rows, T *x, T y,
                          bool starts)
{
    const T *c = v + u->far * FN(LANES), *r = c + u->follows * FN(LANES);
    const FN(vector) all = FN(multiply)(FN(load)(r), sum, u->conj);
    T t[FN(LANES)];
    TRS_PREFETCH(c + FN(VALUES_AHEAD));
    TRS_PREFETCH(r + FN(VALUES_AHEAD));
    if (!u->follows && rows == FN(LANES)) {
        FN(store)(x, all);
        return y;
    }
    FN(store)(t, all);
#pragma GCC unroll 16
    for (int k = 0; k < rows; k++) {
        const int l = FN(lane)(u, k);
        const bool recurs = u->follows && !(starts && k == 0);
        x[l] = y = recurs ? FN(minus)(t[l], c[l], y, u->conj) : t[l];
    }
    return y;
}

/* Of a tile that is not full the numbers of B beside its rows are not looked at: they are those of other units. */
TRS_INLINE FN(vector) FN(load_rows)(const FN(unit) * u, const T *b, int rows)
{
    T v[FN(LANES)] = {0};
    for (int k = 0; k < rows; k++) v[FN(lane)(u, k)] = b[FN(lane)(u, k)];
    return FN(load)(v);
}

/* One tile: rows of it from row i on. */
TRS_INLINE T FN(tile)(const FN(unit) * u, int32_t i, int rows, const T *v, const T *b, T *x, T y,
                      bool starts)
{
    const int32_t base = FN(base)(u, i), ahead = u->reversed ? -FN(ROWS_AHEAD) : FN(ROWS_AHEAD);
    FN(vector) s[4] = {{0}};
    TRS_PREFETCH(b + base + ahead);
    TRS_PREFETCH(x + base + ahead);
    s[0] = rows == FN(LANES) ? FN(load)(b + base) : FN(load_rows)(u, b + base, rows);
    FN(subtract_all_far)(u, s, v, x + base);
    if (u->near) return FN(near_rows)(u, s, v, rows, x + base, y, starts);
    return FN(far_rows)(u, s[0], v, rows, x + base, y, starts);
}

/* Rows begin..end-1, whose values begin at v. */
TRS_INLINE void FN(tiles)(const FN(unit) * u, int32_t begin, int32_t end, bool starts, const T *v,
                          const T *b, T *x)
{
    const int64_t size = (int64_t)(u->far + u->near + u->follows + 1) * FN(LANES);
    int32_t i = begin;
    const int32_t before =
        u->reversed ? u->n - begin : begin - 1; /* where x of the row before is */
    T y = u->follows && !starts ? x[before] : 0;
    for (; i + FN(LANES) <= end; i += FN(LANES), v += size, starts = false)
        y = FN(tile)(u, i, FN(LANES), v, b, x, y, starts);
    if (i < end) FN(tile)(u, i, end - i, v, b, x, y, starts);
}
