/* solve.c: op(A) x = b for a group of systems side by side, with their factors.
 *
 *     op = N:     y = R b(P),  L U z = y,   x(Q) = z        (R A(P, Q)) z = y
 *     op = T, H:  y = b(Q),    U' L' z = y, x(P) = R z      (R A(P, Q))' z = y
 *
 * U and L by rows are read as they are: op = N subtracts products from one number, op = T and H one product from each number
 * of the row.  z is refined in the order of the pivots, where the error of R A(P, Q) z relative to its terms is that of A x.
 * Up to TRS_LU_BATCH_RHS right-hand sides of a system are solved at a time. */
#ifndef T

#include "config.h"

#include "lu_batch.h"
#include "base/debug.h"
#include "matrix/whole.h"

#include <string.h>

#define TRS_WIDE_REALS
#define TRS_BODY "lu_batch/solve.c"
#include "base/each_width.h"

const trs_lu_batch_solve_fn trs_lu_batch_solve_group[2][4] = TRS_PER_WIDTH(solve_group);

#else

#include "base/number/vector.h"
#include "lu_batch/lanes.h"

/* ---- triangles, with width right-hand sides: y [n*width] -------------------------------------- */

TRS_INLINE void FN(lower)(const trs_lu_batch_rows *r, const FN(vector) * lu, FN(vector) * y,
                          int width)
{
    for (int32_t i = 0; i < r->n; i++)
        for (int64_t p = r->ptr[i]; p < r->diag[i]; p++)
            for (int c = 0; c < width; c++) {
                FN(vector) *to = &y[i * (int64_t)width + c];
                *to = FN(subtract)(*to, lu[p], y[r->idx[p] * (int64_t)width + c], false);
            }
}

TRS_INLINE void FN(upper)(const trs_lu_batch_rows *r, const FN(vector) * lu, FN(vector) * y,
                          int width)
{
    for (int32_t i = r->n - 1; i >= 0; i--)
        for (int c = 0; c < width; c++) {
            FN(vector) s = y[i * (int64_t)width + c];
            for (int64_t p = r->diag[i] + 1; p < r->ptr[i + 1]; p++)
                s = FN(subtract)(s, lu[p], y[r->idx[p] * (int64_t)width + c], false);
            y[i * (int64_t)width + c] = FN(multiply)(lu[r->diag[i]], s, false);
        }
}

TRS_INLINE void FN(upper_transposed)(const trs_lu_batch_rows *r, const FN(vector) * lu,
                                     FN(vector) * y, int width, bool conj)
{
    for (int32_t i = 0; i < r->n; i++)
        for (int c = 0; c < width; c++) {
            const FN(vector) z = FN(multiply)(lu[r->diag[i]], y[i * (int64_t)width + c], conj);
            y[i * (int64_t)width + c] = z;
            for (int64_t p = r->diag[i] + 1; p < r->ptr[i + 1]; p++) {
                FN(vector) *to = &y[r->idx[p] * (int64_t)width + c];
                *to = FN(subtract)(*to, lu[p], z, conj);
            }
        }
}

TRS_INLINE void FN(lower_transposed)(const trs_lu_batch_rows *r, const FN(vector) * lu,
                                     FN(vector) * y, int width, bool conj)
{
    for (int32_t i = r->n - 1; i >= 0; i--)
        for (int c = 0; c < width; c++) {
            const FN(vector) z = y[i * (int64_t)width + c];
            for (int64_t p = r->ptr[i]; p < r->diag[i]; p++) {
                FN(vector) *to = &y[r->idx[p] * (int64_t)width + c];
                *to = FN(subtract)(*to, lu[p], z, conj);
            }
        }
}

TRS_INLINE void FN(triangles)(const trs_lu_batch_rows *r, trs_op op, const FN(vector) * lu,
                              FN(vector) * y, int width)
{
    if (op == TRS_N) {
        FN(lower)(r, lu, y, width);
        FN(upper)(r, lu, y, width);
    } else {
        FN(upper_transposed)(r, lu, y, width, op == TRS_H);
        FN(lower_transposed)(r, lu, y, width, op == TRS_H);
    }
}

WIDTH_CLONES static void FN(solve_one)(const trs_lu_batch_rows *r, trs_op op, const FN(vector) * lu,
                                       FN(vector) * y)
{
    FN(triangles)(r, op, lu, y, 1);
}

WIDTH_CLONES static void FN(solve_some)(const trs_lu_batch_rows *r, trs_op op,
                                        const FN(vector) * lu, FN(vector) * y)
{
    FN(triangles)(r, op, lu, y, TRS_LU_BATCH_RHS);
}

/* ---- B and X ------------------------------------------------------------------------------------ */

/* y = R b(P), or b(Q), for columns column .. column + width - 1; lanes without a system get b of another one. */
WIDTH_CLONES static void FN(read_b)(const trs_lu_batch_job *j, int64_t first, int column, int width,
                                    FN(vector) * y)
{
    const trs_lu_batch_rows *r = j->rows;
    const int64_t *order = j->op == TRS_N ? r->P : r->Q;
    const T *b[FN(LANES)];
    for (int k = 0; k < FN(LANES); k++) {
        const int64_t system = first + k < j->s->count ? first + k : first;
        b[k] = (const T *)j->b.p + system * j->s->b_stride + column * j->b.cs;
    }
    for (int64_t i = 0; i < r->n; i++) {
        const REAL by = j->op == TRS_N ? (REAL)r->scale[i] : 1;
        for (int c = 0; c < width; c++)
            y[i * width + c] = FN(collect)(b, order[i] * j->b.rs + c * j->b.cs) * by;
    }
}

/* x(Q) = y, or x(P) = R y; NaN for a system without factors. */
static void FN(write_x)(const trs_lu_batch_job *j, int64_t first, int column, int width, const T *y)
{
    const trs_lu_batch_rows *r = j->rows;
    const int64_t *order = j->op == TRS_N ? r->Q : r->P;
    for (int k = 0; k < FN(LANES); k++) {
        if (!trs_lu_batch_has(j->s, first + k)) continue;
        const REAL bad = trs_lu_batch_suits(j, first + k) ? 1 : (REAL)NAN;
        T *x = (T *)j->x.p + (first + k) * j->s->x_stride + column * j->x.cs;
        for (int64_t i = 0; i < r->n; i++) {
            const REAL by = j->op == TRS_N ? bad : bad * (REAL)r->scale[i];
            for (int c = 0; c < width; c++)
                x[order[i] * j->x.rs + c * j->x.cs] = y[(i * width + c) * FN(LANES) + k] * by;
        }
    }
}

/* ---- refinement --------------------------------------------------------------------------------- */

/* r -= op(R A(P, Q)) z, and size += |op(R A(P, Q))| |z|. */
WIDTH_CLONES static void FN(residual)(const trs_lu_batch_rows *rows, trs_op op, const T *const *a,
                                      const FN(vector) * z, FN(vector) * r, FN(vector) * size)
{
    const bool conj = op == TRS_H;
    for (int64_t q = 0; q < rows->nnz_a; q++) {
        const int32_t i = rows->a_row[q], m = rows->a_col[q];
        const FN(vector) x = z[op == TRS_N ? m : i];
        const FN(vector) v = FN(gather)(rows, q, a) * (REAL)rows->scale[i];
        const int32_t k = op == TRS_N ? i : m;
        r[k] = FN(subtract)(r[k], v, x, conj);
        size[k] += FN(sizes)(v) * FN(sizes)(x);
    }
}

/* omega = max |r| / size, where 0 / 0 is 0. */
WIDTH_CLONES static void FN(errors)(int32_t n, const FN(vector) * r, const FN(vector) * size,
                                    FN(vector) * omega)
{
    FN(vector) worst = {0};
    for (int32_t i = 0; i < n; i++) {
        const FN(vector) error = FN(sizes)(r[i]);
        const FN(vector) ratio = FN(select)(error == 0, error, error / size[i]);
        worst = FN(select)((ratio <= worst) | (worst != worst), worst, ratio); /* keeps a NaN */
    }
    *omega = worst;
}

TRS_INLINE void FN(add)(int32_t n, FN(vector) * z, const FN(vector) * r)
{
    for (int32_t i = 0; i < n; i++) z[i] += r[i];
}

/* Refine z, which solves for one column of B, as often as the caller wants. */
static void FN(refine)(const trs_lu_batch_job *j, int64_t first, int column, const FN(vector) * lu,
                       const trs_lu_batch_space *w)
{
    const int32_t n = j->rows->n;
    const T *a[FN(LANES)];
    FN(vector) *z = (FN(vector) *)w->y, *r = (FN(vector) *)w->r, *size = r + n, omega;
    if (!FN(values_of)(j, first, a)) return;
    for (int step = 0; step <= j->s->steps; step++) {
        if (step == j->s->steps && !j->s->omega) return;
        FN(read_b)(j, first, column, 1, r);
        for (int32_t i = 0; i < n; i++) size[i] = FN(sizes)(r[i]);
        FN(residual)(j->rows, j->op, a, z, r, size);
        if (step == j->s->steps) break;
        FN(solve_one)(j->rows, j->op, lu, r);
        FN(add)(n, z, r);
    }
    FN(errors)(n, r, size, &omega);
    for (int k = 0; k < FN(LANES); k++) {
        if (!trs_lu_batch_has(j->s, first + k)) continue;
        double *to = &j->s->omega[first + k];
        const double error = trs_lu_batch_suits(j, first + k) ? (double)omega[k * PARTS] : NAN;
        if (column == 0 || !(error <= *to)) *to = error;
    }
}

/* ---- a group ------------------------------------------------------------------------------------ */

static void FN(solve_group)(const trs_lu_batch_job *j, int64_t first, const char *lu,
                            const trs_lu_batch_space *w)
{
    const bool refines = j->s->steps > 0 || j->s->omega;
    int width;
    for (int column = 0; column < j->nrhs; column += width) {
        width = !refines && j->nrhs - column >= TRS_LU_BATCH_RHS ? TRS_LU_BATCH_RHS : 1;
        FN(read_b)(j, first, column, width, (FN(vector) *)w->y);
        if (width == 1) FN(solve_one)(j->rows, j->op, (const FN(vector) *)lu, (FN(vector) *)w->y);
        else FN(solve_some)(j->rows, j->op, (const FN(vector) *)lu, (FN(vector) *)w->y);
        if (refines) FN(refine)(j, first, column, (const FN(vector) *)lu, w);
        FN(write_x)(j, first, column, width, (const T *)w->y);
    }
}

#undef PARTS

#endif
