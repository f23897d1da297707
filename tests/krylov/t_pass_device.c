/* t_pass_device.c: a pass over vectors on a device does what it does on the host, for every type, few vectors and many, and vectors
 * that end anywhere in a range. */
#include "tests/factor/there.h"

#include "base/number/number.h"
#include "krylov/on_device.h"

enum { MOST = 9, H = COMMON, DOTS = H + MOST, SQUARES = DOTS + MOST, PLACES = SQUARES + MOST };

typedef struct side {
    trs_space space;
    char *vectors; /* MOST of them, then w and v */
} side;

static const size_t scalar_bytes = sizeof(trs_scalars) + PLACES * sizeof(trs_z);

static char *vector(const side *s, int i)
{
    return s->vectors + i * s->space.ld * (int64_t)size_of(s->space.dtype);
}

static side here(trs_dtype t, int64_t n)
{
    side s = {.space = {.dtype = t, .n = n, .ld = n + 3, .threads = 1}};
    const int64_t count = (MOST + 2) * s.space.ld;
    s.vectors = calloc((size_t)count, size_of(t));
    s.space.scalars = calloc(1, scalar_bytes);
    s.space.sums = calloc((size_t)trs_ranges(n) * 2 * MOST + 1, sizeof(trs_z));
    assert_true(s.vectors && s.space.scalars && s.space.sums);
    for (int64_t i = 0; i < count; i++) set_value(s.vectors, t, i, number(trs_is_complex(t)));
    s.space.scalars->s[ONE].re = 1;
    for (int k = 0; k < MOST; k++)
        s.space.scalars->s[H + k] = (trs_z){uniform(), trs_is_complex(t) ? uniform() : 0};
    return s;
}

static side on_device(const side *from)
{
    side s = *from;
    const unsigned none = 0;
    const size_t ranges = (size_t)trs_gpu_ranges(s.space.n) + (s.space.n == 0); /* one at least */
    const size_t sums = ranges * 2 * MOST * sizeof(trs_z);
    char *noise = calloc(sums + 1, 1);
    assert_non_null(noise);
    memset(noise, -1, sums);
    s.vectors = array_there(from->vectors,
                            (size_t)(MOST + 2) * (size_t)s.space.ld * size_of(s.space.dtype));
    s.space.scalars = array_there(from->space.scalars, scalar_bytes);
    s.space.sums = array_there(noise, sums);
    s.space.ended = array_there(&none, sizeof none);
    free(noise);
    return s;
}

/* w = w - V h, and V' w and V' v; or V' w and w' v. */
static trs_pass pass_of(const side *s, int count, bool once)
{
    char *V = vector(s, 0), *w = vector(s, MOST), *v = vector(s, MOST + 1);
    trs_pass p = {.update = {{w, ONE, V, H, true, count}}, .dot = {{V, w, DOTS, count}}};
    p.dot[1] = once ? (trs_dot){V, v, SQUARES, count} : (trs_dot){w, v, SQUARES, 1};
    return p;
}

/* w has the rounding of count products, on both sides, and numbers of V are at most sqrt (2). */
static void compare(const side *a, const side *b, const void *w, int count, bool once)
{
    const trs_dtype t = a->space.dtype;
    const int64_t n = a->space.n;
    const double most = 40 * eps_of(t) * (double)count;
    for (int64_t i = 0; i < n; i++) {
        const zz x = get_value(vector(a, MOST), t, i), y = get_value(w, t, i);
        assert_true(cabs(x - y) <= most * (1 + cabs(x)));
    }
    for (int k = 0; k < count; k++)
        for (int d = 0; d < 2 && (once || !d || !k); d++) {
            const trs_z x = a->space.scalars->s[(d ? SQUARES : DOTS) + k];
            const trs_z y = b->space.scalars->s[(d ? SQUARES : DOTS) + k];
            assert_true(hypot(x.re - y.re, x.im - y.im) <= most * (double)(n + 1));
            assert_true(trs_is_complex(t) || y.im == 0);
        }
}

static void one_pass(trs_dtype t, int64_t n, int count, bool once)
{
    side a = here(t, n), b = on_device(&a), back = a;
    const trs_pass p = pass_of(&a, count, once), q = pass_of(&b, count, once);
    char *w = calloc((size_t)n + 1, size_of(t));
    back.space.scalars = calloc(1, scalar_bytes);
    assert_true(w && back.space.scalars);
    trs_pass_here(&a.space, &p, false);
    assert_int_equal(trs_gpu_pass(&b.space, &q, false), TRS_OK);
    if (n)
        assert_int_equal(trs_device_get(TRS_CUDA(0), w, vector(&b, MOST), (size_t)n * size_of(t)),
                         TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), back.space.scalars, b.space.scalars, scalar_bytes),
                     TRS_OK);
    compare(&a, &back, w, count, once);
    free(w), free(back.space.scalars);
    free_there(b.vectors), free_there(b.space.scalars), free_there(b.space.sums);
    free_there(b.space.ended);
    free(a.vectors), free(a.space.scalars), free(a.space.sums);
}

static void test_sizes(void **state)
{
    const int64_t sizes[] = {0, 1, 511, 513, 100003};
    (void)state;
    for (int t = TRS_F64; t <= TRS_C32; t++)
        for (int k = 0; k < 5; k++)
            for (int count = 1; count <= MOST; count += 1 + k / 2)
                for (int once = 0; once < 2; once++) one_pass((trs_dtype)t, sizes[k], count, once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return run_on_device(tests);
}
