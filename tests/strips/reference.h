/* reference.h: a sequential solve by the schedule of cuda-strips, to compare with. */
#ifndef TRS_STRIPS_REFERENCE_H
#define TRS_STRIPS_REFERENCE_H

#include "tests/common/model.h"

#include "cuda/strips/strips.h"

/* T x = b, from what trs_strips_pack made of T in double.  r chooses who goes on when; x does not depend on it. */
void reference_solve(const trs_strips *s, const char *packed, const double *b, double *x,
                     random_t *r);

#endif
