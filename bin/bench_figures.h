/* bench_figures.h: figures: scripts for gnuplot with their numbers inside, so that each can be drawn again,
 * or changed, by hand.
 *
 * Of triangles there are three: the performance profile (bench_profile.c), the ratios over the number
 * of levels (bench_ratios.c) and the ratios matrix by matrix (bench_bars.c).  --dense has its own
 * (bench_dense_figures.c). */
#ifndef TRS_BIN_BENCH_FIGURES_H
#define TRS_BIN_BENCH_FIGURES_H

#include "bench.h"

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

/* The solver that the ratios are over: cusparse, or cpu-serial where that has nowhere run. */
const char *reference_of(const kept *k);

/* Is the solver drawn beside the reference?  Not the reference itself; not a solver that keeps the
 * matrix full, when others were run too: on sparse triangles it may take thousands of times as long. */
bool is_compared(const kept *k, int solver, const char *reference);

/* The solver's place when those that keep the matrix full stand last: by it colours, lines and points are
 * given out, so that those that are drawn most have different ones. */
int place_of(const kept *k, int solver);

/* The ratios of what is compared, between 1/100 and 100: what lies beyond must not flatten the rest. */
typedef struct ratio_range {
    double low, high;
} ratio_range;

ratio_range find_range(const kept *k, const char *reference);

/* " Not drawn: A, B, which ...", or "", for the caption. */
void put_not_compared(const kept *k, const char *reference, char *text, size_t size);

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
int add_ratios(const kept *k, figure_list *l);
int add_bars(const kept *k, figure_list *l);
int add_dense_figures(const kept *k, figure_list *l);

/* ---- bench_plot.c ------------------------------------------------------------------------------ */

/* Run gnuplot on a script, SVG to the file.  0: drawn; -1: there is no gnuplot, or it refuses the script. */
int draw(const char *script, FILE *svg);

#endif
