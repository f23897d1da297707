/* sweeps.h: what sweeps on the host and on a device have in common: the vectors of each pass, and their memory.
 *
 * Pass 0 computes z = D^-1 b, and pass s = 1 .. k computes x(s) = z - D^-1 (T - D) x(s-1), where x(0) = z.  z is kept, so
 * that b may be X, and two vectors take turns, of which X is the last one:
 *
 *     k = 1        z -> X
 *     k = 2        z -> y -> X
 *     k = 3        z -> X -> y -> X
 *
 * A work space has z and y, by columns. */
#ifndef TRS_SWEEPS_H
#define TRS_SWEEPS_H

#include "solvers/solver.h"

typedef struct trs_sweeps {
    trs_view z, y;
} trs_sweeps;

static inline int64_t trs_sweeps_bytes(const trs_instance *inst, int nrhs)
{
    return 2 * inst->op->tri.n * (int64_t)trs_size(inst->op->tri.dtype) * nrhs;
}

static inline trs_sweeps trs_sweeps_in(const trs_instance *inst, const trs_job *job)
{
    const int64_t n = inst->op->tri.n;
    char *half = (char *)job->work + trs_sweeps_bytes(inst, job->nrhs) / 2;
    return (trs_sweeps){{job->work, 1, n}, {half, 1, n}};
}

/* What pass s of k reads, and what it writes. */
static inline trs_view trs_sweeps_to(const trs_sweeps *w, const trs_job *job, int64_t s, int64_t k)
{
    return (k - s) % 2 == 0 ? job->x : w->y;
}

static inline trs_view trs_sweeps_from(const trs_sweeps *w, const trs_job *job, int64_t s,
                                       int64_t k)
{
    return s == 1 ? w->z : trs_sweeps_to(w, job, s - 1, k);
}

#endif
