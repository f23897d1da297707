/* general.c: plans of general dense matrices: keep op(A) by columns, choose a solver, judge pivots.
 *
 * The same plan, states, views and work spaces as for a triangle; there are no levels and no parts but
 * one.  op = T is a side of its own that holds A'; op = H is T with conjugated b and x, for
 * conj (M) x = b is M conj (x) = conj (b). */
#include "config.h"

#include "general.h"
#include "gpu.h"
#include "noun.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool trs_is_general(const trs_mat *m)
{
    return m->format == TRS_DENSE && !(m->kind & (TRS_LOWER | TRS_UPPER));
}

static int side_new(trs_context *ctx, trs_side *s, const trs_mat *m)
{
    s->tri.n = (int32_t)m->n;
    s->tri.dtype = m->dtype;
    s->full = trs_new(ctx, m->n * m->n, trs_size(m->dtype), "the full matrix");
    return s->full ? TRS_OK : TRS_EMEM;
}

int trs_general_read(trs_plan *p, const trs_mat *m)
{
    const int64_t n = m->n, size = (int64_t)trs_size(m->dtype);
    const char *from = m->val;
    for (int k = 0; k < 2; k++) {
        trs_side *s = &p->side[k];
        if (!s->used) continue;
        int rc = s->full ? TRS_OK : side_new(&p->ctx, s, m);
        if (rc) return rc;
        char *to = s->full;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                memcpy(to + (k == 0 ? j * n + i : i * n + j) * size, from + (j * m->ld + i) * size,
                       (size_t)size);
    }
    return TRS_OK;
}

enum { SMALL = 500 }; /* rows below which a CPU is faster than the way to the GPU */

/* The automatic choice always pivots. */
static const trs_solver *pivoting(const trs_plan *p)
{
    const bool cpu_first = !p->on_device && p->info.n < SMALL;
    const char *const name[2] = {cpu_first ? "lapack-getrf" : "cusolver-getrf",
                                 cpu_first ? "cusolver-getrf" : "lapack-getrf"};
    char why[200];
    for (int k = 0; k < 2; k++) {
        const trs_solver *s = trs_solver_named(name[k]);
        if (s && p->ctx.bitwise && !(s->caps & TRS_CAP_BITWISE)) continue;
        if (s && !(p->on_device && s->place == TRS_ON_CPU) &&
            trs_solver_available(s, p->ctx.device, why, sizeof why))
            return s;
    }
    return NULL;
}

int trs_general_choose(trs_plan *p)
{
    const trs_side *s = &p->side[p->side[0].used ? 0 : 1];
    trs_shape shape;
    trs_shape_of(&p->ctx, s, &shape);
    p->info.levels = p->info.longest = shape.n;
    p->info.widest = shape.n > 0;
    const bool named = p->wanted;
    if (!named) p->wanted = pivoting(p);
    if (!p->wanted)
        return trs_fail(TRS_ESUPPORT,
                        p->ctx.bitwise
                            ? "no solver that exchanges rows promises the same bits; name another"
                            : "a general matrix needs LAPACK or cuSOLVER, and neither is here");
    trs_cost c;
    p->info.predicted = trs_predict(&p->ctx, p->wanted, NULL, &shape, p->on_device, &c);
    snprintf(p->reason, sizeof p->reason, "a full matrix of %" PRId64 " %s: %s", shape.n,
             trs_noun(shape.n, "row", "rows"),
             named ? "named by the caller" : "LU with partial pivoting");
    if (!trs_fits(p->wanted, &shape, p->ctx.limit))
        return trs_fail(TRS_EMEM, "%s would need %.3g bytes, over the limit", p->wanted->name,
                        (double)p->wanted->bytes(&shape));
    return TRS_OK;
}

int trs_general_judge(trs_part *part, double growth, int64_t first)
{
    trs_context *ctx = part->ctx;
    part->growth = growth;
    if (first < 0) return TRS_OK;
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": the pivot is zero, tiny or not finite%s",
                    first + ctx->base,
                    part->solver->caps & TRS_CAP_PIVOTS ? ": the matrix is singular"
                                                        : ", and rows are not exchanged");
}

/* ---- what else factors are for ------------------------------------------------------------------ */

static double at(trs_dtype t, const void *a, int64_t k)
{
    return t == TRS_F32 ? ((const float *)a)[k] : ((const double *)a)[k];
}

static void put(trs_dtype t, void *a, int64_t k, double value)
{
    if (t == TRS_F32) ((float *)a)[k] = (float)value;
    else ((double *)a)[k] = value;
}

void trs_lu_determinant(trs_dtype t, int64_t n, const void *lu, const int *ipiv, double *mantissa,
                        int *exponent)
{
    *mantissa = 1;
    *exponent = 0;
    for (int64_t i = 0; i < n; i++) {
        int e;
        const double u = at(t, lu, i * n + i);
        *mantissa = frexp(*mantissa * (ipiv && ipiv[i] != i + 1 ? -u : u), &e);
        *exponent += e;
    }
}

/* x (i) -= lu (i, j) x (j) for the rows from..to-1 */
static void eliminate(trs_dtype t, const void *column, int64_t from, int64_t to, double xj, void *x,
                      int64_t first)
{
    for (int64_t i = from; i < to && xj != 0; i++)
        put(t, x, first + i, at(t, x, first + i) - at(t, column, i) * xj);
}

void trs_lu_inverse(trs_dtype t, int64_t n, const void *lu, const int *ipiv, void *inverse)
{
    const int64_t size = (int64_t)trs_size(t);
    for (int64_t k = 0; k < n; k++) {
        const int64_t x = k * n; /* column k of the inverse */
        int64_t row = k;         /* P e_k = e_row */
        for (int64_t i = 0; i < n; i++) put(t, inverse, x + i, 0);
        for (int64_t i = 0; i < n && ipiv; i++)
            if (row == i) row = ipiv[i] - 1;
            else if (row == ipiv[i] - 1) row = i;
        put(t, inverse, x + row, 1);
        for (int64_t j = row; j < n; j++) /* L y = P e_k */
            eliminate(t, (const char *)lu + j * n * size, j + 1, n, at(t, inverse, x + j), inverse,
                      x);
        for (int64_t j = n - 1; j >= 0; j--) { /* U x = y */
            put(t, inverse, x + j, at(t, inverse, x + j) / at(t, lu, j * n + j));
            eliminate(t, (const char *)lu + j * n * size, 0, j, at(t, inverse, x + j), inverse, x);
        }
    }
}
