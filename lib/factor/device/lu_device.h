/* lu_device.h: factors that are computed on a device, with a known pattern and known pivots.
 *
 *     pattern --cuda/factor--> rows of L + U --levels, elimination.h--> values of L and U --> plans of both
 *     factors of a library --fronts.h--> a tree of fronts; plans of both
 *     new values of A --elimination.h, or fronts.h--> values of L and U --trs_plan_refresh--> both plans
 *
 * Incomplete factors have the pattern of A, or one with some fill.  Complete ones have all fill for the pivots that a
 * library has found on the host. */
#ifndef TRS_LU_DEVICE_H
#define TRS_LU_DEVICE_H

#include "base/device.h"
#include "elimination/block_factors.h"
#include "elimination/fronts.h"
#include "elimination/lu_rows.h"
#include "factor/incomplete/ilu_blocks.h"
#include "factor/lu.h"
#include "turned.h"

typedef struct trs_lu_device {
    trs_context ctx;
    trs_mat shape;   /* of A, without its arrays: all later ones have its pattern */
    trs_dtype dtype; /* of the factors */
    int64_t numbers; /* in val */
    int64_t first_u; /* L's come first, and U's from this one on */
    void *val;
    void *sent;      /* A's values as copied from the host; NULL: none were */
    void *converted; /* A's values in the type of the factors; NULL: it is the type of A */
    void *rounded;   /* val in single precision; NULL unless lu->single */
    trs_elimination_outcome *outcome;
    trs_branch *branch; /* a second stream where U's plan takes its values; may be NULL */
    double limit;       /* of the growth */
    bool waits;         /* updates wait, and return errors of pivots and growth */

    trs_block_factors *blocks; /* not NULL: val has factors by blocks, and there are no plans */
    trs_fronts *fronts;        /* NULL: what follows computes the factors */
    /* of fronts, until the plans are made: ptr and idx of L, and of U, on the device */
    void *pattern[4];
    trs_elimination *elimination;
    trs_lu_rows rows;
    double *scale;
    double shift, boost;
    /* of L S L^H, [n] in the order of the pivots: S, and the signs that pivots should have; NULL: there is none */
    int8_t *sign, *signs;
    /* of pivots of two rows (turned.h), on the device; turns = 0: there are none */
    int32_t turns;
    /* [turns] */
    int32_t *turned;
    /* [4*turns] of dtype */
    void *turn;
    /* of G: its entries, their terms in the values of A, and their values */
    int64_t mixed, *mix_from;
    void *mix_by, *mix;
} trs_lu_device;

/* Make lu->device with what all factors have, and the device current. */
int trs_lu_device_new(trs_lu *lu, const trs_mat *A, trs_dtype dtype, double limit, bool waits);
/* Allocate the arrays of values and the outcome: all that an update needs.  A: its shape. */
int trs_lu_device_values(trs_lu *lu, const trs_mat *A);
/* Bring pivots of two rows there; t = NULL: there are none. */
int trs_lu_device_turns(trs_lu_device *d, const trs_turned *t);

/* What is to be factored.  The arrays are read in trs_lu_device_make only. */
typedef struct trs_lu_task {
    const trs_mat *A; /* its shape, and its values if they are there */
    /* of L + U, on the host or the device: A itself, or the rows with their fill */
    const trs_mat *pattern;
    const int64_t *src; /* [nnz of the pattern] as trs_gpu_lu_rows takes it; NULL: in order */
    bool cholesky;
    trs_dtype dtype;     /* of the factors */
    const double *scale; /* [n] of the rows of the pattern, on the host; NULL: 1 */
    double shift, boost; /* as in trs_ilu_options */
    double limit;        /* of the growth */
    bool waits;          /* updates wait, and return errors of pivots and growth */
    /* pivots of two rows, where src counts the entries of G; NULL: there are none */
    const trs_turned *turned;
} trs_lu_task;

/* Make lu->device and factor A.  *made = false: the host has to factor it, because no kernel takes this pattern, or because
 * A is not well-formed, which the host reports.  After TRS_EPIVOT and TRS_EGROWTH lu->device is there, and an update
 * with other values makes the plans.  lu->f has P and Q, and gets the shapes of L and U.  Returns as trs_ilu. */
int trs_lu_device_make(trs_lu *lu, const trs_lu_task *task, bool *made);
/* Factor new values of A and give them to the plans, in the order of the stream. */
int trs_lu_device_update(trs_lu *lu, const trs_mat *A, void *stream);
/* Wait, and report as trs_lu_status does. */
int trs_lu_device_status(trs_lu *lu, int64_t *bad, int64_t *first, double *growth);
/* Copy L and U to lu->f: L + U - I by rows, or L; of fronts, L and U as the library has them; and S. */
int trs_lu_device_fetch(trs_lu *lu);
/* Wait, and copy S of L S L^H to lu->f; lu->info counts the pivots that were boosted.  TRS_ESTATE: a pivot was bad. */
int trs_lu_device_signs(trs_lu *lu);
void trs_lu_device_free(trs_lu *lu);

/* As trs_lu_device_make for the pattern m of blocks, which is on the host.  If *made, lu->blocks is m, without its arrays. */
int trs_lu_blocks_make(trs_lu *lu, const trs_mat *A, trs_ilu_blocks *m, bool waits, bool *made);

/* ---- complete factors (complete.c) -------------------------------------------------------------- */

/* As trs_lu_device_make, for the P, Q and scaling of lu->f and A on the host.  Where the pivots turn out to be bad on the
 * device, *made is false, and lu->f is as before. */
int trs_lu_complete_make(trs_lu *lu, const trs_mat *A, bool *made);
/* Give L and U of lu->f all entries that elimination may make of A, on the host, with the order P, Q (complete_factors.c).
 * Returns TRS_OK, TRS_EMEM, TRS_EMATRIX, TRS_ESUPPORT without a sentence (there are more than limit). */
int trs_lu_complete_factors(trs_lu *lu, const trs_mat *A, int64_t limit);
/* As trs_lu_complete_make by fronts, which keep the patterns of L and U that lu->f has, and plans of them (fronts.c).
 * turned: pivots of two rows; NULL: there are none. */
int trs_lu_fronts_make(trs_lu *lu, const trs_mat *A, const trs_turned *turned, double limit,
                       bool *made);

#endif
