/* text.c: numbers and names as the reports write them. */
#include "config.h"

#include "text.h"

#include "base/noun.h"
#include "bin/common/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *op_name(trs_op op)
{
    static const char *const name[] = {[TRS_N] = "N", [TRS_T] = "T", [TRS_H] = "H"};
    return name[op];
}

const char *kind_name(unsigned kind)
{
    if (kind & TRS_UNIT) return kind & TRS_UPPER ? "unit upper" : "unit lower";
    if (kind & TRS_UPPER) return "upper";
    return kind & TRS_LOWER ? "lower" : "general";
}

char levels_mark(const cell *c)
{
    if (c->info.seconds_vendor > 0 || !*c->levels_by) return ' ';
    if (strstr(c->levels_by, "CSC")) return 'C';
    return strstr(c->levels_by, "device") ? 'D' : 'R';
}

number_text number(double v)
{
    number_text t = {"-"};
    if (v >= 1000) snprintf(t.s, sizeof t.s, "%.0f", v);
    else if (!isnan(v)) snprintf(t.s, sizeof t.s, "%.*g", v >= 0.01 ? 4 : 3, v);
    return t;
}

void print_number(double v)
{
    printf(" %9s", number(v).s);
}

void put_features(FILE *f, const settings *s, const result *r)
{
    fprintf(f,
            "%s, n %" PRId64 ", nnz %" PRId64 ", %" PRId64 " %s, widest %" PRId64
            ", longest row %" PRId64 "; %s, op %s, %d %s",
            kind_name(r->kind), r->n, r->nnz, r->levels, trs_noun(r->levels, "level", "levels"),
            r->widest, r->longest, dtype_name(r->dtype), op_name(s->op), s->nrhs,
            trs_noun(s->nrhs, "right-hand side", "right-hand sides"));
}

double megabytes_a_second(int64_t bytes, double seconds)
{
    return seconds > 0 ? 1e-6 * (double)bytes / seconds : (double)NAN;
}
