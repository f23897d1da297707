/* supernodal.cuh: blocks of rows on the device, and where what a solve finds is published (supernodal.cu).
 *
 * A copy of x has a number for every row and right-hand side of the kernel, then 64 rows for each piece and each rest:
 * those of a block follow one another, the rest last.  Every number is its own flag (flag.cuh).  There are two copies
 * (blocks.cuh: turn): who publishes rows in one of them empties these rows in the other, for the next solve. */
#ifndef TRS_SUPERNODAL_CUH
#define TRS_SUPERNODAL_CUH

#include "cuda/blocks/blocks.cuh"

static_assert(int(BLOCK) == int(TRS_BLOCK), "blocks of supernode.h are tiles of blocks.cuh");
static_assert(int(SLICE) == int(TRS_SLICE), "and slices are slices");

struct narrow { /* all that a warp has to know about a narrow block */
    int32_t first, rows;
    int32_t column, columns;
    int64_t place, inverse; /* in the store */
};

struct supernodal {
    trs_supernodes s; /* the numbers */
    trs_block *block; /* these on the device */
    trs_stage *stage;
    int32_t *column;
    trs_task *task;
    narrow *thin; /* [blocks] */
    void *store;
    int *substituted; /* [blocks] 1: the diagonal block is as it was */
    int *split;       /* [blocks] not 0: the panel that begins there is not inverted */
    int32_t *panel;   /* [panels] the block that each begins with */
    double *weight;   /* [n] sums of magnitudes of rows of D, where there are panels */
};

/* ---- a solve ------------------------------------------------------------------------------------ */

template <class T> struct problem { /* what a solve goes by */
    int32_t n, blocks, tasks;
    const trs_block *block;
    const trs_stage *stage;
    const int32_t *column;
    const trs_task *task;
    const narrow *thin;
    const T *store;
    const int *substituted, *split;
    int nrhs; /* of b and x, up to R: the right-hand sides of the kernel */
    view<T> b, x;
    bool cj;
    turn *state;
    T *copy; /* [2][copy_size] */
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

/* ---- supernodal_update.cu ---------------------------------------------------------------------- */

/* From values of L on the device, of which ptr and idx are there, too. */
int supernodal_take(const supernodal *d, const trs_device_view *L, trs_dtype t, const void *val,
                    cudaStream_t stream);

/* ---- supernodal_cost.cu ------------------------------------------------------------------------ */

void supernodal_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);
/* With the blocks that an update found no good; waits. */
void supernodal_cost_now(const trs_instance *inst, const trs_shape *s, const trs_machine *m,
                         trs_cost *c);

#endif
