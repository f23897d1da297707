/* 07_inverse.c: what else an LU factorisation is for: the determinant, and the inverse.
 *
 * The inverse is a solve with the identity, A X = I, column after column.  It is seldom needed: x = A \ b is
 * cheaper and more accurate than the product of the inverse and b.  But here are its numbers, for a matrix
 * whose inverse is known:
 *
 *     A = [ 2 -1  .  . ]        X(i, j) = (n + 1 - i) j / (n + 1)  for j <= i,  likewise for j > i
 *         [-1  2 -1  . ]        det A = n + 1
 *         [ . -1  2 -1 ]
 *         [ .  . -1  2 ]
 *
 * lu-serial is in every build and does not exchange rows, which this matrix needs not; without a name LU with
 * partial pivoting is taken, by LAPACK or cuSOLVER. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdio.h>

enum { N = 4 };

static double expected(int i, int j) /* from 1 */
{
    const int least = i < j ? i : j, most = i < j ? j : i;
    return (double)least * (N + 1 - most) / (N + 1);
}

int main(void)
{
    double A[N * N] = {0}, X[N * N] = {0}; /* by columns */
    for (int i = 0; i < N; i++) {
        A[i + N * i] = 2;
        if (i > 0) A[i + N * (i - 1)] = A[i - 1 + N * i] = -1;
        X[i + N * i] = 1; /* the right-hand sides, in whose place the solutions come */
    }
    const trs_mat mat = {.n = N, .ld = N, .val = A, .format = TRS_DENSE}; /* of neither triangle */
    const trs_options options = {.solver = "lu-serial", .nrhs = N};

    trs_plan *plan;
    trs_det det = {0};
    int rc = trs_plan_create(&plan, &mat, &options);
    if (!rc) rc = trs_plan_analyse(plan);                      /* A = L U */
    if (!rc) rc = trs_solve(plan, TRS_N, N, X, N, X, N, NULL); /* X = A \ I */
    if (!rc) rc = trs_plan_determinant(plan, &det);            /* the product of U(k, k) */
    if (rc) fprintf(stderr, "%s: %s\n", trs_strerror(rc), trs_message());

    double worst = 0;
    for (int i = 0; i < N && !rc; i++)
        for (int j = 0; j < N; j++) {
            printf("%6.3f%s", X[i + N * j], j < N - 1 ? " " : "\n");
            worst = fmax(worst, fabs(X[i + N * j] - expected(i + 1, j + 1)));
        }
    /* Small enough for a double, which det itself need not be. */
    const double small = det.re * ldexp(det.mantissa, (int)det.exponent);
    printf("det A = %g, largest error of the inverse %.2g\n", small, worst);
    trs_plan_destroy(plan);
    return rc || worst > 1e-15 || fabs(small - (N + 1)) > 1e-14;
}
