/* cut.cu: cuts a triangle by rows, on the host, and makes a flow of each part on its device.
 *
 * Parts are consecutive rows with about as many entries each.  The pattern of a part, in the numbers of its own rows:
 *
 *        row             0 .. ghosts-1                      ghosts .. ghosts + rows - 1
 *        is              a row of an earlier part           begin + 0, begin + 1, ...
 *        entries         a diagonal of 1                    its own; columns of earlier parts are ghosts
 *        level           that in the whole triangle, so that operands are sorted by the time at which they arrive
 *
 * Each device gets its part only.  On the host this takes 16 bytes a row and 4 an entry of the largest part; the values are
 * not copied there. */
#include "config.h"

#include "parts.cuh"

#include <algorithm>
#include <climits>

struct cutting {
    trs_context *ctx;
    const trs_tri *L;
    int32_t levels;
    int32_t *level;                   /* [n] of each row */
    int32_t *number;                  /* [n] of a ghost of the part in hand; else NONE, or SEEN */
    int32_t *ghost[TRS_MOST_DEVICES]; /* [ghosts] of each part: the rows, ascending */
    int32_t *node[TRS_MOST_DEVICES];  /* [ghosts] their nodes */
};

enum { NONE = -1, SEEN = -2 };

/* ---- where to cut ----------------------------------------------------------------------------------------------- */

/* The first row of part p: about p parts of the entries are before it. */
static int32_t first_row(const trs_tri *L, int p, int parts)
{
    const int64_t before = L->nnz / parts * p + L->nnz % parts * p / parts;
    if (p == parts) return L->n;
    return (int32_t)(std::lower_bound(L->ptr, L->ptr + L->n, before) - L->ptr);
}

static void place_parts(const trs_context *ctx, const trs_tri *L, peers_data *d)
{
    d->parts = ctx->device_count;
    for (int p = 0; p < d->parts; p++) {
        peer_part *part = &d->part[p];
        const int32_t end = first_row(L, p + 1, d->parts);
        part->ctx = *ctx;
        part->ctx.device = ctx->devices[p];
        part->ctx.ring = NULL;
        part->ctx.scratch = NULL;
        part->ctx.scratch_bytes = 0;
        part->home = p > 0 && ctx->devices[p - 1] == ctx->devices[p] ? d->part[p - 1].home : p;
        part->begin = first_row(L, p, d->parts);
        part->rows = end - part->begin;
        part->first = L->ptr[part->begin];
        part->entries = L->ptr[end] - part->first;
        TRS_ASSERT(part->rows >= 0);
    }
}

/* ---- the pattern of a part --------------------------------------------------------------------------------------- */

/* Finds the ghosts of part p, and numbers them. */
static int find_ghosts(cutting *c, peers_data *d, int p)
{
    peer_part *part = &d->part[p];
    const int32_t *idx = c->L->idx + part->first;
    for (int64_t e = 0; e < part->entries; e++) {
        if (idx[e] >= part->begin || c->number[idx[e]] != NONE) continue;
        c->number[idx[e]] = SEEN;
        part->ghosts++;
    }
    c->ghost[p] = (int32_t *)trs_new(c->ctx, part->ghosts, sizeof(int32_t), "rows of other parts");
    c->node[p] = (int32_t *)trs_new(c->ctx, part->ghosts, sizeof(int32_t), "rows of other parts");
    if (!c->ghost[p] || !c->node[p]) return TRS_EMEM;
    for (int32_t i = 0, g = 0; g < part->ghosts; i++) {
        if (c->number[i] != SEEN) continue;
        c->number[i] = g;
        c->ghost[p][g++] = i;
    }
    return TRS_OK;
}

struct local_pattern {
    int64_t *ptr;
    int32_t *idx, *level;
};

static void fill_pattern(const cutting *c, peer_part *part, const int32_t *ghost, local_pattern t)
{
    const trs_tri *L = c->L;
    const int32_t G = part->ghosts;
    int32_t lowest = INT32_MAX, highest = -1;
    for (int32_t g = 0; g < G; g++) {
        t.ptr[g] = t.idx[g] = g;
        t.level[g] = c->level[ghost[g]];
    }
    for (int32_t i = 0; i < part->rows; i++) {
        t.ptr[G + i] = G + L->ptr[part->begin + i] - part->first;
        t.level[G + i] = c->level[part->begin + i];
        lowest = std::min(lowest, t.level[G + i]);
        highest = std::max(highest, t.level[G + i]);
    }
    t.ptr[G + part->rows] = G + part->entries;
    for (int64_t e = 0; e < part->entries; e++) {
        const int32_t col = L->idx[part->first + e];
        t.idx[G + e] = col < part->begin ? c->number[col] : G + col - part->begin;
    }
    part->levels = highest - lowest + 1;
}

static __global__ void row_node_kernel(const trs_flow f, int32_t *row_node)
{
    const int32_t k = index32_of_thread();
    if (k < f.nodes) row_node[f.row[k]] = k;
}

static int new_arrays(peer_part *part, trs_dtype dtype)
{
    const trs_flow *f = &part->flow;
    const int64_t size = (int64_t)trs_size(dtype);
    const int64_t beyond = 3 * size; /* the kernel copies entries by four */
    part->memory = carve_new(&part->ctx, "a part of a triangle", [&](carver &carve) {
        carve(part->val, f->nnz * size + beyond);
        carve(part->inv, f->nodes * size);
        carve(part->row_node, f->nodes);
    });
    return part->memory ? TRS_OK : TRS_EMEM;
}

/* The flow of part p from its pattern on the host; c->node[p] */
static int make_flow(const cutting *c, peers_data *d, int p, local_pattern t)
{
    peer_part *part = &d->part[p];
    trs_context *ctx = &part->ctx;
    const int32_t n = part->ghosts + part->rows;
    const int64_t nnz = part->ghosts + part->entries;
    int64_t *ptr = device_copy(ctx, t.ptr, n + (int64_t)1, "a part of a triangle");
    int32_t *idx = ptr ? device_copy(ctx, t.idx, nnz, "a part of a triangle") : NULL;
    int32_t *level = idx ? device_copy(ctx, t.level, n, "a part of a triangle") : NULL;
    int rc = level ? TRS_OK : TRS_EMEM;
    const trs_pattern pattern = {n, c->levels, nnz, ptr, idx, level, PEERS_LONGEST, true};
    if (!rc) rc = trs_flow_make(ctx, &pattern, &part->flow);
    trs_gpu_drop_scratch(ctx);
    if (!rc) rc = new_arrays(part, d->dtype);
    if (!rc) {
        row_node_kernel<<<blocks_of(n), PLAIN>>>(part->flow, part->row_node);
        rc = launched();
    }
    if (!rc && part->ghosts > 0)
        rc = trs_gpu_get(ctx, c->node[p], part->row_node, (size_t)part->ghosts * sizeof(int32_t));
    const int waited = trs_gpu_wait(NULL); /* before the pattern is freed */
    device_free(ctx, ptr, idx, level);
    if (!rc) rc = waited;
    return rc ? rc : part_new(part, d->dtype);
}

static int copy_nodes(peers_data *d, int p)
{
    peer_part *part = &d->part[p];
    trs_context *first = &d->part[0].ctx;
    int rc = part->home == 0 ? TRS_OK : trs_gpu_use(first);
    if (rc || part->home == 0) return rc;
    part->mirror_node = device_new<int32_t>(first, part->rows, "rows of another device");
    if (!part->mirror_node) return TRS_EMEM;
    return cuda_status(cudaMemcpy(part->mirror_node, part->row_node + part->ghosts,
                                  (size_t)part->rows * sizeof(int32_t), cudaMemcpyDefault),
                       "rows of another device");
}

static int make_part(cutting *c, peers_data *d, int p)
{
    peer_part *part = &d->part[p];
    trs_context *ctx = c->ctx;
    int rc = trs_gpu_use(&part->ctx);
    if (!rc) rc = find_ghosts(c, d, p);
    if (rc) return rc;
    const int64_t n = (int64_t)part->ghosts + part->rows, nnz = part->ghosts + part->entries;
    if (n > INT32_MAX - 64) return trs_fail(TRS_ESUPPORT, "a part has too many rows for 32 bits");
    local_pattern t;
    t.ptr = (int64_t *)trs_new(ctx, n + 1, sizeof *t.ptr, "a part of a triangle");
    t.idx = (int32_t *)trs_new(ctx, nnz, sizeof *t.idx, "a part of a triangle");
    t.level = (int32_t *)trs_new(ctx, n, sizeof *t.level, "a part of a triangle");
    rc = t.ptr && t.idx && t.level ? TRS_OK : TRS_EMEM;
    if (!rc) fill_pattern(c, part, c->ghost[p], t);
    if (!rc) rc = make_flow(c, d, p, t);
    if (!rc) rc = copy_nodes(d, p);
    for (int32_t g = 0; g < part->ghosts; g++) c->number[c->ghost[p][g]] = NONE;
    trs_free(&ctx->mem, t.ptr);
    trs_free(&ctx->mem, t.idx);
    trs_free(&ctx->mem, t.level);
    return rc;
}

/* ---- what a part sends ---------------------------------------------------------------------------------------------- */

/* push (k) = where the list of the row of node k begins; first [rows]: the same by rows */
static __global__ void push_kernel(const trs_flow f, int32_t ghosts, const int32_t *first,
                                   int32_t *push)
{
    const int32_t k = index32_of_thread();
    if (k < f.nodes) push[k] = f.row[k] >= ghosts ? first[f.row[k] - ghosts] : NONE;
}

/* Calls f (row, q, node) for each row of part p that part q needs, counted within part p; q ascends for each row. */
template <class F> static void for_sent(const cutting *c, const peers_data *d, int p, F f)
{
    const int32_t begin = d->part[p].begin, end = begin + d->part[p].rows;
    for (int q = p + 1; q < d->parts; q++) {
        const int32_t *ghost = c->ghost[q], *last = ghost + d->part[q].ghosts;
        const int32_t *g = std::lower_bound(ghost, last, begin);
        for (; g < last && *g < end; g++) f(*g - begin, q, c->node[q][g - ghost]);
    }
}

/* at [rows+1], all 0: where the list of each row begins; then where it ends, and target [targets] */
static void fill_targets(const cutting *c, const peers_data *d, int p, int32_t *at,
                         peer_target *target)
{
    const int32_t rows = d->part[p].rows;
    for_sent(c, d, p, [&](int32_t i, int, int32_t) { at[i + 1]++; });
    for (int32_t i = 0; i < rows; i++) at[i + 1] += at[i];
    for_sent(c, d, p, [&](int32_t i, int q, int32_t node) { target[at[i]++] = {q, node}; });
    for (int32_t i = rows; i > 0; i--) at[i] = at[i - 1]; /* where they begin, again */
    at[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
        if (at[i] == at[i + 1]) at[i] = NONE;
        else target[at[i + 1] - 1].part = ~target[at[i + 1] - 1].part;
    }
}

/* The lists on the device: first [rows], target [targets] on the host. */
static int put_targets(peer_part *part, const int32_t *first, const peer_target *target,
                       int64_t targets)
{
    trs_context *ctx = &part->ctx;
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    part->target = device_copy(ctx, target, targets, "rows that are sent");
    part->push = device_new<int32_t>(ctx, part->flow.nodes, "rows that are sent");
    int32_t *there = device_copy(ctx, first, part->rows, "rows that are sent");
    rc = part->target && part->push && there ? TRS_OK : TRS_EMEM;
    if (!rc) {
        push_kernel<<<blocks_of(part->flow.nodes), PLAIN>>>(part->flow, part->ghosts, there,
                                                            part->push);
        rc = launched();
    }
    const int waited = trs_gpu_wait(NULL);
    trs_gpu_free(ctx, there);
    return rc ? rc : waited;
}

static int make_targets(const cutting *c, peers_data *d, int p)
{
    peer_part *part = &d->part[p];
    int64_t targets = 0;
    for_sent(c, d, p, [&](int32_t, int, int32_t) { targets++; });
    if (targets == 0) return TRS_OK;
    if (targets > INT32_MAX) return trs_fail(TRS_ESUPPORT, "a part sends too many numbers");
    const int64_t rows = part->rows;
    int32_t *at = (int32_t *)trs_new(c->ctx, rows + 1, sizeof *at, "rows that are sent");
    peer_target *target =
        (peer_target *)trs_new(c->ctx, targets, sizeof *target, "rows that are sent");
    int rc = at && target ? TRS_OK : TRS_EMEM;
    if (!rc) {
        std::fill(at, at + rows + 1, 0);
        fill_targets(c, d, p, at, target);
        rc = put_targets(part, at, target, targets);
    }
    trs_free(&c->ctx->mem, at);
    trs_free(&c->ctx->mem, target);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

static void fill_levels(const trs_levels *lv, int32_t *level)
{
    for (int32_t l = 0; l < lv->count; l++)
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) level[lv->topo[k]] = l;
}

static int check_rows(const trs_tri *L)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < L->n; i++) longest = std::max(longest, L->ptr[i + 1] - L->ptr[i]);
    if (longest <= PEERS_LONGEST) return TRS_OK;
    return trs_fail(TRS_ESUPPORT, "several devices: a row has %lld entries, more than %d",
                    (long long)longest, PEERS_LONGEST);
}

static int cut(cutting *c, const trs_levels *lv, peers_data *d)
{
    const int32_t n = c->L->n;
    c->level = (int32_t *)trs_new(c->ctx, n, sizeof *c->level, "levels");
    c->number = (int32_t *)trs_new(c->ctx, n, sizeof *c->number, "rows of other parts");
    if (!c->level || !c->number) return TRS_EMEM;
    c->levels = lv->count;
    fill_levels(lv, c->level);
    std::fill(c->number, c->number + n, (int32_t)NONE);
    int rc = TRS_OK;
    for (int p = 0; p < d->parts && !rc; p++)
        if (d->part[p].rows) rc = make_part(c, d, p);
    for (int p = 0; p < d->parts && !rc; p++) rc = make_targets(c, d, p);
    return rc;
}

int peers_cut(trs_operator *op, peers_data *d)
{
    trs_context *ctx = op->ctx;
    int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (!rc) rc = check_rows(&op->tri);
    if (rc) return rc;
    cutting c = {.ctx = ctx, .L = &op->tri};
    d->dtype = op->tri.dtype;
    place_parts(ctx, c.L, d);
    rc = peers_connect(d);
    if (!rc) rc = cut(&c, &op->lv, d);
    trs_free(&ctx->mem, c.level);
    trs_free(&ctx->mem, c.number);
    for (int p = 0; p < d->parts; p++) {
        trs_free(&ctx->mem, c.ghost[p]);
        trs_free(&ctx->mem, c.node[p]);
        trs_gpu_drop_ring(&d->part[p].ctx);
    }
    const int back = trs_gpu_use(ctx);
    return rc ? rc : back;
}

/* ---- values ---------------------------------------------------------------------------------------------------------- */

template <class T> static __global__ void ones_kernel(int64_t count, T *to)
{
    const int64_t i = index_of_thread();
    if (i < count) to[i] = number<T>(1);
}

static int take_part(peer_part *part, trs_dtype dtype, const char *val)
{
    trs_context *ctx = &part->ctx;
    const size_t size = trs_size(dtype);
    const int64_t ghosts = part->ghosts;
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    char *from = (char *)trs_gpu_new(ctx, ghosts + part->entries, size, "values of a part");
    if (!from) return TRS_EMEM;
    if (ghosts > 0)
        rc = for_type(dtype, [&]<class T>(T) {
            ones_kernel<T><<<blocks_of(ghosts), PLAIN>>>(ghosts, (T *)from);
            return launched();
        });
    if (!rc)
        rc = trs_gpu_put(ctx, from + (size_t)ghosts * size, val + (size_t)part->first * size,
                         (size_t)part->entries * size);
    if (!rc) rc = trs_flow_take(&part->flow, dtype, from, part->val, part->inv, NULL);
    const int waited = trs_gpu_wait(NULL);
    trs_gpu_free(ctx, from);
    trs_gpu_drop_ring(ctx);
    return rc ? rc : waited;
}

int peers_take(const peers_data *d, const void *val)
{
    int rc = TRS_OK;
    for (int p = 0; p < d->parts && !rc; p++)
        if (d->part[p].rows) rc = take_part((peer_part *)&d->part[p], d->dtype, (const char *)val);
    return rc;
}

void peers_free(peers_data *d)
{
    for (int p = 0; p < d->parts; p++) {
        peer_part *part = &d->part[p];
        if (trs_gpu_use(&part->ctx)) trs_forget();
        trs_flow_free(&part->ctx, &part->flow);
        device_free(&part->ctx, part->memory, part->push, part->target);
        if (trs_gpu_use(&d->part[0].ctx)) trs_forget();
        trs_gpu_free(&d->part[0].ctx, part->mirror_node);
    }
}
