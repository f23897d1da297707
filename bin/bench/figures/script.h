/* script.h: what writes a script for gnuplot. */
#ifndef TRS_BIN_BENCH_SCRIPT_H
#define TRS_BIN_BENCH_SCRIPT_H

#include "figures.h"

enum { FIGURE_WIDTH = 720 }; /* pixels of the figures of triangles */

extern const char ratio_tics[]; /* 1 2 5 10 ..., for either axis */

/* A script has a head and a title, then axes and data, which f is for, and at last a command that
 * draws, whose parts are collected meanwhile. */
typedef struct writer {
    FILE *f, *plot;
    char *parts; /* the text of plot */
    size_t size, parts_size;
    int drawn; /* how many parts there are */
    figure figure;
} writer;

/* Begins a script, with pixels of that size; adds the whole one to the list, unless it draws
 * nothing.  Both return an exit code. */
int figure_begin(writer *w, const char *file, const char *title, int width, int height);
int figure_end(writer *w, figure_list *l);

/* The next part of the command is to be written there. */
FILE *next_part(writer *w);

/* A curve in that style; its points, a line each, are to be written to w->f up to curve_end. */
void curve_begin(writer *w, int number, const char *style, const char *name);
void curve_end(writer *w);

int figure_height(int curves); /* pixels, with a key below that names so many */

void put_quoted(FILE *f, const char *text); /* in single quotes, in which gnuplot changes nothing */
void put_column(FILE *f, const char *text); /* as a column of a data block, without quotes within */
const char *colour_of(int place);           /* "#4e79a7": of a line, a point or a bar */

/* The place of a solver by which colours, lines and points are given out.  Those that keep the
 * matrix full stand last: so the solvers that are drawn most have different ones. */
int place_of(const result_list *results, int solver);

#endif
