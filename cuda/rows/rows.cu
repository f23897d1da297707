/* rows.cu: cuda-rows: the rows in the caller's order, in one launch, without any analysis.
 *
 *     x (i) = (b (i) - sum of L (i, j) x (j)) / L (i, i)
 *
 * Who computes a row: a lane, and a warp has 32 consecutive rows.  All lanes of the warp share the entries of a row of more
 * than LONG entries, and add up their sums by shuffles, in an order that depends on the length of the row alone.
 *
 * How x becomes visible: in memory each number of y is its own flag (runtime/flag.cuh); all bits of y are set before the launch.
 * Rows of the same warp hand x on by shuffles: a lane looks there for the columns of its own 32 rows, which come last in a row.
 * So a chain of 32 rows costs one latency between multiprocessors and 32 shuffles.
 *
 * Why it cannot hang: the launch is cooperative, so all warps are resident, and warp w of W takes the groups of 32 rows w, w + W,
 * ... in order.  No lane waits for another in the loop over a group, and in each round the short rows and one long row are looked
 * at.  Consider the first row that is not published.  Its group is the one that its warp has, since the rows of the groups before
 * come before it.  All x that it needs are published, so its lane, or all lanes if it is long and the first long row of the group
 * (a long row before it would be published), adds them up in finitely many rounds, and publishes it.
 *
 * Bytes in fp64: 12 nnz + 32 n, and the memset of y, 8 n.  Bound by the latency of rows in different warps that wait for one
 * another, and by how many rows are resident where those of a level are apart. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"
#include "cuda/runtime/flag.cuh"

enum { THREADS = 256, WARP = 32, BATCH = 4, LONG = 64 /* entries */, PER_SM = 2 /* blocks */ };

/* rows that GPUs of 100 multiprocessors and more hold at once: beyond that, rows may wait that no warp looks at */
enum { AT_ONCE = 50000 };

template <class T> struct rows_args {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    const T *Lx;
    T *y; /* [n] numbers that are their own flags */
    view<T> b, x;
    bool cj;
};

/* ---- entries ----------------------------------------------------------------------------------------- */

/* The entries p, p + STRIDE, ... of a row whose x comes from memory, BATCH of them at a time, which are added in this order. */
template <class T, int STRIDE> struct watch {
    int64_t p, end; /* entries that are not loaded yet */
    int32_t column[BATCH];
    T a[BATCH], v[BATCH];
    int added, count; /* entries of the batch */
    T sum;

    /* Only entries in columns before `first`. */
    __device__ void load(const rows_args<T> &k, int32_t first)
    {
        added = count = 0;
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            const int64_t q = p + j * STRIDE;
            if (q >= end) continue;
            column[j] = k.Li[q];
            a[j] = conj_if(k.cj, k.Lx[q]);
            if (column[j] < first) count = j + 1;
        }
        p += count * STRIDE;
    }
    __device__ void start(const rows_args<T> &k, int32_t first, int64_t from, int64_t to)
    {
        p = from;
        end = to;
        sum = number<T>(0);
        load(k, first);
    }
    __device__ bool is_done() const
    {
        return count < BATCH && added == count;
    }
    /* Looks once for each x that is not added.  The loads are under way until add_up uses what they bring. */
    __device__ void look(const rows_args<T> &k)
    {
#pragma unroll
        for (int j = 0; j < BATCH; j++)
            if (added <= j && j < count) v[j] = flag_peek(k.y + column[j]);
    }
    __device__ void add_up(const rows_args<T> &k, int32_t first)
    {
#pragma unroll
        for (int j = 0; j < BATCH; j++)
            if (j == added && j < count && flag_there(v[j])) {
                sum = sum + a[j] * v[j];
                added++;
            }
        if (added == BATCH) load(k, first);
    }
};

/* ---- the rows of a warp ------------------------------------------------------------------------------ */

/* 32 consecutive rows, as a lane of the warp that has them sees it. */
template <class T> struct warp_rows {
    const rows_args<T> &k;
    int32_t first, i; /* the row of lane 0, and that of this lane */
    int64_t diagonal;
    T b, inv, x;
    bool divides; /* inv is the diagonal itself */
    watch<T, 1> row;
    watch<T, WARP> of_long; /* the lane's part of the long row of long_lane */
    int next,
        after; /* lanes whose x the row needs next, and then, to multiply it by these; -1: none */
    T next_a, after_a;
    bool is_long;        /* all lanes share the entries of the row */
    bool open;           /* the row is not published */
    bool outside;        /* it waits for x from memory */
    unsigned published;  /* lanes whose rows are */
    unsigned long_lanes; /* lanes with long rows that are not summed up */
    int long_lane;       /* whose long row is summed up now; -1: none */

    __device__ warp_rows(const rows_args<T> &all, int32_t from)
        : k(all), first(from), i(from + (int32_t)(threadIdx.x % WARP)), x(number<T>(0)), next(-1),
          published(0), long_lane(-1)
    {
        const int64_t begin = i < k.n ? k.Lp[i] : 0;
        int kept_as_it_is = 0;
        diagonal = i < k.n ? k.Lp[i + 1] - 1 : 0;
        open = outside = i < k.n;
        is_long = diagonal - begin > LONG;
        long_lanes = __ballot_sync(~0u, is_long);
        row.start(k, first, begin, is_long ? begin : diagonal);
        if (!open) return;
        b = k.b(i, 0);
        inv = kept(conj_if(k.cj, k.Lx[diagonal]), &kept_as_it_is);
        divides = kept_as_it_is;
        if (!is_long && row.is_done()) begin_inside();
    }

    /* The next entry in one of the warp's own columns. */
    __device__ void read_ahead()
    {
        after = row.p < row.end ? k.Li[row.p] - first : -1;
        if (after >= 0) after_a = conj_if(k.cj, k.Lx[row.p]);
        row.p++;
    }

    __device__ void take_next()
    {
        next = after;
        next_a = after_a;
        if (next >= 0) read_ahead();
        TRS_ASSERT(next < (int)(threadIdx.x % WARP));
    }

    __device__ void begin_inside()
    {
        outside = false;
        read_ahead();
        take_next();
    }

    __device__ bool waits() const { return outside && !is_long; }

    __device__ void start_long_row()
    {
        if (!long_lanes || long_lane >= 0) return;
        long_lane = __ffs((int)long_lanes) - 1;
        const int64_t end = __shfl_sync(~0u, diagonal, long_lane);
        const int64_t from = __shfl_sync(~0u, row.p, long_lane);
        of_long.start(k, INT32_MAX, from + threadIdx.x % WARP, end);
    }

    /* The sums of all lanes, when the long row is complete. */
    __device__ void end_long_row()
    {
        if (!__all_sync(~0u, of_long.is_done())) return;
        T sum = of_long.sum;
#pragma unroll
        for (int by = WARP / 2; by > 0; by /= 2) sum = sum + shuffle_xor(sum, by);
        if ((int)(threadIdx.x % WARP) == long_lane) {
            row.sum = sum;
            outside = false;
        }
        long_lanes &= long_lanes - 1;
        long_lane = -1;
    }

    __device__ void publish()
    {
        x = over(divides, b - row.sum, inv);
        TRS_ASSERT(!flag_there(flag_peek(k.y + i)));
        flag_store(k.y + i, x);
        k.x(i, 0) = x;
        open = false;
    }

    /* Publishes rows that are complete, and adds their x to rows of the warp, as long as that completes others. */
    __device__ void hand_on()
    {
        for (;;) {
            const bool ready = open && !outside && next < 0;
            published |= __ballot_sync(~0u, ready);
            if (ready) publish();
            const bool takes = open && !outside && next >= 0 && published >> (next & 31) & 1;
            if (!__any_sync(~0u, takes)) return;
            const T v = shuffle(x, next & 31);
            if (!takes) continue;
            row.sum = row.sum + next_a * v;
            take_next();
        }
    }

    /* While loads from memory are under way, x is handed on within the warp. */
    __device__ void compute()
    {
        while (__any_sync(~0u, open)) {
            start_long_row();
            if (waits()) row.look(k);
            if (long_lane >= 0) of_long.look(k);
            hand_on();
            if (waits()) {
                row.add_up(k, first);
                if (row.is_done()) begin_inside();
            }
            if (long_lane < 0) continue;
            of_long.add_up(k, INT32_MAX);
            end_long_row();
        }
    }
};

template <class T>
static __global__ void __launch_bounds__(THREADS, PER_SM) rows_kernel(const rows_args<T> k)
{
    const int64_t warps = (int64_t)gridDim.x * (THREADS / WARP);
    /* neighbouring groups go to different multiprocessors, which then share the work of a level */
    const int64_t first = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    for (int64_t t = first; t * WARP < k.n; t += warps) {
        warp_rows<T> rows(k, (int32_t)(t * WARP));
        delay();
        rows.compute();
    }
}

/* ---- the solver -------------------------------------------------------------------------------------- */

struct rows_data {
    int blocks;
};

static int build(trs_instance *inst)
{
    int rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    rows_data *d = data_new<rows_data>(inst->ctx, &inst->data);
    if (!d) return TRS_EMEM;
    const int wanted = min((int)blocks_of(inst->op->tri.n), PER_SM * multiprocessors());
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        d->blocks = waiting_blocks((const void *)rows_kernel<T>, THREADS, 0, max(wanted, 1));
        return int(d->blocks > 0 ? TRS_OK : TRS_EDEVICE);
    });
}

static void release(trs_instance *inst)
{
    trs_free(&inst->ctx->mem, inst->data);
}

static int64_t work_bytes(const trs_instance *inst, int)
{
    return (int64_t)inst->op->tri.n * (int64_t)trs_size(inst->op->tri.dtype);
}

template <class T> static int solve_one(const trs_instance *inst, const trs_job *job, int column)
{
    const trs_device_view *L = &inst->op->device;
    const int32_t n = inst->op->tri.n;
    cudaStream_t stream = (cudaStream_t)job->stream;
    const rows_args<T> k = {n,
                            L->ptr,
                            L->idx,
                            (const T *)L->val,
                            (T *)job->work,
                            from_column(typed<T>(job->b), column),
                            from_column(typed<T>(job->x), column),
                            job->conj};
    const int blocks = ((const rows_data *)inst->data)->blocks;
    const int rc =
        cuda_status(cudaMemsetAsync(k.y, 0xff, (size_t)n * sizeof(T), stream), "cuda-rows");
    if (rc) return rc;
    return launch_together((const void *)rows_kernel<T>, blocks, THREADS, k, stream);
}

/* One right-hand side after the other. */
static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        int rc = TRS_OK;
        for (int r = 0; r < job->nrhs && !rc; r++) rc = solve_one<T>(inst, job, r);
        return rc;
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const double entry = (s->elem + 4) * m->gpu_byte + m->gpu_gather;
    c->bytes = ((double)s->nnz * entry + (double)s->n * (16 + 3 * s->elem) * m->gpu_byte) * s->nrhs;
    c->sync = m->rows_launches * m->gpu_launch * s->nrhs;
    c->latency = (double)s->levels * m->rows_level * m->gpu_latency * s->nrhs;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 8 * (s->n + 1);
}

const trs_solver trs_solver_rows = {
    .name = "cuda-rows",
    .about = "rows in the caller's order, one launch, no analysis",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .at_once = AT_ONCE,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
