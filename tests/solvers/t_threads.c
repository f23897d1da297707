/* t_threads.c: a plan is const while it solves.  Many threads share one, each with its own work space and, on a GPU,
 * its own stream, and every x must be what a lone thread found before. */
#include "tests/common/stream.h"

#include <pthread.h>

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
    struct CMUnitTest tests[64];
    int count = 0;
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    return _cmocka_run_group_tests("t_threads", tests, (size_t)count, NULL, NULL);
}
