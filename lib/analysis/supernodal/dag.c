/* dag.c: the supernodal DAG: which columns of which predecessors each supernode needs, its level, and the chains.
 *
 * A supernode's edges are found from the runs of its rows.  Every thread writes the edges that it finds into an
 * arena of its own.  Edges and levels do not depend on the number of threads. */
#include "config.h"

#include "steps.h"

#include "base/debug.h"
#include "base/parallel.h"

/* ---- edges --------------------------------------------------------------------------------------------- */

struct trs_edge_finder { /* of one thread */
    trs_arena arena;     /* of the edges */
    int32_t *slot; /* [count] where a source would stand among the edges of the supernode at hand */
};

/* The edge from a source, which is there among so many edges, or added; NULL: out of memory.  A slot that was written
 * for another supernode is recognised by the source that stands there. */
static trs_edge *edge_from(trs_edge_finder *f, int32_t *edges, int32_t source)
{
    const int32_t k = f->slot[source];
    trs_edge *all = trs_arena_more(&f->arena, *edges);
    if (!all) return NULL;
    if (k < *edges && all[k].source == source) return &all[k];
    all[*edges] = (trs_edge){.source = source};
    f->slot[source] = *edges;
    return &all[(*edges)++];
}

/* Adds what row i needs, and all rows of the mask, which have its pattern: its columns before first. */
static bool add_row(const trs_build *b, trs_edge_finder *f, int32_t *edges, uint64_t row_mask,
                    int32_t i, int32_t first)
{
    const trs_run_row *row = &b->pattern->row[i];
    for (int32_t r = 0; r < row->runs && row->run[r].begin < first; r++) {
        const int32_t run_end = trs_run_end(b->pattern, i, r);
        const int32_t end = run_end < first ? run_end : first;
        int32_t from = row->run[r].begin;
        for (int32_t s = b->of_row[from]; from < end; s++) {
            const int32_t base = b->supernode[s].first, next = base + b->supernode[s].rows;
            const int32_t to = next < end ? next : end;
            trs_edge *k = edge_from(f, edges, s);
            if (!k) return false;
            k->row_mask |= row_mask;
            k->column_mask |= trs_low_bits(to - base) & ~trs_low_bits(from - base);
            from = to;
        }
    }
    return true;
}

/* Rows that share the runs of the row before are added with that row. */
static bool find_predecessors(trs_build *b, trs_edge_finder *f, int32_t t)
{
    const trs_supernode *k = &b->supernode[t];
    int32_t edges = 0;
    for (int32_t i = 0, e; i < k->rows; i = e) {
        for (e = i + 1; e < k->rows && b->pattern->row[k->first + e].same; e++) continue;
        const uint64_t alike = trs_low_bits(e) & ~trs_low_bits(i);
        if (!add_row(b, f, &edges, alike, k->first + i, k->first)) return false;
    }
    b->node[t] = (trs_node){.edge = trs_arena_keep(&f->arena, edges), .edges = edges};
    return true;
}

/* ---- levels and chains ------------------------------------------------------------------------------- */

/* Entries that L has room for between the rows and the columns of an edge. */
static int64_t area_of(const trs_edge *e)
{
    return (int64_t)trs_bits(e->row_mask) * trs_bits(e->column_mask);
}

/* May t go on with the chain that begins with supernode `first` and ends with t-1?  All predecessors before the
 * chain have to be of earlier levels.  At least half of each panel of D, and of all late panels together, has to be
 * filled. */
static bool fits_chain(const trs_build *b, int32_t t, int32_t first)
{
    const int32_t level = b->level[first], rows = b->supernode[t].rows;
    const trs_node *node = &b->node[t];
    int64_t late = 0, late_area = 0;
    int32_t in_chain = 0;
    for (const trs_edge *e = node->edge; e < node->edge + node->edges; e++) {
        if (e->source < first && b->level[e->source] >= level) return false;
        if (e->source >= first) {
            if (2 * area_of(e) < (int64_t)rows * b->supernode[e->source].rows) return false;
            in_chain++;
        } else if (b->level[e->source] >= level - TRS_LATE_LEVELS) {
            late += (int64_t)rows * trs_bits(e->column_mask);
            late_area += area_of(e);
        }
    }
    return in_chain == t - first && 2 * late_area >= late;
}

static bool continues_chain(const trs_build *b, int32_t t)
{
    if (t == 0 || !trs_is_large(&b->supernode[t]) || !trs_is_large(&b->supernode[t - 1]))
        return false;
    const int32_t first = t - 1 - b->supernode[t - 1].chain_place;
    return t - first < TRS_CHAIN && fits_chain(b, t, first);
}

/* Gives levels to begin .. end-1, once all supernodes before begin have theirs. */
static void find_levels(trs_build *b, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) {
        const trs_node *node = &b->node[t];
        int32_t level = 0;
        if (continues_chain(b, t)) {
            b->supernode[t].chain_place = b->supernode[t - 1].chain_place + 1;
            b->level[t] = b->level[t - 1];
            continue;
        }
        for (int32_t k = 0; k < node->edges; k++) {
            const int32_t after = b->level[node->edge[k].source] + 1;
            TRS_ASSERT(node->edge[k].source < t);
            if (after > level) level = after;
        }
        b->level[t] = level;
    }
}

static void measure_chains(trs_build *b)
{
    for (int32_t t = b->count - 1; t >= 0; t--) {
        trs_supernode *k = &b->supernode[t];
        const bool last = t + 1 == b->count || k[1].chain_place == 0;
        k->chain_length = last ? k->chain_place + 1 : k[1].chain_length;
        TRS_ASSERT(k->chain_place < k->chain_length && k->chain_length <= TRS_CHAIN);
    }
}

/* Levels are handed on: who has found the edges of some supernodes waits until those before have levels.
 * Supernodes are claimed in order, so another thread is at work on those that one waits for.  No range is empty, which
 * would set `leveled` back. */
static void find_some(void *user, int thread, int32_t begin, int32_t end)
{
    trs_build *b = user;
    TRS_ASSERT(begin < end);
    for (int32_t t = begin; t < end && !b->failed; t++)
        if (!find_predecessors(b, &b->finder[thread], t)) b->failed = true;
    trs_wait_for(&b->leveled, begin);
    if (!b->failed) find_levels(b, begin, end);
    atomic_store_explicit(&b->leveled, end, memory_order_release);
}

/* There are at most so many threads that their slots take no more room than the triangle. */
static int new_finders(trs_build *b)
{
    const trs_memory *mem = &b->ctx->mem;
    const int64_t most = 1 + b->pattern->entries / ((int64_t)b->count + 1);
    bool got = true;
    b->finders = most < b->threads ? (int)most : b->threads;
    b->finder = trs_alloc_zero(mem, b->finders, sizeof *b->finder);
    for (int k = 0; k < b->finders && b->finder; k++) {
        trs_edge_finder *f = &b->finder[k];
        f->arena = (trs_arena){.mem = mem, .size = sizeof(trs_edge), .most = b->pattern->entries};
        f->slot = trs_alloc_zero(mem, b->count, sizeof *f->slot);
        got = got && f->slot;
    }
    return b->finder && got ? TRS_OK : TRS_EMEM;
}

int trs_find_edges(trs_build *b)
{
    const int64_t claim = trs_claim(b);
    const int32_t claims = (int32_t)((b->count + claim - 1) / claim); /* none of them is empty */
    const trs_level_stage all = {0, b->count, claims};
    trs_stage_progress progress[2];
    const int rc = new_finders(b);
    if (!rc) trs_stages_run(&all, 1, progress, b->finders, find_some, b);
    if (rc || b->failed) return trs_fail(TRS_EMEM, "out of memory for the edges of supernodes");
    measure_chains(b);
    return TRS_OK;
}

void trs_finders_free(trs_build *b)
{
    for (int k = 0; b->finder && k < b->finders; k++) {
        trs_arena_free(&b->finder[k].arena);
        trs_free(&b->ctx->mem, b->finder[k].slot);
    }
    trs_free(&b->ctx->mem, b->finder);
}
