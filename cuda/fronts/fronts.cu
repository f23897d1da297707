/* fronts.cu: implements lib/elimination/fronts.h: copies a schedule to the device, and
 * launches it. */
#include "config.h"

#include "assemble.cuh"
#include "panel.cuh"
#include "product.cuh"
#include "small.cuh"
#include "values.cuh"

/* What does not depend on the type of a number; all arrays are on the device. */
struct fronts_arrays {
    trs_front_numbers *numbers;
    int32_t *child, *to, *pivot, *of, *list, *start;
    int64_t *strip_ptr;
    trs_front_share *share;
    int64_t *a_from, *a_to, *l_from, *u_from;
    int32_t *a_row;
    double *scale;
    /* of L S L^H: pivots of the entries of A; [n] the largest of each row, and S by column */
    int32_t *a_i, *a_j;
    double *largest;
    int8_t *sign;
    void *panels, *pool;
    /* [1] numbers of the panels that are not negligible, less those of L and U */
    unsigned long long *left;
};

struct trs_fronts {
    trs_context *ctx;
    trs_dtype dtype;
    bool cholesky;
    int32_t n;
    int64_t a_entries, l_entries, u_entries, panels;
    bool starts_early; /* Can a kernel be started while the one before it still runs? */
    int32_t launches;
    trs_front_launch *launch; /* [launches] on the host */
    fronts_arrays on_device;
};

/* ---- making ---------------------------------------------------------------------------------------------- */

/* Copies an array of the host. */
template <class V> static bool bring(trs_fronts *f, V *&to, const V *from, int64_t count)
{
    to = device_copy(f->ctx, from, count, "fronts");
    return to != NULL;
}

static bool bring_tree(trs_fronts *f, const trs_front_tree *t, const trs_front_schedule *s)
{
    fronts_arrays *d = &f->on_device;
    return bring(f, d->numbers, s->numbers, t->count) && bring(f, d->child, t->child, t->count) &&
           bring(f, d->to, t->to, t->entries) && bring(f, d->pivot, t->pivot, t->n) &&
           bring(f, d->of, t->of, t->n) && bring(f, d->list, s->list, t->count) &&
           bring(f, d->start, s->start, s->starts) &&
           bring(f, d->strip_ptr, s->strip_ptr, s->strips + 1) &&
           bring(f, d->share, s->share, s->shares);
}

static bool bring_places(trs_fronts *f, const trs_fronts_pattern *p, const trs_front_places *q)
{
    fronts_arrays *d = &f->on_device;
    f->a_entries = q->entries;
    f->l_entries = q->lnz;
    f->u_entries = q->unz;
    if (q->row &&
        !(bring(f, d->a_row, q->row, q->entries) && bring(f, d->scale, p->scale, p->A->n)))
        return false;
    if (q->i && !(bring(f, d->a_i, q->i, q->entries) && bring(f, d->a_j, q->j, q->entries)))
        return false;
    return bring(f, d->a_from, q->from, q->entries) && bring(f, d->a_to, q->to, q->entries) &&
           bring(f, d->l_from, q->l, q->lnz) && bring(f, d->u_from, q->u, q->unz);
}

/* The kernel of a small front of this order is made for orders up to so many. */
static int order_of_kernel(int order)
{
    return (order + 31) / 32 * 32;
}

/* Shared memory of a block. */
template <class T> static size_t shared_of(const trs_front_launch *l)
{
    switch (l->step) {
    case TRS_FRONT_STEP_SMALL:
        return small_shared<T>(order_of_kernel(l->order), l->order);
    case TRS_FRONT_STEP_ASSEMBLE:
        return sizeof(T) * TILE * (TILE + 1);
    case TRS_FRONT_STEP_PANEL:
        return sizeof(diagonal_block<T>);
    default:
        return sizeof(factor_tile<T>);
    }
}

template <class T> static const void *small_kernel_of(int order)
{
    static_assert(TRS_FRONT_SMALL == 96);
    switch (order_of_kernel(order)) {
    case 32:
        return (const void *)small_kernel<T, 32>;
    case 64:
        return (const void *)small_kernel<T, 64>;
    default:
        return (const void *)small_kernel<T, 96>;
    }
}

template <class T> static const void *kernel_of(const trs_front_launch *l)
{
    switch (l->step) {
    case TRS_FRONT_STEP_SMALL:
        return small_kernel_of<T>(l->order);
    case TRS_FRONT_STEP_ASSEMBLE:
        return (const void *)assemble_kernel<T>;
    case TRS_FRONT_STEP_PANEL:
        return (const void *)panel_kernel<T>;
    case TRS_FRONT_STEP_TRAIL:
        return (const void *)trail_kernel<T>;
    default:
        return (const void *)schur_kernel<T>;
    }
}

static int threads_of(trs_front_step step)
{
    switch (step) {
    case TRS_FRONT_STEP_SMALL:
        return SMALL_THREADS;
    case TRS_FRONT_STEP_ASSEMBLE:
        return ASSEMBLE_THREADS;
    case TRS_FRONT_STEP_PANEL:
        return PANEL_THREADS;
    default:
        return PRODUCT_THREADS;
    }
}

/* Panels, pool, and leave for the shared memory that kernels want. */
template <class T> static int make_numbers(trs_fronts *f, int64_t panels, int64_t pool)
{
    fronts_arrays *d = &f->on_device;
    d->panels = device_new<T>(f->ctx, panels, "the panels of fronts");
    d->pool = device_new<T>(f->ctx, pool, "the update matrices of fronts");
    d->left = device_new<unsigned long long>(f->ctx, 1, "fronts");
    if (!d->panels || !d->pool || !d->left) return TRS_EMEM;
    if (d->a_i) {
        d->largest = device_new<double>(f->ctx, f->n, "the largest of each row");
        d->sign = device_new<int8_t>(f->ctx, f->n, "the signs of pivots");
        if (!d->largest || !d->sign) return TRS_EMEM;
    }
    f->panels = panels;
    for (int32_t k = 0; k < f->launches; k++) {
        trs_front_launch l = f->launch[k];
        l.order = order_of_kernel(l.order);
        const int rc = cuda_status(cudaFuncSetAttribute(kernel_of<T>(&l),
                                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                        (int)shared_of<T>(&l)),
                                   "a kernel did not get its shared memory");
        if (rc) return rc;
    }
    return TRS_OK;
}

static int bring_all(trs_fronts *f, const trs_fronts_pattern *p, const trs_front_tree *t,
                     trs_front_schedule *s, const trs_front_places *q)
{
    if (!bring_tree(f, t, s) || !bring_places(f, p, q)) return TRS_EMEM;
    f->n = t->n;
    f->launch = s->launch;
    f->launches = s->launches;
    s->launch = NULL; /* it is the fronts' now */
    return for_type(f->dtype, [=]<class T>(T) { return make_numbers<T>(f, s->panels, s->pool); });
}

static int make_fronts(trs_fronts *f, const trs_fronts_pattern *p)
{
    trs_context *ctx = f->ctx;
    trs_front_tree t = {};
    trs_front_schedule s = {};
    trs_front_places q = {};
    int64_t entries = 0;
    int32_t *i = NULL, *j = NULL;
    int rc = trs_front_entries(ctx, p, &entries, &i, &j);
    if (!rc) rc = trs_front_tree_make(ctx, (int32_t)p->A->n, entries, i, j, &t);
    if (!rc) rc = trs_front_schedule_make(ctx, &t, p->cholesky, &s);
    if (!rc) rc = trs_front_places_make(ctx, p, &t, &s, i, j, &q);
    trs_free(&ctx->mem, i);
    trs_free(&ctx->mem, j);
    if (!rc) rc = bring_all(f, p, &t, &s, &q);
    trs_front_places_free(ctx, &q);
    trs_front_schedule_free(ctx, &s);
    trs_front_tree_free(ctx, &t);
    return rc;
}

int trs_fronts_create(trs_context *ctx, const trs_fronts_pattern *p, trs_fronts **f)
{
    *f = NULL;
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    trs_fronts *made = (trs_fronts *)trs_alloc_zero(&ctx->mem, 1, sizeof *made);
    if (!made) return trs_fail(TRS_EMEM, "out of memory for fronts");
    trs_chip chip = {};
    trs_gpu_chip(ctx->device, &chip);
    made->starts_early = chip.major >= 9;
    made->ctx = ctx;
    made->dtype = p->dtype;
    made->cholesky = p->cholesky;
    rc = make_fronts(made, p);
    if (rc) trs_fronts_destroy(made);
    else *f = made;
    return rc;
}

void trs_fronts_destroy(trs_fronts *f)
{
    if (!f) return;
    fronts_arrays *d = &f->on_device;
    device_free(f->ctx, d->left, d->numbers, d->child, d->to, d->pivot, d->of, d->list, d->start,
                d->strip_ptr, d->share, d->a_from, d->a_to, d->l_from, d->u_from, d->a_row,
                d->scale, d->a_i, d->a_j, d->largest, d->sign);
    trs_gpu_free(f->ctx, d->panels);
    trs_gpu_free(f->ctx, d->pool);
    trs_free(&f->ctx->mem, f->launch);
    trs_free(&f->ctx->mem, f);
}

/* ---- a run ---------------------------------------------------------------------------------------------------- */

template <class T> static fronts_view<T> view_of(const trs_fronts *f, const trs_fronts_job *job)
{
    const fronts_arrays *d = &f->on_device;
    return {(T *)d->panels, (T *)d->pool,
            d->numbers,     d->child,
            d->to,          d->pivot,
            d->strip_ptr,   d->share,
            job->outcome,   f->cholesky,
            d->sign,        job->sign,
            job->signs,     job->boost > 0 ? d->largest : NULL,
            job->boost};
}

template <class T>
static int launch_step(const trs_fronts *f, const fronts_view<T> &view, const trs_front_launch *l,
                       cudaStream_t stream)
{
    launch_view where = {f->on_device.list + l->list, f->on_device.start + l->start, l->fronts,
                         l->panel};
    void *arguments[] = {(void *)&view, &where};
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3((unsigned)l->blocks);
    c.blockDim = dim3((unsigned)threads_of(l->step));
    c.dynamicSmemBytes = shared_of<T>(l);
    c.stream = stream;
    c.attrs = &early;
    c.numAttrs = f->starts_early;
    return cuda_status(cudaLaunchKernelExC(&c, kernel_of<T>(l), arguments),
                       "a kernel was not launched");
}

template <class T> static int take_values(const trs_fronts *f, const trs_fronts_job *job)
{
    const fronts_arrays *d = &f->on_device;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const int rc = cuda_status(cudaMemsetAsync(d->panels, 0, (size_t)f->panels * sizeof(T), stream),
                               "clearing fronts");
    if (rc) return rc;
    begin_kernel<<<1, 1, 0, stream>>>(job->outcome, d->left);
    if (f->a_entries > 0)
        scatter_kernel<<<blocks_of(f->a_entries), PLAIN, 0, stream>>>(
            f->a_entries, d->a_from, d->a_to, d->a_row, d->scale, (const T *)job->a, (T *)d->panels,
            job->outcome);
    if (f->a_entries > 0 && job->boost > 0 && d->largest) {
        cudaMemsetAsync(d->largest, 0, (size_t)f->n * sizeof *d->largest, stream);
        largest_kernel<<<blocks_of(f->a_entries), PLAIN, 0, stream>>>(
            f->a_entries, d->a_from, d->a_i, d->a_j, (const T *)job->a, d->largest);
    }
    return launched();
}

/* relative_to, largest: see gather_kernel. */
template <class T>
static void gather(const trs_fronts *f, int64_t entries, const int64_t *from, void *to,
                   const trs_elimination_outcome *relative_to, double *largest, cudaStream_t stream)
{
    const fronts_arrays *d = &f->on_device;
    if (entries > 0)
        gather_kernel<<<few_blocks(entries), PLAIN, 0, stream>>>(
            entries, from, (const T *)d->panels, (T *)to, relative_to, f->cholesky ? NULL : d->left,
            largest);
}

template <class T> static int give_factors(const trs_fronts *f, const trs_fronts_job *job)
{
    const fronts_arrays *d = &f->on_device;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    gather<T>(f, f->l_entries, d->l_from, job->l, NULL, d->sign ? &job->outcome->largest : NULL,
              stream);
    gather<T>(f, f->u_entries, d->u_from, job->u, job->outcome, NULL, stream);
    if (f->n > 0 && !f->cholesky) {
        growth_kernel<<<few_blocks(f->n * 32ll), PLAIN, 0, stream>>>(view_of<T>(f, job), d->of,
                                                                     f->n, d->left);
        end_kernel<<<1, 1, 0, stream>>>(job->outcome, d->left);
    }
    return launched();
}

int trs_fronts_run(trs_fronts *f, const trs_fronts_job *job)
{
    return for_type(f->dtype, [=]<class T>(T) {
        int rc = take_values<T>(f, job);
        const fronts_view<T> view = view_of<T>(f, job);
        for (int32_t k = 0; k < f->launches && !rc; k++)
            rc = launch_step(f, view, &f->launch[k], (cudaStream_t)job->stream);
        return rc ? rc : give_factors<T>(f, job);
    });
}
