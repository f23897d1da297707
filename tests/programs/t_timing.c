/* t_timing.c: the spread of made-up times, against quantiles found by counting; and when two measurements are apart. */
#include "bin/common/timing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 200 };

/* How many of the times are less than v, and how many are at most v. */
static int count(const double *s, int n, double v, bool or_equal)
{
    int found = 0;
    for (int k = 0; k < n; k++) found += s[k] < v || (or_equal && s[k] <= v);
    return found;
}

/* v is one of the times, at most a share of them is less, and at least the same share is not greater. */
static void check_quantile(const double *s, int n, double v, double share)
{
    const int place = (int)(share * (n - 1));
    assert_in_range(place, count(s, n, v, false), count(s, n, v, true) - 1);
}

static void test_quantiles(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        double s[MOST], sorted[MOST];
        for (int k = 0; k < n; k++) sorted[k] = s[k] = 1 + k * 37 % 101; /* some times are equal */
        const spread t = spread_of(sorted, n);
        assert_int_equal(t.count, n);
        assert_int_equal(count(s, n, t.min, false), 0);
        assert_int_equal(count(s, n, t.max, true), n);
        check_quantile(s, n, t.low, 0.25);
        assert_int_equal(n - count(s, n, t.high, true) <= (n - 1) / 4, 1);
        assert_int_equal(n - count(s, n, t.high, false) > (n - 1) / 4, 1);
        const int below = count(s, n, t.median, false), above = n - count(s, n, t.median, true);
        assert_true(2 * below <= n && 2 * above <= n);
        assert_true(t.min <= t.low && t.low <= t.median && t.median <= t.high && t.high <= t.max);
    }
}

static void test_relative(void **state)
{
    (void)state;
    double s[] = {5, 1, 4, 2, 3};
    const spread t = spread_of(s, 5);
    assert_true(t.low == 2 && t.median == 3 && t.high == 4);
    assert_true(fabs(relative_spread(&t) - 2. / 3) < 1e-15);
    assert_true(isnan(relative_spread(&(spread){0})));
}

/* Times of ten solves around a middle, in steps. */
static spread around(double middle, double step)
{
    double s[10];
    for (int k = 0; k < 10; k++) s[k] = middle + step * (k - 4.5);
    return spread_of(s, 10);
}

static void check_apart(const spread a, const spread b, bool expected)
{
    assert_int_equal(are_apart(&a, &b), expected);
    assert_int_equal(are_apart(&b, &a), expected);
}

static void test_apart(void **state)
{
    (void)state;
    check_apart(around(1, 0.001), around(1.2, 0.001), true);
    check_apart(around(1, 0.001), around(1.09, 0.001), false); /* less than 10 % */
    check_apart(around(1, 0.1), around(1.2, 0.1), false);      /* their own spread is larger */
    check_apart(around(1, 0.1), around(3, 0.1), true);
    check_apart(around(1e-7, 0), around(1.5e-7, 0), false); /* what the clock does not resolve */
    check_apart(around(1e-7, 0), around(3e-7, 0), true);
    check_apart(around(1, 0), around(1, 0), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quantiles),
                                       cmocka_unit_test(test_relative),
                                       cmocka_unit_test(test_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
