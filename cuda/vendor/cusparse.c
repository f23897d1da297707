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

static int library(char *why, size_t size)
{
    trs_cusparse lib;
    int rc = trs_cusparse_open(&lib, why, size);
    trs_library_close(lib.library);
    return rc;
}

/* ---- the matrix ------------------------------------------------------------------------------- */

/* The caller's triangle by rows, from the side's lower one. */
static int natural_csr(const trs_part *part, cusparse_data *d)
{
    trs_tri t = part->side->tri;
    t.src = NULL; /* places in side->tri */
    int rc = d->transposed ? trs_tri_transpose(part->ctx, &t, true, &d->csr)
                           : trs_tri_copy(part->ctx, &t, &d->csr);
    if (!rc && part->side->reversed) rc = trs_tri_reverse(part->ctx, &d->csr);
    d->upper = d->transposed != part->side->reversed;
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

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    cusparse_data *d = part->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    char why[200];
    int rc =
        trs_cusparse_open(&d->lib, why, sizeof why) ? trs_fail(TRS_ELIBRARY, "%s", why) : TRS_OK;
    if (rc) return rc;
    d->transposed = part->transposed;
    d->long_indices = part->side->tri.nnz > INT32_MAX;
    rc = natural_csr(part, d);
    if (!rc) rc = upload_indices(ctx, d, d->csr.ptr, true, (int64_t)d->csr.n + 1, &d->ptr);
    if (!rc) rc = upload_indices(ctx, d, d->csr.idx, false, d->csr.nnz, &d->idx);
    if (rc) return rc;
    d->val = trs_gpu_new(ctx, d->csr.nnz, trs_size(d->csr.dtype), "values");
    return d->val ? TRS_OK : TRS_EMEM;
}

static int update(trs_part *part)
{
    cusparse_data *d = part->data;
    d->version++;
    trs_tri_read_values(part->ctx, &d->csr, part->side->tri.val);
    return trs_gpu_put(part->ctx, d->val, d->csr.val, (size_t)d->csr.nnz * trs_size(d->csr.dtype));
}

static int update_direct(trs_part *part, const void *val, void *stream)
{
    cusparse_data *d = part->data;
    const size_t bytes = (size_t)d->csr.nnz * sizeof *d->csr.src;
    if (!d->src) {
        d->src = trs_gpu_new(part->ctx, d->csr.nnz, sizeof *d->csr.src, "places");
        int rc = d->src ? trs_gpu_put(part->ctx, d->src, d->csr.src, bytes) : TRS_EMEM;
        if (rc) return rc;
    }
    d->version++;
    return trs_gpu_take_values(d->csr.dtype, d->csr.nnz, d->src, val, d->val, stream);
}

static void release(trs_part *part)
{
    cusparse_data *d = part->data;
    trs_tri_free(part->ctx, &d->csr);
    trs_gpu_free(part->ctx, d->ptr);
    trs_gpu_free(part->ctx, d->idx);
    trs_gpu_free(part->ctx, d->val);
    if (d->src) trs_gpu_free(part->ctx, d->src);
    trs_library_close(d->lib.library);
    trs_free(&part->ctx->mem, d);
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

static int work_create(const trs_part *part, trs_context *ctx, int nrhs, void **work)
{
    const cusparse_data *d = part->data;
    cusparse_work *w = *work = trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    w->lib = d->lib;
    w->nrhs = nrhs;
    if (d->csr.n == 0) return TRS_OK;
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

static int solve(const trs_part *part, const trs_job *job)
{
    const cusparse_data *d = part->data;
    const size_t size = trs_size(d->csr.dtype);
    const trs_view b = trs_view_natural(part->side, job->b),
                   x = trs_view_natural(part->side, job->x);
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

static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    bool wide = s->n > 4 * s->levels;
    c->bytes = ((double)s->nnz * ((s->elem + 4) * m->gpu_byte + m->gpu_gather) +
                (double)s->n * (8 + 3 * s->elem) * m->gpu_byte) *
               s->nrhs;
    c->sync = (s->nrhs > 1 ? 6 : 2.5) * m->gpu_launch; /* SpSM, SpSV */
    c->hops = (double)s->levels * (wide ? 1.7e-6 : 0.6e-6) + s->sum_longest * 1e-9;
}

static int64_t bytes(const trs_shape *s)
{
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
    .library = library,
    .cost = cost,
    .bytes = bytes,
    .analyse = analyse,
    .update = update,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
