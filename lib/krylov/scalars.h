/* scalars.h: the scalars of the methods, and what is done with them between two passes over the vectors.
 *
 * On the host and on a device this is the same text: there, the last block of a pass does it, and no scalar goes to the
 * host.  The files of the methods name the equations. */
#ifndef TRS_KRYLOV_SCALARS_H
#define TRS_KRYLOV_SCALARS_H

#include "trisolve-sparse.h"

#include <math.h>
#include <stdbool.h>

#ifdef __CUDACC__
#define TRS_ANYWHERE static inline __host__ __device__
#else
#define TRS_ANYWHERE static inline
#endif

typedef struct trs_z {
    double re, im;
} trs_z;

/* iterations between two looks of the host at scalars on a device, at most */
enum { TRS_KRYLOV_GROUP = 10 };

/* Why a method cannot go on; `sentence` in column.c says it. */
typedef enum trs_krylov_flaw {
    TRS_FLAW_NONE,
    TRS_FLAW_B,
    TRS_FLAW_RESIDUAL,
    TRS_FLAW_A_INDEFINITE,
    TRS_FLAW_M_INDEFINITE,
    TRS_FLAW_SINGULAR,
    TRS_FLAW_RHO,
    TRS_FLAW_R0V,
    TRS_FLAW_OMEGA,
    TRS_FLAW_STAGNATION,
    TRS_FLAWS
} trs_krylov_flaw;

typedef struct trs_scalars {
    /* the norm of the residual that is small enough */
    double target;
    /* TRS_STOP_NONE as long as the method goes on; otherwise passes do nothing */
    trs_stop stop;
    trs_krylov_flaw flaw;
    /* so far, for this right-hand side */
    int64_t iterations;
    /* in this cycle: columns of H */
    int32_t columns;
    /* of GMRES: the size of a cycle */
    int32_t restart;
    /* and the column in work is orthogonalised a second time */
    int32_t twice;
    /* the relative spacing of the vectors' numbers */
    double eps;
    /* the norms of the residuals of the last iterations: number i is recent[i % TRS_KRYLOV_GROUP] */
    double recent[TRS_KRYLOV_GROUP];
    /* the numbers by which vectors are multiplied, and inner products */
    trs_z s[];
} trs_scalars;

/* The places of s.  ZERO is never multiplied by: 0 y = 0 also if y is not set.  RR is for r'r. */
enum { ZERO, ONE, MINUS_ONE, RR, COMMON };
enum { CG_RZ = COMMON, CG_NEXT, CG_PQ, CG_ALPHA, CG_BETA, CG_PLACES };
enum {
    BI_RHO = COMMON,
    BI_NEXT,
    BI_R0V,
    BI_VV,
    BI_ALPHA,
    BI_BETA,
    BI_BETA_OMEGA,
    BI_TS,
    BI_TT,
    BI_OMEGA,
    /* |r0| */
    BI_NORM,
    BI_PLACES
};
enum {
    MI_GG = COMMON, /* gamma(j+1)^2 = z(j+1)' v(j+1) */
    MI_GAMMA,
    MI_GAMMA_OLD,
    MI_DELTA,
    MI_ETA,
    /* cosines and sines of the last two rotations */
    MI_C,
    MI_C_OLD,
    MI_S,
    MI_S_OLD,
    /* v = q by_q - v by_v - v_old by_old */
    MI_BY_Q,
    MI_BY_V,
    MI_BY_OLD,
    /* w = z w_z - w w_w - w_old w_old, x += w w_x, r = r r_r + v r_v */
    MI_W_Z,
    MI_W_W,
    MI_W_OLD,
    MI_W_X,
    MI_R_R,
    MI_R_V,
    MI_PLACES
};
/* Behind GM_H1 are arrays, with m = restart: h1 and h2, of both times, V'v(j), the sines, the cosines, g or y, each [m+1]; and
 * H [m*(m+1)].  GM_LOSS is the square of |V'V - I|, in the norm of Frobenius. */
enum { GM_WW = COMMON, GM_INVERSE, GM_LOSS, GM_H1 };

typedef enum trs_scalar_step {
    TRS_STEP_NONE,
    TRS_STEP_CG_ALPHA,
    TRS_STEP_CG_BETA,
    TRS_STEP_BI_BEGIN,
    TRS_STEP_BI_ALPHA,
    TRS_STEP_BI_OMEGA,
    TRS_STEP_BI_BETA,
    TRS_STEP_MI_BEGIN,
    TRS_STEP_MI_LANCZOS,
    TRS_STEP_MI_ROTATE,
    TRS_STEP_GM_BEGIN,
    TRS_STEP_GM_COLUMN,
    TRS_STEP_GM_SOLVE,
    /* one more iteration, whose residual has the square RR */
    TRS_STEP_NOTE
} trs_scalar_step;

/* ---- complex numbers --------------------------------------------------------------------------- */

TRS_ANYWHERE trs_z trs_real(double a)
{
    const trs_z z = {a, 0};
    return z;
}

TRS_ANYWHERE trs_z trs_times(trs_z a, trs_z b)
{
    const trs_z z = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return z;
}

TRS_ANYWHERE trs_z trs_conj(trs_z a)
{
    const trs_z z = {a.re, -a.im};
    return z;
}

TRS_ANYWHERE trs_z trs_scaled(double f, trs_z a)
{
    const trs_z z = {f * a.re, f * a.im};
    return z;
}

TRS_ANYWHERE trs_z trs_plus(trs_z a, trs_z b)
{
    const trs_z z = {a.re + b.re, a.im + b.im};
    return z;
}

TRS_ANYWHERE double trs_modulus(trs_z a)
{
    return hypot(a.re, a.im);
}

/* a / b; b is not 0. */
TRS_ANYWHERE trs_z trs_over(trs_z a, trs_z b)
{
    const double size = trs_modulus(b);
    const trs_z unit = {b.re / size, -b.im / size};
    return trs_scaled(1 / size, trs_times(a, unit));
}

/* ---- the end ------------------------------------------------------------------------------------ */

TRS_ANYWHERE void trs_break(trs_scalars *k, trs_stop stop, trs_krylov_flaw flaw)
{
    if (k->stop) return;
    k->stop = stop;
    k->flaw = flaw;
}

/* One more iteration. */
TRS_ANYWHERE void trs_note(trs_scalars *k, double residual)
{
    k->recent[++k->iterations % TRS_KRYLOV_GROUP] = residual;
    if (!isfinite(residual)) trs_break(k, TRS_STOP_DIVERGED, TRS_FLAW_RESIDUAL);
    else if (residual <= k->target) trs_break(k, TRS_STOP_CONVERGED, TRS_FLAW_NONE);
}

/* ---- CG ---------------------------------------------------------------------------------------- */

/* Is it the square of a norm, as that of a definite matrix is? */
TRS_ANYWHERE int trs_is_square(trs_scalars *k, double a, trs_krylov_flaw otherwise)
{
    if (!isfinite(a)) trs_break(k, TRS_STOP_DIVERGED, TRS_FLAW_RESIDUAL);
    else if (a <= 0) trs_break(k, TRS_STOP_BREAKDOWN, otherwise);
    return !k->stop;
}

/* alpha = r'z / p'A p */
TRS_ANYWHERE void trs_cg_alpha(trs_scalars *k)
{
    trs_z *s = k->s;
    if (!trs_is_square(k, s[CG_RZ].re, TRS_FLAW_M_INDEFINITE)) return;
    if (!trs_is_square(k, s[CG_PQ].re, TRS_FLAW_A_INDEFINITE)) return;
    s[CG_ALPHA] = trs_real(s[CG_RZ].re / s[CG_PQ].re);
}

/* beta = r'z / (r'z before) */
TRS_ANYWHERE void trs_cg_beta(trs_scalars *k)
{
    trs_z *s = k->s;
    s[CG_BETA] = trs_real(s[CG_NEXT].re / s[CG_RZ].re);
    s[CG_RZ] = s[CG_NEXT];
}

/* ---- BiCGSTAB ---------------------------------------------------------------------------------- */

/* Is it safe to divide by a?  a counts as 0 if it is tiny compared with scale, the size of its terms. */
TRS_ANYWHERE int trs_bi_divides(trs_scalars *k, trs_z a, double scale, trs_krylov_flaw flaw)
{
    const double tiny = 5e-32 * scale; /* eps^2 */
    const double size = trs_modulus(a);
    if (!isfinite(size) || !isfinite(tiny)) trs_break(k, TRS_STOP_DIVERGED, TRS_FLAW_RESIDUAL);
    else if (size <= tiny) trs_break(k, TRS_STOP_BREAKDOWN, flaw);
    return !k->stop;
}

/* alpha = rho / r0'v */
TRS_ANYWHERE void trs_bi_alpha(trs_scalars *k)
{
    trs_z *s = k->s;
    const double scale = s[BI_NORM].re * sqrt(s[BI_VV].re);
    if (trs_bi_divides(k, s[BI_R0V], scale, TRS_FLAW_R0V))
        s[BI_ALPHA] = trs_over(s[BI_RHO], s[BI_R0V]);
}

/* omega = t's / t't; if t = 0, s is 0 as well, and x is there */
TRS_ANYWHERE void trs_bi_omega(trs_scalars *k)
{
    trs_z *s = k->s;
    s[BI_OMEGA] = trs_real(0);
    if (!(s[BI_TT].re <= 0)) s[BI_OMEGA] = trs_scaled(1 / s[BI_TT].re, s[BI_TS]);
}

/* beta = (rho / rho before) (alpha / omega), after the iteration */
TRS_ANYWHERE void trs_bi_beta(trs_scalars *k)
{
    trs_z *s = k->s;
    const double norm = sqrt(s[RR].re);
    trs_note(k, norm);
    if (k->stop || !trs_bi_divides(k, s[BI_OMEGA], 0, TRS_FLAW_OMEGA)) return;
    if (!trs_bi_divides(k, s[BI_NEXT], s[BI_NORM].re * norm, TRS_FLAW_RHO)) return;
    s[BI_BETA] = trs_times(trs_over(s[BI_NEXT], s[BI_RHO]), trs_over(s[BI_ALPHA], s[BI_OMEGA]));
    s[BI_BETA_OMEGA] = trs_times(s[BI_BETA], s[BI_OMEGA]);
    s[BI_RHO] = s[BI_NEXT];
}

/* ---- MINRES ------------------------------------------------------------------------------------- */

TRS_ANYWHERE void trs_mi_begin(trs_scalars *k)
{
    trs_z *s = k->s;
    if (!trs_is_square(k, s[MI_GG].re, TRS_FLAW_M_INDEFINITE)) return;
    s[MI_ETA] = s[MI_GAMMA] = trs_real(sqrt(s[MI_GG].re));
    s[MI_GAMMA_OLD] = s[MI_C] = s[MI_C_OLD] = trs_real(1);
    s[MI_S] = s[MI_S_OLD] = trs_real(0);
}

/* The recurrence of v; delta came as z'A z with z that has the length gamma. */
TRS_ANYWHERE void trs_mi_lanczos(trs_scalars *k)
{
    trs_z *s = k->s;
    const double gamma = s[MI_GAMMA].re;
    s[MI_DELTA] = trs_real(s[MI_DELTA].re / (gamma * gamma));
    s[MI_BY_Q] = trs_real(1 / gamma);
    s[MI_BY_V] = trs_real(s[MI_DELTA].re / gamma);
    s[MI_BY_OLD] = trs_real(-gamma / s[MI_GAMMA_OLD].re);
}

/* The next rotation, and what w, x and r are updated by. */
TRS_ANYWHERE void trs_mi_rotate(trs_scalars *k)
{
    trs_z *s = k->s;
    const double gamma = s[MI_GAMMA].re, delta = s[MI_DELTA].re, square = s[MI_GG].re;
    if (square != 0 && !trs_is_square(k, square, TRS_FLAW_M_INDEFINITE)) return;
    const double next = sqrt(square);
    const double a0 = s[MI_C].re * delta - s[MI_C_OLD].re * s[MI_S].re * gamma;
    const double a1 = hypot(a0, next);
    const double a2 = s[MI_S].re * delta + s[MI_C_OLD].re * s[MI_C].re * gamma;
    const double a3 = s[MI_S_OLD].re * gamma;
    if (a1 <= 1e-30 * (fabs(a2) + fabs(a3))) {
        trs_break(k, TRS_STOP_BREAKDOWN, TRS_FLAW_SINGULAR);
        return;
    }
    const double c = a0 / a1, sine = next / a1, eta = -sine * s[MI_ETA].re;
    s[MI_W_Z] = trs_real(1 / (gamma * a1));
    s[MI_W_W] = trs_real(a2 / a1);
    s[MI_W_OLD] = trs_real(-a3 / a1);
    s[MI_W_X] = trs_real(c * s[MI_ETA].re);
    s[MI_R_R] = trs_real(sine * sine);
    s[MI_R_V] = trs_real(next > 0 ? c * eta / next : 0);
    s[MI_ETA] = trs_real(eta);
    s[MI_C_OLD] = s[MI_C], s[MI_S_OLD] = s[MI_S], s[MI_GAMMA_OLD] = s[MI_GAMMA];
    s[MI_C] = trs_real(c), s[MI_S] = trs_real(sine), s[MI_GAMMA] = trs_real(next);
}

/* ---- GMRES -------------------------------------------------------------------------------------- */

TRS_ANYWHERE trs_z *trs_gm_array(trs_scalars *k, int which)
{
    return k->s + GM_H1 + which * (k->restart + 1);
}

TRS_ANYWHERE trs_z *trs_gm_h(trs_scalars *k, int column)
{
    return trs_gm_array(k, 6) + (int64_t)column * (k->restart + 1);
}

/* g = |r| e1, and v0 = r / |r| */
TRS_ANYWHERE void trs_gm_begin(trs_scalars *k)
{
    const double norm = sqrt(k->s[RR].re);
    k->s[GM_INVERSE] = trs_real(1 / norm);
    k->s[GM_LOSS] = trs_real(0);
    k->twice = 0;
    trs_gm_array(k, 5)[0] = trs_real(norm);
}

/* Rotate column j of H, whose last element is real: H becomes triangular.  Saad, section 6.5.3, with complex numbers as in
 * section 6.5.9. */
TRS_ANYWHERE void trs_gm_rotate(trs_scalars *k, int j, trs_z *h)
{
    trs_z *sine = trs_gm_array(k, 3), *cosine = trs_gm_array(k, 4), *g = trs_gm_array(k, 5);
    for (int i = 0; i < j; i++) {
        const trs_z a = h[i], b = h[i + 1];
        h[i] = trs_plus(trs_scaled(cosine[i].re, a), trs_times(sine[i], b));
        h[i + 1] =
            trs_plus(trs_scaled(-1, trs_times(trs_conj(sine[i]), a)), trs_scaled(cosine[i].re, b));
    }
    const double a = trs_modulus(h[j]), b = h[j + 1].re, r = hypot(a, b);
    const trs_z phase = a > 0 ? trs_scaled(1 / a, h[j]) : trs_real(1);
    cosine[j] = trs_real(r > 0 ? a / r : 1);
    sine[j] = trs_scaled(r > 0 ? b / r : 0, phase);
    h[j] = trs_scaled(r, phase);
    g[j + 1] = trs_scaled(-1, trs_times(trs_conj(sine[j]), g[j]));
    g[j] = trs_scaled(cosine[j].re, g[j]);
}

TRS_ANYWHERE double trs_gm_square(const trs_z *a, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += a[i].re * a[i].re + a[i].im * a[i].im;
    return sum;
}

/* Column j of H.  A column that depends on the others is not kept if it is no solution. */
TRS_ANYWHERE void trs_gm_column(trs_scalars *k, bool twice)
{
    const int j = k->columns;
    const trs_z *h1 = trs_gm_array(k, 0), *h2 = trs_gm_array(k, 1);
    trs_z *h = trs_gm_h(k, j);
    for (int i = 0; i <= j; i++) h[i] = twice ? trs_plus(h1[i], h2[i]) : h1[i];
    const double size = k->s[GM_WW].re + trs_gm_square(h, j + 1);
    double rest = sqrt(k->s[GM_WW].re);
    const double tiny = 4e-16 * sqrt(size);
    if (!isfinite(size)) trs_break(k, TRS_STOP_DIVERGED, TRS_FLAW_RESIDUAL);
    if (rest <= tiny) rest = 0;
    k->s[GM_INVERSE] = trs_real(rest > 0 ? 1 / rest : 0);
    h[j + 1] = trs_real(rest);
    trs_gm_rotate(k, j, h);
    if (trs_modulus(h[j]) <= tiny) trs_break(k, TRS_STOP_BREAKDOWN, TRS_FLAW_SINGULAR);
    trs_note(k, trs_modulus(trs_gm_array(k, 5)[j + 1]));
    if (k->stop != TRS_STOP_BREAKDOWN && k->stop != TRS_STOP_DIVERGED) k->columns++;
}

/* w is A z - V h1, and |w| the root of `rest`.  What |V'V - I| and rounding leave of V in w is a part of |A z|.  If that is too
 * large a part of w, column j waits until w is A z - V (h1 + h2). */
TRS_ANYWHERE void trs_gm_orthogonal(trs_scalars *k)
{
    if (k->twice) {
        k->twice = 0;
        trs_gm_column(k, true);
        return;
    }
    const int j = k->columns;
    const trs_z *v = trs_gm_array(k, 2);
    const double rest = k->s[GM_WW].re, size = rest + trs_gm_square(trs_gm_array(k, 0), j + 1);
    const double length = v[j].re - 1;
    k->s[GM_LOSS].re += 2 * trs_gm_square(v, j) + length * length;
    const double loss = k->s[GM_LOSS].re + k->eps * k->eps;
    k->twice = loss * size > k->eps * rest;
    if (!k->twice) trs_gm_column(k, false);
}

/* y = H^-1 g, in the place of g */
TRS_ANYWHERE void trs_gm_solve(trs_scalars *k)
{
    trs_z *g = trs_gm_array(k, 5);
    for (int i = k->columns - 1; i >= 0; i--) {
        for (int j = i + 1; j < k->columns; j++)
            g[i] = trs_plus(g[i], trs_scaled(-1, trs_times(trs_gm_h(k, j)[i], g[j])));
        g[i] = trs_over(g[i], trs_gm_h(k, i)[i]);
    }
}

/* ---- all of them --------------------------------------------------------------------------------- */

TRS_ANYWHERE void trs_scalar_do(trs_scalars *k, trs_scalar_step step)
{
    switch (step) {
    case TRS_STEP_CG_ALPHA:
        trs_cg_alpha(k);
        return;
    case TRS_STEP_CG_BETA:
        trs_cg_beta(k);
        return;
    case TRS_STEP_BI_BEGIN:
        k->s[BI_NORM] = trs_real(sqrt(k->s[BI_RHO].re));
        return;
    case TRS_STEP_BI_ALPHA:
        trs_bi_alpha(k);
        return;
    case TRS_STEP_BI_OMEGA:
        trs_bi_omega(k);
        return;
    case TRS_STEP_BI_BETA:
        trs_bi_beta(k);
        return;
    case TRS_STEP_MI_BEGIN:
        trs_mi_begin(k);
        return;
    case TRS_STEP_MI_LANCZOS:
        trs_mi_lanczos(k);
        return;
    case TRS_STEP_MI_ROTATE:
        trs_mi_rotate(k);
        return;
    case TRS_STEP_GM_BEGIN:
        trs_gm_begin(k);
        return;
    case TRS_STEP_GM_COLUMN:
        trs_gm_orthogonal(k);
        return;
    case TRS_STEP_GM_SOLVE:
        trs_gm_solve(k);
        return;
    case TRS_STEP_NOTE:
        trs_note(k, sqrt(k->s[RR].re));
        return;
    case TRS_STEP_NONE:
        return;
    }
}

#endif
