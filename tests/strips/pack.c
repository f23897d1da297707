/* pack.c: the packets of a schedule with their values, as the device makes them (cuda/strips/update.cuh), made on the
 * host for the reference. */
#ifndef T

#include "config.h"

#include "reference.h"

#include "base/context.h"
#include "base/debug.h"
#include "base/parallel.h"
#include "matrix/matrix.h"

#include <stdatomic.h>
#include <string.h>

enum { WARP = TRS_STRIP_WARP };

static size_t bytes_of_ell(size_t elem)
{
    return WARP * (elem + sizeof(uint16_t));
}

static size_t bytes_of_task(size_t elem)
{
    return WARP * (elem + sizeof(int32_t));
}

typedef struct packing {
    const trs_strips *s;
    const trs_tri *t;
    char *to;
    int16_t *power;     /* [32 tasks] */
    atomic_bool scaled; /* some rows are */
} packing;

#define TRS_BODY "tests/strips/pack.c"
#include "base/each_type.h"

bool reference_pack(const trs_context *ctx, const trs_strips *s, const trs_tri *t, void *packed,
                    int16_t *power)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(pack_some);
    packing all = {s, t, packed, power, false};
    trs_share(trs_team(ctx, t->nnz), s->packets, 64, table[t->dtype], &all);
    return all.scaled;
}

#else

#include "base/number/divide.h"

/* The values of lane i of a task whose first ELL column is given, and 1 / diagonal. */
static void FN(pack_lane)(packing *all, int64_t position, int64_t ell, int ells, T *val, T *inverse)
{
    const trs_strips *s = all->s;
    const trs_tri *t = all->t;
    const int32_t stored = s->row[position], row = TRS_STRIP_ROW(stored);
    const int32_t *entry = s->entry + ell * WARP + position % WARP;
    const T *from = (const T *)t->val + (row < 0 ? 0 : t->ptr[row]);
    for (int l = 0; l < ells; l++) {
        const int32_t e = entry[l * WARP];
        TRS_ASSERT(e < 0 || e < t->ptr[row + 1] - t->ptr[row] - 1);
        if (e >= 0) val[l * WARP] = from[e];
        else val[l * WARP] = e == TRS_STRIP_CARRY ? -1 : 0;
    }
    const T d = row < 0 ? 1 : from[t->ptr[row + 1] - t->ptr[row] - 1];
    const int power = FN(power_for)(d);
    all->power[position] = (int16_t)power;
    *inverse = stored >= 0 ? 1 / d : stored < TRS_STRIP_NO_ROW;
    if (power == 0) return;
    all->scaled = true;
    if (stored >= 0) *inverse = 1 / FN(times_power)(d, power);
    for (int l = 0; l < ells; l++)
        if (entry[l * WARP] >= 0) val[l * WARP] = FN(times_power)(val[l * WARP], power);
}

static void FN(pack_packet)(packing *all, int64_t number)
{
    const trs_strips *s = all->s;
    const trs_packet *c = &s->packet[number];
    const int64_t first = (int64_t)c->task * WARP;
    char *to = all->to + (size_t)number * sizeof *c + (size_t)c->ell * bytes_of_ell(sizeof(T)) +
               (size_t)c->task * bytes_of_task(sizeof(T));
    T *val = (T *)(to + sizeof *c), *inverse = val + c->ells * WARP;
    int32_t *row = (int32_t *)(inverse + c->tasks * WARP);
    uint16_t *code = (uint16_t *)(row + c->tasks * WARP);
    memcpy(to, c, sizeof *c);
    memcpy(row, s->row + first, (size_t)c->tasks * WARP * sizeof *row);
    memcpy(code, s->code + c->ell * WARP, (size_t)c->ells * WARP * sizeof *code);
    for (int p = 0; p < c->tasks * WARP; p++) {
        const int k = p / WARP, start = c->start[k];
        FN(pack_lane)
        (all, first + p, c->ell + start, c->early[k] + c->late[k], val + start * WARP + p % WARP,
         inverse + p);
    }
}

static void FN(pack_some)(void *user, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) FN(pack_packet)(user, c);
}

#endif
