/* cut.c: where to cut a triangle in two, and who should solve each stretch.
 *
 *     [ A    ]     x(head) = A^-1 b(head),   x(tail) = C^-1 (b(tail) - B x(head))
 *     [ B  C ]
 *
 * Rows get ranks, so that each row depends on lower ranks only: the levels of rows; of blocks of rows where supernodes
 * were looked for, once counted from the first and once from the last ones, because the transpose of what has a dense
 * tail has a dense head.  The head is the rows of all ranks below one.  What every solver would take for A and C is
 * predicted for some hundred cuts from sums over the ranks: O(n + nnz) for the sums, which are done only if what is
 * known without them promises enough.  Everything here follows from the pattern, from whether
 * supernodes were looked for, and from the options nrhs and memory_limit, by the costs built in and not by the
 * machine's, since the bits of x go by it. */
#include "config.h"

#include "cut.h"

#include "select/select.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* One solver must be predicted to take so many times as long. */
static const double ENOUGH = 1.1;

typedef struct rank { /* sums; first of the rank, then of all lower ones */
    int64_t rows, entries;
    int64_t inner; /* entries in columns of the rank */
    int64_t blocks, chained, wide, store;
    int64_t longest, widest; /* the most of one */
    int32_t low, high;       /* levels of rows: of this rank and those above; of lower ones */
} rank;

typedef struct level_sum { /* of all levels before one */
    int64_t entries, thin, wide;
} level_sum;

typedef struct ranks {
    const trs_context *ctx;
    const trs_side *side;
    trs_machine machine;
    trs_shape whole;
    int32_t count;
    int32_t branches; /* from here on no row has two entries, beside its own, in such ranks */
    int32_t *of_row;  /* [n] */
    rank *at;         /* [count+1] */
    level_sum *level; /* [levels+1] */
} ranks;

/* ---- what it takes ------------------------------------------------------------------------------- */

/* To gather, to multiply and to scatter; measured, that costs five launches. */
static double product(const trs_stretches *s, const trs_machine *m)
{
    const trs_shape *head = &s->shape[0], *tail = &s->shape[1];
    const double entries = (double)s->between * head->nrhs, elem = head->elem;
    const double numbers = (double)(2 * head->n + 3 * tail->n) * head->nrhs;
    return 5 * m->gpu_launch + entries * ((elem + 4) * m->gpu_byte + m->gpu_gather / 2) +
           numbers * 2 * elem * m->gpu_byte;
}

void trs_stretches_cost(const trs_stretches *s, const trs_machine *m, trs_cost *c)
{
    for (int k = 0; k < 2; k++) {
        trs_cost one = {0};
        s->solver[k]->cost(&s->shape[k], m, &one);
        c->bytes += one.bytes;
        c->sync += one.sync;
        c->hops += one.hops;
        c->copies += one.copies;
    }
    c->bytes += product(s, m);
}

/* Not who guesses, neither a stretch nor, as a measure, the whole: what levels merge into is not known here. */
static bool may_solve(const trs_context *ctx, const trs_solver *s, const trs_shape *shape)
{
    const unsigned caps = TRS_CAP_BITWISE | TRS_CAP_CAPTURE;
    return s->family == TRS_TRIANGLE && s->place == TRS_ON_CUDA && (s->caps & caps) == caps &&
           !s->library && !s->stretches && !s->guesses && !(s->supernodes && !shape->blocks) &&
           !(s->strips && !shape->strips) && !(s->full && trs_inverts_blindly(s)) &&
           trs_fits(s, shape, ctx->limit);
}

static double cheapest(const ranks *r, const trs_shape *shape, const trs_solver **who)
{
    double least = INFINITY;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        trs_cost c = {0};
        if (!may_solve(r->ctx, s, shape)) continue;
        s->cost(shape, &r->machine, &c);
        const double t = c.bytes + c.sync + c.hops + c.copies;
        if (t < least) least = t, *who = s;
    }
    return least;
}

/* ---- shapes ---------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of levels from..to-1 of the whole, as far as the sums tell. */
static trs_shape shape_of(const ranks *r, int64_t n, int64_t nnz, int64_t from, int64_t to)
{
    const level_sum *a = &r->level[from], *b = &r->level[to];
    trs_shape s = r->whole;
    s.n = n;
    s.nnz = nnz;
    s.levels = least(to - from, n);
    s.sum_longest *= (double)s.levels / (double)r->whole.levels;
    s.thin_entries = (double)nnz * (double)(b->thin - a->thin) / (double)(b->entries - a->entries);
    s.wide_levels = least(b->wide - a->wide, s.levels);
    s.strips = s.strips * n / r->whole.n;
    s.waiting = 1; /* not looked at */
    s.stretches = NULL;
    return s;
}

static void shapes_at(const ranks *r, int32_t k, trs_stretches *s)
{
    const rank *a = &r->at[k], *all = &r->at[r->count];
    trs_shape *head = &s->shape[0], *tail = &s->shape[1];
    *head = shape_of(r, a->rows, a->entries, 0, a->high + 1);
    *tail = shape_of(r, all->rows - a->rows, all->inner - a->inner, a->low, r->whole.levels);
    s->between = most(all->entries - a->entries - tail->nnz, 0);
    head->longest = a->longest;
    head->widest = least(a->blocks ? r->whole.widest : a->widest, head->n);
    tail->longest = k > r->branches ? 2 : least(all->longest, tail->n);
    tail->widest = least(r->whole.widest, 2 * tail->n / tail->levels);
    head->blocks = a->blocks;
    head->wide_blocks = a->wide;
    head->store = a->store;
    head->height = head->blocks ? k : 0;
    tail->blocks = all->blocks - a->blocks;
    tail->wide_blocks = all->wide - a->wide;
    tail->store = all->store - a->store;
    tail->height = tail->blocks ? r->count - k : 0;
    head->chained = a->chained;
    tail->chained = all->chained - a->chained;
    for (int i = 0; i < 2 && r->whole.blocks; i++) {
        trs_shape *part = &s->shape[i];
        const double share = (double)part->height / (double)r->whole.height;
        part->wide_steps = (int64_t)(share * (double)r->whole.wide_steps);
        part->tasks = r->whole.tasks * part->blocks / r->whole.blocks;
        part->narrow_rows = share * r->whole.narrow_rows;
    }
}

/* ---- sums over the ranks ------------------------------------------------------------------------------ */

static void add(rank *to, const rank *a)
{
    to->rows += a->rows;
    to->entries += a->entries;
    to->inner += a->inner;
    to->blocks += a->blocks;
    to->chained += a->chained;
    to->wide += a->wide;
    to->store += a->store;
    to->longest = most(to->longest, a->longest);
    to->widest = most(to->widest, a->rows);
    to->high = (int32_t)most(to->high, a->high);
}

static void sum_up(ranks *r)
{
    rank sum = {0};
    int32_t low = INT32_MAX;
    for (int32_t k = 0; k <= r->count; k++) {
        const rank here = r->at[k];
        const int32_t from = here.low;
        r->at[k] = sum;
        r->at[k].low = from;
        if (k < r->count) add(&sum, &here);
    }
    for (int32_t k = r->count; k >= 0; k--)
        r->at[k].low = low = (int32_t)least(k < r->count ? r->at[k].low : low, low);
}

/* Entries of each level are those of its rows, or, for a guess, as many as others have. */
static void sum_levels(ranks *r, bool evenly)
{
    const trs_levels *lv = &r->side->lv;
    const int64_t *Lp = r->side->tri.ptr;
    const double each = (double)r->whole.nnz / (double)r->whole.n;
    r->level[0] = (level_sum){0};
    for (int32_t l = 0; l < lv->count; l++) {
        int64_t entries = 0;
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1] && !evenly; k++)
            entries += Lp[lv->topo[k] + 1] - Lp[lv->topo[k]];
        if (evenly) entries = (int64_t)((lv->ptr[l + 1] - lv->ptr[l]) * each);
        const bool thin = entries < TRS_THIN;
        r->level[l + 1] = r->level[l];
        r->level[l + 1].entries += entries;
        r->level[l + 1].thin += thin ? entries : 0;
        r->level[l + 1].wide += !thin;
    }
}

/* As far as is known from where the levels begin: entries are thought to be spread evenly, none between stretches,
 * and to be no more than two a row where levels are that thin. */
static void guess(ranks *r)
{
    const trs_levels *lv = &r->side->lv;
    const double each = (double)r->whole.nnz / (double)r->whole.n;
    r->count = r->branches = lv->count;
    for (int32_t l = 0; l <= lv->count; l++) {
        const int32_t rows = l < lv->count ? lv->ptr[l + 1] - lv->ptr[l] : 0;
        const int64_t entries = (int64_t)(rows * each);
        r->at[l] = (rank){rows, entries, entries, 0, 0, 0, 0, r->whole.longest, rows, l, l};
    }
    while (r->branches > 0 && r->at[r->branches - 1].rows <= 2) r->branches--;
    sum_up(r);
}

typedef struct reading { /* the rows, in pieces */
    ranks *r;
    const int32_t *level;
    rank *at; /* [pieces][count] */
    int64_t pieces;
    _Atomic int32_t branches;
} reading;

/* The second highest rank of a row's columns is where two of them are in one stretch still. */
static void read_row(const ranks *r, rank *at, int32_t i, int32_t level, int32_t *branches)
{
    const trs_tri *t = &r->side->tri;
    const int32_t own = r->of_row[i];
    rank *a = &at[own];
    int32_t first = -1, second = -1;
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
        const int32_t k = r->of_row[t->idx[p]];
        at[k].inner++;
        if (t->idx[p] == i) continue;
        if (k > first) second = first, first = k;
        else if (k > second) second = k;
    }
    const int64_t entries = t->ptr[i + 1] - t->ptr[i];
    a->low = a->rows ? (int32_t)least(a->low, level) : level;
    a->high = (int32_t)most(a->high, level);
    a->rows++;
    a->entries += entries;
    a->longest = most(a->longest, entries);
    *branches = (int32_t)most(*branches, second);
}

static void read_some(void *user, int64_t begin, int64_t end)
{
    reading *all = user;
    const ranks *r = all->r;
    const int64_t n = r->whole.n;
    for (int64_t piece = begin; piece < end; piece++) {
        int32_t branches = 0, was = all->branches;
        for (int64_t i = n * piece / all->pieces; i < n * (piece + 1) / all->pieces; i++)
            read_row(r, all->at + piece * r->count, (int32_t)i, all->level[i], &branches);
        while (branches > was && !atomic_compare_exchange_weak(&all->branches, &was, branches))
            continue;
    }
}

/* Of all rows, added to what is at the ranks; in no more pieces than leave their sums smaller than the triangle. */
static int read_rows(ranks *r, const int32_t *level)
{
    const trs_context *ctx = r->ctx;
    const int64_t team = trs_team(ctx, r->whole.nnz);
    const int64_t pieces = most(1, least(team, r->whole.nnz / (8 * (int64_t)r->count)));
    reading all = {r, level, NULL, pieces, 0};
    all.at = trs_alloc_zero(&ctx->mem, pieces * r->count, sizeof *all.at);
    if (!all.at) return TRS_EMEM;
    trs_share((int)pieces, pieces, 1, read_some, &all);
    for (int32_t k = 0; k < r->count; k++) {
        rank *a = &r->at[k];
        a->low = INT32_MAX;
        for (int64_t piece = 0; piece < pieces; piece++) {
            const rank *b = &all.at[piece * r->count + k];
            if (b->rows) a->low = (int32_t)least(a->low, b->low);
            add(a, b);
        }
        a->widest = a->rows;
    }
    r->branches = all.branches;
    trs_free(&ctx->mem, all.at);
    sum_up(r);
    return TRS_OK;
}

/* Nearly the same from blocks, whose zeros are entries spread evenly; O(n + columns of stages). */
static void read_blocks(ranks *r, const int32_t *level)
{
    const trs_supernodes *s = &r->side->super;
    const int64_t *Lp = r->side->tri.ptr;
    const double entries = (double)r->whole.nnz / (double)s->stored;
    for (int32_t k = 0; k < r->count; k++) r->at[k].low = INT32_MAX;
    for (int32_t i = 0; i < r->side->tri.n; i++) {
        rank *a = &r->at[r->of_row[i]];
        a->rows++;
        a->entries += Lp[i + 1] - Lp[i];
        a->longest = most(a->longest, Lp[i + 1] - Lp[i]);
        a->low = (int32_t)least(a->low, level[i]);
        a->high = (int32_t)most(a->high, level[i]);
    }
    for (int32_t e = 0; e < s->panels; e++) {
        const trs_panel *panel = &s->panel[e];
        const int32_t *column = s->column + panel->column;
        const double each = entries * __builtin_popcountll(panel->row_mask);
        for (int32_t c = 0, last; c < panel->columns; c = last) {
            const int32_t at = r->of_row[column[c]];
            for (last = c + 1; last < panel->columns && column[last] == column[last - 1] + 1 &&
                               r->of_row[column[last]] == at;)
                last++;
            r->at[at].inner += (int64_t)(each * (last - c));
        }
    }
    for (int32_t k = 0; k < r->count; k++) r->at[k].widest = r->at[k].rows;
    r->branches = r->count;
    sum_up(r);
}

/* ---- ranks -------------------------------------------------------------------------------------------- */

static void levels_of_rows(const trs_levels *lv, int32_t *level)
{
    for (int32_t l = 0; l < lv->count; l++)
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) level[lv->topo[k]] = l;
}

static void blocks_of_rows(const trs_supernodes *s, int32_t *block)
{
    for (int32_t t = 0; t < s->count; t++)
        for (int32_t i = 0; i < s->supernode[t].rows; i++) block[s->supernode[t].first + i] = t;
}

/* Ranks of blocks, counted from the first ones. */
static void from_first(const trs_supernodes *s, int32_t *of)
{
    for (int32_t k = 0; k < s->panels; k++)
        of[s->panel[k].supernode] =
            (int32_t)most(of[s->panel[k].supernode], (int64_t)s->panel[k].level + 1);
}

/* From the last ones; blocks of a panel may have one rank.  Stages stand in the order of the rows, so those of whoever
 * needs a block are behind its own. */
static void from_last(const trs_supernodes *s, const int32_t *block_of, int32_t *of)
{
    for (int32_t k = 0; k < s->count; k++) of[k] = s->depth - 1;
    for (int32_t e = s->panels - 1; e >= 0; e--) {
        const trs_panel *panel = &s->panel[e];
        for (int32_t c = panel->column; c < panel->column + panel->columns; c++) {
            const int32_t needed = block_of[s->column[c]];
            if (needed != panel->supernode)
                of[needed] = (int32_t)least(of[needed], of[panel->supernode] - (panel->level >= 0));
        }
    }
}

/* What blocks keep, at their ranks; then r->of_row from blocks to ranks. */
static void take_blocks(ranks *r, const int32_t *of)
{
    const trs_supernodes *s = &r->side->super;
    for (int32_t k = 0; k < s->count; k++) {
        r->at[of[k]].blocks++;
        r->at[of[k]].chained = most(r->at[of[k]].chained, s->supernode[k].chain_place);
        r->at[of[k]].wide += s->supernode[k].rows > TRS_SMALL;
    }
    for (int32_t e = 0; e < s->panels; e++) {
        const trs_panel *panel = &s->panel[e];
        r->at[of[panel->supernode]].store +=
            (int64_t)__builtin_popcountll(panel->row_mask) * ((panel->columns + 3) / 4 * 4);
    }
    for (int32_t i = 0; i < r->side->tri.n; i++) r->of_row[i] = of[r->of_row[i]];
}

static int rank_by_blocks(ranks *r, bool last, const int32_t *level, bool nearly)
{
    const trs_memory *mem = &r->ctx->mem;
    const trs_supernodes *s = &r->side->super;
    int32_t *of = trs_alloc_zero(mem, s->count, sizeof *of);
    if (!of) return TRS_EMEM;
    r->count = s->depth;
    memset(r->at, 0, ((size_t)r->count + 1) * sizeof *r->at);
    blocks_of_rows(s, r->of_row);
    if (last) from_last(s, r->of_row, of);
    else from_first(s, of);
    take_blocks(r, of);
    trs_free(mem, of);
    if (!nearly) return read_rows(r, level);
    read_blocks(r, level);
    return TRS_OK;
}

static int rank_by_levels(ranks *r, const int32_t *level)
{
    r->count = r->side->lv.count;
    memset(r->at, 0, ((size_t)r->count + 1) * sizeof *r->at);
    memcpy(r->of_row, level, (size_t)r->side->tri.n * sizeof *level);
    return read_rows(r, level);
}

/* ---- the cut -------------------------------------------------------------------------------------------- */

typedef struct found {
    double seconds;
    trs_stretches s;
} found;

static bool grows(int64_t now, int64_t was)
{
    return 4 * now > 5 * was;
}

/* Not every cut: of the head or of the tail, rows or ranks differ by so much from the cut tried before. */
static bool differs(const ranks *r, int32_t k, int32_t before)
{
    const int64_t n = r->whole.n, head = r->at[k].rows, was = r->at[before].rows;
    return before == 0 || grows(head, was) || grows(n - was, n - head) || grows(k, before) ||
           grows(r->count - before, r->count - k);
}

static bool look(const ranks *r, found *best)
{
    bool better = false;
    for (int32_t k = 1, before = 0; k < r->count; k++) {
        if (r->at[k].rows == 0 || r->at[k].rows == r->whole.n || !differs(r, k, before)) continue;
        found f = {.s.rank = k};
        before = k;
        shapes_at(r, k, &f.s);
        f.seconds = product(&f.s, &r->machine);
        for (int e = 0; e < 2; e++) f.seconds += cheapest(r, &f.s.shape[e], &f.s.solver[e]);
        if (f.seconds < best->seconds) *best = f, better = true;
    }
    return better;
}

/* Rows of lower ranks than the cut, then the others. */
static void sort_rows(const ranks *r, trs_stretches *s)
{
    int32_t head = 0, tail = (int32_t)s->shape[0].n;
    for (int32_t i = 0; i < r->side->tri.n; i++)
        s->row[r->of_row[i] < s->rank ? head++ : tail++] = i;
}

typedef enum kind { BY_LEVELS, BY_BLOCKS, BY_LAST_BLOCKS } kind;

/* Keep the rows of the best cut of this kind, if it is better than those before. */
static int look_closely(ranks *r, kind by, const int32_t *level, found *best, int32_t *row)
{
    const bool last = by == BY_LAST_BLOCKS;
    found nearly = *best;
    int rc = TRS_OK;
    if (by != BY_LEVELS) {
        rc = rank_by_blocks(r, last, level, true);
        if (rc || !look(r, &nearly)) return rc;
        rc = rank_by_blocks(r, last, level, false);
    } else rc = rank_by_levels(r, level);
    if (rc || !look(r, best)) return rc;
    best->s.row = row;
    sort_rows(r, &best->s);
    return TRS_OK;
}

/* Does what is known so far promise enough? */
static bool promises(ranks *r, double seconds)
{
    found best = {.seconds = seconds};
    sum_levels(r, true);
    guess(r);
    return look(r, &best);
}

/* side->stretches, if a cut of these kinds takes less than so many seconds. */
static int find(ranks *r, trs_side *side, bool levels, bool blocks, double seconds)
{
    const trs_memory *mem = &r->ctx->mem;
    found best = {.seconds = seconds};
    int32_t *level = trs_alloc(mem, side->tri.n, sizeof *level);
    int32_t *row = trs_alloc(mem, side->tri.n, sizeof *row);
    int rc = level && row ? TRS_OK : TRS_EMEM;
    if (!rc) levels_of_rows(&side->lv, level);
    if (!rc) sum_levels(r, false);
    if (!rc && levels) rc = look_closely(r, BY_LEVELS, level, &best, row);
    if (!rc && blocks) rc = look_closely(r, BY_BLOCKS, level, &best, row);
    if (!rc && blocks) rc = look_closely(r, BY_LAST_BLOCKS, level, &best, row);
    trs_free(mem, level);
    if (!rc && best.s.row) side->stretches = best.s;
    else trs_free(mem, row);
    return rc;
}

/* What promises enough is found first, and so is the same anyhow. */
static int find_enough(ranks *r, trs_side *side, bool anyhow)
{
    const trs_solver *one = NULL;
    const double enough = cheapest(r, &r->whole, &one) / ENOUGH;
    const bool blocks = side->super.supernode && side->super.large > 0; /* for a dense end */
    const bool levels = promises(r, enough);
    int rc = levels || blocks ? find(r, side, levels, blocks, enough) : TRS_OK;
    if (!rc && anyhow && !side->stretches.row) rc = find(r, side, true, blocks, INFINITY);
    return rc;
}

int trs_stretches_find(trs_context *ctx, trs_side *side, bool anyhow)
{
    const trs_levels *lv = &side->lv;
    ranks r = {.ctx = ctx, .side = side};
    trs_context built_in = {0};
    if (side->stretches.row || lv->count < 2 || !(anyhow || lv->count < side->tri.n)) return TRS_OK;
    const int64_t count = most(lv->count, side->super.depth);
    trs_machine_built_in(&built_in, 9, 0, 6016);
    r.machine = built_in.machine;
    trs_shape_of(ctx, side, &r.whole);
    r.whole.stretches = NULL;
    r.of_row = trs_alloc(&ctx->mem, side->tri.n, sizeof *r.of_row);
    r.at = trs_alloc(&ctx->mem, count + 1, sizeof *r.at);
    r.level = trs_alloc(&ctx->mem, (int64_t)lv->count + 1, sizeof *r.level);
    const int rc = r.of_row && r.at && r.level ? find_enough(&r, side, anyhow) : TRS_EMEM;
    trs_free(&ctx->mem, r.level);
    trs_free(&ctx->mem, r.of_row);
    trs_free(&ctx->mem, r.at);
    return rc ? trs_fail(rc, "out of memory for stretches") : TRS_OK;
}

void trs_stretches_free(trs_context *ctx, trs_stretches *s)
{
    trs_free(&ctx->mem, s->row);
    s->row = NULL;
}
