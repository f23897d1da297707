/* plan.h: plans, and the functions shared by their files.
 *
 *     trs_mat --check, import--> operators (op(T) = T, and T' where it was announced)
 *             --levels, analyses--> a prospect --choose--> a solver --build--> an instance
 *     solve:  views of B and X --> solver->solve
 *
 * An upper triangle, or the transpose of a lower one, is a lower triangle with rows and columns counted backwards
 * (matrix/operator.h); solvers then see X and B through a negative row stride.  If a matrix is a triangle T after
 * permutations of its rows and columns (matrix/permuted.c), the operators are those of T, and solve.c permutes B and
 * X. */
#ifndef TRS_PLAN_H
#define TRS_PLAN_H

#include "select/select.h"

#include <pthread.h>

struct trs_plan {
    trs_context ctx;
    enum { TRS_FAILED, TRS_CREATED, TRS_ANALYSED, TRS_READY } state;
    trs_mat shape; /* the caller's matrix, with NULL in place of its arrays */
    /* until analyse: op(T) by rows as the caller stored it, when it came by the host */
    trs_tri imported;
    bool imported_is_t; /* what was imported, or taken over on the device, is T' */
    trs_operator op[2]; /* for op = N; for op = T and H */
    trs_instance solver[2];
    const trs_solver *wanted;
    /* what the plan chooses from, its first choice first */
    trs_candidate candidate[TRS_CANDIDATES];
    int candidates;
    bool on_device;    /* B and X live on the GPU */
    bool measure;      /* choose by solving */
    bool general;      /* a general dense matrix (general.c) */
    bool pivots_known; /* the last update has brought values and looked at their pivots */
    trs_order order;
    /* [n] level order of op = N in the caller's numbering; it may be that of its levels */
    const int32_t *topo;
    pthread_mutex_t
        topo_lock; /* for topo, and rows of a batch, which several threads may ask for */
    trs_pivot pivot;
    double pivot_value;
    int64_t bad_pivots, first_bad;
    int32_t *P, *Q;         /* [n] TRS_PERMUTED: T(k, m) = A(P [k], Q [m]); else NULL */
    int32_t *P_dev, *Q_dev; /* the same on the device, when the solver runs there */
    /* with TRS_PIVOT_SKIP only, else empty */
    trs_tri whole; /* what was imported, before rows were left out, without values */
    /* [n] 1: the row is left out; in the caller's numbering, or T's if permuted */
    unsigned char *skip, *skip_dev;
    trs_work *own;
    trs_branch *branch; /* on which T' is refreshed, beside T; NULL: there is none */
    trs_info info;
    char reason[500];
    bool capture_anyhow; /* for tests: solvers may be captured that do not claim it */
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

/* The first operator in use, which is asked what both have in common. */
static inline trs_operator *trs_plan_operator(trs_plan *p)
{
    return &p->op[p->op[0].used ? 0 : 1];
}

/* ---- the life of a plan (plan_create.c, operators.c, plan.c, plan_info.c) ---------------------- */

int trs_plan_find_solver(trs_plan *p, const char *name); /* sets p->wanted, unless name is NULL */
/* *host has the arrays of a matrix that lives on a device, or its values alone, copied to the host; it is m itself if m
 * is on the host.  Call trs_mat_fetched when it is no longer needed, also after a failure. */
int trs_mat_fetch(trs_context *ctx, const trs_mat *m, bool pattern, trs_mat *host);
void trs_mat_fetched(trs_context *ctx, const trs_mat *m, trs_mat *host);
int trs_plan_keep_topo(trs_plan *p); /* makes p->topo */
/* Fill in info->bytes_host and bytes_device, with those of the solver unless it is NULL. */
void trs_plan_bytes(const trs_plan *p, const trs_solver *solver, trs_info *info);
/* Add to p->reason. */
void trs_plan_say(trs_plan *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* TRS_OK, or TRS_EMEM: the plan would need more memory with this solver than it may take. */
int trs_plan_check_limit(const trs_plan *p, const trs_solver *solver);
/* Make instances, the work space and the first values, when operators and choice are there.  start: when analyse began. */
int trs_plan_finish(trs_plan *p, double start);
/* Is a solver built?  It is not if an update had to analyse again and failed; then another update has to do it. */
bool trs_plan_is_built(const trs_plan *p);

/* Seconds of a solve by what is built, with T or its transpose, and of its share of an update (predict.c). */
double trs_plan_cost(trs_plan *p, const trs_machine *m, trs_effort effort, int solves_per_update);

/* ---- operators (operators.c) ------------------------------------------------------------------- */

bool trs_counts_backwards(const trs_plan *p, int k); /* Is op(T) of operator k an upper triangle? */
/* Take m, which is on the device, over there.  *taken = false says that it has to be imported on the host. */
int trs_plan_take_resident(trs_plan *p, const trs_mat *m, bool *taken);
/* Copy a matrix that is on the device only to trs_plan.imported, as if it had come from the host. */
int trs_plan_import_to_host(trs_plan *p);
int trs_plan_make_operators(trs_plan *p);      /* all that are announced, with levels */
int trs_plan_order_by_level(trs_operator *op); /* store the rows in level order */

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
/* Count and mark the bad pivots in the caller's val.  Do they stand in other rows than before? */
bool trs_pivots_other(trs_plan *p, const void *val);
/* p->imported = p->whole without the rows that are marked. */
int trs_pivots_leave_out(trs_plan *p, const void *val);
int trs_pivots_put(trs_plan *p); /* copy p->skip to the device, if a solve needs it there */
/* The caller's row with the pivot of row k of an operator. */
int64_t trs_pivot_row(const trs_plan *p, const trs_operator *op, int32_t k);
/* Returns TRS_EPIVOT with a sentence if there are bad pivots and the plan says fail. */
int trs_pivots_report(trs_plan *p);

#endif
