/* units.c: finds runs of rows with one pattern, in O(nnz), and cuts all rows into units. */
#include "config.h"

#include "base/debug.h"
#include "solvers/cpu_serial.h"
#include "units.h"

#include <string.h>

enum {
    ROWS = 128, /* of a unit, at most */
    LEAST =
        32 /* rows of no run from which on a unit ends where a row does not need the row before it */
};

typedef struct cutter { /* what grows while rows are cut into units */
    trs_context *ctx;
    const trs_tri *L;
    trs_units *u;
    bool shared;  /* there will be threads */
    bool chained; /* trs_rows_chained */
    int64_t unit_room, run_room, distance_room;
} cutter;

static int32_t length(const trs_tri *L, int32_t i)
{
    return (int32_t)(L->ptr[i + 1] - L->ptr[i]);
}

static bool has_entry_before(const trs_tri *L, int32_t i)
{
    return length(L, i) > 1 && L->idx[L->ptr[i + 1] - 2] == i - 1;
}

/* Is row i a link of a chain (cpu_row.h)? */
static bool follows(const cutter *c, int32_t i)
{
    return c->chained && has_entry_before(c->L, i);
}

/* Have the first count entries of row i the distances of those of row i-1? */
static bool same_distances(const trs_tri *L, int32_t i, int32_t count)
{
    const int32_t *a = L->idx + L->ptr[i - 1], *b = L->idx + L->ptr[i];
    int32_t k = 0;
    while (k < count && b[k] == a[k] + 1) k++;
    return k == count;
}

static bool continues(const trs_tri *L, int32_t i)
{
    return length(L, i) == length(L, i - 1) && same_distances(L, i, length(L, i) - 1);
}

/* Has row i the distances of the row after it, but for that of 1? */
static bool starts(const cutter *c, int32_t i)
{
    const trs_tri *L = c->L;
    const int32_t count = length(L, i) - 1;
    return i + 1 < L->n && length(L, i + 1) == count + 2 && !follows(c, i) && follows(c, i + 1) &&
           same_distances(L, i + 1, count);
}

/* Have room for one more in an array of count. */
static int grow(cutter *c, void *array, int64_t count, int64_t more, int64_t *room, size_t size)
{
    if (count + more <= *room) return TRS_OK;
    void **old = array;
    const int64_t wanted = 2 * *room + more + 64;
    void *p = trs_new(c->ctx, wanted, size, "units");
    if (!p) return TRS_EMEM;
    if (count) memcpy(p, *old, (size_t)count * size);
    trs_free(&c->ctx->mem, *old);
    *old = p;
    *room = wanted;
    return TRS_OK;
}

static int add_unit(cutter *c, trs_unit unit)
{
    trs_units *u = c->u;
    TRS_ASSERT(unit.begin == (u->count ? u->unit[u->count - 1].end : 0) && unit.end > unit.begin);
    if (grow(c, &u->unit, u->count, 1, &c->unit_room, sizeof unit)) return TRS_EMEM;
    u->unit[u->count++] = unit;
    return TRS_OK;
}

/* Add the pattern of row i. */
static int add_pattern(cutter *c, int32_t i)
{
    trs_units *u = c->u;
    const int32_t *column = c->L->idx + c->L->ptr[i];
    const int32_t count = length(c->L, i) - 1 - follows(c, i);
    trs_run run = {.distances = c->u->distances, .follows = follows(c, i)};
    if (grow(c, &u->run, u->runs, 1, &c->run_room, sizeof run) ||
        grow(c, &u->distance, c->u->distances, count, &c->distance_room, sizeof *u->distance))
        return TRS_EMEM;
    for (int32_t k = 0; k < count; k++) {
        const int32_t d = u->distance[u->distances++] = i - column[k];
        if (d >= u->lanes) run.far++;
        else run.near++;
    }
    u->run[u->runs++] = run;
    return TRS_OK;
}

/* Rows begin..end-1 are a run: cut it into units of whole tiles and about one length. */
static int add_run(cutter *c, int32_t begin, int32_t end)
{
    trs_units *u = c->u;
    const int32_t parts = (end - begin + ROWS - 1) / ROWS;
    const int32_t each = ((end - begin + parts - 1) / parts + u->lanes - 1) / u->lanes * u->lanes;
    const bool lacks = follows(c, begin + 1) && !follows(c, begin);
    int rc = add_pattern(c, begin + 1);
    for (int32_t i = begin; i < end && !rc; i += each)
        rc = add_unit(c, (trs_unit){.begin = i,
                                    .end = end - i < each ? end : i + each,
                                    .run = u->runs - 1,
                                    .starts = lacks && i == begin});
    u->rows += end - begin;
    u->values += (int64_t)(end - begin + u->lanes - 1) / u->lanes * u->lanes *
                 (rc ? 0 : trs_run_values(&u->run[u->runs - 1]));
    u->entries += c->L->ptr[end] - c->L->ptr[begin];
    return rc;
}

/* Row i is of no run.  Where there are threads a unit ends, if it is not too short, where a row does not need the row
 * before.  A few rows between two runs, such as the last point of a grid's line and the first one of the next, are not
 * kept together then: else the second run would wait for the first. */
static int add_row(cutter *c, int32_t i)
{
    trs_unit *last = c->u->count ? &c->u->unit[c->u->count - 1] : NULL;
    const int32_t rows = last && last->run < 0 ? last->end - last->begin : 0;
    const bool between_runs = rows && c->u->count > 1 && last[-1].run >= 0;
    const bool ends = c->shared && rows >= (between_runs ? 1 : LEAST) && !has_entry_before(c->L, i);
    if (!rows || rows == ROWS || ends)
        return add_unit(c, (trs_unit){.begin = i, .end = i + 1, .run = -1});
    last->end++;
    return TRS_OK;
}

int trs_units_find(trs_context *ctx, const trs_tri *L, bool shared, trs_units *u)
{
    cutter c = {.ctx = ctx, .L = L, .u = u, .shared = shared, .chained = trs_rows_chained(L)};
    int rc = TRS_OK;
    *u = (trs_units){.lanes = trs_lanes(L->dtype)};
    for (int32_t i = 0, end; i < L->n && !rc; i = end) {
        end = i + 1 + starts(&c, i);
        while (end < L->n && continues(L, end)) end++;
        if (end - i >= 2 * trs_line(L->dtype)) rc = add_run(&c, i, end);
        else
            for (int32_t k = i; k < end && !rc; k++) rc = add_row(&c, k);
    }
    return rc;
}

int trs_units_copy(trs_context *ctx, const trs_units *from, trs_units *to)
{
    *to = *from;
    to->unit = trs_new(ctx, from->count, sizeof *to->unit, "units");
    to->run = trs_new(ctx, from->runs, sizeof *to->run, "runs");
    to->distance = trs_new(ctx, from->distances, sizeof *to->distance, "runs");
    if (!to->unit || !to->run || !to->distance) return TRS_EMEM;
    trs_copy(ctx, to->unit, from->unit, (size_t)from->count * sizeof *to->unit);
    trs_copy(ctx, to->run, from->run, (size_t)from->runs * sizeof *to->run);
    trs_copy(ctx, to->distance, from->distance, (size_t)from->distances * sizeof *to->distance);
    return TRS_OK;
}

void trs_units_free(trs_context *ctx, trs_units *u)
{
    trs_free(&ctx->mem, u->unit);
    trs_free(&ctx->mem, u->run);
    trs_free(&ctx->mem, u->distance);
    u->unit = NULL, u->run = NULL, u->distance = NULL;
}
