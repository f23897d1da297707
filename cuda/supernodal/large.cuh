/* large.cuh: the tasks of a large supernode, by 256 threads that own its up to 64 rows.
 *
 *     kind           waits for                      computes                                        publishes
 *     PARTIAL_SUM    x of its early columns         y = sum of L x                                  y
 *     PARTIAL_RHS    the same, partial sums         r = b - sum of L x - partial sums               r
 *     LARGE          x of its columns, partial      x = M (b - sum of L x - partial sums) - S x     x
 *                    sums                           (by L_tt and L if M is unusable)
 *     CHAIN          r of its chain up to here,     x = sum of M r - sum of S x                     x
 *                    x of its late columns
 *     CHAIN, split   its r, x of its columns        x = M_tt (r - sum of L x)                       x
 *
 * Each kind goes through the packed panels of its task, one a step (panel_stream).  In step p
 *
 *     panel p was copied to shared memory one or two steps ahead, in a ring of RING tiles;
 *     its x was first polled up to four steps ahead, and is waited for now (published.cuh: look, collect);
 *     each thread adds its share of panel times x to its sum (tile.cuh: share).
 *
 * Tasks wait only for what earlier tasks publish.  Bytes: elem for a stored entry, and elem + 4 for a column, since
 * x is read once for all rows.  Bound by the dependency latency, then by the instructions of a product, some 0.4 us
 * a panel; where a level has many supernodes, by bytes. */
#ifndef TRS_SUPERNODAL_LARGE_CUH
#define TRS_SUPERNODAL_LARGE_CUH

#include "supernodal.cuh"

template <class T, int R> struct large_shared { /* shared memory */
    static constexpr int RING = sizeof(T) == 16 ? 2 : 3;
    T tile[RING][TILE_SIZE];
    T x[2][BLOCK * R];
    trs_panel panel[TRS_TASK_PANELS];                  /* of the task, by steps */
    int32_t column[int(TRS_TASK_PANELS) * int(BLOCK)]; /* of them: the place where x is published */
    trs_task task;
};

__device__ inline int quads_of(const trs_panel &s)
{
    return (s.columns + 3) / 4;
}

/* ---- a panel times x ------------------------------------------------------------------------------ */

/* One right-hand side: the four lanes of a row have columns k = lane mod 4. */
template <class T>
__device__ inline void multiply_one(T (&part)[1], const T *tile, const T *x, int stride, int quads,
                                    bool cj)
{
    T other = number<T>(0);
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
}

/* R right-hand sides, of which a thread has a quarter for its row. */
template <class T, int R>
__device__ inline void multiply_many(T (&part)[share<R>::COLUMNS], const T *tile, const T *x,
                                     int stride, int quads, bool cj)
{
    constexpr int C = share<R>::COLUMNS;
#pragma unroll QUADS_UNROLLED < T>
    for (int q = 0; q < quads; q++) {
        const quad<T> l = *(const quad<T> *)(tile + q * stride);
#pragma unroll
        for (int z = 0; z < 4; z++) {
            const pack<T, C> v = *(const pack<T, C> *)(x + (4 * q + z) * R);
            const T a = conj_if(cj, l.v[z]);
#pragma unroll
            for (int c = 0; c < C; c++) part[c] = part[c] + a * v.v[c];
        }
    }
}

/* sum += or -= panel * x, this thread's share; x [64][R] in shared memory, zero behind the columns. */
template <class T, int R>
__device__ inline void add_panel(T (&sum)[share<R>::COLUMNS], const trs_panel &s, const T *tile,
                                 const T *x, bool minus, bool cj)
{
    constexpr int C = share<R>::COLUMNS;
    const share<R> me;
    if (!(s.row_mask >> me.row & 1)) return;
    const int stride = 4 * __popcll(s.row_mask), quads = quads_of(s);
    tile += 4 * __popcll(s.row_mask & ((1ull << me.row) - 1));
    T part[C];
    for (int c = 0; c < C; c++) part[c] = number<T>(0);
    if constexpr (R == 1) multiply_one<T>(part, tile + me.lane, x + me.lane, stride, quads, cj);
    else multiply_many<T, R>(part, tile, x + me.first, stride, quads, cj);
    for (int c = 0; c < C; c++) sum[c] = minus ? sum[c] - part[c] : sum[c] + part[c];
}

/* ---- the panels of a task, one after the other ------------------------------------------------------- */

/* Where the x that panel p is multiplied by is published: e counts its columns and right-hand sides. */
template <class T, int R> struct place_of_x {
    const T *x;
    const int32_t *column;
    __device__ const T *operator()(int e) const { return x + (int64_t)column[e / R] * R + e % R; }
};

template <class T, int R>
__device__ inline place_of_x<T, R> places_of(const large_shared<T, R> *sh, int p,
                                             const copies<T> &h)
{
    return {h.published, sh->column + (sh->panel[p].column - sh->task.column)};
}

/* Starts the copy of panel p to its place in the ring, if there is such a panel. */
template <class T, int R>
__device__ inline void fetch_panel(large_shared<T, R> *sh, const problem<T> &P, int p, int panels)
{
    constexpr int EACH = 16 / sizeof(T);
    if (p < panels) {
        const trs_panel &s = sh->panel[p];
        T *to = sh->tile[p % large_shared<T, R>::RING];
        const T *from = P.stored + s.offset;
        const int count = 4 * quads_of(s) * __popcll(s.row_mask);
        TRS_ASSERT(s.offset % 4 == 0 && count <= TILE_SIZE);
        for (int e = (int)threadIdx.x * EACH; e < count; e += BLOCK_THREADS * EACH)
            __pipeline_memcpy_async(to + e, from + e, 16);
    }
    __pipeline_commit();
}

/* A first look at the x of step p, if there is one to wait for, by the threads that look after it. */
template <class T, int R>
__device__ inline void look_at(T (&looked)[MINE<R>], const large_shared<T, R> *sh, int p, int own,
                               const copies<T> &h)
{
    if (looks_after<R>(p) && p < sh->task.panels && p != own)
        look<T, R>(looked, sh->panel[p].columns * R, places_of(sh, p, h));
}

/* ---- the kinds ------------------------------------------------------------------------------------------ */

/* What the steps of a task do.  In step p the sum becomes
 *
 *     sum + panel x      p <= pivot
 *     sum - panel x      p > pivot
 *
 * and in step `own`, if there is one, it starts anew: x is b - sum, made here, and panel the diagonal block, so
 * that what comes after it is subtracted from M_tt (b - sum), or x is the right-hand side of a substitution.
 *
 *     kind               panels                       own       pivot      b
 *     PARTIAL_SUM        early                        -         -          -
 *     PARTIAL_RHS        early                        -         -          b_t, less the sum at the end
 *     LARGE              early, M_tt, late (S)        M_tt      own        b_t
 *     LARGE, substituted early, late (L), L_tt        L_tt      own        b_t
 *     CHAIN              M_tu for u <= t, late (S)    -         M_tt       -
 *     CHAIN, split       late (L), L_tu for u < t,    M_tt or   own        the partial right-hand side
 *                        M_tt or L_tt                 L_tt
 */
template <class T> struct steps_of {
    bool partial; /* PARTIAL_SUM or PARTIAL_RHS */
    /* CHAIN, not split: columns of the chain are those of partial right-hand sides */
    bool inverted;
    bool substituted; /* by the diagonal block */
    bool last;        /* the diagonal block is taken last, since late panels are L and not S */
    int diagonal;     /* which panel of the task it is */
    int pivot, own;   /* there is no step `own` where it is -1, or behind the last step */
    __device__ steps_of(const problem<T> &P, const trs_task &task, const trs_supernode &k)
        : partial(task.kind == TRS_TASK_PARTIAL_SUM || task.kind == TRS_TASK_PARTIAL_RHS)
    {
        const bool split = task.kind == TRS_TASK_CHAIN && P.split[task.supernode - k.chain_place];
        inverted = task.kind == TRS_TASK_CHAIN && !split;
        substituted = !partial && !inverted && P.substituted[task.supernode];
        last = split || substituted;
        diagonal = partial ? task.panels : k.diagonal - task.panel;
        pivot = last ? task.panels - 1 : diagonal;
        own = inverted ? -1 : pivot;
        TRS_ASSERT(partial || (diagonal >= 0 && diagonal < task.panels));
    }
    __device__ int panel_of_step(int p, int panels) const
    {
        return last ? (p + diagonal + 1) % panels : p;
    }
};

/* The panels of a task by steps, and the places of their x, into shared memory. */
template <class T, int R>
__device__ inline void list_panels(large_shared<T, R> *sh, const problem<T> &P,
                                   const trs_task &task, const trs_supernode &k,
                                   const steps_of<T> &steps)
{
    const int32_t chain = P.supernode[task.supernode - k.chain_place].first;
    TRS_ASSERT(task.panels <= TRS_TASK_PANELS && task.columns <= TRS_TASK_PANELS * BLOCK);
    for (int p = threadIdx.x; p < task.panels; p += BLOCK_THREADS)
        sh->panel[p] = P.panel[task.panel + steps.panel_of_step(p, task.panels)];
    for (int e = threadIdx.x; e < task.columns; e += BLOCK_THREADS) {
        const int32_t j = P.column[task.column + e];
        sh->column[e] = steps.inverted && j >= chain ? place_of_rhs_row(P, task.supernode, j) : j;
    }
}

/* The b of a task: a split chain waits for its partial right-hand side. */
template <class T, int R>
__device__ inline void load_b(T (&b)[share<R>::COLUMNS], const problem<T> &P, const trs_task &task,
                              const trs_supernode &k, const copies<T> &h, bool split)
{
    const share<R> me;
    const bool whole = task.kind != TRS_TASK_CHAIN && task.kind != TRS_TASK_PARTIAL_SUM;
    for (int c = 0; c < share<R>::COLUMNS; c++) {
        const bool in = me.row < k.rows && me.first + c < P.nrhs;
        b[c] = number<T>(0);
        if (in && whole) {
            if constexpr (R == 1) b[c] = load_rhs(P, h, k.first + me.row);
            else b[c] = P.b.v(k.first + me.row, me.first + c);
        }
        if (in && split)
            b[c] =
                flag_wait(h.published + (int64_t)(place_of_rhs(P, k) + me.row) * R + me.first + c);
    }
}

/* sum += the partial sums of the supernode, waiting for them. */
template <class T, int R>
__device__ inline void add_partials(T (&sum)[share<R>::COLUMNS], const trs_supernode &k,
                                    const T *partials)
{
    const share<R> me;
    for (int p = R == 1 ? me.lane : 0; p < k.partials && me.row < k.rows; p += R == 1 ? 4 : 1) {
        const T *from = partials + ((int64_t)(k.partial + p) * BLOCK + me.row) * R + me.first;
        for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = sum[c] + flag_wait(from + c);
    }
}

/* b - sum as the x of step `own`; zero behind its rows. */
template <class T, int R>
__device__ inline void make_own_x(T *x, T (&sum)[share<R>::COLUMNS],
                                  const T (&b)[share<R>::COLUMNS], int rows)
{
    const share<R> me;
    join_lanes<T, R>(sum);
    for (int c = 0; c < share<R>::COLUMNS && me.writes(); c++)
        x[me.row * R + me.first + c] = me.row < rows ? b[c] - sum[c] : number<T>(0);
}

/* sum = b - sum - the partial sums of the supernode, which take longest. */
template <class T, int R>
__device__ inline void subtract_from_b(T (&sum)[share<R>::COLUMNS], const T (&b)[share<R>::COLUMNS],
                                       const trs_supernode &k, const T *partials)
{
    add_partials<T, R>(sum, k, partials);
    join_lanes<T, R>(sum);
    for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = b[c] - sum[c];
}

/* After step `own` has made its x: the sum of what comes after it; or x itself, if that is to be substituted, which
 * is returned. */
template <class T, int R>
__device__ inline bool begin_anew(T (&sum)[share<R>::COLUMNS], const T *x, bool substituted)
{
    const share<R> me;
    for (int c = 0; c < share<R>::COLUMNS; c++)
        sum[c] = substituted ? x[me.row * R + me.first + c] : number<T>(0);
    return substituted;
}

/* v to those who wait for rows from place on, and these rows emptied in the other copy. */
template <class T, int R>
__device__ inline void publish_rows(const T (&v)[share<R>::COLUMNS], const copies<T> &h,
                                    int64_t place, int rows)
{
    const share<R> me;
    for (int c = 0; c < share<R>::COLUMNS && me.writes() && me.row < rows; c++)
        publish(h.published + (place + me.row) * R + me.first + c, v[c]);
    for (int e = (int)threadIdx.x; e < rows * h.width; e += BLOCK_THREADS)
        flag_clear(h.emptied + place * h.width + e);
}

/* Where the rows of a task are published. */
template <class T>
__device__ inline int64_t place_of_task(const problem<T> &P, const trs_task &task,
                                        const trs_supernode &k)
{
    if (task.kind == TRS_TASK_PARTIAL_SUM) return P.n + (int64_t)task.partial * BLOCK;
    return task.kind == TRS_TASK_PARTIAL_RHS ? place_of_rhs(P, k) : k.first;
}

/* x_t to the caller. */
template <class T, int R>
__device__ inline void store_x(const T (&v)[share<R>::COLUMNS], const problem<T> &P,
                               const trs_supernode &k)
{
    const share<R> me;
    for (int c = 0; c < share<R>::COLUMNS && me.writes() && me.row < k.rows; c++) {
        if constexpr (R == 1) P.x.store(k.first + me.row, v[c]);
        else if (me.first + c < P.nrhs) P.x.v(k.first + me.row, me.first + c) = v[c];
    }
}

/* Any task of a whole large supernode. */
template <class T, int R>
static __device__ void solve_large(large_shared<T, R> *sh, const problem<T> &P,
                                   const trs_task &task, const copies<T> &h)
{
    constexpr int RING = large_shared<T, R>::RING, C = share<R>::COLUMNS;
    const trs_supernode k = P.supernode[task.supernode];
    const steps_of<T> steps(P, task, k);
    const T *partials = h.published + (int64_t)P.n * R;
    T sum[C], b[C], looked[MINE<R>];
    list_panels(sh, P, task, k, steps);
    for (int c = 0; c < C; c++) sum[c] = number<T>(0);
    load_b<T, R>(b, P, task, k, h, task.kind == TRS_TASK_CHAIN && steps.last);
    __syncthreads();
    for (int p = 0; p < RING - 1; p++) fetch_panel(sh, P, p, task.panels);
    for (int p = 0; p < GROUPS<R>; p++) look_at<T, R>(looked, sh, p, steps.own, h);
    for (int p = 0; p < task.panels; p++) {
        T *x = sh->x[p & 1];
        if (p + 1 == steps.own && task.kind == TRS_TASK_LARGE)
            add_partials<T, R>(sum, k, partials); /* as late as possible: they take longest */
        if (p == steps.own) make_own_x<T, R>(x, sum, b, k.rows);
        else if (looks_after<R>(p)) collect<T, R>(x, looked, places_of(sh, p, h));
        __pipeline_wait_prior(RING - 2);
        __syncthreads(); /* panel and x are there, and everybody is done with the panel before */
        fetch_panel(sh, P, p + RING - 1, task.panels);
        look_at<T, R>(looked, sh, p + GROUPS<R>, steps.own, h);
        if (p == steps.own && begin_anew<T, R>(sum, x, steps.substituted)) break;
        add_panel<T, R>(sum, sh->panel[p], sh->tile[p % RING], x, p > steps.pivot, P.cj);
    }
    if (steps.substituted)
        substitute<T, R>(sum, sh->tile[steps.own % RING], k.rows, sh->x[1 - (steps.own & 1)], P.cj);
    else if (task.kind == TRS_TASK_PARTIAL_RHS) subtract_from_b<T, R>(sum, b, k, partials);
    else join_lanes<T, R>(sum);
    publish_rows<T, R>(sum, h, place_of_task(P, task, k), k.rows);
    if (!steps.partial) store_x<T, R>(sum, P, k);
}

#endif
