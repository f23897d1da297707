/* schedule.h: the worker of each unit, and what a unit waits for.
 *
 * Every worker goes through its units in ascending order and counts the finished ones.  A unit waits until the
 * counters of other workers reach given values; waits that its worker has already made are left out.  A unit needs
 * only units before it.  So the first unfinished unit can always be done next, and no thread hangs as long as each
 * thread goes through the units of its workers in ascending order and all threads run. */
#ifndef TRS_STENCIL_SCHEDULE_H
#define TRS_STENCIL_SCHEDULE_H

#include "units.h"

enum { TRS_MOST_WORKERS = 64 };

typedef struct trs_turn {
    int32_t worker;
    int32_t rank; /* it is the worker's first unit, second unit, ...: 1, 2, ... */
} trs_turn;

typedef struct trs_schedule {
    int32_t workers; /* 1: none of the arrays is needed, nor there */
    int64_t wait_count;
    double alone;   /* seconds of a solve by one thread, as predicted */
    double seconds; /* and by these workers */
    trs_turn *turn; /* [units] */
    int32_t *first; /* [workers+1] where the units of a worker begin in order */
    int32_t *order; /* [units] */
    int64_t *waits; /* [units+1] where those of a unit begin in wait */
    trs_turn *wait; /* until the worker has done as many as rank */
} trs_schedule;

/* Make a schedule for at most so many workers.  shape: of L, with one right-hand side.  Free it by trs_schedule_free, also
 * after an error.  Returns TRS_OK, TRS_EMEM. */
int trs_schedule_make(trs_context *ctx, const trs_tri *L, const trs_shape *shape,
                      const trs_units *u, int workers, trs_schedule *s);
int trs_schedule_copy(trs_context *ctx, int32_t units, const trs_schedule *from, trs_schedule *to);
/* The numbers stay. */
void trs_schedule_free(trs_context *ctx, trs_schedule *s);

#endif
