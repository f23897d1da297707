/* parallel.c: work shared among threads.  They claim the chunks of a stage and go on to the next when all of them are
 * done; a thread that the system has put aside holds nobody up unless it has a chunk in hand. */
#include "config.h"

#include "parallel.h"

#include <sched.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { SPINS = 2000 }; /* then give way: whoever has the chunk may need this core */

void trs_wait_for(atomic_int *done, int count)
{
    for (int spin = 0; atomic_load_explicit(done, memory_order_acquire) < count; spin++)
        if (spin >= SPINS) sched_yield();
}

int trs_default_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

int trs_threads_given(int asked)
{
#ifdef _OPENMP
    if (asked <= 1) return asked;
    const int procs = omp_get_num_procs(), limit = omp_get_thread_limit();
    const int most = procs < limit ? procs : limit;
    if (omp_get_active_level() >= omp_get_max_active_levels()) return 1;
    return asked < most ? asked : most;
#else
    return asked < 1 ? asked : 1;
#endif
}

static int team_size(void)
{
#ifdef _OPENMP
    return omp_get_num_threads();
#else
    return 1;
#endif
}

static int team_member(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* What each thread does. */
static void run(const trs_level_stage *stage, int32_t count, trs_progress *now, trs_rows_fn rows,
                void *user)
{
    const int thread = team_member();
    for (int32_t s = 0; s < count; s++) {
        const trs_level_stage *g = &stage[s];
        const int64_t length = g->end - g->begin, chunks = g->chunks;
        int64_t c;
        while ((c = atomic_fetch_add(&now[s].claimed, 1)) < chunks) {
            rows(user, thread, (int32_t)(g->begin + length * c / chunks),
                 (int32_t)(g->begin + length * (c + 1) / chunks));
            atomic_fetch_add_explicit(&now[s].done, 1, memory_order_release);
        }
        trs_wait_for(&now[s].done, g->chunks);
    }
}

/* A thread that has not begun may be waiting for the core of one that is done: OpenMP's own barrier would
 * spin on it for milliseconds. */
static void leave(atomic_int *left)
{
    atomic_fetch_add(left, 1);
    trs_wait_for(left, team_size());
}

void trs_share(int threads, int64_t count, int64_t each, trs_range_fn body, void *user)
{
    _Atomic int64_t next = 0;
    atomic_int left = 0;
    if (count <= each) threads = 1;
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int64_t begin;
        while ((begin = atomic_fetch_add(&next, each)) < count)
            body(user, begin, count - begin < each ? count : begin + each);
        leave(&left);
    }
}

void trs_stages_run(const trs_level_stage *stage, int32_t count, trs_progress *progress,
                    int threads, trs_rows_fn rows, void *user)
{
    trs_progress *left = progress + count;
    memset(progress, 0, ((size_t)count + 1) * sizeof *progress);
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads)
    {
        run(stage, count, progress, rows, user);
        leave(&left->done);
    }
}
