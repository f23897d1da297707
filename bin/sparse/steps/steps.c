/* steps.c: what a time loop does with a matrix whose values change and whose pattern stays. */
#include "config.h"

#include "iterate.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdlib.h>

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

/* Multiplies the value of entry e, which stands at (i, j).  (j, i) draws the same number, so that what is symmetric
 * stays so. */
static void perturb_entry(const trs_mat *A, double E, int step, int64_t i, int64_t j, int64_t e)
{
    const int parts = parts_of(A->dtype);
    const double factor = 1 + E * uniform(step, i < j ? i : j, i < j ? j : i);
    for (int64_t k = parts * e; k < parts * (e + 1); k++)
        set_part((void *)A->val, A->dtype, k, factor * part_at(A->val, A->dtype, k));
}

/* Each value times 1 + E u.  Files are read with pointers of 64 and indices of 32 bits. */
static void perturb(const trs_mat *A, double E, int step)
{
    const int64_t *ptr = A->ptr;
    const int32_t *idx = A->idx;
    for (int64_t i = 0; i < A->n; i++) {
        if (A->format == TRS_DENSE)
            for (int64_t j = 0; j < A->n; j++) perturb_entry(A, E, step, i, j, j + i * A->ld);
        else
            for (int64_t e = ptr[i] - A->base; e < ptr[i + 1] - A->base; e++)
                perturb_entry(A, E, step, i, idx[e] - A->base, e);
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

int run_steps(const arguments *a, problem *p, place *at, trs_lu *lu, solve_fn solve, void *user,
              report *r)
{
    step_times *s = &r->steps;
    s->update_seconds = calloc((size_t)a->steps, sizeof *s->update_seconds);
    s->solve_seconds = calloc((size_t)a->steps, sizeof *s->solve_seconds);
    s->iterations = calloc((size_t)a->steps, sizeof *s->iterations);
    if (!s->update_seconds || !s->solve_seconds || !s->iterations)
        return complain("out of memory for the steps"), TRS_EMEM;
    int rc = TRS_OK;
    for (int k = 0; k < a->steps && !rc; k++) {
        perturb(&p->A, a->perturb, k + 1);
        rc = step(p, at, lu, solve, user, &s->update_seconds[k], &s->solve_seconds[k]);
        s->iterations[k] = r->krylov.iterations;
        if (!rc) s->count++;
    }
    free(p->exact); /* what X was made from is not the solution with other values */
    p->exact = NULL;
    return rc;
}
