/* t_device_resident.c: a plan of a matrix that is on the device, and stays there, is the same as one of the matrix on
 * the host: facts, levels, statistics, pivots, saved file, error codes, and x bit for bit. */
#include "tests/common/device.h"
#include "tests/common/model.h"

#include "base/device.h"

#include <unistd.h>

typedef struct scene { /* one matrix, on the host and on the device, and a plan of each */
    model m;
    form f;
    trs_mat a, device_a;
    trs_options opt;
    trs_plan *p, *resident;
    random_t r;
} scene;

static trs_plan *create(const trs_mat *a, const trs_options *opt)
{
    trs_plan *p = NULL;
    assert_status(trs_plan_create(&p, a, opt), TRS_OK);
    p->ctx.patient = true;
    return p;
}

/* A solver that works from the device, of two kinds: with and without an analysis on the host. */
static const char *resident_solver(int kind)
{
    static const char *const names[] = {"cuda-dataflow", "cuda-supernodal", "cuda-dataflow",
                                        "cuda-merged"};
    return available_solver(names + kind, 3);
}

/* by_columns: CSC, and the transpose is wanted. */
static scene begin(pattern pat, trs_dtype d, bool upper, bool by_columns, int number)
{
    scene s = {.r = {(uint64_t)number * 17 + 5}};
    s.f = (form){.dtype = d,
                 .format = by_columns ? TRS_CSC : TRS_CSR,
                 .ptr_bits = number % 2 ? 64 : 32,
                 .idx_bits = number % 3 ? 32 : 64,
                 .base = number / 2 % 2};
    s.m = model_new(pat, upper, false, trs_is_complex(d), &s.r);
    s.a = show(&s.m, &s.f, &s.r);
    s.device_a = mat_to_device(&s.a);
    s.opt = (trs_options){.solver = resident_solver(number / 5 % 2),
                          .ops = by_columns ? 1u << TRS_T : 1u << TRS_N};
    s.p = create(&s.a, &s.opt);
    s.resident = create(&s.device_a, &s.opt);
    return s;
}

static void end(scene *s)
{
    trs_plan_destroy(s->p);
    trs_plan_destroy(s->resident);
    mat_free_device(&s->device_a);
    mat_free(&s->a);
    model_free(&s->m);
}

static trs_op op_of(const scene *s)
{
    return s->opt.ops == 1u << TRS_N ? TRS_N : TRS_T;
}

static void assert_same_solution(scene *s)
{
    const int n = s->m.n;
    const size_t bytes = (size_t)n * trs_size(s->f.dtype);
    char *b = calloc(3, bytes + 1), *x = b + bytes, *y = x + bytes;
    assert_non_null(b);
    for (int i = 0; i < n; i++) set_number(b, s->f.dtype, i, random_uniform(&s->r));
    assert_status(trs_solve(s->p, op_of(s), 1, b, n, x, n, NULL), TRS_OK);
    assert_status(trs_solve(s->resident, op_of(s), 1, b, n, y, n, NULL), TRS_OK);
    assert_memory_equal(x, y, bytes);
    free(b);
}

/* The plan brings its topo over when it is asked. */
static void assert_same_topo(const scene *s)
{
    const int32_t *topo[2], *lv[2];
    const int want = op_of(s) == TRS_N ? TRS_OK : TRS_ESTATE;
    assert_int_equal(trs_plan_levels(s->p, &topo[0], &lv[0]), want);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(trs_plan_levels(s->resident, &topo[1], &lv[1]), want);
        if (want == TRS_OK) assert_memory_equal(topo[0], topo[1], (size_t)s->m.n * sizeof *topo[0]);
    }
}

/* Is the triangle on the device only? */
static bool is_resident(const trs_plan *p)
{
    const trs_side *side = trs_plan_side(p, p->imported_is_t);
    return side && side->op.ctx && !(side->op.on_host & TRS_OP_PATTERN);
}

static void assert_same_levels(const scene *s)
{
    const trs_operator *a = &trs_plan_side(s->p, op_of(s) != TRS_N)->op;
    trs_operator *b = &trs_plan_side(s->resident, op_of(s) != TRS_N)->op;
    assert_same_topo(s);
    assert_int_equal(trs_operator_show(b, TRS_OP_LEVELS), TRS_OK);
    assert_int_equal(a->lv.count, b->lv.count);
    assert_int_equal(a->lv.widest, b->lv.widest);
    assert_memory_equal(a->lv.topo, b->lv.topo, (size_t)s->m.n * sizeof *a->lv.topo);
    assert_memory_equal(a->lv.ptr, b->lv.ptr, ((size_t)a->lv.count + 1) * sizeof *a->lv.ptr);
    assert_memory_equal(&a->statistics, &b->statistics, sizeof a->statistics);
    assert_string_equal(s->p->reason, s->resident->reason);
    assert_int_equal(a->reversed, b->reversed);
}

static char *contents(const char *file, size_t *bytes)
{
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    char *p = malloc(1 << 20);
    assert_non_null(p);
    *bytes = fread(p, 1, 1 << 20, in);
    fclose(in);
    return p;
}

/* Both plans give the same file; false: there are none, the build has no xxhash. */
static bool assert_same_saved(const scene *s)
{
    char file[2][40];
    size_t bytes[2];
    char *text[2];
    for (int k = 0; k < 2; k++) {
        trs_plan *p = k ? s->resident : s->p;
        snprintf(file[k], sizeof file[k], "t_far-%d-%d.plan", (int)getpid(), k);
        const int rc = trs_plan_save(p, file[k]);
        if (rc == TRS_ESUPPORT) return false;
        assert_status(rc, TRS_OK);
        text[k] = contents(file[k], &bytes[k]);
        unlink(file[k]);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(text[0], text[1], bytes[0]);
    free(text[0]);
    free(text[1]);
    return true;
}

static void test_life(void **state)
{
    (void)state;
    for (int k = 0; k < 4 * PATTERNS * 4; k++) {
        const pattern pat = (pattern)(k / 4 % PATTERNS);
        scene s = begin(pat, (trs_dtype)(k / 4 / PATTERNS), k % 2, k / 2 % 2, k);
        assert_int_equal(is_resident(s.resident), s.m.n > 0);
        assert_status(trs_plan_analyse(s.p), TRS_OK);
        assert_status(trs_plan_analyse(s.resident), TRS_OK);
        assert_int_equal(is_resident(s.resident), s.m.n > 0);
        assert_same_levels(&s);
        assert_same_solution(&s);
        assert_status(trs_plan_update(s.resident, &s.device_a, NULL), TRS_OK);
        assert_int_equal(is_resident(s.resident), s.m.n > 0);
        assert_same_solution(&s);
        const bool came_over = assert_same_saved(&s); /* saving reads the matrix on the host */
        assert_int_equal(is_resident(s.resident), !came_over && s.m.n > 0);
        assert_same_solution(&s);
        assert_status(trs_plan_update(s.resident, &s.device_a, NULL), TRS_OK);
        assert_same_solution(&s);
        assert_status(trs_plan_update(s.resident, &s.a, NULL), TRS_OK);
        assert_same_solution(&s);
        end(&s);
    }
}

/* New values from the host go over, and the matrix stays there. */
static void test_update_from_host(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        scene s = begin(RANDOM, TRS_F64, k % 2, k / 2 % 2, k);
        assert_status(trs_plan_analyse(s.p), TRS_OK);
        assert_status(trs_plan_analyse(s.resident), TRS_OK);
        assert_true(is_resident(s.resident));
        for (int64_t q = 0; q < s.a.nnz; q++) ((double *)s.a.val)[q] *= 2;
        assert_status(trs_plan_update(s.p, &s.a, NULL), TRS_OK);
        assert_status(trs_plan_update(s.resident, &s.a, NULL), TRS_OK);
        assert_true(is_resident(s.resident));
        assert_same_solution(&s);
        end(&s);
    }
}

/* A solver on the device whose levels are looked for on the host. */
static const char *sorting_solver(void)
{
    static const char *const names[] = {"cuda-multiblock", "cuda-single-block", "cuda-naive"};
    return available_solver(names, 3);
}

/* A plan of the library's choice, one from a file, and one of a solver that works from the host. */
static void test_after_all(void **state)
{
    (void)state;
    static const char file[] = "t_far.plan";
    for (int k = 0; k < 4; k++) {
        scene s = begin(WIDE, TRS_F64, k % 2, k / 2, k);
        trs_options any = s.opt, other = s.opt;
        any.solver = NULL;
        any.device = TRS_CUDA(0);
        other.solver = sorting_solver();
        trs_plan *chosen = create(&s.device_a, &any), *named = create(&s.device_a, &other);
        assert_true(is_resident(chosen));
        assert_true(is_resident(named));
        assert_status(trs_plan_analyse(chosen), TRS_OK);
        assert_status(trs_plan_analyse(named), TRS_OK);
        assert_true(!other.solver || !is_resident(named));
        assert_status(trs_plan_analyse(s.p), TRS_OK);
        if (trs_plan_save(s.p, file) == TRS_OK)
            assert_status(trs_plan_load(s.resident, file), TRS_OK);
        else assert_status(trs_plan_analyse(s.resident), TRS_OK);
        unlink(file);
        assert_same_levels(&s);
        assert_same_solution(&s);
        trs_plan_destroy(chosen);
        trs_plan_destroy(named);
        end(&s);
    }
}

/* A matrix that is not canonical stays there, too, and errors have their words from the host. */
static void test_not_canonical(void **state)
{
    (void)state;
    scene s = begin(RANDOM, TRS_F64, false, false, 1);
    trs_plan *p;
    trs_options opt = s.opt;
    int32_t *idx = (int32_t *)(void *)s.a.idx;
    const int64_t *ptr = s.a.ptr;
    int64_t row = 0;
    while (ptr[row + 1] - ptr[row] < 3) row++;
    const int64_t at = ptr[row] - s.a.base;
    const int32_t first = idx[at];
    idx[at] = idx[at + 1]; /* twice in a row */
    trs_mat device_a = mat_to_device(&s.a);
    assert_int_equal(trs_plan_create(&p, &device_a, &opt), TRS_EMATRIX);
    assert_non_null(strstr(trs_message(), "stored twice"));
    trs_plan_destroy(p);
    mat_free_device(&device_a);
    idx[at] = 1000000; /* no column */
    device_a = mat_to_device(&s.a);
    assert_int_equal(trs_plan_create(&p, &device_a, &opt), TRS_EMATRIX);
    trs_plan_destroy(p);
    mat_free_device(&device_a);
    idx[at] = idx[at + 1]; /* changed places, which is allowed */
    idx[at + 1] = first;
    device_a = mat_to_device(&s.a);
    p = create(&device_a, &opt);
    assert_true(is_resident(p));
    trs_plan_destroy(p);
    mat_free_device(&device_a);
    end(&s);
}

static void test_pivots(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        scene s = begin(RANDOM, TRS_F64, k % 2, k / 2 % 2, k);
        trs_plan *p[2];
        const int64_t at = trs_index(s.a.ptr, s.f.ptr_bits, s.m.n / 2) - s.a.base;
        const bool first = trs_index(s.a.idx, s.f.idx_bits, at) - s.a.base == s.m.n / 2;
        const int64_t last = trs_index(s.a.ptr, s.f.ptr_bits, s.m.n / 2 + 1) - s.a.base - 1;
        ((double *)s.a.val)[first ? at : last] = 0;
        trs_mat device_a = mat_to_device(&s.a);
        s.opt.pivot = (trs_pivot)(k / 4);
        s.opt.pivot_value = 3;
        for (int there = 0; there < 2; there++) {
            p[there] = create(there ? &device_a : &s.a, &s.opt);
            const int rc = trs_plan_analyse(p[there]);
            assert_status(rc, s.opt.pivot == TRS_PIVOT_FAIL ? TRS_EPIVOT : TRS_OK);
        }
        assert_string_equal(trs_message(), trs_message());
        int64_t count[2], row[2];
        for (int there = 0; there < 2; there++)
            assert_int_equal(trs_plan_pivots(p[there], &count[there], &row[there]), TRS_OK);
        assert_int_equal(count[0], 1);
        assert_int_equal(count[1], 1);
        assert_int_equal(row[0], row[1]);
        trs_plan_destroy(s.p);
        trs_plan_destroy(s.resident);
        s.p = p[0];
        s.resident = p[1];
        if (s.opt.pivot != TRS_PIVOT_FAIL) assert_same_solution(&s);
        mat_free_device(&device_a);
        end(&s);
    }
}

/* What the choice goes by is looked at on triangles that are large enough for it: a grid whose rows are `width` long,
 * and with `band` > 1 the entries beside the diagonal too, as a factor has them. */
static trs_mat grid(int32_t n, int32_t width, int32_t band)
{
    int64_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr);
    int32_t *idx = malloc((size_t)n * (size_t)(band + 2) * sizeof *idx);
    double *val = malloc((size_t)n * (size_t)(band + 2) * sizeof *val);
    assert_true(ptr && idx && val);
    int64_t q = ptr[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        if (i >= width) idx[q++] = i - width;
        for (int32_t k = band < i % width ? band : i % width; k >= 0; k--) idx[q++] = i - k;
        ptr[i + 1] = q;
    }
    for (int64_t k = 0; k < q; k++) val[k] = 1;
    for (int32_t i = 0; i < n; i++) val[ptr[i + 1] - 1] = 4;
    return (trs_mat){.n = n, .nnz = q, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
}

static void assert_same_sets(const trs_operator *s, const trs_operator *t)
{
    assert_memory_equal(&s->statistics, &t->statistics, sizeof s->statistics);
    assert_int_equal(s->lv.count, t->lv.count);
    assert_int_equal(s->lv.widest, t->lv.widest);
    assert_memory_equal(s->lv.topo, t->lv.topo, (size_t)s->tri.n * sizeof *s->lv.topo);
    assert_memory_equal(s->lv.ptr, t->lv.ptr, ((size_t)s->lv.count + 1) * sizeof *s->lv.ptr);
}

/* Are supernodes worth looking for? */
static bool has_supernodes(trs_operator *op)
{
    const void *found;
    assert_int_equal(trs_operator_analysis(op, &trs_supernode_analysis, false, &found), TRS_OK);
    return found != NULL;
}

/* A triangle on the host that is sent to the device for its levels. */
static void check_sent(trs_context *ctx, trs_operator *s)
{
    trs_tri t;
    trs_operator sent = {0};
    assert_int_equal(trs_tri_copy(ctx, &s->tri, &t), TRS_OK);
    trs_operator_from_host(&sent, ctx, &t);
    assert_int_equal(trs_find_levels_on_device(&sent), TRS_OK);
    assert_same_sets(s, &sent);
    assert_int_equal(has_supernodes(&sent), has_supernodes(s));
    trs_operator_free(&sent);
}

/* The same, and every so many rows one reads every third column before it. */
static trs_mat grid_with_long_rows(int32_t n, int32_t width, int32_t band)
{
    enum { EVERY = 4999, STEP = 3 };
    trs_mat a = grid(n, width, band);
    const int64_t *ptr = a.ptr, most = a.nnz + (int64_t)(n / EVERY + 1) * n / STEP;
    const int32_t *idx = a.idx;
    int64_t *new_ptr = malloc(((size_t)n + 1) * sizeof *new_ptr), q = 0;
    int32_t *new_idx = malloc((size_t)most * sizeof *new_idx);
    double *val = malloc((size_t)most * sizeof *val);
    assert_true(new_ptr && new_idx && val);
    for (int32_t i = 0; i < n; i++) {
        new_ptr[i] = q;
        for (int32_t j = 0; i % EVERY == EVERY - 1 && j < idx[ptr[i]]; j += STEP) new_idx[q++] = j;
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) new_idx[q++] = idx[p];
    }
    new_ptr[n] = q;
    for (int64_t p = 0; p < q; p++) val[p] = 1e-6;
    for (int32_t i = 0; i < n; i++) val[new_ptr[i + 1] - 1] = 4;
    mat_free(&a);
    return (trs_mat){
        .n = n, .nnz = q, .ptr = new_ptr, .idx = new_idx, .val = val, .kind = TRS_LOWER};
}

/* Frees a. */
static void compare_patterns(trs_mat a, bool supernodes)
{
    trs_mat device_a = mat_to_device(&a);
    const trs_options opt = {.device = TRS_CUDA(0)}, serial = {.solver = "cpu-serial"};
    trs_plan *p = create(&a, &serial), *q = create(&device_a, &opt);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_true(is_resident(q));
    trs_operator *s = &p->side[0].op, *t = &q->side[0].op;
    assert_int_equal(trs_find_levels_on_device(t), TRS_OK);
    assert_int_equal(has_supernodes(s), supernodes);
    assert_int_equal(has_supernodes(t), supernodes);
    assert_true(is_resident(q));
    assert_int_equal(trs_operator_show(t, TRS_OP_LEVELS), TRS_OK);
    assert_same_sets(s, t);
    check_sent(&p->ctx, s);
    trs_plan_destroy(p);
    trs_plan_destroy(q);
    mat_free_device(&device_a);
    mat_free(&a);
}

static void test_patterns(void **state)
{
    (void)state;
    compare_patterns(grid(600 * 600, 600, 1), false);
    compare_patterns(grid(100000, 50, 1), false);
    compare_patterns(grid(100 * 100, 100, 99), true);
    compare_patterns(grid_with_long_rows(100000, 50, 1), false);
}

/* Rows so long that entries are left out of the search for levels, or too long for that. */
static void test_long_rows(void **state)
{
    (void)state;
    compare_patterns(grid(1500, 1500, 1499), true);
    compare_patterns(grid(40000, 40, 39), true);
    compare_patterns(grid_with_long_rows(30000, 60, 29), true);
    compare_patterns(grid_with_long_rows(230000, 700, 17), false);
}

/* The search for the levels of a chain is given up, or not: it depends on the device. */
static void test_deep(void **state)
{
    (void)state;
    enum { N = 300000 };
    trs_mat a = grid(N, N, 1), device_a = mat_to_device(&a);
    const trs_options opt = {.solver = resident_solver(0)};
    double *b = malloc(2 * sizeof *b * N), *x = b + N;
    trs_plan *p = NULL;
    assert_non_null(b);
    for (int i = 0; i < N; i++) b[i] = i > 0 ? 5 : 4;
    assert_status(trs_plan_create(&p, &device_a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(p->side[0].op.lv.count, N);
    assert_status(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    for (int i = 0; i < N; i++) assert_at_most(x[i] > 1 ? x[i] - 1 : 1 - x[i], 1e-12);
    free(b);
    trs_plan_destroy(p);
    mat_free_device(&device_a);
    mat_free(&a);
}

/* Large enough for the ring of pinned memory and for levels from the device; one is wanted by a solver that
 * has to fetch the triangle. */
static void test_large(void **state)
{
    (void)state;
    enum { SIDE = 1200, N = SIDE * SIDE };
    trs_mat a = grid(N, SIDE, 1), device_a = mat_to_device(&a);
    const trs_mat *const from[] = {&a, &device_a, &device_a};
    double *b = malloc(4 * sizeof *b * N), *x[] = {b + N, b + 2 * N, b + 3 * N};
    assert_non_null(b);
    for (int i = 0; i < N; i++) b[i] = 1 + i % 7;
    for (int k = 0; k < 3; k++) {
        const trs_options opt = {.solver = k < 2 ? resident_solver(0) : NULL, .nrhs = 1};
        trs_plan *p = create(from[k], &opt);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_true(k != 1 || is_resident(p));
        for (int again = 0; again < 2; again++) {
            assert_status(trs_plan_update(p, again ? &a : from[k], NULL), TRS_OK);
            assert_status(trs_solve(p, TRS_N, 1, b, N, x[k], N, NULL), TRS_OK);
        }
        trs_plan_destroy(p);
    }
    assert_memory_equal(x[0], x[1], N * sizeof *b);
    for (int i = 0; i < N; i++) assert_at_most((x[0][i] - x[2][i]) * (x[0][i] - x[2][i]), 1e-20);
    free(b);
    mat_free_device(&device_a);
    mat_free(&a);
}

/* A full triangle is known by its size: nothing is looked for, and it stays there. */
static void test_full(void **state)
{
    (void)state;
    enum { N = 1500 };
    if (!trs_solver_named("dense-blocked")) skip();
    trs_mat a = grid(N, N, N - 1), device_a = mat_to_device(&a);
    const trs_mat *const from[] = {&a, &device_a};
    const trs_options chosen = {.device = TRS_CUDA(0), .solves = TRS_SOLVES_MANY},
                      named = {.solver = "dense-blocked"};
    double *b = malloc(3 * sizeof *b * N), *x[] = {b + N, b + 2 * N};
    assert_non_null(b);
    for (int i = 0; i < N; i++) b[i] = 1 + i % 7;
    for (int k = 0; k < 2; k++) {
        trs_plan *p = create(from[k], &chosen), *q = create(from[k], &named);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_string_equal(p->solver->name, "dense-blocked");
        assert_null(p->side[0].op.analyses);
        assert_int_equal(p->side[0].op.lv.count, N);
        assert_status(trs_plan_analyse(q), TRS_OK);
        assert_status(trs_plan_update(q, from[k], NULL), TRS_OK);
        assert_int_equal(is_resident(q), k);
        assert_status(trs_solve(q, TRS_N, 1, b, N, x[k], N, NULL), TRS_OK);
        trs_plan_destroy(p);
        trs_plan_destroy(q);
    }
    assert_memory_equal(x[0], x[1], N * sizeof *b);
    free(b);
    mat_free_device(&device_a);
    mat_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),      cmocka_unit_test(test_update_from_host),
        cmocka_unit_test(test_after_all), cmocka_unit_test(test_not_canonical),
        cmocka_unit_test(test_pivots),    cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_long_rows), cmocka_unit_test(test_deep),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_full)};
    return run_on_device(tests);
}
