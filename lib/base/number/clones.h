/* clones.h: loops that are compiled for several instruction sets; the program uses the best one of its machine.
 *
 * The library is built for the oldest processors of its architecture.  A function with TRS_CLONES is compiled for
 * newer ones as well (AVX2 and FMA; AVX-512), and the dynamic linker binds its name to the right one.  The functions
 * that it calls must be TRS_INLINE, so that they are compiled for the same instruction set, or have clones themselves:
 * gcc 12 may call a static function of SSE without clearing the upper halves of AVX's registers, which made a loop 2.5
 * times slower.  No two functions with clones have one name, not even static ones: clang 14 binds the names of the
 * whole program.
 *
 * Every copy costs time to compile and memory.  Loops that gain little from AVX-512 and its 32 registers use
 * TRS_FMA_CLONES (doc/results/cpu/2026-11-25-copies.csv, one noisy run).  Those are most loops without vectors.
 *
 * Rounding.  If the processor has fused multiply-adds, compilers use one for `s -= a * x`, always: gcc has an option for that
 * (m4/trs_compiler.m4), without which it looks at the loop around the statement.  Two functions that must
 * give the same bits therefore sum by statements with a single product.  TRS_ROUNDED (t) prevents the fusion of a
 * product t that is added afterwards; otherwise the compiler would choose which of two products is rounded. */
#ifndef TRS_CLONES_H
#define TRS_CLONES_H

/* ThreadSanitizer is not ready yet when the dynamic linker asks which function to take. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define TRS_SANITIZED
#elif defined __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define TRS_SANITIZED
#endif
#endif

#if defined HAVE_TARGET_CLONES && !defined TRS_SANITIZED
#define TRS_CLONES     __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define TRS_FMA_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#define TRS_AVX512     __attribute__((target("arch=x86-64-v4")))
#else
#define TRS_CLONES
#define TRS_FMA_CLONES
#ifdef __AVX512F__
#define TRS_AVX512
#endif
#endif

#define TRS_INLINE static inline __attribute__((always_inline))

#if defined __x86_64__
#define TRS_ROUNDED(t) __asm__("" : "+x"(t))
#elif defined __aarch64__
#define TRS_ROUNDED(t) __asm__("" : "+w"(t))
#else
#define TRS_ROUNDED(t) __asm__("" : "+m"(t))
#endif

/* Fetch what a loop is going to read at p, which may lie behind the end of an array.  It is fetched into the second cache:
 * the first one keeps count of a few missing lines only (24 on Zen 4), and as many of them as there are in 100 ns, the time
 * that memory takes, would limit a core to 15 GB/s, and keep the loads themselves waiting. */
#define TRS_PREFETCH(p) __builtin_prefetch(p, 0, 2)

#endif
