/* fit.h: costs from times, by least squares.
 *
 * Sample k took t_k seconds, and p_k (c) seconds are predicted of it by the costs c.  Times and costs are positive and
 * range over orders of magnitude, so ratios count: with x = log c, the sum
 *
 *     sum over k of rho (log p_k - log t_k)  +  RIDGE^2  sum over j of (x_j - log c0_j)^2
 *
 * is minimised, where c0 are the costs so far.  The second sum is small; a cost keeps its value where the samples say
 * nothing of it.  rho is Huber's function: r^2 for small r, and linear for large ones, so that a time that something
 * else on the machine has spoilt does not count for more than others.
 *
 * Of a solver that takes far longer than others it matters only that the prediction says so: then t_k is a bound, and
 * the residual is 0 where p_k is above it. */
#ifndef TRS_BIN_BENCH_FIT_H
#define TRS_BIN_BENCH_FIT_H

#include <stdbool.h>

enum { FIT_COSTS = 40 };

typedef struct fit_model {
    int costs, samples;
    const int *problem;    /* [samples] ascending; samples of one problem are left out together */
    const double *seconds; /* [samples] t_k */
    const bool *at_least; /* [samples] it took t_k or longer: a larger p_k is as good; NULL: none */
    /* p_k; NaN: it cannot be predicted */
    double (*predict)(void *user, int sample, const double cost[FIT_COSTS]);
    void *user;
    double until; /* by the clock of timing.h: no further problem is left out then */
} fit_model;

typedef struct fit_result {
    double cost[FIT_COSTS];
    bool determined[FIT_COSTS]; /* some sample depends on the cost */
    int problems;               /* that have samples which can be predicted */
    /* Leave-one-out error |p_k / t_k - 1| of samples whose problem the fit has not seen; NaN: not known */
    double median, worst;
} fit_result;

/* From c0 = start.  Returns false, with the costs of the start, where there is nothing to fit by. */
bool fit(const fit_model *f, const double start[FIT_COSTS], fit_result *r);

#endif
