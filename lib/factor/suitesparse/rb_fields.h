/* rb_fields.h: the fields of a Boeing file, one number a line.
 *
 * The numbers of such a file are in fields of fixed width, which a Fortran format in its header describes.  RBio
 * reads the text between blanks, with the exponents of C.  From
 *
 *     (3E15.8)    "-1.00000000E+00-2.50000000E+00 3.00000000D+02"
 *
 * RBio would read -1 and 3.  Here it becomes three lines: -1.00000000E+00, -2.50000000E+00, 3.00000000E+02. */
#ifndef TRS_RB_FIELDS_H
#define TRS_RB_FIELDS_H

#include "io/boeing.h"

typedef struct trs_rb_field {
    /* characters before it that mean nothing */
    int skipped;
    int width;
    bool real;
    /* a number without a decimal point has it before so many of its digits */
    int decimals;
    /* a number without an exponent is divided by ten to this power */
    int scale;
} trs_rb_field;

enum { TRS_RB_FIELDS = 512 }; /* at most, in a line */

typedef struct trs_rb_format { /* "(1P,5E15.8)", "(2X,3(I7,1X))" */
    char text[32];
    /* of the first line of a section */
    int count;
    /* the field that the other lines begin with: the first one of the last group, or 0 */
    int again;
    /* characters before that group, which only the first line has */
    int skipped_once;
    /* characters behind the last field */
    int skipped_behind;
    trs_rb_field field[TRS_RB_FIELDS];
} trs_rb_format;

typedef struct trs_rb_fields {
    FILE *out;
    trs_boeing head;
    trs_rb_format format[3]; /* of pointers, rows, values */
    int section;             /* which of them is being read; 3: the matrix is complete */
    bool reverted;           /* its first line has been read */
    int64_t left;            /* how many numbers of this section are to come */
    int64_t line;            /* of the file, from 1, for sentences */
} trs_rb_fields;

/* Read the formats on the fourth line.  Returns TRS_OK, TRS_ESUPPORT. */
int trs_rb_formats(trs_rb_fields *f, const char *fourth);

/* Read the next line of the file, without its end, and write its numbers to out.  The header is written as it is, and what
 * follows the matrix is left out.  Returns TRS_OK, TRS_EMATRIX, TRS_EFILE (out is full). */
int trs_rb_line(trs_rb_fields *f, const char *p, int64_t n);

#endif
