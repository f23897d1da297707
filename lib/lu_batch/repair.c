/* repair.c: systems that do not suit the pivots of their batch are factored with their own, one after the other, on the host. */
#include "config.h"

#include "batch_of.h"
#include "factor/lu.h"

typedef struct repair {
    trs_lu_batch *b;
    trs_lu *lu;
    trs_mat A;
    trs_op op;
    int nrhs;
    const trs_systems *s;
    const char *B;
    char *X;
    int64_t ldb, ldx, bytes_b, bytes_x;
    trs_exec exec;
    /* of a batch on a device: copies on the host of the mask [count], and of A, B and X of a system */
    unsigned char *mask;
    char *val, *host_b, *host_x;
} repair;

/* ---- a system on the host --------------------------------------------------------------------- */

static void copies_free(repair *r)
{
    trs_free_all(&r->b->ctx.mem, r->mask, r->val, r->host_b, r->host_x);
}

static int copies_new(repair *r)
{
    trs_context *ctx = &r->b->ctx;
    const int64_t numbers = r->b->rows.numbers;
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    if (r->s->mask) r->mask = trs_new(ctx, r->s->count, 1, "a mask");
    r->val = trs_new(ctx, numbers, trs_size(r->A.dtype), "values");
    r->host_b = trs_new(ctx, r->bytes_b, 1, "right-hand sides");
    r->host_x = trs_new(ctx, r->bytes_x, 1, "solutions");
    if (!r->val || !r->host_b || !r->host_x || (r->s->mask && !r->mask)) return TRS_EMEM;
    if (r->mask) rc = trs_gpu_get(ctx, r->mask, r->s->mask, (size_t)r->s->count);
    return rc;
}

/* Copy system k from the device.  val_of is there, too. */
static int fetch(repair *r, int64_t k, const void *val, const void *B, const void *X)
{
    trs_context *ctx = &r->b->ctx;
    const size_t bytes = (size_t)r->b->rows.numbers * trs_size(r->A.dtype);
    int rc = TRS_OK;
    if (r->s->val_of) rc = trs_gpu_get(ctx, &val, r->s->val_of + k, sizeof val);
    if (!rc) rc = trs_gpu_get(ctx, r->val, val, bytes);
    if (!rc) rc = trs_gpu_get(ctx, r->host_b, B, (size_t)r->bytes_b);
    if (!rc)
        rc = trs_gpu_get(ctx, r->host_x, X, (size_t)r->bytes_x); /* what lies between columns */
    return rc;
}

/* ---- repair --------------------------------------------------------------------------------- */

/* Factor and solve system k.  *good: it is not singular. */
static int solve_one(repair *r, int64_t k, bool *good)
{
    const trs_systems *s = r->s;
    const int64_t size = (int64_t)trs_size(r->A.dtype);
    const bool there = r->b->there != NULL;
    const char *val = s->val, *B = r->B + k * s->b_stride * size;
    char *X = r->X + k * s->x_stride * size;
    const trs_exec exec = {.threads = r->exec.threads, .layout = r->exec.layout};
    int rc = TRS_OK;
    if (val) val += k * s->val_stride * size;
    if (there) rc = fetch(r, k, val, B, X);
    else if (s->val_of) val = s->val_of[k];
    if (rc) return rc;
    r->A.val = there ? r->val : val;
    rc = trs_lu_update(r->lu, &r->A);
    *good = !rc;
    if (rc == TRS_EPIVOT || rc == TRS_EMATRIX) return TRS_OK;
    if (rc) return rc;
    rc = trs_lu_solve(r->lu, r->op, r->nrhs, there ? r->host_b : B, r->ldb, there ? r->host_x : X,
                      r->ldx, &exec);
    if (!rc && there) rc = trs_gpu_put(&r->b->ctx, X, r->host_x, (size_t)r->bytes_x);
    return rc;
}

static bool is_wanted(const repair *r, int64_t k)
{
    const unsigned char *mask = r->b->there ? r->mask : r->s->mask;
    return (!mask || mask[k]) && trs_lu_batch_is_bad(&r->b->outcome[k]);
}

static int solve_bad(repair *r, int64_t *repaired)
{
    int rc = TRS_OK;
    for (int64_t k = 0; k < r->s->count && !rc; k++) {
        bool good = false;
        if (!is_wanted(r, k)) continue;
        rc = solve_one(r, k, &good);
        if (rc || !good) continue;
        r->b->outcome[k] = (trs_lu_batch_outcome){.row = -1, .code = TRS_OK};
        ++*repaired;
    }
    return rc;
}

static int solve_bad_there(repair *r, int64_t *repaired)
{
    trs_lu_batch_there *there = r->b->there;
    int rc = trs_gpu_lu_batch_outcome(there, r->b->outcome);
    if (!rc) rc = copies_new(r);
    if (!rc) rc = solve_bad(r, repaired);
    if (!rc && *repaired) rc = trs_gpu_lu_batch_set_outcome(there, r->b->outcome);
    copies_free(r);
    return rc;
}

/* ---- checks --------------------------------------------------------------------------------- */

static int check(repair *r)
{
    const trs_lu_batch *b = r->b;
    int rc = trs_lu_batch_check(b, r->s, true);
    if (!rc)
        rc =
            trs_lu_batch_check_solve(b, r->op, r->nrhs, r->s, r->B, r->ldb, r->X, r->ldx, &r->exec);
    if (rc) return rc;
    if (!r->lu) return trs_fail(TRS_EARG, "repair: lu is NULL");
    if (r->A.device > 0 || r->lu->opt.device > 0)
        return trs_fail(TRS_ESUPPORT, "repair: A and the factors must be on the host");
    if (r->A.n != b->rows.n || r->A.dtype != b->rows.dtype || r->A.nnz != b->rows.numbers)
        return trs_fail(TRS_EARG, "repair: A has another n, nnz or dtype than the batch");
    return TRS_OK;
}

static int repair_all(repair *r, int64_t *repaired)
{
    int64_t count = 0;
    if (repaired) *repaired = 0;
    int rc = check(r);
    if (rc || r->s->count == 0 || r->nrhs == 0 || r->A.n == 0) return rc;
    r->bytes_b = trs_extent(r->B, r->A.n, r->nrhs, r->ldb, r->exec.layout, r->A.dtype);
    r->bytes_x = trs_extent(r->X, r->A.n, r->nrhs, r->ldx, r->exec.layout, r->A.dtype);
    if (atomic_exchange(&r->b->busy, true))
        return trs_fail(TRS_ESTATE, "batch: another thread is in a call with this batch");
    if (r->b->there) rc = solve_bad_there(r, &count);
    else rc = solve_bad(r, &count);
    atomic_store(&r->b->busy, false);
    if (repaired) *repaired = count;
    return rc;
}

int trs_lu_batch_repair(trs_lu_batch *batch, trs_lu *lu, const trs_mat *A, trs_op op, int nrhs,
                        const trs_systems *systems, const void *B, int64_t ldb, void *X,
                        int64_t ldx, const trs_exec *exec, int64_t *repaired)
{
    trs_enter();
    if (!A) return trs_leave(trs_fail(TRS_EARG, "repair: A is NULL"));
    repair r = {.b = batch, .lu = lu, .A = *A, .op = op, .nrhs = nrhs, .s = systems};
    r.B = B, r.ldb = ldb;
    r.X = X, r.ldx = ldx;
    if (exec) r.exec = *exec;
    return trs_leave(repair_all(&r, repaired));
}
