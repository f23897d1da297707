/* figures.h: figures: scripts for gnuplot with their numbers inside, so that each can be drawn again,
 * or changed, by hand.
 *
 * Of triangles there are three: the performance profile (bench_profile.c), the ratios over the number
 * of levels (bench_ratios.c) and the ratios matrix by matrix (bench_bars.c).  --dense has its own
 * (bench_dense_figures.c). */
#ifndef TRS_BIN_BENCH_FIGURES_H
#define TRS_BIN_BENCH_FIGURES_H

#include "bin/bench/bench.h"

typedef struct figure {
    char file[64];     /* without .gp, .svg */
    char title[160];   /* also within the figure */
    char caption[800]; /* how it is to be read; "": there is nothing to say */
    char *script;      /* for gnuplot, which then writes SVG to its standard output */
} figure;

typedef struct figure_list {
    int count;
    figure *figure; /* [count] */
} figure_list;

/* ---- bench_figures.c: all figures that the results give; an exit code -------------------------- */

int make_figures(const settings *s, const kept *k, figure_list *l);
void figures_free(figure_list *l);

/* The solver's place when those that keep the matrix full stand last: by it colours, lines and points are
 * given out, so that those that are drawn most have different ones. */
int place_of(const kept *k, int solver);

/* ---- bench_comparison.c: who is drawn, over whom --------------------------------------------------- */

/* Solve times over those of a reference: cusparse, or cpu-serial where that has nowhere run. */
typedef struct comparison {
    const char *reference;
    int solvers, drawn; /* of each result; those that are drawn */
    bool *
        is_drawn; /* [solvers]: it has a ratio, and is not the reference.  Solvers that keep the matrix
                           full are left out when there are others: on sparse triangles they may take
                           thousands of times as long */
    double low,
        high; /* of all that is drawn, between 1/100 and 100: what lies beyond must not flatten the
                           rest */
    char left_out[400]; /* " Not drawn: A, B, which ...", or "", for the caption */
} comparison;

int comparison_make(comparison *v, const kept *k); /* an exit code */
void comparison_free(comparison *v);

/* ---- what writes a script ---------------------------------------------------------------------- */

typedef struct writer {
    FILE *f; /* the script so far */
    size_t size;
    figure figure;
} writer;

/* An exit code; then the script, set in pixels of that size, has its head and its title. */
int figure_begin(writer *w, const char *file, const char *title, int width, int height);
int figure_end(writer *w, figure_list *l);  /* an exit code */
void put_quoted(FILE *f, const char *text); /* in single quotes, where gnuplot changes nothing */
void put_column(FILE *f, const char *text); /* of a data block: no quotes within */
void put_colour(FILE *f, int place);        /* of a line, a point, a bar */
enum { FIGURE_WIDTH = 720 };                /* of those of triangles */
int figure_height(int curves);              /* with a key below that names so many */
extern const char ratio_tics[];             /* 1 2 5 10 ..., for either axis */

typedef struct curve { /* a line of a figure: y over x; NaN: no point */
    char name[80];
    int count;
    const double *x, *y;
} curve;

int add_lines(figure_list *l, const char *file, const char *title, const char *y, int count,
              const curve *curves);

/* ---- the figures, each an exit code; one that has nothing to show adds nothing -------------------- */

int add_profile(const settings *s, const kept *k, figure_list *l);
int add_ratios(const kept *k, const comparison *v, figure_list *l);
int add_bars(const kept *k, const comparison *v, figure_list *l);
int add_dense_figures(const kept *k, figure_list *l);

/* ---- bench_plot.c ------------------------------------------------------------------------------ */

/* Run gnuplot on a script, SVG to the file.  0: drawn; -1: there is no gnuplot, or it refuses the script. */
int draw(const char *script, FILE *svg);

#endif
