/* merge_write.cuh: the places in T' and N of the rows that a warp has expanded.  The patterns (merge_pattern.cu)
 * and the values (merge_values.cu) are written to the same places. */
#ifndef TRS_MERGE_WRITE_CUH
#define TRS_MERGE_WRITE_CUH

#include "merge_short.cuh"

namespace short_rows
{
/* A lane's row, once m.to_ptr and m.n_ptr are there. */
struct row_target {
    row_of_t r;
    bool is_row, is_copied;
    bool is_rewritten; /* here, unless its terms turn out to be too many */
    int64_t to, n_to;  /* its first place in T' and in N */
    __device__ row_target(const merge_pass &m, int64_t i)
        : r(row_at(m.from, i)), is_row(i < m.from.n), is_copied(false), is_rewritten(false), to(0),
          n_to(0)
    {
        if (!is_row) return;
        to = m.to_ptr[i];
        n_to = m.n_ptr[i];
        const int64_t substituted = m.n_ptr[i + 1] - n_to;
        is_copied = substituted == 0;
        is_rewritten =
            !is_copied && substituted <= MERGE_SHORT_ROWS && r.length <= MERGE_SHORT_TERMS;
    }
};

/* By a warp: w.to_shift and w.n_shift of the rows that are expanded. */
static __device__ inline void find_targets(const row_target &c, const row_counts &n,
                                           const row_batch &b, const row_batch &terms,
                                           warp_memory &w)
{
    if (has_lane(terms.lanes)) {
        w.to_shift[lane_id()] = c.to - rank_of(w, n.first_term);
        w.n_shift[lane_id()] = c.n_to - w.before[b.start] / SUBSTITUTED;
    }
    __syncwarp();
}

/* array [place in N of each entry that a row is substituted for] = what (entry) */
template <class V, class What>
static __device__ inline void write_n(const row_batch &terms, int32_t low, int32_t high,
                                      const warp_memory &w, V *array, What what)
{
    for (int32_t e = low + lane_id(); e < high; e += WARP) {
        const int k = w.lane[e];
        if ((terms.lanes >> k & 1) && w.source[e] >= 0)
            array[w.n_shift[k] + w.before[e] / SUBSTITUTED] = what(e);
    }
}

/* array [place in T' of each term that is the first of its column] = what (term) */
template <class V, class What>
static __device__ inline void write_to(const row_batch &terms, const warp_memory &w, V *array,
                                       What what)
{
    for (int32_t a = lane_id(); a < terms.count; a += WARP)
        if (is_leading(w, a)) array[w.to_shift[lane_of_term(w, a)] + rank_of(w, a)] = what(a);
}
} // namespace short_rows

#endif
