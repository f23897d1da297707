/* columns.h: the columns of CSV and JSON: one list, so that both say the same. */
#ifndef TRS_BIN_BENCH_COLUMNS_H
#define TRS_BIN_BENCH_COLUMNS_H

#include "report.h"

enum { MOST_FIELDS = 96 };

typedef struct field {
    const char *column;
    /* NULL: the value is a number, whole or real */
    const char *text;
    bool is_whole;
    int64_t whole;
    /* NaN: there is none */
    double real;
} field;

typedef struct row {
    int count;
    /* [count], in the order of the columns */
    field field[MOST_FIELDS];
    char group[256];
} row;

/* Row k of a result, which has rows_of (r) of them: a cell of it, or its trouble. */
int rows_of(const result *r);
void make_row(const session *s, const result *r, int k, row *to);

/* Writes all results so far as CSV. */
void csv_write(const report *p, FILE *f);

#endif
