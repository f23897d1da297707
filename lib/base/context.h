/* context.h: the context, which every step of the library is given: memory, device, threads, and what the caller
 * announced. */
#ifndef TRS_CONTEXT_H
#define TRS_CONTEXT_H

#include "call.h"
#include "memory.h"
#include "number/number.h"

#include <stdbool.h>

/* ---- the machine ---------------------------------------------------------------------------- */

typedef struct trs_machine { /* costs of single steps, in seconds (select/machine.c) */
    double cpu_threads;      /* how many threads share the work of a wide level */
    double cpu_byte;         /* one core reads a byte of the matrix from memory */
    double cpu_cached;       /* one core reads a byte of it from cache */
    double cpu_entry;        /* arithmetic of an entry */
    double cpu_full;         /* arithmetic of an entry of a full matrix, which may be zero */
    double cpu_row;          /* loop, division and store of a row */
    double cpu_hop;          /* dependency latency: a row needs the row just before it */
    double cpu_scatter;      /* added for a row whose b and x are far from the last ones */
    double cpu_barrier;      /* threads wait for one another */
    double gpu_byte;         /* a byte of the matrix is read from device memory */
    double gpu_gather;       /* x is read at a random place */
    double gpu_launch;       /* a kernel follows another one in a stream */
    double gpu_hop;          /* dependency latency between two rows of one kernel */
    double link_byte;        /* a byte is copied between host and device */
    double link_start;       /* a copy is begun and waited for */
} trs_machine;

/* ---- context: memory, device, what was announced ------------------------------------------- */

typedef struct trs_context {
    trs_memory mem;
    trs_device_memory device_memory;
    int base;              /* 0 or 1: the first row and column in sentences */
    int device;            /* CUDA device that solvers use, from 0 */
    int64_t limit;         /* bytes that a plan may take; 0: no limit was set */
    int threads;           /* CPU threads, >= 1 */
    int nrhs;              /* announced, >= 1 */
    trs_layout layout;     /* announced */
    bool bitwise;          /* only solvers with TRS_CAP_BITWISE may be chosen */
    bool patient;          /* for tests: the device may take any time to find levels */
    unsigned ops;          /* announced: 1 << op for each trs_op */
    struct trs_ring *ring; /* pinned memory by which large arrays go to the device (cuda/runtime) */
    void *scratch;         /* [scratch_bytes] on the device, for one step of an analysis */
    int64_t scratch_bytes;
    double seconds_vendor; /* what a vendor's own analysis took */
    trs_machine machine;   /* the costs behind all predictions, from trs_machine_find on */
    char costs[200];       /* where its numbers are from */
} trs_context;

/* Allocate as trs_alloc does, and leave a sentence on failure: "out of memory: 12 bytes for the levels". */
void *trs_new(trs_context *ctx, int64_t count, size_t size, const char *what);

/* A caller may not ask for more threads, since OpenMP ends a program that has too many. */
enum { TRS_MOST_THREADS = 1024 };

/* The same for an array that several threads are going to write.  Its pages are touched here, because threads that
 * meet in a new page each clear it. */
void *trs_new_touched(trs_context *ctx, int64_t count, size_t size, const char *what);

/* The number of threads that work on so many entries: one if there are few. */
int trs_team(const trs_context *ctx, int64_t entries);
/* The same for threads that allocate: one if the caller has an allocator, which need not be thread-safe. */
int trs_team_with_memory(const trs_context *ctx, int64_t entries);

/* Copy by several threads; and touch new memory by them, since the first touch of a page costs more than a copy. */
void trs_copy(const trs_context *ctx, void *to, const void *from, size_t bytes);
void trs_touch(const trs_context *ctx, void *p, size_t bytes);

/* Is there the device that arrays are said to live on?  Returns TRS_OK, also for the host, or TRS_EDEVICE. */
int trs_check_device(int device);

/* A level with fewer than TRS_THIN entries is solved by one CPU thread, since handing rows over would cost more.
 * Work on fewer than TRS_SHARED_FROM entries (half a millisecond) is left to one thread altogether: when the machine
 * is busy, a thread that has to wait for its core costs milliseconds. */
enum { TRS_THIN = 4000, TRS_SHARED_FROM = 500000 };

#endif
