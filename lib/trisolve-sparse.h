/* trisolve-sparse.h: solve with sparse triangular matrices on CPUs and NVIDIA GPUs.
 *
 *     trs_plan *plan;
 *     int rc = trs_plan_create(&plan, &L, NULL);          checks L, knows the bytes it will need
 *     if (!rc) rc = trs_plan_analyse(plan);               levels, choice of a solver, storage
 *     if (!rc) rc = trs_solve(plan, TRS_N, 1, b, n, x, n, NULL);    L x = b, as often as wanted
 *     if (rc) fprintf(stderr, "%s\n", trs_message());
 *     trs_plan_destroy(plan);
 *
 * Conventions.  Every function that can fail returns a trs_status: TRS_OK (0) or a negative code.
 * "X [n] ; in" means: n elements, read only; "out" means written; "NULL: ..." says what NULL does,
 * and where nothing is said NULL is refused with TRS_EARG.  Zero in any member of an options
 * structure means the default, and its `reserved` must be zero: a program that sets a member which this library does not
 * know yet is refused with TRS_EARG.  Handles are opaque; trs_..._destroy (NULL) does nothing.
 * Source of the level scheduling: Chen, Hu, Gou, "GPU-accelerated sparse triangular solver"
 * (doc/design.md says which solver comes from which document). */
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

/* The version of this header; trs_version() gives that of the library that runs. */
#define TRS_VERSION       "0.1.0"
#define TRS_VERSION_MAJOR 0
#define TRS_VERSION_MINOR 1
#define TRS_VERSION_PATCH 0

/* ---- status codes ---------------------------------------------------------------------- */

typedef enum trs_status {
    TRS_OK = 0,
    TRS_EARG = -1,     /* an argument is NULL, out of range, or contradicts another */
    TRS_ESTATE = -2,   /* called out of order: solve before analyse, ... */
    TRS_EMEM = -3,     /* out of memory, or over the limit that was set */
    TRS_ESUPPORT = -4, /* this solver, or this build, cannot do that */
    TRS_EMATRIX = -5, /* not a well-formed matrix: range, order of pointers, duplicates, triangle */
    TRS_EPIVOT = -6,  /* a diagonal entry is missing, zero, or not finite */
    TRS_EFILE = -7,   /* a file cannot be opened, read, or written */
    TRS_EFORMAT =
        -8, /* what a file holds is not what it should be: Matrix Market, a saved plan, ... */
    TRS_EDEVICE = -9,   /* no usable GPU, or CUDA reported an error */
    TRS_ELIBRARY = -10, /* a library that does part of the work failed */
    TRS_EGROWTH =
        -11, /* new values do not suit the pivots of the factors: rounding errors grew too much */
} trs_status;

/* ---- types of numbers and arrays ------------------------------------------------------- */

typedef enum trs_dtype { TRS_F64 = 0, TRS_F32 = 1, TRS_C64 = 2, TRS_C32 = 3 } trs_dtype;
/* F64 double, F32 float, C64 pairs of double (re, im), C32 pairs of float */

typedef enum trs_format {
    TRS_CSR = 0,
    TRS_CSC = 1,
    TRS_DENSE = 2,
    TRS_COO = 3, /* of trs_mm_read only */
    TRS_BSR = 4  /* CSR of square blocks; not of trs_factor and Matrix Market files */
} trs_format;

typedef enum trs_op {
    TRS_N = 0,
    TRS_T = 1,
    TRS_H = 2
} trs_op; /* T, its transpose, its conjugate transpose */

typedef enum trs_layout { TRS_COL_MAJOR = 0, TRS_ROW_MAJOR = 1 } trs_layout;
/* of B and X, and of the numbers within a block of TRS_BSR */

/* bits of trs_mat.kind; functions that take a general matrix take 0, or TRS_SELFADJOINT and a triangle */
enum {
    TRS_LOWER = 1, /* the lower triangle is the matrix */
    TRS_UPPER = 2, /* the upper triangle is the matrix */
    TRS_UNIT = 4,  /* the diagonal is 1; stored diagonal entries are ignored */
    TRS_STRICT =
        8, /* an entry in the other triangle is an error (otherwise it is ignored); DENSE: one
                       that is not zero */
    TRS_PERMUTED = 16, /* alone: a triangle after permutations of its rows and columns, which
                       trs_plan_create finds; every entry counts (DENSE: that is not zero); not BSR */
    TRS_SELFADJOINT =
        32, /* with TRS_LOWER or TRS_UPPER, and not of plans: the matrix is the Hermitian (of
                       real numbers: symmetric) one that has this triangle.  What is stored beyond it
                       is ignored, and so is the imaginary part of the diagonal */
};

/* where arrays live: trs_mat.device, trs_options.device */
#define TRS_HOST    0         /* host memory; any value <= 0 means this */
#define TRS_CUDA(k) ((k) + 1) /* memory of CUDA device k */

/* ---- messages and version -------------------------------------------------------------- */

/* Say what went wrong in a sentence: "row 4: diagonal is zero".  It is that of the calling thread's last call
 * that failed; the next call of that thread that succeeds clears it.  Functions that return no code, and those
 * that only tell facts (trs_message, trs_strerror, trs_version, trs_plan_info, trs_lu_get_info), leave it as
 * it is when they succeed.
 * Returns a string that belongs to the thread and changes with its next call; "" when there is none; never
 * NULL. */
TRS_API const char *trs_message(void);

/* Put a code into a sentence.     int status ; in, any number.
 * Returns a constant, never NULL: "unknown status" for what is no code. */
TRS_API const char *trs_strerror(int status);

/* Returns the version that the program runs with, a constant; TRS_VERSION is the one that it was compiled with. */
TRS_API const char *trs_version(void);

/* ---- matrices -------------------------------------------------------------------------- */

/* A square matrix in arrays that the caller owns.  It is read during trs_plan_create,
 * trs_plan_update and trs_factor only, and may be freed or changed after each.  Arrays on a device must
 * be complete by trs_plan_create.  A CSR, CSC or BSR there is imported there, for all ops, and analysed there as
 * far as the solver that is chosen can do so; fastest is one that is canonical (in each row, or column, the indices
 * ascend, with the diagonal and nothing of the other triangle) and whose transpose is not asked for.  Copied to the host
 * are a DENSE one, one that is TRS_PERMUTED, and any with TRS_PIVOT_SKIP, TRS_ORDER_LEVEL, measure or memory_limit.
 * What is stored is an entry, zeros too: everything in CSR and CSC, all numbers of a block of BSR, all of a DENSE
 * triangle.  Since 0 NaN is NaN, x may show which zeros are stored (trs_solve). */
typedef struct trs_mat {
    int64_t n;         /* rows and columns, 0 <= n <= 2^31 - 2; BSR: a multiple of block */
    int64_t nnz;       /* stored entries; BSR: stored blocks; DENSE: ignored */
    const void *ptr;   /* CSR, CSC [n+1]: start of each row / column; BSR [n/block+1]: of each row
                          of blocks; DENSE: NULL */
    const void *idx;   /* CSR, CSC, BSR [nnz]: column / row / column of blocks of each entry, in any
                          order, none twice; DENSE: NULL */
    const void *val;   /* CSR, CSC [nnz]; BSR [nnz*block*block]; DENSE [ld*n] column-major */
    int64_t ld;        /* DENSE: rows from one column to the next, >= n; else ignored */
    int ptr_bits;      /* 32 or 64; 0: 64 */
    int idx_bits;      /* 32 or 64; 0: 32 */
    int base;          /* 0 or 1: the first row and column (BSR: of blocks too) are called 0 or 1 */
    trs_dtype dtype;   /* of val */
    trs_format format; /* TRS_CSR, TRS_CSC, TRS_DENSE or TRS_BSR */
    unsigned kind;     /* TRS_LOWER or TRS_UPPER, with TRS_UNIT and TRS_STRICT as wanted; or
                          TRS_PERMUTED; or, of general matrices, 0 or TRS_SELFADJOINT with a triangle */
    int device;        /* TRS_HOST or TRS_CUDA(k): where ptr, idx and val live */
    int block; /* BSR: rows of a block, >= 1; else ignored.  All numbers of a stored block are
                          entries, zeros too; of blocks on the diagonal the triangle counts, and
                          TRS_STRICT looks at blocks. */
    trs_layout
        block_layout; /* BSR: the numbers of a block by columns, or by rows; as cuSPARSE's order */
    int64_t reserved[4]; /* zeros: room for new members */
} trs_mat;

/* ---- solvers ---------------------------------------------------------------------------- */

/* What a solver promises about the error of its x:
 * SUBSTITUTION: omega <= 4 (longest row + 1) eps, omega = max |b - T x|_i / (|T| |x| + |b|)_i
 * INVERTING:    |b - T x| <= c n eps growth |T| |x| in the norm (inverted diagonal blocks, rewritten
 *                levels, dense BLAS) */
typedef enum trs_accuracy { TRS_SUBSTITUTION = 0, TRS_INVERTING = 1 } trs_accuracy;

enum {                        /* bits of trs_solver_info.caps */
       TRS_CAP_BITWISE = 1,   /* the same input gives the same bits, run after run */
       TRS_CAP_ROW_MAJOR = 2, /* several right-hand sides may be stored by rows */
       TRS_CAP_CAPTURE = 8,   /* solve only enqueues work: it can be captured in a CUDA graph */
       TRS_CAP_PIVOTS = 16,   /* exchanges rows: for general matrices without zero-pivot trouble */
};

typedef struct trs_solver_info {
    const char *name;  /* "cpu-serial": what trs_options.solver takes */
    const char *about; /* one line */
    const char *needs; /* "cpu", or "cuda": the library has it only when built with CUDA */
    unsigned caps;     /* TRS_CAP_... */
    trs_accuracy accuracy;
    int available;       /* 1: can run here; 0: see why */
    char why[200];       /* why not: "no CUDA driver", ...; "" when available */
    int general;         /* 1: solves general dense matrices; 0: triangles */
    int full;            /* 1: keeps the matrix full, zeros and all */
    int64_t reserved[4]; /* nothing: room for new members */
} trs_solver_info;

/* Describe solver number k = 0, 1, ... of this build.
 *     int k ; in.     trs_solver_info *info ; out; its strings are constants but for why.
 * Looks whether it can run here, which opens the libraries that it calls.
 * Returns TRS_OK, TRS_EARG (past the last; info NULL). */
TRS_API int trs_solver_get(int k, trs_solver_info *info);

/* ---- plans ------------------------------------------------------------------------------ */

typedef struct trs_plan trs_plan; /* one triangle, analysed; const and shareable while solving */
typedef struct trs_work trs_work; /* what changes during a solve; one solve in flight at a time */
typedef struct trs_lu_work trs_lu_work; /* the same of a solve with the factors of a matrix */

typedef enum trs_order {
    TRS_ORDER_AUTO = 0,    /* what the solver prefers */
    TRS_ORDER_NATURAL = 1, /* rows stay in the caller's order (upper triangles: reversed) */
    TRS_ORDER_LEVEL = 2,   /* rows of a level lie together; costs two passes over x a solve */
} trs_order;

/* What to do about a pivot that is zero, missing or not finite. */
typedef enum trs_pivot {
    TRS_PIVOT_FAIL = 0, /* analyse and update return TRS_EPIVOT, solve TRS_ESTATE */
    TRS_PIVOT_SKIP = 1, /* row and column are left out: x(row) = 0 whatever b(row) is, and the other
                              rows solve the triangle without them, also where a NaN or Inf is
                              stored there, or in an x that the row would depend on */
    TRS_PIVOT_REPLACE = 2, /* trs_options.pivot_value stands in its place */
} trs_pivot;

typedef struct trs_memory { /* the plan's host memory; all NULL: malloc and free */
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *p); /* p may be NULL */
    void *user;
} trs_memory;

/* The plan's memory on a device; all NULL: cudaMalloc and cudaFree.  Buffers that vendors' libraries
 * allocate themselves, and the textures of gauss-texture, do not come from here. */
typedef struct trs_device_memory {
    void *(*alloc)(void *user, int device, size_t bytes); /* device = TRS_CUDA(k); aligned to 256 */
    void (*free)(void *user, int device, void *p);
    void *user;
} trs_device_memory;

typedef struct trs_options {
    const char *solver; /* name of a solver; NULL: by wisdom, else by the cost model.  Not kept. */
    int device;         /* where B and X will live: TRS_HOST or TRS_CUDA(k) */
    unsigned ops;       /* ops that will be solved, bits 1 << TRS_N | ...; 0: TRS_N alone.  Each of
                             {N} and {T, H} has storage and analysis of its own. */
    int nrhs;          /* right-hand sides usually solved at once, >= 0; 0: 1.  Any number works. */
    trs_layout layout; /* of B and X, as trs_exec.layout will have it */
    int threads;       /* for CPU solvers, at most 1024; 0: what OpenMP says */
    /* bytes the plan may keep on the host, or on the device (the analysis takes about as much again
     * for a while); 0: 8 GiB for solvers that store the triangle as a full matrix, no limit for
     * others */
    int64_t memory_limit;
    trs_order order;
    trs_memory memory;
    int bitwise;     /* 1: only solvers with TRS_CAP_BITWISE, chosen or named */
    trs_pivot pivot; /* of triangles; general matrices: TRS_PIVOT_FAIL only */
    trs_device_memory device_memory;
    double pivot_value; /* REPLACE: finite and not zero, also in single precision; else ignored */
    int measure; /* 1, and no solver named: analyse solves with the few solvers that are predicted to be
                    cheapest and keeps the fastest; it takes some times as long and, for the while,
                    the memory of a second plan, and the bits of x are those of whichever it is.
                    What was found is kept as wisdom, and where there is wisdom already nothing is
                    measured.  General matrices: no difference. */
    /* >= 0: solves from one update of the values to the next.  The solver is chosen for which a solve and its share of
     * an update are predicted to take the least.  0: so many that updates do not count; of the plans of factors on a
     * device 1 for trs_factor, and 50 for trs_ilu, as a preconditioner has.  Triangles only. */
    int solves_per_update;
    int64_t reserved[8]; /* zeros: room for new members */
} trs_options;

typedef struct trs_exec {
    void *stream;      /* cudaStream_t to solve or update on; NULL: the default stream */
    trs_work *work;    /* NULL: the plan's own, and then the plan must not be shared */
    int threads;       /* for CPU solvers, at most 1024; 0: the plan's */
    trs_layout layout; /* of B and X */
    /* of trs_lu_solve and trs_lu_refine alone; NULL: the lu's own, and then the lu must not be shared */
    trs_lu_work *lu_work;
    int64_t reserved[4]; /* zeros: room for new members */
} trs_exec;

typedef struct trs_info {
    int64_t n, nnz;     /* of the triangle, diagonal included (also a unit one).  TRS_PIVOT_SKIP: of
                           what is solved, here and below: a row left out has its diagonal alone */
    int64_t levels;     /* rows on the longest dependent path; 0 when n = 0 */
    int64_t widest;     /* rows in the largest level */
    int64_t longest;    /* entries in the longest row, diagonal included */
    const char *solver; /* chosen or named; NULL before analyse.  Lives as long as the plan. */
    const char *reason; /* one line: the shape, then what was known, predicted or measured of which
                           solvers; "" before analyse.  Lives as long as the plan. */
    double
        predicted; /* seconds a solve by the cost model, with the share of an update of its values that
                           trs_options.solves_per_update says */
    const char *costs; /* where the numbers of the cost model are from: the name of a file, or words
                           that begin with "built in"; then, where the file in the user's cache does
                           not count, "; ignored" and why.  "" before analyse.  Likewise. */
    int64_t bytes_host; /* the plan's storage; before analyse what it will take at most, if the
                           solver was named, or without what the solver takes */
    int64_t bytes_device;
    int64_t bytes_work; /* more, for each work space of trs_options.nrhs right-hand sides, where the
                           solver runs; not counted are buffers of vendors' libraries, those in
                           which dense-blocked and cuda-supernodal publish X, and what
                           cuda-segments and its two solvers take */
    double seconds_create; /* wall clock: checking and converting */
    double seconds_levels; /* the level analysis alone */
    const char *analysis; /* how it was done: "topological sort by in-degree (CSC)" when cuda-naive,
                               cuda-single-block, cuda-multiblock or cpu-level was named, else
                               "one sweep over the rows" or "rows on the device", also when one of
                               these four was chosen after it; "from a saved plan"; "" before
                               analyse, and of general matrices.  The levels are the same each
                               time.  A constant. */
    double seconds_vendor;  /* a vendor library's own analysis; 0: there is none */
    double seconds_analyse; /* all of trs_plan_analyse, levels and vendor included */
    int on_gpu;             /* 1: the solver runs on a GPU */
    double seconds_factor;  /* general matrices: making L and U of values that are there already, in
                               the last update; 0: the solver keeps no factors */
    double growth;    /* largest of U / largest of A, or what rewritten levels may lose; else 0 */
    int64_t analyses; /* 1 after analyse or load, and one more for each update that left out other
                         rows (TRS_PIVOT_SKIP); 0 before */
    int64_t reserved[4]; /* nothing: room for new members */
} trs_info;

/* Check a triangle and take a copy of it.
 *     trs_plan **plan ; out: NULL after an error.
 *     const trs_mat *mat ; in.  kind must have exactly one of TRS_LOWER, TRS_UPPER, TRS_PERMUTED; a DENSE
 *         matrix may have none: it is general, and is solved by LU or by Gaussian elimination.
 *     const trs_options *opt ; in, NULL: all defaults.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX (not well-formed; TRS_PERMUTED: no triangle after
 * permutations, the sentence names a row on a cycle, or rows and columns that make it singular), TRS_ESUPPORT
 * (no solver of that name, not in this build, or it does not do what the options ask for), TRS_EDEVICE (opt->device or
 * mat->device is no usable GPU: the driver's reason is said).  Rows and columns in sentences count from mat->base. */
TRS_API int trs_plan_create(trs_plan **plan, const trs_mat *mat, const trs_options *opt);

/* Levels, choice of solver, storage, and the first values.  Once per plan.
 * Where no solver is named, the first of these decides, and trs_info.reason and trs_info.costs say which it was:
 *     1. wisdom about this pattern (trs_wisdom_import)
 *     2. predictions, by the costs in the file that the environment variable TRISOLVE_MACHINE names
 *     3. predictions, by the costs that `trisolve-bench --calibrate --save` has put into the user's cache with this GPU
 *     4. predictions, by the costs of this CPU that a program has measured there in its first run on it
 *     5. predictions, by the costs that are built in
 * TRISOLVE_MACHINE set to nothing leaves out 3 and 4.
 * On a CPU the one or two solvers that are predicted to be the fastest are tried: they and cpu-serial solve with zeros
 * until their times get no shorter, three times at least and for some milliseconds at most where a solve takes less
 * (with trs_options.nrhs right-hand sides, for N and for T), and the fastest one stays; not where the triangle is tiny.
 * With trs_options.bitwise only solvers with the bits of cpu-serial are tried, so that times never decide about bits.  A
 * solver that is named spares the time.
 * Returns TRS_OK, TRS_ESTATE, TRS_EMEM, TRS_ESUPPORT, TRS_EDEVICE, TRS_ELIBRARY, TRS_EFILE or
 * TRS_EFORMAT (a file that a variable names cannot be read, or is none: file and line are said), or TRS_EPIVOT: a
 * pivot is zero, missing or not finite (trs_plan_pivots says which); all else is then ready, and a
 * trs_plan_update with good values makes the plan solvable. */
TRS_API int trs_plan_analyse(trs_plan *plan);

/* Keep the analysis in a file: levels, permutation, choice of the solver; no values.
 *     trs_plan *plan ; analysed, not of a general matrix.  Nothing in it changes.
 *     const char *file ; in.  It appears complete or not at all; "-": standard output.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EFILE, TRS_ESUPPORT (a general matrix, or
 * built without xxhash). */
TRS_API int trs_plan_save(trs_plan *plan, const char *file);

/* In the place of trs_plan_analyse: take the analysis from a file, and the values from the matrix that
 * the plan was created with.  That matrix must have the pattern (entries in the same places of the same
 * arrays, format, triangle), the dtype and the ops of the one that was saved.
 *     trs_plan *plan ; fresh from trs_plan_create.     const char *file ; in: an ordinary file.
 * Returns as trs_plan_analyse, and TRS_EFILE (cannot be opened or read), TRS_EFORMAT (no saved plan,
 * cut off, or damaged: checksums tell), TRS_EMATRIX (another pattern or dtype), TRS_EARG (other ops,
 * order or solver than the plan's options say), TRS_ESUPPORT (another version or order of bytes, a
 * solver that is not in this build or that the options exclude; built without xxhash).  A row that
 * TRS_PIVOT_SKIP leaves out belongs to another pattern.  After these and
 * after TRS_EARG, TRS_ESTATE the plan is as before, and can still be analysed. */
TRS_API int trs_plan_load(trs_plan *plan, const char *file);

/* Take new values for the same pattern, in O(nnz) and without an analysis.  No solve on this plan may be running.
 * With val on the plan's device, CUDA solvers take them from there, on exec->stream; with TRS_PIVOT_SKIP they pass the host.
 * Returns when the values are in place.  On a device it waits up to three times: for the count of bad pivots, for the growth
 * where levels are rewritten (cuda-merged, alone or in cuda-segments), and for the end.
 * Where bad pivots stand in other rows than before, TRS_PIVOT_SKIP takes an analysis, after which the solver is the
 * same, trs_info.analyses has grown, work spaces but the plan's own have to be fitted again (trs_work_fit), what was
 * captured in a CUDA graph must not be replayed, and arrays of trs_plan_levels are gone.
 *     const trs_mat *mat ; in.  Same n, nnz, dtype, format, block, ptr and idx as at create; only val is
 *         read, so ptr and idx may be NULL.
 *     const trs_exec *exec ; in, NULL: all defaults.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EPIVOT, TRS_EMEM, TRS_EDEVICE, TRS_EMATRIX (TRS_PERMUTED,
 * DENSE: a number that was zero at create is not), and after an analysis what
 * trs_plan_analyse returns.  After an error trs_solve answers TRS_ESTATE until an update succeeds: a solve with
 * stale values is impossible. */
TRS_API int trs_plan_update(trs_plan *plan, const trs_mat *mat, const trs_exec *exec);

/* Count the pivots that the last analyse or update found to be zero, missing or not finite, whatever was done
 * about them.
 *     int64_t *count ; out, NULL allowed.     int64_t *first ; out, NULL allowed: the first such row,
 *     counted from mat->base; -1 when count = 0.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (before analyse). */
TRS_API int trs_plan_pivots(const trs_plan *plan, int64_t *count, int64_t *first);

/* det = (re + i im) mantissa 2^exponent: no determinant overflows or underflows in this form. */
typedef struct trs_det {
    double re, im;    /* sign or phase, det / |det|: of modulus 1; of a real matrix im = 0 */
    double mantissa;  /* 1 <= mantissa < 2 */
    int64_t exponent; /* of 2 */
} trs_det;            /* det = 0: all four are 0.  n = 0: det = 1. */

/* Compute the determinant of the matrix that the plan solves with, in O(n): the product of the diagonal of a triangle,
 * with the signs of P and Q where they were permuted; of a general matrix that of the pivots of its LU, with the sign of the
 * row exchanges.
 *     const trs_plan *plan ; after analyse or update has returned TRS_OK or TRS_EPIVOT: a singular matrix has
 *         the determinant 0.  Rows that TRS_PIVOT_SKIP leaves out are left out here too, and
 *         pivots that TRS_PIVOT_REPLACE replaces count as replaced.
 *     trs_det *det ; out: 0 after an error.
 * The error is that of the factors and n eps more: it says little of how near A is to a singular matrix,
 * which trs_condest does.  Allocates n numbers; copies them from the device, and waits, where the values are there.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (no values), TRS_EPIVOT (a pivot is not finite, or LU broke down for
 * want of a row exchange), TRS_ESUPPORT (gauss-vec4 keeps no record of its row exchanges), TRS_EMEM, TRS_EDEVICE.
 * Source: LINPACK Users' Guide, 1979 (xGEDI); Higham, Accuracy and Stability, section 14.6. */
TRS_API int trs_plan_determinant(const trs_plan *plan, trs_det *det);

/* Tell facts about a plan, in any state; counts that are not known yet are 0.
 *     const trs_plan *plan ; in.     trs_info *info ; out; its strings belong to the plan.
 * Returns TRS_OK, TRS_EARG. */
TRS_API int trs_plan_info(const trs_plan *plan, trs_info *info);

/* Show the level sets of op = TRS_N in the caller's numbering minus base (0..n-1), after analyse; TRS_N must be
 * among trs_options.ops.  They are those of the triangle that is solved, in which a row that TRS_PIVOT_SKIP leaves
 * out depends on none.
 *     const int32_t **topo ; out [n]: rows level by level, ascending within one.
 *     const int32_t **lv_ptr ; out [levels+1]: where each level starts in topo.
 * Both belong to the plan; an update after which TRS_PIVOT_SKIP leaves out other rows makes new ones.  Of a matrix
 * that stayed on the device the first call brings topo over, and waits; not while a stream is captured.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (not analysed, TRS_N not announced, a general matrix), TRS_EMEM,
 * TRS_EDEVICE. */
TRS_API int trs_plan_levels(const trs_plan *plan, const int32_t **topo, const int32_t **lv_ptr);

/* Show the permutations of a plan for a matrix of kind TRS_PERMUTED, after create: T(k, m) = A(P(k), Q(m)) is a lower
 * triangle, so that A(P(k), Q(k)) are the pivots, in the order in which A x = b is solved.
 *     const int32_t **P, **Q ; out [n]: rows, columns, from 0.  They belong to the plan; NULL: the matrix is
 *         of another kind.
 * A x = b is T y = b(P), x(Q) = y; A' x = b is T' y = b(Q), x(P) = y.  With it trs_info tells of T, trs_plan_pivots
 * and trs_plan_levels of the rows of A, and TRS_PIVOT_SKIP leaves out row P(k) and column Q(k).
 * O(n + nnz).  Source: Gilbert, Moler, Schreiber, SIAM J. Matrix Anal. Appl. 13 (1992): MATLAB's backslash.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE. */
TRS_API int trs_plan_permutation(const trs_plan *plan, const int32_t **P, const int32_t **Q);

/* Free a plan; its work spaces must be destroyed before, and no solve be running.
 *     trs_plan *plan ; NULL allowed. */
TRS_API void trs_plan_destroy(trs_plan *plan);

/* ---- wisdom ------------------------------------------------------------------------------ */

/* Wisdom is what plans with trs_options.measure have found: for the pattern of a triangle, which solver was the fastest,
 * and how long it took.  It belongs to the process, and all plans without trs_options.solver go by it, as long as all
 * that the time depends on is the same: number type, ops, number of right-hand sides, layout, where B and X live, order,
 * bitwise, memory limit, solves_per_update, threads, GPU, processors, and the version of the library.  Values make no difference.  An entry
 * whose solver cannot be chosen, or is not in this build, is passed over.  With these functions a user measures once on
 * each machine.  They may be called by several threads at a time, also while plans are made.
 * Source: FFTW; Frigo, Johnson, Proceedings of the IEEE 93 (2005). */

/* Add the wisdom of a file; where the file and the process know the same triangle, that of the file counts.  The first
 * trs_plan_analyse does so with the file that the environment variable TRISOLVE_WISDOM names.
 *     const char *file ; in: as trs_wisdom_export writes it.
 * After an error the wisdom is as before; trs_message has the file, the line, and what is wrong with it.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EFILE (cannot be opened or read), TRS_EFORMAT (no wisdom, or a line
 * is wrong). */
TRS_API int trs_wisdom_import(const char *file);

/* Write all the wisdom of the process, a line of text an entry.
 *     const char *file ; in.  It is written under another name beside the old one, and takes its place when all of it is
 *         on the disk; "-": standard output.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EFILE. */
TRS_API int trs_wisdom_export(const char *file);

/* Forget the wisdom of the process.  Files stay, and that of TRISOLVE_WISDOM is not imported again. */
TRS_API void trs_wisdom_forget(void);

/* ---- work spaces and solves ------------------------------------------------------------ */

/* Make a work space for solves with at most max_nrhs right-hand sides at a time; more are done in turns.
 *     trs_work **work ; out: NULL after an error.     const trs_plan *plan ; in.
 *     int max_nrhs ; >= 1.
 * It belongs to the caller, needs the plan to live as long, and serves one solve at a time.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (before analyse), TRS_EMEM, TRS_EDEVICE, TRS_ELIBRARY. */
TRS_API int trs_work_create(trs_work **work, const trs_plan *plan, int max_nrhs);

/* Make a work space serve another plan too, or one that an update has analysed again, or more right-hand sides: plans
 * that are never solved with at the same time, such as L and U, can share one.  It grows to what the largest of them
 * needs.
 *     trs_work *work ; not in use.  A CUDA graph that was captured with it is no longer valid.
 *     const trs_plan *plan ; must live as long as the work space, and run on the same device or, as the
 *         first one did, on the CPU.
 * Returns as trs_work_create, and TRS_EARG for a plan that runs elsewhere.  After an error the work space
 * serves what it served before. */
TRS_API int trs_work_fit(trs_work *work, const trs_plan *plan, int max_nrhs);

/* Free a work space, with which no solve may be running.     trs_work *work ; NULL allowed. */
TRS_API void trs_work_destroy(trs_work *work);

/* Solve X = op(T)^-1 B.
 *     trs_op op ; must have been announced in trs_options.ops.
 *     int nrhs ; >= 0.
 *     const void *B ; in, dtype of the plan, where trs_options.device says.
 *         Column-major: [ldb*(nrhs-1)+n], ldb >= n.  Row-major: [ldb*(n-1)+nrhs], ldb >= nrhs.
 *     void *X ; out, likewise with ldx.  X may be B (then ldx = ldb); else they must not overlap.
 *     const trs_exec *exec ; in, NULL: all defaults.
 * While exec->stream is being captured, solvers without TRS_CAP_CAPTURE, and B and X on the host, are
 * refused with TRS_ESUPPORT; so are B and X by rows without TRS_CAP_ROW_MAJOR.  A captured solve follows updates:
 * replayed, it solves with the values that came last.  Only where trs_info.growth of cuda-merged, or of cuda-segments,
 * becomes 1, since values grow too much to rewrite levels, it has to be captured anew; X is NaN until then.
 * Allocates nothing.  With B and X on the device it only enqueues work on exec->stream; a CUDA
 * solver with B and X on the host copies them and waits.
 * A NaN or Inf in B reaches every x(i) that depends on it through stored entries, zeros too (trs_mat), and no other
 * x, unless the solver is TRS_INVERTING: these multiply whole blocks, or a matrix that is kept full, and with them zeros
 * that are not stored.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (also: exec->work was fitted before the last analysis), TRS_ESUPPORT,
 * TRS_EDEVICE, TRS_ELIBRARY. */
TRS_API int trs_solve(const trs_plan *plan, trs_op op, int nrhs, const void *B, int64_t ldb,
                      void *X, int64_t ldx, const trs_exec *exec);

/* ---- a batch of systems ------------------------------------------------------------------ */

/* Many triangles of one pattern, each with values of its own, and right-hand sides. */
typedef struct trs_batch {
    int64_t count;      /* systems, >= 0 */
    const void *val;    /* of the first: as val of the trs_mat that the plan was created with */
    int64_t val_stride; /* numbers from one system to the next; 0: all have the same values */
    int64_t b_stride;   /* the same of B and X; b_stride = 0: all have the same B */
    int64_t x_stride;
    int64_t reserved[4]; /* zeros: room for new members */
} trs_batch;

/* Solve X_k = op(T_k)^-1 B_k for all systems k, with the analysis of one plan.
 *     const trs_plan *plan ; of a triangle with this pattern, analysed, its values do not matter; not TRS_PERMUTED, not with
 *         TRS_PIVOT_SKIP or REPLACE.  Whichever its solver is, every system is solved by substitution.
 *     trs_op op ; announced.     const trs_batch *batch ; in: val where B and X live, by trs_options.device.
 *     int nrhs, B, ldb, X, ldx ; those of the first system, as in trs_solve.  X may be B, with the same strides; else they must not
 *         overlap, nor the X of two systems.
 *     const trs_exec *exec ; in, NULL: all defaults.  Threads (on the host, which share the systems), layout and stream.
 *     int64_t bad [2] ; out, NULL allowed: the first system with a pivot that is missing, zero or not finite, and the first such
 *         row of it, both from 0; -1, -1: there is none.  X of such a system is worth nothing, all others are solved.
 * The first call for op makes its rows, 12 bytes an entry, and waits.  After it nothing is allocated, and on a device, with bad =
 * NULL, it only enqueues work on exec->stream and can be captured in a CUDA graph; with bad it waits.  Several threads may share the
 * plan.  The same input gives the same bits.  A system costs 1 launch divided by their number on a device, no analysis and no memory.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (not analysed, op not announced, the first call while the stream is captured), TRS_EPIVOT
 * (bad says where; on a device only if it is not NULL), TRS_ESUPPORT, TRS_EMEM, TRS_EDEVICE. */
TRS_API int trs_solve_batch(const trs_plan *plan, trs_op op, const trs_batch *batch, int nrhs,
                            const void *B, int64_t ldb, void *X, int64_t ldx, const trs_exec *exec,
                            int64_t bad[2]);

/* ---- how good is x ---------------------------------------------------------------------- */

/* Why trs_refine and trs_lu_refine did no more steps; of several columns the last of these.
 * STAGNATED: in 50 steps neither omega nor the residual fell by a hundredth.
 * DIVERGED: the residual is 10^4 times the smallest before it, or X is not finite. */
typedef enum trs_stop {
    TRS_STOP_NONE = 0,      /* nothing was refined */
    TRS_STOP_CONVERGED = 1, /* omega is at most (longest row + 1) eps */
    TRS_STOP_STEPS = 2,     /* max_steps were done */
    TRS_STOP_STAGNATED = 3,
    TRS_STOP_DIVERGED = 4
} trs_stop;

typedef struct trs_error {
    double omega;    /* max over rows and columns of |B - op(A) X| / (|op(A)| |X| + |B| + safe); NaN
                        or Inf if any component is; safe: see trs_backward_error */
    double residual; /* largest |B - op(A) X| */
    /* max over columns of ||r|| / (||A|| (||x|| + safmin) + ||b|| + safmin), in the infinity norm */
    double normwise;
    int64_t row; /* row (from 0) and column of the worst omega; -1 when n or nrhs is 0 */
    int64_t col;
    trs_stop stop;       /* trs_refine, trs_lu_refine: why they stopped; else TRS_STOP_NONE */
    int64_t reserved[4]; /* nothing: room for new members */
} trs_error;

/* Compare op(A) X with B, accumulating in long double.  Columns are shared among the threads that OpenMP would take,
 * 8 at most, with 64 n bytes each; where memory is short, fewer.
 * With A on a device, B and X are there too.  Then sums have twice the working precision, and the range of double: an
 * error beyond it is NaN or Inf.  It runs in the order of the default stream, which what makes B and X must have
 * passed, and waits.  Memory on the device as for trs_multiply_on.
 * Numbers that underflow lose digits by no fault of the solver.  The safe minimum of row i,
 *     safe(i) = safmin (1 + sum_j (1 + |op(A)(i, j)|))   over its entries, safmin = DBL_MIN or FLT_MIN,
 * lets b(i), every x(j) and every product of the row count as at least safmin, so that the rounding
 * of a subnormal number is an error of eps, like that of any other.  (LAPACK's gerfs adds its safe minimum
 * to the numerator too, so that rows of 1e-301 have an error of 1e-6 however good x is.)
 *     const trs_mat *A ; in.  kind as for a plan, or 0: every entry counts, or TRS_SELFADJOINT with a triangle: then
 *         it is made whole on the host in each call, which takes twice its memory.  On a device TRS_STRICT says nothing.
 *     B, ldb, X, ldx, layout ; in, as in trs_solve.   trs_error *error ; out.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX, TRS_EDEVICE.
 * Source: Oettli and Prager 1964; Higham, Accuracy and Stability, section 7.1. */
TRS_API int trs_backward_error(const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                               const void *X, int64_t ldx, trs_layout layout, trs_error *error);

/* Refine X iteratively with a plan: X += op(T)^-1 (B - op(T) X), with residuals in long double, until
 * one of trs_stop.  What is left in X is the one of the smallest omega, which may be the one given.
 *     const trs_plan *plan ; in: of T, or of T rounded to single precision: then B and X are double,
 *         and gain in a few cheap solves what double precision gives, as long as the condition of T is
 *         well below 1e7.
 *     const trs_mat *T ; in: the matrix, with n and kind of the plan.  On the host wherever the plan solves; or on the device
 *         where the B and X of the plan live.
 *     trs_op op ; announced to the plan.     int nrhs, B, ldb, X, ldx ; as in trs_solve, where T is, of
 *         the dtype of T; X is in and out (zeros do as a start), and not B.
 *     const trs_exec *exec ; in, NULL: all defaults.  Work space, threads and layout are heeded.
 *     int max_steps ; >= 0.     int *steps ; out, NULL allowed: the most done for a column.
 *     trs_error *error ; out, NULL allowed: of the X returned.
 * A plan that left rows out or replaced pivots solves another matrix than T: nothing is gained then.
 * With T on a device residuals have twice the working precision, all work is in the order of exec->stream, and no vector
 * goes to the host; each step waits for its errors, so that it cannot be captured.
 * Allocates 96 n bytes or so, and for TRS_BSR a copy of T; on a device two or three vectors, and as trs_multiply_on.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EMATRIX (T is not well-formed), TRS_ESUPPORT
 * (T on a device where B and X of the plan are not), TRS_EDEVICE, or an error of trs_solve.
 * Source: Wilkinson 1963; Skeel 1980; Arioli, Demmel, Duff 1989. */
TRS_API int trs_refine(const trs_plan *plan, const trs_mat *T, trs_op op, int nrhs, const void *B,
                       int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int max_steps,
                       int *steps, trs_error *error);

typedef enum trs_norm {
    TRS_NORM_ONE = 0, /* largest column sum */
    TRS_NORM_INF = 1, /* largest row sum */
} trs_norm;

/* Estimate 1 / (|T| |T^-1|) by at most 11 solves, as LAPACK's trcon does: |T^-1| is bounded from below, and seldom
 * more than three times too small.
 *     const trs_plan *plan ; in: of T; TRS_N and TRS_H announced.  Its own work space is used.
 *     const trs_mat *T ; in: the matrix, on the host or on a device, with n, dtype and kind of the plan: its norm.
 *     trs_norm norm ; in which norm.
 *     double *rcond ; out: 1 for n = 0, 0 when a norm overflows, also after an error.
 * The vectors of the estimate are on the host, and those of a plan on a device go there and back in each solve.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_EMEM, TRS_EMATRIX, TRS_EDEVICE, or an error of trs_solve.
 * Source: Higham, ACM TOMS 14 (1988); Hager 1984. */
TRS_API int trs_condest(const trs_plan *plan, const trs_mat *T, trs_norm norm, double *rcond);

/* Multiply Y = op(A) X in the dtype of A, accumulating in long double, or on a device in twice the working precision.
 *     const trs_mat *A ; in, as in trs_backward_error.   X, ldx ; in, as B, ldb in trs_solve, where A is.
 *     void *Y ; out, likewise with ldy; it must not overlap X.   trs_layout layout ; of both.
 * Threads and memory as in trs_backward_error.  With A on a device it is trs_multiply_on with the default stream.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX, TRS_EDEVICE. */
TRS_API int trs_multiply(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx, void *Y,
                         int64_t ldy, trs_layout layout);

/* The same on a stream, for a program that multiplies often.
 *     const trs_mat *A ; in.  On a device the pattern is not looked at: ptr and idx must be in range.
 *     const trs_exec *exec ; in, NULL: all defaults.  Stream and layout are heeded.
 * With A on a device it only enqueues work, and can be captured in a CUDA graph, as long as the rows of op(A) are stored one
 * after the other: CSR and BSR with TRS_N, CSC with TRS_T and TRS_H, and DENSE.  For the others the entries are sorted in
 * each call, which takes some 32 bytes an entry of device memory, and waits.  The same input gives the same bits.
 * Returns as trs_multiply, and TRS_ESUPPORT (entries would have to be sorted, or a triangle made whole, and the stream is being
 * captured). */
TRS_API int trs_multiply_on(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx,
                            void *Y, int64_t ldy, const trs_exec *exec);

/* ---- assembly of a matrix ---------------------------------------------------------------- */

/* Codes that assemble a matrix, of finite elements for instance, have terms a(k) at (row(k), col(k)), of which many fall on
 * the same place.  Which go where is found once; then new terms are summed into the matrix in O(count). */
typedef struct trs_assembly trs_assembly;

typedef struct trs_terms {
    int64_t n;     /* rows and columns, 0 <= n <= 2^31 - 2 */
    int64_t count; /* terms */
    /* [count] where each term goes, in any order, on the host; a term whose row or column is negative is left out, as
     * boundary conditions may want it */
    const void *row, *col;
    int idx_bits; /* of row and col: 32 or 64; 0: 32 */
    int base;     /* 0 or 1: of row and col, and of the matrix */
    trs_dtype dtype;
    trs_format format; /* of the matrix: TRS_CSR or TRS_CSC */
    int device;        /* where the terms will be, and the matrix: TRS_HOST or TRS_CUDA(k) */
    trs_memory memory;
    trs_device_memory device_memory;
    int64_t reserved[4]; /* zeros: room for new members */
} trs_terms;

/* Find the places of terms: an entry for each place that has one, with the indices of a row (CSC: of a column) ascending.
 *     trs_assembly **assembly ; out: NULL after an error.     const trs_terms *terms ; in; its arrays are read here only.
 * Takes 8 bytes a term, and 12 more for the while, besides the matrix; one thread, O(n + count).
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX (an index is out of range: the sentence says which), TRS_EDEVICE. */
TRS_API int trs_assembly_create(trs_assembly **assembly, const trs_terms *terms);

/* Set each entry of the matrix to the sum of its terms, in their order, so that the bits are the same each time.
 *     trs_assembly *assembly ; whose matrix no one may be reading.
 *     const void *val ; in [count], of the dtype, where trs_terms.device says; terms that are left out are not read.
 *     const trs_exec *exec ; in, NULL: all defaults.  On the host its threads are heeded, on a device its stream,
 *         on which work is enqueued only, so that it can be captured in a CUDA graph.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE. */
TRS_API int trs_assembly_sum(trs_assembly *assembly, const void *val, const trs_exec *exec);

/* Show the matrix, whose values are zero before the first sum.
 *     const trs_assembly *assembly ; in.     unsigned kind ; bits of trs_mat.kind, 0: general.
 *     trs_mat *mat ; out; its arrays are those of the assembly, stay in their places, and live as long as it does.
 * Returns TRS_OK, TRS_EARG. */
TRS_API int trs_assembly_mat(const trs_assembly *assembly, unsigned kind, trs_mat *mat);

/* Free an assembly and its matrix.     trs_assembly *assembly ; NULL allowed. */
TRS_API void trs_assembly_destroy(trs_assembly *assembly);

/* ---- device memory, for callers without a CUDA compiler ------------------------------------ */

/* Allocate memory on a CUDA device, as cudaMalloc does.
 *     int device ; TRS_CUDA(k).     size_t bytes ; any.     void **p ; out: NULL after an error.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EDEVICE. */
TRS_API int trs_device_new(int device, size_t bytes, void **p);
/* Free memory on a device, and wait for work that uses it first.     void *p ; of trs_device_new on that device,
 * NULL allowed. */
TRS_API void trs_device_free(int device, void *p);

/* Copy to (put) or from (get) the device on the default stream, and wait.
 *     void *to ; out [bytes].     const void *from ; in [bytes].  The one on the device lies in memory of
 *         that device; NULL is allowed when bytes = 0.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE. */
TRS_API int trs_device_put(int device, void *to, const void *from, size_t bytes);
TRS_API int trs_device_get(int device, void *to, const void *from, size_t bytes);

/* Enqueue a copy from the device to the same device on a stream, without waiting.
 *     void *to ; out [bytes].     const void *from ; in [bytes]; both on that device.
 *     void *stream ; cudaStream_t, NULL: the default stream.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE. */
TRS_API int trs_device_copy(int device, void *to, const void *from, size_t bytes, void *stream);

/* Name a device, as "NVIDIA H200, 132 SMs, 139 GiB, driver for CUDA 13.0", or say why there is no such device.
 *     int device ; TRS_CUDA(k).     char *name ; out [size], cut to fit.     size_t size ; > 0.
 * Returns TRS_OK, TRS_EARG, TRS_EDEVICE (no such device, or no CUDA in this build). */
TRS_API int trs_device_name(int device, char *name, size_t size);

/* Take the time between two points of a stream by CUDA events.  stop waits and gives the seconds since start.
 *     trs_timer **timer ; out: NULL after an error; to be destroyed.     int device ; TRS_CUDA(k).
 *     void *stream ; cudaStream_t, NULL: the default stream; the same for start and stop.
 *     double *seconds ; out.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EDEVICE. */
typedef struct trs_timer trs_timer;
TRS_API int trs_timer_create(trs_timer **timer, int device);
TRS_API int trs_timer_start(trs_timer *timer, void *stream);
TRS_API int trs_timer_stop(trs_timer *timer, void *stream, double *seconds);
TRS_API void trs_timer_destroy(trs_timer *timer);

/* ---- factors ---------------------------------------------------------------------------- */

typedef struct trs_lu trs_lu; /* x = Q U^-1 L^-1 P R b, with plans for both triangles */

typedef struct trs_lu_info {
    const char *library;  /* "UMFPACK", "CHOLMOD", "KLU", "ILU(0)", "IC(2)", "imported", ... */
    const char *ordering; /* "AMD", "COLAMD", "METIS", "natural", "RCM", "multicolour", ... */
    int64_t n, nnz_a;     /* of A; nnz_a = 0: it was never seen */
    int64_t nnz_l, nnz_u; /* of the factors, diagonals included; nnz_u = 0 for L L' */
    const trs_plan *l,
        *u; /* the plans of the triangles; u = NULL for L L'.  They live with the lu. */
    double seconds_factor;  /* wall clock of the library, ordering included */
    double seconds_analyse; /* of the two plans */
    double rcond;           /* the library's cheap estimate of 1 / condition; 0: none */
    int64_t boosted;        /* pivots that trs_ilu_options.boost replaced */
    /* what computes the factors of new values on the device, a constant; NULL: the host computes them */
    const char *kernel;
    int64_t reserved[4]; /* nothing: room for new members */
} trs_lu_info;

typedef enum trs_ilu_method {
    TRS_ILU0 = 0, /* L U = A where the factors have an entry; any matrix */
    TRS_IC0 = 1,  /* L L^H = A likewise; Hermitian positive definite matrices */
} trs_ilu_method;

/* Rows and columns are permuted alike before the factors are made, A(P, P), by the graph of A + A'.  The order decides how
 * many levels the factors have, and how good they are as preconditioners. */
typedef enum trs_ilu_ordering {
    TRS_ILU_NATURAL = 0,
    TRS_ILU_RCM = 1, /* reverse Cuthill-McKee: a small bandwidth */
    /* rows of one colour are independent: without fill, L and U have at most as many levels as there
     * are colours, and more iterations are needed */
    TRS_ILU_MULTICOLOUR = 2
} trs_ilu_ordering;

typedef struct trs_ilu_options {
    trs_ilu_method method;
    /* >= 0: the diagonal of A counts 1 + shift times.  Enough of it lets IC(0) succeed on every
     * positive definite matrix (Manteuffel 1980); 0.001 is usual. */
    double shift;
    double boost; /* 0: a bad pivot is an error.  In (0, 1]: a pivot smaller than boost times the
                       largest entry of its row of A is replaced by that product (its sign is kept;
                       IC(0): pivots, which are squared there, become positive). */
    trs_options plan; /* of both triangles, device included; TRS_N is always among the ops */
    /* >= 0: of fill: entries that come of at most so many eliminations one upon the other are kept, ILU(k), IC(k).  An
     * entry of A has level 0, and (i, j) by pivot m the levels of (i, m) and (m, j) and 1. */
    int level;
    trs_ilu_ordering ordering; /* of rows and columns */
    int defer; /* 1, on a device: updates do not wait for the pivots; trs_lu_status tells */
    int64_t reserved[4]; /* zeros: room for new members */
} trs_ilu_options;

/* Make incomplete factors of A, without fill or with some, to precondition with: trs_lu_solve is x = M^-1 b, M = L U or
 * L L^H, of the type of A, and the diagonal is where the pivots are: rows are not exchanged.
 *     trs_lu **lu ; out: to be destroyed, also after an error, unless it is NULL then.
 *     const trs_mat *A ; in: any format, kind = 0, or TRS_SELFADJOINT with a triangle (of IC TRS_LOWER alone means
 *         that too); on the host, or if opt->plan is for a device anywhere.
 *         IC in the natural order reads the lower triangle alone, and the real part of its diagonal; in
 *         another order it reads both.  Where both are read and one is stored, the other is made on the host
 *         once, and new values are copied to it where they are.  A diagonal entry that A does not have becomes an
 *         entry of the factors, as fill does, zero before elimination.
 *     const trs_ilu_options *opt ; in, NULL: ILU(0), all defaults.  opt->plan.threads also factor, at
 *         most 16; each takes 4 n bytes, and 8 n while fill is looked for.  The bits do not depend on how many.
 * Rows of a level of L are factored at the same time.  trs_lu_update takes new values without analysis.
 * Where opt->plan is for a device and trs_lu_info.kernel is not NULL, the factors are computed there, and of
 * A in CSR, CSC or BSR on that device, without fill and in the natural order, nothing passes the host.  They
 * are those of the host to rounding, and have the same bits every time.
 * From several threads, solve with work spaces (trs_lu_work_create), or with the plans of trs_lu_get_info:
 * L, then U (L with TRS_H).
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX (not well-formed, or a value is not finite),
 * TRS_EPIVOT (the sentence names the row of A whose pivot is the first that is zero, not positive or not
 * finite; new values can be given), TRS_ESUPPORT (A on a device and opt->plan for the host),
 * or an error of trs_plan_create, trs_plan_analyse.
 * Source: Meijerink and van der Vorst 1977; Saad, Iterative Methods for Sparse Linear Systems, 10.3; Hysom
 * and Pothen 2001; Cuthill and McKee 1969. */
TRS_API int trs_ilu(trs_lu **lu, const trs_mat *A, const trs_ilu_options *opt);

/* Make a lu of factors that another program has made, as SuperLU, MUMPS, PETSc or SciPy:
 * (L U)(k, m) = scale(P(k)) A(P(k), Q(m)), or L L^H = A(P, P).
 *     trs_lu **lu ; out: to be destroyed, also after an error, unless it is NULL then.
 *     const trs_mat *L, *U ; in: CSR or CSC, of any widths and base, on the host or a device, of one n and dtype, which is that of
 *         B and X.  kind of L is TRS_LOWER, with TRS_UNIT where its diagonal is 1 and perhaps not stored, that of U TRS_UPPER,
 *         likewise; so both may be the same arrays, L + U - I.  U NULL: L L^H.  They are copied.
 *     const int64_t *P, *Q ; in [n], from 0, copied.  NULL: the identity; Q must be NULL for L L^H.
 *     const double *scale ; in [n] by row of A, copied.  NULL: no scaling, as for L L^H.
 *     const trs_options *plan ; in, NULL: all defaults.  Of both triangles, as in trs_factor_options.
 * All functions of a lu take it; A for trs_lu_refine and trs_lu_condest is the caller's.  trs_lu_info says "imported", and
 * trs_lu_update is refused with TRS_ESTATE: new values of L and U come by trs_lu_replace.
 * Returns TRS_OK, TRS_EARG (also: P or Q is no permutation), TRS_EMEM, TRS_EMATRIX, TRS_ESUPPORT (L or U is neither CSR nor
 * CSC), TRS_EPIVOT (a diagonal entry of L or U is missing, zero or not finite: the sentence names the factor and the row;
 * trs_lu_replace can give others), TRS_EDEVICE, or an error of trs_plan_create, trs_plan_analyse. */
TRS_API int trs_lu_import(trs_lu **lu, const trs_mat *L, const trs_mat *U, const int64_t *P,
                          const int64_t *Q, const double *scale, const trs_options *plan);

/* Give a lu of trs_lu_import new values of its factors, in O(nnz), without an analysis.  No solve may be running.
 *     const trs_mat *L, *U ; in.  All as before but val, which may be on a device and passes the host; ptr and idx are not read, and
 *         may be NULL.  U NULL: as before for L L^H.
 *     const double *scale ; in [n], NULL: as before.  P and Q stay.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (of other factors), TRS_EPIVOT, TRS_EMEM, TRS_EDEVICE, or an error of trs_plan_update.
 * After an error trs_lu_solve answers TRS_ESTATE until this succeeds. */
TRS_API int trs_lu_replace(trs_lu *lu, const trs_mat *L, const trs_mat *U, const double *scale);

/* Factor A again with new values.
 *     trs_lu *lu ; of trs_ilu or trs_factor, also after one that returned TRS_EPIVOT; not of trs_lu_import.
 *     const trs_mat *A ; in.  n and dtype as before, kind as at first.  After trs_ilu: nnz, format, block,
 *         ptr and idx must be as before too; ptr and idx are not read again and may be NULL.  So they must
 *         and may after trs_factor where factors are computed on a device and A is there; of an A on the
 *         host they are compared with those of the first, unless they are NULL.  A may be on the host or,
 *         with plans for a device, on any device.
 * After trs_factor, a pattern as before uses the ordering and symbolic analysis again, and the plans too
 * when the factors have the pattern that they had: always with L L^H, with L U when the pivots stay where
 * they were.  KLU keeps them there as long as the factors grow little more than with pivots of their own.
 * Another pattern is analysed anew.
 * No solve may be running.  Arrays and plans of trs_lu_factors and trs_lu_get_info are no longer valid
 * after trs_factor; those of trs_ilu stay, and the plans of trs_factor while the factors are computed on a
 * device with the same pivots.
 * Returns as trs_ilu and trs_factor, and TRS_ESTATE when there is no pattern; after an error
 * trs_lu_solve answers TRS_ESTATE until an update succeeds. */
TRS_API int trs_lu_update(trs_lu *lu, const trs_mat *A);

/* The same in the order of a stream: with A and the factors on one device it enqueues the numeric phase and the updates of
 * both plans, and waits for the pivots only, unless the options say that it must not wait at all (trs_ilu_options.defer,
 * trs_factor_options.on_growth); then it can be captured in a CUDA graph together with solves, if the solvers of both plans
 * take new values in the order of a stream, as those do that are chosen when no solver is named.  An update that follows one
 * with bad pivots at first, before there were plans, waits and makes them, and cannot be captured.
 *     const trs_exec *exec ; in, NULL: the default stream.  Only the stream is heeded.
 * Returns as trs_lu_update. */
TRS_API int trs_lu_update_on(trs_lu *lu, const trs_mat *A, const trs_exec *exec);

/* Wait for the last update, also one that was captured and replayed on any stream of the device, and tell what it found.
 *     trs_lu *lu ; in.
 *     int64_t *bad ; out, NULL allowed: how many pivots are zero or not finite, or of L L^H not positive.
 *     int64_t *first ; out, NULL allowed: the first row with one, from 0; -1: none.
 *     double *growth ; out, NULL allowed: max |l(i, k) u(k, j)| / max |a(i, j)|, the factor by which rounding errors
 *         of the factors may exceed those of A; 0: not known (factors made on the host).
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (there are no factors), TRS_EDEVICE, TRS_EPIVOT (bad > 0), TRS_EMATRIX (a value of
 * A is not finite), TRS_EGROWTH (growth is above trs_factor_options.growth_limit; or the triangles cannot be solved in the
 * way that their plans have chosen: an update that waits lets them choose again). */
TRS_API int trs_lu_status(trs_lu *lu, int64_t *bad, int64_t *first, double *growth);

/* Show L and U as matrices in arrays that the lu owns, on the host:
 * (L U)(k, m) = scale(P(k)) A(P(k), Q(m)), or L L^H = A(P, P).
 *     const trs_lu *lu ; in.
 *     trs_mat *L, *U ; out, NULL allowed: CSR or CSC.  U->n = 0 and U->ptr = NULL for L L^H.  ILU, and
 *         factors that are computed on a device: the same arrays, L + U - I in CSR, and only the kind
 *         differs.  From a device they are copied here, and it is waited for.
 *     const int64_t **P, **Q ; out [n], NULL allowed.   const double **scale ; out [n], NULL allowed;
 *         NULL: no permutation (incomplete factors in the natural order), no scaling.
 * Returns TRS_OK, TRS_EARG (also: there are no factors). */
TRS_API int trs_lu_factors(const trs_lu *lu, trs_mat *L, trs_mat *U, const int64_t **P,
                           const int64_t **Q, const double **scale);

/* Make a work space for solves with factors, with at most max_nrhs right-hand sides at a time; more are done in turns.
 * Threads, or streams, that solve with the same factors at the same time each bring one, as trs_exec.lu_work.
 *     trs_lu_work **work ; out: NULL after an error.     const trs_lu *lu ; in.     int max_nrhs ; >= 1.
 * It belongs to the caller, needs the lu to live as long, and serves one solve at a time.  It serves the lu after updates
 * too, until one of them makes other plans, which trs_factor's may (trs_lu_update): solves answer TRS_ESTATE then.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (there are no factors), TRS_EMEM, TRS_EDEVICE, TRS_ELIBRARY. */
TRS_API int trs_lu_work_create(trs_lu_work **work, const trs_lu *lu, int max_nrhs);

/* Free a work space, with which no solve may be running.     trs_lu_work *work ; NULL allowed. */
TRS_API void trs_lu_work_destroy(trs_lu_work *work);

/* Solve X = op(A)^-1 B through the factors; arguments are as in trs_solve.
 *     trs_lu *lu ; without exec->lu_work its own work space is used: one solve at a time.
 *     B, X ; of the dtype of A, where trs_options.device of the plans says.
 *     const trs_exec *exec ; in, NULL: all defaults.  exec->work must be NULL.
 * L L^H solves with every op (complex IC in the natural order: not TRS_T), L U with those announced.
 * Permutations, scaling and change of precision are one pass over B and one over X.  Allocates nothing; with B and X on a
 * device it only enqueues work on exec->stream, and can be captured in a CUDA graph if the solvers of both plans can.
 * A captured solve follows updates that leave the plans (trs_lu_update).
 * Several steps of refinement are the caller's business: trs_lu_refine.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (no factors; op not announced; the work space is of other plans), TRS_ESUPPORT,
 * TRS_EMEM, TRS_EDEVICE, TRS_ELIBRARY. */
TRS_API int trs_lu_solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
                         int64_t ldx, const trs_exec *exec);

/* Refine X iteratively in fixed precision through the factors, otherwise as trs_refine does.  With complete
 * factors one or two steps do; incomplete ones may converge in many, or not at all.
 *     const trs_mat *A ; in: the matrix that was factored, on the host wherever the factors solve, or on their device; kind
 *         is 0, or TRS_SELFADJOINT with a triangle.
 *     B, X ; where A is.   int *steps ; out, NULL allowed.
 *     trs_error *error ; out, NULL allowed: of the X returned.
 * Source: Arioli, Demmel, Duff 1989; Skeel 1980.  Returns as trs_lu_solve. */
TRS_API int trs_lu_refine(trs_lu *lu, const trs_mat *A, trs_op op, int nrhs, const void *B,
                          int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int max_steps,
                          int *steps, trs_error *error);

/* Estimate 1 / (|A| |A^-1|) through the factors; arguments are as in trs_condest.
 *     trs_lu *lu ; factors of A, wherever they solve; L U: TRS_N and TRS_H announced; L L^H: no need.
 * Returns as trs_lu_solve, and TRS_EMATRIX. */
TRS_API int trs_lu_condest(trs_lu *lu, const trs_mat *A, trs_norm norm, double *rcond);

/* Compute det A from complete factors, in O(n): (L U)(k, m) = scale(P(k)) A(P(k), Q(m)), so
 * det A = sgn(P) sgn(Q) prod U(k, k) / prod scale(k); or prod |L(k, k)|^2 of L L^H.
 *     const trs_lu *lu ; of trs_factor or trs_lu_import.  Also one that was refused with TRS_EPIVOT since a pivot of A is exactly
 *         0, or a row or column empty: det = 0.
 *     trs_det *det ; out: 0 after an error.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE (there are no factors), TRS_EPIVOT (a pivot is not finite), TRS_EMEM,
 * TRS_ESUPPORT (incomplete factors are not those of A; trs_plan_determinant gives det L and det U, by the plans
 * of trs_lu_get_info). */
TRS_API int trs_lu_determinant(const trs_lu *lu, trs_det *det);

/* Tell facts about factors.
 *     const trs_lu *lu ; in.     trs_lu_info *info ; out; strings and plans belong to the lu, and plans are
 *         NULL when there are none.
 * Returns TRS_OK, TRS_EARG. */
TRS_API int trs_lu_get_info(const trs_lu *lu, trs_lu_info *info);

/* Free factors and their plans.     trs_lu *lu ; NULL allowed. */
TRS_API void trs_lu_destroy(trs_lu *lu);

/* What libtrisolve-suitesparse calls in this library; not for programs, and different in every version. */
TRS_API const struct trs_core *trs_core(void);

/* ---- Matrix Market ---------------------------------------------------------------------- */

typedef enum trs_field {
    TRS_REAL = 0,
    TRS_COMPLEX = 1,
    TRS_INTEGER = 2,
    TRS_PATTERN = 3
} trs_field;
typedef enum trs_symmetry {
    TRS_GENERAL = 0,
    TRS_SYMMETRIC = 1,
    TRS_SKEW = 2,
    TRS_HERMITIAN = 3
} trs_symmetry;

typedef struct trs_mm_options {
    trs_format format; /* TRS_CSR (default), TRS_CSC, TRS_COO: coordinate files;
                           array files always give TRS_DENSE */
    int base;          /* 0 or 1: of ptr and idx */
    unsigned kind; /* TRS_LOWER or TRS_UPPER: keep that triangle only (diagonal included); 0: all */
    int real_only; /* 1: a complex file is an error; 0: it gives TRS_C64 */
    int refuse_duplicates; /* 1: an entry given twice is an error; 0: they are summed and counted */
    int threads;           /* 0: what OpenMP says */
    int64_t memory_limit;  /* bytes of arrays, and of unpacked text; 0: three quarters of what the
                              machine has */
    int (*progress)(void *user,
                    double done); /* NULL: none; done in [0, 1]; non-zero return stops */
    void *user;
    trs_memory memory; /* for the arrays of the result; trs_mm_free uses it again */
    int low_memory; /* 1: at most 1.3 times the result, and the mapped file, at a time, instead of 2.4
                       times, somewhat slower; with one's own memory.alloc without effect */
    int rhs; /* 1: of a .tar.gz, read NAME/NAME_b.mtx or NAME/NAME_rhs.mtx, the right-hand side beside
                the matrix; TRS_EFILE when there is none */
    int header; /* 1: no more than the banner and the sizes: rows, cols, stored, field, symmetry; nnz
                   is 0 and the arrays stay NULL */
    int64_t reserved[4]; /* zeros: room for new members */
} trs_mm_options;

typedef struct trs_mm { /* what a file held; owned by the caller, freed by trs_mm_free */
    int64_t rows, cols;
    int64_t stored;     /* data lines in the file */
    int64_t nnz;        /* entries after expanding symmetry and summing duplicates */
    int64_t duplicates; /* entries that were added to another one */
    trs_format format;  /* CSR, CSC, COO or DENSE */
    trs_dtype dtype;    /* TRS_F64, or TRS_C64 for complex and hermitian files */
    trs_field field;    /* as the banner says */
    trs_symmetry symmetry;
    int base;
    int64_t *ptr; /* CSR [rows+1], CSC [cols+1]; COO, DENSE: NULL */
    int32_t *idx; /* CSR: columns, CSC: rows, COO: columns [nnz], ascending within a row or
                            column; DENSE: NULL */
    int32_t *row; /* COO: rows [nnz], sorted by row, then column; else NULL */
    void *val;    /* [nnz]; DENSE [rows*cols], column-major.  Pattern files: ones. */
    trs_memory memory;
    int64_t rounded; /* integers beyond 2^53 that are no double and were rounded to one */
    int64_t bytes;   /* of text after the sizes, unpacked */
    double seconds_parse,
        seconds_build; /* wall clock: text into entries, entries into the arrays */
    int64_t size_line; /* the line of the sizes, for sentences about them; 0: not reached */
    /* where it is from, as files of the SuiteSparse collection say it in a comment ("% kind:
     * structural problem"); "": not said */
    char problem[64];
    int64_t reserved[4]; /* nothing: room for new members */
} trs_mm;

/* Read a Matrix Market file (.mtx, also packed by gzip, xz, zstd, or inside a .tar.gz of the SuiteSparse
 * collection when built with libarchive; recognised by content).  Sentences begin with "file:line: ".
 *     const char *file ; in.  "-": standard input.
 *     const trs_mm_options *opt ; in, NULL: all defaults.
 *     trs_mm *mm ; out.  Always set; free it with trs_mm_free also after an error.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EFORMAT, TRS_EMEM, TRS_ESUPPORT (packed file, no
 * libarchive in this build or on this machine).
 * Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR 5935. */
TRS_API int trs_mm_read(const char *file, const trs_mm_options *opt, trs_mm *mm);
/* Free the arrays and clear mm.     trs_mm *mm ; of trs_mm_read, also freed before; NULL allowed. */
TRS_API void trs_mm_free(trs_mm *mm);

/* Show the same arrays as a trs_mat.
 *     const trs_mm *mm ; in, square, not COO.     unsigned kind ; bits of trs_mat.kind, 0: general.  The one triangle of
 *         a symmetric or Hermitian file that trs_mm_options.kind = TRS_LOWER has kept is shown as all of the matrix
 *         by TRS_LOWER | TRS_SELFADJOINT; a skew or complex symmetric file is refused.
 *     trs_mat *mat ; out; its arrays stay those of mm.
 * Returns TRS_OK, TRS_EARG. */
TRS_API int trs_mm_mat(const trs_mm *mm, unsigned kind, trs_mat *mat);

/* Read the text of a file, unpacked as trs_mm_read does it, in pieces of whole lines.  This is for readers of other
 * formats, as that of Rutherford-Boeing and Harwell-Boeing files in libtrisolve-suitesparse.
 *     const char *member ; in: of an archive the file NAME/NAME<member> is taken, else the first one
 *         whose name ends so; NULL: ".mtx".
 *     int64_t limit ; bytes of unpacked text, 0: three quarters of what the machine has.
 *     put ; in: is given every piece; non-zero: no more is wanted.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EMEM, TRS_ESUPPORT (packed file, no libarchive in
 * this build or on this machine). */
TRS_API int trs_unpack(const char *file, const char *member, int64_t limit,
                       int (*put)(void *user, const char *text, int64_t bytes), void *user);

/* Write a matrix: CSR or CSC as a coordinate file, DENSE as an array file, with the fewest digits that read
 * back to the same number.  The text goes to a temporary name beside `file`, renamed when complete.
 *     int64_t rows, cols ; A->n and A->kind are not looked at, so that rectangular ones can be written; CSR has
 *         rows+1 pointers, CSC cols+1.
 *     trs_symmetry symmetry ; TRS_GENERAL: all entries; else only the lower triangle is written and
 *         the caller vouches for the rest.
 *     const char *comment ; in, NULL: none; lines that become % lines.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EMEM. */
TRS_API int trs_mm_write(const char *file, const trs_mat *A, int64_t rows, int64_t cols,
                         trs_symmetry symmetry, const char *comment);

#ifdef __cplusplus
}
#endif
#endif
