/* schur.c: the Schur complement of some rows of A where the factors of the other rows solve on a device.
 *
 * The host sorts the entries of A into the parts A(r, s), A(s, r) and A(s, s), in O(n + nnz).  The device has these, S, and one
 * panel of columns of A(r, r)^-1 A(r, s). */
#include "config.h"

#include "schur.h"
#include "base/debug.h"
#include "base/device.h"
#include "core/plan.h"
#include "elimination/schur.h"
#include "factor/lu_mat.h"

#include <string.h>

enum { WIDTH = 32 }; /* columns of a panel, unless the plans solve more at a time */

/* ---- A, wherever it is ---------------------------------------------------------------------------- */

int trs_lu_schur_import(trs_lu *lu, const trs_mat *A, trs_csc *C)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1};
    trs_mat whole, host = {0};
    int rc = trs_check_device(A->device);
    if (!rc) rc = trs_lu_whole(lu, A, true, NULL, &whole);
    if (rc) return rc;
    if (whole.device <= 0) return trs_lu_csc(lu, &whole, C);
    rc = trs_check_values(&whole);
    if (rc) return rc;
    ctx.device = whole.device - 1;
    rc = trs_mat_fetch(&ctx, &whole, true, &host);
    if (!rc) rc = trs_lu_csc(lu, &host, C);
    trs_mat_fetched(&ctx, &whole, &host);
    return rc;
}

/* ---- a part of A ---------------------------------------------------------------------------------- */

typedef enum part {
    R_S, /* A(r, s) by columns */
    S_R, /* A(s, r) by rows */
    S_S, /* A(s, s) by columns */
    PARTS
} part;

/* Its lines are the rows of S. */
typedef struct lines {
    int64_t *ptr; /* [count+1] */
    int32_t *idx;
    double *val;
} lines;

/* Is the entry in this row and column of A in the part?  Then it is number *index of line *line. */
static bool is_in(const trs_schur_task *k, part which, int64_t row, int64_t column, int64_t *line,
                  int64_t *index)
{
    const int64_t i = k->to[row], j = k->to[column];
    if ((i < 0) != (which == R_S) || (j < 0) != (which == S_R)) return false;
    *line = which == S_R ? i : j;
    *index = i;
    if (which == R_S) *index = ~i;
    if (which == S_R) *index = ~j;
    return true;
}

/* next [count]: where each line goes on.  l->idx = NULL: only count the entries there. */
static void walk(const trs_schur_task *k, part which, const lines *l, int64_t *next)
{
    const trs_csc *A = k->A;
    const int parts = A->is_complex ? 2 : 1;
    int64_t line, index;
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
            if (!is_in(k, which, A->i[p], j, &line, &index)) continue;
            const int64_t q = next[line]++;
            if (!l->idx) continue;
            l->idx[q] = (int32_t)index;
            memcpy(l->val + parts * q, A->x + parts * p, (size_t)parts * sizeof *A->x);
        }
}

static int split(trs_lu *lu, const trs_schur_task *k, part which, lines *l)
{
    const char *const what = "a Schur complement";
    const int64_t count = k->count;
    int64_t *next = trs_lu_alloc(lu, count, sizeof *next, what);
    l->ptr = trs_lu_alloc(lu, count + 1, sizeof *l->ptr, what);
    int rc = next && l->ptr ? TRS_OK : TRS_EMEM;
    if (!rc) {
        memset(next, 0, (size_t)count * sizeof *next);
        walk(k, which, l, next);
        l->ptr[0] = 0;
        for (int64_t i = 0; i < count; i++) l->ptr[i + 1] = l->ptr[i] + next[i];
        memcpy(next, l->ptr, (size_t)count * sizeof *next);
        l->idx = trs_lu_alloc(lu, l->ptr[count], sizeof *l->idx, what);
        l->val = trs_lu_alloc(lu, l->ptr[count], k->A->is_complex ? 16 : 8, what);
        if (!l->idx || !l->val) rc = TRS_EMEM;
    }
    if (!rc) walk(k, which, l, next);
    trs_lu_free(lu, next);
    return rc;
}

/* ---- on the device -------------------------------------------------------------------------------- */

typedef struct job {
    const trs_schur_task *task;
    trs_lu *lu;
    trs_context ctx;
    trs_dtype dtype;
    trs_sparse_lines part[PARTS];
    /* [rest*width] a panel */
    void *x;
    int width;
} job;

static int put_new(job *b, const void **to, const void *from, int64_t count, size_t size)
{
    void *p = trs_gpu_new(&b->ctx, count, size, "a Schur complement");
    *to = p;
    if (!p) return TRS_EMEM;
    return count > 0 ? trs_gpu_put(&b->ctx, p, from, (size_t)count * size) : TRS_OK;
}

static int put_part(job *b, part which)
{
    lines l = {0};
    trs_sparse_lines *to = &b->part[which];
    const int64_t count = b->task->count;
    const void *ptr = NULL, *idx = NULL;
    int rc = split(b->lu, b->task, which, &l);
    const int64_t entries = rc ? 0 : l.ptr[count];
    if (!rc) rc = put_new(b, &ptr, l.ptr, count + 1, sizeof *l.ptr);
    if (!rc) rc = put_new(b, &idx, l.idx, entries, sizeof *l.idx);
    if (!rc) rc = put_new(b, &to->val, l.val, entries, trs_size(b->dtype));
    to->ptr = ptr, to->idx = idx;
    trs_lu_free(b->lu, l.ptr, l.idx, l.val);
    return rc;
}

/* Columns first .. of S. */
static int panel(const job *b, int64_t first, int width)
{
    const trs_schur_task *k = b->task;
    const int64_t rest = k->rest;
    void *s = (char *)k->S + (size_t)(first * k->ld) * trs_size(b->dtype);
    int rc = trs_gpu_schur_scatter(b->dtype, &b->part[S_S], first, width, k->count, s, k->ld, NULL);
    if (rc || rest == 0) return rc;
    rc = trs_gpu_schur_scatter(b->dtype, &b->part[R_S], first, width, rest, b->x, rest, NULL);
    if (!rc) rc = trs_lu_solve(b->lu, TRS_N, width, b->x, rest, b->x, rest, NULL);
    if (rc) return rc;
    return trs_gpu_schur_subtract(b->dtype, &b->part[S_R], k->count, width, b->x, rest, s, k->ld,
                                  NULL);
}

static int panels(job *b)
{
    const trs_schur_task *k = b->task;
    int rc = TRS_OK;
    for (part which = R_S; which < PARTS && !rc; which++) rc = put_part(b, which);
    if (rc) return rc;
    b->x = trs_gpu_new(&b->ctx, k->rest * b->width, trs_size(b->dtype), "a Schur complement");
    if (!b->x) return TRS_EMEM;
    for (int64_t first = 0; first < k->count && !rc; first += b->width)
        rc = panel(b, first, (int)trs_min(k->count - first, b->width));
    if (!rc && k->hermitian) rc = trs_gpu_schur_mirror(b->dtype, k->count, k->S, k->ld, NULL);
    return rc;
}

int trs_lu_schur(trs_lu *lu, const trs_schur_task *task)
{
    job b = {.task = task, .lu = lu, .dtype = task->A->is_complex ? TRS_C64 : TRS_F64};
    TRS_ASSERT(lu->opt.device > 0);
    b.ctx = (trs_context){.mem = lu->mem, .device_memory = lu->opt.device_memory};
    b.ctx.device = lu->opt.device - 1;
    b.width = (int)trs_min(task->count, lu->width > WIDTH ? lu->width : WIDTH);
    int rc = trs_lu_status(lu, NULL, NULL, NULL);
    if (rc || task->count == 0) return rc;
    rc = trs_gpu_use(&b.ctx);
    if (!rc) rc = panels(&b);
    if (trs_gpu_wait(NULL) && !rc) rc = trs_fail(TRS_EDEVICE, "schur: the device has failed");
    for (int k = 0; k < PARTS; k++) {
        trs_gpu_free(&b.ctx, (void *)b.part[k].ptr);
        trs_gpu_free(&b.ctx, (void *)b.part[k].idx);
        trs_gpu_free(&b.ctx, (void *)b.part[k].val);
    }
    trs_gpu_free(&b.ctx, b.x);
    trs_gpu_drop_ring(&b.ctx);
    return rc;
}
