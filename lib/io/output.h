/* output.h: a file that appears complete or not at all.
 *
 * What is written goes to a new file beside the one asked for, which is renamed when all is well:
 * nobody ever sees half of it.  What is no ordinary file (standard output, /dev/..., a pipe) is
 * written to directly, in order. */
#ifndef TRS_OUTPUT_H
#define TRS_OUTPUT_H

#include "base/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trs_output {
    const char *file;
    char *target; /* what to rename to; NULL: written directly */
    char *part;   /* the new file until then */
    int fd;
    bool placed;    /* pieces may be written at their places, in any order */
    int64_t offset; /* bytes so far */
    int code;
    char message[320]; /* the sentence of the first failure */
} trs_output;

/* Of trs_output, file and fd = -1 are set by the caller. */
int trs_output_open(trs_output *out);
int trs_output_put(trs_output *out, const void *p, int64_t n, int64_t offset);
int trs_output_close(
    trs_output *out); /* also after a failed open: rename or remove; out->code, and its sentence */

/* Keep the sentence and the code, return it; threads may call it. */
int trs_output_fail(trs_output *out, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
