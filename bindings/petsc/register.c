/* register.c: how PETSc learns of the solver type "trisolve".
 *
 * `-dll_prepend /usr/lib/libtrisolve-petsc.so` lets PetscInitialize open this library and call the function that is named
 * after the file.  Programs that link the library can call it themselves, after PetscInitialize. */
#include "config.h"

#include "factor.h"

#define TRISOLVE "trisolve"

trs_petsc_registered trs_petsc_global;

static PetscErrorCode solver_type(Mat F, MatSolverType *type)
{
    PetscFunctionBegin;
    (void)F;
    *type = TRISOLVE;
    PetscFunctionReturn(0);
}

static PetscErrorCode destroy(Mat F)
{
    trs_petsc *f = F->data;
    PetscFunctionBegin;
    trs_device_free(f->options.device, f->device_b);
    trs_device_free(f->options.device, f->device_x);
    trs_lu_destroy(f->lu);
    PetscCall(MatDestroy(&f->A));
    PetscCall(trs_petsc_forget_ordering(F));
    PetscCall(PetscViewerDestroy(&f->viewer));
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
    PetscCall(PetscFree(F->data));
    PetscFunctionReturn(0);
}

/* Incomplete factors take any ordering of PETSc, none by default; SuiteSparse orders complete ones itself. */
static PetscErrorCode set_ordering(Mat F)
{
    const MatFactorType type = F->factortype;
    PetscFunctionBegin;
    F->canuseordering = trs_petsc_incomplete(F);
    PetscCall(PetscStrallocpy(F->canuseordering ? MATORDERINGNATURAL : MATORDERINGEXTERNAL,
                              (char **)&F->preferredordering[type]));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_factor(Mat A, MatFactorType type, Mat *factor)
{
    trs_petsc *f;
    VecType vectors;
    Mat F;
    PetscFunctionBegin;
    PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "trisolve factors square matrices: %" PetscInt_FMT " rows, %" PetscInt_FMT
               " columns",
               A->rmap->n, A->cmap->n);
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
    PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->n, A->cmap->n));
    PetscCall(PetscStrallocpy(TRISOLVE, &((PetscObject)F)->type_name));
    PetscCall(MatGetVecType(A, &vectors));
    PetscCall(MatSetVecType(F, vectors));
    PetscCall(MatSetUp(F));
    PetscCall(PetscNew(&f));
    F->data = f;
    F->factortype = type;
    F->trivialsymbolic = PETSC_TRUE; /* the library takes the pattern with the first values */
    F->assembled = F->preallocated = PETSC_TRUE;
    F->ops->destroy = destroy;
    PetscCall(PetscFree(F->solvertype));
    PetscCall(PetscStrallocpy(TRISOLVE, &F->solvertype));
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", solver_type));
    PetscCall(set_ordering(F));
    PetscCall(trs_petsc_set_factor(F));
    PetscCall(trs_petsc_set_solve(F));
    PetscCall(trs_petsc_set_view(F));
    *factor = F;
    PetscFunctionReturn(0);
}

/* What PETSc itself factors of these types.  Complete factors need SuiteSparse. */
static PetscErrorCode register_types(void)
{
    const MatType types[] = {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ};
    PetscFunctionBegin;
    for (int t = 0; t < 3; t++) {
        const PetscBool half = (PetscBool)(t == 2); /* SBAIJ stores one triangle: L L' only */
        PetscCall(MatSolverTypeRegister(TRISOLVE, types[t], MAT_FACTOR_ICC, get_factor));
        if (!half) PetscCall(MatSolverTypeRegister(TRISOLVE, types[t], MAT_FACTOR_ILU, get_factor));
#ifdef HAVE_SUITESPARSE
        PetscCall(MatSolverTypeRegister(TRISOLVE, types[t], MAT_FACTOR_CHOLESKY, get_factor));
        if (!half) PetscCall(MatSolverTypeRegister(TRISOLVE, types[t], MAT_FACTOR_LU, get_factor));
#endif
    }
    PetscFunctionReturn(0);
}

/* Collective: which process of its node this one is decides which GPU and how many threads it takes. */
static PetscErrorCode find_node_rank(void)
{
    MPI_Comm node;
    PetscFunctionBegin;
    PetscCallMPI(
        MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PetscCallMPI(MPI_Comm_rank(node, &trs_petsc_global.node_rank));
    PetscCallMPI(MPI_Comm_size(node, &trs_petsc_global.node_size));
    PetscCallMPI(MPI_Comm_free(&node));
    PetscFunctionReturn(0);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_trisolve_petsc(void);

/* Register the solver type "trisolve".  Collective on PETSC_COMM_WORLD; once for each PetscInitialize. */
PetscErrorCode PetscDLLibraryRegister_trisolve_petsc(void)
{
    PetscFunctionBegin;
    PetscCall(MatInitializePackage());
    PetscCall(PetscLogEventRegister("TrsFactor", MAT_CLASSID, &trs_petsc_global.factor));
    PetscCall(PetscLogEventRegister("TrsUpdate", MAT_CLASSID, &trs_petsc_global.update));
    PetscCall(PetscLogEventRegister("TrsSolve", MAT_CLASSID, &trs_petsc_global.solve));
    PetscCall(find_node_rank());
    PetscCall(register_types());
    PetscFunctionReturn(0);
}
