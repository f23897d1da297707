/* cpu_full.c: keeps the triangle of an operator as a full matrix on the host, for the CPU's dense solvers. */
#ifndef T

#include "config.h"

#include "cpu_full.h"

#define TRS_BODY "solvers/dense/cpu_full.c"
#include "base/each_type.h"

typedef void (*fill_fn)(const trs_instance *, int64_t rs, int64_t cs);

static int fill(trs_instance *inst, int64_t rs, int64_t cs)
{
    static const fill_fn table[] = TRS_PER_TYPE(fill);
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (!rc) table[inst->op->tri.dtype](inst, rs, cs);
    return rc;
}

int trs_cpu_full_by_rows(trs_instance *inst, void *stream)
{
    (void)stream;
    return fill(inst, inst->op->tri.n, 1);
}

int trs_cpu_full_by_columns(trs_instance *inst, void *stream)
{
    (void)stream;
    return fill(inst, 1, inst->op->tri.n);
}

int64_t trs_cpu_full_bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return (int64_t)(s->elem * (double)s->n * (double)s->n);
}

/* Half of the square is read. */
const char *trs_cpu_full_estimate(const trs_prospect *p, const trs_instance *built,
                                  const trs_machine *m, trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    const double n = (double)s->n, entries = 0.5 * n * (n + 1);
    const bool cached = n * n * s->elem < m->cpu_cache;
    const double each = m->cpu_full * (s->is_complex ? m->cpu_complex : 1);
    c->bytes =
        (entries * (s->elem * (cached ? m->cpu_cached : m->cpu_byte) + each) + n * m->cpu_row) *
        s->nrhs;
    c->latency = trs_cpu_wait(m, 1, n * s->nrhs, c->bytes);
    c->update = n * n * s->elem * m->cpu_byte;
    return NULL;
}

int trs_cpu_full_build(trs_instance *inst)
{
    const int64_t n = inst->op->tri.n;
    inst->data = trs_new(inst->ctx, n * n, trs_size(inst->op->tri.dtype), "the full matrix");
    return inst->data ? TRS_OK : TRS_EMEM;
}

void trs_cpu_full_release(trs_instance *inst)
{
    trs_free(&inst->ctx->mem, inst->data);
}

#else

static void FN(fill)(const trs_instance *inst, int64_t rs, int64_t cs)
{
    const trs_tri *L = &inst->op->tri;
    const int64_t n = L->n;
    T *A = inst->data;
    for (int64_t k = 0; k < n * n; k++) A[k] = (T)-0.0;
    for (int32_t i = 0; i < n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++)
            A[i * rs + L->idx[p] * cs] = ((const T *)L->val)[p] + 0; /* -0 becomes +0 */
}

#endif
