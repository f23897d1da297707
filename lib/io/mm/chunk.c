/* chunk.c: the entries of a text become a chunk, range by range: see mm.h.
 *
 * It is a counting sort by range, whose counts lines.c has made.  All of a chunk is one block of memory:
 *
 *     | trs_mm_chunk | from [ranges+1] | place [ranges] | mark [marks] | entry ... |
 *                      coordinate file   low_memory                      not with low_memory */
#include "config.h"

#include "parse.h"
#include "base/noun.h"

#include <inttypes.h>
#include <string.h>

/* Move the entries of the buffers to where `next` says. */
TRS_INLINE void sort_by_range(trs_mm_worker *w, const int parts, const bool wide)
{
    const trs_mm_job *job = w->job;
    char **next = w->next;
    int shift = job->shift;
    for (int64_t k = 0; k < w->chunk.kept; k++) {
        int64_t i = w->ij[2 * k];
        TRS_ASSERT(i >= 0 && i < job->majors);
        char *p = next[i >> shift];
        uint64_t key = trs_mm_key(job, i, w->ij[2 * k + 1]);
        uint32_t narrow = (uint32_t)key;
        if (wide) memcpy(p, &key, sizeof key);
        else memcpy(p, &narrow, sizeof narrow);
        if (parts) memcpy(p + trs_mm_key_bytes(wide), w->val + parts * k, (size_t)parts * 8);
        next[i >> shift] = p + trs_mm_entry_bytes(parts, wide);
    }
}

/* Set next to places for the entries of each range: in `entry`, or on the range's own pages, which place [r] is to know.
 * false: out of memory. */
static bool find_places(trs_mm_worker *w, const int64_t *from, char *entry, const char **place)
{
    const trs_mm_job *job = w->job;
    int64_t size = trs_mm_entry_bytes(job->parts, job->wide);
    for (int r = 0; r < job->ranges; r++) {
        int64_t n = w->count[r];
        if (!place) {
            w->next[r] = entry + size * from[r];
            continue;
        }
        w->next[r] = n ? trs_mm_carve_range(&w->store, r, size * n) : NULL;
        place[r] = w->next[r];
        if (n && !w->next[r]) return false;
    }
    return true;
}

/* Do the entries of each range end where those of the next one begin? */
static inline bool is_filled(const trs_mm_worker *w, const int64_t *from, const char *entry,
                             const char *const *place)
{
    int64_t size = trs_mm_entry_bytes(w->job->parts, w->job->wide);
    for (int r = 0; r < w->job->ranges; r++) {
        const char *begin = place ? place[r] : entry + size * from[r];
        if (w->count[r] && w->next[r] != begin + size * w->count[r]) return false;
    }
    return true;
}

/* The entries of the buffers become those of the chunk. */
static bool move_entries(trs_mm_worker *w, const int64_t *from, char *entry, const char **place)
{
    const trs_mm_job *job = w->job;
    if (job->head.array) {
        memcpy(entry, w->val, (size_t)(job->parts * w->chunk.kept) * sizeof *w->val);
        return true;
    }
    TRS_ASSERT(from[job->ranges] == w->chunk.kept);
    if (!find_places(w, from, entry, place)) return false;
    if (job->parts == 1 && !job->wide) sort_by_range(w, 1, false);
    else if (job->parts == 1) sort_by_range(w, 1, true);
    else if (job->parts == 0) sort_by_range(w, 0, job->wide);
    else sort_by_range(w, 2, job->wide);
    TRS_ASSERT(is_filled(w, from, entry, place));
    return true;
}

typedef struct layout { /* of a chunk: where its arrays begin, in bytes from its front */
    int64_t from, place, mark, entry, end;
} layout;

static layout lay_out(const trs_mm_worker *w)
{
    const trs_mm_job *job = w->job;
    const bool array = job->head.array;
    const int64_t size = array ? 8 * job->parts : trs_mm_entry_bytes(job->parts, job->wide);
    layout l = {.from = sizeof(trs_mm_chunk)};
    l.place = l.mark = l.from;
    if (!array) l.place = l.mark = l.from + 8 * (job->ranges + 1);
    if (job->pages) l.mark += 8 * job->ranges;
    l.entry = l.end = l.mark + 16 * w->chunk.marks;
    if (!job->pages) l.end += size * w->chunk.kept;
    return l;
}

static trs_mm_chunk *no_memory(trs_mm_worker *w)
{
    const int64_t n = w->chunk.kept;
    trs_mm_worker_fail(w, TRS_EMEM, "out of memory or over the limit: %" PRId64 " %s", n,
                       trs_noun(n, "entry", "entries"));
    return NULL;
}

trs_mm_chunk *trs_mm_new_chunk(trs_mm_worker *w)
{
    trs_mm_job *job = w->job;
    trs_mm_chunk *c = &w->chunk;
    if (w->code) c->kept = 0; /* only the counts are wanted, for the sentence */
    const layout l = lay_out(w);
    char *p = trs_mm_carve(&w->store, l.end);
    if (!p) return no_memory(w);
    int64_t *from = job->head.array ? NULL : (int64_t *)(void *)(p + l.from);
    const char **place = job->pages ? (const char **)(void *)(p + l.place) : NULL;
    if (from) from[0] = 0;
    for (int r = 0; r < job->ranges && from; r++) from[r + 1] = from[r] + w->count[r];
    if (c->kept && !move_entries(w, from, p + l.entry, place)) return no_memory(w);
    if (c->marks) memcpy(p + l.mark, w->mark, (size_t)c->marks * sizeof *w->mark);
    c->from = from;
    c->place = (const char *const *)place;
    c->entry = place ? NULL : p + l.entry;
    c->mark = (const trs_mm_mark *)(const void *)(p + l.mark);
    return memcpy(p, c, sizeof *c);
}

int64_t trs_mm_line(const trs_mm_job *job, int64_t k, int64_t e)
{
    const trs_mm_chunk *c = job->chunk[k];
    trs_mm_mark m = {0, 0};
    for (int64_t t = 0; t < c->marks && c->mark[t].entry <= e; t++) m = c->mark[t];
    int64_t line = job->head.line + 1 + m.line + (e - m.entry);
    for (int64_t t = 0; t < k; t++) line += job->chunk[t]->lines;
    return line;
}
