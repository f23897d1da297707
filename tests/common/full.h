/* full.h: small matrices kept full, to compare with; shown to the library in every form that a caller may have. */
#ifndef TRS_TESTS_FULL_H
#define TRS_TESTS_FULL_H

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/number/cmplx.h"
#include "report.h"
#include "trisolve-sparse.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex zz;

typedef struct full {
    int n;
    bool is_complex;
    zz *a; /* [n*n] column-major */
} full;

double uniform(void); /* in (-1, 1) */
zz number(bool is_complex);

full full_new(int n, bool is_complex);    /* zero */
full unsymmetric(int n, bool is_complex); /* sparse, with no small pivots to be expected */
full hermitian(int n, bool is_complex, double shift); /* sparse; definite when shift is large */

typedef struct form { /* how a full matrix is shown to the library */
    trs_format format;
    int ptr_bits, idx_bits, base;
    trs_dtype real, cplx;
    bool shuffled; /* the entries of a row, or column, are backwards */
} form;

enum { FORMS = 6 };
extern const form plain, forms[FORMS];

size_t size_of(trs_dtype t); /* bytes of a number */
double eps_of(trs_dtype t);
void set_value(void *a, trs_dtype t, int64_t k, zz v);
zz get_value(const void *a, trs_dtype t, int64_t k);
void round_to(full *f, trs_dtype t);             /* its numbers become those that the type holds */
trs_mat show_full(const full *f, const form *s); /* its entries that are not zero; then hide */
void hide(trs_mat *m);
/* rc is code, the lu says so, and is not solved with; destroys it. */
void assert_refused(trs_lu *lu, int rc, int code, const char *says);

full unfold(const trs_mat *m); /* of its kind; 64-bit ptr, 32-bit idx */

#endif
