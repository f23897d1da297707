/* script.h: what writes a script for gnuplot. */
#ifndef TRS_BIN_BENCH_SCRIPT_H
#define TRS_BIN_BENCH_SCRIPT_H

#include "figures.h"

enum { FIGURE_WIDTH = 720 }; /* pixels of the figures of triangles */

extern const char ratio_tics[]; /* 1 2 5 10 ..., for either axis */

typedef struct writer {
    FILE *f;     /* the script so far */
    size_t size; /* its bytes */
    figure figure;
} writer;

/* Begins a script, set in pixels of that size, with its head and its title; adds the whole one to
 * the list.  Both return an exit code. */
int figure_begin(writer *w, const char *file, const char *title, int width, int height);
int figure_end(writer *w, figure_list *l);

int figure_height(int curves); /* pixels, with a key below that names so many */

void put_quoted(FILE *f, const char *text); /* in single quotes, in which gnuplot changes nothing */
void put_column(FILE *f, const char *text); /* as a column of a data block, without quotes within */
void put_colour(FILE *f, int place);        /* of a line, a point or a bar */

/* The place of a solver by which colours, lines and points are given out.  Those that keep the
 * matrix full stand last: so the solvers that are drawn most have different ones. */
int place_of(const result_list *results, int solver);

typedef struct curve { /* a line of a figure */
    char name[80];
    int count;
    const double *x, *y; /* [count]; NaN: there is no point */
} curve;

/* A figure of curves over the size n of the matrix. */
int add_curves(figure_list *l, const char *file, const char *title, const char *y, int count,
               const curve *curves);

#endif
