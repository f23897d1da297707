/* t_capture.c: a solve that is captured in a CUDA graph is replayed with new values of b, and after updates; the
 * residual of each x, computed by the test, is within the bound of the solver's class.
 *
 * Solvers without TRS_CAP_CAPTURE are tried as well, and the test says which of them could claim it. */
#include "tests/common/stream.h"

#ifdef HAVE_CUDA

typedef struct scene {
    const trs_solver *solver;
    model m;
    form f;
    trs_dtype dtype;
    trs_plan *plan;
    trs_work *work;
    trs_op op;
    int nrhs;
    size_t bytes;
    void *b, *x; /* [n*nrhs] on the host */
    void *dev_b, *dev_x;
    cudaStream_t stream;
    random_t r;
} scene;

static trs_mat show_scene(scene *c)
{
    trs_mat a = show(&c->m, &c->f, &c->r);
    if (c->solver->family == TRS_GENERAL_DENSE) a.kind = 0;
    return a;
}

static bool scene_new(scene *c, const trs_solver *s, int number)
{
    const bool general = s->family == TRS_GENERAL_DENSE;
    *c = (scene){.solver = s, .r = {(uint64_t)number}, .op = number & 1 ? TRS_T : TRS_N};
    c->dtype = (trs_dtype)(number % 4);
    c->nrhs = number & 4 ? 3 : 1;
    static const pattern patterns[] = {RANDOM, WIDE, CHAIN};
    c->f = (form){.dtype = c->dtype, .format = general ? TRS_DENSE : TRS_CSR};
    c->f.ptr_bits = 64, c->f.idx_bits = 32;
    c->m = model_new(general ? FULL : patterns[number / 2 % 3], false, s->full || general,
                     trs_is_complex(c->dtype), &c->r);
    trs_mat a = show_scene(c);
    trs_options opt = {.solver = s->name, .device = TRS_CUDA(0), .ops = 3, .nrhs = c->nrhs};
    opt.order = (trs_order)(number % 3);
    int rc = trs_plan_create(&c->plan, &a, &opt);
    if (!rc) rc = trs_plan_analyse(c->plan);
    mat_free(&a);
    if (rc == TRS_ESUPPORT) return false;
    assert_status(rc, TRS_OK);
    assert_int_equal(trs_work_create(&c->work, c->plan, c->nrhs), TRS_OK);
    c->bytes = (size_t)(c->m.n * c->nrhs) * trs_size(c->dtype);
    c->b = malloc(c->bytes), c->x = malloc(c->bytes);
    assert_true(c->b && c->x);
    assert_int_equal(trs_device_new(TRS_CUDA(0), c->bytes, &c->dev_b), TRS_OK);
    assert_int_equal(trs_device_new(TRS_CUDA(0), c->bytes, &c->dev_x), TRS_OK);
    c->stream = (cudaStream_t)stream_new(s);
    return true;
}

static void scene_free(scene *c)
{
    stream_free(c->stream);
    trs_device_free(TRS_CUDA(0), c->dev_b);
    trs_device_free(TRS_CUDA(0), c->dev_x);
    trs_work_destroy(c->work);
    trs_plan_destroy(c->plan);
    model_free(&c->m);
    free(c->b), free(c->x);
}

static void new_b(scene *c)
{
    for (int i = 0; i < c->m.n * c->nrhs; i++)
        set_number(c->b, c->dtype, i, random_uniform(&c->r) + random_uniform(&c->r) * I);
    memset(c->x, 0x5a, c->bytes);
    assert_int_equal(trs_device_put(TRS_CUDA(0), c->dev_b, c->b, c->bytes), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), c->dev_x, c->x, c->bytes), TRS_OK);
}

static void check_x(scene *c)
{
    const size_t column = (size_t)c->m.n * trs_size(c->dtype);
    assert_int_equal(trs_device_get(TRS_CUDA(0), c->x, c->dev_x, c->bytes), TRS_OK);
    for (int r = 0; r < c->nrhs; r++) {
        quality q = quality_of(&c->m, false, c->op, c->dtype, (char *)c->b + (size_t)r * column, 1,
                               (char *)c->x + (size_t)r * column, 1);
        assert_at_most(q.normwise, 8 * (c->m.n + 1) * epsilon(c->dtype));
    }
}

/* Without the claim, or with arrays on the host, a solve that is being captured is refused. */
static void assert_refused(scene *c)
{
    const trs_exec exec = {.stream = c->stream, .work = c->work};
    cudaGraph_t graph = NULL;
    if (c->solver->caps & TRS_CAP_CAPTURE) return;
    assert_int_equal(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    int rc = trs_solve(c->plan, c->op, c->nrhs, c->dev_b, c->m.n, c->dev_x, c->m.n, &exec);
    assert_int_equal(cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    assert_int_equal(rc, TRS_ESUPPORT);
    cudaGraphDestroy(graph);
    c->plan->capture_anyhow = true;
}

/* The graph of one solve, never run before; NULL: it could not be captured. */
static cudaGraphExec_t capture(scene *c)
{
    const trs_exec exec = {.stream = c->stream, .work = c->work};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t run = NULL;
    assert_int_equal(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    int rc = trs_solve(c->plan, c->op, c->nrhs, c->dev_b, c->m.n, c->dev_x, c->m.n, &exec);
    cudaError_t e = cudaStreamEndCapture(c->stream, &graph);
    if (!rc && e == cudaSuccess) e = cudaGraphInstantiate(&run, graph, 0);
    if (rc || e != cudaSuccess)
        print_message("%s: solve %d, capture %s\n", c->solver->name, rc, cudaGetErrorString(e));
    if (graph) cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return rc || e != cudaSuccess ? NULL : run;
}

/* Other values, those of two rows in the middle times factor, but for their diagonals: what some solvers make of
 * them at an update may grow so much then that they have to do it another way. */
static void update(scene *c, double factor)
{
    for (int64_t k = 0; k < c->m.nnz; k++) {
        const int i = c->m.row[k];
        if (i == c->m.col[k]) continue;
        c->m.val[k] *= 1 + random_uniform(&c->r) / 8;
        if (i / 2 == c->m.n / 4) c->m.val[k] *= factor;
    }
    trs_mat a = show_scene(c);
    assert_status(trs_plan_update(c->plan, &a, NULL), TRS_OK);
    mat_free(&a);
}

static void run_again(scene *c, cudaGraphExec_t graph)
{
    new_b(c);
    assert_int_equal(cudaGraphLaunch(graph, c->stream), cudaSuccess);
    stream_wait(c->stream);
    check_x(c);
}

/* Not cuda-merged's growth: t_merged. */
static void run_updates(scene *c, cudaGraphExec_t graph)
{
    const bool steep =
        c->solver->family == TRS_TRIANGLE && strcmp(c->solver->name, "cuda-merged") != 0;
    const double factors[] = {1, steep ? 1e5 : 1, steep ? 1e-5 : 1};
    if (!(c->solver->caps & TRS_CAP_CAPTURE)) return;
    for (int k = 0; k < 3; k++) {
        update(c, factors[k]);
        run_again(c, graph);
    }
}

static bool run_case(const trs_solver *s, int number)
{
    scene c;
    cudaGraphExec_t graph = NULL;
    const bool can = scene_new(&c, s, number);
    if (can) assert_refused(&c);
    if (can) graph = capture(&c);
    for (int round = 0; graph && round < 3; round++) run_again(&c, graph);
    if (graph) run_updates(&c, graph);
    if (graph) cudaGraphExecDestroy(graph);
    scene_free(&c);
    return !can || graph;
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    char why[200];
    bool good = true;
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    for (int k = 0; k < 12 && good; k++) good = run_case(s, k);
    if (s->caps & TRS_CAP_CAPTURE) assert_true(good);
    else print_message("%s: does not claim it; %s\n", s->name, good ? "could" : "could not");
}

int main(void)
{
    struct CMUnitTest tests[64];
    int count = 0;
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->place != TRS_ON_CUDA) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    return _cmocka_run_group_tests("t_capture", tests, (size_t)count, NULL, NULL);
}

#else

/* No solver of a build without CUDA says that it can be captured. */
static void test_none(void **state)
{
    (void)state;
    for (int k = 0; trs_solver_at(k); k++) assert_false(trs_solver_at(k)->caps & TRS_CAP_CAPTURE);
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
