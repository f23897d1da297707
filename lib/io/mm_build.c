/* mm_build.c: chunks into CSR, CSC, COO or a dense matrix.
 *
 * Each range of lines is one task: count its lines, place its entries, put each line in order,
 * sum what stands twice.  Counting and placing are two passes over the range's entries in all
 * chunks; the lines of files sorted by rows or by columns come out in order, others are sorted
 * one by one, by digits when long. */
#include "config.h"

#include "mm.h"
#include "mm_number.h"
#include "base/noun.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

typedef struct build {
    trs_mm_job *job;
    int64_t *start;   /* [ranges+1]: where the entries of each range begin */
    int64_t *end;     /* [ranges]: and end, duplicates summed */
    int64_t *ptr;     /* [lines+1] */
    int32_t *idx;     /* [nnz] */
    double *val;      /* [words*nnz] */
    int64_t twice[2]; /* line and place of the first entry given twice, -1: none */
    bool failed;      /* out of memory */
} build;

enum { SHORT = 24 }; /* entries of a line that is sorted by comparing each with each */

typedef struct spare { /* room to sort a line in */
    int32_t *idx;
    double *val;
    int64_t room;
} spare;

/* ---- lines in order ------------------------------------------------------------------------ */

TRS_INLINE void copy_value(double *to, const double *from, int words)
{
    if (words > 0) to[0] = from[0];
    if (words > 1) to[1] = from[1];
}

/* A short line: each entry's place is the number of those before it, counted without a branch
 * that could be guessed wrong.  n <= SHORT. */
TRS_INLINE void rank_sort(int32_t *idx, double *val, int n, const int words)
{
    int32_t j[SHORT];
    double v[2 * SHORT];
    memcpy(j, idx, (size_t)n * sizeof *j);
    if (words) memcpy(v, val, (size_t)(words * n) * sizeof *v);
    for (int k = 0; k < n; k++) {
        int place = 0;
        for (int m = 0; m < k; m++) place += j[m] <= j[k];
        for (int m = k + 1; m < n; m++) place += j[m] < j[k];
        idx[place] = j[k];
        copy_value(val + words * place, v + words * k, words);
    }
}

/* The same with n known to the compiler, 8 at most: each pair is compared once, and all stays in registers. */
TRS_INLINE void pair_sort(int32_t *idx, double *val, const int n, const int words)
{
    int32_t j[8];
    double v[16];
    int place[8];
    memcpy(j, idx, (size_t)n * sizeof *j);
    if (words) memcpy(v, val, (size_t)(words * n) * sizeof *v);
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
        copy_value(val + words * place[k], v + words * k, words);
    }
}

/* One jump that cannot be guessed, in place of a loop end for every entry. */
TRS_INLINE void sort_short(int32_t *idx, double *val, int n, const int words)
{
    switch (n) {
    case 2:
        pair_sort(idx, val, 2, words);
        break;
    case 3:
        pair_sort(idx, val, 3, words);
        break;
    case 4:
        pair_sort(idx, val, 4, words);
        break;
    case 5:
        pair_sort(idx, val, 5, words);
        break;
    case 6:
        pair_sort(idx, val, 6, words);
        break;
    case 7:
        pair_sort(idx, val, 7, words);
        break;
    case 8:
        pair_sort(idx, val, 8, words);
        break;
    default:
        rank_sort(idx, val, n, words);
    }
}

/* One pass of a radix sort: by eight bits of idx, order kept among equals. */
static void digit_pass(const int32_t *idx, const double *val, int32_t *to_idx, double *to_val,
                       int64_t n, int words, int bit)
{
    int64_t next[257] = {0};
    for (int64_t k = 0; k < n; k++) next[((idx[k] >> bit) & 255) + 1]++;
    for (int d = 0; d < 256; d++) next[d + 1] += next[d];
    for (int64_t k = 0; k < n; k++) {
        int64_t q = next[(idx[k] >> bit) & 255]++;
        to_idx[q] = idx[k];
        copy_value(to_val + words * q, val + words * k, words);
    }
}

static void free_spare(trs_mm_job *job, spare *s)
{
    trs_mm_delete(job, s->idx, s->room, sizeof *s->idx);
    trs_mm_delete(job, s->val, job->words * s->room, sizeof *s->val);
    *s = (spare){0};
}

static bool make_spare(trs_mm_job *job, spare *s, int64_t n)
{
    if (n <= s->room) return true;
    free_spare(job, s);
    s->idx = trs_mm_new(job, n, sizeof *s->idx);
    s->val = trs_mm_new(job, job->words * n, sizeof *s->val);
    s->room = n;
    if (s->idx && s->val) return true;
    free_spare(job, s);
    return false;
}

/* Two passes at a time, there and back. */
static bool radix_sort(trs_mm_job *job, spare *s, int32_t *idx, double *val, int64_t n)
{
    int32_t most = 0;
    for (int64_t k = 0; k < n; k++) most |= idx[k];
    if (!make_spare(job, s, n)) return false;
    for (int bit = 0; bit < 32 && most >> bit; bit += 16) {
        digit_pass(idx, val, s->idx, s->val, n, job->words, bit);
        digit_pass(s->idx, s->val, idx, val, n, job->words, bit + 8);
    }
    return true;
}

static inline bool ascends(const int32_t *idx, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (idx[k - 1] >= idx[k]) return false;
    return true;
}

/* Sum what stands twice in a sorted line; what is left. */
static int64_t sum_twins(int32_t *idx, double *val, int64_t n, int words)
{
    int64_t last = 0;
    for (int64_t k = 1; k < n; k++) {
        if (idx[k] == idx[last]) {
            for (int w = 0; w < words; w++) val[words * last + w] += val[words * k + w];
            continue;
        }
        last++;
        idx[last] = idx[k];
        copy_value(val + words * last, val + words * k, words);
    }
    return last + 1;
}

static void note_twins(build *b, int64_t line, const int32_t *idx, int64_t n)
{
    int64_t k = 1;
    while (k < n && idx[k] != idx[k - 1]) k++;
    if (k >= n) return;
    trs_mm_lock(b->job);
    if (b->twice[0] < 0 || line < b->twice[0]) {
        b->twice[0] = line;
        b->twice[1] = idx[k];
    }
    trs_mm_unlock(b->job);
}

/* ---- some lines at a time ------------------------------------------------------------------ */

/* So many that what is true of all of them need not be asked of each: the number of entries in a line
 * is what a processor guesses worst. */
enum { SOME = 64 };

/* Does each line ascend?  Line k ends at end[k] and the first begins at `begin`.  True when nowhere else
 * than where a line begins an entry comes after one that is not smaller. */
static bool all_ascend(const int32_t *idx, int64_t begin, const int64_t *end, int64_t lines)
{
    int64_t last = end[lines - 1], falls = 0;
    for (int64_t p = begin + 1; p < last; p++) falls += idx[p - 1] >= idx[p];
    for (int64_t k = 0; end[k] < last; begin = end[k++]) {
        const int some = end[k] > begin; /* an empty line ends where one has ended: counted once */
        falls -= some & (idx[end[k] - some] >= idx[end[k]]);
    }
    return falls == 0;
}

/* false: out of memory. */
TRS_INLINE bool sort_lines(build *b, spare *s, int64_t begin, const int64_t *end, int64_t lines,
                           const int words)
{
    for (int64_t k = 0; k < lines; begin = end[k++]) {
        int32_t *idx = b->idx + begin;
        double *val = b->val + words * begin;
        int64_t n = end[k] - begin;
        if (n < 2 || (n > SHORT && ascends(idx, n))) continue;
        if (n <= SHORT) sort_short(idx, val, (int)n, words);
        else if (!radix_sort(b->job, s, idx, val, n)) return false;
    }
    return true;
}

/* Sum what stands twice in these lines, the first being number `line`, and move them to `to`; where
 * they end then. */
static int64_t merge_lines(build *b, int64_t line, int64_t begin, int64_t to, int64_t lines)
{
    int words = b->job->words;
    for (int64_t *end = b->ptr + 1 + line, *stop = end + lines; end < stop; end++, line++) {
        int32_t *idx = b->idx + begin;
        double *val = b->val + words * begin;
        int64_t n = *end - begin;
        note_twins(b, line, idx, n);
        if (n > 1) n = sum_twins(idx, val, n, words);
        memmove(b->idx + to, idx, (size_t)n * sizeof *idx);
        memmove(b->val + words * to, val, (size_t)(words * n) * sizeof *val);
        begin = *end;
        *end = to += n;
    }
    return to;
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* The first entry of range r in chunk c. */
static inline const char *first_entry(const trs_mm_chunk *c, int r, int64_t size)
{
    return c->part ? c->part[r] : c->entry + size * c->from[r];
}

/* Ask for what of range r the chunks after chunk k hold: too little in each for the processor to see
 * that it is read in order. */
TRS_INLINE void expect_entries(const trs_mm_job *job, int64_t k, int r, int64_t size)
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

/* Count the lines of the range and put its entries there.  Afterwards end[k] is where line k of the
 * range ends. */
TRS_INLINE void place(build *b, int r, int64_t *end, int64_t lines, const int words,
                      const bool wide)
{
    const trs_mm_job *job = b->job;
    const uint64_t mask = ((uint64_t)1 << job->bits) - 1;
    const int64_t size = trs_mm_entry_bytes(words, wide);
    const int bits = job->bits;
    int32_t *idx = b->idx;
    double *val = b->val;
    int64_t q = b->start[r];
    memset(end, 0, (size_t)lines * sizeof *end);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        const char *e = first_entry(c, r, size);
        expect_entries(job, k, r, size);
        for (int64_t n = c->from[r + 1] - c->from[r]; n > 0; n--, e += size)
            end[key_at(e, wide) >> bits]++;
    }
    for (int64_t i = 0; i < lines; i++) {
        int64_t n = end[i];
        end[i] = q;
        q += n;
    }
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        const char *e = first_entry(c, r, size);
        for (int64_t n = c->from[r + 1] - c->from[r]; n > 0; n--, e += size) {
            uint64_t key = key_at(e, wide);
            int64_t p = end[key >> bits]++;
            idx[p] = (int32_t)(key & mask);
            if (words) memcpy(val + words * p, e + (wide ? 8 : 4), (size_t)words * 8);
        }
    }
    trs_mm_give_back(b->job, r);
}

/* Order every line of the range and close the gaps that duplicates leave. */
TRS_INLINE bool order(build *b, spare *s, int r, int64_t i0, int64_t i1, const int words)
{
    int64_t begin = b->start[r], to = begin;
    for (int64_t i = i0; i < i1; i += SOME) {
        const int64_t *end = b->ptr + 1 + i;
        int64_t lines = i1 - i < SOME ? i1 - i : SOME, next = end[lines - 1];
        bool good = all_ascend(b->idx, begin, end, lines);
        if (!good) {
            if (!sort_lines(b, s, begin, end, lines, words)) return false;
            good = all_ascend(b->idx, begin, end, lines);
        }
        to = good && to == begin ? next : merge_lines(b, i, begin, to, lines);
        begin = next;
    }
    b->end[r] = to;
    return true;
}

/* words and wide as constants, so that the loops are compiled for them */
TRS_INLINE bool build_range(build *b, spare *s, int r, const int words, const bool wide)
{
    const trs_mm_job *job = b->job;
    int64_t i0 = (int64_t)r << job->shift, i1 = (int64_t)(r + 1) << job->shift;
    if (i1 > job->lines) i1 = job->lines;
    place(b, r, b->ptr + 1 + i0, i1 - i0, words, wide);
    return order(b, s, r, i0, i1, words);
}

static bool build_any_range(build *b, spare *s, int r)
{
    bool wide = b->job->wide;
    if (b->job->words == 1 && !wide) return build_range(b, s, r, 1, false);
    if (b->job->words == 1) return build_range(b, s, r, 1, true);
    if (b->job->words == 0) return build_range(b, s, r, 0, wide);
    return build_range(b, s, r, 2, wide);
}

static void close_input(trs_mm_job *job)
{
    trs_mm_lock(job);
    trs_input_close(job->in);
    job->in = NULL;
    trs_mm_unlock(job);
}

static void build_ranges(build *b)
{
    trs_mm_job *job = b->job;
    TRS_OMP(omp parallel num_threads(job->threads))
    {
        spare s = {0};
        TRS_OMP(omp single nowait)
        close_input(job); /* unmapping takes a while: the others are already at work */
        TRS_OMP(omp for schedule(dynamic))
        for (int r = 0; r < job->ranges; r++)
            if (!build_any_range(b, &s, r)) {
                TRS_OMP(omp atomic write)
                b->failed = true;
            }
        free_spare(job, &s);
    }
}

/* Close the gaps between ranges; the number of entries left. */
static int64_t close_gaps(build *b)
{
    const trs_mm_job *job = b->job;
    int64_t to = 0;
    size_t words = (size_t)job->words;
    for (int r = 0; r < job->ranges; r++) {
        int64_t from = b->start[r], n = b->end[r] - from, last = (int64_t)(r + 1) << job->shift;
        if (to < from) {
            memmove(b->idx + to, b->idx + from, (size_t)n * sizeof *b->idx);
            if (words)
                memmove(b->val + job->words * to, b->val + job->words * from,
                        (size_t)n * words * 8);
            for (int64_t i = (int64_t)r << job->shift; i < last && i < job->lines; i++)
                b->ptr[i + 1] -= from - to;
        }
        to += n;
    }
    return to;
}

/* ---- CSR, CSC, COO ------------------------------------------------------------------------- */

static int too_large(trs_mm_job *job, int64_t nnz)
{
    const trs_mm_head *h = &job->head;
    return trs_mm_fail(job, TRS_EMEM, h->line,
                       "out of memory, or over the limit of %" PRId64 " bytes: %" PRId64
                       " x %" PRId64 " with %" PRId64 " %s",
                       job->opt.memory_limit, h->rows, h->cols, nnz,
                       trs_noun(nnz, "entry", "entries"));
}

/* Where each range begins; the sum over all chunks. */
static int64_t count_ranges(build *b)
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

/* The arrays of the result; mm owns them at once, so that they are freed whatever happens. */
static bool new_arrays(build *b, int64_t nnz)
{
    trs_mm_job *job = b->job;
    trs_mm *mm = job->mm;
    int64_t words = job->words ? job->words : 1;
    b->ptr = mm->ptr = trs_mm_new(job, job->lines + 1, sizeof *mm->ptr);
    b->idx = mm->idx = b->ptr ? trs_mm_new(job, nnz, sizeof *mm->idx) : NULL;
    b->val = mm->val = b->idx ? trs_mm_new(job, words * nnz, sizeof *b->val) : NULL;
    if (!b->val) return false;
    b->ptr[0] = 0;
    trs_mm_large_pages(b->ptr, (job->lines + 1) * 8);
    trs_mm_large_pages(b->idx, nnz * 4);
    trs_mm_large_pages(b->val, words * nnz * 8);
    return true;
}

/* The row of every entry, in place of the pointers. */
static int make_coo(trs_mm_job *job)
{
    trs_mm *mm = job->mm;
    mm->row = trs_mm_new(job, mm->nnz, sizeof *mm->row);
    if (!mm->row) return too_large(job, mm->nnz);
    TRS_OMP(omp parallel for num_threads(job->threads))
    for (int64_t i = 0; i < job->lines; i++)
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++)
            mm->row[p] = (int32_t)i + job->opt.base;
    trs_mm_delete(job, mm->ptr, job->lines + 1, sizeof *mm->ptr);
    mm->ptr = NULL;
    return TRS_OK;
}

/* The line on which entry (i, j) stands for the second time, found by reading the file once
 * more; 0 when that cannot be done. */
static int64_t second_line(const trs_mm_job *job, uint64_t i, uint64_t j)
{
    trs_input_options opt = {
        .rhs = job->opt.rhs != 0, .limit = job->opt.memory_limit, .memory = job->opt.memory};
    trs_input *in = NULL;
    char text[200] = {0};
    const char *p;
    int64_t n, line = 0, times = 0;
    if (!strcmp(job->file, "-") || trs_input_open(&in, job->file, &opt)) return 0;
    while (times < 2 && trs_input_line(in, &p, &n) == 1) {
        uint64_t a = 0, b = 0;
        if (++line <= job->head.line) continue;
        size_t some = n < 120 ? (size_t)n : 120; /* two indices and the blanks before them */
        memcpy(text, p, some);
        text[some] = '\n';
        p = trs_read_index(trs_skip_blanks(text), &a);
        if (p && trs_read_index(trs_skip_blanks(p), &b) && a == i && b == j) times++;
    }
    trs_input_close(in);
    return times == 2 ? line : 0;
}

static int refuse_twins(build *b)
{
    trs_mm_job *job = b->job;
    int64_t i = b->twice[job->by_cols] + 1, j = b->twice[!job->by_cols] + 1;
    if (job->head.symmetry != TRS_GENERAL && i < j) { /* the mirror image of what the file says */
        int64_t k = i;
        i = j;
        j = k;
    }
    return trs_mm_fail(job, TRS_EFORMAT, second_line(job, (uint64_t)i, (uint64_t)j),
                       "entry (%" PRId64 ", %" PRId64 ") is given twice", i, j);
}

static int finish(build *b)
{
    trs_mm_job *job = b->job;
    trs_mm *mm = job->mm;
    int base = job->opt.base;
    double *val = mm->val;
    if (b->twice[0] >= 0 && job->opt.refuse_duplicates) return refuse_twins(b);
    mm->nnz = close_gaps(b);
    mm->duplicates = b->start[job->ranges] - mm->nnz;
    if (!job->words) {
        TRS_OMP(omp parallel for num_threads(job->threads))
        for (int64_t p = 0; p < mm->nnz; p++) val[p] = 1;
    }
    int rc = mm->format == TRS_COO ? make_coo(job) : TRS_OK;
    for (int64_t p = 0; base && p < mm->nnz; p++) mm->idx[p] += base;
    for (int64_t i = 0; base && mm->ptr && i <= job->lines; i++) mm->ptr[i] += base;
    return rc;
}

static int build_lines(trs_mm_job *job)
{
    build b = {.job = job, .twice = {-1, -1}};
    int rc = TRS_OK;
    b.start = trs_mm_new(job, job->ranges + 1, sizeof *b.start);
    b.end = trs_mm_new(job, job->ranges, sizeof *b.end);
    int64_t nnz = b.start && b.end ? count_ranges(&b) : 0;
    if (!b.start || !b.end || !new_arrays(&b, nnz)) rc = too_large(job, nnz);
    if (!rc) build_ranges(&b);
    if (!rc) rc = b.failed ? too_large(job, nnz) : finish(&b);
    trs_mm_delete(job, b.start, job->ranges + 1, sizeof *b.start);
    trs_mm_delete(job, b.end, job->ranges, sizeof *b.end);
    return rc;
}

/* ---- dense --------------------------------------------------------------------------------- */

/* Values of a chunk from number `first` of the packed lower triangle on, put where they and
 * their mirror images belong.  -1, or the first one that breaks the rule of a hermitian
 * diagonal. */
static int64_t unpack(const trs_mm_job *job, const trs_mm_chunk *c, int64_t first)
{
    double *val = job->mm->val;
    int64_t n = job->head.rows, j = 0, skew = job->head.symmetry == TRS_SKEW;
    bool conj = job->head.symmetry == TRS_HERMITIAN;
    int words = job->words;
    const double *val_in = (const double *)(const void *)c->entry;
    if (c->entries == 0) return -1;
    while (first >= n - skew - j) first -= n - skew - j++; /* ends: there is a column for a value */
    int64_t i = j + skew + first;
    for (int64_t e = 0; e < c->entries; e++) {
        const double *v = val_in + words * e;
        double *low = val + words * (i + j * n), *up = val + words * (j + i * n);
        if (conj && i == j && v[1] != 0) return e;
        for (int w = 0; w < words; w++) {
            low[w] = v[w];
            if (i != j) up[w] = skew || (conj && w) ? -v[w] : v[w];
        }
        if (++i == n) i = ++j + skew;
    }
    return -1;
}

/* Zeros where the triangle that is not wanted is, and on a skew diagonal. */
static void clear_rest(const trs_mm_job *job)
{
    double *val = job->mm->val;
    unsigned kind = job->opt.kind;
    bool skew = job->head.symmetry == TRS_SKEW;
    size_t size = (size_t)job->words * sizeof *val;
    int64_t m = job->head.rows;
    for (int64_t j = 0; (kind || skew) && j < job->head.cols; j++)
        for (int64_t i = 0; i < m; i++)
            if ((kind & TRS_LOWER && i < j) || (kind & TRS_UPPER && i > j) || (skew && i == j))
                memset(val + job->words * (i + j * m), 0, size);
}

static int build_dense(trs_mm_job *job)
{
    const trs_mm_head *h = &job->head;
    trs_mm *mm = job->mm;
    int64_t words = job->words, first = 0, all = h->rows * h->cols;
    double *val = mm->val = trs_mm_new(job, words * all, sizeof *val);
    if (!val) return too_large(job, all);
    trs_mm_large_pages(val, words * all * 8);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        int64_t bad = -1;
        if (h->symmetry != TRS_GENERAL) bad = unpack(job, c, first);
        else if (c->entries)
            memcpy(val + words * first, c->entry, (size_t)(words * c->entries) * sizeof *val);
        if (bad >= 0)
            return trs_mm_fail(job, TRS_EFORMAT, trs_mm_line(job, k, bad),
                               "the diagonal of a hermitian matrix must be real");
        first += c->entries;
    }
    clear_rest(job);
    mm->nnz = h->symmetry == TRS_SKEW ? all - h->rows : all;
    return TRS_OK;
}

int trs_mm_build(trs_mm_job *job)
{
    return job->head.array ? build_dense(job) : build_lines(job);
}
