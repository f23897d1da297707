/* cpu_ell.c: forward substitution by levels, whose rows of equal length are solved side by side, by one thread.
 *
 *     x(i) = s(i) r(i) - c(i) x(i-1),   s(i) = b(i) - sum of L(i, j) x(j) over j < i-1,
 *     r(i) = 1 / L(i, i),   c(i) = L(i, i-1) r(i)
 *
 * Rows of factors of circuits have few entries, and no two neighbours the same number of them: a loop over rows spends most
 * of its time on mispredicted branches, and on divisions.  Within a block of rows of one length (blocks.h)
 * there is no branch but that of the loop over them, and r and c are computed by the update.  No row of a block waits for
 * another one, so that a core has as many under way as it can hold.  The order of a sum and the roundings are those of
 * solvers/cpu_row.h: x has the bits of cpu-serial.
 *
 * Rows without entries, half of those of an L by KLU or UMFPACK, are all in the first block.  Where their pivots are 1 and B
 * is X nothing has to be done for them.
 * It reads 12 nnz + 16 n bytes; b and x in the order of the levels, which is why they should fit the cache. */
#ifndef T

#include "config.h"

#include "blocks.h"
#include "base/debug.h"
#include "solvers/contiguous.h"

typedef struct ell_data {
    trs_ell_blocks by;
    /* [nnz-n] in that order */
    void *val;
    /* [n] in that order */
    void *pivot;
    /* pivot has r, and val has c; otherwise, if one of them is not a normal number, L(i, i) and the entry */
    bool scaled;
    /* the pivots of the first block are 1 */
    bool copies;
} ell_data;

enum { UNROLLED = 8 }; /* entries of a sum up to which each number of them has a loop of its own */

#define TRS_BODY "solvers/ell/cpu_ell.c"
#include "base/each_type.h"

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const double n = (double)s->n, entries = (double)(s->nnz - s->n);
    (void)built;
    if (!trs_cpu_keeps(m, s)) return "it does not fit the cache";
    c->bytes = trs_cpu_stream(m, s, entries, 0) + n * m->ell_row * s->nrhs;
    c->bytes += trs_cpu_scatter(m, s);
    c->latency = (double)s->levels * m->ell_level * s->nrhs;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + (trs_ell_most(s) + 1) * (int64_t)sizeof(trs_ell_block);
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *L = &inst->op->tri;
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (rc) return rc;
    ell_data *d = inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory for cpu-ell");
    rc = trs_ell_make(ctx, inst->op, &d->by);
    if (rc) return rc;
    d->val = trs_new(ctx, L->nnz - L->n, trs_size(L->dtype), "values by level and length");
    d->pivot = trs_new(ctx, L->n, trs_size(L->dtype), "pivots by level and length");
    return d->val && d->pivot ? TRS_OK : TRS_EMEM;
}

static int update(trs_instance *inst, void *stream)
{
    typedef void (*take_fn)(const trs_instance *, ell_data *);
    static const take_fn table[] = TRS_PER_TYPE(take);
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    (void)stream;
    if (!rc) table[inst->op->tri.dtype](inst, inst->data);
    return rc;
}

static int solve_columns(const trs_instance *inst, const trs_job *job)
{
    typedef void (*solve_fn)(const ell_data *, const trs_job *);
    static const solve_fn table[] = TRS_PER_TYPE(solve);
    table[inst->op->tri.dtype](inst->data, job);
    return TRS_OK;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return trs_solve_contiguous(inst, job, solve_columns);
}

static void release(trs_instance *inst)
{
    ell_data *d = inst->data;
    trs_ell_free(inst->ctx, &d->by);
    trs_free(&inst->ctx->mem, d->val);
    trs_free(&inst->ctx->mem, d->pivot);
    trs_free(&inst->ctx->mem, d);
}

const trs_solver trs_solver_cpu_ell = {
    .name = "cpu-ell",
    .about = "rows of one level and length side by side, by one thread",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .serial_bits = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = trs_contiguous_bytes,
};

#else

#include "solvers/cpu_row.h"

/* Copy the values in the order of the blocks. */
static void FN(copy)(const trs_instance *inst, ell_data *d)
{
    const trs_tri *L = &inst->op->tri;
    const T *Lx = L->val;
    T *to = d->val, *pivot = d->pivot;
    for (int32_t k = 0; k < L->n; k++) {
        const int32_t i = trs_memory_row(inst->op, d->by.row[k]); /* which is its own inverse */
        const int64_t diagonal = L->ptr[i + 1] - 1;
        for (int64_t p = L->ptr[i]; p < diagonal; p++) *to++ = Lx[p];
        pivot[k] = Lx[diagonal];
    }
}

/* Have all rows normal r and c?  With put, these become pivot and val. */
static bool FN(scale)(ell_data *d, bool put)
{
    T *next = d->val, *pivot = d->pivot;
    for (int32_t q = 0; q < d->by.blocks; q++) {
        const trs_ell_block *g = &d->by.block[q];
        for (int32_t k = g->begin; k < g[1].begin; k++) {
            const T r = 1 / pivot[k];
            next += g->length;
            if (put) pivot[k] = r;
            else if (!FN(is_normal)(r)) return false;
            if (!g->chained) continue;
            const T c = FN(times)(r, next[-1], false);
            if (put) next[-1] = c;
            else if (!FN(scales)(r, next[-1], c)) return false;
        }
    }
    return true;
}

static void FN(take)(const trs_instance *inst, ell_data *d)
{
    const T *pivot = d->pivot;
    FN(copy)(inst, d);
    d->copies = d->by.blocks > 0;
    for (int32_t k = 0; d->copies && k < d->by.block[1].begin; k++) d->copies = pivot[k] == 1;
    d->scaled = FN(scale)(d, false) && FN(scale)(d, true);
}

typedef struct FN(block) { /* of a block */
    const int32_t *row, *column;
    const T *val, *pivot;
    int32_t count, length;
    bool chained, scaled, conj;
} FN(block);

/* x(i) of row k of the block, whose sum is s; y = x(i-1) and l, its coefficient, where it is chained. */
TRS_INLINE T FN(solved)(const FN(block) * w, int32_t k, T s, T l, T y)
{
    const T d = w->pivot[k];
    if (w->scaled) {
        const T t = FN(times)(d, s, w->conj);
        return w->chained ? FN(minus)(t, l, y, w->conj) : t;
    }
    if (w->chained) return FN(next_of_chain)(s, d, l, y, w->conj, false);
    return FN(first_of_chain)(s, d, w->conj, false);
}

/* s less the products of entries: at most UNROLLED, or any number. */
TRS_INLINE T FN(few)(const T *v, const int32_t *j, int32_t count, T s, const T *x, bool conj)
{
#pragma GCC unroll 8
    for (int32_t m = 0; m < count; m++) s = FN(minus)(s, v[m], x[j[m]], conj);
    return s;
}

TRS_INLINE T FN(many)(const T *v, const int32_t *j, int32_t count, T s, const T *x, bool conj)
{
    int32_t m = 0;
    if (count >= FN(LONG)) {
        T s1 = 0, s2 = 0, s3 = 0;
        for (; m < count - 3; m += 4) {
            s = FN(minus)(s, v[m], x[j[m]], conj);
            s1 = FN(minus)(s1, v[m + 1], x[j[m + 1]], conj);
            s2 = FN(minus)(s2, v[m + 2], x[j[m + 2]], conj);
            s3 = FN(minus)(s3, v[m + 3], x[j[m + 3]], conj);
        }
        s = (s + s1) + (s2 + s3);
    }
    for (; m < count; m++) s = FN(minus)(s, v[m], x[j[m]], conj);
    return s;
}

/* Rows with so many entries besides that of the row before; more than UNROLLED: any number.  This, chained and scaled are
 * constants. */
TRS_INLINE void FN(solve_rows)(const FN(block) * of, const T *b, T *x, int32_t sum, bool chained,
                               bool scaled)
{
    FN(block) w = *of;
    const int32_t count = sum > UNROLLED ? w.length - chained : sum, length = count + chained;
    w.chained = chained;
    w.scaled = scaled;
    for (int32_t k = 0; k < w.count; k++) {
        const int32_t i = w.row[k];
        const T s = sum > UNROLLED ? FN(many)(w.val, w.column, count, b[i], x, w.conj)
                                   : FN(few)(w.val, w.column, count, b[i], x, w.conj);
        x[i] = chained ? FN(solved)(&w, k, s, w.val[count], x[w.column[count]])
                       : FN(solved)(&w, k, s, 0, 0);
        w.val += length;
        w.column += length;
    }
}

/* The same where r and c are normal numbers. */
TRS_INLINE void FN(solve_block)(const FN(block) * w, const T *b, T *x, bool chained)
{
    switch (w->length - chained) {
    case 0:
        FN(solve_rows)(w, b, x, 0, chained, true);
        break;
    case 1:
        FN(solve_rows)(w, b, x, 1, chained, true);
        break;
    case 2:
        FN(solve_rows)(w, b, x, 2, chained, true);
        break;
    case 3:
        FN(solve_rows)(w, b, x, 3, chained, true);
        break;
    case 4:
        FN(solve_rows)(w, b, x, 4, chained, true);
        break;
    case 5:
        FN(solve_rows)(w, b, x, 5, chained, true);
        break;
    case 6:
        FN(solve_rows)(w, b, x, 6, chained, true);
        break;
    case 7:
        FN(solve_rows)(w, b, x, 7, chained, true);
        break;
    case UNROLLED:
        FN(solve_rows)(w, b, x, UNROLLED, chained, true);
        break;
    default:
        FN(solve_rows)(w, b, x, UNROLLED + 1, chained, true);
    }
}

TRS_CLONES static void FN(solve)(const ell_data *d, const trs_job *job)
{
    const bool in_place = job->b.p == job->x.p && job->b.cs == job->x.cs;
    int64_t entry = 0; /* the first block has none */
    for (int32_t q = d->copies && in_place; q < d->by.blocks; q++) {
        const trs_ell_block *g = &d->by.block[q];
        const FN(block) w = {.row = d->by.row + g->begin,
                             .column = d->by.column + entry,
                             .val = (const T *)d->val + entry,
                             .pivot = (const T *)d->pivot + g->begin,
                             .count = g[1].begin - g->begin,
                             .length = g->length,
                             .conj = job->conj};
        for (int r = 0; r < job->nrhs; r++) {
            const T *b = (const T *)job->b.p + r * job->b.cs;
            T *x = (T *)job->x.p + r * job->x.cs;
            if (!d->scaled) FN(solve_rows)(&w, b, x, UNROLLED + 1, g->chained, false);
            else if (g->chained) FN(solve_block)(&w, b, x, true);
            else FN(solve_block)(&w, b, x, false);
        }
        entry += (int64_t)w.count * w.length;
    }
}

#endif
