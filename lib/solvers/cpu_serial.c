/* cpu_serial.c: forward substitution by rows in one thread, with which every other solver is compared.
 *
 * Rows are solved as cpu_row.h defines it, in their order, and x(i-1) stays in a register.  It reads and writes 12 nnz + 24 n
 * bytes at best.  That is its time on large triangles with wide levels; on chains it is the latency of one
 * multiplication and subtraction a row.  On small ones it is the number of instructions.  Therefore strides of 1 and
 * -1 have loops of their own: one that checks each row, and several for triangles where an update has seen that no x(i) is
 * a quotient.  All other strides share one loop, which decides for each row.  All of them give the same bits.
 *
 * It has no data but how its rows are solved. */
#ifndef T

#include "config.h"

#include "cpu_serial.h"
#include "base/number/clones.h"
#include "base/debug.h"

/* how an instance solves its rows */
typedef struct manner {
    /* no x(i) is a quotient */
    bool scales;
    /* rows with an entry just before the diagonal are links of a chain */
    bool chained;
    trs_fetch fetch;
} manner;

/* bytes of values and columns that come from the cache as fast as rows use them: seen with last caches of 32 and 300 MiB */
enum { CACHE = 8 << 20 };

/* An instance that was not updated checks every row: cuda-host, which is for chains, calls this solver with values that
 * change without an update. */
static const manner *manner_of(const trs_instance *inst)
{
    static const manner checked = {false, true, TRS_FETCH_ENTRIES};
    return inst->data ? inst->data : &checked;
}

#define TRS_BODY "solvers/cpu_serial.c"
#include "base/each_type.h"

typedef void (*solve_fn)(const trs_instance *, int32_t begin, int32_t end, const trs_job *);
typedef bool (*all_scale_fn)(const trs_tri *, bool chained);

bool trs_rows_chained(const trs_tri *L)
{
    int64_t follow = 0; /* rows with the entry */
    int64_t turns = 0;  /* rows that differ in that from the row before */
    bool before = false;
    for (int32_t i = 0; i < L->n; i++) {
        const int64_t q = L->ptr[i + 1] - 1;
        const bool follows = L->ptr[i] < q && L->idx[q - 1] == i - 1;
        follow += follows;
        turns += follows != before;
        before = follows;
    }
    return 2 * follow >= L->n && 2 * turns <= follow;
}

bool trs_rows_scale(const trs_tri *L, bool chained)
{
    static const all_scale_fn table[] = TRS_PER_TYPE(all_scale_at_once);
    return table[L->dtype](L, chained);
}

trs_fetch trs_rows_fetch(const trs_operator *op, const trs_machine *m)
{
    const size_t entry = trs_size(op->tri.dtype) + sizeof *op->tri.idx;
    if (op->tri.nnz * (int64_t)entry <= CACHE) return TRS_FETCH_NOTHING;
    return trs_reads_x_irregularly(op, m) ? TRS_FETCH_X : TRS_FETCH_ENTRIES;
}

void trs_serial_rows(const trs_instance *inst, int32_t begin, int32_t end, const trs_job *job)
{
    static const solve_fn table[] = TRS_PER_TYPE(solve_rows);
    table[inst->op->tri.dtype](inst, begin, end, job);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    trs_serial_rows(inst, 0, inst->op->tri.n, job);
    return TRS_OK;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    c->bytes = trs_cpu_stream(m, s, (double)s->nnz, (double)s->n);
    c->latency = trs_cpu_wait(m, s->waiting, (double)s->n * s->nrhs, c->bytes);
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    (void)p;
    return 0;
}

static int build(trs_instance *inst)
{
    return trs_operator_host(inst->op, TRS_OP_PATTERN);
}

/* It solves with the arrays of the operator. */
static int update(trs_instance *inst, void *stream)
{
    /* [scales][chained][fetch] */
    static const manner manners[2][2][3] = {
        {{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}}, {{0, 1, 0}, {0, 1, 1}, {0, 1, 2}}},
        {{{1, 0, 0}, {1, 0, 1}, {1, 0, 2}}, {{1, 1, 0}, {1, 1, 1}, {1, 1, 2}}}};
    const trs_tri *L = &inst->op->tri;
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (rc) return rc;
    const bool chained = trs_rows_chained(L);
    const bool scales = trs_rows_scale(L, chained);
    trs_fetch fetch = TRS_FETCH_ENTRIES;
    if (scales) fetch = trs_rows_fetch(inst->op, &inst->ctx->machine);
    inst->data = (void *)&manners[scales][chained][fetch];
    return TRS_OK;
}

const trs_solver trs_solver_cpu_serial = {
    .name = "cpu-serial",
    .about = "CSR, forward substitution by one thread",
    .place = TRS_ON_CPU,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .quick = 1e-6,
    .at_once = INT64_MAX,
    .serial_bits = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
};

#else

#include "cpu_row.h"

TRS_FMA_CLONES static bool FN(all_scale_at_once)(const trs_tri *L, bool chained)
{
    return FN(all_scale)(L, chained);
}

/* ---- rows begin..end-1 of one right-hand side ------------------------------------------------------ */

/* Each of these functions is compiled by itself, because one function with all of them in it runs out of registers. */
typedef void (*FN(rows_fn))(const trs_tri *, int32_t begin, int32_t end, const T *b, int64_t bs,
                            T *x, int64_t xs, bool cj, const manner *m);

TRS_FMA_CLONES static void FN(any_rows)(const trs_tri *L, int32_t begin, int32_t end, const T *b,
                                        int64_t bs, T *x, int64_t xs, bool cj, const manner *m)
{
    FN(rows)(L, begin, end, b, bs, x, xs, cj, m->fetch, m->scales, m->chained);
}

/* The same for B and X of stride 1 (up) or -1 (down). */
#define TRS_ROWS(name, stride, fetch, scales, chained)                                             \
    TRS_FMA_CLONES static void FN(name)(const trs_tri *L, int32_t begin, int32_t end, const T *b,  \
                                        int64_t bs, T *x, int64_t xs, bool cj, const manner *m)    \
    {                                                                                              \
        TRS_ASSERT(bs == stride && xs == stride);                                                  \
        (void)bs, (void)xs, (void)m;                                                               \
        FN(rows)(L, begin, end, b, stride, x, stride, cj, fetch, scales, chained);                 \
    }
#define TRS_BOTH_STRIDES(name, fetch, scales, chained)                                             \
    TRS_ROWS(name##_up, 1, fetch, scales, chained)                                                 \
    TRS_ROWS(name##_down, -1, fetch, scales, chained)

TRS_BOTH_STRIDES(checked, TRS_FETCH_ENTRIES, false, m->chained)
TRS_BOTH_STRIDES(cached, TRS_FETCH_NOTHING, true, false)
TRS_BOTH_STRIDES(ahead, TRS_FETCH_ENTRIES, true, false)
TRS_BOTH_STRIDES(irregular, TRS_FETCH_X, true, m->chained)
TRS_BOTH_STRIDES(cached_chain, TRS_FETCH_NOTHING, true, true)
TRS_BOTH_STRIDES(ahead_chain, TRS_FETCH_ENTRIES, true, true)

#undef TRS_BOTH_STRIDES
#undef TRS_ROWS

static FN(rows_fn) FN(choose_rows)(const manner *m, int64_t bs, int64_t xs)
{
    static const FN(rows_fn) checked[2] = {FN(checked_up), FN(checked_down)};
    /* [chained][fetch][down] */
    static const FN(rows_fn) scaled[2][3][2] = {{{FN(cached_up), FN(cached_down)},
                                                 {FN(ahead_up), FN(ahead_down)},
                                                 {FN(irregular_up), FN(irregular_down)}},
                                                {{FN(cached_chain_up), FN(cached_chain_down)},
                                                 {FN(ahead_chain_up), FN(ahead_chain_down)},
                                                 {FN(irregular_up), FN(irregular_down)}}};
    if (bs != xs || (xs != 1 && xs != -1)) return FN(any_rows);
    if (!m->scales) return checked[xs < 0];
    return scaled[m->chained][m->fetch][xs < 0];
}

static void FN(solve_rows)(const trs_instance *inst, int32_t begin, int32_t end, const trs_job *job)
{
    const manner *m = manner_of(inst);
    const trs_view b = job->b, x = job->x;
    const FN(rows_fn) rows = FN(choose_rows)(m, b.rs, x.rs);
    for (int r = 0; r < job->nrhs; r++)
        rows(&inst->op->tri, begin, end, (const T *)b.p + r * b.cs, b.rs, (T *)x.p + r * x.cs, x.rs,
             job->conj, m);
}

#endif
