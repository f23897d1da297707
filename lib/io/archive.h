/* archive.h: the text inside a packed file, which may be an archive of several files.
 *
 * libarchive reads gzip, xz, zstd, bzip2 and tar.  Only archive.c uses it. */
#ifndef TRS_ARCHIVE_H
#define TRS_ARCHIVE_H

#include "base/memory.h"

#include <stdbool.h>

/* How a file is packed, as its first bytes say: "gzip", ...; NULL: it is not packed. */
const char *trs_archive_kind(const char *bytes, int64_t count);

typedef struct trs_archive_source { /* a packed file */
    const char *file;               /* its name, by which the matrix in an archive is found */
    const char *kind;               /* of packing */
    const char *suffix;             /* of the archive member that is wanted */
    bool rhs;                       /* the right-hand side is wanted, not the matrix */
    trs_memory memory;
    void *user;
    int64_t (*read)(void *user, char *to, int64_t bytes); /* bytes read, 0: the end, -1: errno */
    bool (*rewind)(void *user); /* back to the first byte; false: it cannot */
} trs_archive_source;

typedef struct trs_archive trs_archive;

/* Find the text that is wanted.  Returns TRS_OK, TRS_EFILE, TRS_EMEM or TRS_ESUPPORT; then *a = NULL, and the reason is in
 * why [size]. */
int trs_archive_open(trs_archive **a, const trs_archive_source *from, char *why, size_t size);
/* Up to n bytes of it; 0: the end, or TRS_EFILE with the reason. */
int64_t trs_archive_read(trs_archive *a, char *to, int64_t n, char *why, size_t size);
void trs_archive_close(trs_archive *a); /* NULL allowed */

#endif
