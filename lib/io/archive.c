/* archive.c: the text inside a packed file, by libarchive.
 *
 * libarchive is linked, or opened at run time when it is first needed.  It reads the packed bytes through a function, so
 * that a pipe can be unpacked, too. */
#include "config.h"

#include "archive.h"
#include "base/debug.h"
#include "base/number/number.h"
#include "base/libraries/library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *trs_archive_kind(const char *bytes, int64_t count)
{
    static const struct {
        const char *name, *magic;
        int at, length;
    } kind[] = {
        {"gzip", "\x1f\x8b", 0, 2},         {"xz", "\xfd\x37zXZ\0", 0, 6},
        {"zstd", "\x28\xb5\x2f\xfd", 0, 4}, {"bzip2", "BZh", 0, 3},
        {"tar", "ustar", 257, 5},
    };
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++)
        if (count >= kind[k].at + kind[k].length &&
            !memcmp(bytes + kind[k].at, kind[k].magic, (size_t)kind[k].length))
            return kind[k].name;
    return NULL;
}

#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>

/* The functions of libarchive that are called, through pointers: to those linked, or to those found at run time. */
#define ARCHIVE_FUNCTIONS(F)                                                                       \
    F(archive_read_new)                                                                            \
    F(archive_read_free)                                                                           \
    F(archive_read_support_filter_gzip)                                                            \
    F(archive_read_support_filter_xz)                                                              \
    F(archive_read_support_filter_zstd)                                                            \
    F(archive_read_support_filter_bzip2)                                                           \
    F(archive_read_support_format_tar)                                                             \
    F(archive_read_support_format_raw)                                                             \
    F(archive_read_support_format_empty)                                                           \
    F(archive_read_open)                                                                           \
    F(archive_read_next_header)                                                                    \
    F(archive_read_data)                                                                           \
    F(archive_format)                                                                              \
    F(archive_entry_pathname)                                                                      \
    F(archive_entry_filetype)                                                                      \
    F(archive_set_error)                                                                           \
    F(archive_error_string)

typedef struct archive_library {
    void *library;
    ARCHIVE_FUNCTIONS(TRS_LIBRARY_MEMBER)
} archive_library;

enum { BLOCK = 1 << 16 }; /* bytes */

struct trs_archive {
    trs_archive_source from;
    archive_library la;
    struct archive *handle;
    bool empty;        /* the packed text has no bytes, and libarchive gives no file to read */
    char block[BLOCK]; /* packed bytes on their way to libarchive */
};

#ifdef LIBARCHIVE_SONAME
static int open_library(archive_library *lib, char *why, size_t size)
{
    lib->library = trs_library_open(NULL, LIBARCHIVE_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    ARCHIVE_FUNCTIONS(TRS_LIBRARY_FIND)
    return rc;
}
#else
#define LINKED(name) lib->name = name;
static int open_library(archive_library *lib, char *why, size_t size)
{
    (void)why, (void)size;
    ARCHIVE_FUNCTIONS(LINKED)
    return TRS_OK;
}
#endif

static int fail_unpacking(const trs_archive *a, char *why, size_t size)
{
    const char *what = a->la.archive_error_string(a->handle);
    snprintf(why, size, "cannot unpack: %s", what ? what : "damaged");
    return TRS_EFILE;
}

/* ---- the member that is wanted -------------------------------------------------------------- */

/* The parts of a path in an archive, DIR/NAME.mtx or NAME.mtx: the name of the file, and the name of its matrix. */
typedef struct member {
    const char *base; /* [length] NAME without the suffix */
    size_t length;
    /* [matrix_length] DIR; if there is none, the name of the archive itself up to a '.' */
    const char *matrix;
    size_t matrix_length;
} member;

/* What follows the last '/' before end. */
static const char *last_part(const char *path, const char *end)
{
    while (end > path && end[-1] != '/') end--;
    return end;
}

/* false: the path has another suffix. */
static bool split_path(const trs_archive *a, const char *path, member *m)
{
    const char *end = path + strlen(path), *archive = a->from.file;
    const size_t suffix = strlen(a->from.suffix);
    m->base = last_part(path, end);
    m->length = (size_t)(end - m->base);
    if (m->length <= suffix || strcmp(end - suffix, a->from.suffix)) return false;
    m->length -= suffix;
    if (m->base > path) {
        m->matrix = last_part(path, m->base - 1);
        m->matrix_length = (size_t)(m->base - 1 - m->matrix);
    } else {
        m->matrix = last_part(archive, archive + strlen(archive));
        m->matrix_length = strcspn(m->matrix, ".");
    }
    return true;
}

/* Is the path that of the member wanted?  The archives of the SuiteSparse collection hold NAME/NAME.mtx (or .rb) and, at
 * times, NAME/NAME_b.mtx, NAME/NAME_rhs1.mtx and others.  any: each file with the suffix will do. */
static bool is_wanted(const trs_archive *a, const char *path, bool any)
{
    static const char *const tail[] = {"_b", "_rhs", "_b1", "_rhs1"};
    member m;
    if (!split_path(a, path, &m)) return false;
    if (any) return true;
    if (m.length < m.matrix_length || strncmp(m.base, m.matrix, m.matrix_length)) return false;
    const char *rest = m.base + m.matrix_length;
    const size_t left = m.length - m.matrix_length;
    if (!a->from.rhs) return left == 0;
    for (size_t t = 0; t < sizeof tail / sizeof tail[0]; t++)
        if (left == strlen(tail[t]) && !strncmp(rest, tail[t], left)) return true;
    return false;
}

/* Go to the member; 1: it is found, 0: there is none, or a status. */
static int find_member(trs_archive *a, bool any, char *why, size_t size)
{
    const archive_library *la = &a->la;
    struct archive_entry *e;
    int rc;
    while ((rc = la->archive_read_next_header(a->handle, &e)) == ARCHIVE_OK || rc == ARCHIVE_WARN) {
        if ((la->archive_format(a->handle) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_TAR)
            return !a->from.rhs; /* one packed file, which is the matrix */
        const char *path = la->archive_entry_pathname(e);
        if (path && la->archive_entry_filetype(e) == AE_IFREG && is_wanted(a, path, any)) return 1;
    }
    if (rc != ARCHIVE_EOF) return fail_unpacking(a, why, size);
    a->empty = la->archive_format(a->handle) == ARCHIVE_FORMAT_EMPTY;
    return a->empty && !a->from.rhs;
}

/* ---- open, read, close ---------------------------------------------------------------------- */

static la_ssize_t give_packed(struct archive *handle, void *data, const void **buffer)
{
    trs_archive *a = data;
    int64_t k = a->from.read(a->from.user, a->block, BLOCK);
    if (k < 0) a->la.archive_set_error(handle, errno, "%s", strerror(errno));
    *buffer = a->block;
    return k;
}

static void drop_handle(trs_archive *a)
{
    if (a->handle) a->la.archive_read_free(a->handle);
    a->handle = NULL;
}

static int start(trs_archive *a, char *why, size_t size)
{
    const archive_library *la = &a->la;
    struct archive *h = a->handle = la->archive_read_new();
    if (!h) return snprintf(why, size, "out of memory"), TRS_EMEM;
    la->archive_read_support_filter_gzip(h);
    la->archive_read_support_filter_xz(h);
    la->archive_read_support_filter_zstd(h);
    la->archive_read_support_filter_bzip2(h);
    la->archive_read_support_format_tar(h);
    la->archive_read_support_format_raw(h);
    la->archive_read_support_format_empty(h);
    if (la->archive_read_open(h, a, NULL, give_packed, NULL)) return fail_unpacking(a, why, size);
    return TRS_OK;
}

/* Go to the matrix that bears the archive's name, else to the first file with the suffix; or to the right-hand side. */
static int find_text(trs_archive *a, char *why, size_t size)
{
    int found = start(a, why, size);
    if (!found) found = find_member(a, false, why, size);
    if (found == 0 && !a->from.rhs && a->from.rewind(a->from.user)) {
        drop_handle(a);
        found = start(a, why, size);
        if (!found) found = find_member(a, true, why, size);
    }
    if (found) return (int)trs_min(found, TRS_OK);
    if (a->from.rhs)
        snprintf(why, size, "no right-hand side (NAME_b.mtx or NAME_rhs.mtx) in the archive");
    else snprintf(why, size, "no matrix (%s file) in the archive", a->from.suffix);
    return TRS_EFILE;
}

int trs_archive_open(trs_archive **out, const trs_archive_source *from, char *why, size_t size)
{
    char reason[120];
    trs_archive *a = *out = trs_alloc_zero(&from->memory, 1, sizeof *a);
    if (!a) return snprintf(why, size, "out of memory"), TRS_EMEM;
    a->from = *from;
    int rc = open_library(&a->la, reason, sizeof reason);
    if (rc) {
        snprintf(why, size, "packed by %s; packed files need libarchive (%s)", from->kind, reason);
        rc = TRS_ESUPPORT;
    } else rc = find_text(a, why, size);
    if (!rc) return TRS_OK;
    trs_archive_close(a);
    *out = NULL;
    return rc;
}

int64_t trs_archive_read(trs_archive *a, char *to, int64_t n, char *why, size_t size)
{
    TRS_ASSERT(a->handle && n >= 0);
    if (a->empty) return 0;
    const la_ssize_t k = a->la.archive_read_data(a->handle, to, (size_t)n);
    if (k < 0) return fail_unpacking(a, why, size);
    return k;
}

void trs_archive_close(trs_archive *a)
{
    if (!a) return;
    drop_handle(a);
    trs_library_close(a->la.library);
    const trs_memory mem = a->from.memory;
    trs_free(&mem, a);
}
#else
int trs_archive_open(trs_archive **a, const trs_archive_source *from, char *why, size_t size)
{
    *a = NULL;
    snprintf(why, size, "packed by %s, but this build has no libarchive: unpack the file first",
             from->kind);
    return TRS_ESUPPORT;
}

/* The rest is not reached without an archive. */
int64_t trs_archive_read(trs_archive *a, char *to, int64_t n, char *why, size_t size)
{
    (void)a, (void)to, (void)n, (void)why, (void)size;
    return 0;
}

void trs_archive_close(trs_archive *a)
{
    (void)a;
}
#endif
