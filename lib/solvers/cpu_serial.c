/* cpu_serial.c: forward substitution by rows in one thread, with which every other solver is compared.
 *
 * Rows are solved as cpu_row.h says, in their order, and x(i-1) stays in a register.  It reads and writes 12 nnz + 24 n
 * bytes at best.  That is its time on large triangles with wide levels; on chains it is the latency of one
 * multiplication and subtraction a row.  On others it is that of branches that were not foreseen, and on small ones
 * the number of instructions.  So there are three ways to go through the rows, all of which give the same bits:
 *
 *     by_loops     a row is a loop over its entries
 *     lean         the same for small triangles with short rows, where nothing has to be fetched ahead or looked at
 *     by_groups    where the rows' lengths are short and cannot be foreseen, entries are taken in groups of four, those
 *                  of later rows among them, and no branch depends on the length of a row
 *
 * It has no data but which of them it takes. */
#ifndef T

#include "config.h"

#include "cpu_serial.h"
#include "base/number/clones.h"
#include "base/debug.h"

typedef enum way {
    LOOPS,
    SMALL, /* by loops; the triangle stays in the cache, and its rows are short */
    LEAN,  /* small, and no x(i) is a quotient (cpu_row.h) */
    GROUPS
} way;

enum {
    CACHED = 1 << 20, /* bytes of entries that stay in the cache */
    SHORT = 16,       /* entries of a row */
    UNEVEN = 4000,    /* rows that surprise: a core learns fewer of them by heart */
    MOST_MEAN = 6,    /* entries of a row: in longer ones a wrong guess a row matters less */
    SAMPLES = 32,     /* places where rows are looked at */
    SAMPLE = 512      /* rows at each */
};

/* of all rows, from which on it is better not to guess: a wrong guess takes four times what is done in vain without */
static const double SURPRISING = 0.25;

/* The data of an instance is the way that it goes.  One that was not built goes by loops, which depend on no values: so
 * cuda-host calls this solver with values that change without an update. */
static way way_of(const trs_instance *inst)
{
    return inst->data ? *(const way *)inst->data : LOOPS;
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
typedef bool (*all_scale_fn)(const trs_tri *);

static void take(trs_instance *inst, way w)
{
    static const way ways[] = {LOOPS, SMALL, LEAN, GROUPS};
    inst->data = (void *)&ways[w];
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

/* What the branches of row i depend on: its length, and whether it has an entry in the column just before. */
static int shape_of(const trs_tri *L, int32_t i)
{
    const int64_t p = L->ptr[i], q = L->ptr[i + 1] - 1;
    const bool follows = p < q && L->idx[q - 1] == i - 1;
    return 2 * (int)(q - p < SHORT ? q - p : SHORT - 1) + follows;
}

/* The fraction of the rows whose shape is not that of the last row that came after the same two. */
static double surprises(const trs_tri *L)
{
    uint8_t last[4 * SHORT * SHORT] = {0}; /* by the shapes of two rows */
    const int32_t step = L->n > SAMPLES * SAMPLE ? L->n / SAMPLES : SAMPLE;
    int wrong = 0, rows = 0, two = 0;
    for (int32_t begin = 0; begin < L->n; begin += step)
        for (int32_t i = begin; i < L->n && i < begin + SAMPLE; i++, rows++) {
            const int shape = shape_of(L, i);
            wrong += last[two] != shape;
            last[two] = (uint8_t)shape;
            two = (2 * SHORT * two + shape) % (4 * SHORT * SHORT);
        }
    return rows ? (double)wrong / rows : 0;
}

/* Do so many rows surprise a core that it is better not to guess? */
static bool is_uneven(const trs_tri *L)
{
    if (L->n < UNEVEN || L->nnz > (int64_t)MOST_MEAN * L->n) return false;
    const double fraction = surprises(L);
    return fraction > SURPRISING && fraction * L->n > UNEVEN;
}

static bool is_small(const trs_tri *L)
{
    if (L->nnz * (int64_t)(trs_size(L->dtype) + sizeof *L->idx) > CACHED) return false;
    for (int32_t i = 0; i < L->n; i++)
        if (L->ptr[i + 1] - L->ptr[i] >= SHORT) return false;
    return true;
}

static int build(trs_instance *inst)
{
    const trs_tri *L = &inst->op->tri;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    if (is_uneven(L)) take(inst, GROUPS);
    else take(inst, is_small(L) ? SMALL : LOOPS);
    return TRS_OK;
}

/* It solves with the arrays of the operator. */
static int update(trs_instance *inst, void *stream)
{
    static const all_scale_fn table[] = TRS_PER_TYPE(all_scale);
    const way now = way_of(inst);
    (void)stream;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (!rc && (now == SMALL || now == LEAN))
        take(inst, table[inst->op->tri.dtype](&inst->op->tri) ? LEAN : SMALL);
    return rc;
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

/* Is no x(i) a quotient? */
TRS_CLONES static bool FN(all_scale)(const trs_tri *L)
{
    const T *Lx = L->val;
    bool all = true;
    for (int32_t i = 0; i < L->n; i++) {
        const int64_t p = L->ptr[i], q = L->ptr[i + 1] - 1;
        const T r = 1 / Lx[q];
        const bool follows = p < q && L->idx[q - 1] == i - 1;
        all &=
            follows ? FN(scales)(r, Lx[q - 1], FN(times)(r, Lx[q - 1], false)) : FN(is_normal)(r);
    }
    return all;
}

/* ---- by groups -------------------------------------------------------------------------------- */

enum { FN(GROUP) = 4 }; /* entries that are taken whether or not they are of the row */

/* s less the products of the entries p..end-1 with their x.  The sums after 0, 1 .. GROUP of the last entries are written
 * to memory one by one, and the one that is wanted is read back.  Entries of later rows get x(i-1). */
TRS_INLINE T FN(group_sum)(const trs_tri *L, int64_t p, int64_t end, T s, const T *x, int64_t xs,
                           int32_t i, bool cj)
{
    const T *Lx = L->val;
    const int32_t *Li = L->idx;
    volatile T after[FN(GROUP) + 1];
    for (; end - p > FN(GROUP); p += FN(GROUP))
#pragma GCC unroll 4
        for (int k = 0; k < FN(GROUP); k++) s = FN(minus)(s, Lx[p + k], x[Li[p + k] * xs], cj);
    after[0] = s;
#pragma GCC unroll 4
    for (int k = 0; k < FN(GROUP); k++) {
        const int32_t column = p + k < end ? Li[p + k] : i - 1;
        s = FN(minus)(s, Lx[p + k], x[column * xs], cj);
        after[k + 1] = s;
    }
    return after[end - p];
}

/* p where so, else q, without a branch */
TRS_INLINE const T *FN(either)(bool so, const T *p, const T *q)
{
    uintptr_t mask = -(uintptr_t)so;
    __asm__("" : "+r"(mask)); /* compilers would make a branch of it */
    return (const T *)((uintptr_t)q + (((uintptr_t)p - (uintptr_t)q) & mask));
}

/* Rows begin to end-1, the row before being done, which have GROUP entries behind them.  A row without an l (cpu_row.h) gets 1 and y = 0. */
TRS_INLINE void FN(by_groups)(const trs_tri *L, int32_t begin, int32_t end, const T *b, int64_t bs,
                              T *x, int64_t xs, bool cj)
{
    static const T zero = 0, one = 1;
    const T *Lx = L->val;
    for (int32_t i = begin; i < end; i++) {
        const int64_t p = L->ptr[i], q = L->ptr[i + 1] - 1;
        const bool follows = (p < q) & (L->idx[q - 1] == i - 1);
        T s = b[i * bs];
        if (q - follows - p >= FN(LONG)) s = FN(long_sum)(L, p, q - follows, s, x, xs, cj);
        else {
            FN(fetch_ahead)(L, p);
            s = FN(group_sum)(L, p, q - follows, s, x, xs, i, cj);
        }
        const T *l = FN(either)(follows, Lx + q - 1, &one);
        const T *y = FN(either)(follows, x + (i - 1) * xs, &zero);
        x[i * xs] = FN(next_of_chain)(s, Lx[q], *l, *y, cj, false);
    }
}

/* ---- for strides of 1, of -1, as a reversed operator has them, and for others -------------------- */

/* Rows begin..end-1 of one right-hand side.  Each of these functions is compiled by itself, because one function with
 * all of them in it runs out of registers. */
typedef void (*FN(rows_fn))(const trs_tri *, int32_t begin, int32_t end, const trs_job *, int r);

#define TRS_B(job, r) ((const T *)(job)->b.p + (r) * (job)->b.cs)
#define TRS_X(job, r) ((T *)(job)->x.p + (r) * (job)->x.cs)

TRS_CLONES static void FN(loops)(const trs_tri *L, int32_t begin, int32_t end, const trs_job *j,
                                 int r)
{
    FN(rows)(L, begin, end, TRS_B(j, r), j->b.rs, TRS_X(j, r), j->x.rs, j->conj, false);
}

TRS_CLONES static void FN(loops_up)(const trs_tri *L, int32_t begin, int32_t end, const trs_job *j,
                                    int r)
{
    FN(rows)(L, begin, end, TRS_B(j, r), 1, TRS_X(j, r), 1, j->conj, false);
}

TRS_CLONES static void FN(loops_down)(const trs_tri *L, int32_t begin, int32_t end,
                                      const trs_job *j, int r)
{
    FN(rows)(L, begin, end, TRS_B(j, r), -1, TRS_X(j, r), -1, j->conj, false);
}

TRS_CLONES static void FN(lean_up)(const trs_tri *L, int32_t begin, int32_t end, const trs_job *j,
                                   int r)
{
    FN(rows)(L, begin, end, TRS_B(j, r), 1, TRS_X(j, r), 1, j->conj, true);
}

TRS_CLONES static void FN(lean_down)(const trs_tri *L, int32_t begin, int32_t end, const trs_job *j,
                                     int r)
{
    FN(rows)(L, begin, end, TRS_B(j, r), -1, TRS_X(j, r), -1, j->conj, true);
}

TRS_CLONES static void FN(groups_up)(const trs_tri *L, int32_t begin, int32_t end, const trs_job *j,
                                     int r)
{
    FN(by_groups)(L, begin, end, TRS_B(j, r), 1, TRS_X(j, r), 1, j->conj);
}

TRS_CLONES static void FN(groups_down)(const trs_tri *L, int32_t begin, int32_t end,
                                       const trs_job *j, int r)
{
    FN(by_groups)(L, begin, end, TRS_B(j, r), -1, TRS_X(j, r), -1, j->conj);
}

#undef TRS_B
#undef TRS_X

/* Of many rows the first one, before which x may be another thread's, and the last ones, which have too few entries of these rows behind them,
 * are done by loops. */
static void FN(solve_rows)(const trs_instance *inst, int32_t begin, int32_t end, const trs_job *job)
{
    static const FN(rows_fn) loops[] = {FN(loops), FN(loops_up), FN(loops_down)};
    static const FN(rows_fn) lean[] = {FN(loops), FN(lean_up), FN(lean_down)};
    static const FN(rows_fn) groups[] = {NULL, FN(groups_up), FN(groups_down)};
    const trs_tri *L = &inst->op->tri;
    const way w = way_of(inst);
    const int stride = stride_of(job);
    const FN(rows_fn) rows = (w == LEAN ? lean : loops)[stride];
    const int32_t first = begin + 1, last = end - FN(GROUP);
    const bool grouped = w == GROUPS && stride && first < last;
    for (int r = 0; r < job->nrhs; r++) {
        if (grouped) {
            rows(L, begin, first, job, r);
            groups[stride](L, first, last, job, r);
        }
        rows(L, grouped ? last : begin, end, job, r);
    }
}

#endif
