/* parallel.c: lets threads claim ranges, or the chunks of stages; see parallel.h.
 *
 * Claiming is an atomic addition.  A chunk's `done` is counted up with release and waited for with acquire, so that
 * the rows of a stage see what earlier stages wrote. */
#include "config.h"

#include "parallel.h"
#include "debug.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* looks after which a thread yields, as the thread that has the chunk may need this core; up to 5 us, since a pause takes
 * up to 140 cycles */
enum { SPINS = 100 };

/* Tell the processor that this is a loop that waits. */
static inline void pause_briefly(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void trs_wait_for(atomic_int *done, int count)
{
    for (int spin = 0; atomic_load_explicit(done, memory_order_acquire) < count; spin++) {
        if (spin < SPINS) pause_briefly();
        else sched_yield();
    }
}

int trs_default_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static atomic_bool is_orphan; /* this process is the child of one that had several threads */

static void mark_orphan(void)
{
    atomic_store(&is_orphan, true);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, mark_orphan);
}

int trs_threads_now(int asked)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (asked <= 1) return 1;
    (void)pthread_once(&once, watch_forks);
    return atomic_load_explicit(&is_orphan, memory_order_relaxed) ? 1 : asked;
}

int trs_threads_given(int asked)
{
    if (asked <= 1 || atomic_load_explicit(&is_orphan, memory_order_relaxed)) return 1;
#ifdef _OPENMP
    const int procs = omp_get_num_procs(), limit = omp_get_thread_limit();
    const int most = procs < limit ? procs : limit;
    if (omp_get_active_level() >= omp_get_max_active_levels()) return 1;
    return asked < most ? asked : most;
#else
    return 1;
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

static void run_stages(const trs_level_stage *stage, int32_t count, trs_stage_progress *progress,
                       trs_rows_fn rows, void *user)
{
    const int thread = team_member();
    for (int32_t s = 0; s < count; s++) {
        const trs_level_stage *g = &stage[s];
        trs_stage_progress *now = &progress[s];
        const int64_t length = g->end - g->begin, chunks = g->chunks;
        int64_t c;
        TRS_ASSERT(g->begin <= g->end && (chunks >= 1 || length == 0));
        TRS_ASSERT(s == 0 || g->begin == stage[s - 1].end);
        while ((c = atomic_fetch_add(&now->claimed, 1)) < chunks) {
            rows(user, thread, (int32_t)(g->begin + length * c / chunks),
                 (int32_t)(g->begin + length * (c + 1) / chunks));
            atomic_fetch_add_explicit(&now->done, 1, memory_order_release);
        }
        trs_wait_for(&now->done, g->chunks);
        TRS_ASSERT(atomic_load(&now->done) == g->chunks);
    }
}

/* Wait until all threads of the team have come here.  One that has not begun may be waiting for the core of one that is
 * done, so that the waiting ones have to yield; the barrier of OpenMP, which follows, would spin for milliseconds. */
static void leave(atomic_int *left)
{
    atomic_fetch_add(left, 1);
    trs_wait_for(left, team_size());
}

void trs_team_run(int threads, trs_team_fn body, void *user)
{
    atomic_int left = 0;
    threads = trs_threads_given(trs_threads_now(threads));
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        body(user, team_member(), team_size());
        leave(&left);
    }
}

/* One thread needs no region, which takes a fraction of a microsecond. */
static void share_alone(int64_t count, int64_t each, trs_range_fn body, void *user)
{
    for (int64_t begin = 0; begin < count; begin += each)
        body(user, begin, count - begin < each ? count : begin + each);
}

/* Where the next range of a part begins; each has cache lines of its own. */
typedef struct part {
    _Alignas(128) _Atomic int64_t next;
    int64_t end;
} part;

enum { PARTS = 64 };

/* Part p has as many ranges as the others, give or take one. */
static void cut(part *of, int parts, int64_t count, int64_t each)
{
    const int64_t ranges = (count + each - 1) / each;
    for (int p = 0; p < parts; p++) {
        const int64_t end = ranges * (p + 1) / parts * each;
        atomic_init(&of[p].next, ranges * p / parts * each);
        of[p].end = end < count ? end : count;
    }
}

static void take_part(part *p, int64_t each, trs_range_fn body, void *user)
{
    int64_t begin;
    while (atomic_load_explicit(&p->next, memory_order_relaxed) < p->end &&
           (begin = atomic_fetch_add(&p->next, each)) < p->end)
        body(user, begin, p->end - begin < each ? p->end : begin + each);
}

void trs_share(int threads, int64_t count, int64_t each, trs_range_fn body, void *user)
{
    part of[PARTS];
    atomic_int left = 0;
    TRS_ASSERT(count >= 0 && each > 0);
    if (count > each) threads = trs_threads_now(threads);
    if (count <= each || threads <= 1) {
        share_alone(count, each, body, user);
        return;
    }
    const int parts = threads < PARTS ? threads : PARTS;
    cut(of, parts, count, each);
#pragma omp parallel num_threads(threads)
    {
        for (int k = 0; k < parts; k++)
            take_part(&of[(team_member() + k) % parts], each, body, user);
        leave(&left);
    }
}

void trs_stages_run(const trs_level_stage *stage, int32_t count, trs_stage_progress *progress,
                    int threads, trs_rows_fn rows, void *user)
{
    trs_stage_progress *left = progress + count;
    memset(progress, 0, ((size_t)count + 1) * sizeof *progress);
    threads = trs_threads_now(threads);
#pragma omp parallel num_threads(threads)
    {
        run_stages(stage, count, progress, rows, user);
        leave(&left->done);
    }
}
