/* lists.c: where the choice is slow, what was refused or is inaccurate, and every matrix in a line,
 * with links to their own tables. */
#include "config.h"

#include "page.h"

#include "base/noun.h"
#include "bin/bench/measure/summary.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- where the choice is slow ---------------------------------------------------------------- */

enum { SHOWN = 25 };

typedef struct slow {
    const result *r;
    choice choice;
} slow;

static int slowest_first(const void *a, const void *b)
{
    const double x = ((const slow *)a)->choice.ratio, y = ((const slow *)b)->choice.ratio;
    return (x < y) - (x > y);
}

/* Stores in list [l->count] the triangles on which the choice is beyond the largest bound; how many
 * they are. */
static int find_slow(const settings *s, const result_list *l, slow *list)
{
    int count = 0;
    for (int i = 0; i < l->count; i++) {
        const choice p = find_choice(s, &l->r[i]);
        if (p.ratio > choice_bounds[BOUNDS - 1]) list[count++] = (slow){&l->r[i], p};
    }
    qsort(list, (size_t)count, sizeof *list, slowest_first);
    return count;
}

static void put_slow_line(const report *p, const slow *one)
{
    const choice *c = &one->choice;
    put_link(p, one->r);
    fprintf(p->f, "<td>%" PRId64 "</td>", one->r->levels);
    put_word(p->f, c->taken->solver.name);
    put_number(p->f, 1e3 * c->taken->solve.median);
    put_word(p->f, c->best->solver.name);
    put_number(p->f, 1e3 * c->best->solve.median);
    put_number(p->f, c->ratio);
    fputs("</tr>\n", p->f);
}

static void put_slow_table(const report *p, const slow *list, int count, double bound)
{
    FILE *f = p->f;
    fprintf(f, "<p>On %d %s it takes more than %.1f times as long as the fastest%s.</p>\n", count,
            trs_noun(count, "triangle", "triangles"), bound, count > SHOWN ? "; the worst" : "");
    fputs("<div class=\"wide\"><table><tr><th>matrix</th><th>levels</th>"
          "<th class=\"word\">choice</th><th>ms</th>"
          "<th class=\"word\">fastest</th><th>ms</th><th>/fastest</th></tr>\n",
          f);
    for (int i = 0; i < count && i < SHOWN; i++) put_slow_line(p, &list[i]);
    fputs("</table></div>\n", f);
}

void put_slow(const report *p)
{
    const double bound = choice_bounds[BOUNDS - 1];
    slow *list = calloc((size_t)p->all->count + 1, sizeof *list);
    const int count = list ? find_slow(p->settings, p->all, list) : 0;
    fputs("<section id=\"slow\"><h2>Where the choice is slow</h2>\n", p->f);
    if (count) put_slow_table(p, list, count, bound);
    else fprintf(p->f, "<p>Nowhere more than %.1f times the fastest.</p>\n", bound);
    fputs("</section>\n", p->f);
    free(list);
}

/* ---- what failed ----------------------------------------------------------------------------- */

bool has_failed(const report *p)
{
    const census n = take_census(p->all);
    return n.refused || n.inaccurate;
}

void put_failed(const report *p)
{
    if (!has_failed(p)) return;
    fputs("<section id=\"failed\"><h2>Refused or inaccurate</h2>\n<div class=\"wide\"><table>\n"
          "<tr><th>matrix</th><th class=\"why\">why</th></tr>\n",
          p->f);
    for (int i = 0; i < p->all->count; i++) {
        const result *r = &p->all->r[i];
        for (const cell *k = r->cells; k < r->cells + r->count; k++) {
            if (k->status || k->accurate) continue;
            put_link(p, r);
            fprintf(p->f, "<td class=\"why bad\">%s: backward error %.1e</td></tr>\n",
                    k->solver.name, promised_error(k));
        }
        if (!r->count)
            fprintf(p->f, "<tr id=\"m%d\"><td>%s</td><td class=\"why\">%s</td></tr>\n",
                    number_of(p, r), escaped(r->name).s, escaped(r->trouble).s);
    }
    fputs("</table></div></section>\n", p->f);
}

/* ---- every matrix in a line ------------------------------------------------------------------ */

static void put_line(const report *p, const result *r, bool choices)
{
    const choice one = find_choice(p->settings, r);
    FILE *f = p->f;
    put_link(p, r);
    if (!r->count) {
        fprintf(f, "<td colspan=\"%d\" class=\"why\">refused</td></tr>\n", choices ? 7 : 5);
        return;
    }
    fprintf(f, "<td>%" PRId64 "</td><td>%" PRId64 "</td><td>%" PRId64 "</td>", r->n, r->nnz,
            r->levels);
    put_word(f, one.best ? one.best->solver.name : NULL);
    put_number(f, quantity_of(r, one.best, SOLVE_MS));
    if (choices) put_word(f, one.taken ? one.taken->solver.name : NULL), put_number(f, one.ratio);
    fputs("</tr>\n", f);
}

void put_every_line(const report *p)
{
    const bool choices = sum_choices(p->settings, p->all).count > 0;
    fprintf(
        p->f,
        "<section id=\"matrices\"><h2>Matrices</h2>\n<div class=\"wide\"><table>"
        "<tr><th>matrix</th><th>n</th><th>nnz</th><th>levels</th><th class=\"word\">fastest</th>"
        "<th>ms</th>%s</tr>\n",
        choices ? "<th class=\"word\">choice</th><th>/fastest</th>" : "");
    for (int i = 0; i < p->all->count; i++) put_line(p, &p->all->r[i], choices);
    fputs("</table></div></section>\n", p->f);
}
