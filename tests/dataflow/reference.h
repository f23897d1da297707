/* reference.h: cuda-dataflow done sequentially, by the same data structure (cuda/dataflow/flow.h). */
#ifndef TRS_REFERENCE_H
#define TRS_REFERENCE_H

#include "tests/common/model.h"

#include "cuda/dataflow/flow.h"

/* level [n]: the earliest of each row; how many there are. */
static inline int32_t reference_levels(const trs_tri *t, int32_t *level)
{
    int32_t count = 0;
    for (int32_t i = 0; i < t->n; i++) {
        level[i] = 0;
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1] - 1; p++)
            if (level[i] <= level[t->idx[p]]) level[i] = level[t->idx[p]] + 1;
        if (count <= level[i]) count = level[i] + 1;
    }
    return count;
}

/* The schedule of a triangle whose rows have these levels, with its arrays on the host. */
trs_flow reference_flow(const trs_tri *t, const int32_t *level, int32_t levels);
void reference_free(trs_flow *f);

/* Which entry of the triangle is entry e, from 0, of those that node k multiplies; the one behind the last of a
 * row is its diagonal. */
int64_t reference_entry(const trs_flow *f, int32_t k, int64_t e);

/* X (i, r) = x [i*nrhs + r] from B, likewise, and the values of the triangle: node after node. */
void reference_solve(const trs_flow *f, const trs_tri *t, int nrhs, const zz *b, zz *x);

#endif
