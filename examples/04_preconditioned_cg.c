/* 04_preconditioned_cg.c: conjugate gradients with IC(0) on a finite element problem.
 *
 * -div grad u = 1 in the unit cube, u = 0 on its surface: trilinear elements on M x M x M bricks, 27
 * entries a row.  The element matrix is a sum of tensor products of the stiffness k and the mass m of a
 * line element.  The preconditioner is M = L L', two triangular solves an iteration.
 * Source: Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 24, E = M - 1, N = E * E * E }; /* bricks, and unknowns, along an edge */

static int64_t ptr[N + 1];
static int32_t idx[27 * N];
static double val[27 * N], b[N], x[N], r[N], z[N], p[N], Ap[N];

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

static void multiply(const double *v, double *Av)
{
    for (int i = 0; i < N; i++) {
        Av[i] = 0;
        for (int64_t q = ptr[i]; q < ptr[i + 1]; q++) Av[i] += val[q] * v[idx[q]];
    }
}

static double dot(const double *u, const double *v)
{
    double s = 0;
    for (int i = 0; i < N; i++) s += u[i] * v[i];
    return s;
}

/* Solve A x = b from x = 0; M = NULL: none.  The number of iterations, or an error. */
static int cg(trs_lu *precond)
{
    memset(x, 0, sizeof x);
    memcpy(r, b, sizeof r);
    const double enough = 1e-20 * dot(b, b);
    double rz = 0;
    for (int k = 0; k < N; k++) {
        if (dot(r, r) <= enough) return k;
        if (!precond) memcpy(z, r, sizeof z);
        else { /* z = M \ r */ int rc = trs_lu_solve(precond, TRS_N, 1, r, N, z, N, NULL);
            if (rc) return rc;
        }
        const double before = rz;
        rz = dot(r, z);
        for (int i = 0; i < N; i++) p[i] = z[i] + (k ? rz / before * p[i] : 0);
        multiply(p, Ap);
        const double alpha = rz / dot(p, Ap);
        for (int i = 0; i < N; i++) x[i] += alpha * p[i], r[i] -= alpha * Ap[i];
    }
    return TRS_ELIBRARY; /* CG did not converge */
}

int main(void)
{
    const trs_mat A = assemble();
    const trs_ilu_options options = {.method = TRS_IC0};
    trs_lu *ic;
    int rc = trs_ilu(&ic, &A, &options);
    if (rc) fprintf(stderr, "%s\n", trs_message());
    const int plain = rc ? rc : cg(NULL), with = rc ? rc : cg(ic);
    trs_lu_destroy(ic);
    if (plain < 0 || with < 0) return fprintf(stderr, "%s\n", trs_strerror(with)), 1;

    trs_error e;
    trs_backward_error(&A, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &e);
    const double centre = x[N / 2]; /* 0.0562 by the series, for every discretisation */
    printf("%d unknowns, %lld entries: %d iterations, %d with IC(0)\n", N, (long long)A.nnz, plain,
           with);
    printf("normwise backward error %.2g, u in the centre %.4f\n", e.normwise, centre);
    return 4 * with > 3 * plain || e.normwise > 1e-9 || fabs(centre - 0.0562) > 2e-4;
}
