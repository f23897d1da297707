/* block_factors.cu: factors by blocks on a device: their pattern there, the order of the rows, and launches.
 *
 * Rows are ordered by level, so all that a row needs comes before it.  In solves the rows of a task are of one level: where a
 * level ends, teams of the last task have none. */
#include "config.h"

#include "kernels.cuh"

/* M, or M', on the device. */
struct block_side {
    int64_t *begin[2];
    int32_t *idx;
    int32_t *order; /* of solves */
    int64_t lower_tasks, tasks;
    int blocks; /* of the launch */
    void *val;  /* of M' alone: M's are the caller's */
};

struct trs_block_factors {
    trs_context *ctx;
    int b;
    int32_t n, longest;
    int64_t count;
    trs_dtype dtype;
    bool diagonal_only, cholesky, wide;
    block_side side[2];
    int32_t *order; /* of the factorisation */
    int64_t *src, *step, *from;
    trs_block_product *product;
    void *scratch;
    int blocks;
    size_t shared;
};

/* ---- schedules ----------------------------------------------------------------------------------------- */

/* Rows of the host in the order of tasks. */
struct task_list {
    int32_t *order;
    int64_t count; /* places */
    int32_t levels;
};

static int32_t count_levels(const int32_t *level, int32_t n)
{
    int32_t levels = 0;
    for (int32_t i = 0; i < n; i++) levels = max(levels, level[i] + 1);
    return levels;
}

/* start [levels+1] = where each level begins, if each takes full tasks of `rows`. */
static int64_t place_levels(const int32_t *level, int32_t n, int32_t levels, int rows,
                            int64_t *start)
{
    for (int32_t l = 0; l <= levels; l++) start[l] = 0;
    for (int32_t i = 0; i < n; i++) start[level[i] + 1]++;
    for (int32_t l = 0; l < levels; l++)
        start[l + 1] = start[l] + (start[l + 1] + rows - 1) / rows * rows;
    return start[levels];
}

/* Append the rows by level, in tasks of `rows`. */
static int append_rows(trs_context *ctx, const int32_t *level, int32_t n, int rows, task_list *t)
{
    t->levels = count_levels(level, n);
    int64_t *start =
        (int64_t *)trs_new(ctx, (int64_t)t->levels + 1, sizeof *start, "the order of rows");
    if (!start) return TRS_EMEM;
    const int64_t places = place_levels(level, n, t->levels, rows, start);
    int32_t *order = (int32_t *)trs_new(ctx, t->count + places, sizeof *order, "the order of rows");
    if (order) {
        for (int64_t k = 0; k < t->count + places; k++) order[k] = k < t->count ? t->order[k] : -1;
        for (int32_t i = 0; i < n; i++) order[t->count + start[level[i]]++] = i;
    }
    trs_free(&ctx->mem, start);
    if (!order) return TRS_EMEM;
    trs_free(&ctx->mem, t->order);
    t->order = order;
    t->count += places;
    return TRS_OK;
}

/* Blocks so that the warps have several levels in progress. */
static double blocks_for(int64_t tasks, int32_t levels, int threads)
{
    const double in_progress = 8, warps = (double)tasks / levels * in_progress;
    return max(warps / (threads / WARP), (double)multiprocessors());
}

static int make_order(trs_block_factors *f, const trs_block_triangles *p, block_side *s)
{
    const int rows = WARP / (f->wide ? WIDE : NARROW);
    task_list t = {};
    int32_t levels = 0;
    int rc = append_rows(f->ctx, p->level[0], f->n, rows, &t);
    s->lower_tasks = t.count / rows;
    levels = t.levels;
    if (!rc) rc = append_rows(f->ctx, p->level[1], f->n, rows, &t);
    s->tasks = t.count / rows;
    if (!rc) s->order = device_copy(f->ctx, t.order, t.count, "the order of rows");
    trs_free(&f->ctx->mem, t.order);
    if (rc || !s->order) return TRS_EMEM;
    const double wanted = blocks_for(s->tasks, levels + t.levels, SOLVE_THREADS);
    return for_type(f->dtype, [&]<class T>(T) {
        const void *kernel = solve_kernel_of<T>(f->b, f->wide);
        s->blocks = waiting_blocks(kernel, SOLVE_THREADS, 0, wanted);
        return int(s->blocks > 0 ? TRS_OK : TRS_EDEVICE);
    });
}

/* ---- copies -------------------------------------------------------------------------------------------- */

/* *to = a copy of from; NULL: none is needed. */
template <class V> static int put(trs_block_factors *f, V *&to, const V *from, int64_t count)
{
    if (!from) return TRS_OK;
    to = device_copy(f->ctx, from, count, "factors by blocks");
    return to ? TRS_OK : TRS_EMEM;
}

static int put_side(trs_block_factors *f, const trs_block_triangles *p, block_side *s)
{
    int rc = put(f, s->begin[0], p->begin[0], (int64_t)f->n + 1);
    if (!rc) rc = put(f, s->begin[1], p->begin[1], (int64_t)f->n + 1);
    if (!rc) rc = put(f, s->idx, p->idx, f->count);
    return rc ? rc : make_order(f, p, s);
}

/* Shared memory for the rows of FACTOR_THREADS threads, or, where they are too long, memory of the device. */
static int make_room(trs_block_factors *f, int32_t levels)
{
    enum { MOST_SHARED = 96 << 10, WARPS = FACTOR_THREADS / WARP };
    const size_t block = (size_t)(f->b * f->b) * trs_size(f->dtype);
    const bool fits = ((size_t)f->longest + 2) * block * WARPS <= MOST_SHARED;
    f->shared = (fits ? (size_t)f->longest + 2 : 2) * block * WARPS;
    const int rc = for_type(f->dtype, [&]<class T>(T) {
        const void *kernel = factor_kernel_of<T>(f->b);
        const int allowed = allow_shared(kernel, f->shared);
        if (allowed) return allowed;
        f->blocks = waiting_blocks(kernel, FACTOR_THREADS, f->shared,
                                   blocks_for(f->n, levels, FACTOR_THREADS));
        return int(f->blocks > 0 ? TRS_OK : TRS_EDEVICE);
    });
    if (rc || fits) return rc;
    f->scratch = trs_gpu_new(f->ctx, (int64_t)f->blocks * WARPS * f->longest, block, "long rows");
    return f->scratch ? TRS_OK : TRS_EMEM;
}

static int put_factors(trs_block_factors *f, const trs_block_pattern *p)
{
    const trs_block_triangles *m = &p->side[0];
    const int64_t lower = m->begin[0][f->n];
    task_list t = {};
    int rc = append_rows(f->ctx, m->level[0], f->n, 1, &t);
    if (!rc) rc = put(f, f->order, t.order, f->n);
    trs_free(&f->ctx->mem, t.order);
    const int64_t read = f->cholesky ? f->count - lower : f->count;
    if (!rc) rc = put(f, f->src, p->src, read * f->b * f->b);
    if (!rc) rc = put(f, f->step, p->step, lower + 1);
    if (!rc) rc = put(f, f->product, p->product, p->step[lower]);
    return rc ? rc : make_room(f, t.levels);
}

static int put_transposed(trs_block_factors *f, const trs_block_pattern *p)
{
    if (!p->side[1].begin[0]) return TRS_OK;
    int rc = put_side(f, &p->side[1], &f->side[1]);
    if (!rc) rc = put(f, f->from, p->from, f->count);
    if (rc) return rc;
    f->side[1].val =
        trs_gpu_new(f->ctx, f->count * f->b * f->b, trs_size(f->dtype), "factors by blocks");
    return f->side[1].val ? TRS_OK : TRS_EMEM;
}

/* The longest row, and whether rows have more blocks than a narrow team takes in two rounds. */
static void measure(trs_block_factors *f, const trs_block_triangles *m)
{
    const int64_t *lower = m->begin[0], *upper = m->begin[1];
    for (int32_t i = 0; i < f->n; i++)
        f->longest =
            max(f->longest, (int32_t)(lower[i + 1] - lower[i] + 1 + upper[i + 1] - upper[i]));
    f->wide = f->count - f->n > (int64_t)2 * f->n * (NARROW / f->b);
}

int trs_gpu_blocks_new(trs_context *ctx, const trs_block_pattern *p, trs_block_factors **to)
{
    *to = NULL;
    trs_block_factors *f = (trs_block_factors *)trs_alloc_zero(&ctx->mem, 1, sizeof *f);
    if (!f) return trs_fail(TRS_EMEM, "out of memory for factors");
    f->ctx = ctx;
    f->b = p->b, f->n = p->n, f->count = p->count;
    f->dtype = p->dtype;
    f->diagonal_only = p->diagonal_only, f->cholesky = p->cholesky;
    measure(f, &p->side[0]);
    int rc = put_side(f, &p->side[0], &f->side[0]);
    if (!rc) rc = put_factors(f, p);
    if (!rc) rc = put_transposed(f, p);
    if (rc) trs_gpu_blocks_free(f);
    else *to = f;
    return rc;
}

void trs_gpu_blocks_free(trs_block_factors *f)
{
    if (!f) return;
    trs_context *ctx = f->ctx;
    for (int k = 0; k < 2; k++) {
        block_side *s = &f->side[k];
        device_free(ctx, s->begin[0], s->begin[1], s->idx, s->order, (char *)s->val);
    }
    device_free(ctx, f->order, f->src, f->step, f->from, f->product, (char *)f->scratch);
    trs_free(&ctx->mem, f);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static __global__ void begin_outcome(trs_elimination_outcome *o)
{
    *o = {0, UINT64_MAX, 0, UINT64_MAX, 0, 0};
}

/* A thread has a number of M'. */
template <class T>
static __global__ void transpose_kernel(int64_t numbers, int b, const int64_t *from, const T *val,
                                        T *to)
{
    const int64_t k = index_of_thread();
    if (k >= numbers) return;
    const int64_t p = k / (b * b);
    const int e = (int)(k % (b * b));
    to[k] = val[from[p] * b * b + e % b * b + e / b];
}

template <class T> static int factor(const trs_block_factors *f, const trs_block_job *job)
{
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const block_side *s = &f->side[0];
    factor_args<T> k = {};
    k.n = f->n, k.longest = f->longest;
    k.order = f->order;
    k.lower = s->begin[0], k.upper = s->begin[1], k.idx = s->idx;
    k.src = f->src, k.step = f->step, k.product = f->product;
    k.a = (const T *)job->a, k.val = (T *)job->val, k.scratch = (T *)f->scratch;
    k.diagonal_only = f->diagonal_only, k.cholesky = f->cholesky;
    k.shift = job->shift, k.boost = job->boost, k.outcome = job->outcome;
    begin_outcome<<<1, 1, 0, stream>>>(job->outcome);
    const int64_t numbers = f->count * f->b * f->b;
    int rc = cuda_status(cudaMemsetAsync(k.val, 0xff, (size_t)numbers * sizeof(T), stream),
                         "factors by blocks");
    if (!rc)
        rc = launch_together(factor_kernel_of<T>(f->b), f->blocks, FACTOR_THREADS, k, stream,
                             f->shared);
    if (rc || !f->from) return rc;
    transpose_kernel<<<blocks_of(numbers), PLAIN, 0, stream>>>(numbers, f->b, f->from, k.val,
                                                               (T *)f->side[1].val);
    return launched();
}

int trs_gpu_blocks_factor(trs_block_factors *f, const trs_block_job *job)
{
    return for_type(f->dtype, [&]<class T>(T) { return factor<T>(f, job); });
}

/* ---- solves -------------------------------------------------------------------------------------------- */

/* How the rows of L and of U end, as in ilu_blocks.c. */
static void choose_ends(const trs_block_factors *f, bool transposed, block_end end[2])
{
    end[0] = f->diagonal_only || transposed ? END_SCALE : END_PLAIN;
    end[1] = transposed ? END_PLAIN : END_SCALE;
    if (f->diagonal_only) end[1] = END_ADD;
}

template <class T> static int solve(const trs_block_factors *f, const trs_block_solve *job)
{
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const block_side *s = &f->side[job->transposed];
    const int64_t n = (int64_t)f->n * f->b;
    solve_args<T> k = {};
    k.n = f->n;
    k.lower_tasks = s->lower_tasks, k.tasks = s->tasks;
    k.order = s->order, k.idx = s->idx;
    k.begin[0] = s->begin[0], k.begin[1] = s->begin[1];
    k.val = (const T *)(job->transposed ? s->val : job->val);
    k.y[0] = (T *)job->work, k.y[1] = (T *)job->work + n;
    k.conj = job->conj;
    choose_ends(f, job->transposed, k.end);
    const void *kernel = solve_kernel_of<T>(f->b, f->wide);
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r++) {
        k.b = from_column(typed<T>(job->b), r);
        k.x = from_column(typed<T>(job->x), r);
        rc = cuda_status(cudaMemsetAsync(job->work, 0xff, 2 * (size_t)n * sizeof(T), stream),
                         "a solve by blocks");
        if (!rc) rc = launch_together(kernel, s->blocks, SOLVE_THREADS, k, stream);
    }
    return rc;
}

int trs_gpu_blocks_solve(const trs_block_factors *f, const trs_block_solve *s)
{
    return for_type(f->dtype, [&]<class T>(T) { return solve<T>(f, s); });
}
