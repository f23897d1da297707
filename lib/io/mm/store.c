/* store.c: memory while a file is read: see store.h.
 *
 * A thread cuts what its chunks need from slabs of its own, which are large, so that huge pages can carry them.  Only the
 * pages that are touched cost memory.  With low_memory the entries of a range are in pages of their own, which go back
 * to the system as soon as the range is built: then entries and result together take little more than either.
 *
 *     slab    [ chunk | chunk | pages of range 7 | chunk | pages of range 2 | . . . . . . ]
 *                                                                           ^ at        left bytes */
#include "config.h"

#include "store.h"
#include "base/number/number.h"

#include <sys/mman.h>

enum { PAGE = 4096, LEAST_PAGES = 32 << 10, MOST_SLAB = 64 << 20 }; /* bytes */

struct trs_mm_slab {
    struct trs_mm_slab *next;
};

struct trs_mm_pages { /* at the front of the pages themselves */
    struct trs_mm_pages *next;
    int64_t bytes;
};

/* ---- arrays --------------------------------------------------------------------------------- */

void *trs_mm_new(trs_mm_job *job, int64_t count, size_t size)
{
    void *p = NULL;
    trs_mm_lock(job);
    double bytes = (double)count * (double)size;
    if (bytes <= (double)(job->opt.memory_limit - job->used))
        p = trs_alloc(&job->opt.memory, count, size);
    if (p) job->used += count * (int64_t)size;
    trs_mm_unlock(job);
    return p;
}

void trs_mm_delete(trs_mm_job *job, void *p, int64_t count, size_t size)
{
    if (!p) return;
    trs_mm_lock(job);
    job->used -= count * (int64_t)size;
    TRS_ASSERT(job->used >= 0);
    trs_free(&job->opt.memory, p);
    trs_mm_unlock(job);
}

void trs_mm_large_pages(void *p, int64_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t page = 2 << 20, from = ((uintptr_t)p + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)p + (uintptr_t)bytes) & ~(page - 1);
    if (bytes > 4 << 20 && from < to) madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

/* ---- slabs ---------------------------------------------------------------------------------- */

/* The size of a slab that can hold `bytes`; call it under the lock.  A slab holds the share of a thread in all that is
 * still to be parsed, or eight texts when that is unknown. */
static int64_t slab_bytes(const trs_mm_job *job, int64_t bytes)
{
    int64_t most = trs_mm_most_entries(job, job->text_bytes) * (8 * job->parts + 8);
    const int64_t size = trs_input_size(job->in);
    const int64_t spare = (job->opt.memory_limit - job->used) / 8;
    const int64_t all = size < 0 ? 8 * most : 3 * size / job->threads;
    return trs_max(bytes, trs_min(trs_min(all, MOST_SLAB), spare));
}

static bool new_slab(trs_mm_store *s, int64_t bytes)
{
    trs_mm_job *job = s->job;
    int64_t head = (sizeof(trs_mm_slab) + 15) & ~15ul;
    trs_mm_lock(job);
    int64_t size = slab_bytes(job, bytes + head);
    trs_mm_unlock(job);
    trs_mm_slab *slab = trs_mm_new(job, size, 1);
    if (!slab) return false;
    if (!job->opt.low_memory) trs_mm_large_pages(slab, size);
    trs_mm_lock(job);
    slab->next = job->slab;
    job->slab = slab;
    trs_mm_unlock(job);
    s->at = (char *)slab + head;
    s->left = size - head;
    return true;
}

void *trs_mm_carve(trs_mm_store *s, int64_t bytes)
{
    TRS_ASSERT(bytes >= 0 && s->left >= 0);
    bytes = (bytes + 15) & ~(int64_t)15;
    if (bytes > s->left && !new_slab(s, bytes)) return NULL;
    void *p = s->at;
    s->at += bytes;
    s->left -= bytes;
    return p;
}

/* ---- pages of a range ----------------------------------------------------------------------- */

static trs_mm_pages *new_pages(trs_mm_store *s, int r, int64_t bytes)
{
    trs_mm_job *job = s->job;
    bytes = (bytes + PAGE - 1) & ~(int64_t)(PAGE - 1);
    if (bytes + PAGE > s->left && !new_slab(s, bytes + PAGE)) return NULL;
    int64_t skipped = -(int64_t)(uintptr_t)s->at & (PAGE - 1); /* up to the next page */
    trs_mm_pages *b = (trs_mm_pages *)(void *)(s->at + skipped);
    s->at += skipped + bytes;
    s->left -= skipped + bytes;
    TRS_ASSERT(s->left >= 0);
    b->bytes = bytes;
    trs_mm_lock(job);
    b->next = job->pages[r];
    job->pages[r] = b;
    trs_mm_unlock(job);
    return b;
}

char *trs_mm_carve_range(trs_mm_store *s, int r, int64_t bytes)
{
    trs_mm_space *space = &s->space[r];
    if (bytes > space->left) {
        int64_t head = sizeof(trs_mm_pages);
        trs_mm_pages *b = new_pages(s, r, trs_max(bytes + head, LEAST_PAGES));
        if (!b) return NULL;
        space->at = (char *)b + head;
        space->left = b->bytes - head;
    }
    TRS_ASSERT(bytes >= 0 && bytes <= space->left);
    char *p = space->at;
    space->at += bytes;
    space->left -= bytes;
    return p;
}

void trs_mm_give_back(trs_mm_job *job, int r)
{
#ifdef MADV_DONTNEED
    if (!job->pages || job->opt.memory.alloc)
        return; /* the caller's allocator may need its pages */
    for (trs_mm_pages *b = job->pages[r], *next; b; b = next) {
        next = b->next;
        madvise(b, (size_t)b->bytes, MADV_DONTNEED);
    }
#else
    (void)job, (void)r;
#endif
}

void trs_mm_free_slabs(trs_mm_job *job)
{
    while (job->slab) {
        trs_mm_slab *next = job->slab->next;
        trs_free(&job->opt.memory, job->slab);
        job->slab = next;
    }
    trs_free(&job->opt.memory, job->pages);
    job->pages = NULL;
}
