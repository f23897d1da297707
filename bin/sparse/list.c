/* list.c: --list-solvers: the table of solvers. */
#include "config.h"

#include "report.h"

#include "bin/common/exits.h"

#include <string.h>

static const char *yes(unsigned has)
{
    return has ? "yes" : "-";
}

/* A sentence that solver k shares with an earlier one is not printed again. */
static void print_why(int k, const trs_solver_info *s)
{
    trs_solver_info earlier;
    for (int e = 0; e < k && trs_solver_get(e, &earlier) == TRS_OK; e++)
        if (!earlier.available && !strcmp(earlier.why, s->why)) {
            printf("  %-20s not available, as %s\n", "", earlier.name);
            return;
        }
    printf("  %-20s not available: %s\n", "", s->why);
}

static void list_family(int general)
{
    trs_solver_info s;
    for (int k = 0; trs_solver_get(k, &s) == TRS_OK; k++) {
        if (s.general != general) continue;
        printf("  %-20s %-5s %-4s %-4s %-5s %-12s %s\n", s.name, s.needs,
               yes(s.caps & TRS_CAP_BITWISE), yes(s.caps & TRS_CAP_ROW_MAJOR),
               yes(s.caps & TRS_CAP_CAPTURE),
               s.accuracy == TRS_SUBSTITUTION ? "substitution" : "inverting", s.about);
        if (!s.available) print_why(k, &s);
    }
}

int list_solvers(void)
{
    printf("  %-20s %-5s %-4s %-4s %-5s %-12s %s\n", "name", "needs", "bits", "rows", "graph",
           "error", "about");
    printf(
        "Triangles, sparse or full: F32, F64, C32, C64; lower, upper; N, T, H; any layout of A\n");
    list_family(0);
    printf("General matrices, full:\n");
    list_family(1);
    printf("bits:  gives the same bits every time\n"
           "rows:  supports B and X by rows\n"
           "graph: can be captured in a CUDA graph\n"
           "error: substitution has a componentwise bound, inverting a normwise bound\n");
    return EXIT_GOOD;
}
