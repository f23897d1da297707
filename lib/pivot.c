/* pivot.c: pivots that cannot be divided by: found, counted, and dealt with as the plan says.
 *
 * The values of a side are changed after they were read and before the solvers see them, so no solver
 * knows about any of this.  A row that is left out becomes a row of the identity; solve clears its b
 * (solve.c), so that x is 0 there, and its column is multiplied by 0. */
#ifndef T

#include "config.h"

#include "gpu.h"
#include "noun.h"
#include "stages.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROWS = 1 << 14 }; /* that a thread looks at at a time */

static void get(const trs_tri *t, int64_t p, double *re, double *im)
{
    const bool half = t->dtype == TRS_F32 || t->dtype == TRS_C32;
    const int64_t k = trs_is_complex(t->dtype) ? 2 * p : p;
    *re = half ? (double)((const float *)t->val)[k] : ((const double *)t->val)[k];
    *im = 0;
    if (!trs_is_complex(t->dtype)) return;
    *im = half ? (double)((const float *)t->val)[k + 1] : ((const double *)t->val)[k + 1];
}

static void set(trs_tri *t, int64_t p, double re)
{
    const bool half = t->dtype == TRS_F32 || t->dtype == TRS_C32;
    const int64_t k = trs_is_complex(t->dtype) ? 2 * p : p;
    memset((char *)t->val + (size_t)p * trs_size(t->dtype), 0, trs_size(t->dtype));
    if (half) ((float *)t->val)[k] = (float)re;
    else ((double *)t->val)[k] = re;
}

static bool is_bad(const trs_tri *t, int64_t p)
{
    double re, im;
    get(t, p, &re, &im);
    return !isfinite(re) || !isfinite(im) || (re == 0 && im == 0);
}

typedef struct search { /* for bad pivots */
    trs_plan *p;
    const trs_side *s;
    _Atomic int64_t bad, first;
} search;

/* Row k has one. */
static void found_bad(search *all, int32_t k)
{
    const int64_t row = trs_caller_row(all->s, k);
    int64_t first = all->first;
    all->bad++;
    if (all->p->skip) all->p->skip[row] = 1;
    while (row < first && !atomic_compare_exchange_weak(&all->first, &first, row)) continue;
}

#define TRS_BODY "pivot.c"
#include "each_type.h"

/* Count the bad pivots of a side (both sides have the same), find the first, mark them in skip. */
static void find(trs_plan *p, const trs_side *s)
{
    static const trs_range_fn search_some[] = TRS_PER_TYPE(search_some);
    search all = {.p = p, .s = s, .first = INT64_MAX};
    if (p->skip) memset(p->skip, 0, (size_t)s->tri.n);
    trs_share(trs_team(&p->ctx, s->tri.nnz), s->tri.n, ROWS, search_some[s->tri.dtype], &all);
    p->bad_pivots = all.bad;
    p->first_bad = all.bad ? all.first : -1;
}

static void replace(trs_side *s, double value)
{
    for (int32_t k = 0; k < s->tri.n; k++) {
        int64_t diagonal = s->tri.ptr[k + 1] - 1;
        if (is_bad(&s->tri, diagonal)) set(&s->tri, diagonal, value);
    }
}

static void leave_out(trs_side *s, const unsigned char *skip)
{
    trs_tri *t = &s->tri;
    for (int32_t k = 0; k < t->n; k++) {
        if (!skip[trs_caller_row(s, k)]) continue;
        for (int64_t p = t->ptr[k]; p < t->ptr[k + 1] - 1; p++) set(t, p, 0);
        set(t, t->ptr[k + 1] - 1, 1);
    }
}

int trs_pivots_new(trs_plan *p)
{
    trs_context *ctx = &p->ctx;
    if (!p->skip) p->skip = trs_new(ctx, p->info.n, 1, "the rows to leave out");
    if (!p->skip) return TRS_EMEM;
    if (!p->info.on_gpu || p->skip_dev) return TRS_OK;
    p->skip_dev = trs_gpu_new(ctx, p->info.n, 1, "the rows to leave out");
    return p->skip_dev ? TRS_OK : TRS_EMEM;
}

int trs_pivots_treat(trs_plan *p)
{
    find(p, &p->side[p->side[0].used ? 0 : 1]);
    if (!p->bad_pivots || p->pivot == TRS_PIVOT_FAIL) return TRS_OK;
    for (int k = 0; k < 2; k++) {
        if (!p->side[k].used) continue;
        if (p->pivot == TRS_PIVOT_REPLACE) replace(&p->side[k], p->pivot_value);
        else leave_out(&p->side[k], p->skip);
    }
    if (!p->skip_dev) return TRS_OK;
    return trs_gpu_put(&p->ctx, p->skip_dev, p->skip, (size_t)p->info.n);
}

int64_t trs_pivot_place(const trs_side *s, int64_t row)
{
    int32_t k = 0;
    while (trs_caller_row(s, k) != row) k++;
    return s->tri.ptr[k + 1] - 1;
}

int trs_pivots_judge(trs_plan *p)
{
    if (!p->bad_pivots || p->pivot != TRS_PIVOT_FAIL) return TRS_OK;
    const trs_side *s = &p->side[p->side[0].used ? 0 : 1];
    const trs_tri *t = &s->tri;
    const int64_t place = trs_pivot_place(s, p->first_bad);
    double re, im;
    get(t, place, &re, &im);
    const bool missing = t->src && t->src[place] == TRS_SRC_MISSING;
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": diagonal is %s (%" PRId64 " such %s)",
                    p->first_bad + p->ctx.base,
                    missing              ? "missing"
                    : re == 0 && im == 0 ? "zero"
                                         : "not finite",
                    p->bad_pivots, trs_noun(p->bad_pivots, "row", "rows"));
}

#else

static void FN(search_some)(void *user, int64_t begin, int64_t end)
{
    const trs_tri *t = &((search *)user)->s->tri;
    const int64_t *Lp = t->ptr;
    const T *Lx = t->val;
    for (int64_t k = begin; k < end; k++) {
        const T d = Lx[Lp[k + 1] - 1];
        if (d == 0 || d - d != 0) found_bad(user, (int32_t)k); /* Inf - Inf and NaN are not 0 */
    }
}

#endif
