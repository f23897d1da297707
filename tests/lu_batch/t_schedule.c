/* t_schedule.c: the lists of a batch on a device, executed one item after the other: a sequential reference of its kernel.  The
 * factors of A and the solutions are those of elimination in a full matrix. */
#include "tests/common/full.h"

#include "factor/lu.h"
#include "lu_batch/schedule.h"
#include "matrix/whole.h"

enum { N = 180, WARP = 32 };

static int most_lanes; /* that have shared a list */

/* Calls item (user, place, by, sum), and checks that no pair of a level is written in the same level. */
typedef struct run {
    const trs_lu_batch_list *l;
    const double *x, *y;
    int32_t *written; /* [items] level in which it was written, or -1 */
    bool elimination;
} run;

static bool is_ready(const run *r, int32_t level, int64_t pair)
{
    const int32_t a = r->l->pair[2 * pair], b = r->l->pair[2 * pair + 1];
    const bool first = !r->elimination || (r->written[a] >= 0 && r->written[a] < level);
    return first && r->written[b] >= 0 && r->written[b] < level;
}

static double sum(const run *r, int32_t level, int32_t m)
{
    double s = 0;
    for (int64_t q = r->l->begin[m]; q < r->l->begin[m + 1]; q++) {
        assert_true(is_ready(r, level, q));
        s += r->x[r->l->pair[2 * q]] * r->y[r->l->pair[2 * q + 1]];
    }
    return s;
}

/* v = v - sums, with the inverses of pivots from lu. */
static void execute(const trs_lu_batch_list *l, bool elimination, double *lu, double *v)
{
    run r = {.l = l, .x = lu, .y = v, .elimination = elimination};
    r.written = malloc((size_t)l->items * sizeof *r.written);
    memset(r.written, 0xff, (size_t)l->items * sizeof *r.written);
    int32_t items = 0;
    for (int32_t level = 0; level < l->levels; level++)
        for (int32_t t = l->level[level]; t < l->level[level + 1]; t++) {
            const int32_t first = l->task[2 * t], count = l->task[2 * t + 1] >> 8;
            const int lanes = 1 << (l->task[2 * t + 1] & 255);
            assert_true(count > 0 && count * lanes <= WARP);
            if (lanes > most_lanes) most_lanes = lanes;
            for (int32_t m = first; m < first + count; m++, items++) {
                const int32_t at = l->item[m], by = l->by[m];
                assert_true(r.written[at] < 0);
                v[at] -= sum(&r, level, m);
                if (elimination && by == at) v[at] = 1 / v[at];
                else if (by >= 0) v[at] *= lu[by];
                r.written[at] = level;
            }
        }
    assert_int_equal(items, l->items); /* each once */
    free(r.written);
}

static trs_lu *factors_of(const trs_mat *A, int level)
{
    const trs_ilu_options o = {.level = level, .ordering = TRS_ILU_RCM};
    trs_lu *lu;
    assert_int_equal(trs_ilu(&lu, A, &o), TRS_OK);
    return lu;
}

/* Full elimination without exchanges of A(P, P), of which entries outside of the pattern are dropped. */
static void eliminate(const full *A, const trs_lu_batch_rows *r, double *want)
{
    double a[N * N];
    bool in[N * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i * N + j] = creal(A->a[r->P[i] + N * r->Q[j]]);
    for (int i = 0; i < N; i++)
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) in[i * N + r->idx[p]] = true;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++) {
            if (!in[i * N + k]) continue;
            a[i * N + k] /= a[k * N + k];
            for (int j = k + 1; j < N; j++)
                if (in[i * N + j] && in[k * N + j]) a[i * N + j] -= a[i * N + k] * a[k * N + j];
        }
    for (int i = 0; i < N; i++)
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) want[p] = a[i * N + r->idx[p]];
}

static void check_solve(const trs_lu_batch_rows *r, const trs_lu_batch_list *l, double *lu,
                        bool transposed)
{
    double y[N], b[N], worst = 0;
    for (int i = 0; i < N; i++) y[i] = b[i] = uniform();
    execute(&l[transposed ? TRS_LU_BATCH_UPPER_T : TRS_LU_BATCH_LOWER], false, lu, y);
    execute(&l[transposed ? TRS_LU_BATCH_LOWER_T : TRS_LU_BATCH_UPPER], false, lu, y);
    double product[N * N] = {0}; /* L U */
    for (int i = 0; i < N; i++)
        for (int64_t p = r->ptr[i]; p <= r->diag[i]; p++) {
            const int k = r->idx[p];
            const double left = k < i ? lu[p] : 1;
            product[i * N + k] += left / lu[r->diag[k]];
            for (int64_t q = r->diag[k] + 1; q < r->ptr[k + 1]; q++)
                product[i * N + r->idx[q]] += left * lu[q];
        }
    for (int i = 0; i < N; i++) {
        double s = b[i];
        for (int j = 0; j < N; j++) s -= product[transposed ? j * N + i : i * N + j] * y[j];
        worst = larger(worst, fabs(s));
    }
    assert_true(worst < 1e-12);
}

static void check(int level)
{
    full A = hermitian(N, false, 14);
    for (int k = 0; k < N * N; k++) A.a[k] = creal(A.a[k]) * (1 + uniform() / 4);
    trs_mat m = show_full(&A, &plain);
    trs_lu *lu = factors_of(&m, level);
    trs_context ctx = {.threads = 1};
    trs_lu_batch_rows r;
    trs_lu_batch_list l[TRS_LU_BATCH_LISTS];
    assert_int_equal(trs_lu_batch_rows_make(&ctx, lu, &m, &r), TRS_OK);
    double *v = calloc((size_t)r.nnz, sizeof *v), *want = calloc((size_t)r.nnz, sizeof *want);
    for (int k = 0; k < TRS_LU_BATCH_LISTS; k++) {
        assert_int_equal(trs_lu_batch_list_make(&ctx, &r, k, &l[k]), TRS_OK);
        print_message("list %d: %d items in %d tasks and %d levels, %ld pairs\n", k, l[k].items,
                      l[k].tasks, l[k].levels, (long)l[k].pairs);
    }
    for (int64_t q = 0; q < r.nnz_a; q++)
        if (r.a_to[q] >= 0) v[r.a_to[q]] = ((const double *)m.val)[r.a_from[q] >> TRS_WHOLE_BITS];
    execute(&l[TRS_LU_BATCH_ELIMINATION], true, v, v);
    eliminate(&A, &r, want);
    for (int i = 0; i < N; i++)
        for (int64_t p = r.ptr[i]; p < r.ptr[i + 1]; p++) {
            const double got = p == r.diag[i] ? 1 / v[p] : v[p];
            assert_true(fabs(got - want[p]) <= 1e-13 * (1 + fabs(want[p])));
        }
    check_solve(&r, l, v, false);
    check_solve(&r, l, v, true);
    for (int k = 0; k < TRS_LU_BATCH_LISTS; k++) trs_lu_batch_list_free(&ctx, &l[k]);
    trs_lu_batch_rows_free(&ctx, &r);
    trs_lu_destroy(lu);
    free(v), free(want);
    hide(&m);
    free(A.a);
}

static void test_lists(void **state)
{
    (void)state;
    for (int level = 0; level < 4; level++) check(level);
    assert_int_equal(most_lanes, WARP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
