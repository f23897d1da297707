/* bsr.c: turns a matrix of blocks (BSR) into one of numbers (CSR).
 *
 * Block p has r x r numbers.  Its entry (a, c) is number p r^2 + a r + c of val when blocks are stored by rows, and
 * number p r^2 + c r + a when they are stored by columns, as in cuSPARSE.  All r^2 numbers of a stored block are
 * entries, zeros too. */
#include "config.h"

#include "matrix.h"

#include <string.h>

typedef struct expanded { /* the CSR of a BSR, and where its values stand there */
    trs_mat csr;
    int64_t *ptr, *place;
    int32_t *idx;
    void *val;
} expanded;

static void expanded_free(trs_context *ctx, expanded *e)
{
    trs_free(&ctx->mem, e->ptr);
    trs_free(&ctx->mem, e->place);
    trs_free(&ctx->mem, e->idx);
    trs_free(&ctx->mem, e->val);
}

/* Write row a of the blocks begin..end-1 from entry q on, and return the entry behind it. */
static int64_t expand_row(const trs_mat *m, int64_t a, int64_t begin, int64_t end, expanded *e,
                          int64_t q)
{
    const int64_t r = m->block;
    const bool by_rows = m->block_layout == TRS_ROW_MAJOR;
    for (int64_t p = begin; p < end; p++) {
        const int64_t J = trs_index(m->idx, m->idx_bits ? m->idx_bits : 32, p) - m->base;
        for (int64_t c = 0; c < r; c++, q++) {
            e->idx[q] = (int32_t)(J * r + c + m->base);
            e->place[q] = p * r * r + (by_rows ? a * r + c : c * r + a);
        }
    }
    return q;
}

static int expand(trs_context *ctx, const trs_mat *m, expanded *e)
{
    const int64_t r = m->block, nnz = trs_value_count(m);
    const int bits = m->ptr_bits ? m->ptr_bits : 64;
    memset(e, 0, sizeof *e);
    e->ptr = trs_new(ctx, m->n + 1, sizeof *e->ptr, "row pointers");
    e->place = e->ptr ? trs_new(ctx, nnz, sizeof *e->place, "places of the values") : NULL;
    e->idx = e->place ? trs_new(ctx, nnz, sizeof *e->idx, "columns") : NULL;
    e->val = e->idx ? trs_new(ctx, nnz, trs_size(m->dtype), "values") : NULL;
    if (!e->val) {
        expanded_free(ctx, e);
        return TRS_EMEM;
    }
    int64_t q = 0;
    for (int64_t i = 0; i < m->n; i++) {
        e->ptr[i] = q + m->base;
        q = expand_row(m, i % r, trs_index(m->ptr, bits, i / r) - m->base,
                       trs_index(m->ptr, bits, i / r + 1) - m->base, e, q);
    }
    e->ptr[m->n] = q + m->base;
    trs_tri values = {.nnz = nnz, .dtype = m->dtype, .val = e->val, .src = e->place};
    trs_tri_read_values(ctx, &values, m->val);
    e->csr = *m;
    e->csr.format = TRS_CSR;
    /* that is about the blocks, which were looked at */
    e->csr.kind = m->kind & ~(unsigned)TRS_STRICT;
    e->csr.nnz = nnz;
    e->csr.ptr = e->ptr, e->csr.ptr_bits = 64;
    e->csr.idx = e->idx, e->csr.idx_bits = 32;
    e->csr.val = e->val;
    return TRS_OK;
}

int trs_bsr_import(trs_context *ctx, const trs_mat *m, trs_tri *t)
{
    expanded e;
    int rc = expand(ctx, m, &e);
    if (rc) return rc;
    rc = trs_tri_import(ctx, &e.csr, t);
    if (!rc && !t->src) { /* every entry is in the triangle, in order */
        t->src = e.place;
        e.place = NULL;
    } else if (!rc) {
        for (int64_t p = 0; p < t->nnz; p++)
            if (t->src[p] >= 0) t->src[p] = e.place[t->src[p]];
    }
    expanded_free(ctx, &e);
    return rc;
}

int trs_unblock(trs_context *ctx, const trs_mat *m, trs_mat *out, int64_t **place)
{
    expanded e;
    *out = *m;
    if (place) *place = NULL;
    if (m->format != TRS_BSR) return TRS_OK;
    int rc = expand(ctx, m, &e);
    if (rc) return rc;
    if (place) *place = e.place;
    else trs_free(&ctx->mem, e.place);
    *out = e.csr;
    return TRS_OK;
}

void trs_unblock_done(trs_context *ctx, const trs_mat *m, trs_mat *out)
{
    if (m->format != TRS_BSR) return;
    trs_free(&ctx->mem, (void *)out->ptr);
    trs_free(&ctx->mem, (void *)out->idx);
    trs_free(&ctx->mem, (void *)out->val);
}
