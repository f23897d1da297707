/* figures.h: the figures of a run, as scripts for gnuplot with their numbers inside, so that each
 * can be drawn again, or changed, by hand.
 *
 * Of triangles there are three: the performance profile (profile.c), the ratios over the number of
 * levels (ratios.c) and the ratios matrix by matrix (bars.c).  --dense has its own
 * (dense_figures.c). */
#ifndef TRS_BIN_BENCH_FIGURES_H
#define TRS_BIN_BENCH_FIGURES_H

#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"

#include <stdio.h>

typedef struct figure {
    char file[64];     /* its name without .gp or .svg */
    char title[160];   /* also within the figure */
    char caption[800]; /* how it is to be read; "": there is nothing to say */
    char *script;      /* for gnuplot, which then writes SVG to its standard output */
    char *svg;         /* that text; NULL: it was not drawn */
} figure;

typedef struct figure_list {
    int count;
    figure *figure; /* [count] */
} figure_list;

/* All figures that the results give.  Returns an exit code; the list is to be freed also after an
 * error. */
int make_figures(const settings *s, const result_list *results, figure_list *l);
void figures_free(figure_list *l);

/* Lets gnuplot draw all of them; false: there is no gnuplot, or it refuses a script. */
bool draw(figure_list *l);

#endif
