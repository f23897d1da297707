/* internal.h: what the files of the library share.
 *
 * The way of a matrix:  trs_mat --check.c--> --convert.c--> trs_tri (lower CSR, plan order)
 *   --level.c--> trs_levels --cost.c--> a solver --> trs_part (rows from..to, solver, its data)
 *   --> trs_solve: views of B and X --> solver->solve.
 *
 * An upper triangle, or the transpose of a lower one, is a lower triangle with rows and columns
 * counted backwards.  So a plan has at most two sides, op(T) = T and op(T) = T', each a lower
 * CSR triangle; X and B are seen through a row stride, negative when the side counts backwards;
 * and a solver knows one shape only: lower, N.  Of a matrix that is a triangle T after permutations of its rows
 * and columns (permuted.c), the sides are those of T, and B and X are permuted on their way (solve.c). */
#ifndef TRS_INTERNAL_H
#define TRS_INTERNAL_H

#include "call.h"
#include "memory.h"
#include "strips.h"
#include "supernode.h"
#include "trisolve-sparse.h"

#include <pthread.h>
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

size_t trs_size(trs_dtype t); /* bytes of one number */
bool trs_is_complex(trs_dtype t);
bool trs_is_single(trs_dtype t); /* precision */

/* ---- triangles ---------------------------------------------------------------------------- */

/* A lower triangle in CSR: base 0, columns ascend, the diagonal is stored last in every row (a unit
 * one as 1, a missing one as 0). */
typedef struct trs_tri {
    int32_t n;
    int64_t nnz;
    trs_dtype dtype;
    int64_t *ptr; /* [n+1] */
    int32_t *idx; /* [nnz] */
    void *val;    /* [nnz] */
    int64_t *src; /* [nnz] place of each value in the caller's val, or TRS_SRC_...; NULL: p -> p */
} trs_tri;

enum { TRS_SRC_UNIT = -1, TRS_SRC_MISSING = -2 };

int trs_check_mat(const trs_mat *m);                      /* well-formed? (check.c) */
int trs_check_values(const trs_mat *m);                   /* enough to read val? */
bool trs_same_arrays(const trs_mat *a, const trs_mat *b); /* is each number at the same place? */
int64_t trs_value_count(const trs_mat *m);                /* numbers in val */
/* Bytes of B or X [n, nrhs], both > 0; -1: p is NULL, ld too small, or so large that no memory has it. */
int64_t trs_extent(const void *p, int64_t n, int nrhs, int64_t ld, trs_layout layout, trs_dtype t);
bool trs_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);
int64_t trs_line_count(const trs_mat *m); /* rows, columns, or rows of blocks */
bool trs_by_rows(const trs_mat *m);       /* a line is a row */
bool trs_in_triangle(unsigned kind, int64_t row, int64_t col);
bool trs_is_zero(const trs_mat *m, int64_t k); /* number k of val */

int64_t trs_index(const void *a, int bits, int64_t k); /* a[k] of either width */

/* Check m and take it over: op(T) by rows as the caller stored it, T for CSR and BSR, T' for CSC and
 * DENSE (convert.c). */
int trs_tri_import(trs_context *ctx, const trs_mat *m, trs_tri *t);
int trs_bsr_import(trs_context *ctx, const trs_mat *m, trs_tri *t); /* the same for BSR (bsr.c) */
/* m itself, or as CSR when it is BSR (bsr.c); then trs_lines_done, unless that failed. */
int trs_lines_of(trs_context *ctx, const trs_mat *m, trs_mat *lines);
void trs_lines_done(trs_context *ctx, const trs_mat *m, trs_mat *lines);
/* idx for t->nnz entries, val and src if they are wanted, within the limit; after TRS_EMEM the caller frees
 * what is there. */
int trs_tri_entries(trs_context *ctx, trs_tri *t, bool values, bool places);
/* values = false: the pattern alone. */
int trs_tri_transpose(trs_context *ctx, const trs_tri *a, bool values, trs_tri *t);
int trs_tri_copy(trs_context *ctx, const trs_tri *a, trs_tri *t);
void trs_tri_drop_identity(trs_context *ctx, trs_tri *t); /* src = NULL where it is p -> p */
/* Rows and columns counted backwards, in place.  TRS_OK, TRS_EMEM. */
int trs_tri_reverse(trs_context *ctx, trs_tri *t);
int trs_tri_permute(trs_context *ctx, const trs_tri *a, const int32_t *perm, trs_tri *t);
/* t->val from the caller's val through src */
void trs_tri_read_values(const trs_context *ctx, trs_tri *t, const void *val);
void trs_tri_free(trs_context *ctx, trs_tri *t);

/* ---- levels ------------------------------------------------------------------------------- */

typedef struct trs_levels {
    int32_t count;
    int32_t widest; /* rows */
    int32_t *topo;  /* [rows] level by level, ascending within one */
    int32_t *ptr;   /* [count+1] */
} trs_levels;

/* Level sets of the rows from..to-1, the rows before them being solved already: of a lower triangle by
 * rows, and, with the same result, of one by columns, that is trs_tri_transpose of it. */
int trs_level_rows(trs_context *ctx, const trs_tri *csr, int32_t from, int32_t to, trs_levels *lv);
int trs_level_sets(trs_context *ctx, const trs_tri *csc, int32_t from, int32_t to, trs_levels *lv);
void trs_levels_free(trs_context *ctx, trs_levels *lv);

typedef struct trs_tally { /* of levels (cost.c) */
    int64_t longest;       /* entries in the longest row */
    int64_t sum_longest;   /* over the levels, of the longest row of each */
    int64_t thin;          /* entries in levels too small to share out */
    int64_t wide;          /* levels, the others */
} trs_tally;

/* ---- what the cost model looks at --------------------------------------------------------- */

typedef struct trs_shape {
    int64_t n, nnz;
    int64_t levels, widest;
    int64_t longest;     /* entries in the longest row */
    double sum_longest;  /* over the levels, of the longest row of each */
    double thin_entries; /* entries in levels too small to share out */
    int64_t wide_levels; /* the others */
    double waiting; /* fraction of the rows that wait for the row just before, in natural order */
    double
        scattered; /* fraction of the rows that do not stand beside the row before them in level order */
    int64_t blocks;      /* of supernodes, 0: not looked for */
    int64_t height;      /* levels of blocks, panels being one block */
    int64_t chained;     /* blocks that follow another one of their panel, in all levels */
    int64_t store;       /* numbers that they keep */
    int64_t wide_blocks; /* of them */
    int64_t wide_steps;  /* levels of blocks with a wide one */
    int64_t tasks;       /* of blocks */
    double narrow_rows;  /* over the levels of blocks, of the narrow one with most of them */
    int64_t strips;      /* 0: not looked for, or no good */
    const struct trs_stretches *stretches; /* NULL: not looked for, or no good */
    double elem;                           /* bytes of a number */
    bool is_complex;
    int nrhs;
} trs_shape;

/* ctx->machine and ctx->costs: from the file of TRISOLVE_MACHINE, else built in; gpu: for ctx->device.
 * TRS_OK, TRS_EFILE, TRS_EFORMAT. */
int trs_machine_find(trs_context *ctx, bool gpu);
/* Of a GPU of this compute capability and width of bus; major 0: none. */
void trs_machine_built_in(trs_context *ctx, int major, int minor, int bus_bits);

enum { TRS_CACHE = 48 << 20 }; /* bytes of a matrix that stay near the core between solves */

enum {
    TRS_COMPLEX_TIMES = 8
}; /* so many times the arithmetic of an entry: no two are done at once */

/* Seconds one core takes to go through entries and rows that stream by. */
double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows);
/* Seconds that one core takes for rows beyond their work, where this fraction of them waits for the row just before:
 * work of a row is done while its latency goes by. */
double trs_cpu_wait(const trs_machine *m, double waiting, double rows, double work);

typedef struct trs_cost { /* seconds of one solve, in its terms */
    double bytes;         /* data moved */
    double sync;          /* launches and barriers */
    double hops;          /* steps that wait for one another */
    double copies;        /* B and X between host and device */
} trs_cost;

typedef struct trs_stretches { /* of a triangle: a head and a tail (stretches.h) */
    int32_t *row;       /* [n] of the head, ascending, then of the tail; NULL: there is no cut */
    int32_t rank;       /* of the cut */
    int64_t between;    /* entries of the tail's rows in columns of the head */
    trs_shape shape[2]; /* guessed, but for n and nnz */
    const struct trs_solver *solver[2];
} trs_stretches;

/* ---- plans, sides, parts ------------------------------------------------------------------ */

typedef struct trs_direct { /* a side on the device: what of it was needed there (direct.c) */
    void *ptr;              /* [n+1] int64_t */
    void *idx;              /* [nnz] int32_t, and */
    void *level;            /* [n] int32_t of each row: until the plan is settled */
    void *topo;             /* [n] int32_t, while lv.topo is NULL: of a far side */
    void *src;              /* [nnz] int64_t */
    void *val;              /* [nnz] */
    void *found;            /* [2] int64_t: bad pivots, the first of them; other counts */
    void *block; /* that found, ptr, idx and val are in when the side was far from the start */
} trs_direct;

typedef struct trs_side { /* op(T) as a lower triangle */
    bool used;
    bool reversed; /* row i of tri is the caller's row n-1-i (before perm) */
    trs_tri tri;
    void *
        full; /* [n*n] op(A) by columns, of a plan for a general matrix: tri has n and dtype only */
    trs_levels lv;
    trs_tally tally;         /* of the levels */
    trs_supernodes super;    /* numbers only, once the plan is settled; all 0: not looked for */
    int32_t strip_rows;      /* of a strip; 0: not looked for, or no good */
    trs_stretches stretches; /* the numbers, once the plan is settled */
    int32_t *perm;     /* plan order: row k of tri is the caller's row perm[k]; NULL: natural */
    int32_t *perm_dev; /* the same on the device, when the solver runs there */
    trs_direct direct; /* once it was needed */
    int nparts;
    struct trs_part *part;
} trs_side;

typedef struct trs_part { /* rows from..to-1 of a side in plan order, and who solves them */
    trs_context *ctx;
    const trs_side *side;
    bool transposed; /* the side is op = T, H */
    int32_t from, to;
    const struct trs_solver *solver;
    const trs_levels *lv;  /* of these rows */
    trs_levels own;        /* lv points here unless the part is the whole side */
    double growth;         /* that update found; 0: the solver does not say */
    int64_t broken;        /* general matrices: the pivot at which LU broke down; -1: at none */
    double seconds_factor; /* that update took to factor, copies not counted; 0: likewise */
    void *data;            /* the solver's */
} trs_part;

/* X or B: element (i, r) is p[i*rs + r*cs], in elements. */
typedef struct trs_view {
    void *p;
    int64_t rs, cs;
} trs_view;

typedef struct trs_job { /* one solve of one part */
    int nrhs;
    trs_view b, x; /* b.p may be x.p, then with the same strides */
    bool conj;     /* solve with the conjugated values */
    int threads;
    void *stream;
    void *work; /* scratch of solver->work_bytes, or what solver->work_create made */
} trs_job;

/* The caller's number of row k of a side, from 0. */
int32_t trs_caller_row(const trs_side *s, int32_t k);

/* The view of a side that counts backwards, seen in the caller's order (rs > 0). */
trs_view trs_view_natural(const trs_side *s, trs_view v);

/* op(T)^-1 x in place, x [n] on the host; stage, from trs_hosted_new, carries it to a plan whose B and
 * X live on a device, and is NULL for others (hosted.c). */
int trs_hosted_new(const trs_plan *p, void **stage);
void trs_hosted_free(const trs_plan *p, void *stage);
int trs_solve_hosted(const trs_plan *p, trs_op op, void *x, void *stage, const trs_exec *exec);

typedef enum trs_place { TRS_ON_CPU = 0, TRS_ON_CUDA = 1 } trs_place;
typedef enum trs_family { TRS_TRIANGLE = 0, TRS_GENERAL_DENSE = 1 } trs_family;

typedef struct trs_solver {
    const char *name, *about;
    trs_place place;
    trs_family family;
    unsigned caps;
    trs_accuracy accuracy;
    trs_order order; /* preferred plan order */
    bool full;       /* stores the triangle as a full matrix: has a memory limit by default */
    bool supernodes; /* works with the supernodes of its side */
    bool pattern;    /* reads ptr and idx of its side on the device at updates and solves, too */
    bool strips;     /* wants sides that fall into strips */
    bool stretches;  /* wants sides that are worth cutting in two */
    bool direct;     /* looks at its side on the device alone: trs_direct_pattern, update_direct */
    bool by_columns; /* named by the caller, it has the levels of its sides from trs_level_sets */
    bool guesses;    /* cost is what may become of a side, cost_now what did */
    bool
        twin; /* gives the bits of cpu-serial by another order of the rows, and has no other options:
                        large triangles are solved with both, and the faster one stays */
    int (*library)(char *why,
                   size_t size); /* can the library it calls be opened? NULL: it calls none */
    void (*cost)(const trs_shape *, const trs_machine *, trs_cost *);
    /* the same of a part with values; NULL: these make no difference */
    void (*cost_now)(const trs_part *, const trs_shape *, const trs_machine *, trs_cost *);
    int64_t (*bytes)(const trs_shape *); /* that analyse will take where it runs */
    int (*analyse)(trs_part *);          /* pattern -> data; NULL: nothing to do */
    int (*update)(trs_part *);           /* new values in side->tri.val; NULL: nothing to do */
    /* the same from values of the side on the device, on a stream; NULL: they pass the host */
    int (*update_direct)(trs_part *, const void *val, void *stream);
    int (*solve)(const trs_part *, const trs_job *);
    /* general matrices, n > 0: u [n] on the host = diag (U) of the last update; *odd: the parity of its row
     * exchanges, false before the call */
    int (*pivots)(const trs_part *, trs_context *, void *u, bool *odd);
    void (*release)(trs_part *); /* data, also half-made; NULL: nothing to do */
    /* scratch of a solve where the solver runs, shared with other parts and plans; NULL: see below */
    int64_t (*work_bytes)(const trs_part *, int nrhs);
    /* a work space of the solver's own, when plain scratch will not do; NULL: needs none */
    int (*work_create)(const trs_part *, trs_context *, int nrhs, void **);
    /* the part may be gone by then; the context has the memory that work_create was given */
    void (*work_destroy)(trs_context *, void *);
} trs_solver;

/* Does it invert, and not look at an update what becomes of it? */
static inline bool trs_inverts_blindly(const trs_solver *s)
{
    return s->accuracy == TRS_INVERTING && !s->cost_now;
}

/* The table: Makefile.am lists the files of the solvers and writes solvers.inc from that list. */
#define TRS_SOLVER(name) extern const trs_solver trs_solver_##name;
#include "solvers.inc"
#undef TRS_SOLVER
const trs_solver *trs_solver_at(int k);               /* NULL past the end */
const trs_solver *trs_solver_named(const char *name); /* NULL: none */
int trs_solver_available(const trs_solver *s, int device, char *why, size_t size);

/* Predicted seconds of a solve, in its terms (cost.c); part NULL: before the analysis. */
double trs_predict(const trs_context *ctx, const trs_solver *s, const trs_part *part,
                   const trs_shape *shape, bool on_device, trs_cost *c);
size_t trs_describe_shape(char *text, size_t size, const trs_shape *s); /* characters written */

typedef struct trs_candidate {
    const trs_solver *solver;
    double seconds; /* predicted */
    trs_cost cost;
    bool try_both; /* a twin that may be faster than cpu-serial, or slower: ask both */
} trs_candidate;

enum { TRS_CANDIDATES = 3 };

/* The cheapest available solvers for a side, the chosen one first; how many (cost.c).
 * reason: the shape, and what is predicted of the first two. */
int trs_choose(const trs_context *ctx, const trs_shape *s, bool on_device,
               trs_candidate c[TRS_CANDIDATES], char *reason, size_t size);

/* Put the fastest of count candidates first, by solving with them; say so in reason (measure.c). */
int trs_measure(trs_plan *p, const trs_side *s, trs_candidate *c, int count, char *reason,
                size_t size);
/* p->wanted is a twin: cpu-serial takes over unless it is slower when both solve, or where there is no memory to
 * find out.  Says so in the reason (measure.c). */
void trs_try_twin(trs_plan *p);
void trs_tally_levels(const trs_context *ctx, trs_side *s);
void trs_shape_of(const trs_context *ctx, const trs_side *s, trs_shape *shape);
bool trs_fits(const trs_solver *s, const trs_shape *shape, int64_t limit);

/* A level with fewer entries is done by one CPU thread: handing over would cost more.  A triangle with
 * fewer entries altogether (half a millisecond) is left to one thread: when the machine is busy, a thread
 * that has to wait for its core costs whole milliseconds. */
enum { TRS_THIN = 4000, TRS_SHARED_FROM = 500000 };

struct trs_plan {
    trs_context ctx;
    enum { TRS_FAILED, TRS_CREATED, TRS_ANALYSED, TRS_READY } state;
    trs_mat shape;      /* the caller's matrix without its arrays */
    int64_t n_values;   /* length of the caller's val */
    trs_tri imported;   /* until analyse: op(T) by rows as the caller stored it */
    bool imported_is_t; /* it is T' */
    bool far;           /* it is in the side of that op, on the device alone (far.c) */
    bool was_far;       /* and had to pass the host after all */
    const trs_solver *wanted;
    trs_candidate candidate[TRS_CANDIDATES]; /* wanted was the first of, if the plan has chosen */
    int candidates;
    bool on_device; /* B and X live on the GPU */
    bool measure;   /* choose by solving */
    bool general;   /* a general dense matrix (general.c) */
    bool judged; /* the values are those of the last update, which found good pivots or bad ones */
    bool values_there; /* they came by the device: side.direct.val has them, side.tri.val has not */
    trs_order order;
    trs_side side[2]; /* op = N; op = T and H */
    const int32_t
        *topo; /* [n] of op = N in the caller's numbering; that of its levels where it will do */
    pthread_mutex_t topo_lock; /* of topo: several threads may ask for it */
    trs_pivot pivot;
    double pivot_value;
    int64_t bad_pivots, first_bad;
    int32_t *P, *Q;         /* [n] TRS_PERMUTED: T(k, m) = A(P [k], Q [m]); else NULL */
    int32_t *P_dev, *Q_dev; /* the same on the device, when the solver runs there */
    /* TRS_PIVOT_SKIP only; elsewhere empty */
    trs_tri whole;                  /* imported, before rows were left out; without values */
    unsigned char *skip, *skip_dev; /* [n] in the caller's numbering, or T's, 1: left out */
    trs_work *own;
    trs_info info;
    char reason[500];
    bool capture_anyhow; /* for tests: let solvers be captured that do not claim it */
    /* for tests: cut every side into parts at these rows */
    int ncuts;
    const int32_t *cut;
    const trs_solver *const *cut_solver;
};

/* ---- the life of a plan (plan_create.c, plan.c, plan_info.c) ----------------------------------- */

int trs_plan_find_solver(trs_plan *p, const char *name); /* sets p->wanted; NULL: nothing to do */
/* The arrays of a matrix that lives on a device, or its values alone, copied to the host; m itself where it is there.
 * Then trs_mat_fetched, also after a failure. */
int trs_mat_fetch(trs_context *ctx, const trs_mat *m, bool pattern, trs_mat *host);
void trs_mat_fetched(trs_context *ctx, const trs_mat *m, trs_mat *host);
int trs_plan_keep_topo(trs_plan *p); /* p->topo, in the caller's numbering */
/* info->bytes_host and bytes_device, with this solver (NULL: without). */
void trs_plan_bytes(const trs_plan *p, const trs_solver *solver, trs_info *info);
/* The sides and the choice are there: parts, work space, first values; start: when it began. */
int trs_plan_finish(trs_plan *p, double start);
void trs_side_free(trs_context *ctx, trs_side *s);
/* false: an update that had to analyse again has failed, and another one has to do it. */
bool trs_plan_has_sides(const trs_plan *p);

/* ---- matrices that stay on the device (far.c) --------------------------------------------------- */

bool trs_counts_backwards(const trs_plan *p, int k); /* op(T) of side k is upper (plan.c) */
/* Take m over where it is and set p->far; TRS_OK without that: it has to pass the host. */
int trs_far_import(trs_plan *p, const trs_mat *m);
int trs_far_import_after_all(trs_plan *p); /* before analyse: it does pass the host */
/* Of the far side; not found: it had better pass the host. */
int trs_far_levels(trs_plan *p, bool *found);
int trs_far_supernodes(trs_context *ctx, trs_side *s); /* the host sees the pattern for that long */
int trs_far_update(trs_plan *p, const void *val);      /* from the host */
int trs_far_topo(trs_plan *p);  /* after analyse: the host has topo of a far side too */
int trs_far_fetch(trs_plan *p); /* after analyse: the host has the triangle too, and p is not far */

/* ---- sides on the device (direct.c) ------------------------------------------------------------ */

/* ptr and idx are there, and level for a solver that goes by rows. */
int trs_direct_pattern(trs_context *ctx, trs_side *s, const trs_solver *solver);
/* ptr and idx are there, s->lv and s->tally found; after a failure nothing is, and the host can do it. */
int trs_direct_levels(trs_context *ctx, trs_side *s);
/* trs_supernodes_likely and trs_strips_rows, asked where the pattern and the levels are. */
bool trs_direct_supernodes(trs_context *ctx, trs_side *s);
int32_t trs_direct_strips_rows(trs_context *ctx, trs_side *s);
int trs_direct_fetch_topo(trs_context *ctx, trs_side *s); /* where the host has none */
/* The parts are made: level goes, and ptr and idx stay if one of them reads them, or the host has none. */
void trs_direct_drop_pattern(trs_context *ctx, trs_side *s);
int trs_direct_tell(trs_context *ctx, trs_side *s, trs_part *part); /* it takes s->tri.val; waits */

/* Are new values those of the one side there is, in their order, and does the device alone look at them? */
bool trs_direct_in_place(const trs_plan *p);
int trs_direct_send(trs_plan *p, const void *val); /* such ones, from the host */
bool trs_direct_possible(const trs_plan *p, const trs_mat *mat);
/* From val on the device, NULL: from what the far side has; waits. */
int trs_direct_update(trs_plan *p, const void *val, void *stream);
void trs_direct_free(trs_context *ctx, trs_direct *d);

/* ---- pivots (pivot.c) ----------------------------------------------------------------------- */

/* Among new values of the sides: count the bad ones, and replace them if the plan says so. */
void trs_pivots_treat(trs_plan *p);
/* TRS_PIVOT_SKIP, val being the caller's: p->imported becomes p->whole, and then what is left of it. */
int trs_pivots_import(trs_plan *p, const void *val);
/* Count and mark the bad ones in the caller's val; do they stand in other rows than before? */
bool trs_pivots_other(trs_plan *p, const void *val);
/* p->imported: p->whole without the rows that are marked. */
int trs_pivots_leave_out(trs_plan *p, const void *val);
int trs_pivots_put(trs_plan *p); /* what a solve has to know on the device */
/* The caller's row with the pivot of row k of a side, and the place of its pivot in the side. */
int64_t trs_pivot_row(const trs_plan *p, const trs_side *s, int32_t k);
int64_t trs_pivot_place(const trs_plan *p, const trs_side *s, int64_t row);
int trs_pivots_judge(
    trs_plan *p); /* TRS_EPIVOT with a sentence: there are, and the plan says fail */

#endif
