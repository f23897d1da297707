/* t_product.c: op(A) X is compared with sums in long double over a list of entries, for every format, type, op, layout and
 * number of threads; and no pattern makes it read or write outside the arrays. */
#include "tests/common/model.h"

#include <float.h>
#include <limits.h>
#include <math.h>

typedef struct row_sum { /* what a row of op(A) x is */
    long double re, im, size;
    int terms;
} row_sum;

static void add_term(row_sum *s, zz a, zz x)
{
    s->re += (long double)creal(a) * creal(x) - (long double)cimag(a) * cimag(x);
    s->im += (long double)creal(a) * cimag(x) + (long double)cimag(a) * creal(x);
    s->size += (fabsl(creal(a)) + fabsl(cimag(a))) * (fabsl(creal(x)) + fabsl(cimag(x)));
    s->terms++;
}

/* A matrix, as a list of entries; kind adds to it what the library has to add. */
typedef struct reference {
    const model *m;
    trs_dtype dtype;
    bool unit, hermitian;
} reference;

static void add_entry(row_sum *s, trs_op op, int i, int j, zz a, const zz *x)
{
    if (op == TRS_N) add_term(&s[i], a, x[j]);
    else add_term(&s[j], op == TRS_H ? conj(a) : a, x[i]);
}

static row_sum *multiply(const reference *f, trs_op op, const zz *x)
{
    const model *m = f->m;
    row_sum *s = zeroed(m->n, sizeof *s);
    for (int64_t k = 0; k < m->nnz; k++) {
        const int i = m->row[k], j = m->col[k];
        zz a = trs_is_complex(f->dtype) ? m->val[k] : creal(m->val[k]);
        if (i == j && f->unit) a = 1;
        if (i == j && f->hermitian) a = creal(a);
        add_entry(s, op, i, j, a, x);
        if (i != j && f->hermitian) add_entry(s, op, j, i, conj(a), x);
    }
    return s;
}

/* ---- X and Y ----------------------------------------------------------------------------------------- */

typedef struct vectors {
    trs_dtype dtype;
    trs_layout layout;
    int n, nrhs;
    int64_t ldx, ldy;
    void *x, *y;
} vectors;

static int64_t at(const vectors *v, int64_t i, int r, int64_t ld)
{
    return v->layout == TRS_ROW_MAJOR ? i * ld + r : i + r * ld;
}

static int64_t count_of(const vectors *v, int64_t ld)
{
    return ld * ((v->layout == TRS_ROW_MAJOR ? v->n : v->nrhs) - 1) +
           (v->layout == TRS_ROW_MAJOR ? v->nrhs : v->n);
}

/* Between the columns of Y is -7. */
static void clear_y(const vectors *v)
{
    const int64_t count = count_of(v, v->ldy);
    for (int64_t k = 0; k < count; k++) set_number(v->y, v->dtype, k, -7);
    for (int r = 0; r < v->nrhs; r++)
        for (int i = 0; i < v->n; i++) set_number(v->y, v->dtype, at(v, i, r, v->ldy), NAN);
}

static vectors vectors_new(trs_dtype t, int n, int nrhs, trs_layout layout, random_t *r)
{
    vectors v = {.dtype = t, .layout = layout, .n = n, .nrhs = nrhs};
    v.ldx = (layout == TRS_ROW_MAJOR ? nrhs : n) + random_below(r, 3);
    v.ldy = (layout == TRS_ROW_MAJOR ? nrhs : n) + random_below(r, 3);
    v.x = malloc((size_t)count_of(&v, v.ldx) * trs_size(t)); /* no element more: for sanitizers */
    v.y = malloc((size_t)count_of(&v, v.ldy) * trs_size(t));
    assert_true(v.x && v.y);
    for (int64_t k = 0; k < count_of(&v, v.ldx); k++)
        set_number(v.x, t, k, random_uniform(r) + random_uniform(r) * I);
    clear_y(&v);
    return v;
}

static void vectors_free(vectors *v)
{
    free(v->x), free(v->y);
}

/* |y - op(A) x| <= gamma |op(A)| |x| in each row; of what is beside Y nothing was written. */
static void check(const reference *f, trs_op op, const vectors *v)
{
    zz *x = zeroed(v->n, sizeof *x);
    int64_t others = 0;
    for (int r = 0; r < v->nrhs; r++) {
        for (int i = 0; i < v->n; i++) x[i] = get_number(v->x, v->dtype, at(v, i, r, v->ldx));
        row_sum *s = multiply(f, op, x);
        for (int i = 0; i < v->n; i++) {
            const zz y = get_number(v->y, v->dtype, at(v, i, r, v->ldy));
            const long double e = fabsl(creal(y) - s[i].re) + fabsl(cimag(y) - s[i].im);
            const long double bound = 2 * (s[i].terms + 2) * epsilon(v->dtype) * s[i].size;
            assert_at_most((double)e, (double)bound);
        }
        free(s);
    }
    for (int64_t k = 0; k < count_of(v, v->ldy); k++)
        others += creal(get_number(v->y, v->dtype, k)) == -7;
    assert_int_equal(others, count_of(v, v->ldy) - (int64_t)v->n * v->nrhs);
    free(x);
}

static void multiply_and_check(const reference *f, const trs_mat *A, trs_op op, const vectors *v)
{
    assert_status(trs_multiply(A, op, v->nrhs, v->x, v->ldx, v->y, v->ldy, v->layout), TRS_OK);
    check(f, op, v);
}

/* ---- small matrices in every form ------------------------------------------------------------------ */

enum { TRIANGLE, GENERAL, HERMITIAN, KINDS };

static void one_form(int number, int kind)
{
    static const int columns[] = {1, 2, 3, 4, 5, 9};
    random_t r = {(uint64_t)number};
    form f = form_random((trs_dtype)(number % 4), &r);
    if (kind != TRIANGLE) f.unit = f.hidden = false;
    if (kind == GENERAL) f.garbage = false;
    const bool is_complex = trs_is_complex(f.dtype);
    model m =
        model_new((pattern)(number / 4 % PATTERNS), random_below(&r, 2), true, is_complex, &r);
    const int last = m.n - 1;
    if (kind == GENERAL && last > 0) model_add(&m, 0, last, 3); /* not in the triangle */
    trs_mat A = show(&m, &f, &r);
    if (kind == GENERAL) A.kind = number % 2 && A.format != TRS_BSR ? TRS_PERMUTED : 0;
    if (kind == HERMITIAN) A.kind |= TRS_SELFADJOINT;
    if (kind != GENERAL && !f.garbage) A.kind |= TRS_STRICT;
    const reference ref = {&m, f.dtype, f.unit, kind == HERMITIAN};
    for (int op = TRS_N; op <= TRS_H && m.n; op++)
        for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
            vectors v =
                vectors_new(f.dtype, m.n, columns[random_below(&r, 6)], (trs_layout)layout, &r);
            multiply_and_check(&ref, &A, (trs_op)op, &v);
            vectors_free(&v);
        }
    mat_free(&A);
    model_free(&m);
}

static void test_forms(void **state)
{
    (void)state;
    for (int number = 0; number < 600; number++)
        for (int kind = 0; kind < KINDS; kind++) one_form(number, kind);
}

/* ---- several threads ------------------------------------------------------------------------------- */

/* Lines of many lengths. */
static model large(bool upper, bool full, random_t *r)
{
    const int n = 3001;
    model m = {.n = n, .upper = upper};
    for (int i = 0; i < n; i++) {
        const int length = i % 50 == 7 ? 700 : random_below(r, 120);
        int j = random_below(r, 8);
        for (int k = 0; k < length && j < n; k++, j += 1 + random_below(r, 2 * n / 700)) {
            if (full || j <= i) model_add(&m, i, j, random_uniform(r) + random_uniform(r) * I);
        }
    }
    return m;
}

/* The linker puts these in the place of the library's: a product asks for memory only for the sums of its threads. */
static bool out_of_memory;

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_aligned_alloc(size_t unit, size_t n);
void *__wrap_aligned_alloc(size_t unit, size_t n);

void *__wrap_malloc(size_t n)
{
    return out_of_memory ? NULL : __real_malloc(n);
}

void *__wrap_aligned_alloc(size_t unit, size_t n)
{
    return out_of_memory ? NULL : __real_aligned_alloc(unit, n);
}

/* The same bits twice; without memory a right y. */
static void threads_of(const model *m, const form *f, unsigned kind, random_t *r)
{
    trs_mat A = show(m, f, r);
    A.kind = kind ? A.kind | kind : 0;
    const reference ref = {m, f->dtype, f->unit, kind == TRS_SELFADJOINT};
    for (int op = TRS_N; op <= TRS_H; op++) {
        const trs_layout layout = (trs_layout)random_below(r, 2);
        vectors v = vectors_new(f->dtype, m->n, 6, layout, r);
        const size_t bytes = (size_t)count_of(&v, v.ldy) * trs_size(f->dtype);
        void *first = malloc(bytes);
        assert_non_null(first);
        for (int threads = 0; threads <= 5; threads++) {
            const trs_exec exec = {.threads = threads, .layout = layout};
            for (int again = 0; again < 3; again++) {
                clear_y(&v);
                out_of_memory = again == 2;
                const int rc =
                    trs_multiply_on(&A, (trs_op)op, v.nrhs, v.x, v.ldx, v.y, v.ldy, &exec);
                out_of_memory = false;
                assert_status(rc, TRS_OK);
                if (again == 0) memcpy(first, v.y, bytes);
                if (again == 1) assert_memory_equal(v.y, first, bytes);
                if (again > 0) check(&ref, (trs_op)op, &v);
            }
        }
        free(first);
        vectors_free(&v);
    }
    mat_free(&A);
}

static void test_threads(void **state)
{
    (void)state;
    random_t r = {5};
    for (int number = 0; number < 12; number++) {
        static const trs_format formats[] = {TRS_CSR, TRS_CSC};
        form f = form_random((trs_dtype)(number % 4), &r);
        f.format = formats[number / 4 % 2];
        f.unit = f.hidden = f.garbage = false;
        const bool full = number % 3 == 0;
        model m = large(number % 2, full, &r);
        static const unsigned kinds[] = {0, TRS_SELFADJOINT, TRS_STRICT};
        threads_of(&m, &f, kinds[number % 3], &r);
        model_free(&m);
    }
}

/* ---- numbers that are none ------------------------------------------------------------------------- */

/* A NaN, or an Inf, is found in the rows that have it, and in no other. */
static void test_not_finite(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 2, 3, 5};
    const int32_t idx[] = {0, 1, 0, 0, 2};
    const double val[] = {1, INFINITY, NAN, 2, 3}, x[] = {1, 2, 4};
    double y[3];
    trs_mat A = {.n = 3, .nnz = 5, .ptr = ptr, .idx = idx, .val = val};
    assert_status(trs_multiply(&A, TRS_N, 1, x, 3, y, 3, TRS_COL_MAJOR), TRS_OK);
    assert_true(isinf(y[0]) && isnan(y[1]) && y[2] == 14);
    assert_status(trs_multiply(&A, TRS_T, 1, x, 3, y, 3, TRS_COL_MAJOR), TRS_OK);
    assert_true(isnan(y[0]) && isinf(y[1]) && y[2] == 12);
    /* the diagonal of row 1 is not stored, so its x counts in no row but those of its entries */
    A.kind = TRS_LOWER | TRS_SELFADJOINT;
    const double bad_x[] = {1, NAN, 4}, bad_val[] = {1, NAN, 1, 2, 3};
    A.val = bad_val;
    assert_status(trs_multiply(&A, TRS_N, 1, bad_x, 3, y, 3, TRS_COL_MAJOR), TRS_OK);
    assert_true(isnan(y[0]) && y[1] == 1 && y[2] == 14);
    /* neither garbage in the other triangle nor a stored unit diagonal is looked at */
    const double hidden[] = {NAN, NAN, 5, 2, NAN};
    A.val = hidden, A.kind = TRS_LOWER | TRS_UNIT;
    assert_status(trs_multiply(&A, TRS_N, 1, x, 3, y, 3, TRS_COL_MAJOR), TRS_OK);
    assert_true(y[0] == 1 && y[1] == 7 && y[2] == 6);
}

/* ---- patterns that are wrong ----------------------------------------------------------------------- */

enum { N = 12, NNZ = 24 }; /* two entries, or blocks, a line */

typedef struct pattern_arrays {
    int64_t ptr[N + 1], idx[NNZ];
} pattern_arrays;

/* Copies of exactly the size, so that a sanitizer sees an access outside. */
static void *narrow(const int64_t *from, int count, int bits)
{
    void *to = malloc((size_t)count * (size_t)bits / 8);
    assert_non_null(to);
    for (int k = 0; k < count; k++) {
        if (bits == 64) ((int64_t *)to)[k] = from[k];
        else ((int32_t *)to)[k] = (int32_t)from[k];
    }
    return to;
}

static void refuse(const pattern_arrays *p, trs_format format, int bits, int base)
{
    static const double val[NNZ * 4], x[N * 2 * 5];
    static const unsigned kinds[] = {0, TRS_LOWER | TRS_SELFADJOINT, TRS_UPPER | TRS_UNIT};
    const int block = format == TRS_BSR ? 2 : 1;
    double y[N * 2 * 5];
    trs_mat A = {.n = N * block, .nnz = NNZ, .val = val, .format = format, .block = block};
    void *ptr = narrow(p->ptr, N + 1, bits), *idx = narrow(p->idx, NNZ, bits);
    A.ptr = ptr, A.idx = idx, A.ptr_bits = A.idx_bits = bits, A.base = base;
    for (int k = 0; k < 3; k++)
        for (int op = TRS_N; op <= TRS_T; op++)
            for (int nrhs = 1; nrhs <= 5; nrhs += 4)
                for (int layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++) {
                    A.kind = kinds[k];
                    assert_int_equal(trs_multiply(&A, (trs_op)op, nrhs, x, layout ? nrhs : A.n, y,
                                                  layout ? nrhs : A.n, (trs_layout)layout),
                                     TRS_EMATRIX);
                    assert_true(strlen(trs_message()) > 10);
                }
    free(ptr), free(idx);
}

static void test_bad_patterns(void **state)
{
    (void)state;
    static const trs_format formats[] = {TRS_CSR, TRS_CSC, TRS_BSR};
    static const int64_t far[] = {-1, N, INT32_MAX, INT32_MIN, N + 100000, -100000};
    static const int64_t far_ptr[] = {-1, NNZ + 1, INT32_MAX, INT32_MIN, 1000000};
    for (int k = 0; k < 12; k++) {
        const trs_format format = formats[k % 3];
        const int bits = k / 3 % 2 ? 64 : 32, base = k / 6;
        pattern_arrays good, p;
        for (int i = 0; i <= N; i++) good.ptr[i] = 2 * i + base;
        for (int e = 0; e < NNZ; e++) good.idx[e] = (e / 2 + e % 2 * 5) % N + base;
        for (int e = 0; e < NNZ; e += 3)
            for (size_t b = 0; b < sizeof far / sizeof far[0]; b++) {
                p = good;
                p.idx[e] = far[b] + (far[b] > INT32_MIN && far[b] < INT32_MAX ? base : 0);
                refuse(&p, format, bits, base);
            }
        for (int i = 0; i <= N; i += 4)
            for (size_t b = 0; b < sizeof far_ptr / sizeof far_ptr[0]; b++) {
                p = good, p.ptr[i] = far_ptr[b] + (far_ptr[b] < INT32_MAX ? base : 0);
                refuse(&p, format, bits, base);
            }
        p = good, p.ptr[3] += 3; /* out of order, but in range */
        refuse(&p, format, bits, base);
        p = good, p.ptr[N]--; /* an entry is in no line */
        refuse(&p, format, bits, base);
        p = good, p.ptr[0]++;
        refuse(&p, format, bits, base);
        if (bits == 64) {
            p = good, p.idx[5] = INT64_MIN, refuse(&p, format, bits, base);
            p = good, p.idx[5] += INT64_C(1) << 32, refuse(&p, format, bits, base);
            p = good, p.ptr[5] = INT64_MIN, refuse(&p, format, bits, base);
        }
    }
}

/* The same by several threads, whose shares are found by the pointers. */
static void test_bad_pointers_and_threads(void **state)
{
    (void)state;
    enum { LINES = 2000, EACH = 300 };
    int64_t *ptr = zeroed(LINES + 1, sizeof *ptr);
    int32_t *idx = zeroed(LINES * EACH, sizeof *idx);
    double *val = zeroed(LINES * EACH, sizeof *val), *x = zeroed(2 * LINES, sizeof *x);
    const trs_mat A = {.n = LINES, .nnz = LINES * EACH, .ptr = ptr, .idx = idx, .val = val};
    const trs_exec exec = {.threads = 4};
    for (int i = 0; i <= LINES; i++) ptr[i] = (int64_t)i * EACH;
    for (int i = 0; i < LINES * EACH; i++) idx[i] = i % EACH;
    static const int lines[] = {500, 501, 999, 1000, 1500};
    static const int64_t wrong[] = {0, LINES * EACH, LINES * EACH + 1, INT64_MAX, -1};
    for (int op = TRS_N; op <= TRS_T; op++)
        for (int l = 0; l < 5; l++)
            for (int w = 0; w < 5; w++) {
                ptr[lines[l]] = wrong[w];
                assert_int_equal(
                    trs_multiply_on(&A, (trs_op)op, 1, x, LINES, x + LINES, LINES, &exec),
                    TRS_EMATRIX);
                ptr[lines[l]] = (int64_t)lines[l] * EACH;
                assert_status(trs_multiply_on(&A, (trs_op)op, 1, x, LINES, x + LINES, LINES, &exec),
                              TRS_OK);
            }
    free(ptr), free(idx), free(val), free(x);
}

static void test_wrong_use(void **state)
{
    (void)state;
    const double val[] = {1, 3, 2, 4};
    double x[2] = {1, 10}, y[2], z[3] = {1, 1, 1};
    trs_mat a = {.n = 2, .ld = 2, .val = val, .format = TRS_DENSE}, bad = a;
    trs_exec exec = {.threads = 1025};
    assert_status(trs_multiply(&a, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_OK);
    assert_true(y[0] == 21 && y[1] == 43);
    assert_int_equal(trs_multiply(NULL, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, (trs_op)3, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, -1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, NULL, 2, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, x, 2, NULL, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, x, 1, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, x, 2, y, 1, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, x, 2, y, 2, (trs_layout)7), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, z, 2, z + 1, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 1, z, 2, z, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 2, x, INT64_MAX, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&a, TRS_N, 2, x, 2, y, INT64_MAX / 16, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply_on(&a, TRS_N, 1, x, 2, y, 2, &exec), TRS_EARG);
    exec.threads = -1;
    assert_int_equal(trs_multiply_on(&a, TRS_N, 1, x, 2, y, 2, &exec), TRS_EARG);
    bad.device = TRS_CUDA(1000000);
    assert_int_equal(trs_multiply(&bad, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EDEVICE);
    bad = a, bad.ld = 1;
    assert_int_equal(trs_multiply(&bad, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EARG);
    bad = a, bad.format = TRS_CSR;
    assert_int_equal(trs_multiply(&bad, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EARG);
    bad = a, bad.kind = TRS_LOWER | TRS_STRICT;
    assert_int_equal(trs_multiply(&bad, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR), TRS_EMATRIX);
    a.n = 0;
    assert_int_equal(trs_multiply(&a, TRS_N, INT_MAX, NULL, 0, NULL, 0, TRS_COL_MAJOR), TRS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_bad_patterns),
        cmocka_unit_test(test_bad_pointers_and_threads),
        cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
