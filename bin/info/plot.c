/* plot.c: --plot, the width of every level, and --spy, the pattern.  The script trisolve-report draws what it gets as
 * CSV. */
#include "config.h"

#include "info.h"
#include "base/noun.h"
#include "bin/common/output/output.h"
#include "bin/report/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 4000 };

static void put_name(FILE *out, const triangle *t)
{
    fprintf(out, "%s: %" PRId64 " %s,", t->name, t->levels, trs_noun(t->levels, "level", "levels"));
}

/* At most MOST_STEPS steps: of several levels in a row the widest is shown.  A row of the CSV is where
 * a step begins, that of level l at l - 0.5; the last row is where the last step ends. */
static void put_steps(FILE *out, const triangle *t)
{
    const int64_t step = t->levels / MOST_STEPS + 1;
    int64_t widest = 0;
    for (int64_t l = 0; l < t->levels; l += step) {
        widest = 0;
        for (int64_t k = l; k < l + step && k < t->levels; k++)
            if (t->width[k] > widest) widest = t->width[k];
        put_name(out, t);
        fprintf(out, "%.1f,%" PRId64 "\n", (double)l - 0.5, widest);
    }
    put_name(out, t);
    fprintf(out, "%.1f,%" PRId64 "\n", (double)t->levels - 0.5, widest);
}

/* The cells with entries, with the mean level of their rows. */
static void put_cells(FILE *out, const triangle *t)
{
    static const char *const order[ORDERS] = {"order of the file", "rows sorted by levels"};
    for (int k = 0; k < ORDERS; k++)
        for (int64_t at = 0; t->spy[k].cell && at < t->spy[k].cells * t->spy[k].cells; at++) {
            const spy_cell *c = &t->spy[k].cell[at];
            if (!c->count) continue;
            put_name(out, t);
            fprintf(out, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.1f\n", order[k],
                    t->spy[k].cells, t->levels, at / t->spy[k].cells, at % t->spy[k].cells,
                    c->levels / (double)c->count);
        }
}

typedef struct picture {
    const char *option, *of_script, *columns;
    void (*put)(FILE *out, const triangle *t);
} picture;

static int draw(const picture *p, const facts *f, FILE *out)
{
    FILE *csv = tmpfile();
    if (!csv) return complain("%s: %s", p->option, strerror(errno)), EXIT_USAGE;
    fprintf(csv, "%s\n", p->columns);
    for (int k = 0; k < TRIANGLES; k++)
        if (f->part[k].name && f->part[k].levels) p->put(csv, &f->part[k]);
    const int code = script_run(p->of_script, f->file, csv, out);
    fclose(csv);
    return code;
}

static int plot_to(const char *file, const picture *p, const facts *f)
{
    output o;
    const bool has_rows = f->part[LOWER].levels || f->part[UPPER].levels;
    if (!has_rows && (p->put == put_cells || !f->part[PERMUTED].levels))
        return complain("%s: %s has no levels", p->option, f->file), EXIT_USAGE;
    int code = script_check(p->option);
    if (!code) code = file_open(&o, file);
    if (code) return code;
    code = draw(p, f, o.f);
    const int closed = file_close(&o, !code);
    return code ? code : closed;
}

int plot(const arguments *a, const facts *f)
{
    static const picture widths = {"--plot", "--widths", "triangle,level,rows", put_steps};
    static const picture pattern = {"--spy", "--spy",
                                    "triangle,order,cells,levels,row,column,level", put_cells};
    int code = a->plot ? plot_to(a->plot, &widths, f) : EXIT_GOOD;
    if (a->spy && !code) code = plot_to(a->spy, &pattern, f);
    return code;
}
