/* cpu_sweeps.c: Jacobi sweeps on a triangle, in place of a solve, by threads that share the rows of each sweep.
 *
 * sweeps.h has the equations.  A thread has a range of rows, whose sums it adds up in the order of the columns: the bits
 * of x depend neither on the threads nor on the number of right-hand sides.
 * k sweeps read the triangle k times, 12 k nnz + 40 k n bytes for double: they pay where threads would wait for one
 * another at many levels.
 *
 * The bound of the error is found by k + 1 passes over the sizes of the entries, at each update. */
#ifndef T

#include "config.h"

#include "sweeps.h"
#include "base/parallel.h"

#include <string.h>

enum { ROWS = 1024 }; /* that a thread takes at a time */

typedef struct sweep { /* what the threads of a pass share */
    const trs_tri *L;
    trs_view z, from, to; /* from.p = NULL: to = D^-1 z */
    int nrhs;
    bool conj;
} sweep;

typedef struct sizes { /* to = |D^-1 (T - D)| from */
    const trs_tri *L;
    const double *from;
    double *to;
} sizes;

#define TRS_BODY "solvers/sweeps/cpu_sweeps.c"
#include "base/each_type.h"

static int solve(const trs_instance *inst, const trs_job *job)
{
    static const trs_range_fn divide[] = TRS_PER_TYPE(divide_rows),
                              pass[] = TRS_PER_TYPE(sweep_rows);
    const trs_tri *L = &inst->op->tri;
    const int64_t k = inst->ctx->sweeps;
    const int threads = L->nnz < TRS_SHARED_FROM ? 1 : job->threads;
    const trs_sweeps w = trs_sweeps_in(inst, job);
    sweep s = {L, job->b, {0}, w.z, job->nrhs, job->conj};
    trs_share(threads, L->n, ROWS, divide[L->dtype], &s);
    s.z = w.z;
    for (int64_t q = 1; q <= k; q++) {
        s.from = trs_sweeps_from(&w, job, q, k);
        s.to = trs_sweeps_to(&w, job, q, k);
        trs_share(threads, L->n, ROWS, pass[L->dtype], &s);
    }
    return TRS_OK;
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    return trs_sweeps_bytes(inst, nrhs);
}

static int build(trs_instance *inst)
{
    return trs_operator_host(inst->op, TRS_OP_PATTERN);
}

/* The largest of a [n], or a NaN that is among them. */
static double largest_of(const double *a, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n && largest == largest; i++)
        if (!(a[i] <= largest)) largest = a[i];
    return largest;
}

/* inst->sweep_error = max |N|^(k+1) 1.  When nothing is left, more sweeps leave nothing. */
static int find_error(trs_instance *inst)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(size_rows);
    const trs_tri *L = &inst->op->tri;
    const int threads = trs_team(inst->ctx, L->nnz);
    double *u = trs_new(inst->ctx, 2 * (int64_t)L->n, sizeof *u, "the error of sweeps");
    if (!u) return TRS_EMEM;
    double *const of[2] = {u, u + L->n};
    double error = L->n > 0;
    for (int64_t i = 0; i < L->n; i++) u[i] = 1;
    for (int64_t q = 0; q <= inst->ctx->sweeps && error != 0; q++) {
        sizes s = {L, of[q % 2], of[(q + 1) % 2]};
        trs_share(threads, L->n, ROWS, table[L->dtype], &s);
        error = largest_of(s.to, L->n);
    }
    trs_free(&inst->ctx->mem, u);
    inst->sweep_error = error;
    return TRS_OK;
}

/* It sweeps over the arrays of the operator. */
static int update(trs_instance *inst, void *stream)
{
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    return rc ? rc : find_error(inst);
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    const double sweeps = p->ctx ? (double)p->ctx->sweeps : 1;
    const double threads = s->nnz < TRS_SHARED_FROM ? 1 : m->cpu_threads;
    c->bytes = sweeps * trs_cpu_stream(m, s, (double)s->nnz, (double)s->n) / threads;
    if (threads > 1) c->sync = (sweeps + 1) * m->cpu_barrier;
    c->update = c->bytes;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    return 16 * p->shape.n; /* while the error is found */
}

const trs_solver trs_solver_cpu_sweeps = {
    .name = "cpu-sweeps",
    .about = "CSR, Jacobi sweeps that approximate x (trs_options.sweeps)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .approximates = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .work_bytes = work_bytes,
};

#else

#include "base/number/divide.h"

static inline T *FN(at)(trs_view v, int64_t i, int r)
{
    return (T *)v.p + i * v.rs + r * v.cs;
}

/* to = D^-1 z */
static void FN(divide_rows)(void *user, int64_t begin, int64_t end)
{
    const sweep *s = user;
    const T *Lx = s->L->val;
    for (int64_t i = begin; i < end; i++) {
        const T d = Lx[s->L->ptr[i + 1] - 1];
        for (int r = 0; r < s->nrhs; r++)
            *FN(at)(s->to, i, r) = FN(divide)(*FN(at)(s->z, i, r), s->conj ? CONJ(d) : d);
    }
}

/* to = z - D^-1 (T - D) from.  Where a row has its diagonal alone, x is z. */
static void FN(sweep_rows)(void *user, int64_t begin, int64_t end)
{
    const sweep *s = user;
    const int32_t *Li = s->L->idx;
    const T *Lx = s->L->val;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = s->L->ptr[i], diagonal = s->L->ptr[i + 1] - 1;
        const T d = s->conj ? CONJ(Lx[diagonal]) : Lx[diagonal];
        for (int r = 0; r < s->nrhs; r++) {
            T sum = 0;
            for (int64_t q = first; q < diagonal; q++)
                sum += (s->conj ? CONJ(Lx[q]) : Lx[q]) * *FN(at)(s->from, Li[q], r);
            const T z = *FN(at)(s->z, i, r);
            *FN(at)(s->to, i, r) = first < diagonal ? z - FN(divide)(sum, d) : z;
        }
    }
}

static double FN(size)(T a)
{
#if IS_COMPLEX
    return cabs((double complex)a);
#else
    return fabs((double)a);
#endif
}

static void FN(size_rows)(void *user, int64_t begin, int64_t end)
{
    const sizes *s = user;
    const T *Lx = s->L->val;
    for (int64_t i = begin; i < end; i++) {
        const int64_t diagonal = s->L->ptr[i + 1] - 1;
        double sum = 0;
        for (int64_t q = s->L->ptr[i]; q < diagonal; q++)
            sum += FN(size)(Lx[q]) * s->from[s->L->idx[q]];
        s->to[i] = sum != 0 ? sum / FN(size)(Lx[diagonal]) : 0;
    }
}

#endif
