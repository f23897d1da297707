/* schedule.c: how large the row tiles of cuda-strips are, and their schedule (strips.h) in the order of its steps
 * (schedule.h). */
#include "config.h"

#include "schedule.h"

/* ---- how many rows a tile has ------------------------------------------------------------------------ */

/* Row tiles gain where the latency of a dependency counts and is short, which it is inside an SM: there must be many
 * levels, wide enough for a warp, with rows of few entries.  With fewer rows there are more tiles, and a path crosses
 * from one to another more often; with more rows a level has more tasks, which one block has to do.  Between them
 * is the smallest tile whose levels fill FULL_PERCENT of the lanes of a warp each. */
enum {
    LEVELS_FROM = 400,
    WIDTH_FROM = 16, /* rows in a level, on average */
    LENGTH_TO = 16,  /* entries of a row, on average */
    SAMPLES = TRS_STRIP_SAMPLES,
    FULL_PERCENT = 85
};
static const double MOST_HALO = 0.3; /* entries of a row in columns before its tile, on average */

typedef struct sample {
    const trs_tri *t;
    const trs_levels *lv;
    int32_t *level; /* [n] */
    int32_t *stamp; /* [levels] the sample that has met this level last */
    int32_t number;
} sample;

static void find_levels(void *user, int64_t begin, int64_t end)
{
    sample *s = user;
    for (int64_t l = begin; l < end; l++)
        for (int32_t k = s->lv->ptr[l]; k < s->lv->ptr[l + 1]; k++)
            s->level[s->lv->topo[k]] = (int32_t)l;
}

/* Levels that rows from .. from + rows - 1 belong to, and entries in columns before them. */
static void look_from(sample *s, int32_t from, int32_t rows, int64_t *levels, int64_t *halo)
{
    s->number++;
    for (int32_t i = from; i < from + rows; i++) {
        if (s->stamp[s->level[i]] != s->number) ++*levels;
        s->stamp[s->level[i]] = s->number;
        for (int64_t p = s->t->ptr[i]; p < s->t->ptr[i + 1] - 1 && s->t->idx[p] < from; p++)
            ++*halo;
    }
}

static bool look_here(void *user, const int32_t *rows, int count, int64_t (*found)[2])
{
    sample *s = user;
    for (int k = 0; k < count; k++) {
        found[k][0] = found[k][1] = 0;
        for (int i = 1; i <= SAMPLES; i++)
            look_from(s, (int32_t)((int64_t)(s->t->n - rows[k]) * i / SAMPLES), rows[k],
                      &found[k][0], &found[k][1]);
    }
    return true;
}

int32_t trs_strips_sampled(int32_t n, int at_once, trs_strips_look *look, void *user)
{
    enum { MOST_SIZES = 100 }; /* 1024 * 1.15^100 is more than 2^30 */
    int32_t rows[MOST_SIZES];
    int64_t found[MOST_SIZES][2];
    int sizes = 0;
    for (double size = 1024; size < n / 4.; size *= 1.15) rows[sizes++] = (int32_t)size;
    TRS_ASSERT(sizes <= MOST_SIZES);
    for (int k = 0; k < sizes; k++) {
        const double all = (double)rows[k] * SAMPLES;
        if (k % at_once == 0 && !look(user, rows + k, smaller(sizes - k, at_once), found + k))
            return 0;
        if (100 * all < (double)found[k][0] * TRS_STRIP_WARP * FULL_PERCENT) continue;
        return (double)found[k][1] > all * MOST_HALO ? 0 : rows[k];
    }
    return 0;
}

bool trs_strips_possible(const trs_tri *t, const trs_levels *lv)
{
    return lv->count >= LEVELS_FROM && t->n / lv->count >= WIDTH_FROM &&
           t->nnz <= (int64_t)LENGTH_TO * t->n;
}

int32_t trs_strips_rows(trs_context *ctx, const trs_tri *t, const trs_levels *lv)
{
    sample s = {.t = t, .lv = lv};
    int32_t rows = 0;
    if (!trs_strips_possible(t, lv)) return 0;
    s.level = trs_alloc(&ctx->mem, t->n, sizeof *s.level);
    s.stamp = trs_alloc_zero(&ctx->mem, lv->count, sizeof *s.stamp);
    if (s.level && s.stamp) {
        trs_share(trs_team(ctx, t->n), lv->count, 16, find_levels, &s);
        rows = trs_strips_sampled(t->n, 1, look_here, &s);
    }
    trs_free(&ctx->mem, s.level);
    trs_free(&ctx->mem, s.stamp);
    return rows;
}

/* ---- the schedule ------------------------------------------------------------------------------------- */

static int builder_new(builder *b)
{
    trs_context *ctx = b->ctx;
    const trs_memory *mem = &ctx->mem;
    const int64_t n = b->t->n, tiles = b->s->tiles;
    b->order = trs_new_touched(ctx, n, sizeof *b->order, "rows of row tiles");
    b->position = trs_new_touched(ctx, n, sizeof *b->position, "positions of rows");
    b->group = trs_new_touched(ctx, n, sizeof *b->group, "row groups");
    b->size = trs_alloc(mem, tiles, sizeof *b->size);
    b->first_ell = trs_alloc(mem, tiles, sizeof *b->first_ell);
    b->halo = trs_alloc_zero(mem, tiles, sizeof *b->halo);
    b->s->tile = trs_alloc_zero(mem, tiles + 1, sizeof *b->s->tile);
    const bool enough = b->order && b->position && b->group && b->size && b->first_ell && b->halo;
    return enough && b->s->tile ? TRS_OK : trs_fail(TRS_EMEM, "out of memory for row tiles");
}

static void builder_free(builder *b)
{
    const trs_memory *mem = &b->ctx->mem;
    for (int32_t k = 0; b->halo && k < b->s->tiles; k++) trs_free(mem, b->halo[k].entry);
    trs_free(mem, b->order);
    trs_free(mem, b->position);
    trs_free(mem, b->group);
    trs_free(mem, b->size);
    trs_free(mem, b->first_ell);
    trs_free(mem, b->halo);
}

/* Where each tile begins, from the sizes of all. */
static int place_tiles(builder *b)
{
    trs_strips *s = b->s;
    int64_t tasks = 0, packets = 0; /* each fits 32 bits, their sum may not */
    for (int32_t k = 0; k < s->tiles; k++) {
        b->first_ell[k] = s->ells;
        s->ells += b->size[k].ells;
        tasks += b->size[k].tasks;
        packets += b->size[k].packets;
        if (tasks > INT32_MAX / TRS_STRIP_WARP)
            return trs_fail(TRS_ESUPPORT, "too many tasks of row tiles for 32 bits");
        s->tile[k + 1].task = (int32_t)tasks;
        s->tile[k + 1].packet = (int32_t)packets;
    }
    s->tasks = (int32_t)tasks;
    s->packets = (int32_t)packets;
    return TRS_OK;
}

static int schedule_new(builder *b)
{
    trs_context *ctx = b->ctx;
    trs_strips *s = b->s;
    const int64_t places = (int64_t)s->tasks * TRS_STRIP_WARP, entries = s->ells * TRS_STRIP_WARP;
    s->packet = trs_new(ctx, s->packets, sizeof *s->packet, "packets of row tiles");
    s->row = trs_new_touched(ctx, places, sizeof *s->row, "rows of tasks");
    s->code = trs_new_touched(ctx, entries, sizeof *s->code, "slots of entries");
    s->entry = trs_new_touched(ctx, entries, sizeof *s->entry, "entries of row tiles");
    return s->packet && s->row && s->code && s->entry ? TRS_OK : TRS_EMEM;
}

static int build(builder *b)
{
    const int threads = trs_team_with_memory(b->ctx, b->t->nnz);
    int rc = builder_new(b);
    if (!rc) rc = trs_strips_order_rows(b, threads);
    if (rc) return rc;
    trs_strips_count_tasks(b, threads);
    rc = place_tiles(b);
    if (!rc) rc = schedule_new(b);
    return rc ? rc : trs_strips_write_tiles(b, threads);
}

int trs_strips_make(trs_context *ctx, const trs_tri *t, const trs_levels *lv, int32_t rows,
                    trs_strips *s)
{
    builder b = {.ctx = ctx, .t = t, .lv = lv, .s = s, .tile_rows = rows};
    *s = (trs_strips){.tiles = t->n / rows + (t->n % rows > 0)};
    const int rc = build(&b);
    builder_free(&b);
    if (rc) trs_strips_free(ctx, s);
    return rc;
}

void trs_strips_free(trs_context *ctx, trs_strips *s)
{
    const trs_memory *mem = &ctx->mem;
    trs_free(mem, s->tile);
    trs_free(mem, s->packet);
    trs_free(mem, s->halo);
    trs_free(mem, s->row);
    trs_free(mem, s->code);
    trs_free(mem, s->entry);
    *s = (trs_strips){0};
}
