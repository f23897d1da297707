/* 01_solve_once.c: L x = b, once.
 *
 * A matrix is described, not copied by hand: here rows (CSR) of a lower triangle, counted from 0.
 *
 *     L = [2 . . . .]   b = [2]   x = [1]
 *         [. 2 . . .]       [4]       [2]
 *         [. . 2 . .]       [6]       [3]
 *         [1 1 . 2 .]       [5]       [1]
 *         [1 . . . 4]       [9]       [2] */
#include <trisolve-sparse.h>

#include <stdio.h>

int main(void)
{
    const int32_t ptr[] = {0, 1, 2, 3, 6, 8}, idx[] = {0, 1, 2, 0, 1, 3, 0, 4};
    const double val[] = {2, 2, 2, 1, 1, 2, 1, 4}, b[] = {2, 4, 6, 5, 9};
    const double expected[] = {1, 2, 3, 1, 2};
    double x[5];

    trs_mat L = {.n = 5, .nnz = 8, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    L.ptr_bits = 32; /* 64 is the default, for matrices with more than 2^31 entries */

    trs_plan *plan;
    int rc = trs_plan_create(&plan, &L, NULL);                 /* is it a triangle? */
    if (!rc) rc = trs_plan_analyse(plan);                      /* levels, choice of a solver */
    if (!rc) rc = trs_solve(plan, TRS_N, 1, b, 5, x, 5, NULL); /* x = L \ b */
    if (rc) fprintf(stderr, "%s\n", trs_message());

    int wrong = rc != TRS_OK;
    for (int i = 0; i < 5 && !rc; i++) {
        printf("x(%d) = %g\n", i, x[i]);
        wrong |= x[i] != expected[i];
    }
    trs_plan_destroy(plan); /* also after an error */
    return wrong;
}
