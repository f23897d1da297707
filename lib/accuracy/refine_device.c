/* refine_device.c: the steps of refinement with A, B and X on one device, where the plan or the factors solve.
 *
 * All work is enqueued on one stream.  Each residual waits for its errors, a few numbers, by which the next step is
 * decided; no vector goes to the host. */
#include "config.h"

#include "refine.h"
#include "base/debug.h"
#include "base/device.h"

typedef struct there {
    trs_device_rows rows;
    void *memory;   /* of all that follows */
    void *r, *best; /* [n] the residual, and the best x so far, of the type of A */
    void *d;        /* [n] correction, of type low; r itself if that is the type of A */
    double *size;   /* [1] the largest number of r, for a d of less range */
    void *scratch;  /* of a residual */
} there;

static trs_view view_of(trs_column v)
{
    return (trs_view){v.p, v.step, 0};
}

/* How a vector of the type of A goes to one of `inner` and back. */
static trs_move move_of(const trs_refiner *s, trs_dtype inner)
{
    return (trs_move){.n = (int32_t)s->A->n, .nrhs = 1, .outer = s->A->dtype, .inner = inner};
}

/* d = op(A)^-1 d */
static int correct(const trs_refiner *s, void *d)
{
    const int64_t n = s->A->n;
    const trs_exec *e = s->exec;
    trs_exec exec = {.stream = e->stream, .lu_work = e->lu_work};
    if (!s->lu) exec.work = e->work;
    if (s->lu) return trs_lu_solve(s->lu, s->op, 1, d, n, d, n, &exec);
    return trs_solve(s->plan, s->op, 1, d, n, d, n, &exec);
}

static int step(const trs_refiner *s, trs_column x, const trs_error *e)
{
    const there *t = s->data;
    const bool low = s->low != s->A->dtype;
    const trs_view r = {t->r, 1, 0}, d = {t->d, 1, 0};
    trs_move m = move_of(s, s->low);
    m.size = low ? t->size : NULL;
    m.add = true;
    (void)e;
    int rc = TRS_OK;
    if (low) rc = trs_gpu_bring(&m, r, d, s->exec->stream);
    if (!rc) rc = correct(s, t->d);
    if (!rc) rc = trs_gpu_put_back(&m, d, view_of(x), s->exec->stream);
    return rc;
}

static int residual(const trs_refiner *s, trs_column b, trs_column x, trs_error *e)
{
    const there *t = s->data;
    trs_findings found;
    const int rc = trs_gpu_residual(&t->rows.lines, 1, view_of(b), view_of(x), t->r, t->scratch,
                                    &found, s->exec->stream);
    if (!rc) *e = trs_error_of(&found, s->A->dtype);
    return rc;
}

static int keep(const trs_refiner *s, trs_column x)
{
    const there *t = s->data;
    const trs_move m = move_of(s, s->A->dtype);
    return trs_gpu_bring(&m, view_of(x), (trs_view){t->best, 1, 0}, s->exec->stream);
}

static int take_back(const trs_refiner *s, trs_column x)
{
    const there *t = s->data;
    const trs_move m = move_of(s, s->A->dtype);
    return trs_gpu_put_back(&m, (trs_view){t->best, 1, 0}, view_of(x), s->exec->stream);
}

/* Take bytes of what begins at *at; every part begins at a multiple of 256. */
static void *take(char **at, int64_t bytes)
{
    void *p = *at;
    *at += (bytes + 255) / 256 * 256;
    return p;
}

static int make_vectors(trs_refiner *s, there *t)
{
    const int64_t n = s->A->n, scratch = trs_gpu_residual_bytes(1);
    const int64_t high = n * (int64_t)trs_size(s->A->dtype), low = n * (int64_t)trs_size(s->low);
    const int64_t bytes = 2 * high + low + scratch + 5 * 256;
    char *at = t->memory = trs_gpu_new(&s->ctx, bytes, 1, "the refinement");
    if (!at) return TRS_EMEM;
    t->r = take(&at, high);
    t->best = take(&at, high);
    t->d = s->low == s->A->dtype ? t->r : take(&at, low);
    t->scratch = take(&at, scratch);
    t->size = take(&at, sizeof *t->size);
    TRS_ASSERT(at <= (char *)t->memory + bytes);
    return TRS_OK;
}

static int begin(trs_refiner *s)
{
    void *stream = s->exec->stream;
    int64_t longest = 0;
    double norm;
    there *t = s->data = trs_alloc_zero(&s->ctx.mem, 1, sizeof *t);
    if (!t) return trs_fail(TRS_EMEM, "out of memory for the refinement");
    s->ctx.device = s->A->device - 1;
    if (s->A->n == 0) return TRS_OK;
    int rc = trs_rows_open(&s->ctx, s->A, s->op, true, stream, &t->rows);
    if (!rc) rc = make_vectors(s, t);
    if (!rc) rc = trs_gpu_survey(&t->rows.lines, t->scratch, &longest, &norm, stream);
    s->longest = (double)longest;
    return rc;
}

static void end(trs_refiner *s)
{
    there *t = s->data;
    if (!t) return;
    if (t->memory) (void)trs_gpu_wait(s->exec->stream); /* for X, and for what may use the memory */
    trs_gpu_free(&s->ctx, t->memory);
    trs_rows_close(&s->ctx, &t->rows);
    trs_free(&s->ctx.mem, t);
}

const trs_refining trs_refining_there = {begin, end, residual, step, keep, take_back};
