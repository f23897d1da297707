/* factor.c: the symbolic and the numeric step.
 *
 * trs_ilu and trs_factor analyse the pattern and factor the values in one call, so the symbolic step only reads the
 * options, keeps the ordering and drops factors of an older pattern; the first numeric step calls them, and all later
 * ones trs_lu_update, until PETSc asks for another symbolic step because the pattern has changed. */
#include "config.h"

#include "factor.h"
#ifdef HAVE_SUITESPARSE
#include <trisolve-suitesparse.h>
#endif

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

PetscErrorCode trs_petsc_code(int rc)
{
    switch (rc) {
    case TRS_EARG:
        return PETSC_ERR_ARG_WRONG;
    case TRS_ESTATE:
        return PETSC_ERR_ORDER;
    case TRS_EMEM:
        return PETSC_ERR_MEM;
    case TRS_ESUPPORT:
        return PETSC_ERR_SUP;
    case TRS_EMATRIX:
        return PETSC_ERR_ARG_WRONG;
    case TRS_EDEVICE:
        return PETSC_ERR_GPU;
    default:
        return PETSC_ERR_LIB;
    }
}

/* ---- options -------------------------------------------------------------------------------- */

/* Where the vectors of A live: "auto" solves there. */
static PetscErrorCode device_of_vectors(Mat A, int *device)
{
    VecType type;
    PetscDeviceContext context;
    PetscDevice used;
    PetscInt id = 0;
    PetscFunctionBegin;
    *device = TRS_HOST;
    PetscCall(MatGetVecType(A, &type));
    if (!strstr(type, "cuda")) PetscFunctionReturn(0);
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetDevice(context, &used));
    PetscCall(PetscDeviceGetDeviceId(used, &id));
    *device = TRS_CUDA((int)id);
    PetscFunctionReturn(0);
}

/* Processes of a node use its GPUs in turn. */
static PetscErrorCode device_of_rank(int *device)
{
    char name[128];
    int count = 0;
    PetscFunctionBegin;
    while (!trs_device_name(TRS_CUDA(count), name, sizeof name)) count++;
    if (!count) TrsPetscCall(trs_device_name(TRS_CUDA(0), name, sizeof name));
    *device = TRS_CUDA(trs_petsc_global.node_rank % count);
    PetscFunctionReturn(0);
}

static PetscErrorCode choose_device(Mat A, PetscInt place, int *device)
{
    PetscFunctionBegin;
    *device = TRS_HOST;
    if (place != 1) PetscCall(device_of_vectors(A, device));
    if (place == 2 && *device == TRS_HOST) PetscCall(device_of_rank(device));
    PetscFunctionReturn(0);
}

/* Threads of this process, unless OMP_NUM_THREADS says it: its share of the processors of the node, no more than it is
 * bound to.  Threads of all processes on all processors would wait for one another. */
static PetscInt default_threads(void)
{
    cpu_set_t bound;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    PetscInt share = (PetscInt)processors / trs_petsc_global.node_size;
    if (getenv("OMP_NUM_THREADS")) return 0;
    if (!sched_getaffinity(0, sizeof bound, &bound)) share = PetscMin(share, CPU_COUNT(&bound));
    return PetscMax(share, 1);
}

static PetscErrorCode read_options(Mat F, Mat A)
{
    const char *const places[] = {"auto", "none", "cuda"};
    trs_petsc *f = F->data;
    trs_petsc_options *o = &f->options;
    PetscInt place = 0;
    PetscBool view;
    PetscFunctionBegin;
    o->threads = default_threads();
    PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix,
                      "trisolve-sparse options", "Mat");
    PetscCall(PetscOptionsString("-mat_trisolve_solver",
                                 "Solver of the triangles, of trisolve-sparse --list-solvers",
                                 "MatGetFactor", o->solver, o->solver, sizeof o->solver, NULL));
    PetscCall(PetscOptionsEList("-mat_trisolve_device",
                                "Where to solve: where the vectors are, on the CPU, on a GPU",
                                "MatGetFactor", places, 3, places[place], &place, NULL));
    PetscCall(PetscOptionsInt("-mat_trisolve_threads",
                              "Threads of a process; 0: as many as OpenMP says", "MatGetFactor",
                              o->threads, &o->threads, NULL));
    PetscCall(PetscOptionsBool("-mat_trisolve_transpose",
                               "Prepare for MatSolveTranspose with the first factors",
                               "MatSolveTranspose", o->transpose, &o->transpose, NULL));
    if (!trs_petsc_incomplete(F))
        PetscCall(
            PetscOptionsString("-mat_trisolve_method",
                               "Source of complete factors: umfpack, cholmod, klu, static, ldlt",
                               "MatGetFactor", o->method, o->method, sizeof o->method, NULL));
    PetscCall(PetscViewerDestroy(&f->viewer));
    PetscCall(PetscOptionsViewer("-mat_trisolve_view", "View the factors when they are made",
                                 "MatView", &f->viewer, &f->format, &view));
    PetscOptionsEnd();
    PetscCall(choose_device(A, place, &o->device));
    PetscFunctionReturn(0);
}

/* ---- the symbolic step ---------------------------------------------------------------------- */

PetscErrorCode trs_petsc_forget_ordering(Mat F)
{
    trs_petsc *f = F->data;
    PetscFunctionBegin;
    PetscCall(ISDestroy(&f->row));
    PetscCall(ISDestroy(&f->col));
    PetscCall(VecDestroy(&f->ordered));
    PetscCall(VecScatterDestroy(&f->by_row));
    PetscCall(VecScatterDestroy(&f->by_col));
    PetscFunctionReturn(0);
}

/* Keep an ordering that is more than the identity. */
static PetscErrorCode keep_ordering(Mat F, Mat A, IS row, IS col)
{
    trs_petsc *f = F->data;
    PetscBool row_same = PETSC_TRUE, col_same = PETSC_TRUE, scalars;
    PetscFunctionBegin;
    PetscCall(trs_petsc_forget_ordering(F));
    if (!F->canuseordering || !row) PetscFunctionReturn(0);
    PetscCall(ISIdentity(row, &row_same));
    if (col) PetscCall(ISIdentity(col, &col_same));
    if (row_same && col_same) PetscFunctionReturn(0);
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &scalars));
    PetscCheck(scalars, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "trisolve reorders matrices of type seqaij, not %s", ((PetscObject)A)->type_name);
    f->row = row, f->col = col ? col : row;
    PetscCall(PetscObjectReference((PetscObject)f->row));
    PetscCall(PetscObjectReference((PetscObject)f->col));
    PetscCall(MatCreateVecs(A, &f->ordered, NULL));
    PetscCall(VecScatterCreate(f->ordered, f->row, f->ordered, NULL, &f->by_row));
    PetscCall(VecScatterCreate(f->ordered, f->col, f->ordered, NULL, &f->by_col));
    PetscFunctionReturn(0);
}

/* ICC of complex numbers is L L^H. */
static PetscErrorCode check_hermitian(Mat F, Mat A)
{
    PetscBool known, hermitian;
    PetscFunctionBegin;
    if (F->factortype != MAT_FACTOR_ICC || !PetscDefined(USE_COMPLEX)) PetscFunctionReturn(0);
    PetscCall(MatIsHermitianKnown(A, &known, &hermitian));
    PetscCheck(known && hermitian, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "trisolve's ICC is L L^H: MatSetOption (A, MAT_HERMITIAN, PETSC_TRUE) says that A "
               "is Hermitian");
    PetscFunctionReturn(0);
}

static PetscErrorCode symbolic(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
    trs_petsc *f = F->data;
    PetscFunctionBegin;
    PetscCall(check_hermitian(F, A));
    trs_device_free(f->options.device, f->device_b);
    trs_device_free(f->options.device, f->device_x);
    f->device_b = f->device_x = NULL, f->device_bytes = 0;
    trs_lu_destroy(f->lu);
    f->lu = NULL;
    f->info = *info;
    PetscCall(read_options(F, A));
    PetscCall(keep_ordering(F, A, row, col));
    PetscFunctionReturn(0);
}

static PetscErrorCode symbolic_symmetric(Mat F, Mat A, IS row, const MatFactorInfo *info)
{
    PetscFunctionBegin;
    PetscCall(symbolic(F, A, row, row, info));
    PetscFunctionReturn(0);
}

/* ---- the numeric step ----------------------------------------------------------------------- */

static trs_options plan_options(Mat F)
{
    const trs_petsc *f = F->data;
    const trs_petsc_options *o = &f->options;
    trs_options plan = {.device = o->device, .threads = (int)o->threads};
    if (o->solver[0]) plan.solver = o->solver;
    plan.ops = 1u << TRS_N;
    if (f->transposed) plan.ops |= 1u << TRS_T;
    return plan;
}

/* Do the rows first .. first+b-1 have the same columns, in groups of b that begin with a multiple of b? */
static PetscBool is_row_of_blocks(const PetscInt *ptr, const PetscInt *idx, int64_t first, int b)
{
    const PetscInt *row = idx + ptr[first];
    const PetscInt length = ptr[first + 1] - ptr[first];
    for (int r = 1; r < b; r++) {
        const PetscInt *other = idx + ptr[first + r];
        if (ptr[first + r + 1] - ptr[first + r] != length ||
            memcmp(row, other, (size_t)length * sizeof *row))
            return PETSC_FALSE;
    }
    for (PetscInt k = 0; k < length; k++)
        if (row[k] % b != k % b || row[k] - k % b != row[k - k % b]) return PETSC_FALSE;
    return (PetscBool)(length % b == 0);
}

/* The largest b up to 8 for which A in AIJ has blocks of b x b numbers without a gap; 1: it has none. */
static int size_of_blocks(const trs_mat *M)
{
    const PetscInt *ptr = M->ptr, *idx = M->idx;
    int b = 8;
    for (; b > 1; b--) {
        int64_t row = 0;
        if (M->n % b) continue;
        while (row < M->n && is_row_of_blocks(ptr, idx, row, b)) row += b;
        if (row == M->n) return b;
    }
    return b;
}

/* Are pivots that shift.c does not look at good enough?  Those of blocks are exchanged within a block, and not compared with a
 * -pc_factor_zeropivot, which is left as it is then. */
static PetscBool pivots_may_hide(const MatFactorInfo *info)
{
    const PetscReal usual = 100 * PETSC_MACHINE_EPSILON;
    if (info->shifttype == (PetscReal)MAT_SHIFT_INBLOCKS) return PETSC_TRUE;
    return (PetscBool)(info->shifttype == (PetscReal)MAT_SHIFT_NONE && info->zeropivot == usual);
}

/* trs_ilu_options.block.  Factors by blocks have the M of those by numbers, and take less time.  PETSc does alike with rows of one
 * pattern (inodes).  0: those of BAIJ. */
static int64_t choose_blocks(Mat F, const trs_mat *M, const MatFactorInfo *info)
{
    const trs_petsc *f = F->data;
    const PetscBool plain = (PetscBool)(F->factortype == MAT_FACTOR_ILU && f->info.levels == 0 &&
                                        !f->options.solver[0] && M->n > 0);
    if (!plain || f->options.device != TRS_HOST || !pivots_may_hide(info)) return 1;
    return M->format == TRS_CSR ? size_of_blocks(M) : 0;
}

static int first_incomplete(Mat F, const trs_mat *M, const MatFactorInfo *info)
{
    trs_petsc *f = F->data;
    trs_ilu_options options = {.plan = plan_options(F), .level = (int)f->info.levels};
    options.block = choose_blocks(F, M, info);
    if (F->factortype == MAT_FACTOR_ICC) options.method = TRS_IC0;
    if (info->shifttype == (PetscReal)MAT_SHIFT_INBLOCKS)
        options.boost = PetscMin((double)info->shiftamount, 1);
    return trs_ilu(&f->lu, M, &options);
}

static int first_complete(Mat F, const trs_mat *M)
{
#ifdef HAVE_SUITESPARSE
    trs_petsc *f = F->data;
    trs_factor_options options = {.plan = plan_options(F), .on_growth = TRS_GROWTH_REFACTOR};
    if (f->options.method[0]) options.method = f->options.method;
    return trs_factor(&f->lu, M, &options);
#else
    (void)F, (void)M; /* never registered */
    return TRS_ESUPPORT;
#endif
}

int trs_petsc_attempt(Mat F, const trs_mat *M, const MatFactorInfo *info)
{
    trs_petsc *f = F->data;
    if (f->lu) return trs_lu_update(f->lu, M);
    return trs_petsc_incomplete(F) ? first_incomplete(F, M, info) : first_complete(F, M);
}

/* A bad pivot and want of memory are results that KSP goes on with, unless A wants an error; all else is an error. */
static PetscErrorCode report(Mat F, Mat A, int rc)
{
    const trs_petsc *f = F->data;
    PetscErrorCode code = trs_petsc_code(rc);
    MatFactorError result = MAT_FACTOR_NOERROR;
    PetscFunctionBegin;
    if (!rc) PetscFunctionReturn(0);
    if (rc == TRS_EMEM) result = MAT_FACTOR_OUTMEMORY;
    if (rc == TRS_EPIVOT) {
        code = trs_petsc_symmetric(F) ? PETSC_ERR_MAT_CH_ZRPVT : PETSC_ERR_MAT_LU_ZRPVT;
        result = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    }
    PetscCheck(result && !A->erroriffailure, PETSC_COMM_SELF, code, "trisolve-sparse: %s", f->why);
    F->factorerrortype = result;
    PetscCall(PetscInfo(F, "%s\n", f->why));
    PetscFunctionReturn(0);
}

/* F->info is what PCView and MatGetInfo show. */
static PetscErrorCode count_entries(Mat F)
{
    trs_petsc *f = F->data;
    trs_lu_info info;
    PetscFunctionBegin;
    TrsPetscCall(trs_lu_peek_info(f->lu, &info)); /* solves may need no plans */
    f->flops = 2 * (PetscLogDouble)(info.nnz_l + (info.nnz_u ? info.nnz_u : info.nnz_l));
    const double used = (double)(info.nnz_l + (info.nnz_u ? info.nnz_u - info.n : 0));
    F->info.nz_used = F->info.nz_allocated = used;
    F->info.fill_ratio_given = f->info.fill;
    F->info.fill_ratio_needed = info.nnz_a ? used / (double)info.nnz_a : 0;
    PetscFunctionReturn(0);
}

/* Remember which values were factored, for a transpose that is asked for later (solve.c). */
static PetscErrorCode remember(Mat F, Mat A, const MatFactorInfo *info)
{
    trs_petsc *f = F->data;
    PetscFunctionBegin;
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscCall(MatDestroy(&f->A));
    f->A = A;
    PetscCall(PetscObjectStateGet((PetscObject)A, &f->state));
    f->info = *info;
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_numeric(Mat F, Mat A, const MatFactorInfo *info)
{
    trs_petsc *f = F->data;
    const PetscLogEvent event = f->lu ? trs_petsc_global.update : trs_petsc_global.factor;
    trs_petsc_source source;
    int rc;
    PetscFunctionBegin;
    F->factorerrortype = MAT_FACTOR_NOERROR;
    if (f->options.transpose) f->transposed = PETSC_TRUE;
    PetscCall(trs_petsc_open(F, A, &source));
    PetscCall(PetscLogEventBegin(event, F, A, 0, 0));
    PetscCall(trs_petsc_shifted(F, &source, info, &rc));
    PetscCall(PetscLogEventEnd(event, F, A, 0, 0));
    PetscCall(trs_petsc_close(&source));
    PetscCall(report(F, A, rc));
    PetscCall(remember(F, A, info));
    if (rc) PetscFunctionReturn(0);
    PetscCall(count_entries(F));
    if (!f->viewer) PetscFunctionReturn(0);
    PetscCall(PetscViewerPushFormat(f->viewer, f->format == PETSC_VIEWER_ASCII_INFO_DETAIL
                                                   ? f->format
                                                   : PETSC_VIEWER_ASCII_INFO));
    PetscCall(MatView(F, f->viewer));
    PetscCall(PetscViewerPopFormat(f->viewer));
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_set_factor(Mat F)
{
    PetscFunctionBegin;
    F->ops->lufactorsymbolic = F->ops->ilufactorsymbolic = symbolic;
    F->ops->choleskyfactorsymbolic = F->ops->iccfactorsymbolic = symbolic_symmetric;
    F->ops->lufactornumeric = F->ops->choleskyfactornumeric = trs_petsc_numeric;
    PetscFunctionReturn(0);
}
