/* reference.c: cuda-dataflow done sequentially: nodes and tasks as flow.h says, and a solve through them.
 * For clearness qsort stands for the radix sorts, and double complex for all four types. */
#include "reference.h"

enum { WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH, PARTIAL = TRS_FLOW_PARTIAL };

typedef struct ranked { /* sorted by rank, and within one by number */
    int64_t rank, number;
} ranked;

static int compare(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* ---- nodes, row by row ---------------------------------------------------------------------------------- */

typedef struct node {
    ranked by;   /* level and lanes; its number in the order of the rows */
    int32_t row; /* that it is, or is a partial sum of */
    int32_t partials, length, lanes;
    int64_t source;
} node;

/* The entries of row i by level, behind those that are in f->sorted; where they begin there. */
static int64_t sort_row(const trs_tri *t, const int32_t *level, int32_t i, trs_flow *f)
{
    const int64_t begin = f->sorted_count, count = t->ptr[i + 1] - t->ptr[i];
    ranked *e = zeroed(count, sizeof *e);
    for (int64_t k = 0; k < count; k++)
        e[k] = (ranked){level[t->idx[t->ptr[i] + k]], t->ptr[i] + k};
    qsort(e, (size_t)count, sizeof *e, compare);
    for (int64_t k = 0; k < count; k++) f->sorted[begin + k] = e[k].number;
    f->sorted_count += count;
    free(e);
    return begin;
}

/* The nodes of row i, partial sums first, from all[f->nodes] on. */
static void add_nodes(const trs_tri *t, const int32_t *level, int32_t i, trs_flow *f, node *all)
{
    const int64_t entries = t->ptr[i + 1] - t->ptr[i] - 1;
    const bool is_long = !f->wide && entries + 1 > WARP * BATCH;
    const int64_t begin = is_long ? sort_row(t, level, i, f) : t->ptr[i];
    const int32_t partials = entries > 2 * PARTIAL ? (int32_t)(entries / PARTIAL) - 1 : 0;
    for (int32_t k = 0; k <= partials; k++) {
        const int64_t from = begin + (int64_t)k * PARTIAL;
        node v = {.row = i, .lanes = 1, .source = is_long ? ~from : from};
        v.partials = k < partials ? 0 : partials;
        v.length = k < partials ? PARTIAL : (int32_t)(entries - k * PARTIAL) + partials;
        while (!f->wide && v.lanes < WARP && v.lanes * BATCH < v.length) v.lanes *= 2;
        int64_t l =
            2 * (int64_t)level[i]; /* of a partial sum: behind its last entry, which is latest */
        if (k < partials) l = 2 * (int64_t)level[t->idx[f->sorted[from + PARTIAL - 1]]] + 1;
        v.by = (ranked){l * (WARP + 1) + v.lanes, f->nodes};
        all[f->nodes++] = v;
    }
}

/* ---- the schedule --------------------------------------------------------------------------------------- */

int64_t reference_entry(const trs_flow *f, int32_t k, int64_t e)
{
    if (f->wide && e < f->ptr[k + 1] - f->ptr[k]) return f->source[k] + f->order[f->ptr[k] + e];
    return f->source[k] < 0 ? f->sorted[~f->source[k] + e] : f->source[k] + e;
}

/* The operands of row k of a wide triangle, sorted by place. */
static void put_sorted(trs_flow *f, const trs_tri *t, int32_t k, int64_t count,
                       const int32_t *row_place)
{
    ranked *e = zeroed(count, sizeof *e);
    for (int64_t q = 0; q < count; q++) e[q] = (ranked){row_place[t->idx[f->source[k] + q]], q};
    qsort(e, (size_t)count, sizeof *e, compare);
    for (int64_t q = 0; q < count; q++) {
        f->order[f->nnz] = (uint8_t)e[q].number;
        f->idx[f->nnz++] = (int32_t)e[q].rank;
    }
    free(e);
}

/* Node k, in the order of the schedule, with its operands; place [number], row_place [row] of the others. */
static void put_node(trs_flow *f, const trs_tri *t, const node *all, int32_t k,
                     const int32_t *place, const int32_t *row_place)
{
    const node *v = &all[k];
    const int64_t own = v->length - v->partials;
    f->row[k] = row_place[v->row] == k ? v->row : -1;
    f->partials[k] = v->partials, f->source[k] = v->source;
    for (int32_t q = 0; q < v->partials; q++)
        f->idx[f->nnz++] = place[v->by.number - v->partials + q];
    if (f->wide) put_sorted(f, t, k, own, row_place);
    for (int64_t e = 0; e < own && !f->wide; e++)
        f->idx[f->nnz++] = row_place[t->idx[reference_entry(f, k, e)]];
    f->ptr[k + 1] = f->nnz;
    const bool same = k > 0 && v->by.rank == all[k - 1].by.rank;
    if (same && (f->task[f->tasks - 1].count + 1) * v->lanes <= WARP) f->task[f->tasks - 1].count++;
    else f->task[f->tasks++] = (trs_flow_task){k, 1, (int16_t)v->lanes};
    const int64_t operands = f->nnz - f->ptr[f->task[f->tasks - 1].first];
    if (f->wide && f->most < operands) f->most = (int32_t)operands;
}

trs_flow reference_flow(const trs_tri *t, const int32_t *level, int32_t levels)
{
    const int64_t most = t->n + t->nnz / PARTIAL;
    trs_flow f = {.levels = levels, .sorted = zeroed(t->nnz, sizeof *f.sorted)};
    int64_t longest = 0;
    for (int32_t i = 0; i < t->n; i++)
        if (longest < t->ptr[i + 1] - t->ptr[i]) longest = t->ptr[i + 1] - t->ptr[i];
    f.wide = trs_flow_is_wide(t->n, levels, longest);
    f.order = zeroed(t->nnz, sizeof *f.order);
    node *all = zeroed(most, sizeof *all);
    int32_t *place = zeroed(most, sizeof *place), *row_place = zeroed(t->n, sizeof *row_place);
    for (int32_t i = 0; i < t->n; i++) add_nodes(t, level, i, &f, all);
    qsort(all, (size_t)f.nodes, sizeof *all, compare);
    for (int32_t k = 0; k < f.nodes; k++) place[all[k].by.number] = k;
    for (int32_t k = 0; k < f.nodes; k++) /* a row comes behind its partial sums */
        if (row_place[all[k].row] < k) row_place[all[k].row] = k;
    f.ptr = zeroed(f.nodes, sizeof *f.ptr), f.idx = zeroed(t->nnz + f.nodes, sizeof *f.idx);
    f.row = zeroed(f.nodes, sizeof *f.row), f.partials = zeroed(f.nodes, sizeof *f.partials);
    f.source = zeroed(f.nodes, sizeof *f.source), f.task = zeroed(f.nodes, sizeof *f.task);
    for (int32_t k = 0; k < f.nodes; k++) put_node(&f, t, all, k, place, row_place);
    free(all), free(place), free(row_place);
    return f;
}

void reference_free(trs_flow *f)
{
    free(f->ptr), free(f->idx), free(f->row), free(f->partials), free(f->source);
    free(f->sorted), free(f->task), free(f->order), free(f->within);
}

/* ---- a solve -------------------------------------------------------------------------------------------- */

/* y (k) in column r: each lane has every so many-th operand, and the sums of the lanes are added up by halving. */
static zz compute(const trs_flow *f, const trs_tri *t, int32_t k, int lanes, int nrhs, const zz *b,
                  const zz *y, int r)
{
    const int64_t first = f->ptr[k], i = f->row[k], own = first + f->partials[k];
    zz s[WARP] = {0};
    for (int64_t q = first; q < f->ptr[k + 1]; q++) {
        const int64_t p = q < own ? -1 : reference_entry(f, k, q - own);
        const zz a = p < 0 ? 1 : get_number(t->val, t->dtype, p);
        s[(q - first) % lanes] += a * y[(int64_t)f->idx[q] * nrhs + r];
    }
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) s[l] += s[l + half];
    return i < 0 ? s[0]
                 : (b[i * nrhs + r] - s[0]) / get_number(t->val, t->dtype, t->ptr[i + 1] - 1);
}

void reference_solve(const trs_flow *f, const trs_tri *t, int nrhs, const zz *b, zz *x)
{
    zz *y = zeroed((int64_t)f->nodes * nrhs, sizeof *y);
    for (const trs_flow_task *w = f->task; w < f->task + f->tasks; w++)
        for (int32_t k = w->first; k < w->first + w->count; k++)
            for (int r = 0; r < nrhs; r++) {
                const zz v = y[(int64_t)k * nrhs + r] = compute(f, t, k, w->lanes, nrhs, b, y, r);
                if (f->row[k] >= 0) x[(int64_t)f->row[k] * nrhs + r] = v;
            }
    free(y);
}
