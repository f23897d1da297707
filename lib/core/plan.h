/* plan.h: plans, and the functions shared by their files.
 *
 * The life of a plan, with the members that each step sets and the state after it:
 *
 *     create   copies the options; checks the caller's matrix (given) and imports it (imported)     TRS_CREATED
 *     analyse  makes the operators with their levels (side [k].op);
 *              predicts, tries or measures solvers (candidate) and chooses one (solver, reason);
 *              builds an instance of it for each side (side [k].instance);
 *              reads the first values, looks for bad pivots, and makes a work space (work)         TRS_READY
 *     solve    reads the plan, and writes only to a work space (work.h)                            TRS_READY
 *     grow     replaces the instance of a side by that of a better solver (grow.c)                 TRS_READY
 *     update   reads new values and looks for bad pivots                                           TRS_READY
 *     destroy  frees all of it
 *
 * If analyse or update finds values that the plan cannot solve with, the state is TRS_ANALYSED until another update brings
 * better ones.  During analyse it is TRS_FAILED, and stays so after an error.  trs_plan_load replaces the first two steps of
 * analyse (saved.c).  trs_plan_refresh is an update without the host (refresh.h).
 *
 * An upper triangle, or the transpose of a lower one, is a lower triangle with rows and columns counted backwards
 * (matrix/operator.h); solvers then see X and B through a negative row stride.  If a matrix is a triangle T after
 * permutations of its rows and columns (matrix/permuted.c), the operators are those of T, and solve.c permutes B and
 * X. */
#ifndef TRS_PLAN_H
#define TRS_PLAN_H

#include "base/debug.h"
#include "select/select.h"

#include <pthread.h>
#include <stdatomic.h>

/* An instance that solved before the plan grew, for the work spaces and captured graphs that have it. */
typedef struct trs_retired {
    trs_instance instance;
    int version;
    struct trs_retired *next;
} trs_retired;

/* One side of a plan: op(T), and the solver that was built for it. */
typedef struct trs_side {
    bool transposed; /* false: it solves with TRS_N; true: with TRS_T and TRS_H */
    trs_operator op;
    trs_instance instance;
    bool quick;             /* the instance was prepared fast, and a better one may be built */
    const trs_solver *next; /* what it grows to at grows_at; NULL: the best solver */
    int version;            /* how many instances were there before */
    atomic_bool shared; /* a work space of the caller or a captured graph may have the instance */
    int64_t solves, grows_at; /* as in trs_info, of this side */
    trs_retired *retired;
} trs_side;

/* The reason of a plan that began before the levels were known. */
#define TRS_NO_ANALYSIS "begins without an analysis"

struct trs_plan {
    trs_context ctx;
    enum { TRS_FAILED, TRS_CREATED, TRS_ANALYSED, TRS_READY } state;
    trs_info info;

    /* from the options */
    bool on_device; /* B and X live on the GPU */
    bool measure;   /* choose by solving */
    bool weighs;    /* the solver is taken only if one device alone is predicted to be slower */
    int64_t solves; /* that it is made for; 0: unknown */
    trs_order order;
    trs_pivot pivot;
    double pivot_value;

    /* the caller's matrix, with NULL in place of its arrays */
    trs_mat given;
    bool general; /* it is a general dense matrix (general.c) */
    /* until analyse: op(T) by rows as the caller stored it, if it was imported on the host */
    trs_tri imported;
    bool imported_is_t;     /* what was imported, on the host or on the device, is T' */
    int32_t *P, *Q;         /* [n] TRS_PERMUTED: T(k, m) = A(P [k], Q [m]); else NULL */
    int32_t *P_dev, *Q_dev; /* the same on the device, when the solver runs there */

    /* the sides in use: that of T if TRS_N was announced, then that of T' if TRS_T or TRS_H was */
    trs_side side[2];
    int sides;
    int begin, end; /* the sides that are being built: all of them, or the one that grows */

    /* what the plan chooses from, its first choice first */
    trs_candidate candidate[TRS_CANDIDATES];
    int candidates;
    /* the one that the caller named, or the one that was last chosen; NULL until then */
    const trs_solver *solver;
    char reason[500]; /* why this solver was chosen */

    /* [n] level order of T in the caller's numbering; it may be the array of the operator's levels */
    const int32_t *topo;
    /* for topo and the rows of a batch, which several threads may ask for */
    pthread_mutex_t topo_lock;
    trs_work *work;      /* of solves without a work space of the caller */
    atomic_bool solving; /* a solve uses it, or replaces it while the plan grows */
    trs_branch *branch;  /* the stream on which T' is refreshed at the same time as T; NULL: none */
    bool capture_anyhow; /* for tests: solvers may be captured that do not claim it */

    /* of the last values */
    bool pivots_known; /* the last update has brought values and looked at their pivots */
    int64_t bad_pivots, first_bad;

    /* with TRS_PIVOT_SKIP only, else empty */
    trs_tri whole; /* what was imported, before rows were left out, without values */
    /* [n] 1: the row is left out; in the caller's numbering, or T's if permuted */
    unsigned char *skip, *skip_dev;
};

static inline bool trs_plan_is_analysed(const trs_plan *p)
{
    return p->state == TRS_ANALYSED || p->state == TRS_READY;
}

/* TRS_OK, or TRS_EARG (NULL) or TRS_ESTATE with a sentence that begins with what was asked for. */
static inline int trs_plan_check_analysed(const trs_plan *p, const char *asked)
{
    if (!p) return trs_fail(TRS_EARG, "%s: plan is NULL", asked);
    if (trs_plan_is_analysed(p)) return TRS_OK;
    return trs_fail(TRS_ESTATE, "%s: the plan is not analysed", asked);
}

/* The side of T, or of T'; NULL if it was not announced.  It is not const, because the operators of a const plan still cache
 * what they are asked for. */
static inline trs_side *trs_plan_side(const trs_plan *p, bool transposed)
{
    for (int k = 0; k < p->sides; k++)
        if (p->side[k].transposed == transposed) return (trs_side *)&p->side[k];
    return NULL;
}

static inline bool trs_is_on_gpu(const trs_instance *i)
{
    return i->solver && i->solver->place == TRS_ON_CUDA;
}

/* The instance of a side that was there after so many others; NULL: it is gone. */
static inline const trs_instance *trs_side_instance(const trs_side *s, int version)
{
    if (version == s->version) return &s->instance;
    const trs_retired *r = s->retired;
    while (r && r->version != version) r = r->next;
    return r ? &r->instance : NULL;
}

/* Is it known how many levels there are?  The levels themselves are known when op.lv.ptr is there. */
static inline bool trs_side_knows_levels(const trs_side *s)
{
    return s->op.lv.ptr || s->op.on_device & TRS_OP_LEVELS;
}

/* Is a solver built?  It is not if an update had to analyse again and failed; then another update has to do it. */
static inline bool trs_plan_is_built(const trs_plan *p)
{
    return p->side[0].instance.solver != NULL;
}

/* ---- create (plan_create.c) ---------------------------------------------------------------------- */

int trs_plan_find_solver(trs_plan *p, const char *name); /* sets p->solver, unless name is NULL */
/* *host has the arrays of a matrix that lives on a device, or its values alone, copied to the host; it is m itself if m
 * is on the host.  Call trs_mat_fetched when it is no longer needed, also after a failure. */
int trs_mat_fetch(trs_context *ctx, const trs_mat *m, bool pattern, trs_mat *host);
void trs_mat_fetched(trs_context *ctx, const trs_mat *m, trs_mat *host);

/* ---- operators (operators.c) ------------------------------------------------------------------- */

/* Is T, or T' if transposed, an upper triangle?  Then its operator counts rows backwards. */
bool trs_counts_backwards(const trs_plan *p, bool transposed);
/* Import m on the device, if it is there.  *done = false: it has to be imported on the host. */
int trs_plan_import_there(trs_plan *p, const trs_mat *m, bool *done);
/* Copy a matrix that is on the device only to trs_plan.imported, as if it had come from the host. */
int trs_plan_import_to_host(trs_plan *p);
int trs_plan_make_operators(trs_plan *p); /* of all sides, without levels */
/* The levels of a side, unless they are known (op.lv.ptr).  What is found of the first side is also told by trs_info. */
int trs_plan_find_levels(trs_plan *p, trs_side *side);
/* How many they are, and on a device the level of each row: all that the solvers with which plans begin take. */
int trs_plan_count_levels(trs_plan *p, trs_side *side);
int trs_plan_order_by_level(trs_operator *op); /* store the rows in level order */

/* ---- the rest of analyse (plan.c) ---------------------------------------------------------------- */

/* Make instances, the work space and the first values.  The operators are there, and the solver is chosen.  start: when
 * analyse began. */
int trs_plan_finish(trs_plan *p, double start);
/* ---- facts (plan_info.c) ----------------------------------------------------------------------- */

int trs_plan_keep_topo(trs_plan *p); /* makes p->topo, if the host has the levels of T */
/* TRS_OK, or TRS_EMEM: the plan would need more memory with this solver than the limit allows. */
int trs_plan_check_limit(const trs_plan *p, const trs_solver *solver);
/* Add to p->reason. */
void trs_plan_say(trs_plan *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- single vectors ----------------------------------------------------------------------------- */

/* x = op(T)^-1 x in place, with x [n] on the host.  stage, from trs_hosted_new, is device memory by which x goes to a
 * plan whose B and X live on a device, and NULL for other plans (hosted.c). */
int trs_hosted_new(const trs_plan *p, void **stage);
void trs_hosted_free(const trs_plan *p, void *stage);
int trs_solve_hosted(const trs_plan *p, trs_op op, void *x, void *stage, const trs_exec *exec);

/* ---- pivots (pivots.c) -------------------------------------------------------------------------- */

/* Count the bad pivots among new values of the operators, on the host or on the device, wherever these are, and replace
 * them if the plan says so.  Work on the device is waited for. */
int trs_pivots_treat(trs_plan *p);
/* With TRS_PIVOT_SKIP, val being the caller's: p->imported becomes p->whole, and then what is left of it. */
int trs_pivots_import(trs_plan *p, const void *val);
/* Count and mark the bad pivots in the caller's val.  Are they in other rows than before? */
bool trs_pivots_other(trs_plan *p, const void *val);
/* p->imported = p->whole without the rows that are marked. */
int trs_pivots_leave_out(trs_plan *p, const void *val);
int trs_pivots_put(trs_plan *p); /* copy p->skip to the device, if a solve needs it there */
/* The caller's row with the pivot of row k of an operator. */
int64_t trs_pivot_row(const trs_plan *p, const trs_operator *op, int32_t k);
/* Returns TRS_EPIVOT with a sentence if there are bad pivots and the plan says fail. */
int trs_pivots_report(trs_plan *p);

#endif
