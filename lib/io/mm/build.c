/* build.c: chunks into CSR, CSC, or COO.
 *
 * Each range is built by one thread: it counts the entries of each of its major indices, places them, and puts them in
 * order.  Counting and placing are the two passes of a counting sort over the range's entries in all chunks:
 *
 *     chunk 0    | range 0 | range 1 | range 2 |
 *     chunk 1    | range 0 | range 1 | range 2 |         range 1 of the result: its entries of chunk 0, chunk 1, ...
 *     chunk 2    | range 0 | range 1 | range 2 |
 *
 * Where duplicates were summed a range is shorter than it was counted, and the ranges after it move up. */
#include "config.h"

#include "build.h"
#include "base/number/number.h"
#include "io/decimal/digits.h"

#include <string.h>

/* ---- a range -------------------------------------------------------------------------------- */

/* The first entry of range r in chunk c. */
static inline const char *first_entry(const trs_mm_chunk *c, int r, int64_t size)
{
    return c->place ? c->place[r] : c->entry + size * c->from[r];
}

/* Prefetch what the chunks after chunk k hold of range r.  In each that is too little for the processor to detect that it
 * is read in order. */
TRS_INLINE void prefetch_entries(const trs_mm_job *job, int64_t k, int r, int64_t size)
{
    if (k + 16 < job->chunks) __builtin_prefetch(job->chunk[k + 16]->from + r);
    if (k + 8 >= job->chunks) return;
    const char *e = first_entry(job->chunk[k + 8], r, size);
    for (int line = 0; e && line < 4; line++) __builtin_prefetch(e + 64 * line);
}

TRS_INLINE uint64_t key_at(const char *entry, const bool wide)
{
    uint64_t key;
    uint32_t narrow;
    if (!wide) return memcpy(&narrow, entry, sizeof narrow), narrow;
    memcpy(&key, entry, sizeof key);
    return key;
}

/* Place the entries of the range by a counting sort.  It counts in end [majors], which is part of ptr: a second array would
 * cost as much memory traffic again.  At last end [k] is where the entries of major index k of the range end. */
TRS_INLINE void place(trs_mm_build_state *b, int r, int64_t *end, int64_t majors, const int parts,
                      const bool wide)
{
    const trs_mm_job *job = b->job;
    const uint64_t mask = ((uint64_t)1 << job->bits) - 1;
    const int64_t size = trs_mm_entry_bytes(parts, wide);
    const int bits = job->bits;
    int32_t *idx = b->idx;
    double *val = b->val;
    int64_t q = b->start[r];
    memset(end, 0, (size_t)majors * sizeof *end);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        const char *e = first_entry(c, r, size);
        prefetch_entries(job, k, r, size);
        for (int64_t n = c->from[r + 1] - c->from[r]; n > 0; n--, e += size)
            end[key_at(e, wide) >> bits]++;
    }
    for (int64_t i = 0; i < majors; i++) {
        int64_t n = end[i];
        end[i] = q;
        q += n;
    }
    TRS_ASSERT(q == b->start[r + 1]);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        const char *e = first_entry(c, r, size);
        for (int64_t n = c->from[r + 1] - c->from[r]; n > 0; n--, e += size) {
            uint64_t key = key_at(e, wide);
            int64_t p = end[key >> bits]++;
            idx[p] = (int32_t)(key & mask);
            if (parts) memcpy(val + parts * p, e + trs_mm_key_bytes(wide), (size_t)parts * 8);
            else val[p] = 1;
        }
    }
    TRS_ASSERT(majors == 0 || end[majors - 1] == b->start[r + 1]);
    trs_mm_give_back(b->job, r);
}

/* The number of major indices that are put in order at a time: a property of all of them is not tested for each. */
enum { SOME = 64 };

/* Put the entries of the major indices i0..i1-1 of range r in order, and close the gaps that duplicates leave. */
static bool order(trs_mm_build_state *b, trs_mm_sorter *s, int r, int64_t i0, int64_t i1)
{
    int64_t begin = b->start[r], to = begin;
    for (int64_t i = i0; i < i1; i += SOME) {
        const int64_t *end = b->ptr + 1 + i;
        const int64_t majors = trs_min(i1 - i, SOME), next = end[majors - 1];
        bool good = trs_mm_all_ascend(b->idx, begin, end, majors);
        if (!good) {
            if (!trs_mm_sort(s, b->idx, b->val, begin, end, majors)) return false;
            good = trs_mm_all_ascend(b->idx, begin, end, majors);
        }
        to = good && to == begin ? next : trs_mm_sum_duplicates(b, i, begin, to, majors);
        TRS_ASSERT(to <= next);
        begin = next;
    }
    b->end[r] = to;
    return true;
}

static bool build_range(trs_mm_build_state *b, trs_mm_sorter *s, int r)
{
    const trs_mm_job *job = b->job;
    const int64_t i0 = (int64_t)r << job->shift;
    const int64_t i1 = trs_min((int64_t)(r + 1) << job->shift, job->majors);
    TRS_ASSERT(i0 < i1);
    int64_t *end = b->ptr + 1 + i0, majors = i1 - i0;
    if (job->parts == 1 && !job->wide) place(b, r, end, majors, 1, false);
    else if (job->parts == 1) place(b, r, end, majors, 1, true);
    else if (job->parts == 0) place(b, r, end, majors, 0, job->wide);
    else place(b, r, end, majors, 2, job->wide);
    return order(b, s, r, i0, i1);
}

static void close_input(trs_mm_job *job)
{
    trs_mm_lock(job);
    trs_input_close(job->in);
    job->in = NULL;
    trs_mm_unlock(job);
}

static void build_ranges(trs_mm_build_state *b)
{
    trs_mm_job *job = b->job;
#pragma omp parallel num_threads(job->threads)
    {
        trs_mm_sorter s = {.job = job};
#pragma omp single nowait
        close_input(job); /* unmapping takes a while: the others are already at work */
#pragma omp for schedule(dynamic)
        for (int r = 0; r < job->ranges; r++)
            if (!build_range(b, &s, r)) {
#pragma omp atomic write
                b->failed = true;
            }
        trs_mm_free_sorter(&s);
    }
}

/* Close the gaps between ranges; returns how many entries are left. */
static int64_t close_gaps(trs_mm_build_state *b)
{
    const trs_mm_job *job = b->job;
    int64_t to = 0;
    const int64_t parts = trs_max(job->parts, 1);
    for (int r = 0; r < job->ranges; r++) {
        int64_t from = b->start[r], n = b->end[r] - from, last = (int64_t)(r + 1) << job->shift;
        TRS_ASSERT(to <= from && n >= 0);
        if (to < from) {
            memmove(b->idx + to, b->idx + from, (size_t)n * sizeof *b->idx);
            memmove(b->val + parts * to, b->val + parts * from, (size_t)(n * parts) * 8);
            for (int64_t i = (int64_t)r << job->shift; i < last && i < job->majors; i++)
                b->ptr[i + 1] -= from - to;
        }
        to += n;
    }
    return to;
}

/* ---- the arrays ----------------------------------------------------------------------------- */

/* Find where each range begins; returns the number of all entries. */
static int64_t count_ranges(trs_mm_build_state *b)
{
    const trs_mm_job *job = b->job;
    int64_t sum = 0;
    memset(b->start, 0, (size_t)(job->ranges + 1) * sizeof *b->start);
    for (int64_t k = 0; k < job->chunks; k++) {
        const int64_t *from = job->chunk[k]->from;
        for (int r = 0; r < job->ranges; r++) b->start[r] += from[r + 1] - from[r];
    }
    for (int r = 0; r <= job->ranges; r++) {
        int64_t n = b->start[r];
        b->start[r] = sum;
        sum += n;
    }
    return sum;
}

/* Allocate the arrays of the result.  mm owns them at once, so that they are freed whatever happens. */
static bool new_arrays(trs_mm_build_state *b, int64_t nnz)
{
    trs_mm_job *job = b->job;
    trs_mm *mm = job->mm;
    const int64_t parts = trs_max(job->parts, 1);
    b->ptr = mm->ptr = trs_mm_new(job, job->majors + 1, sizeof *mm->ptr);
    b->idx = mm->idx = trs_mm_new(job, nnz, sizeof *mm->idx);
    b->val = mm->val = trs_mm_new(job, parts * nnz, sizeof *b->val);
    if (!b->ptr || !b->idx || !b->val) return false;
    b->ptr[0] = 0;
    trs_mm_large_pages(b->ptr, (job->majors + 1) * 8);
    trs_mm_large_pages(b->idx, nnz * 4);
    trs_mm_large_pages(b->val, parts * nnz * 8);
    return true;
}

/* Make the row of every entry, in place of the pointers. */
static int make_coo(trs_mm_job *job)
{
    trs_mm *mm = job->mm;
    mm->row = trs_mm_new(job, mm->nnz, sizeof *mm->row);
    if (!mm->row) return trs_mm_too_large(job, mm->nnz);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t i = 0; i < job->majors; i++)
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++)
            mm->row[p] = (int32_t)i + job->opt.base;
    trs_mm_delete(job, mm->ptr, job->majors + 1, sizeof *mm->ptr);
    mm->ptr = NULL;
    return TRS_OK;
}

/* Make the result of the ranges that are built. */
static int finish(trs_mm_build_state *b)
{
    trs_mm_job *job = b->job;
    trs_mm *mm = job->mm;
    int base = job->opt.base;
    if (b->duplicate[0] >= 0 && job->opt.refuse_duplicates) return trs_mm_refuse_duplicates(b);
    if (b->overflow[0] >= 0) return trs_mm_refuse_sum(b);
    mm->nnz = close_gaps(b);
    mm->duplicates = b->start[job->ranges] - mm->nnz;
    int rc = TRS_OK;
    if (mm->format == TRS_COO) rc = make_coo(job);
    for (int64_t p = 0; base && p < mm->nnz; p++) mm->idx[p] += base;
    for (int64_t i = 0; base && mm->ptr && i <= job->majors; i++) mm->ptr[i] += base;
    return rc;
}

int trs_mm_build(trs_mm_job *job)
{
    trs_mm_build_state b = {.job = job, .duplicate = {-1, -1}, .overflow = {-1, -1}};
    int rc;
    b.start = trs_mm_new(job, job->ranges + 1, sizeof *b.start);
    b.end = trs_mm_new(job, job->ranges, sizeof *b.end);
    const bool lists = b.start && b.end;
    const int64_t nnz = lists ? count_ranges(&b) : 0;
    b.failed = !lists || !new_arrays(&b, nnz);
    if (!b.failed) build_ranges(&b);
    if (b.failed) rc = trs_mm_too_large(job, nnz);
    else rc = finish(&b);
    trs_mm_delete(job, b.start, job->ranges + 1, sizeof *b.start);
    trs_mm_delete(job, b.end, job->ranges, sizeof *b.end);
    return rc;
}
