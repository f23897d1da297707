/* cpu_columns.c: forward substitution by columns, the solver that doc/adding-a-solver.md builds.
 *
 *     x = b;   for j = 1..n:   x(j) = x(j) / L(j, j),   x(i) = x(i) - L(i, j) x(j)  for i > j
 *
 * cpu-serial takes a row at a time (left-looking): it reads many x and writes one.  Here a column is taken at a time
 * (right-looking): one x is read and many are written, which costs a load and a store for each entry.
 * Bytes: those of cpu-serial, and 2 elem for each entry below the diagonal. */
#ifndef T

#include "config.h"

#include "base/debug.h"
#include "columns.h"
#include "solvers/solver.h"

#include <string.h>

typedef struct columns_data {
    trs_columns by;
    void *val; /* [nnz] in that order */
} columns_data;

#define TRS_BODY "example/cpu_columns.c"
#include "base/each_type.h"

typedef void (*gather_fn)(const trs_instance *);
typedef void (*solve_fn)(const trs_instance *, const trs_job *);

/* ---- before it is built -------------------------------------------------------------------------- */

/* Seconds for which x is written at places that are neither in the cache nor next to one another. */
static double scatter(const trs_shape *s, const trs_machine *m, double updates)
{
    if (2 * (double)s->n * s->elem < m->cpu_cache) return 0;
    return updates * m->columns_scatter * s->nrhs;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const trs_columns *columns = trs_prospect_analysis(p, &trs_column_analysis, true);
    const double updates = (double)(s->nnz - s->n);
    (void)built;
    c->bytes = trs_cpu_stream(m, s, (double)s->nnz, (double)s->n) +
               2 * s->elem * updates * m->cpu_cached * s->nrhs +
               scatter(s, m, columns ? columns->apart * updates : updates);
    c->latency = trs_cpu_wait(m, s->waiting, (double)s->n * s->nrhs, c->bytes);
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return 8 * (s->n + 1) + s->nnz * (int64_t)(sizeof(int64_t) + sizeof(int32_t) + s->elem);
}

/* ---- built ----------------------------------------------------------------------------------------- */

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *L = &inst->op->tri;
    const void *columns;
    int rc = trs_operator_analysis(inst->op, &trs_column_analysis, true, &columns);
    if (rc) return rc;
    columns_data *d = inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory for cpu-columns");
    rc = trs_columns_copy(ctx, L, columns, &d->by);
    if (!rc) d->val = trs_new(ctx, L->nnz, trs_size(L->dtype), "values by columns");
    return rc || d->val ? rc : TRS_EMEM;
}

static int update(trs_instance *inst, void *stream)
{
    static const gather_fn table[] = TRS_PER_TYPE(gather);
    const int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    (void)stream;
    if (!rc) table[inst->op->tri.dtype](inst);
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[inst->op->tri.dtype](inst, job);
    return TRS_OK;
}

static void release(trs_instance *inst)
{
    columns_data *d = inst->data;
    trs_columns_free(inst->ctx, &d->by);
    trs_free(&inst->ctx->mem, d->val);
    trs_free(&inst->ctx->mem, d);
}

const trs_solver trs_solver_cpu_columns = {
    .name = "cpu-columns",
    .about = "CSC, forward substitution by columns (an example)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
};

#else

#include "base/number/divide.h"

static void FN(gather)(const trs_instance *inst)
{
    const columns_data *d = inst->data;
    const T *from = inst->op->tri.val;
    T *to = d->val;
    for (int64_t q = 0; q < inst->op->tri.nnz; q++) to[q] = from[d->by.place[q]];
}

/* One right-hand side: x has b, and is overwritten. */
static void FN(substitute)(const columns_data *d, int32_t n, T *x, int64_t xs, bool cj)
{
    const int32_t *row = d->by.row;
    const T *Lx = d->val;
    for (int32_t j = 0; j < n; j++) {
        int64_t q = d->by.ptr[j];
        TRS_ASSERT(row[q] == j);
        const T xj = x[j * xs] =
            FN(divide)(x[j * xs], cj ? CONJ(Lx[q]) : Lx[q]); /* x(j) / L(j, j) */
        for (q++; q < d->by.ptr[j + 1]; q++)
            x[row[q] * xs] -= (cj ? CONJ(Lx[q]) : Lx[q]) * xj; /* x(i) - L(i, j) x(j) */
    }
}

static void FN(solve)(const trs_instance *inst, const trs_job *job)
{
    const int32_t n = inst->op->tri.n;
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        for (int32_t i = 0; i < n; i++) x[i * job->x.rs] = b[i * job->b.rs];
        FN(substitute)(inst->data, n, x, job->x.rs, job->conj);
    }
}

#endif
