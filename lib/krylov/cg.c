/* cg.c: preconditioned conjugate gradients.  Source: Saad, algorithm 9.1. */
#include "config.h"

#include "iteration.h"

enum { R, Z, P, Q, VECTORS };

static trs_krylov_needs needs(int m)
{
    (void)m;
    return (trs_krylov_needs){.vectors = VECTORS, .places = CG_PLACES, .dots = 1};
}

/* z = M^-1 r, p = z */
static void begin(trs_iteration *k)
{
    void *r = trs_krylov_vector(k, R), *p = trs_krylov_vector(k, P);
    void *z = trs_krylov_precondition(k, r, trs_krylov_vector(k, Z));
    trs_krylov_pass(k, &(trs_pass){.update = {{p, ZERO, z, ONE}}, .dot = {{r, z, CG_RZ}}});
}

static void iterate(trs_iteration *k)
{
    void *r = trs_krylov_vector(k, R), *p = trs_krylov_vector(k, P), *q = trs_krylov_vector(k, Q);
    trs_krylov_multiply(k, p, q); /* q = A p, alpha = r'z / p'q */
    trs_krylov_pass(k, &(trs_pass){.dot = {{p, q, CG_PQ}}, .step = TRS_STEP_CG_ALPHA});
    trs_krylov_pass(k, &(trs_pass){.update = {{k->x, ONE, p, CG_ALPHA}, /* x += alpha p */
                                              {r, ONE, q, CG_ALPHA, .minus = true}},
                                   .dot = {{r, r, RR}},
                                   .step = TRS_STEP_NOTE});
    void *z = trs_krylov_precondition(k, r, trs_krylov_vector(k, Z)); /* z = M^-1 r */
    trs_krylov_pass(k, &(trs_pass){.dot = {{r, z, CG_NEXT}}, .step = TRS_STEP_CG_BETA});
    trs_krylov_pass(k, &(trs_pass){.update = {{p, CG_BETA, z, ONE}}}); /* p = z + beta p */
}

const trs_krylov_kind trs_kind_cg = {needs, false, begin, iterate, NULL};
