/* t_bits.c: solvers that promise the same bits give them: run after run, on any stream or number of
 * threads, with a work space of one's own of any width (on a CPU), after an update with the same values, from a saved plan. */
#include "tests/common/stream.h"

#include <unistd.h>

enum { RUNS = 100, RUNS_ON_CPU = 30, STREAMS = 3, NRHS = 11 };

static char file[40];

typedef struct scene {
    const trs_solver *solver;
    model m;
    form f;
    trs_mat a;
    trs_options opt;
    size_t bytes; /* of B and X */
    void *b, *x, *again;
} scene;

static scene draw(const trs_solver *s, pattern pat, trs_dtype t)
{
    random_t r = {(uint64_t)pat};
    const bool general = s->family == TRS_GENERAL_DENSE;
    scene c = {.solver = s, .f = {.dtype = t, .format = general ? TRS_DENSE : TRS_CSR}};
    c.f.ptr_bits = 64, c.f.idx_bits = 32;
    c.m = model_new(general ? FULL : pat, false, s->full || general, trs_is_complex(t), &r);
    c.a = show(&c.m, &c.f, &r);
    if (general) c.a.kind = 0; /* a lower triangle is a general matrix too */
    c.opt = (trs_options){.solver = s->name, .ops = 3, .nrhs = NRHS, .bitwise = 1};
    c.bytes = (size_t)c.m.n * NRHS * trs_size(t);
    c.b = malloc(c.bytes), c.x = malloc(c.bytes), c.again = malloc(c.bytes);
    assert_true(c.b && c.x && c.again);
    for (int i = 0; i < c.m.n * NRHS; i++)
        set_number(c.b, t, i, random_uniform(&r) + random_uniform(&r) * I);
    return c;
}

static void scene_free(scene *c)
{
    mat_free(&c->a);
    model_free(&c->m);
    free(c->b), free(c->x), free(c->again);
}

/* NULL: the solver cannot do this type or size. */
static trs_plan *make(const scene *c, bool load)
{
    trs_plan *p = NULL;
    int rc = trs_plan_create(&p, &c->a, &c->opt);
    if (!rc) rc = load ? trs_plan_load(p, file) : trs_plan_analyse(p);
    if (rc == TRS_ESUPPORT && !load) {
        trs_plan_destroy(p);
        return NULL;
    }
    assert_status(rc, TRS_OK);
    return p;
}

static void solve(const scene *c, const trs_plan *p, trs_op op, const trs_exec *exec, void *x)
{
    const int64_t n = c->m.n;
    assert_int_equal(trs_solve(p, op, NRHS, c->b, n, x, n, exec), TRS_OK);
    stream_wait(exec->stream);
}

static void same(const scene *c, const trs_plan *p, trs_op op, const trs_exec *exec,
                 const char *when)
{
    memset(c->again, 0x5a, c->bytes);
    solve(c, p, op, exec, c->again);
    if (memcmp(c->x, c->again, c->bytes)) print_error("%s: other bits %s\n", c->solver->name, when);
    assert_memory_equal(c->x, c->again, c->bytes);
}

/* x does not depend on how many right-hand sides a solver has at a time. */
static void all_widths(const scene *c, const trs_plan *p, trs_op op)
{
    for (int width = 1; width <= NRHS + 1 && c->solver->place == TRS_ON_CPU; width++) {
        trs_exec exec = {0};
        assert_int_equal(trs_work_create(&exec.work, p, width), TRS_OK);
        same(c, p, op, &exec, "with another max_nrhs");
        trs_work_destroy(exec.work);
    }
}

static void all_ways(scene *c, trs_plan *p, trs_op op)
{
    const int runs = c->solver->place == TRS_ON_CPU ? RUNS_ON_CPU : RUNS;
    void *stream[STREAMS];
    trs_work *work;
    const trs_exec plain = {0};
    for (int k = 0; k < STREAMS; k++) stream[k] = stream_new(c->solver);
    assert_int_equal(trs_work_create(&work, p, NRHS), TRS_OK);
    solve(c, p, op, &plain, c->x);
    for (int k = 0; k < runs; k++) {
        const trs_exec exec = {
            .stream = stream[k % STREAMS], .work = k % 2 ? work : NULL, .threads = 1 + k % 3};
        same(c, p, op, &exec, "in another run");
    }
    all_widths(c, p, op);
    assert_status(trs_plan_update(p, &c->a, NULL), TRS_OK);
    same(c, p, op, &plain, "after an update");
    int rc = trs_plan_save(p, file);
    if (!rc) {
        trs_plan *loaded = make(c, true);
        same(c, loaded, op, &plain, "from a saved plan");
        trs_plan_destroy(loaded);
    } else {
        assert_int_equal(rc, TRS_ESUPPORT); /* no xxhash, or a general matrix */
    }
    trs_work_destroy(work);
    for (int k = 0; k < STREAMS; k++) stream_free(stream[k]);
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    static const pattern patterns[] = {RANDOM, LONG_ROWS, WIDE};
    static const trs_dtype dtypes[] = {TRS_F64, TRS_C32, TRS_F32};
    char why[200];
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    for (int k = 0; k < 3; k++) {
        scene c = draw(s, patterns[k], dtypes[k]);
        for (int order = 0; order < 3; order++) {
            c.opt.order = (trs_order)order;
            trs_plan *p = make(&c, false);
            if (!p) continue;
            all_ways(&c, p, TRS_N);
            all_ways(&c, p, TRS_T);
            trs_plan_destroy(p);
        }
        scene_free(&c);
    }
    unlink(file);
}

int main(void)
{
    struct CMUnitTest tests[64];
    int count = 0;
    snprintf(file, sizeof file, "t_bits-%ld.plan", (long)getpid());
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (!(s->caps & TRS_CAP_BITWISE)) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    choose_solvers();
    return _cmocka_run_group_tests("t_bits", tests, (size_t)count, NULL, NULL);
}
