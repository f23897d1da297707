/* peers.cu: cuda-peers: one triangle over several devices of a host, cut by rows (README.md). */
#include "config.h"

#include "parts.cuh"

static int build(trs_instance *inst)
{
    peers_data *d = data_new<peers_data>(inst->ctx, &inst->data);
    return d ? peers_cut(inst->op, d) : TRS_EMEM;
}

/* Solves that were enqueued on the stream still read the values before. */
static int update(trs_instance *inst, void *stream)
{
    int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    if (!rc) rc = trs_gpu_wait(stream);
    if (!rc) rc = peers_take((const peers_data *)inst->data, inst->op->tri.val);
    const int back = trs_gpu_use(inst->ctx);
    return rc ? rc : back;
}

static void release(trs_instance *inst)
{
    peers_free((peers_data *)inst->data);
    if (trs_gpu_use(inst->ctx)) trs_forget();
    trs_free(&inst->ctx->mem, inst->data);
}

/* Devices of the list; one that is named twice counts once. */
static int devices_of(const trs_prospect *p)
{
    int count = 1;
    for (int k = 1; p->ctx && k < p->ctx->device_count; k++)
        count += p->ctx->devices[k] != p->ctx->devices[k - 1];
    return count;
}

/* Devices share the bytes.  A level costs each of them its latency; the way between two is paid once, and neglected.
 * Columns are solved one after the other. */
static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    trs_prospect one = *p;
    if (p->shape.longest > PEERS_LONGEST) return "rows are too long for a cut";
    one.shape.nrhs = 1;
    dataflow_cost(&one.shape, m, c);
    c->bytes *= (double)p->shape.nrhs / devices_of(p);
    c->sync *= p->shape.nrhs;
    c->latency = p->shape.nrhs * (double)p->shape.levels * m->gpu_latency * m->dataflow_wide_level;
    return NULL;
}

/* Of one of the devices. */
static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const int64_t all =
        s->nnz * (int64_t)(2 * s->elem + 5) + s->n * (int64_t)(60 + 4 * (int64_t)s->elem);
    return all / devices_of(p);
}

const trs_solver trs_solver_peers = {
    .name = "cuda-peers",
    .about = "rows cut over several devices (trs_options.devices)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .several = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = peers_solve,
    .release = release,
    .work_create = peers_work_create,
    .work_destroy = peers_work_destroy,
};
