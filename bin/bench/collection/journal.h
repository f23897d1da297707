/* journal.h: what a run over many matrices has got to: a file that child processes write their
 * results to, and that --resume reads again. */
#ifndef TRS_BIN_BENCH_JOURNAL_H
#define TRS_BIN_BENCH_JOURNAL_H

#include "wire.h"

typedef struct processes {
    bool resume;    /* matrices that an earlier run has got to are not run again */
    double seconds; /* that the process of a matrix may take */
    int64_t memory; /* bytes that it may have */
    char **argv;    /* the command line, of which argv [1] ... argv [options] are options */
    int options;
} processes;

typedef struct journal {
    char name[4096];   /* of the file; "": it has none, for there is no output to keep it beside */
    FILE *f;           /* to which a child process writes as well */
    char *all;         /* [size] the file as it was when it was read last */
    size_t size;       /* bytes of it */
    size_t first, old; /* in which the matrices of an earlier run begin and end */
} journal;

/* The functions return exit codes.  output: the file beside which it is kept, or NULL. */
int journal_open(journal *j, const processes *p, const char *output);
void journal_close(journal *j, bool complete); /* the file of a complete run is removed */

/* Where the results of the matrix begin that an earlier run has got to; 0: nowhere. */
size_t journal_find(const journal *j, const char *name);

bytes journal_from(const journal *j, size_t at); /* all bytes from there on */
int journal_read(journal *j);                    /* reads what was written since */
int journal_cut(journal *j, size_t size);        /* drops all that is behind */

/* ---- a process of its own for a matrix (child.c) --------------------------------------------- */

/* Writes the results of the matrix into the journal, from *at on, and always how they end: when not
 * as they should, a row says why.  Returns an exit code. */
int run_child(const processes *p, const char *name, journal *j, size_t *at);

#endif
