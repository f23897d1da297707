/* iterate.c: X by a Krylov method. */
#include "config.h"

#include "iterate.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <stdlib.h>

enum { TIMED = 10 }; /* products, and applications of the preconditioner, whose time is taken */

typedef struct system {
    const place *at;
    trs_op op;
    trs_lu *lu;
} system_of;

static int product(void *user, const void *x, void *y)
{
    const system_of *s = user;
    const int64_t n = s->at->A.n;
    if (s->at->device > 0) return trs_multiply(&s->at->A, s->op, 1, x, n, y, n, TRS_COL_MAJOR);
    host_product(&s->at->A, s->op, x, y);
    return TRS_OK;
}

static int apply(void *user, const void *x, void *y)
{
    const system_of *s = user;
    const int64_t n = s->at->A.n;
    return trs_lu_solve(s->lu, s->op, 1, x, n, y, n, NULL);
}

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

/* How the time of an iteration splits: product and preconditioner are timed by themselves, the rest is for the vectors. */
static void split_time(system_of *s, vectors *v, void *x, report *r)
{
    krylov_split *t = &r->split;
    const krylov_result *k = &r->krylov;
    if (!k->iterations) return;
    void *y = vector_new(v);
    t->iteration = k->seconds / k->iterations;
    t->product = time_of(product, s, v, x, y) * k->products / k->iterations;
    t->preconditioner = time_of(apply, s, v, x, y) * k->applications / k->iterations;
    t->vectors = t->iteration - t->product - t->preconditioner;
    if (t->vectors < 0) t->vectors = 0;
    vector_free(v, y);
}

/* Is column b worse than a: not converged, or later? */
static bool is_worse(const krylov_result *b, const krylov_result *a)
{
    return b->converged == a->converged ? b->iterations > a->iterations : !b->converged;
}

int iterate(const arguments *a, const place *at, int nrhs, trs_lu *lu, report *r)
{
    const krylov_options o = {
        .method = a->krylov, .rtol = a->rtol, .maxit = a->maxit, .restart = a->restart};
    system_of s = {.at = at, .op = a->op, .lu = lu};
    const krylov_system system = {&s, product, apply};
    vectors v;
    const size_t column = (size_t)at->A.n * size_of_number(at->A.dtype);
    int rc = vectors_open(&v, at->A.dtype, at->A.n, at->device);
    for (int c = 0; c < nrhs && !rc; c++) {
        krylov_result now;
        const char *b = (const char *)at->B + (size_t)c * column;
        rc = krylov_solve(&o, &system, &v, b, (char *)at->X + (size_t)c * column, &now);
        const bool keep = c == 0 || is_worse(&now, &r->krylov);
        free(keep ? r->krylov.history : now.history);
        if (keep) r->krylov = now;
    }
    if (!rc && nrhs > 0) split_time(&s, &v, at->X, r);
    if (!rc) rc = v.status;
    vectors_close(&v);
    return rc;
}
