/* t_ilu.c: ILU(0) and IC(0) are what their definitions say: L U = A on the pattern, and they equal an elimination of full
 * matrices that drops fill.  They are exact where there is no fill.  A breakdown is reported with its row.  Threads, forms
 * and updates do not change the bits. */
#include "incomplete.h"

#include "core/plan.h"

typedef enum shape { SPARSE, TRIDIAGONAL, ARROW, SHAPES } shape;

static bool has_entry(shape s, int n, int i, int j)
{
    if (s == SPARSE) return uniform() > 0.5;
    return s == ARROW ? j == n - 1 : j - i < 2;
}

/* Diagonally dominant, so that no pivot is bad; Hermitian on demand. */
static full matrix(shape s, int n, bool is_complex, bool symmetric)
{
    full f = full_new(n, is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            const bool in = has_entry(s, n, i, j);
            if (i == j) f.a[i + n * i] = n + uniform();
            else if (in) {
                f.a[i + n * j] = number(is_complex);
                f.a[j + n * i] = symmetric ? conj(f.a[i + n * j]) : number(is_complex);
            }
        }
    return f;
}

/* ILU(0) by its definition: elimination of a full matrix, in which entries outside the pattern are dropped as soon as they
 * appear. */
static full plain_ilu(const full *A)
{
    const int n = A->n;
    full f = full_new(n, A->is_complex);
    memcpy(f.a, A->a, (size_t)(n * n) * sizeof *f.a);
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            if (f.a[i + n * k] == 0) continue;
            f.a[i + n * k] /= f.a[k + n * k];
            for (int j = k + 1; j < n; j++)
                if (A->a[i + n * j] != 0 || i == j)
                    f.a[i + n * j] -= f.a[i + n * k] * f.a[k + n * j];
        }
    return f;
}

/* The same for L L^H, column by column. */
static full plain_ic(const full *A)
{
    const int n = A->n;
    full f = full_new(n, A->is_complex);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) f.a[i + n * j] = A->a[i + n * j];
    for (int k = 0; k < n; k++) {
        f.a[k + n * k] = sqrt(creal(f.a[k + n * k]));
        for (int i = k + 1; i < n; i++) f.a[i + n * k] /= f.a[k + n * k];
        for (int j = k + 1; j < n; j++)
            for (int i = j; i < n; i++)
                if (A->a[i + n * j] != 0 || i == j)
                    f.a[i + n * j] -= f.a[i + n * k] * conj(f.a[j + n * k]);
    }
    return f;
}

/* L and U (or L^H) of a lu as full matrices. */
static void take(const trs_lu *lu, full *L, full *U)
{
    trs_mat l, u;
    const int64_t *P, *Q;
    const double *scale;
    assert_int_equal(trs_lu_factors(lu, &l, &u, &P, &Q, &scale), TRS_OK);
    assert_true(!P && !Q && !scale);
    *L = unfold(&l);
    if (u.ptr) {
        *U = unfold(&u);
        return;
    }
    *U = full_new(L->n, L->is_complex);
    for (int j = 0; j < L->n; j++)
        for (int i = 0; i < L->n; i++) U->a[i + L->n * j] = conj(L->a[j + L->n * i]);
}

/* ---- what they are -------------------------------------------------------------------------- */

/* The largest |L U - A| / (|L| |U|) on the pattern, or of all entries; and the largest |F - G| / max |G|, where G is the
 * elimination of the full matrix. */
static void check_factors(const full *A, const trs_mat *m, trs_ilu_method method, bool everywhere)
{
    const int n = A->n;
    const trs_ilu_options opt = {.method = method};
    trs_lu *lu = factor(m, &opt);
    full L, U, F = method == TRS_IC0 ? plain_ic(A) : plain_ilu(A);
    double product = 0, apart = 0, largest = 0;
    take(lu, &L, &U);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            zz sum = 0;
            double size = 0;
            for (int k = 0; k < n; k++) {
                sum += L.a[i + n * k] * U.a[k + n * j];
                size += cabs(L.a[i + n * k] * U.a[k + n * j]);
            }
            const bool in = A->a[i + n * j] != 0;
            const zz mine = method == TRS_IC0 || i > j ? L.a[i + n * j] : U.a[i + n * j];
            if ((in || everywhere) && size > 0)
                product = larger(product, cabs(sum - A->a[i + n * j]) / size);
            if (!in) assert_true(mine == 0);
            if (method == TRS_IC0 && i < j) continue;
            apart = larger(apart, cabs(mine - F.a[i + n * j]));
            largest = larger(largest, cabs(F.a[i + n * j]));
        }
    const double eps = n * eps_of(m->dtype);
    print_message("n = %2d, type %d: |LU - A| = %.2g n eps, from plain elimination %.2g n eps\n", n,
                  m->dtype, product / eps, apart / largest / eps);
    assert_true(product <= 2 * eps && apart <= 4 * eps * largest);
    free(L.a);
    free(U.a);
    free(F.a);
    trs_lu_destroy(lu);
}

/* Few entries a row, but for hubs whose rows, or columns, are full: long pivot rows are searched. */
static void hubs(void **state)
{
    enum { N = 150 };
    (void)state;
    for (int k = 0; k < 24; k++) {
        const bool is_complex = k % 2, hermitian_too = k / 12, single = k / 2 % 2;
        const int hub[] = {0, 40, N - 3};
        full A = full_new(N, is_complex);
        for (int i = 0; i < N; i++) {
            A.a[i + N * i] = N;
            for (int l = 0; l < 2; l++) {
                const int j = (int)(fabs(uniform()) * N) % N;
                if (j != i) A.a[i + N * j] = number(is_complex);
                if (hermitian_too && j != i) A.a[j + N * i] = conj(A.a[i + N * j]);
            }
            const int h = hub[k / 4 % 3];
            if (i == h) continue;
            A.a[h + N * i] = number(is_complex);
            if (i % 2 || hermitian_too) A.a[i + N * h] = conj(A.a[h + N * i]);
        }
        form f = plain;
        if (single) f.real = TRS_F32, f.cplx = TRS_C32;
        trs_mat m = show_full(&A, &f);
        for (int j = 0; j < N * N; j++) { /* as the type holds it */
            zz one;
            set_value(&one, m.dtype, 0, A.a[j]);
            A.a[j] = get_value(&one, m.dtype, 0);
        }
        check_factors(&A, &m, hermitian_too ? TRS_IC0 : TRS_ILU0, false);
        hide(&m);
        free(A.a);
    }
}

static void definitions(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int s = 0; s < SHAPES; s++)
                for (int n = 1; n <= 31; n += 10)
                    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
                        full A = matrix(s, n, c, method == TRS_IC0);
                        round_to(&A, forms[k].real);
                        trs_mat m = show_full(&A, &forms[k]);
                        /* a dense matrix has no zeros, and so no fill that could be dropped */
                        if (m.format != TRS_DENSE || s == ARROW)
                            check_factors(&A, &m, method, s != SPARSE);
                        hide(&m);
                        free(A.a);
                    }
}

/* IC(0) reads the lower triangle only. */
static void half_a_matrix(void **state)
{
    (void)state;
    full A = matrix(SPARSE, 25, true, true);
    trs_mat m = show_full(&A, &plain), l;
    full B = A;
    B.a = memcpy(full_new(25, true).a, A.a, 625 * sizeof *A.a);
    for (int j = 0; j < 25; j++)
        for (int i = 0; i < j; i++) B.a[i + 25 * j] = 0;
    l = show_full(&B, &plain);
    l.kind = TRS_LOWER;
    const trs_ilu_options opt = {.method = TRS_IC0};
    trs_lu *a = factor(&m, &opt), *b = factor(&l, &opt);
    assert_same_bits(a, b);
    trs_lu_destroy(a);
    trs_lu_destroy(b);
    hide(&m);
    hide(&l);
    free(A.a);
    free(B.a);
}

/* ---- solving -------------------------------------------------------------------------------- */

static zz op_of(const full *M, trs_op op, int i, int j)
{
    const zz a = op == TRS_N ? M->a[i + M->n * j] : M->a[j + M->n * i];
    return op == TRS_H ? conj(a) : a;
}

/* The largest |B - op(L U) X| / (|L| |U| |X| + |B|). */
static double solve_error(trs_lu *lu, const full *L, const full *U, trs_dtype t, trs_op op,
                          int nrhs, trs_layout layout)
{
    const int n = L->n, ld = (layout == TRS_ROW_MAJOR ? nrhs : n) + 3;
    const bool rows = layout == TRS_ROW_MAJOR;
    const trs_exec exec = {.layout = layout};
    const size_t count = (size_t)(ld * (rows ? n : nrhs));
    zz *b = calloc(count, sizeof *b), *x = calloc(count, sizeof *x);
    for (int64_t k = 0; k < (int64_t)count; k++) set_value(b, t, k, number(L->is_complex));
    assert_int_equal(trs_lu_solve(lu, op, nrhs, b, ld, x, ld, &exec), TRS_OK);
    double worst = 0;
    const full *first = op == TRS_N ? L : U, *second = op == TRS_N ? U : L; /* op(L U) */
    for (int r = 0; r < nrhs; r++)
        for (int i = 0; i < n; i++) {
            zz res = get_value(b, t, rows ? i * ld + r : i + r * ld);
            double size = cabs(res);
            for (int k = 0; k < n; k++)
                for (int j = 0; j < n; j++) {
                    const zz a = op_of(first, op, i, k) * op_of(second, op, k, j) *
                                 get_value(x, t, rows ? j * ld + r : j + r * ld);
                    res -= a;
                    size += cabs(a);
                }
            worst = larger(worst, cabs(res) / size);
        }
    assert_int_equal(trs_lu_solve(lu, op, nrhs, b, ld, b, ld, &exec), TRS_OK); /* in place */
    for (int r = 0; r < nrhs; r++)
        for (int i = 0; i < n; i++) {
            const int k = rows ? i * ld + r : i + r * ld;
            assert_true(get_value(b, t, k) == get_value(x, t, k));
        }
    free(b);
    free(x);
    return worst;
}

static void solves(void **state)
{
    (void)state;
    static const int chosen[] = {0, 2, FORMS - 1};
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 3; k++)
            for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
                full A = matrix(SPARSE, 20, c, method == TRS_IC0), L, U;
                trs_mat m = show_full(&A, &forms[chosen[k]]);
                const trs_ilu_options opt = {.method = method, .plan = {.ops = 7, .nrhs = 2}};
                trs_lu *lu = factor(&m, &opt);
                take(lu, &L, &U);
                double worst = 0;
                for (trs_op op = TRS_N; op <= TRS_H; op++)
                    for (int nrhs = 1; nrhs <= 3; nrhs++)
                        for (int layout = 0; layout < 2; layout++) {
                            if (method == TRS_IC0 && c && op == TRS_T) continue;
                            worst =
                                larger(worst, solve_error(lu, &L, &U, m.dtype, op, nrhs, layout));
                        }
                print_message("type %d, %s: omega = %.2g eps\n", m.dtype,
                              method == TRS_IC0 ? "IC(0)" : "ILU(0)", worst / eps_of(m.dtype));
                assert_true(worst <= 2 * 21 * 4 * eps_of(m.dtype));
                trs_lu_destroy(lu);
                hide(&m);
                free(A.a);
                free(L.a);
                free(U.a);
            }
}

/* Refinement with incomplete factors is a stationary iteration, and converges for dominant matrices. */
static void refinement(void **state)
{
    (void)state;
    full A = matrix(SPARSE, 30, false, false);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = factor(&m, NULL);
    double b[30], x[30];
    trs_error e;
    int steps;
    for (int i = 0; i < 30; i++) b[i] = uniform();
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 30, x, 30, NULL), TRS_OK);
    assert_int_equal(trs_lu_refine(lu, &m, TRS_N, 1, b, 30, x, 30, NULL, 50, &steps, &e), TRS_OK);
    print_message("omega %.2g after %d steps\n", e.omega, steps);
    assert_true(e.omega <= 31 * DBL_EPSILON && steps > 1);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* ---- what breaks down ----------------------------------------------------------------------- */

static void refuse(const full *A, const form *f, const trs_ilu_options *opt, int code,
                   const char *says)
{
    trs_lu *lu;
    trs_mat m = show_full(A, f);
    const int rc = trs_ilu(&lu, &m, opt);
    assert_refused(lu, rc, code, says);
    hide(&m);
}

static void breakdown(void **state)
{
    (void)state;
    const trs_ilu_options ic = {.method = TRS_IC0};
    for (int c = 0; c < 2; c++) {
        full A = matrix(TRIDIAGONAL, 7, c, true);
        A.a[3 + 7 * 3] = 0; /* elimination makes it negative */
        refuse(&A, &plain, &ic, TRS_EPIVOT, "row 3: the pivot of IC(0) is negative");
        refuse(&A, &forms[2], &ic, TRS_EPIVOT, "row 4: ");
        for (int k = 0; k < 7; k++) A.a[3 + 7 * k] = A.a[k + 7 * 3] = 0;
        refuse(&A, &plain, &ic, TRS_EPIVOT, "row 3: the pivot of IC(0) is zero (A has no diagonal");
        refuse(&A, &plain, NULL, TRS_EPIVOT, "row 3: the pivot of ILU(0) is zero (A has no");
        A.a[2 + 7 * 2] = 5; /* rows 2 and 3: 5 2; 10 4 */
        A.a[1 + 7 * 2] = A.a[2 + 7 * 1] = 0;
        A.a[2 + 7 * 3] = 2, A.a[3 + 7 * 2] = 10, A.a[3 + 7 * 3] = 4;
        refuse(&A, &plain, NULL, TRS_EPIVOT, "row 3: the pivot of ILU(0) is zero");
        A.a[5 + 7 * 6] = c ? 1 + I * INFINITY : NAN;
        refuse(&A, &forms[1], NULL, TRS_EMATRIX, "row 6, column 7: the value is not finite");
        A.a[5 + 7 * 6] = 1e308, A.a[5 + 7 * 5] = 1e-308, A.a[6 + 7 * 5] = 1;
        A.a[3 + 7 * 3] = 8;
        refuse(&A, &plain, NULL, TRS_EPIVOT, "row 6: the pivot of ILU(0) is not finite");
        free(A.a);
    }
}

/* After an update that failed, the status has the count and the row, and a solve says why there are no factors. */
static void status_of_a_failure(void **state)
{
    enum { N = 4 };
    const int64_t ptr[] = {0, 1, 2, 3, 4};
    const int32_t idx[] = {0, 1, 2, 3};
    double val[] = {1, 2, 3, 4}, x[N] = {1, 2, 3, 4};
    const trs_mat m = {.n = N, .nnz = N, .ptr = ptr, .idx = idx, .val = val};
    trs_lu *lu;
    int64_t bad, first;
    (void)state;
    assert_int_equal(trs_ilu(&lu, &m, NULL), TRS_OK);
    val[1] = val[3] = 0;
    assert_int_equal(trs_lu_update(lu, &m), TRS_EPIVOT);
    assert_int_equal(trs_lu_status(lu, &bad, &first, NULL), TRS_EPIVOT);
    assert_int_equal(bad, 2);
    assert_int_equal(first, 1);
    assert_non_null(strstr(trs_message(), "row 1"));
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, N, x, N, NULL), TRS_ESTATE);
    assert_non_null(strstr(trs_message(), "the last A could not be factored"));
    val[1] = 2, val[3] = 4;
    assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    assert_int_equal(trs_lu_status(lu, &bad, &first, NULL), TRS_OK);
    assert_true(bad == 0 && first == -1);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, N, x, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++) assert_true(x[i] == 1);
    trs_lu_destroy(lu);
}

/* A lower triangle whose entries stand where the factors have theirs.  1 0; 2 3 has no L L'. */
static void triangle_as_it_stands(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 1, 3};
    const int32_t idx[] = {0, 0, 1};
    const double val[] = {1, 2, 3};
    const trs_mat m = {.n = 2, .nnz = 3, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    const trs_ilu_options ic = {.method = TRS_IC0};
    trs_lu *lu;
    const int rc = trs_ilu(&lu, &m, &ic);
    assert_refused(lu, rc, TRS_EPIVOT, "row 1: the pivot of IC(0) is negative");
}

/* A missing diagonal entry that elimination fills. */
static void missing_diagonal(void **state)
{
    (void)state;
    full A = full_new(2, false), L, U;
    A.a[0] = 2, A.a[1] = 4, A.a[2] = 3;
    for (int k = 0; k < FORMS; k++) {
        trs_mat m = show_full(&A, &forms[k]);
        trs_lu *lu = factor(&m, NULL);
        trs_lu_info info;
        trs_lu_get_info(lu, &info);
        take(lu, &L, &U);
        assert_true(L.a[1] == 2 && U.a[0] == 2 && U.a[2] == 3 && U.a[3] == -6);
        assert_int_equal(info.nnz_l, 3);
        assert_int_equal(info.nnz_u, 3);
        free(L.a);
        free(U.a);
        trs_lu_destroy(lu);
        hide(&m);
    }
    free(A.a);
}

/* A complex pivot that is replaced keeps its phase; its size is its modulus. */
static void boost_of_complex_pivots(void **state)
{
    /* the pivot of row 1 is last - 1, times the phase */
    static const struct {
        zz phase, last, pivot;
    } t[] = {{I, 0.9998, -0.01 * I}, {1, 1 + 0.006 * (1 + I), 0}, {1, 1 + 0.008 * (1 - I), 0}};
    full A = full_new(2, true);
    (void)state;
    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++) {
        const double largest = fmax(1, cabs(t[k].last)), least = 0.01 * largest;
        const zz pivot = t[k].last - 1;
        const zz right = cabs(pivot) < least ? pivot / cabs(pivot) * least : pivot;
        const trs_ilu_options opt = {.boost = 0.01};
        trs_lu_info info;
        full L, U;
        A.a[0] = A.a[1] = A.a[2] = t[k].phase;
        A.a[3] = t[k].phase * t[k].last;
        if (k == 0) assert_true(cabs(t[k].phase * right - t[k].pivot) < 1e-15);
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu = factor(&m, &opt);
        assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
        assert_int_equal(info.boosted, k < 2);
        take(lu, &L, &U);
        assert_true(cabs(U.a[3] - t[k].phase * right) < 1e-15);
        free(L.a), free(U.a);
        trs_lu_destroy(lu);
        hide(&m);
    }
    free(A.a);
}

/* Shift and boost do what the header says. */
static void shift_and_boost(void **state)
{
    (void)state;
    full A = full_new(3, false), L, U;
    A.a[0] = 1, A.a[4] = 1, A.a[8] = 1;
    A.a[1] = A.a[3] = 2; /* indefinite */
    trs_mat m = show_full(&A, &plain);
    trs_ilu_options opt = {.method = TRS_IC0, .shift = 3};
    trs_lu *lu = factor(&m, &opt); /* 4 2; 2 4 */
    take(lu, &L, &U);
    assert_true(L.a[0] == 2 && L.a[1] == 1 && fabs(creal(L.a[4]) - sqrt(3)) < 1e-15 && L.a[8] == 2);
    free(L.a), free(U.a);
    trs_lu_destroy(lu);
    opt = (trs_ilu_options){.method = TRS_IC0, .boost = 0.5};
    lu = factor(&m, &opt); /* 1 - 2^2 < 0.5 * 2 */
    trs_lu_info info;
    trs_lu_get_info(lu, &info);
    take(lu, &L, &U);
    assert_int_equal(info.boosted, 1);
    assert_true(L.a[1] == 2 && L.a[4] == 1 && L.a[8] == 1);
    free(L.a), free(U.a);
    trs_lu_destroy(lu);
    hide(&m);
    A.a[4] = 3.875; /* u(1, 1) = -0.125 */
    m = show_full(&A, &plain);
    opt = (trs_ilu_options){.boost = 0.25};
    lu = factor(&m, &opt);
    take(lu, &L, &U);
    assert_true(L.a[1] == 2 && U.a[4] == -0.25 * 3.875);
    free(L.a), free(U.a);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void wrong_options(void **state)
{
    (void)state;
    full A = matrix(SPARSE, 5, true, true);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = NULL;
    const trs_ilu_options wrong[] = {
        {.method = TRS_BLOCK_JACOBI + 1},
        {.shift = -1},
        {.shift = NAN},
        {.boost = -0.1},
        {.boost = 2},
        {.boost = NAN},
        {.plan = {.nrhs = -1}},
        {.plan = {.solver = "no-such"}},
        {.plan = {.layout = 7}},
    };
    assert_int_equal(trs_ilu(NULL, &m, NULL), TRS_EARG);
    assert_int_equal(trs_ilu(&lu, NULL, NULL), TRS_EARG);
    assert_null(lu);
    assert_int_equal(trs_lu_update(NULL, &m), TRS_EARG);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        refuse(&A, &plain, &wrong[k], k == 7 ? TRS_ESUPPORT : TRS_EARG, "");
    hide(&m);
    free(A.a);
}

static void update_of_a_full_matrix(void **state)
{
    (void)state;
    double dense[6] = {2, 0, 0, 2};
    trs_mat square = {.n = 2, .ld = 2, .val = dense, .format = TRS_DENSE};
    trs_lu_info info;
    trs_lu *lu = factor(&square, NULL);
    trs_lu_get_info(lu, &info);
    assert_int_equal(info.nnz_a, 4);
    square.ld = 3; /* its numbers stand elsewhere */
    assert_int_equal(trs_lu_update(lu, &square), TRS_EARG);
    trs_lu_destroy(lu);
}

static void wrong_matrices(void **state)
{
    (void)state;
    full A = matrix(SPARSE, 5, true, true);
    trs_mat m = show_full(&A, &plain), other = m;
    trs_lu *lu;
    other.kind = TRS_LOWER;
    assert_int_equal(trs_ilu(&lu, &other, NULL), TRS_EARG);
    assert_int_equal(trs_lu_update(lu, &m), TRS_ESTATE);
    trs_lu_destroy(lu);
    other.kind = 0;
    other.device = TRS_CUDA(0);
    assert_int_equal(trs_ilu(&lu, &other, NULL), TRS_ESUPPORT);
    trs_lu_destroy(lu);
    ((int32_t *)m.idx)[1] = 5;
    assert_int_equal(trs_ilu(&lu, &m, NULL), TRS_EMATRIX);
    assert_non_null(strstr(trs_message(), "row 0"));
    trs_lu_destroy(lu);
    ((int32_t *)m.idx)[1] = 0;
    assert_int_equal(trs_ilu(&lu, &m, NULL), TRS_EMATRIX);
    assert_non_null(strstr(trs_message(), "twice"));
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void wrong_solves(void **state)
{
    (void)state;
    full A = matrix(SPARSE, 5, true, true);
    trs_mat m = show_full(&A, &plain), other = m;
    double b[10] = {1}, x[10];
    const trs_ilu_options ic = {.method = TRS_IC0};
    trs_lu *lu = factor(&m, &ic);
    assert_int_equal(trs_lu_solve(lu, TRS_T, 1, b, 5, x, 5, NULL), TRS_ESUPPORT);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 4, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b + 1, 5, b, 5, NULL), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 2, b, INT64_MAX, x, 5, NULL), TRS_EARG);
    other.nnz--;
    assert_int_equal(trs_lu_update(lu, &other), TRS_EARG);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 5, x, 5, NULL), TRS_ESTATE);
    assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    trs_lu_destroy(lu);
    lu = factor(&m, NULL);
    assert_int_equal(trs_lu_solve(lu, TRS_H, 1, b, 5, x, 5, NULL), TRS_ESTATE); /* not announced */
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void small_matrices(void **state)
{
    (void)state;
    for (int k = 0; k < FORMS; k++)
        for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
            const trs_ilu_options opt = {.method = method};
            full A = full_new(0, false);
            trs_mat m = show_full(&A, &forms[k]);
            trs_lu *lu = factor(&m, &opt);
            assert_int_equal(trs_lu_solve(lu, TRS_N, 2, NULL, 0, NULL, 0, NULL), TRS_OK);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
            A = full_new(1, true);
            refuse(&A, &forms[k], &opt, TRS_EPIVOT, forms[k].base ? "row 1" : "row 0");
            free(A.a);
        }
}

/* ---- the same bits -------------------------------------------------------------------------- */

enum { EDGE = 24, NODES = EDGE * EDGE * EDGE };

/* A 27-point stencil on a cube, which has wide levels and much work in a row. */
static trs_mat cube(void)
{
    trs_mat m = {.n = NODES};
    int64_t *ptr = calloc(NODES + 1, sizeof *ptr);
    int32_t *idx = calloc((size_t)NODES * 27, sizeof *idx);
    double *val = calloc((size_t)NODES * 27, sizeof *val);
    for (int i = 0; i < NODES; i++) {
        const int x = i % EDGE, y = i / EDGE % EDGE, z = i / EDGE / EDGE;
        for (int k = 0; k < 27; k++) {
            const int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
            if (u < 0 || v < 0 || w < 0 || u >= EDGE || v >= EDGE || w >= EDGE) continue;
            idx[m.nnz] = u + EDGE * (v + EDGE * w);
            val[m.nnz++] = k == 13 ? 30 : -1 + 0.1 * cos(x + u + y * v);
        }
        ptr[i + 1] = m.nnz;
    }
    m.ptr = ptr, m.idx = idx, m.val = val;
    return m;
}

static void threads(void **state)
{
    (void)state;
    trs_mat m = cube();
    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
        trs_ilu_options opt = {.method = method, .plan = {.threads = 1}};
        trs_lu *one = factor(&m, &opt);
        for (int t = 0; t < 3; t++) {
            opt.plan.threads = (const int[]){2, 3, 7}[t];
            trs_lu *many = factor(&m, &opt);
            for (int k = 0; k < 5; k++) {
                assert_same_bits(one, many);
                assert_int_equal(trs_lu_update(many, &m), TRS_OK);
            }
            trs_lu_destroy(many);
        }
        trs_lu_destroy(one);
    }
    ((double *)m.val)[((const int64_t *)m.ptr)[NODES / 2]] = 1e300; /* spoils many later rows */
    for (int t = 1; t <= 3; t++) {
        trs_lu *lu;
        trs_ilu_options opt = {.method = TRS_IC0, .plan = {.threads = t}};
        assert_int_equal(trs_ilu(&lu, &m, &opt), TRS_EPIVOT);
        char first[40];
        snprintf(first, sizeof first, "row %d: ", NODES / 2);
        assert_non_null(strstr(trs_message(), first));
        trs_lu_destroy(lu);
    }
    hide(&m);
}

static void update(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
                const trs_ilu_options opt = {.method = method};
                full A = matrix(TRIDIAGONAL, 12, c, true);
                trs_mat m = show_full(&A, &forms[k]);
                trs_lu *lu = factor(&m, &opt), *fresh;
                zz b[12] = {0}, s[12], t[12];
                const size_t bytes = trs_size(m.dtype);
                set_value(b, m.dtype, 3, 1);
                hide(&m);
                A.a[12 * 12 - 1] = -1;
                m = show_full(&A, &forms[k]);
                const int rc = trs_lu_update(lu, &m);
                assert_int_equal(rc, method == TRS_IC0 ? TRS_EPIVOT : TRS_OK);
                if (rc) assert_int_equal(trs_lu_solve(lu, 0, 1, b, 12, s, 12, NULL), TRS_ESTATE);
                hide(&m);
                for (int i = 0; i < 144; i++) A.a[i] *= 3;
                A.a[143] = 50;
                m = show_full(&A, &forms[k]);
                trs_mat values = m;
                values.ptr = values.idx = NULL;
                assert_int_equal(trs_lu_update(lu, &values), TRS_OK);
                fresh = factor(&m, &opt);
                assert_same_bits(lu, fresh);
                assert_int_equal(trs_lu_solve(lu, 0, 1, b, 12, s, 12, NULL), TRS_OK);
                assert_int_equal(trs_lu_solve(fresh, 0, 1, b, 12, t, 12, NULL), TRS_OK);
                assert_memory_equal(s, t, 12 * bytes);
                trs_lu_destroy(lu);
                trs_lu_destroy(fresh);
                hide(&m);
                free(A.a);
            }
}

/* ---- on a device ---------------------------------------------------------------------------- */

static void on_a_device(void **state)
{
    (void)state;
    const int device = TRS_CUDA(0);
    char why[200];
    if (trs_device_name(device, why, sizeof why)) skip();
    trs_mat m = cube();
    static double b[NODES], x[NODES], y[NODES];
    for (int i = 0; i < NODES; i++) b[i] = uniform();
    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
        const trs_ilu_options host = {.method = method};
        trs_ilu_options opt = {.method = method, .plan = {.device = device}};
        trs_lu *here = factor(&m, &host), *there = factor(&m, &opt);
        void *B = NULL, *X = NULL;
        double apart = 0, largest = 0;
        assert_int_equal(trs_device_new(device, sizeof b, &B), TRS_OK);
        assert_int_equal(trs_device_new(device, sizeof x, &X), TRS_OK);
        for (int k = 0; k < 2; k++) { /* and again after an update */
            assert_int_equal(trs_device_put(device, B, b, sizeof b), TRS_OK);
            assert_int_equal(trs_lu_solve(there, TRS_N, 1, B, NODES, X, NODES, NULL), TRS_OK);
            assert_int_equal(trs_device_get(device, x, X, sizeof x), TRS_OK);
            assert_int_equal(trs_lu_solve(here, TRS_N, 1, b, NODES, y, NODES, NULL), TRS_OK);
            for (int i = 0; i < NODES; i++) {
                apart = larger(apart, fabs(x[i] - y[i]));
                largest = larger(largest, fabs(y[i]));
            }
            assert_true(largest > 0 && apart <= 1e-13 * largest);
            ((double *)m.val)[5] *= 0.5;
            assert_int_equal(trs_lu_update(here, &m), TRS_OK);
            assert_int_equal(trs_lu_update(there, &m), TRS_OK);
        }
        print_message("on the device %.2g away\n", apart / largest);
        trs_device_free(device, B);
        trs_device_free(device, X);
        trs_lu_destroy(here);
        trs_lu_destroy(there);
    }
    hide(&m);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void out_of_memory(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        full A = matrix(SPARSE, 9, k & 1, true);
        trs_mat m = show_full(&A, &forms[k]);
        check_out_of_memory(&m, (trs_ilu_options){.method = k / 2});
        hide(&m);
        free(A.a);
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

enum { BLOCK = 3, LINES = 3, BLOCKS = 7 };

static const int64_t block_ptr[LINES + 1] = {0, 2, 5, 7};
static const int32_t block_idx[BLOCKS] = {1, 0, 0, 1, 2, 1, 2};

/* Set new numbers in the blocks, and in the same matrix as a full one. */
static full fill_blocks(trs_layout layout, double *val)
{
    full A = full_new(BLOCK * LINES, false);
    for (int l = 0; l < LINES; l++)
        for (int64_t p = block_ptr[l]; p < block_ptr[l + 1]; p++)
            for (int q = 0; q < BLOCK * BLOCK; q++) {
                const int fast = q % BLOCK, slow = q / BLOCK;
                const int i = BLOCK * l + (layout ? slow : fast);
                const int j = BLOCK * block_idx[p] + (layout ? fast : slow);
                const double v = uniform() + (i == j ? 8 : 0);
                A.a[i + A.n * j] = val[p * BLOCK * BLOCK + q] = v;
            }
    return A;
}

static void check_same(trs_lu *lu, const trs_mat *m, const full *A)
{
    enum { N = BLOCK * LINES };
    double b[N], x[N] = {0}, y[N] = {0}, r, s;
    trs_mat csr = show_full(A, &plain);
    trs_lu *same = factor(&csr, NULL);
    trs_lu_info info;
    trs_lu_get_info(lu, &info);
    assert_int_equal(info.nnz_a, csr.nnz);
    assert_same_bits(lu, same);
    for (int i = 0; i < N; i++) b[i] = uniform();
    int rc = trs_lu_refine(lu, m, TRS_N, 1, b, N, x, N, NULL, 5, NULL, NULL);
    assert_int_equal(rc, TRS_OK);
    rc = trs_lu_refine(same, &csr, TRS_N, 1, b, N, y, N, NULL, 5, NULL, NULL);
    assert_int_equal(rc, TRS_OK);
    assert_memory_equal(x, y, sizeof x);
    trs_lu_destroy(same);
    const trs_ilu_options both = {.plan = {.ops = 7}};
    same = factor(m, &both);
    assert_int_equal(trs_lu_condest(same, m, TRS_NORM_ONE, &r), TRS_OK);
    assert_int_equal(trs_lu_condest(same, &csr, TRS_NORM_ONE, &s), TRS_OK);
    assert_true(r > 0 && r == s);
    trs_lu_destroy(same);
    hide(&csr);
}

/* Factors, updates, refinement and condition number are those of the same entries in CSR. */
static void blocks(void **state)
{
    (void)state;
    for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
        double val[BLOCKS * BLOCK * BLOCK];
        trs_mat m = {.n = BLOCK * LINES, .nnz = BLOCKS, .ptr = block_ptr, .idx = block_idx};
        m.val = val, m.format = TRS_BSR, m.block = BLOCK, m.block_layout = (trs_layout)layout;
        full A = fill_blocks(m.block_layout, val);
        const trs_ilu_options opt = {.block = 1}; /* t_blocks.c has factors by blocks */
        trs_lu *lu = factor(&m, &opt);
        check_same(lu, &m, &A);
        free(A.a);
        A = fill_blocks(m.block_layout, val);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        check_same(lu, &m, &A);
        free(A.a);
        m.block_layout = (trs_layout)!layout;
        assert_int_equal(trs_lu_update(lu, &m), TRS_EARG);
        trs_lu_destroy(lu);
    }
}

/* The second difference has no fill, so that L U = A, whose determinant is n + 1: the plans of the factors give it. */
static void determinants(void **state)
{
    enum { N = 9 };
    full A = full_new(N, false);
    (void)state;
    for (int i = 0; i < N; i++) {
        A.a[i + N * i] = 2;
        if (i > 0) A.a[i + N * (i - 1)] = A.a[i - 1 + N * i] = -1;
    }
    for (int k = 0; k < 2; k++) {
        const trs_ilu_options opt = {.method = k ? TRS_IC0 : TRS_ILU0};
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu = factor(&m, &opt);
        trs_lu_info info;
        trs_det d = {.re = 3}, l, u;
        assert_int_equal(trs_lu_determinant(lu, &d), TRS_ESUPPORT);
        assert_true(d.re == 0 && d.mantissa == 0);
        assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
        assert_int_equal(trs_plan_determinant(info.l, &l), TRS_OK);
        assert_int_equal(trs_plan_determinant(k ? info.l : info.u, &u), TRS_OK);
        const double det =
            ldexp(l.re * l.mantissa * u.re * u.mantissa, (int)(l.exponent + u.exponent));
        assert_true(fabs(det - (N + 1)) < 1e-13);
        trs_lu_destroy(lu);
        hide(&m);
    }
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions),
        cmocka_unit_test(hubs),
        cmocka_unit_test(half_a_matrix),
        cmocka_unit_test(solves),
        cmocka_unit_test(refinement),
        cmocka_unit_test(breakdown),
        cmocka_unit_test(triangle_as_it_stands),
        cmocka_unit_test(missing_diagonal),
        cmocka_unit_test(shift_and_boost),
        cmocka_unit_test(boost_of_complex_pivots),
        cmocka_unit_test(status_of_a_failure),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(update_of_a_full_matrix),
        cmocka_unit_test(wrong_matrices),
        cmocka_unit_test(wrong_solves),
        cmocka_unit_test(small_matrices),
        cmocka_unit_test(threads),
        cmocka_unit_test(update),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(on_a_device),
        cmocka_unit_test(blocks),
        cmocka_unit_test(determinants),
    };
    return cmocka_run_group_tests_name("ilu", tests, NULL, NULL);
}
