/* general.cuh: the device side that the solvers of general matrices share: A by rows on the device, x of
 * all right-hand sides side by side in the work space, forward and backward substitution, a look at the
 * pivots.  A solver adds how A becomes L and U, or how A and b are eliminated. */
#ifndef TRS_GENERAL_CUH
#define TRS_GENERAL_CUH

#include "cuda/matrix/full.cuh"

extern "C" {
#include "solvers/general.h"
}

struct general_data {
    void *A;       /* [n*n] by rows: row i from i*n on; L below the diagonal, U on and above */
    void *columns; /* [n*n] by columns: where new values arrive; then the solver's to use */
    bool there;    /* they have arrived, from the device */
    int block;     /* threads of a block, for the solvers that have the choice */
};

int general_analyse(trs_instance *inst);
void general_release(trs_instance *inst);
/* A = op(A) from side->full, or from columns where they are there. */
int general_values(const trs_instance *inst, general_data *d);
/* update_direct of all of them: the solver's update, with op(A) by columns on the device; waits. */
int general_update_direct(trs_instance *inst, const void *val, void *stream);
int64_t general_bytes(const trs_shape *s);

/* Largest magnitudes of A before and of U after, the first bad pivot: into part->growth, or a sentence. */
int general_largest(const trs_instance *inst, const general_data *d, bool upper, double *most);
int general_verdict(trs_instance *inst, const general_data *d, double before);

/* pivots of those that leave U in A: rows are not exchanged. */
int general_pivots(const trs_instance *inst, trs_context *ctx, void *u, bool *odd);

/* The whole of update: factor (T (), n, d) launches what makes L and U of A. */
template <class F> inline int general_update(trs_instance *inst, F factor)
{
    general_data *d = (general_data *)inst->data;
    const int64_t n = inst->op->tri.n;
    double before = 0;
    int rc = general_values(inst, d);
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
void general_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);

#endif
