/* amalgamation.c: fundamental supernodes, and relaxed ones where that shortens the way through.
 *
 *     outlines of rows -> marks where the pattern changes from column to column -> lines -> fundamental groups
 *     -> the later lines that each touches -> merged with their neighbours
 *
 * Columns of one pattern are what a factor L has, rows of one pattern what its transpose has: lines are
 * whichever there is more of, columns, or rows counted backwards.  No pattern is transposed but that of one
 * line of each group.  Every pass is O(n + nnz), and shared: rows by whoever claims them, merging by ranges of
 * lines that do not depend on the threads, and their seams after that.  Merging with bounded fill is that of
 * relaxed supernodes (Ashcraft, Grimes 1989), for any pattern: nothing is taken from an elimination tree. */
#include "config.h"

#include "amalgamation.h"
#include "supernodes.h"

#include "matrix/matrix.h"
#include "base/parallel.h"

#include <string.h>

typedef struct group { /* lines first..end-1, and the later ones that they touch */
    int32_t first, end;
    int32_t runs; /* list [from ..]: ascending, some may go on where the one before ends */
    int32_t others;
    int64_t from;
    int64_t area; /* entries before merging */
} group;

typedef struct share { /* of a group, while lists of columns are made */
    int32_t last;      /* the last line that was taken */
    int32_t place;     /* runs; then where the next one goes */
    int32_t lines;
} share;

typedef struct set { /* of groups */
    int32_t count;
    group *group;  /* [count] */
    trs_run *list; /* of all of them */
    double cost;   /* seconds of a solve, roughly */
} set;

typedef struct build {
    trs_context *ctx;
    const trs_outline *o;
    bool rows; /* line j is row n-1-j */
    set fundamental, relaxed;
    int32_t *first;   /* [count+1] lines of the fundamental ones */
    int32_t *of_line; /* [n] group */
    int32_t *level;   /* [count] */
    int32_t *begin;   /* [ranges+1] group that begins in each range of lines or later; of merging */
    int32_t *kept;    /* [ranges] groups left in each */
    int32_t shares;
    share *share; /* [shares][count] */
    atomic_bool failed;
} build;

/* ---- rows or columns ----------------------------------------------------------------------------------- */

enum { SAMPLES = 256, SAMPLE_ROWS = 16 };

typedef struct common { /* entries of samples, but for diagonals */
    const trs_outline *o;
    _Atomic int64_t in_rows, in_columns; /* as the row before, or the next column, has them */
} common;

static void sample_some(void *user, int64_t begin, int64_t end)
{
    common *c = user;
    const trs_outline *o = c->o;
    int64_t in_rows = 0, in_columns = 0;
    for (int64_t s = begin; s < end; s++) {
        const int32_t from = (int32_t)(o->n * s / SAMPLES);
        const int32_t next = (int32_t)(o->n * (s + 1) / SAMPLES);
        for (int32_t i = from; i < next && i < from + SAMPLE_ROWS; i++)
            for (int32_t k = 0; k < o->row[i].runs; k++)
                for (int32_t j = o->row[i].run[k].begin; j < trs_run_end(o, i, k); j++) {
                    in_rows += j < i && o->row[i].same;
                    in_columns += j < i && !o->differ[j];
                }
    }
    c->in_rows += in_rows;
    c->in_columns += in_columns;
}

/* Have rows about as much in common as columns, in samples?  Their pattern need not be transposed. */
static bool prefer_rows(const build *b)
{
    common c = {.o = b->o};
    trs_share(b->o->threads, SAMPLES, 4, sample_some, &c);
    return 10 * c.in_rows >= 9 * c.in_columns;
}

/* ---- fundamental groups -------------------------------------------------------------------------------- */

/* Does a group begin at this line? */
static bool begins(const build *b, int32_t line)
{
    if (line == 0) return true;
    return b->rows ? !b->o->row[b->o->n - line].same : b->o->differ[line - 1];
}

enum { LINES = 2048 };

static int32_t ranges(const build *b)
{
    return b->o->n / LINES + 1;
}

static int32_t line_of(const build *b, int64_t range)
{
    return range * LINES < b->o->n ? (int32_t)range * LINES : b->o->n;
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t r = begin; r < end; r++) {
        int32_t count = 0;
        for (int32_t j = line_of(b, r); j < line_of(b, r + 1); j++) count += begins(b, j);
        b->begin[r + 1] = count;
    }
}

static void number_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t r = begin; r < end; r++) {
        int32_t k = b->begin[r];
        for (int32_t j = line_of(b, r); j < line_of(b, r + 1); j++) {
            if (begins(b, j)) b->first[k++] = j;
            b->of_line[j] = k - 1;
        }
    }
}

static int number_groups(build *b)
{
    trs_context *ctx = b->ctx;
    const int32_t n = b->o->n;
    b->begin = trs_new(ctx, (int64_t)ranges(b) + 1, sizeof *b->begin, "supernodes");
    b->of_line = trs_new_touched(ctx, n, sizeof *b->of_line, "supernodes of lines");
    if (!b->begin || !b->of_line) return TRS_EMEM;
    b->begin[0] = 0;
    trs_share(b->o->threads, ranges(b), 1, count_some, b);
    for (int32_t r = 0; r < ranges(b); r++) b->begin[r + 1] += b->begin[r];
    const int32_t count = b->fundamental.count = b->begin[ranges(b)];
    b->first = trs_new(ctx, (int64_t)count + 1, sizeof *b->first, "supernodes");
    b->level = trs_new(ctx, count, sizeof *b->level, "levels of supernodes");
    b->fundamental.group = trs_new_touched(ctx, count, sizeof(group), "supernodes");
    if (!b->first || !b->level || !b->fundamental.group) return TRS_EMEM;
    b->first[count] = n;
    trs_share(b->o->threads, ranges(b), 1, number_some, b);
    return TRS_OK;
}

/* ---- what they touch --------------------------------------------------------------------------------- */

/* Groups that a thread claims at a time. */
enum { GROUPS = 1024 };

static int64_t trapezoid(int64_t width, int64_t others)
{
    return width * (width + 1) / 2 + width * others;
}

static group new_group(const build *b, int64_t k, int32_t runs, int32_t others)
{
    const int32_t first = b->first[k], end = b->first[k + 1];
    return (group){first, end, runs, others, 0, trapezoid(end - first, others)};
}

/* Rows: the runs of the lowest one, from the last to the first, without the diagonal. */
static void count_rows(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t k = begin; k < end; k++) {
        const int32_t i = b->o->n - b->first[k + 1];
        const trs_outline_row *row = &b->o->row[i];
        int32_t others = -1;
        for (int32_t r = 0; r < row->runs; r++)
            others += trs_run_end(b->o, i, r) - row->run[r].begin;
        const bool alone = row->run[row->runs - 1].begin == i;
        b->fundamental.group[k] = new_group(b, k, row->runs - alone, others);
    }
}

static void list_rows(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    const int32_t n = b->o->n;
    for (int64_t k = begin; k < end; k++) {
        const group *g = &b->fundamental.group[k];
        const int32_t i = n - g->end;
        trs_run *to = b->fundamental.list + g->from;
        for (int32_t r = b->o->row[i].runs - 1; r >= 0; r--) {
            const trs_run run = {b->o->row[i].run[r].begin, trs_run_end(b->o, i, r)};
            if (run.begin < i) *to++ = (trs_run){n - (run.end > i ? i : run.end), n - run.begin};
        }
    }
}

/* Columns: row i touches all columns of a group or none.  Runs are counted, or written when there is a list. */
static void take_row(const build *b, share *all, int32_t i)
{
    const trs_outline_row *row = &b->o->row[i];
    const int32_t own = b->first[b->of_line[i]];
    const set *f = &b->fundamental;
    for (int32_t r = 0; r < row->runs && row->run[r].begin < own; r++) {
        const int32_t run_end = trs_run_end(b->o, i, r), end = run_end < own ? run_end : own;
        int32_t k = b->of_line[row->run[r].begin];
        do {
            share *s = &all[k];
            const bool longer = s->last + 1 == i;
            if (f->list) {
                trs_run *to = f->list + f->group[k].from + s->place;
                if (longer) to[-1].end = i + 1;
                else *to = (trs_run){i, i + 1};
            }
            s->place += !longer;
            s->last = i;
            s->lines++;
        } while (b->first[++k] < end);
    }
}

enum { NEVER = -2 }; /* no line is the one after */

static void take_some(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    for (int64_t s = begin; s < end; s++) {
        const int64_t n = b->o->n, to = n * (s + 1) / b->shares;
        const set *f = &b->fundamental;
        share *all = b->share + s * f->count;
        for (int32_t k = 0; k < f->count && !f->list; k++) all[k] = (share){NEVER, 0, 0};
        for (int32_t i = (int32_t)(n * s / b->shares); i < to; i++) take_row(b, all, i);
    }
}

/* From counts of shares to what the ones before have. */
static void sum_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t k = begin; k < end; k++) {
        int32_t runs = 0, others = 0;
        for (int32_t s = 0; s < b->shares; s++) {
            share *here = &b->share[(int64_t)s * b->fundamental.count + k];
            const share found = *here;
            *here = (share){NEVER, runs, 0};
            runs += found.place;
            others += found.lines;
        }
        b->fundamental.group[k] = new_group(b, k, runs, others);
    }
}

/* Several shares a thread, for they take different times, but no more than leave their counts well below the size
 * of the triangle. */
static int count_columns(build *b)
{
    const int32_t count = b->fundamental.count, threads = b->o->threads;
    const int64_t most = 1 + b->o->entries / (4 * ((int64_t)count + 1));
    const int32_t wanted = threads > 1 ? 3 * threads : 1;
    b->shares = most < wanted ? (int32_t)most : wanted;
    b->share = trs_new(b->ctx, (int64_t)b->shares * count, sizeof *b->share, "columns");
    if (!b->share) return TRS_EMEM;
    trs_share(threads, b->shares, 1, take_some, b);
    trs_share(threads, count, GROUPS, sum_some, b);
    return TRS_OK;
}

static int find_others(build *b)
{
    set *f = &b->fundamental;
    const int threads = b->o->threads;
    int64_t all = 0;
    int rc = TRS_OK;
    if (b->rows) trs_share(threads, f->count, GROUPS, count_rows, b);
    else rc = count_columns(b);
    for (int32_t k = 0; k < f->count && !rc; k++) {
        f->group[k].from = all;
        all += f->group[k].runs;
    }
    if (!rc) f->list = trs_new_touched(b->ctx, all, sizeof *f->list, "patterns of supernodes");
    if (!f->list) return TRS_EMEM;
    b->relaxed.list = trs_new_touched(b->ctx, all, sizeof *f->list, "patterns of supernodes");
    if (b->rows) trs_share(threads, f->count, GROUPS, list_rows, b);
    else trs_share(threads, b->shares, 1, take_some, b);
    return b->relaxed.list ? TRS_OK : TRS_EMEM;
}

/* ---- which are better ---------------------------------------------------------------------------------- */

/* Levels of blocks, from the lines that each group touches: it comes before all of them. */
static int32_t height_of(const set *s, const int32_t *of_line, int32_t *level)
{
    int32_t height = 0;
    memset(level, 0, (size_t)s->count * sizeof *level);
    for (int32_t k = 0; k < s->count; k++) {
        const group *g = &s->group[k];
        const int32_t end = level[k] + (g->end - g->first + TRS_BLOCK - 1) / TRS_BLOCK;
        if (end > height) height = end;
        for (int32_t r = 0; r < g->runs; r++) {
            const trs_run *run = &s->list[g->from + r];
            for (int32_t to = of_line[run->begin]; to < s->count; to++) {
                if (level[to] < end) level[to] = end;
                if (s->group[to].end >= run->end) break;
            }
        }
    }
    return height;
}

/* A step of the height, a number read, a block handled. */
static void guess(const build *b, set *s)
{
    double area = 0, blocks = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const int64_t width = s->group[k].end - s->group[k].first;
        area += (double)trapezoid(width, s->group[k].others);
        blocks += (double)((width + TRS_BLOCK - 1) / TRS_BLOCK);
    }
    s->cost = 1.2e-6 * height_of(s, b->of_line, b->level) + 1e-11 * area + 0.7e-9 * blocks;
}

/* ---- merging ------------------------------------------------------------------------------------------- */

/* May so many lines together store that much, having area entries?  A narrow block costs its latency, not
 * its bytes: it may be mostly zeros. */
static bool worth(int64_t width, int64_t others, int64_t area)
{
    const int percent = width <= 8 ? 500 : width <= 16 ? 200 : width <= 32 ? 40 : 10;
    return trapezoid(width, others) * 100 <= area * (100 + percent);
}

/* Take the next runs of both that overlap or touch as one. */
typedef struct tails { /* of two lists */
    const trs_run *a, *a_end, *b, *b_end;
} tails;

static trs_run next_of(tails *t)
{
    const bool first = t->b == t->b_end || (t->a < t->a_end && t->a->begin <= t->b->begin);
    trs_run run = first ? *t->a++ : *t->b++;
    for (;;) {
        const trs_run *more;
        if (t->a < t->a_end && t->a->begin <= run.end) more = t->a++;
        else if (t->b < t->b_end && t->b->begin <= run.end) more = t->b++;
        else return run;
        if (more->end > run.end) run.end = more->end;
    }
}

/* The runs of both from line first on, and how many lines they have. */
static int32_t unite(tails t, int32_t first, trs_run *to, int32_t *lines)
{
    int32_t count = 0;
    *lines = 0;
    while (t.a < t.a_end || t.b < t.b_end) {
        trs_run run = next_of(&t);
        if (run.begin < first) run.begin = first;
        *lines += run.end - run.begin;
        to[count++] = run;
    }
    return count;
}

/* Merge b into a, the group before it, if that is worth it; scratch has room for the runs of both. */
static bool merge(trs_run *list, group *a, const group *b, trs_run *scratch)
{
    const int64_t all = b->end - a->first, area = a->area + b->area;
    trs_run *from = list + a->from;
    tails t = {from, from + a->runs, list + b->from, list + b->from + b->runs};
    int32_t beyond = a->others, others;
    if (all > 8 && (!a->runs || from->begin >= b->end)) return false;
    for (; t.a < t.a_end && t.a->end <= b->end; t.a++) beyond -= t.a->end - t.a->begin;
    if (t.a < t.a_end && t.a->begin < b->end) beyond -= b->end - t.a->begin;
    if (!worth(all, beyond > b->others ? beyond : b->others, area)) return false;
    const int32_t runs = unite(t, b->end, scratch, &others);
    if (!worth(all, others, area)) return false;
    memcpy(from, scratch, (size_t)runs * sizeof *from);
    *a = (group){a->first, b->end, runs, others, a->from, area};
    return true;
}

/* Groups that are left of the last ones of count. */
static int32_t merge_last(trs_run *list, group *stack, int32_t count, trs_run *scratch)
{
    while (count > 1 && merge(list, &stack[count - 2], &stack[count - 1], scratch)) count--;
    return count;
}

/* The first group that begins at a line or later. */
static int32_t group_from(const build *b, int32_t line)
{
    if (line == b->o->n) return b->fundamental.count;
    const int32_t k = b->of_line[line];
    return k + (b->first[k] < line);
}

/* Where merging goes on by itself: after the group whose next line to touch is farthest, for that would hardly be
 * merged with what follows. */
static void part_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    const set *f = &b->fundamental;
    for (int64_t r = begin; r < end; r++) {
        const int32_t a = group_from(b, line_of(b, r)), e = group_from(b, line_of(b, r + 1));
        int32_t farthest = -1;
        b->begin[r] = a;
        for (int32_t k = a > 0 ? a : e; k < e; k++) {
            const group *g = &f->group[k - 1];
            const int32_t next = g->runs > 0 ? f->list[g->from].begin : b->o->n;
            if (next <= farthest) continue;
            farthest = next;
            b->begin[r] = k;
        }
    }
}

static bool merge_range(build *b, int32_t range)
{
    const int32_t a = b->begin[range], e = b->begin[range + 1];
    const set *f = &b->fundamental;
    set *to = &b->relaxed;
    if (a == e) return true;
    const int64_t from = f->group[a].from,
                  runs = f->group[e - 1].from + f->group[e - 1].runs - from;
    trs_run *scratch = trs_alloc(&b->ctx->mem, runs, sizeof *scratch);
    if (!scratch) return false;
    memcpy(to->list + from, f->list + from, (size_t)runs * sizeof *scratch);
    for (int32_t k = a; k < e; k++) {
        to->group[a + b->kept[range]++] = f->group[k];
        b->kept[range] = merge_last(to->list, to->group + a, b->kept[range], scratch);
    }
    trs_free(&b->ctx->mem, scratch);
    return true;
}

/* The ranges, and before them a guess at what was there without. */
static void merge_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t r = begin; r < end; r++)
        if (r == 0) guess(b, &b->fundamental);
        else if (!merge_range(b, (int32_t)r - 1)) b->failed = true;
}

/* What the ranges have left, in one piece, and merged where they meet. */
static int join(build *b)
{
    trs_run *scratch = trs_new(b->ctx, b->o->n, sizeof *scratch, "patterns of supernodes");
    set *s = &b->relaxed;
    if (!scratch) return TRS_EMEM;
    for (int32_t r = 0; r < ranges(b); r++)
        for (int32_t k = 0, a = b->begin[r]; k < b->kept[r]; k++) {
            s->group[s->count++] = s->group[a + k];
            if (k == 0) s->count = merge_last(s->list, s->group, s->count, scratch);
        }
    trs_free(&b->ctx->mem, scratch);
    return TRS_OK;
}

static void own_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t k = (int32_t)begin; k < end; k++) {
        const group *g = &b->relaxed.group[k];
        for (int32_t j = g->first; j < g->end; j++) b->of_line[j] = k;
    }
}

static int relax(build *b)
{
    const int threads = b->o->threads;
    b->kept = trs_alloc_zero(&b->ctx->mem, ranges(b), sizeof *b->kept);
    b->relaxed.group = trs_new_touched(b->ctx, b->fundamental.count, sizeof(group), "supernodes");
    if (!b->kept || !b->relaxed.group)
        return trs_fail(TRS_EMEM, "out of memory for merging supernodes");
    trs_share(threads, ranges(b), 1, part_some, b);
    b->begin[ranges(b)] = b->fundamental.count;
    trs_share(threads, (int64_t)ranges(b) + 1, 1, merge_some, b);
    if (b->failed) return trs_fail(TRS_EMEM, "out of memory for merging supernodes");
    const int rc = join(b);
    if (rc) return rc;
    trs_share(threads, b->relaxed.count, GROUPS, own_some, b);
    guess(b, &b->relaxed);
    return TRS_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* From lines to rows: relaxed ones, unless they store much and shorten the way through little. */
static void take_better(build *b, trs_groups *found)
{
    const set *s = b->relaxed.cost <= b->fundamental.cost ? &b->relaxed : &b->fundamental;
    const int32_t n = b->o->n, count = s->count;
    for (int32_t k = 0; k < count; k++) {
        const group *g = &s->group[k];
        if (b->rows) b->first[count - 1 - k] = n - g->end;
        else b->first[k] = g->first;
    }
    b->first[count] = n;
    *found = (trs_groups){count, b->first};
    b->first = NULL;
}

static void free_build(build *b)
{
    void *all[] = {b->fundamental.group,
                   b->fundamental.list,
                   b->relaxed.group,
                   b->relaxed.list,
                   b->first,
                   b->of_line,
                   b->level,
                   b->begin,
                   b->kept,
                   b->share};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) trs_free(&b->ctx->mem, all[k]);
}

int trs_groups_find(trs_context *ctx, const trs_outline *o, trs_groups *found)
{
    build b = {.ctx = ctx, .o = o};
    b.rows = prefer_rows(&b);
    int rc = number_groups(&b);
    if (!rc) rc = find_others(&b);
    if (!rc) rc = relax(&b);
    if (!rc) take_better(&b, found);
    free_build(&b);
    return rc;
}
