/* bench_figures.c: what every figure has in common: its head, its colours, the solver that ratios are over. */
#include "config.h"

#include "bench_figures.h"
#include "bench_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scripts ------------------------------------------------------------------------------------ */

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

void figures_free(figure_list *l)
{
    for (int k = 0; k < l->count; k++) free(l->figure[k].script);
    free(l->figure);
}

int add_lines(figure_list *l, const char *file, const char *title, const char *y, int count,
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

/* ---- who is compared with whom ------------------------------------------------------------------- */

const char *reference_of(const kept *k)
{
    for (int i = 0; i < k->count; i++)
        if (find_cell(&k->r[i], "cusparse", 0)) return "cusparse";
    return "cpu-serial";
}

/* Has it a ratio anywhere? */
static bool has_ratio(const kept *k, const char *solver, const char *reference)
{
    if (!strcmp(solver, reference)) return false;
    for (int i = 0; i < k->count; i++)
        if (find_cell(&k->r[i], reference, 0) && find_cell(&k->r[i], solver, 0)) return true;
    return false;
}

static bool any_sparse(const kept *k, const char *reference)
{
    const result *first = first_solved(k);
    for (int c = 0; first && c < first->count; c++)
        if (!first->cells[c].solver.full && has_ratio(k, first->cells[c].solver.name, reference))
            return true;
    return false;
}

bool is_compared(const kept *k, int solver, const char *reference)
{
    const trs_solver_info *one = &first_solved(k)->cells[solver].solver;
    return has_ratio(k, one->name, reference) && !(one->full && any_sparse(k, reference));
}

int place_of(const kept *k, int solver)
{
    const result *first = first_solved(k);
    const int full = first->cells[solver].solver.full;
    int place = 0;
    for (int c = 0; c < first->count; c++) {
        const int other = first->cells[c].solver.full;
        place += other < full || (other == full && c < solver);
    }
    return place;
}

ratio_range find_range(const kept *k, const char *reference)
{
    const double lowest = 0.01, highest = 100, margin = 1.1;
    ratio_range v = {0.5, 2};
    for (int i = 0; i < k->count; i++) {
        const result *r = &k->r[i];
        for (int c = 0; c < r->count; c++) {
            if (!is_compared(k, c, reference)) continue;
            const double ratio = over_solve(r, &r->cells[c], reference);
            v.low = fmin(v.low, ratio / margin), v.high = fmax(v.high, ratio * margin);
        }
    }
    return (ratio_range){fmax(v.low, lowest), fmin(v.high, highest)};
}

void put_not_compared(const kept *k, const char *reference, char *text, size_t size)
{
    const result *first = first_solved(k);
    const char *before = " Not drawn: ", *after = "";
    size_t at = 0;
    *text = '\0';
    for (int c = 0; c < first->count && at < size; c++) {
        const char *name = first->cells[c].solver.name;
        if (!has_ratio(k, name, reference) || is_compared(k, c, reference)) continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s", before, name);
        before = ", ";
        after = ", which store the triangle as a full matrix.";
    }
    if (at < size) snprintf(text + at, size - at, "%s", after);
}

int make_figures(const settings *s, const kept *k, figure_list *l)
{
    *l = (figure_list){0};
    if (!first_solved(k)) return EXIT_GOOD;
    if (s->dense) return add_dense_figures(k, l);
    int code = add_profile(s, k, l);
    if (!code) code = add_ratios(k, l);
    return code ? code : add_bars(k, l);
}
