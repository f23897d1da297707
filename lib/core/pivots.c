/* pivots.c: finds and counts bad pivots, which cannot be divided by, and treats them as the plan says.  No solver knows
 * about any of this.
 *
 * Replaced pivots are written into the values of the operators, after these were read and before the solvers see them.
 * To leave row i out, the entries of row i and column i are taken out of the pattern, but for the diagonal, which
 * becomes 1; and a solve clears b(i) (solve.c).  Zeros in the places of these entries would not do: because 0 NaN =
 * NaN, a NaN of the row, of the column or of x(i) would still reach other rows.  So the operators of such a plan are
 * those of a triangle with fewer entries, which is made of the whole one whenever other rows have to be left out: at
 * create, and at an update that finds other bad pivots than the one before. */
#ifndef T

#include "config.h"

#include "base/device.h"
#include "plan.h"
#include "matrix/on_device.h"
#include "base/noun.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 1 << 14 }; /* rows that a thread looks at at a time */

static bool is_bad(const trs_tri *t, int64_t p)
{
    double z[2];
    trs_number_get(t->val, t->dtype, p, z);
    return !isfinite(z[0]) || !isfinite(z[1]) || (z[0] == 0 && z[1] == 0);
}

typedef struct search { /* for bad pivots */
    trs_plan *p;
    /* whose rows are looked at; NULL: the caller's rows, and p->skip is marked */
    const trs_operator *op;
    const trs_tri *t;
    const void *val; /* entry e is val [src [e]], or what TRS_SRC_... says; src NULL: val [e] */
    const int64_t *src;
    bool diagonal_first; /* where the diagonal stands in a row of t */
    _Atomic int64_t bad, first;
    atomic_bool other; /* p->skip had other rows marked */
} search;

static void found_bad(search *all, int64_t k)
{
    const int64_t place = all->op ? trs_caller_row(all->op, (int32_t)k) : k;
    const int64_t row = all->p->P ? all->p->P[place] : place;
    all->bad++;
    trs_note_least(&all->first, row);
}

static void mark(search *all, int64_t k, bool bad)
{
    if (bad) found_bad(all, k);
    if (!all->p->skip || all->p->skip[k] == bad) return;
    all->p->skip[k] = bad;
    all->other = true;
}

#define TRS_BODY "core/pivots.c"
#include "base/each_type.h"

/* Count the bad pivots, find the first, and mark them in p->skip. */
static void find(search *all)
{
    static const trs_range_fn search_some[] = TRS_PER_TYPE(search_some);
    all->first = INT64_MAX;
    trs_share(trs_team(&all->p->ctx, all->t->nnz), all->t->n, ROWS, search_some[all->t->dtype],
              all);
    all->p->bad_pivots = all->bad;
    all->p->first_bad = all->bad ? all->first : -1;
}

static void replace_on_host(trs_operator *op, double value)
{
    const double z[2] = {value, 0};
    for (int32_t k = 0; k < op->tri.n; k++) {
        const int64_t diagonal = op->tri.ptr[k + 1] - 1;
        if (is_bad(&op->tri, diagonal)) trs_number_put(op->tri.val, op->tri.dtype, diagonal, z);
    }
    trs_operator_changed_on_host(op);
}

/* Do what find does for values that are on the device.  It waits for the stream that has brought them, and for no other. */
static int find_on_device(trs_plan *p, trs_operator *op)
{
    trs_context *ctx = &p->ctx;
    trs_device_view *d = &op->device;
    int64_t found[2];
    const size_t bytes = sizeof found;
    int rc = trs_gpu_use(ctx);
    if (!rc) rc = trs_operator_device(op, TRS_OP_PATTERN);
    if (!rc && !d->found) d->found = trs_gpu_new(ctx, 2, sizeof *d->found, "the count of pivots");
    if (!rc && !d->found) rc = TRS_EMEM;
    if (!rc) rc = trs_gpu_find_pivots(op, d->stream);
    if (!rc) rc = trs_gpu_copy_lines(found, bytes, d->found, bytes, bytes, 1, false, d->stream);
    if (!rc) rc = trs_gpu_wait(d->stream);
    if (rc) return rc;
    p->bad_pivots = found[0] + 1;
    p->first_bad = found[1];
    return TRS_OK;
}

static int replace(trs_operator *op, double value)
{
    if (!(op->on_host & TRS_OP_VALUES)) return trs_gpu_replace_pivots(op, value, op->device.stream);
    replace_on_host(op, value);
    return TRS_OK;
}

/* The sides have the same pivots, so one of them is searched. */
int trs_pivots_treat(trs_plan *p)
{
    trs_operator *op = &p->side[0].op;
    int rc = TRS_OK;
    if (op->on_host & TRS_OP_VALUES) {
        search all = {.p = p, .op = op, .t = &op->tri, .val = op->tri.val};
        find(&all);
    } else rc = find_on_device(p, op);
    if (!p->bad_pivots || p->pivot != TRS_PIVOT_REPLACE) return rc;
    for (int k = 0; k < p->sides && !rc; k++) rc = replace(&p->side[k].op, p->pivot_value);
    return rc;
}

/* ---- rows that are left out ---------------------------------------------------------------------- */

bool trs_pivots_other(trs_plan *p, const void *val)
{
    search all = {.p = p, .t = &p->whole, .val = val, .src = p->whole.src};
    all.diagonal_first = trs_counts_backwards(p, p->imported_is_t);
    find(&all);
    return all.other;
}

/* Does entry e of row i of the whole triangle stay? */
static bool stays(const trs_plan *p, int32_t i, int64_t e)
{
    const int32_t j = p->whole.idx[e];
    return i == j || (!p->skip[i] && !p->skip[j]);
}

int trs_pivots_leave_out(trs_plan *p, const void *val)
{
    trs_context *ctx = &p->ctx;
    const trs_tri *a = &p->whole;
    trs_tri *t = &p->imported;
    trs_tri_free(ctx, t);
    *t = (trs_tri){.n = a->n, .dtype = a->dtype};
    t->ptr = trs_new(ctx, (int64_t)a->n + 1, sizeof *t->ptr, "row pointers");
    if (!t->ptr) return TRS_EMEM;
    for (int32_t i = 0; i < a->n; i++) {
        t->ptr[i] = t->nnz;
        for (int64_t e = a->ptr[i]; e < a->ptr[i + 1]; e++) t->nnz += stays(p, i, e);
    }
    t->ptr[a->n] = t->nnz;
    int rc = trs_tri_entries(ctx, t, true, a->src || p->bad_pivots);
    for (int32_t i = 0; i < a->n && !rc; i++)
        for (int64_t e = a->ptr[i], q = t->ptr[i]; e < a->ptr[i + 1]; e++) {
            if (!stays(p, i, e)) continue;
            t->idx[q] = a->idx[e];
            if (t->src) t->src[q] = a->src ? a->src[e] : e;
            if (p->skip[i]) t->src[q] = TRS_SRC_UNIT;
            TRS_ASSERT(q < t->ptr[i + 1]);
            q++;
        }
    if (!rc) trs_tri_read_values(ctx, t, val);
    return rc;
}

int trs_pivots_import(trs_plan *p, const void *val)
{
    trs_context *ctx = &p->ctx;
    trs_free(&ctx->mem, p->imported.val); /* the other arrays become those of p->whole */
    p->imported.val = NULL;
    p->whole = p->imported;
    memset(&p->imported, 0, sizeof p->imported);
    p->skip = trs_new(ctx, p->whole.n, 1, "the rows to leave out");
    if (!p->skip) return TRS_EMEM;
    memset(p->skip, 0, (size_t)p->whole.n);
    (void)trs_pivots_other(p, val);
    return trs_pivots_leave_out(p, val);
}

int trs_pivots_put(trs_plan *p)
{
    trs_context *ctx = &p->ctx;
    if (!p->skip || !p->info.on_gpu || !p->bad_pivots) return TRS_OK;
    if (!p->skip_dev) p->skip_dev = trs_gpu_new(ctx, p->whole.n, 1, "the rows to leave out");
    if (!p->skip_dev) return TRS_EMEM;
    return trs_gpu_put(ctx, p->skip_dev, p->skip, (size_t)p->whole.n);
}

/* ---- a bad pivot as an error ------------------------------------------------------------------------ */

int64_t trs_pivot_row(const trs_plan *p, const trs_operator *op, int32_t k)
{
    const int32_t row = trs_caller_row(op, k);
    return p->P ? p->P[row] : row;
}

/* The place of the pivot of a caller's row. */
static int64_t place_of(const trs_plan *p, const trs_operator *op, int64_t row)
{
    int32_t k = 0;
    while (trs_pivot_row(p, op, k) != row) k++;
    TRS_ASSERT(k < op->tri.n);
    return op->tri.ptr[k + 1] - 1;
}

/* What is wrong with the pivot at this place. */
static const char *fault_of(const trs_tri *t, int64_t place)
{
    double z[2];
    if (t->src && t->src[place] == TRS_SRC_MISSING) return "missing";
    trs_number_get(t->val, t->dtype, place, z);
    return z[0] == 0 && z[1] == 0 ? "zero" : "not finite";
}

int trs_pivots_report(trs_plan *p)
{
    trs_operator *op = &p->side[0].op;
    char where[60] = "diagonal";
    if (!p->bad_pivots || p->pivot != TRS_PIVOT_FAIL) return TRS_OK;
    const int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (rc) return rc;
    const int64_t place = place_of(p, op, p->first_bad);
    for (int32_t k = 0; p->P && k < op->tri.n; k++)
        if (p->P[k] == p->first_bad)
            snprintf(where, sizeof where, "its pivot, in column %d,", p->Q[k] + p->ctx.base);
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": %s is %s (%" PRId64 " such %s)",
                    p->first_bad + p->ctx.base, where, fault_of(&op->tri, place), p->bad_pivots,
                    trs_noun(p->bad_pivots, "row", "rows"));
}

#else

static void FN(search_some)(void *user, int64_t begin, int64_t end)
{
    search *all = user;
    const int64_t *Lp = all->t->ptr, *src = all->src;
    const T *Lx = all->val;
    const bool last = !all->diagonal_first, always = all->p->skip;
    for (int64_t k = begin; k < end; k++) {
        const int64_t e = last ? Lp[k + 1] - 1 : Lp[k], at = src ? src[e] : e;
        const T d = at >= 0 ? Lx[at] : (T)(at == TRS_SRC_UNIT);
        const bool bad = d == 0 || d - d != 0; /* Inf - Inf and NaN are not 0 */
        if (bad || always) mark(all, k, bad);
    }
}

#endif
