/* refine.h: the operations of a step of refinement on vectors, on the host or on a device. */
#ifndef TRS_REFINE_H
#define TRS_REFINE_H

#include "factor/lu.h"
#include "residual.h"

typedef struct trs_refiner {
    const trs_mat *A; /* where B and X are */
    trs_op op;
    const trs_exec *exec;
    trs_lu *lu;           /* what solves; NULL: plan does */
    const trs_plan *plan; /* NULL: lu does */
    trs_dtype low;        /* the type of the plan or the factors */
    trs_context ctx;      /* for memory and threads */
    const struct trs_refining *by;
    void *data;     /* of its functions, from begin to end */
    double longest; /* entries of the longest row of op(A); begin counts them */
    double goal;    /* an omega that is small enough: that of a stable substitution */
} trs_refiner;

/* Each returns TRS_OK or an error. */
typedef struct trs_refining {
    int (*begin)(trs_refiner *s);
    void (*end)(trs_refiner *s); /* also after a begin that failed */
    /* e = the errors of x, and r = b - op(A) x is kept */
    int (*residual)(const trs_refiner *s, trs_column b, trs_column x, trs_error *e);
    int (*step)(const trs_refiner *s, trs_column x, const trs_error *e); /* x += op(A)^-1 r */
    int (*keep)(const trs_refiner *s, trs_column x);                     /* best = x */
    int (*take_back)(const trs_refiner *s, trs_column x);                /* x = best */
} trs_refining;

extern const trs_refining trs_refining_here;  /* on the host (refine_host.c) */
extern const trs_refining trs_refining_there; /* on the device of A (refine_device.c) */

#endif
