/* factors.c: Cholesky factors as test triangles: the L of the Laplacian of a grid, by CHOLMOD
 * with AMD. */
#include "config.h"

#include "problems.h"
#include "bin/common/sentence.h"

#include <stdlib.h>

#ifdef HAVE_CHOLMOD
#include "trisolve-suitesparse.h"

/* The column of k = 0, the diagonal, or of the neighbour of node i along axis |k| - 1, before it
 * for k < 0 and behind it for k > 0; -1: the node lies at that side of the grid. */
static int64_t neighbour(int64_t i, int k, int64_t size)
{
    const int64_t step[3] = {1, size, size * size};
    if (k == 0) return i;
    const int axis = abs(k) - 1;
    const int64_t at = i / step[axis] % size;
    if (k < 0) return at > 0 ? i - step[axis] : -1;
    return at < size - 1 ? i + step[axis] : -1;
}

/* The Laplacian of the grid in CSR, both triangles. */
static int laplacian(int dimensions, int64_t size, trs_mm *mm)
{
    const int64_t n = dimensions == 2 ? size * size : size * size * size;
    mm->rows = mm->cols = n;
    mm->ptr = malloc(((size_t)n + 1) * sizeof *mm->ptr);
    mm->idx = malloc((size_t)n * 7 * sizeof *mm->idx + 1);
    double *val = mm->val = malloc((size_t)n * 7 * sizeof *val + 1);
    if (!mm->ptr || !mm->idx || !val) return TRS_EMEM;
    for (int64_t i = 0; i < n; i++) {
        mm->ptr[i] = mm->nnz;
        for (int k = -dimensions; k <= dimensions; k++) {
            const int64_t j = neighbour(i, k, size);
            if (j < 0) continue;
            mm->idx[mm->nnz] = (int32_t)j;
            val[mm->nnz++] = k ? -1 : 2 * dimensions;
        }
    }
    mm->ptr[n] = mm->nnz;
    return TRS_OK;
}

/* From CSC, with 64-bit pointers and 32-bit rows as CHOLMOD's factor comes, to CSR. */
static int by_rows(const trs_mat *L, trs_mm *mm)
{
    const int64_t *Lp = L->ptr;
    const int32_t *Li = L->idx;
    const double *Lx = L->val;
    if (L->n > 0 && (L->format != TRS_CSC || L->ptr_bits != 64 || L->idx_bits != 32))
        return TRS_ELIBRARY;
    mm->rows = mm->cols = L->n;
    mm->nnz = L->nnz;
    int64_t *w = mm->ptr = calloc((size_t)L->n + 2, sizeof *w);
    mm->idx = malloc((size_t)L->nnz * sizeof *mm->idx + 1);
    double *val = mm->val = malloc((size_t)L->nnz * sizeof *val + 1);
    if (!w || !mm->idx || !val) return TRS_EMEM;
    for (int64_t p = 0; p < L->nnz; p++) w[Li[p] + 2]++;
    for (int64_t i = 0; i < L->n; i++) w[i + 2] += w[i + 1];
    for (int64_t j = 0; j < L->n; j++)
        for (int64_t p = Lp[j]; p < Lp[j + 1]; p++) {
            int64_t q = w[Li[p] + 1]++;
            mm->idx[q] = (int32_t)j;
            val[q] = Lx[p];
        }
    return TRS_OK;
}

int problem_make_lu(int dimensions, int64_t size, trs_mm *mm)
{
    const trs_factor_options opt = {
        .method = "cholmod", .ordering = "amd", .plan = {.solver = "cpu-serial"}};
    trs_mm grid = {.format = TRS_CSR, .dtype = TRS_F64};
    trs_lu *lu = NULL;
    trs_mat A, L;
    int rc = laplacian(dimensions, size, &grid);
    if (!rc) rc = trs_mm_mat(&grid, 0, &A);
    if (!rc) rc = trs_factor(&lu, &A, &opt);
    if (rc) say(rc, "%s", trs_message());
    if (!rc) rc = trs_lu_factors(lu, &L, NULL, NULL, NULL, NULL);
    if (!rc) rc = by_rows(&L, mm);
    trs_lu_destroy(lu);
    trs_mm_free(&grid);
    return rc;
}

#else

int problem_make_lu(int dimensions, int64_t size, trs_mm *mm)
{
    (void)dimensions, (void)size, (void)mm;
    return say(TRS_ESUPPORT, "lu2d and lu3d need a build with CHOLMOD");
}

#endif
