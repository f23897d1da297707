/* output.c: files that are written bit by bit and appear as a whole or not at all. */
#include "config.h"

#include "output.h"

#include "bin/common/message.h"
#include "trisolve-sparse.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int file_open(output *o, const char *name)
{
    *o = (output){.to = {.file = name, .fd = -1}};
    int rc = trs_output_open(&o->to);
    if (!rc) {
        const int fd = dup(o->to.fd);
        if (fd >= 0) o->f = fdopen(fd, "w");
        if (o->f) return EXIT_GOOD;
        complain("%s: %s", name, strerror(errno));
        if (fd >= 0) close(fd);
        o->to.dropped = true;
    }
    rc = trs_output_close(&o->to);
    if (rc) complain("%s", trs_message());
    return EXIT_USAGE;
}

int file_flush(output *o)
{
    if (!fflush(o->f) && !ferror(o->f)) return EXIT_GOOD;
    return complain("%s: cannot write", o->to.file), EXIT_USAGE;
}

int file_close(output *o, bool complete)
{
    const int code = complete ? file_flush(o) : EXIT_GOOD;
    (void)fclose(o->f); /* nothing is left to be written, or it is not wanted */
    o->to.dropped = !complete || code;
    const int rc = trs_output_close(&o->to);
    if (rc) complain("%s", trs_message());
    return rc ? EXIT_USAGE : code;
}
