/* script.c: what the scripts of all figures have in common: their head, their colours and
 * their command. */
#include "config.h"

#include "script.h"

#include "base/debug.h"
#include "bin/common/message.h"

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

const char *colour_of(int place)
{
    static const char *const colour[] = {"#4e79a7", "#f28e2b", "#e15759", "#59a14f", "#b07aa1",
                                         "#9c755f", "#76b7b2", "#d4a017", "#ff9da7", "#79706e",
                                         "#1f3b57", "#a65200", "#8c1d20", "#24571b", "#6b3d63",
                                         "#4d3627", "#2f6f6b", "#7a5c00", "#c2185b", "#b9b9b9"};
    return colour[place % (int)(sizeof colour / sizeof *colour)];
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
    w->plot = open_memstream(&w->parts, &w->parts_size);
    if (!w->f || !w->plot) return out_of_memory();
    fprintf(w->f, "# gnuplot %s.gp >%s.svg\n", file, file);
    fprintf(w->f, "set terminal svg size %d,%d noenhanced font 'sans,13' background 'white'\n",
            width, height);
    fputs("set title ", w->f), put_quoted(w->f, title);
    fputs("\nset grid lc rgb '#dddddd'\nset datafile missing '?'\n", w->f);
    return EXIT_GOOD;
}

FILE *next_part(writer *w)
{
    fputs(w->drawn++ ? ", \\\n " : "plot ", w->plot);
    return w->plot;
}

void curve_begin(writer *w, int number, const char *style, const char *name)
{
    fprintf(next_part(w), "$d%d %s title ", number, style);
    put_quoted(w->plot, name);
    fprintf(w->f, "$d%d << EOD\n", number);
}

void curve_end(writer *w)
{
    fputs("EOD\n", w->f);
}

int figure_end(writer *w, figure_list *l)
{
    bool bad = fclose(w->plot) != 0;
    if (!bad) fprintf(w->f, "%s\n", w->parts);
    bad = fclose(w->f) != 0 || bad;
    free(w->parts);
    figure *grown = bad ? NULL : realloc(l->figure, (size_t)(l->count + 1) * sizeof *grown);
    if (grown) l->figure = grown;
    if (grown && w->drawn) l->figure[l->count++] = w->figure;
    else free(w->figure.script);
    return grown ? EXIT_GOOD : out_of_memory();
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
