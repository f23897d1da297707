/* t_device_import.c: a triangle on the device, in any form that has pointers, becomes the same operators there as
 * import.c and a transposition make of it on the host: entries, places, levels, x bit for bit, and errors by their
 * words. */
#include "tests/common/device.h"
#include "tests/common/model.h"

#include "base/device.h"

#include <math.h>
#include <unistd.h>

enum { HOST, DEVICE };

typedef struct pair { /* one matrix on the host and on the device, and a plan of each */
    trs_mat a[2];
    trs_options opt;
    trs_plan *p[2];
} pair;

static const char *solver_on_device(int number)
{
    static const char *const names[] = {"cuda-dataflow", "cuda-merged", "cuda-dataflow",
                                        "cuda-supernodal"};
    return available_solver(names + number % 2, 3);
}

static bool is_resident(const trs_operator *op)
{
    return op->ctx && !(op->on_host & TRS_OP_PATTERN);
}

static void create(pair *s)
{
    for (int where = 0; where < 2; where++) {
        assert_status(trs_plan_create(&s->p[where], &s->a[where], &s->opt), TRS_OK);
        s->p[where]->ctx.patient = true;
    }
    for (int k = 0; k < s->p[DEVICE]->sides && s->a[HOST].n > 0; k++)
        assert_true(is_resident(&s->p[DEVICE]->side[k].op));
}

static void destroy(pair *s)
{
    for (int where = 0; where < 2; where++) trs_plan_destroy(s->p[where]);
}

/* ---- the same operators, the same x ----------------------------------------------------------------- */

static int64_t place(const trs_tri *t, int64_t p)
{
    return t->src ? t->src[p] : p;
}

static void assert_same_operator(trs_operator *a, trs_operator *b)
{
    const trs_tri *s = &a->tri, *t = &b->tri;
    const unsigned all = TRS_OP_PATTERN | TRS_OP_VALUES | TRS_OP_LEVELS;
    assert_status(trs_operator_show(a, all), TRS_OK);
    assert_status(trs_operator_show(b, all), TRS_OK);
    assert_int_equal(s->n, t->n);
    assert_int_equal(s->nnz, t->nnz);
    assert_int_equal(a->transposed, b->transposed);
    assert_int_equal(a->reversed, b->reversed);
    assert_memory_equal(s->ptr, t->ptr, ((size_t)s->n + 1) * sizeof *s->ptr);
    assert_memory_equal(s->idx, t->idx, (size_t)s->nnz * sizeof *s->idx);
    assert_memory_equal(s->val, t->val, (size_t)s->nnz * trs_size(s->dtype));
    for (int64_t p = 0; p < s->nnz; p++) assert_int_equal(place(s, p), place(t, p));
    assert_int_equal(a->lv.count, b->lv.count);
    assert_memory_equal(a->lv.topo, b->lv.topo, (size_t)s->n * sizeof *a->lv.topo);
    assert_memory_equal(a->lv.ptr, b->lv.ptr, ((size_t)a->lv.count + 1) * sizeof *a->lv.ptr);
    assert_memory_equal(&a->statistics, &b->statistics, sizeof a->statistics);
}

static void assert_same_operators(const pair *s)
{
    for (int k = 0; k < s->p[HOST]->sides; k++)
        assert_same_operator(&s->p[HOST]->side[k].op, &s->p[DEVICE]->side[k].op);
    assert_int_equal(s->p[HOST]->info.nnz, s->p[DEVICE]->info.nnz);
    assert_string_equal(s->p[HOST]->reason, s->p[DEVICE]->reason);
}

static void assert_same_solution(const pair *s, random_t *r)
{
    const int64_t n = s->a[HOST].n;
    const size_t bytes = (size_t)n * trs_size(s->a[HOST].dtype);
    char *b = calloc(3, bytes + 1), *x[] = {b + bytes, b + 2 * bytes};
    assert_non_null(b);
    for (int64_t i = 0; i < n; i++) set_number(b, s->a[HOST].dtype, i, random_uniform(r));
    for (int op = TRS_N; op <= TRS_H; op++) {
        if (!(s->opt.ops & 1u << op)) continue;
        for (int where = 0; where < 2; where++)
            assert_status(trs_solve(s->p[where], (trs_op)op, 1, b, n, x[where], n, NULL), TRS_OK);
        assert_memory_equal(x[0], x[1], bytes);
    }
    free(b);
}

/* Other values, the device's first from the device and then from the host. */
static void check_updates(pair *s, random_t *r)
{
    trs_mat *a = &s->a[HOST];
    const int64_t count = trs_value_count(a);
    for (int64_t k = 0; k < count; k++)
        set_number((void *)a->val, a->dtype, k, get_number(a->val, a->dtype, k) * 0.5);
    trs_mat halved = mat_to_device(a);
    const trs_mat *const from[] = {&halved, a};
    assert_status(trs_plan_update(s->p[HOST], a, NULL), TRS_OK);
    for (int k = 0; k < 2; k++) {
        assert_status(trs_plan_update(s->p[DEVICE], from[k], NULL), TRS_OK);
        assert_same_solution(s, r);
    }
    mat_free_device(&halved);
}

static void check(pair *s, random_t *r)
{
    create(s);
    for (int where = 0; where < 2; where++) assert_status(trs_plan_analyse(s->p[where]), TRS_OK);
    assert_same_solution(s, r);
    for (int fetched = 0; fetched < 2; fetched++) {
        check_updates(s, r);
        if (!fetched) assert_same_operators(s); /* after which the host has them, too */
    }
    destroy(s);
}

static form sparse_form(int number, random_t *r)
{
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_BSR};
    form f = form_random((trs_dtype)(number % 4), r);
    f.format = format[number / 4 % 3];
    return f;
}

static void test_forms(void **state)
{
    (void)state;
    for (int k = 0; k < 12 * 2 * 7 * 4; k++) {
        random_t r = {(uint64_t)k * 31 + 7};
        pair s = {.opt = {.solver = solver_on_device(k / 5), .ops = 1 + (unsigned)(k / 24 % 7)}};
        const form f = sparse_form(k, &r);
        const pattern pat = (pattern)random_below(&r, PATTERNS);
        model m = model_new(pat, k / 12 % 2, true, trs_is_complex(f.dtype), &r);
        s.a[HOST] = show(&m, &f, &r);
        s.a[DEVICE] = mat_to_device(&s.a[HOST]);
        check(&s, &r);
        mat_free_device(&s.a[DEVICE]);
        mat_free(&s.a[HOST]);
        model_free(&m);
    }
}

/* Strict, and nothing outside; a diagonal of ones and no entry at all; a library's own choice. */
static void test_special(void **state)
{
    (void)state;
    random_t r = {3};
    const int64_t ptr[] = {1, 1, 1};
    const double none = 0;
    pair s = {.opt = {.device = TRS_CUDA(0), .ops = 7}};
    s.a[HOST] =
        (trs_mat){.n = 2, .ptr = ptr, .val = &none, .base = 1, .kind = TRS_UPPER | TRS_UNIT};
    s.a[DEVICE] = mat_to_device(&s.a[HOST]);
    assert_status(trs_plan_create(&s.p[0], &s.a[DEVICE], &s.opt), TRS_OK);
    assert_status(trs_plan_analyse(s.p[0]), TRS_OK);
    assert_int_equal(s.p[0]->info.nnz, 2);
    trs_plan_destroy(s.p[0]);
    mat_free_device(&s.a[DEVICE]);
    for (int k = 0; k < 12; k++) {
        form f = sparse_form(4 * k, &r);
        f.garbage = false;
        model m = model_new(RANDOM, k % 2, true, false, &r);
        s.opt = (trs_options){.solver = solver_on_device(k), .ops = 3};
        s.a[HOST] = show(&m, &f, &r);
        s.a[HOST].kind |= TRS_STRICT;
        s.a[DEVICE] = mat_to_device(&s.a[HOST]);
        check(&s, &r);
        mat_free_device(&s.a[DEVICE]);
        mat_free(&s.a[HOST]);
        model_free(&m);
    }
}

/* ---- saved plans ------------------------------------------------------------------------------------- */

/* A plan of the device gives the file that one of the host does, and takes it. */
static void test_saved(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        random_t r = {(uint64_t)k + 90};
        char file[40];
        pair s = {.opt = {.solver = solver_on_device(0), .ops = 1 + (unsigned)(k % 3)}};
        const form f = sparse_form(4 * k, &r);
        model m = model_new(RANDOM, k % 2, true, false, &r);
        s.a[HOST] = show(&m, &f, &r);
        s.a[DEVICE] = mat_to_device(&s.a[HOST]);
        create(&s);
        snprintf(file, sizeof file, "t_device_import-%d.plan", (int)getpid());
        assert_status(trs_plan_analyse(s.p[HOST]), TRS_OK);
        const int rc = trs_plan_save(s.p[HOST], file);
        if (rc == TRS_OK) {
            assert_status(trs_plan_load(s.p[DEVICE], file), TRS_OK);
            assert_same_solution(&s, &r);
            trs_plan_destroy(s.p[DEVICE]);
            assert_status(trs_plan_create(&s.p[DEVICE], &s.a[DEVICE], &s.opt), TRS_OK);
            assert_status(trs_plan_analyse(s.p[DEVICE]), TRS_OK);
            assert_status(trs_plan_save(s.p[DEVICE], file), TRS_OK);
            trs_plan_destroy(s.p[HOST]);
            assert_status(trs_plan_create(&s.p[HOST], &s.a[HOST], &s.opt), TRS_OK);
            assert_status(trs_plan_load(s.p[HOST], file), TRS_OK);
            assert_same_solution(&s, &r);
        } else assert_status(rc, TRS_ESUPPORT);
        unlink(file);
        destroy(&s);
        mat_free_device(&s.a[DEVICE]);
        mat_free(&s.a[HOST]);
        model_free(&m);
    }
}

/* ---- what is wrong ------------------------------------------------------------------------------------- */

enum { ROWS = 6, ENTRIES = 10 };

typedef struct damage {
    const char *name;
    trs_format format;
    unsigned kind;
    int64_t ptr[ROWS + 1];
    int32_t idx[ENTRIES];
} damage;

#define GOOD_PTR                                                                                   \
    {                                                                                              \
        0, 1, 3, 5, 7, 8, 10                                                                       \
    }
#define GOOD_IDX                                                                                   \
    {                                                                                              \
        0, 0, 1, 1, 2, 0, 3, 4, 3, 5                                                               \
    }

static const damage damaged[] = {
    {"none", TRS_CSR, TRS_LOWER, GOOD_PTR, GOOD_IDX},
    {"index too large", TRS_CSR, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, 2, 6, 3, 4, 3, 5}},
    {"index negative", TRS_CSR, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, 2, -1, 3, 4, 3, 5}},
    {"index huge", TRS_CSC, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, INT32_MAX, 0, 3, 4, 3, 5}},
    {"twice", TRS_CSR, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, 1, 0, 3, 4, 3, 5}},
    {"twice, by columns", TRS_CSC, TRS_UPPER, GOOD_PTR, {0, 0, 1, 1, 1, 0, 3, 4, 3, 5}},
    {"diagonal twice", TRS_CSR, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, 2, 3, 3, 4, 3, 5}},
    {"ones twice", TRS_CSR, TRS_LOWER | TRS_UNIT, GOOD_PTR, {0, 0, 1, 1, 2, 3, 3, 4, 3, 5}},
    {"outside", TRS_CSR, TRS_LOWER | TRS_STRICT, GOOD_PTR, {0, 0, 1, 3, 2, 0, 3, 4, 3, 5}},
    {"outside, by columns",
     TRS_CSC,
     TRS_UPPER | TRS_STRICT,
     GOOD_PTR,
     {0, 0, 1, 3, 2, 0, 3, 4, 3, 5}},
    {"outside, blocks", TRS_BSR, TRS_LOWER | TRS_STRICT, GOOD_PTR, {0, 0, 1, 3, 2, 0, 3, 4, 3, 5}},
    {"block twice", TRS_BSR, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, 1, 0, 3, 4, 3, 5}},
    {"block outside", TRS_BSR, TRS_LOWER, GOOD_PTR, {0, 0, 1, 1, 2, 0, 6, 4, 3, 5}},
    {"first pointer", TRS_CSR, TRS_LOWER, {1, 1, 3, 5, 7, 8, 10}, GOOD_IDX},
    {"last pointer", TRS_CSR, TRS_LOWER, {0, 1, 3, 5, 7, 8, 9}, GOOD_IDX},
    {"descending", TRS_CSR, TRS_LOWER, {0, 1, 5, 3, 7, 8, 10}, GOOD_IDX},
    {"descending, blocks", TRS_BSR, TRS_LOWER, {0, 1, 5, 3, 7, 8, 10}, GOOD_IDX},
    {"beyond", TRS_CSR, TRS_UPPER, {0, 1, 3, 1000000000, 7, 8, 10}, GOOD_IDX},
    {"before", TRS_CSC, TRS_LOWER, {0, 1, 3, -1000000000, 7, 8, 10}, GOOD_IDX},
    {"beyond, blocks", TRS_BSR, TRS_LOWER, {0, 1, 3, INT64_MAX / 2, 7, 8, 10}, GOOD_IDX},
};

/* What create says of it on the host, and on the device. */
static void check_damage(const damage *d, unsigned ops, int base)
{
    int64_t ptr[ROWS + 1];
    int32_t idx[ENTRIES];
    double val[4 * ENTRIES];
    char said[300];
    int rc[2];
    const int block = d->format == TRS_BSR ? 2 : 0;
    const trs_options opt = {.solver = solver_on_device(0), .ops = ops};
    for (int k = 0; k <= ROWS; k++) ptr[k] = d->ptr[k] + base;
    for (int k = 0; k < ENTRIES; k++) idx[k] = (int32_t)((uint32_t)d->idx[k] + (uint32_t)base);
    for (int k = 0; k < 4 * ENTRIES; k++) val[k] = 1;
    pair s = {.a[HOST] = {.n = block ? block * ROWS : ROWS,
                          .nnz = ENTRIES,
                          .ptr = ptr,
                          .idx = idx,
                          .val = val,
                          .format = d->format,
                          .kind = d->kind,
                          .block = block,
                          .base = base}};
    s.a[DEVICE] = mat_to_device(&s.a[HOST]);
    for (int where = 0; where < 2; where++) {
        rc[where] = trs_plan_create(&s.p[where], &s.a[where], &opt);
        if (where == HOST) snprintf(said, sizeof said, "%s", trs_message());
        else assert_string_equal(said, trs_message());
        trs_plan_destroy(s.p[where]);
    }
    print_message("%s, ops %u: %s\n", d->name, ops, said);
    assert_int_equal(rc[HOST], rc[DEVICE]);
    assert_int_equal(rc[HOST], d == damaged ? TRS_OK : TRS_EMATRIX);
    mat_free_device(&s.a[DEVICE]);
}

static void test_damaged(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof damaged / sizeof damaged[0]; k++)
        for (unsigned ops = 1; ops < 4; ops++) check_damage(&damaged[k], ops, (int)ops % 2);
}

/* Row 4 has no diagonal, and that of row 2 is zero. */
static void test_missing_pivots(void **state)
{
    (void)state;
    static const int64_t ptr[] = {0, 1, 3, 5, 6, 8};
    static const int32_t idx[] = {0, 0, 1, 1, 2, 3, 0, 3};
    static const double val[] = {1, 2, 3, 4, 0, 5, 6, 7};
    for (int k = 0; k < 12; k++) {
        char said[300];
        random_t r = {11};
        int64_t count[2], row[2];
        pair s = {.opt = {.solver = solver_on_device(k),
                          .ops = 1 + (unsigned)k % 3,
                          .pivot = k / 6 ? TRS_PIVOT_REPLACE : TRS_PIVOT_FAIL,
                          .pivot_value = 2}};
        s.a[HOST] = (trs_mat){.n = 5,
                              .nnz = 8,
                              .ptr = ptr,
                              .idx = idx,
                              .val = val,
                              .format = k / 3 % 2 ? TRS_CSC : TRS_CSR,
                              .kind = k / 3 % 2 ? TRS_UPPER : TRS_LOWER};
        s.a[DEVICE] = mat_to_device(&s.a[HOST]);
        create(&s);
        for (int where = 0; where < 2; where++) {
            const int rc = trs_plan_analyse(s.p[where]);
            assert_status(rc, s.opt.pivot == TRS_PIVOT_FAIL ? TRS_EPIVOT : TRS_OK);
            if (where == HOST) snprintf(said, sizeof said, "%s", trs_message());
            else if (rc) assert_string_equal(said, trs_message());
            assert_status(trs_plan_pivots(s.p[where], &count[where], &row[where]), TRS_OK);
        }
        assert_int_equal(count[HOST], 2);
        assert_int_equal(count[DEVICE], 2);
        assert_int_equal(row[HOST], row[DEVICE]);
        if (s.opt.pivot == TRS_PIVOT_REPLACE) assert_same_solution(&s, &r);
        destroy(&s);
        mat_free_device(&s.a[DEVICE]);
    }
}

/* ---- large ones ------------------------------------------------------------------------------------------ */

/* The 5-point matrix of a grid by rows, both triangles. */
static trs_mat grid(int32_t side)
{
    const int32_t n = side * side;
    int64_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr), q = 0;
    int32_t *idx = malloc(5 * (size_t)n * sizeof *idx);
    double *val = malloc(5 * (size_t)n * sizeof *val);
    assert_true(ptr && idx && val);
    for (int32_t i = 0; i < n; i++) {
        const int32_t by[] = {-side, -1, 0, 1, side};
        ptr[i] = q;
        for (int k = 0; k < 5; k++) {
            if (i + by[k] < 0 || i + by[k] >= n) continue;
            val[q] = by[k] ? -1 - (double)(q % 5) / 8 : 8;
            idx[q++] = i + by[k];
        }
    }
    ptr[n] = q;
    return (trs_mat){.n = n, .nnz = q, .ptr = ptr, .idx = idx, .val = val};
}

/* Both triangles of one matrix, and both transposes; more entries than one pass of blocks has threads. */
static void test_large(void **state)
{
    (void)state;
    trs_mat a = grid(700);
    random_t r = {5};
    for (int k = 0; k < 4; k++) {
        pair s = {.opt = {.solver = solver_on_device(k), .ops = k < 2 ? 3 : 2}};
        s.a[HOST] = a;
        s.a[HOST].kind = k % 2 ? TRS_UPPER : TRS_LOWER;
        s.a[DEVICE] = mat_to_device(&s.a[HOST]);
        create(&s);
        for (int where = 0; where < 2; where++) assert_status(trs_plan_analyse(s.p[where]), TRS_OK);
        assert_same_solution(&s, &r);
        assert_same_operators(&s);
        destroy(&s);
        mat_free_device(&s.a[DEVICE]);
    }
    mat_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_special),
        cmocka_unit_test(test_saved), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_large), cmocka_unit_test(test_missing_pivots)};
    return run_on_device(tests);
}
