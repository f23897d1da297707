/* fetch.c: factors that are computed on a device, as matrices on the host. */
#include "config.h"

#include "lu_device.h"
#include "base/debug.h"
#include "base/device.h"

#include <string.h>

/* Put together on the host: val = what is in L and U, row by row. */
static void join_values(const trs_lu *lu, const int64_t *diag, const char *apart)
{
    const trs_lu_rows *r = &lu->device->rows;
    const size_t size = trs_size(lu->device->dtype);
    const int64_t *ptr = lu->f.L.ptr;
    char *val = (char *)lu->f.L.val;
    const char *l = apart, *u = apart + (size_t)r->first_u * size;
    for (int32_t i = 0; i < r->n; i++) {
        TRS_ASSERT(ptr[i] <= diag[i] && diag[i] < ptr[i + 1]);
        const size_t left = (size_t)(diag[i] - ptr[i]) * size;
        const size_t right = (size_t)(ptr[i + 1] - diag[i]) * size;
        memcpy(val, l, left);
        memcpy(val + left, u, right);
        val += left + right;
        l += left + size; /* past the unit diagonal */
        u += right;
    }
}

/* New arrays on the host for f->L, which U shares. */
static int host_arrays(trs_lu *lu)
{
    trs_mat *L = &lu->f.L;
    if (!L->ptr) L->ptr = trs_lu_alloc(lu, L->n + 1, sizeof(int64_t), "row pointers");
    if (!L->idx) L->idx = trs_lu_alloc(lu, L->nnz, sizeof(int32_t), "columns");
    if (!L->val) L->val = trs_lu_alloc(lu, L->nnz, trs_size(L->dtype), "values");
    return L->ptr && L->idx && L->val ? TRS_OK : TRS_EMEM;
}

/* L of L L^H: the rows of L + L^H up to the diagonal. */
static void lower_rows(const trs_lu *lu, const int64_t *ptr, const int64_t *diag,
                       const int32_t *idx)
{
    int64_t *Lp = (int64_t *)lu->f.L.ptr;
    int32_t *Li = (int32_t *)lu->f.L.idx;
    Lp[0] = 0;
    for (int32_t i = 0; i < lu->device->rows.n; i++) {
        const int64_t count = diag[i] + 1 - ptr[i];
        TRS_ASSERT(count > 0 && Lp[i] + count <= lu->f.L.nnz);
        memcpy(Li + Lp[i], idx + ptr[i], (size_t)count * sizeof *Li);
        Lp[i + 1] = Lp[i] + count;
    }
}

typedef struct fetched { /* copies of what is on the device */
    int64_t *ptr, *diag;
    int32_t *idx;
    char *val;
} fetched;

static int fetch_arrays(trs_lu *lu, fetched *h)
{
    trs_lu_device *d = lu->device;
    const trs_lu_rows *r = &d->rows;
    const size_t n = (size_t)r->n, val_bytes = (size_t)d->numbers * trs_size(d->dtype);
    h->ptr = trs_lu_alloc(lu, r->n + 1, sizeof *h->ptr, "row pointers");
    h->diag = trs_lu_alloc(lu, r->n, sizeof *h->diag, "places of the diagonal");
    h->idx = trs_lu_alloc(lu, r->nnz, sizeof *h->idx, "columns");
    h->val = trs_lu_alloc(lu, (int64_t)val_bytes, 1, "values");
    int rc = TRS_EMEM;
    if (h->ptr && h->diag && h->idx && h->val) rc = trs_gpu_wait_for_all(&d->ctx);
    if (!rc) rc = trs_gpu_get(&d->ctx, h->ptr, r->ptr, (n + 1) * sizeof *h->ptr);
    if (!rc) rc = trs_gpu_get(&d->ctx, h->diag, r->diag, n * sizeof *h->diag);
    if (!rc) rc = trs_gpu_get(&d->ctx, h->idx, r->idx, (size_t)r->nnz * sizeof *h->idx);
    if (!rc) rc = trs_gpu_get(&d->ctx, h->val, d->val, val_bytes);
    return rc;
}

/* Copy them to the arrays of lu->f. */
static void take_fetched(trs_lu *lu, const fetched *h)
{
    trs_mat *L = &lu->f.L, *U = &lu->f.U;
    if (lu->f.cholesky) {
        lower_rows(lu, h->ptr, h->diag, h->idx);
        memcpy((void *)L->val, h->val, (size_t)L->nnz * trs_size(L->dtype));
        return;
    }
    memcpy((void *)L->ptr, h->ptr, ((size_t)L->n + 1) * sizeof *h->ptr);
    memcpy((void *)L->idx, h->idx, (size_t)L->nnz * sizeof *h->idx);
    join_values(lu, h->diag, h->val);
    U->ptr = L->ptr, U->idx = L->idx, U->val = L->val;
}

/* Of fronts: lu->f has the patterns. */
static int fetch_values(trs_lu *lu)
{
    trs_lu_device *d = lu->device;
    trs_mat *L = &lu->f.L, *U = &lu->f.U;
    const size_t size = trs_size(d->dtype);
    const char *u = (const char *)d->val + (size_t)d->first_u * size;
    if (!L->val) L->val = trs_lu_alloc(lu, L->nnz, size, "the values of L");
    if (!U->val && U->n > 0) U->val = trs_lu_alloc(lu, U->nnz, size, "the values of U");
    if (!L->val || (U->n > 0 && !U->val)) return TRS_EMEM;
    int rc = trs_gpu_wait_for_all(&d->ctx);
    if (!rc) rc = trs_gpu_get(&d->ctx, (void *)L->val, d->val, (size_t)L->nnz * size);
    if (rc || lu->f.cholesky) return rc;
    return trs_gpu_get(&d->ctx, (void *)U->val, u, (size_t)U->nnz * size);
}

/* The rows of L, which is stored by columns: ptr [n+2], idx, and where number e of L goes, at [e]. */
static void list_rows(const trs_mat *L, int64_t *ptr, int32_t *idx, int64_t *at)
{
    const int64_t *Lp = L->ptr;
    const int32_t *Li = L->idx;
    memset(ptr, 0, ((size_t)L->n + 2) * sizeof *ptr);
    for (int64_t e = 0; e < L->nnz; e++) ptr[Li[e] + 2]++;
    for (int64_t i = 0; i < L->n; i++) ptr[i + 2] += ptr[i + 1];
    for (int64_t j = 0; j < L->n; j++)
        for (int64_t e = Lp[j]; e < Lp[j + 1]; e++) {
            at[e] = ptr[Li[e] + 1]++;
            idx[at[e]] = (int32_t)j;
        }
}

/* trs_turned_back for L by columns, of fronts. */
static int turn_columns_back(trs_lu *lu, int32_t count, const int32_t *first, void *w)
{
    const trs_mat L = lu->f.L;
    const size_t size = trs_size(L.dtype);
    int64_t *ptr = trs_lu_alloc(lu, L.n + 2, sizeof *ptr, "the rows of L");
    int32_t *idx = trs_lu_alloc(lu, L.nnz, sizeof *idx, "the rows of L");
    int64_t *at = trs_lu_alloc(lu, L.nnz, sizeof *at, "the rows of L");
    char *val = trs_lu_alloc(lu, L.nnz, size, "the rows of L"), *columns = (char *)L.val;
    const int rc = ptr && idx && at && val ? TRS_OK : TRS_EMEM;
    TRS_ASSERT(L.format == TRS_CSC && L.ptr_bits != 32 && L.idx_bits != 64);
    if (!rc) {
        list_rows(&L, ptr, idx, at);
        for (int64_t e = 0; e < L.nnz; e++)
            memcpy(val + (size_t)at[e] * size, columns + (size_t)e * size, size);
        lu->f.L.ptr = ptr, lu->f.L.idx = idx, lu->f.L.val = val, lu->f.L.format = TRS_CSR;
        trs_turned_back(lu, count, first, w);
        lu->f.L = L;
        for (int64_t e = 0; e < L.nnz; e++)
            memcpy(columns + (size_t)e * size, val + (size_t)at[e] * size, size);
    }
    trs_lu_free(lu, ptr, idx, at, val);
    return rc;
}

/* Of turned rows, the factors of A. */
static int turn_back(trs_lu *lu)
{
    trs_lu_device *d = lu->device;
    if (d->turns == 0) return TRS_OK;
    const size_t count = (size_t)d->turns;
    int32_t *first = trs_lu_alloc(lu, d->turns, sizeof *first, "pivots of two rows");
    const size_t size = trs_size(d->dtype);
    void *w = trs_lu_alloc(lu, 4 * (int64_t)d->turns, size, "pivots of two rows");
    int rc = first && w ? trs_gpu_get(&d->ctx, first, d->turned, count * sizeof *first) : TRS_EMEM;
    if (!rc) rc = trs_gpu_get(&d->ctx, w, d->turn, 4 * count * size);
    if (!rc && d->fronts) rc = turn_columns_back(lu, d->turns, first, w);
    else if (!rc) trs_turned_back(lu, d->turns, first, w);
    trs_lu_free(lu, first, w);
    return rc;
}

int trs_lu_device_fetch(trs_lu *lu)
{
    fetched h = {0};
    int rc = lu->f.sign ? trs_lu_device_signs(lu) : TRS_OK;
    if (!rc && lu->device->fronts) rc = fetch_values(lu);
    else if (!rc) {
        rc = fetch_arrays(lu, &h);
        if (!rc) rc = host_arrays(lu);
        if (!rc) take_fetched(lu, &h);
    }
    if (!rc) rc = turn_back(lu);
    trs_lu_free(lu, h.ptr, h.diag, h.idx, h.val);
    return rc;
}
