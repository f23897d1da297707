/* solve.c: MatSolve and its relatives, with factors of A(row, col) or of A itself.
 *
 *     A x = b         b(row) --trs_lu_solve--> x(col)
 *     A' x = b        b(col) --trs_lu_solve, transposed--> x(row)
 *     ICC, halves     b(row) --L--> x, b --L'--> x(row), for KSP with a preconditioner on both sides
 *
 * The library expects B and X where it solves.  Vectors and dense matrices of PETSc's CUDA types stay on the GPU, on the
 * stream of PETSc's current device context; with factors on a GPU, those of the host are copied there and back. */
#include "config.h"

#include "factor.h"

#include <string.h>

/* What is solved. */
typedef enum operation { WHOLE, TRANSPOSE, FORWARD, BACKWARD } operation;

/* Vectors, by columns. */
typedef struct vectors {
    const PetscScalar *b;
    PetscScalar *x;
    PetscInt ldb, ldx, count;
} vectors;

/* ---- in the order of the factors --------------------------------------------------------------- */

static PetscLogDouble flops(const trs_petsc *f, operation op, const vectors *v)
{
    const PetscLogDouble part = op == FORWARD || op == BACKWARD ? 0.5 : 1;
    return part * f->flops * (PetscLogDouble)v->count;
}

static int solve_there(const trs_petsc *f, operation op, const vectors *v, const trs_exec *exec)
{
    trs_lu_info info;
    const int nrhs = (int)v->count;
    if (op == WHOLE || op == TRANSPOSE)
        return trs_lu_solve(f->lu, op == WHOLE ? TRS_N : TRS_T, nrhs, v->b, v->ldb, v->x, v->ldx,
                            exec);
    const int rc = trs_lu_get_info(f->lu, &info);
    if (rc) return rc;
    return trs_solve(info.l, op == FORWARD ? TRS_N : TRS_H, nrhs, v->b, v->ldb, v->x, v->ldx, exec);
}

/* Vectors on the GPU of the factors: enqueue the solve among PETSc's other work. */
static PetscErrorCode solve_on_device(Mat F, operation op, const vectors *v)
{
    trs_exec exec = {0};
    PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 26, 0)
    PetscDeviceContext context;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetStreamHandle(context, &exec.stream));
    exec.stream = *(void **)exec.stream;
#endif
    PetscCall(PetscLogGpuTimeBegin());
    TrsPetscCall(solve_there(F->data, op, v, &exec));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops(F->data, op, v)));
    PetscFunctionReturn(0);
}

static PetscErrorCode reserve(trs_petsc *f, size_t bytes)
{
    const int device = f->options.device;
    PetscFunctionBegin;
    if (bytes <= f->device_bytes) PetscFunctionReturn(0);
    trs_device_free(device, f->device_b);
    trs_device_free(device, f->device_x);
    f->device_b = f->device_x = NULL, f->device_bytes = 0;
    TrsPetscCall(trs_device_new(device, bytes, &f->device_b));
    TrsPetscCall(trs_device_new(device, bytes, &f->device_x));
    f->device_bytes = bytes;
    PetscFunctionReturn(0);
}

/* Vectors of the host, wherever the factors are. */
static PetscErrorCode solve_from_host(Mat F, operation op, const vectors *v)
{
    trs_petsc *f = F->data;
    const int device = f->options.device;
    const PetscInt n = F->rmap->n;
    const size_t column = (size_t)n * sizeof(PetscScalar);
    PetscFunctionBegin;
    if (device == TRS_HOST) {
        TrsPetscCall(solve_there(f, op, v, NULL));
        PetscCall(PetscLogFlops(flops(f, op, v)));
        PetscFunctionReturn(0);
    }
    PetscCall(reserve(f, column * (size_t)v->count));
    const vectors there = {f->device_b, f->device_x, n, n, v->count};
    for (PetscInt k = 0; k < v->count; k++)
        TrsPetscCall(trs_device_put(device, (char *)f->device_b + column * (size_t)k,
                                    v->b + (size_t)k * (size_t)v->ldb, column));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)column * (PetscLogDouble)v->count));
    TrsPetscCall(solve_there(f, op, &there, NULL));
    PetscCall(PetscLogGpuFlops(flops(f, op, v)));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)column * (PetscLogDouble)v->count));
    for (PetscInt k = 0; k < v->count; k++)
        TrsPetscCall(trs_device_get(device, v->x + (size_t)k * (size_t)v->ldx,
                                    (char *)f->device_x + column * (size_t)k, column));
    PetscFunctionReturn(0);
}

/* L U that was made for TRS_N alone is made anew, so that it solves with the transpose too, while A is as it was. */
static PetscErrorCode make_transposed(Mat F)
{
    trs_petsc *f = F->data;
    PetscObjectState state;
    MatFactorInfo info = f->info;
    trs_lu_info facts;
    PetscFunctionBegin;
    TrsPetscCall(trs_lu_get_info(f->lu, &facts));
    if (f->transposed || (!facts.u && !facts.block)) PetscFunctionReturn(0);
    PetscCall(PetscObjectStateGet((PetscObject)f->A, &state));
    PetscCheck(
        state == f->state, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
        "trisolve makes what the first MatSolveTranspose needs from the matrix, which has changed "
        "since it was factored: -mat_trisolve_transpose makes it with the factors");
    f->transposed = PETSC_TRUE;
    trs_lu_destroy(f->lu);
    f->lu = NULL;
    PetscCall(trs_petsc_numeric(F, f->A, &info));
    PetscFunctionReturn(0);
}

/* ---- vectors ----------------------------------------------------------------------------------- */

static PetscErrorCode begin(Mat F, operation op)
{
    const trs_petsc *f = F->data;
    PetscFunctionBegin;
    PetscCheck(f->lu, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "trisolve solves after the numeric factorisation");
    if (op == TRANSPOSE) PetscCall(make_transposed(F));
    PetscCall(PetscLogEventBegin(trs_petsc_global.solve, F, 0, 0, 0));
    PetscFunctionReturn(0);
}

static PetscErrorCode end(Mat F)
{
    PetscFunctionBegin;
    PetscCall(PetscLogEventEnd(trs_petsc_global.solve, F, 0, 0, 0));
    PetscFunctionReturn(0);
}

/* Do b and x stay on the GPU of the factors? */
static PetscBool stay(Mat F, PetscObject b, PetscBool b_bound, PetscObject x, PetscBool x_bound)
{
    const trs_petsc *f = F->data;
    if (f->options.device == TRS_HOST || b_bound || x_bound) return PETSC_FALSE;
    return (PetscBool)(strstr(b->type_name, "cuda") && strstr(x->type_name, "cuda"));
}

/* Vectors in the order of the factors, which may be the same. */
static PetscErrorCode solve_ordered(Mat F, operation op, Vec b, Vec x)
{
    const PetscInt n = F->rmap->n;
    PetscBool b_bound, x_bound;
    vectors v = {.ldb = n, .ldx = n, .count = 1};
    PetscFunctionBegin;
    PetscCall(VecBoundToCPU(b, &b_bound));
    PetscCall(VecBoundToCPU(x, &x_bound));
    if (stay(F, (PetscObject)b, b_bound, (PetscObject)x, x_bound)) {
        PetscCall(VecGetArrayReadAndMemType(b, &v.b, NULL));
        PetscCall(VecGetArrayWriteAndMemType(x, &v.x, NULL));
        PetscCall(solve_on_device(F, op, &v));
        PetscCall(VecRestoreArrayReadAndMemType(b, &v.b));
        PetscCall(VecRestoreArrayWriteAndMemType(x, &v.x));
    } else {
        PetscCall(VecGetArrayRead(b, &v.b));
        PetscCall(VecGetArrayWrite(x, &v.x));
        PetscCall(solve_from_host(F, op, &v));
        PetscCall(VecRestoreArrayRead(b, &v.b));
        PetscCall(VecRestoreArrayWrite(x, &v.x));
    }
    PetscFunctionReturn(0);
}

/* Vectors in the order of A. */
static PetscErrorCode solve_vectors(Mat F, operation op, Vec b, Vec x)
{
    const trs_petsc *f = F->data;
    const VecScatter from = op == TRANSPOSE ? f->by_col : f->by_row;
    const VecScatter to = op == TRANSPOSE ? f->by_row : f->by_col;
    const Vec w = f->ordered;
    PetscFunctionBegin;
    if (!w) {
        PetscCall(solve_ordered(F, op, b, x));
        PetscFunctionReturn(0);
    }
    if (op != BACKWARD) {
        PetscCall(VecScatterBegin(from, b, w, INSERT_VALUES, SCATTER_FORWARD));
        PetscCall(VecScatterEnd(from, b, w, INSERT_VALUES, SCATTER_FORWARD));
    }
    PetscCall(solve_ordered(F, op, op == BACKWARD ? b : w, op == FORWARD ? x : w));
    if (op != FORWARD) {
        PetscCall(VecScatterBegin(to, w, x, INSERT_VALUES, SCATTER_REVERSE));
        PetscCall(VecScatterEnd(to, w, x, INSERT_VALUES, SCATTER_REVERSE));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_vector(Mat F, operation op, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(begin(F, op));
    PetscCall(solve_vectors(F, op, b, x));
    PetscCall(end(F));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vector(F, WHOLE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_transpose(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vector(F, TRANSPOSE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode forward_solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vector(F, FORWARD, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode backward_solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vector(F, BACKWARD, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_dense(Mat B, Mat X, PetscBool there, vectors *v)
{
    PetscFunctionBegin;
    PetscCall(MatGetSize(B, NULL, &v->count));
    PetscCall(MatDenseGetLDA(B, &v->ldb));
    PetscCall(MatDenseGetLDA(X, &v->ldx));
#if PETSC_VERSION_GE(3, 26, 0)
    if (there) {
        PetscCall(MatDenseGetArrayReadAndMemType(B, &v->b, NULL));
        PetscCall(MatDenseGetArrayWriteAndMemType(X, &v->x, NULL));
        PetscFunctionReturn(0);
    }
#endif
    (void)there;
    PetscCall(MatDenseGetArrayRead(B, &v->b));
    PetscCall(MatDenseGetArrayWrite(X, &v->x));
    PetscFunctionReturn(0);
}

static PetscErrorCode restore_dense(Mat B, Mat X, PetscBool there, vectors *v)
{
    PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 26, 0)
    if (there) {
        PetscCall(MatDenseRestoreArrayReadAndMemType(B, &v->b));
        PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &v->x));
        PetscFunctionReturn(0);
    }
#endif
    (void)there;
    PetscCall(MatDenseRestoreArrayRead(B, &v->b));
    PetscCall(MatDenseRestoreArrayWrite(X, &v->x));
    PetscFunctionReturn(0);
}

/* All columns at once.  Before 3.26 dense matrices pass through the host. */
static PetscErrorCode solve_dense(Mat F, operation op, Mat B, Mat X)
{
    vectors v = {0};
    PetscBool b_bound, x_bound;
    PetscFunctionBegin;
    PetscCall(MatBoundToCPU(B, &b_bound));
    PetscCall(MatBoundToCPU(X, &x_bound));
    const PetscBool there = (PetscBool)(PETSC_VERSION_GE(3, 26, 0) &&
                                        stay(F, (PetscObject)B, b_bound, (PetscObject)X, x_bound));
    PetscCall(get_dense(B, X, there, &v));
    PetscCall((there ? solve_on_device : solve_from_host)(F, op, &v));
    PetscCall(restore_dense(B, X, there, &v));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_column(Mat F, operation op, Mat B, Mat X, PetscInt k)
{
    Vec b, x;
    PetscFunctionBegin;
    PetscCall(MatDenseGetColumnVecRead(B, k, &b));
    PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
    PetscCall(solve_vectors(F, op, b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_matrices(Mat F, operation op, Mat B, Mat X)
{
    const trs_petsc *f = F->data;
    PetscBool b_dense, x_dense;
    PetscInt columns;
    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATSEQDENSE, &b_dense));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)X, MATSEQDENSE, &x_dense));
    PetscCheck(b_dense && x_dense, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "trisolve solves for dense matrices, not for %s and %s", ((PetscObject)B)->type_name,
               ((PetscObject)X)->type_name);
    PetscCall(MatGetSize(B, NULL, &columns));
    PetscCall(begin(F, op));
    if (!f->ordered) PetscCall(solve_dense(F, op, B, X));
    else
        for (PetscInt k = 0; k < columns; k++) PetscCall(solve_column(F, op, B, X, k));
    PetscCall(end(F));
    PetscFunctionReturn(0);
}

static PetscErrorCode mat_solve(Mat F, Mat B, Mat X)
{
    PetscFunctionBegin;
    PetscCall(solve_matrices(F, WHOLE, B, X));
    PetscFunctionReturn(0);
}

static PetscErrorCode mat_solve_transpose(Mat F, Mat B, Mat X)
{
    PetscFunctionBegin;
    PetscCall(solve_matrices(F, TRANSPOSE, B, X));
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_set_solve(Mat F)
{
    PetscFunctionBegin;
    F->ops->solve = solve;
    F->ops->solvetranspose = solve_transpose;
    F->ops->matsolve = mat_solve;
    F->ops->matsolvetranspose = mat_solve_transpose;
    if (F->factortype == MAT_FACTOR_ICC) {
        F->ops->forwardsolve = forward_solve;
        F->ops->backwardsolve = backward_solve;
    }
    PetscFunctionReturn(0);
}
