/* krylov.c: what the Krylov methods have in common. */
#include "config.h"

#include "run.h"

#include "bin/common/message.h"
#include "bin/common/timing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    void (*run)(run *);
} methods[] = {{"cg", run_cg}, {"gmres", run_gmres}, {"bicgstab", run_bicgstab}};

enum { METHODS = sizeof methods / sizeof methods[0] };

/* ---- steps ----------------------------------------------------------------------------------- */

void *run_vector(run *k)
{
    return k->vector[k->count++] = vector_new(k->v);
}

/* Keeps the first error. */
static void keep(run *k, int rc)
{
    if (!rc || k->v->status) return;
    complain("%s", trs_message());
    k->v->status = rc;
}

void multiply(run *k, const void *x, void *y)
{
    if (k->v->status) return;
    const double start = now();
    k->r->products++;
    keep(k, k->s->multiply(k->s->user, x, y));
    k->r->product_seconds += now() - start;
}

void precondition(run *k, const void *x, void *y)
{
    if (k->v->status) return;
    const double start = now();
    k->r->applications++;
    keep(k, k->s->precondition(k->s->user, x, y));
    k->r->application_seconds += now() - start;
}

double true_residual(run *k, void *r)
{
    multiply(k, k->x, r);
    vector_scale(k->v, -1, r);
    vector_add(k->v, 1, k->b, r);
    k->r->residual = vector_norm(k->v, r) / k->norm_b;
    k->r->converged = k->r->residual <= k->o->rtol;
    if (!isfinite(k->r->residual)) break_down(k, "the residual is not finite");
    return k->r->residual;
}

bool note(run *k, double relative)
{
    k->r->history[++k->r->iterations] = relative;
    if (!isfinite(relative)) break_down(k, "the residual is not finite");
    return relative <= k->o->rtol || is_over(k);
}

bool is_over(const run *k)
{
    return k->v->status || k->r->converged || *k->r->breakdown || k->r->iterations >= k->o->maxit;
}

void break_down(run *k, const char *format, ...)
{
    va_list list;
    if (*k->r->breakdown) return;
    va_start(list, format);
    vsnprintf(k->r->breakdown, sizeof k->r->breakdown, format, list);
    va_end(list);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Runs the method again from where it is while the true residual has not followed the one that is carried along, but not
 * if that no longer helps. */
static void run_until_true(run *k, void (*method)(run *))
{
    void *r = run_vector(k);
    double before = INFINITY;
    while (!is_over(k)) {
        method(k);
        if (k->v->status) return;
        const double after = true_residual(k, r);
        if (!is_over(k) && !(after < 0.5 * before))
            break_down(k, "the true residual stagnated at %.2g |b|", after);
        before = after;
    }
}

int krylov_solve(const krylov_options *o, const krylov_system *s, vectors *v, const void *b,
                 void *x, krylov_result *r)
{
    run k = {.o = o, .s = s, .v = v, .b = b, .x = x, .r = r};
    const double start = now();
    int m = 0;
    *r = (krylov_result){.history = calloc((size_t)o->maxit + 2, sizeof *r->history)};
    if (!r->history) return complain("out of memory for the history"), TRS_EMEM;
    while (strcmp(o->method, methods[m].name)) m++;
    k.norm_b = vector_norm(v, b);
    r->converged = k.norm_b == 0; /* x = 0 */
    if (!isfinite(k.norm_b)) break_down(&k, "b is not finite");
    vector_copy(v, b, x);
    vector_scale(v, 0, x);
    r->history[0] = r->residual = r->converged ? 0 : 1;
    run_until_true(&k, methods[m].run);
    r->seconds = now() - start;
    for (int i = 0; i < k.count; i++) vector_free(v, k.vector[i]);
    return v->status;
}
