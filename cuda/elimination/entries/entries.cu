/* entries.cu: the entry kernel's schedule as one object, and its numbers.
 *
 *     largest    the largest |a(i, j)| of each row, where pivots may be replaced
 *     begin      a(i, j), scaled, shifted, to the nodes; into w for entries that are not nodes
 *     nodes.cuh  w of the nodes, level by level
 *     tail.cuh   w of the last rows and columns
 *     end        L and U of w, written where the caller wants them, and what is wrong with the rows
 *
 * Each is a launch, and sees what the launches before have written.  In begin and end the threads share the entries
 * cyclically.  Their bytes bound them: in fp64 12 an entry and a gather of A, and 24 an entry and a gather of the
 * stored form of u(k, k). */
#include "config.h"

#include "entries.cuh"
#include "nodes.cuh"
#include "tail.cuh"
#include "cuda/runtime/flag.cuh"

#include <math.h>

struct entries {
    entry_schedule s;
    void *memory;        /* of row, kind, from, to, w, inv and row_largest */
    int blocks;          /* of nodes.cuh */
    void *w, *inv;       /* [nnz], [n] */
    double *row_largest; /* [n] */
};

/* ---- before --------------------------------------------------------------------------------------------------- */

/* "Not yet" of flag.cuh. */
template <class T> __device__ inline T absent()
{
    T v;
    memset(&v, 0xff, sizeof v);
    return v;
}

/* The entries of a warp are mostly of one row: then they are compared before. */
template <class T> __global__ void __launch_bounds__(PLAIN) largest_kernel(const entry_args<T> g)
{
    const int64_t p = index_of_thread();
    const bool is = p < g.s.nnz && (g.s.kind[p] != ENTRY_UNUSED || g.rules.sign);
    const int32_t row = is ? g.s.row[p] : -1;
    double v = is ? (double)size_of(read_a(g, p, g.p.src[p], g.s.kind[p] == ENTRY_PIVOT)) : 0;
    if (!(v >= 0)) v = 0;
    if (!__all_sync(~0u, row == __shfl_sync(~0u, row, 0))) {
        if (is) raise_to(g.row_largest + row, v);
        return;
    }
    for (int by = ENTRY_WARP / 2; by > 0; by /= 2) v = fmax(v, __shfl_xor_sync(~0u, v, by));
    if (is && threadIdx.x % ENTRY_WARP == 0) raise_to(g.row_largest + row, v);
}

/* w of entries that are no pivots. */
template <class T>
__device__ inline void begin_entry(const entry_args<T> &g, int64_t p, pivot_counts &counts)
{
    const int32_t from = g.s.from[p];
    if (from == ENTRY_OTHER) return;
    const T a = from == ENTRY_NODE ? absent<T>() : flag_free(read_a(g, p, from, false));
    if (from >= 0) note(counts.largest_a, a);
    g.w[p] = a;
}

/* w of pivots that are no nodes, and what is kept of them; the tail's are looked at there. */
template <class T>
__device__ inline void begin_row(const entry_args<T> &g, int32_t row, pivot_counts &counts)
{
    const int64_t p = g.p.diag[row];
    if (g.s.from[p] == ENTRY_NODE) {
        g.inv[row] = absent<T>();
        return;
    }
    T a = read_a(g, p, g.p.src[p], true);
    note(counts.largest_a, a);
    a = shifted(g.rules, a);
    if (row < g.s.n - g.s.tail) {
        a = take_pivot(g, row, a, counts);
        g.inv[row] = flag_free(kept_pivot(a));
    }
    g.w[p] = flag_free(a);
}

template <class T> __global__ void __launch_bounds__(PLAIN) begin_kernel(const entry_args<T> g)
{
    pivot_counts counts = {};
    for (int64_t p = index_of_thread(); p < g.s.nnz; p += all_threads()) begin_entry(g, p, counts);
    for (int64_t i = index_of_thread(); i < g.s.n; i += all_threads())
        begin_row(g, (int32_t)i, counts);
    conclude<T>(g.rules, counts);
}

/* ---- after ---------------------------------------------------------------------------------------------------- */

/* What the factors have for entry p. */
template <class T> __device__ inline T factor_entry(const entry_args<T> &g, int64_t p)
{
    const int32_t kind = g.s.kind[p];
    const T w = g.w[p];
    if (kind == ENTRY_PIVOT && g.rules.cholesky) return root(g.rules, w);
    if (kind < 0) return w;
    const T c = g.inv[kind];
    if (!g.rules.cholesky) return over_pivot(w, c);
    const double re = (double)real_part(c);
    const T by = number<T>(g.rules.sign ? copysign(sqrt(fabs(re)), re) : sqrt(re));
    return is_inverse(c) ? w * by : w / by;
}

/* Entry p, which is no pivot and not finite: does it speak for its row?  The pivot does where it is bad itself, else the
 * first such entry. */
template <class T> __device__ inline bool speaks(const entry_args<T> &g, int64_t p, int32_t row)
{
    if (fault_of(g.rules, g.w[g.p.diag[row]], true)) return false;
    for (int64_t q = g.p.ptr[row]; q < p; q++)
        if (g.s.kind[q] != ENTRY_UNUSED && !is_finite(factor_entry(g, q))) return false;
    return true;
}

template <class T>
__device__ inline void end(const entry_args<T> &g, int64_t p, pivot_counts &counts)
{
    const int32_t kind = g.s.kind[p];
    if (kind == ENTRY_UNUSED) return;
    const T v = factor_entry(g, p);
    if (kind < 0) note(counts.largest, g.w[p]);
    if (kind == ENTRY_PIVOT) report(g.rules, counts, g.s.row[p], fault_of(g.rules, g.w[p], true));
    else if (!is_finite(v) && speaks(g, p, g.s.row[p]))
        report(g.rules, counts, g.s.row[p], TRS_ILU_INFINITE);
    if (g.s.to[p] >= 0) g.val[g.s.to[p]] = v;
}

template <class T> __global__ void __launch_bounds__(PLAIN) end_kernel(const entry_args<T> g)
{
    pivot_counts counts = {};
    for (int64_t p = index_of_thread(); p < g.s.nnz; p += all_threads()) end(g, p, counts);
    conclude<T>(g.rules, counts);
}

/* ---- the host side -------------------------------------------------------------------------------------------- */

/* Blocks of 256: the more there are that wait, the longer each look takes. */
static int node_blocks(trs_dtype t, int32_t tasks)
{
    int blocks = 0;
    for_type(t, [&]<class T>(T) {
        const double wanted = fmin(multiprocessors(), blocks_of(tasks, nodes::WARPS));
        blocks = waiting_blocks((const void *)nodes::kernel<T>, nodes::THREADS, 0, wanted);
        return TRS_OK;
    });
    return blocks;
}

/* Bytes that lists of products may take; 0: that is not known. */
static int64_t list_budget()
{
    const int64_t most = (int64_t)4 << 30;
    size_t available = 0, all = 0;
    if (cuda_failed(cudaMemGetInfo(&available, &all))) return 0;
    return min((int64_t)available / 4, most);
}

static void entries_destroy(trs_context *ctx, void *data)
{
    entries *e = (entries *)data;
    device_free(ctx, e->memory, e->s.lists);
    trs_free(&ctx->mem, e);
}

static int make(trs_context *ctx, const trs_elimination_pattern *p, entries *e)
{
    entry_schedule *s = &e->s;
    entry_making m = {.ctx = ctx, .p = p, .s = s, .budget = list_budget()};
    const int64_t size = (int64_t)trs_size(p->dtype);
    auto kept = [&](carver &carve) {
        carve(s->row, p->nnz);
        carve(s->kind, p->nnz);
        carve(s->from, p->nnz);
        carve(s->to, p->nnz);
        carve(e->w, p->nnz * size);
        carve(e->inv, p->n * size);
        carve(e->row_largest, p->n);
    };
    s->n = p->n;
    s->nnz = (int32_t)p->nnz;
    e->memory = carve_new(ctx, "entries of an elimination", kept);
    void *making = carve_new(ctx, "levels of entries", [&](carver &carve) {
        carve(m.range, p->nnz);
        carve(m.level, p->nnz);
    });
    int rc = e->memory && making ? TRS_OK : TRS_EMEM;
    if (!rc) rc = entry_products(&m);
    if (!rc) rc = entry_levels(&m);
    if (!rc) rc = entry_tasks(&m);
    if (!rc) rc = trs_gpu_wait(NULL);
    device_free(ctx, making, m.operands);
    return rc;
}

static int entries_create(trs_context *ctx, const trs_elimination_pattern *p,
                          const elimination_shape *shape, void **data)
{
    (void)shape;
    entries *e = data_new<entries>(ctx, data);
    if (!e) return TRS_EMEM;
    int rc = p->nnz > 0 ? make(ctx, p, e) : TRS_OK;
    if (!rc && e->s.tasks > 0) {
        e->blocks = node_blocks(p->dtype, e->s.tasks);
        if (e->blocks == 0) rc = TRS_ESUPPORT;
    }
    if (rc) {
        entries_destroy(ctx, e);
        *data = NULL;
    }
    return rc;
}

template <class T>
static int run(const trs_elimination_pattern *p, const entries *e, const trs_elimination_job *job)
{
    cudaStream_t stream = (cudaStream_t)job->stream;
    const entry_args<T> g = {e->s,          *p,        rules_of(p, job), (const T *)job->a,
                             (T *)job->val, (T *)e->w, (T *)e->inv,      e->row_largest};
    if (job->boost > 0) {
        cudaMemsetAsync(e->row_largest, 0, (size_t)p->n * sizeof(double), stream);
        largest_kernel<<<blocks_of(p->nnz), PLAIN, 0, stream>>>(g);
    }
    begin_kernel<<<few_blocks(p->nnz), PLAIN, 0, stream>>>(g);
    int rc = launched();
    if (!rc) rc = nodes::launch(g, e->blocks, stream);
    if (!rc) rc = tail::launch(g, stream);
    if (rc) return rc;
    end_kernel<<<few_blocks(p->nnz), PLAIN, 0, stream>>>(g);
    return launched();
}

static int entries_run(const trs_elimination_pattern *p, const void *data,
                       const trs_elimination_job *job)
{
    if (p->nnz == 0) return TRS_OK;
    return for_type(p->dtype, [&]<class T>(T) { return run<T>(p, (const entries *)data, job); });
}

/* Seconds on an H200: a dependency latency a level, some 80 bytes an entry, and products, of which there may be fewer than
 * candidates. */
static double entries_cost(const trs_elimination_pattern *p, const elimination_shape *s)
{
    if (p->nnz > INT32_MAX || s->last_place > INT32_MAX) return INFINITY;
    return 15e-6 + 0.9e-6 * p->levels + 80 / 3.5e12 * (double)p->nnz +
           1e-11 * (double)s->candidates;
}

const elimination_kernel entry_elimination = {"entries", entries_cost, entries_create, entries_run,
                                              entries_destroy};
