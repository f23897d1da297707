/* near.h: a number is near 1 when neither its inverse nor its square overflows or is subnormal.
 *
 * Solvers on the GPU multiply by the inverse of a diagonal entry only if that entry is near 1; otherwise they store
 * the entry itself and divide (cuda/runtime/divide.cuh). */
#ifndef TRS_NEAR_H
#define TRS_NEAR_H

/* Sizes from 1 / TRS_NEAR to TRS_NEAR are near 1, in double and in single precision. */
#define TRS_NEAR        0x1p500
#define TRS_NEAR_SINGLE 0x1p60
/* A computed inverse may be just outside of these bounds because of rounding.  It is then moved inwards by a
 * relative TRS_RIM, four units in the last place, so that it is near 1 again. */
#define TRS_RIM        0x1p-50
#define TRS_RIM_SINGLE 0x1p-21

#endif
