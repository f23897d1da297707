/* gmres.c: GMRES with restarts and the preconditioner from the right, and flexible GMRES, which keeps Z = M^-1 V:
 *
 *     A Z = V(m+1) H,   Z = M^-1 V,   H (m+1) x m, upper Hessenberg
 *     y minimises | |r| e1 - H y |, by plane rotations;   x += Z y
 *
 * Vectors are orthogonalised by classical Gram-Schmidt, which reads V twice, where the modified process takes a pass for each
 * vector.  It loses orthogonality, which is measured: the pass that computes V' w also computes V' v(j), for the same reading of V.
 * While | V' V - I | and cancellation stay so small that V is orthogonal to half of the digits, which is all that y needs,
 * once is enough; otherwise w is orthogonalised a second time.  A Z = V(m+1) H holds to working precision anyway.
 * Sources: Saad, algorithms 6.9, 9.5 and 9.6; Giraud, Langou, Rozloznik, van den Eshof, Rounding error analysis of the
 * classical Gram-Schmidt orthogonalization process, Numer. Math. 101 (2005) 87-100. */
#include "config.h"

#include "iteration.h"

/* Vectors 0 .. m are V; then comes z, or Z. */

static trs_krylov_needs needs(int m)
{
    const int64_t places = GM_H1 + (6 + (int64_t)m) * (m + 1);
    return (trs_krylov_needs){.vectors = m + 2, .places = places, .dots = 2 * m};
}

static trs_krylov_needs needs_flexible(int m)
{
    trs_krylov_needs n = needs(m);
    n.vectors = 2 * m + 1;
    return n;
}

/* v0 = r / |r| */
static void begin(trs_iteration *k)
{
    void *v0 = trs_krylov_vector(k, 0);
    trs_krylov_pass(k, &(trs_pass){.dot = {{v0, v0, RR}}, .step = TRS_STEP_GM_BEGIN});
    trs_krylov_pass(k, &(trs_pass){.update = {{v0, GM_INVERSE}}});
}

/* v(j+1), and column j of H; z is for M^-1 v(j). */
static void extend(trs_iteration *k, void *z)
{
    const int j = k->step++, m = k->of->known->restart;
    const int h1 = GM_H1, h2 = h1 + m + 1, vv = h2 + m + 1;
    const void *V = trs_krylov_vector(k, 0);
    void *v = trs_krylov_vector(k, j), *w = trs_krylov_vector(k, j + 1);
    z = trs_krylov_precondition(k, v, z);
    trs_krylov_multiply(k, z, w);
    trs_krylov_pass(k, &(trs_pass){.dot = {{V, w, h1, j + 1}, {V, v, vv, j + 1}}});
    trs_krylov_pass(k, &(trs_pass){.update = {{w, ONE, V, h1, true, j + 1}},
                                   .dot = {{w, w, GM_WW}},
                                   .step = TRS_STEP_GM_COLUMN});
    trs_krylov_pass(k, &(trs_pass){.dot = {{V, w, h2, j + 1}}, .twice = true});
    trs_krylov_pass(k, &(trs_pass){.update = {{w, ONE, V, h2, true, j + 1}},
                                   .dot = {{w, w, GM_WW}},
                                   .step = TRS_STEP_GM_COLUMN,
                                   .twice = true});
    trs_krylov_pass(k, &(trs_pass){.update = {{w, GM_INVERSE}}});
}

static void iterate(trs_iteration *k)
{
    extend(k, trs_krylov_vector(k, k->of->known->restart + 1));
}

static void iterate_flexible(trs_iteration *k)
{
    extend(k, trs_krylov_vector(k, k->of->known->restart + 1 + k->step));
}

/* x += M^-1 (V y), with v(m) for V y */
static void end(trs_iteration *k)
{
    const trs_scalars *s = k->of->known;
    const int m = s->restart, y = GM_H1 + 5 * (m + 1);
    void *w = trs_krylov_vector(k, m);
    if (!s->columns) return;
    trs_krylov_pass(k, &(trs_pass){.step = TRS_STEP_GM_SOLVE});
    trs_krylov_pass(
        k, &(trs_pass){.update = {{w, ZERO, trs_krylov_vector(k, 0), y, .count = s->columns}}});
    w = trs_krylov_precondition(k, w, trs_krylov_vector(k, m + 1));
    trs_krylov_pass(k, &(trs_pass){.update = {{k->x, ONE, w, ONE}}});
}

/* x += Z y; without M, Z is V */
static void end_flexible(trs_iteration *k)
{
    const trs_scalars *s = k->of->known;
    const int m = s->restart, y = GM_H1 + 5 * (m + 1);
    const void *Z = trs_krylov_vector(k, k->M.of ? m + 1 : 0);
    if (!s->columns) return;
    trs_krylov_pass(k, &(trs_pass){.step = TRS_STEP_GM_SOLVE});
    trs_krylov_pass(k, &(trs_pass){.update = {{k->x, ONE, Z, y, .count = s->columns}}});
}

const trs_krylov_kind trs_kind_gmres = {needs, true, begin, iterate, end};
const trs_krylov_kind trs_kind_fgmres = {needs_flexible, true, begin, iterate_flexible,
                                         end_flexible};
