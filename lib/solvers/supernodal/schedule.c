/* schedule.c: the nodes of several workers.
 *
 *     scatter   1. each worker: x = b in its rows, its nodes; what they add to rows of the top goes to sums of its own
 *               2. x = b + sums in the rows of the top, which are cut into as many ranges as there are workers
 *               3. the nodes of the top in their order
 *     gather    1. the nodes of the top in their order
 *               2. each worker: its nodes
 *
 * A large node of the top is shared: each worker of its `shares` has a range of its tiles.  By scatter each computes x_s
 * for itself, and only worker 0 writes it, once all have read what stood there.  By gather each adds up its tiles, and worker
 * 0 does the rest.  Other nodes of the top are worker 0's.
 *
 * Why it cannot hang: workers go through the same steps, and wait only between two steps, for all to have done the one
 * before.  Worker w is done by thread w % team, which does a step for all its workers before it waits.  All threads of
 * a team are running, so the step that is the furthest behind is always being done.
 *
 * Bits: what a worker adds up goes by the plan, and sums are added in the order of the workers.  So x is the same whatever
 * the team. */
#include "config.h"

#include "supernodal.h"

#include "base/debug.h"

#include <string.h>

typedef struct run {
    const solving *s;
    size_t size; /* of a number */
} run;

typedef struct crew { /* a thread with its workers */
    const solving *s;
    size_t row; /* bytes of a row of x */
    int thread, team;
    int step; /* that its workers have done */
} crew;

enum { MOST_ROW = 2 * TRS_LINE }; /* bytes of a row of x, at most */

static void meet(crew *c)
{
    const int workers = c->s->d->workers;
    if (c->team == 1) return;
    c->step++;
    for (int w = c->thread; w < workers; w += c->team)
        atomic_store_explicit(&c->s->progress[w].done, c->step, memory_order_release);
    for (int w = 0; w < workers; w++) trs_wait_for(&c->s->progress[w].done, c->step);
}

static int32_t begin_of(int32_t count, int worker, int workers)
{
    return (int32_t)((int64_t)count * worker / workers);
}

/* ---- the top -------------------------------------------------------------------------------------- */

/* The top by scatter: x_s of a node that is shared is written when the next step begins. */
static void scatter_top(crew *c)
{
    const solving *s = c->s;
    const supernodal *d = s->d;
    _Alignas(TRS_LINE) char held[(WIDTH + 16) * MOST_ROW];
    const node *last = NULL;
    for (int32_t q = d->begin[d->workers], end; q < d->begin[d->workers + 1]; q = end) {
        const node *k = &d->node[d->order[q]];
        const int32_t tiles = tiles_of(k->rows, trs_line(s->L->dtype));
        for (end = q; end < d->begin[d->workers + 1] && d->node[d->order[end]].shares == 1;) end++;
        if (last && c->thread == 0) s->kernels->keep(s, last, held);
        last = NULL;
        if (end > q) {
            if (c->thread == 0) s->kernels->run(s, d->order + q, end - q, s->x);
        } else {
            end = q + 1;
            last = k;
            for (int w = c->thread; w < k->shares; w += c->team)
                s->kernels->spread(s, k, begin_of(tiles, w, k->shares),
                                   begin_of(tiles, w + 1, k->shares), held);
        }
        meet(c);
    }
    if (last && c->thread == 0) s->kernels->keep(s, last, held);
}

static void gather_top(crew *c)
{
    const solving *s = c->s;
    const supernodal *d = s->d;
    for (int32_t q = d->begin[d->workers], end; q < d->begin[d->workers + 1]; q = end) {
        const node *k = &d->node[d->order[q]];
        const int32_t tiles = tiles_of(k->rows, trs_line(s->L->dtype));
        for (end = q; end < d->begin[d->workers + 1] && d->node[d->order[end]].shares == 1;) end++;
        if (end > q) {
            if (c->thread == 0) s->kernels->run(s, d->order + q, end - q, NULL);
        } else {
            end = q + 1;
            for (int w = c->thread; w < k->shares; w += c->team)
                s->kernels->collect(s, k, begin_of(tiles, w, k->shares),
                                    begin_of(tiles, w + 1, k->shares),
                                    s->part + (size_t)w * WIDTH * c->row);
            meet(c);
            if (c->thread == 0) s->kernels->finish(s, k);
        }
        meet(c);
    }
}

/* ---- all nodes ------------------------------------------------------------------------------------ */

static void do_subtrees(crew *c)
{
    const solving *s = c->s;
    const supernodal *d = s->d;
    const size_t bytes = (size_t)d->tops * c->row;
    for (int w = c->thread; w < d->workers; w += c->team) {
        const int32_t *nodes = d->order + d->begin[w];
        const int32_t count = d->begin[w + 1] - d->begin[w];
        if (!d->gather) {
            memset(s->sum + (size_t)w * bytes, 0, bytes);
            s->kernels->take(s, nodes, count);
        }
        s->kernels->run(s, nodes, count, s->sum + (size_t)w * bytes);
    }
}

static void join_sums(crew *c)
{
    const supernodal *d = c->s->d;
    for (int w = c->thread; w < d->workers; w += c->team)
        c->s->kernels->join(c->s, begin_of(d->tops, w, d->workers),
                            begin_of(d->tops, w + 1, d->workers));
}

static void do_all(void *user, int thread, int team)
{
    const run *r = user;
    crew c = {r->s, r->size * (size_t)r->s->lanes, thread, team, 0};
    TRS_ASSERT(team <= r->s->d->workers && c.row <= MOST_ROW);
    if (r->s->d->gather) {
        gather_top(&c);
        do_subtrees(&c);
    } else {
        do_subtrees(&c);
        meet(&c);
        join_sums(&c);
        meet(&c);
        scatter_top(&c);
    }
}

void supernodal_run(const solving *s, int threads)
{
    const supernodal *d = s->d;
    run r = {s, trs_size(s->L->dtype)};
    if (d->workers == 1) {
        if (!d->gather) s->kernels->take(s, d->order, d->nodes);
        s->kernels->run(s, d->order, d->nodes, s->x);
        return;
    }
    for (int w = 0; w < d->workers; w++) atomic_init(&s->progress[w].done, 0);
    trs_team_run(threads < d->workers ? threads : d->workers, do_all, &r);
}

/* ---- scratch -------------------------------------------------------------------------------------- */

enum { LINE = 128 };

static int64_t padded(int64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static int64_t sum_bytes(const supernodal *d, size_t size, int lanes)
{
    return padded((int64_t)d->workers * d->tops * lanes * (int64_t)size);
}

static int64_t part_bytes(const supernodal *d, size_t size, int lanes)
{
    return padded((int64_t)d->workers * WIDTH * lanes * (int64_t)size);
}

int64_t supernodal_scratch(const supernodal *d, size_t size, int lanes)
{
    if (d->workers == 1) return 0;
    return LINE + d->workers * (int64_t)sizeof(trs_progress) + sum_bytes(d, size, lanes) +
           part_bytes(d, size, lanes);
}

void supernodal_place(const supernodal *d, size_t size, char *scratch, solving *s)
{
    if (d->workers == 1) return;
    char *at = scratch + (LINE - (uintptr_t)scratch % LINE) % LINE;
    s->progress = (trs_progress *)at;
    s->sum = at + (size_t)d->workers * sizeof *s->progress;
    s->part = s->sum + sum_bytes(d, size, s->lanes);
}
