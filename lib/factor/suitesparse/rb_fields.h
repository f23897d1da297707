/* rb_fields.h: the fields of a Boeing file as words.
 *
 * The numbers of such a file stand in fields of fixed width, as a Fortran format in its header says; RBio reads
 * words between blanks, as C writes them.  Of
 *
 *     (3E15.8)    "-1.00000000E+00-2.50000000E+00 3.00000000D+02"
 *
 * RBio would make -1 and 3; here it becomes three lines: -1.00000000E+00, -2.50000000E+00, 3.00000000E+02. */
#ifndef TRS_RB_FIELDS_H
#define TRS_RB_FIELDS_H

#include "io/boeing.h"

typedef struct trs_rb_format { /* "(1P,5E15.8)": 5 fields of 15 characters */
    char text[32];
    int count, width;
    bool real;
    int decimals; /* the point of a number that has none is put before so many digits */
    int scale;    /* a number without an exponent is divided by so many powers of ten */
} trs_rb_format;

typedef struct trs_rb_fields {
    FILE *out;
    trs_boeing head;
    trs_rb_format format[3]; /* of pointers, rows, values */
    int part;                /* which of them is being read; 3: the matrix is whole */
    int64_t left;            /* numbers of this part to come */
    int64_t line;            /* of the file, from 1: where an error is */
} trs_rb_fields;

/* The formats on the fourth line.  Returns TRS_OK, TRS_ESUPPORT. */
int trs_rb_formats(trs_rb_fields *f, const char *fourth);

/* The next line of the file, without its end; the header is written as it is.  What follows the matrix is
 * left out.  Returns TRS_OK, TRS_EMATRIX, TRS_EFILE (out is full). */
int trs_rb_line(trs_rb_fields *f, const char *p, int64_t n);

#endif
