/* triangle.h: every solver on one triangle. */
#ifndef TRS_BIN_BENCH_TRIANGLE_H
#define TRS_BIN_BENCH_TRIANGLE_H

#include "result.h"
#include "settings.h"

/* Returns a trs_status, whose sentence is r->trouble.  r is to be freed also after an error. */
int measure_triangle(const settings *s, const char *name, const trs_mat *T, result *r);

/* Opens libraries, loads kernels and starts threads, before anything counts. */
void warm_up(const settings *s);

#endif
