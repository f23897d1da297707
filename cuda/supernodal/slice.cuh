/* slice.cuh: 16 rows of a supernode of a chain, by 256 threads; one right-hand side.
 *
 * Up to four thread blocks share the rows of a supernode, and each owns a slice.  They wait for the same numbers as
 * the tasks of a whole supernode (large.cuh: PARTIAL_RHS, CHAIN), compute the same and publish their rows.
 *
 * The panels are processed in phases of up to four.  A thread has four columns of a row of each (tile.cuh:
 * part_of_tile), in registers a phase ahead, and looks after one of the 256 numbers of x of a phase.  Between two
 * waits no load depends on another: the lists of panels and columns are in shared memory before the first wait, and
 * the place of the next number is looked up a phase ahead.
 *
 * Bytes: those of its rows, as in large.cuh, with x read once a slice.  Bound by the dependency latency, then by the
 * barriers and the product between two waits. */
#ifndef TRS_SUPERNODAL_SLICE_CUH
#define TRS_SUPERNODAL_SLICE_CUH

#include "large.cuh"

template <class T> struct slice_shared { /* in the place of the tiles */
    T x[int(TRS_CHAIN) * int(BLOCK)], part[WARPS][SLICE];
};

/* At most four panels whose x comes at about the same time. */
struct phase {
    int first, count; /* of the panels of the task */
    bool plus;        /* they are added: M times partial right-hand sides; else subtracted */
};

template <class T> struct slice {
    large_shared<T, 1> *lists; /* the panels and columns of the task */
    slice_shared<T> *sh;
    const problem<T> &P;
    const trs_task &task;
    const copies<T> &h;
    const trs_supernode k;
    const bool chain;                 /* a CHAIN task; else a PARTIAL_RHS */
    const int phases, first_row, row; /* this thread's row of the supernode */
    T looked; /* the number of x of the next phase that this thread looks after */
    T sum[4];

    __device__ slice(large_shared<T, 1> *lists, const problem<T> &P, const trs_task &task,
                     const copies<T> &h)
        : lists(lists), sh((slice_shared<T> *)lists->tile), P(P), task(task), h(h),
          k(P.supernode[task.supernode]), chain(task.kind == TRS_TASK_CHAIN),
          phases(chain ? 3 : (task.panels + int(TRS_CHAIN) - 1) / int(TRS_CHAIN)),
          first_row(task.slice * SLICE), row(first_row + (int)threadIdx.x % SLICE)
    {
        TRS_ASSERT(task.slice < k.slices && first_row < k.rows);
        for (int z = 0; z < 4; z++) sum[z] = number<T>(0);
    }
    /* A partial right-hand side goes through its panels by fours.  A chain takes the late panels but the last four,
     * whose x is the oldest; M; and the last four late panels. */
    __device__ phase phase_at(int p) const
    {
        const int four = TRS_CHAIN, diagonal = k.chain_place + 1;
        if (!chain) return {four * p, min(task.panels - four * p, four), false};
        const int older = max(task.panels - diagonal - four, 0), latest = diagonal + older;
        if (p == 0) return {diagonal, older, false};
        return p == 1 ? phase{0, diagonal, true} : phase{latest, task.panels - latest, false};
    }
    __device__ void load(part_of_tile<T> (&a)[TRS_CHAIN], int p) const
    {
        const phase ph = phase_at(p);
#pragma unroll
        for (int t = 0; t < TRS_CHAIN; t++) {
            for (int z = 0; z < 4; z++) a[t].v.v[z] = number<T>(0);
            if (p >= phases || t >= ph.count || row >= k.rows) continue;
            const trs_panel &s = lists->panel[ph.first + t];
            if (!(s.row_mask >> row & 1) || a[t].column() >= s.columns) continue;
            const int i = __popcll(s.row_mask & ((1ull << row) - 1)); /* row of the panel */
            a[t].load(P.stored + s.offset, i - (int)threadIdx.x % SLICE, __popcll(s.row_mask));
        }
    }
    /* Where the number that this thread looks after is published, NULL: it has none. */
    __device__ const T *place(int p) const
    {
        if (p >= phases) return NULL;
        const phase ph = phase_at(p);
        const int t = threadIdx.x / BLOCK, column = threadIdx.x % BLOCK;
        const trs_panel *s = lists->panel + ph.first + t;
        if (t >= ph.count || column >= s->columns) return NULL;
        return h.published + lists->column[s->column - task.column + column];
    }
    __device__ void look(const T *from)
    {
        looked = number<T>(0);
        if (from) looked = flag_peek(from);
    }
    /* Phase p, and the first look at x of the next one; from: the place of this thread's number. */
    __device__ void step(const part_of_tile<T> (&a)[TRS_CHAIN], int p, const T *&from)
    {
        const phase ph = phase_at(p);
        TRS_ASSERT(ph.count <= TRS_CHAIN);
        if (from && !flag_there(looked)) looked = flag_wait(from);
        __syncthreads(); /* everybody is done with x of the phase before */
        sh->x[threadIdx.x] = ph.plus ? looked : number<T>(0) - looked;
        from = place(p + 1);
        look(from);
        __syncthreads();
#pragma unroll
        for (int t = 0; t < TRS_CHAIN; t++)
            if (t < ph.count) a[t].multiply(sum, sh->x + t * BLOCK, P.cj);
    }
    __device__ void subtract_partials()
    {
        const T *partials = h.published + P.n + (int64_t)k.partial * BLOCK;
        for (int p = (int)threadIdx.x / SLICE; p < k.partials && row < k.rows;
             p += BLOCK_THREADS / SLICE)
            sum[0] = sum[0] - flag_wait(partials + p * BLOCK + row);
    }
    __device__ void go_through()
    {
        part_of_tile<T> a[2][TRS_CHAIN];
        load(a[0], 0);
        load(a[1], 1);
        const T *from = place(0);
        look(from);
        for (int p = 0; p < phases; p += 2)
#pragma unroll
            for (int d = 0; d < 2; d++) {
                if (p + d == phases) break;
                step(a[d], p + d, from);
                load(a[d], p + d + 2);
            }
    }
    /* v to those who wait for the row, and the rows of the slice emptied in the other copy. */
    __device__ void publish_slice(T v, int64_t place, bool writes) const
    {
        if (writes) publish(h.published + place + threadIdx.x, v);
        if (writes && chain) P.x.store(k.first + row, v);
        const int rows = min(k.rows - first_row, (int)SLICE);
        for (int e = (int)threadIdx.x; e < rows * h.width; e += BLOCK_THREADS)
            flag_clear(h.emptied + place * h.width + e);
    }
};

/* CHAIN: x = sum of M r - sum of S x, of a chain that is not split; PARTIAL_RHS: r = b - sum of L x - partial sums. */
template <class T>
static __device__ void solve_slice(large_shared<T, 1> *sh, const problem<T> &P,
                                   const trs_task &task, const copies<T> &h)
{
    slice<T> s(sh, P, task, h);
    list_panels(sh, P, task, s.k, steps_of<T>(P, task, s.k));
    __syncthreads();
    const bool writes = threadIdx.x < SLICE && s.row < s.k.rows;
    T b = number<T>(0);
    if (!s.chain && writes) b = load_rhs(P, h, s.k.first + s.row);
    s.go_through();
    if (!s.chain) s.subtract_partials(); /* they take longest */
    const T v = b + join_parts(s.sh->part, s.sum);
    s.publish_slice(v, (s.chain ? s.k.first : place_of_rhs(P, s.k)) + s.first_row, writes);
}

#endif
