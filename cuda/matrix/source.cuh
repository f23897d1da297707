/* source.cuh: the caller's CSR, CSC or BSR on the device, as kernels read it: any base, integers of either width.
 *
 * A *line* is a row or, of a matrix by columns, a column.  Entries are numbered line by line, those of a block too:
 *
 *     line             0              1                          blocks of 2 by 2: a line has a row, or a column, of each
 *     entry            0 1 | 2 3      4 5 | 6 7                  block, and value_of gives the place of the number in val
 *     block            k   | k + 1    k   | k + 1
 *
 * `said` and `index` return the caller's numbers unchecked.  Everything else checks them: a pointer is clamped to the
 * nearest valid one, and an invalid index is -1. */
#ifndef TRS_SOURCE_CUH
#define TRS_SOURCE_CUH

#include "cuda/runtime/cuda.cuh"

/* The last k of 0 .. count - 1 with first (k) <= p, or 0; it ends for whatever first says. */
template <class F> __device__ inline int64_t last_up_to(int64_t count, int64_t p, F first)
{
    int64_t low = 0, high = count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (first(middle) <= p) low = middle;
        else high = middle;
    }
    return low;
}

struct source {
    const void *ptr, *idx;
    bool wide_ptr, wide_idx; /* 64 bits */
    int64_t n, base, blocks; /* blocks: stored ones; those of CSR and CSC have one number */
    int64_t entries;         /* stored numbers */
    int32_t block, majors;   /* rows of a block; rows, or columns, of blocks */
    bool block_by_rows;      /* numbers in a block */

    __device__ int64_t at(const void *a, bool wide, int64_t k) const
    {
        const int64_t said = wide ? ((const int64_t *)a)[k] : ((const int32_t *)a)[k];
        return (int64_t)((uint64_t)said - (uint64_t)base);
    }
    /* The pointer of major I, as it is said. */
    __device__ int64_t said(int64_t I) const { return at(ptr, wide_ptr, I); }
    /* The minor index of block k, as it is said. */
    __device__ int64_t index(int64_t k) const { return at(idx, wide_idx, k); }
    /* Is pointer I, of 0 .. majors, out of range, or behind the next? */
    __device__ bool is_wrong_pointer(int64_t I) const
    {
        const int64_t here = said(I);
        return here < 0 || here > blocks || (I == 0 && here != 0) ||
               (I == majors ? here != blocks : said(I + 1) < here);
    }
    /* The nearest that there can be. */
    __device__ int64_t first_block(int64_t I) const
    {
        return min(max(said(I), (int64_t)0), blocks);
    }

    /* The first entry of line l; l = n: the number of entries.  Row a of the blocks of I follows row a - 1 of them. */
    __device__ int64_t pointer(int64_t l) const
    {
        if (block == 1) return first_block(l);
        const int64_t I = l / block, a = l % block, here = first_block(I);
        if (I == majors) return here * block * block;
        return here * block * block + a * max(first_block(I + 1) - here, (int64_t)0) * block;
    }
    /* The line of entry p, by bisection. */
    __device__ int32_t line_of(int64_t p) const
    {
        const int64_t k = p / ((int64_t)block * block);
        const int64_t I = last_up_to(majors, k, [&](int64_t J) { return first_block(J); });
        if (block == 1) return (int32_t)I;
        const int64_t here = first_block(I), width = max(first_block(I + 1) - here, (int64_t)1);
        const int64_t a = max(p - here * block * block, (int64_t)0) / (width * block);
        return (int32_t)(I * block + min(a, (int64_t)block - 1));
    }

    struct place { /* of an entry */
        int64_t block;
        int32_t row, column; /* in the block */
    };
    __device__ place place_of(int64_t p, int32_t l) const
    {
        if (block == 1) return {p, 0, 0};
        const int64_t k = max(p - pointer(l), (int64_t)0);
        return {min(first_block(l / block) + k / block, blocks - 1), l % block,
                (int32_t)(k % block)};
    }
    /* The place in val. */
    __device__ int64_t value_of(int64_t p, int32_t l) const
    {
        if (block == 1) return p;
        const place at = place_of(p, l);
        const int64_t r = block;
        return (at.block * r + (block_by_rows ? at.row : at.column)) * r +
               (block_by_rows ? at.column : at.row);
    }
    /* The minor index of entry p in line l; -1: there is no such. */
    __device__ int32_t minor(int64_t p, int32_t l) const
    {
        const place here = place_of(p, l);
        const int64_t J = index(here.block);
        return J >= 0 && J < majors ? (int32_t)J * block + here.column : -1;
    }
};

/* Of a matrix whose pointers and indices are on the device. */
inline source source_of(const trs_mat *m)
{
    const int block = m->format == TRS_BSR ? m->block : 1;
    return {.ptr = m->ptr,
            .idx = m->idx,
            .wide_ptr = m->ptr_bits != 32,
            .wide_idx = m->idx_bits == 64,
            .n = m->n,
            .base = m->base,
            .blocks = m->nnz,
            .entries = trs_value_count(m),
            .block = block,
            .majors = (int32_t)(m->n / block),
            .block_by_rows = m->block_layout == TRS_ROW_MAJOR};
}

#endif
