/* model.h: what the tests of the core share: random triangles in every form that a caller may have them,
 * and the residual of a solve, computed naively and independently of the library. */
#ifndef TRS_MODEL_H
#define TRS_MODEL_H

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analysis/level.h"
#include "analysis/supernodes.h"
#include "base/number/cmplx.h"
#include "core/plan.h"
#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex zz;

/* ---- numbers ---------------------------------------------------------------------------------- */

typedef struct random {
    uint64_t state; /* the seed, anything */
} random_t;

void *zeroed(int64_t count, size_t size); /* an array of numbers that are 0; free it */

uint64_t random_bits(random_t *r);
int random_below(random_t *r, int n); /* 0 .. n-1 */
double random_uniform(random_t *r); /* in (-1, 1), a multiple of 2^-20, so that it is a float too */
int64_t *random_order(int64_t count, random_t *r); /* of 0 .. count-1; free it */
zz get_number(const void *a, trs_dtype t, int64_t k);
void set_number(void *a, trs_dtype t, int64_t k, zz v); /* the imaginary part is dropped if real */
double epsilon(trs_dtype t);

int count_threads(void); /* of this process; 0: this system does not say */

/* a <= b, or the test fails and says what a and b were; a NaN fails. */
#define assert_at_most(a, b) assert_at_most_(a, b, #a, __FILE__, __LINE__)
void assert_at_most_(double a, double b, const char *what, const char *file, int line);

/* rc must be code, else the sentence of the plan (NULL allowed) is shown. */
#define assert_status(rc, code) assert_status_(rc, code, __FILE__, __LINE__)
void assert_status_(int rc, int code, const char *file, int line);

/* ---- triangles, as lists of entries -------------------------------------------------------------- */

typedef enum pattern {
    EMPTY,
    ONE,
    DIAGONAL,
    FULL,
    CHAIN,
    TWO_CHAINS,
    RANDOM,
    LONG_ROWS, /* longer than a block of threads */
    ARROW,
    SEED4,
    SEED5,
    WIDE,
    PATTERNS
} pattern;

extern const char *const pattern_name[PATTERNS];

typedef struct model { /* a triangle: entries in no special order, the diagonal among them */
    int n;
    bool upper;
    int64_t nnz;
    int *row, *col; /* [nnz] */
    zz *val;        /* [nnz] */
} model;

/* small: no more than a solver that keeps full matrices can take. */
model model_new(pattern p, bool upper, bool small, bool is_complex, random_t *r);
void model_add(model *m, int row, int col, zz v); /* grows by doubling */
void model_free(model *m);
/* Rows and columns in random orders: row i becomes p [i], column j becomes q [j]; p, q ; out [n]. */
void model_shuffle(model *m, int *p, int *q, random_t *r);

/* ---- the same, as a caller may have it ---------------------------------------------------------- */

typedef struct form {
    trs_dtype dtype;
    trs_format format;
    bool unit;     /* the diagonal is one */
    bool hidden;   /* ... and yet NaN is stored there */
    bool shuffled; /* the entries of a row, or column, are in no order */
    bool garbage;  /* NaN in the other triangle */
    int base, ptr_bits, idx_bits;
    int pad;   /* DENSE: rows between n and ld */
    int block; /* BSR: rows of a block */
    trs_layout block_layout;
} form;

form form_random(trs_dtype dtype, random_t *r);
trs_mat show(const model *m, const form *f, random_t *r); /* free with mat_free */
void mat_free(trs_mat *a);

/* The same matrix with its arrays on CUDA device 0; free with mat_free_device. */
trs_mat mat_to_device(const trs_mat *a);
void mat_free_device(trs_mat *a);

/* ---- how good is x? ------------------------------------------------------------------------------- */

typedef struct quality {
    double omega;    /* max |r|_i / (|op(T)| |x| + |b|)_i */
    double normwise; /* |r| / (|op(T)| |x| + |b|), in the maximum norm */
    int row;         /* where omega is */
    int longest;     /* entries in the longest row of op(T), diagonal included */
} quality;

/* Of one right-hand side whose element i is at i*step; unit: as if the diagonal were one. */
quality quality_of(const model *m, bool unit, trs_op op, trs_dtype t, const void *b, int64_t bstep,
                   const void *x, int64_t xstep);

/* y = |a| of the pattern: which x depend on b(k)?  out [n]. */
void reach(const model *m, trs_op op, int k, bool *out);

char *matrix_file(const char *name); /* matrices/NAME of the sources; free it.  NULL: not there */

/* ---- solvers ------------------------------------------------------------------------------------ */

/* The first of these solvers, [count], that can be used here; NULL: none.  A test that is not of a solver's room gets
 * along without that solver. */
const char *available_solver(const char *const *names, int count);

/* ---- the triangles of a plan ------------------------------------------------------------------------ */

/* T, real, and T', as lower triangles; freed by trs_tri_free. */
void model_triangles(trs_context *ctx, const model *m, trs_tri *t, trs_tri *transposed);

/* L x = b to 1e-13 in every row, or the test fails; L in double. */
void check_solved(const trs_tri *L, const double *b, const double *x);

#endif
