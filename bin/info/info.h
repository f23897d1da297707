/* info.h: what the files of the program trisolve-info share.
 *
 *     a file -> facts (facts.c) -> text or JSON (report.c), a plot (plot.c) */
#ifndef TRS_BIN_INFO_H
#define TRS_BIN_INFO_H

#include "bin/common/exits.h"
#include "bin/common/files.h"
#include "bin/common/message.h"

#include <stdbool.h>

typedef struct arguments {
    char **files; /* [count] */
    int count;
    bool json;
    bool rhs;         /* the right-hand side of an archive is looked at instead */
    const char *plot; /* the file for the widths of levels; NULL: none */
    const char *spy;  /* the file for the pattern; NULL: none */
    int threads;      /* to read with; 0: the default */
    int64_t memory;   /* bytes of arrays and unpacked text; 0: the default */
    bool low_memory;
} arguments;

enum { ANALYSES = 2, LOWER = 0, UPPER, PERMUTED, TRIANGLES };

enum { IN_FILE, BY_LEVEL, ORDERS };

typedef struct spy_cell {
    int64_t count; /* entries */
    double levels; /* sum of the levels of their rows */
} spy_cell;

typedef struct spy { /* a pattern as a grid */
    int64_t cells;   /* in a row */
    spy_cell *cell;  /* [cells*cells]; NULL: not asked for */
} spy;

typedef struct analysis { /* a way to find the levels */
    const char *how;      /* trs_info.analysis; NULL: it was not asked for */
    double seconds;
} analysis;

/* The lower or the upper triangle of a sparse matrix, diagonal included; or the one that the matrix
 * is after permutations of its rows and columns. */
typedef struct triangle {
    const char *name; /* "lower", "upper", "permuted"; NULL: it was not looked at */
    int64_t entries, levels;
    int64_t *width;                  /* [levels] rows of each level */
    int64_t widest;                  /* ... of the widest level */
    double mean_width, median_width; /* ... of a level */
    int64_t longest;                 /* entries of the longest row */
    double mean_row;                 /* ... of a row */
    int64_t missing;                 /* diagonal entries that are not stored */
    int64_t zero;                    /* ... that are stored and 0 */
    double floor;                    /* bytes that every solve must move */
    analysis levels_by[ANALYSES];    /* with --json */
    spy spy[ORDERS];                 /* with --spy */
} triangle;

typedef struct facts {
    const char *file;
    char error[400];   /* the sentence; "": all went well */
    trs_mm mm;         /* base 0; without its arrays, which are freed when the facts are known */
    const char *shape; /* "lower", "upper", "diagonal", "permuted", "none"; NULL: not square */
    double sum_re, sum_im, max_abs; /* over all entries */
    double seconds;                 /* that reading took */
    triangle part[TRIANGLES];
} facts;

/* All of these return exit codes, with a sentence on the standard error stream after an error. */

int facts_read(const arguments *a, const char *file, facts *f);
void facts_free(facts *f);

/* The entries of row i in the triangle are *p ... *end - 1; columns ascend. */
void row_part(const trs_mm *mm, bool lower, int64_t i, int64_t *p, int64_t *end);

/* Sets t->spy; returns a trs_status.  level [n], and t has its levels and their widths. */
int spy_make(const trs_mm *mm, bool lower, const int32_t *level, triangle *t);

void print_text(const facts *f);

/* An object for one file, an array for several; of a file that could not be read what was known. */
int print_json(const facts *f, int count);

/* Draws what the options say into SVG files. */
int plot(const arguments *a, const facts *f);

#endif
