/* operator_device.c: sides on the device, and new values that go from an array there, or straight from the caller's, to
 * the solvers without passing the host's copy of the triangle.
 *
 * A side gets a device copy of its row pointers and of the places of its values, made at the first such
 * update and kept; then a gather fills its values, the pivots are looked at where they are, and every
 * part takes its values from there.  The host waits once, for the count of bad pivots.  Its own copy of
 * the values is out of date from then on, which nobody sees: it is read by updates from the host only,
 * which renew it, or, where the device alone looks at values, pass it by too (trs_direct_send).  A side of
 * a general matrix is op(A) by columns there too; its solvers look at pivots themselves. */
#include "config.h"

#include "base/device.h"
#include "cuda/strips/strips.h"
#include "plan.h"
#include "solvers/on_device.h"

#include <string.h>

bool trs_direct_in_place(const trs_plan *p)
{
    const trs_side *s = &p->side[p->imported_is_t];
    if (p->general || p->P || !p->info.on_gpu || p->side[!p->imported_is_t].used) return false;
    for (int c = 0; c < s->nparts; c++)
        if (!s->part[c].solver->direct) return false;
    return p->far ? !s->direct.src : !s->tri.src;
}

bool trs_direct_possible(const trs_plan *p, const trs_mat *mat)
{
    if (!p->info.on_gpu || p->P || mat->device != TRS_CUDA(p->ctx.device)) return false;
    if (p->skip) return false; /* the host has to look whether other rows have to be left out */
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < p->side[k].nparts; c++)
            if (!p->side[k].part[c].solver->update_direct) return false;
    return true;
}

static int put_new(trs_context *ctx, const void *from, int64_t count, size_t size, void **to)
{
    *to = trs_gpu_new(ctx, count, size, "an update from the device");
    return *to ? trs_gpu_put(ctx, *to, from, (size_t)count * size) : TRS_EMEM;
}

/* ptr and idx are there. */
static int put_lines(trs_context *ctx, trs_side *s)
{
    const trs_tri *t = &s->tri;
    trs_direct *d = &s->direct;
    int rc = TRS_OK;
    if (!d->ptr) rc = put_new(ctx, t->ptr, (int64_t)t->n + 1, sizeof *t->ptr, &d->ptr);
    if (!rc && !d->idx) rc = put_new(ctx, t->idx, t->nnz, sizeof *t->idx, &d->idx);
    if (!rc && !d->found) d->found = trs_gpu_new(ctx, 2, sizeof(int64_t), "counts");
    return rc ? rc : d->found ? TRS_OK : TRS_EMEM;
}

int trs_direct_pattern(trs_context *ctx, trs_side *s, const trs_solver *solver)
{
    trs_direct *d = &s->direct;
    int rc = put_lines(ctx, s);
    if (rc || d->level || solver->supernodes || solver->full) return rc;
    d->level = trs_gpu_new(ctx, s->tri.n, sizeof(int32_t), "levels");
    rc = d->level ? trs_gpu_put_levels(ctx, s) : TRS_EMEM;
    if (!rc) return TRS_OK;
    trs_gpu_free(ctx, d->level); /* not to be taken for what is there */
    d->level = NULL;
    return rc;
}

int trs_direct_levels(trs_context *ctx, trs_side *s)
{
    int rc = trs_gpu_use(ctx);
    if (!rc) rc = put_lines(ctx, s);
    if (!rc) rc = trs_gpu_find_levels(ctx, s);
    if (!rc) rc = trs_direct_fetch_topo(ctx, s);
    if (!rc) return TRS_OK;
    trs_levels_free(ctx, &s->lv);
    trs_direct_free(ctx, &s->direct);
    trs_forget();
    return rc;
}

int trs_direct_fetch_topo(trs_context *ctx, trs_side *s)
{
    const int32_t n = s->tri.n;
    if (s->lv.topo) return TRS_OK;
    int32_t *topo = trs_new(ctx, n, sizeof *topo, "topo");
    int rc = topo ? trs_gpu_get(ctx, topo, s->direct.topo, (size_t)n * sizeof *topo) : TRS_EMEM;
    if (rc) {
        trs_free(&ctx->mem, topo);
        return rc;
    }
    s->lv.topo = topo;
    trs_gpu_free(ctx, s->direct.topo);
    s->direct.topo = NULL;
    return TRS_OK;
}

void trs_direct_drop_pattern(trs_context *ctx, trs_side *s)
{
    trs_gpu_free(ctx, s->direct.level);
    s->direct.level = NULL;
    if (!s->tri.ptr || s->direct.block) return; /* far, or was */
    for (int k = 0; k < s->nparts; k++)
        if (s->part[k].solver->pattern) return;
    trs_gpu_free(ctx, s->direct.idx);
    s->direct.idx = NULL;
}

int trs_direct_tell(trs_context *ctx, trs_side *s, trs_part *part)
{
    const trs_tri *t = &s->tri;
    const size_t size = trs_size(t->dtype);
    void **val = &s->direct.val;
    if (!*val) *val = trs_gpu_new(ctx, t->nnz, size, "values");
    if (!*val) return TRS_EMEM;
    int rc = trs_gpu_put(ctx, *val, t->val, (size_t)t->nnz * size);
    if (rc) return rc;
    rc = part->solver->update_direct(part, *val, NULL);
    if (!rc) rc = trs_gpu_wait(NULL);
    return rc == TRS_EDEVICE ? trs_fail(rc, "values on the device") : rc;
}

/* ---- what may be asked there or on the host ---------------------------------------------------- */

bool trs_direct_supernodes(trs_context *ctx, trs_side *s)
{
    int64_t common[2];
    if (!s->direct.idx) return trs_supernodes_likely(ctx, &s->tri);
    return trs_gpu_common(ctx, s, common) || trs_supernodes_common(&s->tri, common[0], common[1]);
}

enum { MOST_SIZES = 128 };

typedef struct samples { /* for strips: sizes of them, and what was found of the first ones */
    trs_context *ctx;
    const trs_side *s;
    int sizes, looked, asked;
    int32_t rows[MOST_SIZES];
    int64_t found[MOST_SIZES][2];
} samples;

/* Which sizes will be asked for: nothing is good enough until all are named. */
static bool note_size(void *user, int32_t rows, int64_t *levels, int64_t *foreign)
{
    samples *all = user;
    *levels = INT64_MAX;
    *foreign = 0;
    if (all->sizes < MOST_SIZES) all->rows[all->sizes++] = rows;
    return true;
}

/* A call of the device costs more than looking at small strips does: several sizes at a time. */
static bool look(void *user, int32_t rows, int64_t *levels, int64_t *foreign)
{
    samples *all = user;
    const int k = all->asked++, left = all->sizes - all->looked;
    (void)rows;
    if (k >= all->sizes) return false;
    if (k == all->looked) {
        const int count = left < TRS_LOOKS ? left : TRS_LOOKS;
        if (trs_gpu_look(all->ctx, all->s, all->rows + k, count, all->found + k)) return false;
        all->looked += count;
    }
    *levels = all->found[k][0];
    *foreign = all->found[k][1];
    return true;
}

int32_t trs_direct_strips_rows(trs_context *ctx, trs_side *s)
{
    samples all = {.ctx = ctx, .s = s};
    if (!s->direct.level) return trs_strips_rows(ctx, &s->tri, &s->lv);
    if (!trs_strips_possible(&s->tri, &s->lv)) return 0;
    (void)trs_strips_sampled(s->tri.n, note_size, &all);
    return trs_strips_sampled(s->tri.n, look, &all);
}

/* ---- values ------------------------------------------------------------------------------------- */

static int make_ready(trs_context *ctx, trs_side *s)
{
    const trs_tri *t = &s->tri;
    trs_direct *d = &s->direct;
    int rc = TRS_OK;
    if (!d->ptr) rc = put_new(ctx, t->ptr, (int64_t)t->n + 1, sizeof *t->ptr, &d->ptr);
    if (!rc && !d->src && t->src) rc = put_new(ctx, t->src, t->nnz, sizeof *t->src, &d->src);
    if (!rc && !d->val) d->val = trs_gpu_new(ctx, t->nnz, trs_size(t->dtype), "values");
    if (!rc && !d->found) d->found = trs_gpu_new(ctx, 2, sizeof(int64_t), "the count of pivots");
    return rc ? rc : d->val && d->found ? TRS_OK : TRS_EMEM;
}

/* The values of a side, from the caller's val. */
static int take_side(trs_plan *p, int k, const void *val, void *stream)
{
    trs_side *s = &p->side[k];
    int rc = make_ready(&p->ctx, s);
    return rc || !val ? rc
                      : trs_gpu_take_values(s->tri.dtype, s->tri.nnz, s->direct.src, val,
                                            s->direct.val, stream);
}

static int take_full(trs_plan *p, int k, const void *val, void *stream)
{
    trs_side *s = &p->side[k];
    const int64_t n = s->tri.n;
    void **to = &s->direct.val;
    if (!*to) *to = trs_gpu_new(&p->ctx, n * n, trs_size(s->tri.dtype), "values");
    return *to ? trs_gpu_take_full(s->tri.dtype, n, p->shape.ld, k == 1, val, *to, stream)
               : TRS_EMEM;
}

void trs_direct_free(trs_context *ctx, trs_direct *d)
{
    if (d->block) d->ptr = d->idx = d->val = d->found = NULL;
    void *const all[] = {d->block, d->ptr, d->idx, d->val, d->level, d->topo, d->src, d->found};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) trs_gpu_free(ctx, all[k]);
    memset(d, 0, sizeof *d);
}

/* Count, and when a row is to be named, fetch its diagonal for the sentence. */
static int find_pivots(trs_plan *p, trs_side *s, void *stream)
{
    trs_context *ctx = &p->ctx;
    const size_t size = trs_size(s->tri.dtype);
    int64_t found[2];
    int rc = trs_gpu_find_pivots(s, stream);
    if (!rc) rc = trs_gpu_wait(stream);
    if (!rc) rc = trs_gpu_get(ctx, found, s->direct.found, sizeof found);
    if (rc) return rc;
    p->bad_pivots = found[0];
    p->first_bad = found[0] ? found[1] : -1;
    if (!p->bad_pivots || p->pivot != TRS_PIVOT_FAIL) return TRS_OK;
    rc = trs_far_fetch(p);
    if (rc) return rc;
    const int64_t place = trs_pivot_place(p, s, p->first_bad);
    return trs_gpu_get(ctx, (char *)s->tri.val + (size_t)place * size,
                       (char *)s->direct.val + (size_t)place * size, size);
}

int trs_direct_update(trs_plan *p, const void *val, void *stream)
{
    int rc = trs_gpu_use(&p->ctx);
    p->values_there = true;
    for (int k = 0; k < 2 && !rc; k++)
        if (p->side[k].used) rc = (p->general ? take_full : take_side)(p, k, val, stream);
    if (!rc && !p->general && !p->skip) /* of those that are left the host knows */
        rc = find_pivots(p, &p->side[p->side[0].used ? 0 : 1], stream);
    const bool useless = !p->general && p->bad_pivots && p->pivot == TRS_PIVOT_FAIL;
    for (int k = 0; k < 2 && !rc && !useless; k++) {
        trs_side *s = &p->side[k];
        if (s->used && p->bad_pivots && p->pivot == TRS_PIVOT_REPLACE)
            rc = trs_gpu_replace_pivots(s, p->pivot_value, stream);
        for (int c = 0; c < s->nparts && !rc; c++)
            rc = s->part[c].solver->update_direct(&s->part[c], s->direct.val, stream);
    }
    const int waited = trs_gpu_wait(stream);
    if (rc == TRS_EDEVICE || waited) return trs_fail(TRS_EDEVICE, "update on the device");
    return rc;
}

int trs_direct_send(trs_plan *p, const void *val)
{
    trs_side *s = &p->side[p->imported_is_t];
    const size_t bytes = (size_t)s->tri.nnz * trs_size(s->tri.dtype);
    int rc = trs_gpu_use(&p->ctx);
    if (!rc) rc = make_ready(&p->ctx, s);
    if (!rc) rc = trs_gpu_put(&p->ctx, s->direct.val, val, bytes);
    return rc ? rc : trs_direct_update(p, NULL, NULL);
}
