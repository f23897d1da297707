/* merge_pattern.cu: makes a pass: the patterns of T' and N, once the levels to merge are known.
 *
 * The decision has already counted the new lengths of the rows; this file adds the copied rows, and prefix sums over
 * the counts give the place where each row begins.  A thread has a row, a warp the rows of its threads; none waits
 * for another. */
#include "config.h"

#include "merge_write.cuh"
#include "cuda/runtime/sort.cuh"

#include <cstring>

using namespace short_rows;

/* ---- kernels ------------------------------------------------------------------------------------- */

/* The levels of all rows in T', and the counts of rows in levels that are not merged; behind the last row 0, as
 * the sums want it. */
static __global__ void copied_kernel(const trs_pattern t, const int32_t *new_level,
                                     int32_t *to_level, int32_t *to_count, int32_t *n_count)
{
    const int64_t i = row_of_thread();
    if (i > t.n) return;
    const int32_t l = i < t.n ? t.level[i] : -1;
    if (l >= 0) to_level[i] = new_level[l];
    if (l >= 0 && is_merged(new_level, l)) return;
    n_count[i] = 0;
    to_count[i] = l < 0 ? 0 : (int32_t)(t.ptr[i + 1] - t.ptr[i]);
}

struct fill_work {
    const merge_pass &m;
    const row_target &c;
    warp_memory &w;
    int32_t i;
    __device__ void keep(int32_t, const entry &) {}
    __device__ void skip(int32_t) {}
    __device__ void expanded(const row_counts &n, const row_batch &b, const row_batch &terms,
                             int32_t low, int32_t high)
    {
        find_targets(c, n, b, terms, w);
        write_n(terms, low, high, w, m.n_idx, [&](int32_t e) { return w.column[e]; });
        write_to(terms, w, m.to_idx, [&](int32_t a) { return w.term_column[a]; });
        if (!has_lane(terms.lanes)) return;
        TRS_ASSERT(c.to + n.columns + 1 == m.to_ptr[i + 1]);
        m.to_idx[c.to + n.columns] = i;
    }
};

/* Columns of T', in the order in which they are met, and of N. */
static __global__ void __launch_bounds__(THREADS) fill_kernel(const merge_pass m)
{
    const int64_t i = row_of_thread();
    warp_memory &w = memory_of_warp();
    const row_target c(m, i);
    const int64_t length = c.is_copied ? m.from.ptr[i + 1] - c.r.begin : 0;
    fill_work work = {m, c, w, (int32_t)i};
    copy_rows(m.from.idx, m.to_idx, c.r.begin, c.to, length, c.is_copied, w);
    expand_rows(m.from, c.r, c.is_rewritten, w, work);
}

/* ---- the host side ------------------------------------------------------------------------------- */

/* ptr [i] = count [0] + ... + count [i - 1] for i up to n; *all = ptr [n]. */
static int sum_up(trs_context *ctx, const int32_t *count, int64_t *ptr, int64_t n, int64_t *all)
{
    sort_temp temp = {};
    int rc = sum_before(temp, count, ptr, n + 1);
    if (rc) return rc;
    temp.p = trs_gpu_scratch(ctx, (int64_t)temp.bytes, "sums");
    if (!temp.p) return TRS_EMEM;
    rc = sum_before(temp, count, ptr, n + 1);
    if (rc) return rc;
    return trs_gpu_get(ctx, all, ptr + n, sizeof *all);
}

/* m->to_level, m->to_ptr and m->n_ptr. */
static int rows_new(trs_context *ctx, const merge_survey *s, merge_pass *m)
{
    const int32_t n = m->from.n;
    m->row_memory = carve_new(
        ctx, "rows",
        [&](carver &carve) {
            carve(m->to_ptr, (int64_t)n + 1);
            carve(m->n_ptr, (int64_t)n + 1);
            carve(m->to_level, n);
        },
        &m->bytes);
    if (!m->row_memory) return TRS_EMEM;
    const size_t levels = (size_t)m->from.levels * sizeof *s->new_level;
    int rc = trs_gpu_put(ctx, s->new_level, s->host_new_level, levels);
    if (rc) return rc;
    copied_kernel<<<blocks_of(n + (int64_t)1), PLAIN>>>(m->from, s->new_level, m->to_level,
                                                        s->to_count, s->n_count);
    if (m->long_rows) rc = merge_long_place(ctx, s, m);
    if (!rc) rc = sum_up(ctx, s->to_count, m->to_ptr, n, &m->to.nnz);
    if (rc) return rc;
    return sum_up(ctx, s->n_count, m->n_ptr, n, &m->n_nnz);
}

/* The patterns of T' and N, and memory for their values. */
static int pattern_new(trs_context *ctx, const merge_survey *s, size_t size, merge_pass *m)
{
    int rc = rows_new(ctx, s, m);
    if (rc) return rc;
    m->entry_memory = carve_new(
        ctx, "entries",
        [&](carver &carve) {
            carve(m->to_val, m->to.nnz * (int64_t)size);
            carve(m->n_val, m->n_nnz * (int64_t)size);
            carve(m->to_idx, m->to.nnz);
            carve(m->n_idx, m->n_nnz);
        },
        &m->bytes);
    if (!m->entry_memory) return TRS_EMEM;
    m->to.n = m->from.n;
    m->to.ptr = m->to_ptr;
    m->to.idx = m->to_idx;
    m->to.level = m->to_level;
    fill_kernel<<<blocks_of(m->from.n, THREADS), THREADS>>>(*m);
    if (m->long_rows) rc = merge_long_fill(ctx, m);
    const int last = launched();
    if (rc) return rc;
    return last;
}

int merge_pass_new(trs_context *ctx, merge_survey *s, const trs_pattern *from, int *odd,
                   int64_t most, trs_dtype t, merge_pass *m)
{
    m->from = *from;
    int rc = merge_decide(ctx, s, odd, most, m);
    if (rc || !m->to.levels) return rc;
    TRS_ASSERT(m->to.levels < m->from.levels);
    rc = pattern_new(ctx, s, trs_size(t), m);
    TRS_ASSERT(rc || (m->to.nnz + m->n_nnz >= m->from.nnz && m->to.nnz + m->n_nnz <= most));
    return rc;
}

void merge_pass_free(trs_context *ctx, merge_pass *m)
{
    device_free(ctx, m->row_memory, m->entry_memory, m->long_row, m->target, m->block_row,
                m->recipe_memory);
    memset(m, 0, sizeof *m);
}
