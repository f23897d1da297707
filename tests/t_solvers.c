/* t_solvers.c: every solver of the table on every shape of triangle.
 *
 * The shapes are drawn, with a fixed seed, from the product of patterns, types, ops, formats, widths,
 * layouts and orders; the answer is judged by a full matrix in long double (test.h). */
#include "config.h"

#include "internal.h"
#include "test.h"

enum { CPU_CASES = 400, GPU_CASES = 160 };

typedef struct request { /* how a triangle is solved with */
    trs_op op;
    int nrhs;
    trs_layout layout;
    trs_order order;
    int64_t ld;
    bool in_place, on_device, cut;
} request;

static void draw_shape(uint64_t *r, shape *s)
{
    static const int sizes[] = {0, 1, 2, 3, 17, 64, 65, 200};
    *s = (shape){.pattern = (pattern)draw_below(r, PATTERNS), .n = sizes[draw_below(r, 8)]};
    if (s->pattern == LONG_ROWS && s->n > 100)
        s->n = 1650; /* longer than a block and than a piece */
    s->dtype = (trs_dtype)draw_below(r, 4);
    s->format = (trs_format)draw_below(r, 3);
    if (s->n > 1000) s->format = TRS_CSR;
    s->kind = (draw_below(r, 2) ? TRS_LOWER : TRS_UPPER) | (draw_below(r, 3) ? 0 : TRS_UNIT);
    s->base = draw_below(r, 2);
    s->ptr_bits = draw_below(r, 2) ? 64 : 32;
    s->idx_bits = draw_below(r, 2) ? 64 : 32;
    s->shuffled = draw_below(r, 2);
    s->garbage = draw_below(r, 2);
    s->seed = draw(r);
}

static void draw_request(uint64_t *r, const shape *s, bool gpu, request *q)
{
    *q = (request){.op = (trs_op)draw_below(r, 3), .nrhs = draw_below(r, 2) ? 1 : 3};
    q->layout = draw_below(r, 3) ? TRS_COL_MAJOR : TRS_ROW_MAJOR;
    q->order = draw_below(r, 3) ? TRS_ORDER_NATURAL : TRS_ORDER_LEVEL;
    q->ld = (q->layout == TRS_COL_MAJOR ? s->n : q->nrhs) + draw_below(r, 3);
    if (q->ld == 0) q->ld = 1;
    q->in_place = draw_below(r, 2);
    q->on_device = gpu && draw_below(r, 2);
    q->cut = draw_below(r, 4) == 0;
}

static int64_t elements(const shape *s, const request *q)
{
    return q->ld * (q->layout == TRS_COL_MAJOR ? q->nrhs : s->n) + 1;
}

static int64_t at(const request *q, int64_t i, int r)
{
    return q->layout == TRS_COL_MAJOR ? i + r * q->ld : i * q->ld + r;
}

/* trs_solve with B and X where the plan expects them. */
static int solve(trs_plan *plan, const shape *s, const request *q, const void *b, void *x)
{
    const trs_exec exec = {.layout = q->layout};
    const size_t bytes = (size_t)elements(s, q) * size_of(s->dtype);
    if (!q->on_device) {
        if (q->in_place) memcpy(x, b, bytes);
        return trs_solve(plan, q->op, q->nrhs, q->in_place ? x : b, q->ld, x, q->ld, &exec);
    }
    void *db, *dx;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &db), TRS_OK);
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &dx), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), db, b, bytes), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), dx, q->in_place ? b : x, bytes), TRS_OK);
    int rc = trs_solve(plan, q->op, q->nrhs, q->in_place ? dx : db, q->ld, dx, q->ld, &exec);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, dx, bytes), TRS_OK);
    trs_device_free(TRS_CUDA(0), db);
    trs_device_free(TRS_CUDA(0), dx);
    return rc;
}

static void describe(char *text, size_t size, const char *solver, const shape *s, const request *q)
{
    snprintf(text, size,
             "%s: pattern %d n %d type %d format %d kind %u base %d bits %d/%d shuffled %d garbage "
             "%d; op %d "
             "nrhs %d layout %d order %d in place %d device %d cut %d",
             solver, s->pattern, s->n, s->dtype, s->format, s->kind, s->base, s->ptr_bits,
             s->idx_bits, s->shuffled, s->garbage, q->op, q->nrhs, q->layout, q->order, q->in_place,
             q->on_device, q->cut);
}

static trs_plan *make_plan(const char *solver, unsigned caps, const triangle *t, const request *q)
{
    static const trs_solver *pieces[3];
    static int32_t cut[2];
    const trs_options opt = {.solver = solver,
                             .ops = 1u << q->op,
                             .nrhs = q->nrhs,
                             .layout = q->layout,
                             .order = q->order,
                             .device = q->on_device ? TRS_CUDA(0) : TRS_HOST,
                             .threads = 2};
    trs_plan *plan;
    int rc = trs_plan_create(&plan, &t->mat, &opt);
    if (rc) print_error("# %s\n", trs_plan_message(plan));
    assert_int_equal(rc, TRS_OK);
    if (q->cut && (caps & TRS_CAP_PARTS) && t->mat.n > 2) {
        cut[0] = (int32_t)t->mat.n / 3, cut[1] = (int32_t)t->mat.n / 2;
        for (int k = 0; k < 3; k++) pieces[k] = trs_solver_named(solver);
        plan->ncuts = 2, plan->cut = cut, plan->cut_solver = pieces;
    }
    rc = trs_plan_analyse(plan);
    if (rc) print_error("# %s: %s\n", solver, trs_plan_message(plan));
    assert_int_equal(rc, TRS_OK);
    return plan;
}

/* B, and an X that says when it has not been written. */
static void fill(uint64_t *r, const shape *s, const request *q, void *b, void *x)
{
    const int64_t count = elements(s, q);
    memset(x, 0xff, (size_t)count * size_of(s->dtype));
    for (int64_t k = 0; k < count; k++) put_number(b, s->dtype, k, draw_number(r), draw_number(r));
}

static void check_answer(const trs_solver_info *info, const triangle *t, const shape *s,
                         const request *q, const void *b, const void *x, int64_t longest)
{
    char text[400];
    const size_t size = size_of(s->dtype);
    const int64_t step = q->layout == TRS_COL_MAJOR ? 1 : q->ld;
    describe(text, sizeof text, info->name, s, q);
    for (int r = 0; r < q->nrhs && s->n > 0; r++) {
        double omega, normwise;
        dense_error(t, q->op, (const char *)b + (size_t)at(q, 0, r) * size,
                    (const char *)x + (size_t)at(q, 0, r) * size, step, &omega, &normwise);
        if (info->accuracy == TRS_SUBSTITUTION)
            assert_at_most(omega, 4 * (double)(longest + 1) * eps_of(s->dtype), "%s", text);
        else assert_at_most(normwise, 8 * s->n * eps_of(s->dtype), "%s", text);
    }
    /* what lies between the columns, or the rows, was not touched (in place it holds what b held) */
    for (int64_t i = s->n; q->layout == TRS_COL_MAJOR && i < q->ld && !q->in_place; i++)
        for (int r = 0; r < q->nrhs; r++) assert_true(is_nan_at(x, s->dtype, at(q, i, r)));
    for (int64_t r = q->nrhs; q->layout == TRS_ROW_MAJOR && r < q->ld && !q->in_place; r++)
        for (int i = 0; i < s->n; i++) assert_true(is_nan_at(x, s->dtype, i * q->ld + r));
}

static void one_case(const trs_solver_info *info, uint64_t seed)
{
    shape s;
    request q;
    trs_info plan_info;
    uint64_t r = seed;
    draw_shape(&r, &s);
    draw_request(&r, &s, !strcmp(info->needs, "cuda"), &q);
    triangle t = make_triangle(&s);
    trs_plan *plan = make_plan(info->name, info->caps, &t, &q);
    trs_plan_info(plan, &plan_info);
    const size_t bytes = (size_t)elements(&s, &q) * size_of(s.dtype);
    void *b = malloc(bytes), *x = malloc(bytes), *again = malloc(bytes), *copy = malloc(bytes);
    fill(&r, &s, &q, b, x);
    memcpy(copy, b, bytes);
    memcpy(again, x, bytes);
    int rc = solve(plan, &s, &q, b, x);
    if (q.layout == TRS_ROW_MAJOR && q.nrhs > 1 && s.n > 0 && !(info->caps & TRS_CAP_ROW_MAJOR)) {
        assert_int_equal(rc, TRS_ESUPPORT);
        assert_memory_equal(x, q.in_place ? b : again, bytes);
    } else {
        assert_int_equal(rc, TRS_OK);
        assert_memory_equal(b, copy, bytes);
        check_answer(info, &t, &s, &q, b, x, plan_info.longest);
        assert_int_equal(solve(plan, &s, &q, b, again), TRS_OK);
        if (info->caps & TRS_CAP_BITWISE) assert_memory_equal(x, again, bytes);
        /* the same values once more are no news */
        assert_int_equal(trs_plan_update(plan, &t.mat, NULL), TRS_OK);
        assert_int_equal(solve(plan, &s, &q, b, again), TRS_OK);
        check_answer(info, &t, &s, &q, b, again, plan_info.longest);
    }
    trs_plan_destroy(plan);
    free_triangle(&t);
    free(b);
    free(x);
    free(again);
    free(copy);
}

static bool next_solver(int *k, trs_solver_info *info)
{
    while (trs_solver_get((*k)++, info) == TRS_OK) {
        if (trs_solver_named(info->name)->family != TRS_TRIANGLE) continue;
        if (info->available) return true;
        print_message("# %s: not here: %s\n", info->name, info->why);
    }
    return false;
}

static void all_shapes(void **state)
{
    trs_solver_info info;
    (void)state;
    for (int k = 0; next_solver(&k, &info);) {
        int cases = !strcmp(info.needs, "cuda") ? GPU_CASES : CPU_CASES;
        if (getenv("TRS_FEW")) cases /= 8;
        for (int c = 0; c < cases; c++) one_case(&info, 1000003u * (unsigned)c + 17);
        print_message("# %s: %d cases\n", info.name, cases);
    }
}

/* A NaN in b reaches what depends on it and, where x is made by substitution, nothing else. */
static void nan_spreads(void **state)
{
    trs_solver_info info;
    (void)state;
    for (int k = 0; next_solver(&k, &info);)
        for (int kind = TRS_LOWER; kind <= TRS_UPPER; kind++) {
            shape s = {.pattern = RANDOM,
                       .n = 60,
                       .dtype = TRS_F64,
                       .kind = (unsigned)kind,
                       .ptr_bits = 64,
                       .idx_bits = 32,
                       .seed = 5};
            request q = {.nrhs = 1, .ld = 60};
            triangle t = make_triangle(&s);
            trs_plan *plan = make_plan(info.name, 0, &t, &q);
            double b[61], x[61];
            bool reached[60] = {false};
            uint64_t r = 3;
            fill(&r, &s, &q, b, x);
            const int first = kind == TRS_LOWER ? 7 : 52, step = kind == TRS_LOWER ? 1 : -1;
            b[first] = NAN;
            reached[first] = true;
            for (int i = first + step; i >= 0 && i < 60; i += step)
                for (int j = first; j != i; j += step)
                    if (reached[j] && t.dense[2 * (i * 60 + j)] != 0) reached[i] = true;
            assert_int_equal(solve(plan, &s, &q, b, x), TRS_OK);
            for (int i = 0; i < 60; i++) {
                if (reached[i]) assert_true(isnan(x[i]));
                else if (info.accuracy == TRS_SUBSTITUTION) assert_false(isnan(x[i]));
            }
            trs_plan_destroy(plan);
            free_triangle(&t);
        }
}

/* Exact answers: small integers. */
static void seed_examples(void **state)
{
    static const int64_t ptr[] = {0, 1, 2, 3, 6, 8};
    static const int32_t idx[] = {0, 1, 2, 0, 1, 3, 0, 4};
    static const double val[] = {2, 2, 2, 1, 1, 2, 1, 4}, b[] = {2, 4, 6, 5, 9},
                        answer[] = {1, 2, 3, 1, 2};
    const trs_mat m = {.n = 5, .nnz = 8, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    trs_solver_info info;
    (void)state;
    for (int k = 0; next_solver(&k, &info);) {
        const trs_options opt = {.solver = info.name};
        trs_plan *plan;
        double x[5];
        assert_int_equal(trs_plan_create(&plan, &m, &opt), TRS_OK);
        assert_int_equal(trs_plan_analyse(plan), TRS_OK);
        assert_int_equal(trs_solve(plan, TRS_N, 1, b, 5, x, 5, NULL), TRS_OK);
        for (int i = 0; i < 5; i++) assert_true(x[i] == answer[i]);
        trs_plan_destroy(plan);
    }
}

/* Every real matrix that ships: its lower triangle, the diagonal made 1 where there is none. */
static void real_matrices(void **state)
{
    static const char *const name[] = {"1138_bus", "bcsstk02", "bfwa62",           "cg20",
                                       "qc324",    "rdb3200l", "superlu_airfoil2", "impcol_a",
                                       "Erdos971", "plskz362"};
    trs_solver_info info;
    char file[1000];
    (void)state;
    const char *folder = getenv("TRS_SRCDIR");
    if (!folder) skip();
    for (size_t f = 0; f < sizeof name / sizeof *name; f++) {
        trs_mm mm;
        trs_mat m;
        snprintf(file, sizeof file, "%s/matrices/%s.mtx", folder, name[f]);
        assert_int_equal(trs_mm_read(file, NULL, &mm), TRS_OK);
        assert_int_equal(trs_mm_mat(&mm, TRS_LOWER | (f >= 7 ? TRS_UNIT : 0), &m), TRS_OK);
        const size_t bytes = (size_t)m.n * size_of(m.dtype);
        void *b = malloc(bytes), *x = malloc(bytes);
        uint64_t r = f;
        for (int64_t i = 0; i < m.n; i++)
            put_number(b, m.dtype, i, draw_number(&r), draw_number(&r));
        for (int k = 0; next_solver(&k, &info);) {
            const trs_options opt = {.solver = info.name};
            trs_plan *plan;
            trs_info facts;
            trs_error e;
            assert_int_equal(trs_plan_create(&plan, &m, &opt), TRS_OK);
            assert_int_equal(trs_plan_analyse(plan), TRS_OK);
            assert_int_equal(trs_solve(plan, TRS_N, 1, b, m.n, x, m.n, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&m, TRS_N, 1, b, m.n, x, m.n, TRS_COL_MAJOR, &e),
                             TRS_OK);
            trs_plan_info(plan, &facts);
            if (info.accuracy == TRS_SUBSTITUTION)
                assert_at_most(e.omega, 4 * (double)(facts.longest + 1) * 0x1p-52, "%s %s", name[f],
                               info.name);
            else assert_at_most(e.normwise, (double)m.n * 0x1p-52, "%s %s", name[f], info.name);
            trs_plan_destroy(plan);
        }
        free(b);
        free(x);
        trs_mm_free(&mm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(seed_examples),
                                       cmocka_unit_test(all_shapes), cmocka_unit_test(nan_spreads),
                                       cmocka_unit_test(real_matrices)};
    return cmocka_run_group_tests_name("solvers", tests, NULL, NULL);
}
