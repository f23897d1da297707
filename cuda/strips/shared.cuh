/* shared.cuh: shared memory of one block: numbers that are their own flags, and bulk copies into it.
 *
 * Addresses are 32-bit shared addresses where the compiler would make them anew at each use. */
#ifndef TRS_STRIPS_SHARED_CUH
#define TRS_STRIPS_SHARED_CUH

#include "cuda/runtime/flag.cuh"

__device__ inline uint32_t shared_address(const void *p)
{
    uint32_t a;
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
                 : "=r"(a)
                 : "l"(p));
    return a;
}

__device__ inline int lane_number()
{
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* ---- slots ------------------------------------------------------------------------------------------- */

/* A slot holds one x, and is empty while all bits are set.  As in flag.cuh nothing but the number itself is
 * published by it, so a relaxed access will do.  The two parts of a complex number are two accesses and two
 * flags. */
__device__ inline void slot_peek(uint32_t p, double &v)
{
    delay();
    asm volatile("ld.relaxed.cta.shared.f64 %0, [%1];" : "=d"(v) : "r"(p) : "memory");
}
__device__ inline void slot_peek(uint32_t p, float &v)
{
    delay();
    asm volatile("ld.relaxed.cta.shared.f32 %0, [%1];" : "=f"(v) : "r"(p) : "memory");
}
template <class T> __device__ inline void slot_peek(uint32_t p, T &v)
{
    slot_peek(p, v.x);
    slot_peek(p + (uint32_t)sizeof v.x, v.y);
}

__device__ inline void slot_put(uint32_t p, double v)
{
    delay();
    asm volatile("st.relaxed.cta.shared.f64 [%0], %1;" ::"r"(p), "d"(v) : "memory");
}
__device__ inline void slot_put(uint32_t p, float v)
{
    delay();
    asm volatile("st.relaxed.cta.shared.f32 [%0], %1;" ::"r"(p), "f"(v) : "memory");
}
template <class T> __device__ inline void slot_put(uint32_t p, T v)
{
    slot_put(p, v.x);
    slot_put(p + (uint32_t)sizeof v.x, v.y);
}

template <class T> __device__ inline T empty_slot()
{
    T v;
    memset(&v, 0xff, sizeof v);
    return v;
}

/* For assertions. */
template <class T> __device__ inline bool slot_is_empty(uint32_t p)
{
    T v;
    slot_peek(p, v);
    return !flag_there(v);
}

/* Releases what this thread did before, and acquires for what it does after, within the block. */
__device__ inline void fence()
{
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

/* ---- bulk copies ---------------------------------------------------------------------------------------- */

/* From compute capability 9.0 on the TMA unit copies, and counts the bytes that have arrived down in an mbarrier,
 * whose phase is over when none are left.  Before that the warp copies by itself; then the fence of whoever waits
 * and says so to others is enough.
 *
 *     bulk_expect (full, bytes); bulk_copy (...); ...; bulk_wait (full, phase)
 *
 * all lanes calling; copies are of multiples of 16 bytes at multiples of 16. */
__device__ inline void bulk_init(uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ inline void bulk_expect(uint64_t *full, int bytes)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0)
        asm volatile(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(full)),
            "r"(bytes)
            : "memory");
#endif
}

__device__ inline void bulk_copy(void *to, const void *from, int bytes, uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                     "l"(from), "r"(bytes), "r"(shared_address(full))
                     : "memory");
#else
    for (int at = threadIdx.x % 32 * 16; at < bytes; at += 32 * 16)
        *(int4 *)((char *)to + at) = *(const int4 *)((const char *)from + at);
#endif
}

/* Until the phase is over; they are counted from 0. */
__device__ inline void bulk_wait(uint64_t *full, int phase)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(shared_address(full)),
                 "r"(phase & 1)
                 : "memory");
#endif
}

#endif
