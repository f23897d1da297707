/* t_groups.c: the groups of iterations that a device gets, without a device: memory and passes of one are those of the host, and
 * the host sees scalars only where it copies them.  Then x, history and counts have the bits of an iteration on the host. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/device.h"
#include "krylov/iteration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200, RESTART = 17, METHODS = 5 };

/* passes of a second Gram-Schmidt */
static int twice;
/* looks at the scalars; seconds that a look at the clock takes */
static int waits;
static double tick;

/* ---- a device ------------------------------------------------------------------------------------ */

int __wrap_trs_check_device(int device);
int __wrap_trs_check_device(int device)
{
    (void)device;
    return TRS_OK;
}

int __wrap_trs_gpu_use(trs_context *ctx);
int __wrap_trs_gpu_use(trs_context *ctx)
{
    (void)ctx;
    return TRS_OK;
}

void *__wrap_trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what);
void *__wrap_trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    void *p = malloc((size_t)count * size);
    (void)ctx, (void)what;
    assert_non_null(p);
    return memset(p, -1, (size_t)count * size); /* NaN */
}

void __wrap_trs_gpu_free(trs_context *ctx, void *p);
void __wrap_trs_gpu_free(trs_context *ctx, void *p)
{
    (void)ctx;
    free(p);
}

double __wrap_trs_now(void);
double __wrap_trs_now(void)
{
    static double now;
    return now += tick;
}

int __wrap_trs_gpu_wait(void *stream);
int __wrap_trs_gpu_wait(void *stream)
{
    (void)stream;
    waits++;
    return TRS_OK;
}

int __wrap_trs_device_put(int device, void *to, const void *from, size_t bytes);
int __wrap_trs_device_put(int device, void *to, const void *from, size_t bytes)
{
    (void)device;
    memcpy(to, from, bytes);
    return TRS_OK;
}

int __wrap_trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, bool to_device, void *stream);
int __wrap_trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, bool to_device, void *stream)
{
    (void)to_device, (void)stream;
    assert_true(to_pitch == width && from_pitch == width && height == 1);
    memcpy(to, from, width);
    return TRS_OK;
}

int64_t __wrap_trs_gpu_ranges(int64_t n);
int64_t __wrap_trs_gpu_ranges(int64_t n)
{
    return trs_ranges(n);
}

int64_t __wrap_trs_gpu_residual_bytes(int nrhs);
int64_t __wrap_trs_gpu_residual_bytes(int nrhs)
{
    return nrhs;
}

int __wrap_trs_gpu_pass(const trs_space *v, const trs_pass *p, bool always);
int __wrap_trs_gpu_pass(const trs_space *v, const trs_pass *p, bool always)
{
    twice += p->twice && !trs_pass_over(v->scalars, p, always);
    trs_pass_here(v, p, always);
    return TRS_OK;
}

/* ---- a system ------------------------------------------------------------------------------------ */

/* Tridiagonal, and with a wind of 0 symmetric. */
static int product(void *user, const void *from, void *to, void *stream)
{
    const double wind = *(const double *)user, *x = from;
    double *y = to;
    (void)stream;
    for (int i = 0; i < N; i++) {
        y[i] = 2.1 * x[i];
        if (i) y[i] -= (1 + wind) * x[i - 1];
        if (i + 1 < N) y[i] -= (1 - wind) * x[i + 1];
    }
    return TRS_OK;
}

static int scale(void *user, const void *from, void *to, void *stream)
{
    (void)user, (void)stream;
    for (int i = 0; i < N; i++) ((double *)to)[i] = ((const double *)from)[i] / (2 + i % 3);
    return TRS_OK;
}

typedef struct result {
    double x[N], history[400];
    trs_krylov_info info;
} result;

static result solve(trs_krylov_method method, int device, bool preconditioned, trs_krylov_goal goal)
{
    result r = {.history = {0}};
    double b[N], wind = method == TRS_CG || method == TRS_MINRES ? 0 : 0.05;
    trs_krylov *k;
    const trs_krylov_options o = {
        .method = method, .n = N, .device = device, .restart = RESTART, .threads = 1};
    const trs_map A = {.apply = product, .user = &wind}, M = {.apply = scale};
    for (int i = 0; i < N; i++) b[i] = sin(i * i), r.x[i] = goal.guess ? cos(i) : NAN;
    goal.history = r.history;
    assert_int_equal(trs_krylov_create(&k, &o), TRS_OK);
    waits = 0;
    assert_int_equal(
        trs_krylov_solve(k, &A, preconditioned ? &M : NULL, 1, b, N, r.x, N, &goal, &r.info),
        TRS_OK);
    trs_krylov_destroy(k);
    return r;
}

static void test_groups(void **state)
{
    (void)state;
    for (int k = 0; k < 16 * METHODS; k++) {
        const trs_krylov_method method = (trs_krylov_method)(k / 16);
        const bool slow = k & 8;
        const trs_krylov_goal goal = {
            .rtol = 1e-9, .max_iterations = k & 1 ? 23 : 300, .guess = k / 2 & 1};
        const result here = solve(method, TRS_HOST, k & 4, goal);
        assert_int_equal(waits, 0);
        tick = slow ? 1 : 1e-6;
        const result there = solve(method, TRS_CUDA(0), k & 4, goal);
        const int iterations = (int)here.info.iterations;
        assert_memory_equal(here.x, there.x, sizeof here.x);
        assert_memory_equal(here.history, there.history, sizeof here.history);
        assert_int_equal(here.info.stop, there.info.stop);
        assert_int_equal(here.info.stop, k & 1 ? TRS_STOP_STEPS : TRS_STOP_CONVERGED);
        assert_int_equal(here.info.iterations, there.info.iterations);
        assert_true(!(k & 1) || iterations == 23);
        /* once in a group, and a few times at the ends of cycles; a group of slow iterations is one */
        if (slow) assert_true(waits >= iterations);
        else assert_true(waits <= iterations / TRS_KRYLOV_GROUP + 2 * (iterations / RESTART) + 6);
        assert_int_equal(twice, 0); /* V stays orthogonal */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
