/* columns.h: the columns of CSV and JSON: one list, so that both say the same. */
#ifndef TRS_BIN_BENCH_COLUMNS_H
#define TRS_BIN_BENCH_COLUMNS_H

#include "report.h"

enum { MOST_FIELDS = 64 };

typedef struct field {
    const char *column;
    const char *text; /* NULL: the value is a number, whole or real */
    bool is_whole;
    int64_t whole;
    double real; /* NaN: there is none */
} field;

typedef struct row {
    int count;
    field field[MOST_FIELDS]; /* [count], in the order of the columns */
    char group[256];
} row;

/* Row k of a result, which has rows_of (r) of them: a cell of it, or its trouble. */
int rows_of(const result *r);
void make_row(const session *s, const result *r, int k, row *to);

#endif
