/* plot.c: --plot: the width of every level, drawn by gnuplot.
 *
 * gnuplot writes to a temporary name, which is renamed when the drawing is complete. */
#include "config.h"

#include "info.h"
#include "base/noun.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { MOST_POINTS = 4000 };

/* In gnuplot's single quotes, within which only a quote must be doubled. */
static void put_quoted(FILE *out, const char *s)
{
    fputc('\'', out);
    for (; *s; s++) fprintf(out, *s == '\'' ? "''" : "%c", *s);
    fputc('\'', out);
}

/* At most MOST_POINTS points: of several levels in a row the widest is shown.  gnuplot draws a step
 * from a point to the next one: that of level l from l - 0.5 to l + 0.5.  The last step needs a
 * point behind it. */
static void put_points(FILE *out, const triangle *t)
{
    int64_t step = t->levels / MOST_POINTS + 1, widest = 0;
    fprintf(out, "$%s << END\n", t->name);
    for (int64_t l = 0; l < t->levels; l += step) {
        widest = 0;
        for (int64_t k = l; k < l + step && k < t->levels; k++)
            if (t->width[k] > widest) widest = t->width[k];
        fprintf(out, "%.1f %" PRId64 "\n", (double)l - 0.5, widest);
    }
    fprintf(out, "%.1f %" PRId64 "\nEND\n", (double)t->levels - 0.5, widest);
}

/* Leaves some room around the steps, so that none lies on the frame. */
static void put_ranges(FILE *out, const facts *f)
{
    int64_t levels = 0, widest = 0;
    for (int k = 0; k < TRIANGLES; k++) {
        if (f->part[k].levels > levels) levels = f->part[k].levels;
        if (f->part[k].widest > widest) widest = f->part[k].widest;
    }
    const double room = 0.02 * (double)levels;
    fprintf(out, "set xrange [%g:%.10g]\nset yrange [0.8:%.10g]\n", -0.5 - room,
            (double)levels - 0.5 + room, 2 * (double)widest);
    if (levels <= 20) fprintf(out, "set xtics 1\n");
}

static void put_script(FILE *out, const char *file, const facts *f)
{
    const char *comma = "";
    for (int k = 0; k < TRIANGLES; k++)
        if (f->part[k].name) put_points(out, &f->part[k]);
    fprintf(out, "set terminal svg size 900, 500 background 'white'\nset output ");
    put_quoted(out, file);
    fprintf(out, "\nset title ");
    put_quoted(out, f->file);
    fprintf(out, " noenhanced\nset xlabel 'level'\nset ylabel 'rows'\nset logscale y\nset grid\n");
    put_ranges(out, f);
    fprintf(out, "plot ");
    for (int k = 0; k < TRIANGLES; k++) {
        const triangle *t = &f->part[k];
        if (!t->name) continue;
        const bool below = k == LOWER && f->part[UPPER].name; /* the upper one is drawn over it */
        const int pixels = below ? 3 : 1;
        fprintf(out, "%s$%s with steps linewidth %d title '%s: %" PRId64 " %s'", comma, t->name,
                pixels, t->name, t->levels, trs_noun(t->levels, "level", "levels"));
        comma = ", ";
    }
    fprintf(out, "\n");
}

static int run_gnuplot(const char *file, const facts *f)
{
    FILE *out = popen("gnuplot", "w");
    if (!out) return -1;
    signal(SIGPIPE, SIG_IGN); /* the pipe breaks where there is no gnuplot */
    put_script(out, file, f);
    return pclose(out);
}

int plot_widths(const char *file, const facts *f)
{
    char part[4096];
    if (!f->part[LOWER].levels && !f->part[UPPER].levels && !f->part[PERMUTED].levels) {
        complain("--plot: %s has no levels", f->file);
        return EXIT_USAGE;
    }
    int n = snprintf(part, sizeof part, "%s.part", file);
    if (n < 0 || (size_t)n >= sizeof part) return complain("%s: name too long", file), EXIT_USAGE;
    int status = run_gnuplot(part, f);
    if (status == 0 && rename(part, file) == 0) return EXIT_GOOD;
    remove(part);
    if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        complain("--plot: gnuplot is not installed");
    else complain("%s: gnuplot could not write the file", file);
    return EXIT_USAGE;
}
