/* dense.c: the values of an array file into a dense matrix, by columns.
 *
 * A file with a symmetry holds the lower triangle, packed column by column, without the diagonal when it is
 * skew-symmetric:
 *
 *     0 . . .          . . . .
 *     1 4 . .          0 . . .
 *     2 5 7 .          1 3 . .
 *     3 6 8 9          2 4 5 . */
#include "config.h"

#include "mm.h"
#include "store.h"

#include <string.h>

/* Put the values of a chunk, which begin with number `first` of the packed lower triangle, and their mirror images where they
 * belong.  Returns -1, or the number of the first value in the chunk that is not real on a hermitian diagonal. */
static int64_t unpack_triangle(const trs_mm_job *job, const trs_mm_chunk *c, int64_t first)
{
    double *val = job->mm->val;
    int64_t n = job->head.rows, j = 0, skew = job->head.symmetry == TRS_SKEW;
    bool conj = job->head.symmetry == TRS_HERMITIAN;
    const bool exact = trs_mm_exact(job);
    int parts = job->parts;
    const double *val_in = (const double *)(const void *)c->entry;
    if (c->entries == 0) return -1;
    while (first >= n - skew - j) first -= n - skew - j++; /* it ends: each value has a column */
    TRS_ASSERT(j < n);
    int64_t i = j + skew + first;
    for (int64_t e = 0; e < c->entries; e++) {
        const double *v = val_in + parts * e;
        TRS_ASSERT(i < n && j < n);
        double *low = val + parts * (i + j * n), *up = val + parts * (j + i * n);
        if (conj && i == j && v[1] != 0) return e;
        for (int w = 0; w < parts; w++) {
            low[w] = v[w];
            if (i == j) continue;
            up[w] = v[w];
            if (skew || (conj && w)) up[w] = trs_mm_minus(v[w], exact);
        }
        if (++i == n) i = ++j + skew;
    }
    return -1;
}

/* Set zeros in the triangle that is not wanted, and on a skew diagonal. */
static void clear_unwanted(const trs_mm_job *job)
{
    double *val = job->mm->val;
    unsigned kind = job->opt.kind;
    bool skew = job->head.symmetry == TRS_SKEW;
    size_t size = (size_t)job->parts * sizeof *val;
    int64_t m = job->head.rows;
    for (int64_t j = 0; (kind || skew) && j < job->head.cols; j++)
        for (int64_t i = 0; i < m; i++)
            if ((kind & TRS_LOWER && i < j) || (kind & TRS_UPPER && i > j) || (skew && i == j))
                memset(val + job->parts * (i + j * m), 0, size);
}

int trs_mm_build_dense(trs_mm_job *job)
{
    const trs_mm_head *h = &job->head;
    trs_mm *mm = job->mm;
    int64_t parts = job->parts, first = 0, all = h->rows * h->cols;
    double *val = mm->val = trs_mm_new(job, parts * all, sizeof *val);
    if (!val) return trs_mm_too_large(job, all);
    trs_mm_large_pages(val, parts * all * 8);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        int64_t bad = -1;
        if (h->symmetry != TRS_GENERAL) bad = unpack_triangle(job, c, first);
        else if (c->entries)
            memcpy(val + parts * first, c->entry, (size_t)(parts * c->entries) * sizeof *val);
        if (bad >= 0)
            return trs_mm_fail(job, TRS_EFORMAT, trs_mm_line(job, k, bad),
                               "the diagonal of a hermitian matrix must be real");
        first += c->entries;
    }
    TRS_ASSERT(first == h->stored);
    clear_unwanted(job);
    mm->nnz = all;
    if (h->symmetry == TRS_SKEW) mm->nnz -= h->rows;
    return TRS_OK;
}
