/* klu_order.c: an order of rows and columns for KLU.
 *
 *     A --match--> C = A(row, :), without a gap in its diagonal --join--> S = C + C' --AMD, METIS, ...--> Q;   P = row(Q)
 *
 * KLU prefers pivots on the diagonal.  As long as they stay there, the pattern of L + U is in that of the factors of
 * S(Q, Q), whose elimination tree tells how many entries these have, what they cost, and how many levels a solve has: the
 * longest path to a root.  On a device the levels decide between two orders, and on the host the flops.
 * KLU's block triangular form is not used, since its factors would not be two triangles.
 * Sources: Davis, Palamadai Natarajan, Algorithm 907: KLU, ACM TOMS 37 (2010) 36:1-36:17; Duff, On algorithms for obtaining
 * a maximum transversal, ACM TOMS 7 (1981) 315-330. */
#include "config.h"

#include "klu_order.h"
#include "base/debug.h"

#ifdef HAVE_KLU

#include <string.h>
#include <amd.h>
#include <btf.h>
#include <colamd.h>

#ifdef HAVE_CHOLMOD
#include <cholmod.h>
#endif

/* The columns of a square matrix without values. */
typedef struct pattern {
    int64_t n;
    int64_t *p; /* [n+1] */
    int64_t *i; /* [p [n]] */
} pattern;

static int64_t *integers(trs_lu *lu, int64_t count)
{
    return trs_lu_alloc(lu, count, sizeof(int64_t), "an ordering");
}

static int pattern_new(trs_lu *lu, pattern *s, int64_t n, int64_t most)
{
    *s = (pattern){.n = n, .p = integers(lu, n + 1), .i = integers(lu, most)};
    return s->p && s->i ? TRS_OK : TRS_EMEM;
}

static void pattern_free(trs_lu *lu, pattern *s)
{
    trs_lu_free(lu, s->p, s->i);
    *s = (pattern){0};
}

/* ---- a diagonal without gaps ---------------------------------------------------------------- */

/* column [0], ... = the columns with a diagonal entry.  Returns how many there are. */
static int64_t diagonals(const trs_csc *A, int64_t *column)
{
    int64_t count = 0;
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++)
            if (A->i[p] == j) column[count++] = j;
    return count;
}

/* to = the columns of A, those with a diagonal entry first, and this entry before the others of its column.  The search for
 * a transversal tries entries in this order, and so leaves the diagonal entries where they are unless a path of others
 * needs them.  old [k] is the column of A that became column k. */
static void diagonals_first(const trs_csc *A, pattern *to, int64_t *old)
{
    int64_t q = 0, last;
    const int64_t count = diagonals(A, old);
    last = count;
    for (int64_t j = 0, k = 0; j < A->n; j++)
        if (k < count && old[k] == j) k++;
        else old[last++] = j;
    for (int64_t k = 0; k < A->n; k++) {
        const int64_t j = old[k];
        to->p[k] = q;
        if (k < count) to->i[q++] = j;
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++)
            if (A->i[p] != j) to->i[q++] = A->i[p];
    }
    to->p[A->n] = q;
}

/* Rows that no column was matched to go to the columns that are left, in any way: A is structurally singular. */
static void match_the_rest(int64_t n, int64_t *column, int64_t *taken)
{
    int64_t j = 0;
    memset(taken, 0, (size_t)n * sizeof *taken);
    for (int64_t i = 0; i < n; i++)
        if (column[i] >= 0) taken[column[i]] = 1;
    for (int64_t i = 0; i < n; i++) {
        if (column[i] >= 0) continue;
        while (taken[j]) j++;
        TRS_ASSERT(j < n);
        column[i] = j++;
    }
}

/* column [i] = the column on whose diagonal row i goes. */
static int match(trs_lu *lu, const trs_csc *A, int64_t *column)
{
    const double limit = 10; /* times the entries of A, for a search that could take n times them */
    const int64_t n = A->n;
    double work;
    pattern s = {0};
    int64_t *old = integers(lu, n), *scratch = integers(lu, 5 * n);
    int rc = pattern_new(lu, &s, n, A->nnz);
    if (!old || !scratch) rc = TRS_EMEM;
    if (!rc) {
        diagonals_first(A, &s, old);
        (void)btf_l_maxtrans(n, n, s.p, s.i, limit, &work, column, scratch);
        for (int64_t i = 0; i < n; i++)
            if (column[i] >= 0) column[i] = old[column[i]];
        match_the_rest(n, column, scratch);
    }
    pattern_free(lu, &s);
    trs_lu_free(lu, old, scratch);
    return rc;
}

/* ---- S = C + C' ----------------------------------------------------------------------------- */

/* t = c', with ascending rows. */
static void transpose(const pattern *c, pattern *t)
{
    memset(t->p, 0, ((size_t)c->n + 1) * sizeof *t->p);
    for (int64_t p = 0; p < c->p[c->n]; p++) t->p[c->i[p]]++;
    for (int64_t i = 0, sum = 0; i <= c->n; i++) t->p[i] = sum += t->p[i];
    for (int64_t j = c->n - 1; j >= 0; j--)
        for (int64_t p = c->p[j]; p < c->p[j + 1]; p++) t->i[--t->p[c->i[p]]] = j;
}

/* s = c + t without its diagonal.  Rows ascend in each column of all three. */
static void merge(const pattern *c, const pattern *t, pattern *s)
{
    int64_t q = 0;
    for (int64_t j = 0; j < c->n; j++) {
        int64_t a = c->p[j], b = t->p[j];
        s->p[j] = q;
        while (a < c->p[j + 1] || b < t->p[j + 1]) {
            const int64_t ia = a < c->p[j + 1] ? c->i[a] : c->n;
            const int64_t ib = b < t->p[j + 1] ? t->i[b] : c->n;
            const int64_t i = trs_min(ia, ib);
            a += ia == i;
            b += ib == i;
            s->i[q] = i;
            q += i != j;
        }
    }
    s->p[c->n] = q;
}

/* s = c + c' without its diagonal; rows ascend in each column of both. */
static int join(trs_lu *lu, const pattern *c, pattern *s)
{
    const int64_t nnz = c->p[c->n];
    pattern t = {0};
    int rc = pattern_new(lu, s, c->n, 2 * nnz);
    if (!rc) rc = pattern_new(lu, &t, c->n, nnz);
    if (!rc) {
        transpose(c, &t);
        merge(c, &t, s);
    }
    pattern_free(lu, &t);
    return rc;
}

/* The pattern of A, in its own arrays. */
static pattern pattern_of(const trs_csc *A)
{
    return (pattern){.n = A->n, .p = A->p, .i = A->i};
}

/* c = the pattern of C(column [i], j) = A(i, j), with ascending rows. */
static int move_rows(trs_lu *lu, const trs_csc *A, const int64_t *column, pattern *c)
{
    pattern t = {0}, moved = pattern_of(A);
    int rc = pattern_new(lu, c, A->n, A->nnz);
    if (!rc) rc = pattern_new(lu, &t, A->n, A->nnz);
    moved.i = c->i;
    for (int64_t p = 0; p < A->nnz && !rc; p++) c->i[p] = column[A->i[p]];
    if (!rc) {
        transpose(&moved, &t);
        transpose(&t, c);
    }
    pattern_free(lu, &t);
    return rc;
}

/* S has an entry for each of A, and one for each that has no mirror image. */
static double symmetry_of(const trs_csc *A, const pattern *s)
{
    int64_t off = 0;
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) off += A->i[p] != j;
    if (!off) return 1;
    return (double)(2 * off - s->p[A->n]) / (double)off;
}

/* ---- orders --------------------------------------------------------------------------------- */

static int natural(trs_lu *lu, const trs_csc *A, const pattern *s, int64_t *order)
{
    (void)lu, (void)s;
    for (int64_t k = 0; k < A->n; k++) order[k] = k;
    return TRS_OK;
}

/* s is what amd_l_order would make of A, so that the core of AMD gets a copy of it, with as much room as there. */
static int amd(trs_lu *lu, const trs_csc *A, const pattern *s, int64_t *order)
{
    const int64_t n = A->n, nnz = s->p[n], room = nnz + nnz / 5 + n;
    int64_t *all = integers(lu, 8 * n + room);
    if (!all) return TRS_EMEM;
    int64_t *begin = all, *length = all + n, *rows = all + 8 * n;
    memcpy(rows, s->i, (size_t)nnz * sizeof *rows);
    for (int64_t j = 0; j < n; j++) {
        begin[j] = s->p[j];
        length[j] = s->p[j + 1] - s->p[j];
    }
    amd_l2(n, begin, rows, length, room, nnz, all + 2 * n, all + 3 * n, order, all + 4 * n,
           all + 5 * n, all + 6 * n, all + 7 * n, NULL, NULL);
    trs_lu_free(lu, all);
    return TRS_OK;
}

/* COLAMD orders the columns of A itself: a permutation of the rows does not matter to it. */
static int colamd_order(trs_lu *lu, const trs_csc *A, const pattern *s, int64_t *order)
{
    SuiteSparse_long stats[COLAMD_STATS];
    (void)s;
    const int64_t size = (int64_t)colamd_l_recommended(A->nnz, A->n, A->n);
    int64_t *rows = integers(lu, size), *p = integers(lu, A->n + 1);
    int rc = rows && p ? TRS_OK : TRS_EMEM;
    if (!rc) {
        memcpy(rows, A->i, (size_t)A->nnz * sizeof *rows);
        memcpy(p, A->p, ((size_t)A->n + 1) * sizeof *p);
        if (!colamd_l(A->n, A->n, size, rows, p, NULL, stats))
            rc = trs_fail(TRS_ELIBRARY, "COLAMD failed");
        else memcpy(order, p, (size_t)A->n * sizeof *order);
    }
    trs_lu_free(lu, rows, p);
    return rc;
}

#ifdef HAVE_CHOLMOD

static int metis(trs_lu *lu, const trs_csc *A, const pattern *s, int64_t *order)
{
    (void)lu;
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    cholmod_sparse S = {.nzmax = (size_t)s->p[A->n], .p = s->p, .i = s->i, .stype = 1, .packed = 1};
    S.nrow = S.ncol = (size_t)A->n;
    S.itype = CHOLMOD_LONG, S.xtype = CHOLMOD_PATTERN, S.dtype = CHOLMOD_DOUBLE;
    const bool good = cholmod_l_metis(&S, NULL, 0, 1, order, &common);
    const int status = common.status;
    cholmod_l_finish(&common);
    if (good) return TRS_OK;
    if (status == CHOLMOD_OUT_OF_MEMORY) return trs_fail(TRS_EMEM, "METIS is out of memory");
    return trs_fail(TRS_ESUPPORT, "CHOLMOD has no METIS");
}

#endif

typedef struct ordering {
    const char *name;  /* in the options */
    const char *shown; /* in trs_lu_info */
    int (*make)(trs_lu *, const trs_csc *, const pattern *, int64_t *);
} ordering;

static const ordering orderings[] = {
    {"amd", "AMD", amd},
    {"colamd", "COLAMD", colamd_order},
    {"natural", "natural", natural},
#ifdef HAVE_CHOLMOD
    {"metis", "METIS", metis},
#endif
};

enum { ORDERINGS = sizeof orderings / sizeof orderings[0] };

static const ordering *ordering_named(const char *name)
{
    for (int k = 0; k < ORDERINGS; k++)
        if (!strcmp(orderings[k].name, name)) return &orderings[k];
    return NULL;
}

/* ---- what an order promises ------------------------------------------------------------------- */

typedef struct tree { /* of S(order, order); [n] unless said otherwise */
    int32_t *parent, *count, *level;
    int32_t *place;   /* the inverse of order */
    int32_t *scratch; /* [5 n] */
    int64_t *ptr;     /* [n+1] */
    int32_t *adj;
} tree;

static int tree_new(trs_lu *lu, const pattern *s, tree *t)
{
    enum { LISTS = 4, SCRATCH = 5 };
    const int64_t n = s->n;
    t->parent = trs_lu_alloc(lu, (LISTS + SCRATCH) * n, sizeof *t->parent, "an elimination tree");
    t->ptr = integers(lu, n + 1);
    t->adj = trs_lu_alloc(lu, s->p[n], sizeof *t->adj, "an elimination tree");
    if (!t->parent || !t->ptr || !t->adj) return TRS_EMEM;
    t->count = t->parent + n;
    t->level = t->count + n;
    t->place = t->level + n;
    t->scratch = t->place + n;
    return TRS_OK;
}

static void count_columns(const pattern *s, const int64_t *order, const tree *t)
{
    const int32_t n = (int32_t)s->n;
    int64_t q = 0;
    for (int32_t k = 0; k < n; k++) t->place[order[k]] = k;
    for (int32_t k = 0; k < n; k++) {
        const int64_t j = order[k];
        t->ptr[k] = q;
        for (int64_t p = s->p[j]; p < s->p[j + 1]; p++) t->adj[q++] = t->place[s->i[p]];
    }
    t->ptr[n] = q;
    trs_elimination_tree(n, t->ptr, t->adj, t->parent, t->scratch);
    trs_column_counts(n, t->ptr, t->adj, t->parent, t->count, t->scratch);
}

static void sum_up(int64_t n, const tree *t, trs_klu_order *o)
{
    o->entries = (double)n;
    o->flops = 0;
    o->levels = 0;
    for (int64_t k = 0; k < n; k++) t->level[k] = 1;
    for (int64_t k = 0; k < n; k++) {
        const double c = t->count[k];
        const int32_t up = t->parent[k], level = t->level[k];
        o->entries += 2 * c;
        o->flops += c + 2 * c * c;
        if (up >= 0 && t->level[up] <= level) t->level[up] = level + 1;
        o->levels = trs_max(o->levels, level);
    }
}

static int predict(trs_lu *lu, const pattern *s, trs_klu_order *o)
{
    tree t = {0};
    const int rc = tree_new(lu, s, &t);
    if (!rc) {
        count_columns(s, o->Q, &t);
        sum_up(s->n, &t, o);
    }
    trs_lu_free(lu, t.parent, t.ptr, t.adj);
    return rc;
}

/* ---- choosing ------------------------------------------------------------------------------- */

bool trs_klu_order_better(const trs_lu *lu, const trs_klu_order *a, const trs_klu_order *b)
{
    if (lu->opt.device > 0 && a->levels != b->levels) return a->levels < b->levels;
    return a->flops < b->flops;
}

static int order_by(trs_lu *lu, const trs_csc *A, const pattern *s, const ordering *by,
                    trs_klu_order *o)
{
    o->name = by->shown;
    o->Q = integers(lu, A->n);
    int rc = TRS_EMEM;
    if (o->Q) rc = by->make(lu, A, s, o->Q);
    if (!rc) rc = predict(lu, s, o);
    return rc;
}

/* P = row(Q), for the rows that were matched; row [k]: the row of A that became row k. */
static int order_rows(trs_lu *lu, int64_t n, const int64_t *row, trs_klu_order *o)
{
    o->P = integers(lu, n);
    for (int64_t k = 0; k < n && o->P; k++) o->P[k] = row[o->Q[k]];
    return o->P ? TRS_OK : TRS_EMEM;
}

/* *m: METIS's order of the matrix that *o orders. */
static int dissect(trs_lu *lu, const trs_csc *A, const trs_klu_order *o, trs_klu_order *m)
{
    const ordering *by = ordering_named("metis");
    if (!by) return TRS_ESUPPORT;
    const pattern s = {.n = A->n, .p = o->ptr, .i = o->row};
    int rc = trs_step("ordering", -1);
    if (!rc) rc = order_by(lu, A, &s, by, m);
    if (rc) return rc;
    int64_t *row = integers(lu, A->n);
    for (int64_t k = 0; k < A->n && row; k++) row[o->Q[k]] = o->P[k];
    rc = row ? order_rows(lu, A->n, row, m) : TRS_EMEM;
    trs_lu_free(lu, row);
    return rc;
}

int trs_klu_order_try_metis(trs_lu *lu, const trs_csc *A, trs_klu_order *o,
                            trs_klu_order_test *is_better)
{
    trs_klu_order m = *o;
    m.P = m.Q = NULL;
    const int rc = dissect(lu, A, o, &m);
    if (!rc && is_better(lu, &m, o)) {
        const trs_klu_order better = m;
        m = *o;
        *o = better;
    }
    trs_lu_free(lu, m.P, m.Q);
    if (rc == TRS_ESUPPORT) trs_forget();
    return rc == TRS_ESUPPORT ? TRS_OK : rc;
}

/* s = A + A', and what A is like.  Most of the diagonal missing, rows are matched instead.  column is scratch, then the identity. */
static int look_at(trs_lu *lu, const trs_csc *A, int64_t *column, pattern *s, trs_klu_order *o)
{
    o->diagonals = (double)diagonals(A, column) / (double)A->n;
    for (int64_t i = 0; i < A->n; i++) column[i] = i;
    if (o->diagonals < 0.5) return TRS_OK;
    const pattern a = pattern_of(A);
    const int rc = join(lu, &a, s);
    if (!rc) o->symmetry = symmetry_of(A, s);
    return rc;
}

/* s = C + C', if that is not A + A' */
static int rematch(trs_lu *lu, const trs_csc *A, int64_t *column, pattern *s)
{
    pattern c = {0};
    pattern_free(lu, s);
    int rc = match(lu, A, column);
    if (!rc) rc = move_rows(lu, A, column, &c);
    if (!rc) rc = join(lu, &c, s);
    pattern_free(lu, &c);
    return rc;
}

/* row = the inverse of column */
static int order_matched(trs_lu *lu, int64_t n, const int64_t *column, trs_klu_order *o)
{
    int64_t *row = integers(lu, n);
    for (int64_t i = 0; i < n && row; i++) {
        TRS_ASSERT(column[i] >= 0 && column[i] < n);
        row[column[i]] = i;
    }
    const int rc = row ? order_rows(lu, n, row, o) : TRS_EMEM;
    trs_lu_free(lu, row);
    return rc;
}

/* Order A by one method, unless no order can be good.  *o gets the pattern s. */
static int order_columns(trs_lu *lu, const trs_csc *A, const ordering *by, bool named,
                         int64_t *column, trs_klu_order *o)
{
    pattern s = {0};
    int rc = look_at(lu, A, column, &s, o);
    const bool go = !rc && (named || trs_klu_order_suits(o, A));
    if (go && o->diagonals < 1) rc = rematch(lu, A, column, &s);
    if (!rc && go) rc = order_by(lu, A, &s, by, o);
    if (!rc && go) rc = order_matched(lu, A->n, column, o);
    o->ptr = s.p, o->row = s.i;
    return rc;
}

int trs_klu_order_make(trs_lu *lu, const trs_csc *A, const char *name, bool named, trs_klu_order *o)
{
    const bool best = name && !strcmp(name, "best");
    const ordering *by = ordering_named(name && !best ? name : "amd");
    *o = (trs_klu_order){0};
    if (!by) return trs_fail(TRS_ESUPPORT, "KLU has no ordering \"%s\"", name);
    int64_t *column = integers(lu, A->n);
    int rc = column ? order_columns(lu, A, by, named, column, o) : TRS_EMEM;
    if (!rc && best && o->Q) rc = trs_klu_order_try_metis(lu, A, o, trs_klu_order_better);
    trs_lu_free(lu, column);
    return rc;
}

void trs_klu_order_drop_pattern(trs_lu *lu, trs_klu_order *o)
{
    trs_lu_free(lu, o->ptr, o->row);
    o->ptr = o->row = NULL;
}

void trs_klu_order_free(trs_lu *lu, trs_klu_order *o)
{
    trs_klu_order_drop_pattern(lu, o);
    trs_lu_free(lu, o->P, o->Q);
    o->P = o->Q = NULL;
}

#endif
