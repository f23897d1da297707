/* cpu_full.h: the triangle of a part as a full matrix on the host: part->data, [n*n]. */
#ifndef TRS_CPU_FULL_H
#define TRS_CPU_FULL_H

#include "internal.h"

void trs_cpu_full_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);
int64_t trs_cpu_full_bytes(const trs_shape *s);
int trs_cpu_full_analyse(trs_part *part);
int trs_cpu_full_by_rows(trs_part *part);    /* the values of side->tri: (i, j) at i*n + j */
int trs_cpu_full_by_columns(trs_part *part); /* at i + j*n */
void trs_cpu_full_release(trs_part *part);

#endif
