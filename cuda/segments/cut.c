/* cut.c: where to cut a triangle in two, and who should solve the head and the tail.
 *
 *     [ A    ]     x_A = A^-1 b_A
 *     [ B  C ]     x_C = C^-1 (b_C - B x_A)
 *
 * A triangle whose rows differ (a sparse beginning and a dense end, a wide beginning and a long thin end) has no solver
 * that suits all of it.  Every rank of ranks.h is a place for a cut; of some hundred of them, of all three kinds, the
 * one is taken that minimises
 *
 *     t (k) = min over s of t_s (A) + t_product (B) + min over s of t_s (C)
 *
 * where t_s is what solver s is predicted to take for a triangle with the features of A, or of C.  These features come
 * from sums over ranks and over levels.  The cut is worth it where t (k) is clearly below min over s of t_s (T).  The
 * sums cost O(n + nnz), so they are made only where a prediction from the sizes of the levels alone promises that much.
 *
 * Where a triangle is cut decides the bits of x.  So all of this follows from the pattern, from whether supernodes were
 * looked for, from the options nrhs and memory_limit and from whether the plan has to refresh, by the costs of steps that
 * are built in.  Costs measured on this machine are not used, nor does the number of threads make a difference. */
#include "config.h"

#include "cut.h"
#include "ranks.h"

#include "base/debug.h"
#include "select/select.h"

#include <math.h>
#include <string.h>

typedef struct level_sum { /* of all levels before one */
    int64_t entries;
    int64_t thin; /* entries in levels with fewer than TRS_THIN */
    int64_t wide; /* levels with more */
} level_sum;

typedef struct search {
    trs_operator *op;
    trs_machine machine; /* the built-in table */
    trs_prospect whole;
    const trs_supernodes *blocks; /* of the whole; NULL: none */
    level_sum *level;             /* [levels+1] */
    ranks ranks;
} search;

/* ---- what it takes ------------------------------------------------------------------------------- */

/* Seconds of t_product: x_A and b_C are gathered, B is multiplied, x is scattered.  These kernels take
 * some launches beside what they move. */
static double product(const trs_cut *s, const trs_machine *m)
{
    const trs_shape *head = &s->part[0].shape, *tail = &s->part[1].shape;
    const double entries = (double)s->coupling * head->nrhs, elem = head->elem;
    const double numbers = (double)(2 * head->n + 3 * tail->n) * head->nrhs;
    return m->segments_launches * m->gpu_launch +
           entries * ((elem + 4) * m->gpu_byte + m->gpu_gather * m->segments_gather) +
           numbers * 2 * elem * m->gpu_byte;
}

void trs_cut_prospect(const trs_cut_part *part, int64_t limit, trs_prospect *p)
{
    *p = (trs_prospect){.shape = part->shape, .limit = limit};
    if (part->blocks.count) {
        p->feature[0].of = &trs_supernode_analysis;
        p->feature[0].result = &part->blocks;
        p->features = 1;
    }
    for (int k = 0; k < part->scaled; k++, p->features++) {
        p->feature[p->features].of = part->feature[k].of;
        p->feature[p->features].result = part->feature[k].data;
    }
}

void trs_cut_cost(const trs_cut *s, const trs_machine *m, trs_cost *c)
{
    for (int k = 0; k < 2; k++) {
        trs_prospect p;
        trs_cost one = {0};
        trs_cut_prospect(&s->part[k], 0, &p);
        (void)s->part[k].solver->estimate(&p, NULL, m, &one); /* not NULL: it was asked before */
        trs_cost_add(c, &one);
    }
    c->bytes += product(s, m);
    c->update +=
        3 * m->gpu_launch; /* the values of the coupling block, of the head and of the tail */
}

/* Does the solver keep what cuda-segments promises, the same bits every time and that it can be captured, wherever the
 * library runs, and does it refresh if the plan wants that?  It is not cuda-segments itself. */
static bool keeps_promises(const search *r, const trs_solver *s)
{
    const unsigned caps = TRS_CAP_BITWISE | TRS_CAP_CAPTURE;
    return s->family == TRS_TRIANGLE && s->place == TRS_ON_CUDA && (s->caps & caps) == caps &&
           !s->library && strcmp(s->name, "cuda-segments") &&
           (s->refreshes || !r->op->ctx->refreshes);
}

/* Seconds of the fastest solver for such a triangle, and which one it is; INFINITY: there is none.  Solvers are left
 * out whose estimate before the build is `preliminary`: cuda-merged, which finds out only there how far levels can be
 * rewritten.  Such a solver may not have the head or the tail, because nobody reconsiders the cut when its estimate
 * turns out to be too low.  Nor does it count for the whole, because then too low an estimate would keep a cut from
 * being found that pays. */
static double cheapest(const search *r, const trs_prospect *p, const trs_solver **who)
{
    double least = INFINITY;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        trs_cost c = {0};
        if (!keeps_promises(r, s) || (s->full && trs_inverts_blindly(s)) || !trs_fits(s, p))
            continue;
        if (s->estimate(p, NULL, &r->machine, &c) || c.preliminary) continue;
        const double t = trs_seconds(&c);
        if (t < least) least = t, *who = s;
    }
    return least;
}

/* ---- shapes ---------------------------------------------------------------------------------------- */

/* Of n rows with nnz entries that stand in levels from..to-1 of the whole triangle: what is not known of them is taken
 * to be spread evenly over these levels. */
static trs_shape shape_of(const search *r, int64_t n, int64_t nnz, int64_t from, int64_t to)
{
    const level_sum *a = &r->level[from], *b = &r->level[to];
    trs_shape s = r->whole.shape;
    TRS_ASSERT(from >= 0 && from < to && to <= r->whole.shape.levels);
    s.n = n;
    s.nnz = nnz;
    s.levels = least(to - from, n);
    s.sum_longest *= (double)s.levels / (double)r->whole.shape.levels;
    s.thin_entries = (double)nnz * (double)(b->thin - a->thin) / (double)(b->entries - a->entries);
    s.wide_levels = least(b->wide - a->wide, s.levels);
    s.waiting = 1; /* the worst: which rows wait for the one just before is not looked at */
    return s;
}

/* The features of supernodal blocks of a part, from the sum over them and its number of ranks. */
static void shape_of_blocks(const rank_sum *sum, int32_t depth, const trs_supernodes *whole,
                            trs_supernodes *part)
{
    part->count = (int32_t)sum->blocks;
    part->large = (int32_t)sum->wide;
    part->stored = sum->store;
    part->chain_links = (int32_t)sum->chained;
    part->depth = part->count ? depth : 0;
    if (!whole) return;
    const double share = (double)part->depth / (double)whole->depth;
    part->large_levels = (int32_t)(share * (double)whole->large_levels);
    part->tasks = (int32_t)((int64_t)whole->tasks * part->count / whole->count);
    part->small_rows = (int64_t)(share * (double)whole->small_rows);
}

/* What other analyses of the whole, made for its own estimates, say of a part. */
static void scale_features(const search *r, trs_cut_part *part)
{
    const double share = (double)part->shape.n / (double)r->whole.shape.n;
    const trs_analysis *a;
    const void *whole;
    for (int k = 0; (a = trs_operator_analysis_at(r->op, k, &whole)) != NULL; k++) {
        if (!a->scale || part->scaled == TRS_MOST_FEATURES - 1) continue;
        TRS_ASSERT(a->size <= TRS_PART_FEATURE_BYTES);
        part->feature[part->scaled].of = a;
        a->scale(whole, share, part->feature[part->scaled++].data);
    }
}

/* Of the cut at rank k. */
static void shapes_at(const search *r, int32_t k, trs_cut *s)
{
    const head_sum *h = &r->ranks.head[k];
    const rank_sum *a = &h->sum, *all = &r->ranks.head[r->ranks.count].sum;
    trs_shape *head = &s->part[0].shape, *tail = &s->part[1].shape;
    *head = shape_of(r, a->rows, a->row_entries, 0, a->last_level + 1);
    *tail = shape_of(r, all->rows - a->rows, all->column_entries - a->column_entries, h->tail_level,
                     r->whole.shape.levels);
    s->coupling = most(all->row_entries - a->row_entries - tail->nnz, 0);
    head->longest = a->longest;
    head->widest = least(a->blocks ? r->whole.shape.widest : h->widest, head->n);
    tail->longest = k > r->ranks.chains_above ? 2 : least(all->longest, tail->n);
    tail->widest = least(r->whole.shape.widest, 2 * tail->n / tail->levels);
    const rank_sum rest = {.blocks = all->blocks - a->blocks,
                           .wide = all->wide - a->wide,
                           .store = all->store - a->store,
                           .chained = all->chained - a->chained};
    shape_of_blocks(a, k, r->blocks, &s->part[0].blocks);
    shape_of_blocks(&rest, r->ranks.count - k, r->blocks, &s->part[1].blocks);
    for (int i = 0; i < 2; i++) scale_features(r, &s->part[i]);
}

/* Sums over the levels: of the entries of their rows, or, evenly, as if all rows had the same number. */
static void sum_levels(search *r, bool evenly)
{
    const trs_levels *lv = &r->op->lv;
    const int64_t *Lp = r->op->tri.ptr;
    const double each = (double)r->whole.shape.nnz / (double)r->whole.shape.n;
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

/* ---- the best cut --------------------------------------------------------------------------------------- */

typedef struct found {
    double seconds;
    trs_cut s;
} found;

static bool grows(int64_t now, int64_t was)
{
    return 4 * now > 5 * was;
}

/* Is the cut at rank k worth a prediction, after that at rank `before`?  Predictions differ little as long as rows and
 * ranks of the head and of the tail are the same to a quarter. */
static bool differs(const search *r, int32_t k, int32_t before)
{
    const ranks *all = &r->ranks;
    const int64_t n = r->whole.shape.n, head = all->head[k].sum.rows,
                  was = all->head[before].sum.rows;
    return before == 0 || grows(head, was) || grows(n - was, n - head) || grows(k, before) ||
           grows(all->count - before, all->count - k);
}

/* The best cut of these ranks, if it takes less than *best; false: there is none. */
static bool look(const search *r, found *best)
{
    bool better = false;
    for (int32_t k = 1, before = 0; k < r->ranks.count; k++) {
        const int64_t rows = r->ranks.head[k].sum.rows;
        if (rows == 0 || rows == r->whole.shape.n || !differs(r, k, before)) continue;
        found f = {.s.rank = k};
        before = k;
        shapes_at(r, k, &f.s);
        f.seconds = product(&f.s, &r->machine);
        for (int e = 0; e < 2; e++) {
            trs_prospect p;
            trs_cut_prospect(&f.s.part[e], r->whole.limit, &p);
            f.seconds += cheapest(r, &p, &f.s.part[e].solver);
        }
        if (f.seconds < best->seconds) *best = f, better = true;
    }
    return better;
}

/* s->row = row: rows of the ranks below that of the cut, then the others. */
static void sort_rows(const ranks *r, int32_t *row, trs_cut *s)
{
    const int32_t n = r->op->tri.n, rows = (int32_t)s->part[0].shape.n;
    int32_t head = 0, tail = rows;
    s->row = row;
    for (int32_t i = 0; i < n; i++) row[r->of_row[i] < s->rank ? head++ : tail++] = i;
    TRS_ASSERT(head == rows && tail == n);
}

/* Cuts by levels of rows, if one of them takes less than *best; its rows then stand in row [n]. */
static int look_at_levels(search *r, const int32_t *level, found *best, int32_t *row)
{
    const int rc = trs_ranks_by_levels(&r->ranks, level);
    if (rc || !look(r, best)) return rc;
    sort_rows(&r->ranks, row, &best->s);
    return TRS_OK;
}

/* The same by levels of blocks: the entries are read only where an estimate from the blocks promises enough. */
static int look_at_blocks(search *r, bool from_last, const int32_t *level, found *best,
                          int32_t *row)
{
    found estimated = *best;
    int rc = trs_ranks_by_blocks(&r->ranks, from_last, true, level);
    if (rc || !look(r, &estimated)) return rc;
    rc = trs_ranks_by_blocks(&r->ranks, from_last, false, level);
    if (rc || !look(r, best)) return rc;
    sort_rows(&r->ranks, row, &best->s);
    return TRS_OK;
}

static void levels_of_rows(const trs_levels *lv, int32_t *level)
{
    for (int32_t l = 0; l < lv->count; l++)
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) level[lv->topo[k]] = l;
}

/* The best cut of the kinds that are wanted, if it takes less than that many seconds. */
static int look_closely(search *r, bool levels, bool blocks, const int32_t *level, found *best,
                        int32_t *row)
{
    int rc = TRS_OK;
    sum_levels(r, false);
    if (levels) rc = look_at_levels(r, level, best, row);
    if (!rc && blocks) rc = look_at_blocks(r, false, level, best, row);
    if (!rc && blocks) rc = look_at_blocks(r, true, level, best, row);
    return rc;
}

/* *cut, if a cut of these kinds takes less than so many seconds. */
static int find(search *r, bool levels, bool blocks, double seconds, trs_cut *cut)
{
    const trs_memory *mem = &r->op->ctx->mem;
    const int32_t n = r->op->tri.n;
    found best = {.seconds = seconds};
    int32_t *level = trs_alloc(mem, n, sizeof *level), *row = trs_alloc(mem, n, sizeof *row);
    int rc = level && row ? TRS_OK : TRS_EMEM;
    if (!rc) levels_of_rows(&r->op->lv, level);
    if (!rc) rc = look_closely(r, levels, blocks, level, &best, row);
    trs_free(mem, level);
    if (!rc && best.s.row) *cut = best.s;
    else trs_free(mem, row);
    return rc;
}

/* Do the sizes of the levels alone promise a cut that takes less than so many seconds? */
static bool promises(search *r, double seconds)
{
    found best = {.seconds = seconds};
    sum_levels(r, true);
    trs_ranks_predict(&r->ranks);
    return look(r, &best);
}

/* A cut that is worth it; needed: else the best one there is.  That one is looked for second, so that a triangle with a
 * cut that is worth it is cut there whether the caller has named cuda-segments or not.  Large supernodes are a
 * reason to look, too: they may be a dense end, which the sizes of levels do not show. */
static int find_worth(search *r, bool needed, trs_cut *cut)
{
    const trs_solver *one = NULL;
    const double enough = cheapest(r, &r->whole, &one) / r->machine.segments_worth;
    const bool blocks = r->blocks && r->blocks->large > 0;
    const bool levels = promises(r, enough);
    int rc = levels || blocks ? find(r, levels, blocks, enough, cut) : TRS_OK;
    if (!rc && needed && !cut->row) rc = find(r, true, blocks, INFINITY, cut);
    return rc;
}

/* Of a pattern on the device only no cut is looked for, unless one is needed. */
static bool is_possible(const trs_operator *op, bool needed)
{
    const bool here = op->on_host & TRS_OP_PATTERN;
    return op->lv.count > 1 && (needed || (here && op->lv.count < op->tri.n));
}

static int make(trs_operator *op, bool needed, void *result, bool *worth)
{
    trs_cut *cut = result;
    const trs_memory *mem = &op->ctx->mem;
    search r = {.op = op};
    const void *blocks;
    if (!is_possible(op, needed)) return TRS_OK;
    int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (!rc) rc = trs_operator_analysis(op, &trs_supernode_analysis, false, &blocks);
    if (rc) return rc;
    r.machine = *trs_machine_table();
    r.blocks = blocks;
    trs_prospect_of(op, TRS_LOOK, &r.whole);
    r.level = trs_alloc(mem, (int64_t)op->lv.count + 1, sizeof *r.level);
    rc = trs_ranks_new(&r.ranks, op, blocks);
    if (!rc) rc = r.level ? find_worth(&r, needed, cut) : TRS_EMEM;
    trs_ranks_free(&r.ranks);
    trs_free(mem, r.level);
    *worth = cut->row != NULL;
    return rc ? trs_fail(rc, "out of memory for a two-way cut") : TRS_OK;
}

static void trim(trs_context *ctx, void *result)
{
    trs_cut *cut = result;
    trs_free(&ctx->mem, cut->row);
    cut->row = NULL;
}

const trs_analysis trs_cut_analysis = {
    .name = "a two-way cut", .size = sizeof(trs_cut), .make = make, .trim = trim};
