/* levels.cu: cuda-levels: a launch a level, for triangles with few levels and short rows.
 *
 *     for l = 0 .. levels - 1:  x (i) = (b (i) - sum of L (i, j) x (j)) / L (i, i)  for the rows i of level l
 *
 * A thread has a row, and in launch l it computes the row if that has level l.  x (j) comes from launches before, so nothing waits
 * inside a launch: it cannot hang, and needs no cooperative launch, no flags and no memory of its own.
 * Bytes in fp64: 12 nnz + 32 n, and 4 n a level; bound by these where the triangle is large, else by the launches, some 3.5 us
 * a level.  Orderings by colours give such triangles: red and black rows of a grid make two levels.
 * Source: Anderson and Saad, Solving sparse triangular linear systems on parallel computers, Int. J. High Speed Computing 1
 * (1989). */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

enum { MOST_LEVELS = 16, MOST_ENTRIES = 64 /* of a row, which a thread reads alone */ };

template <class T> struct levels_args {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li, *level; /* level [n]; NULL: all rows have level 0 */
    const T *Lx;
    view<T> b, x;
    bool cj;
};

template <class T> static __global__ void level_kernel(const levels_args<T> k, int32_t l, int first)
{
    const int64_t i = index_of_thread(), r = first + (int64_t)blockIdx.y;
    if (i >= k.n || (k.level && k.level[i] != l)) return;
    const int64_t diagonal = k.Lp[i + 1] - 1;
    T sum = number<T>(0);
    for (int64_t p = k.Lp[i]; p < diagonal; p++)
        sum = sum + conj_if(k.cj, k.Lx[p]) * k.x(k.Li[p], r);
    k.x(i, r) = (k.b(i, r) - sum) / conj_if(k.cj, k.Lx[diagonal]);
}

static int build(trs_instance *inst)
{
    const int rc = trs_operator_device(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (!rc) trs_operator_hold(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS | TRS_OP_VALUES);
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const trs_operator *op = inst->op;
    const trs_device_view *L = &op->device;
    return for_type(op->tri.dtype, [&]<class T>(T) {
        const levels_args<T> k = {op->tri.n,
                                  L->ptr,
                                  L->idx,
                                  op->lv.count > 1 ? L->level : NULL,
                                  (const T *)L->val,
                                  typed<T>(job->b),
                                  typed<T>(job->x),
                                  job->conj};
        for (int32_t l = 0; l < op->lv.count; l++)
            for_columns(job->nrhs, [&](int first, int count) {
                const dim3 grid(blocks_of(k.n), (unsigned)count);
                level_kernel<T><<<grid, PLAIN, 0, (cudaStream_t)job->stream>>>(k, l, first);
                return int(TRS_OK);
            });
        return launched();
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    if (s->levels > MOST_LEVELS) return "more than 16 levels";
    if (s->longest > MOST_ENTRIES) return "rows of more than 64 entries";
    const double read = (double)s->nnz * (s->elem + 4) + (double)s->n * (16 + 3 * s->elem);
    c->bytes = s->nrhs * m->levels_copies * (read * m->gpu_byte + (double)s->nnz * m->gpu_gather) +
               (double)s->levels * (double)s->n * 4 * m->gpu_byte;
    c->sync = (m->levels_launches + (double)s->levels * m->levels_level) * m->gpu_launch;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 12 * (s->n + 1);
}

const trs_solver trs_solver_levels = {
    .name = "cuda-levels",
    .about = "a launch a level, a thread a row, for few levels",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .quick = 20e-6,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .solve = solve,
};
