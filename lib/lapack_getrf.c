/* lapack_getrf.c: LU with partial pivoting by LAPACK (xGETRF, xGETRS), on the CPU.
 * What a general matrix is solved by where nothing else was asked for and a GPU would not pay. */
#include "config.h"

#include "general.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_LAPACKE
#include <lapacke.h>

typedef struct lapack_data {
    void *lu;          /* [n*n] by columns */
    lapack_int *pivot; /* [n] from 1 */
} lapack_data;

static lapack_int getrf(trs_dtype t, lapack_int n, void *A, lapack_int *pivot)
{
    switch (t) {
    case TRS_F64:
        return LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, A, n, pivot);
    case TRS_F32:
        return LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, A, n, pivot);
    case TRS_C64:
        return LAPACKE_zgetrf(LAPACK_COL_MAJOR, n, n, A, n, pivot);
    default:
        return LAPACKE_cgetrf(LAPACK_COL_MAJOR, n, n, A, n, pivot);
    }
}

static lapack_int getrs(trs_dtype t, lapack_int n, const lapack_data *d, void *x)
{
    switch (t) {
    case TRS_F64:
        return LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, 1, d->lu, n, d->pivot, x, n);
    case TRS_F32:
        return LAPACKE_sgetrs(LAPACK_COL_MAJOR, 'N', n, 1, d->lu, n, d->pivot, x, n);
    case TRS_C64:
        return LAPACKE_zgetrs(LAPACK_COL_MAJOR, 'N', n, 1, d->lu, n, d->pivot, x, n);
    default:
        return LAPACKE_cgetrs(LAPACK_COL_MAJOR, 'N', n, 1, d->lu, n, d->pivot, x, n);
    }
}

static int analyse(trs_part *part)
{
    const trs_tri *t = &part->side->tri;
    lapack_data *d = part->data = trs_alloc_zero(&part->ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    d->lu = trs_new(part->ctx, (int64_t)t->n * t->n, trs_size(t->dtype), "the factors");
    if (d->lu) d->pivot = trs_new(part->ctx, t->n, sizeof *d->pivot, "row exchanges");
    return d->pivot ? TRS_OK : TRS_EMEM;
}

static void release(trs_part *part)
{
    lapack_data *d = part->data;
    trs_free(&part->ctx->mem, d->lu);
    trs_free(&part->ctx->mem, d->pivot);
    trs_free(&part->ctx->mem, d);
}

static int update(trs_part *part)
{
    const trs_tri *t = &part->side->tri;
    lapack_data *d = part->data;
    memcpy(d->lu, part->side->full, (size_t)t->n * (size_t)t->n * trs_size(t->dtype));
    const double start = trs_now();
    lapack_int info = t->n ? getrf(t->dtype, t->n, d->lu, d->pivot) : 0;
    part->seconds_factor = trs_now() - start;
    if (info < 0) return trs_fail(TRS_ELIBRARY, "xGETRF refuses argument %d", -(int)info);
    return trs_general_judge(part, info ? INFINITY : 1, (int64_t)info - 1);
}

static int pivots(const trs_part *part, trs_context *ctx, void *u, bool *odd)
{
    const lapack_data *d = part->data;
    (void)ctx;
    trs_general_diagonal(part, d->lu, u);
    for (lapack_int k = 0; k < part->side->tri.n; k++)
        if (d->pivot[k] != k + 1) *odd = !*odd;
    return TRS_OK;
}

static int work_create(const trs_part *part, trs_context *ctx, int nrhs, void **work)
{
    (void)nrhs;
    *work = trs_new(ctx, part->side->tri.n, trs_size(part->side->tri.dtype), "one x");
    return *work ? TRS_OK : TRS_EMEM;
}

static void work_destroy(trs_context *ctx, void *work)
{
    trs_free(&ctx->mem, work);
}

/* The imaginary parts of a vector, negated. */
static void conjugate(trs_dtype t, int64_t n, void *x)
{
    for (int64_t i = 0; i < n; i++)
        if (t == TRS_C64) ((double *)x)[2 * i + 1] *= -1;
        else ((float *)x)[2 * i + 1] *= -1;
}

static int solve(const trs_part *part, const trs_job *job)
{
    const trs_tri *t = &part->side->tri;
    const int64_t size = (int64_t)trs_size(t->dtype), n = t->n;
    char *y = job->work;
    for (int r = 0; r < job->nrhs; r++) {
        const char *b = (const char *)job->b.p + r * job->b.cs * size;
        char *x = (char *)job->x.p + r * job->x.cs * size;
        for (int64_t i = 0; i < n; i++)
            memcpy(y + i * size, b + i * job->b.rs * size, (size_t)size);
        if (job->conj) conjugate(t->dtype, n, y);
        if (getrs(t->dtype, t->n, part->data, y)) return TRS_ELIBRARY;
        if (job->conj) conjugate(t->dtype, n, y);
        for (int64_t i = 0; i < n; i++)
            memcpy(x + i * job->x.rs * size, y + i * size, (size_t)size);
    }
    return TRS_OK;
}

#else

static int update(trs_part *part)
{
    return trs_fail(TRS_ELIBRARY, "built without LAPACK");
}

static int solve(const trs_part *part, const trs_job *job)
{
    (void)part, (void)job;
    return TRS_ELIBRARY;
}

#endif

static int library(char *why, size_t size)
{
#ifdef HAVE_LAPACKE
    (void)why, (void)size;
    return TRS_OK;
#else
    snprintf(why, size, "built without LAPACK");
    return TRS_ELIBRARY;
#endif
}

static int64_t bytes(const trs_shape *s)
{
    return (int64_t)((s->elem * (double)s->n + 4) * (double)s->n);
}

static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    c->bytes = (double)s->n * (double)s->n * s->elem * m->cpu_byte * s->nrhs;
}

const trs_solver trs_solver_lapack_getrf = {
    .name = "lapack-getrf",
    .about = "LU with partial pivoting by LAPACK, CPU",
    .place = TRS_ON_CPU,
    .family = TRS_GENERAL_DENSE,
    .caps = TRS_CAP_ROW_MAJOR | TRS_CAP_PIVOTS,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .library = library,
    .cost = cost,
    .bytes = bytes,
    .update = update,
    .solve = solve,
#ifdef HAVE_LAPACKE
    .analyse = analyse,
    .release = release,
    .pivots = pivots,
    .work_create = work_create,
    .work_destroy = work_destroy,
#endif
};
