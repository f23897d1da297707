/* iteration.h: a Krylov method while it runs, and what the methods have in common.
 *
 * A method is begin (from a residual), iterate, and end (x is formed).  The functions below return nothing: the first error is
 * kept in rc, and after it nothing more is done.  The same holds once the scalars say stop, so that on a device the
 * iterations of a group that follow the last one change nothing. */
#ifndef TRS_KRYLOV_ITERATION_H
#define TRS_KRYLOV_ITERATION_H

#include "accuracy/residual.h"
#include "on_device.h"

#include <stdatomic.h>

/* bytes of the scalars that begin and end of a group of iterations need */
enum { TRS_KNOWN = sizeof(trs_scalars) + COMMON * sizeof(trs_z) };

typedef struct trs_iteration trs_iteration;

typedef struct trs_krylov_needs {
    int vectors;
    /* scalars */
    int64_t places;
    /* inner products of a pass at most */
    int dots;
} trs_krylov_needs;

typedef struct trs_krylov_kind {
    /* for cycles of m iterations */
    trs_krylov_needs (*needs)(int m);
    /* cycles have trs_krylov_options.restart iterations; otherwise there is one, of any length */
    bool restarts;
    /* the residual r = b - op(A) x is in vector 0 */
    void (*begin)(trs_iteration *k);
    void (*iterate)(trs_iteration *k);
    /* NULL: x is there */
    void (*end)(trs_iteration *k);
} trs_krylov_kind;

extern const trs_krylov_kind trs_kind_cg, trs_kind_minres, trs_kind_bicgstab, trs_kind_gmres,
    trs_kind_fgmres;

struct trs_krylov {
    trs_context ctx;
    trs_krylov_options opt;
    const trs_krylov_kind *kind;
    bool on_device;
    /* vectors are where B and X are */
    trs_space space;
    char *vector;
    /* the scalars as far as the host knows them: TRS_KNOWN bytes, or, if it iterates, those of the space */
    trs_scalars *known;
    /* for the true residual on the host */
    trs_sums sums;
    /* the same on a device */
    void *scratch;
    /* all arrays on the device, in one block */
    void *device;
    atomic_bool solving;
};

/* The matrix or the preconditioner, ready for products. */
typedef struct trs_applied {
    const trs_map *of;
    /* of a trs_mat on the host: without blocks, and not half of a Hermitian matrix */
    trs_mat whole;
    bool expanded;
    /* memory for threads */
    void *own;
    /* of a trs_mat on a device */
    trs_device_rows rows;
    bool opened;
    int64_t calls;
    double seconds;
    /* for sentences */
    const char *name;
} trs_applied;

/* One right-hand side. */
struct trs_iteration {
    trs_krylov *of;
    trs_applied A, M;
    const trs_krylov_goal *goal;
    /* iterations at most */
    int64_t most;
    /* the norm of the residual that is small enough */
    double target;
    int column;
    const void *b;
    void *x;
    /* the first error */
    int rc;
    /* iterations are over: passes and products are done whatever the scalars say */
    bool closing;
    /* of a cycle: iterations that were enqueued */
    int step;
    /* iterations before the next look at the scalars */
    int group;
    /* info.iterations: those that the caller knows of */
    trs_krylov_info info;
};

/* Vector number i. */
void *trs_krylov_vector(const trs_iteration *k, int i);
void trs_krylov_pass(trs_iteration *k, const trs_pass *p);
/* y = op(A) x */
void trs_krylov_multiply(trs_iteration *k, const void *x, void *y);
/* Returns M^-1 x, which is y, or x itself without a preconditioner. */
void *trs_krylov_precondition(trs_iteration *k, void *x, void *y);

/* Look at an operator, and make what its products need.  Returns what trs_krylov_solve does; trs_applied_close also
 * after an error. */
int trs_applied_open(const trs_krylov *k, const trs_map *of, const char *name, void *stream,
                     trs_applied *a);
void trs_applied_close(const trs_krylov *k, trs_applied *a);
/* Solve for one right-hand side: sets info and rc. */
void trs_krylov_column(trs_iteration *k);
/* r = b - op(A) x, where A is a trs_mat, with sums of more than working precision. */
int trs_exact_residual(const trs_iteration *k, void *r);

#endif
