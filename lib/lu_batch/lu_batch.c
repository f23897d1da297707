/* lu_batch.c: batches of systems of one pattern: what callers ask for, checked, and shared among threads.
 *
 * A thread claims some groups at a time (lu_batch.h).  It factors a group in its own space, which stays in the cache, and
 * solves with it at once.  Factors that are kept are in one array, group after group. */
#include "config.h"

#include "batch_of.h"
#include "base/debug.h"
#include "base/parallel.h"
#include "core/plan.h"
#include "factor/lu_first.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double default_growth = 1e6;

/* Vectors that a thread claims at a time, as whole groups. */
enum { CLAIM = 1 << 14 };

/* ---- create --------------------------------------------------------------------------------- */

static int check_options(const trs_lu_batch_options *opt)
{
    const int rc = TRS_CHECK_RESERVED(opt, "trs_lu_batch_options");
    if (rc) return rc;
    if (opt->count < 0 || opt->memory_limit < 0 || !(opt->growth_limit >= 0) || opt->threads < 0 ||
        opt->threads > TRS_MOST_THREADS)
        return trs_fail(TRS_EARG, "batch: count, threads or a limit is out of range");
    if (!opt->memory.alloc != !opt->memory.free ||
        !opt->device_memory.alloc != !opt->device_memory.free)
        return trs_fail(TRS_EARG, "one of memory's callbacks alloc and free is NULL");
    return trs_check_device(opt->device);
}

static int check_matrix(const trs_lu *lu, const trs_mat *A)
{
    int rc = trs_check_device(A->device);
    if (!rc) rc = trs_lu_settle(lu); /* P, Q and the scaling are there then */
    if (rc) return rc;
    if (!lu->ready) return trs_lu_no_factors(lu, "batch");
    if (A->format != TRS_CSR && A->format != TRS_CSC)
        return trs_fail(TRS_ESUPPORT, "batch: A must be CSR or CSC");
    if (lu->boost > 0) return trs_fail(TRS_ESUPPORT, "batch: pivots cannot be boosted");
    if (A->n != lu->info.n || A->dtype != lu->dtype)
        return trs_fail(TRS_EARG, "batch: A has another n or dtype than the factors");
    return TRS_OK;
}

/* Vectors of a space. */
static int64_t space_vectors(const trs_lu_batch_rows *r)
{
    return r->nnz + (int64_t)r->n * (2 + TRS_LU_BATCH_RHS + 2);
}

/* Memory for so many vectors, the first at a multiple of their size: *at, within the allocation that is returned. */
static void *new_vectors(trs_lu_batch *b, int64_t count, char **at)
{
    const size_t bytes = (size_t)trs_vector_bytes(b->rows.dtype);
    char *p = trs_new(&b->ctx, count + 1, bytes, "the factors of a batch");
    *at = p ? p + (-(uintptr_t)p & (bytes - 1)) : NULL;
    return p;
}

static void cut_space(const trs_lu_batch_rows *r, char *at, trs_lu_batch_space *w)
{
    const int64_t n = r->n, bytes = trs_vector_bytes(r->dtype);
    w->lu = at;
    w->row = w->lu + r->nnz * bytes;
    w->y = w->row + 2 * n * bytes;
    w->r = w->y + n * TRS_LU_BATCH_RHS * bytes;
}

static int64_t groups_of(const trs_lu_batch *b, int64_t count)
{
    return (count + b->lanes - 1) / b->lanes;
}

/* Bytes of what a batch has on the host in any case. */
static int64_t bytes_of_rows(const trs_lu_batch *b)
{
    const trs_lu_batch_rows *r = &b->rows;
    return r->nnz * (int64_t)(sizeof *r->idx + sizeof *r->run) +
           r->nnz_a * (int64_t)(2 * sizeof *r->a_row + 2 * sizeof *r->a_from) +
           r->n *
               (int64_t)(sizeof *r->ptr + sizeof *r->diag + 2 * sizeof *r->P + sizeof *r->scale) +
           b->count * (int64_t)sizeof *b->outcome;
}

/* Bytes of what all threads share. */
static int64_t bytes_shared(const trs_lu_batch *b)
{
    const int64_t groups = b->keep ? groups_of(b, b->count) : 0;
    const int64_t codes = b->keep ? b->count * (int64_t)sizeof *b->kept_code : 0;
    return bytes_of_rows(b) + codes + groups * b->rows.nnz * trs_vector_bytes(b->rows.dtype);
}

static int64_t bytes_here(const trs_lu_batch *b)
{
    if (b->there) return bytes_of_rows(b);
    return bytes_shared(b) + b->threads * space_vectors(&b->rows) * trs_vector_bytes(b->rows.dtype);
}

/* Threads that fit the limit, of those that have a group to compute; 0: not even one fits. */
static int count_threads(const trs_lu_batch *b, const trs_lu_batch_options *opt)
{
    const int64_t asked = opt->threads > 0 ? opt->threads : trs_default_threads();
    const int64_t most = trs_max(1, trs_min(asked, groups_of(b, b->count)));
    const int64_t left = opt->memory_limit - bytes_shared(b);
    if (!opt->memory_limit) return (int)most;
    return (int)trs_min(most, left / (space_vectors(&b->rows) * trs_vector_bytes(b->rows.dtype)));
}

static int allocate(trs_lu_batch *b, const trs_lu_batch_options *opt)
{
    const int64_t vectors = space_vectors(&b->rows);
    char *at;
    b->threads = count_threads(b, opt);
    if (b->threads < 1)
        return trs_fail(TRS_EMEM, "batch: memory_limit is below the %" PRId64 " bytes needed",
                        bytes_shared(b) + vectors * trs_vector_bytes(b->rows.dtype));
    if (b->keep) {
        const int64_t all = groups_of(b, b->count) * b->rows.nnz;
        b->kept_memory = new_vectors(b, all, &b->kept);
        b->kept_code = trs_new(&b->ctx, b->count, sizeof *b->kept_code, "the outcome of a batch");
        if (!b->kept_memory || !b->kept_code) return TRS_EMEM;
        for (int64_t k = 0; k < b->count; k++) b->kept_code[k] = b->outcome[k].code;
    }
    b->space_memory = new_vectors(b, vectors * b->threads, &at);
    b->space = trs_new(&b->ctx, b->threads, sizeof *b->space, "the threads of a batch");
    if (!b->space_memory || !b->space) return TRS_EMEM;
    for (int t = 0; t < b->threads; t++)
        cut_space(&b->rows, at + t * vectors * trs_vector_bytes(b->rows.dtype), &b->space[t]);
    return TRS_OK;
}

/* Multiplications of the factorization of a system. */
static int64_t count_products(const trs_lu_batch_rows *r)
{
    int64_t products = 0;
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t p = r->ptr[i]; p < r->diag[i]; p++)
            products += r->ptr[r->idx[p] + 1] - r->diag[r->idx[p]];
    return products;
}

/* On a device.  The context is that of A before. */
static int allocate_there(trs_lu_batch *b, const trs_lu_batch_options *opt)
{
    b->ctx.device = opt->device - 1;
    if (trs_max(b->rows.nnz, b->rows.nnz_a) > INT32_MAX - 1)
        return trs_fail(TRS_ESUPPORT, "batch: more than 2^31 - 2 entries");
    return trs_gpu_lu_batch_create(&b->ctx, &b->rows, b->count, b->outcome, b->keep,
                                   opt->memory_limit, &b->there);
}

/* What is known of each system at first. */
static int new_outcome(trs_lu_batch *b)
{
    b->outcome = trs_new(&b->ctx, b->count, sizeof *b->outcome, "the outcome of a batch");
    for (int64_t k = 0; k < b->count && b->outcome; k++) {
        b->outcome[k] = (trs_lu_batch_outcome){.row = -1, .code = TRS_ESTATE};
        if (b->rows.n == 0) b->outcome[k].code = TRS_OK;
    }
    return b->outcome ? TRS_OK : TRS_EMEM;
}

/* The pattern of A on the host, and of incomplete factors that are on a device. */
static int make_rows(trs_lu_batch *b, const trs_lu *lu, const trs_mat *A)
{
    trs_context *ctx = &b->ctx;
    trs_mat host;
    int rc = TRS_OK;
    if (lu->f.incomplete) rc = trs_lu_factors(lu, NULL, NULL, NULL, NULL, NULL);
    if (rc) return rc;
    ctx->device = A->device > 0 ? A->device - 1 : 0;
    rc = trs_mat_fetch(ctx, A, true, &host);
    if (!rc) rc = trs_check_mat(&host);
    if (!rc) rc = trs_lu_batch_rows_make(ctx, lu, &host, &b->rows);
    trs_mat_fetched(ctx, A, &host);
    return rc;
}

static int fill(trs_lu_batch *b, const trs_lu *lu, const trs_mat *A,
                const trs_lu_batch_options *opt)
{
    b->count = opt->count > 0 ? opt->count : 1;
    b->keep = opt->keep != 0;
    b->growth_limit = opt->growth_limit > 0 ? opt->growth_limit : default_growth;
    b->lanes = trs_lanes(A->dtype);
    int rc = make_rows(b, lu, A);
    if (rc) return rc;
    b->products = count_products(&b->rows);
    rc = new_outcome(b);
    if (rc) return rc;
    if (opt->device > 0 && b->rows.n > 0) return allocate_there(b, opt);
    return allocate(b, opt);
}

/* By other factors of the same system, if those of lu cannot serve a batch. */
static int fill_exchanged(trs_lu_batch *b, const trs_lu *lu, const trs_mat *A,
                          const trs_lu_batch_options *opt)
{
    trs_lu *other = NULL;
    if (!lu->exchange) return fill(b, lu, A, opt);
    int rc = lu->exchange(lu, &other);
    if (!rc) rc = trs_lu_settle(other);
    if (!rc) rc = fill(b, other, A, opt);
    trs_lu_destroy(other);
    return rc;
}

static int create(trs_lu_batch **batch, const trs_lu *lu, const trs_mat *A,
                  const trs_lu_batch_options *opt)
{
    static const trs_lu_batch_options defaults = {0};
    if (!batch) return trs_fail(TRS_EARG, "batch is NULL");
    *batch = NULL;
    if (!opt) opt = &defaults;
    if (!lu || !A) return trs_fail(TRS_EARG, "batch: lu or A is NULL");
    if (lu->opt.sweeps) return trs_fail(TRS_ESUPPORT, "batch: the factors solve by sweeps");
    int rc = check_options(opt);
    if (!rc) rc = check_matrix(lu, A);
    if (rc) return rc;
    trs_lu_batch *b = trs_alloc_zero(&opt->memory, 1, sizeof *b);
    if (!b) return trs_fail(TRS_EMEM, "out of memory for a handle");
    b->ctx = (trs_context){.mem = opt->memory, .device_memory = opt->device_memory, .threads = 1};
    rc = fill_exchanged(b, lu, A, opt);
    if (rc) trs_lu_batch_destroy(b);
    else *batch = b;
    return rc;
}

int trs_lu_batch_create(trs_lu_batch **batch, const trs_lu *lu, const trs_mat *A,
                        const trs_lu_batch_options *opt)
{
    return trs_call(create(batch, lu, A, opt));
}

void trs_lu_batch_destroy(trs_lu_batch *b)
{
    if (!b) return;
    trs_enter();
    const trs_memory mem = b->ctx.mem;
    trs_gpu_lu_batch_destroy(b->there);
    trs_lu_batch_rows_free(&b->ctx, &b->rows);
    trs_free_all(&mem, b->outcome, b->kept_memory, b->kept_code, b->space_memory, b->space, b);
    trs_leave_silently();
}

/* ---- checks --------------------------------------------------------------------------------- */

static int check_strides(const trs_systems *s)
{
    const int64_t least = trs_min(s->val_stride, trs_min(s->b_stride, s->x_stride));
    const int64_t most = trs_max(s->val_stride, trs_max(s->b_stride, s->x_stride));
    if (least < 0 || most > INT64_MAX / 16 / trs_max(s->count, 1))
        return trs_fail(TRS_EARG, "batch: a stride is out of range");
    return TRS_OK;
}

int trs_lu_batch_check(const trs_lu_batch *b, const trs_systems *s, bool values)
{
    if (!b || !s) return trs_fail(TRS_EARG, "batch: batch or systems is NULL");
    const int rc = TRS_CHECK_RESERVED(s, "trs_systems");
    if (rc) return rc;
    if (s->count < 0 || s->count > b->count)
        return trs_fail(TRS_EARG, "batch: count = %" PRId64 " is not in 0 .. %" PRId64, s->count,
                        b->count);
    if (s->steps < 0) return trs_fail(TRS_EARG, "batch: steps is negative");
    if (values && s->count > 0 && b->rows.numbers > 0 && !s->val && !s->val_of)
        return trs_fail(TRS_EARG, "batch: val is NULL");
    return check_strides(s);
}

/* B and X of all systems. */
static int check_vectors(const trs_lu_batch *b, const trs_systems *s, int nrhs, const void *B,
                         int64_t ldb, const void *X, int64_t ldx, trs_layout layout)
{
    const trs_dtype t = b->rows.dtype;
    const int64_t n = b->rows.n, size = (int64_t)trs_size(t);
    int64_t bytes_b = trs_extent(B, n, nrhs, ldb, layout, t);
    int64_t bytes_x = trs_extent(X, n, nrhs, ldx, layout, t);
    if (bytes_b < 0 || bytes_x < 0)
        return trs_fail(TRS_EARG, "batch: B or X is NULL, or a leading dimension is out of range");
    if (s->count > 1 && s->x_stride == 0)
        return trs_fail(TRS_EARG, "batch: x_stride = 0, all systems would have the same X");
    bytes_b += s->b_stride * size * (s->count - 1);
    bytes_x += s->x_stride * size * (s->count - 1);
    if (trs_overlap(B, bytes_b, X, bytes_x)) return trs_fail(TRS_EARG, "batch: B and X overlap");
    return TRS_OK;
}

static int check_exec(const trs_exec *exec)
{
    const int rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (rc) return rc;
    if (exec->threads < 0 || exec->threads > TRS_MOST_THREADS ||
        (unsigned)exec->layout > TRS_ROW_MAJOR)
        return trs_fail(TRS_EARG, "batch: layout or threads is out of range");
    return TRS_OK;
}

int trs_lu_batch_check_solve(const trs_lu_batch *b, trs_op op, int nrhs, const trs_systems *s,
                             const void *B, int64_t ldb, const void *X, int64_t ldx,
                             const trs_exec *exec)
{
    if ((unsigned)op > TRS_H || nrhs < 0)
        return trs_fail(TRS_EARG, "batch: op or nrhs is out of range");
    const int rc = check_exec(exec);
    if (rc || s->count == 0 || nrhs == 0 || b->rows.n == 0) return rc;
    return check_vectors(b, s, nrhs, B, ldb, X, ldx, exec->layout);
}

/* ---- a call --------------------------------------------------------------------------------- */

typedef struct team {
    trs_lu_batch *b;
    const trs_lu_batch_job *job;
    /* groups that a thread claims at a time */
    int64_t each;
    _Atomic int64_t next;
} team;

/* Systems of a group that the job has. */
static int count_lanes(const trs_lu_batch *b, const trs_lu_batch_job *j, int64_t first)
{
    int count = 0;
    for (int k = 0; k < b->lanes; k++) count += trs_lu_batch_has(j->s, first + k);
    return count;
}

/* Copy what the job has factored: some of the lanes of a group. */
static void copy_lanes(const trs_lu_batch *b, const trs_lu_batch_job *j, int64_t first, char *to,
                       const char *from)
{
    const size_t size = trs_size(b->rows.dtype);
    for (int k = 0; k < b->lanes; k++)
        for (int64_t p = 0; p < b->rows.nnz && trs_lu_batch_has(j->s, first + k); p++) {
            const size_t at = (size_t)(p * trs_vector_bytes(b->rows.dtype)) + (size_t)k * size;
            memcpy(to + at, from + at, size);
        }
}

static void do_group(trs_lu_batch *b, const trs_lu_batch_job *j, int64_t group,
                     const trs_lu_batch_space *w)
{
    const trs_dtype t = b->rows.dtype;
    const int64_t first = group * b->lanes;
    const int count = count_lanes(b, j, first);
    char *kept = j->keeps ? b->kept + group * b->rows.nnz * trs_vector_bytes(b->rows.dtype) : NULL;
    char *lu = kept && (count == b->lanes || !j->factors) ? kept : w->lu;
    if (!count) return;
    if (j->factors) trs_lu_batch_factor[trs_wide(t)][t](j, first, lu, w);
    if (j->factors && kept && lu != kept) copy_lanes(b, j, first, kept, lu);
    if (j->solves) trs_lu_batch_solve_group[trs_wide(t)][t](j, first, lu, w);
}

static void do_groups(void *user, int thread, int threads)
{
    team *t = user;
    const int64_t groups = groups_of(t->b, t->job->s->count);
    int64_t begin;
    (void)threads;
    while ((begin = atomic_fetch_add(&t->next, t->each)) < groups)
        for (int64_t g = begin; g < trs_min(groups, begin + t->each); g++)
            do_group(t->b, t->job, g, &t->b->space[thread]);
}

static void run_here(trs_lu_batch *b, const trs_lu_batch_job *j, const trs_exec *exec)
{
    const trs_lu_batch_rows *r = &b->rows;
    const int64_t work = r->nnz + (j->factors ? b->products : 0) + 1;
    const int64_t groups = groups_of(b, j->s->count);
    team t = {.b = b, .job = j, .each = CLAIM / work + 1};
    trs_context ctx = {.threads = b->threads};
    if (exec->threads > 0) ctx.threads = (int)trs_min(exec->threads, b->threads);
    const int64_t all = groups > INT64_MAX / work ? INT64_MAX : groups * work * b->lanes;
    if (r->n > 0) trs_team_run(trs_team(&ctx, all), do_groups, &t);
}

static int run(trs_lu_batch *b, trs_lu_batch_job *j, const trs_exec *exec)
{
    int rc = TRS_OK;
    if (atomic_exchange(&b->busy, true))
        return trs_fail(TRS_ESTATE, "batch: another thread is in a call with this batch");
    j->rows = &b->rows;
    j->outcome = b->outcome;
    j->kept_code = b->kept_code;
    j->growth_limit = b->growth_limit;
    if (b->there) rc = trs_gpu_lu_batch_run(b->there, j, exec->stream);
    else run_here(b, j, exec);
    atomic_store(&b->busy, false);
    return rc;
}

static const trs_exec default_exec = {0};

static int update(trs_lu_batch *b, const trs_systems *s, const trs_exec *exec)
{
    trs_lu_batch_job j = {.s = s, .factors = true, .keeps = true};
    if (!exec) exec = &default_exec;
    int rc = trs_lu_batch_check(b, s, true);
    if (!rc) rc = check_exec(exec);
    if (rc) return rc;
    if (!b->keep) return trs_fail(TRS_ESTATE, "batch: factors are not kept, see keep");
    return run(b, &j, exec);
}

int trs_lu_batch_update(trs_lu_batch *batch, const trs_systems *systems, const trs_exec *exec)
{
    return trs_call(update(batch, systems, exec));
}

static int solve(trs_lu_batch *b, trs_op op, int nrhs, const trs_systems *s, const void *B,
                 int64_t ldb, void *X, int64_t ldx, const trs_exec *exec)
{
    trs_lu_batch_job j = {.s = s, .op = op, .nrhs = nrhs, .solves = true};
    if (!exec) exec = &default_exec;
    int rc = trs_lu_batch_check(b, s, s && (!s->kept || s->steps || s->omega));
    if (!rc) rc = trs_lu_batch_check_solve(b, op, nrhs, s, B, ldb, X, ldx, exec);
    if (rc) return rc;
    if (s->kept && !b->keep) return trs_fail(TRS_ESTATE, "batch: factors are not kept, see keep");
    j.factors = !s->kept;
    j.keeps = s->kept;
    j.b = trs_view_of(B, ldb, exec->layout);
    j.x = trs_view_of(X, ldx, exec->layout);
    return run(b, &j, exec);
}

int trs_lu_batch_solve(trs_lu_batch *batch, trs_op op, int nrhs, const trs_systems *systems,
                       const void *B, int64_t ldb, void *X, int64_t ldx, const trs_exec *exec)
{
    return trs_call(solve(batch, op, nrhs, systems, B, ldb, X, ldx, exec));
}

/* ---- inquiry -------------------------------------------------------------------------------- */

static int report(const trs_lu_batch *b, int64_t k)
{
    const trs_lu_batch_outcome *o = &b->outcome[k];
    if (o->code == TRS_EPIVOT)
        return trs_fail(TRS_EPIVOT,
                        "system %" PRId64 ", row %" PRId64 ": the pivot is zero or not finite", k,
                        o->row);
    return trs_fail(TRS_EGROWTH, "system %" PRId64 ": the factors grew to %.3g times A", k,
                    o->growth);
}

static int status(trs_lu_batch *b, int64_t *bad, int *code, int64_t *row, double *growth)
{
    int64_t count = 0, first = -1;
    if (!b) return trs_fail(TRS_EARG, "batch is NULL");
    const int rc = b->there ? trs_gpu_lu_batch_outcome(b->there, b->outcome) : TRS_OK;
    if (rc) return rc;
    for (int64_t k = 0; k < b->count; k++) {
        const trs_lu_batch_outcome *o = &b->outcome[k];
        if (code) code[k] = (int)o->code;
        if (row) row[k] = o->row;
        if (growth) growth[k] = o->growth;
        if (!trs_lu_batch_is_bad(o)) continue;
        if (!count++) first = k;
    }
    if (bad) *bad = count;
    if (count) return report(b, first);
    return TRS_OK;
}

int trs_lu_batch_status(trs_lu_batch *batch, int64_t *bad, int *code, int64_t *row, double *growth)
{
    return trs_call(status(batch, bad, code, row, growth));
}

int trs_lu_batch_get_info(const trs_lu_batch *b, trs_lu_batch_info *info)
{
    trs_enter();
    if (!b || !info) return trs_leave(trs_fail(TRS_EARG, "info: batch or info is NULL"));
    *info = (trs_lu_batch_info){.n = b->rows.n, .nnz = b->rows.nnz, .products = b->products};
    info->bytes_host = bytes_here(b);
    if (b->there) {
        info->lanes = 1;
        info->workers = trs_gpu_lu_batch_workers(b->there);
        info->bytes_device = trs_gpu_lu_batch_bytes(b->there);
        info->kernel = trs_gpu_lu_batch_kernel(b->there);
    } else {
        info->lanes = b->lanes;
        info->workers = b->threads;
        info->kernel = "rows, systems side by side";
    }
    trs_leave_silently();
    return TRS_OK;
}
