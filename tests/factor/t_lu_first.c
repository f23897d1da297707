/* t_lu_first.c: factors that wait in the library that made them, or in fronts.  Whoever asks for plans gets them; the first solves,
 * which need none, are more accurate than partial pivoting, whatever the type, layout and place of x; with `bitwise` all solves
 * have the same bits; and several threads may be the first to ask. */
#include "tests/common/counter.h"
#include "tests/common/full.h"
#include "tests/common/methods.h"
#include "tests/common/report.h"
#include "trisolve-suitesparse.h"

#include <pthread.h>

enum { SIDE = 24, N = SIDE * SIDE, NRHS = 2, FEW = 8, FEW_BY_FRONTS = 24 };

/* Those of methods.h, and before them pivots on the diagonal. */
static const char *method_at(int k)
{
    return k < 0 ? "static" : methods[k];
}

#ifdef HAVE_CHOLMOD
enum { FIRST = -1 };
#else
enum { FIRST = 0 };
#endif

typedef struct grid { /* of SIDE x SIDE nodes, by columns */
    int64_t ptr[N + 1];
    int32_t idx[5 * N];
    zz value[5 * N];
    char val[5 * N * sizeof(zz)];
    trs_mat m;
} grid;

/* What is between nodes i and j.  weak: the diagonal is small, so that pivots on it lose digits. */
static zz entry(int i, int j, bool c, bool definite, bool weak)
{
    const double size = 1 + 0.5 * sin(i + j);
    if (i == j) return weak ? 1e-4 * size : 8;
    if (definite && !c) return -size;
    if (definite) return size * CMPLX(1, i < j ? 0.5 : -0.5);
    if (i < j) return size * CMPLX(1, c ? 0.5 : 0);
    return size * CMPLX(-0.7, c ? 0.3 : 0);
}

static void make(grid *g, trs_dtype t, bool definite, bool weak)
{
    const bool c = t == TRS_C64 || t == TRS_C32;
    const int step[] = {-SIDE, -1, 0, 1, SIDE};
    int64_t q = 0;
    for (int j = 0; j < N; j++) {
        g->ptr[j] = q;
        for (int k = 0; k < 5; k++) {
            const int i = j + step[k];
            if (i < 0 || i >= N || (abs(step[k]) == 1 && i / SIDE != j / SIDE)) continue;
            g->idx[q] = i;
            g->value[q] = entry(i, j, c, definite, weak);
            set_value(g->val, t, q, g->value[q]);
            q++;
        }
    }
    g->ptr[N] = q;
    g->m =
        (trs_mat){.n = N, .nnz = q, .ptr_bits = 64, .idx_bits = 32, .format = TRS_CSC, .dtype = t};
    g->m.ptr = g->ptr, g->m.idx = g->idx, g->m.val = g->val;
}

/* The bits of an answer: x = op(A)^-1 (1, ..., 1). */
static void solve_ones(trs_lu *lu, trs_dtype t, zz *x)
{
    static zz b[N];
    for (int i = 0; i < N; i++) set_value(b, t, i, 1);
    memset(x, 0, N * sizeof *x);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
}

static void check_plans(const trs_lu *lu)
{
    trs_lu_info info;
    trs_mat L;
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_non_null(info.l);
    assert_true(info.nnz_l >= N && info.n == N && *info.library && *info.ordering);
    assert_int_equal(trs_lu_factors(lu, &L, NULL, NULL, NULL, NULL), TRS_OK);
    assert_true(L.n == N && L.nnz == info.nnz_l);
}

/* Asking for facts before a solve changes no bit of it, nor does a solve before another one. */
static void same_bits(void **state)
{
    (void)state;
    static grid g;
    static zz x[3][N];
    for (int k = FIRST; k < METHODS; k++)
        for (int c = 0; c < 2; c++) {
            const trs_dtype t = c ? TRS_C64 : TRS_F64;
            const trs_factor_options opt = {.method = method_at(k), .plan.bitwise = 1};
            trs_lu *lu[2];
            make(&g, t, !takes_any_matrix(method_at(k)), false);
            for (int a = 0; a < 2; a++) assert_int_equal(trs_factor(&lu[a], &g.m, &opt), TRS_OK);
            check_plans(lu[0]);
            solve_ones(lu[0], t, x[0]);
            solve_ones(lu[1], t, x[1]);
            solve_ones(lu[1], t, x[2]);
            assert_memory_equal(x[0], x[1], sizeof x[0]);
            assert_memory_equal(x[0], x[2], sizeof x[0]);
            for (int a = 0; a < 2; a++) trs_lu_destroy(lu[a]);
        }
}

/* Plans are made for the solve after the first few. */
static void plans_after_few(void **state)
{
    (void)state;
    static grid g;
    static zz first[N], x[N];
    for (int k = FIRST; k < METHODS; k++) {
        counter c = {.fail_at = -1};
        const trs_factor_options opt = {.method = method_at(k), .plan.memory = counted_memory(&c)};
        trs_lu *lu;
        make(&g, TRS_F64, !takes_any_matrix(method_at(k)), false);
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        trs_lu_info before, after;
        const long calls = c.calls;
        assert_int_equal(trs_lu_peek_info(lu, &before), TRS_OK);
        assert_true(!before.l && !before.u && before.n == N && *before.library);
        const int few = strcmp(before.library, "static pivots") ? FEW : FEW_BY_FRONTS;
        for (int i = 0; i < few; i++) {
            solve_ones(lu, TRS_F64, i ? x : first);
            if (i) assert_memory_equal(x, first, sizeof x);
        }
        assert_int_equal(c.calls, calls);
        solve_ones(lu, TRS_F64, x);
        assert_true(c.calls > calls);
        assert_int_equal(trs_lu_peek_info(lu, &after), TRS_OK);
        assert_non_null(after.l);
        assert_int_equal(after.nnz_l, before.nnz_l);
        assert_int_equal(after.nnz_u, before.nnz_u);
        for (int i = 0; i < N; i++)
            assert_true(cabs(get_value(x, TRS_F64, i) - get_value(first, TRS_F64, i)) < 1e-14);
        trs_lu_destroy(lu);
        assert_int_equal(c.live, 0);
    }
}

/* More than FEW columns at a time have plans from the first call on. */
static void plans_for_many_columns(void **state)
{
    (void)state;
    static grid g;
    static double b[(FEW + 1) * N], x[(FEW + 1) * N];
    for (int k = FIRST; k < METHODS; k++)
        for (int nrhs = FEW; nrhs <= FEW + 1; nrhs++) {
            const trs_factor_options opt = {.method = method_at(k)};
            trs_lu_info info;
            trs_lu *lu;
            make(&g, TRS_F64, !takes_any_matrix(method_at(k)), false);
            assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
            for (int i = 0; i < nrhs * N; i++) b[i] = 1;
            assert_int_equal(trs_lu_solve(lu, TRS_N, nrhs, b, N, x, N, NULL), TRS_OK);
            assert_int_equal(trs_lu_peek_info(lu, &info), TRS_OK);
            assert_int_equal(info.l != NULL, nrhs > FEW);
            trs_lu_destroy(lu);
        }
}

/* b = A y for small integers y, exactly if the numbers of A are few bits, as here after rounding them to single precision. */
static void round_values(grid *g, trs_dtype t)
{
    for (int64_t p = 0; p < g->m.nnz; p++) {
        const zz v = g->value[p];
        g->value[p] = (float)creal(v) + I * (float)cimag(v);
        set_value(g->val, t, p, g->value[p]);
    }
}

static void fill_sides(const grid *g, trs_dtype t, bool rows, zz *y, zz *b)
{
    for (int r = 0; r < NRHS; r++) {
        zz sum[N] = {0};
        for (int j = 0; j < N; j++) {
            y[j + N * r] = 1 + (j * 7 + r) % 5;
            for (int64_t p = g->ptr[j]; p < g->ptr[j + 1]; p++)
                sum[g->idx[p]] += g->value[p] * y[j + N * r];
        }
        for (int i = 0; i < N; i++) set_value(b, t, rows ? i * NRHS + r : i + N * r, sum[i]);
    }
}

/* The error of an announced solve in place, in units of the last place: b is exact, so y is the solution. */
static double error_of(grid *g, const char *method, trs_dtype t, bool rows)
{
    static zz y[N * NRHS], b[N * NRHS];
    const bool single = t == TRS_F32 || t == TRS_C32;
    const trs_factor_options opt = {.method = method, .plan = {.solves = 1}};
    const trs_exec exec = {.layout = rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR};
    const int ld = rows ? NRHS : N;
    double worst = 0;
    trs_lu *lu;
    fill_sides(g, t, rows, y, b);
    assert_int_equal(trs_factor(&lu, &g->m, &opt), TRS_OK);
    assert_int_equal(trs_lu_solve(lu, TRS_N, NRHS, b, ld, b, ld, &exec), TRS_OK);
    for (int r = 0; r < NRHS; r++)
        for (int i = 0; i < N; i++) {
            const zz x = get_value(b, t, rows ? i * NRHS + r : i + N * r);
            worst = larger(worst, cabs(x - y[i + N * r]) / 5);
        }
    check_plans(lu);
    trs_lu_destroy(lu);
    return worst / (single ? FLT_EPSILON : DBL_EPSILON);
}

/* The growth of a weak diagonal, which would be in the error of a plain solve, is not in this one. */
static void accurate(void **state)
{
    (void)state;
    static grid g;
    static const trs_dtype types[] = {TRS_F64, TRS_C64, TRS_F32, TRS_C32};
    for (int k = FIRST; k < METHODS; k++)
        for (int t = 0; t < 4; t++)
            for (int weak = 0; weak < 2; weak++) {
                if (weak && (t > 1 || k < 0 || !takes_any_matrix(method_at(k)))) continue;
                make(&g, types[t], !takes_any_matrix(method_at(k)), weak);
                round_values(&g, types[t]);
                for (int rows = 0; rows < 2; rows++) {
                    const double error = error_of(&g, method_at(k), types[t], rows);
                    print_message("%s, type %d%s: %.2g eps\n", method_at(k), (int)types[t],
                                  weak ? ", weak diagonal" : "", error);
                    /* the rounding of b is in x when it is not in double precision */
                    assert_true(error < (t < 2 ? 10 : 100));
                }
            }
}

/* First solves that are not the last ones, announced or not: others, ops, updates. */
static void more_solves(void **state)
{
    (void)state;
    static grid g;
    static zz first[N], x[N], other[N];
    for (int k = 2 * FIRST; k < 2 * METHODS; k++) {
        const char *method = method_at(k >> 1);
        const trs_factor_options opt = {.method = method, .plan = {.solves = k & 1, .ops = 7}};
        trs_error e;
        static zz b[N];
        trs_lu *lu;
        make(&g, TRS_F64, !takes_any_matrix(method), false);
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        solve_ones(lu, TRS_F64, first);
        for (int i = 0; i < 20; i++) solve_ones(lu, TRS_F64, x);
        for (int i = 0; i < N; i++)
            assert_true(cabs(get_value(x, TRS_F64, i) - get_value(first, TRS_F64, i)) < 1e-12);
        for (int64_t p = 0; p < g.m.nnz; p++) ((double *)g.val)[p] *= 2;
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        solve_ones(lu, TRS_F64, other);
        for (int i = 0; i < N; i++)
            assert_true(cabs(2 * get_value(other, TRS_F64, i) - get_value(first, TRS_F64, i)) <
                        1e-12);
        trs_lu_destroy(lu);
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        for (int64_t p = 0; p < g.m.nnz; p++) ((double *)g.val)[p] *= 2;
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK); /* while they wait */
        for (trs_op op = TRS_N; op <= TRS_H; op++) {
            for (int i = 0; i < N; i++) set_value(b, TRS_F64, i, 1);
            assert_int_equal(trs_lu_solve(lu, op, 1, b, N, x, N, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&g.m, op, 1, b, N, x, N, TRS_COL_MAJOR, &e),
                             TRS_OK);
            assert_true(e.omega < 1e-14);
        }
        check_plans(lu);
        trs_lu_destroy(lu);
    }
}

/* op(A) x = b for all ops, without plans, with numbers of all types that the library has: x is known, and b is exact. */
static void all_ops(void **state)
{
    (void)state;
    static grid g;
    static zz y[N], b[N];
    for (int k = 2 * FIRST; k < 2 * METHODS; k++) {
        const trs_dtype t = k & 1 ? TRS_C64 : TRS_F64;
        const trs_factor_options opt = {.method = method_at(k >> 1), .plan.ops = 7};
        trs_lu_info info;
        trs_lu *lu;
        make(&g, t, !takes_any_matrix(method_at(k >> 1)), false);
        round_values(&g, t);
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        for (trs_op op = TRS_N; op <= TRS_H; op++) {
            zz sum[N] = {0};
            for (int j = 0; j < N; j++) y[j] = 1 + j * 7 % 5;
            for (int j = 0; j < N; j++)
                for (int64_t p = g.ptr[j]; p < g.ptr[j + 1]; p++) {
                    const zz v = op == TRS_H ? conj(g.value[p]) : g.value[p];
                    const int i = g.idx[p];
                    sum[op == TRS_N ? i : j] += v * y[op == TRS_N ? j : i];
                }
            for (int i = 0; i < N; i++) set_value(b, t, i, sum[i]);
            assert_int_equal(trs_lu_solve(lu, op, 1, b, N, b, N, NULL), TRS_OK);
            for (int i = 0; i < N; i++)
                assert_true(cabs(get_value(b, t, i) - y[i]) < 50 * DBL_EPSILON);
        }
        assert_int_equal(trs_lu_peek_info(lu, &info), TRS_OK);
        /* conj (A) of complex L L^H is for plans */
        assert_true(!info.l || (k & 1 && !takes_any_matrix(method_at(k >> 1))));
        trs_lu_destroy(lu);
    }
}

/* ---- several threads ask first -------------------------------------------------------------- */

typedef struct asker {
    trs_lu *lu;
    bool own; /* in the work space of the factors */
    double x[N];
    int rc;
} asker;

static void *ask(void *data)
{
    asker *a = data;
    trs_lu_work *work = NULL;
    double b[N];
    for (int i = 0; i < N; i++) b[i] = 1;
    a->rc = a->own ? TRS_OK : trs_lu_work_create(&work, a->lu, 1);
    const trs_exec exec = {.lu_work = work};
    if (!a->rc) a->rc = trs_lu_solve(a->lu, TRS_N, 1, b, N, a->x, N, &exec);
    trs_lu_work_destroy(work);
    return NULL;
}

static void check_askers(const asker *a, int count, const grid *g)
{
    double b[N];
    trs_error e;
    for (int i = 0; i < N; i++) b[i] = 1;
    for (int k = 0; k < count; k++) {
        assert_int_equal(a[k].rc, TRS_OK);
        assert_int_equal(trs_backward_error(&g->m, TRS_N, 1, b, N, a[k].x, N, TRS_COL_MAJOR, &e),
                         TRS_OK);
        assert_true(e.omega < 1e-14);
    }
}

static void threads(void **state)
{
    (void)state;
    static grid g;
    enum { THREADS = 4 };
    static asker a[THREADS];
    for (int k = FIRST; k < METHODS; k++)
        for (int round = 0; round < 50; round++) {
            const trs_factor_options opt = {.method = method_at(k), .plan = {.solves = round & 1}};
            pthread_t thread[THREADS];
            trs_lu *lu;
            make(&g, TRS_F64, !takes_any_matrix(method_at(k)), false);
            assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
            for (int t = 0; t < THREADS; t++) {
                a[t] = (asker){.lu = lu, .own = t == THREADS - 1};
                assert_int_equal(pthread_create(&thread[t], NULL, ask, &a[t]), 0);
            }
            for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_join(thread[t], NULL), 0);
            check_askers(a, THREADS, &g);
            check_plans(lu);
            trs_lu_destroy(lu);
        }
}

/* ---- without memory ------------------------------------------------------------------------- */

/* A solve with factors that cannot settle is done by the library all the same. */
static void out_of_memory(void **state)
{
    (void)state;
    static grid g;
    static zz b[N], x[N];
    for (int k = FIRST; k < METHODS; k++) {
        bool refused = true;
        int solved = 0;
        make(&g, TRS_F64, !takes_any_matrix(method_at(k)), false);
        for (int allowed = 0; refused; allowed++) {
            counter c = {.fail_at = allowed};
            const trs_factor_options opt = {.method = method_at(k),
                                            .plan = {.memory = counted_memory(&c)}};
            trs_error e;
            trs_lu_info info;
            trs_lu *lu;
            int rc = trs_factor(&lu, &g.m, &opt);
            assert_true(rc == TRS_OK || rc == TRS_EMEM);
            if (!rc) {
                solve_ones(lu, TRS_F64, x);
                for (int i = 0; i < N; i++) set_value(b, TRS_F64, i, 1);
                assert_int_equal(trs_backward_error(&g.m, TRS_N, 1, b, N, x, N, TRS_COL_MAJOR, &e),
                                 TRS_OK);
                assert_true(e.omega < 1e-14);
                solved++;
                rc = trs_lu_get_info(lu, &info);
                assert_true(rc == TRS_OK || rc == TRS_EMEM);
            }
            trs_lu_destroy(lu);
            refused = was_refused(&c);
            assert_int_equal(c.live, 0);
        }
        print_message("%s: %d solves\n", method_at(k), solved);
        assert_true(solved > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),       cmocka_unit_test(all_ops),
        cmocka_unit_test(accurate),        cmocka_unit_test(more_solves),
        cmocka_unit_test(threads),         cmocka_unit_test(out_of_memory),
        cmocka_unit_test(plans_after_few), cmocka_unit_test(plans_for_many_columns),
    };
    return cmocka_run_group_tests_name("lu_first", tests, NULL, NULL);
}
