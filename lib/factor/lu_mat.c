/* lu_mat.c: matrices that a trs_lu copies, compares with later ones, and frees. */
#include "config.h"

#include "lu_mat.h"
#include "base/debug.h"
#include "matrix/matrix.h"

#include <string.h>

void trs_lu_mat_free(trs_lu *lu, trs_mat *m)
{
    trs_lu_free(lu, (void *)m->ptr, (void *)m->idx, (void *)m->val);
    m->ptr = m->idx = m->val = NULL;
}

int trs_lu_mat_copy(trs_lu *lu, const trs_mat *m, bool values, trs_mat *to, const char *what)
{
    const size_t ptr_size = m->ptr_bits == 32 ? 4 : 8, idx_size = m->idx_bits == 64 ? 8 : 4;
    TRS_ASSERT(m->device <= 0 && (m->format == TRS_CSR || m->format == TRS_CSC));
    *to = trs_lu_shape(m);
    to->ptr = trs_lu_alloc(lu, m->n + 1, ptr_size, what);
    to->idx = trs_lu_alloc(lu, m->nnz, idx_size, what);
    if (values) to->val = trs_lu_alloc(lu, m->nnz, trs_size(m->dtype), what);
    if (!to->ptr || !to->idx || (values && !to->val)) return TRS_EMEM;
    memcpy((void *)to->ptr, m->ptr, ((size_t)m->n + 1) * ptr_size);
    if (m->nnz) memcpy((void *)to->idx, m->idx, (size_t)m->nnz * idx_size);
    if (m->nnz && values) memcpy((void *)to->val, m->val, (size_t)m->nnz * trs_size(m->dtype));
    return TRS_OK;
}

trs_mat trs_lu_shape(const trs_mat *A)
{
    trs_mat shape = *A;
    shape.ptr = shape.idx = shape.val = NULL;
    return shape;
}

int trs_lu_check_shape(const trs_mat *shape, const trs_mat *A)
{
    if (trs_same_arrays(shape, A)) return trs_check_values(A);
    return trs_fail(TRS_EARG, "update: n, nnz, ld, block, dtype or format differ from the first A");
}

bool trs_lu_same_pattern(const trs_mat *a, const trs_mat *b)
{
    if (a->n != b->n || a->nnz != b->nnz || a->dtype != b->dtype || a->format != b->format ||
        a->ptr_bits != b->ptr_bits || a->idx_bits != b->idx_bits || a->kind != b->kind)
        return false;
    if (!a->ptr) return !b->ptr;
    const size_t p = a->ptr_bits == 32 ? 4 : 8, i = a->idx_bits == 64 ? 8 : 4;
    return !memcmp(a->ptr, b->ptr, ((size_t)a->n + 1) * p) &&
           (!a->nnz || !memcmp(a->idx, b->idx, (size_t)a->nnz * i));
}

int trs_check_where(const trs_mat *A)
{
    if (!A) return trs_fail(TRS_EARG, "A is NULL");
    const int rc = trs_check_device(A->device);
    if (rc) return rc;
    if (A->device > 0) return trs_check_values(A);
    return trs_check_mat(A);
}
