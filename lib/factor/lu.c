/* lu.c: the factors of a matrix, and the plans of their triangles; lu_solve.c solves with them.
 *
 * Which library made the factors does not matter here.  Complete factors are in double precision; on demand the plans have
 * them rounded to single precision.  Incomplete factors are of the type of A. */
#include "config.h"

#include "again/lu_again.h"
#include "base/debug.h"
#include "base/device.h"
#include "core/refresh.h"
#include "device/inverse.h"
#include "device/lu_device.h"
#include "lu_mat.h"
#include "suitesparse/core_table.h"

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- create and destroy --------------------------------------------------------------------- */

int trs_lu_new(trs_lu **lu, const trs_mat *A, const trs_options *opt, int solves_per_update)
{
    if (!lu) return trs_fail(TRS_EARG, "lu is NULL");
    *lu = NULL;
    if (!A) return trs_fail(TRS_EARG, "A is NULL");
    const int rc = TRS_CHECK_RESERVED(opt, "trs_options");
    if (rc) return rc;
    if (!opt->memory.alloc != !opt->memory.free)
        return trs_fail(TRS_EARG, "one of memory.alloc and memory.free is NULL");
    trs_lu *a = *lu = trs_alloc_zero(&opt->memory, 1, sizeof *a);
    if (!a) return trs_fail(TRS_EMEM, "out of memory for a handle");
    a->mem = opt->memory;
    pthread_mutex_init(&a->lock, NULL);
    a->opt = *opt;
    a->opt.layout = TRS_COL_MAJOR; /* of the vectors between the triangles */
    if (opt->device > 0 && !opt->solves_per_update) a->opt.solves_per_update = solves_per_update;
    if (opt->solver) {
        snprintf(a->solver, sizeof a->solver, "%s", opt->solver);
        a->opt.solver = a->solver;
    }
    if (opt->nrhs < 0) return trs_fail(TRS_EARG, "nrhs = %d is negative", opt->nrhs);
    if (opt->device_count) return trs_fail(TRS_ESUPPORT, "factors do not solve on several devices");
    a->info.first_boosted = -1;
    a->width = opt->nrhs > 0 ? opt->nrhs : 1;
    return trs_check_device(opt->device);
}

void *trs_lu_alloc(trs_lu *lu, int64_t count, size_t size, const char *what)
{
    trs_context ctx = {.mem = lu->mem};
    return trs_new(&ctx, count, size, what);
}

void trs_lu_free_each(const trs_lu *lu, int count, void *const *p)
{
    trs_free_each(&lu->mem, count, p);
}

void trs_lu_triangles_free(trs_lu *lu, trs_factors *f)
{
    if (f->U.ptr == f->L.ptr) f->U.ptr = f->U.idx = f->U.val = NULL;
    trs_lu_mat_free(lu, &f->U);
    trs_lu_mat_free(lu, &f->L);
}

void trs_lu_factors_free(trs_lu *lu, trs_factors *f)
{
    trs_lu_triangles_free(lu, f);
    trs_lu_free(lu, f->P, f->Q, f->scale, f->sign, f->block);
    memset(f, 0, sizeof *f);
}

void trs_lu_destroy(trs_lu *lu)
{
    if (!lu) return;
    trs_enter();
    if (lu->backend) lu->release(lu, lu->backend);
    trs_lu_inverse_free(lu);
    trs_plan_destroy(lu->l);
    trs_plan_destroy(lu->u);
    trs_lu_device_free(lu);
    trs_lu_again_free(lu);
    trs_lu_half_free(lu);
    trs_lu_mat_free(lu, &lu->pattern);
    trs_lu_factors_free(lu, &lu->f);
    trs_lu_free(lu, lu->signs);
    trs_lu_vectors_free(lu);
    trs_lu_stop_waiting(lu);
    pthread_mutex_destroy(&lu->lock);
    trs_memory mem = lu->mem;
    trs_free(&mem, lu);
    trs_leave_silently();
}

/* ---- factors in, plans out ------------------------------------------------------------------ */

/* Prefix the sentence of a plan's failure with the factor's name. */
static int name_factor(int rc, const char *name)
{
    if (rc) trs_fail(rc, "factor %s: %s", name, trs_message());
    return rc;
}

int trs_lu_plan_of(trs_lu *lu, trs_plan **plan, const trs_mat *m, const char *name, void *stream)
{
    const trs_exec exec = {.stream = stream};
    if (*plan && m->device > 0 && trs_plan_refreshes(*plan))
        return name_factor(trs_plan_refresh(*plan, m, &exec), name);
    if (*plan) return name_factor(trs_plan_update(*plan, m, &exec), name);
    trs_options opt = lu->opt;
    if (lu->f.cholesky) opt.ops = 1u << TRS_N | 1u << TRS_H;
    /* both triangles take their values at the same time: each has half of it */
    if (lu->refreshes && opt.solves_per_update < INT_MAX / 2) opt.solves_per_update *= 2;
    int rc = trs_step(*name == 'U' ? "analysis of U" : "analysis of L", -1);
    if (!rc) rc = trs_plan_create(plan, m, &opt);
    if (!rc && lu->refreshes) trs_plan_require_refresh(*plan);
    if (!rc) rc = trs_plan_analyse(*plan);
    name_factor(rc, name);
    if (rc) trs_plan_destroy(*plan), *plan = NULL;
    return rc;
}

trs_dtype trs_lu_single(trs_dtype t)
{
    return trs_is_complex(t) ? TRS_C32 : TRS_F32;
}

trs_dtype trs_lu_plan_type(const trs_lu *lu)
{
    if (lu->single) return trs_lu_single(lu->f.L.dtype);
    return lu->f.L.dtype;
}

/* val = the values of m in single precision. */
static int round_values(const trs_mat *m, void *val, const char *name)
{
    double z[2];
    for (int64_t p = 0; p < m->nnz; p++) {
        trs_number_get(m->val, m->dtype, p, z);
        if (fabs(z[0]) > (double)FLT_MAX || fabs(z[1]) > (double)FLT_MAX)
            return trs_fail(TRS_ESUPPORT, "factor %s: %.3g is beyond its range", name,
                            fmax(fabs(z[0]), fabs(z[1])));
        trs_number_put(val, trs_lu_single(m->dtype), p, z);
    }
    return TRS_OK;
}

/* Like trs_lu_plan_of, with the triangle in the precision of the plans. */
static int plan_for(trs_lu *lu, trs_plan **plan, const trs_mat *m, const char *name)
{
    trs_mat low = *m;
    if (!lu->single) return trs_lu_plan_of(lu, plan, m, name, NULL);
    low.dtype = trs_lu_single(m->dtype);
    void *val = trs_lu_alloc(lu, m->nnz, trs_size(low.dtype), "rounded factors");
    low.val = val;
    int rc = TRS_EMEM;
    if (val) rc = round_values(m, val, name);
    if (!rc) rc = trs_lu_plan_of(lu, plan, &low, name, NULL);
    trs_lu_free(lu, val);
    return rc;
}

void trs_lu_drop_plans(trs_lu *lu)
{
    trs_plan_destroy(lu->l);
    trs_plan_destroy(lu->u);
    lu->l = lu->u = NULL;
    lu->info.l = lu->info.u = NULL;
    lu->info.nnz_l = lu->info.nnz_u = 0;
    lu->drops++;
}

void trs_lu_set_info(trs_lu *lu, double seconds)
{
    trs_lu_info *info = &lu->info;
    const trs_factors *f = &lu->f;
    info->library = f->library, info->ordering = f->ordering, info->rcond = f->rcond;
    info->n = f->L.n;
    info->nnz_l = lu->l ? lu->l->info.nnz : 0;
    info->nnz_u = lu->u ? lu->u->info.nnz : 0;
    info->l = lu->l, info->u = lu->u;
    info->seconds_analyse = seconds;
}

int trs_lu_plan(trs_lu *lu, bool only_l)
{
    const double start = trs_now();
    const bool s = lu->single, both = !lu->f.cholesky && !only_l;
    int rc = plan_for(lu, &lu->l, &lu->f.L, s ? "L in single precision" : "L");
    if (!rc && both) rc = plan_for(lu, &lu->u, &lu->f.U, s ? "U in single precision" : "U");
    if (!rc && !only_l) rc = trs_lu_vectors(lu);
    lu->ready = !rc && !only_l;
    trs_lu_set_info(lu, trs_now() - start);
    return rc;
}

/* Is p a permutation of 0 .. n-1?  For assertions: true if there is no memory to check it. */
static inline bool is_permutation(const int64_t *p, int64_t n)
{
    char *seen = trs_alloc_zero(NULL, n, 1);
    bool good = true;
    for (int64_t k = 0; k < n && seen && good; k++) {
        good = p[k] >= 0 && p[k] < n && !seen[p[k]];
        if (good) seen[p[k]] = 1;
    }
    trs_free(NULL, seen);
    return good;
}

/* Move *f to the lu. */
static void take_over(trs_lu *lu, trs_factors *f)
{
    TRS_ASSERT(!f->P || is_permutation(f->P, f->L.n));
    TRS_ASSERT(!f->Q || is_permutation(f->Q, f->L.n));
    TRS_ASSERT(f->cholesky || f->U.n == f->L.n);
    lu->ready = lu->never_again = false;
    trs_lu_again_free(lu);
    trs_lu_factors_free(lu, &lu->f);
    lu->f = *f;
    memset(f, 0, sizeof *f);
}

int trs_lu_adopt(trs_lu *lu, trs_factors *f)
{
    const double start = trs_now();
    if (lu->device || (lu->again && !lu->f.sign) || !trs_lu_same_pattern(&lu->f.L, &f->L) ||
        !trs_lu_same_pattern(&lu->f.U, &f->U))
        trs_lu_drop_plans(lu);
    trs_lu_device_free(lu);
    take_over(lu, f);
    int rc = trs_lu_plan(lu, false);
    if (rc) trs_lu_drop_plans(lu); /* so that the next adopt makes new ones */
    trs_lu_set_info(lu, trs_now() - start);
    return rc;
}

int trs_lu_keep_pattern(trs_lu *lu, const trs_mat *A)
{
    trs_mat *to = &lu->pattern;
    if (to->ptr && to->ptr == A->ptr) return TRS_OK;
    trs_lu_mat_free(lu, to);
    *to = trs_lu_shape(A);
    if (A->format == TRS_DENSE) return TRS_OK;
    const int rc = trs_lu_mat_copy(lu, A, false, to, "the pattern of A");
    if (rc) trs_lu_mat_free(lu, to);
    return rc;
}

/* A number of a DENSE matrix that was zero may not be so any more. */
static bool device_may_factor(const trs_lu *lu, const trs_mat *A, const trs_factors *f)
{
    if (A->format == TRS_DENSE) return false;
    return f->symbolic || !lu->host_only;
}

static int adopt_on_device(trs_lu *lu, const trs_mat *A, trs_factors *f)
{
    const bool there = device_may_factor(lu, A, f);
    bool made = false;
    int rc = TRS_OK;
    if (!there && !f->symbolic) return trs_lu_adopt(lu, f);
    trs_lu_drop_plans(lu);
    trs_lu_device_free(lu);
    take_over(lu, f);
    if (there) rc = trs_lu_complete_make(lu, A, &made);
    if (!rc && !made && lu->f.symbolic)
        rc = trs_fail(TRS_EGROWTH, "no kernel factors A with pivots on the diagonal");
    if (!rc && !made) rc = trs_lu_plan(lu, false);
    if (rc) trs_lu_drop_plans(lu);
    return rc;
}

/* Factors whose numbers are computed here.  A = NULL: they were, and have waited. */
static int adopt_symbolic(trs_lu *lu, const trs_mat *A, trs_factors *f)
{
    struct trs_lu_again *waited = A ? NULL : lu->again;
    double growth;
    if (waited) lu->again = NULL;
    trs_lu_drop_plans(lu);
    trs_lu_device_free(lu);
    take_over(lu, f);
    lu->again = waited;
    int rc = A ? trs_lu_again_begin(lu, A, TRS_HARMLESS_GROWTH, &growth) : TRS_OK;
    if (!rc) rc = trs_lu_again_settle(lu);
    if (rc) trs_lu_drop_plans(lu);
    if (rc && !waited) trs_lu_again_free(lu);
    return rc;
}

int trs_lu_adopt_there(trs_lu *lu, const trs_mat *A, trs_factors *f)
{
    const int rc = A ? trs_lu_keep_pattern(lu, A) : TRS_OK;
    if (rc) return rc;
    if (lu->opt.device > 0) return adopt_on_device(lu, A, f);
    return f->symbolic ? adopt_symbolic(lu, A, f) : trs_lu_adopt(lu, f);
}

const struct trs_core *trs_core(void)
{
#define ENTRY(name) .name = name,
    static const struct trs_core table = {TRS_CORE_FUNCTIONS(ENTRY)};
    return &table;
}

/* ---- inquiry ------------------------------------------------------------------ */

/* Bring the arrays of lu->f up to date, wherever the factors are. */
static int show(trs_lu *lu)
{
    int rc = TRS_OK;
    if (lu->device && lu->ready) rc = trs_lu_device_fetch(lu);
    if (!rc) rc = trs_lu_settle(lu);
    if (!rc) rc = trs_lu_again_fetch(lu);
    return rc;
}

int trs_lu_factors(const trs_lu *lu, trs_mat *L, trs_mat *U, const int64_t **P, const int64_t **Q,
                   const double **scale)
{
    trs_enter();
    if (lu && lu->blocks)
        return trs_leave(
            trs_fail(TRS_ESUPPORT,
                     "factors: those of %s are blocks; with block = 1 in trs_ilu_options, "
                     "they are triangles of numbers",
                     lu->f.library));
    const int rc = lu ? show((trs_lu *)lu) : TRS_OK;
    if (rc) return trs_leave(rc);
    if (!lu || !lu->ready || !lu->f.L.ptr)
        return trs_leave(trs_fail(TRS_EARG, "factors: there are none"));
    if (L) *L = lu->f.L;
    if (U) *U = lu->f.U;
    if (P) *P = lu->f.P;
    if (Q) *Q = lu->f.cholesky ? lu->f.P : lu->f.Q;
    if (scale) *scale = lu->f.scale;
    return trs_leave(TRS_OK);
}

/* Are the factors L S L^H or L L^H, and complete? */
static int check_middle(const trs_lu *lu, const char *asked)
{
    if (!lu) return trs_fail(TRS_EARG, "%s: lu is NULL", asked);
    const int rc = trs_lu_settle(lu);
    if (rc) return rc;
    if (!lu->ready) return trs_lu_no_factors(lu, asked);
    if (!lu->f.incomplete && lu->f.cholesky)
        return lu->device && lu->f.sign ? trs_lu_device_signs((trs_lu *)lu) : TRS_OK;
    return trs_fail(TRS_ESUPPORT, "%s: it takes complete factors L D L' or L L'", asked);
}

static int inertia(const trs_lu *lu, int64_t *positive, int64_t *negative, int8_t *sign)
{
    const int rc = check_middle(lu, "inertia");
    int64_t below = 0;
    if (rc) return rc;
    const trs_factors *f = &lu->f;
    for (int64_t k = 0; k < f->L.n; k++) {
        const int8_t s = f->sign ? f->sign[k] : 1;
        below += s < 0;
        if (sign) sign[k] = s;
    }
    if (positive) *positive = f->L.n - below;
    if (negative) *negative = below;
    if (!f->sign || lu->info.boosted == 0) return TRS_OK;
    return trs_fail(TRS_EPIVOT,
                    "inertia: %" PRId64 " pivots were replaced, so it is that of a matrix near A",
                    lu->info.boosted);
}

/* Rows k and k + 1 of S, from the block s of its inverse, whose determinant is 1 or -1. */
static void invert_block(const double *s, int64_t k, double *diagonal, double *beside, int parts)
{
    const double det = s[0] * s[1] - s[2] * s[2] - s[3] * s[3];
    diagonal[k] = s[1] / det;
    diagonal[k + 1] = s[0] / det;
    for (int q = 0; q < parts && beside; q++) beside[parts * k + q] = -s[2 + q] / det;
}

/* A device has blocks of S as rows that it has turned (device/turned.h), from which its factors are brought back. */
static int fetch_middle(const trs_lu *lu)
{
    const int rc = check_middle(lu, "middle");
    if (rc || !lu->device || !lu->f.block) return rc;
    return trs_lu_device_fetch((trs_lu *)lu);
}

static int middle(const trs_lu *lu, double *diagonal, double *beside, int64_t *blocks)
{
    const int rc = fetch_middle(lu);
    if (rc) return rc;
    if (!diagonal) return trs_fail(TRS_EARG, "middle: diagonal is NULL");
    const trs_factors *f = &lu->f;
    const int parts = trs_is_complex(f->L.dtype) ? 2 : 1;
    int64_t count = 0;
    for (int64_t k = 0; k < parts * f->L.n && beside; k++) beside[k] = 0;
    for (int64_t k = 0; k < f->L.n; k++) {
        const double *s = f->block ? f->block + 4 * k : NULL;
        if (s && (s[2] != 0 || s[3] != 0)) {
            invert_block(s, k++, diagonal, beside, parts);
            count++;
        } else diagonal[k] = f->sign ? f->sign[k] : 1;
    }
    if (blocks) *blocks = count;
    return TRS_OK;
}

int trs_lu_middle(const trs_lu *lu, double *diagonal, void *beside, int64_t *blocks)
{
    return trs_call(middle(lu, diagonal, beside, blocks));
}

int trs_lu_inertia(const trs_lu *lu, int64_t *positive, int64_t *negative, int8_t *sign)
{
    return trs_call(inertia(lu, positive, negative, sign));
}

int trs_lu_peek_info(const trs_lu *lu, trs_lu_info *info)
{
    trs_enter();
    if (!lu || !info) return trs_leave(trs_fail(TRS_EARG, "info: lu or info is NULL"));
    const bool held = trs_lu_hold((trs_lu *)lu);
    *info = lu->info;
    if (held) trs_lu_release((trs_lu *)lu);
    trs_leave_silently();
    return TRS_OK;
}

int trs_lu_get_info(const trs_lu *lu, trs_lu_info *info)
{
    trs_enter();
    if (!lu || !info) return trs_leave(trs_fail(TRS_EARG, "info: lu or info is NULL"));
    const int rc = trs_lu_settle(lu);
    *info = lu->info;
    if (rc) return trs_leave(rc);
    trs_leave_silently();
    return TRS_OK;
}
