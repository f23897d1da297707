/* info.h: what the files of the program trisolve-info share.
 *
 *     a file (files.c) -> facts (info_facts.c) -> text or JSON (info_report.c), a plot (info_plot.c) */
#ifndef TRS_BIN_INFO_H
#define TRS_BIN_INFO_H

#include "bin/common/files.h"

#include <stdbool.h>

enum { EXIT_GOOD = 0, EXIT_USAGE = 1 };

typedef struct arguments {
    char **files; /* [count] */
    int count;
    bool json, rhs, low_memory;
    const char *plot; /* NULL: none */
    int threads;
    int64_t memory; /* bytes, 0: the default */
} arguments;

enum { PARTS = 3, ANALYSES = 2 };

typedef struct analysis { /* one way to find the levels */
    const char *how;      /* trs_info.analysis; NULL: not asked for */
    double seconds;
} analysis;

/* The lower or the upper triangle of a sparse matrix, diagonal included; or the one that it is after permutations of its
 * rows and columns. */
typedef struct triangle {
    const char *name; /* "lower", "upper", "permuted"; NULL: not looked at */
    int64_t entries, levels, widest;
    double mean_width, median_width; /* rows of a level */
    int64_t longest;                 /* entries in the longest row */
    double mean_row;
    int64_t missing;              /* diagonal entries that are not stored */
    int64_t zero;                 /* ... that are stored and 0 */
    double floor;                 /* bytes that every solve must move */
    int64_t *width;               /* [levels] */
    analysis levels_by[ANALYSES]; /* --json */
} triangle;

typedef struct facts {
    const char *file;
    char error[400];   /* the sentence; "": all went well */
    trs_mm mm;         /* base 0; its arrays are gone */
    const char *shape; /* "lower", "upper", "diagonal", "permuted", "none"; NULL: not square */
    double sum_re, sum_im, max_abs; /* over all entries */
    double seconds;                 /* reading took */
    triangle part[PARTS];
} facts;

/* A sentence to stderr as "trisolve-info: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

int facts_read(const arguments *a, const char *file, facts *f); /* an exit code */
void facts_free(facts *f);

void print_text(const facts *f);
/* An object for one file, an array for several; a file that could not be read has an "error". */
int print_json(const facts *f, int count);

int plot_widths(const char *file, const facts *f);

#endif
