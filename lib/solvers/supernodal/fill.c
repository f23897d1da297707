/* fill.c: new values into tiles and leaves, and the inverses of diagonal blocks.
 *
 * Why growth: with M in the place of a diagonal block D the residual of x is bounded by the unit roundoff times
 * |D| |M| |D| |x|, and by substitution, times |D| |x| (N. Higham, Accuracy and Stability of Numerical Algorithms, chapters
 * 8 and 14).  For x of equal size, e, the growth
 *
 *     max (|D| |M| |D| e)(i) / (|D| e)(i)
 *
 * says how much worse M is.  Where it is too much, or no number, the block itself is stored, and substituted.
 *
 * Nodes are shared among threads, and each is written by one.  Bytes: values are read and written once; what is read for
 * a tile are LINE short pieces of rows. */
#ifndef T

#include "config.h"

#include "supernodal.h"

#include "solvers/cpu_serial.h"

#include "base/debug.h"

#include <string.h>

#define TRS_BODY "solvers/supernodal/fill.c"
#include "base/each_type.h"

enum { NODES = 8 }; /* that a thread fills at a time */

int supernodal_fill(trs_instance *inst, supernodal *d)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(fill);
    trs_share(trs_team(inst->ctx, inst->op->tri.nnz), d->nodes, NODES, table[inst->op->tri.dtype],
              inst);
    d->chained = d->gather && trs_rows_chained(&inst->op->tri);
    d->scales = d->gather && trs_rows_scale(&inst->op->tri, d->chained);
    return TRS_OK;
}

#else

#include "base/number/divide.h"
#include "base/number/vector.h"

/* ---- diagonal blocks ------------------------------------------------------------------------------ */

static inline REAL FN(size)(T a)
{
    return fabs(creal(a)) + fabs(cimag(a));
}

/* m = the inverse of the lower triangle a of so many columns; both by columns of LINE. */
static void FN(invert)(const T *a, int32_t columns, T *m)
{
    const int32_t lanes = FN(LINE);
    for (int32_t c = 0; c < columns; c++) {
        T *to = m + c * lanes;
        for (int32_t i = 0; i < lanes; i++) to[i] = 0;
        to[c] = 1 / a[c * lanes + c];
        for (int32_t i = c + 1; i < columns; i++) {
            T sum = 0;
            for (int32_t k = c; k < i; k++) sum += a[k * lanes + i] * to[k];
            to[i] = -(sum / a[i * lanes + i]);
        }
    }
}

static bool FN(is_near)(T a)
{
    const REAL size = FN(largest_part)(a), most = FN(near)();
    return size >= 1 / most && size <= most; /* a NaN is not */
}

/* y = |a| x. */
static void FN(weigh)(const T *a, int32_t columns, const REAL *x, REAL *y)
{
    for (int32_t i = 0; i < columns; i++) y[i] = 0;
    for (int32_t c = 0; c < columns; c++)
        for (int32_t i = c; i < columns; i++) y[i] += FN(size)(a[c * FN(LINE) + i]) * x[c];
}

/* May the inverse be used?  Its entries neither overflow nor lose digits where all diagonal entries are near 1. */
static bool FN(is_good)(const T *a, const T *m, int32_t columns)
{
    const REAL most = sizeof(REAL) == sizeof(float) ? (REAL)1e2 : (REAL)1e4;
    REAL e[FN(LINE)], weight[FN(LINE)], x[FN(LINE)], y[FN(LINE)];
    for (int32_t i = 0; i < columns; i++) e[i] = 1;
    FN(weigh)(a, columns, e, weight);
    FN(weigh)(m, columns, weight, x);
    FN(weigh)(a, columns, x, y);
    bool good = true;
    for (int32_t i = 0; i < columns; i++) good &= FN(is_near)(a[i * FN(LINE) + i]);
    for (int32_t i = 0; i < columns; i++)
        good &= y[i] <= most * weight[i] && isfinite(y[i]); /* a NaN is not */
    return good;
}

/* ---- a supernode ---------------------------------------------------------------------------------- */

/* Row k of the node in columns of its own: strips and tiles of D. */
static void FN(fill_diagonal)(const supernodal *d, const trs_tri *L, node *s)
{
    const int32_t lanes = FN(LINE);
    T *value = (T *)d->value + s->value;
    const T *Lx = L->val;
    memset(value, 0, (size_t)diagonal_numbers(s->width, lanes) * sizeof *value);
    for (int32_t k = 0; k < s->width; k++) {
        const int32_t i = s->first + k;
        for (int64_t p = L->ptr[i + 1] - 1; p >= L->ptr[i] && L->idx[p] >= s->first; p--) {
            const int32_t c = L->idx[p] - s->first, strip = c / lanes;
            const int32_t begin = strip * lanes,
                          columns = s->width - begin < lanes ? s->width - begin : lanes;
            const int64_t before =
                diagonal_numbers(s->width, lanes) - diagonal_numbers(s->width - begin, lanes);
            value[before + (int64_t)(k / lanes - strip) * lanes * columns + (c - begin) * lanes +
                  k % lanes] = Lx[p];
        }
    }
}

static void FN(invert_diagonal)(const supernodal *d, node *s)
{
    const int32_t lanes = FN(LINE);
    T *value = (T *)d->value + s->value, inverse[FN(LINE) * FN(LINE)];
    s->substituted = 0;
    for (int32_t j = 0, strip = 0; j < s->width; j += lanes, strip++) {
        const int32_t columns = s->width - j < lanes ? s->width - j : lanes;
        FN(invert)(value, columns, inverse);
        if (FN(is_good)(value, inverse, columns))
            memcpy(value, inverse, (size_t)(lanes * columns) * sizeof *value);
        else s->substituted |= (uint64_t)1 << strip;
        value += (int64_t)lanes * columns * tiles_of(s->width - j, lanes);
    }
}

/* Tiles of the rows below. */
static void FN(fill_below)(const supernodal *d, const trs_tri *L, const node *s)
{
    const int32_t lanes = FN(LINE), *list = d->list + s->list, *from = d->from + s->list;
    const T *Lx = L->val;
    T *tile = (T *)d->value + s->value + diagonal_numbers(s->width, lanes);
    for (int32_t e = 0; e < s->rows; e += lanes, tile += (int64_t)lanes * s->width) {
        memset(tile, 0, (size_t)lanes * (size_t)s->width * sizeof *tile);
        for (int32_t l = 0; l < lanes && e + l < s->rows; l++) {
            const int32_t number = list[e + l];
            const int32_t i = in_memory(d, e + l < s->own ? number : d->top[number]);
            const int64_t end = L->ptr[i + 1];
            for (int64_t p = L->ptr[i] + from[e + l]; p < end; p++) {
                const int32_t c = L->idx[p] - s->first;
                if (c >= s->width) break;
                tile[c * lanes + l] = Lx[p];
            }
        }
    }
}

/* Tiles of the columns to the left. */
static void FN(fill_left)(const supernodal *d, const trs_tri *L, const node *s)
{
    const int32_t lanes = FN(LINE), *list = d->list + s->list;
    const T *Lx = L->val;
    T *tile = (T *)d->value + s->value + diagonal_numbers(s->width, lanes);
    memset(tile, 0,
           (size_t)lanes * (size_t)s->width * (size_t)tiles_of(s->rows, lanes) * sizeof *tile);
    for (int32_t k = 0; k < s->width; k++) {
        int64_t p = L->ptr[s->first + k];
        for (int32_t e = 0; e < s->rows; e++) {
            if (L->idx[p] != in_memory(d, list[e])) continue;
            tile[(int64_t)(e / lanes) * lanes * s->width + k * lanes + e % lanes] = Lx[p++];
        }
        TRS_ASSERT(L->idx[p] >= s->first);
    }
}

/* ---- a leaf --------------------------------------------------------------------------------------- */

/* Inverses of the diagonal entries where all of them are normal numbers. */
static bool FN(can_multiply)(const trs_tri *L, const node *s)
{
    const T *Lx = L->val;
    bool all = true;
    for (int32_t i = s->first; i < s->first + s->width; i++) {
        const T inverse = 1 / Lx[L->ptr[i + 1] - 1];
        all &= NORMAL(inverse) != 0;
    }
    return all;
}

static void FN(fill_leaf)(const supernodal *d, const trs_tri *L, node *s)
{
    const T *Lx = L->val;
    const uint16_t *count = d->count + s->count;
    uint16_t *column = d->column + s->entry;
    T *value = (T *)d->value + s->value;
    const bool multiply = FN(can_multiply)(L, s);
    s->substituted = !multiply;
    for (int32_t k = 0; k < s->width + s->rows; k++) {
        const bool inside = k < s->width;
        int32_t i = s->first + k;
        if (!inside) {
            const int32_t e = k - s->width, number = d->list[s->list + e];
            i = in_memory(d, e < s->own ? number : d->top[number]);
        }
        const int64_t diagonal = L->ptr[i + 1] - 1;
        int64_t p = inside ? diagonal - count[k] : L->ptr[i] + d->from[s->list + k - s->width];
        for (const int64_t end = p + count[k]; p < end; p++) {
            *column++ = (uint16_t)(L->idx[p] - s->first);
            *value++ = Lx[p];
        }
        if (inside) *value++ = multiply ? 1 / Lx[diagonal] : Lx[diagonal];
    }
}

static void FN(fill)(void *user, int64_t begin, int64_t end)
{
    const trs_instance *inst = user;
    const supernodal *d = inst->data;
    const trs_tri *L = &inst->op->tri;
    for (int64_t q = begin; q < end; q++) {
        node *s = &d->node[q];
        if (s->leaf && d->gather) continue;
        if (s->leaf) FN(fill_leaf)(d, L, s);
        else {
            FN(fill_diagonal)(d, L, s);
            FN(invert_diagonal)(d, s);
            if (d->gather) FN(fill_left)(d, L, s);
            else FN(fill_below)(d, L, s);
        }
    }
}

#endif
