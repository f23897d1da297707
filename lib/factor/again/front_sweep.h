/* front_sweep.h: what all fronts of one run share, and the functions that compute a front. */
#ifndef TRS_FRONT_SWEEP_H
#define TRS_FRONT_SWEEP_H

#include "again_fronts.h"
#include "base/number/clones.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 4, SHARED = 1 << 22 /* products of S, from which threads share its columns */ };

typedef struct trs_front_sweep {
    const trs_again_fronts *f;
    trs_dtype a_type;
    const void *a;
    trs_again_pivots outcome[TRS_AGAIN_WORKERS + 1]; /* of each worker, and of the top */
} trs_front_sweep;

typedef struct product { /* of a panel with itself or with the other half's, for S */
    const trs_again_fronts *f;
    int32_t front;
} product;

/* Compute front k; `threads` threads share what is large. */
typedef void (*trs_front_fn)(const trs_front_sweep *, int32_t k, trs_again_pivots *, int threads);
trs_front_fn trs_front_of_lu(trs_dtype t);

/* Numbers of a panel, and of an update matrix, in one half. */
TRS_INLINE int64_t trs_again_panel_size(const trs_again_fronts *f, int32_t k)
{
    const trs_front *s = &f->tree.front[k];
    return ((int64_t)s->cols + s->rows + f->lanes - 1) / f->lanes * s->cols * f->lanes;
}

TRS_INLINE int64_t trs_again_update_size(const trs_again_fronts *f, int32_t k)
{
    const trs_front *s = &f->tree.front[k];
    const int64_t strips = ((int64_t)s->cols + s->rows + f->lanes - 1) / f->lanes;
    return (strips - s->cols / f->lanes) * s->rows * f->lanes;
}

#endif
