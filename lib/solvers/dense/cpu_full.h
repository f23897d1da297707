/* cpu_full.h: a full matrix on the host, trs_instance.data, [n*n]: a triangle, or the factors of a general matrix.
 *
 * The matrix has -0 where no entry is stored, and +0 where a zero of either sign is stored.  Because 0 * NaN is NaN,
 * and a NaN in x may reach only rows that have a stored entry for it, solvers use the sign to find the products that
 * they must leave out.  The sign of a complex number is that of its real part. */
#ifndef TRS_CPU_FULL_H
#define TRS_CPU_FULL_H

#include "solvers/solver.h"

/* Is a, a number of that matrix, an entry of the triangle?  tgmath.h has been included. */
#define TRS_IS_ENTRY(a) (creal(a) != 0 || !signbit(creal(a)))

const char *trs_cpu_full_estimate(const trs_prospect *p, const trs_instance *built,
                                  const trs_machine *m, trs_cost *c);
int64_t trs_cpu_full_bytes(const trs_prospect *p);
int trs_cpu_full_build(trs_instance *inst);
/* Put the values of the operator into the matrix, (i, j) at i*n + j, or at i + j*n. */
int trs_cpu_full_by_rows(trs_instance *inst, void *stream);
int trs_cpu_full_by_columns(trs_instance *inst, void *stream);
void trs_cpu_full_release(trs_instance *inst);

#endif
