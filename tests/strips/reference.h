/* reference.h: a sequential solve by the schedule of cuda-strips, to compare with. */
#ifndef TRS_STRIPS_REFERENCE_H
#define TRS_STRIPS_REFERENCE_H

#include "tests/common/model.h"

#include "cuda/strips/strips.h"

/* The packets of s with the values of t; are any rows multiplied by a power of two? */
bool reference_pack(const trs_context *ctx, const trs_strips *s, const trs_tri *t, void *packed);

/* T x = b, from what reference_pack made of T in double.  r chooses who goes on when; x does not depend on it. */
void reference_solve(const trs_strips *s, const char *packed, const double *b, double *x,
                     random_t *r);

#endif
