/* t_peers.c: a triangle that is cut over the devices of a list: one device, parts that share a device, and two devices where
 * there are two.  All patterns, types and ops that it takes have small residuals, computed by the test; a grid has the x of
 * a serial substitution, after updates, on several streams, in graphs, with NaN in b, with one block, beside kernels that
 * have an SM or all, and with B and X that are split.  What cannot be cut is refused, and nothing lists the solver. */
#include "tests/common/model.h"
#include "tests/peers/lists.h"
#include "tests/common/counter.h"

#include <math.h>
#include <time.h>

#ifdef HAVE_CUDA
#include "tests/common/busy.h"
#include "split.h"
#endif

/* ---- lists of devices -------------------------------------------------------------------------------- */

static const list lists[] = {{1, {1}},    {2, {1, 1}},       {3, {1, 1, 1}},
                             {2, {1, 2}}, {4, {1, 1, 2, 2}}, {5, {1, 2, 2, 2, 2}}};
enum { LISTS = sizeof lists / sizeof lists[0] };

static trs_options options_of(const list *l)
{
    return options_for(l, "cuda-peers");
}

/* ---- small triangles of all kinds ------------------------------------------------------------------------ */

static int longest_row(const model *m, trs_op op)
{
    int *length = zeroed(m->n + 1, sizeof *length), most = 0;
    for (int64_t e = 0; e < m->nnz; e++) length[op == TRS_N ? m->row[e] : m->col[e]]++;
    for (int i = 0; i < m->n; i++) most = length[i] > most ? length[i] : most;
    free(length);
    return most;
}

/* nrhs columns, with a gap behind each. */
static void check_solve(const model *m, const form *f, trs_op op, trs_plan *p, int nrhs,
                        random_t *r)
{
    const size_t size = trs_size(f->dtype), ld = (size_t)m->n + 3, bytes = ld * (size_t)nrhs * size;
    char *b = zeroed((int64_t)bytes, 1), *x = zeroed((int64_t)bytes, 1);
    for (int64_t k = 0; k < (int64_t)ld * nrhs; k++)
        set_number(b, f->dtype, k, random_uniform(r) + random_uniform(r) * I);
    const bool in_place = random_below(r, 2);
    void *on_b = place(b, bytes), *on_x = place(x, bytes), *const to = in_place ? on_b : on_x;
    assert_status(trs_solve(p, op, nrhs, on_b, (int64_t)ld, to, (int64_t)ld, NULL), TRS_OK);
    bring(x, to, bytes);
    for (int c = 0; c < nrhs && m->n; c++) {
        const size_t at = (size_t)c * ld * size;
        const quality q = quality_of(m, f->unit, op, f->dtype, b + at, 1, x + at, 1);
        assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(f->dtype));
    }
    unplace(on_b), unplace(on_x);
    free(b), free(x);
}

static void check_model(const list *l, pattern kind, trs_dtype t, random_t *r)
{
    model m = model_new(kind, random_below(r, 2), true, trs_is_complex(t), r);
    form f = form_random(t, r);
    f.format = random_below(r, 2) ? TRS_CSR : TRS_CSC; /* others have zeros as entries */
    trs_mat a = show(&m, &f, r);
    for (int op = TRS_N; op <= TRS_H; op++) {
        const bool fits = longest_row(&m, op) <= 33;
        trs_options opt = options_of(l);
        trs_plan *p;
        trs_info info;
        opt.ops = 1u << op;
        opt.nrhs = 1 + random_below(r, 3);
        assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
        assert_status(trs_plan_analyse(p), fits ? TRS_OK : TRS_ESUPPORT);
        if (fits) {
            assert_status(trs_plan_info(p, &info), TRS_OK);
            assert_string_equal(info.solver, "cuda-peers");
            check_solve(&m, &f, op, p, 1 + random_below(r, 3), r);
        }
        trs_plan_destroy(p);
    }
    mat_free(&a);
    model_free(&m);
}

static void check_models(bool on_device)
{
    random_t r = {360};
    begin_on_device();
    there = on_device;
    for (int k = 0; k < LISTS; k++)
        for (pattern kind = 0; kind < PATTERNS && is_here(&lists[k]); kind++)
            check_model(&lists[k], kind, (trs_dtype)((int)kind % 4), &r);
    for (trs_dtype t = TRS_F32; t <= TRS_C64; t++)
        for (int k = 1; k < LISTS; k++)
            if (is_here(&lists[k])) check_model(&lists[k], WIDE, t, &r);
}

static void test_models(void **state)
{
    (void)state;
    check_models(true);
}

static void test_models_from_host(void **state)
{
    (void)state;
    check_models(false);
}

/* ---- a grid ------------------------------------------------------------------------------------------------ */

/* The lower triangle of a 7-point stencil of side^3 points; reach > 1: each point also waits for one that is so many planes
 * before, so that numbers go past a part. */
typedef struct grid {
    int side, n;
    int64_t *ptr;
    int32_t *idx;
    double *val;
} grid;

static void add(grid *g, int64_t *q, int i, int j, double v)
{
    if (j < 0) return;
    g->idx[*q] = j;
    g->val[(*q)++] = v + 0.01 * ((i * 7 + j) % 11);
}

static grid grid_new(int side, int reach)
{
    const int n = side * side * side, plane = side * side;
    grid g = {side, n, zeroed(n + 1, 8), zeroed(5 * (int64_t)n, 4), zeroed(5 * (int64_t)n, 8)};
    int64_t q = 0;
    for (int i = 0; i < n; i++) {
        if (reach > 1) add(&g, &q, i, i - reach * plane, 0.25);
        add(&g, &q, i, i - plane, -1);
        if (i % plane >= side) add(&g, &q, i, i - side, -1.5);
        if (i % side) add(&g, &q, i, i - 1, -0.5);
        add(&g, &q, i, i, 4);
        g.ptr[i + 1] = q;
    }
    return g;
}

static void grid_free(grid *g)
{
    free(g->ptr), free(g->idx), free(g->val);
}

static trs_mat mat_of(const grid *g)
{
    return (trs_mat){.n = g->n,
                     .nnz = g->ptr[g->n],
                     .ptr = g->ptr,
                     .idx = g->idx,
                     .val = g->val,
                     .kind = TRS_LOWER};
}

/* x = op(T)^-1 b, row after row */
static void substitute(const grid *g, trs_op op, const double *b, double *x)
{
    memcpy(x, b, (size_t)g->n * sizeof *x);
    for (int i = 0; i < g->n && op == TRS_N; i++) {
        for (int64_t q = g->ptr[i]; q < g->ptr[i + 1] - 1; q++) x[i] -= g->val[q] * x[g->idx[q]];
        x[i] /= g->val[g->ptr[i + 1] - 1];
    }
    for (int i = g->n - 1; i >= 0 && op != TRS_N; i--) {
        x[i] /= g->val[g->ptr[i + 1] - 1];
        for (int64_t q = g->ptr[i]; q < g->ptr[i + 1] - 1; q++) x[g->idx[q]] -= g->val[q] * x[i];
    }
}

static void check_same(const grid *g, trs_op op, const double *b, const double *x)
{
    double *right = zeroed(g->n, sizeof *right), most = 0;
    substitute(g, op, b, right);
    for (int i = 0; i < g->n; i++)
        most = larger(most, fabs(x[i] - right[i]) / (1 + fabs(right[i])));
    assert_at_most(most, 1e-12);
    free(right);
}

typedef struct scene {
    grid g;
    trs_mat A;
    trs_plan *p;
    double *b, *x; /* [n] on the host */
    void *on_b, *on_x;
    size_t bytes;
    random_t r;
} scene;

static void new_b(scene *s)
{
    for (int i = 0; i < s->g.n; i++) s->b[i] = random_uniform(&s->r);
    if (there) assert_int_equal(trs_device_put(TRS_CUDA(0), s->on_b, s->b, s->bytes), TRS_OK);
    else memcpy(s->on_b, s->b, s->bytes);
}

static scene scene_new(int side, int reach, const trs_options *opt)
{
    scene s = {.g = grid_new(side, reach), .r = {7}};
    s.A = mat_of(&s.g);
    s.bytes = (size_t)s.g.n * sizeof(double);
    s.b = zeroed(s.g.n, 8), s.x = zeroed(s.g.n, 8);
    s.on_b = place(s.b, s.bytes), s.on_x = place(s.x, s.bytes);
    new_b(&s);
    assert_status(trs_plan_create(&s.p, &s.A, opt), TRS_OK);
    assert_status(trs_plan_analyse(s.p), TRS_OK);
    return s;
}

static void scene_free(scene *s)
{
    trs_plan_destroy(s->p);
    unplace(s->on_b), unplace(s->on_x);
    free(s->b), free(s->x);
    grid_free(&s->g);
}

static void solve_and_check(scene *s, trs_op op, const trs_exec *exec)
{
    assert_status(trs_solve(s->p, op, 1, s->on_b, s->g.n, s->on_x, s->g.n, exec), TRS_OK);
    bring(s->x, s->on_x, s->bytes);
    check_same(&s->g, op, s->b, s->x);
}

static void check_grid(const list *l, int side, int reach)
{
    trs_options opt = options_of(l);
    opt.ops = 7;
    scene s = scene_new(side, reach, &opt);
    double *again = zeroed(s.g.n, 8);
    for (int op = TRS_N; op <= TRS_T; op++) {
        solve_and_check(&s, op, NULL);
        memcpy(again, s.x, s.bytes);
        solve_and_check(&s, op, NULL);
        assert_memory_equal(again, s.x, s.bytes);
    }
    for (int64_t q = 0; q < s.A.nnz; q++) s.g.val[q] *= 1.5;
    assert_status(trs_plan_update(s.p, &s.A, NULL), TRS_OK);
    for (int op = TRS_N; op <= TRS_T; op++) new_b(&s), solve_and_check(&s, op, NULL);
    free(again);
    scene_free(&s);
}

static void test_grids(void **state)
{
    (void)state;
    begin_on_device();
    for (int k = 0; k < LISTS; k++)
        for (int reach = 1; reach < 20 && is_here(&lists[k]); reach += 9)
            check_grid(&lists[k], reach == 1 ? 40 : 24, reach);
}

/* A NaN in b reaches the x that depend on it, and nothing waits for it. */
static void test_nan(void **state)
{
    (void)state;
    begin_on_device();
    for (int k = 0; k < LISTS; k++) {
        if (!is_here(&lists[k])) continue;
        const trs_options opt = options_of(&lists[k]);
        scene s = scene_new(20, 1, &opt);
        const uint64_t reserved = ~UINT64_C(0);
        memcpy(&s.b[0], &reserved, 8); /* the pattern that means: not yet */
        assert_int_equal(trs_device_put(TRS_CUDA(0), s.on_b, s.b, s.bytes), TRS_OK);
        assert_status(trs_solve(s.p, TRS_N, 1, s.on_b, s.g.n, s.on_x, s.g.n, NULL), TRS_OK);
        bring(s.x, s.on_x, s.bytes);
        for (int i = 0; i < s.g.n; i++) assert_true(isnan(s.x[i])); /* all depend on b(0) */
        scene_free(&s);
    }
}

static void test_one_block(void **state)
{
    (void)state;
    begin_on_device();
    setenv("TRISOLVE_BLOCKS", "1", 1);
    for (int k = 0; k < LISTS; k++)
        if (is_here(&lists[k])) check_grid(&lists[k], 20, 1);
    unsetenv("TRISOLVE_BLOCKS");
}

#ifdef HAVE_CUDA

/* ---- streams and graphs -------------------------------------------------------------------------------------- */

enum { STREAMS = 3, DEPTH = 6 };

/* Streams solve at the same time, each with a work space; T and T' at once. */
static void check_streams(const list *l)
{
    trs_options opt = options_of(l);
    opt.ops = 3;
    scene s = scene_new(24, 1, &opt);
    cudaStream_t stream[STREAMS];
    trs_work *work[STREAMS];
    void *to[STREAMS][DEPTH];
    for (int t = 0; t < STREAMS; t++) {
        stream[t] = new_stream();
        assert_status(trs_work_create(&work[t], s.p, 1), TRS_OK);
        for (int k = 0; k < DEPTH; k++) to[t][k] = place(s.x, s.bytes);
    }
    for (int k = 0; k < DEPTH; k++)
        for (int t = 0; t < STREAMS; t++) {
            const trs_exec exec = {.stream = stream[t], .work = work[t]};
            const trs_op op = (k + t) % 2 ? TRS_T : TRS_N;
            assert_status(trs_solve(s.p, op, 1, s.on_b, s.g.n, to[t][k], s.g.n, &exec), TRS_OK);
        }
    for (int t = 0; t < STREAMS; t++) {
        assert_int_equal(cudaStreamSynchronize(stream[t]), cudaSuccess);
        for (int k = 0; k < DEPTH; k++) {
            bring(s.x, to[t][k], s.bytes);
            check_same(&s.g, (k + t) % 2 ? TRS_T : TRS_N, s.b, s.x);
            unplace(to[t][k]);
        }
        trs_work_destroy(work[t]);
        cudaStreamDestroy(stream[t]);
    }
    scene_free(&s);
}

static void test_streams(void **state)
{
    (void)state;
    begin_on_device();
    for (int k = 0; k < LISTS; k++)
        if (is_here(&lists[k])) check_streams(&lists[k]);
}

static void test_capture(void **state)
{
    (void)state;
    begin_on_device();
    for (int k = 0; k < LISTS; k++) {
        if (!is_here(&lists[k])) continue;
        const trs_options opt = options_of(&lists[k]);
        scene s = scene_new(24, 1, &opt);
        trs_work *work;
        const cudaStream_t stream = new_stream();
        assert_status(trs_work_create(&work, s.p, 1), TRS_OK);
        const trs_exec exec = {.stream = stream, .work = work};
        begin_capture(stream);
        const int rc = trs_solve(s.p, TRS_N, 1, s.on_b, s.g.n, s.on_x, s.g.n, &exec);
        cudaGraphExec_t graph = end_capture(stream);
        assert_status(rc, TRS_OK);
        for (int again = 0; again < 3; again++) {
            new_b(&s);
            replay(graph, stream);
            bring(s.x, s.on_x, s.bytes);
            check_same(&s.g, TRS_N, s.b, s.x);
        }
        cudaGraphExecDestroy(graph);
        trs_work_destroy(work);
        cudaStreamDestroy(stream);
        scene_free(&s);
    }
}

/* ---- one device is late, or has few SMs ------------------------------------------------------------------------ */

/* Another kernel has so many SMs of a device when the solve begins, and for a while. */
static void check_beside(scene *s, int device, int sms)
{
    cudaStream_t stream = new_stream();
    const trs_exec exec = {.stream = stream};
    assert_int_equal(cudaSetDevice(device), cudaSuccess);
    busy *other = busy_begin(sms);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_non_null(other);
    assert_status(trs_solve(s->p, TRS_N, 1, s->on_b, s->g.n, s->on_x, s->g.n, &exec), TRS_OK);
    for (int k = 0; k < 50 && cudaStreamQuery(stream) == cudaErrorNotReady; k++) {
        struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
    }
    assert_int_equal(cudaSetDevice(device), cudaSuccess);
    busy_end(other);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    bring(s->x, s->on_x, s->bytes);
    check_same(&s->g, TRS_N, s->b, s->x);
    cudaStreamDestroy(stream);
}

static void test_late(void **state)
{
    (void)state;
    begin_on_device();
    const int sms = busy_sms();
    for (int k = 1; k < LISTS; k++) {
        if (!is_here(&lists[k])) continue;
        const trs_options opt = options_of(&lists[k]);
        scene s = scene_new(24, 1, &opt);
        for (int device = 0; device < lists[k].device[lists[k].count - 1]; device++) {
            check_beside(&s, device, sms);
            check_beside(&s, device, sms - 1);
            check_beside(&s, device, 1);
        }
        scene_free(&s);
    }
}

/* ---- B and X that are split, or that only their device can access ------------------------------------------------- */

/* Solve with B and X in this memory. */
static void check_vectors(const scene *s, void *b, void *x)
{
    assert_int_equal(cudaMemcpy(b, s->on_b, s->bytes, cudaMemcpyDefault), cudaSuccess);
    assert_status(trs_solve(s->p, TRS_N, 1, b, s->g.n, x, s->g.n, NULL), TRS_OK);
    assert_int_equal(cudaMemcpy(s->x, x, s->bytes, cudaMemcpyDefault), cudaSuccess);
    check_same(&s->g, TRS_N, s->b, s->x);
}

static void test_split(void **state)
{
    (void)state;
    begin_on_device();
    if (devices < 2) skip();
    const trs_options opt = options_of(&lists[3]);
    scene s = scene_new(100, 1, &opt);
    const split b = split_new(s.bytes, s.bytes / 2), x = split_new(s.bytes, s.bytes / 2);
    if (!b.p || !x.p) skip();
    check_vectors(&s, (void *)b.p, (void *)x.p);
    split_free(&b), split_free(&x);
    scene_free(&s);
}

static void test_pools(void **state)
{
    (void)state;
    begin_on_device();
    if (devices < 2) skip();
    const trs_options opt = options_of(&lists[3]);
    scene s = scene_new(40, 1, &opt);
    void *b, *x;
    assert_int_equal(cudaMallocAsync(&b, s.bytes, NULL), cudaSuccess);
    assert_int_equal(cudaMallocAsync(&x, s.bytes, NULL), cudaSuccess);
    check_vectors(&s, b, x);
    assert_int_equal(cudaFreeAsync(b, NULL), cudaSuccess);
    assert_int_equal(cudaFreeAsync(x, NULL), cudaSuccess);
    scene_free(&s);
}

#else

static void test_streams(void **state)
{
    (void)state;
    skip();
}
#define test_capture test_streams
#define test_late    test_streams
#define test_split   test_streams
#define test_pools   test_streams
#endif

/* ---- the choice ------------------------------------------------------------------------------------------------------ */

static void test_choice(void **state)
{
    (void)state;
    begin_on_device();
    trs_options opt = options_of(&lists[devices > 1 ? 3 : 1]);
    trs_info info;
    opt.solver = NULL;
    scene s = scene_new(30, 1, &opt); /* its levels alone take more than half of a solve */
    assert_status(trs_plan_info(s.p, &info), TRS_OK);
    assert_true(strcmp(info.solver, "cuda-peers") != 0);
    assert_non_null(strstr(info.reason, "on one device"));
    solve_and_check(&s, TRS_N, NULL);
    scene_free(&s);
    if (devices < 2) return;
    opt.memory_limit = 6000000; /* for half of it, and not for the fast solvers of one device */
    s = scene_new(40, 1, &opt);
    assert_status(trs_plan_info(s.p, &info), TRS_OK);
    assert_string_equal(info.solver, "cuda-peers");
    assert_non_null(strstr(info.reason, "on 2 devices"));
    solve_and_check(&s, TRS_N, NULL);
    scene_free(&s);
}

/* ---- what is refused, and what nothing lists ---------------------------------------------------------------------- */

static void refuse(const trs_options *opt, const trs_mat *A, int code, const char *word)
{
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, A, opt), code);
    if (!strstr(trs_message(), word)) print_message("%s\n", trs_message());
    assert_non_null(strstr(trs_message(), word));
    assert_null(p);
}

static void *no_memory(void *user, int device, size_t bytes)
{
    (void)user, (void)device, (void)bytes;
    return NULL;
}

static void nothing(void *user, int device, void *p)
{
    (void)user, (void)device, (void)p;
}

static void test_refused(void **state)
{
    (void)state;
    grid g = grid_new(3, 1);
    const trs_mat A = mat_of(&g);
    const double full[] = {1, 2, 3, 4};
    const trs_mat general = {.n = 2, .nnz = 4, .val = full, .format = TRS_DENSE, .ld = 2};
    static const int one[] = {TRS_CUDA(0), TRS_CUDA(0)}, down[] = {TRS_CUDA(1), TRS_CUDA(0)},
                     host[] = {TRS_HOST};
    const trs_options good = {.devices = one, .device_count = 2};
    trs_options o = good;
    o.device_count = -1, refuse(&o, &A, TRS_EARG, "number");
    o.device_count = 17, refuse(&o, &A, TRS_EARG, "number");
    o = good, o.devices = NULL, refuse(&o, &A, TRS_EARG, "NULL");
    o = good, o.devices = down, refuse(&o, &A, TRS_EARG, "ascend");
    o = good, o.devices = host, o.device_count = 1, refuse(&o, &A, TRS_EARG, "TRS_CUDA");
    o = good, o.device = TRS_CUDA(1), refuse(&o, &A, TRS_EARG, "first");
    o = good, o.sweeps = 1, refuse(&o, &A, TRS_EARG, "sweeps");
    o = good, o.measure = 1, refuse(&o, &A, TRS_EARG, "measure");
    o = good, o.pivot = TRS_PIVOT_SKIP, refuse(&o, &A, TRS_ESUPPORT, "SKIP");
    o = good, o.order = TRS_ORDER_LEVEL, refuse(&o, &A, TRS_ESUPPORT, "LEVEL");
    o = good, o.layout = TRS_ROW_MAJOR, o.nrhs = 2, refuse(&o, &A, TRS_ESUPPORT, "by rows");
    o = good, o.device_memory.alloc = no_memory, o.device_memory.free = nothing;
    refuse(&o, &A, TRS_ESUPPORT, "device_memory");
    refuse(&good, &general, TRS_ESUPPORT, "triangles");
    refuse(&(trs_options){.solver = "cuda-peers"}, &A, TRS_ESUPPORT, "no solver");
#ifndef HAVE_CUDA
    refuse(&good, &A, TRS_ESUPPORT, "one device");
#endif
    grid_free(&g);
}

static void test_factors(void **state)
{
    (void)state;
    grid g = grid_new(3, 1);
    trs_mat A = mat_of(&g);
    static const int one[] = {TRS_CUDA(0), TRS_CUDA(0)};
    const trs_options plan = {.devices = one, .device_count = 2};
    const trs_ilu_options opt = {.plan = plan};
    trs_lu *lu;
    A.kind = 0;
    assert_int_equal(trs_ilu(&lu, &A, &opt), TRS_ESUPPORT);
    assert_non_null(strstr(trs_message(), "several devices"));
    trs_lu_destroy(lu);
    grid_free(&g);
}

static void test_other_calls(void **state)
{
    (void)state;
    begin_on_device();
    const trs_options opt = options_of(&lists[1]);
    static const int other[] = {TRS_CUDA(0), TRS_CUDA(0)};
    trs_options named = {.devices = other, .device_count = 2, .solver = "cuda-dataflow"};
    scene s = scene_new(5, 1, &opt);
    const trs_batch one = {.count = 1, .val = s.g.val};
    refuse(&named, &s.A, TRS_EARG, "several devices");
    assert_int_equal(trs_plan_save(s.p, "never.plan"), TRS_ESUPPORT);
    assert_int_equal(trs_solve_batch(s.p, TRS_N, &one, 1, s.on_b, s.g.n, s.on_x, s.g.n, NULL, NULL),
                     TRS_ESUPPORT);
    const trs_exec by_rows = {.layout = TRS_ROW_MAJOR};
    assert_int_equal(trs_solve(s.p, TRS_N, 1, s.on_b, 2, s.on_b, 2, &by_rows), TRS_ESUPPORT);
    scene_free(&s);
}

static void test_not_listed(void **state)
{
    (void)state;
    trs_solver_info info;
    for (int k = 0; trs_solver_get(k, &info) == TRS_OK; k++)
        assert_null(strstr(info.name, "peers"));
    assert_null(trs_solver_named("cuda-peers"));
}

/* ---- memory ----------------------------------------------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    (void)state;
    begin_on_device();
    grid g = grid_new(6, 2);
    const trs_mat A = mat_of(&g);
    trs_options opt = options_of(&lists[devices > 1 ? 4 : 2]);
    opt.threads = 1;
    int rc = TRS_EMEM, k = 0;
    for (; rc; k++) {
        counter c = {.fail_at = k, .and_after = 1};
        trs_plan *p;
        opt.memory = counted_memory(&c);
        rc = trs_plan_create(&p, &A, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        trs_plan_destroy(p);
        if (rc) assert_int_equal(rc, TRS_EMEM);
        assert_int_equal(c.live, 0);
    }
    assert_true(k > 10);
    grid_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),     cmocka_unit_test(test_models_from_host),
        cmocka_unit_test(test_grids),      cmocka_unit_test(test_nan),
        cmocka_unit_test(test_one_block),  cmocka_unit_test(test_streams),
        cmocka_unit_test(test_capture),    cmocka_unit_test(test_late),
        cmocka_unit_test(test_split),      cmocka_unit_test(test_pools),
        cmocka_unit_test(test_choice),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_factors),    cmocka_unit_test(test_other_calls),
        cmocka_unit_test(test_not_listed), cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
