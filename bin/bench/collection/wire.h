/* wire.h: results as bytes, from a child process to its parent and in the file of --resume. */
#ifndef TRS_BIN_BENCH_WIRE_H
#define TRS_BIN_BENCH_WIRE_H

#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"

#include <stdio.h>

/* The name of a matrix is written, its results one after the other, and then how they end.  Each
 * call writes all of it to the file.  These and wire_receive return exit codes. */
int wire_matrix(FILE *f, const char *name);
int wire_result(FILE *f, const result *r);
int wire_end(FILE *f, bool bad_file, bool left_out);

typedef struct bytes { /* a part of what was written */
    const char *p, *end;
} bytes;

typedef struct ending { /* how the results of a matrix end */
    bool ended;         /* as they should: with what wire_end has written */
    bool bad_file, left_out;
} ending;

/* Hands out the results of a matrix, which begin at b.p, as those of that file, and says how they
 * end. */
int wire_receive(const settings *s, const char *file, bytes b, taker to, ending *e);

/* The matrix at b->p, in *name; b is then what follows its results.  False: it is not there as a
 * whole; b is what follows the records that are. */
bool wire_next(bytes *b, bytes *name);

#endif
