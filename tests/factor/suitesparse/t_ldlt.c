/* t_ldlt.c: L S L^H = A(P, P) of Hermitian matrices that are not definite, against the full matrix; their inertia against
 * eigenvalues by Jacobi's method; pivots that are replaced; which matrices get them if the caller names no method. */
#include "middle.h"
#include "tests/common/counter.h"

enum { N = 36, LOWER_PART = 13, NRHS = 3 };

static void assert_not_factored(const trs_mat *m, const trs_factor_options *opt, int code,
                                const char *says)
{
    trs_lu *lu = NULL;
    const int rc = trs_factor(&lu, m, opt);
    assert_refused(lu, rc, code, says);
}

static trs_lu *factored(const trs_mat *m, const trs_factor_options *opt)
{
    trs_factor_options o = {0};
    trs_lu *lu;
    if (opt) o = *opt;
    o.method = "ldlt";
    o.plan.ops = 7;
    const int rc = trs_factor(&lu, m, &o);
    if (rc) fail_msg("%s", trs_message());
    return lu;
}

/* ---- factors ------------------------------------------------------------------------------------------ */

static void check_solves_to(trs_lu *lu, const trs_mat *m, double most)
{
    const int n = (int)m->n;
    char *b = calloc(2 * NRHS * (size_t)n, 16), *x = b + 16 * NRHS * n;
    trs_error e;
    for (int op = TRS_N; op <= TRS_H; op++)
        for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
            const trs_exec exec = {.layout = (trs_layout)layout};
            const int64_t ld = layout == TRS_ROW_MAJOR ? NRHS : n;
            for (int k = 0; k < NRHS * n; k++)
                set_value(b, m->dtype, k, number(m->dtype == TRS_C64 || m->dtype == TRS_C32));
            assert_int_equal(trs_lu_solve(lu, (trs_op)op, NRHS, b, ld, x, ld, &exec), TRS_OK);
            assert_int_equal(trs_backward_error(m, (trs_op)op, NRHS, b, ld, x, ld, exec.layout, &e),
                             TRS_OK);
            if (!(e.omega <= most * eps_of(m->dtype))) fail_msg("op %d: omega %g", op, e.omega);
        }
    free(b);
}

static void check_solves(trs_lu *lu, const trs_mat *m)
{
    check_solves_to(lu, m, 100);
}

static void check_determinant(const trs_lu *lu, trs_mat *m)
{
    trs_det det, by_lu;
    trs_lu *other;
    const trs_factor_options opt = {.method = "umfpack"};
    assert_int_equal(trs_lu_determinant(lu, &det), TRS_OK);
    assert_int_equal(trs_factor(&other, m, &opt), TRS_OK);
    assert_int_equal(trs_lu_determinant(other, &by_lu), TRS_OK);
    trs_lu_destroy(other);
    assert_int_equal(det.exponent, by_lu.exponent);
    assert_true(fabs(det.mantissa - by_lu.mantissa) <= 1e-10);
    assert_true(fabs(det.re - by_lu.re) <= 1e-10);
}

static void every_form(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            full A = quasi_definite(N, LOWER_PART, c);
            round_to(&A, c ? forms[k].cplx : forms[k].real);
            trs_mat m = show_full(&A, &forms[k]);
            trs_lu *lu = factored(&m, NULL);
            check_factors(lu, &A);
            check_inertia(lu, &A);
            check_solves(lu, &m);
            if (!c) check_determinant(lu, &m);
            for (int p = 0; p < N * N; p++) A.a[p] *= -2; /* new values, and the signs change */
            hide(&m);
            m = show_full(&A, &forms[k]);
            assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
            check_factors(lu, &A);
            check_inertia(lu, &A);
            check_solves(lu, &m);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* Pivots that happen to be good, with signs in any order, and A given by one triangle. */
static void any_inertia(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int turn = 0; turn < 10; turn++) {
            full A = hermitian(N, c, 0);
            for (int k = 0; k < N; k++) A.a[k + N * k] = uniform() < 0 ? -3 : 3;
            full half = full_new(N, c);
            for (int j = 0; j < N; j++)
                for (int i = j; i < N; i++) half.a[i + N * j] = A.a[i + N * j];
            trs_mat m = show_full(&half, &plain);
            m.kind = TRS_LOWER | TRS_SELFADJOINT;
            trs_lu *lu = factored(&m, NULL);
            check_inertia(lu, &A);
            trs_lu_destroy(lu);
            hide(&m);
            free(half.a);
            free(A.a);
        }
}

/* ---- pivots -------------------------------------------------------------------------------------------- */

static trs_lu_info info_of(const trs_lu *lu)
{
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    return info;
}

/* A saddle point, whose zero block is not stored. */
static full saddle(void)
{
    full A = full_new(N, false);
    for (int k = 0; k < N; k += 2) A.a[k + 1 + N * k] = A.a[k + N * (k + 1)] = 1 + 0.1 * k;
    return A;
}

static void zero_pivots(void **state)
{
    (void)state;
    full A = saddle();
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu;
    const int8_t signs[N] = {0};
    const trs_factor_options none = {.method = "ldlt", .signs = signs};
    const trs_factor_options some = {.boost = 1e-9, .signs = signs};
    assert_not_factored(&m, &none, TRS_EPIVOT, "boost");
    for (int base = 0; base < 2; base++) {
        const int64_t ptr[] = {base, base + 1, base + 2, base + 3};
        const int32_t idx[] = {base, base + 1, base + 2};
        const trs_mat D = {
            .n = 3, .nnz = 3, .ptr = ptr, .idx = idx, .val = (double[]){1, 2, 0}, .base = base};
        assert_not_factored(&D, &none, TRS_EPIVOT, base ? "row 3: a pivot" : "row 2: a pivot");
    }
    lu = factored(&m, &some);
    assert_int_equal(info_of(lu).boosted, N / 2);
    assert_in_range(info_of(lu).first_boosted, 0, N - 1);
    int64_t positive, negative;
    assert_int_equal(trs_lu_inertia(lu, &positive, &negative, NULL), TRS_EPIVOT);
    assert_int_equal(positive + negative, N);
    assert_int_equal(info_of(lu).refines, 1);
    check_solves(lu, &m);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* ---- new values --------------------------------------------------------------------------------------- */

static void assert_update(trs_lu *lu, const trs_mat *m, int code, const char *says)
{
    assert_int_equal(trs_lu_update(lu, m), code);
    if (code && !strstr(trs_message(), says)) fail_msg("%s", trs_message());
}

/* Later updates allocate nothing and have the bits of new factors; what does not suit them is factored from the beginning, or
 * refused, and later values are not affected. */
static void updates(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        counter calls = {.fail_at = -1};
        const trs_factor_options counted = {.plan.memory = counted_memory(&calls)};
        full A = quasi_definite(N, LOWER_PART, c), B = full_new(N, c);
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) B.a[i + N * j] = A.a[i + N * j] * (i == j ? 1.5 : 1);
        trs_mat a = show_full(&A, &plain), b = show_full(&B, &plain), L, fresh;
        trs_lu *lu = factored(&a, &counted), *other = factored(&b, NULL);
        assert_update(lu, &a, TRS_OK, "");
        const long before = calls.calls;
        assert_update(lu, &b, TRS_OK, "");
        assert_int_equal(calls.calls, before);
        check_factors(lu, &B);
        check_inertia(lu, &B);
        check_solves(lu, &b);
        assert_int_equal(trs_lu_factors(lu, &L, NULL, NULL, NULL, NULL), TRS_OK);
        assert_int_equal(trs_lu_factors(other, &fresh, NULL, NULL, NULL, NULL), TRS_OK);
        assert_memory_equal(L.val, fresh.val, (size_t)L.nnz * size_of(L.dtype));
        /* the upper triangle differs from the lower one; a number is not finite; a pivot is very small */
        double *x = (double *)b.val;
        const int64_t last = b.nnz * (c ? 2 : 1) - (c ? 2 : 1), kept = last - (c ? 2 : 1);
        const double diagonal = x[last], beside = x[kept];
        x[kept] += 1;
        assert_update(lu, &b, TRS_EMATRIX, "not Hermitian");
        x[kept] = beside, x[last] = NAN;
        assert_update(lu, &b, TRS_EMATRIX, "not finite");
        x[last] = diagonal;
        assert_update(lu, &b, TRS_OK, "");
        check_factors(lu, &B);
        for (int64_t p = 0; p < b.nnz; p++) x[p * (c ? 2 : 1)] *= 2;
        if (c)
            for (int64_t p = 0; p < b.nnz; p++) x[2 * p + 1] *= 2;
        for (int p = 0; p < N * N; p++) B.a[p] *= 2;
        assert_update(lu, &b, TRS_OK, "");
        assert_update(lu, &b, TRS_OK, "");
        check_factors(lu, &B);
        check_solves(lu, &b);
        trs_lu_destroy(lu);
        trs_lu_destroy(other);
        hide(&a);
        hide(&b);
        free(A.a);
        free(B.a);
    }
}

/* Factors that grow with the new values are refined: [1 e; e d] with d - e^2 small next to e^2. */
static void growing_update(void **state)
{
    (void)state;
    full A = full_new(3, false);
    const double small[] = {1e-9, 1, 0.5, 1, 1, 0.25, 0.5, 0.25, 1};
    for (int k = 0; k < 9; k++) A.a[k] = k % 4 ? 0.1 : 1;
    trs_mat m = show_full(&A, &plain);
    trs_factor_options opt = {.ordering = "natural"};
    trs_lu *lu = factored(&m, &opt);
    assert_int_equal(info_of(lu).refines, 0);
    memcpy((void *)m.val, small, sizeof small);
    assert_update(lu, &m, TRS_OK, "");
    assert_int_equal(info_of(lu).refines, 1);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* ---- threads ------------------------------------------------------------------------------------------ */

enum { SIDE = 70, ROWS = SIDE * SIDE, MOST = 5 * ROWS };

static bool is_mated(int64_t i)
{
    const int64_t x = i % SIDE;
    return x % 8 < 2 && x - x % 8 + 1 < SIDE;
}

/* A 5-point grid whose diagonal is larger than the rest of its row: it has the inertia of its diagonal, which is negative in every
 * third row.  With pairs, two neighbours of eight rows have zeros there and need each other. */
typedef struct grid {
    int64_t ptr[ROWS + 1];
    int32_t idx[MOST];
    double val[2 * MOST];
    trs_mat mat;
} grid;

static void add_entry(grid *g, int64_t i, int64_t j, int parts, double re, double im)
{
    const int64_t p = g->mat.nnz++;
    g->idx[p] = (int32_t)j;
    g->val[parts * p] = re;
    if (parts == 2) g->val[2 * p + 1] = i < j ? im : -im;
}

static grid *grid_of(bool is_complex, bool pairs)
{
    grid *g = calloc(1, sizeof *g);
    const int parts = is_complex ? 2 : 1;
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t x = i % SIDE;
        const bool mated = pairs && is_mated(i);
        const double single = i % 3 ? 6 : -6;
        const double left = mated && x % 8 == 1 ? 9 : -1, right = mated && x % 8 == 0 ? 9 : -1;
        if (i >= SIDE) add_entry(g, i, i - SIDE, parts, -1, 0.5);
        if (x > 0) add_entry(g, i, i - 1, parts, left, 0.25);
        add_entry(g, i, i, parts, mated ? 0 : single, 0);
        if (x + 1 < SIDE) add_entry(g, i, i + 1, parts, right, 0.25);
        if (i + SIDE < ROWS) add_entry(g, i, i + SIDE, parts, -1, 0.5);
        g->ptr[i + 1] = g->mat.nnz;
    }
    g->mat = (trs_mat){.n = ROWS, .nnz = g->mat.nnz, .ptr = g->ptr, .idx = g->idx, .val = g->val};
    g->mat.dtype = is_complex ? TRS_C64 : TRS_F64;
    return g;
}

static void assert_same_factors(const trs_lu *a, const trs_lu *b)
{
    trs_mat L, M;
    int8_t sign[2][ROWS];
    assert_int_equal(trs_lu_factors(a, &L, NULL, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_factors(b, &M, NULL, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(L.nnz, M.nnz);
    assert_memory_equal(L.val, M.val, (size_t)L.nnz * size_of(L.dtype));
    (void)trs_lu_inertia(a, NULL, NULL, sign[0]);
    (void)trs_lu_inertia(b, NULL, NULL, sign[1]);
    assert_memory_equal(sign[0], sign[1], sizeof sign[0]);
}

/* Each pair has one negative eigenvalue. */
static int negative_rows(bool pairs)
{
    int count = 0;
    for (int i = 0; i < ROWS; i++) {
        const bool mated = pairs && is_mated(i);
        count += mated ? i % SIDE % 8 : i % 3 == 0;
    }
    return count;
}

static void threads_agree(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int pairs = 0; pairs < 2; pairs++) {
            grid *g = grid_of(c, pairs);
            const trs_factor_options one = {.plan.threads = 1}, four = {.plan.threads = 4};
            trs_lu *a = factored(&g->mat, &one), *b = factored(&g->mat, &four);
            int64_t negative;
            assert_same_factors(a, b);
            assert_int_equal(trs_lu_inertia(b, NULL, &negative, NULL), TRS_OK);
            assert_int_equal(negative, negative_rows(pairs));
            for (int64_t p = 0; p < g->mat.nnz * (c ? 2 : 1); p++) g->val[p] *= -3;
            assert_update(a, &g->mat, TRS_OK, "");
            assert_update(b, &g->mat, TRS_OK, "");
            assert_same_factors(a, b);
            check_solves(b, &g->mat);
            trs_lu_destroy(a);
            trs_lu_destroy(b);
            free(g);
        }
}

enum { SIX = 6, COPIES = 20000, SMALL = 5 }; /* entries of a small matrix above its diagonal */

/* Copies of a matrix of six rows whose elimination tree is 0-1-2-4-5 and 3-5, in the order as it is: the columns of the subtree of
 * row 4 are not consecutive, those of row 5 are.  The pivots are those of a dense elimination. */
static void no_postorder(void **state)
{
    (void)state;
    static const int edge[SMALL][2] = {{0, 1}, {0, 2}, {2, 4}, {3, 5}, {4, 5}};
    const int64_t n = SIX * COPIES, nnz = COPIES * (SIX + 2 * SMALL);
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    int32_t *idx = calloc((size_t)nnz, sizeof *idx);
    double *val = calloc((size_t)nnz, sizeof *val), a[SIX][SIX] = {{0}}, pivot[SIX];
    trs_mat m = {.n = n, .ptr = ptr, .idx = idx, .val = val}, L;
    for (int e = 0; e < SMALL; e++) a[edge[e][0]][edge[e][1]] = a[edge[e][1]][edge[e][0]] = 1;
    for (int i = 0; i < SIX; i++) a[i][i] = 4;
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < SIX; j++) {
            if (a[i % SIX][j] == 0) continue;
            idx[m.nnz] = (int32_t)(i - i % SIX + j);
            val[m.nnz++] = a[i % SIX][j];
        }
        ptr[i + 1] = m.nnz;
    }
    assert_int_equal(m.nnz, nnz);
    for (int k = 0; k < SIX; k++) {
        pivot[k] = a[k][k];
        for (int i = k + 1; i < SIX; i++)
            for (int j = k + 1; j < SIX; j++) a[i][j] -= a[i][k] * a[k][j] / a[k][k];
    }
    for (int threads = 1; threads <= 4; threads += 3) {
        trs_factor_options opt = {.ordering = "natural", .plan.threads = threads};
        trs_lu *lu = factored(&m, &opt);
        assert_int_equal(trs_lu_factors(lu, &L, NULL, NULL, NULL, NULL), TRS_OK);
        for (int64_t k = 0; k < n; k++) {
            const double f = creal(get_value(L.val, L.dtype, ((const int64_t *)L.ptr)[k]));
            if (!(fabs(f * f - pivot[k % SIX]) <= 1e-14)) fail_msg("row %d: %g", (int)k, f * f);
        }
        trs_lu_destroy(lu);
    }
    free(ptr), free(idx), free(val);
}

/* Make the diagonal of row i zero, and the rest so small that its pivot remains so. */
static void weaken_row(grid *g, int64_t i)
{
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t p = g->ptr[k]; p < g->ptr[k + 1]; p++)
            if (k == i || g->idx[p] == i) g->val[p] *= k == g->idx[p] ? 0 : 1e-200;
}

/* Threads find the same bad rows, whoever comes first. */
static void threads_find_bad_rows(void **state)
{
    (void)state;
    grid *g = grid_of(false, false);
    const int8_t signs[ROWS] = {0};
    char said[200] = "";
    int64_t first = 0;
    for (int k = 1; k < 40; k++) weaken_row(g, k * 120);
    for (int threads = 1; threads <= 4; threads++) {
        trs_lu *lu = NULL;
        trs_factor_options opt = {.method = "ldlt", .signs = signs, .plan.threads = threads};
        assert_int_equal(trs_factor(&lu, &g->mat, &opt), TRS_EPIVOT);
        if (threads == 1) snprintf(said, sizeof said, "%s", trs_message());
        assert_string_equal(trs_message(), said);
        trs_lu_destroy(lu);
        opt.boost = 1e-3;
        lu = factored(&g->mat, &opt);
        assert_int_equal(info_of(lu).boosted, 39);
        assert_int_equal(info_of(lu).first_boosted % 120, 0);
        if (threads == 1) first = info_of(lu).first_boosted;
        assert_int_equal(info_of(lu).first_boosted, first);
        trs_lu_destroy(lu);
    }
    free(g);
}

/* ---- pivots of two rows ------------------------------------------------------------------------------- */

static int64_t blocks_of(const trs_lu *lu)
{
    double diagonal[N];
    int64_t blocks;
    assert_int_equal(trs_lu_middle(lu, diagonal, NULL, &blocks), TRS_OK);
    return blocks;
}

/* [H B'; B 0], where H has zeros on its diagonal as well, rows in any order, and numbers of many sizes. */
static full saddle_point(bool is_complex, int lower, double spread)
{
    full A = hermitian(N, is_complex, 0), S = full_new(N, is_complex);
    int to[N];
    double scale[N];
    for (int i = 0; i < N; i++) to[i] = i, scale[i] = ldexp(1, (int)(spread * uniform()));
    for (int i = N - 1; i > 0; i--) {
        const int j = (int)((uniform() + 1) / 2 * (i + 1)), t = to[i];
        to[i] = to[j], to[j] = t;
    }
    for (int i = 0; i < N; i++) A.a[i + N * i] = i < lower && i % 3 ? 0 : 1 + uniform() / 2;
    for (int j = N - lower; j < N; j++) {
        for (int i = N - lower; i < N; i++) A.a[i + N * j] = 0;
        const int i = j - (N - lower); /* so that B has full rank */
        A.a[i + N * j] = 2 + uniform();
        A.a[j + N * i] = conj(A.a[i + N * j]);
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) S.a[to[i] + N * to[j]] = A.a[i + N * j] * scale[i] * scale[j];
    free(A.a);
    return S;
}

/* Rows that no pair takes may have small pivots, which boost replaces. */
static void saddle_points(void **state)
{
    (void)state;
    const trs_factor_options opt = {.boost = 1e-8};
    int known = 0;
    int64_t count = 0;
    for (int c = 0; c < 2; c++)
        for (int turn = 0; turn < 40; turn++) {
            full A = saddle_point(c, 6 + turn % 11, turn % 4 * 4);
            trs_mat m = show_full(&A, &plain);
            trs_lu *lu = factored(&m, &opt);
            int64_t negative;
            const int rc = trs_lu_inertia(lu, NULL, &negative, NULL);
            count += blocks_of(lu);
            assert_int_equal(rc, info_of(lu).boosted ? TRS_EPIVOT : TRS_OK);
            if (!rc) {
                known++;
                assert_int_equal(negative, negative_by_lapack(&A));
                if (!c) check_determinant(lu, &m);
            }
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
    assert_true(known >= 60 && count >= 80);
}

/* Factors and solves in every form, where pivots do not let the factors grow. */
static void saddle_points_solved(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            full A = quasi_definite(N, LOWER_PART, c);
            for (int j = N - LOWER_PART; j < N; j++)
                for (int i = N - LOWER_PART; i < N; i++) A.a[i + N * j] = 0;
            for (int i = 0; i < LOWER_PART; i++) {
                A.a[i + N * i] = 0.5;
                A.a[i + N * (N - 1 - i)] = A.a[N - 1 - i + N * i] = 20;
            }
            round_to(&A, c ? forms[k].cplx : forms[k].real);
            trs_mat m = show_full(&A, &forms[k]);
            trs_lu *lu = factored(&m, NULL);
            assert_true(blocks_of(lu) > 0);
            check_factors(lu, &A);
            check_inertia(lu, &A);
            check_solves(lu, &m);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* All pivots of a permuted block diagonal matrix are its blocks; a batch has other factors. */
static void blocks(void **state)
{
    (void)state;
    full A = saddle();
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = factored(&m, NULL);
    trs_lu_batch *batch;
    double diagonal[N];
    assert_int_equal(blocks_of(lu), N / 2);
    assert_int_equal(info_of(lu).boosted, 0);
    check_factors(lu, &A);
    check_inertia(lu, &A);
    check_solves(lu, &m);
    check_determinant(lu, &m);
    assert_int_equal(trs_lu_batch_create(&batch, lu, &m, NULL), TRS_OK);
    trs_lu_batch_destroy(batch);
    assert_int_equal(trs_lu_middle(NULL, diagonal, NULL, NULL), TRS_EARG);
    assert_int_equal(trs_lu_middle(lu, NULL, NULL, NULL), TRS_EARG);
    for (int p = 0; p < N * N; p++) A.a[p] = 0; /* the values, but not the pattern */
    memset((void *)m.val, 0, (size_t)m.nnz * sizeof(double));
    assert_int_equal(trs_lu_update(lu, &m), TRS_EPIVOT);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* Rows 0 and 1 are alike but for rounding: their block has no good pivot, and boost makes one. */
static void singular_block(void **state)
{
    (void)state;
    full A = full_new(3, false);
    A.a[0] = 1e-30, A.a[1] = A.a[3] = 1e-15, A.a[4] = 1, A.a[5] = A.a[7] = 1e-20; /* A(2, 2) = 0 */
    trs_mat m = show_full(&A, &plain);
    const trs_factor_options opt = {.boost = 1e-6};
    trs_lu *lu = factored(&m, &opt);
    assert_true(info_of(lu).boosted > 0);
    assert_int_equal(trs_lu_inertia(lu, NULL, NULL, NULL), TRS_EPIVOT);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* A pivot with another sign than expected takes the expected one; one that is right stays. */
static void expected_signs(void **state)
{
    (void)state;
    full A = full_new(4, false);
    int8_t signs[] = {1, -1, 1, 0}, sign[4];
    A.a[0] = 2, A.a[5] = 1e-3, A.a[10] = -4, A.a[15] = -5;
    trs_mat m = show_full(&A, &plain);
    const trs_factor_options opt = {.method = "ldlt", .boost = 0.5, .signs = signs};
    const int64_t *P;
    trs_mat L;
    trs_lu *lu = factored(&m, &opt);
    assert_int_equal(info_of(lu).boosted, 2);
    assert_int_equal(trs_lu_factors(lu, &L, NULL, &P, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_inertia(lu, NULL, NULL, sign), TRS_EPIVOT);
    const double expected[] = {2, -0.5e-3, 2, -5};
    for (int k = 0; k < 4; k++) {
        const double f = creal(get_value(L.val, L.dtype, ((const int64_t *)L.ptr)[k]));
        assert_true(fabs(sign[k] * f * f - expected[P[k]]) <= 1e-15);
    }
    trs_lu_destroy(lu);
    signs[3] = 2;
    assert_not_factored(&m, &opt, TRS_EARG, "signs[3]");
    const trs_factor_options large = {.method = "ldlt", .boost = 2};
    assert_not_factored(&m, &large, TRS_EARG, "boost");
    hide(&m);
    free(A.a);
}

static void refused(void **state)
{
    (void)state;
    const trs_factor_options opt = {.method = "ldlt"};
    trs_lu *lu;
    for (int c = 0; c < 3;
         c++) { /* not symmetric; a diagonal that is not real; an entry without its mirror image */
        full A = quasi_definite(N, LOWER_PART, true);
        if (c == 0) A.a[1] = 3, A.a[N] = 2;
        if (c == 1) A.a[0] += I;
        if (c == 2) A.a[0] = 0, A.a[N] = 1, A.a[1] = 0;
        trs_mat m = show_full(&A, &plain);
        assert_not_factored(&m, &opt, TRS_EMATRIX, "not Hermitian, which ldlt");
        hide(&m);
        free(A.a);
    }
    full A = unsymmetric(N, false);
    trs_mat m = show_full(&A, &plain);
    assert_int_equal(trs_factor(&lu, &m, NULL), TRS_OK);
    int64_t positive;
    assert_int_equal(trs_lu_inertia(lu, &positive, NULL, NULL), TRS_ESUPPORT);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

static void no_memory_for(const full *A, const int8_t *signs)
{
    trs_mat m = show_full(A, &plain);
    counter c = {.fail_at = 0};
    for (;; c.fail_at++) {
        const trs_factor_options opt = {
            .method = "ldlt", .boost = 1e-9, .signs = signs, .plan.memory = counted_memory(&c)};
        trs_lu *lu = NULL;
        c.calls = 0;
        const int rc = trs_factor(&lu, &m, &opt);
        if (rc && lu) { /* what it left is no hindrance */
            const int again = trs_lu_update(lu, &m);
            assert_true(again == TRS_OK || again == TRS_ESTATE);
        }
        trs_lu_destroy(lu);
        assert_int_equal(c.live, 0);
        if (!was_refused(&c)) break;
        assert_true(rc == TRS_EMEM || rc == TRS_OK);
    }
    assert_true(c.fail_at > 10);
    hide(&m);
}

static void no_memory(void **state)
{
    (void)state;
    const int8_t signs[N] = {1};
    full A = quasi_definite(N, LOWER_PART, false), B = saddle();
    no_memory_for(&A, signs);
    no_memory_for(&B, NULL);
    free(A.a);
    free(B.a);
}

/* ---- without a method --------------------------------------------------------------------------------- */

/* Rows of matrices that take enough flops for each entry of L. */
enum { BIG = 130 };

/* Its diagonal is weak in some columns, so that static pivots do not suit; its pivots are as good as without the scales. */
static full scaled(int n, bool is_complex)
{
    full A = quasi_definite(n, n / 3, is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) A.a[i + n * j] *= ldexp(1, 9 * (i % 3) + 9 * (j % 3));
    return A;
}

static bool is_ldlt(const trs_lu *lu)
{
    return !strcmp(info_of(lu).library, "LDL'");
}

static trs_lu *chosen(const trs_mat *m, trs_factor_options opt)
{
    trs_lu *lu;
    opt.plan.ops = 7;
    if (trs_factor(&lu, m, &opt)) fail_msg("%s", trs_message());
    return lu;
}

/* Any form of a Hermitian matrix with negative numbers or zeros on the diagonal has these factors, and so have later values. */
static void chosen_for_all_forms(void **state)
{
    (void)state;
    for (int turn = 0; turn < 4 * FORMS; turn++) {
        const form *f = &forms[turn / 4];
        const bool pairs = turn % 2, c = turn / 2 % 2;
        full A = pairs ? with_pairs(BIG, c) : scaled(BIG, c);
        round_to(&A, c ? f->cplx : f->real);
        trs_mat m = show_full(&A, f);
        trs_lu *lu = chosen(&m, (trs_factor_options){0});
        assert_true(is_ldlt(lu));
        check_factors(lu, &A);
        check_inertia(lu, &A);
        check_solves(lu, &m);
        for (int p = 0; p < BIG * BIG; p++) A.a[p] *= -2;
        hide(&m);
        m = show_full(&A, f);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_true(is_ldlt(lu));
        check_inertia(lu, &A);
        check_solves(lu, &m);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

/* One triangle of it, too. */
static void chosen_for_a_half(void **state)
{
    (void)state;
    full A = scaled(BIG, true), half = full_new(BIG, true);
    for (int j = 0; j < BIG; j++)
        for (int i = j; i < BIG; i++) half.a[i + BIG * j] = A.a[i + BIG * j];
    trs_mat m = show_full(&half, &plain);
    m.kind = TRS_LOWER | TRS_SELFADJOINT;
    trs_lu *lu = chosen(&m, (trs_factor_options){0});
    assert_true(is_ldlt(lu));
    check_inertia(lu, &A);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a), free(half.a);
}

static void assert_not_chosen(const full *A, trs_factor_options opt)
{
    trs_mat m = show_full(A, &plain);
    trs_lu *lu = chosen(&m, opt);
    assert_false(is_ldlt(lu));
    check_solves_to(lu, &m, 1e4);
    trs_lu_destroy(lu);
    hide(&m);
}

static void not_chosen(void **state)
{
    (void)state;
    full A = scaled(BIG, false);
    assert_not_chosen(&A, (trs_factor_options){.plan.solves = 1});
    assert_not_chosen(&A, (trs_factor_options){.method = "umfpack"});
    A.a[1] += 1; /* unsymmetric */
    assert_not_chosen(&A, (trs_factor_options){0});
    free(A.a);
    A = hermitian(BIG, false, BIG / 3);
    assert_not_chosen(&A, (trs_factor_options){0}); /* definite */
    A.a[1] = A.a[BIG] = 100;                        /* indefinite, with a positive diagonal */
    assert_not_chosen(&A, (trs_factor_options){0});
    free(A.a);
    A = quasi_definite(BIG, BIG / 3, false); /* its diagonal is strong: static pivots, and fronts */
    assert_not_chosen(&A, (trs_factor_options){0});
    free(A.a);
}

/* Later values with another symmetry, or with bad pivots, have other factors. */
static void chosen_no_longer(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        full A = scaled(BIG, false);
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu = chosen(&m, (trs_factor_options){.ordering = "natural"});
        assert_true(is_ldlt(lu));
        hide(&m);
        int p = 1;
        while (A.a[p] == 0) p++;
        if (turn) A.a[p] *= 2;
        else A.a[0] = 1e-13;
        m = show_full(&A, &plain);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        assert_false(is_ldlt(lu));
        check_solves_to(lu, &m, 1e4); /* by another library */
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

/* The pivots of [e 1; 1 -1] and more are so bad that one step of refinement is not enough. */
static void bad_from_the_first(void **state)
{
    (void)state;
    full A = scaled(BIG, false);
    for (int i = 0; i < BIG; i++) A.a[i + BIG * i] *= 1e-13;
    assert_not_chosen(&A, (trs_factor_options){.ordering = "natural"});
    free(A.a);
}

/* A batch has L U of its own: of pairs, and of the others, since it does not refine. */
static void batches(void **state)
{
    (void)state;
    for (int pairs = 0; pairs < 2; pairs++)
        for (int k = 0; k < FORMS; k++) {
            if (forms[k].format == TRS_DENSE) continue;
            full A = pairs ? with_pairs(BIG, false) : scaled(BIG, false);
            round_to(&A, forms[k].real);
            trs_mat m = show_full(&A, &forms[k]);
            trs_lu *lu = chosen(&m, (trs_factor_options){0});
            trs_lu_batch *batch;
            char b[16 * BIG], x[16 * BIG];
            trs_error e;
            assert_true(is_ldlt(lu));
            if (trs_lu_batch_create(&batch, lu, &m, NULL)) fail_msg("%s", trs_message());
            trs_lu_destroy(lu);
            const trs_systems one = {.count = 1, .val = m.val};
            for (int i = 0; i < BIG; i++) set_value(b, m.dtype, i, number(false));
            assert_int_equal(trs_lu_batch_solve(batch, TRS_N, 1, &one, b, BIG, x, BIG, NULL),
                             TRS_OK);
            assert_int_equal(trs_lu_batch_status(batch, NULL, NULL, NULL, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&m, TRS_N, 1, b, BIG, x, BIG, TRS_COL_MAJOR, &e),
                             TRS_OK);
            if (!(e.omega <= 1e4 * eps_of(m.dtype))) fail_msg("omega %g", e.omega);
            trs_lu_batch_destroy(batch);
            hide(&m);
            free(A.a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test(any_inertia),
        cmocka_unit_test(zero_pivots),
        cmocka_unit_test(expected_signs),
        cmocka_unit_test(refused),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(updates),
        cmocka_unit_test(growing_update),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(threads_find_bad_rows),
        cmocka_unit_test(no_postorder),
        cmocka_unit_test(saddle_points),
        cmocka_unit_test(saddle_points_solved),
        cmocka_unit_test(chosen_for_all_forms),
        cmocka_unit_test(chosen_for_a_half),
        cmocka_unit_test(not_chosen),
        cmocka_unit_test(chosen_no_longer),
        cmocka_unit_test(bad_from_the_first),
        cmocka_unit_test(batches),
        cmocka_unit_test(blocks),
        cmocka_unit_test(singular_block),
    };
    return cmocka_run_group_tests_name("t_ldlt", tests, NULL, NULL);
}
