/* refine_host.c: the steps of refinement with A, B and X on the host, wherever the plan or the factors solve. */
#include "config.h"

#include "refine.h"
#include "base/debug.h"
#include "factor/lu_hosted.h"

typedef struct here {
    trs_mat A;     /* without blocks */
    trs_sums s;    /* the residual and the sizes of its terms */
    void *d;       /* [n] correction, of type low */
    double *best;  /* [2*n] the best x so far */
    void *stage;   /* [n] on the device, for a plan or factors that solve there */
    bool expanded; /* A is to be freed */
} here;

static void get(const trs_refiner *s, trs_column v, int64_t i, double z[2])
{
    trs_number_get(v.p, s->A->dtype, i * v.step, z);
}

static void put(const trs_refiner *s, trs_column v, int64_t i, const double z[2])
{
    trs_number_put(v.p, s->A->dtype, i * v.step, z);
}

/* d = op(A)^-1 d */
static int correct(const trs_refiner *s)
{
    const here *h = s->data;
    if (s->lu) return trs_lu_solve_hosted(s->lu, s->op, h->d, h->stage, s->exec);
    return trs_solve_hosted(s->plan, s->op, h->d, h->stage, s->exec);
}

static int step(const trs_refiner *s, trs_column x, const trs_error *e)
{
    const here *h = s->data;
    const int64_t n = s->A->n;
    double scale = 1, z[2],
           c[2]; /* r is divided by it, and d multiplied, if d has less range than r */
    if (s->low != s->A->dtype) scale = trs_power_near(e->residual);
    for (int64_t i = 0; i < n; i++) {
        z[0] = (double)(h->s.re[i] / scale), z[1] = (double)(h->s.im[i] / scale);
        trs_number_put(h->d, s->low, i, z);
    }
    int rc = correct(s);
    for (int64_t i = 0; i < n && !rc; i++) {
        get(s, x, i, z);
        trs_number_get(h->d, s->low, i, c);
        z[0] += scale * c[0], z[1] += scale * c[1];
        put(s, x, i, z);
    }
    return rc;
}

static int residual(const trs_refiner *s, trs_column b, trs_column x, trs_error *e)
{
    const here *h = s->data;
    trs_residual(&h->A, s->op, b, x, &h->s, s->ctx.threads, e);
    return TRS_OK;
}

static int keep(const trs_refiner *s, trs_column x)
{
    const here *h = s->data;
    for (int64_t i = 0; i < s->A->n; i++) get(s, x, i, h->best + 2 * i);
    return TRS_OK;
}

static int take_back(const trs_refiner *s, trs_column x)
{
    const here *h = s->data;
    for (int64_t i = 0; i < s->A->n; i++) put(s, x, i, h->best + 2 * i);
    return TRS_OK;
}

/* How many entries the longest row of op(A) has.  Counts are kept in the sizes, which are not in use yet. */
static double longest_row(const here *h, trs_op op)
{
    const trs_mat *A = &h->A;
    const bool rows = (A->format == TRS_CSR) == (op == TRS_N);
    long double most = 0, *count = h->s.size;
    for (int64_t i = 0; i < A->n; i++) count[i] = 0;
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = trs_major_end(A, l);
        for (int64_t p = trs_major_begin(A, l); p < end; p++) {
            const int64_t c = trs_minor_index(A, l, p), i = A->format == TRS_CSR ? l : c;
            TRS_ASSERT(c >= 0 && c < A->n);
            if (trs_in_triangle(A->kind, i, l + c - i)) count[rows ? l : c] += 1;
        }
    }
    for (int64_t i = 0; i < A->n; i++)
        if (count[i] > most) most = count[i];
    return (double)most;
}

/* The stage of the plan or the factors, and the vectors. */
static int make_vectors(trs_refiner *s, here *h)
{
    const int64_t n = s->A->n;
    int rc;
    if (s->lu) rc = trs_lu_hosted_new(s->lu, &h->stage);
    else rc = trs_hosted_new(s->plan, &h->stage);
    if (!rc) rc = trs_sums_new(&s->ctx.mem, n, &h->s);
    if (rc) return rc;
    h->d = trs_alloc(&s->ctx.mem, n, trs_size(s->low));
    h->best = trs_alloc(&s->ctx.mem, 2 * n, sizeof *h->best);
    if (h->d && h->best) return TRS_OK;
    return trs_fail(TRS_EMEM, "out of memory for the refinement");
}

static int begin(trs_refiner *s)
{
    here *h = s->data = trs_alloc_zero(&s->ctx.mem, 1, sizeof *h);
    if (!h) return trs_fail(TRS_EMEM, "out of memory for the refinement");
    int rc = trs_expand(&s->ctx, s->A, &h->A);
    h->expanded = !rc;
    if (!rc) rc = make_vectors(s, h);
    if (!rc) s->longest = longest_row(h, s->op);
    return rc;
}

static void end(trs_refiner *s)
{
    here *h = s->data;
    if (!h) return;
    if (s->lu) trs_lu_hosted_free(s->lu, h->stage);
    else trs_hosted_free(s->plan, h->stage);
    if (h->expanded) trs_expand_done(&s->ctx, s->A, &h->A);
    trs_free_all(&s->ctx.mem, h->s.re, h->d, h->best, h);
}

const trs_refining trs_refining_here = {begin, end, residual, step, keep, take_back};
