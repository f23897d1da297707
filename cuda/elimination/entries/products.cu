/* products.cu: the products of each entry.
 *
 *     of entry (i, k) below the diagonal:    w(i, k) (1 / u(k, k)) w(k, j) for all j > k that rows i and k both have
 *
 *         row i      . . (i,k) . . . (i,j) . . .         a pass over the shorter of the two parts right of column k,
 *         row k           u    . . . (k,j) . .           and a bisection search in the longer one
 *
 * TEAM lanes have an entry (i, k).  They go through it twice: first they count; prefix sums then give the place where
 * the products of each entry begin, and the second pass writes them.  So the products are ordered by i, then k.  A
 * stable sort by target, entry (i, j), brings those of each target together, ascending in k.  It takes no more steps
 * than IKJ elimination goes through products of rows, and fewer where rows are long.
 * Bytes: 24 a product in the lists before and after the sort, and what the sort needs. */
#include "config.h"

#include "entries.cuh"
#include "cuda/runtime/sort.cuh"

enum { TEAM = 8 };

struct pattern_view {
    int32_t n, nnz;
    bool cholesky;
    const int64_t *ptr, *diag;
    const int32_t *idx;
    int32_t *row, *kind;
};

struct product_lists {
    int64_t *begin; /* [nnz+1] products of entries (i, k) before; counts at first */
    uint32_t *target, *target_sorted; /* [products] */
    uint64_t *operands;               /* [products] */
};

/* Where column j is among entries begin..end-1, which are of one row; -1: nowhere. */
static __device__ inline int64_t find(const int32_t *idx, int64_t begin, int64_t end, int32_t j)
{
    const int64_t last = end;
    while (begin < end) {
        const int64_t middle = (begin + end) / 2;
        if (idx[middle] < j) begin = middle + 1;
        else end = middle;
    }
    return begin < last && idx[begin] == j ? begin : -1;
}

/* A warp a row. */
static __global__ void kind_kernel(const pattern_view p)
{
    const int64_t i = index_of_thread() / ENTRY_WARP;
    if (i >= p.n) return;
    for (int64_t q = p.ptr[i] + threadIdx.x % ENTRY_WARP; q < p.ptr[i + 1]; q += ENTRY_WARP) {
        p.row[q] = (int32_t)i;
        if (q < p.diag[i]) p.kind[q] = p.idx[q];
        else if (q == p.diag[i]) p.kind[q] = ENTRY_PIVOT;
        else p.kind[q] = p.cholesky ? ENTRY_UNUSED : ENTRY_UPPER;
    }
}

/* Parts of two rows; every entry of `few` is looked for in `many`. */
struct two_parts {
    int64_t few, few_end, many, many_end;
    bool few_is_i; /* few is of row i */
};

/* Of row i behind entry e = (i, k), for L L^H up to its diagonal, and of row k behind its diagonal. */
static __device__ inline two_parts parts_of(const pattern_view &p, int64_t e)
{
    const int32_t i = p.row[e], k = p.kind[e];
    const int64_t i_end = p.cholesky ? p.diag[i] + 1 : p.ptr[i + 1];
    const int64_t k_begin = p.diag[k] + 1, k_end = p.ptr[k + 1];
    if (i_end - e - 1 < k_end - k_begin) return {e + 1, i_end, k_begin, k_end, true};
    return {k_begin, k_end, e + 1, i_end, false};
}

/* The entry of w(k, j): of L L^H it is (j, k). */
static __device__ inline int64_t upper_operand(const pattern_view &p, int64_t kj, int32_t k)
{
    if (!p.cholesky) return kj;
    const int32_t j = p.idx[kj];
    const int64_t jk = find(p.idx, p.ptr[j], p.diag[j], k);
    TRS_ASSERT(jk >= 0);
    return jk;
}

/* f (is there a product, its target, entry (k, j)) for all candidates of entry e, by the lanes of a team, which come to
 * each call together. */
template <class F> __device__ inline void for_products(const pattern_view &p, int64_t e, F f)
{
    const two_parts t = parts_of(p, e);
    for (int64_t begin = t.few; begin < t.few_end; begin += TEAM) {
        const int64_t q = begin + threadIdx.x % TEAM;
        const int64_t found =
            q < t.few_end ? find(p.idx, t.many, t.many_end, p.idx[q]) : (int64_t)-1;
        f(found >= 0, t.few_is_i ? q : found, t.few_is_i ? found : q);
    }
}

static __device__ inline unsigned team_mask()
{
    return ((1u << TEAM) - 1) << (threadIdx.x % ENTRY_WARP / TEAM * TEAM);
}

static __global__ void count_kernel(const pattern_view p, const product_lists lists)
{
    const int64_t e = index_of_thread() / TEAM;
    if (e > p.nnz) return;
    int64_t count = 0;
    if (e < p.nnz && p.kind[e] >= 0)
        for_products(p, e, [&](bool there, int64_t, int64_t) {
            count += __popc(__ballot_sync(team_mask(), there));
        });
    if (threadIdx.x % TEAM == 0) lists.begin[e] = count;
}

static __global__ void fill_kernel(const pattern_view p, const product_lists lists)
{
    const int64_t e = index_of_thread() / TEAM;
    if (e >= p.nnz || p.kind[e] < 0) return;
    const unsigned before = (1u << threadIdx.x % ENTRY_WARP) - 1;
    int64_t to = lists.begin[e];
    for_products(p, e, [&](bool there, int64_t target, int64_t kj) {
        const unsigned all = __ballot_sync(team_mask(), there);
        if (there) {
            const int64_t q = to + __popc(all & before);
            lists.target[q] = (uint32_t)target;
            lists.operands[q] = (uint64_t)e << 32 | (uint64_t)upper_operand(p, kj, p.kind[e]);
        }
        to += __popc(all);
    });
    TRS_ASSERT(to == lists.begin[e + 1]);
}

static __global__ void range_kernel(int64_t count, const uint32_t *target, int2 *range)
{
    const int64_t q = index_of_thread();
    if (q >= count) return;
    if (q == 0 || target[q - 1] != target[q]) range[target[q]].x = (int)q;
    if (q == count - 1 || target[q + 1] != target[q]) range[target[q]].y = (int)(q + 1);
}

static int sort(sort_temp &temp, const product_lists &lists, uint64_t *sorted, int64_t count,
                int32_t nnz)
{
    return sort_pairs(temp, lists.target, lists.target_sorted, lists.operands, sorted, count,
                      bits_of((uint64_t)nnz));
}

/* s->row, s->kind, lists->begin, s->products. */
static int count_products(entry_making *m, const pattern_view &p, product_lists *lists)
{
    const int64_t nnz = p.nnz;
    sort_temp temp = {};
    int rc = sum_before(temp, lists->begin, lists->begin, nnz + 1);
    if (rc) return rc;
    if (!carve_scratch(m->ctx, "counts of products", [&](carver &carve) {
            carve(lists->begin, nnz + 1);
            carve(temp.p, (int64_t)temp.bytes);
        }))
        return TRS_EMEM;
    kind_kernel<<<blocks_of((int64_t)p.n * ENTRY_WARP), PLAIN>>>(p);
    count_kernel<<<blocks_of((nnz + 1) * TEAM), PLAIN>>>(p, *lists);
    rc = launched();
    if (!rc) rc = sum_before(temp, lists->begin, lists->begin, nnz + 1);
    if (rc) return rc;
    return trs_gpu_get(m->ctx, &m->s->products, lists->begin + nnz, sizeof m->s->products);
}

/* m->operands, m->range; memory for them is there. */
static int list_products(entry_making *m, const pattern_view &p, product_lists *lists)
{
    const int64_t count = m->s->products;
    sort_temp temp = {};
    int rc = sort(temp, *lists, m->operands, count, p.nnz);
    if (rc) return rc;
    void *memory = carve_new(m->ctx, "products before they are sorted", [&](carver &carve) {
        carve(lists->target, count);
        carve(lists->target_sorted, count);
        carve(lists->operands, count);
        carve(temp.p, (int64_t)temp.bytes);
    });
    if (!memory) return TRS_EMEM;
    fill_kernel<<<blocks_of((int64_t)p.nnz * TEAM), PLAIN>>>(p, *lists);
    rc = sort(temp, *lists, m->operands, count, p.nnz);
    range_kernel<<<blocks_of(count), PLAIN>>>(count, lists->target_sorted, m->range);
    if (!rc) rc = launched();
    if (!rc) rc = trs_gpu_wait(NULL);
    trs_gpu_free(m->ctx, memory);
    return rc;
}

int entry_products(entry_making *m)
{
    const trs_elimination_pattern *a = m->p;
    const pattern_view p = {a->n,    (int32_t)a->nnz, a->cholesky, a->ptr,
                            a->diag, a->idx,          m->s->row,   m->s->kind};
    product_lists lists = {};
    cudaMemsetAsync(m->range, 0, (size_t)a->nnz * sizeof *m->range, NULL);
    int rc = count_products(m, p, &lists);
    if (rc || m->s->products == 0) return rc;
    if (m->s->products > m->budget / 24 || m->s->products > INT32_MAX) return TRS_ESUPPORT;
    m->operands = device_new<uint64_t>(m->ctx, m->s->products, "products");
    return m->operands ? list_products(m, p, &lists) : TRS_EMEM;
}
