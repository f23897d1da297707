/* t_threads.c: a plan is const while it solves.  Many threads share one, each with its own work space and, on a GPU,
 * its own stream, and every x must be what a lone thread found before.  With one work space for all of them, a solve is right
 * or is refused. */
#include "tests/common/stream.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 20 };

typedef struct job {
    const trs_plan *plan;
    const double *b, *x; /* what a lone thread found */
    int n, rc;
    trs_op op;
    void *stream;
} job;

static void *solve_many(void *arg)
{
    job *j = arg;
    trs_work *work = NULL;
    double *x = malloc((size_t)j->n * sizeof *x);
    j->rc = x ? trs_work_create(&work, j->plan, 1) : TRS_EMEM;
    trs_exec exec = {.work = work, .threads = 1, .stream = j->stream};
    for (int k = 0; k < ROUNDS && !j->rc; k++) {
        j->rc = trs_solve(j->plan, j->op, 1, j->b, j->n, x, j->n, &exec);
        for (int i = 0; i < j->n && !j->rc; i++) {
            double d = x[i] - j->x[i], size = 1 + (x[i] < 0 ? -x[i] : x[i]);
            if (!(d < 1e-9 * size && d > -1e-9 * size)) j->rc = 1;
        }
    }
    trs_work_destroy(work);
    free(x);
    return NULL;
}

/* ---- one work space ------------------------------------------------------------------------------ */

/* Another solve begins when this one asks for memory, which it does when the plan grows. */
typedef struct nested {
    const trs_plan *plan; /* NULL: not yet */
    const double *b;
    double *x;
    int n, calls;
} nested;

static void *solve_and_allocate(void *user, size_t bytes)
{
    nested *all = user;
    if (all->plan && !all->calls++) {
        assert_int_equal(trs_solve(all->plan, TRS_N, 1, all->b, all->n, all->x, all->n, NULL),
                         TRS_ESTATE);
        assert_non_null(strstr(trs_message(), "trs_work_create"));
    }
    return malloc(bytes);
}

static void free_nothing_else(void *user, void *p)
{
    (void)user;
    free(p);
}

/* Both ends of a chain of n ones: x = 1. */
static trs_mat chain_of_ones(int n, int64_t *ptr, int32_t *idx, double *val, double *b)
{
    trs_mat a = {.n = n, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    ptr[0] = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0) idx[a.nnz++] = i - 1;
        idx[a.nnz++] = i;
        ptr[i + 1] = a.nnz;
        b[i] = i > 0 ? 2 : 1;
    }
    for (int64_t k = 0; k < a.nnz; k++) val[k] = 1;
    return a;
}

enum { CHAIN_ROWS = 2000 };

static void test_during_a_solve(void **state)
{
    (void)state;
    enum { N = CHAIN_ROWS };
    int64_t ptr[N + 1];
    int32_t idx[2 * N];
    double val[2 * N], b[N], x[N], y[N];
    nested all = {.b = b, .x = y, .n = N};
    const trs_mat a = chain_of_ones(N, ptr, idx, val, b);
    const trs_options opt = {.memory = {solve_and_allocate, free_nothing_else, &all}};
    trs_plan *p;
    trs_info info;
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(info.grows_at > 0);
    for (int64_t k = 1; k < info.grows_at; k++)
        assert_status(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    all.plan = p;
    for (int k = 0; k < 2; k++) assert_status(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    all.plan = NULL;
    assert_true(all.calls > 0);
    for (int i = 0; i < N; i++) assert_true(x[i] == 1);
    trs_plan_destroy(p);
}

/* Threads that all solve with one work space, or with that of a plan or of factors. */
typedef struct crowd {
    const trs_plan *plan; /* NULL: lu */
    trs_lu *lu;
    trs_work *work; /* may be NULL */
    atomic_int solved, wrong;
} crowd;

static void *solve_in_a_crowd(void *user)
{
    enum { N = CHAIN_ROWS };
    crowd *all = user;
    const trs_exec exec = {.work = all->work, .threads = 1};
    double b[N], x[N];
    for (int k = 0; k < 10 * ROUNDS; k++) {
        for (int i = 0; i < N; i++) b[i] = i > 0 ? 2 : 1;
        int rc;
        if (all->plan) rc = trs_solve(all->plan, TRS_N, 1, b, N, x, N, &exec);
        else rc = trs_lu_solve(all->lu, TRS_N, 1, b, N, x, N, &exec);
        if (rc == TRS_ESTATE) continue;
        all->solved++;
        for (int i = 0; i < N; i++)
            if (rc || x[i] != 1) all->wrong++;
    }
    return NULL;
}

static void solve_together(crowd *all)
{
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, solve_in_a_crowd, all), 0);
    for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_join(thread[t], NULL), 0);
    assert_true(all->solved > 0);
    assert_int_equal(all->wrong, 0);
}

/* Rows in level order are in the work space, which makes a solve by two threads wrong. */
static void test_one_work_space(void **state)
{
    (void)state;
    enum { N = CHAIN_ROWS };
    int64_t ptr[N + 1];
    int32_t idx[2 * N];
    double val[2 * N], b[N];
    const trs_mat a = chain_of_ones(N, ptr, idx, val, b);
    const trs_options opt = {.order = TRS_ORDER_LEVEL, .solver = "cpu-serial"};
    crowd all = {0};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    all.plan = p;
    solve_together(&all);
    assert_status(trs_work_create(&all.work, p, 1), TRS_OK);
    solve_together(&all);
    trs_work_destroy(all.work);
    trs_plan_destroy(p);
}

/* The vectors between the triangles of factors with a permutation are in the work space of the factors. */
static void test_factors(void **state)
{
    (void)state;
    enum { N = CHAIN_ROWS };
    int64_t ptr[N + 1];
    int32_t idx[2 * N];
    double val[2 * N], b[N];
    trs_mat a = chain_of_ones(N, ptr, idx, val, b);
    const trs_ilu_options opt = {.ordering = TRS_ILU_RCM};
    crowd all = {0};
    a.kind = 0;
    assert_status(trs_ilu(&all.lu, &a, &opt), TRS_OK);
    solve_together(&all);
    trs_lu_destroy(all.lu);
}

/* ---- a work space each --------------------------------------------------------------------------- */

static void share(const trs_solver *s, trs_order order)
{
    random_t r = {7};
    form f = {.dtype = TRS_F64, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    model m = model_new(s->full ? RANDOM : WIDE, false, s->full, false, &r);
    trs_mat a = show(&m, &f, &r);
    trs_options opt = {.solver = s->name, .ops = 1u << TRS_N | 1u << TRS_T, .order = order};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    job jobs[THREADS];
    pthread_t thread[THREADS];
    double *b[THREADS], *x[THREADS];
    for (int t = 0; t < THREADS; t++) {
        b[t] = malloc((size_t)m.n * sizeof(double));
        x[t] = malloc((size_t)m.n * sizeof(double));
        assert_true(b[t] && x[t]);
        for (int i = 0; i < m.n; i++) b[t][i] = random_uniform(&r);
        jobs[t] = (job){p, b[t], x[t], m.n, 0, t % 2 ? TRS_T : TRS_N, stream_new(s)};
        assert_int_equal(trs_solve(p, jobs[t].op, 1, b[t], m.n, x[t], m.n, NULL), TRS_OK);
    }
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, solve_many, &jobs[t]), 0);
    for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_join(thread[t], NULL), 0);
    for (int t = 0; t < THREADS; t++) {
        if (jobs[t].rc) print_error("%s, order %d: thread %d\n", s->name, (int)order, t);
        assert_int_equal(jobs[t].rc, 0);
        free(b[t]);
        free(x[t]);
        stream_free(jobs[t].stream);
    }
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    char why[200];
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    share(s, TRS_ORDER_NATURAL);
    share(s, TRS_ORDER_LEVEL);
}

int main(void)
{
    struct CMUnitTest tests[64] = {cmocka_unit_test(test_during_a_solve),
                                   cmocka_unit_test(test_one_work_space),
                                   cmocka_unit_test(test_factors)};
    int count = 3;
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    return _cmocka_run_group_tests("t_threads", tests, (size_t)count, NULL, NULL);
}
