/* iterate.c: X by a Krylov method, and what an iteration takes. */
#include "config.h"

#include "iterate.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"
#include "bin/common/output/progress.h"

#include <math.h>
#include <stdlib.h>

enum { TIMED = 10 }; /* products, and applications of the preconditioner, whose time is taken */

typedef struct system {
    const place *at;
    trs_op op;
    int threads;
    trs_lu *lu;
} system_of;

static int product(void *user, const void *x, void *y)
{
    const system_of *s = user;
    const int64_t n = s->at->A.n;
    const trs_exec exec = {.threads = s->threads};
    if (is_interrupted()) return TRS_ECANCELED;
    return trs_multiply_on(&s->at->A, s->op, 1, x, n, y, n, &exec);
}

static int apply(void *user, const void *x, void *y)
{
    const system_of *s = user;
    const int64_t n = s->at->A.n;
    return trs_lu_solve(s->lu, s->op, 1, x, n, y, n, NULL);
}

/* Is column b worse than a: not converged, or later? */
static bool is_worse(const krylov_result *b, const krylov_result *a)
{
    return b->converged == a->converged ? b->iterations > a->iterations : !b->converged;
}

int iterate(const arguments *a, const place *at, int nrhs, trs_lu *lu, vectors *v, report *r)
{
    const krylov_options o = {
        .method = a->krylov, .rtol = a->rtol, .maxit = a->maxit, .restart = a->restart};
    system_of s = {.at = at, .op = a->op, .threads = a->threads, .lu = lu};
    const krylov_system system = {&s, product, apply};
    const size_t column = (size_t)at->A.n * size_of_number(at->A.dtype);
    int rc = TRS_OK;
    for (int c = 0; c < nrhs && !rc; c++) {
        krylov_result one;
        const char *b = (const char *)at->B + (size_t)c * column;
        rc = krylov_solve(&o, &system, v, b, (char *)at->X + (size_t)c * column, &one);
        const bool keep = c == 0 || is_worse(&one, &r->krylov);
        free(keep ? r->krylov.history : one.history);
        if (keep) r->krylov = one;
    }
    return rc;
}

/* ---- the time of an iteration ------------------------------------------------------------------ */

/* Seconds that one call takes, when it is repeated. */
static double time_of(int (*call)(void *, const void *, void *), system_of *s, vectors *v, void *x,
                      void *y)
{
    vector_norm(v, x); /* which waits */
    const double start = now();
    for (int k = 0; k < TIMED && !v->status; k++) v->status = call(s, x, y);
    vector_norm(v, y);
    return (now() - start) / TIMED;
}

/* On the host the calls of the loop itself were timed.  On a device they only enqueue work: there product and
 * preconditioner are timed by themselves.  The rest of an iteration is for the vectors, and for what waits. */
int split_iteration(const arguments *a, const place *at, trs_lu *lu, vectors *v, report *r)
{
    system_of s = {.at = at, .op = a->op, .lu = lu};
    krylov_split *t = &r->split;
    const krylov_result *k = &r->krylov;
    if (!k->iterations) return TRS_OK;
    t->iteration = k->seconds / k->iterations;
    t->product = k->product_seconds / k->iterations;
    t->preconditioner = k->application_seconds / k->iterations;
    if (at->device > 0) {
        void *y = vector_new(v);
        t->product = time_of(product, &s, v, at->X, y) * k->products / k->iterations;
        t->preconditioner = time_of(apply, &s, v, at->X, y) * k->applications / k->iterations;
        vector_free(v, y);
    }
    t->vectors = fmax(0, t->iteration - t->product - t->preconditioner);
    return v->status;
}
