/* child.h: each matrix in a process of its own. */
#ifndef TRS_BIN_BENCH_CHILD_H
#define TRS_BIN_BENCH_CHILD_H

#include "wire.h"

typedef struct processes {
    bool resume;    /* matrices that an earlier run has got to are not run again */
    double seconds; /* that the process of a matrix may take */
    double memory;  /* bytes that it may have */
    char **argv;    /* the command line, of which argv [1] ... argv [options] are options */
    int options;
} processes;

/* The results of a matrix, and always how they end: when not as they should, a row says why.
 * Returns an exit code. */
int run_child(const settings *s, const processes *p, const char *name, buffer *b);

#endif
