/* turned.c: see turned.h. */
#include "config.h"

#include "turned.h"
#include "base/debug.h"
#include "base/number/cmplx.h"
#include "matrix/matrix.h"

#include <math.h>
#include <string.h>

typedef double complex zz;

/* Number k of an array of this type. */
static zz get(const void *a, trs_dtype t, int64_t k)
{
    double z[2];
    trs_number_get(a, t, k, z);
    return CMPLX(z[0], z[1]);
}

static void put(void *a, trs_dtype t, int64_t k, zz v)
{
    const double z[2] = {creal(v), cimag(v)};
    trs_number_put(a, t, k, z);
}

static double square(zz z)
{
    return creal(z) * creal(z) + cimag(z) * cimag(z);
}

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
static void turn(const double *s, zz *w)
{
    const double size = s[3] != 0 ? hypot(s[2], s[3]) : fabs(s[2]);
    const double det = s[0] * s[1] - size * size;
    double a = s[1] / det, b = -s[2] / det, c = s[0] / det;
    zz phase = 1;
    if (s[3] != 0) {
        phase = CMPLX(-s[2] / det, -s[3] / det) / (size / fabs(det));
        b = size / fabs(det);
    }
    const int e = (int)rint(log2(ratio_of(a, b, c)) / 2);
    const double p = ldexp(1, -e), q = ldexp(1, e);
    a *= p * p, c *= q * q;
    const double angle = 0.5 * atan2(2 * b, a - c);
    w[0] = cos(angle) * p, w[1] = sin(angle) * q * phase;
    w[2] = -sin(angle) * p, w[3] = cos(angle) * q * phase;
}

static int find_turns(trs_lu *lu, trs_turned *t)
{
    const trs_factors *f = &lu->f;
    const int64_t n = f->L.n;
    for (int64_t k = 0; k < n; k++) t->count += is_block(f->block + 4 * k);
    t->first = trs_lu_alloc(lu, t->count, sizeof *t->first, "pivots of two rows");
    t->w = trs_lu_alloc(lu, 4 * (int64_t)t->count, trs_size(f->L.dtype), "pivots of two rows");
    if (!t->first || !t->w) return TRS_EMEM;
    int32_t q = 0;
    for (int64_t k = 0; k < n; k++) {
        if (!is_block(f->block + 4 * k)) continue;
        zz w[4];
        turn(f->block + 4 * k, w);
        for (int e = 0; e < 4; e++) put(t->w, f->L.dtype, 4 * (int64_t)q + e, w[e]);
        t->first[q++] = (int32_t)k;
    }
    return TRS_OK;
}

/* ---- G ---------------------------------------------------------------------------------------------- */

/* Of A by columns, which are the conjugated rows, the same follows with conj (W), for G by columns.
 * By row i of A: row i of W A is own [i] times row i of A, plus cross [i] times row other [i]; other [i] = i: there is none. */
typedef struct mixing {
    const trs_mat *A;
    int32_t *other;
    zz *own, *cross;
    /* of the numbers of G */
    trs_dtype dtype;
    /* [n] 1 + the entry of G that this row has in each column; 0: none so far */
    int64_t *place;
} mixing;

static void mix(const trs_lu *lu, const trs_turned *t, mixing *m)
{
    const int64_t *P = lu->f.P;
    for (int32_t i = 0; i < m->A->n; i++) m->other[i] = i, m->own[i] = 1, m->cross[i] = 0;
    for (int32_t q = 0; q < t->count; q++) {
        const int64_t i = P[t->first[q]], j = P[t->first[q] + 1];
        zz w[4];
        for (int e = 0; e < 4; e++) {
            w[e] = get(t->w, m->dtype, 4 * (int64_t)q + e);
            if (!trs_by_rows(m->A)) w[e] = conj(w[e]);
        }
        m->other[i] = (int32_t)j, m->other[j] = (int32_t)i;
        m->own[i] = w[0], m->cross[i] = w[1];
        m->cross[j] = w[2], m->own[j] = w[3];
    }
}

/* Add `by` times number p of A to column j of the row that begins at `begin` and ends at *end; t->from is NULL: only find out
 * which entries there are. */
static void add_term(const mixing *m, trs_turned *t, int64_t *end, int64_t j, int64_t p, zz by)
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
    put(t->by, m->dtype, at, by);
}

/* What row `row` of A, `by` times, adds to a row of G.  Returns where the entries of G end. */
static int64_t add_row(const mixing *m, trs_turned *t, int64_t row, zz by, int64_t end)
{
    const trs_mat *A = m->A;
    for (int64_t p = trs_major_begin(A, row); p < trs_major_end(A, row); p++) {
        const int64_t j = trs_minor_index(A, row, p), k = m->other[j];
        add_term(m, t, &end, j, p, by * conj(m->own[j]));
        if (k != j) add_term(m, t, &end, k, p, by * conj(m->cross[k]));
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
    *G = (trs_mat){.n = m->A->n, .nnz = walk(m, t), .dtype = m->dtype, .format = TRS_CSR};
    if (!trs_by_rows(m->A)) G->format = TRS_CSC;
    G->ptr_bits = 64, G->idx_bits = 32;
    G->ptr = trs_lu_alloc(lu, G->n + 1, sizeof(int64_t), what);
    G->idx = trs_lu_alloc(lu, G->nnz, sizeof(int32_t), what);
    t->by = trs_lu_alloc(lu, TRS_TURNED_TERMS * G->nnz, trs_size(m->dtype), what);
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
    TRS_ASSERT(lu->f.block);
    mixing m = {.A = A, .dtype = lu->f.L.dtype};
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

/* Numbers p and q of val = [x y], become [x y] [t0 t1; t2 t3]. */
static void multiply(const trs_mat *L, int64_t p, int64_t q, const zz *t)
{
    void *val = (void *)L->val;
    const zz x = get(val, L->dtype, p), y = get(val, L->dtype, q);
    put(val, L->dtype, p, x * t[0] + y * t[2]);
    put(val, L->dtype, q, x * t[1] + y * t[3]);
}

/* The pair k, k + 1 has in G the block [f 0; g h] of F, with the signs of S.  Its block D of A(P, P) is t S t, whose S^-1 goes to
 * lu->f.block, and F' = W^-1 F T has t I there: T = t [f 0; g h]^-1 W.  `back` is W^-1.  Returns t. */
static double block_of_pair(trs_lu *lu, int32_t k, double f, zz g, double h, const zz *w,
                            const zz *back, zz *T)
{
    const int8_t *sign = lu->f.sign + k;
    const double t = sqrt(fabs(f * h)), by = t / (f * h);
    /* W^-1 [f 0; g h], whose columns have these signs in D */
    const zz x = back[0] * f + back[1] * g, y = back[1] * h;
    const zz z = back[2] * f + back[3] * g, v = back[3] * h;
    const double d00 = sign[0] * square(x) + sign[1] * square(y);
    const double d11 = sign[0] * square(z) + sign[1] * square(v), det = sign[0] * sign[1];
    const zz d01 = sign[0] * x * conj(z) + sign[1] * y * conj(v);
    double *s = lu->f.block + 4 * (int64_t)k;
    s[0] = det * d11 / (t * t), s[1] = det * d00 / (t * t);
    s[2] = -det * creal(d01) / (t * t), s[3] = -det * cimag(d01) / (t * t);
    T[0] = by * h * w[0], T[1] = by * h * w[1];
    T[2] = by * (f * w[2] - g * w[0]), T[3] = by * (f * w[3] - g * w[1]);
    return t;
}

/* Rows k and k + 1 left of the diagonal: W^-1 times both. */
static void turn_rows(const trs_mat *L, int32_t k, const zz *back)
{
    const int64_t *ptr = L->ptr;
    const zz transposed[4] = {back[0], back[2], back[1], back[3]};
    const int64_t begin = ptr[k], next = ptr[k + 1], count = next - begin - 1;
    for (int64_t e = 0; e < count; e++) {
        TRS_ASSERT(((const int32_t *)L->idx)[begin + e] == ((const int32_t *)L->idx)[next + e]);
        multiply(L, begin + e, next + e, transposed);
    }
}

/* Which pair begins at pivot k?  -1: none. */
static int64_t pair_at(int32_t count, const int32_t *first, int32_t k)
{
    const int64_t q = trs_first_from(first, 0, count, k);
    return q < count && first[q] == k ? q : -1;
}

/* Pair k, k + 1, whose block of W is w, which becomes T. */
static void turn_pair_back(trs_lu *lu, int32_t k, zz *w)
{
    const trs_mat *L = &lu->f.L;
    const int64_t *ptr = L->ptr, a = ptr[k + 1] - 1, b = ptr[k + 2] - 2;
    const int32_t *idx = L->idx;
    void *val = (void *)L->val;
    const zz det = w[0] * w[3] - w[1] * w[2];
    const zz back[4] = {w[3] / det, -w[1] / det, -w[2] / det, w[0] / det};
    zz T[4];
    TRS_ASSERT(idx[a] == k && idx[b] == k && idx[b + 1] == k + 1);
    turn_rows(L, k, back);
    const zz g = get(val, L->dtype, b);
    const double f = creal(get(val, L->dtype, a)), h = creal(get(val, L->dtype, b + 1));
    const double t = block_of_pair(lu, k, f, g, h, w, back, T);
    put(val, L->dtype, a, t);
    put(val, L->dtype, b + 1, t);
    put(val, L->dtype, b, 0);
    memcpy(w, T, sizeof T);
}

void trs_turned_back(trs_lu *lu, int32_t count, const int32_t *first, void *w)
{
    const trs_mat *L = &lu->f.L;
    const int64_t *ptr = L->ptr;
    const int32_t *idx = L->idx;
    zz T[4];
    for (int32_t q = 0; q < count; q++) {
        for (int e = 0; e < 4; e++) T[e] = get(w, L->dtype, 4 * (int64_t)q + e);
        turn_pair_back(lu, first[q], T);
        for (int e = 0; e < 4; e++) put(w, L->dtype, 4 * (int64_t)q + e, T[e]);
    }
    for (int64_t i = 0; i < L->n; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1] && idx[p] + 1 < i; p++) {
            const int64_t q = pair_at(count, first, idx[p]);
            for (int e = 0; e < 4 && q >= 0; e++) T[e] = get(w, L->dtype, 4 * q + e);
            if (q >= 0) multiply(L, p, p + 1, T);
        }
}
