/* wide.cuh: the kernel of wide.cu, which has the method: what a warp does with its tasks, and the copies of x.
 *
 * cuda/peers runs the same code for a part of a triangle whose other parts are on other devices.  So the functions are
 * templates of their arguments K, which say what differs there:
 *
 *        look          how to look at y (operands.cuh)
 *        PUSH_INTS     integers of a stage that say where x has to be sent
 *        is_mine       is row i computed here?  -1: no row
 *        begin_push    begins to copy these integers
 *        push_of       what they say for the lane, asked before it waits: at least whether it has a node to compute
 *        send          sends x of a node, after it was stored here */
#ifndef TRS_WIDE_CUH
#define TRS_WIDE_CUH

#include "operands.cuh"

enum {
    STAGES = 3,
    AHEAD = STAGES - 1,
    GROUP = 4,    /* entries that are copied at a time */
    TOGETHER = 3, /* operands of a row that are waited for together */
    COPIERS = 2,  /* warps of a block that copy x */
    COPIED = 4,   /* rows of x that a lane of theirs copies at a time */
    PAUSE = 100,  /* ns between their looks */
    PASS = 1024   /* threads of a block that copies x after the kernel */
};

/* The schedule and values as in flow.h. */
template <class T> struct wide_args {
    using type = T;
    using look = look_here;
    int32_t n, tasks;
    int32_t room;  /* entries of a stage, a multiple of GROUP */
    int32_t warps; /* of a block that solve; those behind them copy x */
    const trs_flow_task *task;
    const int64_t *ptr;
    const uint16_t *within;
    const int32_t *idx, *row, *row_node;
    const T *val, *inv;
    const int *divides;
    T *y; /* [nodes] numbers that are their own flags */
    view<T> b, x;
    bool cj; /* conj (T) x = b */

    /* x is sent nowhere */
    static constexpr int PUSH_INTS = 0;
    struct push {
        bool has_node;
    };
    __device__ bool is_mine(int32_t i) const { return i >= 0; }
    template <class H, class S> __device__ void begin_push(const H &, const S &) const {}
    template <class S> __device__ push push_of(const S &s) const
    {
        return {(int)(threadIdx.x % WARP) < s.first[1]};
    }
    __device__ void send(const push &, int32_t, T) const {}
};

/* ---- copies into shared memory ----------------------------------------------------------------------------- */

/* Lines that are read once should leave L2 before those of y. */
__device__ inline uint64_t read_once()
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* Begins to copy a number of 4, 8 or 16 bytes. */
template <class T> __device__ inline void copy_later(T *to, const T *from)
{
    const unsigned there = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(there), "l"(from), "n"(sizeof(T))
                 : "memory");
}

/* The same for 16 bytes that are read once. */
__device__ inline void copy_later(int4 *to, const int4 *from, uint64_t policy)
{
    const unsigned there = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(there),
                 "l"(from), "l"(policy)
                 : "memory");
}

__device__ inline void end_of_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all copies of this lane but those of the last AHEAD groups. */
__device__ inline void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"((int)AHEAD) : "memory");
}

/* ---- a stage: what a warp needs of a task, in shared memory --------------------------------------------------- */

enum { STAGE_INTS = WARP + 4 };

/* The entries of node k of the task are at begin[k] ... begin[k+1] - 1 of val and idx; nodes from count on have none. */
template <class K> struct stage {
    using T = typename K::type;
    T *val, *b, *inv;     /* [room], [WARP], [WARP] */
    int32_t *idx, *begin; /* [room], [WARP+1] */
    int32_t *first;       /* [2] first node and count of the task */
    int32_t *push;        /* [PUSH_INTS] */

    static __host__ __device__ size_t bytes(int32_t room)
    {
        return (size_t)room * (sizeof(T) + sizeof(int32_t)) + 2 * WARP * sizeof(T) +
               (STAGE_INTS + K::PUSH_INTS) * sizeof(int32_t);
    }

    __device__ stage(unsigned char *at, int32_t room)
        : val((T *)at), b(val + room), inv(b + WARP), idx((int32_t *)(inv + WARP)),
          begin(idx + room), first(begin + WARP + 1), push(begin + STAGE_INTS)
    {
    }
};

/* Where the entries and b of a task are; each lane knows it of one node.  It is read a step before they are. */
struct head {
    trs_flow_task task;
    int64_t from, begin,
        end; /* entries of the task; the node's first one, or end where the task has no such node */
    int32_t row;
};

template <class K> __device__ inline head read_head(const K &k, trs_flow_task task)
{
    const int lane = threadIdx.x % WARP;
    head h = {task, 0, 0, 0, -1};
    TRS_ASSERT(task.lanes == 1 && task.count <= WARP);
    if (task.count == 0) return h;
    h.from = k.ptr[task.first];
    h.end = h.begin = k.ptr[task.first + task.count];
    if (lane < task.count) {
        h.begin = h.from + k.within[task.first + lane];
        h.row = k.row[task.first + lane];
    }
    return h;
}

/* Begins to copy what the stage has room for. */
template <class K>
__device__ inline void fetch(const K &k, const head &h, const stage<K> &s, uint64_t policy)
{
    using T = typename K::type;
    const int lane = threadIdx.x % WARP;
    const int64_t from = h.from / GROUP * GROUP;
    const int groups = (int)((h.end - from + GROUP - 1) / GROUP);
    const int pieces = groups * (int)(GROUP * sizeof(T) / sizeof(int4));
    TRS_ASSERT(groups * GROUP <= k.room);
    for (int p = lane; p < pieces; p += WARP)
        copy_later((int4 *)s.val + p, (const int4 *)(k.val + from) + p, policy);
    for (int p = lane; p < groups; p += WARP)
        copy_later((int4 *)s.idx + p, (const int4 *)(k.idx + from) + p, policy);
    if (k.is_mine(h.row)) {
        copy_later(s.b + lane, &k.b(h.row, 0));
        copy_later(s.inv + lane, k.inv + h.task.first + lane);
    }
    k.begin_push(h, s);
    end_of_copies();
    s.begin[lane] = (int32_t)(h.begin - from);
    if (lane > 0) return;
    s.begin[WARP] = (int32_t)(h.end - from);
    s.first[0] = h.task.first;
    s.first[1] = h.task.count;
}

/* ---- a task --------------------------------------------------------------------------------------------------- */

/* The sum of the lane's row.  left: entries from here to the end of the row, the same for all lanes; rows that
 * have fewer begin later.  All lanes come to each ballot. */
template <class K, class T = typename K::type>
__device__ inline T sum_of_row(const K &k, const stage<K> &s)
{
    const int lane = threadIdx.x % WARP, begin = s.begin[lane], end = s.begin[lane + 1];
    const int most = (int)__reduce_max_sync(~0u, (unsigned)(end - begin));
    T sum = number<T>(0);
    for (int left = (most + TOGETHER - 1) / TOGETHER * TOGETHER; left > 0; left -= TOGETHER) {
        batch<T, TOGETHER> e;
        clear(e);
#pragma unroll
        for (int j = 0; j < TOGETHER; j++) {
            const int q = end - left + j;
            if (q >= begin) put_entry(e, j, s.idx[q], conj_if(k.cj, s.val[q]));
        }
        do poll_batch<1, typename K::look>(k.y, e);
        while (__any_sync(~0u, e.waiting != 0));
        sum = add_batch(sum, e);
    }
    return sum;
}

/* A batch of the entries from `at` on, those before the row's begin left out.  A first look at the operands is under way:
 * nothing here needs what it finds. */
template <class K, class T = typename K::type>
__device__ inline void begin_batch(const K &k, const stage<K> &s, int begin, int at,
                                   batch<T, TOGETHER> &e)
{
    clear(e);
#pragma unroll
    for (int j = 0; j < TOGETHER; j++)
        if (at + j >= begin) put_entry(e, j, s.idx[at + j], conj_if(k.cj, s.val[at + j]));
#pragma unroll
    for (int j = 0; j < TOGETHER; j++)
        if (e.waiting >> j & 1) e.y[j] = K::look::at(k.y + e.node[j]);
}

/* sum + that of the batch, whose operands are waited for by all lanes of the warp together. */
template <class K, class T = typename K::type>
__device__ inline T end_batch(const K &k, T sum, batch<T, TOGETHER> &e)
{
#pragma unroll
    for (int j = 0; j < TOGETHER; j++)
        if (flag_there(e.y[j])) e.waiting &= ~(1u << j);
    while (__any_sync(~0u, e.waiting != 0)) poll_batch<1, typename K::look>(k.y, e);
    return add_batch(sum, e);
}

/* The same for rows of several batches.  While one is waited for, the first look at the next one is under way: the operands
 * of all but the last are usually there.  Two batches take turns, since a copy of one would wait for its loads. */
template <class K, class T = typename K::type>
__device__ inline T sum_of_long_row(const K &k, const stage<K> &s)
{
    const int lane = threadIdx.x % WARP, begin = s.begin[lane], end = s.begin[lane + 1];
    const int most = (int)__reduce_max_sync(~0u, (unsigned)(end - begin));
    int at = end - (most + TOGETHER - 1) / TOGETHER * TOGETHER, batches = (end - at) / TOGETHER;
    T sum = number<T>(0);
    batch<T, TOGETHER> e, f;
    if (batches > 0) begin_batch(k, s, begin, at, e);
    while (batches > 0) {
        if (batches > 1) begin_batch(k, s, begin, at + TOGETHER, f);
        sum = end_batch(k, sum, e);
        if (batches < 2) break;
        at += 2 * TOGETHER;
        batches -= 2;
        if (batches > 0) begin_batch(k, s, begin, at, e);
        sum = end_batch(k, sum, f);
    }
    return sum;
}

template <bool DIVIDES, bool EARLY, class K>
__device__ inline void compute_task(const K &k, const stage<K> &s)
{
    using T = typename K::type;
    const int lane = threadIdx.x % WARP, node = s.first[0] + lane;
    const T b = s.b[lane], inv = conj_if(k.cj, s.inv[lane]); /* before the wait, not after it */
    const auto push = k.push_of(s);
    const T sum = EARLY ? sum_of_long_row(k, s) : sum_of_row(k, s);
    if (!push.has_node) return;
    const T x = over(DIVIDES, b - sum, inv);
    TRS_ASSERT(!flag_there(flag_peek(k.y + node)));
    flag_store(k.y + node, x);
    k.send(push, node, x);
}

/* EARLY: rows have several batches, whose first looks begin one batch early. */
template <bool DIVIDES, bool EARLY, class K> __device__ inline void compute_all(const K &k)
{
    const int64_t warps = (int64_t)gridDim.x * k.warps;
    const int64_t first = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    const size_t bytes = stage<K>::bytes(k.room);
    const uint64_t policy = read_once();
    unsigned char *stages = shared_numbers<unsigned char>() + threadIdx.x / WARP * STAGES * bytes;
    const auto task = [&](int64_t step) { return task_at(k.task, k.tasks, first + step * warps); };
    const auto place = [&](int64_t step) {
        return stage<K>(stages + step % STAGES * bytes, k.room);
    };
    for (int step = 0; step < AHEAD; step++)
        fetch(k, read_head(k, task(step)), place(step), policy);
    head next = read_head(k, task(AHEAD));
    trs_flow_task later = task(AHEAD + 1);
    for (int step = 0; first + step * warps < k.tasks; step++) {
        fetch(k, next, place(step + AHEAD), policy);
        next = read_head(k, later);
        later = task(step + AHEAD + 2);
        delay();
        wait_for_copies();
        __syncwarp(); /* what other lanes have copied is visible */
        compute_task<DIVIDES, EARLY>(k, place(step));
        __syncwarp(); /* all lanes are done with the stage, which the next step fills */
    }
}

/* ---- x from y, by warps of their own -------------------------------------------------------------------------- */

/* The nodes of the lane's rows among those from `first` on; -1: there is no such row. */
template <class T>
__device__ inline void read_nodes(const wide_args<T> &k, int64_t first, int32_t node[COPIED])
{
#pragma unroll
    for (int j = 0; j < COPIED; j++) {
        const int64_t i = first + j * WARP + threadIdx.x % WARP;
        node[j] = i < k.n ? __ldcs(k.row_node + i) : -1;
    }
}

/* x of these rows, as soon as it is there.  The warp looks for the last one, with pauses, before it looks for all. */
template <class T>
__device__ inline void copy_rows(const wide_args<T> &k, int64_t first, const int32_t node[COPIED])
{
    batch<T, COPIED> e;
    int32_t last = 0;
    clear(e);
#pragma unroll
    for (int j = 0; j < COPIED; j++) {
        if (node[j] >= 0) put_entry(e, j, node[j], number<T>(1));
        last = max(last, node[j]);
    }
    last = (int32_t)__reduce_max_sync(~0u, (unsigned)last);
    while (!flag_there(flag_peek(k.y + last))) __nanosleep(PAUSE);
    do poll_batch<1>(k.y, e);
    while (__any_sync(~0u, e.waiting != 0));
#pragma unroll
    for (int j = 0; j < COPIED; j++)
        if (node[j] >= 0) __stcs(&k.x(first + j * WARP + threadIdx.x % WARP, 0), e.y[j]);
}

template <class T> __device__ inline void copy_all(const wide_args<T> &k)
{
    const int64_t warp = (threadIdx.x / WARP - k.warps) * (int64_t)gridDim.x + blockIdx.x;
    const int64_t step = (int64_t)gridDim.x * COPIERS * COPIED * WARP;
    int32_t node[COPIED], next[COPIED];
    read_nodes(k, warp * COPIED * WARP, next);
    for (int64_t first = warp * COPIED * WARP; first < k.n; first += step) {
        for (int j = 0; j < COPIED; j++) node[j] = next[j];
        read_nodes(k, first + step, next);
        copy_rows(k, first, node);
    }
}

/* The same after that kernel.  A block has PASS COPIED adjacent rows: the y of rows that are neighbours in a grid share
 * sectors, which are then in the L1 cache of the SM. */
template <class T> static __global__ void __launch_bounds__(PASS) pass_kernel(const wide_args<T> k)
{
    const int64_t first = blockIdx.x * (int64_t)(PASS * COPIED) + threadIdx.x;
    T x[COPIED];
#pragma unroll
    for (int j = 0; j < COPIED; j++)
        if (first + j * PASS < k.n) x[j] = k.y[k.row_node[first + j * PASS]];
#pragma unroll
    for (int j = 0; j < COPIED; j++)
        if (first + j * PASS < k.n) k.x(first + j * PASS, 0) = x[j];
}

/* ---- the host side of both ------------------------------------------------------------------------------------ */

/* Bytes of x up to which warps of the kernel copy it from y: where it is larger, y has left L2 by then, and a pass after
 * the kernel is faster. */
enum { COPIED_MEANWHILE = 64 << 20 };

template <class T> static int copiers(int32_t n)
{
    return (int64_t)n * (int64_t)sizeof(T) > COPIED_MEANWHILE ? 0 : COPIERS;
}

/* A task begins anywhere in a group. */
static int32_t room_of(const trs_flow *f)
{
    return (f->most + 2 * (GROUP - 1)) / GROUP * GROUP;
}

template <class K> static size_t warp_bytes(const trs_flow *f)
{
    return STAGES * stage<K>::bytes(room_of(f));
}

/* Do most rows have one batch of operands? */
static bool has_short_rows(const trs_flow *f)
{
    return f->most <= BATCH * WARP;
}

/* Blocks of an SM.  Where rows are long, or a look of a warp touches a sector for each lane, more warps than those of one block
 * hurt: their looks slow down the others. */
static int most_blocks(const trs_flow *f)
{
    return has_short_rows(f) && !f->scattered ? 3 : 1;
}

struct wide_launch {
    int warps, blocks; /* warps of a block that solve */
    size_t shared;
};

/* As many warps a block as its shared memory has room for, and as many blocks as the warps of six levels fill, at least
 * three for four SMs; copiers: warps of a block that copy x. */
template <class K>
static int choose_launch(const trs_flow *f, void (*kernel)(K), int copiers, wide_launch *l)
{
    const int sms = multiprocessors();
    int device = 0, most = 0;
    const int rc = cuda_status(cudaGetDevice(&device), "cudaGetDevice");
    if (rc) return rc;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    l->warps = max(1, min(THREADS / WARP, (int)((size_t)most / warp_bytes<K>(f))));
    l->shared = (size_t)l->warps * warp_bytes<K>(f);
    const double six = 6.0 * f->tasks / (f->levels ? f->levels : 1) / l->warps;
    if (allow_shared(kernel, (size_t)most)) return TRS_EDEVICE;
    l->blocks = waiting_blocks((const void *)kernel, (l->warps + copiers) * WARP, l->shared,
                               min(max(six, 0.75 * sms), (double)most_blocks(f) * sms));
    return l->blocks > 0 ? TRS_OK : TRS_EDEVICE;
}

#endif
