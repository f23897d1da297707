/* t_batch.c: many triangles of one pattern, in every form, on the host and on a device: the error of each x by its own
 * triangle, the same bits for any number of threads, bad pivots by system and row, what is refused. */
#include "tests/common/counter.h"
#include "tests/common/model.h"
#include "tests/common/place.h"

#include <math.h>
#include <pthread.h>

enum { SYSTEMS = 37, MOST_RHS = 3 };

static const random_t first_random = {20};

/* ---- systems ------------------------------------------------------------------------------------ */

typedef struct systems {
    model m[SYSTEMS];
    form f;
    trs_mat mat; /* of the first */
    int64_t numbers, stride;
    char *val; /* [stride*SYSTEMS] */
} systems;

static int64_t count_numbers(const trs_mat *m)
{
    if (m->format == TRS_DENSE) return m->ld * m->n;
    return m->format == TRS_BSR ? m->nnz * m->block * m->block : m->nnz;
}

static size_t size_of(trs_dtype t)
{
    static const size_t size[] = {8, 4, 16, 8};
    return size[t];
}

static model with_other_values(const model *m, int k, random_t *r)
{
    model to = *m;
    to.row = malloc((size_t)m->nnz * sizeof *to.row),
    to.col = malloc((size_t)m->nnz * sizeof *to.col);
    to.val = malloc((size_t)m->nnz * sizeof *to.val);
    for (int64_t p = 0; p < m->nnz; p++) to.row[p] = m->row[p], to.col[p] = m->col[p];
    for (int64_t p = 0; p < m->nnz; p++)
        to.val[p] = m->val[p] * (k ? 1 + random_uniform(r) / 4 : 1);
    for (int64_t p = 0; p < m->nnz; p++) /* so that a float has them, too */
        to.val[p] = (float)creal(to.val[p]) + (float)cimag(to.val[p]) * I;
    return to;
}

static systems systems_new(pattern p, trs_dtype dtype, random_t *r)
{
    systems s = {.f = form_random(dtype, r)};
    const bool c = dtype == TRS_C64 || dtype == TRS_C32;
    model first = model_new(p, random_below(r, 2), true, c, r);
    const random_t shuffle = *r;
    for (int k = 0; k < SYSTEMS; k++) {
        random_t same = shuffle;
        s.m[k] = with_other_values(&first, k, r);
        trs_mat a = show(&s.m[k], &s.f, &same);
        if (k == 0) {
            s.mat = a;
            s.numbers = count_numbers(&a);
            s.stride = s.numbers + 3;
            s.val = calloc((size_t)s.stride * SYSTEMS + 1, size_of(dtype));
        }
        const size_t size = size_of(dtype);
        memcpy(s.val + (size_t)(k * s.stride) * size, a.val, (size_t)s.numbers * size);
        if (k > 0) mat_free(&a);
    }
    model_free(&first);
    return s;
}

static void systems_free(systems *s)
{
    for (int k = 0; k < SYSTEMS; k++) model_free(&s->m[k]);
    mat_free(&s->mat);
    free(s->val);
}

static trs_plan *plan_of(const systems *s)
{
    const trs_options opt = {.ops = 7, .device = there ? TRS_CUDA(0) : TRS_HOST};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &s->mat, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    return p;
}

/* ---- solving ------------------------------------------------------------------------------------ */

typedef struct task {
    trs_op op;
    int nrhs, threads;
    trs_layout layout;
    bool in_place;
} task;

/* Solves, checks each x, and returns all of X [MOST_RHS*n*SYSTEMS]. */
static char *solve(const systems *s, const trs_plan *plan, const task *t)
{
    const int n = s->m[0].n;
    const trs_dtype type = s->f.dtype;
    const size_t size = size_of(type), all = (size_t)(SYSTEMS * MOST_RHS * n) * size;
    const bool rows = t->layout == TRS_ROW_MAJOR;
    const int64_t ld = rows ? MOST_RHS : n, step = rows ? ld : 1, next = rows ? 1 : ld;
    const trs_batch batch = {.count = SYSTEMS, .val_stride = s->stride};
    const trs_exec exec = {.layout = t->layout, .threads = t->threads};
    random_t r = first_random;
    char *b = calloc(all + 1, 1), *x = calloc(all + 1, 1);
    int64_t bad[2];
    for (int64_t k = 0; k < SYSTEMS * MOST_RHS * n; k++)
        set_number(b, type, k, random_uniform(&r) + random_uniform(&r) * I);
    trs_batch there_batch = batch;
    void *val = place(s->val, (size_t)s->stride * SYSTEMS * size), *B = place(b, all);
    void *X = t->in_place ? B : place(x, all);
    there_batch.val = val;
    there_batch.b_stride = there_batch.x_stride = (int64_t)MOST_RHS * n;
    assert_int_equal(trs_solve_batch(plan, t->op, &there_batch, t->nrhs, B, ld, X, ld, &exec, bad),
                     TRS_OK);
    assert_true(bad[0] == -1 && bad[1] == -1);
    bring(x, X, all);
    unplace(val);
    unplace(B);
    if (!t->in_place) unplace(X);
    for (int k = 0; k < SYSTEMS; k++)
        for (int c = 0; c < t->nrhs; c++) {
            const size_t at = (size_t)(k * MOST_RHS * n + c * next) * size;
            const quality q =
                quality_of(&s->m[k], s->f.unit, t->op, type, b + at, step, x + at, step);
            assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(type));
        }
    free(b);
    return x;
}

static void check_forms(pattern p, trs_dtype dtype, random_t *r)
{
    systems s = systems_new(p, dtype, r);
    trs_plan *plan = plan_of(&s);
    for (int op = TRS_N; op <= TRS_H; op++) {
        task t = {.op = (trs_op)op, .nrhs = 1 + random_below(r, MOST_RHS), .threads = 1};
        t.layout = (trs_layout)random_below(r, 2);
        t.in_place = random_below(r, 2);
        char *one = solve(&s, plan, &t);
        t.threads = 4;
        t.in_place = !t.in_place && t.nrhs == MOST_RHS;
        char *more = solve(&s, plan, &t);
        const size_t n = (size_t)s.m[0].n, size = size_of(dtype);
        if (t.nrhs == MOST_RHS) assert_memory_equal(one, more, SYSTEMS * MOST_RHS * n * size);
        free(one);
        free(more);
    }
    trs_plan_destroy(plan);
    systems_free(&s);
}

static void each_form(int times)
{
    random_t r = {5};
    for (int k = 0; k < times * PATTERNS; k++)
        check_forms((pattern)(k % PATTERNS), (trs_dtype)((k + k / PATTERNS) % 4), &r);
}

static void test_host(void **state)
{
    (void)state;
    there = false;
    each_form(6);
}

static bool has_device(void)
{
    char name[100];
    return trs_device_name(TRS_CUDA(0), name, sizeof name) == TRS_OK;
}

static void test_device(void **state)
{
    (void)state;
    if (!has_device()) skip();
    there = true;
    each_form(4);
    there = false;
}

/* ---- bad pivots ------------------------------------------------------------------------------- */

/* 3 x 3: 2; 1 4; . 3 5, counted from 1. */
static const int64_t ptr[] = {1, 2, 4, 6};
static const int32_t idx[] = {1, 1, 2, 2, 3};
static const double good[] = {2, 1, 4, 3, 5};
static const trs_mat three = {
    .n = 3, .nnz = 5, .ptr = ptr, .idx = idx, .val = good, .base = 1, .kind = TRS_LOWER};

static void pivots(void)
{
    const trs_options opt = {.ops = 7, .device = there ? TRS_CUDA(0) : TRS_HOST};
    double val[4 * 5], b[4 * 3], x[4 * 3] = {0};
    trs_plan *plan;
    int64_t bad[2];
    for (int k = 0; k < 4; k++) {
        memcpy(val + 5 * k, good, sizeof good);
        b[3 * k] = 2, b[3 * k + 1] = 5, b[3 * k + 2] = 8;
    }
    val[5 + 4] = 0;    /* system 1, row 2 */
    val[5 + 2] = NAN;  /* and row 1, which is the first */
    val[10 + 2] = NAN; /* system 2, row 1 */
    val[10] = 0;       /* system 2, row 0 */
    assert_int_equal(trs_plan_create(&plan, &three, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    double *V = place(val, sizeof val), *B = place(b, sizeof b), *X = place(x, sizeof x);
    const trs_batch a = {4, V, 5, 3, 3, {0}};
    for (int op = TRS_N; op <= TRS_H; op++) {
        const int rc = trs_solve_batch(plan, (trs_op)op, &a, 1, B, 3, X, 3, NULL, bad);
        assert_int_equal(rc, TRS_EPIVOT);
        assert_true(bad[0] == 1 && bad[1] == 1);
        assert_non_null(strstr(trs_message(), "system 1, row 2"));
        if (op == TRS_N) {
            bring(x, X, sizeof x);
            for (int k = 0; k < 4; k += 3)
                assert_true(x[3 * k] == 1 && x[3 * k + 1] == 1 && x[3 * k + 2] == 1);
        }
    }
    if (there)
        assert_int_equal(trs_solve_batch(plan, TRS_N, &a, 1, B, 3, X, 3, NULL, NULL), TRS_OK);
    trs_plan_destroy(plan);
    unplace(V), unplace(B), unplace(X);
}

static void test_pivots(void **state)
{
    (void)state;
    pivots();
}

static void test_pivots_there(void **state)
{
    (void)state;
    if (!has_device()) skip();
    there = true;
    pivots();
    there = false;
}

/* The plan's own values may be bad: only its pattern counts.  One B for all, and X by systems. */
static void test_strides(void **state)
{
    (void)state;
    const double zeros[5] = {0}, b[] = {2, 5, 8};
    double x[3 * 4], val[4 * 5];
    trs_mat m = three;
    trs_plan *plan;
    m.val = zeros;
    for (int k = 0; k < 20; k++) val[k] = good[k % 5] * (1 + k / 5);
    assert_int_equal(trs_plan_create(&plan, &m, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_EPIVOT);
    /* element i of system k is x [4 i + k] */
    const trs_batch a = {.count = 4, .val = val, .val_stride = 5, .x_stride = 1};
    const trs_exec exec = {.layout = TRS_ROW_MAJOR};
    assert_int_equal(trs_solve_batch(plan, TRS_N, &a, 1, b, 1, x, 4, &exec, NULL), TRS_OK);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) assert_true(fabs(x[4 * i + k] * (k + 1) - 1) < 1e-15);
    trs_plan_destroy(plan);
}

/* ---- threads, memory, what is refused ----------------------------------------------------------- */

static void *solve_some(void *plan)
{
    double val[50 * 5], b[50 * 3];
    for (int k = 0; k < 250; k++) val[k] = good[k % 5];
    for (int time = 0; time < 50; time++) {
        for (int k = 0; k < 150; k++) b[k] = 2 + 3 * (k % 3);
        const trs_batch a = {50, val, 5, 3, 3, {0}};
        if (trs_solve_batch(plan, TRS_N, &a, 1, b, 3, b, 3, NULL, NULL)) return plan;
        for (int k = 0; k < 150; k++)
            if (b[k] != 1) return plan;
    }
    return NULL;
}

/* The first calls meet while the rows are made. */
static void test_threads(void **state)
{
    (void)state;
    for (int time = 0; time < 5; time++) {
        pthread_t thread[4];
        trs_plan *plan;
        assert_int_equal(trs_plan_create(&plan, &three, NULL), TRS_OK);
        assert_int_equal(trs_plan_analyse(plan), TRS_OK);
        for (int k = 0; k < 4; k++)
            assert_int_equal(pthread_create(&thread[k], NULL, solve_some, plan), 0);
        for (int k = 0; k < 4; k++) {
            void *failed;
            pthread_join(thread[k], &failed);
            assert_null(failed);
        }
        trs_plan_destroy(plan);
    }
}

static void test_memory(void **state)
{
    (void)state;
    int rc = TRS_EMEM, refused = 0;
    counter c = {.fail_at = -1};
    const trs_options opt = {.memory = counted_memory(&c)};
    double x[3];
    const double b[] = {2, 5, 8};
    trs_plan *plan;
    assert_int_equal(trs_plan_create(&plan, &three, &opt), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    const trs_batch a = {.count = 1, .val = good};
    for (bool again = true; again; refused++) {
        c.calls = 0, c.fail_at = refused;
        rc = trs_solve_batch(plan, TRS_N, &a, 1, b, 3, x, 3, NULL, NULL);
        if (rc) assert_true(*trs_message());
        again = was_refused(&c);
        assert_true(rc == TRS_OK || (again && rc == TRS_EMEM));
    }
    assert_int_equal(rc, TRS_OK);
    assert_true(refused > 3);
    const long calls = c.calls;
    assert_int_equal(trs_solve_batch(plan, TRS_N, &a, 1, b, 3, x, 3, NULL, NULL), TRS_OK);
    assert_int_equal(c.calls, calls); /* later ones allocate nothing */
    trs_plan_destroy(plan);
    assert_int_equal(c.live, 0);
}

static void test_refused(void **state)
{
    (void)state;
    double x[12] = {0};
    const double b[12] = {0}, val[20] = {0};
    const trs_batch a = {4, val, 5, 3, 3, {0}};
    const trs_options skip_bad = {.pivot = TRS_PIVOT_SKIP};
    trs_batch w;
    trs_exec exec = {0};
    trs_plan *plan;
    assert_int_equal(trs_plan_create(&plan, &three, NULL), TRS_OK);
#define BATCH(op, batch, nrhs, B, ldb, X, ldx)                                                     \
    trs_solve_batch(plan, op, batch, nrhs, B, ldb, X, ldx, &exec, NULL)
    assert_int_equal(BATCH(TRS_N, &a, 1, b, 3, x, 3), TRS_ESTATE);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    assert_int_equal(BATCH(TRS_T, &a, 1, b, 3, x, 3), TRS_ESTATE);
    assert_int_equal(BATCH(TRS_N, NULL, 1, b, 3, x, 3), TRS_EARG);
    assert_int_equal(BATCH(TRS_N, &a, -1, b, 3, x, 3), TRS_EARG);
    assert_int_equal(BATCH(TRS_N, &a, 1, NULL, 3, x, 3), TRS_EARG);
    assert_int_equal(BATCH(TRS_N, &a, 1, b, 3, NULL, 3), TRS_EARG);
    assert_int_equal(BATCH(TRS_N, &a, 1, b, 2, x, 3), TRS_EARG);
    assert_int_equal(BATCH(TRS_N, &a, 1, x, 3, x + 1, 3), TRS_EARG);
    w = a, w.val = NULL;
    assert_int_equal(BATCH(TRS_N, &w, 1, b, 3, x, 3), TRS_EARG);
    w = a, w.count = -1;
    assert_int_equal(BATCH(TRS_N, &w, 1, b, 3, x, 3), TRS_EARG);
    w = a, w.x_stride = 0;
    assert_int_equal(BATCH(TRS_N, &w, 1, b, 3, x, 3), TRS_EARG);
    w = a, w.b_stride = -3;
    assert_int_equal(BATCH(TRS_N, &w, 1, b, 3, x, 3), TRS_EARG);
    w = a, w.val_stride = INT64_MAX;
    assert_int_equal(BATCH(TRS_N, &w, 1, b, 3, x, 3), TRS_EARG);
    w = a, w.b_stride = 4;
    assert_int_equal(BATCH(TRS_N, &w, 1, x, 3, x, 3), TRS_EARG);
    w = a, w.reserved[1] = 1;
    assert_int_equal(BATCH(TRS_N, &w, 1, b, 3, x, 3), TRS_EARG);
    exec.threads = -1;
    assert_int_equal(BATCH(TRS_N, &a, 1, b, 3, x, 3), TRS_EARG);
    exec.threads = 0;
    w = a, w.count = 0;
    assert_int_equal(BATCH(TRS_N, &w, 1, NULL, 0, NULL, 0), TRS_OK);
    assert_int_equal(BATCH(TRS_N, &a, 0, NULL, 0, NULL, 0), TRS_OK);
    assert_int_equal(trs_solve_batch(NULL, TRS_N, &a, 1, b, 3, x, 3, NULL, NULL), TRS_EARG);
    trs_plan_destroy(plan);
    assert_int_equal(trs_plan_create(&plan, &three, &skip_bad), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    assert_int_equal(BATCH(TRS_N, &a, 1, b, 3, x, 3), TRS_ESUPPORT);
    trs_plan_destroy(plan);
    trs_mat m = three;
    m.kind = TRS_PERMUTED;
    assert_int_equal(trs_plan_create(&plan, &m, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(plan), TRS_OK);
    assert_int_equal(BATCH(TRS_N, &a, 1, b, 3, x, 3), TRS_ESUPPORT);
    trs_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),    cmocka_unit_test(test_device),
        cmocka_unit_test(test_pivots),  cmocka_unit_test(test_pivots_there),
        cmocka_unit_test(test_strides), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
