/* lu_csc.c: the caller's matrix in the form that factoring libraries take: by columns, with ascending rows, base 0,
 * 64-bit indices, in double precision.
 *
 * A transposition sorts the rows of each column in O(n + nnz).  CSR needs one, CSC two unless its rows ascend already.
 * Zeros of a DENSE matrix are no entries; zeros that a sparse one stores are. */
#include "config.h"

#include "lu.h"
#include "base/debug.h"
#include "core/plan.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void trs_lu_csc_free(trs_lu *lu, trs_csc *C)
{
    trs_lu_free(lu, C->p, C->i, C->x);
    memset(C, 0, sizeof *C);
}

/* ---- copying -------------------------------------------------------------------------------- */

static int csc_new(trs_lu *lu, trs_csc *t, int64_t n, int64_t nnz, bool is_complex)
{
    *t = (trs_csc){.n = n, .nnz = nnz, .is_complex = is_complex};
    t->p = trs_lu_alloc(lu, n + 2, sizeof *t->p, "column pointers of A");
    t->i = trs_lu_alloc(lu, nnz, sizeof *t->i, "rows of A");
    t->x = trs_lu_alloc(lu, nnz, (is_complex ? 2 : 1) * sizeof *t->x, "values of A");
    return t->p && t->i && t->x ? TRS_OK : TRS_EMEM;
}

/* How many entries m has. */
static int64_t count_entries(const trs_mat *m)
{
    int64_t count = 0;
    if (m->format != TRS_DENSE) return m->n > 0 ? trs_major_end(m, m->n - 1) : 0;
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = trs_major_begin(m, l); p < trs_major_end(m, l); p++)
            count += !trs_is_zero(m, p);
    return count;
}

static void put_value(trs_csc *t, const trs_mat *m, int64_t p, int64_t q)
{
    double z[2];
    if (m->dtype == TRS_F64) {
        t->x[q] = ((const double *)m->val)[p];
        return;
    }
    trs_number_get(m->val, m->dtype, p, z);
    if (!t->is_complex) t->x[q] = z[0];
    else t->x[2 * q] = z[0], t->x[2 * q + 1] = z[1];
}

static void copy_dense(const trs_mat *m, trs_csc *t)
{
    int64_t q = 0;
    for (int64_t l = 0; l < m->n; l++) {
        t->p[l] = q;
        for (int64_t p = trs_major_begin(m, l), end = trs_major_end(m, l); p < end; p++) {
            if (trs_is_zero(m, p)) continue;
            t->i[q] = trs_minor_index(m, l, p);
            put_value(t, m, p, q++);
        }
    }
    t->p[m->n] = q;
}

/* to = from - base, from of 32 or 64 bits. */
static void widen(int64_t *to, const void *from, int bits, int64_t count, int base)
{
    if (bits == 64)
        for (int64_t p = 0; p < count; p++) to[p] = ((const int64_t *)from)[p] - base;
    else
        for (int64_t p = 0; p < count; p++) to[p] = ((const int32_t *)from)[p] - base;
}

static void copy_sparse(const trs_mat *m, trs_csc *t)
{
    widen(t->p, m->ptr, m->ptr_bits ? m->ptr_bits : 64, m->n + 1, m->base);
    widen(t->i, m->idx, m->idx_bits ? m->idx_bits : 32, t->nnz, m->base);
    TRS_ASSERT(t->p[0] == 0 && t->p[m->n] == t->nnz);
    if (trs_is_single(m->dtype))
        for (int64_t p = 0; p < t->nnz; p++) put_value(t, m, p, p);
    else if (t->nnz > 0) memcpy(t->x, m->val, (size_t)t->nnz * trs_size(m->dtype));
}

/* t = m with its rows, if m is in CSR, else its columns, as columns.  The caller frees t, also after an error. */
static int copy(trs_lu *lu, const trs_mat *m, trs_csc *t)
{
    const int rc = csc_new(lu, t, m->n, count_entries(m), trs_is_complex(m->dtype));
    if (rc) return rc;
    if (m->format == TRS_DENSE) copy_dense(m, t);
    else copy_sparse(m, t);
    return TRS_OK;
}

/* Do the rows of each column ascend, each once? */
static bool ascends(const trs_csc *c)
{
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t p = c->p[j] + 1; p < c->p[j + 1]; p++)
            if (c->i[p] <= c->i[p - 1]) return false;
    return true;
}

static bool is_finite(const trs_csc *c)
{
    const int64_t count = c->nnz * (c->is_complex ? 2 : 1);
    bool finite = true;
    for (int64_t p = 0; p < count; p++) finite &= fabs(c->x[p]) <= DBL_MAX;
    return finite;
}

/* t = the transpose of c: its rows ascend.  next [j], the place of the next entry of column j, is one place up in t->p, so
 * that the places, moved on, are the pointers in the end. */
static void fill_transpose(const trs_csc *c, trs_csc *t)
{
    int64_t *next = t->p + 1;
    memset(t->p, 0, ((size_t)c->n + 2) * sizeof *t->p);
    for (int64_t p = 0; p < c->nnz; p++) next[c->i[p] + 1]++;
    for (int64_t j = 0; j < c->n; j++) next[j + 1] += next[j];
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t p = c->p[j]; p < c->p[j + 1]; p++) {
            const int64_t q = next[c->i[p]]++;
            t->i[q] = j;
            if (!c->is_complex) t->x[q] = c->x[p];
            else t->x[2 * q] = c->x[2 * p], t->x[2 * q + 1] = c->x[2 * p + 1];
        }
}

static int transpose(trs_lu *lu, trs_csc *c)
{
    trs_csc t;
    const int rc = csc_new(lu, &t, c->n, c->nnz, c->is_complex);
    if (!rc) fill_transpose(c, &t);
    trs_lu_csc_free(lu, c);
    *c = t;
    return rc;
}

/* ---- import --------------------------------------------------------------------------------- */

/* The sentence about the first bad entry; TRS_OK: there is none. */
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
    rc = copy(lu, A, C);
    const int turns = A->format == TRS_CSR ? 1 : 2;
    const bool by_lines = A->format == TRS_CSR || A->format == TRS_CSC;
    bool good = !rc && turns == 2 && ascends(C);
    for (int k = 0; k < turns && !rc && !good; k++) rc = transpose(lu, C);
    good = good || (!rc && ascends(C));
    if (!rc && !(good && is_finite(C))) rc = check_entries(lu, C);
    if (rc) trs_lu_csc_free(lu, C);
    C->by_lines = by_lines;
    return rc;
}
