/* lapack_getrf.c: LU with partial pivoting by LAPACK (xGETRF, xGETRS), on the CPU.
 *
 * A general matrix is solved by it where the caller has named no solver and a GPU would not pay.  LAPACK is opened when
 * the first general matrix needs it: a program that solves triangles needs no BLAS. */
#include "config.h"

#include "general.h"
#include "base/libraries/blas.h"
#include "base/libraries/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_LAPACK

/* xGETRF and xGETRS are Fortran's: arguments are passed by address, and the length of the string at the end. */
typedef void getrf_function(const int *m, const int *n, void *A, const int *lda, int *ipiv,
                            int *info);
typedef void getrs_function(const char *op, const int *n, const int *nrhs, const void *A,
                            const int *lda, const int *ipiv, void *B, const int *ldb, int *info,
                            size_t op_length);

typedef struct lapack {
    void *library;
    getrf_function *getrf;
    getrs_function *getrs;
    trs_blas blas;
} lapack;

typedef struct lapack_data {
    lapack lib;
    void *lu;   /* [n*n] by columns */
    int *pivot; /* [n] from 1 */
} lapack_data;

static int lapack_open(lapack *lib, trs_dtype t, char *why, size_t size)
{
    static const char letter[] = {
        [TRS_F64] = 'd', [TRS_F32] = 's', [TRS_C64] = 'z', [TRS_C32] = 'c'};
    char getrf[] = "?getrf_", getrs[] = "?getrs_";
    getrf[0] = getrs[0] = letter[t];
    lib->library = trs_library_open(NULL, "liblapack.so.3", why, size);
    if (!lib->library) return TRS_ELIBRARY;
    int rc = trs_library_find(lib->library, getrf, (void **)&lib->getrf, why, size);
    lib->blas = trs_blas_find(lib->library);
    return rc ? rc : trs_library_find(lib->library, getrs, (void **)&lib->getrs, why, size);
}

static int build(trs_instance *inst)
{
    const trs_tri *t = &inst->op->tri;
    lapack_data *d = inst->data = trs_alloc_zero(&inst->ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    char why[200];
    int rc = lapack_open(&d->lib, t->dtype, why, sizeof why);
    if (rc) return trs_fail(rc, "LAPACK: %s", why);
    d->lu = trs_new(inst->ctx, (int64_t)t->n * t->n, trs_size(t->dtype), "the factors");
    if (d->lu) d->pivot = trs_new(inst->ctx, t->n, sizeof *d->pivot, "row exchanges");
    return d->pivot ? TRS_OK : TRS_EMEM;
}

static void release(trs_instance *inst)
{
    lapack_data *d = inst->data;
    trs_library_close(d->lib.library);
    trs_free(&inst->ctx->mem, d->lu);
    trs_free(&inst->ctx->mem, d->pivot);
    trs_free(&inst->ctx->mem, d);
}

/* The first row whose pivot is not finite, or -1: xGETRF does not look for NaN. */
static int64_t first_not_finite(const trs_tri *t, const void *lu)
{
    double z[2];
    for (int64_t i = 0; i < t->n; i++) {
        trs_number_get(lu, t->dtype, i * (t->n + (int64_t)1), z);
        if (!isfinite(z[0]) || !isfinite(z[1])) return i;
    }
    return -1;
}

static int update(trs_instance *inst, void *stream)
{
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    if (rc) return rc;
    const trs_tri *t = &inst->op->tri;
    lapack_data *d = inst->data;
    int info = 0;
    memcpy(d->lu, inst->op->full, (size_t)t->n * (size_t)t->n * trs_size(t->dtype));
    const double start = trs_now();
    trs_blas_limit limit;
    trs_blas_begin(&limit, d->lib.blas, inst->ctx->threads);
    if (t->n) d->lib.getrf(&t->n, &t->n, d->lu, &t->n, d->pivot, &info);
    trs_blas_end(&limit);
    inst->seconds_factor = trs_now() - start;
    if (info < 0) return trs_fail(TRS_ELIBRARY, "xGETRF refuses argument %d", -info);
    const int64_t odd = first_not_finite(t, d->lu), zero = (int64_t)info - 1;
    const int64_t row = odd < 0 || (zero >= 0 && zero < odd) ? zero : odd;
    return trs_general_judge(inst, row < 0 ? 1 : INFINITY, row);
}

static int pivots(const trs_instance *inst, trs_context *ctx, void *u, bool *odd)
{
    const lapack_data *d = inst->data;
    (void)ctx;
    trs_general_diagonal(inst, d->lu, u);
    for (int k = 0; k < inst->op->tri.n; k++)
        if (d->pivot[k] != k + 1) *odd = !*odd;
    return TRS_OK;
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    (void)nrhs;
    *work = trs_new(ctx, inst->op->tri.n, trs_size(inst->op->tri.dtype), "one x");
    return *work ? TRS_OK : TRS_EMEM;
}

static void work_destroy(trs_context *ctx, void *work)
{
    trs_free(&ctx->mem, work);
}

/* Conjugate a vector in place. */
static void conjugate(trs_dtype t, int64_t n, void *x)
{
    for (int64_t i = 0; i < n; i++)
        if (t == TRS_C64) ((double *)x)[2 * i + 1] *= -1;
        else ((float *)x)[2 * i + 1] *= -1;
}

static int solve_one(const lapack_data *d, const int *n, void *y, int threads)
{
    const int one = 1;
    int info = 0;
    trs_blas_limit limit;
    if (*n == 0) return 0;
    trs_blas_begin(&limit, d->lib.blas, threads);
    d->lib.getrs("N", n, &one, d->lu, n, d->pivot, y, n, &info, 1);
    trs_blas_end(&limit);
    return info;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const trs_tri *t = &inst->op->tri;
    const lapack_data *d = inst->data;
    const int64_t size = (int64_t)trs_size(t->dtype), n = t->n;
    char *y = job->work;
    for (int r = 0; r < job->nrhs; r++) {
        const char *b = (const char *)job->b.p + r * job->b.cs * size;
        char *x = (char *)job->x.p + r * job->x.cs * size;
        for (int64_t i = 0; i < n; i++)
            memcpy(y + i * size, b + i * job->b.rs * size, (size_t)size);
        if (job->conj) conjugate(t->dtype, n, y);
        const int info = solve_one(d, &t->n, y, job->threads);
        if (info) return TRS_ELIBRARY;
        if (job->conj) conjugate(t->dtype, n, y);
        for (int64_t i = 0; i < n; i++)
            memcpy(x + i * job->x.rs * size, y + i * size, (size_t)size);
    }
    return TRS_OK;
}

static int library(char *why, size_t size)
{
    lapack lib;
    int rc = lapack_open(&lib, TRS_F64, why, size);
    trs_library_close(lib.library);
    return rc;
}

#else

static int update(trs_instance *inst, void *stream)
{
    (void)inst, (void)stream;
    return trs_fail(TRS_ELIBRARY, "built without LAPACK");
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    (void)inst, (void)job;
    return TRS_ELIBRARY;
}

static int library(char *why, size_t size)
{
    snprintf(why, size, "built without LAPACK");
    return TRS_ELIBRARY;
}

#endif

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return (int64_t)((s->elem * (double)s->n + 4) * (double)s->n);
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    c->bytes = (double)s->n * (double)s->n * s->elem * m->cpu_byte * s->nrhs;
    return NULL;
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
    .estimate = estimate,
    .bytes = bytes,
    .update = update,
    .solve = solve,
#ifdef HAVE_LAPACK
    .build = build,
    .release = release,
    .pivots = pivots,
    .work_create = work_create,
    .work_destroy = work_destroy,
#endif
};
