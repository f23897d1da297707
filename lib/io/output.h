/* output.h: a file that appears complete or not at all.
 *
 * The text goes to a new file in the same folder, which is renamed on success: no reader ever sees half of it.
 * Anything else than a regular file (standard output, /dev/..., a pipe) is written directly, in order.
 *
 * The library exports open, put and close for its own programs only: trs_output may change. */
#ifndef TRS_OUTPUT_H
#define TRS_OUTPUT_H

#include "base/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trs_output {
    const char *file;
    char *target; /* what the new file is renamed to; NULL: the file is written to directly */
    char *part;   /* the name of the new file until then */
    int fd;
    bool durable;   /* all of it is on the disk before the new file gets its name */
    bool placed;    /* texts may be written at their offsets, in any order */
    int64_t offset; /* where the next text begins; the callers count it */
    int code;
    char message[320]; /* the sentence of the latest failure */
} trs_output;

/* The caller has set file, fd = -1, and zeros. */
TRS_API int trs_output_open(trs_output *out);
TRS_API int trs_output_put(trs_output *out, const void *p, int64_t n, int64_t offset);
/* Close the file, and rename or remove it; also after a failed open.  Returns out->code, with its sentence. */
TRS_API int trs_output_close(trs_output *out);

/* Keep the sentence and the code, and return the code; threads may call it. */
int trs_output_fail(trs_output *out, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
