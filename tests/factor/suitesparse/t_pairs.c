/* t_pairs.c: the matching of a matrix against all permutations; pairs of rows, and their scaling. */
#include "tests/common/full.h"

#include "factor/suitesparse/ldlt/pairs.h"

enum { MOST = 7 };

/* A with all entries that are not zero, as libraries take it. */
static trs_csc csc_of(const full *A)
{
    const int n = A->n, parts = A->is_complex ? 2 : 1;
    trs_csc C = {.n = n, .is_complex = A->is_complex};
    C.p = calloc((size_t)n + 1, sizeof *C.p);
    C.i = calloc((size_t)(n * n), sizeof *C.i);
    C.x = calloc((size_t)(n * n * parts), sizeof *C.x);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            if (A->a[i + n * j] == 0) continue;
            C.i[C.nnz] = i;
            set_value(C.x, A->is_complex ? TRS_C64 : TRS_F64, C.nnz++, A->a[i + n * j]);
        }
        C.p[j + 1] = C.nnz;
    }
    return C;
}

static void free_csc(trs_csc *C)
{
    free(C->p);
    free(C->i);
    free(C->x);
}

static trs_lu *handle(void)
{
    const trs_options opt = {0};
    const trs_mat none = {0};
    trs_lu *lu;
    assert_int_equal(trs_lu_new(&lu, &none, &opt, 1), TRS_OK);
    return lu;
}

/* The logarithm of the largest product of n entries in all rows and columns; -INFINITY: all are zero. */
static double best_product(const full *A, int j, unsigned used)
{
    double best = -INFINITY;
    if (j == A->n) return 0;
    for (int i = 0; i < A->n; i++)
        if (!(used & 1u << i) && A->a[i + A->n * j] != 0)
            best =
                fmax(best, log(cabs(A->a[i + A->n * j])) + best_product(A, j + 1, used | 1u << i));
    return best;
}

static full sparse(int n, double density)
{
    full A = full_new(n, false);
    for (int p = 0; p < n * n; p++)
        if ((uniform() + 1) / 2 < density) A.a[p] = exp(8 * uniform());
    return A;
}

static void best_matching(void **state)
{
    (void)state;
    trs_lu *lu = handle();
    for (int turn = 0; turn < 400; turn++) {
        const int n = 1 + turn % MOST;
        full A = sparse(n, 0.3 + 0.1 * (turn % 5));
        trs_csc C = csc_of(&A);
        int32_t row_of[MOST];
        double u[MOST], v[MOST], product = 0;
        unsigned used = 0;
        assert_int_equal(trs_matching(lu, &C, row_of, u, v), TRS_OK);
        for (int j = 0; j < n; j++) {
            if (row_of[j] < 0) product = -INFINITY;
            else {
                assert_false(used & 1u << row_of[j]);
                used |= 1u << row_of[j];
                product += log(cabs(A.a[row_of[j] + n * j]));
            }
        }
        const double best = best_product(&A, 0, 0);
        if (isfinite(best)) assert_true(fabs(product - best) <= 1e-10);
        else assert_true(product == -INFINITY);
        free_csc(&C);
        free(A.a);
    }
    trs_lu_destroy(lu);
}

/* |s(i) a(i, j) s(j)| is at most 1, and 1 for pairs; every row has one mate. */
static void pairs_are_large(void **state)
{
    (void)state;
    trs_lu *lu = handle();
    int pairs = 0;
    for (int turn = 0; turn < 200; turn++) {
        const int n = 2 + turn % 30;
        full A = hermitian(n, turn % 2, 0);
        for (int i = 0; i < n; i++) A.a[i + n * i] = i % 4 ? 0 : uniform();
        for (int i = 0; i + 1 < n; i += 2) A.a[i + n * (i + 1)] = A.a[i + 1 + n * i] = 1e-3;
        trs_csc C = csc_of(&A);
        int32_t mate[40];
        double s[40];
        assert_true(trs_pairs_needed(&C));
        assert_int_equal(trs_pairs_find(lu, &C, mate, s), TRS_OK);
        for (int i = 0; i < n; i++) {
            assert_in_range(mate[i], 0, n - 1);
            assert_int_equal(mate[mate[i]], i);
            if (n % 2 == 0 && mate[i] != i) { /* there is a perfect matching */
                pairs++;
                assert_true(fabs(cabs(A.a[i + n * mate[i]]) * s[i] * s[mate[i]] - 1) <= 1e-10);
            }
            for (int j = 0; j < n && n % 2 == 0; j++)
                assert_true(cabs(A.a[i + n * j]) * s[i] * s[j] <= 1 + 1e-10);
        }
        free_csc(&C);
        free(A.a);
    }
    assert_true(pairs > 100);
    trs_lu_destroy(lu);
}

static void needed(void **state)
{
    (void)state;
    full A = full_new(2, false);
    A.a[0] = A.a[3] = 1, A.a[1] = A.a[2] = 2;
    trs_csc C = csc_of(&A);
    assert_false(trs_pairs_needed(&C));
    C.x[3] = 0;
    assert_true(trs_pairs_needed(&C));
    free_csc(&C);
    A.a[3] = 0;
    C = csc_of(&A);
    assert_true(trs_pairs_needed(&C));
    free_csc(&C);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_matching),
        cmocka_unit_test(pairs_are_large),
        cmocka_unit_test(needed),
    };
    return cmocka_run_group_tests_name("t_pairs", tests, NULL, NULL);
}
