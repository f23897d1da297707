/* t_supernodes.c: blocks, stages and tasks hold every entry once, and solving by them in the order of the
 * tasks, one after the other, gives what substitution gives. */
#include "tests/common/counter.h"
#include "tests/common/dags.h"

#include <math.h>

static double entry(const trs_tri *t, int32_t i, int32_t j)
{
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
        if (t->idx[p] == j) return ((const double *)t->val)[p];
    return 0;
}

/* sum [i] += stage * x; every x must be there. */
static void add_stage(const trs_tri *t, const trs_supernodes *s, const trs_stage *g,
                      const double *x, double *sum)
{
    const trs_block *k = &s->block[g->block];
    for (int i = 0; i < k->rows; i++)
        for (int c = 0; c < g->columns && g->rows >> i & 1; c++) {
            const int32_t j = s->column[g->first + c];
            assert_true(j < k->first);
            assert_true(!isnan(x[j]));
            sum[i] += entry(t, k->first + i, j) * x[j];
        }
}

static void add_pieces(const trs_block *k, const double *piece, double *sum)
{
    for (int p = k->piece; p < k->piece + k->pieces; p++)
        for (int i = 0; i < k->rows; i++) {
            assert_true(!isnan(piece[p * TRS_BLOCK + i]));
            sum[i] += piece[p * TRS_BLOCK + i];
        }
}

/* Of a block of a panel: its rows of D and S, of which the blocks before and the latest ones are. */
static void check_panel(const trs_supernodes *s, int32_t n, const double *piece)
{
    const trs_block *k = &s->block[n];
    const trs_stage *g = &s->stage[k->stage];
    assert_in_range(k->members, 2, TRS_PANEL);
    assert_in_range(k->stages, k->member + 1, k->member + 1 + TRS_LATEST);
    assert_int_equal(k->diagonal, k->stage + k->member);
    for (int32_t u = 0; u <= k->member; u++, g++) {
        const trs_block *of = &s->block[n - k->member + u];
        assert_int_equal(of->member, u);
        assert_int_equal(of->members, k->members);
        if (u < k->member) assert_int_equal(of->first + of->rows, of[1].first);
        assert_int_equal(g->columns, of->rows);
        assert_int_equal(s->column[g->first], of->first);
        assert_int_equal(s->column[g->first + g->columns - 1], of->first + of->rows - 1);
        assert_true(!isnan(piece[(size_t)(of->piece + of->pieces) * TRS_BLOCK]));
    }
    const trs_block *other = &s->block[n - k->member];
    const trs_stage *f = &s->stage[other->diagonal + 1];
    for (; g < &s->stage[k->stage + k->stages]; g++, f++) {
        assert_int_equal(__builtin_popcountll(g->rows), k->rows);
        assert_int_equal(g->columns, f->columns); /* S has the same columns for all blocks */
        for (int c = 0; c < g->columns; c++)
            assert_int_equal(s->column[g->first + c], s->column[f->first + c]);
    }
}

/* b - sum, substituted through the diagonal block */
static void finish_block(const trs_tri *t, const trs_block *k, const double *b, const double *sum,
                         double *x)
{
    for (int i = 0; i < k->rows; i++) {
        const int32_t row = k->first + i;
        double v = b[row] - sum[i];
        assert_true(isnan(x[row]));
        for (int c = 0; c < i; c++) v -= entry(t, row, k->first + c) * x[k->first + c];
        x[row] = v / entry(t, row, row);
    }
}

static void run_block(const trs_tri *t, const trs_supernodes *s, int32_t n, const double *b,
                      const double *piece, double *x)
{
    const trs_block *k = &s->block[n];
    double sum[TRS_BLOCK] = {0};
    assert_in_range(k->diagonal, k->stage, k->stage + k->stages - 1);
    assert_int_equal(s->stage[k->diagonal].columns, k->rows);
    for (int g = k->stage; g < k->stage + k->stages; g++) {
        assert_int_equal(s->stage[g].block, n);
        if (g != k->diagonal) add_stage(t, s, &s->stage[g], x, sum);
    }
    if (k->members > 1) {
        const double *rest = piece + (k->piece + k->pieces) * TRS_BLOCK;
        check_panel(s, n, piece);
        for (int i = 0; i < k->rows; i++) sum[i] += b[k->first + i] - rest[i];
    } else add_pieces(k, piece, sum);
    finish_block(t, k, b, sum, x);
}

/* Here the first slice does what all slices of a block would do; done is a number that is made by it. */
static bool is_first_slice(const trs_block *k, int32_t slice, double done)
{
    assert_in_range(slice, 0, k->slices - 1);
    assert_true(k->slices == 1 || (k->slices - 1) * TRS_SLICE < k->rows);
    assert_true(k->slices == 1 || k->slices * TRS_SLICE >= k->rows);
    assert_true(isnan(done) == (slice == 0));
    return slice == 0;
}

/* The sum of a piece, or what is left of b after all pieces and stages. */
static void run_piece(const trs_tri *t, const trs_supernodes *s, const trs_task *task,
                      const double *b, double *piece, const double *x)
{
    const trs_block *k = &s->block[task->block];
    const bool rest = task->kind == TRS_TASK_REST;
    double *sum = piece + (rest ? k->piece + k->pieces : task->piece) * TRS_BLOCK;
    assert_true(task->stages <= TRS_STAGES);
    if (rest && !is_first_slice(k, task->piece, sum[0])) return;
    assert_true(isnan(sum[0]));
    memset(sum, 0, TRS_BLOCK * sizeof *sum);
    for (int g = task->stage; g < task->stage + task->stages; g++) {
        assert_true(s->stage[g].columns <= TRS_BLOCK);
        add_stage(t, s, &s->stage[g], x, sum);
    }
    if (!rest) return;
    assert_true(k->members > 1);
    add_pieces(k, piece, sum);
    for (int i = 0; i < k->rows; i++) sum[i] = b[k->first + i] - sum[i];
}

static int long_blocks; /* narrow ones that were met so far, of which each is alone in its bundle */

/* Values of block n that its diagonal block has not. */
static int64_t beside_diagonal(const trs_supernodes *s, int n)
{
    const trs_block *k = &s->block[n];
    int64_t values = 0;
    for (int g = k->stage; g < k->stage + k->stages; g++)
        if (g != k->diagonal)
            values += (int64_t)__builtin_popcountll(s->stage[g].rows) * s->stage[g].columns;
    return values;
}

static void run_task(const trs_tri *t, const trs_supernodes *s, const trs_task *task,
                     const double *b, double *piece, double *x)
{
    if (task->kind == TRS_TASK_PIECE || task->kind == TRS_TASK_REST) {
        run_piece(t, s, task, b, piece, x);
        return;
    }
    const trs_block *first = &s->block[task->block];
    if (task->kind == TRS_TASK_PANEL && !is_first_slice(first, task->piece, x[first->first]))
        return;
    for (int k = task->block; k < task->block + task->blocks; k++) {
        const bool is_wide = s->block[k].rows > TRS_NARROW;
        assert_int_equal(is_wide, task->kind != TRS_TASK_BUNDLE);
        assert_int_equal(s->block[k].members > 1, task->kind == TRS_TASK_PANEL);
        assert_true(!is_wide || s->block[k].stages <= TRS_STAGES);
        const bool is_long = !is_wide && beside_diagonal(s, k) > TRS_ALONE;
        assert_true(!is_long || task->blocks == 1);
        long_blocks += is_long;
        run_block(t, s, k, b, piece, x);
    }
}

/* No two stages share a number, and together they have room for all of the triangle. */
static void check_store(const trs_tri *t, const trs_supernodes *s)
{
    int64_t store = 0, room = 0;
    for (int g = 0; g < s->stages; g++) {
        const trs_stage *k = &s->stage[g];
        const int64_t rows = __builtin_popcountll(k->rows);
        assert_int_equal(k->place, store);
        assert_int_equal(k->place % 4, 0);
        store += rows * ((k->columns + 3) / 4 * 4);
        room += rows * k->columns;
    }
    assert_int_equal(store, s->store);
    assert_true(room >= t->nnz);
}

/* The level of a block: one after the latest that it waits for; pieces wait for no later one. */
static int level_of_block(const trs_supernodes *s, const trs_block *k)
{
    int level = 0;
    for (int g = k->stage; g < k->stage + k->stages; g++)
        if (s->stage[g].level + 1 > level) level = s->stage[g].level + 1;
    return level;
}

/* What the cost model is told of the levels, found level by level. */
static void check_levels(const trs_supernodes *s)
{
    int64_t rows = 0, wide = 0;
    for (int l = 0; l < s->height; l++) {
        int most_rows = 0, has_wide = 0;
        for (int t = 0; t < s->blocks; t++) {
            const trs_block *k = &s->block[t];
            if (level_of_block(s, k) != l) continue;
            if (k->rows > TRS_NARROW) has_wide = 1;
            else if (k->rows > most_rows) most_rows = k->rows;
        }
        rows += most_rows;
        wide += has_wide;
    }
    assert_int_equal(rows, s->narrow_rows);
    assert_int_equal(wide, s->wide_levels);
}

static void compare(trs_context *ctx, const trs_tri *t, trs_supernodes *s)
{
    double *b = malloc((size_t)t->n * sizeof *b + 1), *x = malloc((size_t)t->n * sizeof *x + 1);
    assert_int_equal(trs_supernodes_make(ctx, t, s), TRS_OK);
    check_store(t, s);
    check_levels(s);
    double *piece = malloc((size_t)s->pieces * TRS_BLOCK * sizeof *piece + 1);
    assert_true(b && x && piece);
    for (int i = 0; i < t->n; i++) b[i] = 1 + i % 7, x[i] = NAN;
    for (int i = 0; i < s->pieces * TRS_BLOCK; i++) piece[i] = NAN;
    for (int k = 0; k < s->tasks; k++) run_task(t, s, &s->task[k], b, piece, x);
    check_solved(t, b, x);
    free(b);
    free(x);
    free(piece);
}

/* Lower and upper as they are, and transposed. */
static void compare_model(const model *m, trs_supernodes *keep)
{
    trs_context ctx = {0};
    trs_tri t, u;
    trs_supernodes s;
    model_sides(&ctx, m, &t, &u);
    compare(&ctx, &u, &s);
    trs_supernodes_free(&ctx, &s);
    compare(&ctx, &t, &s);
    if (keep) *keep = s;
    trs_supernodes_free(&ctx, &s);
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
            compare_model(&m, NULL);
            model_free(&m);
        }
}

/* Among them blocks all of whose sources are of one level, and more than one task can take. */
static void test_dags(void **state)
{
    (void)state;
    long_blocks = 0;
    for (int k = 0; k < DAGS; k++) {
        random_t r = {(uint64_t)k};
        model m = model_of(&dags[k], 2003, false, &r);
        compare_model(&m, NULL);
        model_free(&m);
    }
    assert_true(long_blocks > 0);
}

static model full(int n)
{
    model m = {.n = n};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) model_add(&m, i, j, i == j ? 2 : 1.0 / (i + j));
    return m;
}

/* A full triangle is one supernode: n / 64 blocks, each with what is left of it in tiles of 64; panels of 4. */
static void test_full(void **state)
{
    (void)state;
    model m = full(2000);
    trs_supernodes s;
    compare_model(&m, &s);
    assert_int_equal(s.blocks, 32);
    assert_int_equal(s.height, 8);
    assert_int_equal(s.panels, 8);
    assert_int_equal(s.wide, 32);
    assert_int_equal(s.stages, 32 * 33 / 2);
    assert_true(s.pieces > 0);
    model_free(&m);
}

/* Blocks of 3 equal rows, as finite elements with three unknowns a node have. */
static void test_fused_rows(void **state)
{
    (void)state;
    model m = {.n = 300};
    for (int i = 0; i < m.n; i++) {
        const int node = i / 3;
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 3; k++)
                if (node >= 7 * d && 3 * (node - 7 * d) + k < i)
                    model_add(&m, i, 3 * (node - 7 * d) + k, 0.25);
        model_add(&m, i, i, 2);
    }
    trs_supernodes s;
    compare_model(&m, &s);
    assert_true(s.blocks <= 100);
    model_free(&m);
}

/* As factors are: supernodes of 1 to 90 columns, each with some later rows, often those of the one before. */
static model factor(int n, random_t *r)
{
    model m = {.n = n};
    char *row = calloc((size_t)n, 1);
    assert_non_null(row);
    for (int j = 0, end; j < n; j = end) {
        end = j + 1 + random_below(r, random_below(r, 6) ? 8 : 90);
        if (end > n) end = n;
        if (random_below(r, 4) == 0) memset(row, 0, (size_t)n);
        for (int k = random_below(r, 9); k > 0; k--) {
            const int from = end + random_below(r, n), length = 1 + random_below(r, 12);
            for (int i = from; i < n && i < from + length; i++) row[i] = 1;
        }
        for (int c = j; c < end; c++)
            for (int i = c; i < n; i++)
                if (i < end || row[i]) model_add(&m, i, c, i == c ? 2 : 0.01);
    }
    free(row);
    return m;
}

static void assert_same(const trs_supernodes *a, const trs_supernodes *b)
{
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->stages, b->stages);
    assert_int_equal(a->tasks, b->tasks);
    assert_int_equal(a->pieces, b->pieces);
    assert_int_equal(a->wide, b->wide);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->panels, b->panels);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->store, b->store);
    assert_memory_equal(a->block, b->block, (size_t)a->blocks * sizeof *a->block);
    assert_memory_equal(a->stage, b->stage, (size_t)a->stages * sizeof *a->stage);
    assert_memory_equal(a->column, b->column, (size_t)a->columns * sizeof *a->column);
    assert_memory_equal(a->task, b->task, (size_t)a->tasks * sizeof *a->task);
}

static void check_threads(const trs_tri *t)
{
    static const int threads[] = {1, 2, 5};
    trs_supernodes s[3];
    assert_true(t->nnz > TRS_SHARED_FROM);
    for (int k = 0; k < 3; k++) {
        trs_context ctx = {.threads = threads[k]};
        assert_int_equal(trs_supernodes_make(&ctx, t, &s[k]), TRS_OK);
        assert_same(&s[0], &s[k]);
    }
    for (int k = 0; k < 3; k++) trs_supernodes_free(&(trs_context){0}, &s[k]);
}

/* Whatever the number of threads, everything is at the same place. */
static void test_threads(void **state)
{
    (void)state;
    random_t r = {7};
    model m[] = {factor(16000, &r), full(1500)};
    for (int k = 0; k < 2; k++) {
        trs_context ctx = {0};
        trs_tri t, u;
        model_sides(&ctx, &m[k], &t, &u);
        check_threads(&t);
        check_threads(&u);
        trs_tri_free(&ctx, &t);
        trs_tri_free(&ctx, &u);
        model_free(&m[k]);
    }
}

static void test_factor(void **state)
{
    (void)state;
    random_t r = {3};
    model m = factor(2500, &r);
    compare_model(&m, NULL);
    model_free(&m);
}

/* Every allocation fails once; nothing leaks. */
static void test_out_of_memory(void **state)
{
    (void)state;
    random_t r = {1};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .dtype = TRS_F64};
    model m = full(1800);
    trs_context ctx = {0};
    trs_tri t;
    trs_supernodes s;
    trs_mat a = show(&m, &f, &r);
    assert_int_equal(trs_tri_import(&ctx, &a, &t), TRS_OK);
    counter memory = {0};
    trs_context poor = {.mem = counted_memory(&memory)};
    int rc = TRS_EMEM;
    for (long allowed = 0; rc == TRS_EMEM; allowed++) {
        assert_true(allowed < 1000);
        memory = (counter){.fail_at = allowed, .and_after = 1};
        rc = trs_supernodes_make(&poor, &t, &s);
        if (!rc) trs_supernodes_free(&poor, &s);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(rc, TRS_OK);
    trs_tri_free(&ctx, &t);
    mat_free(&a);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),      cmocka_unit_test(test_dags),
        cmocka_unit_test(test_full),          cmocka_unit_test(test_fused_rows),
        cmocka_unit_test(test_factor),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
