/* solve.c: MatSolve and its relatives, with factors of A(row, col) or of A itself.
 *
 *     A x = b         b(row) --trs_lu_solve--> x(col)
 *     A' x = b        b(col) --trs_lu_solve, transposed--> x(row)
 *     ICC, halves     b(row) --L--> x, b --L'--> x(row), for KSP with a preconditioner on both sides
 *
 * The library wants B and X where it solves: vectors of the host are copied to the GPU and back. */
#include "config.h"

#include "factor.h"

/* What is solved. */
typedef enum operation { WHOLE, TRANSPOSE, FORWARD, BACKWARD } operation;

/* Vectors, by columns. */
typedef struct vectors {
    const PetscScalar *b;
    PetscScalar *x;
    PetscInt ldb, ldx, count;
} vectors;

/* ---- in the order of the factors --------------------------------------------------------------- */

static int solve_there(const trs_petsc *f, operation op, const vectors *v)
{
    trs_lu_info info;
    const int nrhs = (int)v->count;
    if (op == WHOLE || op == TRANSPOSE)
        return trs_lu_solve(f->lu, op == WHOLE ? TRS_N : TRS_T, nrhs, v->b, v->ldb, v->x, v->ldx,
                            NULL);
    const int rc = trs_lu_get_info(f->lu, &info);
    if (rc) return rc;
    return trs_solve(info.l, op == FORWARD ? TRS_N : TRS_H, nrhs, v->b, v->ldb, v->x, v->ldx, NULL);
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
        TrsPetscCall(solve_there(f, op, v));
        PetscFunctionReturn(0);
    }
    PetscCall(reserve(f, column * (size_t)v->count));
    const vectors there = {f->device_b, f->device_x, n, n, v->count};
    for (PetscInt k = 0; k < v->count; k++)
        TrsPetscCall(trs_device_put(device, (char *)f->device_b + column * (size_t)k,
                                    v->b + (size_t)k * (size_t)v->ldb, column));
    TrsPetscCall(solve_there(f, op, &there));
    for (PetscInt k = 0; k < v->count; k++)
        TrsPetscCall(trs_device_get(device, v->x + (size_t)k * (size_t)v->ldx,
                                    (char *)f->device_x + column * (size_t)k, column));
    PetscFunctionReturn(0);
}

/* ---- in the order of A ------------------------------------------------------------------------- */

/* One column through permutations; from, to: NULL leaves the order as it is. */
static PetscErrorCode solve_permuted(Mat F, operation op, IS from, IS to, const PetscScalar *b,
                                     PetscScalar *x)
{
    trs_petsc *f = F->data;
    const PetscInt n = F->rmap->n, *p;
    PetscScalar *w = f->permuted;
    const vectors v = {w, to ? w : x, n, n, 1};
    PetscFunctionBegin;
    if (from) {
        PetscCall(ISGetIndices(from, &p));
        for (PetscInt i = 0; i < n; i++) w[i] = b[p[i]];
        PetscCall(ISRestoreIndices(from, &p));
    } else PetscCall(PetscArraycpy(w, b, n));
    PetscCall(solve_from_host(F, op, &v));
    if (!to) PetscFunctionReturn(0);
    PetscCall(ISGetIndices(to, &p));
    for (PetscInt i = 0; i < n; i++) x[p[i]] = w[i];
    PetscCall(ISRestoreIndices(to, &p));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_columns(Mat F, operation op, const vectors *v)
{
    const trs_petsc *f = F->data;
    IS from = op == TRANSPOSE ? f->col : f->row, to = op == TRANSPOSE ? f->row : f->col;
    PetscFunctionBegin;
    if (!f->row) {
        PetscCall(solve_from_host(F, op, v));
        PetscFunctionReturn(0);
    }
    if (op == FORWARD) to = NULL;
    if (op == BACKWARD) from = NULL;
    for (PetscInt k = 0; k < v->count; k++)
        PetscCall(solve_permuted(F, op, from, to, v->b + (size_t)k * (size_t)v->ldb,
                                 v->x + (size_t)k * (size_t)v->ldx));
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
    if (f->transposed || !facts.u) PetscFunctionReturn(0);
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

/* ---- operations of F --------------------------------------------------------------------------- */

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

static PetscErrorCode end(Mat F, operation op, PetscInt count)
{
    const trs_petsc *f = F->data;
    const PetscLogDouble part = op == FORWARD || op == BACKWARD ? 0.5 : 1;
    PetscFunctionBegin;
    PetscCall(PetscLogFlops(part * f->flops * (PetscLogDouble)count));
    PetscCall(PetscLogEventEnd(trs_petsc_global.solve, F, 0, 0, 0));
    PetscFunctionReturn(0);
}

/* Vectors that are on the GPU of the factors, in their order, stay there. */
static PetscErrorCode solve_vectors(Mat F, operation op, Vec b, Vec x)
{
    const trs_petsc *f = F->data;
    const PetscBool there = (PetscBool)(f->options.device != TRS_HOST && !f->row);
    PetscMemType at_b = PETSC_MEMTYPE_HOST, at_x = PETSC_MEMTYPE_HOST;
    const PetscInt n = F->rmap->n;
    vectors v = {.ldb = n, .ldx = n, .count = 1};
    PetscFunctionBegin;
    PetscCall(begin(F, op));
    if (there) {
        PetscCall(VecGetArrayReadAndMemType(b, &v.b, &at_b));
        PetscCall(VecGetArrayWriteAndMemType(x, &v.x, &at_x));
    } else {
        PetscCall(VecGetArrayRead(b, &v.b));
        PetscCall(VecGetArrayWrite(x, &v.x));
    }
    if (PetscMemTypeDevice(at_b) && PetscMemTypeDevice(at_x)) TrsPetscCall(solve_there(f, op, &v));
    else PetscCall(solve_columns(F, op, &v));
    if (there) {
        PetscCall(VecRestoreArrayReadAndMemType(b, &v.b));
        PetscCall(VecRestoreArrayWriteAndMemType(x, &v.x));
    } else {
        PetscCall(VecRestoreArrayRead(b, &v.b));
        PetscCall(VecRestoreArrayWrite(x, &v.x));
    }
    PetscCall(end(F, op, 1));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vectors(F, WHOLE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_transpose(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vectors(F, TRANSPOSE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode forward_solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vectors(F, FORWARD, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode backward_solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_vectors(F, BACKWARD, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_matrices(Mat F, operation op, Mat B, Mat X)
{
    vectors v = {0};
    PetscBool b_dense, x_dense;
    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATSEQDENSE, &b_dense));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)X, MATSEQDENSE, &x_dense));
    PetscCheck(b_dense && x_dense, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "trisolve solves for dense matrices, not for %s and %s", ((PetscObject)B)->type_name,
               ((PetscObject)X)->type_name);
    PetscCall(begin(F, op));
    PetscCall(MatGetSize(B, NULL, &v.count));
    PetscCall(MatDenseGetLDA(B, &v.ldb));
    PetscCall(MatDenseGetLDA(X, &v.ldx));
    PetscCall(MatDenseGetArrayRead(B, &v.b));
    PetscCall(MatDenseGetArrayWrite(X, &v.x));
    PetscCall(solve_columns(F, op, &v));
    PetscCall(MatDenseRestoreArrayRead(B, &v.b));
    PetscCall(MatDenseRestoreArrayWrite(X, &v.x));
    PetscCall(end(F, op, v.count));
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
