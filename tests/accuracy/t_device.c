/* t_device.c: products, backward errors, refinement and condition with arrays on a device are those of the same arrays on
 * the host, for every format, type, op and layout; and the same call gives the same bits. */
#include "tests/common/model.h"

#include <float.h>
#include <math.h>

typedef struct scene { /* a matrix, and X and Y, on the host and on the device */
    random_t r;
    form f;
    model m;
    trs_mat a, d;
    trs_op op;
    trs_layout layout;
    int nrhs;
    int64_t ld;
    size_t count, bytes; /* of X, and of Y */
    char *x, *y, *z;     /* z: what came from the device */
    void *dev_x, *dev_y;
} scene;

static void *on_device(const void *from, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &p), TRS_OK);
    if (from) assert_int_equal(trs_device_put(TRS_CUDA(0), p, from, bytes), TRS_OK);
    return p;
}

static int64_t at(const scene *s, int64_t i, int r)
{
    return s->layout == TRS_ROW_MAJOR ? i * s->ld + r : i + r * s->ld;
}

static void random_x(scene *s)
{
    for (size_t k = 0; k < s->count; k++)
        set_number(s->x, s->f.dtype, (int64_t)k, random_uniform(&s->r) + random_uniform(&s->r) * I);
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_x, s->x, s->bytes), TRS_OK);
}

static scene scene_new(uint64_t seed, pattern p, bool general, int nrhs)
{
    scene s = {.r = {seed}, .nrhs = nrhs};
    const int number = (int)seed;
    s.f = form_random((trs_dtype)(number % 4), &s.r);
    if (general) s.f.unit = s.f.hidden = s.f.garbage = false;
    s.m = model_new(p, number / 4 % 2, true, trs_is_complex(s.f.dtype), &s.r);
    s.a = show(&s.m, &s.f, &s.r);
    if (general) s.a.kind = 0;
    s.d = mat_to_device(&s.a);
    s.op = (trs_op)random_below(&s.r, 3);
    s.layout = (trs_layout)random_below(&s.r, 2);
    s.ld = (s.layout ? nrhs : s.m.n) + random_below(&s.r, 3);
    s.count = (size_t)(s.ld * (s.layout ? s.m.n : nrhs)) + 1;
    s.bytes = s.count * trs_size(s.f.dtype);
    s.x = calloc(s.count, sizeof(zz)), s.y = calloc(s.count, sizeof(zz));
    s.z = calloc(s.count, sizeof(zz));
    assert_true(s.x && s.y && s.z);
    s.dev_x = on_device(NULL, s.bytes);
    s.dev_y = on_device(s.y, s.bytes);
    random_x(&s);
    return s;
}

static void scene_free(scene *s)
{
    trs_device_free(TRS_CUDA(0), s->dev_x);
    trs_device_free(TRS_CUDA(0), s->dev_y);
    mat_free_device(&s->d);
    mat_free(&s->a);
    model_free(&s->m);
    free(s->x), free(s->y), free(s->z);
}

static void fetch_y(scene *s)
{
    assert_int_equal(trs_device_get(TRS_CUDA(0), s->z, s->dev_y, s->bytes), TRS_OK);
}

/* Both Y have plain sums of up to n + 1 terms, of which none is larger than `most` + 1 times 2. */
static void check_products(scene *s)
{
    const double eps = epsilon(s->f.dtype), terms = s->m.n + 1;
    double most = 0;
    for (int64_t k = 0; k < s->m.nnz; k++) most = larger(most, cabs(s->m.val[k]));
    for (int r = 0; r < s->nrhs; r++)
        for (int64_t i = 0; i < s->m.n; i++) {
            const zz y = get_number(s->y, s->f.dtype, at(s, i, r));
            const zz z = get_number(s->z, s->f.dtype, at(s, i, r));
            assert_at_most(cabs(y - z), 4 * terms * terms * eps * (most + 1));
        }
}

static void multiply(scene *s)
{
    const trs_exec exec = {.layout = s->layout};
    const size_t used = s->bytes - trs_size(s->f.dtype);
    assert_status(trs_multiply(&s->a, s->op, s->nrhs, s->x, s->ld, s->y, s->ld, s->layout), TRS_OK);
    assert_status(trs_multiply_on(&s->d, s->op, s->nrhs, s->dev_x, s->ld, s->dev_y, s->ld, &exec),
                  TRS_OK);
    fetch_y(s);
    check_products(s);
    memcpy(s->y, s->z, s->bytes);
    assert_status(trs_multiply(&s->d, s->op, s->nrhs, s->dev_x, s->ld, s->dev_y, s->ld, s->layout),
                  TRS_OK);
    fetch_y(s);
    assert_memory_equal(s->y, s->z, used);
}

static void assert_near(double a, double b)
{
    if (isnan(a) && isnan(b)) return;
    assert_at_most(fabs(a - b), 1e-9 * fabs(b) + 1e-300);
}

/* The errors of X as a solution of op(A) X = Y, on both sides. */
static trs_error compare(scene *s)
{
    trs_error e, d;
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_y, s->y, s->bytes), TRS_OK);
    assert_status(
        trs_backward_error(&s->a, s->op, s->nrhs, s->y, s->ld, s->x, s->ld, s->layout, &e), TRS_OK);
    assert_status(
        trs_backward_error(&s->d, s->op, s->nrhs, s->dev_y, s->ld, s->dev_x, s->ld, s->layout, &d),
        TRS_OK);
    assert_near(d.omega, e.omega);
    assert_near(d.residual, e.residual);
    assert_near(d.normwise, e.normwise);
    if (s->m.n) assert_true(d.row == e.row && d.col == e.col);
    return d;
}

/* Y is op(A) X with relative errors that are no rounding errors; then one component is far off, and then it is NaN. */
static void errors(scene *s)
{
    const trs_dtype t = s->f.dtype;
    for (size_t k = 0; k < s->count; k++)
        set_number(s->y, t, (int64_t)k,
                   get_number(s->y, t, (int64_t)k) * (1 + 0x1p-8 * random_uniform(&s->r)));
    compare(s);
    if (!s->m.n) return;
    const int i = random_below(&s->r, s->m.n), c = random_below(&s->r, s->nrhs);
    set_number(s->y, t, at(s, i, c), get_number(s->y, t, at(s, i, c)) + 4096);
    const trs_error e = compare(s);
    assert_true(e.row == i && e.col == c);
    set_number(s->y, t, at(s, i, c), NAN);
    assert_true(isnan(compare(s).omega));
}

static void each(pattern p, uint64_t seed, int nrhs)
{
    for (int general = 0; general < 2; general++) {
        scene s = scene_new(seed, p, general, nrhs);
        multiply(&s);
        errors(&s);
        scene_free(&s);
    }
}

static bool no_gpu(void)
{
    char why[200];
    return trs_device_name(TRS_CUDA(0), why, sizeof why) != TRS_OK;
}

static void test_forms(void **state)
{
    (void)state;
    static const int columns[] = {1, 3, 33};
    if (no_gpu()) skip();
    for (int p = 0; p < PATTERNS; p++)
        for (uint64_t seed = 1; seed <= 12; seed++) each((pattern)p, seed, columns[seed % 3]);
}

/* Entries of row i: `mean` or fewer, none, or so many that a warp needs several windows for them. */
static int64_t length_of(random_t *r, int64_t i, int mean)
{
    if (i % 40000 == 77) return 1500;
    if (i % 1000 == 5) return 10 * mean;
    return random_below(r, 2 * mean);
}

/* Many rows of all lengths, with pointers of both widths, against sums in long double. */
static void check_lengths(int64_t n, int mean, bool wide)
{
    random_t r = {(uint64_t)n + (uint64_t)mean};
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    assert_non_null(ptr);
    for (int64_t i = 0; i < n; i++) ptr[i + 1] = ptr[i] + trs_min(length_of(&r, i, mean), n);
    const size_t nnz = (size_t)ptr[n];
    int32_t *idx = calloc(nnz, sizeof *idx), *narrow = calloc((size_t)n + 1, sizeof *narrow);
    double *val = calloc(nnz, sizeof *val), *x = calloc((size_t)n, sizeof *x);
    double *y = calloc((size_t)n, sizeof *y);
    assert_true(idx && narrow && val && x && y);
    for (size_t q = 0; q < nnz; q++) idx[q] = random_below(&r, (int)n), val[q] = random_uniform(&r);
    for (int64_t i = 0; i < n; i++) x[i] = random_uniform(&r), narrow[i + 1] = (int32_t)ptr[i + 1];
    const trs_mat a = {.n = n,
                       .nnz = (int64_t)nnz,
                       .ptr = wide ? (void *)ptr : (void *)narrow,
                       .ptr_bits = wide ? 64 : 32,
                       .idx = idx,
                       .val = val};
    trs_mat d = mat_to_device(&a);
    const size_t bytes = (size_t)n * sizeof *x;
    void *dx = on_device(x, bytes), *dy = on_device(NULL, bytes);
    assert_status(trs_multiply_on(&d, TRS_N, 1, dx, n, dy, n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), y, dy, bytes), TRS_OK);
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0, size = 0;
        for (int64_t q = ptr[i]; q < ptr[i + 1]; q++) {
            const long double p = (long double)val[q] * x[idx[q]];
            sum += p, size += fabsl(p);
        }
        assert_at_most((double)fabsl(y[i] - sum),
                       (double)(ptr[i + 1] - ptr[i] + 1) * DBL_EPSILON * (double)size);
    }
    mat_free_device(&d);
    trs_device_free(TRS_CUDA(0), dx);
    trs_device_free(TRS_CUDA(0), dy);
    free(ptr), free(narrow), free(idx), free(val), free(x), free(y);
}

static void test_lengths(void **state)
{
    (void)state;
    if (no_gpu()) skip();
    for (int wide = 0; wide < 2; wide++) {
        check_lengths(140001, 5, wide);
        check_lengths(140001, 23, wide);
        check_lengths(20003, 40, wide);
        check_lengths(1601, 100, wide);
        check_lengths(33, 20, wide);
    }
}

typedef struct blocks { /* a BSR with rows of blocks of all lengths */
    int b, base;
    trs_dtype type;
    bool by_rows, wide;
    int64_t lines, count, *ptr;
    int32_t *idx, *narrow;
    void *val;
} blocks;

static void blocks_fill(blocks *m, random_t *r)
{
    m->ptr = calloc((size_t)m->lines + 1, sizeof *m->ptr);
    m->narrow = calloc((size_t)m->lines + 1, sizeof *m->narrow);
    assert_true(m->ptr && m->narrow);
    for (int64_t i = 0; i < m->lines; i++)
        m->ptr[i + 1] = m->ptr[i] + trs_min(length_of(r, i, 4), m->lines);
    m->count = m->ptr[m->lines];
    const int64_t numbers = m->count * m->b * m->b;
    m->idx = calloc((size_t)m->count + 1, sizeof *m->idx);
    m->val = calloc((size_t)numbers + 1, sizeof(zz));
    assert_true(m->idx && m->val);
    for (int64_t q = 0; q < m->count; q++) m->idx[q] = random_below(r, (int)m->lines) + m->base;
    for (int64_t q = 0; q < numbers; q++)
        set_number(m->val, m->type, q, random_uniform(r) + random_uniform(r) * I);
    for (int64_t i = 0; i <= m->lines; i++) m->ptr[i] += m->base, m->narrow[i] = (int32_t)m->ptr[i];
}

static trs_mat blocks_shown(const blocks *m)
{
    return (trs_mat){.n = m->lines * m->b,
                     .nnz = m->count,
                     .dtype = m->type,
                     .ptr = m->wide ? (void *)m->ptr : (void *)m->narrow,
                     .ptr_bits = m->wide ? 64 : 32,
                     .idx = m->idx,
                     .val = m->val,
                     .base = m->base,
                     .format = TRS_BSR,
                     .block = m->b,
                     .block_layout = m->by_rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR};
}

/* y (k) is the sum over row k, x being the column of X. */
static void check_block_row(const blocks *m, int64_t k, const void *x, int64_t from, zz y)
{
    const int64_t b = m->b, i = k / b, row = k % b;
    zz sum = 0;
    double most = 0;
    for (int64_t q = m->ptr[i] - m->base; q < m->ptr[i + 1] - m->base; q++)
        for (int64_t c = 0; c < b; c++) {
            const int64_t e = q * b * b + (m->by_rows ? row * b + c : c * b + row);
            const zz p = get_number(m->val, m->type, e) *
                         get_number(x, m->type, from + (m->idx[q] - m->base) * b + c);
            sum += p, most += cabs(p);
        }
    const double terms = (double)((m->ptr[i + 1] - m->ptr[i]) * b + 2);
    assert_at_most(cabs(y - sum), 2 * terms * epsilon(m->type) * most);
}

static void check_blocks(blocks m)
{
    enum { NRHS = 2 };
    random_t r = {(uint64_t)(m.b + m.lines)};
    blocks_fill(&m, &r);
    const trs_mat a = blocks_shown(&m);
    zz *x = calloc((size_t)(NRHS * a.n), sizeof *x), *y = calloc((size_t)(NRHS * a.n), sizeof *y);
    assert_true(x && y);
    for (int64_t k = 0; k < NRHS * a.n; k++)
        set_number((void *)x, m.type, k, random_uniform(&r) - random_uniform(&r) * I);
    trs_mat d = mat_to_device(&a);
    const size_t bytes = (size_t)(NRHS * a.n) * trs_size(m.type);
    void *dx = on_device(x, bytes), *dy = on_device(NULL, bytes);
    assert_status(trs_multiply_on(&d, TRS_N, NRHS, dx, a.n, dy, a.n, NULL), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), y, dy, bytes), TRS_OK);
    for (int64_t k = 0; k < NRHS * a.n; k++)
        check_block_row(&m, k % a.n, x, k / a.n * a.n, get_number((void *)y, m.type, k));
    mat_free_device(&d);
    trs_device_free(TRS_CUDA(0), dx);
    trs_device_free(TRS_CUDA(0), dy);
    free(m.ptr), free(m.narrow), free(m.idx), free(m.val), free(x), free(y);
}

static void test_blocks(void **state)
{
    static const int64_t lines[] = {1, 70, 20003};
    (void)state;
    if (no_gpu()) skip();
    for (int b = 2; b <= 9; b++)
        for (int k = 0; k < 12; k++)
            check_blocks((blocks){.b = b,
                                  .base = (k + k / 4 + b) % 2,
                                  .type = (trs_dtype)(k % 4),
                                  .by_rows = (k + b) % 2,
                                  .wide = (k + b) / 2 % 2,
                                  .lines = lines[k / 4]});
}

/* Terms that cancel to all digits of the working precision and more. */
static void test_cancellation(void **state)
{
    (void)state;
    enum { N = 300 };
    static double val[N], x[N];
    static int64_t ptr[N + 1];
    static int32_t idx[N];
    double y[N];
    if (no_gpu()) skip();
    for (int j = 0; j < N; j++) {
        idx[j] = j;
        val[j] = j % 3 == 0 ? 0x1p50 + j : 1 + j * 0x1p-30;
        x[j] = j % 3 == 0 ? 0x1p30 - j : 0x1p-20 + j;
        if (j % 3 == 1) val[j] = -(0x1p50 + (j - 1)), x[j] = 0x1p30 - (j - 1);
    }
    for (int i = 1; i <= N; i++) ptr[i] = N; /* all in the first row */
    const trs_mat a = {.n = N, .nnz = N, .ptr = ptr, .idx = idx, .val = val};
    trs_mat d = mat_to_device(&a);
    void *dx = on_device(x, sizeof x), *dy = on_device(NULL, sizeof y);
    long double sum = 0;
    for (int j = 2; j < N; j += 3) sum += (long double)val[j] * x[j];
    trs_error e;
    for (int i = 0; i < N; i++) y[i] = i == 0 ? (double)sum : 0;
    assert_int_equal(trs_device_put(TRS_CUDA(0), dy, y, sizeof y), TRS_OK);
    assert_status(trs_backward_error(&d, TRS_N, 1, dy, N, dx, N, TRS_COL_MAJOR, &e), TRS_OK);
    /* products of 2^80 with errors of 2^-106 of them, and a sum of 2^14 */
    assert_at_most(e.residual, 0x1p-32 * fabs((double)sum));
    x[0] = INFINITY;
    assert_int_equal(trs_device_put(TRS_CUDA(0), dx, x, sizeof x), TRS_OK);
    assert_status(trs_multiply(&d, TRS_N, 1, dx, N, dy, N, TRS_COL_MAJOR), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), y, dy, sizeof y), TRS_OK);
    assert_true(isinf(y[0]) && y[0] > 0);
    mat_free_device(&d);
    trs_device_free(TRS_CUDA(0), dx);
    trs_device_free(TRS_CUDA(0), dy);
}

/* ---- refinement and condition --------------------------------------------------------------------- */

static trs_plan *plan_of(const trs_mat *a, int device)
{
    trs_plan *plan;
    const trs_options opt = {.ops = 7, .device = device};
    int rc = trs_plan_create(&plan, a, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    assert_status(rc, TRS_OK);
    return plan;
}

/* The same matrix in single precision; its values are floats. */
static trs_mat rounded(const trs_mat *a)
{
    trs_mat s = *a;
    const int64_t count = trs_value_count(a);
    s.dtype = trs_is_complex(a->dtype) ? TRS_C32 : TRS_F32;
    void *val = calloc((size_t)count + 1, trs_size(s.dtype));
    assert_non_null(val);
    for (int64_t k = 0; k < count; k++)
        set_number(val, s.dtype, k, get_number(a->val, a->dtype, k));
    s.val = val;
    return s;
}

/* X = 0 is refined by a plan of T, or of T in single precision, until omega is small. */
static void refine(scene *s, bool single)
{
    trs_mat low = rounded(&s->a);
    trs_plan *plan = plan_of(single ? &low : &s->a, TRS_CUDA(0));
    const trs_exec exec = {.layout = s->layout};
    trs_error e;
    int steps = -1;
    memset(s->z, 0, s->bytes);
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->dev_y, s->z, s->bytes), TRS_OK);
    assert_status(trs_refine(plan, &s->d, s->op, s->nrhs, s->dev_x, s->ld, s->dev_y, s->ld, &exec,
                             20, &steps, &e),
                  TRS_OK);
    fetch_y(s);
    for (int c = 0; c < s->nrhs && s->m.n; c++) {
        const size_t size = trs_size(s->f.dtype);
        const int64_t step = s->layout == TRS_ROW_MAJOR ? s->ld : 1;
        const quality q =
            quality_of(&s->m, s->f.unit, s->op, s->f.dtype, s->x + (size_t)at(s, 0, c) * size, step,
                       s->z + (size_t)at(s, 0, c) * size, step);
        const bool zeros_count = s->f.format == TRS_DENSE || s->f.format == TRS_BSR;
        const int longest = zeros_count ? s->m.n : q.longest;
        assert_at_most(q.omega, 1.01 * (longest + 1) * epsilon(s->f.dtype));
    }
    if (s->m.n) assert_int_equal(e.stop, TRS_STOP_CONVERGED);
    trs_plan_destroy(plan);
    free((void *)low.val);
}

static void condition(const scene *s)
{
    trs_plan *there = plan_of(&s->a, TRS_CUDA(0)), *here = plan_of(&s->a, TRS_HOST);
    for (trs_norm which = TRS_NORM_ONE; which <= TRS_NORM_INF; which++) {
        double one, two;
        assert_status(trs_condest(here, &s->a, which, &one), TRS_OK);
        assert_status(trs_condest(there, &s->d, which, &two), TRS_OK);
        const double loose = 1e4 * epsilon(s->f.dtype) / fmax(one, epsilon(s->f.dtype));
        assert_at_most(fabs(one - two), fmax(loose, 1e-9) * one);
    }
    trs_plan_destroy(there);
    trs_plan_destroy(here);
}

static void test_refined(void **state)
{
    (void)state;
    if (no_gpu()) skip();
    for (int p = 0; p < PATTERNS; p++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            scene s = scene_new(seed, (pattern)p, false, seed % 2 ? 1 : 3);
            refine(&s, false);
            if (!trs_is_single(s.f.dtype)) refine(&s, true);
            condition(&s);
            scene_free(&s);
        }
}

static void test_wrong_use(void **state)
{
    (void)state;
    if (no_gpu()) skip();
    const int64_t ptr[] = {0, 1, 2}, falling[] = {0, 2, 1};
    const int32_t idx[] = {0, 1}, outside[] = {0, 2};
    const double val[] = {1, 2}, b[] = {1, 2};
    const trs_mat a = {.n = 2, .nnz = 2, .ptr = ptr, .idx = idx, .val = val};
    trs_mat t = a, bad = a;
    t.kind = TRS_LOWER;
    trs_mat d = mat_to_device(&t);
    void *x = on_device(b, sizeof b), *y = on_device(b, sizeof b);
    trs_plan *here = plan_of(&t, TRS_HOST);
    trs_error e;
    assert_int_equal(trs_refine(here, &d, TRS_N, 1, x, 2, y, 2, NULL, 3, NULL, NULL), TRS_ESUPPORT);
    assert_int_equal(trs_multiply(&d, TRS_N, 1, x, 1, y, 2, TRS_COL_MAJOR), TRS_EARG);
    assert_int_equal(trs_multiply(&d, TRS_N, 1, x, 2, x, 2, TRS_COL_MAJOR), TRS_EARG);
    mat_free_device(&d);
    bad.ptr = falling;
    d = mat_to_device(&bad);
    assert_int_equal(trs_backward_error(&d, TRS_N, 1, x, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EMATRIX);
    mat_free_device(&d);
    bad = a, bad.idx = outside;
    d = mat_to_device(&bad);
    assert_int_equal(trs_backward_error(&d, TRS_T, 1, x, 2, y, 2, TRS_COL_MAJOR, &e), TRS_EMATRIX);
    mat_free_device(&d);
    trs_plan_destroy(here);
    trs_device_free(TRS_CUDA(0), x);
    trs_device_free(TRS_CUDA(0), y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),   cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_cancellation),
        cmocka_unit_test(test_refined), cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
