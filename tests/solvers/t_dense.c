/* t_dense.c: every dense solver of both families: random, identity, permuted, Hilbert-like and
 * growth-prone matrices, the sizes at which blocks begin and end, several right-hand sides, both
 * triangles, N, T, H, four types.  Residuals are accumulated in long double and printed. */
#include "config.h"

#include "tests/common/counter.h"
#include "tests/common/report.h"

#include "core/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

/* ---- numbers -------------------------------------------------------------------------------------- */

static double next_random(void) /* in -1 .. 1 */
{
    static uint64_t z = 7;
    z = z * 6364136223846793005u + 1442695040888963407u;
    return (double)(z >> 11) / 4503599627370496.0 - 1;
}

static void put(void *a, trs_dtype t, int64_t k, double re, double im)
{
    if (t == TRS_F64) ((double *)a)[k] = re;
    if (t == TRS_F32) ((float *)a)[k] = (float)re;
    if (t == TRS_C64) ((double *)a)[2 * k] = re, ((double *)a)[2 * k + 1] = im;
    if (t == TRS_C32) ((float *)a)[2 * k] = (float)re, ((float *)a)[2 * k + 1] = (float)im;
}

static double eps_of(trs_dtype t)
{
    return t == TRS_F64 || t == TRS_C64 ? 1.1102230246251565e-16 : 5.9604644775390625e-8;
}

typedef enum kind {
    RANDOM, /* diagonal about 2, rows of size 1 */
    IDENTITY,
    STEEP,   /* a run of 2.5 beside the diagonal: its inverse grows as 1.7^k */
    HILBERT, /* 1 / (i + j + 1), and 1 on the diagonal more */
    SHIFTED, /* a permuted identity: needs row exchanges */
    GROWTH,  /* Wilkinson's: the last column doubles in every step, kept to 12 of them */
    SEED,    /* 16x16 of ones on the diagonal, as in the seed's example */
    EVEN,    /* -1 .. 1 everywhere: for solvers that exchange rows */
    STEEPER, /* Hilbert's own, 1 / (i + j + 1): the same */
    LINKED,  /* four blocks of 64 in a row, by 30: each may be inverted, not all together */
} kind;

static double element(kind k, int64_t n, int64_t i, int64_t j)
{
    switch (k) {
    case RANDOM:
        return i == j ? 2 + 0.5 * next_random() : 1.5 * next_random() / (double)n;
    case IDENTITY:
        return i == j;
    case STEEP:
        if (i == j) return 1.5;
        if ((i == j + 1 && j < 30) || (j == i + 1 && i < 30)) return 2.5;
        return 0.1 * next_random() / (double)n;
    case HILBERT:
        return 1.0 / (double)(i + j + 1) + (i == j);
    case SHIFTED:
        return i == (j + 1) % n;
    case GROWTH:
        if (i == j || j == n - 1) return 1;
        return i > j && j < 12 ? -1 : 0;
    case EVEN:
        return next_random();
    case STEEPER:
        return 1.0 / (double)(i + j + 1);
    case LINKED:
        if ((i == j + 64 && i / 64 % 4) || (j == i + 64 && j / 64 % 4)) return 30;
        return i == j ? 1 : 0.1 * next_random() / (double)n;
    default:
        return i == j ? 1 : (double)((i * 7 + j * 3) % 5 - 2) / 16;
    }
}

static void *new_matrix(kind k, trs_dtype t, int64_t n)
{
    char *A = malloc((size_t)(n * n) * trs_size(t));
    assert_non_null(A);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            put(A, t, i + j * n, element(k, n, i, j),
                k == RANDOM ? 0.5 * next_random() / (double)n : 0);
    return A;
}

static void *new_vectors(trs_dtype t, int64_t count)
{
    void *B = malloc((size_t)count * trs_size(t));
    assert_non_null(B);
    for (int64_t k = 0; k < count; k++) put(B, t, k, next_random(), next_random());
    return B;
}

/* ---- one plan, solved and measured ------------------------------------------------------------------ */

typedef struct cell {
    const trs_solver *solver;
    kind kind;
    trs_dtype t;
    int64_t n;
    int nrhs;
    unsigned triangle; /* TRS_LOWER, TRS_UPPER, or 0: general */
    trs_op op;
    trs_layout layout;
    bool in_place;
} cell;

static const char *name_of(const cell *c)
{
    static char text[160];
    snprintf(text, sizeof text, "%s kind %d %s n %d nrhs %d triangle %u op %s %s", c->solver->name,
             (int)c->kind, type_name[c->t], (int)c->n, c->nrhs, c->triangle, op_name[c->op],
             layout_name[c->layout]);
    return text;
}

/* Is the error as small as the solver's class promises? */
static void check_error(const cell *c, const trs_plan *p, const trs_error *e)
{
    const double eps = eps_of(c->t), n = (double)c->n;
    trs_info info;
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    if (c->kind == GROWTH && info.growth < 4096) info.growth = 4096; /* the vendors do not say */
    const double omega = 4 * (n + 1) * eps;
    const double normwise = 20 * (n + 1) * eps * (1 + info.growth);
    if (c->solver->accuracy == TRS_SUBSTITUTION && !(e->omega <= omega))
        fail_msg("%s: omega %g, bound %g", name_of(c), e->omega, omega);
    if (!(e->normwise <= normwise))
        fail_msg("%s: normwise %g, bound %g (growth %g)", name_of(c), e->normwise, normwise,
                 info.growth);
}

/* The same with a row more from column to column than there are. */
static void *padded(void *A, trs_dtype t, int64_t n)
{
    const size_t size = trs_size(t), column = (size_t)n * size;
    char *wide = calloc((size_t)n, column + size);
    assert_non_null(wide);
    for (size_t j = 0; j < (size_t)n; j++)
        memcpy(wide + j * (column + size), (char *)A + j * column, column);
    free(A);
    return wide;
}

/* New values from an array on the device. */
static int update_from_device(trs_plan *p, const trs_mat *m)
{
    const size_t bytes = (size_t)trs_value_count(m) * trs_size(m->dtype);
    trs_mat there = *m;
    void *val;
    there.device = TRS_CUDA(0);
    assert_int_equal(trs_device_new(there.device, bytes, &val), TRS_OK);
    assert_int_equal(trs_device_put(there.device, val, m->val, bytes), TRS_OK);
    there.val = val;
    int rc = trs_plan_update(p, &there, NULL);
    trs_device_free(there.device, val);
    return rc;
}

/* Solve twice, on a device three times, in place once; each x has to be as accurate as the solver promises. */
static int solve_and_check(const cell *c, trs_plan *p, const trs_mat *m, const void *B, void *X,
                           double *worst)
{
    const trs_exec exec = {.layout = c->layout};
    const int64_t ld = c->layout == TRS_ROW_MAJOR ? c->nrhs : c->n;
    trs_error e = {0};
    int rc = TRS_OK, turns = c->solver->place == TRS_ON_CUDA ? 3 : 2;
    if (c->in_place) turns = 1;
    for (int turn = 0; turn < turns && !rc; turn++) {
        rc = trs_solve(p, c->op, c->nrhs, c->in_place ? X : B, ld, X, ld, &exec);
        if (!rc) rc = trs_backward_error(m, c->op, c->nrhs, B, ld, X, ld, c->layout, &e);
        if (!rc) check_error(c, p, &e);
        *worst = larger(*worst, e.normwise / eps_of(c->t));
    }
    return rc;
}

static void check_refusal(const cell *c, int rc)
{
    if (rc == TRS_EPIVOT && !strstr(trs_message(), "row "))
        fail_msg("%s: a pivot without its row: %s", name_of(c), trs_message());
    else if (rc && rc != TRS_EPIVOT && rc != TRS_ESUPPORT)
        fail_msg("%s: %d, %s", name_of(c), rc, trs_message());
}

/* CUDA solvers get every other matrix from the device, after the identity. */
static int try(const cell *c, double *worst)
{
    const size_t size = trs_size(c->t), bytes = (size_t)c->n * (size_t)c->nrhs * size;
    const bool there = c->solver->place == TRS_ON_CUDA && c->nrhs % 2;
    void *A = padded(new_matrix(c->kind, c->t, c->n), c->t, c->n);
    void *one = there ? padded(new_matrix(IDENTITY, c->t, c->n), c->t, c->n) : NULL;
    void *B = new_vectors(c->t, c->n * c->nrhs), *X = malloc(bytes);
    const trs_mat m = {.n = c->n,
                       .val = A,
                       .ld = c->n + 1,
                       .dtype = c->t,
                       .format = TRS_DENSE,
                       .kind = c->triangle};
    trs_mat first = m;
    if (there) first.val = one;
    counter memory = {.fail_at = -1};
    const trs_options o = {.solver = c->solver->name,
                           .ops = 1u << c->op,
                           .nrhs = c->nrhs,
                           .layout = c->layout,
                           .device_memory = counted_device_memory(&memory)};
    trs_plan *p;
    int rc = trs_plan_create(&p, &first, &o);
    if (!rc) rc = trs_plan_analyse(p);
    if (!rc && there) rc = update_from_device(p, &m);
    if (c->in_place) memcpy(X, B, bytes);
    else memset(X, 0xff, bytes);
    if (!rc) rc = solve_and_check(c, p, &m, B, X, worst);
    check_refusal(c, rc);
    trs_plan_destroy(p);
    assert_int_equal(memory.live, 0);
    free(A);
    free(one);
    free(B);
    free(X);
    return rc;
}

/* Dense solvers of a family that can run here. */
static bool is_tested(const trs_solver *s, trs_family family)
{
    char why[200];
    return s->family == family && s->full && trs_solver_available(s, 0, why, sizeof why);
}

/* ---- triangles ---------------------------------------------------------------------------------------- */

static const int64_t sizes[] = {1, 2, 31, 33, 64, 65, 130, 300, 1000};
enum { SIZES = sizeof sizes / sizeof sizes[0], FEW = 6 };

/* TRS_FEW: for runs under tools that slow kernels down a hundred times */
static int how_many(void)
{
    return getenv("TRS_FEW") ? FEW : SIZES;
}

static void over_triangles(kind k, const int *counts, int ncounts, int first, int last)
{
    for (int s = 0; trs_solver_at(s); s++) {
        const trs_solver *solver = trs_solver_at(s);
        double worst = 0;
        if (!is_tested(solver, TRS_TRIANGLE)) continue;
        for (int a = first; a < last; a++)
            for (int v = 0; v < 24; v += case_step())
                for (int r = 0; r < ncounts; r++) {
                    cell c = {.solver = solver, .kind = k, .n = sizes[a], .nrhs = counts[r]};
                    c.t = (trs_dtype)(v % 4);
                    c.triangle = v / 4 % 2 ? TRS_UPPER : TRS_LOWER;
                    c.op = (trs_op)(v / 8);
                    c.in_place = v % 3 == 1;
                    if (solver->caps & TRS_CAP_ROW_MAJOR)
                        c.layout = v % 5 == 2 ? TRS_ROW_MAJOR : TRS_COL_MAJOR;
                    if (c.n > 300 && (v > 3 || (c.nrhs > 3 && solver->place == TRS_ON_CPU)))
                        continue;
                    assert_int_equal(try(&c, &worst), TRS_OK);
                }
        print_message("# %-22s kind %d: normwise <= %.3g eps\n", solver->name, (int)k, worst);
    }
}

static void random_triangles(void **state)
{
    (void)state;
    over_triangles(RANDOM, (const int[]){1, 3, 32}, 3, 0, how_many());
}

static void many_right_hand_sides(void **state)
{
    (void)state;
    over_triangles(RANDOM, (const int[]){8, 64, 100}, 3, 3, 6);
}

static void identities(void **state)
{
    (void)state;
    over_triangles(IDENTITY, (const int[]){3}, 1, 0, 7);
}

static void steep_triangles(void **state) /* diagonal blocks that must not be inverted */
{
    (void)state;
    over_triangles(STEEP, (const int[]){1, 8}, 2, 3, 7);
}

/* More rows than an H200 has room for at a time; those of the upper one that are steep come last. */
static void large_triangles(void **state)
{
    const int64_t n = 4300;
    (void)state;
    for (int s = 0; trs_solver_at(s); s++) {
        const trs_solver *solver = trs_solver_at(s);
        double worst = 0;
        if (!is_tested(solver, TRS_TRIANGLE) || solver->place != TRS_ON_CUDA) continue;
        for (int v = 0; v < 2; v++) {
            const cell c = {.solver = solver,
                            .kind = v ? STEEP : LINKED,
                            .t = v ? TRS_F32 : TRS_F64,
                            .n = n,
                            .triangle = v ? TRS_UPPER : TRS_LOWER,
                            .nrhs = 1};
            assert_int_equal(try(&c, &worst), TRS_OK);
        }
        print_message("# %-22s n 4300: normwise <= %.3g eps\n", solver->name, worst);
    }
}

static void linked_triangles(void **state)
{
    (void)state;
    over_triangles(LINKED, (const int[]){1, 8}, 2, 5, 8);
}

static void the_seeds_example(void **state)
{
    double worst = 0;
    (void)state;
    for (int s = 0; trs_solver_at(s); s++)
        if (is_tested(trs_solver_at(s), TRS_TRIANGLE)) {
            const cell c = {trs_solver_at(s), SEED,  TRS_F64,       16,   1,
                            TRS_LOWER,        TRS_N, TRS_COL_MAJOR, false};
            assert_int_equal(try(&c, &worst), TRS_OK);
        }
}

/* ---- general matrices ----------------------------------------------------------------------------------- */

/* Number 0..11: a type, an op, and one right-hand side or three. */
static cell general_cell(const trs_solver *s, kind k, int64_t n, int number)
{
    return (cell){.solver = s,
                  .kind = k,
                  .t = (trs_dtype)(number % 4),
                  .n = n,
                  .nrhs = number % 2 ? 3 : 1,
                  .op = (trs_op)(number / 4)};
}

static bool is_general_tested(const trs_solver *s, kind k)
{
    return is_tested(s, TRS_GENERAL_DENSE) && (k != EVEN || s->caps & TRS_CAP_PIVOTS);
}

static void over_general(kind k, int first, int last)
{
    for (int s = 0; trs_solver_at(s); s++) {
        const trs_solver *solver = trs_solver_at(s);
        double worst = 0;
        unsigned done = 0, refused = 0; /* types */
        if (!is_general_tested(solver, k)) continue;
        for (int a = first; a < last; a++)
            for (int v = 0; v < 12; v++) {
                const cell c = general_cell(solver, k, sizes[a], v);
                if (c.n > 300 && v > 1) continue;
                const bool pivots = solver->caps & TRS_CAP_PIVOTS || k != SHIFTED || c.n == 1;
                const int rc = try(&c, &worst);
                *(rc == TRS_ESUPPORT ? &refused : &done) |= 1u << c.t;
                if (rc == TRS_ESUPPORT) continue;
                if (rc != (pivots ? TRS_OK : TRS_EPIVOT)) fail_msg("%s: %d", name_of(&c), rc);
            }
        assert_true(done && !(done & refused)); /* a type is solved or refused, whatever the size */
        print_message("# %-22s kind %d: normwise <= %.3g eps\n", solver->name, (int)k, worst);
    }
}

static void random_general(void **state)
{
    (void)state;
    over_general(RANDOM, 0, how_many());
    over_general(EVEN, 0, how_many());
}

static void hilbert_general(void **state)
{
    (void)state;
    over_general(HILBERT, 0, 7);
}

static void growth_general(void **state)
{
    (void)state;
    over_general(GROWTH, 2, 7);
}

static void permuted_general(void **state)
{
    (void)state;
    over_general(IDENTITY, 0, 6);
    over_general(SHIFTED, 0, 6);
}

/* The pivot of the diagonal matrix whose number `bad` is v, the others 2, is refused, and its row is named. */
static void refuse_pivot(const trs_solver *s, trs_dtype t, int bad, double re, double im)
{
    enum { N = 3 };
    double A[2 * N * N] = {0};
    char row[20];
    trs_plan *p;
    for (int k = 0; k < N; k++) put(A, t, k * (N + 1), 2, 0);
    put(A, t, bad * (N + 1), re, im);
    snprintf(row, sizeof row, "row %d", bad + 1);
    const trs_mat m = {.n = N, .val = A, .ld = N, .base = 1, .dtype = t, .format = TRS_DENSE};
    assert_int_equal(trs_plan_create(&p, &m, &(trs_options){.solver = s->name}), TRS_OK);
    const int rc = trs_plan_analyse(p);
    if (rc != TRS_ESUPPORT && (rc != TRS_EPIVOT || !strstr(trs_message(), row)))
        fail_msg("%s %s: %g + %g i in %s gives %d, %s", s->name, type_name[t], re, im, row, rc,
                 trs_message());
    trs_plan_destroy(p);
}

/* Zero, and what is not finite, which LAPACK and cuSOLVER do not look for; the last pivot, too. */
static void bad_pivots(void **state)
{
    (void)state;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (!is_tested(s, TRS_GENERAL_DENSE)) continue;
        for (int v = 0; v < 12; v++) {
            const trs_dtype t = (trs_dtype)(v % 4);
            refuse_pivot(s, t, v / 4, 0, 0);
            refuse_pivot(s, t, v / 4, NAN, 0);
            refuse_pivot(s, t, v / 4, -INFINITY, 0);
            if (t == TRS_C64 || t == TRS_C32) refuse_pivot(s, t, v / 4, 2, NAN);
        }
    }
}

/* An infinity, and a zero after it or before, where nothing becomes NaN: the message has the first. */
static void first_of_two_bad_pivots(void **state)
{
    (void)state;
    const double A[2][9] = {{1, 0, 0, 0, INFINITY, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0, INFINITY}};
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->place != TRS_ON_CPU || !is_tested(s, TRS_GENERAL_DENSE)) continue;
        for (int v = 0; v < 2; v++) {
            const trs_mat m = {.n = 3, .val = A[v], .ld = 3, .format = TRS_DENSE, .base = 1};
            trs_plan *p;
            assert_int_equal(trs_plan_create(&p, &m, &(trs_options){.solver = s->name}), TRS_OK);
            assert_int_equal(trs_plan_analyse(p), TRS_EPIVOT);
            assert_non_null(strstr(trs_message(), "row 2"));
            trs_plan_destroy(p);
        }
    }
}

static void automatic_choice(void **state)
{
    const double A[4] = {0, 1, 1, 0}, b[2] = {3, 5};
    const trs_mat m = {.n = 2, .val = A, .ld = 2, .format = TRS_DENSE};
    double x[2];
    trs_plan *p;
    trs_info info;
    (void)state;
    assert_int_equal(trs_plan_create(&p, &m, NULL), TRS_OK);
    int rc = trs_plan_analyse(p);
    if (rc != TRS_ESUPPORT) { /* a build with neither LAPACK nor a GPU */
        assert_int_equal(rc, TRS_OK);
        assert_int_equal(trs_solve(p, TRS_N, 1, b, 2, x, 2, NULL), TRS_OK);
        assert_true(x[0] == 5 && x[1] == 3);
        assert_int_equal(trs_plan_info(p, &info), TRS_OK);
        assert_int_equal(info.levels, 2);
        print_message("# %s: %s\n", info.solver, info.reason);
    }
    trs_plan_destroy(p);
}

/* B and X there: cusolver-getrf, whatever the size. */
static void automatic_choice_on_a_device(void **state)
{
    const int64_t n = 70;
    const size_t bytes = (size_t)n * sizeof(double);
    const int device = TRS_CUDA(0);
    char why[200];
    void *there = NULL;
    (void)state;
    if (!trs_solver_named("cusolver-getrf") ||
        !trs_solver_available(trs_solver_named("cusolver-getrf"), 0, why, sizeof why))
        skip();
    double *A = new_matrix(SHIFTED, TRS_F64, n), *b = new_vectors(TRS_F64, n), *x = malloc(bytes);
    const trs_mat m = {.n = n, .val = A, .ld = n, .format = TRS_DENSE};
    trs_plan *p;
    trs_info info;
    assert_non_null(x);
    assert_int_equal(trs_device_new(device, bytes, &there), TRS_OK);
    assert_int_equal(trs_device_put(device, there, b, bytes), TRS_OK);
    assert_int_equal(trs_plan_create(&p, &m, &(trs_options){.device = device}), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, there, n, there, n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(device, x, there, bytes), TRS_OK);
    for (int64_t j = 0; j < n; j++) assert_true(x[j] == b[(j + 1) % n]);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_string_equal(info.solver, "cusolver-getrf");
    trs_plan_destroy(p);
    trs_device_free(device, there);
    free(A);
    free(b);
    free(x);
}

static void a_singular_matrix_can_be_updated(void **state)
{
    const double zero[4] = {0}, good[4] = {2, 0, 0, 4}, b[2] = {2, 4};
    trs_mat m = {.n = 2, .val = zero, .ld = 2, .format = TRS_DENSE};
    double x[2];
    trs_plan *p;
    (void)state;
    assert_int_equal(trs_plan_create(&p, &m, &(trs_options){.solver = "lu-serial"}), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_EPIVOT);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, 2, x, 2, NULL), TRS_ESTATE);
    m.val = good;
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, 2, x, 2, NULL), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 1);
    trs_plan_destroy(p);
}

/* max abs (A C - I) */
static double from_identity(int64_t n, const double *A, const double *C)
{
    double most = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double sum = i == j ? -1 : 0;
            for (int64_t k = 0; k < n; k++) sum += A[i + k * n] * C[k + j * n];
            most = larger(most, fabs(sum));
        }
    return most;
}

/* A X = I and A' X = I: the columns of the inverse are so many right-hand sides. */
static void inverses(void **state)
{
    const int64_t n = 40;
    double *C = new_vectors(TRS_F64, n * n), *E = new_matrix(IDENTITY, TRS_F64, n);
    (void)state;
    for (int s = 0; trs_solver_at(s); s++)
        for (int v = 0; v < 4; v++) {
            const trs_solver *solver = trs_solver_at(s);
            const bool pivots = solver->caps & TRS_CAP_PIVOTS;
            const trs_op op = v / 2 ? TRS_T : TRS_N;
            const trs_options opt = {.solver = solver->name, .ops = 1u << op, .nrhs = 7};
            if (!is_tested(solver, TRS_GENERAL_DENSE)) continue;
            double *A = new_matrix(v % 2 && pivots ? EVEN : RANDOM, TRS_F64, n);
            const trs_mat m = {.n = n, .val = A, .ld = n, .format = TRS_DENSE};
            trs_plan *p;
            assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
            const int rc = trs_plan_analyse(p);
            if (rc != TRS_ESUPPORT) { /* it may solve in single precision only */
                assert_int_equal(rc, TRS_OK);
                assert_int_equal(trs_solve(p, op, (int)n, E, n, C, n, NULL), TRS_OK);
                for (int64_t j = 0; j < n && op == TRS_T; j++) /* inv (A') is inv (A)' */
                    for (int64_t i = 0; i < j; i++) {
                        const double c = C[i + j * n];
                        C[i + j * n] = C[j + i * n];
                        C[j + i * n] = c;
                    }
                const double apart = from_identity(n, A, C);
                print_message("# %-22s max |A inv (A) - I| = %.3g\n", solver->name, apart);
                assert_true(apart < (v % 2 ? 1e-10 : 1e-13));
            }
            trs_plan_destroy(p);
            free(A);
        }
    free(C);
    free(E);
}

#ifdef HAVE_LAPACKE

/* A general system solved by the solver and by LAPACKE_dgesv: as near as the condition allows? */
static void compare(const trs_solver *solver, kind k, trs_dtype t, int64_t n, double *worst)
{
    void *A = new_matrix(k, t, n), *b = new_vectors(t, n), *x = new_vectors(t, n);
    double *F = new_vectors(TRS_F64, n * n), *y = new_vectors(TRS_F64, n);
    lapack_int *pivot = malloc((size_t)n * sizeof *pivot), m = (lapack_int)n;
    const trs_mat mat = {.n = n, .val = A, .ld = n, .dtype = t, .format = TRS_DENSE};
    double rcond = 0, difference = 0, size = 0;
    trs_plan *p;
    trs_info info;
    assert_non_null(pivot);
    for (int64_t e = 0; e < n * n; e++) F[e] = t == TRS_F32 ? ((float *)A)[e] : ((double *)A)[e];
    for (int64_t e = 0; e < n; e++) y[e] = t == TRS_F32 ? ((float *)b)[e] : ((double *)b)[e];
    const double norm = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', m, m, F, m);
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, m, 1, F, m, pivot, y, m), 0);
    assert_int_equal(LAPACKE_dgecon(LAPACK_COL_MAJOR, '1', m, F, m, norm, &rcond), 0);
    assert_int_equal(trs_plan_create(&p, &mat, &(trs_options){.solver = solver->name}), TRS_OK);
    int rc = trs_plan_analyse(p);
    if (!rc) rc = trs_solve(p, TRS_N, 1, b, n, x, n, NULL);
    if (rc != TRS_ESUPPORT) {
        assert_int_equal(rc, TRS_OK);
        assert_int_equal(trs_plan_info(p, &info), TRS_OK);
        for (int64_t e = 0; e < n; e++) {
            difference += fabs((t == TRS_F32 ? ((float *)x)[e] : ((double *)x)[e]) - y[e]);
            size += fabs(y[e]);
        }
        const double unit = eps_of(t) * (1 + info.growth) / rcond, q = difference / size / unit;
        if (!(q <= 20 * (double)(n + 1)))
            fail_msg("%s kind %d %s n %d: %g from LAPACK, condition %g", solver->name, (int)k,
                     type_name[t], (int)n, difference / size, 1 / rcond);
        if (q > *worst) *worst = q;
    }
    trs_plan_destroy(p);
    free(A);
    free(b);
    free(x);
    free(F);
    free(y);
    free(pivot);
}

static void the_same_as_lapack(void **state)
{
    const int last = how_many() < 7 ? how_many() : 7;
    (void)state;
    for (int s = 0; trs_solver_at(s); s++) {
        const trs_solver *solver = trs_solver_at(s);
        double worst = 0;
        if (!is_tested(solver, TRS_GENERAL_DENSE)) continue;
        for (int v = 0; v < 2; v++) {
            const trs_dtype t = v ? TRS_F32 : TRS_F64;
            for (int a = 0; a < last; a++) compare(solver, RANDOM, t, sizes[a], &worst);
            compare(solver, HILBERT, t, 65, &worst);
            for (int a = 0; a < last && solver->caps & TRS_CAP_PIVOTS; a++)
                compare(solver, EVEN, t, sizes[a], &worst);
            for (int n = 2; n <= (v ? 4 : 10) && solver->caps & TRS_CAP_PIVOTS; n++)
                compare(solver, STEEPER, t, n, &worst);
        }
        print_message("# %-22s from dgesv: <= %.3g eps cond (1 + growth)\n", solver->name, worst);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_triangles),
        cmocka_unit_test(many_right_hand_sides),
        cmocka_unit_test(identities),
        cmocka_unit_test(steep_triangles),
        cmocka_unit_test(linked_triangles),
        cmocka_unit_test(large_triangles),
        cmocka_unit_test(the_seeds_example),
        cmocka_unit_test(random_general),
        cmocka_unit_test(hilbert_general),
        cmocka_unit_test(growth_general),
        cmocka_unit_test(permuted_general),
        cmocka_unit_test(bad_pivots),
        cmocka_unit_test(first_of_two_bad_pivots),
        cmocka_unit_test(automatic_choice),
        cmocka_unit_test(automatic_choice_on_a_device),
        cmocka_unit_test(a_singular_matrix_can_be_updated),
        cmocka_unit_test(inverses),
#ifdef HAVE_LAPACKE
        cmocka_unit_test(the_same_as_lapack),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
