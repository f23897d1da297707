/* canonical.c: takes over a matrix that is in canonical form already, in one pass.
 *
 * Most callers have such a matrix: every row of CSR, or column of CSC, holds its diagonal and nothing of the other
 * triangle, and its indices ascend, so that the diagonal stands last or first.  Below a row stands for either.
 * The matrix is checked and copied block by block, by all threads.  A *descent* is an entry p with
 * idx [p] <= idx [p-1].  Descents are counted over blocks of entries, without regard to where rows begin, because a
 * loop without branches is vectorised; those at the beginnings of rows are counted by themselves.  If both counts are
 * the same, all rows ascend.  Then, with the diagonal at one end of each row and an index in range at the other, no
 * index is wrong and none is stored twice.
 * Whatever is not so, errors too, is left to check.c and import.c, which find the words for it. */
#include "config.h"

#include "base/parallel.h"
#include "canonical.h"

#include <stdatomic.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { BLOCK = 8192 }; /* entries that are taken at a time, which stay in the first cache */

typedef struct intake {
    const trs_mat *m;
    trs_tri *t;
    bool diagonal_last;
    bool wide_ptr, wide_idx; /* 64 bits, not 32 */
    atomic_bool good;        /* nothing was found yet that is not canonical */
} intake;

/* a [k].  Each width has code of its own, since `wide` is a constant where this is inlined. */
static ALWAYS_INLINE int64_t at(const void *a, bool wide, int64_t k)
{
    return wide ? ((const int64_t *)a)[k] : ((const int32_t *)a)[k];
}

static ALWAYS_INLINE int64_t minus(int64_t a, int64_t b) /* of numbers not yet looked at */
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Take the pointers of rows begin..end-1, less the base.  Returns false if a row is empty or runs backwards. */
static ALWAYS_INLINE bool take_pointers(const intake *in, int64_t begin, int64_t end, bool wide)
{
    const void *ptr = in->m->ptr;
    const int64_t base = in->m->base;
    bool bad = false;
    for (int64_t i = begin; i < end; i++) {
        const int64_t here = at(ptr, wide, i);
        bad |= here >= at(ptr, wide, i + 1);
        if (in->t->ptr != ptr) in->t->ptr[i] = minus(here, base);
    }
    return !bad;
}

/* Take the indices of entries begin..end-1, and return how many descents there are among them. */
static ALWAYS_INLINE int64_t take_columns(const intake *in, int64_t begin, int64_t end, bool wide,
                                          bool copy)
{
    const void *idx = in->m->idx;
    const int64_t base = in->m->base;
    int32_t *to = in->t->idx;
    uint32_t descents = 0;
#pragma omp simd reduction(+ : descents)
    for (int64_t p = begin; p < end; p++) {
        descents += at(idx, wide, p) <= at(idx, wide, p - 1);
        if (copy) to[p] = (int32_t)minus(at(idx, wide, p), base);
    }
    return descents;
}

/* Return how many of the rows begin+1..end-1 begin with a descent, or -1 if a row of begin..end-1 lacks its diagonal at
 * one end or has an index out of range at the other. */
static ALWAYS_INLINE int64_t check_ends(const intake *in, int64_t begin, int64_t end, bool wide)
{
    const void *idx = in->m->idx;
    const int64_t *Lp = in->t->ptr, base = in->m->base, most = in->m->n - 1 + base;
    int64_t before = INT64_MIN, descents = 0;
    bool bad = false;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = at(idx, wide, Lp[i]), last = at(idx, wide, Lp[i + 1] - 1);
        descents += first <= before;
        bad |=
            in->diagonal_last ? first < base || last != i + base : last > most || first != i + base;
        before = last;
    }
    return bad ? -1 : descents;
}

static ALWAYS_INLINE bool take_majors(const intake *in, int64_t begin, int64_t end, bool wide,
                                      bool copy)
{
    const int64_t p = in->t->ptr[begin], q = in->t->ptr[end];
    const int64_t expected = check_ends(in, begin, end, wide);
    const size_t size = trs_size(in->t->dtype);
    int64_t descents = 0;
    if (expected < 0) return false;
    if (copy) in->t->idx[p] = (int32_t)minus(at(in->m->idx, wide, p), in->m->base);
    for (int64_t a = p; a < q; a += BLOCK) {
        const int64_t z = q - a < BLOCK ? q : a + BLOCK;
        descents += take_columns(in, a == p ? a + 1 : a, z, wide, copy);
        if (!copy) continue;
        memcpy((char *)in->t->val + (size_t)a * size, (const char *)in->m->val + (size_t)a * size,
               (size_t)(z - a) * size);
    }
    return descents == expected;
}

/* ---- the same, shared among threads ---------------------------------------------------------- */

static void pointers_from(void *user, int64_t begin, int64_t end)
{
    intake *in = user;
    if (!(in->wide_ptr ? take_pointers(in, begin, end, true)
                       : take_pointers(in, begin, end, false)))
        in->good = false;
}

static bool all_pointers(const trs_context *ctx, intake *in)
{
    const int64_t n = in->m->n, base = in->m->base;
    const void *ptr = in->m->ptr;
    if (at(ptr, in->wide_ptr, 0) != base || minus(at(ptr, in->wide_ptr, n), base) != in->m->nnz)
        return false;
    in->t->ptr[n] = in->m->nnz;
    trs_share(trs_team(ctx, n), n, BLOCK, pointers_from, in);
    return in->good;
}

static void majors_from(void *user, int64_t begin, int64_t end)
{
    intake *in = user;
    bool good;
    if (!in->good) return;
    if (!in->m->val) good = take_majors(in, begin, end, false, false);
    else if (in->wide_idx) good = take_majors(in, begin, end, true, true);
    else good = take_majors(in, begin, end, false, true);
    if (!good) in->good = false;
}

static bool all_majors(const trs_context *ctx, intake *in)
{
    const int64_t n = in->m->n, each = 1 + (int64_t)((double)n * 8 * BLOCK / (double)in->m->nnz);
    trs_share(trs_team(ctx, in->m->nnz), n, each, majors_from, in);
    return in->good;
}

/* Most matrices that are not canonical show it in one of some lines, before anything large is allocated. */
static bool looks_canonical(const intake *in)
{
    enum { LINES = 64 };
    const int64_t n = in->m->n, step = 1 + (n - 1) / LINES;
    for (int64_t i = 0; i < n; i += step)
        if (check_ends(in, i, i + 1, in->wide_idx) < 0) return false;
    return true;
}

static int take_all(trs_context *ctx, intake *in)
{
    trs_tri *t = in->t;
    t->ptr = trs_new_touched(ctx, in->m->n + 1, sizeof *t->ptr, "row pointers");
    if (!t->ptr) return TRS_EMEM;
    if (!all_pointers(ctx, in) || !looks_canonical(in)) return TRS_EMATRIX;
    if (trs_tri_entries(ctx, t, true, false)) return TRS_EMEM;
    return all_majors(ctx, in) ? TRS_OK : TRS_EMATRIX;
}

int trs_canonical_import(trs_context *ctx, const trs_mat *m, trs_tri *t)
{
    intake in = {.m = m,
                 .t = t,
                 .diagonal_last = (m->format == TRS_CSR) == !!(m->kind & TRS_LOWER),
                 .wide_ptr = m->ptr_bits != 32,
                 .wide_idx = m->idx_bits == 64,
                 .good = true};
    *t = (trs_tri){.n = (int32_t)m->n, .nnz = m->nnz, .dtype = m->dtype};
    if ((m->format != TRS_CSR && m->format != TRS_CSC) || m->kind & TRS_UNIT || m->n < 1 ||
        m->nnz < m->n || !m->ptr || !m->idx)
        return TRS_EMATRIX;
    int rc = take_all(ctx, &in);
    if (rc) trs_tri_free(ctx, t);
    return rc;
}

bool trs_is_canonical(const trs_context *ctx, trs_tri *t)
{
    const trs_mat m = {.n = t->n, .nnz = t->nnz, .ptr = t->ptr, .idx = t->idx};
    intake in = {.m = &m, .t = t, .diagonal_last = true, .wide_ptr = true, .good = true};
    if (t->n < 1 || t->nnz < t->n) return t->n == 0 && t->nnz == 0;
    return all_pointers(ctx, &in) && all_majors(ctx, &in);
}
