/* t_ilu_device.c: incomplete factors that are computed on a device are those of the host, to rounding: for every type, form
 * and method, with A on either side; after updates from either side; in the order of a stream, and captured in a CUDA graph
 * with the solves.  Bad pivots are said with the row and the words of the host, at once or later. */
#include "incomplete.h"
#include "there.h"

#include "base/number/number.h"

/* Diagonally dominant; some diagonal entries are missing on demand, where elimination makes them. */
static full matrix(int n, bool is_complex, bool hermitian_too, double filled)
{
    full f = full_new(n, is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            if (i == j) f.a[i + n * i] = n + uniform();
            else if (fabs(uniform()) < filled) {
                f.a[i + n * j] = number(is_complex);
                f.a[j + n * i] = hermitian_too ? conj(f.a[i + n * j]) : number(is_complex);
            }
        }
    return f;
}

/* On the host, or by a kernel on the device. */
static trs_lu *factored(const trs_mat *m, trs_ilu_options opt, int device)
{
    trs_lu_info info;
    opt.plan.device = device;
    trs_lu *lu = factor(m, &opt);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_int_equal(info.kernel != NULL, device > 0 && m->n > 0);
    return lu;
}

/* The factors of both are the same to rounding: |f - g| <= c n eps max |g|. */
static void assert_same_factors(const trs_lu *a, const trs_lu *b)
{
    trs_mat m[2][2] = {{{0}}};
    assert_int_equal(trs_lu_factors(a, &m[0][0], &m[0][1], NULL, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_factors(b, &m[1][0], &m[1][1], NULL, NULL, NULL), TRS_OK);
    for (int k = 0; k < 2; k++) {
        const trs_mat *x = &m[0][k], *y = &m[1][k];
        double apart = 0, largest = 0;
        assert_int_equal(x->n, y->n);
        if (x->n == 0) continue;
        assert_int_equal(x->nnz, y->nnz);
        assert_int_equal(x->kind, y->kind);
        assert_memory_equal(x->ptr, y->ptr, (size_t)(x->n + 1) * 8);
        assert_memory_equal(x->idx, y->idx, (size_t)x->nnz * 4);
        for (int64_t p = 0; p < x->nnz; p++) {
            const zz v = get_value(x->val, x->dtype, p), w = get_value(y->val, y->dtype, p);
            apart = larger(apart, cabs(v - w));
            largest = larger(largest, cabs(w));
            assert_true(isfinite(creal(v)) && isfinite(cimag(v)));
        }
        assert_true(apart <= 16 * (double)x->n * eps_of(x->dtype) * largest);
    }
}

/* x by both, for a b on the host and on the device. */
static void assert_same_solution(trs_lu *host, trs_lu *dev, trs_dtype t, int n)
{
    const size_t bytes = (size_t)n * trs_size(t);
    char *b = calloc(3, bytes), *x = b + bytes, *y = x + bytes;
    double apart = 0, largest = 0;
    for (int i = 0; i < n; i++) set_value(b, t, i, number(trs_is_complex(t)));
    void *v = array_there(b, bytes);
    assert_int_equal(trs_lu_solve(host, TRS_N, 1, b, n, x, n, NULL), TRS_OK);
    assert_int_equal(trs_lu_solve(dev, TRS_N, 1, v, n, v, n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), y, v, bytes), TRS_OK);
    for (int i = 0; i < n; i++) {
        apart = larger(apart, cabs(get_value(x, t, i) - get_value(y, t, i)));
        largest = larger(largest, cabs(get_value(x, t, i)));
    }
    assert_true(apart <= 100 * n * eps_of(t) * largest);
    free_there(v);
    free(b);
}

/* ---- the same as on the host ------------------------------------------------------------------- */

static void check(const trs_mat *m, const trs_ilu_options *opt)
{
    trs_mat d = there(m);
    trs_lu *host = factored(m, *opt, TRS_HOST);
    for (int side = 0; side < 2; side++) {
        trs_lu *dev = factored(side ? &d : m, *opt, TRS_CUDA(0));
        assert_same_factors(dev, host);
        assert_same_solution(host, dev, m->dtype, (int)m->n);
        /* values from the other side, without a pattern */
        trs_mat values = side ? *m : d;
        values.ptr = values.idx = NULL;
        assert_int_equal(trs_lu_update(dev, &values), TRS_OK);
        assert_same_factors(dev, host);
        trs_lu_destroy(dev);
    }
    trs_lu_destroy(host);
    away(&d);
}

/* The same for a matrix that is kept full, which is freed. */
static void check_full(full A, const form *f, trs_ilu_options opt)
{
    trs_mat m = show_full(&A, f);
    check(&m, &opt);
    hide(&m);
    free(A.a);
}

static void same_as_on_the_host(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const int sizes[] = {1, 2, 17, 40};
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int s = 0; s < 4; s++)
                for (int method = TRS_ILU0; method <= TRS_IC0; method++)
                    check_full(matrix(sizes[s], c, method == TRS_IC0, 0.3), &forms[k],
                               (trs_ilu_options){.method = method, .shift = s == 2 ? 0.01 : 0});
}

/* The rows of fill and orderings are found on the host. */
static void fill_and_orderings(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 4; k++)
            for (int method = TRS_ILU0; method <= TRS_ICT; method++)
                for (int level = 0; level <= (method < TRS_ILUT ? 2 : 0); level++)
                    for (int o = TRS_ILU_NATURAL; o <= TRS_ILU_MULTICOLOUR; o++)
                        check_full(matrix(40, c, method % 2, 0.06), &forms[k],
                                   (trs_ilu_options){.method = method,
                                                     .level = level,
                                                     .drop_tol = method < TRS_ILUT ? 0 : 1e-3,
                                                     .ordering = (trs_ilu_ordering)o});
}

/* The numbers of blocks of 2 to 8, and the triangle of a Hermitian matrix alone. */
static void blocks(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int b = 2; b <= 8; b++)
        for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
            enum { LINES = 5 };
            const int64_t ptr[] = {1, 3, 5, 8, 10, 13};
            const int32_t idx[] = {3, 1, 2, 5, 1, 3, 4, 4, 3, 2, 5, 4};
            double val[12 * 64];
            trs_mat m = {.n = LINES * b, .nnz = 12, .ptr = ptr, .idx = idx, .val = val, .base = 1};
            m.format = TRS_BSR, m.block = b, m.block_layout = (trs_layout)layout;
            for (int k = 0; k < 12 * b * b; k++) val[k] = uniform();
            for (int l = 0; l < LINES; l++) /* the diagonal */
                for (int64_t p = ptr[l] - 1; p < ptr[l + 1] - 1; p++)
                    for (int i = 0; i < b && idx[p] == l + 1; i++)
                        val[p * b * b + i * b + i] = 30 + uniform();
            const trs_ilu_options opt = {.block = 1}; /* by numbers */
            check(&m, &opt);
        }
}

static void one_triangle(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = matrix(30, true, true, 0.3);
    const trs_ilu_options opt = {.method = TRS_IC0, .plan = {.ops = 1u << TRS_N | 1u << TRS_H}};
    for (int j = 0; j < 30; j++)
        for (int i = 0; i < j; i++) A.a[i + 30 * j] = 0;
    for (int k = 0; k < 4; k++) {
        trs_mat m = show_full(&A, &forms[k]);
        m.kind = TRS_LOWER;
        check(&m, &opt);
        hide(&m);
    }
    free(A.a);
}

/* Rows of a grid, which many blocks share; the bits are the same each time. */
static void a_grid(void **state)
{
    (void)state;
    if (!has_device()) skip();
    enum { M = 40, N = M * M };
    int64_t *ptr = calloc(N + 1, sizeof *ptr);
    int32_t *idx = calloc(5 * N, sizeof *idx);
    double *val = calloc(5 * N, sizeof *val);
    int64_t q = 0;
    for (int i = 0; i < N; i++) {
        const int to[] = {i - M, i % M ? i - 1 : -1, i, i % M < M - 1 ? i + 1 : -1, i + M};
        ptr[i] = q;
        for (int k = 0; k < 5; k++)
            if (to[k] >= 0 && to[k] < N) idx[q] = to[k], val[q++] = k == 2 ? 5 : uniform();
    }
    ptr[N] = q;
    const trs_mat m = {.n = N, .nnz = q, .ptr = ptr, .idx = idx, .val = val};
    trs_mat d = there(&m);
    trs_lu *host = factored(&m, (trs_ilu_options){0}, TRS_HOST);
    trs_lu *a = factored(&d, (trs_ilu_options){0}, TRS_CUDA(0));
    trs_lu *b = factored(&m, (trs_ilu_options){0}, TRS_CUDA(0));
    assert_same_factors(a, host);
    assert_same_solution(host, a, TRS_F64, N);
    for (int again = 0; again < 5; again++) {
        assert_int_equal(trs_lu_update(b, &d), TRS_OK);
        assert_same_bits(a, b);
    }
    trs_lu_destroy(a);
    trs_lu_destroy(b);
    trs_lu_destroy(host);
    away(&d);
    free(ptr);
    free(idx);
    free(val);
}

/* ---- pivots -------------------------------------------------------------------------------------- */

/* Good values are taken by factors that were refused, and are those of the host; bad ones are refused again. */
static void take_good_values(trs_lu *lu, const trs_mat *m, const trs_mat *good, const trs_mat *d,
                             const trs_ilu_options *opt, const char *said)
{
    int64_t bad, first;
    double growth, b[8] = {1};
    send_values(d, good);
    assert_int_equal(trs_lu_update(lu, d), TRS_OK);
    assert_int_equal(trs_lu_status(lu, &bad, &first, &growth), TRS_OK);
    assert_true(bad == 0 && first == -1 && growth > 0);
    trs_lu *fresh = factor(good, opt);
    assert_same_factors(lu, fresh);
    trs_lu_destroy(fresh);
    send_values(d, m);
    assert_int_equal(trs_lu_update(lu, d), TRS_EPIVOT);
    assert_string_equal(trs_message(), said);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 8, b, 8, NULL), TRS_ESTATE);
}

/* On the device A is refused with the code and the sentence of the host, and good values are taken afterwards. */
static void refuse_alike(const full *A, const trs_ilu_options *opt, const full *good)
{
    for (int k = 0; k < 4; k++) {
        trs_mat m = show_full(A, &forms[k]), g = show_full(good, &forms[k]), d = there(&m);
        trs_lu *lu;
        char said[300];
        trs_ilu_options there_too = *opt;
        double b[8] = {1};
        assert_int_equal(trs_ilu(&lu, &m, opt), TRS_EPIVOT);
        snprintf(said, sizeof said, "%s", trs_message());
        print_message("%s\n", said);
        trs_lu_destroy(lu);
        there_too.plan.device = TRS_CUDA(0);
        assert_int_equal(trs_ilu(&lu, &d, &there_too), TRS_EPIVOT);
        assert_string_equal(trs_message(), said);
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 8, b, 8, NULL), TRS_ESTATE);
        if (m.nnz == g.nnz) take_good_values(lu, &m, &g, &d, opt, said);
        trs_lu_destroy(lu);
        away(&d);
        hide(&m);
        hide(&g);
    }
}

static void bad_pivots(void **state)
{
    (void)state;
    if (!has_device()) skip();
    const trs_ilu_options ic = {.method = TRS_IC0}, lu = {0};
    full good = matrix(8, false, true, 0.6), A = full_new(8, false);
    const size_t bytes = 64 * sizeof *A.a;
    memcpy(A.a, good.a, bytes);
    A.a[5 + 8 * 5] = -3;
    refuse_alike(&A, &ic, &good);
    memcpy(A.a, good.a, bytes);
    for (int k = 0; k < 8; k++)
        A.a[4 + 8 * k] = 0, A.a[k + 8 * 4] = 0; /* there is no diagonal entry */
    refuse_alike(&A, &lu, &good);
    refuse_alike(&A, &ic, &good);
    memset(A.a, 0, bytes);
    for (int k = 0; k < 8; k++) A.a[k + 8 * k] = 2;
    A.a[2 + 8 * 3] = 4, A.a[3 + 8 * 2] = 2, A.a[3 + 8 * 3] = 4; /* 2 4; 2 4 */
    memcpy(good.a, A.a, bytes);
    good.a[3 + 8 * 3] = 9;
    refuse_alike(&A, &lu, &good);
    free(A.a);
    free(good.a);
}

static void not_finite(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = matrix(8, false, false, 0.6);
    const trs_ilu_options opt = {.plan = {.device = TRS_CUDA(0)}};
    trs_lu *lu;
    A.a[3 + 8 * 6] = NAN;
    twin t = twin_new(A, &plain);
    assert_int_equal(trs_ilu(&lu, &t.d, &opt), TRS_EMATRIX);
    assert_non_null(strstr(trs_message(), "finite"));
    trs_lu_destroy(lu);
    twin_free(&t);
}

static void boost(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = full_new(3, false);
    A.a[0] = A.a[8] = 1, A.a[4] = 3.875;
    A.a[1] = A.a[3] = 2; /* u(1, 1) = -0.125 */
    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
        const trs_ilu_options opt = {.method = method, .boost = 0.25};
        trs_mat m = show_full(&A, &plain);
        trs_lu *host = factored(&m, opt, TRS_HOST), *dev = factored(&m, opt, TRS_CUDA(0));
        trs_lu_info info;
        trs_lu_get_info(dev, &info);
        assert_int_equal(info.boosted, 1);
        assert_same_factors(dev, host);
        trs_lu_destroy(host);
        trs_lu_destroy(dev);
        hide(&m);
    }
    free(A.a);
}

/* Matrices that are not well-formed are refused with the host's words, wherever they are. */
static void wrong_matrices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    const int64_t ptr[] = {0, 2, 3, 5}, back[] = {0, 4, 3, 5};
    const int32_t twice[] = {0, 1, 1, 2, 2}, beyond[] = {0, 1, 3, 1, 2}, good[] = {0, 1, 1, 1, 2};
    const double val[] = {1, 2, 3, 4, 5};
    const struct {
        const int64_t *ptr;
        const int32_t *idx;
    } wrong[] = {{ptr, twice}, {ptr, beyond}, {back, good}};
    for (int k = 0; k < 3; k++) {
        const trs_mat m = {.n = 3, .nnz = 5, .ptr = wrong[k].ptr, .idx = wrong[k].idx, .val = val};
        trs_mat d = there(&m);
        const trs_ilu_options host = {0}, dev = {.plan = {.device = TRS_CUDA(0)}};
        trs_lu *lu;
        char said[300];
        const int rc = trs_ilu(&lu, &m, &host);
        assert_int_equal(rc, TRS_EMATRIX);
        snprintf(said, sizeof said, "%s", trs_message());
        trs_lu_destroy(lu);
        for (int side = 0; side < 2; side++) {
            assert_int_equal(trs_ilu(&lu, side ? &d : &m, &dev), rc);
            assert_string_equal(trs_message(), said);
            trs_lu_destroy(lu);
        }
        away(&d);
    }
}

/* ---- streams and graphs ---------------------------------------------------------------------------- */

enum { N = 30 };

/* A captured update and solve. */
typedef struct captured {
    twin t;
    trs_ilu_options opt;
    trs_lu *lu;
    double b[N];
    double *dev_b, *dev_x;
    cudaStream_t stream;
    cudaGraphExec_t graph;
} captured;

static captured capture_new(int method)
{
    captured c = {
        .opt = {.method = method, .defer = 1, .plan = {.ops = 1u << TRS_N | 1u << TRS_H}}};
    c.t = twin_new(matrix(N, false, true, 0.4), &plain);
    c.lu = factored(&c.t.d, c.opt, TRS_CUDA(0));
    for (int i = 0; i < N; i++) c.b[i] = uniform();
    c.dev_b = array_there(c.b, sizeof c.b), c.dev_x = array_there(c.b, sizeof c.b);
    c.stream = new_stream();
    const trs_exec exec = {.stream = c.stream};
    assert_int_equal(trs_lu_update_on(c.lu, &c.t.d, &exec), TRS_OK);
    begin_capture(c.stream);
    const int update = trs_lu_update_on(c.lu, &c.t.d, &exec);
    const int solve = trs_lu_solve(c.lu, TRS_N, 1, c.dev_b, N, c.dev_x, N, &exec);
    const int from_host = trs_lu_update_on(c.lu, &c.t.m, &exec);
    c.graph = end_capture(c.stream);
    if (update) print_message("%s\n", trs_message());
    assert_int_equal(update, TRS_OK);
    assert_int_equal(solve, TRS_OK);
    assert_int_equal(from_host, TRS_ESUPPORT);
    assert_int_equal(trs_lu_update_on(c.lu, &c.t.d, &exec), TRS_OK);
    return c;
}

static void capture_free(captured *c)
{
    cudaGraphExecDestroy(c->graph);
    trs_lu_destroy(c->lu);
    cudaStreamDestroy(c->stream);
    free_there(c->dev_b);
    free_there(c->dev_x);
    twin_free(&c->t);
}

/* Launch it with the values of A.  Returns what the status says; x [N] ; out. */
static int launch(captured *c, int64_t *bad, int64_t *first, double *x)
{
    double growth;
    twin_renew(&c->t);
    assert_int_equal(cudaGraphLaunch(c->graph, c->stream), cudaSuccess);
    const int rc = trs_lu_status(c->lu, bad, first, &growth);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, c->dev_x, N * sizeof *x), TRS_OK);
    return rc;
}

static void launch_and_compare(captured *c)
{
    int64_t bad, first;
    double x[N], y[N];
    assert_int_equal(launch(c, &bad, &first, x), TRS_OK);
    trs_lu *host = factored(&c->t.m, c->opt, TRS_HOST);
    assert_int_equal(trs_lu_solve(host, TRS_N, 1, c->b, N, y, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++) assert_true(fabs(x[i] - y[i]) <= 1e-12 * (fabs(y[i]) + 1e-3));
    trs_lu_destroy(host);
}

/* The pivot of row 11 is bad for once. */
static void launch_with_a_bad_pivot(captured *c)
{
    zz *pivot = &c->t.A.a[11 + N * 11];
    const zz kept = *pivot;
    const bool ic = c->opt.method == TRS_IC0;
    int64_t bad, first;
    double x[N];
    *pivot = ic ? -1 : NAN;
    const int rc = launch(c, &bad, &first, x);
    print_message("%s\n", trs_message());
    assert_true(rc == TRS_EPIVOT || (rc == TRS_EMATRIX && !ic));
    assert_true(first == 11 && bad > 0);
    *pivot = kept;
}

/* Update and solve, captured, and replayed with other values in the same array; with bad ones the status tells. */
static void replayed(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
        captured c = capture_new(method);
        for (int step = 0; step < 10; step++) {
            for (int k = 0; k < N; k++) c.t.A.a[k + N * k] *= 1 + 0.1 * uniform();
            if (step == 6) launch_with_a_bad_pivot(&c);
            else launch_and_compare(&c);
        }
        capture_free(&c);
    }
}

/* Updates that wait are refused while a stream is captured. */
static void not_captured(void **state)
{
    (void)state;
    if (!has_device()) skip();
    twin t = twin_new(matrix(12, false, false, 0.5), &plain);
    trs_lu *dev = factored(&t.d, (trs_ilu_options){0}, TRS_CUDA(0));
    cudaStream_t s = new_stream();
    const trs_exec exec = {.stream = s};
    begin_capture(s);
    const int rc = trs_lu_update_on(dev, &t.d, &exec);
    cudaGraphExecDestroy(end_capture(s));
    assert_int_equal(rc, TRS_ESUPPORT);
    assert_int_equal(trs_lu_update_on(dev, &t.d, &exec), TRS_OK);
    trs_lu_destroy(dev);
    cudaStreamDestroy(s);
    twin_free(&t);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static void out_of_memory(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int k = 0; k < 4; k++) {
        full A = matrix(9, k & 1, true, 0.5);
        trs_mat m = show_full(&A, &forms[k]);
        check_out_of_memory(&m,
                            (trs_ilu_options){.method = k / 2, .plan = {.device = TRS_CUDA(0)}});
        hide(&m);
        free(A.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_on_the_host),
        cmocka_unit_test(fill_and_orderings),
        cmocka_unit_test(blocks),
        cmocka_unit_test(one_triangle),
        cmocka_unit_test(a_grid),
        cmocka_unit_test(bad_pivots),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(boost),
        cmocka_unit_test(wrong_matrices),
        cmocka_unit_test(replayed),
        cmocka_unit_test(not_captured),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests_name("ilu_device", tests, NULL, NULL);
}
