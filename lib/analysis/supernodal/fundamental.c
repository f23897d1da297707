/* fundamental.c: maximal sets of consecutive columns of one pattern, and the rows below each of them.
 *
 * Where column j ends and column j+1 begins a new pattern was marked when the run-length pattern was made.  The
 * rows below a supernode are those of its first column (all of its columns have them).  Where A is L they are found
 * from the rows of L, by a transpose of one column a supernode; where A = J L^T J they are a row of L read
 * backwards. */
#include "config.h"

#include "analysis/trapezoids.h"
#include "ranges.h"

#include "base/debug.h"
#include "base/parallel.h"

/* The rows of L are cut into `scans`, of consecutive rows each.  A scan keeps one of these records for each
 * supernode.  It goes through its rows twice: to count the runs of rows below each supernode, and to write them
 * behind those of the scans before. */
typedef struct row_scan {
    int32_t last; /* the last row that was found below the supernode */
    int32_t runs; /* that were found so far; in the second pass with those of earlier scans */
    int32_t rows;
} row_scan;

typedef struct finding {
    trs_context *ctx;
    trs_fundamental *f;
    /* [ranges+1] fundamental supernode that each range of columns begins with */
    int32_t *range_first;
    int32_t scans;
    row_scan *scan; /* [scans][count] */
} finding;

/* ---- rows or columns ----------------------------------------------------------------------------------- */

enum { SAMPLES = 256, SAMPLE_ROWS = 16 };

typedef struct sampled { /* off-diagonal entries of the samples, of which the pattern is */
    const trs_run_pattern *pattern;
    _Atomic int64_t in_rows, in_columns; /* that of the row before, or of the next column */
} sampled;

static void sample_some(void *user, int64_t begin, int64_t end)
{
    sampled *c = user;
    const trs_run_pattern *p = c->pattern;
    int64_t in_rows = 0, in_columns = 0;
    for (int64_t s = begin; s < end; s++) {
        const int32_t from = (int32_t)(p->n * s / SAMPLES);
        const int32_t next = (int32_t)(p->n * (s + 1) / SAMPLES);
        for (int32_t i = from; i < next && i < from + SAMPLE_ROWS; i++)
            for (int32_t k = 0; k < p->row[i].runs; k++)
                for (int32_t j = p->row[i].run[k].begin; j < trs_run_end(p, i, k); j++) {
                    in_rows += j < i && p->row[i].same;
                    in_columns += j < i && !p->differ[j];
                }
    }
    c->in_rows += in_rows;
    c->in_columns += in_columns;
}

/* Rows are preferred where they have about as much in common as columns, since then nothing is transposed. */
static bool prefer_rows(const trs_run_pattern *p)
{
    sampled c = {.pattern = p};
    trs_share(p->threads, SAMPLES, 4, sample_some, &c);
    return 10 * c.in_rows >= 9 * c.in_columns;
}

/* ---- where supernodes begin ------------------------------------------------------------------------ */

static bool begins(const finding *a, int32_t column)
{
    const trs_run_pattern *p = &a->f->pattern;
    if (column == 0) return true;
    return a->f->by_rows ? !p->row[p->n - column].same : p->differ[column - 1];
}

static void count_range(void *user, int64_t begin, int64_t end)
{
    finding *a = user;
    for (int64_t r = begin; r < end; r++) {
        int32_t count = 0;
        for (int32_t j = trs_range_begin(a->f->n, r); j < trs_range_begin(a->f->n, r + 1); j++)
            count += begins(a, j);
        a->range_first[r + 1] = count;
    }
}

static void number_range(void *user, int64_t begin, int64_t end)
{
    finding *a = user;
    for (int64_t r = begin; r < end; r++) {
        int32_t k = a->range_first[r];
        for (int32_t j = trs_range_begin(a->f->n, r); j < trs_range_begin(a->f->n, r + 1); j++) {
            if (begins(a, j)) a->f->first[k++] = j;
            a->f->set.of_column[j] = k - 1;
        }
        TRS_ASSERT(k == a->range_first[r + 1]);
    }
}

static int number_supernodes(finding *a)
{
    trs_context *ctx = a->ctx;
    const int32_t n = a->f->pattern.n, ranges = trs_ranges(a->f->n);
    a->range_first = trs_new(ctx, (int64_t)ranges + 1, sizeof *a->range_first, "supernodes");
    a->f->set.of_column = trs_new_touched(ctx, n, sizeof(int32_t), "supernodes of columns");
    if (!a->range_first || !a->f->set.of_column) return TRS_EMEM;
    a->range_first[0] = 0;
    trs_share(a->f->pattern.threads, ranges, 1, count_range, a);
    for (int32_t r = 0; r < ranges; r++) a->range_first[r + 1] += a->range_first[r];
    const int32_t count = a->f->set.count = a->range_first[ranges];
    a->f->first = trs_new(ctx, (int64_t)count + 1, sizeof *a->f->first, "supernodes");
    a->f->set.supernode = trs_new_touched(ctx, count, sizeof(trs_columns), "supernodes");
    if (!a->f->first || !a->f->set.supernode) return TRS_EMEM;
    a->f->first[count] = n;
    trs_share(a->f->pattern.threads, ranges, 1, number_range, a);
    return TRS_OK;
}

/* ---- the rows below: A = J L^T J ---------------------------------------------------------------------- */

static trs_columns new_columns(const finding *a, int64_t k, int32_t runs, int32_t below)
{
    const int32_t first = a->f->first[k], end = a->f->first[k + 1];
    return (trs_columns){first, end, runs, below, 0, trs_trapezoid(end - first, below)};
}

/* The lowest row of L that belongs to supernode k: it has the fewest columns, which all others have as well. */
static int32_t lowest_row(const finding *a, int64_t k)
{
    return a->f->pattern.n - a->f->first[k + 1];
}

static void count_rows(void *user, int64_t begin, int64_t end)
{
    finding *a = user;
    for (int64_t k = begin; k < end; k++) {
        const int32_t i = lowest_row(a, k);
        const trs_run_row *row = &a->f->pattern.row[i];
        int32_t columns = 0;
        for (int32_t r = 0; r < row->runs; r++)
            columns += trs_run_end(&a->f->pattern, i, r) - row->run[r].begin;
        const bool diagonal_alone = row->run[row->runs - 1].begin == i; /* in its run */
        a->f->set.supernode[k] = new_columns(a, k, row->runs - diagonal_alone, columns - 1);
    }
}

/* Column j of L is row n-1-j of A, so the runs are taken from the last one to the first, without the diagonal. */
static void list_rows(void *user, int64_t begin, int64_t end)
{
    const finding *a = user;
    const int32_t n = a->f->pattern.n;
    for (int64_t k = begin; k < end; k++) {
        const int32_t i = lowest_row(a, k);
        const trs_run_row *row = &a->f->pattern.row[i];
        trs_run *to = a->f->set.run + a->f->set.supernode[k].from;
        for (int32_t r = row->runs - 1; r >= 0; r--) {
            const trs_run run = {row->run[r].begin, trs_run_end(&a->f->pattern, i, r)};
            if (run.begin < i) *to++ = (trs_run){n - (run.end > i ? i : run.end), n - run.begin};
        }
    }
}

/* ---- the rows below: A = L ---------------------------------------------------------------------------- */

enum { NO_ROW = -2 }; /* no row is the next one after it */

/* Row i has entries in all columns of a fundamental supernode or in none.  Runs are written if there is room for
 * them, else counted. */
static void scan_row(const finding *a, row_scan *scan, int32_t i)
{
    const trs_run_row *row = &a->f->pattern.row[i];
    const int32_t here = a->f->first[a->f->set.of_column[i]];
    const trs_supernode_set *f = &a->f->set;
    for (int32_t r = 0; r < row->runs && row->run[r].begin < here; r++) {
        const int32_t run_end = trs_run_end(&a->f->pattern, i, r),
                      end = run_end < here ? run_end : here;
        int32_t k = a->f->set.of_column[row->run[r].begin];
        TRS_ASSERT(a->f->first[k] == row->run[r].begin);
        do {
            row_scan *s = &scan[k];
            const bool longer = s->last + 1 == i;
            if (f->run) {
                trs_run *to = f->run + f->supernode[k].from + s->runs;
                if (longer) to[-1].end = i + 1;
                else *to = (trs_run){i, i + 1};
            }
            s->runs += !longer;
            s->last = i;
            s->rows++;
        } while (a->f->first[++k] < end);
    }
}

static void scan_some(void *user, int64_t begin, int64_t end)
{
    const finding *a = user;
    const trs_supernode_set *f = &a->f->set;
    const int64_t n = a->f->pattern.n;
    for (int64_t s = begin; s < end; s++) {
        row_scan *scan = a->scan + s * f->count;
        for (int32_t k = 0; k < f->count && !f->run; k++) scan[k] = (row_scan){NO_ROW, 0, 0};
        for (int64_t i = n * s / a->scans; i < n * (s + 1) / a->scans; i++)
            scan_row(a, scan, (int32_t)i);
    }
}

/* From what each scan has counted to where its runs begin, which is behind those of the scans before. */
static void sum_scans(void *user, int64_t begin, int64_t end)
{
    finding *a = user;
    for (int64_t k = begin; k < end; k++) {
        int32_t runs = 0, below = 0;
        for (int32_t s = 0; s < a->scans; s++) {
            row_scan *here = &a->scan[(int64_t)s * a->f->set.count + k];
            const row_scan found = *here;
            *here = (row_scan){NO_ROW, runs, 0};
            runs += found.runs;
            below += found.rows;
        }
        a->f->set.supernode[k] = new_columns(a, k, runs, below);
    }
}

/* There are three scans for each thread, since they take different times, but not so many that their records were
 * more than a fraction of the triangle. */
static int count_columns(finding *a)
{
    const int32_t count = a->f->set.count, threads = a->f->pattern.threads;
    const int64_t most = 1 + a->f->pattern.entries / (4 * ((int64_t)count + 1));
    const int32_t wanted = threads > 1 ? 3 * threads : 1;
    a->scans = most < wanted ? (int32_t)most : wanted;
    a->scan = trs_new(a->ctx, (int64_t)a->scans * count, sizeof *a->scan, "columns");
    if (!a->scan) return TRS_EMEM;
    trs_share(threads, a->scans, 1, scan_some, a);
    trs_share(threads, count, TRS_SUPERNODES_A_CLAIM, sum_scans, a);
    return TRS_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int find_below(finding *a)
{
    trs_supernode_set *f = &a->f->set;
    const int threads = a->f->pattern.threads;
    int64_t runs = 0;
    int rc = TRS_OK;
    if (a->f->by_rows) trs_share(threads, f->count, TRS_SUPERNODES_A_CLAIM, count_rows, a);
    else rc = count_columns(a);
    for (int32_t k = 0; k < f->count && !rc; k++) {
        f->supernode[k].from = runs;
        runs += f->supernode[k].runs;
        a->f->entries += f->supernode[k].entries;
        a->f->below += f->supernode[k].below;
    }
    if (!rc) f->run = trs_new_touched(a->ctx, runs, sizeof *f->run, "patterns of supernodes");
    if (!f->run) return TRS_EMEM;
    if (a->f->by_rows) trs_share(threads, f->count, TRS_SUPERNODES_A_CLAIM, list_rows, a);
    else trs_share(threads, a->scans, 1, scan_some, a);
    return TRS_OK;
}

/* rc says whether there is a pattern. */
static int find(trs_context *ctx, int rc, trs_fundamental *f)
{
    finding a = {.ctx = ctx, .f = f};
    if (rc) return rc;
    f->n = f->pattern.n;
    f->by_rows = prefer_rows(&f->pattern);
    rc = number_supernodes(&a);
    if (!rc) rc = find_below(&a);
    trs_free(&ctx->mem, a.range_first);
    trs_free(&ctx->mem, a.scan);
    return rc;
}

int trs_fundamental_make(trs_context *ctx, const trs_tri *t, trs_fundamental *f)
{
    *f = (trs_fundamental){0};
    return find(ctx, trs_run_pattern_make(ctx, t, &f->pattern), f);
}

int trs_fundamental_fetch(const trs_operator *op, trs_fundamental *f)
{
    *f = (trs_fundamental){0};
    return find(op->ctx, trs_run_pattern_fetch(op, &f->pattern), f);
}

void trs_supernode_set_free(trs_context *ctx, trs_supernode_set *s)
{
    trs_free(&ctx->mem, s->supernode);
    trs_free(&ctx->mem, s->run);
    trs_free(&ctx->mem, s->of_column);
    s->supernode = NULL, s->run = NULL, s->of_column = NULL;
}

void trs_fundamental_free(trs_context *ctx, trs_fundamental *f)
{
    trs_run_pattern_free(ctx, &f->pattern);
    trs_supernode_set_free(ctx, &f->set);
    trs_free(&ctx->mem, f->first);
    f->first = NULL;
}
