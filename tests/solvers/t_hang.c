/* t_hang.c: GPU solvers neither hang nor race, whoever waits for whom.
 *
 * Every solver that promises the same bits solves triangles that are made to be awkward: with as many blocks as there
 * are, and with one; on two streams at once, TRS_RUNS times; while another kernel has half of the SMs; with NaN and
 * Inf in b.  Numbers are those of the host's serial solver, bits those of the first run.  One after the other
 * the runs have different b, so that what is left of the run before is no help.
 *
 * What does not end ends the test: after TRS_PATIENCE seconds without news the program says so and exits.
 * TRS_TESTS: a pattern of the solvers that are wanted ("cuda-*").
 * In a library configured with --enable-delays threads are held up at random, so that rare orders come about. */
#include "tests/common/stream.h"

#include "tests/common/busy.h"
#include "tests/common/dags.h"
#include "base/device.h"
#include "matrix/on_device.h"

#include <math.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    BS = 3, /* right-hand sides: not 2, as many as some solvers have copies of x */
    STREAMS = 2,
    DEPTH = 4, /* solves that a stream has to do before anybody looks */
    FEW = 8,
    PATIENCE = 60, /* s */
};

/* Seconds: that a scene may take for its runs; that solves get beside another kernel; what a single one may be
 * predicted to take, as a solver that is no good for a triangle may need minutes for all of this. */
static const double LONG = 20, BESIDE = 0.2, BESIDE_AT_MOST = 5, SLOW = 0.02;

/* A number from the environment. */
static int asked(const char *name, int otherwise)
{
    const char *s = getenv(name);
    return s && atoi(s) > 0 ? atoi(s) : otherwise;
}

static int runs(void)
{
    return asked("TRS_RUNS", FEW);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what does not end ------------------------------------------------------------------------------- */

static char doing[200];

static void give_up(int number)
{
    (void)number;
    const char say[] = "\nBail out! This does not end: ";
    if (write(1, say, sizeof say - 1) < 0 || write(1, doing, strlen(doing)) < 0) _exit(4);
    _exit(3);
}

static void watch(const char *solver, const char *where, const char *what)
{
    alarm(0);
    snprintf(doing, sizeof doing, "%s, %s, %s\n", solver, where, what);
    fflush(NULL);
    alarm((unsigned)asked("TRS_PATIENCE", PATIENCE));
}

/* As reach of model.h, in one pass: entries are by rows, so those that come first are needed first, and
 * the other way round by the transpose. */
static void reach_sorted(const model *m, trs_op op, int k, bool *out)
{
    memset(out, 0, (size_t)m->n * sizeof *out);
    out[k] = true;
    for (int64_t q = 0; q < m->nnz; q++) {
        const int64_t p = op == TRS_N ? q : m->nnz - 1 - q;
        if (out[op == TRS_N ? m->col[p] : m->row[p]])
            out[op == TRS_N ? m->row[p] : m->col[p]] = true;
    }
}

/* ---- a triangle, its right-hand sides and solutions ---------------------------------------------------- */

typedef struct scene {
    const trs_solver *solver;
    const dag *d;
    model m;
    trs_dtype dtype;
    trs_op op;
    int nrhs;
    size_t bytes;           /* of B and X */
    trs_mat a, device_a;    /* device_a: the same on the device */
    void *b[BS], *want[BS]; /* X of the first run */
    void *x;
    void *dev_b[BS], *dev_x[STREAMS][DEPTH];
    void *stream[STREAMS];
    random_t r;
} scene;

typedef struct ready { /* to solve */
    bool good;         /* the solver can do it, and fast enough */
    trs_plan *plan;
    trs_work *work[STREAMS];
} ready;

enum { VARIANTS = 2 };

static int size_for(const trs_solver *s)
{
    if (s->family == TRS_GENERAL_DENSE) return 131;
    if (s->full) return 509;
    return 2003;
}

static void *device_new(size_t bytes)
{
    void *p;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &p), TRS_OK);
    return p;
}

static void new_b(scene *s, int q)
{
    s->b[q] = malloc(s->bytes), s->want[q] = malloc(s->bytes);
    assert_true(s->b[q] && s->want[q]);
    for (int64_t k = 0; k < (int64_t)s->m.n * s->nrhs; k++)
        set_number(s->b[q], s->dtype, k, random_uniform(&s->r) + random_uniform(&s->r) * I);
    s->dev_b[q] = device_new(s->bytes);
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_b[q], s->b[q], s->bytes), TRS_OK);
}

static scene scene_new(const trs_solver *solver, int which, int variant)
{
    static const int columns[] = {1, 8, 1, 33};
    const bool general = solver->family == TRS_GENERAL_DENSE;
    scene s = {.solver = solver, .d = &dags[which], .r = {(uint64_t)which}};
    watch(solver->name, s.d->name, "making it");
    s.op = variant % 2 ? TRS_T : TRS_N;
    s.nrhs = columns[(which + variant) % 4];
    s.dtype = (trs_dtype)((which / 2 + 2 * variant) % 4);
    s.m = model_of(s.d, size_for(solver), trs_is_complex(s.dtype), &s.r);
    s.bytes = (size_t)s.m.n * (size_t)s.nrhs * trs_size(s.dtype);
    form f = {.dtype = s.dtype, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    if (general) f.format = TRS_DENSE;
    s.a = show(&s.m, &f, &s.r);
    if (general) s.a.kind = 0; /* a lower triangle is a general matrix too */
    s.device_a = mat_to_device(&s.a);
    for (int q = 0; q < BS; q++) new_b(&s, q);
    s.x = malloc(s.bytes);
    assert_non_null(s.x);
    for (int t = 0; t < STREAMS; t++) {
        s.stream[t] = stream_new(solver);
        for (int k = 0; k < DEPTH; k++) s.dev_x[t][k] = device_new(s.bytes);
    }
    return s;
}

static void scene_free(scene *s)
{
    for (int t = 0; t < STREAMS; t++) {
        stream_free(s->stream[t]);
        for (int k = 0; k < DEPTH; k++) trs_device_free(TRS_CUDA(0), s->dev_x[t][k]);
    }
    for (int q = 0; q < BS; q++) {
        trs_device_free(TRS_CUDA(0), s->dev_b[q]);
        free(s->b[q]);
        free(s->want[q]);
    }
    free(s->x);
    mat_free_device(&s->device_a);
    mat_free(&s->a);
    model_free(&s->m);
}

/* blocks: that kernels may have whose blocks wait for one another; 0: as many as they like. */
static ready ready_new(const scene *s, int count)
{
    ready r = {0};
    trs_options opt = {.solver = s->solver->name, .device = TRS_CUDA(0), .nrhs = s->nrhs};
    char text[20];
    opt.ops = 1u << s->op;
    opt.bitwise = 1;
    snprintf(text, sizeof text, "%d", count);
    setenv("TRISOLVE_BLOCKS", text, 1);
    assert_status(trs_plan_create(&r.plan, &s->device_a, &opt), TRS_OK);
    r.plan->ctx.patient = true;
    const int rc = trs_plan_analyse(r.plan);
    if (rc != TRS_ESUPPORT) assert_status(rc, TRS_OK);
    for (int t = 0; t < STREAMS && !rc; t++)
        assert_int_equal(trs_work_create(&r.work[t], r.plan, s->nrhs), TRS_OK);
    unsetenv("TRISOLVE_BLOCKS");
    trs_info info;
    trs_plan_info(r.plan, &info);
    r.good = !rc && info.predicted < SLOW;
    return r;
}

static void ready_free(ready *r)
{
    for (int t = 0; t < STREAMS; t++) trs_work_destroy(r->work[t]);
    trs_plan_destroy(r->plan);
}

/* Enqueue a solve with right-hand side q as number k of stream t; odd numbers in place. */
static void enqueue(const scene *s, const ready *r, int q, int t, int k)
{
    const trs_exec exec = {.stream = s->stream[t], .work = r->work[t]};
    void *x = s->dev_x[t][k], *b = s->dev_b[q];
    if (k % 2) {
        assert_int_equal(trs_device_copy(TRS_CUDA(0), x, b, s->bytes, s->stream[t]), TRS_OK);
        b = x;
    } else {
        assert_int_equal(cudaMemsetAsync(x, 0x5a, s->bytes, (cudaStream_t)s->stream[t]),
                         cudaSuccess);
    }
    assert_int_equal(trs_solve(r->plan, s->op, s->nrhs, b, s->m.n, x, s->m.n, &exec), TRS_OK);
}

static void fetch(const scene *s, int t, int k, void *x)
{
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, s->dev_x[t][k], s->bytes), TRS_OK);
}

static void check_bits(const scene *s, int q, int t, int k, const char *when)
{
    fetch(s, t, k, s->x);
    if (!memcmp(s->x, s->want[q], s->bytes)) return;
    print_error("%s, %s, op %s, %d columns: other bits %s\n", s->solver->name, s->d->name,
                op_name[s->op], s->nrhs, when);
    fail();
}

/* ---- numbers: those of the host's serial solver -------------------------------------------------------- */

static void solve_on_host(const scene *s, const trs_plan *p, int q, void *x)
{
    assert_int_equal(trs_solve(p, s->op, s->nrhs, s->b[q], s->m.n, x, s->m.n, NULL), TRS_OK);
}

static void check_numbers(const scene *s, const void *x, const void *good)
{
    double worst = 0, most = 0;
    for (int64_t k = 0; k < (int64_t)s->m.n * s->nrhs; k++) {
        const zz g = get_number(good, s->dtype, k);
        const double error = cabs(get_number(x, s->dtype, k) - g);
        worst = larger(worst, error);
        most = larger(most, cabs(g));
    }
    if (!(worst <= 2000 * epsilon(s->dtype) * most))
        print_error("%s, %s, op %s\n", s->solver->name, s->d->name, op_name[s->op]);
    assert_at_most(worst, 2000 * epsilon(s->dtype) * most);
}

/* s->want, from the first runs. */
static void first_runs(scene *s, const ready *r)
{
    trs_options opt = {.solver = "cpu-serial", .ops = 1u << s->op, .nrhs = s->nrhs};
    trs_mat a = s->a;
    trs_plan *host;
    a.kind = TRS_LOWER;
    watch(s->solver->name, s->d->name, "first run");
    assert_int_equal(trs_plan_create(&host, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(host), TRS_OK);
    for (int q = 0; q < BS; q++) {
        enqueue(s, r, q, 0, 0);
        stream_wait(s->stream[0]);
        fetch(s, 0, 0, s->want[q]);
        solve_on_host(s, host, q, s->x);
        check_numbers(s, s->want[q], s->x);
    }
    trs_plan_destroy(host);
}

/* ---- many runs, on two streams at once ------------------------------------------------------------------- */

static int b_of(int run, int t, int k)
{
    return (run + k * STREAMS + t) % BS;
}

static void run_many(const scene *s, const ready *r, int count, const char *when)
{
    const double late = seconds() + LONG;
    int run = 0;
    for (; run < count && seconds() < late; run += STREAMS * DEPTH) {
        watch(s->solver->name, s->d->name, when);
        for (int k = 0; k < DEPTH; k++)
            for (int t = 0; t < STREAMS; t++) enqueue(s, r, b_of(run, t, k), t, k);
        for (int t = 0; t < STREAMS; t++) {
            stream_wait(s->stream[t]);
            for (int k = 0; k < DEPTH; k++) check_bits(s, b_of(run, t, k), t, k, when);
        }
    }
    if (run < count) print_message("%s, %s: %d runs only\n", s->solver->name, s->d->name, run);
}

/* ---- few blocks --------------------------------------------------------------------------------------------- */

static void run_few_blocks(const scene *s)
{
    static const int counts[] = {1, 2, 7};
    for (int k = 0; k < 3; k++) {
        watch(s->solver->name, s->d->name, "analysis with few blocks");
        ready few = ready_new(s, counts[k]);
        run_many(s, &few, FEW, k ? "with few blocks" : "with one block");
        ready_free(&few);
    }
}

/* ---- beside another kernel -------------------------------------------------------------------------------- */

static bool have_ended(const scene *s, double late)
{
    for (int t = 0; t < STREAMS; t++)
        while (cudaStreamQuery((cudaStream_t)s->stream[t]) == cudaErrorNotReady)
            if (seconds() > late) return false;
    return true;
}

/* Do solves end while the other kernel runs?  They have to when it has ended. */
static bool ends_beside(const scene *s, const ready *r, double most)
{
    watch(s->solver->name, s->d->name, "beside another kernel");
    busy *other = busy_begin(busy_sms() / 2);
    assert_non_null(other);
    for (int k = 0; k < DEPTH; k++)
        for (int t = 0; t < STREAMS; t++) enqueue(s, r, b_of(0, t, k), t, k);
    const bool good = have_ended(s, seconds() + most);
    busy_end(other);
    for (int t = 0; t < STREAMS; t++) {
        stream_wait(s->stream[t]);
        for (int k = 0; k < DEPTH; k++) check_bits(s, b_of(0, t, k), t, k, "beside another kernel");
    }
    return good;
}

/* With all its blocks a kernel that needs them at once may have to wait; with as many as there are SMs left
 * each has a place.  Kernels have run before: loading them would wait for the other kernel. */
static void run_beside(const scene *s, const ready *r)
{
    ready half = ready_new(s, busy_sms() - busy_sms() / 2);
    run_many(s, &half, STREAMS * DEPTH, "with half of the blocks");
    const bool all_end = ends_beside(s, r, BESIDE);
    const bool half_end = ends_beside(s, &half, BESIDE_AT_MOST);
    if (!all_end)
        print_message("%s, %s: waited for the other kernel\n", s->solver->name, s->d->name);
    if (!half_end) print_error("%s, %s: half of the blocks waited\n", s->solver->name, s->d->name);
    assert_true(half_end);
    ready_free(&half);
}

/* ---- NaN and Inf in b ----------------------------------------------------------------------------------- */

typedef enum special { A_NAN, AN_INF, ALL_BITS, SPECIALS } special;

static void set_special(const scene *s, void *b, int64_t k, special what)
{
    const size_t size = trs_size(s->dtype);
    set_number(b, s->dtype, k, what == A_NAN ? NAN : INFINITY);
    if (what == ALL_BITS) memset((char *)b + (size_t)k * size, 0xff, size); /* a flag: not yet */
}

static bool is_finite(const scene *s, const void *x, int64_t k)
{
    const zz v = get_number(x, s->dtype, k);
    return isfinite(creal(v)) && isfinite(cimag(v));
}

static bool same_bits(const scene *s, const void *x, const void *y, int64_t k)
{
    const size_t size = trs_size(s->dtype);
    return !memcmp((const char *)x + (size_t)k * size, (const char *)y + (size_t)k * size, size);
}

/* Of the last column, whose b (row) is special, what depends on that is not finite; all the rest is as it was, but
 * that a solver with inverted blocks may spread more in that column. */
static void check_special(const scene *s, int row, const bool *hit)
{
    const int64_t n = s->m.n, last = n * (s->nrhs - 1);
    for (int64_t k = 0; k < n * s->nrhs; k++) {
        const bool reached = k >= last && hit[k - last];
        const bool may = reached || (k >= last && s->solver->accuracy != TRS_SUBSTITUTION);
        if (reached ? !is_finite(s, s->x, k) : may || same_bits(s, s->x, s->want[0], k)) continue;
        print_error("%s, %s, op %s, row %d: x (%d) of column %d\n", s->solver->name, s->d->name,
                    op_name[s->op], row, (int)(k % n), (int)(k / n));
        fail();
    }
}

static void solve_special(scene *s, const ready *r, int row, special what)
{
    bool *hit = malloc((size_t)s->m.n * sizeof *hit);
    void *b = malloc(s->bytes), *was = s->dev_b[0];
    assert_true(hit && b);
    memcpy(b, s->b[0], s->bytes);
    set_special(s, b, (int64_t)s->m.n * (s->nrhs - 1) + row, what);
    s->dev_b[0] = s->dev_x[1][0];
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_b[0], b, s->bytes), TRS_OK);
    reach_sorted(&s->m, s->op, row, hit);
    for (int k = 0; k < 2; k++) {
        enqueue(s, r, 0, 0, k);
        stream_wait(s->stream[0]);
        fetch(s, 0, k, s->x);
        check_special(s, row, hit);
    }
    s->dev_b[0] = was;
    free(hit);
    free(b);
}

static void run_special(scene *s, const ready *r)
{
    ready one = ready_new(s, 1);
    const int n = s->m.n;
    for (int what = 0; what < SPECIALS; what++)
        for (int k = 0; k < 4; k++) {
            const int ends[] = {0, n - 1}, row = k < 2 ? ends[k] : random_below(&s->r, n);
            watch(s->solver->name, s->d->name, "NaN and Inf");
            solve_special(s, k % 2 ? r : &one, row, (special)what);
        }
    run_many(s, r, STREAMS * DEPTH, "after NaN and Inf"); /* nothing of them is left */
    ready_free(&one);
}

/* ---- levels, which are found by a kernel of that kind ------------------------------------------------------ */

static void find_levels(const dag *d, const char *blocks_allowed, int count)
{
    random_t r = {1};
    form f = {.dtype = TRS_F32, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    static const char *const on_device[] = {"cuda-dataflow", "cuda-merged", "cuda-supernodal"};
    trs_options opt = {.solver = available_solver(on_device, 3), .ops = 1u << TRS_N};
    model m = model_of(d, 2003, false, &r);
    trs_mat a = show(&m, &f, &r), device_a = mat_to_device(&a);
    trs_plan *host, *resident;
    watch("levels", d->name, "analysis");
    assert_int_equal(trs_plan_create(&host, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(host), TRS_OK);
    assert_int_equal(trs_plan_create(&resident, &device_a, &opt), TRS_OK);
    assert_false(resident->side[0].op.on_host & TRS_OP_PATTERN);
    resident->ctx.patient = true;
    if (blocks_allowed) setenv("TRISOLVE_BLOCKS", blocks_allowed, 1);
    trs_operator *s = &resident->side[0].op;
    const trs_levels *want = &host->side[0].op.lv;
    for (int run = 0; run < count; run++) {
        watch("levels", d->name, "another run");
        assert_int_equal(trs_find_levels_on_device(s), TRS_OK);
        assert_int_equal(s->lv.count, want->count);
        assert_int_equal(trs_operator_show(s, TRS_OP_LEVELS), TRS_OK);
        assert_memory_equal(s->lv.topo, want->topo, (size_t)m.n * sizeof *want->topo);
        trs_levels_free(&resident->ctx, &s->lv);
        s->on_host &= ~(unsigned)TRS_OP_LEVELS;
        trs_operator_drop(s, TRS_OP_LEVELS);
    }
    unsetenv("TRISOLVE_BLOCKS");
    trs_plan_destroy(resident);
    trs_plan_destroy(host);
    mat_free_device(&device_a);
    mat_free(&a);
    model_free(&m);
}

static void test_levels(void **state)
{
    char why[200];
    (void)state;
    if (trs_gpu_probe(0, why, sizeof why)) {
        print_message("%s\n", why);
        skip();
    }
    for (int k = 0; k < DAGS; k++) {
        find_levels(&dags[k], NULL, runs());
        find_levels(&dags[k], "1", FEW);
        find_levels(&dags[k], "3", FEW);
    }
}

/* ---- a test for every solver -------------------------------------------------------------------------------- */

static void test_solver(void **state)
{
    const trs_solver *solver = *state;
    char why[200];
    int done = 0;
    if (!trs_solver_available(solver, 0, why, sizeof why)) {
        print_message("%s: %s\n", solver->name, why);
        skip();
    }
    for (int k = 0; k < DAGS * VARIANTS; k++) {
        scene s = scene_new(solver, k / VARIANTS, k % VARIANTS);
        ready r = ready_new(&s, 0);
        if (r.good) {
            first_runs(&s, &r);
            run_many(&s, &r, runs(), "in another run");
            run_few_blocks(&s);
            run_beside(&s, &r);
            if (solver->family == TRS_TRIANGLE) run_special(&s, &r);
            done++;
        }
        ready_free(&r);
        scene_free(&s);
    }
    assert_true(done >= (solver->family == TRS_TRIANGLE ? DAGS : 1)); /* refusing is no way out */
}

/* As if all levels were wide, for which cuda-dataflow has a kernel of its own. */
static void test_wide(void **state)
{
    setenv("TRISOLVE_WIDE_ROWS", "1", 1);
    test_solver(state);
    unsetenv("TRISOLVE_WIDE_ROWS");
}

int main(void)
{
    struct CMUnitTest tests[64] = {{"levels", test_levels, NULL, NULL, NULL}};
    size_t count = 1;
    signal(SIGALRM, give_up);
    for (int k = 0; trs_solver_at(k) && count + 1 < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->place != TRS_ON_CUDA || !(s->caps & TRS_CAP_BITWISE)) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
        if (!strcmp(s->name, "cuda-dataflow"))
            tests[count++] = (struct CMUnitTest){"wide levels", test_wide, NULL, NULL, (void *)s};
    }
    choose_solvers();
    return _cmocka_run_group_tests("t_hang", tests, count, NULL, NULL);
}
