/* t_schur.c: Schur complements of general and of Hermitian matrices against LAPACK, and what their factors solve; on the host, and
 * on a device. */
#include "tests/common/counter.h"
#include "tests/factor/there.h"

#include "base/number/number.h"
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

/* Where the factors solve, and A is. */
typedef enum place { HERE, THERE, BOTH_THERE } place;

static const trs_factor_options *options_for(place w, trs_factor_options *opt)
{
    if (w != HERE) opt->plan.device = TRS_CUDA(0);
    return opt;
}

/* S, copied to the host.  The numbers between its columns are the caller's. */
static int complement(place w, trs_lu **lu, const trs_mat *m, int count, const int64_t *rows,
                      void *S, const trs_factor_options *opt)
{
    const size_t bytes = (size_t)LD * MOST * (trs_is_complex(m->dtype) ? 16 : 8);
    trs_mat d = {0};
    if (w == HERE) return trs_schur(lu, m, count, rows, S, LD, opt);
    if (w == BOTH_THERE) d = there(m);
    memset(S, 77, bytes);
    void *to = array_there(S, bytes);
    const int rc = trs_schur(lu, w == BOTH_THERE ? &d : m, count, rows, to, LD, opt);
    assert_int_equal(trs_device_get(TRS_CUDA(0), S, to, bytes), TRS_OK);
    for (size_t k = 0; k < bytes; k++) {
        const size_t row = k / (trs_is_complex(m->dtype) ? 16 : 8) % LD;
        if (row >= (size_t)count) assert_int_equal(((char *)S)[k], 77);
    }
    free_there(to);
    away(&d);
    return rc;
}

static void solve(place w, trs_lu *lu, const void *b, void *x, int n, size_t bytes)
{
    if (w == HERE) {
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, n, x, n, NULL), TRS_OK);
        return;
    }
    void *v = array_there(b, bytes);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, v, n, v, n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, v, bytes), TRS_OK);
    free_there(v);
}

/* The factors solve with A(r, r), in double precision. */
static void check_factors(place w, const full *A, int count, const int64_t *rows, trs_lu *lu)
{
    const trs_dtype type = A->is_complex ? TRS_C64 : TRS_F64;
    const int rest = N - count;
    int64_t r[N];
    char b[16 * N], x[16 * N];
    find_others(count, rows, r);
    for (int i = 0; i < rest; i++) set_value(b, type, i, number(A->is_complex));
    solve(w, lu, b, x, rest, (size_t)rest * size_of(type));
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

static void check(place w, const full *A, const trs_mat *m, int count,
                  const trs_factor_options *opt, trs_lu **lu, const int64_t *rows)
{
    char S[16 * LD * MOST];
    const int rc = complement(w, lu, m, count, rows, S, opt);
    if (rc) fail_msg("%s", trs_message());
    check_complement(A, count, rows, S);
    check_factors(w, A, count, rows, *lu);
}

/* General matrices in every form; new values with the same factors. */
static void check_forms(place w)
{
    static const int counts[] = {0, 1, 5, 16, MOST};
    trs_factor_options opt = {0};
    options_for(w, &opt);
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
                check(w, &A, &m, count, w == HERE ? NULL : &opt, &lu, rows);
                for (int p = 0; p < N * N; p++) A.a[p] *= 1 + 0.25 * (p % 3);
                round_to(&A, type);
                hide(&m);
            }
            trs_lu_destroy(lu);
            free(A.a);
        }
}

static void every_form(void **state)
{
    (void)state;
    check_forms(HERE);
}

static void every_form_there(void **state)
{
    (void)state;
    if (!has_device()) skip();
    check_forms(THERE);
    check_forms(BOTH_THERE);
}

/* One triangle of Hermitian matrices; the inertia of A is that of A(r, r) and that of S. */
static void check_hermitian(place w)
{
    static const int8_t signs[N] = {0};
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
            trs_factor_options opt = {.method = "ldlt", .signs = signs};
            options_for(w, &opt);
            choose(MOST, rows);
            check(w, &A, &m, MOST, &opt, &lu, rows);
            assert_int_equal(complement(w, &lu, &m, MOST, rows, S, &opt), TRS_OK);
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

static void hermitian_ones(void **state)
{
    (void)state;
    check_hermitian(HERE);
}

static void hermitian_ones_there(void **state)
{
    (void)state;
    if (!has_device()) skip();
    check_hermitian(THERE);
    check_hermitian(BOTH_THERE);
}

/* A grid of SIDE x SIDE with unsymmetric values; s are three lines of it and some other points. */
enum { SIDE = 40, POINTS = SIDE * SIDE, SEVERAL = 3 * SIDE + 7 };

static trs_mat grid_new(void)
{
    int64_t *ptr = calloc(POINTS + 1, sizeof *ptr), end = 0;
    int32_t *idx = calloc((size_t)5 * POINTS, sizeof *idx);
    double *val = calloc((size_t)5 * POINTS, sizeof *val);
    for (int i = 0; i < POINTS; i++) {
        const int to[] = {i - SIDE, i % SIDE ? i - 1 : -1, i, i % SIDE < SIDE - 1 ? i + 1 : -1,
                          i + SIDE};
        for (int k = 0; k < 5; k++) {
            if (to[k] < 0 || to[k] >= POINTS) continue;
            idx[end] = to[k];
            val[end++] = k == 2 ? 4 + 0.1 * uniform() : -1 + 0.3 * uniform();
        }
        ptr[i + 1] = end;
    }
    return (trs_mat){.n = POINTS,
                     .nnz = end,
                     .ptr = ptr,
                     .idx = idx,
                     .val = val,
                     .ptr_bits = 64,
                     .idx_bits = 32,
                     .dtype = TRS_F64,
                     .format = TRS_CSR};
}

static void choose_points(int64_t *rows)
{
    int count = 0;
    for (int line = 1; line <= 3; line++)
        for (int k = 0; k < SIDE; k++) rows[count++] = (int64_t)line * (SIDE / 4) * SIDE + k;
    for (int k = 0; k < 7; k++) rows[count++] = 11 + (int64_t)k * SIDE;
    assert_int_equal(count, SEVERAL);
}

/* More columns than a panel has: the same S as on the host, twice. */
static void panels(void **state)
{
    (void)state;
    if (!has_device()) skip();
    const size_t count = (size_t)SEVERAL * SEVERAL, bytes = count * sizeof(double);
    double *S = calloc(3 * count, sizeof *S);
    int64_t rows[SEVERAL];
    trs_mat m = grid_new();
    trs_factor_options opt = {0};
    trs_lu *lu = NULL;
    choose_points(rows);
    assert_int_equal(trs_schur(&lu, &m, SEVERAL, rows, S, SEVERAL, NULL), TRS_OK);
    trs_lu_destroy(lu);
    lu = NULL;
    void *to = array_there(S, bytes);
    options_for(THERE, &opt);
    for (int turn = 1; turn <= 2; turn++) {
        if (trs_schur(&lu, &m, SEVERAL, rows, to, SEVERAL, &opt)) fail_msg("%s", trs_message());
        assert_int_equal(trs_device_get(TRS_CUDA(0), S + (size_t)turn * count, to, bytes), TRS_OK);
    }
    for (size_t k = 0; k < 2 * count; k++)
        if (!(fabs(S[k % count] - S[k + count]) <= 1e-12))
            fail_msg("number %d: %g, not %g", (int)k, S[k + count], S[k % count]);
    trs_lu_destroy(lu);
    free_there(to);
    hide(&m);
    free(S);
}

/* New values that do not suit the pivots of the first ones. */
static void unsuited(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = full_new(3, false);
    const int64_t rows[] = {1};
    double S[LD * MOST];
    trs_lu *lu = NULL;
    trs_factor_options opt = {.method = "klu"};
    options_for(THERE, &opt);
    A.a[0] = A.a[8] = 1, A.a[2] = A.a[6] = 0.5, A.a[3] = A.a[4] = 2;
    trs_mat m = show_full(&A, &plain);
    assert_int_equal(complement(THERE, &lu, &m, 1, rows, S, &opt), TRS_OK);
    assert_true(S[0] == 2);
    hide(&m);
    A.a[0] = A.a[8] = 1e-200;
    m = show_full(&A, &plain);
    assert_int_equal(complement(THERE, &lu, &m, 1, rows, S, &opt), TRS_EGROWTH);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
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
    const trs_factor_options reserved = {.reserved = {1}};
    trs_mat elsewhere = m;
    elsewhere.device = TRS_CUDA(0);
    assert_fails(&m, 2, twice, 2, NULL, TRS_EARG, "row 1 is in rows twice");
    assert_fails(&m, 1, beyond, 1, NULL, TRS_EARG, "rows[0] = 3");
    assert_fails(&m, 1, below, 1, NULL, TRS_EARG, "rows[0] = -1");
    assert_fails(&m, -1, good, 1, NULL, TRS_EARG, "count");
    assert_fails(&m, 1, good, 0, NULL, TRS_EARG, "ld");
    assert_fails(&m, 1, NULL, 1, NULL, TRS_EARG, "rows");
    assert_fails(NULL, 1, good, 1, NULL, TRS_EARG, "NULL");
    assert_fails(&m, 1, good, 1, &reserved, TRS_EARG, "reserved");
    assert_fails(&elsewhere, 1, good, 1, NULL, TRS_ESUPPORT, "device");
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
        cmocka_unit_test(every_form),
        cmocka_unit_test(hermitian_ones),
        cmocka_unit_test(whole),
        cmocka_unit_test(signs_of_rows),
        cmocka_unit_test(refused),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(every_form_there),
        cmocka_unit_test(hermitian_ones_there),
        cmocka_unit_test(panels),
        cmocka_unit_test(unsuited),
    };
    return cmocka_run_group_tests_name("t_schur", tests, NULL, NULL);
}
