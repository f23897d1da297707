/* journal.c: a file with the results of a run over many matrices.
 *
 * FILE.resume, where FILE is the first of --csv, --json and --html, begins with a line that says
 * the version and the options.  Then it has the matrices as wire.c writes them: the parent process
 * its name, the child process its results.  The run that follows with --resume reads them back, so
 * that every output has all of them.  The last matrix may be cut short: then it is run again.
 * Where there is no FILE the results go to a temporary file, which serves the processes alone. */
#include "config.h"

#include "journal.h"

#include "base/debug.h"
#include "bin/common/exits.h"
#include "bin/common/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const journal *j)
{
    return complain("%s: %s", *j->name ? j->name : "temporary file", strerror(errno)), EXIT_USAGE;
}

/* ---- the bytes of the file ------------------------------------------------------------------- */

bytes journal_from(const journal *j, size_t at)
{
    TRS_ASSERT(at <= j->size);
    return (bytes){j->all + at, j->all + j->size};
}

int journal_read(journal *j)
{
    struct stat st;
    if (fstat(fileno(j->f), &st)) return fail(j);
    char *grown = realloc(j->all, (size_t)st.st_size + 1);
    if (!grown) return out_of_memory();
    j->all = grown;
    while (j->size < (size_t)st.st_size) {
        const ssize_t n =
            pread(fileno(j->f), j->all + j->size, (size_t)st.st_size - j->size, (off_t)j->size);
        if (n <= 0) return fail(j);
        j->size += (size_t)n;
    }
    return EXIT_GOOD;
}

int journal_cut(journal *j, size_t size)
{
    TRS_ASSERT(size <= j->size);
    j->size = size;
    return ftruncate(fileno(j->f), (off_t)size) ? fail(j) : EXIT_GOOD;
}

/* ---- an earlier run -------------------------------------------------------------------------- */

/* The first line.  Where it is another one, the results cannot be read, or are those of another
 * run.  NULL: no memory. */
static char *make_title(const processes *p)
{
    char *title = NULL;
    size_t size;
    FILE *f = open_memstream(&title, &size);
    if (!f) return NULL;
    fprintf(f, "trisolve-bench %s %zu %zu", trs_version(), sizeof(result), sizeof(cell));
    for (int k = 1; k <= p->options; k++)
        if (strcmp(p->argv[k], "--resume")) fprintf(f, " %s", p->argv[k]);
    fputc('\n', f);
    return fclose(f) ? NULL : title;
}

/* Goes on with the matrices that are there as a whole, or else begins anew. */
static int take_up(journal *j, bool resume, const char *title)
{
    bytes name;
    int code = resume ? journal_read(j) : journal_cut(j, 0);
    j->first = strlen(title);
    if (code) return code;
    if (!j->size) return fputs(title, j->f) < 0 || fflush(j->f) ? fail(j) : journal_read(j);
    if (j->size < j->first || memcmp(j->all, title, j->first))
        return complain("%s belongs to another version or to a run with other options: %.*s",
                        j->name, (int)strcspn(j->all, "\n"), j->all),
               EXIT_USAGE;
    j->old = j->first;
    for (bytes b = journal_from(j, j->first); wire_next(&b, &name);)
        j->old = (size_t)(b.p - j->all);
    return journal_cut(j, j->old);
}

/* Does another run write this file?  The lock ends with the process; a file system without locks has
 * none. */
static bool is_taken(journal *j)
{
    if (!*j->name || !flock(fileno(j->f), LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return false;
    fclose(j->f);
    j->f = NULL;
    return true;
}

int journal_open(journal *j, const processes *p, const char *output)
{
    *j = (journal){.f = NULL};
    if (p->resume && !output)
        return complain("--resume needs a regular file of --csv, --json or --html"), EXIT_USAGE;
    if (output) snprintf(j->name, sizeof j->name, "%s.resume", output);
    j->f = output ? fopen(j->name, "a+b") : tmpfile();
    if (!j->f || fcntl(fileno(j->f), F_SETFL, O_APPEND)) return fail(j);
    if (is_taken(j)) return complain("%s: another run writes it", j->name), EXIT_USAGE;
    char *title = make_title(p);
    const int code = title ? take_up(j, p->resume, title) : out_of_memory();
    free(title);
    return code;
}

size_t journal_find(const journal *j, const char *name)
{
    bytes known, b = {j->all + j->first, j->all + j->old};
    while (b.p < b.end && wire_next(&b, &known))
        if ((size_t)(known.end - known.p) == strlen(name) && !memcmp(known.p, name, strlen(name)))
            return (size_t)(known.end - j->all);
    return 0;
}

void journal_close(journal *j, bool complete)
{
    if (j->f) fclose(j->f);
    if (j->f && *j->name && complete) remove(j->name);
    free(j->all);
}
