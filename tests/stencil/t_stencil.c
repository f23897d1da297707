/* t_stencil.c: the units and the schedule of cpu-stencil are what units.h and schedule.h say, and the sequential reference
 *
 *     for all workers in turns: if what its next unit waits for is done, solve the unit: a run by the distances of its
 *     pattern, other rows by their columns
 *
 * computes the x of forward substitution, and what the solver computes; the solver has the bits of cpu-serial. */
#include "tests/common/reference.h"

#include "solvers/cpu_serial.h"
#include "solvers/stencil/dealing.h"

#include <math.h>

/* ---- units ------------------------------------------------------------------------------------------- */

static bool has(const trs_tri *L, int32_t i, int32_t column)
{
    for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++)
        if (L->idx[p] == column) return true;
    return false;
}

/* Row i has the entries of the pattern, the diagonal, and no others. */
static void check_row(const trs_tri *L, const trs_units *u, const trs_unit *unit, int32_t i)
{
    const trs_run *run = &u->run[unit->run];
    const int32_t *distance = u->distance + run->distances, count = run->far + run->near;
    const bool last = run->follows && !(unit->starts && i == unit->begin);
    assert_int_equal(L->ptr[i + 1] - L->ptr[i], count + last + 1);
    assert_int_equal(trs_rows_chained(L) && has(L, i, i - 1), last);
    for (int32_t k = 0; k < count; k++) {
        assert_int_equal(L->idx[L->ptr[i] + k], i - distance[k]);
        assert_int_equal(distance[k] >= u->lanes, k < run->far);
    }
}

static void check_units(const trs_tri *L, const trs_units *u)
{
    int32_t i = 0;
    for (int32_t k = 0; k < u->count; k++) {
        const trs_unit *unit = &u->unit[k];
        assert_int_equal(unit->begin, i);
        assert_true(unit->end > i);
        for (; i < unit->end; i++)
            if (unit->run >= 0) check_row(L, u, unit, i);
    }
    assert_int_equal(i, L->n);
}

/* ---- the reference ----------------------------------------------------------------------------------- */

static void solve_unit(const trs_tri *L, const trs_units *u, int32_t k, const double *b, double *x)
{
    const trs_unit *unit = &u->unit[k];
    const double *Lx = L->val;
    for (int32_t i = unit->begin; i < unit->end; i++) {
        const int64_t begin = L->ptr[i], diagonal = L->ptr[i + 1] - 1;
        double s = b[i];
        for (int64_t p = begin; p < diagonal; p++) {
            int32_t column = L->idx[p];
            if (unit->run >= 0) {
                const trs_run *run = &u->run[unit->run];
                const bool is_last = p - begin == run->far + run->near;
                column = i - (is_last ? 1 : u->distance[run->distances + p - begin]);
            }
            s -= Lx[p] * x[column];
        }
        x[i] = s / Lx[diagonal];
    }
}

static bool is_ready(const trs_schedule *s, const int32_t *done, int32_t unit)
{
    for (int64_t k = s->waits[unit]; k < s->waits[unit + 1]; k++)
        if (done[s->wait[k].worker] < s->wait[k].rank) return false;
    return true;
}

/* x is NaN before, so that a unit that does not wait for what it needs is found out. */
static void solve(const trs_tri *L, const trs_units *u, const trs_schedule *s, const double *b,
                  double *x)
{
    int32_t done[TRS_MOST_WORKERS] = {0}, left = u->count;
    for (int32_t i = 0; i < L->n; i++) x[i] = NAN;
    if (s->workers == 1)
        for (; left; left--) solve_unit(L, u, u->count - left, b, x);
    while (left) {
        const int32_t before = left;
        for (int32_t w = s->workers - 1; w >= 0; w--) {
            const int32_t k = s->first[w] + done[w];
            if (k == s->first[w + 1] || !is_ready(s, done, s->order[k])) continue;
            assert_int_equal(s->turn[s->order[k]].worker, w);
            assert_int_equal(s->turn[s->order[k]].rank, ++done[w]);
            assert_true(done[w] == 1 || s->order[k] > s->order[k - 1]);
            solve_unit(L, u, s->order[k], b, x);
            left--;
        }
        assert_true(left < before); /* nobody hangs */
    }
}

/* By schedules for this number of workers. */
static void check_workers(trs_context *ctx, const trs_tri *L, int workers, const double *b,
                          const double *right)
{
    trs_units u;
    trs_schedule s;
    double *x = random_vector(L->n);
    assert_int_equal(trs_units_find(ctx, L, workers > 1, &u), TRS_OK);
    check_units(L, &u);
    const trs_shape shape = {.n = L->n, .nnz = L->nnz, .elem = sizeof *b, .nrhs = 1};
    assert_int_equal(trs_schedule_make(ctx, L, &shape, &u, workers, &s), TRS_OK);
    assert_true(s.workers == 1 || s.seconds < s.alone);
    solve(L, &u, &s, b, x);
    assert_near(L->n, x, right);
    trs_schedule_free(ctx, &s);
    trs_units_free(ctx, &u);
    free(x);
}

static void check_triangle(trs_context *given, const trs_tri *L)
{
    trs_context ctx = *given;
    double *b = random_vector(L->n), *right = random_vector(L->n);
    substitute(L, b, right);
    ctx.machine.cpu_byte = ctx.machine.cpu_cached = 1; /* hand-overs cost nothing */
    for (int workers = 1; workers <= TRS_MOST_WORKERS; workers *= 4)
        check_workers(&ctx, L, workers, b, right);
    compare_with_solver("cpu-stencil", L, b, right);
    free(b);
    free(right);
}

/* ---- who gets a unit --------------------------------------------------------------------------------- */

/* A unit whose worker is known.  It needs of the two units before it and of unit 0 so many entries each. */
typedef struct dealt {
    double seconds;
    int32_t entries[3], worker;
} dealt;

static void check_dealing(trs_rule rule, int32_t workers, int32_t head, const dealt *unit,
                          int32_t count, int64_t waits)
{
    trs_context ctx = {.machine.stencil_handover = 0.5};
    trs_dealing d;
    assert_int_equal(trs_dealing_begin(&ctx, count, workers, rule, head, &d), TRS_OK);
    for (int32_t u = 0; u < count; u++) {
        const int32_t of[] = {u - 1, u - 2, 0};
        int32_t number[3], entries[3];
        trs_needs needs = {0, number, entries};
        for (int k = 0; k < 3; k++) {
            if (!unit[u].entries[k]) continue;
            number[needs.count] = of[k];
            entries[needs.count++] = unit[u].entries[k];
        }
        assert_int_equal(trs_dealing_next(&d, u, u, unit[u].seconds, &needs), TRS_OK);
        if (d.turn[u].worker != unit[u].worker)
            fail_msg("rule %d, %d workers, unit %d: %d", rule, workers, u, d.turn[u].worker);
    }
    assert_int_equal(d.waits[count], waits);
    trs_dealing_free(&d);
}

static void test_dealing(void **state)
{
    (void)state;
    /* without needs: the least busy one */
    static const dealt two[] = {{3, {0}, 0}, {2, {0}, 1}, {1, {0}, 1}, {1, {0}, 0}, {1, {0}, 1}};
    static const dealt three[] = {{3, {0}, 0}, {2, {0}, 1}, {1, {0}, 2}, {1, {0}, 2}, {1, {0}, 1}};
    check_dealing(TRS_INHERIT, 2, 0, two, 5, 0);
    check_dealing(TRS_INHERIT, 3, 0, three, 5, 0);
    /* the owner of the first unit that is needed, or of more entries; the first four rows are shared by their numbers */
    static const dealt heirs[] = {{1, {0}, 0},       {1, {0}, 0},       {1, {0}, 1},
                                  {1, {1, 0, 0}, 1}, {1, {1, 0, 1}, 0}, {1, {1, 2, 0}, 1},
                                  {1, {2, 1, 0}, 1}, {1, {1, 1, 3}, 0}};
    check_dealing(TRS_INHERIT, 2, 4, heirs, 8, 3);
    /* the one that can begin first, a hand-over counted; of two, the one that has more entries */
    static const dealt early[] = {{1, {0}, 0},       {1, {1, 0, 0}, 0}, {1, {0}, 1},
                                  {1, {1, 0, 1}, 1}, {1, {0}, 0},       {1, {2, 1, 0}, 0}};
    check_dealing(TRS_EARLIEST, 2, 0, early, 6, 2);
}

static void test_all(void **state)
{
    (void)state;
    for_all_triangles(701, check_triangle);
}

/* ---- the bits of cpu-serial ---------------------------------------------------------------------------- */

/* A grid of width x width x depth points whose rows have some of these distances, as far as they stay in the grid:
 * dx, dy, dz each. */
typedef struct grid {
    const char *name;
    int width, depth, count;
    int by[20][3];
} grid;

static const grid grids[] = {
    {"2D, 5 points", 37, 1, 2, {{0, -1, 0}, {-1, 0, 0}}},
    {"2D, 9 points", 50, 1, 4, {{-1, -1, 0}, {0, -1, 0}, {1, -1, 0}, {-1, 0, 0}}},
    {"3D, 7 points", 21, 20, 3, {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}}},
    {"narrow", 5, 40, 3, {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}}},
    {"a band", 40, 30, 6, {{-9, 0, 0}, {-8, 0, 0}, {-7, 0, 0}, {-4, 0, 0}, {-2, 0, 0}, {-1, 0, 0}}},
    {"without the point before", 40, 9, 3, {{0, 0, -1}, {-1, -1, 0}, {-3, 0, 0}}},
    {"long rows",
     60,
     12,
     19,
     {{-2, -1, -1},
      {-1, -1, -1},
      {0, -1, -1},
      {1, -1, -1},
      {-2, 0, -1},
      {-1, 0, -1},
      {0, 0, -1},
      {1, 0, -1},
      {2, 0, -1},
      {-2, -1, 0},
      {-1, -1, 0},
      {0, -1, 0},
      {1, -1, 0},
      {2, -1, 0},
      {-6, 0, 0},
      {-4, 0, 0},
      {-3, 0, 0},
      {-2, 0, 0},
      {-1, 0, 0}}},
    {"longer, all of them far",
     60,
     12,
     18,
     {{-4, -2, -1},
      {-3, -1, -1},
      {-2, -1, -1},
      {-1, -1, -1},
      {0, -1, -1},
      {1, -1, -1},
      {-2, 0, -1},
      {-1, 0, -1},
      {0, 0, -1},
      {1, 0, -1},
      {2, 0, -1},
      {-3, -2, 0},
      {-2, -1, 0},
      {-1, -1, 0},
      {0, -1, 0},
      {1, -1, 0},
      {2, -1, 0},
      {-1, 0, 0}}},
};

enum { GRIDS = sizeof grids / sizeof grids[0] };

/* Every so many rows, if not 0, the diagonal is so large that its reciprocal is subnormal; or there is no entry for the row
 * before, though all others are there. */
static model model_of_grid(const grid *g, int large_every, int cut_every, trs_dtype t, random_t *r)
{
    const int w = g->width, n = w * w * g->depth;
    const double large = t == TRS_F32 || t == TRS_C32 ? 0x1p127 : 0x1p1023;
    model m = {.n = n};
    for (int i = 0; i < n; i++) {
        const int x = i % w, y = i / w % w, z = i / (w * w);
        for (int k = 0; k < g->count; k++) {
            const int *d = g->by[k];
            const int a = x + d[0], b = y + d[1], c = z + d[2];
            const bool before = d[0] == -1 && !d[1] && !d[2];
            if (cut_every && before && i % cut_every == cut_every - 1) continue;
            if (a < 0 || a >= w || b < 0 || b >= w || c < 0) continue;
            model_add(&m, i, (c * w + b) * w + a, random_uniform(r) + random_uniform(r) * I);
        }
        const bool is_large = large_every && i % large_every == large_every - 1;
        model_add(&m, i, i, is_large ? large : 30 + random_uniform(r) + random_uniform(r) * I);
    }
    return m;
}

typedef struct run_of { /* one solve */
    const char *solver;
    trs_op op;
    int nrhs, threads;
    trs_layout layout;
    bool in_place;
} run_of;

static void solve_by(const trs_mat *a, const run_of *how, const void *b, void *x)
{
    const size_t size = trs_size(a->dtype);
    const int64_t ld = how->layout == TRS_ROW_MAJOR ? how->nrhs : a->n;
    const trs_options opt = {.solver = how->solver,
                             .ops = 1u << how->op,
                             .nrhs = how->nrhs,
                             .threads = how->threads,
                             .layout = how->layout};
    const trs_exec exec = {.layout = how->layout};
    trs_plan *p;
    assert_status(trs_plan_create(&p, a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    if (how->in_place) memcpy(x, b, (size_t)(a->n * how->nrhs) * size);
    assert_status(trs_solve(p, how->op, how->nrhs, how->in_place ? x : b, ld, x, ld, &exec),
                  TRS_OK);
    trs_plan_destroy(p);
}

static void same_bits(const trs_mat *a, run_of how, const char *name)
{
    const size_t size = trs_size(a->dtype) * (size_t)(a->n * how.nrhs);
    random_t r = {3};
    char *b = malloc(size + 1), *x = malloc(size + 1), *y = malloc(size + 1);
    assert_true(b && x && y);
    for (int64_t i = 0; i < a->n * how.nrhs; i++)
        set_number(b, a->dtype, i, random_below(&r, 5) ? random_uniform(&r) : 0);
    how.solver = "cpu-stencil";
    solve_by(a, &how, b, x);
    how.solver = "cpu-serial";
    how.in_place = false;
    solve_by(a, &how, b, y);
    if (memcmp(x, y, size))
        print_error("%s: %s op %s nrhs %d threads %d %s\n", name, type_name[a->dtype],
                    op_name[how.op], how.nrhs, how.threads, layout_name[how.layout]);
    assert_memory_equal(x, y, size);
    free(b);
    free(x);
    free(y);
}

static void test_bits(void **state)
{
    (void)state;
    for (int k = 0; k < GRIDS * 4; k++) {
        const trs_dtype t = (trs_dtype)(k % 4);
        random_t r = {(uint64_t)k};
        const form f = {.dtype = t, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
        for (int some = 0; some < 3; some++) {
            model m = model_of_grid(&grids[k / 4], some == 1 ? 1001 : 0, some == 2 ? 70 : 0, t, &r);
            trs_mat a = show(&m, &f, &r);
            /* each op by itself, and two of the three with several right-hand sides in each form */
            for (int op = 0; op < 3; op++) {
                run_of how = {.op = (trs_op)op, .nrhs = 1};
                if (!some) same_bits(&a, how, grids[k / 4].name);
                if ((op + k + some) % 3 == 0) how.nrhs = 3, how.in_place = true;
                if ((op + k + some) % 3 == 1) how.nrhs = 2, how.layout = TRS_ROW_MAJOR;
                if (some || how.nrhs > 1) same_bits(&a, how, grids[k / 4].name);
            }
            mat_free(&a);
            model_free(&m);
        }
    }
}

/* Large enough for threads, with more workers than processors. */
static void test_bits_of_threads(void **state)
{
    static const grid large[] = {
        {"2D, 5 points", 450, 1, 2, {{0, -1, 0}, {-1, 0, 0}}},
        {"3D, 7 points", 56, 56, 3, {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}}},
    };
    (void)state;
    for (int k = 0; k < 2; k++) {
        random_t r = {(uint64_t)k};
        const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
        model m = model_of_grid(&large[k], 0, 0, TRS_F64, &r);
        trs_mat a = show(&m, &f, &r);
        for (int threads = 2; threads <= 64; threads *= 2)
            for (int op = 0; op < 2; op++)
                same_bits(&a, (run_of){.op = (trs_op)op, .nrhs = 1, .threads = threads},
                          large[k].name);
        mat_free(&a);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dealing), cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_bits_of_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
