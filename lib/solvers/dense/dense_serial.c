/* dense_serial.c: forward substitution by rows on the full matrix.
 * Source: "Dense Lower Triangular Solver", section "Serial Solution":
 *
 *     for i:  for j < i:  b(i) = b(i) - L(i, j) x(j);   x(i) = b(i) / L(i, i)
 *
 * The matrix is kept by rows, so that the inner loop reads it once in order.  What is not stored is passed over, so
 * that a NaN or Inf in b reaches only the x that depend on it (cpu_full.h).
 * It reads elem n^2 / 2 bytes.  Its time is that of the additions of a row, each of which waits for the one before. */
#ifndef T

#include "config.h"

#include "cpu_full.h"

#define TRS_BODY "solvers/dense/dense_serial.c"
#include "base/each_type.h"

typedef void (*solve_fn)(const trs_instance *, const trs_job *);

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[inst->op->tri.dtype](inst, job);
    return TRS_OK;
}

const trs_solver trs_solver_dense_serial = {
    .name = "dense-serial",
    .about = "forward substitution by rows on the full triangle, CPU (seed)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .estimate = trs_cpu_full_estimate,
    .bytes = trs_cpu_full_bytes,
    .build = trs_cpu_full_build,
    .update = trs_cpu_full_by_rows,
    .solve = solve,
    .release = trs_cpu_full_release,
};

#else

#include "base/number/divide.h"

static void FN(solve)(const trs_instance *inst, const trs_job *job)
{
    const int64_t n = inst->op->tri.n, bs = job->b.rs, xs = job->x.rs;
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        for (int64_t i = 0; i < n; i++) {
            const T *l = (const T *)inst->data + i * n; /* row i */
            T bi = b[i * bs];
            for (int64_t j = 0; j < i; j++)
                if (TRS_IS_ENTRY(l[j])) bi -= (job->conj ? CONJ(l[j]) : l[j]) * x[j * xs];
            x[i * xs] = FN(quotient)(bi, job->conj ? CONJ(l[i]) : l[i]);
        }
    }
}

#endif
