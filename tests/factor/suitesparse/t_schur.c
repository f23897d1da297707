/* t_schur.c: Schur complements of general and of Hermitian matrices against LAPACK, and what their factors solve. */
#include "tests/common/counter.h"
#include "tests/common/full.h"
#include "trisolve-suitesparse.h"

#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

enum { N = 40, MOST = 23, LD = MOST + 2 };

/* `count` of the rows, in no order. */
static void choose(int count, int64_t *rows)
{
    int64_t all[N];
    for (int i = 0; i < N; i++) all[i] = i;
    for (int k = 0; k < count; k++) {
        const int other = k + (int)((uniform() + 1) / 2 * (N - k));
        const int64_t row = all[other];
        all[other] = all[k];
        rows[k] = all[k] = row;
    }
}

/* others [N - count]: the rows that are not in rows, ascending. */
static void find_others(int count, const int64_t *rows, int64_t *others)
{
    int next = 0;
    for (int i = 0; i < N; i++) {
        bool in = false;
        for (int k = 0; k < count; k++) in |= rows[k] == i;
        if (!in) others[next++] = i;
    }
}

static void check_complement(const full *A, int count, const int64_t *rows, const void *S)
{
#ifdef HAVE_LAPACKE
    const int rest = N - count;
    int64_t r[N];
    zz R[N * N], x[N * MOST];
    lapack_int pivot[N];
    find_others(count, rows, r);
    for (int j = 0; j < rest; j++)
        for (int i = 0; i < rest; i++) R[i + rest * j] = A->a[r[i] + N * r[j]];
    for (int j = 0; j < count; j++)
        for (int i = 0; i < rest; i++) x[i + rest * j] = A->a[r[i] + N * rows[j]];
    assert_int_equal(LAPACKE_zgesv(LAPACK_COL_MAJOR, rest, count, R, rest, pivot, x, rest), 0);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++) {
            zz sum = A->a[rows[i] + N * rows[j]];
            double size = cabs(sum) + 1;
            for (int k = 0; k < rest; k++) {
                sum -= A->a[rows[i] + N * r[k]] * x[k + rest * j];
                size += cabs(A->a[rows[i] + N * r[k]] * x[k + rest * j]);
            }
            const zz s = get_value(S, A->is_complex ? TRS_C64 : TRS_F64, i + LD * j);
            if (!(cabs(s - sum) <= 1e-12 * size))
                fail_msg("S(%d, %d) = %g + %g i, not %g + %g i", i, j, creal(s), cimag(s),
                         creal(sum), cimag(sum));
        }
#else
    (void)A, (void)count, (void)rows, (void)S;
    skip();
#endif
}

/* The factors solve with A(r, r), in double precision. */
static void check_factors(const full *A, int count, const int64_t *rows, trs_lu *lu)
{
    const trs_dtype type = A->is_complex ? TRS_C64 : TRS_F64;
    const int rest = N - count;
    int64_t r[N];
    char b[16 * N], x[16 * N];
    find_others(count, rows, r);
    for (int i = 0; i < rest; i++) set_value(b, type, i, number(A->is_complex));
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, rest, x, rest, NULL), TRS_OK);
    for (int i = 0; i < rest; i++) {
        zz sum = -get_value(b, type, i);
        double size = cabs(sum);
        for (int j = 0; j < rest; j++) {
            const zz term = A->a[r[i] + N * r[j]] * get_value(x, type, j);
            sum += term;
            size += cabs(term);
        }
        assert_true(cabs(sum) <= 1e-13 * size);
    }
}

static void check(const full *A, const trs_mat *m, int count, const trs_factor_options *opt,
                  trs_lu **lu, const int64_t *rows)
{
    char S[16 * LD * MOST];
    const int rc = trs_schur(lu, m, count, rows, S, LD, opt);
    if (rc) fail_msg("%s", trs_message());
    check_complement(A, count, rows, S);
    check_factors(A, count, rows, *lu);
}

/* General matrices in every form; new values with the same factors. */
static void every_form(void **state)
{
    static const int counts[] = {0, 1, 5, 16, MOST};
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            const trs_dtype type = c ? forms[k].cplx : forms[k].real;
            const int count = counts[k % 5];
            int64_t rows[N];
            trs_lu *lu = NULL;
            full A = unsymmetric(N, c);
            round_to(&A, type);
            choose(count, rows);
            for (int turn = 0; turn < 2; turn++) {
                trs_mat m = show_full(&A, &forms[k]);
                check(&A, &m, count, NULL, &lu, rows);
                for (int p = 0; p < N * N; p++) A.a[p] *= 1 + 0.25 * (p % 3);
                round_to(&A, type);
                hide(&m);
            }
            trs_lu_destroy(lu);
            free(A.a);
        }
}

/* One triangle of Hermitian matrices; the inertia of A is that of A(r, r) and that of S. */
static void hermitian_ones(void **state)
{
    static const int8_t signs[N] = {0};
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int upper = 0; upper < 2; upper++) {
            int64_t rows[N];
            trs_lu *lu = NULL;
            full A = hermitian(N, c, 12), half = full_new(N, c);
            char S[16 * LD * MOST];
            for (int j = N / 2; j < N; j++)
                for (int i = N / 2; i < N; i++) A.a[i + N * j] *= -1; /* quasi-definite */
            for (int j = 0; j < N; j++)
                for (int i = j; i < N; i++) {
                    const int p = upper ? j + N * i : i + N * j;
                    half.a[p] = A.a[p];
                }
            trs_mat m = show_full(&half, &plain);
            m.kind = (upper ? TRS_UPPER : TRS_LOWER) | TRS_SELFADJOINT;
            const trs_factor_options opt = {.method = "ldlt", .signs = signs};
            choose(MOST, rows);
            check(&A, &m, MOST, &opt, &lu, rows);
            assert_int_equal(trs_schur(&lu, &m, MOST, rows, S, LD, &opt), TRS_OK);
            for (int j = 0; j < MOST; j++)
                for (int i = 0; i <= j; i++) {
                    const trs_dtype t = c ? TRS_C64 : TRS_F64;
                    assert_true(get_value(S, t, i + LD * j) == conj(get_value(S, t, j + LD * i)));
                }
            int64_t r[N], expected = 0, positive;
            find_others(MOST, rows, r);
            for (int i = 0; i < N - MOST; i++) expected += r[i] < N / 2;
            assert_int_equal(trs_lu_inertia(lu, &positive, NULL, NULL), TRS_OK);
            assert_int_equal(positive, expected);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
            free(half.a);
        }
}

/* Signs are given by row of A. */
static void signs_of_rows(void **state)
{
    (void)state;
    full A = full_new(4, false);
    const int8_t signs[] = {0, -1, 1, 1};
    const int64_t rows[] = {2};
    const trs_factor_options opt = {.method = "ldlt", .boost = 0.5, .signs = signs};
    for (int i = 0; i < 4; i++) A.a[5 * i] = i == 1 ? -2 : 1;
    A.a[1] = A.a[4] = 0.25;
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = NULL;
    trs_lu_info info;
    double S;
    assert_int_equal(trs_schur(&lu, &m, 1, rows, &S, 1, &opt), TRS_OK);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_int_equal(info.boosted, 0);
    assert_int_equal(info.n, 3);
    assert_true(S == 1);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* All of A, of any rank, is a Schur complement; without rows there is none. */
static void whole(void **state)
{
    (void)state;
    full A = full_new(3, false);
    const int64_t rows[] = {2, 0, 1};
    double S[9];
    A.a[1] = 2, A.a[5] = 3;
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = NULL;
    assert_int_equal(trs_schur(&lu, &m, 3, rows, S, 3, NULL), TRS_OK);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) assert_true(S[i + 3 * j] == creal(A.a[rows[i] + 3 * rows[j]]));
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void assert_fails(const trs_mat *m, int64_t count, const int64_t *rows, int64_t ld,
                         const trs_factor_options *opt, int code, const char *says)
{
    double S[9];
    trs_lu *lu = NULL;
    assert_int_equal(trs_schur(&lu, m, count, rows, S, ld, opt), code);
    if (!strstr(trs_message(), says)) fail_msg("%s", trs_message());
    trs_lu_destroy(lu);
}

static void refused(void **state)
{
    (void)state;
    full A = full_new(3, false);
    for (int i = 0; i < 3; i++) A.a[4 * i] = i; /* A(0, 0) = 0 */
    trs_mat m = show_full(&A, &plain);
    const int64_t twice[] = {1, 1}, beyond[] = {3}, below[] = {-1}, good[] = {1};
    const trs_factor_options device = {.plan.device = 1}, reserved = {.reserved = {1}};
    assert_fails(&m, 2, twice, 2, NULL, TRS_EARG, "row 1 is in rows twice");
    assert_fails(&m, 1, beyond, 1, NULL, TRS_EARG, "rows[0] = 3");
    assert_fails(&m, 1, below, 1, NULL, TRS_EARG, "rows[0] = -1");
    assert_fails(&m, -1, good, 1, NULL, TRS_EARG, "count");
    assert_fails(&m, 1, good, 0, NULL, TRS_EARG, "ld");
    assert_fails(&m, 1, NULL, 1, NULL, TRS_EARG, "rows");
    assert_fails(NULL, 1, good, 1, NULL, TRS_EARG, "NULL");
    assert_fails(&m, 1, good, 1, &reserved, TRS_EARG, "reserved");
    assert_fails(&m, 1, good, 1, &device, TRS_ESUPPORT, "host");
    assert_fails(&m, 1, good, 1, NULL, TRS_EPIVOT, "empty");
    assert_int_equal(trs_schur(NULL, &m, 0, NULL, NULL, 0, NULL), TRS_EARG);
    hide(&m);
    free(A.a);
}

static void no_memory(void **state)
{
    (void)state;
    full A = hermitian(N, false, 12);
    trs_mat m = show_full(&A, &plain);
    int64_t rows[N];
    char S[16 * LD * MOST];
    m.kind = TRS_LOWER | TRS_SELFADJOINT;
    choose(MOST, rows);
    counter c = {.fail_at = 0};
    for (;; c.fail_at++) {
        const trs_factor_options opt = {.plan.memory = counted_memory(&c)};
        trs_lu *lu = NULL;
        c.calls = 0;
        const int rc = trs_schur(&lu, &m, MOST, rows, S, LD, &opt);
        trs_lu_destroy(lu);
        assert_int_equal(c.live, 0);
        if (!was_refused(&c)) break;
        assert_true(rc == TRS_EMEM || rc == TRS_OK);
    }
    assert_true(c.fail_at > 10);
    hide(&m);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form), cmocka_unit_test(hermitian_ones),
        cmocka_unit_test(whole),      cmocka_unit_test(signs_of_rows),
        cmocka_unit_test(refused),    cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("t_schur", tests, NULL, NULL);
}
