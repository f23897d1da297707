/* numbers.h: arrays of real and complex numbers in single and double precision.
 *
 * A complex number has two parts, its real and its imaginary one, which lie side by side. */
#ifndef TRS_BIN_NUMBERS_H
#define TRS_BIN_NUMBERS_H

#include "trisolve-sparse.h"

#include <stdbool.h>

bool is_single(trs_dtype t);
int parts_of(trs_dtype t); /* 1; of a complex number 2 */
size_t size_of_number(trs_dtype t);
const char *dtype_name(trs_dtype t); /* "f32", "f64", "c32", "c64" */

double part_at(const void *a, trs_dtype t, int64_t k); /* a [k], an array of parts */
void set_part(void *a, trs_dtype t, int64_t k, double x);

/* count numbers of one type as another one.  A real number becomes a complex one with the imaginary
 * part 0; of a complex number that becomes a real one the real part is left.  The caller frees
 * them.  NULL: no memory. */
void *convert_numbers(const void *from, trs_dtype was, trs_dtype is, int64_t count);

#endif
