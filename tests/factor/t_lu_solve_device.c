/* t_lu_solve_device.c: solves and refinement through factors whose plans are on a device are those of factors on the host,
 * for all types, ops, layouts and numbers of columns; captured in a CUDA graph, and by two threads at a time. */
#include "there.h"

#include "trisolve-suitesparse.h"

#ifdef HAVE_CUDA
#include <pthread.h>

typedef struct scene {
    trs_mat a, d; /* on the host and on the device */
    trs_lu *here, *there;
    trs_dtype t;
    int n, nrhs;
    trs_layout layout;
    int64_t ld;
    size_t bytes;
    char *b, *x, *z; /* z: what came from the device */
    void *dev_b, *dev_x;
} scene;

/* Factors of A on the host and on the device. */
static void factor(scene *s, const full *A, const form *f, trs_factor_options opt)
{
    s->a = show_full(A, f);
    s->d = there(&s->a);
    s->t = s->a.dtype;
    s->n = A->n;
    opt.plan.ops = 7;
    opt.plan.solves = TRS_SOLVES_MANY; /* the same bits from the first solve on */
    assert_int_equal(trs_factor(&s->here, &s->a, &opt), TRS_OK);
    opt.plan.device = TRS_CUDA(0);
    const int rc = trs_factor(&s->there, &s->a, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
}

static void unfactor(scene *s)
{
    trs_lu_destroy(s->here);
    trs_lu_destroy(s->there);
    away(&s->d);
    hide(&s->a);
}

static void new_columns(scene *s, int nrhs, trs_layout layout)
{
    s->nrhs = nrhs;
    s->layout = layout;
    s->ld = (layout == TRS_ROW_MAJOR ? nrhs : s->n) + 2;
    const size_t count = (size_t)(s->ld * (layout == TRS_ROW_MAJOR ? s->n : nrhs));
    s->bytes = count * size_of(s->t);
    s->b = calloc(3, s->bytes);
    assert_non_null(s->b);
    s->x = s->b + s->bytes, s->z = s->x + s->bytes;
    for (size_t k = 0; k < count; k++) set_value(s->b, s->t, (int64_t)k, number(true));
    s->dev_b = array_there(s->b, s->bytes);
    s->dev_x = array_there(s->x, s->bytes);
}

static void free_columns(scene *s)
{
    free(s->b);
    free_there(s->dev_b);
    free_there(s->dev_x);
}

static void fetch(scene *s)
{
    assert_int_equal(trs_device_get(TRS_CUDA(0), s->z, s->dev_x, s->bytes), TRS_OK);
}

/* z is x to within tolerance of the largest number, and not beyond the columns. */
static void assert_same(const scene *s, double tolerance)
{
    double most = 0, apart = 0;
    const int64_t count = (int64_t)(s->bytes / size_of(s->t));
    for (int64_t k = 0; k < count; k++) {
        most = larger(most, cabs(get_value(s->x, s->t, k)));
        apart = larger(apart, cabs(get_value(s->x, s->t, k) - get_value(s->z, s->t, k)));
        assert_true(cabs(get_value(s->z, s->t, k)) < HUGE_VAL);
    }
    if (!(apart <= tolerance * most)) print_message("apart %g of %g\n", apart, most);
    assert_true(apart <= tolerance * most);
}

static double tolerance_of(const scene *s, bool single)
{
    return s->t == TRS_F32 || s->t == TRS_C32 || single ? 1e-3 : 1e-10;
}

static void solve_both(scene *s, trs_op op, bool single)
{
    const trs_exec exec = {.layout = s->layout};
    memset(s->x, 0, s->bytes); /* what lies beyond the columns is compared, too */
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_x, s->x, s->bytes), TRS_OK);
    assert_int_equal(trs_lu_solve(s->here, op, s->nrhs, s->b, s->ld, s->x, s->ld, &exec), TRS_OK);
    const int rc = trs_lu_solve(s->there, op, s->nrhs, s->dev_b, s->ld, s->dev_x, s->ld, &exec);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    fetch(s);
    assert_same(s, tolerance_of(s, single));
    /* in place, the same bits */
    memcpy(s->x, s->z, s->bytes);
    assert_int_equal(trs_device_copy(TRS_CUDA(0), s->dev_x, s->dev_b, s->bytes, NULL), TRS_OK);
    assert_int_equal(trs_lu_solve(s->there, op, s->nrhs, s->dev_x, s->ld, s->dev_x, s->ld, &exec),
                     TRS_OK);
    fetch(s);
    for (int r = 0; r < s->nrhs; r++)
        for (int64_t i = 0; i < s->n; i++) {
            const int64_t k = s->layout == TRS_ROW_MAJOR ? i * s->ld + r : i + r * s->ld;
            assert_true(get_value(s->x, s->t, k) == get_value(s->z, s->t, k));
        }
}

static void refine_there(scene *s, trs_op op)
{
    const trs_exec exec = {.layout = s->layout};
    trs_error e, check;
    int steps;
    assert_int_equal(trs_lu_refine(s->there, &s->d, op, s->nrhs, s->dev_b, s->ld, s->dev_x, s->ld,
                                   &exec, 20, &steps, &e),
                     TRS_OK);
    fetch(s);
    assert_int_equal(
        trs_backward_error(&s->a, op, s->nrhs, s->b, s->ld, s->z, s->ld, s->layout, &check),
        TRS_OK);
    const double eps = eps_of(s->t);
    assert_int_equal(e.stop, TRS_STOP_CONVERGED);
    assert_true(check.omega <= 1.01 * (s->n + 1) * eps);
    /* the sums of the host have 11 bits more than x, those of the device twice as many as x */
    const double rounding = (s->n + 1) * eps / 2048;
    if (!(fabs(check.omega - e.omega) <= 0.01 * e.omega + rounding))
        fail_msg("omega is %g by the device, %g by the host", e.omega, check.omega);
}

static void one_matrix(const full *A, const form *f, bool single, const char *method)
{
    static const int columns[] = {1, 3, 33};
    for (int width = 1; width <= 8; width += 7) {
        scene s = {0};
        factor(&s, A, f,
               (trs_factor_options){.method = method, .single = single, .plan = {.nrhs = width}});
        for (int k = 0; k < 3; k++)
            for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
                new_columns(&s, columns[k], (trs_layout)layout);
                for (int op = TRS_N; op <= TRS_H; op++) {
                    solve_both(&s, (trs_op)op, single);
                    if (k < 2) refine_there(&s, (trs_op)op);
                }
                free_columns(&s);
            }
        unfactor(&s);
    }
}

static void solves(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < FORMS; k++) {
            if (forms[k].format != TRS_CSR && forms[k].format != TRS_CSC) continue;
            full A = unsymmetric(k ? 40 + k : 1, c), H = hermitian(37 + k, c, 50);
            for (int single = 0; single < 2; single++) {
                one_matrix(&A, &forms[k], single, NULL);
                one_matrix(&H, &forms[k], single, NULL);
            }
            free(A.a);
            free(H.a);
        }
}

#ifdef HAVE_CHOLMOD

/* L S L^H, where S has blocks and negative numbers. */
static void saddle_points(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++) {
        full A = hermitian(41, c, 50);
        const int n = A.n;
        for (int i = 0; i < 5; i++) {
            const int j = n - 1 - i;
            A.a[i + n * i] = 1, A.a[j + n * j] = 0, A.a[i + 10 + n * (i + 10)] = -50;
            A.a[i + n * j] = A.a[j + n * i] = 60;
        }
        for (int single = 0; single < 2; single++) one_matrix(&A, &plain, single, "ldlt");
        free(A.a);
    }
}

#endif

/* Numbers of B from 1e-250 to 1e250 stay in range in factors of single precision. */
static void ranges(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = unsymmetric(30, true);
    scene s = {0};
    factor(&s, &A, &plain, (trs_factor_options){.single = true, .plan = {.nrhs = 3}});
    new_columns(&s, 3, TRS_COL_MAJOR);
    for (int r = 0; r < 3; r++)
        for (int64_t i = 0; i < s.n; i++) {
            const int64_t k = i + r * s.ld;
            set_value(s.b, s.t, k, get_value(s.b, s.t, k) * pow(10, 250 * (r - 1)));
        }
    assert_int_equal(trs_device_put(TRS_CUDA(0), s.dev_b, s.b, s.bytes), TRS_OK);
    const trs_exec exec = {0};
    assert_int_equal(trs_lu_solve(s.here, TRS_N, 3, s.b, s.ld, s.x, s.ld, &exec), TRS_OK);
    assert_int_equal(trs_lu_solve(s.there, TRS_N, 3, s.dev_b, s.ld, s.dev_x, s.ld, &exec), TRS_OK);
    fetch(&s);
    for (int r = 0; r < 3; r++) {
        double most = 0, apart = 0;
        for (int64_t i = 0; i < s.n; i++) {
            const zz x = get_value(s.x, s.t, i + r * s.ld), z = get_value(s.z, s.t, i + r * s.ld);
            most = larger(most, cabs(x));
            apart = larger(apart, cabs(x - z));
        }
        assert_true(most > 0 && apart <= 1e-3 * most);
    }
    free_columns(&s);
    unfactor(&s);
    free(A.a);
}

/* A solve is captured before any other, and follows an update of the values. */
static void capture(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = hermitian(45, false, 60);
    scene s = {0};
    factor(&s, &A, &plain, (trs_factor_options){.plan = {.nrhs = 3}});
    new_columns(&s, 3, TRS_COL_MAJOR);
    cudaStream_t stream = new_stream();
    begin_capture(stream);
    const trs_exec exec = {.stream = stream};
    const int rc = trs_lu_solve(s.there, TRS_N, 3, s.dev_b, s.ld, s.dev_x, s.ld, &exec);
    cudaGraphExec_t run = end_capture(stream);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    for (int k = 0; k < 3; k++) {
        replay(run, stream);
        assert_int_equal(trs_lu_solve(s.here, TRS_N, 3, s.b, s.ld, s.x, s.ld, NULL), TRS_OK);
        fetch(&s);
        assert_same(&s, 1e-10);
        for (int64_t p = 0; p < s.a.nnz; p++)
            set_value((void *)s.a.val, s.t, p, 2 * get_value(s.a.val, s.t, p));
        assert_int_equal(trs_lu_update(s.here, &s.a), TRS_OK);
        assert_int_equal(trs_lu_update(s.there, &s.a), TRS_OK);
        assert_int_equal(trs_lu_status(s.there, NULL, NULL, NULL), TRS_OK); /* which waits */
    }
    cudaGraphExecDestroy(run);
    cudaStreamDestroy(stream);
    free_columns(&s);
    unfactor(&s);
    free(A.a);
}

typedef struct task { /* of one thread, with its own work space, stream and right-hand side */
    scene *s;
    trs_lu_work *work;
    cudaStream_t stream;
    void *b, *x;
    int failed;
} task;

static void *solve_often(void *user)
{
    task *t = user;
    const trs_exec exec = {.stream = t->stream, .lu_work = t->work};
    for (int k = 0; k < 50 && !t->failed; k++)
        t->failed = trs_lu_solve(t->s->there, TRS_N, 3, t->b, t->s->ld, t->x, t->s->ld, &exec);
    if (cudaStreamSynchronize(t->stream) != cudaSuccess) t->failed = 1;
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    if (!has_device()) skip();
    full A = unsymmetric(60, false);
    scene s[2];
    memset(s, 0, sizeof s);
    pthread_t thread[2];
    task t[2];
    factor(&s[0], &A, &plain, (trs_factor_options){.plan = {.nrhs = 2}});
    s[1] = s[0];
    for (int k = 0; k < 2; k++) {
        new_columns(&s[k], 3, TRS_COL_MAJOR);
        t[k] = (task){.s = &s[k], .b = s[k].dev_b, .x = s[k].dev_x};
        assert_int_equal(trs_lu_work_create(&t[k].work, s[k].there, 1 + 2 * k), TRS_OK);
        t[k].stream = new_stream();
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, solve_often, &t[k]), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_int_equal(t[k].failed, TRS_OK);
        assert_int_equal(trs_lu_solve(s[k].here, TRS_N, 3, s[k].b, s[k].ld, s[k].x, s[k].ld, NULL),
                         TRS_OK);
        fetch(&s[k]);
        assert_same(&s[k], 1e-10);
        trs_lu_work_destroy(t[k].work);
        cudaStreamDestroy(t[k].stream);
        free_columns(&s[k]);
    }
    unfactor(&s[0]);
    free(A.a);
}

/* B and X on the host while the factors solve on the device. */
static void from_the_host(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int c = 0; c < 2; c++) {
        full A = unsymmetric(35, c);
        scene s = {0};
        double here, there, resident;
        trs_error e;
        factor(&s, &A, &plain, (trs_factor_options){.single = c});
        new_columns(&s, 2, TRS_ROW_MAJOR);
        const trs_exec exec = {.layout = TRS_ROW_MAJOR};
        assert_int_equal(
            trs_lu_refine(s.there, &s.a, TRS_N, 2, s.b, s.ld, s.x, s.ld, &exec, 20, NULL, &e),
            TRS_OK);
        assert_int_equal(e.stop, TRS_STOP_CONVERGED);
        for (trs_norm norm = TRS_NORM_ONE; norm <= TRS_NORM_INF; norm++) {
            assert_int_equal(trs_lu_condest(s.here, &s.a, norm, &here), TRS_OK);
            assert_int_equal(trs_lu_condest(s.there, &s.a, norm, &there), TRS_OK);
            assert_int_equal(trs_lu_condest(s.there, &s.d, norm, &resident), TRS_OK);
            assert_true(here > 0 && fabs(there - here) <= 1e-3 * here);
            assert_true(fabs(resident - there) <= 1e-12 * there);
        }
        free_columns(&s);
        unfactor(&s);
        free(A.a);
    }
}

/* Factors of real matrices, among them ex40, whose U has small diagonal entries: the residual is small in the norm, and a
 * few steps make it small in every row. */
static void real_matrices(void **state)
{
    (void)state;
    static const char *const names[] = {"ex40",     "memplus", "raefsky2", "s3rmt3m3",
                                        "cavity10", "add20",   "gemat12"};
    const char *shared = getenv("TRS_SHARED");
    int solved = 0;
    if (!shared || !has_device()) skip();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char file[500];
        trs_mm mm;
        snprintf(file, sizeof file, "%s/matrices/%s.mtx.xz", shared, names[k]);
        scene s = {.t = TRS_F64};
        trs_factor_options opt = {.plan = {.ops = 7, .device = TRS_CUDA(0)}};
        if (trs_mm_read(file, NULL, &mm) || trs_mm_mat(&mm, 0, &s.a)) {
            trs_mm_free(&mm); /* it is not there, or there is no libarchive */
            continue;
        }
        s.n = (int)s.a.n;
        s.d = there(&s.a);
        assert_int_equal(trs_factor(&s.there, &s.a, &opt), TRS_OK);
        new_columns(&s, 1, TRS_COL_MAJOR);
        for (int op = TRS_N; op <= TRS_H; op++) {
            trs_error first, last;
            int steps;
            assert_int_equal(
                trs_lu_solve(s.there, (trs_op)op, 1, s.dev_b, s.ld, s.dev_x, s.ld, NULL), TRS_OK);
            assert_int_equal(trs_backward_error(&s.d, (trs_op)op, 1, s.dev_b, s.ld, s.dev_x, s.ld,
                                                TRS_COL_MAJOR, &first),
                             TRS_OK);
            assert_int_equal(trs_lu_refine(s.there, &s.d, (trs_op)op, 1, s.dev_b, s.ld, s.dev_x,
                                           s.ld, NULL, 5, &steps, &last),
                             TRS_OK);
            print_message("%s, op %c: normwise %.2g; omega %.2g, after %d steps %.2g\n", names[k],
                          "NTH"[op], first.normwise, first.omega, steps, last.omega);
            assert_true(first.normwise <= 1e-12);
            assert_int_equal(last.stop, TRS_STOP_CONVERGED);
        }
        trs_lu_destroy(s.there);
        free_columns(&s);
        away(&s.d);
        trs_mm_free(&mm);
        solved++;
    }
    if (solved == 0) skip();
}

#else

#endif

/* Work spaces on the host: two for the same factors give the same bits as none; wrong ones are refused. */
static void works(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        full A = unsymmetric(30, c), B = unsymmetric(30, c);
        trs_mat a = show_full(&A, &plain), b = show_full(&B, &plain);
        trs_lu *lu, *other;
        trs_lu_work *work, *wide;
        const trs_factor_options opt = {.plan = {.ops = 7}, .single = c};
        zz rhs[3 * 30], x[3 * 30], y[3 * 30];
        for (int k = 0; k < 3 * 30; k++) set_value(rhs, a.dtype, k, number(c));
        assert_int_equal(trs_factor(&lu, &a, &opt), TRS_OK);
        assert_int_equal(trs_factor(&other, &b, &opt), TRS_OK);
        assert_int_equal(trs_lu_work_create(&work, lu, 1), TRS_OK);
        assert_int_equal(trs_lu_work_create(&wide, lu, 3), TRS_OK);
        const trs_exec one = {.lu_work = work}, three = {.lu_work = wide};
        const size_t bytes = 3 * 30 * (c ? sizeof(zz) : sizeof(double));
        for (int op = TRS_N; op <= TRS_H; op++) {
            assert_int_equal(trs_lu_solve(lu, (trs_op)op, 3, rhs, 30, x, 30, NULL), TRS_OK);
            assert_int_equal(trs_lu_solve(lu, (trs_op)op, 3, rhs, 30, y, 30, &one), TRS_OK);
            assert_memory_equal(x, y, bytes);
            assert_int_equal(trs_lu_solve(lu, (trs_op)op, 3, rhs, 30, y, 30, &three), TRS_OK);
            assert_memory_equal(x, y, bytes);
        }
        assert_int_equal(trs_lu_solve(other, TRS_N, 1, rhs, 30, x, 30, &one), TRS_EARG);
        hide(&b);
        b = show_full(&B, &plain); /* another pattern: other plans */
        assert_int_equal(trs_lu_update(lu, &b), TRS_OK);
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, rhs, 30, x, 30, &one), TRS_ESTATE);
        trs_lu_work_destroy(work);
        trs_lu_work_destroy(wide);
        assert_int_equal(trs_lu_work_create(&work, lu, 0), TRS_EARG);
        assert_null(work);
        assert_int_equal(trs_lu_work_create(NULL, lu, 1), TRS_EARG);
        assert_int_equal(trs_lu_work_create(&work, NULL, 1), TRS_EARG);
        trs_lu_work_destroy(NULL);
        trs_lu_destroy(lu);
        trs_lu_destroy(other);
        hide(&a);
        hide(&b);
        free(A.a);
        free(B.a);
    }
}

/* With one row a column is as long as a row of y. */
static void one_row(void **state)
{
    (void)state;
    full A = full_new(1, false);
    A.a[0] = 4;
    trs_mat a = show_full(&A, &plain);
    trs_lu *lu;
    const trs_factor_options opt = {.plan = {.nrhs = 3}};
    double b[] = {4, 8, -12}, x[3];
    assert_int_equal(trs_factor(&lu, &a, &opt), TRS_OK);
    for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
        const trs_exec exec = {.layout = (trs_layout)layout};
        const int64_t ld = layout == TRS_ROW_MAJOR ? 3 : 1;
        assert_int_equal(trs_lu_solve(lu, TRS_N, 3, b, ld, x, ld, &exec), TRS_OK);
        assert_true(x[0] == 1 && x[1] == 2 && x[2] == -3);
    }
    trs_lu_destroy(lu);
    hide(&a);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works),         cmocka_unit_test(one_row),
#ifdef HAVE_CUDA
#ifdef HAVE_CHOLMOD
        cmocka_unit_test(saddle_points),
#endif
        cmocka_unit_test(solves),        cmocka_unit_test(ranges),
        cmocka_unit_test(capture),       cmocka_unit_test(threads),
        cmocka_unit_test(from_the_host), cmocka_unit_test(real_matrices),
#else
        cmocka_unit_test(test_without_a_device),
#endif
    };
    return cmocka_run_group_tests_name("solve", tests, NULL, NULL);
}
