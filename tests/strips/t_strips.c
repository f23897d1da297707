/* t_strips.c: the schedule of cuda-strips is what strips.h says, and solving by it as reference.c does gives what
 * substitution gives. */
#include "tests/common/counter.h"
#include "tests/common/dags.h"

#include "analysis/level.h"
#include "reference.h"

#include <math.h>

enum { WARP = TRS_STRIP_WARP };

/* ---- the structure ----------------------------------------------------------------------------------- */

/* Packets follow one another, and so do their tasks, and the ELL columns of these; they stand as they are in what the
 * GPU gets. */
static void check_packets(const trs_strips *s, const char *packed)
{
    int32_t task = 0;
    int64_t ell = 0;
    for (int32_t number = 0; number < s->packets; number++) {
        const trs_packet *p = &s->packet[number];
        const size_t at = sizeof *p * (size_t)number + (size_t)(ell * WARP * (8 + 2)) +
                          (size_t)task * WARP * (8 + 4);
        int ells = 0;
        assert_true(p->task == task && p->ell == ell);
        assert_in_range(p->tasks, 1, TRS_STRIP_TASKS);
        for (int k = 0; k < p->tasks; k++) {
            assert_int_equal(p->start[k], ells);
            assert_true(p->early[k] <= TRS_STRIP_EARLY);
            ells += p->early[k] + p->late[k];
        }
        assert_true(ells == p->ells && ells <= TRS_STRIP_ELLS);
        assert_memory_equal(packed + at, p, sizeof *p);
        task += p->tasks;
        ell += ells;
    }
    assert_true(task == s->tasks && ell == s->ells);
}

typedef struct ring { /* the halo ring of a tile */
    const trs_strips *s;
    const trs_row_tile *tile;
    int64_t read;                 /* entries that tasks have read */
    int32_t last[TRS_STRIP_HALO]; /* the last reader of the entry before the present one */
    bool held[TRS_STRIP_HALO];    /* some task will read the present entry once more */
} ring;

/* The next entry is read for the first time, in this slot, by this task: (3) of strips.h. */
static void check_entry(ring *r, int32_t slot, int32_t task)
{
    const trs_halo_entry *e = &r->s->halo[r->tile->halo + r->read];
    const bool reused = r->read >= TRS_STRIP_HALO;
    const int32_t window = task < TRS_STRIP_WINDOW ? task : TRS_STRIP_WINDOW;
    const int32_t oldest = r->tile->task + task - window; /* of the tasks in the window */
    assert_int_equal(slot, r->read % TRS_STRIP_HALO);
    assert_int_equal(e->free_at, reused ? r->last[slot] + TRS_STRIP_CONSUMERS + 1 : 0);
    assert_true(!reused || task >= r->last[slot] + 2 * TRS_STRIP_CONSUMERS);
    assert_true(e->from < oldest * WARP);
    r->held[slot] = true;
    r->read++;
}

static void check_codes(ring *r, const uint16_t *code, int count, int32_t task)
{
    for (int p = 0; p < count; p++) {
        const int32_t slot = (code[p] & ~TRS_STRIP_LAST) - TRS_STRIP_LOCAL;
        assert_true(slot <= TRS_STRIP_HALO);
        if (slot >= 0 && slot < TRS_STRIP_HALO && !r->held[slot]) check_entry(r, slot, task);
        if (!(code[p] & TRS_STRIP_LAST)) continue;
        assert_true(slot >= 0 && slot < TRS_STRIP_HALO);
        r->held[slot] = false;
        r->last[slot] = task;
    }
}

static void check_halo(const trs_strips *s)
{
    for (const trs_row_tile *tile = s->tile; tile < s->tile + s->tiles; tile++) {
        ring r = {.s = s, .tile = tile};
        for (int32_t number = tile->packet; number < tile[1].packet; number++) {
            const trs_packet *p = &s->packet[number];
            for (int k = 0; k < p->tasks; k++)
                check_codes(&r, s->code + (p->ell + p->start[k]) * WARP,
                            (p->early[k] + p->late[k]) * WARP, p->task + k - tile->task);
        }
        assert_int_equal(r.read, tile[1].halo - tile->halo);
        for (int k = 0; k < TRS_STRIP_HALO; k++) assert_false(r.held[k]);
    }
}

/* ---- solves -------------------------------------------------------------------------------------------- */

/* Rows times powers of two so large and so small that they have to be scaled back; sign -1: as they were. */
static int power_of(int32_t row)
{
    return 600 * (row % 3 - 1);
}

static void scale_rows(trs_tri *t, int sign)
{
    double *val = t->val;
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
            val[p] = ldexp(val[p], sign * power_of(i));
}

static trs_levels levels_of(trs_context *ctx, const trs_tri *t)
{
    trs_levels lv;
    assert_int_equal(trs_level_rows(ctx, t, &lv), TRS_OK);
    return lv;
}

static void compare(trs_context *ctx, const trs_tri *t, int32_t rows, bool scaled)
{
    trs_levels lv = levels_of(ctx, t);
    trs_strips s;
    random_t r = {(uint64_t)rows};
    const size_t n = (size_t)t->n;
    assert_int_equal(trs_strips_make(ctx, t, &lv, rows, &s), TRS_OK);
    char *packed = malloc(trs_strips_bytes(&s, TRS_F64) + 1);
    double *b = malloc(n * sizeof *b + 1), *x = malloc(n * sizeof *x + 1);
    int16_t *power = malloc((size_t)s.tasks * WARP * sizeof *power + 1);
    assert_true(packed && b && x && power);
    assert_int_equal(reference_pack(ctx, &s, t, packed, power), scaled && n > 0);
    check_packets(&s, packed);
    check_halo(&s);
    for (size_t i = 0; i < n; i++) {
        b[i] = ldexp(1 + (double)(i % 7), scaled ? power_of((int32_t)i) : 0);
        x[i] = NAN;
    }
    reference_solve(&s, packed, power, b, x, &r);
    check_solved(t, b, x);
    free(packed);
    free(power);
    free(b);
    free(x);
    trs_strips_free(ctx, &s);
    trs_levels_free(ctx, &lv);
}

/* Lower and transposed, in row tiles of many sizes. */
static void compare_model(const model *m)
{
    static const int32_t rows[] = {1, 7, 33, 100, 1000, 100000};
    trs_context ctx = {.threads = 2};
    trs_tri t, u;
    model_triangles(&ctx, m, &t, &u);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        compare(&ctx, &t, rows[k], false);
        compare(&ctx, &u, rows[k], false);
        scale_rows(&t, 1);
        compare(&ctx, &t, rows[k], true);
        scale_rows(&t, -1);
    }
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
}

static void test_patterns(void **state)
{
    (void)state;
    for (int p = 0; p < PATTERNS; p++)
        for (int upper = 0; upper < 2; upper++) {
            random_t r = {(uint64_t)p};
            model m = model_new((pattern)p, upper, true, false, &r);
            compare_model(&m);
            model_free(&m);
        }
}

static void test_dags(void **state)
{
    (void)state;
    for (int k = 0; k < DAGS; k++) {
        random_t r = {(uint64_t)k};
        model m = model_of(&dags[k], 701, false, &r);
        compare_model(&m);
        model_free(&m);
    }
}

/* A grid in three dimensions: most x are halo x, and each is read several times. */
static void test_grid(void **state)
{
    enum { SIDE = 24 };
    (void)state;
    model m = {.n = SIDE * SIDE * SIDE};
    for (int i = 0; i < m.n; i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 13; k++) { /* the neighbours before it */
            const int d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            bool inside = true;
            for (int c = 0; c < 3; c++) inside = inside && at[c] + d[c] >= 0 && at[c] + d[c] < SIDE;
            if (inside) model_add(&m, i, i + d[0] + SIDE * (d[1] + SIDE * d[2]), -0.05);
        }
        model_add(&m, i, i, 2);
    }
    compare_model(&m);
    model_free(&m);
}

/* Rows of a few and of hundreds of entries anywhere: halo x are fetched again and again, and rows have more partial sums
 * than the window has tasks. */
static void test_hubs(void **state)
{
    (void)state;
    random_t r = {7};
    model m = {.n = 6000};
    for (int i = 0; i < m.n; i++) {
        const int count = i % 97 == 96 ? 250 : 3;
        for (int k = 0; k < count && k < i; k++) {
            const int from = i * k / count, to = i * (k + 1) / count;
            if (to > from) model_add(&m, i, from + random_below(&r, to - from), 0.5 / count);
        }
        model_add(&m, i, i, 2);
    }
    compare_model(&m);
    model_free(&m);
}

static model grid(int side)
{
    model m = {.n = side * side};
    for (int i = 0; i < m.n; i++) {
        if (i >= side) model_add(&m, i, i - side, -1);
        if (i % side) model_add(&m, i, i - 1, -1);
        model_add(&m, i, i, 4);
    }
    return m;
}

/* A row tile of a grid in 2D has some thirty rows of the grid; on a random triangle tiles are not worth it. */
static void test_rows(void **state)
{
    (void)state;
    trs_context ctx = {0};
    trs_tri t, u;
    trs_levels lv;
    model m = grid(300);
    model_triangles(&ctx, &m, &t, &u);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    assert_in_range(trs_strips_rows(&ctx, &t, &lv), 25 * 300, 40 * 300);
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
    random_t r = {1};
    m = model_new(RANDOM, false, false, false, &r);
    model_triangles(&ctx, &m, &t, &u);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    assert_int_equal(trs_strips_rows(&ctx, &t, &lv), 0);
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

static void assert_same(const trs_strips *a, const trs_strips *b)
{
    assert_int_equal(a->tiles, b->tiles);
    assert_int_equal(a->tasks, b->tasks);
    assert_int_equal(a->packets, b->packets);
    assert_int_equal(a->ells, b->ells);
    assert_int_equal(a->halo_entries, b->halo_entries);
    assert_memory_equal(a->tile, b->tile, ((size_t)a->tiles + 1) * sizeof *a->tile);
    assert_memory_equal(a->packet, b->packet, (size_t)a->packets * sizeof *a->packet);
    assert_memory_equal(a->halo, b->halo, (size_t)a->halo_entries * sizeof *a->halo);
    assert_memory_equal(a->row, b->row, (size_t)a->tasks * WARP * sizeof *a->row);
    assert_memory_equal(a->code, b->code, (size_t)a->ells * WARP * sizeof *a->code);
    assert_memory_equal(a->entry, b->entry, (size_t)a->ells * WARP * sizeof *a->entry);
}

/* The schedule does not depend on the number of threads; the triangle is so large that they share the work. */
static void test_threads(void **state)
{
    (void)state;
    static const int32_t rows[] = {1000, 9001, 100000};
    static const int threads[] = {2, 5};
    model m = grid(420);
    for (int k = 1; k < 420; k++) model_add(&m, m.n - 1, k * 400, 0.001);
    trs_context ctx = {.threads = 1};
    trs_tri t, u;
    trs_levels lv;
    trs_strips one, many;
    model_triangles(&ctx, &m, &t, &u);
    assert_in_range(t.nnz, TRS_SHARED_FROM, 10 * TRS_SHARED_FROM);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    for (size_t k = 0; k < 3; k++) {
        ctx.threads = 1;
        assert_int_equal(trs_strips_make(&ctx, &t, &lv, rows[k], &one), TRS_OK);
        for (size_t c = 0; c < 2; c++) {
            ctx.threads = threads[c];
            assert_int_equal(trs_strips_make(&ctx, &t, &lv, rows[k], &many), TRS_OK);
            assert_same(&one, &many);
            trs_strips_free(&ctx, &many);
        }
        trs_strips_free(&ctx, &one);
    }
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

/* Every allocation fails once, and all after it; nothing leaks. */
static void test_out_of_memory(void **state)
{
    (void)state;
    trs_context ctx = {0};
    trs_tri t, u;
    trs_levels lv;
    trs_strips s;
    model m = grid(40);
    model_triangles(&ctx, &m, &t, &u);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    counter memory = {0};
    trs_context poor = {.mem = counted_memory(&memory)};
    int rc = TRS_EMEM;
    for (long allowed = 0; rc == TRS_EMEM; allowed++) {
        assert_true(allowed < 1000);
        memory = (counter){.fail_at = allowed, .and_after = 1};
        rc = trs_strips_make(&poor, &t, &lv, 500, &s);
        if (!rc) trs_strips_free(&poor, &s);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(rc, TRS_OK);
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),      cmocka_unit_test(test_dags),
        cmocka_unit_test(test_grid),          cmocka_unit_test(test_hubs),
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
