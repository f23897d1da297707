/* supernodal.cu: one launch over blocks of rows, solved by the inverses of their diagonal blocks.
 *
 *     update:  D_t = inverse of the diagonal block t;  W_t = D_t L (t, its latest columns)
 *     solve:   x_t = D_t (b_t - early stages) - W_t x (latest columns)              wide blocks
 *              x_t = D_t (b_t - L (t, columns) x)                                   narrow ones
 *              r_t = b_t - early stages;  x_t = sum of M_tu r_u - S_t x (latest)    panels (panel.cuh)
 *
 * Blocks, stages and tasks are those of supernode.h.  A stage is a dense matrix of the rows that have
 * something in some columns, so 8 bytes are read for a number where plain CSR reads 12, x once for all rows;
 * and the levels are those of blocks, for a factor 20 to 40 times fewer than those of rows.
 *
 * Who owns a row: of a wide block a block of 256 threads (blocks.cuh), of a narrow one a warp, or the first of eight
 * that share its columns, where it is alone in its bundle; with one right-hand side the 64 rows of a block of a panel, and of its rest, are shared by four blocks of threads.  A
 * piece of a wide block publishes its sums like any x, and so does who makes r_t.  How x becomes visible: in the
 * copy of this turn every number is its own flag; whoever publishes x_t empties its place in the other copy
 * (blocks.cuh: turn).
 * Cannot hang: tasks are taken in topological order, from a ticket counter, or cyclically by warps that are
 * all resident where all blocks are narrow (cooperative launch).
 * Same bits every time: the order of every sum depends on the pattern and on the last update alone.  Where an
 * inverse grows too much, or W_t overflows, the block is substituted, and its panel split: L_tu stay, and
 * x_t = D_t (r_t - L_tu x_u - L_ts x_s).  A NaN in b spreads over its block or panel, and over the rows of a stage.
 * Bound by the height of the blocks' graph, 1.1 to 1.4 us each, then by the bytes of the stages. */
#include "config.h"

#include "supernodal.cuh"

enum { WARP = 32, BATCH = 8 };

struct supernodal_work {
    turn *state;
    void *copy; /* [2][copy_size] published x, then the sums of pieces */
    int64_t copy_size;
    int most;    /* right-hand sides at a time */
    int grid[4]; /* blocks of threads, for each number of right-hand sides at a time */
};

/* ---- solve ------------------------------------------------------------------------------------------- */

template <class T> struct problem {
    int32_t n, blocks, tasks;
    const trs_block *block;
    const trs_stage *stage;
    const int32_t *column;
    const trs_task *task;
    const narrow *thin;
    const T *store;
    const int *substituted, *split;
    int nrhs;
    view<T> b, x;
    bool cj;
    turn *state;
    T *copy;
    int64_t copy_size;
};

template <class T> struct here { /* the two copies in this solve */
    T *mine, *other;
    int old; /* right-hand sides that the other may hold */
    __device__ explicit here(const problem<T> &P)
    {
        const unsigned now = P.state->now;
        mine = P.copy + now * P.copy_size;
        other = P.copy + (1 - now) * P.copy_size;
        old = (int)P.state->width[1 - now];
    }
};

/* ---- a wide block, or a piece of one: 256 threads ------------------------------------------------------ */

template <class T, int R> struct wide { /* shared memory */
    static constexpr int RING = sizeof(T) == 16 ? 2 : 3;
    T tile[RING][TILE_SIZE];
    T x[2][BLOCK * R];
    trs_stage stage[TRS_STAGES];
    int32_t column[int(TRS_STAGES) * int(BLOCK)];
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

/* Where the rest of a block of a panel is published. */
template <class T> __device__ inline int32_t rest_of(const problem<T> &P, const trs_block &k)
{
    return P.n + (k.piece + k.pieces) * BLOCK;
}

/* The same of a row of its panel; block is the last one that it may be of. */
template <class T> __device__ inline int32_t rest_of_row(const problem<T> &P, int block, int row)
{
    while (row < P.block[block].first) block--;
    return rest_of(P, P.block[block]) + row - P.block[block].first;
}

/* What a block of threads has to do for a wide block. */
template <class T> struct plan_of {
    bool sums;        /* a piece or a rest: no more than stages times x */
    bool panel;       /* of a panel that may be inverted */
    bool substituted; /* by the diagonal block */
    bool last;        /* the diagonal block comes last, and D of its panel is L */
    int diagonal;     /* which stage it is */
    int pivot;        /* step: what is before it is added, the others subtracted */
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

/* The stages of a task by steps, and where what they are multiplied by is published, into shared memory. */
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
            add_pieces<T, R>(sum, k, sums); /* then what takes longest */
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

/* ---- a slice of a block of a panel: 256 threads, one right-hand side ---------------------------------------- */

template <class T> struct sliced { /* in the place of tiles */
    T x[int(TRS_PANEL) * int(BLOCK)], part[WARPS][SLICE];
};

/* At most four stages, times numbers that come at about the same time.  A rest goes through its stages; a block
 * of a panel has S of all but the latest blocks, D, S of the latest ones. */
struct phase {
    int first, count; /* of the stages of the task */
    bool rests;       /* are what they are multiplied by */
};

/* All of a phase is in registers, or on its way there, before it is waited for. */
template <class T> struct slice {
    wide<T, 1> *lists;
    sliced<T> *sh;
    const problem<T> &P;
    const trs_task &task;
    const here<T> &h;
    const trs_block k;
    const bool panel;
    const int phases, first_row, mine; /* rows in the block */
    T seen;                            /* of the next phase, by this thread */
    T sum[4];

    __device__ slice(wide<T, 1> *lists, const problem<T> &P, const trs_task &task, const here<T> &h)
        : lists(lists), sh((sliced<T> *)lists->tile), P(P), task(task), h(h),
          k(P.block[task.block]), panel(task.kind == TRS_TASK_PANEL),
          phases(panel ? 3 : (task.stages + int(TRS_PANEL) - 1) / int(TRS_PANEL)),
          first_row(task.piece * SLICE), mine(first_row + (int)threadIdx.x % SLICE)
    {
        for (int z = 0; z < 4; z++) sum[z] = number<T>(0);
    }
    __device__ phase stages_of(int p) const
    {
        const int four = TRS_PANEL, with_rests = k.member + 1;
        if (!panel) return {four * p, min(task.stages - four * p, four), false};
        const int earlier = max(task.stages - with_rests - four, 0), latest = with_rests + earlier;
        if (p == 0) return {with_rests, earlier, false};
        return p == 1 ? phase{0, with_rests, true} : phase{latest, task.stages - latest, false};
    }
    __device__ void load(part_of_tile<T> (&a)[TRS_PANEL], int p) const
    {
        const phase ph = stages_of(p);
#pragma unroll
        for (int t = 0; t < TRS_PANEL; t++) {
            for (int z = 0; z < 4; z++) a[t].v.v[z] = number<T>(0);
            if (p >= phases || t >= ph.count || mine >= k.rows) continue;
            const trs_stage &s = lists->stage[ph.first + t];
            if (!(s.rows >> mine & 1) || a[t].column() >= s.columns) continue;
            const int row = __popcll(s.rows & ((1ull << mine) - 1)); /* of the stage */
            a[t].load(P.store + s.place, row - (int)threadIdx.x % SLICE, __popcll(s.rows));
        }
    }
    /* Where the number that this thread looks after is published, NULL: it has none. */
    __device__ const T *place(int p) const
    {
        if (p >= phases) return NULL;
        const phase ph = stages_of(p);
        const int t = threadIdx.x / BLOCK, column = threadIdx.x % BLOCK;
        const trs_stage *s = lists->stage + ph.first + t;
        if (t >= ph.count || column >= s->columns) return NULL;
        return h.mine + lists->column[s->first - task.column + column];
    }
    __device__ void look(const T *from)
    {
        seen = number<T>(0);
        if (from) seen = flag_peek(from);
    }
    __device__ void step(const part_of_tile<T> (&a)[TRS_PANEL], int p, const T *&from)
    {
        const phase ph = stages_of(p);
        if (from && !flag_there(seen)) seen = flag_wait(from);
        __syncthreads(); /* everybody is done with what was there */
        sh->x[threadIdx.x] = ph.rests ? seen : number<T>(0) - seen;
        from = place(p + 1);
        look(from);
        __syncthreads();
#pragma unroll
        for (int t = 0; t < TRS_PANEL; t++)
            if (t < ph.count) a[t].multiply(sum, sh->x + t * BLOCK, P.cj);
    }
    /* Less what the pieces of the block found. */
    __device__ void take_pieces()
    {
        const T *sums = h.mine + P.n + (int64_t)k.piece * BLOCK;
        for (int p = (int)threadIdx.x / SLICE; p < k.pieces && mine < k.rows;
             p += BLOCK_THREADS / SLICE)
            sum[0] = sum[0] - flag_wait(sums + p * BLOCK + mine);
    }
};

template <class T>
static __device__ void solve_slice(wide<T, 1> *sh, const problem<T> &P, const trs_task &task,
                                   const here<T> &h)
{
    slice<T> r(sh, P, task, h);
    list_stages(sh, P, task, r.k, plan_of<T>(P, task, r.k));
    __syncthreads();
    const bool writes = threadIdx.x < SLICE && r.mine < r.k.rows;
    part_of_tile<T> a[2][TRS_PANEL];
    T b = number<T>(0);
    if (!r.panel && writes) b = P.b(r.k.first + r.mine, 0);
    r.load(a[0], 0);
    r.load(a[1], 1);
    const T *from = r.place(0);
    r.look(from);
    for (int p = 0; p < r.phases; p += 2)
#pragma unroll
        for (int d = 0; d < 2; d++) {
            if (p + d == r.phases) break;
            r.step(a[d], p + d, from);
            r.load(a[d], p + d + 2);
        }
    if (!r.panel) r.take_pieces(); /* they take longest */
    const T v = b + join_parts(r.sh->part, r.sum);
    const int64_t place = (r.panel ? r.k.first : rest_of(P, r.k)) + r.first_row;
    if (writes) flag_store(h.mine + place + threadIdx.x, v);
    if (writes && r.panel) P.x(r.k.first + r.mine, 0) = v;
    const int rows = min(r.k.rows - r.first_row, (int)SLICE);
    for (int e = (int)threadIdx.x; e < rows * h.old; e += BLOCK_THREADS)
        flag_clear(h.other + place * h.old + e);
}

/* With several right-hand sides, and where a panel is split, all of a block is done with its first slice. */
template <class T, int R>
__device__ inline void solve_task(wide<T, R> *sh, const problem<T> &P, const trs_task &task,
                                  const here<T> &h)
{
    const bool sliced_task = task.kind == TRS_TASK_PANEL || task.kind == TRS_TASK_REST;
    if (sliced_task) {
        const trs_block &k = P.block[task.block];
        const bool split = task.kind == TRS_TASK_PANEL && P.split[task.block - k.member];
        if constexpr (R == 1)
            if (k.slices > 1 && !split) {
                solve_slice<T>(sh, P, task, h);
                return;
            }
        if (task.piece > 0) return;
    }
    solve_wide<T, R>(sh, P, task, h);
}

/* ---- a narrow block: a warp ---------------------------------------------------------------------------- */

__device__ inline int64_t place_of(const narrow &k, int i, int column)
{
    return tile_place(i, column, k.rows);
}

/* BATCH numbers of x under way at a time; where is -1 for those that are not wanted. */
template <class T, int N>
__device__ inline void wait_for_all(T (&x)[N], const int64_t (&where)[N], const T *from)
{
    unsigned waiting = 0;
#pragma unroll
    for (int j = 0; j < N; j++) {
        x[j] = number<T>(0);
        if (where[j] >= 0) waiting |= 1u << j;
    }
    while (waiting) {
        bool there[N];
#pragma unroll
        for (int j = 0; j < N; j++) there[j] = waiting >> j & 1 && flag_load(from + where[j], x[j]);
#pragma unroll
        for (int j = 0; j < N; j++)
            if (there[j]) waiting &= ~(1u << j);
    }
}

/* x (i) from v (i), D as it was; of a row the first of its lanes counts. */
template <class T>
__device__ inline T narrow_substitute(const problem<T> &P, const narrow &k, const T *D, T v, int i,
                                      int lanes)
{
    const int row = min(i, k.rows - 1);
    for (int c = 0; c < k.rows; c++) {
        if (i == c) v = v / conj_if(P.cj, D[place_of(k, c, c)]);
        const T x = of_lane(v, c * lanes);
        if (row > c) v = v - conj_if(P.cj, D[place_of(k, row, c)]) * x;
    }
    return v;
}

/* What the warps that share a block found: [WARPS][TRS_NARROW][R]; NULL: a warp has it alone. */
template <class T, int R> using parts = T (*)[TRS_NARROW][R];

/* One right-hand side: 2, 4, 8, 16 or 32 lanes a row. */
template <class T>
static __device__ void solve_narrow(const problem<T> &P, int t, const here<T> &h, parts<T, 1> part)
{
    const int warp = part ? (int)threadIdx.x / WARP : 0, warps = part ? (int)WARPS : 1;
    const narrow k = P.thin[t];
    const bool bad = P.substituted[t];
    const T *D = P.store + k.inverse, *L = P.store + k.place;
    int lanes = WARP / 16;
    while (lanes < WARP && lanes * k.rows <= WARP / 2) lanes *= 2;
    const int i = (int)threadIdx.x % WARP / lanes, sub = (int)threadIdx.x % lanes;
    const bool in = i < k.rows;
    T d[BATCH], sum = number<T>(0), b = number<T>(0);
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        const int c = sub + j * lanes;
        d[j] = in && c < k.rows && !bad ? conj_if(P.cj, D[place_of(k, i, c)]) : number<T>(0);
    }
    if (in) b = P.b(k.first + i, 0);
    for (int c0 = sub + warp * BATCH * lanes; in && c0 < k.columns; c0 += warps * BATCH * lanes) {
        int64_t where[BATCH];
        T a[BATCH], x[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            const int c = c0 + j * lanes;
            where[j] = c < k.columns ? P.column[k.column + c] : -1;
            a[j] = c < k.columns ? conj_if(P.cj, L[place_of(k, i, c)]) : number<T>(0);
        }
        wait_for_all(x, where, h.mine);
#pragma unroll
        for (int j = 0; j < BATCH; j++) sum = sum + a[j] * x[j];
    }
    __syncwarp();
    for (int by = 1; by < lanes; by *= 2) sum = sum + from_lane(sum, by);
    if (part) {
        if (sub == 0) part[warp][i][0] = sum;
        __syncthreads();
        if (warp > 0) return;
        for (int w = 1; w < WARPS; w++) sum = sum + part[w][i][0];
    }
    b = b - sum;
    if (bad) b = narrow_substitute(P, k, D, b, i, lanes);
    else {
        sum = number<T>(0);
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            if (j * lanes >= k.rows) break;
            sum = sum + d[j] * of_lane(b, min(sub + j * lanes, k.rows - 1) * lanes);
        }
        for (int by = 1; by < lanes; by *= 2) sum = sum + from_lane(sum, by);
        b = sum;
    }
    if (in && sub == 0) {
        flag_store(h.mine + k.first + i, b);
        P.x(k.first + i, 0) = b;
    }
    for (int e = (int)threadIdx.x % WARP; e < k.rows * h.old; e += WARP)
        flag_clear(h.other + (int64_t)k.first * h.old + e);
}

/* R right-hand sides: the lanes go over them, and over rows where there are more lanes. */
template <class T, int R>
static __device__ void solve_narrow_many(const problem<T> &P, int t, const here<T> &h,
                                         parts<T, R> part)
{
    const int warp = part ? (int)threadIdx.x / WARP : 0, warps = part ? (int)WARPS : 1;
    constexpr int ACROSS = R < WARP ? R : WARP, GROUPS = WARP / ACROSS, EACH = 16 / GROUPS, N = 4;
    const narrow k = P.thin[t];
    const bool bad = P.substituted[t];
    const T *D = P.store + k.inverse, *L = P.store + k.place;
    const int lane = (int)threadIdx.x % WARP, group = lane / ACROSS;
    for (int r = lane % ACROSS; r < R; r += ACROSS) {
        T v[EACH], w[EACH]; /* rows group, group + GROUPS, ... */
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int i = group + m * GROUPS;
            v[m] = i < k.rows && r < P.nrhs && warp == 0 ? P.b(k.first + i, r) : number<T>(0);
            w[m] = number<T>(0);
        }
        for (int c0 = warp * N; c0 < k.columns; c0 += warps * N) {
            int64_t where[N];
            T x[N];
#pragma unroll
            for (int j = 0; j < N; j++)
                where[j] = c0 + j < k.columns ? (int64_t)P.column[k.column + c0 + j] * R + r : -1;
            wait_for_all(x, where, h.mine);
#pragma unroll
            for (int j = 0; j < N; j++)
#pragma unroll
                for (int m = 0; m < EACH; m++) {
                    const int i = group + m * GROUPS;
                    if (i < k.rows && c0 + j < k.columns)
                        v[m] = v[m] - conj_if(P.cj, L[place_of(k, i, c0 + j)]) * x[j];
                }
        }
        if (part) {
            for (int m = 0; m < EACH && warp > 0; m++) part[warp][group + m * GROUPS][r] = v[m];
            __syncthreads();
            if (warp > 0) continue;
            for (int m = 0; m < EACH; m++)
                for (int o = 1; o < WARPS; o++) v[m] = v[m] + part[o][group + m * GROUPS][r];
        }
        __syncwarp();
#pragma unroll
        for (int c = 0; c < 16; c++) {
            if (c >= k.rows) break;
            if (bad && group == c % GROUPS)
                v[c / GROUPS] = v[c / GROUPS] / conj_if(P.cj, D[place_of(k, c, c)]);
            const T x = of_lane(v[c / GROUPS], c % GROUPS * ACROSS + lane % ACROSS);
#pragma unroll
            for (int m = 0; m < EACH; m++) {
                const int i = group + m * GROUPS;
                if (i >= k.rows || i < c + bad) continue;
                const T a = conj_if(P.cj, D[place_of(k, i, c)]) * x;
                if (bad) v[m] = v[m] - a;
                else w[m] = w[m] + a;
            }
        }
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int i = group + m * GROUPS;
            if (i >= k.rows) continue;
            if (!bad) v[m] = w[m];
            flag_store(h.mine + (int64_t)(k.first + i) * R + r, v[m]);
            if (r < P.nrhs) P.x(k.first + i, r) = v[m];
        }
    }
    for (int e = lane; e < k.rows * h.old && warp == 0; e += WARP)
        flag_clear(h.other + (int64_t)k.first * h.old + e);
}

template <class T, int R>
__device__ inline void solve_thin(const problem<T> &P, int t, const here<T> &h, parts<T, R> part)
{
    if constexpr (R == 1) solve_narrow<T>(P, t, h, part);
    else solve_narrow_many<T, R>(P, t, h, part);
}

/* ---- kernels -------------------------------------------------------------------------------------------- */

/* The next task; one without blocks when there is none left. */
template <class T> __device__ inline trs_task draw(const problem<T> &P)
{
    const unsigned t = atomicAdd(&P.state->ticket, 1u);
    trs_task task = {};
    if (t < (unsigned)P.tasks) task = P.task[t];
    return task;
}

/* Wide blocks among the others: a block of threads draws tickets. */
template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) mixed_kernel(const problem<T> P)
{
    wide<T, R> *sh = (wide<T, R> *)shared_numbers<T>();
    static_assert(sizeof(T[WARPS][TRS_NARROW][R]) <= sizeof sh->tile, "room for parts");
    const here<T> h(P);
    const unsigned now = P.state->now;
    for (;;) {
        if (threadIdx.x == 0) sh->task = draw(P);
        __syncthreads();
        const trs_task task = sh->task;
        if (task.blocks == 0) break;
        delay();
        if (task.kind != TRS_TASK_BUNDLE) {
            solve_task<T, R>(sh, P, task, h);
            __pipeline_wait_prior(0);
        } else if (task.blocks == 1) solve_thin<T, R>(P, task.block, h, (parts<T, R>)sh->tile);
        else if ((int)threadIdx.x / WARP < task.blocks)
            solve_thin<T, R>(P, task.block + (int)threadIdx.x / WARP, h, NULL);
        __syncthreads(); /* before shared memory is used again */
    }
    finish<R>(P.state, now);
}

/* All blocks narrow: warps take them in turn, neighbours go to different SMs. */
template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) narrow_kernel(const problem<T> P)
{
    const here<T> h(P);
    const unsigned now = P.state->now;
    const int warps = gridDim.x * (BLOCK_THREADS / WARP);
    for (int t = (threadIdx.x / WARP) * gridDim.x + blockIdx.x; t < P.blocks; t += warps) {
        delay();
        solve_thin<T, R>(P, t, h, NULL);
    }
    finish<R>(P.state, now);
}

/* ---- the host side ---------------------------------------------------------------------------------------- */

static void release(trs_part *part)
{
    supernodal *d = (supernodal *)part->data;
    trs_gpu_free(part->ctx, d->block);
    trs_gpu_free(part->ctx, d->stage);
    trs_gpu_free(part->ctx, d->column);
    trs_gpu_free(part->ctx, d->task);
    trs_gpu_free(part->ctx, d->thin);
    trs_gpu_free(part->ctx, d->store);
    trs_gpu_free(part->ctx, d->substituted);
    trs_gpu_free(part->ctx, d->split);
    trs_gpu_free(part->ctx, d->panel);
    trs_gpu_free(part->ctx, d->weight);
    trs_free(&part->ctx->mem, d);
}

/* Which they are, and room for what an update weighs. */
static int panels_new(trs_part *part, supernodal *d)
{
    trs_context *ctx = part->ctx;
    const trs_supernodes *s = &part->side->super;
    if (s->panels == 0) return TRS_OK;
    int32_t *first = (int32_t *)trs_new(ctx, s->panels, sizeof *first, "panels");
    for (int32_t t = 0, k = 0; t < s->blocks && first; t++)
        if (s->block[t].members > 1 && s->block[t].member == 0) first[k++] = t;
    if (first) d->panel = (int32_t *)device_copy(ctx, first, s->panels, sizeof *first, "panels");
    trs_free(&ctx->mem, first);
    d->weight = (double *)trs_gpu_new(ctx, part->side->tri.n, sizeof *d->weight, "sums of rows");
    return d->panel && d->weight ? TRS_OK : TRS_EMEM;
}

/* What a warp has to know of each block, wide ones too. */
static __global__ void thin_kernel(int32_t blocks, const trs_block *block, const trs_stage *stage,
                                   narrow *thin)
{
    const int32_t t = (int32_t)(blockIdx.x * PLAIN + threadIdx.x);
    if (t >= blocks) return;
    const trs_block k = block[t];
    const trs_stage s = stage[k.stage];
    const bool alone = k.stages < 2;
    thin[t] = {k.first,
               k.rows,
               alone ? 0 : s.first,
               alone ? 0 : s.columns,
               alone ? 0 : s.place,
               stage[k.diagonal].place};
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    supernodal *d = (supernodal *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(ctx, TRS_EMEM, "out of memory");
    part->data = d;
    const trs_supernodes *s = &part->side->super;
    const size_t size = trs_size(part->side->tri.dtype);
    d->s = *s;
    d->s.block = NULL, d->s.stage = NULL, d->s.column = NULL, d->s.task = NULL;
    d->block = (trs_block *)device_copy(ctx, s->block, s->blocks, sizeof *s->block, "blocks");
    d->stage = (trs_stage *)device_copy(ctx, s->stage, s->stages, sizeof *s->stage, "stages");
    d->column = (int32_t *)device_copy(ctx, s->column, s->columns, sizeof *s->column, "columns");
    d->task = (trs_task *)device_copy(ctx, s->task, s->tasks, sizeof *s->task, "tasks");
    d->thin = (narrow *)trs_gpu_new(ctx, s->blocks, sizeof *d->thin, "narrow blocks");
    d->store = trs_gpu_new(ctx, s->store, size, "the values of the stages");
    d->substituted = (int *)trs_gpu_new(ctx, s->blocks, sizeof(int), "flags of the blocks");
    d->split = (int *)trs_gpu_new(ctx, s->blocks, sizeof(int), "flags of the panels");
    if (!d->block || !d->stage || !d->column || !d->task || !d->thin || !d->store ||
        !d->substituted || !d->split || panels_new(part, d))
        return TRS_EMEM;
    if (s->blocks > 0)
        thin_kernel<<<blocks_of(s->blocks), PLAIN>>>(s->blocks, d->block, d->stage, d->thin);
    return launched() || trs_gpu_wait(NULL) ? trs_fail(ctx, TRS_EDEVICE, "cuda-supernodal")
                                            : TRS_OK;
}

static int update_direct(trs_part *part, const void *val, void *stream)
{
    return supernodal_take((const supernodal *)part->data, &part->side->direct,
                           part->side->tri.dtype, val, (cudaStream_t)stream);
}

/* Blocks of threads that a solve takes, as far as there is work for them; 0: not one fits. */
template <class T, int R> static int grid_of(const supernodal *d)
{
    const size_t bytes = sizeof(wide<T, R>);
    if (d->s.wide == 0) {
        const int64_t work = 6 * (int64_t)d->s.blocks / max(d->s.height, 1) / 8;
        return waiting_blocks((const void *)narrow_kernel<T, R>, BLOCK_THREADS, 0,
                              (double)max(work, (int64_t)multiprocessors()));
    }
    if (allow(mixed_kernel<T, R>, bytes) != cudaSuccess) return 0;
    return waiting_blocks((const void *)mixed_kernel<T, R>, BLOCK_THREADS, bytes,
                          max(d->s.tasks, 1));
}

template <class T> static int grids(supernodal_work *w, const supernodal *d)
{
    int rc = TRS_OK;
    for (int nrhs = 1; nrhs <= 64 && !rc; nrhs *= 2)
        rc = for_width<T>(nrhs, [&](auto width, int k) {
            w->grid[k] = grid_of<T, decltype(width)::value>(d);
            return w->grid[k] > 0 ? TRS_OK : TRS_EDEVICE;
        });
    return rc;
}

static void work_destroy(const trs_part *part, void *work)
{
    supernodal_work *w = (supernodal_work *)work;
    trs_gpu_free(part->ctx, w->state);
    trs_gpu_free(part->ctx, w->copy);
    trs_free(&part->ctx->mem, w);
}

/* Both copies empty, turn 0. */
static int work_start(supernodal_work *w, trs_context *ctx, size_t size)
{
    const size_t bytes = 2 * (size_t)w->copy_size * size;
    w->state = (turn *)trs_gpu_new(ctx, 1, sizeof *w->state, "the state of a solve");
    if (w->state) w->copy = trs_gpu_new(ctx, (int64_t)bytes, 1, "published x");
    if (!w->copy) return TRS_EMEM;
    if (cudaMemset(w->state, 0, sizeof *w->state) != cudaSuccess ||
        cudaMemset(w->copy, 0xff, bytes) != cudaSuccess)
        return trs_fail(ctx, TRS_EDEVICE, "cudaMemset");
    return trs_gpu_wait(NULL);
}

static int work_create(const trs_part *part, trs_context *ctx, int nrhs, void **work)
{
    const supernodal *d = (const supernodal *)part->data;
    supernodal_work *w = (supernodal_work *)trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    *work = w;
    if (!w) return trs_fail(ctx, TRS_EMEM, "out of memory");
    return for_type(part->side->tri.dtype, [&](auto zero) {
        using T = decltype(zero);
        w->most = for_width<T>(nrhs, [](auto width, int) { return decltype(width)::value; });
        w->copy_size = ((int64_t)part->side->tri.n + (int64_t)d->s.pieces * BLOCK) * w->most;
        int rc = grids<T>(w, d);
        if (rc) return trs_fail(ctx, rc, "cuda-supernodal needs more shared memory than there is");
        return work_start(w, ctx, sizeof(T));
    });
}

template <class T, int R>
static int launch(const supernodal *d, const problem<T> &P, int grid, cudaStream_t stream)
{
    if (d->s.wide > 0) {
        mixed_kernel<T, R><<<(unsigned)grid, BLOCK_THREADS, sizeof(wide<T, R>), stream>>>(P);
        return launched();
    }
    void *args[] = {(void *)&P};
    return cudaLaunchCooperativeKernel((const void *)narrow_kernel<T, R>, dim3((unsigned)grid),
                                       dim3(BLOCK_THREADS), args, 0, stream) == cudaSuccess
               ? TRS_OK
               : TRS_EDEVICE;
}

template <class T> static int solve_columns(const trs_part *part, const trs_job *job)
{
    const supernodal *d = (const supernodal *)part->data;
    const supernodal_work *w = (const supernodal_work *)job->work;
    problem<T> P = {
        part->side->tri.n, d->s.blocks, d->s.tasks,          d->block,       d->stage, d->column,
        d->task,           d->thin,     (const T *)d->store, d->substituted, d->split};
    P.cj = job->conj;
    P.state = w->state;
    P.copy = (T *)w->copy;
    P.copy_size = w->copy_size;
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r += w->most) {
        P.nrhs = min(job->nrhs - r, w->most);
        P.b = from_column(typed<T>(job->b), r);
        P.x = from_column(typed<T>(job->x), r);
        rc = for_width<T>(P.nrhs, [&](auto width, int k) {
            return launch<T, decltype(width)::value>(d, P, w->grid[k], (cudaStream_t)job->stream);
        });
    }
    return rc;
}

static int solve(const trs_part *part, const trs_job *job)
{
    return for_type(part->side->tri.dtype,
                    [&](auto zero) { return solve_columns<decltype(zero)>(part, job); });
}

static int64_t bytes(const trs_shape *s)
{
    return (s->nnz + s->store) * (int64_t)s->elem + s->nnz * 4 + s->n * 24 + s->blocks * 200;
}

const trs_solver trs_solver_supernodal = {
    .name = "cuda-supernodal",
    .about = "blocks of rows with inverted diagonal blocks, dense stages, one launch",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .supernodes = true,
    .pattern = true,
    .direct = true,
    .cost = supernodal_cost,
    .cost_now = supernodal_cost_now,
    .bytes = bytes,
    .analyse = analyse,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
