/* output.h: a file that appears complete or not at all.
 *
 * The text goes to a new file in the same folder, which is renamed when all of it is on the disk: no reader ever sees
 * half of it, and a failure leaves the old file.  A link is followed, also to a file that does not exist yet.  Anything
 * else than a regular file (standard output, /dev/..., a pipe) is written directly, in order.  The descriptor is never one
 * of 0, 1 and 2, even if the standard streams are closed.
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
    /* what the new file is renamed to; NULL: the file is written to directly */
    char *target;
    /* the name of the new file until then */
    char *part;
    int fd;
    /* the new file depends on the old one, which is read after open: others that update it wait meanwhile */
    bool update;
    /* of the folder of such a file, or -1 */
    int lock;
    /* texts may be written at their offsets, in any order */
    bool placed;
    /* the new file is not wanted after all, and close removes it */
    bool dropped;
    /* where the next text begins; the callers count it */
    int64_t offset;
    int code;
    /* the sentence of the latest failure */
    char message[320];
} trs_output;

/* The caller has set file, fd = -1, update where it applies, and zeros. */
TRS_API int trs_output_open(trs_output *out);
TRS_API int trs_output_put(trs_output *out, const void *p, int64_t n, int64_t offset);
/* Close the file, and rename or remove it; also after a failed open.  Returns out->code, with its sentence. */
TRS_API int trs_output_close(trs_output *out);

/* Keep the sentence and the code, and return the code; threads may call it. */
int trs_output_fail(trs_output *out, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
