/* row_numbers.c: the numbers of L and U, row by row.
 *
 *     w = scale(i) a(i, :)
 *     for k < i in row i, ascending:     l(i, k) = w(k) / u(k, k);     w(j) = w(j) - l(i, k) u(k, j),  j > k
 *     row i of U = w
 *
 * w is a full vector.  A row that has column k has all columns of row k of U, so nothing is searched.  Up to DEPTH rows k of U
 * that have one pattern are subtracted at once: then w(j) is read and written once for all of them.  Where the columns of U
 * are consecutive, which they are in the dense end of many factors, the loop over them has vectors.
 *
 * Row i reads the rows k that it has entries in, which are all of earlier levels. */
#ifndef T

#include "config.h"

#include "again.h"
#include "base/debug.h"
#include "base/number/clones.h"

#include <math.h>
#include <stdatomic.h>

enum { DEPTH = 8, WIDE = 8 };

typedef double wide __attribute__((vector_size(64), aligned(sizeof(double)), may_alias));

#define TRS_BODY "factor/again/row_numbers.c"
#include "base/each_type.h"

typedef void (*rows_fn)(const trs_again_rows *, int32_t begin, int32_t end, const void *a, void *w,
                        trs_again_outcome *);

typedef struct sweep {
    const trs_again_rows *r;
    const void *a;
    rows_fn rows;
    trs_again_outcome outcome[TRS_ILU_THREADS]; /* of each thread */
    atomic_bool canceled;
} sweep;

static void do_rows(void *user, int thread, int32_t begin, int32_t end)
{
    sweep *s = user;
    const trs_again_rows *r = s->r;
    const int64_t n = r->rows.t.n;
    char *w = (char *)r->work + (size_t)(n * thread) * trs_size(r->rows.t.dtype);
    if (thread == 0 && trs_step("factorization", (double)begin / (double)n))
        atomic_store(&s->canceled, true);
    if (atomic_load(&s->canceled)) return;
    if (r->product) trs_again_products_rows(r, begin, end, s->a, &s->outcome[thread]);
    else s->rows(r, begin, end, s->a, w, &s->outcome[thread]);
}

trs_again_outcome trs_again_rows_run(const trs_again_rows *r, const void *a)
{
    static const rows_fn rows[] = TRS_PER_TYPE(some_rows);
    const trs_ilu_rows *f = &r->rows;
    sweep s = {.r = r, .a = a, .rows = rows[r->type]};
    trs_again_outcome all = {.least = INFINITY};
    for (int t = 0; t < f->threads; t++) s.outcome[t] = all;
    if (f->threads > 1) trs_stages_run(f->stage, f->stages, f->progress, f->threads, do_rows, &s);
    else do_rows(&s, 0, 0, f->t.n);
    for (int t = 0; t < f->threads; t++) {
        const trs_again_outcome *o = &s.outcome[t];
        if (o->largest_a > all.largest_a) all.largest_a = o->largest_a;
        if (o->largest > all.largest) all.largest = o->largest;
        if (o->least < all.least) all.least = o->least;
        if (o->most > all.most) all.most = o->most;
        all.bad |= o->bad;
    }
    return all;
}

#else

#include "again_number.h"

/* w = row i of A. */
TRS_INLINE void FN(scatter)(const trs_again_rows *r, int32_t i, const T *a, FN(number) * w,
                            trs_again_outcome *o)
{
    const double scale = r->scale ? r->scale[i] : 1;
    double largest = o->largest_a;
    for (int64_t e = r->a_ptr[i]; e < r->a_ptr[i + 1]; e++) {
        const FN(number) z = scale * (FN(number))a[r->a_src[e]];
        const double size = FN(size)(z);
        w[r->a_idx[e]] = z;
        FN(larger_a)(size, &largest, o);
    }
    o->largest_a = largest;
}

/* Eliminate columns k .. k+depth-1, which rows of U with one pattern have, from row i, where their numbers begin at p. */
TRS_INLINE void FN(eliminate)(const trs_again_rows *r, int32_t k, int depth, FN(number) * L,
                              FN(number) * w, double *growth)
{
    const trs_ilu_rows *f = &r->rows;
    const FN(number) *Ux = f->t.val, *inverse = r->inverse, *u[DEPTH];
    FN(number) l[DEPTH];
#pragma GCC unroll 8
    for (int d = 0; d < depth; d++) {
        const FN(number) *row = Ux + f->diag[k + d];
        l[d] = L[d] = FN(product)(w[k + d], inverse[k + d]);
        const double size = FN(size)(l[d]) * r->largest[k + d];
        if (size > *growth) *growth = size;
        w[k + d] = 0;
#pragma GCC unroll 8
        for (int e = d + 1; e < depth; e++) w[k + e] -= FN(product)(l[d], row[e - d]);
        u[d] = row + depth - d;
    }
    const int64_t begin = f->diag[k + depth - 1] + 1, end = f->t.ptr[k + depth];
    const int64_t apart = trs_min(r->dense[k + depth - 1], end) - begin, all = end - begin;
    const int32_t *idx = f->t.idx + begin;
    int64_t q = 0;
    for (; q < apart; q++) {
        FN(number) s = w[idx[q]];
#pragma GCC unroll 8
        for (int d = 0; d < depth; d++) s -= FN(product)(l[d], u[d][q]);
        w[idx[q]] = s;
    }
    if (q == all) return;
    FN(number) *restrict x = w + idx[q] - q;
#if !IS_COMPLEX
    for (; q + WIDE <= all; q += WIDE) {
        wide s = *(const wide *)(x + q);
#pragma GCC unroll 8
        for (int d = 0; d < depth; d++) s -= l[d] * *(const wide *)(u[d] + q);
        *(wide *)(x + q) = s;
    }
#endif
    for (; q < all; q++) {
        FN(number) s = x[q];
#pragma GCC unroll 8
        for (int d = 0; d < depth; d++) s -= FN(product)(l[d], u[d][q]);
        x[q] = s;
    }
}

/* Row i of U = w, which is zero afterwards. */
TRS_INLINE void FN(gather)(const trs_again_rows *r, int32_t i, FN(number) * w, trs_again_outcome *o)
{
    const trs_ilu_rows *f = &r->rows;
    const int32_t *idx = f->t.idx;
    FN(number) *U = f->t.val;
    double largest = 0;
    for (int64_t p = f->diag[i]; p < f->t.ptr[i + 1]; p++) {
        const FN(number) z = U[p] = w[idx[p]];
        const double size = FN(size)(z);
        w[idx[p]] = 0;
        if (!(size <= largest)) largest = size;
    }
    FN(pivot)(r, i, U[f->diag[i]], o);
    FN(row_done)(r, i, largest, o);
}

CLONES static void FN(some_rows)(const trs_again_rows *r, int32_t begin, int32_t end, const void *a,
                                 void *work, trs_again_outcome *o)
{
    const trs_ilu_rows *f = &r->rows;
    FN(number) *w = work;
    for (int32_t k = begin; k < end; k++) {
        const int32_t i = f->threads > 1 ? f->topo[k] : k;
        FN(scatter)(r, i, a, w, o);
        for (int64_t p = f->t.ptr[i]; p < f->diag[i];) {
            const int32_t j = f->t.idx[p];
            const int64_t depth = trs_min(r->same[j] + 1, f->diag[i] - p);
            FN(number) *L = (FN(number) *)f->t.val + p;
            if (depth >= DEPTH) FN(eliminate)(r, j, DEPTH, L, w, &o->largest), p += DEPTH;
            else if (depth >= 4) FN(eliminate)(r, j, 4, L, w, &o->largest), p += 4;
            else if (depth >= 2) FN(eliminate)(r, j, 2, L, w, &o->largest), p += 2;
            else FN(eliminate)(r, j, 1, L, w, &o->largest), p++;
        }
        FN(gather)(r, i, w, o);
    }
}

#endif
