/* table.c: the table of solvers.  Makefile.am lists their files, those that an option brings last; solvers.inc is made from
 * that list. */
#include "config.h"

#include "base/device.h"
#include "solver.h"

#include <string.h>

static const trs_solver *const table[] = {
#define TRS_SOLVER(name) &trs_solver_##name,
#include "solvers.inc"
#undef TRS_SOLVER
};

enum { COUNT = sizeof table / sizeof table[0] };

/* Not if it is only for plans with the option that it serves. */
static bool is_listed(const trs_solver *s)
{
    return !s->approximates && !s->several;
}

const trs_solver *trs_solver_at(int k)
{
    return k >= 0 && k < COUNT && is_listed(table[k]) ? table[k] : NULL;
}

const trs_solver *trs_solver_named(const char *name)
{
    for (int k = 0; k < COUNT; k++)
        if (is_listed(table[k]) && !strcmp(table[k]->name, name)) return table[k];
    return NULL;
}

static bool is_of_option(const trs_solver *s, bool several, trs_place place)
{
    return !is_listed(s) && s->several == several && s->place == place;
}

const trs_solver *trs_solver_of_option(bool several, trs_place place, int k)
{
    for (int i = 0; i < COUNT; i++)
        if (is_of_option(table[i], several, place) && k-- == 0) return table[i];
    return NULL;
}

int trs_solver_available(const trs_solver *s, int device, char *why, size_t size)
{
    if (size) why[0] = '\0';
    if (s->place == TRS_ON_CPU) return !s->library || !s->library(why, size);
    if (trs_gpu_probe(device, why, size)) return 0;
    return !s->library || !s->library(why, size);
}

static int get(int k, trs_solver_info *info)
{
    const trs_solver *s = trs_solver_at(k);
    if (!info) return trs_fail(TRS_EARG, "solver: info is NULL");
    if (!s) return trs_fail(TRS_EARG, "solver: there is no number %d", k);
    memset(info, 0, sizeof *info);
    info->name = s->name;
    info->about = s->about;
    info->needs = s->place == TRS_ON_CPU ? "cpu" : "cuda";
    info->caps = s->caps;
    info->accuracy = s->accuracy;
    info->general = s->family == TRS_GENERAL_DENSE;
    info->full = s->full;
    info->available = trs_solver_available(s, 0, info->why, sizeof info->why);
    return TRS_OK;
}

int trs_solver_get(int k, trs_solver_info *info)
{
    trs_enter();
    return trs_leave(get(k, info));
}
