/* faults.h: the CUDA run-time with one call that fails.
 *
 * The linker puts functions of faults.c in the place of those of the run-time.  They count the calls of the library, and the
 * one with number fail_at does nothing and returns an error, which cudaGetLastError returns once more, as that of the
 * run-time does.  Calls that free something never fail.
 *
 * On a machine without a GPU they pretend that there is one: device memory is memory of the host, and a launch does
 * nothing.  Numbers are meaningless then, but errors take the same way. */
#ifndef TRS_TESTS_FAULTS_H
#define TRS_TESTS_FAULTS_H

#include <stdbool.h>

typedef struct trs_faults {
    /* calls of the test itself are neither counted nor refused */
    bool on;
    /* there is no GPU */
    bool pretends;
    long calls;
    /* the call that fails, -1: none */
    long fail_at;
    /* the function that failed; NULL: none has yet */
    const char *failed;
    /* it was one that allocates */
    bool of_memory;
    /* what cudaGetLastError returns: cudaSuccess, or the error of the call that failed */
    int last;
    /* what was made and not freed: memory, streams, events, textures */
    long live;
} trs_faults;

extern trs_faults faults;

#endif
