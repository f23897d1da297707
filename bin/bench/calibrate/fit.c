/* fit.c: the method of Levenberg and Marquardt, with a Jacobian of differences, and leave-one-out errors.
 *
 * With J (k, j) = d log p_k / d x_j and the residuals r, both with the rows of the ridge, and Huber's weights in the
 * diagonal W, w = min (1, LARGE / |r|), a step s solves
 *
 *     (J' W J + mu diag (J' W J)) s = -J' W r,
 *
 * where mu falls after a step that lowers the sum and rises after one that does not.  J' W J is positive definite
 * because of the ridge, so Cholesky's factorisation solves it.
 *
 * A leave-one-out error is that of a problem by costs that are fitted again, without it.  These fits start at the costs
 * fitted to all problems, from which they are a few steps away.
 * Sources: Nocedal and Wright, Numerical Optimization, 2nd ed., 10.3; Huber, Robust estimation of a location parameter,
 * Ann. Math. Statist. 35 (1964) 73-101. */
#include "config.h"

#include "fit.h"

#include "base/debug.h"
#include "bin/common/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RIDGE = 0.2, LARGE = 0.15;

enum { STEPS = 40, STEPS_WITHOUT = 4 /* one problem */, TRIES = 8 };

typedef double vector[FIT_COSTS];

typedef struct normal { /* J' W J, J' W r, and the sum that is minimised, at some x */
    double JJ[FIT_COSTS][FIT_COSTS];
    vector Jr;
    double sum;
} normal;

typedef struct search {
    const fit_model *f;
    vector start; /* log c0 */
    int without;  /* the problem that is left out; -1: none */
} search;

static bool is_bound(const search *s, int k)
{
    return s->f->at_least && s->f->at_least[k];
}

/* log p_k - log t_k, or 0 above a bound; NaN: it cannot be predicted. */
static double residual(const search *s, const vector x, int k)
{
    vector cost = {0};
    for (int j = 0; j < s->f->costs; j++) cost[j] = exp(x[j]);
    const double p = s->f->predict(s->f->user, k, cost);
    const double r = p > 0 ? log(p / s->f->seconds[k]) : (double)NAN;
    return is_bound(s, k) && r > 0 ? 0 : r;
}

static bool counts(const search *s, int k)
{
    return s->f->problem[k] != s->without;
}

static double huber(double r)
{
    return fabs(r) < LARGE ? r * r : (2 * fabs(r) - LARGE) * LARGE;
}

static double weight(double r)
{
    return fabs(r) < LARGE ? 1 : LARGE / fabs(r);
}

/* What is minimised. */
static double sum_at(const search *s, const vector x)
{
    double sum = 0;
    for (int k = 0; k < s->f->samples; k++) {
        const double r = counts(s, k) ? residual(s, x, k) : 0;
        if (!isnan(r)) sum += huber(r);
    }
    for (int j = 0; j < s->f->costs; j++) sum += pow(RIDGE * (x[j] - s->start[j]), 2);
    return sum;
}

/* Row k of J, by differences. */
static void derivatives(const search *s, const vector x, int k, double r, vector row)
{
    const double h = 1e-5;
    vector y;
    memcpy(y, x, sizeof y);
    for (int j = 0; j < s->f->costs; j++) {
        y[j] = x[j] + h;
        const double to = residual(s, y, k);
        row[j] = isnan(to) ? 0 : (to - r) / h;
        y[j] = x[j];
    }
}

static void add_row(normal *n, int costs, const vector row, double r, double w)
{
    for (int i = 0; i < costs; i++) {
        for (int j = 0; j < costs; j++) n->JJ[i][j] += w * row[i] * row[j];
        n->Jr[i] += w * row[i] * r;
    }
}

static void make_normal(const search *s, const vector x, normal *n)
{
    const int costs = s->f->costs;
    memset(n, 0, sizeof *n);
    for (int k = 0; k < s->f->samples; k++) {
        vector row;
        const double r = counts(s, k) ? residual(s, x, k) : (double)NAN;
        if (isnan(r)) continue;
        derivatives(s, x, k, r, row);
        add_row(n, costs, row, r, weight(r));
    }
    for (int j = 0; j < costs; j++) {
        vector row = {0};
        row[j] = RIDGE;
        add_row(n, costs, row, RIDGE * (x[j] - s->start[j]), 1);
    }
    n->sum = sum_at(s, x);
}

/* The step s of above: L L' is made in A, then L y = -J' W r and L' s = y. */
static void solve_step(const normal *n, int costs, double mu, vector s)
{
    double A[FIT_COSTS][FIT_COSTS];
    for (int i = 0; i < costs; i++)
        for (int j = 0; j <= i; j++) {
            double a = n->JJ[i][j] * (i == j ? 1 + mu : 1);
            for (int k = 0; k < j; k++) a -= A[i][k] * A[j][k];
            TRS_ASSERT(i != j || a > 0);
            A[i][j] = i == j ? sqrt(a) : a / A[j][j];
        }
    for (int i = 0; i < costs; i++) {
        s[i] = -n->Jr[i];
        for (int k = 0; k < i; k++) s[i] -= A[i][k] * s[k];
        s[i] /= A[i][i];
    }
    for (int i = costs - 1; i >= 0; i--) {
        for (int k = i + 1; k < costs; k++) s[i] -= A[k][i] * s[k];
        s[i] /= A[i][i];
    }
}

/* One step, with the first mu that lowers the sum; false: none does, or not by much. */
static bool step(const search *s, vector x, double *mu)
{
    const int costs = s->f->costs;
    normal n;
    make_normal(s, x, &n);
    for (int k = 0; k < TRIES; k++, *mu *= 10) {
        vector to, by;
        solve_step(&n, costs, *mu, by);
        for (int j = 0; j < costs; j++) to[j] = x[j] + fmax(fmin(by[j], 2), -2);
        const double sum = sum_at(s, to);
        if (!(sum < n.sum)) continue;
        memcpy(x, to, (size_t)costs * sizeof *x);
        *mu /= 10;
        return n.sum - sum > 1e-5 * n.sum;
    }
    return false;
}

static void minimise(const search *s, vector x, int steps)
{
    double mu = 1e-3;
    for (int k = 0; k < steps && step(s, x, &mu); k++) continue;
}

/* Errors of the samples of the problem that is left out, by a fit without it; how many. */
static int leave_out(const search *s, const vector x, double *error)
{
    vector y = {0};
    int count = 0;
    memcpy(y, x, (size_t)s->f->costs * sizeof *y);
    minimise(s, y, STEPS_WITHOUT);
    for (int k = 0; k < s->f->samples; k++) {
        const double r = counts(s, k) ? (double)NAN : residual(s, y, k);
        if (!isnan(r) && !(is_bound(s, k) && r >= 0)) error[count++] = fabs(exp(r) - 1);
    }
    return count;
}

static bool has_samples(const search *s, const vector x, int problem)
{
    for (int k = 0; k < s->f->samples; k++)
        if (s->f->problem[k] == problem && !isnan(residual(s, x, k))) return true;
    return false;
}

static void leave_one_out(const fit_model *f, const search *whole, const vector x, fit_result *r)
{
    search s = *whole;
    double *error = malloc((size_t)f->samples * sizeof *error);
    int count = 0;
    r->median = r->worst = NAN;
    for (int k = 0; k < f->samples; k++) {
        const bool first = k == 0 || f->problem[k] != f->problem[k - 1];
        s.without = f->problem[k];
        if (!first || !has_samples(&s, x, s.without)) continue;
        r->problems++;
        if (error && now() < f->until) count += leave_out(&s, x, error + count);
    }
    if (count > 0 && r->problems > 1) {
        TRS_ASSERT(count <= f->samples);
        const spread all = spread_of(error, count);
        r->median = all.median;
        r->worst = all.max;
    }
    free(error);
}

bool fit(const fit_model *f, const double start[FIT_COSTS], fit_result *r)
{
    search s = {.f = f, .without = -1};
    vector x = {0};
    normal n;
    TRS_ASSERT(f->costs > 0 && f->costs <= FIT_COSTS);
    *r = (fit_result){.problems = 0};
    memcpy(r->cost, start, (size_t)f->costs * sizeof *start);
    for (int j = 0; j < f->costs; j++) s.start[j] = x[j] = log(start[j]);
    if (f->samples < 1) return false;
    make_normal(&s, x, &n);
    for (int j = 0; j < f->costs; j++)
        r->determined[j] = n.JJ[j][j] - RIDGE * RIDGE > 1e-3 * RIDGE * RIDGE;
    minimise(&s, x, STEPS);
    for (int j = 0; j < f->costs; j++) r->cost[j] = exp(x[j]);
    leave_one_out(f, &s, x, r);
    return r->problems > 0;
}
