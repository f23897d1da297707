/* rows.cuh: the rows of op(A), in any storage format of A, one after the other through the lanes of a warp.
 *
 * A warp has 32 / lanes consecutive rows at a time; the mean length of a row decides the number of lanes.  The caller
 * provides the `sum` that a row adds up, and the lanes of the row combine it by shuffles in a fixed order.  A row
 * that is much longer than the others is summed by all lanes of its warp together.  The choice depends on the row
 * alone, so the same input gives the same bits.  No warp waits for another one.
 * Bytes: those of the entries, in order where the rows are lines of A, and an element of x for each of them. */
#ifndef TRS_ROWS_CUH
#define TRS_ROWS_CUH

#include "twice.cuh"

extern "C" {
#include "accuracy/on_device.h"
}

template <class T> struct rows_of {
    int64_t n;
    int32_t block;   /* rows of a block; 1 unless A is BSR */
    const void *ptr; /* of a row, or a row of blocks; NULL: each row has n entries, A is DENSE */
    const void *idx; /* of an entry, or block; NULL: the same */
    const int64_t *place; /* of an entry, or block, in val; NULL: they are in order */
    bool wide_ptr, wide_idx;
    int64_t base;
    /* from a number of val to that of the next row, and column; of BSR: within a block */
    int64_t down, right;
    const T *val;
    unsigned kind; /* of op(A) */
    bool conj;
    int lanes;       /* of a row: a power of 2 */
    int64_t longest; /* that these lanes sum by themselves */

    __device__ static int64_t at(const void *a, bool wide, int64_t k)
    {
        return wide ? ((const int64_t *)a)[k] : ((const int32_t *)a)[k];
    }
    __device__ int64_t begin(int64_t line) const
    {
        return ptr ? at(ptr, wide_ptr, line) - base : 0;
    }
    __device__ int64_t end(int64_t line) const
    {
        return ptr ? at(ptr, wide_ptr, line + 1) - base : n;
    }
    __device__ bool has(int64_t i, int64_t j) const
    {
        if (kind & TRS_LOWER) return i >= j;
        return !(kind & TRS_UPPER) || i <= j;
    }
    __device__ bool unit() const { return kind & TRS_UNIT; }

    /* Where the number of entry q of row i stands in val, or the first one of block q. */
    __device__ int64_t number_of(int64_t i, int64_t q) const
    {
        if (!idx) return i * down + q * right;
        return (place ? place[q] : q) * block * block;
    }

    /* The column of number t of row i, counted from the first one of its line, and where its value is in val. */
    __device__ int64_t column(int64_t i, int64_t from, int64_t t, int64_t *v) const
    {
        const int64_t a = block == 1 ? 0 : i % block;
        const int64_t c = block == 1 ? 0 : (uint32_t)t % (uint32_t)block;
        const int64_t q = from + (block == 1 ? t : (uint32_t)t / (uint32_t)block);
        *v = number_of(i, q) + a * down + c * right;
        return (idx ? at(idx, wide_idx, q) - base : q) * block + c;
    }

    /* Adds every step-th entry (i, j) = a of row i, from number `first` on, by add (j, a, load (j)).  A few are on their
     * way at a time, since the load of x waits for that of the index. */
    template <class L, class F>
    __device__ void each(int64_t i, int64_t first, int64_t step, L load, F add) const
    {
        constexpr int AHEAD = 4;
        const int64_t line = block == 1 ? i : i / block;
        const int64_t from = begin(line), count = (end(line) - from) * block;
        for (int64_t t = first; t < count; t += AHEAD * step) {
            int64_t j[AHEAD];
            T a[AHEAD];
            decltype(load(0)) x[AHEAD];
            bool in[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                int64_t v = 0;
                in[k] = t + k * step < count;
                if (in[k]) j[k] = column(i, from, t + k * step, &v);
                in[k] = in[k] && has(i, j[k]);
                if (in[k]) a[k] = val[v];
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                if (in[k]) x[k] = load(j[k]);
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                if (in[k]) add(j[k], conj_if(conj, a[k]), x[k]);
        }
    }
    __device__ int64_t length(int64_t i) const
    {
        const int64_t line = block == 1 ? i : i / block;
        return (end(line) - begin(line)) * block;
    }
};

/* Calls done (i, sum) by one lane of each row i, with all that add (sum, i, j, a, load (j)) has added for the entries
 * a = (i, j).  All lanes of the warp call this together. */
template <class S, class M, class L, class F, class G>
static __device__ inline void each_row(const M &m, L load, F add, G done)
{
    const int lane = threadIdx.x % 32, own = lane % m.lanes, each = 32 / m.lanes;
    const int64_t warp = index_of_thread() / 32, warps = all_threads() / 32;
    TRS_ASSERT(m.lanes > 0 && 32 % m.lanes == 0);
    const auto add_row = [&](S &sum, int64_t i, int first, int step) {
        m.each(i, first, step, load, [&](int64_t j, auto a, auto x) { add(sum, i, j, a, x); });
    };
    for (int64_t first = warp * each; first < m.n; first += warps * each) {
        const int64_t i = first + lane / m.lanes;
        const bool there = i < m.n, is_long = there && m.length(i) > m.longest;
        S sum;
        if (there && !is_long) add_row(sum, i, own, m.lanes);
        __syncwarp();
        for (int by = m.lanes / 2; by > 0; by /= 2) sum.add_from(by);
        for (unsigned left = __ballot_sync(~0u, is_long && own == 0); left; left &= left - 1) {
            const int owner = __ffs((int)left) - 1;
            S whole;
            add_row(whole, first + owner / m.lanes, lane, 32);
            __syncwarp();
            for (int by = 16; by > 0; by /= 2) whole.add_from(by);
            if (lane == owner) sum = whole;
        }
        if (there && own == 0) done(i, sum);
        __syncwarp();
    }
}

/* ---- for the host ------------------------------------------------------------------------------------------- */

/* So many lanes that each has two entries or more of a row of the mean length; and more where a matrix has too few rows to
 * keep a device busy. */
static inline int lanes_for(int64_t n, double mean)
{
    enum { BUSY = 1 << 18 };
    int lanes = 1;
    while (lanes < 32 && (2 * lanes <= mean || n * lanes < BUSY)) lanes *= 2;
    return lanes;
}

/* TRS_LOWER becomes TRS_UPPER in the transpose. */
static inline unsigned kind_of(unsigned kind, trs_op op)
{
    unsigned other = kind & TRS_UNIT;
    if (op == TRS_N) return kind;
    if (kind & TRS_LOWER) other |= TRS_UPPER;
    if (kind & TRS_UPPER) other |= TRS_LOWER;
    return other;
}

/* Numbers of val from one row of op(A), or of its blocks, to the next, and from column to column. */
template <class T> static inline void set_steps(rows_of<T> *m, const trs_mat *A, bool transposed)
{
    int64_t down = 1, right = A->ld;
    if (A->format == TRS_BSR) {
        const bool by_rows = A->block_layout == TRS_ROW_MAJOR;
        down = by_rows ? m->block : 1;
        right = by_rows ? 1 : m->block;
    }
    m->down = transposed ? right : down;
    m->right = transposed ? down : right;
}

static inline double mean_row(const trs_lines *l)
{
    const double block = l->A.format == TRS_BSR ? l->A.block : 1, n = (double)l->A.n;
    return n > 0 ? (double)l->A.nnz * block * block / n : 0;
}

template <class T> static inline rows_of<T> as_rows(const trs_lines *l)
{
    enum { ROUNDS = 8 }; /* of the lanes of a row, before it counts as long */
    const trs_mat *A = &l->A;
    const bool dense = A->format == TRS_DENSE;
    rows_of<T> m = {};
    m.n = A->n;
    m.block = A->format == TRS_BSR ? A->block : 1;
    m.val = (const T *)A->val;
    m.kind = kind_of(A->kind, l->op);
    m.conj = l->op == TRS_H;
    set_steps(&m, A, l->op != TRS_N);
    m.lanes = lanes_for(m.n, mean_row(l));
    m.longest = (int64_t)ROUNDS * m.lanes;
    if (dense) { /* threads beside each other read numbers beside each other */
        m.lanes = m.right == 1 ? 32 : 1;
        m.longest = m.n;
    } else if (l->across) {
        m.ptr = l->ptr, m.idx = l->idx, m.place = l->place;
        m.wide_ptr = true;
    } else {
        m.ptr = A->ptr, m.idx = A->idx;
        m.wide_ptr = A->ptr_bits != 32, m.wide_idx = A->idx_bits == 64;
        m.base = A->base;
    }
    return m;
}

/* Blocks for all rows, but no more than `most`. */
template <class T> static inline unsigned blocks_for(const rows_of<T> &m, unsigned most)
{
    const int64_t wanted = (m.n * m.lanes + PLAIN - 1) / PLAIN;
    return wanted < (int64_t)most ? (unsigned)wanted : most;
}

#endif
