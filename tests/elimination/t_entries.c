/* t_entries.c: elimination by the entry kernel on the patterns that are its own: long rows, chains, complete fill, and last
 * rows that one block finishes. */
#include "problem.h"

#include "tests/common/device.h"

#include <float.h>
#include <math.h>

/* ---- patterns -------------------------------------------------------------------------------- */

typedef enum shape {
    DIAGONAL_ONLY,
    SIMPLE_CHAIN,
    ARROW_HEAD,   /* the last row and column are full */
    CIRCUIT,      /* a few entries a row, and nets that many rows have */
    CIRCUIT_FILL, /* the same, with all of its fill */
    GRID_FILL,
    SPARSE_TAIL, /* without its fill: the last rows lack entries */
    EVERYWHERE,
    SHAPES
} shape;

/* Is (i, j), j < i, an entry?  And (j, i)? */
static bool has(shape s, int i, int j, int n, random_t *r)
{
    const int width = 17;
    switch (s) {
    case SIMPLE_CHAIN:
        return i - j == 1;
    case ARROW_HEAD:
        return i == n - 1 || (i - j == 2 && i % 3 == 0);
    case CIRCUIT:
    case CIRCUIT_FILL:
        return random_below(r, n) == 0 || (j % 97 == 5 && random_below(r, 8) == 0) ||
               (i % 151 == 150 && random_below(r, 3) == 0);
    case GRID_FILL:
        return i - j == width || (i - j == 1 && i % width > 0);
    case SPARSE_TAIL:
        return random_below(r, i > n - 150 ? 3 : n) == 0;
    default:
        return s == EVERYWHERE;
    }
}

/* full [n*n]: is there an entry, or will there be one by elimination? */
static char *draw_pattern(shape s, int n, bool symmetric, random_t *r)
{
    char *full = zeroed((int64_t)n * n, 1);
    for (int i = 0; i < n; i++) {
        full[(int64_t)i * n + i] = 1;
        for (int j = 0; j < i; j++) {
            const bool lower = has(s, i, j, n, r);
            full[(int64_t)i * n + j] = lower;
            full[(int64_t)j * n + i] = symmetric || s == ARROW_HEAD ? lower : has(s, i, j, n, r);
        }
    }
    for (int k = 0; (s == CIRCUIT_FILL || s == GRID_FILL) && k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; full[(int64_t)i * n + k] && j < n; j++)
                full[(int64_t)i * n + j] |= full[(int64_t)k * n + j];
    return full;
}

/* Rows of L U are scaled. */
static problem *new_problem(shape s, int n, int number, bool cholesky, random_t *r)
{
    return problem_new(draw_pattern(s, n, cholesky, r), n, (trs_dtype)(number % 4), cholesky,
                       !cholesky, r);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static double check_and_free(problem *b)
{
    problem_send(b, "entries");
    const double worst = run_and_compare(b);
    problem_free(b);
    return worst;
}

static void test_factors(void **state)
{
    static const int sizes[] = {1, 2, 16, 33, 64, 129, 300};
    random_t r = {21};
    double worst = 0;
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int k = 0; k < 7; k++)
            worst = larger(worst,
                           check_and_free(new_problem((shape)s, sizes[k], s + k, k % 3 == 1, &r)));
    print_message("# largest error %.2f eps\n", worst);
}

static void test_every_type(void **state)
{
    static const shape of[] = {CIRCUIT_FILL, SPARSE_TAIL, CIRCUIT};
    random_t r = {22};
    (void)state;
    for (int number = 0; number < 24; number += case_step())
        check_and_free(new_problem(of[number / 8], 350, number, number & 4, &r));
}

static void test_long_rows(void **state)
{
    random_t r = {23};
    (void)state;
    check_and_free(new_problem(ARROW_HEAD, 4000, TRS_F64, false, &r));
}

static void test_nothing(void **state)
{
    random_t r = {24};
    (void)state;
    check_and_free(new_problem(DIAGONAL_ONLY, 0, TRS_F64, false, &r));
}

/* A bad pivot at the front, in the middle and in the tail, where it is no node, a node, or another block's. */
static void test_bad_pivots(void **state)
{
    static const double bad[] = {0, NAN, INFINITY, -3};
    random_t r = {25};
    (void)state;
    for (int number = 0; number < 48; number++) {
        problem *b = new_problem(number & 1 ? CIRCUIT_FILL : SPARSE_TAIL, 300, number / 3,
                                 number / 12 % 2, &r);
        set_pivot(b, (int[]){0, 120, 290}[number % 3], bad[number / 12]);
        check_and_free(b);
    }
}

static void test_boost_and_shift(void **state)
{
    random_t r = {26};
    uint64_t boosted = 0;
    (void)state;
    for (int number = 0; number < 24; number++) {
        problem *b = new_problem(number & 1 ? CIRCUIT_FILL : SPARSE_TAIL, 300, number / 2,
                                 number / 8 % 2, &r);
        for (int row = 7; row < b->n; row += 71) b->a[b->p.src[b->p.diag[row]]] = 0.125;
        b->boost = 0.5;
        b->shift = number / 16 * 0.25;
        problem_send(b, "entries");
        run_and_compare(b);
        boosted += outcome_of(b).boosted;
        problem_free(b);
    }
    assert_true(boosted > 50);
}

static void test_indefinite(void **state)
{
    random_t r = {28};
    uint64_t boosted = 0;
    (void)state;
    for (int number = 0; number < SHAPES * 4; number += case_step()) {
        problem *b = new_problem((shape)(number / 4), 300, number, true, &r);
        make_indefinite(b);
        problem_send(b, "entries");
        run_and_compare(b);
        for (int row = 7; row < b->n; row += 71) b->a[b->p.src[b->p.diag[row]]] = -0.125;
        b->boost = 0.25;
        run_and_compare(b);
        boosted += outcome_of(b).boosted;
        capture_and_compare(b, &r);
        problem_free(b);
    }
    assert_true(boosted > 30 || case_step() > 1);
}

/* Pivots whose inverse overflows, or has lost digits: they are divided by. */
static void test_far_from_one(void **state)
{
    random_t r = {27};
    (void)state;
    for (int number = 0; number < 16; number++) {
        problem *b = new_problem(number & 1 ? GRID_FILL : EVERYWHERE, 150, number / 2, false, &r);
        const bool single = epsilon(b->dtype) > 1e-10;
        const int power = (single ? 100 : 900) * (number / 8 ? 1 : -1);
        for (int64_t k = 0; k < b->p.nnz; k++)
            b->a[k] = ldexp(creal(b->a[k]), power) + I * ldexp(cimag(b->a[k]), power);
        check_and_free(b);
    }
}

static void test_capture(void **state)
{
    random_t r = {28};
    (void)state;
    for (int number = 0; number < 4; number++) {
        problem *b = new_problem(CIRCUIT_FILL, 300, number, number & 1, &r);
        problem_send(b, "entries");
        capture_and_compare(b, &r);
        problem_free(b);
    }
}

/* ---- without a device ------------------------------------------------------------------------ */

/* full [n*n] = L U - D A, by rows, where the diagonal of D is the scaling.  All is real or complex, and nothing
 * conjugated. */
static zz *difference(const problem *b, const reference *ref)
{
    const int64_t n = b->n, *ptr = b->p.ptr;
    const int32_t *idx = b->p.idx;
    zz *full = zeroed(n * n, sizeof *full);
    for (int64_t i = 0; i < n; i++)
        for (int64_t q = ptr[i]; q < ptr[i + 1]; q++) {
            const int64_t k = idx[q];
            if (b->p.src[q] >= 0) full[i * n + k] -= b->p.scale[i] * b->a[b->p.src[q]];
            if (k >= i) full[i * n + k] += ref->w[q];
            for (int64_t s = b->p.diag[k]; k < i && s < ptr[k + 1]; s++)
                full[i * n + idx[s]] += ref->w[q] * ref->w[s];
        }
    return full;
}

/* The reference itself: L U = A where the pattern holds all fill. */
static void test_reference(void **state)
{
    random_t r = {29};
    double worst = 0;
    (void)state;
    problem *b = new_problem(CIRCUIT_FILL, 120, TRS_C64, false, &r);
    reference ref = reference_new(b);
    zz *full = difference(b, &ref);
    for (int k = 0; k < b->n * b->n; k++) worst = larger(worst, cabs(full[k]));
    assert_true(worst > 0);
    assert_at_most(worst / ref.o.largest_a, 20 * DBL_EPSILON);
    free(full);
    reference_free(&ref);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest anywhere[] = {cmocka_unit_test(test_reference)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),       cmocka_unit_test(test_factors),
        cmocka_unit_test(test_every_type),      cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_bad_pivots),
        cmocka_unit_test(test_boost_and_shift), cmocka_unit_test(test_far_from_one),
        cmocka_unit_test(test_indefinite),      cmocka_unit_test(test_capture)};
    setenv("TRISOLVE_ELIMINATION", "entries", 1);
    if (has_device()) return cmocka_run_group_tests(tests, NULL, NULL);
    return cmocka_run_group_tests(anywhere, NULL, NULL);
}
