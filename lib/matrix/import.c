/* import.c: makes a canonical triangle of what the caller has.
 *
 * A matrix that is canonical already goes through canonical.c, and a triangle of one with ascending indices through ascending.c.
 * Any other one (CSR, CSC or dense, of any widths and either base, columns in any order) is read once, by its major index, which is
 * the row of CSR and the column of the others.  The result is op(T) by rows as the caller stored it, T itself for CSR and
 * T' for the others.  The operators are made of it by transposing and by counting backwards.  Both take O(nnz) and
 * carry the values along, and the places where these came from. */
#include "config.h"

#include "base/parallel.h"
#include "canonical.h"

#include <complex.h>
#include <inttypes.h>
#include <string.h>

/* entries, and major indices, that a thread takes at a time */
enum { BLOCK = 1 << 16, MAJORS = 1024 };

int trs_tri_entries(trs_context *ctx, trs_tri *t, bool values, bool places)
{
    const double bytes = (double)t->nnz * (double)(trs_size(t->dtype) + sizeof *t->idx);
    if (ctx->limit && values && bytes > (double)ctx->limit)
        return trs_fail(TRS_EMEM, "the triangle has %.3g bytes, over the limit", bytes);
    t->idx = trs_new_touched(ctx, t->nnz, sizeof *t->idx, "columns");
    if (!t->idx) return TRS_EMEM;
    if (values) t->val = trs_new_touched(ctx, t->nnz, trs_size(t->dtype), "values");
    if (values && !t->val) return TRS_EMEM;
    if (!places) return TRS_OK;
    t->src = trs_new_touched(ctx, t->nnz, sizeof *t->src, "places of the values");
    return t->src ? TRS_OK : TRS_EMEM;
}

static int tri_new(trs_context *ctx, trs_tri *t, const trs_tri *like, bool values)
{
    *t = (trs_tri){.n = like->n, .nnz = like->nnz, .dtype = like->dtype};
    t->ptr = trs_new(ctx, (int64_t)t->n + 1, sizeof *t->ptr, "row pointers");
    if (t->ptr && !trs_tri_entries(ctx, t, values, values)) return TRS_OK;
    trs_tri_free(ctx, t);
    return TRS_EMEM;
}

void trs_tri_free(trs_context *ctx, trs_tri *t)
{
    trs_free(&ctx->mem, t->ptr);
    trs_free(&ctx->mem, t->idx);
    trs_free(&ctx->mem, t->val);
    trs_free(&ctx->mem, t->src);
    memset(t, 0, sizeof *t);
}

/* ---- reading the caller's arrays ------------------------------------------------------------ */

typedef struct source { /* the caller's matrix */
    const trs_mat *m;
    bool by_rows;
    /* where indices ascend, the diagonal follows the wanted triangle, else it precedes it */
    bool diagonal_last;
} source;

/* Is an entry off the diagonal, and in the triangle that is wanted? */
static bool wanted(const source *s, int64_t i, int64_t j)
{
    if (i == j) return false;
    return s->by_rows ? trs_in_triangle(s->m->kind, i, j) : trs_in_triangle(s->m->kind, j, i);
}

typedef struct intake { /* of the matrix, shared among threads */
    const source *s;
    trs_tri *t;
    _Atomic int64_t twice; /* the first major index whose diagonal is stored twice */
    atomic_bool ascend;    /* the minor indices do, as far as they were looked at */
} intake;

/* ptr [i+1] = the number of entries with major index i: those that are wanted, and the diagonal, stored or not. */
static void count_some(void *user, int64_t begin, int64_t end)
{
    const intake *l = user;
    const source *s = l->s;
    for (int64_t i = begin; i < end; i++) {
        int64_t count = 1;
        for (int64_t p = trs_major_begin(s->m, i), q = trs_major_end(s->m, i); p < q; p++)
            count += wanted(s, i, trs_minor_index(s->m, i, p));
        l->t->ptr[i + 1] = count;
    }
}

static void count_majors(const trs_context *ctx, intake *l)
{
    const int64_t n = l->s->m->n;
    int64_t *ptr = l->t->ptr;
    ptr[0] = 0;
    trs_share(trs_team(ctx, trs_major_begin(l->s->m, n > 0 ? n - 1 : 0)), n, MAJORS, count_some, l);
    for (int64_t i = 0; i < n; i++) ptr[i + 1] += ptr[i];
    l->t->nnz = ptr[n];
}

/* Copy the wanted entries with major index i, and the place of the diagonal.  Returns false if they do not ascend.
 * *twice becomes i if the diagonal is stored twice. */
static bool copy_major(const source *s, int64_t i, trs_tri *t, int64_t *twice)
{
    int64_t last = -1, q = t->ptr[i] + !s->diagonal_last, diagonal = TRS_SRC_MISSING;
    const int64_t at = s->diagonal_last ? t->ptr[i + 1] - 1 : t->ptr[i];
    bool ascend = true;
    for (int64_t p = trs_major_begin(s->m, i), end = trs_major_end(s->m, i); p < end; p++) {
        int64_t j = trs_minor_index(s->m, i, p);
        if (j == i) {
            if (diagonal != TRS_SRC_MISSING && i < *twice) *twice = i;
            diagonal = p;
        } else if (wanted(s, i, j)) {
            ascend &= j > last;
            last = j;
            t->idx[q] = (int32_t)j;
            t->src[q++] = p;
        }
    }
    t->idx[at] = (int32_t)i;
    t->src[at] = s->m->kind & TRS_UNIT ? TRS_SRC_UNIT : diagonal;
    return ascend;
}

static void copy_some(void *user, int64_t begin, int64_t end)
{
    intake *l = user;
    int64_t twice = INT64_MAX;
    bool ascend = true;
    for (int64_t i = begin; i < end; i++) ascend &= copy_major(l->s, i, l->t, &twice);
    if (!ascend) l->ascend = false;
    trs_note_least(&l->twice, twice);
}

/* Copy all entries.  A diagonal that is stored twice is an error. */
static int copy_majors(trs_context *ctx, intake *l)
{
    const int base = l->s->m->base;
    trs_share(trs_team(ctx, l->t->nnz), l->s->m->n, MAJORS, copy_some, l);
    if (l->twice == INT64_MAX) return TRS_OK;
    return trs_fail(TRS_EMATRIX, "row %" PRId64 ", column %" PRId64 " is stored twice",
                    l->twice + base, l->twice + base);
}

/* When t is sorted, two equal neighbours are an entry that was stored twice. */
static int find_duplicate(trs_context *ctx, const source *s, const trs_tri *t)
{
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i] + 1; p < t->ptr[i + 1]; p++)
            if (t->idx[p] == t->idx[p - 1])
                return trs_fail(TRS_EMATRIX, "row %d, column %d is stored twice",
                                (s->by_rows ? i : t->idx[p]) + ctx->base,
                                (s->by_rows ? t->idx[p] : i) + ctx->base);
    return TRS_OK;
}

/* Sort the columns of every row in O(nnz), by transposing twice: a transposition visits rows in order, so each row of
 * its result ascends. */
static int sort_majors(trs_context *ctx, trs_tri *t)
{
    trs_tri a;
    int rc = trs_tri_transpose(ctx, t, true, &a);
    trs_tri_free(ctx, t);
    if (rc) return rc;
    rc = trs_tri_transpose(ctx, &a, true, t);
    trs_tri_free(ctx, &a);
    return rc;
}

void trs_tri_drop_identity(trs_context *ctx, trs_tri *t)
{
    if (!t->src) return;
    for (int64_t p = 0; p < t->nnz; p++)
        if (t->src[p] != p) return;
    trs_free(&ctx->mem, t->src);
    t->src = NULL;
}

int trs_tri_import(trs_context *ctx, const trs_mat *m, trs_tri *t)
{
    if (m->format == TRS_BSR) {
        const int bad = trs_check_mat(m);
        if (bad) return bad;
        return trs_bsr_import(ctx, m, t);
    }
    const bool by_rows = m->format == TRS_CSR;
    source s = {m, by_rows, by_rows == !!(m->kind & TRS_LOWER)};
    intake l = {.s = &s, .t = t, .twice = INT64_MAX, .ascend = true};
    int rc = trs_canonical_import(ctx, m, t);
    if (rc != TRS_EMATRIX) return rc;
    rc = trs_check_mat(m);
    if (rc) return rc;
    rc = trs_ascending_import(ctx, m, s.diagonal_last, t);
    if (rc != TRS_EMATRIX) return rc;
    *t = (trs_tri){.n = (int32_t)m->n, .dtype = m->dtype};
    t->ptr = trs_new(ctx, m->n + 1, sizeof *t->ptr, "row pointers");
    if (!t->ptr) return TRS_EMEM;
    count_majors(ctx, &l);
    rc = trs_tri_entries(ctx, t, true, true);
    if (!rc) rc = copy_majors(ctx, &l);
    if (!rc) trs_tri_read_values(ctx, t, m->val);
    if (!rc && !l.ascend) {
        rc = sort_majors(ctx, t);
        if (!rc) rc = find_duplicate(ctx, &s, t);
    }
    if (rc) trs_tri_free(ctx, t);
    return rc;
}

/* ---- values ------------------------------------------------------------------------------- */

#define TRS_READ_VALUES(T)                                                                         \
    for (int64_t p = begin; p < end; p++)                                                          \
    ((T *)t->val)[p] = t->src[p] >= 0 ? ((const T *)val)[t->src[p]] : (T)(t->src[p] == TRS_SRC_UNIT)

typedef struct reading { /* new values on their way into a triangle */
    trs_tri *t;
    const void *val;
} reading;

static void read_some(void *user, int64_t begin, int64_t end)
{
    trs_tri *t = ((const reading *)user)->t;
    const void *val = ((const reading *)user)->val;
    const size_t size = trs_size(t->dtype), from = (size_t)begin * size;
    if (!t->src) {
        memcpy((char *)t->val + from, (const char *)val + from, (size_t)(end - begin) * size);
        return;
    }
    switch (t->dtype) {
    case TRS_F32:
        TRS_READ_VALUES(float);
        break;
    case TRS_F64:
        TRS_READ_VALUES(double);
        break;
    case TRS_C32:
        TRS_READ_VALUES(float complex);
        break;
    case TRS_C64:
        TRS_READ_VALUES(double complex);
        break;
    default: /* check.c refuses integers */
        break;
    }
}

void trs_tri_read_values(const trs_context *ctx, trs_tri *t, const void *val)
{
    reading r = {t, val};
    trs_share(trs_team(ctx, t->nnz), t->nnz, BLOCK, read_some, &r);
}

static void copy_value(void *to, int64_t q, const void *from, int64_t p, size_t size)
{
    if (size == 8) ((uint64_t *)to)[q] = ((const uint64_t *)from)[p];
    else if (size == 4) ((uint32_t *)to)[q] = ((const uint32_t *)from)[p];
    else ((double complex *)to)[q] = ((const double complex *)from)[p];
}

/* ---- changing the order ------------------------------------------------------------------- */

int trs_tri_transpose(trs_context *ctx, const trs_tri *a, bool values, trs_tri *t)
{
    int rc = tri_new(ctx, t, a, values);
    if (rc) return rc;
    size_t size = trs_size(a->dtype);
    int64_t *w = t->ptr; /* w [j+1] counts, then walks, column j */
    memset(w, 0, ((size_t)a->n + 1) * sizeof *w);
    for (int64_t p = 0; p < a->nnz; p++) w[a->idx[p] + 1]++;
    for (int32_t j = 0; j < a->n; j++) w[j + 1] += w[j];
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            int64_t q = w[a->idx[p]]++;
            t->idx[q] = i;
            if (!values) continue;
            t->src[q] = a->src ? a->src[p] : p;
            copy_value(t->val, q, a->val, p, size);
        }
    /* w [j] has arrived at the end of column j */
    memmove(t->ptr + 1, t->ptr, (size_t)a->n * sizeof *w);
    t->ptr[0] = 0;
    return TRS_OK;
}

int trs_tri_copy(trs_context *ctx, const trs_tri *a, trs_tri *t)
{
    int rc = tri_new(ctx, t, a, true);
    if (rc) return rc;
    memcpy(t->ptr, a->ptr, ((size_t)a->n + 1) * sizeof *t->ptr);
    memcpy(t->idx, a->idx, (size_t)a->nnz * sizeof *t->idx);
    memcpy(t->val, a->val, (size_t)a->nnz * trs_size(a->dtype));
    for (int64_t p = 0; p < a->nnz; p++) t->src[p] = a->src ? a->src[p] : p;
    return TRS_OK;
}

/* Exchange the entries p and nnz-1-p. */
static void swap_some(void *user, int64_t begin, int64_t end)
{
    trs_tri *t = user;
    const size_t size = trs_size(t->dtype);
    double complex one;
    for (int64_t p = begin, q = t->nnz - 1 - begin; p < end; p++, q--) {
        const int32_t j = t->n - 1 - t->idx[p];
        t->idx[p] = t->n - 1 - t->idx[q];
        t->idx[q] = j;
        if (!t->val) continue;
        copy_value(&one, 0, t->val, p, size);
        copy_value(t->val, p, t->val, q, size);
        copy_value(t->val, q, &one, 0, size);
        if (!t->src) continue;
        const int64_t s = t->src[p];
        t->src[p] = t->src[q];
        t->src[q] = s;
    }
}

static void number_some(void *user, int64_t begin, int64_t end)
{
    const trs_tri *t = user;
    for (int64_t p = begin; p < end; p++) t->src[p] = t->nnz - 1 - p;
}

int trs_tri_reverse(trs_context *ctx, trs_tri *t)
{
    int64_t *src = t->src;
    if (t->val && !src) src = trs_new(ctx, t->nnz, sizeof *src, "places of the values");
    if (t->val && !src) return TRS_EMEM;
    trs_share(trs_team(ctx, t->nnz), (t->nnz + 1) / 2, BLOCK, swap_some, t);
    for (int32_t i = 0, k = t->n; i <= k; i++, k--) {
        int64_t s = t->nnz - t->ptr[i];
        t->ptr[i] = t->nnz - t->ptr[k];
        t->ptr[k] = s;
    }
    if (src == t->src) return TRS_OK;
    t->src = src; /* entry p was entry nnz-1-p */
    trs_share(trs_team(ctx, t->nnz), t->nnz, BLOCK, number_some, t);
    return TRS_OK;
}

/* t = the rows of a that are listed, in that order, with columns as they are; src has places in a. */
static int take_rows(trs_context *ctx, const trs_tri *a, const int32_t *rows, int32_t count,
                     trs_tri *t)
{
    trs_tri like = {.n = count, .dtype = a->dtype};
    for (int32_t k = 0; k < count; k++) like.nnz += a->ptr[rows[k] + 1] - a->ptr[rows[k]];
    int rc = tri_new(ctx, t, &like, true);
    if (rc) return rc;
    int64_t q = 0;
    for (int32_t k = 0; k < count; k++) {
        t->ptr[k] = q;
        for (int64_t p = a->ptr[rows[k]]; p < a->ptr[rows[k] + 1]; p++, q++) {
            t->idx[q] = a->idx[p];
            t->src[q] = p;
        }
    }
    t->ptr[count] = q;
    return TRS_OK;
}

/* t = P a P': row k of t is row perm [k] of a.  perm must be a topological order, so that t is a lower triangle. */
int trs_tri_permute(trs_context *ctx, const trs_tri *a, const int32_t *perm, trs_tri *t)
{
    int32_t *inv = trs_new(ctx, a->n, sizeof *inv, "a permutation");
    if (!inv) return TRS_EMEM;
    for (int32_t k = 0; k < a->n; k++) inv[perm[k]] = k;
    int rc = take_rows(ctx, a, perm, a->n, t);
    if (!rc) {
        trs_tri_read_values(ctx, t, a->val);
        for (int64_t q = 0; q < t->nnz; q++) {
            t->idx[q] = inv[t->idx[q]];
            if (a->src) t->src[q] = a->src[t->src[q]];
        }
        rc = sort_majors(ctx, t);
    }
    trs_free(&ctx->mem, inv);
    return rc;
}
