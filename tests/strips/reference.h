/* reference.h: a sequential solve by the schedule of cuda-strips, to compare with. */
#ifndef TRS_STRIPS_REFERENCE_H
#define TRS_STRIPS_REFERENCE_H

#include "tests/common/model.h"

#include "cuda/strips/strips.h"

/* The packets of s with the values of t, and power [32 tasks] of two, that the row at each position is multiplied by; is
 * any of them not 0? */
bool reference_pack(const trs_context *ctx, const trs_strips *s, const trs_tri *t, void *packed,
                    int16_t *power);

/* T x = b, from what reference_pack made of T in double.  r chooses who goes on when; x does not depend on it. */
void reference_solve(const trs_strips *s, const char *packed, const int16_t *power, const double *b,
                     double *x, random_t *r);

#endif
