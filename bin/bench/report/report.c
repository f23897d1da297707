/* report.c: the results of a run, to all reporters that are wanted. */
#include "config.h"

#include "report.h"

#include "bin/common/exits.h"

#define DECLARE(name) extern const reporter reporter_##name;
EVERY_REPORTER(DECLARE)

#define ROW(name) &reporter_##name,
static const reporter *const reporters[] = {EVERY_REPORTER(ROW)};

enum { REPORTERS = sizeof reporters / sizeof reporters[0] };
_Static_assert((int)REPORTERS <= (int)MOST_REPORTERS, "MOST_REPORTERS is too small");

int reports_begin(reports *r, const session *s)
{
    int code = EXIT_GOOD;
    *r = (reports){.session = s};
    for (int k = 0; k < REPORTERS && !code; k++) {
        if (!reporters[k]->wanted(s)) continue;
        if (reporters[k]->begin) code = reporters[k]->begin(s, &r->data[k]);
        r->open[k] = !code;
    }
    return code;
}

int reports_add(reports *r, const result *one)
{
    int code = EXIT_GOOD;
    for (int k = 0; k < REPORTERS && !code; k++)
        if (r->open[k]) code = reporters[k]->add(r->session, r->data[k], one);
    return code;
}

int reports_end(reports *r, bool complete)
{
    int code = EXIT_GOOD;
    for (int k = 0; k < REPORTERS; k++) {
        if (!r->open[k] || !reporters[k]->end) continue;
        const int closed = reporters[k]->end(r->session, r->data[k], complete);
        if (!code) code = closed;
    }
    return code;
}
