/* rows.cu: the host side of the row kernel: its shape for a pattern, and its launch. */
#include "config.h"

#include "rows_shapes.cuh"

#include <math.h>

static const void *kernel_for(trs_dtype t, row_shape s)
{
    switch (t) {
    case TRS_F32:
        return row_kernel_f32(s);
    case TRS_F64:
        return row_kernel_f64(s);
    case TRS_C32:
        return row_kernel_c32(s);
    default:
        return row_kernel_c64(s);
    }
}

/* ---- the shape ------------------------------------------------------------------------------------------- */

/* Rows of a node, where runs of equal rows have so many on average: the fewest that cut such a run into as few nodes. */
static int rows_for(double run)
{
    int best = 1;
    for (int rows = 2; rows <= ROW_MOST_ROWS; rows++)
        if (ceil(run / rows) < ceil(run / best)) best = rows;
    return run < 1.5 ? 1 : best;
}

/* The shape with the fewest places for the longest row; lanes 0: there is none. */
static row_shape shape_with(int rows, int longest)
{
    row_shape best = {0, 0, rows};
    for_shapes([&]<int W, int E, int R>() {
        if (R == rows && W * E >= longest && !best.lanes) best = {W, E, R};
    });
    return best;
}

static row_shape shape_for(const trs_elimination_pattern *p, const elimination_shape *s)
{
    const double run = p->n > 0 ? (double)p->n / (double)(p->n - s->alike) : 1;
    row_shape shape = {0, 0, 0};
    for (int rows = rows_for(run); rows > 0 && !shape.lanes; rows--)
        shape = shape_with(rows, s->longest);
    return shape;
}

static double row_cost(const trs_elimination_pattern *p, const elimination_shape *s)
{
    if (!shape_for(p, s).lanes || s->last_place > ROW_MOST) return INFINITY;
    return 0.7e-6 * p->levels + 40e-12 * (double)p->nnz;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

static void row_destroy(trs_context *ctx, void *data)
{
    row_data *d = (row_data *)data;
    row_schedule_free(ctx, &d->schedule);
    trs_gpu_free(ctx, d->numbers);
    trs_free(&ctx->mem, d);
}

/* As many blocks as the warps of ten levels fill, at least one an SM: the looks of those that wait slow down the others. */
static int count_blocks(const trs_elimination_pattern *p, const row_schedule *s)
{
    const double levels = (double)p->levels / s->shape.rows, warps = ROW_THREADS / ROW_WARP;
    const double ten = levels > 0 ? 10 * s->tasks / levels / warps : 0;
    return waiting_blocks(kernel_for(p->dtype, s->shape), ROW_THREADS, 0,
                          fmax(ten, multiprocessors()));
}

static int make(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape, row_data *d)
{
    const int rc = row_schedule_make(ctx, p, shape, &d->schedule);
    if (rc) return rc;
    d->blocks = count_blocks(p, &d->schedule);
    if (d->blocks < 1) return TRS_ESUPPORT;
    d->number_bytes = d->schedule.numbers * (int64_t)trs_size(p->dtype);
    d->numbers = trs_gpu_new(ctx, d->number_bytes, 1, "U of elimination");
    return d->numbers ? TRS_OK : TRS_EMEM;
}

int row_create(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape, void **data)
{
    row_data *d = data_new<row_data>(ctx, data);
    if (!d) return TRS_EMEM;
    d->schedule.shape = shape;
    const int rc = make(ctx, p, shape, d);
    if (!rc) return TRS_OK;
    row_destroy(ctx, d);
    *data = NULL;
    return rc;
}

static int create(trs_context *ctx, const trs_elimination_pattern *p, const elimination_shape *s,
                  void **data)
{
    return row_create(ctx, p, shape_for(p, s), data);
}

/* ---- a run ----------------------------------------------------------------------------------------------- */

static int row_run(const trs_elimination_pattern *p, const void *data,
                   const trs_elimination_job *job)
{
    const row_data *d = (const row_data *)data;
    const row_schedule &s = d->schedule;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    if (s.tasks == 0) return TRS_OK;
    const cudaError_t e = cudaMemsetAsync(d->numbers, 0xff, (size_t)d->number_bytes, stream);
    if (e) return cuda_status(e, "elimination");
    return for_type(p->dtype, [&]<class T>(T) {
        const row_args<T> g = {
            s, rules_of(p, job), p->scale, (const T *)job->a, (T *)job->val, (T *)d->numbers};
        return launch_together(kernel_for(p->dtype, s.shape), d->blocks, ROW_THREADS, g, stream);
    });
}

const elimination_kernel row_elimination = {"rows", row_cost, create, row_run, row_destroy};
