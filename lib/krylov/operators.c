/* operators.c: y = F x with what the caller describes as F, and the true residual. */
#include "config.h"

#include "iteration.h"
#include "factor/lu_first.h"
#include "factor/lu_mat.h"
#include "product/product.h"
#include "base/device.h"

/* ---- what an operator is ------------------------------------------------------------------------- */

/* Are n, type and place those of the vectors? */
static int fits(const trs_krylov *k, const char *name, int64_t n, trs_dtype dtype, int device)
{
    const trs_krylov_options *o = &k->opt;
    const int there = device > 0 ? device : 0, here = o->device > 0 ? o->device : 0;
    if (n != o->n)
        return trs_fail(TRS_EARG, "%s has %lld rows, and the vectors %lld", name, (long long)n,
                        (long long)o->n);
    if (dtype != o->dtype) return trs_fail(TRS_EARG, "%s is not of the type of the vectors", name);
    if (there != here) return trs_fail(TRS_EARG, "%s is not where the vectors are", name);
    return TRS_OK;
}

static int check_lu(const trs_krylov *k, const trs_map *of, const char *name)
{
    const trs_lu *lu = of->lu;
    const int64_t n = trs_lu_ready_rows(lu);
    if (n < 0) return trs_lu_no_factors(lu, name);
    return fits(k, name, n, lu->dtype, lu->opt.device);
}

static int check_plan(const trs_krylov *k, const trs_map *of, const char *name)
{
    const trs_plan *plan = of->plan;
    if (plan->state != TRS_READY) return trs_fail(TRS_ESTATE, "%s: the plan has no values", name);
    const int device = plan->on_device ? TRS_CUDA(plan->ctx.device) : TRS_HOST;
    return fits(k, name, plan->info.n, plan->given.dtype, device);
}

static int open_here(const trs_krylov *k, trs_applied *a)
{
    trs_context ctx = k->ctx;
    const trs_mat *A = a->of->mat;
    int rc = trs_check_where(A);
    if (!rc) rc = trs_expand(&ctx, A, &a->whole);
    a->expanded = !rc;
    if (rc || !A->n) return rc;
    const int64_t bytes = trs_multiply_bytes(A, a->of->op, 1, k->space.threads);
    a->own = bytes ? trs_alloc(&ctx.mem, bytes, 1) : NULL;
    return bytes && !a->own ? trs_fail(TRS_EMEM, "out of memory for a product by threads") : TRS_OK;
}

static int open_there(const trs_krylov *k, void *stream, trs_applied *a)
{
    trs_context ctx = k->ctx;
    if (!a->of->mat->n) return TRS_OK;
    int rc = trs_check_where(a->of->mat);
    if (!rc) rc = trs_rows_open(&ctx, a->of->mat, a->of->op, true, stream, &a->rows);
    a->opened = true;
    return rc;
}

int trs_applied_open(const trs_krylov *k, const trs_map *of, const char *name, void *stream,
                     trs_applied *a)
{
    *a = (trs_applied){.of = of, .name = name};
    int rc = TRS_CHECK_RESERVED(of, "trs_map");
    if (rc) return rc;
    if (!of->mat + !of->lu + !of->plan + !of->apply != 3)
        return trs_fail(TRS_EARG, "%s needs exactly one of mat, lu, plan and apply", name);
    if ((unsigned)of->op > TRS_H) return trs_fail(TRS_EARG, "%s: op is out of range", name);
    if (of->lu) return check_lu(k, of, name);
    if (of->plan) return check_plan(k, of, name);
    if (!of->mat) return TRS_OK;
    rc = fits(k, name, of->mat->n, of->mat->dtype, of->mat->device);
    if (rc) return rc;
    return k->on_device ? open_there(k, stream, a) : open_here(k, a);
}

void trs_applied_close(const trs_krylov *k, trs_applied *a)
{
    trs_context ctx = k->ctx;
    if (a->expanded) trs_expand_done(&ctx, a->of->mat, &a->whole);
    trs_free(&ctx.mem, a->own);
    if (a->opened) trs_rows_close(&ctx, &a->rows);
    *a = (trs_applied){.of = NULL};
}

/* ---- products -------------------------------------------------------------------------------------- */

static int apply(const trs_iteration *k, const trs_applied *a, const void *x, void *y)
{
    const trs_krylov_options *o = &k->of->opt;
    const trs_map *f = a->of;
    const int64_t n = o->n;
    const trs_view from = trs_view_of(x, n, TRS_COL_MAJOR), to = trs_view_of(y, n, TRS_COL_MAJOR);
    trs_exec exec = {.stream = k->goal->stream, .threads = o->threads};
    if (f->lu) {
        exec.lu_work = f->lu_work;
        return trs_lu_solve(f->lu, f->op, 1, x, n, y, n, &exec);
    }
    if (f->plan) {
        exec.work = f->work;
        return trs_solve(f->plan, f->op, 1, x, n, y, n, &exec);
    }
    if (f->mat && k->of->on_device)
        return trs_gpu_multiply(&a->rows.lines, 1, from, to, exec.stream);
    if (f->mat) return trs_multiply_here(f->mat, f->op, 1, from, to, k->of->space.threads, a->own);
    const int rc = f->apply(f->user, x, y, exec.stream);
    return rc ? trs_fail(rc, "the function of %s returned %d", a->name, rc) : TRS_OK;
}

/* Products that nobody needs are left out where their result would be known at once. */
static void run_apply(trs_iteration *k, trs_applied *a, const void *x, void *y)
{
    const bool over = !k->of->on_device && k->of->known->stop && !k->closing;
    if (k->rc || over) return;
    const double start = trs_now();
    a->calls++;
    k->rc = apply(k, a, x, y);
    if (!k->of->on_device) a->seconds += trs_now() - start;
}

void trs_krylov_multiply(trs_iteration *k, const void *x, void *y)
{
    run_apply(k, &k->A, x, y);
}

void *trs_krylov_precondition(trs_iteration *k, void *x, void *y)
{
    if (!k->M.of) return x;
    run_apply(k, &k->M, x, y);
    return y;
}

/* ---- the true residual ------------------------------------------------------------------------------- */

int trs_exact_residual(const trs_iteration *k, void *r)
{
    const trs_krylov *of = k->of;
    const trs_map *f = k->A.of;
    trs_error e;
    if (of->on_device) {
        const trs_view b = {(void *)k->b, 1, 0}, x = {k->x, 1, 0};
        trs_findings found;
        return trs_gpu_residual(&k->A.rows.lines, 1, b, x, r, of->scratch, &found, k->goal->stream);
    }
    const trs_sums *s = &of->sums;
    trs_residual(&k->A.whole, f->op, (trs_column){(void *)k->b, 1}, (trs_column){k->x, 1}, s,
                 of->space.threads, &e);
    for (int64_t i = 0; i < of->opt.n; i++) {
        const double z[2] = {(double)s->re[i], (double)s->im[i]};
        trs_number_put(r, of->opt.dtype, i, z);
    }
    return TRS_OK;
}
