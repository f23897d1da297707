/* inverse.c: the full inverse of A on a device: whether it pays, its numbers, and how accurate it is.
 *
 * The columns of M are solves with the factors, so A times a column is that of I to within rounding.  For x = M b this gives
 *     |b - A x| <= c n eps |A| |M| |b|
 * With |b| <= |A| |x| errors are those of substitution times the condition number of A at most.  As for the growth of inverted
 * diagonal blocks (cuda/blocks) the limit is 1e4; above it the triangles solve.  There is no inverse in single precision.
 * See Higham, Accuracy and Stability of Numerical Algorithms, chapter 14. */
#include "config.h"

#include "inverse.h"
#include "lu_device.h"
#include "base/debug.h"
#include "base/device.h"
#include "core/plan.h"
#include "elimination/inverse.h"

#include <math.h>

enum { WIDTH = 64 }; /* columns of I at a time */
static const double most_growth = 1e4, hopeless = 1e8;
/* Predictions are not so exact that a smaller gain is worth the memory. */
static const double enough = 0.8;
/* A column of I takes this part of a single solve, since a batch reads the factors once (0.25 to 0.45 on an H200). */
static const double share = 1.0 / 4;
/* Rows of M are read at this part of the bandwidth of memory, from the L2 cache; if it does not keep them, triangles of so
 * many rows are as fast (H100: 2500 rows take 32 us either way). */
static const double slower = 1.5, cached = 40e6;

struct trs_lu_inverse {
    trs_context ctx;
    void *rows;        /* [n*pitch] M, of the type of A */
    double *norm;      /* [2] */
    int64_t *ptr;      /* [n+1] of the pattern of A, from 0 */
    bool by_rows;      /* A is */
    bool bad;          /* A is ill-conditioned: the triangles solve */
    trs_lu_work *work; /* for the columns of I */
    int64_t drops;     /* those of the lu for which the work space was made */
};

/* ---- does it pay?  ------------------------------------------------------------------------------ */

/* The solves that share the cost of making an inverse. */
static double solves_between(const trs_lu *lu)
{
    return (double)trs_min(lu->opt.solves, lu->opt.solves_per_update);
}

/* Is a product with M predicted to be faster than two triangles, also with its part of the n solves that make it? */
static bool pays(const trs_lu *lu)
{
    const trs_machine *m = &lu->l->ctx.machine;
    const double l = lu->l->info.predicted, u = lu->u ? lu->u->info.predicted : l;
    const double n = (double)lu->f.L.n, bytes = n * n * (double)trs_size(lu->dtype);
    if (!(l > 0 && u > 0)) return false; /* the plans may still grow */
    const double product = m->gpu_launch + slower * bytes * m->gpu_byte;
    const double triangles = l + u + m->gpu_launch;
    return bytes <= cached &&
           product + n * share * (l + u) / solves_between(lu) < enough * triangles;
}

/* A with its arrays on the host; the factors have the pattern of one that is not there. */
static const trs_mat *pattern_of(const trs_lu *lu, const trs_mat *A)
{
    return A->device <= 0 && A->ptr ? A : &lu->pattern;
}

/* Are the triangles those of complete factors in the precision of A, and may the library choose what solves? */
static bool fits(const trs_lu *lu)
{
    if (lu->opt.device <= 0 || !lu->l || !lu->f.P || lu->f.incomplete || lu->single) return false;
    if (trs_is_single(lu->dtype)) return false;
    return lu->f.L.n > 1 && lu->opt.solves > 0 && !lu->solver[0] && !lu->opt.measure;
}

static bool may_have(const trs_lu *lu, const trs_mat *A)
{
    const trs_mat *p = pattern_of(lu, A);
    const unsigned ops = lu->opt.ops ? lu->opt.ops : 1u << TRS_N;
    if (!fits(lu) || !(lu->f.cholesky || ops & 1u << TRS_N)) return false;
    if (!p->ptr || (p->format != TRS_CSR && p->format != TRS_CSC)) return false;
    if (!pays(lu)) return false; /* which bounds n */
    const int64_t n = lu->f.L.n;
    const int64_t bytes = n * trs_inverse_pitch(n) * (int64_t)trs_size(lu->dtype);
    return lu->opt.memory_limit == 0 || bytes <= lu->opt.memory_limit;
}

/* ---- values ------------------------------------------------------------------------------------- */

void trs_lu_inverse_free(trs_lu *lu)
{
    trs_lu_inverse *v = lu->inverse;
    if (!v) return;
    trs_lu_work_destroy(v->work);
    trs_gpu_free(&v->ctx, v->rows);
    trs_gpu_free(&v->ctx, v->norm);
    trs_gpu_free(&v->ctx, v->ptr);
    trs_gpu_drop_ring(&v->ctx);
    trs_free(&lu->mem, v);
    lu->inverse = NULL;
}

/* The line pointers of A. */
static int put_lines(trs_lu *lu, const trs_mat *A)
{
    trs_lu_inverse *v = lu->inverse;
    const trs_mat *p = pattern_of(lu, A);
    int64_t *ptr = trs_lu_alloc(lu, p->n + 1, sizeof *ptr, "the rows of A");
    if (!ptr) return TRS_EMEM;
    v->by_rows = trs_by_rows(A);
    for (int64_t l = 0; l < p->n; l++) ptr[l] = trs_major_begin(p, l);
    ptr[p->n] = trs_major_end(p, p->n - 1);
    const int rc = trs_gpu_put(&v->ctx, v->ptr, ptr, (size_t)(p->n + 1) * sizeof *ptr);
    trs_lu_free(lu, ptr);
    return rc;
}

/* The largest line sum of |A|, whose values are on the host. */
static double norm_here(const trs_lu *lu, const trs_mat *A)
{
    const trs_mat *p = pattern_of(lu, A);
    double most = 0, z[2];
    for (int64_t l = 0; l < p->n; l++) {
        double sum = 0;
        for (int64_t k = trs_major_begin(p, l); k < trs_major_end(p, l); k++) {
            trs_number_get(A->val, A->dtype, k, z);
            sum += hypot(z[0], z[1]);
        }
        if (!(sum <= most)) most = sum;
    }
    return most;
}

static int find_norm(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_lu_inverse *v = lu->inverse;
    if (A->device > 0)
        return trs_gpu_inverse_norm_a(A->dtype, (int32_t)A->n, v->ptr, A->val, v->norm, stream);
    const double norm = norm_here(lu, A);
    if (trs_gpu_wait(stream))
        return TRS_EDEVICE; /* the last update may still need the other norm */
    return trs_gpu_put(&v->ctx, v->norm, &norm, sizeof norm);
}

/* A work space fits the plans that it was made for. */
static int new_work(trs_lu *lu)
{
    trs_lu_inverse *v = lu->inverse;
    if (v->work && v->drops == lu->drops) return TRS_OK;
    trs_lu_work_destroy(v->work);
    v->drops = lu->drops;
    return trs_lu_work_create(&v->work, lu, WIDTH);
}

/* M, all columns of I in place, and both norms. */
static int compute(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_lu_inverse *v = lu->inverse;
    const int32_t n = (int32_t)lu->f.L.n;
    const int64_t pitch = trs_inverse_pitch(n);
    int rc = new_work(lu);
    const trs_exec exec = {.stream = stream, .lu_work = v->work, .layout = TRS_ROW_MAJOR};
    if (!rc) rc = find_norm(lu, A, stream);
    if (!rc) rc = trs_gpu_inverse_identity(lu->dtype, n, v->rows, v->norm, stream);
    if (!rc) rc = trs_lu_solve(lu, TRS_N, n, v->rows, pitch, v->rows, pitch, &exec);
    if (rc) return rc;
    return trs_gpu_inverse_norm_m(lu->dtype, n, v->by_rows, v->rows, v->norm, stream);
}

int trs_lu_inverse_growth(trs_lu *lu, double *growth)
{
    trs_lu_inverse *v = lu->inverse;
    double norm[2];
    if (!v || v->bad) return TRS_OK;
    int rc = trs_gpu_wait_for_all(&v->ctx);
    if (!rc) rc = trs_gpu_get(&v->ctx, norm, v->norm, sizeof norm);
    if (!rc && !(norm[0] * norm[1] <= *growth)) *growth = norm[0] * norm[1];
    return rc;
}

/* Wait, and let the triangles solve if A is ill-conditioned. */
static int judge(trs_lu *lu)
{
    double growth = 0;
    lu->inverse->bad = false;
    const int rc = trs_lu_inverse_growth(lu, &growth);
    lu->inverse->bad = rc || !(growth <= most_growth);
    return rc;
}

static int make(trs_lu *lu, const trs_mat *A)
{
    const int64_t n = lu->f.L.n;
    trs_lu_inverse *v = lu->inverse = trs_alloc_zero(&lu->mem, 1, sizeof *v);
    if (!v) return TRS_EMEM;
    v->ctx = (trs_context){.mem = lu->mem, .device_memory = lu->opt.device_memory};
    v->ctx.device = lu->opt.device - 1;
    int rc = trs_gpu_use(&v->ctx);
    if (rc) return rc;
    v->rows = trs_gpu_new(&v->ctx, n * trs_inverse_pitch(n), trs_size(lu->dtype), "the inverse");
    v->norm = trs_gpu_new(&v->ctx, 2, sizeof *v->norm, "norms");
    v->ptr = trs_gpu_new(&v->ctx, n + 1, sizeof *v->ptr, "the rows of A");
    if (!v->rows || !v->norm || !v->ptr) return TRS_EMEM;
    rc = put_lines(lu, A);
    if (!rc) rc = compute(lu, A, NULL);
    return rc ? rc : judge(lu);
}

int trs_lu_inverse_make(trs_lu *lu, const trs_mat *A)
{
    TRS_ASSERT(!lu->inverse && lu->ready);
    if (!may_have(lu, A)) return TRS_OK;
    const int rc = make(lu, A);
    if (!rc && !lu->inverse->bad) return TRS_OK;
    trs_lu_inverse_free(lu);
    trs_forget();
    return rc == TRS_EDEVICE ? rc : TRS_OK;
}

/* An update that does not wait leaves M in use, as the plans keep their solvers: trs_lu_status tells, and x is NaN where half of
 * the digits are lost. */
static int renew(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_lu_inverse *v = lu->inverse;
    int rc = trs_gpu_use(&v->ctx);
    v->bad = true; /* until M is that of these factors */
    if (!rc && (!lu->device || v->drops != lu->drops)) rc = put_lines(lu, A);
    if (!rc) rc = compute(lu, A, stream);
    if (rc) return rc;
    if (!lu->device || lu->device->waits) return judge(lu);
    v->bad = false;
    return TRS_OK;
}

int trs_lu_inverse_renew(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1, .device = A->device - 1};
    trs_mat host;
    if (!lu->inverse) return TRS_OK;
    if (A->device <= 0 || A->device == lu->opt.device) return renew(lu, A, stream);
    int rc = trs_mat_fetch(&ctx, A, false, &host);
    if (!rc) rc = renew(lu, &host, stream);
    trs_mat_fetched(&ctx, A, &host);
    return rc;
}

/* ---- solves ------------------------------------------------------------------------------------- */

bool trs_lu_inverse_solves(const trs_lu *lu, trs_op op, int nrhs)
{
    return lu->inverse && !lu->inverse->bad && nrhs == 1 && (lu->f.cholesky || op == TRS_N);
}

int trs_lu_inverse_solve(const trs_lu *lu, trs_op op, trs_view b, trs_view x, void *stream)
{
    const trs_lu_inverse *v = lu->inverse;
    TRS_ASSERT(trs_lu_inverse_solves(lu, op, 1));
    return trs_gpu_inverse_multiply(lu->dtype, (int32_t)lu->f.L.n, v->rows, op == TRS_T, v->norm,
                                    hopeless, b, x, stream);
}
