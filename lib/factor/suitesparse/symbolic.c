/* symbolic.c: the order of A(P, P) for pivots on the diagonal, and the pattern of its L: what static.c and ldlt.c share.
 *
 * CHOLMOD orders A + A' by AMD or METIS, and finds its supernodes: columns of L that have the same rows below them.  It also
 * merges supernodes that are nearly alike, as far as the caller wants zeros in the pattern. */
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

static int order(trs_lu *lu, const char *ordering, cholmod_sparse *S, trs_symbolic *d)
{
    cholmod_common *c = &d->common;
    d->L = cholmod_l_analyze(S, c);
    if (!d->L) return trs_cholmod_failed(c, "ordering A");
    if (ordering && strcmp(ordering, "best")) return TRS_OK;
    return trs_cholmod_dissect(lu, S, c, &d->L);
}

/* ---- the order of pairs ------------------------------------------------------------------------------ */

/* The lower triangle of an m x m matrix with entries for those of S, each of which has up to `copies` of them: the same row
 * and column or their mates, numbered by to.  NULL: no memory. */
static cholmod_sparse *spread(cholmod_common *c, const cholmod_sparse *S, size_t m, int copies,
                              const int32_t *mate, const int32_t *to)
{
    const int64_t *ptr = S->p, *idx = S->i;
    const size_t most = (size_t)ptr[S->ncol] * (size_t)copies;
    cholmod_triplet *t = cholmod_l_allocate_triplet(m, m, most, -1, CHOLMOD_PATTERN, c);
    if (!t) return NULL;
    int64_t *row = t->i, *col = t->j;
    for (int64_t j = 0; j < (int64_t)S->ncol; j++)
        for (int64_t p = ptr[j]; p < ptr[j + 1]; p++)
            for (int k = 0; k < copies; k++) {
                const int64_t i = k & 1 ? mate[idx[p]] : idx[p], l = k & 2 ? mate[j] : j;
                if (to[i] < to[l]) continue; /* S has the mirror image */
                row[t->nnz] = to[i], col[t->nnz++] = to[l];
            }
    cholmod_sparse *all = cholmod_l_triplet_to_sparse(t, 0, c);
    cholmod_l_free_triplet(&t, c);
    return all;
}

/* node [i]: the number of row i and its mate among the m pairs and single rows; first [node]: the first of its rows. */
static size_t number_nodes(int64_t n, const int32_t *mate, int32_t *node, int32_t *first)
{
    int32_t m = 0;
    for (int32_t i = 0; i < n; i++) {
        if (mate[i] < i) node[i] = node[mate[i]];
        else first[m] = i, node[i] = m++;
    }
    return (size_t)m;
}

/* The order of the nodes, d->L, becomes that of the rows; and the pattern is that of rows whose mates have the same entries. */
static int expand_order(const int32_t *mate, const int32_t *first, const int32_t *self,
                        int64_t *given, trs_symbolic *d)
{
    cholmod_common *c = &d->common;
    const int64_t *P = d->L->Perm;
    const int used = d->L->ordering;
    int64_t k = 0;
    for (size_t q = 0; q < d->L->n; q++) {
        const int32_t i = first[P[q]];
        given[k++] = i;
        if (mate[i] != i) given[k++] = mate[i];
    }
    cholmod_sparse *S = spread(c, d->S, d->S->ncol, 4, mate, self);
    cholmod_l_free_sparse(&d->S, c);
    cholmod_l_free_factor(&d->L, c);
    d->S = S;
    if (!S) return trs_cholmod_failed(c, "ordering A");
    c->nmethods = 1;
    c->method[0].ordering = CHOLMOD_GIVEN;
    d->L = cholmod_l_analyze_p(S, given, NULL, 0, c);
    if (!d->L) return trs_cholmod_failed(c, "ordering A");
    d->L->ordering = used;
    return TRS_OK;
}

/* Order the graph whose nodes are pairs of rows and single rows.  In the elimination tree the first row of a pair is the only
 * child of the second one, so a postorder does not part them. */
static int order_pairs(trs_lu *lu, const char *ordering, const int32_t *mate, trs_symbolic *d)
{
    const int64_t n = (int64_t)d->S->ncol;
    int32_t *node = trs_lu_alloc(lu, 3 * n, sizeof *node, "an order"), *first = node + n;
    int64_t *given = trs_lu_alloc(lu, n, sizeof *given, "an order");
    int rc = node && given ? TRS_OK : TRS_EMEM;
    if (!rc) {
        const size_t m = number_nodes(n, mate, node, first);
        cholmod_sparse *S = spread(&d->common, d->S, m, 1, mate, node);
        rc = S ? order(lu, ordering, S, d) : trs_cholmod_failed(&d->common, "ordering A");
        cholmod_l_free_sparse(&S, &d->common);
    }
    if (!rc) {
        int32_t *self = first + n;
        for (int32_t i = 0; i < n; i++) self[i] = i;
        rc = expand_order(mate, first, self, given, d);
    }
    trs_lu_free(lu, node, given);
    return rc;
}

static int begin(trs_lu *lu, double zeros, trs_symbolic **symbolic)
{
    trs_symbolic *d = *symbolic = trs_lu_alloc(lu, 1, sizeof *d, "an analysis");
    if (!d) return TRS_EMEM;
    memset(d, 0, sizeof *d);
    cholmod_l_start(&d->common);
    d->common.print = 0;
    d->common.supernodal = CHOLMOD_SUPERNODAL;
    for (int k = 0; k < 3; k++) d->common.nrelax[k] = 0, d->common.zrelax[k] = 0;
    d->common.zrelax[2] = zeros;
    return TRS_OK;
}

/* A + A' */
static int join(const trs_csc *A, trs_symbolic *d)
{
    const int rc = add_transpose(A, &d->common, &d->S);
    if (!rc) d->S->stype = -1;
    return rc;
}

int trs_symbolic_new(trs_lu *lu, const trs_csc *A, const char *ordering, const int32_t *mate,
                     double zeros, trs_symbolic **symbolic)
{
    int rc = begin(lu, zeros, symbolic);
    if (rc) return rc;
    trs_symbolic *d = *symbolic;
    rc = trs_cholmod_set_ordering(&d->common, trs_cholmod_first_ordering(lu, ordering));
    if (!rc) rc = join(A, d);
    if (!rc) rc = mate ? order_pairs(lu, ordering, mate, d) : order(lu, ordering, d->S, d);
    if (!rc) d->name = trs_cholmod_ordering_used(d->L);
    return rc;
}

/* to = a copy of P */
static int copy_order(trs_lu *lu, int64_t n, const int64_t *P, int64_t **to)
{
    *to = trs_lu_alloc(lu, n, sizeof **to, "a permutation");
    if (!*to) return TRS_EMEM;
    memcpy(*to, P, (size_t)n * sizeof **to);
    return TRS_OK;
}

int trs_symbolic_given(trs_lu *lu, int64_t n, const int64_t *P, const char *name, double lnz,
                       trs_symbolic **symbolic)
{
    const int rc = begin(lu, 0, symbolic);
    if (rc) return rc;
    (*symbolic)->n = n;
    (*symbolic)->name = name;
    (*symbolic)->common.lnz = lnz;
    return copy_order(lu, n, P, &(*symbolic)->P);
}

static cholmod_sparse view_of(const trs_symbolic *d)
{
    const size_t n = (size_t)d->n;
    cholmod_sparse S = {.nrow = n, .ncol = n, .p = d->both, .i = d->row, .stype = -1};
    S.nzmax = (size_t)d->both[n];
    S.itype = CHOLMOD_LONG;
    S.dtype = CHOLMOD_DOUBLE;
    S.xtype = CHOLMOD_PATTERN;
    S.sorted = S.packed = 1;
    return S;
}

/* Supernodes in the order that was given, which is a postorder: CHOLMOD does not change it. */
static int analyse(const trs_csc *A, trs_symbolic *d)
{
    cholmod_common *c = &d->common;
    const int rc = d->both ? TRS_OK : join(A, d);
    if (rc) return rc;
    cholmod_sparse S = d->both ? view_of(d) : *d->S;
    c->nmethods = 1;
    c->method[0].ordering = CHOLMOD_GIVEN;
    c->postorder = 0;
    d->L = cholmod_l_analyze_p(&S, d->P, NULL, 0, c);
    if (!d->L) return trs_cholmod_failed(c, "ordering A");
    TRS_ASSERT(!memcmp(d->L->Perm, d->P, d->L->n * sizeof *d->P));
    return TRS_OK;
}

void trs_symbolic_free(trs_lu *lu, void *symbolic)
{
    trs_symbolic *d = symbolic;
    if (!d) return;
    cholmod_l_free_sparse(&d->S, &d->common);
    cholmod_l_free_factor(&d->L, &d->common);
    cholmod_l_finish(&d->common);
    trs_lu_free(lu, d->P, d->both, d->row, d->ptr, d->idx, d);
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

static int list(trs_lu *lu, trs_symbolic *d)
{
    const int64_t n = (int64_t)d->L->n, *first = d->L->super, *row = d->L->pi;
    int64_t nnz = 0;
    TRS_ASSERT(d->L->is_super);
    for (size_t s = 0; s < d->L->nsuper; s++) {
        const int64_t columns = first[s + 1] - first[s], rows = row[s + 1] - row[s];
        nnz += columns * rows - columns * (columns - 1) / 2;
    }
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

int trs_symbolic_find(trs_lu *lu, const trs_csc *A, trs_symbolic *d)
{
    if (d->idx) return TRS_OK;
    const int rc = d->L ? TRS_OK : analyse(A, d);
    return rc ? rc : list(lu, d);
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
    if (d->P) return copy_order(lu, d->n, d->P, P);
    return copy_order(lu, (int64_t)d->L->n, d->L->Perm, P);
}

#endif
