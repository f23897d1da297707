/* blas.h: how many threads a BLAS, and a library that calls it, may start.
 *
 * Such libraries have their own threads, or ask OpenMP for as many as they like: CHOLMOD 3 always asks for four.  Between
 * trs_blas_begin and trs_blas_end they have at most as many as the caller was given: OpenMP's default for the calling thread is
 * set to it, OpenBLAS's number is lowered, MKL's is set for the thread, and if one thread is all, OpenMP gives no region more.
 * OpenBLAS has one number for the process, so it is that of the call that began last while several threads are in such calls.
 * A library that starts threads by other means does what its own environment variables say. */
#ifndef TRS_BLAS_H
#define TRS_BLAS_H

#include <dlfcn.h>

/* The functions of the BLAS that is loaded; NULL: it has none of that name. */
typedef struct trs_blas {
    int (*get)(void);
    void (*set)(int threads);
    /* for the calling thread; 0: as for the process; returns the number before */
    int (*set_local)(int threads);
} trs_blas;

typedef struct trs_blas_limit {
    trs_blas blas;
    int threads, levels; /* of OpenMP before */
    int local;           /* of set_local before */
} trs_blas_limit;

/* The BLAS that a library has loaded; RTLD_DEFAULT: the one that the library from which this is called can see. */
static inline trs_blas trs_blas_find(void *library)
{
    trs_blas b;
    *(void **)&b.get = dlsym(library, "openblas_get_num_threads");
    *(void **)&b.set = dlsym(library, "openblas_set_num_threads");
    *(void **)&b.set_local = dlsym(library, "MKL_Set_Num_Threads_Local");
    return b;
}

/* threads = 0: the default of OpenMP */
void trs_blas_begin(trs_blas_limit *l, trs_blas blas, int threads);
void trs_blas_end(const trs_blas_limit *l);

#endif
