/* t_supernodal.c: solving by the nodes, lists and tiles of cpu-supernodal, one after the other and number by number, gives
 * what substitution gives, and what the solver gives with one thread or more. */
#include "tests/common/dags.h"

#include "solvers/supernodal/supernodal.h"

#include <math.h>

enum { LANES = 8 }; /* of double */

/* ---- the reference ---------------------------------------------------------------------------------- */

/* Entry (row, column) of a tile. */
static double tile_entry(const double *tile, int row, int column)
{
    return tile[column * LANES + row];
}

/* t = D^-1 t; returns where the tiles of the list begin. */
static const double *diagonal(const node *k, const double *value, double *t)
{
    for (int j = 0; j < k->width; j += LANES) {
        const int columns = k->width - j < LANES ? k->width - j : LANES;
        const bool substituted = k->substituted >> (j / LANES) & 1;
        double y[LANES] = {0};
        for (int i = 0; i < columns; i++) {
            for (int c = 0; c < i; c++)
                y[i] += tile_entry(value, i, c) * (substituted ? -y[c] : t[j + c]);
            if (substituted) y[i] = (t[j + i] + y[i]) / tile_entry(value, i, i);
            else y[i] += tile_entry(value, i, i) * t[j + i];
        }
        memcpy(t + j, y, (size_t)columns * sizeof *t);
        value += LANES * columns;
        for (int i = j + LANES; i < k->width; i += LANES, value += LANES * columns)
            for (int r = 0; r < LANES && i + r < k->width; r++)
                for (int c = 0; c < columns; c++) t[i + r] -= tile_entry(value, r, c) * t[j + c];
    }
    return value;
}

/* x (list) -= B x_s, or t -= B^T x (list). */
static void product(const supernodal *d, const node *k, const double *tile, double *t, double *x)
{
    for (int e = 0; e < k->rows; e++)
        for (int c = 0; c < k->width; c++) {
            const int64_t at = (int64_t)(e / LANES) * LANES * k->width;
            const int32_t number = d->list[k->list + e];
            const double a = tile_entry(tile + at, e % LANES, c);
            if (d->gather) t[c] -= a * x[number];
            else x[e < k->own ? number : d->top[number]] -= a * t[c];
        }
}

static void supernode(const supernodal *d, const node *k, double *x)
{
    const double *value = (const double *)d->value + k->value;
    double t[WIDTH];
    for (int i = 0; i < k->width; i++) t[i] = x[in_memory(d, k->first + i)];
    if (d->gather) product(d, k, value + diagonal_numbers(k->width, LANES), t, x);
    const double *tile = diagonal(k, value, t);
    if (!d->gather) product(d, k, tile, t, x);
    for (int i = 0; i < k->width; i++) x[in_memory(d, k->first + i)] = t[i];
}

static void sparse_leaf(const supernodal *d, const node *k, double *x)
{
    const double *value = (const double *)d->value + k->value;
    const uint16_t *column = d->column + k->entry;
    for (int i = 0; i < k->width + k->rows; i++) {
        const int e = i - k->width;
        int32_t row = in_memory(d, k->first + i);
        if (e >= 0) row = d->list[k->list + e];
        if (e >= k->own) row = d->top[row];
        for (int p = 0; p < d->count[k->count + i]; p++)
            x[row] -= *value++ * x[in_memory(d, k->first + *column++)];
        if (e < 0 && k->substituted) x[row] /= *value++;
        else if (e < 0) x[row] *= *value++;
    }
}

/* A leaf by gather: rows of L. */
static void plain_leaf(const supernodal *d, const trs_tri *L, const node *k, double *x)
{
    const double *Lx = L->val;
    for (int i = k->first; i < k->first + k->width; i++) {
        double *to = &x[in_memory(d, i)];
        int64_t p = L->ptr[i];
        for (; p < L->ptr[i + 1] - 1; p++) *to -= Lx[p] * x[in_memory(d, L->idx[p])];
        *to /= Lx[p];
    }
}

static void reference(const supernodal *d, const trs_tri *L, double *x)
{
    for (int q = 0; q < d->nodes; q++) {
        const node *k = &d->node[q];
        if (!k->leaf) supernode(d, k, x);
        else if (d->gather) plain_leaf(d, L, k, x);
        else sparse_leaf(d, k, x);
    }
}

/* ---- the structure ----------------------------------------------------------------------------------- */

static int gathers, scatters, tops, substituted; /* so far */
static int shared
    [2]; /* by scatter, by gather: pairs of nodes of the top, one after the other, that are shared */

/* Every row is in one node, nodes are in order, and workers' nodes together are all of them. */
static void check_nodes(const supernodal *d)
{
    int32_t row = 0;
    for (int q = 0; q < d->nodes; q++) {
        const node *k = &d->node[q];
        assert_int_equal(k->first, row);
        assert_true(k->width > 0 && (k->leaf || k->width <= WIDTH));
        assert_in_range(k->shares, 1, d->workers);
        substituted += !k->leaf && k->substituted;
        row += k->width;
    }
    assert_int_equal(row, d->n);
    assert_int_equal(d->begin[0], 0);
    assert_int_equal(d->begin[d->workers + 1], d->nodes);
    for (int32_t q = d->begin[d->workers] + 1; q < d->nodes; q++)
        shared[d->gather] += d->node[d->order[q - 1]].shares > 1 && d->node[d->order[q]].shares > 1;
}

static void compare(trs_operator *op, int threads)
{
    const int n = op->tri.n;
    trs_instance inst;
    double *b = malloc((size_t)n * sizeof *b + 1), *x = malloc((size_t)n * sizeof *x + 1),
           *y = malloc((size_t)n * sizeof *y + 1);
    op->ctx->threads = threads;
    assert_true(b && x && y);
    assert_int_equal(trs_instance_build(&inst, op, &trs_solver_cpu_supernodal), TRS_OK);
    assert_int_equal(trs_instance_update(&inst, NULL), TRS_OK);
    const supernodal *d = inst.data;
    check_nodes(d);
    gathers += d->gather, scatters += !d->gather, tops += d->tops > 0;
    for (int i = 0; i < n; i++) x[i] = b[i] = 1 + i % 7;
    reference(d, &op->tri, x);
    check_solved(&op->tri, b, x);
    trs_instance_work work;
    assert_int_equal(trs_instance_work_create(&inst, op->ctx, 1, &work), TRS_OK);
    for (int team = 1; team <= 5; team += 2) {
        const trs_job job = {1, {b, 1, n}, {y, 1, n}, false, team, NULL, work.p, 0};
        assert_int_equal(inst.solver->solve(&inst, &job), TRS_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-12 * (fabs(x[i]) + 1));
    }
    trs_instance_work_destroy(op->ctx, &work);
    trs_instance_release(&inst);
    trs_operator_forget(op);
    free(b);
    free(x);
    free(y);
}

static void compare_model(const model *m)
{
    trs_context ctx = {.nrhs = 1};
    trs_tri t[2];
    model_triangles(&ctx, m, &t[0], &t[1]);
    for (int k = 0; k < 2; k++) {
        trs_operator op = {0};
        trs_operator_from_host(&op, &ctx, &t[k]);
        compare(&op, 1);
        compare(&op, 3);
        trs_operator_free(&op);
    }
}

/* ---- triangles ---------------------------------------------------------------------------------------- */

/* The top has several nodes in a row that are large enough to be shared. */
enum { BLOCK = 1000, TOP = 500 };

/* One supernode: columns j .. end-1 with all rows down to next, and two of three rows of the top.  Grown ones have
 * inverses that lose digits. */
static void add_supernode(model *m, int j, int end, int next, bool grown)
{
    const int top = m->n - TOP;
    for (int c = j; c < end; c++) {
        model_add(m, c, c, 2);
        for (int i = c + 1; i < next; i++)
            model_add(m, i, c, grown && i < end ? -8 : 0.01 + 1e-5 * ((i + c) % 7));
        for (int i = next > top ? next : top; i < m->n; i++)
            if (i % 3) model_add(m, i, c, 1e-3 + 1e-5 * ((i + c) % 5));
    }
}

/* As factors are: blocks of columns that do not know of one another, and a dense top. */
static model factor(int blocks, random_t *r)
{
    const int top = blocks * BLOCK;
    model m = {.n = top + TOP};
    for (int j = 0, end; j < top; j = end) {
        const int block_end = j / BLOCK * BLOCK + BLOCK;
        const bool grown = random_below(r, 20) == 0;
        const int most = random_below(r, 6) ? 12 : 90;
        end = j + (grown ? 10 : 1 + random_below(r, most));
        if (end > block_end) end = block_end;
        const int next = end + random_below(r, 30);
        add_supernode(&m, j, end, next < block_end ? next : block_end, grown);
    }
    add_supernode(&m, top, m.n, m.n, false);
    return m;
}

static void test_factor(void **state)
{
    (void)state;
    random_t r = {5};
    model m = factor(6, &r);
    assert_true(m.nnz > TRS_SHARED_FROM);
    tops = 0;
    compare_model(&m);
    assert_true(gathers > 0 && scatters > 0 && tops > 0 && substituted > 0);
    assert_true(shared[0] > 0 && shared[1] > 0);
    model_free(&m);
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
    for (int k = 0; k < DAGS; k++) {
        random_t r = {(uint64_t)k};
        model m = model_of(&dags[k], 2003, false, &r);
        compare_model(&m);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_factor),
                                       cmocka_unit_test(test_patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
