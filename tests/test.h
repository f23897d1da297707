/* test.h: what the cmocka programs of the core share: random triangles of any shape, a naive
 * reference in long double, and assertions that print what they looked at. */
#ifndef TRS_TEST_H
#define TRS_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "trisolve-sparse.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* value <= limit, not NaN; says what it was otherwise. */
#define assert_at_most(value, limit, ...)                                                          \
    do {                                                                                           \
        double value_ = (value), limit_ = (limit);                                                 \
        if (!(value_ <= limit_)) {                                                                 \
            print_error("# %s = %g, limit %g: ", #value, value_, limit_);                          \
            print_error(__VA_ARGS__);                                                              \
            print_error("\n");                                                                     \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static inline size_t size_of(trs_dtype t)
{
    static const size_t size[] = {[TRS_F64] = 8, [TRS_F32] = 4, [TRS_C64] = 16, [TRS_C32] = 8};
    return size[t];
}

static inline double eps_of(trs_dtype t)
{
    return t == TRS_F64 || t == TRS_C64 ? 0x1p-52 : 0x1p-23;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double draw_number(uint64_t *state) /* in [-1, 1) */
{
    return (double)(draw(state) >> 11) * 0x1p-52 - 1;
}

static inline int draw_below(uint64_t *state, int n)
{
    return (int)(draw(state) % (uint64_t)n);
}

static inline void put_number(void *a, trs_dtype t, int64_t k, double re, double im)
{
    switch (t) {
    case TRS_F64:
        ((double *)a)[k] = re;
        break;
    case TRS_F32:
        ((float *)a)[k] = (float)re;
        break;
    case TRS_C64:
        ((double *)a)[2 * k] = re, ((double *)a)[2 * k + 1] = im;
        break;
    case TRS_C32:
        ((float *)a)[2 * k] = (float)re, ((float *)a)[2 * k + 1] = (float)im;
        break;
    }
}

static inline void get_number(const void *a, trs_dtype t, int64_t k, double *re, double *im)
{
    *im = 0;
    switch (t) {
    case TRS_F64:
        *re = ((const double *)a)[k];
        break;
    case TRS_F32:
        *re = (double)((const float *)a)[k];
        break;
    case TRS_C64:
        *re = ((const double *)a)[2 * k], *im = ((const double *)a)[2 * k + 1];
        break;
    default:
        *re = (double)((const float *)a)[2 * k], *im = (double)((const float *)a)[2 * k + 1];
    }
}

static inline bool is_nan_at(const void *a, trs_dtype t, int64_t k)
{
    double re, im;
    get_number(a, t, k, &re, &im);
    return isnan(re) || isnan(im);
}

/* ---- triangles ----------------------------------------------------------------------------------- */

typedef enum pattern {
    DIAGONAL,
    FULL,
    CHAIN,
    BIDIAGONAL,
    RANDOM,
    LONG_ROWS,
    ARROW,
    WIDE,
    PATTERNS
} pattern;

typedef struct shape { /* how a triangle is handed over */
    pattern pattern;
    int n;
    trs_dtype dtype;
    trs_format format;
    unsigned kind; /* TRS_LOWER or TRS_UPPER, TRS_UNIT */
    int base, ptr_bits, idx_bits;
    bool shuffled; /* columns in any order */
    bool garbage;  /* the other triangle is filled */
    uint64_t seed;
} shape;

typedef struct triangle {
    trs_mat mat;
    double *dense; /* [2 n n] by rows, re and im: what the matrix is meant to be */
} triangle;

/* Is (i, j), i > j, an entry of the pattern? */
static inline bool in_pattern(const shape *s, int i, int j, uint64_t *state)
{
    switch (s->pattern) {
    case DIAGONAL:
        return false;
    case FULL:
        return true;
    case CHAIN:
        return j == i - 1 || draw_below(state, s->n) < 3;
    case BIDIAGONAL:
        return j == i - 1;
    case RANDOM:
        return draw_below(state, s->n) < 4;
    case LONG_ROWS:
        return i % 50 == 49 ? draw_below(state, 10) < 9 : draw_below(state, s->n) < 2;
    case ARROW:
        return i == s->n - 1 || j == 0;
    default:
        return i >= s->n / 2 && j < s->n / 2 && draw_below(state, s->n) < 4;
    }
}

static inline void fill_dense(const shape *s, double *a, uint64_t *state)
{
    const int n = s->n;
    const bool lower = s->kind & TRS_LOWER;
    memset(a, 0, (size_t)n * (size_t)n * 2 * sizeof *a);
    for (int i = 0; i < n; i++) {
        int count = 0;
        for (int j = 0; j < i; j++) {
            if (!in_pattern(s, i, j, state)) continue;
            double *e = a + 2 * (lower ? (int64_t)i * n + j : (int64_t)j * n + i);
            e[0] = draw_number(state) / (1 + (s->n < 200 ? i : 8));
            e[1] = draw_number(state) / (1 + (s->n < 200 ? i : 8));
            count++;
        }
        (void)count;
        a[2 * ((int64_t)i * n + i)] = 1.5 + 0.5 * draw_number(state);
        a[2 * ((int64_t)i * n + i) + 1] = 0.5 * draw_number(state);
    }
}

/* Round what the matrix is meant to be to its type; a unit diagonal is 1. */
static inline void round_dense(const shape *s, double *a)
{
    char one[16];
    for (int64_t k = 0; k < (int64_t)s->n * s->n; k++) {
        put_number(one, s->dtype, 0, a[2 * k], a[2 * k + 1]);
        get_number(one, s->dtype, 0, &a[2 * k], &a[2 * k + 1]);
        if ((s->kind & TRS_UNIT) && k % (s->n + 1) == 0) a[2 * k] = 1, a[2 * k + 1] = 0;
    }
}

static inline void put_index(void *a, int bits, int64_t k, int64_t v)
{
    if (bits == 64) ((int64_t *)a)[k] = v;
    else ((int32_t *)a)[k] = (int32_t)v;
}

/* Lines of CSR or CSC from the full matrix; a unit diagonal is stored as something else or left out. */
static inline void store_lines(const shape *s, const double *a, trs_mat *m, uint64_t *state)
{
    const int n = s->n;
    int64_t room = (int64_t)n * n + n + 1, q = 0;
    int *column = malloc((size_t)(n + 1) * sizeof *column);
    void *ptr = malloc((size_t)(n + 1) * 8), *idx = malloc((size_t)room * 8),
         *val = malloc((size_t)room * 16);
    for (int l = 0; l < n; l++) {
        int count = 0;
        put_index(ptr, s->ptr_bits, l, q + s->base);
        for (int c = 0; c < n; c++) {
            int64_t k = s->format == TRS_CSR ? (int64_t)l * n + c : (int64_t)c * n + l;
            bool inside = s->format == TRS_CSR ? (s->kind & TRS_LOWER ? c <= l : c >= l)
                                               : (s->kind & TRS_LOWER ? c >= l : c <= l);
            bool stored = a[2 * k] != 0 || a[2 * k + 1] != 0;
            if (inside && c == l && (s->kind & TRS_UNIT)) stored = l % 2;
            if (!inside) stored = s->garbage && draw_below(state, 4) == 0;
            if (stored) column[count++] = c;
        }
        for (int k = count - 1; k > 0 && s->shuffled; k--) {
            int other = draw_below(state, k + 1), t = column[k];
            column[k] = column[other];
            column[other] = t;
        }
        for (int k = 0; k < count; k++, q++) {
            int c = column[k];
            int64_t at = s->format == TRS_CSR ? (int64_t)l * n + c : (int64_t)c * n + l;
            bool zero = a[2 * at] == 0 && a[2 * at + 1] == 0;
            bool other = zero || (c == l && (s->kind & TRS_UNIT));
            put_index(idx, s->idx_bits, q, c + s->base);
            put_number(val, s->dtype, q, other ? 77 : a[2 * at], other ? -3 : a[2 * at + 1]);
        }
    }
    put_index(ptr, s->ptr_bits, n, q + s->base);
    free(column);
    m->nnz = q;
    m->ptr = ptr;
    m->idx = idx;
    m->val = val;
}

static inline void store_full(const shape *s, const double *a, trs_mat *m)
{
    const int64_t n = s->n;
    m->ld = n + 2;
    void *val = malloc((size_t)(m->ld * n + 1) * 16);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m->ld; i++) {
            bool inside = i < n && (s->kind & TRS_LOWER ? i >= j : i <= j);
            int64_t k = i * n + j;
            put_number(val, s->dtype, j * m->ld + i, inside ? a[2 * k] : 55,
                       inside ? a[2 * k + 1] : 5);
        }
    m->val = val;
}

static inline triangle make_triangle(const shape *s)
{
    triangle t = {.mat = {.n = s->n,
                          .ptr_bits = s->ptr_bits,
                          .idx_bits = s->idx_bits,
                          .base = s->base,
                          .dtype = s->dtype,
                          .format = s->format,
                          .kind = s->kind}};
    uint64_t state = s->seed;
    t.dense = malloc(((size_t)s->n * (size_t)s->n + 1) * 2 * sizeof *t.dense);
    fill_dense(s, t.dense, &state);
    round_dense(s, t.dense);
    if (s->format == TRS_DENSE) store_full(s, t.dense, &t.mat);
    else store_lines(s, t.dense, &t.mat, &state);
    return t;
}

static inline void free_triangle(triangle *t)
{
    free((void *)t->mat.ptr);
    free((void *)t->mat.idx);
    free((void *)t->mat.val);
    free(t->dense);
}

/* Entry (i, j) of op (A). */
static inline void dense_entry(const triangle *t, trs_op op, int64_t i, int64_t j, double *re,
                               double *im)
{
    const int64_t k = op == TRS_N ? i * t->mat.n + j : j * t->mat.n + i;
    *re = t->dense[2 * k];
    *im = op == TRS_H ? -t->dense[2 * k + 1] : t->dense[2 * k + 1];
}

/* Componentwise and normwise backward error of one column, by the full matrix: independent of the
 * library. x and b: element i stands at i * step. */
static inline void dense_error(const triangle *t, trs_op op, const void *b, const void *x,
                               int64_t step, double *omega, double *normwise)
{
    long double worst = 0, anorm = 0, xnorm = 0, bnorm = 0, rnorm = 0;
    for (int64_t i = 0; i < t->mat.n; i++) {
        double are, aim, xre, xim, bre, bim;
        get_number(b, t->mat.dtype, i * step, &bre, &bim);
        long double re = bre, im = bim, size = fabs(bre) + fabs(bim), row = 0;
        if (size > bnorm) bnorm = size;
        for (int64_t j = 0; j < t->mat.n; j++) {
            dense_entry(t, op, i, j, &are, &aim);
            if (are == 0 && aim == 0) continue;
            get_number(x, t->mat.dtype, j * step, &xre, &xim);
            re -= (long double)are * xre - (long double)aim * xim;
            im -= (long double)are * xim + (long double)aim * xre;
            size += (long double)(fabs(are) + fabs(aim)) * (fabs(xre) + fabs(xim));
            row += fabs(are) + fabs(aim);
            if (!(fabs(xre) + fabs(xim) <= xnorm)) xnorm = fabs(xre) + fabs(xim);
        }
        long double r = fabsl(re) + fabsl(im);
        if (!(r <= rnorm)) rnorm = r;
        if (row > anorm) anorm = row;
        if (!(r == 0 && size == 0) && !(r / size <= worst)) worst = r / size;
    }
    *omega = (double)worst;
    *normwise = rnorm == 0 ? 0 : (double)(rnorm / (anorm * xnorm + bnorm));
}

#endif
