/* device.h: what tests on CUDA device 0 share: is there one, streams, and graphs of what was captured on them. */
#ifndef TRS_TESTS_DEVICE_H
#define TRS_TESTS_DEVICE_H

#include "config.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trisolve-sparse.h"

/* Says why not. */
static inline bool has_device(void)
{
    char name[200];
    const bool has = trs_device_name(TRS_CUDA(0), name, sizeof name) == TRS_OK;
    if (!has) print_message("%s\n", trs_message());
    return has;
}

static inline void test_without_a_device(void **state)
{
    (void)state;
    skip();
}

static inline int skip_all(void)
{
    const struct CMUnitTest none[] = {cmocka_unit_test(test_without_a_device)};
    return cmocka_run_group_tests(none, NULL, NULL);
}

/* Run an array of tests, or skip them all where there is no device. */
#define run_on_device(tests) (has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : skip_all())

#ifdef HAVE_CUDA
#include <cuda_runtime.h>

static inline cudaStream_t new_stream(void)
{
    cudaStream_t s = NULL;
    assert_int_equal(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    return s;
}

static inline void begin_capture(cudaStream_t s)
{
    assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), cudaSuccess);
}

static inline cudaGraphExec_t end_capture(cudaStream_t s)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cudaStreamEndCapture(s, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    return exec;
}

/* Launch what was captured, and wait for it. */
static inline void replay(cudaGraphExec_t exec, cudaStream_t s)
{
    assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
}
#endif
#endif
