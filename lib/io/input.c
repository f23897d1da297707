/* input.c: the text of a file, whatever it is packed in, as pieces of whole lines.
 *
 * A plain file is mapped: a piece is a cut of the map at a line end, and only the last one is
 * copied, to give it the padding that the number reader relies on.  Everything else is a stream,
 * read or unpacked straight into the buffer of the thread that asked: while one thread unpacks,
 * others parse.  What a file is, its first bytes say, not its name.  libarchive is known to this
 * file alone. */
#include "config.h"

#include "input.h"
#include "base/library.h"
#include "mm_number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>

/* What is called of libarchive, by pointers: to the functions that are linked, or to those found at run time. */
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
#endif

enum { LOOK = 512, BLOCK = 1 << 16 };

struct trs_input {
    trs_memory mem;
    const char *file, *suffix; /* as the caller called it; of members of an archive */
    int fd;
    int64_t limit, seen; /* bytes of unpacked text: allowed, given so far */
    int64_t packed, got; /* bytes of the file: its size (0: unknown), read so far */
    bool cut, ended;     /* the last line had no '\n'; the stream is at its end */
    char message[320];
    /* a plain file */
    char *map; /* [size] */
    int64_t size, at;
    /* a stream: the bytes looked at, and text read but not given */
    char look[LOOK];
    int looked, used;
    char *hold; /* [room], text in from..to-1 */
    int64_t room, from, to;
    char *block;  /* [BLOCK] packed bytes on their way to libarchive */
    void *unpack; /* struct archive */
#ifdef HAVE_LIBARCHIVE
    archive_library la;
#endif
};

static int fail(trs_input *in, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(trs_input *in, int code, const char *format, ...)
{
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(in->message, sizeof in->message, "%s: %s", trs_input_name(in->file), text);
    return code;
}

const char *trs_input_name(const char *file)
{
    size_t n = strlen(file);
    if (!strcmp(file, "-")) return "standard input";
    return n > 150 ? file + n - 150 : file; /* the end of a long path says more */
}

static int fail_errno(trs_input *in)
{
    return fail(in, TRS_EFILE, "%s", strerror(errno));
}

const char *trs_input_message(const trs_input *in)
{
    return in->message;
}
bool trs_input_cut(const trs_input *in)
{
    return in->cut;
}
int64_t trs_input_size(const trs_input *in)
{
    return in->map ? in->size - in->at : -1;
}

double trs_input_done(const trs_input *in)
{
    int64_t done = in->map ? in->at : in->got, all = in->map ? in->size : in->packed;
    return all > 0 && done < all ? (double)done / (double)all : all > 0;
}

/* ---- bytes of the file --------------------------------------------------------------------- */

/* Up to n bytes, those that were looked at first; 0: the end, -1: errno. */
static int64_t read_raw(trs_input *in, char *to, int64_t n)
{
    if (in->used < in->looked) {
        int64_t left = in->looked - in->used, k = n < left ? n : left;
        memcpy(to, in->look + in->used, (size_t)k);
        in->used += (int)k;
        return k;
    }
    ssize_t k;
    do k = read(in->fd, to, (size_t)n);
    while (k < 0 && errno == EINTR);
    if (k > 0) in->got += k;
    return k;
}

static int look(trs_input *in)
{
    while (in->looked < LOOK) {
        ssize_t k = read(in->fd, in->look + in->looked, (size_t)(LOOK - in->looked));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return fail_errno(in);
        if (k == 0) break;
        in->looked += (int)k;
    }
    in->got = in->looked;
    return TRS_OK;
}

static const char *packing(const trs_input *in)
{
    static const struct {
        const char *name, *magic;
        int at, n;
    } kind[] = {
        {"gzip", "\x1f\x8b", 0, 2},
        {"xz",
         "\xfd"
         "7zXZ\0",
         0, 6},
        {"zstd", "\x28\xb5\x2f\xfd", 0, 4},
        {"bzip2", "BZh", 0, 3},
        {"tar", "ustar", 257, 5},
    };
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++)
        if (in->looked >= kind[k].at + kind[k].n &&
            !memcmp(in->look + kind[k].at, kind[k].magic, (size_t)kind[k].n))
            return kind[k].name;
    return NULL;
}

/* ---- libarchive ---------------------------------------------------------------------------- */

#ifdef HAVE_LIBARCHIVE
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

static la_ssize_t give_packed(struct archive *a, void *data, const void **buffer)
{
    trs_input *in = data;
    int64_t k = read_raw(in, in->block, BLOCK);
    if (k < 0) in->la.archive_set_error(a, errno, "%s", strerror(errno));
    *buffer = in->block;
    return k;
}

static int fail_archive(trs_input *in)
{
    const char *why = in->la.archive_error_string(in->unpack);
    return fail(in, TRS_EFILE, "cannot unpack: %s", why ? why : "damaged");
}

/* Is `name` the member wanted?  The collection's archives hold NAME/NAME.mtx (or .rb) and, at times,
 * NAME/NAME_b.mtx, NAME/NAME_rhs1.mtx and others; a bare NAME.mtx goes by the archive's own
 * name. */
static bool wanted(const trs_input *in, const char *name, bool rhs, bool any)
{
    static const char *const tail[] = {"_b", "_rhs", "_b1", "_rhs1"};
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    size_t s = strlen(in->suffix), n = strlen(base);
    if (n <= s || strcmp(base + n - s, in->suffix)) return false;
    if (any) return true;
    n -= s;
    const char *dir = name, *file = strrchr(in->file, '/');
    file = file ? file + 1 : in->file;
    for (const char *p = name; slash && p < slash; p++)
        if (*p == '/') dir = p + 1;
    size_t k = slash ? (size_t)(slash - dir) : strcspn(file, ".");
    if (n < k || strncmp(base, slash ? dir : file, k)) return false;
    if (!rhs) return n == k;
    for (size_t t = 0; t < sizeof tail / sizeof tail[0]; t++)
        if (n - k == strlen(tail[t]) && !strncmp(base + k, tail[t], n - k)) return true;
    return false;
}

static int open_archive(trs_input *in)
{
    archive_library *la = &in->la;
    char why[120];
    if (open_library(la, why, sizeof why))
        return fail(in, TRS_ESUPPORT, "packed by %s, and packed files need libarchive (%s)",
                    packing(in), why);
    struct archive *a = in->unpack = la->archive_read_new();
    if (!in->block) in->block = trs_alloc(&in->mem, BLOCK, 1);
    if (!a || !in->block) return fail(in, TRS_EMEM, "out of memory");
    la->archive_read_support_filter_gzip(a);
    la->archive_read_support_filter_xz(a);
    la->archive_read_support_filter_zstd(a);
    la->archive_read_support_filter_bzip2(a);
    la->archive_read_support_format_tar(a);
    la->archive_read_support_format_raw(a);
    la->archive_read_support_format_empty(a);
    return la->archive_read_open(a, in, NULL, give_packed, NULL) ? fail_archive(in) : TRS_OK;
}

/* Go to the member; 1: there, 0: there is none. */
static int find_member(trs_input *in, bool rhs, bool any)
{
    const archive_library *la = &in->la;
    struct archive *a = in->unpack;
    struct archive_entry *e;
    int rc;
    while ((rc = la->archive_read_next_header(a, &e)) == ARCHIVE_OK || rc == ARCHIVE_WARN) {
        if ((la->archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_TAR)
            return rhs ? 0 : 1; /* one packed file */
        const char *name = la->archive_entry_pathname(e);
        if (name && la->archive_entry_filetype(e) == AE_IFREG && wanted(in, name, rhs, any))
            return 1;
    }
    if (rc != ARCHIVE_EOF) return fail_archive(in);
    in->ended = la->archive_format(a) == ARCHIVE_FORMAT_EMPTY;
    return in->ended && !rhs;
}

static void close_archive(trs_input *in)
{
    if (in->unpack) in->la.archive_read_free(in->unpack);
    trs_library_close(in->la.library);
    in->unpack = in->la.library = NULL;
}

/* The matrix that bears the archive's name, else the first .mtx file. */
static int start_unpacking(trs_input *in, bool rhs)
{
    int rc = open_archive(in);
    int found = rc ? rc : find_member(in, rhs, false);
    if (found == 0 && !rhs && lseek(in->fd, 0, SEEK_SET) == 0) {
        close_archive(in);
        in->looked = in->used = 0;
        in->got = 0;
        rc = open_archive(in);
        found = rc ? rc : find_member(in, rhs, true);
    }
    if (found) return found < 0 ? found : TRS_OK;
    if (rhs) return fail(in, TRS_EFILE, "no right-hand side (NAME_b.mtx or NAME_rhs.mtx) in it");
    return fail(in, TRS_EFILE, "no matrix (%s file) in the archive", in->suffix);
}

static int64_t read_unpacked(trs_input *in, char *to, int64_t n)
{
    la_ssize_t k = in->la.archive_read_data(in->unpack, to, (size_t)n);
    return k < 0 ? fail_archive(in) : k;
}
#else
static void close_archive(trs_input *in)
{
    (void)in;
}

static int start_unpacking(trs_input *in, bool rhs)
{
    (void)rhs;
    return fail(in, TRS_ESUPPORT, "packed by %s, and this build has no libarchive: unpack it first",
                packing(in));
}

static int64_t read_unpacked(trs_input *in, char *to, int64_t n)
{
    (void)in, (void)to, (void)n;
    return 0;
}
#endif

/* ---- open, close --------------------------------------------------------------------------- */

static int map_file(trs_input *in)
{
    void *p = mmap(NULL, (size_t)in->packed, PROT_READ, MAP_PRIVATE, in->fd, 0);
    if (p == MAP_FAILED) return TRS_OK; /* then it is read as a stream */
    in->map = p;
    in->size = in->packed;
    return TRS_OK;
}

static int start(trs_input *in, bool rhs)
{
    struct stat st;
    bool standard = !strcmp(in->file, "-");
    in->fd = standard ? STDIN_FILENO : open(in->file, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st)) return fail_errno(in);
    if (S_ISDIR(st.st_mode)) return fail(in, TRS_EFILE, "%s", strerror(EISDIR));
    bool regular = S_ISREG(st.st_mode) && st.st_size > 0;
    if (regular) in->packed = st.st_size;
    int rc = look(in);
    if (rc) return rc;
    if (packing(in)) return start_unpacking(in, rhs);
    if (rhs)
        return fail(in, TRS_EFILE, "not an archive: it holds no right-hand side beside the matrix");
    return regular && !standard ? map_file(in) : TRS_OK;
}

int trs_input_open(trs_input **out, const char *file, const trs_input_options *opt)
{
    trs_input *in = *out = trs_alloc_zero(&opt->memory, 1, sizeof **out);
    if (!in) return trs_fail(TRS_EMEM, "%s: out of memory", trs_input_name(file));
    in->mem = opt->memory;
    in->file = file;
    in->suffix = opt->suffix ? opt->suffix : ".mtx";
    in->limit = opt->limit;
    in->fd = -1;
    int rc = start(in, opt->rhs);
    if (!rc) return TRS_OK;
    trs_fail(rc, "%s", in->message);
    trs_input_close(in);
    *out = NULL;
    return rc;
}

void trs_input_close(trs_input *in)
{
    if (!in) return;
    close_archive(in);
    if (in->map) munmap(in->map, (size_t)in->size);
    if (in->fd > STDIN_FILENO) close(in->fd);
    trs_free(&in->mem, in->block);
    trs_free(&in->mem, in->hold);
    trs_memory mem = in->mem;
    trs_free(&mem, in);
}

/* ---- streams ------------------------------------------------------------------------------- */

/* Up to n bytes of text; 0: the end. */
static int64_t read_text(trs_input *in, char *to, int64_t n)
{
    if (in->ended) return 0;
    int64_t k = in->unpack ? read_unpacked(in, to, n) : read_raw(in, to, n);
    if (k < 0) return in->unpack ? k : fail_errno(in);
    in->ended = k == 0;
    in->seen += k;
    if (in->seen <= in->limit) return k;
    return fail(in, TRS_EMEM, "more than %" PRId64 " bytes of text, the limit set for it",
                in->limit);
}

/* *p [*room] grows to `bytes` at least, keeping the first `keep`. */
static int grow(trs_input *in, char **p, int64_t *room, int64_t keep, int64_t bytes)
{
    if (*room >= bytes) return TRS_OK;
    char *more = trs_alloc(&in->mem, bytes, 1);
    if (!more) return fail(in, TRS_EMEM, "out of memory: %" PRId64 " bytes for a line", bytes);
    if (keep) memcpy(more, *p, (size_t)keep);
    trs_free(&in->mem, *p);
    *p = more;
    *room = bytes;
    return TRS_OK;
}

/* Put what is left in hold at its front and add a block to it: bytes read, 0, or a status. */
static int64_t refill(trs_input *in)
{
    int64_t left = in->to - in->from;
    if (left && in->from) memmove(in->hold, in->hold + in->from, (size_t)left);
    in->from = 0;
    in->to = left;
    if (in->room - left < BLOCK) {
        int rc = grow(in, &in->hold, &in->room, left, 2 * left + 2 * BLOCK);
        if (rc) return rc;
    }
    int64_t k = read_text(in, in->hold + left, in->room - left);
    if (k > 0) in->to += k;
    return k;
}

static int stream_line(trs_input *in, const char **line, int64_t *length)
{
    const char *nl = NULL;
    for (int64_t searched = 0, k = 1; !nl && k > 0;) {
        int64_t left = in->to - in->from;
        if (left > searched)
            nl = memchr(in->hold + in->from + searched, '\n', (size_t)(left - searched));
        searched = left;
        if (!nl) k = refill(in);
        if (k < 0) return (int)k;
    }
    if (in->to == in->from) return 0;
    in->cut = !nl;
    *line = in->hold + in->from;
    *length = nl ? nl - *line : in->to - in->from;
    in->from += *length + !in->cut;
    return 1;
}

/* Read until there are `bytes` of text and a line end among them: the bytes in text->buffer, or a
 * status.  What comes after the last line end goes back to hold. */
static int64_t stream_fill(trs_input *in, int64_t bytes, trs_text *text)
{
    int64_t n = in->to - in->from, want = bytes > n ? bytes : n, k = 1;
    int rc = grow(in, &text->buffer, &text->room, 0, want + 1 + TRS_TEXT_PAD);
    if (!rc && n) memcpy(text->buffer, in->hold + in->from, (size_t)n);
    in->from = in->to = 0;
    while (!rc) {
        while (n < want && (k = read_text(in, text->buffer + n, want - n)) > 0) n += k;
        if (k < 0) return k;
        if (k == 0 || memrchr(text->buffer, '\n', (size_t)n)) return n;
        want = 2 * want;
        rc = grow(in, &text->buffer, &text->room, n, want + 1 + TRS_TEXT_PAD);
    }
    return rc;
}

static int stream_next(trs_input *in, int64_t bytes, trs_text *text)
{
    int64_t n = stream_fill(in, bytes, text);
    if (n <= 0) return (int)n;
    char *p = text->buffer, *nl = memrchr(p, '\n', (size_t)n);
    int64_t end = nl && !in->ended ? nl + 1 - p : n, left = n - end;
    int rc = grow(in, &in->hold, &in->room, 0, left);
    if (rc) return rc;
    if (left) memcpy(in->hold, p + end, (size_t)left);
    in->to = left;
    in->cut = text->cut = p[end - 1] != '\n';
    if (text->cut) p[end++] = '\n';
    memset(p + end, 0, TRS_TEXT_PAD);
    text->begin = p;
    text->end = p + end;
    return 1;
}

/* ---- mapped files -------------------------------------------------------------------------- */

static int map_line(trs_input *in, const char **line, int64_t *length)
{
    if (in->at == in->size) return 0;
    const char *p = in->map + in->at, *nl = memchr(p, '\n', (size_t)(in->size - in->at));
    in->cut = !nl;
    *line = p;
    *length = nl ? nl - p : in->size - in->at;
    in->at += *length + !in->cut;
    return 1;
}

static int map_next(trs_input *in, int64_t bytes, trs_text *text)
{
    const char *p = in->map + in->at;
    int64_t left = in->size - in->at, n = left;
    if (left == 0) return 0;
    if (left - TRS_TEXT_PAD > bytes) {
        const char *nl = memchr(p + bytes - 1, '\n', (size_t)(left - bytes + 1));
        if (nl && nl + 1 - p <= left - TRS_TEXT_PAD) n = nl + 1 - p;
    }
    in->at += n;
    text->begin = p;
    text->end = p + n;
    text->cut = false;
    if (n < left) return 1;
    int rc = grow(in, &text->buffer, &text->room, 0, n + 1 + TRS_TEXT_PAD);
    if (rc) return rc;
    memcpy(text->buffer, p, (size_t)n);
    in->cut = text->cut = p[n - 1] != '\n';
    if (text->cut) text->buffer[n++] = '\n';
    memset(text->buffer + n, 0, TRS_TEXT_PAD);
    text->begin = text->buffer;
    text->end = text->buffer + n;
    return 1;
}

int trs_input_line(trs_input *in, const char **line, int64_t *length)
{
    return in->map ? map_line(in, line, length) : stream_line(in, line, length);
}

int trs_input_next(trs_input *in, int64_t bytes, trs_text *text)
{
    return in->map ? map_next(in, bytes, text) : stream_next(in, bytes, text);
}

void trs_input_text_free(trs_input *in, trs_text *text)
{
    trs_free(&in->mem, text->buffer);
    text->buffer = NULL;
    text->room = 0;
}
