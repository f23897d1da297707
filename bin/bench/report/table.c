/* table.c: the table on the screen, with a heading for each triangle and a line for each solver. */
#include "config.h"

#include "report.h"
#include "screen.h"
#include "text.h"

#include "base/noun.h"
#include "bin/common/exits.h"
#include "bin/common/numbers.h"

#include <inttypes.h>
#include <stdio.h>

static const char legend[] =
    "Times are in ms: medians, warm.  GPU solvers: B and X in device memory, CUDA events; with\n"
    "--host on the host, copies included.\n"
    "  analysis  of the vendor's library, or the level sets: R by a sweep over the rows, C by the\n"
    "            topological sort of the columns, D on the device; the line above the table has\n"
    "            the times of R and C\n"
    "  setup     the rest of the time until the plan is ready\n"
    "  solve     median of the second half of the solves; of: their number; +-: the distance of "
    "their\n"
    "            quartiles over the median.  If the first half took another time, because "
    "something else\n"
    "            keeps the machine busy, all are measured again; UNSTEADY: that did not help\n"
    "  total     analysis + one solve;  total/multi: over the total of cuda-multiblock\n"
    "            (how many times faster cuda-multiblock is)\n"
    "  omega     componentwise backward error; N: normwise, where only that is promised\n"
    "  /cusparse, /serial: solve over that of cusparse, of cpu-serial (below 1: faster)\n"
    "  GB/s, /floor: bytes of matrix, B and X over the solve; the solve over the time of the "
    "memory\n"
    "            for these bytes, or of the latency of all levels, if that is longer\n"
    "  * the automatic choice for B and X on the host, + in device memory\n";

static int begin(const report *p)
{
    print_host(&p->session->host);
    fputs(legend, stdout);
    return EXIT_GOOD;
}

static const char *steadiness(const cell *c)
{
    if (!c->steady) return "  UNSTEADY";
    return c->passes > 1 ? "  measured again" : "";
}

static void print_cell(const settings *s, const result *r, const cell *c)
{
    const bound b = bound_of(r, c, s->nrhs);
    printf("%s%s%-18s", c->auto_host ? "*" : " ", c->auto_device ? "+" : " ", c->solver.name);
    if (c->status) {
        printf(" refused: %s\n", c->message);
        return;
    }
    print_number(1e3 * c->analysis.median);
    putchar(levels_mark(c));
    print_number(1e3 * c->setup.median);
    print_number(1e3 * c->update.median);
    print_number(1e3 * c->solve.median);
    printf(" %4d %4.0f%%", c->solve.count, 100 * relative_spread(&c->solve));
    print_number(1e3 * total(c));
    printf("  ");
    print_number(over_total(r, c, "cuda-multiblock"));
    printf(" %8.1e%s", promised_error(c), promises_normwise(c) ? "N" : " ");
    print_number(over_solve(r, c, "cusparse"));
    print_number(over_solve(r, c, "cpu-serial"));
    print_number(1e-9 * b.rate);
    print_number(b.ratio);
    printf("%s%s\n", c->accurate ? "" : "  INACCURATE", steadiness(c));
}

static int add(const report *p, const result *r)
{
    printf("\n%s", r->name);
    if (*r->trouble) return printf("\n  refused: %s\n", r->trouble), EXIT_GOOD;
    fputs(": ", stdout);
    put_features(stdout, p->settings, r);
    printf("\nlevels by rows (R) %s ms, by columns (C) %s ms\n", number(1e3 * r->sweep).s,
           number(1e3 * r->sort).s);
    printf("  %-18s %9s  %9s %9s %9s %4s %5s %9s %11s %8s  %9s %9s %9s %9s\n", "solver", "analysis",
           "setup", "update", "solve", "of", "+-", "total", "total/multi", "omega", "/cusparse",
           "/serial", "GB/s", "/floor");
    for (int k = 0; k < r->count; k++) print_cell(p->settings, r, &r->cells[k]);
    return EXIT_GOOD;
}

const reporter reporter_table = {begin, add, NULL};
