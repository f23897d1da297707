/* problems.c: the kinds of triangles of the benchmark.
 *
 * Every row is diagonally dominant: the absolute values of its other entries sum to at most 0.9 of
 * the diagonal entry.  So solutions stay moderate and errors can be compared.  lu2d and lu3d are as
 * CHOLMOD makes them. */
#include "config.h"

#include "problems.h"
#include "mesh.h"
#include "bin/common/sentence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct maker { /* a triangle to which rows are added one after the other */
    const char *kind;
    problem_options opt;
    int64_t size;
    uint64_t state; /* of the random numbers */
    trs_mm *mm;
    int64_t room; /* entries that mm->idx and mm->val have room for */
    int failed;   /* TRS_OK, or TRS_EMEM once there was no room for an entry */
} maker;

/* ---- random numbers: splitmix64 -------------------------------------------------------------- */

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

/* ---- rows ------------------------------------------------------------------------------------ */

/* a + b and a * b for a, b >= 0; INT64_MAX where that is too large for the type. */
static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
static int64_t times(int64_t a, int64_t b)
{
    return b && a > INT64_MAX / b ? INT64_MAX : a * b;
}

static int refuse(maker *m, int code, const char *why)
{
    return say(code, "%s %" PRId64 ": %s", m->kind, m->size, why);
}

/* Can so many rows and entries be numbered by 32 bits, and held in the memory of this machine?
 * Without this question an allocation might succeed that the machine can never fill. */
static int check_size(maker *m, int64_t rows, int64_t entries)
{
    const double need = 8.0 * (double)rows + 12.0 * (double)entries,
                 have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char why[120];
    if (rows >= INT32_MAX) return refuse(m, TRS_EARG, "too large: more than 2^31 - 2 rows");
    if (have <= 0 || need <= have) return TRS_OK;
    snprintf(why, sizeof why, "too large: needs %.3g GB of memory, this machine has %.3g GB",
             need / 1e9, have / 1e9);
    return refuse(m, TRS_EARG, why);
}

/* Makes room for n rows, and for the number of entries that is expected. */
static int start(maker *m, int64_t n, int64_t entries)
{
    trs_mm *mm = m->mm;
    if (check_size(m, n, entries)) return TRS_EARG;
    mm->rows = mm->cols = n;
    mm->ptr = malloc(((size_t)n + 1) * sizeof *mm->ptr);
    mm->idx = malloc(((size_t)entries + 1) * sizeof *mm->idx);
    mm->val = malloc(((size_t)entries + 1) * sizeof(double));
    if (!mm->ptr || !mm->idx || !mm->val) return TRS_EMEM;
    mm->ptr[0] = 0;
    m->room = entries + 1;
    return TRS_OK;
}

static int set_room(maker *m, int64_t room)
{
    trs_mm *mm = m->mm;
    int32_t *idx = realloc(mm->idx, (size_t)room * sizeof *idx);
    if (idx) mm->idx = idx;
    double *val = realloc(mm->val, (size_t)room * sizeof *val);
    if (val) mm->val = val;
    if (!idx || !val) return m->failed = TRS_EMEM;
    m->room = room;
    return TRS_OK;
}

/* Makes room for one more entry. */
static int make_room(maker *m)
{
    if (m->failed || m->mm->nnz < m->room) return m->failed;
    return set_room(m, m->mm->nnz + m->mm->nnz / 2 + 1024);
}

/* Adds a column to the row that is being made. */
static void add(maker *m, int64_t column)
{
    if (make_room(m)) return;
    m->mm->idx[m->mm->nnz++] = (int32_t)column;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int is_ascending(const int32_t *a, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (a[k - 1] > a[k]) return 0;
    return 1;
}

/* Ends row i: sorts its columns, drops those that stand there twice or are not left of the
 * diagonal, and adds the diagonal and the values. */
static void end_row(maker *m, int64_t i)
{
    trs_mm *mm = m->mm;
    int64_t begin = mm->ptr[i], q = begin;
    if (make_room(m)) return;
    if (!is_ascending(mm->idx + begin, mm->nnz - begin))
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

/* ---- grids ----------------------------------------------------------------------------------- */

/* The nodes of the 3 x 3 x 3 stencil around node (0, 0, 0), numbered with x first, are
 *     (k mod 3 - 1, k / 3 mod 3 - 1, k / 9 - 1),   k = 0 ... 26;
 * number 13 is the node itself, and 0 to 12 are those before it in the order of the rows. */
enum { STENCIL_HALF = 14 };

/* Neighbour k of a node in a grid of d [0] x d [1] x d [2]; -1: it lies outside, or, unless all of
 * the stencil counts, not on an axis. */
static int64_t stencil_node(const int64_t d[3], int64_t node, int64_t k, int all)
{
    const int64_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
    const int64_t x = node % d[0] + dx, y = node / d[0] % d[1] + dy, z = node / d[0] / d[1] + dz;
    if (!all && dx * dx + dy * dy + dz * dz > 1) return -1;
    if (x < 0 || y < 0 || z < 0 || x >= d[0] || y >= d[1]) return -1;
    return node + dx + d[0] * (dy + d[1] * dz);
}

/* The lower triangle of a grid with dof unknowns a node: each is coupled to all unknowns of the
 * neighbours, along the axes or in the whole stencil. */
static int grid(maker *m, const int64_t d[3], int all, int64_t dof)
{
    const int64_t nodes = times(times(d[0], d[1]), d[2]), rows = times(nodes, dof);
    const int64_t on_axes = d[2] == 1 ? 3 : 4; /* neighbours before a node, and itself */
    int rc = start(m, rows, times(rows, times(all ? STENCIL_HALF : on_axes, dof)));
    for (int64_t row = 0; row < rows && !rc; row++) {
        for (int64_t k = 0; k < STENCIL_HALF; k++) {
            const int64_t other = stencil_node(d, row / dof, k, all);
            for (int64_t b = 0; b < dof && other >= 0; b++) add(m, other * dof + b);
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

/* The L of ILU(0) of a symmetric 7-point matrix A: 6 on its diagonal, random a(i,j) in (-1, -1/2].
 * The grid has no triangles, so ILU(0) changes the pivots only,
 *     d(i) = a(i,i) - sum over j < i of a(i,j) a(j,i) / d(j),
 * and A has the pattern of L D^-1 L' with L(i,j) = a(i,j), L(i,i) = d(i).  d(i) > 3 + sqrt(6) - eps
 * by induction, so that a row's other entries are at most 0.56 of its diagonal. */
static int ilu(maker *m)
{
    int rc = grid7(m);
    const int64_t *ptr = m->mm->ptr;
    double *val = m->mm->val;
    for (int64_t i = 0; i < m->mm->rows && !rc; i++) {
        double pivot = 6;
        for (int64_t p = ptr[i]; p < ptr[i + 1] - 1; p++) {
            val[p] = -0.5 - 0.5 * uniform(m);
            pivot -= val[p] * val[p] / val[ptr[m->mm->idx[p] + 1] - 1];
        }
        val[ptr[i + 1] - 1] = pivot;
    }
    return rc;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* The rows of a mesh whose nodes have their numbers. */
static int mesh_rows(maker *m, const problem_mesh *g)
{
    int rc = start(m, g->rows, times(g->rows, MESH_NEIGHBOURS / 2 + 1));
    for (int64_t i = 0; i < g->rows && !rc; i++) {
        for (int k = 0; k < MESH_NEIGHBOURS; k++) {
            const int64_t other = problem_mesh_neighbour(g, g->node[i], k);
            if (other >= 0 && g->number[other] < i) add(m, g->number[other]);
        }
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

/* One node in sixteen is left out, so that rows differ. */
static int mesh(maker *m, void (*order)(problem_mesh *))
{
    problem_mesh g = {.size = m->size};
    const int64_t nodes = times(times(m->size, m->size), m->size);
    /* an entry a node more, for its number and that of its row */
    int rc = check_size(m, nodes, times(nodes, MESH_NEIGHBOURS / 2 + 2));
    if (rc) return rc;
    g.number = malloc((size_t)nodes * sizeof *g.number + 1);
    g.node = malloc((size_t)nodes * sizeof *g.node + 1);
    if (!g.number || !g.node) rc = TRS_EMEM;
    for (int64_t k = 0; k < nodes && !rc; k++) g.number[k] = uniform(m) < 1.0 / 16 ? -1 : 0;
    if (!rc) {
        order(&g);
        rc = mesh_rows(m, &g);
    }
    free(g.number);
    free(g.node);
    return rc;
}

static int meshrcm(maker *m)
{
    return mesh(m, problem_mesh_by_cuthill_mckee);
}
static int meshcurve(maker *m)
{
    return mesh(m, problem_mesh_by_curve);
}

/* ---- random triangles ------------------------------------------------------------------------ */

static int uniform_rows(maker *m)
{
    const int64_t degree = m->opt.degree ? m->opt.degree : 10;
    int rc = start(m, m->size, times(m->size, degree));
    for (int64_t i = 0; i < m->size && !rc; i++) {
        for (int64_t k = 1; k < degree && i > 0; k++) add(m, below(m, i));
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

/* An edge of the R-MAT graph: bit by bit its two vertices fall into one of four quadrants of the
 * adjacency matrix, with the probabilities 0.57, 0.19, 0.19 and 0.05.
 * Source: D. Chakrabarti, Y. Zhan and C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining",
 * SDM 2004. */
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

/* Adds the edges (row [k], col [k]) row by row, after a counting sort: while it runs, first [i + 1]
 * is the next free place of row i in sorted [edges]; afterwards it is where row i ends and row i +
 * 1 begins. */
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

/* The edges, by place [], a random numbering of the vertices: the larger number is the row.
 * Numbered as they are made, the vertices would be ordered by their degree. */
static void rmat_edges(maker *m, const int32_t *place, int64_t edges, int32_t *row, int32_t *col)
{
    int64_t u, v;
    for (int64_t k = 0; k < edges; k++) {
        rmat_edge(m, &u, &v);
        row[k] = place[u] > place[v] ? place[u] : place[v];
        col[k] = place[u] > place[v] ? place[v] : place[u];
    }
}

static int rmat(maker *m)
{
    const int64_t n = (int64_t)1 << (m->size < 32 ? m->size : 32),
                  edges = m->opt.edges ? m->opt.edges : 8 * n;
    int rc = start(m, n, plus(edges, n));
    if (rc) return rc;
    int32_t *place = malloc((size_t)n * sizeof *place);
    int32_t *row = malloc((size_t)edges * sizeof *row), *col = malloc((size_t)edges * sizeof *col);
    int32_t *sorted = malloc((size_t)edges * sizeof *sorted);
    int64_t *first = malloc(((size_t)n + 2) * sizeof *first);
    if (!place || !row || !col || !sorted || !first) rc = TRS_EMEM;
    if (!rc) {
        shuffle(m, place, n);
        rmat_edges(m, place, edges, row, col);
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

/* As in circuits: a row has one to four entries, most of them near the diagonal, at distances with
 * a heavy tail; 40 columns are nets, in which 0.3 % of all rows behind have an entry; and a few
 * rows have four thousand. */
static int circuit(maker *m)
{
    enum { NETS = 40, LONG = 4000 };
    int64_t net[NETS];
    int rc = start(m, m->size, times(m->size, 4)); /* more come if they are needed */
    for (int k = 0; k < NETS; k++) net[k] = below(m, m->size - m->size / 10);
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

/* ---- chains and full triangles --------------------------------------------------------------- */

static int chain_of(maker *m, int64_t entries, int64_t reach)
{
    int rc = start(m, m->size, times(m->size, plus(entries, 2)));
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
    int rc = start(m, m->size, times(m->size, m->size / 2 + 1));
    for (int64_t i = 0; i < m->size && !rc; i++) {
        for (int64_t j = 0; j < i; j++) add(m, j);
        end_row(m, i);
        rc = m->failed;
    }
    return rc;
}

/* Only CHOLMOD can tell how many entries L has, but the Laplacian must fit at least. */
static int lu2d(maker *m)
{
    const int64_t n = times(m->size, m->size);
    int rc = check_size(m, n, times(n, 5));
    return rc ? rc : problem_make_lu(2, m->size, m->mm);
}
static int lu3d(maker *m)
{
    const int64_t n = times(times(m->size, m->size), m->size);
    int rc = check_size(m, n, times(n, 7));
    return rc ? rc : problem_make_lu(3, m->size, m->mm);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    problem_kind kind;
    int (*make)(maker *);
} kinds[] = {
    {{"grid5", "N", "", "lower triangle of the 5-point N x N grid"}, grid5},
    {{"grid7", "N", "", "lower triangle of the 7-point N^3 grid"}, grid7},
    {{"grid27", "N", "", "lower triangle of the 27-point N^3 grid"}, grid27},
    {{"fem", "N", "dof", "27-point N^3 grid with dense blocks of --dof (3) unknowns"}, fem},
    {{"ilu", "N", "", "factor L of ILU(0) of a random 7-point matrix on the N^3 grid"}, ilu},
    {{"rand", "N", "degree", "N rows of --degree (10) entries in random columns"}, uniform_rows},
    {{"rmat", "S", "edges", "R-MAT graph with 2^S vertices and --edges (8 * 2^S) edges"}, rmat},
    {{"circuit", "N", "", "N rows: a few near entries, some nets, a few long rows"}, circuit},
    {{"chain", "N", "entries reach",
      "as bidiag, plus --entries (4) of the previous --reach (5000) rows"},
     chain},
    {{"bidiag", "N", "", "each row depends only on the previous row"}, bidiag},
    {{"full", "N", "", "full lower triangle"}, full},
    {{"lu2d", "N", "", "factor L of the 5-point N x N Laplacian by CHOLMOD, AMD; no seed"}, lu2d},
    {{"lu3d", "N", "", "factor L of the 7-point N^3 Laplacian by CHOLMOD, AMD; no seed"}, lu3d},
    {{"meshrcm", "N", "", "tetrahedral mesh in an N^3 cube, by reverse Cuthill-McKee"}, meshrcm},
    {{"meshcurve", "N", "", "such a mesh along Morton's curve"}, meshcurve},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const problem_kind *problem_kind_at(int k)
{
    return k >= 0 && k < KINDS ? &kinds[k].kind : NULL;
}

static int make(int k, maker *m)
{
    const problem_options *o = &m->opt;
    if (m->size < 0) return refuse(m, TRS_EARG, "the size is negative");
    if (o->degree < 0 || o->dof < 0 || o->edges < 0 || o->entries < 0 || o->reach < 0)
        return refuse(m, TRS_EARG, "an option is negative");
    int rc = kinds[k].make(m);
    if (!rc && m->room) rc = set_room(m, m->mm->nnz + 1); /* give back what was not needed */
    m->mm->stored = m->mm->nnz;
    return rc;
}

int problem_make(const char *kind, int64_t size, const problem_options *opt, trs_mm *mm)
{
    *mm = (trs_mm){.format = TRS_CSR, .dtype = TRS_F64, .field = TRS_REAL, .symmetry = TRS_GENERAL};
    int k = 0;
    while (k < KINDS && strcmp(kinds[k].kind.name, kind)) k++;
    if (k == KINDS) return say(TRS_EARG, "unknown kind \"%.60s\"", kind);
    maker m = {.kind = kinds[k].kind.name, .size = size, .mm = mm};
    if (opt) m.opt = *opt;
    m.state = m.opt.seed * 0x2545f4914f6cdd1du + (uint64_t)k;
    say(TRS_OK, "%s", "");
    int rc = make(k, &m);
    return rc && !*said() ? refuse(&m, rc, trs_strerror(rc)) : rc;
}

bool problem_is_name(const char *name)
{
    struct stat st;
    const char *colon = strchr(name, ':');
    return colon && colon > name && colon[1] && !strchr(name, '/') && stat(name, &st) != 0;
}

int problem_named(const char *name, trs_mm *mm)
{
    static const problem_options defaults = {0};
    char kind[64], *end;
    const char *colon = strchr(name, ':');
    const char *digits = colon ? colon + 1 : "";
    snprintf(kind, sizeof kind, "%.*s", colon ? (int)(colon - name) : 0, name);
    const long long size = strtoll(digits, &end, 10);
    if (*digits && !*end) return problem_make(kind, size, &defaults, mm);
    memset(mm, 0, sizeof *mm);
    return say(TRS_EARG, "%.200s: the size is not a number", name);
}
