/* dealing.h: assigns units to workers one after the other, while it simulates their work. */
#ifndef TRS_STENCIL_DEALING_H
#define TRS_STENCIL_DEALING_H

#include "schedule.h"

/* Who gets a unit. */
typedef enum trs_rule {
    TRS_INHERIT, /* the worker that most of the unit's entries refer to; of the first rows each has a share */
    TRS_EARLIEST /* the worker that can begin with it first (list scheduling) */
} trs_rule;

/* The units that a unit has entries of, itself left out. */
typedef struct trs_needs {
    int32_t count;
    int32_t *unit;    /* [count] */
    int32_t *entries; /* [count] how many entries refer to it */
} trs_needs;

typedef struct trs_dealt_worker {
    double free;  /* when it has done what it was given so far */
    double total; /* seconds of that */
    int32_t units;
    /* of the unit that is being dealt out, among the units that it needs those of this worker: */
    double ready; /* when the last of them is done */
    int32_t rank; /* of the last of them, 0: there is none */
    int64_t entries;
} trs_dealt_worker;

typedef struct trs_dealing {
    trs_context *ctx;
    trs_rule rule;
    int32_t workers;
    int32_t head;   /* rows that the first of the rules shares out by their numbers */
    double seconds; /* from the begin of the first unit to the end of the last one */
    double work;    /* of all units so far */
    double work_head;
    trs_turn *turn; /* [units] */
    double *done;   /* [units] when */
    int32_t *seen;  /* [workers][workers] how many units of the other the one knows to be done */
    int64_t *waits;
    trs_turn *wait;
    int64_t wait_room;
    trs_dealt_worker worker[TRS_MOST_WORKERS];
} trs_dealing;

/* Free by trs_dealing_free, also after an error. */
int trs_dealing_begin(trs_context *ctx, int32_t units, int32_t workers, trs_rule rule, int32_t head,
                      trs_dealing *d);
/* Deal out unit u, which begins with this row and takes one thread so many seconds. */
int trs_dealing_next(trs_dealing *d, int32_t u, int32_t row, double seconds,
                     const trs_needs *needs);
void trs_dealing_free(trs_dealing *d);

#endif
