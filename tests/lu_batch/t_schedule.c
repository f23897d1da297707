/* t_schedule.c: the lists of a batch on a device, executed one task after the other: a sequential reference of its kernel.  The
 * factors of A and the solutions are those of elimination in a full matrix. */
#include "tests/common/full.h"

#include "factor/lu.h"
#include "lu_batch/schedule.h"
#include "matrix/whole.h"

enum { N = 180, WARP = TRS_LU_BATCH_WARP, MOST_WARPS = 32 };

static int most_lanes; /* that have shared a list */
static int most_rounds;
static bool merged_levels; /* some step had more than one */

typedef struct when { /* an item was written; step < 0: not yet */
    int32_t step, warp;
} when;

typedef struct run {
    const trs_lu_batch_list *l;
    double *x, *v;
    when *written; /* [items] */
    bool elimination;
    when now;
} run;

/* Written in an earlier step, or earlier by the same warp. */
static bool is_ready(const run *r, int32_t place)
{
    const when w = r->written[place];
    return w.step >= 0 && (w.step < r->now.step || w.warp == r->now.warp);
}

static double pivot_of(const run *r, int64_t quad, int64_t k)
{
    const int32_t place = r->l->pivot[TRS_LU_BATCH_QUAD * quad + k];
    assert_true(is_ready(r, place));
    return r->v[place];
}

/* The sum of item m of a task, in the order of its quads; counts its pairs. */
static double sum(const run *r, const trs_lu_batch_task *t, int32_t m, int64_t *pairs)
{
    const int lanes = trs_lu_batch_lanes(t), active = trs_lu_batch_items(t) * lanes;
    double s = 0;
    for (int32_t round = 0; round < trs_lu_batch_rounds(t); round++)
        for (int64_t k = 0; k < lanes * (int64_t)TRS_LU_BATCH_QUAD; k++) {
            const int64_t quad = t->quad + round * (int64_t)active + m * lanes;
            const int32_t *pair = r->l->pair + 2 * (TRS_LU_BATCH_QUAD * quad + k);
            if (pair[0] < 0) continue;
            assert_true(!r->elimination || is_ready(r, pair[0]));
            assert_true(is_ready(r, pair[1]));
            const double l = r->x[pair[0]] * (r->l->pivot ? pivot_of(r, quad, k) : 1);
            s += l * r->v[pair[1]];
            ++*pairs;
        }
    return s;
}

static void execute_task(run *r, const trs_lu_batch_task *t, int64_t *pairs)
{
    const int32_t count = trs_lu_batch_items(t), rounds = trs_lu_batch_rounds(t);
    const int lanes = trs_lu_batch_lanes(t);
    double result[WARP];
    assert_true(count > 0 && count * lanes <= WARP);
    if (lanes > most_lanes) most_lanes = lanes;
    if (rounds > most_rounds) most_rounds = rounds;
    for (int32_t m = 0; m < count; m++) {
        const int32_t at = r->l->item[t->first + m], by = r->l->by[t->first + m];
        assert_true(r->written[at].step < 0);
        result[m] = r->v[at] - sum(r, t, m, pairs);
        if (r->elimination && !r->l->pivot && by >= 0 && by != at) assert_true(is_ready(r, by));
        if (r->elimination && by == at) result[m] = 1 / result[m];
        else if (!r->l->pivot && by >= 0) result[m] *= r->x[by];
    }
    for (int32_t m = 0; m < count; m++) { /* all lanes have read before one writes */
        const int32_t at = r->l->item[t->first + m];
        r->v[at] = result[m];
        r->written[at] = r->now;
    }
}

/* v = v - sums, with the inverses of pivots from lu: a step after the other, in it a warp after the other. */
static void execute(const trs_lu_batch_list *l, bool elimination, double *lu, double *v)
{
    run r = {.l = l, .x = lu, .v = v, .elimination = elimination};
    int32_t task[MOST_WARPS], passed[MOST_WARPS] = {0}, tasks = 0;
    int64_t pairs = 0;
    r.written = malloc((size_t)l->items * sizeof *r.written);
    memset(r.written, 0xff, (size_t)l->items * sizeof *r.written);
    memcpy(task, l->stream, (size_t)l->warps * sizeof *task);
    merged_levels = merged_levels || l->steps < l->levels;
    for (r.now.step = 0; r.now.step < l->steps; r.now.step++)
        for (r.now.warp = 0; r.now.warp < l->warps; r.now.warp++) {
            int32_t *t = &task[r.now.warp], *step = &passed[r.now.warp];
            while (*t < l->stream[r.now.warp + 1] && *step + l->task[*t].waits == r.now.step) {
                *step = r.now.step;
                execute_task(&r, &l->task[(*t)++], &pairs);
                tasks++;
            }
        }
    assert_int_equal(tasks, l->tasks);
    for (int32_t m = 0; m < l->items; m++) assert_true(r.written[m].step >= 0); /* each once */
    for (int32_t m = 0; m < l->items && l->pivot; m++)
        if (l->by[m] >= 0 && l->by[m] != l->item[m]) v[l->item[m]] *= v[l->by[m]];
    int64_t places = 0;
    for (int64_t q = 0; q < TRS_LU_BATCH_QUAD * l->quads; q++) places += l->pair[2 * q] >= 0;
    assert_int_equal(pairs, places);
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

static void check(int level, int warps, bool late)
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
        assert_int_equal(trs_lu_batch_list_make(&ctx, &r, k, warps, late, &l[k]), TRS_OK);
        print_message("list %d: %d items in %d tasks, %d levels and %d steps, %ld quads\n", k,
                      l[k].items, l[k].tasks, l[k].levels, l[k].steps, (long)l[k].quads);
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
    for (int level = 0; level < 4; level++) {
        check(level, 1, false);
        check(level, 1, true);
        check(level, 3, true);
        check(level, MOST_WARPS, false);
        check(level, MOST_WARPS, true);
    }
    assert_int_equal(most_lanes, WARP);
    assert_true(most_rounds > 1);
    assert_true(merged_levels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
