/* powers.c: the table of powers of ten: see powers.h.
 *
 * c is rounded down for q >= 0 (it is exact up to q = 55) and up for q < 0, as the proof of reading a number with it
 * requires: Lemire, "Number parsing at a gigabyte per second", 2021.  powers.awk makes the rows, with exact integers,
 * when the library is built; the tests of numbers fail if a digit is wrong. */
#include "config.h"

#include "powers.h"

const trs_u128 trs_power[TRS_POWER_MAX - TRS_POWER_MIN + 1] = {
#include "powers.inc"
};
