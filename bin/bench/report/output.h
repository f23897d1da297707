/* output.h: files that appear as a whole or not at all. */
#ifndef TRS_BIN_BENCH_OUTPUT_H
#define TRS_BIN_BENCH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
    const char *name;
    char temporary[4096]; /* the name that the file has until it is complete */
    FILE *f;
} output;

/* Both return an exit code, with a sentence.  file_close removes a file that is not complete. */
int file_open(output *o, const char *name);
int file_close(output *o, bool complete);

#endif
