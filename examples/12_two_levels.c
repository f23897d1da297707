/* 12_two_levels.c: conjugate gradients with a two-level method, as algebraic multigrid has it, on a GPU if there is one.
 *
 * -(u_xx + u_yy) = 1 in the unit square, u = 0 on its boundary, on M x M points.  Aggregates of 3 x 3 points are the
 * unknowns of the coarse level.  P brings them to the fine one, smoothed by a step of Jacobi's iteration:
 *
 *     P = (I - 2/3 D^-1 A) P0,   C = P' A P,        P0(i, a) = 1 where point i is in aggregate a
 *
 * The preconditioner is a Jacobi step and a correction by the complete factors of C, added up.  With G = [s I, P] it is two
 * products and a solve, so that nothing else has to run on the device:
 *
 *     z = s^2 r + P C^-1 P' r = G v,    v = G' r, in whose last part C^-1 is applied in place
 *
 * C has few rows, and is solved with in each iteration: `solves` and `solves_per_update` say so, and on a device the library
 * may then multiply by C^-1, which takes less time than two triangles. */
#include <trisolve-suitesparse.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { C = 33, M = 3 * C, N = M * M, NC = C * C, ALL = N + NC, ENTRIES = 5 * N };

static int64_t ptr[N + 1], g_ptr[ALL + 1], t_ptr[ALL + 1], c_ptr[NC + 1];
static int32_t idx[ENTRIES], g_idx[ENTRIES + N], t_idx[ENTRIES + N], c_idx[25 * NC];
static double val[ENTRIES], g_val[ENTRIES + N], t_val[ENTRIES + N], c_val[25 * NC], full[NC][NC];
static double b[N], x[N];

static trs_mat csr(int64_t n, const int64_t *p, const int32_t *i, const double *v)
{
    return (trs_mat){.n = n, .nnz = p[n], .ptr = p, .idx = i, .val = v};
}

static void put(int64_t *q, int32_t *to_idx, double *to_val, int i, double v)
{
    to_idx[*q] = i;
    to_val[(*q)++] = v;
}

static int aggregate(int i)
{
    return i % M / 3 + C * (i / M / 3);
}

static void assemble(void)
{
    int64_t q = 0;
    for (int i = 0; i < N; i++) {
        if (i >= M) put(&q, idx, val, i - M, -1);
        if (i % M > 0) put(&q, idx, val, i - 1, -1);
        put(&q, idx, val, i, 4);
        if (i % M < M - 1) put(&q, idx, val, i + 1, -1);
        if (i < N - M) put(&q, idx, val, i + M, -1);
        ptr[i + 1] = q;
        b[i] = 1.0 / (M + 1) / (M + 1);
    }
}

/* G, whose rows N .. are empty: row i has s in column i, and in columns N .. row i of P. */
static void prolong(double s)
{
    int64_t q = 0;
    for (int i = 0; i < N; i++) {
        put(&q, g_idx, g_val, i, s);
        const int64_t first = q;
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            const int a = N + aggregate(idx[p]);
            const double v = (idx[p] == i) - 2.0 / 3 * val[p] / 4;
            int64_t k = first;
            while (k < q && g_idx[k] != a) k++;
            if (k < q) g_val[k] += v;
            else put(&q, g_idx, g_val, a, v);
        }
        g_ptr[i + 1] = q;
    }
    for (int i = N; i < ALL; i++) g_ptr[i + 1] = q;
}

static void transpose(void)
{
    for (int64_t p = 0; p < g_ptr[N]; p++) t_ptr[g_idx[p] + 1]++;
    for (int i = 0; i < ALL; i++) t_ptr[i + 1] += t_ptr[i];
    for (int i = 0; i < N; i++)
        for (int64_t p = g_ptr[i]; p < g_ptr[i + 1]; p++)
            put(&t_ptr[g_idx[p]], t_idx, t_val, i, g_val[p]);
    memmove(t_ptr + 1, t_ptr, ALL * sizeof *t_ptr);
    t_ptr[0] = 0;
}

/* C = P' A P; the first entry of a row of G is not one of P. */
static void coarsen(void)
{
    int64_t q = 0;
    for (int i = 0; i < N; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
            for (int64_t k = g_ptr[i] + 1; k < g_ptr[i + 1]; k++)
                for (int64_t l = g_ptr[idx[p]] + 1; l < g_ptr[idx[p] + 1]; l++)
                    full[g_idx[k] - N][g_idx[l] - N] += g_val[k] * val[p] * g_val[l];
    for (int a = 0; a < NC; a++) {
        for (int k = 0; k < NC; k++) /* exactly symmetric, whatever the order of the sums */
            if (full[a][k] != 0 || full[k][a] != 0)
                put(&q, c_idx, c_val, k, (full[a][k] + full[k][a]) / 2);
        c_ptr[a + 1] = q;
    }
}

/* ---- on the host or on a device ---------------------------------------------------------------- */

typedef struct levels {
    int device;
    trs_mat A, G, Gt;
    trs_lu *coarse;
    double *wide, *v; /* [ALL] */
} levels;

static void *there(int device, const void *from, size_t bytes, int *rc)
{
    void *p = NULL;
    if (device == TRS_HOST) return (void *)from;
    if (!*rc) *rc = trs_device_new(device, bytes, &p);
    if (!*rc) *rc = trs_device_put(device, p, from, bytes);
    return p;
}

static trs_mat matrix_there(int device, trs_mat m, int *rc)
{
    m.ptr = there(device, m.ptr, (size_t)(m.n + 1) * sizeof(int64_t), rc);
    m.idx = there(device, m.idx, (size_t)m.nnz * sizeof(int32_t), rc);
    m.val = there(device, m.val, (size_t)m.nnz * sizeof(double), rc);
    m.device = device;
    return m;
}

static int copy(int device, void *to, const void *from, void *stream)
{
    if (device != TRS_HOST) return trs_device_copy(device, to, from, N * sizeof(double), stream);
    memcpy(to, from, N * sizeof(double));
    return TRS_OK;
}

/* z = G diag (I, C^-1) G' r */
static int precondition(void *user, const void *r, void *z, void *stream)
{
    const levels *l = user;
    const trs_exec exec = {.stream = stream};
    int rc = copy(l->device, l->wide, r, stream);
    if (!rc) rc = trs_multiply_on(&l->Gt, TRS_N, 1, l->wide, ALL, l->v, ALL, &exec);
    if (!rc) rc = trs_lu_solve(l->coarse, TRS_N, 1, l->v + N, NC, l->v + N, NC, &exec);
    if (!rc) rc = trs_multiply_on(&l->G, TRS_N, 1, l->v, ALL, l->wide, ALL, &exec);
    return rc ? rc : copy(l->device, z, l->wide, stream);
}

/* CG with it, or without; the number of iterations, or an error. */
static int solve(levels *l, int with)
{
    const trs_krylov_options options = {.method = TRS_CG, .n = N, .device = l->device};
    const trs_krylov_goal goal = {.rtol = 1e-10};
    const trs_map product = {.mat = &l->A}, M1 = {.apply = precondition, .user = l};
    trs_krylov *cg;
    trs_krylov_info info = {0};
    int rc = trs_krylov_create(&cg, &options);
    void *at = there(l->device, b, sizeof b, &rc), *to = there(l->device, x, sizeof x, &rc);
    if (!rc) rc = trs_krylov_solve(cg, &product, with ? &M1 : NULL, 1, at, N, to, N, &goal, &info);
    if (!rc && l->device != TRS_HOST) rc = trs_device_get(l->device, x, to, sizeof x);
    if (rc) fprintf(stderr, "%s\n", trs_message());
    trs_krylov_destroy(cg);
    if (l->device != TRS_HOST) trs_device_free(l->device, at), trs_device_free(l->device, to);
    if (!rc && info.stop != TRS_STOP_CONVERGED) rc = TRS_ELIBRARY;
    return rc ? rc : (int)info.iterations;
}

static int levels_open(levels *l)
{
    static double wide[ALL], v[ALL];
    char name[100];
    int rc = TRS_OK;
    l->device = trs_device_name(TRS_CUDA(0), name, sizeof name) ? TRS_HOST : TRS_CUDA(0);
    const trs_factor_options options = {
        .plan = {.device = l->device, .solves = TRS_SOLVES_MANY, .solves_per_update = 10000}};
    const trs_mat coarse = csr(NC, c_ptr, c_idx, c_val);
    l->A = matrix_there(l->device, csr(N, ptr, idx, val), &rc);
    l->G = matrix_there(l->device, csr(ALL, g_ptr, g_idx, g_val), &rc);
    l->Gt = matrix_there(l->device, csr(ALL, t_ptr, t_idx, t_val), &rc);
    l->wide = there(l->device, wide, sizeof wide, &rc);
    l->v = there(l->device, v, sizeof v, &rc);
    return rc ? rc : trs_factor(&l->coarse, &coarse, &options);
}

static void levels_close(levels *l)
{
    const void *arrays[] = {l->A.ptr,  l->A.idx,  l->A.val,  l->G.ptr, l->G.idx, l->G.val,
                            l->Gt.ptr, l->Gt.idx, l->Gt.val, l->wide,  l->v};
    trs_lu_destroy(l->coarse);
    for (size_t k = 0; l->device != TRS_HOST && k < sizeof arrays / sizeof *arrays; k++)
        trs_device_free(l->device, (void *)arrays[k]);
}

int main(void)
{
    levels l = {0};
    assemble();
    prolong(0.5); /* D = 4 I */
    transpose();
    coarsen();
    const int rc = levels_open(&l);
    if (rc) fprintf(stderr, "%s\n", trs_message());
    const int plain = rc ? rc : solve(&l, 0), two = rc ? rc : solve(&l, 1);
    levels_close(&l);
    if (plain < 0 || two < 0) return 1;

    const trs_mat A = csr(N, ptr, idx, val);
    trs_error e;
    trs_backward_error(&A, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &e);
    const double centre = x[N / 2]; /* 0.0737 by the series */
    printf("%d unknowns, %d on the coarse level: %d iterations, %d with two levels\n", N, NC, plain,
           two);
    printf("normwise backward error %.2g, u in the centre %.4f\n", e.normwise, centre);
    return 4 * two > plain || e.normwise > 1e-9 || fabs(centre - 0.0737) > 2e-4;
}
