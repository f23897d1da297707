/* t_ldlt_device.c: L S L^H that a device computes, with pivots of one row: the factors of new values against the full matrix, their
 * inertia, determinant and solves; pivots that are replaced as the host replaces them; pivots of two
 * rows; what stays on the host. */
#include "middle.h"

#include "tests/factor/there.h"

#include "base/number/number.h"

static trs_lu_info info_of(const trs_lu *lu)
{
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    return info;
}

static trs_lu *factored(const trs_mat *m, trs_factor_options opt, bool there)
{
    trs_lu *lu;
    opt.method = "ldlt";
    if (there) opt.plan.device = TRS_CUDA(0);
    const int rc = trs_factor(&lu, m, &opt);
    if (rc) fail_msg("%s", trs_message());
    return lu;
}

/* Solve with the plans on the device, for numbers of this type. */
static void check_op(trs_lu *lu, trs_op op, const trs_mat *m, double tolerance)
{
    const int n = (int)m->n;
    const size_t bytes = (size_t)n * size_of(m->dtype);
    char *b = calloc(2, bytes), *x = b + bytes;
    trs_error e;
    for (int k = 0; k < n; k++) set_value(b, m->dtype, k, number(trs_is_complex(m->dtype)));
    void *v = array_there(b, bytes);
    assert_int_equal(trs_lu_solve(lu, op, 1, v, n, v, n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, v, bytes), TRS_OK);
    assert_int_equal(trs_backward_error(m, op, 1, b, n, x, n, TRS_COL_MAJOR, &e), TRS_OK);
    if (!(e.omega <= tolerance)) fail_msg("omega %g", e.omega);
    free_there(v);
    free(b);
}

static void check_solve(trs_lu *lu, const trs_mat *m, double tolerance)
{
    check_op(lu, TRS_N, m, tolerance);
}

/* The same as that of L U by the host. */
static void check_determinant(const trs_lu *lu, const trs_mat *m)
{
    trs_det det, other;
    trs_lu *by_lu;
    const trs_factor_options opt = {.method = "umfpack"};
    assert_int_equal(trs_factor(&by_lu, m, &opt), TRS_OK);
    assert_int_equal(trs_lu_determinant(lu, &det), TRS_OK);
    assert_int_equal(trs_lu_determinant(by_lu, &other), TRS_OK);
    assert_int_equal(det.exponent, other.exponent);
    assert_true(fabs(det.re - other.re) <= 1e-10);
    trs_lu_destroy(by_lu);
}

static void check(trs_lu *lu, const twin *t)
{
    assert_int_equal(trs_lu_status(lu, NULL, NULL, NULL), TRS_OK);
    check_inertia(lu, &t->A);
    check_factors(lu, &t->A);
    check_solve(lu, &t->m, 1e3 * eps_of(t->m.dtype));
}

/* ---- new values ---------------------------------------------------------------------------------------- */

/* By entries or rows, and, where n is large, by fronts.  New values come from either side, the last ones without a pattern, and all
 * signs change each time. */
static void new_values(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            const int n = k % 2 ? 120 : 36;
            full A = quasi_definite(n, n / 3, c);
            round_to(&A, c ? forms[k].cplx : forms[k].real);
            twin t = twin_new(A, &forms[k]);
            const bool sparse = forms[k].format != TRS_DENSE;
            trs_lu *lu = factored(k % 2 ? &t.d : &t.m, (trs_factor_options){0}, true);
            assert_int_equal(info_of(lu).kernel != NULL, sparse);
            if (sparse) assert_int_equal(!strcmp(info_of(lu).kernel, "fronts"), n > 100);
            check(lu, &t);
            for (int side = 0; side < 3; side++) {
                for (int p = 0; p < n * n; p++) A.a[p] *= p % (n + 1) ? -1 : -2;
                twin_renew(&t);
                trs_mat values = side == 1 ? t.m : t.d;
                if (side == 2) values.ptr = values.idx = NULL;
                assert_int_equal(trs_lu_update(lu, &values), TRS_OK);
                check(lu, &t);
            }
            if (!c && !trs_is_single(t.m.dtype)) check_determinant(lu, &t.m);
            trs_lu_destroy(lu);
            twin_free(&t);
        }
}

/* A by one triangle; plans in single precision. */
static void half_and_single(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int single = 0; single < 2; single++) {
        full A = quasi_definite(36, 13, true), half = full_new(36, true);
        twin t = twin_new(A, &plain);
        for (int j = 0; j < A.n; j++)
            for (int i = j; i < A.n; i++) half.a[i + A.n * j] = A.a[i + A.n * j];
        trs_mat m = show_full(&half, &plain);
        m.kind = TRS_LOWER | TRS_SELFADJOINT;
        trs_lu *lu = factored(&m, (trs_factor_options){.single = single}, true);
        assert_non_null(info_of(lu).kernel);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        check_inertia(lu, &A);
        check_factors(lu, &A);
        check_solve(lu, &t.m, single ? 1e-4 : 1e-13);
        trs_lu_destroy(lu);
        hide(&m);
        free(half.a);
        twin_free(&t);
    }
}

/* An update of lu that takes the values of t on the device. */
static cudaGraphExec_t captured_update(trs_lu *lu, const twin *t, cudaStream_t s)
{
    const trs_exec exec = {.stream = s};
    begin_capture(s);
    const int rc = trs_lu_update_on(lu, &t->d, &exec);
    cudaGraphExec_t graph = end_capture(s);
    assert_int_equal(rc, TRS_OK);
    return graph;
}

/* A captured update is replayed with values of other inertia. */
static void replayed(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int n = 36; n <= 120; n += 84) {
        full A = quasi_definite(n, n / 3, false);
        twin t = twin_new(A, &plain);
        trs_lu *lu = factored(&t.m, (trs_factor_options){.boost = 1e-12}, true);
        cudaStream_t s = new_stream();
        cudaGraphExec_t graph = captured_update(lu, &t, s);
        for (int step = 0; step < 5; step++) {
            for (int k = step; k < n; k += 4) A.a[k + n * k] *= -1;
            twin_renew(&t);
            assert_int_equal(cudaGraphLaunch(graph, s), cudaSuccess);
            check_inertia(lu, &A); /* it waits */
            check(lu, &t);
        }
        cudaGraphExecDestroy(graph);
        cudaStreamDestroy(s);
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

/* ---- pivots -------------------------------------------------------------------------------------------- */

/* What one lu says of pivots, in the order of A. */
static void pivots_of(trs_lu *lu, int n, double *pivot)
{
    const int64_t *P;
    int8_t *sign = malloc((size_t)n);
    trs_mat m;
    assert_int_equal(trs_lu_factors(lu, &m, NULL, &P, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_inertia(lu, NULL, NULL, sign),
                     info_of(lu).boosted ? TRS_EPIVOT : TRS_OK);
    full L = unfold(&m);
    for (int k = 0; k < n; k++)
        pivot[P[k]] = sign[k] * creal(L.a[k + n * k]) * creal(L.a[k + n * k]);
    free(L.a);
    free(sign);
}

/* Pivots with another sign than expected, or that are too small, are replaced, counted and located as the host does. */
static void boosted(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int turn = 0; turn < 8; turn++) {
        const int n = turn % 2 ? 120 : 36;
        full A = quasi_definite(n, n / 3, turn / 4);
        int8_t signs[120];
        double here[120], there[120];
        for (int k = 0; k < n; k++) signs[k] = k < n - n / 3 ? 1 : -1;
        for (int k = 0; k < n; k += 5) signs[k] = 0;
        twin t = twin_new(A, &plain);
        const trs_factor_options opt = {
            .boost = 0.01, .signs = turn / 2 % 2 ? signs : NULL, .ordering = "natural"};
        trs_lu *a = factored(&t.m, opt, false), *b = factored(&t.m, opt, true);
        assert_int_equal(info_of(b).boosted, 0);
        A.a[3 + n * 3] *= -1;
        A.a[7 + n * 7] = A.a[0] * 1e-8;
        for (int i = 0; i < n; i++) { /* what replaces a pivot changes the others little */
            if (i != 3) A.a[3 + n * i] *= 0.01, A.a[i + n * 3] *= 0.01;
            if (i != 7) A.a[7 + n * i] *= 1e-4, A.a[i + n * 7] *= 1e-4;
        }
        twin_renew(&t);
        assert_int_equal(trs_lu_update(a, &t.m), TRS_OK);
        assert_int_equal(trs_lu_update(b, &t.d), TRS_OK);
        assert_int_equal(trs_lu_status(b, NULL, NULL, NULL), TRS_OK);
        assert_int_equal(info_of(a).boosted, info_of(b).boosted);
        assert_int_equal(info_of(a).first_boosted, info_of(b).first_boosted);
        assert_true(info_of(b).boosted > 0);
        pivots_of(a, n, here);
        pivots_of(b, n, there);
        for (int k = 0; k < n; k++)
            assert_true(fabs(here[k] - there[k]) <= 1e-9 * fabs(here[k]) + 1e-12);
        trs_lu_destroy(a);
        trs_lu_destroy(b);
        twin_free(&t);
    }
}

/* [e 1; 1 1] with a small e: its factors grow, which is reported; or the host factors, and what follows is compared with that. */
static void growth(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int refactors = 0; refactors < 2; refactors++) {
        full A = full_new(3, false);
        for (int k = 0; k < 9; k++) A.a[k] = k % 4 ? 1 : 4;
        twin t = twin_new(A, &plain);
        const trs_factor_options opt = {.ordering = "natural", .on_growth = refactors};
        trs_lu *lu = factored(&t.m, opt, true);
        A.a[0] = 1e-9;
        twin_renew(&t);
        assert_int_equal(trs_lu_update(lu, &t.d), TRS_OK);
        assert_int_equal(trs_lu_status(lu, NULL, NULL, NULL), refactors ? TRS_OK : TRS_EGROWTH);
        assert_int_equal(trs_lu_inertia(lu, NULL, NULL, NULL), refactors ? TRS_OK : TRS_EGROWTH);
        A.a[0] = 0; /* there is no such pivot */
        memset((void *)t.m.val, 0, sizeof(double));
        send_values(&t.d, &t.m);
        const int rc = trs_lu_update(lu, &t.d);
        if (refactors) assert_int_equal(rc, TRS_EPIVOT);
        else {
            int64_t row;
            assert_int_equal(trs_lu_status(lu, NULL, &row, NULL), TRS_EPIVOT);
            assert_int_equal(row, 0);
        }
        assert_int_equal(trs_lu_inertia(lu, NULL, NULL, NULL), TRS_ESTATE);
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

/* ---- pivots of two rows -------------------------------------------------------------------------------- */

static int64_t blocks_of(const trs_lu *lu, int n)
{
    double *diagonal = malloc((size_t)n * sizeof *diagonal);
    int64_t blocks;
    assert_int_equal(trs_lu_middle(lu, diagonal, NULL, &blocks), TRS_OK);
    free(diagonal);
    return blocks;
}

/* The device eliminates them, those of a large matrix by fronts: factors, inertia, determinant and solves of new values, whose
 * scales change. */
static void pairs(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int turn = 0; turn < 6; turn++) {
        const bool is_complex = turn >= 3;
        const int n = (int[]){36, 60, 150}[turn % 3];
        full A = with_pairs(n, is_complex);
        twin t = twin_new(A, &plain);
        trs_lu *lu = factored(&t.m, (trs_factor_options){0}, true);
        assert_non_null(info_of(lu).kernel);
        assert_int_equal(!strcmp(info_of(lu).kernel, "fronts"), n > 100);
        assert_true(blocks_of(lu, n) > 0);
        check(lu, &t);
        for (int step = 0; step < 3; step++) {
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    A.a[i + n * j] *= i == j ? -3 : 1 + 0.01 * ((i + j) % 3);
            twin_renew(&t);
            assert_int_equal(trs_lu_update(lu, &t.d), TRS_OK);
            check(lu, &t);
        }
        check_determinant(lu, &t.m);
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

/* Nothing but pairs, in all forms and types, and by one triangle. */
static void only_pairs(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int turn = 0; turn < 2 * FORMS; turn++) {
        const int k = turn / 2;
        const bool is_complex = turn % 2;
        if (forms[k].format == TRS_DENSE) continue;
        full A = full_new(36, is_complex);
        for (int p = 0; p < A.n; p += 2) {
            const zz z = CMPLX(p % 4 ? -1 : 1 + 0.25 * p, is_complex ? p % 6 - 2 : 0);
            A.a[p + 1 + A.n * p] = z;
            A.a[p + A.n * (p + 1)] = conj(z);
        }
        twin t = twin_new(A, &forms[k]);
        trs_lu *lu = factored(&t.m, (trs_factor_options){0}, true);
        assert_non_null(info_of(lu).kernel);
        assert_int_equal(blocks_of(lu, A.n), A.n / 2);
        check(lu, &t);
        for (int p = 0; p < A.n * A.n; p++) A.a[p] *= -0.5;
        twin_renew(&t);
        assert_int_equal(trs_lu_update(lu, &t.d), TRS_OK);
        check(lu, &t);
        trs_lu_destroy(lu);
        twin_free(&t);
    }
}

enum { SIDE = 12, PLANE = SIDE * SIDE, ROWS = SIDE * PLANE };

/* A 27-point grid with -1 beside the diagonal.  Of eight rows in a line, two have zeros on their diagonals and 60 between them; the
 * others have 40, or -40 in every third row.  So the blocks are larger than the rest of their rows, and give the inertia.  The first of
 * the two may have another number, `first`, on its diagonal. */
static bool is_mated(int i)
{
    return i % SIDE % 8 < 2;
}

static double entry_of(int i, int j, double first)
{
    if (i == j && is_mated(i)) return i % SIDE % 8 ? 0 : first;
    if (i == j) return i % 3 ? 40 : -40;
    return is_mated(i) && is_mated(j) && i / SIDE == j / SIDE && abs(i - j) == 1 ? 60 : -1;
}

static bool are_beside(int i, int j)
{
    return abs(i % SIDE - j % SIDE) < 2 && abs(i % PLANE / SIDE - j % PLANE / SIDE) < 2 &&
           abs(i / PLANE - j / PLANE) < 2;
}

static trs_mat grid_with_pairs(double first)
{
    int64_t *ptr = calloc(ROWS + 1, sizeof *ptr);
    int32_t *idx = calloc(27 * ROWS, sizeof *idx);
    double *val = calloc(27 * ROWS, sizeof *val);
    for (int i = 0; i < ROWS; i++) {
        ptr[i + 1] = ptr[i];
        for (int j = i - 2 * PLANE < 0 ? 0 : i - 2 * PLANE; j < ROWS && j < i + 2 * PLANE; j++) {
            if (!are_beside(i, j)) continue;
            idx[ptr[i + 1]] = j;
            val[ptr[i + 1]++] = entry_of(i, j, first);
        }
    }
    return (trs_mat){.n = ROWS, .nnz = ptr[ROWS], .ptr = ptr, .idx = idx, .val = val};
}

/* L S L' v = A(P, P) v of the factors that are brought back. */
static void check_product(const trs_lu *lu, const trs_mat *A)
{
    trs_mat L;
    const int64_t *P, *ptr = A->ptr;
    const int32_t *idx = A->idx;
    const double *val = A->val;
    double *v = calloc(6 * ROWS, sizeof *v), *w = v + ROWS, *y = w + ROWS, *av = y + ROWS;
    double *diagonal = av + ROWS, *beside = diagonal + ROWS;
    assert_int_equal(trs_lu_factors(lu, &L, NULL, &P, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_middle(lu, diagonal, beside, NULL), TRS_OK);
    assert_int_equal(L.format, TRS_CSC);
    const int64_t *Lp = L.ptr;
    const int32_t *Li = L.idx;
    const double *Lx = L.val;
    for (int k = 0; k < ROWS; k++) v[P[k]] = uniform();
    for (int i = 0; i < ROWS; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) av[i] += val[p] * v[idx[p]];
    for (int k = 0; k < ROWS; k++)
        for (int64_t p = Lp[k]; p < Lp[k + 1]; p++) w[k] += Lx[p] * v[P[Li[p]]];
    for (int k = 0; k < ROWS; k++) {
        double s = diagonal[k] * w[k];
        if (k + 1 < ROWS) s += beside[k] * w[k + 1];
        if (k > 0) s += beside[k - 1] * w[k - 1];
        for (int64_t p = Lp[k]; p < Lp[k + 1]; p++) y[Li[p]] += Lx[p] * s;
    }
    for (int k = 0; k < ROWS; k++)
        if (!(fabs(y[k] - av[P[k]]) <= 1e-10)) fail_msg("row %d: %g, not %g", k, y[k], av[P[k]]);
    free(v);
}

static void check_grid(double first)
{
    trs_mat m = grid_with_pairs(first);
    trs_lu *lu = factored(&m, (trs_factor_options){0}, true);
    int64_t negative;
    int expected = 0, mates = 0;
    for (int i = 0; i < ROWS; i++) {
        mates += is_mated(i);
        expected += is_mated(i) ? i % SIDE % 8 : i % 3 == 0;
    }
    assert_string_equal(info_of(lu).kernel, "fronts");
    assert_int_equal(blocks_of(lu, ROWS), first == 0 ? mates / 2 : 0);
    for (int step = 0; step < 2; step++) {
        assert_int_equal(trs_lu_inertia(lu, NULL, &negative, NULL), TRS_OK);
        assert_int_equal(negative, step ? ROWS - expected : expected);
        check_solve(lu, &m, 1e3 * DBL_EPSILON);
        check_product(lu, &m);
        for (int64_t p = 0; p < m.nnz; p++) ((double *)m.val)[p] *= -1.5;
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    }
    trs_lu_destroy(lu);
    hide(&m);
}

/* Pairs in a sparse matrix by fronts, and rows that the host made neighbours, but not one pivot. */
static void pairs_of_a_grid(void **state)
{
    (void)state;
    if (!has_device()) skip();
    check_grid(0);
    check_grid(40);
}

/* By one triangle, with plans in single precision; A' x = b, where A' is the conjugate of A. */
static void half_of_pairs(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int turn = 0; turn < 8; turn++) {
        const int single = turn % 2, is_complex = turn / 2 % 2, n = turn < 4 ? 36 : 130;
        full A = with_pairs(n, is_complex), half = full_new(n, is_complex);
        twin t = twin_new(A, &plain);
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++) half.a[i + n * j] = A.a[i + n * j];
        trs_mat m = show_full(&half, &plain);
        m.kind = TRS_LOWER | TRS_SELFADJOINT;
        trs_lu *lu = factored(&m, (trs_factor_options){.single = single}, true);
        assert_non_null(info_of(lu).kernel);
        assert_true(blocks_of(lu, n) > 0);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
        check_inertia(lu, &A);
        check_factors(lu, &A);
        check_op(lu, TRS_N, &t.m, single ? 1e-4 : 1e-12);
        check_op(lu, TRS_T, &t.m, single ? 1e-4 : 1e-12);
        trs_lu_destroy(lu);
        hide(&m);
        free(half.a);
        twin_free(&t);
    }
}

/* A captured update is replayed with pairs; with values that are not finite, and zero; and with good ones again. */
static void replay_pairs(int n, bool is_complex)
{
    full A = with_pairs(n, is_complex);
    twin t = twin_new(A, &plain);
    trs_lu *lu = factored(&t.m, (trs_factor_options){0}, true);
    cudaStream_t s = new_stream();
    cudaGraphExec_t graph = captured_update(lu, &t, s);
    for (int step = 0; step < 4; step++) {
        for (int p = 0; p < n * n; p++) A.a[p] *= -1;
        twin_renew(&t);
        if (step == 1) *(double *)t.m.val = NAN;
        if (step == 2) memset((void *)t.m.val, 0, value_bytes(&t.m));
        send_values(&t.d, &t.m);
        assert_int_equal(cudaGraphLaunch(graph, s), cudaSuccess);
        if (step == 0 || step == 3) check(lu, &t);
        else {
            const int says = step == 1 ? TRS_EMATRIX : TRS_EPIVOT;
            assert_int_equal(trs_lu_status(lu, NULL, NULL, NULL), says);
            assert_int_not_equal(trs_lu_inertia(lu, NULL, NULL, NULL), TRS_OK);
        }
    }
    cudaGraphExecDestroy(graph);
    cudaStreamDestroy(s);
    trs_lu_destroy(lu);
    twin_free(&t);
}

static void replayed_pairs(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int turn = 0; turn < 4; turn++) replay_pairs(turn < 2 ? 36 : 120, turn % 2);
}

/* ---- orders -------------------------------------------------------------------------------------------- */

/* Three diagonals, those beside the main one all 1, and 8, -8, 8, -8 ... on it: by Gershgorin's circles, half of the eigenvalues are
 * negative. */
static trs_mat path(int32_t n)
{
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr), nnz = 0;
    int32_t *idx = malloc((size_t)n * 3 * sizeof *idx);
    double *val = malloc((size_t)n * 3 * sizeof *val);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            idx[nnz] = j;
            val[nnz] = 1;
            if (i == j) val[nnz] = i % 2 ? -8 : 8;
            nnz++;
        }
        ptr[i + 1] = nnz;
    }
    return (trs_mat){.n = n, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val};
}

/* AMD eliminates a path from one end, in n levels.  So METIS orders it, if the caller does not say who does, and the path is long. */
static void orders(void **state)
{
    (void)state;
    if (!has_device()) skip();
    const char *const wanted[] = {NULL, "amd", NULL}, *const used[] = {"METIS", "AMD", "AMD"};
    for (int turn = 0; turn < 3; turn++) {
        trs_mat m = path(turn == 2 ? 100 : 3000);
        int64_t positive, negative;
        trs_lu *lu = factored(&m, (trs_factor_options){.ordering = wanted[turn]}, true);
        assert_string_equal(info_of(lu).ordering, used[turn]);
        assert_int_equal(trs_lu_inertia(lu, &positive, &negative, NULL), TRS_OK);
        assert_int_equal(positive, m.n / 2);
        assert_int_equal(negative, m.n / 2);
        check_solve(lu, &m, 1e-14);
        trs_lu_destroy(lu);
        hide(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_values),     cmocka_unit_test(half_and_single),
        cmocka_unit_test(replayed),       cmocka_unit_test(boosted),
        cmocka_unit_test(growth),         cmocka_unit_test(pairs),
        cmocka_unit_test(orders),         cmocka_unit_test(only_pairs),
        cmocka_unit_test(replayed_pairs), cmocka_unit_test(pairs_of_a_grid),
        cmocka_unit_test(half_of_pairs),
    };
    return cmocka_run_group_tests_name("ldlt_device", tests, NULL, NULL);
}
