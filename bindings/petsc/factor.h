/* factor.h: what stands behind a factored Mat of the solver type "trisolve".
 *
 * A factored Mat F has a trs_petsc as its data.  MatGetFactor makes it (register.c), the symbolic step reads the
 * options and keeps the ordering, the numeric one opens the arrays of A (source.c) and factors them with the shifts
 * that PETSc asks for (factor.c, shift.c); MatSolve and its relatives solve with the factors (solve.c). */
#ifndef TRS_PETSC_FACTOR_H
#define TRS_PETSC_FACTOR_H

#include <petsc/private/matimpl.h>
#include <petscdevice.h>
#include <trisolve-sparse.h>

#if defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_SINGLE)
#define TRS_PETSC_DTYPE TRS_C32
#elif defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE)
#define TRS_PETSC_DTYPE TRS_C64
#elif defined(PETSC_USE_REAL_SINGLE)
#define TRS_PETSC_DTYPE TRS_F32
#elif defined(PETSC_USE_REAL_DOUBLE)
#define TRS_PETSC_DTYPE TRS_F64
#else
#error "trisolve-sparse has PETSc's scalars of single and double precision only"
#endif

/* What the library is asked for, from the options of F (factor.c). */
typedef struct trs_petsc_options {
    char solver[64];  /* trs_options.solver; "": chosen */
    char method[16];  /* trs_factor_options.method; "": chosen */
    PetscInt threads; /* trs_options.threads */
    PetscBool transpose;
    int device; /* TRS_HOST or TRS_CUDA (k) */
} trs_petsc_options;

typedef struct trs_petsc {
    trs_petsc_options options;
    MatFactorInfo info;        /* of the symbolic step: level of fill */
    IS row, col;               /* A(row, col) is factored; NULL: A itself */
    trs_lu *lu;                /* NULL: no numeric step yet */
    PetscReal shift;           /* added to the diagonal of A */
    char why[256];             /* what the library said about the last numeric step; "": nothing */
    PetscLogDouble flops;      /* of a solve */
    PetscBool transposed;      /* the factors solve with their transposes too */
    Vec ordered;               /* one vector in the order of the factors; NULL without ordering */
    VecScatter by_row, by_col; /* from the order of A into that of row and col */
    void *device_b,
        *device_x; /* [device_bytes] each, for vectors of the host; NULL: not needed yet */
    size_t device_bytes;
    PetscViewer viewer; /* of -mat_trisolve_view; NULL: not asked for */
    PetscViewerFormat format;
    Mat A; /* that was factored last, and its state then: for the first transpose */
    PetscObjectState state;
} trs_petsc;

/* What is registered once for each PetscInitialize. */
typedef struct trs_petsc_registered {
    PetscLogEvent factor, update, solve;
    PetscMPIInt node_rank, node_size; /* this process, of how many on its node */
} trs_petsc_registered;
extern trs_petsc_registered trs_petsc_global;

/* The arrays of A as the library sees them. */
typedef struct trs_petsc_source {
    Mat from; /* whose arrays they are: A, or a copy by scalars or in another order */
    const PetscInt *ptr, *idx; /* on the host */
    PetscScalar *val;          /* where mat is */
    trs_mat mat;               /* of these arrays, or of PETSc's copies on the GPU */
} trs_petsc_source;

/* Open A for the factors F, permuted if F is; close what was opened. */
PETSC_INTERN PetscErrorCode trs_petsc_open(Mat F, Mat A, trs_petsc_source *source);
PETSC_INTERN PetscErrorCode trs_petsc_close(trs_petsc_source *source);

/* Let source describe the arrays on the host, if it describes those on a GPU. */
PETSC_INTERN PetscErrorCode trs_petsc_to_host(trs_petsc_source *source);

/* Set the operations of F, which is fresh from MatCreate. */
PETSC_INTERN PetscErrorCode trs_petsc_set_factor(Mat F);
PETSC_INTERN PetscErrorCode trs_petsc_set_solve(Mat F);
PETSC_INTERN PetscErrorCode trs_petsc_set_view(Mat F);

/* Factor A, of which nothing but values has changed since the last time, or for the first time. */
PETSC_INTERN PetscErrorCode trs_petsc_numeric(Mat F, Mat A, const MatFactorInfo *info);

/* Drop the ordering of the last symbolic step. */
PETSC_INTERN PetscErrorCode trs_petsc_forget_ordering(Mat F);

/* One attempt to factor M, whose values may be shifted.  Returns a trs_status. */
PETSC_INTERN int trs_petsc_attempt(Mat F, const trs_mat *M, const MatFactorInfo *info);

/* Factor the source M, and M + shift I as long as pivots are bad and info->shifttype says what to do about it.  rc: a
 * trs_status. */
PETSC_INTERN PetscErrorCode trs_petsc_shifted(Mat F, trs_petsc_source *source,
                                              const MatFactorInfo *info, int *rc);

/* Is F incomplete; is it that of a symmetric matrix, L L'? */
static inline PetscBool trs_petsc_incomplete(Mat F)
{
    return (PetscBool)(F->factortype == MAT_FACTOR_ILU || F->factortype == MAT_FACTOR_ICC);
}

static inline PetscBool trs_petsc_symmetric(Mat F)
{
    return (PetscBool)(F->factortype == MAT_FACTOR_CHOLESKY || F->factortype == MAT_FACTOR_ICC);
}

/* Put the code rc of a call that failed, and the library's sentence, into an error of PETSc. */
#define TrsPetscCall(call)                                                                         \
    do {                                                                                           \
        const int trs_rc_ = (call);                                                                \
        PetscCheck(!trs_rc_, PETSC_COMM_SELF, trs_petsc_code(trs_rc_), "trisolve-sparse: %s",      \
                   trs_message());                                                                 \
    } while (0)
PETSC_INTERN PetscErrorCode trs_petsc_code(int rc);

#endif
