/* lu_device.c: factors that are computed on a device.
 *
 * The rows of L + U, their levels and the schedule of the elimination are made once.  The values of L and of U, one after
 * the other in one array, are what elimination writes and the plans read; so an update of values that are on the device is
 * a few launches, and the host looks at nothing but the outcome, later if it has been told so. */
#include "config.h"

#include "inverse.h"
#include "lu_device.h"
#include "analysis/level.h"
#include "base/debug.h"
#include "base/device.h"
#include "core/refresh.h"
#include "factor/lu_mat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Growth in plans that were refreshed: above the first limit they choose a solver again, above the second x has no correct
 * digits, or is NaN. */
static const double much_growth = 1e4, hopeless = 1e8;

/* ---- arrays ------------------------------------------------------------------------------------- */

static void *new_values(trs_context *ctx, void **to, int64_t count, trs_dtype t)
{
    if (!*to) *to = trs_gpu_new(ctx, count, trs_size(t), "values of factors");
    return *to;
}

/* Pivots of L S L^H. */
static int new_signs(trs_lu *lu)
{
    trs_lu_device *d = lu->device;
    const int64_t n = lu->f.L.n;
    d->boost = lu->boost;
    d->sign = trs_gpu_new(&d->ctx, n, 1, "the signs of pivots");
    if (!d->sign || !lu->signs) return d->sign ? TRS_OK : TRS_EMEM;
    d->signs = trs_gpu_new(&d->ctx, n, 1, "the signs of pivots");
    int8_t *signs = trs_lu_alloc(lu, n, 1, "the signs of pivots");
    for (int64_t k = 0; k < n && signs; k++) signs[k] = lu->signs[lu->f.P[k]];
    int rc = TRS_EMEM;
    if (d->signs && signs) rc = trs_gpu_put(&d->ctx, d->signs, signs, (size_t)n);
    trs_lu_free(lu, signs);
    return rc;
}

int trs_lu_device_values(trs_lu *lu, const trs_mat *A)
{
    trs_lu_device *d = lu->device;
    trs_context *ctx = &d->ctx;
    const int rc = lu->f.sign ? new_signs(lu) : TRS_OK;
    if (rc) return rc;
    d->outcome = trs_gpu_new(ctx, 1, sizeof *d->outcome, "the outcome of a factorisation");
    bool there = d->outcome && new_values(ctx, &d->val, d->numbers, d->dtype);
    if (there && A->dtype != d->dtype)
        there = new_values(ctx, &d->converted, trs_value_count(A), d->dtype);
    if (there && lu->single)
        there = new_values(ctx, &d->rounded, d->numbers, trs_lu_single(d->dtype));
    if (there) return trs_gpu_branch_new(ctx, &d->branch);
    return TRS_EMEM;
}

static int put_scale(trs_lu_device *d, const double *scale)
{
    const size_t bytes = (size_t)d->rows.n * sizeof *scale;
    if (!scale) return TRS_OK;
    d->scale = trs_gpu_new(&d->ctx, d->rows.n, sizeof *scale, "the row scaling");
    if (d->scale) return trs_gpu_put(&d->ctx, d->scale, scale, bytes);
    return TRS_EMEM;
}

static int put_new(trs_lu_device *d, void **to, const void *from, int64_t count, size_t size)
{
    *to = trs_gpu_new(&d->ctx, count, size, "pivots of two rows");
    return *to ? trs_gpu_put(&d->ctx, *to, from, (size_t)count * size) : TRS_EMEM;
}

int trs_lu_device_turns(trs_lu_device *d, const trs_turned *t)
{
    if (!t || t->count == 0) return TRS_OK;
    const int64_t terms = TRS_TURNED_TERMS * t->G.nnz;
    void *first = NULL, *w = NULL, *from = NULL, *by = NULL;
    const size_t size = trs_size(d->dtype);
    int rc = put_new(d, &first, t->first, t->count, sizeof *t->first);
    if (!rc) rc = put_new(d, &w, t->w, 4 * (int64_t)t->count, size);
    if (!rc) rc = put_new(d, &from, t->from, terms, sizeof *t->from);
    if (!rc) rc = put_new(d, &by, t->by, terms, size);
    d->turned = first, d->turn = w, d->mix_from = from, d->mix_by = by;
    d->turns = t->count;
    d->mixed = t->G.nnz;
    if (!rc && !new_values(&d->ctx, &d->mix, t->G.nnz, d->dtype)) rc = TRS_EMEM;
    return rc;
}

static void drop_patterns(trs_lu_device *d)
{
    for (int k = 0; k < 4; k++) {
        trs_gpu_free(&d->ctx, d->pattern[k]);
        d->pattern[k] = NULL;
    }
}

void trs_lu_device_free(trs_lu *lu)
{
    trs_lu_device *d = lu->device;
    if (!d) return;
    trs_elimination_destroy(d->elimination);
    trs_fronts_destroy(d->fronts);
    trs_gpu_blocks_free(d->blocks);
    trs_gpu_lu_rows_free(&d->ctx, &d->rows);
    trs_gpu_branch_free(&d->ctx, d->branch);
    void *const all[] = {d->val,      d->sent,   d->converted, d->rounded, d->scale,
                         d->outcome,  d->sign,   d->signs,     d->turned,  d->turn,
                         d->mix_from, d->mix_by, d->mix};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) trs_gpu_free(&d->ctx, all[k]);
    drop_patterns(d);
    trs_gpu_drop_scratch(&d->ctx);
    trs_gpu_drop_ring(&d->ctx);
    trs_free(&lu->mem, d);
    lu->device = NULL;
    lu->info.kernel = NULL;
    lu->refreshes = false;
}

/* ---- analysis ----------------------------------------------------------------------------------- */

/* level [n], on the device, of the rows of L; the caller frees it. */
static int find_levels(trs_lu_device *d, int32_t *levels, int32_t **level)
{
    const trs_lu_rows *r = &d->rows;
    trs_operator op = {.ctx = &d->ctx, .on_device = TRS_OP_PATTERN};
    op.tri = (trs_tri){.n = r->n, .nnz = r->nnz_l, .dtype = d->dtype};
    op.device.ptr = r->Lp;
    op.device.idx = r->Li;
    int rc = trs_find_levels_on_device(&op);
    if (rc) {
        trs_forget();
        rc = trs_find_levels(&op);
    }
    if (!rc) rc = trs_operator_device(&op, TRS_OP_LEVELS);
    *levels = op.lv.count;
    *level = op.device.level;
    op.device.level = NULL;
    op.device.ptr = NULL, op.device.idx = NULL; /* they are those of the rows */
    trs_operator_free(&op);
    return rc;
}

static int new_elimination(trs_lu_device *d)
{
    const trs_lu_rows *r = &d->rows;
    trs_elimination_pattern p = {.n = r->n, .nnz = r->nnz, .dtype = d->dtype};
    int32_t *level = NULL;
    p.cholesky = r->cholesky;
    p.ptr = r->ptr, p.idx = r->idx, p.diag = r->diag;
    p.src = r->src, p.to = r->to;
    p.conjugate = trs_is_complex(d->dtype) ? r->conjugate : NULL;
    p.scale = d->scale;
    int rc = find_levels(d, &p.levels, &level);
    p.level = level;
    if (!rc) rc = trs_elimination_create(&d->ctx, &p, &d->elimination);
    trs_gpu_free(&d->ctx, level);
    return rc;
}

/* ---- triangles and plans ------------------------------------------------------------------------- */

/* The triangles as the plans read them, on the device.  Arrays of their patterns are NULL once the plans are made. */
static void triangles(const trs_lu *lu, trs_mat *L, trs_mat *U)
{
    const trs_lu_device *d = lu->device;
    const trs_lu_rows *r = &d->rows;
    const char *val = lu->single ? d->rounded : d->val;
    *L = lu->f.L, *U = lu->f.U;
    if (d->pattern[0]) {
        L->ptr = d->pattern[0], L->idx = d->pattern[1];
        U->ptr = d->pattern[2], U->idx = d->pattern[3];
    }
    if (!d->fronts) {
        *L = (trs_mat){.n = r->n, .nnz = r->nnz_l, .ptr = r->Lp, .idx = r->Li, .kind = TRS_LOWER};
        *U = (trs_mat){.n = r->n, .nnz = r->nnz_u, .ptr = r->Up, .idx = r->Ui, .kind = TRS_UPPER};
    }
    TRS_ASSERT(val && d->numbers >= L->nnz && (lu->f.cholesky || d->first_u >= L->nnz));
    L->dtype = U->dtype = lu->single ? trs_lu_single(d->dtype) : d->dtype;
    L->device = U->device = TRS_CUDA(d->ctx.device);
    L->val = val;
    U->val = val + (size_t)d->first_u * trs_size(L->dtype);
}

/* There may be plans, but no memory for the vectors between them. */
static bool has_plans(const trs_lu *lu)
{
    if (lu->device->blocks) return lu->own;
    return lu->l && (lu->u || lu->f.cholesky) && lu->own;
}

static bool can_refresh(const trs_lu *lu)
{
    if (lu->device->blocks) return lu->own;
    return has_plans(lu) && trs_plan_refreshes(lu->l) && (!lu->u || trs_plan_refreshes(lu->u));
}

/* L and U take their values side by side: neither needs the other, and those of small ones take little of the device. */
static int refresh_both(trs_lu *lu, const trs_mat *L, const trs_mat *U, void *stream)
{
    trs_branch *branch = lu->device->branch;
    void *side;
    int rc = trs_gpu_fork(branch, stream, &side);
    if (rc) return rc;
    rc = trs_lu_plan_of(lu, &lu->u, U, "U", side);
    if (!rc) rc = trs_lu_plan_of(lu, &lu->l, L, "L", stream);
    const int joined = trs_gpu_join(branch, stream);
    if (!rc) rc = joined;
    return rc;
}

/* Make the plans, or give them the values. */
static int feed_plans(trs_lu *lu, void *stream)
{
    trs_lu_device *d = lu->device;
    const bool had = has_plans(lu);
    const double start = trs_now();
    trs_mat L, U;
    if (d->blocks) return had ? TRS_OK : trs_lu_vectors(lu);
    triangles(lu, &L, &U);
    if (lu->u && can_refresh(lu)) return refresh_both(lu, &L, &U, stream);
    int rc = trs_lu_plan_of(lu, &lu->l, &L, "L", stream);
    if (!rc && !lu->f.cholesky) rc = trs_lu_plan_of(lu, &lu->u, &U, "U", stream);
    if (rc || had) return rc;
    trs_gpu_lu_rows_join(&d->ctx, &d->rows);
    drop_patterns(d);
    trs_lu_set_info(lu, trs_now() - start);
    return trs_lu_vectors(lu);
}

/* How much larger than those of substitution the errors of a solve may be with these values: a refreshed plan still uses the
 * solver that it chose for other values. */
static int growth_of_plans(trs_lu *lu, void *stream, double *growth)
{
    double second = 0;
    *growth = 0;
    if (lu->device->blocks) return TRS_OK;
    int rc = trs_plan_growth(lu->l, stream, growth);
    if (!rc && lu->u) rc = trs_plan_growth(lu->u, stream, &second);
    if (!(second <= *growth)) *growth = second;
    return rc;
}

/* Up to a quarter of the digits of x may be lost; if the growth is larger the plans choose their solvers again. */
static int choose_again(trs_lu *lu, void *stream)
{
    const trs_exec exec = {.stream = stream};
    double growth;
    trs_mat L, U;
    int rc = growth_of_plans(lu, stream, &growth);
    if (rc || growth <= much_growth) return rc;
    triangles(lu, &L, &U);
    rc = trs_plan_update(lu->l, &L, &exec);
    if (!rc && lu->u) rc = trs_plan_update(lu->u, &U, &exec);
    return rc;
}

/* ---- the outcome ---------------------------------------------------------------------------------- */

static double growth_of(const trs_elimination_outcome *o)
{
    if (o->largest_a == 0) return 0;
    return o->largest / o->largest_a;
}

/* Has A no diagonal entry for this row?  false after an error. */
static bool lacks_diagonal(trs_lu_device *d, int64_t k)
{
    int64_t at = 0, place = 0;
    TRS_ASSERT(k >= 0 && k < d->shape.n);
    if (d->fronts || trs_gpu_get(&d->ctx, &at, d->rows.diag + k, sizeof at) ||
        trs_gpu_get(&d->ctx, &place, d->rows.src + at, sizeof place))
        return false;
    return place == TRS_SRC_MISSING;
}

static int say_fault(trs_lu *lu, const trs_elimination_outcome *o)
{
    const int64_t k = (int64_t)(o->first / 4);
    const trs_ilu_fault fault = (trs_ilu_fault)(o->first % 4);
    if (lu->blocks) return trs_ilu_say_block_fault(lu, lu->blocks, k, fault);
    return trs_ilu_say_fault(lu, k, fault, lacks_diagonal(lu->device, k));
}

/* The code and the sentence for what elimination found. */
static int judge(trs_lu *lu, const trs_elimination_outcome *o)
{
    const double growth = growth_of(o);
    lu->info.boosted = (int64_t)o->boosted;
    if (lu->f.sign) lu->info.first_boosted = o->boosted ? lu->f.P[o->first_boosted] : -1;
    if (!isfinite(o->largest_a)) return trs_fail(TRS_EMATRIX, "a value of A is not finite");
    if (o->bad) return say_fault(lu, o);
    if (growth <= lu->device->limit) return TRS_OK;
    return trs_fail(TRS_EGROWTH,
                    "the factors grew to %.3g times A: its new values do not suit the pivots",
                    growth);
}

static int read_outcome(trs_lu_device *d, void *stream, trs_elimination_outcome *o)
{
    const size_t bytes = sizeof *o;
    if (trs_gpu_copy_lines(o, bytes, d->outcome, bytes, bytes, 1, false, stream) ||
        trs_gpu_wait(stream))
        return trs_fail(TRS_EDEVICE, "elimination on the device");
    return TRS_OK;
}

/* Wait for the last update. */
static int wait_for_outcome(trs_lu_device *d, trs_elimination_outcome *o)
{
    const int rc = trs_gpu_wait_for_all(&d->ctx);
    return rc ? rc : trs_gpu_get(&d->ctx, o, d->outcome, sizeof *o);
}

int trs_lu_device_signs(trs_lu *lu)
{
    trs_lu_device *d = lu->device;
    trs_elimination_outcome o;
    int rc = wait_for_outcome(d, &o);
    if (!rc) rc = judge(lu, &o);
    if (rc == TRS_EPIVOT) return trs_fail(TRS_ESTATE, "%s", trs_message());
    return rc ? rc : trs_gpu_get(&d->ctx, lu->f.sign, d->sign, (size_t)lu->f.L.n);
}

int trs_lu_device_status(trs_lu *lu, int64_t *bad, int64_t *first, double *growth)
{
    trs_lu_device *d = lu->device;
    trs_elimination_outcome o;
    double plans;
    int rc = wait_for_outcome(d, &o);
    if (rc) return rc;
    *bad = (int64_t)o.bad;
    *first = o.bad ? (int64_t)(o.first / 4) : -1;
    if (o.bad && lu->blocks) *first *= lu->blocks->b;
    if (o.bad && lu->f.P) *first = lu->f.P[*first]; /* the row of A */
    *growth = growth_of(&o);
    rc = judge(lu, &o);
    if (rc || !has_plans(lu)) return rc;
    rc = growth_of_plans(lu, NULL, &plans);
    if (!rc) rc = trs_lu_inverse_growth(lu, &plans);
    if (rc || plans <= hopeless) return rc;
    return trs_fail(TRS_EGROWTH,
                    "the triangles cannot be solved as the first ones were: errors grow by %.3g",
                    plans);
}

/* ---- values --------------------------------------------------------------------------------------- */

/* *a = the values of A on the device, in the type of the factors. */
static int take_values(trs_lu_device *d, const trs_mat *A, void *stream, const void **a)
{
    trs_context *ctx = &d->ctx;
    const int64_t count = trs_value_count(A);
    *a = A->val;
    if (A->device != TRS_CUDA(ctx->device)) {
        if (!new_values(ctx, &d->sent, count, A->dtype)) return TRS_EMEM;
        if (trs_gpu_wait(stream)) return TRS_EDEVICE; /* the last update reads them */
        const int rc = trs_gpu_put(ctx, d->sent, A->val, (size_t)count * trs_size(A->dtype));
        if (rc) return rc;
        *a = d->sent;
    }
    if (!d->converted) return TRS_OK;
    const int rc = trs_gpu_convert(count, A->dtype, *a, d->dtype, d->converted, stream);
    *a = d->converted;
    return rc;
}

/* *a = the values of G, if rows are turned. */
static int turn_values(const trs_lu_device *d, void *stream, const void **a)
{
    if (d->turns == 0) return TRS_OK;
    const int rc = trs_gpu_mix(d->dtype, d->mixed, d->mix_from, d->mix_by, *a, d->mix, stream);
    *a = d->mix;
    return rc;
}

static int compute(trs_lu_device *d, const void *a, void *stream)
{
    void *const u = (char *)d->val + (size_t)d->first_u * trs_size(d->dtype);
    const trs_fronts_job by_fronts = {a,      d->val,   u,       d->outcome,
                                      stream, d->boost, d->sign, d->signs};
    const trs_elimination_job job = {a,          d->val, d->shift, d->boost,
                                     d->outcome, stream, d->sign,  d->signs};
    const trs_block_job by_blocks = {a, d->val, d->shift, d->boost, d->outcome, stream};
    if (d->blocks) return trs_gpu_blocks_factor(d->blocks, &by_blocks);
    if (d->fronts) return trs_fronts_run(d->fronts, &by_fronts);
    return trs_elimination_run(d->elimination, &job);
}

/* Enqueue all that is between the values of A and those of L and U. */
static int eliminate(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_lu_device *d = lu->device;
    const void *a;
    int rc = take_values(d, A, stream, &a);
    if (!rc) rc = turn_values(d, stream, &a);
    if (!rc) rc = compute(d, a, stream);
    if (!rc && lu->single)
        rc = trs_gpu_convert(d->numbers, d->dtype, d->val, trs_lu_single(d->dtype), d->rounded,
                             stream);
    return rc;
}

static int check_values(const trs_lu *lu, const trs_mat *A, void *stream)
{
    const trs_lu_device *d = lu->device;
    int rc = trs_lu_check_shape(&d->shape, A);
    if (rc || !trs_gpu_is_capturing(stream)) return rc;
    if (A->device != TRS_CUDA(d->ctx.device))
        return trs_fail(TRS_ESUPPORT, "update: values that are not on the device of the factors "
                                      "cannot be captured");
    if (d->waits)
        return trs_fail(TRS_ESUPPORT, "update: one that waits for the pivots cannot be captured");
    if (can_refresh(lu)) return TRS_OK;
    return trs_fail(TRS_ESTATE, "update: to be captured, it has to follow one that was good");
}

/* There are no plans yet, which are only made of good values, or the plans read their values on the host. */
static int update_waiting(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_elimination_outcome o;
    int rc = eliminate(lu, A, stream);
    if (!rc) rc = read_outcome(lu->device, stream, &o);
    if (!rc) rc = judge(lu, &o);
    if (!rc) rc = feed_plans(lu, stream);
    return rc;
}

int trs_lu_device_update(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_lu_device *d = lu->device;
    const double start = trs_now();
    trs_elimination_outcome o;
    lu->ready = lu->singular = false;
    int rc = check_values(lu, A, stream);
    if (!rc) rc = trs_gpu_use(&d->ctx);
    if (rc) return rc;
    if (!can_refresh(lu)) rc = update_waiting(lu, A, stream);
    else {
        rc = eliminate(lu, A, stream);
        if (!rc) rc = feed_plans(lu, stream);
        if (!rc && d->waits) rc = read_outcome(d, stream, &o);
        if (!rc && d->waits) rc = judge(lu, &o);
        if (!rc && d->waits) rc = choose_again(lu, stream);
    }
    lu->info.seconds_factor = trs_now() - start;
    lu->ready = !rc;
    return rc;
}

/* ---- beginning and end ------------------------------------------------------------------------------ */

/* The shapes of the factors, without arrays. */
static void show_shapes(trs_lu *lu)
{
    const trs_lu_device *d = lu->device;
    trs_mat *L = &lu->f.L, *U = &lu->f.U;
    trs_lu_triangles_free(lu, &lu->f);
    *L = (trs_mat){.n = d->rows.n, .nnz = d->rows.nnz, .dtype = d->dtype, .kind = TRS_LOWER};
    *U = (trs_mat){0};
    lu->f.cholesky = d->rows.cholesky;
    if (d->rows.cholesky) {
        L->nnz = d->rows.nnz_l;
        return;
    }
    *U = *L;
    U->kind = TRS_UPPER;
    L->kind = TRS_LOWER | TRS_UNIT;
}

int trs_lu_device_new(trs_lu *lu, const trs_mat *A, trs_dtype dtype, double limit, bool waits)
{
    trs_lu_device *d = lu->device = trs_alloc_zero(&lu->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory for a handle");
    d->ctx = (trs_context){.mem = lu->mem, .device_memory = lu->opt.device_memory};
    d->ctx.base = lu->base;
    d->ctx.device = lu->opt.device - 1;
    d->ctx.threads = lu->opt.threads > 0 ? lu->opt.threads : trs_default_threads();
    d->dtype = dtype;
    d->limit = limit;
    d->waits = waits;
    d->shape = trs_lu_shape(A);
    lu->refreshes = true;
    return trs_gpu_use(&d->ctx);
}

static int analyse(trs_lu *lu, const trs_lu_task *task)
{
    int rc = trs_lu_device_new(lu, task->A, task->dtype, task->limit, task->waits);
    trs_lu_device *d = lu->device;
    if (rc) return rc;
    const trs_lu_rows *r = &d->rows;
    d->shift = task->shift;
    d->boost = task->boost;
    rc = trs_gpu_lu_rows(&d->ctx, task->pattern, task->src, task->cholesky, &d->rows);
    d->first_u = r->first_u;
    d->numbers = r->first_u + r->nnz_u;
    if (r->cholesky) d->numbers = r->nnz_l;
    if (!rc) rc = put_scale(d, task->scale);
    if (!rc) rc = trs_lu_device_turns(d, task->turned);
    if (!rc) rc = trs_lu_device_values(lu, task->A);
    if (!rc) rc = new_elimination(d);
    if (!rc) rc = trs_gpu_unit_diagonal(&d->rows, d->dtype, d->val);
    if (!rc) trs_gpu_drop_scratch(&d->ctx);
    return rc;
}

int trs_lu_device_make(trs_lu *lu, const trs_lu_task *task, bool *made)
{
    *made = false;
    if (task->A->n == 0) return TRS_OK;
    const double start = trs_now(), library = lu->info.seconds_factor;
    int rc = analyse(lu, task);
    if (rc) {
        trs_lu_device_free(lu);
        if (rc != TRS_ESUPPORT && rc != TRS_EMATRIX) return rc;
        trs_forget();
        return TRS_OK;
    }
    *made = true;
    const double analysed = trs_now() - start;
    if (!lu->f.L.ptr) show_shapes(lu);
    rc = trs_lu_device_update(lu, task->A, NULL);
    if (!rc) show_shapes(lu); /* what the host has of complete factors is not needed any more */
    lu->info.kernel = trs_elimination_kernel(lu->device->elimination);
    lu->info.seconds_analyse += analysed;
    lu->info.seconds_factor += library;
    return rc;
}
