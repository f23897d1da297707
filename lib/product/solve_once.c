/* solve_once.c: substitution with the caller's own arrays, without a plan.
 *
 * A is stored by lines: rows of CSR, columns of CSC.  If op(A) has the lines as rows, a step of the substitution gathers,
 *
 *     x(l) = (b(l) - sum a(c) x(c)) / d          over the entries a(c) of line l that come before it
 *
 * and otherwise it scatters:
 *
 *     x(l) = x(l) / d,    x(c) = x(c) - a(c) x(l)    over those that come after it
 *
 * With op(A) lower, lines are taken in ascending order, else in descending order.  Pointers and indices are compared with
 * their limits as they are read, so nothing outside the arrays is touched.  A and x are read once: 8 or 12 bytes an entry, and
 * for a scatter twice the size of a number more. */
#ifndef T

#include "config.h"

#include "accuracy/residual.h"
#include "matrix/operator.h"

#include <inttypes.h>

typedef struct once {
    const trs_mat *A;
    /* op(A) is lower: lines are taken in ascending order */
    bool lower;
    /* the indices of entries that a step uses are below that of its line */
    bool below;
    bool conj, unit;
    /* the line at which a step could not be done */
    int64_t line;
} once;

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* c [p].  Each width has code of its own, since `wide` is a constant where this is inlined. */
static ALWAYS_INLINE int64_t index_at(const trs_mat *A, bool wide, int64_t p)
{
    const int64_t c = wide ? ((const int64_t *)A->idx)[p] : ((const int32_t *)A->idx)[p];
    return c - A->base;
}

/* Does a step with line l use the entry with index c? */
static ALWAYS_INLINE bool uses(const once *o, int64_t l, int64_t c)
{
    const uint64_t n = (uint64_t)o->A->n, i = (uint64_t)l, j = (uint64_t)c;
    return o->below ? j < i : j - i - 1 < n - i - 1;
}

/* May an entry that no step uses be there: in the other triangle, or on the diagonal for the first time? */
static ALWAYS_INLINE bool may_be(const once *o, int64_t l, int64_t c, bool first)
{
    if (c == l) return first;
    return (uint64_t)c < (uint64_t)o->A->n && !(o->A->kind & TRS_STRICT);
}

static bool line_is_there(const trs_mat *A, int64_t begin, int64_t end)
{
    return begin >= 0 && begin <= end && end <= A->nnz;
}

#define TRS_BODY "product/solve_once.c"
#include "base/each_type.h"

typedef int (*sweep_fn)(once *, const void *b, int64_t bs, void *x, int64_t xs);

/* The sentence for TRS_EMATRIX or TRS_EPIVOT. */
static int explain(const once *o, int status)
{
    const int rc = trs_check_mat(o->A);
    if (rc) return rc;
    if (status == TRS_EPIVOT)
        return trs_fail(TRS_EPIVOT, "row %" PRId64 ": the diagonal is missing, zero or not finite",
                        o->line + o->A->base);
    return trs_fail(TRS_EMATRIX,
                    "line %" PRId64
                    ": its diagonal is stored twice, or an entry is in the other triangle",
                    o->line + o->A->base);
}

static int check(const trs_mat *A)
{
    if (!A) return trs_fail(TRS_EARG, "A is NULL");
    if (A->device > 0) return trs_fail(TRS_ESUPPORT, "without a plan A must be on the host");
    const int rc = trs_check_arrays(A);
    if (rc) return rc;
    if (A->format != TRS_CSR && A->format != TRS_CSC)
        return trs_fail(TRS_ESUPPORT, "without a plan A must be in CSR or CSC");
    if (!(A->kind & TRS_LOWER) == !(A->kind & TRS_UPPER) ||
        A->kind & (TRS_PERMUTED | TRS_SELFADJOINT))
        return trs_fail(TRS_EARG, "kind is not that of a triangle");
    return TRS_OK;
}

static int sweep(once *o, bool gather, int nrhs, trs_view b, trs_view x)
{
    static const sweep_fn table[2][4] = {TRS_PER_TYPE(scatter), TRS_PER_TYPE(gather)};
    const trs_dtype t = o->A->dtype;
    const int64_t size = (int64_t)trs_size(t);
    int rc = TRS_OK;
    for (int r = 0; r < nrhs && !rc; r++)
        rc = table[gather][t](o, (const char *)b.p + r * b.cs * size, b.rs,
                              (char *)x.p + r * x.cs * size, x.rs);
    return rc ? explain(o, rc) : TRS_OK;
}

int trs_solve_once(const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
                   int64_t ldx, trs_layout layout)
{
    trs_enter();
    int rc = check(A);
    if (!rc) rc = trs_check_columns(A, op, nrhs, B, ldb, X, ldx, layout, B != X || ldb != ldx);
    if (rc || !nrhs || !A->n) return trs_leave(rc);
    const bool gather = trs_by_rows(A) == (op == TRS_N);
    once o = {.A = A, .lower = !!(A->kind & TRS_LOWER) == (op == TRS_N)};
    o.below = gather == o.lower;
    o.conj = op == TRS_H;
    o.unit = A->kind & TRS_UNIT;
    rc = sweep(&o, gather, nrhs, trs_view_of(B, ldb, layout), trs_view_of(X, ldx, layout));
    return trs_leave(rc);
}

#else

#include "base/number/divide.h"

/* Can x be divided by d? */
static bool FN(is_pivot)(T d)
{
    return d != 0 && isfinite(creal(d)) && isfinite(cimag(d));
}

static ALWAYS_INLINE int FN(gather_line)(const once *o, int64_t l, bool wide, T b, T *x, int64_t xs)
{
    const trs_mat *A = o->A;
    const T *a = A->val;
    const int64_t begin = trs_major_begin(A, l), end = trs_major_end(A, l);
    T s = b, d = 0;
    bool first = true;
    if (!line_is_there(A, begin, end)) return TRS_EMATRIX;
    for (int64_t p = begin; p < end; p++) {
        const int64_t c = index_at(A, wide, p);
        const T v = o->conj ? CONJ(a[p]) : a[p];
        if (uses(o, l, c)) s -= v * x[c * xs];
        else if (!may_be(o, l, c, first)) return TRS_EMATRIX;
        else if (c == l) d = v, first = false;
    }
    if (o->unit) d = 1;
    if (!FN(is_pivot)(d)) return TRS_EPIVOT;
    x[l * xs] = FN(divide)(s, d);
    return TRS_OK;
}

/* The diagonal of a line, which is mostly at one of its ends; 0: there is none. */
static ALWAYS_INLINE T FN(diagonal)(const once *o, int64_t l, bool wide, int64_t begin, int64_t end)
{
    const T *a = o->A->val;
    if (o->unit) return 1;
    for (int64_t p = begin, q = end - 1; p <= q; p++, q--) {
        if (index_at(o->A, wide, p) == l) return a[p];
        if (index_at(o->A, wide, q) == l) return a[q];
    }
    return 0;
}

static ALWAYS_INLINE int FN(scatter_line)(const once *o, int64_t l, bool wide, T *x, int64_t xs)
{
    const trs_mat *A = o->A;
    const T *a = A->val;
    const int64_t begin = trs_major_begin(A, l), end = trs_major_end(A, l);
    bool first = true;
    if (!line_is_there(A, begin, end)) return TRS_EMATRIX;
    const T d = FN(diagonal)(o, l, wide, begin, end);
    if (!FN(is_pivot)(d)) return TRS_EPIVOT;
    const T z = x[l * xs] = FN(divide)(x[l * xs], o->conj ? CONJ(d) : d);
    for (int64_t p = begin; p < end; p++) {
        const int64_t c = index_at(A, wide, p);
        if (uses(o, l, c)) x[c * xs] -= (o->conj ? CONJ(a[p]) : a[p]) * z;
        else if (!may_be(o, l, c, first)) return TRS_EMATRIX;
        else if (c == l) first = false;
    }
    return TRS_OK;
}

static int FN(gather)(once *o, const void *B, int64_t bs, void *X, int64_t xs)
{
    const T *b = B;
    const int64_t n = o->A->n;
    const bool wide = o->A->idx_bits == 64;
    int rc = TRS_OK;
    for (int64_t k = 0; k < n && !rc; k++) {
        const int64_t l = o->line = o->lower ? k : n - 1 - k;
        if (wide) rc = FN(gather_line)(o, l, true, b[l * bs], X, xs);
        else rc = FN(gather_line)(o, l, false, b[l * bs], X, xs);
    }
    return rc;
}

static int FN(scatter)(once *o, const void *B, int64_t bs, void *X, int64_t xs)
{
    const T *b = B;
    T *x = X;
    const int64_t n = o->A->n;
    const bool wide = o->A->idx_bits == 64;
    int rc = TRS_OK;
    for (int64_t i = 0; i < n; i++) x[i * xs] = b[i * bs];
    for (int64_t k = 0; k < n && !rc; k++) {
        const int64_t l = o->line = o->lower ? k : n - 1 - k;
        if (wide) rc = FN(scatter_line)(o, l, true, X, xs);
        else rc = FN(scatter_line)(o, l, false, X, xs);
    }
    return rc;
}

#endif
