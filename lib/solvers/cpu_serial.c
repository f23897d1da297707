/* cpu_serial.c: forward substitution by rows in one thread, with which every other solver is compared.
 *
 * Rows are solved as cpu_row.h says, in their order, and x(i-1) stays in a register.  It reads and writes 12 nnz + 24 n
 * bytes at best.  That is its time on large triangles with wide levels; on chains it is the latency of one
 * multiplication and subtraction a row.  On small ones it is the number of instructions.  So there are four ways to go
 * through the rows, all of which give the same bits:
 *
 *     CHECKED    whether x(i) is a quotient is seen row by row, and what lies ahead is fetched
 *     AHEAD      an update has seen that no x(i) is one
 *     IRREGULAR  the same, and entries are scattered over an x that the core's own cache does not hold: x is fetched too
 *     CACHED     as AHEAD, and the triangle stays in the last cache: nothing is fetched, which would cost more than it gains
 *
 * each for rows that are chained, and for others.  It has no data but which of them it takes. */
#ifndef T

#include "config.h"

#include "cpu_serial.h"
#include "base/number/clones.h"
#include "base/debug.h"

typedef enum way { CHECKED, AHEAD, IRREGULAR, CACHED, UNCHAINED, WAYS = 2 * UNCHAINED } way;

/* bytes of values and columns that come from the cache as fast as rows take them: seen with last caches of 32 and 300 MiB */
enum { CACHE = 8 << 20 };

/* The data of an instance is the way that it goes, plus UNCHAINED where rows are not chained.  One that was not updated
 * checks: so cuda-host, which is for chains, calls this solver with values that change without an update. */
static int way_of(const trs_instance *inst)
{
    return inst->data ? *(const int *)inst->data : CHECKED;
}

/* 1 and 2 for strides of 1 and of -1 of both B and X, 0 for others */
static int stride_of(const trs_job *job)
{
    if (job->b.rs != job->x.rs) return 0;
    if (job->x.rs == 1) return 1;
    return job->x.rs == -1 ? 2 : 0;
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
    static const int ways[WAYS] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const way fetching[] = {CACHED, AHEAD, IRREGULAR}; /* by trs_fetch */
    const trs_tri *L = &inst->op->tri;
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (rc) return rc;
    const bool chained = trs_rows_chained(L);
    way w = CHECKED;
    if (trs_rows_scale(L, chained)) w = fetching[trs_rows_fetch(inst->op, &inst->ctx->machine)];
    inst->data = (void *)&ways[chained ? w : w + UNCHAINED];
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
    .serial_bits = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
};

#else

#include "cpu_row.h"

TRS_CLONES static bool FN(all_scale_at_once)(const trs_tri *L, bool chained)
{
    return FN(all_scale)(L, chained);
}

/* ---- for strides of 1, of -1, as a reversed operator has them, and for others -------------------- */

/* Rows begin..end-1 of right-hand side r.  Each of these functions is compiled by itself, because one function with all of
 * them in it runs out of registers. */
typedef void (*FN(rows_fn))(const trs_tri *, int32_t begin, int32_t end, const trs_job *, int r);

#define TRS_B(job, r) ((const T *)(job)->b.p + (r) * (job)->b.cs)
#define TRS_X(job, r) ((T *)(job)->x.p + (r) * (job)->x.cs)

#define TRS_ROWS(name, bs, xs, fetch, scales, chained)                                             \
    TRS_CLONES static void FN(name)(const trs_tri *L, int32_t begin, int32_t end,                  \
                                    const trs_job *j, int r)                                       \
    {                                                                                              \
        FN(rows)                                                                                   \
        (L, begin, end, TRS_B(j, r), bs, TRS_X(j, r), xs, j->conj, fetch, scales, chained);        \
    }
#define TRS_WAY(name, fetch, scales, chained)                                                      \
    TRS_ROWS(name, j->b.rs, j->x.rs, fetch, scales, chained)                                       \
    TRS_ROWS(name##_up, 1, 1, fetch, scales, chained)                                              \
    TRS_ROWS(name##_down, -1, -1, fetch, scales, chained)

TRS_WAY(checked, TRS_FETCH_ENTRIES, false, true)
TRS_WAY(ahead, TRS_FETCH_ENTRIES, true, true)
TRS_WAY(irregular, TRS_FETCH_X, true, true)
TRS_WAY(cached, TRS_FETCH_NOTHING, true, true)
TRS_WAY(unchained_checked, TRS_FETCH_ENTRIES, false, false)
TRS_WAY(unchained_ahead, TRS_FETCH_ENTRIES, true, false)
TRS_WAY(unchained_irregular, TRS_FETCH_X, true, false)
TRS_WAY(unchained_cached, TRS_FETCH_NOTHING, true, false)

#undef TRS_WAY
#undef TRS_ROWS
#undef TRS_B
#undef TRS_X

static void FN(solve_rows)(const trs_instance *inst, int32_t begin, int32_t end, const trs_job *job)
{
#define TRS_STRIDES(name)                                                                          \
    {                                                                                              \
        FN(name), FN(name##_up), FN(name##_down)                                                   \
    }
    static const FN(rows_fn) table[WAYS][3] = {
        [CHECKED] = TRS_STRIDES(checked),
        [AHEAD] = TRS_STRIDES(ahead),
        [IRREGULAR] = TRS_STRIDES(irregular),
        [CACHED] = TRS_STRIDES(cached),
        [UNCHAINED + CHECKED] = TRS_STRIDES(unchained_checked),
        [UNCHAINED + AHEAD] = TRS_STRIDES(unchained_ahead),
        [UNCHAINED + IRREGULAR] = TRS_STRIDES(unchained_irregular),
        [UNCHAINED + CACHED] = TRS_STRIDES(unchained_cached),
    };
#undef TRS_STRIDES
    const FN(rows_fn) rows = table[way_of(inst)][stride_of(job)];
    for (int r = 0; r < job->nrhs; r++) rows(&inst->op->tri, begin, end, job, r);
}

#endif
