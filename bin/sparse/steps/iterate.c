/* iterate.c: X by a Krylov method, and what an iteration takes. */
#include "config.h"

#include "iterate.h"

#include "bin/common/message.h"
#include "bin/common/output/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMED = 10 }; /* products, and applications of the preconditioner, whose time is taken */

int iterate_open(const arguments *a, const place *at, trs_krylov **krylov)
{
    trs_krylov_options o = {.dtype = at->A.dtype,
                            .n = at->A.n,
                            .device = at->device,
                            .restart = a->restart,
                            .threads = a->threads};
    while (strcmp(a->krylov, krylov_methods[o.method])) o.method++;
    return trs_krylov_create(krylov, &o);
}

static int stop_if_interrupted(void *user, int column, int64_t iteration, double residual)
{
    (void)user, (void)column, (void)iteration, (void)residual;
    return is_interrupted();
}

/* Is column b worse than a: not converged, or later? */
static bool is_worse(const trs_krylov_info *b, const trs_krylov_info *a)
{
    const bool converged = b->stop == TRS_STOP_CONVERGED;
    if (converged != (a->stop == TRS_STOP_CONVERGED)) return !converged;
    return b->iterations > a->iterations;
}

/* Solve, with room for what is found about each column. */
static int solve_columns(const arguments *a, const place *at, int nrhs, trs_lu *lu,
                         trs_krylov *krylov, double *history, trs_krylov_info *info)
{
    const int64_t n = at->A.n;
    const trs_map A = {.mat = &at->A, .op = a->op}, M = {.lu = lu, .op = a->op};
    const trs_krylov_goal goal = {.rtol = a->rtol,
                                  .max_iterations = a->maxit,
                                  .history = history,
                                  .monitor = stop_if_interrupted};
    return trs_krylov_solve(krylov, &A, &M, nrhs, at->B, n, at->X, n, &goal, info);
}

int iterate(const arguments *a, const place *at, int nrhs, trs_lu *lu, trs_krylov *krylov,
            report *r)
{
    const size_t columns = (size_t)nrhs, length = (size_t)a->maxit + 1;
    double *history = calloc(columns * length, sizeof *history);
    trs_krylov_info *info = calloc(columns, sizeof *info);
    int rc = history && info ? TRS_OK : TRS_EMEM, worst = 0;
    if (rc) complain("out of memory for the iteration");
    if (!rc) rc = solve_columns(a, at, nrhs, lu, krylov, history, info);
    for (int c = 1; c < nrhs && !rc; c++)
        if (is_worse(&info[c], &info[worst])) worst = c;
    free(r->history);
    r->history = history;
    if (!rc) {
        r->krylov = info[worst];
        const size_t count = (size_t)info[worst].iterations + 1;
        memmove(history, history + (size_t)worst * length, count * sizeof *history);
    }
    free(info);
    return rc;
}

/* ---- the time of an iteration ------------------------------------------------------------------ */

/* Seconds that one product, or one application of the preconditioner, takes when it is repeated. */
static double time_of(const arguments *a, const place *at, trs_lu *lu, void *y, int *rc)
{
    const int64_t n = at->A.n;
    if (!*rc) *rc = place_wait(at);
    const double start = now();
    for (int k = 0; k < TIMED && !*rc; k++)
        if (lu) *rc = trs_lu_solve(lu, a->op, 1, at->X, n, y, n, NULL);
        else *rc = trs_multiply_on(&at->A, a->op, 1, at->X, n, y, n, NULL);
    if (!*rc) *rc = place_wait(at);
    return (now() - start) / TIMED;
}

/* On the host the calls of the loop itself were timed.  On a device they only enqueue work: there product and
 * preconditioner are timed by themselves, a product across the lines of A with the search for its rows, which the method
 * makes once.  The rest of an iteration is for the vectors, and for what waits. */
int split_iteration(const arguments *a, const place *at, trs_lu *lu, report *r)
{
    krylov_split *t = &r->split;
    const trs_krylov_info *k = &r->krylov;
    int rc = TRS_OK;
    if (!k->iterations) return TRS_OK;
    const double iterations = (double)k->iterations;
    t->iteration = k->seconds / iterations;
    t->product = k->seconds_product / iterations;
    t->preconditioner = k->seconds_preconditioner / iterations;
    if (at->device > 0) {
        void *y = NULL;
        rc = trs_device_new(at->device, at->vectors, &y);
        t->product = time_of(a, at, NULL, y, &rc) * (double)k->products / iterations;
        t->preconditioner = time_of(a, at, lu, y, &rc) * (double)k->applications / iterations;
        trs_device_free(at->device, y);
    }
    t->vectors = fmax(0, t->iteration - t->product - t->preconditioner);
    return rc;
}
