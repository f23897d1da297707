/* gnuplot.c: gnuplot draws the scripts. */
#include "config.h"

#include "figures.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
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

static bool draw_one(figure *one)
{
    FILE *in = tmpfile(), *out = tmpfile();
    size_t size = 0;
    bool drawn = in && out && fputs(one->script, in) >= 0 && !fflush(in) &&
                 lseek(fileno(in), 0, SEEK_SET) == 0 && spawn(fileno(in), fileno(out)) == 0;
    if (drawn) rewind(out);
    drawn = drawn && getdelim(&one->svg, &size, '\0', out) > 0 && strstr(one->svg, "<svg");
    if (in) fclose(in);
    if (out) fclose(out);
    return drawn;
}

bool draw(figure_list *l)
{
    bool drawn = true;
    for (int k = 0; k < l->count && drawn; k++) drawn = draw_one(&l->figure[k]);
    return drawn;
}
