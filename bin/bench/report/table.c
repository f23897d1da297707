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
    "  analysis  the vendor library's own where there is one, else the level sets: R by a sweep\n"
    "            over the rows, C by the topological sort of the columns of the seed, D on the\n"
    "            device; what R and C take is said above the table;\n"
    "            setup: what else it takes to make the plan ready\n"
    "  solve     median of so many solves (of)\n"
    "  total     analysis + one solve;  total/multi: over the total of cuda-multiblock\n"
    "            (the speed-up of the seed's table: how many times faster cuda-multiblock is)\n"
    "  omega     componentwise backward error; N: normwise, for solvers that promise only that\n"
    "  /cusparse, /serial: solve over that of cusparse, of cpu-serial (below 1: faster)\n"
    "  * the automatic choice for B and X on the host, + in device memory\n";

static bool wanted(const session *s)
{
    return !s->outputs.quiet && !s->settings.dense && !s->settings.io;
}

static int begin(const session *s, void **data)
{
    (void)data;
    print_host(&s->host);
    fputs(legend, stdout);
    return EXIT_GOOD;
}

static void print_refused(const cell *c)
{
    printf("%s%s%-18s refused: %s\n", c->auto_host ? "*" : " ", c->auto_device ? "+" : " ",
           c->solver.name, c->message);
}

static void print_cell(const result *r, const cell *c)
{
    char t[8][32];
    const double value[] = {1e3 * c->analysis,
                            1e3 * c->setup,
                            1e3 * c->update,
                            1e3 * c->solve.median,
                            1e3 * total(c),
                            over_total(r, c, "cuda-multiblock"),
                            over_solve(r, c, "cusparse"),
                            over_solve(r, c, "cpu-serial")};
    for (int k = 0; k < 8; k++) number(t[k], sizeof t[k], value[k]);
    printf("%s%s%-18s %9s%c %9s %9s %9s %4d %9s %11s %8.1e%s %9s %9s%s\n", c->auto_host ? "*" : " ",
           c->auto_device ? "+" : " ", c->solver.name, t[0], levels_mark(c), t[1], t[2], t[3],
           c->solve.count, t[4], t[5], promised_error(c), promises_normwise(c) ? "N" : " ", t[6],
           t[7], c->accurate ? "" : "  INACCURATE");
}

static void print_heading(const settings *s, const result *r)
{
    char t[2][32];
    printf("\n%s: %s, n %" PRId64 ", nnz %" PRId64 ", %" PRId64 " %s, widest %" PRId64
           ", longest row %" PRId64 "; %s, op %s, %d %s\n",
           r->name, kind_name(r->kind), r->n, r->nnz, r->levels,
           trs_noun(r->levels, "level", "levels"), r->widest, r->longest, dtype_name(r->dtype),
           op_name(s->op), s->nrhs, trs_noun(s->nrhs, "right-hand side", "right-hand sides"));
    printf("levels by rows (R) %s ms, by columns (C) %s ms\n",
           number(t[0], sizeof t[0], 1e3 * r->sweep), number(t[1], sizeof t[1], 1e3 * r->sort));
    printf("  %-18s %9s  %9s %9s %9s %4s %9s %11s %8s  %9s %9s\n", "solver", "analysis", "setup",
           "update", "solve", "of", "total", "total/multi", "omega", "/cusparse", "/serial");
}

static int add(const session *s, void *data, const result *r)
{
    (void)data;
    if (*r->trouble) {
        printf("\n%s\n  refused: %s\n", r->name, r->trouble);
        return EXIT_GOOD;
    }
    print_heading(&s->settings, r);
    for (int k = 0; k < r->count; k++)
        if (r->cells[k].status) print_refused(&r->cells[k]);
        else print_cell(r, &r->cells[k]);
    return fflush(stdout) ? EXIT_USAGE : EXIT_GOOD;
}

static int end(const session *s, void *data, bool complete)
{
    (void)s, (void)data, (void)complete;
    return flush_screen();
}

const reporter reporter_table = {wanted, begin, add, end};
