/* general.cuh: what the solvers of general dense matrices share on the device: A by rows, forward and backward
 * substitution, a look at the pivots.  A solver adds how A becomes L and U (lu.cuh), or how A and b are eliminated
 * together (gauss.cuh). */
#ifndef TRS_GENERAL_CUH
#define TRS_GENERAL_CUH

#include "cuda/matrix/full.cuh"

extern "C" {
#include "solvers/general.h"
}

struct general_data {
    void *A;       /* [n*n] by rows: row i from i*n on; L below the diagonal, U on and above */
    void *columns; /* [n*n] new values, by columns; from then on scratch of the solver */
    bool there;    /* new values have come from the device: columns has them, side->full has not */
    int block;     /* threads of a block, for the solvers that have the choice */
};

int general_analyse(trs_part *part);
void general_release(trs_part *part);
/* A = op(A) from side->full, or from columns where the values are there. */
int general_values(const trs_part *part, general_data *d);
/* update_direct of all these solvers: the solver's update, with op(A) by columns on the device; waits. */
int general_update_direct(trs_part *part, const void *val, void *stream);
int64_t general_bytes(const trs_shape *s);

/* *most: the largest magnitude in d->A, or in its upper triangle. */
int general_largest(const trs_part *part, const general_data *d, bool upper, double *most);
/* Judge U in d->A: its growth over the largest magnitude `before` and its first bad pivot (trs_general_judge). */
int general_verdict(trs_part *part, const general_data *d, double before);

/* trs_solver.pivots of those that leave U in A and do not exchange rows. */
int general_pivots(const trs_part *part, trs_context *ctx, void *u, bool *odd);

/* All of an update: factor (T (), n, d) launches what makes L and U of d->A. */
template <class F> inline int general_update(trs_part *part, F factor)
{
    general_data *d = (general_data *)part->data;
    const int64_t n = part->side->tri.n;
    double before = 0;
    int rc = general_values(part, d);
    if (rc || n == 0) return rc;
    rc = general_largest(part, d, false, &before);
    const double start = trs_now();
    if (!rc)
        rc = for_type(part->side->tri.dtype, [&](auto zero) {
            factor(zero, n, d);
            return launched();
        });
    if (!rc) rc = trs_gpu_wait(NULL);
    part->seconds_factor = trs_now() - start;
    return rc ? rc : general_verdict(part, d, before);
}

/* A solve by substitution with L and U, and its cost. */
int general_solve(const trs_part *part, const trs_job *job);
void general_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);

#endif
