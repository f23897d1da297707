/* table.c: the table of a matrix, with a line for each solver.  A column that would hold dashes
 * alone is left out. */
#include "config.h"

#include "page.h"

#include "bin/bench/measure/summary.h"
#include "bin/bench/report/text.h"

#include <math.h>
#include <stddef.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* A column has a time of each solver, in ms, or its solve over that of another one. */
static const struct column {
    const char *name, *reference; /* the other solver; NULL: the column has times */
    size_t seconds;               /* where these are in a cell */
} columns[] = {
    {"analysis", NULL, offsetof(cell, analysis)},
    {"setup", NULL, offsetof(cell, setup)},
    {"update", NULL, offsetof(cell, update)},
    {"factor", NULL, offsetof(cell, factor)},
    {"solve", NULL, offsetof(cell, solve.median)},
    {"/cusparse", "cusparse", 0},
    {"/cpu-serial", "cpu-serial", 0},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* NaN: there is none. */
static double value(const struct column *one, const result *r, const cell *c)
{
    if (one->reference) return over_solve(r, c, one->reference);
    const double seconds = *(const double *)((const char *)c + one->seconds);
    const bool none = one->seconds == offsetof(cell, factor) && !(seconds > 0);
    return none ? (double)NAN : 1e3 * seconds;
}

static bool has_numbers(const result *r, const struct column *one)
{
    for (int k = 0; k < r->count; k++)
        if (!r->cells[k].status && !isnan(value(one, r, &r->cells[k]))) return true;
    return false;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void put_name(FILE *f, const cell *c)
{
    fputs(c->solver.name, f);
    if (c->block) fprintf(f, "/%d", c->block);
    if (c->auto_host || c->auto_device)
        fprintf(f, " <small>choice for %s%s%s</small>", c->auto_host ? "the host" : "",
                c->auto_host && c->auto_device ? ", " : "", c->auto_device ? "the device" : "");
}

static void put_line(FILE *f, const result *r, const cell *c, bool best, int shown)
{
    fputs(best ? "<tr class=\"best\"><td>" : "<tr><td>", f);
    put_name(f, c);
    fputs("</td>", f);
    if (c->status) {
        fprintf(f, "<td colspan=\"%d\" class=\"why\">refused: %s</td></tr>\n", shown + 1,
                escaped(c->message).s);
        return;
    }
    /* the first has the letter of the analysis that found the levels behind it */
    fprintf(f, "<td>%s %c</td>", number(1e3 * c->analysis).s, levels_mark(c));
    for (int k = 1; k < COLUMNS; k++)
        if (has_numbers(r, &columns[k])) put_number(f, value(&columns[k], r, c));
    fprintf(f, "<td>%.1e%s%s</td></tr>\n", promised_error(c), promises_normwise(c) ? " N" : "",
            c->accurate ? "" : " inaccurate");
}

static void put_table(const report *p, const result *r)
{
    const cell *best = find_choice(p->settings, r).best;
    FILE *f = p->f;
    int shown = 0;
    fputs("<div class=\"wide\"><table><tr><th>solver</th>", f);
    for (int k = 0; k < COLUMNS; k++) {
        if (!has_numbers(r, &columns[k])) continue;
        fprintf(f, "<th>%s</th>", columns[k].name);
        shown++;
    }
    fputs("<th>error</th></tr>\n", f);
    for (int k = 0; k < r->count; k++) put_line(f, r, &r->cells[k], &r->cells[k] == best, shown);
    fputs("</table></div>\n", f);
}

void put_section(const report *p, const result *r)
{
    FILE *f = p->f;
    fprintf(f, "<section id=\"m%d\"><h3>%s</h3>\n<p>%s%s", number_of(p, r), escaped(r->name).s,
            escaped(r->problem).s, *r->problem ? "; " : "");
    put_features(f, p->settings, r);
    if (r->sweep > 0)
        fprintf(f, "; levels by rows (R) %s ms, by columns (C) %s ms", number(1e3 * r->sweep).s,
                number(1e3 * r->sort).s);
    fputs("</p>\n", f);
    put_table(p, r);
    fputs("</section>\n", f);
}
