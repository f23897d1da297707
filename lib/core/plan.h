/* plan.h: plans.
 *
 * The way of a matrix:  trs_mat --check.c--> --import.c--> trs_tri (lower CSR, plan order)
 *   --level.c--> trs_levels --choose.c--> a solver --> trs_part (rows from..to, solver, its data)
 *   --> trs_solve: views of B and X --> solver->solve.
 *
 * An upper triangle, or the transpose of a lower one, is a lower triangle with rows and columns
 * counted backwards.  So a plan has at most two sides, op(T) = T and op(T) = T', each a lower
 * CSR triangle; X and B are seen through a row stride, negative when the side counts backwards;
 * and a solver knows one shape only: lower, N.  Of a matrix that is a triangle T after permutations of its rows
 * and columns (permuted.c), the sides are those of T, and B and X are permuted on their way (solve.c). */
#ifndef TRS_PLAN_H
#define TRS_PLAN_H

#include "select/select.h"

#include <pthread.h>

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

/* ---- single vectors, measuring ---------------------------------------------------------------- */

/* op(T)^-1 x in place, x [n] on the host; stage, from trs_hosted_new, carries it to a plan whose B and
 * X live on a device, and is NULL for others (hosted.c). */
int trs_hosted_new(const trs_plan *p, void **stage);
void trs_hosted_free(const trs_plan *p, void *stage);
int trs_solve_hosted(const trs_plan *p, trs_op op, void *x, void *stage, const trs_exec *exec);

/* Put the fastest of count candidates first, by solving with them; say so in reason (measure.c). */
int trs_measure(trs_plan *p, const trs_side *s, trs_candidate *c, int count, char *reason,
                size_t size);
/* p->wanted is a twin: cpu-serial takes over unless it is slower when both solve, or where there is no memory to
 * find out.  Says so in the reason (measure.c). */
void trs_try_twin(trs_plan *p);

#endif
