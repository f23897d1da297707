/* cmplx.h: CMPLX of C11, which the C library defines for gcc only. */
#ifndef TRS_CMPLX_H
#define TRS_CMPLX_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#endif
