/* dataflow.cu: cuda-dataflow: a triangle as a data flow of its rows, solved in one launch.
 *
 * Level scheduling solves one level after the other, with a launch or a barrier in between.  Here one launch
 * does all levels, and every row waits only for its own operands, not for the slowest row of the level before.
 * README.md explains the method; flow.h is the schedule, single.cu and wide.cu the kernels for one right-hand side,
 * many.cu those for several. */
#include "config.h"

#include "dataflow.cuh"

#include <climits>

/* ---- a triangle ready to be solved -------------------------------------------------------------------------- */

void dataflow_free(trs_context *ctx, dataflow *d)
{
    trs_flow_free(ctx, &d->flow);
    trs_gpu_free(ctx, d->val);
    d->val = d->inv = NULL;
    d->row_node = NULL;
}

/* Of val, inv and row_node; wide.cu copies entries by four. */
static int64_t own_bytes(const dataflow *d)
{
    const int64_t size = (int64_t)trs_size(d->dtype);
    return (d->flow.nodes + d->flow.nnz + 3) * size + d->n * (int64_t)sizeof *d->row_node;
}

int64_t dataflow_bytes(const dataflow *d)
{
    return d->val ? trs_flow_bytes(&d->flow) + own_bytes(d) : 0;
}

int dataflow_new(trs_context *ctx, const trs_pattern *p, trs_dtype dtype, dataflow *d)
{
    trs_flow *f = &d->flow;
    d->n = p->n;
    d->dtype = dtype;
    int rc = trs_flow_make(ctx, p, f);
    if (rc) return rc;
    const size_t size = trs_size(dtype);
    const int64_t numbers = (f->nodes + f->nnz) * (int64_t)size;
    d->val = trs_gpu_new(ctx, own_bytes(d), 1, "values in the order of the solve");
    if (!d->val) return TRS_EMEM;
    d->inv = (char *)d->val + (size_t)f->nnz * size;
    d->row_node = (int32_t *)((char *)d->val + numbers);
    rc = f->wide ? wide_new(d) : single_new(d);
    if (rc) return rc;
    return many_new(ctx, d);
}

int dataflow_take(const dataflow *d, const void *val, void *stream)
{
    return trs_flow_take(&d->flow, d->dtype, val, d->val, d->inv, stream);
}

int64_t dataflow_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs)
{
    if (nrhs > 1) return many_work_bytes(nodes, n, dtype, nrhs);
    return single_work_bytes(nodes, dtype);
}

/* As many right-hand sides at a time as there is a kernel for. */
int dataflow_solve(const dataflow *d, const trs_job *job)
{
    trs_job some = *job;
    int rc = TRS_OK;
    for (int left = job->nrhs; left > 0 && !rc; left -= some.nrhs) {
        const int64_t from = (job->nrhs - left) * (int64_t)trs_size(d->dtype);
        some.nrhs = many_at_once(left);
        some.b.p = (char *)job->b.p + from * job->b.cs;
        some.x.p = (char *)job->x.p + from * job->x.cs;
        if (some.nrhs > 1) rc = many_solve(d, &some);
        else rc = d->flow.wide ? wide_solve(d, &some) : single_solve(d, &some);
    }
    return rc;
}

/* ---- the solver ------------------------------------------------------------------------------------------ */

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const int rc = trs_operator_device(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (rc) return rc;
    const trs_pattern p = trs_pattern_of(inst->op);
    dataflow *d = data_new<dataflow>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    return dataflow_new(ctx, &p, inst->op->tri.dtype, d);
}

static void release(trs_instance *inst)
{
    dataflow_free(inst->ctx, (dataflow *)inst->data);
    trs_free(&inst->ctx->mem, inst->data);
}

static int update(trs_instance *inst, void *stream)
{
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    if (rc) return rc;
    return dataflow_take((const dataflow *)inst->data, inst->op->device.val, stream);
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    const dataflow *d = (const dataflow *)inst->data;
    return dataflow_work_bytes(d->flow.nodes, d->n, d->dtype, nrhs);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return dataflow_solve((const dataflow *)inst->data, job);
}

static void cost_one(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const bool wide = trs_flow_is_wide(s->n, s->levels, s->longest);
    const double entry = (s->elem + 4) * m->gpu_byte + m->gpu_gather;
    const double row = (20 + 3 * s->elem) * m->gpu_byte;
    c->bytes = (double)s->nnz * entry * (wide ? m->dataflow_wide_entries : 1) +
               (double)s->n * row * (wide ? m->dataflow_wide_rows : 1);
    c->sync = m->dataflow_launches * m->gpu_launch;
    c->latency = (double)s->levels * m->gpu_latency * (wide ? m->dataflow_wide_level : 1);
}

void dataflow_cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const int most = many_at_once(INT_MAX);
    for (int left = s->nrhs, times; left > 0; left -= times * many_at_once(left)) {
        trs_cost some = {};
        times = max(left / most, 1);
        if (many_at_once(left) > 1) many_cost(s, many_width(left), m, &some);
        else cost_one(s, m, &some);
        c->bytes += times * some.bytes;
        c->sync += times * some.sync;
        c->latency += times * some.latency;
    }
    const double numbers = (double)s->nnz * 2 * s->elem + (double)s->n * 40;
    c->update = m->dataflow_update_launches * m->gpu_launch +
                m->dataflow_update_copies * numbers * m->gpu_byte;
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    dataflow_cost(&p->shape, m, c);
    return NULL;
}

static int64_t held(const trs_instance *inst)
{
    return dataflow_bytes((const dataflow *)inst->data);
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(2 * s->elem + 12) + s->n * (44 + (int64_t)s->elem);
}

const trs_solver trs_solver_dataflow = {
    .name = "cuda-dataflow",
    .about = "rows in level order, one launch, x is its own flag",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .quick = 150e-6,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .held = held,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
