/* dealing.c: deals out a unit, by one of two rules, and simulates when it is done.
 *
 * A unit begins when its worker is free, and when all that it needs is done, a little later if others do it: the hand-over
 * takes the time in which a cache line goes from core to core. */
#include "config.h"

#include "base/debug.h"
#include "dealing.h"

#include <string.h>

int trs_dealing_begin(trs_context *ctx, int32_t units, int32_t workers, trs_rule rule, int32_t head,
                      trs_dealing *d)
{
    *d = (trs_dealing){.ctx = ctx, .rule = rule, .workers = workers, .head = head};
    TRS_ASSERT(workers > 0 && workers <= TRS_MOST_WORKERS);
    d->turn = trs_new(ctx, units, sizeof *d->turn, "a schedule");
    d->done = trs_new(ctx, units, sizeof *d->done, "a schedule");
    d->waits = trs_new(ctx, (int64_t)units + 1, sizeof *d->waits, "a schedule");
    d->seen = trs_new(ctx, (int64_t)workers * workers, sizeof *d->seen, "a schedule");
    if (!d->turn || !d->done || !d->waits || !d->seen) return TRS_EMEM;
    memset(d->seen, 0, (size_t)workers * (size_t)workers * sizeof *d->seen);
    d->waits[0] = 0;
    return TRS_OK;
}

void trs_dealing_free(trs_dealing *d)
{
    if (!d->ctx) return;
    const trs_memory *mem = &d->ctx->mem;
    trs_free(mem, d->turn);
    trs_free(mem, d->done);
    trs_free(mem, d->waits);
    trs_free(mem, d->seen);
    trs_free(mem, d->wait);
    *d = (trs_dealing){0};
}

/* Set what the workers have of the units that are needed. */
static void look_at_needs(trs_dealing *d, const trs_needs *needs)
{
    for (int32_t w = 0; w < d->workers; w++)
        d->worker[w].ready = 0, d->worker[w].rank = 0, d->worker[w].entries = 0;
    for (int32_t k = 0; k < needs->count; k++) {
        const int32_t u = needs->unit[k];
        trs_dealt_worker *w = &d->worker[d->turn[u].worker];
        if (d->done[u] > w->ready) w->ready = d->done[u];
        if (d->turn[u].rank > w->rank) w->rank = d->turn[u].rank;
        w->entries += needs->entries[k];
    }
}

/* When this worker could begin. */
static double begin_by(const trs_dealing *d, int32_t worker)
{
    const double handover = d->ctx->machine.stencil_handover;
    double begin = d->worker[worker].free;
    for (int32_t w = 0; w < d->workers; w++) {
        const trs_dealt_worker *other = &d->worker[w];
        if (!other->rank) continue;
        const double ready = other->ready + (w == worker ? 0 : handover);
        if (ready > begin) begin = ready;
    }
    return begin;
}

/* Of two that could begin at the same time, the one that has the more of what is needed. */
static int32_t earliest(const trs_dealing *d)
{
    int32_t best = 0;
    double first = begin_by(d, 0);
    for (int32_t w = 1; w < d->workers; w++) {
        const double begin = begin_by(d, w);
        if (begin > first) continue;
        if (begin == first && d->worker[w].entries <= d->worker[best].entries) continue;
        best = w, first = begin;
    }
    return best;
}

static int32_t least_busy(const trs_dealing *d)
{
    int32_t best = 0;
    for (int32_t w = 1; w < d->workers; w++)
        if (d->worker[w].total < d->worker[best].total) best = w;
    return best;
}

/* The owner of the unit before all others that are needed. */
static int32_t first_owner(const trs_dealing *d, const trs_needs *needs)
{
    int32_t first = needs->unit[0];
    for (int32_t k = 1; k < needs->count; k++)
        if (needs->unit[k] < first) first = needs->unit[k];
    return d->turn[first].worker;
}

/* A worker that has got far more than another one gets no more for a while. */
static int32_t inherited(const trs_dealing *d, int32_t row, const trs_needs *needs)
{
    enum { HEADS = 3 }; /* how many times the work of the first rows it may have more */
    const double share = 0.05;
    if (row < d->head) return (int32_t)((int64_t)row * d->workers / d->head);
    const int32_t least = least_busy(d);
    if (!needs->count) return least;
    int32_t best = first_owner(d, needs);
    for (int32_t w = 0; w < d->workers; w++)
        if (d->worker[w].entries > d->worker[best].entries) best = w;
    const double more = d->worker[best].total - d->worker[least].total;
    return more > HEADS * d->work_head + share * d->work ? least : best;
}

static int add_wait(trs_dealing *d, int64_t count, trs_turn wait)
{
    if (count == d->wait_room) {
        const int64_t room = 2 * count + 1024;
        trs_turn *more = trs_new(d->ctx, room, sizeof *more, "a schedule");
        if (!more) return TRS_EMEM;
        if (count) memcpy(more, d->wait, (size_t)count * sizeof *more);
        trs_free(&d->ctx->mem, d->wait);
        d->wait = more, d->wait_room = room;
    }
    d->wait[count] = wait;
    return TRS_OK;
}

/* Unit u of this worker waits for those that it needs of others, unless the worker knows that they are done. */
static int add_waits(trs_dealing *d, int32_t u, int32_t worker)
{
    int32_t *seen = d->seen + (int64_t)worker * d->workers;
    int64_t count = d->waits[u];
    for (int32_t w = 0; w < d->workers; w++) {
        const int32_t rank = d->worker[w].rank;
        if (w == worker || rank <= seen[w]) continue;
        if (add_wait(d, count++, (trs_turn){w, rank})) return TRS_EMEM;
        seen[w] = rank;
    }
    d->waits[u + 1] = count;
    return TRS_OK;
}

int trs_dealing_next(trs_dealing *d, int32_t u, int32_t row, double seconds, const trs_needs *needs)
{
    look_at_needs(d, needs);
    const int32_t w = d->rule == TRS_EARLIEST ? earliest(d) : inherited(d, row, needs);
    trs_dealt_worker *mine = &d->worker[w];
    const double begin = begin_by(d, w);
    mine->free = d->done[u] = begin + seconds;
    mine->total += seconds;
    d->work += seconds;
    if (row < d->head) d->work_head = d->work;
    if (mine->free > d->seconds) d->seconds = mine->free;
    d->turn[u] = (trs_turn){w, ++mine->units};
    return add_waits(d, u, w);
}
