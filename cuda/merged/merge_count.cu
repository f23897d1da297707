/* merge_count.cu: decides which levels a pass merges.
 *
 * A level costs a solve one dependency latency, however few rows it has, and fewer than some MERGE_LATENCY_ENTRIES
 * entries cost next to nothing.  So the entries that each level would add to T' and N are counted by expanding its
 * rows, and the level is merged if they take less time than a latency.  Of two neighbouring levels only one can be
 * merged, since rewritten rows may need only rows that are not rewritten (merge.h): a pass merges levels of one
 * parity.  In a large triangle one row of EVERY is expanded first, for both parities at once, since most passes that
 * do not pay are far from paying.  A thread has a row, a warp the rows of its threads; none waits for another.
 * Bytes: 12 for each entry of T and each term, many at random; the kernel is bound by chains of loads, hence
 * merge_short.cuh. */
#include "config.h"

#include "merge_short.cuh"

#include <cstring>

using namespace short_rows;

enum { ANY = -1 }; /* parity */

struct counting {
    int parity; /* of levels that are looked at, or ANY */
    int every;  /* so many-th row of T */
    merge_level *level;
    int32_t *to_count, *n_count; /* of each row that is looked at; NULL unless every is 1 */
    int32_t *list, *listed;      /* rows that are not short, and how many; room for all */
};

/* ---- kernels ------------------------------------------------------------------------------------- */

struct count_work { /* of the lane's row */
    int32_t substituted, columns;
    __device__ void keep(int32_t, const entry &) {}
    __device__ void skip(int32_t none_or_too_long) { substituted = none_or_too_long; }
    __device__ void expanded(const row_counts &n, const row_batch &, const row_batch &terms,
                             int32_t, int32_t)
    {
        if (!has_lane(terms.lanes)) return;
        substituted = n.substituted;
        columns = n.columns;
    }
};

/* By a warp; fill is 0 for a lane that has no row.  Where one level has most of the rows, lanes would wait for one
 * another at its counter, so they are summed up before. */
static __device__ void add_to_levels(merge_level *of, int32_t level, int64_t fill)
{
    const unsigned some = __ballot_sync(~0u, fill != 0);
    if (!some) return;
    const int32_t common = __shfl_sync(~0u, level, __ffs((int)some) - 1);
    int64_t sum = level == common ? fill : 0;
    for (int by = WARP / 2; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (lane_id() == 0) atomicAdd((unsigned long long *)&of[common].fill, (unsigned long long)sum);
    if (fill && level != common)
        atomicAdd((unsigned long long *)&of[level].fill, (unsigned long long)fill);
}

/* By a warp: the rows of these lanes to the end of the list. */
static __device__ void append(bool wanted, int32_t i, int32_t *list, int32_t *count)
{
    const unsigned some = __ballot_sync(~0u, wanted);
    int32_t at = 0;
    if (!some) return;
    if (lane_id() == 0) at = atomicAdd(count, __popc(some));
    at = __shfl_sync(~0u, at, 0);
    if (wanted) list[at + __popc(some & ((1u << lane_id()) - 1))] = i;
}

/* What each level would add, were it merged. */
static __global__ void __launch_bounds__(THREADS)
    count_kernel(const trs_pattern t, const counting c)
{
    const int64_t i = row_of_thread() * c.every;
    const row_of_t r = row_at(t, i);
    const bool wanted = r.level > 0 && (c.parity == ANY || r.level % 2 == c.parity);
    const bool too_long = r.length > MERGE_SHORT_TERMS;
    count_work work = {too_long ? (int32_t)TOO_LONG : 0, r.length};
    expand_rows(t, r, wanted && !too_long, memory_of_warp(), work);
    const bool is_long = wanted && work.substituted < 0, is_short = wanted && !is_long;
    append(is_long, (int32_t)i, c.list, c.listed);
    if (is_short && c.every == 1) {
        c.n_count[i] = work.substituted;
        c.to_count[i] = work.columns + 1;
    }
    const int32_t fill = work.columns + work.substituted - r.length;
    TRS_ASSERT(!is_short || fill >= 0);
    add_to_levels(c.level, r.level, is_short ? (int64_t)fill * c.every : 0);
}

/* ---- the survey ---------------------------------------------------------------------------------- */

/* totals and level, on the host or on the device. */
static void lay_out(merge_counts &c, int64_t levels, carver &carve)
{
    carve(c.totals, 1);
    carve(c.level, levels);
}

static size_t bytes_of_counts(int64_t levels)
{
    merge_counts c;
    return carved_bytes([&](carver &carve) { lay_out(c, levels, carve); });
}

int merge_survey_new(trs_context *ctx, int64_t levels, merge_survey *s)
{
    s->host_memory = trs_new(ctx, (int64_t)bytes_of_counts(levels), 1, "levels");
    if (s->host_memory)
        s->host_new_level = (int32_t *)trs_new(ctx, levels, sizeof *s->host_new_level, "levels");
    if (!s->host_new_level) return TRS_EMEM;
    carver on_host = {(char *)s->host_memory, 0};
    lay_out(s->host, levels, on_host);
    s->device_memory = carve_new(ctx, "levels", [&](carver &carve) {
        lay_out(s->device, levels, carve);
        carve(s->new_level, levels);
    });
    return s->device_memory ? TRS_OK : TRS_EMEM;
}

void merge_survey_free(trs_context *ctx, merge_survey *s)
{
    trs_free(&ctx->mem, s->host_memory);
    trs_free(&ctx->mem, s->host_new_level);
    device_free(ctx, s->device_memory, s->row_memory);
    memset(s, 0, sizeof *s);
}

/* All passes of a triangle have the same number of rows. */
static int rows_new(trs_context *ctx, merge_survey *s, int32_t n)
{
    if (s->row_memory) return TRS_OK;
    s->row_memory = carve_new(ctx, "rows", [&](carver &carve) {
        carve(s->to_count, n + (int64_t)1);
        carve(s->n_count, n + (int64_t)1);
    });
    return s->row_memory ? TRS_OK : TRS_EMEM;
}

/* ---- counting ------------------------------------------------------------------------------------ */

static int fetch_counts(trs_context *ctx, const merge_pass *m, const merge_survey *s)
{
    return trs_gpu_get(ctx, s->host.totals, s->device.totals, bytes_of_counts(m->from.levels));
}

/* What the long rows among those listed add.  A level with too many terms of long rows is fixed before their columns
 * are counted, which would take long. */
static int count_long_rows(trs_context *ctx, merge_pass *m, const counting *c,
                           const merge_survey *s)
{
    int rc = merge_long_list(ctx, c->list, c->every, s, m);
    if (!rc) rc = fetch_counts(ctx, m, s);
    if (rc) return rc;
    m->long_rows = s->host.totals->long_rows;
    m->most_terms = s->host.totals->most_terms;
    for (int32_t l = 0; l < m->from.levels; l++)
        if (s->host.level[l].long_terms > MERGE_LEVEL_LONG_TERMS) s->host.level[l].fixed = 1;
    rc = trs_gpu_put(ctx, s->device.totals, s->host.totals, bytes_of_counts(m->from.levels));
    if (!rc && m->long_rows) rc = merge_long_count(ctx, c->every, s, m);
    if (rc) return rc;
    return fetch_counts(ctx, m, s);
}

/* s->host, were all levels of that parity merged, from every so many-th row. */
static int count_rows(trs_context *ctx, merge_pass *m, int parity, int every, merge_survey *s)
{
    const int64_t rows = (m->from.n + (int64_t)every - 1) / every;
    trs_gpu_free(ctx, m->long_row);
    m->long_row = NULL;
    m->long_rows = 0;
    m->listed_bytes = 0;
    if (every == 1 && rows_new(ctx, s, m->from.n)) return TRS_EMEM;
    const size_t list = (size_t)rows * sizeof(int32_t);
    counting c = {parity,
                  every,
                  s->device.level,
                  s->to_count,
                  s->n_count,
                  (int32_t *)trs_gpu_scratch(ctx, (int64_t)list, "long rows"),
                  &s->device.totals->listed};
    if (!c.list) return TRS_EMEM;
    const cudaError_t e =
        cudaMemsetAsync(s->device.totals, 0, bytes_of_counts(m->from.levels), NULL);
    count_kernel<<<blocks_of(rows, THREADS), THREADS>>>(m->from, c);
    int rc = cuda_status(e, "merging levels");
    if (!rc) rc = fetch_counts(ctx, m, s);
    if (!rc && s->host.totals->listed) rc = count_long_rows(ctx, m, &c, s);
    return rc;
}

/* ---- deciding ------------------------------------------------------------------------------------ */

/* A pass has to save this fraction of the levels, beside its product: it takes as long to make as the one before. */
static const double FEWEST = 0.05;
/* A term of a long row keeps 4 bytes, its target, which is a third of an entry. */
enum { TARGETS = 3 };

/* In units of a dependency latency, merging level l saves 1 - fill / MERGE_LATENCY_ENTRIES.  s->host_new_level, if all
 * levels of that parity that save something are merged; returns how many levels there are then, or 0 when together they
 * save less than the product takes, or need more memory than there is. */
static int32_t merge_levels(const merge_pass *m, int parity, int64_t most, const merge_survey *s)
{
    double gain = 0;
    int64_t entries = m->from.nnz;
    int32_t left = 0;
    for (int32_t l = 0; l < m->from.levels; l++) {
        const merge_level &of = s->host.level[l];
        const double saved = 1 - (double)of.fill / MERGE_LATENCY_ENTRIES;
        const bool merged = l > 0 && l % 2 == parity && !of.fixed && saved >= 0;
        if (merged) {
            gain += saved;
            entries += of.fill + of.long_terms / TARGETS;
        } else {
            left++;
        }
        s->host_new_level[l] = left - 1;
    }
    TRS_ASSERT(left > 0 || m->from.levels == 0);
    const bool worth_it = gain >= merge_product_latencies(m->from.n) + FEWEST * m->from.levels;
    return worth_it && entries <= most ? left : 0;
}

/* m->to.levels with levels of that parity merged, from all rows; what is known of a sample is not counted anew. */
static int decide_exactly(trs_context *ctx, merge_survey *s, int parity, int64_t most, bool sampled,
                          merge_pass *m)
{
    const int rc = sampled ? count_rows(ctx, m, parity, 1, s) : TRS_OK;
    if (!rc) m->to.levels = merge_levels(m, parity, most, s);
    return rc;
}

int merge_decide(trs_context *ctx, merge_survey *s, int *odd, int64_t most, merge_pass *m)
{
    enum { FEW = 100000, EVERY = 16 };
    const bool sampled = m->from.n > FEW;
    int rc = count_rows(ctx, m, ANY, sampled ? (int)EVERY : 1, s);
    if (rc) return rc;
    const bool worth_it[2] = {merge_levels(m, 0, most, s) > 0, merge_levels(m, 1, most, s) > 0};
    const int first = *odd;
    for (int k = 0; k < 2 && !m->to.levels && !rc; k++) {
        *odd = k ? !first : first;
        if (worth_it[*odd]) rc = decide_exactly(ctx, s, *odd, most, sampled, m);
    }
    return rc;
}
