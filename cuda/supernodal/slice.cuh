/* slice.cuh: 16 rows of a block of a panel, or of its rest, by 256 threads; one right-hand side.
 *
 * Four blocks of threads share the rows of a block, each owns a slice; a thread has four columns of a row of up to four
 * stages (blocks.cuh: part_of_tile).  Between two waits no load waits for another: the lists of stages and columns are
 * in shared memory before the first, stages in registers a phase ahead, and each thread looks after one of the 256
 * numbers of x of a phase, of which it knows where it is published.
 * How x becomes visible: a thread a row publishes it, a rest likewise.
 * Waits for rows, pieces and rests of earlier tasks alone.
 * Bytes: those of its rows, as in supernodal_wide.cuh, with x once a slice.  Bound by the hop, then by the barriers and
 * the product between two waits. */
#ifndef TRS_SUPERNODAL_SLICE_CUH
#define TRS_SUPERNODAL_SLICE_CUH

#include "wide.cuh"

template <class T> struct sliced { /* in the place of tiles */
    T x[int(TRS_PANEL) * int(BLOCK)], part[WARPS][SLICE];
};

/* At most four stages, and what they are multiplied by, which comes at about the same time.  A rest goes through its
 * stages; a block of a panel has S of all latest blocks but the last four, M, S of these four. */
struct phase {
    int first, count; /* of the stages of the task */
    bool rests;       /* are what they are multiplied by */
};

template <class T> struct slice {
    wide<T, 1> *lists; /* the stages and columns of the task */
    sliced<T> *sh;
    const problem<T> &P;
    const trs_task &task;
    const here<T> &h;
    const trs_block k;
    const bool panel;
    const int phases, first_row, mine; /* rows in the block */
    T seen; /* the number of x of the next phase that this thread looks after */
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

#endif
