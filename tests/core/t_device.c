/* t_device.c: whatever is called, the caller's CUDA device is current afterwards; and what plans say that they have on it.
 *
 * Where there are two GPUs, a whole life of a plan on each of them, for every solver, while the other one is
 * current.  Everywhere in builds with CUDA, also without a GPU: the calls that need none, on devices that
 * these functions only pretend to have (the linker puts them in the place of CUDA's). */
#include "tests/common/counter.h"
#include "tests/common/dags.h"

#ifdef HAVE_CUDA

#include <cuda_runtime.h>
#include <math.h>

/* ---- two devices that are not there ------------------------------------------------------------- */

static struct {
    int on, current, switches;
} pretended;

cudaError_t __real_cudaGetDeviceCount(int *count);
cudaError_t __real_cudaGetDevice(int *device);
cudaError_t __real_cudaSetDevice(int device);
cudaError_t __wrap_cudaGetDeviceCount(int *count);
cudaError_t __wrap_cudaGetDevice(int *device);
cudaError_t __wrap_cudaSetDevice(int device);

cudaError_t __wrap_cudaGetDeviceCount(int *count)
{
    if (!pretended.on) return __real_cudaGetDeviceCount(count);
    *count = 2;
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDevice(int *device)
{
    if (!pretended.on) return __real_cudaGetDevice(device);
    *device = pretended.current;
    return cudaSuccess;
}

cudaError_t __wrap_cudaSetDevice(int device)
{
    if (!pretended.on) return __real_cudaSetDevice(device);
    pretended.current = device;
    pretended.switches++;
    return cudaSuccess;
}

/* The call went to the other device and came back. */
#define assert_came_back(call)                                                                     \
    do {                                                                                           \
        pretended.switches = 0;                                                                    \
        (void)(call);                                                                              \
        assert_int_equal(pretended.current, 1);                                                    \
        assert_int_equal(pretended.switches, 2);                                                   \
    } while (0)

static void test_pretended(void **state)
{
    (void)state;
    int count;
    if (!__real_cudaGetDeviceCount(&count) && count > 0) skip(); /* it would be used in earnest */
    (void)cudaGetLastError();
    const int64_t ptr[] = {0, 1};
    const int32_t idx[] = {0};
    double one = 1;
    trs_mat m = {.n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = &one, .kind = TRS_LOWER};
    const trs_options opt = {.device = TRS_CUDA(0)};
    const trs_ilu_options ilu = {.plan = opt};
    const trs_options many = {.solves = TRS_SOLVES_MANY}; /* else it stays on the host at first */
    trs_plan *plan;
    trs_lu *lu;
    trs_timer *timer;
    void *p;
    char name[200];
    pretended.on = pretended.current = 1;
    assert_came_back(trs_device_new(TRS_CUDA(0), 8, &p));
    assert_came_back(trs_device_put(TRS_CUDA(0), &one, &one, 8));
    assert_came_back(trs_device_get(TRS_CUDA(0), &one, &one, 8));
    assert_came_back(trs_device_copy(TRS_CUDA(0), &one, &one, 8, NULL));
    assert_came_back(trs_device_name(TRS_CUDA(0), name, sizeof name));
    assert_came_back(trs_timer_create(&timer, TRS_CUDA(0)));
    assert_came_back(trs_plan_create(&plan, &m, &opt));
    assert_int_equal(trs_plan_create(&plan, &m, &many), TRS_OK);
    assert_came_back(trs_plan_analyse(plan));
    trs_plan_destroy(plan);
    m.device = TRS_CUDA(0);
    assert_came_back(trs_plan_create(&plan, &m, NULL));
    m.device = TRS_HOST;
    m.kind = 0;
    assert_came_back(trs_ilu(&lu, &m, &ilu));
    trs_lu_destroy(lu);
    pretended.on = 0;
}

/* ---- two devices that are there ----------------------------------------------------------------- */

static void assert_current(int device, const char *solver, const char *call)
{
    int now = -1;
    assert_int_equal(cudaGetDevice(&now), cudaSuccess);
    if (now != device) print_error("%s: %s leaves device %d current\n", solver, call, now);
    assert_int_equal(now, device);
}

enum { N = 500 };

/* Bidiagonal with 2 on the diagonal and -1 below: x = 1 for b = 2, 1, 1, ... */
typedef struct two_rows {
    int64_t ptr[N + 1];
    int32_t idx[2 * N];
    double val[2 * N], full[N * N], b[N], x[N];
} two_rows;

static trs_mat fill(two_rows *t, bool full)
{
    int64_t nnz = 0;
    for (int32_t i = 0; i < N; i++) {
        if (i > 0) t->val[nnz] = t->full[i + N * (i - 1)] = -1, t->idx[nnz++] = i - 1;
        t->val[nnz] = t->full[i + N * i] = 2, t->idx[nnz++] = i;
        t->ptr[i + 1] = nnz;
        t->b[i] = i > 0 ? 1 : 2;
    }
    trs_mat m = {.n = N, .nnz = nnz, .ptr = t->ptr, .idx = t->idx, .val = t->val};
    if (full) m = (trs_mat){.n = N, .ld = N, .val = t->full, .format = TRS_DENSE};
    return m;
}

static void one_life(const trs_solver *s, int device)
{
    const int other = 1 - device;
    two_rows *t = calloc(1, sizeof *t);
    assert_non_null(t);
    const bool general = s->family == TRS_GENERAL_DENSE;
    trs_mat m = fill(t, general);
    m.kind = general ? 0 : TRS_LOWER;
    const trs_options opt = {.solver = s->name, .device = TRS_CUDA(device)};
    void *x;
    trs_plan *p;
    trs_work *w;
    assert_int_equal(cudaSetDevice(other), cudaSuccess);
    assert_status(trs_device_new(TRS_CUDA(device), sizeof t->b, &x), TRS_OK);
    assert_current(other, s->name, "device_new");
    assert_status(trs_device_put(TRS_CUDA(device), x, t->b, sizeof t->b), TRS_OK);
    assert_current(other, s->name, "device_put");
    assert_status(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_current(other, s->name, "create");
    const int rc = trs_plan_analyse(p);
    assert_current(other, s->name, "analyse");
    if (rc != TRS_ESUPPORT) { /* else it solves numbers of another type only */
        assert_status(rc, TRS_OK);
        assert_status(trs_plan_update(p, &m, NULL), TRS_OK);
        assert_current(other, s->name, "update");
        assert_status(trs_work_create(&w, p, 1), TRS_OK);
        assert_current(other, s->name, "work_create");
        assert_status(trs_solve(p, TRS_N, 1, x, N, x, N, &(trs_exec){.work = w}), TRS_OK);
        assert_current(other, s->name, "solve");
        assert_status(trs_device_get(TRS_CUDA(device), t->x, x, sizeof t->x), TRS_OK);
        for (int i = 0; i < N; i++) assert_true(fabs(t->x[i] - 1) < 1e-10);
        trs_work_destroy(w);
        assert_current(other, s->name, "work_destroy");
    }
    trs_plan_destroy(p);
    assert_current(other, s->name, "destroy");
    trs_device_free(TRS_CUDA(device), x);
    assert_current(other, s->name, "device_free");
    free(t);
}

static void test_two_devices(void **state)
{
    (void)state;
    int count = 0;
    char why[200];
    if (cudaGetDeviceCount(&count) || count < 2) {
        (void)cudaGetLastError();
        skip();
    }
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->place != TRS_ON_CUDA || !trs_solver_available(s, 0, why, sizeof why)) continue;
        for (int device = 0; device < 2; device++) one_life(s, device);
    }
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

/* ---- what a plan says that it takes --------------------------------------------------------------- */

static void count_bytes(const trs_solver *s, const dag *d, bool there)
{
    random_t r = {17};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    model m = model_of(d, 20000, false, &r);
    trs_mat a = show(&m, &f, &r), b = mat_to_device(&a);
    counter c = {.fail_at = -1};
    const trs_options opt = {
        .solver = s->name, .device_memory = counted_device_memory(&c), .device = TRS_CUDA(0)};
    trs_plan *p;
    trs_info info;
    assert_status(trs_plan_create(&p, there ? &b : &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_plan_update(p, there ? &b : &a, NULL), TRS_OK);
    assert_status(trs_plan_info(p, &info), TRS_OK);
    const double said = (double)(info.bytes_device + info.bytes_work);
    print_message("%s, %s, from the %s: %.0f bytes, said %.0f\n", s->name, d->name,
                  there ? "device" : "host", (double)c.device_bytes, said);
    assert_true(fabs((double)c.device_bytes - said) <= 4096); /* arrays begin at multiples of 256 */
    trs_plan_destroy(p);
    assert_int_equal(c.live, 0);
    mat_free_device(&b);
    mat_free(&a);
    model_free(&m);
}

static void test_bytes(void **state)
{
    (void)state;
    int count = 0;
    if (cudaGetDeviceCount(&count) || count < 1) {
        (void)cudaGetLastError();
        skip();
    }
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (!s->held) continue;
        for (int d = 0; d < DAGS; d++)
            for (int there = 0; there < 2; there++) count_bytes(s, &dags[d], there);
    }
}

#else

static void test_pretended(void **state)
{
    (void)state;
    skip();
}

static void test_bytes(void **state)
{
    (void)state;
    skip();
}

static void test_two_devices(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pretended),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
