/* script.c: what the scripts of all figures have in common: their head, their colours, and curves
 * over n. */
#include "config.h"

#include "script.h"

#include "base/debug.h"
#include "bin/common/message.h"

#include <math.h>
#include <stdlib.h>

const char ratio_tics[] = "(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)";

void put_quoted(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', f);
        fputc((unsigned char)*text < ' ' ? '?' : *text, f);
    }
    fputc('\'', f);
}

void put_column(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) fputc(*text == '"' || (unsigned char)*text < ' ' ? '?' : *text, f);
    fputc('"', f);
}

void put_colour(FILE *f, int place)
{
    static const char *const colour[] = {"4e79a7", "f28e2b", "e15759", "59a14f", "b07aa1",
                                         "9c755f", "76b7b2", "d4a017", "ff9da7", "79706e",
                                         "1f3b57", "a65200", "8c1d20", "24571b", "6b3d63",
                                         "4d3627", "2f6f6b", "7a5c00", "c2185b", "b9b9b9"};
    fprintf(f, " lc rgb '#%s'", colour[place % (int)(sizeof colour / sizeof *colour)]);
}

int figure_height(int curves)
{
    return 440 + 20 * ((curves + 1) / 2);
}

int figure_begin(writer *w, const char *file, const char *title, int width, int height)
{
    *w = (writer){0};
    snprintf(w->figure.file, sizeof w->figure.file, "%s", file);
    snprintf(w->figure.title, sizeof w->figure.title, "%s", title);
    w->f = open_memstream(&w->figure.script, &w->size);
    if (!w->f) return out_of_memory();
    fprintf(w->f, "# gnuplot %s.gp >%s.svg\n", file, file);
    fprintf(w->f, "set terminal svg size %d,%d noenhanced font 'sans,13' background 'white'\n",
            width, height);
    fputs("set title ", w->f), put_quoted(w->f, title);
    fputs("\nset grid lc rgb '#dddddd'\nset datafile missing '?'\n", w->f);
    return EXIT_GOOD;
}

int figure_end(writer *w, figure_list *l)
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

int place_of(const result_list *results, int solver)
{
    const result *first = first_solved(results);
    const int full = first->cells[solver].solver.full;
    int place = 0;
    TRS_ASSERT(solver >= 0 && solver < first->count);
    for (int c = 0; c < first->count; c++) {
        const int other = first->cells[c].solver.full;
        place += other < full || (other == full && c < solver);
    }
    return place;
}

int add_curves(figure_list *l, const char *file, const char *title, const char *y, int count,
               const curve *curves)
{
    writer w;
    int code = figure_begin(&w, file, title, 860, 520);
    if (code) return code;
    fputs("set xlabel 'n'\nset logscale x 2\nset logscale y\nset format y '%g'\n"
          "set key outside right top\nset ylabel ",
          w.f);
    put_quoted(w.f, y);
    fputc('\n', w.f);
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
    return figure_end(&w, l);
}
