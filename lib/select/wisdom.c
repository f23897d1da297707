/* wisdom.c: the table of wisdom, and its files:
 *
 *     # trisolve-sparse wisdom 2
 *     # pattern n nnz kind dtype ops nrhs layout place order bitwise limit updates threads cpus version solver seconds chip
 *     9ae16a3b2f90404f 100000 498000 lower f64 N 1 columns host auto any 0 0 8 16 0.1.0 cpu-level 0.000391 none
 *
 * A line is an entry, its words between blanks, in that order; the name of the chip, which may have blanks, is the rest
 * of the line.  Empty lines and those that begin with # are skipped.  A file with a line that is wrong is refused as a
 * whole, because nobody could tell what else in it is.  A solver that this build does not have is no error, since
 * builds differ.
 *
 * The table is the process's, as a plan is made by any thread; every access holds its lock.  Entries hang from buckets
 * by the hash of their pattern, in the order in which they came. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "base/parallel.h"
#include "io/decimal/print.h"
#include "io/decimal/read.h"
#include "io/output.h"
#include "matrix/pattern_hash.h"
#include "wisdom.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct entry {
    trs_wisdom w;
    struct entry *next;
} entry;

enum { BUCKETS = 256 };

static struct {
    pthread_mutex_t lock;
    entry *bucket[BUCKETS];
    int64_t count;
    bool environment_read; /* TRISOLVE_WISDOM has been imported */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the table; its lock is held --------------------------------------------------------------- */

static bool is_same_key(const trs_wisdom *a, const trs_wisdom *b)
{
    return !memcmp(a->key, b->key, sizeof a->key) && !strcmp(a->version, b->version) &&
           !strcmp(a->chip, b->chip);
}

/* Where the entry with this key is linked, or where it would be. */
static entry **place_of(const trs_wisdom *w)
{
    entry **at = &table.bucket[w->key[TRS_KEY_PATTERN] % BUCKETS];
    while (*at && !is_same_key(&(*at)->w, w)) at = &(*at)->next;
    return at;
}

/* Takes e over: it is linked, or freed where there is one with its key. */
static void put(entry *e)
{
    entry **at = place_of(&e->w);
    if (*at) {
        (*at)->w = e->w;
        free(e);
        return;
    }
    e->next = NULL;
    *at = e;
    table.count++;
}

static void free_list(entry *e)
{
    for (entry *next; e; e = next) {
        next = e->next;
        free(e);
    }
}

/* ---- the table, for plans ---------------------------------------------------------------------- */

bool trs_wisdom_is_empty(void)
{
    pthread_mutex_lock(&table.lock);
    const bool empty = table.count == 0;
    pthread_mutex_unlock(&table.lock);
    return empty;
}

bool trs_wisdom_find(trs_wisdom *w)
{
    pthread_mutex_lock(&table.lock);
    const entry *e = *place_of(w);
    if (e) *w = e->w;
    pthread_mutex_unlock(&table.lock);
    return e != NULL;
}

int trs_wisdom_add(const trs_wisdom *w)
{
    entry *e = malloc(sizeof *e);
    if (!e) return trs_fail(TRS_EMEM, "out of memory for wisdom");
    e->w = *w;
    pthread_mutex_lock(&table.lock);
    put(e);
    pthread_mutex_unlock(&table.lock);
    return TRS_OK;
}

/* By what it says of itself, as "sm_90, 132 SMs, 4.8 TB/s". */
static void name_chip(int device, char *name, size_t size)
{
    trs_chip c;
    if (trs_gpu_chip(device, &c)) snprintf(name, size, "none");
    else
        snprintf(name, size, "sm_%d%d, %d SMs, %.2g TB/s", c.major, c.minor, c.sms,
                 1e-12 * c.bandwidth);
}

int trs_wisdom_key(const trs_operator *op, unsigned kind, bool on_device, trs_order order,
                   trs_wisdom *w)
{
    const trs_context *ctx = op->ctx;
    memset(w, 0, sizeof *w);
    w->key[TRS_KEY_N] = (uint64_t)op->tri.n;
    w->key[TRS_KEY_NNZ] = (uint64_t)op->tri.nnz;
    w->key[TRS_KEY_KIND] = kind & ~(unsigned)TRS_STRICT;
    w->key[TRS_KEY_DTYPE] = op->tri.dtype;
    w->key[TRS_KEY_OPS] = ctx->ops;
    w->key[TRS_KEY_NRHS] = (uint64_t)ctx->nrhs;
    w->key[TRS_KEY_LAYOUT] = ctx->layout;
    w->key[TRS_KEY_PLACE] = on_device;
    w->key[TRS_KEY_ORDER] = order;
    w->key[TRS_KEY_BITWISE] = ctx->bitwise;
    w->key[TRS_KEY_LIMIT] = (uint64_t)ctx->limit;
    w->key[TRS_KEY_UPDATES] = (uint64_t)ctx->solves_per_update;
    w->key[TRS_KEY_THREADS] = (uint64_t)trs_threads_given(ctx->threads);
    w->key[TRS_KEY_CPUS] = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(w->version, sizeof w->version, "%s", trs_version());
    name_chip(ctx->device, w->chip, sizeof w->chip);
    return trs_pattern_hash(op, &w->key[TRS_KEY_PATTERN]);
}

/* ---- a line of a file -------------------------------------------------------------------------- */

enum { LINE = 500, WORDS = 18 };

/* How the numbers of a key are written: by the word at its place, or, where there are no words, as digits. */
static const struct {
    const char *name, *words[WORDS];
} column[TRS_KEYS] = {
    [TRS_KEY_PATTERN] = {"pattern", {NULL}}, /* hexadecimal */
    [TRS_KEY_N] = {"n", {NULL}},
    [TRS_KEY_NNZ] = {"nnz", {NULL}},
    [TRS_KEY_KIND] = {"kind",
                      {[TRS_LOWER] = "lower",
                       [TRS_UPPER] = "upper",
                       [TRS_LOWER | TRS_UNIT] = "lower-unit",
                       [TRS_UPPER | TRS_UNIT] = "upper-unit",
                       [TRS_PERMUTED] = "permuted"}},
    [TRS_KEY_DTYPE] = {"dtype", {"f64", "f32", "c64", "c32"}},
    [TRS_KEY_OPS] = {"ops", {[1] = "N", "T", "NT", "H", "NH", "TH", "NTH"}},
    [TRS_KEY_NRHS] = {"nrhs", {NULL}},
    [TRS_KEY_LAYOUT] = {"layout", {"columns", "rows"}},
    [TRS_KEY_PLACE] = {"place", {"host", "device"}},
    [TRS_KEY_ORDER] = {"order", {"auto", "natural", "level"}},
    [TRS_KEY_BITWISE] = {"bitwise", {"any", "bitwise"}},
    [TRS_KEY_LIMIT] = {"limit", {NULL}},
    [TRS_KEY_UPDATES] = {"updates", {NULL}},
    [TRS_KEY_THREADS] = {"threads", {NULL}},
    [TRS_KEY_CPUS] = {"cpus", {NULL}},
};

static const char head[] = "# trisolve-sparse wisdom 2";

static bool has_words(int k)
{
    for (int v = 0; v < WORDS; v++)
        if (column[k].words[v]) return true;
    return false;
}

static void print_number(FILE *f, int k, uint64_t value)
{
    TRS_ASSERT(!has_words(k) || (value < WORDS && column[k].words[value]));
    if (has_words(k)) fprintf(f, "%s ", column[k].words[value]);
    else if (k == TRS_KEY_PATTERN) fprintf(f, "%016" PRIx64 " ", value);
    else fprintf(f, "%" PRIu64 " ", value);
}

static void print_entry(FILE *f, const trs_wisdom *w)
{
    char seconds[TRS_REAL_TEXT + 1] = "";
    for (int k = 0; k < TRS_KEYS; k++) print_number(f, k, w->key[k]);
    *trs_put_real(seconds, w->seconds) = '\0';
    fprintf(f, "%s %s %s %s\n", w->version, w->solver, seconds, w->chip);
}

/* Whole text is a number in this base, and fits. */
static bool read_digits(const char *text, int base, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, base);
    return isxdigit((unsigned char)*text) && !*end && !errno;
}

static bool read_number(const char *text, int k, uint64_t *value)
{
    if (!has_words(k)) return read_digits(text, k == TRS_KEY_PATTERN ? 16 : 10, value);
    for (*value = 0; *value < WORDS; ++*value)
        if (column[k].words[*value] && !strcmp(column[k].words[*value], text)) return true;
    return false;
}

/* The next word of a line, cut off there; NULL: the line has ended. */
static char *take_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    if (!*word) return NULL;
    char *end = word + strcspn(word, " \t");
    *line = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool read_text(const char *word, char *text, size_t size)
{
    const int length = word ? snprintf(text, size, "%s", word) : 0;
    return length > 0 && (size_t)length < size;
}

static bool read_seconds(const char *word, double *seconds)
{
    char text[TRS_REAL_TEXT + TRS_TEXT_PAD] = "";
    if (!word || strlen(word) >= TRS_REAL_TEXT) return false;
    memcpy(text, word, strlen(word));
    const char *end = trs_read_real(text, seconds);
    return end && !*end && *seconds > 0 && isfinite(*seconds);
}

/* A line without its end; returns the name of the column that is wrong or missing, NULL: none is. */
static const char *read_entry(char *line, trs_wisdom *w)
{
    memset(w, 0, sizeof *w);
    for (int k = 0; k < TRS_KEYS; k++) {
        const char *word = take_word(&line);
        if (!word || !read_number(word, k, &w->key[k])) return column[k].name;
    }
    if (!read_text(take_word(&line), w->version, sizeof w->version)) return "version";
    if (!read_text(take_word(&line), w->solver, sizeof w->solver)) return "solver";
    if (!read_seconds(take_word(&line), &w->seconds)) return "seconds";
    if (!read_text(line + strspn(line, " \t"), w->chip, sizeof w->chip)) return "chip";
    return NULL;
}

/* ---- files ------------------------------------------------------------------------------------- */

typedef struct reading {
    FILE *f;
    const char *file;
    char line[LINE];
    int number;
    /* read so far, and where the next one is linked: of two lines with one key the later one counts */
    entry *list, **end;
} reading;

static int refuse(const reading *r, const char *what, const char *why)
{
    return trs_fail(TRS_EFORMAT, "%.200s:%d: %s%s", r->file, r->number, what, why);
}

/* The line that has been read, the first of which is the head. */
static int take_line(reading *r)
{
    size_t length = strcspn(r->line, "\n");
    if (!r->line[length] && !feof(r->f)) return refuse(r, "the line is too long, or no text", "");
    if (length && r->line[length - 1] == '\r') length--;
    r->line[length] = '\0';
    if (r->number == 1 && strcmp(r->line, head))
        return refuse(r, "no wisdom: the first line is not ", head);
    if (r->line[0] == '#' || !r->line[strspn(r->line, " \t")]) return TRS_OK;
    entry *e = malloc(sizeof *e);
    if (!e) return trs_fail(TRS_EMEM, "out of memory for wisdom");
    e->next = NULL;
    *r->end = e;
    r->end = &e->next;
    const char *wrong = read_entry(r->line, &e->w);
    return wrong ? refuse(r, "missing or wrong: ", wrong) : TRS_OK;
}

static int read_lines(reading *r)
{
    int rc = TRS_OK;
    while (!rc && fgets(r->line, LINE, r->f)) {
        r->number++;
        rc = take_line(r);
    }
    if (ferror(r->f)) return trs_fail(TRS_EFILE, "%.200s: %s", r->file, strerror(errno));
    if (!rc && !r->number) return refuse(r, "an empty file", "");
    return rc;
}

/* All entries of a file: *list, which is to be freed. */
static int read_file(const char *file, const char *named_by, entry **list)
{
    reading r = {.file = file, .f = fopen(file, "r"), .end = &r.list};
    *list = NULL;
    if (!r.f) return trs_fail(TRS_EFILE, "%s%.200s: %s", named_by, file, strerror(errno));
    const int rc = read_lines(&r);
    fclose(r.f);
    if (rc) free_list(r.list);
    else *list = r.list;
    return rc;
}

static int import(const char *file, bool from_environment)
{
    entry *list;
    const int rc = read_file(file, from_environment ? "TRISOLVE_WISDOM: " : "", &list);
    if (rc) return rc;
    pthread_mutex_lock(&table.lock);
    for (entry *e = list, *next; e; e = next) {
        next = e->next;
        put(e);
    }
    if (from_environment) table.environment_read = true;
    pthread_mutex_unlock(&table.lock);
    return TRS_OK;
}

int trs_wisdom_from_environment(void)
{
    const char *file = getenv("TRISOLVE_WISDOM");
    if (!file || !*file) return TRS_OK;
    pthread_mutex_lock(&table.lock);
    const bool done = table.environment_read;
    pthread_mutex_unlock(&table.lock);
    return done ? TRS_OK : import(file, true);
}

/* All of the table, and the entries of a file that it lacks, as text, which the caller frees; NULL: out of memory. */
static char *make_text(const entry *file, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (!f) return NULL;
    fprintf(f, "%s\n#", head);
    for (int k = 0; k < TRS_KEYS; k++) fprintf(f, " %s", column[k].name);
    fprintf(f, " version solver seconds chip\n");
    pthread_mutex_lock(&table.lock);
    for (int b = 0; b < BUCKETS; b++)
        for (const entry *e = table.bucket[b]; e; e = e->next) print_entry(f, &e->w);
    for (; file; file = file->next)
        if (!*place_of(&file->w)) print_entry(f, &file->w);
    pthread_mutex_unlock(&table.lock);
    const bool good = !ferror(f);
    if (!fclose(f) && good) return text;
    free(text);
    return NULL;
}

/* What the file has already, which other processes may have written since it was imported. */
static int read_old(const trs_output *out, entry **list)
{
    struct stat st;
    *list = NULL;
    if (!out->target || stat(out->target, &st) || !st.st_size) return TRS_OK;
    return read_file(out->target, "", list);
}

static int export(const char *file)
{
    trs_output out = {.file = file, .fd = -1, .update = true};
    entry *old = NULL;
    char *text = NULL;
    size_t size;
    int rc = trs_output_open(&out);
    if (!rc) rc = read_old(&out, &old);
    if (!rc) text = make_text(old, &size);
    if (!rc && !text) rc = trs_fail(TRS_EMEM, "out of memory for wisdom");
    out.dropped = rc != TRS_OK;
    if (text) (void)trs_output_put(&out, text, (int64_t)size, 0);
    free_list(old);
    free(text);
    const int closed = trs_output_close(&out);
    return closed ? closed : rc;
}

/* ---- public ------------------------------------------------------------------------------------ */

int trs_wisdom_import(const char *file)
{
    trs_enter();
    return trs_leave(file ? import(file, false)
                          : trs_fail(TRS_EARG, "wisdom_import: file is NULL"));
}

int trs_wisdom_export(const char *file)
{
    trs_enter();
    return trs_leave(file ? export(file) : trs_fail(TRS_EARG, "wisdom_export: file is NULL"));
}

void trs_wisdom_forget(void)
{
    trs_enter();
    pthread_mutex_lock(&table.lock);
    for (int b = 0; b < BUCKETS; b++) {
        free_list(table.bucket[b]);
        table.bucket[b] = NULL;
    }
    table.count = 0;
    pthread_mutex_unlock(&table.lock);
    trs_leave_silently();
}
