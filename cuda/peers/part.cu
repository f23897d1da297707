/* part.cu: the kernel of cuda-peers: that of cuda-dataflow for wide levels (dataflow/wide.cuh), for a part of the triangle.
 *
 * Who computes row i      a warp of the device that has its part, and no other.
 * How x(i) is visible     st.relaxed.gpu into the y of its own device, where it is its own flag (flag.cuh); then
 *                         st.relaxed.sys into the y of each later part that needs it.  Readers look by ld.relaxed.sys,
 *                         which is strong with both.  A number of 8 bytes, or each half of one of 16, is one access,
 *                         over NVLink and PCIe too.
 * In which order          on a device as in wide.cu: warp w of W takes the tasks w, w + W, ... in level order, all
 *                         warps are resident, and every operand is a ghost or in an earlier task.
 *
 * Why it cannot hang.  Devices ascend with the parts, in every plan (core/plan_create.c), and a kernel begins only when
 * the flags of its solve are cleared on all devices (solve.cu).  By induction on the device, from the lowest, every kernel
 * ends.  One that runs is resident as a whole.  Its ghosts come from kernels of the same solve on lower devices, which could
 * begin when it did, and end; or from an earlier part on its device, which has ended, as they share a stream.  Let t be the
 * first of its tasks, in level order, that is not published.  The warp of t has ended all tasks before it, and is in t; all
 * operands are ghosts, which arrive, or in earlier tasks.  So t is published.  A kernel that does not run yet waits for
 * kernels on its device, which end.  Other plans, streams, delays and slow devices change when this happens, and not
 * whether (README.md).
 *
 * Bytes of a part in fp64: 12 nnz + 62 n, as wide.cu, and 4 n to learn what is sent; over the link 8 for each ghost, which
 * arrive in packets of 32.  Bound by bytes and by some 0.4 us a level; a path of rows pays the link once for each border. */
#include "config.h"

#include "cuda/dataflow/wide.cuh"
#include "parts.cuh"

/* Numbers come from other devices, too. */
struct look_there {
    template <class T> static __device__ T at(const T *y) { return flag_peek_system(y); }
};

/* ---- what a part does otherwise ----------------------------------------------------------------------------------- */

enum { NOWHERE = -1, GHOST = -2 }; /* instead of a place in the list of targets */

template <class T> struct part_args : wide_args<T> {
    using look = look_there;
    static constexpr int PUSH_INTS = WARP;
    int32_t ghosts;            /* rows that earlier parts compute */
    const int32_t *first_push; /* [nodes] of peer_part.push, or NULL */
    const peer_target *target;
    T *mirror;                  /* [nodes] on the first device, or NULL */
    T *there[TRS_MOST_DEVICES]; /* y of each part */

    struct push {
        bool has_node;
        int32_t at;
        peer_target to;
    };

    __device__ bool is_mine(int32_t i) const { return i >= ghosts; }

    template <class H, class S> __device__ void begin_push(const H &h, const S &s) const
    {
        const int lane = threadIdx.x % WARP;
        const bool mine = is_mine(h.row);
        if (mine && first_push) copy_later(s.push + lane, first_push + h.task.first + lane);
        else s.push[lane] = mine ? NOWHERE : GHOST;
    }

    template <class S> __device__ push push_of(const S &s) const
    {
        const int32_t at = s.push[threadIdx.x % WARP];
        push p = {at != GHOST, at, {-1, 0}};
        if (at >= 0) p.to = target[at];
        return p;
    }

    /* The first target was read before the wait; most rows that are sent have no other. */
    __device__ void send(const push &p, int32_t node, T x) const
    {
        if (mirror) mirror[node] = x;
        if (p.at < 0) return;
        peer_target to = p.to;
        for (int32_t t = p.at + 1; to.part >= 0; to = target[t++])
            flag_store_system(there[to.part] + to.node, x);
        flag_store_system(there[~to.part] + to.node, x);
    }
};

template <class T>
static __global__ void __launch_bounds__(THREADS + COPIERS * WARP, 2)
    part_kernel(const part_args<T> k)
{
    if (threadIdx.x / WARP >= k.warps) copy_all<T>(k);
    else if (*k.divides) compute_all<true, false>(k);
    else compute_all<false, false>(k);
}

/* ---- the host side ------------------------------------------------------------------------------------------------ */

template <class T> static int choose(peer_part *part)
{
    wide_launch with = {}, without = {};
    trs_flow f = part->flow;
    f.levels = part->levels;
    int rc = choose_launch(&f, part_kernel<T>, COPIERS, &with);
    if (!rc) rc = choose_launch(&f, part_kernel<T>, 0, &without);
    part->warps = with.warps;
    part->shared = with.shared;
    part->blocks_copying = with.blocks;
    part->blocks = without.blocks;
    return rc;
}

int part_new(peer_part *part, trs_dtype dtype)
{
    return for_type(dtype, [&]<class T>(T) { return choose<T>(part); });
}

template <class T> static int solve(const peer_part *part, const part_job *job)
{
    const trs_flow *f = &part->flow;
    part_args<T> k = {};
    k.n = part->rows, k.tasks = f->tasks, k.room = room_of(f), k.warps = part->warps;
    k.task = f->task, k.ptr = f->ptr, k.within = f->within, k.idx = f->idx, k.row = f->row;
    k.row_node = part->row_node + part->ghosts;
    k.val = (const T *)part->val, k.inv = (const T *)part->inv, k.divides = f->divides;
    k.y = (T *)job->y, k.b = typed<T>(job->b), k.x = typed<T>(job->x), k.cj = job->conj;
    k.b.p -= part->ghosts * k.b.rs; /* rows of the flow begin with the ghosts */
    k.ghosts = part->ghosts, k.first_push = part->push, k.target = part->target;
    for (int p = 0; p < TRS_MOST_DEVICES; p++) k.there[p] = (T *)job->there[p];
    k.mirror = (T *)job->mirror;
    const int copies = k.mirror ? 0 : copiers<T>(part->rows);
    const int blocks = copies ? part->blocks_copying : part->blocks;
    const int warps = part->warps + copies;
    const int rc = launch_together((const void *)part_kernel<T>, blocks, warps * WARP, k,
                                   job->stream, part->shared);
    if (rc || copies || k.mirror) return rc;
    pass_kernel<T><<<blocks_of(part->rows, PASS * COPIED), PASS, 0, job->stream>>>(k);
    return launched();
}

int part_solve(const peer_part *part, trs_dtype dtype, const part_job *job)
{
    return for_type(dtype, [&]<class T>(T) { return solve<T>(part, job); });
}

template <class T> static int pass(const peer_part *part, const part_job *job)
{
    wide_args<T> k = {};
    k.n = part->rows, k.row_node = part->mirror_node;
    k.y = (T *)job->mirror, k.x = typed<T>(job->x);
    pass_kernel<T><<<blocks_of(part->rows, PASS * COPIED), PASS, 0, job->stream>>>(k);
    return launched();
}

int part_pass(const peer_part *part, trs_dtype dtype, const part_job *job)
{
    return for_type(dtype, [&]<class T>(T) { return pass<T>(part, job); });
}
