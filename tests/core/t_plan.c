/* t_plan.c: calls that are wrong, or that come in the wrong order, fail with the right code and a sentence, and leave
 * the plan as good as it was: arguments, options, pivots, updates, limits, and memory that runs out at any
 * allocation. */
#include "tests/common/counter.h"
#include "tests/common/model.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>

/* 4x4 lower CSR, base 1:  2; 1 4; . . 5; . 3 . 8 */
static const int64_t ptr4[] = {1, 2, 4, 5, 7};
static const int32_t idx4[] = {1, 1, 2, 3, 2, 4};
static const double val4[] = {2, 1, 4, 5, 3, 8};
static const double b4[] = {2, 5, 10, 19}, x4[] = {1, 1, 2, 2};

static trs_mat mat4(const double *val)
{
    return (trs_mat){
        .n = 4, .nnz = 6, .ptr = ptr4, .idx = idx4, .val = val, .base = 1, .kind = TRS_LOWER};
}

static trs_plan *ready(const double *val, const trs_options *opt)
{
    trs_mat m = mat4(val);
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

static void assert_solves(const trs_plan *p)
{
    double x[4];
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_OK);
    assert_memory_equal(x, x4, sizeof x4);
}

/* ---- order of calls -------------------------------------------------------------------------------- */

static void test_states(void **state)
{
    (void)state;
    trs_mat m = mat4(val4);
    trs_plan *p;
    trs_work *w;
    trs_info info;
    double x[4] = {7, 7, 7, 7};
    const int32_t *topo, *lv;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_ESTATE);
    assert_int_equal(trs_plan_pivots(p, NULL, NULL), TRS_ESTATE);
    assert_int_equal(trs_plan_levels(p, &topo, &lv), TRS_ESTATE);
    assert_int_equal(trs_work_create(&w, p, 1), TRS_ESTATE);
    assert_null(w);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(info.n == 4 && info.nnz == 6 && info.bytes_host > 0 && info.levels == 0);
    assert_true(x[0] == 7 && x[3] == 7);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_ESTATE); /* once, and it does no harm */
    assert_solves(p);
    assert_int_equal(trs_plan_pivots(p, NULL, NULL), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(info.levels == 3 && info.widest == 2 && info.longest == 2);
    assert_non_null(info.solver);
    assert_true(info.reason[0] != '\0');
    assert_int_equal(trs_solve(p, TRS_T, 1, b4, 4, x, 4, NULL), TRS_ESTATE); /* was not announced */
    trs_plan_destroy(p);
}

#ifdef HAVE_XXHASH
enum { NOT_READY = TRS_ESTATE }; /* of saving and loading */
#else
enum { NOT_READY = TRS_ESUPPORT };
#endif

/* The call failed with this code (0: any), and with a sentence of its own.  Functions that cannot fail keep it, and the
 * next call that succeeds clears it. */
static void refused_(int rc, int code, int line)
{
    const trs_mat m = mat4(val4);
    const char *const said = trs_message();
    trs_solver_info solver;
    double x[4];
    if ((code && rc != code) || !rc || !*said || !strcmp(said, trs_strerror(rc)))
        print_error("line %d: %d, \"%s\"\n", line, rc, said);
    assert_true(rc < 0 && (!code || rc == code));
    assert_true(*said && strcmp(said, trs_strerror(rc)) != 0);
    assert_non_null(trs_version());
    trs_plan_destroy(NULL);
    assert_true(*trs_message());
    assert_int_equal(trs_multiply(&m, TRS_N, 0, NULL, 4, x, 4, TRS_COL_MAJOR), TRS_OK);
    assert_string_equal(trs_message(), "");
    assert_int_equal(trs_solver_get(0, &solver), TRS_OK);
}

#define assert_refused(rc, code) refused_(rc, code, __LINE__)

enum { WITHOUT_DEVICE = 0 }; /* TRS_EDEVICE in a build without CUDA, else what is wrong */

/* Whatever is asked of a plan that is not analysed is refused. */
static void refuses_all(trs_plan *p)
{
    const trs_mat m = mat4(val4);
    trs_work *w;
    double x[4] = {7, 7, 7, 7}, rcond;
    const int32_t *topo, *lv;
    assert_refused(trs_plan_save(p, "t_plan.none"), NOT_READY);
    assert_refused(trs_plan_update(p, &m, NULL), TRS_ESTATE);
    assert_refused(trs_plan_pivots(p, NULL, NULL), TRS_ESTATE);
    assert_refused(trs_plan_levels(p, &topo, &lv), TRS_ESTATE);
    assert_refused(trs_work_create(&w, p, 1), TRS_ESTATE);
    assert_refused(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
    assert_refused(trs_refine(p, &m, TRS_N, 1, b4, 4, x, 4, NULL, 1, NULL, NULL), TRS_ESTATE);
    assert_refused(trs_condest(p, &m, TRS_NORM_ONE, &rcond), TRS_ESTATE);
    assert_true(x[0] == 7 && x[3] == 7);
}

static void test_not_ready(void **state)
{
    (void)state;
    trs_mat m = mat4(val4), bad = m;
    trs_plan *fresh, *failed = (trs_plan *)&m, *good = ready(val4, NULL);
    trs_work *w;
    bad.n = -1;
    assert_int_equal(trs_plan_create(&fresh, &m, NULL), TRS_OK);
    assert_refused(trs_plan_create(&failed, &bad, NULL), TRS_EARG);
    refuses_all(fresh);
    assert_null(failed);
    assert_refused(trs_plan_load(good, "t_plan.none"), NOT_READY);
    assert_int_equal(trs_work_create(&w, good, 1), TRS_OK);
    assert_refused(trs_work_fit(w, fresh, 1), TRS_ESTATE);
    trs_work_destroy(w);
    assert_solves(good);
    trs_plan_destroy(fresh);
    trs_plan_destroy(good);
}

static void test_null(void **state)
{
    (void)state;
    trs_mat m = mat4(val4);
    trs_plan *p = (trs_plan *)&m;
    trs_work *w;
    trs_info info;
    double x[4];
    const int32_t *t;
    assert_refused(trs_plan_create(NULL, &m, NULL), TRS_EARG);
    assert_refused(trs_plan_create(&p, NULL, NULL), TRS_EARG);
    assert_null(p);
    assert_refused(trs_plan_analyse(NULL), TRS_EARG);
    assert_refused(trs_plan_update(NULL, &m, NULL), TRS_EARG);
    assert_refused(trs_plan_pivots(NULL, NULL, NULL), TRS_EARG);
    assert_refused(trs_plan_info(NULL, &info), TRS_EARG);
    assert_refused(trs_plan_levels(NULL, &t, &t), TRS_EARG);
    assert_refused(trs_work_create(&w, NULL, 1), TRS_EARG);
    assert_refused(trs_solve(NULL, TRS_N, 1, b4, 4, x, 4, NULL), TRS_EARG);
    assert_refused(trs_solver_get(0, NULL), TRS_EARG);
    assert_refused(trs_solver_get(-1, &(trs_solver_info){0}), TRS_EARG);
    assert_refused(trs_solver_get(10000, &(trs_solver_info){0}), TRS_EARG);
    for (int k = 0; trs_solver_at(k); k++) {
        trs_solver_info s;
        assert_int_equal(trs_solver_get(k, &s), TRS_OK);
        assert_string_equal(s.needs, trs_solver_at(k)->place == TRS_ON_CPU ? "cpu" : "cuda");
        assert_true(*s.name && *s.about && s.available == !*s.why);
    }
    trs_plan_destroy(NULL);
    trs_work_destroy(NULL);
    p = ready(val4, NULL);
    assert_refused(trs_plan_update(p, NULL, NULL), TRS_EARG);
    assert_refused(trs_plan_info(p, NULL), TRS_EARG);
    assert_refused(trs_plan_levels(p, NULL, &t), TRS_EARG);
    assert_refused(trs_plan_levels(p, &t, NULL), TRS_EARG);
    assert_refused(trs_work_create(NULL, p, 1), TRS_EARG);
    assert_refused(trs_work_fit(NULL, p, 1), TRS_EARG);
    assert_int_equal(trs_work_create(&w, p, 1), TRS_OK);
    assert_refused(trs_work_fit(w, NULL, 1), TRS_EARG);
    assert_refused(trs_work_fit(w, p, 0), TRS_EARG);
    trs_work_destroy(w);
    assert_refused(trs_work_create(&w, p, 0), TRS_EARG);
    assert_refused(trs_work_create(&w, p, -1), TRS_EARG);
    assert_refused(trs_solve(p, TRS_N, 1, NULL, 4, x, 4, NULL), TRS_EARG);
    assert_refused(trs_solve(p, TRS_N, 1, b4, 4, NULL, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 0, NULL, 0, NULL, 0, NULL), TRS_OK); /* nothing to do */
    assert_solves(p);
    trs_plan_destroy(p);
}

static void *other_thread(void *message)
{
    *(bool *)message = *trs_message() != '\0'; /* of the first thread */
    (void)trs_plan_analyse(NULL);
    return NULL;
}

/* A sentence belongs to the thread whose call failed.  trs_plan_info keeps it, and a solve that succeeds clears it. */
static void test_sentences(void **state)
{
    (void)state;
    pthread_t thread;
    bool seen = true;
    trs_plan *p = ready(val4, NULL);
    trs_info info;
    double x[4];
    assert_int_equal(trs_solve(p, TRS_T, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
    assert_non_null(strstr(trs_message(), "TRS_T was not announced"));
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(seen);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_non_null(strstr(trs_message(), "TRS_T was not announced"));
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 3, NULL), TRS_EARG);
    assert_non_null(strstr(trs_message(), "ldx = 3"));
    assert_solves(p);
    assert_string_equal(trs_message(), "");
    trs_plan_destroy(p);
}

/* The leading dimension of a single column is not used, and yet has a range. */
static void test_leading_dimensions(void **state)
{
    (void)state;
    static const struct {
        int64_t ldb, ldx;
        int code;
    } table[] = {{4, 4, TRS_OK},
                 {INT32_MAX, 4, TRS_OK},
                 {4, INT32_MAX, TRS_OK},
                 {(int64_t)INT32_MAX + 1, 4, TRS_EARG},
                 {4, (int64_t)INT32_MAX + 1, TRS_EARG},
                 {3, 4, TRS_EARG},
                 {4, 3, TRS_EARG},
                 {-1, 4, TRS_EARG},
                 {4, -1, TRS_EARG}};
    trs_plan *p = ready(val4, NULL);
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        double x[4];
        assert_int_equal(trs_solve(p, TRS_N, 1, b4, table[k].ldb, x, table[k].ldx, NULL),
                         table[k].code);
        if (table[k].code) assert_non_null(strstr(trs_message(), "is out of range"));
    }
    trs_plan_destroy(p);
}

/* NULL, or a device that is not there, in functions that take no plan. */
static void test_null_elsewhere(void **state)
{
    (void)state;
    trs_mat m = mat4(val4);
    trs_error e;
    trs_lu_info lu;
    trs_mm mm;
    trs_timer *t;
    void *d;
    double x[4];
    assert_refused(trs_backward_error(NULL, TRS_N, 1, b4, 4, x4, 4, TRS_COL_MAJOR, &e), TRS_EARG);
    assert_refused(trs_backward_error(&m, TRS_N, 1, b4, 4, x4, 4, TRS_COL_MAJOR, NULL), TRS_EARG);
    assert_refused(trs_backward_error(&m, TRS_N, 1, NULL, 4, x4, 4, TRS_COL_MAJOR, &e), TRS_EARG);
    assert_refused(trs_multiply(NULL, TRS_N, 1, b4, 4, x, 4, TRS_COL_MAJOR), TRS_EARG);
    assert_refused(trs_multiply(&m, TRS_N, 1, b4, 3, x, 4, TRS_COL_MAJOR), TRS_EARG);
    assert_refused(trs_multiply(&m, (trs_op)3, 1, b4, 4, x, 4, TRS_COL_MAJOR), TRS_EARG);
    assert_refused(trs_lu_solve(NULL, TRS_N, 1, b4, 4, x, 4, NULL), TRS_EARG);
    assert_refused(trs_lu_refine(NULL, &m, TRS_N, 1, b4, 4, x, 4, NULL, 1, NULL, NULL), TRS_EARG);
    assert_refused(trs_lu_get_info(NULL, &lu), TRS_EARG);
    assert_refused(trs_lu_factors(NULL, NULL, NULL, NULL, NULL, NULL), TRS_EARG);
    trs_lu_destroy(NULL);
    assert_refused(trs_mm_read(NULL, NULL, &mm), TRS_EARG);
    assert_refused(trs_mm_read("x", NULL, NULL), TRS_EARG);
    assert_refused(trs_mm_mat(NULL, 0, &m), TRS_EARG);
    assert_refused(trs_mm_write(NULL, &m, 4, 4, TRS_GENERAL, NULL), TRS_EARG);
    trs_mm_free(NULL);
    assert_refused(trs_device_new(TRS_HOST, 8, &d), WITHOUT_DEVICE);
    assert_null(d);
    assert_refused(trs_device_new(TRS_CUDA(0), 8, NULL), WITHOUT_DEVICE);
    assert_refused(trs_device_put(TRS_CUDA(1000), x, x4, 8), WITHOUT_DEVICE);
    assert_refused(trs_device_get(TRS_CUDA(1000), x, x4, 8), WITHOUT_DEVICE);
    assert_refused(trs_device_name(TRS_CUDA(0), NULL, 0), WITHOUT_DEVICE);
    assert_refused(trs_timer_create(NULL, TRS_CUDA(0)), WITHOUT_DEVICE);
    assert_refused(trs_timer_create(&t, TRS_CUDA(1000)), WITHOUT_DEVICE);
    assert_null(t);
    assert_refused(trs_timer_start(NULL, NULL), WITHOUT_DEVICE);
    assert_refused(trs_timer_stop(NULL, NULL, x), WITHOUT_DEVICE);
    trs_device_free(TRS_CUDA(1000), NULL);
    trs_timer_destroy(NULL);
    for (int code = -20; code < 3; code++) assert_true(trs_strerror(code)[0] != '\0');
}

static void test_no_device(void **state)
{
    (void)state;
    trs_mat m = mat4(val4);
    const trs_options opt = {.device = TRS_CUDA(1000)};
    const trs_ilu_options ilu = {.plan = opt};
    trs_plan *p;
    trs_lu *lu;
    m.device = TRS_CUDA(1000);
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_EDEVICE);
    assert_non_null(strstr(trs_message(), "device 1000 cannot be used: "));
    assert_null(p);
    m.device = TRS_HOST;
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_EDEVICE);
    assert_non_null(strstr(trs_message(), "device 1000 cannot be used: "));
    m.kind = 0;
    assert_int_equal(trs_ilu(&lu, &m, &ilu), TRS_EDEVICE);
    assert_non_null(strstr(trs_message(), "device 1000 cannot be used: "));
    trs_lu_destroy(lu);
}

static void test_solve_arguments(void **state)
{
    (void)state;
    trs_plan *p = ready(val4, NULL), *q = ready(val4, NULL);
    double buffer[64], x[16];
    trs_work *w;
    trs_exec rows = {.layout = TRS_ROW_MAJOR}, odd = {.layout = (trs_layout)5}, foreign = {0};
    for (int k = 0; k < 16; k++) x[k] = 7;
    for (int k = 0; k < 64; k++) buffer[k] = 1;
    assert_int_equal(trs_solve(p, (trs_op)-1, 1, b4, 4, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, (trs_op)3, 1, b4, 4, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, -1, b4, 4, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 3, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 3, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, -4, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 2, buffer, INT64_MAX, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 2, buffer, 4, x, INT64_MAX, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, INT_MAX, buffer, INT32_MAX, x, INT32_MAX, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 3, buffer, 2, x, 3, &rows), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 3, buffer, 3, x, 2, &rows), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, &odd), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, &(trs_exec){.threads = -1}), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, &(trs_exec){.threads = 1025}), TRS_EARG);
    assert_int_equal(trs_work_create(&w, q, 1), TRS_OK);
    foreign.work = w; /* of another plan */
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, &foreign), TRS_EARG);
    trs_work_destroy(w);
    for (int k = 0; k < 16; k++) assert_true(x[k] == 7); /* refused means untouched */
    /* overlapping and not equal */
    assert_int_equal(trs_solve(p, TRS_N, 1, buffer, 4, buffer + 1, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 1, buffer + 3, 4, buffer, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 2, buffer, 4, buffer, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(p, TRS_N, 2, buffer, 8, buffer + 4, 8, NULL), TRS_EARG);
    for (int k = 0; k < 64; k++) assert_true(buffer[k] == 1);
    assert_int_equal(trs_solve(p, TRS_N, 2, buffer, 4, buffer + 8, 4, NULL),
                     TRS_OK);                                                     /* side by side */
    assert_int_equal(trs_solve(p, TRS_N, 2, buffer, 4, buffer, 4, NULL), TRS_OK); /* in place */
    trs_plan_destroy(p);
    trs_plan_destroy(q);
}

static void refuse_options(trs_options opt, int code)
{
    trs_mat m = mat4(val4);
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, &opt), code);
    if (p) assert_true(trs_message()[0] != '\0');
    trs_plan_destroy(p);
}

static void test_options(void **state)
{
    (void)state;
    refuse_options((trs_options){.solver = "no-such-solver"}, TRS_ESUPPORT);
    refuse_options((trs_options){.solver = ""}, TRS_ESUPPORT);
    refuse_options((trs_options){.solver = "lu-serial"}, TRS_ESUPPORT); /* solves no triangles */
    refuse_options((trs_options){.ops = 8}, TRS_EARG);
    refuse_options((trs_options){.nrhs = -1}, TRS_EARG);
    refuse_options((trs_options){.threads = -1}, TRS_EARG);
    refuse_options((trs_options){.threads = 1025}, TRS_EARG);
    refuse_options((trs_options){.memory_limit = -1}, TRS_EARG);
    refuse_options((trs_options){.solves_per_update = -1}, TRS_EARG);
    refuse_options((trs_options){.layout = (trs_layout)2}, TRS_EARG);
    refuse_options((trs_options){.order = (trs_order)3}, TRS_EARG);
    refuse_options((trs_options){.solver = "cpu-serial", .device = TRS_CUDA(0)}, TRS_ESUPPORT);
    refuse_options((trs_options){.device_memory = {.alloc = (void *(*)(void *, int, size_t))abort}},
                   TRS_EARG);
    refuse_options((trs_options){.memory = {.alloc = (void *(*)(void *, size_t))abort}}, TRS_EARG);
}

/* bitwise takes solvers that promise it, and no other, by name or by choice. */
static void test_bitwise(void **state)
{
    (void)state;
    trs_options opt = {.bitwise = 1};
    trs_info info;
    trs_plan *p = ready(val4, &opt);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(trs_solver_named(info.solver)->caps & TRS_CAP_BITWISE);
    trs_plan_destroy(p);
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        char why[200];
        if (!trs_solver_available(s, 0, why, sizeof why)) continue;
        const double one = 1;
        trs_mat m = {.n = 1, .ld = 1, .val = &one, .format = TRS_DENSE};
        m.kind = s->family == TRS_TRIANGLE ? TRS_LOWER : 0;
        opt.solver = s->name;
        int rc = trs_plan_create(&p, &m, &opt);
        assert_int_equal(rc, s->caps & TRS_CAP_BITWISE ? TRS_OK : TRS_ESUPPORT);
        if (rc) assert_non_null(strstr(trs_message(), "same bits"));
        trs_plan_destroy(p);
    }
}

/* ---- pivots ------------------------------------------------------------------------------------------ */

static void bad_pivots(const double *val, int64_t count, int64_t first, const char *words,
                       unsigned kind, trs_order order)
{
    trs_mat m = mat4(val), good = mat4(val4);
    trs_options opt = {.order = order};
    trs_plan *p;
    int64_t c = -7, f = -7;
    double x[4];
    m.kind |= kind;
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_EPIVOT);
    assert_non_null(strstr(trs_message(), words));
    assert_int_equal(trs_plan_pivots(p, &c, &f), TRS_OK);
    assert_int_equal(c, count);
    assert_int_equal(f, first);
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
    good.kind = m.kind;
    assert_status(trs_plan_update(p, &good, NULL), TRS_OK);
    assert_int_equal(trs_plan_pivots(p, &c, &f), TRS_OK);
    assert_true(c == 0 && f == -1);
    assert_solves(p);
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_EPIVOT); /* and bad again */
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
    trs_plan_destroy(p);
}

static void test_pivots(void **state)
{
    (void)state;
    const double zero[] = {2, 1, 0, 5, 3, 0}, nan_[] = {2, 1, 4, NAN, 3, 8};
    const double inf[] = {INFINITY, 1, 4, 5, 3, 8}, minus[] = {2, 1, 4, 5, 3, -0.0};
    for (int order = 0; order < 3; order++) {
        bad_pivots(zero, 2, 2, "row 2: diagonal is zero (2 such rows)", 0, (trs_order)order);
        bad_pivots(nan_, 1, 3, "row 3: diagonal is not finite", 0, (trs_order)order);
        bad_pivots(inf, 1, 1, "row 1: diagonal is not finite", 0, (trs_order)order);
        bad_pivots(minus, 1, 4, "row 4: diagonal is zero", 0, (trs_order)order);
    }
    trs_mat m = mat4(zero); /* with a unit diagonal nothing stored there matters */
    trs_plan *p;
    m.kind |= TRS_UNIT;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    trs_plan_destroy(p);
}

/* Base 0, upper, by columns; row 1 has no diagonal, and no update can give it one. */
static void test_missing(void **state)
{
    (void)state;
    const int32_t ptr[] = {0, 1, 2, 4}, idx[] = {0, 0, 2, 1};
    const double val[] = {1, 1, 1, 1};
    trs_mat m = {.n = 3,
                 .nnz = 4,
                 .ptr = ptr,
                 .idx = idx,
                 .val = val,
                 .ptr_bits = 32,
                 .format = TRS_CSC,
                 .kind = TRS_UPPER};
    for (int order = 0; order < 3; order++) {
        trs_options opt = {.order = (trs_order)order, .ops = order ? 7 : 2};
        trs_plan *p;
        int64_t count, first;
        assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
        assert_int_equal(trs_plan_analyse(p), TRS_EPIVOT);
        assert_non_null(strstr(trs_message(), "row 1: diagonal is missing"));
        assert_int_equal(trs_plan_pivots(p, &count, &first), TRS_OK);
        assert_true(count == 1 && first == 1);
        assert_int_equal(trs_plan_update(p, &m, NULL), TRS_EPIVOT);
        trs_plan_destroy(p);
    }
}

/* ---- update ------------------------------------------------------------------------------------------ */

/* Whatever an update fails with, there is no solve with the old values after it. */
static void stale(trs_mat m, int code)
{
    trs_plan *p = ready(val4, NULL);
    trs_mat good = mat4(val4);
    double x[4];
    assert_int_equal(trs_plan_update(p, &m, NULL), code);
    assert_true(trs_message()[0] != '\0');
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
    good.ptr = good.idx = NULL; /* only val is read */
    assert_int_equal(trs_plan_update(p, &good, NULL), TRS_OK);
    assert_solves(p);
    trs_plan_destroy(p);
}

static void test_update(void **state)
{
    (void)state;
    const double other[] = {1, 1, 1, 1, 1, 1};
    trs_mat m = mat4(val4);
    m.n = 3;
    stale(m, TRS_EARG);
    m = mat4(val4), m.nnz = 5;
    stale(m, TRS_EARG);
    m = mat4(val4), m.dtype = TRS_F32;
    stale(m, TRS_EARG);
    m = mat4(val4), m.format = TRS_CSC;
    stale(m, TRS_EARG);
    m = mat4(NULL);
    stale(m, TRS_EARG);
    m = mat4((const double[]){2, 1, 0, 5, 3, 8});
    stale(m, TRS_EPIVOT);
    trs_plan *p = ready(other, NULL);
    m = mat4(val4);
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_OK);
    assert_solves(p);
    trs_plan_destroy(p);
}

/* The caller's arrays may go after create. */
static void test_ownership(void **state)
{
    (void)state;
    double *val = malloc(sizeof val4);
    assert_non_null(val);
    memcpy(val, val4, sizeof val4);
    trs_mat m = mat4(val);
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    memset(val, 0xff, sizeof val4);
    free(val);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    assert_solves(p);
    trs_plan_destroy(p);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* create, analyse, update, work space, solve; how it ended. */
static int whole_life(counter *c, const char *solver, trs_order order, trs_pivot pivot)
{
    random_t r = {11};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .shuffled = true};
    model m = model_new(RANDOM, false, true, false, &r);
    trs_mat a = show(&m, &f, &r);
    trs_options opt = {.solver = solver, .order = order, .ops = 7, .memory = counted_memory(c)};
    opt.device_memory = counted_device_memory(c);
    opt.pivot = pivot;
    trs_plan *p = NULL;
    trs_work *w = NULL;
    double *x = calloc((size_t)m.n, sizeof *x);
    int rc = trs_plan_create(&p, &a, &opt);
    if (!rc) rc = trs_plan_analyse(p);
    if (!rc) rc = trs_plan_update(p, &a, NULL);
    if (!rc && p->info.on_gpu) { /* the first one from the device allocates */
        trs_mat d = mat_to_device(&a);
        rc = trs_plan_update(p, &d, NULL);
        mat_free_device(&d);
    }
    if (!rc) rc = trs_work_create(&w, p, 2);
    trs_exec exec = {.work = w};
    const long before = c->calls;
    if (!rc) rc = trs_solve(p, TRS_T, 1, x, m.n, x, m.n, &exec);
    if (!rc) assert_int_equal(c->calls, before); /* a solve allocates nothing */
    if (rc == TRS_EMEM && p && !w && c->calls > 2 && !(p->state == TRS_READY)) {
        const int32_t *P, *Q;
        assert_true(trs_message()[0] != '\0');
        if (p->state == TRS_FAILED) assert_refused(trs_plan_permutation(p, &P, &Q), TRS_ESTATE);
    }
    trs_work_destroy(w);
    trs_plan_destroy(p);
    free(x);
    mat_free(&a);
    model_free(&m);
    return rc;
}

/* Where memory for an analysis is refused that an estimate asks for, the solver has it made once more when it is
 * built, and need not fail. */
static bool asks_again(const trs_solver *s)
{
    random_t r = {11};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    model m = model_new(RANDOM, false, true, false, &r);
    trs_mat a = show(&m, &f, &r);
    const trs_options opt = {.solver = s->name};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    const bool has_analysis = p->side[0].op.analyses != NULL; /* found or not */
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
    return has_analysis;
}

static void every_allocation_fails(const trs_solver *s, trs_order order, trs_pivot pivot)
{
    bool more = true;
    const bool again = asks_again(s);
    for (long k = 0; more && k < 2000; k++) {
        counter c = {.fail_at = k};
        const int rc = whole_life(&c, s->name, order, pivot);
        more = c.calls > k;
        if (c.live)
            print_error("%s: %ld blocks leak when allocation %ld fails\n", s->name, c.live, k);
        assert_int_equal(c.live, 0);
        if (rc != TRS_EMEM && rc != TRS_OK) print_error("%s: %d at %ld\n", s->name, rc, k);
        assert_true(rc == TRS_OK || rc == TRS_EMEM);
        if (rc == TRS_OK && more && !again)
            print_error("%s: nobody noticed that allocation %ld failed\n", s->name, k);
        assert_true(rc == TRS_EMEM || !more || again);
        assert_true(rc == TRS_OK || more);
    }
    assert_false(more);
}

static void test_allocations(void **state)
{
    (void)state;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        char why[200];
        if (s->family != TRS_TRIANGLE || !trs_solver_available(s, 0, why, sizeof why)) continue;
        every_allocation_fails(s, TRS_ORDER_NATURAL, TRS_PIVOT_FAIL);
        every_allocation_fails(s, TRS_ORDER_LEVEL, TRS_PIVOT_FAIL);
        every_allocation_fails(s, TRS_ORDER_LEVEL, TRS_PIVOT_SKIP);
    }
}

/* Row 0, and rows that have its column. */
static void make_two_levels(int32_t n, int32_t left_out, int64_t *ptr, int32_t *idx, double *val)
{
    for (int32_t i = 0, p = 0; i < n; i++) {
        ptr[i] = p;
        if (i > 0) idx[p] = 0, val[p++] = 1;
        idx[p] = i, val[p++] = i == left_out ? 0 : 2;
        ptr[i + 1] = p;
    }
}

/* Rows of two levels, so wide that several threads are faster, or a GPU, one of them without a pivot; every allocation
 * fails in turn: where it was one of the solver, another one takes over and says why. */
static void test_next_candidate(void **state)
{
    enum { N = 260000, LEFT_OUT = 5 };
    int64_t *ptr = malloc((N + 1) * sizeof *ptr);
    int32_t *idx = malloc(2 * N * sizeof *idx);
    double *val = malloc(2 * N * sizeof *val), *x = malloc(N * sizeof *x);
    int taken_over = 0, rc = TRS_EMEM;
    (void)state;
    assert_true(ptr && idx && val && x);
    make_two_levels(N, LEFT_OUT, ptr, idx, val);
    const trs_mat m = {
        .n = N, .nnz = 2 * N - 1, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    counter c = {.fail_at = 0};
    for (long k = 0; k < 1000 && !(rc == TRS_OK && c.calls <= k); k++) {
        c = (counter){.fail_at = k};
        const trs_options opt = {.threads = 8,
                                 .device = TRS_HOST,
                                 .pivot = TRS_PIVOT_SKIP,
                                 .memory = counted_memory(&c)};
        trs_plan *p = NULL;
        trs_info info;
        rc = trs_plan_create(&p, &m, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        if (!rc) {
            for (int i = 0; i < N; i++) x[i] = i ? 5 : 2;
            assert_int_equal(trs_plan_info(p, &info), TRS_OK);
            assert_status(trs_solve(p, TRS_N, 1, x, N, x, N, NULL), TRS_OK);
            for (int i = 0; i < N; i++) assert_true(x[i] == (i == LEFT_OUT ? 0 : 1 + (i > 0)));
            taken_over += strstr(info.reason, " could not be made") ||
                          strstr(info.reason, " could not be tried");
        }
        trs_plan_destroy(p);
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(rc, TRS_OK);
    assert_true(taken_over > 0);
    free(ptr);
    free(idx);
    free(val);
    free(x);
}

/* One work space for L and U, and then for more right-hand sides; running out of memory in between
 * leaves it as it was. */
static void share_work(const trs_solver *s)
{
    random_t r = {3};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    model m[2] = {model_new(RANDOM, false, true, false, &r),
                  model_new(LONG_ROWS, true, true, false, &r)};
    trs_plan *p[2];
    trs_work *w = NULL;
    counter c = {.fail_at = -1};
    double *b[2], *x = malloc(4 * 700 * sizeof *x);
    assert_non_null(x);
    for (int k = 0; k < 2; k++) {
        trs_mat a = show(&m[k], &f, &r);
        trs_options opt = {.solver = s->name, .order = TRS_ORDER_LEVEL};
        opt.memory = counted_memory(&c);
        assert_int_equal(trs_plan_create(&p[k], &a, &opt), TRS_OK);
        assert_status(trs_plan_analyse(p[k]), TRS_OK);
        mat_free(&a);
        b[k] = malloc(4 * 700 * sizeof *x);
        assert_non_null(b[k]);
        for (int i = 0; i < 4 * m[k].n; i++) b[k][i] = random_uniform(&r);
    }
    assert_int_equal(trs_work_create(&w, p[0], 1), TRS_OK);
    const trs_exec exec = {.work = w};
    assert_int_equal(trs_solve(p[1], TRS_N, 1, b[1], m[1].n, x, m[1].n, &exec), TRS_EARG);
    int rc = TRS_EMEM;
    for (long fail = 0; rc; fail++) {
        const long live = c.live;
        c.calls = 0, c.fail_at = fail;
        rc = trs_work_fit(w, p[1], 2);
        assert_true(rc == TRS_OK || (rc == TRS_EMEM && c.live == live));
        c.fail_at = -1;
        assert_int_equal(trs_solve(p[0], TRS_N, 1, b[0], m[0].n, x, m[0].n, &exec), TRS_OK);
    }
    assert_int_equal(trs_work_fit(w, p[0], 4), TRS_OK);
    for (int turn = 0; turn < 4; turn++) {
        const int k = turn % 2, n = m[k].n;
        assert_int_equal(trs_solve(p[k], TRS_N, 4, b[k], n, x, n, &exec), TRS_OK);
        for (int col = 0; col < 4; col++) {
            quality q = quality_of(&m[k], false, TRS_N, TRS_F64, b[k] + col * n, 1, x + col * n, 1);
            assert_at_most(s->accuracy == TRS_SUBSTITUTION ? q.omega : q.normwise, 1e-11);
        }
    }
    trs_work_destroy(w);
    for (int k = 0; k < 2; k++) trs_plan_destroy(p[k]), model_free(&m[k]), free(b[k]);
    free(x);
    assert_int_equal(c.live, 0);
}

static void test_shared_work(void **state)
{
    (void)state;
    char why[200];
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family == TRS_TRIANGLE && trs_solver_available(s, 0, why, sizeof why)) share_work(s);
    }
}

static void assert_near(const trs_plan *p, const double *want)
{
    double x[4];
    assert_status(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_OK);
    for (int i = 0; i < 4; i++) assert_at_most(fabs(x[i] - want[i]), 1e-14);
}

/* An update after which another row is left out analyses again; where memory runs out in it, nothing can be solved or
 * saved, and the next update does it. */
static void analyse_again(const trs_solver *s, trs_order order)
{
    const double out[] = {2, 1, 0, 5, 3, 8};
    const trs_mat without = mat4(out), whole = mat4(val4);
    counter c = {.fail_at = -1};
    trs_options opt = {.solver = s->name, .ops = 7, .order = order, .pivot = TRS_PIVOT_SKIP};
    opt.memory = counted_memory(&c);
    opt.device_memory = counted_device_memory(&c);
    trs_plan *p = ready(val4, &opt);
    const int32_t *topo, *lv;
    double x[4];
    trs_info info;
    int rc = TRS_EMEM;
    for (long fail = 0; rc && fail < 1000; fail++) {
        c.calls = 0, c.fail_at = fail;
        rc = trs_plan_update(p, &without, NULL);
        c.fail_at = -1;
        assert_status(rc, rc ? TRS_EMEM : TRS_OK);
        if (rc) {
            assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_ESTATE);
            assert_int_equal(trs_plan_levels(p, &topo, &lv), TRS_ESTATE);
#ifdef HAVE_XXHASH
            assert_int_equal(trs_plan_save(p, "t_plan.trsplan"), TRS_ESTATE);
#endif
        } else assert_near(p, (const double[]){1, 0, 2, 2.375});
        assert_int_equal(trs_plan_update(p, &whole, NULL), TRS_OK);
        assert_near(p, x4);
    }
    assert_int_equal(rc, TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(info.seconds_levels <= info.seconds_analyse); /* a part of it, not of all of them */
    trs_plan_destroy(p);
    assert_int_equal(c.live, 0);
}

static void test_analysed_again(void **state)
{
    (void)state;
    char why[200];
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || !trs_solver_available(s, 0, why, sizeof why)) continue;
        analyse_again(s, TRS_ORDER_NATURAL);
        analyse_again(s, TRS_ORDER_LEVEL);
    }
}

/* What trs_plan_info says is what the plan takes, and a limit of so much is enough, one below is not. */
static void count_bytes(const trs_solver *s, trs_order order, unsigned ops, trs_pivot pivot,
                        int threads)
{
    random_t r = {13};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .shuffled = true};
    model m = model_new(s->full ? RANDOM : WIDE, false, s->full, false, &r);
    trs_mat a = show(&m, &f, &r);
    counter c = {.fail_at = -1};
    trs_options opt = {
        .solver = s->name, .order = order, .ops = ops, .pivot = pivot, .threads = threads};
    trs_plan *p;
    trs_info before, after;
    opt.memory = counted_memory(&c);
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_int_equal(trs_plan_info(p, &before), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &after), TRS_OK);
    assert_true(after.bytes_host <= before.bytes_host);
    assert_at_most((double)c.bytes, 1.02 * (double)(after.bytes_host + after.bytes_work) + 4096);
    assert_at_most(0.9 * (double)(after.bytes_host + after.bytes_work) - 4096, (double)c.bytes);
    trs_plan_destroy(p);
    for (int enough = 0; enough < 2; enough++) {
        opt.memory_limit = enough ? before.bytes_host : after.bytes_host / 2;
        int rc = trs_plan_create(&p, &a, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        assert_int_equal(rc, enough ? TRS_OK : TRS_EMEM);
        if (rc) assert_non_null(strstr(trs_message(), "limit"));
        trs_plan_destroy(p);
    }
    mat_free(&a);
    model_free(&m);
}

static void test_bytes(void **state)
{
    (void)state;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || s->place != TRS_ON_CPU) continue;
        for (int order = 1; order < 3; order++)
            for (unsigned ops = 1; ops < 4; ops++)
                for (int pivot = 0; pivot < 2; pivot++)
                    for (int threads = 1; threads <= 16; threads *= 16)
                        count_bytes(s, (trs_order)order, ops, (trs_pivot)pivot, threads);
    }
}

static void test_limit(void **state)
{
    (void)state;
    trs_mat m = mat4(val4);
    trs_plan *p;
    trs_options opt = {.memory_limit = 50};
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_EMEM);
    assert_non_null(strstr(trs_message(), "limit"));
    trs_plan_destroy(p);
    opt = (trs_options){.solver = "cpu-dense", .memory_limit = 1 << 20};
    p = ready(val4, &opt);
    assert_solves(p);
    trs_plan_destroy(p);
}

/* By default a full matrix may take 8 GiB; 40000^2 doubles are more. */
static void test_default_limit(void **state)
{
    (void)state;
    enum { N = 40000 };
    int64_t *ptr = malloc((N + 1) * sizeof *ptr);
    int32_t *idx = malloc(N * sizeof *idx);
    double *val = malloc(N * sizeof *val);
    assert_true(ptr && idx && val);
    for (int i = 0; i <= N; i++) ptr[i] = i;
    for (int i = 0; i < N; i++) idx[i] = i, val[i] = 1;
    trs_mat m = {.n = N, .nnz = N, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    trs_options opt = {.solver = "cpu-dense"};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_EMEM);
    trs_plan_destroy(p);
    free(ptr), free(idx), free(val);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_not_ready),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_solve_arguments),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_ownership),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_next_candidate),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_default_limit),
        cmocka_unit_test(test_bitwise),
        cmocka_unit_test(test_shared_work),
        cmocka_unit_test(test_null_elsewhere),
        cmocka_unit_test(test_leading_dimensions),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_analysed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
