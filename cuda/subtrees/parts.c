/* parts.c: the triangles of the parts: rows of the whole, below or above rows that only pass on what comes from them.
 *
 *     heads first    [ Hk    ]      top first    [ I     ]      the top    [ C ]
 *                    [ Bk  I ]                   [ Bk Hk ]
 *
 * I has the pattern of C, with zeros: then its rows are in supernodes, as those of C are, and the rows of Bk with them.  Else
 * each would be a node of its own, with the entries of Bk one by one. */
#include "config.h"

#include "parts.h"

#include "base/debug.h"
#include "base/parallel.h"
#include "matrix/submatrix.h"

#include <string.h>

/* Rows of `left`, if there is one, and to their right those of `right`, whose columns begin at `shift`. */
typedef struct strip {
    const trs_picked *left, *right;
    int32_t rows, shift;
    bool unit; /* right is I, with this pattern */
} strip;

static int64_t length(const trs_picked *a, int32_t i)
{
    return a ? a->ptr[i + 1] - a->ptr[i] : 0;
}

static int64_t entries_of(const strip *s)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < s->rows; i++) sum += length(s->left, i) + length(s->right, i);
    return sum;
}

static int64_t put(const trs_picked *a, int32_t i, int32_t shift, int64_t q, trs_subtree_tri *to)
{
    const int64_t begin = a ? a->ptr[i] : 0, end = begin + length(a, i);
    for (int64_t p = begin; p < end; p++, q++) {
        to->tri.idx[q] = a->idx[p] + shift;
        to->src[q] = a->src[p];
    }
    return q;
}

/* The rows of the strip, from row `first` on. */
static void put_strip(const strip *s, int32_t first, trs_subtree_tri *to)
{
    int64_t *ptr = to->tri.ptr + first;
    for (int32_t i = 0; i < s->rows; i++) {
        int64_t q = put(s->left, i, 0, ptr[i], to);
        ptr[i + 1] = put(s->right, i, s->shift, q, to);
        for (; s->unit && q < ptr[i + 1]; q++)
            to->src[q] = to->tri.idx[q] == s->shift + i ? TRS_SUBTREE_ONE : TRS_SUBTREE_ZERO;
    }
}

static int join(trs_context *ctx, trs_dtype dtype, const strip *above, const strip *below,
                trs_subtree_tri *to)
{
    trs_tri *t = &to->tri;
    t->n = above->rows + below->rows;
    t->nnz = entries_of(above) + entries_of(below);
    t->dtype = dtype;
    t->ptr = trs_new(ctx, (int64_t)t->n + 1, sizeof *t->ptr, "rows of a part");
    t->idx = trs_new(ctx, t->nnz, sizeof *t->idx, "columns of a part");
    to->src = trs_new(ctx, t->nnz, sizeof *to->src, "entries of a part");
    if (!t->ptr || !t->idx || !to->src) return TRS_EMEM;
    t->ptr[0] = 0;
    put_strip(above, 0, to);
    put_strip(below, above->rows, to);
    TRS_ASSERT(t->ptr[t->n] == t->nnz);
    return TRS_OK;
}

int trs_subtree_tri_make(trs_context *ctx, const trs_tri *T, const trs_subtrees *cut,
                         const int32_t *number, int k, trs_subtree_tri *part)
{
    const bool is_top = k == cut->parts, top_first = cut->top_first;
    const int32_t begin = cut->begin[k], end = cut->begin[k + 1], n = T->n;
    const int32_t rows = end - begin, from = cut->begin[cut->parts], top = n - from;
    const trs_pick own = {cut->row, number, begin, end, begin, end};
    const trs_pick under = {cut->row, number, from, n, begin, end};
    const trs_pick left_of = {cut->row, number, begin, end, from, n};
    const trs_pick corner = {cut->row, number, from, n, from, n};
    trs_picked H = {0}, B = {0}, C = {0};
    int rc = trs_pick_rows(ctx, T, &own, &H);
    if (!rc && !is_top) rc = trs_pick_rows(ctx, T, top_first ? &left_of : &under, &B);
    if (!rc && !is_top) rc = trs_pick_rows(ctx, T, &corner, &C);
    const strip none = {.rows = 0}, head = {.right = &H, .rows = rows};
    const strip unit = {.right = &C, .rows = top, .unit = true};
    const strip coupled = {.left = &B, .right = &H, .rows = rows, .shift = top};
    const strip sums = {.left = &B, .right = &C, .rows = top, .shift = rows, .unit = true};
    *part = (trs_subtree_tri){.rows = rows, .at = !is_top && top_first ? top : 0};
    if (rc) {
    } else if (is_top) rc = join(ctx, T->dtype, &head, &none, part);
    else if (top_first) rc = join(ctx, T->dtype, &unit, &coupled, part);
    else rc = join(ctx, T->dtype, &head, &sums, part);
    trs_picked_free(ctx, &H);
    trs_picked_free(ctx, &B);
    trs_picked_free(ctx, &C);
    return rc;
}

/* ---- values ------------------------------------------------------------------------------------------------- */

typedef struct taking {
    size_t size;
    const int64_t *src;
    const char *val, *one;
    char *to;
} taking;

static void take_some(void *user, int64_t begin, int64_t end)
{
    const taking *k = user;
    for (int64_t e = begin; e < end; e++) {
        char *to = k->to + (size_t)e * k->size;
        if (k->src[e] == TRS_SUBTREE_ZERO) memset(to, 0, k->size);
        else if (k->src[e] == TRS_SUBTREE_ONE) memcpy(to, k->one, k->size);
        else memcpy(to, k->val + (size_t)k->src[e] * k->size, k->size);
    }
}

void trs_subtree_tri_values(const trs_context *ctx, trs_dtype t, int64_t nnz, const int64_t *src,
                            const void *val, void *to)
{
    const double one[2] = {1, 0};
    const float one_single[2] = {1, 0};
    taking k = {trs_size(t), src, val,
                trs_is_single(t) ? (const char *)one_single : (const char *)one, to};
    trs_share(trs_team(ctx, nnz), nnz, 1 << 16, take_some, &k);
}
