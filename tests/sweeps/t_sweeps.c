/* t_sweeps.c: k sweeps compute the polynomial of T that Jacobi's iteration is, for all patterns, types, forms, ops and
 * layouts, on the host and, where there is one, on a device; as many as there are levels solve; the error that a plan tells
 * is that of the polynomial, and bounds that of x; a solve is captured in a graph and replayed.  What cannot have sweeps is
 * refused, and nothing else lists them. */
#include "tests/common/counter.h"
#include "tests/common/device.h"
#include "tests/common/model.h"
#include "tests/common/place.h"

#include <math.h>

/* ---- op(T) by its entries, as D (I + N) ----------------------------------------------------------- */

typedef struct split { /* N = D^-1 (op(T) - D) */
    int n;
    int64_t nnz;
    int *row, *col;
    zz *val, *d;
    int *longest; /* [n] entries of the row */
} split;

static split split_of(const model *m, bool unit, trs_op op, trs_dtype t)
{
    split s = {m->n,
               0,
               zeroed(m->nnz, sizeof *s.row),
               zeroed(m->nnz, sizeof *s.col),
               zeroed(m->nnz, sizeof *s.val),
               zeroed(m->n, sizeof *s.d),
               zeroed(m->n, sizeof *s.longest)};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t e = 0; e < m->nnz; e++) {
            const int i = op == TRS_N ? m->row[e] : m->col[e],
                      j = op == TRS_N ? m->col[e] : m->row[e];
            zz v = op == TRS_H ? conj(m->val[e]) : m->val[e];
            if (!trs_is_complex(t)) v = creal(v);
            if (i == j && pass == 0) s.d[i] = unit ? 1 : v;
            if (i == j || pass == 0) continue;
            s.row[s.nnz] = i, s.col[s.nnz] = j;
            s.val[s.nnz++] = v / s.d[i];
            s.longest[i]++;
        }
    return s;
}

static void split_free(split *s)
{
    free(s->row), free(s->col), free(s->val), free(s->d), free(s->longest);
}

/* x = z - N x, and the same of sizes: size = |z| + |N| size */
static void step(const split *s, const zz *z, zz *x, double *size)
{
    zz *y = zeroed(s->n, sizeof *y);
    double *of_y = zeroed(s->n, sizeof *of_y);
    for (int i = 0; i < s->n; i++) y[i] = z[i], of_y[i] = cabs(z[i]);
    for (int64_t e = 0; e < s->nnz; e++) {
        y[s->row[e]] -= s->val[e] * x[s->col[e]];
        of_y[s->row[e]] += cabs(s->val[e]) * size[s->col[e]];
    }
    for (int i = 0; i < s->n; i++) x[i] = y[i], size[i] = of_y[i];
    free(y), free(of_y);
}

/* max |N|^power 1 */
static double power_of(const split *s, int power)
{
    double *u = zeroed(s->n, sizeof *u), *v = zeroed(s->n, sizeof *v), largest = 0;
    for (int i = 0; i < s->n; i++) u[i] = 1;
    for (int q = 0; q < power; q++) {
        for (int i = 0; i < s->n; i++) v[i] = 0;
        for (int64_t e = 0; e < s->nnz; e++) v[s->row[e]] += cabs(s->val[e]) * u[s->col[e]];
        for (int i = 0; i < s->n; i++) u[i] = v[i];
    }
    for (int i = 0; i < s->n; i++) largest = larger(largest, u[i]);
    free(u), free(v);
    return largest;
}

/* ---- one case ------------------------------------------------------------------------------------- */

typedef struct solve_case {
    form f;
    trs_op op;
    int k, nrhs;
    trs_layout layout;
    bool in_place;
} solve_case;

static trs_plan *plan_of(const trs_mat *mat, const solve_case *c)
{
    trs_plan *p;
    const trs_options opt = {.sweeps = c->k,
                             .ops = 1u << c->op,
                             .device = there ? TRS_CUDA(0) : TRS_HOST,
                             .threads = 3,
                             .bitwise = 1};
    assert_status(trs_plan_create(&p, mat, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    return p;
}

/* X [n x nrhs] = what the plan makes of B, both by columns with leading dimension n on the host. */
static void solve(trs_plan *p, const solve_case *c, int n, const void *B, void *X)
{
    const size_t size = trs_size(c->f.dtype), bytes = (size_t)n * (size_t)c->nrhs * size;
    char *b = zeroed((int64_t)bytes + 1, 1), *x = zeroed((int64_t)bytes + 1, 1);
    const bool by_rows = c->layout == TRS_ROW_MAJOR;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < c->nrhs; r++) {
            const int64_t at = by_rows ? i * c->nrhs + r : i + r * n;
            set_number(b, c->f.dtype, at, get_number(B, c->f.dtype, i + r * n));
        }
    void *on_b = place(b, bytes), *on_x = place(x, bytes);
    const trs_exec exec = {.layout = c->layout, .threads = 3};
    const int64_t ld = by_rows ? c->nrhs : n;
    void *const to = c->in_place ? on_b : on_x;
    assert_status(trs_solve(p, c->op, c->nrhs, on_b, ld, to, ld, &exec), TRS_OK);
    bring(x, to, bytes);
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < c->nrhs; r++) {
            const int64_t at = by_rows ? i * c->nrhs + r : i + r * n;
            set_number(X, c->f.dtype, i + r * n, get_number(x, c->f.dtype, at));
        }
    unplace(on_b), unplace(on_x);
    free(b), free(x);
}

/* A column of X is the polynomial of that of B, to the rounding of its sums. */
static void check_column(const split *s, const solve_case *c, const void *B, const void *X, int r)
{
    const double eps = epsilon(c->f.dtype);
    zz *z = zeroed(s->n, sizeof *z), *x = zeroed(s->n, sizeof *x);
    double *size = zeroed(s->n, sizeof *size);
    for (int i = 0; i < s->n; i++) {
        z[i] = get_number(B, c->f.dtype, i + (int64_t)r * s->n) / s->d[i];
        x[i] = z[i], size[i] = cabs(z[i]);
    }
    int longest = 0;
    for (int i = 0; i < s->n; i++) longest = s->longest[i] > longest ? s->longest[i] : longest;
    for (int q = 0; q < c->k; q++) step(s, z, x, size);
    for (int i = 0; i < s->n; i++)
        assert_at_most(cabs(get_number(X, c->f.dtype, i + (int64_t)r * s->n) - x[i]),
                       4 * eps * (longest + 4) * (c->k + 1) * size[i]);
    free(z), free(x), free(size);
}

static void check(const model *m, const solve_case *c, random_t *r)
{
    trs_mat mat = show(m, &c->f, r);
    split s = split_of(m, c->f.unit, c->op, c->f.dtype);
    trs_plan *p = plan_of(&mat, c);
    trs_info info;
    const size_t count = (size_t)m->n * (size_t)c->nrhs, size = trs_size(c->f.dtype);
    void *B = zeroed((int64_t)count + 1, (size_t)size),
         *X = zeroed((int64_t)count + 1, (size_t)size);
    void *again = zeroed((int64_t)count + 1, (size_t)size);
    for (size_t q = 0; q < count; q++)
        set_number(B, c->f.dtype, (int64_t)q, CMPLX(random_uniform(r), random_uniform(r)));
    solve(p, c, m->n, B, X);
    for (int q = 0; q < c->nrhs; q++) check_column(&s, c, B, X, q);
    solve(p, c, m->n, B, again);
    assert_memory_equal(X, again, count * size);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_string_equal(info.solver, there ? "cuda-sweeps" : "cpu-sweeps");
    const double right = power_of(&s, c->k + 1);
    assert_at_most(fabs(info.sweep_error - right), 1e-5 * right);
    if (info.levels <= c->k + 1) assert_true(info.sweep_error == 0);
    trs_plan_destroy(p);
    split_free(&s);
    mat_free(&mat);
    free(B), free(X), free(again);
}

static void check_all(void)
{
    random_t r = {2611};
    int cases = 0;
    for (pattern p = 0; p < PATTERNS; p++)
        for (trs_dtype t = TRS_F64; t <= TRS_C32; t++)
            for (int op = TRS_N; op <= TRS_H; op++, cases++) {
                if (cases % case_step()) continue;
                model m = model_new(p, random_below(&r, 2), true, trs_is_complex(t), &r);
                const solve_case c = {form_random(t, &r),          op,
                                      1 + (cases + cases / 4) % 4, 1 + random_below(&r, 3),
                                      random_below(&r, 2),         random_below(&r, 2)};
                check(&m, &c, &r);
                model_free(&m);
            }
}

static void test_host(void **state)
{
    (void)state;
    there = false;
    check_all();
}

/* Skip if there is no device. */
static void begin_on_device(void)
{
    const trs_solver *s = trs_solver_of_option(false, TRS_ON_CUDA, 0);
    char why[200];
    if (!s || !trs_solver_available(s, 0, why, sizeof why)) skip();
    there = true;
}

static void test_device(void **state)
{
    (void)state;
    begin_on_device();
    check_all();
}

/* ---- captured in a graph --------------------------------------------------------------------------- */

#ifdef HAVE_CUDA

enum { SOLVES = 5 };

/* B [n x nrhs] of this solve. */
static void choose_b(const solve_case *c, int64_t count, void *B, random_t *r)
{
    for (int64_t q = 0; q < count; q++)
        set_number(B, c->f.dtype, q, CMPLX(random_uniform(r), random_uniform(r)));
}

/* A graph of one solve, replayed with new B, and in the end with new values of T: the bits are those of solves that are not
 * captured, and x is the polynomial. */
static void check_replayed(const solve_case *c, random_t *r)
{
    model m = model_new(RANDOM, false, true, trs_is_complex(c->f.dtype), r);
    trs_mat mat = show(&m, &c->f, r);
    trs_plan *p = plan_of(&mat, c);
    trs_work *work;
    const int64_t n = m.n, count = n * c->nrhs;
    const size_t bytes = (size_t)count * trs_size(c->f.dtype);
    void *B = zeroed(count, trs_size(c->f.dtype)), *X = zeroed(count, trs_size(c->f.dtype));
    void *right = zeroed(count, trs_size(c->f.dtype));
    void *b = place(B, bytes), *x = place(X, bytes);
    assert_int_equal(trs_work_create(&work, p, c->nrhs), TRS_OK);
    cudaStream_t s = new_stream();
    const trs_exec exec = {.stream = s, .work = work};
    begin_capture(s);
    const int rc = trs_solve(p, c->op, c->nrhs, b, n, x, n, &exec);
    cudaGraphExec_t graph = end_capture(s);
    assert_status(rc, TRS_OK);
    for (int k = 0; k < SOLVES; k++) {
        if (k == SOLVES - 1) {
            mat_free(&mat);
            for (int64_t e = 0; e < m.nnz; e++) m.val[e] *= m.row[e] == m.col[e] ? -2 : 0.5;
            mat = show(&m, &c->f, r);
            assert_status(trs_plan_update(p, &mat, NULL), TRS_OK);
        }
        choose_b(c, count, B, r);
        solve(p, c, m.n, B, right);
        assert_int_equal(trs_device_put(TRS_CUDA(0), b, B, bytes), TRS_OK);
        replay(graph, s);
        bring(X, x, bytes);
        assert_memory_equal(X, right, bytes);
        split parts = split_of(&m, c->f.unit, c->op, c->f.dtype);
        for (int q = 0; q < c->nrhs; q++) check_column(&parts, c, B, X, q);
        split_free(&parts);
    }
    cudaGraphExecDestroy(graph);
    cudaStreamDestroy(s);
    trs_work_destroy(work);
    trs_plan_destroy(p);
    unplace(b), unplace(x);
    free(B), free(X), free(right);
    mat_free(&mat);
    model_free(&m);
}

static void test_replayed(void **state)
{
    (void)state;
    random_t r = {2711};
    begin_on_device();
    for (trs_dtype t = TRS_F64; t <= TRS_C32; t++)
        for (int op = TRS_N; op <= TRS_H; op++) {
            const form f = {.dtype = t, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
            const solve_case c = {f, op, 1 + op, 1 + (int)t, TRS_COL_MAJOR, false};
            check_replayed(&c, &r);
        }
}

#else

static void test_replayed(void **state)
{
    (void)state;
    skip();
}

#endif

/* ---- a chain, by hand ------------------------------------------------------------------------------ */

/* T = 2 I + shift: x(k) = (I - S/2 + S^2/4 - ...) b / 2, which is exact after n - 1 sweeps. */
static trs_mat chain(void)
{
    static const int64_t ptr[] = {0, 1, 3, 5, 7};
    static const int32_t idx[] = {0, 0, 1, 1, 2, 2, 3};
    static double val[] = {2, 1, 2, 1, 2, 1, 2};
    return (trs_mat){.n = 4, .nnz = 7, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
}

static void chain_by_hand(void)
{
    static const double b[] = {16, 16, 16, 16},
                        right[4][4] = {{8, 4, 4, 4}, {8, 4, 6, 6}, {8, 4, 6, 5}, {8, 4, 6, 5}};
    static const double error[] = {0.25, 0.125, 0, 0};
    const trs_mat A = chain();
    for (int k = 1; k <= 4; k++) {
        const solve_case c = {.f.dtype = TRS_F64, .op = TRS_N, .k = k, .nrhs = 1};
        trs_info info;
        double x[4];
        trs_plan *p = plan_of(&A, &c);
        solve(p, &c, 4, b, x);
        assert_memory_equal(x, right[k - 1], sizeof x);
        assert_int_equal(trs_plan_info(p, &info), TRS_OK);
        assert_true(info.sweep_error == error[k - 1]);
        trs_plan_destroy(p);
    }
}

/* New values: x, and the error, are theirs. */
static void new_values(void)
{
    static const double b[] = {16, 16, 16, 16}, right[] = {4, 3, 3.25, 3.25};
    static const double val[] = {4, 1, 4, 1, 4, 1, 4}, nan[] = {4, 1, 4, NAN, 4, 1, 4};
    const trs_mat A = chain();
    const solve_case c = {.f.dtype = TRS_F64, .op = TRS_N, .k = 2, .nrhs = 1};
    trs_info info;
    double x[4];
    trs_plan *p = plan_of(&A, &c);
    trs_mat B = A;
    B.device = there ? TRS_CUDA(0) : TRS_HOST;
    B.ptr = B.idx = NULL;
    B.val = place(val, sizeof val);
    assert_status(trs_plan_update(p, &B, NULL), TRS_OK);
    solve(p, &c, 4, b, x);
    assert_memory_equal(x, right, sizeof x);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(info.sweep_error == 1.0 / 64);
    unplace((void *)B.val);
    B.val = place(nan, sizeof nan);
    assert_status(trs_plan_update(p, &B, NULL), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(isnan(info.sweep_error));
    unplace((void *)B.val);
    trs_plan_destroy(p);
}

static void test_by_hand(void **state)
{
    (void)state;
    there = false;
    chain_by_hand();
    new_values();
}

static void test_by_hand_on_device(void **state)
{
    (void)state;
    begin_on_device();
    chain_by_hand();
    new_values();
}

/* ---- incomplete factors ----------------------------------------------------------------------------- */

/* The 5-point stencil of a grid, with w in place of 4. */
static trs_mat grid(int side, double w)
{
    const int n = side * side;
    int64_t *ptr = zeroed(n + 1, sizeof *ptr), q = 0;
    int32_t *idx = zeroed(5 * (int64_t)n, sizeof *idx);
    double *val = zeroed(5 * (int64_t)n, sizeof *val);
    for (int i = 0; i < n; i++) {
        const int by[] = {-side, -1, 0, 1, side};
        for (int k = 0; k < 5; k++) {
            const bool outside = i + by[k] < 0 || i + by[k] >= n || (k == 1 && i % side == 0) ||
                                 (k == 3 && i % side == side - 1);
            if (outside) continue;
            idx[q] = i + by[k];
            val[q++] = k == 2 ? w : -1;
        }
        ptr[i + 1] = q;
    }
    return (trs_mat){.n = n, .nnz = q, .ptr = ptr, .idx = idx, .val = val};
}

/* CG with IC(0), whose factors have many levels: with sweeps M^-1 is Hermitian and definite, and takes some more steps.
 * Returns the steps. */
static int64_t steps_of_cg(trs_mat A, int sweeps)
{
    A.kind = TRS_SELFADJOINT | TRS_LOWER;
    const trs_ilu_options opt = {.method = TRS_IC0,
                                 .plan = {.sweeps = sweeps, .ops = 1u << TRS_N | 1u << TRS_H}};
    const trs_krylov_goal goal = {.rtol = 1e-10, .max_iterations = 500};
    double *b = zeroed(A.n, sizeof *b), *x = zeroed(A.n, sizeof *x), *u = zeroed(A.n, sizeof *u);
    double *v = zeroed(A.n, sizeof *v), *mu = zeroed(A.n, sizeof *mu),
           *mv = zeroed(A.n, sizeof *mv);
    random_t r = {7};
    trs_lu *M;
    trs_krylov *K;
    trs_krylov_info info;
    for (int64_t i = 0; i < A.n; i++)
        b[i] = 1, u[i] = random_uniform(&r), v[i] = random_uniform(&r);
    assert_status(trs_ilu(&M, &A, &opt), TRS_OK);
    assert_status(trs_lu_solve(M, TRS_N, 1, u, A.n, mu, A.n, NULL), TRS_OK);
    assert_status(trs_lu_solve(M, TRS_N, 1, v, A.n, mv, A.n, NULL), TRS_OK);
    double one = 0, other = 0, size = 0;
    for (int64_t i = 0; i < A.n; i++)
        one += v[i] * mu[i], other += u[i] * mv[i], size += fabs(v[i] * mu[i]);
    assert_at_most(fabs(one - other), 1e-13 * size); /* v' M^-1 u = u' M^-1 v */
    const trs_map of = {.mat = &A}, by = {.lu = M};
    const trs_krylov_options with = {.method = TRS_CG, .n = A.n};
    assert_status(trs_krylov_create(&K, &with), TRS_OK);
    assert_status(trs_krylov_solve(K, &of, &by, 1, b, A.n, x, A.n, &goal, &info), TRS_OK);
    trs_krylov_destroy(K);
    trs_lu_destroy(M);
    free(b), free(x), free(u), free(v), free(mu), free(mv);
    return info.iterations;
}

static void test_preconditioner(void **state)
{
    (void)state;
    there = false;
    trs_mat A = grid(40, 4);
    const int64_t exact = steps_of_cg(A, 0), two = steps_of_cg(A, 2), six = steps_of_cg(A, 6);
    assert_true(exact <= six && six <= two);
    assert_true(two <= 2 * exact);
    assert_true(steps_of_cg(A, 100) == exact); /* there are 79 levels */
    free((void *)A.ptr), free((void *)A.idx), free((void *)A.val);
}

/* ---- what is refused, and what nothing lists ------------------------------------------------------- */

static void refuse(trs_options opt, const trs_mat *A, int code, const char *word)
{
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, A, &opt), code);
    assert_non_null(strstr(trs_message(), word));
    assert_null(p);
}

static void test_refused(void **state)
{
    (void)state;
    const trs_mat A = chain();
    const double full[] = {1, 2, 3, 4};
    const trs_mat general = {.n = 2, .nnz = 4, .val = full, .format = TRS_DENSE, .ld = 2};
    refuse((trs_options){.sweeps = -1}, &A, TRS_EARG, "negative");
    refuse((trs_options){.sweeps = 1, .solver = "cpu-serial"}, &A, TRS_EARG, "solver");
    refuse((trs_options){.sweeps = 1, .measure = 1}, &A, TRS_EARG, "measure");
    refuse((trs_options){.sweeps = 1, .pivot = TRS_PIVOT_SKIP}, &A, TRS_ESUPPORT, "SKIP");
    refuse((trs_options){.sweeps = 1, .order = TRS_ORDER_LEVEL}, &A, TRS_ESUPPORT, "LEVEL");
    refuse((trs_options){.sweeps = 1}, &general, TRS_ESUPPORT, "triangles");
    refuse((trs_options){.solver = "cpu-sweeps"}, &A, TRS_ESUPPORT, "no solver");
}

static void test_other_calls(void **state)
{
    (void)state;
    const solve_case c = {.f.dtype = TRS_F64, .op = TRS_N, .k = 1, .nrhs = 1};
    const trs_mat A = chain();
    trs_mat G = grid(3, 4);
    const trs_ilu_options by_blocks = {.method = TRS_DILU, .plan.sweeps = 1};
    const trs_ilu_options with = {.plan.sweeps = 1};
    double x[4];
    trs_lu *lu;
    trs_lu_batch *batch;
    there = false;
    trs_plan *p = plan_of(&A, &c);
    const trs_batch one = {.count = 1, .val = A.val};
    assert_int_equal(trs_plan_save(p, "never.plan"), TRS_ESUPPORT);
    assert_int_equal(trs_solve_batch(p, TRS_N, &one, 1, x, 4, x, 4, NULL, NULL), TRS_ESUPPORT);
    trs_plan_destroy(p);
    assert_int_equal(trs_ilu(&lu, &G, &by_blocks), TRS_EARG);
    assert_non_null(strstr(trs_message(), "sweeps"));
    trs_lu_destroy(lu);
    assert_status(trs_ilu(&lu, &G, &with), TRS_OK);
    assert_int_equal(trs_lu_batch_create(&batch, lu, &G, NULL), TRS_ESUPPORT);
    trs_lu_destroy(lu);
    free((void *)G.ptr), free((void *)G.idx), free((void *)G.val);
}

static void test_not_listed(void **state)
{
    (void)state;
    trs_solver_info info;
    int k = 0;
    for (; trs_solver_get(k, &info) == TRS_OK; k++) assert_null(strstr(info.name, "sweeps"));
    assert_true(k > 3);
    assert_null(trs_solver_named("cuda-sweeps"));
    assert_non_null(trs_solver_of_option(false, TRS_ON_CPU, 0));
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    (void)state;
    const trs_mat A = chain();
    int rc = TRS_EMEM, k = 0;
    for (; rc; k++) {
        counter c = {.fail_at = k, .and_after = 1};
        const trs_options opt = {.sweeps = 2, .memory = counted_memory(&c)};
        trs_plan *p;
        rc = trs_plan_create(&p, &A, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        trs_plan_destroy(p);
        if (rc) assert_int_equal(rc, TRS_EMEM);
        assert_int_equal(c.live, 0);
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),           cmocka_unit_test(test_device),
        cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_by_hand_on_device),
        cmocka_unit_test(test_preconditioner), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_other_calls),    cmocka_unit_test(test_not_listed),
        cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_replayed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
