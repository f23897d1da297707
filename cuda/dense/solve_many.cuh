/* solve_many.cuh: a row of tiles of dense-blocked for R = 8, 32 or 64 right-hand sides, by one block of threads.
 *
 * The tiles pass through a ring of two or three in shared memory, filled by asynchronous copies one or two steps
 * ahead of their use; x_s of a step is polled one step ahead.  Thread m has row m % 64 of the sums, and a quarter of
 * the right-hand sides. */
#ifndef TRS_SOLVE_MANY_CUH
#define TRS_SOLVE_MANY_CUH

#include "row_of_tiles.cuh"

template <class T, int R> struct shared_many {
    static constexpr int RING = sizeof(T) == 16 ? 2 : 3;
    T tile[RING][TILE_SIZE];
    T x[2][BLOCK * R]; /* b or x of a step, in turn */
    int t;             /* the ticket */
};

/* Start to read the tile of a step, if there is one. */
template <class T, int R>
__device__ inline void fetch_step(shared_many<T, R> *sh, const problem<T> &P, const tile_row &row,
                                  int step)
{
    T *to = sh->tile[step % shared_many<T, R>::RING];
    if (step <= row.t) fetch_tile(to, tile_of(P, row, row.tile(step)));
    __pipeline_commit();
}

/* x_t first to the rows that wait for it, then to the caller. */
template <class T, int R>
__device__ inline void deliver(const T (&v)[share<R>::COLUMNS], const problem<T> &P, int t,
                               unsigned now)
{
    const share<R> me;
    const int64_t i = (int64_t)t * BLOCK + me.row;
    T *mine = P.copy + now * P.copy_size + (int64_t)t * BLOCK * R;
    for (int c = 0; c < share<R>::COLUMNS && me.writes(); c++)
        publish(mine + me.row * R + me.first + c, v[c]);
    for (int c = 0; c < share<R>::COLUMNS && me.writes(); c++)
        if (i < P.n && me.first + c < P.nrhs) P.x(i, me.first + c) = v[c];
}

/* sum = L_tt^-1 (b_t + sum), where the diagonal tile may not be inverted; b_t is in the x of step t. */
template <class T, int R>
__device__ inline void substitute_row(T (&sum)[share<R>::COLUMNS], shared_many<T, R> *sh, int t,
                                      bool cj)
{
    const share<R> me;
    T *b = sh->x[t & 1], *scratch = sh->x[1 - (t & 1)];
    for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = b[me.row * R + me.first + c] + sum[c];
    substitute<T, R>(sum, sh->tile[t % shared_many<T, R>::RING], BLOCK, scratch, cj);
}

template <class T, int R>
static __device__ void solve_row(shared_many<T, R> *sh, const problem<T> &P, int t, unsigned now)
{
    constexpr int RING = shared_many<T, R>::RING;
    const tile_row row(P, t);
    const T *x = P.copy + now * P.copy_size;
    T sum[share<R>::COLUMNS], v[MINE<R>];
    const auto x_of = [=](int step) {
        const T *from = x + (int64_t)row.tile(step) * BLOCK * R;
        return [=](int e) { return from + e; };
    };
    const auto is_x = [=](int step) { return step <= t && row.tile(step) < row.first; };
    for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = number<T>(0);
    for (int step = 0; step < RING - 1; step++) fetch_step(sh, P, row, step);
    if (is_x(0)) look<T, R>(v, BLOCK * R, x_of(0));
    for (int step = 0; step <= t; step++) {
        const int s = row.tile(step);
        T *xs = sh->x[step & 1];
        if (is_x(step)) collect<T, R>(xs, v, x_of(step));
        else load_b<T, R>(xs, P, s);
        __pipeline_wait_prior(RING - 2);
        __syncthreads(); /* tile and x_s are there, and all threads are done with the tile before */
        fetch_step(sh, P, row, step + RING - 1);
        if (row.substituted && s == t) break;
        if (is_x(step + 1)) look<T, R>(v, BLOCK * R, x_of(step + 1));
        add_product<T, R>(sum, sh->tile[step % RING], xs, is_x(step), P.cj);
    }
    if (row.substituted) substitute_row(sum, sh, t, P.cj);
    deliver<T, R>(sum, P, t, now);
    __pipeline_wait_prior(0);
}

#endif
