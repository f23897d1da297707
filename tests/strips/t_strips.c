/* t_strips.c: going through the strips as a consumer and fetchers do, with the slots of a strip, gives what
 * substitution gives; no slot is filled while its x is still wanted, and none is waited for in vain. */
#include "tests/common/counter.h"
#include "tests/common/dags.h"

#include "cuda/strips/strips.h"

#include <math.h>

enum { WARP = TRS_STRIP_WARP };

enum { TEAM = TRS_STRIP_TEAM };

typedef struct member { /* of the team */
    int32_t next;       /* task */
    int step;           /* of it: begin, early lines, late lines */
    double sum[WARP];
    uint16_t last[TRS_STRIP_EARLY * WARP]; /* codes of slots to be emptied */
    int lasts;
} member;

typedef struct machine { /* works on one strip */
    const trs_strips *s;
    const char *packed;
    const double *b;
    double *x, *y; /* y [32 tasks] */
    double slot[TRS_STRIP_SLOTS];
    int64_t items; /* of the strip; the next ones are fetched */
    bool *fetched; /* [items] */
    int32_t strip, first;
    member team[TEAM];
} machine;

static int32_t tasks_done(const machine *m)
{
    int32_t least = m->team[0].next;
    for (int k = 1; k < TEAM; k++) least = m->team[k].next < least ? m->team[k].next : least;
    return least;
}

/* Whatever can come does. */
static void fetch(machine *m)
{
    const int64_t first = m->s->strip[m->strip].item;
    const int32_t done = tasks_done(m);
    for (int64_t k = 0; k < m->items; k++) {
        const trs_item *i = &m->s->item[first + k];
        double *slot = &m->slot[TRS_STRIP_OWN + k % TRS_STRIP_FOREIGN];
        if (m->fetched[k] || i->gate > done || isnan(m->y[i->from])) continue;
        assert_true(isnan(*slot));
        *slot = m->y[i->from];
        m->fetched[k] = true;
    }
}

typedef struct lines { /* of a task, out of what the GPU has */
    int early, late;
    const double *val, *inv;
    const uint16_t *code;
    const int32_t *row;
} lines;

static lines find_lines(const machine *m, int32_t task)
{
    int64_t number = m->s->strip[m->strip].chunk;
    const trs_chunk *c = &m->s->chunk[number];
    for (; c->task + c->tasks <= task; c++) number++;
    const int k = task - c->task;
    assert_true(c->lines <= TRS_STRIP_LINES);
    assert_true(c->from[k] + c->early[k] + c->late[k] <= c->lines);
    assert_int_equal(c->from[k], k ? c->from[k - 1] + c->early[k - 1] + c->late[k - 1] : 0);
    const char *at = m->packed + 32 * (number + c->line * (8 + 2) + (int64_t)c->task * (8 + 4));
    assert_memory_equal(at, c, sizeof *c);
    const double *val = (const double *)(at + 32), *inv = val + c->lines * WARP;
    const int32_t *row = (const int32_t *)(inv + c->tasks * WARP);
    const uint16_t *code = (const uint16_t *)(row + c->tasks * WARP);
    return (lines){c->early[k],
                   c->late[k],
                   val + c->from[k] * WARP,
                   inv + k * WARP,
                   code + c->from[k] * WARP,
                   row + k * WARP};
}

static bool are_there(const machine *m, const lines *l, int from, int count)
{
    for (int p = from * WARP; p < (from + count) * WARP; p++)
        if (isnan(m->slot[l->code[p] & ~TRS_STRIP_LAST])) return false;
    return true;
}

static void add_lines(const machine *m, const lines *l, int from, int count, double *sum)
{
    for (int p = from * WARP; p < (from + count) * WARP; p++)
        sum[p % WARP] += l->val[p] * m->slot[l->code[p] & ~TRS_STRIP_LAST];
}

static void begin_task(machine *m, member *k)
{
    const int32_t past = k->next - TEAM - TRS_STRIP_REACH;
    for (int i = 0; past >= 0 && i < WARP; i++) m->slot[past * WARP % TRS_STRIP_OWN + i] = NAN;
    while (k->lasts > 0) m->slot[k->last[--k->lasts] & ~TRS_STRIP_LAST] = NAN;
    memset(k->sum, 0, sizeof k->sum);
}

static void end_task(machine *m, member *k, const lines *l)
{
    for (int i = 0; i < WARP; i++) {
        const int64_t p = ((int64_t)m->first + k->next) * WARP + i;
        const int32_t row = l->row[i];
        const double b = row < 0 ? 0 : ldexp(m->b[row], m->s->power[p]);
        const double x = (b - k->sum[i]) * l->inv[i];
        double *own = &m->slot[k->next * WARP % TRS_STRIP_OWN + i];
        assert_true(isnan(*own));
        *own = x;
        if (row < 0) continue;
        assert_true(isnan(m->x[row]));
        m->x[row] = m->y[p] = x;
    }
    assert_true(l->early <= TRS_STRIP_EARLY);
    for (int p = 0; p < (l->early + l->late) * WARP; p++)
        if (l->code[p] & TRS_STRIP_LAST) {
            assert_true(p < l->early * WARP);
            k->last[k->lasts++] = l->code[p];
        }
}

/* Go one step on, if that is possible. */
static bool step(machine *m, member *k, int32_t tasks)
{
    if (k->next >= tasks) return false;
    const lines l = find_lines(m, m->first + k->next);
    if (k->step == 0) {
        if (tasks_done(m) < k->next - TEAM + 1) return false;
        begin_task(m, k);
    } else if (k->step == 1) {
        if (!are_there(m, &l, 0, l.early)) return false;
        add_lines(m, &l, 0, l.early, k->sum);
    } else {
        if (!are_there(m, &l, l.early, l.late)) return false;
        add_lines(m, &l, l.early, l.late, k->sum);
        end_task(m, k, &l);
        k->next += TEAM;
    }
    k->step = (k->step + 1) % 3;
    return true;
}

/* One of the team is slow: it goes on only when nobody else can. */
static void run_strip(machine *m, random_t *r)
{
    const trs_strip *begin = &m->s->strip[m->strip], *end = begin + 1;
    const int32_t tasks = end->task - begin->task;
    m->first = begin->task;
    m->items = end->item - begin->item;
    m->fetched = calloc((size_t)m->items + 1, sizeof *m->fetched);
    assert_non_null(m->fetched);
    for (int k = 0; k < TEAM; k++) m->team[k] = (member){.next = k};
    for (int k = 0; k < TRS_STRIP_ZERO; k++) m->slot[k] = NAN;
    m->slot[TRS_STRIP_ZERO] = 0;
    while (tasks_done(m) < tasks) {
        const int slow = random_below(r, TEAM);
        for (int turns = random_below(r, 100); turns >= 0 && tasks_done(m) < tasks; turns--) {
            bool moved = false;
            fetch(m);
            for (int k = 1; k < TEAM; k++)
                moved = step(m, &m->team[(slow + k) % TEAM], tasks) || moved;
            assert_true(moved || step(m, &m->team[slow], tasks)); /* or it hangs */
        }
    }
    free(m->fetched);
}

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

static void compare(trs_context *ctx, const trs_tri *t, int32_t rows, bool scaled)
{
    trs_levels lv;
    trs_strips s;
    assert_int_equal(trs_level_rows(ctx, t, &lv), TRS_OK);
    assert_int_equal(trs_strips_make(ctx, t, &lv, rows, &s), TRS_OK);
    const size_t n = (size_t)t->n, places = (size_t)s.tasks * WARP;
    char *packed = malloc(trs_strips_bytes(&s, TRS_F64) + 1);
    double *y = malloc(places * sizeof *y + 1);
    double *b = malloc(n * sizeof *b + 1), *x = malloc(n * sizeof *x + 1);
    assert_true(packed && y && b && x);
    assert_int_equal(trs_strips_pack(ctx, &s, t, packed), scaled && n > 0);
    for (size_t i = 0; i < n; i++) {
        b[i] = ldexp(1 + (double)(i % 7), scaled ? power_of((int32_t)i) : 0);
        x[i] = NAN;
    }
    for (size_t p = 0; p < places; p++) y[p] = NAN;
    machine m = {.s = &s, .packed = packed, .b = b, .x = x, .y = y};
    random_t r = {(uint64_t)rows};
    for (m.strip = 0; m.strip < s.count; m.strip++) run_strip(&m, &r);
    check_solved(t, b, x);
    free(packed);
    free(y);
    free(b);
    free(x);
    trs_strips_free(ctx, &s);
    trs_levels_free(ctx, &lv);
}

/* Lower and transposed, in strips of many sizes. */
static void compare_model(const model *m)
{
    static const int32_t rows[] = {1, 7, 33, 100, 1000, 100000};
    trs_context ctx = {.threads = 2};
    trs_tri t, u;
    model_sides(&ctx, m, &t, &u);
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

/* A grid in three dimensions: most x are foreign, and each is read several times. */
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

/* Rows of a few and of hundreds of entries anywhere: items are fetched again and again, and rows are cut into
 * more pieces than a task reaches back. */
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

/* A strip of a grid in 2D has some thirty of its lines; anywhere else strips are no good. */
static void test_rows(void **state)
{
    (void)state;
    trs_context ctx = {0};
    trs_tri t, u;
    trs_levels lv;
    model m = grid(300);
    model_sides(&ctx, &m, &t, &u);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    assert_in_range(trs_strips_rows(&ctx, &t, &lv), 25 * 300, 40 * 300);
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
    random_t r = {1};
    m = model_new(RANDOM, false, false, false, &r);
    model_sides(&ctx, &m, &t, &u);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    assert_int_equal(trs_strips_rows(&ctx, &t, &lv), 0);
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(&m);
}

static void assert_same_strips(const trs_strips *a, const trs_strips *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->tasks, b->tasks);
    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->items, b->items);
    assert_memory_equal(a->strip, b->strip, ((size_t)a->count + 1) * sizeof *a->strip);
    assert_memory_equal(a->chunk, b->chunk, (size_t)a->chunks * sizeof *a->chunk);
    assert_memory_equal(a->item, b->item, (size_t)a->items * sizeof *a->item);
    assert_memory_equal(a->row, b->row, (size_t)a->tasks * WARP * sizeof *a->row);
    assert_memory_equal(a->code, b->code, (size_t)a->lines * WARP * sizeof *a->code);
    assert_memory_equal(a->entry, b->entry, (size_t)a->lines * WARP * sizeof *a->entry);
}

/* Whatever the number of threads, the strips are the same; so large that they do share. */
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
    model_sides(&ctx, &m, &t, &u);
    assert_in_range(t.nnz, TRS_SHARED_FROM, 10 * TRS_SHARED_FROM);
    assert_int_equal(trs_level_rows(&ctx, &t, &lv), TRS_OK);
    for (size_t k = 0; k < 3; k++) {
        ctx.threads = 1;
        assert_int_equal(trs_strips_make(&ctx, &t, &lv, rows[k], &one), TRS_OK);
        for (size_t c = 0; c < 2; c++) {
            ctx.threads = threads[c];
            assert_int_equal(trs_strips_make(&ctx, &t, &lv, rows[k], &many), TRS_OK);
            assert_same_strips(&one, &many);
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
    model_sides(&ctx, &m, &t, &u);
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
