/* t_fit.c: times are made up from costs, and the fit must find these costs again: from exact times, from noisy ones,
 * and where some are ten times too long; with nothing to go by, the costs must stay as they were. */
#include "bin/bench/calibrate/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COSTS = 5, SAMPLES = 90, EACH = 3 /* samples of a problem */ };

/* Launches, levels, the longer one of two kinds of work, and a cost that no sample depends on. */
static const double truth[FIT_COSTS] = {3e-6, 0.5e-6, 2e-12, 7e-9, 1e-6};

typedef struct data {
    double levels[SAMPLES], bytes[SAMPLES], rows[SAMPLES], seconds[SAMPLES];
    int problem[SAMPLES];
} data;

static double uniform(uint64_t *z)
{
    *z = *z * 6364136223846793005u + 1442695040888963407u;
    return (double)(*z >> 11) * 0x1p-53;
}

static double predict(void *user, int k, const double c[FIT_COSTS])
{
    const data *d = user;
    if (d->levels[k] < 0) return (double)NAN;
    return c[0] + c[1] * d->levels[k] + fmax(c[2] * d->bytes[k], c[3] * d->rows[k]);
}

/* Times within a fraction of what the costs predict. */
static fit_model make(data *d, double noise)
{
    uint64_t z = 5;
    for (int k = 0; k < SAMPLES; k++) {
        d->problem[k] = k / EACH;
        d->levels[k] = exp(7 * uniform(&z));
        d->bytes[k] = exp(10 + 10 * uniform(&z));
        d->rows[k] = exp(2 + 10 * uniform(&z));
        d->seconds[k] = predict(d, k, truth) * (1 + noise * (2 * uniform(&z) - 1));
    }
    return (fit_model){.costs = COSTS,
                       .samples = SAMPLES,
                       .problem = d->problem,
                       .seconds = d->seconds,
                       .predict = predict,
                       .user = d,
                       .until = INFINITY};
}

/* From costs that are wrong by factors of 3 to 10. */
static const double start[FIT_COSTS] = {1e-5, 0.1e-6, 1.5e-11, 1e-9, 2.5e-6};

static void assert_found(const fit_result *r, double within)
{
    for (int j = 0; j < COSTS - 1; j++) {
        print_message("# cost %d: %.4g for %.4g\n", j, r->cost[j], truth[j]);
        assert_true(fabs(r->cost[j] / truth[j] - 1) <= within);
        assert_true(r->determined[j]);
    }
    assert_false(r->determined[COSTS - 1]);
    assert_true(fabs(r->cost[COSTS - 1] / start[COSTS - 1] - 1) < 1e-9);
}

static void exact_times(void **state)
{
    data d;
    fit_result r;
    const fit_model f = make(&d, 0);
    (void)state;
    assert_true(fit(&f, start, &r));
    assert_found(&r, 0.03); /* the ridge */
    assert_int_equal(r.problems, SAMPLES / EACH);
    assert_true(r.median < 0.01);
}

static void noisy_times(void **state)
{
    data d;
    fit_result r;
    const fit_model f = make(&d, 0.1);
    (void)state;
    assert_true(fit(&f, start, &r));
    assert_found(&r, 0.1);
    print_message("# leave-one-out: median %.3g, worst %.3g\n", r.median, r.worst);
    assert_true(r.median > 0.02 && r.median < 0.08 && r.worst > r.median && r.worst < 0.4);
}

/* One time in nine is ten times as long as it should be. */
static void spoilt_times(void **state)
{
    data d;
    fit_result r;
    const fit_model f = make(&d, 0.05);
    (void)state;
    for (int k = 0; k < SAMPLES; k += 9) d.seconds[k] *= 10;
    assert_true(fit(&f, start, &r));
    assert_found(&r, 0.2);
    assert_true(r.median < 0.15 && r.worst > 0.8);
}

/* Every third time is only known to be above a third of it, and says no more than that. */
static void bounds(void **state)
{
    data d;
    fit_result r;
    fit_model f = make(&d, 0);
    bool at_least[SAMPLES] = {false};
    (void)state;
    for (int k = 0; k < SAMPLES; k += 3) {
        at_least[k] = true;
        d.seconds[k] /= 3;
    }
    f.at_least = at_least;
    assert_true(fit(&f, start, &r));
    assert_found(&r, 0.03);
    assert_true(r.median < 0.01 && r.worst < 0.05);
    for (int k = 0; k < SAMPLES;
         k++) { /* all take twice as long as they did at the start, or longer */
        at_least[k] = true;
        d.seconds[k] = 2 * predict(&d, k, start);
    }
    assert_true(fit(&f, start, &r));
    for (int k = 0; k < SAMPLES; k++) assert_true(predict(&d, k, r.cost) > 0.95 * d.seconds[k]);
}

static void nothing_to_go_by(void **state)
{
    data d;
    fit_result r;
    fit_model f = make(&d, 0);
    (void)state;
    f.samples = 0;
    assert_false(fit(&f, start, &r));
    assert_memory_equal(r.cost, start, COSTS * sizeof *start);
    f.samples = EACH; /* one problem */
    assert_true(fit(&f, start, &r));
    assert_true(isnan(r.median) && r.problems == 1);
    f.samples = SAMPLES;
    for (int k = 0; k < SAMPLES; k++) d.levels[k] = -1; /* none can be predicted */
    assert_false(fit(&f, start, &r));
    for (int j = 0; j < COSTS; j++) assert_false(r.determined[j]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_times),      cmocka_unit_test(noisy_times),
        cmocka_unit_test(spoilt_times),     cmocka_unit_test(bounds),
        cmocka_unit_test(nothing_to_go_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
