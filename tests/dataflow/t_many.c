/* t_many.c: several right-hand sides by data flow: every number of columns that there is a kernel for and those
 * beside it, by columns and by rows, the x of the reference, the same bits each time, and a NaN reaches what
 * depends on it only. */
#include "tests/common/dags.h"
#include "tests/common/device.h"

#include "base/device.h"
#include "reference.h"

#include <math.h>

enum { N = 1003, PAD = 3, AT = N / 3, RUNS = 4 };

typedef struct scene {
    model m;
    trs_mat a;
    trs_dtype dtype;
    trs_op op;
    int nrhs;
    trs_layout layout;
    int64_t ld, step, next; /* of X and B: row after row, column after column */
    size_t bytes;
    char *b, *x, *again;
    void *far_b, *far_x;
} scene;

static void *device_new(size_t bytes)
{
    void *p;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &p), TRS_OK);
    return p;
}

/* The last column of B has a NaN in row AT, and the one before an infinity. */
static void new_b(scene *s, random_t *r)
{
    s->b = calloc(3, s->bytes);
    assert_non_null(s->b);
    s->x = s->b + s->bytes, s->again = s->x + s->bytes;
    for (int64_t k = 0; k < (int64_t)(s->bytes / trs_size(s->dtype)); k++)
        set_number(s->b, s->dtype, k, random_uniform(r) + random_uniform(r) * I);
    set_number(s->b, s->dtype, AT * s->step + (s->nrhs - 1) * s->next, (double)NAN);
    set_number(s->b, s->dtype, AT * s->step + (s->nrhs - 2) * s->next, (double)INFINITY);
    s->far_b = device_new(s->bytes), s->far_x = device_new(s->bytes);
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->far_b, s->b, s->bytes), TRS_OK);
}

static scene scene_new(const dag *d, trs_dtype dtype, int nrhs, bool by_rows)
{
    random_t r = {(uint64_t)nrhs};
    form f = {.dtype = dtype, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    scene s = {.dtype = dtype, .nrhs = nrhs, .op = trs_is_complex(dtype) ? TRS_H : TRS_N};
    s.m = model_of(d, N, trs_is_complex(dtype), &r);
    s.a = show(&s.m, &f, &r);
    s.layout = by_rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR;
    s.ld = (by_rows ? nrhs : N) + PAD;
    s.step = by_rows ? s.ld : 1;
    s.next = by_rows ? 1 : s.ld;
    s.bytes = (size_t)(s.ld * (by_rows ? N : nrhs)) * trs_size(dtype);
    new_b(&s, &r);
    return s;
}

static void scene_free(scene *s)
{
    trs_device_free(TRS_CUDA(0), s->far_b);
    trs_device_free(TRS_CUDA(0), s->far_x);
    free(s->b);
    mat_free(&s->a);
    model_free(&s->m);
}

static void solve(const scene *s, const trs_plan *p, char *x)
{
    const trs_exec exec = {.layout = s->layout};
    memset(x, 0xff, s->bytes);
    assert_int_equal(trs_device_put(TRS_CUDA(0), s->far_x, x, s->bytes), TRS_OK);
    assert_status(trs_solve(p, s->op, s->nrhs, s->far_b, s->ld, s->far_x, s->ld, &exec), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, s->far_x, s->bytes), TRS_OK);
}

static bool is_finite(zz v)
{
    return isfinite(creal(v)) && isfinite(cimag(v));
}

/* Finite where row AT does not reach. */
static void check_special(const scene *s, const bool *reached, int r)
{
    for (int i = 0; i < N; i++) {
        const zz x = get_number(s->x, s->dtype, i * s->step + r * s->next);
        assert_true(is_finite(x) == !reached[i]);
    }
}

/* ---- the same by the reference -------------------------------------------------------------------------- */

/* The lower triangle that is solved with: T, or for H its transpose, the last row first. */
static trs_tri triangle(trs_context *ctx, const scene *s)
{
    trs_tri t, transposed;
    assert_int_equal(trs_tri_import(ctx, &s->a, &t), TRS_OK);
    if (s->op == TRS_N) return t;
    assert_int_equal(trs_tri_transpose(ctx, &t, true, &transposed), TRS_OK);
    assert_int_equal(trs_tri_reverse(ctx, &transposed), TRS_OK);
    trs_tri_free(ctx, &t);
    return transposed;
}

static int longest_row(const trs_tri *t)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < t->n; i++)
        if (longest < t->ptr[i + 1] - t->ptr[i]) longest = t->ptr[i + 1] - t->ptr[i];
    return (int)longest;
}

/* X (i, r) = x [i*nrhs + r]; T^H x = b is T^T conj (x) = conj (b).  The entries of the longest row of the
 * triangle. */
static int solve_by_reference(const scene *s, zz *x)
{
    static int32_t level[N];
    trs_context ctx = {.threads = 1};
    trs_tri t = triangle(&ctx, s);
    const bool adjoint = s->op != TRS_N;
    zz *b = calloc((size_t)N * (size_t)s->nrhs, sizeof *b);
    zz *y = calloc((size_t)N * (size_t)s->nrhs, sizeof *y);
    assert_true(b && y);
    const int32_t levels = reference_levels(&t, level);
    trs_flow f = reference_flow(&t, level, levels);
    for (int i = 0; i < N; i++)
        for (int r = 0; r < s->nrhs; r++) {
            const zz v = get_number(s->b, s->dtype, i * s->step + r * s->next);
            b[(adjoint ? N - 1 - i : i) * s->nrhs + r] = adjoint ? conj(v) : v;
        }
    reference_solve(&f, &t, s->nrhs, b, y);
    for (int i = 0; i < N; i++)
        for (int r = 0; r < s->nrhs; r++) {
            const zz v = y[(adjoint ? N - 1 - i : i) * s->nrhs + r];
            x[i * s->nrhs + r] = adjoint ? conj(v) : v;
        }
    const int longest = longest_row(&t);
    reference_free(&f);
    trs_tri_free(&ctx, &t);
    free(b);
    free(y);
    return longest;
}

/* The diagonals of T are at least 1, and the other entries of a row add up to 0.71 at most: so a componentwise
 * backward error of omega makes an error of at most 10 omega max |x|, once in x and once in the reference.  For
 * T^H, where this holds by columns, the bound is not proved, but far off. */
static void check_against_reference(const scene *s)
{
    zz *x = calloc((size_t)N * (size_t)s->nrhs, sizeof *x);
    assert_non_null(x);
    const int longest = solve_by_reference(s, x);
    for (int r = 0; r < s->nrhs; r++) {
        double size = 0, error = 0;
        for (int i = 0; i < N; i++) {
            const zz v = get_number(s->x, s->dtype, i * s->step + r * s->next);
            const zz w = x[i * s->nrhs + r];
            assert_true(is_finite(v) == is_finite(w));
            if (!is_finite(w)) continue;
            size = larger(size, cabs(w));
            error = larger(error, cabs(v - w));
        }
        assert_at_most(error, 80 * (longest + 1) * epsilon(s->dtype) * size);
    }
    free(x);
}

static void check(const scene *s)
{
    const size_t size = trs_size(s->dtype);
    bool reached[N];
    reach(&s->m, s->op, AT, reached);
    for (int r = 0; r < s->nrhs - 2; r++) {
        const size_t at = (size_t)(r * s->next) * size;
        const quality q =
            quality_of(&s->m, false, s->op, s->dtype, s->b + at, s->step, s->x + at, s->step);
        assert_at_most(q.omega, 4 * (q.longest + 1) * epsilon(s->dtype));
    }
    check_against_reference(s);
    check_special(s, reached, s->nrhs - 2);
    check_special(s, reached, s->nrhs - 1);
}

static void run(const dag *d, trs_dtype dtype, int nrhs, bool by_rows)
{
    scene s = scene_new(d, dtype, nrhs, by_rows);
    const trs_options opt = {.solver = "cuda-dataflow",
                             .device = TRS_CUDA(0),
                             .ops = 1u << s.op,
                             .nrhs = nrhs,
                             .layout = s.layout};
    trs_plan *p = NULL;
    assert_status(trs_plan_create(&p, &s.a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    solve(&s, p, s.x);
    check(&s);
    for (int k = 0; k < RUNS; k++) {
        solve(&s, p, s.again);
        assert_memory_equal(s.x, s.again, s.bytes);
    }
    trs_plan_destroy(p);
    scene_free(&s);
}

static void test_columns(void **state)
{
    (void)state;
    static const int columns[] = {2, 3, 5, 8, 9, 16, 17, 32, 35};
    for (int k = 0; k < 9; k++)
        for (int d = 0; d < 4; d++) {
            const int which = (4 * k + d) % DAGS;
            run(&dags[which], (trs_dtype)d, columns[k], false);
            run(&dags[(which + 7) % DAGS], (trs_dtype)d, columns[k], true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns)};
    return run_on_device(tests);
}
