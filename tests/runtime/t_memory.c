/* t_memory.c: another program takes all memory of the device between two calls.  This one plays both.
 *
 * A solve allocates nothing and goes on.  What allocates says TRS_EMEM with a sentence; or TRS_EDEVICE, with CUDA's name of
 * the error, where the run-time itself wants memory, for the code of a kernel that has not run yet.  When the memory is free
 * again, everything works.  A plan that would grow solves as before.
 *
 * Other tests cannot use the device meanwhile, so it runs by itself, and only if TRS_HOARD is set (tests/gpu). */
#include "tests/common/device.h"
#include "tests/common/model.h"

enum { NRHS = 3, MOST = 20000 };

/* ---- the other program ---------------------------------------------------------------------------------- */

static struct {
    void *p[MOST];
    int count;
} hoard;

static void take_all(void)
{
    for (size_t bytes = (size_t)1 << 32; bytes >= 256; bytes /= 2)
        while (hoard.count < MOST && !cudaMalloc(&hoard.p[hoard.count], bytes)) hoard.count++;
    (void)cudaGetLastError();
    assert_true(hoard.count < MOST);
}

static void give_back(void)
{
    while (hoard.count) assert_int_equal(cudaFree(hoard.p[--hoard.count]), cudaSuccess);
}

/* ---- this one ------------------------------------------------------------------------------------------- */

typedef struct scene {
    const char *name;
    model m;
    trs_mat a, d;
    double *b, *x;
    void *dev_b, *dev_x;
    size_t bytes;
    int wrong;
} scene;

static scene scene_new(const char *name, pattern p)
{
    random_t r = {5};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    scene s = {.name = name, .m = model_new(p, false, true, false, &r)};
    s.bytes = NRHS * (size_t)s.m.n * sizeof(double);
    s.a = show(&s.m, &f, &r);
    s.d = mat_to_device(&s.a);
    s.b = zeroed(NRHS * s.m.n, sizeof(double)), s.x = zeroed(NRHS * s.m.n, sizeof(double));
    for (int k = 0; k < NRHS * s.m.n; k++) s.b[k] = random_uniform(&r);
    assert_status(trs_device_new(TRS_CUDA(0), s.bytes, &s.dev_b), TRS_OK);
    assert_status(trs_device_new(TRS_CUDA(0), s.bytes, &s.dev_x), TRS_OK);
    assert_status(trs_device_put(TRS_CUDA(0), s.dev_b, s.b, s.bytes), TRS_OK);
    return s;
}

static void scene_free(scene *s)
{
    trs_device_free(TRS_CUDA(0), s->dev_b);
    trs_device_free(TRS_CUDA(0), s->dev_x);
    mat_free_device(&s->d);
    mat_free(&s->a);
    model_free(&s->m);
    free(s->b);
    free(s->x);
}

/* Is rc what lack of memory may lead to?  What is wrong is said, and the test goes on. */
static void answers(scene *s, int rc, const char *what)
{
    const bool good = rc == TRS_OK || (rc == TRS_EMEM && *trs_message()) ||
                      (rc == TRS_EDEVICE && strstr(trs_message(), "cudaErrorMemoryAllocation"));
    if (good) return;
    print_error("%s, %s: %d, \"%s\"\n", s->name, what, rc, trs_message());
    s->wrong++;
}

static void require(scene *s, int rc, const char *what)
{
    if (rc == TRS_OK) return;
    print_error("%s, %s must succeed: %d, \"%s\"\n", s->name, what, rc, trs_message());
    s->wrong++;
}

static void solve(scene *s, trs_plan *p, const char *when)
{
    const int n = s->m.n;
    memset(s->x, 0x5a, s->bytes);
    assert_status(trs_device_put(TRS_CUDA(0), s->dev_x, s->x, s->bytes), TRS_OK);
    const int rc = trs_solve(p, TRS_N, NRHS, s->dev_b, n, s->dev_x, n, NULL);
    require(s, rc, when);
    if (rc) return;
    assert_status(trs_device_get(TRS_CUDA(0), s->x, s->dev_x, s->bytes), TRS_OK);
    for (int r = 0; r < NRHS; r++) {
        const int64_t at = (int64_t)r * n;
        const double e =
            quality_of(&s->m, false, TRS_N, TRS_F64, s->b + at, 1, s->x + at, 1).normwise;
        if (e <= 1e-10) continue;
        print_error("%s, %s: error %g\n", s->name, when, e);
        s->wrong++;
    }
}

/* NULL: the solver is not for this matrix. */
static trs_plan *make(scene *s, const trs_options *opt)
{
    trs_plan *p;
    int rc = trs_plan_create(&p, &s->d, opt);
    if (!rc) rc = trs_plan_analyse(p);
    if (!rc) return p;
    if (rc != TRS_ESUPPORT) require(s, rc, "a plan");
    trs_plan_destroy(p);
    return NULL;
}

static void live(scene *s, const char *solver)
{
    const trs_options opt = {.solver = solver, .nrhs = NRHS, .device = TRS_CUDA(0)};
    trs_plan *p = make(s, &opt), *other = NULL;
    if (!p) return;
    solve(s, p, "a solve before");
    take_all();
    solve(s, p, "a solve meanwhile");
    const int updated = trs_plan_update(p, &s->d, NULL);
    answers(s, updated, "an update meanwhile");
    if (!updated) solve(s, p, "a solve after an update meanwhile");
    int rc = trs_plan_create(&other, &s->d, &opt);
    if (!rc) rc = trs_plan_analyse(other);
    answers(s, rc, "another plan meanwhile");
    trs_plan_destroy(other);
    if (!solver) {
        require(s, trs_plan_tune(p), "growing meanwhile");
        if (!updated) solve(s, p, "a solve by what has grown meanwhile");
    }
    give_back();
    require(s, trs_plan_update(p, &s->d, NULL), "an update afterwards");
    solve(s, p, "a solve afterwards");
    trs_plan_destroy(p);
    p = make(s, &opt);
    if (p) solve(s, p, "a solve with a new plan");
    trs_plan_destroy(p);
}

static void test_memory(void **state)
{
    char why[200];
    int wrong = 0;
    (void)state;
    if (!getenv("TRS_HOARD")) {
        print_message("TRS_HOARD is not set\n");
        skip();
    }
    for (int k = -1; k < 0 || trs_solver_at(k); k++) { /* -1: whichever is chosen */
        const trs_solver *s = k < 0 ? NULL : trs_solver_at(k);
        if (s && (s->place != TRS_ON_CUDA || s->family != TRS_TRIANGLE ||
                  !trs_solver_available(s, 0, why, sizeof why)))
            continue;
        scene c = scene_new(s ? s->name : "auto", RANDOM);
        live(&c, s ? s->name : NULL);
        wrong += c.wrong;
        scene_free(&c);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return run_on_device(tests);
}
