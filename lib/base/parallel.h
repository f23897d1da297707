/* parallel.h: rows in the order of the levels, shared among threads that need not all be running. */
#ifndef TRS_STAGES_H
#define TRS_STAGES_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct
    trs_level_stage { /* rows begin..end-1 of the order: a wide level, or a run of thin ones */
    int32_t begin, end;
    int32_t chunks; /* that threads claim; a run of thin levels is one */
} trs_level_stage;

typedef struct trs_progress { /* of one stage */
    atomic_int claimed, done; /* chunks */
} trs_progress;

/* As many as OpenMP would take. */
int trs_default_threads(void);
/* Of so many that were asked for, those that a solve from here would have: OpenMP, or the processors that this process
 * may run on, may give fewer. */
int trs_threads_given(int asked);

/* Do rows begin..end-1; thread 0 .. threads-1 has it. */
typedef void (*trs_rows_fn)(void *user, int thread, int32_t begin, int32_t end);

/* body for the ranges of 0 .. count-1, each long, in any order and by any of the threads: for work without
 * order.  A thread that comes late finds nothing left to do. */
typedef void (*trs_range_fn)(void *user, int64_t begin, int64_t end);
void trs_share(int threads, int64_t count, int64_t each, trs_range_fn body, void *user);

/* All stages, one after the other.  progress [count+1] is cleared first. */
void trs_stages_run(const trs_level_stage *stage, int32_t count, trs_progress *progress,
                    int threads, trs_rows_fn rows, void *user);

/* Until it has come to count. */
void trs_wait_for(atomic_int *done, int count);

#endif
