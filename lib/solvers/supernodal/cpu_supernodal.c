/* cpu_supernodal.c: forward substitution by dense blocks, for factors; README.md says how. */
#include "config.h"

#include "solvers/contiguous.h"
#include "supernodal.h"

#include "base/debug.h"

#include <math.h>
#include <string.h>

/* ---- pattern and values --------------------------------------------------------------------------- */

static void release(trs_instance *inst)
{
    supernodal *d = inst->data;
    void *all[] = {d->node, d->list, d->from, d->count, d->column, d->block, d->order, d->top, d};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) trs_free(&inst->ctx->mem, all[k]);
}

static void *copy_of(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *to = trs_new(ctx, count, size, "nodes");
    if (to) memcpy(to, from, (size_t)count * size);
    return to;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const void *found;
    const int rc = trs_operator_analysis(inst->op, &supernodal_analysis, true, &found);
    if (rc) return rc;
    const supernodal_pattern *p = found;
    supernodal *d = inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory for cpu-supernodal");
    *d = p->d;
    d->node = copy_of(ctx, p->d.node, d->nodes, sizeof *d->node);
    d->order = d->node ? copy_of(ctx, p->d.order, d->nodes, sizeof *d->order) : NULL;
    return d->order ? supernodal_lists(inst, d, &p->set) : TRS_EMEM;
}

/* Leaves by gather are solved with the arrays of the operator. */
static int update(trs_instance *inst, void *stream)
{
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (rc) return rc;
    return supernodal_fill(inst, inst->data);
}

/* ---- a solve -------------------------------------------------------------------------------------- */

static solving begin(const trs_instance *inst, const trs_job *job, int lanes)
{
    const trs_dtype t = inst->op->tri.dtype;
    return (solving){.d = inst->data,
                     .L = &inst->op->tri,
                     .conj = job->conj,
                     .lanes = lanes,
                     .kernels = lanes == 1 ? supernodal_one[trs_avx512()][t]
                                           : supernodal_many[trs_avx512()][t]};
}

static int solve_one(const trs_instance *inst, const trs_job *job)
{
    solving s = begin(inst, job, 1);
    TRS_ASSERT(job->nrhs == 1);
    s.b = job->b.p;
    s.x = job->x.p;
    supernodal_place(s.d, trs_size(s.L->dtype), job->work, &s);
    supernodal_run(&s, job->threads);
    return TRS_OK;
}

/* ---- several right-hand sides: X by rows of one or two vectors, in scratch -------------------------- */

typedef struct rows { /* right-hand sides first .. first+count-1 of a job */
    const trs_instance *inst;
    const trs_job *job;
    char *x; /* [n][lanes] in the order of memory */
    int first, count, lanes;
} rows;

enum { ROWS = 512 }; /* that a thread copies at a time */

/* For nrhs of several right-hand sides. */
static int lanes_for(trs_dtype dtype, int nrhs)
{
    const int lanes = trs_line(dtype);
    if (nrhs <= lanes) return lanes;
    return 2 * lanes;
}

static void copy_rows(const rows *r, int64_t begin, int64_t end, bool back)
{
    const supernodal *d = r->inst->data;
    const int64_t size = (int64_t)trs_size(r->inst->op->tri.dtype);
    const trs_view v = back ? r->job->x : r->job->b;
    for (int64_t i = begin; i < end; i++) {
        char *row = r->x + in_memory(d, (int32_t)i) * r->lanes * size;
        char *p = (char *)v.p + (i * v.rs + r->first * v.cs) * size;
        for (int k = 0; k < r->count; k++, p += v.cs * size)
            if (back) memcpy(p, row + k * size, (size_t)size);
            else memcpy(row + k * size, p, (size_t)size);
        if (!back) memset(row + r->count * size, 0, (size_t)((r->lanes - r->count) * size));
    }
}

static void take_rows(void *user, int64_t begin, int64_t end)
{
    copy_rows(user, begin, end, false);
}

static void give_rows(void *user, int64_t begin, int64_t end)
{
    copy_rows(user, begin, end, true);
}

static int64_t row_bytes(const trs_instance *inst, int lanes)
{
    return inst->op->tri.n * lanes * (int64_t)trs_size(inst->op->tri.dtype);
}

static void solve_many(const trs_instance *inst, const trs_job *job, int first, int lanes)
{
    const int32_t n = inst->op->tri.n;
    const int left = job->nrhs - first;
    solving s = begin(inst, job, lanes);
    char *x = (char *)job->work + -(uintptr_t)job->work % TRS_LINE;
    rows r = {inst, job, x, first, left < lanes ? left : lanes, lanes};
    s.b = s.x = x;
    supernodal_place(s.d, trs_size(s.L->dtype), x + row_bytes(inst, lanes), &s);
    const int threads = s.d->workers < job->threads ? s.d->workers : job->threads;
    trs_share(threads, n, ROWS, take_rows, &r);
    supernodal_run(&s, threads);
    trs_share(threads, n, ROWS, give_rows, &r);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const int lanes = lanes_for(inst->op->tri.dtype, job->nrhs);
    const bool alone =
        job->nrhs == 1 && job->of_call <= 1; /* else one has the bits of one of many */
    if (alone) return trs_solve_contiguous(inst, job, solve_one);
    for (int r = 0; r < job->nrhs; r += lanes) solve_many(inst, job, r, lanes);
    return TRS_OK;
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    const size_t size = trs_size(inst->op->tri.dtype);
    const int lanes = lanes_for(inst->op->tri.dtype, nrhs);
    const int64_t one = trs_contiguous_bytes(inst, 1) + supernodal_scratch(inst->data, size, 1);
    const int64_t many =
        TRS_LINE + row_bytes(inst, lanes) + supernodal_scratch(inst->data, size, lanes);
    return one > many ? one : many;
}

/* ---- costs ---------------------------------------------------------------------------------------- */

static const supernodal *pattern_of(const trs_prospect *p)
{
    const supernodal_pattern *found = trs_prospect_analysis(p, &supernodal_analysis, true);
    return found ? &found->d : NULL;
}

/* Bytes that a solve reads: tiles and leaves, and rows of L where leaves are these. */
static double stored_bytes(const trs_shape *s, const supernodal *d)
{
    const double values = (double)d->values * s->elem + 8 * (double)d->listed;
    if (d->gather) return values + (double)d->sparse * (s->elem + 4);
    return values + (double)d->sparse * 2;
}

/* Tiles are read once for two vectors of right-hand sides; each of many takes a share of the arithmetic of one. */
static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const supernodal *d = pattern_of(p);
    (void)built;
    if (!d)
        return p->effort == TRS_NEED ? NULL : "hardly any rows or columns have a pattern in common";
    const double bytes = stored_bytes(s, d), numbers = 3 * (double)s->n * s->elem * s->nrhs;
    const double byte = bytes < m->cpu_cache ? m->cpu_cached : m->cpu_byte;
    const double work = (double)d->values * m->tiles_value + (double)d->listed * m->tiles_row +
                        (double)d->nodes * m->tiles_node + (double)d->sparse * m->tiles_entry;
    const double turns = ceil((double)s->nrhs * s->elem / (2 * TRS_LINE));
    const double times = s->nrhs == 1 ? 1 : 1 + s->nrhs * m->tiles_many;
    c->bytes = (bytes * byte * turns + work * times + numbers * byte) / d->workers;
    if (d->workers > 1) c->sync = m->cpu_barrier + (double)d->tops / WIDTH * m->tiles_meet;
    c->update = ((double)s->nnz * (s->elem + 4) + (double)d->values * s->elem) * m->cpu_byte +
                (double)s->nnz * m->tiles_update / d->workers;
    return NULL;
}

/* Before there is an analysis: the most that factors take. */
static int64_t bytes(const trs_prospect *p)
{
    const supernodal *d = pattern_of(p);
    if (!d) return (int64_t)((double)p->shape.nnz * (2 * p->shape.elem + 16)) + 200 * p->shape.n;
    return (int64_t)sizeof *d + d->nodes * (int64_t)(sizeof(node) + 4) +
           d->listed * (d->gather ? 4 : 8) + (d->counted + d->entries) * 2 +
           (int64_t)((double)d->values * p->shape.elem) + TRS_LINE + 4 * (int64_t)d->tops;
}

const trs_solver trs_solver_cpu_supernodal = {
    .name = "cpu-supernodal",
    .about = "supernodes, their inverted diagonal blocks, and sparse leaves",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .reconsiders = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
