/* 05_factors_of_umfpack.c: a general matrix through the factors that UMFPACK makes.
 *
 * trs_factor gives  (L U)(k, m) = s(P(k)) A(P(k), Q(m)),  so that
 *     x = Q U^-1 L^-1 P S b.
 * trs_lu_solve does that.  Here it is done by hand as well, with the plans of both triangles: so one would
 * in a code that keeps its vectors permuted, or solves with many work spaces.
 * This one links libtrisolve-suitesparse, which is under the GPL. */
#include <trisolve-suitesparse.h>

#include <math.h>
#include <stdio.h>

enum { EDGE = 40, N = EDGE * EDGE };

/* Convection and diffusion on a square, the wind blowing along both axes: not symmetric. */
static trs_mat convection(void)
{
    static int64_t ptr[N + 1];
    static int32_t idx[5 * N];
    static double val[5 * N];
    for (int i = 0; i < N; i++) {
        int64_t p = ptr[i];
        if (i >= EDGE) idx[p] = i - EDGE, val[p++] = -1.8;
        if (i % EDGE) idx[p] = i - 1, val[p++] = -1.6;
        idx[p] = i, val[p++] = 4;
        if (i % EDGE < EDGE - 1) idx[p] = i + 1, val[p++] = -0.4;
        if (i < N - EDGE) idx[p] = i + EDGE, val[p++] = -0.2;
        ptr[i + 1] = p;
    }
    return (trs_mat){.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val};
}

static int by_hand(const trs_lu *lu, const double *b, double *x)
{
    static double y[N];
    trs_lu_info info;
    const int64_t *P, *Q;
    const double *s;
    trs_lu_factors(lu, NULL, NULL, &P, &Q, &s);
    trs_lu_get_info(lu, &info);
    for (int k = 0; k < N; k++) y[k] = (s ? s[P[k]] : 1) * b[P[k]]; /* y = P S b */
    int rc = trs_solve(info.l, TRS_N, 1, y, N, y, N, NULL);         /* y = L \ y */
    if (!rc) rc = trs_solve(info.u, TRS_N, 1, y, N, y, N, NULL);    /* y = U \ y */
    for (int m = 0; m < N; m++) x[Q[m]] = y[m];                     /* x = Q y */
    return rc;
}

int main(void)
{
    static double exact[N], b[N], x[N], hand[N];
    const trs_mat A = convection();
    const trs_factor_options options = {.method = "umfpack"};
    trs_lu *lu;
    int rc = trs_factor(&lu, &A, &options);
    for (int i = 0; i < N; i++) exact[i] = 1 + i % 7;
    trs_multiply(&A, TRS_N, 1, exact, N, b, N, TRS_COL_MAJOR);
    if (!rc) rc = trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL);
    if (!rc) rc = by_hand(lu, b, hand);
    if (rc) fprintf(stderr, "%s\n", trs_message());

    double worst = 0, apart = 0;
    for (int i = 0; i < N && !rc; i++) {
        worst = fmax(worst, fabs(x[i] - exact[i]));
        apart = fmax(apart, fabs(x[i] - hand[i]));
    }
    trs_lu_info info;
    trs_lu_get_info(lu, &info);
    printf("%d unknowns, L + U %lld entries: largest error %.2g, by hand %.2g away\n", N,
           (long long)(info.nnz_l + info.nnz_u), worst, apart);
    trs_lu_destroy(lu);
    return rc || worst > 1e-11 || apart > 1e-12;
}
