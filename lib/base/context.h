/* context.h: the context, an argument of every step of the library: memory, device, threads, and the caller's
 * announcements. */
#ifndef TRS_CONTEXT_H
#define TRS_CONTEXT_H

#include "call.h"
#include "memory.h"
#include "number/number.h"

#include <stdbool.h>

/* ---- the machine ---------------------------------------------------------------------------- */

/* The costs of single steps, and the properties of the machine: a field for each line of the modules' files `costs`.  These
 * files have the meaning, the unit and the source of each cost (select/machine.c). */
typedef struct trs_machine {
    double cpu_threads; /* how many threads share the work of a wide level */
#define TRS_COST(name, value, unit) double name;
#include "costs.inc"
#undef TRS_COST
} trs_machine;

/* ---- context: memory, device, what was announced ------------------------------------------- */

enum { TRS_MOST_DEVICES = 16 };

typedef struct trs_context {
    trs_memory mem;
    trs_device_memory device_memory;
    int base;              /* 0 or 1: the first row and column in sentences */
    int device;            /* CUDA device that solvers use, from 0 */
    int64_t limit;         /* bytes that a plan may take; 0: no limit was set */
    int threads;           /* CPU threads, >= 1 */
    int nrhs;              /* announced, >= 1 */
    trs_layout layout;     /* announced */
    int solves_per_update; /* announced; 0: updates do not count */
    int64_t sweeps;        /* Jacobi sweeps in place of a solve; 0: none */
    bool bitwise;          /* only solvers with TRS_CAP_BITWISE may be chosen */
    bool refreshes;        /* only solvers may be chosen that take new values without the host */
    bool patient;          /* for tests: the device may take any time to find levels */
    unsigned ops;          /* announced: 1 << op for each trs_op */
    struct trs_ring *ring; /* pinned memory by which large arrays go to the device (cuda/runtime) */
    void *scratch;         /* [scratch_bytes] on the device, for one step of an analysis */
    int64_t scratch_bytes;
    double seconds_vendor; /* what a vendor's own analysis took */
    trs_machine machine;   /* the costs behind all predictions, from trs_machine_find on */
    char costs[200];       /* where its numbers are from */

    /* the devices that may share a solve, from 0, ascending; the first one is device */
    int devices[TRS_MOST_DEVICES];
    int device_count; /* 0: none were named */
} trs_context;

/* Allocate as trs_alloc does, and leave a sentence on failure: "out of memory: 12 bytes for the levels". */
void *trs_new(trs_context *ctx, int64_t count, size_t size, const char *what);

/* A caller may not ask for more threads, since OpenMP ends a program that has too many. */
enum { TRS_MOST_THREADS = 1024 };
/* May a call ask for this number of threads?  0 is the default.  Returns TRS_OK or TRS_EARG, with a sentence that begins with `call`. */
int trs_check_threads(const char *call, int threads);

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
