/* 04_preconditioned_cg.c: conjugate gradients with IC(0) on a finite element problem.
 *
 * -div grad u = 1 in the unit cube, u = 0 on its surface: trilinear elements on M x M x M bricks, 27
 * entries a row.  The element matrix is a sum of tensor products of the stiffness k and the mass m of a
 * line element.  The preconditioner is M = L L', two triangular solves an iteration. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdio.h>

enum { M = 24, E = M - 1, N = E * E * E }; /* bricks, and unknowns, along an edge */

static int64_t ptr[N + 1];
static int32_t idx[27 * N];
static double val[27 * N], b[N], x[N];

/* Entry between two corners of a brick that differ in the axes where d is not 0. */
static double element(const int d[3])
{
    const double h = 1.0 / M, k[2] = {1 / h, -1 / h}, m[2] = {h / 3, h / 6};
    const int i = d[0] != 0, j = d[1] != 0, l = d[2] != 0;
    return k[i] * m[j] * m[l] + m[i] * k[j] * m[l] + m[i] * m[j] * k[l];
}

/* Row by row: a node and its neighbour at distance d share 2 bricks for every axis where d is 0. */
static trs_mat assemble(void)
{
    for (int i = 0; i < N; i++) {
        const int at[3] = {i % E, i / E % E, i / E / E};
        int64_t q = ptr[i];
        for (int k = 0; k < 27; k++) {
            const int d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            int inside = 1, bricks = 1;
            for (int a = 0; a < 3; a++) {
                inside &= at[a] + d[a] >= 0 && at[a] + d[a] < E;
                bricks *= d[a] ? 1 : 2;
            }
            if (!inside) continue;
            idx[q] = i + d[0] + E * (d[1] + E * d[2]);
            val[q++] = bricks * element(d);
        }
        ptr[i + 1] = q;
        b[i] = 1.0 / M / M / M;
    }
    return (trs_mat){.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val};
}

/* Solve A x = b with M = L L', or with none: NULL.  Returns the number of iterations, or an error. */
static int solve(const trs_mat *A, trs_lu *ic)
{
    const trs_krylov_options options = {.method = TRS_CG, .n = N};
    const trs_krylov_goal goal = {.rtol = 1e-10};
    const trs_map product = {.mat = A}, precondition = {.lu = ic};
    trs_krylov *cg;
    trs_krylov_info info;
    int rc = trs_krylov_create(&cg, &options);
    if (!rc)
        rc = trs_krylov_solve(cg, &product, ic ? &precondition : NULL, 1, b, N, x, N, &goal, &info);
    if (rc) fprintf(stderr, "%s\n", trs_message());
    trs_krylov_destroy(cg);
    if (!rc && info.stop != TRS_STOP_CONVERGED) {
        fprintf(stderr, "CG did not converge: %s\n", info.why);
        rc = TRS_ELIBRARY;
    }
    return rc ? rc : (int)info.iterations;
}

int main(void)
{
    const trs_mat A = assemble();
    const trs_ilu_options options = {.method = TRS_IC0};
    trs_lu *ic;
    int rc = trs_ilu(&ic, &A, &options);
    if (rc) fprintf(stderr, "%s\n", trs_message());
    const int plain = rc ? rc : solve(&A, NULL), with = rc ? rc : solve(&A, ic);
    trs_lu_destroy(ic);
    if (plain < 0 || with < 0) return 1;

    trs_error e;
    trs_backward_error(&A, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &e);
    const double centre = x[N / 2]; /* 0.0562 by the series, for every discretisation */
    printf("%d unknowns, %lld entries: %d iterations, %d with IC(0)\n", N, (long long)A.nnz, plain,
           with);
    printf("normwise backward error %.2g, u in the centre %.4f\n", e.normwise, centre);
    return 4 * with > 3 * plain || e.normwise > 1e-9 || fabs(centre - 0.0562) > 2e-4;
}
