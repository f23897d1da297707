/* t_plan.c: the life of a plan: states, wrong use, pivots, updates, levels, memory, threads. */
#include "config.h"

#include "test.h"

#include <pthread.h>

/* The slides' 5 x 5 triangle. */
static const int64_t ptr5[] = {0, 1, 2, 3, 6, 8};
static const int32_t idx5[] = {0, 1, 2, 0, 1, 3, 0, 4};
static const double val5[] = {2, 2, 2, 1, 1, 2, 1, 4}, b5[] = {2, 4, 6, 5, 9};

static trs_mat seed5(void)
{
    return (trs_mat){.n = 5, .nnz = 8, .ptr = ptr5, .idx = idx5, .val = val5, .kind = TRS_LOWER};
}

/* create must say no, with a sentence. */
static void refused(const trs_mat *m, const trs_options *opt, int code, const char *says)
{
    trs_plan *plan;
    assert_int_equal(trs_plan_create(&plan, m, opt), code);
    if (!strstr(trs_plan_message(plan), says)) print_error("# said: %s\n", trs_plan_message(plan));
    assert_non_null(strstr(trs_plan_message(plan), says));
    assert_int_equal(trs_plan_analyse(plan), TRS_ESTATE);
    trs_plan_destroy(plan);
}

static void wrong_matrices(void **state)
{
    static const int64_t falls[] = {0, 2, 1, 3, 6, 8}, starts[] = {1, 1, 2, 3, 6, 8},
                         ends[] = {0, 1, 2, 3, 6, 9};
    static const int32_t far[] = {0, 1, 2, 0, 5, 3, 0, 4}, twice[] = {0, 1, 2, 1, 1, 3, 0, 4};
    static const int32_t upper[] = {0, 1, 2, 0, 4, 3, 0, 4}, negative[] = {0, 1, 2, -1, 1, 3, 0, 4};
    static const int32_t two_diagonals[] = {0, 1, 2, 3, 1, 3, 0, 4};
    trs_mat m = seed5();
    trs_plan *plan;
    (void)state;
    assert_int_equal(trs_plan_create(NULL, &m, NULL), TRS_EARG);
    assert_int_equal(trs_plan_create(&plan, NULL, NULL), TRS_EARG);
    m.n = -1, refused(&m, NULL, TRS_EARG, "n = -1");
    m.n = (int64_t)1 << 31, refused(&m, NULL, TRS_EARG, "2^31");
    m = seed5(), m.nnz = -3, refused(&m, NULL, TRS_EARG, "nnz = -3");
    m = seed5(), m.kind = 0, refused(&m, NULL, TRS_EARG, "TRS_LOWER");
    m = seed5(), m.kind = TRS_LOWER | TRS_UPPER, refused(&m, NULL, TRS_EARG, "both");
    m = seed5(), m.kind = TRS_LOWER | 64, refused(&m, NULL, TRS_EARG, "kind");
    m = seed5(), m.base = 2, refused(&m, NULL, TRS_EARG, "base 2");
    m = seed5(), m.dtype = (trs_dtype)9, refused(&m, NULL, TRS_EARG, "dtype");
    m = seed5(), m.format = TRS_COO, refused(&m, NULL, TRS_EARG, "format");
    m = seed5(), m.idx_bits = 16, refused(&m, NULL, TRS_EARG, "idx_bits");
    m = seed5(), m.ptr = NULL, refused(&m, NULL, TRS_EARG, "ptr");
    m = seed5(), m.idx = NULL, refused(&m, NULL, TRS_EARG, "idx");
    m = seed5(), m.val = NULL, refused(&m, NULL, TRS_EARG, "val");
    m = seed5(), m.ptr = falls, refused(&m, NULL, TRS_EMATRIX, "row 1");
    m = seed5(), m.ptr = starts, refused(&m, NULL, TRS_EMATRIX, "ptr[0]");
    m = seed5(), m.ptr = ends, refused(&m, NULL, TRS_EMATRIX, "row 4");
    m = seed5(), m.idx = far, refused(&m, NULL, TRS_EMATRIX, "row 3: column 5");
    m = seed5(), m.idx = negative, refused(&m, NULL, TRS_EMATRIX, "column -1");
    m = seed5(), m.idx = twice, refused(&m, NULL, TRS_EMATRIX, "row 3, column 1 is stored twice");
    m = seed5(), m.idx = two_diagonals,
    refused(&m, NULL, TRS_EMATRIX, "row 3, column 3 is stored twice");
    m = seed5(), m.idx = upper, m.kind |= TRS_STRICT,
    refused(&m, NULL, TRS_EMATRIX, "row 3, column 4");
    m = seed5(), m.format = TRS_DENSE, m.ld = 4, refused(&m, NULL, TRS_EARG, "ld = 4");
}

static void wrong_options(void **state)
{
    const trs_mat m = seed5();
    trs_options o = {.solver = "no-such"};
    (void)state;
    refused(&m, &o, TRS_ESUPPORT, "no solver \"no-such\"");
    o = (trs_options){.nrhs = -1}, refused(&m, &o, TRS_EARG, "negative");
    o = (trs_options){.ops = 8}, refused(&m, &o, TRS_EARG, "ops");
    o = (trs_options){.layout = (trs_layout)7}, refused(&m, &o, TRS_EARG, "layout");
    o = (trs_options){.solver = "cpu-serial", .device = TRS_CUDA(0)};
    refused(&m, &o, TRS_ESUPPORT, "device");
}

static void states(void **state)
{
    const trs_mat m = seed5();
    const int32_t *topo, *lv;
    trs_plan *plan;
    trs_work *work;
    trs_info info;
    int64_t count;
    double x[5];
    (void)state;
    assert_int_equal(trs_plan_create(&plan, &m, NULL), TRS_OK);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b5, 5, x, 5, NULL), TRS_ESTATE);
    assert_int_equal(trs_plan_update(plan, &m, NULL), TRS_ESTATE);
    assert_int_equal(trs_plan_pivots(plan, &count, NULL), TRS_ESTATE);
    assert_int_equal(trs_plan_levels(plan, &topo, &lv), TRS_ESTATE);
    assert_int_equal(trs_work_create(&work, plan, 1), TRS_ESTATE);
    assert_int_equal(trs_plan_info(plan, &info), TRS_OK);
    assert_int_equal(info.nnz, 8);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_ESTATE);
    assert_int_equal(trs_plan_info(plan, &info), TRS_OK);
    assert_int_equal(info.levels, 2);
    assert_int_equal(info.widest, 3);
    assert_int_equal(info.longest, 3);
    assert_non_null(info.solver);
    assert_true(strlen(info.reason) > 0);
    trs_plan_destroy(plan);
    trs_plan_destroy(NULL);
    trs_work_destroy(NULL);
}

static void wrong_solves(void **state)
{
    const trs_mat m = seed5();
    const trs_options opt = {.ops = 1u << TRS_N};
    const trs_exec by_rows = {.layout = TRS_ROW_MAJOR};
    trs_plan *plan, *other;
    trs_work *work;
    double b[20] = {2, 4, 6, 5, 9}, x[20];
    (void)state;
    assert_int_equal(trs_plan_create(&plan, &m, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    assert_int_equal(trs_plan_create(&other, &m, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(other), TRS_OK);
    assert_int_equal(trs_solve(NULL, TRS_N, 1, b, 5, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_T, 1, b, 5, x, 5, NULL), TRS_ESTATE);
    assert_int_equal(trs_solve(plan, (trs_op)5, 1, b, 5, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, -1, b, 5, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 1, NULL, 5, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b, 5, NULL, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b, 4, x, 5, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b, 5, x, 4, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 3, b, 2, x, 3, &by_rows), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b, 5, b + 3, 5, NULL), TRS_EARG); /* overlap */
    assert_int_equal(trs_solve(plan, TRS_N, 2, b, 5, b, 6, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 0, NULL, 0, NULL, 0, NULL), TRS_OK);
    assert_int_equal(trs_work_create(&work, other, 0), TRS_EARG);
    assert_int_equal(trs_work_create(&work, other, 1), TRS_OK);
    const trs_exec foreign = {.work = work};
    assert_int_equal(trs_solve(plan, TRS_N, 1, b, 5, x, 5, &foreign), TRS_EARG);
    trs_work_destroy(work);
    trs_plan_destroy(other);
    trs_plan_destroy(plan);
}

/* topo and lv_ptr of the slides. */
static void levels(void **state)
{
    static const int32_t topo_want[] = {0, 1, 2, 3, 4}, lv_want[] = {0, 3, 5};
    static const int64_t ptr4[] = {0, 1, 2, 4, 7};
    static const int32_t idx4[] = {0, 1, 0, 2, 0, 2, 3}, topo4[] = {0, 1, 2, 3},
                         lv4[] = {0, 2, 3, 4};
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1};
    const trs_mat four = {
        .n = 4, .nnz = 7, .ptr = ptr4, .idx = idx4, .val = ones, .kind = TRS_LOWER};
    const trs_mat five = seed5(), *m[] = {&five, &four};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const int32_t *topo, *lv;
        trs_plan *plan;
        assert_int_equal(trs_plan_create(&plan, m[k], NULL), TRS_OK);
        assert_int_equal(trs_plan_analyse(plan), TRS_OK);
        assert_int_equal(trs_plan_levels(plan, &topo, &lv), TRS_OK);
        assert_memory_equal(topo, k ? topo4 : topo_want, (k ? 4 : 5) * sizeof *topo);
        assert_memory_equal(lv, k ? lv4 : lv_want, (k ? 4 : 3) * sizeof *lv);
        trs_plan_destroy(plan);
    }
}

/* Any triangle: each row stands one level after the latest row it needs, rows ascend within levels. */
static void levels_of_random(void **state)
{
    (void)state;
    for (int c = 0; c < 40; c++) {
        const shape s = {.pattern = (pattern)(c % PATTERNS),
                         .n = 80,
                         .format = c % 3 == 1 ? TRS_CSC : TRS_CSR,
                         .kind = c % 2 ? TRS_LOWER : TRS_UPPER,
                         .ptr_bits = 64,
                         .idx_bits = 32,
                         .seed = (uint64_t)c};
        const trs_options opt = {.order = c % 5 == 0 ? TRS_ORDER_LEVEL : TRS_ORDER_NATURAL};
        triangle t = make_triangle(&s);
        const int32_t *topo, *lv;
        int want[80], got[80];
        trs_plan *plan;
        trs_info info;
        assert_int_equal(trs_plan_create(&plan, &t.mat, &opt), TRS_OK);
        assert_int_equal(trs_plan_analyse(plan), TRS_OK);
        assert_int_equal(trs_plan_levels(plan, &topo, &lv), TRS_OK);
        trs_plan_info(plan, &info);
        for (int k = 0; k < 80; k++) {
            int i = s.kind == TRS_LOWER ? k : 79 - k;
            want[i] = 0;
            for (int j = 0; j < 80; j++)
                if (j != i && (t.dense[2 * (i * 80 + j)] != 0) && want[j] + 1 > want[i])
                    want[i] = want[j] + 1;
        }
        for (int64_t l = 0; l < info.levels; l++)
            for (int32_t k = lv[l]; k < lv[l + 1]; k++) {
                got[topo[k]] = (int)l;
                if (k > lv[l]) assert_true(topo[k] > topo[k - 1]);
            }
        assert_memory_equal(got, want, sizeof want);
        trs_plan_destroy(plan);
        free_triangle(&t);
    }
}

static void pivots(void **state)
{
    static const double bad[][8] = {
        {2, 2, 0, 1, 1, 2, 1, 4}, {2, 2, 2, 1, 1, NAN, 1, 4}, {2, INFINITY, 2, 1, 1, 2, 1, 4}};
    static const char *const says[] = {"row 2: diagonal is zero", "row 3: diagonal is not finite",
                                       "row 1: diagonal is not finite"};
    static const int64_t first_want[] = {2, 3, 1}, ptr_gap[] = {0, 1, 1, 2, 5, 7};
    static const int32_t idx_gap[] = {0, 2, 0, 1, 3, 0, 4};
    trs_mat m = seed5();
    trs_plan *plan;
    int64_t count, first;
    double x[5];
    (void)state;
    for (int k = 0; k < 3; k++) {
        m.val = bad[k];
        assert_int_equal(trs_plan_create(&plan, &m, NULL), TRS_OK);
        assert_int_equal(trs_plan_analyse(plan), TRS_EPIVOT);
        assert_non_null(strstr(trs_plan_message(plan), says[k]));
        assert_int_equal(trs_plan_pivots(plan, &count, &first), TRS_OK);
        assert_int_equal(count, 1);
        assert_int_equal(first, first_want[k]);
        assert_int_equal(trs_solve(plan, TRS_N, 1, b5, 5, x, 5, NULL), TRS_ESTATE);
        m.val = val5;
        assert_int_equal(trs_plan_update(plan, &m, NULL), TRS_OK);
        assert_int_equal(trs_solve(plan, TRS_N, 1, b5, 5, x, 5, NULL), TRS_OK);
        assert_true(x[3] == 1 && x[4] == 2);
        m.val = bad[k]; /* and back: the plan refuses rather than solve with what was there */
        assert_int_equal(trs_plan_update(plan, &m, NULL), TRS_EPIVOT);
        assert_int_equal(trs_solve(plan, TRS_N, 1, b5, 5, x, 5, NULL), TRS_ESTATE);
        trs_plan_destroy(plan);
    }
    const trs_mat gap = {
        .n = 5, .nnz = 7, .ptr = ptr_gap, .idx = idx_gap, .val = val5, .kind = TRS_LOWER};
    assert_int_equal(trs_plan_create(&plan, &gap, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_EPIVOT);
    assert_non_null(strstr(trs_plan_message(plan), "row 1: diagonal is missing"));
    trs_plan_destroy(plan);
}

static void wrong_updates(void **state)
{
    trs_mat m = seed5(), other = m;
    trs_plan *plan;
    double x[5];
    (void)state;
    assert_int_equal(trs_plan_create(&plan, &m, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    assert_int_equal(trs_plan_update(plan, NULL, NULL), TRS_EARG);
    other.nnz = 7;
    assert_int_equal(trs_plan_update(plan, &other, NULL), TRS_EARG);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b5, 5, x, 5, NULL), TRS_ESTATE);
    other = m, other.ptr = NULL, other.idx = NULL; /* the pattern is not looked at */
    assert_int_equal(trs_plan_update(plan, &other, NULL), TRS_OK);
    assert_int_equal(trs_solve(plan, TRS_N, 1, b5, 5, x, 5, NULL), TRS_OK);
    trs_plan_destroy(plan);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

typedef struct ledger {
    int64_t calls, fail_at, live;
} ledger;

static void *counted(void *user, size_t bytes)
{
    ledger *l = user;
    if (++l->calls == l->fail_at) return NULL;
    void *p = malloc(bytes);
    l->live += p != NULL;
    return p;
}

static void given_back(void *user, void *p)
{
    ledger *l = user;
    l->live -= p != NULL;
    free(p);
}

/* Every allocation fails once; nothing leaks, and a sentence is there. */
static void memory_fails(void **state)
{
    static const char *const solver[] = {NULL, "cpu-dense", "cpu-serial", "cpu-level"};
    (void)state;
    for (int k = 0; k < 8; k++) {
        const shape s = {.pattern = CHAIN,
                         .n = 40,
                         .format = k % 3 ? TRS_CSR : TRS_CSC,
                         .kind = TRS_UPPER,
                         .ptr_bits = 32,
                         .idx_bits = 32,
                         .shuffled = k % 2,
                         .seed = 9};
        triangle t = make_triangle(&s);
        int rc = TRS_EMEM;
        for (int64_t at = 1; rc == TRS_EMEM; at++) {
            ledger l = {.fail_at = at};
            const trs_options opt = {.solver = solver[k % 4],
                                     .ops = 7,
                                     .order = k > 3 ? TRS_ORDER_LEVEL : TRS_ORDER_AUTO,
                                     .memory = {counted, given_back, &l}};
            trs_plan *plan;
            rc = trs_plan_create(&plan, &t.mat, &opt);
            if (!rc) rc = trs_plan_analyse(plan);
            if (rc && plan) assert_non_null(strstr(trs_plan_message(plan), "memory"));
            trs_plan_destroy(plan);
            assert_int_equal(l.live, 0);
            assert_true(at < 1000);
        }
        assert_int_equal(rc, TRS_OK);
        free_triangle(&t);
    }
}

static void memory_limit(void **state)
{
    const shape s = {
        .pattern = BIDIAGONAL, .n = 200, .kind = TRS_LOWER, .ptr_bits = 64, .idx_bits = 32};
    triangle t = make_triangle(&s);
    trs_options opt = {.solver = "cpu-dense", .memory_limit = 200 * 200 * 8 - 1};
    trs_plan *plan;
    (void)state;
    assert_int_equal(trs_plan_create(&plan, &t.mat, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_EMEM);
    assert_non_null(strstr(trs_plan_message(plan), "limit"));
    trs_plan_destroy(plan);
    opt.memory_limit++;
    assert_int_equal(trs_plan_create(&plan, &t.mat, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    trs_plan_destroy(plan);
    free_triangle(&t);
}

/* ---- threads ----------------------------------------------------------------------------------------- */

enum { THREADS = 8, SOLVES = 20, ROWS = 500 };

typedef struct runner {
    const trs_plan *plan;
    double b[ROWS], x[ROWS], first[ROWS];
    int wrong;
} runner;

static void *run(void *p)
{
    runner *r = p;
    trs_work *work;
    if (trs_work_create(&work, r->plan, 1)) return r->wrong = 1, NULL;
    const trs_exec exec = {.work = work, .threads = 2};
    for (int k = 0; k < SOLVES; k++) {
        r->wrong |= trs_solve(r->plan, TRS_N, 1, r->b, ROWS, r->x, ROWS, &exec) != TRS_OK;
        if (k == 0) memcpy(r->first, r->x, sizeof r->x);
        r->wrong |= memcmp(r->first, r->x, sizeof r->x) != 0;
    }
    trs_work_destroy(work);
    return NULL;
}

/* One plan, eight threads, each with its own work space and right-hand side. */
static void shared_plan(void **state)
{
    const shape s = {
        .pattern = FULL, .n = ROWS, .kind = TRS_LOWER, .ptr_bits = 64, .idx_bits = 32, .seed = 4};
    triangle t = make_triangle(&s);
    trs_solver_info info;
    static runner r[THREADS];
    (void)state;
    for (int k = 0; trs_solver_get(k, &info) == TRS_OK; k++) {
        const trs_options opt = {.solver = info.name};
        pthread_t thread[THREADS];
        trs_plan *plan;
        if (!info.available || !(info.caps & TRS_CAP_BITWISE)) continue;
        if (trs_plan_create(&plan, &t.mat, &opt)) { /* not a solver of triangles */
            trs_plan_destroy(plan);
            continue;
        }
        assert_int_equal(trs_plan_analyse(plan), TRS_OK);
        for (int i = 0; i < THREADS; i++) {
            uint64_t seed = (uint64_t)i;
            r[i].plan = plan;
            for (int j = 0; j < ROWS; j++) r[i].b[j] = draw_number(&seed);
            assert_int_equal(pthread_create(&thread[i], NULL, run, &r[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            double omega, normwise;
            pthread_join(thread[i], NULL);
            assert_false(r[i].wrong);
            dense_error(&t, TRS_N, r[i].b, r[i].x, 1, &omega, &normwise);
            assert_at_most(normwise, ROWS * 0x1p-52, "%s", info.name);
        }
        trs_plan_destroy(plan);
    }
    free_triangle(&t);
}

/* trs_multiply and trs_backward_error against the full matrix. */
static void errors(void **state)
{
    (void)state;
    for (int c = 0; c < 60; c++) {
        const shape s = {.pattern = (pattern)(c % PATTERNS),
                         .n = 30,
                         .dtype = (trs_dtype)(c % 4),
                         .format = (trs_format)(c / 4 % 3),
                         .kind = (c % 2 ? TRS_LOWER : TRS_UPPER) | (c % 5 ? 0 : TRS_UNIT),
                         .base = c % 2,
                         .ptr_bits = c % 3 ? 64 : 32,
                         .idx_bits = c % 7 ? 32 : 64,
                         .shuffled = true,
                         .garbage = c % 3 == 0,
                         .seed = (uint64_t)c};
        const trs_op op = (trs_op)(c / 3 % 3);
        triangle t = make_triangle(&s);
        char x[30 * 16], y[30 * 16], one[16];
        uint64_t r = 7;
        double omega, normwise;
        trs_error e;
        for (int i = 0; i < 30; i++) put_number(x, s.dtype, i, draw_number(&r), draw_number(&r));
        assert_int_equal(trs_multiply(&t.mat, op, 1, x, 30, y, 30, TRS_COL_MAJOR), TRS_OK);
        dense_error(&t, op, y, x, 1, &omega, &normwise); /* y is op(A) x rounded once */
        assert_at_most(omega, 2 * eps_of(s.dtype), "case %d", c);
        get_number(y, s.dtype, 11, &omega, &normwise);
        put_number(one, s.dtype, 0, omega + 0.25, normwise);
        memcpy(y + 11 * size_of(s.dtype), one, size_of(s.dtype));
        assert_int_equal(trs_backward_error(&t.mat, op, 1, y, 30, x, 30, TRS_COL_MAJOR, &e),
                         TRS_OK);
        dense_error(&t, op, y, x, 1, &omega, &normwise);
        assert_int_equal(e.row, 11);
        assert_at_most(fabs(e.omega - omega), 1e-6 * omega, "case %d", c);
        assert_at_most(fabs(e.normwise - normwise), 1e-6 * normwise, "case %d", c);
        assert_at_most(fabs(e.residual - 0.25), 1e-6, "case %d", c);
        free_triangle(&t);
    }
}

static void strings(void **state)
{
    (void)state;
    for (int code = 0; code >= -11; code--) assert_true(strlen(trs_strerror(code)) > 5);
    assert_string_equal(trs_version(), PACKAGE_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_matrices), cmocka_unit_test(wrong_options),
        cmocka_unit_test(states),         cmocka_unit_test(wrong_solves),
        cmocka_unit_test(levels),         cmocka_unit_test(levels_of_random),
        cmocka_unit_test(pivots),         cmocka_unit_test(wrong_updates),
        cmocka_unit_test(memory_fails),   cmocka_unit_test(memory_limit),
        cmocka_unit_test(shared_plan),    cmocka_unit_test(errors),
        cmocka_unit_test(strings)};
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
