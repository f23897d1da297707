/* factor.h: what factor.c needs from a library that factors: one symbolic analysis, and any number of
 * numeric factorisations. */
#ifndef TRS_SUITESPARSE_FACTOR_H
#define TRS_SUITESPARSE_FACTOR_H

#include "core_table.h"

#include <math.h>

/* These functions of call.h, memory.h and lu.h are in libtrisolve-sparse, which exports only the table of them. */
#define trs_enter             trs_core()->trs_enter
#define trs_leave             trs_core()->trs_leave
#define trs_fail              trs_core()->trs_fail
#define trs_forget            trs_core()->trs_forget
#define trs_check_reserved    trs_core()->trs_check_reserved
#define trs_step              trs_core()->trs_step
#define trs_now               trs_core()->trs_now
#define trs_default_threads   trs_core()->trs_default_threads
#define trs_share             trs_core()->trs_share
#define trs_lu_new            trs_core()->trs_lu_new
#define trs_lu_alloc          trs_core()->trs_lu_alloc
#define trs_lu_free_each      trs_core()->trs_lu_free_each
#define trs_lu_schur_import   trs_core()->trs_lu_schur_import
#define trs_lu_schur          trs_core()->trs_lu_schur
#define trs_lu_csc            trs_core()->trs_lu_csc
#define trs_lu_csc_free       trs_core()->trs_lu_csc_free
#define trs_lu_adopt_there    trs_core()->trs_lu_adopt_there
#define trs_lu_begin          trs_core()->trs_lu_begin
#define trs_lu_may_wait       trs_core()->trs_lu_may_wait
#define trs_lu_wait           trs_core()->trs_lu_wait
#define trs_lu_stop_waiting   trs_core()->trs_lu_stop_waiting
#define trs_lu_known_sides    trs_core()->trs_lu_known_sides
#define trs_lu_accurate       trs_core()->trs_lu_accurate
#define trs_lu_backward_error trs_core()->trs_lu_backward_error
#define trs_lu_watch          trs_core()->trs_lu_watch
#define trs_lu_factors_free   trs_core()->trs_lu_factors_free
#define trs_elimination_tree  trs_core()->trs_elimination_tree
#define trs_column_counts     trs_core()->trs_column_counts
#define trs_blas_begin        trs_core()->trs_blas_begin
#define trs_blas_end          trs_core()->trs_blas_end

typedef struct trs_method {
    const char *name;
    enum {
        TRS_ANY,
        TRS_DEFINITE,
        TRS_INDEFINITE
    } hermitian;   /* else any A; only Hermitian ones: positive definite, or all */
    bool symbolic; /* its factors are symbolic */
    /* Order A and analyse its pattern.  *symbolic is set, for release, also after an error; NULL and TRS_OK: the next
     * method suits this pattern better, which cannot happen if the caller has named the method.  ordering: NULL means the
     * library's default. */
    int (*analyse)(trs_lu *lu, const trs_csc *A, const char *ordering, bool named, void **symbolic);
    /* Factor A, whose pattern was analysed, and leave the factors in *symbolic.  Sets the names, rcond, cholesky and numbers of
     * entries of f; a method without `take` sets L and U as well, or lists what they have (trs_factors.symbolic).  TRS_EPIVOT: the
     * factorisation broke down, and the sentence says in which row. */
    int (*numeric)(trs_lu *lu, const trs_csc *A, void *symbolic, trs_factors *f);
    /* Copy the factors of A to f; NULL: numeric has. */
    int (*take)(trs_lu *lu, const trs_csc *A, void *symbolic, trs_factors *f);
    /* The same as numeric for other values of the same A, into the arrays that f has, without allocating; NULL: it cannot. */
    int (*renew)(trs_lu *lu, const trs_csc *A, const void *symbolic, trs_factors *f);
    /* x = op(A)^-1 b by the library, before drop.  work [5*n] is scratch. */
    int (*solve)(const trs_csc *A, void *symbolic, trs_op op, double *x, const double *b,
                 double *work);
    /* Free the factors in *symbolic, which were copied; NULL: they are still needed. */
    void (*drop)(trs_lu *lu, void *symbolic);
    void (*release)(trs_lu *lu, void *symbolic);
} trs_method;

/* Solves on a device wait for levels more than for entries, and METIS leaves few levels.  For one solve, it takes too long. */
static inline bool trs_few_levels_pay(const trs_lu *lu)
{
    return lu->opt.device > 0 && lu->opt.solves != 1;
}

/* Indices below n of a factor in 32 bits, which are enough because n < 2^31.  NULL and a sentence when there is no
 * memory. */
int32_t *trs_narrow(trs_lu *lu, const int64_t *from, int64_t count, int64_t n);

/* Is the number at z, real or (re, im), finite? */
static inline bool trs_is_finite(const double *z, bool is_complex)
{
    return isfinite(z[0]) && (!is_complex || isfinite(z[1]));
}

/* Allocate a triangle with 64-bit indices; and make these 32 bits wide when it is filled.  TRS_OK, TRS_EMEM. */
int trs_triangle_new(trs_lu *lu, trs_mat *m, bool is_complex, int64_t n, int64_t nnz);
int trs_triangle_narrow(trs_lu *lu, trs_mat *m);
/* Bring m from columns in any order to rows, with 32-bit indices: a plan takes these as they are, where it would transpose
 * columns, after KLU had transposed them twice to sort them. */
int trs_triangle_to_rows(trs_lu *lu, trs_mat *m);

extern const trs_method trs_method_static, trs_method_cholmod, trs_method_klu, trs_method_umfpack,
    trs_method_ldlt;

#endif
