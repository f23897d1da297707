/* supernodal.cuh: blocks of rows on the device, and what the files of cuda-supernodal share (supernodal.cu). */
#ifndef TRS_SUPERNODAL_CUH
#define TRS_SUPERNODAL_CUH

#include "blocks.cuh"

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

/* ---- supernodal_update.cu ---------------------------------------------------------------------- */

/* From values of L on the device, of which ptr and idx are there, too. */
int supernodal_take(const supernodal *d, const trs_direct *L, trs_dtype t, const void *val,
                    cudaStream_t stream);

/* ---- supernodal_cost.cu ------------------------------------------------------------------------ */

void supernodal_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);
/* With the blocks that an update found no good; waits. */
void supernodal_cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m,
                         trs_cost *c);

#endif
