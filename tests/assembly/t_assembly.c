/* t_assembly.c: terms in any order, with repetitions, are summed to the matrix that adding them up in a full one gives. */
#include "tests/common/counter.h"
#include "tests/common/full.h"

enum { N = 17, COUNT = 400 };

typedef struct terms {
    int64_t row[COUNT], col[COUNT]; /* from 0; negative: left out */
    zz value[COUNT];
} terms;

static int below(int n)
{
    return (int)((uniform() + 1) / 2 * n) % n;
}

static void draw(terms *t, bool c)
{
    for (int k = 0; k < COUNT; k++) {
        t->row[k] = below(N / 2) * 2; /* rows of odd numbers stay empty */
        t->col[k] = below(N);
        if (below(10) == 0) t->row[k] = -1 - below(5);
        if (below(10) == 0) t->col[k] = -1;
        t->value[k] = number(c);
    }
}

/* Indices as the caller has them. */
static void *indices(const int64_t *from, int bits, int base)
{
    char *to = calloc(COUNT, 8);
    for (int k = 0; k < COUNT; k++) {
        const int64_t i = from[k] < 0 ? from[k] : from[k] + base;
        if (bits == 64) ((int64_t *)to)[k] = i;
        else ((int32_t *)to)[k] = (int32_t)i;
    }
    return to;
}

static bool counts(const terms *t, int k)
{
    return t->row[k] >= 0 && t->col[k] >= 0;
}

/* What the terms make in a full matrix, summed in the precision of the type in their order: the very bits. */
static void add_up(const terms *t, trs_dtype type, full *A, int *touched)
{
    char sum[16] = {0};
    for (int k = 0; k < COUNT; k++) {
        if (!counts(t, k)) continue;
        const int64_t at = t->row[k] + N * t->col[k];
        set_value(sum, type, 0, t->value[k]);
        set_value(sum, type, 0, A->a[at] + get_value(sum, type, 0));
        A->a[at] = get_value(sum, type, 0);
        touched[at]++;
    }
}

static void assert_is(const trs_mat *m, const full *A, const int *touched)
{
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    int64_t entries = 0;
    for (int k = 0; k < N * N; k++) entries += touched[k] > 0;
    assert_int_equal(m->nnz, entries);
    assert_int_equal(ptr[N], entries + m->base);
    for (int l = 0; l < N; l++)
        for (int64_t p = ptr[l] - m->base; p < ptr[l + 1] - m->base; p++) {
            const int c = idx[p] - m->base, at = m->format == TRS_CSR ? l + N * c : c + N * l;
            assert_true(p == ptr[l] - m->base || idx[p] > idx[p - 1]);
            assert_true(touched[at] > 0);
            assert_true(get_value(m->val, m->dtype, p) == A->a[at]);
        }
}

static void check(const trs_terms *shape, int bits, int threads)
{
    terms *t = malloc(sizeof *t);
    trs_terms coo = *shape;
    trs_assembly *a;
    trs_mat m;
    char val[COUNT * 16];
    const trs_exec exec = {.threads = threads};
    const bool c = coo.dtype == TRS_C64 || coo.dtype == TRS_C32;
    draw(t, c);
    void *row = indices(t->row, bits ? bits : 32, coo.base);
    void *col = indices(t->col, bits ? bits : 32, coo.base);
    coo.n = N, coo.count = COUNT, coo.row = row, coo.col = col, coo.idx_bits = bits;
    assert_int_equal(trs_assembly_create(&a, &coo), TRS_OK);
    free(row);
    free(col);
    for (int time = 0; time < 2; time++) {
        full A = full_new(N, c);
        int touched[N * N] = {0};
        for (int k = 0; k < COUNT; k++) {
            t->value[k] *= time + 1;
            set_value(val, coo.dtype, k, t->value[k]);
        }
        add_up(t, coo.dtype, &A, touched);
        assert_int_equal(trs_assembly_sum(a, val, threads ? &exec : NULL), TRS_OK);
        assert_int_equal(trs_assembly_mat(a, 0, &m), TRS_OK);
        assert_is(&m, &A, touched);
        free(A.a);
    }
    trs_assembly_destroy(a);
    free(t);
}

static void test_forms(void **state)
{
    (void)state;
    static const int bits[] = {0, 32, 64};
    for (int type = TRS_F64; type <= TRS_C32; type++)
        for (int base = 0; base < 2; base++)
            for (int by_columns = 0; by_columns < 2; by_columns++)
                for (int b = 0; b < 3; b++) {
                    const trs_terms coo = {.dtype = (trs_dtype)type,
                                           .base = base,
                                           .format = by_columns ? TRS_CSC : TRS_CSR};
                    check(&coo, bits[b], b);
                }
}

/* The same terms on a device: there is the same matrix, bit by bit. */
static void check_device(trs_dtype type, trs_format format)
{
    static const size_t size[] = {8, 4, 16, 8};
    terms *t = malloc(sizeof *t);
    char val[COUNT * 16];
    trs_assembly *a, *b;
    trs_mat m, there;
    trs_terms coo = {.n = N, .count = COUNT, .dtype = type, .format = format, .idx_bits = 64};
    draw(t, type == TRS_C64 || type == TRS_C32);
    for (int k = 0; k < COUNT; k++) set_value(val, type, k, t->value[k]);
    coo.row = t->row, coo.col = t->col;
    assert_int_equal(trs_assembly_create(&a, &coo), TRS_OK);
    coo.device = TRS_CUDA(0);
    assert_int_equal(trs_assembly_create(&b, &coo), TRS_OK);
    void *p;
    assert_int_equal(trs_device_new(TRS_CUDA(0), COUNT * size[type], &p), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), p, val, COUNT * size[type]), TRS_OK);
    assert_int_equal(trs_assembly_sum(a, val, NULL), TRS_OK);
    assert_int_equal(trs_assembly_sum(b, p, NULL), TRS_OK);
    assert_int_equal(trs_assembly_mat(a, 0, &m), TRS_OK);
    assert_int_equal(trs_assembly_mat(b, 0, &there), TRS_OK);
    assert_true(there.device == TRS_CUDA(0) && there.nnz == m.nnz);
    int64_t ptr[N + 1];
    int32_t idx[COUNT];
    assert_int_equal(trs_device_get(TRS_CUDA(0), ptr, there.ptr, sizeof ptr), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), idx, there.idx, (size_t)m.nnz * 4), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), val, there.val, (size_t)m.nnz * size[type]),
                     TRS_OK);
    assert_memory_equal(ptr, m.ptr, sizeof ptr);
    assert_memory_equal(idx, m.idx, (size_t)m.nnz * 4);
    assert_memory_equal(val, m.val, (size_t)m.nnz * size[type]);
    trs_device_free(TRS_CUDA(0), p);
    trs_assembly_destroy(a);
    trs_assembly_destroy(b);
    free(t);
}

static void test_device(void **state)
{
    (void)state;
    char name[100];
    if (trs_device_name(TRS_CUDA(0), name, sizeof name)) skip();
    for (int type = TRS_F64; type <= TRS_C32; type++) {
        check_device((trs_dtype)type, TRS_CSR);
        check_device((trs_dtype)type, TRS_CSC);
    }
}

/* Linear elements on an interval, with 60 000 of them shared among threads: the matrix is -1 2 -1 times n, and one end is
 * fixed by leaving its row and column out.  Its solution for a load of one is known. */
static void test_elements(void **state)
{
    (void)state;
    enum { CELLS = 60000 };
    int32_t *row = calloc(4 * CELLS, 4), *col = calloc(4 * CELLS, 4);
    double *val = calloc(4 * CELLS, 8), *b = calloc(CELLS, 8), *x = calloc(CELLS, 8);
    trs_terms coo = {.n = CELLS, .count = 4 * CELLS, .row = row, .col = col};
    trs_assembly *a;
    trs_mat A;
    trs_lu *lu;
    for (int e = 0; e < CELLS; e++)
        for (int k = 0; k < 4; k++) {
            row[4 * e + k] = e + k / 2 - 1; /* the first node, -1, is the end that is fixed */
            col[4 * e + k] = e + k % 2 - 1;
            val[4 * e + k] = k / 2 == k % 2 ? 1 : -1;
        }
    assert_int_equal(trs_assembly_create(&a, &coo), TRS_OK);
    assert_int_equal(trs_assembly_sum(a, val, NULL), TRS_OK);
    assert_int_equal(trs_assembly_mat(a, 0, &A), TRS_OK);
    assert_int_equal(A.nnz, 3 * CELLS - 2);
    b[CELLS - 1] = 1;                                 /* a force at the free end: x is linear */
    assert_int_equal(trs_ilu(&lu, &A, NULL), TRS_OK); /* exact, since the matrix is tridiagonal */
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, CELLS, x, CELLS, NULL), TRS_OK);
    for (int i = 0; i < CELLS; i++) assert_true(fabs(x[i] - (i + 1)) < 1e-6 * CELLS);
    trs_lu_destroy(lu);
    trs_assembly_destroy(a);
    free(row), free(col), free(val), free(b), free(x);
}

/* The entries of a file, each as three terms in an order that is far from its own, make the matrix again. */
static void test_file(void **state)
{
    (void)state;
    char file[500];
    trs_mm mm, entries;
    trs_mat want, got;
    trs_assembly *a;
    const trs_mm_options opt = {.format = TRS_COO, .base = 1};
    snprintf(file, sizeof file, "%s/matrices/west0067.mtx", getenv("TRS_SRCDIR"));
    assert_int_equal(trs_mm_read(file, NULL, &mm), TRS_OK);
    assert_int_equal(trs_mm_read(file, &opt, &entries), TRS_OK);
    const int64_t nnz = entries.nnz, count = 3 * nnz;
    int32_t *row = calloc((size_t)count, 4), *col = calloc((size_t)count, 4);
    double *val = calloc((size_t)count, 8);
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = 7919 * k % nnz, part = k / nnz; /* 7919 is prime */
        const double v = ((const double *)entries.val)[at];
        row[k] = entries.row[at], col[k] = entries.idx[at];
        val[k] = part == 0 ? v / 2 : v / 4;
    }
    const trs_terms coo = {.n = mm.rows, .count = count, .row = row, .col = col, .base = 1};
    assert_int_equal(trs_assembly_create(&a, &coo), TRS_OK);
    assert_int_equal(trs_assembly_sum(a, val, NULL), TRS_OK);
    assert_int_equal(trs_assembly_mat(a, TRS_PERMUTED, &got), TRS_OK);
    assert_int_equal(got.kind, TRS_PERMUTED);
    assert_int_equal(trs_mm_mat(&mm, 0, &want), TRS_OK);
    assert_int_equal(got.nnz, want.nnz);
    for (int64_t p = 0; p < want.nnz; p++)
        assert_int_equal(((const int32_t *)got.idx)[p], ((const int32_t *)want.idx)[p] + 1);
    assert_memory_equal(got.val, want.val, (size_t)want.nnz * 8);
    trs_assembly_destroy(a);
    trs_mm_free(&mm);
    trs_mm_free(&entries);
    free(row), free(col), free(val);
}

static void refused(const trs_terms *coo, int code, const char *words)
{
    trs_assembly *a = (trs_assembly *)coo;
    assert_int_equal(trs_assembly_create(&a, coo), code);
    assert_null(a);
    if (!strstr(trs_message(), words)) fail_msg("\"%s\" has no \"%s\"", trs_message(), words);
}

static void free_it(void *user, void *p)
{
    (void)user;
    free(p);
}

static void test_refused(void **state)
{
    (void)state;
    int32_t row[] = {0, 2, -7}, col[] = {1, 0, 99}; /* the last one is left out */
    const trs_terms good = {.n = 3, .count = 3, .row = row, .col = col};
    trs_terms c = good;
    trs_assembly *a;
    trs_mat m;
    const double val[] = {1, 2, NAN};
    c.n = -1, refused(&c, TRS_EARG, "n = -1");
    c = good, c.row = NULL, refused(&c, TRS_EARG, "NULL");
    c = good, c.idx_bits = 16, refused(&c, TRS_EARG, "16");
    c = good, c.base = 2, refused(&c, TRS_EARG, "base");
    c = good, c.format = TRS_DENSE, refused(&c, TRS_EARG, "format");
    c = good, c.n = 2, refused(&c, TRS_EMATRIX, "term 1: row 2");
    c = good, c.base = 1, refused(&c, TRS_EMATRIX, "term 0: row 0");
    c = good, c.reserved[0] = 1, refused(&c, TRS_EARG, "reserved");
    c = good, c.memory.free = free_it, refused(&c, TRS_EARG, "callbacks");
    c = good, c.device = TRS_CUDA(99), refused(&c, TRS_EDEVICE, "");
    assert_int_equal(trs_assembly_create(NULL, &good), TRS_EARG);
    assert_int_equal(trs_assembly_create(&a, NULL), TRS_EARG);
    assert_int_equal(trs_assembly_create(&a, &good), TRS_OK);
    assert_int_equal(trs_assembly_mat(a, 0, &m), TRS_OK);
    assert_true(m.nnz == 2 && ((const double *)m.val)[0] == 0);
    assert_int_equal(trs_assembly_sum(a, NULL, NULL), TRS_EARG);
    assert_int_equal(trs_assembly_sum(NULL, val, NULL), TRS_EARG);
    assert_int_equal(trs_assembly_sum(a, val, &(trs_exec){.threads = -1}), TRS_EARG);
    assert_int_equal(trs_assembly_sum(a, val, &(trs_exec){.threads = 1025}), TRS_EARG);
    assert_int_equal(trs_assembly_sum(a, val, NULL), TRS_OK);
    assert_true(((const double *)m.val)[0] == 1 && ((const double *)m.val)[1] == 2);
    trs_assembly_destroy(a);
    trs_assembly_destroy(NULL);
    c = (trs_terms){0}; /* no rows at all */
    assert_int_equal(trs_assembly_create(&a, &c), TRS_OK);
    assert_int_equal(trs_assembly_sum(a, NULL, NULL), TRS_OK);
    trs_assembly_destroy(a);
}

static void test_memory(void **state)
{
    (void)state;
    int32_t row[] = {0, 2, 0}, col[] = {1, 0, 1};
    int rc = TRS_EMEM, allowed = 0;
    bool refused = true; /* an allocation, which may be one that can be done without */
    for (; refused; allowed++) {
        counter c = {.fail_at = allowed};
        trs_terms coo = {.n = 3, .count = 3, .row = row, .col = col, .memory = counted_memory(&c)};
        trs_assembly *a;
        rc = trs_assembly_create(&a, &coo);
        if (rc) assert_true(!a && *trs_message());
        trs_assembly_destroy(a);
        refused = was_refused(&c);
        assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(rc, TRS_OK);
    assert_true(allowed > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),  cmocka_unit_test(test_elements),
        cmocka_unit_test(test_file),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
