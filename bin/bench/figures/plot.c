/* plot.c: --plot: the figures as files: NAME.gp, the script with its numbers, and NAME.svg where
 * gnuplot is installed. */
#include "config.h"

#include "figures.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- gnuplot ------------------------------------------------------------------------------------ */

/* gnuplot with these as its standard input and output; its status, -1: it cannot be started. */
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

int draw(const char *script, FILE *svg)
{
    FILE *in = tmpfile();
    if (!in) return -1;
    const bool written = fputs(script, in) >= 0 && !fflush(in) && !fflush(svg);
    int status = -1;
    if (written && lseek(fileno(in), 0, SEEK_SET) == 0) status = spawn(fileno(in), fileno(svg));
    fclose(in);
    if (status) return -1;
    return fseek(svg, 0, SEEK_END) == 0 && ftell(svg) > 0 ? 0 : -1;
}

/* ---- the report ----------------------------------------------------------------------------------- */

typedef struct plots {
    const settings *settings;
    kept all;
} plots;

static int begin(const settings *s, const host *h, void **data)
{
    (void)h;
    if (!s->plot) return EXIT_GOOD;
    plots *p = *data = calloc(1, sizeof *p);
    if (!p) return out_of_memory();
    p->settings = s;
    if (!mkdir(s->plot, 0777) || errno == EEXIST) return EXIT_GOOD;
    return complain("%s: %s", s->plot, strerror(errno)), EXIT_USAGE;
}

static int add(void *data, const result *r)
{
    return *r->trouble ? EXIT_GOOD : keep(&((plots *)data)->all, r);
}

static int write_script(const char *folder, const figure *f)
{
    char name[4000];
    output o;
    snprintf(name, sizeof name, "%s/%s.gp", folder, f->file);
    int code = file_open(&o, name);
    if (code) return code;
    fputs(f->script, o.f);
    return file_close(&o, true);
}

static int write_svg(const char *folder, const figure *f, bool *drawn)
{
    char name[4000];
    output o;
    snprintf(name, sizeof name, "%s/%s.svg", folder, f->file);
    int code = file_open(&o, name);
    if (code) return code;
    *drawn = draw(f->script, o.f) == 0;
    return file_close(&o, *drawn);
}

static int write_figures(const plots *p)
{
    const char *folder = p->settings->plot;
    figure_list l;
    bool drawn = true;
    int code = make_figures(p->settings, &p->all, &l);
    if (!code && !l.count) complain("--plot: nothing to draw");
    for (int k = 0; k < l.count && !code; k++) code = write_script(folder, &l.figure[k]);
    for (int k = 0; k < l.count && !code && drawn; k++)
        code = write_svg(folder, &l.figure[k], &drawn);
    if (!drawn)
        complain("--plot: gnuplot is not here, or failed: %s has its scripts alone", folder);
    figures_free(&l);
    return code;
}

static int end(void *data, bool complete)
{
    plots *p = data;
    int code = complete ? write_figures(p) : EXIT_GOOD;
    kept_free(&p->all);
    free(p);
    return code;
}

const report report_plot = {begin, add, end};
