/* facts.c: reads a file and finds out what there is to say about it. */
#include "config.h"

#include "info.h"

#include "bin/common/output/progress.h"
#include "bin/common/sentence.h"
#include "bin/common/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ------------------------------------------------------------------------------------ */

/* A sum in long double that also adds up what each addition loses, since large entries may cancel.
 * Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
 * ZAMM 54, 1974. */
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
        if (!(size <= f->max_abs)) f->max_abs = size; /* also when it is a NaN */
        if (isnan(size)) break;
    }
    f->sum_re = isnan(f->max_abs) ? NAN : total(&re);
    f->sum_im = isnan(f->max_abs) ? NAN : total(&im);
}

/* ---- triangles ------------------------------------------------------------------------------- */

void row_part(const trs_mm *mm, bool lower, int64_t i, int64_t *p, int64_t *end)
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

/* level(i) = 1 + max over the rows j that row i depends on of level(j), or 0 where there are none.
 * The rows of a lower triangle stand in a topological order, those of an upper one backwards: one
 * pass does. */
static void find_levels(const trs_mm *mm, bool lower, int32_t *level, triangle *t)
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

static double median(const int64_t *width, int64_t n)
{
    double *w = malloc((size_t)n * sizeof *w);
    if (!w) return NAN;
    for (int64_t l = 0; l < n; l++) w[l] = (double)width[l];
    const double m = spread_of(w, (int)n).median;
    free(w);
    return m;
}

/* Works out what follows from the widths and the entries. */
static void set_means(const trs_mm *mm, triangle *t)
{
    const double number = mm->dtype == TRS_C64 ? 16 : 8;
    const int64_t n = mm->rows;
    if (n) {
        t->mean_width = (double)n / (double)t->levels;
        t->median_width = median(t->width, t->levels);
        t->mean_row = (double)t->entries / (double)n;
    }
    /* each value with its column; of each row its pointer, b and x */
    t->floor = (double)t->entries * (number + 4) + (double)n * (4 + 2 * number);
}

static int look_at(const arguments *a, const trs_mm *mm, bool lower, triangle *t)
{
    int64_t n = mm->rows;
    int32_t *level = malloc((size_t)n * sizeof *level + 1);
    if (!level) return TRS_EMEM;
    t->name = lower ? "lower" : "upper";
    find_levels(mm, lower, level, t);
    t->width = calloc((size_t)t->levels + 1, sizeof *t->width);
    for (int64_t i = 0; t->width && i < n; i++)
        if (++t->width[level[i]] > t->widest) t->widest = t->width[level[i]];
    int rc = t->width ? TRS_OK : TRS_EMEM;
    if (!rc && a->spy) rc = spy_make(mm, lower, level, t);
    free(level);
    if (!rc) set_means(mm, t);
    return rc;
}

/* A plan for A as a triangle of that kind, with its levels; bad pivots are of no interest.  NULL:
 * there is none. */
static trs_plan *analyse(const trs_mat *A, unsigned kind, const char *solver)
{
    const trs_options opt = {.solver = solver, .threads = 1};
    trs_mat T = *A;
    trs_plan *plan;
    T.kind = kind;
    int rc = trs_plan_create(&plan, &T, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    if (!rc || rc == TRS_EPIVOT) return plan;
    trs_plan_destroy(plan);
    return NULL;
}

/* Is the matrix a triangle after permutations of rows and columns?  Then *found is that one. */
static int look_at_permuted(const trs_mm *mm, const trs_mat *A, triangle *found)
{
    const int32_t *topo, *lv_ptr;
    trs_info i;
    trs_plan *plan = file_may_be_permuted(A) ? analyse(A, TRS_PERMUTED, "cpu-serial") : NULL;
    if (!plan) return TRS_OK;
    trs_plan_info(plan, &i);
    triangle t = {.name = "permuted",
                  .entries = i.nnz,
                  .levels = i.levels,
                  .widest = i.widest,
                  .longest = i.longest,
                  .width = calloc((size_t)i.levels + 1, sizeof *t.width)};
    int rc = t.width ? trs_plan_levels(plan, &topo, &lv_ptr) : TRS_EMEM;
    for (int64_t l = 0; l < t.levels && !rc; l++) t.width[l] = lv_ptr[l + 1] - lv_ptr[l];
    trs_plan_destroy(plan);
    if (rc) free(t.width);
    else *found = t, set_means(mm, found);
    return rc;
}

/* Measures how long the levels take, by a sweep over the rows and by a topological sort of the
 * columns.  The shorter time of two counts, for the first run warms up. */
static void time_levels(const trs_mat *A, unsigned kind, triangle *t)
{
    static const char *const solver[ANALYSES] = {"cpu-serial", "cpu-level"};
    for (int k = 0; k < 2 * ANALYSES; k++) {
        analysis *by = &t->levels_by[k % ANALYSES];
        trs_plan *plan = analyse(A, kind, solver[k % ANALYSES]);
        trs_info i;
        if (!plan) continue;
        trs_plan_info(plan, &i);
        if (!by->how || i.seconds_levels < by->seconds)
            *by = (analysis){i.analysis, i.seconds_levels};
        trs_plan_destroy(plan);
    }
}

/* Of a triangle that one is looked at; of any other square matrix both are, which are those of
 * ILU(0) and of Gauss-Seidel. */
static int look_at_triangles(const arguments *a, facts *f)
{
    static const char *const name[] = {"none", "lower", "upper", "diagonal"};
    static const unsigned kinds[TRIANGLES] = {TRS_LOWER, TRS_UPPER, TRS_PERMUTED};
    trs_mat A;
    if (f->mm.rows != f->mm.cols || trs_mm_mat(&f->mm, 0, &A)) return TRS_OK;
    unsigned kind = file_kind(&A);
    f->shape = name[kind];
    triangle *permuted = &f->part[PERMUTED];
    int rc = kind ? TRS_OK : look_at_permuted(&f->mm, &A, permuted);
    if (permuted->name) f->shape = permuted->name;
    if (f->mm.format == TRS_DENSE) return rc;
    if (!rc && kind != TRS_UPPER) rc = look_at(a, &f->mm, true, &f->part[LOWER]);
    if (!rc && !(kind & TRS_LOWER)) rc = look_at(a, &f->mm, false, &f->part[UPPER]);
    for (int k = 0; k < TRIANGLES && a->json && !rc; k++)
        if (f->part[k].name) time_levels(&A, kinds[k], &f->part[k]);
    return rc;
}

/* ---- a file ---------------------------------------------------------------------------------- */

int facts_read(const arguments *a, const char *file, facts *f)
{
    const trs_mm_options opt = {.threads = a->threads,
                                .memory_limit = a->memory,
                                .rhs = a->rhs,
                                .low_memory = a->low_memory};
    double start = now();
    *f = (facts){.file = strcmp(file, "-") ? file : "standard input"};
    progress_begin(false);
    int rc = file_read(file, &opt, &f->mm);
    progress_end();
    f->seconds = now() - start;
    if (rc) {
        complain("%s", said());
        snprintf(f->error, sizeof f->error, "%s", said());
        return EXIT_USAGE;
    }
    sum_values(f);
    rc = look_at_triangles(a, f);
    if (rc) {
        snprintf(f->error, sizeof f->error, "%.200s: out of memory", file);
        complain("%s", f->error);
    }
    trs_mm sizes = f->mm; /* which outlive the arrays */
    sizes.ptr = NULL;
    sizes.idx = sizes.row = NULL;
    sizes.val = NULL;
    trs_mm_free(&f->mm);
    f->mm = sizes;
    return rc ? EXIT_USAGE : EXIT_GOOD;
}

void facts_free(facts *f)
{
    for (int k = 0; k < TRIANGLES; k++) {
        free(f->part[k].width);
        for (int s = 0; s < ORDERS; s++) free(f->part[k].spy[s].cell);
    }
}
