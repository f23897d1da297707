/* t_fill.c: the patterns of ILU(k) and IC(k) are those of the definition of the level of fill, and without a limit the
 * factors are complete.  Orders are permutations that do what their names say, and factors in another order are those of
 * the permuted matrix, in what they solve too. */
#include "incomplete.h"

#include "base/number/number.h"

/* About `each` entries a row, and a dominant diagonal. */
static full sparse(int n, bool is_complex, double each, bool symmetric)
{
    full A = full_new(n, is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            if (i == j) A.a[i + n * i] = 4 + each + uniform();
            else if (0.5 * n * (uniform() + 1) < each) {
                A.a[i + n * j] = number(is_complex);
                if (symmetric || uniform() > 0) A.a[j + n * i] = number(is_complex);
                if (symmetric) A.a[j + n * i] = conj(A.a[i + n * j]);
            }
        }
    return A;
}

/* ---- levels of fill ------------------------------------------------------------------------- */

enum { NEVER = 1000000 };

/* Levels by their definition, min-plus elimination of a full matrix. */
static int *levels_of(const full *A, bool lower_only)
{
    const int n = A->n;
    int *lev = malloc((size_t)(n * n + 1) * sizeof *lev);
    assert_non_null(lev);
    for (int k = 0; k < n * n; k++) lev[k] = A->a[k] != 0 || k % n == k / n ? 0 : NEVER;
    for (int m = 0; m < n; m++)
        for (int i = m + 1; i < n; i++)
            for (int j = m + 1; j < n; j++) {
                const int via = lev[i + n * m] + lev[m + n * j] + 1;
                if (via < lev[i + n * j]) lev[i + n * j] = via;
            }
    for (int k = 0; k < n * n; k++)
        if (lower_only && k % n < k / n) lev[k] = NEVER;
    return lev;
}

/* The rows of L + U, or L, have the entries up to this level and no others; and L U = A there. */
static void check_level(const full *A, const form *s, trs_ilu_method method, int level)
{
    const int n = A->n, most = level < NEVER ? level : NEVER - 1;
    const bool ic = method == TRS_IC0;
    const trs_ilu_options opt = {.method = method, .level = level};
    trs_mat m = show_full(A, s), l, u;
    trs_lu *lu = factor(&m, &opt);
    trs_lu_info info;
    int *lev = levels_of(A, ic);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    char name[24];
    snprintf(name, sizeof name, ic ? "IC(%d)" : "ILU(%d)", level);
    assert_string_equal(info.library, name);
    assert_int_equal(trs_lu_factors(lu, &l, &u, NULL, NULL, NULL), TRS_OK);
    const int64_t *ptr = l.ptr;
    const int32_t *idx = l.idx;
    for (int i = 0; i < n; i++) {
        int64_t p = ptr[i];
        for (int j = 0; j < n; j++)
            if (lev[i + n * j] <= most) {
                assert_true(p < ptr[i + 1]);
                assert_int_equal(idx[p++], j);
            }
        assert_int_equal(p, ptr[i + 1]);
    }
    full L = unfold(&l), U = ic ? full_new(n, A->is_complex) : unfold(&u);
    for (int k = 0; k < n * n && ic; k++) U.a[k] = conj(L.a[k / n + n * (k % n)]);
    const double eps = eps_of(s->real);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            zz sum = 0;
            double size = cabs(A->a[i + n * j]);
            for (int k = 0; k < n; k++) {
                sum += L.a[i + n * k] * U.a[k + n * j];
                size += cabs(L.a[i + n * k] * U.a[k + n * j]);
            }
            if (lev[i + n * j] <= most)
                assert_true(cabs(sum - A->a[i + n * j]) <= 4 * n * eps * size);
        }
    free(lev);
    free(L.a);
    free(U.a);
    trs_lu_destroy(lu);
    hide(&m);
}

static void levels(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int n = 1; n <= 36; n += 7)
                for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
                    if (forms[k].format == TRS_DENSE) continue; /* all its zeros are entries */
                    full A = sparse(n, c, 2.2, method == TRS_IC0);
                    for (int level = 0; level <= 9; level++)
                        check_level(&A, &forms[k], method, level);
                    check_level(&A, &forms[k], method, n);
                    check_level(&A, &forms[k], method, INT32_MAX);
                    free(A.a);
                }
}

/* A diagonal entry that A does not have, and a hub whose row and column are full. */
static void gaps_and_hubs(void **state)
{
    (void)state;
    for (int hub = 0; hub < 20; hub += 6) {
        full A = sparse(20, false, 1.5, true);
        for (int k = 0; k < 20; k++)
            if (k != hub) A.a[k + 20 * hub] = A.a[hub + 20 * k] = 0.1;
        A.a[19 + 20 * 19] = 0;
        for (int level = 0; level < 4; level++) check_level(&A, &plain, TRS_ILU0, level);
        free(A.a);
    }
}

/* ---- orders --------------------------------------------------------------------------------- */

static const trs_ilu_ordering orders[] = {TRS_ILU_RCM, TRS_ILU_MULTICOLOUR};

/* A(P, P). */
static full permuted(const full *A, const int64_t *P)
{
    full f = full_new(A->n, A->is_complex);
    for (int j = 0; j < A->n; j++)
        for (int i = 0; i < A->n; i++) f.a[i + A->n * j] = A->a[P[i] + A->n * P[j]];
    return f;
}

static void check_permutation(const int64_t *P, int n)
{
    char *seen = calloc((size_t)n + 1, 1);
    for (int k = 0; k < n; k++) {
        assert_true(P[k] >= 0 && P[k] < n && !seen[P[k]]);
        seen[P[k]] = 1;
    }
    free(seen);
}

static int bandwidth(const full *A)
{
    int most = 0;
    for (int k = 0; k < A->n * A->n; k++)
        if (A->a[k] != 0 && abs(k % A->n - k / A->n) > most) most = abs(k % A->n - k / A->n);
    return most;
}

/* The 5-point Laplacian of a grid, whose nodes are numbered at random on demand. */
static full grid(int width, int height, bool shuffled)
{
    const int n = width * height;
    full A = full_new(n, false);
    int *name = malloc((size_t)n * sizeof *name);
    assert_non_null(name);
    for (int k = 0; k < n; k++) {
        const int other = shuffled ? (int)(0.5 * (uniform() + 1) * (k + 1)) : k;
        name[k] = name[other];
        name[other] = k;
    }
    for (int k = 0; k < n; k++) {
        const int i = name[k];
        A.a[i + n * i] = 4;
        if (k % width) A.a[i + n * name[k - 1]] = A.a[name[k - 1] + n * i] = -1;
        if (k >= width) A.a[i + n * name[k - width]] = A.a[name[k - width] + n * i] = -1;
    }
    free(name);
    return A;
}

static int64_t levels_in(const trs_plan *plan)
{
    trs_info info;
    assert_int_equal(trs_plan_info(plan, &info), TRS_OK);
    return info.levels;
}

static void grids(void **state)
{
    (void)state;
    for (int height = 1; height <= 8; height++)
        for (int shuffled = 0; shuffled < 2; shuffled++)
            for (int o = 0; o < 2; o++) {
                full A = grid(9, height, shuffled), B;
                trs_mat m = show_full(&A, &plain);
                const trs_ilu_options opt = {.ordering = orders[o]};
                trs_lu *lu = factor(&m, &opt);
                const int64_t *P, *Q;
                trs_lu_info info;
                assert_int_equal(trs_lu_factors(lu, NULL, NULL, &P, &Q, NULL), TRS_OK);
                assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
                check_permutation(P, A.n);
                assert_memory_equal(P, Q, (size_t)A.n * sizeof *P);
                B = permuted(&A, P);
                print_message("9 x %d, %s: bandwidth %d -> %d, %d levels\n", height, info.ordering,
                              bandwidth(&A), bandwidth(&B), (int)levels_in(info.l));
                if (orders[o] == TRS_ILU_RCM) {
                    assert_string_equal(info.ordering, "RCM");
                    assert_true(bandwidth(&B) <= bandwidth(&A));
                    assert_true(bandwidth(&B) <= height + 1); /* the diagonals of the grid */
                } else {
                    assert_string_equal(info.ordering, "multicolour");
                    /* red and black; from a random order a few more */
                    if (!shuffled) assert_true(levels_in(info.l) <= 2 && levels_in(info.u) <= 2);
                    assert_true(levels_in(info.l) <= 5 && levels_in(info.u) <= 5);
                }
                trs_lu_destroy(lu);
                hide(&m);
                free(A.a);
                free(B.a);
            }
}

/* Unconnected parts, single nodes, a hub and a full matrix. */
static void graphs(void **state)
{
    (void)state;
    for (int k = 0; k < 40; k++)
        for (int o = 0; o < 2; o++) {
            full A = sparse(1 + k, false, k % 4, k % 2);
            if (k % 5 == 0)
                for (int i = 0; i < A.n; i++)
                    if (i != k / 2) A.a[i + A.n * (k / 2)] = 0.01;
            if (k == 7)
                for (int i = 0; i < A.n * A.n; i++) A.a[i] += 0.1;
            trs_mat m = show_full(&A, &plain);
            const trs_ilu_options opt = {.ordering = orders[o]};
            trs_lu *lu = factor(&m, &opt);
            const int64_t *P;
            assert_int_equal(trs_lu_factors(lu, NULL, NULL, &P, NULL, NULL), TRS_OK);
            check_permutation(P, A.n);
            trs_lu_destroy(lu);
            hide(&m);
            free(A.a);
        }
}

/* ---- solving in another order --------------------------------------------------------------- */

typedef struct vectors {
    int n, nrhs, ld;
    trs_dtype t;
    trs_layout layout;
} vectors;

static int place(const vectors *v, int i, int r)
{
    return v->layout == TRS_ROW_MAJOR ? i * v->ld + r : i + r * v->ld;
}

/* X of lu, which is in order P, against X of the factors of A(P, P). */
static void check_solve(trs_lu *lu, trs_lu *same, const int64_t *P, trs_op op, const vectors *v)
{
    const size_t count = (size_t)(v->layout == TRS_ROW_MAJOR ? v->n * v->ld : v->nrhs * v->ld);
    zz *b = calloc(count, sizeof *b), *x = calloc(count, sizeof *x);
    zz *c = calloc(count, sizeof *c), *y = calloc(count, sizeof *y);
    const trs_exec exec = {.layout = v->layout};
    for (int r = 0; r < v->nrhs; r++)
        for (int k = 0; k < v->n; k++) {
            const zz z = number(v->t == TRS_C32 || v->t == TRS_C64);
            set_value(b, v->t, place(v, (int)P[k], r), z);
            set_value(c, v->t, place(v, k, r), z);
        }
    assert_int_equal(trs_lu_solve(lu, op, v->nrhs, b, v->ld, x, v->ld, &exec), TRS_OK);
    const int rc = trs_lu_solve(same, op, v->nrhs, c, v->ld, y, v->ld, &exec);
    /* without a permutation, a complex L L^H is not solved with its transpose */
    if (rc != TRS_ESUPPORT) {
        assert_int_equal(rc, TRS_OK);
        for (int r = 0; r < v->nrhs; r++)
            for (int k = 0; k < v->n; k++)
                assert_true(get_value(x, v->t, place(v, (int)P[k], r)) ==
                            get_value(y, v->t, place(v, k, r)));
    }
    assert_int_equal(trs_lu_solve(lu, op, v->nrhs, b, v->ld, b, v->ld, &exec), TRS_OK);
    for (int r = 0; r < v->nrhs; r++)
        for (int k = 0; k < v->n; k++)
            assert_true(get_value(b, v->t, place(v, k, r)) == get_value(x, v->t, place(v, k, r)));
    free(b);
    free(c);
    free(x);
    free(y);
}

static void check_order(const full *A, const form *s, const trs_ilu_options *opt)
{
    trs_ilu_options natural = *opt;
    trs_mat m = show_full(A, s);
    trs_lu *lu = factor(&m, opt);
    const int64_t *P;
    natural.ordering = TRS_ILU_NATURAL;
    for (int round = 0; round < 2; round++) { /* then with new values */
        assert_int_equal(trs_lu_factors(lu, NULL, NULL, &P, NULL, NULL), TRS_OK);
        full B = permuted(A, P);
        trs_mat p = show_full(&B, s);
        trs_lu *same = factor(&p, &natural);
        assert_same_bits(lu, same);
        for (trs_op op = TRS_N; op <= TRS_H; op++)
            for (int layout = 0; layout < 2; layout++)
                for (int nrhs = 1; nrhs <= 3; nrhs += 2) {
                    const vectors v = {A->n, nrhs, layout ? nrhs + 1 : A->n + 2, m.dtype, layout};
                    check_solve(lu, same, P, op, &v);
                }
        trs_lu_destroy(same);
        hide(&p);
        free(B.a);
        hide(&m);
        for (int k = 0; k < A->n * A->n; k++) A->a[k] *= 1.5;
        m = show_full(A, s);
        assert_int_equal(trs_lu_update(lu, &m), TRS_OK);
    }
    trs_lu_destroy(lu);
    hide(&m);
}

static void permuted_factors(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++)
            for (int o = 0; o < 2; o++)
                for (int method = TRS_ILU0; method <= TRS_IC0; method++)
                    for (int level = 0; level < 3; level += 2) {
                        full A = sparse(23, c, 3, method == TRS_IC0);
                        const trs_ilu_options opt = {.method = method,
                                                     .level = level,
                                                     .ordering = orders[o],
                                                     .plan = {.ops = 7, .nrhs = 2}};
                        check_order(&A, &forms[k], &opt);
                        free(A.a);
                    }
}

/* The transpose of a complex L L^H, which the permuted factors solve with, is its conjugate. */
static void transposed(void **state)
{
    (void)state;
    enum { N = 15 };
    full A = sparse(N, true, 3, true);
    trs_mat m = show_full(&A, &plain);
    const trs_ilu_options opt = {.method = TRS_IC0, .ordering = TRS_ILU_RCM};
    trs_lu *lu = factor(&m, &opt);
    zz b[N], x[N], y[N];
    for (int i = 0; i < N; i++) b[i] = number(true);
    assert_int_equal(trs_lu_solve(lu, TRS_T, 1, b, N, x, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++) b[i] = conj(b[i]);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, y, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++) assert_true(x[i] == conj(y[i]));
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* Of half a matrix the other half is known. */
static void half_a_matrix(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        full A = sparse(20, c, 3, true), H = full_new(20, c);
        for (int k = 0; k < 400; k++)
            if (k % 20 >= k / 20) H.a[k] = A.a[k];
        trs_mat whole = show_full(&A, &plain), half = show_full(&H, &plain);
        const trs_ilu_options opt = {.method = TRS_IC0, .level = 1, .ordering = TRS_ILU_RCM};
        half.kind = TRS_LOWER;
        trs_lu *lu = factor(&whole, &opt), *other;
        const int rc = trs_ilu(&other, &half, &opt);
        assert_int_equal(rc, TRS_OK);
        assert_same_bits(lu, other);
        trs_lu_destroy(lu);
        trs_lu_destroy(other);
        hide(&whole);
        hide(&half);
        free(A.a);
        free(H.a);
    }
}

/* Blocks of numbers, none of which is zero, are factored as the same entries in CSR. */
static void blocks(void **state)
{
    (void)state;
    enum { R = 3, LINES = 6, N = R * LINES };
    full pattern = sparse(LINES, false, 2, false), A = full_new(N, false);
    double val[N * N];
    int64_t ptr[LINES + 1] = {0};
    int32_t idx[LINES * LINES];
    for (int a = 0; a < LINES; a++) {
        ptr[a + 1] = ptr[a];
        for (int c = 0; c < LINES; c++) {
            if (pattern.a[a + LINES * c] == 0) continue;
            for (int q = 0; q < R * R; q++) {
                const int i = R * a + q / R, j = R * c + q % R;
                const double v = (i == j ? 20 : 0) + 1 + uniform() / 2;
                A.a[i + N * j] = val[ptr[a + 1] * R * R + q] = v;
            }
            idx[ptr[a + 1]++] = c;
        }
    }
    trs_mat m = {.n = N, .nnz = ptr[LINES], .ptr = ptr, .idx = idx, .val = val};
    m.format = TRS_BSR, m.block = R, m.block_layout = TRS_ROW_MAJOR;
    trs_mat csr = show_full(&A, &plain);
    for (int k = 0; k < 6; k++) {
        const trs_ilu_options opt = {.level = k / 3, .ordering = k % 3, .block = 1};
        trs_lu *lu = factor(&m, &opt), *same = factor(&csr, &opt);
        const int64_t *P, *Q;
        assert_int_equal(trs_lu_factors(lu, NULL, NULL, &P, NULL, NULL), TRS_OK);
        assert_int_equal(trs_lu_factors(same, NULL, NULL, &Q, NULL, NULL), TRS_OK);
        assert_true(!P == !Q);
        if (P) assert_memory_equal(P, Q, N * sizeof *P);
        assert_same_bits(lu, same);
        trs_lu_destroy(lu);
        trs_lu_destroy(same);
    }
    hide(&csr);
    free(pattern.a);
    free(A.a);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refuse(const full *A, const trs_ilu_options *opt, int code, const char *says)
{
    trs_lu *lu;
    trs_mat m = show_full(A, &plain);
    const int rc = trs_ilu(&lu, &m, opt);
    assert_refused(lu, rc, code, says);
    hide(&m);
}

/* Rows in sentences are those of A. */
static void refused(void **state)
{
    (void)state;
    full A = grid(5, 5, false);
    const trs_ilu_options level = {.level = -1}, order = {.ordering = 3};
    refuse(&A, &level, TRS_EARG, "level = -1");
    refuse(&A, &order, TRS_EARG, "unknown ordering 3");
    A.a[7 + 25 * 7] = 0;
    for (int k = 0; k < 25; k++)
        if (k != 7) A.a[7 + 25 * k] = A.a[k + 25 * 7] = 0;
    for (int o = 0; o < 2; o++) {
        const trs_ilu_options opt = {.ordering = orders[o], .level = 2};
        refuse(&A, &opt, TRS_EPIVOT, "row 7: the pivot of ILU(2) is zero (A has no diagonal entry");
    }
    A.a[7 + 25 * 7] = 1;
    A.a[3 + 25 * 4] = NAN;
    const trs_ilu_options opt = {.ordering = TRS_ILU_MULTICOLOUR};
    refuse(&A, &opt, TRS_EMATRIX, "row 3, column 4: the value is not finite");
    A.a[3 + 25 * 4] = 1;
    trs_mat m = show_full(&A, &plain);
    trs_det d;
    trs_lu *lu = factor(&m, &opt);
    assert_int_equal(trs_lu_determinant(lu, &d), TRS_ESUPPORT);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
    A = full_new(0, false);
    for (int k = 0; k < 6; k++) {
        const trs_ilu_options empty = {.ordering = k % 3, .level = 3, .method = k / 3};
        m = show_full(&A, &plain);
        trs_lu_destroy(factor(&m, &empty));
        hide(&m);
    }
    free(A.a);
}

/* The fill of an arrow with n rows is n^2. */
static trs_mat arrow(int n)
{
    int64_t *ptr = calloc((size_t)n + 1, 8);
    int32_t *idx = calloc((size_t)n * 3, 4);
    double *val = calloc((size_t)n * 3, 8);
    assert_true(ptr && idx && val);
    for (int i = 0; i < n; i++) {
        int64_t q = ptr[i];
        if (i > 0) idx[q] = 0, val[q++] = 1;
        idx[q] = i, val[q++] = n;
        for (int j = 1; i == 0 && j < n; j++) idx[q] = j, val[q++] = 1;
        ptr[i + 1] = q;
    }
    return (trs_mat){.n = n, .nnz = ptr[n], .ptr = ptr, .idx = idx, .val = val};
}

static int fill_arrow(int n, const trs_ilu_options *opt, int64_t *entries)
{
    trs_mat m = arrow(n);
    trs_lu *lu;
    trs_lu_info info;
    const int rc = trs_ilu(&lu, &m, opt);
    if (rc) assert_non_null(strstr(trs_message(), "fill_factor"));
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    *entries = info.nnz_l + info.nnz_u;
    trs_lu_destroy(lu);
    hide(&m);
    return rc;
}

/* Too much fill is refused before memory is taken for it: above 10^7 entries, or where the caller says. */
static void too_much_fill(void **state)
{
    (void)state;
    enum { N = 100 };
    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
        int64_t entries;
        const double nnz = method ? 2 * N - 1 : 3 * N - 2, all = method ? N * (N + 1) / 2 : N * N;
        trs_ilu_options opt = {.method = (trs_ilu_method)method, .level = 1};
        assert_int_equal(fill_arrow(8000, &opt, &entries), TRS_EMEM);
        assert_int_equal(fill_arrow(N, &opt, &entries), TRS_OK);
        assert_true(entries == (method ? all : all + N));
        opt.fill_factor = (all + 0.5) / nnz;
        assert_int_equal(fill_arrow(N, &opt, &entries), TRS_OK);
        opt.fill_factor = (all - 0.5) / nnz;
        assert_int_equal(fill_arrow(N, &opt, &entries), TRS_EMEM);
        opt.fill_factor = 0, opt.plan.memory_limit = 12 * (int64_t)all - 1;
        assert_int_equal(fill_arrow(N, &opt, &entries), TRS_EMEM);
        opt.plan.memory_limit = 0;
        for (int k = 0; k < 3; k++) {
            full A = grid(5, 5, false);
            opt.fill_factor = (const double[]){-1, 0.5, NAN}[k];
            refuse(&A, &opt, TRS_EARG, "fill_factor");
            free(A.a);
        }
    }
}

/* ---- the same bits, and memory -------------------------------------------------------------- */

static void threads(void **state)
{
    (void)state;
    full A = grid(30, 30, true);
    trs_mat m = show_full(&A, &plain);
    for (int method = TRS_ILU0; method <= TRS_IC0; method++) {
        trs_ilu_options opt = {.method = method, .level = 3, .plan = {.threads = 1}};
        trs_lu *one = factor(&m, &opt);
        for (int t = 2; t < 20; t += 5) {
            opt.plan.threads = t;
            trs_lu *many = factor(&m, &opt);
            assert_same_bits(many, one);
            trs_lu_destroy(many);
        }
        trs_lu_destroy(one);
    }
    hide(&m);
    free(A.a);
}

static void out_of_memory(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        full A = sparse(9, k & 1, 2, true);
        trs_mat m = show_full(&A, &forms[k / 3]);
        const trs_ilu_options opt = {.method = k / 6, .level = k % 2 * 2, .ordering = k % 3};
        check_out_of_memory(&m, opt);
        hide(&m);
        free(A.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),        cmocka_unit_test(gaps_and_hubs),
        cmocka_unit_test(grids),         cmocka_unit_test(graphs),
        cmocka_unit_test(transposed),    cmocka_unit_test(permuted_factors),
        cmocka_unit_test(half_a_matrix), cmocka_unit_test(blocks),
        cmocka_unit_test(refused),       cmocka_unit_test(threads),
        cmocka_unit_test(out_of_memory), cmocka_unit_test(too_much_fill),
    };
    return cmocka_run_group_tests_name("fill", tests, NULL, NULL);
}
