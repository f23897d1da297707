/* stream.h: CUDA streams for tests, and nothing of the kind in a build without CUDA. */
#ifndef TRS_STREAM_H
#define TRS_STREAM_H

#include "model.h"

#ifdef HAVE_CUDA
#include <cuda_runtime.h>

static inline void *stream_new(const trs_solver *s)
{
    cudaStream_t stream = NULL;
    if (s->place == TRS_ON_CUDA)
        assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    return stream;
}

static inline void stream_free(void *stream)
{
    if (stream) cudaStreamDestroy((cudaStream_t)stream);
}

static inline void stream_wait(void *stream)
{
    if (stream) assert_int_equal(cudaStreamSynchronize((cudaStream_t)stream), cudaSuccess);
}

#else

static inline void *stream_new(const trs_solver *s)
{
    (void)s;
    return NULL;
}

static inline void stream_free(void *stream)
{
    (void)stream;
}

static inline void stream_wait(void *stream)
{
    (void)stream;
}

#endif
#endif
