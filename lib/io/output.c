/* output.c: a file that appears complete or not at all: see output.h. */
#include "config.h"

#include "output.h"
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int trs_output_fail(trs_output *out, int code, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
#pragma omp critical(trs_output)
    {
        snprintf(out->message, sizeof out->message, "%s: %s", trs_input_name(out->file), text);
        out->code = code;
    }
    return code;
}

/* Is it the name of an open file?  Such a one must not be replaced by another file. */
static bool is_open_file(const char *file)
{
    return !strncmp(file, "/dev/fd/", 8) || !strncmp(file, "/dev/std", 8);
}

static bool is_standard(const char *file)
{
    return !strcmp(file, "-") || !strcmp(file, "/dev/stdout");
}

/* Create a new file beside the target, with the access rights of the target, or those that a new file gets. */
static int create_part(trs_output *out, const struct stat *old)
{
    size_t size = strlen(out->target) + 40;
    out->part = malloc(size);
    if (!out->part) return trs_output_fail(out, TRS_EMEM, "out of memory");
    for (int k = 0; k < 100; k++) {
        snprintf(out->part, size, "%s.part-%ld-%d", out->target, (long)getpid(), k);
        out->fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0 || errno != EEXIST) break;
    }
    if (out->fd < 0) {
        int code = trs_output_fail(out, TRS_EFILE, "cannot write: %s", strerror(errno));
        free(out->part);
        out->part = NULL;
        return code;
    }
    if (old) (void)!fchmod(out->fd, old->st_mode & 07777);
    out->placed = true;
    return TRS_OK;
}

int trs_output_open(trs_output *out)
{
    struct stat st;
    if (is_standard(out->file)) {
        out->fd = STDOUT_FILENO;
        return TRS_OK;
    }
    bool exists = stat(out->file, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return trs_output_fail(out, TRS_EFILE, "%s", strerror(EISDIR));
    if ((exists && !S_ISREG(st.st_mode)) || is_open_file(out->file)) {
        out->fd = open(out->file, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? trs_output_fail(out, TRS_EFILE, "%s", strerror(errno)) : TRS_OK;
    }
    if (exists && access(out->file, W_OK))
        return trs_output_fail(out, TRS_EFILE, "%s", strerror(errno));
    /* of a link, what it leads to */
    out->target = exists ? realpath(out->file, NULL) : strdup(out->file);
    if (!out->target) return trs_output_fail(out, TRS_EMEM, "out of memory");
    return create_part(out, exists ? &st : NULL);
}

int trs_output_put(trs_output *out, const void *data, int64_t n, int64_t offset)
{
    const char *p = data;
    while (n > 0) {
        ssize_t k =
            out->placed ? pwrite(out->fd, p, (size_t)n, offset) : write(out->fd, p, (size_t)n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0)
            return trs_output_fail(out, TRS_EFILE, "cannot write: %s",
                                   strerror(k ? errno : ENOSPC));
        p += k;
        n -= k;
        offset += k;
    }
    return TRS_OK;
}

int trs_output_close(trs_output *out)
{
    if (out->part && out->durable && !out->code && fsync(out->fd))
        trs_output_fail(out, TRS_EFILE, "cannot write: %s", strerror(errno));
    if (out->fd > STDERR_FILENO && close(out->fd) && !out->code)
        trs_output_fail(out, TRS_EFILE, "cannot write: %s", strerror(errno));
    if (out->part && !out->code && rename(out->part, out->target))
        trs_output_fail(out, TRS_EFILE, "cannot rename: %s", strerror(errno));
    if (out->part && out->code) unlink(out->part);
    free(out->part);
    free(out->target);
    return out->code ? trs_fail(out->code, "%s", out->message) : TRS_OK;
}
