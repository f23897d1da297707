/* gauss.cuh: Gaussian elimination of A and b together, then back substitution: shared by gauss-texture, gauss-vec4
 * and gauss-shared.
 * Source: "Deeper look into the code" of a study of Gaussian elimination in OpenCL.
 *
 *     step p:   (A b)(i, j) = (A b)(i, j) - (A b)(i, p) / (A b)(p, p) (A b)(p, j),   i, j > p      makes  U x = y
 *     row i:    x(i) = (y(i) - sum, j > i, of U(i, j) x(j)) / U(i, i)                from the last row on
 *
 * One right-hand side at a time is appended to A as column n of a copy in the work space, eliminated and substituted.
 * An update eliminates once with b = 0, to find bad pivots and growth before anything is solved.
 *
 * One block of threads does the back substitution: the products of a row go to the first half of shared memory,
 * halving sums them, and x(i) goes to the second half.  If the columns outnumber the threads, the threads move along
 * as a sliding window.  Barriers make shared memory visible; with one block nothing can hang.
 * Bytes: elem n^2 / 2. The time is that of about log2 n + 3 barriers a row.
 *
 * In the document the empty sum of the last row is read from shared memory that no thread has written; here that row
 * has no sum. */
#ifndef TRS_GAUSS_CUH
#define TRS_GAUSS_CUH

#include "cuda/baseline/general.cuh"

/* A solver is a way W to eliminate: memory objects of rows x cols, cols > rows, and
 *     number, TYPE           type of the elements
 *     create, destroy        make the memory objects (0 or an error code with a sentence), and free them
 *     allow (bytes)          let its kernels have that much shared memory: TRS_OK, TRS_EDEVICE
 *     eliminate (stream)     launches the steps
 *     put (row, col, a)      writes the object that elimination begins with
 *     get (row, col)         reads the object that a row ends in: U, and y in column `rows`
 * Kernels take a W by value. */

enum { SOLVE_THREADS = 1024, LOAD_THREADS = 256 };

/* A thread an element: (A b), or (A 0) where b.p is NULL. */
template <class W>
static __global__ void load_kernel(W w, const typename W::number *A, view<typename W::number> b)
{
    const int col = blockIdx.x * LOAD_THREADS + threadIdx.x, row = blockIdx.y;
    if (col >= w.cols) return;
    typename W::number a = 0;
    if (col < w.rows) a = A[(int64_t)row * w.rows + col];
    else if (col == w.rows && b.p) a = b(row, 0);
    w.put(row, col, a);
}

/* A thread an element: U (row, col) on and above the diagonal. */
template <class W> static __global__ void upper_kernel(W w, typename W::number *U)
{
    const int col = blockIdx.x * LOAD_THREADS + threadIdx.x, row = blockIdx.y;
    if (col >= row && col < w.rows) U[(int64_t)row * w.rows + col] = w.get(row, col);
}

/* lmem[first] = lmem[first] + ... + lmem[first+count-1] by halving, where an odd one out is taken along by the last
 * pair; all threads of the block call it. */
template <class T> static __device__ inline void sum_by_halving(T *lmem, int first, int count)
{
    int is_odd = count & 1;
    for (int i = count >> 1; i > 0; i = i >> 1) {
        for (int col = threadIdx.x; col < i; col += blockDim.x) {
            const int temp_col = first + col;
            lmem[temp_col] += lmem[temp_col + i];
            if (col == i - 1 && is_odd) lmem[temp_col] += lmem[temp_col + i + 1];
        }
        __syncthreads();
        is_odd = i & 1;
    }
}

template <class W>
static __global__ void __launch_bounds__(SOLVE_THREADS)
    solve_kernel(W w, view<typename W::number> x)
{
    using T = typename W::number;
    T *lmem = shared_numbers<T>(); /* [2*rows] products, results */
    const int rows = w.rows, li = threadIdx.x, n_li = blockDim.x;
    for (int row = rows - 1; row >= 0; --row) {
        for (int col = li; col < rows; col += n_li)
            if (col > row) lmem[col] = lmem[rows + col] * w.get(row, col);
        __syncthreads();
        const int cols_remaining = rows - 1 - row;
        sum_by_halving(lmem, row + 1, cols_remaining);
        for (int col = li; col < rows; col += n_li)
            if (col == row) {
                T sum = w.get(row, rows);
                if (cols_remaining > 0) sum -= lmem[row + 1];
                lmem[rows + col] = sum / w.get(row, col);
            }
        __syncthreads();
    }
    for (int col = li; col < rows; col += n_li) x(col, 0) = lmem[rows + col];
}

template <class W> inline void load(const W &w, const void *A, view<typename W::number> b, void *s)
{
    const dim3 grid(blocks_of(w.cols, LOAD_THREADS), (unsigned)w.rows);
    load_kernel<W><<<grid, LOAD_THREADS, 0, (cudaStream_t)s>>>(w, (const typename W::number *)A, b);
}

/* ---- the functions of a solver ------------------------------------------------------------------- */

template <class W> int gauss_build(trs_instance *inst)
{
    const size_t each = 2 * sizeof(typename W::number);
    const trs_tri *t = &inst->op->tri;
    const char *name = inst->solver->name;
    int bytes = 0;
    const int rc = cuda_status(
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, inst->ctx->device),
        "shared memory of a block");
    if (rc) return rc;
    const int most = bytes / (int)each; /* rows */
    if (t->dtype != W::TYPE)
        return trs_fail(TRS_ESUPPORT, "%s solves real numbers of %d bits only", name,
                        8 * (int)sizeof(typename W::number));
    if (t->n > most)
        return trs_fail(TRS_ESUPPORT,
                        "%s keeps two numbers a row in the shared memory of one block: "
                        "it has room for %d rows, not %d",
                        name, most, t->n);
    if (allow_shared(solve_kernel<W>, (size_t)most * each) || W::allow((size_t)most * each))
        return TRS_EDEVICE;
    return general_build(inst);
}

template <class W> void gauss_work_destroy(trs_context *ctx, void *work)
{
    ((W *)work)->destroy(ctx);
    trs_free(&ctx->mem, work);
}

template <class W>
int gauss_work_create(const trs_instance *inst, trs_context *ctx, int, void **work)
{
    W *w = data_new<W>(ctx, work);
    if (!w) return TRS_EMEM;
    w->rows = inst->op->tri.n;
    return w->rows ? w->create(ctx) : TRS_OK;
}

/* Eliminate with b = 0 and judge U. */
template <class W> int gauss_update(trs_instance *inst, void *stream)
{
    using T = typename W::number;
    general_data *d = (general_data *)inst->data;
    double before = 0;
    void *work = NULL;
    int rc = general_values(inst, d, stream);
    if (rc || inst->op->tri.n == 0) return rc;
    rc = general_largest(inst, d, false, &before);
    if (!rc) rc = gauss_work_create<W>(inst, inst->ctx, 1, &work);
    if (!rc) {
        W w = *(W *)work;
        general_data upper = *d;
        upper.A = d->columns;
        load(w, d->A, view<T>{NULL, 1, 1}, NULL);
        w.eliminate(NULL);
        upper_kernel<W><<<dim3(blocks_of(w.rows, LOAD_THREADS), (unsigned)w.rows), LOAD_THREADS>>>(
            w, (T *)upper.A);
        rc = launched();
        if (!rc) rc = general_verdict(inst, &upper, before);
    }
    if (work) gauss_work_destroy<W>(inst->ctx, work);
    return rc;
}

/* An update has left U in columns, by rows. */
inline int gauss_pivots(const trs_instance *inst, trs_context *, void *u, bool *)
{
    return trs_general_diagonal_there(inst, ((const general_data *)inst->data)->columns, u);
}

template <class W> int gauss_solve(const trs_instance *inst, const trs_job *job)
{
    using T = typename W::number;
    const general_data *d = (const general_data *)inst->data;
    const cudaStream_t s = (cudaStream_t)job->stream;
    W w = *(const W *)job->work;
    for (int r = 0; r < job->nrhs; r++) {
        load(w, d->A, from_column(typed<T>(job->b), r), s);
        w.eliminate(s);
        solve_kernel<W><<<1, SOLVE_THREADS, 2 * (size_t)w.rows * sizeof(T), s>>>(
            w, from_column(typed<T>(job->x), r));
    }
    return launched();
}

/* A twice, and the two memory objects of a work space. */
inline int64_t gauss_bytes(const trs_prospect *p)
{
    return 2 * general_bytes(p);
}

inline const char *gauss_estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                                  trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const double n = (double)s->n;
    c->bytes = 2.0 / 3 * n * n * n * s->elem * m->gpu_byte * s->nrhs;
    c->sync = (n + 2) * m->gpu_launch * s->nrhs;
    c->latency = n * m->gauss_row * s->nrhs;
    return NULL;
}

/* The entry of a way in the table of solvers. */
template <class W> constexpr trs_solver gauss_solver(const char *name, const char *about)
{
    trs_solver s = general_solver(name, about, gauss_update<W>);
    s.estimate = gauss_estimate;
    s.bytes = gauss_bytes;
    s.build = gauss_build<W>;
    s.solve = gauss_solve<W>;
    s.pivots = gauss_pivots;
    s.work_create = gauss_work_create<W>;
    s.work_destroy = gauss_work_destroy<W>;
    return s;
}

#endif
