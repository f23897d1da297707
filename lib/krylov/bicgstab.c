/* bicgstab.c: stabilised bi-conjugate gradients, with the preconditioner from the right:
 *
 *     rho = r0'r   beta = (rho / rho before) (alpha / omega)     p = r + beta (p - omega v)
 *     v = A M^-1 p    alpha = rho / r0'v      s = r - alpha v    x += alpha M^-1 p
 *     t = A M^-1 s    omega = t's / t't       r = s - omega t    x += omega M^-1 s
 *
 * s is in the place of r.  Sources: Saad, algorithm 7.7; van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of
 * Bi-CG for the solution of nonsymmetric linear systems, SIAM J. Sci. Stat. Comput. 13 (1992) 631-644. */
#include "config.h"

#include "iteration.h"

enum { R, R0, P, V, HAT, T_, VECTORS };

static trs_krylov_needs needs(int m)
{
    (void)m;
    return (trs_krylov_needs){.vectors = VECTORS, .places = BI_PLACES, .dots = 2};
}

/* r0 = r, p = r */
static void begin(trs_iteration *k)
{
    void *r = trs_krylov_vector(k, R), *r0 = trs_krylov_vector(k, R0), *p = trs_krylov_vector(k, P);
    trs_krylov_pass(k, &(trs_pass){.update = {{r0, ZERO, r, ONE}, {p, ZERO, r, ONE}},
                                   .dot = {{r, r, BI_RHO}},
                                   .step = TRS_STEP_BI_BEGIN});
}

static void iterate(trs_iteration *k)
{
    void *r = trs_krylov_vector(k, R), *r0 = trs_krylov_vector(k, R0), *p = trs_krylov_vector(k, P);
    void *v = trs_krylov_vector(k, V), *t = trs_krylov_vector(k, T_);
    void *hat = trs_krylov_precondition(k, p, trs_krylov_vector(k, HAT));
    trs_krylov_multiply(k, hat, v);
    trs_krylov_pass(
        k, &(trs_pass){.dot = {{r0, v, BI_R0V}, {v, v, BI_VV}}, .step = TRS_STEP_BI_ALPHA});
    trs_krylov_pass(k, &(trs_pass){.update = {{r, ONE, v, BI_ALPHA, .minus = true},
                                              {k->x, ONE, hat, BI_ALPHA}}});
    hat = trs_krylov_precondition(k, r, trs_krylov_vector(k, HAT));
    trs_krylov_multiply(k, hat, t);
    trs_krylov_pass(k,
                    &(trs_pass){.dot = {{t, r, BI_TS}, {t, t, BI_TT}}, .step = TRS_STEP_BI_OMEGA});
    trs_krylov_pass(
        k, &(trs_pass){.update = {{k->x, ONE, hat, BI_OMEGA}, {r, ONE, t, BI_OMEGA, .minus = true}},
                       .dot = {{r, r, RR}, {r0, r, BI_NEXT}},
                       .step = TRS_STEP_BI_BETA});
    trs_krylov_pass(k, &(trs_pass){.update = {{p, BI_BETA, v, BI_BETA_OMEGA, .minus = true},
                                              {p, ONE, r, ONE}}});
}

const trs_krylov_kind trs_kind_bicgstab = {needs, false, begin, iterate, NULL};
