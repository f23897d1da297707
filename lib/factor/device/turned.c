/* turned.c: see turned.h. */
#include "config.h"

#include "turned.h"
#include "base/debug.h"
#include "matrix/matrix.h"

#include <math.h>
#include <string.h>

/* ---- the rotations ------------------------------------------------------------------------------- */

static bool is_block(const double *s)
{
    return s[2] != 0 || s[3] != 0;
}

/* How many times larger the scale of the second row is than that of the first, so that |b| is not less than |a| and |c|. */
static double ratio_of(double a, double b, double c)
{
    const double least = fabs(a / b), most = fabs(b / c); /* most: maybe infinite */
    if (least > most) return sqrt(fabs(a / c));
    if (least > 1) return least;
    return most < 1 ? most : 1;
}

/* The block w of W for the block s of S^-1.  Scales are powers of two. */
static void turn(const double *s, double *w)
{
    const double det = s[0] * s[1] - s[2] * s[2];
    double a = s[1] / det, b = -s[2] / det, c = s[0] / det;
    const int e = (int)rint(log2(ratio_of(a, b, c)) / 2);
    const double p = ldexp(1, -e), q = ldexp(1, e);
    a *= p * p, c *= q * q;
    const double angle = 0.5 * atan2(2 * b, a - c);
    w[0] = cos(angle) * p, w[1] = sin(angle) * q;
    w[2] = -sin(angle) * p, w[3] = cos(angle) * q;
}

static int find_turns(trs_lu *lu, trs_turned *t)
{
    const trs_factors *f = &lu->f;
    const int64_t n = f->L.n;
    for (int64_t k = 0; k < n; k++) t->count += is_block(f->block + 4 * k);
    t->first = trs_lu_alloc(lu, t->count, sizeof *t->first, "pivots of two rows");
    t->w = trs_lu_alloc(lu, 4 * (int64_t)t->count, sizeof *t->w, "pivots of two rows");
    if (!t->first || !t->w) return TRS_EMEM;
    int32_t q = 0;
    for (int64_t k = 0; k < n; k++) {
        if (!is_block(f->block + 4 * k)) continue;
        turn(f->block + 4 * k, t->w + 4 * q);
        t->first[q++] = (int32_t)k;
    }
    return TRS_OK;
}

/* ---- G ---------------------------------------------------------------------------------------------- */

/* By row i of A: row i of W A is own [i] times row i of A, plus cross [i] times row other [i]; other [i] = i: there is none. */
typedef struct mixing {
    const trs_mat *A;
    int32_t *other;
    double *own, *cross;
    /* [n] 1 + the entry of G that this row has in each column; 0: none so far */
    int64_t *place;
} mixing;

static void mix(const trs_lu *lu, const trs_turned *t, mixing *m)
{
    const int64_t *P = lu->f.P;
    for (int32_t i = 0; i < m->A->n; i++) m->other[i] = i, m->own[i] = 1, m->cross[i] = 0;
    for (int32_t q = 0; q < t->count; q++) {
        const int64_t i = P[t->first[q]], j = P[t->first[q] + 1];
        const double *w = t->w + 4 * q;
        m->other[i] = (int32_t)j, m->other[j] = (int32_t)i;
        m->own[i] = w[0], m->cross[i] = w[1];
        m->cross[j] = w[2], m->own[j] = w[3];
    }
}

/* Add `by` times number p of A to column j of the row that begins at `begin` and ends at *end; t->from is NULL: only find out
 * which entries there are. */
static void add_term(const mixing *m, trs_turned *t, int64_t *end, int64_t j, int64_t p, double by)
{
    if (m->place[j] == 0) {
        m->place[j] = ++*end;
        if (t->from) {
            ((int32_t *)t->G.idx)[*end - 1] = (int32_t)j;
            for (int q = 0; q < TRS_TURNED_TERMS; q++)
                t->from[TRS_TURNED_TERMS * (*end - 1) + q] = -1;
        }
    }
    if (!t->from) return;
    int64_t at = TRS_TURNED_TERMS * (m->place[j] - 1), most = at + TRS_TURNED_TERMS;
    while (at < most && t->from[at] >= 0) at++;
    TRS_ASSERT(at < most);
    t->from[at] = p;
    t->by[at] = by;
}

/* What row `row` of A, `by` times, adds to a row of G.  A is symmetric, so columns may serve as rows.  Returns where the entries of
 * G end. */
static int64_t add_row(const mixing *m, trs_turned *t, int64_t row, double by, int64_t end)
{
    const trs_mat *A = m->A;
    for (int64_t p = trs_major_begin(A, row); p < trs_major_end(A, row); p++) {
        const int64_t j = trs_minor_index(A, row, p), k = m->other[j];
        add_term(m, t, &end, j, p, by * m->own[j]);
        if (k != j) add_term(m, t, &end, k, p, by * m->cross[k]);
    }
    return end;
}

/* No column of this row has an entry any more. */
static void forget_row(const mixing *m, int64_t row)
{
    const trs_mat *A = m->A;
    for (int64_t p = trs_major_begin(A, row); p < trs_major_end(A, row); p++) {
        const int64_t j = trs_minor_index(A, row, p);
        m->place[j] = m->place[m->other[j]] = 0;
    }
}

/* Returns the number of entries of G. */
static int64_t walk(const mixing *m, trs_turned *t)
{
    int64_t end = 0;
    for (int64_t i = 0; i < m->A->n; i++) {
        const int64_t j = m->other[i];
        if (t->from) ((int64_t *)t->G.ptr)[i] = end;
        end = add_row(m, t, i, m->own[i], end);
        if (j != i) end = add_row(m, t, j, m->cross[i], end);
        forget_row(m, i);
        forget_row(m, j);
    }
    if (t->from) ((int64_t *)t->G.ptr)[m->A->n] = end;
    return end;
}

static int list_terms(trs_lu *lu, const mixing *m, trs_turned *t)
{
    const char *const what = "the terms of turned rows";
    trs_mat *G = &t->G;
    *G = (trs_mat){.n = m->A->n, .nnz = walk(m, t), .dtype = lu->f.L.dtype, .format = TRS_CSR};
    G->ptr_bits = 64, G->idx_bits = 32;
    G->ptr = trs_lu_alloc(lu, G->n + 1, sizeof(int64_t), what);
    G->idx = trs_lu_alloc(lu, G->nnz, sizeof(int32_t), what);
    t->by = trs_lu_alloc(lu, TRS_TURNED_TERMS * G->nnz, sizeof *t->by, what);
    t->from = trs_lu_alloc(lu, TRS_TURNED_TERMS * G->nnz, sizeof *t->from, what);
    if (!G->ptr || !G->idx || !t->by || !t->from) return TRS_EMEM;
    walk(m, t);
    return TRS_OK;
}

int trs_turned_make(trs_lu *lu, const trs_mat *A, trs_turned *t)
{
    const int64_t n = A->n;
    const char *const what = "turned rows";
    *t = (trs_turned){0};
    TRS_ASSERT(lu->f.block && !trs_is_complex(lu->f.L.dtype));
    mixing m = {.A = A};
    m.other = trs_lu_alloc(lu, n, sizeof *m.other, what);
    m.own = trs_lu_alloc(lu, n, sizeof *m.own, what);
    m.cross = trs_lu_alloc(lu, n, sizeof *m.cross, what);
    m.place = trs_lu_alloc(lu, n, sizeof *m.place, what);
    int rc = m.other && m.own && m.cross && m.place ? find_turns(lu, t) : TRS_EMEM;
    if (!rc) {
        memset(m.place, 0, (size_t)n * sizeof *m.place);
        mix(lu, t, &m);
        rc = list_terms(lu, &m, t);
    }
    trs_lu_free(lu, m.other, m.own, m.cross, m.place);
    return rc;
}

void trs_turned_free(trs_lu *lu, trs_turned *t)
{
    trs_lu_free(lu, t->first, t->w, (void *)t->G.ptr, (void *)t->G.idx, t->from, t->by);
    *t = (trs_turned){0};
}

/* ---- the factors of A ------------------------------------------------------------------------------- */

/* [x y] = [x y] [t0 t1; t2 t3] */
static void multiply(double *x, double *y, const double *t)
{
    const double u = *x, v = *y;
    *x = u * t[0] + v * t[2];
    *y = u * t[1] + v * t[3];
}

/* The pair k, k + 1 has in G the block [f 0; g h] of F, with the signs of S.  Its block D of A(P, P) is t S t, whose S^-1 goes to
 * lu->f.block, and F' = W^-1 F T has t I there: T = t [f 0; g h]^-1 W.  Returns t. */
static double block_of_pair(trs_lu *lu, int32_t k, double f, double g, double h, const double *w,
                            double *T)
{
    const int8_t *sign = lu->f.sign + k;
    const double t = sqrt(fabs(f * h)), by = t / (f * h);
    /* [w3 -w1; -w2 w0] [f 0; g h], whose columns have these signs in D */
    const double x = w[3] * f - w[1] * g, y = -w[1] * h, z = w[0] * g - w[2] * f, v = w[0] * h;
    const double d00 = sign[0] * x * x + sign[1] * y * y, d01 = sign[0] * x * z + sign[1] * y * v;
    const double d11 = sign[0] * z * z + sign[1] * v * v, det = sign[0] * sign[1];
    double *s = lu->f.block + 4 * (int64_t)k;
    s[0] = det * d11 / (t * t), s[1] = det * d00 / (t * t), s[2] = -det * d01 / (t * t), s[3] = 0;
    T[0] = by * h * w[0], T[1] = by * h * w[1];
    T[2] = by * (f * w[2] - g * w[0]), T[3] = by * (f * w[3] - g * w[1]);
    return t;
}

/* Rows k and k + 1 left of the diagonal: W^-1 times both. */
static void turn_rows(const trs_mat *L, int32_t k, const double *w)
{
    const int64_t *ptr = L->ptr;
    double *val = (double *)L->val;
    const double back[4] = {w[3], -w[2], -w[1], w[0]};
    const int64_t begin = ptr[k], next = ptr[k + 1], count = next - begin - 1;
    for (int64_t e = 0; e < count; e++) {
        TRS_ASSERT(((const int32_t *)L->idx)[begin + e] == ((const int32_t *)L->idx)[next + e]);
        multiply(val + begin + e, val + next + e, back);
    }
}

/* Which pair begins at pivot k?  -1: none. */
static int64_t pair_at(int32_t count, const int32_t *first, int32_t k)
{
    const int64_t q = trs_first_from(first, 0, count, k);
    return q < count && first[q] == k ? q : -1;
}

void trs_turned_back(trs_lu *lu, int32_t count, const int32_t *first, double *w)
{
    const trs_mat *L = &lu->f.L;
    const int64_t *ptr = L->ptr;
    const int32_t *idx = L->idx;
    double *val = (double *)L->val;
    for (int32_t q = 0; q < count; q++) {
        const int32_t k = first[q];
        const int64_t a = ptr[k + 1] - 1, b = ptr[k + 2] - 2;
        double T[4];
        TRS_ASSERT(idx[a] == k && idx[b] == k && idx[b + 1] == k + 1);
        turn_rows(L, k, w + 4 * q);
        val[a] = val[b + 1] = block_of_pair(lu, k, val[a], val[b], val[b + 1], w + 4 * q, T);
        val[b] = 0;
        memcpy(w + 4 * q, T, sizeof T);
    }
    for (int64_t i = 0; i < L->n; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1] && idx[p] + 1 < i; p++) {
            const int64_t q = pair_at(count, first, idx[p]);
            if (q >= 0) multiply(val + p, val + p + 1, w + 4 * q);
        }
}
