/* device_resident.c: a matrix that is on the device and stays there.
 *
 * A straight matrix (straight.c) of which no transpose is wanted is taken over, judged and given its levels
 * where it is, and when a solver is chosen that works from there, the host never sees it: its side has
 * levels and numbers, and no arrays of the triangle.  Whenever something else turns out to be wanted, the
 * triangle is fetched, and all goes on as if it had come from the host. */
#include "config.h"

#include "base/device.h"
#include "plan.h"
#include "solvers/on_device.h"

static bool may_stay(const trs_plan *p, const trs_mat *m)
{
    const bool lines = m->format == TRS_CSR || m->format == TRS_CSC;
    return lines && m->device == TRS_CUDA(p->ctx.device) && !p->side[!p->imported_is_t].used &&
           !(m->kind & (TRS_UNIT | TRS_PERMUTED)) && m->n > 0 && m->nnz >= m->n && m->ptr &&
           m->idx && !p->general && p->pivot != TRS_PIVOT_SKIP && !p->measure && !p->ctx.limit &&
           p->order != TRS_ORDER_LEVEL && (!p->wanted || p->wanted->direct);
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* One block for all of these, since each that is made takes up to 0.1 ms. */
static void triangle_new(trs_context *ctx, const trs_tri *t, trs_direct *d)
{
    const int64_t found = padded(2 * (int64_t)sizeof(int64_t));
    const int64_t ptr = padded(((int64_t)t->n + 1) * (int64_t)sizeof *t->ptr);
    const int64_t idx = padded(t->nnz * (int64_t)sizeof *t->idx);
    const int64_t val = t->nnz * (int64_t)trs_size(t->dtype);
    char *block = trs_gpu_new(ctx, found + ptr + idx + val, 1, "a triangle");
    if (!block) return;
    d->block = d->found = block;
    d->ptr = block + found;
    d->idx = block + found + ptr;
    d->val = block + found + ptr + idx;
}

static int direct_new(trs_context *ctx, trs_side *s)
{
    const trs_tri *t = &s->tri;
    trs_direct *d = &s->direct;
    triangle_new(ctx, t, d);
    if (d->block && s->reversed)
        d->src = trs_gpu_new(ctx, t->nnz, sizeof *t->src, "places of the values");
    return d->block && (d->src || !s->reversed) ? TRS_OK : TRS_EMEM;
}

/* As if nothing had been taken over. */
static void forget(trs_plan *p)
{
    trs_side *s = &p->side[p->imported_is_t];
    trs_side_free(&p->ctx, s);
    *s = (trs_side){.used = true};
    p->far = false;
}

int trs_far_import(trs_plan *p, const trs_mat *m)
{
    trs_context *ctx = &p->ctx;
    trs_side *s = &p->side[p->imported_is_t];
    if (!may_stay(p, m)) return TRS_OK;
    s->tri = (trs_tri){.n = (int32_t)m->n, .nnz = m->nnz, .dtype = m->dtype};
    s->reversed = trs_counts_backwards(p, p->imported_is_t);
    p->far = true;
    int rc = trs_gpu_use(ctx);
    if (!rc) rc = direct_new(ctx, s);
    if (!rc) rc = trs_gpu_straight(ctx, m, s);
    if (rc) forget(p);
    return rc == TRS_EMATRIX ? TRS_OK : rc;
}

/* ptr and idx, which the caller frees in any case. */
static int fetch_pattern(trs_context *ctx, const trs_side *s, trs_tri *t, bool values, bool places)
{
    const trs_direct *d = &s->direct;
    *t = (trs_tri){.n = s->tri.n, .nnz = s->tri.nnz, .dtype = s->tri.dtype};
    t->ptr = trs_new(ctx, (int64_t)t->n + 1, sizeof *t->ptr, "row pointers");
    int rc = t->ptr ? trs_tri_entries(ctx, t, values, places) : TRS_EMEM;
    if (!rc) rc = trs_gpu_use(ctx);
    if (!rc) rc = trs_gpu_get(ctx, t->ptr, d->ptr, ((size_t)t->n + 1) * sizeof *t->ptr);
    if (!rc) rc = trs_gpu_get(ctx, t->idx, d->idx, (size_t)t->nnz * sizeof *t->idx);
    return rc;
}

/* Triangle and values as they are, with room for places when it is reversed. */
static int fetch(trs_context *ctx, const trs_side *s, trs_tri *t)
{
    int rc = fetch_pattern(ctx, s, t, true, s->reversed);
    if (!rc) rc = trs_gpu_get(ctx, t->val, s->direct.val, (size_t)t->nnz * trs_size(t->dtype));
    for (int64_t q = 0; q < t->nnz && !rc && t->src; q++) t->src[q] = t->nnz - 1 - q;
    if (rc) trs_tri_free(ctx, t);
    return rc;
}

int trs_far_import_after_all(trs_plan *p)
{
    trs_context *ctx = &p->ctx;
    if (!p->far) return TRS_OK;
    int rc = fetch(ctx, &p->side[p->imported_is_t], &p->imported);
    if (!rc && p->side[p->imported_is_t].reversed) rc = trs_tri_reverse(ctx, &p->imported);
    forget(p);
    trs_gpu_drop_scratch(ctx);
    p->was_far = true;
    if (!rc) trs_tri_drop_identity(ctx, &p->imported);
    return rc;
}

int trs_far_topo(trs_plan *p)
{
    if (!p->far) return TRS_OK;
    int rc = trs_gpu_use(&p->ctx);
    return rc ? rc : trs_direct_fetch_topo(&p->ctx, &p->side[p->imported_is_t]);
}

int trs_far_fetch(trs_plan *p)
{
    if (!p->far) return TRS_OK;
    trs_side *s = &p->side[p->imported_is_t];
    trs_tri t;
    int rc = trs_far_topo(p);
    if (!rc) rc = fetch(&p->ctx, s, &t);
    if (rc) return rc;
    s->tri = t;
    p->far = false;
    return TRS_OK;
}

int trs_far_update(trs_plan *p, const void *val)
{
    trs_context *ctx = &p->ctx;
    const trs_tri *t = &p->side[p->imported_is_t].tri;
    const size_t size = trs_size(t->dtype);
    int rc = trs_gpu_use(ctx);
    void *there = rc ? NULL : trs_gpu_new(ctx, t->nnz, size, "new values");
    if (!there) return rc ? rc : TRS_EMEM;
    rc = trs_gpu_put(ctx, there, val, (size_t)t->nnz * size);
    if (!rc) rc = trs_direct_update(p, there, NULL);
    trs_gpu_free(ctx, there);
    return rc;
}

/* What the steps up to nodes (flow.cu) take at most, at once: growing costs as much as a step.  If there is not
 * that much, they ask for less. */
static int64_t scratch_for(const trs_tri *t)
{
    return 50 * (int64_t)t->n + t->nnz / 4 + (1 << 20);
}

int trs_far_levels(trs_plan *p, bool *found)
{
    trs_context *ctx = &p->ctx;
    trs_side *s = &p->side[p->imported_is_t];
    int rc = trs_gpu_use(ctx);
    *found = false;
    if (rc) return rc;
    if (!trs_gpu_scratch(ctx, scratch_for(&s->tri), "the analysis")) trs_forget();
    rc = trs_gpu_find_levels(ctx, s);
    *found = !rc;
    if (!rc) p->info.analysis = "rows on the device";
    return rc == TRS_ESUPPORT ? TRS_OK : rc;
}

int trs_far_supernodes(trs_context *ctx, trs_side *s)
{
    trs_tri t;
    int rc = fetch_pattern(ctx, s, &t, false, false);
    if (!rc) rc = trs_supernodes_make(ctx, &t, &s->super);
    trs_tri_free(ctx, &t);
    return rc;
}
