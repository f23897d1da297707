/* t_gather.c: vectors in another order, type and layout are those that their definition gives, number by number, and what
 * stands beside them is not touched (lib/vectors/gather.h). */
#include "tests/common/model.h"

#include "vectors/gather.h"

#include <math.h>

enum { GUARD = 77 }; /* in all numbers that are not to be written */

typedef struct vectors { /* columns of any layout within an array */
    void *array;
    int64_t count;
    trs_view v;
} vectors;

typedef enum layout { COLUMNS, ROWS, BACKWARDS, LAYOUTS } layout;

/* Element (i, r) is number i rs + r cs, of v.p. */
static vectors make(trs_dtype t, int64_t n, int nrhs, layout how)
{
    const int64_t ld = how == ROWS ? nrhs + 2 : n + 3;
    vectors a = {.count = ld * (how == ROWS ? n : nrhs) + 1};
    a.array = zeroed(a.count, trs_size(t));
    for (int64_t k = 0; k < a.count; k++) set_number(a.array, t, k, GUARD);
    a.v = trs_view_of(a.array, ld, how == ROWS ? TRS_ROW_MAJOR : TRS_COL_MAJOR);
    if (how != BACKWARDS || n == 0) return a;
    a.v.p = (char *)a.array + (n - 1) * (int64_t)trs_size(t);
    a.v.rs = -1;
    return a;
}

static zz element(trs_view v, trs_dtype t, int64_t i, int r)
{
    return get_number((char *)v.p + (i * v.rs + r * v.cs) * (int64_t)trs_size(t), t, 0);
}

static void set_element(trs_view v, trs_dtype t, int64_t i, int r, zz z)
{
    set_number((char *)v.p + (i * v.rs + r * v.cs) * (int64_t)trs_size(t), t, 0, z);
}

static void fill(vectors a, trs_dtype t, int64_t n, int nrhs, random_t *random)
{
    for (int r = 0; r < nrhs; r++)
        for (int64_t i = 0; i < n; i++) {
            const double re = random_uniform(random), im = random_uniform(random);
            set_element(a.v, t, i, r, CMPLX(re, im));
        }
}

/* How many numbers of the array are not GUARD. */
static int64_t written(vectors a, trs_dtype t)
{
    int64_t count = 0;
    for (int64_t k = 0; k < a.count; k++) count += get_number(a.array, t, k) != GUARD;
    return count;
}

/* u s z as the header says it: in double precision, s z first. */
static zz product(const trs_gather *g, int64_t k, int r, zz z)
{
    const double s = g->scale ? g->scale[k] : 1, u = g->unit ? g->unit[r] : 1;
    const double im = u * (s * cimag(z));
    return CMPLX(u * (s * creal(z)), g->conj ? -im : im);
}

static zz rounded(zz z, trs_dtype t)
{
    zz number = 0;
    set_number(&number, t, 0, z);
    return get_number(&number, t, 0);
}

static void check_gather(const trs_gather *g, layout from, layout to, int threads, random_t *random)
{
    vectors a = make(g->from, g->n, g->nrhs, from), b = make(g->to, g->n, g->nrhs, to);
    double most[4] = {0};
    fill(a, g->from, g->n, g->nrhs, random);
    trs_gather_rows(g, threads, a.v, b.v);
    for (int r = 0; r < g->nrhs; r++)
        for (int64_t k = 0; k < g->n; k++) {
            const zz z = element(a.v, g->from, g->perm ? g->perm[k] : k, r);
            const zz expected = rounded(product(g, k, r, z), g->to);
            assert_true(element(b.v, g->to, k, r) == expected);
            const double s = g->scale ? fabs(g->scale[k]) : 1;
            most[r] = larger(most[r], s * larger(fabs(creal(z)), fabs(cimag(z))));
        }
    assert_int_equal(written(b, g->to), g->n * g->nrhs);
    for (int r = 0; r < g->nrhs && g->perm; r++)
        assert_true(trs_gather_largest(g, a.v, r) == most[r]);
    free(a.array);
    free(b.array);
}

/* Scattered numbers come back by a gather. */
static void check_scatter(trs_gather g, layout from, layout to, random_t *random)
{
    vectors a = make(g.from, g.n, g.nrhs, from), b = make(g.from, g.n, g.nrhs, to);
    fill(a, g.from, g.n, g.nrhs, random);
    g.to = g.from;
    g.scale = g.unit = NULL;
    g.conj = false;
    trs_scatter_rows(&g, a.v, b.v);
    for (int r = 0; r < g.nrhs; r++)
        for (int64_t k = 0; k < g.n; k++)
            assert_true(element(b.v, g.to, g.perm[k], r) == element(a.v, g.from, k, r));
    assert_int_equal(written(b, g.to), g.n * g.nrhs);
    free(a.array);
    free(b.array);
}

static void check_all(int64_t n, int nrhs, int threads, random_t *random)
{
    static const double unit[] = {0x1p-40, 1, 0x1p7, 4};
    int64_t *order = random_order(n, random);
    int32_t *perm = zeroed(n, sizeof *perm);
    double *scale = zeroed(n, sizeof *scale);
    for (int64_t k = 0; k < n; k++) perm[k] = (int32_t)order[k], scale[k] = random_uniform(random);
    for (int from = TRS_F64; from <= TRS_C32; from++)
        for (int bits = 0; bits < 32; bits++) {
            const bool cplx = trs_is_complex(from);
            trs_gather g = {.n = n, .nrhs = nrhs, .from = from, .to = cplx ? TRS_C64 : TRS_F64};
            if (bits & 1) g.to = cplx ? TRS_C32 : TRS_F32;
            if (bits & 2) g.perm = perm;
            if (bits & 4) g.scale = scale;
            if (bits & 8) g.unit = unit;
            g.conj = bits & 16;
            if (!g.perm && (g.scale || g.unit || g.conj)) continue;
            const layout a = random_below(random, LAYOUTS), b = random_below(random, LAYOUTS);
            check_gather(&g, a, b, threads, random);
            if (g.perm) check_scatter(g, a, b, random);
        }
    free(order);
    free(perm);
    free(scale);
}

static void small(void **state)
{
    random_t random = {1};
    (void)state;
    for (int repeat = 0; repeat < 20; repeat++)
        for (int64_t n = 0; n <= 9; n += 3)
            for (int nrhs = 0; nrhs <= 4; nrhs++) check_all(n, nrhs, 1 + repeat % 3, &random);
}

/* So many numbers that threads share them. */
static void large(void **state)
{
    random_t random = {2};
    (void)state;
    check_all(60000, 2, 3, &random);
}

/* The largest number is found beside those that are none, and infinity is larger than all. */
static void not_a_number(void **state)
{
    const double b[] = {NAN, -3, 2, NAN}, c[] = {NAN, 1, -INFINITY, 0};
    const int32_t perm[] = {3, 1, 0, 2};
    const trs_gather g = {.n = 4, .nrhs = 1, .perm = perm};
    (void)state;
    assert_true(trs_gather_largest(&g, trs_view_of(b, 4, TRS_COL_MAJOR), 0) == 3);
    assert_true(trs_gather_largest(&g, trs_view_of(c, 4, TRS_COL_MAJOR), 0) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small), cmocka_unit_test(large),
                                       cmocka_unit_test(not_a_number)};
    return cmocka_run_group_tests_name("t_gather", tests, NULL, NULL);
}
