/* solvers.c: which solvers of the library's table are measured. */
#include "config.h"

#include "solvers.h"

#include "base/nearest.h"
#include "bin/common/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name behind the next comma of a list; NULL: there is none. */
static const char *next_name(const char *list)
{
    const char *comma = strchr(list, ',');
    return comma ? comma + 1 : NULL;
}

/* Is the name one of those between commas? */
static bool in_list(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = list; p; p = next_name(p))
        if (!strncmp(p, name, length) && (p[length] == ',' || p[length] == '\0')) return true;
    return false;
}

/* Those that were named; else those for the kind of matrix that have the device they need. */
static bool is_wanted(const settings *s, const trs_solver_info *solver)
{
    if (s->solvers) return in_list(s->solvers, solver->name);
    if (solver->general && !s->dense) return false;
    return !strcmp(solver->needs, "cpu") || s->device != TRS_HOST;
}

cell *make_cells(const settings *s, int *count)
{
    trs_solver_info solver;
    int solvers = 0;
    while (trs_solver_get(solvers, &solver) == TRS_OK) solvers++;
    cell *cells = calloc((size_t)solvers + 1, sizeof *cells);
    *count = 0;
    for (int k = 0; k < solvers && cells; k++) {
        trs_solver_get(k, &solver);
        if (is_wanted(s, &solver)) cells[(*count)++].solver = solver;
    }
    return cells;
}

bool find_solver(const char *name, trs_solver_info *solver)
{
    for (int k = 0; trs_solver_get(k, solver) == TRS_OK; k++)
        if (!strcmp(solver->name, name)) return true;
    return false;
}

bool find_unknown_solver(const char *solvers, char *name, size_t size)
{
    trs_solver_info solver;
    for (const char *p = solvers; p; p = next_name(p)) {
        snprintf(name, size, "%.*s", (int)strcspn(p, ","), p);
        if (!find_solver(name, &solver)) return true;
    }
    return false;
}

_Noreturn void refuse_solver(const char *what, const char *name)
{
    trs_solver_info solver;
    const char *best = NULL;
    for (int k = 0; trs_solver_get(k, &solver) == TRS_OK; k++) trs_nearer(name, solver.name, &best);
    wrong_word(what, name, best);
}
