/* lu_serial.c: right-looking LU without pivoting, then forward and backward substitution.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", figures 1 and 2:
 *
 *     for i:  for j > i:  A(j, i) = A(j, i) / A(i, i)                        (update L)
 *                         for k > i:  A(j, k) = A(j, k) - A(i, k) A(j, i)    (update U)
 *
 * The matrix is stored by columns here, so the loops over j and k change places; every element sees the same operations
 * in the same order.
 * It does 2/3 n^3 flops, and reads and writes n^3 / 3 elements, which is its time. */
#ifndef T

#include "config.h"

#include "cpu_full.h"
#include "general.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TRS_BODY "solvers/dense/lu_serial.c"
#include "base/each_type.h"

typedef int (*update_fn)(trs_instance *);
typedef void (*solve_fn)(const trs_instance *, const trs_job *);

static int update(trs_instance *inst, void *stream)
{
    static const update_fn table[] = TRS_PER_TYPE(update);
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    return rc ? rc : table[inst->op->tri.dtype](inst);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[inst->op->tri.dtype](inst, job);
    return TRS_OK;
}

static int pivots(const trs_instance *inst, trs_context *ctx, void *u, bool *odd)
{
    (void)ctx, (void)odd;
    trs_general_diagonal(inst, inst->data, u);
    return TRS_OK;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    c->bytes = (double)s->n * (double)s->n * (s->elem * m->cpu_byte + m->cpu_entry) * s->nrhs;
    c->latency = 2 * (double)s->n * m->cpu_row * s->nrhs;
    return NULL;
}

const trs_solver trs_solver_lu_serial = {
    .name = "lu-serial",
    .about = "right-looking LU without pivoting, CPU (seed)",
    .place = TRS_ON_CPU,
    .family = TRS_GENERAL_DENSE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .estimate = estimate,
    .bytes = trs_cpu_full_bytes,
    .build = trs_cpu_full_build,
    .update = update,
    .solve = solve,
    .pivots = pivots,
    .release = trs_cpu_full_release,
};

#else

/* The largest magnitude of a number of the upper triangle, or of the whole matrix. */
static double FN(largest)(const T *A, int64_t n, bool upper)
{
    double most = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < (upper ? j + 1 : n); i++) {
            double a = cabs((double complex)A[i + j * n]);
            if (a > most || isnan(a)) most = a;
        }
    return most;
}

static int FN(update)(trs_instance *inst)
{
    const int64_t n = inst->op->tri.n;
    const double eps = sizeof(REAL) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON;
    T *A = inst->data;
    memcpy(A, inst->op->full, (size_t)(n * n) * sizeof *A);
    const double most = FN(largest)(A, n, false), start = trs_now();
    /* of a matrix with a NaN or an infinity the pivots that are not finite are bad, and those that are zero */
    const double tiny = isfinite(most) ? eps * most : 0;
    for (int64_t i = 0; i < n; i++) {
        T *l = A + i * n; /* column i */
        double pivot = cabs((double complex)l[i]);
        if (!(pivot > tiny) || isinf(pivot)) return trs_general_judge(inst, INFINITY, i);
        for (int64_t j = i + 1; j < n; j++) l[j] /= l[i];
        for (int64_t k = i + 1; k < n; k++) {
            T *a = A + k * n, u = a[i]; /* column k */
            for (int64_t j = i + 1; j < n; j++) a[j] -= u * l[j];
        }
    }
    inst->seconds_factor = trs_now() - start;
    return trs_general_judge(inst, n ? FN(largest)(A, n, true) / most : 0, -1);
}

static void FN(solve)(const trs_instance *inst, const trs_job *job)
{
    const int64_t n = inst->op->tri.n, bs = job->b.rs, xs = job->x.rs;
    const T *A = inst->data;
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        for (int64_t i = 0; i < n; i++) x[i * xs] = b[i * bs];
        for (int64_t j = 0; j < n; j++) /* L y = b */
            for (int64_t i = j + 1; i < n; i++)
                x[i * xs] -= (job->conj ? CONJ(A[i + j * n]) : A[i + j * n]) * x[j * xs];
        for (int64_t j = n - 1; j >= 0; j--) { /* U x = y */
            x[j * xs] /= job->conj ? CONJ(A[j + j * n]) : A[j + j * n];
            for (int64_t i = 0; i < j; i++)
                x[i * xs] -= (job->conj ? CONJ(A[i + j * n]) : A[i + j * n]) * x[j * xs];
        }
    }
}

#endif
