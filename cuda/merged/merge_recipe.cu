/* merge_recipe.cu: the values of T' and -N for plans that recompute them often, such as plans that support refresh.
 *
 * merge_values.cu expands each row to find its terms, and which of them have the same column, before it adds them up.
 * Here the same functions (merge_short.cuh) do that once, and a recipe is stored:
 *
 *     source      4 bytes an entry of T'      the entry that it is copied from, or its first term
 *     term        8 bytes a term              which value of T, times which entry of -N; in the order of the sum
 *     n_place     4 bytes an entry of N       which value of T is divided by the diagonal of the substituted row
 *
 * Values then take two kernels: a thread has a row of N, and then a thread an entry of T'.  No thread waits for
 * another, and each value is written by one, which adds up the same terms in the same order as merge_values.cu does:
 * the bits are the same.  The place of the terms of a row varies, without effect on the result.  Bytes of T': 12 and
 * an element of T and of T' an entry, 16 and two elements a term. */
#include "config.h"

#include "merge_write.cuh"

using namespace short_rows;

/* All bytes 0x80: of an entry in a long row, which is made by merge_long_values.cu.  Places of terms are below its
 * complement. */
enum { LONG_BYTE = 0x80, LONG = (int)0x80808080, MOST = 0x7f000000 };

/* ---- the recipe ---------------------------------------------------------------------------------- */

struct record_memory { /* of a warp */
    int32_t place[ENTRIES];
    /* of each term: how many of its column stand before it; of the first of a column also how many there are, and how
     * many terms the columns before have */
    uint16_t rank[TERMS], count[TERMS], begin[TERMS];
};

struct places { /* of an array of T: element p is p */
    __device__ int32_t operator[](int64_t p) const { return (int32_t)p; }
};

struct record_work {
    const merge_pass &m;
    const row_target &c;
    warp_memory &w;
    record_memory &v;
    unsigned long long *terms; /* how many there were before */
    int64_t i;

    __device__ void keep(int32_t e, const entry &of) { v.place[e] = (int32_t)of.place; }
    __device__ void skip(int32_t) {}

    /* v.rank and v.count: 32 terms at a time. */
    __device__ void count_columns(int32_t count)
    {
        for (int32_t a = lane_id(); a < count; a += WARP) v.count[a] = 0;
        __syncwarp();
        for (int32_t a0 = 0; a0 < count; a0 += WARP) {
            const int32_t a = a0 + lane_id();
            const int32_t first = a < count ? w.table[w.bucket[a]] : -1 - lane_id();
            const unsigned same = __match_any_sync(~0u, first);
            const int before = __popc(same & ((1u << lane_id()) - 1));
            if (a < count) v.rank[a] = (uint16_t)(v.count[first] + before);
            __syncwarp();
            if (a < count && before == 0) v.count[first] += (uint16_t)__popc(same);
            __syncwarp();
        }
    }
    /* v.begin */
    __device__ void place_columns(int32_t count)
    {
        int32_t sum = 0;
        for (int32_t a0 = 0; a0 < count; a0 += WARP) {
            const int32_t a = a0 + lane_id();
            const int32_t mine = a < count && is_leading(w, a) ? v.count[a] : 0;
            const int32_t upto = sum_up_to_lane(mine);
            if (a < count) v.begin[a] = (uint16_t)(sum + upto - mine);
            sum += __shfl_sync(~0u, upto, WARP - 1);
        }
        TRS_ASSERT(sum == count);
        __syncwarp();
    }
    /* The place in N of entry e, for which a row is substituted. */
    __device__ int32_t factor_of(int32_t e) const
    {
        return (int32_t)(w.n_shift[w.lane[e]] + w.before[e] / SUBSTITUTED);
    }
    __device__ void write_terms(int32_t count, int64_t base)
    {
        for (int32_t a = lane_id(); a < count; a += WARP) {
            const int32_t first = w.table[w.bucket[a]], e = w.entry[a];
            const bool is_last = v.rank[a] + 1 == v.count[first];
            m.term[base + v.begin[first] + v.rank[a]] = {
                (int32_t)place_of(w, a) | (is_last ? INT32_MIN : 0),
                w.source[e] >= 0 ? factor_of(e) : (int32_t)MERGE_NONE};
        }
    }
    __device__ void expanded(const row_counts &n, const row_batch &b, const row_batch &batch,
                             int32_t low, int32_t high)
    {
        long long base = 0;
        if (lane_id() == 0) base = (long long)atomicAdd(terms, (unsigned long long)batch.count);
        base = __shfl_sync(~0u, base, 0);
        if (!m.term) return;
        find_targets(c, n, b, batch, w);
        count_columns(batch.count);
        place_columns(batch.count);
        write_terms(batch.count, base);
        write_n(batch, low, high, w, m.n_place, [&](int32_t e) { return v.place[e]; });
        write_to(batch, w, m.source, [&](int32_t a) { return ~(int32_t)(base + v.begin[a]); });
        if (has_lane(batch.lanes)) m.source[c.to + n.columns] = (int32_t)(m.from.ptr[i + 1] - 1);
    }
};

/* Counts the terms, and writes the recipe if there is memory for it.  A warp has the rows of its threads. */
static __global__ void __launch_bounds__(THREADS)
    record_kernel(const merge_pass m, unsigned long long *terms)
{
    __shared__ record_memory all[THREADS / WARP];
    const int64_t i = row_of_thread();
    warp_memory &w = memory_of_warp();
    const row_target c(m, i);
    const int64_t length = c.is_copied ? m.from.ptr[i + 1] - c.r.begin : 0;
    record_work work = {m, c, w, all[threadIdx.x / WARP], terms, i};
    if (m.term) copy_rows(places(), m.source, c.r.begin, c.to, length, c.is_copied, w);
    expand_rows(m.from, c.r, c.is_rewritten, w, work);
}

static cudaError_t record(const merge_pass *m, unsigned long long *terms)
{
    const cudaError_t e = cudaMemsetAsync(terms, 0, sizeof *terms, NULL);
    if (e) return e;
    record_kernel<<<blocks_of(m->from.n, THREADS), THREADS>>>(*m, terms);
    return cudaGetLastError();
}

int merge_recipe_new(trs_context *ctx, merge_pass *m)
{
    int64_t count = 0;
    if (m->from.nnz > MOST || m->to.nnz > MOST) return TRS_OK;
    unsigned long long *terms =
        (unsigned long long *)trs_gpu_scratch(ctx, sizeof *terms, "the number of terms");
    if (!terms) return trs_forget(), TRS_OK;
    int rc = cuda_status(record(m, terms), "the recipe of a pass");
    if (!rc) rc = trs_gpu_get(ctx, &count, terms, sizeof count);
    if (rc || count > MOST) return rc;
    m->recipe_memory = carve_new(
        ctx, "the recipe of a pass",
        [&](carver &carve) {
            carve(m->source, m->to.nnz);
            carve(m->n_place, m->n_nnz);
            carve(m->term, count + 1); /* so that it is there */
        },
        &m->bytes);
    if (!m->recipe_memory) return trs_forget(), TRS_OK;
    cudaError_t e =
        cudaMemsetAsync(m->source, LONG_BYTE, (size_t)m->to.nnz * sizeof *m->source, NULL);
    if (!e) e = cudaMemsetAsync(m->n_place, LONG_BYTE, (size_t)m->n_nnz * sizeof *m->n_place, NULL);
    if (!e) e = record(m, terms);
    return cuda_status(e, "the recipe of a pass");
}

/* ---- values -------------------------------------------------------------------------------------- */

/* a b, rounded before anything is added to it. */
static __device__ inline float product(float a, float b)
{
    return __fmul_rn(a, b);
}
static __device__ inline double product(double a, double b)
{
    return __dmul_rn(a, b);
}
template <class T> static __device__ inline T product(T a, T b)
{
    return a * b;
}

/* A thread a row: its entries of -N, whose magnitudes are added in their order. */
template <class T>
static __global__ void factor_kernel(const merge_pass m, const T *val, uint64_t *growth)
{
    const int64_t i = index_of_thread();
    if (i >= m.from.n) return;
    double sum = 0;
    for (int64_t k = m.n_ptr[i]; k < m.n_ptr[i + 1] && m.n_place[k] != LONG; k++) {
        const T f = number<T>(0) - val[m.n_place[k]] / val[m.from.ptr[m.n_idx[k] + 1] - 1];
        ((T *)m.n_val)[k] = f;
        sum += magnitude(f);
    }
    /* T(i, j) / T(j, j) may underflow, which no sum shows */
    if (!is_near_one(val[m.from.ptr[i + 1] - 1])) sum = INFINITY;
    raise_growth(growth, sum);
}

template <class T>
static __device__ inline T value_of(const merge_pass &m, const merge_term &t, const T *val)
{
    const T v = val[t.place & INT32_MAX];
    return t.factor == MERGE_NONE ? v : product(((const T *)m.n_val)[t.factor], v);
}

/* A thread an entry of T'. */
template <class T>
static __global__ void sum_kernel(const merge_pass m, const T *val, uint64_t *growth)
{
    const int64_t q = index_of_thread();
    const int32_t source = q < m.to.nnz ? m.source[q] : (int32_t)LONG;
    T *const out = (T *)m.to_val;
    if (source == LONG) return;
    if (source >= 0) {
        out[q] = val[source];
        return;
    }
    const merge_term *t = m.term + ~source;
    T sum = value_of(m, *t, val);
    for (; t->place >= 0; t++) sum = sum + value_of(m, t[1], val);
    out[q] = sum;
    if (!is_finite(sum)) raise_growth(growth, INFINITY);
}

int merge_recipe_values(const merge_pass *m, trs_dtype t, const void *val, uint64_t *growth,
                        cudaStream_t stream)
{
    return for_type(t, [&]<class T>(T) {
        const T *const from = (const T *)val;
        factor_kernel<T><<<blocks_of(m->from.n), PLAIN, 0, stream>>>(*m, from, growth);
        sum_kernel<T><<<blocks_of(m->to.nnz), PLAIN, 0, stream>>>(*m, from, growth);
        return launched();
    });
}
