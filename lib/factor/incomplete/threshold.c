/* threshold.c: the pattern of ILUT and ICT, which keep entries by their size.
 *
 * Step i of Crout's form of elimination computes row i of U and column i of L from those before it:
 *
 *     u(i, j) =  a(i, j) - sum_(k < i) l(i, k) u(k, j)               j >= i
 *     l(j, i) = (a(j, i) - sum_(k < i) l(j, k) u(k, i)) / u(i, i)    j > i
 *
 * and drops u(i, j) if it is smaller than drop_tol times the norm of row i of A, and l(j, i) u(i, i) if it is smaller than
 * that of column i.  If more are left than the bound on entries allows, the largest stay.  What is dropped has no part in
 * later steps.  So with S for the pattern that remains,
 *
 *     (L U)(i, j) = a(i, j) in S,   |(L U - A)(i, j)| = |what was dropped| outside.
 *
 * These are the factors that ilu_rows.c computes in S, for these values of A and for later ones: only S is returned.
 * Both sides do the same.  Each has its rows, U or L' diag (U), of values before the division:
 *
 *     step i of a side:   w = a(i, i:) - sum_k x(k, i) / u(k, k) y(k, i:)     x of the other side, y of this one
 *     L D L^H has one side, which is its own other one:  conj (x(k, i))
 *
 * k is any row of the other side with an entry in column i.  The rows of a side are in lists by the column of the entry that
 * comes next, which step i moves on.  Entries before `next` are never read again.
 * Sources: Saad, ILUT: a dual threshold incomplete LU factorization, Numer. Linear Algebra Appl. 1 (1994) 387-402; Li, Saad,
 * Chow, Crout versions of ILU for general sparse matrices, SIAM J. Sci. Comput. 25 (2003) 716-728; Jones, Plassmann, An
 * improved incomplete Cholesky factorization, ACM TOMS 21 (1995) 5-17 (the lists). */
#ifndef T

#include "config.h"

#include "fill.h"
#include "threshold.h"
#include "base/debug.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char phase[] = "fill";

/* U by rows, or L by columns, off the diagonal. */
typedef struct side {
    const trs_tri *a; /* A by rows, or by columns */
    double *norm;     /* [n] of rows of A, or columns */
    int diagonal;     /* 1: its rows have the pivot, too */
    double spare;     /* entries that it may still get */
    trs_tri t;        /* columns ascending; nnz are so far, of `room` */
    int64_t room;
    int64_t *next;         /* [n] the first entry of row k whose column is at least i */
    int32_t *first, *link; /* [n] rows k by the column of entry next [k]; -1 ends a list */
} side;

/* An entry of w. */
typedef struct found {
    double size;
    int32_t col;
} found;

typedef struct search {
    trs_context *ctx;
    const trs_threshold *how;
    double fill; /* entries allowed for each of A */
    side side[2];
    int sides;
    void *d;       /* [n] pivots */
    void *w;       /* [n] */
    bool *seen;    /* [n] w has this entry: all false between rows */
    int32_t *col;  /* [n] those entries */
    int32_t count; /* of them */
    found *kept;   /* [n] */
    int64_t work;  /* since the last announcement */
} search;

/* ---- rows by their next column -------------------------------------------------------------- */

static void enqueue(side *s, int32_t k)
{
    if (s->next[k] == s->t.ptr[k + 1]) return;
    const int32_t j = s->t.idx[s->next[k]];
    s->link[k] = s->first[j];
    s->first[j] = k;
}

/* Step i is done. */
static void advance(side *s, int32_t i)
{
    for (int32_t k = s->first[i], after; k >= 0; k = after) {
        after = s->link[k];
        s->next[k]++;
        enqueue(s, k);
    }
    s->next[i] = s->t.ptr[i];
    enqueue(s, i);
}

/* Make room for more entries. */
static int reserve(trs_context *ctx, side *s, int64_t more)
{
    const int64_t nnz = s->t.nnz;
    const size_t size = trs_size(s->t.dtype);
    if (nnz + more <= s->room) return TRS_OK;
    const int64_t room = trs_max(nnz + more, 2 * s->room);
    int32_t *idx = trs_new(ctx, room, sizeof *idx, "columns");
    void *val = trs_new(ctx, room, size, "values");
    if (!idx || !val) {
        trs_free_all(&ctx->mem, idx, val);
        return TRS_EMEM;
    }
    if (nnz) memcpy(idx, s->t.idx, (size_t)nnz * sizeof *idx);
    if (nnz) memcpy(val, s->t.val, (size_t)nnz * size);
    trs_free_all(&ctx->mem, s->t.idx, s->t.val);
    s->t.idx = idx, s->t.val = val, s->room = room;
    return TRS_OK;
}

/* ---- what stays of a row --------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const found *p = a, *q = b;
    if (p->size != q->size) return p->size > q->size ? -1 : 1;
    return p->col < q->col ? -1 : 1;
}

static int by_column(const void *a, const void *b)
{
    const found *p = a, *q = b;
    return p->col < q->col ? -1 : 1;
}

/* How many of kept [0..count-1] stay, with ascending columns. */
static int32_t select_largest(search *h, side *s, int32_t count)
{
    const double spare = fmax(s->spare, 0);
    if (count > spare) {
        qsort(h->kept, (size_t)count, sizeof *h->kept, by_size);
        count = (int32_t)spare;
    }
    qsort(h->kept, (size_t)count, sizeof *h->kept, by_column);
    s->spare -= count;
    return count;
}

#define TRS_BODY "factor/incomplete/threshold.c"
#include "base/each_type.h"

/* ---- all rows --------------------------------------------------------------------------------- */

typedef int (*sweep_fn)(search *h, const trs_tri *t);
static const sweep_fn sweep[] = TRS_PER_TYPE(sweep);

static int open_side(trs_context *ctx, side *s, const trs_tri *a, int diagonal)
{
    const int32_t n = a->n;
    s->a = a;
    s->diagonal = diagonal;
    s->t = (trs_tri){.n = n, .dtype = a->dtype};
    s->norm = trs_new(ctx, n, sizeof *s->norm, "norms of rows");
    s->t.ptr = trs_new(ctx, (int64_t)n + 1, sizeof *s->t.ptr, "row pointers");
    s->next = trs_new(ctx, n, sizeof *s->next, "the next columns");
    s->first = trs_new(ctx, n, sizeof *s->first, "rows by columns");
    s->link = trs_new(ctx, n, sizeof *s->link, "rows by columns");
    if (!s->norm || !s->t.ptr || !s->next || !s->first || !s->link) return TRS_EMEM;
    s->t.ptr[0] = 0;
    for (int32_t i = 0; i < n; i++) s->norm[i] = 0, s->first[i] = -1;
    return reserve(ctx, s, a->nnz);
}

static int open(search *h, const trs_tri *t, const trs_tri *turned)
{
    trs_context *ctx = h->ctx;
    const int64_t n = t->n;
    const size_t size = trs_size(t->dtype);
    const bool cholesky = h->how->cholesky;
    h->fill = (double)h->how->most / (double)trs_max(t->nnz, 1);
    int rc = open_side(ctx, &h->side[0], cholesky ? turned : t, 1);
    if (!rc && !cholesky) rc = open_side(ctx, &h->side[1], turned, 0);
    if (rc) return rc;
    h->d = trs_new(ctx, n, size, "pivots");
    h->w = trs_new(ctx, n, size, "a row");
    h->col = trs_new(ctx, n, sizeof *h->col, "columns of a row");
    h->kept = trs_new(ctx, n, sizeof *h->kept, "entries of a row");
    if (!h->d || !h->w || !h->col || !h->kept) return TRS_EMEM;
    h->seen = trs_alloc_zero(&ctx->mem, n, sizeof *h->seen);
    return h->seen ? TRS_OK : trs_fail(TRS_EMEM, "out of memory for the columns of a row");
}

static void close(search *h)
{
    const trs_memory *mem = &h->ctx->mem;
    for (int k = 0; k < 2; k++) {
        side *s = &h->side[k];
        trs_free_all(mem, s->norm, s->next, s->first, s->link);
        trs_tri_free(h->ctx, &s->t);
    }
    trs_free_all(mem, h->d, h->w, h->seen, h->col, h->kept);
}

int trs_threshold_fill(trs_context *ctx, trs_tri *t, const trs_threshold *how)
{
    search h = {.ctx = ctx, .how = how, .sides = how->cholesky ? 1 : 2};
    trs_tri turned = {0}, L = {0}, all;
    int rc = trs_step(phase, -1);
    if (!rc) rc = trs_tri_transpose(ctx, t, true, &turned);
    if (!rc) rc = open(&h, t, &turned);
    if (!rc) rc = sweep[t->dtype](&h, t);
    trs_tri_free(ctx, &turned);
    side *lower = &h.side[h.sides - 1];
    if (!rc) rc = trs_tri_transpose(ctx, &lower->t, false, &L);
    trs_tri_free(ctx, &lower->t);
    if (!rc) rc = trs_fill_assemble(ctx, t, &L, &h.side[0].t, &all);
    trs_tri_free(ctx, &L);
    close(&h);
    if (rc) return rc;
    trs_tri_free(ctx, t);
    *t = all;
    return TRS_OK;
}

#else

static double FN(size)(T z)
{
#if IS_COMPLEX
    return hypot((double)creal(z), (double)cimag(z));
#else
    return fabs((double)z);
#endif
}

/* norm [i] becomes the 2-norm of that and of row i of a. */
static void FN(add_rows)(double *norm, const trs_tri *a, bool off_diagonal)
{
    const T *Ax = a->val;
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            if (!off_diagonal || a->idx[p] != i) norm[i] = hypot(norm[i], FN(size)(Ax[p]));
}

static void FN(add)(search *h, int32_t j, T x)
{
    T *w = h->w;
    if (h->seen[j]) {
        w[j] += x;
        return;
    }
    h->seen[j] = true;
    h->col[h->count++] = j;
    w[j] = x;
}

/* w = row i of A from the diagonal on. */
static void FN(enter)(search *h, side *s, int32_t i)
{
    const trs_tri *a = s->a;
    const T *Ax = a->val;
    const int64_t end = a->ptr[i + 1];
    const int64_t begin = trs_first_from(a->idx, a->ptr[i], end, (int64_t)i + 1 - s->diagonal);
    h->count = 0;
    for (int64_t p = begin; p < end; p++) {
        const double shift = a->idx[p] == i ? h->how->shift : 0;
        FN(add)(h, a->idx[p], (T)(Ax[p] * (1 + shift)));
    }
    s->spare += h->fill * (double)(end - begin) - s->diagonal;
}

/* w -= x(k, i) / u(k, k) y(k, :) for all k. */
static void FN(eliminate)(search *h, const side *s, const side *other, int32_t i)
{
    const T *d = h->d, *x = other->t.val, *y = s->t.val;
    for (int32_t k = other->first[i]; k >= 0; k = other->link[k]) {
        const T xk = x[other->next[k]], f = -(h->how->cholesky ? CONJ(xk) : xk) / d[k];
        TRS_ASSERT(other->t.idx[other->next[k]] == i);
        for (int64_t q = s->next[k]; q < s->t.ptr[k + 1]; q++) FN(add)(h, s->t.idx[q], f * y[q]);
        h->work += s->t.ptr[k + 1] - s->next[k];
    }
}

/* The pivot of row i.  A bad one is replaced by a number that leaves the next rows sensible; ilu_rows.c judges it. */
static void FN(set_pivot)(search *h, double norm, int32_t i)
{
    const trs_threshold *how = h->how;
    const double boost = how->boost > 0 ? how->boost : 1;
    T *d = (T *)h->d + i;
    *d = ((const T *)h->w)[i];
    if (how->cholesky) *d = (T)creal(*d);
    const double size = how->cholesky ? (double)creal(*d) : FN(size)(*d);
    if (size > how->boost * norm && isfinite(size)) return;
    *d = (T)(norm > 0 ? boost * norm : 1);
}

/* Row i of the side is what is large in w. */
static int FN(keep)(search *h, side *s, int32_t i)
{
    const T *w = h->w;
    const double least = h->how->drop_tol * s->norm[i];
    int32_t count = 0;
    for (int32_t c = 0; c < h->count; c++) {
        const int32_t j = h->col[c];
        const double size = FN(size)(w[j]);
        h->seen[j] = false;
        if (j > i && !(size < least)) h->kept[count++] = (found){fmin(size, DBL_MAX), j};
    }
    count = select_largest(h, s, count);
    const int rc = reserve(h->ctx, s, count);
    if (rc) return rc;
    for (int32_t c = 0; c < count; c++) {
        const int32_t j = h->kept[c].col;
        s->t.idx[s->t.nnz] = j;
        ((T *)s->t.val)[s->t.nnz++] = w[j];
    }
    s->t.ptr[i + 1] = s->t.nnz;
    return TRS_OK;
}

static int FN(sweep)(search *h, const trs_tri *t)
{
    int rc = TRS_OK;
    for (int k = 0; k < h->sides; k++) FN(add_rows)(h->side[k].norm, h->side[k].a, false);
    if (h->how->cholesky) FN(add_rows)(h->side[0].norm, t, true);
    for (int32_t i = 0; i < t->n && !rc; i++) {
        for (int k = 0; k < h->sides && !rc; k++) {
            side *s = &h->side[k];
            FN(enter)(h, s, i);
            FN(eliminate)(h, s, &h->side[h->sides - 1 - k], i);
            if (s->diagonal) FN(set_pivot)(h, s->norm[i], i);
            rc = FN(keep)(h, s, i);
        }
        for (int k = 0; k < h->sides && !rc; k++) advance(&h->side[k], i);
        if (!rc && trs_is_time(&h->work, 1)) rc = trs_step(phase, -1);
    }
    return rc;
}

#endif
