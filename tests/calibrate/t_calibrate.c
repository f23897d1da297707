/* t_calibrate.c: groups of costs are fitted to the times of solvers on the CPU: only costs of the group change, the fit has
 * the problems that suit the solvers, and the choices that are noted are among the times that were measured.  The groups
 * and the problems are as their descriptions promise. */
#include "config.h"

#include "bin/bench/calibrate/groups.h"
#include "bin/costs/costs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char program_name[] = "t_calibrate";

static int watched;

static void watch(const char *name, const char *step)
{
    watched += name && step;
}

static const settings QUICK = {
    .cell_seconds = 0.5, .nrhs = 1, .threads = 1, .device = TRS_HOST, .watch = watch};

static const cost_group *group_named(const char *name)
{
    const cost_group *g;
    for (int k = 0; (g = cost_group_at(k)); k++)
        if (!strcmp(g->name, name)) return g;
    fail_msg("no group %s", name);
    return NULL;
}

/* A cost is of one group at most, and each group has costs that a fit has room for; those of the CPU come first. */
static void test_groups(void **state)
{
    (void)state;
    const cost_group *g;
    int of[COSTS] = {0}, groups = 0, device = -1;
    assert_null(cost_group_at(-1));
    for (; (g = cost_group_at(groups)); groups++) {
        int costs = 0;
        for (int k = 0; k < COSTS; k++)
            if (is_in_group(g, cost_names[k].name)) of[k]++, costs++;
        if (costs > FIT_COSTS) fail_msg("%s has %d costs", g->name, costs);
        assert_true(g->solver[0] && g->columns[0] == 1);
        if (!strncmp(g->solver[0], "cpu-", 4)) assert_int_equal(device, -1);
        else if (device < 0) device = groups;
    }
    assert_true(groups > 6 && device > 0);
    for (int k = 0; k < COSTS; k++)
        if (of[k] > 1 && strcmp(cost_names[k].name, "cpu_full")) /* it has a prefix of both */
            fail_msg("%s is in %d groups", cost_names[k].name, of[k]);
    assert_true(is_in_group(group_named("dense"), "blocks_x") &&
                !is_in_group(group_named("cpu"), "gpu_byte"));
}

/* A triangle of n rows: a chain of diagonals and their neighbours, or full. */
static void add_problem(fit_problems *p, int n, bool full, bool general)
{
    fit_problem *one = &p->problem[p->count++];
    *one = (fit_problem){0};
    snprintf(one->name, sizeof one->name, "%s of %d", full ? "full" : "chain", n);
    if (general) {
        one->full = calloc((size_t)n * (size_t)n, sizeof(double));
        assert_non_null(one->full);
        for (int i = 0; i < n; i++) ((double *)one->full)[i * (n + 1)] = 1;
        one->T = (trs_mat){.n = n, .nnz = (int64_t)n * n, .val = one->full, .ld = n};
        one->T.format = TRS_DENSE;
        return;
    }
    const int64_t most = full ? (int64_t)n * (n + 1) / 2 : 2 * (int64_t)n;
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr), nnz = 0;
    int32_t *idx = calloc((size_t)most, sizeof *idx);
    double *val = calloc((size_t)most, sizeof *val);
    assert_true(ptr && idx && val);
    for (int i = 0; i < n; i++) {
        for (int j = full || !i ? 0 : i - 1; j <= i; j++)
            idx[nnz] = j, val[nnz++] = j < i ? -0.1 : 1;
        ptr[i + 1] = nnz;
    }
    one->T = (trs_mat){.n = n, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
}

static void free_problems(fit_problems *p)
{
    for (int k = 0; k < p->count; k++) {
        free((void *)p->problem[k].T.ptr);
        free((void *)p->problem[k].T.idx);
        free((void *)p->problem[k].T.val); /* full is the same */
    }
}

typedef struct fitting {
    trs_machine before, machine;
    bool fitted[COSTS];
    fit_result r;
} fitting;

static bool fit_group(fitting *f, const char *group, fit_problems *p)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(costs_before(&QUICK, "cpu-serial", TRS_HOST, &f->before), TRS_OK);
    f->machine = f->before;
    return group_fit(&QUICK, group_named(group), p, 20, &f->before, &f->machine, f->fitted, &f->r);
}

/* Costs of other groups are as they were, and those that were fitted are positive. */
static void assert_others_stay(fitting *f, const char *group)
{
    for (int k = 0; k < COSTS; k++) {
        const bool of_group = is_in_group(group_named(group), cost_names[k].name);
        const double now = *cost_in(&f->machine, k), was = *cost_in(&f->before, k);
        if (f->fitted[k] && (!of_group || cost_is_fact(k) || !(now > 0) || isinf(now)))
            fail_msg("%s is fitted: %g", cost_names[k].name, now);
        if (!f->fitted[k] && memcmp(&now, &was, sizeof now))
            fail_msg("%s is not fitted and becomes %g from %g", cost_names[k].name, now, was);
    }
}

static void test_fit(void **state)
{
    (void)state;
    enum { SIZES = 5, COLUMNS = 3 };
    static const int sizes[SIZES] = {50, 400, 3000, 9000, 20000};
    static fit_problems p;
    static fitting f;
    int fitted = 0;
    for (int k = 0; k < SIZES; k++) add_problem(&p, sizes[k], false, false);
    add_problem(&p, 40, false, true); /* is left out: these solvers take triangles */
    watched = 0;
    assert_true(fit_group(&f, "cpu", &p));
    assert_int_equal(f.r.problems, SIZES);
    assert_false(f.r.median < 0 || f.r.worst < f.r.median); /* NaN: there was no time for them */
    assert_int_equal(watched, SIZES + 1 + 1);               /* every problem, and the fit */
    assert_others_stay(&f, "cpu");
    for (int k = 0; k < COSTS; k++) fitted += f.fitted[k];
    assert_true(fitted > 0);
    for (int k = 0; k < SIZES; k++)
        for (int e = 0; e < COLUMNS; e++) {
            const fit_problem *one = &p.problem[k];
            assert_true(one->best[e] > 0);
            assert_true(one->before[e].seconds >= one->best[e] && one->before[e].predicted > 0);
            assert_true(one->fitted[e].seconds >= one->best[e] && one->fitted[e].predicted > 0);
        }
    assert_true(p.problem[SIZES].best[0] == 0 && p.problem[SIZES].fitted[0].seconds == 0);
    free_problems(&p);
}

/* Solvers of full triangles are not timed on others, nor where they have more rows than the group allows. */
static void test_what_suits(void **state)
{
    (void)state;
    static fit_problems p;
    static fitting f;
    add_problem(&p, 900, false, false);
    add_problem(&p, 1600, true, false);
    assert_false(fit_group(&f, "cpu-dense", &p));
    assert_others_stay(&f, "cpu-dense");
    assert_true(p.problem[0].best[0] == 0 && p.problem[1].best[0] == 0);
    add_problem(&p, 300, true, false);
    add_problem(&p, 700, true, false);
    assert_true(fit_group(&f, "cpu-dense", &p));
    assert_int_equal(f.r.problems, 2);
    assert_others_stay(&f, "cpu-dense");
    assert_true(p.problem[2].best[0] > 0 && p.problem[3].best[0] > 0);
    free_problems(&p);
}

/* No solver of the group can be used without a device, and none without a problem. */
static void test_nothing_to_fit(void **state)
{
    (void)state;
    static fit_problems p, none;
    static fitting f;
    add_problem(&p, 200, false, false);
    assert_false(fit_group(&f, "dataflow", &p));
    assert_others_stay(&f, "dataflow");
    assert_false(fit_group(&f, "cpu", &none));
    assert_others_stay(&f, "cpu");
    free_problems(&p);
}

/* ---- the problems ------------------------------------------------------------------------------------------- */

static double entry(const trs_mat *T, int64_t p)
{
    if (T->dtype == TRS_F64) return ((const double *)T->val)[p];
    if (T->dtype == TRS_F32) return (double)((const float *)T->val)[p];
    return T->dtype == TRS_C64 ? ((const double *)T->val)[2 * p]
                               : (double)((const float *)T->val)[2 * p];
}

/* The columns of a row ascend to its diagonal, which is not zero. */
static void assert_triangle(const fit_problem *one)
{
    const trs_mat *T = &one->T;
    const int64_t *ptr = T->ptr;
    const int32_t *idx = T->idx;
    assert_true(T->kind == TRS_LOWER && T->format == TRS_CSR && ptr[0] == 0);
    assert_int_equal(ptr[T->n], T->nnz);
    for (int64_t i = 0; i < T->n; i++) {
        bool good = ptr[i] < ptr[i + 1] && idx[ptr[i + 1] - 1] == i && idx[ptr[i]] >= 0;
        for (int64_t p = ptr[i] + 1; p < ptr[i + 1]; p++) good = good && idx[p - 1] < idx[p];
        if (!good || entry(T, ptr[i + 1] - 1) == 0) fail_msg("%s: row %d", one->name, (int)i);
    }
}

/* Full, with blocks that have 1 on their diagonals and -value below, and next to nothing outside. */
static void assert_blocks(const fit_problem *one, int rows, double value)
{
    const trs_mat *T = &one->T;
    assert_int_equal(T->nnz, T->n * (T->n + 1) / 2);
    for (int64_t i = 0, p = 0; i < T->n; i++)
        for (int64_t j = 0; j <= i; j++, p++) {
            const double v = entry(T, p);
            const double want = i == j ? 1 : -value;
            if (i / rows == j / rows ? v != want : !(fabs(v) < 1e-20))
                fail_msg("%s: %g in row %d, column %d", one->name, v, (int)i, (int)j);
        }
}

/* Each diagonal number is larger than all others of its row together. */
static void assert_dominated(const fit_problem *one)
{
    const trs_mat *T = &one->T;
    assert_true(T->format == TRS_DENSE && T->ld == T->n && T->val == one->full);
    for (int64_t i = 0; i < T->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < T->n; j++) sum += fabs(entry(T, i + j * T->n));
        assert_true(entry(T, i * (T->n + 1)) > sum / 2);
    }
}

static void test_problems(void **state)
{
    (void)state;
    static fit_problems p;
    int general = 0, blocks = 0, types[4] = {0};
    problems_make(&p, 0);
    assert_int_equal(p.count, 0);
    problems_make(&p, INFINITY);
    print_message("# %d problems\n", p.count);
    for (int k = 0; k < p.count; k++) {
        const fit_problem *one = &p.problem[k];
        types[one->T.dtype]++;
        for (int j = 0; j < k && !one->full; j++)
            assert_true(p.problem[j].T.n != one->T.n || strcmp(p.problem[j].name, one->name) ||
                        p.problem[j].T.nnz != one->T.nnz);
        if (one->full) assert_dominated(one), general++;
        else assert_triangle(one);
        if (!strcmp(one->name, "full, blocks of 64")) assert_blocks(one, 64, 1), blocks++;
        if (!strcmp(one->name, "full, blocks of 256")) assert_blocks(one, 256, 0.08), blocks++;
    }
    assert_true(general == 3 && blocks == 2);
    for (int t = 0; t < 4; t++) assert_true(types[t] > 0);
    problems_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems), cmocka_unit_test(test_groups), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_what_suits), cmocka_unit_test(test_nothing_to_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
