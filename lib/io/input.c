/* input.c: the text of a file, whatever it is packed in, as texts of whole lines.
 *
 * A plain file is mapped into memory: a text is the map from one line end to another, and only the last one is copied, to
 * give it the padding that reading numbers relies on.
 *
 *     map    | text 0     | text 1    | text 2        | . . . . . . . . . |
 *            ^ begin      ^ begin     ^ begin         ^ at                ^ size
 *
 * Everything else is a stream, read or unpacked into the buffer of the thread that asked: while one thread
 * unpacks, others parse.  What follows the last line end in that buffer is held back for the next text.  What a file is,
 * its first bytes say, not its name. */
#include "config.h"

#include "archive.h"
#include "input.h"
#include "base/debug.h"
#include "base/number/number.h"
#include "decimal/digits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD = 512,     /* bytes that tell how a file is packed */
    BLOCK = 1 << 16 /* bytes to read at a time */
};

struct trs_input {
    trs_memory mem;
    const char *file; /* as the caller called it */
    bool standard;    /* standard input, which is not closed */
    int fd;
    int64_t limit, seen; /* bytes of unpacked text: allowed, given so far */
    int64_t packed, got; /* bytes of the file: its size (0: unknown), read so far */
    bool cut;            /* the last line that was given has no '\n' */
    bool ended;          /* the stream is at its end */
    char message[320];
    /* a plain file: */
    char *map; /* [size], of which texts up to `at` have been given */
    int64_t size, at;
    /* a stream: */
    char head[HEAD]; /* its first bytes, [looked] of them, of which [used] have been read */
    int looked, used;
    char *hold; /* [room]: text in from..to-1 that was read but not given */
    int64_t room, from, to;
    trs_archive *archive; /* NULL: not packed */
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
    if (!strcmp(file, "-")) return "standard input";
    return file +
           trs_max(0, (int64_t)strlen(file) - 150); /* the end of a long path is more telling */
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
    const int64_t done = in->map ? in->at : in->got, all = in->map ? in->size : in->packed;
    if (all <= 0) return -1;
    return (double)trs_min(done, all) / (double)all;
}

/* ---- bytes of the file --------------------------------------------------------------------- */

/* As read (2).  A signal lets the caller cancel, who may be waiting for a pipe. */
static ssize_t read_bytes(const trs_input *in, char *to, int64_t n)
{
    ssize_t k;
    do k = read(in->fd, to, (size_t)n);
    while (k < 0 && errno == EINTR && !trs_step("reading", trs_input_done(in)));
    return k;
}

/* Read up to n bytes of the input `user`, those of the head first; 0: the end, -1: errno.  archive.c calls this for more of
 * the packed bytes. */
static int64_t read_raw(void *user, char *to, int64_t n)
{
    trs_input *in = user;
    if (in->used < in->looked) {
        const int64_t k = trs_min(n, in->looked - in->used);
        memcpy(to, in->head + in->used, (size_t)k);
        in->used += (int)k;
        return k;
    }
    const ssize_t k = read_bytes(in, to, n);
    if (k > 0) in->got += k;
    return k;
}

static int read_head(trs_input *in)
{
    while (in->looked < HEAD) {
        const ssize_t k = read_bytes(in, in->head + in->looked, HEAD - in->looked);
        if (k < 0) return fail_errno(in);
        if (k == 0) break;
        in->looked += (int)k;
    }
    in->got = in->looked;
    return TRS_OK;
}

static bool rewind_packed(void *user)
{
    trs_input *in = user;
    if (lseek(in->fd, 0, SEEK_SET) != 0) return false;
    in->looked = in->used = 0;
    in->got = 0;
    return true;
}

/* ---- open, close --------------------------------------------------------------------------- */

/* If this fails the file is read as a stream. */
static void map_file(trs_input *in)
{
    void *p = mmap(NULL, (size_t)in->packed, PROT_READ, MAP_PRIVATE, in->fd, 0);
    if (p != MAP_FAILED) in->map = p, in->size = in->packed;
}

static int open_archive(trs_input *in, const char *kind, const trs_input_options *opt)
{
    char why[160];
    const char *suffix = opt->suffix ? opt->suffix : ".mtx";
    const trs_archive_source from = {in->file, kind, suffix,   opt->rhs,
                                     in->mem,  in,   read_raw, rewind_packed};
    const int rc = trs_archive_open(&in->archive, &from, why, sizeof why);
    if (rc) fail(in, rc, "%s", why);
    return rc;
}

static int start(trs_input *in, const trs_input_options *opt)
{
    struct stat st;
    const bool standard = in->standard;
    int rc = trs_step("reading", -1);
    if (rc) return rc;
    in->fd = standard ? STDIN_FILENO : open(in->file, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st)) return fail_errno(in);
    if (S_ISDIR(st.st_mode)) return fail(in, TRS_EFILE, "%s", strerror(EISDIR));
    bool regular = S_ISREG(st.st_mode) && st.st_size > 0;
    if (regular) in->packed = st.st_size;
    rc = read_head(in);
    if (rc) return rc;
    const char *kind = trs_archive_kind(in->head, in->looked);
    if (kind) return open_archive(in, kind, opt);
    if (opt->rhs) return fail(in, TRS_EFILE, "not an archive, so it contains no right-hand side");
    if (regular && !standard) map_file(in);
    return TRS_OK;
}

int trs_input_open(trs_input **out, const char *file, const trs_input_options *opt)
{
    trs_input *in = *out = trs_alloc_zero(&opt->memory, 1, sizeof **out);
    if (!in) return trs_fail(TRS_EMEM, "%s: out of memory", trs_input_name(file));
    in->mem = opt->memory;
    in->file = file;
    in->standard = !strcmp(file, "-");
    in->limit = opt->limit;
    in->fd = -1;
    int rc = start(in, opt);
    if (!rc) return TRS_OK;
    trs_fail(rc, "%s", in->message);
    trs_input_close(in);
    *out = NULL;
    return rc;
}

void trs_input_close(trs_input *in)
{
    if (!in) return;
    trs_archive_close(in->archive);
    if (in->map) munmap(in->map, (size_t)in->size);
    if (in->fd >= 0 && !in->standard) close(in->fd);
    trs_free(&in->mem, in->hold);
    trs_memory mem = in->mem;
    trs_free(&mem, in);
}

/* ---- streams ------------------------------------------------------------------------------- */

static int64_t read_unpacked(trs_input *in, char *to, int64_t n)
{
    char why[160];
    int64_t k = trs_archive_read(in->archive, to, n, why, sizeof why);
    if (k < 0) fail(in, (int)k, "%s", why);
    return k;
}

/* Read up to n bytes of text; 0: the end, or a negative status. */
static int64_t read_text(trs_input *in, char *to, int64_t n)
{
    if (in->ended) return 0;
    int64_t k = in->archive ? read_unpacked(in, to, n) : read_raw(in, to, n);
    if (k < 0) return in->archive ? k : fail_errno(in);
    in->ended = k == 0;
    in->seen += k;
    if (in->seen <= in->limit) return k;
    return fail(in, TRS_EMEM, "more than %" PRId64 " bytes of text, which is the limit", in->limit);
}

/* Let *p [*room] grow to at least `bytes`; the first `keep` stay. */
static int grow(trs_input *in, char **p, int64_t *room, int64_t keep, int64_t bytes)
{
    if (*room >= bytes) return TRS_OK;
    char *more = trs_alloc(&in->mem, bytes, 1);
    if (!more) return fail(in, TRS_EMEM, "out of memory for a line of %" PRId64 " bytes", bytes);
    if (keep) memcpy(more, *p, (size_t)keep);
    trs_free(&in->mem, *p);
    *p = more;
    *room = bytes;
    return TRS_OK;
}

/* Move what is left in hold to its front and read more behind it.  Returns the bytes read, 0, or a negative status. */
static int64_t refill(trs_input *in)
{
    int64_t left = in->to - in->from;
    if (left && in->from) memmove(in->hold, in->hold + in->from, (size_t)left);
    in->from = 0;
    in->to = left;
    int rc = TRS_OK;
    if (in->room - left < BLOCK) rc = grow(in, &in->hold, &in->room, left, 2 * left + 2 * BLOCK);
    if (rc) return rc;
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
    TRS_ASSERT(in->from <= in->to && in->to <= in->room);
    if (in->to == in->from) return 0;
    in->cut = !nl;
    *line = in->hold + in->from;
    *length = in->to - in->from;
    if (nl) *length = nl - *line;
    in->from += *length + !in->cut;
    return 1;
}

/* Read into text->buffer until it holds `bytes` and a line end is among them.  Returns the bytes that it holds, or a negative
 * status. */
static int64_t stream_fill(trs_input *in, int64_t bytes, trs_text *text)
{
    int64_t n = in->to - in->from, want = trs_max(bytes, n), k = 1;
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

/* The text is what the buffer has, n characters, with a '\n' and the padding behind them. */
static void end_text(trs_input *in, trs_text *text, int64_t n)
{
    char *p = text->buffer;
    TRS_ASSERT(n > 0 && n + 1 + TRS_TEXT_PAD <= text->room);
    in->cut = text->cut = p[n - 1] != '\n';
    if (text->cut) p[n++] = '\n';
    memset(p + n, 0, TRS_TEXT_PAD);
    text->begin = p;
    text->end = p + n;
}

/* The next text of a stream.  What follows its last line end goes to hold. */
static int stream_next(trs_input *in, int64_t bytes, trs_text *text)
{
    int64_t n = stream_fill(in, bytes, text);
    if (n <= 0) return (int)n;
    char *p = text->buffer, *nl = memrchr(p, '\n', (size_t)n);
    const int64_t end = nl && !in->ended ? nl + 1 - p : n, left = n - end;
    const int rc = grow(in, &in->hold, &in->room, 0, left);
    if (rc) return rc;
    TRS_ASSERT(left >= 0 && end > 0);
    if (left) memcpy(in->hold, p + end, (size_t)left);
    in->to = left;
    end_text(in, text, end);
    return 1;
}

/* ---- mapped files -------------------------------------------------------------------------- */

static int map_line(trs_input *in, const char **line, int64_t *length)
{
    if (in->at == in->size) return 0;
    const char *p = in->map + in->at, *nl = memchr(p, '\n', (size_t)(in->size - in->at));
    in->cut = !nl;
    *line = p;
    *length = in->size - in->at;
    if (nl) *length = nl - p;
    in->at += *length + !in->cut;
    TRS_ASSERT(in->at <= in->size);
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
    TRS_ASSERT(n > 0 && in->at <= in->size);
    text->begin = p;
    text->end = p + n;
    text->cut = false;
    if (n < left) return 1;
    int rc = grow(in, &text->buffer, &text->room, 0, n + 1 + TRS_TEXT_PAD);
    if (rc) return rc;
    memcpy(text->buffer, p, (size_t)n);
    end_text(in, text, n);
    return 1;
}

int trs_input_line(trs_input *in, const char **line, int64_t *length)
{
    if (in->map) return map_line(in, line, length);
    return stream_line(in, line, length);
}

int trs_input_next(trs_input *in, int64_t bytes, trs_text *text)
{
    if (in->map) return map_next(in, bytes, text);
    return stream_next(in, bytes, text);
}

void trs_input_text_free(trs_input *in, trs_text *text)
{
    trs_free(&in->mem, text->buffer);
    text->buffer = NULL;
    text->room = 0;
}
