/* t_merged.c: the solver cuda-merged on triangles whose levels are certain to be merged, and where the growth of the
 * values is too large, so that T itself is solved.  What the passes make is compared in t_rewrite.c. */
#include "tests/common/stream.h"

#include "base/device.h"
#include "core/refresh.h"

#include <math.h>

/* How large the entries of row i of n are, beside diagonals of about 1: 0.3, but steep in two levels in the middle. */
static double size_of(int i, int n, int width, double steep)
{
    return i >= n / 2 && i < n / 2 + 2 * width ? steep : 0.3;
}

/* A triangle of n / width levels: row i needs row i - width, and up to `more` rows before that one, at random. */
static model deep(int n, int width, int more, double steep, random_t *r)
{
    model m = {.n = n};
    for (int i = 0; i < n; i++) {
        const int from = i < 40 * width ? 0 : i - 40 * width;
        const double size = size_of(i, n, width, steep);
        int last = -1;
        for (int k = 0; k < more && i - width > from; k++) {
            const int j = from + random_below(r, i - width - from);
            if (j > last) model_add(&m, i, last = j, size * random_uniform(r) / (1 + more));
        }
        if (i >= width) model_add(&m, i, i - width, size * (1 + random_uniform(r) / 4));
        model_add(&m, i, i, 1 + random_uniform(r) / 4);
    }
    return m;
}

/* The same with hubs: long rows (merge.h), which many rows need.  The last row needs more rows of one level than can be
 * substituted into a row. */
static model with_hubs(int n, int width, random_t *r)
{
    model m = {.n = n};
    for (int i = 0; i < n; i++) {
        const bool last = i == n - 1, hub = i % 97 < 3 || last;
        const int half = i % 97 ? i / 2 : 0;
        const int from = last ? n - 1 - width : half, step = last ? 1 : 1 + i % 7;
        for (int j = from; hub && j < i - 1; j += step) model_add(&m, i, j, random_uniform(r) / n);
        if (i > 0 && hub) model_add(&m, i, i - 1, 0.3 * random_uniform(r));
        if (i >= width && !hub) model_add(&m, i, i - width + i % 2, 0.3 * random_uniform(r));
        model_add(&m, i, i, 1 + random_uniform(r) / 4);
    }
    return m;
}

static trs_plan *analysed(const trs_mat *a, const trs_options *opt, trs_info *info)
{
    trs_plan *p = NULL;
    int rc = trs_plan_create(&p, a, opt);
    assert_status(rc, TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_plan_info(p, info), TRS_OK);
    return p;
}

/* How good the x of a plan by cuda-merged is, and the growth that the plan reports. */
static quality solve_by(const model *m, const trs_mat *a, trs_dtype d, trs_op op, double *growth)
{
    const trs_options opt = {.solver = "cuda-merged", .ops = 1u << op};
    random_t r = {7};
    trs_info info;
    trs_plan *p = analysed(a, &opt, &info);
    char *b = calloc(2, (size_t)m->n * trs_size(d)), *x = b + (size_t)m->n * trs_size(d);
    assert_non_null(b);
    for (int i = 0; i < m->n; i++) set_number(b, d, i, random_uniform(&r));
    assert_status(trs_solve(p, op, 1, b, m->n, x, m->n, NULL), TRS_OK);
    *growth = info.growth;
    trs_plan_destroy(p);
    const quality q = quality_of(m, false, op, d, b, 1, x, 1);
    free(b);
    return q;
}

/* Some level is merged, and x is as good as is promised; with steep values it is as good as by substitution. */
static void run(int n, int width, int more, double steep, trs_dtype d)
{
    random_t r = {(uint64_t)(n + width + more)};
    model m = deep(n, width, more, steep, &r);
    const form f = {.dtype = d, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_mat a = show(&m, &f, &r);
    for (trs_op op = TRS_N; op <= TRS_T; op++) {
        double growth;
        const quality q = solve_by(&m, &a, d, op, &growth);
        if (steep > 1) {
            assert_true(growth == 1);
            assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(d));
        } else {
            assert_true(growth > 1); /* so something was merged */
            assert_at_most(q.normwise, 4 * (q.longest + 1) * epsilon(d) * growth);
        }
    }
    mat_free(&a);
    model_free(&m);
}

static void test_merged(void **state)
{
    (void)state;
    static const trs_dtype types[] = {TRS_F32, TRS_F64};
    for (int k = 0; k < 2; k++) {
        run(3000, 1, 0, 0.3, types[k]);
        run(5000, 7, 2, 0.3, types[k]);
        run(20000, 100, 3, 0.3, types[k]);
        run(150000, 500, 2, 0.3, types[k]); /* large enough to be sampled first */
    }
}

static void test_hubs(void **state)
{
    static const struct {
        int n, width;
    } cases[] = {{500, 5}, {3000, 40}, {9000, 3000}};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (trs_dtype d = TRS_F64; d <= TRS_C32; d++) {
            random_t r = {(uint64_t)k};
            model m = with_hubs(cases[k].n, cases[k].width, &r);
            const form f = {.dtype = d, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
            trs_mat a = show(&m, &f, &r);
            for (trs_op op = TRS_N; op <= TRS_T; op++) {
                double growth;
                const quality q = solve_by(&m, &a, d, op, &growth);
                assert_true(growth > 1);
                assert_at_most(q.normwise, 4 * (q.longest + 1) * epsilon(d) * growth);
            }
            mat_free(&a);
            model_free(&m);
        }
}

static void test_growth(void **state)
{
    (void)state;
    run(600, 1, 0, 1e4, TRS_F64);
    run(4000, 10, 2, 1e5, TRS_F64);
}

/* Some entry of T' is too large for float, though none of T, of x and of N is: the equation of row SUBSTITUTED, in an
 * even level, is substituted into row REWRITTEN.  Column 0 is never in the level just before. */
static void test_overflow(void **state)
{
    (void)state;
    enum { N = 4000, WIDTH = 10, SUBSTITUTED = 200 * WIDTH, REWRITTEN = SUBSTITUTED + WIDTH };
    const double size = 0x1p58, tiny = 0x1p-69, most = 0.95 * 0x1p127;
    random_t r = {5};
    model m = deep(N, WIDTH, 0, 0.3, &r);
    float b[N], x[N];
    for (int64_t k = 0; k < m.nnz; k++) {
        const bool pivot = m.row[k] == m.col[k];
        if (m.row[k] == SUBSTITUTED && pivot) m.val[k] = size;
        if (m.row[k] == REWRITTEN) m.val[k] = pivot ? size : 2.25 * size;
    }
    model_add(&m, SUBSTITUTED, 0, most);
    for (int i = 0; i < N; i++) {
        const double by = i == SUBSTITUTED || i == REWRITTEN ? size : 1;
        b[i] = (float)(random_uniform(&r) * (i == 0 ? tiny : by));
    }
    const form f = {.dtype = TRS_F32, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
    const trs_options opt = {.solver = "cuda-merged"};
    trs_mat a = show(&m, &f, &r);
    trs_info info;
    trs_plan *p = analysed(&a, &opt, &info);
    assert_status(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    const quality q = quality_of(&m, false, TRS_N, TRS_F32, b, 1, x, 1);
    assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(TRS_F32));
    assert_true(info.growth == 1);
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
}

/* ---- updates -------------------------------------------------------------------------------------------- */

static void new_values(model *m, int width, double steep, random_t *r)
{
    for (int64_t k = 0; k < m->nnz; k++)
        if (m->row[k] != m->col[k])
            m->val[k] = size_of(m->row[k], m->n, width, steep) * random_uniform(r) / 3;
}

static void update(trs_plan *p, const model *m, trs_dtype d)
{
    const form f = {.dtype = d, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
    random_t r = {1};
    trs_mat a = show(m, &f, &r);
    assert_status(trs_plan_update(p, &a, NULL), TRS_OK);
    mat_free(&a);
}

/* Values that grow and values that do not, in turn, on one plan; x is right each time. */
static void test_update(void **state)
{
    (void)state;
    random_t r = {3};
    enum { N = 4000, WIDTH = 8 };
    model m = deep(N, WIDTH, 2, 0.3, &r);
    const form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
    trs_mat a = show(&m, &f, &r);
    const trs_options opt = {.solver = "cuda-merged"};
    const size_t n = (size_t)m.n;
    double *b = calloc(2 * n, sizeof *b);
    trs_info info;
    trs_plan *p = analysed(&a, &opt, &info);
    assert_non_null(b);
    for (size_t i = 0; i < n; i++) b[i] = random_uniform(&r);
    for (int round = 0; round < 4; round++) {
        new_values(&m, WIDTH, round % 2 ? 1e5 : 0.3, &r);
        update(p, &m, TRS_F64);
        assert_status(trs_plan_info(p, &info), TRS_OK);
        assert_true(round % 2 ? info.growth == 1 : info.growth > 1);
        assert_status(trs_solve(p, TRS_N, 1, b, m.n, b + n, m.n, NULL), TRS_OK);
        const quality q = quality_of(&m, false, TRS_N, TRS_F64, b, 1, b + n, 1);
        assert_at_most(q.normwise, 4 * (q.longest + 1) * epsilon(TRS_F64) * info.growth);
    }
    trs_plan_destroy(p);
    free(b);
    mat_free(&a);
    model_free(&m);
}

/* x is as good as the growth says, or all NaN. */
static void check_refreshed(trs_plan *p, const model *m, const double *b, bool hopeless)
{
    const size_t n = (size_t)m->n;
    double *x = calloc(n, sizeof *x), growth = 0;
    bool nothing = true;
    assert_non_null(x);
    assert_status(trs_solve(p, TRS_N, 1, b, m->n, x, m->n, NULL), TRS_OK);
    assert_status(trs_plan_growth(p, NULL, &growth), TRS_OK);
    for (size_t i = 0; i < n; i++) nothing = nothing && isnan(x[i]);
    const quality q = quality_of(m, false, TRS_N, TRS_F64, b, 1, x, 1);
    assert_int_equal(nothing, hopeless);
    if (hopeless) assert_true(growth > 1e8);
    else assert_at_most(q.normwise, 4 * (q.longest + 1) * epsilon(TRS_F64) * growth);
    free(x);
}

static void refresh(trs_plan *p, const model *m)
{
    const form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
    random_t r = {1};
    trs_mat a = show(m, &f, &r), there = mat_to_device(&a);
    assert_status(trs_plan_refresh(p, &there, NULL), TRS_OK);
    mat_free_device(&there);
    mat_free(&a);
}

/* A refresh goes on with T' and tells the growth; what an update has found to grow too much is solved by T. */
static void test_refresh(void **state)
{
    (void)state;
    random_t r = {3};
    enum { N = 4000, WIDTH = 8 };
    model m = deep(N, WIDTH, 2, 0.3, &r);
    const form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
    const trs_options opt = {.solver = "cuda-merged"};
    trs_mat a = show(&m, &f, &r);
    double b[N], growth;
    trs_info info;
    trs_plan *p = analysed(&a, &opt, &info);
    assert_true(trs_plan_refreshes(p));
    for (int i = 0; i < N; i++) b[i] = random_uniform(&r);
    for (int round = 0; round < 4; round++) {
        new_values(&m, WIDTH, round % 2 ? 1e5 : 0.3, &r);
        refresh(p, &m);
        check_refreshed(p, &m, b, round % 2);
    }
    update(p, &m, TRS_F64);
    for (int round = 0; round < 2; round++) {
        check_refreshed(p, &m, b, false);
        assert_status(trs_plan_growth(p, NULL, &growth), TRS_OK);
        assert_true(growth == 1);
        new_values(&m, WIDTH, round ? 1e5 : 0.3, &r);
        refresh(p, &m);
    }
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
}

/* A plan that has chosen cuda-merged looks for another solver when values grow. */
static void test_choice(void **state)
{
    const trs_options opt = {.device = TRS_CUDA(0), .solves = TRS_SOLVES_MANY};
    const form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    double predicted = 0;
    (void)state;
    for (int steep = 0; steep < 2; steep++) {
        random_t r = {5};
        model m = deep(10000, 50, 2, steep ? 1e5 : 0.3, &r);
        trs_mat a = show(&m, &f, &r);
        trs_info info;
        trs_plan *p = analysed(&a, &opt, &info);
        print_message("# %s: %s\n", info.solver, info.reason);
        assert_int_equal(strcmp(info.solver, "cuda-merged") != 0, steep);
        assert_int_equal(strstr(info.reason, "; cuda-merged ") != NULL, steep);
        assert_true(info.predicted > predicted);
        predicted = info.predicted;
        trs_plan_destroy(p);
        mat_free(&a);
        model_free(&m);
    }
}

#ifdef HAVE_CUDA

/* A solve that is captured, its B and X. */
typedef struct replay {
    trs_plan *p;
    const model *m;
    trs_work *work;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    double *b, *x; /* on the device */
    random_t r;
} replay;

static replay replay_new(trs_plan *p, const model *m)
{
    const size_t bytes = (size_t)m->n * sizeof(double);
    const trs_solver *s = trs_solver_named("cuda-merged");
    replay c = {.p = p, .m = m, .r = {11}, .stream = (cudaStream_t)stream_new(s)};
    cudaGraph_t graph;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, (void **)&c.b), TRS_OK);
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, (void **)&c.x), TRS_OK);
    assert_int_equal(trs_work_create(&c.work, p, 1), TRS_OK);
    const trs_exec exec = {.stream = c.stream, .work = c.work};
    assert_int_equal(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    assert_int_equal(trs_solve(p, TRS_N, 1, c.b, m->n, c.x, m->n, &exec), TRS_OK);
    assert_int_equal(cudaStreamEndCapture(c.stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&c.graph, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    return c;
}

static void replay_free(replay *c)
{
    cudaGraphExecDestroy(c->graph);
    trs_work_destroy(c->work);
    stream_free(c->stream);
    trs_device_free(TRS_CUDA(0), c->b);
    trs_device_free(TRS_CUDA(0), c->x);
}

/* x is as good as the plan says; refused: all of x is NaN. */
static void run_replay(replay *c, bool refused)
{
    const int n = c->m->n;
    const size_t bytes = (size_t)n * sizeof(double);
    trs_info info;
    double *b = calloc(2 * (size_t)n, sizeof *b), *x = b + n;
    bool nothing = true;
    assert_non_null(b);
    for (int i = 0; i < n; i++) b[i] = random_uniform(&c->r);
    assert_int_equal(trs_device_put(TRS_CUDA(0), c->b, b, bytes), TRS_OK);
    assert_int_equal(cudaGraphLaunch(c->graph, c->stream), cudaSuccess);
    stream_wait(c->stream);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, c->x, bytes), TRS_OK);
    assert_status(trs_plan_info(c->p, &info), TRS_OK);
    for (int i = 0; i < n; i++) nothing = nothing && isnan(x[i]);
    const quality q = quality_of(c->m, false, TRS_N, TRS_F64, b, 1, x, 1);
    const double most = 4 * (q.longest + 1) * epsilon(TRS_F64);
    assert_int_equal(nothing, refused);
    if (refused) assert_true(info.growth == 1);
    else if (info.growth > 1) assert_at_most(q.normwise, most * info.growth);
    else assert_at_most(q.omega, most);
    free(b);
}

/* One solve is captured while T' is solved, another while T is; both are replayed after updates that change which of
 * the two a new solve would take. */
static void test_replay(void **state)
{
    (void)state;
    enum { N = 4000, WIDTH = 8 };
    const double steep = 1e8;
    random_t r = {9};
    model m = deep(N, WIDTH, 2, 0.3, &r);
    const form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 32, .idx_bits = 32};
    const trs_options opt = {.solver = "cuda-merged", .device = TRS_CUDA(0)};
    trs_mat a = show(&m, &f, &r);
    trs_info info;
    trs_plan *p = analysed(&a, &opt, &info);
    mat_free(&a);
    replay merged = replay_new(p, &m);
    run_replay(&merged, false);
    new_values(&m, WIDTH, steep, &r);
    update(p, &m, TRS_F64);
    replay plain = replay_new(p, &m);
    for (int round = 0; round < 4; round++) {
        const bool grown = round % 2 == 0;
        run_replay(&merged, grown);
        run_replay(&plain, false);
        new_values(&m, WIDTH, grown ? 0.3 : steep, &r);
        update(p, &m, TRS_F64);
    }
    replay_free(&merged);
    replay_free(&plain);
    trs_plan_destroy(p);
    model_free(&m);
}

#else

static void test_replay(void **state)
{
    (void)state;
    skip();
}

#endif

static void test_without_a_device(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest none[] = {cmocka_unit_test(test_without_a_device)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merged), cmocka_unit_test(test_hubs),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_update), cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_choice), cmocka_unit_test(test_replay)};
    char why[200];
    if (!trs_gpu_probe(0, why, sizeof why)) return cmocka_run_group_tests(tests, NULL, NULL);
    print_message("%s\n", why);
    return cmocka_run_group_tests(none, NULL, NULL);
}
