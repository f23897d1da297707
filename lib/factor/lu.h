/* lu.h: the factors of a matrix with the plans of their triangles, and the interface of a library that factors.
 *
 *     A --trs_lu_csc--> trs_csc --UMFPACK, CHOLMOD--> trs_factors --trs_lu_adopt--> two plans
 *
 * libtrisolve-sparse does not know the library that factors.  trs_lu.backend holds what that library stores for the
 * next numeric factorisation.  The functions here are hidden and not part of the public interface.
 * libtrisolve-suitesparse gets them, and those of call.h, from the table trs_core () (suitesparse/core_table.h). */
#ifndef TRS_LU_H
#define TRS_LU_H

#include "base/libraries/blas.h"
#include "base/context.h"
#include "base/libraries/library.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A in the form that libraries take: by columns, with ascending rows, base 0, in double precision. */
typedef struct trs_csc {
    int64_t n, nnz;
    bool is_complex; /* x holds pairs (re, im) */
    bool hermitian;  /* with a positive diagonal; the library that factors finds out */
    bool
        indefinite; /* it is Hermitian with another diagonal; only if the caller has named no method */
    bool by_lines; /* it came as CSR or CSC */
    int64_t *p;    /* [n+1] */
    int64_t *i;    /* [nnz] */
    double *x;     /* [nnz], complex: [2*nnz] */
} trs_csc;

/* (L U)(k, m) = scale(P(k)) A(P(k), Q(m)), or L L^H = A(P, P).  The arrays are from trs_lu_alloc.  L and U may be two
 * triangles of the same arrays.  Incomplete factors are of the type of A, without scaling, and P = Q: NULL, or the order
 * of rows and columns alike. */
typedef struct trs_factors {
    bool cholesky;
    bool incomplete;
    /* L and U are patterns without numbers, which a device computes, or again/again.c */
    bool symbolic;
    trs_mat L, U;     /* of type F64 or C64; cholesky: U is all zero */
    int64_t *P, *Q;   /* [n] each, two arrays; cholesky: Q = NULL */
    double *scale;    /* [n] by row of A; NULL: there is no scaling */
    double largest_a; /* max |scale a| of complete ones, |z| = |Re z| + |Im z| */
    double rcond;     /* 0: unknown */
    double largest_l; /* max |l| of L S L^H */
    /* A(P, P) = L S L^H.  [n] the diagonal of S, 1 or -1; or, for the two rows of a block of S, the signs of its eigenvalues,
     * whose product is 1 or -1.  NULL: S = I.  Only with cholesky */
    int8_t *sign;
    /* [4*n] if rows k and k + 1 are a block of S, [a b; conj (b) c] of its inverse is a, c, re b, im b from block [4*k] on;
     * otherwise b = 0 there.  NULL: S is diagonal */
    double *block;
    const char *library, *ordering; /* names, which are constants */
} trs_factors;

/* P, Q and the scaling as solves need them, where the plans' B and X live; each NULL where the factors have none. */
typedef struct trs_lu_order {
    int64_t n; /* of the arrays */
    int32_t *P, *Q;
    double *scale; /* [n] on a device: by row of A */
    int8_t *sign;  /* [n] on a device; factors that are computed there have their own */
    double *block; /* [4*n] on a device */
    /* on the host alone */
    int32_t *P_inverse, *Q_inverse; /* Q_inverse [Q [k]] = k */
    double *pivot_scale;            /* [n] scale(P(k)) */
} trs_lu_order;

struct trs_lu {
    trs_memory mem;
    int base;        /* 0 or 1: the first row and column in sentences */
    trs_dtype dtype; /* of A, B and X; complete factors are in double precision */
    bool ready;      /* factors and plans are of the same A, so that solve may run */
    bool singular;   /* the last A was found to be exactly singular, and there are no factors */
    /* incomplete factors on the host: bad pivots of the last A, and the row of the first; 0: none */
    int64_t bad, first_bad;
    trs_options opt; /* of both plans */
    char solver[64]; /* what opt.solver points to */
    trs_factors f;
    trs_plan *l, *u; /* of L and U; cholesky: u = NULL */
    bool single;     /* the plans of complete factors are in single precision */
    int width;       /* how many right-hand sides are solved at a time */
    /* how often the plans were dropped: work spaces of those before no longer fit */
    int64_t drops;
    trs_lu_order there;
    trs_lu_work *own; /* the work space of solves whose caller passes none (lu_work.c) */
    trs_lu_info info;
    /* factors that are computed on a device; NULL: they are computed on the host, and f has their arrays */
    struct trs_lu_device *device;
    /* A^-1 on the device, which solves one column (device/inverse.h); NULL: there is none */
    struct trs_lu_inverse *inverse;
    struct trs_lu_half *half; /* A is Hermitian and comes as one triangle; NULL: all of it comes */
    bool lower_only;          /* of a Hermitian A the lower triangle is all that is read */
    /* of complete factors: that of A, in arrays of the lu */
    trs_mat pattern;
    struct trs_lu_again *again; /* what computes new values on the host; NULL: nothing yet */
    bool never_again;           /* nothing can, but the library */
    bool reads_pattern;         /* update reads ptr and idx of A again */
    bool refreshes; /* plans take values that are on the device, in the order of a stream */
    bool host_only; /* no kernel refactors these factors on the device */
    bool refactors; /* new values that do not suit the pivots are factored on the host */
    /* Incomplete factors by blocks, in place of plans.  They belong to the backend.  Of those on a device this has the numbers of
     * rows and blocks alone, and device->blocks the rest.  NULL: there are none. */
    const struct trs_ilu_blocks *blocks;
    double growth_limit; /* of complete factors on a device */
    /* of incomplete factors, as in trs_ilu_options; boost also of L D L^H, as in trs_factor_options */
    double shift, boost;
    int8_t *signs; /* [n] trs_factor_options.signs, copied; NULL: none is known */
    /* A, with which solves refine x once; it belongs to the backend; NULL: they do not (lu_refine.c) */
    const trs_csc *refined;
    /* the library still has L and U, and there are no plans (lu_first.c) */
    atomic_bool waits;
    pthread_mutex_t lock; /* of whoever solves with such factors, or settles them */
    int solved;           /* columns since the factorisation, by the library */
    double *first;        /* [9*n], complex: [13*n]: scratch of such solves */
    /* x = op(A)^-1 b by the library; work [5*n] is scratch */
    int (*solve_first)(trs_lu *lu, trs_op op, double *x, const double *b, double *work);
    /* an order of A that the backend has found for a method that A does not suit, for KLU; NULL: none */
    struct trs_klu_order *order;
    /* what the backend has analysed: the pattern of A by columns */
    const trs_csc *analysed;
    /* numbers of f for new values in its pattern (again/again.c); only for L S L^H */
    int (*renew)(trs_lu *lu, const trs_mat *A, const int64_t *places, bool *done);
    /* copies the factors that wait, and makes the plans */
    int (*settle)(trs_lu *lu);
    /* *other: L U of the A that the backend has seen last, with pivots that are exchanged, for those who cannot use these
     * factors; NULL: everybody can.  The caller destroys it, also after an error, unless it is NULL */
    int (*exchange)(const trs_lu *lu, trs_lu **other);
    void *backend;
    /* factors an A of the same pattern, on the host */
    int (*update)(trs_lu *lu, const trs_mat *A);
    void (*release)(trs_lu *lu, void *backend);
};

/* Make a lu for A without factors.  opt is for its plans; solves_per_update: on a device, unless opt says.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM (then *lu = NULL), TRS_EDEVICE. */
int trs_lu_new(trs_lu **lu, const trs_mat *A, const trs_options *opt, int solves_per_update);

/* NULL and a sentence when there is no memory. */
void *trs_lu_alloc(trs_lu *lu, int64_t count, size_t size, const char *what);
/* Free any number of arrays: trs_lu_free (lu, p, q). */
#define trs_lu_free(lu, ...) trs_lu_free_each(lu, TRS_POINTERS(__VA_ARGS__))
void trs_lu_free_each(const trs_lu *lu, int count, void *const *p);

/* Make a trs_csc of any host matrix.  Entries given twice and values that are not finite are refused. */
int trs_lu_csc(trs_lu *lu, const trs_mat *A, trs_csc *C);
void trs_lu_csc_free(trs_lu *lu, trs_csc *C);

/* A power of two near size, whose inverse is a power of two as well; 1 when size is 0 or not finite. */
double trs_power_near(double size);

/* Take the factors over and make the plans.  *f is empty afterwards, also after an error.  When the patterns are those of
 * the factors before, the plans only get the new values. */
int trs_lu_adopt(trs_lu *lu, trs_factors *f);
/* *whole is A, or the whole of it if its kind has TRS_SELFADJOINT: in arrays of the lu, on the host, or the values alone on
 * the device of the factors if those of A are there.  first: this is the first A, whose kind and pattern are stored (half.c).
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX, TRS_ESUPPORT, TRS_EDEVICE. */
int trs_lu_whole(trs_lu *lu, const trs_mat *A, bool first, void *stream, trs_mat *whole);
void trs_lu_half_free(trs_lu *lu);
/* The same for complete factors of A on the host; where the plans are on a device, the factors are computed there again,
 * and new values will be, if there is a kernel for them.  Symbolic factors that cannot be computed there, or whose pivots
 * are bad, are refused with TRS_EGROWTH. */
int trs_lu_adopt_there(trs_lu *lu, const trs_mat *A, trs_factors *f);
/* lu->pattern = that of A, copied: values may come without it later, or with it and be compared. */
int trs_lu_keep_pattern(trs_lu *lu, const trs_mat *A);
/* Call lu->update for the first A, which may be on a device if the factors are for one. */
int trs_lu_begin(trs_lu *lu, const trs_mat *A);
void trs_lu_triangles_free(trs_lu *lu, trs_factors *f); /* L and U alone */
void trs_lu_factors_free(trs_lu *lu, trs_factors *f);

/* What changes during a solve (lu_work.c). */
struct trs_lu_work {
    trs_context ctx; /* whose memory it has */
    const trs_lu *lu;
    int64_t drops; /* those of the lu when it was made */
    int64_t n;
    trs_dtype type;      /* of y: that of the plans */
    int width;           /* right-hand sides at a time */
    bool on_device;      /* y and power are there */
    trs_work *l, *u;     /* NULL: the plans' own */
    atomic_bool solving; /* a solve uses it */
    void *r; /* [n*width] of the type of A: the residual, for solves that refine x; else NULL */
    void *y; /* [n*width] in pivot order; NULL: the factors have no permutation */
    /* [width] for plans of complete factors in single precision, else NULL: what the columns of b, and then those of y, are
     * multiplied by, a power of two; on a device, the size of a column, next to which the power is */
    double *power;
    struct trs_stage_progress *progress; /* of solves by blocks on the host; else NULL */
    void *sweeps; /* [2*n] on a device, between the sweeps of solves by blocks; else NULL */
};

trs_dtype trs_lu_single(trs_dtype t);         /* the type in single precision, real or complex */
trs_dtype trs_lu_plan_type(const trs_lu *lu); /* the type of the plans */
/* Bring P, Q and the scaling to where the plans solve, and make the lu's own work space, as far as the factors need that. */
int trs_lu_vectors(trs_lu *lu);
void trs_lu_vectors_free(trs_lu *lu);

/* Solve once after a factorisation of A, and let lu->refined be A if solves have to refine their x.  Returns TRS_OK, or as
 * trs_lu_solve. */
int trs_lu_watch(trs_lu *lu, const trs_csc *A);

/* Returns TRS_ESTATE, and says whether there are no factors yet, or none of the last A. */
int trs_lu_no_factors(const trs_lu *lu, const char *asked);
/* Make the plans of lu->f, or give them the values of lu->f; only_l: the plan of L alone. */
int trs_lu_plan(trs_lu *lu, bool only_l);
/* Make the plan of one triangle, or give it new values in the order of the stream.  A plan that cannot be analysed is
 * destroyed.  The name is for sentences. */
int trs_lu_plan_of(trs_lu *lu, trs_plan **plan, const trs_mat *m, const char *name, void *stream);
/* Work spaces made before do not fit the next plans. */
void trs_lu_drop_plans(trs_lu *lu);
/* Fill in what the plans say; seconds: what they took. */
void trs_lu_set_info(trs_lu *lu, double seconds);

#endif
