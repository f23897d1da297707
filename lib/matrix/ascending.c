/* ascending.c: takes one triangle of a matrix whose indices ascend, as most that have both triangles do.
 *
 * Of each row of CSR, or column of CSC, the triangle is the part before the diagonal or after it:
 *
 *     indices   j < i  | i |  j > i        One pass over the indices finds where i is, and that they ascend; a second one copies
 *                                          the part, its values, and those of the diagonal, which may be missing.
 *
 * Below, a row is either of them.  Rows are shared among threads.  Any other matrix is left to import.c. */
#include "config.h"

#include "base/number/clones.h"
#include "base/parallel.h"
#include "canonical.h"

#include <stdatomic.h>
#include <string.h>

enum { MAJORS = 1024 }; /* rows that a thread takes at a time */

typedef struct intake {
    const trs_mat *m;
    trs_tri *t;
    bool before;      /* the part before the diagonal is wanted */
    atomic_bool good; /* all rows ascend so far */
} intake;

/* ptr [i+1] = the number of wanted entries of row i, and one for the diagonal.  Returns false if a row does not ascend. */
TRS_INLINE bool count(const intake *in, int64_t begin, int64_t end, int bits)
{
    const trs_mat *m = in->m;
    bool bad = false;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = trs_major_begin(m, i), last = trs_major_end(m, i), row = i + m->base;
        int64_t less = 0, own = 0, was = -1;
        for (int64_t p = first; p < last; p++) {
            const int64_t j = trs_index(m->idx, bits, p);
            bad |= j <= was;
            less += j < row;
            own += j == row;
            was = j;
        }
        in->t->ptr[i + 1] = 1 + (in->before ? less : last - first - less - own);
    }
    return !bad;
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    intake *in = user;
    if (!(in->m->idx_bits == 64 ? count(in, begin, end, 64) : count(in, begin, end, 32)))
        in->good = false;
}

/* Entry q of t is the diagonal of row i, which is entry p of m, if that has one. */
static void take_diagonal(const intake *in, int64_t i, int64_t q, int64_t p, bool stored)
{
    trs_tri *t = in->t;
    const size_t size = trs_size(t->dtype);
    const bool unit = in->m->kind & TRS_UNIT;
    const double value[2] = {unit, 0};
    t->idx[q] = (int32_t)i;
    if (unit) t->src[q] = TRS_SRC_UNIT;
    else t->src[q] = stored ? p : TRS_SRC_MISSING;
    if (t->src[q] < 0) trs_number_put(t->val, t->dtype, q, value);
    else
        memcpy((char *)t->val + (size_t)q * size, (const char *)in->m->val + (size_t)p * size,
               size);
}

TRS_INLINE void take(const intake *in, int64_t begin, int64_t end, int bits)
{
    const trs_mat *m = in->m;
    trs_tri *t = in->t;
    const size_t size = trs_size(t->dtype);
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = trs_major_begin(m, i), last = trs_major_end(m, i);
        const int64_t wanted = t->ptr[i + 1] - t->ptr[i] - 1;
        const int64_t p = in->before ? first : last - wanted, q = t->ptr[i] + !in->before;
        const int64_t diagonal = in->before ? p + wanted : p - 1;
        const bool stored = diagonal >= first && diagonal < last &&
                            trs_index(m->idx, bits, diagonal) == i + m->base;
        for (int64_t k = 0; k < wanted; k++) {
            t->idx[q + k] = (int32_t)(trs_index(m->idx, bits, p + k) - m->base);
            t->src[q + k] = p + k;
        }
        memcpy((char *)t->val + (size_t)q * size, (const char *)m->val + (size_t)p * size,
               (size_t)wanted * size);
        take_diagonal(in, i, in->before ? q + wanted : t->ptr[i], diagonal, stored);
    }
}

static void take_some(void *user, int64_t begin, int64_t end)
{
    const intake *in = user;
    if (in->m->idx_bits == 64) take(in, begin, end, 64);
    else take(in, begin, end, 32);
}

int trs_ascending_import(trs_context *ctx, const trs_mat *m, bool before, trs_tri *t)
{
    intake in = {.m = m, .t = t, .before = before, .good = true};
    const int64_t n = m->n;
    *t = (trs_tri){.n = (int32_t)n, .dtype = m->dtype};
    const bool lines = m->format == TRS_CSR || m->format == TRS_CSC;
    if (!lines || !(m->kind & (TRS_LOWER | TRS_UPPER)) || n == 0) return TRS_EMATRIX;
    t->ptr = trs_new(ctx, n + 1, sizeof *t->ptr, "row pointers");
    int rc = t->ptr ? TRS_OK : TRS_EMEM;
    if (!rc) trs_share(trs_team(ctx, trs_major_begin(m, n - 1)), n, MAJORS, count_some, &in);
    if (!rc && !in.good) rc = TRS_EMATRIX;
    if (!rc) {
        t->ptr[0] = 0;
        for (int64_t i = 0; i < n; i++) t->ptr[i + 1] += t->ptr[i];
        t->nnz = t->ptr[n];
        rc = trs_tri_entries(ctx, t, true, true);
    }
    if (!rc) trs_share(trs_team(ctx, t->nnz), n, MAJORS, take_some, &in);
    if (rc) trs_tri_free(ctx, t);
    return rc;
}
