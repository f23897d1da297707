/* wide.cu: cuda-dataflow with one right-hand side where levels are wide and rows are short.
 *
 * There the time is not the latency of a dependency times the levels: too few loads are under way.  So this kernel
 * differs from that of single.cu:
 *
 *        a lane has a row       A warp has 32 rows of a level.  Its loads of y often share sectors.
 *        warps wait as one      All lanes look for what is missing until no lane misses any operand of its batch.
 *                               Lanes that wait on their own split the warp, and each part pays a latency.
 *        operands are sorted    The last batch of a row has the operands that come last.  Rows end together:
 *                               a shorter one begins later.  So warps wait in the last round; in those before
 *                               it, the operands are usually there.
 *        looks come early       In rows of several batches, the first look at the next batch is under way while one
 *                               is waited for.
 *        entries come early     They are copied into shared memory two tasks ahead, with b, without passing
 *                               through registers, and leave the L2 cache first: y stays in it.
 *        x is copied from y     by two more warps of each block, row after row, as y comes in: single stores all over
 *                               x cost more.  Where x is larger than L2, a pass after the kernel copies it.
 *
 *        step of a warp         t                     t + W                 t + 2 W               t + 3 W      t + 4 W
 *        while t is computed    in shared memory      copied, under way     copy begins           row, ptr     task
 *
 * How y becomes visible: each number is its own flag (flag.cuh).  Why it cannot hang: as in single.cu.  Warp w of W takes the
 * tasks w, w + W, w + 2 W, ... in this order, all warps are resident, and every operand of a task is in an earlier
 * task, since a task has rows of one level only.  Let t be the first task that is not published.  Its warp has ended
 * all tasks before it, and is in t; all operands are there, so every lane sees its own after finitely many looks, and
 * the warp publishes t.  No lane waits for a lane of its warp: they wait for earlier tasks, together.  The warps that
 * copy x wait for those that solve; nobody waits for them.
 *
 * The order of a sum is that of the places of its operands, which depends on the pattern alone.
 *
 * Bytes in fp64: 12 nnz + 58 n, the memset of y and the copy of x included.  Bound by bytes, by sectors that L2 hands
 * out (b, y and x are numbers far apart), and by some 0.4 us a level (README.md). */
#include "config.h"

#include "wide.cuh"

template <class T, bool EARLY>
static __global__ void __launch_bounds__(THREADS + COPIERS * WARP, 2)
    wide_kernel(const wide_args<T> k)
{
    if (threadIdx.x / WARP >= k.warps) copy_all(k);
    else if (*k.divides) compute_all<true, EARLY>(k);
    else compute_all<false, EARLY>(k);
}

/* Looking early takes half as many registers again, which leaves no room for a third block of an SM, and is more than there
 * are for numbers of 16 bytes. */
template <class T> static auto kernel_for(const trs_flow *f)
{
    if constexpr (sizeof(T) <= 8)
        if (!has_short_rows(f)) return wide_kernel<T, true>;
    return wide_kernel<T, false>;
}

template <class T> static int choose(dataflow *d)
{
    wide_launch l = {};
    const int rc = choose_launch(&d->flow, kernel_for<T>(&d->flow), copiers<T>(d->n), &l);
    d->wide_warps = l.warps;
    d->single_blocks = l.blocks;
    return rc;
}

int wide_new(dataflow *d)
{
    return for_type(d->dtype, [&]<class T>(T) { return choose<T>(d); });
}

template <class T> static int solve(const dataflow *d, const trs_job *job)
{
    const trs_flow *f = &d->flow;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const wide_args<T> k = {d->n,       f->tasks,       room_of(f),        d->wide_warps,
                            f->task,    f->ptr,         f->within,         f->idx,
                            f->row,     d->row_node,    (const T *)d->val, (const T *)d->inv,
                            f->divides, (T *)job->work, typed<T>(job->b),  typed<T>(job->x),
                            job->conj};
    const size_t flags = (size_t)f->nodes * sizeof(T);
    int rc = cuda_status(cudaMemsetAsync(k.y, 0xff, flags, stream), "cuda-dataflow");
    if (!rc)
        rc = launch_together((const void *)kernel_for<T>(f), d->single_blocks,
                             (d->wide_warps + copiers<T>(d->n)) * WARP, k, stream,
                             (size_t)d->wide_warps * warp_bytes<wide_args<T>>(f));
    if (rc || copiers<T>(d->n)) return rc;
    pass_kernel<T><<<blocks_of(d->n, PASS * COPIED), PASS, 0, stream>>>(k);
    return launched();
}

int wide_solve(const dataflow *d, const trs_job *job)
{
    return for_type(d->dtype, [&]<class T>(T) { return solve<T>(d, job); });
}
