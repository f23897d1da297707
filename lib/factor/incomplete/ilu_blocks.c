/* ilu_blocks.c: the pattern of incomplete factors by blocks, their values, and solves.
 *
 *     rows of numbers (ilu.c) --which columns are stored in a row of blocks--> pattern, places of A's numbers
 *       --levels--> stages --block_rows.c--> factors, in place --the same, transposed--> M'
 *
 * The rows of a level need rows of earlier levels only:  level (i) = 1 + max { level (k) : row i has a block (i, k) }.  Threads
 * share wide levels.  The factors need the order of L, solves that of L and of U. */
#include "config.h"

#include "ilu_blocks.h"
#include "base/debug.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of L or U: a level with fewer than WIDE is one thread's; a chunk has at least CHUNK. */
enum { WIDE = 8000, CHUNK = 4000, MOST_CHUNKS = 64 };

/* ---- which size ------------------------------------------------------------------------------- */

/* Mark the columns of the rows of block row i by i + 1, and count those that are new. */
static int64_t mark_columns(const trs_tri *t, int b, int32_t i, int32_t *mark)
{
    int64_t found = 0;
    for (int64_t p = t->ptr[(int64_t)i * b]; p < t->ptr[((int64_t)i + 1) * b]; p++) {
        const int32_t j = t->idx[p] / b;
        found += mark[j] != i + 1;
        mark[j] = i + 1;
    }
    return found;
}

/* Do blocks of this size hold at most a tenth of zeros?  Those of a lower triangle count with the others of A. */
static bool is_full(const trs_tri *t, bool lower, int b, int32_t *mark)
{
    const int32_t n = t->n / b;
    const int64_t entries = lower ? 2 * t->nnz - t->n : t->nnz, all = 10 * entries / (9 * b * b);
    const int64_t most = lower ? (all + n) / 2 : all;
    int64_t blocks = 0;
    memset(mark, 0, (size_t)n * sizeof *mark);
    for (int32_t i = 0; i < n && blocks <= most; i++) blocks += mark_columns(t, b, i, mark);
    return blocks <= most;
}

int trs_ilu_block_size(trs_context *ctx, const trs_tri *t, bool lower)
{
    int b = TRS_BLOCK_MOST;
    int32_t *mark = trs_new(ctx, t->n, sizeof *mark, "columns of blocks");
    if (!mark) return 0;
    while (b > 1 && (t->n % b || !is_full(t, lower, b, mark))) b--;
    trs_free(&ctx->mem, mark);
    return b;
}

/* ---- pattern ---------------------------------------------------------------------------------- */

static int new_rows(trs_context *ctx, const trs_ilu_blocks *m, trs_ilu_block_side *s)
{
    for (int h = 0; h < 2; h++) {
        s->begin[h] = trs_new(ctx, (int64_t)m->n + 1, sizeof *s->begin[h], "rows of blocks");
        if (!s->begin[h]) return TRS_EMEM;
        memset(s->begin[h], 0, ((size_t)m->n + 1) * sizeof *s->begin[h]);
    }
    return TRS_OK;
}

static int new_blocks(trs_context *ctx, const trs_ilu_blocks *m, trs_ilu_block_side *s)
{
    const int64_t numbers = m->count * m->b * m->b;
    const size_t size = trs_size(m->dtype);
    s->idx = trs_new_touched(ctx, m->count, sizeof *s->idx, "columns of blocks");
    s->val = trs_new_touched(ctx, numbers + TRS_BLOCK_MOST, size, "blocks");
    if (!s->idx || !s->val) return TRS_EMEM;
    memset((char *)s->val + (size_t)numbers * size, 0, TRS_BLOCK_MOST * size);
    return TRS_OK;
}

/* Make begin of the counts that it has of each row in the element behind it. */
static void sum_up(const trs_ilu_blocks *m, trs_ilu_block_side *s)
{
    int64_t *lower = s->begin[0], *upper = s->begin[1];
    for (int32_t i = 0; i < m->n; i++) lower[i + 1] += lower[i];
    upper[0] = lower[m->n] + m->n;
    for (int32_t i = 0; i < m->n; i++) upper[i + 1] += upper[i];
}

/* Row i of blocks: which column of blocks is next, where row r of its numbers goes on with entry q [r]?  -1: none is. */
static int32_t next_column(const trs_tri *t, int b, int32_t i, const int64_t *q)
{
    int32_t least = INT32_MAX;
    for (int r = 0; r < b; r++)
        if (q[r] < t->ptr[(int64_t)i * b + r + 1]) least = (int32_t)trs_min(least, t->idx[q[r]]);
    return least < INT32_MAX ? least / b : -1;
}

/* Go past the entries of this column.  src [b*b]: their places, transposed if turned; NULL: they are not wanted. */
static void pass_column(const trs_tri *t, int b, int32_t i, int32_t column, int64_t *q,
                        int64_t *src, bool turned)
{
    const int64_t first = (int64_t)column * b;
    const int64_t by_row = turned ? b : 1, by_column = turned ? 1 : b;
    for (int r = 0; r < b; r++)
        for (; q[r] < t->ptr[(int64_t)i * b + r + 1] && t->idx[q[r]] < first + b; q[r]++) {
            const int64_t at = r * by_row + (t->idx[q[r]] - first) * by_column;
            if (src) src[at] = t->src ? t->src[q[r]] : q[r];
        }
}

/* Row i of blocks of the pattern t: count its blocks, or, with src, store them from next on. */
static void read_row(const trs_tri *t, trs_ilu_blocks *m, bool diagonal, int32_t i, int64_t next[2])
{
    trs_ilu_block_side *s = &m->side[0];
    const int size = m->b * m->b;
    int64_t q[TRS_BLOCK_MOST];
    int32_t j;
    memcpy(q, t->ptr + (int64_t)i * m->b, (size_t)m->b * sizeof *q);
    while ((j = next_column(t, m->b, i, q)) >= 0) {
        int64_t at = s->begin[0][m->n] + i;
        if (j != i && !diagonal) at = next[j > i]++;
        const bool stored = m->src && (j == i || !diagonal);
        if (stored) s->idx[at] = j;
        pass_column(t, m->b, i, j, q, stored ? m->src + at * size : NULL, false);
    }
}

/* Row i of blocks of the lower triangle t: the same for row i of L and column i of U.  begin [1][j] goes to the next place in
 * row j of U; while they are counted, begin [1][j + 1] is their number. */
static void read_lower_row(const trs_tri *t, trs_ilu_blocks *m, int32_t i, int64_t *next)
{
    trs_ilu_block_side *s = &m->side[0];
    const int64_t size = m->b * m->b;
    int64_t q[TRS_BLOCK_MOST];
    int32_t j;
    memcpy(q, t->ptr + (int64_t)i * m->b, (size_t)m->b * sizeof *q);
    while ((j = next_column(t, m->b, i, q)) >= 0) {
        int64_t at = s->begin[0][m->n] + i;
        TRS_ASSERT(j <= i);
        if (j < i && !m->src) s->begin[1][j + 1]++;
        if (j < i && m->src) {
            at = s->begin[1][j]++;
            m->twin[*next] = at;
            s->idx[*next] = j;
        }
        if (j < i) ++*next;
        if (m->src) s->idx[at] = i;
        int64_t *src = m->src ? m->src + (at - trs_ilu_blocks_read(m)) * size : NULL;
        pass_column(t, m->b, i, j, q, src, true);
    }
}

/* Count the blocks of all rows in the elements of begin behind them. */
static void count_rows(const trs_tri *t, trs_ilu_blocks *m, bool diagonal)
{
    trs_ilu_block_side *s = &m->side[0];
    for (int32_t i = 0; i < m->n; i++) {
        int64_t count[2] = {0};
        if (m->cholesky) read_lower_row(t, m, i, count);
        else read_row(t, m, diagonal, i, count);
        s->begin[0][i + 1] = count[0];
        if (!m->cholesky) s->begin[1][i + 1] = count[1];
    }
}

static void store_rows(const trs_tri *t, trs_ilu_blocks *m, bool diagonal)
{
    trs_ilu_block_side *s = &m->side[0];
    for (int32_t i = 0; i < m->n; i++) {
        int64_t next[2] = {s->begin[0][i], s->begin[1][i]};
        if (m->cholesky) read_lower_row(t, m, i, next);
        else read_row(t, m, diagonal, i, next);
    }
    if (!m->cholesky) return;
    /* each begin of U has come to its end */
    memmove(s->begin[1] + 1, s->begin[1], (size_t)m->n * sizeof *s->begin[1]);
    s->begin[1][0] = s->begin[0][m->n] + m->n;
}

static int make_pattern(trs_context *ctx, const trs_tri *t, bool diagonal, trs_ilu_blocks *m)
{
    trs_ilu_block_side *s = &m->side[0];
    int rc = new_rows(ctx, m, s);
    if (rc) return rc;
    count_rows(t, m, diagonal);
    sum_up(m, s);
    m->count = s->begin[1][m->n];
    const int64_t numbers = m->count * m->b * m->b;
    const double bytes =
        (double)m->count * sizeof *s->idx + (double)numbers * (double)trs_size(m->dtype);
    if (ctx->limit && bytes > (double)ctx->limit)
        return trs_fail(TRS_EMEM, "the blocks have %.3g bytes, over the limit", bytes);
    const int64_t read = numbers - trs_ilu_blocks_read(m) * m->b * m->b;
    rc = new_blocks(ctx, m, s);
    if (!rc && m->cholesky)
        m->twin = trs_new_touched(ctx, s->begin[0][m->n], sizeof *m->twin, "places of blocks");
    if (!rc && (m->twin || !m->cholesky))
        m->src = trs_new_touched(ctx, read, sizeof *m->src, "places of the values");
    if (!m->src) return TRS_EMEM;
    for (int64_t k = 0; k < read; k++) m->src[k] = TRS_SRC_MISSING;
    store_rows(t, m, diagonal);
    return TRS_OK;
}

/* The pattern of M': row j of its lower triangle is column j of U, and that of its upper triangle column j of L. */
static int transpose_pattern(trs_context *ctx, trs_ilu_blocks *m)
{
    const trs_ilu_block_side *a = &m->side[0];
    trs_ilu_block_side *s = &m->side[1];
    int rc = new_rows(ctx, m, s);
    if (!rc) rc = new_blocks(ctx, m, s);
    if (!rc) m->from = trs_new_touched(ctx, m->count, sizeof *m->from, "places of blocks");
    if (!m->from) return TRS_EMEM;
    for (int h = 0; h < 2; h++)
        for (int64_t p = a->begin[h][0]; p < a->begin[h][m->n]; p++) s->begin[!h][a->idx[p] + 1]++;
    sum_up(m, s);
    for (int32_t i = 0; i < m->n; i++) {
        m->from[s->begin[0][m->n] + i] = a->begin[0][m->n] + i;
        for (int h = 0; h < 2; h++)
            for (int64_t p = a->begin[h][i]; p < a->begin[h][i + 1]; p++) {
                const int64_t at = s->begin[!h][a->idx[p]]++;
                s->idx[at] = i;
                m->from[at] = p;
            }
    }
    for (int h = 0; h < 2; h++) { /* each begin has come to its end */
        memmove(s->begin[h] + 1, s->begin[h], (size_t)m->n * sizeof *s->begin[h]);
        s->begin[h][0] = h ? s->begin[0][m->n] + m->n : 0;
    }
    return TRS_OK;
}

/* ---- levels ----------------------------------------------------------------------------------- */

int32_t trs_ilu_block_levels_of(const trs_ilu_blocks *m, const trs_ilu_block_side *s, int h,
                                int32_t *level)
{
    int32_t levels = 0;
    for (int32_t k = 0; k < m->n; k++) {
        const int32_t i = h ? m->n - 1 - k : k;
        level[i] = 0;
        for (int64_t p = s->begin[h][i]; p < s->begin[h][i + 1]; p++)
            level[i] = (int32_t)trs_max(level[i], level[s->idx[p]] + 1);
        levels = (int32_t)trs_max(levels, level[i] + 1);
    }
    return levels;
}

/* Sort the rows by level; start [levels+1] is where each level begins. */
static void sort_rows(const int32_t *level, int32_t n, int32_t levels, int32_t *start,
                      int32_t *topo)
{
    memset(start, 0, ((size_t)levels + 1) * sizeof *start);
    for (int32_t i = 0; i < n; i++) start[level[i] + 1]++;
    for (int32_t l = 0; l < levels; l++) start[l + 1] += start[l];
    for (int32_t i = 0; i < n; i++) topo[start[level[i]]++] = i;
    memmove(start + 1, start, (size_t)levels * sizeof *start);
    start[0] = 0;
}

/* A wide level is a stage of several chunks, a run of thin levels a stage of one. */
static void cut_levels(const trs_ilu_blocks *m, const int64_t *begin, const int32_t *start,
                       int32_t levels, trs_ilu_block_levels *v)
{
    for (int32_t l = 0; l < levels; l++) {
        int64_t work = 0, chunks = 1;
        for (int32_t k = start[l]; k < start[l + 1]; k++)
            work += (begin[v->topo[k] + 1] - begin[v->topo[k]] + 1) * m->b * m->b;
        if (work >= WIDE)
            chunks = trs_min(trs_min(work / CHUNK, MOST_CHUNKS), start[l + 1] - start[l]);
        trs_level_stage *last = v->stages > 0 ? &v->stage[v->stages - 1] : NULL;
        if (last && chunks == 1 && last->chunks == 1) last->end = start[l + 1];
        else v->stage[v->stages++] = (trs_level_stage){start[l], start[l + 1], (int32_t)chunks};
    }
}

static int find_levels(trs_context *ctx, const trs_ilu_blocks *m, trs_ilu_block_side *s, int h)
{
    trs_ilu_block_levels *v = &s->levels[h];
    int32_t *level = trs_new(ctx, m->n, sizeof *level, "levels"), *start = NULL;
    int rc = TRS_EMEM;
    v->topo = level ? trs_new(ctx, m->n, sizeof *v->topo, "the order of levels") : NULL;
    if (v->topo) {
        const int32_t levels = trs_ilu_block_levels_of(m, s, h, level);
        start = trs_new(ctx, (int64_t)levels + 1, sizeof *start, "levels");
        v->stage = start ? trs_new(ctx, levels, sizeof *v->stage, "stages") : NULL;
        if (v->stage) {
            sort_rows(level, m->n, levels, start, v->topo);
            cut_levels(m, s->begin[h], start, levels, v);
            rc = TRS_OK;
        }
    }
    trs_free_all(&ctx->mem, level, start);
    return rc;
}

/* ---- life ------------------------------------------------------------------------------------- */

int trs_ilu_blocks_make(trs_context *ctx, const trs_tri *t, bool diagonal, bool transposed,
                        trs_ilu_blocks *m)
{
    TRS_ASSERT(m->b >= 1 && m->b <= TRS_BLOCK_MOST && t->n % m->b == 0);
    m->n = t->n / m->b;
    int rc = make_pattern(ctx, t, diagonal, m);
    if (!rc && transposed) rc = transpose_pattern(ctx, m);
    for (int k = 0; k < (transposed ? 4 : 2) && !rc; k++)
        rc = find_levels(ctx, m, &m->side[k / 2], k % 2);
    if (rc) return rc;
    if (m->count * m->b * m->b < TRS_SHARED_FROM) m->threads = 1;
    m->where = trs_alloc_zero(&ctx->mem, (int64_t)m->n * m->threads, sizeof *m->where);
    m->progress =
        trs_new(ctx, trs_ilu_blocks_progress(m), sizeof *m->progress, "the progress of stages");
    return m->where && m->progress ? TRS_OK : trs_fail(TRS_EMEM, "out of memory for blocks");
}

void trs_ilu_blocks_free(const trs_memory *mem, trs_ilu_blocks *m)
{
    for (int k = 0; k < 2; k++) {
        trs_ilu_block_side *s = &m->side[k];
        trs_free_all(mem, s->begin[0], s->begin[1], s->idx, s->val, s->levels[0].topo,
                     s->levels[0].stage, s->levels[1].topo, s->levels[1].stage);
        *s = (trs_ilu_block_side){0};
    }
    trs_free_all(mem, m->src, m->twin, m->from, m->where, m->progress);
    m->src = m->twin = m->from = m->where = NULL;
    m->progress = NULL;
}

/* ---- values ----------------------------------------------------------------------------------- */

int trs_ilu_blocks_values(const trs_context *ctx, trs_ilu_blocks *m, const void *val)
{
    const trs_ilu_block_side *s = &m->side[0];
    const int64_t first = trs_ilu_blocks_read(m), size = m->b * m->b;
    trs_tri t = {.nnz = (m->count - first) * size, .dtype = m->dtype, .src = m->src};
    t.val = (char *)s->val + (size_t)(first * size) * trs_size(m->dtype);
    trs_tri_read_values(ctx, &t, val);
    const int64_t p = trs_ilu_block_infinite(m);
    if (p == m->count) return TRS_OK;
    int32_t i = 0;
    const int h = p >= s->begin[1][0];
    while (i < m->n - 1 && p >= s->begin[h][i + 1]) i++;
    if (!h && p >= s->begin[0][m->n]) i = (int32_t)(p - s->begin[0][m->n]);
    const int64_t row = m->cholesky ? s->idx[p] : i, column = m->cholesky ? i : s->idx[p];
    return trs_fail(
        TRS_EMATRIX,
        "rows %" PRId64 " to %" PRId64 ", columns from %" PRId64 ": a value is not finite",
        row * m->b + ctx->base, (row + 1) * m->b - 1 + ctx->base, column * m->b + ctx->base);
}

static trs_ilu_fault factor_row(const void *of, int thread, int32_t i, int64_t *boosted)
{
    return trs_ilu_block_factor_row(of, thread, i, boosted);
}

static int64_t work_about(const void *of, int32_t i)
{
    const trs_ilu_blocks *m = of;
    const int64_t *lower = m->side[0].begin[0], *upper = m->side[0].begin[1];
    const int64_t l = lower[i + 1] - lower[i], u = upper[i + 1] - upper[i] + 1;
    return m->b * m->b * m->b * (m->diagonal_only ? l + 1 : l * u + u);
}

static void transpose_some(void *user, int64_t begin, int64_t end)
{
    trs_ilu_block_transpose(user, begin, end);
}

trs_ilu_outcome trs_ilu_blocks_factor(const trs_context *ctx, const trs_ilu_blocks *m)
{
    enum { EACH = 4096 };
    const trs_ilu_block_levels *v = &m->side[0].levels[0];
    const trs_ilu_sweep s = {.n = m->n,
                             .topo = v->topo,
                             .stages = v->stages,
                             .stage = v->stage,
                             .progress = m->progress,
                             .threads = m->threads,
                             .of = m,
                             .row = factor_row,
                             .work = work_about};
    const trs_ilu_outcome o = trs_ilu_sweep_run(&s);
    const int threads = trs_team(ctx, m->count * m->b * m->b);
    if (m->from) trs_share(threads, m->count, EACH, transpose_some, (void *)m);
    return o;
}

/* ---- solves ----------------------------------------------------------------------------------- */

int64_t trs_ilu_blocks_progress(const trs_ilu_blocks *m)
{
    int64_t most = 0;
    for (int k = 0; k < 4; k++) most = trs_max(most, m->side[k / 2].levels[k % 2].stages);
    return most + 1;
}

static void do_rows(void *user, int thread, int32_t begin, int32_t end)
{
    (void)thread;
    trs_ilu_block_rows(user, begin, end);
}

static void sweep(trs_ilu_block_sweep *s, int threads, trs_stage_progress *progress)
{
    const trs_ilu_block_levels *v = &s->side->levels[s->upper];
    const bool shared = threads > 1 && s->m->count * s->m->b * s->m->b >= TRS_SHARED_FROM;
    s->order = shared ? v->topo : NULL;
    if (shared) trs_stages_run(v->stage, v->stages, progress, threads, do_rows, s);
    else trs_ilu_block_rows(s, 0, s->m->n);
}

/* M  = (I + L) (D + U):      x = D^-1 (y - U x),  y = b - L y           DILU: x = y - D^-1 U x,  y = D^-1 (b - L y)
 * M' = (D' + U') (I + L'):   x = y - L' x,  y = D'^-1 (b - U' y)        DILU: as M
 * IC(0): M = M^H, and M' = conj (M) */
void trs_ilu_blocks_solve(const trs_ilu_blocks *m, trs_op op, int nrhs, trs_view b, trs_view x,
                          int threads, trs_stage_progress *progress)
{
    const bool transposed = op != TRS_N && !m->cholesky;
    trs_ilu_block_sweep s = {.m = m, .side = &m->side[transposed], .nrhs = nrhs};
    s.conj = op == (m->cholesky ? TRS_T : TRS_H);
    TRS_ASSERT(s.side->val);
    s.b = b, s.x = x;
    s.end = m->diagonal_only || transposed ? TRS_BLOCK_SCALE : TRS_BLOCK_PLAIN;
    sweep(&s, threads, progress);
    s.upper = 1;
    s.b = x;
    if (m->diagonal_only) s.end = TRS_BLOCK_ADD;
    else s.end = transposed ? TRS_BLOCK_PLAIN : TRS_BLOCK_SCALE;
    sweep(&s, threads, progress);
}
