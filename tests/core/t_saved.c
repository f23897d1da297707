/* t_saved.c: analyses in files: a plan that is loaded gives the x of the plan that was saved, and no file is taken that
 * is damaged, made up, or of another pattern. */
#include "tests/common/counter.h"
#include "tests/common/model.h"

#include <math.h>
#include <unistd.h>

enum { CASES = 40 };

static char file[40]; /* in the current folder */

/* ---- what comes back --------------------------------------------------------------------------- */

typedef struct scene {
    const trs_solver *solver;
    model m;
    form f;
    trs_mat a, other; /* the same pattern with other values */
    trs_options opt;
    random_t r;
} scene;

/* A triangle after permutations. */
static void shuffle(scene *s)
{
    int *order = malloc(2 * (size_t)(s->m.n + 1) * sizeof *order);
    assert_non_null(order);
    model_shuffle(&s->m, order, order + s->m.n, &s->r);
    free(order);
    s->f.unit = s->f.hidden = false;
    if (s->f.format == TRS_BSR) s->f.format = TRS_CSR;
}

static scene draw(const trs_solver *solver, int number)
{
    scene s = {.solver = solver, .r = {(uint64_t)number * 31 + 3}};
    s.f = form_random((trs_dtype)(number % 4), &s.r);
    s.f.garbage = false; /* doubled values stay numbers */
    const bool small = solver->full || s.f.format == TRS_DENSE;
    s.m = model_new((pattern)(number % PATTERNS), random_below(&s.r, 2), small,
                    trs_is_complex(s.f.dtype), &s.r);
    s.opt.solver = solver->name;
    s.opt.order = (trs_order)random_below(&s.r, 3);
    s.opt.ops = (unsigned)random_below(&s.r, 8);
    if (number % 5 == 4) shuffle(&s);
    s.a = s.other = show(&s.m, &s.f, &s.r);
    if (number % 5 == 4) s.a.kind = s.other.kind = TRS_PERMUTED;
    const int64_t count = trs_value_count(&s.a);
    void *val = malloc((size_t)(count + 1) * sizeof(zz));
    assert_non_null(val);
    for (int64_t k = 0; k < count; k++)
        set_number(val, s.f.dtype, k, 2 * get_number(s.a.val, s.f.dtype, k));
    s.other.val = val;
    return s;
}

static trs_plan *make(const trs_mat *a, const trs_options *opt)
{
    trs_plan *p = NULL;
    int rc = trs_plan_create(&p, a, opt);
    assert_status(rc, TRS_OK);
    return p;
}

static void assert_same_solution(scene *s, const trs_plan *p, const trs_plan *q)
{
    const int n = s->m.n;
    const unsigned ops = s->opt.ops ? s->opt.ops : 1;
    zz *b = calloc((size_t)n + 1, sizeof *b), *x = calloc((size_t)n + 1, sizeof *x),
       *y = calloc((size_t)n + 1, sizeof *y);
    assert_true(b && x && y);
    for (int i = 0; i < n; i++) set_number(b, s->f.dtype, i, random_uniform(&s->r));
    for (int op = 0; op < 3; op++) {
        if (!(ops & 1u << op)) continue;
        assert_int_equal(trs_solve(p, (trs_op)op, 1, b, n, x, n, NULL), TRS_OK);
        assert_int_equal(trs_solve(q, (trs_op)op, 1, b, n, y, n, NULL), TRS_OK);
        if (s->solver->caps & TRS_CAP_BITWISE) {
            assert_memory_equal(x, y, (size_t)n * trs_size(s->f.dtype));
            continue;
        }
        for (int i = 0; i < n; i++) {
            zz d = get_number(x, s->f.dtype, i) - get_number(y, s->f.dtype, i);
            assert_at_most(cabs(d),
                           1e4 * epsilon(s->f.dtype) * (1 + cabs(get_number(x, s->f.dtype, i))));
        }
    }
    free(b), free(x), free(y);
}

static void assert_same_facts(const trs_plan *p, const trs_plan *q)
{
    trs_info a, b;
    const int32_t *topo[2], *lv[2];
    assert_int_equal(trs_plan_info(p, &a), TRS_OK);
    assert_int_equal(trs_plan_info(q, &b), TRS_OK);
    assert_true(a.n == b.n && a.nnz == b.nnz && a.levels == b.levels && a.widest == b.widest);
    assert_true(a.longest == b.longest && a.bytes_host >= b.bytes_host);
    assert_string_equal(a.solver, b.solver);
    assert_string_equal(a.reason, b.reason);
    int rc = trs_plan_levels(p, &topo[0], &lv[0]);
    assert_int_equal(trs_plan_levels(q, &topo[1], &lv[1]), rc);
    if (rc) return;
    assert_memory_equal(lv[0], lv[1], ((size_t)a.levels + 1) * sizeof **lv);
    assert_memory_equal(topo[0], topo[1], (size_t)a.n * sizeof **topo);
}

/* Saved with other values than those that the loading plan has. */
static void run_case(const trs_solver *solver, int number)
{
    scene s = draw(solver, number);
    trs_plan *p = make(&s.a, &s.opt), *q = make(&s.other, &s.opt), *again = make(&s.a, &s.opt);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_plan_save(p, file), TRS_OK);
    assert_status(trs_plan_load(q, file), TRS_OK);
    assert_same_facts(p, q);
    assert_status(trs_plan_update(p, &s.other, NULL), TRS_OK);
    assert_same_solution(&s, p, q);
    assert_status(trs_plan_update(p, &s.a, NULL), TRS_OK);
    assert_status(trs_plan_update(q, &s.a, NULL), TRS_OK);
    assert_same_solution(&s, p, q);
    assert_status(trs_plan_save(q, file), TRS_OK); /* a loaded plan can be saved */
    assert_status(trs_plan_load(again, file), TRS_OK);
    assert_same_solution(&s, p, again);
    trs_plan_destroy(p), trs_plan_destroy(q), trs_plan_destroy(again);
    free((void *)s.other.val);
    mat_free(&s.a);
    model_free(&s.m);
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    char why[200];
#ifndef HAVE_XXHASH
    skip();
#endif
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    for (int k = 0; k < CASES; k++) run_case(s, k);
}

/* ---- what is refused ---------------------------------------------------------------------------- */

/* 4x4 lower CSR:  2; 1 4; . . 5; . 3 . 8 */
static const int64_t ptr4[] = {0, 1, 3, 4, 6};
static const int32_t idx4[] = {0, 0, 1, 2, 1, 3};
static const double val4[] = {2, 1, 4, 5, 3, 8}, b4[] = {2, 5, 10, 19}, x4[] = {1, 1, 2, 2};

static trs_mat mat4(void)
{
    return (trs_mat){.n = 4, .nnz = 6, .ptr = ptr4, .idx = idx4, .val = val4, .kind = TRS_LOWER};
}

/* Its first three rows, whose arrays have odd numbers of elements: there are zeros between those of a file. */
static trs_mat mat3(void)
{
    return (trs_mat){.n = 3, .nnz = 4, .ptr = ptr4, .idx = idx4, .val = val4, .kind = TRS_LOWER};
}

static const trs_options by_level = {.order = TRS_ORDER_LEVEL, .ops = 3};

/* Save a matrix, ordered by level, and give the bytes of the file. */
static unsigned char *save(trs_mat m, size_t *size)
{
    trs_plan *p = make(&m, &by_level);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_plan_save(p, file), TRS_OK);
    trs_plan_destroy(p);
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    unsigned char *bytes = malloc(1 << 16);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static void write_bytes(const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* The file is refused with a sentence, and the plan is as good as before. */
static void refused(trs_mat m, trs_options opt, int code, const char *words)
{
    trs_plan *p = make(&m, &opt);
    double x[4];
    int rc = trs_plan_load(p, file);
    assert_true(rc != TRS_OK);
    if (code) assert_status(rc, code);
    if (!strstr(trs_message(), words)) print_error("\"%s\"\n", trs_message());
    assert_non_null(strstr(trs_message(), words));
    assert_status(trs_plan_analyse(p), TRS_OK);
    if (m.n == 4 && m.ptr == ptr4 && m.idx == idx4 && m.dtype == TRS_F64 && m.kind == TRS_LOWER &&
        opt.ops & 1) {
        assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_OK);
        assert_memory_equal(x, x4, sizeof x4);
    }
    trs_plan_destroy(p);
}

static void damage_each_byte(trs_mat m)
{
    size_t size;
    unsigned char *good = save(m, &size), *bad = malloc(size + 1);
    assert_non_null(bad);
    for (size_t k = 0; k < size; k++)
        for (int how = 0; how < 2; how++) {
            memcpy(bad, good, size);
            bad[k] ^= (unsigned char)(how ? 0xffu : 1u << k % 8);
            write_bytes(bad, size);
            refused(m, by_level, 0, file);
        }
    free(good), free(bad);
}

static void test_damage(void **state)
{
    (void)state;
    size_t size;
#ifndef HAVE_XXHASH
    skip();
#endif
    damage_each_byte(mat3());
    damage_each_byte(mat4());
    unsigned char *good = save(mat4(), &size), *bad = malloc(size + 1);
    assert_non_null(bad);
    for (size_t k = 0; k < size; k++) {
        write_bytes(good, k);
        refused(mat4(), by_level, TRS_EFORMAT, k < 8 ? "no saved plan" : "cut off");
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    write_bytes(bad, size + 1);
    refused(mat4(), by_level, TRS_EFORMAT, "not as long");
    write_bytes(good, size);
    trs_mat m = mat4();
    trs_plan *p = make(&m, &by_level);
    assert_status(trs_plan_load(p, file), TRS_OK); /* it was the damage */
    trs_plan_destroy(p);
    free(good), free(bad);
}

/* Many pieces, and threads that share them: x(i) by x(i-1) and x(i-700). */
static void test_large(void **state)
{
    (void)state;
#ifndef HAVE_XXHASH
    skip();
#endif
    enum { N = 200000, BACK = 700 };
    int64_t *ptr = malloc((N + 1) * sizeof *ptr), nnz = 0;
    int32_t *idx = malloc(3 * N * sizeof *idx);
    double *val = malloc(3 * N * sizeof *val), *x = malloc(N * sizeof *x),
           *y = malloc(N * sizeof *y);
    assert_true(ptr && idx && val && x && y);
    for (int32_t i = 0; i < N; i++) {
        ptr[i] = nnz;
        if (i >= BACK) idx[nnz] = i - BACK, val[nnz++] = 0.5 + i % 7;
        if (i % 3) idx[nnz] = i - 1, val[nnz++] = -1 - i % 5;
        idx[nnz] = i, val[nnz++] = 8 + i % 2;
    }
    ptr[N] = nnz;
    for (int32_t i = 0; i < N; i++) x[i] = y[i] = i % 11 - 5;
    const trs_mat m = {.n = N, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    trs_options opt = {.ops = 3, .order = TRS_ORDER_LEVEL, .threads = 4, .solver = "cpu-serial"};
    trs_plan *p = make(&m, &opt), *q = make(&m, &opt);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_plan_save(p, file), TRS_OK);
    FILE *f = fopen(file, "r+b"); /* a bit in the middle, and back */
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const long middle = ftell(f) / 2;
    for (int flip = 0; flip < 2; flip++) {
        fseek(f, middle, SEEK_SET);
        const int byte = fgetc(f) ^ 4;
        fseek(f, middle, SEEK_SET);
        assert_int_equal(fputc(byte, f), byte);
        assert_int_equal(fflush(f), 0);
        assert_status(trs_plan_load(q, file), flip ? TRS_OK : TRS_EFORMAT);
    }
    fclose(f);
    for (int op = TRS_N; op <= TRS_T; op++) {
        assert_int_equal(trs_solve(p, (trs_op)op, 1, x, N, x, N, NULL), TRS_OK);
        assert_int_equal(trs_solve(q, (trs_op)op, 1, y, N, y, N, NULL), TRS_OK);
        assert_memory_equal(x, y, N * sizeof *x);
    }
    trs_plan_destroy(p), trs_plan_destroy(q);
    free(ptr), free(idx), free(val), free(x), free(y);
    unlink(file);
}

/* Checksums are right, and yet the file is nonsense: it was made of a plan that was. */
static void test_nonsense(void **state)
{
    (void)state;
#ifndef HAVE_XXHASH
    skip();
#endif
    for (int how = 0; how < 6; how++) {
        trs_mat m = mat4();
        trs_plan *p = make(&m, &by_level);
        assert_status(trs_plan_analyse(p), TRS_OK);
        trs_operator *s = &p->side[0].op; /* the key is made of the other one */
        if (how == 0) s->tri.idx[0] = 3;
        if (how == 1) s->tri.idx[s->tri.ptr[4] - 1] = 0;
        if (how == 2) s->tri.ptr[1] = 2;
        if (how == 3) s->lv.ptr[1] = 5;
        if (how == 4) s->lv.ptr[0] = 1;
        if (how == 5) s->lv.ptr[1] = 4, s->lv.ptr[s->lv.count - 1] = 3;
        assert_status(trs_plan_save(p, file), TRS_OK);
        trs_plan_destroy(p);
        refused(m, by_level, TRS_EFORMAT, "damaged");
    }
    unlink(file);
}

static void test_other_pattern(void **state)
{
    (void)state;
    size_t size;
#ifndef HAVE_XXHASH
    skip();
#endif
    free(save(mat4(), &size));
    static const int32_t moved[] = {0, 0, 1, 2, 0, 3}, shuffled[] = {0, 1, 0, 2, 1, 3};
    static const float val32[] = {2, 1, 4, 5, 3, 8};
    trs_mat m = mat4();
    m.idx = moved;
    refused(m, by_level, TRS_EMATRIX, "another pattern");
    m.idx = shuffled;
    refused(m, by_level, TRS_EMATRIX, "another pattern");
    m = mat4(), m.format = TRS_CSC, m.kind = TRS_UPPER;
    refused(m, by_level, TRS_EMATRIX, "another pattern");
    m = mat4(), m.kind |= TRS_UNIT;
    refused(m, by_level, TRS_EMATRIX, "another pattern");
    m = mat4(), m.dtype = TRS_F32, m.val = val32;
    refused(m, by_level, TRS_EMATRIX, "another type");
    trs_options opt = by_level;
    opt.ops = 1;
    refused(mat4(), opt, TRS_EARG, "other ops");
    opt = by_level, opt.order = TRS_ORDER_NATURAL;
    refused(mat4(), opt, TRS_EARG, "order of the rows");
    opt = by_level, opt.solver = "cpu-dense";
    refused(mat4(), opt, TRS_EARG, "not for cpu-dense");
    write_bytes((const unsigned char *)"%%MatrixMarket matrix", 21);
    refused(mat4(), by_level, TRS_EFORMAT, "no saved plan");
    unlink(file);
    refused(mat4(), by_level, TRS_EFILE, "No such file");
}

static void test_states(void **state)
{
    (void)state;
    trs_mat m = mat4();
    const double one = 1;
    trs_plan *p = make(&m, NULL);
    assert_int_equal(trs_plan_save(NULL, file), TRS_EARG);
    assert_int_equal(trs_plan_load(NULL, file), TRS_EARG);
    assert_int_equal(trs_plan_save(p, NULL), TRS_EARG);
    assert_int_equal(trs_plan_load(p, NULL), TRS_EARG);
#ifdef HAVE_XXHASH
    assert_int_equal(trs_plan_save(p, file), TRS_ESTATE);
    assert_int_equal(trs_plan_load(p, "."), TRS_EFILE);
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_load(p, file), TRS_ESTATE);
    assert_int_equal(trs_plan_save(p, "no/such/folder/plan"), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "no/such/folder"));
    double x[4];
    assert_int_equal(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_OK); /* none the worse */
#else
    assert_int_equal(trs_plan_load(p, file), TRS_ESUPPORT);
    assert_non_null(strstr(trs_message(), "xxhash"));
    assert_int_equal(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_save(p, file), TRS_ESUPPORT);
#endif
    trs_plan_destroy(p);
    m = (trs_mat){.n = 1, .ld = 1, .val = &one, .format = TRS_DENSE};
    p = make(&m, NULL);
    assert_int_equal(trs_plan_load(p, file), TRS_ESUPPORT);
    trs_plan_destroy(p);
}

/* Pivots are looked at in the values that there are, not in those that were. */
static void test_pivots(void **state)
{
    (void)state;
    size_t size;
#ifndef HAVE_XXHASH
    skip();
#endif
    const double zero[] = {2, 1, 0, 5, 3, 8};
    free(save(mat4(), &size));
    trs_mat m = mat4();
    m.val = zero;
    trs_plan *p = make(&m, &by_level);
    assert_status(trs_plan_load(p, file), TRS_EPIVOT);
    assert_non_null(strstr(trs_message(), "row 1: diagonal is zero"));
    m.val = val4;
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_OK);
    trs_plan_destroy(p);
}

static void assert_left_out(const trs_plan *p)
{
    static const double want[] = {1, 0, 2, 19.0 / 8};
    double x[4];
    assert_status(trs_solve(p, TRS_N, 1, b4, 4, x, 4, NULL), TRS_OK);
    assert_memory_equal(x, want, sizeof want);
}

/* A file belongs to the rows that were left out, whatever stands in them. */
static void test_left_out(void **state)
{
    (void)state;
#ifndef HAVE_XXHASH
    skip();
#endif
    const double zero[] = {2, 1, 0, 5, 3, 8}, other[] = {2, NAN, NAN, 5, INFINITY, 8};
    for (int k = 0; k < 4; k++) {
        const trs_options opt = {.solver = "cpu-serial",
                                 .order = (trs_order)(1 + k / 2),
                                 .ops = k % 2 ? 7 : 1,
                                 .pivot = TRS_PIVOT_SKIP};
        trs_mat m = mat4();
        m.val = zero;
        trs_plan *p = make(&m, &opt), *q;
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_left_out(p);
        assert_status(trs_plan_save(p, file), TRS_OK);
        m.val = other;
        q = make(&m, &opt);
        assert_status(trs_plan_load(q, file), TRS_OK);
        assert_same_facts(p, q);
        assert_left_out(q);
        m.val = val4;
        assert_status(trs_plan_update(q, &m, NULL), TRS_OK);
        double x[4];
        assert_status(trs_solve(q, TRS_N, 1, b4, 4, x, 4, NULL), TRS_OK);
        assert_memory_equal(x, x4, sizeof x4);
        trs_plan_destroy(q);
        refused(m, opt, TRS_EMATRIX, "other rows left out");
        trs_plan_destroy(p);
    }
}

/* ---- memory --------------------------------------------------------------------------------------- */

static void test_allocations(void **state)
{
    (void)state;
    size_t size;
#ifndef HAVE_XXHASH
    skip();
#endif
    free(save(mat4(), &size));
    int rc = TRS_EMEM;
    for (long k = 0; rc && k < 1000; k++) {
        counter c = {.fail_at = k};
        trs_options opt = by_level;
        trs_mat m = mat4();
        trs_plan *p;
        opt.memory = counted_memory(&c);
        rc = trs_plan_create(&p, &m, &opt);
        if (!rc) rc = trs_plan_load(p, file);
        if (!rc) rc = trs_plan_save(p, file);
        trs_plan_destroy(p);
        assert_int_equal(c.live, 0);
        assert_true(rc == TRS_OK || rc == TRS_EMEM);
        assert_true(rc == TRS_EMEM || c.calls <= k);
    }
    assert_int_equal(rc, TRS_OK);
}

static int remove_file(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[64] = {{"damage", test_damage, NULL, NULL, NULL},
                                   {"large", test_large, NULL, NULL, NULL},
                                   {"nonsense", test_nonsense, NULL, NULL, NULL},
                                   {"other pattern", test_other_pattern, NULL, NULL, NULL},
                                   {"states", test_states, NULL, NULL, NULL},
                                   {"pivots", test_pivots, NULL, NULL, NULL},
                                   {"left out", test_left_out, NULL, NULL, NULL},
                                   {"allocations", test_allocations, NULL, NULL, NULL}};
    int count = 8;
    snprintf(file, sizeof file, "t_saved-%ld.plan", (long)getpid());
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    choose_solvers();
    return _cmocka_run_group_tests("t_saved", tests, (size_t)count, NULL, remove_file);
}
