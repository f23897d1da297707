/* whole.c: makes all of a Hermitian matrix of one of its triangles.
 *
 *     A(i, j) = T(i, j) in the triangle,    A(j, i) = conj (T(i, j)) beyond it,    A(i, i) = Re (T(i, i))
 *
 * By the major index l, which is the row of CSR and the column of CSC, entry (l, c) of the triangle goes to line l, and its
 * mirror image to line c.  Lines of the triangle are visited in order; so what line c gets of others comes in order, and
 * after its own entries in a lower triangle by rows, before them in an upper one.
 * As in BLAS, the imaginary part of the diagonal is not looked at. */
#ifndef T

#include "config.h"

#include "whole.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <complex.h>
#include <string.h>

enum { BLOCK = 1 << 16 }; /* numbers that a thread takes at a time */

/* ---- values --------------------------------------------------------------------------------- */

typedef struct taking {
    const trs_whole *w;
    const void *val;
} taking;

#define TRS_BODY "matrix/whole.c"
#include "base/each_type.h"

void trs_whole_values(const trs_context *ctx, trs_whole *w, const void *val)
{
    static const trs_range_fn take[] = TRS_PER_TYPE(take);
    taking t = {w, val};
    const int64_t count = trs_value_count(&w->mat);
    trs_share(trs_team(ctx, count), count, BLOCK, take[w->mat.dtype], &t);
}

/* ---- pattern -------------------------------------------------------------------------------- */

/* The triangle, whose kind is that of its entries by row and column. */
static bool is_in(const trs_mat *t, int64_t l, int64_t c)
{
    return trs_by_rows(t) ? trs_in_triangle(t->kind, l, c) : trs_in_triangle(t->kind, c, l);
}

/* ptr [l+1] = where line l begins, and ptr [n+1] how many entries there are. */
static void count_lines(const trs_mat *t, int64_t *ptr)
{
    int64_t *count = ptr + 2;
    memset(ptr, 0, ((size_t)t->n + 2) * sizeof *ptr);
    for (int64_t l = 0; l < t->n; l++)
        for (int64_t p = trs_major_begin(t, l), end = trs_major_end(t, l); p < end; p++) {
            const int64_t c = trs_minor_index(t, l, p);
            if (!is_in(t, l, c)) continue;
            count[l]++;
            count[c] += c != l;
        }
    for (int64_t l = 0; l < t->n; l++) ptr[l + 2] += ptr[l + 1];
}

typedef struct placing {
    const trs_mat *t;
    trs_whole *w;
    int64_t *next; /* [n] where the next entry of each line goes: in the end, where the line ends */
    int32_t *idx;  /* NULL: a full matrix */
    const int64_t *place; /* of the entries of t in the caller's val; NULL: their own */
} placing;

/* Put entry p of the triangle at (l, c) of the whole. */
static void put(const placing *f, int64_t l, int64_t c, int64_t p, int how)
{
    const int64_t q = f->idx ? f->next[l]++ : l * f->t->n + c;
    if (f->idx) f->idx[q] = (int32_t)(c + f->t->base);
    f->w->from[q] = (f->place ? f->place[p] : p) << TRS_WHOLE_BITS | how;
}

static void place_entries(const placing *f)
{
    const trs_mat *t = f->t;
    for (int64_t l = 0; l < t->n; l++)
        for (int64_t p = trs_major_begin(t, l), end = trs_major_end(t, l); p < end; p++) {
            const int64_t c = trs_minor_index(t, l, p);
            if (!is_in(t, l, c)) continue;
            put(f, l, c, p, c == l ? TRS_REAL_PART : TRS_STORED);
            if (c != l) put(f, c, l, p, TRS_CONJUGATE);
        }
}

/* The pointers, and room for the indices. */
static int make_lines(trs_context *ctx, placing *f, int64_t **ptr)
{
    const trs_mat *t = f->t;
    trs_mat *m = &f->w->mat;
    *ptr = trs_new(ctx, t->n + 2, sizeof **ptr, "row pointers");
    if (!*ptr) return TRS_EMEM;
    m->ptr = *ptr, m->ptr_bits = 64, m->idx_bits = 32;
    count_lines(t, *ptr);
    m->nnz = (*ptr)[t->n + 1];
    m->idx = f->idx = trs_new(ctx, m->nnz, sizeof *f->idx, "columns");
    f->next = *ptr + 1;
    return f->idx ? TRS_OK : TRS_EMEM;
}

/* Make f->w of the triangle f->t, which is not of blocks. */
static int make(trs_context *ctx, placing *f, const void *val)
{
    trs_mat *m = &f->w->mat;
    int64_t *ptr = NULL;
    *m = *f->t;
    m->ptr = m->idx = m->val = NULL;
    m->kind = 0;
    m->ld = m->n;
    int rc = m->format == TRS_DENSE ? TRS_OK : make_lines(ctx, f, &ptr);
    if (rc) return rc;
    f->w->from = trs_new(ctx, trs_value_count(m), sizeof *f->w->from, "places of the values");
    m->val = trs_new(ctx, trs_value_count(m), trs_size(m->dtype), "values");
    if (!f->w->from || !m->val) return TRS_EMEM;
    place_entries(f);
    for (int64_t l = 0; ptr && l <= m->n; l++) ptr[l] += m->base;
    TRS_ASSERT(!ptr || ptr[m->n] == m->nnz + m->base);
    trs_whole_values(ctx, f->w, val);
    return TRS_OK;
}

int trs_whole_make(trs_context *ctx, const trs_mat *m, trs_whole *w)
{
    trs_mat t;
    int64_t *place = NULL;
    memset(w, 0, sizeof *w);
    int rc = trs_check_mat(m);
    if (!rc) rc = trs_unblock(ctx, m, &t, &place);
    if (rc) return rc;
    placing f = {.t = &t, .w = w, .place = place};
    rc = make(ctx, &f, m->val);
    trs_free(&ctx->mem, place);
    trs_unblock_done(ctx, m, &t);
    if (rc) trs_whole_free(ctx, w);
    return rc;
}

void trs_whole_free(trs_context *ctx, trs_whole *w)
{
    trs_free(&ctx->mem, (void *)w->mat.ptr);
    trs_free(&ctx->mem, (void *)w->mat.idx);
    trs_free(&ctx->mem, (void *)w->mat.val);
    trs_free(&ctx->mem, w->from);
    memset(w, 0, sizeof *w);
}

/* ---- what is not blocks and not half of a matrix -------------------------------------------------- */

int trs_expand(trs_context *ctx, const trs_mat *m, trs_mat *out)
{
    trs_whole w;
    if (!trs_is_half(m)) return trs_unblock(ctx, m, out, NULL);
    int rc = trs_whole_make(ctx, m, &w);
    *out = w.mat;
    trs_free(&ctx->mem, w.from);
    return rc;
}

void trs_expand_done(trs_context *ctx, const trs_mat *m, trs_mat *out)
{
    trs_whole w = {.mat = *out};
    if (trs_is_half(m)) trs_whole_free(ctx, &w);
    else trs_unblock_done(ctx, m, out);
}

#else

/* Numbers begin .. end-1 of the whole, of those that are stored. */
static void FN(take)(void *user, int64_t begin, int64_t end)
{
    const taking *t = user;
    const T *val = t->val;
    T *to = (T *)t->w->mat.val;
    for (int64_t q = begin; q < end; q++) {
        const int64_t from = t->w->from[q];
        const T a = val[from >> TRS_WHOLE_BITS];
        switch (from & ((1 << TRS_WHOLE_BITS) - 1)) {
        case TRS_CONJUGATE:
            to[q] = CONJ(a);
            break;
        case TRS_REAL_PART:
            to[q] = (REAL)a;
            break;
        default:
            to[q] = a;
        }
    }
}

#endif
