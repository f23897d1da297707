/* published.cuh: how x passes between thread blocks, and how its copies alternate between solves.
 *
 * Every number of x is published in a copy of x where it is its own flag (flag.cuh).  Two copies alternate.  A
 * solve publishes in copy `now`, which is empty when it begins.  The thread block that publishes rows there empties
 * the same rows of the other copy, which the previous solve has filled.  No launch is needed in between:
 *
 *     solve 1:   copy 0  .... -> xxxx      copy 1  .... -> ....
 *     solve 2:   copy 0  xxxx -> ....      copy 1  .... -> xxxx
 *     solve 3:   copy 0  .... -> xxxx      copy 1  xxxx -> ....
 *
 * The last thread block of a solve switches the copies on the device, so a captured graph can be launched again. */
#ifndef TRS_PUBLISHED_CUH
#define TRS_PUBLISHED_CUH

#include "tile.cuh"

/* *p is empty again: it has the pattern of flag.cuh. */
template <class T> __device__ inline void flag_clear(T *p)
{
    delay();
    for (int w = 0; w < (int)(sizeof(T) / sizeof(unsigned)); w++) ((unsigned *)p)[w] = ~0u;
}

/* Publishes one number in this solve's copy; its place has been emptied by the solve before. */
template <class T> __device__ inline void publish(T *place, T v)
{
    TRS_ASSERT(!flag_there(flag_peek(place)));
    flag_store(place, v);
}

/* ---- turns ------------------------------------------------------------------------------------------ */

struct turn {          /* on the device, in the work space */
    unsigned ticket;   /* the next task, where tasks are drawn */
    unsigned done;     /* thread blocks that are through */
    unsigned now;      /* the copy that this solve publishes in */
    unsigned width[2]; /* right-hand sides that each copy holds; 0: it is empty */
};

/* The last thread block to finish hands the turn over.  All of copy 1 - now has been emptied by then, since every
 * row was published. */
template <int R> __device__ inline void finish(turn *state, unsigned now)
{
    __syncthreads();
    if (threadIdx.x > 0) return;
    delay();
    __threadfence();
    if (atomicAdd(&state->done, 1u) + 1 < gridDim.x) return;
    TRS_ASSERT(state->now == now && state->width[now] == 0);
    state->ticket = state->done = 0;
    state->width[1 - now] = 0;
    state->width[now] = R;
    state->now = 1 - now;
}

/* ---- x of the next steps ------------------------------------------------------------------------------- */

/* A thread block multiplies 64 numbers of x (times R) a step, and loads those of later steps while it works, since
 * a load takes as long as a step.  With one right-hand side, four groups of 64 threads look after the x of a step
 * in turn, each four steps ahead.  With more, all threads look after the x of the next step. */
template <int R> constexpr int GROUPS = R == 1 ? 4 : 1;
template <int R> constexpr int LOOKERS = BLOCK_THREADS / GROUPS<R>;
template <int R>
constexpr int MINE = BLOCK *R / LOOKERS<R>; /* numbers of a step that a thread looks after */

/* Is this thread one of those who look after step p? */
template <int R> __device__ inline bool looks_after(int p)
{
    return (int)threadIdx.x / LOOKERS<R> == p % GROUPS<R>;
}

/* Loads count of 64 x R numbers of x, and sets the others to 0; number e is published at place (e).  Whether it was
 * there is not asked before collect, so that the loads are in flight until then. */
template <class T, int R, class F> __device__ inline void look(T (&v)[MINE<R>], int count, F place)
{
#pragma unroll
    for (int m = 0; m < MINE<R>; m++) {
        const int e = m * LOOKERS<R> + (int)threadIdx.x % LOOKERS<R>;
        TRS_ASSERT(count <= BLOCK * R);
        v[m] = number<T>(0);
        if (e < count) v[m] = flag_peek(place(e));
    }
}

/* Waits for those of the numbers that were not there, and stores all of them to shared memory. */
template <class T, int R, class F> __device__ inline void collect(T *to, T (&v)[MINE<R>], F place)
{
#pragma unroll
    for (int m = 0; m < MINE<R>; m++) {
        const int e = m * LOOKERS<R> + (int)threadIdx.x % LOOKERS<R>;
        if (!flag_there(v[m])) v[m] = flag_wait(place(e));
        to[e] = v[m];
    }
}

#endif
