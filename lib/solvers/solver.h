/* solver.h: what a solver is, what it is asked, and the table of all of them.
 *
 *     estimate   what a solve would take, from a prospect and the machine; or a reason why it is not for this one
 *     build      pattern -> its own data (trs_instance.data)
 *     update     values -> its own data
 *     estimate   again, of what was built: the values may have made a difference
 *     solve      X = op(T)^-1 B, with nothing allocated and nothing waited for
 *     release
 *
 * A solver asks its operator for the pattern, the values and the levels where it needs them, and for analyses that it
 * goes by (matrix/operator.h).  doc/adding-a-solver.md builds one step by step. */
#ifndef TRS_SOLVER_H
#define TRS_SOLVER_H

#include "matrix/operator.h"

/* ---- what an estimate looks at ---------------------------------------------------------------- */

typedef struct trs_shape { /* what every triangle has */
    int64_t n, nnz;
    int64_t levels, widest;
    int64_t longest;     /* entries in the longest row */
    double sum_longest;  /* over the levels, of the longest row of each */
    double thin_entries; /* entries in levels too small to share out */
    int64_t wide_levels; /* the others */
    double waiting; /* fraction of the rows that wait for the row just before, in natural order */
    double
        scattered; /* fraction of the rows that do not stand beside the row before them in level order */
    double elem; /* bytes of a number */
    bool is_complex;
    int nrhs;
} trs_shape;

enum { TRS_MOST_FEATURES = 4 };

typedef enum trs_effort { /* which analyses are made for an estimate: those that are worth while, */
                          TRS_LOOK_IF_LARGE, /* where solves take long enough for them to pay, */
                          TRS_LOOK,          /* wherever there is a pattern to look at, */
                          TRS_NEED           /* and those that the solver named cannot do without */
} trs_effort;

/* A triangle that may be solved with: an operator, or a part of one that has not been made yet. */
typedef struct trs_prospect {
    trs_shape shape;
    int64_t limit;    /* of the memory, bytes; 0: none was set */
    trs_operator *op; /* NULL: a part, of which the following is guessed */
    trs_effort effort;
    int features;
    struct {
        const trs_analysis *of;
        const void *result;
    } feature[TRS_MOST_FEATURES];
} trs_prospect;

/* The result of an analysis of the prospect, made on demand; NULL: there is none, or it is not worth its making.
 * needed: the solver that asks cannot do without. */
const void *trs_prospect_analysis(const trs_prospect *p, const trs_analysis *a, bool needed);
void trs_prospect_of(trs_operator *op, trs_effort effort, trs_prospect *p);
void trs_shape_of(const trs_operator *op, trs_shape *shape);

/* Seconds one core takes to go through entries and rows that stream by. */
double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows);
/* Seconds that one core takes for rows beyond their work, where this fraction of them waits for the row just before:
 * work of a row is done while its latency goes by. */
double trs_cpu_wait(const trs_machine *m, double waiting, double rows, double work);

typedef struct trs_cost { /* seconds of one solve, in its terms */
    double bytes;         /* data moved */
    double sync;          /* launches and barriers */
    double latency;       /* steps that wait for one another */
    double copies;        /* B and X between host and device */
    bool preliminary;     /* what it depends on is known only when it has been built */
} trs_cost;

double trs_seconds(const trs_cost *c);
void trs_cost_add(trs_cost *sum, const trs_cost *c);

/* ---- a solver at work ------------------------------------------------------------------------- */

struct trs_solver;

typedef struct trs_instance { /* a solver built for an operator */
    trs_context *ctx;
    trs_operator *op;
    const struct trs_solver *solver;
    double growth;         /* that update found; 0: the solver does not say */
    int64_t broken;        /* general matrices: the pivot at which LU broke down; -1: at none */
    double seconds_factor; /* that update took to factor, copies not counted; 0: likewise */
    void *data;            /* the solver's */
} trs_instance;

typedef struct trs_job { /* one solve */
    int nrhs;
    trs_view b, x; /* b.p may be x.p, then with the same strides */
    bool conj;     /* solve with the conjugated values */
    int threads;
    void *stream;
    void *work; /* scratch of solver->work_bytes, or what solver->work_create made */
} trs_job;

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
    bool full;       /* stores the triangle as a full matrix: has a memory limit by default */
    bool
        by_columns; /* named by the caller, it has the levels from a topological sort of the columns (seed) */
    bool serial_bits; /* gives the bits of cpu-serial, by whatever order of the rows */
    bool
        reconsiders; /* its estimate of what was built differs from that before: it may be replaced */
    /* can the library it calls be opened? 0, or not: the reason; NULL: it calls none */
    int (*library)(char *why, size_t size);
    /* Costs of a solve; of what was built, or, built = NULL, before.  Returns NULL, or why it is not for this one. */
    const char *(*estimate)(const trs_prospect *, const trs_instance *built, const trs_machine *,
                            trs_cost *);
    int64_t (*bytes)(const trs_prospect *); /* that build and update will take where it runs */
    int (*build)(trs_instance *);           /* pattern -> data; NULL: nothing to do */
    /* The operator has new values; device: in the order of the stream.  NULL: nothing to do */
    int (*update)(trs_instance *, void *stream);
    int (*solve)(const trs_instance *, const trs_job *);
    /* What there is to say of it besides, "; ..."; NULL: nothing */
    void (*describe)(const trs_prospect *, char *text, size_t size);
    /* general matrices, n > 0: u [n] on the host = diag (U) of the last update; *odd: the parity of its row
     * exchanges, false before the call */
    int (*pivots)(const trs_instance *, trs_context *, void *u, bool *odd);
    void (*release)(trs_instance *); /* data, also half-made; NULL: nothing to do */
    /* scratch of a solve where the solver runs, shared with other plans; NULL: see below */
    int64_t (*work_bytes)(const trs_instance *, int nrhs);
    /* a work space of the solver's own, when plain scratch will not do; NULL: needs none */
    int (*work_create)(const trs_instance *, trs_context *, int nrhs, void **);
    /* the instance may be gone by then; the context has the memory that work_create was given */
    void (*work_destroy)(trs_context *, void *);
} trs_solver;

/* Does it invert, and not look at an update what becomes of it? */
static inline bool trs_inverts_blindly(const trs_solver *s)
{
    return s->accuracy == TRS_INVERTING && !s->reconsiders;
}

/* Is there memory for it, the default limit of full matrices included? */
bool trs_fits(const trs_solver *s, const trs_prospect *p);

/* The table: each room's local.mk lists the files of its solvers, and solvers.inc is made from these lists. */
#define TRS_SOLVER(name) extern const trs_solver trs_solver_##name;
#include "solvers.inc"
#undef TRS_SOLVER
const trs_solver *trs_solver_at(int k);               /* NULL past the end */
const trs_solver *trs_solver_named(const char *name); /* NULL: none */
int trs_solver_available(const trs_solver *s, int device, char *why, size_t size);

/* ---- building one, for a plan or for another solver ---------------------------------------------- */

/* i is zero before, and released by the caller whatever is returned. */
int trs_instance_build(trs_instance *i, trs_operator *op, const trs_solver *s);
int trs_instance_update(trs_instance *i, void *stream);
void trs_instance_release(trs_instance *i);

/* A work space for an instance alone, scratch or the solver's own: trs_job.work. */
typedef struct trs_instance_work {
    const trs_solver *solver;
    void *p;
} trs_instance_work;

int trs_instance_work_create(const trs_instance *i, trs_context *ctx, int nrhs,
                             trs_instance_work *w);
void trs_instance_work_destroy(trs_context *ctx, trs_instance_work *w);

#endif
