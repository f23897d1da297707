/* plot.c: --plot: the width of every level.  The script trisolve-report draws the steps that it gets
 * as CSV. */
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

/* At most MOST_STEPS steps: of several levels in a row the widest is shown.  A row of the CSV is where
 * a step begins, that of level l at l - 0.5; the last row is where the last step ends. */
static void put_steps(FILE *out, const triangle *t)
{
    const int64_t step = t->levels / MOST_STEPS + 1;
    int64_t widest = 0;
    char name[100];
    snprintf(name, sizeof name, "%s: %" PRId64 " %s", t->name, t->levels,
             trs_noun(t->levels, "level", "levels"));
    for (int64_t l = 0; l < t->levels; l += step) {
        widest = 0;
        for (int64_t k = l; k < l + step && k < t->levels; k++)
            if (t->width[k] > widest) widest = t->width[k];
        fprintf(out, "%s,%.1f,%" PRId64 "\n", name, (double)l - 0.5, widest);
    }
    fprintf(out, "%s,%.1f,%" PRId64 "\n", name, (double)t->levels - 0.5, widest);
}

static int draw(const facts *f, FILE *out)
{
    FILE *csv = tmpfile();
    if (!csv) return complain("--plot: %s", strerror(errno)), EXIT_USAGE;
    fprintf(csv, "triangle,level,rows\n");
    for (int k = 0; k < TRIANGLES; k++)
        if (f->part[k].name && f->part[k].levels) put_steps(csv, &f->part[k]);
    const int code = script_run("--widths", f->file, csv, out);
    fclose(csv);
    return code;
}

int plot_widths(const char *file, const facts *f)
{
    output o;
    if (!f->part[LOWER].levels && !f->part[UPPER].levels && !f->part[PERMUTED].levels)
        return complain("--plot: %s has no levels", f->file), EXIT_USAGE;
    int code = script_check("--plot");
    if (!code) code = file_open(&o, file);
    if (code) return code;
    code = draw(f, o.f);
    const int closed = file_close(&o, !code);
    return code ? code : closed;
}
