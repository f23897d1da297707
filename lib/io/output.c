/* output.c: a file that appears complete or not at all: see output.h. */
#include "config.h"

#include "output.h"
#include "base/debug.h"
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

static int fail_writing(trs_output *out, int error)
{
    return trs_output_fail(out, TRS_EFILE, "cannot write: %s", strerror(error));
}

/* Create a new file next to the target, with the access rights of the target, or those of a new file. */
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
        free(out->part), out->part = NULL;
        return fail_writing(out, errno);
    }
    if (old) (void)!fchmod(out->fd, old->st_mode & 07777);
    out->placed = true;
    return TRS_OK;
}

int trs_output_open(trs_output *out)
{
    struct stat st;
    const char *file = out->file;
    if (!strcmp(file, "-") || !strcmp(file, "/dev/stdout")) {
        out->fd = STDOUT_FILENO;
        return TRS_OK;
    }
    const bool exists = stat(file, &st) == 0;
    /* the name of an open file, which must not be replaced by another file */
    const bool is_open = !strncmp(file, "/dev/fd/", 8) || !strncmp(file, "/dev/std", 8);
    if (exists && S_ISDIR(st.st_mode))
        return trs_output_fail(out, TRS_EFILE, "%s", strerror(EISDIR));
    if ((exists && !S_ISREG(st.st_mode)) || is_open) {
        out->fd = open(file, O_WRONLY | O_CLOEXEC);
        if (out->fd >= 0) return TRS_OK;
        return trs_output_fail(out, TRS_EFILE, "%s", strerror(errno));
    }
    if (exists && access(file, W_OK)) return trs_output_fail(out, TRS_EFILE, "%s", strerror(errno));
    /* the target of a link */
    out->target = exists ? realpath(file, NULL) : strdup(file);
    if (!out->target) return trs_output_fail(out, TRS_EMEM, "out of memory");
    return create_part(out, exists ? &st : NULL);
}

int trs_output_put(trs_output *out, const void *data, int64_t n, int64_t offset)
{
    const char *p = data;
    TRS_ASSERT(out->fd >= 0 && n >= 0 && offset >= 0);
    while (n > 0) {
        ssize_t k;
        if (out->placed) k = pwrite(out->fd, p, (size_t)n, offset);
        else k = write(out->fd, p, (size_t)n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return fail_writing(out, k ? errno : ENOSPC);
        p += k;
        n -= k;
        offset += k;
    }
    return TRS_OK;
}

int trs_output_close(trs_output *out)
{
    if (out->part && out->durable && !out->code && fsync(out->fd)) fail_writing(out, errno);
    if (out->fd > STDERR_FILENO && close(out->fd) && !out->code) fail_writing(out, errno);
    if (out->part && !out->code && rename(out->part, out->target))
        trs_output_fail(out, TRS_EFILE, "cannot rename: %s", strerror(errno));
    if (out->part && out->code) unlink(out->part);
    free(out->part);
    free(out->target);
    if (out->code) trs_fail(out->code, "%s", out->message);
    return out->code;
}
