/* minres.c: minimal residuals by the Lanczos process, with a preconditioner that is positive definite.
 *
 *     gamma(j+1) v(j+1) = A z(j) - delta(j) v(j) - gamma(j) v(j-1),   z(j) = M^-1 v(j),   v'z = 1
 *
 * Vectors v and z are stored without the division by gamma.  Plane rotations make the tridiagonal matrix triangular,
 * w(j) is column j of Z R^-1, and x += c eta w.  The method minimises r' M^-1 r; r itself follows from
 *
 *     r(j) = s^2 r(j-1) + c eta(j) v(j+1) / gamma(j+1),
 *
 * so that its 2-norm decides, as in the other methods.
 * Sources: Paige, Saunders, Solution of sparse indefinite systems of linear equations, SIAM J. Numer. Anal. 12 (1975)
 * 617-629; Elman, Silvester, Wathen, Finite Elements and Fast Iterative Solvers, 2nd ed., algorithms 2.4 and 4.1. */
#include "config.h"

#include "iteration.h"

enum { R, Q, V, V_OLD, Z, Z_OLD, W, W_OLD, VECTORS };

static trs_krylov_needs needs(int m)
{
    (void)m;
    return (trs_krylov_needs){.vectors = VECTORS, .places = MI_PLACES, .dots = 1};
}

/* v = r, z = M^-1 v, gamma^2 = z'v; the vectors before are 0 */
static void begin(trs_iteration *k)
{
    void *r = trs_krylov_vector(k, R), *v = trs_krylov_vector(k, V);
    trs_krylov_pass(k, &(trs_pass){.update = {{v, ZERO, r, ONE},
                                              {trs_krylov_vector(k, V_OLD), ZERO},
                                              {trs_krylov_vector(k, W), ZERO},
                                              {trs_krylov_vector(k, W_OLD), ZERO}}});
    void *z = trs_krylov_precondition(k, v, trs_krylov_vector(k, Z));
    trs_krylov_pass(k, &(trs_pass){.dot = {{z, v, MI_GG}}, .step = TRS_STEP_MI_BEGIN});
}

static void iterate(trs_iteration *k)
{
    const int odd = k->step++ % 2; /* which of two vectors is the newer one */
    void *r = trs_krylov_vector(k, R), *q = trs_krylov_vector(k, Q);
    void *v = trs_krylov_vector(k, V + odd), *next = trs_krylov_vector(k, V_OLD - odd);
    void *z = k->M.of ? trs_krylov_vector(k, Z + odd) : v;
    void *w = trs_krylov_vector(k, W + odd), *w_next = trs_krylov_vector(k, W_OLD - odd);
    trs_krylov_multiply(k, z, q); /* q = A z, delta = z'q / gamma^2 */
    trs_krylov_pass(k, &(trs_pass){.dot = {{z, q, MI_DELTA}}, .step = TRS_STEP_MI_LANCZOS});
    trs_krylov_pass(k, &(trs_pass){.update = {{next, MI_BY_OLD, q, MI_BY_Q},
                                              {next, ONE, v, MI_BY_V, .minus = true}}});
    void *z_next = trs_krylov_precondition(k, next, trs_krylov_vector(k, Z_OLD - odd));
    trs_krylov_pass(k, &(trs_pass){.dot = {{z_next, next, MI_GG}}, .step = TRS_STEP_MI_ROTATE});
    trs_krylov_pass(k, &(trs_pass){.update = {{w_next, MI_W_OLD, z, MI_W_Z},
                                              {w_next, ONE, w, MI_W_W, .minus = true},
                                              {k->x, ONE, w_next, MI_W_X},
                                              {r, MI_R_R, next, MI_R_V}},
                                   .dot = {{r, r, RR}},
                                   .step = TRS_STEP_NOTE});
}

const trs_krylov_kind trs_kind_minres = {needs, false, begin, iterate, NULL};
