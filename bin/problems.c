/* problems.c: the kinds of triangles of the benchmark.
 *
 * Every row is diagonally dominant (its other entries sum to at most 0.9 of the diagonal), so that
 * solutions stay moderate and errors can be compared. */
#include "config.h"

#include "problems.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker { /* rows are added one after the other */
    problem_options opt;
    int64_t size;
    uint64_t state; /* of the random numbers */
    trs_mm *mm;
    int64_t room; /* entries allocated */
    int failed;
} maker;

/* ---- random numbers: splitmix64 ---------------------------------------------------------------- */

static uint64_t random_bits(maker *m)
{
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(maker *m) /* in [0, 1) */
{
    return (double)(random_bits(m) >> 11) * 0x1p-53;
}

static int64_t below(maker *m, int64_t n)
{
    return (int64_t)(uniform(m) * (double)n);
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static int start(maker *m, int64_t n)
{
    trs_mm *mm = m->mm;
    if (n < 0 || n >= INT32_MAX) {
        snprintf(mm->message, sizeof mm->message, "size %" PRId64 ": more than 2^31 - 2 rows",
                 m->size);
        return TRS_EARG;
    }
    mm->rows = mm->cols = n;
    mm->ptr = malloc(((size_t)n + 1) * sizeof *mm->ptr);
    if (!mm->ptr) return TRS_EMEM;
    mm->ptr[0] = 0;
    return TRS_OK;
}

static int make_room(maker *m, int64_t more)
{
    trs_mm *mm = m->mm;
    if (m->failed || mm->nnz + more <= m->room) return m->failed;
    int64_t room = (mm->nnz + more) + (mm->nnz + more) / 2 + 1024;
    int32_t *idx = realloc(mm->idx, (size_t)room * sizeof *idx);
    if (idx) mm->idx = idx;
    double *val = realloc(mm->val, (size_t)room * sizeof *val);
    if (val) mm->val = val;
    if (!idx || !val) return m->failed = TRS_EMEM;
    m->room = room;
    return TRS_OK;
}

/* One more column of the row that is being made. */
static void add(maker *m, int64_t column)
{
    if (make_room(m, 2)) return;
    m->mm->idx[m->mm->nnz++] = (int32_t)column;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* End row i: sort, drop what stands twice or not below the diagonal, add the diagonal, give values. */
static void end_row(maker *m, int64_t i)
{
    trs_mm *mm = m->mm;
    int64_t begin = mm->ptr[i], q = begin;
    if (make_room(m, 1)) return;
    if (mm->nnz - begin > 1)
        qsort(mm->idx + begin, (size_t)(mm->nnz - begin), sizeof *mm->idx, ascending);
    for (int64_t p = begin; p < mm->nnz; p++)
        if (mm->idx[p] < i && (q == begin || mm->idx[p] != mm->idx[q - 1]))
            mm->idx[q++] = mm->idx[p];
    double *val = mm->val, diagonal = 1 + uniform(m),
           most = q > begin ? 0.9 * diagonal / (double)(q - begin) : 0;
    for (int64_t p = begin; p < q; p++) val[p] = (2 * uniform(m) - 1) * most;
    mm->idx[q] = (int32_t)i;
    val[q++] = diagonal;
    mm->ptr[i + 1] = mm->nnz = q;
}

/* ---- grids ------------------------------------------------------------------------------------------ */

/* Nodes before (x, y, z) in a box of d: the neighbours along the axes, or all of them. */
static int grid(maker *m, const int64_t d[3], int all, int64_t dof)
{
    int rc = start(m, d[0] * d[1] * d[2] * dof);
    int64_t row = 0;
    for (int64_t node = 0; node < d[0] * d[1] * d[2] && !rc; node++)
        for (int64_t a = 0; a < dof && !rc; a++, row++) {
            const int64_t x = node % d[0], y = node / d[0] % d[1], z = node / d[0] / d[1];
            for (int64_t k = 0; k < 14; k++) { /* the neighbours before it, and itself, k = 13 */
                const int64_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
                if (!all && dx * dx + dy * dy + dz * dz > 1) continue;
                if (x + dx < 0 || y + dy < 0 || z + dz < 0 || x + dx >= d[0] || y + dy >= d[1])
                    continue;
                for (int64_t b = 0; b < dof; b++)
                    add(m, (node + dx + d[0] * (dy + d[1] * dz)) * dof + b);
            }
            end_row(m, row);
            rc = m->failed;
        }
    return rc;
}

static int grid5(maker *m)
{
    return grid(m, (const int64_t[3]){m->size, m->size, 1}, 0, 1);
}
static int grid7(maker *m)
{
    return grid(m, (const int64_t[3]){m->size, m->size, m->size}, 0, 1);
}
static int grid27(maker *m)
{
    return grid(m, (const int64_t[3]){m->size, m->size, m->size}, 1, 1);
}
static int fem(maker *m)
{
    return grid(m, (const int64_t[3]){m->size, m->size, m->size}, 1, m->opt.dof ? m->opt.dof : 3);
}

/* The L of ILU(0) of the 7-point Laplacian, the pivots on its diagonal. */
static int ilu(maker *m)
{
    int rc = grid7(m);
    const int64_t *ptr = m->mm->ptr;
    double *val = m->mm->val;
    for (int64_t i = 0; i < m->mm->rows && !rc; i++) {
        double pivot = 6;
        for (int64_t p = ptr[i]; p < ptr[i + 1] - 1; p++) {
            pivot -= 1 / val[ptr[m->mm->idx[p] + 1] - 1];
            val[p] = -1;
        }
        val[ptr[i + 1] - 1] = pivot;
    }
    return rc;
}

/* ---- random ones ------------------------------------------------------------------------------------ */

static int uniform_rows(maker *m)
{
    const int64_t degree = m->opt.degree ? m->opt.degree : 10;
    int rc = start(m, m->size);
    for (int64_t i = 0; i < m->size && !rc; i++) {
        for (int64_t k = 1; k < degree && i > 0; k++) add(m, below(m, i));
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

/* A vertex pair of the R-MAT graph with probabilities 0.57, 0.19, 0.19, 0.05. */
static void rmat_edge(maker *m, int64_t *u, int64_t *v)
{
    *u = *v = 0;
    for (int64_t bit = 0; bit < m->size; bit++) {
        double r = uniform(m);
        *u = 2 * *u + (r >= 0.76);
        *v = 2 * *v + ((r >= 0.57 && r < 0.76) || r >= 0.95);
    }
}

static void shuffle(maker *m, int32_t *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) a[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)(random_bits(m) % (uint64_t)(i + 1));
        int32_t t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}

/* Edges (row [k], col [k]) to rows, by counting. */
static void rows_of_edges(maker *m, int64_t n, int64_t edges, const int32_t *row,
                          const int32_t *col, int64_t *first, int32_t *sorted)
{
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    for (int64_t k = 0; k < edges; k++) first[row[k] + 2]++;
    for (int64_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
    for (int64_t k = 0; k < edges; k++) sorted[first[row[k] + 1]++] = col[k];
    for (int64_t i = 0; i < n && !m->failed; i++) {
        for (int64_t k = first[i]; k < first[i + 1]; k++) add(m, sorted[k]);
        end_row(m, i);
    }
}

static int rmat(maker *m)
{
    if (m->size > 30)
        return snprintf(m->mm->message, sizeof m->mm->message, "rmat: 2^30 rows at most"), TRS_EARG;
    const int64_t n = (int64_t)1 << m->size, edges = m->opt.edges ? m->opt.edges : 8 * n;
    int rc = start(m, n);
    int32_t *place = malloc((size_t)n * sizeof *place),
            *row = malloc((size_t)edges * sizeof *row + 1);
    int32_t *col = malloc((size_t)edges * sizeof *col + 1),
            *sorted = malloc((size_t)edges * sizeof *sorted + 1);
    int64_t *first = malloc(((size_t)n + 2) * sizeof *first), u, v;
    if (!rc && (!place || !row || !col || !sorted || !first)) rc = TRS_EMEM;
    if (!rc) {
        shuffle(m, place, n);
        for (int64_t k = 0; k < edges; k++) {
            rmat_edge(m, &u, &v);
            row[k] = place[u] > place[v] ? place[u] : place[v];
            col[k] = place[u] > place[v] ? place[v] : place[u];
        }
        rows_of_edges(m, n, edges, row, col, first, sorted);
        rc = m->failed;
    }
    free(place);
    free(row);
    free(col);
    free(sorted);
    free(first);
    return rc;
}

/* One to four mostly near entries a row with a heavy tail of distances, 40 nets that 0.3 % of the later
 * rows read, and a few rows of four thousand entries. */
static int circuit(maker *m)
{
    enum { NETS = 40, LONG = 4000 };
    int64_t net[NETS];
    int rc = start(m, m->size);
    for (int k = 0; k < NETS; k++) net[k] = below(m, m->size * 9 / 10);
    for (int64_t i = 0; i < m->size && !rc; i++) {
        int near = 1 + (uniform(m) < 0.6) + (uniform(m) < 0.3) + (uniform(m) < 0.1);
        for (int k = 0; k < near && i > 0; k++) {
            double distance = 1 + floor(2000 * (pow(1 - uniform(m), -1.1) - 1));
            if (distance <= (double)i && uniform(m) < 0.85) add(m, i - (int64_t)distance);
        }
        for (int k = 0; k < NETS; k++)
            if (net[k] < i && uniform(m) < 0.003) add(m, net[k]);
        if (i > 1000 && uniform(m) < 2e-5)
            for (int k = 0; k < LONG; k++) add(m, below(m, i));
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

/* ---- chains and full ones ---------------------------------------------------------------------------- */

static int chain_of(maker *m, int64_t entries, int64_t reach)
{
    int rc = start(m, m->size);
    for (int64_t i = 0; i < m->size && !rc; i++) {
        if (i > 0) add(m, i - 1);
        for (int64_t k = 0; k < entries && i > 0; k++)
            add(m, i - 1 - below(m, i < reach ? i : reach));
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

static int chain(maker *m)
{
    return chain_of(m, m->opt.entries ? m->opt.entries : 4, m->opt.reach ? m->opt.reach : 5000);
}
static int bidiag(maker *m)
{
    return chain_of(m, 0, 1);
}

static int full(maker *m)
{
    int rc = start(m, m->size);
    for (int64_t i = 0; i < m->size && !rc; i++) {
        for (int64_t j = 0; j < i; j++) add(m, j);
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

static int lu2d(maker *m)
{
    return problem_make_lu(2, m->size, m->mm);
}
static int lu3d(maker *m)
{
    return problem_make_lu(3, m->size, m->mm);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static const struct {
    problem_kind kind;
    int (*make)(maker *);
} kinds[] = {
    {{"grid5", "N", "lower triangle of the 5-point N x N grid"}, grid5},
    {{"grid7", "N", "of the 7-point N^3 grid"}, grid7},
    {{"grid27", "N", "of the 27-point N^3 grid"}, grid27},
    {{"fem", "N", "27-point N^3 grid with dense blocks of --dof unknowns (3)"}, fem},
    {{"ilu", "N", "the L of ILU(0) of the 7-point N^3 Laplacian"}, ilu},
    {{"rand", "N", "N rows of --degree entries (10) at random columns"}, uniform_rows},
    {{"rmat", "S", "R-MAT graph with 2^S vertices and --edges edges (8 * 2^S)"}, rmat},
    {{"circuit", "N", "N rows: few near entries, some nets, a few long rows"}, circuit},
    {{"chain", "N",
      "each row needs the one before, and --entries (4) of the --reach (5000) before"},
     chain},
    {{"bidiag", "N", "each row needs the one before"}, bidiag},
    {{"full", "N", "full lower triangle"}, full},
    {{"lu2d", "N", "the L of the 5-point N x N Laplacian by CHOLMOD with AMD"}, lu2d},
    {{"lu3d", "N", "the L of the 7-point N^3 Laplacian by CHOLMOD with AMD"}, lu3d},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const problem_kind *problem_kind_at(int k)
{
    return k >= 0 && k < KINDS ? &kinds[k].kind : NULL;
}

/* Would size^3 * 3 entries and more overflow before anything is allocated? */
static int sensible(const char *kind, int64_t size)
{
    if (size < 0) return 0;
    if (!strcmp(kind, "grid5") || !strcmp(kind, "full") || !strcmp(kind, "lu2d"))
        return size <= 46340;
    if (!strcmp(kind, "grid7") || !strcmp(kind, "grid27") || !strcmp(kind, "fem") ||
        !strcmp(kind, "ilu") || !strcmp(kind, "lu3d"))
        return size <= 1290;
    return size < INT32_MAX;
}

int problem_make(const char *kind, int64_t size, const problem_options *opt, trs_mm *mm)
{
    *mm = (trs_mm){.format = TRS_CSR, .dtype = TRS_F64, .field = TRS_REAL, .symmetry = TRS_GENERAL};
    int k = 0;
    while (k < KINDS && strcmp(kinds[k].kind.name, kind)) k++;
    if (k == KINDS)
        return snprintf(mm->message, sizeof mm->message, "no kind \"%.60s\"", kind), TRS_EARG;
    if (!sensible(kind, size)) {
        snprintf(mm->message, sizeof mm->message, "%s: size %" PRId64 " is negative or too large",
                 kind, size);
        return TRS_EARG;
    }
    maker m = {.size = size, .mm = mm};
    if (opt) m.opt = *opt;
    m.state = m.opt.seed * 0x2545f4914f6cdd1du + (uint64_t)k;
    int rc = kinds[k].make(&m);
    mm->stored = mm->nnz;
    if (rc == TRS_EMEM)
        snprintf(mm->message, sizeof mm->message, "%s %" PRId64 ": out of memory", kind, size);
    return rc;
}
