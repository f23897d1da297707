/* ilu_rows.c: the numbers of ILU(k) and IC(k), row by row, in the pattern that is given.
 *
 *     ILU, row i, the IKJ form of elimination:   for k < i in row i, ascending:
 *         l(i, k) = a(i, k) / u(k, k);   a(i, j) -= l(i, k) u(k, j)  for j > k, where row i has j
 *     IC, row i:
 *         l(i, k) = (a(i, k) - sum_(j < k) l(i, j) conj (l(k, j))) / l(k, k)  for k < i in row i
 *         l(i, i) = sqrt (a(i, i) - sum_(j < i) |l(i, j)|^2)
 *
 * Row i reads the rows k that it has entries in, which are all of earlier levels of L.  So the rows of a level are
 * independent, and wide levels are shared among threads.  A row is computed by one thread in one order, so that the bits do
 * not depend on the number of threads.  where [j] is 1 + the place of column j in the row that is being computed, and 0
 * when that row has no entry there.  A bad pivot spoils later rows only; so the first bad row went wrong by itself.
 * Of the pivot row k and the row i, the shorter one is scanned: where row k is much longer, the columns of row i are searched
 * in it.  So an arrow, whose rows all have the long one for a pivot, takes n log n steps instead of n^2.  The terms of an entry,
 * and their order, are the same in both ways.
 * Sources: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 10.3; Meijerink, van der Vorst, An iterative
 * solution method for linear systems of which the coefficient matrix is a symmetric M-matrix, Math. Comp. 31 (1977)
 * 148-162. */
#ifndef T

#include "config.h"

#include "ilu.h"
#include "base/debug.h"

#include <math.h>

/* In multiplications: a level with fewer than WIDE is computed by one thread, since handing rows over would cost more; a
 * chunk has at least CHUNK. */
enum { WIDE = 20000, CHUNK = 10000 };

enum { LONGER = 16 }; /* a search takes about as long as so many entries of a scan */

/* Is a pivot row of this length to be searched for so many columns? */
static bool is_searched(int64_t pivot, int64_t columns)
{
    return pivot > LONGER * columns;
}

#define TRS_BODY "factor/incomplete/ilu_rows.c"
#include "base/each_type.h"

typedef trs_ilu_fault (*row_fn)(const trs_ilu_rows *, int32_t, int32_t *, int64_t *);
static const row_fn lu_row[] = TRS_PER_TYPE(lu_row), cholesky_row[] = TRS_PER_TYPE(cholesky_row);

/* ---- stages --------------------------------------------------------------------------------- */

/* Multiplications of row i, at most. */
static int64_t work_of(const trs_ilu_rows *f, int32_t i)
{
    const int64_t *Lp = f->t.ptr;
    int64_t work = Lp[i + 1] - Lp[i];
    for (int64_t p = Lp[i]; p < f->diag[i]; p++) {
        const int32_t k = f->t.idx[p];
        TRS_ASSERT(k < i);
        const int64_t pivot = f->cholesky ? f->diag[k] - Lp[k] : Lp[k + 1] - f->diag[k];
        const int64_t columns = f->cholesky ? p - Lp[i] : Lp[i + 1] - p;
        work += trs_min(pivot, LONGER * columns);
    }
    return work;
}

int trs_ilu_stages(trs_context *ctx, trs_ilu_rows *f, const int32_t *topo, const int32_t *lv_ptr,
                   int32_t levels)
{
    const int64_t most = 4 * (int64_t)f->threads;
    f->stage = trs_new(ctx, levels, sizeof *f->stage, "stages");
    f->progress = trs_new(ctx, (int64_t)levels + 1, sizeof *f->progress, "the progress of stages");
    if (!f->stage || !f->progress) return TRS_EMEM;
    f->topo = topo;
    int64_t all = 0;
    for (int32_t l = 0; l < levels; l++) {
        int64_t work = 0;
        for (int32_t k = lv_ptr[l]; k < lv_ptr[l + 1]; k++) work += work_of(f, topo[k]);
        all += work;
        int64_t chunks = 1;
        if (work >= WIDE && f->threads > 1)
            chunks = trs_min(trs_min(work / CHUNK, most), lv_ptr[l + 1] - lv_ptr[l]);
        TRS_ASSERT(chunks >= 1 && lv_ptr[l + 1] > lv_ptr[l]);
        trs_level_stage *last = f->stages > 0 ? &f->stage[f->stages - 1] : NULL;
        if (last && chunks == 1 && last->chunks == 1) last->end = lv_ptr[l + 1];
        else f->stage[f->stages++] = (trs_level_stage){lv_ptr[l], lv_ptr[l + 1], (int32_t)chunks};
    }
    if (all < TRS_SHARED_FROM) f->threads = 1;
    return TRS_OK;
}

static const char phase[] = "factorization";

/* ---- the sweep ------------------------------------------------------------------------------ */

typedef struct sweep {
    const trs_ilu_sweep *s;
    trs_ilu_outcome outcome[TRS_ILU_THREADS]; /* of each thread */
    int64_t work;                             /* of the first thread, since its last step */
    atomic_bool canceled;
} sweep;

/* Row k of the level order is next.  The first thread, which is that of the caller, tells so from time to time. */
static void watch(sweep *w, int32_t k, int32_t i)
{
    const trs_ilu_sweep *s = w->s;
    if (trs_is_time(&w->work, s->work(s->of, i)) && trs_step(phase, (double)k / s->n))
        atomic_store(&w->canceled, true);
}

/* Compute rows begin..end-1 of the level order. */
static void do_rows(void *user, int thread, int32_t begin, int32_t end)
{
    sweep *w = user;
    const trs_ilu_sweep *s = w->s;
    trs_ilu_outcome *o = &w->outcome[thread];
    for (int32_t k = begin; k < end && !atomic_load(&w->canceled); k++) {
        const int32_t i = s->topo[k];
        TRS_ASSERT(i >= 0 && i < s->n);
        if (thread == 0) watch(w, k, i);
        const trs_ilu_fault fault = s->row(s->of, thread, i, &o->boosted);
        o->bad += fault != TRS_ILU_GOOD;
        if (fault && i < o->first) o->first = i, o->fault = fault;
    }
}

trs_ilu_outcome trs_ilu_sweep_run(const trs_ilu_sweep *s)
{
    sweep w = {.s = s};
    for (int t = 0; t < s->threads; t++) w.outcome[t].first = s->n;
    if (trs_step(phase, 0)) atomic_store(&w.canceled, true);
    if (s->stages > 1) trs_stages_run(s->stage, s->stages, s->progress, s->threads, do_rows, &w);
    else do_rows(&w, 0, 0, s->n);
    trs_ilu_outcome all = w.outcome[0];
    for (int t = 1; t < s->threads; t++) {
        all.boosted += w.outcome[t].boosted;
        all.bad += w.outcome[t].bad;
        if (w.outcome[t].first < all.first)
            all.first = w.outcome[t].first, all.fault = w.outcome[t].fault;
    }
    return all;
}

static trs_ilu_fault do_row(const void *of, int thread, int32_t i, int64_t *boosted)
{
    const trs_ilu_rows *f = of;
    const row_fn row = (f->cholesky ? cholesky_row : lu_row)[f->t.dtype];
    return row(f, i, f->where + (int64_t)f->t.n * thread, boosted);
}

/* For a row of length l there are about l^2 multiplications. */
static int64_t work_about(const void *of, int32_t i)
{
    const trs_tri *t = &((const trs_ilu_rows *)of)->t;
    return (t->ptr[i + 1] - t->ptr[i]) * (t->ptr[i + 1] - t->ptr[i]);
}

trs_ilu_outcome trs_ilu_compute(const trs_ilu_rows *f)
{
    const trs_ilu_sweep s = {.n = f->t.n,
                             .topo = f->topo,
                             .stages = f->stages,
                             .stage = f->stage,
                             .progress = f->progress,
                             .threads = f->threads,
                             .of = f,
                             .row = do_row,
                             .work = work_about};
    return trs_ilu_sweep_run(&s);
}

#else

static double FN(size)(T z)
{
    return hypot((double)creal(z), (double)cimag(z));
}

static bool FN(finite)(T z)
{
    return isfinite(creal(z)) && isfinite(cimag(z));
}

/* Set where for row i.  Returns the size below which its pivot is replaced: boost times its largest entry. */
static double FN(enter)(const trs_ilu_rows *f, int32_t i, int32_t *where)
{
    const T *Lx = f->t.val;
    const int64_t begin = f->t.ptr[i];
    double largest = 0;
    for (int64_t p = begin; p < f->t.ptr[i + 1]; p++) {
        TRS_ASSERT(where[f->t.idx[p]] == 0);
        where[f->t.idx[p]] = (int32_t)(p - begin) + 1;
        if (FN(size)(Lx[p]) > largest) largest = FN(size)(Lx[p]);
    }
    return f->boost * largest;
}

/* Clear where again.  Is every number of row i finite? */
static bool FN(leave)(const trs_ilu_rows *f, int32_t i, int32_t *where)
{
    const T *Lx = f->t.val;
    bool good = true;
    for (int64_t p = f->t.ptr[i]; p < f->t.ptr[i + 1]; p++) {
        where[f->t.idx[p]] = 0;
        good &= FN(finite)(Lx[p]);
    }
    return good;
}

/* a(i, j) -= l u(k, j), where p is the place of l = l(i, k). */
static void FN(eliminate)(const trs_ilu_rows *f, int32_t i, int64_t p, const int32_t *where)
{
    const int32_t *Li = f->t.idx, k = Li[p];
    T *Lx = f->t.val, *x = Lx + f->t.ptr[i] - 1; /* x [where [j]] = a(i, j) */
    const T l = Lx[p];
    const int64_t begin = f->diag[k] + 1, end = f->t.ptr[k + 1], last = f->t.ptr[i + 1];
    if (!is_searched(end - begin, last - p - 1)) {
        for (int64_t q = begin; q < end; q++)
            if (where[Li[q]]) x[where[Li[q]]] -= l * Lx[q];
        return;
    }
    for (int64_t r = p + 1, q = begin; r < last; r++) {
        q = trs_first_from(Li, q, end, Li[r]);
        if (q < end && Li[q] == Li[r]) Lx[r] -= l * Lx[q];
    }
}

static trs_ilu_fault FN(lu_row)(const trs_ilu_rows *f, int32_t i, int32_t *where, int64_t *boosted)
{
    const int64_t *Lp = f->t.ptr, *diag = f->diag;
    T *Lx = f->t.val;
    const double least = FN(enter)(f, i, where);
    Lx[diag[i]] *= (T)(1 + f->shift);
    for (int64_t p = Lp[i]; p < diag[i]; p++) {
        Lx[p] /= Lx[diag[f->t.idx[p]]];
        FN(eliminate)(f, i, p, where);
    }
    T *d = &Lx[diag[i]];
    if (!FN(leave)(f, i, where)) return TRS_ILU_INFINITE;
    const double size = FN(size)(*d);
    if (size < least) {
        *d = size > 0 ? (T)(*d / size * least) : (T)least; /* of the same sign or phase */
        ++*boosted;
    }
    return *d == 0 ? TRS_ILU_ZERO : TRS_ILU_GOOD;
}

/* a(i, k) - sum_(j < k) l(i, j) conj (l(k, j)), where p is the place of a(i, k). */
static T FN(reduced)(const trs_ilu_rows *f, int32_t i, int64_t p, const int32_t *where)
{
    const int32_t *Li = f->t.idx, k = Li[p];
    const T *Lx = f->t.val, *x = Lx + f->t.ptr[i] - 1; /* x [where [j]] = l(i, j) */
    const int64_t begin = f->t.ptr[k], end = f->diag[k], first = f->t.ptr[i];
    T s = Lx[p];
    if (!is_searched(end - begin, p - first)) {
        for (int64_t q = begin; q < end; q++)
            if (where[Li[q]]) s -= x[where[Li[q]]] * CONJ(Lx[q]);
        return s;
    }
    for (int64_t r = first, q = begin; r < p; r++) {
        q = trs_first_from(Li, q, end, Li[r]);
        if (q < end && Li[q] == Li[r]) s -= Lx[r] * CONJ(Lx[q]);
    }
    return s;
}

static trs_ilu_fault FN(cholesky_row)(const trs_ilu_rows *f, int32_t i, int32_t *where,
                                      int64_t *boosted)
{
    const int64_t *Lp = f->t.ptr, *diag = f->diag;
    T *Lx = f->t.val;
    const double least = FN(enter)(f, i, where);
    double d = (double)creal(Lx[diag[i]]) * (1 + f->shift);
    for (int64_t p = Lp[i]; p < diag[i]; p++) {
        const T s = Lx[p] = FN(reduced)(f, i, p, where) / Lx[diag[f->t.idx[p]]];
        d -= (double)(creal(s) * creal(s) + cimag(s) * cimag(s));
    }
    if (f->boost > 0 && d < least) d = least, ++*boosted;
    Lx[diag[i]] = (T)sqrt(d > 0 ? d : 0);
    if (!FN(leave)(f, i, where) || !isfinite(d)) return TRS_ILU_INFINITE;
    if (Lx[diag[i]] != 0) return TRS_ILU_GOOD;
    return d < 0 ? TRS_ILU_NEGATIVE : TRS_ILU_ZERO;
}

#endif
