/* flow_sort.cu: sorts the entries of long rows by level, so that entries with late operands come last.
 *
 * A warp has 32 x 4 entries in flight.  A row with more entries goes through them in rounds, and a round ends
 * when all of its operands are there:
 *
 *        in the order of columns   | .. L .. | ....... | ....... |   L, which comes last, holds up three rounds
 *        by level                  | ....... | ....... | ..... L |   the others are done by the time L comes
 *
 * So the entries of such rows are sorted by the levels of their columns: one stable radix sort of all of them
 * by (row, level), so the pattern alone determines the order.  (An atomic counter decides the order of the
 * rows, which varies but affects no result.)
 * Bytes: some 150 an entry of a long row; without such rows the row pointers are read once. */
#include "config.h"

#include "dataflow.cuh"
#include "cuda/runtime/sort.cuh"

enum { LONG = TRS_FLOW_WARP * TRS_FLOW_BATCH };

struct sorting {               /* the arrays are on the device */
    unsigned long long *found; /* [2] long rows so far, and their entries */
    int32_t rows;              /* all long rows */
    int64_t entries;           /* all of theirs */
    int level_bits;            /* of a key, the lowest ones */
    int32_t *row;              /* [rows] */
    uint64_t *key[2]; /* [entries] begin of its row, and level; before and after the sort */
    int64_t *entry;   /* [entries] of the triangle, before the sort */
    sort_temp temp;
};

static __global__ void find_kernel(const trs_pattern t, const sorting s)
{
    const int64_t i = index_of_thread();
    const int64_t length = i < t.n ? t.ptr[i + 1] - t.ptr[i] : 0;
    if (length <= LONG) return;
    atomicAdd(&s.found[0], 1);
    atomicAdd(&s.found[1], (unsigned long long)length);
}

static __global__ void list_kernel(const trs_pattern t, const sorting s, int64_t *begin)
{
    const int64_t i = index_of_thread();
    if (i >= t.n) return;
    const int64_t length = t.ptr[i + 1] - t.ptr[i];
    begin[i] = -1;
    if (length <= LONG) return;
    const unsigned long long k = atomicAdd(&s.found[0], 1);
    begin[i] = (int64_t)atomicAdd(&s.found[1], (unsigned long long)length);
    TRS_ASSERT(k < (unsigned long long)s.rows && begin[i] + length <= s.entries);
    s.row[k] = (int32_t)i;
}

static __global__ void key_kernel(const trs_pattern t, const sorting s, const int64_t *begin)
{
    const int64_t i = s.row[blockIdx.x], to = begin[i];
    const int64_t from = t.ptr[i], length = t.ptr[i + 1] - from;
    for (int64_t q = threadIdx.x; q < length; q += PLAIN) {
        s.key[0][to + q] = (uint64_t)to << s.level_bits | (uint64_t)t.level[t.idx[from + q]];
        s.entry[to + q] = from + q;
    }
}

/* ---- the host side ------------------------------------------------------------------------------------------ */

/* Enough for the numbers 0 ... count. */
static int bits_of(int64_t count)
{
    int bits = 1;
    while (count >> bits) bits++;
    return bits;
}

static int sort(sorting *s, int64_t *sorted)
{
    return sort_pairs(s->temp, s->key[0], s->key[1], s->entry, sorted, s->entries,
                      s->level_bits + bits_of(s->entries));
}

/* Scratch memory for all arrays, and found is 0. */
static int take_scratch(trs_context *ctx, sorting *s)
{
    void *const base = carve_scratch(ctx, "long rows by level", [&](carver &carve) {
        carve(s->found, 2);
        carve(s->row, s->rows);
        for (int k = 0; k < 2; k++) carve(s->key[k], s->entries);
        carve(s->entry, s->entries);
        carve(s->temp.p, (int64_t)s->temp.bytes);
    });
    if (!base) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(s->found, 0, 2 * sizeof *s->found, NULL);
    return cuda_status(e, "long rows by level");
}

static int find_long_rows(trs_context *ctx, const trs_pattern *t, sorting *s)
{
    unsigned long long found[2] = {0};
    int rc = take_scratch(ctx, s);
    if (rc) return rc;
    find_kernel<<<blocks_of(t->n), PLAIN>>>(*t, *s);
    rc = trs_gpu_get(ctx, found, s->found, sizeof found);
    s->rows = (int32_t)found[0];
    s->entries = (int64_t)found[1];
    TRS_ASSERT(s->entries >= (int64_t)LONG * s->rows);
    return rc;
}

int trs_flow_sort(trs_context *ctx, const trs_pattern *t, int64_t **begin, int64_t **sorted,
                  int64_t *count)
{
    sorting s = {.level_bits = bits_of(t->levels)};
    if (t->longest && t->longest <= LONG) return TRS_OK;
    int rc = find_long_rows(ctx, t, &s);
    *count = s.entries;
    if (rc || !s.rows) return rc;
    s.temp = {};
    rc = sort(&s, NULL);
    if (rc) return rc;
    *begin = device_new<int64_t>(ctx, t->n, "long rows");
    if (*begin) *sorted = device_new<int64_t>(ctx, s.entries, "long rows");
    rc = *sorted ? take_scratch(ctx, &s) : TRS_EMEM;
    if (rc) return rc;
    list_kernel<<<blocks_of(t->n), PLAIN>>>(*t, s, *begin);
    key_kernel<<<(unsigned)s.rows, PLAIN>>>(*t, s, *begin);
    rc = sort(&s, *sorted);
    if (rc) return rc;
    return launched();
}
