/* solver.h: the definition of a solver, its functions, and the table of all solvers.
 *
 *     estimate   predicts the time of a solve from a prospect and the machine, or tells why the solver does not apply
 *     build      makes the solver's own data from the pattern (trs_instance.data)
 *     update     puts values into these data, and may decide by them
 *     refresh    puts values into these data in the order of a stream, with the decisions of the last update
 *     estimate   is called again for what was built, since the values may make a difference
 *     solve      solves X = op(T)^-1 B; it allocates nothing and waits for nothing
 *     release    frees the data
 *
 * A solver gets the pattern, the values and the levels, on the host or the device, and the analyses that it uses from
 * its operator (matrix/operator.h).  doc/adding-a-solver.md builds one step by step. */
#ifndef TRS_SOLVER_H
#define TRS_SOLVER_H

#include "matrix/operator.h"

/* ---- what an estimate looks at ---------------------------------------------------------------- */

/* features of every triangle */
typedef struct trs_shape {
    int64_t n, nnz;
    int64_t levels, widest;
    /* entries in the longest row */
    int64_t longest;
    /* sum over the levels of the entries in the longest row of each */
    double sum_longest;
    /* entries in levels too small to share among threads */
    double thin_entries;
    /* number of the other levels */
    int64_t wide_levels;
    /* fraction of the rows that wait for the row just before, in natural order */
    double waiting;
    /* fraction of the rows that are not next to the previous row of the level order */
    double scattered;
    /* fraction of the rows that are not as long as the row just before, in natural order */
    double uneven;
    /* fraction of the entries near whose column the row just before has none */
    double irregular;
    /* bytes of a number */
    double elem;
    bool is_complex;
    int nrhs;
} trs_shape;

enum { TRS_MOST_FEATURES = 6 };

/* Which analyses are made for an estimate. */
typedef enum trs_effort {
    TRS_LOOK_IF_LARGE, /* those that are worth while, if solves take long enough for them to pay */
    TRS_LOOK,          /* those that are worth while, whatever the size */
    TRS_NEED           /* only those that the solver that was named cannot do without */
} trs_effort;

/* A triangle that may be solved with: an operator, or a part of one that has not been made yet. */
typedef struct trs_prospect {
    trs_shape shape;
    int64_t limit;          /* of the memory, bytes; 0: none was set */
    trs_operator *op;       /* NULL: a part, of which shape and features are estimates */
    const trs_context *ctx; /* NULL: of no plan */
    trs_effort effort;
    int features;
    struct {
        const trs_analysis *of;
        const void *result;
    } feature[TRS_MOST_FEATURES];
} trs_prospect;

/* The result of an analysis of the prospect, which is made on demand; NULL if there is none, or if it is not worth
 * making.  needed: the solver that asks cannot do without it. */
const void *trs_prospect_analysis(const trs_prospect *p, const trs_analysis *a, bool needed);
void trs_prospect_of(trs_operator *op, trs_effort effort, trs_prospect *p);
void trs_shape_of(const trs_operator *op, trs_shape *shape);

/* Are most entries in columns near which the row before has none, and is x larger than the cache that a core has for itself?
 * The operator has its pattern on the host. */
bool trs_reads_x_irregularly(const trs_operator *op, const trs_machine *m);

/* Has the cache of the machine room for the triangle and its vectors? */
bool trs_cpu_keeps(const trs_machine *m, const trs_shape *s);
/* Seconds that one core takes for a byte of the triangle, from the cache if that has room for it. */
double trs_cpu_byte(const trs_machine *m, const trs_shape *s);
/* Seconds one core takes to go through entries and rows that stream by. */
double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows);
/* Seconds that one core takes for rows beyond their work, where this fraction of them waits for the row just before:
 * work of a row is done while its latency goes by. */
double trs_cpu_wait(const trs_machine *m, double waiting, double rows, double work);
/* Seconds that it takes more to go through the rows in level order, where neighbours read x at different places, and b and
 * x of one row are not near those of the next. */
double trs_cpu_scatter(const trs_machine *m, const trs_shape *s);

typedef struct trs_cost { /* seconds of one solve, in its terms */
    double bytes;         /* data moved */
    double sync;          /* launches and barriers */
    double latency;       /* steps that wait for one another */
    double copies;        /* B and X between host and device */
    double update;        /* of new values, whatever comes before and after solves with them */
    bool preliminary;     /* what it depends on is known only when it has been built */
} trs_cost;

double trs_seconds(const trs_cost *c); /* of a solve */
/* Of a solve and its share of an update; 0 solves an update: updates do not count. */
double trs_seconds_each(const trs_cost *c, int solves_per_update);
void trs_cost_add(trs_cost *sum, const trs_cost *c);

/* ---- a solver at work ------------------------------------------------------------------------- */

struct trs_solver;

typedef struct trs_instance { /* a solver built for an operator */
    trs_context *ctx;
    trs_operator *op;
    const struct trs_solver *solver;
    bool refreshes;     /* as solver->refreshes; a build may find that it does not */
    double growth;      /* which the update found; 0: the solver does not say */
    double sweep_error; /* of solvers that approximate: the bound that the last update has found */
    int64_t breakdown;  /* general matrices: the pivot at which LU broke down; -1: it did not */
    /* which the update took to factor, without copies; 0: the solver does not say */
    double seconds_factor;
    void *data; /* the solver's own */
} trs_instance;

typedef struct trs_job { /* one solve */
    int nrhs;
    trs_view b, x; /* b.p may be x.p if the strides are the same */
    bool conj;     /* solve with the conjugated values */
    int threads;
    void *stream;
    void *work; /* scratch of solver->work_bytes, or what solver->work_create made */
    /* right-hand sides of the call of trs_solve, of which these are some; 0: nrhs.  How x is computed may depend on it, but not
     * on nrhs, which the work space limits. */
    int of_call;
} trs_job;

/* A solve with both triangles of factors: y by the first, x by the second, for one right-hand side. */
typedef struct trs_both {
    struct {
        const struct trs_instance *instance;
        const trs_job
            *job; /* b of the first and x of the second are the caller's, as the orders have them */
    } of[2];
    /* [n] where the solver runs: row k of the first triangle is row order_b [k] of b, times scale_b of that row; and row k of
     * the second one goes to row order_x [k] of x, times scale_x.  A scale may be NULL. */
    const int32_t *order_b, *order_x;
    const double *scale_b, *scale_x;
} trs_both;

/* ---- solvers ---------------------------------------------------------------------------------- */

typedef enum trs_place { TRS_ON_CPU = 0, TRS_ON_CUDA = 1 } trs_place;
typedef enum trs_family { TRS_TRIANGLE = 0, TRS_GENERAL_DENSE = 1 } trs_family;

typedef struct trs_solver {
    const char *name, *about;
    trs_place place;
    trs_family family;
    unsigned caps;
    trs_accuracy accuracy;
    trs_order order; /* preferred plan order */
    bool full; /* it stores the triangle as a full matrix, and so has a memory limit by default */
    /* if the caller names it, levels are found by a topological sort of the columns (seed) */
    bool by_columns;
    /* Not 0: its estimate takes no more of the levels than their number, and its build that and the level of each row, in
     * so many seconds and a few more for many entries.  Plans that grow begin with it. */
    double quick;
    /* plans begin with it before even the levels are known, if X has at most so many numbers; 0: they do not */
    int64_t at_once;
    bool approximates; /* it does trs_options.sweeps: nothing lists, names or chooses it */
    bool several;      /* it solves on trs_options.devices: nothing lists, names or chooses it */
    bool serial_bits;  /* it gives the bits of cpu-serial, in whatever order it takes the rows */
    /* its estimate of what was built may differ from that before; then it may be replaced */
    bool reconsiders;
    /* it takes new values from the device without the host: what takes them only enqueues work on the stream, and can be
     * captured in a CUDA graph */
    bool refreshes;
    /* Can the library that it calls be opened?  Returns TRS_OK, or an error and why.  NULL: it calls none. */
    int (*library)(char *why, size_t size);
    /* Predict the costs of a solve with what was built, or before the build if built is NULL, and what the solver does of
     * an update, in stream order.  Returns NULL, or why the solver is not for this prospect. */
    const char *(*estimate)(const trs_prospect *, const trs_instance *built, const trs_machine *,
                            trs_cost *);
    /* which build and update will take at most where the solver runs, the operator there included */
    int64_t (*bytes)(const trs_prospect *);
    /* what a solver on a device has there once it is built, the operator not included.  NULL: bytes is near enough */
    int64_t (*held)(const trs_instance *);
    int (*build)(trs_instance *); /* Make data of the pattern.  NULL: there is nothing to do. */
    /* The operator has new values; on the device they are read in the order of the stream.  NULL: there is nothing to
     * do. */
    int (*update)(trs_instance *, void *stream);
    /* The same by a solver that refreshes, where its update looks at the values on the host: what that found stays.
     * NULL: update does it. */
    int (*refresh)(trs_instance *, void *stream);
    /* Set growth after a refresh, in the order of the stream, which is waited for.  NULL: no refresh changes it. */
    int (*find_growth)(trs_instance *, void *stream);
    int (*solve)(const trs_instance *, const trs_job *);
    /* Both triangles of factors by one launch.  TRS_ESUPPORT without a sentence: not these.  NULL: none. */
    int (*solve_both)(const trs_both *);
    /* Say what there is to say besides, as "; ...".  NULL: nothing */
    void (*describe)(const trs_prospect *, char *text, size_t size);
    /* Of general matrices with n > 0: u [n] on the host = diag (U) of the last update, and *odd, which is false before,
     * the parity of its row exchanges. */
    int (*pivots)(const trs_instance *, trs_context *, void *u, bool *odd);
    /* Free data, also half-made ones.  NULL: there is nothing to do. */
    void (*release)(trs_instance *);
    /* The bytes of scratch of a solve, where the solver runs, which may be shared with other plans.  NULL: see below. */
    int64_t (*work_bytes)(const trs_instance *, int nrhs);
    /* Make a work space of the solver's own, where plain scratch will not do.  NULL: it needs none. */
    int (*work_create)(const trs_instance *, trs_context *, int nrhs, void **);
    /* The instance may be gone by then; the context has the memory that work_create was given. */
    void (*work_destroy)(trs_context *, void *);
} trs_solver;

/* Does it invert without looking at the growth at an update? */
static inline bool trs_inverts_blindly(const trs_solver *s)
{
    return s->accuracy == TRS_INVERTING && !s->reconsiders;
}

/* Is it within the limit of memory, which full matrices have by default? */
bool trs_fits(const trs_solver *s, const trs_prospect *p);
int trs_check_fit(const trs_solver *s, const trs_prospect *p); /* TRS_OK, or TRS_EMEM: it is not */

/* The table: each module's local.mk lists the files of its solvers, and solvers.inc is made from these lists. */
#define TRS_SOLVER(name) extern const trs_solver trs_solver_##name;
#include "solvers.inc"
#undef TRS_SOLVER
const trs_solver *trs_solver_at(int k);               /* NULL past the end */
const trs_solver *trs_solver_named(const char *name); /* NULL: none */
/* Number k = 0, 1, ... of those of trs_options.devices if several, else of trs_options.sweeps; NULL: this build has no more
 * there. */
const trs_solver *trs_solver_of_option(bool several, trs_place place, int k);
int trs_solver_available(const trs_solver *s, int device, char *why, size_t size);

/* ---- building one, for a plan or for another solver ---------------------------------------------- */

/* Build a solver for op in *i, which is zero before.  The caller releases it whatever is returned. */
int trs_instance_build(trs_instance *i, trs_operator *op, const trs_solver *s);
int trs_instance_update(trs_instance *i, void *stream);
/* Of an instance that refreshes and has been updated before, for an operator with new values on the device. */
int trs_instance_refresh(trs_instance *i, void *stream);
/* Set growth to that of the last values.  It waits for the stream. */
int trs_instance_find_growth(trs_instance *i, void *stream);
void trs_instance_release(trs_instance *i);

/* A work space for an instance alone, either scratch or of the solver's own; p is trs_job.work. */
typedef struct trs_instance_work {
    const trs_solver *solver;
    void *p;
} trs_instance_work;

int trs_instance_work_create(const trs_instance *i, trs_context *ctx, int nrhs,
                             trs_instance_work *w);
void trs_instance_work_destroy(trs_context *ctx, trs_instance_work *w);

#endif
