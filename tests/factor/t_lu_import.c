/* t_lu_import.c: factors that somebody else has made, here plain elimination of full matrices with row exchanges, solve with
 * their matrix: permutations, scaling, every op, refinement, condition, determinant, new values. */
#include "tests/common/counter.h"
#include "tests/common/full.h"

enum { N = 19 };

/* The factors of a full matrix: (L U)(k, m) = scale(P(k)) A(P(k), Q(m)); of a Hermitian one L L^H = A(P, P), U.a = NULL. */
typedef struct factors {
    full L, U;
    int64_t P[N], Q[N];
    double scale[N];
} factors;

static void draw_permutation(int64_t *p)
{
    for (int k = 0; k < N; k++) p[k] = k;
    for (int k = N - 1; k > 0; k--) {
        const int j = (int)((uniform() + 1) / 2 * (k + 1)) % (k + 1);
        const int64_t t = p[k];
        p[k] = p[j], p[j] = t;
    }
}

static void exchange(full *C, int64_t *P, int k, int r)
{
    const int64_t t = P[k];
    P[k] = P[r], P[r] = t;
    for (int j = 0; j < N; j++) {
        const zz z = C->a[k + N * j];
        C->a[k + N * j] = C->a[r + N * j], C->a[r + N * j] = z;
    }
}

/* C = L + U - I in the place of C, with row exchanges that P follows. */
static void eliminate(full *C, int64_t *P)
{
    for (int k = 0; k < N; k++) {
        int r = k;
        for (int i = k + 1; i < N; i++)
            if (cabs(C->a[i + N * k]) > cabs(C->a[r + N * k])) r = i;
        exchange(C, P, k, r);
        for (int i = k + 1; i < N; i++) {
            const zz l = C->a[i + N * k] /= C->a[k + N * k];
            for (int j = k + 1; j < N; j++) C->a[i + N * j] -= l * C->a[k + N * j];
        }
    }
}

static factors lu_of(const full *A)
{
    factors f = {.L = full_new(N, A->is_complex), .U = full_new(N, A->is_complex)};
    full C = full_new(N, A->is_complex);
    draw_permutation(f.Q);
    for (int i = 0; i < N; i++) {
        f.P[i] = i;
        f.scale[i] = ldexp(1 + fabs(uniform()), i % 5 - 2);
    }
    for (int i = 0; i < N; i++)
        for (int m = 0; m < N; m++) C.a[i + N * m] = f.scale[i] * A->a[i + N * f.Q[m]];
    eliminate(&C, f.P);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (i > j) f.L.a[i + N * j] = C.a[i + N * j];
            else f.U.a[i + N * j] = C.a[i + N * j];
    for (int i = 0; i < N; i++) f.L.a[i + N * i] = 1;
    free(C.a);
    return f;
}

static factors cholesky_of(const full *A)
{
    factors f = {.L = full_new(N, A->is_complex)};
    draw_permutation(f.P);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++) {
            zz sum = A->a[f.P[i] + N * f.P[j]];
            for (int k = 0; k < j; k++) sum -= f.L.a[i + N * k] * conj(f.L.a[j + N * k]);
            f.L.a[i + N * j] = i == j ? csqrt(sum) : sum / f.L.a[j + N * j];
        }
    return f;
}

static void factors_free(factors *f)
{
    free(f->L.a);
    free(f->U.a);
}

/* ---- solving -------------------------------------------------------------------------------- */

/* The residual of every op, in the norm. */
static void assert_solves(trs_lu *lu, const full *A, trs_dtype t)
{
    for (int op = TRS_N; op <= TRS_H; op++) {
        char b[2 * N * 16], x[2 * N * 16];
        for (int i = 0; i < 2 * N; i++) set_value(b, t, i, number(A->is_complex));
        assert_int_equal(trs_lu_solve(lu, (trs_op)op, 2, b, N, x, N, NULL), TRS_OK);
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < N; i++) {
                zz sum = get_value(b, t, i + N * r);
                double size = cabs(sum);
                for (int j = 0; j < N; j++) {
                    zz a = op == TRS_N ? A->a[i + N * j] : A->a[j + N * i];
                    if (op == TRS_H) a = conj(a);
                    sum -= a * get_value(x, t, j + N * r);
                    size += cabs(a * get_value(x, t, j + N * r));
                }
                if (!(cabs(sum) <= 5e3 * eps_of(t) * size))
                    fail_msg("op %d, row %d: %g of %g", op, i, cabs(sum), size);
            }
    }
}

static void assert_measures(trs_lu *lu, const full *A, const trs_mat *m, const factors *f)
{
    char b[N * 16], x[N * 16] = {0};
    trs_error e;
    trs_det d;
    double rcond;
    long double size = 0;
    for (int i = 0; i < N; i++) set_value(b, m->dtype, i, number(A->is_complex));
    assert_int_equal(trs_lu_refine(lu, m, TRS_N, 1, b, N, x, N, NULL, 10, NULL, &e), TRS_OK);
    assert_int_equal(e.stop, TRS_STOP_CONVERGED);
    assert_int_equal(trs_lu_condest(lu, m, TRS_NORM_ONE, &rcond), TRS_OK);
    assert_true(rcond > 1e-6 && rcond <= 1);
    assert_int_equal(trs_lu_determinant(lu, &d), TRS_OK);
    for (int k = 0; k < N; k++) /* of the factors, without the signs */
        size += f->U.a ? logl(cabsl(f->U.a[k + N * k])) - logl(f->scale[k])
                       : 2 * logl(cabsl(f->L.a[k + N * k]));
    const double found = log(d.mantissa) + (double)d.exponent * log(2.0);
    assert_true(fabs(found - (double)size) < 4 * N * eps_of(m->dtype) * (1 + fabs(found)));
}

/* With every form of the factors.  unit: ones are not stored. */
static void check_lu(const full *A, const form *s, bool unit)
{
    factors f = lu_of(A);
    trs_options opt = {.ops = 7};
    trs_lu_info info;
    trs_lu *lu;
    for (int i = 0; i < N && unit; i++) f.L.a[i + N * i] = 0;
    trs_mat L = show_full(&f.L, s), U = show_full(&f.U, s), m = show_full(A, &plain), M, V;
    trs_mat of_type = show_full(A, s);
    const int64_t *P, *Q;
    const double *scale;
    L.kind = TRS_LOWER | (unit ? TRS_UNIT : 0);
    U.kind = TRS_UPPER;
    assert_int_equal(trs_lu_import(&lu, &L, &U, f.P, f.Q, f.scale, &opt), TRS_OK);
    assert_solves(lu, A, L.dtype);
    assert_measures(lu, A, &of_type, &f);
    assert_int_equal(trs_lu_factors(lu, &M, &V, &P, &Q, &scale), TRS_OK);
    assert_memory_equal(P, f.P, sizeof f.P);
    assert_memory_equal(Q, f.Q, sizeof f.Q);
    assert_memory_equal(scale, f.scale, sizeof f.scale);
    assert_true(M.nnz == L.nnz && V.nnz == U.nnz && M.ptr != L.ptr);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_string_equal(info.library, "imported");
    assert_int_equal(trs_lu_update(lu, &m), TRS_ESTATE);
    hide(&L), hide(&U), hide(&m), hide(&of_type);
    /* the factors of 2 A with the same P and Q */
    full B = full_new(N, A->is_complex);
    for (int k = 0; k < N * N; k++) B.a[k] = 2 * A->a[k], f.U.a[k] *= 4;
    for (int i = 0; i < N; i++) f.scale[i] *= 2;
    L = show_full(&f.L, s), U = show_full(&f.U, s);
    L.kind = TRS_LOWER | (unit ? TRS_UNIT : 0);
    U.kind = TRS_UPPER;
    trs_mat L1 = L, U1 = U;
    L1.ptr = L1.idx = U1.ptr = U1.idx = NULL;
    assert_int_equal(trs_lu_replace(lu, &L1, &U1, f.scale), TRS_OK);
    assert_solves(lu, &B, L.dtype);
    trs_lu_destroy(lu);
    hide(&L), hide(&U);
    free(B.a);
    factors_free(&f);
}

static void round_to_single(full *A)
{
    for (int k = 0; k < N * N; k++) A->a[k] = (float complex)A->a[k];
}

static void test_lu(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            if (forms[k].format == TRS_DENSE) continue;
            full A = unsymmetric(N, c);
            if (forms[k].real == TRS_F32) round_to_single(&A);
            check_lu(&A, &forms[k], false);
            check_lu(&A, &forms[k], true);
            free(A.a);
        }
}

static void test_cholesky(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            if (forms[k].format == TRS_DENSE) continue;
            full A = hermitian(N, c, 12);
            if (forms[k].real == TRS_F32) round_to_single(&A);
            factors f = cholesky_of(&A);
            trs_mat L = show_full(&f.L, &forms[k]), m = show_full(&A, &forms[k]);
            trs_lu *lu;
            L.kind = TRS_LOWER;
            assert_int_equal(trs_lu_import(&lu, &L, NULL, f.P, NULL, NULL, NULL), TRS_OK);
            assert_solves(lu, &A, L.dtype);
            assert_measures(lu, &A, &m, &f);
            hide(&L), hide(&m);
            for (int p = 0; p < N * N; p++) A.a[p] *= 9, f.L.a[p] *= -3;
            L = show_full(&f.L, &forms[k]);
            L.kind = TRS_LOWER;
            assert_int_equal(trs_lu_replace(lu, &L, NULL, NULL), TRS_OK);
            assert_solves(lu, &A, L.dtype);
            trs_lu_destroy(lu);
            hide(&L);
            factors_free(&f);
            free(A.a);
        }
}

/* The triangles are solved on a device, with the host's x to rounding, from factors on the host; then from values there. */
static void test_device(void **state)
{
    (void)state;
    char name[100];
    if (trs_device_name(TRS_CUDA(0), name, sizeof name)) skip();
    for (int c = 0; c < 2; c++) {
        full A = unsymmetric(N, c);
        factors f = lu_of(&A);
        trs_mat L = show_full(&f.L, &plain), U = show_full(&f.U, &plain), U1;
        trs_options opt = {.ops = 7};
        trs_lu *a, *b;
        const size_t size = c ? 16 : 8, bytes = N * size;
        void *there, *values;
        char rhs[N * 16], x[N * 16], y[N * 16];
        L.kind = TRS_LOWER, U.kind = TRS_UPPER;
        assert_int_equal(trs_lu_import(&a, &L, &U, f.P, f.Q, f.scale, &opt), TRS_OK);
        opt.device = TRS_CUDA(0);
        assert_int_equal(trs_lu_import(&b, &L, &U, f.P, f.Q, f.scale, &opt), TRS_OK);
        assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &there), TRS_OK);
        assert_int_equal(trs_device_new(TRS_CUDA(0), (size_t)U.nnz * size, &values), TRS_OK);
        for (int time = 0; time < 2; time++) {
            for (int op = TRS_N; op <= TRS_H; op++) {
                for (int i = 0; i < N; i++) set_value(rhs, L.dtype, i, number(c));
                assert_int_equal(trs_lu_solve(a, (trs_op)op, 1, rhs, N, x, N, NULL), TRS_OK);
                assert_int_equal(trs_device_put(TRS_CUDA(0), there, rhs, bytes), TRS_OK);
                assert_int_equal(trs_lu_solve(b, (trs_op)op, 1, there, N, there, N, NULL), TRS_OK);
                assert_int_equal(trs_device_get(TRS_CUDA(0), y, there, bytes), TRS_OK);
                for (int i = 0; i < N; i++) {
                    const zz u = get_value(x, L.dtype, i), v = get_value(y, L.dtype, i);
                    assert_true(cabs(u - v) <= 1e-9 * (1 + cabs(u)));
                }
            }
            for (int64_t p = 0; p < U.nnz; p++)
                set_value((void *)U.val, U.dtype, p, 3 * get_value(U.val, U.dtype, p));
            U1 = U, U1.device = TRS_CUDA(0), U1.val = values, U1.ptr = U1.idx = NULL;
            assert_int_equal(trs_device_put(TRS_CUDA(0), values, U.val, (size_t)U.nnz * size),
                             TRS_OK);
            assert_int_equal(trs_lu_replace(a, &L, &U, NULL), TRS_OK);
            assert_int_equal(trs_lu_replace(b, &L, &U1, NULL), TRS_OK);
        }
        trs_device_free(TRS_CUDA(0), there);
        trs_device_free(TRS_CUDA(0), values);
        trs_lu_destroy(a);
        trs_lu_destroy(b);
        hide(&L), hide(&U);
        factors_free(&f);
        free(A.a);
    }
}

/* L + U - I in the same arrays, without permutations, as LAPACK's and incomplete factors are. */
static void test_joined(void **state)
{
    (void)state;
    full C = unsymmetric(N, true), A = full_new(N, true);
    for (int i = 0; i < N; i++) C.a[i + N * i] = 5;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k <= i && k <= j; k++)
                A.a[i + N * j] += (k == i ? 1 : C.a[i + N * k]) * C.a[k + N * j];
    trs_mat L = show_full(&C, &plain), U = L;
    const trs_options opt = {.ops = 7};
    trs_lu *lu;
    L.kind = TRS_LOWER | TRS_UNIT, U.kind = TRS_UPPER;
    assert_int_equal(trs_lu_import(&lu, &L, &U, NULL, NULL, NULL, &opt), TRS_OK);
    assert_solves(lu, &A, TRS_C64);
    trs_lu_destroy(lu);
    hide(&L);
    free(A.a);
    free(C.a);
}

/* ---- what is wrong -------------------------------------------------------------------------- */

static void refused_(const trs_mat *L, const trs_mat *U, const int64_t *P, const int64_t *Q,
                     const double *scale, int code, const char *words, int line)
{
    trs_lu *lu;
    const int rc = trs_lu_import(&lu, L, U, P, Q, scale, NULL);
    if (rc != code || !strstr(trs_message(), words))
        fail_msg("line %d: %d \"%s\"", line, rc, trs_message());
    const double b[N] = {1};
    double x[N];
    if (lu) assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_ESTATE);
    trs_lu_destroy(lu);
}

#define refused(L, U, P, Q, scale, code, words) refused_(L, U, P, Q, scale, code, words, __LINE__)

static void test_refused(void **state)
{
    (void)state;
    full A = unsymmetric(N, false);
    factors f = lu_of(&A);
    trs_mat L = show_full(&f.L, &plain), U = show_full(&f.U, &plain), m;
    L.kind = TRS_LOWER, U.kind = TRS_UPPER;
    refused(NULL, &U, NULL, NULL, NULL, TRS_EARG, "L is NULL");
    refused(&U, &L, NULL, NULL, NULL, TRS_EARG, "TRS_LOWER");
    refused(&L, &L, NULL, NULL, NULL, TRS_EARG, "TRS_UPPER");
    m = U, m.kind |= TRS_SELFADJOINT;
    refused(&L, &m, NULL, NULL, NULL, TRS_EARG, "factor U");
    refused(&L, NULL, f.P, f.Q, NULL, TRS_EARG, "no Q");
    refused(&L, NULL, f.P, NULL, f.scale, TRS_EARG, "no scaling");
    m = U, m.n--;
    refused(&L, &m, NULL, NULL, NULL, TRS_EARG, "differ");
    m = U, m.format = TRS_DENSE;
    refused(&L, &m, NULL, NULL, NULL, TRS_ESUPPORT, "CSR");
    m = U, m.nnz--;
    refused(&L, &m, NULL, NULL, NULL, TRS_EMATRIX, "factor U");
    int64_t P[N];
    memcpy(P, f.P, sizeof P), P[3] = P[4];
    refused(&L, &U, P, f.Q, NULL, TRS_EARG, "P is no permutation");
    P[3] = N;
    refused(&L, &U, f.P, P, NULL, TRS_EARG, "Q is no permutation: Q[3] = 19");
    f.scale[2] = 0;
    refused(&L, &U, f.P, f.Q, f.scale, TRS_EARG, "scale[2]");
    double *u = (double *)U.val;
    const double last = u[U.nnz - 1];
    u[U.nnz - 1] = 0; /* U is by rows: its last entry is the last pivot */
    refused(&L, &U, f.P, f.Q, NULL, TRS_EPIVOT, "factor U: row 18");
    trs_lu *lu;
    assert_int_equal(trs_lu_import(&lu, &L, &U, f.P, f.Q, NULL, NULL), TRS_EPIVOT);
    u[U.nnz - 1] = last;
    assert_int_equal(trs_lu_replace(lu, &L, &U, f.scale), TRS_EARG);
    assert_int_equal(trs_lu_replace(lu, &L, NULL, NULL), TRS_EARG);
    m = U, m.nnz--;
    assert_int_equal(trs_lu_replace(lu, &L, &m, NULL), TRS_EARG);
    assert_int_equal(trs_lu_replace(lu, NULL, &U, NULL), TRS_EARG);
    assert_int_equal(trs_lu_replace(NULL, &L, &U, NULL), TRS_EARG);
    double b[N] = {1}, x[N];
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_ESTATE);
    assert_int_equal(trs_lu_replace(lu, &L, &U, NULL), TRS_OK);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    trs_lu_destroy(lu);
    full H = hermitian(N, false, 9);
    m = show_full(&H, &plain);
    free(H.a);
    assert_int_equal(trs_ilu(&lu, &m, NULL), TRS_OK);
    assert_int_equal(trs_lu_replace(lu, &L, &U, NULL), TRS_ESTATE);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    trs_lu_destroy(lu);
    assert_int_equal(trs_lu_import(NULL, &L, &U, NULL, NULL, NULL, NULL), TRS_EARG);
    hide(&L), hide(&U), hide(&m);
    factors_free(&f);
    free(A.a);
}

static void test_memory(void **state)
{
    (void)state;
    full A = unsymmetric(N, false);
    factors f = lu_of(&A);
    trs_mat L = show_full(&f.L, &plain), U = show_full(&f.U, &plain);
    int rc = TRS_EMEM, allowed = 0;
    bool refused = true; /* an allocation, which may be one that can be done without */
    L.kind = TRS_LOWER, U.kind = TRS_UPPER;
    for (; refused; allowed++) {
        counter c = {.fail_at = allowed};
        const trs_options opt = {.memory = counted_memory(&c)};
        trs_lu *lu;
        rc = trs_lu_import(&lu, &L, &U, f.P, f.Q, f.scale, &opt);
        if (!rc) rc = trs_lu_replace(lu, &L, &U, f.scale);
        if (rc) assert_true(*trs_message());
        trs_lu_destroy(lu);
        refused = was_refused(&c);
        assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(rc, TRS_OK);
    assert_true(allowed > 10);
    hide(&L), hide(&U);
    factors_free(&f);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lu),     cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_joined), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
