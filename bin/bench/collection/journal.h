/* journal.h: --resume: what a run over many matrices has got to, kept in a file beside its
 * output. */
#ifndef TRS_BIN_BENCH_JOURNAL_H
#define TRS_BIN_BENCH_JOURNAL_H

#include "child.h"

#include <stdio.h>

typedef struct journal {
    char name[4096];
    FILE *f;      /* NULL: there is no output beside which it could be kept */
    buffer old;   /* what an earlier run has left */
    size_t first; /* where its first matrix begins */
} journal;

/* The functions return exit codes.  output NULL: there is none. */
int journal_open(journal *j, const processes *p, const char *output);
bool journal_find(const journal *j, const char *name,
                  buffer *results); /* whose bytes belong to j */
int journal_add(journal *j, const char *name, const buffer *results);
void journal_close(journal *j, bool complete); /* the file of a complete run is removed */

#endif
