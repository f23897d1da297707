/* complete_factors.c: L and U of a library get back the entries that it left out because they happened to be zero.
 *
 * UMFPACK and KLU keep what is not zero with the values that they factored.  In a finite element matrix many sums cancel
 * exactly, and cancel no longer when its values change; then the factors need all of the fill of A(P, Q). */
#include "config.h"

#include "complete_fill.h"
#include "lu_device.h"
#include "base/debug.h"
#include "factor/lu_mat.h"

#include <string.h>

/* ---- the pattern --------------------------------------------------------------------------------------- */

/* A triangle of the fill by columns: ptr [n+1] counts at first. */
static int new_triangle(trs_lu *lu, const trs_mat *old, const int64_t *count, trs_mat *m)
{
    int64_t *ptr = trs_lu_alloc(lu, old->n + 1, sizeof *ptr, "pointers of the factors");
    *m = (trs_mat){.n = old->n, .dtype = old->dtype, .format = TRS_CSC, .kind = old->kind};
    m->ptr = ptr;
    if (!ptr) return TRS_EMEM;
    ptr[0] = 0;
    for (int64_t j = 0; j < m->n; j++) ptr[j + 1] = ptr[j] + count[j];
    m->nnz = ptr[m->n];
    m->idx = trs_lu_alloc(lu, m->nnz, sizeof(int32_t), "the pattern of the factors");
    m->val = trs_lu_alloc(lu, m->nnz, trs_size(m->dtype), "the values of the factors");
    if (!m->idx || !m->val) return TRS_EMEM;
    memset((void *)m->val, 0, (size_t)m->nnz * trs_size(m->dtype));
    return TRS_OK;
}

/* Does entry (i, j) belong to L, or else to U?  The diagonal belongs to both. */
static bool belongs(bool lower, int64_t i, int64_t j)
{
    return lower ? i >= j : i <= j;
}

/* next [j]: the entries of column j in this triangle. */
static void count_columns(const trs_complete_fill *f, bool lower, int64_t *next)
{
    memset(next, 0, (size_t)f->n * sizeof *next);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = f->ptr[i]; p < f->ptr[i + 1]; p++)
            next[f->idx[p]] += belongs(lower, i, f->idx[p]);
}

/* The rows of each column ascend, since the rows of the fill are taken one after the other. */
static void list_rows(const trs_complete_fill *f, bool lower, const trs_mat *m, int64_t *next)
{
    int32_t *idx = (int32_t *)m->idx;
    memcpy(next, m->ptr, (size_t)m->n * sizeof *next);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = f->ptr[i]; p < f->ptr[i + 1]; p++)
            if (belongs(lower, i, f->idx[p])) idx[next[f->idx[p]]++] = (int32_t)i;
    TRS_ASSERT(f->n == 0 || next[f->n - 1] == m->nnz);
}

/* ---- the values ----------------------------------------------------------------------------------------- */

/* The place of entry (i, j) of m, which is by columns; -1: it has none. */
static int64_t find_entry(const trs_mat *m, int64_t i, int64_t j)
{
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    const int64_t p = trs_first_from(idx, ptr[j], ptr[j + 1], i);
    return p < ptr[j + 1] && idx[p] == i ? p : -1;
}

/* The values of `from` at their places in `to`.  TRS_EMATRIX: one has none there. */
static int copy_values(const trs_mat *from, const trs_mat *to)
{
    const size_t size = trs_size(from->dtype);
    const bool rows = trs_by_rows(from);
    for (int64_t l = 0; l < from->n; l++)
        for (int64_t p = trs_major_begin(from, l); p < trs_major_end(from, l); p++) {
            const int64_t k = trs_minor_index(from, l, p);
            const int64_t q = rows ? find_entry(to, l, k) : find_entry(to, k, l);
            if (q < 0) return trs_fail(TRS_EMATRIX, "the factors are not those of the matrix");
            memcpy((char *)to->val + (size_t)q * size, (const char *)from->val + (size_t)p * size,
                   size);
        }
    return TRS_OK;
}

/* *old, a triangle with its diagonal, becomes that triangle of the fill. */
static int complete(trs_lu *lu, const trs_complete_fill *f, bool lower, trs_mat *old)
{
    int64_t *next = trs_lu_alloc(lu, f->n, sizeof *next, "columns of the factors");
    trs_mat m = {0};
    if (next) count_columns(f, lower, next);
    int rc = TRS_EMEM;
    if (next) rc = new_triangle(lu, old, next, &m);
    if (!rc) {
        list_rows(f, lower, &m, next);
        rc = copy_values(old, &m);
    }
    trs_lu_free(lu, next);
    trs_lu_mat_free(lu, rc ? &m : old);
    if (!rc) *old = m;
    return rc;
}

int trs_lu_complete_factors(trs_lu *lu, const trs_mat *A, int64_t limit)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1};
    trs_mat *L = &lu->f.L, *U = &lu->f.U;
    trs_complete_fill fill;
    int rc = trs_complete_fill_find(&ctx, A, lu->f.P, lu->f.Q, limit, &fill);
    if (rc) return rc;
    const bool lacking = L->nnz + U->nnz - L->n < fill.nnz;
    if (lacking) rc = complete(lu, &fill, true, L);
    if (lacking && !rc) rc = complete(lu, &fill, false, U);
    trs_complete_fill_free(&ctx, &fill);
    return rc;
}
