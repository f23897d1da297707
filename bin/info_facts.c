/* info_facts.c: read a file and find out what there is to say about it. */
#include "config.h"

#include "info.h"
#include "sentence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- sums -------------------------------------------------------------------------------------- */

/* In long double, with what each addition loses (Neumaier): large entries may cancel. */
typedef struct sum {
    long double s, lost;
} sum;

static void add(sum *t, double x)
{
    long double s = t->s + x;
    t->lost += fabsl(t->s) >= fabsl(x) ? (t->s - s) + x : (x - s) + t->s;
    t->s = s;
}

static double total(const sum *t)
{
    return isfinite(t->s) ? (double)(t->s + t->lost) : (double)t->s;
}

static void sum_values(facts *f)
{
    const trs_mm *mm = &f->mm;
    const double *v = mm->val;
    int64_t count = mm->format == TRS_DENSE ? mm->rows * mm->cols : mm->nnz;
    bool two = mm->dtype == TRS_C64;
    sum re = {0, 0}, im = {0, 0};
    for (int64_t k = 0; k < count; k++) {
        double x = v[two ? 2 * k : k], y = two ? v[2 * k + 1] : 0,
               size = two ? hypot(x, y) : fabs(x);
        add(&re, x);
        if (two) add(&im, y);
        if (!(size <= f->max_abs)) f->max_abs = size; /* also when it is nan */
        if (isnan(size)) break;
    }
    f->sum_re = isnan(f->max_abs) ? NAN : total(&re);
    f->sum_im = isnan(f->max_abs) ? NAN : total(&im);
}

/* ---- triangles ----------------------------------------------------------------------------------- */

/* The entries of row i in the triangle are p..end-1, columns ascending. */
static void row_part(const trs_mm *mm, bool lower, int64_t i, int64_t *p, int64_t *end)
{
    *p = mm->ptr[i];
    *end = mm->ptr[i + 1];
    if (lower)
        while (*end > *p && mm->idx[*end - 1] > i) --*end;
    else
        while (*p < *end && mm->idx[*p] < i) ++*p;
}

static bool is_zero(const trs_mm *mm, int64_t p)
{
    const double *v = mm->val;
    return mm->dtype == TRS_C64 ? v[2 * p] == 0 && v[2 * p + 1] == 0 : v[p] == 0;
}

/* The level of every row: one more than the highest it depends on.  The rows of a triangle in their
 * order, an upper one's from the last, are in a topological order already: one pass. */
static void sweep(const trs_mm *mm, bool lower, int32_t *level, triangle *t)
{
    int64_t n = mm->rows, p, end;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = lower ? k : n - 1 - k;
        int32_t l = 0;
        bool diagonal = false;
        row_part(mm, lower, i, &p, &end);
        int64_t length = end - p;
        for (; p < end; p++) {
            if (mm->idx[p] == i) diagonal = true, t->zero += is_zero(mm, p);
            else if (level[mm->idx[p]] >= l) l = level[mm->idx[p]] + 1;
        }
        level[i] = l;
        t->entries += length;
        t->missing += !diagonal;
        if (length > t->longest) t->longest = length;
        if (l >= t->levels) t->levels = l + 1;
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median(const int64_t *width, int64_t n)
{
    int64_t *w = malloc((size_t)n * sizeof *w);
    if (!w) return NAN;
    memcpy(w, width, (size_t)n * sizeof *w);
    qsort(w, (size_t)n, sizeof *w, ascending);
    double m = 0.5 * (double)(w[(n - 1) / 2] + w[n / 2]);
    free(w);
    return m;
}

static int look_at(const trs_mm *mm, bool lower, triangle *t)
{
    int64_t n = mm->rows;
    double number = mm->dtype == TRS_C64 ? 16 : 8;
    int32_t *level = malloc((size_t)n * sizeof *level + 1);
    if (!level) return TRS_EMEM;
    t->name = lower ? "lower" : "upper";
    sweep(mm, lower, level, t);
    t->width = calloc((size_t)t->levels + 1, sizeof *t->width);
    for (int64_t i = 0; t->width && i < n; i++)
        if (++t->width[level[i]] > t->widest) t->widest = t->width[level[i]];
    free(level);
    if (!t->width) return TRS_EMEM;
    if (n) {
        t->mean_width = (double)n / (double)t->levels;
        t->median_width = median(t->width, t->levels);
        t->mean_row = (double)t->entries / (double)n;
    }
    /* values, columns, row pointers; b and x */
    t->floor = (double)t->entries * (number + 4) + (double)n * (4 + 2 * number);
    return TRS_OK;
}

/* A triangle has itself; any other square matrix two, as of ILU(0) or Gauss-Seidel. */
static int look_at_triangles(facts *f)
{
    static const char *const name[] = {"none", "lower", "upper", "diagonal"};
    trs_mat A;
    if (f->mm.rows != f->mm.cols || trs_mm_mat(&f->mm, 0, &A)) return TRS_OK;
    unsigned kind = file_kind(&A);
    f->shape = name[kind];
    if (f->mm.format == TRS_DENSE) return TRS_OK;
    int rc = kind == TRS_UPPER ? TRS_OK : look_at(&f->mm, true, &f->part[0]);
    if (!rc && !(kind & TRS_LOWER)) rc = look_at(&f->mm, false, &f->part[1]);
    return rc;
}

/* ---- public ---------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int facts_read(const arguments *a, const char *file, facts *f)
{
    bar b = {0, 0};
    const trs_mm_options opt = {.threads = a->threads,
                                .memory_limit = a->memory,
                                .rhs = a->rhs,
                                .low_memory = a->low_memory,
                                .progress = draw_bar,
                                .user = &b};
    double start = now();
    *f = (facts){.file = strcmp(file, "-") ? file : "standard input"};
    int rc = file_read(file, &opt, &f->mm);
    wipe_bar(&b);
    f->seconds = now() - start;
    if (rc) {
        complain("%s", said());
        snprintf(f->error, sizeof f->error, "%s", said());
        return EXIT_USAGE;
    }
    sum_values(f);
    rc = look_at_triangles(f);
    if (rc) {
        snprintf(f->error, sizeof f->error, "%.200s: out of memory", file);
        complain("%s", f->error);
    }
    trs_mm kept = f->mm; /* the numbers outlive the arrays */
    kept.ptr = NULL;
    kept.idx = kept.row = NULL;
    kept.val = NULL;
    trs_mm_free(&f->mm);
    f->mm = kept;
    return rc ? EXIT_USAGE : EXIT_GOOD;
}

void facts_free(facts *f)
{
    for (int k = 0; k < 2; k++) free(f->part[k].width);
}
