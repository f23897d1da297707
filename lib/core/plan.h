/* plan.h: plans.
 *
 *     trs_mat --check, import--> operators (op(T) = T, and T' where it was announced)
 *             --levels, analyses--> a prospect --choose--> a solver --build--> an instance
 *     solve:  views of B and X --> solver->solve
 *
 * An upper triangle, or the transpose of a lower one, is a lower triangle with rows and columns counted backwards
 * (matrix/operator.h); X and B are then seen through a negative row stride.  Of a matrix that is a triangle T after
 * permutations of its rows and columns (matrix/permuted.c), the operators are those of T, and B and X are permuted on
 * their way (solve.c). */
#ifndef TRS_PLAN_H
#define TRS_PLAN_H

#include "select/select.h"

#include <pthread.h>

struct trs_plan {
    trs_context ctx;
    enum { TRS_FAILED, TRS_CREATED, TRS_ANALYSED, TRS_READY } state;
    trs_mat shape; /* the caller's matrix without its arrays */
    trs_tri
        imported; /* until analyse: op(T) by rows as the caller stored it, when it came by the host */
    bool imported_is_t; /* that, or the operator that came from the device, is T' */
    trs_operator op[2]; /* op = N; op = T and H */
    trs_instance solver[2];
    const trs_solver *wanted;
    trs_candidate candidate[TRS_CANDIDATES]; /* wanted was the first of, if the plan has chosen */
    int candidates;
    bool on_device; /* B and X live on the GPU */
    bool measure;   /* choose by solving */
    bool general;   /* a general dense matrix (general.c) */
    bool judged; /* the values are those of the last update, which found good pivots or bad ones */
    trs_order order;
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
};

/* The first operator in use: what both have in common is asked of this one. */
static inline trs_operator *trs_plan_operator(trs_plan *p)
{
    return &p->op[p->op[0].used ? 0 : 1];
}

/* ---- the life of a plan (plan_create.c, operators.c, plan.c, plan_info.c) ---------------------- */

int trs_plan_find_solver(trs_plan *p, const char *name); /* sets p->wanted; NULL: nothing to do */
/* The arrays of a matrix that lives on a device, or its values alone, copied to the host; m itself where it is there.
 * Then trs_mat_fetched, also after a failure. */
int trs_mat_fetch(trs_context *ctx, const trs_mat *m, bool pattern, trs_mat *host);
void trs_mat_fetched(trs_context *ctx, const trs_mat *m, trs_mat *host);
int trs_plan_keep_topo(trs_plan *p); /* p->topo, in the caller's numbering */
/* info->bytes_host and bytes_device, with this solver (NULL: without). */
void trs_plan_bytes(const trs_plan *p, const trs_solver *solver, trs_info *info);
/* The operators and the choice are there: instances, work space, first values; start: when it began. */
int trs_plan_finish(trs_plan *p, double start);
/* false: an update that had to analyse again has failed, and another one has to do it. */
bool trs_plan_is_built(const trs_plan *p);

/* Seconds of a solve by what is built, with T or its transpose (predict.c). */
double trs_plan_cost(trs_plan *p, const trs_machine *m, trs_effort effort);

/* ---- operators (operators.c) ------------------------------------------------------------------- */

bool trs_counts_backwards(const trs_plan *p, int k); /* op(T) of operator k is upper */
/* Take m over where it is, on the device; *taken = false: it has to pass the host. */
int trs_plan_take_resident(trs_plan *p, const trs_mat *m, bool *taken);
/* The matrix is on the device only: have it on the host as trs_plan.imported, as if it had come from there. */
int trs_plan_import_to_host(trs_plan *p);
int trs_plan_make_operators(trs_plan *p);      /* with levels */
int trs_plan_order_by_level(trs_operator *op); /* rows of a level side by side */

/* ---- single vectors, measuring ------------------------------------------------------------------ */

/* op(T)^-1 x in place, x [n] on the host; stage, from trs_hosted_new, carries it to a plan whose B and
 * X live on a device, and is NULL for others (hosted.c). */
int trs_hosted_new(const trs_plan *p, void **stage);
void trs_hosted_free(const trs_plan *p, void *stage);
int trs_solve_hosted(const trs_plan *p, trs_op op, void *x, void *stage, const trs_exec *exec);

/* Put the fastest of count candidates first, by solving with them; say so in reason (measure.c). */
int trs_measure(trs_plan *p, trs_operator *op, trs_candidate *c, int count, char *reason,
                size_t size);
/* p->wanted gives the bits of cpu-serial: that takes over unless it is slower when both solve, or where there is no
 * memory to find out.  Says so in the reason (measure.c). */
void trs_try_serial(trs_plan *p);

/* ---- pivots (pivots.c) -------------------------------------------------------------------------- */

/* Among new values of the operators, where they are: count the bad ones, and replace them if the plan says so; what is
 * on the device is waited for. */
int trs_pivots_treat(trs_plan *p);
/* TRS_PIVOT_SKIP, val being the caller's: p->imported becomes p->whole, and then what is left of it. */
int trs_pivots_import(trs_plan *p, const void *val);
/* Count and mark the bad ones in the caller's val; do they stand in other rows than before? */
bool trs_pivots_other(trs_plan *p, const void *val);
/* p->imported: p->whole without the rows that are marked. */
int trs_pivots_leave_out(trs_plan *p, const void *val);
int trs_pivots_put(trs_plan *p); /* what a solve has to know on the device */
/* The caller's row with the pivot of row k of an operator. */
int64_t trs_pivot_row(const trs_plan *p, const trs_operator *op, int32_t k);
/* TRS_EPIVOT with a sentence: there are bad ones, and the plan says fail. */
int trs_pivots_judge(trs_plan *p);

#endif
