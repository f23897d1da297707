/* gather.c: brings vectors into another order, type or layout; see gather.h.
 *
 * A thread takes a range of rows, of all columns: where B is stored by rows, a row's cache line is fetched once.  A real
 * number in double precision takes 8 + 4 bytes that stream, 8 for the scaling, and 8 at random: 0.3 to 0.5 ns while the
 * vector is in the cache, and the time of a cache miss over the ten or so that a core has under way when it is not.  All
 * addresses are known beforehand, so that loads do not wait for one another. */
#ifndef T

#include "config.h"

#include "gather.h"
#include "base/number/clones.h"
#include "base/debug.h"
#include "base/parallel.h"

enum {
    SHARED_FROM = 100000, /* numbers; fewer take less than 50 us */
    ROWS = 4096           /* that a thread takes at a time */
};

/* What is done to a number is known when a loop is compiled, so that there is no branch in it. */
enum how { COPY, PERMUTE, SCALE };

typedef struct column { /* what a loop goes by */
    const int32_t *perm;
    const double *scale; /* one number if there is no scaling, and step is 0 then */
    int64_t scale_step;
    double re, im; /* what the parts of a number are multiplied by */
    int64_t from_step, to_step;
} column;

TRS_INLINE void put(void *to, int64_t k, double v, bool single)
{
    if (single) ((float *)to)[k] = (float)v;
    else ((double *)to)[k] = v;
}

typedef struct gathering {
    const trs_gather *g;
    trs_view from, to;
} gathering;

static column column_of(const gathering *w, int r)
{
    static const double one = 1;
    const trs_gather *g = w->g;
    column c = {.perm = g->perm, .scale = g->scale ? g->scale : &one, .re = 1};
    c.scale_step = g->scale != NULL;
    if (g->unit) c.re = g->unit[r];
    c.im = g->conj ? -c.re : c.re;
    c.from_step = w->from.rs;
    c.to_step = w->to.rs;
    return c;
}

static enum how how_of(const trs_gather *g)
{
    const bool plain = !g->scale && !g->unit && !(g->conj && trs_is_complex(g->from));
    TRS_ASSERT(g->perm || plain);
    if (!plain) return SCALE;
    return g->perm ? PERMUTE : COPY;
}

static void *from_column(trs_view v, int r, trs_dtype t)
{
    return (char *)v.p + r * v.cs * (int64_t)trs_size(t);
}

#define TRS_BODY "vectors/gather.c"
#include "base/each_type.h"

void trs_gather_rows(const trs_gather *g, int threads, trs_view from, trs_view to)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(gather_range);
    gathering w = {g, from, to};
    TRS_ASSERT(trs_is_complex(g->from) == trs_is_complex(g->to));
    if (g->n * g->nrhs < SHARED_FROM) threads = 1;
    trs_share(threads, g->n, ROWS, table[g->from], &w);
}

void trs_scatter_rows(const trs_gather *g, trs_view from, trs_view to)
{
    typedef void (*scatter_fn)(const trs_gather *, trs_view, trs_view);
    static const scatter_fn table[] = TRS_PER_TYPE(scatter);
    TRS_ASSERT(g->from == g->to && how_of(g) == PERMUTE);
    table[g->from](g, from, to);
}

double trs_gather_largest(const trs_gather *g, trs_view from, int r)
{
    typedef double (*largest_fn)(const column *, const trs_gather *, const void *);
    static const largest_fn table[] = TRS_PER_TYPE(largest);
    const gathering w = {g, from, from};
    const column c = column_of(&w, r);
    return table[g->from](&c, g, from_column(from, r, g->from));
}

#else

enum { FN(PARTS) = 1 + IS_COMPLEX };

TRS_INLINE void FN(loop)(const column *c, const REAL *from, void *to, int64_t begin, int64_t end,
                         enum how how, bool single)
{
    const column d = *c;
    for (int64_t k = begin; k < end; k++) {
        const int64_t p = how == COPY ? k : d.perm[k];
        const REAL *v = from + FN(PARTS) * d.from_step * p;
        const int64_t q = FN(PARTS) * d.to_step * k;
        const double s = how == SCALE ? d.scale[d.scale_step * k] : 1;
        put(to, q, how == SCALE ? d.re * (s * v[0]) : v[0], single);
        if (IS_COMPLEX)
            put(to, q + 1, how == SCALE ? d.im * (s * v[IS_COMPLEX]) : v[IS_COMPLEX], single);
    }
}

/* The same with how as a constant. */
TRS_INLINE void FN(loop_to)(const column *c, const REAL *from, void *to, int64_t begin, int64_t end,
                            enum how how, bool single)
{
    if (how == COPY) FN(loop)(c, from, to, begin, end, COPY, single);
    else if (how == PERMUTE) FN(loop)(c, from, to, begin, end, PERMUTE, single);
    else FN(loop)(c, from, to, begin, end, SCALE, single);
}

static void FN(gather_range)(void *user, int64_t begin, int64_t end)
{
    const gathering *w = user;
    const trs_gather *g = w->g;
    for (int r = 0; r < g->nrhs; r++) {
        const column c = column_of(w, r);
        const REAL *from = from_column(w->from, r, g->from);
        void *to = from_column(w->to, r, g->to);
        if (trs_is_single(g->to)) FN(loop_to)(&c, from, to, begin, end, how_of(g), true);
        else FN(loop_to)(&c, from, to, begin, end, how_of(g), false);
    }
}

static void FN(scatter)(const trs_gather *g, trs_view from, trs_view to)
{
    const int32_t *perm = g->perm;
    for (int r = 0; r < g->nrhs; r++) {
        const T *y = from_column(from, r, g->from);
        T *x = from_column(to, r, g->to);
        for (int64_t k = 0; k < g->n; k++) x[perm[k] * to.rs] = y[k * from.rs];
    }
}

static double FN(largest)(const column *c, const trs_gather *g, const void *from)
{
    double most = 0;
    for (int64_t k = 0; k < g->n; k++) {
        const REAL *v = (const REAL *)from + FN(PARTS) * c->from_step * c->perm[k];
        const double s = fabs(c->scale[c->scale_step * k]);
        for (int part = 0; part < FN(PARTS); part++) {
            const double size = s * fabs((double)v[part]);
            most = size > most ? size : most;
        }
    }
    return most;
}

#endif
