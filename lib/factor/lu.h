/* lu.h: the factors of a matrix with the plans of their triangles, and how a library that makes
 * factors hands them over.
 *
 *     A --trs_lu_import--> trs_csc --UMFPACK, CHOLMOD--> trs_factors --trs_lu_adopt--> two plans
 *
 * libtrisolve-sparse knows nothing of the library behind: what it keeps for the next numeric
 * factorisation hangs on trs_lu.backend.  The functions here are no part of the public interface and
 * hidden: libtrisolve-suitesparse has them, and those of call.h, from the table trs_core (). */
#ifndef TRS_LU_H
#define TRS_LU_H

#include "base/call.h"
#include "base/library.h"

#include <stdbool.h>

/* A in the form that factorising libraries take: by columns, rows ascending, base 0, in double. */
typedef struct trs_csc {
    int64_t n, nnz;
    bool is_complex; /* x holds pairs (re, im) */
    int64_t *p;      /* [n+1] */
    int64_t *i;      /* [nnz] */
    double *x;       /* [nnz], complex: [2*nnz] */
} trs_csc;

/* (L U)(k, m) = scale(P(k)) A(P(k), Q(m)), or L L^H = A(P, P).  Arrays from trs_lu_alloc; L and U may
 * be two triangles of the same arrays. */
typedef struct trs_factors {
    bool cholesky;
    trs_mat L, U;   /* F64 or C64; cholesky: U is all zero */
    int64_t *P, *Q; /* [n] each; cholesky: Q = NULL.  P = NULL: incomplete factors, of
                                       the type of A, without permutation and scaling */
    double *scale;  /* [n] by row of A; NULL: none */
    double rcond;   /* 0: unknown */
    const char *library, *ordering; /* constants */
} trs_factors;

struct trs_lu {
    trs_memory mem;
    int base;        /* of the row and column numbers in sentences */
    trs_dtype dtype; /* of A, B and X; factors with permutations are in double */
    bool ready;      /* factors and plans are of the same A: solve may run */
    bool singular;   /* the last A was found to be exactly so, and there are no factors */
    trs_options opt; /* of both plans */
    char solver[64]; /* opt.solver points here */
    trs_factors f;
    trs_plan *l, *u;
    bool single;   /* of complete factors: the plans, and y, are in single precision */
    int width;     /* right-hand sides solved at a time */
    void *y;       /* [n*width] in pivot order, of the type of the plans */
    double *power; /* [width] single: of two, what each column of y was divided by */
    trs_lu_info info;
    void *backend;
    int (*update)(trs_lu *lu, const trs_mat *A); /* factor again */
    void (*release)(trs_lu *lu, void *backend);
};

/* A lu without factors.  opt: of the plans, NULL: all defaults.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM (then *lu = NULL), TRS_ESUPPORT. */
int trs_lu_new(trs_lu **lu, const trs_options *opt);

/* NULL and a sentence when there is no memory. */
void *trs_lu_alloc(trs_lu *lu, int64_t count, size_t size, const char *what);
void trs_lu_free(trs_lu *lu, void *p);

/* Any host matrix as a trs_csc; entries given twice and values that are not finite are refused. */
int trs_lu_import(trs_lu *lu, const trs_mat *A, trs_csc *C);
void trs_lu_csc_free(trs_lu *lu, trs_csc *C);

/* A power of two near size, whose inverse is one too; 1 when size is 0 or not finite.  Not exported. */
double trs_power_near(double size);

/* Take the factors over (*f is empty afterwards, also after an error), and make the plans; when the
 * patterns are those of the factors before, the plans only get the new values. */
int trs_lu_adopt(trs_lu *lu, trs_factors *f);
void trs_lu_factors_free(trs_lu *lu, trs_factors *f);

/* Make the plans of lu->f, or give them its values; only_l: that of L alone. */
int trs_lu_plan(trs_lu *lu, bool only_l);

/* What the other library calls, each by its own name in the table; lib/factor/suitesparse/factor.h says so to its
 * sources. */
#define TRS_CORE_FUNCTIONS(F)                                                                      \
    F(trs_enter)                                                                                   \
    F(trs_leave)                                                                                   \
    F(trs_fail)                                                                                    \
    F(trs_lu_new)                                                                                  \
    F(trs_lu_alloc)                                                                                \
    F(trs_lu_free)                                                                                 \
    F(trs_lu_import)                                                                               \
    F(trs_lu_csc_free)                                                                             \
    F(trs_lu_adopt)                                                                                \
    F(trs_lu_factors_free)

struct trs_core {
    TRS_CORE_FUNCTIONS(TRS_LIBRARY_MEMBER)
};

#endif
