/* output.h: files that are written bit by bit and appear as a whole or not at all: io/output.h with a
 * stream. */
#ifndef TRS_BIN_OUTPUT_H
#define TRS_BIN_OUTPUT_H

#include "io/output.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
    trs_output to;
    FILE *f;
} output;

/* All return an exit code, with a sentence.  file_close drops a file that is not complete: the old one
 * stays.  What is no regular file gets what was flushed. */
int file_open(output *o, const char *name);
int file_flush(output *o);
int file_close(output *o, bool complete);

#endif
