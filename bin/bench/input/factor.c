/* factor.c: --factor: the factors L and U of a general matrix, in builds with SuiteSparse. */
#include "config.h"

#include "input.h"

#include "bin/common/sentence.h"

#ifdef HAVE_SUITESPARSE

#include "trisolve-suitesparse.h"

/* The plans that come with the factors are not used here, so the solver that takes the least
 * analysis will do. */
int factor_matrix(const trs_mat *A, input *in)
{
    const trs_factor_options opt = {.plan = {.solver = "cpu-serial"}};
    int rc = trs_factor(&in->lu, A, &opt);
    if (!rc) rc = trs_lu_factors(in->lu, &in->T[0], &in->T[1], NULL, NULL, NULL);
    if (rc) return say(rc, "factors: %.300s", trs_message());
    in->count = in->T[1].ptr ? 2 : 1; /* there is no U of L L' */
    return TRS_OK;
}

void factor_free(input *in)
{
    trs_lu_destroy(in->lu);
    in->lu = NULL;
}

#else

int factor_matrix(const trs_mat *A, input *in)
{
    (void)A, (void)in;
    return say(TRS_ESUPPORT, "--factor: built without SuiteSparse");
}

void factor_free(input *in)
{
    (void)in;
}

#endif
