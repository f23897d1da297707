/* t_permuted.c: triangles whose rows and columns were permuted.
 *
 * The order that is found must make a lower triangle with the levels that the triangle had before; what is no such
 * triangle must be refused with the sentence that says why; and x must solve with the matrix as it was given, by its
 * residual.  (t_solvers solves such triangles by every solver with every type, op, layout and format.) */
#include "tests/common/counter.h"
#include "tests/common/model.h"

#include <math.h>
#include <unistd.h>

static const form plain = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};

/* The model as it stands, to be taken as a permuted triangle. */
static trs_mat show_permuted(const model *m, const form *f, random_t *r)
{
    trs_mat a = show(m, f, r);
    a.kind = TRS_PERMUTED;
    return a;
}

/* A shuffled triangle; row i of it became p [i], column j q [j]; free p. */
static model shuffled(pattern which, bool upper, bool is_complex, random_t *r, int **p, int **q)
{
    model m = model_new(which, upper, true, is_complex, r);
    *p = malloc(2 * (size_t)(m.n + 1) * sizeof **p);
    assert_non_null(*p);
    *q = *p + m.n + 1;
    model_shuffle(&m, *p, *q, r);
    return m;
}

/* ---- the order ---------------------------------------------------------------------------------- */

/* 1 . 2 .      rows 2, 0, 3, 1 and columns 0, 2, 1, 3, or others, make a lower triangle
 * 3 4 5 6
 * 7 . . .
 * . 8 9 .  */
static const int64_t ptr4[] = {0, 2, 6, 7, 9};
static const int32_t idx4[] = {0, 2, 0, 1, 2, 3, 0, 1, 2};
static const double val4[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static trs_mat mat4(const double *val)
{
    return (trs_mat){.n = 4, .nnz = 9, .ptr = ptr4, .idx = idx4, .val = val, .kind = TRS_PERMUTED};
}

static trs_plan *ready(const trs_mat *a, const trs_options *opt)
{
    trs_plan *p;
    int rc = trs_plan_create(&p, a, opt);
    assert_status(rc, TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

static void test_by_hand(void **state)
{
    (void)state;
    static const int32_t rows[] = {2, 0, 3, 1}, columns[] = {0, 2, 1, 3}, lv[] = {0, 1, 2, 3, 4};
    const double b[] = {7, 50, 7, 43}, x[] = {1, 2, 3, 4};    /* A x = b */
    const double bt[] = {29, 40, 50, 12}, y[] = {2, 2, 3, 4}; /* A' y = bt */
    const trs_options opt = {.ops = 7};
    const trs_mat a = mat4(val4);
    const int32_t *P, *Q, *topo, *lv_ptr;
    double z[4];
    trs_info info;
    trs_plan *p = ready(&a, &opt);
    assert_int_equal(trs_plan_permutation(p, &P, &Q), TRS_OK);
    assert_memory_equal(P, rows, sizeof rows);
    assert_memory_equal(Q, columns, sizeof columns);
    assert_int_equal(trs_plan_levels(p, &topo, &lv_ptr), TRS_OK);
    assert_memory_equal(topo, rows, sizeof rows);
    assert_memory_equal(lv_ptr, lv, sizeof lv);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_int_equal(info.levels, 4);
    assert_int_equal(info.nnz, 9);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, 4, z, 4, NULL), TRS_OK);
    for (int i = 0; i < 4; i++) assert_true(z[i] == x[i]);
    assert_int_equal(trs_solve(p, TRS_T, 1, bt, 4, z, 4, NULL), TRS_OK);
    for (int i = 0; i < 4; i++) assert_true(z[i] == y[i]);
    trs_plan_destroy(p);
}

/* P and Q are permutations, and A(P, Q) is a lower triangle with a full diagonal. */
static void check_order(const model *m, const int32_t *P, const int32_t *Q)
{
    int *row = malloc(3 * (size_t)(m->n + 1) * sizeof *row), *col = row + m->n, pivots = 0;
    assert_non_null(row);
    for (int i = 0; i < 2 * m->n; i++) row[i] = -1;
    for (int k = 0; k < m->n; k++) {
        assert_true(P[k] >= 0 && P[k] < m->n && Q[k] >= 0 && Q[k] < m->n);
        assert_true(row[P[k]] < 0 && col[Q[k]] < 0);
        row[P[k]] = col[Q[k]] = k;
    }
    for (int64_t e = 0; e < m->nnz; e++) {
        assert_true(row[m->row[e]] >= col[m->col[e]]);
        pivots += row[m->row[e]] == col[m->col[e]];
    }
    assert_int_equal(pivots, m->n);
    free(row);
}

/* The levels of the rows do not depend on their order: those of the triangle before it was shuffled. */
static void check_levels(const trs_plan *p, const trs_plan *before, const int *row, int n)
{
    const int32_t *topo, *lv, *topo0, *lv0;
    trs_info a, b;
    int *level = malloc((size_t)(n + 1) * sizeof *level);
    assert_non_null(level);
    assert_int_equal(trs_plan_levels(p, &topo, &lv), TRS_OK);
    assert_int_equal(trs_plan_levels(before, &topo0, &lv0), TRS_OK);
    trs_plan_info(p, &a);
    trs_plan_info(before, &b);
    assert_int_equal(a.levels, b.levels);
    assert_int_equal(a.widest, b.widest);
    assert_int_equal(a.longest, b.longest);
    for (int l = 0; l < b.levels; l++)
        for (int k = lv0[l]; k < lv0[l + 1]; k++) level[row[topo0[k]]] = l;
    for (int l = 0; l < a.levels; l++) {
        assert_int_equal(lv[l], lv0[l]);
        for (int k = lv[l]; k < lv[l + 1]; k++) {
            assert_int_equal(level[topo[k]], l);
            assert_true(k == lv[l] || topo[k] > topo[k - 1]);
        }
    }
    free(level);
}

static void test_order(void **state)
{
    (void)state;
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_DENSE};
    for (int k = 0; k < 6 * PATTERNS; k++) {
        random_t r = {(uint64_t)k + 7}, again = r;
        const pattern which = (pattern)(k % PATTERNS);
        const char *solver = k % 2 ? "cpu-level" : "cpu-serial";
        const trs_options opt = {.solver = k % 5 == 4 ? NULL : solver,
                                 .measure = k % 5 == 4,
                                 .order = (trs_order)(k % 3)};
        form f = {.format = format[k / PATTERNS % 3],
                  .ptr_bits = k % 4 < 2 ? 32 : 64,
                  .idx_bits = k % 8 < 4 ? 32 : 64,
                  .base = k % 2,
                  .pad = k % 3,
                  .shuffled = k % 5 < 3};
        int *row, *col;
        const int32_t *P, *Q;
        model before = model_new(which, k % 2, true, false, &again);
        model m = shuffled(which, k % 2, false, &r, &row, &col);
        trs_mat a = show_permuted(&m, &f, &r), b = show(&before, &plain, &again);
        trs_plan *p = ready(&a, &opt), *q = ready(&b, &opt);
        assert_int_equal(trs_plan_permutation(q, &P, &Q), TRS_OK);
        assert_true(!P && !Q);
        assert_int_equal(trs_plan_permutation(p, &P, &Q), TRS_OK);
        check_order(&m, P, Q);
        check_levels(p, q, row, m.n);
        trs_plan_destroy(p);
        trs_plan_destroy(q);
        mat_free(&a);
        mat_free(&b);
        model_free(&m);
        model_free(&before);
        free(row);
    }
}

/* Far more rows than any recursion could follow, in one chain. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { N = 1000000 };
    random_t r = {11};
    model m = {.n = N};
    for (int i = 0; i < N; i++) {
        model_add(&m, i, i, 2);
        if (i > 0) model_add(&m, i, i - 1, -1);
    }
    int *row = malloc(2 * (size_t)N * sizeof *row);
    double *b = malloc(N * sizeof *b);
    assert_true(row && b);
    model_shuffle(&m, row, row + N, &r);
    trs_mat a = show_permuted(&m, &plain, &r);
    trs_plan *p = ready(&a, &(trs_options){.solver = "cpu-serial"});
    for (int i = 0; i < N; i++) b[row[i]] = i ? 1 : 2; /* A * ones */
    assert_int_equal(trs_solve(p, TRS_N, 1, b, N, b, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++) assert_true(b[i] == 1);
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
    free(row);
    free(b);
}

/* ---- what is none --------------------------------------------------------------------------------- */

/* Create refuses it, with a sentence. */
static void refused(const trs_mat *a, int code)
{
    trs_plan *p;
    int rc = trs_plan_create(&p, a, NULL);
    assert_status(rc, code);
    assert_null(p);
    assert_true(trs_message()[0] != '\0');
}

/* Entries of an n x n matrix, row by row, x for an entry. */
static void refuse_picture(int n, const char *picture, const char *words)
{
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_DENSE};
    for (int k = 0; k < 3; k++) {
        random_t r = {1};
        const form f = {.format = format[k], .ptr_bits = 64, .idx_bits = 32, .base = 1};
        model m = {.n = n};
        for (int i = 0; i < n * n; i++)
            if (picture[i] == 'x') model_add(&m, i / n, i % n, 1);
        trs_mat a = show_permuted(&m, &f, &r);
        refused(&a, TRS_EMATRIX);
        if (!strstr(trs_message(), words)) print_error("%s\n", trs_message());
        assert_non_null(strstr(trs_message(), words));
        mat_free(&a);
        model_free(&m);
    }
}

static void test_singular(void **state)
{
    (void)state;
    refuse_picture(1, ".", "column 1 has no entry");
    refuse_picture(3,
                   "x.."
                   "..."
                   "xxx",
                   "row 2 has no entry");
    refuse_picture(3,
                   "x.x"
                   "x.."
                   "..x",
                   "column 2 has no entry");
    refuse_picture(3,
                   ".x."
                   ".x."
                   "xxx",
                   "rows 1 and 2 have only column 2 left");
    refuse_picture(4,
                   "xxx."
                   "..xx"
                   "..xx"
                   "..xx",
                   "columns 2 and 1 have only row 1 left");
    /* no row is ready, and columns 3, 4, 5 live in rows 4 and 5 */
    refuse_picture(5,
                   "xx..."
                   "xx..."
                   "xx..."
                   "..xxx"
                   "..xxx",
                   "structurally singular: column 3 and 2 others have entries in 2 rows only");
}

static void test_cycle(void **state)
{
    (void)state;
    refuse_picture(2,
                   "xx"
                   "xx",
                   "on a cycle");
    /* row 1 is no part of the cycle of 2, 3, 4, nor is row 5, which waits for it */
    refuse_picture(5,
                   "x...."
                   "xx.x."
                   ".xx.."
                   "..xx."
                   "...xx",
                   "on a cycle");
    /* two cycles, rows 1, 2 and 4, 5, and row 3 between them */
    refuse_picture(5,
                   "xx..."
                   "xx..."
                   "x.x.."
                   "..xxx"
                   "...xx",
                   "on a cycle");
}

/* Does the row wait for itself?  Row i waits for the row with the pivot of each of its columns, (i, i) before the
 * shuffle. */
static bool waits_for_itself(const model *m, const int *row, const int *col, int which)
{
    int *pivot = malloc((size_t)m->n * sizeof *pivot);
    bool *out = calloc((size_t)m->n, sizeof *out), more = true, again = false;
    assert_true(pivot && out);
    for (int i = 0; i < m->n; i++) pivot[col[i]] = row[i];
    for (out[which] = true; more;) {
        more = false;
        for (int64_t e = 0; e < m->nnz; e++) {
            const int i = m->row[e], needed = pivot[m->col[e]];
            if (i == needed || !out[i]) continue;
            again |= needed == which;
            if (!out[needed]) more = out[needed] = true;
        }
    }
    free(pivot);
    free(out);
    return again;
}

/* Entries in the other triangle of a shuffled one close cycles, one or several; the row that is named is on one. */
static void test_cycles(void **state)
{
    (void)state;
    int closed = 0;
    for (int k = 0; k < 60; k++) {
        static const pattern which[] = {CHAIN, TWO_CHAINS, RANDOM, ARROW, SEED4};
        random_t r = {(uint64_t)k + 70};
        int *row, *col, first, other;
        model m = model_new(which[k % 5], false, true, false, &r);
        for (int e = 0; e < 1 + k % 3; e++) {
            const int i = random_below(&r, m.n - 1), j = i + 1 + random_below(&r, m.n - i - 1);
            bool there = false;
            for (int64_t p = 0; p < m.nnz; p++) there |= m.row[p] == i && m.col[p] == j;
            if (!there) model_add(&m, i, j, 1);
        }
        row = malloc(2 * (size_t)m.n * sizeof *row);
        assert_non_null(row);
        col = row + m.n;
        model_shuffle(&m, row, col, &r);
        trs_mat a = show_permuted(&m, &plain, &r);
        trs_plan *p;
        int rc = trs_plan_create(&p, &a, NULL);
        assert_true(rc == TRS_OK || rc == TRS_EMATRIX);
        bool cyclic = false;
        for (int i = 0; i < m.n && !cyclic; i++) cyclic = waits_for_itself(&m, row, col, i);
        assert_int_equal(rc, cyclic ? TRS_EMATRIX : TRS_OK);
        if (cyclic) {
            const char *at = strstr(trs_message(), "row ");
            assert_non_null(at);
            assert_int_equal(
                sscanf(at, "row %d is on a cycle, it waits for row %d,", &first, &other), 2);
            assert_true(waits_for_itself(&m, row, col, first));
            assert_true(waits_for_itself(&m, row, col, other));
            closed++;
        }
        trs_plan_destroy(p);
        mat_free(&a);
        model_free(&m);
        free(row);
    }
    assert_true(closed > 30);
}

static void test_refused(void **state)
{
    (void)state;
    static const unsigned kind[] = {TRS_LOWER, TRS_UPPER, TRS_UNIT, TRS_STRICT, 32};
    static const int64_t ptr[] = {0, 2, 3}, blocks[] = {0, 1};
    static const int32_t twice[] = {1, 1, 0}, outside[] = {0, 2, 0};
    trs_mat a = mat4(val4);
    for (int k = 0; k < 5; k++) {
        a.kind = TRS_PERMUTED | kind[k];
        refused(&a, TRS_EARG);
    }
    a = (trs_mat){.n = 2, .nnz = 3, .ptr = ptr, .idx = twice, .val = val4, .kind = TRS_PERMUTED};
    refused(&a, TRS_EMATRIX);
    assert_string_equal(trs_message(), "row 0, column 1 is stored twice");
    a.idx = outside;
    refused(&a, TRS_EMATRIX);
    a = (trs_mat){.n = 2, .nnz = 1, .ptr = blocks, .idx = idx4, .val = val4, .kind = TRS_PERMUTED};
    a.format = TRS_BSR, a.block = 2;
    refused(&a, TRS_ESUPPORT);
    const int32_t *P;
    assert_int_equal(trs_plan_permutation(NULL, &P, &P), TRS_EARG);
}

/* ---- pivots and values ------------------------------------------------------------------------------- */

/* The pivots (2, 0), (0, 2), (3, 1), (1, 3) of the matrix drawn above. */
static void test_pivots(void **state)
{
    (void)state;
    double bad[9];
    int64_t count, first;
    double x[4], b[4] = {1, 1, 1, 1};
    trs_plan *p;
    memcpy(bad, val4, sizeof bad);
    bad[7] = 0, bad[5] = NAN; /* of rows 3 and 1 */
    trs_mat a = mat4(bad), good = mat4(val4);
    for (int ops = 1; ops < 8; ops += 5) { /* N; T and H */
        const trs_options opt = {.ops = (unsigned)ops};
        assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
        assert_status(trs_plan_analyse(p), TRS_EPIVOT);
        assert_string_equal(trs_message(),
                            "row 1: its pivot, in column 3, is not finite (2 such rows)");
        assert_int_equal(trs_plan_pivots(p, &count, &first), TRS_OK);
        assert_int_equal(count, 2);
        assert_int_equal(first, 1);
        assert_int_equal(trs_solve(p, TRS_N, 1, b, 4, x, 4, NULL), TRS_ESTATE);
        assert_status(trs_plan_update(p, &good, NULL), TRS_OK);
        trs_plan_destroy(p);
    }
}

/* The matrix that is solved with: as m, but in place of entry (row, col) stands a pivot that replaces it, or that row
 * and column are those of the identity.  The entry of m becomes 0. */
static model with_policy(model *m, int row, int col, bool skip)
{
    model e = {.n = m->n};
    for (int64_t at = 0; at < m->nnz; at++) {
        const int i = m->row[at], j = m->col[at];
        if (i == row && j == col) {
            model_add(&e, i, j, skip ? 1 : -2);
            m->val[at] = 0;
        } else if (!skip || (i != row && j != col)) model_add(&e, i, j, m->val[at]);
    }
    return e;
}

/* Solves with the plan, whose bad pivot is in row bad_row and column bad_col, and compares with e. */
static void check_policy(const trs_plan *p, const model *e, trs_op op, trs_dtype dtype, bool skip,
                         int bad_row, int bad_col, random_t *r)
{
    const int n = e->n, out = op ? bad_col : bad_row, in = op ? bad_row : bad_col;
    zz *b = malloc(2 * (size_t)n * sizeof *b), *x = b + n;
    assert_non_null(b);
    for (int i = 0; i < n; i++) set_number(b, dtype, i, random_uniform(r) + random_uniform(r) * I);
    if (skip) set_number(b, dtype, out, NAN);
    assert_int_equal(trs_solve(p, op, 1, b, n, x, n, NULL), TRS_OK);
    if (skip) assert_true(get_number(x, dtype, in) == 0);
    if (skip) set_number(b, dtype, out, 0);
    quality q = quality_of(e, false, op, dtype, b, 1, x, 1);
    assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(dtype));
    free(b);
}

/* Left out or replaced, as if the matrix had been another one before it was shuffled. */
static void test_policies(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        random_t r = {(uint64_t)k + 300};
        const bool skip = k % 2;
        const trs_options opt = {.solver = k % 3 ? "cpu-serial" : "cpu-level",
                                 .ops = 7,
                                 .order = (trs_order)(k % 3),
                                 .pivot = skip ? TRS_PIVOT_SKIP : TRS_PIVOT_REPLACE,
                                 .pivot_value = -2};
        const trs_dtype dtype = (trs_dtype)(k % 4);
        form f = plain;
        int *row, *col;
        f.dtype = dtype;
        f.format = k % 5 ? TRS_CSR : TRS_CSC;
        model m = shuffled(RANDOM, k % 2, trs_is_complex(dtype), &r, &row, &col);
        const int one = random_below(&r, m.n), bad_row = row[one], bad_col = col[one];
        model e = with_policy(&m, bad_row, bad_col, skip);
        trs_mat a = show_permuted(&m, &f, &r);
        trs_plan *p = ready(&a, &opt);
        for (int op = 0; op < 3; op++)
            check_policy(p, &e, (trs_op)op, dtype, skip, bad_row, bad_col, &r);
        trs_plan_destroy(p);
        mat_free(&a);
        model_free(&m);
        model_free(&e);
        free(row);
    }
}

/* Zeros of a full matrix are no entries, and have to stay zero. */
static void test_full_update(void **state)
{
    (void)state;
    double val[] = {0, 2, 3, 4}, x[2]; /* [0 3; 2 4] */
    const double b[] = {3, 10};
    trs_mat a = {.n = 2, .ld = 2, .val = val, .format = TRS_DENSE, .kind = TRS_PERMUTED, .base = 1};
    for (int ops = 1; ops < 8; ops += 5) {
        const trs_options opt = {.ops = (unsigned)ops};
        val[0] = 0, val[3] = 4;
        trs_plan *p = ready(&a, &opt);
        val[3] = 0; /* an entry may become zero */
        assert_status(trs_plan_update(p, &a, NULL), TRS_OK);
        assert_int_equal(trs_solve(p, ops == 1 ? TRS_N : TRS_T, 1, b, 2, x, 2, NULL), TRS_OK);
        assert_at_most(fabs(x[0] - (ops == 1 ? 5 : 10.0 / 3)), 1e-15);
        assert_at_most(fabs(x[1] - (ops == 1 ? 1 : 1.5)), 1e-15);
        val[0] = 1;
        assert_status(trs_plan_update(p, &a, NULL), TRS_EMATRIX);
        assert_string_equal(trs_message(), "update: row 1, column 1 was zero at create");
        assert_int_equal(trs_solve(p, ops == 1 ? TRS_N : TRS_T, 1, b, 2, x, 2, NULL), TRS_ESTATE);
        trs_plan_destroy(p);
    }
}

/* The same when rows are left out and come back: their entries are not taken for new ones. */
static void test_full_skip(void **state)
{
    (void)state;
    double val[] = {0, 2, 3, 4}, x[2]; /* [0 3; 2 4] */
    const double b[] = {3, 10};
    const trs_mat a = {
        .n = 2, .ld = 2, .val = val, .format = TRS_DENSE, .kind = TRS_PERMUTED, .base = 1};
    trs_plan *p = ready(&a, &(trs_options){.pivot = TRS_PIVOT_SKIP});
    for (int k = 0; k < 4; k++) {
        val[2] = k % 2 ? 3 : NAN;
        assert_status(trs_plan_update(p, &a, NULL), TRS_OK);
        assert_int_equal(trs_solve(p, TRS_N, 1, b, 2, x, 2, NULL), TRS_OK);
        assert_true(k % 2 ? x[0] == 3 && x[1] == 1 : x[0] == 5 && x[1] == 0);
    }
    val[0] = 1, val[2] = NAN;
    assert_status(trs_plan_update(p, &a, NULL), TRS_EMATRIX);
    trs_plan_destroy(p);
}

/* ---- what goes on from there -------------------------------------------------------------------------- */

static void test_accuracy(void **state)
{
    (void)state;
    const trs_options opt = {.ops = 7};
    const trs_mat a = mat4(val4);
    trs_mat lower = a;
    const double b[] = {7, 50, 7, 43};
    double x[4] = {0}, rcond, known;
    int steps;
    trs_error e;
    trs_plan *p = ready(&a, &opt);
    assert_int_equal(trs_refine(p, &a, TRS_N, 1, b, 4, x, 4, NULL, 5, &steps, &e), TRS_OK);
    assert_true(steps == 1 && e.omega == 0);
    for (int i = 0; i < 4; i++) assert_true(x[i] == i + 1);
    x[1] = 3; /* off by 1 in column 1: rows 1 and 3 */
    assert_int_equal(trs_backward_error(&a, TRS_N, 1, b, 4, x, 4, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.residual == 8 && e.row == 3);
    /* A^-1 of the triangle in its natural order, column by column: x(7), x(1), x(8), x(6) */
    assert_int_equal(trs_condest(p, &a, TRS_NORM_ONE, &rcond), TRS_OK);
    double inverse = 0;
    for (int c = 0; c < 4; c++) {
        double sum = 0, v[4] = {0};
        v[c] = 1;
        const double x0 = v[2] / 7, x2 = (v[0] - x0) / 2, x1 = (v[3] - 9 * x2) / 8;
        const double x3 = (v[1] - 3 * x0 - 4 * x1 - 5 * x2) / 6;
        sum = fabs(x0) + fabs(x1) + fabs(x2) + fabs(x3);
        inverse = larger(inverse, sum);
    }
    known = 1 / (16 * inverse); /* columns: 11, 12, 16, 6 */
    assert_at_most(rcond, 3 * known);
    assert_at_most(known, rcond * (1 + 1e-12));
    lower.kind = TRS_LOWER; /* another matrix */
    assert_int_equal(trs_condest(p, &lower, TRS_NORM_ONE, &rcond), TRS_EARG);
    assert_int_equal(trs_refine(p, &lower, TRS_N, 1, b, 4, x, 4, NULL, 5, NULL, NULL), TRS_EARG);
    trs_plan_destroy(p);
}

/* Of a shuffled triangle that of the triangle, with the signs of both shuffles, by counting inversions. */
static void test_determinant(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        random_t r = {(uint64_t)k + 40};
        int *row, *col;
        double expected = 1;
        trs_det d;
        model m = {.n = 1 + k};
        for (int i = 0; i < m.n; i++) {
            model_add(&m, i, i, i % 3 + 1);
            expected *= i % 3 + 1;
            if (i > 0) model_add(&m, i, random_below(&r, i), 1);
        }
        row = malloc(2 * (size_t)m.n * sizeof *row);
        assert_non_null(row);
        col = row + m.n;
        model_shuffle(&m, row, col, &r);
        for (int i = 0; i < m.n; i++)
            for (int j = 0; j < i; j++) {
                if (row[j] > row[i]) expected = -expected;
                if (col[j] > col[i]) expected = -expected;
            }
        trs_mat a = show_permuted(&m, &plain, &r);
        trs_plan *p = ready(&a, &(trs_options){.ops = k % 2 ? 1 : 6});
        assert_int_equal(trs_plan_determinant(p, &d), TRS_OK);
        assert_true(d.re * ldexp(d.mantissa, (int)d.exponent) == expected);
        trs_plan_destroy(p);
        mat_free(&a);
        model_free(&m);
        free(row);
    }
}

/* Memory that is refused, at every call once, leaves nothing behind; what a plan says it takes, it takes. */
static void test_memory(void **state)
{
    (void)state;
    random_t r = {5};
    int *row, *col;
    model m = shuffled(RANDOM, false, false, &r, &row, &col);
    trs_mat a = show_permuted(&m, &plain, &r);
    model_add(&m, row[0], col[m.n - 1], 1); /* and of one that closes a cycle */
    trs_mat cyclic = show_permuted(&m, &plain, &r);
    bool refused = true;
    for (int k = 0; refused; k++) {
        counter c = {.fail_at = k};
        const trs_options opt = {.solver = "cpu-serial", .ops = 7, .memory = counted_memory(&c)};
        trs_plan *p;
        int rc = trs_plan_create(&p, &a, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        refused = was_refused(&c);
        assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
        trs_plan_destroy(p);
        assert_int_equal(c.live, 0);
    }
    for (int k = 0, code = TRS_EMEM; code == TRS_EMEM; k++) {
        counter c = {.fail_at = k};
        const trs_options opt = {.memory = counted_memory(&c)};
        trs_plan *p;
        code = trs_plan_create(&p, &cyclic, &opt);
        assert_true(code == TRS_EMATRIX || code == TRS_EMEM);
        trs_plan_destroy(p);
        assert_int_equal(c.live, 0);
    }
    mat_free(&a);
    mat_free(&cyclic);
    model_free(&m);
    free(row);
}

/* ---- real matrices -------------------------------------------------------------------------------------- */

/* The lower triangle of a file, diagonal entries made good; false: not here. */
static bool read_triangle(const char *path, model *m)
{
    trs_mm mm;
    const trs_mm_options opt = {.kind = TRS_LOWER, .real_only = 1};
    const int rc = trs_mm_read(path, &opt, &mm);
    const bool good = !rc && mm.format == TRS_CSR && mm.rows == mm.cols;
    *m = (model){.n = good ? (int)mm.rows : 0};
    for (int i = 0; i < m->n; i++) {
        double most = 0, diagonal = 0;
        for (int64_t p = mm.ptr[i]; p < mm.ptr[i + 1]; p++) {
            const double v = ((const double *)mm.val)[p];
            most = larger(most, fabs(v));
            if (mm.idx[p] == i) diagonal = v;
            else model_add(m, i, mm.idx[p], v);
        }
        if (diagonal == 0) diagonal = most > 0 ? most : 1;
        model_add(m, i, i, diagonal);
    }
    trs_mm_free(&mm);
    return good;
}

/* Shuffled, by every solver of the table, N and T. */
static bool solve_real(const char *path)
{
    random_t r = {99};
    const form f = plain;
    model m;
    if (!read_triangle(path, &m)) return false;
    int *order = malloc(2 * (size_t)m.n * sizeof *order);
    double *b = malloc(2 * (size_t)m.n * sizeof *b), *x = b + m.n;
    char why[200];
    assert_true(order && b);
    model_shuffle(&m, order, order + m.n, &r);
    trs_mat a = show_permuted(&m, &f, &r);
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        const trs_options opt = {.solver = s->name, .ops = 7};
        if (s->family != TRS_TRIANGLE || !trs_solver_available(s, 0, why, sizeof why)) continue;
        if (s->full && m.n > 3000) continue;
        trs_plan *p = ready(&a, &opt);
        for (int op = 0; op < 2; op++) {
            trs_error e;
            for (int i = 0; i < m.n; i++) b[i] = 1 + i % 7;
            assert_int_equal(trs_solve(p, (trs_op)op, 1, b, m.n, x, m.n, NULL), TRS_OK);
            assert_int_equal(
                trs_backward_error(&a, (trs_op)op, 1, b, m.n, x, m.n, TRS_COL_MAJOR, &e), TRS_OK);
            quality q = quality_of(&m, false, (trs_op)op, TRS_F64, b, 1, x, 1);
            if (isfinite(e.residual) && s->accuracy == TRS_SUBSTITUTION)
                assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(TRS_F64));
            if (isfinite(e.residual)) assert_at_most(q.normwise, 1e-10);
        }
        trs_plan_destroy(p);
    }
    mat_free(&a);
    model_free(&m);
    free(order);
    free(b);
    return true;
}

static void test_real(void **state)
{
    (void)state;
    static const char *const own[] = {"superlu_airfoil2.mtx", "rdb3200l.mtx", "1138_bus.mtx",
                                      "impcol_a.mtx",         "bcsstk02.mtx", "Erdos971.mtx"};
    static const char *const shared[] = {"add20",    "ani4_amd_chol", "bcsstk16",  "circuit204",
                                         "gemat12",  "kkt_stocfor3",  "memplus",   "mhd1280a",
                                         "orsirr_1", "pde2961",       "raefsky2",  "sherman3",
                                         "s3rmt3m3", "ca-CondMat",    "teko_nsjac"};
    const char *folder = getenv("TRS_SHARED");
    bool missing = false;
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++) {
        char *path = matrix_file(own[k]);
        missing |= !path || !solve_real(path);
        free(path);
    }
    for (size_t k = 0; folder && k < sizeof shared / sizeof shared[0]; k++)
        for (int packed = 0; packed < 2; packed++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/matrices/%s.mtx%s", folder, shared[k],
                     packed ? ".xz" : "");
            if (access(path, R_OK) == 0) solve_real(path);
        }
    if (missing) skip(); /* though the others are solved */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_long_chain),  cmocka_unit_test(test_singular),
        cmocka_unit_test(test_cycle),       cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_policies),    cmocka_unit_test(test_full_update),
        cmocka_unit_test(test_full_skip),   cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_determinant), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
