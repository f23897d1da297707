/* t_refresh.c: new values of a plan in the order of a stream: by every solver that refreshes, for T and T' of a plan, what
 * an update with the same values and a fresh plan give, bit for bit; captured in a CUDA graph with solves and replayed with other values in
 * the same array; by two plans on two streams; and refused where it has to be. */
#include "tests/common/stream.h"

#include "base/device.h"
#include "core/refresh.h"

/* A solver on the host takes new values there, and says so. */
static void test_host(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 1, 3};
    const int32_t idx[] = {0, 0, 1};
    const double val[] = {1, 2, 3};
    const trs_mat a = {.n = 2, .nnz = 3, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    const trs_options opt = {.solver = "cpu-serial"};
    trs_plan *p = NULL;
    double growth = -1;
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_int_equal(trs_plan_refresh(p, &a, NULL), TRS_ESTATE);
    assert_false(trs_plan_refreshes(p));
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_false(trs_plan_refreshes(p));
    assert_int_equal(trs_plan_refresh(p, &a, NULL), TRS_ESUPPORT);
    assert_non_null(strstr(trs_message(), "cpu-serial"));
    assert_int_equal(trs_plan_refresh(NULL, &a, NULL), TRS_EARG);
    assert_int_equal(trs_plan_refresh(p, NULL, NULL), TRS_EARG);
    assert_status(trs_plan_growth(p, NULL, &growth), TRS_OK);
    assert_true(growth == 0);
    trs_plan_destroy(p);
}

#ifdef HAVE_CUDA

static trs_plan *analysed(const trs_mat *a, const char *solver, bool required)
{
    const trs_options opt = {.solver = solver, .device = TRS_CUDA(0), .ops = 3};
    trs_plan *p = NULL;
    assert_status(trs_plan_create(&p, a, &opt), TRS_OK);
    if (required) trs_plan_require_refresh(p);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

/* A matrix whose values are on the device, and what is solved for. */
typedef struct scene {
    const trs_solver *solver;
    model m;
    form f;
    trs_mat a, there; /* the same on the host and on the device */
    size_t bytes;     /* of a vector */
    char *b, *x;      /* x [2]: of N and of T */
    char *dev_b;
    cudaStream_t stream;
    random_t r;
} scene;

/* The entries of a row in the same order each time. */
static trs_mat shown(const scene *c)
{
    random_t order = {77};
    return show(&c->m, &c->f, &order);
}

/* m: NULL: the pattern that has this number. */
static scene begin_with(const trs_solver *s, int number, const model *m)
{
    static const pattern patterns[] = {RANDOM, WIDE, CHAIN, ARROW, TWO_CHAINS, ONE, EMPTY};
    scene c = {.solver = s, .r = {(uint64_t)number + 1}};
    c.f = (form){.dtype = (trs_dtype)(number % 4), .format = number % 3 == 2 ? TRS_CSC : TRS_CSR};
    c.f.ptr_bits = 64, c.f.idx_bits = 32;
    c.f.shuffled = number % 5 == 4;
    if (m) c.m = *m;
    else
        c.m = model_new(patterns[number % 7], number / 2 % 2, s->full, trs_is_complex(c.f.dtype),
                        &c.r);
    c.a = shown(&c);
    c.there = mat_to_device(&c.a);
    c.bytes = (size_t)c.m.n * trs_size(c.f.dtype);
    c.b = calloc(3, c.bytes + 1);
    assert_non_null(c.b);
    c.x = c.b + c.bytes;
    assert_int_equal(trs_device_new(TRS_CUDA(0), c.bytes, (void **)&c.dev_b), TRS_OK);
    c.stream = (cudaStream_t)stream_new(s);
    return c;
}

static scene begin(const trs_solver *s, int number)
{
    return begin_with(s, number, NULL);
}

static void end(scene *c)
{
    stream_free(c->stream);
    trs_device_free(TRS_CUDA(0), c->dev_b);
    mat_free_device(&c->there);
    mat_free(&c->a);
    model_free(&c->m);
    free(c->b);
}

/* The values of the model in the same array on the device, and another b. */
static void send_values(scene *c)
{
    mat_free(&c->a);
    c->a = shown(c);
    assert_int_equal(trs_device_put(TRS_CUDA(0), (void *)c->there.val, c->a.val,
                                    (size_t)c->a.nnz * trs_size(c->f.dtype)),
                     TRS_OK);
    for (int i = 0; i < c->m.n; i++)
        set_number(c->b, c->f.dtype, i, random_uniform(&c->r) + random_uniform(&c->r) * I);
    assert_int_equal(trs_device_put(TRS_CUDA(0), c->dev_b, c->b, c->bytes), TRS_OK);
}

static void new_values(scene *c)
{
    for (int64_t k = 0; k < c->m.nnz; k++) c->m.val[k] *= 1 + random_uniform(&c->r) / 8;
    send_values(c);
}

/* Both solves, on the device. */
static void enqueue(const scene *c, const trs_plan *p, char *dev_x, const trs_exec *exec)
{
    const int n = c->m.n;
    for (trs_op op = TRS_N; op <= TRS_T; op++)
        assert_status(trs_solve(p, op, 1, c->dev_b, n, dev_x + (size_t)op * c->bytes, n, exec),
                      TRS_OK);
}

static char *vectors_new(const scene *c)
{
    char *x = NULL;
    assert_int_equal(trs_device_new(TRS_CUDA(0), 2 * c->bytes, (void **)&x), TRS_OK);
    assert_int_equal(cudaMemset(x, 0x5a, 2 * c->bytes), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return x;
}

static void check(const scene *c, const char *dev_x)
{
    assert_int_equal(trs_device_get(TRS_CUDA(0), c->x, dev_x, 2 * c->bytes), TRS_OK);
    for (trs_op op = TRS_N; op <= TRS_T; op++) {
        const quality q =
            quality_of(&c->m, false, op, c->f.dtype, c->b, 1, c->x + (size_t)op * c->bytes, 1);
        assert_at_most(q.normwise, 8 * (c->m.n + 1) * epsilon(c->f.dtype));
    }
}

/* kept [2]: the x of a plan that has been refreshed.  A plan that has seen no other values gives the same. */
static void compare_with_fresh(scene *c, const char *kept)
{
    trs_plan *p = analysed(&c->there, c->solver->name, true);
    char *x = vectors_new(c);
    enqueue(c, p, x, NULL);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    check(c, x);
    if (c->solver->caps & TRS_CAP_BITWISE) assert_memory_equal(kept, c->x, 2 * c->bytes);
    trs_device_free(TRS_CUDA(0), x);
    trs_plan_destroy(p);
}

/* The bits of a refresh on a stream are those of an update with the same values, by a plan that need not refresh. */
static void compare(scene *c)
{
    trs_plan *p = analysed(&c->there, c->solver->name, true);
    trs_plan *q = analysed(&c->there, c->solver->name, false);
    char *x = vectors_new(c), *y = vectors_new(c), *kept = malloc(2 * c->bytes + 1);
    const trs_exec exec = {.stream = c->stream};
    assert_non_null(kept);
    assert_true(trs_plan_refreshes(p));
    for (int round = 0; round < 3; round++) {
        new_values(c);
        assert_status(trs_plan_refresh(p, &c->there, &exec), TRS_OK);
        enqueue(c, p, x, &exec);
        stream_wait(c->stream);
        check(c, x);
        memcpy(kept, c->x, 2 * c->bytes);
        assert_status(trs_plan_update(q, round % 2 ? &c->a : &c->there, NULL), TRS_OK);
        enqueue(c, q, y, NULL);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
        check(c, y);
        if (c->solver->caps & TRS_CAP_BITWISE) assert_memory_equal(kept, c->x, 2 * c->bytes);
    }
    compare_with_fresh(c, kept);
    /* an update after a refresh, from the host */
    new_values(c);
    assert_status(trs_plan_update(p, &c->a, NULL), TRS_OK);
    enqueue(c, p, x, NULL);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    check(c, x);
    free(kept);
    trs_device_free(TRS_CUDA(0), x);
    trs_device_free(TRS_CUDA(0), y);
    trs_plan_destroy(p);
    trs_plan_destroy(q);
}

/* A refresh and both solves as one graph. */
static cudaGraphExec_t capture(scene *c, trs_plan *p, char *x, const trs_exec *exec)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t run = NULL;
    assert_int_equal(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    assert_status(trs_plan_refresh(p, &c->there, exec), TRS_OK);
    enqueue(c, p, x, exec);
    assert_int_equal(cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&run, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    return run;
}

static void replay(scene *c)
{
    trs_plan *p = analysed(&c->there, c->solver->name, true);
    trs_work *work = NULL;
    assert_int_equal(trs_work_create(&work, p, 1), TRS_OK);
    char *x = vectors_new(c);
    const trs_exec exec = {.stream = c->stream, .work = work};
    cudaGraphExec_t graph = capture(c, p, x, &exec);
    for (int round = 0; round < 4; round++) {
        new_values(c);
        if (round == 2) assert_status(trs_plan_update(p, &c->a, NULL), TRS_OK);
        assert_int_equal(cudaGraphLaunch(graph, c->stream), cudaSuccess);
        stream_wait(c->stream);
        check(c, x);
    }
    cudaGraphExecDestroy(graph);
    trs_device_free(TRS_CUDA(0), x);
    trs_work_destroy(work);
    trs_plan_destroy(p);
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    char why[200];
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    for (int k = 0; k < 28; k++) {
        scene c = begin(s, k);
        compare(&c);
        if (s->caps & TRS_CAP_CAPTURE) replay(&c);
        end(&c);
    }
}

/* Two plans, each with a stream of its own, take values and solve at the same time. */
static void test_streams(void **state)
{
    (void)state;
    enum { PLANS = 2, ROUNDS = 20 };
    const trs_solver *s = trs_solver_named("cuda-dataflow");
    scene c[PLANS];
    trs_plan *p[PLANS];
    trs_work *work[PLANS] = {NULL};
    char *x[PLANS];
    if (!s) skip();
    for (int k = 0; k < PLANS; k++) {
        c[k] = begin(s, 7 * k + 1);
        p[k] = analysed(&c[k].there, s->name, true);
        x[k] = vectors_new(&c[k]);
        assert_int_equal(trs_work_create(&work[k], p[k], 1), TRS_OK);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < PLANS; k++) new_values(&c[k]);
        for (int k = 0; k < PLANS; k++) {
            const trs_exec exec = {.stream = c[k].stream, .work = work[k]};
            assert_status(trs_plan_refresh(p[k], &c[k].there, &exec), TRS_OK);
            enqueue(&c[k], p[k], x[k], &exec);
        }
        for (int k = 0; k < PLANS; k++) stream_wait(c[k].stream);
        for (int k = 0; k < PLANS; k++) check(&c[k], x[k]);
    }
    for (int k = 0; k < PLANS; k++) {
        trs_device_free(TRS_CUDA(0), x[k]);
        trs_work_destroy(work[k]);
        trs_plan_destroy(p[k]);
        end(&c[k]);
    }
}

/* Row i needs row i - 1 and, every so many rows, one further back: the host is the fastest in the stream. */
static trs_mat long_chain(int32_t n)
{
    int64_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr), q = ptr ? ptr[0] = 0 : 0;
    int32_t *idx = malloc(3 * (size_t)n * sizeof *idx);
    double *val = malloc(3 * (size_t)n * sizeof *val);
    assert_true(ptr && idx && val);
    for (int32_t i = 0; i < n; i++) {
        if (i % 5 == 4) idx[q] = i - 3, val[q++] = 0.1;
        if (i > 0) idx[q] = i - 1, val[q++] = 0.5;
        idx[q] = i, val[q++] = 2;
        ptr[i + 1] = q;
    }
    return (trs_mat){.n = n, .nnz = q, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
}

/* A plan that has to refresh is not given a solver that cannot, nor one with parts that cannot. */
static void test_choice(void **state)
{
    (void)state;
    for (int k = 0; k < PATTERNS; k++) {
        random_t r = {(uint64_t)k};
        const form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
        model m = model_new((pattern)k, false, false, false, &r);
        trs_mat a = show(&m, &f, &r);
        trs_plan *p = analysed(&a, NULL, true);
        assert_true(trs_plan_refreshes(p));
        trs_plan_destroy(p);
        mat_free(&a);
        model_free(&m);
    }
    trs_mat a = long_chain(100000);
    trs_plan *p = analysed(&a, NULL, true), *free_to_choose = analysed(&a, NULL, false);
    print_message("# a long chain: %s, or %s where it has to refresh\n",
                  free_to_choose->solver->name, p->solver->name);
    assert_true(trs_plan_refreshes(p));
    trs_plan_destroy(p);
    trs_plan_destroy(free_to_choose);
    mat_free(&a);
}

/* Paths within a tile, from tile to tile, and from panel to panel. */
static model paths(void)
{
    model m = {.n = 500};
    for (int i = 0; i < m.n; i++)
        for (int j = 0; j <= i; j++)
            if (i == j || (i - j == 1 && i % 256 < 30) || i - j == 64 || i - j == 320)
                model_add(&m, i, j, 1);
    return m;
}

/* Entries of paths are small or large, whose products are so, too.  Blocks that could not be inverted, or not as a whole, can be
 * with the next values, or the other way round: nothing else is left of the values before. */
static void test_blocks(void **state)
{
    (void)state;
    static const char *const names[] = {"dense-blocked", "cuda-supernodal"};
    static const double near[] = {0.1, 0.1, 2, 0.1, 2, 0.1}, far[] = {0.1, 30, 30, 0.1, 0.1, 30};
    for (int k = 0; k < 2; k++) {
        if (!trs_solver_named(names[k])) continue;
        const model m = paths();
        scene c = begin_with(trs_solver_named(names[k]), 0, &m);
        trs_plan *p = analysed(&c.there, names[k], true);
        char *x = vectors_new(&c), *kept = malloc(2 * c.bytes);
        assert_non_null(kept);
        for (int round = 0; round < 6; round++) {
            for (int64_t e = 0; e < c.m.nnz; e++) {
                const int distance = c.m.row[e] - c.m.col[e];
                if (distance) c.m.val[e] = distance < 64 ? near[round] : far[round];
            }
            send_values(&c);
            assert_status(trs_plan_refresh(p, &c.there, NULL), TRS_OK);
            enqueue(&c, p, x, NULL);
            assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
            check(&c, x);
            memcpy(kept, c.x, 2 * c.bytes);
            compare_with_fresh(&c, kept);
        }
        trs_device_free(TRS_CUDA(0), x);
        trs_plan_destroy(p);
        free(kept);
        end(&c);
    }
}

/* The first refresh of a plan that was not asked to refresh cannot be captured; others can. */
static void test_refused(void **state)
{
    (void)state;
    const trs_solver *s = trs_solver_named("cuda-dataflow");
    if (!s) skip();
    scene c = begin(s, 8);
    trs_plan *p = analysed(&c.a, s->name, false);
    const trs_exec exec = {.stream = c.stream};
    cudaGraph_t graph = NULL;
    assert_int_equal(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    const int first = trs_plan_refresh(p, &c.there, &exec);
    assert_int_equal(cudaStreamEndCapture(c.stream, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
    assert_true(first == TRS_OK || first == TRS_ESTATE);
    assert_true(first == TRS_ESTATE || !p->side[0].op.tri.src); /* then places go to the device */
    assert_int_equal(trs_plan_refresh(p, &c.a, &exec), TRS_EARG);
    trs_mat other = c.there;
    other.nnz++;
    assert_int_equal(trs_plan_refresh(p, &other, &exec), TRS_EARG);
    assert_status(trs_plan_refresh(p, &c.there, &exec), TRS_OK);
    char *x = vectors_new(&c);
    cudaGraphExec_t run = capture(&c, p, x, &exec);
    new_values(&c);
    assert_int_equal(cudaGraphLaunch(run, c.stream), cudaSuccess);
    stream_wait(c.stream);
    check(&c, x);
    cudaGraphExecDestroy(run);
    trs_device_free(TRS_CUDA(0), x);
    trs_plan_destroy(p);
    end(&c);
}

/* Solvers that need the host for new values say so; cuda-host only where it was not asked to refresh. */
static void test_by_host(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda-host", "cusparse"};
    for (int k = 0; k < 2; k++) {
        const char *name = available_solver(names + k, 1);
        if (!name) continue;
        scene c = begin(trs_solver_named(name), 0);
        trs_plan *p = analysed(&c.there, name, false);
        assert_false(trs_plan_refreshes(p));
        assert_int_equal(trs_plan_refresh(p, &c.there, NULL), TRS_ESUPPORT);
        trs_plan_destroy(p);
        end(&c);
    }
}

int main(void)
{
    struct CMUnitTest tests[64] = {cmocka_unit_test(test_host),    cmocka_unit_test(test_streams),
                                   cmocka_unit_test(test_choice),  cmocka_unit_test(test_refused),
                                   cmocka_unit_test(test_by_host), cmocka_unit_test(test_blocks)};
    char why[200];
    int count = 6;
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->place != TRS_ON_CUDA || !s->refreshes) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    if (trs_gpu_probe(0, why, sizeof why)) {
        print_message("%s\n", why);
        count = 1;
    }
    return _cmocka_run_group_tests("t_refresh", tests, (size_t)count, NULL, NULL);
}

#else

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
