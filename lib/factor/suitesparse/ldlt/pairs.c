/* pairs.c: pivots of 2 x 2 numbers, chosen before anything is ordered.
 *
 * In a matching of rows and columns with the largest product, the entry (i, j) says that a(i, j) is a good pivot.  A is
 * Hermitian, so if i and j are matched with each other, the numbers of rows and columns i and j are a good 2 x 2 pivot.  Other
 * cycles of the matching are cut into pairs; of a cycle with an odd number of rows, the one with the largest number on the
 * diagonal stays alone.  So does a row whose own diagonal, and that of its mate, are good pivots as they are.
 * Source: Duff and Pralet, Strategies for scaling and pivoting for sparse symmetric indefinite problems, SIAM J. Matrix Anal.
 * Appl. 27 (2005) 313-340. */
#include "config.h"

#include "pairs.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

#include <string.h>

/* Numbers on the scaled diagonal from here on are good pivots. */
static const double GOOD = 0.1;

typedef struct job {
    const trs_csc *A;
    int32_t *row_of;  /* [n] the matching */
    double *diagonal; /* [n] of A, scaled, without signs */
    int32_t *cycle;   /* [n] */
    int32_t *mate;    /* [n] -1: not known yet */
} job;

bool trs_pairs_needed(const trs_csc *A)
{
    for (int64_t j = 0; j < A->n; j++) {
        int64_t p = A->p[j];
        while (p < A->p[j + 1] && A->i[p] < j) p++;
        if (p == A->p[j + 1] || A->i[p] > j || trs_csc_size(A, p) == 0) return true;
    }
    return false;
}

/* ---- cycles ------------------------------------------------------------------------------------------ */

/* Cut the cycle, or path, of m rows into pairs from place `first` on; what is left over stays alone. */
static void cut(const job *b, int32_t m, int32_t first)
{
    for (int32_t k = 0; k < m; k++) b->mate[b->cycle[k]] = b->cycle[k];
    for (int32_t k = 0; k + 1 < m; k += 2) {
        const int32_t i = b->cycle[(first + k) % m], j = b->cycle[(first + k + 1) % m];
        if (b->diagonal[i] >= GOOD && b->diagonal[j] >= GOOD) continue;
        b->mate[i] = j, b->mate[j] = i;
    }
}

/* Where the pairs of a cycle of m rows begin: behind the row that stays alone, or, if there is none, where the determinants
 * of the pairs are larger. */
static int32_t best_cut(const job *b, int32_t m)
{
    int32_t best = 0;
    double sum[2] = {0, 0};
    if (m % 2 == 0) {
        for (int32_t k = 0; k < m; k++)
            sum[k % 2] += b->diagonal[b->cycle[k]] * b->diagonal[b->cycle[(k + 1) % m]];
        return sum[1] < sum[0];
    }
    for (int32_t k = 1; k < m; k++)
        if (b->diagonal[b->cycle[k]] > b->diagonal[b->cycle[best]]) best = k;
    return (best + 1) % m;
}

/* The rows from i on, each matched with the column of the next one.  Returns how many they are. */
static int32_t follow(const job *b, int32_t i, bool *closed)
{
    int32_t m = 0, at = i;
    do {
        TRS_ASSERT(b->mate[at] < 0);
        b->cycle[m++] = at;
        b->mate[at] = at;
        at = b->row_of[at];
    } while (at >= 0 && at != i);
    *closed = at == i;
    return m;
}

/* Paths begin at rows that are no column's match. */
static void find_pairs(const job *b)
{
    const int32_t n = (int32_t)b->A->n;
    bool closed;
    for (int32_t i = 0; i < n; i++) b->mate[i] = -2;
    for (int32_t j = 0; j < n; j++)
        if (b->row_of[j] >= 0) b->mate[b->row_of[j]] = -1;
    for (int32_t i = 0; i < n; i++)
        if (b->mate[i] == -2) cut(b, follow(b, i, &closed), 0);
    for (int32_t i = 0; i < n; i++) {
        if (b->mate[i] >= 0) continue;
        const int32_t m = follow(b, i, &closed);
        TRS_ASSERT(closed);
        cut(b, m, best_cut(b, m));
    }
}

/* ---- scaling ----------------------------------------------------------------------------------------- */

/* By rows exp (u(i)), and by columns exp (v(j)) / max |a(:, j)|, all entries are at most 1.  A is Hermitian, so they are by the
 * geometric mean of both in rows and columns. */
static void find_scale(const trs_csc *A, const double *u, const double *v, double *scale)
{
    for (int64_t j = 0; j < A->n; j++) {
        double most = 0;
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) most = fmax(most, trs_csc_size(A, p));
        scale[j] = most > 0 ? exp((u[j] + v[j] - log(most)) / 2) : 1;
    }
}

static void find_diagonal(const job *b, const double *scale)
{
    const trs_csc *A = b->A;
    memset(b->diagonal, 0, (size_t)A->n * sizeof *b->diagonal);
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++)
            if (A->i[p] == j) b->diagonal[j] = trs_csc_size(A, p) * scale[j] * scale[j];
}

int trs_pairs_find(trs_lu *lu, const trs_csc *A, int32_t *mate, double *scale)
{
    const int64_t n = A->n;
    const char *const what = "pivots of two rows";
    job b = {.A = A, .mate = mate};
    double *u = trs_lu_alloc(lu, n, sizeof *u, what), *v = trs_lu_alloc(lu, n, sizeof *v, what);
    b.row_of = trs_lu_alloc(lu, n, sizeof *b.row_of, what);
    b.cycle = trs_lu_alloc(lu, n, sizeof *b.cycle, what);
    int rc = u && v && b.row_of && b.cycle ? TRS_OK : TRS_EMEM;
    if (!rc) rc = trs_matching(lu, A, b.row_of, u, v);
    if (!rc) {
        find_scale(A, u, v, scale);
        b.diagonal = u; /* which is no longer needed */
        find_diagonal(&b, scale);
        find_pairs(&b);
    }
    trs_lu_free(lu, u, v, b.row_of, b.cycle);
    return rc;
}

#endif
