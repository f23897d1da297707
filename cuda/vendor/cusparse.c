/* cusparse.c: the vendor's solver, for comparison: cusparseSpSV, and cusparseSpSM for the number of right-hand sides
 * that was announced.  Source: cuSPARSE 13 manual.
 *
 * cuSPARSE gets the caller's triangle as it is, lower or upper, and does T and H by its own transpose operations: what
 * is compared with is what a user of cuSPARSE would run.
 *
 * An analysis belongs to one solve in flight, and a solve uses its buffer; so both live in the work space.  After new
 * values the work space brings its analysis up to date before the next solve. */
#include "config.h"

#include "cusparse.h"

/* ---- the matrix ------------------------------------------------------------------------------- */

/* The caller's triangle by rows, from the operator's lower one. */
static int natural_csr(const trs_instance *inst, cusparse_data *d, trs_tri *csr)
{
    trs_tri t = inst->op->tri;
    t.src = NULL; /* places in the operator */
    int rc = d->transposed ? trs_tri_transpose(inst->ctx, &t, true, csr)
                           : trs_tri_copy(inst->ctx, &t, csr);
    if (!rc && inst->op->reversed) rc = trs_tri_reverse(inst->ctx, csr);
    d->upper = d->transposed != inst->op->reversed;
    return rc;
}

static int upload_indices(trs_context *ctx, cusparse_data *d, const void *from, bool from64,
                          int64_t count, void **to)
{
    const size_t size = d->long_indices ? 8 : 4;
    void *w = trs_new(ctx, count, size, "indices for cuSPARSE");
    *to = w ? trs_gpu_new(ctx, count, size, "indices for cuSPARSE") : NULL;
    int rc = *to ? TRS_OK : TRS_EMEM;
    for (int64_t k = 0; k < count && !rc; k++) {
        int64_t v = trs_index(from, from64 ? 64 : 32, k);
        if (d->long_indices) ((int64_t *)w)[k] = v;
        else ((int32_t *)w)[k] = (int32_t)v;
    }
    if (!rc) rc = trs_gpu_put(ctx, *to, w, (size_t)count * size);
    trs_free(&ctx->mem, w);
    return rc;
}

static int upload(const trs_instance *inst, cusparse_data *d)
{
    trs_context *ctx = inst->ctx;
    trs_tri csr;
    int rc = natural_csr(inst, d, &csr);
    if (rc) return rc;
    const size_t places = (size_t)csr.nnz * sizeof *csr.src;
    rc = upload_indices(ctx, d, csr.ptr, true, (int64_t)csr.n + 1, &d->ptr);
    if (!rc) rc = upload_indices(ctx, d, csr.idx, false, csr.nnz, &d->idx);
    if (!rc && csr.src) {
        d->src = trs_gpu_new(ctx, csr.nnz, sizeof *csr.src, "places of the values");
        rc = d->src ? trs_gpu_put(ctx, d->src, csr.src, places) : TRS_EMEM;
    }
    if (!rc) d->val = trs_gpu_new(ctx, csr.nnz, trs_size(csr.dtype), "values");
    if (!rc && !d->val) rc = TRS_EMEM;
    trs_tri_free(ctx, &csr);
    return rc;
}

static int build(trs_instance *inst)
{
    const trs_tri *t = &inst->op->tri;
    cusparse_data *d = inst->data = trs_alloc_zero(&inst->ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    int rc = trs_cusparse_open(&d->lib);
    if (!rc) rc = trs_operator_show(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (rc) return rc;
    d->n = t->n;
    d->nnz = t->nnz;
    d->dtype = t->dtype;
    d->transposed = inst->op->transposed;
    d->long_indices = t->nnz > INT32_MAX;
    return upload(inst, d);
}

static int update(trs_instance *inst, void *stream)
{
    cusparse_data *d = inst->data;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    d->version++;
    return rc ? rc
              : trs_gpu_take_values(d->dtype, d->nnz, d->src, inst->op->device.val, d->val, stream);
}

static void release(trs_instance *inst)
{
    cusparse_data *d = inst->data;
    trs_gpu_free(inst->ctx, d->ptr);
    trs_gpu_free(inst->ctx, d->idx);
    trs_gpu_free(inst->ctx, d->val);
    if (d->src) trs_gpu_free(inst->ctx, d->src);
    trs_library_close(d->lib.library);
    trs_free(&inst->ctx->mem, d);
}

/* ---- the work space ---------------------------------------------------------------------------- */

static void work_destroy(trs_context *ctx, void *work)
{
    cusparse_work *w = work;
    const trs_cusparse *lib = &w->lib;
    for (int conj = 0; conj < 2; conj++) {
        if (w->one[conj].sv) lib->cusparseSpSV_destroyDescr(w->one[conj].sv);
        if (w->many[conj].sm) lib->cusparseSpSM_destroyDescr(w->many[conj].sm);
        trs_gpu_free(ctx, w->one[conj].buffer);
        trs_gpu_free(ctx, w->many[conj].buffer);
    }
    if (w->b) lib->cusparseDestroyDnVec(w->b);
    if (w->x) lib->cusparseDestroyDnVec(w->x);
    if (w->mat) lib->cusparseDestroySpMat(w->mat);
    if (w->handle) lib->cusparseDestroy(w->handle);
    trs_free(&ctx->mem, w);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const cusparse_data *d = inst->data;
    cusparse_work *w = *work = trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    w->lib = d->lib;
    w->nrhs = nrhs;
    if (d->n == 0) return TRS_OK;
    int rc = trs_cusparse_matrix(d, w);
    if (rc) return rc;
    trs_gpu_wait(NULL);
    double start = trs_now();
    rc = trs_cusparse_analyse(d, ctx, w);
    if (!rc) rc = trs_gpu_wait(NULL);
    ctx->seconds_vendor += trs_now() - start;
    return rc;
}

/* ---- solve ------------------------------------------------------------------------------------------ */

static int solve(const trs_instance *inst, const trs_job *job)
{
    const cusparse_data *d = inst->data;
    const size_t size = trs_size(d->dtype);
    const trs_view b = trs_view_natural(inst->op, job->b), x = trs_view_natural(inst->op, job->x);
    cusparse_work *w = job->work;
    bool together = job->nrhs > 1 && job->nrhs == w->nrhs;
    if (d->lib.cusparseSetStream(w->handle, job->stream)) return TRS_ELIBRARY;
    if (b.rs != 1 || x.rs != 1) return TRS_ESUPPORT;
    if (together) return trs_cusparse_many(d, w, job->conj, b, x);
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r++)
        rc = trs_cusparse_one(d, w, job->conj, (char *)b.p + (size_t)(r * b.cs) * size,
                              (char *)x.p + (size_t)(r * x.cs) * size);
    return rc;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    bool wide = (double)s->n > m->cusparse_wide * (double)s->levels;
    c->bytes = ((double)s->nnz * ((s->elem + 4) * m->gpu_byte + m->gpu_gather) +
                (double)s->n * (8 + 3 * s->elem) * m->gpu_byte) *
               s->nrhs;
    c->sync = (s->nrhs > 1 ? m->cusparse_many_launches : m->cusparse_launches) * m->gpu_launch;
    c->latency = (double)s->levels * (wide ? m->cusparse_wide_level : m->cusparse_level) +
                 s->sum_longest * m->cusparse_longest;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 4 * (s->n + 1);
}

const trs_solver trs_solver_cusparse = {
    .name = "cusparse",
    .about = "cuSPARSE SpSV; SpSM for several right-hand sides, column-major (vendor)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = 0, /* a captured SpSV would go on with the values of before an update */
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .library = trs_cusparse_library,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
