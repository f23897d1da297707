/* columns.h: the columns of CSV and JSON: one list, so that both say the same. */
#ifndef TRS_BIN_BENCH_COLUMNS_H
#define TRS_BIN_BENCH_COLUMNS_H

#include "report.h"

/* Where the values go, in the order of the columns. */
typedef struct sink {
    void (*text)(void *user, const char *column, const char *value);
    void (*whole)(void *user, const char *column, int64_t value);
    void (*real)(void *user, const char *column, double value); /* NaN: there is none */
    void *user;
} sink;

/* Row k of a result, which has rows_of (r) of them: a cell of it, or its trouble. */
int rows_of(const result *r);
void put_row(const session *s, const result *r, int k, const sink *to);

#endif
