/* settings.h: what is measured, and under which conditions. */
#ifndef TRS_BIN_BENCH_SETTINGS_H
#define TRS_BIN_BENCH_SETTINGS_H

#include "trisolve-sparse.h"

#include <stdbool.h>

enum { SEED = 20261121 }; /* of the solutions x that the right-hand sides are made from */

typedef struct settings {
    char **names; /* [count] files, folders, KIND:SIZE; with dense: sizes; of --calibrate: a file */
    int count;
    bool dense;          /* full matrices are solved, which are made here */
    bool io;             /* files are read and written, and nothing is solved */
    const char *solvers; /* names between commas; NULL: all that suit */
    bool measure;        /* the automatic choice is made by measuring */
    bool on_host;        /* B and X are on the host for GPU solvers too */
    trs_op op;
    int nrhs;
    bool retype; /* values are converted to dtype before */
    trs_dtype dtype;
    double cell_seconds; /* for the solves of one solver on one triangle */
    int threads;
    int64_t memory_limit; /* bytes of a plan; 0: the default of the library */
    bool low_memory;      /* files are read with little more memory than the matrix takes */
    int device;           /* TRS_CUDA(k), or TRS_HOST: no GPU is used */
    char no_gpu[200];     /* why none is used */
    /* is told what is being measured, and NULL, NULL when that is over; NULL: nobody is told */
    void (*watch)(const char *name, const char *step);
} settings;

static inline void progress(const settings *s, const char *name, const char *step)
{
    if (s->watch) s->watch(name, step);
}

/* Are B and X in device memory for the solvers of the GPU? */
static inline bool in_device_memory(const settings *s)
{
    return s->device != TRS_HOST && !s->on_host;
}

#endif
