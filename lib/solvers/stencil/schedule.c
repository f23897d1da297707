/* schedule.c: deals out the units by both rules in one sweep over the triangle, and keeps the schedule that is predicted
 * to take less time; one worker where that is as good. */
#include "config.h"

#include "base/debug.h"
#include "dealing.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a unit needs ----------------------------------------------------------------------------- */

typedef struct finder {
    const trs_tri *L;
    const trs_units *u;
    int32_t *unit_of; /* [n] */
    int32_t *place;   /* [units] where a unit stands among the needs, if it stands there */
    trs_needs needs;
} finder;

static void finder_free(trs_context *ctx, finder *f)
{
    trs_free(&ctx->mem, f->unit_of);
    trs_free(&ctx->mem, f->place);
    trs_free(&ctx->mem, f->needs.unit);
    trs_free(&ctx->mem, f->needs.entries);
}

static int finder_make(trs_context *ctx, const trs_tri *L, const trs_units *u, finder *f)
{
    *f = (finder){.L = L, .u = u};
    f->unit_of = trs_new(ctx, L->n, sizeof *f->unit_of, "units of rows");
    f->place = trs_new(ctx, u->count, sizeof *f->place, "units of rows");
    f->needs.unit = trs_new(ctx, u->count, sizeof *f->needs.unit, "units of rows");
    f->needs.entries = trs_new(ctx, u->count, sizeof *f->needs.entries, "units of rows");
    if (!f->unit_of || !f->place || !f->needs.unit || !f->needs.entries) return TRS_EMEM;
    for (int32_t k = 0; k < u->count; k++) {
        f->place[k] = -1;
        for (int32_t i = u->unit[k].begin; i < u->unit[k].end; i++) f->unit_of[i] = k;
    }
    return TRS_OK;
}

static void add_need(finder *f, int32_t unit, int32_t entries)
{
    trs_needs *needs = &f->needs;
    const int32_t at = f->place[unit];
    if (at >= 0 && at < needs->count && needs->unit[at] == unit) {
        needs->entries[at] += entries;
        return;
    }
    f->place[unit] = needs->count;
    needs->unit[needs->count] = unit;
    needs->entries[needs->count++] = entries;
}

/* Rows begin..end-1 of unit k have entries at a distance. */
static void add_distance(finder *f, int32_t k, int32_t begin, int32_t end, int32_t distance)
{
    const trs_unit *unit = f->u->unit;
    int32_t column = begin - distance;
    for (int32_t w = f->unit_of[column]; w < k && column < end - distance; w++) {
        const int32_t stop = unit[w].end < end - distance ? unit[w].end : end - distance;
        add_need(f, w, stop - column);
        column = stop;
    }
}

/* The last tile reads as many x as the others, so that what it reads beyond has to be done, too. */
static void needs_of_run(finder *f, int32_t k)
{
    const trs_unit *unit = &f->u->unit[k];
    const trs_run *run = &f->u->run[unit->run];
    const int32_t *distance = f->u->distance + run->distances;
    const int32_t end = unit->begin + trs_unit_tiles(f->u, unit) * f->u->lanes;
    for (int32_t d = 0; d < run->far; d++) add_distance(f, k, unit->begin, end, distance[d]);
    for (int32_t d = run->far; d < run->far + run->near; d++)
        add_distance(f, k, unit->begin, unit->end, distance[d]);
    if (run->follows && !unit->starts) add_distance(f, k, unit->begin, unit->end, 1);
}

static void needs_of_rows(finder *f, int32_t k)
{
    const trs_tri *L = f->L;
    const trs_unit *unit = &f->u->unit[k];
    for (int64_t p = L->ptr[unit->begin]; p < L->ptr[unit->end]; p++) {
        const int32_t column = L->idx[p];
        if (column < unit->begin) add_need(f, f->unit_of[column], 1);
    }
}

static const trs_needs *find_needs(finder *f, int32_t k)
{
    f->needs.count = 0;
    if (f->u->unit[k].run >= 0) needs_of_run(f, k);
    else needs_of_rows(f, k);
    return &f->needs;
}

/* ---- what it takes --------------------------------------------------------------------------------- */

/* The fraction of a unit's rows that wait for the row before. */
static double waiting(const trs_tri *L, const trs_unit *unit)
{
    int32_t count = 0;
    for (int32_t i = unit->begin; i < unit->end; i++) {
        const int64_t diagonal = L->ptr[i + 1] - 1;
        count += diagonal > L->ptr[i] && L->idx[diagonal - 1] == i - 1;
    }
    return (double)count / (unit->end - unit->begin);
}

/* Rows of a run read values, b and x; other rows are those of cpu-serial. */
static double unit_seconds(const trs_context *ctx, const trs_tri *L, const trs_shape *shape,
                           const trs_units *u, int32_t k)
{
    const trs_machine *m = &ctx->machine;
    const trs_unit *unit = &u->unit[k];
    const double rows = unit->end - unit->begin;
    if (unit->run >= 0) {
        const trs_run *run = &u->run[unit->run];
        const double values = trs_run_values(run), moved = rows * (values + 2) * shape->elem;
        const double work = moved * trs_cpu_byte(m, shape) + rows * values * m->stencil_value;
        const double recurrence = run->follows ? rows * m->stencil_row : 0;
        return work > recurrence ? work : recurrence;
    }
    const double entries = (double)(L->ptr[unit->end] - L->ptr[unit->begin]);
    const double work = trs_cpu_stream(m, shape, entries, rows);
    return work + trs_cpu_wait(m, waiting(L, unit), rows, work);
}

static double all_seconds(const trs_context *ctx, const trs_tri *L, const trs_shape *shape,
                          const trs_units *u)
{
    double sum = 0;
    for (int32_t k = 0; k < u->count; k++) sum += unit_seconds(ctx, L, shape, u, k);
    return sum;
}

/* ---- the better one of two schedules ---------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The median distance of a row's first entry from the diagonal: on a grid, a line of it in 2D, a plane in 3D. */
static int32_t head_rows(const trs_tri *L, const trs_units *u)
{
    enum { SAMPLES = 1024 };
    int32_t sample[SAMPLES], count = 0;
    const int32_t step = u->count / SAMPLES + 1;
    for (int32_t k = 0; k < u->count; k += step) {
        const int32_t i = u->unit[k].end - 1, distance = i - L->idx[L->ptr[i]];
        if (distance) sample[count++] = distance;
    }
    qsort(sample, (size_t)count, sizeof *sample, compare);
    return count ? sample[count / 2] : L->n;
}

static int deal_all(trs_context *ctx, const trs_tri *L, const trs_shape *shape, const trs_units *u,
                    finder *f, trs_dealing *d, int rules)
{
    for (int32_t k = 0; k < u->count; k++) {
        const trs_needs *needs = find_needs(f, k);
        const double seconds = unit_seconds(ctx, L, shape, u, k);
        for (int r = 0; r < rules; r++)
            if (trs_dealing_next(&d[r], k, u->unit[k].begin, seconds, needs)) return TRS_EMEM;
    }
    return TRS_OK;
}

/* Take the schedule of a dealing over. */
static int keep(trs_context *ctx, const trs_units *u, trs_dealing *d, trs_schedule *s)
{
    s->workers = d->workers;
    s->seconds = d->seconds;
    s->wait_count = d->waits[u->count];
    s->turn = d->turn, s->waits = d->waits, s->wait = d->wait;
    d->turn = NULL, d->waits = NULL, d->wait = NULL;
    s->first = trs_new(ctx, (int64_t)s->workers + 1, sizeof *s->first, "a schedule");
    s->order = trs_new(ctx, u->count, sizeof *s->order, "a schedule");
    if (!s->first || !s->order) return TRS_EMEM;
    s->first[0] = 0;
    for (int32_t w = 0; w < s->workers; w++) s->first[w + 1] = s->first[w] + d->worker[w].units;
    for (int32_t k = 0; k < u->count; k++)
        s->order[s->first[s->turn[k].worker] + s->turn[k].rank - 1] = k;
    return TRS_OK;
}

static int make(trs_context *ctx, const trs_tri *L, const trs_shape *shape, const trs_units *u,
                int workers, finder *f, trs_dealing d[2], trs_schedule *s)
{
    const double worth = 0.9; /* more threads have to save a tenth */
    /* so has the second rule: by the first one most of x stays in the cache of the worker that reads it */
    const double clearly = 0.9;
    const int32_t head = head_rows(L, u);
    int rc = finder_make(ctx, L, u, f);
    if (!rc) rc = trs_dealing_begin(ctx, u->count, workers, TRS_INHERIT, head, &d[0]);
    if (!rc) rc = trs_dealing_begin(ctx, u->count, workers, TRS_EARLIEST, head, &d[1]);
    if (!rc) rc = deal_all(ctx, L, shape, u, f, d, 2);
    if (rc) return rc;
    trs_dealing *best = d[1].seconds < clearly * d[0].seconds ? &d[1] : &d[0];
    return best->seconds < worth * s->alone ? keep(ctx, u, best, s) : TRS_OK;
}

int trs_schedule_make(trs_context *ctx, const trs_tri *L, const trs_shape *shape,
                      const trs_units *u, int workers, trs_schedule *s)
{
    finder f = {0};
    trs_dealing d[2] = {0};
    *s = (trs_schedule){.workers = 1};
    s->alone = s->seconds = all_seconds(ctx, L, shape, u);
    if (workers > TRS_MOST_WORKERS) workers = TRS_MOST_WORKERS;
    if (workers > u->count) workers = u->count;
    const int rc = workers > 1 ? make(ctx, L, shape, u, workers, &f, d, s) : TRS_OK;
    finder_free(ctx, &f);
    trs_dealing_free(&d[0]);
    trs_dealing_free(&d[1]);
    return rc;
}

int trs_schedule_copy(trs_context *ctx, int32_t units, const trs_schedule *from, trs_schedule *to)
{
    const size_t count = (size_t)units, workers = (size_t)from->workers;
    *to = *from;
    if (workers == 1) return TRS_OK;
    to->turn = trs_new(ctx, units, sizeof *to->turn, "a schedule");
    to->first = trs_new(ctx, from->workers + 1, sizeof *to->first, "a schedule");
    to->order = trs_new(ctx, units, sizeof *to->order, "a schedule");
    to->waits = trs_new(ctx, (int64_t)units + 1, sizeof *to->waits, "a schedule");
    to->wait = trs_new(ctx, from->wait_count, sizeof *to->wait, "a schedule");
    if (!to->turn || !to->first || !to->order || !to->waits || !to->wait) return TRS_EMEM;
    trs_copy(ctx, to->turn, from->turn, count * sizeof *to->turn);
    trs_copy(ctx, to->first, from->first, (workers + 1) * sizeof *to->first);
    trs_copy(ctx, to->order, from->order, count * sizeof *to->order);
    trs_copy(ctx, to->waits, from->waits, (count + 1) * sizeof *to->waits);
    trs_copy(ctx, to->wait, from->wait, (size_t)from->wait_count * sizeof *to->wait);
    return TRS_OK;
}

void trs_schedule_free(trs_context *ctx, trs_schedule *s)
{
    trs_free(&ctx->mem, s->turn);
    trs_free(&ctx->mem, s->first);
    trs_free(&ctx->mem, s->order);
    trs_free(&ctx->mem, s->waits);
    trs_free(&ctx->mem, s->wait);
    s->turn = NULL, s->first = NULL, s->order = NULL, s->waits = NULL, s->wait = NULL;
}
