/* text.h: numbers and names as the reports write them. */
#ifndef TRS_BIN_BENCH_TEXT_H
#define TRS_BIN_BENCH_TEXT_H

#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"

#include <stdio.h>

const char *op_name(trs_op op);
const char *kind_name(unsigned kind);

/* The analysis that found the levels, as a letter: R by rows, C by columns, D on the device; or a
 * blank. */
char levels_mark(const cell *c);

/* number (v).s is v with four digits; a dash for a NaN. */
typedef struct number_text {
    char s[32];
} number_text;

number_text number(double v);

void print_number(double v); /* likewise, as the next column of a table on the screen */

/* "lower, n 400, nnz 1160, ..., 1 right-hand side": the triangle and what is solved with it. */
void put_features(FILE *f, const settings *s, const result *r);

/* 10^6 bytes a second; NaN: there was no time. */
double megabytes_a_second(int64_t bytes, double seconds);

#endif
