/* child.c: a matrix in a process of its own, so that a crash, a hang or too much memory costs a row
 * of the results, and the other matrices go on.
 *
 * The child is this program, started anew, since neither OpenMP nor CUDA survive a fork.  It has
 * the same options and --child=FD, the descriptor of the journal, to whose end it writes its
 * results.  The parent looks whether the child has ended, how long it takes and how much memory it
 * has: after a millisecond, after twice as long each time, and at last about eight times a second. */
#include "config.h"

#include "journal.h"

#include "bin/common/files.h"
#include "bin/common/message.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int start(const processes *s, const char *name, int fd, pid_t *pid)
{
    char option[32];
    char **argv = calloc((size_t)s->options + 4, sizeof *argv);
    if (!argv) return out_of_memory();
    snprintf(option, sizeof option, "--child=%d", fd);
    argv[0] = s->argv[0];
    argv[1] = option;
    memcpy(argv + 2, s->argv + 1, (size_t)s->options * sizeof *argv);
    argv[2 + s->options] = (char *)name;
    int error = posix_spawn(pid, "/proc/self/exe", NULL, NULL, argv, environ);
    if (error) error = posix_spawnp(pid, argv[0], NULL, NULL, argv, environ);
    free(argv);
    return error ? (complain("%s: %s", s->argv[0], strerror(error)), EXIT_USAGE) : EXIT_GOOD;
}

/* ---- watching -------------------------------------------------------------------------------- */

/* Bytes of memory that the process has, without mapped files; 0 where the system does not tell. */
static int64_t memory_of(pid_t pid)
{
    char name[64];
    int64_t pages = 0, files = 0;
    snprintf(name, sizeof name, "/proc/%ld/statm", (long)pid);
    FILE *f = fopen(name, "r");
    if (f && fscanf(f, "%*d %" SCNd64 " %" SCNd64, &pages, &files) != 2) pages = files = 0;
    if (f) fclose(f);
    return (pages - files) * sysconf(_SC_PAGESIZE);
}

/* Is the process to be stopped?  Then why [size] says the reason. */
static bool is_beyond(const processes *s, pid_t pid, double begun, char *why, size_t size)
{
    if (now() - begun > s->seconds)
        snprintf(why, size, "stopped after %g s, the limit of --matrix-seconds", s->seconds);
    else if (memory_of(pid) > s->memory)
        snprintf(why, size, "stopped at %.3g GiB of memory, the limit of --matrix-memory",
                 (double)s->memory / 0x1p30);
    return *why != '\0';
}

/* Says how the process ended, unless the reason is known. */
static void explain(int status, char *why, size_t size)
{
    if (*why) return;
    if (WIFSIGNALED(status))
        snprintf(why, size, "the process was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else snprintf(why, size, "the process exited with status %d", WEXITSTATUS(status));
}

/* Waits for the end of the process; why [size] says how it ended. */
static void watch(const processes *s, pid_t pid, char *why, size_t size)
{
    struct timespec pause = {.tv_nsec = 1000000};
    const double begun = now();
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (!*why && is_beyond(s, pid, begun, why, size)) kill(pid, SIGKILL);
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 100000000) pause.tv_nsec *= 2;
    }
    explain(status, why, size);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Adds a row that says why there are no more, in place of all that is behind. */
static int add_trouble(journal *j, const char *name, const char *why, size_t behind)
{
    result r = {.name = base_name(name)};
    snprintf(r.trouble, sizeof r.trouble, "%s", why);
    complain("%s: %s", name, why);
    int code = journal_cut(j, behind);
    if (!code) code = wire_result(j->f, &r);
    if (!code) code = wire_end(j->f, true, false);
    return code ? code : journal_read(j);
}

int run_child(const processes *p, const char *name, journal *j, size_t *at)
{
    char why[200] = "";
    pid_t pid;
    const size_t begun = j->size;
    int code = wire_matrix(j->f, name);
    if (!code) code = start(p, name, fileno(j->f), &pid);
    if (code) return code;
    watch(p, pid, why, sizeof why);
    code = journal_read(j);
    bytes b = journal_from(j, begun), known = {b.p, b.p};
    const bool whole = wire_next(&b, &known);
    *at = (size_t)(known.end - j->all);
    return whole || code ? code : add_trouble(j, name, why, (size_t)(b.p - j->all));
}
