/* t_threshold.c: ILUT and ICT are what their definition says.  L U = A on the pattern S; outside, what was dropped,
 * A - L U, is smaller than drop_tol times the norm of its row, or column, and what stays is not.  By induction over rows
 * this leaves one S.  With a bound on entries, the largest stay.  Without both, the factors are complete.  S and the bits
 * stay for new values, and do not depend on threads. */
#include "incomplete.h"

#include <string.h>

enum { N = 40 };
static const double no_bound = 1e30;

/* About `each` entries a row, of all sizes from 1e-4 on, rounded to the type. */
static full sparse(const form *f, bool is_complex, double each, bool symmetric)
{
    full A = full_new(N, is_complex);
    for (int j = 0; j < N; j++)
        for (int i = 0; i <= j; i++) {
            zz *up = &A.a[i + N * j], *down = &A.a[j + N * i];
            if (i == j) *up = 3 + uniform();
            else if (0.5 * N * (uniform() + 1) < each) {
                *up = *down = number(is_complex) * pow(10, 2 * uniform() - 2);
                if (symmetric) *down = conj(*up);
                else if (uniform() > 0) *down = 0;
            }
        }
    if (eps_of(f->real) > 1e-10)
        for (int k = 0; k < N * N; k++) A.a[k] = (zz)(float complex)A.a[k];
    return A;
}

/* ---- against the definition ------------------------------------------------------------------ */

typedef struct factors {
    full L, U,
        A; /* A in the order of the factors; U is D L^H of L D L^H, of which L has a unit diagonal */
    char in[N * N]; /* S */
    int64_t nnz[2]; /* of A: above the diagonal, and the rest */
} factors;

/* dense: zeros are entries of A, too. */
static factors take(const full *A, const trs_lu *lu, bool cholesky, bool dense)
{
    factors f = {.A = full_new(N, A->is_complex)};
    trs_mat l, u;
    const int64_t *P;
    assert_int_equal(trs_lu_factors(lu, &l, &u, &P, NULL, NULL), TRS_OK);
    f.L = unfold(&l);
    f.U = cholesky ? full_new(N, A->is_complex) : unfold(&u);
    for (int i = 0; i < N; i++)
        for (int64_t p = ((const int64_t *)l.ptr)[i]; p < ((const int64_t *)l.ptr)[i + 1]; p++) {
            const int j = ((const int32_t *)l.idx)[p];
            f.in[i + N * j] = 1;
            if (cholesky) f.in[j + N * i] = 1;
        }
    for (int k = 0; k < N * N && cholesky; k++)
        f.U.a[k] = conj(f.L.a[k / N + N * (k % N)]) * f.L.a[k % N + N * (k % N)];
    for (int j = 0; j < N && cholesky; j++) {
        const zz d = f.L.a[j + N * j];
        for (int i = j; i < N; i++) f.L.a[i + N * j] /= d;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const zz a = A->a[P ? P[i] + N * P[j] : i + N * j];
            f.A.a[i + N * j] = a;
            f.nnz[i >= j] += a != 0 || i == j || dense;
        }
    return f;
}

static void release(factors *f)
{
    free(f->L.a);
    free(f->U.a);
    free(f->A.a);
}

/* Row i of U, or column i of L times u(i, i): the number at (i, j), or (j, i). */
static zz kept(const factors *f, bool lower, int i, int j)
{
    return lower ? f->L.a[j + N * i] * f->U.a[i + N * i] : f->U.a[i + N * j];
}

static double dropped(const factors *f, bool lower, int i, int j)
{
    const int row = lower ? j : i, col = lower ? i : j;
    zz sum = f->A.a[row + N * col];
    for (int k = 0; k < N; k++) sum -= f->L.a[row + N * k] * f->U.a[k + N * col];
    return cabs(sum);
}

static double norm_of(const full *A, bool lower, int i)
{
    double sum = 0;
    for (int k = 0; k < N; k++) {
        const zz a = lower ? A->a[k + N * i] : A->a[i + N * k];
        sum += creal(a * conj(a));
    }
    return sqrt(sum);
}

/* Row i of U, or column i of L: which entries are in S.  *spare are the entries it may have. */
static void check_row(const factors *f, bool lower, int i, double tol, double tiny, double *spare)
{
    const double least = tol * norm_of(&f->A, lower, i);
    double smallest = INFINITY, largest = 0;
    int count = 0;
    for (int j = i + 1; j < N; j++) {
        if (f->in[lower ? j + N * i : i + N * j]) {
            smallest = fmin(smallest, cabs(kept(f, lower, i, j)));
            assert_true(dropped(f, lower, i, j) <= tiny);
            count++;
        } else largest = larger(largest, dropped(f, lower, i, j));
    }
    assert_true(smallest >= least - tiny);
    if (largest > least + tiny) { /* so it had no more */
        assert_true(smallest >= largest - tiny && *spare - count < 1);
    }
    *spare -= count;
    assert_true(*spare > -1);
}

static int64_t check(const full *A, const form *s, const trs_ilu_options *opt)
{
    const bool cholesky = opt->method == TRS_ICT;
    trs_mat m = show_full(A, s);
    trs_lu *lu = factor(&m, opt);
    trs_lu_info info;
    const bool dense = s->format == TRS_DENSE;
    factors f = take(A, lu, cholesky, dense);
    double spare[2] = {0, 0};
    const double tiny = 100 * eps_of(s->real), bound = opt->fill_factor > 0 ? opt->fill_factor : 10;
    const double nnz = (double)(f.nnz[1] + (cholesky ? 0 : f.nnz[0]));
    const double fill = floor(bound * nnz) / nnz; /* whole entries */
    for (int i = 0; i < N; i++)
        for (int lower = cholesky; lower < 2; lower++) {
            int64_t count = 0;
            for (int j = i + !cholesky * lower; j < N; j++)
                count += dense || (lower ? f.A.a[j + N * i] : f.A.a[i + N * j]) != 0;
            spare[lower] += fill * (double)count - (cholesky || !lower);
            check_row(&f, lower, i, opt->drop_tol, tiny, &spare[lower]);
        }
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_string_equal(info.library, cholesky ? "ICT" : "ILUT");
    const int64_t entries = info.nnz_l + info.nnz_u - !cholesky * N;
    assert_true((double)entries <= bound * nnz);
    release(&f);
    trs_lu_destroy(lu);
    hide(&m);
    return entries;
}

static void definition(void **state)
{
    (void)state;
    for (int k = 0; k < 8 * FORMS; k++) {
        const form *s = &forms[k % FORMS];
        const bool c = k / FORMS % 2, cholesky = k / FORMS / 2 % 2, permuted = k / FORMS / 4;
        full A = sparse(s, c, 4, cholesky);
        int64_t last = INT64_MAX;
        for (int t = 0; t < 4; t++) {
            trs_ilu_options opt = {.method = cholesky ? TRS_ICT : TRS_ILUT};
            opt.drop_tol = (const double[]){0, 1e-4, 1e-2, 0.3}[t];
            opt.ordering = permuted ? TRS_ILU_RCM : TRS_ILU_NATURAL;
            opt.fill_factor = no_bound;
            const int64_t all = check(&A, s, &opt);
            assert_true(all < last);
            last = all;
            for (int b = 0; b < 3; b++) {
                opt.fill_factor = (const double[]){0, 1, 1.7}[b];
                assert_true(check(&A, s, &opt) <= all);
            }
        }
        free(A.a);
    }
}

/* Without a tolerance and a bound, M = A. */
static void complete(void **state)
{
    (void)state;
    for (int k = 0; k < 4 * FORMS; k++) {
        const form *s = &forms[k % FORMS];
        const bool c = k / FORMS % 2, cholesky = k / FORMS / 2;
        full A = sparse(s, c, 4, cholesky);
        const trs_ilu_options opt = {.method = cholesky ? TRS_ICT : TRS_ILUT,
                                     .fill_factor = no_bound};
        trs_mat m = show_full(&A, s);
        trs_lu *lu = factor(&m, &opt);
        zz b[N], x[N];
        for (int i = 0; i < N; i++) set_value(b, m.dtype, i, number(c));
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
        double worst = 0;
        for (int i = 0; i < N; i++) {
            zz sum = get_value(b, m.dtype, i);
            for (int j = 0; j < N; j++) sum -= A.a[i + N * j] * get_value(x, m.dtype, j);
            worst = larger(worst, cabs(sum));
        }
        assert_true(worst < 100 * eps_of(m.dtype));
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

/* ---- new values -------------------------------------------------------------------------------- */

/* L U = A on the pattern of the first values, whatever the size of the new ones. */
static void update(void **state)
{
    (void)state;
    for (int k = 0; k < 4 * FORMS; k++) {
        const form *s = &forms[k % FORMS];
        const bool c = k / FORMS % 2, cholesky = k / FORMS / 2;
        full A = sparse(s, c, 4, cholesky);
        const trs_ilu_options opt = {.method = cholesky ? TRS_ICT : TRS_ILUT, .drop_tol = 0.02};
        trs_mat m = show_full(&A, s);
        trs_lu *lu = factor(&m, &opt);
        factors first = take(&A, lu, cholesky, false);
        hide(&m);
        for (int i = 0; i < N * N; i++)
            if (i % N != i / N) A.a[i] *= 0.75 + 0.5 * ((i % N + i / N) % 2);
        m = show_full(&A, s);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        factors now = take(&A, lu, cholesky, false);
        assert_memory_equal(now.in, first.in, sizeof now.in);
        for (int i = 0; i < N * N; i++)
            if (now.in[i]) assert_true(dropped(&now, false, i % N, i / N) < 100 * eps_of(s->real));
        release(&first);
        release(&now);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

static void threads(void **state)
{
    (void)state;
    full A = sparse(&plain, true, 12, true);
    trs_mat m = show_full(&A, &plain);
    for (int method = TRS_ILUT; method <= TRS_ICT; method++) {
        trs_ilu_options opt = {.method = method, .drop_tol = 0.01, .plan = {.threads = 1}};
        trs_lu *one = factor(&m, &opt);
        opt.plan.threads = 7;
        trs_lu *many = factor(&m, &opt);
        assert_same_bits(many, one);
        trs_lu_destroy(many);
        trs_lu_destroy(one);
    }
    hide(&m);
    free(A.a);
}

/* ---- pivots -------------------------------------------------------------------------------------- */

/* Row 7 of A is its diagonal alone; -1: not even that. */
static trs_mat with_pivot(full *A, double d)
{
    for (int k = 0; k < N; k++) A->a[7 + N * k] = A->a[k + N * 7] = 0;
    A->a[7 + N * 7] = d;
    return show_full(A, &plain);
}

static void bad_pivots(void **state)
{
    (void)state;
    full A = sparse(&plain, false, 4, true);
    for (int k = 0; k < 4; k++) {
        const bool cholesky = k / 2, negative = k % 2;
        trs_ilu_options opt = {.method = cholesky ? TRS_ICT : TRS_ILUT, .drop_tol = 1e-3};
        trs_mat m = with_pivot(&A, negative ? -1 : 0);
        trs_lu *lu;
        int64_t bad = 0, row = 0;
        const int rc = trs_ilu(&lu, &m, &opt);
        assert_int_equal(rc, negative && !cholesky ? TRS_OK : TRS_EPIVOT);
        if (rc) {
            assert_non_null(strstr(trs_message(), cholesky ? "row 7: the pivot of ICT is"
                                                           : "row 7: the pivot of ILUT is zero"));
            assert_int_equal(trs_lu_status(lu, &bad, &row, NULL), TRS_EPIVOT);
            assert_true(bad == 1 && row == 7);
        }
        hide(&m);
        m = with_pivot(&A, 1);
        /* A had no entry there that a new value could have a place for */
        if (negative) assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        trs_lu_destroy(lu);
        hide(&m);
        m = with_pivot(&A, negative ? -1e-9 : 1e-9);
        opt.boost = 0.1;
        A.a[7 + N * 8] = cholesky ? 0 : 1e-3;
        hide(&m);
        m = show_full(&A, &plain);
        trs_lu_info info;
        lu = factor(&m, &opt);
        assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
        assert_true(info.boosted == (negative || !cholesky));
        trs_lu_destroy(lu);
        hide(&m);
    }
    free(A.a);
}

/* ---- what is refused --------------------------------------------------------------------------- */

static void refuse(const full *A, trs_ilu_options opt, int code, const char *says)
{
    trs_lu *lu;
    trs_mat m = show_full(A, &plain);
    const int rc = trs_ilu(&lu, &m, &opt);
    assert_refused(lu, rc, code, says);
    hide(&m);
}

static void refused(void **state)
{
    (void)state;
    full A = sparse(&plain, false, 4, true);
    for (int k = 0; k < 3; k++)
        refuse(&A,
               (trs_ilu_options){.method = TRS_ILUT,
                                 .drop_tol = (const double[]){-1, NAN, INFINITY}[k]},
               TRS_EARG, "drop_tol");
    refuse(&A, (trs_ilu_options){.method = TRS_ICT, .level = 1}, TRS_EARG, "level");
    refuse(&A, (trs_ilu_options){.drop_tol = 0.1}, TRS_EARG, "drop_tol");
    refuse(&A, (trs_ilu_options){.method = TRS_BLOCK_JACOBI + 1}, TRS_EARG, "unknown method 6");
    A.a[3 + N * 3] = NAN;
    refuse(&A, (trs_ilu_options){.method = TRS_ILUT, .drop_tol = 9}, TRS_EMATRIX,
           "row 3, column 3: the value is not finite");
    free(A.a);
    A = full_new(0, false);
    for (int method = TRS_ILUT; method <= TRS_ICT; method++) {
        const trs_ilu_options opt = {.method = method, .drop_tol = 0.1};
        trs_mat m = show_full(&A, &plain);
        trs_lu_destroy(factor(&m, &opt));
        hide(&m);
    }
    free(A.a);
}

static void out_of_memory(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        full A = full_new(9, k & 1);
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                if (i == j) A.a[10 * i] = 9;
                else if ((i * j) % 4 < 2) A.a[i + 9 * j] = 1;
        trs_mat m = show_full(&A, &forms[k / 2]);
        check_out_of_memory(&m, (trs_ilu_options){.method = k % 4 / 2 ? TRS_ICT : TRS_ILUT,
                                                  .ordering = k / 4 ? TRS_ILU_RCM : 0});
        hide(&m);
        free(A.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definition),    cmocka_unit_test(complete),   cmocka_unit_test(update),
        cmocka_unit_test(threads),       cmocka_unit_test(bad_pivots), cmocka_unit_test(refused),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests_name("threshold", tests, NULL, NULL);
}
