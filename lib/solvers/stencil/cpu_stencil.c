/* cpu_stencil.c: forward substitution in natural order, runs of rows with one pattern by tiles without indices, all other
 * rows one by one, the units of both dealt out to threads.  README.md has the idea, units.h, schedule.h and tile.h the
 * parts. */
#ifndef T

#include "config.h"

#include "base/debug.h"
#include "base/parallel.h"
#include "schedule.h"
#include "solvers/contiguous.h"
#include "solvers/cpu_serial.h"

#include <stdint.h>
#include <string.h>

typedef struct stencil_data {
    trs_units units;
    trs_schedule schedule;
    trs_instance serial; /* for the rows of no run */
    int64_t *place;      /* [units] where the values of a unit of a run begin in val */
    /* [units] is it solved by tiles?  It is of a run, and of all its rows the reciprocals are normal numbers. */
    bool *tiled;
    void *val; /* by tiles (tile.h), the units in the order in which the workers take them */
} stencil_data;

typedef struct stencil_solve { /* what the threads share */
    const trs_instance *inst;
    const trs_job *job;   /* with contiguous B and X in the order of memory */
    trs_job rows;         /* the same in the order of the rows */
    trs_progress *worker; /* [workers] how many of its units are done */
} stencil_solve;

#define TRS_WIDE_REALS
#define TRS_BODY "solvers/stencil/cpu_stencil.c"
#include "base/each_width.h"

/* ---- the analysis ---------------------------------------------------------------------------------- */

typedef struct stencil_plan {
    trs_units units;
    trs_schedule schedule;
} stencil_plan;

static void trim(trs_context *ctx, void *result)
{
    stencil_plan *plan = result;
    trs_units_free(ctx, &plan->units);
    trs_schedule_free(ctx, &plan->schedule);
}

/* For a solver that can do without, a pattern is not brought from the device. */
static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    stencil_plan *plan = result;
    if (!needed && !(op->on_host & TRS_OP_PATTERN)) return TRS_OK;
    int rc = trs_operator_show(op, TRS_OP_PATTERN);
    const int threads = trs_team(op->ctx, op->tri.nnz);
    trs_shape shape;
    trs_shape_of(op, &shape);
    shape.nrhs = 1;
    if (!rc) rc = trs_units_find(op->ctx, &op->tri, threads > 1, &plan->units);
    if (!rc)
        rc = trs_schedule_make(op->ctx, &op->tri, &shape, &plan->units, threads, &plan->schedule);
    *found = !rc;
    return rc;
}

static const trs_analysis analysis = {
    .name = "units", .size = sizeof(stencil_plan), .make = make, .trim = trim};

/* ---- build and update ------------------------------------------------------------------------------- */

/* Lay the values out in the order in which the units are taken; returns how many there are. */
static int64_t lay_out(stencil_data *d)
{
    const trs_units *u = &d->units;
    int64_t at = 0;
    for (int32_t k = 0; k < u->count; k++) {
        const int32_t unit = d->schedule.workers > 1 ? d->schedule.order[k] : k;
        const int32_t run = u->unit[unit].run;
        d->place[unit] = at;
        if (run < 0) continue;
        at += (int64_t)trs_unit_tiles(u, &u->unit[unit]) * trs_run_values(&u->run[run]) * u->lanes;
    }
    return at;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const void *result;
    int rc = trs_operator_analysis(inst->op, &analysis, true, &result);
    if (rc) return rc;
    const stencil_plan *plan = result;
    const int32_t units = plan->units.count;
    stencil_data *d = inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory for cpu-stencil");
    rc = trs_units_copy(ctx, &plan->units, &d->units);
    if (!rc) rc = trs_schedule_copy(ctx, units, &plan->schedule, &d->schedule);
    if (!rc) rc = trs_instance_build(&d->serial, inst->op, &trs_solver_cpu_serial);
    if (rc) return rc;
    d->place = trs_new(ctx, units, sizeof *d->place, "units");
    d->tiled = trs_new(ctx, units, sizeof *d->tiled, "units");
    if (!d->place || !d->tiled) return TRS_EMEM;
    d->val = trs_new(ctx, lay_out(d), trs_size(inst->op->tri.dtype), "values of tiles");
    return d->val ? TRS_OK : TRS_EMEM;
}

static int update(trs_instance *inst, void *stream)
{
    enum { UNITS = 16 }; /* that a thread takes at a time */
    static const trs_range_fn table[2][4] = TRS_PER_WIDTH(take_values);
    stencil_data *d = inst->data;
    const int rc = trs_instance_update(&d->serial, stream);
    if (rc) return rc;
    const trs_tri *L = &inst->op->tri;
    trs_share(trs_team(inst->ctx, L->nnz), d->units.count, UNITS,
              table[trs_wide(L->dtype)][L->dtype], inst);
    return TRS_OK;
}

static void release(trs_instance *inst)
{
    stencil_data *d = inst->data;
    trs_units_free(inst->ctx, &d->units);
    trs_schedule_free(inst->ctx, &d->schedule);
    trs_instance_release(&d->serial);
    trs_free(&inst->ctx->mem, d->place);
    trs_free(&inst->ctx->mem, d->tiled);
    trs_free(&inst->ctx->mem, d->val);
    trs_free(&inst->ctx->mem, d);
}

/* ---- solve -------------------------------------------------------------------------------------------- */

typedef void (*units_fn)(const stencil_solve *, int32_t begin, int32_t end);

static void do_units(const stencil_solve *s, int32_t begin, int32_t end)
{
    static const units_fn table[2][4] = TRS_PER_WIDTH(do_units);
    const trs_dtype t = s->inst->op->tri.dtype;
    table[trs_wide(t)][t](s, begin, end);
}

/* What the unit needs has been released with the counts that it waits for, and it is released with its own. */
static void take_turn(const stencil_solve *s, int32_t u)
{
    const trs_schedule *g = &((const stencil_data *)s->inst->data)->schedule;
    for (int64_t k = g->waits[u]; k < g->waits[u + 1]; k++)
        trs_wait_for(&s->worker[g->wait[k].worker].done, g->wait[k].rank);
    do_units(s, u, u + 1);
    const trs_turn turn = g->turn[u];
    TRS_ASSERT(atomic_load(&s->worker[turn.worker].done) == turn.rank - 1);
    atomic_store_explicit(&s->worker[turn.worker].done, turn.rank, memory_order_release);
}

/* A thread does the units of its workers in ascending order. */
static void work(void *user, int thread, int team)
{
    const stencil_solve *s = user;
    const stencil_data *d = s->inst->data;
    const trs_schedule *g = &d->schedule;
    if (team >= g->workers) {
        if (thread >= g->workers) return;
        for (int32_t k = g->first[thread]; k < g->first[thread + 1]; k++) take_turn(s, g->order[k]);
    } else {
        for (int32_t u = 0; u < d->units.count; u++)
            if (g->turn[u].worker % team == thread) take_turn(s, u);
    }
}

static int solve_contiguous(const trs_instance *inst, const trs_job *job)
{
    const stencil_data *d = inst->data;
    const int workers = d->schedule.workers;
    stencil_solve s = {.inst = inst, .job = job, .rows = *job};
    s.rows.b = trs_view_natural(inst->op, job->b);
    s.rows.x = trs_view_natural(inst->op, job->x);
    if (workers == 1 || job->threads <= 1) {
        do_units(&s, 0, d->units.count);
        return TRS_OK;
    }
    const uintptr_t line = _Alignof(trs_progress), work_begin = (uintptr_t)job->work;
    s.worker = (trs_progress *)((work_begin + line - 1) / line * line);
    for (int w = 0; w < workers; w++) atomic_init(&s.worker[w].done, 0);
    trs_team_run(job->threads < workers ? job->threads : workers, work, &s);
    return TRS_OK;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return trs_solve_contiguous(inst, job, solve_contiguous);
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    const stencil_data *d = inst->data;
    return trs_contiguous_bytes(inst, nrhs) +
           (d->schedule.workers + 1) * (int64_t)sizeof(trs_progress);
}

/* ---- estimate ------------------------------------------------------------------------------------------ */

/* Where there are no runs and nothing to share it is cpu-serial. */
static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const stencil_plan *plan = trs_prospect_analysis(p, &analysis, true);
    (void)built;
    if (plan && (plan->units.rows || plan->schedule.workers > 1)) {
        c->bytes = plan->schedule.alone * s->nrhs;
        c->sync = (plan->schedule.seconds - plan->schedule.alone) * s->nrhs;
        return NULL;
    }
    c->bytes = trs_cpu_stream(m, s, (double)s->nnz, (double)s->n);
    c->latency = trs_cpu_wait(m, s->waiting, (double)s->n * s->nrhs, c->bytes);
    return NULL;
}

/* Before the runs are known, all rows may be of short ones. */
static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const stencil_plan *plan = trs_prospect_analysis(p, &analysis, true);
    const int64_t elem = (int64_t)s->elem, unit = sizeof(trs_unit) + sizeof(int64_t) + sizeof(bool);
    const int64_t shared = sizeof(trs_turn) + sizeof(int32_t) + sizeof(int64_t);
    if (!plan) return 2 * (s->nnz + s->n) * elem + s->n * (unit + shared);
    const trs_units *u = &plan->units;
    return u->values * elem + u->count * (unit + (plan->schedule.workers > 1 ? shared : 0)) +
           u->runs * (int64_t)sizeof(trs_run) + u->distances * (int64_t)sizeof *u->distance +
           plan->schedule.wait_count * (int64_t)sizeof(trs_turn);
}

const trs_solver trs_solver_cpu_stencil = {
    .name = "cpu-stencil",
    .about = "rows of one pattern by vectors without indices, in natural order (OpenMP)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .serial_bits = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};

#else

#include "tile.h"

/* ---- update ---------------------------------------------------------------------------------------------- */

/* Take the values of row i to its lane.  Returns whether it can be solved with its reciprocal (cpu_row.h). */
TRS_INLINE bool FN(take_row)(const trs_tri *L, int32_t i, const trs_run *run, T *v)
{
    const T *from = (const T *)L->val + L->ptr[i];
    const int32_t count = run->far + run->near, entries = (int32_t)(L->ptr[i + 1] - L->ptr[i]);
    const T r = 1 / from[entries - 1];
    bool good = FN(is_normal)(r);
    for (int32_t k = 0; k < count; k++) v[k * FN(LANES)] = from[k];
    if (run->follows) {
        const bool has = entries == count + 2; /* the first row of a run may lack it */
        const T l = has ? from[count] : 0, c = FN(times)(r, l, false);
        v[count * FN(LANES)] = c;
        good = FN(scales)(r, l, c);
    }
    v[(count + run->follows) * FN(LANES)] = r;
    return good;
}

WIDTH_CLONES static void FN(take_unit)(const trs_instance *inst, int32_t k)
{
    stencil_data *d = inst->data;
    const trs_unit *unit = &d->units.unit[k];
    const trs_run *run = &d->units.run[unit->run];
    const bool reversed = inst->op->reversed;
    const int32_t size = trs_run_values(run) * FN(LANES);
    const int32_t tiles = trs_unit_tiles(&d->units, unit);
    T *v = (T *)d->val + d->place[k];
    bool good = true;
    if (tiles * FN(LANES) > unit->end - unit->begin)
        memset(v + (tiles - 1) * (int64_t)size, 0, (size_t)size * sizeof *v);
    for (int32_t i = unit->begin; i < unit->end; i++) {
        const int32_t tile = (i - unit->begin) / FN(LANES), row = (i - unit->begin) % FN(LANES);
        T *first = v + tile * (int64_t)size;
        good &=
            FN(take_row)(&inst->op->tri, i, run, first + (reversed ? FN(LANES) - 1 - row : row));
    }
    d->tiled[k] = good;
}

static void FN(take_values)(void *user, int64_t begin, int64_t end)
{
    const trs_instance *inst = user;
    stencil_data *d = inst->data;
    for (int64_t k = begin; k < end; k++) {
        if (d->units.unit[k].run >= 0) FN(take_unit)(inst, (int32_t)k);
        else d->tiled[k] = false;
    }
}

/* ---- solve ----------------------------------------------------------------------------------------------- */

TRS_INLINE void FN(do_tiles)(const stencil_solve *s, int32_t k, bool follows, bool reversed)
{
    const stencil_data *d = s->inst->data;
    const trs_unit *unit = &d->units.unit[k];
    const trs_run *run = &d->units.run[unit->run];
    const int32_t entries = run->far + run->near;
    const FN(unit) u = {.distance = d->units.distance + run->distances,
                        .far = run->far,
                        .near = run->near,
                        .four = entries >= FN(LONG) ? entries / 4 * 4 : 0,
                        .n = s->inst->op->tri.n,
                        .follows = follows,
                        .reversed = reversed,
                        .conj = s->job->conj};
    for (int r = 0; r < s->job->nrhs; r++) FN(tiles)
    (&u, unit->begin, unit->end, unit->starts, (const T *)d->val + d->place[k],
     (const T *)s->job->b.p + r * s->job->b.cs, (T *)s->job->x.p + r * s->job->x.cs);
}

/* For all right-hand sides.  With real numbers, rows that follow one another and rows that do not have machine code of
 * their own, in both directions. */
TRS_INLINE void FN(do_unit)(const stencil_solve *s, int32_t k)
{
    const stencil_data *d = s->inst->data;
    const trs_unit *unit = &d->units.unit[k];
    const bool reversed = s->inst->op->reversed;
    if (!d->tiled[k]) {
        trs_serial_rows(&d->serial, unit->begin, unit->end, &s->rows);
        return;
    }
    const bool follows = d->units.run[unit->run].follows;
    if (IS_COMPLEX) FN(do_tiles)(s, k, follows, reversed);
    else if (follows && reversed) FN(do_tiles)(s, k, true, true);
    else if (follows) FN(do_tiles)(s, k, true, false);
    else if (reversed) FN(do_tiles)(s, k, false, true);
    else FN(do_tiles)(s, k, false, false);
}

/* Vectors of complex numbers stay narrow with AVX-512, but gain from its 32 registers. */
#if IS_COMPLEX
TRS_CLONES
#else
WIDTH_CLONES
#endif
static void FN(do_units)(const stencil_solve *s, int32_t begin, int32_t end)
{
    for (int32_t k = begin; k < end; k++) FN(do_unit)(s, k);
}

#endif
