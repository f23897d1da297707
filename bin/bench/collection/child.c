/* child.c: a matrix in a process of its own, so that a crash, a hang or too much memory costs a row
 * of the results, and the other matrices go on.
 *
 * The child is this program, started anew, since neither OpenMP nor CUDA survive a fork.  It has
 * the same options and --child=FD, the pipe that its results go to.  The parent reads from the pipe
 * until it is closed, and looks ten times a second how long the child takes and how much memory it
 * has. */
#include "config.h"

#include "child.h"

#include "bin/common/files.h"
#include "bin/common/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* ---- starting -------------------------------------------------------------------------------- */

static _Noreturn void become_child(const processes *s, const char *name, int fd)
{
    char option[32];
    char **argv = calloc((size_t)s->options + 4, sizeof *argv);
    if (!argv) _exit(127);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    snprintf(option, sizeof option, "--child=%d", fd);
    argv[0] = s->argv[0];
    argv[1] = option;
    memcpy(argv + 2, s->argv + 1, (size_t)s->options * sizeof *argv);
    argv[2 + s->options] = (char *)name;
    fcntl(fd, F_SETFD, 0);
    execv("/proc/self/exe", argv);
    execvp(argv[0], argv);
    _exit(127);
}

static int start(const processes *s, const char *name, pid_t *pid, int *from)
{
    int fd[2];
    if (pipe(fd)) return complain("pipe: %s", strerror(errno)), EXIT_USAGE;
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fcntl(fd[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    *pid = fork();
    if (*pid == 0) become_child(s, name, fd[1]);
    close(fd[1]);
    *from = fd[0];
    if (*pid > 0) return EXIT_GOOD;
    close(fd[0]);
    return complain("fork: %s", strerror(errno)), EXIT_USAGE;
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
        snprintf(why, size, "stopped after %g s (--matrix-seconds)", s->seconds);
    else if ((double)memory_of(pid) > s->memory)
        snprintf(why, size, "stopped at %.3g GiB of memory (--matrix-memory)", s->memory / 0x1p30);
    return *why != '\0';
}

/* Reads all that the child sends; why [size] says why it was stopped, if it was. */
static int listen(const processes *s, pid_t pid, int from, buffer *b, char *why, size_t size)
{
    const double begun = now();
    int code = EXIT_GOOD;
    for (;;) {
        char part[1 << 16];
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (!*why && is_beyond(s, pid, begun, why, size)) kill(pid, SIGKILL);
        if (poll(&ready, 1, 100) <= 0) continue;
        const ssize_t n = read(from, part, sizeof part);
        if (n == 0 || (n < 0 && errno != EINTR)) return code;
        if (n > 0 && !code) code = buffer_add(b, part, (size_t)n);
    }
}

/* Says how the process ended, unless the reason is known. */
static void explain(int status, char *why, size_t size)
{
    if (*why) return;
    if (WIFSIGNALED(status))
        snprintf(why, size, "the process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else snprintf(why, size, "the process ended with status %d", WEXITSTATUS(status));
}

/* ---- both ------------------------------------------------------------------------------------ */

static int ignore_result(void *user, const result *r)
{
    (void)user, (void)r;
    return EXIT_GOOD;
}

/* Adds a row that says why there are no more. */
static int add_trouble(const char *name, const char *why, buffer *b)
{
    result r = {.name = base_name(name)};
    snprintf(r.trouble, sizeof r.trouble, "%s", why);
    complain("%s: %s", name, why);
    int code = wire_result(b, &r);
    return code ? code : wire_end(b, true, false);
}

int run_child(const settings *s, const processes *p, const char *name, buffer *b)
{
    char why[200] = "";
    pid_t pid;
    int from, status = 0;
    ending e;
    int code = start(p, name, &pid, &from);
    if (code) return code;
    code = listen(p, pid, from, b, why, sizeof why);
    close(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!code) code = wire_receive(s, name, b, (taker){ignore_result, NULL}, &e);
    if (code || e.ended) return code;
    explain(status, why, sizeof why);
    b->size = e.whole;
    return add_trouble(name, why, b);
}
