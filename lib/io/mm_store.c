/* mm_store.c: memory for chunks.
 *
 * A thread carves what it needs from slabs of its own, which are large, so that large pages can carry
 * them.  With low_memory the entries of a range lie in blocks of whole pages instead, which are given
 * back as soon as the range is built: then the entries and the result together take little more
 * than either. */
#include "config.h"

#include "mm.h"

#include <sys/mman.h>

enum { PAGE = 4096, BLOCK = 32 << 10, MOST_SLAB = 64 << 20 };

struct trs_mm_slab {
    struct trs_mm_slab *next;
};

struct trs_mm_block { /* at the front of its own bytes */
    struct trs_mm_block *next;
    int64_t bytes;
};

/* Under the lock.  What is never touched of a slab costs nothing. */
static int64_t slab_bytes(const trs_mm_job *job, int64_t bytes)
{
    int64_t most = trs_mm_most_entries(job, job->piece) * (8 * job->words + 8);
    int64_t size = trs_input_size(job->in), all = size < 0 ? 8 * most : 3 * size / job->threads;
    int64_t spare = (job->opt.memory_limit - job->used) / 8;
    if (all > MOST_SLAB) all = MOST_SLAB;
    if (all > spare) all = spare;
    return all > bytes ? all : bytes;
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
    bytes = (bytes + 15) & ~(int64_t)15;
    if (bytes > s->left && !new_slab(s, bytes)) return NULL;
    void *p = s->at;
    s->at += bytes;
    s->left -= bytes;
    return p;
}

/* Whole pages, on the list of range r. */
static trs_mm_block *new_block(trs_mm_store *s, int r, int64_t bytes)
{
    trs_mm_job *job = s->job;
    bytes = (bytes + PAGE - 1) & ~(int64_t)(PAGE - 1);
    if (bytes + PAGE > s->left && !new_slab(s, bytes + PAGE)) return NULL;
    int64_t gap = -(int64_t)(uintptr_t)s->at & (PAGE - 1);
    trs_mm_block *b = (trs_mm_block *)(void *)(s->at + gap);
    s->at += gap + bytes;
    s->left -= gap + bytes;
    b->bytes = bytes;
    trs_mm_lock(job);
    b->next = job->block[r];
    job->block[r] = b;
    trs_mm_unlock(job);
    return b;
}

char *trs_mm_carve_range(trs_mm_store *s, int r, int64_t bytes)
{
    trs_mm_space *space = &s->space[r];
    if (bytes > space->left) {
        int64_t head = sizeof(trs_mm_block);
        trs_mm_block *b = new_block(s, r, bytes + head > BLOCK ? bytes + head : BLOCK);
        if (!b) return NULL;
        space->at = (char *)b + head;
        space->left = b->bytes - head;
    }
    char *p = space->at;
    space->at += bytes;
    space->left -= bytes;
    return p;
}

void trs_mm_give_back(trs_mm_job *job, int r)
{
#ifdef MADV_DONTNEED
    if (!job->block || job->opt.memory.alloc) return; /* whose pages those are we do not know */
    for (trs_mm_block *b = job->block[r], *next; b; b = next) {
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
    trs_free(&job->opt.memory, job->block);
    job->block = NULL;
}
