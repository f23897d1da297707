/* symbolic.c: the order of A(P, P) for pivots on the diagonal, and the pattern of its L: what static.c and ldlt.c share.
 *
 * CHOLMOD orders A + A' by AMD or METIS, and finds its supernodes: columns of L that have the same rows below them.  It would
 * also merge supernodes that are nearly alike, and is told not to, so that the pattern has no entry too many. */
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
    d->common.supernodal = CHOLMOD_SUPERNODAL;
    for (int k = 0; k < 3; k++) d->common.nrelax[k] = 0, d->common.zrelax[k] = 0;
    return order(lu, A, ordering, d);
}

void trs_symbolic_free(trs_lu *lu, void *symbolic)
{
    trs_symbolic *d = symbolic;
    if (!d) return;
    cholmod_l_free_sparse(&d->S, &d->common);
    cholmod_l_free_factor(&d->L, &d->common);
    cholmod_l_finish(&d->common);
    trs_lu_free(lu, d->ptr, d->idx, d);
}

/* ---- the pattern of L -------------------------------------------------------------------------------- */

/* Column c of a supernode has its rows from row c on. */
static void expand(trs_symbolic *d)
{
    const cholmod_factor *L = d->L;
    const int64_t *first = L->super, *rows = L->pi, *row = L->s;
    int64_t q = 0;
    for (size_t s = 0; s < L->nsuper; s++)
        for (int64_t k = first[s]; k < first[s + 1]; k++) {
            d->ptr[k] = q;
            for (int64_t p = rows[s] + k - first[s]; p < rows[s + 1]; p++)
                d->idx[q++] = (int32_t)row[p];
        }
    d->ptr[L->n] = q;
}

int trs_symbolic_find(trs_lu *lu, trs_symbolic *d)
{
    const int64_t n = (int64_t)d->L->n, *count = d->L->ColCount;
    int64_t nnz = 0;
    if (d->idx) return TRS_OK;
    TRS_ASSERT(d->L->is_super);
    for (int64_t k = 0; k < n; k++) nnz += count[k];
    int64_t *ptr = trs_lu_alloc(lu, n + 1, sizeof *ptr, "the pointers of a factor");
    int32_t *idx = trs_lu_alloc(lu, nnz, sizeof *idx, "the indices of a factor");
    if (!ptr || !idx) {
        trs_lu_free(lu, ptr, idx);
        return TRS_EMEM;
    }
    d->ptr = ptr, d->idx = idx;
    expand(d);
    TRS_ASSERT(d->ptr[n] == nnz);
    return TRS_OK;
}

/* ---- factors ----------------------------------------------------------------------------------------- */

int trs_symbolic_triangle(trs_lu *lu, const trs_symbolic *d, bool is_complex, trs_mat *m)
{
    const int64_t n = (int64_t)d->L->n;
    *m = (trs_mat){.n = n, .nnz = d->ptr[n], .ptr_bits = 64, .idx_bits = 32};
    m->dtype = is_complex ? TRS_C64 : TRS_F64;
    m->ptr = trs_lu_alloc(lu, n + 1, sizeof *d->ptr, "the pointers of a factor");
    m->idx = trs_lu_alloc(lu, m->nnz, sizeof *d->idx, "the indices of a factor");
    if (!m->ptr || !m->idx) return TRS_EMEM;
    memcpy((void *)m->ptr, d->ptr, ((size_t)n + 1) * sizeof *d->ptr);
    memcpy((void *)m->idx, d->idx, (size_t)m->nnz * sizeof *d->idx);
    return TRS_OK;
}

void trs_symbolic_give(trs_symbolic *d, bool is_complex, trs_mat *m)
{
    const int64_t n = (int64_t)d->L->n;
    *m = (trs_mat){.n = n, .nnz = d->ptr[n], .ptr = d->ptr, .idx = d->idx};
    m->ptr_bits = 64, m->idx_bits = 32;
    m->dtype = is_complex ? TRS_C64 : TRS_F64;
    d->ptr = NULL, d->idx = NULL;
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
