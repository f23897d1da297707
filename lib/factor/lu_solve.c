/* lu_solve.c: solve with the factors of a matrix.
 *
 *     (L U)(k, m) = s(P(k)) A(P(k), Q(m)):   x = Q U^-1 L^-1 P R b,   R = diag (s)
 *                                      and   x = R P' L^-T U^-T Q' b  for A' x = b
 *     L L^H = A(P, P):                       x = P' L^-H L^-1 P b
 *     L S L^H = A(P, P):                     x = P' L^-H S^-1 L^-1 P b,   S: 1, -1, and blocks of 2 x 2 numbers
 *
 * B and X are of the type of A, the vectors y between the triangles of the type of the plans: that of the factors, or
 * single precision.  There each column of y is divided by a power of two near its largest number, so that its numbers stay
 * in range.  Permutations, scaling and change of type are one pass over the vectors before the first triangle and one after
 * the second: lib/vectors/gather.c on the host, cuda/runtime/move.cu on a device.  On the host a step of refinement may
 * follow.
 * Incomplete factors without permutation have neither: their plans work on B and X themselves. */
#include "config.h"

#include "incomplete/ilu_blocks.h"
#include "lu_first.h"
#include "lu_hosted.h"
#include "lu_refine.h"
#include "base/debug.h"
#include "core/both.h"
#include "core/work.h"
#include "device/inverse.h"
#include "device/lu_device.h"
#include "matrix/on_device.h"
#include "vectors/gather.h"

#include <math.h>

double trs_power_near(double size)
{
    int e = 0;
    if (isfinite(size)) frexp(size, &e);
    return ldexp(1, (int)trs_max(-1000, trs_min(e, 1000)));
}

/* ---- solving -------------------------------------------------------------------------------- */

typedef struct job { /* of at most work->width right-hand sides at a time */
    trs_lu *lu;
    trs_lu_work *work;
    trs_op op;
    int nrhs;
    const trs_exec *exec;
    trs_view b, x, y;
    trs_layout layout; /* of y */
    bool rough;        /* x is not refined */
} job;

static trs_work *work_of(const job *j, const trs_plan *plan)
{
    TRS_ASSERT(plan == j->lu->l || plan == j->lu->u);
    return plan == j->lu->l ? j->work->l : j->work->u;
}

/* y = op(T)^-1 y for the triangle T of this plan. */
static int triangle(const job *j, const trs_plan *plan, trs_op op)
{
    trs_exec e = {.stream = j->exec->stream, .threads = j->exec->threads, .layout = j->layout};
    const int64_t ld = j->layout == TRS_ROW_MAJOR ? j->y.rs : j->y.cs;
    e.work = work_of(j, plan);
    const int rc = trs_solve(plan, op, j->nrhs, j->y.p, ld, j->y.p, ld, &e);
    if (!rc) return rc;
    return trs_fail(rc, "solving with %s: %s", plan == j->lu->l ? "L" : "U", trs_message());
}

/* A' = conj (A), because A is Hermitian; of real numbers that is A */
static bool conjugates(const job *j)
{
    return j->lu->f.cholesky && j->op == TRS_T && trs_is_complex(j->lu->dtype);
}

/* Does A' x = b begin with U'?  Then b comes in the order of Q, and x goes in that of P, scaled. */
static bool goes_back(const job *j)
{
    return !j->lu->f.cholesky && j->op != TRS_N;
}

/* Rows k and k + 1 of column r: y = [a b; conj (b) c] y, for the numbers of trs_factors.block. */
static void multiply_block(const job *j, const double *s, int64_t k, int r)
{
    const trs_dtype type = j->work->type;
    const int64_t at = k + r * j->y.cs;
    double x[2], y[2];
    trs_number_get(j->y.p, type, at, x);
    trs_number_get(j->y.p, type, at + 1, y);
    const double u[2] = {s[0] * x[0] + s[2] * y[0] - s[3] * y[1],
                         s[0] * x[1] + s[2] * y[1] + s[3] * y[0]};
    const double v[2] = {s[1] * y[0] + s[2] * x[0] + s[3] * x[1],
                         s[1] * y[1] + s[2] * x[1] - s[3] * x[0]};
    trs_number_put(j->y.p, type, at, u);
    trs_number_put(j->y.p, type, at + 1, v);
}

/* The first row of the next block from row k on; n: there is none. */
static int64_t next_block(const trs_factors *f, int64_t k, int64_t n)
{
    if (!f->block) return n;
    while (k < n && f->block[4 * k + 2] == 0 && f->block[4 * k + 3] == 0) k++;
    return k;
}

/* Multiply rows begin .. end - 1 of column r by their signs. */
static void multiply_signs(const job *j, int64_t begin, int64_t end, int r)
{
    const int8_t *sign = j->lu->f.sign;
    const int parts = trs_is_complex(j->work->type) ? 2 : 1;
    const bool single = trs_is_single(j->work->type);
    for (int64_t k = begin; k < end; k++)
        for (int64_t q = 0, at = parts * (k + r * j->y.cs); q < parts; q++, at++)
            if (single) ((float *)j->y.p)[at] *= sign[k];
            else ((double *)j->y.p)[at] *= sign[k];
}

/* y = S^-1 y on the host. */
static void divide_by_pivots(const job *j)
{
    const trs_factors *f = &j->lu->f;
    const int64_t n = j->work->n;
    TRS_ASSERT(j->y.rs == 1);
    for (int r = 0; r < j->nrhs; r++)
        for (int64_t k = 0, end; k < n; k = end + 2) {
            end = next_block(f, k, n);
            multiply_signs(j, k, end, r);
            if (end < n) multiply_block(j, f->block + 4 * end, end, r);
        }
}

static int pivots(const job *j)
{
    const trs_lu *lu = j->lu;
    const bool has_blocks = lu->f.block && !lu->device; /* a device turns rows instead */
    if (!lu->f.sign) return TRS_OK;
    if (j->work->on_device)
        return trs_gpu_divide_by_pivots(j->work->type, (int32_t)j->work->n, j->nrhs,
                                        lu->device ? lu->device->sign : lu->there.sign,
                                        has_blocks ? lu->there.block : NULL, j->y, j->exec->stream);
    divide_by_pivots(j);
    return TRS_OK;
}

/* Solve with both triangles in place: y = op(L U)^-1 y, or (L S L^H)^-1 y. */
static int triangles(const job *j)
{
    const trs_lu *lu = j->lu;
    const bool back = goes_back(j);
    int rc;
    if (back) rc = triangle(j, lu->u, j->op);
    else rc = triangle(j, lu->l, TRS_N);
    if (!rc) rc = pivots(j);
    if (rc) return rc;
    if (lu->f.cholesky) return triangle(j, lu->l, TRS_H);
    return triangle(j, back ? lu->l : lu->u, j->op);
}

static int solve_on_host(const job *j)
{
    const trs_lu *lu = j->lu;
    const trs_lu_order *f = &lu->there;
    const bool back = goes_back(j);
    const int threads = j->exec->threads > 0 ? j->exec->threads : lu->l->ctx.threads;
    double *unit = j->work->power;
    trs_gather in = {.n = j->work->n, .nrhs = j->nrhs, .from = lu->dtype, .to = j->work->type};
    in.conj = conjugates(j);
    trs_gather out = in;
    out.from = in.to, out.to = in.from;
    in.perm = f->P, in.scale = f->pivot_scale;
    out.perm = f->Q ? f->Q_inverse : f->P_inverse;
    if (back) {
        in.perm = f->Q, in.scale = NULL;
        out.perm = f->P_inverse, out.scale = lu->f.scale;
    }
    for (int r = 0; r < j->nrhs && unit; r++) /* brings the columns of R P b near 1 */
        unit[r] = 1 / trs_power_near(trs_gather_largest(&in, j->b, r));
    in.unit = out.unit = unit;
    trs_gather_rows(&in, threads, j->b, j->y);
    const int rc = triangles(j);
    if (rc) return rc;
    for (int r = 0; r < j->nrhs && unit; r++) unit[r] = 1 / unit[r];
    trs_gather_rows(&out, threads, j->y, j->x);
    return TRS_OK;
}

/* ---- refinement: see lu_refine.c ----------------------------------------------------------------- */

/* The first number of column c of a view of the type of A. */
static double *column_of(const trs_view *v, int c, int parts)
{
    return (double *)v->p + c * v->cs * parts;
}

/* Column c of x = x + d, unless d has a number that is not finite, or a larger one than x. */
static void correct(const job *j, const trs_view *d, int c)
{
    const int parts = trs_is_complex(j->lu->dtype) ? 2 : 1;
    const int64_t n = j->work->n, step = parts * j->x.rs;
    const double *by = column_of(d, c, parts);
    double *x = column_of(&j->x, c, parts);
    if (!(trs_lu_largest(by, parts, n, parts) <= trs_lu_largest(x, step, n, parts))) return;
    for (int64_t i = 0; i < n; i++)
        for (int q = 0; q < parts; q++) x[i * step + q] += by[i * parts + q];
}

/* Solve on the host, and refine x if the factors need it.  A column that has no good correction stays as it is: A is singular
 * to working precision, or numbers overflow. */
static int solve_here(const job *j)
{
    const trs_csc *A = j->lu->refined;
    if (!A || j->rough) return solve_on_host(j);
    TRS_ASSERT(j->work->r);
    const int64_t n = j->work->n;
    const int parts = trs_is_complex(j->lu->dtype) ? 2 : 1;
    const trs_view r = {.p = j->work->r, .rs = 1, .cs = n};
    const trs_gather copy = {.n = n, .nrhs = j->nrhs, .from = j->lu->dtype, .to = j->lu->dtype};
    job correction = *j;
    correction.b = correction.x = r;
    trs_gather_rows(&copy, 1, j->b, r);
    int rc = solve_on_host(j);
    for (int c = 0; c < j->nrhs && !rc; c++)
        trs_lu_subtract(A, j->op, column_of(&j->x, c, parts), j->x.rs, column_of(&r, c, parts));
    if (!rc) rc = solve_on_host(&correction);
    for (int c = 0; c < j->nrhs && !rc; c++) correct(j, &r, c);
    return rc;
}

/* y = W y before the triangles, and W^H y after them (turned.h). */
static int turn(const job *j, bool after)
{
    const trs_lu_device *d = j->lu->device;
    if (!d || d->turns == 0 || j->nrhs == 0) return TRS_OK;
    return trs_gpu_turn_rows(j->work->type, d->turns, j->nrhs, d->turned, d->turn, after, j->y,
                             j->exec->stream);
}

/* May one launch do all?  Nothing is done to y then, and X is not B: x may be written before all of b has been read. */
static bool may_be_one_launch(const job *j, const trs_move *in)
{
    const bool turns = j->lu->device && j->lu->device->turns > 0;
    if (j->nrhs != 1 || turns || j->lu->f.sign || in->conj || in->size) return false;
    return in->inner == in->outer && j->b.p != j->x.p;
}

/* Both triangles, with the permutations around them, by one launch. */
static int triangles_at_once(const job *j, const trs_move *in, const trs_move *out, bool *done)
{
    const trs_lu *lu = j->lu;
    const bool back = goes_back(j);
    const trs_plan *first = back ? lu->u : lu->l, *second = back ? lu->l : lu->u;
    const trs_op op = back ? j->op : TRS_N, then = lu->f.cholesky ? TRS_H : j->op;
    *done = false;
    if (!may_be_one_launch(j, in)) return TRS_OK;
    TRS_ASSERT(in->perm && out->perm);
    if (lu->f.cholesky) second = lu->l;
    const trs_two_plans two = {.of = {{.plan = first, .op = op, .work = work_of(j, first)},
                                      {.plan = second, .op = then, .work = work_of(j, second)}},
                               .b = j->b,
                               .x = j->x,
                               .stream = j->exec->stream,
                               .order_b = in->perm,
                               .order_x = out->perm,
                               .scale_b = in->scale,
                               .scale_x = out->scale};
    return trs_solve_both(&two, done);
}

static int solve_on_device(const job *j)
{
    bool done;
    const trs_lu *lu = j->lu;
    const trs_lu_order *f = &lu->there;
    const bool back = goes_back(j);
    trs_move in = {.n = (int32_t)lu->f.L.n, .nrhs = j->nrhs, .outer = lu->dtype}, out;
    in.inner = j->work->type;
    in.conj = conjugates(j);
    in.size = j->work->power;
    out = in;
    in.perm = f->P, in.scale = f->scale;
    out.perm = f->Q ? f->Q : f->P;
    if (back) in.perm = f->Q, in.scale = NULL, out.perm = f->P, out.scale = f->scale;
    int rc = triangles_at_once(j, &in, &out, &done);
    if (rc || done) return rc;
    rc = trs_gpu_bring(&in, j->b, j->y, j->exec->stream);
    if (!rc) rc = turn(j, false);
    if (!rc) rc = triangles(j);
    if (!rc) rc = turn(j, true);
    if (!rc) rc = trs_gpu_put_back(&out, j->y, j->x, j->exec->stream);
    return rc;
}

/* One column by the inverse; where X is B, that is copied first. */
static int solve_by_inverse(const job *j)
{
    const trs_lu_work *w = j->work;
    const trs_view copy = {.p = w->y, .rs = 1, .cs = w->n};
    const bool in_place = j->b.p == j->x.p;
    void *stream = j->exec->stream;
    int rc = trs_gpu_use(&j->work->ctx);
    if (!rc && in_place)
        rc = trs_gpu_gather(j->lu->dtype, (int32_t)w->n, 1, NULL, j->b, copy, stream);
    if (rc) return rc;
    return trs_lu_inverse_solve(j->lu, j->op, in_place ? copy : j->b, j->x, stream);
}

/* Solve with factors that have permutations. */
static int solve_permuted(job j, int nrhs)
{
    trs_lu_work *w = j.work;
    const int64_t size = (int64_t)trs_size(j.lu->dtype);
    const bool rows = w->on_device && j.lu->opt.layout == TRS_ROW_MAJOR;
    const trs_view b = j.b, x = j.x;
    int rc = TRS_OK;
    if (w->on_device) rc = trs_gpu_use(&w->ctx);
    j.layout = rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR;
    TRS_ASSERT(w->y && w->width > 0);
    for (int r = 0; r < nrhs && !rc; r += w->width) {
        j.nrhs = (int)trs_min(nrhs - r, w->width);
        j.y = trs_view_of(w->y, rows ? j.nrhs : w->n, j.layout);
        j.b.p = (char *)b.p + r * b.cs * size;
        j.x.p = (char *)x.p + r * x.cs * size;
        if (w->on_device) rc = solve_on_device(&j);
        else rc = solve_here(&j);
    }
    return rc;
}

/* Solve with factors that have no permutations: the second triangle is solved in place. */
static int solve_unpermuted(const job *j, int64_t ldb, int64_t ldx)
{
    const trs_lu *lu = j->lu;
    const trs_plan *first = lu->l, *second = lu->f.cholesky ? lu->l : lu->u;
    trs_op op = TRS_N, then = lu->f.cholesky ? TRS_H : j->op;
    trs_exec e = *j->exec;
    if (goes_back(j)) first = lu->u, second = lu->l, op = j->op;
    e.lu_work = NULL;
    e.work = work_of(j, first);
    int rc = trs_solve(first, op, j->nrhs, j->b.p, ldb, j->x.p, ldx, &e);
    e.work = work_of(j, second);
    if (!rc) rc = trs_solve(second, then, j->nrhs, j->x.p, ldx, j->x.p, ldx, &e);
    if (rc) trs_fail(rc, "solving: %s", trs_message());
    return rc;
}

static int solve_by_blocks_there(const job *j)
{
    const trs_lu_device *d = j->lu->device;
    const trs_block_solve s = {.conj = conjugates(j) || (goes_back(j) && j->op == TRS_H),
                               .nrhs = j->nrhs,
                               .transposed = goes_back(j),
                               .val = d->val,
                               .work = j->work->sweeps,
                               .b = j->b,
                               .x = j->x,
                               .stream = j->exec->stream};
    const int rc = trs_gpu_use(&j->work->ctx);
    return rc ? rc : trs_gpu_blocks_solve(d->blocks, &s);
}

static int solve_by_blocks(const job *j)
{
    const trs_options *opt = &j->lu->opt;
    int threads = j->exec->threads;
    if (j->work->on_device) return solve_by_blocks_there(j);
    if (threads <= 0) threads = opt->threads > 0 ? opt->threads : trs_default_threads();
    trs_ilu_blocks_solve(j->lu->blocks, j->op, j->nrhs, j->b, j->x, threads, j->work->progress);
    return TRS_OK;
}

int trs_lu_no_factors(const trs_lu *lu, const char *asked)
{
    if (!lu->l && !lu->blocks) return trs_fail(TRS_ESTATE, "%s: there are no factors", asked);
    return trs_fail(TRS_ESTATE,
                    "%s: there are no factors, because the last A could not be factored", asked);
}

/* May this op be solved? */
static int check_op(const trs_lu *lu, trs_op op)
{
    const unsigned ops = lu->opt.ops ? lu->opt.ops : 1u << TRS_N;
    if (!lu->ready) return trs_lu_no_factors(lu, "solve");
    if (!lu->f.cholesky && !(ops & 1u << op))
        return trs_fail(TRS_ESTATE, "solve: this op was not announced in the options");
    const bool hermitian = lu->f.incomplete && lu->f.cholesky && !lu->f.P && !lu->blocks;
    if (hermitian && op == TRS_T && trs_is_complex(lu->dtype))
        return trs_fail(TRS_ESUPPORT, "solve: IC(0) of a complex matrix has no TRS_T");
    return TRS_OK;
}

static int check_arguments(trs_op op, int nrhs, const trs_exec *exec)
{
    if ((unsigned)op > TRS_H || nrhs < 0 || (unsigned)exec->layout > TRS_ROW_MAJOR)
        return trs_fail(TRS_EARG, "solve: op, nrhs or layout out of range");
    const int rc = trs_check_threads("solve", exec->threads);
    if (rc || !exec->work) return rc;
    return trs_fail(TRS_EARG, "solve: exec->work is for a plan, factors take exec->lu_work");
}

static int check_solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, const void *X,
                       int64_t ldx, const trs_exec *exec)
{
    int rc = check_arguments(op, nrhs, exec);
    if (!rc) rc = check_op(lu, op);
    if (rc || nrhs == 0 || lu->f.L.n == 0) return rc;
    const int64_t b = trs_extent(B, lu->f.L.n, nrhs, ldb, exec->layout, lu->dtype);
    const int64_t x = trs_extent(X, lu->f.L.n, nrhs, ldx, exec->layout, lu->dtype);
    if (b < 0 || x < 0)
        return trs_fail(TRS_EARG, "solve: B or X is NULL, or ldb or ldx too small or too large");
    if ((B == X && ldb != ldx) || (B != X && trs_overlap(B, b, X, x)))
        return trs_fail(TRS_EARG, "solve: B and X overlap");
    return TRS_OK;
}

static int check_work(const trs_lu *lu, const trs_lu_work *w)
{
    if (w->lu != lu)
        return trs_fail(TRS_EARG, "solve: the work space was not made for these factors");
    if (w->drops == lu->drops) return TRS_OK;
    return trs_fail(TRS_ESTATE,
                    "solve: an update has made other plans since the work space was made");
}

static int solve_by_plans(job j, int64_t ldb, int64_t ldx)
{
    trs_lu *lu = j.lu;
    j.work = j.exec->lu_work ? j.exec->lu_work : lu->own;
    int rc = check_work(lu, j.work);
    const char *owner = j.work == lu->own ? "factors" : NULL;
    if (!rc) rc = trs_work_take(&j.work->solving, owner, "trs_lu_work_create");
    if (rc) return rc;
    if (lu->blocks) rc = solve_by_blocks(&j);
    else if (trs_lu_inverse_solves(lu, j.op, j.nrhs)) rc = solve_by_inverse(&j);
    else if (lu->f.P) rc = solve_permuted(j, j.nrhs);
    else rc = solve_unpermuted(&j, ldb, ldx);
    trs_work_release(&j.work->solving);
    return rc;
}

int trs_lu_solve_planned(trs_lu *lu, trs_op op, const void *b, void *x)
{
    static const trs_exec defaults = {0};
    job j = {.lu = lu, .op = op, .nrhs = 1, .exec = &defaults};
    j.b = trs_view_of(b, lu->f.L.n, TRS_COL_MAJOR);
    j.x = trs_view_of(x, lu->f.L.n, TRS_COL_MAJOR);
    return solve_by_plans(j, lu->f.L.n, lu->f.L.n);
}

static int solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                 const trs_exec *exec, bool rough)
{
    static const trs_exec defaults = {0};
    bool done = false;
    if (!lu) return trs_fail(TRS_EARG, "solve: lu is NULL");
    int rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (rc) return rc;
    if (!exec) exec = &defaults;
    job j = {.lu = lu, .op = op, .nrhs = nrhs, .exec = exec, .rough = rough};
    j.b = trs_view_of(B, ldb, exec->layout);
    j.x = trs_view_of(X, ldx, exec->layout);
    const bool held = trs_lu_hold(lu);
    rc = check_solve(lu, op, nrhs, B, ldb, X, ldx, exec);
    const bool nothing = nrhs == 0 || lu->f.L.n == 0;
    if (held && !rc && !nothing)
        rc = trs_lu_solve_first(lu, op, nrhs, j.b, j.x, exec, rough, &done);
    if (held) trs_lu_release(lu);
    if (rc || nothing || done) return rc;
    return solve_by_plans(j, ldb, ldx);
}

int trs_lu_solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                 const trs_exec *exec)
{
    return trs_call(solve(lu, op, nrhs, B, ldb, X, ldx, exec, false));
}

int trs_lu_solve_roughly(trs_lu *lu, trs_op op, void *x, const trs_exec *exec)
{
    return trs_call(solve(lu, op, 1, x, lu->f.L.n, x, lu->f.L.n, exec, true));
}
