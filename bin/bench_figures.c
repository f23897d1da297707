/* bench_figures.c: results become scripts for gnuplot, their numbers inside: each can be drawn again, or
 * changed, by hand. */
#include "config.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scripts ------------------------------------------------------------------------------------ */

typedef struct writer {
    FILE *f;
    size_t size;
    figure figure;
} writer;

/* Text between single quotes, where gnuplot changes nothing. */
static void put_quoted(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', f);
        fputc((unsigned char)*text < ' ' ? '?' : *text, f);
    }
    fputc('\'', f);
}

/* A column of a data block: no quotes within. */
static void put_column(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) fputc(*text == '"' || (unsigned char)*text < ' ' ? '?' : *text, f);
    fputc('"', f);
}

static int start(writer *w, const char *file, const char *title, const char *y, int width)
{
    *w = (writer){0};
    snprintf(w->figure.file, sizeof w->figure.file, "%s", file);
    w->f = open_memstream(&w->figure.script, &w->size);
    if (!w->f) return out_of_memory();
    fprintf(w->f, "# gnuplot %s.gp >%s.svg\n", file, file);
    fprintf(w->f, "set terminal svg size %d,520 noenhanced font 'sans,13' background 'white'\n",
            width);
    fputs("set title ", w->f), put_quoted(w->f, title);
    fputs("\nset ylabel ", w->f), put_quoted(w->f, y);
    fputs("\nset logscale y\nset format y '%g'\nset key outside right top\nset grid\nset datafile "
          "missing '?'\n",
          w->f);
    return EXIT_GOOD;
}

static int finish(writer *w, figure_list *l)
{
    const bool bad = fclose(w->f) != 0;
    figure *grown = bad ? NULL : realloc(l->figure, (size_t)(l->count + 1) * sizeof *grown);
    if (!grown) {
        free(w->figure.script);
        return out_of_memory();
    }
    l->figure = grown;
    l->figure[l->count++] = w->figure;
    return EXIT_GOOD;
}

void figures_free(figure_list *l)
{
    for (int k = 0; k < l->count; k++) free(l->figure[k].script);
    free(l->figure);
}

int add_lines(figure_list *l, const char *file, const char *title, const char *y, int count,
              const curve *curves)
{
    writer w;
    int code = start(&w, file, title, y, 860);
    if (code) return code;
    fputs("set xlabel 'n'\nset logscale x 2\n", w.f);
    for (int k = 0; k < count; k++) {
        fprintf(w.f, "$d%d << EOD\n", k);
        for (int i = 0; i < curves[k].count; i++)
            if (!isnan(curves[k].y[i])) fprintf(w.f, "%.9g %.9g\n", curves[k].x[i], curves[k].y[i]);
        fputs("EOD\n", w.f);
    }
    for (int k = 0; k < count; k++) {
        fprintf(w.f, "%s $d%d with linespoints lw 2 title ", k ? ", \\\n  " : "plot", k);
        put_quoted(w.f, curves[k].name);
    }
    fputc('\n', w.f);
    return finish(&w, l);
}

/* ---- bars: every solver on every triangle, over a reference ---------------------------------------- */

static bool any_has(const kept *k, const char *solver)
{
    for (int i = 0; i < k->count; i++)
        if (find_cell(&k->r[i], solver, 0)) return true;
    return false;
}

/* Does the solver, which is the reference or is not, have a bar anywhere? */
static bool has_bars(const kept *k, const char *solver, const char *reference)
{
    for (int i = 0; i < k->count; i++)
        if (find_cell(&k->r[i], reference, 0) && find_cell(&k->r[i], solver, 0))
            return strcmp(solver, reference) != 0;
    return false;
}

/* Solve over that of the reference; "?" where one of them did not run. */
static void put_ratio(FILE *f, const result *r, const char *solver, const char *reference)
{
    const cell *c = find_cell(r, solver, 0);
    const double ratio = c ? over_solve(r, c, reference) : (double)NAN;
    if (isnan(ratio)) fputs(" ?", f);
    else fprintf(f, " %.5g", ratio);
}

/* Every result has the same cells. */
static int add_bars(const kept *k, const char *reference, figure_list *l)
{
    char title[128];
    const result *first = &k->r[0];
    int bars = 0;
    for (int c = 0; c < first->count; c++)
        bars += has_bars(k, first->cells[c].solver.name, reference);
    if (!bars) return EXIT_GOOD;
    writer w;
    const int width = 360 + 12 * bars * k->count;
    snprintf(title, sizeof title, "Solve time over that of %s (below 1: faster)", reference);
    int code = start(&w, "solve", title, "times as long", width < 860 ? 860 : width);
    if (code) return code;
    fputs("$d << EOD\nmatrix", w.f);
    for (int c = 0; c < first->count; c++)
        if (has_bars(k, first->cells[c].solver.name, reference))
            fprintf(w.f, " %s", first->cells[c].solver.name);
    for (int i = 0; i < k->count; i++) {
        fputc('\n', w.f);
        put_column(w.f, k->r[i].name);
        for (int c = 0; c < first->count; c++)
            if (has_bars(k, first->cells[c].solver.name, reference))
                put_ratio(w.f, &k->r[i], first->cells[c].solver.name, reference);
    }
    fprintf(w.f,
            "\nEOD\nset style data histograms\nset style histogram clustered gap 1\n"
            "set style fill solid 0.8\nset xtics rotate by -35\n"
            "plot for [i=2:%d] $d using i:xtic(1) title columnheader(i), 1 notitle with lines "
            "lc 'black'\n",
            bars + 1);
    return finish(&w, l);
}

int make_figures(const settings *s, const kept *k, figure_list *l)
{
    *l = (figure_list){0};
    if (!k->count) return EXIT_GOOD;
    if (s->dense) return add_dense_figures(k, l);
    return add_bars(k, any_has(k, "cusparse") ? "cusparse" : "cpu-serial", l);
}
