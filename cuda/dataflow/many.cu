/* many.cu: cuda-dataflow with several right-hand sides: which kernel (many.cuh), how it is launched, what it
 * costs.
 *
 * Bytes in fp64: 12 nnz + 20 n, then for each right-hand side 8 nnz of y, and 56 n of B, y, X and the
 * conversion of B and X to rows and back.  Bound by the dependency latency where levels are narrow, else by y
 * and this conversion. */
#include "config.h"

#include "many.cuh"

#include <climits>

/* ---- B and X by rows ----------------------------------------------------------------------------------- */

/* rows (i, r) = b (i, r), and 0 from right-hand side nrhs on.  A tile of 32 rows is turned in shared memory, so
 * that b is read along its columns and rows is written along its rows: both in whole sectors. */
template <class T, int R>
static __global__ void to_rows(int32_t n, int nrhs, const view<T> b, T *rows)
{
    __shared__ T tile[R][WARP + 1];
    const int64_t first = (int64_t)blockIdx.x * WARP;
    for (int k = threadIdx.x; k < WARP * R; k += THREADS) {
        const int i = k % WARP, r = k / WARP;
        tile[r][i] = first + i < n && r < nrhs ? b(first + i, r) : number<T>(0);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < WARP * R; k += THREADS)
        if (first + k / R < n) rows[first * R + k] = tile[k % R][k / R];
}

/* x (i, r) = y (row_node (i), r), likewise. */
template <class T, int R>
static __global__ void to_columns(int32_t n, int nrhs, const T *y, const int32_t *row_node,
                                  const view<T> x)
{
    __shared__ T tile[R][WARP + 1];
    const int64_t first = (int64_t)blockIdx.x * WARP;
    for (int k = threadIdx.x; k < WARP * R; k += THREADS)
        if (first + k / R < n) tile[k % R][k / R] = y[(int64_t)row_node[first + k / R] * R + k % R];
    __syncthreads();
    for (int k = threadIdx.x; k < WARP * R; k += THREADS) {
        const int i = k % WARP, r = k / WARP;
        if (first + i < n && r < nrhs) x(first + i, r) = tile[r][i];
    }
}

/* ---- the host side -------------------------------------------------------------------------------------- */

static const int widths[MANY_KERNELS] = {2, 4, 8, 16, 32};

/* The narrowest kernel that has room for nrhs right-hand sides, or the widest one. */
static int kind_of(int nrhs)
{
    int k = 0;
    while (k + 1 < MANY_KERNELS && widths[k] < nrhs) k++;
    return k;
}

int many_width(int nrhs)
{
    return widths[kind_of(nrhs)];
}

int many_at_once(int nrhs)
{
    return min(nrhs, many_width(nrhs));
}

/* Calls f (shape) with one of the two shapes that there are for a width.  A team has the lanes of at least 8
 * right-hand sides; where rows are long, four times as many, as far as a warp has them, split the entries. */
template <class T, int R, class F> static int for_length(bool long_rows, F f)
{
    constexpr int SHORT = R < 8 ? 8 / R : 1, WIDE = sizeof(T) > 8 ? 1 : 2;
    constexpr int LONG = R < 32 ? 4 * SHORT : WIDE;
    if (long_rows) return f(shape<T, R, LONG>());
    return f(shape<T, R, SHORT>());
}

template <class T, int R = 2, class F> static int for_shape(int width, bool long_rows, F f)
{
    if constexpr (R < 32)
        if (width > R) return for_shape<T, 2 * R>(width, long_rows, f);
    return for_length<T, R>(long_rows, f);
}

/* row_node, and squares += the squares of the lengths of all nodes. */
static __global__ void row_node_kernel(const trs_flow f, int32_t *row_node,
                                       unsigned long long *squares)
{
    __shared__ unsigned long long s[PLAIN];
    const int32_t k = index32_of_thread();
    const int64_t length = k < f.nodes ? f.ptr[k + 1] - f.ptr[k] : 0;
    s[threadIdx.x] = (unsigned long long)(length * length);
    if (k < f.nodes && f.row[k] >= 0) row_node[f.row[k]] = k;
    __syncthreads();
    block_sum(s, PLAIN);
    if (threadIdx.x == 0) atomicAdd(squares, s[0]);
}

/* d->row_node and d->long_rows.  The average over the entries of the length of the node that an entry is in is
 * the sum of the squared lengths over the sum of the lengths; where it is large, lanes share rows. */
static int look_at_rows(trs_context *ctx, dataflow *d)
{
    enum { LONG = 10 }; /* entries: triangles with 9 are faster as short ones, with 11.5 as long */
    const trs_flow *f = &d->flow;
    unsigned long long squares = 0;
    void *sum = trs_gpu_scratch(ctx, sizeof squares, "lengths of rows");
    if (!sum) return TRS_EMEM;
    if (f->nodes == 0) return TRS_OK;
    cudaMemsetAsync(sum, 0, sizeof squares);
    row_node_kernel<<<blocks_of(f->nodes), PLAIN>>>(*f, d->row_node, (unsigned long long *)sum);
    const int rc = trs_gpu_get(ctx, &squares, sum, sizeof squares);
    d->long_rows = (double)squares > (double)LONG * (double)f->nnz;
    return rc;
}

/* As many blocks as the teams of six levels fill, or as many as there is room for where rows are long. */
template <class S> static int count_blocks(const dataflow *d)
{
    const trs_flow *f = &d->flow;
    const double six = 6.0 * f->nodes / (f->levels ? f->levels : 1) / (S::TEAMS * THREADS / WARP);
    return waiting_blocks((const void *)many_kernel<S>, THREADS, 0,
                          d->long_rows ? INT_MAX : max(six, (double)multiprocessors()));
}

/* Calls f (shape) with the shape of the kernel of that kind for d. */
template <class F> static int for_kernel(const dataflow *d, int kind, F f)
{
    return for_type(d->dtype,
                    [&]<class T>(T) { return for_shape<T>(widths[kind], d->long_rows, f); });
}

int many_new(trs_context *ctx, dataflow *d)
{
    int rc = look_at_rows(ctx, d);
    for (int k = 0; k < MANY_KERNELS && !rc; k++)
        rc = for_kernel(d, k, [&](auto shape) {
            d->many_blocks[k] = count_blocks<decltype(shape)>(d);
            return int(d->many_blocks[k] > 0 ? TRS_OK : TRS_EDEVICE);
        });
    return rc;
}

int64_t many_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs)
{
    return (nodes + n) * (int64_t)trs_size(dtype) * many_width(nrhs);
}

template <class S, class T = typename S::type>
static int launch(const many_args<T> &k, int blocks, cudaStream_t stream)
{
    const size_t flags = (size_t)k.nodes * S::WIDTH * sizeof(T);
    const int rc = cuda_status(cudaMemsetAsync(k.y, 0xff, flags, stream), "cuda-dataflow");
    if (rc) return rc;
    return launch_together((const void *)many_kernel<S>, blocks, THREADS, k, stream);
}

/* Where the columns of B and X are apart, a row of R numbers is in R sectors.  So B is brought into rows first,
 * and X is taken from y, which has rows already.  B and X by rows are read and written as they are. */
template <class S> static int solve(const dataflow *d, const trs_job *job, int blocks)
{
    using T = typename S::type;
    const trs_flow *f = &d->flow;
    const unsigned tiles = (unsigned)((d->n + WARP - 1) / WARP);
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const view<T> b = typed<T>(job->b), x = typed<T>(job->x);
    many_args<T> k = {f->nodes,
                      f->ptr,
                      f->idx,
                      f->row,
                      (const T *)d->val,
                      (const T *)d->inv,
                      d->flow.divides,
                      (T *)job->work,
                      NULL,
                      b,
                      x,
                      job->nrhs,
                      job->conj};
    TRS_ASSERT(job->nrhs <= S::WIDTH);
    if (b.cs == 1 || x.cs == 1) return launch<S>(k, blocks, stream);
    k.rows = k.y + (int64_t)f->nodes * S::WIDTH;
    k.x.p = NULL;
    to_rows<T, S::WIDTH><<<tiles, THREADS, 0, stream>>>(d->n, job->nrhs, b, k.rows);
    const int rc = launch<S>(k, blocks, stream);
    to_columns<T, S::WIDTH><<<tiles, THREADS, 0, stream>>>(d->n, job->nrhs, k.y, d->row_node, x);
    if (rc) return rc;
    return launched();
}

int many_solve(const dataflow *d, const trs_job *job)
{
    const int kind = kind_of(job->nrhs);
    return for_kernel(
        d, kind, [&](auto shape) { return solve<decltype(shape)>(d, job, d->many_blocks[kind]); });
}

/* Some teams of lanes, dataflow_many_teams, take the rows in turn.  Where a level has more rows than there are teams, a
 * team comes late to a long row: all operands are there, and the rounds in which they are loaded take time.  Elsewhere
 * the team has multiplied all operands but the last when that one comes.  Rows of thousands of entries wait for their
 * partial sums, too.  The widest level is left out: it is often the first, of rows that wait for none. */
void many_cost(const trs_shape *s, int width, const trs_machine *m, trs_cost *c)
{
    const double n = (double)s->n, nnz = (double)s->nnz, levels = max((double)s->levels, 1.);
    const double numbers = width * s->elem, operands = width < 32 ? 16 : 8; /* in a round */
    const double rows = max(n - (double)s->widest, 0.) / levels, thousands = 2048;
    const double late =
        s->sum_longest / operands * min(rows / m->dataflow_many_teams, 1.); /* rounds */
    const double partials = min(s->sum_longest / thousands, levels);
    c->bytes =
        (m->dataflow_many_entries * nnz * (s->elem + 4) + m->dataflow_many_rows * n * numbers) *
        m->gpu_byte;
    c->sync = m->dataflow_many_launches * m->gpu_launch;
    c->latency = (levels * (m->dataflow_many_level + m->dataflow_many_wider * log2(1 + rows)) +
                  m->dataflow_many_partial * partials + m->dataflow_many_late * late) *
                 m->gpu_latency;
}
