/* report.c: how a Krylov method and a time loop went, as text. */
#include "config.h"

#include "bin/sparse/report.h"
#include "bin/sparse/steps/iterate.h"

#include "base/noun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8 }; /* residuals in the line of convergence, at most */

double relative_residual(const trs_krylov_info *k, double norm)
{
    return k->norm_b > 0 ? norm / k->norm_b : norm;
}

void explain_divergence(report *r)
{
    const trs_krylov_info *k = &r->krylov;
    if (k->stop == TRS_STOP_CONVERGED) return;
    snprintf(r->failure, sizeof r->failure,
             "%s did not converge: relative residual %.2g after %" PRId64 " %s%s%s",
             r->args->krylov, relative_residual(k, k->residual), k->iterations,
             trs_noun(k->iterations, "iteration", "iterations"), *k->why ? "; " : "", k->why);
}

/* Of the n + 1 residuals, number m of those that are shown. */
static int64_t shown(int64_t n, int m, int count)
{
    return (int64_t)((double)n * m / (count - 1) + 0.5);
}

void print_krylov(FILE *out, const report *r)
{
    const trs_krylov_info *k = &r->krylov;
    const krylov_split *t = &r->split;
    const bool converged = k->stop == TRS_STOP_CONVERGED;
    if (!r->history) return;
    fprintf(out, "krylov     %s, %" PRId64 " %s, |b - A x| / |b| = %.3g (%s %.1g)\n",
            r->args->krylov, k->iterations, trs_noun(k->iterations, "iteration", "iterations"),
            relative_residual(k, k->residual), converged ? "converged to" : "NOT converged to",
            r->args->rtol);
    const int count = k->iterations + 1 < LINE ? (int)k->iterations + 1 : LINE;
    for (int m = 0; count > 1 && m < count; m++) {
        const int64_t i = shown(k->iterations, m, count);
        fprintf(out, "%s%" PRId64 ": %.1e", m ? "  " : "           ", i,
                relative_residual(k, r->history[i]));
    }
    if (count > 1) fprintf(out, "\n");
    if (k->iterations)
        fprintf(out, "iteration  %.3g us: product %.3g, preconditioner %.3g, vectors %.3g\n",
                1e6 * t->iteration, 1e6 * t->product, 1e6 * t->preconditioner, 1e6 * t->vectors);
}

/* min, median and max of an array, which stays as it is. */
static spread spread_of_copy(const double *s, int count)
{
    spread t = {0};
    double *copy = malloc((size_t)count * sizeof *copy);
    if (copy) {
        memcpy(copy, s, (size_t)count * sizeof *copy);
        t = spread_of(copy, count);
    }
    free(copy);
    return t;
}

static void print_iterations(FILE *out, const step_times *s)
{
    int least = s->iterations[0], most = least;
    for (int k = 1; k < s->count; k++) {
        if (s->iterations[k] < least) least = s->iterations[k];
        if (s->iterations[k] > most) most = s->iterations[k];
    }
    fprintf(out, ", iterations %d to %d", least, most);
}

void print_steps(FILE *out, const report *r)
{
    const step_times *s = &r->steps;
    if (!s->count) return;
    const spread u = spread_of_copy(s->update_seconds, s->count);
    const spread x = spread_of_copy(s->solve_seconds, s->count);
    for (int k = 0; k < s->count; k++) {
        fprintf(out, "step %-5d update %.4g ms, solve %.4g ms", k + 1, 1e3 * s->update_seconds[k],
                1e3 * s->solve_seconds[k]);
        if (r->history) fprintf(out, ", %d iterations", s->iterations[k]);
        fprintf(out, "\n");
    }
    fprintf(out,
            "steps      %d, values times %s, e = %g: median update %.4g ms, median solve %.4g ms",
            s->count, scales_steps(r->args) ? "(1 + e u_i) (1 + e u_j)" : "1 + e u",
            r->args->perturb, 1e3 * u.median, 1e3 * x.median);
    if (r->history) print_iterations(out, s);
    fprintf(out, "\n");
}

void report_free(report *r)
{
    free(r->history);
    free(r->steps.update_seconds);
    free(r->steps.solve_seconds);
    free(r->steps.iterations);
}
