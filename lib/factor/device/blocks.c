/* blocks.c: factors by blocks on a device: their pattern is made on the host, and sent there with its schedule.
 *
 *     rows of A --ilu_blocks.c--> blocks, places of A's numbers --levels, products--> block_factors.h
 *
 * The products of block (i, k) of L are the blocks (k, j) of U for which row i has (i, j); with DILU, j = i, with IC(0), j >= i. */
#include "config.h"

#include "lu_device.h"
#include "elimination/block_factors.h"

#include <math.h>
#include <string.h>

/* Products for each block, beyond which their list takes more memory than the factors of numbers. */
enum { MOST_PRODUCTS = 64 };

typedef struct product_list {
    int64_t *step; /* [blocks of L + 1] */
    trs_block_product *product;
    int64_t count;
    int64_t *where; /* [n] 1 + the place in row i of its block in each column; 0: there is none */
} product_list;

/* Do products change blocks of L (h = 0), or of U? */
static bool changes(const trs_ilu_blocks *m, int h)
{
    return !m->diagonal_only && !(h == 0 && m->cholesky);
}

/* Set where for row i, or clear it. */
static void mark(const trs_ilu_blocks *m, int64_t *where, int32_t i, bool set)
{
    const trs_ilu_block_side *s = &m->side[0];
    int64_t at = 1;
    for (int h = 0; h < 2; h++) {
        for (int64_t p = s->begin[h][i]; p < s->begin[h][i + 1]; p++, at++)
            if (changes(m, h)) where[s->idx[p]] = set ? at : 0;
        if (h == 0) where[i] = set ? at++ : 0;
    }
}

/* Block q of U is that of a product, if row i has one in its column. */
static void add(const trs_ilu_blocks *m, product_list *l, int64_t q)
{
    const int64_t at = l->where[m->side[0].idx[q]];
    if (!at) return;
    if (l->product) l->product[l->count] = (trs_block_product){(int32_t)q, (int32_t)(at - 1)};
    l->count++;
}

/* The same for the block of row k in column j, if there is one. */
static void add_column(const trs_ilu_blocks *m, product_list *l, int32_t k, int32_t j)
{
    const trs_ilu_block_side *s = &m->side[0];
    const int64_t end = s->begin[1][k + 1], q = trs_first_from(s->idx, s->begin[1][k], end, j);
    if (q < end && s->idx[q] == j) add(m, l, q);
}

/* The products of block p of row i.  A row of U that is much longer than row i is searched for the columns of that. */
static void list_block(const trs_ilu_blocks *m, product_list *l, int32_t i, int64_t p)
{
    enum { LONGER = 16 };
    const trs_ilu_block_side *s = &m->side[0];
    const int32_t k = s->idx[p];
    const int64_t begin = s->begin[1][k], end = s->begin[1][k + 1];
    const int64_t lower = s->begin[0][i + 1], upper = s->begin[1][i], last = s->begin[1][i + 1];
    if (end - begin <= LONGER * (lower - p + last - upper)) {
        for (int64_t q = begin; q < end; q++) add(m, l, q);
        return;
    }
    for (int64_t r = p + 1; r < lower && changes(m, 0); r++) add_column(m, l, k, s->idx[r]);
    add_column(m, l, k, i);
    for (int64_t r = upper; r < last && changes(m, 1); r++) add_column(m, l, k, s->idx[r]);
}

/* List the products of all rows, or, without product, count them, as far as `most`. */
static void list_rows(const trs_ilu_blocks *m, product_list *l, int64_t most)
{
    const int64_t *lower = m->side[0].begin[0];
    l->count = 0;
    for (int32_t i = 0; i < m->n && l->count <= most; i++) {
        mark(m, l->where, i, true);
        for (int64_t p = lower[i]; p < lower[i + 1]; p++) {
            l->step[p] = l->count;
            list_block(m, l, i, p);
        }
        mark(m, l->where, i, false);
    }
    l->step[lower[m->n]] = l->count;
}

/* TRS_ESUPPORT without a sentence: there are too many. */
static int make_products(trs_context *ctx, const trs_ilu_blocks *m, product_list *l)
{
    const int64_t lower = m->side[0].begin[0][m->n], most = MOST_PRODUCTS * m->count;
    l->step = trs_new(ctx, lower + 1, sizeof *l->step, "products of blocks");
    l->where = trs_alloc_zero(&ctx->mem, m->n, sizeof *l->where);
    if (!l->step || !l->where) return trs_fail(TRS_EMEM, "out of memory for products of blocks");
    list_rows(m, l, most);
    if (l->count > most) return TRS_ESUPPORT;
    l->product = trs_new(ctx, l->count + 1, sizeof *l->product, "products of blocks");
    if (!l->product) return TRS_EMEM;
    list_rows(m, l, most);
    return TRS_OK;
}

static int make_levels(trs_context *ctx, const trs_ilu_blocks *m, int k, int32_t *level[2])
{
    for (int h = 0; h < 2; h++) {
        level[h] = trs_new(ctx, m->n, sizeof *level[h], "levels");
        if (!level[h]) return TRS_EMEM;
        trs_ilu_block_levels_of(m, &m->side[k], h, level[h]);
    }
    return TRS_OK;
}

static int send(trs_lu_device *d, const trs_ilu_blocks *m)
{
    trs_context *ctx = &d->ctx;
    product_list l = {0};
    int32_t *level[2][2] = {{0}};
    trs_block_pattern p = {.b = m->b, .n = m->n, .count = m->count, .dtype = m->dtype};
    int rc = m->count < INT32_MAX ? make_products(ctx, m, &l) : TRS_ESUPPORT;
    for (int k = 0; k < 2 && !rc; k++) {
        const trs_ilu_block_side *s = &m->side[k];
        if (!s->begin[0]) continue;
        rc = make_levels(ctx, m, k, level[k]);
        p.side[k] = (trs_block_triangles){{s->begin[0], s->begin[1]}, s->idx, {0}};
        for (int h = 0; h < 2; h++) p.side[k].level[h] = level[k][h];
    }
    p.diagonal_only = m->diagonal_only;
    p.cholesky = m->cholesky;
    p.src = m->src, p.from = m->from;
    p.step = l.step, p.product = l.product;
    if (!rc) rc = trs_gpu_blocks_new(ctx, &p, &d->blocks);
    trs_free_all(&ctx->mem, l.step, l.product, l.where, level[0][0], level[0][1], level[1][0],
                 level[1][1]);
    return rc;
}

int trs_lu_blocks_make(trs_lu *lu, const trs_mat *A, trs_ilu_blocks *m, bool waits, bool *made)
{
    const double start = trs_now();
    *made = false;
    int rc = trs_lu_device_new(lu, A, m->dtype, INFINITY, waits);
    trs_lu_device *d = lu->device;
    if (!rc) {
        d->shift = m->shift, d->boost = m->boost;
        d->numbers = m->count * m->b * m->b;
        rc = send(d, m);
    }
    if (!rc) rc = trs_lu_device_values(lu, A);
    if (rc) {
        trs_lu_device_free(lu);
        if (rc == TRS_ESUPPORT) trs_forget();
        return rc == TRS_ESUPPORT ? TRS_OK : rc;
    }
    *made = true;
    lu->blocks = m;
    lu->info.kernel = "blocks";
    trs_ilu_blocks_free(&lu->mem, m); /* the numbers of rows and blocks stay */
    const double analysed = trs_now() - start;
    rc = trs_lu_device_update(lu, A, NULL);
    lu->info.seconds_analyse += analysed;
    return rc;
}
