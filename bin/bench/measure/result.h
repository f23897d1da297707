/* result.h: what was measured: a result is a triangle, a cell one solver on it.
 *
 * All results of triangles of a run have the same solvers in the same order, so that cell k belongs
 * to the same solver everywhere.  A result that has a trouble has no cells. */
#ifndef TRS_BIN_BENCH_RESULT_H
#define TRS_BIN_BENCH_RESULT_H

#include "bin/common/timing.h"
#include "trisolve-sparse.h"

#include <stdbool.h>

enum { NAME_SIZE = 512 }; /* of the name of a triangle, its end included */

typedef struct cell { /* one solver on one triangle; all times in seconds */
    trs_solver_info solver;
    bool auto_host,
        auto_device; /* it is the automatic choice for B and X on the host, on the device */
    int status;      /* of the first call that failed, with its sentence: */
    char message[320];
    trs_info info;      /* of the plan, without its strings */
    char levels_by[64]; /* trs_info.analysis */
    spread analysis;    /* by the vendor's library where it has one, else of the levels */
    spread setup;       /* the rest of trs_plan_analyse */
    spread update;
    double factor; /* the part of update that makes L and U; 0: there is none */
    int block;     /* of the solvers that TRS_LU_BLOCK sets the block size of; 0: its default */
    /* The solves of the first half decide which solver is the best; those of the second half are what is reported.  So the
     * best of many solvers is not faster by chance. */
    spread first, solve;
    int passes;  /* how often both halves were measured, because they were apart (are_apart) */
    bool steady; /* they are not apart, at last */
    trs_error error;
    bool accurate; /* its backward error is within the bound of its precision */
} cell;

typedef struct io_figures { /* of --io: one file; times in seconds */
    int runs;
    int64_t bytes;   /* of its text, unpacked */
    int64_t packed;  /* of the file */
    int64_t written; /* of its copy */
    double total;    /* reading, of which: */
    double parse, build;
    double write;
} io_figures;

/* A plan with default options; times in seconds, all 0: there is none.  It takes
 *     prepare + k first                                   for k < grows_at solves, or grows_at = 0
 *     prepare + (grows_at - 1) (first - grown) + growth + k grown    for more */
typedef struct growing {
    int64_t grows_at; /* as in trs_info */
    double prepare, first, growth, grown;
} growing;

typedef struct result { /* one triangle, or why there is none */
    const char *name;   /* of the file without its folders, and L or U for a factor */
    const char *file;   /* the matrix, with its folders, or KIND:SIZE; NULL: of --dense */
    char trouble[400];  /* why there are no cells; "": there are */
    char problem[64];   /* trs_mm.problem */
    unsigned kind;
    trs_dtype dtype;
    int64_t n, nnz, levels, widest, longest; /* as in trs_info */
    double sweep;    /* seconds that the levels take by a sweep over the rows; 0: not measured */
    double sort;     /* ... by a topological sort of the columns */
    char costs[200]; /* where the cost model has its numbers from */
    double load[2];  /* load_average before and after */
    /* By the costs of the library: seconds for a byte from memory, and for a level; on the host, on the device; 0: not known */
    double byte[2], level[2];
    growing growing;
    double alloc;  /* --dense with a GPU: seconds to allocate A, b, x there; else 0 */
    double copy;   /* ... to copy A and b there, and x back */
    io_figures io; /* of --io; else all 0 */
    int count;
    cell *cells; /* [count] */
} result;

void result_free(result *r);

/* Of --dense: is it one of the triangles, and not one of the general matrices? */
bool is_triangle(const result *r);

/* The backward error that the solver promises to keep small. */
double promised_error(const cell *c);
bool promises_normwise(const cell *c);

/* Who takes the results, one after the other.  A return value that is not EXIT_GOOD ends the run
 * with it. */
typedef struct taker {
    int (*take)(void *user, const result *r);
    void *user;
} taker;

/* ---- times and ratios ------------------------------------------------------------------------ */

double total(const cell *c); /* analysis + one solve, as in the slides (doc/design.md) */

/* Seconds from A and b to x where they lie: the solve, and for a general matrix the factorisation
 * before. */
double seconds_to_solve(const result *r, const cell *c);

/* What --dense shows of a result, and of a cell of it, in ms; NaN: there is none. */
typedef enum quantity {
    /* seconds_to_solve; NaN for a cell that is NULL */
    SOLVE_MS,
    /* to allocate on the device */
    ALLOC_MS,
    /* to copy there and back */
    COPY_MS,
    /* no time: the ratio of factoring by lu-fullgrid to lu-submatrix */
    SUBMATRIX_RATIO
} quantity;

double quantity_of(const result *r, const cell *c, quantity what);

/* The cell of a solver with that block size that did not fail; NULL: there is none. */
const cell *find_cell(const result *r, const char *solver, int block);

/* Seconds over those of a reference in the same result; NaN when either did not run. */
double over_solve(const result *r, const cell *c, const char *reference);
double over_total(const result *r, const cell *c, const char *reference);

/* Bytes that a solve moves at least: of the matrix in CSR with indices of 32 bits, B and X. */
double least_bytes(const result *r, int nrhs);

/* What limits a solve where the solver runs, by result.byte and result.level; NaN: these are not known. */
typedef struct bound {
    double rate;   /* least_bytes over the time of the solve, bytes a second */
    double memory; /* seconds that these bytes take */
    double levels; /* seconds that the levels take one after the other */
    double ratio;  /* of the solve to the longer of the two */
} bound;

bound bound_of(const result *r, const cell *c, int nrhs);

/* ---- many results ---------------------------------------------------------------------------- */

typedef struct result_list {
    int count;
    result *r; /* [count] copies; those with a trouble have no cells */
} result_list;

int result_list_add(result_list *l, const result *r); /* an exit code */
void result_list_free(result_list *l);

/* The first result that has cells; NULL: there is none. */
const result *first_solved(const result_list *l);

#endif
