/* t_faults.c: every call of the CUDA run-time fails once, in all that plans, factors and products do on a device.
 *
 * A life of a plan is create, analyse, update, solve, destroy.  It is lived once for each call of the run-time, which fails
 * (faults.h), and each time
 *     - the function in which it fails says TRS_EDEVICE, or TRS_EMEM if memory is refused, with a sentence; or it has found
 *       a way around, and what it computes is right
 *     - the error is not left for the next launch, whose own it would seem to be
 *     - an update or a solve that failed is called again and succeeds, and x is right
 *     - nothing is left when everything is destroyed: memory of the host and of the device, streams, events
 * and the next life, of a new plan, goes on to the next call.  All that is wrong is printed before the test fails.
 *
 * Without a GPU the device is pretended for plans of matrices on the host, and no number is looked at. */
#include "tests/common/counter.h"
#include "tests/common/device.h"
#include "tests/common/model.h"

#include "faults.h"

#ifdef HAVE_SUITESPARSE
#include "trisolve-suitesparse.h"
#endif

enum { NRHS = 3, MOST_CALLS = 20000, SHOWN = 40 };

typedef struct life {
    const char *name;
    /* NULL: not of a plan with a solver by name */
    const trs_solver *solver;
    /* the matrix that the plan is made of comes from the device */
    bool sent;
    /* B and X are there */
    bool there;
    model m;
    trs_mat a, d;
    double *b, *x;
    void *dev_b, *dev_x;
    counter host;
    /* the call that was to fail has failed */
    bool hit;
    /* the solver is not for this matrix, or cannot be used without a GPU */
    bool refused;
    long wrong;
} life;

/* ---- what went wrong ---------------------------------------------------------------------------------- */

static const char *from(const life *l)
{
    return l->sent ? " from the device" : "";
}

static void complain(life *l, const char *what, int rc)
{
    if (l->wrong++ >= SHOWN) return;
    print_error("%s%s, call %ld (%s) fails: %s: %d, \"%s\"\n", l->name, from(l), faults.fail_at,
                faults.failed ? faults.failed : "none", what, rc, trs_message());
}

/* After a public function, in which the call may have failed. */
static int tried(life *l, int rc, const char *what)
{
    const bool now = faults.failed && !l->hit;
    faults.on = false;
    l->hit = l->hit || now;
    if (faults.last) complain(l, "an error is left to the next launch", rc);
    faults.last = 0;
    if (rc == TRS_OK) return rc;
    if (faults.fail_at < 0) l->refused = true;
    if (faults.fail_at < 0 && (rc == TRS_ESUPPORT || faults.pretends)) return rc;
    if (!now) complain(l, what, rc);
    else if (rc != TRS_EDEVICE && !(rc == TRS_EMEM && faults.of_memory)) complain(l, what, rc);
    else if (!*trs_message() || !strcmp(trs_message(), trs_strerror(rc)))
        complain(l, "no sentence", rc);
    return rc;
}

/* A call of the library, and a second one where the first has failed, which one more update or solve repairs. */
#define TRY(l, call)   (faults.on = true, tried(l, call, #call))
#define TWICE(l, call) (TRY(l, call) ? TRY(l, call) : TRS_OK)

static void destroyed(life *l)
{
    (void)tried(l, TRS_OK, "destroy");
}

/* ---- matrices and vectors ------------------------------------------------------------------------------- */

static double *vectors(const life *l)
{
    return zeroed((int64_t)NRHS * l->m.n, sizeof(double));
}

/* kind 0: a general matrix, which solvers of such ones take full. */
static life life_new(const char *name, const trs_solver *s, model m, unsigned kind, bool sent)
{
    random_t r = {5};
    const form f = {.format = s && !kind ? TRS_DENSE : TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    life l = {.name = name, .solver = s, .sent = sent, .there = sent || !s, .m = m};
    const size_t bytes = NRHS * (size_t)m.n * sizeof(double);
    l.a = show(&l.m, &f, &r);
    l.a.kind = kind;
    l.d = mat_to_device(&l.a);
    l.b = vectors(&l), l.x = vectors(&l);
    for (int k = 0; k < NRHS * m.n; k++) l.b[k] = random_uniform(&r);
    assert_status(trs_device_new(TRS_CUDA(0), bytes, &l.dev_b), TRS_OK);
    assert_status(trs_device_new(TRS_CUDA(0), bytes, &l.dev_x), TRS_OK);
    assert_status(trs_device_put(TRS_CUDA(0), l.dev_b, l.b, bytes), TRS_OK);
    return l;
}

static void life_free(life *l)
{
    trs_device_free(TRS_CUDA(0), l->dev_b);
    trs_device_free(TRS_CUDA(0), l->dev_x);
    mat_free_device(&l->d);
    mat_free(&l->a);
    free(l->b);
    free(l->x);
}

static const trs_mat *matrix(const life *l)
{
    return l->sent ? &l->d : &l->a;
}

static const void *given(const life *l)
{
    return l->there ? l->dev_b : l->b;
}

static void *found(const life *l)
{
    return l->there ? l->dev_x : l->x;
}

/* X is something else before each solve, and afterwards that of B. */
static void spoil(const life *l)
{
    const size_t bytes = NRHS * (size_t)l->m.n * sizeof(double);
    memset(l->x, 0x5a, bytes);
    if (l->there) assert_status(trs_device_put(TRS_CUDA(0), l->dev_x, l->x, bytes), TRS_OK);
}

static void check(life *l, trs_op op, int nrhs)
{
    const size_t bytes = NRHS * (size_t)l->m.n * sizeof(double);
    double worst = 0;
    if (faults.pretends) return;
    if (l->there) assert_status(trs_device_get(TRS_CUDA(0), l->x, l->dev_x, bytes), TRS_OK);
    for (int r = 0; r < nrhs; r++) {
        const int64_t at = (int64_t)r * l->m.n;
        worst = larger(worst,
                       quality_of(&l->m, false, op, TRS_F64, l->b + at, 1, l->x + at, 1).normwise);
    }
    if (worst <= 1e-10) return;
    print_error("op %s, %d right-hand sides: normwise error %g\n", op_name[op], nrhs, worst);
    complain(l, "x is wrong", TRS_OK);
}

/* A general matrix: a grid of m x m points, or a tree, whose factors have no fill. */
static model grid(int m)
{
    model g = {.n = m * m};
    for (int i = 0; i < g.n; i++) {
        const int to[] = {i - m, i % m ? i - 1 : -1, i % m < m - 1 ? i + 1 : -1, i + m};
        model_add(&g, i, i, 5);
        for (int k = 0; k < 4; k++)
            if (to[k] >= 0 && to[k] < g.n) model_add(&g, i, to[k], -1 - 0.1 * k);
    }
    return g;
}

static model tree(int n)
{
    model t = {.n = n};
    for (int i = 0; i < n; i++) {
        const int parent = i + 1 + i % 3;
        model_add(&t, i, i, 5);
        if (parent < n) model_add(&t, i, parent, -1), model_add(&t, parent, i, -0.5);
    }
    return t;
}

/* ---- lives ------------------------------------------------------------------------------------------------ */

static trs_options options(life *l)
{
    return (trs_options){.solver = l->solver ? l->solver->name : NULL,
                         .ops = 1u << TRS_N | 1u << TRS_T,
                         .nrhs = NRHS,
                         .device = l->there ? TRS_CUDA(0) : TRS_HOST,
                         .memory = counted_memory(&l->host)};
}

/* w: NULL for the plan's own */
static void solve_plan(life *l, const trs_plan *p, trs_work *w)
{
    const trs_exec exec = {.work = w};
    const int n = l->m.n;
    for (int turn = 0; turn < 4; turn++) {
        const trs_op op = turn % 2 ? TRS_T : TRS_N;
        const int nrhs = turn < 2 ? 1 : NRHS;
        spoil(l);
        if (!TWICE(l, trs_solve(p, op, nrhs, given(l), n, found(l), n, &exec))) check(l, op, nrhs);
    }
}

static void plan_life(life *l)
{
    const trs_options opt = options(l);
    trs_plan *p = NULL;
    trs_work *w = NULL;
    int rc = TRY(l, trs_plan_create(&p, matrix(l), &opt));
    if (!rc) rc = TRY(l, trs_plan_analyse(p));
    if (!rc) rc = TWICE(l, trs_plan_update(p, &l->a, NULL));
    if (!rc) rc = TWICE(l, trs_plan_update(p, &l->d, NULL));
    if (!rc) rc = TWICE(l, trs_work_create(&w, p, NRHS));
    if (!rc) solve_plan(l, p, w);
    if (!rc && !l->solver) { /* it grows */
        (void)TWICE(l, trs_plan_tune(p));
        solve_plan(l, p, NULL);
    }
    faults.on = true;
    trs_work_destroy(w);
    trs_plan_destroy(p);
    destroyed(l);
}

/* Large arrays take long: one solve. */
static void large_life(life *l)
{
    const trs_options opt = options(l);
    const int n = l->m.n;
    trs_plan *p = NULL;
    int rc = TRY(l, trs_plan_create(&p, matrix(l), &opt));
    if (!rc) rc = TRY(l, trs_plan_analyse(p));
    if (!rc) rc = TWICE(l, trs_plan_update(p, &l->a, NULL));
    spoil(l);
    if (!rc && !TWICE(l, trs_solve(p, TRS_N, 1, given(l), n, found(l), n, NULL)))
        check(l, TRS_N, 1);
    faults.on = true;
    trs_plan_destroy(p);
    destroyed(l);
}

static void batch_life(life *l)
{
    const trs_options opt = options(l);
    const trs_batch batch = {.count = 1, .val = l->d.val};
    const int n = l->m.n;
    int64_t bad[2];
    trs_plan *p = NULL;
    int rc = TRY(l, trs_plan_create(&p, matrix(l), &opt));
    if (!rc) rc = TRY(l, trs_plan_analyse(p));
    spoil(l);
    if (!rc && !TWICE(l, trs_solve_batch(p, TRS_T, &batch, 1, given(l), n, found(l), n, NULL, bad)))
        check(l, TRS_T, 1);
    faults.on = true;
    trs_plan_destroy(p);
    destroyed(l);
}

/* x = A^-1 (A b), and so b; b is what is solved for. */
static void product_life(life *l)
{
    const int n = l->m.n;
    trs_error e = {0};
    spoil(l);
    for (int op = TRS_N; op <= TRS_T; op++)
        (void)TWICE(l, trs_multiply_on(&l->d, (trs_op)op, NRHS, l->dev_b, n, l->dev_x, n, NULL));
    (void)TWICE(
        l, trs_backward_error(&l->d, TRS_T, NRHS, l->dev_x, n, l->dev_b, n, TRS_COL_MAJOR, &e));
    if (!faults.pretends && !(e.omega <= 1e-12)) complain(l, "a product is wrong", TRS_OK);
}

/* New values from either side, and solves. */
static void use_factors(life *l, trs_lu *lu)
{
    const int n = l->m.n;
    int rc = TWICE(l, trs_lu_update(lu, &l->a));
    if (!rc) rc = TWICE(l, trs_lu_update_on(lu, &l->d, NULL));
    if (!rc) rc = TWICE(l, trs_lu_status(lu, NULL, NULL, NULL));
    for (int op = TRS_N; op <= TRS_T && !rc; op++) {
        spoil(l);
        rc = TWICE(l, trs_lu_solve(lu, (trs_op)op, NRHS, given(l), n, found(l), n, NULL));
        if (!rc) check(l, (trs_op)op, NRHS);
    }
}

static void ilu_life(life *l)
{
    const trs_ilu_options opt = {.plan = options(l)};
    trs_lu *lu = NULL;
    if (!TRY(l, trs_ilu(&lu, matrix(l), &opt))) use_factors(l, lu);
    faults.on = true;
    trs_lu_destroy(lu);
    destroyed(l);
}

#ifdef HAVE_SUITESPARSE
static void factor_life(life *l)
{
    const trs_factor_options opt = {.plan = options(l)};
    const int n = l->m.n;
    trs_lu *lu = NULL;
    trs_error e;
    int steps;
    int rc = TRY(l, trs_factor(&lu, matrix(l), &opt));
    if (!rc) use_factors(l, lu);
    if (!rc && !TWICE(l, trs_lu_refine(lu, &l->d, TRS_N, NRHS, l->dev_b, n, l->dev_x, n, NULL, 5,
                                       &steps, &e)))
        check(l, TRS_N, NRHS);
    faults.on = true;
    trs_lu_destroy(lu);
    destroyed(l);
}
#endif

/* ---- all of them ------------------------------------------------------------------------------------------- */

/* Has the call with that number failed?  -1: none is to. */
static bool live(life *l, void (*once)(life *), long fail_at)
{
    const long before = faults.live;
    l->host = (counter){.fail_at = -1};
    l->hit = false;
    faults.calls = 0;
    faults.fail_at = fail_at;
    faults.failed = NULL;
    once(l);
    if (l->host.live) complain(l, "memory of the host is left", TRS_OK);
    if (faults.live != before) complain(l, "something is left on the device", TRS_OK);
    faults.live = before;
    return l->hit;
}

static void every_call_fails(life *l, void (*once)(life *))
{
    long k = 0;
    (void)live(l, once, -1); /* what processes keep is made */
    if (l->refused) print_message("%s is left out: %s\n", l->name, trs_message());
    while (!l->refused && k < MOST_CALLS && live(l, once, k)) k++;
    if (!l->refused) print_message("%s%s: %ld calls\n", l->name, from(l), k);
    if (k == MOST_CALLS) complain(l, "it has no end", TRS_OK);
}

static long wrong; /* in all lives of a test */

static void nothing_was_wrong(void)
{
    const long all = wrong;
    wrong = 0;
    assert_int_equal(all, 0);
}

/* Consumes m.  Analyses on a device cannot be pretended: what they find is no number. */
static void live_all(const char *name, const trs_solver *s, model m, unsigned kind,
                     void (*once)(life *))
{
    if (faults.pretends && !s) skip();
    for (int sent = 0; sent < 2 - faults.pretends; sent++) {
        life l = life_new(name, s, m, kind, sent);
        every_call_fails(&l, once);
        wrong += l.wrong;
        life_free(&l);
    }
    model_free(&m);
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    const bool general = s->family == TRS_GENERAL_DENSE;
    char why[200];
    random_t r = {11};
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    if (faults.pretends && !strcmp(s->name, "cuda-segments")) skip(); /* cuts on the device */
    if (general) live_all(s->name, s, model_new(FULL, false, true, false, &r), 0, plan_life);
    else {
        live_all(s->name, s, model_new(RANDOM, false, true, false, &r), TRS_LOWER, plan_life);
        live_all(s->name, s, model_new(CHAIN, false, true, false, &r), TRS_LOWER, plan_life);
    }
    nothing_was_wrong();
}

static void test_choice(void **state)
{
    random_t r = {12};
    (void)state;
    live_all("auto", NULL, model_new(RANDOM, false, true, false, &r), TRS_LOWER, plan_life);
    nothing_was_wrong();
}

/* Arrays that are copied through a ring of pinned memory (cuda/runtime/copy.cu). */
static void test_large(void **state)
{
    enum { LARGE = 13 << 16 };
    (void)state;
    model m = {.n = LARGE};
    if (faults.pretends) skip(); /* it takes long */
    for (int i = 0; i < LARGE; i++) {
        if (i % 2) model_add(&m, i, i - 1, -1);
        model_add(&m, i, i, 2);
    }
    const trs_solver *s = trs_solver_named("cuda-dataflow");
    if (s) live_all("large arrays", s, m, TRS_LOWER, large_life);
    nothing_was_wrong();
}

static void test_batch(void **state)
{
    random_t r = {13};
    (void)state;
    live_all("batch", NULL, model_new(RANDOM, false, true, false, &r), TRS_LOWER, batch_life);
    nothing_was_wrong();
}

static void test_products(void **state)
{
    (void)state;
    live_all("products", NULL, grid(9), 0, product_life);
    nothing_was_wrong();
}

static void test_ilu(void **state)
{
    (void)state;
    live_all("ilu", NULL, tree(200), 0, ilu_life);
    nothing_was_wrong();
}

static void test_factor(void **state)
{
    (void)state;
#ifdef HAVE_SUITESPARSE
    live_all("small factors", NULL, grid(6), 0, factor_life);
    live_all("factors", NULL, grid(20), 0, factor_life);
    nothing_was_wrong();
#else
    skip();
#endif
}

int main(void)
{
    struct CMUnitTest tests[70] = {
        cmocka_unit_test(test_choice),   cmocka_unit_test(test_batch),
        cmocka_unit_test(test_products), cmocka_unit_test(test_ilu),
        cmocka_unit_test(test_factor),   cmocka_unit_test(test_large),
    };
    int count = 6;
    faults.pretends = !has_device();
    for (int k = 0; trs_solver_at(k) && count < 70; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->place == TRS_ON_CUDA)
            tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    choose_solvers();
    return _cmocka_run_group_tests("t_faults", tests, (size_t)count, NULL, NULL);
}
