/* near.h: which numbers count as near 1, so near that their inverses and squares are normal.
 *
 * Solvers on the GPU multiply by the inverse of a diagonal only if it is near 1 (cuda/runtime/divide.cuh). */
#ifndef TRS_NEAR_H
#define TRS_NEAR_H

#define TRS_NEAR        0x1p500 /* from 1 / NEAR to NEAR */
#define TRS_NEAR_SINGLE 0x1p60
/* An inverse that rounding took out of these bounds is drawn in by four units of the last place. */
#define TRS_RIM        0x1p-50
#define TRS_RIM_SINGLE 0x1p-21

#endif
