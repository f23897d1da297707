/* text.c: numbers and names as the reports write them. */
#include "config.h"

#include "text.h"

#include <math.h>
#include <stdio.h>
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

const char *number(char *text, size_t size, double v)
{
    if (isnan(v)) snprintf(text, size, "-");
    else if (v >= 1000) snprintf(text, size, "%.0f", v);
    else if (v >= 0.01) snprintf(text, size, "%.4g", v);
    else snprintf(text, size, "%.3g", v);
    return text;
}

double megabytes_a_second(int64_t bytes, double seconds)
{
    return seconds > 0 ? 1e-6 * (double)bytes / seconds : (double)NAN;
}
