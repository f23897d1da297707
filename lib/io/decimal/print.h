/* print.h: numbers to decimal text, the shortest that reads back to the same number. */
#ifndef TRS_DECIMAL_PRINT_H
#define TRS_DECIMAL_PRINT_H

#include <stdint.h>

enum { TRS_REAL_TEXT = 32, TRS_INT_TEXT = 20 }; /* characters that the longest number takes */

/* Write x at p and return the end; no NUL is written.  A real may be nan, inf or -inf. */
char *trs_put_real(char *p, double x);
char *trs_put_float(char *p, float x);
char *trs_put_int(char *p, uint64_t k);

#endif
