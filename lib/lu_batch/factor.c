/* factor.c: L U = R A(P, Q) for a group of systems side by side, row by row.
 *
 *     row i:   x(j) = scale(i) a(i, j)                               for all j of row i
 *              l(i, k) = x(k) / u(k, k);  x(j) -= l(i, k) u(k, j)    for k < i of row i, ascending, and j > k of row k
 *              u(i, j) = x(j)                                   for j >= i of row i
 *
 * Each of these is a vector with one lane a system, so all systems share the indices, and no entry is searched for.  x has a
 * place for every column; nothing is stored from places outside of row i, so incomplete factors drop them by themselves.  The diagonal
 * of L + U - I has 1 / u(k, k).
 *
 * A bad pivot makes its own lane infinite or NaN and no other.  `spoiled` sums 0 times every number of the factors: it is zero
 * in the lanes where all of them are finite.  The growth of row i is max |l(i, k)| max_j |u(k, j)|, the bound of lu.h. */
#ifndef T

#include "config.h"

#include "lu_batch.h"
#include "base/debug.h"
#include "matrix/whole.h"

#include <string.h>

#define TRS_WIDE_REALS
#define TRS_BODY "lu_batch/factor.c"
#include "base/each_width.h"

const trs_lu_batch_factor_fn trs_lu_batch_factor[2][4] = TRS_PER_WIDTH(factor);

#else

#include "base/number/divide.h"
#include "base/number/vector.h"
#include "lu_batch/lanes.h"

typedef struct FN(state) {
    FN(vector) growth, largest, spoiled;
} FN(state);

/* 1 / d.  Of a complex d the parts are scaled by its size, so that no square overflows. */
TRS_INLINE FN(vector) FN(invert)(FN(vector) d)
{
#if IS_COMPLEX
    const FN(vector) by = 1 / FN(sizes)(d), z = d * by;
    FN(vector) square = {0}, inverse = z * by;
#pragma GCC unroll 16
    for (int k = 0; k < 2 * FN(LANES); k += 2) {
        square[k] = square[k + 1] = z[k] * z[k] + z[k + 1] * z[k + 1];
        inverse[k + 1] = -inverse[k + 1];
    }
    return inverse / square;
#else
    return 1 / d;
#endif
}

/* L + U - I = A(P, Q).  A is read in its order, since it comes from memory. */
TRS_INLINE void FN(read_matrix)(const trs_lu_batch_rows *r, const T *const *a, FN(vector) * lu)
{
    memset(lu, 0, (size_t)r->nnz * sizeof *lu);
    for (int64_t q = 0; q < r->nnz_a; q++)
        if (r->a_to[q] >= 0) lu[r->a_to[q]] = FN(gather)(r, q, a);
}

/* x = row i of R A(P, Q). */
TRS_INLINE void FN(read_row)(const trs_lu_batch_rows *r, int32_t i, const FN(vector) * lu,
                             FN(vector) * x, FN(state) * s)
{
    const REAL scale = (REAL)r->scale[i];
    for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
        const FN(vector) v = lu[p] * scale;
        s->largest = FN(larger)(s->largest, FN(sizes)(v));
        x[r->idx[p]] = v;
    }
    if (r->shift != 0) x[i] *= (REAL)(1 + r->shift);
}

/* Entries p .. p + count - 1 of L, in columns k .. k + count - 1 whose rows of U have the same columns from k + count on. */
TRS_INLINE void FN(eliminate_run)(const trs_lu_batch_rows *r, int64_t p, int count, FN(vector) * lu,
                                  FN(vector) * x, const FN(vector) * most, FN(state) * s)
{
    const int32_t k = r->idx[p], *idx = r->idx + r->diag[k + count - 1] + 1;
    const int64_t tail = r->ptr[k + count] - r->diag[k + count - 1] - 1;
    const FN(vector) * u[TRS_LU_BATCH_RUN];
    FN(vector) l[TRS_LU_BATCH_RUN], xs[TRS_LU_BATCH_RUN];
#pragma GCC unroll 8
    for (int t = 0; t < count; t++) {
        u[t] = lu + r->diag[k + t];
        xs[t] = x[k + t];
    }
#pragma GCC unroll 8
    for (int t = 0; t < count; t++) {
        l[t] = FN(multiply)(u[t][0], xs[t], false);
#pragma GCC unroll 8
        for (int m = t + 1; m < count; m++) xs[m] = FN(subtract)(xs[m], l[t], u[t][m - t], false);
        lu[p + t] = l[t];
        s->growth = FN(larger)(s->growth, FN(sizes)(l[t]) * most[k + t]);
        s->spoiled += 0 * l[t];
        u[t] += count - t;
    }
    for (int64_t q = 0; q < tail; q++) {
        FN(vector) v = x[idx[q]];
#pragma GCC unroll 8
        for (int t = 0; t < count; t++) v = FN(subtract)(v, l[t], u[t][q], false);
        x[idx[q]] = v;
    }
}

/* x -= the rows of U above that row i needs, and row i of L. */
TRS_INLINE void FN(eliminate)(const trs_lu_batch_rows *r, int32_t i, FN(vector) * lu,
                              FN(vector) * x, const FN(vector) * most, FN(state) * s)
{
    for (int64_t p = r->ptr[i]; p < r->diag[i]; p += r->run[p]) switch (r->run[p]) {
        case 1:
            FN(eliminate_run)(r, p, 1, lu, x, most, s);
            break;
        case 2:
            FN(eliminate_run)(r, p, 2, lu, x, most, s);
            break;
        case 3:
            FN(eliminate_run)(r, p, 3, lu, x, most, s);
            break;
        default:
            FN(eliminate_run)(r, p, TRS_LU_BATCH_RUN, lu, x, most, s);
        }
}

/* Row i of U. */
TRS_INLINE void FN(store_row)(const trs_lu_batch_rows *r, int32_t i, FN(vector) * lu,
                              const FN(vector) * x, FN(vector) * most, FN(state) * s)
{
    const int64_t d = r->diag[i];
    FN(vector) m = FN(sizes)(x[i]), spoiled = s->spoiled + 0 * x[i];
    for (int64_t p = d + 1; p < r->ptr[i + 1]; p++) {
        const FN(vector) u = x[r->idx[p]];
        lu[p] = u;
        m = FN(larger)(m, FN(sizes)(u));
        spoiled += 0 * u;
    }
    lu[d] = FN(invert)(x[i]);
    s->spoiled = spoiled + 0 * lu[d];
    s->growth = FN(larger)(s->growth, m);
    most[i] = m;
}

WIDTH_CLONES static void FN(factor_rows)(const trs_lu_batch_rows *r, const T *const *a,
                                         FN(vector) * lu, FN(vector) * x, FN(state) * state)
{
    FN(vector) *most = x + r->n;
    FN(state) local = {0}, *s = &local;
    FN(read_matrix)(r, a, lu);
    for (int32_t i = 0; i < r->n; i++) {
        FN(read_row)(r, i, lu, x, s);
        FN(eliminate)(r, i, lu, x, most, s);
        FN(store_row)(r, i, lu, x, most, s);
    }
    *state = local;
}

/* The first row of the factors with a number that is not finite in this lane. */
static int32_t FN(first_spoiled)(const trs_lu_batch_rows *r, const T *lu, int lane)
{
    for (int32_t i = 0; i < r->n; i++)
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
            const T v = lu[p * FN(LANES) + lane];
            const bool infinite = p == r->diag[i] && v == 0; /* its inverse is stored */
            if (!isfinite(creal(v)) || !isfinite(cimag(v)) || infinite) return i;
        }
    TRS_ASSERT(false);
    return 0;
}

static trs_lu_batch_outcome FN(judge)(const trs_lu_batch_job *j, const FN(vector) * lu,
                                      const FN(state) * s, int lane)
{
    const trs_lu_batch_rows *r = j->rows;
    const int k = lane * PARTS;
    const double largest = (double)s->largest[k];
    trs_lu_batch_outcome o = {.row = -1, .code = TRS_OK};
    if (largest > 0) o.growth = (double)s->growth[k] / largest;
    if (s->spoiled[k] != 0 || s->spoiled[k + PARTS - 1] != 0) {
        o.row = r->P[FN(first_spoiled)(r, (const T *)lu, lane)];
        o.code = TRS_EPIVOT;
    } else if (o.growth > j->growth_limit) o.code = TRS_EGROWTH;
    return o;
}

static void FN(factor)(const trs_lu_batch_job *j, int64_t first, char *lu,
                       const trs_lu_batch_space *w)
{
    const T *a[FN(LANES)];
    FN(state) s;
    if (!FN(values_of)(j, first, a)) return;
    FN(factor_rows)(j->rows, a, (FN(vector) *)lu, (FN(vector) *)w->row, &s);
    for (int k = 0; k < FN(LANES); k++)
        if (trs_lu_batch_has(j->s, first + k)) {
            j->outcome[first + k] = FN(judge)(j, (FN(vector) *)lu, &s, k);
            if (j->keeps) j->kept_code[first + k] = j->outcome[first + k].code;
        }
}

#undef PARTS

#endif
