/* made.h: triangles that are made to find what a single step costs. */
#ifndef TRS_BIN_COSTS_MADE_H
#define TRS_BIN_COSTS_MADE_H

#include "trisolve-sparse.h"

#include <stdbool.h>

typedef struct made {
    int64_t *ptr;
    int32_t *idx;
    double *val;
    trs_mat T;
} made;

/* A lower triangle: row i has length (i) entries, the last of them its diagonal, and column (i, k) is the k-th of the
 * others, ascending.  Returns false if there is no memory; made_free is called all the same. */
bool make(made *m, int32_t n, int32_t (*length)(int32_t), int32_t (*column)(int32_t, int32_t));
void made_free(made *m);

int32_t length_one(int32_t i); /* a diagonal */
int32_t length_two(int32_t i); /* a bidiagonal triangle, with column_before */
int32_t length_all(int32_t i); /* a full one, with column_count */
int32_t column_before(int32_t i, int32_t k);
int32_t column_count(int32_t i, int32_t k);

#endif
