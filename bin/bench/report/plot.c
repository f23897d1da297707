/* plot.c: --plot: the figures as files: NAME.gp, the script with its numbers, and NAME.svg where
 * gnuplot is installed. */
#include "config.h"

#include "report.h"

#include "bin/bench/figures/figures.h"
#include "bin/common/message.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int begin(const report *p)
{
    const char *folder = p->session->outputs.plot;
    if (!mkdir(folder, 0777) || errno == EEXIST) return EXIT_GOOD;
    return complain("%s: %s", folder, strerror(errno)), EXIT_USAGE;
}

static int write_file(const char *folder, const figure *one, const char *kind, const char *text)
{
    char name[4000];
    output o;
    snprintf(name, sizeof name, "%s/%s.%s", folder, one->file, kind);
    int code = file_open(&o, name);
    if (code) return code;
    fputs(text, o.f);
    return file_close(&o, true);
}

static int end(const report *p)
{
    const char *folder = p->session->outputs.plot;
    figure_list l;
    int code = make_figures(p->settings, p->all, &l);
    if (!code && !l.count) complain("--plot: nothing to draw");
    const bool drawn = !code && draw(&l);
    for (int k = 0; k < l.count && !code; k++) {
        const figure *one = &l.figure[k];
        code = write_file(folder, one, "gp", one->script);
        if (!code && drawn) code = write_file(folder, one, "svg", one->svg);
    }
    if (!code && !drawn)
        complain("--plot: gnuplot is not here, or failed: %s has its scripts alone", folder);
    figures_free(&l);
    return code;
}

const reporter reporter_plot = {begin, NULL, end};
