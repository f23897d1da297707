/* t_grow.c: plans that begin with what is prepared fastest and grow: when they do, that x is right before and after, that two
 * plans do the same, that work spaces and captured graphs made before stay right through updates, and what happens when
 * there is no memory for growing. */
#include "tests/common/counter.h"
#include "tests/common/device.h"
#include "tests/common/model.h"

#include "core/plan.h"

#include <math.h>

/* A 5-point grid of m*m rows, lower, with values that an update replaces. */
typedef struct grid {
    int n, levels;
    int64_t *ptr;
    int32_t *idx;
    double *val, *b, *x;
    random_t r;
    trs_mat a;
} grid;

static void new_values(grid *g)
{
    for (int64_t k = 0; k < g->a.nnz; k++) g->val[k] = random_uniform(&g->r) / 4;
    for (int i = 0; i < g->n; i++) {
        g->val[g->ptr[i + 1] - 1] = 1.5 + random_uniform(&g->r) / 4;
        g->b[i] = random_uniform(&g->r);
    }
}

static grid grid_new(int m)
{
    grid g = {.n = m * m, .levels = 2 * m - 1, .r = {4711}};
    g.ptr = zeroed(g.n + 1, sizeof *g.ptr);
    g.idx = zeroed(3 * (int64_t)g.n, sizeof *g.idx);
    g.val = zeroed(3 * (int64_t)g.n, sizeof *g.val);
    g.b = zeroed(g.n, sizeof *g.b);
    g.x = zeroed(g.n, sizeof *g.x);
    int64_t k = 0;
    for (int i = 0; i < g.n; i++) {
        if (i >= m) g.idx[k++] = i - m;
        if (i % m > 0) g.idx[k++] = i - 1;
        g.idx[k++] = i;
        g.ptr[i + 1] = k;
    }
    g.a =
        (trs_mat){.n = g.n, .nnz = k, .ptr = g.ptr, .idx = g.idx, .val = g.val, .kind = TRS_LOWER};
    new_values(&g);
    return g;
}

static void grid_free(grid *g)
{
    free(g->ptr);
    free(g->idx);
    free(g->val);
    free(g->b);
    free(g->x);
}

static trs_plan *ready(const grid *g, const trs_options *opt)
{
    trs_plan *p = NULL;
    assert_status(trs_plan_create(&p, &g->a, opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

static trs_info info_of(const trs_plan *p)
{
    trs_info info;
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    return info;
}

/* |b - T x| <= 1e-13 (|T| |x| + |b|) in every row of T, or of T'. */
static void check(const grid *g, bool transposed, const double *x)
{
    double *r = zeroed(g->n, sizeof *r), *size = zeroed(g->n, sizeof *size);
    for (int i = 0; i < g->n; i++)
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++) {
            const int row = transposed ? g->idx[k] : i, col = transposed ? i : g->idx[k];
            r[row] += g->val[k] * x[col];
            size[row] += fabs(g->val[k] * x[col]);
        }
    for (int i = 0; i < g->n; i++)
        assert_at_most(fabs(g->b[i] - r[i]), 1e-13 * (size[i] + fabs(g->b[i])));
    free(r);
    free(size);
}

static void solve(const grid *g, const trs_plan *p, trs_op op, trs_work *work)
{
    const trs_exec exec = {.work = work};
    memset(g->x, 0x5a, (size_t)g->n * sizeof *g->x);
    assert_status(trs_solve(p, op, 1, g->b, g->n, g->x, g->n, &exec), TRS_OK);
    check(g, op != TRS_N, g->x);
}

/* Growing chooses another solver than the one that is there. */
static void forbid(const char *solver)
{
    if (solver) assert_int_equal(setenv("TRISOLVE_WITHOUT", solver, 1), 0);
    else assert_int_equal(unsetenv("TRISOLVE_WITHOUT"), 0);
}

static const char *const FIRST = "cpu-serial";

/* ---- when ----------------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
    (void)state;
    grid g = grid_new(40);
    trs_plan *p = ready(&g, NULL);
    const int64_t last = info_of(p).grows_at;
    assert_true(last > 1 && last < 1000);
    for (int64_t k = 1; k < last; k++) {
        solve(&g, p, TRS_N, NULL);
        assert_string_equal(info_of(p).solver, FIRST);
        assert_int_equal(info_of(p).solves, k);
    }
    forbid(FIRST);
    solve(&g, p, TRS_N, NULL);
    forbid(NULL);
    assert_string_not_equal(info_of(p).solver, FIRST);
    assert_int_equal(info_of(p).grows_at, 0);
    assert_non_null(strstr(info_of(p).reason, "; after "));
    new_values(&g);
    assert_status(trs_plan_update(p, &g.a, NULL), TRS_OK);
    solve(&g, p, TRS_N, NULL);
    trs_plan_destroy(p);
    grid_free(&g);
}

/* Right-hand sides count in units of those that were announced. */
static void test_columns(void **state)
{
    (void)state;
    grid g = grid_new(30);
    const trs_options opt = {.nrhs = 2};
    trs_plan *p = ready(&g, &opt);
    double *B = zeroed(5 * (int64_t)g.n, sizeof *B);
    assert_status(trs_solve(p, TRS_N, 5, B, g.n, B, g.n, NULL), TRS_OK);
    assert_int_equal(info_of(p).solves, 3);
    free(B);
    trs_plan_destroy(p);
    grid_free(&g);
}

static void test_options(void **state)
{
    (void)state;
    grid g = grid_new(40);
    trs_plan *p = NULL;
    const trs_options wrong = {.solves = -1};
    assert_int_equal(trs_plan_create(&p, &g.a, &wrong), TRS_EARG);
    const trs_options stays[] = {
        {.solves = 1},           {.solves = TRS_SOLVES_MANY}, {.bitwise = 1},
        {.solver = "cpu-level"}, {.pivot = TRS_PIVOT_SKIP},   {.order = TRS_ORDER_LEVEL},
        {.measure = 1}};
    for (size_t k = 0; k < sizeof stays / sizeof stays[0]; k++) {
        p = ready(&g, &stays[k]);
        const char *solver = info_of(p).solver;
        assert_int_equal(info_of(p).grows_at, 0);
        for (int j = 0; j < 200; j++) solve(&g, p, TRS_N, NULL);
        assert_string_equal(info_of(p).solver, solver);
        if (k == 0) assert_string_equal(solver, FIRST);
        trs_plan_destroy(p);
        trs_wisdom_forget(); /* of the one that measured */
    }
    grid_free(&g);
}

/* A triangle on which nothing is faster has nothing to grow to. */
static void test_tiny(void **state)
{
    (void)state;
    grid g = grid_new(3);
    trs_plan *p = ready(&g, NULL);
    assert_int_equal(info_of(p).grows_at, 0);
    solve(&g, p, TRS_N, NULL);
    trs_plan_destroy(p);
    grid_free(&g);
}

/* Two plans grow in the same solve, and give the same bits before and after. */
static void test_same(void **state)
{
    (void)state;
    grid g = grid_new(64);
    double *x = zeroed(g.n, sizeof *x);
    trs_plan *p[] = {ready(&g, NULL), ready(&g, NULL)};
    for (int64_t k = 0, last = info_of(p[0]).grows_at; k < last + 3; k++) {
        solve(&g, p[0], TRS_N, NULL);
        memcpy(x, g.x, (size_t)g.n * sizeof *x);
        solve(&g, p[1], TRS_N, NULL);
        if (memcmp(x, g.x, (size_t)g.n * sizeof *x))
            print_message("%s, %s\n", info_of(p[0]).reason, info_of(p[1]).reason);
        assert_memory_equal(x, g.x, (size_t)g.n * sizeof *x);
        assert_int_equal(info_of(p[0]).grows_at, info_of(p[1]).grows_at);
    }
    trs_plan_destroy(p[0]);
    trs_plan_destroy(p[1]);
    free(x);
    grid_free(&g);
}

/* A plan begins without levels, and finds them when somebody asks, or when it grows. */
static void test_levels(void **state)
{
    (void)state;
    grid g = grid_new(40);
    const int32_t *topo, *lv_ptr;
    for (int how = 0; how < 3; how++) {
        trs_plan *p = ready(&g, NULL);
        solve(&g, p, TRS_N, NULL);
        assert_null(p->side[0].op.lv.ptr);
        if (how == 0) assert_int_equal(trs_plan_levels(p, &topo, &lv_ptr), TRS_OK);
        if (how == 0) assert_int_equal(lv_ptr[g.levels], g.n);
        if (how == 1) assert_status(trs_plan_tune(p), TRS_OK);
        const trs_info info = info_of(p);
        assert_int_equal(info.levels, g.levels);
        assert_int_equal(info.widest, 40);
        assert_int_equal(info.longest, 3);
        assert_string_equal(info.analysis, "one sweep over the rows");
        assert_non_null(p->side[0].op.lv.ptr);
        solve(&g, p, TRS_N, NULL);
        trs_plan_destroy(p);
    }
    grid_free(&g);
}

/* What is not solved with does not grow. */
static void test_sides(void **state)
{
    (void)state;
    grid g = grid_new(40);
    const trs_options opt = {.ops = 1u << TRS_N | 1u << TRS_T};
    trs_plan *p = ready(&g, &opt);
    const int64_t last = info_of(p).grows_at;
    forbid(FIRST);
    for (int64_t k = 0; k < last; k++) solve(&g, p, TRS_N, NULL);
    assert_string_not_equal(p->side[0].instance.solver->name, FIRST);
    assert_string_equal(p->side[1].instance.solver->name, FIRST);
    assert_int_equal(info_of(p).grows_at, last);
    solve(&g, p, TRS_T, NULL);
    for (int64_t k = 1; k < last; k++) solve(&g, p, TRS_T, NULL);
    forbid(NULL);
    assert_string_not_equal(p->side[1].instance.solver->name, FIRST);
    assert_int_equal(info_of(p).grows_at, 0);
    new_values(&g);
    assert_status(trs_plan_update(p, &g.a, NULL), TRS_OK);
    solve(&g, p, TRS_N, NULL);
    solve(&g, p, TRS_T, NULL);
    trs_plan_destroy(p);
    grid_free(&g);
}

/* ---- tuning ----------------------------------------------------------------------------------------- */

static void test_tune(void **state)
{
    (void)state;
    grid g = grid_new(40);
    const trs_options kinds[] = {{0}, {.solves = 1}, {.ops = 7}};
    assert_int_equal(trs_plan_tune(NULL), TRS_EARG);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        trs_plan *p = NULL;
        assert_status(trs_plan_create(&p, &g.a, &kinds[k]), TRS_OK);
        assert_int_equal(trs_plan_tune(p), TRS_ESTATE);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_string_equal(info_of(p).solver, FIRST);
        forbid(FIRST);
        assert_status(trs_plan_tune(p), TRS_OK);
        forbid(NULL);
        const char *solver = info_of(p).solver;
        assert_string_not_equal(solver, FIRST);
        for (int j = 0; j < p->sides; j++)
            assert_string_equal(p->side[j].instance.solver->name, solver);
        assert_status(trs_plan_tune(p), TRS_OK); /* there is nothing left to do */
        assert_string_equal(info_of(p).solver, solver);
        solve(&g, p, TRS_N, NULL);
        trs_plan_destroy(p);
    }
    grid_free(&g);
}

/* Work spaces keep what they were made with, and are right after updates. */
static void test_work_spaces(void **state)
{
    (void)state;
    grid g = grid_new(40);
    const trs_options opt = {.ops = 3};
    trs_plan *p = ready(&g, &opt);
    trs_work *old = NULL, *new = NULL;
    assert_status(trs_work_create(&old, p, 1), TRS_OK);
    for (int k = 0; k < 200; k++) solve(&g, p, TRS_N, old); /* these do not count */
    assert_int_equal(info_of(p).solves, 0);
    assert_string_equal(info_of(p).solver, FIRST);
    forbid(FIRST);
    assert_status(trs_plan_tune(p), TRS_OK);
    forbid(NULL);
    assert_status(trs_work_create(&new, p, 1), TRS_OK);
    assert_non_null(p->side[0].retired);
    for (int k = 0; k < 3; k++) {
        for (trs_op op = TRS_N; op <= TRS_T; op++) {
            solve(&g, p, op, old);
            solve(&g, p, op, new);
            solve(&g, p, op, NULL);
        }
        new_values(&g);
        assert_status(trs_plan_update(p, &g.a, NULL), TRS_OK);
    }
    assert_status(trs_work_fit(old, p, 3), TRS_OK);
    solve(&g, p, TRS_T, old);
    trs_work_destroy(old);
    trs_work_destroy(new);
    trs_plan_destroy(p);
    grid_free(&g);
}

/* A plan for which nobody else has the first instance does not keep it. */
static void test_nothing_kept(void **state)
{
    (void)state;
    grid g = grid_new(40);
    trs_plan *p = ready(&g, NULL);
    solve(&g, p, TRS_N, NULL);
    forbid(FIRST);
    assert_status(trs_plan_tune(p), TRS_OK);
    forbid(NULL);
    assert_null(p->side[0].retired);
    assert_null(trs_side_instance(&p->side[0], 0));
    trs_plan_destroy(p);
    grid_free(&g);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* A solve allocates nothing but in the moment of growth. */
static void test_allocations(void **state)
{
    (void)state;
    grid g = grid_new(40);
    counter c = {.fail_at = -1};
    const trs_options opt = {.memory = counted_memory(&c)};
    trs_plan *p = ready(&g, &opt);
    const int64_t last = info_of(p).grows_at;
    const long before = c.calls;
    for (int64_t k = 1; k < last; k++) solve(&g, p, TRS_N, NULL);
    assert_int_equal(c.calls, before);
    solve(&g, p, TRS_N, NULL);
    assert_true(c.calls > before);
    const long after = c.calls;
    for (int k = 0; k < 10; k++) solve(&g, p, TRS_N, NULL);
    assert_int_equal(c.calls, after);
    trs_plan_destroy(p);
    assert_int_equal(c.live, 0);
    grid_free(&g);
}

/* Whichever allocation fails while it grows, alone or with all that follow: the plan solves, nothing leaks, and it is
 * not tried again. */
static void test_no_memory(void **state)
{
    (void)state;
    grid g = grid_new(40);
    for (int and_after = 0; and_after < 2; and_after++) {
        bool ended = false;
        for (long k = 0; !ended; k++) {
            counter c = {.fail_at = -1, .and_after = and_after};
            const trs_options opt = {.memory = counted_memory(&c), .ops = 3};
            trs_plan *p = ready(&g, &opt);
            trs_work *work = NULL;
            assert_status(trs_work_create(&work, p, 1), TRS_OK);
            c.fail_at = c.calls + k;
            forbid(FIRST);
            assert_status(trs_plan_tune(p), TRS_OK);
            forbid(NULL);
            ended = c.calls <= c.fail_at;
            c.fail_at = -1;
            const char *solver = info_of(p).solver;
            if (!strcmp(solver, FIRST)) assert_non_null(strstr(info_of(p).reason, "memory"));
            new_values(&g);
            assert_status(trs_plan_update(p, &g.a, NULL), TRS_OK);
            for (trs_op op = TRS_N; op <= TRS_T; op++) {
                solve(&g, p, op, NULL);
                solve(&g, p, op, work);
            }
            assert_string_equal(info_of(p).solver, solver);
            trs_work_destroy(work);
            trs_plan_destroy(p);
            assert_int_equal(c.live, 0);
        }
    }
    grid_free(&g);
}

/* ---- on a device ------------------------------------------------------------------------------------ */

#ifdef HAVE_CUDA

static const char *const FIRST_THERE = "cuda-rows";

/* Solve with B and X on the device, and look at X here. */
static void solve_there(const grid *g, const trs_plan *p, trs_op op, double *dev, trs_work *work,
                        cudaStream_t stream)
{
    const size_t bytes = (size_t)g->n * sizeof *g->x;
    const trs_exec exec = {.work = work, .stream = stream};
    assert_int_equal(trs_device_put(TRS_CUDA(0), dev, g->b, bytes), TRS_OK);
    assert_status(trs_solve(p, op, 1, dev, g->n, dev + g->n, g->n, &exec), TRS_OK);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(trs_device_get(TRS_CUDA(0), g->x, dev + g->n, bytes), TRS_OK);
    check(g, op != TRS_N, g->x);
}

static double *vectors(const grid *g)
{
    void *dev = NULL;
    assert_int_equal(trs_device_new(TRS_CUDA(0), 2 * (size_t)g->n * sizeof(double), &dev), TRS_OK);
    return dev;
}

static void free_all(cudaStream_t stream, double *dev)
{
    cudaStreamDestroy(stream);
    trs_device_free(TRS_CUDA(0), dev);
}

static void test_device(void **state)
{
    (void)state;
    if (!has_device()) skip();
    grid g = grid_new(60);
    double *dev = vectors(&g);
    cudaStream_t stream = new_stream();
    for (int resident = 0; resident < 2; resident++) {
        trs_mat there = mat_to_device(&g.a);
        const trs_options opt = {.device = TRS_CUDA(0), .ops = 3};
        trs_plan *p = NULL;
        trs_work *work = NULL;
        assert_status(trs_plan_create(&p, resident ? &there : &g.a, &opt), TRS_OK);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_string_equal(info_of(p).solver, FIRST_THERE);
        assert_status(trs_work_create(&work, p, 1), TRS_OK);
        assert_int_equal(info_of(p).levels, 0); /* it begins without them */
        solve_there(&g, p, TRS_N, dev, NULL, stream);
        assert_null(p->side[0].op.lv.ptr);
        solve_there(&g, p, TRS_N, dev, NULL, stream);
        assert_int_equal(info_of(p).levels, g.levels);
        assert_false(trs_side_knows_levels(&p->side[1]) && resident);
        forbid(FIRST_THERE);
        for (int k = 2; p->side[0].grows_at; k++) { /* to cuda-dataflow, and to the best */
            assert_true(k < 10000);
            solve_there(&g, p, TRS_N, dev, NULL, stream);
        }
        forbid(NULL);
        assert_string_not_equal(info_of(p).solver, FIRST_THERE);
        assert_string_equal(p->side[1].instance.solver->name, FIRST_THERE);
        for (int k = 0; k < 2; k++) {
            for (trs_op op = TRS_N; op <= TRS_T; op++) {
                solve_there(&g, p, op, dev, NULL, stream);
                solve_there(&g, p, op, dev, work, stream);
            }
            new_values(&g);
            const trs_mat *from = &g.a;
            if (resident) {
                mat_free_device(&there);
                there = mat_to_device(&g.a);
                from = &there;
            }
            assert_status(trs_plan_update(p, from, NULL), TRS_OK);
        }
        trs_work_destroy(work);
        trs_plan_destroy(p);
        mat_free_device(&there);
    }
    free_all(stream, dev);
    grid_free(&g);
}

/* A graph that was captured before the plan grows is right after it, with new values too. */
static void test_graph(void **state)
{
    (void)state;
    if (!has_device()) skip();
    grid g = grid_new(60);
    const size_t bytes = (size_t)g.n * sizeof(double);
    double *dev = vectors(&g);
    cudaStream_t stream = new_stream();
    const trs_exec exec = {.stream = stream};
    const trs_options opt = {.device = TRS_CUDA(0), .ops = 3};
    trs_plan *p = ready(&g, &opt);
    begin_capture(stream);
    assert_status(trs_solve(p, TRS_N, 1, dev, g.n, dev + g.n, g.n, &exec), TRS_OK);
    cudaGraphExec_t graph = end_capture(stream);
    forbid(FIRST_THERE);
    assert_status(trs_plan_tune(p), TRS_OK);
    forbid(NULL);
    assert_string_not_equal(info_of(p).solver, FIRST_THERE);
    for (int k = 0; k < 3; k++) {
        solve_there(&g, p, TRS_N, dev, NULL, stream);
        solve_there(&g, p, TRS_T, dev, NULL, stream);
        assert_int_equal(trs_device_put(TRS_CUDA(0), dev, g.b, bytes), TRS_OK);
        replay(graph, stream);
        assert_int_equal(trs_device_get(TRS_CUDA(0), g.x, dev + g.n, bytes), TRS_OK);
        check(&g, false, g.x);
        new_values(&g);
        assert_status(trs_plan_update(p, &g.a, NULL), TRS_OK);
    }
    cudaGraphExecDestroy(graph);
    trs_plan_destroy(p);
    free_all(stream, dev);
    grid_free(&g);
}

/* B and X on the host, and growth to a solver on the device: work spaces of before solve on the host, as they did. */
static void test_to_the_device(void **state)
{
    (void)state;
    if (!has_device()) skip();
    grid g = grid_new(60);
    trs_plan *p = ready(&g, NULL);
    trs_work *work = NULL;
    assert_string_equal(info_of(p).solver, FIRST);
    assert_status(trs_work_create(&work, p, 1), TRS_OK);
    forbid("cpu-serial,cpu-level,cpu-ell,cpu-stencil,cpu-blocked,cpu-supernodal,cpu-dense");
    assert_status(trs_plan_tune(p), TRS_OK);
    forbid(NULL);
    assert_true(info_of(p).on_gpu);
    for (int k = 0; k < 3; k++) {
        solve(&g, p, TRS_N, NULL);
        solve(&g, p, TRS_N, work);
        new_values(&g);
        trs_mat there = mat_to_device(&g.a);
        assert_status(trs_plan_update(p, k == 1 ? &there : &g.a, NULL), TRS_OK);
        mat_free_device(&there);
    }
    trs_work_destroy(work);
    trs_plan_destroy(p);
    grid_free(&g);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_options),       cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_levels),        cmocka_unit_test(test_same),
        cmocka_unit_test(test_sides),         cmocka_unit_test(test_tune),
        cmocka_unit_test(test_work_spaces),   cmocka_unit_test(test_nothing_kept),
        cmocka_unit_test(test_allocations),   cmocka_unit_test(test_no_memory),
#ifdef HAVE_CUDA
        cmocka_unit_test(test_device),        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_to_the_device),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
