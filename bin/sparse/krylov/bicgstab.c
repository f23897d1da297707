/* bicgstab.c: stabilised bi-conjugate gradients, with the preconditioner from the right. */
#include "config.h"

#include "run.h"

#include <float.h>

/* a / b, where b = 0 to rounding is a breakdown. */
static double complex quotient(run *k, double complex a, double complex b, double scale,
                               const char *what)
{
    if (cabs(b) > DBL_EPSILON * DBL_EPSILON * scale) return a / b;
    if (!k->v->status)
        break_down(k, "BiCGSTAB broke down: %s = 0 in iteration %d", what, k->r->iterations + 1);
    return 0;
}

enum { R = 1, R0, P, V, S_HAT, P_HAT, T_ };

void run_bicgstab(run *k)
{
    vectors *v = k->v;
    while (k->count <= T_) run_vector(k);
    void **w = k->vector;
    double complex rho = 1, alpha = 1, omega = 1;
    (void)true_residual(k, w[R]);
    vector_copy(v, w[R], w[R0]);
    const double norm0 = vector_norm(v, w[R0]);
    for (bool again = false; !is_over(k); again = true) {
        const double complex before = rho;
        rho = vector_dot(v, w[R0], w[R]);
        if (again) { /* p = r + beta (p - omega v) */
            const double complex beta = quotient(k, rho, before, norm0 * norm0, "rho") *
                                        quotient(k, alpha, omega, 0, "omega");
            vector_add(v, -omega, w[V], w[P]);
            vector_scale(v, beta, w[P]);
            vector_add(v, 1, w[R], w[P]);
        } else vector_copy(v, w[R], w[P]);
        precondition(k, w[P], w[P_HAT]);
        multiply(k, w[P_HAT], w[V]);
        const double complex r0v = vector_dot(v, w[R0], w[V]);
        alpha = quotient(k, rho, r0v, norm0 * vector_norm(v, w[V]), "r0' v");
        if (is_over(k)) break;
        vector_add(v, -alpha, w[V], w[R]); /* s, in the place of r */
        vector_add(v, alpha, w[P_HAT], k->x);
        precondition(k, w[R], w[S_HAT]);
        multiply(k, w[S_HAT], w[T_]);
        const double complex ts = vector_dot(v, w[T_], w[R]);
        const double tt = creal(vector_dot(v, w[T_], w[T_]));
        omega = tt > 0 ? ts / tt : 0; /* t = 0: s is 0 as well, and x is there */
        vector_add(v, omega, w[S_HAT], k->x);
        vector_add(v, -omega, w[T_], w[R]);
        if (note(k, vector_norm(v, w[R]) / k->norm_b)) break;
    }
}
