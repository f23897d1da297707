/* t_static.c: which matrices have pivots on the diagonal, and the pattern of their factors, which is that of boolean
 * elimination of A + A' in the order that was found.  (t_lu_device.c computes such factors.) */
#include "tests/common/full.h"

#include "factor/suitesparse/factor.h"
#include "trisolve-suitesparse.h"

enum { N = 60 };

static trs_lu on_device(void)
{
    return (trs_lu){.opt.device = TRS_CUDA(0)};
}

/* The analysis of A, NULL: it does not suit; and the pattern of its factors. */
static void *analysed(trs_lu *lu, const full *A, bool named, bool cholesky, trs_csc *csc)
{
    trs_mat m = show_full(A, &plain);
    void *data = NULL;
    assert_int_equal(trs_lu_csc(lu, &m, csc), TRS_OK);
    csc->hermitian = cholesky;
    assert_int_equal(trs_method_static.analyse(lu, csc, NULL, named, &data), TRS_OK);
    hide(&m);
    return data;
}

static bool suits(const full *A)
{
    trs_lu lu = on_device();
    trs_csc csc;
    void *data = analysed(&lu, A, false, false, &csc);
    trs_method_static.release(&lu, data);
    trs_lu_csc_free(&lu, &csc);
    return data != NULL;
}

/* in [i + n*j]: may L + U of A + A' have (i, j)?  P is its order. */
static void eliminate(const full *A, const int64_t *P, bool *in)
{
    const int n = A->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            in[i + n * j] = i == j || A->a[P[i] + n * P[j]] != 0 || A->a[P[j] + n * P[i]] != 0;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                if (in[i + n * k] && in[k + n * j]) in[i + n * j] = true;
}

/* Has m, whose majors are the columns of the pattern below the diagonal, just its entries, in order? */
static void check_triangle(const trs_mat *m, const bool *in)
{
    const int n = (int)m->n;
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    int64_t p = 0;
    for (int j = 0; j < n; j++) {
        assert_int_equal(ptr[j], p);
        for (int i = j; i < n; i++)
            if (in[i + n * j]) {
                assert_int_equal(idx[p++], i);
            }
    }
    assert_int_equal(ptr[n], p);
    assert_int_equal(m->nnz, p);
}

static void patterns(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            full A = symmetric ? hermitian(N, c, 50) : unsymmetric(N, c);
            bool *in = calloc((size_t)A.n * (size_t)A.n, 1);
            trs_lu lu = on_device();
            trs_factors f = {0};
            trs_csc csc;
            void *data = analysed(&lu, &A, true, symmetric, &csc);
            assert_int_equal(trs_method_static.numeric(&lu, &csc, data, &f), TRS_OK);
            assert_true(f.symbolic && f.cholesky == symmetric);
            eliminate(&A, f.P, in);
            assert_int_equal(f.L.format, TRS_CSC);
            check_triangle(&f.L, in);
            if (!symmetric) { /* by rows: U' has L's pattern */
                assert_int_equal(f.U.format, TRS_CSR);
                assert_memory_equal(f.Q, f.P, N * sizeof *f.P);
                check_triangle(&f.U, in);
            }
            trs_lu_factors_free(&lu, &f);
            trs_method_static.release(&lu, data);
            trs_lu_csc_free(&lu, &csc);
            free(in);
            free(A.a);
        }
}

/* A full matrix, all of whose entries below the diagonal are e. */
static full filled(int n, double e)
{
    full A = full_new(n, false);
    for (int k = 0; k < n * n; k++) A.a[k] = k % n > k / n ? e : 1;
    return A;
}

static void choice(void **state)
{
    (void)state;
    full large = filled(600, 0.5), small = filled(200, 0.5), weak = filled(600, 200);
    assert_true(suits(&large)); /* 600^3 / 3 flops */
    assert_false(suits(&small));
    assert_false(suits(&weak));
    for (int k = 1; k < 600; k++) /* triangular: A + A' has twice the entries */
        for (int i = k; i < 600; i++) large.a[i + 600 * (k - 1)] = 0;
    assert_false(suits(&large));
    free(large.a);
    free(small.a);
    free(weak.a);
}

static void not_on_the_host(void **state)
{
    (void)state;
    full A = filled(20, 0.5);
    trs_mat m = show_full(&A, &plain);
    const trs_factor_options opt = {.method = "static"};
    trs_lu *lu;
    assert_int_equal(trs_factor(&lu, &m, &opt), TRS_ESUPPORT);
    assert_non_null(strstr(trs_message(), "on a device"));
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns), cmocka_unit_test(choice),
                                       cmocka_unit_test(not_on_the_host)};
    return cmocka_run_group_tests_name("t_static", tests, NULL, NULL);
}
