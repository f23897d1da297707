/* cpu_full.h: the triangle of a part as a full matrix on the host: part->data, [n*n].
 *
 * Where nothing is stored it has -0, and +0 where zero is stored, of either sign: for 0 NaN is NaN, and a NaN may pass
 * only through what is stored.  Of a complex number the real part tells. */
#ifndef TRS_CPU_FULL_H
#define TRS_CPU_FULL_H

#include "solver.h"

/* a: a number of that matrix; tgmath.h is included. */
#define TRS_IS_ENTRY(a) (creal(a) != 0 || !signbit(creal(a)))

void trs_cpu_full_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);
int64_t trs_cpu_full_bytes(const trs_shape *s);
int trs_cpu_full_analyse(trs_part *part);
int trs_cpu_full_by_rows(trs_part *part);    /* the values of side->tri: (i, j) at i*n + j */
int trs_cpu_full_by_columns(trs_part *part); /* at i + j*n */
void trs_cpu_full_release(trs_part *part);

#endif
