/* output.c: a file that appears complete or not at all: see output.h. */
#include "config.h"

#include "output.h"
#include "base/debug.h"
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

static const char *name_of(const trs_output *out)
{
    return strcmp(out->file, "-") ? trs_input_name(out->file) : "standard output";
}

int trs_output_fail(trs_output *out, int code, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
#pragma omp critical(trs_output)
    {
        snprintf(out->message, sizeof out->message, "%s: %s", name_of(out), text);
        out->code = code;
    }
    return code;
}

static int fail_writing(trs_output *out, int error)
{
    return trs_output_fail(out, TRS_EFILE, "cannot write: %s", strerror(error));
}

/* ---- open ---------------------------------------------------------------------------------- */

/* A descriptor above those of the standard streams, which may be closed: what is meant for them must not get into the
 * file. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return above;
}

/* The descriptor that a name such as /dev/stdout or /dev/fd/5 stands for; -1: it is another name. */
static int descriptor_of(const char *name)
{
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    int fd = -1, end = 0;
    if (!strcmp(name, "-") || !strcmp(name, "/dev/stdout")) return STDOUT_FILENO;
    if (!strcmp(name, "/dev/stderr")) return STDERR_FILENO;
    for (int k = 0; k < 2; k++) {
        const size_t length = strlen(folder[k]);
        if (strncmp(name, folder[k], length)) continue;
        if (sscanf(name + length, "%9d%n", &fd, &end) == 1 && !name[length + (size_t)end])
            return fd;
    }
    return -1;
}

/* out->target is a link: replace it by what the link names, which is relative to the folder of the link. */
static int follow_link(trs_output *out)
{
    char to[4096];
    const ssize_t n = readlink(out->target, to, sizeof to - 1);
    if (n < 0) return fail_writing(out, errno);
    to[n] = '\0';
    const char *slash = strrchr(out->target, '/');
    const size_t folder = slash && *to != '/' ? (size_t)(slash + 1 - out->target) : 0;
    char *next = malloc(folder + (size_t)n + 1);
    if (!next) return trs_output_fail(out, TRS_EMEM, "out of memory");
    memcpy(next, out->target, folder);
    memcpy(next + folder, to, (size_t)n + 1);
    free(out->target);
    out->target = next;
    return TRS_OK;
}

/* Find out->target, which no link is, or that the name stands for an open descriptor. */
static int find_target(trs_output *out, int *descriptor)
{
    struct stat st;
    int rc = TRS_OK;
    out->target = strdup(out->file);
    if (!out->target) return trs_output_fail(out, TRS_EMEM, "out of memory");
    for (int k = 0; !rc; k++) {
        *descriptor = descriptor_of(out->target);
        if (*descriptor >= 0 || lstat(out->target, &st) || !S_ISLNK(st.st_mode)) return TRS_OK;
        rc = k < MOST_LINKS ? follow_link(out) : fail_writing(out, ELOOP);
    }
    return rc;
}

/* Write to an open descriptor, or to what is no regular file: in order, and nothing is replaced. */
static int open_directly(trs_output *out, int descriptor)
{
    if (descriptor < 0) out->fd = above_standard(open(out->target, O_WRONLY | O_CLOEXEC));
    else out->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    free(out->target), out->target = NULL;
    return out->fd < 0 ? fail_writing(out, errno) : TRS_OK;
}

/* Wait for others that update the file, until the file is closed.  The lock is on the folder, since the file gets another
 * inode.  A file system without locks lets all of them go on. */
static void lock_folder(trs_output *out)
{
    char *folder = strdup(out->target);
    if (!folder) return;
    out->lock = above_standard(open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    free(folder);
    while (out->lock >= 0 && flock(out->lock, LOCK_EX) && errno == EINTR) continue;
}

/* Create a new file next to the target, with the access rights of the target, or those of a new file. */
static int create_part(trs_output *out, const struct stat *old)
{
    size_t size = strlen(out->target) + 40;
    out->part = malloc(size);
    if (!out->part) return trs_output_fail(out, TRS_EMEM, "out of memory");
    for (int k = 0; k < 100; k++) {
        snprintf(out->part, size, "%s.part-%ld-%d", out->target, (long)getpid(), k);
        out->fd = above_standard(open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
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
    int descriptor = -1;
    out->lock = -1;
    const int rc = find_target(out, &descriptor);
    if (rc) return rc;
    const bool exists = descriptor < 0 && stat(out->target, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return trs_output_fail(out, TRS_EFILE, "%s", strerror(EISDIR));
    if (descriptor >= 0 || (exists && !S_ISREG(st.st_mode))) return open_directly(out, descriptor);
    if (exists && access(out->target, W_OK))
        return trs_output_fail(out, TRS_EFILE, "%s", strerror(errno));
    if (out->update) lock_folder(out);
    return create_part(out, exists ? &st : NULL);
}

/* ---- put, close ---------------------------------------------------------------------------- */

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

/* EINVAL, EROFS: this file system, or this kind of file, has no such operation. */
static bool is_on_disk(int fd)
{
    return !fsync(fd) || errno == EINVAL || errno == EROFS;
}

/* Put all of the new file on the disk, and give it its name. */
static void give_name(trs_output *out)
{
    if (!is_on_disk(out->fd)) fail_writing(out, errno);
    else if (rename(out->part, out->target))
        trs_output_fail(out, TRS_EFILE, "cannot rename: %s", strerror(errno));
}

int trs_output_close(trs_output *out)
{
    if (out->part && !out->code && !out->dropped) give_name(out);
    if (out->part && (out->code || out->dropped)) unlink(out->part);
    if (out->fd >= 0 && close(out->fd) && !out->code) fail_writing(out, errno);
    if (out->update && out->lock >= 0) close(out->lock);
    free(out->part);
    free(out->target);
    if (out->code) trs_fail(out->code, "%s", out->message);
    return out->code;
}
