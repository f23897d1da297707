/* steps.c: what a time loop does with a matrix whose values change and whose pattern stays. */
#include "config.h"

#include "iterate.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- new values ------------------------------------------------------------------------------ */

/* Uniform in [-1, 1) and the same for the same arguments.
 * Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators (2014). */
static double uniform(int step, int64_t low, int64_t high)
{
    uint64_t z =
        (uint64_t)step * 0x9e3779b97f4a7c15 + (uint64_t)low * 0xd1342543de82ef95 + (uint64_t)high;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z ^= z >> 31;
    return ldexp((double)(z >> 11), -52) - 1;
}

typedef struct change {
    double E;
    int step;
    bool scales; /* A becomes D A D with D = diag (1 + E u_i), which is positive definite if A is */
} change;

/* What the value at (i, j), and that at (j, i), is multiplied by: what is symmetric stays so. */
static double factor_of(const change *c, int64_t i, int64_t j)
{
    if (c->scales) return (1 + c->E * uniform(c->step, i, i)) * (1 + c->E * uniform(c->step, j, j));
    return 1 + c->E * uniform(c->step, i < j ? i : j, i < j ? j : i);
}

/* Multiplies the value of entry e, at (i, j). */
static void perturb_entry(const trs_mat *A, const change *c, int64_t i, int64_t j, int64_t e)
{
    const int parts = parts_of(A->dtype);
    const double factor = factor_of(c, i, j);
    for (int64_t k = parts * e; k < parts * (e + 1); k++)
        set_part((void *)A->val, A->dtype, k, factor * part_at(A->val, A->dtype, k));
}

/* Files are read with pointers of 64 and indices of 32 bits. */
static void perturb(const trs_mat *A, const change *c)
{
    const int64_t *ptr = A->ptr;
    const int32_t *idx = A->idx;
    for (int64_t i = 0; i < A->n; i++) {
        if (A->format == TRS_DENSE)
            for (int64_t j = 0; j < A->n; j++) perturb_entry(A, c, i, j, j + i * A->ld);
        else
            for (int64_t e = ptr[i] - A->base; e < ptr[i + 1] - A->base; e++)
                perturb_entry(A, c, i, idx[e] - A->base, e);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* One step.  What another program would do between two assemblies is timed. */
static int step(problem *p, place *at, trs_lu *lu, solve_fn solve, void *user, double *update,
                double *solved)
{
    int rc = place_put_values(at, p);
    const double start = now();
    if (!rc) rc = trs_lu_update(lu, &at->A);
    if (!rc) rc = place_wait(at);
    const double updated = now();
    if (!rc) rc = solve(user);
    if (!rc) rc = place_wait(at);
    *update = updated - start;
    *solved = now() - updated;
    return rc;
}

bool scales_steps(const arguments *a)
{
    return a->method && !strncmp(a->method, "ic", 2);
}

int run_steps(const arguments *a, problem *p, place *at, trs_lu *lu, solve_fn solve, void *user,
              report *r)
{
    step_times *s = &r->steps;
    s->update_seconds = calloc((size_t)a->steps, sizeof *s->update_seconds);
    s->solve_seconds = calloc((size_t)a->steps, sizeof *s->solve_seconds);
    s->iterations = calloc((size_t)a->steps, sizeof *s->iterations);
    const int64_t count = p->A.format == TRS_DENSE ? p->A.ld * p->A.n : p->A.nnz;
    const size_t bytes = (size_t)count * size_of_number(p->A.dtype);
    void *was = malloc(bytes + 1);
    int rc = was && s->update_seconds && s->solve_seconds && s->iterations ? TRS_OK : TRS_EMEM;
    if (rc) complain("out of memory for the steps");
    for (int k = 0; k < a->steps && !rc; k++) {
        memcpy(was, p->A.val, bytes);
        perturb(&p->A, &(change){a->perturb, k + 1, scales_steps(a)});
        rc = step(p, at, lu, solve, user, &s->update_seconds[k], &s->solve_seconds[k]);
        s->iterations[k] = (int)r->krylov.iterations;
        if (!rc) s->count++;
        else memcpy((void *)p->A.val, was, bytes); /* of which X is the solution */
        if (rc) complain("step %d of %d: %s", k + 1, a->steps, trs_message());
    }
    free(was);
    s->failed = rc;
    if (s->count) free(p->exact), p->exact = NULL; /* X was made from it with other values */
    return rc;
}
