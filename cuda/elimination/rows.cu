/* rows.cu: the host side of the row kernel: which shape it has for a pattern, and its launch. */
#include "config.h"

#include "rows_kernel.cuh"

#include <math.h>

/* Shapes with a kernel, those of one room for entries with the most places a lane first. */
static const row_shape shapes[] = {{2, 4},  {4, 2},  {8, 1},  {4, 4},  {8, 2},  {16, 1}, {8, 4},
                                   {16, 2}, {32, 1}, {16, 4}, {32, 2}, {32, 3}, {32, 4}};

template <class T> static const void *kernel_of(row_shape s)
{
    const void *kernel = NULL;
    const auto match = [&]<int W, int E>(row_lanes<T, W, E>) {
        if (s.lanes == W && s.each == E) kernel = (const void *)row_kernel<row_lanes<T, W, E>>;
    };
    match(row_lanes<T, 2, 4>());
    match(row_lanes<T, 4, 2>());
    match(row_lanes<T, 8, 1>());
    match(row_lanes<T, 4, 4>());
    match(row_lanes<T, 8, 2>());
    match(row_lanes<T, 16, 1>());
    match(row_lanes<T, 8, 4>());
    match(row_lanes<T, 16, 2>());
    match(row_lanes<T, 32, 1>());
    match(row_lanes<T, 16, 4>());
    match(row_lanes<T, 32, 2>());
    match(row_lanes<T, 32, 3>());
    match(row_lanes<T, 32, 4>());
    return kernel;
}

static const void *kernel_for(trs_dtype t, row_shape s)
{
    const void *kernel = NULL;
    for_type(t, [&]<class T>(T) {
        kernel = kernel_of<T>(s);
        return int(TRS_OK);
    });
    return kernel;
}

row_shape row_shape_for(const trs_elimination_pattern *, const elimination_shape *s)
{
    for (const row_shape &x : shapes)
        if (x.lanes * x.each >= s->longest) return x;
    return {0, 0};
}

static double row_cost(const trs_elimination_pattern *p, const elimination_shape *s)
{
    if (!row_shape_for(p, s).lanes || s->last_place > ROW_MOST) return INFINITY;
    return 0.7e-6 * p->levels + 40e-12 * (double)p->nnz;
}

static void row_destroy(trs_context *ctx, void *data)
{
    row_data *d = (row_data *)data;
    row_schedule_free(ctx, &d->schedule);
    trs_gpu_free(ctx, d->numbers);
    trs_free(&ctx->mem, d);
}

int row_create(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape, void **data)
{
    row_data *d = data_new<row_data>(ctx, data);
    if (!d) return TRS_EMEM;
    int rc = row_schedule_make(ctx, p, shape, &d->schedule);
    if (!rc)
        d->numbers = trs_gpu_new(ctx, d->schedule.numbers, trs_size(p->dtype), "U of elimination");
    if (!rc && !d->numbers) rc = TRS_EMEM;
    d->blocks = waiting_blocks(kernel_for(p->dtype, shape), ROW_THREADS, 0, 1e9);
    if (!rc && d->blocks < 1) rc = TRS_ESUPPORT;
    if (!rc) return TRS_OK;
    row_destroy(ctx, d);
    *data = NULL;
    return rc;
}

static int row_create_best(trs_context *ctx, const trs_elimination_pattern *p,
                           const elimination_shape *s, void **data)
{
    return row_create(ctx, p, row_shape_for(p, s), data);
}

static int row_run(const trs_elimination_pattern *p, const void *data,
                   const trs_elimination_job *job)
{
    const row_data *d = (const row_data *)data;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const size_t bytes = (size_t)d->schedule.numbers * trs_size(p->dtype);
    if (d->schedule.tasks == 0) return TRS_OK;
    const cudaError_t e = cudaMemsetAsync(d->numbers, 0xff, bytes, stream);
    if (e) return cuda_status(e, "elimination");
    return for_type(p->dtype, [&]<class T>(T) {
        const row_args<T> g = {d->schedule,       rules_of(p, job), p->scale,
                               (const T *)job->a, (T *)job->val,    (T *)d->numbers};
        return launch_together(kernel_for(p->dtype, d->schedule.shape), d->blocks, ROW_THREADS, g,
                               stream);
    });
}

static int64_t row_bytes(const void *data)
{
    const row_data *d = (const row_data *)data;
    return row_schedule_bytes(&d->schedule);
}

const elimination_kernel row_elimination = {"rows",  row_cost,    row_create_best,
                                            row_run, row_destroy, row_bytes};
