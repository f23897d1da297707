/* matching.c: a matching of the rows and columns of A whose entries have the largest product.
 *
 * Minimise the sum over the matched entries of c(i, j) = log (max |a(:, j)| / |a(i, j)|), an assignment problem.  Dual variables
 * u and v keep c(i, j) - u(i) - v(j) >= 0, with equality where (i, j) is matched.  A column that is not matched yet is matched
 * along a shortest augmenting path, which Dijkstra's algorithm finds with these reduced costs.
 * Source: Duff and Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, SIAM J. Matrix Anal.
 * Appl. 22 (2001) 973-996. */
#include "config.h"

#include "pairs.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

enum { UNSEEN = -1, DONE = -2 }; /* rows that are not in the heap */

typedef struct search {
    const trs_csc *A;
    double *cost;        /* [nnz] infinite where a(i, j) = 0 */
    double *u, *v;       /* [n] */
    int32_t *row_of;     /* [n] the row that column j is matched with; -1: none */
    int32_t *col_of;     /* [n] the column that row i is matched with; -1: none */
    double *dist;        /* [n] from the column where the path begins to row i */
    int32_t *from;       /* [n] the column before row i on this path */
    int32_t *heap;       /* [n] rows, the nearest first */
    int32_t *place;      /* [n] of row i in the heap, or UNSEEN or DONE */
    int32_t *seen;       /* [n] rows that are not UNSEEN */
    int32_t size, count; /* of heap, and of seen */
} search;

/* ---- a heap of rows by distance -------------------------------------------------------------------- */

static void set(search *s, int32_t k, int32_t row)
{
    s->heap[k] = row;
    s->place[row] = k;
}

/* Row `row` is at place k or before it. */
static void rise(search *s, int32_t k, int32_t row)
{
    for (; k > 0 && s->dist[s->heap[(k - 1) / 2]] > s->dist[row]; k = (k - 1) / 2)
        set(s, k, s->heap[(k - 1) / 2]);
    set(s, k, row);
}

static int32_t pop(search *s)
{
    const int32_t top = s->heap[0], row = s->heap[--s->size];
    int32_t k = 0;
    for (int32_t child = 1; child < s->size; child = 2 * k + 1) {
        if (child + 1 < s->size && s->dist[s->heap[child + 1]] < s->dist[s->heap[child]]) child++;
        if (s->dist[s->heap[child]] >= s->dist[row]) break;
        set(s, k, s->heap[child]);
        k = child;
    }
    if (s->size > 0) set(s, k, row);
    s->place[top] = DONE;
    return top;
}

/* ---- a path ------------------------------------------------------------------------------------------ */

/* Go from column j, which is at distance `here`, to its rows; *best is the nearest row that is not matched, or -1. */
static void relax(search *s, int32_t j, double here, int32_t *best, double *shortest)
{
    for (int64_t p = s->A->p[j]; p < s->A->p[j + 1]; p++) {
        const int32_t i = (int32_t)s->A->i[p];
        const double d = here + fmax(s->cost[p] - s->u[i] - s->v[j], 0);
        if (s->place[i] == DONE || !(d < *shortest)) continue;
        if (s->col_of[i] < 0) *best = i, *shortest = d, s->from[i] = j;
        else if (s->place[i] == UNSEEN || d < s->dist[i]) {
            if (s->place[i] == UNSEEN) s->seen[s->count++] = i, s->place[i] = s->size++;
            s->dist[i] = d, s->from[i] = j;
            rise(s, s->place[i], i);
        }
    }
}

/* Match column j, and others anew, along a path; without one, it stays alone. */
static void augment(search *s, int32_t j)
{
    double shortest = INFINITY;
    int32_t best = -1;
    s->size = s->count = 0;
    relax(s, j, 0, &best, &shortest);
    while (s->size > 0 && s->dist[s->heap[0]] < shortest) {
        const int32_t i = pop(s);
        relax(s, s->col_of[i], s->dist[i], &best, &shortest);
    }
    if (best >= 0) s->v[j] += shortest;
    for (int32_t k = 0; k < s->count; k++) {
        const int32_t i = s->seen[k];
        if (s->place[i] == DONE && best >= 0) {
            s->u[i] += s->dist[i] - shortest;
            s->v[s->col_of[i]] += shortest - s->dist[i];
        }
        s->place[i] = UNSEEN;
    }
    for (int32_t i = best, next; i >= 0; i = next) {
        const int32_t c = s->from[i];
        next = c == j ? -1 : s->row_of[c];
        s->row_of[c] = i, s->col_of[i] = c;
    }
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static void find_costs(search *s)
{
    const trs_csc *A = s->A;
    for (int64_t j = 0; j < A->n; j++) {
        double most = 0;
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
            s->cost[p] = trs_csc_size(A, p);
            if (s->cost[p] > most) most = s->cost[p];
        }
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++)
            s->cost[p] = s->cost[p] > 0 ? log(most) - log(s->cost[p]) : INFINITY;
    }
}

/* Dual variables that are feasible, and the entries that can be matched at once. */
static void begin(search *s)
{
    const trs_csc *A = s->A;
    for (int64_t i = 0; i < A->n; i++) {
        s->u[i] = INFINITY;
        s->row_of[i] = s->col_of[i] = -1, s->place[i] = UNSEEN;
    }
    for (int64_t p = 0; p < A->nnz; p++) s->u[A->i[p]] = fmin(s->u[A->i[p]], s->cost[p]);
    for (int64_t i = 0; i < A->n; i++)
        if (!isfinite(s->u[i])) s->u[i] = 0;
    for (int64_t j = 0; j < A->n; j++) {
        double least = INFINITY;
        int32_t row = -1;
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
            const int32_t i = (int32_t)A->i[p];
            const double c = s->cost[p] - s->u[i];
            if (c < least || (c == least && s->col_of[i] < 0 && (row < 0 || s->col_of[row] >= 0)))
                least = c, row = i;
        }
        s->v[j] = isfinite(least) ? least : 0;
        if (row >= 0 && s->col_of[row] < 0) s->row_of[j] = row, s->col_of[row] = (int32_t)j;
    }
}

static int run(search *s)
{
    const int32_t n = (int32_t)s->A->n;
    int rc = TRS_OK;
    find_costs(s);
    begin(s);
    for (int32_t j = 0; j < n && !rc; j++) {
        if (s->row_of[j] < 0) augment(s, j);
        if (j % 4096 == 0) rc = trs_step("matching", (double)j / n);
    }
    return rc;
}

int trs_matching(trs_lu *lu, const trs_csc *A, int32_t *row_of, double *u, double *v)
{
    const char *const what = "a matching";
    const int64_t n = A->n;
    search s = {.A = A, .u = u, .v = v, .row_of = row_of};
    s.cost = trs_lu_alloc(lu, A->nnz, sizeof *s.cost, what);
    s.dist = trs_lu_alloc(lu, n, sizeof *s.dist, what);
    int32_t *scratch = trs_lu_alloc(lu, 5 * n, sizeof *scratch, what);
    int rc = s.cost && s.dist && scratch ? TRS_OK : TRS_EMEM;
    if (!rc) {
        s.col_of = scratch, s.from = scratch + n, s.heap = scratch + 2 * n;
        s.place = scratch + 3 * n, s.seen = scratch + 4 * n;
        rc = run(&s);
    }
    trs_lu_free(lu, s.cost, s.dist, scratch);
    return rc;
}

#endif
