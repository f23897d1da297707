/* lu_import.c: the caller's matrix in the form that factoring libraries take: by columns, with ascending rows, base 0,
 * 64-bit indices, in double precision.
 *
 * A transposition sorts the rows of each column in O(n + nnz): CSR needs one, CSC and DENSE need two.  Zeros of a DENSE
 * matrix are no entries; zeros that a sparse one stores are. */
#include "config.h"

#include "lu.h"
#include "base/debug.h"
#include "core/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void trs_lu_csc_free(trs_lu *lu, trs_csc *C)
{
    trs_lu_free(lu, C->p);
    trs_lu_free(lu, C->i);
    trs_lu_free(lu, C->x);
    memset(C, 0, sizeof *C);
}

static int csc_new(trs_lu *lu, trs_csc *C)
{
    C->p = trs_lu_alloc(lu, C->n + 1, sizeof *C->p, "column pointers of A");
    C->i = trs_lu_alloc(lu, C->nnz, sizeof *C->i, "rows of A");
    C->x = trs_lu_alloc(lu, C->nnz, (C->is_complex ? 2 : 1) * sizeof *C->x, "values of A");
    if (C->p && C->i && C->x) return TRS_OK;
    trs_lu_csc_free(lu, C);
    return TRS_EMEM;
}

static bool is_entry(const trs_mat *m, int64_t p)
{
    double z[2];
    if (m->format != TRS_DENSE) return true;
    trs_number_get(m->val, m->dtype, p, z);
    return z[0] != 0 || z[1] != 0;
}

/* ---- transposing ---------------------------------------------------------------------------- */

/* p [j+1] is the number of entries in column j; afterwards column j begins at p [j]. */
static void sum_counts(trs_csc *t)
{
    for (int64_t j = 0; j < t->n; j++) t->p[j + 1] += t->p[j];
}

/* Placing the entries has moved p [j] to the end of column j, which is where column j+1 begins: set the pointers back. */
static void reset_pointers(trs_csc *t)
{
    memmove(t->p + 1, t->p, (size_t)t->n * sizeof *t->p);
    t->p[0] = 0;
}

/* Place entry (i, j) at p [j], which moves on. */
static void put(trs_csc *t, int64_t j, int64_t i, const double *z)
{
    const int64_t q = t->p[j]++;
    TRS_ASSERT(q < t->nnz);
    t->i[q] = i;
    if (!t->is_complex) t->x[q] = z[0];
    else t->x[2 * q] = z[0], t->x[2 * q + 1] = z[1];
}

/* What a walk over the caller's entries may do with entry p, of major index l: count it in its column of the transpose, place
 * it there, or only count it. */
static void count_in_column(trs_csc *t, const trs_mat *m, int64_t l, int64_t p)
{
    t->p[trs_minor_index(m, l, p) + 1]++;
}

static void place(trs_csc *t, const trs_mat *m, int64_t l, int64_t p)
{
    double z[2];
    trs_number_get(m->val, m->dtype, p, z);
    put(t, trs_minor_index(m, l, p), l, z);
}

static void count(trs_csc *t, const trs_mat *m, int64_t l, int64_t p)
{
    (void)m, (void)l, (void)p;
    t->nnz++;
}

static void walk(const trs_mat *m, trs_csc *t,
                 void (*visit)(trs_csc *, const trs_mat *, int64_t, int64_t))
{
    for (int64_t l = 0; l < m->n; l++) {
        const int64_t end = trs_major_end(m, l);
        for (int64_t p = trs_major_begin(m, l); p < end; p++)
            if (is_entry(m, p)) visit(t, m, l, p);
    }
}

/* t = the caller's matrix by its minor index: A by columns when that is CSR, else A' by columns. */
static int read_transposed(trs_lu *lu, const trs_mat *m, trs_csc *t)
{
    t->nnz = 0;
    walk(m, t, count);
    int rc = csc_new(lu, t);
    if (rc) return rc;
    memset(t->p, 0, ((size_t)t->n + 1) * sizeof *t->p);
    walk(m, t, count_in_column);
    sum_counts(t);
    TRS_ASSERT(t->p[t->n] == t->nnz);
    walk(m, t, place);
    reset_pointers(t);
    TRS_ASSERT(t->p[t->n] == t->nnz);
    return TRS_OK;
}

static int transpose(trs_lu *lu, const trs_csc *a, trs_csc *t)
{
    const int step = a->is_complex ? 2 : 1;
    *t = (trs_csc){.n = a->n, .nnz = a->nnz, .is_complex = a->is_complex};
    int rc = csc_new(lu, t);
    if (rc) return rc;
    memset(t->p, 0, ((size_t)t->n + 1) * sizeof *t->p);
    for (int64_t p = 0; p < a->nnz; p++) t->p[a->i[p] + 1]++;
    sum_counts(t);
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t p = a->p[j]; p < a->p[j + 1]; p++) put(t, a->i[p], j, a->x + step * p);
    reset_pointers(t);
    return TRS_OK;
}

/* ---- import --------------------------------------------------------------------------------- */

static bool is_finite(const trs_csc *C, int64_t p)
{
    if (!C->is_complex) return isfinite(C->x[p]);
    return isfinite(C->x[2 * p]) && isfinite(C->x[2 * p + 1]);
}

static int check_entries(trs_lu *lu, const trs_csc *C)
{
    for (int64_t j = 0; j < C->n; j++)
        for (int64_t p = C->p[j]; p < C->p[j + 1]; p++) {
            const int64_t row = C->i[p] + lu->base, col = j + lu->base;
            if (p > C->p[j] && C->i[p] == C->i[p - 1])
                return trs_fail(TRS_EMATRIX, "row %" PRId64 ", column %" PRId64 " is stored twice",
                                row, col);
            if (!is_finite(C, p))
                return trs_fail(TRS_EMATRIX,
                                "row %" PRId64 ", column %" PRId64 ": the value is not finite", row,
                                col);
        }
    return TRS_OK;
}

static int check(const trs_mat *A)
{
    if (A->device > 0) return trs_fail(TRS_ESUPPORT, "A must be in host memory");
    if (A->format == TRS_BSR)
        return trs_fail(TRS_ESUPPORT, "a complete factorisation takes no BSR");
    if (A->kind) return trs_fail(TRS_EARG, "kind must be 0: A is a general matrix");
    return trs_check_mat(A);
}

int trs_lu_import(trs_lu *lu, const trs_mat *A, trs_csc *C)
{
    memset(C, 0, sizeof *C);
    int rc = check(A);
    if (rc) return rc;
    lu->base = A->base;
    lu->dtype = A->dtype;
    C->n = A->n;
    C->is_complex = trs_is_complex(A->dtype);
    rc = read_transposed(lu, A, C);
    if (!rc && A->format != TRS_CSR) {
        trs_csc rows = *C;
        rc = transpose(lu, &rows, C);
        trs_lu_csc_free(lu, &rows);
    }
    if (!rc) rc = check_entries(lu, C);
    if (rc) trs_lu_csc_free(lu, C);
    return rc;
}
