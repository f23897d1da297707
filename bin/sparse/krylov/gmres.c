/* gmres.c: GMRES with restarts, and the preconditioner from the right.
 *
 *     A M^-1 V(m) = V(m+1) H,   H (m+1) x m, upper Hessenberg, by modified Gram-Schmidt
 *     y minimises | beta e1 - H y |, by Givens rotations;   x += M^-1 V y */
#include "config.h"

#include "run.h"

#include "bin/common/message.h"

#include <math.h>
#include <stdlib.h>

typedef struct cycle {
    int m;
    void **V;          /* [m+1] */
    double complex *H; /* column j from H + j (m+1); made triangular by the rotations */
    double complex *g; /* [m+1] beta e1, rotated */
    double complex *s; /* [m] sines */
    double *c;         /* [m] cosines */
} cycle;

static double complex *entry(const cycle *g, int i, int j)
{
    return &g->H[(size_t)j * ((size_t)g->m + 1) + (size_t)i];
}

static void cycle_free(run *k, cycle *g)
{
    for (int j = 0; g->V && j <= g->m; j++) vector_free(k->v, g->V[j]);
    free(g->V);
    free(g->H);
    free(g->g);
    free(g->s);
    free(g->c);
}

static void cycle_new(run *k, cycle *g)
{
    const size_t m = (size_t)g->m;
    g->V = calloc(m + 1, sizeof *g->V);
    g->H = calloc((m + 1) * m, sizeof *g->H);
    g->g = calloc(m + 1, sizeof *g->g);
    g->s = calloc(m, sizeof *g->s);
    g->c = calloc(m, sizeof *g->c);
    if (g->V && g->H && g->g && g->s && g->c) return;
    complain("out of memory for GMRES");
    k->v->status = TRS_EMEM;
}

/* V(j+1), and column j of H. */
static void extend(run *k, cycle *g, int j, void *z)
{
    double complex *h = entry(g, 0, j);
    if (!g->V[j + 1]) g->V[j + 1] = vector_new(k->v);
    precondition(k, g->V[j], z);
    multiply(k, z, g->V[j + 1]);
    for (int i = 0; i <= j; i++) {
        h[i] = vector_dot(k->v, g->V[i], g->V[j + 1]);
        vector_add(k->v, -h[i], g->V[i], g->V[j + 1]);
    }
    const double norm = vector_norm(k->v, g->V[j + 1]);
    h[j + 1] = norm;
    if (norm > 0) vector_scale(k->v, 1 / norm, g->V[j + 1]);
}

/* Makes column j of H triangular; returns the residual. */
static double rotate(cycle *g, int j)
{
    double complex *h = entry(g, 0, j);
    for (int i = 0; i < j; i++) {
        const double complex a = h[i];
        h[i] = g->c[i] * a + g->s[i] * h[i + 1];
        h[i + 1] = -conj(g->s[i]) * a + g->c[i] * h[i + 1];
    }
    const double a = cabs(h[j]), b = creal(h[j + 1]), r = hypot(a, b);
    const double complex phase = a > 0 ? h[j] / a : 1;
    g->c[j] = r > 0 ? a / r : 1;
    g->s[j] = r > 0 ? phase * (b / r) : 0;
    h[j] = phase * r;
    h[j + 1] = 0;
    g->g[j + 1] = -conj(g->s[j]) * g->g[j];
    g->g[j] *= g->c[j];
    return cabs(g->g[j + 1]);
}

/* x += M^-1 V y with the first count vectors. */
static void add_to_x(run *k, cycle *g, int count, void *w, void *z)
{
    if (!count) return;
    for (int i = count - 1; i >= 0; i--) {
        for (int j = i + 1; j < count; j++) g->g[i] -= *entry(g, i, j) * g->g[j];
        g->g[i] /= *entry(g, i, i);
    }
    vector_copy(k->v, g->V[0], w);
    vector_scale(k->v, g->g[0], w);
    for (int i = 1; i < count; i++) vector_add(k->v, g->g[i], g->V[i], w);
    precondition(k, w, z);
    vector_add(k->v, 1, z, k->x);
}

static void one_cycle(run *k, cycle *g, void *w, void *z)
{
    int j = 0;
    if (!g->V[0]) g->V[0] = vector_new(k->v);
    const double beta = true_residual(k, g->V[0]) * k->norm_b;
    if (is_over(k)) return;
    vector_scale(k->v, 1 / beta, g->V[0]);
    g->g[0] = beta;
    for (bool done = false; j < g->m && !done; j++) {
        extend(k, g, j, z);
        const double rest = rotate(g, j);
        if (k->v->status) return;
        if (*entry(g, j, j) == 0) {
            break_down(k, "GMRES broke down: A M^-1 is singular (iteration %d)",
                       k->r->iterations + 1);
            break;
        }
        done = note(k, rest / k->norm_b) || rest == 0;
    }
    add_to_x(k, g, j, w, z);
}

void run_gmres(run *k)
{
    cycle g = {.m = k->o->restart < k->o->maxit ? k->o->restart : k->o->maxit};
    while (k->count < 3) run_vector(k);
    cycle_new(k, &g);
    const int first = k->r->iterations;
    double rest = 1;
    while (!is_over(k) && rest > k->o->rtol) {
        one_cycle(k, &g, k->vector[1], k->vector[2]);
        rest = k->r->history[k->r->iterations];
        if (k->r->iterations == first) break;
    }
    cycle_free(k, &g);
}
