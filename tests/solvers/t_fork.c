/* t_fork.c: the child of a process that has had threads reads, writes, analyses, solves and factors as its parent does, and
 * does not wait for the threads that it has not inherited; and libraries start no threads where one was asked for. */
#include "tests/common/model.h"

#include "base/libraries/blas.h"
#include "base/parallel.h"
#include "trisolve-mmio.h"
#if defined HAVE_CHOLMOD || defined HAVE_KLU || defined HAVE_UMFPACK
#include "trisolve-suitesparse.h"
#endif

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { THREADS = 4, SECONDS = 120 /* after which a child is taken to hang */ };

/* ---- a grid in three dimensions ------------------------------------------------------------------ */

enum { SIDE = 36, ROWS = SIDE * SIDE * SIDE, ROW = 14 };

/* Half of the 27-point Laplacian, the lower: more than TRS_SHARED_FROM entries. */
static trs_mat lower_grid(void)
{
    int64_t *ptr = zeroed(ROWS + 1, sizeof *ptr), k = 0;
    int32_t *idx = zeroed((int64_t)ROWS * ROW, sizeof *idx);
    double *val = zeroed((int64_t)ROWS * ROW, sizeof *val);
    for (int i = 0; i < ROWS; i++) {
        const int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
        for (int near = 0; near < 13; near++) {
            const int u = x + near % 3 - 1, v = y + near / 3 % 3 - 1, w = z + near / 9 - 1;
            if (u < 0 || v < 0 || w < 0 || u >= SIDE || v >= SIDE) continue;
            idx[k] = (w * SIDE + v) * SIDE + u;
            val[k++] = -1;
        }
        idx[k] = i;
        val[k++] = 27;
        ptr[i + 1] = k;
    }
    return (trs_mat){.n = ROWS, .nnz = k, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
}

static void mat_done(trs_mat *a)
{
    free((void *)a->ptr);
    free((void *)a->idx);
    free((void *)a->val);
}

/* b = T 1 for the triangle T, or A 1 for the whole of it */
static void times_one(const trs_mat *a, bool whole, double *b)
{
    const int64_t *ptr = a->ptr;
    const int32_t *idx = a->idx;
    const double *val = a->val;
    memset(b, 0, ROWS * sizeof *b);
    for (int i = 0; i < ROWS; i++)
        for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {
            b[i] += val[k];
            if (whole && idx[k] != i) b[idx[k]] += val[k];
        }
}

static bool is_one(const double *x)
{
    for (int i = 0; i < ROWS; i++)
        if (!(fabs(x[i] - 1) < 1e-10)) return false;
    return true;
}

/* ---- what parent and child do -------------------------------------------------------------------- */

typedef struct task {
    const char *name;
    const trs_mat *grid;
    double *b, *x;
    const char *file;
} task;

static bool solve(const task *t)
{
    const trs_options opt = {.solver = t->name, .threads = THREADS};
    trs_plan *p = NULL;
    times_one(t->grid, false, t->b);
    int rc = trs_plan_create(&p, t->grid, &opt);
    if (!rc) rc = trs_plan_analyse(p);
    if (!rc) rc = trs_solve(p, TRS_N, 1, t->b, ROWS, t->x, ROWS, NULL);
    trs_plan_destroy(p);
    return !rc && is_one(t->x);
}

static bool write_and_read(const task *t)
{
    const trs_mm_options opt = {.threads = THREADS};
    trs_mm mm;
    int rc = trs_mm_write(t->file, t->grid, ROWS, ROWS, TRS_GENERAL, NULL);
    if (!rc) rc = trs_mm_read(t->file, &opt, &mm);
    if (rc) return false;
    const bool same = mm.nnz == t->grid->nnz;
    trs_mm_free(&mm);
    return same;
}

#if defined HAVE_CHOLMOD || defined HAVE_KLU || defined HAVE_UMFPACK
/* A smaller grid: that of the first planes. */
static bool factor_with(const task *t, int threads)
{
    const trs_factor_options opt = {.method = t->name, .plan.threads = threads};
    trs_mat a = *t->grid;
    trs_lu *lu = NULL;
    a.n = SIDE * SIDE * 8;
    a.nnz = ((const int64_t *)a.ptr)[a.n];
    a.kind = TRS_LOWER | TRS_SELFADJOINT;
    for (int i = 0; i < a.n; i++) t->b[i] = i % 7 - 3;
    int rc = trs_factor(&lu, &a, &opt);
    for (int k = 0; k < 2 && !rc;
         k++) { /* once the factors are here, with the old pivots, by threads of ours */
        rc = trs_lu_solve(lu, TRS_N, 1, t->b, a.n, t->x, a.n, NULL);
        if (!rc) rc = trs_lu_update(lu, &a);
    }
    if (!rc) rc = trs_lu_solve(lu, TRS_N, 1, t->b, a.n, t->x, a.n, NULL);
    trs_lu_destroy(lu);
    for (int i = 0; i < a.n && !rc; i++) rc = !isfinite(t->x[i]);
    return !rc;
}

static bool factor(const task *t)
{
    return factor_with(t, THREADS);
}
#endif

/* ---- fork ---------------------------------------------------------------------------------------- */

/* Do it here, and then in a child. */
static void in_both(bool (*body)(const task *), const char *name)
{
    trs_mat grid = lower_grid();
    char file[] = "/tmp/t_fork_XXXXXX";
    const int fd = mkstemp(file);
    int status = -1;
    assert_true(fd >= 0 && grid.nnz > TRS_SHARED_FROM);
    close(fd);
    const task t = {name, &grid, zeroed(ROWS, sizeof(double)), zeroed(ROWS, sizeof(double)), file};
    assert_true(body(&t));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        _exit(body(&t) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    unlink(file);
    free(t.b);
    free(t.x);
    mat_done(&grid);
    if (WIFSIGNALED(status)) fail_msg("%s: the child hangs", name);
    assert_int_equal(status, 0);
}

static void test_solver(void **state)
{
    in_both(solve, *state);
}

static void test_files(void **state)
{
    (void)state;
    in_both(write_and_read, "files");
}

#if defined HAVE_CHOLMOD || defined HAVE_KLU || defined HAVE_UMFPACK
static void test_factor(void **state)
{
    in_both(factor, *state);
}
#endif

/* ---- one thread ---------------------------------------------------------------------------------- */

#if defined HAVE_CHOLMOD || defined HAVE_UMFPACK
/* It has to be the first test, before there are any threads but those with which a BLAS begins. */
static void test_one_thread(void **state)
{
    trs_mat grid = lower_grid();
    const int before = count_threads();
    const task t = {*state, &grid, zeroed(ROWS, sizeof(double)), zeroed(ROWS, sizeof(double)), ""};
    if (!before) skip();
    assert_true(factor_with(&t, 1));
    assert_int_equal(count_threads(), before);
#ifdef _OPENMP
    const int threads = omp_get_max_threads(); /* the same for OMP_NUM_THREADS=1 */
    omp_set_num_threads(1);
    assert_true(factor_with(&t, 0));
    assert_int_equal(count_threads(), before);
    assert_int_equal(omp_get_max_threads(), 1);
    omp_set_num_threads(threads);
#endif
    free(t.b);
    free(t.x);
    mat_done(&grid);
}
#endif

static int fake_threads = 6, fake_local;

static int fake_get(void)
{
    return fake_threads;
}

static void fake_set(int threads)
{
    fake_threads = threads;
}

static int fake_set_local(int threads)
{
    const int before = fake_local;
    fake_local = threads;
    return before;
}

static int default_levels(void)
{
#ifdef _OPENMP
    return omp_get_max_active_levels();
#else
    return 0;
#endif
}

/* A BLAS has at most as many threads as are asked for during a call, and as many as before after the last one. */
static void test_limit(void **state)
{
    (void)state;
    const trs_blas blas = {fake_get, fake_set, fake_set_local};
    const int threads = trs_default_threads(), levels = default_levels();
    trs_blas_limit outer, inner;
    trs_blas_begin(&outer, blas, 4);
    assert_int_equal(fake_threads, 4);
    assert_int_equal(fake_local, 4);
    trs_blas_begin(&inner, blas, 1);
    assert_int_equal(fake_threads, 1);
    assert_int_equal(fake_local, 1);
    assert_int_equal(trs_default_threads(), 1);
    trs_blas_end(&inner);
    assert_int_equal(fake_local, 4);
    trs_blas_end(&outer);
    assert_int_equal(fake_threads, 6);
    assert_int_equal(fake_local, 0);
    assert_int_equal(trs_default_threads(), threads);
    assert_int_equal(default_levels(), levels);
    trs_blas_begin(&outer, blas, 8); /* it is not raised */
    assert_int_equal(fake_threads, 6);
    trs_blas_end(&outer);
}

/* A BLAS whose functions are slow, and see whether another thread is in one of them. */
static atomic_int inside, at_once;
static int slow_threads = 6;

static void look(void)
{
    if (atomic_fetch_add(&inside, 1) > 0) atomic_store(&at_once, 1);
    for (int k = 0; k < 20; k++) sched_yield();
    atomic_fetch_sub(&inside, 1);
}

static int slow_get(void)
{
    look();
    return slow_threads;
}

static void slow_set(int threads)
{
    look();
    slow_threads = threads;
}

static void *limit_often(void *threads)
{
    const trs_blas blas = {slow_get, slow_set, NULL};
    trs_blas_limit limit;
    for (int k = 0; k < 100; k++) {
        trs_blas_begin(&limit, blas, *(const int *)threads);
        trs_blas_end(&limit);
    }
    return NULL;
}

/* Threads that limit it at the same time do so one after the other, and leave it as it was. */
static void test_limit_of_threads(void **state)
{
    (void)state;
    pthread_t thread[3];
    static const int threads[] = {1, 2, 3};
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, limit_often, (void *)&threads[k]), 0);
    for (int k = 0; k < 3; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_int_equal(at_once, 0);
    assert_int_equal(slow_threads, 6);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

int main(void)
{
    struct CMUnitTest tests[64] = {{"", NULL, NULL, NULL, NULL}};
    int count = 0;
#ifdef HAVE_CHOLMOD
    tests[count++] = (struct CMUnitTest){"one thread: cholmod", test_one_thread,
                                         .initial_state = (void *)"cholmod"};
#endif
#ifdef HAVE_UMFPACK
    tests[count++] = (struct CMUnitTest){"one thread: umfpack", test_one_thread,
                                         .initial_state = (void *)"umfpack"};
#endif
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_limit);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_limit_of_threads);
#ifdef HAVE_CHOLMOD
    tests[count++] =
        (struct CMUnitTest){"cholmod", test_factor, .initial_state = (void *)"cholmod"};
#endif
#ifdef HAVE_KLU
    tests[count++] = (struct CMUnitTest){"klu", test_factor, .initial_state = (void *)"klu"};
#endif
#ifdef HAVE_UMFPACK
    tests[count++] =
        (struct CMUnitTest){"umfpack", test_factor, .initial_state = (void *)"umfpack"};
#endif
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_files);
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || s->place != TRS_ON_CPU || s->full) continue;
        tests[count++] =
            (struct CMUnitTest){s->name, test_solver, .initial_state = (void *)s->name};
    }
    alarm(600);
    return _cmocka_run_group_tests("t_fork", tests, (size_t)count, NULL, NULL);
}
