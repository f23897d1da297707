/* schedule.c: the launches of a tree of fronts, and the layout of its numbers. */
#include "config.h"

#include "schedule.h"

#include <stdlib.h>
#include <string.h>

enum { PANEL = TRS_FRONT_PANEL, TILE = TRS_FRONT_TILE };

/* How many parts of a length there are, the last of which may be shorter. */
static int64_t parts_of(int64_t length, int64_t part)
{
    return (length + part - 1) / part;
}

/* The strip of row i of a front with so many columns. */
static int32_t strip_of(int32_t cols, int32_t i)
{
    if (i < cols) return i / TILE;
    return (int32_t)parts_of(cols, TILE) + (i - cols) / TILE;
}

static int32_t strips_of(const trs_front *f)
{
    return (int32_t)(parts_of(f->cols, TILE) + parts_of(f->rows, TILE));
}

static int32_t order_of(const trs_front *f)
{
    return f->cols + f->rows;
}

static bool is_small(const trs_front *f)
{
    return order_of(f) <= TRS_FRONT_SMALL;
}

/* ---- panels and pool -------------------------------------------------------------------------------------- */

/* Update matrices of large fronts that are in use, ascending in the pool. */
typedef struct live {
    int64_t offset, size;
    int32_t until; /* the level of the parent */
} live;

/* The lowest gap that is large enough. */
static int64_t pool_take(live *in_use, int32_t *count, live new)
{
    int32_t at = 0;
    while (at < *count && in_use[at].offset - new.offset < new.size) {
        new.offset = in_use[at].offset + in_use[at].size;
        at++;
    }
    memmove(in_use + at + 1, in_use + at, (size_t)(*count - at) * sizeof *in_use);
    in_use[at] = new;
    ++*count;
    return new.offset;
}

static void pool_release(live *in_use, int32_t *count, int32_t level)
{
    int32_t kept = 0;
    for (int32_t k = 0; k < *count; k++)
        if (in_use[k].until > level) in_use[kept++] = in_use[k];
    *count = kept;
}

/* list: fronts by level; small: how many of each level are small ones. */
typedef struct by_level {
    int32_t *ptr, *small; /* [levels+1] */
} by_level;

static int make_pool(trs_context *ctx, const trs_front_tree *t, const by_level *b,
                     trs_front_schedule *s)
{
    live *in_use = trs_new(ctx, t->count + 1ll, sizeof *in_use, "update matrices");
    if (!in_use) return TRS_EMEM;
    int32_t count = 0;
    for (int32_t l = 0; l < t->levels; l++) /* those of small fronts stand side by side */
        for (int32_t k = b->ptr[l]; k < b->ptr[l] + b->small[l]; k++) {
            s->numbers[s->list[k]].update = s->pool;
            s->pool += (int64_t)t->front[s->list[k]].rows * t->front[s->list[k]].rows;
        }
    const int64_t base = s->pool;
    for (int32_t l = 0; l < t->levels; l++) {
        for (int32_t k = b->ptr[l] + b->small[l]; k < b->ptr[l + 1]; k++) {
            const trs_front *f = &t->front[s->list[k]];
            live new = {.offset = base, .size = (int64_t)f->rows * f->rows};
            if (f->parent < 0) continue;
            new.until = t->front[f->parent].level;
            const int64_t at = pool_take(in_use, &count, new);
            s->numbers[s->list[k]].update = at;
            if (at + new.size > s->pool) s->pool = at + new.size;
        }
        pool_release(in_use, &count, l);
    }
    trs_free(&ctx->mem, in_use);
    return TRS_OK;
}

static void make_numbers(const trs_front_tree *t, bool cholesky, trs_front_schedule *s)
{
    for (int32_t k = 0; k < t->count; k++) {
        const trs_front *f = &t->front[k];
        trs_front_numbers *d = &s->numbers[k];
        const int64_t area = (int64_t)f->cols * order_of(f);
        *d = (trs_front_numbers){.lower = s->panels, .upper = -1, .diagonal = -1, .row = f->row};
        d->cols = f->cols;
        d->rows = f->rows;
        d->first = f->first;
        d->child = f->child;
        d->children = f->children;
        d->pivot_strips = (int32_t)parts_of(f->cols, TILE);
        d->strips = strips_of(f);
        s->panels += area;
        if (!cholesky) {
            d->upper = s->panels;
            s->panels += area;
        }
        if (is_small(f)) continue;
        d->diagonal = s->panels;
        s->panels += parts_of(f->cols, PANEL) * PANEL * PANEL;
    }
}

/* ---- launches ----------------------------------------------------------------------------------------------- */

/* Tiles of a trapezoid of `across` columns of tiles, the first `down` tiles high, each next one less. */
static int64_t trapezoid(int64_t down, int64_t across)
{
    return across * down - across * (across - 1) / 2;
}

static int64_t blocks_of(trs_front_step step, const trs_front *f, int32_t panel, bool cholesky)
{
    const int sides = cholesky ? 1 : 2;
    const int64_t begin = (int64_t)PANEL * panel;
    const int64_t behind = begin + PANEL < f->cols ? begin + PANEL : f->cols;
    const int64_t q = strips_of(f), r = parts_of(f->rows, TILE);
    switch (step) {
    case TRS_FRONT_STEP_SMALL:
        return 1;
    case TRS_FRONT_STEP_ASSEMBLE:
        return cholesky ? trapezoid(q, q) : q * q;
    case TRS_FRONT_STEP_PANEL:
        if (order_of(f) == behind) return 1;
        return sides * parts_of(order_of(f) - behind, TRS_FRONT_PANEL_ROWS);
    case TRS_FRONT_STEP_TRAIL:
        return sides *
               trapezoid(parts_of(order_of(f) - behind, TILE), parts_of(f->cols - behind, TILE));
    case TRS_FRONT_STEP_SCHUR:
        return cholesky ? trapezoid(r, r) : r * r;
    }
    return 0;
}

/* The parts of a schedule as it is made; filling = false: they are only counted. */
typedef struct maker {
    const trs_front_tree *t;
    trs_front_schedule *s;
    bool cholesky, filling, too_many;
} maker;

/* The blocks of a launch for the fronts list [begin .. end-1]; start [0 .. end-begin], NULL: only their number. */
static int64_t deal_blocks(const maker *m, trs_front_step step, int32_t begin, int32_t end,
                           int32_t panel, int32_t *start)
{
    int64_t blocks = 0;
    for (int32_t k = begin; k < end; k++) {
        if (start) start[k - begin] = (int32_t)blocks;
        blocks += blocks_of(step, &m->t->front[m->s->list[k]], panel, m->cholesky);
    }
    if (start) start[end - begin] = (int32_t)blocks;
    return blocks;
}

/* Launch a step of the fronts list [begin .. end-1], unless it has nothing to do. */
static void add_launch(maker *m, trs_front_step step, int32_t begin, int32_t end, int32_t panel)
{
    trs_front_schedule *s = m->s;
    const int64_t blocks = deal_blocks(m, step, begin, end, panel, NULL);
    if (blocks > INT32_MAX) m->too_many = true;
    if (blocks == 0) return;
    if (m->filling) {
        s->launch[s->launches] =
            (trs_front_launch){.step = step,
                               .fronts = end - begin,
                               .list = begin,
                               .start = s->starts,
                               .blocks = (int32_t)blocks,
                               .panel = panel,
                               .order = order_of(&m->t->front[s->list[begin]])};
        deal_blocks(m, step, begin, end, panel, s->start + s->starts);
    }
    s->starts += end - begin + 1;
    s->launches++;
}

/* The small fronts of a level descend in order; those of similar order share a launch, since its shared memory is what the
 * largest of them needs. */
static void add_small(maker *m, int32_t begin, int32_t end)
{
    static const int32_t least[] = {65, 33, 0};
    for (int c = 0; c < 3; c++) {
        int32_t next = begin;
        while (next < end && order_of(&m->t->front[m->s->list[next]]) >= least[c]) next++;
        if (next > begin) add_launch(m, TRS_FRONT_STEP_SMALL, begin, next, 0);
        begin = next;
    }
}

/* The large fronts of a level descend in columns, so that those which have a panel k come first. */
static void add_large(maker *m, int32_t begin, int32_t end)
{
    if (begin == end) return;
    const int32_t *list = m->s->list;
    const int32_t most = m->t->front[list[begin]].cols;
    add_launch(m, TRS_FRONT_STEP_ASSEMBLE, begin, end, 0);
    for (int32_t panel = 0; panel * PANEL < most; panel++) {
        int32_t last = begin;
        while (last < end && m->t->front[list[last]].cols > panel * PANEL) last++;
        add_launch(m, TRS_FRONT_STEP_PANEL, begin, last, panel);
        add_launch(m, TRS_FRONT_STEP_TRAIL, begin, last, panel);
    }
    add_launch(m, TRS_FRONT_STEP_SCHUR, begin, end, 0);
}

static void add_launches(maker *m, const by_level *b)
{
    m->s->launches = 0;
    m->s->starts = 0;
    for (int32_t l = 0; l < m->t->levels; l++) {
        const int32_t large = b->ptr[l] + b->small[l];
        add_small(m, b->ptr[l], large);
        add_large(m, large, b->ptr[l + 1]);
    }
}

static int make_launches(trs_context *ctx, maker *m, const by_level *b)
{
    trs_front_schedule *s = m->s;
    add_launches(m, b);
    if (m->too_many) return trs_fail(TRS_ESUPPORT, "a level has more than 2^31 tiles of fronts");
    s->launch = trs_new(ctx, s->launches, sizeof *s->launch, "launches");
    s->start = trs_new(ctx, s->starts, sizeof *s->start, "launches");
    if (!s->launch || !s->start) return TRS_EMEM;
    m->filling = true;
    add_launches(m, b);
    return TRS_OK;
}

/* ---- fronts by level ------------------------------------------------------------------------------------- */

/* What fronts of a level are ordered by. */
typedef struct sorted {
    int32_t front, key;
} sorted;

static int descending(const void *a, const void *b)
{
    const sorted *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return x->front < y->front ? -1 : 1;
}

/* The fronts by level: small ones by order, then large ones by columns. */
static void sort_level(const trs_front_tree *t, int32_t *list, int32_t count, int32_t *small,
                       sorted *w)
{
    *small = 0;
    for (int32_t k = 0; k < count; k++) {
        const trs_front *f = &t->front[list[k]];
        const bool is = is_small(f);
        *small += is;
        w[k] = (sorted){list[k], is ? INT32_MAX / 2 + order_of(f) : f->cols};
    }
    qsort(w, (size_t)count, sizeof *w, descending);
    for (int32_t k = 0; k < count; k++) list[k] = w[k].front;
}

static int list_levels(trs_context *ctx, const trs_front_tree *t, by_level *b,
                       trs_front_schedule *s)
{
    sorted *w = trs_new(ctx, t->count, sizeof *w, "fronts by level");
    if (!w) return TRS_EMEM;
    memset(b->ptr, 0, ((size_t)t->levels + 1) * sizeof *b->ptr);
    for (int32_t k = 0; k < t->count; k++) b->ptr[t->front[k].level + 1]++;
    for (int32_t l = 0; l < t->levels; l++) b->ptr[l + 1] += b->ptr[l], b->small[l] = b->ptr[l];
    for (int32_t k = 0; k < t->count; k++) s->list[b->small[t->front[k].level]++] = k;
    for (int32_t l = 0; l < t->levels; l++)
        sort_level(t, s->list + b->ptr[l], b->ptr[l + 1] - b->ptr[l], &b->small[l], w);
    trs_free(&ctx->mem, w);
    return TRS_OK;
}

/* ---- shares of children ------------------------------------------------------------------------------------ */

/* Count the shares of front k, or write them: next [strip] is where the next one of a strip goes. */
static void add_shares(const trs_front_tree *t, int32_t k, int64_t *next, trs_front_share *share)
{
    const trs_front *f = &t->front[k];
    for (int32_t c = 0; c < f->children; c++) {
        const int32_t child = t->child[f->child + c];
        const int32_t *to = t->to + t->front[child].row, rows = t->front[child].rows;
        for (int32_t begin = 0, end; begin < rows; begin = end) {
            const int32_t strip = strip_of(f->cols, to[begin]);
            for (end = begin; end < rows && strip_of(f->cols, to[end]) == strip;) end++;
            if (share) share[next[strip]] = (trs_front_share){child, begin, end};
            next[strip]++;
        }
    }
}

static int make_shares(trs_context *ctx, const trs_front_tree *t, trs_front_schedule *s)
{
    for (int32_t k = 0; k < t->count; k++) {
        if (s->numbers[k].diagonal < 0) continue;
        s->numbers[k].strip = s->strips;
        s->strips += strips_of(&t->front[k]);
    }
    s->strip_ptr = trs_alloc_zero(&ctx->mem, s->strips + 2, sizeof *s->strip_ptr);
    if (!s->strip_ptr) return trs_fail(TRS_EMEM, "out of memory for the strips of fronts");
    /* while they are written next [k] moves to the end of strip k */
    int64_t *next = s->strip_ptr + 1;
    for (int32_t k = 0; k < t->count; k++)
        if (s->numbers[k].diagonal >= 0) add_shares(t, k, next + 1 + s->numbers[k].strip, NULL);
    for (int64_t k = 0; k <= s->strips; k++) next[k] += next[k - 1];
    s->shares = next[s->strips];
    s->share = trs_new(ctx, s->shares, sizeof *s->share, "shares of fronts");
    if (!s->share) return TRS_EMEM;
    for (int32_t k = 0; k < t->count; k++)
        if (s->numbers[k].diagonal >= 0) add_shares(t, k, next + s->numbers[k].strip, s->share);
    return TRS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

int trs_front_schedule_make(trs_context *ctx, const trs_front_tree *t, bool cholesky,
                            trs_front_schedule *s)
{
    by_level b;
    maker m = {.t = t, .s = s, .cholesky = cholesky};
    *s = (trs_front_schedule){.launches = 0};
    b.ptr = trs_new(ctx, t->levels + 1ll, sizeof *b.ptr, "fronts by level");
    b.small = trs_new(ctx, t->levels + 1ll, sizeof *b.small, "fronts by level");
    s->list = trs_new(ctx, t->count, sizeof *s->list, "fronts by level");
    s->numbers = trs_new(ctx, t->count, sizeof *s->numbers, "fronts");
    int rc = b.ptr && b.small && s->list && s->numbers ? TRS_OK : TRS_EMEM;
    if (!rc) rc = list_levels(ctx, t, &b, s);
    if (!rc) {
        make_numbers(t, cholesky, s);
        rc = make_pool(ctx, t, &b, s);
    }
    if (!rc) rc = make_shares(ctx, t, s);
    if (!rc) rc = make_launches(ctx, &m, &b);
    trs_free(&ctx->mem, b.ptr);
    trs_free(&ctx->mem, b.small);
    return rc;
}

void trs_front_schedule_free(trs_context *ctx, trs_front_schedule *s)
{
    trs_free(&ctx->mem, s->launch);
    trs_free(&ctx->mem, s->list);
    trs_free(&ctx->mem, s->start);
    trs_free(&ctx->mem, s->numbers);
    trs_free(&ctx->mem, s->strip_ptr);
    trs_free(&ctx->mem, s->share);
    *s = (trs_front_schedule){.launches = 0};
}
