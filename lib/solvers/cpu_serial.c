/* cpu_serial.c: forward substitution by rows in one thread, with which every other solver is compared.
 *
 *     x(i) = (b(i) - L(i, 1:i-1) x(1:i-1)) / L(i, i)
 *
 * It reads and writes 12 nnz + 20 n bytes at best.  That is its time on triangles with wide levels; on deep ones it is
 * the dependency latency of multiply, subtract, divide, store and load. */
#ifndef T

#include "config.h"

#include "solver.h"

#define TRS_BODY "solvers/cpu_serial.c"
#include "base/each_type.h"

typedef void (*solve_fn)(const trs_instance *, const trs_job *);

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[inst->op->tri.dtype](inst, job);
    return TRS_OK;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    c->bytes = trs_cpu_stream(m, s, (double)s->nnz, (double)s->n);
    c->latency = trs_cpu_wait(m, s->waiting, (double)s->n * s->nrhs, c->bytes);
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    (void)p;
    return 0;
}

/* It solves with the arrays of the operator, and has none of its own. */
static int update(trs_instance *inst, void *stream)
{
    (void)stream;
    return trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
}

const trs_solver trs_solver_cpu_serial = {
    .name = "cpu-serial",
    .about = "CSR, forward substitution by one thread",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .serial_bits = true,
    .estimate = estimate,
    .bytes = bytes,
    .update = update,
    .solve = solve,
};

#else

#include "cpu_row.h"

static void FN(solve)(const trs_instance *inst, const trs_job *job)
{
    FN(all_rows)(&inst->op->tri, 0, inst->op->tri.n, NULL, job);
}

#endif
