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
    "  solve     median; of: the number of solves\n"
    "  total     analysis + one solve;  total/multi: over the total of cuda-multiblock\n"
    "            (how many times faster cuda-multiblock is)\n"
    "  omega     componentwise backward error; N: normwise, where only that is promised\n"
    "  /cusparse, /serial: solve over that of cusparse, of cpu-serial (below 1: faster)\n"
    "  * the automatic choice for B and X on the host, + in device memory\n";

static int begin(const report *p)
{
    print_host(&p->session->host);
    fputs(legend, stdout);
    return EXIT_GOOD;
}

static void print_cell(const result *r, const cell *c)
{
    printf("%s%s%-18s", c->auto_host ? "*" : " ", c->auto_device ? "+" : " ", c->solver.name);
    if (c->status) {
        printf(" refused: %s\n", c->message);
        return;
    }
    print_number(1e3 * c->analysis);
    putchar(levels_mark(c));
    print_number(1e3 * c->setup);
    print_number(1e3 * c->update);
    print_number(1e3 * c->solve.median);
    printf(" %4d", c->solve.count);
    print_number(1e3 * total(c));
    printf("  ");
    print_number(over_total(r, c, "cuda-multiblock"));
    printf(" %8.1e%s", promised_error(c), promises_normwise(c) ? "N" : " ");
    print_number(over_solve(r, c, "cusparse"));
    print_number(over_solve(r, c, "cpu-serial"));
    puts(c->accurate ? "" : "  INACCURATE");
}

static int add(const report *p, const result *r)
{
    printf("\n%s", r->name);
    if (*r->trouble) return printf("\n  refused: %s\n", r->trouble), EXIT_GOOD;
    fputs(": ", stdout);
    put_features(stdout, p->settings, r);
    printf("\nlevels by rows (R) %s ms, by columns (C) %s ms\n", number(1e3 * r->sweep).s,
           number(1e3 * r->sort).s);
    printf("  %-18s %9s  %9s %9s %9s %4s %9s %11s %8s  %9s %9s\n", "solver", "analysis", "setup",
           "update", "solve", "of", "total", "total/multi", "omega", "/cusparse", "/serial");
    for (int k = 0; k < r->count; k++) print_cell(r, &r->cells[k]);
    return EXIT_GOOD;
}

const reporter reporter_table = {begin, add, NULL};
