/* trisolve-sparse.h: solve sparse triangular systems on CPUs and NVIDIA GPUs.
 *
 *     trs_plan *plan;
 *     int rc = trs_plan_create(&plan, &L, NULL);                    check and copy L
 *     if (!rc) rc = trs_plan_analyse(plan);                         find levels, choose a solver
 *     if (!rc) rc = trs_solve(plan, TRS_N, 1, b, n, x, n, NULL);    L x = b, any number of times
 *     if (rc) fprintf(stderr, "%s\n", trs_message());
 *     trs_plan_destroy(plan);
 *
 * Conventions:
 *
 * - Every function that can fail returns a trs_status: TRS_OK, which is 0, or a negative code.
 *   A function explains a code only if it means more than in the table of trs_status.
 * - A function that trs_set_progress lists may also return TRS_ECANCELED, which is an error like
 *   every other.
 * - "X [n] ; in" means n elements that the function reads; "out" means that it writes them.
 * - An argument must not be NULL unless its description explains what NULL means.  Otherwise NULL
 *   is refused with TRS_EARG.
 * - The value 0 in any member of an options structure selects the default.
 * - `reserved` must be zero.  A program that sets a member which this library does not know is
 *   refused with TRS_EARG.
 * - Handles are opaque.  trs_..._destroy(NULL) does nothing.
 *
 * The level scheduling follows Chen, Hu, Gou, "GPU-accelerated sparse triangular solver";
 * doc/design.md lists the source of every solver. */
#ifndef TRISOLVE_SPARSE_H
#define TRISOLVE_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TRS_API __attribute__((visibility("default")))
#else
#define TRS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version of the header ------------------------------------------------------------- */

/* The version of this header.  trs_version() returns the version of the library at run time. */
#define TRS_VERSION       "0.9.0"
#define TRS_VERSION_MAJOR 0
#define TRS_VERSION_MINOR 9
#define TRS_VERSION_PATCH 0

/* ---- status codes ---------------------------------------------------------------------- */

typedef enum trs_status {
    /* success */
    TRS_OK = 0,
    /* an argument is NULL, out of range, or contradicts another argument */
    TRS_EARG = -1,
    /* a call out of order, such as a solve before the analysis */
    TRS_ESTATE = -2,
    /* out of memory, or more memory needed than the limit that was set */
    TRS_EMEM = -3,
    /* this solver, or this build, does not support the request */
    TRS_ESUPPORT = -4,
    /* the matrix is not well formed: an index out of range, pointers out of order, a duplicate
     * entry, an entry in the wrong triangle */
    TRS_EMATRIX = -5,
    /* a diagonal entry is missing, zero, or not finite */
    TRS_EPIVOT = -6,
    /* a file cannot be opened, read, or written */
    TRS_EFILE = -7,
    /* a file does not have the expected format: Matrix Market, saved plan, ... */
    TRS_EFORMAT = -8,
    /* no usable GPU, or CUDA reported an error */
    TRS_EDEVICE = -9,
    /* a library that trisolve-sparse calls failed */
    TRS_ELIBRARY = -10,
    /* new values do not suit the pivots of the factors: rounding errors grew too much */
    TRS_EGROWTH = -11,
    /* the caller has canceled the call (trs_set_progress) */
    TRS_ECANCELED = -12,
} trs_status;

/* ---- types of numbers and arrays ------------------------------------------------------- */

/* Types of numbers. */
typedef enum trs_dtype {
    /* double */
    TRS_F64 = 0,
    /* float */
    TRS_F32 = 1,
    /* complex: pairs of double, real and imaginary part */
    TRS_C64 = 2,
    /* complex: pairs of float, real and imaginary part */
    TRS_C32 = 3,
    /* int64_t; only trs_mm_options.integers gives it, and no function takes it */
    TRS_I64 = 4,
    /* uint64_t; the same */
    TRS_U64 = 5,
} trs_dtype;

/* Formats of matrices. */
typedef enum trs_format {
    /* compressed sparse rows */
    TRS_CSR = 0,
    /* compressed sparse columns */
    TRS_CSC = 1,
    /* a full array, column-major */
    TRS_DENSE = 2,
    /* coordinates; only trs_mm_read returns it */
    TRS_COO = 3,
    /* CSR of square blocks; not for trs_factor and Matrix Market files */
    TRS_BSR = 4,
} trs_format;

/* op(T): which form of the matrix to solve or multiply with. */
typedef enum trs_op {
    /* T */
    TRS_N = 0,
    /* the transpose of T */
    TRS_T = 1,
    /* the conjugate transpose of T */
    TRS_H = 2,
} trs_op;

/* Storage order of B and X, and of the numbers within a block of TRS_BSR. */
typedef enum trs_layout {
    /* by columns */
    TRS_COL_MAJOR = 0,
    /* by rows */
    TRS_ROW_MAJOR = 1,
} trs_layout;

/* Bits of trs_mat.kind.  Functions that take a general matrix accept 0, or TRS_SELFADJOINT with a
 * triangle. */
enum {
    /* the matrix is its lower triangle */
    TRS_LOWER = 1,
    /* the matrix is its upper triangle */
    TRS_UPPER = 2,
    /* the diagonal is 1; stored diagonal entries are ignored */
    TRS_UNIT = 4,
    /* an entry in the other triangle is an error; without this bit it is ignored.  DENSE: an entry
     * that is not zero */
    TRS_STRICT = 8,
    /* used alone: the matrix is a triangle whose rows and columns were permuted.  trs_plan_create
     * finds the permutations.  Every entry counts (DENSE: every entry that is not zero).  Not for
     * BSR */
    TRS_PERMUTED = 16,
    /* used with TRS_LOWER or TRS_UPPER, but not for plans: the matrix is the Hermitian matrix (for
     * real numbers: symmetric) with this triangle.  Entries outside the triangle and the imaginary
     * part of the diagonal are ignored */
    TRS_SELFADJOINT = 32,
};

/* Where arrays are: trs_mat.device, trs_options.device.  Any value <= 0 means host memory.
 * TRS_CUDA(k) is the memory of CUDA device k. */
#define TRS_HOST    0
#define TRS_CUDA(k) ((k) + 1)

/* ---- messages and version -------------------------------------------------------------- */

/* Returns a sentence that describes the last error, such as "row 4: diagonal is zero".
 *
 * The sentence belongs to the last call of this thread that failed.  The next call of the thread
 * that succeeds clears it.  Two kinds of calls leave it unchanged when they succeed: functions
 * that return no code, and functions that only report facts (trs_message, trs_strerror,
 * trs_version, trs_plan_info, trs_lu_get_info).
 * Returns a string that belongs to the thread and changes with its next call.  The string is ""
 * if there was no error; it is never NULL. */
TRS_API const char *trs_message(void);

/* Returns a sentence for a status code.
 *     int status ; in, any number.
 * Returns a constant string, never NULL; "unknown status" if the number is not a status code. */
TRS_API const char *trs_strerror(int status);

/* Returns the version of the library at run time, a constant string.  TRS_VERSION is the version
 * that the program was compiled with. */
TRS_API const char *trs_version(void);

/* ---- progress of long calls ------------------------------------------------------------- */

/* Where a long call is. */
typedef struct trs_phase {
    /* what it does: "reading", "ordering", "factorization", "analysis of L", "levels", ...; a
     * constant string.  Other versions may have other phases. */
    const char *name;
    /* fraction of the phase that is done, in [0, 1]; negative: not known */
    double done;
    /* as in trs_set_progress */
    void *user;
    /* reserved for new members; always zero */
    int64_t reserved[4];
} trs_phase;

/* Let the long calls of this thread report what they do, so that it can be shown, and canceled.
 *     int (*progress)(const trs_phase *phase) ; in.  A non-zero result cancels the call.  NULL:
 *         calls report nothing and cannot be canceled.
 *     void *user ; in.  Passed to progress.
 * The setting belongs to the thread, and holds until the thread changes it.  These functions call
 * progress, always from the thread that called them:
 *     - trs_mm_read, trs_rb_read, trs_unpack and trs_mm_write
 *     - trs_plan_create, trs_plan_analyse, trs_plan_tune, trs_plan_save and trs_plan_load; and
 *       trs_plan_update where it analyses again or factors a general matrix
 *     - trs_factor, trs_ilu, trs_lu_import, trs_lu_update, trs_lu_update_on and trs_lu_replace
 * Solves, refinement and estimates never do, not even when a solve lets a plan grow.
 *
 * progress is called when a phase begins.  Every few hundredths of a second it is called again
 * while a file is read or written, fill is searched for, or incomplete factors are computed on the
 * host.  No clock decides when, so two runs with one thread report the same.  UMFPACK, CHOLMOD,
 * KLU, METIS, LAPACK and CUDA cannot be interrupted.  A phase that is theirs ends before the call
 * is canceled, which may take minutes.
 *
 * A canceled call returns TRS_ECANCELED.  Like after every error, what the call has made is freed,
 * and plans and factors are as the function says.  A call that is nearly complete may succeed
 * instead.  progress must not call functions of this library, and must return: no longjmp, no
 * exception of C++. */
TRS_API void trs_set_progress(int (*progress)(const trs_phase *phase), void *user);

/* ---- matrices -------------------------------------------------------------------------- */

/* A square matrix in arrays that the caller owns.
 *
 * The library reads the arrays only during trs_plan_create, trs_plan_update and trs_factor.  The
 * caller may free or change them after each of these calls.  Arrays on a device must be complete
 * before trs_plan_create is called.
 *
 * Every stored number is an entry, even if it is zero: all of CSR and CSC, all numbers of a block
 * of BSR, all of a DENSE triangle.  Because 0 * NaN is NaN, stored zeros can show in x
 * (trs_solve).
 *
 * A CSR, CSC or BSR matrix on a device is imported there, for all ops.  It is also analysed
 * there, as far as the chosen solver supports this.  The import is fastest if the matrix is
 * canonical and no transpose is requested.  Canonical means that the indices of each row (CSC:
 * column) ascend, that the diagonal is stored, and that the other triangle has no entries.
 *
 * Some matrices are copied to the host first: DENSE, TRS_PERMUTED, and any matrix with
 * TRS_PIVOT_SKIP, TRS_ORDER_LEVEL, trs_options.measure or trs_options.memory_limit. */
typedef struct trs_mat {
    /* number of rows and columns, 0 <= n <= 2^31 - 2; BSR: a multiple of block */
    int64_t n;
    /* number of stored entries; BSR: of stored blocks; DENSE: ignored */
    int64_t nnz;
    /* CSR, CSC [n+1]: start of each row or column; BSR [n/block+1]: start of each row of blocks;
     * DENSE: NULL */
    const void *ptr;
    /* CSR [nnz]: column of each entry; CSC [nnz]: row of each entry; BSR [nnz]: column of each
     * block; in any order, without duplicates; DENSE: NULL */
    const void *idx;
    /* CSR, CSC [nnz]; BSR [nnz*block*block]; DENSE [ld*n], column-major */
    const void *val;
    /* DENSE: distance between columns in numbers, >= n; else ignored */
    int64_t ld;
    /* bits of an element of ptr: 32 or 64; 0: 64 */
    int ptr_bits;
    /* bits of an element of idx: 32 or 64; 0: 32 */
    int idx_bits;
    /* number of the first row and column: 0 or 1; BSR: also of the first block */
    int base;
    /* type of val */
    trs_dtype dtype;
    /* TRS_CSR, TRS_CSC, TRS_DENSE or TRS_BSR */
    trs_format format;
    /* TRS_LOWER or TRS_UPPER, optionally with TRS_UNIT and TRS_STRICT; or TRS_PERMUTED; or, for
     * general matrices, 0 or TRS_SELFADJOINT with a triangle */
    unsigned kind;
    /* where ptr, idx and val are: TRS_HOST or TRS_CUDA(k) */
    int device;
    /* BSR: number of rows of a block, >= 1; else ignored.  All numbers of a stored block are
     * entries, even zeros.  Only the triangle of a diagonal block counts.  TRS_STRICT checks whole
     * blocks. */
    int block;
    /* BSR: order of the numbers within a block, by columns or by rows, as in cuSPARSE */
    trs_layout block_layout;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_mat;

/* ---- solvers ---------------------------------------------------------------------------- */

/* The bound that a solver guarantees for the error of x. */
typedef enum trs_accuracy {
    /* omega <= 4 (longest row + 1) eps, where omega = max_i |b - T x|_i / (|T| |x| + |b|)_i */
    TRS_SUBSTITUTION = 0,
    /* |b - T x| <= c n eps growth |T| |x| in the norm: solvers with inverted diagonal blocks,
     * rewritten levels, or dense BLAS */
    TRS_INVERTING = 1,
} trs_accuracy;

/* Bits of trs_solver_info.caps. */
enum {
    /* the same input gives the same bits in every run */
    TRS_CAP_BITWISE = 1,
    /* several right-hand sides may be stored by rows */
    TRS_CAP_ROW_MAJOR = 2,
    /* a solve only enqueues work, so that it can be captured in a CUDA graph */
    TRS_CAP_CAPTURE = 8,
    /* exchanges rows, so that zero pivots of a general matrix do no harm */
    TRS_CAP_PIVOTS = 16,
};

typedef struct trs_solver_info {
    /* the value for trs_options.solver, such as "cpu-serial" */
    const char *name;
    /* one line of description */
    const char *about;
    /* "cpu", or "cuda" if only a library built with CUDA has this solver */
    const char *needs;
    /* bits TRS_CAP_... */
    unsigned caps;
    /* error bound */
    trs_accuracy accuracy;
    /* 1: can run here; 0: cannot, see why */
    int available;
    /* the reason, such as "no CUDA driver"; "" if available */
    char why[200];
    /* 1: solves general dense matrices; 0: solves triangles */
    int general;
    /* 1: stores the matrix in full, including zeros */
    int full;
    /* reserved for new members; always zero */
    int64_t reserved[4];
} trs_solver_info;

/* Describe solver number k of this build.  To test whether the solver can run here, the function
 * opens the libraries that the solver calls.
 *     int k ; in, 0, 1, ...
 *     trs_solver_info *info ; out.  Its strings are constants, except why.
 * Returns TRS_OK, or TRS_EARG (k is negative or past the last solver, or info is NULL). */
TRS_API int trs_solver_get(int k, trs_solver_info *info);

/* ---- plans ------------------------------------------------------------------------------ */

/* A triangle and its analysis.  Solves do not change it, so that threads can share it. */
typedef struct trs_plan trs_plan;

/* The data that a solve changes.  A work space serves one solve at a time. */
typedef struct trs_work trs_work;

/* The same for a solve with the factors of a matrix. */
typedef struct trs_lu_work trs_lu_work;

/* How a plan orders its rows. */
typedef enum trs_order {
    /* the order that the solver prefers */
    TRS_ORDER_AUTO = 0,
    /* the caller's order (upper triangles: reversed) */
    TRS_ORDER_NATURAL = 1,
    /* level by level; each solve makes two more passes over x */
    TRS_ORDER_LEVEL = 2,
} trs_order;

/* What to do about a pivot that is zero, missing or not finite. */
typedef enum trs_pivot {
    /* analyse and update return TRS_EPIVOT, solve returns TRS_ESTATE */
    TRS_PIVOT_FAIL = 0,
    /* leave out the row and column: x(row) = 0 for every b(row), and the other rows solve the
     * triangle without them.  A NaN or Inf that is stored in that row or column, or in an x that
     * the row would depend on, has no effect */
    TRS_PIVOT_SKIP = 1,
    /* use trs_options.pivot_value instead of the pivot */
    TRS_PIVOT_REPLACE = 2,
} trs_pivot;

/* The allocator of the plan's host memory.  All NULL: malloc and free. */
typedef struct trs_memory {
    /* returns memory, or NULL if there is none */
    void *(*alloc)(void *user, size_t bytes);
    /* frees p, which may be NULL */
    void (*free)(void *user, void *p);
    /* passed to both functions */
    void *user;
} trs_memory;

/* The allocator of the plan's memory on a device.  All NULL: cudaMalloc and cudaFree.  It does not
 * provide buffers that vendor libraries allocate themselves, nor the textures of gauss-texture. */
typedef struct trs_device_memory {
    /* returns memory of device = TRS_CUDA(k), aligned to 256 bytes, or NULL if there is none */
    void *(*alloc)(void *user, int device, size_t bytes);
    /* frees p */
    void (*free)(void *user, int device, void *p);
    /* passed to both functions */
    void *user;
} trs_device_memory;

typedef struct trs_options {
    /* name of a solver; NULL: chosen by wisdom, else by the cost model.  The string need not
     * outlive the call. */
    const char *solver;
    /* where B and X will be: TRS_HOST or TRS_CUDA(k) */
    int device;
    /* ops to solve with, bits 1 << TRS_N | ...; 0: only TRS_N.  The groups {N} and {T, H} each
     * need their own storage and analysis. */
    unsigned ops;
    /* number of right-hand sides usually solved at once, >= 0; 0: 1.  A solve accepts any
     * number. */
    int nrhs;
    /* storage order of B and X, as in trs_exec.layout later */
    trs_layout layout;
    /* threads of CPU solvers, at most 1024; 0: the default of OpenMP.  In the child of a process
     * that had several threads before the fork there is one, whatever is asked for */
    int threads;
    /* bytes that the plan may occupy on the host, or on the device; the analysis temporarily
     * needs about as much again.  0: 8 GiB for solvers that store the triangle as a full matrix,
     * no limit for others */
    int64_t memory_limit;
    /* order of the stored rows */
    trs_order order;
    /* allocator of host memory */
    trs_memory memory;
    /* 1: only solvers with TRS_CAP_BITWISE, whether chosen or named */
    int bitwise;
    /* what to do about bad pivots of triangles; general matrices: only TRS_PIVOT_FAIL */
    trs_pivot pivot;
    /* allocator of device memory */
    trs_device_memory device_memory;
    /* TRS_PIVOT_REPLACE: finite and not zero, also in single precision; else ignored */
    double pivot_value;
    /* 1, if no solver is named: analyse solves with the few solvers that are predicted to be
     * fastest, and selects the fastest one.  This takes several times as long, and temporarily the
     * memory of a second plan.  The bits of x are those of the selected solver.  The result is
     * recorded as wisdom; if there is wisdom already, nothing is measured.  No effect on general
     * matrices. */
    int measure;
    /* number of solves between two updates of the values, >= 0.  The library chooses the solver
     * with the smallest predicted time of a solve and its share of an update.  0: updates do not
     * count, except in plans of factors on a device.  There 0 means 1 for trs_factor and 50, as is
     * typical of a preconditioner, for trs_ilu.  Triangles only. */
    int solves_per_update;
    /* number of solves that the plan is made for, >= 0.
     * 0, unknown: analyse prepares only what the first solve needs.  When solves have taken about
     *    as long as a better solver takes to build, the plan grows: the solve builds it.
     * k: analyse chooses for a total of k solves, and the plan does not grow.  1 selects what is
     *    prepared fastest, TRS_SOLVES_MANY what solves fastest.  For trs_factor see trs_lu_solve.
     * Plans of general matrices, and plans with solver, measure, bitwise, TRS_PIVOT_SKIP or
     * TRS_ORDER_LEVEL do not grow.  Unless solves says otherwise, they are made for many solves. */
    int64_t solves;
    /* 0: solves are exact but for rounding.  k > 0: they approximate x by k Jacobi sweeps,
     *    x = D^-1 b;   k times:  x = D^-1 (b - (T - D) x),   D = diag (T),
     * in place of a solver.  A sweep is a product with the triangle, whose rows do not wait for one
     * another: this may pay for incomplete factors that have many levels, in an iteration that
     * corrects x.  It is for triangles and incomplete factors, with neither solver nor measure, and
     * without TRS_PIVOT_SKIP and TRS_ORDER_LEVEL.  x is exact if k is at least the number of
     * levels - 1; trs_info.sweep_error bounds its error before.  Each op of a triangle has the same
     * polynomial, so that L L^H remains Hermitian.  Such plans cannot be saved.
     * Source: Anzt, Chow and Dongarra 2015 (Iterative sparse triangular solves for
     * preconditioning). */
    int64_t sweeps;
    /* devices of this host that may share the solves, [device_count] TRS_CUDA(k), ascending; NULL:
     * one device, as device says.  The array need not outlive the call.
     * There are two ways to cut the triangle into as many parts, one for each device of the list:
     * - "cuda-subtrees": each has whole subtrees of the elimination tree of a complete factor, and
     *   the first one what is above them, too;
     * - "cuda-peers": each has consecutive rows, with about as many entries each; rows have at most
     *   33 entries.  For an upper triangle, and for TRS_T and TRS_H of a lower one, part 0 has the
     *   last rows.  The devices need peer access to one another.
     * If the first device is predicted to be as fast alone, and has the memory, the plan stays
     * there; trs_info.reason tells.  With solver = one of these names it is cut in any case, or
     * analyse returns TRS_ESUPPORT.
     * device is TRS_HOST or the first of the list.  B and X are where the first device can access
     * them.  If a range of addresses is split over devices, and all of them can access it,
     * cuda-peers uses the rows that each device has in place.  A device that is named twice has two
     * parts.  Sweeps, measure, device_memory, general matrices, B and X by rows, TRS_PIVOT_SKIP and
     * TRS_ORDER_LEVEL are refused, and factors take no list.  Such a plan does not grow, and if it
     * is cut, it cannot be saved. */
    const int *devices;
    /* number of these, at most 16; 0: none */
    int64_t device_count;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_options;

/* trs_options.solves: so many that only the time of a solve counts */
#define TRS_SOLVES_MANY INT64_MAX

typedef struct trs_exec {
    /* the cudaStream_t to solve or update on; NULL: the default stream */
    void *stream;
    /* work space; NULL: the plan's own, and then threads must not share the plan: a solve that
     * begins during another with the same work space returns TRS_ESTATE */
    trs_work *work;
    /* threads of CPU solvers, at most 1024; 0: those of the plan; of trs_multiply_on: the default
     * of OpenMP */
    int threads;
    /* storage order of B and X */
    trs_layout layout;
    /* work space of trs_lu_solve and trs_lu_refine only; NULL: that of the factors, and then
     * threads must not share the factors, as above */
    trs_lu_work *lu_work;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_exec;

typedef struct trs_info {
    /* rows of the triangle.  TRS_PIVOT_SKIP: n, nnz, levels, widest and longest describe the
     * triangle that is solved, where a row that is left out has only its diagonal */
    int64_t n;
    /* entries of the triangle, including the diagonal, also a unit diagonal */
    int64_t nnz;
    /* number of rows on the longest dependent path; 0 if n = 0, or while a plan on a device has not
     * found its levels (trs_plan_analyse); trs_plan_levels finds them at once */
    int64_t levels;
    /* number of rows of the largest level; 0 also while a plan on a device knows only how many
     * levels there are, which is all that its first solvers need */
    int64_t widest;
    /* number of entries of the longest row, including the diagonal; known when levels is */
    int64_t longest;
    /* the chosen or named solver, of TRS_N if it is announced; NULL before analyse.  The string
     * lives as long as the plan. */
    const char *solver;
    /* one line: the shape, then which solvers were known, predicted or measured, and their times;
     * "" before analyse.  The string lives as long as the plan. */
    const char *reason;
    /* time of a solve in seconds as predicted by the cost model, including the share of an update
     * that trs_options.solves_per_update implies; 0: a plan that may grow predicts nothing yet */
    double predicted;
    /* source of the numbers of the cost model: a file name, or a text that begins with "built in".
     * If the file in the user's cache was ignored, "; ignored" and the reason follow.  "" as long
     * as nothing was predicted.  The string lives as long as the plan. */
    const char *costs;
    /* bytes of the plan's host storage.  Before analyse: the upper bound if the solver was named,
     * otherwise without the storage of the solver */
    int64_t bytes_host;
    /* the same on the device.  After analyse: what is there of cuda-dataflow and cuda-merged, about
     * the upper bound of other solvers */
    int64_t bytes_device;
    /* additional bytes of each work space for trs_options.nrhs right-hand sides, where the solver
     * runs.  This does not count buffers of vendor libraries, the buffers where dense-blocked and
     * cuda-supernodal publish X, and the work space of cuda-segments and its two solvers */
    int64_t bytes_work;
    /* wall clock time of checking and converting */
    double seconds_create;
    /* time of the level analysis alone */
    double seconds_levels;
    /* how the levels were found, a constant string; the levels do not depend on it:
     * - "topological sort by in-degree (CSC)" if cuda-naive, cuda-single-block, cuda-multiblock or
     *   cpu-level was named
     * - "one sweep over the rows" or "rows on the device" otherwise, even if one of these four
     *   solvers was chosen afterwards
     * - "from a saved plan"
     * - "" before they are known, and for general matrices */
    const char *analysis;
    /* time of a vendor library's own analysis; 0: none */
    double seconds_vendor;
    /* time of the whole trs_plan_analyse, including levels and vendor library */
    double seconds_analyse;
    /* 1: the solver runs on a GPU */
    int on_gpu;
    /* general matrices: time that the last update took to compute L and U from values that were
     * already in place; 0: the solver stores no factors */
    double seconds_factor;
    /* general matrices: max |u(i, j)| / max |a(i, j)|; cuda-merged and cuda-segments: how much
     * larger errors may become because levels are rewritten; else 0 */
    double growth;
    /* 1 after analyse or load, plus one for each update after which TRS_PIVOT_SKIP leaves out
     * other rows; 0 before */
    int64_t analyses;
    /* number of solves of trs_options.nrhs right-hand sides with the plan's own work space, with
     * the op that has had most, as long as the plan may grow */
    int64_t solves;
    /* the number of such solves at which the plan grows for an op; 0: it does not, or no more */
    int64_t grows_at;
    /* with trs_options.sweeps = k, a bound of the error that they leave, apart from rounding:
     * max |x - T^-1 b| <= sweep_error max |T^-1 b| for every b.  It is the largest number of
     * |N|^(k+1) 1 with N = D^-1 (T - D), for both groups of ops, and of the last values that did
     * not come in the order of a stream.  An iteration may converge though it is above 1.  Else
     * 0 */
    double sweep_error;
    /* reserved for new members; always zero */
    int64_t reserved[1];
} trs_info;

/* Check a triangle and copy it.
 *     trs_plan **plan ; out.  NULL after an error.
 *     const trs_mat *mat ; in.  kind must have exactly one of TRS_LOWER, TRS_UPPER and
 *         TRS_PERMUTED.  A DENSE matrix may have none of them: it is general, and solved by LU or
 *         Gaussian elimination.
 *     const trs_options *opt ; in.  NULL: all defaults.
 * Row and column numbers in messages count from mat->base.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, or:
 *     TRS_EMATRIX ; the matrix is not well formed, or a TRS_PERMUTED matrix is not a triangle
 *         after any permutation.  Then the message names a row on a cycle, or rows and columns
 *         that make the matrix singular.
 *     TRS_ESUPPORT ; no solver has this name, the solver is not in this build, or it does not
 *         support the options.
 *     TRS_EDEVICE ; opt->device or mat->device is not a usable GPU.  The message has the driver's
 *         reason. */
TRS_API int trs_plan_create(trs_plan **plan, const trs_mat *mat, const trs_options *opt);

/* Choose a solver, build its storage, and load the first values.  Find the levels, if the solver or
 * the choice needs them.  Called once for a plan.
 *     trs_plan *plan ; in, out.
 * If the options name no solver, the first of these sources decides.  trs_info.reason and
 * trs_info.costs report which one it was.
 *     1. wisdom about this pattern (trs_wisdom_import)
 *     2. predictions with the costs of the file that TRISOLVE_MACHINE names
 *     3. predictions with the costs that `trisolve-bench --calibrate --save` has saved
 *        in the user's cache for this GPU
 *     4. predictions with the costs of this CPU that a program measured in its first
 *        run on it and saved there
 *     5. predictions with the built-in costs
 * If the environment variable TRISOLVE_MACHINE is set to an empty value, sources 3 and 4 are
 * skipped.
 *
 * A plan that grows (trs_options.solves) begins with cpu-serial where B and X are on the host.
 * Where they are on a device, it begins with cuda-rows if X has at most 50,000 numbers, and with
 * cuda-dataflow otherwise.  cpu-serial and cuda-rows take no levels: the plan finds these later,
 * on a device in its second solve.  It makes the choice above when it grows.
 *
 * On a CPU, the choice then tries up to three solvers that are predicted to be fastest, unless
 * the triangle is tiny.  They and cpu-serial solve with zeros, with trs_options.nrhs right-hand
 * sides.  Each solves at least three times, until its times do not decrease any more, and for a
 * few milliseconds at most if a solve takes less.  The fastest one is selected.  Only solvers
 * whose bits equal those of cpu-serial are tried, so that times never affect bits.  A named
 * solver saves the time for the trials.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_ESUPPORT, TRS_EDEVICE, TRS_ELIBRARY, or:
 *     TRS_EFILE, TRS_EFORMAT ; a file that an environment variable names cannot be read, or has
 *         the wrong format.  The message names file and line.
 *     TRS_EPIVOT ; a pivot is zero, missing or not finite; trs_plan_pivots reports its row.
 *         Everything else is ready: trs_plan_update with good values makes the plan usable. */
TRS_API int trs_plan_analyse(trs_plan *plan);

/* Let a plan grow now: choose among all solvers as if TRS_SOLVES_MANY had been set, and build the
 * best one.
 *     trs_plan *plan ; in, out.  Must be analysed.  No solve with this plan may be running.
 * Work spaces that exist, and CUDA graphs that were captured before, stay valid and right: they
 * solve with the solver that they were made with.  Work spaces that are created later, or that
 * trs_work_fit has to fit again for more right-hand sides, solve with the new one, and so does
 * the plan's own.  A plan that does not grow stays as it is.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE.  If no better solver can be built, for lack of memory
 * for example, the plan solves as before, and trs_info.reason gives the reason. */
TRS_API int trs_plan_tune(trs_plan *plan);

/* Save the analysis to a file: levels, permutation, and choice of the solver, but no values.
 *     trs_plan *plan ; in, out.  Must be analysed, and not of a general matrix.  A plan that may
 *         still grow does so first (trs_plan_tune).
 *     const char *file ; in.  The file appears complete or not at all.  "-": standard output.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EFILE, or TRS_ESUPPORT (the matrix is
 * general, or the library was built without xxhash). */
TRS_API int trs_plan_save(trs_plan *plan, const char *file);

/* Load the analysis from a file, instead of calling trs_plan_analyse.  The values are those of
 * the matrix that the plan was created with.  That matrix must have the same pattern as the saved
 * one (the same arrays of indices, format and triangle), the same dtype and the same ops.
 *     trs_plan *plan ; in, out.  Must come directly from trs_plan_create.
 *     const char *file ; in.  Must be a regular file.
 * A row that TRS_PIVOT_SKIP leaves out changes the pattern.
 * Returns what trs_plan_analyse returns, or:
 *     TRS_EFILE ; the file cannot be opened or read.
 *     TRS_EFORMAT ; the file is not a saved plan, is truncated, or is damaged (checksums detect
 *         it).
 *     TRS_EMATRIX ; the file has another pattern or dtype.
 *     TRS_EARG ; the file has other ops, order or solver than the options of the plan.
 *     TRS_ESUPPORT ; the file has another version or byte order, or a solver that this build
 *         lacks or the options exclude; or the library was built without xxhash.
 * After one of these five codes, or TRS_ESTATE, the plan is unchanged and can still be analysed. */
TRS_API int trs_plan_load(trs_plan *plan, const char *file);

/* Replace the values of the same pattern, in O(nnz), without an analysis.
 *     trs_plan *plan ; in, out.  No solve with this plan may be running.
 *     const trs_mat *mat ; in.  n, nnz, dtype, format, block, ptr and idx must be the same as in
 *         trs_plan_create.  Only val is read, so ptr and idx may be NULL.
 *     const trs_exec *exec ; in.  NULL: all defaults.
 * The function returns when the values are in place.  If val is on the plan's device, CUDA
 * solvers read it there, on exec->stream; with TRS_PIVOT_SKIP the values are copied through the
 * host.  On a device the function waits up to three times: for the number of bad pivots, for the
 * growth if levels are rewritten (cuda-merged, alone or in cuda-segments), and for the end.
 *
 * With TRS_PIVOT_SKIP, bad pivots in other rows than before require a new analysis.  It has these
 * consequences:
 *     - the solver stays the same, and trs_info.analyses increases
 *     - all work spaces but the plan's own must be fitted again (trs_work_fit)
 *     - CUDA graphs captured before must not be replayed
 *     - the arrays of trs_plan_levels are no longer valid
 * After an error trs_solve returns TRS_ESTATE until an update succeeds, so that a solve never
 * uses stale values.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EPIVOT, TRS_EMEM, TRS_EDEVICE, after an analysis what
 * trs_plan_analyse returns, or:
 *     TRS_EMATRIX ; TRS_PERMUTED and DENSE: a number that was zero in trs_plan_create is not
 *         zero. */
TRS_API int trs_plan_update(trs_plan *plan, const trs_mat *mat, const trs_exec *exec);

/* Count the pivots that the last analyse or update found to be zero, missing or not finite.  The
 * count does not depend on trs_options.pivot.
 *     const trs_plan *plan ; in.
 *     int64_t *count ; out.  NULL: not wanted.
 *     int64_t *first ; out.  The first such row, counted from mat->base; -1 if count = 0.  NULL:
 *         not wanted.
 * Returns TRS_OK, TRS_EARG, or TRS_ESTATE (before analyse). */
TRS_API int trs_plan_pivots(const trs_plan *plan, int64_t *count, int64_t *first);

/* A determinant, det = (re + i im) mantissa 2^exponent.  This form does not overflow or underflow.
 * If det = 0, all four members are 0.  If n = 0, det = 1. */
typedef struct trs_det {
    /* sign or phase, det / |det|: of modulus 1 */
    double re;
    /* 0 if the matrix is real */
    double im;
    /* 1 <= mantissa < 2 */
    double mantissa;
    /* exponent of 2 */
    int64_t exponent;
} trs_det;

/* Compute the determinant of the matrix that the plan solves with, in O(n).  For a triangle it is
 * the product of the diagonal, with the signs of P and Q if the triangle was permuted.  For a
 * general matrix it is the product of the pivots of its LU, with the sign of the row exchanges.
 *     const trs_plan *plan ; in.  analyse or update must have returned TRS_OK or TRS_EPIVOT: a
 *         singular matrix has the determinant 0.  Rows that TRS_PIVOT_SKIP leaves out are left
 *         out here too.  Pivots that TRS_PIVOT_REPLACE replaces count as replaced.
 *     trs_det *det ; out.  0 after an error.
 * The relative error is that of the factors plus n eps.  The determinant does not measure how
 * near A is to a singular matrix; trs_condest does.  The function allocates n numbers.  If the
 * values are on a device, it copies the numbers from there and waits.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EDEVICE, or:
 *     TRS_ESTATE ; the plan has no values.
 *     TRS_EPIVOT ; a pivot is not finite, or LU broke down because it needed a row exchange.
 *     TRS_ESUPPORT ; gauss-vec4 does not record its row exchanges.
 * Source: LINPACK Users' Guide, 1979 (xGEDI); Higham, Accuracy and Stability, section 14.6. */
TRS_API int trs_plan_determinant(const trs_plan *plan, trs_det *det);

/* Report facts about a plan, in any state.  Counts that are not known yet are 0.
 *     const trs_plan *plan ; in.
 *     trs_info *info ; out.  Its strings belong to the plan.
 * Returns TRS_OK or TRS_EARG. */
TRS_API int trs_plan_info(const trs_plan *plan, trs_info *info);

/* Return the level sets of op = TRS_N, after analyse.  trs_options.ops must include TRS_N.  Rows
 * are numbered from 0 to n-1, in the caller's order.  The levels are those of the triangle that
 * is solved, where a row that TRS_PIVOT_SKIP leaves out depends on no other row.
 *     const trs_plan *plan ; in.
 *     const int32_t **topo ; out [n].  The rows, level by level, ascending within a level.
 *     const int32_t **lv_ptr ; out [levels+1].  The start of each level in topo.
 * Both arrays belong to the plan.  An update after which TRS_PIVOT_SKIP leaves out other rows
 * replaces them.  If the levels are not known yet, or the matrix stayed on the device, the first
 * call finds them or copies topo to the host, and waits; it must not run while a stream is
 * captured.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EDEVICE, or TRS_ESTATE (the plan is not analysed, ops
 * lack TRS_N, or the matrix is general). */
TRS_API int trs_plan_levels(const trs_plan *plan, const int32_t **topo, const int32_t **lv_ptr);

/* Return the permutations of a plan for a TRS_PERMUTED matrix, after create:
 *     T(k, m) = A(P(k), Q(m)) is a lower triangle
 * The pivots are A(P(k), Q(k)), in the order of the substitution.
 *     const trs_plan *plan ; in.
 *     const int32_t **P ; out [n].  Rows, from 0.
 *     const int32_t **Q ; out [n].  Columns, from 0.
 * Both arrays belong to the plan.  They are NULL if the matrix is not TRS_PERMUTED.
 *
 * A x = b is T y = b(P), x(Q) = y.  A' x = b is T' y = b(Q), x(P) = y.  trs_info describes T.
 * trs_plan_pivots and trs_plan_levels count rows of A.  TRS_PIVOT_SKIP leaves out row P(k) and
 * column Q(k).  The search for the permutations takes O(n + nnz).
 * Returns TRS_OK, TRS_EARG or TRS_ESTATE.
 * Source: Gilbert, Moler, Schreiber, SIAM J. Matrix Anal. Appl. 13 (1992): MATLAB's backslash. */
TRS_API int trs_plan_permutation(const trs_plan *plan, const int32_t **P, const int32_t **Q);

/* Free a plan.  Its work spaces must be destroyed before, and no solve may be running.
 *     trs_plan *plan ; in.  NULL: does nothing. */
TRS_API void trs_plan_destroy(trs_plan *plan);

/* ---- wisdom ------------------------------------------------------------------------------ */

/* Wisdom is the result of plans with trs_options.measure: for the pattern of a triangle, which
 * solver was fastest, and its time.  With these functions a user measures only once on each
 * machine.
 *
 * Wisdom belongs to the process.  All plans without trs_options.solver use it, if everything that
 * affects the time is the same: number type, ops, number of right-hand sides, layout, place of B
 * and X, order, bitwise, memory limit, solves_per_update, threads, GPU, processors, and version
 * of the library.  Values of the matrix do not matter.  An entry is ignored if its solver cannot
 * be chosen or is not in this build.
 *
 * Several threads may call these functions at the same time, also while plans are created.
 * Source: FFTW; Frigo, Johnson, Proceedings of the IEEE 93 (2005). */

/* Add the wisdom of a file.  If file and process have the same triangle, the entry of the file
 * replaces the other one.  The first trs_plan_analyse imports the file that the environment
 * variable TRISOLVE_WISDOM names.
 *     const char *file ; in.  Written by trs_wisdom_export.
 * After an error the wisdom is unchanged, and trs_message names the file, the line and the
 * mistake.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EFILE (the file cannot be opened or read), or
 * TRS_EFORMAT (the file has no wisdom, or a line is wrong). */
TRS_API int trs_wisdom_import(const char *file);

/* Write all wisdom of the process, as a line of text for each entry.  Entries that the file has
 * already and the process has not are kept; several processes may export to one file at once.
 *     const char *file ; in.  The data goes to a temporary file in the same folder, which replaces
 *         the old file once all data is on the disk.  "-": standard output.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EFILE, or TRS_EFORMAT (the file exists and has no wisdom:
 * it is left as it is). */
TRS_API int trs_wisdom_export(const char *file);

/* Discard the wisdom of the process.  Files are unchanged.  The file of TRISOLVE_WISDOM is not
 * imported again. */
TRS_API void trs_wisdom_forget(void);

/* ---- work spaces and solves ------------------------------------------------------------ */

/* Create a work space for solves with up to max_nrhs right-hand sides at a time.  Larger solves
 * are done in batches of max_nrhs.
 *     trs_work **work ; out.  NULL after an error.
 *     const trs_plan *plan ; in.  Must outlive the work space.
 *     int max_nrhs ; in, >= 1.
 * The work space belongs to the caller and serves one solve at a time.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (before analyse), TRS_EMEM, TRS_EDEVICE or TRS_ELIBRARY. */
TRS_API int trs_work_create(trs_work **work, const trs_plan *plan, int max_nrhs);

/* Make a work space also fit another plan, a plan that an update analysed again, or more
 * right-hand sides.  Plans that never solve at the same time, such as those of L and U, can share
 * a work space.  It grows to the needs of the largest plan.
 *     trs_work *work ; in, out.  Must not be in use.  CUDA graphs captured with it become
 *         invalid.
 *     const trs_plan *plan ; in.  Must outlive the work space, and run where the first plan runs:
 *         on the same device, or on the CPU.
 *     int max_nrhs ; in, >= 1.
 * After an error the work space serves what it served before.
 * Returns what trs_work_create returns, or TRS_EARG (the plan runs elsewhere). */
TRS_API int trs_work_fit(trs_work *work, const trs_plan *plan, int max_nrhs);

/* Free a work space.  No solve with it may be running.
 *     trs_work *work ; in.  NULL: does nothing. */
TRS_API void trs_work_destroy(trs_work *work);

/* Solve X = op(T)^-1 B.
 *     const trs_plan *plan ; in.
 *     trs_op op ; in.  Must be one of trs_options.ops.
 *     int nrhs ; in, >= 0.  Number of columns of B and X.
 *     const void *B ; in.  Of the plan's dtype, where trs_options.device says.  Column-major:
 *         [ldb*(nrhs-1)+n].  Row-major: [ldb*(n-1)+nrhs].
 *     int64_t ldb ; in.  Distance between columns, >= n, or between rows, >= nrhs, in numbers.
 *     void *X ; out.  As B, with ldx.  X may be B if ldx = ldb; otherwise they must not overlap.
 *     int64_t ldx ; in.
 *     const trs_exec *exec ; in.  NULL: all defaults.
 * The function allocates nothing, with one exception.  If B and X are on the device, it only
 * enqueues work on exec->stream.  If B and X are on the host, a CUDA solver copies them and waits.
 *
 * The exception is a plan that grows (trs_options.solves).  The solve with number
 * trs_info.grows_at builds a better solver, or on a device finds the levels first, which allocates
 * and waits; it is a solve with the plan's own work space.  Solves with a work space of the caller,
 * and solves that are captured, never do: they neither count nor grow.  Counts and predictions
 * decide when a plan grows, never a clock, so that every run of a program does the same.  The bits
 * of x may change when a plan grows, though not those of a plan with trs_options.bitwise.
 *
 * Two kinds of solves cannot be captured in a CUDA graph: with a solver that lacks
 * TRS_CAP_CAPTURE, and with B and X on the host.  They are refused with TRS_ESUPPORT.  B and X by
 * rows are refused with the same code if the solver lacks TRS_CAP_ROW_MAJOR.
 *
 * A captured solve follows updates: a replay solves with the latest values.  One exception exists
 * for cuda-merged and cuda-segments.  If the values grow too much to rewrite levels,
 * trs_info.growth becomes 1.  Then the solve must be captured again, and X is NaN until then.
 *
 * A NaN or Inf in B reaches every x(i) that depends on it through stored entries, including
 * stored zeros (trs_mat), and no other x.  TRS_INVERTING solvers are an exception.  They multiply
 * whole blocks, or a matrix stored in full, and so also multiply zeros that the caller did not
 * store.
 * Returns TRS_OK, TRS_EARG, TRS_ESUPPORT, TRS_EDEVICE, TRS_ELIBRARY, or:
 *     TRS_ESTATE ; the plan has no values, exec->work was fitted before the last analysis, or
 *         another thread is in a solve with the same work space: the plan's own, or exec->work.
 * That is noticed while the other call has not returned.  Work that it only enqueued on a stream
 * is not noticed: solves on several streams at a time need a work space each. */
TRS_API int trs_solve(const trs_plan *plan, trs_op op, int nrhs, const void *B, int64_t ldb,
                      void *X, int64_t ldx, const trs_exec *exec);

/* Solve X = op(A)^-1 B by substitution with the arrays of A as they are, without a plan.  This is
 * for a triangle that is solved with once: it needs no analysis and no memory, and one thread.
 *     const trs_mat *A ; in.  CSR or CSC on the host, kind as for a plan without TRS_PERMUTED.  The
 *         entries of a row or column may have any order.  An entry off the diagonal that is stored
 *         twice counts twice.
 *     trs_op op ; in.
 *     int nrhs ; in, >= 0.  Columns are solved one by one.
 *     const void *B ; in.  On the host, with ldb, as in trs_solve.
 *     void *X ; out.  As B, with ldx.  X may be B if ldx = ldb; otherwise they must not overlap.
 *         Undefined after an error.
 *     trs_layout layout ; in.  Storage order of B and X.
 * The same input gives the same bits, which may differ from those of a plan.
 * Returns TRS_OK, TRS_EARG, or:
 *     TRS_EMATRIX ; A is not well formed, or an entry of the diagonal is stored twice, or
 *         TRS_STRICT is set and an entry is in the other triangle.
 *     TRS_EPIVOT ; an entry of the diagonal is missing, zero or not finite.
 *     TRS_ESUPPORT ; A has another format, or is on a device. */
TRS_API int trs_solve_once(const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                           void *X, int64_t ldx, trs_layout layout);

/* ---- a batch of systems ------------------------------------------------------------------ */

/* Many triangles with the same pattern.  Each has its own values and right-hand sides. */
typedef struct trs_batch {
    /* number of systems, >= 0 */
    int64_t count;
    /* values of the first system, as val of the trs_mat that the plan was created with */
    const void *val;
    /* distance between the values of two systems, in numbers; 0: all systems share the values */
    int64_t val_stride;
    /* the same for B; 0: all systems share B */
    int64_t b_stride;
    /* the same for X */
    int64_t x_stride;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_batch;

/* Solve X_k = op(T_k)^-1 B_k for all systems k, with the analysis of one plan.  Every system is
 * solved by substitution, regardless of the solver of the plan.
 *     const trs_plan *plan ; in.  Of a triangle with this pattern, analysed.  Its values do not
 *         matter.  Not TRS_PERMUTED, and not with TRS_PIVOT_SKIP or TRS_PIVOT_REPLACE.
 *     trs_op op ; in.  Must be one of trs_options.ops.
 *     const trs_batch *batch ; in.  val is where B and X are, as trs_options.device says.
 *     int nrhs ; in, >= 0.  Number of right-hand sides of each system.
 *     const void *B ; in.  Of the first system, with ldb, as in trs_solve.
 *     void *X ; out.  Of the first system, with ldx, as in trs_solve.  X may be B with the same
 *         strides.  Otherwise B and X, and the X of two systems, must not overlap.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses threads, layout and stream.  The
 *         threads share the systems of a batch on the host.
 *     int64_t bad [2] ; out.  The first system with a pivot that is missing, zero or not finite,
 *         and its first such row, both from 0; -1, -1: none.  NULL: not wanted.  X of such a
 *         system is meaningless; all other systems are solved.
 * The first call for an op creates its rows, 12 bytes for each entry, and waits.  Later calls
 * allocate nothing.  On a device with bad = NULL, they only enqueue work on exec->stream and can
 * be captured in a CUDA graph; with bad they wait.  Several threads may share the plan.  The same
 * input gives the same bits.  On a device one launch serves all systems.  A system needs no
 * analysis and no memory of its own.
 * Returns TRS_OK, TRS_EARG, TRS_ESUPPORT (also of a plan with sweeps), TRS_EMEM, TRS_EDEVICE, or:
 *     TRS_ESTATE ; the plan is not analysed, op is not one of trs_options.ops, or the first call
 *         happens while the stream is captured.
 *     TRS_EPIVOT ; a pivot is bad, see bad.  On a device only if bad is not NULL. */
TRS_API int trs_solve_batch(const trs_plan *plan, trs_op op, const trs_batch *batch, int nrhs,
                            const void *B, int64_t ldb, void *X, int64_t ldx, const trs_exec *exec,
                            int64_t bad[2]);

/* ---- how good is x ---------------------------------------------------------------------- */

/* Why trs_refine, trs_lu_refine and trs_krylov_solve stopped.  For several columns of a refinement:
 * why the last of them stopped. */
typedef enum trs_stop {
    /* nothing was refined */
    TRS_STOP_NONE = 0,
    /* omega is at most (longest row + 1) eps */
    TRS_STOP_CONVERGED = 1,
    /* max_steps were done */
    TRS_STOP_STEPS = 2,
    /* in 50 steps neither omega nor the residual decreased by a hundredth */
    TRS_STOP_STAGNATED = 3,
    /* the residual is 10^4 times the smallest one before, or X is not finite */
    TRS_STOP_DIVERGED = 4,
    /* trs_krylov_solve: the method divides by zero, or a matrix is not definite */
    TRS_STOP_BREAKDOWN = 5,
} trs_stop;

/* |z| of a complex number is |re z| + |im z| here, as in LAPACK: at most 1.42 times its modulus. */
typedef struct trs_error {
    /* componentwise backward error: max over rows and columns of
     * |B - op(A) X| / (|op(A)| |X| + |B| + safe); NaN or Inf if any component is.  See
     * trs_backward_error for safe. */
    double omega;
    /* largest |B - op(A) X| */
    double residual;
    /* normwise backward error: max over columns of
     * ||r|| / (||A|| (||x|| + safmin) + ||b|| + safmin), in the infinity norm */
    double normwise;
    /* row of the worst omega, from 0; -1 if n or nrhs is 0 */
    int64_t row;
    /* column of the worst omega, from 0; -1 if n or nrhs is 0 */
    int64_t col;
    /* trs_refine, trs_lu_refine: why they stopped; else TRS_STOP_NONE */
    trs_stop stop;
    /* reserved for new members; always zero */
    int64_t reserved[4];
} trs_error;

/* Compute the backward error of X: compare op(A) X with B, accumulating in long double.
 *     const trs_mat *A ; in.  kind as for a plan; or 0: every entry counts; or TRS_SELFADJOINT
 *         with a triangle.  In the last case each call expands the matrix on the host, which
 *         takes twice its memory.  TRS_STRICT has no effect on a device.
 *     trs_op op ; in.
 *     int nrhs ; in, >= 0.
 *     const void *B ; in.  With ldb as in trs_solve, where A is.
 *     const void *X ; in.  With ldx as in trs_solve, where A is.
 *     trs_layout layout ; in.  Storage order of B and X.
 *     trs_error *error ; out.
 * The default number of OpenMP threads, but at most 8, share the columns if there is enough work
 * for them.  Each thread uses 64 n bytes; if memory is short, fewer threads are used.  The rows of
 * one column are shared by all of them where a row of op(A) is a row or column that is stored.
 *
 * With A on a device, B and X are on the same device.  Sums then have twice the working precision
 * and the range of double, so that an error beyond this range is NaN or Inf.  The work is ordered
 * with the default stream.  The work that produces B and X must be ordered before it.  The
 * function waits for the result.  It uses as much device memory as trs_multiply_on.
 *
 * Numbers that underflow lose digits, which is not the solver's error.  The error of a row i
 * therefore includes its safe minimum, a sum over the entries of the row:
 *     safe(i) = safmin (1 + sum_j (1 + |op(A)(i, j)|)),   safmin = DBL_MIN or FLT_MIN
 * It makes b(i), every x(j) and every product of the row count as at least safmin.  Thus the
 * rounding of a subnormal number is an error of eps, as for any other number.  LAPACK's gerfs
 * also adds its safe minimum to the numerator, so that rows of 1e-301 have an error of 1e-6 for
 * every x.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX or TRS_EDEVICE.
 * Source: Oettli and Prager 1964; Higham, Accuracy and Stability, section 7.1. */
TRS_API int trs_backward_error(const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                               const void *X, int64_t ldx, trs_layout layout, trs_error *error);

/* Refine X iteratively with a plan: X += op(T)^-1 (B - op(T) X), with residuals in long double,
 * until one of the reasons of trs_stop.  The result is the X with the smallest omega, which may
 * be the initial one.
 *     const trs_plan *plan ; in.  Of T, or of T rounded to single precision.  In the second case
 *         B and X are double.  A few cheap solves then give the accuracy of double precision, if
 *         the condition of T is well below 1e7.
 *     const trs_mat *T ; in.  The matrix, with n and kind of the plan.  It is on the host,
 *         wherever the plan solves, or on the device of the plan's B and X.
 *     trs_op op ; in.  Must be one of trs_options.ops.
 *     int nrhs ; in, >= 0.
 *     const void *B ; in.  With ldb as in trs_solve, where T is, of the dtype of T.
 *     void *X ; in, out.  With ldx as in trs_solve, where T is, of the dtype of T.  Zeros are a
 *         valid start.  X must not be B.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses work space, threads, layout and
 *         stream.
 *     int max_steps ; in, >= 0.
 *     int *steps ; out.  The largest number of steps of a column.  NULL: not wanted.
 *     trs_error *error ; out.  Of the returned X.  NULL: not wanted.
 * A plan that left out rows or replaced pivots solves another matrix than T.  Refinement then
 * gains nothing.
 *
 * With T on a device, residuals have twice the working precision, all work is ordered on
 * exec->stream, and no vector is copied to the host.  Each step waits for its errors, so it
 * cannot be captured in a CUDA graph.
 *
 * The function allocates about 96 n bytes, and a copy of T for TRS_BSR.  On a device it allocates
 * two or three vectors and the memory of trs_multiply_on.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EDEVICE, an error of trs_solve, or:
 *     TRS_EMATRIX ; T is not well formed.
 *     TRS_ESUPPORT ; T is on a device where B and X of the plan are not.
 * Source: Wilkinson 1963; Skeel 1980; Arioli, Demmel, Duff 1989. */
TRS_API int trs_refine(const trs_plan *plan, const trs_mat *T, trs_op op, int nrhs, const void *B,
                       int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int max_steps,
                       int *steps, trs_error *error);

/* Norms of a matrix. */
typedef enum trs_norm {
    /* the largest column sum */
    TRS_NORM_ONE = 0,
    /* the largest row sum */
    TRS_NORM_INF = 1,
} trs_norm;

/* Estimate the reciprocal condition 1 / (|T| |T^-1|) with at most 11 solves, as LAPACK's trcon
 * does.  The estimate of |T^-1| is a lower bound, and rarely more than three times too small.
 *     const trs_plan *plan ; in.  Of T.  Its ops must include TRS_N and TRS_H.  Its own work
 *         space is used.
 *     const trs_mat *T ; in.  The matrix, on the host or on a device, with n, dtype and kind of
 *         the plan.  It is needed for its norm.
 *     trs_norm norm ; in.  The norm to use.
 *     double *rcond ; out.  1 if n = 0; 0 if a norm overflows or after an error.
 * The vectors of the estimate are on the host.  If the plan is on a device, each solve copies
 * them there and back.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EMATRIX, TRS_EDEVICE, or an error of
 * trs_solve.
 * Source: Higham, ACM TOMS 14 (1988); Hager 1984. */
TRS_API int trs_condest(const trs_plan *plan, const trs_mat *T, trs_norm norm, double *rcond);

/* Compute the product Y = op(A) X, with plain sums in the dtype of A.  An element of Y has an error
 * of up to n eps (|op(A)| |X|), where n is the number of its terms.  trs_backward_error and
 * trs_refine compute B - op(A) X with more digits.
 *     const trs_mat *A ; in.  kind as for a plan; or 0: every entry counts; or TRS_SELFADJOINT with
 *         a triangle.  TRS_STRICT takes a pass over A of its own; it has no effect on a device.
 *     trs_op op ; in.
 *     int nrhs ; in, >= 0.
 *     const void *X ; in.  With ldx, as B and ldb in trs_solve, where A is.
 *     void *Y ; out.  With ldy, as X.  It must not overlap X.  Undefined after TRS_EMATRIX.
 *     trs_layout layout ; in.  Storage order of X and Y.
 * On the host each call checks the pattern while it reads it, which costs almost nothing.  The
 * default number of OpenMP threads share A if there is enough work for them.
 *
 * Sums go along the stored lines of A in these cases: CSR and BSR with TRS_N, CSC and DENSE with
 * TRS_T and TRS_H.  Then threads need no memory.  In other cases, and with TRS_SELFADJOINT, each
 * thread but one adds to n numbers of its own, or 4 n with 4 columns or more.  There are so few
 * threads that these take no more memory than the values of A.  One thread allocates nothing.  The
 * same input and the same number of threads give the same bits.
 *
 * CSR and CSC with idx_bits = 32 are fastest.  With A on a device, the function is trs_multiply_on
 * with the default stream.
 * Returns TRS_OK, TRS_EARG, TRS_EMATRIX, TRS_EDEVICE, or on a device TRS_EMEM. */
TRS_API int trs_multiply(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx, void *Y,
                         int64_t ldy, trs_layout layout);

/* Compute the product Y = op(A) X on a stream, or with a number of threads.
 *     const trs_mat *A ; in.  On a device its pattern is not checked: ptr and idx must be in
 *         range.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses stream and layout; and threads, where 0
 *         is the default number of OpenMP threads.
 * With A on a device, the cost depends on whether the rows of op(A) are contiguous.  They are
 * contiguous in these cases: CSR and BSR with TRS_N, CSC with TRS_T and TRS_H, and DENSE.  Then
 * the function only enqueues work and can be captured in a CUDA graph.  Otherwise each call sorts
 * the entries, which takes about 32 bytes of device memory for each entry, and waits; with
 * TRS_SELFADJOINT it expands the matrix on the host.  The same input gives the same bits.
 * Returns what trs_multiply returns, or:
 *     TRS_ESUPPORT ; the stream is being captured, and the call would have to sort the entries or
 *         expand a TRS_SELFADJOINT matrix. */
TRS_API int trs_multiply_on(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx,
                            void *Y, int64_t ldy, const trs_exec *exec);

/* ---- assembly of a matrix ---------------------------------------------------------------- */

/* An assembled matrix.  A program that assembles a matrix, for instance from finite elements, has
 * terms a(k) at (row(k), col(k)), many of them at the same place.  The assembly finds the places
 * once.  After that it sums new terms into the matrix in O(count). */
typedef struct trs_assembly trs_assembly;

typedef struct trs_terms {
    /* number of rows and columns, 0 <= n <= 2^31 - 2 */
    int64_t n;
    /* number of terms */
    int64_t count;
    /* [count] row of each term, in any order, on the host; a term with a negative row or column is
     * left out, as boundary conditions may require */
    const void *row;
    /* [count] column of each term */
    const void *col;
    /* bits of an element of row and col: 32 or 64; 0: 32 */
    int idx_bits;
    /* 0 or 1: the first number of row, col and the matrix */
    int base;
    /* type of the terms and the matrix */
    trs_dtype dtype;
    /* format of the matrix: TRS_CSR or TRS_CSC */
    trs_format format;
    /* where the terms and the matrix will be: TRS_HOST or TRS_CUDA(k) */
    int device;
    /* allocator of host memory */
    trs_memory memory;
    /* allocator of device memory */
    trs_device_memory device_memory;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_terms;

/* Create a matrix with one entry for each place that has a term.  The indices of a row (CSC: of a
 * column) ascend.
 *     trs_assembly **assembly ; out.  NULL after an error.
 *     const trs_terms *terms ; in.  Its arrays are read only during this call.
 * The assembly takes 8 bytes for each term, besides the matrix, and temporarily 12 more.  The
 * function runs on one thread in O(n + count).
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EDEVICE, or TRS_EMATRIX (an index is out of range; the
 * message names it). */
TRS_API int trs_assembly_create(trs_assembly **assembly, const trs_terms *terms);

/* Set each entry of the matrix to the sum of its terms.  The terms are summed in their order, so
 * that the bits are the same each time.
 *     trs_assembly *assembly ; in, out.  No other thread or stream may be reading its matrix.
 *     const void *val ; in [count].  Terms of the dtype, where trs_terms.device says.  Terms that
 *         are left out are not read.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses its threads on the host, and its
 *         stream on a device.  There the function only enqueues work and can be captured in a
 *         CUDA graph.
 * Returns TRS_OK, TRS_EARG or TRS_EDEVICE. */
TRS_API int trs_assembly_sum(trs_assembly *assembly, const void *val, const trs_exec *exec);

/* Return the matrix.  Its values are zero before the first sum.
 *     const trs_assembly *assembly ; in.
 *     unsigned kind ; in.  Bits of trs_mat.kind; 0: general.
 *     trs_mat *mat ; out.  Its arrays belong to the assembly, do not move, and live as long as it.
 * Returns TRS_OK or TRS_EARG. */
TRS_API int trs_assembly_mat(const trs_assembly *assembly, unsigned kind, trs_mat *mat);

/* Free an assembly and its matrix.
 *     trs_assembly *assembly ; in.  NULL: does nothing. */
TRS_API void trs_assembly_destroy(trs_assembly *assembly);

/* ---- device memory, for callers without a CUDA compiler ------------------------------------ */

/* Allocate memory on a CUDA device, as cudaMalloc does.
 *     int device ; in.  TRS_CUDA(k).
 *     size_t bytes ; in.  Any number.
 *     void **p ; out.  NULL after an error.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM or TRS_EDEVICE. */
TRS_API int trs_device_new(int device, size_t bytes, void **p);

/* Free memory on a device, after waiting for work that uses it.
 *     int device ; in.  TRS_CUDA(k).
 *     void *p ; in.  From trs_device_new on this device.  NULL: does nothing. */
TRS_API void trs_device_free(int device, void *p);

/* Copy to the device (put) or from the device (get) on the default stream, and wait.
 *     int device ; in.  TRS_CUDA(k).
 *     void *to ; out [bytes].  put: on the device; get: on the host.  NULL is allowed if bytes =
 *         0.
 *     const void *from ; in [bytes].  put: on the host; get: on the device.  NULL is allowed if
 *         bytes = 0.
 *     size_t bytes ; in.
 * Returns TRS_OK, TRS_EARG or TRS_EDEVICE. */
TRS_API int trs_device_put(int device, void *to, const void *from, size_t bytes);
TRS_API int trs_device_get(int device, void *to, const void *from, size_t bytes);

/* Enqueue a copy within a device on a stream, without waiting.
 *     int device ; in.  TRS_CUDA(k).
 *     void *to ; out [bytes].  On this device.
 *     const void *from ; in [bytes].  On this device.
 *     size_t bytes ; in.
 *     void *stream ; in.  A cudaStream_t.  NULL: the default stream.
 * Returns TRS_OK, TRS_EARG or TRS_EDEVICE. */
TRS_API int trs_device_copy(int device, void *to, const void *from, size_t bytes, void *stream);

/* Return the name of a device, as "NVIDIA H200, 132 SMs, 139 GiB, driver for CUDA 13.0", or the
 * reason why there is no such device.
 *     int device ; in.  TRS_CUDA(k).
 *     char *name ; out [size].  Truncated to fit.
 *     size_t size ; in, > 0.
 * Returns TRS_OK, TRS_EARG, or TRS_EDEVICE (no such device, or a build without CUDA). */
TRS_API int trs_device_name(int device, char *name, size_t size);

/* Measure the time between two points of a stream with CUDA events.  trs_timer_stop waits and
 * returns the seconds since trs_timer_start.
 *     trs_timer **timer ; out.  NULL after an error.  The caller destroys it.
 *     int device ; in.  TRS_CUDA(k).
 *     void *stream ; in.  A cudaStream_t, the same for start and stop.  NULL: the default stream.
 *     double *seconds ; out.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM or TRS_EDEVICE. */
typedef struct trs_timer trs_timer;
TRS_API int trs_timer_create(trs_timer **timer, int device);
TRS_API int trs_timer_start(trs_timer *timer, void *stream);
TRS_API int trs_timer_stop(trs_timer *timer, void *stream, double *seconds);
TRS_API void trs_timer_destroy(trs_timer *timer);

/* ---- factors ---------------------------------------------------------------------------- */

/* Factors of a matrix, with a plan for each triangle: x = Q U^-1 L^-1 P R b. */
typedef struct trs_lu trs_lu;

typedef struct trs_lu_info {
    /* what computed the factors: "UMFPACK", "CHOLMOD", "KLU", "ILU(0)", "ILU(0), blocks of 3",
     * "IC(2)", "ILUT", "DILU, blocks of 1", "imported", ... */
    const char *library;
    /* ordering of rows and columns: "AMD", "COLAMD", "METIS", "natural", "RCM", "multicolour",
     * ... */
    const char *ordering;
    /* number of rows of A */
    int64_t n;
    /* entries of A; 0: the library never saw A */
    int64_t nnz_a;
    /* entries of L, including the diagonal */
    int64_t nnz_l;
    /* entries of U, including the diagonal; 0 for L L' */
    int64_t nnz_u;
    /* plan of L; it belongs to the factors; NULL for factors by blocks */
    const trs_plan *l;
    /* plan of U; it belongs to the factors; NULL for L L', and for factors by blocks */
    const trs_plan *u;
    /* wall clock time of the factorization, including the ordering */
    double seconds_factor;
    /* wall clock time of the analysis of both plans */
    double seconds_analyse;
    /* the library's smallest pivot divided by its largest; 0: not known.  It can be far above and
     * far below 1 / condition, which trs_lu_condest estimates */
    double rcond;
    /* number of pivots that boost replaced (trs_ilu_options, trs_factor_options) */
    int64_t boosted;
    /* what computes the factors of new values on the device, a constant string; NULL: the host
     * does */
    const char *kernel;
    /* 1: solves refine x once (trs_lu_solve); 0: they do not */
    int64_t refines;
    /* of "ldlt", the row of A (from 0) whose pivot was the first that boost replaced; -1: none */
    int64_t first_boosted;
    /* block size of incomplete factors by blocks, which have no plans (trs_ilu); 0: there are
     * plans */
    int64_t block;
    /* reserved for new members; always zero */
    int64_t reserved[1];
} trs_lu_info;

/* Methods of incomplete factorization. */
typedef enum trs_ilu_method {
    /* L U = A at the entries of the factors; any matrix */
    TRS_ILU0 = 0,
    /* L L^H = A at the entries of L; Hermitian positive definite matrices */
    TRS_IC0 = 1,
    /* the same two, with the entries that drop_tol and fill_factor select for the first A */
    TRS_ILUT = 2,
    TRS_ICT = 3,
    /* M = (D + L) D^-1 (D + U), where L and U are those of A and diag (M) = diag (A): only D is
     * computed; by blocks, or numbers */
    TRS_DILU = 4,
    /* M = D, the diagonal blocks of A, or its diagonal */
    TRS_BLOCK_JACOBI = 5,
} trs_ilu_method;

/* Orderings for incomplete factors.  Rows and columns are permuted in the same way before the
 * factorization, A(P, P), using the graph of A + A'.  The ordering determines how many levels the
 * factors have and how good they are as preconditioners. */
typedef enum trs_ilu_ordering {
    /* no permutation */
    TRS_ILU_NATURAL = 0,
    /* reverse Cuthill-McKee: a small bandwidth */
    TRS_ILU_RCM = 1,
    /* rows of one colour are independent.  Without fill, L and U have at most as many levels as
     * there are colours, but the preconditioner needs more iterations */
    TRS_ILU_MULTICOLOUR = 2,
} trs_ilu_ordering;

typedef struct trs_ilu_options {
    trs_ilu_method method;
    /* >= 0: the diagonal of A is multiplied by 1 + shift.  With a large enough shift, IC(0)
     * succeeds on every positive definite matrix (Manteuffel 1980); 0.001 is usual. */
    double shift;
    /* 0: a bad pivot is an error.  In (0, 1]: a pivot that is smaller than boost times the
     * largest entry of its row of A is replaced by this product.  Its sign, or its phase, is kept;
     * with IC(0), whose pivots are squared, it becomes positive. */
    double boost;
    /* options of both plans, including the device; ops always include TRS_N */
    trs_options plan;
    /* level of fill k of ILU(k), IC(k), >= 0: fill of levels up to k is kept.  An entry of A has
     * level 0.  Elimination with pivot m gives entry (i, j) the sum of the levels of (i, m) and
     * (m, j), plus 1. */
    int level;
    /* ordering of rows and columns */
    trs_ilu_ordering ordering;
    /* 1, on a device: updates do not wait for the pivots; trs_lu_status reports them */
    int defer;
    /* with level > 0: entries of the factors at most, in multiples of those of A, or, for IC, of
     * its triangle.  More is TRS_EMEM, before memory is taken for them; so is more than
     * plan.memory_limit.  0: 100, and at least 10^7 entries; else >= 1.
     * ILUT and ICT do not exceed it: of each row of U, and column of L, the largest entries are
     * kept, and what one does not use is left to the next ones.  0: 10 */
    double fill_factor;
    /* >= 0, of ILUT and ICT: u(i, j) is dropped if it is smaller than drop_tol times the 2-norm of
     * row i of A, and l(i, j) u(j, j) if it is smaller than drop_tol times the 2-norm of column j.
     * 1e-4 in SciPy's spilu */
    double drop_tol;
    /* block size b <= 8 for factors by blocks (see trs_ilu).  0: that of a BSR, or the one that is
     * found; 1: factors by numbers; above 1: this one, of which n is a multiple */
    int64_t block;
    /* must be zero; reserved for new members */
    int64_t reserved[1];
} trs_ilu_options;

/* Compute incomplete factors of A, without or with fill, as a preconditioner.  trs_lu_solve then
 * computes x = M^-1 b, where M = L U or L L^H, in the type of A.  Pivots are on the diagonal:
 * rows are not exchanged.
 *     trs_lu **lu ; out.  The caller destroys it, also after an error, unless it is NULL then.
 *     const trs_mat *A ; in.  Any format, kind = 0 or TRS_SELFADJOINT with a triangle; with IC,
 *         TRS_LOWER alone means the same.  On the host, or, if opt->plan is for a device,
 *         anywhere.
 *     const trs_ilu_options *opt ; in.  NULL: ILU(0), all defaults.
 * IC in the natural ordering reads only the lower triangle and the real part of its diagonal.  In
 * another ordering it reads both triangles.  If both are read and only one is stored, the other
 * is created on the host once, and new values are copied to it where they are.  A diagonal entry
 * that A lacks becomes an entry of the factors, as fill does, with the value zero before
 * elimination.
 *
 * ILU(0) of a matrix of b x b blocks is computed and solved with by blocks: L, U and
 * inverses of the diagonal blocks take 4 bytes and b^2 numbers a block, and as much again if
 * opt->plan.ops has TRS_T or TRS_H.  Rows are exchanged within a diagonal block, so that a zero on
 * the diagonal is no bad pivot; where none are exchanged, M is that of the numbers.  boost counts
 * for the pivots of a diagonal block, with the largest entry of its block row.  A BSR with block =
 * b, 2 <= b <= 8, has such blocks.  In other matrices with n >= 1000, b is the largest number up to
 * 8 that divides n and for which blocks with an entry are full to nine tenths in the mean; what
 * they lack becomes an entry, with the value zero before.  Factors are by numbers if opt->block is
 * 1, with fill, an ordering, a named solver, sweeps, TRS_PIVOT_SKIP or TRS_PIVOT_REPLACE.  On a
 * device blocks are not searched for: those of a BSR, and opt->block, count.  It takes factors by
 * numbers if blocks have more than 64 products each.  The host makes the pattern.
 * IC(0) is by blocks in the same cases.  M is that of ILU(0), but an update reads only the lower
 * triangle of A and does half the products.  The same L and U solve with every op, also with TRS_T
 * if A is complex.  Rows are not exchanged: a diagonal block that is not positive definite is a bad
 * pivot.  boost counts for the pivots of L D L^H, with the largest entry of the diagonal block and
 * the blocks to the right of it.
 * Factors by blocks have no plans and no triangles of numbers: trs_lu_info.l and u are NULL, and
 * trs_lu_factors returns TRS_ESUPPORT, and so does trs_lu_batch_create.
 *
 * DILU and block Jacobi are always by blocks, which may be numbers (b = 1), and in the natural
 * ordering.  On a device, too, b is found for them.  Of DILU only the diagonal is computed, which
 * takes a fraction of the time of ILU(0):
 * d(i) = a(i, i) - sum_(k < i) a(i, k) d(k)^-1 a(k, i).
 *
 * The threads of opt->plan.threads, but at most 16, also compute the factors.  Each thread takes
 * 4 n bytes, and 8 n during the search for fill.  Rows of the same level of L are factored at the
 * same time.  The bits do not depend on the number of threads.
 *
 * If opt->plan is for a device and trs_lu_info.kernel is not NULL, the device computes the
 * factors.  They equal those of the host up to rounding, and have the same bits every time.  No
 * data passes through the host if A is on this device in CSR, CSC or BSR, without fill, in the
 * natural ordering, and by numbers; by blocks, the first A does.
 *
 * ILUT and ICT find the pattern of the first A, for which they need its values, on one thread of
 * the host.
 *
 * trs_lu_update accepts new values without an analysis.  Several threads can solve with work
 * spaces of their own (trs_lu_work_create), or with the plans of trs_lu_get_info: L, then U (L
 * with TRS_H).
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, an error of trs_plan_create or trs_plan_analyse, or:
 *     TRS_EMATRIX ; A is not well formed, or a value is not finite.
 *     TRS_EPIVOT ; a pivot is zero, not positive or not finite, or a diagonal block is singular or
 *         not positive definite.  The message names the row of A, or the rows, with the first one.
 *         The caller can update the factors with new values.
 *     TRS_ESUPPORT ; A is on a device and opt->plan is for the host; or DILU on a device has more
 *         than 64 products for each block.
 * Source: Meijerink and van der Vorst 1977; Saad, Iterative Methods for Sparse Linear Systems,
 * 10.2, 10.3; Pommerell 1992 (DILU); Hysom and Pothen 2001; Li, Saad and Chow 2003; Cuthill and
 * McKee 1969. */
TRS_API int trs_ilu(trs_lu **lu, const trs_mat *A, const trs_ilu_options *opt);

/* Import factors from another program, such as SuperLU, MUMPS, PETSc or SciPy:
 *     (L U)(k, m) = scale(P(k)) A(P(k), Q(m)),   or L L^H = A(P, P)
 * All functions for factors accept the result.  trs_lu_info.library is "imported".  trs_lu_update
 * returns TRS_ESTATE; trs_lu_replace sets new values of L and U.  For trs_lu_refine and
 * trs_lu_condest, the caller provides A.
 *     trs_lu **lu ; out.  The caller destroys it, also after an error, unless it is NULL then.
 *     const trs_mat *L ; in.  CSR or CSC, any index width and base, on the host or a device.
 *         kind is TRS_LOWER, with TRS_UNIT if its diagonal is 1 and possibly not stored.  It is
 *         copied.
 *     const trs_mat *U ; in.  The same with TRS_UPPER, with the n and dtype of L, which is that
 *         of B and X.  L and U may be the same arrays, L + U - I.  NULL: the factors are L L^H.
 *     const int64_t *P ; in [n].  Permutation of rows, from 0.  It is copied.  NULL: the
 *         identity.
 *     const int64_t *Q ; in [n].  Permutation of columns, from 0.  It is copied.  NULL: the
 *         identity; required for L L^H.
 *     const double *scale ; in [n].  By row of A.  It is copied.  NULL: no scaling; required for
 *         L L^H.
 *     const trs_options *plan ; in.  For both triangles, as in trs_factor_options.  NULL: all
 *         defaults.
 * Returns TRS_OK, TRS_EMEM, TRS_EMATRIX, TRS_EDEVICE, an error of trs_plan_create or
 * trs_plan_analyse, or:
 *     TRS_EARG ; an argument is wrong, or P or Q is not a permutation.
 *     TRS_ESUPPORT ; L or U is neither CSR nor CSC.
 *     TRS_EPIVOT ; a diagonal entry of L or U is missing, zero or not finite.  The message names
 *         the factor and the row.  trs_lu_replace can set other values. */
TRS_API int trs_lu_import(trs_lu **lu, const trs_mat *L, const trs_mat *U, const int64_t *P,
                          const int64_t *Q, const double *scale, const trs_options *plan);

/* Replace the values of imported factors, in O(nnz), without an analysis.
 *     trs_lu *lu ; in, out.  From trs_lu_import.  No solve with it may be running.
 *     const trs_mat *L ; in.  As before except val, which may be on a device and is copied through
 *         the host.  ptr and idx are not read and may be NULL.
 *     const trs_mat *U ; in.  The same.  NULL, as before, for L L^H.
 *     const double *scale ; in [n].  NULL: as before.  P and Q do not change.
 * After an error trs_lu_solve returns TRS_ESTATE until this function succeeds.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (the factors were not imported), TRS_EPIVOT, TRS_EMEM,
 * TRS_EDEVICE, or an error of trs_plan_update. */
TRS_API int trs_lu_replace(trs_lu *lu, const trs_mat *L, const trs_mat *U, const double *scale);

/* Factor A again with new values.
 *     trs_lu *lu ; in, out.  From trs_ilu or trs_factor, even if that returned TRS_EPIVOT; not
 *         from trs_lu_import.  No solve with it may be running.
 *     const trs_mat *A ; in.  n and dtype as before, kind as in the first call.  It may be on the
 *         host, or, with plans for a device, on any device.
 * After trs_ilu, the pattern must be the same: nnz, format, block, ptr and idx.  ptr and idx are
 * not read again and may be NULL.
 *
 * After trs_factor, the same holds if a device computes the factors and A is there.  If A is on
 * the host in this case, its pattern is compared with the first one, unless ptr and idx are NULL.
 * Otherwise the pattern may differ, and a new pattern is analysed again.  For the same pattern,
 * the factors are computed on the host with the pivots, the scaling and the plans of before, as
 * long as the pivots suit the new values: they grow at most 10 times as much as with newly chosen
 * pivots.  The first such update allocates what all later ones need, and they allocate nothing.
 * The bits do not depend on trs_options.threads.  If the pivots do not suit, and with plans in
 * single precision, TRS_PIVOT_SKIP or a DENSE A, the library of trs_factor factors A, with the
 * ordering and the symbolic analysis of before, and the plans are reused if the factors have the
 * same pattern.
 *
 * Arrays and plans of trs_lu_factors and trs_lu_get_info remain valid after an update of the
 * factors of trs_ilu.  After an update of the factors of trs_factor they are invalid, with one
 * exception: the plans remain valid while a device computes the factors with the same pivots.
 *
 * After an error trs_lu_solve returns TRS_ESTATE until an update succeeds.
 * Returns what trs_ilu and trs_factor return, or TRS_ESTATE (there is no pattern). */
TRS_API int trs_lu_update(trs_lu *lu, const trs_mat *A);

/* Factor A again with new values, in the order of a stream.  With A and the factors on the same
 * device, the function enqueues the numeric factorization and the updates of both plans, and waits
 * only for the pivots.
 *     trs_lu *lu ; in, out.  As in trs_lu_update.
 *     const trs_mat *A ; in.  As in trs_lu_update.
 *     const trs_exec *exec ; in.  NULL: the default stream.  Uses only the stream.
 * With trs_ilu_options.defer or trs_factor_options.on_growth it does not wait at all.  Then it
 * can be captured in a CUDA graph together with solves, if the solvers of both plans accept new
 * values in the order of a stream.  The solvers that are chosen when no solver is named do.
 *
 * If the first values had bad pivots, there are no plans yet.  The next update then creates them,
 * waits, and cannot be captured.
 * Returns what trs_lu_update returns. */
TRS_API int trs_lu_update_on(trs_lu *lu, const trs_mat *A, const trs_exec *exec);

/* Wait for the last update and report its result.  The update may also have been captured and
 * replayed on any stream of the device.
 *     trs_lu *lu ; in.
 *     int64_t *bad ; out.  Number of pivots that are zero or not finite, or, for L L^H, not
 *         positive.  NULL: not wanted.
 *     int64_t *first ; out.  The first row with such a pivot, from 0; -1: none.  NULL: not
 *         wanted.
 *     double *growth ; out.  max |l(i, k) u(k, j)| / max |a(i, j)|: how much larger the rounding
 *         errors of the factors may be than those of A; 0: not known, because the host computed
 *         the factors.  NULL: not wanted.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE, or:
 *     TRS_ESTATE ; there are no factors.
 *     TRS_EPIVOT ; bad > 0.
 *     TRS_EMATRIX ; a value of A is not finite.
 *     TRS_EGROWTH ; growth exceeds trs_factor_options.growth_limit, or the triangles cannot be
 *         solved in the way that their plans have chosen.  An update that waits lets the plans
 *         choose again. */
TRS_API int trs_lu_status(trs_lu *lu, int64_t *bad, int64_t *first, double *growth);

/* Return L and U as matrices on the host, in arrays that belong to the factors:
 *     (L U)(k, m) = scale(P(k)) A(P(k), Q(m)),   or L L^H = A(P, P)
 *     const trs_lu *lu ; in.
 *     trs_mat *L ; out.  CSR or CSC.  NULL: not wanted.
 *     trs_mat *U ; out.  CSR or CSC.  U->n = 0 and U->ptr = NULL for L L^H.  NULL: not wanted.
 *     const int64_t **P ; out [n].  The array is NULL if there is no permutation (incomplete
 *         factors in the natural ordering).  NULL: not wanted.
 *     const int64_t **Q ; out [n].  As P.
 *     const double **scale ; out [n].  The array is NULL if there is no scaling.  NULL: not
 *         wanted.
 * ILU, and L U that was updated with the same pivots or that a device computes, has both in the
 * same arrays, L + U - I in CSR, where only kind differs.  The function waits for factors on a
 * device and copies them from there.
 * Returns TRS_OK, TRS_EARG (an argument is wrong, or there are no factors), TRS_ESUPPORT (the
 * factors are by blocks, see trs_ilu), or an error of the plans, when the first use creates them
 * (trs_lu_solve). */
TRS_API int trs_lu_factors(const trs_lu *lu, trs_mat *L, trs_mat *U, const int64_t **P,
                           const int64_t **Q, const double **scale);

/* Create a work space for solves with factors, with up to max_nrhs right-hand sides at a time.
 * Larger solves are done in batches of max_nrhs.  Threads or streams that solve with the same
 * factors at the same time each need a work space of their own, see trs_exec.lu_work.
 *     trs_lu_work **work ; out.  NULL after an error.
 *     const trs_lu *lu ; in.  Must outlive the work space.
 *     int max_nrhs ; in, >= 1.
 * The work space belongs to the caller and serves one solve at a time.  It remains valid after
 * updates of the factors that leave the plans in place.  An update of the factors of trs_factor
 * may create other plans (trs_lu_update); solves with this work space then return TRS_ESTATE.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (there are no factors), TRS_EMEM, TRS_EDEVICE or
 * TRS_ELIBRARY. */
TRS_API int trs_lu_work_create(trs_lu_work **work, const trs_lu *lu, int max_nrhs);

/* Free a work space.  No solve with it may be running.
 *     trs_lu_work *work ; in.  NULL: does nothing. */
TRS_API void trs_lu_work_destroy(trs_lu_work *work);

/* Solve X = op(A)^-1 B with the factors.
 *     trs_lu *lu ; in, out.  Without exec->lu_work its own work space is used, which serves one
 *         solve at a time.
 *     trs_op op ; in.  L L^H solves with every op, except TRS_T for complex IC by numbers in the
 *         natural ordering.  L U solves with the ops of its plans.
 *     int nrhs ; in, >= 0.
 *     const void *B ; in.  With ldb as in trs_solve, of the dtype of A, where trs_options.device
 *         of the plans says.
 *     void *X ; out.  With ldx as in trs_solve, of the dtype of A, where B is.
 *     const trs_exec *exec ; in.  NULL: all defaults.  exec->work must be NULL.
 * Permutations, scaling and conversion of precision take one pass over B and one over X.  The
 * function allocates nothing, except for the solve that creates the plans.  With B and X on a
 * device it only enqueues work on exec->stream.  It can be captured in a CUDA graph if the
 * solvers of both plans can.  A captured solve follows updates that leave the plans in place
 * (trs_lu_update).
 *
 * If trs_options.solves and solves_per_update announce many solves, complete factors of up to
 * about 2200 rows on a device also get the inverse of A.  It is multiplied by instead if nrhs = 1,
 * A is F64 or C64, and op is TRS_N or the factors are L L^H.  It occupies n^2 numbers there.
 * Errors may be larger by the condition number of A.  Where that exceeds 1e4 the triangles solve,
 * but after an update that does not wait, and in graphs that were captured before the update, the
 * inverse still does; X is NaN if the number exceeds 1e8.  A NaN in B reaches all of X.
 *
 * Factors with large growth give an x with fewer correct digits than partial pivoting.  So each
 * factorization of an F64 or C64 matrix by UMFPACK, KLU or "ldlt" on the host ends with a solve
 * that measures the backward error of an x.  If it exceeds max (5, sqrt (n)) times the machine
 * precision, as partial pivoting rarely does, the factors keep A, and each solve takes one step of
 * refinement.  Updates with the same pivots do not change this.  Such a solve takes a little more
 * than twice the time (trs_lu_info.refines).  On a device, with single precision, and with
 * incomplete and imported factors, the function does not refine; trs_lu_refine does.
 *
 * On the host, the factors of trs_factor stay where they were computed until plans are needed.
 * The first 8 right-hand sides, or 24 with pivots on the diagonal ("static pivots"), are solved
 * there unless more than 8 come at a time, as plans cost as much as 5 to 50 solves.  Such an
 * x is refined, with a residual of twice the precision, if its backward error exceeds the limit
 * above, or with trs_options.solves = 1 twice the machine precision.  Its bits differ from those
 * of later solves, unless trs_options.bitwise is set.  The solve after them copies L and U and
 * creates the plans, and so does the first call of trs_lu_solve with a work space, of
 * trs_lu_work_create, trs_lu_factors, trs_lu_determinant or trs_lu_get_info.  It allocates, and
 * may return TRS_EMEM; then a later call tries again, and solves with the factors' own work space
 * need no plans.  Factors whose options name a solver, or ask for a memory limit, an order,
 * bitwise or measure, or for more than one solve, have their plans from the start.
 * Returns TRS_OK, TRS_EARG, TRS_ESUPPORT, TRS_EMEM, TRS_EDEVICE, TRS_ELIBRARY, or:
 *     TRS_ESTATE ; there are no factors, op is not one of the ops, the work space belongs to
 *         other plans, or another thread is in a solve with it, as in trs_solve. */
TRS_API int trs_lu_solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
                         int64_t ldx, const trs_exec *exec);

/* Refine X iteratively with the factors, in fixed precision; otherwise as trs_refine.  With
 * complete factors one or two steps are enough.  With incomplete factors many steps may be
 * needed, or the iteration may not converge.
 *     trs_lu *lu ; in, out.  As in trs_lu_solve.
 *     const trs_mat *A ; in.  The matrix that was factored, with kind = 0 or TRS_SELFADJOINT with
 *         a triangle.  It is on the host, wherever the factors solve, or on their device.
 *     trs_op op ; in.  As in trs_lu_solve.
 *     int nrhs ; in, >= 0.
 *     const void *B ; in.  With ldb as in trs_solve, where A is.
 *     void *X ; in, out.  With ldx as in trs_solve, where A is.
 *     const trs_exec *exec ; in.  NULL: all defaults.
 *     int max_steps ; in, >= 0.
 *     int *steps ; out.  The largest number of steps of a column.  NULL: not wanted.
 *     trs_error *error ; out.  Of the returned X.  NULL: not wanted.
 * Returns what trs_lu_solve returns.
 * Source: Arioli, Demmel, Duff 1989; Skeel 1980. */
TRS_API int trs_lu_refine(trs_lu *lu, const trs_mat *A, trs_op op, int nrhs, const void *B,
                          int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int max_steps,
                          int *steps, trs_error *error);

/* Estimate the reciprocal condition 1 / (|A| |A^-1|) with the factors.
 *     trs_lu *lu ; in, out.  Factors of A, wherever they solve.
 *     const trs_mat *A ; in.  As in trs_condest.
 *     trs_norm norm ; in.  As in trs_condest.
 *     double *rcond ; out.  As in trs_condest.
 * With the ops TRS_N and TRS_H, and for L L^H, this is the estimate of trs_condest.  Otherwise four
 * steps of inverse iteration give a lower bound of |A^-1|, which may be farther off, about n times.
 * Returns what trs_lu_solve returns, or TRS_EMATRIX. */
TRS_API int trs_lu_condest(trs_lu *lu, const trs_mat *A, trs_norm norm, double *rcond);

/* Compute det A from complete factors, in O(n).  Because (L U)(k, m) = scale(P(k)) A(P(k), Q(m)):
 *     det A = sgn(P) sgn(Q) prod U(k, k) / prod scale(k),   or prod |L(k, k)|^2 for L L^H, with the
 *     signs of D for L D L^H
 *     const trs_lu *lu ; in.  From trs_factor or trs_lu_import.  Also accepted if TRS_EPIVOT was
 *         returned because a pivot of A is exactly 0, or because a row or column is empty: det =
 *         0.
 *     trs_det *det ; out.  0 after an error.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, or:
 *     TRS_ESTATE ; there are no factors.
 *     TRS_EPIVOT ; a pivot is not finite.
 *     TRS_ESUPPORT ; the factors are incomplete, so they are not those of A.  For det L and det
 *         U, call trs_plan_determinant with the plans of trs_lu_get_info. */
TRS_API int trs_lu_determinant(const trs_lu *lu, trs_det *det);

/* Say how many eigenvalues of a Hermitian A are positive, and how many negative: as many as pivots
 * (Sylvester's law of inertia).  O(n).
 *     const trs_lu *lu ; in.  L D L^H or L L^H: from trs_factor, with "ldlt" or "cholmod".  If a
 *         device computes L D L^H, the call waits for the last update, also one that a graph
 *         replays, and brings trs_lu_info up to date.
 *     int64_t *positive, *negative ; out, NULL: not wanted.  Also set with TRS_EPIVOT.
 *     int8_t *sign ; out.  [n] in the order of the pivots: 1 or -1, the signs of the eigenvalues of
 *         S, where A(P, P) = L S L^H with the L and P of trs_lu_factors.  If S is diagonal
 *         (trs_lu_middle), they are its diagonal.  NULL: not wanted.
 * Returns TRS_OK, TRS_EARG, or:
 *     TRS_EPIVOT ; boost has replaced pivots, so this is the inertia of a matrix near A.
 *     TRS_ESTATE ; there are no factors, or on a device a pivot was zero or not finite.
 *     TRS_EGROWTH ; on a device the factors grew, as trs_lu_status says.
 *     TRS_ESUPPORT ; the factors are incomplete, or L U, whose pivots say nothing. */
TRS_API int trs_lu_inertia(const trs_lu *lu, int64_t *positive, int64_t *negative, int8_t *sign);

/* Return S of A(P, P) = L S L^H, with the L and P of trs_lu_factors.  S has 1 and -1 on its
 * diagonal, and, where "ldlt" has eliminated two rows at a time, blocks of 2 x 2 numbers whose
 * determinant is 1 or -1.  S is the identity for L L^H.
 *     const trs_lu *lu ; in.  As in trs_lu_inertia.
 *     double *diagonal ; out [n].
 *     void *beside ; out [n] of F64, or of C64 if L is complex: S(k, k+1) = conj (S(k+1, k)), 0
 *         outside of blocks and for k = n - 1.  NULL: not wanted.
 *     int64_t *blocks ; out.  The number of blocks.  NULL: not wanted.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_ESUPPORT, TRS_EGROWTH, or an error of the plans, when
 * the first use creates them (trs_lu_solve). */
TRS_API int trs_lu_middle(const trs_lu *lu, double *diagonal, void *beside, int64_t *blocks);

/* Report facts about factors.
 *     const trs_lu *lu ; in.
 *     trs_lu_info *info ; out.  Strings and plans belong to the factors.  Plans are NULL if there
 *         are none.
 * Returns TRS_OK, TRS_EARG, or an error of the plans, when the first use creates them
 * (trs_lu_solve). */
TRS_API int trs_lu_get_info(const trs_lu *lu, trs_lu_info *info);

/* The same without creating plans (trs_lu_solve): if there are none yet, l and u are NULL, nnz_l
 * and nnz_u are the entries that whoever computed L and U has counted, and refines is 0.
 *     const trs_lu *lu ; in.
 *     trs_lu_info *info ; out.  As in trs_lu_get_info.
 * Returns TRS_OK, TRS_EARG.
 * Since 0.10.0. */
TRS_API int trs_lu_peek_info(const trs_lu *lu, trs_lu_info *info);

/* Free factors and their plans.
 *     trs_lu *lu ; in.  NULL: does nothing. */
TRS_API void trs_lu_destroy(trs_lu *lu);

/* Internal functions that libtrisolve-suitesparse calls in this library.  Not for programs: they
 * differ in every version. */
TRS_API const struct trs_core *trs_core(void);

/* ---- batches of factors ------------------------------------------------------------------ */

/* Factors of many matrices with one pattern, and what solves with them need. */
typedef struct trs_lu_batch trs_lu_batch;

typedef struct trs_lu_batch_options {
    /* the largest number of systems of a call, >= 1; 0: 1 */
    int64_t count;
    /* 1: trs_lu_batch_update keeps the factors of all systems; 0: solves factor anew */
    int keep;
    /* where values, B and X are: TRS_HOST or TRS_CUDA(k) */
    int device;
    /* threads that share the systems on the host, at most 1024; 0: the default of OpenMP */
    int threads;
    /* bytes that the batch may occupy where it solves; 0: no limit.  Fewer threads work, or fewer
     * systems are computed at a time, if this saves enough */
    int64_t memory_limit;
    /* the growth above which trs_lu_batch_status reports TRS_EGROWTH; 0: 1e6 */
    double growth_limit;
    /* allocator of host memory */
    trs_memory memory;
    /* allocator of device memory */
    trs_device_memory device_memory;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_lu_batch_options;

/* Create a batch for the pattern of A, with the pivots, the ordering and the row scaling of lu.
 *     trs_lu_batch **batch ; out.  NULL after an error.
 *     const trs_lu *lu ; in.  Factors of one representative system, from trs_factor, trs_ilu or
 *         trs_lu_import, with values that a solve accepts.  Not needed after this call.
 *     const trs_mat *A ; in.  That system: CSR or CSC, on the host or a device.  Its values do not
 *         matter.
 *     const trs_lu_batch_options *opt ; in.  NULL: all defaults.
 * Complete factors are computed on all fill that these pivots can cause, incomplete ones on the
 * pattern of lu.  L L^H is computed as L U with the same ordering.  If lu is L D L^H with blocks,
 * or trs_factor has chosen L D L^H, the representative system is factored again by L U on the
 * host.  All are in the type of A.
 *
 * The batch allocates all of its memory here (trs_lu_batch_info): later calls allocate nothing.
 * On the host a thread computes as many systems side by side as a vector has numbers, and stores
 * their factors: a vector for each entry of L and U.  A vector has 64 bytes if the numbers are real
 * and the processor has AVX-512, otherwise 32.  On a device a warp or a block has a system, in
 * shared memory if its factors fit there, and all systems share a schedule of 4 bytes for each
 * product then, and of 8 bytes else.
 * Returns TRS_OK, TRS_EARG, TRS_EMATRIX (A is not well formed), TRS_EDEVICE, or:
 *     TRS_ESTATE ; lu has no factors.
 *     TRS_EMEM ; out of memory, or more needed than memory_limit.
 *     TRS_ESUPPORT ; A is neither CSR nor CSC, lu was made with boost or sweeps, or on a device
 *         there are more than 2^30 products or 2^31 - 2 entries. */
TRS_API int trs_lu_batch_create(trs_lu_batch **batch, const trs_lu *lu, const trs_mat *A,
                                const trs_lu_batch_options *opt);

/* The systems of a call.  All arrays are where trs_lu_batch_options.device says. */
typedef struct trs_systems {
    /* number of systems, 0 <= count <= trs_lu_batch_options.count */
    int64_t count;
    /* values of the first system, as val of the A that the batch was created with; ignored if
     * val_of is given */
    const void *val;
    /* distance between the values of two systems, in numbers, >= 0; 0: all systems share them */
    int64_t val_stride;
    /* [count] the values of each system; NULL: val */
    const void **val_of;
    /* [count] bytes.  0: the system is left out, and its X and its factors stay as they are.  NULL:
     * none is */
    const void *mask;
    /* the same as val_stride, for B; 0: all systems share B */
    int64_t b_stride;
    /* the same for X */
    int64_t x_stride;
    /* 1: trs_lu_batch_solve uses the factors of the last trs_lu_batch_update; values are read only
     * for refinement.  0: it factors the values */
    int kept;
    /* steps of refinement that each solve takes, in the type of A, >= 0 */
    int steps;
    /* out [count] componentwise backward error of the X of each system, as trs_error.omega but
     * computed in the type of A, for complex numbers with |re| + |im|; the largest one of its
     * right-hand sides.  NULL: not wanted */
    double *omega;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_systems;

/* Factor all systems, and keep the factors:  (L U)(k, m) = scale(P(k)) A(P(k), Q(m)).
 *     trs_lu_batch *batch ; in, out.  With trs_lu_batch_options.keep.
 *     const trs_systems *systems ; in.  Uses count, values and mask.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses threads, or on a device the stream.
 * Each system has its own result, which trs_lu_batch_status reports: the call succeeds even if some
 * matrices have bad pivots.  The bits of a system do not depend on the others, nor on the number
 * of threads.  One call at a time may use a batch.
 *
 * On a device the function only enqueues work, and can be captured in a CUDA graph.  The next call
 * with the batch must be in the same stream, or wait for it.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE, or TRS_ESTATE (factors are not kept, or another thread is
 * in a call with the same batch). */
TRS_API int trs_lu_batch_update(trs_lu_batch *batch, const trs_systems *systems,
                                const trs_exec *exec);

/* Solve X = op(A)^-1 B for all systems.
 *     trs_lu_batch *batch ; in, out.
 *     trs_op op ; in.
 *     int nrhs ; in, >= 0.  Number of right-hand sides of each system.
 *     const trs_systems *systems ; in.
 *     const void *B ; in.  Of the first system, with ldb, as in trs_solve.
 *     void *X ; out.  Of the first system, with ldx, as in trs_solve.  It must not overlap B.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses threads, layout and stream.
 * Without systems->kept, the factors of a few systems at a time are computed, used while they are
 * in the cache, and forgotten; factors that were kept stay.  trs_lu_batch_status then reports about
 * these factors.  X of a system without factors, or with a bad pivot, becomes NaN.
 * Otherwise as trs_lu_batch_update.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE, or TRS_ESTATE (systems->kept, but factors are not kept; or
 * another thread is in a call with the same batch). */
TRS_API int trs_lu_batch_solve(trs_lu_batch *batch, trs_op op, int nrhs, const trs_systems *systems,
                               const void *B, int64_t ldb, void *X, int64_t ldx,
                               const trs_exec *exec);

/* Report what the last factorization of each system has found.  On a device it waits.  No other
 * call with the batch may be running.
 *     trs_lu_batch *batch ; in.
 *     int64_t *bad ; out.  Number of systems with a code other than TRS_OK and TRS_ESTATE.  NULL:
 *         not wanted.
 *     int *code ; out [trs_lu_batch_options.count], on the host.  For each system TRS_OK;
 *         TRS_EPIVOT: a pivot is zero, or so small that its inverse overflows, or a number of A
 *         or of the factors is not finite; TRS_EGROWTH: the factors have grown too much; or
 *         TRS_ESTATE: it was never factored.  NULL: not wanted.
 *     int64_t *row ; out [count].  The row of A with the first bad pivot, from 0; -1: none.  NULL:
 *         not wanted.
 *     double *growth ; out [count].  As in trs_lu_status.  NULL: not wanted.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE, or the code of the first system that is bad. */
TRS_API int trs_lu_batch_status(trs_lu_batch *batch, int64_t *bad, int *code, int64_t *row,
                                double *growth);

/* Solve the systems again that have bad pivots or grew, with pivots of their own.
 *     trs_lu_batch *batch ; in, out.
 *     trs_lu *lu ; in, out.  Factors of this pattern that trs_lu_update accepts, with plans on the
 *         host for A and op.  They become those of the last of these systems.
 *     const trs_mat *A ; in.  The matrix that the batch was created with, or one of its pattern,
 *         on the host.  Its values are not read.
 *     trs_op op ; in.     int nrhs ; in.
 *     const trs_systems *systems ; in.  As in the call of trs_lu_batch_solve, on the host or the
 *         device of the batch.  All values, also with systems->kept; steps and omega are not used.
 *     const void *B ; in.     void *X ; out.  As in that call, with ldb and ldx.
 *     const trs_exec *exec ; in.  NULL: all defaults.  Uses layout and threads.  On a device it
 *         waits.
 *     int64_t *repaired ; out.  The number of systems that were solved.  NULL: not wanted.
 * Systems whose code is TRS_OK are not touched.  Their number decides what the call costs: each
 * system is factored by itself.  A system that is singular keeps its code and its X.  A system that
 * was solved has the code TRS_OK until the next call that factors it; kept factors remain bad.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EDEVICE, TRS_ESUPPORT (A or lu is on a
 * device), or an error of trs_lu_update and trs_lu_solve other than TRS_EPIVOT and TRS_EMATRIX. */
TRS_API int trs_lu_batch_repair(trs_lu_batch *batch, trs_lu *lu, const trs_mat *A, trs_op op,
                                int nrhs, const trs_systems *systems, const void *B, int64_t ldb,
                                void *X, int64_t ldx, const trs_exec *exec, int64_t *repaired);

typedef struct trs_lu_batch_info {
    /* number of rows of A */
    int64_t n;
    /* entries of L + U - I of each system */
    int64_t nnz;
    /* multiplications of a factorization of one system */
    int64_t products;
    /* systems that are computed side by side */
    int64_t lanes;
    /* the most threads, or on a device the most systems, that work at the same time */
    int64_t workers;
    /* bytes on the host, and on the device */
    int64_t bytes_host;
    int64_t bytes_device;
    /* what computes the factors, a constant string */
    const char *kernel;
    /* reserved for new members; always zero */
    int64_t reserved[4];
} trs_lu_batch_info;

/* Report facts about a batch.
 *     const trs_lu_batch *batch ; in.
 *     trs_lu_batch_info *info ; out.
 * Returns TRS_OK or TRS_EARG. */
TRS_API int trs_lu_batch_get_info(const trs_lu_batch *batch, trs_lu_batch_info *info);

/* Free a batch.  No call with it may be running.
 *     trs_lu_batch *batch ; in.  NULL: does nothing. */
TRS_API void trs_lu_batch_destroy(trs_lu_batch *batch);

/* ---- Krylov methods ---------------------------------------------------------------------- */

/* Krylov methods solve op(A) x = b with products by A and, to need fewer of them, a preconditioner
 * M that is near A.  They converge if the residual does: ||b - op(A) x|| <= max(rtol ||b||, atol)
 * in the 2-norm. */
typedef enum trs_krylov_method {
    /* conjugate gradients: A and M are Hermitian positive definite */
    TRS_CG = 0,
    /* minimal residuals: A is Hermitian, possibly indefinite; M is Hermitian positive definite */
    TRS_MINRES = 1,
    /* stabilised bi-conjugate gradients, any A; two products in an iteration */
    TRS_BICGSTAB = 2,
    /* generalised minimal residuals with restarts, any A */
    TRS_GMRES = 3,
    /* flexible GMRES: M may differ from iteration to iteration, as an inner iteration does */
    TRS_FGMRES = 4,
} trs_krylov_method;

/* A linear map y = F x: the matrix of a Krylov method, or the inverse of its preconditioner.
 * Exactly one of mat, lu, plan and apply is set; of n rows, of the dtype of the vectors, and where
 * they are. */
typedef struct trs_map {
    /* y = op(mat) x, as trs_multiply_on */
    const trs_mat *mat;
    /* y = op(A)^-1 x, as trs_lu_solve */
    trs_lu *lu;
    /* y = op(T)^-1 x, as trs_solve */
    const trs_plan *plan;
    /* y = F x, by a function of the caller.  x [n] and y [n] do not overlap, and y is to be
     * overwritten.  On a device it enqueues its work on the stream, and waits for nothing if the
     * iteration is not to wait.  A result other than 0 ends the solve, which returns it. */
    int (*apply)(void *user, const void *x, void *y, void *stream);
    /* passed to apply */
    void *user;
    /* with lu: its work space, as in trs_exec; NULL: that of the factors */
    trs_lu_work *lu_work;
    /* with plan: its work space, as in trs_exec; NULL: that of the plan */
    trs_work *work;
    /* form of mat, lu and plan */
    trs_op op;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_map;

/* The vectors of a Krylov method.  They serve one solve at a time. */
typedef struct trs_krylov trs_krylov;

typedef struct trs_krylov_options {
    /* the method, TRS_CG by default */
    trs_krylov_method method;
    /* type of B and X */
    trs_dtype dtype;
    /* number of rows, as in trs_mat */
    int64_t n;
    /* where B and X are: TRS_HOST or TRS_CUDA(k) */
    int device;
    /* GMRES and FGMRES: iterations until x is formed and the vectors are dropped, at most 10,000;
     * 0: 30 */
    int restart;
    /* threads on the host, as in trs_exec.  x does not depend on it, unless products do
     * (trs_multiply) */
    int threads;
    /* allocator of host memory */
    trs_memory memory;
    /* allocator of device memory */
    trs_device_memory device_memory;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_krylov_options;

typedef struct trs_krylov_goal {
    /* converge to max(rtol ||b||, atol), >= 0; both 0: rtol = 1e-8 */
    double rtol;
    /* the same, absolute */
    double atol;
    /* iterations at most, >= 0; 0: 10 n */
    int64_t max_iterations;
    /* 1: X has an initial guess; 0: the methods begin with x = 0 */
    int guess;
    /* out [nrhs*(max_iterations+1)], on the host: the norms of the residuals of each column, as the
     * method computes them; that of the initial x first, trs_krylov_info.iterations + 1 in all.
     * NULL: not wanted.  It needs max_iterations. */
    double *history;
    /* called on the host with iteration 0 and the norm of the first residual, and then after each
     * iteration, or on a device after up to ten.  A result other than 0 cancels the solve:
     * TRS_ECANCELED.  CG, MINRES and BiCGSTAB then have the x of this iteration in X, where the
     * host iterates.  NULL: none */
    int (*monitor)(void *user, int column, int64_t iteration, double residual);
    /* passed to monitor */
    void *user;
    /* the cudaStream_t of all work on a device; NULL: the default stream */
    void *stream;
    /* must be zero; reserved for new members */
    int64_t reserved[4];
} trs_krylov_goal;

typedef struct trs_krylov_info {
    /* why the method stopped: TRS_STOP_CONVERGED, TRS_STOP_STEPS (max_iterations were done),
     * TRS_STOP_STAGNATED (iterations no longer reduce the residual), TRS_STOP_DIVERGED (numbers are
     * not finite) or TRS_STOP_BREAKDOWN.  TRS_STOP_NONE after an error, when residual is the last
     * one that was computed */
    trs_stop stop;
    /* one line for the last three, a constant string: what is zero, or not definite; else "" */
    const char *why;
    /* iterations that were done */
    int64_t iterations;
    /* ||b - op(A) x|| of the x in X.  With trs_map.mat the sums have more than working
     * precision, as in trs_backward_error. */
    double residual;
    /* ||b|| */
    double norm_b;
    /* products with A */
    int64_t products;
    /* applications of M^-1 */
    int64_t applications;
    /* wall clock time of this column */
    double seconds;
    /* time of the products; 0 on a device, which only enqueues them */
    double seconds_product;
    /* time of the applications; 0 on a device */
    double seconds_preconditioner;
    /* reserved for new members; always zero */
    int64_t reserved[4];
} trs_krylov_info;

/* Compute the memory that trs_krylov_create allocates.
 *     const trs_krylov_options *opt ; in.
 *     int64_t *host ; out.  Bytes.  NULL: not wanted.
 *     int64_t *device ; out.  Bytes.  NULL: not wanted.
 * The vectors are 4 of CG, 8 of MINRES, 6 of BiCGSTAB, restart + 2 of GMRES and 2 restart + 1 of
 * FGMRES.  On the host, residuals in long double take 64 n bytes more.
 * Returns TRS_OK or TRS_EARG. */
TRS_API int trs_krylov_bytes(const trs_krylov_options *opt, int64_t *host, int64_t *device);

/* Create the vectors of a Krylov method.
 *     trs_krylov **krylov ; out.  NULL after an error.
 *     const trs_krylov_options *opt ; in.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM or TRS_EDEVICE. */
TRS_API int trs_krylov_create(trs_krylov **krylov, const trs_krylov_options *opt);

/* Solve op(A) X = B, one column after the other.
 *     trs_krylov *krylov ; in, out.
 *     const trs_map *A ; in.  mat may be TRS_SELFADJOINT or general, and of any format.
 *     const trs_map *M ; in.  The inverse of the preconditioner, often lu of trs_ilu with the
 *         op of A.  GMRES and BiCGSTAB apply it from the right, so that the residual is that of
 *         A.  NULL: none.
 *     int nrhs ; in, >= 0.
 *     const void *B ; in.  By columns, with ldb as in trs_solve.
 *     void *X ; in, out.  By columns, with ldx.  It must not overlap B.
 *     const trs_krylov_goal *goal ; in.  NULL: all defaults.
 *     trs_krylov_info *info ; out [nrhs].  Of the columns that were begun.  NULL: not wanted.
 * If a method has converged by the residual that it updates, the function computes the true one.
 * If this has not followed, the method begins again with this x, unless that no longer helps.  A
 * column that does not converge is no error; info reports it, and X has the last x.
 *
 * The iteration allocates nothing, unless a plan of M grows (trs_options.solves), or its factors
 * get their plans in the first solve (trs_lu_solve).  Before it, a
 * solve allocates a copy of a BSR or TRS_SELFADJOINT matrix, for the true residual, and what
 * threads need for a product across the lines of A (trs_multiply).  On a device it allocates the
 * rows of such a matrix (trs_multiply_on).
 *
 * Sums are in a fixed order: the same input gives the same bits for any number of threads, if
 * products and M give them.  On a device scalars stay there, and the function waits about once in a
 * millisecond: after one to ten iterations, by the time that they take.  Of the last group some may
 * have been in vain; they change nothing, but info counts their products and applications.  It
 * cannot be captured in a CUDA graph.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX, TRS_EDEVICE, an error of trs_lu_solve or
 * trs_solve, a result of apply, or:
 *     TRS_ESTATE ; another solve uses krylov, or lu and plan are not ready.
 *     TRS_ECANCELED ; monitor has canceled the solve.
 * Sources: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 2003; Paige and Saunders,
 * SIAM J. Numer. Anal. 12 (1975); van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992); Giraud,
 * Langou, Rozloznik, van den Eshof, Numer. Math. 101 (2005). */
TRS_API int trs_krylov_solve(trs_krylov *krylov, const trs_map *A, const trs_map *M, int nrhs,
                             const void *B, int64_t ldb, void *X, int64_t ldx,
                             const trs_krylov_goal *goal, trs_krylov_info *info);

/* Free the vectors.  No solve with them may be running.
 *     trs_krylov *krylov ; in.  NULL: does nothing. */
TRS_API void trs_krylov_destroy(trs_krylov *krylov);

/* ---- Matrix Market ---------------------------------------------------------------------- */

/* Fields of a Matrix Market banner. */
typedef enum trs_field {
    /* real numbers */
    TRS_REAL = 0,
    /* complex numbers */
    TRS_COMPLEX = 1,
    /* integers */
    TRS_INTEGER = 2,
    /* no numbers, only places */
    TRS_PATTERN = 3,
} trs_field;

/* Symmetries of a Matrix Market banner. */
typedef enum trs_symmetry {
    /* none */
    TRS_GENERAL = 0,
    /* A = A' */
    TRS_SYMMETRIC = 1,
    /* A = -A' */
    TRS_SKEW = 2,
    /* A = A^H */
    TRS_HERMITIAN = 3,
} trs_symmetry;

typedef struct trs_mm_options {
    /* TRS_CSR (default), TRS_CSC or TRS_COO for coordinate files; array files always give
     * TRS_DENSE */
    trs_format format;
    /* 0 or 1: the first number in ptr and idx */
    int base;
    /* TRS_LOWER or TRS_UPPER: store only this triangle, including the diagonal; 0: all */
    unsigned kind;
    /* 1: a complex file is an error; 0: it gives TRS_C64 */
    int real_only;
    /* 1: duplicate entries are an error; 0: they are summed and counted */
    int refuse_duplicates;
    /* 0: the default of OpenMP */
    int threads;
    /* limit in bytes of the arrays, and of unpacked text; 0: three quarters of the machine's
     * memory */
    int64_t memory_limit;
    /* called with the fraction done, in [0, 1]; a non-zero result cancels the call, which returns
     * TRS_ECANCELED; NULL: none.  trs_set_progress does the same for all long calls */
    int (*progress)(void *user, double done);
    /* passed to progress */
    void *user;
    /* allocator of the arrays of the result; trs_mm_free uses it too */
    trs_memory memory;
    /* 1: use at most 1.3 times the memory of the result, besides the mapped file, instead of 2.4
     * times; somewhat slower.  No effect with a custom memory.alloc */
    int low_memory;
    /* 1: from a .tar.gz, read the right-hand side NAME/NAME_b.mtx or NAME/NAME_rhs.mtx instead of
     * the matrix; TRS_EFILE if there is none */
    int rhs;
    /* 1: read only the banner and the sizes: rows, cols, stored, field, symmetry.  nnz is 0 and
     * the arrays are NULL */
    int header;
    /* 1: the values of an integer file are exact: int64_t, or uint64_t if the field of the banner
     * is unsigned-integer.  A value or a sum that does not fit is TRS_EFORMAT, and mm->rounded is 1
     * or more.  0: they are double */
    int64_t integers;
    /* must be zero; reserved for new members */
    int64_t reserved[3];
} trs_mm_options;

/* The contents of a file.  The caller owns it and frees it with trs_mm_free. */
typedef struct trs_mm {
    /* number of rows */
    int64_t rows;
    /* number of columns */
    int64_t cols;
    /* number of data lines in the file */
    int64_t stored;
    /* number of entries after expanding symmetry and summing duplicates */
    int64_t nnz;
    /* number of entries that were added to another one in the same place */
    int64_t duplicates;
    /* TRS_CSR, TRS_CSC, TRS_COO or TRS_DENSE */
    trs_format format;
    /* TRS_F64, or TRS_C64 for complex and hermitian files; with trs_mm_options.integers TRS_I64 or
     * TRS_U64 for integer files */
    trs_dtype dtype;
    /* field of the banner */
    trs_field field;
    /* symmetry of the banner */
    trs_symmetry symmetry;
    /* 0 or 1: the first number in ptr and idx */
    int base;
    /* CSR [rows+1]: start of each row; CSC [cols+1]: start of each column; COO, DENSE: NULL */
    int64_t *ptr;
    /* [nnz] CSR, COO: columns; CSC: rows; ascending within a row (CSC: column); DENSE: NULL */
    int32_t *idx;
    /* COO [nnz]: rows, sorted by row, then by column; else NULL */
    int32_t *row;
    /* [nnz]; DENSE [rows*cols], column-major; pattern files: how often the entry was given */
    void *val;
    /* allocator of the arrays */
    trs_memory memory;
    /* number of integers beyond 2^53 that are not a double and were rounded to one; with
     * trs_mm_options.integers, that do not fit 64 bits */
    int64_t rounded;
    /* bytes of unpacked text after the sizes */
    int64_t bytes;
    /* wall clock time of parsing the text into entries */
    double seconds_parse;
    /* wall clock time of building the arrays from the entries */
    double seconds_build;
    /* number of the line with the sizes, for messages about them; 0: not reached */
    int64_t size_line;
    /* kind of problem, from a comment in files of the SuiteSparse collection ("% kind: structural
     * problem"); "": none */
    char problem[64];
    /* reserved for new members; always zero */
    int64_t reserved[4];
} trs_mm;

/* Read a Matrix Market file: .mtx, also packed by gzip, xz or zstd, or inside a .tar.gz of the
 * SuiteSparse collection.  Packed files need a build with libarchive.  The content, not the name,
 * determines how a file is packed.
 *     const char *file ; in.  "-": standard input.
 *     const trs_mm_options *opt ; in.  NULL: all defaults.
 *     trs_mm *mm ; out.  Always set.  The caller frees it with trs_mm_free, also after an error.
 * Messages begin with "file:line: ".
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EFORMAT, TRS_EMEM, or TRS_ESUPPORT (the file is
 * packed, and this build or this machine has no libarchive).
 * Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR 5935. */
TRS_API int trs_mm_read(const char *file, const trs_mm_options *opt, trs_mm *mm);

/* Free the arrays and clear mm.
 *     trs_mm *mm ; in, out.  From trs_mm_read, also if freed before.  NULL: does nothing. */
TRS_API void trs_mm_free(trs_mm *mm);

/* Return the same arrays as a trs_mat.
 *     const trs_mm *mm ; in.  Square, not COO.
 *     unsigned kind ; in.  Bits of trs_mat.kind; 0: general.
 *     trs_mat *mat ; out.  Its arrays belong to mm.
 * With trs_mm_options.kind = TRS_LOWER, only one triangle of a symmetric or Hermitian file is
 * stored.  kind = TRS_LOWER | TRS_SELFADJOINT then represents the whole matrix.  A skew-symmetric
 * or complex symmetric file is refused.
 * Returns TRS_OK or TRS_EARG. */
TRS_API int trs_mm_mat(const trs_mm *mm, unsigned kind, trs_mat *mat);

/* Read the text of a file, unpacked as in trs_mm_read, in parts of whole lines.  This is for
 * readers of other formats, such as the reader of Rutherford-Boeing and Harwell-Boeing files in
 * libtrisolve-suitesparse.
 *     const char *file ; in.
 *     const char *member ; in.  From an archive, the file NAME/NAME<member> is read, otherwise
 *         the first file whose name ends with member.  NULL: ".mtx".
 *     int64_t limit ; in.  Bytes of unpacked text.  0: three quarters of the machine's memory.
 *     int (*put)(void *user, const char *text, int64_t bytes) ; in.  Called with every part.  A
 *         non-zero result stops the reader.
 *     void *user ; in.  Passed to put.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EMEM, or TRS_ESUPPORT (the file is packed, and this
 * build or this machine has no libarchive). */
TRS_API int trs_unpack(const char *file, const char *member, int64_t limit,
                       int (*put)(void *user, const char *text, int64_t bytes), void *user);

/* Write a matrix as a Matrix Market file: CSR or CSC as coordinates, DENSE as an array.  Each
 * number has the fewest digits that read back to the same number.
 *     const char *file ; in.  The text goes to a temporary file in the same folder, which is
 *         renamed when complete.
 *     const trs_mat *A ; in.  n and kind are ignored, so that A may be rectangular.  CSR has
 *         rows+1 pointers, CSC cols+1.
 *     int64_t rows ; in.
 *     int64_t cols ; in.
 *     trs_symmetry symmetry ; in.  TRS_GENERAL: all entries are written.  Otherwise only the
 *         lower triangle is written, and the caller guarantees the symmetry.
 *     const char *comment ; in.  Its lines become % lines.  NULL: none.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE or TRS_EMEM. */
TRS_API int trs_mm_write(const char *file, const trs_mat *A, int64_t rows, int64_t cols,
                         trs_symmetry symmetry, const char *comment);

#ifdef __cplusplus
}
#endif
#endif
