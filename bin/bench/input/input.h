/* input.h: a name becomes one or two triangles. */
#ifndef TRS_BIN_BENCH_INPUT_H
#define TRS_BIN_BENCH_INPUT_H

#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"

typedef struct wanted { /* what of a matrix is solved with */
    unsigned kind;      /* TRS_LOWER or TRS_UPPER, TRS_UNIT, as asked for */
    bool factor;        /* L and U of the matrix instead */
    const char *filter; /* which names, sizes and kinds of problems; NULL: all */
} wanted;

typedef struct input {
    trs_mm file;
    trs_lu *lu; /* owns the arrays of T with wanted.factor */
    int count;
    trs_mat T[2];       /* [count] */
    void *converted[2]; /* values in another type */
    char name[2][NAME_SIZE];
    bool bad_file; /* it could not be read, as against: it is not for this */
    bool left_out; /* by the filter */
} input;

/* Reads or makes the matrix.  Returns a trs_status, with a sentence in said () after an error; without
 * one, count is 0 when the filter has left the matrix out.  in is to be closed also after an error. */
int input_open(const settings *s, const wanted *w, const char *name, input *in);
void input_close(input *in);

/* L and U of A become in->T.  Returns a trs_status; TRS_ESUPPORT: built without SuiteSparse. */
int factor_matrix(const trs_mat *A, input *in);
void factor_free(input *in);

#endif
