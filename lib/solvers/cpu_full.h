/* cpu_full.h: the triangle of a part as a full matrix on the host: part->data, [n*n].
 *
 * Where nothing is stored the matrix has -0, and where zero is stored, of either sign, it has +0.  For 0 NaN is NaN,
 * and a NaN in x may reach only rows that have a stored entry for it: this is how a solver knows the products that it
 * must leave out.  The sign of a complex number is that of its real part. */
#ifndef TRS_CPU_FULL_H
#define TRS_CPU_FULL_H

#include "solver.h"

/* Is a, a number of that matrix, stored in the triangle?  tgmath.h has been included. */
#define TRS_IS_ENTRY(a) (creal(a) != 0 || !signbit(creal(a)))

void trs_cpu_full_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);
int64_t trs_cpu_full_bytes(const trs_shape *s);
int trs_cpu_full_analyse(trs_part *part);
int trs_cpu_full_by_rows(trs_part *part);    /* the values of side->tri: (i, j) at i*n + j */
int trs_cpu_full_by_columns(trs_part *part); /* at i + j*n */
void trs_cpu_full_release(trs_part *part);

#endif
