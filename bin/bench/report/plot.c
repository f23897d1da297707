/* plot.c: --plot: the figures as files: NAME.gp, the script with its numbers, and NAME.svg where
 * gnuplot is installed. */
#include "config.h"

#include "output.h"
#include "report.h"

#include "bin/bench/figures/figures.h"
#include "bin/common/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool wanted(const session *s)
{
    return s->outputs.plot != NULL;
}

static int begin(const session *s, void **data)
{
    const char *folder = s->outputs.plot;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return complain("%s: %s", folder, strerror(errno)), EXIT_USAGE;
    *data = calloc(1, sizeof(result_list));
    return *data ? EXIT_GOOD : out_of_memory();
}

static int add(const session *s, void *data, const result *r)
{
    (void)s;
    return *r->trouble ? EXIT_GOOD : result_list_add(data, r);
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
    *drawn = draw(f->script, o.f);
    return file_close(&o, *drawn);
}

static int write_figures(const session *s, const result_list *all)
{
    const char *folder = s->outputs.plot;
    figure_list l;
    bool drawn = true;
    int code = make_figures(&s->settings, all, &l);
    if (!code && !l.count) complain("--plot: nothing to draw");
    for (int k = 0; k < l.count && !code; k++) code = write_script(folder, &l.figure[k]);
    for (int k = 0; k < l.count && !code && drawn; k++)
        code = write_svg(folder, &l.figure[k], &drawn);
    if (!drawn)
        complain("--plot: gnuplot is not here, or failed: %s has its scripts alone", folder);
    figures_free(&l);
    return code;
}

static int end(const session *s, void *data, bool complete)
{
    result_list *all = data;
    const int code = complete ? write_figures(s, all) : EXIT_GOOD;
    result_list_free(all);
    free(all);
    return code;
}

const reporter reporter_plot = {wanted, begin, add, end};
