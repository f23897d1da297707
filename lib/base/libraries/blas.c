/* blas.c: limits the threads of libraries; see blas.h. */
#include "config.h"

#include "blas.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* What OpenBLAS had before the first of the calls that are running. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls, before;

static void lower_process(const trs_blas *b, int threads)
{
    if (!b->get || !b->set) return;
    pthread_mutex_lock(&lock);
    if (calls++ == 0) before = b->get();
    const int now = threads < before ? threads : before;
    if (now != b->get()) b->set(now);
    pthread_mutex_unlock(&lock);
}

static void restore_process(const trs_blas *b)
{
    if (!b->get || !b->set) return;
    pthread_mutex_lock(&lock);
    TRS_ASSERT(calls > 0);
    if (--calls == 0 && before != b->get()) b->set(before);
    pthread_mutex_unlock(&lock);
}

void trs_blas_begin(trs_blas_limit *l, trs_blas blas, int threads)
{
    *l = (trs_blas_limit){.blas = blas};
    threads = trs_threads_now(threads > 0 ? threads : trs_default_threads());
#ifdef _OPENMP
    l->threads = omp_get_max_threads();
    l->levels = omp_get_max_active_levels();
    omp_set_num_threads(threads);
    if (threads == 1) omp_set_max_active_levels(0);
#endif
    lower_process(&blas, threads);
    if (blas.set_local) l->local = blas.set_local(threads);
}

void trs_blas_end(const trs_blas_limit *l)
{
    if (l->blas.set_local) (void)l->blas.set_local(l->local);
    restore_process(&l->blas);
#ifdef _OPENMP
    omp_set_max_active_levels(l->levels);
    omp_set_num_threads(l->threads);
#endif
}
