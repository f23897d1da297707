/* t_both_device.c: one launch with both triangles of factors gives the bits of a launch for each, and x solves A x = b.
 *
 * The triangles are those of grids, whose separators are supernodes of more than 16 rows, and chains of them.  A solve in
 * place takes the launches one by one, and so tells what the other one has to give. */
#include "../there.h"
#include "tests/common/methods.h"

#include "trisolve-suitesparse.h"

#include "core/both.h"
#include "factor/lu.h"

#ifdef HAVE_CUDA

enum { WIDE = 90, HIGH = 40, N = WIDE * HIGH };

typedef struct scene {
    trs_dtype t;
    trs_mat a;
    trs_lu *lu;
    size_t bytes; /* of a vector */
    char *b, *x, *y;
    void *dev_b, *dev_x;
} scene;

static zz entry(bool diagonal, bool hermitian, bool is_complex)
{
    if (diagonal) return hermitian ? 4.5 : 4.5 + uniform();
    if (hermitian) return -1;
    return -0.5 + 0.5 * uniform() + (is_complex ? 0.5 * uniform() * I : 0);
}

/* A grid whose diagonals dominate; b is random. */
static void grid(scene *s, trs_dtype t, bool hermitian)
{
    const bool c = t == TRS_C64;
    int64_t *ptr = calloc(N + 1, sizeof *ptr), nnz = 0;
    int32_t *idx = calloc(5 * N, sizeof *idx);
    void *val = calloc(5 * N, sizeof(zz));
    assert_true(ptr && idx && val);
    for (int i = 0; i < N; i++) {
        const int x = i % WIDE, y = i / WIDE;
        const int j[5] = {y > 0 ? i - WIDE : -1, x > 0 ? i - 1 : -1, i, x + 1 < WIDE ? i + 1 : -1,
                          y + 1 < HIGH ? i + WIDE : -1};
        for (int k = 0; k < 5; k++) {
            if (j[k] < 0) continue;
            set_value(val, t, nnz, entry(k == 2, hermitian, c));
            idx[nnz++] = j[k];
        }
        ptr[i + 1] = nnz;
    }
    *s = (scene){.t = t, .bytes = N * size_of(t)};
    s->a = (trs_mat){.n = N, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val, .dtype = t};
    s->b = calloc(1, s->bytes), s->x = calloc(1, s->bytes), s->y = calloc(1, s->bytes);
    assert_true(s->b && s->x && s->y);
    for (int i = 0; i < N; i++) set_value(s->b, t, i, uniform() + (c ? uniform() * I : 0));
    s->dev_b = array_there(s->b, s->bytes);
    s->dev_x = array_there(s->x, s->bytes);
}

static void factor_for(scene *s, const char *solver, const char *method, int nrhs)
{
    const trs_factor_options opt = {.method = method,
                                    .plan = {.device = TRS_CUDA(0),
                                             .ops = 7,
                                             .nrhs = nrhs,
                                             .solver = solver,
                                             .solves = TRS_SOLVES_MANY}};
    const int rc = trs_factor(&s->lu, &s->a, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
}

static void factor(scene *s, const char *solver, const char *method)
{
    factor_for(s, solver, method, 1);
}

static void no_grid(scene *s)
{
    trs_lu_destroy(s->lu);
    free((void *)s->a.ptr), free((void *)s->a.idx), free((void *)s->a.val);
    free(s->b), free(s->x), free(s->y);
    free_there(s->dev_b);
    free_there(s->dev_x);
}

/* to = op(A)^-1 b by factors on the device, in place or not. */
static void solve(scene *s, trs_op op, char *to, bool in_place, trs_lu_work *work)
{
    const trs_exec exec = {.lu_work = work};
    const void *b = in_place ? s->dev_x : s->dev_b;
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_x, in_place ? s->b : s->y, s->bytes),
                     TRS_OK);
    const int rc = trs_lu_solve(s->lu, op, 1, b, N, s->dev_x, N, &exec);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), to, s->dev_x, s->bytes), TRS_OK);
}

/* to = op(A)^-1 b by the one launch, whatever trs_lu_solve would do; false: there is none. */
static bool solve_at_once(scene *s, trs_op op, char *to)
{
    const trs_lu *lu = s->lu;
    const trs_lu_order *t = &lu->there;
    const bool cholesky = lu->f.cholesky, back = !cholesky && op != TRS_N;
    const int32_t *Q = t->Q ? t->Q : t->P;
    bool done;
    const trs_two_plans two = {
        .of = {{.plan = back ? lu->u : lu->l, .op = back ? op : TRS_N},
               {.plan = back || cholesky ? lu->l : lu->u, .op = cholesky ? TRS_H : op}},
        .b = {s->dev_b, 1, N},
        .x = {s->dev_x, 1, N},
        .order_b = back ? Q : t->P,
        .order_x = back ? t->P : Q,
        .scale_b = back ? NULL : t->scale,
        .scale_x = back ? t->scale : NULL};
    assert_int_equal(trs_solve_both(&two, &done), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), to, s->dev_x, s->bytes), TRS_OK);
    return done;
}

static void check_op(scene *s, trs_op op, bool fused)
{
    trs_error e;
    trs_lu_work *work;
    memset(s->y, 0xff, s->bytes); /* what is not written stays NaN */
    assert_true(solve_at_once(s, op, s->y) == fused);
    solve(s, op, s->x, false, NULL);
    const bool conjugated = s->lu->f.cholesky && op == TRS_T && s->t == TRS_C64;
    if (fused && !conjugated) assert_memory_equal(s->x, s->y, s->bytes);
    memset(s->y, 0xff, s->bytes);
    assert_int_equal(trs_backward_error(&s->a, op, 1, s->b, N, s->x, N, TRS_COL_MAJOR, &e), TRS_OK);
    assert_true(e.omega <= 200 * eps_of(s->t));
    solve(s, op, s->y, true, NULL);
    assert_memory_equal(s->x, s->y, s->bytes);
    assert_int_equal(trs_lu_work_create(&work, s->lu, 1), TRS_OK);
    for (int k = 0; k < 3; k++) { /* both copies of x, and one launch after the others */
        solve(s, op, s->y, k == 1, work);
        assert_memory_equal(s->x, s->y, s->bytes);
    }
    trs_lu_work_destroy(work);
}

/* A = A 4, so that x is a quarter, to the last bit. */
static void check_update(scene *s)
{
    solve(s, TRS_N, s->x, false, NULL);
    for (int64_t k = 0; k < s->a.nnz; k++)
        set_value((void *)s->a.val, s->t, k, 4 * get_value(s->a.val, s->t, k));
    assert_int_equal(trs_lu_update(s->lu, &s->a), TRS_OK);
    solve(s, TRS_N, s->y, false, NULL);
    for (int i = 0; i < N; i++)
        assert_true(get_value(s->x, s->t, i) == 4 * get_value(s->y, s->t, i));
}

static void check_capture(scene *s)
{
    cudaStream_t stream = new_stream();
    const trs_exec exec = {.stream = stream};
    solve(s, TRS_N, s->x, false, NULL);
    begin_capture(stream);
    assert_int_equal(trs_lu_solve(s->lu, TRS_N, 1, s->dev_b, N, s->dev_x, N, &exec), TRS_OK);
    cudaGraph_t graph;
    cudaGraphExec_t run;
    size_t nodes;
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    assert_int_equal(nodes, 1);
    assert_int_equal(cudaGraphInstantiate(&run, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    for (int k = 0; k < 3; k++) {
        memset(s->y, 0xff, s->bytes);
        assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_x, s->y, s->bytes), TRS_OK);
        replay(run, stream);
        assert_int_equal(trs_device_get(TRS_CUDA(0), s->y, s->dev_x, s->bytes), TRS_OK);
        assert_memory_equal(s->x, s->y, s->bytes);
    }
    cudaGraphExecDestroy(run);
    cudaStreamDestroy(stream);
}

static void same_bits(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const bool hermitian = k % 2 == 1;
        const trs_dtype t = k / 2 ? TRS_C64 : TRS_F64;
        scene s;
        grid(&s, t, hermitian);
        factor(&s, "cuda-supernodal", NULL);
        assert_true(s.lu->f.cholesky == hermitian);
        for (int op = TRS_N; op <= TRS_H; op++) check_op(&s, (trs_op)op, true);
        check_capture(&s);
        check_update(&s);
        no_grid(&s);
    }
}

/* UMFPACK and KLU scale rows. */
static void scaled(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++)
        for (int c = 0; c < 2 && takes_any_matrix(methods[k]); c++) {
            scene s;
            grid(&s, c ? TRS_C64 : TRS_F64, false);
            factor(&s, "cuda-supernodal", methods[k]);
            assert_non_null(s.lu->f.scale);
            for (int op = TRS_N; op <= TRS_H; op++) check_op(&s, (trs_op)op, true);
            check_capture(&s);
            check_update(&s);
            no_grid(&s);
        }
}

/* B and X by rows of three numbers, of which the first is solved for; and factors that were made for several columns. */
static void by_rows(void **state)
{
    enum { LD = 3 };
    const trs_exec exec = {.layout = TRS_ROW_MAJOR};
    (void)state;
    for (int nrhs = 1; nrhs <= 8; nrhs *= 8) {
        scene s;
        double b[LD * N], x[LD * N];
        grid(&s, TRS_F64, false);
        factor_for(&s, "cuda-supernodal", NULL, nrhs);
        solve(&s, TRS_N, s.x, false, NULL);
        for (int i = 0; i < LD * N; i++) x[i] = -7, b[i] = i % LD ? NAN : ((double *)s.b)[i / LD];
        double *there = array_there(b, sizeof b), *to = array_there(x, sizeof x);
        assert_int_equal(trs_lu_solve(s.lu, TRS_N, 1, there, LD, to, LD, &exec), TRS_OK);
        assert_int_equal(trs_device_get(TRS_CUDA(0), x, to, sizeof x), TRS_OK);
        for (int i = 0; i < LD * N; i++)
            assert_true(x[i] == (i % LD ? -7 : ((double *)s.x)[i / LD]));
        check_op(&s, TRS_N, true);
        free_there(there);
        free_there(to);
        no_grid(&s);
    }
}

/* Thread blocks need not be resident together. */
static void few_blocks(void **state)
{
    static const char *const blocks[] = {"1", "3"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s;
        setenv("TRISOLVE_BLOCKS", blocks[k], 1);
        grid(&s, TRS_F64, k);
        factor(&s, "cuda-supernodal", NULL);
        check_op(&s, TRS_N, true);
        check_op(&s, TRS_T, true);
        no_grid(&s);
        unsetenv("TRISOLVE_BLOCKS");
    }
}

/* Other solvers have no such launch, nor have vectors of other types than those of the plans. */
static void not_both(void **state)
{
    (void)state;
    scene s;
    grid(&s, TRS_F64, false);
    factor(&s, "cuda-dataflow", NULL);
    check_op(&s, TRS_N, false);
    no_grid(&s);
    grid(&s, TRS_F32, true);
    factor(&s, "cuda-supernodal", NULL);
    solve(&s, TRS_N, s.x, false, NULL);
    solve(&s, TRS_N, s.y, true, NULL);
    assert_memory_equal(s.x, s.y, s.bytes); /* they are not of one launch */
    no_grid(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(scaled),
                                       cmocka_unit_test(by_rows), cmocka_unit_test(few_blocks),
                                       cmocka_unit_test(not_both)};
    return run_on_device(tests);
}

#else

int main(void)
{
    return skip_all();
}

#endif
