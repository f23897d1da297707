/* wide.cuh: a wide block, a piece or the rest of one, or a block of a panel, by 256 threads.
 *
 * A block of threads owns the 64 rows and goes through the stages of its task, a step each.  Tiles come into a ring in
 * shared memory one or two steps ahead; x is looked at up to four steps ahead, and waited for in its step (blocks.cuh:
 * look, collect).  The inverse is multiplied by b less all sums before, what comes after it is subtracted.
 * How x becomes visible: who has a row (blocks.cuh: share) publishes it, sums of a piece and a rest like any x.
 * Waits for rows, pieces and rests of earlier tasks alone.
 * Bytes: elem for a number of the stages, and elem + 4 for each of their columns, since x is read once for all rows.
 * Bound by the hop, then by the instructions of a product, some 0.4 us a stage; where many blocks are at the same
 * height, by bytes. */
#ifndef TRS_SUPERNODAL_WIDE_CUH
#define TRS_SUPERNODAL_WIDE_CUH

#include "supernodal.cuh"

template <class T, int R> struct wide { /* shared memory */
    static constexpr int RING = sizeof(T) == 16 ? 2 : 3;
    T tile[RING][TILE_SIZE];
    T x[2][BLOCK * R];
    trs_stage stage[TRS_STAGES];                  /* of the task, by steps */
    int32_t column[int(TRS_STAGES) * int(BLOCK)]; /* of them: the row of the copy where x is */
    trs_task task;
};

__device__ inline int quads_of(const trs_stage &s)
{
    return (s.columns + 3) / 4;
}

/* Start reading tile p of the task, if there is one. */
template <class T, int R>
__device__ inline void ahead(wide<T, R> *sh, const problem<T> &P, int p, int stages)
{
    constexpr int EACH = 16 / sizeof(T);
    if (p < stages) {
        const trs_stage &s = sh->stage[p];
        T *to = sh->tile[p % wide<T, R>::RING];
        const T *from = P.store + s.place;
        const int count = 4 * quads_of(s) * __popcll(s.rows);
        for (int e = (int)threadIdx.x * EACH; e < count; e += BLOCK_THREADS * EACH)
            __pipeline_memcpy_async(to + e, from + e, 16);
    }
    __pipeline_commit();
}

/* Where the x of a stage is published. */
template <class T, int R> struct stage_x {
    const T *x;
    const int32_t *column;
    __device__ const T *operator()(int e) const { return x + (int64_t)column[e / R] * R + e % R; }
};

template <class T, int R>
__device__ inline stage_x<T, R> x_of(const wide<T, R> *sh, int p, const T *published)
{
    return {published, sh->column + (sh->stage[p].first - sh->task.column)};
}

/* sum += or -= stage * x, this thread's share; x [64][R] in shared memory, zero behind the columns. */
template <class T, int R>
__device__ inline void add_stage(T (&sum)[share<R>::COLUMNS], const trs_stage &s, const T *tile,
                                 const T *x, bool minus, bool cj)
{
    constexpr int C = share<R>::COLUMNS;
    const share<R> me;
    if (!(s.rows >> me.row & 1)) return;
    const int stride = 4 * __popcll(s.rows), quads = quads_of(s);
    tile += 4 * __popcll(s.rows & ((1ull << me.row) - 1));
    T part[C];
    for (int c = 0; c < C; c++) part[c] = number<T>(0);
    if constexpr (R == 1) {
        T other = number<T>(0);
        tile += me.lane;
        x += me.lane;
        if (quads == BLOCK / 4) {
#pragma unroll
            for (int q = 0; q < BLOCK / 4; q += 2) {
                part[0] = part[0] + conj_if(cj, tile[q * stride]) * x[4 * q];
                other = other + conj_if(cj, tile[(q + 1) * stride]) * x[4 * q + 4];
            }
        } else {
#pragma unroll 4
            for (int q = 0; q < quads; q++)
                part[0] = part[0] + conj_if(cj, tile[q * stride]) * x[4 * q];
        }
        part[0] = part[0] + other;
    } else {
#pragma unroll 2
        for (int q = 0; q < quads; q++) {
            const quad<T> l = *(const quad<T> *)(tile + q * stride);
#pragma unroll
            for (int z = 0; z < 4; z++) {
                const pack<T, C> v = *(const pack<T, C> *)(x + (4 * q + z) * R + me.first);
                const T a = conj_if(cj, l.v[z]);
#pragma unroll
                for (int c = 0; c < C; c++) part[c] = part[c] + a * v.v[c];
            }
        }
    }
    for (int c = 0; c < C; c++) sum[c] = minus ? sum[c] - part[c] : sum[c] + part[c];
}

/* sum += what the pieces of the block found. */
template <class T, int R>
__device__ inline void add_pieces(T (&sum)[share<R>::COLUMNS], const trs_block &k, const T *sums)
{
    const share<R> me;
    for (int p = R == 1 ? me.lane : 0; p < k.pieces && me.row < k.rows; p += R == 1 ? 4 : 1) {
        const T *from = sums + ((int64_t)(k.piece + p) * BLOCK + me.row) * R + me.first;
        for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = sum[c] + flag_wait(from + c);
    }
}

/* b_t - sum into x */
template <class T, int R>
__device__ inline void load_rest(T *x, T (&sum)[share<R>::COLUMNS], const T (&b)[share<R>::COLUMNS],
                                 int rows)
{
    const share<R> me;
    join_lanes<T, R>(sum);
    for (int c = 0; c < share<R>::COLUMNS && me.writes(); c++)
        x[me.row * R + me.first + c] = me.row < rows ? b[c] - sum[c] : number<T>(0);
}

/* v to those who wait for rows from place on, and these rows emptied in the other copy. */
template <class T, int R>
__device__ inline void publish(const T (&v)[share<R>::COLUMNS], const here<T> &h, int64_t place,
                               int rows)
{
    const share<R> me;
    for (int c = 0; c < share<R>::COLUMNS && me.writes() && me.row < rows; c++)
        flag_store(h.mine + (place + me.row) * R + me.first + c, v[c]);
    for (int e = (int)threadIdx.x; e < rows * h.old; e += BLOCK_THREADS)
        flag_clear(h.other + place * h.old + e);
}

/* What a block of threads has to do for a wide block. */
template <class T> struct plan_of {
    bool sums;        /* a piece or a rest: no more than stages times x */
    bool panel;       /* of a panel that may be inverted */
    bool substituted; /* by the diagonal block */
    bool last;        /* the diagonal block comes last, after L that is not M or S */
    int diagonal;     /* which stage of the task it is */
    int pivot;        /* the step of the diagonal block; what comes after it is subtracted */
    int rest;         /* the step of b less all sums, -1: none */
    __device__ plan_of(const problem<T> &P, const trs_task &task, const trs_block &k)
        : sums(task.kind == TRS_TASK_PIECE || task.kind == TRS_TASK_REST)
    {
        const bool split = task.kind == TRS_TASK_PANEL && P.split[task.block - k.member];
        panel = task.kind == TRS_TASK_PANEL && !split;
        substituted = !sums && !panel && P.substituted[task.block];
        last = split || substituted;
        diagonal = sums ? task.stages : k.diagonal - task.stage;
        pivot = last ? task.stages - 1 : diagonal;
        rest = panel ? -1 : pivot;
    }
    __device__ int stage_of_step(int p, int stages) const
    {
        return last ? (p + diagonal + 1) % stages : p;
    }
};

/* The stages of a task, and where what they are multiplied by is published, into shared memory. */
template <class T, int R>
__device__ inline void list_stages(wide<T, R> *sh, const problem<T> &P, const trs_task &task,
                                   const trs_block &k, const plan_of<T> &plan)
{
    const int32_t panel = P.block[task.block - k.member].first;
    for (int p = threadIdx.x; p < task.stages; p += BLOCK_THREADS)
        sh->stage[p] = P.stage[task.stage + plan.stage_of_step(p, task.stages)];
    for (int e = threadIdx.x; e < task.columns; e += BLOCK_THREADS) {
        const int32_t j = P.column[task.column + e];
        sh->column[e] = plan.panel && j >= panel ? rest_of_row(P, task.block, j) : j;
    }
}

template <class T, int R>
static __device__ void solve_wide(wide<T, R> *sh, const problem<T> &P, const trs_task &task,
                                  const here<T> &h)
{
    constexpr int RING = wide<T, R>::RING, C = share<R>::COLUMNS;
    const share<R> me;
    const trs_block k = P.block[task.block];
    const plan_of<T> plan(P, task, k);
    const T *sums = h.mine + (int64_t)P.n * R;
    T sum[C], b[C], v[MINE<R>];
    list_stages(sh, P, task, k, plan);
    for (int c = 0; c < C; c++) {
        const bool in = me.row < k.rows && me.first + c < P.nrhs;
        sum[c] = b[c] = number<T>(0);
        if (in && task.kind != TRS_TASK_PANEL && task.kind != TRS_TASK_PIECE)
            b[c] = P.b(k.first + me.row, me.first + c);
        if (in && task.kind == TRS_TASK_PANEL && plan.last)
            b[c] = flag_wait(h.mine + (int64_t)(rest_of(P, k) + me.row) * R + me.first + c);
    }
    __syncthreads();
    for (int p = 0; p < RING - 1; p++) ahead(sh, P, p, task.stages);
    for (int p = 0; p < GROUPS<R> && p < task.stages; p++)
        if (looks_after<R>(p) && p != plan.rest)
            look<T, R>(v, sh->stage[p].columns * R, x_of(sh, p, h.mine));
    for (int p = 0; p < task.stages; p++) {
        const int next = p + GROUPS<R>;
        T *x = sh->x[p & 1];
        if (p + 1 == plan.rest && task.kind == TRS_TASK_WIDE)
            add_pieces<T, R>(sum, k, sums); /* as late as possible: they take longest */
        if (p == plan.rest) load_rest<T, R>(x, sum, b, k.rows);
        else if (looks_after<R>(p)) collect<T, R>(x, v, x_of(sh, p, h.mine));
        __pipeline_wait_prior(RING - 2);
        __syncthreads(); /* tile and x are there, and everybody is done with the tile before */
        ahead(sh, P, p + RING - 1, task.stages);
        if (looks_after<R>(p) && next < task.stages && next != plan.rest)
            look<T, R>(v, sh->stage[next].columns * R, x_of(sh, next, h.mine));
        if (p == plan.rest)
            for (int c = 0; c < C; c++)
                sum[c] = plan.substituted ? x[me.row * R + me.first + c] : number<T>(0);
        if (p == plan.rest && plan.substituted) break;
        add_stage<T, R>(sum, sh->stage[p], sh->tile[p % RING], x, p > plan.pivot, P.cj);
    }
    if (task.kind == TRS_TASK_REST) add_pieces<T, R>(sum, k, sums);
    if (plan.substituted)
        substitute<T, R>(sum, sh->tile[plan.rest % RING], k.rows, sh->x[1 - (plan.rest & 1)], P.cj);
    else join_lanes<T, R>(sum);
    for (int c = 0; c < C && task.kind == TRS_TASK_REST; c++) sum[c] = b[c] - sum[c];
    const int64_t place = task.kind == TRS_TASK_PIECE  ? P.n + (int64_t)task.piece * BLOCK
                          : task.kind == TRS_TASK_REST ? rest_of(P, k)
                                                       : k.first;
    publish<T, R>(sum, h, place, k.rows);
    for (int c = 0; c < C && me.writes() && me.row < k.rows && !plan.sums; c++)
        if (me.first + c < P.nrhs) P.x(k.first + me.row, me.first + c) = sum[c];
}

#endif
