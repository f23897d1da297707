/* product.c: y = op(A) x on the host in working precision.
 *
 * The matrix is as files are read: CSR with pointers of 64 and indices of 32 bits, or full and by columns.  trs_multiply
 * accumulates in twice the precision, which residuals of refinement need and a Krylov method does not, and takes many
 * times as long.  Threads share the elements of y where each is a sum along a row; else one thread adds up all of y. */
#ifndef T

#include "config.h"

#include "iterate.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* The entries of major index l, which is the row of CSR and the column of a full matrix, are begin <= e < end. */
static int64_t begin_of(const trs_mat *A, int64_t l)
{
    return A->format == TRS_DENSE ? l * A->ld : ((const int64_t *)A->ptr)[l] - A->base;
}

static int64_t end_of(const trs_mat *A, int64_t l)
{
    return A->format == TRS_DENSE ? l * A->ld + A->n : begin_of(A, l + 1);
}

static int64_t minor_of(const trs_mat *A, int64_t l, int64_t e)
{
    return A->format == TRS_DENSE ? e - l * A->ld : ((const int32_t *)A->idx)[e] - A->base;
}

#define TRS_BODY "bin/sparse/steps/product.c"
#include "base/each_type.h"

/* Entries; a product with fewer takes less time than a thread that the system has suspended may be late. */
enum { WORTH_THREADS = 500000 };

/* As many threads as were asked for, for a large matrix. */
static int team(const trs_mat *A, int threads)
{
#ifdef _OPENMP
    if (!threads) threads = omp_get_max_threads();
#endif
    return A->nnz < WORTH_THREADS || threads < 1 ? 1 : threads;
}

void host_product(const trs_mat *A, trs_op op, int threads, const void *x, void *y)
{
    static void (*const gather[])(const trs_mat *, bool, int, const void *, void *) =
        TRS_PER_TYPE(gather);
    static void (*const scatter[])(const trs_mat *, bool, const void *, void *) =
        TRS_PER_TYPE(scatter);
    const bool along = (op == TRS_N) == (A->format != TRS_DENSE);
    if (along) gather[A->dtype](A, op == TRS_H, team(A, threads), x, y);
    else scatter[A->dtype](A, op == TRS_H, x, y);
}

#else

/* y (l) = sum over the entries of major index l. */
static void FN(gather)(const trs_mat *A, bool conjugate, int threads, const void *from, void *to)
{
    const T *a = A->val, *x = from;
    T *y = to;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4096)
    for (int64_t l = 0; l < A->n; l++) {
        T sum = 0;
        for (int64_t e = begin_of(A, l); e < end_of(A, l); e++)
            sum += (conjugate ? CONJ(a[e]) : a[e]) * x[minor_of(A, l, e)];
        y[l] = sum;
    }
}

/* y = the sum of the major indices, each times its x (l). */
static void FN(scatter)(const trs_mat *A, bool conjugate, const void *from, void *to)
{
    const T *a = A->val, *x = from;
    T *y = to;
    memset(y, 0, (size_t)A->n * sizeof *y);
    for (int64_t l = 0; l < A->n; l++)
        for (int64_t e = begin_of(A, l); e < end_of(A, l); e++)
            y[minor_of(A, l, e)] += (conjugate ? CONJ(a[e]) : a[e]) * x[l];
}

#endif
