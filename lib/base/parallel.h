/* parallel.h: CPU threads that share work: ranges in any order, or the rows of a triangle level by level.
 *
 * For work level by level, the rows are in level order and are cut into stages.  A stage is one wide level, cut into
 * chunks, or a run of thin levels, which is one chunk, since a hand-over from core to core costs as much as some
 * thousand entries.  The rows of a stage depend on those of earlier stages, and on each other within a chunk only:
 *
 *     level order    | 0 . . . . . . . . . 99 | 100  101  102 | 103 . . . . . 180 |
 *     stage          |           0            |       1       |         2         |
 *     chunk          |  0  |  1  |  2  |  3   |       0       |    0    |    1    |
 *
 * Threads claim the chunks of a stage one by one and go on to the next stage when all of them are done.  So they
 * need not all be running: a thread that the system has suspended does not block the others unless it has
 * claimed a chunk. */
#ifndef TRS_PARALLEL_H
#define TRS_PARALLEL_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct trs_level_stage {
    int32_t begin, end; /* rows begin..end-1 of the level order */
    /* >= 1; chunk c has rows begin + (end-begin) c/chunks to begin + (end-begin) (c+1)/chunks */
    int32_t chunks;
} trs_level_stage;

typedef struct trs_stage_progress { /* of one stage, in chunks */
    /* exceeds the number of chunks, since each thread asks once more than it gets */
    atomic_int claimed;
    atomic_int done;
} trs_stage_progress;

/* *least = k, if k is less: the smallest number that any thread has found. */
static inline void trs_note_least(_Atomic int64_t *least, int64_t k)
{
    int64_t found = *least;
    while (k < found && !atomic_compare_exchange_weak(least, &found, k)) continue;
}

/* The number of threads that OpenMP would take. */
int trs_default_threads(void);
/* The number of threads that a parallel region, or a library with threads of its own, may ask for: `asked`, or 1 in the child
 * of a fork after this process has had several threads.  The child has a copy of OpenMP's list of threads, but not the threads,
 * and would wait for them for ever.  Every parallel region of this library has its number of threads from here. */
int trs_threads_now(int asked);
/* The number of threads that a solve from here would have if it asked for so many.  OpenMP, or the processors that this
 * process may run on, may give fewer. */
int trs_threads_given(int asked);

/* Call body for all of 0 .. count-1, in ranges of `each`, in any order and by any of the threads.  Each thread begins with a part
 * of its own, which is the same in each call with these numbers, so that what it has in its cache serves again; then it helps
 * others.  One that comes late finds nothing left to do. */
typedef void (*trs_range_fn)(void *user, int64_t begin, int64_t end);
void trs_share(int threads, int64_t count, int64_t each, trs_range_fn body, void *user);

/* Call rows for all chunks, stage after stage; `thread`, 0 .. threads-1, is the thread that calls it.
 * progress [count+1] is cleared first. */
typedef void (*trs_rows_fn)(void *user, int thread, int32_t begin, int32_t end);
void trs_stages_run(const trs_level_stage *stage, int32_t count, trs_stage_progress *progress,
                    int threads, trs_rows_fn rows, void *user);

/* Wait until *done has come to count.  Whoever counts it up releases what was written before.  A thread that has waited
 * for long lets others have its core. */
void trs_wait_for(atomic_int *done, int count);

/* How far a worker has come: a counter that no other shares a cache line with, nor the line beside it, which processors
 * fetch together. */
typedef struct trs_progress {
    _Alignas(128) atomic_int done;
} trs_progress;

/* Call body by a team of at most so many threads, all of which are running; `thread` is 0 .. team-1.  There are no more
 * threads than the process has processors, since threads that wait for one another would have to take turns.  A schedule
 * made for more workers than the team has threads gives each thread several: worker w is done by thread w % team. */
typedef void (*trs_team_fn)(void *user, int thread, int team);
void trs_team_run(int threads, trs_team_fn body, void *user);

#endif
