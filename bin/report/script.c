/* script.c: the script trisolve-report as a process of its own.
 *
 * trisolve-bench(1) says where it is, and which environment variable names another one. */
#include "config.h"

#include "script.h"

#include "bin/common/exits.h"
#include "bin/common/message.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The file that TRISOLVE_REPORT names, else the installed one.  If the prefix was moved after the installation, the script is
 * in the share folder next to the folder of this program.  In a build folder the program is in bin/.libs or in bin. */
static const char *find_script(void)
{
    static const char *const places[] = {"/../share/trisolve-sparse/trisolve-report",
                                         "/../report/trisolve-report", "/report/trisolve-report"};
    enum { LONGEST = 64 };
    static char path[4096];
    const char *named = getenv("TRISOLVE_REPORT");
    if (named) return named;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - LONGEST);
    if (length < 1 || !access(TRS_REPORT, R_OK)) return TRS_REPORT;
    path[length] = '\0';
    char *folder_end = strrchr(path, '/');
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        strcpy(folder_end, places[k]);
        if (!access(path, R_OK)) return path;
    }
    return TRS_REPORT;
}

/* in NULL: the script does not read; out NULL: what it writes is thrown away. */
static int connect_files(posix_spawn_file_actions_t *a, FILE *in, FILE *out)
{
    int bad = 0;
    if (in) bad = posix_spawn_file_actions_adddup2(a, fileno(in), STDIN_FILENO);
    if (out) bad = bad || posix_spawn_file_actions_adddup2(a, fileno(out), STDOUT_FILENO);
    else bad = bad || posix_spawn_file_actions_addopen(a, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    return bad;
}

/* false: python3 could not be started, or the script failed. */
static bool run(const char *option, const char *value, FILE *in, FILE *out)
{
    char *const argv[] = {"python3",      (char *)find_script(), "-",
                          (char *)option, (char *)value,         NULL};
    posix_spawn_file_actions_t a;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&a)) return false;
    const bool bad =
        connect_files(&a, in, out) || posix_spawnp(&pid, argv[0], &a, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&a);
    while (!bad && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return !bad && status == 0;
}

int script_check(const char *option)
{
    const char *script = find_script();
    if (access(script, R_OK))
        return complain("%s: %s: %s", option, script, strerror(errno)), EXIT_USAGE;
    if (run("--help", NULL, NULL, NULL)) return EXIT_GOOD;
    return complain("%s: python3 is not installed, or cannot run %s", option, script), EXIT_USAGE;
}

int script_run(const char *option, const char *value, FILE *in, FILE *out)
{
    const bool bad = fflush(in) || ferror(in) || lseek(fileno(in), 0, SEEK_SET) < 0;
    if (!bad && run(option, value, in, out)) return EXIT_GOOD;
    complain("trisolve-report %s failed", option);
    return EXIT_USAGE;
}
