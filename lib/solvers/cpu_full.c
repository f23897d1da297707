/* cpu_full.c: the triangle of a part as a full matrix on the host, for cpu-dense and dense-serial. */
#ifndef T

#include "config.h"

#include "cpu_full.h"

#define TRS_BODY "solvers/cpu_full.c"
#include "base/each_type.h"

typedef void (*fill_fn)(const trs_part *, int64_t rs, int64_t cs);

static int fill(trs_part *part, int64_t rs, int64_t cs)
{
    static const fill_fn table[] = TRS_PER_TYPE(fill);
    table[part->side->tri.dtype](part, rs, cs);
    return TRS_OK;
}

int trs_cpu_full_by_rows(trs_part *part)
{
    return fill(part, part->side->tri.n, 1);
}

int trs_cpu_full_by_columns(trs_part *part)
{
    return fill(part, 1, part->side->tri.n);
}

int64_t trs_cpu_full_bytes(const trs_shape *s)
{
    return (int64_t)(s->elem * (double)s->n * (double)s->n);
}

/* Half of the square is read. */
void trs_cpu_full_cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const double n = (double)s->n, entries = 0.5 * n * (n + 1);
    const bool cached = n * n * s->elem < TRS_CACHE;
    const double each = m->cpu_full * (s->is_complex ? TRS_COMPLEX_TIMES : 1);
    c->bytes =
        (entries * (s->elem * (cached ? m->cpu_cached : m->cpu_byte) + each) + n * m->cpu_row) *
        s->nrhs;
    c->hops = trs_cpu_wait(m, 1, n * s->nrhs, c->bytes);
}

int trs_cpu_full_analyse(trs_part *part)
{
    const int64_t n = part->side->tri.n;
    part->data = trs_new(part->ctx, n * n, trs_size(part->side->tri.dtype), "the full matrix");
    return part->data ? TRS_OK : TRS_EMEM;
}

void trs_cpu_full_release(trs_part *part)
{
    trs_free(&part->ctx->mem, part->data);
}

#else

static void FN(fill)(const trs_part *part, int64_t rs, int64_t cs)
{
    const trs_tri *L = &part->side->tri;
    const int64_t n = L->n;
    T *A = part->data;
    for (int64_t k = 0; k < n * n; k++) A[k] = (T)-0.0;
    for (int32_t i = 0; i < n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++)
            A[i * rs + L->idx[p] * cs] = ((const T *)L->val)[p] + 0; /* -0 becomes +0 */
}

#endif
