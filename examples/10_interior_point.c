/* 10_interior_point.c: an interior-point method for linear programs, with L D L^H of one pattern in every iteration.
 *
 *     min c'x  with  A x = b, x >= 0;      its dual:  max b'y  with  A'y + z = c, z >= 0
 *
 * The rows of A come from a Matrix Market file; b and c are made so that the optimum is known.  Mehrotra's
 * predictor-corrector method solves, twice in each iteration, with D = diag (z / x):
 *
 *     [ D   A' ] [  dx ]   [ rc / x - rd ]
 *     [ A   0  ] [ -dy ] = [ rp          ]
 *
 * What is factored is quasi-definite, with rho added to D and -rho in place of 0: then each order of its rows has factors with
 * n positive and m negative pivots.  If the inertia is another one, rounding errors were too large, and rho grows.  Refinement
 * with the matrix above takes out what rho has changed.
 * Source: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optimization 2 (1992). */
#include <trisolve-suitesparse.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 100, VECTORS = 11 };

typedef struct program {
    trs_mm A;           /* m rows, n columns, CSR */
    int64_t m, n, N;    /* N = n + m */
    double *all;        /* the memory of all vectors and values */
    double *x, *y, *z;  /* [n], [m], [n] the iterate */
    double *b, *c;      /* [m], [n] */
    double *rp, *rd;    /* [m], [n] b - A x, c - A'y - z */
    double *rc;         /* [n] the wanted change of the products x z */
    double *step, *dz;  /* [N] dx and -dy; [n] */
    double *right;      /* [N] */
    double *val, *val0; /* values of K and K0 */
    trs_mat K, K0;      /* what is factored, and what is solved: lower triangles */
    double best, rho;   /* c'x of the optimum; the regularisation */
    int64_t wrong;      /* factors with another inertia than (n, m) */
    trs_lu *lu;
} program;

/* ---- the linear program ----------------------------------------------------------------------- */

static void *zeros(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    if (!p) fprintf(stderr, "out of memory\n"), exit(1);
    return p;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* rp = b - A x, rd = c - A'y - z */
static void residuals(program *p)
{
    const double *a = p->A.val;
    for (int64_t j = 0; j < p->n; j++) p->rd[j] = p->c[j] - p->z[j];
    for (int64_t i = 0; i < p->m; i++) {
        p->rp[i] = p->b[i];
        for (int64_t q = p->A.ptr[i]; q < p->A.ptr[i + 1]; q++) {
            p->rp[i] -= a[q] * p->x[p->A.idx[q]];
            p->rd[p->A.idx[q]] -= a[q] * p->y[i];
        }
    }
}

/* Half of the variables are positive, and half of the constraints x >= 0 have a price: b = A x and c = A'y + z for these. */
static void make_optimum(program *p)
{
    unsigned long long seed = 1;
    for (int64_t k = 0; k < p->N; k++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        const double u = (double)(seed >> 11) / 9007199254740992.0;
        if (k >= p->n) p->y[k - p->n] = u - 0.5;
        else if (seed >> 63) p->x[k] = 1 + u;
        else p->z[k] = 1 + u;
    }
    residuals(p);
    for (int64_t i = 0; i < p->m; i++) p->b[i] = -p->rp[i];
    for (int64_t j = 0; j < p->n; j++) p->c[j] = -p->rd[j];
    p->best = dot(p->n, p->c, p->x);
}

/* The pattern of K: row j < n has its diagonal, row n + i has row i of A, and its diagonal. */
static void make_pattern(program *p)
{
    int64_t *ptr = zeros(p->N + 1, sizeof *ptr), q = 0;
    int32_t *idx = zeros(p->N + p->A.nnz, sizeof *idx);
    p->val = p->all + VECTORS * p->N, p->val0 = p->val + p->N + p->A.nnz;
    for (int64_t k = 0; k < p->N; k++) {
        const int64_t i = k - p->n, begin = i < 0 ? 0 : p->A.ptr[i],
                      end = i < 0 ? 0 : p->A.ptr[i + 1];
        for (int64_t e = begin; e < end; e++, q++) {
            idx[q] = p->A.idx[e];
            p->val[q] = p->val0[q] = ((double *)p->A.val)[e];
        }
        idx[q++] = (int32_t)k;
        ptr[k + 1] = q;
    }
    p->K = (trs_mat){.n = p->N, .nnz = q, .ptr = ptr, .idx = idx, .val = p->val};
    p->K.kind = TRS_LOWER | TRS_SELFADJOINT;
    p->K0 = p->K, p->K0.val = p->val0;
}

static int open_program(program *p, const char *file)
{
    const trs_mm_options header = {.header = 1}, rows = {0}, columns = {.format = TRS_CSC};
    int rc = trs_mm_read(file, &header, &p->A);
    const int turned = !rc && p->A.rows > p->A.cols; /* then A is the transpose */
    trs_mm_free(&p->A);
    if (!rc) rc = trs_mm_read(file, turned ? &columns : &rows, &p->A);
    if (rc) return rc;
    p->m = turned ? p->A.cols : p->A.rows, p->n = turned ? p->A.rows : p->A.cols;
    p->N = p->m + p->n;
    p->all = zeros(VECTORS * p->N + 2 * (p->N + p->A.nnz), sizeof *p->all);
    double **const vectors[] = {&p->b,  &p->c,  &p->x,  &p->y,    &p->z,    &p->rp,
                                &p->rd, &p->rc, &p->dz, &p->step, &p->right};
    for (int k = 0; k < VECTORS; k++) *vectors[k] = p->all + k * p->N;
    make_optimum(p);
    make_pattern(p);
    return TRS_OK;
}

static void close_program(program *p)
{
    free(p->all), free((void *)p->K.ptr), free((void *)p->K.idx);
    trs_mm_free(&p->A);
    trs_lu_destroy(p->lu);
}

/* ---- linear algebra --------------------------------------------------------------------------- */

/* Factor K with D = z / x.  While the inertia is not (n, m), K is made more definite. */
static int factor(program *p)
{
    static const trs_factor_options options = {.method = "ldlt"};
    for (p->rho = 1e-9; p->rho < 1; p->rho *= 100, p->wrong++) {
        const int64_t *ptr = p->K.ptr;
        for (int64_t k = 0; k < p->N; k++) {
            const int64_t q = ptr[k + 1] - 1;
            p->val0[q] = k < p->n ? p->z[k] / p->x[k] : 0;
            p->val[q] = p->val0[q] + (k < p->n ? p->rho : -p->rho);
        }
        int64_t positive, negative;
        int rc = p->lu ? trs_lu_update(p->lu, &p->K) : trs_factor(&p->lu, &p->K, &options);
        if (!rc) rc = trs_lu_inertia(p->lu, &positive, &negative, NULL);
        if (!rc && positive == p->n && negative == p->m) return TRS_OK;
        if (rc && rc != TRS_EPIVOT) return rc;
    }
    return TRS_EPIVOT;
}

/* step = K0^-1 right, refined. */
static int solve(program *p)
{
    const int64_t N = p->N;
    int rc = trs_lu_solve(p->lu, TRS_N, 1, p->right, N, p->step, N, NULL);
    if (!rc)
        rc = trs_lu_refine(p->lu, &p->K0, TRS_N, 1, p->right, N, p->step, N, NULL, 5, NULL, NULL);
    return rc;
}

/* dx, -dy and dz for rc. */
static int direction(program *p)
{
    for (int64_t j = 0; j < p->n; j++) p->right[j] = p->rc[j] / p->x[j] - p->rd[j];
    memcpy(p->right + p->n, p->rp, (size_t)p->m * sizeof *p->rp);
    const int rc = solve(p);
    for (int64_t j = 0; j < p->n; j++) p->dz[j] = (p->rc[j] - p->z[j] * p->step[j]) / p->x[j];
    return rc;
}

/* ---- Mehrotra's method ------------------------------------------------------------------------ */

/* How far to go along dx: to the damped boundary of x >= 0, or by all of dx. */
static double length(int64_t n, const double *x, const double *dx, double damping)
{
    double alpha = 1;
    for (int64_t j = 0; j < n; j++)
        if (dx[j] < 0) alpha = fmin(alpha, -damping * x[j] / dx[j]);
    return alpha;
}

/* Move all of v by what makes it positive. */
static void lift(int64_t n, double *v)
{
    double least = 0, mean = 0;
    for (int64_t j = 0; j < n; j++) least = fmin(least, v[j]), mean += fabs(v[j]) / (double)n;
    for (int64_t j = 0; j < n; j++) v[j] += -1.5 * least + fmax(mean, 1e-3);
}

/* x: the shortest with A x = b; y: A'y next to c, z = c - A'y; and both lifted. */
static int begin(program *p)
{
    for (int64_t j = 0; j < p->n; j++) p->x[j] = p->z[j] = 1;
    int rc = factor(p);
    memset(p->right, 0, (size_t)p->N * sizeof *p->right);
    memcpy(p->right + p->n, p->b, (size_t)p->m * sizeof *p->b);
    if (!rc) rc = solve(p);
    memcpy(p->x, p->step, (size_t)p->n * sizeof *p->x);
    memset(p->right + p->n, 0, (size_t)p->m * sizeof *p->b);
    memcpy(p->right, p->c, (size_t)p->n * sizeof *p->c);
    if (!rc) rc = solve(p);
    memcpy(p->z, p->step, (size_t)p->n * sizeof *p->z);
    memcpy(p->y, p->step + p->n, (size_t)p->m * sizeof *p->y);
    lift(p->n, p->x), lift(p->n, p->z);
    return rc;
}

/* One iteration: the affine direction says how much of mu may stay, and what the second order is. */
static int iterate(program *p, double mu)
{
    double affine = 0;
    int rc = factor(p);
    for (int64_t j = 0; j < p->n; j++) p->rc[j] = -p->x[j] * p->z[j];
    if (!rc) rc = direction(p);
    if (rc) return rc;
    double primal = length(p->n, p->x, p->step, 1), dual = length(p->n, p->z, p->dz, 1);
    for (int64_t j = 0; j < p->n; j++)
        affine += (p->x[j] + primal * p->step[j]) * (p->z[j] + dual * p->dz[j]) / (double)p->n;
    const double target = pow(affine / mu, 3) * mu;
    for (int64_t j = 0; j < p->n; j++) p->rc[j] += target - p->step[j] * p->dz[j];
    rc = direction(p);
    primal = length(p->n, p->x, p->step, 0.99), dual = length(p->n, p->z, p->dz, 0.99);
    for (int64_t j = 0; j < p->n; j++) p->x[j] += primal * p->step[j], p->z[j] += dual * p->dz[j];
    for (int64_t i = 0; i < p->m; i++) p->y[i] -= dual * p->step[p->n + i];
    return rc;
}

/* How far x, y, z are from feasible and optimal, relative to the numbers of the program. */
static double distance(const program *p)
{
    const double primal = sqrt(dot(p->m, p->rp, p->rp)) / (1 + sqrt(dot(p->m, p->b, p->b)));
    const double dual = sqrt(dot(p->n, p->rd, p->rd)) / (1 + sqrt(dot(p->n, p->c, p->c)));
    const double gap = dot(p->n, p->x, p->z) / (1 + fabs(dot(p->n, p->c, p->x)));
    return fmax(fmax(primal, dual), gap);
}

int main(int argc, char **argv)
{
    program p = {0};
    int k = 0;
    double far = 1;
    int rc = open_program(&p, argc > 1 ? argv[1] : "matrices/lp_afiro.mtx");
    if (!rc) rc = begin(&p);
    for (; k < ITERATIONS && !rc; k++) {
        residuals(&p);
        far = distance(&p);
        if (far < 1e-8) break;
        rc = iterate(&p, dot(p.n, p.x, p.z) / (double)p.n);
    }
    if (rc) fprintf(stderr, "%s\n", *trs_message() ? trs_message() : trs_strerror(rc));
    const double found = dot(p.n, p.c, p.x), error = fabs(found - p.best) / (1 + fabs(p.best));
    printf("%lld rows, %lld columns: %d iterations, %lld wrong inertias\n", (long long)p.m,
           (long long)p.n, k, (long long)p.wrong);
    printf("c'x = %.9g, the optimum %.9g; infeasibility and gap %.1e\n", found, p.best, far);
    close_program(&p);
    return rc || !(far < 1e-8) || !(error < 1e-6);
}
