/* krylov.c: the public functions for Krylov methods: memory, arguments, and one right-hand side after the other. */
#include "config.h"

#include "iteration.h"
#include "base/device.h"
#include "base/parallel.h"

#include <math.h>

static const trs_krylov_kind *const kinds[] = {[TRS_CG] = &trs_kind_cg,
                                               [TRS_MINRES] = &trs_kind_minres,
                                               [TRS_BICGSTAB] = &trs_kind_bicgstab,
                                               [TRS_GMRES] = &trs_kind_gmres,
                                               [TRS_FGMRES] = &trs_kind_fgmres};

enum { ALIGNMENT = 256, MOST_RESTART = 10000, DEFAULT_RESTART = 30 };

/* ---- memory ------------------------------------------------------------------------------------------ */

/* Bytes of each array, rounded up to ALIGNMENT. */
typedef struct sizes {
    int64_t ld, vectors, scalars, sums, known, exact;
    int64_t host, device;
} sizes;

static int64_t rounded(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static sizes sizes_of(const trs_krylov_options *o)
{
    const trs_krylov_kind *kind = kinds[o->method];
    const int64_t size = (int64_t)trs_size(o->dtype), z = sizeof(trs_z);
    sizes s = {.ld = rounded(o->n * size) / size};
    const trs_krylov_needs needs = kind->needs(o->restart);
    s.vectors = needs.vectors * s.ld * size;
    s.scalars = rounded((int64_t)sizeof(trs_scalars) + needs.places * z);
    const bool there = o->device > 0;
    const int64_t ranges = there ? trs_gpu_ranges(o->n) : trs_ranges(o->n);
    s.sums = rounded(trs_max(ranges, 1) * needs.dots * z);
    if (there) {
        s.known = rounded(TRS_KNOWN);
        s.exact = rounded(trs_gpu_residual_bytes(1));
        /* and a number of blocks */
        s.device = s.vectors + s.scalars + s.sums + s.exact + ALIGNMENT;
    } else {
        s.exact = rounded(4 * o->n * (int64_t)sizeof(long double));
        s.host = s.vectors + s.scalars + s.sums + s.exact;
    }
    s.host += rounded(sizeof(trs_krylov)) + s.known + ALIGNMENT;
    return s;
}

static int check_options(const trs_krylov_options *opt, trs_krylov_options *o)
{
    if (!opt) return trs_fail(TRS_EARG, "opt is NULL");
    int rc = TRS_CHECK_RESERVED(opt, "trs_krylov_options");
    if (rc) return rc;
    *o = *opt;
    if ((unsigned)o->method > TRS_FGMRES) return trs_fail(TRS_EARG, "no such Krylov method");
    if ((unsigned)o->dtype > TRS_C32) return trs_fail(TRS_EARG, "dtype is out of range");
    if (o->n < 0 || o->n > INT32_MAX - 1) return trs_fail(TRS_EARG, "n is out of range");
    if (o->restart < 0 || o->restart > MOST_RESTART)
        return trs_fail(TRS_EARG, "restart = %d is not in 0 .. %d", o->restart, MOST_RESTART);
    if (o->threads < 0 || o->threads > TRS_MOST_THREADS)
        return trs_fail(TRS_EARG, "%d threads", o->threads);
    if (!o->restart) o->restart = DEFAULT_RESTART;
    if (o->restart > o->n && o->n) o->restart = (int)o->n;
    return TRS_OK;
}

int trs_krylov_bytes(const trs_krylov_options *opt, int64_t *host, int64_t *device)
{
    trs_krylov_options o;
    trs_enter();
    if (host) *host = 0;
    if (device) *device = 0;
    int rc = check_options(opt, &o);
    if (rc) return trs_leave(rc);
    const sizes s = sizes_of(&o);
    if (host) *host = s.host;
    if (device) *device = s.device;
    return trs_leave(TRS_OK);
}

/* Take the next bytes of a block. */
static void *take(char **at, int64_t bytes)
{
    void *p = *at;
    *at += bytes;
    return p;
}

/* Where the vectors are are all arrays that passes use. */
static void set_space(trs_krylov *k, const sizes *s, char **at)
{
    trs_space *v = &k->space;
    v->dtype = k->opt.dtype;
    v->n = k->opt.n;
    v->ld = s->ld;
    v->threads = k->opt.threads ? k->opt.threads : trs_default_threads();
    v->scalars = take(at, s->scalars);
    v->sums = take(at, s->sums);
    k->vector = take(at, s->vectors);
}

static int make_there(trs_krylov *k, const sizes *s, char **host)
{
    const unsigned none = 0;
    int rc = trs_check_device(k->opt.device);
    if (!rc) rc = trs_gpu_use(&k->ctx);
    if (rc) return rc;
    char *at = k->device = trs_gpu_new(&k->ctx, s->device, 1, "the vectors of a Krylov method");
    if (!at) return TRS_EMEM;
    set_space(k, s, &at);
    k->scratch = take(&at, s->exact);
    k->space.ended = take(&at, ALIGNMENT);
    k->known = take(host, s->known);
    return trs_device_put(k->opt.device, k->space.ended, &none, sizeof none);
}

static void make_here(trs_krylov *k, const sizes *s, char **at)
{
    set_space(k, s, at);
    k->known = k->space.scalars;
    k->sums = trs_sums_at(take(at, s->exact), k->opt.n);
}

static int create(trs_krylov **krylov, const trs_krylov_options *o)
{
    const sizes s = sizes_of(o);
    trs_context ctx = {.mem = o->memory, .device_memory = o->device_memory};
    trs_krylov *k = trs_new(&ctx, s.host, 1, "the vectors of a Krylov method");
    if (!k) return TRS_EMEM;
    char *at = (char *)k + rounded(sizeof *k);
    at += ALIGNMENT - (uintptr_t)at % ALIGNMENT;
    *k = (trs_krylov){.ctx = ctx, .opt = *o, .kind = kinds[o->method]};
    k->on_device = o->device > 0;
    k->ctx.device = o->device - 1;
    int rc = TRS_OK;
    if (k->on_device) rc = make_there(k, &s, &at);
    else make_here(k, &s, &at);
    if (!rc) *krylov = k;
    else trs_krylov_destroy(k);
    return rc;
}

int trs_krylov_create(trs_krylov **krylov, const trs_krylov_options *opt)
{
    trs_krylov_options o;
    trs_enter();
    if (!krylov) return trs_leave(trs_fail(TRS_EARG, "krylov is NULL"));
    *krylov = NULL;
    int rc = check_options(opt, &o);
    if (!rc) rc = create(krylov, &o);
    return trs_leave(rc);
}

void trs_krylov_destroy(trs_krylov *k)
{
    trs_enter();
    if (k) {
        trs_context ctx = k->ctx;
        trs_gpu_free(&ctx, k->device);
        trs_free(&ctx.mem, k);
    }
    trs_leave_silently();
}

/* ---- a solve -------------------------------------------------------------------------------------------- */

static int check_goal(const trs_krylov_goal *g)
{
    const int rc = TRS_CHECK_RESERVED(g, "trs_krylov_goal");
    if (rc) return rc;
    if (!(g->rtol >= 0 && g->atol >= 0 && isfinite(g->rtol) && isfinite(g->atol)))
        return trs_fail(TRS_EARG, "rtol or atol is negative or not finite");
    if (g->max_iterations < 0) return trs_fail(TRS_EARG, "max_iterations is negative");
    if (g->history && !g->max_iterations) return trs_fail(TRS_EARG, "history needs max_iterations");
    return TRS_OK;
}

static int check_arrays(const trs_krylov *k, int nrhs, const void *B, int64_t ldb, const void *X,
                        int64_t ldx)
{
    const trs_mat shape = {.n = k->opt.n, .dtype = k->opt.dtype};
    return trs_check_columns(&shape, TRS_N, nrhs, B, ldb, X, ldx, TRS_COL_MAJOR, true);
}

static int solve(trs_iteration *k, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                 trs_krylov_info *info)
{
    const trs_dtype t = k->of->opt.dtype;
    for (int c = 0; c < nrhs && !k->rc; c++) {
        k->column = c;
        k->b = trs_column_of(B, c, ldb, TRS_COL_MAJOR, t).p;
        k->x = trs_column_of(X, c, ldx, TRS_COL_MAJOR, t).p;
        trs_krylov_column(k);
        if (info) info[c] = k->info;
    }
    return k->rc;
}

/* The arguments are checked, apart from the operators. */
static int open_and_solve(trs_iteration *k, const trs_map *A, const trs_map *M, int nrhs,
                          const void *B, int64_t ldb, void *X, int64_t ldx, trs_krylov_info *info)
{
    trs_krylov *of = k->of;
    void *stream = k->goal->stream;
    int rc = of->on_device ? trs_gpu_use(&of->ctx) : TRS_OK;
    of->space.stream = stream;
    if (!rc) rc = trs_applied_open(of, A, "A", stream, &k->A);
    if (!rc && M) rc = trs_applied_open(of, M, "M", stream, &k->M);
    if (!rc) rc = solve(k, nrhs, B, ldb, X, ldx, info);
    if (of->on_device && trs_gpu_wait(stream) && !rc) rc = TRS_EDEVICE;
    if (k->A.of) trs_applied_close(of, &k->A);
    if (k->M.of) trs_applied_close(of, &k->M);
    return rc;
}

int trs_krylov_solve(trs_krylov *krylov, const trs_map *A, const trs_map *M, int nrhs,
                     const void *B, int64_t ldb, void *X, int64_t ldx, const trs_krylov_goal *goal,
                     trs_krylov_info *info)
{
    static const trs_krylov_goal defaults = {0};
    trs_enter();
    if (!krylov || !A) return trs_leave(trs_fail(TRS_EARG, "krylov or A is NULL"));
    trs_iteration k = {.of = krylov, .goal = goal ? goal : &defaults};
    k.most = k.goal->max_iterations ? k.goal->max_iterations : 10 * krylov->opt.n;
    int rc = check_goal(k.goal);
    if (!rc) rc = check_arrays(krylov, nrhs, B, ldb, X, ldx);
    if (rc) return trs_leave(rc);
    if (atomic_exchange(&krylov->solving, true))
        return trs_leave(trs_fail(TRS_ESTATE, "another solve uses these vectors"));
    rc = open_and_solve(&k, A, M, nrhs, B, ldb, X, ldx, info);
    atomic_store(&krylov->solving, false);
    return trs_leave(rc);
}
