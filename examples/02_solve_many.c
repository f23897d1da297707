/* 02_solve_many.c: the same pattern, new values at every step.
 *
 * Implicit Euler for the decay chain  u(i)' = c u(i-1) - c u(i):  at every step one solves
 *     (1 + dt c) u(i) - dt c u(i-1) = u_old(i),
 * a lower triangle whose values change with dt and whose pattern does not.  The plan is analysed once;
 * trs_plan_update is O(nnz).  A second right-hand side, the derivative with respect to the start, is
 * solved for at the same time. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdio.h>

enum { N = 1000, STEPS = 100, NRHS = 2 };

static double val[2 * N], u[NRHS * N];

static void set_values(double dt, const int64_t *ptr)
{
    const double c = 3;
    for (int i = 0; i < N; i++) {
        if (i) val[ptr[i]] = -dt * c;
        val[ptr[i + 1] - 1] = 1 + dt * c;
    }
}

int main(void)
{
    int64_t ptr[N + 1] = {0};
    int32_t idx[2 * N];
    for (int i = 0; i < N; i++) {
        ptr[i + 1] = ptr[i];
        if (i) idx[ptr[i + 1]++] = i - 1;
        idx[ptr[i + 1]++] = i;
    }
    set_values(1, ptr);
    trs_mat T = {.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    const trs_options options = {.nrhs = NRHS}; /* usual number, so that work space is there */

    trs_plan *plan;
    int rc = trs_plan_create(&plan, &T, &options);
    if (!rc) rc = trs_plan_analyse(plan);

    u[0] = 5, u[N] = 1; /* all is in the first link; du/du0 */
    double first = u[0];
    for (int k = 0; k < STEPS && !rc; k++) {
        const double dt = 0.001 * (1 + k % 3); /* the step is adapted */
        set_values(dt, ptr);
        rc = trs_plan_update(plan, &T, NULL);                         /* no analysis */
        if (!rc) rc = trs_solve(plan, TRS_N, NRHS, u, N, u, N, NULL); /* in place */
        first /= 1 + 3 * dt;
    }
    if (rc) fprintf(stderr, "%s\n", trs_message());
    trs_plan_destroy(plan);

    double sum = 0;
    for (int i = 0; i < N; i++) sum += u[i];
    printf("u(0) = %.12g, expected %.12g; sum %.12g, expected 5; du(0) = %.12g\n", u[0], first, sum,
           u[N]);
    return rc || fabs(u[0] - first) > 1e-12 || fabs(sum - 5) > 1e-12 ||
           fabs(5 * u[N] - u[0]) > 1e-12;
}
