/* there.h: matrices and vectors of tests on CUDA device 0, and a graph of what was captured on a stream. */
#ifndef TRS_TESTS_THERE_H
#define TRS_TESTS_THERE_H

#include "tests/common/full.h"

#include "base/device.h"

#include <cuda_runtime.h>

static inline bool has_device(void)
{
    char why[200];
    const bool has = !trs_gpu_probe(0, why, sizeof why);
    if (!has) print_message("%s\n", why);
    return has;
}

static inline void *array_there(const void *from, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes + 1, &p), TRS_OK);
    if (bytes) assert_int_equal(trs_device_put(TRS_CUDA(0), p, from, bytes), TRS_OK);
    return p;
}

static inline size_t value_bytes(const trs_mat *m)
{
    int64_t count = m->nnz;
    if (m->format == TRS_DENSE) count = m->n * m->ld;
    if (m->format == TRS_BSR) count *= (int64_t)m->block * m->block;
    return (size_t)count * trs_size(m->dtype);
}

/* The same matrix with its arrays there; free it by away. */
static inline trs_mat there(const trs_mat *m)
{
    trs_mat d = *m;
    const int64_t lines = m->format == TRS_BSR ? m->n / m->block : m->n;
    d.device = TRS_CUDA(0);
    d.val = array_there(m->val, value_bytes(m));
    if (m->format == TRS_DENSE) return d;
    d.ptr = array_there(m->ptr, (size_t)(lines + 1) * (m->ptr_bits == 32 ? 4 : 8));
    d.idx = array_there(m->idx, (size_t)m->nnz * (m->idx_bits == 64 ? 8 : 4));
    return d;
}

static inline void away(trs_mat *d)
{
    trs_device_free(TRS_CUDA(0), (void *)d->ptr);
    trs_device_free(TRS_CUDA(0), (void *)d->idx);
    trs_device_free(TRS_CUDA(0), (void *)d->val);
}

/* Other values into the same array. */
static inline void send_values(const trs_mat *d, const trs_mat *m)
{
    assert_int_equal(trs_device_put(TRS_CUDA(0), (void *)d->val, m->val, value_bytes(m)), TRS_OK);
}

static inline cudaStream_t new_stream(void)
{
    cudaStream_t s = NULL;
    assert_int_equal(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    return s;
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

#endif
