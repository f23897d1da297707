/* tile_rows.c: the rows of each tile, level by level.
 *
 * Levels list all rows by level.  That list is cut into as many parts as keep the threads busy, and each part is
 * dealt out to the tiles: first counted, so that every part knows where its rows go in each tile, behind those of
 * the parts before it; then written.  It is a counting sort by tiles, which is stable and so keeps the order of
 * levels. */
#include "config.h"

#include "schedule.h"

typedef struct sort {
    builder *b;
    int32_t parts;
    /* [parts][tiles] rows of a part in each tile; of the last part nobody needs them */
    int32_t *count;
    int32_t *place; /* [parts][tiles] where in order the next one of them goes */
} sort;

static int32_t part_begin(const sort *s, int64_t part)
{
    return (int32_t)(s->b->t->n * part / s->parts);
}

static void count_parts(void *user, int64_t begin, int64_t end)
{
    const sort *s = user;
    const builder *b = s->b;
    for (int64_t part = begin; part < end; part++) {
        int32_t *count = s->count + part * b->s->tiles;
        for (int32_t k = part_begin(s, part); k < part_begin(s, part + 1); k++)
            count[b->lv->topo[k] / b->tile_rows]++;
    }
}

static void place_parts(const sort *s)
{
    const int32_t tiles = s->b->s->tiles;
    for (int32_t tile = 0; tile < tiles; tile++) {
        int32_t place = first_row(s->b, tile);
        for (int64_t part = 0; part < s->parts; part++) {
            s->place[part * tiles + tile] = place;
            place += s->count[part * tiles + tile];
        }
        TRS_ASSERT(place <= first_row(s->b, tile + 1));
    }
}

/* The level of topo [k]. */
static int32_t level_at(const trs_levels *lv, int32_t k)
{
    int32_t low = 0, high = lv->count; /* ptr [low] <= k < ptr [high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (lv->ptr[middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

static void write_parts(void *user, int64_t begin, int64_t end)
{
    const sort *s = user;
    const builder *b = s->b;
    const trs_levels *lv = b->lv;
    for (int64_t part = begin; part < end; part++) {
        int32_t *place = s->place + part * b->s->tiles;
        int32_t k = part_begin(s, part), level = level_at(lv, k);
        for (; k < part_begin(s, part + 1); k++) {
            while (lv->ptr[level + 1] <= k) level++;
            const int32_t row = lv->topo[k], tile = row / b->tile_rows;
            TRS_ASSERT(place[tile] < first_row(b, (int64_t)tile + 1));
            b->order[place[tile]++] = (level_row){row, level};
        }
    }
}

static int32_t parts_for(const builder *b, int threads)
{
    const int32_t tiles = b->s->tiles, most = tiles ? b->t->n / tiles : 1;
    return threads == 1 ? 1 : smaller(4 * threads, most);
}

int trs_strips_order_rows(builder *b, int threads)
{
    const trs_memory *mem = &b->ctx->mem;
    sort s = {.b = b, .parts = parts_for(b, threads)};
    const int64_t places = (int64_t)s.parts * b->s->tiles;
    s.count = trs_alloc_zero(mem, places, sizeof *s.count);
    s.place = trs_alloc(mem, places, sizeof *s.place);
    const bool enough = s.count && s.place;
    if (enough) {
        trs_share(threads, s.parts - 1, 1, count_parts, &s);
        place_parts(&s);
        trs_share(threads, s.parts, 1, write_parts, &s);
    }
    trs_free(mem, s.count);
    trs_free(mem, s.place);
    return enough ? TRS_OK : trs_fail(TRS_EMEM, "out of memory for the rows of row tiles");
}
