/* batch.c: x_k = op(T_k)^-1 b_k for many triangles of one pattern.
 *
 * The plan of one of them has the pattern, and the order of its rows.  Forward substitution solves each system from the
 * caller's values as they are: nothing is analysed, copied or stored for a system.  On the host, threads share the systems.
 * One thread solves a system, in one order, so that its bits do not depend on the number of threads. */
#ifndef T

#include "config.h"

#include "base/device.h"
#include "base/parallel.h"
#include "batch.h"
#include "core/plan.h"

#include <complex.h>
#include <inttypes.h>

enum { ENTRIES = 1 << 14 }; /* that a thread takes at a time, as whole systems */

typedef struct solving {
    const trs_batch_job *job;
    /* system times n and row of the first bad pivot; INT64_MAX: there is none */
    _Atomic int64_t first;
} solving;

#define TRS_BODY "batch/batch.c"
#include "base/each_type.h"

static int solve_here(const trs_context *plan, const trs_batch_job *job, int threads,
                      int64_t *first)
{
    static const trs_range_fn solve[] = TRS_PER_TYPE(solve);
    trs_context ctx = *plan;
    solving s = {.job = job, .first = INT64_MAX};
    const int64_t work = job->rows->nnz * job->nrhs, each = ENTRIES / (work + 1) + 1;
    if (threads > 0) ctx.threads = threads;
    const int64_t all = job->count > INT64_MAX / (work + 1) ? INT64_MAX : job->count * work;
    trs_share(trs_team(&ctx, all), job->count, each, solve[job->dtype], &s);
    *first = s.first == INT64_MAX ? -1 : s.first;
    return TRS_OK;
}

/* ---- checks --------------------------------------------------------------------------------- */

static int check_plan(const trs_plan *p, trs_op op, int nrhs, const trs_exec *exec)
{
    int rc = trs_plan_check_analysed(p, "batch");
    if (!rc) rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (rc) return rc;
    if (nrhs < 0 || (unsigned)op > TRS_H || (unsigned)exec->layout > TRS_ROW_MAJOR ||
        exec->threads < 0 || exec->threads > TRS_MOST_THREADS)
        return trs_fail(TRS_EARG, "batch: op, nrhs, layout or threads is out of range");
    if (!(p->ctx.ops & 1u << op))
        return trs_fail(TRS_ESTATE, "batch: TRS_%c was not announced in the options", "NTH"[op]);
    if (p->general || p->P || p->pivot != TRS_PIVOT_FAIL || p->ctx.sweeps || p->solver->several)
        return trs_fail(TRS_ESUPPORT,
                        "batch: the plan must be of a triangle as it stands, fail on bad "
                        "pivots, have no sweeps, and be on one device");
    return TRS_OK;
}

static int check_batch(const trs_batch *a)
{
    if (!a) return trs_fail(TRS_EARG, "batch: batch is NULL");
    const int rc = TRS_CHECK_RESERVED(a, "trs_batch");
    if (rc || a->count >= 0) return rc;
    return trs_fail(TRS_EARG, "batch: count is negative");
}

/* The bytes of count arrays of so many bytes each; -1: there is no such memory. */
static int64_t all_of(int64_t bytes, int64_t stride, int64_t count, trs_dtype t)
{
    const int64_t size = (int64_t)trs_size(t), most = (int64_t)1 << 56;
    if (bytes < 0 || stride < 0 || stride > most / size / count) return -1;
    return stride * (count - 1) * size + bytes;
}

static int check_arrays(const trs_plan *p, const trs_batch *a, int nrhs, const void *B, int64_t ldb,
                        const void *X, int64_t ldx, trs_layout layout)
{
    const trs_dtype t = p->given.dtype;
    const int64_t n = p->info.n;
    const int64_t b = all_of(trs_extent(B, n, nrhs, ldb, layout, t), a->b_stride, a->count, t);
    const int64_t x = all_of(trs_extent(X, n, nrhs, ldx, layout, t), a->x_stride, a->count, t);
    const int64_t v = all_of(trs_value_count(&p->given), a->val_stride, a->count, t);
    if (b < 0 || x < 0 || v < 0 || ldb > INT32_MAX || ldx > INT32_MAX)
        return trs_fail(TRS_EARG,
                        "batch: B or X is NULL, or a leading dimension or stride is out of "
                        "range");
    if (!a->val && trs_value_count(&p->given) > 0) return trs_fail(TRS_EARG, "batch: val is NULL");
    if (a->count > 1 && a->x_stride == 0)
        return trs_fail(TRS_EARG, "batch: x_stride = 0, all systems would have the same X");
    const bool other_strides = ldb != ldx || a->b_stride != a->x_stride;
    if ((B == X && other_strides) || (B != X && trs_overlap(B, b, X, x)))
        return trs_fail(TRS_EARG, "batch: B and X overlap, or are the same with other strides");
    return TRS_OK;
}

/* Has the operator been analysed for a batch? */
static bool is_made(const trs_operator *op, const trs_analysis *wanted)
{
    const trs_analysis *a;
    const void *result;
    for (int k = 0; (a = trs_operator_analysis_at(op, k, &result)); k++)
        if (a == wanted) return true;
    return false;
}

/* ---- solving -------------------------------------------------------------------------------- */

/* The rows are made by the first call.  The lock is held. */
static int find_rows(trs_plan *p, trs_side *side, void *stream, const trs_batch_rows **rows)
{
    trs_operator *op = &side->op;
    const trs_analysis *a = p->on_device ? &trs_batch_there : &trs_batch_here;
    const void *result = NULL;
    if (p->on_device && trs_gpu_is_capturing(stream) && !is_made(op, a))
        return trs_fail(TRS_ESTATE, "batch: the first one cannot be captured in a graph");
    int rc = trs_plan_find_levels(p, side);
    if (!rc) rc = trs_operator_analysis(op, a, true, &result);
    *rows = result;
    return rc;
}

/* On a device, those that look for pivots have one number for them, and so take turns. */
static int solve(trs_plan *p, trs_side *side, trs_batch_job *job, int threads, int64_t *first)
{
    const bool there = p->on_device, turns = there && job->look;
    int rc = TRS_OK;
    pthread_mutex_lock(&p->topo_lock);
    if (there) rc = trs_gpu_use(&p->ctx);
    if (!rc) rc = find_rows(p, side, job->stream, &job->rows);
    if (!turns) pthread_mutex_unlock(&p->topo_lock);
    if (!rc && there) rc = trs_gpu_solve_batch(job, first);
    else if (!rc) rc = solve_here(&p->ctx, job, threads, first);
    if (turns) pthread_mutex_unlock(&p->topo_lock);
    return rc;
}

/* The first bad pivot, as trs_gpu_solve_batch returns it, for the caller. */
static int report(const trs_plan *p, int64_t first, int64_t bad[2])
{
    if (first < 0) return TRS_OK;
    const int64_t system = first / p->info.n, row = first % p->info.n;
    if (bad) bad[0] = system, bad[1] = row;
    return trs_fail(TRS_EPIVOT,
                    "system %" PRId64 ", row %" PRId64 ": the pivot is missing, zero or "
                    "not finite",
                    system, row + p->ctx.base);
}

static int solve_batch(const trs_plan *p, trs_op op, const trs_batch *a, int nrhs, const void *B,
                       int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int64_t bad[2])
{
    static const trs_exec defaults = {0};
    int64_t first = -1;
    if (!exec) exec = &defaults;
    if (bad) bad[0] = bad[1] = -1;
    int rc = check_plan(p, op, nrhs, exec);
    if (!rc) rc = check_batch(a);
    if (rc || !a->count || !nrhs || !p->info.n) return rc;
    rc = check_arrays(p, a, nrhs, B, ldb, X, ldx, exec->layout);
    if (rc) return rc;
    trs_batch_job job = {.count = a->count, .val = a->val, .nrhs = nrhs, .stream = exec->stream};
    job.dtype = p->given.dtype;
    job.val_stride = a->val_stride, job.b_stride = a->b_stride, job.x_stride = a->x_stride;
    job.b = trs_view_of(B, ldb, exec->layout);
    job.x = trs_view_of(X, ldx, exec->layout);
    job.conj = op == TRS_H && trs_is_complex(job.dtype);
    job.look = bad != NULL;
    rc = solve((trs_plan *)p, trs_plan_side(p, op != TRS_N), &job, exec->threads, &first);
    if (rc) return rc;
    return report(p, first, bad);
}

int trs_solve_batch(const trs_plan *p, trs_op op, const trs_batch *batch, int nrhs, const void *B,
                    int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int64_t bad[2])
{
    trs_enter();
    return trs_leave(solve_batch(p, op, batch, nrhs, B, ldb, X, ldx, exec, bad));
}

#else

#include "base/number/divide.h"

static T FN(value)(const trs_batch_job *j, const T *val, int64_t p)
{
    const int64_t src = j->rows->src[p];
    if (src < 0) return src == TRS_SRC_UNIT;
    return j->conj ? CONJ(val[src]) : val[src];
}

static bool FN(is_bad)(T a)
{
    const REAL re = creal(a), im = cimag(a);
    return !isfinite(re) || !isfinite(im) || (re == 0 && im == 0);
}

/* One right-hand side of a system.  Returns the first of the caller's rows with a bad pivot, or n. */
static int32_t FN(substitute)(const trs_batch_job *j, const T *val, const T *b, T *x)
{
    const trs_batch_rows *rows = j->rows;
    int32_t bad = rows->n;
    for (int32_t k = 0; k < rows->n; k++) {
        const int64_t diagonal = rows->ptr[k + 1] - 1;
        const int32_t i = rows->at[diagonal];
        const T pivot = FN(value)(j, val, diagonal);
        T s = b[i * j->b.rs];
        for (int64_t p = rows->ptr[k]; p < diagonal; p++)
            s -= FN(value)(j, val, p) * x[rows->at[p] * j->x.rs];
        if (FN(is_bad)(pivot) && i < bad) bad = i;
        x[i * j->x.rs] = FN(divide)(s, pivot);
    }
    return bad;
}

/* Systems begin .. end-1. */
static void FN(solve)(void *user, int64_t begin, int64_t end)
{
    solving *s = user;
    const trs_batch_job *j = s->job;
    for (int64_t k = begin; k < end; k++) {
        const T *val = (const T *)j->val + k * j->val_stride;
        const T *b = (const T *)j->b.p + k * j->b_stride;
        T *x = (T *)j->x.p + k * j->x_stride;
        int32_t bad = j->rows->n;
        for (int r = 0; r < j->nrhs; r++)
            bad = FN(substitute)(j, val, b + r * j->b.cs, x + r * j->x.cs);
        TRS_ASSERT(bad >= 0 && bad <= j->rows->n);
        if (bad < j->rows->n) trs_note_least(&s->first, k * j->rows->n + bad);
    }
}

#endif
