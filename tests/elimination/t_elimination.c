/* t_elimination.c: elimination on a device against the same elimination on the host, by the kernel that is chosen: factors,
 * pivots that are zero, negative, tiny, NaN or shifted, what is said of them, the same bits twice, and a captured run that
 * is replayed with new values. */
#include "problem.h"

#include "tests/common/device.h"

#include <math.h>

/* ---- patterns -------------------------------------------------------------------------------- */

typedef enum shape {
    ONLY_DIAGONAL,
    TRIDIAGONAL,
    GRID2,
    GRID3,
    BOX3,  /* 27 points */
    PAIRS, /* a grid with so many unknowns a vertex: rows that have the same columns */
    TRIPLES,
    QUADRUPLES,
    QUINTUPLES,
    BOXES, /* the same with 9 neighbours and three unknowns */
    SPARSE,
    DENSER,
    HUNDRED, /* every entry */
    SHAPES
} shape;

static const struct {
    int n, unknowns, width; /* rows; of a vertex; vertices side by side */
} form_of[SHAPES] = {{70, 1, 1},   {90, 1, 1},   {300, 1, 12}, {340, 1, 6}, {340, 1, 6},
                     {290, 2, 12}, {300, 3, 10}, {280, 4, 8},  {307, 5, 8}, {420, 3, 12},
                     {500, 1, 1},  {300, 1, 1},  {100, 1, 1}};

/* Are they unknowns of one vertex, or of neighbours? */
static bool are_near(shape s, int i, int j)
{
    const int width = form_of[s].width, a = i / form_of[s].unknowns, b = j / form_of[s].unknowns;
    const int dx = abs(a % width - b % width), dy = abs(a / width % width - b / width % width);
    const int dz = abs(a / width / width - b / width / width);
    if (s == BOX3 || s == BOXES) return dx <= 1 && dy <= 1 && dz <= 1;
    return dx + dy + dz <= 1;
}

/* Is (i, j) an entry?  Symmetric but for SPARSE and DENSER. */
static bool has(shape s, int i, int j)
{
    const uint64_t mix = ((uint64_t)i * 1000003u + (uint64_t)j) * 0x9e3779b97f4a7c15u;
    const int chance = (int)(mix >> 40 & 1023);
    if (i == j || s == HUNDRED) return true;
    if (s == ONLY_DIAGONAL) return false;
    if (s == TRIDIAGONAL) return abs(i - j) == 1;
    if (s == SPARSE) return chance < 12;
    if (s == DENSER) return chance < 200;
    return are_near(s, i, j);
}

static problem *new_problem(shape s, int n, int number, bool cholesky, bool scaled, random_t *r)
{
    char *entry = zeroed((int64_t)n * n, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) entry[i * n + j] = has(s, i, j) || (cholesky && has(s, j, i));
    return problem_new(entry, n, (trs_dtype)(number % 4), cholesky, scaled, r);
}

/* Of the size of its shape. */
static problem *usual_problem(shape s, int number, bool cholesky, bool scaled, random_t *r)
{
    return new_problem(s, form_of[s].n, number, cholesky, scaled, r);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_factors(void **state)
{
    random_t r = {5};
    double worst = 0;
    (void)state;
    for (int number = 0; number < SHAPES * 8; number += case_step()) {
        const bool cholesky = number & 4;
        problem *b =
            usual_problem((shape)(number / 8), number, cholesky, !cholesky && number & 1, &r);
        problem_send(b, NULL);
        worst = larger(worst, run_and_compare(b));
        problem_free(b);
    }
    print_message("# largest error %.2f eps\n", worst);
}

/* Other sizes, so that tasks and blocks are filled in all ways. */
static void test_sizes(void **state)
{
    random_t r = {6};
    (void)state;
    for (int n = 0; n < 90; n += case_step()) {
        problem *b = new_problem((shape)(n % SHAPES), n, n / 2, n % 3 == 0, false, &r);
        problem_send(b, NULL);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_bad_pivots(void **state)
{
    static const double bad[] = {0, NAN, -3};
    random_t r = {7};
    (void)state;
    for (int number = 0; number < 48; number++) {
        problem *b = usual_problem(number / 8 % 2 ? SPARSE : GRID2, number, number & 4, false, &r);
        problem_send(b, NULL);
        set_pivot(b, b->n / 3, bad[number / 16]);
        run_and_compare(b);
        set_pivot(b, b->n / 3, 9);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_nan_in_a_row(void **state)
{
    /* the pattern of bits that is reserved for what is not there yet */
    const union {
        uint64_t bits;
        double number;
    } nan = {.bits = UINT64_MAX};
    random_t r = {8};
    (void)state;
    for (int number = 0; number < 8; number++) {
        problem *b = usual_problem(GRID3, number, false, false, &r);
        const int i = 17 * (number + 1);
        const bool infinite = number & 4 && !trs_is_complex(b->dtype);
        problem_send(b, NULL);
        b->a[b->p.src[b->p.diag[i]]] = infinite ? INFINITY : nan.number;
        run_and_compare(b);
        assert_int_equal(outcome_of(b).first, 4 * i + TRS_ILU_INFINITE);
        problem_free(b);
    }
}

static void test_boost_and_shift(void **state)
{
    random_t r = {9};
    (void)state;
    for (int number = 0; number < 16; number++) {
        const bool cholesky = number & 4;
        problem *b = usual_problem(BOX3, number, cholesky, false, &r);
        b->shift = 0.25;
        b->boost = number & 8 ? 1e-3 : 0;
        problem_send(b, NULL);
        run_and_compare(b);
        b->boost = 1e-3;
        for (int i = 5; i < b->n; i += 90) set_pivot(b, i, i % 2 && cholesky ? -1 : -1e-7);
        run_and_compare(b);
        assert_true(outcome_of(b).boosted > 0);
        problem_free(b);
    }
}

/* L S L^H; then pivots that are too small, or have another sign than expected. */
static void test_indefinite(void **state)
{
    random_t r = {12};
    (void)state;
    for (int number = 0; number < SHAPES * 4; number += case_step()) {
        problem *b = usual_problem((shape)(number / 4), number, true, false, &r);
        make_indefinite(b);
        problem_send(b, NULL);
        run_and_compare(b);
        b->boost = 1e-3;
        for (int i = 5; i < b->n; i += 90) set_pivot(b, i, i % 2 ? -1 : 1e-7);
        run_and_compare(b);
        capture_and_compare(b, &r);
        problem_free(b);
    }
}

/* Pivots of which neither the inverse nor the square is a normal number. */
static void test_far_from_one(void **state)
{
    random_t r = {10};
    (void)state;
    for (int number = 0; number < 16; number++) {
        problem *b = new_problem(number & 4 ? BOX3 : SPARSE, 300, number, false, false, &r);
        const bool single = epsilon(b->dtype) > 1e-10;
        const double tiny = single ? 1e-35 : 1e-305, huge = single ? 1e32 : 1e300;
        for (int64_t k = 0; k < b->p.nnz; k++) {
            b->a[k] *= number & 8 ? huge : tiny;
            if (single) b->a[k] = (float complex)b->a[k];
        }
        problem_send(b, NULL);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_capture(void **state)
{
    random_t r = {11};
    (void)state;
    for (int number = 0; number < 8; number++) {
        problem *b = new_problem(number & 4 ? GRID2 : TRIPLES, 300, number, number & 4, false, &r);
        problem_send(b, NULL);
        capture_and_compare(b, &r);
        problem_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),         cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_pivots),      cmocka_unit_test(test_nan_in_a_row),
        cmocka_unit_test(test_boost_and_shift), cmocka_unit_test(test_far_from_one),
        cmocka_unit_test(test_indefinite),      cmocka_unit_test(test_capture)};
    return run_on_device(tests);
}
