/* t_selfadjoint.c: a Hermitian matrix of which one triangle is stored is taken as all of it: products against those of the
 * full matrix, factors, refinement and condition against those of the same matrix when all of it is stored. */
#include "tests/common/counter.h"
#include "tests/common/full.h"

enum { N = 23 };

/* A without what is beyond the triangle, or with garbage there and in what is not looked at of the diagonal. */
static full half_of(const full *A, unsigned kind, bool garbage)
{
    full H = full_new(A->n, A->is_complex);
    for (int j = 0; j < A->n; j++)
        for (int i = 0; i < A->n; i++) {
            zz *h = &H.a[i + A->n * j];
            const bool in = kind & TRS_LOWER ? i >= j : i <= j;
            *h = in ? A->a[i + A->n * j] : 0;
            if (garbage && !in) *h = (i + j) % 3 ? 0 : NAN;
            if (garbage && i == j && A->is_complex) *h += 7 * I;
        }
    return H;
}

static trs_mat show_half(const full *A, const form *f, unsigned kind, bool garbage)
{
    full H = half_of(A, kind, garbage);
    trs_mat m = show_full(&H, f);
    m.kind = kind | TRS_SELFADJOINT;
    free(H.a);
    return m;
}

/* y = op(A) x by the full matrix; op is T for complex A, where it is not A. */
static void assert_multiplies(const full *A, const trs_mat *half)
{
    char x[N * 16], y[N * 16];
    trs_error e;
    for (int i = 0; i < N; i++) set_value(x, half->dtype, i, number(A->is_complex));
    assert_int_equal(trs_multiply(half, TRS_T, 1, x, N, y, N, TRS_COL_MAJOR), TRS_OK);
    for (int i = 0; i < N; i++) {
        zz sum = 0;
        double size = 0;
        for (int j = 0; j < N; j++) {
            const zz term = A->a[j + N * i] * get_value(x, half->dtype, j);
            sum += term;
            size += cabs(term);
        }
        const double error = cabs(sum - get_value(y, half->dtype, i));
        if (!(error <= 4 * eps_of(half->dtype) * size)) fail_msg("row %d: error %g", i, error);
    }
    assert_int_equal(trs_backward_error(half, TRS_T, 1, y, N, x, N, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega <= 4 * eps_of(half->dtype));
}

static void each_half(void (*check)(const full *A, const trs_mat *whole, const trs_mat *half))
{
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (unsigned kind = TRS_LOWER; kind <= TRS_UPPER; kind++)
                for (int garbage = 0; garbage < 2; garbage++) {
                    full A = hermitian(N, c, 12);
                    if (forms[k].real == TRS_F32)
                        for (int p = 0; p < N * N; p++) A.a[p] = (float complex)A.a[p];
                    trs_mat whole = show_full(&A, &forms[k]);
                    trs_mat half = show_half(&A, &forms[k], kind, garbage);
                    check(&A, &whole, &half);
                    hide(&whole);
                    hide(&half);
                    free(A.a);
                }
}

static void multiply(const full *A, const trs_mat *whole, const trs_mat *half)
{
    (void)whole;
    assert_multiplies(A, half);
}

static void test_products(void **state)
{
    (void)state;
    each_half(multiply);
}

/* ---- incomplete factors ------------------------------------------------------------------------- */

static void assert_same_factors(const trs_lu *a, const trs_lu *b)
{
    trs_mat L, M;
    assert_int_equal(trs_lu_factors(a, &L, NULL, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_factors(b, &M, NULL, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(L.nnz, M.nnz);
    assert_memory_equal(L.ptr, M.ptr, ((size_t)L.n + 1) * 8);
    for (int64_t p = 0; p < L.nnz; p++)
        assert_true(get_value(L.val, L.dtype, p) == get_value(M.val, M.dtype, p));
}

/* New values at the same places. */
static void change(const trs_mat *m)
{
    const int64_t count = m->format == TRS_DENSE ? m->ld * m->n : m->nnz;
    for (int64_t p = 0; p < count; p++)
        set_value((void *)m->val, m->dtype, p, 2 * get_value(m->val, m->dtype, p));
}

static void incomplete(const full *A, const trs_mat *whole, const trs_mat *half)
{
    (void)A;
    for (int m = TRS_ILU0; m <= TRS_ICT; m++)
        for (int o = TRS_ILU_NATURAL; o <= TRS_ILU_MULTICOLOUR; o++)
            for (int level = 0; level < (m < TRS_ILUT ? 2 : 1); level++) {
                const trs_ilu_options opt = {
                    .method = (trs_ilu_method)m, .ordering = (trs_ilu_ordering)o, .level = level};
                trs_lu *a, *b;
                assert_int_equal(trs_ilu(&a, whole, &opt), TRS_OK);
                assert_int_equal(trs_ilu(&b, half, &opt), TRS_OK);
                assert_same_factors(a, b);
                change(whole);
                change(half);
                assert_int_equal(trs_lu_update(a, whole), TRS_OK);
                trs_mat values = *half;
                values.ptr = values.idx = NULL;
                assert_int_equal(trs_lu_update(b, &values), TRS_OK);
                assert_same_factors(a, b);
                trs_lu_destroy(a);
                trs_lu_destroy(b);
            }
}

static void test_incomplete(void **state)
{
    (void)state;
    each_half(incomplete);
}

/* ---- refinement and condition ------------------------------------------------------------------- */

static void refined(const full *A, const trs_mat *whole, const trs_mat *half)
{
    char x[N * 16] = {0}, b[N * 16];
    trs_options plan = {.ops = 1u << TRS_N | 1u << TRS_H};
    const trs_ilu_options opt = {.plan = plan, .level = N}; /* with all fill, it is complete */
    trs_lu *lu;
    trs_error e;
    double rcond[2];
    for (int i = 0; i < N; i++) set_value(b, half->dtype, i, number(A->is_complex));
    assert_int_equal(trs_ilu(&lu, half, &opt), TRS_OK);
    assert_int_equal(trs_lu_refine(lu, half, TRS_N, 1, b, N, x, N, NULL, 10, NULL, &e), TRS_OK);
    assert_int_equal(e.stop, TRS_STOP_CONVERGED);
    assert_int_equal(trs_backward_error(whole, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega <= (N + 1) * eps_of(half->dtype));
    assert_int_equal(trs_lu_condest(lu, whole, TRS_NORM_ONE, &rcond[0]), TRS_OK);
    assert_int_equal(trs_lu_condest(lu, half, TRS_NORM_ONE, &rcond[1]), TRS_OK);
    assert_true(fabs(rcond[0] - rcond[1]) <= 1e-12 * rcond[0] && rcond[0] > 0);
    trs_lu_destroy(lu);
}

static void test_refined(void **state)
{
    (void)state;
    each_half(refined);
}

/* ---- on a device -------------------------------------------------------------------------------- */

static void *copy_there(const void *p, size_t bytes)
{
    void *to;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &to), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), to, p, bytes), TRS_OK);
    return to;
}

/* The values alone, or the pattern too. */
static trs_mat mat_there(const trs_mat *m, bool pattern)
{
    trs_mat to = *m;
    const bool dense = m->format == TRS_DENSE;
    const size_t numbers = (size_t)(dense ? m->ld * m->n : m->nnz);
    static const size_t size[] = {8, 4, 16, 8};
    to.device = TRS_CUDA(0);
    to.ptr = to.idx = NULL;
    to.val = copy_there(m->val, numbers * size[m->dtype]);
    if (!pattern || dense) return to;
    to.ptr = copy_there(m->ptr, ((size_t)m->n + 1) * (m->ptr_bits == 32 ? 4 : 8));
    to.idx = copy_there(m->idx, (size_t)m->nnz * (m->idx_bits == 64 ? 8 : 4));
    return to;
}

static void free_there(trs_mat *m)
{
    trs_device_free(TRS_CUDA(0), (void *)m->ptr);
    trs_device_free(TRS_CUDA(0), (void *)m->idx);
    trs_device_free(TRS_CUDA(0), (void *)m->val);
}

/* L (and U) of both are the same to rounding. */
static void assert_near_factors(const trs_lu *a, const trs_lu *b)
{
    trs_mat L, M;
    assert_int_equal(trs_lu_factors(a, &L, NULL, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_factors(b, &M, NULL, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(L.nnz, M.nnz);
    for (int64_t p = 0; p < L.nnz; p++) {
        const zz x = get_value(L.val, L.dtype, p), y = get_value(M.val, M.dtype, p);
        if (!(cabs(x - y) <= 1e3 * eps_of(L.dtype) * (1 + cabs(y))))
            fail_msg("entry %d: %g and %g", (int)p, creal(x), creal(y));
    }
}

/* Products, errors and refinement with one triangle on the device, against those of the host. */
static void measure_there(const full *A, const trs_mat *half, const trs_mat *m)
{
    static const size_t size[] = {8, 4, 16, 8};
    const trs_dtype t = half->dtype;
    const size_t bytes = N * size[t];
    const trs_ilu_options opt = {.level = N, .plan = {.device = TRS_CUDA(0), .ops = 7}};
    char x[N * 16], y[N * 16], z[N * 16];
    trs_error e;
    trs_lu *lu;
    double rcond[2];
    for (int i = 0; i < N; i++) set_value(x, t, i, number(A->is_complex));
    void *X = copy_there(x, bytes), *Y = copy_there(x, bytes);
    assert_int_equal(trs_multiply(m, TRS_T, 1, X, N, Y, N, TRS_COL_MAJOR), TRS_OK);
    assert_int_equal(trs_multiply(half, TRS_T, 1, x, N, y, N, TRS_COL_MAJOR), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), z, Y, bytes), TRS_OK);
    for (int i = 0; i < N; i++)
        assert_true(cabs(get_value(y, t, i) - get_value(z, t, i)) <= 1e2 * eps_of(t));
    assert_int_equal(trs_backward_error(m, TRS_T, 1, Y, N, X, N, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega <= 4 * eps_of(t));
    assert_int_equal(trs_ilu(&lu, half, &opt), TRS_OK);
    assert_int_equal(trs_lu_refine(lu, m, TRS_N, 1, X, N, Y, N, NULL, 10, NULL, &e), TRS_OK);
    assert_int_equal(e.stop, TRS_STOP_CONVERGED);
    assert_int_equal(trs_lu_condest(lu, m, TRS_NORM_ONE, &rcond[0]), TRS_OK);
    assert_int_equal(trs_lu_condest(lu, half, TRS_NORM_ONE, &rcond[1]), TRS_OK);
    assert_true(fabs(rcond[0] - rcond[1]) <= 1e-3 * rcond[1]);
    trs_lu_destroy(lu);
    trs_device_free(TRS_CUDA(0), X);
    trs_device_free(TRS_CUDA(0), Y);
}

/* A on the host and on the device, factors on the device; then other values there. */
static void on_device(const full *A, const trs_mat *whole, const trs_mat *half)
{
    static int turn;
    trs_mat first = mat_there(half, true);
    measure_there(A, half, &first);
    free_there(&first);
    for (int k = turn++ % 3; k < 8;
         k += 3) { /* a third of them, since each takes some milliseconds */
        trs_ilu_options opt = {.method = k & 1 ? TRS_IC0 : TRS_ILU0};
        trs_lu *a, *b;
        opt.ordering = k & 2 ? TRS_ILU_RCM : TRS_ILU_NATURAL;
        assert_int_equal(trs_ilu(&a, whole, &opt), TRS_OK);
        opt.plan.device = TRS_CUDA(0);
        trs_mat m = k & 4 ? mat_there(half, true) : *half;
        assert_int_equal(trs_ilu(&b, &m, &opt), TRS_OK);
        assert_near_factors(b, a);
        if (k & 4) free_there(&m);
        for (int time = 0; time < 2; time++) {
            change(whole);
            change(half);
            assert_int_equal(trs_lu_update(a, whole), TRS_OK);
            m = mat_there(half, false);
            assert_int_equal(trs_lu_update(b, &m), TRS_OK);
            assert_near_factors(b, a);
            free_there(&m);
        }
        change(whole);
        change(half);
        assert_int_equal(trs_lu_update(a, whole), TRS_OK);
        assert_int_equal(trs_lu_update(b, half), TRS_OK);
        assert_near_factors(b, a);
        trs_lu_destroy(a);
        trs_lu_destroy(b);
    }
}

static void test_device(void **state)
{
    (void)state;
    char name[100];
    if (trs_device_name(TRS_CUDA(0), name, sizeof name)) skip();
    each_half(on_device);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* 2 x 2 blocks of a full matrix of 4 rows, of which those of the triangle are stored. */
static void test_blocks(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (unsigned kind = TRS_LOWER; kind <= TRS_UPPER; kind++) {
            full A = hermitian(4, c, 9);
            const int64_t ptr[] = {0, kind == TRS_LOWER ? 1 : 2, 3};
            const int32_t lower[] = {0, 0, 1}, upper[] = {0, 1, 1};
            const int32_t *idx = kind == TRS_LOWER ? lower : upper;
            zz val[12], x[4], y[4];
            double *real = (double *)val;
            for (int p = 0; p < 3; p++)
                for (int e = 0; e < 4; e++) {
                    const int i = 2 * (p >= ptr[1]) + e / 2, j = 2 * idx[p] + e % 2;
                    if (c) val[4 * p + e] = A.a[i + 4 * j];
                    else real[4 * p + e] = creal(A.a[i + 4 * j]);
                }
            trs_mat m = {.n = 4, .nnz = 3, .ptr = ptr, .idx = idx, .val = val, .block = 2};
            m.format = TRS_BSR;
            m.block_layout = TRS_ROW_MAJOR;
            m.dtype = c ? TRS_C64 : TRS_F64;
            m.kind = kind | TRS_SELFADJOINT | TRS_STRICT;
            for (int i = 0; i < 4; i++) set_value(x, m.dtype, i, number(c));
            assert_int_equal(trs_multiply(&m, TRS_N, 1, x, 4, y, 4, TRS_COL_MAJOR), TRS_OK);
            for (int i = 0; i < 4; i++) {
                zz sum = 0;
                for (int j = 0; j < 4; j++) sum += A.a[i + 4 * j] * get_value(x, m.dtype, j);
                assert_true(cabs(sum - get_value(y, m.dtype, i)) < 1e-13);
            }
            trs_lu *lu;
            trs_error e;
            const trs_ilu_options all = {.level = 4, .method = TRS_IC0};
            assert_int_equal(trs_ilu(&lu, &m, &all), TRS_OK);
            assert_int_equal(trs_lu_solve(lu, TRS_N, 1, y, 4, x, 4, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&m, TRS_N, 1, y, 4, x, 4, TRS_COL_MAJOR, &e),
                             TRS_OK);
            assert_true(e.omega < 1e-14);
            trs_lu_destroy(lu);
            free(A.a);
        }
}

/* ---- files -------------------------------------------------------------------------------------- */

/* A symmetric file of which the lower triangle is kept. */
static void test_file(void **state)
{
    (void)state;
    char file[500];
    trs_mm all, lower;
    trs_mat A, T;
    snprintf(file, sizeof file, "%s/matrices/1138_bus.mtx", getenv("TRS_SRCDIR"));
    const trs_mm_options opt = {.kind = TRS_LOWER};
    assert_int_equal(trs_mm_read(file, NULL, &all), TRS_OK);
    assert_int_equal(trs_mm_read(file, &opt, &lower), TRS_OK);
    assert_true(lower.nnz < all.nnz && lower.symmetry == TRS_SYMMETRIC);
    assert_int_equal(trs_mm_mat(&all, 0, &A), TRS_OK);
    assert_int_equal(trs_mm_mat(&lower, TRS_LOWER | TRS_SELFADJOINT, &T), TRS_OK);
    double *x = calloc((size_t)A.n, 8), *y = calloc((size_t)A.n, 8), *z = calloc((size_t)A.n, 8);
    for (int64_t i = 0; i < A.n; i++) x[i] = uniform();
    assert_int_equal(trs_multiply(&A, TRS_N, 1, x, A.n, y, A.n, TRS_COL_MAJOR), TRS_OK);
    assert_int_equal(trs_multiply(&T, TRS_N, 1, x, A.n, z, A.n, TRS_COL_MAJOR), TRS_OK);
    trs_error e;
    assert_int_equal(trs_backward_error(&T, TRS_N, 1, y, A.n, x, A.n, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega <= 30 * DBL_EPSILON); /* 18 terms at most */
    assert_int_equal(trs_backward_error(&A, TRS_N, 1, z, A.n, x, A.n, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega <= 30 * DBL_EPSILON);
    lower.symmetry = TRS_SKEW;
    assert_int_equal(trs_mm_mat(&lower, TRS_LOWER | TRS_SELFADJOINT, &T), TRS_EARG);
    free(x), free(y), free(z);
    trs_mm_free(&all);
    trs_mm_free(&lower);
}

/* ---- what is refused ---------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    full A = hermitian(N, false, 12);
    trs_mat whole = show_full(&A, &plain), half = show_half(&A, &plain, TRS_UPPER, false), m = half;
    trs_plan *plan;
    trs_lu *lu;
    double x[N] = {0}, y[N];
    assert_int_equal(trs_plan_create(&plan, &half, NULL), TRS_EARG);
    assert_non_null(strstr(trs_message(), "TRS_SELFADJOINT"));
    const unsigned wrong[] = {0, TRS_LOWER | TRS_UPPER, TRS_UPPER | TRS_UNIT, TRS_PERMUTED};
    for (int k = 0; k < 4; k++) {
        m.kind = wrong[k] | TRS_SELFADJOINT;
        assert_int_equal(trs_multiply(&m, TRS_N, 1, x, N, y, N, TRS_COL_MAJOR), TRS_EARG);
        assert_int_equal(trs_ilu(&lu, &m, NULL), TRS_EARG);
        trs_lu_destroy(lu);
    }
    m.kind = TRS_LOWER | TRS_SELFADJOINT | TRS_STRICT;
    assert_int_equal(trs_multiply(&m, TRS_N, 1, x, N, y, N, TRS_COL_MAJOR), TRS_EMATRIX);
    assert_int_equal(trs_ilu(&lu, &half, NULL), TRS_OK);
    assert_int_equal(trs_lu_update(lu, &whole), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, N, y, N, NULL), TRS_ESTATE);
    m = half;
    m.nnz--;
    assert_int_equal(trs_lu_update(lu, &m), TRS_EARG);
    assert_int_equal(trs_lu_update(lu, &half), TRS_OK);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, N, y, N, NULL), TRS_OK);
    trs_lu_destroy(lu);
    assert_int_equal(trs_ilu(&lu, &whole, NULL), TRS_OK);
    assert_int_equal(trs_lu_update(lu, &half), TRS_EARG);
    trs_lu_destroy(lu);
    hide(&whole);
    hide(&half);
    free(A.a);
}

/* Memory that runs out at any allocation leaves nothing behind. */
static void test_memory(void **state)
{
    (void)state;
    full A = hermitian(N, true, 12);
    trs_mat half = show_half(&A, &forms[2], TRS_UPPER, false);
    int rc = TRS_EMEM, allowed = 0;
    bool refused = true; /* an allocation, which may be one that can be done without */
    for (; refused; allowed++) {
        counter c = {.fail_at = allowed};
        const trs_ilu_options opt = {.plan = {.memory = counted_memory(&c)}};
        zz b[N] = {1}, x[N] = {0};
        trs_lu *lu;
        rc = trs_ilu(&lu, &half, &opt);
        if (!rc) rc = trs_lu_update(lu, &half);
        if (!rc) rc = trs_lu_refine(lu, &half, TRS_N, 1, b, N, x, N, NULL, 1, NULL, NULL);
        if (rc) assert_true(*trs_message());
        trs_lu_destroy(lu);
        refused = was_refused(&c);
        assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(rc, TRS_OK);
    assert_true(allowed > 10);
    hide(&half);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_refined),  cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_file),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
