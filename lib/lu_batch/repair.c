/* repair.c: systems that do not suit the pivots of their batch are factored with their own, one after the other. */
#include "config.h"

#include "batch_of.h"

static bool is_bad(const trs_lu_batch_outcome *o)
{
    return o->code == TRS_EPIVOT || o->code == TRS_EGROWTH;
}

typedef struct repair {
    trs_lu *lu;
    trs_mat A;
    trs_op op;
    int nrhs;
    const trs_systems *s;
    const char *B;
    char *X;
    int64_t ldb, ldx;
    trs_exec exec;
} repair;

/* Factor and solve system k.  *good: it is not singular. */
static int solve_one(repair *r, int64_t k, bool *good)
{
    const trs_systems *s = r->s;
    const int64_t size = (int64_t)trs_size(r->A.dtype);
    if (s->val_of) r->A.val = s->val_of[k];
    else r->A.val = (const char *)s->val + k * s->val_stride * size;
    int rc = trs_lu_update(r->lu, &r->A);
    *good = !rc;
    if (rc == TRS_EPIVOT || rc == TRS_EMATRIX) return TRS_OK;
    if (!rc)
        rc = trs_lu_solve(r->lu, r->op, r->nrhs, r->B + k * s->b_stride * size, r->ldb,
                          r->X + k * s->x_stride * size, r->ldx, &r->exec);
    return rc;
}

static int solve_bad(trs_lu_batch *b, repair *r, int64_t *repaired)
{
    int rc = TRS_OK;
    for (int64_t k = 0; k < r->s->count && !rc; k++) {
        bool good = false;
        trs_lu_batch_outcome *o = &b->outcome[k];
        if (!trs_lu_batch_has(r->s, k) || !is_bad(o)) continue;
        rc = solve_one(r, k, &good);
        if (rc || !good) continue;
        *o = (trs_lu_batch_outcome){.row = -1, .code = TRS_OK};
        ++*repaired;
    }
    return rc;
}

static int check(const trs_lu_batch *b, const trs_lu *lu, const trs_mat *A, const trs_systems *s)
{
    const int rc = trs_lu_batch_check(b, s, true);
    if (rc) return rc;
    if (!lu || !A) return trs_fail(TRS_EARG, "repair: lu or A is NULL");
    if (A->device > 0 || lu->opt.device > 0)
        return trs_fail(TRS_ESUPPORT, "repair: A and the factors must be on the host");
    if (A->n != b->rows.n || A->dtype != b->rows.dtype || A->nnz != b->rows.numbers)
        return trs_fail(TRS_EARG, "repair: A has another n, nnz or dtype than the batch");
    return TRS_OK;
}

static int repair_all(trs_lu_batch *b, repair *r, int64_t *repaired)
{
    int64_t count = 0;
    if (repaired) *repaired = 0;
    int rc = check(b, r->lu, &r->A, r->s);
    if (rc) return rc;
    if (atomic_exchange(&b->busy, true))
        return trs_fail(TRS_ESTATE, "batch: another thread is in a call with this batch");
    rc = solve_bad(b, r, &count);
    atomic_store(&b->busy, false);
    if (repaired) *repaired = count;
    return rc;
}

int trs_lu_batch_repair(trs_lu_batch *batch, trs_lu *lu, const trs_mat *A, trs_op op, int nrhs,
                        const trs_systems *systems, const void *B, int64_t ldb, void *X,
                        int64_t ldx, const trs_exec *exec, int64_t *repaired)
{
    trs_enter();
    if (!A) return trs_leave(trs_fail(TRS_EARG, "repair: A is NULL"));
    repair r = {.lu = lu, .A = *A, .op = op, .nrhs = nrhs, .s = systems};
    r.B = B, r.ldb = ldb;
    r.X = X, r.ldx = ldx;
    if (exec) r.exec.layout = exec->layout;
    return trs_leave(repair_all(batch, &r, repaired));
}
