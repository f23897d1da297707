/* general.cuh: shared by the solvers of general dense matrices on the device: A by rows, forward and backward
 * substitution, checks of the pivots.  A solver adds the factorisation into L and U (lu.cuh), or the elimination
 * of A and b together (gauss.cuh). */
#ifndef TRS_GENERAL_CUH
#define TRS_GENERAL_CUH

#include "cuda/matrix/full.cuh"

extern "C" {
#include "solvers/dense/general.h"
}

struct general_data {
    void *A;       /* [n*n] by rows: row i from i*n on; L below the diagonal, U on and above */
    void *columns; /* [n*n] by columns: where new values arrive; then the solver's to use */
    int block;     /* threads of a block, for the solvers that have the choice */
};

int general_build(trs_instance *inst);
void general_release(trs_instance *inst);
/* A = op(A), and columns = the same by columns, from the operator, whose values are read on the stream; waits. */
int general_values(const trs_instance *inst, general_data *d, void *stream);
int64_t general_bytes(const trs_prospect *p);

/* Largest magnitudes of A before and of U after, the first bad pivot: into inst->growth, or a sentence. */
int general_largest(const trs_instance *inst, const general_data *d, bool upper, double *most);
int general_verdict(trs_instance *inst, const general_data *d, double before);

/* pivots of those that leave U in A: rows are not exchanged. */
int general_pivots(const trs_instance *inst, trs_context *ctx, void *u, bool *odd);

/* The whole of update: factor (T (), n, d) launches what makes L and U of A. */
template <class F> inline int general_update(trs_instance *inst, void *stream, F factor)
{
    general_data *d = (general_data *)inst->data;
    const int64_t n = inst->op->tri.n;
    double before = 0;
    int rc = general_values(inst, d, stream);
    if (rc || n == 0) return rc;
    rc = general_largest(inst, d, false, &before);
    const double start = trs_now();
    if (!rc)
        rc = for_type(inst->op->tri.dtype, [&](auto zero) {
            factor(zero, n, d);
            return launched();
        });
    if (!rc) rc = trs_gpu_wait(NULL);
    inst->seconds_factor = trs_now() - start;
    return rc ? rc : general_verdict(inst, d, before);
}

/* solve, through the factors; and its cost. */
int general_solve(const trs_instance *inst, const trs_job *job);
const char *general_estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                             trs_cost *c);

/* The entry of the table for a solver that makes L and U of A. */
constexpr trs_solver general_solver(const char *name, const char *about,
                                    int (*update)(trs_instance *, void *))
{
    trs_solver s = {};
    s.name = name;
    s.about = about;
    s.place = TRS_ON_CUDA;
    s.family = TRS_GENERAL_DENSE;
    s.caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE;
    s.accuracy = TRS_INVERTING;
    s.order = TRS_ORDER_NATURAL;
    s.full = true;
    s.estimate = general_estimate;
    s.bytes = general_bytes;
    s.build = general_build;
    s.update = update;
    s.solve = general_solve;
    s.pivots = general_pivots;
    s.release = general_release;
    return s;
}

#endif
