/* duplicates.c: entries that a file gives twice: they are summed, in the order of the file, or refused. */
#include "config.h"

#include "build.h"
#include "base/number/number.h"
#include "io/decimal/read.h"

#include <inttypes.h>
#include <string.h>

/* ---- summed --------------------------------------------------------------------------------- */

/* Sum the duplicates of a sorted major index; returns how many entries are left. */
static int64_t sum_equal(int32_t *idx, double *val, int64_t n, int parts)
{
    int64_t last = 0;
    for (int64_t k = 1; k < n; k++) {
        if (idx[k] == idx[last]) {
            for (int w = 0; w < parts; w++) val[parts * last + w] += val[parts * k + w];
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
    if (k >= n) return;
    trs_mm_lock(b->job);
    if (b->duplicate[0] < 0 || major < b->duplicate[0]) {
        b->duplicate[0] = major;
        b->duplicate[1] = idx[k];
    }
    trs_mm_unlock(b->job);
}

int64_t trs_mm_sum_duplicates(trs_mm_build_state *b, int64_t major, int64_t begin, int64_t to,
                              int64_t majors)
{
    int parts = b->job->parts;
    TRS_ASSERT(to <= begin);
    for (int64_t *end = b->ptr + 1 + major, *stop = end + majors; end < stop; end++, major++) {
        int32_t *idx = b->idx + begin;
        double *val = b->val + parts * begin;
        int64_t n = *end - begin;
        find_first(b, major, idx, n);
        if (n > 1) n = sum_equal(idx, val, n, parts);
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

int trs_mm_refuse_duplicates(trs_mm_build_state *b)
{
    trs_mm_job *job = b->job;
    const int64_t row = b->duplicate[job->by_cols] + 1, col = b->duplicate[!job->by_cols] + 1;
    /* above the diagonal it is the mirror image of the entry in the file */
    const bool mirror = job->head.symmetry != TRS_GENERAL && row < col;
    const int64_t i = mirror ? col : row, j = mirror ? row : col;
    return trs_mm_fail(job, TRS_EFORMAT, second_line(job, (uint64_t)i, (uint64_t)j),
                       "entry (%" PRId64 ", %" PRId64 ") occurs twice", i, j);
}
