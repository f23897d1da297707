/* groups.c: fundamental supernodes, and relaxed ones where that shortens the way through.
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

#include "groups.h"

#include "internal.h"
#include "stages.h"

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

typedef struct build {
    trs_context *ctx;
    const trs_outline *o;
    bool rows;        /* line j is row n-1-j */
    int32_t count;    /* of groups */
    group *group;     /* [count] */
    int32_t *of_line; /* [n] group */
    trs_run *list;
    int32_t shares;
    share *share;   /* [shares][count] */
    int32_t *plain; /* [count+1] first lines before merging */
    int32_t *seam;  /* [ranges+1] group that each range of lines begins with, for merging */
    int32_t *kept;  /* [ranges] groups left in each */
    atomic_bool failed;
} build;

/* ---- rows or columns ----------------------------------------------------------------------------------- */

enum { SAMPLES = 256, SAMPLE_ROWS = 16 };

/* Have rows about as much in common as columns, in samples?  Their pattern need not be transposed. */
static bool prefer_rows(const build *b)
{
    const trs_outline *o = b->o;
    int64_t in_rows = 0, in_columns = 0;
    for (int s = 0; s < SAMPLES; s++) {
        const int32_t from = (int32_t)((int64_t)o->n * s / SAMPLES);
        const int32_t next = (int32_t)((int64_t)o->n * (s + 1) / SAMPLES);
        for (int32_t i = from; i < next && i < from + SAMPLE_ROWS; i++)
            for (int32_t k = 0; k < o->row[i].runs; k++)
                for (int32_t j = o->row[i].run[k].begin; j < trs_run_end(o, i, k); j++) {
                    in_rows += j < i && o->row[i].same;
                    in_columns += j < i && !b->o->differ[j];
                }
    }
    return 10 * in_rows >= 9 * in_columns;
}

/* ---- fundamental groups -------------------------------------------------------------------------------- */

/* Does a group begin at this line? */
static bool begins(const build *b, int32_t line)
{
    if (line == 0) return true;
    return b->rows ? !b->o->row[b->o->n - line].same : b->o->differ[line - 1];
}

/* Ranges of groups that are shared out. */
enum { GROUPS = 1024 };

static void own_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t k = (int32_t)begin; k < end; k++)
        for (int32_t j = b->group[k].first; j < b->group[k].end; j++) b->of_line[j] = k;
}

static void own_lines(build *b)
{
    trs_share(trs_team(b->ctx, b->o->n), b->count, GROUPS, own_some, b);
}

static int make_groups(build *b)
{
    const int32_t n = b->o->n;
    b->plain = trs_new(b->ctx, (int64_t)n + 1, sizeof *b->plain, "supernodes");
    b->of_line = trs_new(b->ctx, n, sizeof *b->of_line, "supernodes of lines");
    if (!b->plain || !b->of_line) return TRS_EMEM;
    for (int32_t j = 0; j < n; j++)
        if (begins(b, j)) b->plain[b->count++] = j;
    b->plain[b->count] = n;
    b->group = trs_new(b->ctx, b->count, sizeof *b->group, "supernodes");
    if (!b->group) return TRS_EMEM;
    for (int32_t k = 0; k < b->count; k++)
        b->group[k] = (group){.first = b->plain[k], .end = b->plain[k + 1]};
    own_lines(b);
    return TRS_OK;
}

/* ---- what they touch --------------------------------------------------------------------------------- */

/* The lowest row of the group. */
static int32_t last_row(const build *b, const group *g)
{
    return b->o->n - g->end;
}

/* Rows: the runs of the lowest one, from the last to the first, without the diagonal. */
static void list_some(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    const int32_t n = b->o->n;
    for (int64_t k = begin; k < end; k++) {
        const group *g = &b->group[k];
        const int32_t i = last_row(b, g);
        trs_run *to = b->list + g->from;
        for (int32_t p = b->o->row[i].runs - 1; p >= 0; p--) {
            const trs_run run = {b->o->row[i].run[p].begin, trs_run_end(b->o, i, p)};
            if (run.begin < i) *to++ = (trs_run){n - (run.end > i ? i : run.end), n - run.begin};
        }
    }
}

static int64_t trapezoid(int64_t width, int64_t others)
{
    return width * (width + 1) / 2 + width * others;
}

static void count_rows(build *b)
{
    for (int32_t k = 0; k < b->count; k++) {
        group *g = &b->group[k];
        const int32_t i = last_row(b, g);
        const trs_outline_row *row = &b->o->row[i];
        g->runs = row->runs - (row->run[row->runs - 1].begin == i);
        for (int32_t r = 0; r < row->runs; r++)
            g->others += trs_run_end(b->o, i, r) - row->run[r].begin;
        g->others--; /* the diagonal */
    }
}

/* Columns: row i touches all columns of a group or none.  Runs are counted, or written when there is a list. */
static void take_row(const build *b, share *all, int32_t i)
{
    const trs_outline_row *row = &b->o->row[i];
    const int32_t own = b->plain[b->of_line[i]];
    for (int32_t r = 0; r < row->runs && row->run[r].begin < own; r++) {
        const int32_t run_end = trs_run_end(b->o, i, r), end = run_end < own ? run_end : own;
        int32_t k = b->of_line[row->run[r].begin];
        do {
            share *s = &all[k];
            const bool longer = s->last + 1 == i;
            if (b->list) {
                trs_run *to = b->list + b->group[k].from + s->place;
                if (longer) to[-1].end = i + 1;
                else *to = (trs_run){i, i + 1};
            }
            s->place += !longer;
            s->last = i;
            s->lines++;
        } while (b->plain[++k] < end);
    }
}

enum { NEVER = -2 }; /* no line is the one after */

static void take_some(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    for (int64_t s = begin; s < end; s++) {
        const int64_t n = b->o->n, to = n * (s + 1) / b->shares;
        share *all = b->share + s * b->count;
        for (int32_t k = 0; k < b->count && !b->list; k++) all[k] = (share){NEVER, 0, 0};
        for (int32_t i = (int32_t)(n * s / b->shares); i < to; i++) take_row(b, all, i);
    }
}

/* From counts of shares to what the ones before have. */
static void sum_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t k = begin; k < end; k++) {
        group *g = &b->group[k];
        for (int32_t s = 0; s < b->shares; s++) {
            share *here = &b->share[(int64_t)s * b->count + k];
            const share found = *here;
            *here = (share){NEVER, g->runs, 0};
            g->runs += found.place;
            g->others += found.lines;
        }
    }
}

/* As many shares as leave their counts well below the size of the triangle. */
static int count_columns(build *b)
{
    const int64_t most = 1 + b->o->entries / (8 * ((int64_t)b->count + 1));
    b->shares = most < b->o->threads ? (int32_t)most : b->o->threads;
    const int64_t all = (int64_t)b->shares * b->count;
    b->share = trs_new(b->ctx, all, sizeof *b->share, "columns");
    if (!b->share) return TRS_EMEM;
    trs_share(b->shares, b->shares, 1, take_some, b);
    trs_share(trs_team(b->ctx, all), b->count, GROUPS, sum_some, b);
    return TRS_OK;
}

static int find_others(build *b)
{
    int64_t all = 0;
    int rc = TRS_OK;
    if (b->rows) count_rows(b);
    else rc = count_columns(b);
    for (int32_t k = 0; k < b->count && !rc; k++) {
        group *g = &b->group[k];
        g->from = all;
        g->area = trapezoid(g->end - g->first, g->others);
        all += g->runs;
    }
    if (!rc) b->list = trs_new(b->ctx, all, sizeof *b->list, "patterns of supernodes");
    if (!b->list) return TRS_EMEM;
    if (b->rows) trs_share(trs_team(b->ctx, all), b->count, GROUPS, list_some, b);
    else trs_share(b->shares, b->shares, 1, take_some, b);
    return TRS_OK;
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

enum { LINES = 2048 };

static int32_t ranges(const build *b)
{
    return b->o->n / LINES + 1;
}

/* The first group that begins at a line or later. */
static int32_t group_from(const build *b, int64_t line)
{
    if (line >= b->o->n) return b->count;
    const int32_t k = b->of_line[line];
    return k + (b->plain[k] < line);
}

/* The first group of a range: after the one whose next line to touch is farthest, for that would hardly be merged
 * with what follows. */
static int32_t seam_of(const build *b, int64_t range)
{
    const int32_t a = group_from(b, range * LINES), e = group_from(b, (range + 1) * LINES);
    int32_t farthest = -1, seam = a;
    for (int32_t k = a > 0 ? a : e; k < e; k++) {
        const group *g = &b->group[k - 1];
        const int32_t next = g->runs > 0 ? b->list[g->from].begin : b->o->n;
        if (next <= farthest) continue;
        farthest = next;
        seam = k;
    }
    return seam;
}

static void find_seams(build *b)
{
    for (int32_t r = 0; r < ranges(b); r++) b->seam[r] = seam_of(b, r);
    b->seam[ranges(b)] = b->count;
}

/* Runs that groups a..e-1 have together, and one. */
static int64_t room(const build *b, int32_t a, int32_t e)
{
    const group *last = &b->group[e - 1];
    return a < e ? last->from + last->runs - b->group[a].from + 1 : 1;
}

static void merge_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t r = begin; r < end; r++) {
        const int32_t a = b->seam[r], e = b->seam[r + 1];
        int32_t count = 0;
        trs_run *scratch = trs_alloc(&b->ctx->mem, room(b, a, e), sizeof *scratch);
        for (int32_t k = a; k < e && scratch; k++) {
            b->group[a + count] = b->group[k];
            count = merge_last(b->list, b->group + a, count + 1, scratch);
        }
        b->kept[r] = count;
        if (!scratch) b->failed = true;
        trs_free(&b->ctx->mem, scratch);
    }
}

/* What the ranges have left, in one piece, and merged where they meet. */
static int join(build *b)
{
    trs_run *scratch = trs_new(b->ctx, b->o->n, sizeof *scratch, "patterns of supernodes");
    int32_t count = 0;
    if (!scratch) return TRS_EMEM;
    for (int32_t r = 0; r < ranges(b); r++)
        for (int32_t k = 0, a = b->seam[r]; k < b->kept[r]; k++) {
            b->group[count++] = b->group[a + k];
            if (k == 0) count = merge_last(b->list, b->group, count, scratch);
        }
    trs_free(&b->ctx->mem, scratch);
    b->count = count;
    return TRS_OK;
}

static int merge_all(build *b)
{
    b->kept = trs_new(b->ctx, ranges(b), sizeof *b->kept, "supernodes");
    b->seam = trs_new(b->ctx, (int64_t)ranges(b) + 1, sizeof *b->seam, "supernodes");
    if (!b->kept || !b->seam) return TRS_EMEM;
    find_seams(b);
    trs_share(b->o->threads, ranges(b), 1, merge_some, b);
    if (b->failed) return trs_fail(b->ctx, TRS_EMEM, "out of memory for merging supernodes");
    const int rc = join(b);
    if (!rc) own_lines(b);
    return rc;
}

/* ---- which are better ---------------------------------------------------------------------------------- */

/* Levels of blocks, from the lines that each group touches: it comes before all of them. */
static int32_t height_of(const build *b, int32_t *level)
{
    int32_t height = 0;
    memset(level, 0, (size_t)b->count * sizeof *level);
    for (int32_t k = 0; k < b->count; k++) {
        const group *g = &b->group[k];
        const int32_t end = level[k] + (g->end - g->first + TRS_BLOCK - 1) / TRS_BLOCK;
        if (end > height) height = end;
        for (int32_t r = 0; r < g->runs; r++) {
            const trs_run *run = &b->list[g->from + r];
            for (int32_t to = b->of_line[run->begin]; to < b->count; to++) {
                if (level[to] < end) level[to] = end;
                if (b->group[to].end >= run->end) break;
            }
        }
    }
    return height;
}

/* Seconds of a solve, roughly: a step of the height, a number read, a block handled. */
static double guess(const build *b, int32_t *level)
{
    double area = 0, blocks = 0;
    for (int32_t k = 0; k < b->count; k++) {
        const int64_t width = b->group[k].end - b->group[k].first;
        area += (double)trapezoid(width, b->group[k].others);
        blocks += (double)((width + TRS_BLOCK - 1) / TRS_BLOCK);
    }
    return 1.2e-6 * height_of(b, level) + 1e-11 * area + 0.7e-9 * blocks;
}

/* Relaxed supernodes, unless they store much and shorten the way through little. */
static int relax(build *b, trs_groups *found)
{
    int32_t *level = trs_new(b->ctx, b->count, sizeof *level, "levels of supernodes");
    if (!level) return TRS_EMEM;
    const double plain = guess(b, level);
    found->count = b->count;
    int rc = merge_all(b);
    if (!rc && guess(b, level) <= plain) {
        found->count = b->count;
        for (int32_t k = 0; k < b->count; k++) b->plain[k] = b->group[k].first;
        b->plain[b->count] = b->o->n;
    }
    trs_free(&b->ctx->mem, level);
    return rc;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* From lines to rows. */
static void turn(const build *b, trs_groups *found)
{
    found->first = b->plain;
    if (!b->rows) return;
    for (int32_t a = 0, e = found->count; a <= e; a++, e--) {
        const int32_t swap = b->o->n - found->first[a];
        found->first[a] = b->o->n - found->first[e];
        found->first[e] = swap;
    }
}

static void free_build(build *b)
{
    void *all[] = {b->group, b->of_line, b->list, b->share, b->seam, b->kept};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) trs_free(&b->ctx->mem, all[k]);
}

int trs_groups_find(trs_context *ctx, const trs_outline *o, trs_groups *found)
{
    build b = {.ctx = ctx, .o = o};
    b.rows = prefer_rows(&b);
    int rc = make_groups(&b);
    if (!rc) rc = find_others(&b);
    if (!rc) rc = relax(&b, found);
    if (!rc) turn(&b, found);
    else trs_free(&ctx->mem, b.plain);
    free_build(&b);
    return rc;
}
