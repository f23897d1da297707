/* run_length.h: the rows of a lower triangle as runs of columns. */
#ifndef TRS_OUTLINE_H
#define TRS_OUTLINE_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>

struct trs_context;
struct trs_tri;

typedef struct trs_run { /* columns begin..end-1 */
    int32_t begin, end;
} trs_run;

typedef struct trs_outline_row {
    const trs_run *run; /* ascending; the last one ends with the diagonal, whatever its end says */
    int32_t runs;
    bool same; /* the columns of the row before, and the diagonal */
} trs_outline_row;

typedef struct trs_outline {
    int32_t n;
    int64_t entries;
    const int64_t *ptr;   /* [n+1] of the triangle */
    trs_outline_row *row; /* [n] */
    _Atomic uint8_t
        *differ;      /* [n] 1: the column has not the pattern of the next one below its diagonal */
    int threads;      /* for work on all of it */
    trs_arena *notes; /* [threads] */
} trs_outline;

/* TRS_OK, TRS_EMEM; freed by the caller in both cases. */
int trs_outline_make(struct trs_context *ctx, const struct trs_tri *t, trs_outline *o);
void trs_outline_free(struct trs_context *ctx, trs_outline *o);

/* End of run k of row i. */
static inline int32_t trs_run_end(const trs_outline *o, int32_t i, int32_t k)
{
    return k + 1 < o->row[i].runs ? o->row[i].run[k].end : i + 1;
}

#endif
