/* cpu_row.h: rows of forward substitution, for the type that each_type.h has set.
 *
 *     x(i) = (b(i) - L(i, 1:i-1) x(1:i-1)) / L(i, i),  row i being stored as row k of L
 *
 * A core does much of a row before the row before it is done, if what depends on that row is kept short.  So the last
 * column, whose x comes last, is subtracted last; a long row is summed up in four sums that do not depend on one
 * another; and the division, by far the slowest step, is that of 1 / L(i, i), which depends on no x. */

#include "base/debug.h"
#include "base/divide.h"

enum { FN(LONG) = 16 }; /* entries of a row from which on four sums pay */

static inline T FN(entry)(const trs_tri *L, int64_t p, bool cj)
{
    const T a = ((const T *)L->val)[p];
    return cj ? CONJ(a) : a;
}

/* The sum of L x over entries p..end-1. */
static inline T FN(dot)(const trs_tri *L, int64_t p, int64_t end, const T *x, int64_t xs, bool cj)
{
    const int32_t *Li = L->idx;
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; p < end - 3; p += 4) {
        s0 += FN(entry)(L, p, cj) * x[Li[p] * xs];
        s1 += FN(entry)(L, p + 1, cj) * x[Li[p + 1] * xs];
        s2 += FN(entry)(L, p + 2, cj) * x[Li[p + 2] * xs];
        s3 += FN(entry)(L, p + 3, cj) * x[Li[p + 3] * xs];
    }
    for (; p < end; p++) s0 += FN(entry)(L, p, cj) * x[Li[p] * xs];
    return (s0 + s1) + (s2 + s3);
}

static inline void FN(row)(const trs_tri *L, int32_t k, int32_t i, const T *b, int64_t bs, T *x,
                           int64_t xs, bool cj)
{
    const int32_t *Li = L->idx;
    const int64_t diagonal = L->ptr[k + 1] - 1;
    int64_t p = L->ptr[k];
    TRS_ASSERT(p <= diagonal && Li[diagonal] == i);
    T s = b[i * bs];
    if (diagonal - p >= FN(LONG)) {
        s -= FN(dot)(L, p, diagonal - 1, x, xs, cj);
        p = diagonal - 1;
    }
    for (; p < diagonal; p++) s -= FN(entry)(L, p, cj) * x[Li[p] * xs];
    x[i * xs] = FN(divide)(s, FN(entry)(L, diagonal, cj));
}

/* Solve rows begin..end-1 of L, of which row k is row topo [k] of the triangle; topo NULL is the identity. */
static inline void FN(rows_of)(const trs_tri *L, int32_t begin, int32_t end, const int32_t *topo,
                               const T *b, int64_t bs, T *x, int64_t xs, bool cj)
{
    for (int32_t k = begin; k < end; k++) FN(row)(L, k, topo ? topo[k] : k, b, bs, x, xs, cj);
}

/* The same for every right-hand side; strides of one, the common case, get machine code of their own. */
static inline void FN(all_rows)(const trs_tri *L, int32_t begin, int32_t end, const int32_t *topo,
                                const trs_job *job)
{
    for (int r = 0; r < job->nrhs; r++) {
        const T *b = (const T *)job->b.p + r * job->b.cs;
        T *x = (T *)job->x.p + r * job->x.cs;
        if (job->b.rs == 1 && job->x.rs == 1)
            FN(rows_of)(L, begin, end, topo, b, 1, x, 1, job->conj);
        else FN(rows_of)(L, begin, end, topo, b, job->b.rs, x, job->x.rs, job->conj);
    }
}
