/* t_shared.c: solves that threads share, with every solver of the CPU: all types and ops, one column and several, both
 * layouts, and work spaces for fewer and for more columns.
 *
 * B is op(T) X for an X that is known, summed up by plain loops.  The rows of T are diagonally dominant, so that x is near
 * to X; what is computed with a value that is not the right one, or not conjugated, is far from it.  With TRS_CAP_BITWISE
 * one thread finds the same bits as several. */
#include "large.h"

#include <math.h>

enum { COLUMNS = 5, TEAM = 3 };

typedef struct problem {
    const char *pattern;
    large t;
    trs_dtype type;
    void *val;
    zz *x;      /* [COLUMNS][n] */
    void *b[3]; /* [COLUMNS][n] of each op */
} problem;

typedef struct scene { /* one solve */
    const trs_solver *solver;
    const problem *p;
    trs_op op;
    int nrhs, width; /* columns of the work space */
    trs_layout layout;
} scene;

/* ---- problems ------------------------------------------------------------------------------------- */

static zz draw(trs_dtype type, random_t *r)
{
    const double re = random_uniform(r), im = random_uniform(r);
    return trs_is_complex(type) ? re + im * I : re;
}

static void fill_values(problem *p, random_t *r)
{
    p->val = zeroed(p->t.nnz, sizeof(zz));
    for (int64_t i = 0; i < p->t.n; i++) {
        const int64_t diagonal = p->t.ptr[i + 1] - 1;
        double sum = 1;
        for (int64_t k = p->t.ptr[i]; k < diagonal; k++) {
            const zz v = draw(p->type, r);
            set_number(p->val, p->type, k, v);
            sum += cabs(v);
        }
        set_number(p->val, p->type, diagonal,
                   trs_is_complex(p->type) ? sum * (0.8 + 0.6 * I) : sum);
    }
}

/* b = op(T) x of one column */
static void multiply(const problem *p, trs_op op, const zz *x, zz *b)
{
    for (int64_t i = 0; i < p->t.n; i++) b[i] = 0;
    for (int64_t i = 0; i < p->t.n; i++)
        for (int64_t k = p->t.ptr[i]; k < p->t.ptr[i + 1]; k++) {
            const int64_t j = p->t.idx[k];
            const zz a = get_number(p->val, p->type, k);
            if (op == TRS_N) b[i] += a * x[j];
            else b[j] += (op == TRS_H ? conj(a) : a) * x[i];
        }
}

static problem problem_new(int shape, trs_dtype type)
{
    random_t r = {(uint64_t)type + 1};
    problem p = {.pattern = large_name[shape], .t = large_new(shape), .type = type};
    const int64_t n = p.t.n;
    fill_values(&p, &r);
    p.x = zeroed(n * COLUMNS, sizeof *p.x);
    for (int64_t k = 0; k < n * COLUMNS; k++) p.x[k] = draw(type, &r);
    zz *b = zeroed(n, sizeof *b);
    for (int op = 0; op < 3; op++) {
        p.b[op] = zeroed(n * COLUMNS, sizeof *p.x);
        for (int c = 0; c < COLUMNS; c++) {
            multiply(&p, (trs_op)op, p.x + c * n, b);
            for (int64_t i = 0; i < n; i++) set_number(p.b[op], type, c * n + i, b[i]);
        }
    }
    free(b);
    return p;
}

static void problem_free(problem *p)
{
    large_free(&p->t);
    free(p->val), free(p->x);
    for (int op = 0; op < 3; op++) free(p->b[op]);
}

/* ---- solves ---------------------------------------------------------------------------------------- */

static void describe(const scene *s, const char *what)
{
    print_error("%s: %s %s, op %s, %d columns %s, work space for %d: %s\n", s->solver->name,
                s->p->pattern, type_name[s->p->type], op_name[s->op], s->nrhs,
                s->layout == TRS_ROW_MAJOR ? "rows" : "columns", s->width, what);
}

static int64_t place(const scene *s, int64_t i, int c)
{
    return s->layout == TRS_ROW_MAJOR ? i * s->nrhs + c : i + c * s->p->t.n;
}

/* B by rows; free it. */
static void *by_rows(const scene *s)
{
    const int64_t n = s->p->t.n;
    void *b = zeroed(n * s->nrhs, trs_size(s->p->type));
    for (int c = 0; c < s->nrhs; c++)
        for (int64_t i = 0; i < n; i++)
            set_number(b, s->p->type, place(s, i, c),
                       get_number(s->p->b[s->op], s->p->type, c * n + i));
    return b;
}

/* X by so many threads; free it. */
static void *solve(const scene *s, const trs_plan *plan, int threads)
{
    const bool rows = s->layout == TRS_ROW_MAJOR;
    const int64_t n = s->p->t.n, ld = rows ? s->nrhs : n;
    void *b = rows ? by_rows(s) : NULL, *x = zeroed(n * s->nrhs, trs_size(s->p->type));
    trs_work *work;
    assert_status(trs_work_create(&work, plan, s->width), TRS_OK);
    const trs_exec exec = {.layout = s->layout, .threads = threads, .work = work};
    const int rc = trs_solve(plan, s->op, s->nrhs, rows ? b : s->p->b[s->op], ld, x, ld, &exec);
    if (rc) describe(s, trs_message());
    assert_int_equal(rc, TRS_OK);
    trs_work_destroy(work);
    free(b);
    return x;
}

/* Both parts of a number are compared: cabs would take longer than the solves. */
static void check_numbers(const scene *s, const void *x)
{
    const int64_t n = s->p->t.n;
    const double most = 1e4 * epsilon(s->p->type);
    for (int c = 0; c < s->nrhs; c++)
        for (int64_t i = 0; i < n; i++) {
            const zz is = get_number(x, s->p->type, place(s, i, c)), must = s->p->x[c * n + i];
            char what[200];
            if (fabs(creal(is - must)) <= most && fabs(cimag(is - must)) <= most) continue;
            snprintf(what, sizeof what, "x(%d, %d) = %g%+gi, not %g%+gi", (int)i, c, creal(is),
                     cimag(is), creal(must), cimag(must));
            describe(s, what);
            fail();
        }
}

static void check_solve(const scene *s, const trs_plan *plan)
{
    void *x = solve(s, plan, TEAM);
    check_numbers(s, x);
    if (s->solver->caps & TRS_CAP_BITWISE) {
        void *alone = solve(s, plan, 1);
        const size_t bytes = (size_t)(s->p->t.n * s->nrhs) * trs_size(s->p->type);
        if (memcmp(x, alone, bytes)) describe(s, "one thread finds other bits");
        assert_memory_equal(x, alone, bytes);
        free(alone);
    }
    free(x);
}

static void check_solver(const trs_solver *solver, const problem *p)
{
    /* columns, and those of the work space */
    static const int widths[][2] = {{1, 1}, {COLUMNS, COLUMNS}, {COLUMNS, 2}, {3, 16}};
    const trs_mat mat = {.n = p->t.n,
                         .nnz = p->t.nnz,
                         .ptr = p->t.ptr,
                         .idx = p->t.idx,
                         .val = p->val,
                         .dtype = p->type,
                         .kind = TRS_LOWER};
    const trs_options opt = {.solver = solver->name, .ops = 7, .threads = TEAM + 1};
    trs_plan *plan;
    assert_status(trs_plan_create(&plan, &mat, &opt), TRS_OK);
    assert_status(trs_plan_analyse(plan), TRS_OK);
    const bool by_rows = solver->caps & TRS_CAP_ROW_MAJOR;
    for (int op = 0; op < 3; op++)
        for (int k = 0; k < 4; k++) {
            scene s = {solver, p, (trs_op)op, widths[k][0], widths[k][1], TRS_COL_MAJOR};
            check_solve(&s, plan);
            s.layout = TRS_ROW_MAJOR;
            if (k == 1 && by_rows) check_solve(&s, plan);
        }
    trs_plan_destroy(plan);
}

/* One pattern and one type: all solvers, so that one problem is in memory at a time. */
static void test_problem(void **state)
{
    const int number = (int)(intptr_t)*state;
    problem p = problem_new(number / 4, (trs_dtype)(number % 4));
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || s->place != TRS_ON_CPU || s->full) continue;
        check_solver(s, &p);
    }
    problem_free(&p);
}

int main(void)
{
    struct CMUnitTest tests[LARGE_PATTERNS * 4];
    static char name[LARGE_PATTERNS * 4][40];
    size_t count = 0;
    for (int k = 0; k < LARGE_PATTERNS * 4; k += case_step()) {
        snprintf(name[k], sizeof name[k], "%s %s", large_name[k / 4], type_name[k % 4]);
        tests[count++] =
            (struct CMUnitTest){name[k], test_problem, NULL, NULL, (void *)(intptr_t)k};
    }
    return _cmocka_run_group_tests("t_shared", tests, count, NULL, NULL);
}
