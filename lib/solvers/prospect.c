/* prospect.c: makes what estimates look at, the shape of a triangle, and its analyses where these are worth making. */
#include "config.h"

#include "solver.h"

/* ---- shape ------------------------------------------------------------------------------------ */

typedef struct sample_counts { /* of what is looked at, and what is found among it */
    int64_t seen, found;
} sample_counts;

/* Does row i wait for row i-1? */
static void see_waiting(const trs_operator *op, int64_t i, sample_counts *t)
{
    const int64_t diagonal = op->tri.ptr[i + 1] - 1;
    t->seen++;
    t->found += diagonal > op->tri.ptr[i] && op->tri.idx[diagonal - 1] == i - 1;
}

enum { CACHE_LINE_ROWS = 8 }; /* about so many rows have their x in one cache line */

/* Is row k of the level order far from the one before it? */
static void see_scattered(const trs_operator *op, int64_t k, sample_counts *t)
{
    const int32_t *topo = op->lv.topo;
    t->seen++;
    t->found += k > 0 && (topo[k] < topo[k - 1] || topo[k] > topo[k - 1] + CACHE_LINE_ROWS);
}

/* Has row i another length than the row before? */
static void see_uneven(const trs_operator *op, int64_t i, sample_counts *t)
{
    const int64_t *ptr = op->tri.ptr;
    t->seen++;
    t->found += i > 0 && ptr[i + 1] - ptr[i] != ptr[i] - ptr[i - 1];
}

enum { MOST_LOOKED_AT = 64 }; /* entries of a row */

/* Does row i-1 have no entry near the column of an entry of row i? */
static void see_irregular(const trs_operator *op, int64_t i, sample_counts *t)
{
    const int32_t *Li = op->tri.idx;
    const int64_t begin = op->tri.ptr[i], diagonal = op->tri.ptr[i + 1] - 1;
    int64_t q = i > 0 ? op->tri.ptr[i - 1] : 0;
    for (int64_t p = begin; p < diagonal && p < begin + MOST_LOOKED_AT; p++) {
        while (q < begin && Li[q] < Li[p] - CACHE_LINE_ROWS) q++;
        t->seen++;
        t->found += q == begin || Li[q] > Li[p] + CACHE_LINE_ROWS;
    }
}

/* The fraction for which it holds.  If there are many rows, only some runs of neighbours are looked at, at equal distances;
 * single rows at equal distances would all be at the same place of a grid's lines. */
static double fraction(const trs_operator *op,
                       void (*see)(const trs_operator *, int64_t, sample_counts *))
{
    enum { RUN = 64, RUNS = 64 };
    const int64_t n = op->tri.n, step = n > RUN * RUNS ? n / RUNS : RUN;
    sample_counts t = {0, 0};
    for (int64_t begin = 0; begin < n; begin += step)
        for (int64_t k = begin; k < begin + RUN && k < n; k++) see(op, k, &t);
    return t.seen ? (double)t.found / (double)t.seen : 0;
}

/* Once, when pattern and levels are on the host.  Estimates are made many times when costs are fitted. */
static void take_samples(trs_operator *op)
{
    if (op->samples.known || !op->tri.ptr || !op->tri.idx || !op->lv.topo) return;
    op->samples.waiting = fraction(op, see_waiting);
    op->samples.scattered = fraction(op, see_scattered);
    op->samples.uneven = fraction(op, see_uneven);
    op->samples.irregular = fraction(op, see_irregular);
    op->samples.known = true;
}

bool trs_reads_x_irregularly(const trs_operator *op, const trs_machine *m)
{
    const double x = (double)op->tri.n * (double)trs_size(op->tri.dtype), most = 0.5;
    if (x <= m->cpu_own_cache) return false;
    return (op->samples.known ? op->samples.irregular : fraction(op, see_irregular)) > most;
}

void trs_shape_of(const trs_operator *op, trs_shape *shape)
{
    /* A pattern that is on the device only is not looked at, and the worst is assumed. */
    const bool seen = op->samples.known;
    *shape = (trs_shape){.n = op->tri.n,
                         .nnz = op->tri.nnz,
                         .levels = op->lv.count,
                         .widest = op->lv.widest,
                         .longest = op->statistics.longest,
                         .sum_longest = (double)op->statistics.sum_longest,
                         .thin_entries = (double)op->statistics.thin,
                         .wide_levels = op->statistics.wide,
                         .waiting = seen ? op->samples.waiting : 1,
                         .scattered = seen ? op->samples.scattered : 1,
                         .uneven = seen ? op->samples.uneven : 1,
                         .irregular = seen ? op->samples.irregular : 1,
                         .elem = (double)trs_size(op->tri.dtype),
                         .is_complex = trs_is_complex(op->tri.dtype),
                         .nrhs = op->ctx->nrhs};
}

void trs_prospect_of(trs_operator *op, trs_effort effort, trs_prospect *p)
{
    *p = (trs_prospect){.op = op, .ctx = op->ctx, .effort = effort, .limit = op->ctx->limit};
    take_samples(op);
    trs_shape_of(op, &p->shape);
}

/* ---- analyses --------------------------------------------------------------------------------- */

/* GiB that a solver with a full matrix may take if the caller has set no limit */
enum { FULL_LIMIT = 8 };

bool trs_fits(const trs_solver *s, const trs_prospect *p)
{
    int64_t limit = p->limit;
    if (limit == 0 && s->full) limit = (int64_t)FULL_LIMIT << 30;
    return limit == 0 || s->bytes(p) <= limit;
}

int trs_check_fit(const trs_solver *s, const trs_prospect *p)
{
    if (trs_fits(s, p)) return TRS_OK;
    return trs_fail(TRS_EMEM, "%s would need %.3g bytes, over the limit", s->name,
                    (double)s->bytes(p));
}

enum { FULL_PERCENT = 90, LOOK_FROM = 5000 };

/* Has the triangle nearly all entries that there can be, and is there memory for a solver of full matrices? */
static bool is_for_full_solver(const trs_prospect *p)
{
    const double n = (double)p->shape.n;
    if (200 * (double)p->shape.nnz < FULL_PERCENT * n * (n + 1)) return false;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->full && s->place == TRS_ON_CUDA && s->family == TRS_TRIANGLE && trs_fits(s, p))
            return true;
    }
    return false;
}

static bool is_worth_looking(const trs_prospect *p, bool needed)
{
    if (p->effort == TRS_NEED) return needed;
    return p->effort == TRS_LOOK || (p->shape.nnz >= LOOK_FROM && !is_for_full_solver(p));
}

const void *trs_prospect_analysis(const trs_prospect *p, const trs_analysis *a, bool needed)
{
    const void *result = NULL;
    for (int k = 0; k < p->features; k++)
        if (p->feature[k].of == a) return p->feature[k].result;
    if (!p->op || !is_worth_looking(p, needed)) return NULL;
    if (trs_operator_analysis(p->op, a, p->effort == TRS_NEED, &result))
        trs_forget(); /* the build will fail as well, and say why */
    return result;
}

/* ---- costs ------------------------------------------------------------------------------------ */

/* Seconds that rows take longer because their lengths are not foreseen, and because x is far from what was read before
 * and not in the core's own cache. */
static double surprises(const trs_machine *m, const trs_shape *s, double entries, double rows)
{
    const double x = (double)s->n * s->elem, own = m->cpu_own_cache;
    const double missed = x > own ? 1 - own / x : 0;
    return rows * s->uneven * m->cpu_branch + entries * s->irregular * missed * m->cpu_gather;
}

/* The bytes of a triangle and its vectors. */
static double size_of(const trs_shape *s)
{
    return (double)s->nnz * (s->elem + 4) + (double)s->n * (8 + 3 * s->elem);
}

bool trs_cpu_keeps(const trs_machine *m, const trs_shape *s)
{
    return size_of(s) < m->cpu_cache;
}

double trs_cpu_byte(const trs_machine *m, const trs_shape *s)
{
    return trs_cpu_keeps(m, s) ? m->cpu_cached : m->cpu_byte;
}

double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows)
{
    const double read = entries * (s->elem + 4) + rows * (8 + 3 * s->elem);
    const double bytes = read * trs_cpu_byte(m, s);
    const double each = m->cpu_entry * (s->is_complex ? m->cpu_complex : 1);
    return (bytes + entries * each + rows * m->cpu_row + surprises(m, s, entries, rows)) * s->nrhs;
}

/* In the order of levels the entries of neighbouring rows have their x apart from one another.  A core whose own cache has
 * all of the triangle reads them as fast as others; from the next cache they come in a quarter of the time of cpu_gather. */
double trs_cpu_scatter(const trs_machine *m, const trs_shape *s)
{
    const double n = (double)s->n, nearer = 0.25;
    double seconds = 0;
    if (size_of(s) > m->cpu_own_cache)
        seconds += nearer * m->cpu_gather * (double)(s->nnz - s->n) * s->nrhs;
    if (2 * n * s->elem > m->cpu_near * m->cpu_cache)
        seconds += s->scattered * n * m->cpu_scatter * s->nrhs;
    return seconds;
}

double trs_cpu_wait(const trs_machine *m, double waiting, double rows, double work)
{
    const double latency = rows * m->cpu_latency;
    return latency > work ? waiting * (latency - work) : 0;
}

double trs_seconds(const trs_cost *c)
{
    return c->bytes + c->sync + c->latency + c->copies;
}

double trs_seconds_each(const trs_cost *c, int solves_per_update)
{
    return trs_seconds(c) + (solves_per_update ? c->update / solves_per_update : 0);
}

void trs_cost_add(trs_cost *sum, const trs_cost *c)
{
    sum->bytes += c->bytes;
    sum->sync += c->sync;
    sum->latency += c->latency;
    sum->copies += c->copies;
    sum->update += c->update;
    sum->preliminary |= c->preliminary;
}
