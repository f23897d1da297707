/* cpu_dense.c: forward substitution by columns on the sparse triangle as a full matrix.
 * Source: slides "GPU-accelerated sparse triangular solver", page "Basic Algorithm", "Naive CPU" of page "Results":
 *
 *     for i = 1, n:  x(i) = x(i) / L(i, i);  x(i+1:n) = x(i+1:n) - L(i+1:n, i) x(i)
 *
 * The page's loop divides nowhere because its L has a unit diagonal; here the diagonal is divided by.  A zero that is
 * stored is multiplied like any number; what is not stored is passed over, so that a NaN or Inf in b does not reach
 * rows that do not depend on it (cpu_full.h).
 * It reads elem n^2 / 2 bytes.  Beyond the memory limit it is refused. */
#ifndef T

#include "config.h"

#include "cpu_full.h"

#define TRS_BODY "solvers/dense/cpu_dense.c"
#include "base/each_type.h"

typedef void (*solve_fn)(const trs_instance *, const trs_job *);

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[inst->op->tri.dtype](inst, job);
    return TRS_OK;
}

const trs_solver trs_solver_cpu_dense = {
    .name = "cpu-dense",
    .about = "the triangle as a full matrix, column by column (the seed's naive one)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .estimate = trs_cpu_full_estimate,
    .bytes = trs_cpu_full_bytes,
    .build = trs_cpu_full_build,
    .update = trs_cpu_full_by_columns,
    .solve = solve,
    .release = trs_cpu_full_release,
};

#else

#include "base/number/divide.h"

static void FN(solve)(const trs_instance *inst, const trs_job *job)
{
    const int64_t n = inst->op->tri.n, bs = job->b.rs, xs = job->x.rs;
    const T *A = inst->data;
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        for (int64_t i = 0; i < n; i++) x[i * xs] = b[i * bs];
        for (int64_t j = 0; j < n; j++) {
            const T *a = A + j * n; /* column j */
            T xj = x[j * xs] = FN(quotient)(x[j * xs], job->conj ? CONJ(a[j]) : a[j]);
            for (int64_t i = j + 1; i < n; i++)
                if (TRS_IS_ENTRY(a[i])) x[i * xs] -= (job->conj ? CONJ(a[i]) : a[i]) * xj;
        }
    }
}

#endif
