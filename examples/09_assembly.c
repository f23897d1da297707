/* 09_assembly.c: finite elements in time: element matrices are summed into one triangle of a matrix, and factored again.
 *
 * u' = k(t) div grad u in the unit square, u = 0 around it, by linear triangles and implicit Euler,
 *     (M + dt k(t) K) u(t + dt) = M u(t).
 * Where the nine numbers of each element go is found once; a step sums them anew.  The matrix is symmetric, so terms above
 * the diagonal are left out by a row of -1, as those of nodes on the boundary are. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdio.h>

enum { M = 48, E = M - 1, N = E * E, TRIANGLES = 2 * M * M, TERMS = 9 * TRIANGLES, STEPS = 20 };

static int32_t corner[TRIANGLES][3], row[TERMS], col[TERMS];
static double term[TERMS], u[N], b[N];
static const double pi = 3.14159265358979323846, dt = 0.002, area = 0.5 / M / M;

/* By the corners of a triangle, the right angle first: mass (integrals of products) and stiffness (of gradients). */
static double mass(int i, int j)
{
    return i == j ? area / 6 : area / 12;
}

static double stiffness(int i, int j)
{
    static const double k[3][3] = {{1, -0.5, -0.5}, {-0.5, 0.5, 0}, {-0.5, 0, 0.5}};
    return k[i][j];
}

static int32_t node(int i, int j)
{
    return i < 1 || j < 1 || i > E || j > E ? -1 : i - 1 + E * (j - 1);
}

static void make_mesh(void)
{
    int t = 0;
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++, t += 2) {
            const int32_t a = node(i, j), r = node(i + 1, j), l = node(i, j + 1);
            corner[t][0] = a, corner[t][1] = r, corner[t][2] = l;
            corner[t + 1][0] = node(i + 1, j + 1), corner[t + 1][1] = l, corner[t + 1][2] = r;
        }
    for (int q = 0; q < TERMS; q++) {
        row[q] = corner[q / 9][q % 9 / 3], col[q] = corner[q / 9][q % 3];
        if (row[q] < col[q]) row[q] = -1; /* of the other triangle, or of the boundary */
    }
}

/* The terms of M + dt k K, and b = M u. */
static void fill(double k)
{
    for (int i = 0; i < N; i++) b[i] = 0;
    for (int t = 0; t < TRIANGLES; t++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int32_t to = corner[t][i], from = corner[t][j];
                term[9 * t + 3 * i + j] = mass(i, j) + dt * k * stiffness(i, j);
                if (to >= 0 && from >= 0) b[to] += mass(i, j) * u[from];
            }
}

/* One step with the matrix A, whose values are new; lu is made by the first. */
static int step(trs_assembly *assembly, trs_mat *A, trs_lu **lu)
{
    static const trs_ilu_options options = {.method = TRS_IC0, .level = 3};
    trs_error e;
    int rc = trs_assembly_sum(assembly, term, NULL);
    if (!rc) rc = trs_assembly_mat(assembly, TRS_LOWER | TRS_SELFADJOINT, A);
    if (!rc) rc = *lu ? trs_lu_update(*lu, A) : trs_ilu(lu, A, &options);
    if (!rc) rc = trs_lu_refine(*lu, A, TRS_N, 1, b, N, u, N, NULL, 100, NULL, &e);
    return rc || e.stop == TRS_STOP_CONVERGED ? rc : TRS_ELIBRARY;
}

int main(void)
{
    const trs_terms places = {.n = N, .count = TERMS, .row = row, .col = col};
    trs_assembly *assembly;
    trs_lu *lu = NULL;
    trs_mat A = {0};
    double decay = 1;
    make_mesh();
    for (int i = 0; i < N; i++) u[i] = sin(pi * (i % E + 1) / M) * sin(pi * (i / E + 1) / M);
    int rc = trs_assembly_create(&assembly, &places);
    for (int n = 0; n < STEPS && !rc; n++) {
        const double k = 1 + 0.5 * n / STEPS;
        fill(k);
        rc = step(assembly, &A, &lu);
        decay /= 1 + dt * k * 2 * pi * pi; /* what implicit Euler does to this u */
    }
    if (rc) fprintf(stderr, "%s\n", trs_message());
    printf("%d terms make %lld entries; after %d steps %.4f in the centre, %.4f by the series\n",
           TERMS, (long long)A.nnz, STEPS, u[N / 2], decay);
    trs_lu_destroy(lu);
    trs_assembly_destroy(assembly);
    return rc || fabs(u[N / 2] - decay) > 2e-3;
}
