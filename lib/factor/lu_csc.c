/* lu_csc.c: the caller's matrix in the form that factoring libraries take: by columns, with ascending rows, base 0,
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
    trs_lu_free(lu, C->p, C->i, C->x);
    memset(C, 0, sizeof *C);
}

/* ---- transposing ---------------------------------------------------------------------------- */

/* Place entry p of m, of major index l, at number q of t. */
static void place(trs_csc *t, const trs_mat *m, int64_t l, int64_t p, int64_t q)
{
    double z[2];
    TRS_ASSERT(q >= 0 && q < t->nnz);
    trs_number_get(m->val, m->dtype, p, z);
    t->i[q] = l;
    if (!t->is_complex) t->x[q] = z[0];
    else t->x[2 * q] = z[0], t->x[2 * q + 1] = z[1];
}

/* Go through the entries of m: count those of column j of the transpose in next [j+1], or place each at next [j], which
 * moves on.  next is one place up in t->p, so that the places, moved on, are the pointers in the end. */
static void walk(const trs_mat *m, trs_csc *t, bool count)
{
    int64_t *next = t->p + 1;
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = trs_major_begin(m, l), end = trs_major_end(m, l); p < end; p++) {
            if (m->format == TRS_DENSE && trs_is_zero(m, p)) continue;
            const int64_t j = trs_minor_index(m, l, p);
            TRS_ASSERT(j >= 0 && j < t->n);
            if (count) next[j + 1]++;
            else place(t, m, l, p, next[j]++);
        }
}

/* t = m by its minor index: A by columns when m is A in CSR, else A' by columns.  The caller frees t, also after an
 * error. */
static int transpose(trs_lu *lu, const trs_mat *m, trs_csc *t)
{
    const int64_t n = m->n;
    *t = (trs_csc){.n = n, .is_complex = trs_is_complex(m->dtype)};
    t->p = trs_lu_alloc(lu, n + 2, sizeof *t->p, "column pointers of A");
    if (!t->p) return TRS_EMEM;
    memset(t->p, 0, ((size_t)n + 2) * sizeof *t->p);
    walk(m, t, true);
    for (int64_t j = 0; j < n; j++) t->p[j + 2] += t->p[j + 1];
    t->nnz = t->p[n + 1];
    t->i = trs_lu_alloc(lu, t->nnz, sizeof *t->i, "rows of A");
    t->x = trs_lu_alloc(lu, t->nnz, (t->is_complex ? 2 : 1) * sizeof *t->x, "values of A");
    if (!t->i || !t->x) return TRS_EMEM;
    walk(m, t, false);
    TRS_ASSERT(t->p[n] == t->nnz);
    return TRS_OK;
}

/* The columns of c as the rows of a matrix. */
static trs_mat rows_of(const trs_csc *c)
{
    trs_mat m = {.n = c->n, .nnz = c->nnz, .ptr = c->p, .idx = c->i, .val = c->x};
    m.ptr_bits = m.idx_bits = 64;
    m.dtype = c->is_complex ? TRS_C64 : TRS_F64;
    return m;
}

/* ---- import --------------------------------------------------------------------------------- */

static int check_entries(trs_lu *lu, const trs_csc *C)
{
    const int step = C->is_complex ? 2 : 1;
    for (int64_t j = 0; j < C->n; j++)
        for (int64_t p = C->p[j]; p < C->p[j + 1]; p++) {
            const bool twice = p > C->p[j] && C->i[p] == C->i[p - 1];
            const double *x = C->x + step * p;
            if (!twice && isfinite(x[0]) && isfinite(x[step - 1])) continue;
            return trs_fail(TRS_EMATRIX, "row %" PRId64 ", column %" PRId64 "%s",
                            C->i[p] + lu->base, j + lu->base,
                            twice ? " is stored twice" : ": the value is not finite");
        }
    return TRS_OK;
}

static int check(const trs_mat *A)
{
    if (A->device > 0) return trs_fail(TRS_ESUPPORT, "A must be in host memory");
    if (A->format == TRS_BSR)
        return trs_fail(TRS_ESUPPORT, "a complete factorisation takes no BSR");
    if (A->kind) return trs_fail(TRS_EARG, "kind must be 0, or say TRS_SELFADJOINT");
    return trs_check_mat(A);
}

int trs_lu_csc(trs_lu *lu, const trs_mat *A, trs_csc *C)
{
    memset(C, 0, sizeof *C);
    int rc = check(A);
    if (rc) return rc;
    lu->base = A->base;
    lu->dtype = A->dtype;
    rc = transpose(lu, A, C);
    if (!rc && A->format != TRS_CSR) {
        trs_csc first = *C;
        const trs_mat rows = rows_of(&first);
        TRS_ASSERT(first.n == A->n);
        rc = transpose(lu, &rows, C);
        trs_lu_csc_free(lu, &first);
    }
    if (!rc) rc = check_entries(lu, C);
    if (rc) trs_lu_csc_free(lu, C);
    return rc;
}
