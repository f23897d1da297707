/* merge_values.cu: the values of T' and -N, from those of T.
 *
 * Short rows are expanded again at each update, unless the pass has a recipe (merge_recipe.cu).  Terms of a
 * column are added one after the other in their order, so that the same values give the same bits.  A thread has
 * a row, a warp the rows of its threads; none waits for another. */
#include "config.h"

#include "merge_write.cuh"

using namespace short_rows;

template <class T> struct value_memory { /* of a warp */
    T factor[ENTRIES];                   /* of -N, for entries that rows are substituted for */
    T term[TERMS];
};

template <class T> struct values_work {
    const merge_pass &m;
    const row_target &c;
    warp_memory &w;
    value_memory<T> &v;
    const T *val;
    int64_t i;
    uint64_t *growth;

    __device__ void keep(int32_t e, const entry &of)
    {
        if (of.is_substituted) v.factor[e] = number<T>(0) - val[of.place] / val[of.last];
    }
    __device__ void skip(int32_t) {}

    /* The sum of the magnitudes of the lane's row of N. */
    __device__ double size_of_row(const row_batch &b) const
    {
        double sum = 0;
        for (int32_t e = b.start; e < b.end; e++)
            if (w.source[e] >= 0) sum += magnitude(v.factor[e]);
        return sum;
    }
    /* Terms that are not the first of their column to the first, in their order: of 32 terms, one lane for each column
     * adds them. */
    __device__ void add_up(int32_t count)
    {
        for (int32_t a0 = 0; a0 < count; a0 += WARP) {
            const int32_t a = a0 + lane_id(), first = a < count ? w.table[w.bucket[a]] : a;
            const unsigned same = __match_any_sync(~0u, first != a ? first : -1 - lane_id());
            if (first != a && lane_id() == __ffs((int)same) - 1) {
                TRS_ASSERT(first < a);
                T sum = v.term[first];
                for (unsigned left = same; left; left &= left - 1)
                    sum = sum + v.term[a0 + __ffs((int)left) - 1];
                v.term[first] = sum;
            }
            __syncwarp();
        }
    }
    __device__ void expanded(const row_counts &n, const row_batch &b, const row_batch &terms,
                             int32_t low, int32_t high)
    {
        T *const out = (T *)m.to_val;
        gather_terms(w, terms.count, val, v.term);
        for (int32_t a = lane_id(); a < terms.count; a += WARP)
            if (w.source[w.entry[a]] >= 0) v.term[a] = v.factor[w.entry[a]] * v.term[a];
        __syncwarp();
        add_up(terms.count);
        find_targets(c, n, b, terms, w);
        write_n(terms, low, high, w, (T *)m.n_val, [&](int32_t e) { return v.factor[e]; });
        bool bad = false;
        write_to(terms, w, out, [&](int32_t a) {
            bad |= !is_finite(v.term[a]);
            return v.term[a];
        });
        if (bad) raise_growth(growth, INFINITY);
        if (!has_lane(terms.lanes)) return;
        out[c.to + n.columns] = val[m.from.ptr[i + 1] - 1];
        raise_growth(growth, size_of_row(b));
    }
};

template <class T>
static __global__ void __launch_bounds__(THREADS)
    values_kernel(const merge_pass m, const T *val, uint64_t *growth)
{
    __shared__ value_memory<T> all[THREADS / WARP];
    const int64_t i = row_of_thread();
    warp_memory &w = memory_of_warp();
    const row_target c(m, i);
    const int64_t length = c.is_copied ? m.from.ptr[i + 1] - c.r.begin : 0;
    values_work<T> work = {m, c, w, all[threadIdx.x / WARP], val, i, growth};
    /* T(i, j) / T(j, j) may underflow, which no sum shows */
    if (c.is_row && !is_near_one(val[m.from.ptr[i + 1] - 1])) raise_growth(growth, INFINITY);
    copy_rows(val, (T *)m.to_val, c.r.begin, c.to, length, c.is_copied, w);
    expand_rows(m.from, c.r, c.is_rewritten, w, work);
}

int merge_pass_values(const merge_pass *m, trs_dtype t, const void *val, uint64_t *growth,
                      void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const auto by_pattern = [&]<class T>(T) {
        values_kernel<T>
            <<<blocks_of(m->from.n, THREADS), THREADS, 0, s>>>(*m, (const T *)val, growth);
        return launched();
    };
    int rc;
    if (m->source) rc = merge_recipe_values(m, t, val, growth, s);
    else rc = for_type(t, by_pattern);
    if (rc || !m->long_rows) return rc;
    return merge_long_values(m, t, val, growth, s);
}
