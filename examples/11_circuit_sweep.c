/* 11_circuit_sweep.c: a circuit in time for many values of its parameters: one pattern, a batch of factors.
 *
 * Conductances G come from a Matrix Market file, currents flow into some nodes, and from each node a capacitor and a
 * varistor lead to the ground:
 *
 *     c v' + G v + g v^3 = s sin(t)
 *
 * System k of the batch has its own c and g.  A step of the implicit Euler method is Newton's iteration
 *
 *     (c / dt + G + 3 g v^2) d = s sin(t) - c (v - w) / dt - G v - g v^3,   v = v + d,   w: v of the step before
 *
 * for all systems at once.  A mask leaves out those that have converged, and a system that does not suit the pivots of the
 * first one is solved by itself.  At the end of a step, Kirchhoff's law must hold in every node of every system. */
#include <trisolve-suitesparse.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 48, STEPS = 12, NEWTON = 20 };

static const double dt = 0.25;

typedef struct sweep {
    trs_mm file;
    trs_mat G;
    int64_t n, *diagonal; /* [n] places in val, or -1: a row without capacitor and varistor */
    double *val;          /* [COUNT * nnz] of the matrices of Newton's iteration */
    double *v, *w, *r,
        *d;       /* [COUNT * n] voltages, those of the last step, currents, Newton's correction */
    double scale; /* the mean of |diag G| */
    char mask[COUNT];         /* 1: Newton's iteration goes on */
    int64_t solves, repaired; /* systems that were solved, and of these by themselves */
    double worst;             /* current that gets lost in a node, relative to scale */
    trs_lu *lu;
    trs_lu_batch *batch;
} sweep;

static double capacity(const sweep *s, int k)
{
    return s->scale * (0.5 + 1.5 * k / COUNT);
}

static double varistor(const sweep *s, int k)
{
    return s->scale * 0.1 * (1 + k % 7);
}

static void *array(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    if (!p) fprintf(stderr, "out of memory\n"), exit(1);
    return p;
}

static int open_sweep(sweep *s, const char *name)
{
    int rc = trs_mm_read(name, NULL, &s->file);
    if (!rc) rc = trs_mm_mat(&s->file, 0, &s->G);
    if (rc) return rc;
    const int64_t n = s->n = s->G.n, *ptr = s->file.ptr;
    const double *g = s->file.val;
    s->diagonal = array(n, sizeof *s->diagonal);
    s->val = array(COUNT * s->G.nnz, sizeof *s->val);
    s->v = array(COUNT * n, sizeof *s->v), s->w = array(COUNT * n, sizeof *s->w);
    s->r = array(COUNT * n, sizeof *s->r), s->d = array(COUNT * n, sizeof *s->d);
    for (int64_t i = 0; i < n; i++) {
        s->diagonal[i] = -1;
        for (int64_t q = ptr[i]; q < ptr[i + 1]; q++)
            if (s->file.idx[q] == i) s->diagonal[i] = q, s->scale += fabs(g[q]) / (double)n;
    }
    return TRS_OK;
}

/* Of system k at the time t: the currents r into each node, and the matrix of Newton's iteration. */
static int currents(sweep *s, int k, double t, double *largest)
{
    const int64_t n = s->n, nnz = s->G.nnz;
    const double c = capacity(s, k) / dt, g = varistor(s, k), *v = s->v + k * n, *w = s->w + k * n;
    double *r = s->r + k * n, *val = s->val + k * nnz;
    const int rc = trs_multiply(&s->G, TRS_N, 1, v, n, r, n, TRS_COL_MAJOR);
    memcpy(val, s->file.val, (size_t)nnz * sizeof *val);
    *largest = 0;
    for (int64_t i = 0; i < n; i++) {
        r[i] = (i % 10 == 0 ? s->scale * sin(t) : 0) - r[i];
        if (s->diagonal[i] >= 0) {
            r[i] -= c * (v[i] - w[i]) + g * v[i] * v[i] * v[i];
            val[s->diagonal[i]] += c + 3 * g * v[i] * v[i];
        }
        *largest = fmax(*largest, fabs(r[i]) / s->scale);
    }
    return rc;
}

/* d = (the matrices)^-1 r, where the mask is 1. */
static int solve(sweep *s)
{
    const trs_systems systems = {.count = COUNT,
                                 .val = s->val,
                                 .val_stride = s->G.nnz,
                                 .mask = s->mask,
                                 .b_stride = s->n,
                                 .x_stride = s->n};
    const trs_lu_batch_options options = {.count = COUNT};
    trs_mat first = s->G;
    int64_t repaired = 0;
    int rc = TRS_OK;
    first.val = s->val;
    if (!s->lu) { /* system 0 stands for all of them: its pivots, and its order */
        rc = trs_factor(&s->lu, &first, NULL);
        if (!rc) rc = trs_lu_batch_create(&s->batch, s->lu, &s->G, &options);
    }
    if (!rc) rc = trs_lu_batch_solve(s->batch, TRS_N, 1, &systems, s->r, s->n, s->d, s->n, NULL);
    if (!rc && trs_lu_batch_status(s->batch, NULL, NULL, NULL, NULL))
        rc = trs_lu_batch_repair(s->batch, s->lu, &s->G, TRS_N, 1, &systems, s->r, s->n, s->d, s->n,
                                 NULL, &repaired);
    s->repaired += repaired;
    return rc;
}

/* One step of all systems. */
static int step(sweep *s, double t)
{
    int rc = TRS_OK, active = COUNT;
    memcpy(s->w, s->v, (size_t)(COUNT * s->n) * sizeof *s->w);
    memset(s->mask, 1, COUNT);
    for (int iteration = 0; iteration < NEWTON && active && !rc; iteration++) {
        active = 0;
        for (int k = 0; k < COUNT && !rc; k++) {
            double largest;
            if (!s->mask[k]) continue;
            rc = currents(s, k, t, &largest);
            s->mask[k] = largest > 1e-11;
            active += s->mask[k];
        }
        s->solves += active;
        if (!rc && active) rc = solve(s);
        for (int64_t i = 0; i < COUNT * s->n && !rc; i++)
            if (s->mask[i / s->n]) s->v[i] += s->d[i];
    }
    for (int k = 0; k < COUNT && !rc; k++) {
        double largest;
        rc = currents(s, k, t, &largest);
        s->worst = fmax(s->worst, largest);
    }
    return rc;
}

int main(int argc, char **argv)
{
    sweep s = {0};
    int rc = open_sweep(&s, argc > 1 ? argv[1] : "matrices/1138_bus.mtx");
    for (int k = 1; k <= STEPS && !rc; k++) rc = step(&s, k * dt);
    if (rc) fprintf(stderr, "%s\n", *trs_message() ? trs_message() : trs_strerror(rc));
    else
        printf("%lld nodes, %d systems, %d steps: %lld systems were solved, %lld by themselves\n",
               (long long)s.n, COUNT, STEPS, (long long)s.solves, (long long)s.repaired);
    printf("node 1 has %.6f in the first system, %.6f in the last; lost current %.1e\n",
           s.v ? s.v[0] : 0, s.v ? s.v[(COUNT - 1) * s.n] : 0, s.worst);
    trs_lu_batch_destroy(s.batch);
    trs_lu_destroy(s.lu);
    trs_mm_free(&s.file);
    void *const all[] = {s.diagonal, s.val, s.v, s.w, s.r, s.d};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    return rc || !(s.worst < 1e-9);
}
