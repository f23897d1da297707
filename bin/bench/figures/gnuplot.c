/* gnuplot.c: gnuplot draws a script. */
#include "config.h"

#include "figures.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs gnuplot with these as its standard input and output; its status, or -1: it cannot be
 * started. */
static int spawn(int in, int out)
{
    char *const argv[] = {"gnuplot", NULL};
    posix_spawn_file_actions_t a;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&a)) return -1;
    bool bad = posix_spawn_file_actions_adddup2(&a, in, STDIN_FILENO) != 0;
    bad = bad || posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO) != 0;
    bad = bad || posix_spawnp(&pid, argv[0], &a, NULL, argv, environ) != 0;
    posix_spawn_file_actions_destroy(&a);
    while (!bad && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return bad ? -1 : status;
}

bool draw(const char *script, FILE *svg)
{
    FILE *in = tmpfile();
    if (!in) return false;
    const bool written = fputs(script, in) >= 0 && !fflush(in) && !fflush(svg);
    int status = -1;
    if (written && lseek(fileno(in), 0, SEEK_SET) == 0) status = spawn(fileno(in), fileno(svg));
    fclose(in);
    return status == 0 && fseek(svg, 0, SEEK_END) == 0 && ftell(svg) > 0;
}
