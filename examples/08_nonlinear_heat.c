/* 08_nonlinear_heat.c: a time loop whose matrix changes in every iteration, on a GPU if there is one.
 *
 * u_t = div (k(u) grad u) in the unit square, k(u) = 0.1 + u^2, without flux through the boundary: finite volumes on
 * M x M cells, backward Euler, and in each step Picard's iteration,
 *
 *     A(v) w = u,   A(v) = I - dt div k(v) grad,   v = w   until w no longer changes.
 *
 * The pattern of A stays, so that trs_lu_update takes the new values, and refinement solves: with incomplete factors that
 * is an iteration x += M^-1 (b - A x), with complete ones a step or two.  Both must give the same u; and since no heat
 * leaves the square, its sum must stay what it was.
 * Where there is a GPU, A's values go there, and factors and vectors stay there. */
#include <trisolve-suitesparse.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 48, N = M * M, STEPS = 8, PICARD = 40 };

static const double dt = 2e-3;
static int64_t ptr[N + 1];
static int32_t idx[5 * N];
static double val[5 * N], u[N], v[N];

typedef struct place { /* where the arrays are that the library reads and writes */
    int device;        /* TRS_HOST or TRS_CUDA(0) */
    trs_mat A;
    double *b, *x;
} place;

/* ---- arrays on the host or on the device ----------------------------------------------------- */

static int copy(const place *at, void *to, const void *from, size_t bytes, int put)
{
    if (at->device == TRS_HOST) return memmove(to, from, bytes), TRS_OK;
    return (put ? trs_device_put : trs_device_get)(at->device, to, from, bytes);
}

/* A copy of host memory on the device. */
static void *to_device(const place *at, const void *from, size_t bytes, int *rc)
{
    void *p = NULL;
    if (!*rc) *rc = trs_device_new(at->device, bytes, &p);
    if (!*rc) *rc = trs_device_put(at->device, p, from, bytes);
    return p;
}

static int place_open(place *at)
{
    static double b[N], x[N];
    char name[100];
    int rc = TRS_OK;
    at->A = (trs_mat){.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val};
    at->b = b, at->x = x;
    at->device = trs_device_name(TRS_CUDA(0), name, sizeof name) ? TRS_HOST : TRS_CUDA(0);
    if (at->device == TRS_HOST) return TRS_OK;
    at->A.device = at->device;
    at->A.ptr = to_device(at, ptr, sizeof ptr, &rc);
    at->A.idx = to_device(at, idx, sizeof idx, &rc);
    at->A.val = to_device(at, val, sizeof val, &rc);
    at->b = to_device(at, b, sizeof b, &rc);
    at->x = to_device(at, x, sizeof x, &rc);
    return rc;
}

static void place_close(place *at)
{
    void *const all[] = {(void *)at->A.ptr, (void *)at->A.idx, (void *)at->A.val, at->b, at->x};
    for (int k = 0; at->device != TRS_HOST && k < 5; k++) trs_device_free(at->device, all[k]);
}

/* ---- the equation ---------------------------------------------------------------------------- */

static double conductivity(const double *w, int i, int j)
{
    const double mean = (w[i] + w[j]) / 2;
    return 0.1 + mean * mean;
}

/* A(w), row by row; the pattern is the same every time. */
static void assemble(const double *w)
{
    const double c = dt * M * M;
    int64_t q = 0;
    for (int i = 0; i < N; i++) {
        const int at[5] = {i - M, i - 1, i, i + 1, i + M};
        const int there[5] = {i >= M, i % M > 0, 1, i % M < M - 1, i < N - M};
        double diagonal = 1;
        int64_t middle = 0;
        for (int k = 0; k < 5; k++) {
            if (!there[k]) continue;
            idx[q] = at[k];
            val[q] = at[k] == i ? 0 : -c * conductivity(w, i, at[k]);
            diagonal -= val[q];
            if (at[k] == i) middle = q;
            q++;
        }
        val[middle] = diagonal;
        ptr[i + 1] = q;
    }
}

/* A bump of heat off the centre. */
static void begin(void)
{
    for (int i = 0; i < N; i++) {
        const double x = (i % M + 0.5) / M - 0.4, y = (i / M + 0.5) / M - 0.3;
        u[i] = exp(-40 * (x * x + y * y));
    }
}

static double sum(const double *w)
{
    double s = 0;
    for (int i = 0; i < N; i++) s += w[i];
    return s;
}

/* v = A(v)^-1 u, and the largest change of v; after the update of the factors to these values. */
static int iterate(trs_lu *lu, place *at, double *change)
{
    static double w[N];
    trs_error e;
    int steps;
    int rc = copy(at, at->b, u, sizeof u, 1);
    if (!rc) rc = trs_lu_solve(lu, TRS_N, 1, at->b, N, at->x, N, NULL);
    if (!rc) rc = trs_lu_refine(lu, &at->A, TRS_N, 1, at->b, N, at->x, N, NULL, 200, &steps, &e);
    if (!rc) rc = copy(at, w, at->x, sizeof w, 0);
    *change = 0;
    for (int i = 0; i < N; i++) *change = fmax(*change, fabs(w[i] - v[i]));
    memcpy(v, w, sizeof v);
    return !rc && e.normwise > 1e-12 ? TRS_ESUPPORT : rc;
}

static int simulate(trs_lu *lu, place *at, int *updates)
{
    int rc = TRS_OK;
    begin();
    for (int step = 0; step < STEPS && !rc; step++) {
        double change = 1;
        memcpy(v, u, sizeof v);
        for (int k = 0; k < PICARD && change > 1e-11 && !rc; k++, ++*updates) {
            assemble(v);
            rc = copy(at, (void *)at->A.val, val, sizeof val, 1);
            if (!rc) rc = trs_lu_update(lu, &at->A);
            if (!rc) rc = iterate(lu, at, &change);
        }
        memcpy(u, v, sizeof u);
    }
    return rc;
}

int main(void)
{
    static double first[N];
    place at;
    trs_lu *incomplete = NULL, *complete = NULL;
    int updates = 0;
    begin();
    const double heat = sum(u);
    assemble(u);
    const trs_mat host = {.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val};
    int rc = place_open(&at);
    const trs_ilu_options ilu = {.method = TRS_IC0, .plan = {.device = at.device}};
    const trs_factor_options lu = {.plan = {.device = at.device}};
    if (!rc) rc = trs_ilu(&incomplete, &at.A, &ilu);
    if (!rc) rc = trs_factor(&complete, &host, &lu);
    if (!rc) rc = simulate(incomplete, &at, &updates);
    memcpy(first, u, sizeof u);
    if (!rc) rc = simulate(complete, &at, &updates);
    if (rc) fprintf(stderr, "%s\n", *trs_message() ? trs_message() : trs_strerror(rc));
    double apart = 0;
    for (int i = 0; i < N; i++) apart = fmax(apart, fabs(u[i] - first[i]));
    const double lost = fabs(sum(u) / heat - 1);
    printf("%d cells, %d steps, %d updates of the factors %s\n", N, STEPS, updates,
           at.device ? "on the GPU" : "on the CPU");
    printf("incomplete and complete factors %.1e apart, heat lost %.1e\n", apart, lost);
    trs_lu_destroy(incomplete);
    trs_lu_destroy(complete);
    place_close(&at);
    return rc || !(apart < 1e-8) || !(lost < 1e-10);
}
