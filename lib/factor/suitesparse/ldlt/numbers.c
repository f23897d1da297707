/* numbers.c: the numbers of A(P, P) = L D L^H, row by row.
 *
 *     L(0..k-1, 0..k-1) w = A(0..k-1, k),   l(k, :) = (D^-1 w)^H,   d(k) = a(k, k) - l(k, :) w
 *
 * w is a full vector.  Up to DEPTH columns of a run (numbers.h) are eliminated at once: then w is read and written once for all
 * of them.  Where the rows of the columns are consecutive, as in the dense end of many factors, the loop over them has vectors.
 *
 * The rows of a pair have the block [a b; b' c] of A(P, P) minus what was eliminated before.  It is one pivot if
 * |a| < |b| / 2 after scaling; otherwise a is a good pivot, and c is one of its own.
 *
 * The factor that is kept is that of A(P, P) = F S F^H.  F = L |D|^(1/2) for numbers in D, and S = +-1.  A block D is t S t,
 * t = |det D|^(1/4), so that |det S| = 1.
 * Sources: Davis, Algorithm 849: a concise sparse Cholesky factorization package, ACM TOMS 31 (2005) 587-591; Bunch and
 * Kaufman, Some stable methods for calculating inertia and solving symmetric linear systems, Math. Comp. 31 (1977) 163-179. */
#include "config.h"

#include "numbers.h"
#include "pairs.h"
#include "base/debug.h"
#include "base/number/clones.h"

#ifdef HAVE_CHOLMOD

#include <float.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

enum { DEPTH = 8, WIDE = 8, SHORT = 2 * WIDE };

typedef double wide __attribute__((vector_size(64), aligned(sizeof(double)), may_alias));

typedef struct job {
    const trs_lu *lu;
    const trs_csc *A;
    const trs_ldlt_rows *r;
    double *val;     /* of L, in its pattern; those of the diagonal are not written until the end */
    double *D;       /* [n] */
    double *inverse; /* [n] 1 / D */
    /* [4*n] as trs_factors.block, but of D^-1 until the end; NULL: there are no pairs */
    double *block;
    double
        *y; /* [n], or twice as many: 0 but where row k has entries that are not yet eliminated */
    int64_t *end;    /* [n] the entries that column j has so far */
    double *largest; /* [n] of each column of A, in the order of A; NULL: nothing is boosted */
    int threads;
    /* What threads find: how many pivots are boosted, the first row of L with one, and the first with a bad one, or the first of
     * those in shares; n: none. */
    _Atomic int64_t boosted, first, bad;
    _Atomic int64_t done; /* rows */
    atomic_bool canceled;
} job;

/* ---- a row ------------------------------------------------------------------------------------------- */

/* y = y - l w.  Here and below parts is a constant: 1 for real numbers, 2 for complex ones. */
TRS_INLINE void subtract(double *y, const double *l, const double *w, int parts)
{
    y[0] -= l[0] * w[0];
    if (parts == 1) return;
    y[0] += l[1] * w[1];
    y[1] -= l[0] * w[1] + l[1] * w[0];
}

/* Put column k of A(P, P) into y; returns its diagonal. */
TRS_INLINE double scatter(const job *b, int32_t k, int parts)
{
    const trs_ldlt_rows *r = b->r;
    double diagonal = 0;
    for (int64_t e = r->a_ptr[k]; e < r->a_ptr[k + 1]; e++) {
        const double *a = b->A->x + parts * r->a_src[e];
        const int32_t j = r->a_row[e];
        if (j == k) diagonal = a[0];
        else
            for (int q = 0; q < parts; q++) b->y[parts * j + q] = a[q];
    }
    return diagonal;
}

/* l = conj (D^-1 w) for column j, and the next one if they are a block, from *q on; returns l w. */
TRS_INLINE double divide(const job *b, int32_t j, const double *w, double *l, int parts, bool pair)
{
    if (!pair) {
        l[0] = w[0] * b->inverse[j];
        if (parts == 2) l[1] = -w[1] * b->inverse[j];
        return parts == 1 ? l[0] * w[0] : l[0] * w[0] - l[1] * w[1];
    }
    const double *s = b->block + 4 * (int64_t)j;
    const double *v = w + parts;
    double *m = l + parts;
    l[0] = s[0] * w[0] + s[2] * v[0];
    m[0] = s[2] * w[0] + s[1] * v[0];
    if (parts == 1) return l[0] * w[0] + m[0] * v[0];
    l[0] -= s[3] * v[1];
    m[0] += s[3] * w[1];
    l[1] = -(s[0] * w[1] + s[2] * v[1] + s[3] * v[0]);
    m[1] = -(s[2] * w[1] - s[3] * w[0] + s[1] * v[1]);
    return l[0] * w[0] - l[1] * w[1] + m[0] * v[0] - m[1] * v[1];
}

TRS_INLINE bool is_block(const job *b, int32_t j)
{
    const double *s = b->block + 4 * (int64_t)j;
    return s[2] != 0 || s[3] != 0;
}

/* y(rows) = y(rows) - the columns l times w, for `count` rows; the rows from `apart` on are consecutive. */
TRS_INLINE void subtract_columns(const double *const *l, const double *w, int depth,
                                 const int32_t *idx, int64_t apart, int64_t count, double *y,
                                 int parts)
{
    int64_t p = 0;
    for (; p < apart; p++) {
        double s[2] = {y[parts * (int64_t)idx[p]], parts == 2 ? y[parts * (int64_t)idx[p] + 1] : 0};
#pragma GCC unroll 8
        for (int q = 0; q < depth; q++) subtract(s, l[q] + parts * p, w + parts * q, parts);
        for (int q = 0; q < parts; q++) y[parts * (int64_t)idx[p] + q] = s[q];
    }
    if (p == count) return;
    double *restrict x = y + parts * (idx[p] - p);
    for (; parts == 1 && p + WIDE <= count; p += WIDE) {
        wide s = *(const wide *)(x + p);
#pragma GCC unroll 8
        for (int q = 0; q < depth; q++) s -= w[q] * *(const wide *)(l[q] + p);
        *(wide *)(x + p) = s;
    }
    for (; p < count; p++)
#pragma GCC unroll 8
        for (int q = 0; q < depth; q++)
            subtract(x + parts * p, l[q] + parts * p, w + parts * q, parts);
}

/* Eliminate columns j .. j+depth-1 of a run from row k, which gets its entries; returns what that takes from the diagonal. */
TRS_INLINE double eliminate(job *b, int32_t j, int depth, int parts)
{
    const trs_symbolic *d = b->r->d;
    const int64_t begin = d->ptr[j + depth - 1] + 1, count = b->end[j + depth - 1] - begin;
    const int64_t apart = b->r->dense[j + depth - 1] - begin;
    const double *l[DEPTH];
    double w[2 * DEPTH], sum = 0;
#pragma GCC unroll 8
    for (int q = 0; q < depth; q++)
        for (int c = 0; c < parts; c++) {
            w[parts * q + c] = b->y[parts * (j + q) + c];
            b->y[parts * (j + q) + c] = 0;
        }
#pragma GCC unroll 8
    for (int q = 0; q < depth; q++) {
        const double *column = b->val + parts * d->ptr[j + q];
#pragma GCC unroll 8
        for (int e = q + 1; e < depth; e++)
            subtract(w + parts * e, column + parts * (e - q), w + parts * q, parts);
        l[q] = column + parts * (depth - q);
    }
    subtract_columns(l, w, depth, d->idx + begin, apart < count ? apart : count, count, b->y,
                     parts);
    for (int q = 0; q < depth; q++) {
        const bool pair = q + 1 < depth && b->block && is_block(b, j + q);
        double z[4];
        sum += divide(b, j + q, w + parts * q, z, parts, pair);
        for (int e = 0; e <= pair; e++)
            memcpy(b->val + parts * b->end[j + q + e]++, z + parts * e, (size_t)parts * sizeof *z);
        q += pair;
    }
    return sum;
}

/* The same for a column that is a run of its own, is real, and has few rows: most runs of sparse factors. */
TRS_INLINE double eliminate_short(job *b, int32_t j)
{
    const trs_symbolic *d = b->r->d;
    const int64_t end = b->end[j]++;
    const int32_t *idx = d->idx;
    const double w = b->y[j], l = w * b->inverse[j];
    double *val = b->val, *y = b->y;
    y[j] = 0;
    for (int64_t p = d->ptr[j] + 1; p < end; p++) y[idx[p]] -= val[p] * w;
    val[end] = l;
    return l * w;
}

TRS_INLINE bool is_short(const job *b, int32_t j)
{
    return b->end[j] - b->r->d->ptr[j] < SHORT && !(b->block && is_block(b, j));
}

/* The same for a run of any length.  A block is not parted. */
TRS_INLINE double eliminate_run(job *b, int32_t j, int32_t length, int parts)
{
    double sum = 0;
    if (parts == 1 && length == 1 && is_short(b, j)) return eliminate_short(b, j);
    while (length > 0) {
        int depth = DEPTH;
        while (depth > length || (depth > 1 && b->block && is_block(b, j + depth - 1))) depth /= 2;
        if (b->block && depth == 1 && is_block(b, j)) depth = 2;
        if (depth == 8) sum += eliminate(b, j, 8, parts);
        else if (depth == 4) sum += eliminate(b, j, 4, parts);
        else if (depth == 2) sum += eliminate(b, j, 2, parts);
        else sum += eliminate(b, j, 1, parts);
        j += depth, length -= depth;
    }
    return sum;
}

/* ---- pivots ------------------------------------------------------------------------------------------ */

TRS_INLINE int64_t row_of(const job *b, int32_t k)
{
    return ((const int64_t *)b->r->d->L->Perm)[k];
}

/* The pivot that is used in place of d. */
TRS_INLINE double boosted(job *b, int32_t k, double d)
{
    const int64_t row = row_of(b, k);
    const int8_t *signs = b->lu->signs;
    const double least = b->lu->boost * b->largest[row];
    const int sign = signs ? signs[row] : 0;
    const bool wrong = (sign > 0 && d < least) || (sign < 0 && d > -least);
    if (!wrong && fabs(d) >= least) return d;
    b->boosted++;
    trs_note_least(&b->first, k);
    return sign ? sign * least : copysign(least, d);
}

/* Returns whether it is good. */
TRS_INLINE bool take_pivot(job *b, int32_t k, double d)
{
    if (isfinite(d) && b->largest) d = boosted(b, k, d);
    b->D[k] = d;
    b->inverse[k] = 1 / d;
    if (isfinite(d) && isnormal(b->inverse[k])) return true;
    trs_note_least(&b->bad, k);
    return false;
}

/* The block [a b; conj (b) c] of rows k and k + 1, whose determinant is det, as a pivot. */
TRS_INLINE void take_block(const job *b, int32_t k, double a, const double *off, double c,
                           double det)
{
    double *s = b->block + 4 * (int64_t)k;
    s[0] = c / det, s[1] = a / det, s[2] = -off[0] / det, s[3] = -off[1] / det;
    b->D[k] = a, b->D[k + 1] = c;
}

/* Are these numbers a better pivot than a and c are, one after the other? */
TRS_INLINE bool is_better(const job *b, int32_t k, double a, double size, double c, double det)
{
    const double *scale = b->r->scale, s = scale[row_of(b, k)], t = scale[row_of(b, k + 1)];
    const double x = fabs(a) * s * s, y = size * s * t, z = fabs(c) * t * t;
    const double most = y > z ? y : z, least = b->lu->boost;
    if (!isnormal(det) || !isfinite(most) || !(2 * x < y)) return false;
    return y >= least && fabs(det) * s * s * t * t > least * most * most;
}

/* Rows k - 1 and k, of which the first one has the pivot D(k - 1), and the second one d and the number in y. */
TRS_INLINE bool take_pair(job *b, int32_t k, double d, int parts)
{
    double *y = b->y + parts * (k - 1), *l = b->val + parts * b->end[k - 1]++;
    const double off[2] = {y[0], parts == 2 ? y[1] : 0}, a = b->D[k - 1];
    const double size = parts == 2 ? hypot(off[0], off[1]) : fabs(off[0]);
    const double det = a * d - size * size;
    for (int q = 0; q < parts; q++) y[q] = l[q] = 0;
    if (is_better(b, k - 1, a, size, d, det)) {
        take_block(b, k - 1, a, off, d, det);
        return true;
    }
    return take_pivot(b, k - 1, a) && take_pivot(b, k, d - divide(b, k - 1, off, l, parts, false));
}

/* Returns whether the pivot is good. */
TRS_INLINE bool factor_row(job *b, int32_t k, int parts)
{
    const trs_ldlt_rows *r = b->r;
    double d = scatter(b, k, parts);
    for (int64_t e = r->run_ptr[k]; e < r->run_ptr[k + 1]; e++)
        d -= eliminate_run(b, r->run[e], r->length[e], parts);
    if (r->second && r->second[k]) return take_pair(b, k, d, parts);
    if (!r->second || k + 1 == b->A->n || !r->second[k + 1]) return take_pivot(b, k, d);
    b->D[k] = d; /* the second row decides */
    return true;
}

TRS_CLONES static bool factor_real(job *b, int32_t begin, int32_t end)
{
    bool good = true;
    for (int32_t k = begin; k < end && good; k++) good = factor_row(b, k, 1);
    return good;
}

TRS_FMA_CLONES static bool factor_complex(job *b, int32_t begin, int32_t end)
{
    bool good = true;
    for (int32_t k = begin; k < end && good; k++) good = factor_row(b, k, 2);
    return good;
}

static void factor_rows(job *b, int32_t begin, int32_t end)
{
    enum { STEP = 1024 };
    bool good = true;
    for (int32_t k = begin; k < end && good && !b->canceled; k += STEP) {
        const int32_t last = end - k < STEP ? end : k + STEP;
        good = b->A->is_complex ? factor_complex(b, k, last) : factor_real(b, k, last);
        b->done += last - k;
        if (trs_step("factorization", (double)b->done / (double)b->A->n)) b->canceled = true;
    }
}

/* Subtrees share no entry of y, L or D, so any threads do them, in the same bits. */
static void factor_shares(void *user, int64_t begin, int64_t end)
{
    job *b = user;
    const int32_t *share = b->r->share;
    for (int64_t s = begin; s < end; s++) factor_rows(b, share[2 * s], share[2 * s + 1]);
}

static int is_factored(job *b)
{
    if (b->canceled) return TRS_ECANCELED; /* trs_step has left a sentence */
    if (b->bad == b->A->n) return TRS_OK;
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": a pivot is zero or not finite; boost replaces it",
                    row_of(b, (int32_t)b->bad) + b->lu->base);
}

static int factor_all(job *b)
{
    const int64_t shares = b->r->shares;
    const int32_t *share = b->r->share;
    int32_t k = 0;
    trs_share(b->threads, shares, 1, factor_shares, b);
    int rc = is_factored(b);
    for (int64_t s = 0; s <= shares && !rc; s++) {
        const int32_t end = s < shares ? share[2 * s] : (int32_t)b->A->n;
        factor_rows(b, k, end);
        rc = is_factored(b);
        if (s < shares) k = share[2 * s + 1];
    }
    return rc;
}

/* ---- F and S ----------------------------------------------------------------------------------------- */

/* The block of D becomes that of S, with the signs of its eigenvalues.  Returns t^2. */
static double scale_block(const job *b, int64_t k, int8_t *sign)
{
    double *s = b->block + 4 * k;
    const double det = s[0] * s[1] - s[2] * s[2] - s[3] * s[3], square = 1 / sqrt(fabs(det));
    sign[k] = s[0] + s[1] < 0 ? -1 : 1;
    sign[k + 1] = det < 0 ? -sign[k] : sign[k];
    for (int q = 0; q < 4; q++) s[q] *= square;
    return square;
}

/* Multiply numbers by a root; returns the largest. */
TRS_INLINE double scale_numbers(double *val, double root, int64_t count)
{
    double largest = 0;
    for (int64_t p = 0; p < count; p++) {
        val[p] *= root;
        largest = fabs(val[p]) > largest ? fabs(val[p]) : largest;
    }
    return largest;
}

/* D becomes |D|, and t^2 for both rows of a block: the squares of the diagonal of F. */
static void scale_diagonal(const job *b, int8_t *sign)
{
    for (int64_t j = 0; j < b->A->n; j++) {
        if (b->block && is_block(b, (int32_t)j)) {
            b->D[j] = b->D[j + 1] = scale_block(b, j, sign);
            j++;
            continue;
        }
        sign[j] = b->D[j] < 0 ? -1 : 1;
        b->D[j] = fabs(b->D[j]);
    }
}

typedef struct scaling {
    const job *b;
    _Atomic double largest; /* number of F */
} scaling;

/* Columns of L become those of F, and their diagonals the roots of D. */
static void scale_columns(void *user, int64_t begin, int64_t end)
{
    scaling *s = user;
    const job *b = s->b;
    const int64_t *ptr = b->r->d->ptr, parts = b->A->is_complex ? 2 : 1;
    double largest = 0;
    for (int64_t j = begin; j < end; j++) {
        const double root = sqrt(b->D[j]);
        double *column = b->val + parts * ptr[j];
        column[0] = root;
        if (parts == 2) column[1] = 0;
        largest = fmax(largest, root);
        largest =
            fmax(largest, scale_numbers(column + parts, root, parts * (ptr[j + 1] - ptr[j] - 1)));
    }
    double found = s->largest;
    while (largest > found && !atomic_compare_exchange_weak(&s->largest, &found, largest)) continue;
}

/* rcond: the smallest pivot over the largest. */
static double ratio(const double *D, int64_t n)
{
    double least = INFINITY, most = 0;
    for (int64_t k = 0; k < n; k++) {
        if (D[k] < least) least = D[k];
        if (D[k] > most) most = D[k];
    }
    return most > 0 ? least / most : 0;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static void find_largest(void *user, int64_t begin, int64_t end)
{
    const job *b = user;
    const trs_csc *A = b->A;
    for (int64_t j = begin; j < end; j++) {
        b->largest[j] = 0;
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++)
            b->largest[j] = fmax(b->largest[j], trs_csc_size(A, p));
    }
}

static int threads_for(const trs_lu *lu, const trs_ldlt_rows *r)
{
    if (r->shares == 0) return 1;
    return lu->opt.threads > 0 ? lu->opt.threads : trs_default_threads();
}

static int compute(job *b, trs_factors *f)
{
    enum { EACH = 1024 }; /* columns */
    const int64_t n = b->A->n;
    const int parts = b->A->is_complex ? 2 : 1;
    memset(b->y, 0, (size_t)(n * parts) * sizeof *b->y);
    if (b->block) memset(b->block, 0, (size_t)n * 4 * sizeof *b->block);
    for (int64_t j = 0; j < n; j++) b->end[j] = b->r->d->ptr[j] + 1;
    if (b->largest) trs_share(b->threads, n, EACH, find_largest, b);
    const int rc = factor_all(b);
    if (rc) return rc;
    scaling s = {.b = b};
    scale_diagonal(b, f->sign);
    trs_share(b->threads, n, EACH, scale_columns, &s);
    f->largest_l = s.largest;
    f->rcond = ratio(b->D, n);
    return TRS_OK;
}

int trs_ldlt_run(trs_lu *lu, const trs_csc *A, const trs_ldlt_rows *r, trs_factors *f)
{
    const int64_t n = A->n;
    job b = {.lu = lu, .A = A, .r = r, .val = (double *)f->L.val, .block = f->block};
    b.threads = threads_for(lu, r), b.first = b.bad = n;
    b.D = r->work, b.inverse = r->work + n, b.y = r->work + 2 * n, b.end = r->end;
    if (lu->boost > 0) b.largest = r->work + 4 * n;
    const int rc = compute(&b, f);
    lu->info.boosted = b.boosted;
    lu->info.first_boosted = b.boosted ? row_of(&b, (int32_t)b.first) : -1;
    return rc;
}

#endif
