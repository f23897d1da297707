/* source.c: the arrays of a sequential Mat as a trs_mat, without a copy where the library knows the format.
 *
 *     AIJ                     CSR
 *     BAIJ, ILU               BSR, blocks by columns; its factors are those of the entries, which in exact arithmetic
 *                             are those of the blocks
 *     SBAIJ, blocks of 1, ICC the upper triangle by rows, read as the lower one by columns
 *     all others              converted to AIJ
 *
 * ICC reads the lower triangle; of AIJ it is given the columns for the rows, so that it reads the upper one, as PETSc
 * does.  For complex numbers that would be the conjugate: there AIJ is read by rows, and SBAIJ is converted.
 *
 * Factors on a GPU read AIJCUSPARSE there. */
#include "config.h"

#include "factor.h"

static PetscErrorCode is_type(Mat A, MatType type, PetscBool *is)
{
    return PetscObjectBaseTypeCompare((PetscObject)A, type, is);
}

/* A, or its scalar form, or A(row, col). */
static PetscErrorCode choose_form(Mat F, Mat A, Mat *from)
{
    const trs_petsc *f = F->data;
    PetscBool block, half, direct;
    PetscFunctionBegin;
    PetscCall(is_type(A, MATSEQBAIJ, &block));
    PetscCall(is_type(A, MATSEQSBAIJ, &half));
    direct = (PetscBool)(!block && !half);
    if (block) direct = (PetscBool)(F->factortype == MAT_FACTOR_ILU);
    if (half)
        direct = (PetscBool)(F->factortype == MAT_FACTOR_ICC && A->rmap->bs == 1 &&
                             !PetscDefined(USE_COMPLEX));
    *from = A;
    if (f->row) PetscCall(MatPermute(A, f->row, f->col, from));
    else if (direct) PetscCall(PetscObjectReference((PetscObject)A));
    else PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, from));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_values(Mat from, PetscBool get, PetscScalar **val)
{
    PetscBool block, half;
    PetscFunctionBegin;
    PetscCall(is_type(from, MATSEQBAIJ, &block));
    PetscCall(is_type(from, MATSEQSBAIJ, &half));
    if (block) PetscCall((get ? MatSeqBAIJGetArray : MatSeqBAIJRestoreArray)(from, val));
    else if (half) PetscCall((get ? MatSeqSBAIJGetArray : MatSeqSBAIJRestoreArray)(from, val));
    else
        PetscCall((get ? MatSeqAIJGetArrayRead
                       : MatSeqAIJRestoreArrayRead)(from, (const PetscScalar **)val));
    PetscFunctionReturn(0);
}

static trs_mat describe(Mat F, const trs_petsc_source *s, PetscBool block, PetscBool half)
{
    const PetscInt bs = block ? s->from->rmap->bs : 1;
    trs_mat m = {.n = s->from->rmap->n, .block = (int)bs, .block_layout = TRS_COL_MAJOR};
    m.ptr = s->ptr, m.idx = s->idx;
    m.ptr_bits = m.idx_bits = 8 * (int)sizeof(PetscInt);
    m.nnz = s->ptr[m.n / bs];
    m.dtype = TRS_PETSC_DTYPE;
    if (block) m.format = TRS_BSR;
    if (F->factortype == MAT_FACTOR_ICC && !PetscDefined(USE_COMPLEX)) m.format = TRS_CSC;
    if (half) m.kind = TRS_LOWER;
    return m;
}

/* PETSc's copy on the GPU.  It leaves out empty rows if there are many, so with empty rows the host's arrays are read. */
static PetscErrorCode use_device(Mat F, trs_petsc_source *s)
{
    const int device = ((trs_petsc *)F->data)->options.device;
    const PetscInt n = s->from->rmap->n, *ptr, *idx;
    PetscDeviceContext context;
    PetscBool there, bound;
    PetscFunctionBegin;
    PetscCall(is_type(s->from, MATSEQAIJCUSPARSE, &there));
    PetscCall(MatBoundToCPU(s->from, &bound));
    if (device == TRS_HOST || !n || !there || bound) PetscFunctionReturn(0);
    for (PetscInt i = 0; i < n; i++)
        if (s->ptr[i] == s->ptr[i + 1]) PetscFunctionReturn(0);
    PetscCall(MatSeqAIJGetCSRAndMemType(s->from, &ptr, &idx, &s->val, NULL));
    s->mat.ptr = ptr, s->mat.idx = idx, s->mat.val = s->val, s->mat.device = device;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_to_host(trs_petsc_source *s)
{
    PetscFunctionBegin;
    if (s->mat.device == TRS_HOST) PetscFunctionReturn(0);
    PetscCall(get_values(s->from, PETSC_TRUE, &s->val));
    s->mat.ptr = s->ptr, s->mat.idx = s->idx, s->mat.val = s->val, s->mat.device = TRS_HOST;
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_open(Mat F, Mat A, trs_petsc_source *s)
{
    PetscBool block, half, done = PETSC_TRUE;
    PetscInt n;
    PetscFunctionBegin;
    PetscCall(choose_form(F, A, &s->from));
    PetscCall(is_type(s->from, MATSEQBAIJ, &block));
    PetscCall(is_type(s->from, MATSEQSBAIJ, &half));
    PetscCall(MatGetRowIJ(s->from, 0, PETSC_FALSE, block, &n, &s->ptr, &s->idx, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "trisolve cannot read matrices of type %s",
               ((PetscObject)A)->type_name);
    s->mat = describe(F, s, block, half);
    PetscCall(use_device(F, s));
    if (s->mat.device != TRS_HOST) PetscFunctionReturn(0);
    PetscCall(get_values(s->from, PETSC_TRUE, &s->val));
    s->mat.val = s->val;
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_close(trs_petsc_source *s)
{
    PetscBool block, done;
    PetscInt n;
    PetscFunctionBegin;
    if (s->mat.device == TRS_HOST) PetscCall(get_values(s->from, PETSC_FALSE, &s->val));
    PetscCall(is_type(s->from, MATSEQBAIJ, &block));
    PetscCall(MatRestoreRowIJ(s->from, 0, PETSC_FALSE, block, &n, &s->ptr, &s->idx, &done));
    PetscCall(MatDestroy(&s->from));
    PetscFunctionReturn(0);
}
