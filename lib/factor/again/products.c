/* products.c: the numbers of L and U product by product, where the rows are short.
 *
 * Rows of a circuit have loops of two or three products, whose ends a processor cannot predict: these cost more than the
 * products.  So all products of a row are in one list, and entries of A and of L are listed over the ends of rows:
 *
 *     x = row i of A                                     zero where A has no entry
 *     x(to) = x(to) - x(l) s(u)                          for all products of row i, in the order of k
 *     s(i, :) = x(i+1 ..) / x(i)                         row i of U, divided by its pivot
 *     l(i, k) = x(k) / u(k, k)                           when the row is complete
 *
 * x is row i where the plans read it.  Only x and s of earlier rows are read.  A product takes 8 bytes of the list. */
#ifndef T

#include "config.h"

#include "again.h"
#include "base/debug.h"
#include "base/number/clones.h"

#include <string.h>

enum {
    MOST_PRODUCTS = 5, /* an entry: more are done with less to read row by row */
    ROWS = 128         /* whose entries of A and L are treated at once */
};

#define TRS_BODY "factor/again/products.c"
#include "base/each_type.h"

/* ---- the list ------------------------------------------------------------------------------------- */

/* Products of row i of L + U; unless list is NULL, they are listed there.  where [j] is the place of column j in row i. */
static int64_t list_products(const trs_again_rows *r, int32_t i, uint16_t *where,
                             trs_again_product *list)
{
    const trs_tri *t = &r->rows.t;
    const int64_t begin = t->ptr[i];
    int64_t count = 0;
    for (int64_t p = begin; p < t->ptr[i + 1] && list; p++)
        where[t->idx[p]] = (uint16_t)(p - begin);
    for (int64_t p = begin; p < r->rows.diag[i]; p++) {
        const int32_t k = t->idx[p];
        const int64_t u = r->rows.diag[k] + 1, end = t->ptr[k + 1];
        for (int64_t q = u; q < end && list; q++)
            list[count + q - u] =
                (trs_again_product){(uint32_t)q, (uint16_t)(p - begin), where[t->idx[q]]};
        count += end - u;
    }
    return count;
}

/* Are there few products, and do the numbers of their entries fit into a trs_again_product? */
static bool suits(const trs_again_rows *r, int64_t *products)
{
    const trs_tri *t = &r->rows.t;
    *products = 0;
    if (t->nnz > UINT32_MAX) return false;
    for (int32_t i = 0; i < t->n; i++) {
        if (t->ptr[i + 1] - t->ptr[i] > UINT16_MAX) return false;
        *products += list_products(r, i, NULL, NULL);
        if (*products > MOST_PRODUCTS * t->nnz) return false;
    }
    return true;
}

/* Where the entries of A and of L are in the rows, and all products. */
static void list_all(trs_again_rows *r, uint16_t *where)
{
    const trs_tri *t = &r->rows.t;
    int64_t below = 0, products = 0;
    for (int32_t i = 0; i < t->n; i++) {
        r->l_ptr[i] = below;
        r->product_ptr[i] = products;
        products += list_products(r, i, where, r->product + products);
        for (int64_t e = r->a_ptr[i]; e < r->a_ptr[i + 1]; e++) {
            r->a_row[e] = i;
            r->a_to[e] = (uint32_t)(t->ptr[i] + where[r->a_idx[e]]);
        }
        for (int64_t p = t->ptr[i]; p < r->rows.diag[i]; p++) r->l[below++] = (uint32_t)p;
    }
    r->l_ptr[t->n] = below;
    r->product_ptr[t->n] = products;
}

int trs_again_products_make(trs_context *ctx, trs_again_rows *r)
{
    const trs_tri *t = &r->rows.t;
    const int64_t n = t->n, entries = r->a_ptr[n];
    int64_t products;
    if (!suits(r, &products)) return TRS_OK;
    uint16_t *where = trs_new(ctx, n, sizeof *where, "places of a row");
    r->product = trs_new(ctx, products, sizeof *r->product, "products");
    r->product_ptr = trs_new(ctx, n + 1, sizeof *r->product_ptr, "products");
    r->a_row = trs_new(ctx, entries, sizeof *r->a_row, "places of A");
    r->a_to = trs_new(ctx, entries, sizeof *r->a_to, "places of A");
    r->l_ptr = trs_new(ctx, n + 1, sizeof *r->l_ptr, "places of L");
    r->l = trs_new(ctx, t->nnz, sizeof *r->l, "places of L");
    r->divided = trs_new(ctx, t->nnz, trs_size(t->dtype), "divided rows");
    const bool there = where && r->product && r->product_ptr && r->a_row && r->a_to && r->l_ptr &&
                       r->l && r->divided;
    if (there) list_all(r, where);
    trs_free(&ctx->mem, where);
    return there ? TRS_OK : TRS_EMEM;
}

void trs_again_products_rows(const trs_again_rows *r, int32_t begin, int32_t end, const void *a,
                             trs_again_outcome *o)
{
    static void (*const few_rows[])(const trs_again_rows *, int32_t, int32_t, const void *,
                                    trs_again_outcome *) = TRS_PER_TYPE(few_rows);
    for (int32_t k = begin; k < end && r->rows.threads > 1; k++)
        few_rows[r->type](r, r->rows.topo[k], r->rows.topo[k] + 1, a, o);
    for (int32_t i = begin; i < end && r->rows.threads == 1; i += ROWS)
        few_rows[r->type](r, i, end - i < ROWS ? end : i + ROWS, a, o);
}

#else

#include "again_number.h"

/* Rows begin .. end-1 become those of A. */
TRS_INLINE void FN(place)(const trs_again_rows *r, int32_t begin, int32_t end, const T *a,
                          trs_again_outcome *o)
{
    const int64_t *ptr = r->rows.t.ptr;
    FN(number) *x = r->rows.t.val;
    double largest = o->largest_a;
    memset(x + ptr[begin], 0, (size_t)(ptr[end] - ptr[begin]) * sizeof *x);
    for (int64_t e = r->a_ptr[begin]; e < r->a_ptr[end]; e++) {
        FN(number) z = (FN(number))a[r->a_src[e]];
        if (r->scale) z *= r->scale[r->a_row[e]];
        const double size = FN(size)(z);
        x[r->a_to[e]] = z;
        FN(larger_a)(size, &largest, o);
    }
    o->largest_a = largest;
}

/* All products of row i; then its part of U is divided by its pivot. */
TRS_INLINE void FN(eliminate)(const trs_again_rows *r, int32_t i, trs_again_outcome *o)
{
    const trs_ilu_rows *f = &r->rows;
    FN(number) *x = (FN(number) *)f->t.val + f->t.ptr[i], *s = r->divided;
    const trs_again_product *p = r->product + r->product_ptr[i];
    const trs_again_product *const end = r->product + r->product_ptr[i + 1];
    for (; p < end; p++) x[p->to] -= FN(product)(x[p->l], s[p->u]);
    const int64_t first = f->diag[i] - f->t.ptr[i], last = f->t.ptr[i + 1] - f->t.ptr[i];
    const FN(number) inverse = FN(pivot)(r, i, x[first], o);
    double largest = FN(size)(x[first]);
    s += f->t.ptr[i];
    for (int64_t q = first + 1; q < last; q++) {
        const double size = FN(size)(x[q]);
        s[q] = FN(product)(x[q], inverse);
        if (!(size <= largest)) largest = size;
    }
    FN(row_done)(r, i, largest, o);
}

/* The rows of L are divided by the pivots of their columns. */
TRS_INLINE void FN(divide_rows)(const trs_again_rows *r, int32_t begin, int32_t end,
                                trs_again_outcome *o)
{
    FN(number) *x = r->rows.t.val;
    const FN(number) *inverse = r->inverse;
    double growth = o->largest;
    for (int64_t q = r->l_ptr[begin]; q < r->l_ptr[end]; q++) {
        const int32_t k = r->rows.t.idx[r->l[q]];
        const FN(number) l = FN(product)(x[r->l[q]], inverse[k]);
        const double size = FN(size)(l) * r->largest[k];
        x[r->l[q]] = l;
        if (size > growth) growth = size;
    }
    o->largest = growth;
}

CLONES static void FN(few_rows)(const trs_again_rows *r, int32_t begin, int32_t end, const void *a,
                                trs_again_outcome *o)
{
    FN(place)(r, begin, end, a, o);
    for (int32_t i = begin; i < end; i++) FN(eliminate)(r, i, o);
    FN(divide_rows)(r, begin, end, o);
}

#endif
