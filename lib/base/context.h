/* context.h: what every step of the library is handed: memory, device, threads, and what the caller announced. */
#ifndef TRS_CONTEXT_H
#define TRS_CONTEXT_H

#include "call.h"
#include "memory.h"
#include "number.h"

#include <stdbool.h>

/* ---- the machine ---------------------------------------------------------------------------- */

typedef struct trs_machine { /* costs of single steps, in seconds (machine.c) */
    double cpu_threads;      /* that share the work of a wide level */
    double cpu_byte;         /* of a matrix read from memory by one core */
    double cpu_cached;       /* of one read from cache */
    double cpu_entry;        /* arithmetic */
    double
        cpu_full; /* the same in a full matrix, where every number is looked at, whether it is zero */
    double cpu_row;     /* loop, division, store */
    double cpu_hop;     /* latency of a row that waits for the one just before it */
    double cpu_scatter; /* more for a row whose b and x are not beside those of the row before,
                                nor near the core */
    double cpu_barrier;
    double gpu_byte;
    double gpu_gather; /* a random read of x */
    double gpu_launch; /* kernel after kernel in a stream */
    double gpu_hop;    /* a row that sees the x it has waited for, inside one kernel */
    double link_byte;  /* between host and device */
    double link_start; /* a copy that is waited for */
} trs_machine;

/* ---- context: memory, device, what was announced ------------------------------------------- */

typedef struct trs_context {
    trs_memory mem;
    trs_device_memory device_memory;
    int base;              /* of the row and column numbers in sentences */
    int device;            /* CUDA device that solvers use, from 0 */
    int64_t limit;         /* bytes, 0: none was set */
    int threads;           /* CPU threads, >= 1 */
    int nrhs;              /* announced, >= 1 */
    trs_layout layout;     /* announced */
    bool bitwise;          /* only solvers that promise the same bits */
    bool patient;          /* for tests: the device may take any time to find levels */
    unsigned ops;          /* announced */
    struct trs_ring *ring; /* pinned memory that large arrays go to the device by (gpu.cu) */
    void *scratch;         /* on the device, for one step of an analysis at a time */
    int64_t scratch_bytes;
    double seconds_vendor; /* that a vendor's own analysis took */
    trs_machine machine;   /* that predictions go by, from trs_machine_find on */
    char costs[200];       /* where its numbers are from */
} trs_context;

/* trs_alloc that leaves a sentence: "out of memory: 12 bytes for the levels". */
void *trs_new(trs_context *ctx, int64_t count, size_t size, const char *what);

enum {
    TRS_MOST_THREADS = 1024
}; /* that a caller may ask for: OpenMP ends a program that has too many */

/* The same for arrays that several threads are going to write: where they meet in a new page, each clears it. */
void *trs_new_touched(trs_context *ctx, int64_t count, size_t size, const char *what);

/* Threads for work on so many entries: one when there is little of it. */
int trs_team(const trs_context *ctx, int64_t entries);
/* The same where they allocate: one with a caller's allocator, which need not stand several at once. */
int trs_team_with_memory(const trs_context *ctx, int64_t entries);

/* By these threads: copy; and touch new memory, whose pages cost the first to touch them more than a copy. */
void trs_copy(const trs_context *ctx, void *to, const void *from, size_t bytes);
void trs_touch(const trs_context *ctx, void *p, size_t bytes);

/* Is there the GPU that arrays are said to live on?  TRS_OK, also for the host; TRS_EDEVICE. */
int trs_check_device(int device);

/* A level with fewer entries is done by one CPU thread: handing over would cost more.  A triangle with
 * fewer entries altogether (half a millisecond) is left to one thread: when the machine is busy, a thread
 * that has to wait for its core costs whole milliseconds. */
enum { TRS_THIN = 4000, TRS_SHARED_FROM = 500000 };

#endif
