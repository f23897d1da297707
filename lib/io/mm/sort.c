/* sort.c: the minor indices of each major index in ascending order, with their values.
 *
 * The entries of files sorted by rows or by columns come out in order, and are only looked at, many major indices at a
 * time.  Others are sorted by counting where they are few, and by digits, eight bits at a time, where they are many.  All
 * sorts are stable, so that duplicates are summed in the order of the file. */
#include "config.h"

#include "build.h"
#include "io/decimal/digits.h"

#include <string.h>

enum { SHORT = 24 }; /* up to so many entries are sorted by comparing each with each */

/* ---- in order? ------------------------------------------------------------------------------ */

static inline bool ascends(const int32_t *idx, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (idx[k - 1] >= idx[k]) return false;
    return true;
}

/* Do the minor indices of every major index ascend?  They do when an index that is not larger than the one before it, a
 * fall, stands nowhere else than where a major index begins.  So all falls are counted without knowing where these begin,
 * and then those at the beginnings are taken off: a loop over the entries of each major index would be mispredicted at
 * every end. */
bool trs_mm_all_ascend(const int32_t *idx, int64_t begin, const int64_t *end, int64_t majors)
{
    int64_t last = end[majors - 1], falls = 0;
    for (int64_t p = begin + 1; p < last; p++) falls += idx[p - 1] >= idx[p];
    for (int64_t k = 0; end[k] < last; begin = end[k++]) {
        /* an empty one ends where another one has ended: count that once */
        const int some = end[k] > begin;
        falls -= some & (idx[end[k] - some] >= idx[end[k]]);
    }
    return falls == 0;
}

/* ---- few entries ---------------------------------------------------------------------------- */

TRS_INLINE void copy_value(double *to, const double *from, int parts)
{
    if (parts > 0) to[0] = from[0];
    if (parts > 1) to[1] = from[1];
}

/* For n <= SHORT: the place of each entry is the number of those before it, which is counted without a branch that could be
 * mispredicted. */
TRS_INLINE void rank_sort(int32_t *idx, double *val, int n, const int parts)
{
    TRS_ASSERT(n >= 0 && n <= SHORT);
    int32_t j[SHORT];
    double v[2 * SHORT];
    memcpy(j, idx, (size_t)n * sizeof *j);
    if (parts) memcpy(v, val, (size_t)(parts * n) * sizeof *v);
    for (int k = 0; k < n; k++) {
        int place = 0;
        for (int m = 0; m < k; m++) place += j[m] <= j[k];
        for (int m = k + 1; m < n; m++) place += j[m] < j[k];
        idx[place] = j[k];
        copy_value(val + parts * place, v + parts * k, parts);
    }
}

/* The same for a constant n <= 8: each pair is compared once, and all stays in registers. */
TRS_INLINE void pair_sort(int32_t *idx, double *val, const int n, const int parts)
{
    int32_t j[8];
    double v[16];
    int place[8];
    memcpy(j, idx, (size_t)n * sizeof *j);
    if (parts) memcpy(v, val, (size_t)(parts * n) * sizeof *v);
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
        place[k] = 0;
#pragma GCC unroll 8
        for (int m = 0; m < k; m++) {
            const int after = j[m] <= j[k];
            place[k] += after;
            place[m] += 1 - after;
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
        idx[place[k]] = j[k];
        copy_value(val + parts * place[k], v + parts * k, parts);
    }
}

#define PAIR_SORT(n)                                                                               \
    case n:                                                                                        \
        pair_sort(idx, val, n, parts);                                                             \
        break;

/* One jump that cannot be predicted, in place of as many as there are entries. */
TRS_INLINE void sort_short(int32_t *idx, double *val, int n, const int parts)
{
    switch (n) {
        PAIR_SORT(2)
        PAIR_SORT(3)
        PAIR_SORT(4)
        PAIR_SORT(5)
        PAIR_SORT(6)
        PAIR_SORT(7)
        PAIR_SORT(8)
    default:
        rank_sort(idx, val, n, parts);
    }
}

/* ---- many entries --------------------------------------------------------------------------- */

/* One pass of a radix sort: by eight bits of idx, equal ones in their order. */
static void digit_pass(const int32_t *idx, const double *val, int32_t *to_idx, double *to_val,
                       int64_t n, int parts, int bit)
{
    int64_t next[257] = {0};
    for (int64_t k = 0; k < n; k++) next[((idx[k] >> bit) & 255) + 1]++;
    for (int d = 0; d < 256; d++) next[d + 1] += next[d];
    for (int64_t k = 0; k < n; k++) {
        int64_t q = next[(idx[k] >> bit) & 255]++;
        to_idx[q] = idx[k];
        copy_value(to_val + parts * q, val + parts * k, parts);
    }
}

void trs_mm_free_sorter(trs_mm_sorter *s)
{
    trs_mm_job *job = s->job;
    trs_mm_delete(job, s->idx, s->room, sizeof *s->idx);
    trs_mm_delete(job, s->val, job->parts * s->room, sizeof *s->val);
    *s = (trs_mm_sorter){.job = job};
}

static bool make_room(trs_mm_sorter *s, int64_t n)
{
    trs_mm_job *job = s->job;
    if (n <= s->room) return true;
    trs_mm_free_sorter(s);
    s->idx = trs_mm_new(job, n, sizeof *s->idx);
    s->val = trs_mm_new(job, job->parts * n, sizeof *s->val);
    s->room = n;
    if (s->idx && s->val) return true;
    trs_mm_free_sorter(s);
    return false;
}

/* Two passes at a time, to the arrays of s and back.  false: out of memory. */
static bool radix_sort(trs_mm_sorter *s, int32_t *idx, double *val, int64_t n)
{
    const int parts = s->job->parts;
    int32_t most = 0;
    for (int64_t k = 0; k < n; k++) most |= idx[k];
    if (!make_room(s, n)) return false;
    for (int bit = 0; bit < 32 && most >> bit; bit += 16) {
        digit_pass(idx, val, s->idx, s->val, n, parts, bit);
        digit_pass(s->idx, s->val, idx, val, n, parts, bit + 8);
    }
    return true;
}

/* ---- some major indices ---------------------------------------------------------------------- */

TRS_INLINE bool sort_each(trs_mm_sorter *s, int32_t *idx, double *val, int64_t begin,
                          const int64_t *end, int64_t majors, const int parts)
{
    for (int64_t k = 0; k < majors; begin = end[k++]) {
        int32_t *j = idx + begin;
        double *v = val + parts * begin;
        int64_t n = end[k] - begin;
        TRS_ASSERT(n >= 0);
        if (n < 2 || (n > SHORT && ascends(j, n))) continue;
        if (n <= SHORT) sort_short(j, v, (int)n, parts);
        else if (!radix_sort(s, j, v, n)) return false;
    }
    return true;
}

bool trs_mm_sort(trs_mm_sorter *s, int32_t *idx, double *val, int64_t begin, const int64_t *end,
                 int64_t majors)
{
    if (s->job->parts == 1) return sort_each(s, idx, val, begin, end, majors, 1);
    if (s->job->parts == 0) return sort_each(s, idx, val, begin, end, majors, 0);
    return sort_each(s, idx, val, begin, end, majors, 2);
}
