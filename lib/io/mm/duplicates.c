/* duplicates.c: entries that a file gives twice: they are summed, in the order of the file, or refused. */
#include "config.h"

#include "build.h"
#include "base/number/number.h"
#include "io/decimal/read.h"

#include <inttypes.h>
#include <string.h>

/* ---- summed --------------------------------------------------------------------------------- */

/* Remember this entry as the first of its kind, unless one of an earlier major index is known. */
static void remember(trs_mm_build_state *b, int64_t first[2], int64_t major, int64_t minor)
{
    trs_mm_lock(b->job);
    if (first[0] < 0 || major < first[0]) {
        first[0] = major;
        first[1] = minor;
    }
    trs_mm_unlock(b->job);
}

/* x = x + y for integers of 64 bits; false: the sum does not fit. */
static bool add_exact(const trs_mm_job *job, double *x, double y)
{
    int64_t a, c;
    uint64_t u, v;
    memcpy(&a, x, sizeof a);
    memcpy(&c, &y, sizeof c);
    u = (uint64_t)a, v = (uint64_t)c;
    const bool over =
        job->head.is_unsigned ? __builtin_add_overflow(u, v, &u) : __builtin_add_overflow(a, c, &a);
    if (!job->head.is_unsigned) u = (uint64_t)a;
    memcpy(x, &u, sizeof u);
    return !over;
}

/* Sum the duplicates of a sorted major index; returns how many entries are left. */
static int64_t sum_equal(trs_mm_build_state *b, int64_t major, int32_t *idx, double *val, int64_t n)
{
    const int parts = (int)trs_max(b->job->parts, 1);
    const bool exact = trs_mm_exact(b->job);
    int64_t last = 0;
    for (int64_t k = 1; k < n; k++) {
        if (idx[k] == idx[last]) {
            for (int w = 0; w < parts && !exact; w++) val[parts * last + w] += val[parts * k + w];
            if (exact && !add_exact(b->job, &val[last], val[k]))
                remember(b, b->overflow, major, idx[k]);
            continue;
        }
        last++;
        idx[last] = idx[k];
        for (int w = 0; w < parts; w++) val[parts * last + w] = val[parts * k + w];
    }
    return last + 1;
}

/* Remember the first duplicate of this major index, unless an earlier one has some. */
static void find_first(trs_mm_build_state *b, int64_t major, const int32_t *idx, int64_t n)
{
    int64_t k = 1;
    while (k < n && idx[k] != idx[k - 1]) k++;
    if (k < n) remember(b, b->duplicate, major, idx[k]);
}

int64_t trs_mm_sum_duplicates(trs_mm_build_state *b, int64_t major, int64_t begin, int64_t to,
                              int64_t majors)
{
    const int parts = (int)trs_max(b->job->parts, 1);
    TRS_ASSERT(to <= begin);
    for (int64_t *end = b->ptr + 1 + major, *stop = end + majors; end < stop; end++, major++) {
        int32_t *idx = b->idx + begin;
        double *val = b->val + parts * begin;
        int64_t n = *end - begin;
        find_first(b, major, idx, n);
        if (n > 1) n = sum_equal(b, major, idx, val, n);
        memmove(b->idx + to, idx, (size_t)n * sizeof *idx);
        memmove(b->val + parts * to, val, (size_t)(parts * n) * sizeof *val);
        begin = *end;
        *end = to += n;
    }
    return to;
}

/* ---- refused ------------------------------------------------------------------------------- */

/* The line on which entry (i, j) stands for the second time, found by reading the file once more; 0 when that cannot be
 * done. */
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
        /* long enough for two indices and the blanks before them */
        const size_t some = (size_t)trs_min(n, 120);
        memcpy(text, p, some);
        text[some] = '\n';
        p = trs_read_index(trs_skip_blanks(text), &a);
        if (p && trs_read_index(trs_skip_blanks(p), &b) && a == i && b == j) times++;
    }
    trs_input_close(in);
    return times == 2 ? line : 0;
}

/* Row and column, from 1, in the file of the entry with these indices: above the diagonal it is the mirror image of the one
 * there. */
static void place_in_file(const trs_mm_job *job, const int64_t entry[2], int64_t *i, int64_t *j)
{
    const int64_t row = entry[job->by_cols] + 1, col = entry[!job->by_cols] + 1;
    const bool mirror = job->head.symmetry != TRS_GENERAL && row < col;
    *i = mirror ? col : row;
    *j = mirror ? row : col;
}

int trs_mm_refuse_duplicates(trs_mm_build_state *b)
{
    int64_t i, j;
    place_in_file(b->job, b->duplicate, &i, &j);
    return trs_mm_fail(b->job, TRS_EFORMAT, second_line(b->job, (uint64_t)i, (uint64_t)j),
                       "entry (%" PRId64 ", %" PRId64 ") occurs twice", i, j);
}

int trs_mm_refuse_sum(trs_mm_build_state *b)
{
    int64_t i, j;
    place_in_file(b->job, b->overflow, &i, &j);
    b->job->rounded++;
    return trs_mm_fail(b->job, TRS_EFORMAT, -1,
                       "entry (%" PRId64 ", %" PRId64
                       ") occurs more than once, and the sum does not fit an integer of 64 bits",
                       i, j);
}
