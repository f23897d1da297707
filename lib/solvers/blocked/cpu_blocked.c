/* cpu_blocked.c: forward substitution by blocks of columns that stay in the cache, for triangles whose entries are
 * scattered over vectors that do not; README.md has the equations and what bounds it.
 *
 * Who owns a row: blocks of rows are dealt out to the threads in turn, and a thread alone writes the x of its blocks.
 * How x becomes visible: `solved` counts the blocks whose x is final; it is released after a block is solved, and
 * acquired before any thread reads the x of that block.
 * Why it cannot hang: a block waits for those before it only, and each thread takes the blocks that it has in ascending
 * order, whatever the size of the team; so the owner of the first block that is not solved waits for nothing.
 * Bytes: elem + 4 an entry, 2 elem n for each block of columns, and 3 elem n for b and the pivots. */
#ifndef T

#include "config.h"

#include "base/debug.h"
#include "base/parallel.h"
#include "blocks.h"
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

typedef struct blocked_data {
    trs_blocks blocks;
    void *val; /* [nnz-n] of the entries, in the order of the blocks */
    /* [n] 1 / L(i,i), or L(i,i) in a row tile one of whose reciprocals is not a normal number */
    void *pivot;
    bool *divides; /* [tiles] is it such a row tile? */
} blocked_data;

typedef struct group { /* right-hand sides that are solved for together */
    const trs_instance *inst;
    const trs_job *job;
    int first, count; /* their numbers */
    void *x;          /* of row 0; where x is in place, that of job->x */
    bool in_place;    /* else x is scratch, with so many numbers a row as there are lanes */
    atomic_int solved;
} group;

#define TRS_BODY "solvers/blocked/cpu_blocked.c"
#include "base/each_type.h"

enum { OWN_CACHE = 1 << 20 }; /* bytes, of a core whose system does not say */

/* ---- building ----------------------------------------------------------------------------------- */

static double own_cache(const trs_machine *m)
{
    return m && m->cpu_own_cache > 0 ? m->cpu_own_cache : OWN_CACHE;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *L = &inst->op->tri;
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    blocked_data *d = inst->data = trs_new(ctx, 1, sizeof *d, "blocks");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    trs_blocks_sizes(L->n, L->nnz, (double)trs_size(L->dtype), own_cache(&ctx->machine),
                     ctx->threads, &d->blocks.columns, &d->blocks.rows);
    rc = trs_blocks_make(ctx, L, &d->blocks);
    if (rc) return rc;
    d->val = trs_new_touched(ctx, L->nnz - L->n, trs_size(L->dtype), "values by blocks");
    d->pivot = trs_new_touched(ctx, L->n, trs_size(L->dtype), "pivots");
    d->divides = trs_new(ctx, d->blocks.tiles, sizeof *d->divides, "row tiles that divide");
    return d->val && d->pivot && d->divides ? TRS_OK : TRS_EMEM;
}

static int update(trs_instance *inst, void *stream)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(take_values);
    const blocked_data *d = inst->data;
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    if (rc) return rc;
    trs_share(trs_team(inst->ctx, inst->op->tri.nnz), d->blocks.tiles, 1,
              table[inst->op->tri.dtype], inst);
    return TRS_OK;
}

static void release(trs_instance *inst)
{
    blocked_data *d = inst->data;
    trs_blocks_free(inst->ctx, &d->blocks);
    trs_free(&inst->ctx->mem, d->val);
    trs_free(&inst->ctx->mem, d->pivot);
    trs_free(&inst->ctx->mem, d->divides);
    trs_free(&inst->ctx->mem, d);
}

/* ---- solving ------------------------------------------------------------------------------------ */

/* How many of the right-hand sides that are left are solved for together.  Lanes cost about as much as six single ones
 * of eight, whether there is a right-hand side for them or not. */
static int group_size(int left, int lanes)
{
    if (left >= lanes) return lanes;
    return 4 * left >= 3 * lanes ? left : 1;
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    const trs_tri *L = &inst->op->tri;
    const int64_t size = (int64_t)trs_size(L->dtype);
    const bool together = group_size(nrhs, trs_line(L->dtype)) > 1;
    return L->n * (together ? TRS_LINE : size) + TRS_LINE;
}

/* The scratch begins at a cache line. */
static void *aligned(void *work)
{
    return (void *)(((uintptr_t)work + TRS_LINE - 1) / TRS_LINE * TRS_LINE);
}

/* A single right-hand side whose numbers are side by side is solved for where it is. */
static trs_team_fn choose_form(group *g)
{
    static const trs_team_fn forward[] = TRS_PER_TYPE(solve_forward),
                             backward[] = TRS_PER_TYPE(solve_backward),
                             many[] = TRS_PER_TYPE(solve_many);
    const trs_job *job = g->job;
    const trs_dtype t = g->inst->op->tri.dtype;
    g->in_place = g->count == 1 && (job->x.rs == 1 || job->x.rs == -1);
    g->x = aligned(job->work);
    if (g->in_place) g->x = (char *)job->x.p + g->first * job->x.cs * (int64_t)trs_size(t);
    if (g->count > 1) return many[t];
    return g->in_place && job->x.rs == -1 ? backward[t] : forward[t];
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const trs_blocks *b = &((const blocked_data *)inst->data)->blocks;
    const int lanes = trs_line(inst->op->tri.dtype);
    const bool shared = inst->op->tri.nnz >= TRS_SHARED_FROM;
    int threads = shared ? job->threads : 1;
    if (threads > b->blocks) threads = b->blocks;
    for (int r = 0, count; r < job->nrhs; r += count) {
        count = group_size(job->nrhs - r, lanes);
        group g = {.inst = inst, .job = job, .first = r, .count = count};
        trs_team_run(threads, choose_form(&g), &g);
    }
    return TRS_OK;
}

/* ---- what it takes ------------------------------------------------------------------------------- */

/* It is faster than cpu-serial on many smaller triangles as well, but by what no cost knows yet: branches. */
enum { LEAST_ROWS = 50000 };

/* Seconds of a solve by one thread. */
static double alone(const trs_shape *s, const trs_machine *m, int columns)
{
    const double n = (double)s->n, entries = (double)(s->nnz - s->n), x = n * s->elem;
    const double streamed = entries * (s->elem + 4) + 3 * x;
    const double each = m->blocked_entry * (s->is_complex ? 2 : 1);
    double seconds = streamed * (streamed < m->cpu_cache ? m->cpu_cached : m->cpu_byte);
    /* rows of x and y go by in order, several lines at a time */
    const double passes = n / (double)(1 << columns), together = 4;
    if (x > own_cache(m)) seconds += passes * x * m->cpu_cached / together;
    return (seconds + entries * each + n * m->blocked_row) * s->nrhs;
}

/* The share of the entries that are in the block of their row or in the one before it, of rows at equal distances: one
 * thread after the other goes through these, while the others have the rest.  Where no pattern can be looked at, a half. */
static double near_share(const trs_prospect *p, int columns)
{
    enum { LOOKS = 4096 };
    const trs_tri *L = p->op ? &p->op->tri : NULL;
    int64_t seen = 0, near = 0;
    if (!L || !L->ptr || !L->idx) return 0.5;
    const int64_t step = L->n / LOOKS + 1;
    for (int64_t i = 0; i < L->n; i += step)
        for (int64_t e = L->ptr[i]; e < L->ptr[i + 1] - 1; e++, seen++)
            near += (i >> columns) - (L->idx[e] >> columns) <= 1;
    return seen ? (double)near / (double)seen : 0;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const double threads = s->nnz >= TRS_SHARED_FROM ? m->cpu_threads : 1;
    int columns, rows;
    (void)built;
    trs_blocks_sizes(s->n, s->nnz, s->elem, own_cache(m), (int)threads, &columns, &rows);
    if (s->n < LEAST_ROWS) return "it has too few rows";
    if (!trs_blocks_fit(s->longest, rows)) return "its rows are too long";
    const double near = threads > 1 ? near_share(p, columns) : 1;
    c->bytes = alone(s, m, columns) * fmax(near, 1 / threads);
    if (threads > 1) c->sync = m->cpu_barrier;
    c->latency = trs_cpu_wait(m, s->waiting, (double)s->n * s->nrhs, c->bytes);
    c->update = 2 * (double)(s->nnz - s->n) * (s->elem + 4) * m->cpu_byte;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    int columns, rows;
    trs_blocks_sizes(s->n, s->nnz, s->elem, own_cache(p->ctx ? &p->ctx->machine : NULL),
                     p->ctx ? p->ctx->threads : 1, &columns, &rows);
    const int64_t tiles = (s->n >> rows) + 1, table = ((s->n >> columns) + 1) * tiles;
    return (s->nnz - s->n) * (int64_t)(s->elem + 8) + s->n * (int64_t)s->elem + 8 * table +
           9 * tiles;
}

const trs_solver trs_solver_cpu_blocked = {
    .name = "cpu-blocked",
    .about = "entries in tiles by blocks of columns that stay in the cache (OpenMP)",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};

#else

#include "base/number/divide.h"
#include "base/number/vector.h"

/* ---- values ----------------------------------------------------------------------------------- */

static bool FN(has_abnormal)(const trs_tri *L, int32_t first, int32_t last)
{
    const T *Lx = L->val;
    for (int32_t i = first; i < last; i++)
        if (!NORMAL(1 / Lx[L->ptr[i + 1] - 1])) return true;
    return false;
}

/* Of row tiles begin..end-1. */
static void FN(take_values)(void *user, int64_t begin, int64_t end)
{
    const trs_instance *inst = user;
    const blocked_data *d = inst->data;
    const trs_blocks *b = &d->blocks;
    const trs_tri *L = &inst->op->tri;
    T *val = d->val, *pivot = d->pivot;
    for (int32_t q = (int32_t)begin; q < end; q++) {
        const int32_t first = trs_first_row(b, q), last = trs_first_row(b, q + 1);
        const T *from = (const T *)L->val + L->ptr[first];
        for (int32_t j = 0; j <= trs_block_of(b, q); j++) {
            const int64_t *tile = b->tile + (int64_t)j * b->tiles + q;
            for (int64_t e = tile[0]; e < tile[1]; e++) val[e] = from[b->place[e]];
        }
        d->divides[q] = FN(has_abnormal)(L, first, last);
        for (int32_t i = first; i < last; i++) {
            const T diagonal = ((const T *)L->val)[L->ptr[i + 1] - 1];
            pivot[i] = d->divides[q] ? diagonal : 1 / diagonal;
        }
    }
}

/* ---- rows of x: one number, or a line of them ----------------------------------------------------- */

/* y = y - a x */
TRS_INLINE void FN(subtract_row)(T *y, T a, const T *x, bool cj, int lanes)
{
    FN(vector) s[FN(PARTS)];
    if (lanes == 1) {
        *y = FN(minus)(*y, a, *x, cj);
        return;
    }
#pragma GCC unroll 2
    for (int v = 0; v < FN(PARTS); v++)
        s[v] = FN(subtract)(FN(load)(y + v * FN(LANES)), FN(splat)(a), FN(load)(x + v * FN(LANES)),
                            cj);
#pragma GCC unroll 2
    for (int v = 0; v < FN(PARTS); v++) FN(store)(y + v * FN(LANES), s[v]);
}

/* x = reciprocal y */
TRS_INLINE void FN(scale_row)(T *x, const T *y, T reciprocal, int lanes)
{
    for (int k = 0; k < lanes; k++) x[k] = FN(times)(reciprocal, y[k], false);
}

/* y = y / pivot */
TRS_INLINE void FN(divide_row)(T *y, T pivot, int lanes)
{
    const T reciprocal = 1 / pivot;
    for (int k = 0; k < lanes; k++)
        y[k] = NORMAL(reciprocal) ? FN(times)(reciprocal, y[k], false) : FN(quotient)(y[k], pivot);
}

/* ---- tiles ---------------------------------------------------------------------------------------- */

typedef struct FN(form) { /* known when it is compiled */
    int lanes;
    int step; /* numbers from row to row: lanes, or -1 */
    bool cj;
} FN(form);

/* Entries begin..end-1 of a tile: y(row) = y(row) - value x(column). */
TRS_INLINE void FN(update_tile)(const blocked_data *d, int64_t begin, int64_t end, T *y, const T *x,
                                FN(form) f)
{
    const uint32_t *at = d->blocks.at;
    const T *val = d->val;
    int64_t e = begin;
    for (; e < end - 7; e += 8) {
        TRS_PREFETCH(val + e + FN(AHEAD));
        TRS_PREFETCH(at + e + FN(AHEAD));
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            const ptrdiff_t row = at[e + k] >> 16, column = at[e + k] & 0xffff;
            FN(subtract_row)(y + row * f.step, val[e + k], x + column * f.step, f.cj, f.lanes);
        }
    }
    for (; e < end; e++) {
        const ptrdiff_t row = at[e] >> 16, column = at[e] & 0xffff;
        FN(subtract_row)(y + row * f.step, val[e], x + column * f.step, f.cj, f.lanes);
    }
}

/* The corner of row tile q, whose rows are y, and whose columns are counted from x.  An entry needs the x of its
 * column, which has been subtracted from by all entries before it, but not been multiplied by its reciprocal yet. */
TRS_INLINE void FN(solve_corner)(const blocked_data *d, int32_t q, int64_t end, T *y, const T *x,
                                 FN(form) f)
{
    const trs_blocks *b = &d->blocks;
    const T *pivot = (const T *)d->pivot + trs_first_row(b, q), *val = d->val;
    const T *x_pivot = (const T *)d->pivot + ((int64_t)trs_block_of(b, q) << b->columns);
    for (int64_t e = b->corner[q]; e < end; e++) {
        const ptrdiff_t row = b->at[e] >> 16, column = b->at[e] & 0xffff;
        T p = x_pivot[column], t[FN(LINE)];
        if (f.cj) p = CONJ(p);
        FN(scale_row)(t, x + column * f.step, p, f.lanes);
        FN(subtract_row)(y + row * f.step, val[e], t, f.cj, f.lanes);
    }
    for (ptrdiff_t i = 0; i < trs_first_row(b, q + 1) - trs_first_row(b, q); i++) {
        const T p = f.cj ? CONJ(pivot[i]) : pivot[i];
        FN(scale_row)(y + i * f.step, y + i * f.step, p, f.lanes);
    }
}

/* The same where a reciprocal is not a normal number: column by column, each divided by its pivot first.  It is rare, so
 * there is one copy of it. */
static __attribute__((cold, noinline)) void FN(divide_corner)(const blocked_data *d, int32_t q,
                                                              int64_t end, T *y, FN(form) f)
{
    const trs_blocks *b = &d->blocks;
    const T *pivot = (const T *)d->pivot + trs_first_row(b, q), *val = d->val;
    const int32_t mask = (1 << b->columns) - 1, first = trs_first_row(b, q) & mask;
    int64_t e = b->corner[q];
    for (int32_t i = 0; i < trs_first_row(b, q + 1) - trs_first_row(b, q); i++) {
        T *x = y + (ptrdiff_t)i * f.step;
        FN(divide_row)(x, f.cj ? CONJ(pivot[i]) : pivot[i], f.lanes);
        for (; e < end && (int32_t)(b->at[e] & 0xffff) == first + i; e++)
            FN(subtract_row)(y + (ptrdiff_t)(b->at[e] >> 16) * f.step, val[e], x, f.cj, f.lanes);
    }
    TRS_ASSERT(e == end);
}

/* ---- b in, x out ------------------------------------------------------------------------------------ */

/* Rows begin..end-1 of b become rows of x; lanes that have no right-hand side are zero. */
TRS_INLINE void FN(take_rows)(const group *g, int32_t begin, int32_t end, T *x, FN(form) f)
{
    const trs_view v = g->job->b;
    const T *b = (const T *)v.p + g->first * v.cs;
    if (g->in_place && v.p == g->job->x.p) return;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < f.lanes; k++)
            x[i * f.step + k] = k < g->count ? b[i * v.rs + k * v.cs] : 0;
}

TRS_INLINE void FN(give_rows)(const group *g, int32_t begin, int32_t end, const T *x, FN(form) f)
{
    const trs_view v = g->job->x;
    T *to = (T *)v.p + g->first * v.cs;
    if (g->in_place) return;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < g->count; k++) to[i * v.rs + k * v.cs] = x[i * f.step + k];
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

/* The rows of block k with the columns of block j, an earlier one. */
TRS_INLINE void FN(update_block)(const group *g, int32_t j, int32_t k, FN(form) f)
{
    const blocked_data *d = g->inst->data;
    const trs_blocks *b = &d->blocks;
    const int64_t *tile = b->tile + (int64_t)j * b->tiles;
    T *x = g->x;
    for (int32_t q = trs_first_tile(b, k); q < trs_first_tile(b, k + 1); q++) {
        const ptrdiff_t row = trs_first_row(b, q), column = (ptrdiff_t)j << b->columns;
        if (j == 0) FN(take_rows)(g, trs_first_row(b, q), trs_first_row(b, q + 1), x, f);
        FN(update_tile)(d, tile[q], tile[q + 1], x + row * f.step, x + column * f.step, f);
    }
}

/* Block k itself, from which all earlier columns have been subtracted. */
TRS_INLINE void FN(solve_block)(const group *g, int32_t k, FN(form) f)
{
    const blocked_data *d = g->inst->data;
    const trs_blocks *b = &d->blocks;
    const int64_t *tile = b->tile + (int64_t)k * b->tiles;
    T *x = g->x, *of_block = x + ((ptrdiff_t)k << b->columns) * f.step;
    for (int32_t q = trs_first_tile(b, k); q < trs_first_tile(b, k + 1); q++) {
        const int32_t begin = trs_first_row(b, q), end = trs_first_row(b, q + 1);
        T *y = x + (ptrdiff_t)begin * f.step;
        if (k == 0) FN(take_rows)(g, begin, end, x, f);
        FN(update_tile)(d, tile[q], b->corner[q], y, of_block, f);
        if (d->divides[q]) FN(divide_corner)(d, q, tile[q + 1], y, f);
        else FN(solve_corner)(d, q, tile[q + 1], y, of_block, f);
        FN(give_rows)(g, begin, end, x, f);
    }
}

/* A thread of a team: blocks thread, thread + team, ... are its own.  The next block is solved as early as possible,
 * for the others wait for it. */
TRS_INLINE void FN(solve_own)(group *g, int thread, int team, int lanes, int step, bool cj)
{
    const FN(form) f = {lanes, step, cj};
    const int32_t blocks = ((const blocked_data *)g->inst->data)->blocks.blocks;
    for (int32_t j = -1; j < blocks - 1; j++) {
        const int32_t next = j + 1,
                      own = next + (int32_t)((thread + (int64_t)team * blocks - next) % team);
        trs_wait_for(&g->solved, next);
        for (int32_t k = own; k < blocks; k += team) {
            if (j >= 0) FN(update_block)(g, j, k, f);
            if (k == next) {
                FN(solve_block)(g, k, f);
                atomic_store_explicit(&g->solved, next + 1, memory_order_release);
            }
            if (j < 0) break;
        }
    }
}

TRS_FMA_CLONES static void FN(solve_forward)(void *user, int thread, int team)
{
    group *g = user;
    if (IS_COMPLEX && g->job->conj) FN(solve_own)(g, thread, team, 1, 1, true);
    else FN(solve_own)(g, thread, team, 1, 1, false);
}

TRS_FMA_CLONES static void FN(solve_backward)(void *user, int thread, int team)
{
    group *g = user;
    if (IS_COMPLEX && g->job->conj) FN(solve_own)(g, thread, team, 1, -1, true);
    else FN(solve_own)(g, thread, team, 1, -1, false);
}

TRS_FMA_CLONES static void FN(solve_many)(void *user, int thread, int team)
{
    group *g = user;
    if (IS_COMPLEX && g->job->conj) FN(solve_own)(g, thread, team, FN(LINE), FN(LINE), true);
    else FN(solve_own)(g, thread, team, FN(LINE), FN(LINE), false);
}

#endif
