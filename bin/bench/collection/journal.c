/* journal.c: --resume: what a run over many matrices has got to, kept in a file beside its output.
 *
 * FILE.resume, where FILE is the first of --csv, --json and --html, begins with a line that says
 * the version and the options.  Then it has, matrix by matrix, a length, the name, a length, and
 * the bytes of its results.  The run that follows reads them back, so that every output has all of
 * them.  The last matrix may be cut short: then it is run again. */
#include "config.h"

#include "journal.h"

#include "bin/common/message.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the parts of the file ------------------------------------------------------------------- */

/* The first line.  Where it is another one, the results cannot be read, or are those of another
 * run. */
static int make_title(const processes *s, buffer *b)
{
    char text[200];
    snprintf(text, sizeof text, "trisolve-bench %s %zu %zu", trs_version(), sizeof(result),
             sizeof(cell));
    int code = buffer_add(b, text, strlen(text));
    for (int k = 1; k <= s->options && !code; k++) {
        if (!strcmp(s->argv[k], "--resume")) continue;
        code = buffer_add(b, " ", 1);
        if (!code) code = buffer_add(b, s->argv[k], strlen(s->argv[k]));
    }
    return code ? code : buffer_add(b, "\n", 1);
}

/* Takes a length and as many bytes at *at; false: not all of them are there. */
static bool take_part(const buffer *all, size_t *at, buffer *part)
{
    uint64_t size;
    if (all->size - *at < sizeof size) return false;
    memcpy(&size, all->p + *at, sizeof size);
    if (all->size - *at - sizeof size < size) return false;
    *part = (buffer){.p = all->p + *at + sizeof size, .size = (size_t)size};
    *at += sizeof size + (size_t)size;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_old(journal *j, FILE *f)
{
    char part[1 << 16];
    size_t n;
    int code = EXIT_GOOD;
    while (!code && (n = fread(part, 1, sizeof part, f)) > 0) code = buffer_add(&j->old, part, n);
    return code;
}

/* The end of the last matrix that is there as a whole. */
static size_t whole_part(const journal *j)
{
    size_t at = j->first, whole = at;
    buffer name, results;
    while (take_part(&j->old, &at, &name) && take_part(&j->old, &at, &results)) whole = at;
    return whole;
}

/* Goes on with the file, if there is one. */
static int reopen(journal *j, const buffer *title)
{
    j->f = fopen(j->name, "r+b");
    if (!j->f) return EXIT_GOOD;
    int code = read_old(j, j->f);
    if (code) return code;
    if (j->old.size < title->size || memcmp(j->old.p, title->p, title->size))
        return complain("%s is of another version, or of a run with other options: %.*s", j->name,
                        j->old.size ? (int)strcspn(j->old.p, "\n") : 0,
                        j->old.size ? j->old.p : ""),
               EXIT_USAGE;
    j->first = title->size;
    j->old.size = whole_part(j);
    if (ftruncate(fileno(j->f), (off_t)j->old.size) || fseek(j->f, 0, SEEK_END))
        return complain("%s: %s", j->name, strerror(errno)), EXIT_USAGE;
    return EXIT_GOOD;
}

int journal_open(journal *j, const processes *p, const char *output)
{
    buffer title = {0};
    *j = (journal){0};
    if (!output) return EXIT_GOOD;
    snprintf(j->name, sizeof j->name, "%s.resume", output);
    int code = make_title(p, &title);
    if (!code && p->resume) code = reopen(j, &title);
    if (!code && !j->f) {
        j->f = fopen(j->name, "wb");
        if (j->f) fwrite(title.p, 1, title.size, j->f);
        else complain("%s: %s", j->name, strerror(errno)), code = EXIT_USAGE;
    }
    free(title.p);
    return code;
}

bool journal_find(const journal *j, const char *name, buffer *results)
{
    size_t at = j->first;
    buffer known;
    while (take_part(&j->old, &at, &known) && take_part(&j->old, &at, results))
        if (known.size == strlen(name) && !memcmp(known.p, name, known.size)) return true;
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_part(FILE *f, const void *p, size_t n)
{
    const uint64_t size = n;
    fwrite(&size, sizeof size, 1, f);
    fwrite(p, 1, n, f);
}

int journal_add(journal *j, const char *name, const buffer *results)
{
    if (!j->f) return EXIT_GOOD;
    put_part(j->f, name, strlen(name));
    put_part(j->f, results->p, results->size);
    if (!fflush(j->f) && !ferror(j->f)) return EXIT_GOOD;
    return complain("%s: %s", j->name, strerror(errno)), EXIT_USAGE;
}

void journal_close(journal *j, bool complete)
{
    if (j->f) fclose(j->f);
    if (j->f && complete) remove(j->name);
    free(j->old.p);
}
