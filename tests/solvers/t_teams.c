/* t_teams.c: solvers of the CPU with teams of any size: more threads than cores, fewer than the plan was made for, teams
 * within teams, several solves at a time.  None of them hangs, and x has the bits that one thread finds.
 *
 * The triangles have more than TRS_SHARED_FROM entries, for smaller ones are left to one thread. */
#include "large.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MANY = 64, AT_ONCE = 4, ROUNDS = 2 };

/* ---- triangles ------------------------------------------------------------------------------------ */

typedef struct triangle {
    const char *name;
    trs_mat mat;
    large pattern;
    double *val, *b, *right; /* right: by one thread, row by row */
} triangle;

static void substitute(triangle *t)
{
    for (int64_t i = 0; i < t->mat.n; i++) {
        double s = t->b[i];
        int64_t p = t->pattern.ptr[i];
        for (; p < t->pattern.ptr[i + 1] - 1; p++) s -= t->val[p] * t->right[t->pattern.idx[p]];
        t->right[i] = s / t->val[p];
    }
}

static triangle triangle_new(int shape)
{
    random_t r = {1};
    triangle t = {.name = large_name[shape], .pattern = large_new(shape)};
    const int64_t n = t.pattern.n;
    t.val = zeroed(t.pattern.nnz, sizeof *t.val);
    t.b = zeroed(n, sizeof *t.b), t.right = zeroed(n, sizeof *t.right);
    for (int64_t i = 0; i < n; i++) {
        int64_t p = t.pattern.ptr[i];
        double sum = 1;
        for (; p < t.pattern.ptr[i + 1] - 1; p++) sum += fabs(t.val[p] = random_uniform(&r));
        t.val[p] = sum;
        t.b[i] = random_uniform(&r);
    }
    t.mat = (trs_mat){.n = n, .nnz = t.pattern.nnz, .kind = TRS_LOWER};
    t.mat.ptr = t.pattern.ptr, t.mat.idx = t.pattern.idx, t.mat.val = t.val;
    substitute(&t);
    return t;
}

static void triangle_free(triangle *t)
{
    large_free(&t->pattern);
    free(t->val), free(t->b), free(t->right);
}

/* All but the last, the dense top: there a plan of cpu-supernodal for more workers adds up in another order, so that its x
 * has other bits than that of a plan for one. */
enum { TRIANGLES = LARGE_PATTERNS - 1 };
static triangle triangles[TRIANGLES];

static int make_triangles(void **state)
{
    (void)state;
    for (int k = 0; k < TRIANGLES; k++) triangles[k] = triangle_new(k);
    return 0;
}

static int free_triangles(void **state)
{
    (void)state;
    for (int k = 0; k < TRIANGLES; k++) triangle_free(&triangles[k]);
    return 0;
}

/* ---- solves ----------------------------------------------------------------------------------------- */

typedef struct scene {
    const trs_solver *solver;
    const triangle *t;
    trs_plan *plan;
    double *x[2]; /* what one thread finds: op N, op T */
} scene;

static double *solve(const scene *s, trs_op op, int threads)
{
    const int64_t n = s->t->mat.n;
    double *x = malloc((size_t)n * sizeof *x);
    trs_work *work;
    assert_non_null(x);
    assert_int_equal(trs_work_create(&work, s->plan, 1), TRS_OK);
    const trs_exec exec = {.threads = threads, .work = work};
    assert_int_equal(trs_solve(s->plan, op, 1, s->t->b, n, x, n, &exec), TRS_OK);
    trs_work_destroy(work);
    return x;
}

static bool is_the_same(const scene *s, trs_op op, const double *x)
{
    const double *y = s->x[op];
    if (s->solver->caps & TRS_CAP_BITWISE) return !memcmp(x, y, (size_t)s->t->mat.n * sizeof *x);
    for (int64_t i = 0; i < s->t->mat.n; i++)
        if (!(fabs(x[i] - y[i]) <= 1e-12)) return false;
    return true;
}

/* Both ops by so many threads; false: they found something else. */
static bool solve_again(const scene *s, int threads)
{
    bool good = true;
    for (int op = TRS_N; op <= TRS_T; op++) {
        double *x = solve(s, (trs_op)op, threads);
        good &= is_the_same(s, (trs_op)op, x);
        free(x);
    }
    return good;
}

static void require(const scene *s, int threads, bool good)
{
    if (!good)
        print_error("%s, %s: %d threads found another x\n", s->solver->name, s->t->name, threads);
    assert_true(good);
}

static void check_right(const scene *s)
{
    for (int64_t i = 0; i < s->t->mat.n; i++)
        if (!(fabs(s->x[0][i] - s->t->right[i]) <= 1e-12)) fail();
}

static trs_plan *plan_new(const trs_solver *solver, const triangle *t, int threads)
{
    const trs_options opt = {.solver = solver->name, .ops = 3, .threads = threads};
    trs_plan *p;
    assert_status(trs_plan_create(&p, &t->mat, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

/* A plan for many threads, and what one for a single thread finds. */
static scene scene_new(const trs_solver *solver, const triangle *t)
{
    scene s = {.solver = solver, .t = t, .plan = plan_new(solver, t, 1)};
    for (int op = TRS_N; op <= TRS_T; op++) s.x[op] = solve(&s, (trs_op)op, 1);
    check_right(&s);
    trs_plan_destroy(s.plan);
    s.plan = plan_new(solver, t, MANY);
    return s;
}

static void scene_free(scene *s)
{
    trs_plan_destroy(s->plan);
    free(s->x[0]);
    free(s->x[1]);
}

/* ---- teams ------------------------------------------------------------------------------------------ */

/* More threads than there are cores, and fewer than the plan was made for. */
static void check_sizes(const scene *s)
{
    static const int sizes[] = {1, 2, 3, 7, MANY};
    for (int k = 0; k < 5; k++)
        for (int round = 0; round < ROUNDS; round++) require(s, sizes[k], solve_again(s, sizes[k]));
}

static void *solve_in_thread(void *arg)
{
    const scene *s = arg;
    bool good = true;
    for (int round = 0; round < ROUNDS; round++) good &= solve_again(s, 3);
    return good ? NULL : arg;
}

/* Several solves at a time, by teams that begin when they like. */
static void check_at_once(scene *s)
{
    pthread_t thread[AT_ONCE];
    void *bad[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, solve_in_thread, s), 0);
    for (int k = 0; k < AT_ONCE; k++) assert_int_equal(pthread_join(thread[k], &bad[k]), 0);
    for (int k = 0; k < AT_ONCE; k++) require(s, 3, !bad[k]);
}

#ifdef _OPENMP
/* The runtime gives as many threads as it sees fit. */
static void check_dynamic(const scene *s)
{
    omp_set_dynamic(1);
    const bool good = solve_again(s, MANY);
    omp_set_dynamic(0);
    require(s, MANY, good);
}

/* Solves within a team, whose own teams have one thread, or, with two levels, several. */
static void check_nested(const scene *s)
{
    const int before = omp_get_max_active_levels();
    for (int levels = 1; levels <= 2; levels++) {
        int good = 1;
        omp_set_max_active_levels(levels);
#pragma omp parallel num_threads(AT_ONCE) reduction(&& : good)
        good = good && solve_again(s, 3);
        omp_set_max_active_levels(before);
        require(s, AT_ONCE * 3, good);
    }
}
#endif

static void test_solver(void **state)
{
    for (int k = 0; k < TRIANGLES; k++) {
        scene s = scene_new(*state, &triangles[k]);
        check_sizes(&s);
        check_at_once(&s);
#ifdef _OPENMP
        check_dynamic(&s);
        check_nested(&s);
#endif
        scene_free(&s);
    }
}

/* ---- limits of the environment ----------------------------------------------------------------------- */

static const char *program;

/* The same program where OpenMP has so many threads for all of it: it says so and goes on. */
static void test_limit(void **state)
{
    char line[4096];
    const char *limit = *state;
    if (getenv("OMP_THREAD_LIMIT")) skip();
    snprintf(line, sizeof line, "OMP_THREAD_LIMIT=%s '%s' >/dev/null 2>&1", limit, program);
    assert_int_equal(system(line), 0);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[64];
    int count = 0;
    (void)argc;
    program = argv[0];
    for (int k = 0; trs_solver_at(k) && count < 60; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || s->place != TRS_ON_CPU || s->full) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    tests[count++] = (struct CMUnitTest){"limit 1", test_limit, NULL, NULL, "1"};
    tests[count++] = (struct CMUnitTest){"limit 5", test_limit, NULL, NULL, "5"};
    choose_solvers();
    return _cmocka_run_group_tests("t_teams", tests, (size_t)count, make_triangles, free_triangles);
}
