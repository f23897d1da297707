/* cg.c: preconditioned conjugate gradients. */
#include "config.h"

#include "run.h"

/* alpha = numerator / denominator, which both are positive if A and M are definite. */
static double positive_quotient(run *k, double numerator, double denominator, const char *matrix)
{
    if (numerator > 0 && denominator > 0) return numerator / denominator;
    if (!k->v->status)
        break_down(k, "%s is not positive definite (iteration %d)",
                   numerator > 0 ? matrix : "the preconditioner", k->r->iterations + 1);
    return 0;
}

void run_cg(run *k)
{
    vectors *v = k->v;
    while (k->count < 5) run_vector(k);
    void *r = k->vector[1], *z = k->vector[2], *p = k->vector[3], *q = k->vector[4];
    double rz = 0;
    (void)true_residual(k, r);
    for (bool again = false; !is_over(k); again = true) {
        precondition(k, r, z);
        const double next = creal(vector_dot(v, r, z));
        if (again) vector_scale(v, positive_quotient(k, next, rz, "A"), p);
        if (again) vector_add(v, 1, z, p);
        else vector_copy(v, z, p);
        rz = next;
        multiply(k, p, q);
        const double alpha = positive_quotient(k, rz, creal(vector_dot(v, p, q)), "A");
        if (is_over(k)) break;
        vector_add(v, alpha, p, k->x);
        vector_add(v, -alpha, q, r);
        if (note(k, vector_norm(v, r) / k->norm_b)) break;
    }
}
