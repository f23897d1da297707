/* t_krylov_device.c: on a device the methods take the iterations of the host, and find its x to rounding, in every type; with the
 * same bits each time, on any stream, and with functions of the caller.  They stop in the middle of a group. */
#include "tests/factor/there.h"

enum { M = 12, N = M * M * M, METHODS = 5 };

/* The 7-point matrix of a grid with a wind, which a Hermitian one lacks. */
static trs_mat grid(trs_dtype t, double wind)
{
    int64_t *ptr = calloc(N + 1, 8), nnz = 0;
    int32_t *idx = calloc(7 * N, 4);
    void *val = calloc(7 * N, sizeof(zz));
    assert_true(ptr && idx && val);
    const int step[] = {-M * M, -M, -1, 0, 1, M, M * M};
    for (int i = 0; i < N; i++) {
        const int at[] = {i / M / M, i / M % M, i % M};
        for (int s = 0; s < 7; s++) {
            const int axis = s < 3 ? s : 6 - s;
            if ((s < 3 && at[axis] == 0) || (s > 3 && at[axis] == M - 1)) continue;
            const zz side = s < 3 ? -1 - wind : -1 + wind, turn = s < 3 ? 0.1 * I : -0.1 * I;
            idx[nnz] = i + step[s];
            set_value(val, t, nnz++, s == 3 ? 6 : side + turn);
        }
        ptr[i + 1] = nnz;
    }
    return (trs_mat){.n = N, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val, .dtype = t};
}

static bool needs_hermitian(int m)
{
    return m == TRS_CG || m == TRS_MINRES;
}

typedef struct result {
    trs_krylov_info info;
    double history[200];
    zz x[N];
} result;

/* Solve where A, b and x are; x comes back. */
static void solve(trs_krylov_method method, const trs_mat *A, trs_lu *lu, const void *b, void *x,
                  trs_krylov_goal goal, result *r)
{
    trs_krylov *k;
    const trs_krylov_options o = {
        .method = method, .dtype = A->dtype, .n = N, .device = A->device, .restart = 25};
    const trs_map a = {.mat = A}, m = {.lu = lu};
    goal.history = r->history;
    assert_int_equal(trs_krylov_create(&k, &o), TRS_OK);
    const int rc = trs_krylov_solve(k, &a, lu ? &m : NULL, 1, b, N, x, N, &goal, &r->info);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    trs_krylov_destroy(k);
    const size_t bytes = N * size_of(A->dtype);
    memset(r->x, 0, sizeof r->x);
    if (A->device > 0) assert_int_equal(trs_device_get(A->device, r->x, x, bytes), TRS_OK);
    else memcpy(r->x, x, bytes);
}

static trs_lu *incomplete(const trs_mat *A, bool hermitian_too)
{
    trs_lu *lu;
    const trs_ilu_options o = {.method = hermitian_too ? TRS_IC0 : TRS_ILU0,
                               .plan.device = A->device};
    assert_int_equal(trs_ilu(&lu, A, &o), TRS_OK);
    return lu;
}

static double apart(const result *a, const result *b, trs_dtype t)
{
    double worst = 0;
    for (int i = 0; i < N; i++)
        worst = larger(worst, cabs(get_value(a->x, t, i) - get_value(b->x, t, i)));
    return worst;
}

static void one_method(trs_krylov_method method, trs_dtype t, bool ilu)
{
    const bool half = needs_hermitian(method);
    trs_mat here_A = grid(t, half ? 0 : 0.3), there_A = there(&here_A);
    trs_lu *here_lu = ilu ? incomplete(&here_A, half) : NULL;
    trs_lu *there_lu = ilu ? incomplete(&there_A, half) : NULL;
    zz *b = calloc(N, sizeof *b), *x = calloc(N, sizeof *x);
    result *r = calloc(4, sizeof *r);
    assert_true(b && x && r);
    for (int i = 0; i < N; i++) set_value(b, t, i, number(true));
    void *there_b = array_there(b, N * size_of(t)), *there_x = array_there(b, N * size_of(t));
    const double rtol = eps_of(t) > 1e-10 ? 1e-4 : 1e-9;
    const trs_krylov_goal goal = {.rtol = rtol, .max_iterations = 199};
    solve(method, &here_A, here_lu, b, x, goal, &r[0]);
    solve(method, &there_A, there_lu, there_b, there_x, goal, &r[1]);
    solve(method, &there_A, there_lu, there_b, there_x, goal, &r[2]);
    print_message("method %d, type %d: %d and %d iterations, x %.1e apart\n", method, t,
                  (int)r[0].info.iterations, (int)r[1].info.iterations, apart(&r[0], &r[1], t));
    assert_int_equal(r[1].info.stop, TRS_STOP_CONVERGED);
    assert_true(llabs(r[0].info.iterations - r[1].info.iterations) <= 2);
    assert_true(r[1].info.residual <= rtol * r[1].info.norm_b);
    assert_true(apart(&r[0], &r[1], t) <= 100 * rtol);
    assert_memory_equal(r[1].x, r[2].x, sizeof r[1].x);
    assert_int_equal(r[1].info.iterations, r[2].info.iterations);
    assert_memory_equal(r[1].history, r[2].history, (size_t)(r[1].info.iterations + 1) * 8);
    solve(method, &there_A, there_lu, there_b, there_x,
          (trs_krylov_goal){.rtol = rtol, .max_iterations = 3}, &r[3]);
    assert_int_equal(r[3].info.stop, TRS_STOP_STEPS);
    assert_int_equal(r[3].info.iterations, 3);
    const trs_krylov_goal further = {.rtol = rtol, .max_iterations = 199, .guess = 1};
    const double after = r[3].info.residual;
    solve(method, &there_A, there_lu, there_b, there_x, further, &r[1]);
    assert_int_equal(r[1].info.stop, TRS_STOP_CONVERGED);
    assert_true(fabs(r[1].history[0] - after) <= 1e-3 * after);
    assert_true(apart(&r[0], &r[1], t) <= 100 * rtol);
    for (int i = 0; i <= 3; i++)
        assert_true(fabs(r[3].history[i] - r[0].history[i]) <= 1e-3 * r[0].history[i]);
    trs_lu_destroy(here_lu), trs_lu_destroy(there_lu);
    free_there(there_b), free_there(there_x);
    hide(&here_A), away(&there_A);
    free(b), free(x), free(r);
}

static void test_methods(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++)
        for (int t = TRS_F64; t <= TRS_C32; t++)
            for (int ilu = 0; ilu < 2; ilu++) one_method((trs_krylov_method)m, (trs_dtype)t, ilu);
}

/* y = x, or a failure. */
static int copy(void *user, const void *x, void *y, void *stream)
{
    int *calls = user;
    if (--*calls == 0) return 17;
    return trs_device_copy(TRS_CUDA(0), y, x, N * sizeof(double), stream);
}

static void test_functions(void **state)
{
    (void)state;
    double *b = calloc(N, sizeof *b), *x = calloc(N, sizeof *x);
    assert_true(b && x);
    for (int i = 0; i < N; i++) b[i] = uniform();
    void *there_b = array_there(b, N * 8), *there_x = array_there(b, N * 8);
    for (int m = 0; m < METHODS; m++) {
        trs_krylov *k;
        const trs_krylov_options o = {
            .method = (trs_krylov_method)m, .n = N, .device = TRS_CUDA(0), .restart = 25};
        int calls = 0;
        const trs_map identity = {.apply = copy, .user = &calls};
        trs_krylov_info info;
        assert_int_equal(trs_krylov_create(&k, &o), TRS_OK);
        assert_int_equal(
            trs_krylov_solve(k, &identity, NULL, 1, there_b, N, there_x, N, NULL, &info), TRS_OK);
        assert_true(info.stop == TRS_STOP_CONVERGED && info.iterations == 1);
        assert_int_equal(trs_device_get(TRS_CUDA(0), x, there_x, N * 8), TRS_OK);
        for (int i = 0; i < N; i++) assert_true(fabs(x[i] - b[i]) < 1e-14);
        calls = 1;
        assert_int_equal(
            trs_krylov_solve(k, &identity, NULL, 1, there_b, N, there_x, N, NULL, &info), 17);
        trs_krylov_destroy(k);
    }
    free_there(there_b), free_there(there_x);
    free(b), free(x);
}

/* A grid whose entries besides the diagonal are zeros; those of the diagonal are of[0 .. period-1] in turns. */
static trs_mat diagonal(const double *of, int period)
{
    const trs_mat A = grid(TRS_F64, 0);
    double *val = (double *)A.val;
    for (int64_t q = 0; q < A.nnz; q++) val[q] = 0;
    for (int i = 0; i < N; i++)
        for (int64_t q = ((const int64_t *)A.ptr)[i]; q < ((const int64_t *)A.ptr)[i + 1]; q++)
            if (((const int32_t *)A.idx)[q] == i) val[q] = of[i % period];
    return A;
}

/* With 20 eigenvalues GMRES ends in 20 steps, if V'V = I; they spread over eight decades, so that with one Gram-Schmidt alone it
 * takes 44. */
static void test_orthogonality(void **state)
{
    enum { VALUES = 20 };
    (void)state;
    double of[VALUES], *b = calloc(N, sizeof *b);
    result *r = calloc(1, sizeof *r);
    assert_true(b && r);
    for (int k = 0; k < VALUES; k++) of[k] = pow(10, -8.0 * k / (VALUES - 1));
    for (int i = 0; i < N; i++) b[i] = 1;
    trs_mat A = diagonal(of, VALUES), D = there(&A);
    void *there_b = array_there(b, N * 8), *there_x = array_there(b, N * 8);
    for (int m = TRS_GMRES; m <= TRS_FGMRES; m++) {
        const trs_krylov_goal goal = {.rtol = 1e-8, .max_iterations = 199};
        solve((trs_krylov_method)m, &D, NULL, there_b, there_x, goal, r);
        assert_int_equal(r->info.stop, TRS_STOP_CONVERGED);
        assert_true(r->info.iterations >= 18 && r->info.iterations <= 22);
    }
    free_there(there_b), free_there(there_x);
    hide(&A), away(&D);
    free(b), free(r);
}

/* CG with an indefinite diagonal is said to be so. */
static void test_breakdown(void **state)
{
    (void)state;
    const double of[] = {1, -1};
    trs_mat A = diagonal(of, 2), D = there(&A);
    double *b = calloc(N, sizeof *b);
    result *r = calloc(1, sizeof *r);
    assert_true(b && r);
    for (int i = 0; i < N; i++) b[i] = 1;
    void *there_b = array_there(b, N * 8), *there_x = array_there(b, N * 8);
    solve(TRS_CG, &D, NULL, there_b, there_x, (trs_krylov_goal){.max_iterations = 199}, r);
    assert_int_equal(r->info.stop, TRS_STOP_BREAKDOWN);
    assert_string_equal(r->info.why, "A is not positive definite");
    assert_true(r->info.iterations == 0);
    free_there(there_b), free_there(there_x);
    hide(&A), away(&D);
    free(b), free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods), cmocka_unit_test(test_functions),
        cmocka_unit_test(test_orthogonality), cmocka_unit_test(test_breakdown)};
    return run_on_device(tests);
}
