/* symbolic.c: the order of A(P, P) for pivots on the diagonal, and the pattern of its L: what static.c and ldlt.c share.
 *
 * CHOLMOD orders A + A' by AMD or METIS and counts the entries of the columns.  The rows of L are found one after the other:
 * row k has column j if j is on the path from an entry of row k of A to k in the elimination tree.
 * Source: Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, section 4.8. */
#include "config.h"

#include "symbolic.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

#include <string.h>

/* ---- the order --------------------------------------------------------------------------------------- */

/* *S = the pattern of A + A', all of it. */
static int add_transpose(const trs_csc *A, cholmod_common *c, cholmod_sparse **S)
{
    double one[2] = {1, 0};
    cholmod_sparse M = trs_cholmod_view(A);
    M.stype = 0;
    M.xtype = CHOLMOD_PATTERN;
    M.x = NULL;
    cholmod_sparse *T = cholmod_l_transpose(&M, 0, c);
    *S = T ? cholmod_l_add(&M, T, one, one, 0, 1, c) : NULL;
    cholmod_l_free_sparse(&T, c);
    return *S ? TRS_OK : trs_cholmod_failed(c, "adding A and its transpose");
}

static int order(trs_lu *lu, const trs_csc *A, const char *ordering, trs_symbolic *d)
{
    cholmod_common *c = &d->common;
    int rc = trs_cholmod_set_ordering(c, ordering);
    if (!rc) rc = add_transpose(A, c, &d->S);
    if (rc) return rc;
    d->S->stype = -1;
    d->L = cholmod_l_analyze(d->S, c);
    if (!d->L) return trs_cholmod_failed(c, "ordering A");
    if (ordering && strcmp(ordering, "best")) return TRS_OK;
    return trs_cholmod_dissect(lu, d->S, c, &d->L);
}

int trs_symbolic_new(trs_lu *lu, const trs_csc *A, const char *ordering, trs_symbolic **symbolic)
{
    trs_symbolic *d = *symbolic = trs_lu_alloc(lu, 1, sizeof *d, "an analysis");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    cholmod_l_start(&d->common);
    d->common.print = 0;
    return order(lu, A, ordering, d);
}

void trs_symbolic_free(trs_lu *lu, void *symbolic)
{
    trs_symbolic *d = symbolic;
    if (!d) return;
    cholmod_l_free_sparse(&d->S, &d->common);
    cholmod_l_free_factor(&d->L, &d->common);
    cholmod_l_finish(&d->common);
    trs_lu_free(lu, d->ptr, d->idx, d->place, d->parent, d);
}

/* ---- the pattern of L -------------------------------------------------------------------------------- */

/* next [n]: the free place of a column, which gets its rows in ascending order; mark [n]. */
static void list_rows(const trs_symbolic *d, int64_t *next, int32_t *mark)
{
    const int64_t *P = d->L->Perm, *Sp = d->S->p, *Si = d->S->i;
    const int32_t n = (int32_t)d->L->n, *place = d->place;
    int32_t *parent = d->parent, *idx = d->idx;
    for (int32_t k = 0; k < n; k++) {
        mark[k] = k;
        parent[k] = -1;
        idx[next[k]++] = k;
        for (int64_t p = Sp[P[k]]; p < Sp[P[k] + 1]; p++)
            for (int32_t j = place[Si[p]]; j < k && mark[j] != k; j = parent[j]) {
                mark[j] = k;
                idx[next[j]++] = k;
                if (parent[j] < 0) parent[j] = k;
            }
    }
}

static int new_pattern(trs_lu *lu, trs_symbolic *d)
{
    const int64_t n = (int64_t)d->L->n, *count = d->L->ColCount;
    d->ptr = trs_lu_alloc(lu, n + 1, sizeof *d->ptr, "the pointers of a factor");
    d->place = trs_lu_alloc(lu, n, sizeof *d->place, "the inverse of P");
    d->parent = trs_lu_alloc(lu, n, sizeof *d->parent, "the elimination tree");
    if (!d->ptr || !d->place || !d->parent) return TRS_EMEM;
    d->ptr[0] = 0;
    for (int64_t k = 0; k < n; k++) d->ptr[k + 1] = d->ptr[k] + count[k];
    d->idx = trs_lu_alloc(lu, d->ptr[n], sizeof *d->idx, "the indices of a factor");
    return d->idx ? TRS_OK : TRS_EMEM;
}

int trs_symbolic_find(trs_lu *lu, trs_symbolic *d)
{
    const int64_t n = (int64_t)d->L->n, *P = d->L->Perm;
    if (d->idx) return TRS_OK;
    int32_t *mark = trs_lu_alloc(lu, n, sizeof *mark, "marks of columns");
    int64_t *next = trs_lu_alloc(lu, n, sizeof *next, "columns of L");
    int rc = mark && next ? new_pattern(lu, d) : TRS_EMEM;
    if (!rc) {
        for (int64_t k = 0; k < n; k++) d->place[P[k]] = (int32_t)k;
        memcpy(next, d->ptr, (size_t)n * sizeof *next);
        list_rows(d, next, mark);
        TRS_ASSERT(next[n - 1] == d->ptr[n]);
    }
    trs_lu_free(lu, mark, next);
    return rc;
}

/* ---- factors ----------------------------------------------------------------------------------------- */

int trs_symbolic_triangle(trs_lu *lu, const trs_symbolic *d, bool is_complex, trs_mat *m)
{
    const int64_t n = (int64_t)d->L->n;
    *m = (trs_mat){.n = n, .nnz = d->ptr[n], .ptr_bits = 64, .idx_bits = 32};
    m->dtype = is_complex ? TRS_C64 : TRS_F64;
    m->ptr = trs_lu_alloc(lu, n + 1, sizeof *d->ptr, "the pointers of a factor");
    m->idx = trs_lu_alloc(lu, m->nnz, sizeof *d->idx, "the indices of a factor");
    m->val = trs_lu_alloc(lu, m->nnz, is_complex ? 16 : 8, "the values of a factor");
    if (!m->ptr || !m->idx || !m->val) return TRS_EMEM;
    memcpy((void *)m->ptr, d->ptr, ((size_t)n + 1) * sizeof *d->ptr);
    memcpy((void *)m->idx, d->idx, (size_t)m->nnz * sizeof *d->idx);
    return TRS_OK;
}

int trs_symbolic_order(trs_lu *lu, const trs_symbolic *d, int64_t **P)
{
    const size_t n = d->L->n;
    *P = trs_lu_alloc(lu, (int64_t)n, sizeof **P, "a permutation");
    if (!*P) return TRS_EMEM;
    memcpy(*P, d->L->Perm, n * sizeof **P);
    return TRS_OK;
}

#endif
