/* lu_import.c: factors that another program has made become those of a trs_lu.
 *
 *     (L U)(k, m) = s(P(k)) A(P(k), Q(m)),  or  L L^H = A(P, P)
 *
 * L and U are copied, and later their new values; the library does not know A.  If P or Q is NULL it becomes the identity,
 * so that all solves are those of complete factors. */
#include "config.h"

#include "lu_mat.h"
#include "base/debug.h"
#include "core/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- checks --------------------------------------------------------------------------------- */

static int check_triangle(const trs_mat *m, unsigned wanted, const char *name)
{
    const unsigned triangles = TRS_LOWER | TRS_UPPER | TRS_PERMUTED | TRS_SELFADJOINT;
    if (m->format != TRS_CSR && m->format != TRS_CSC)
        return trs_fail(TRS_ESUPPORT, "factor %s: not a CSR or CSC", name);
    if ((m->kind & triangles) != wanted)
        return trs_fail(TRS_EARG, "factor %s: kind must be TRS_%s", name,
                        wanted == TRS_LOWER ? "LOWER" : "UPPER");
    int rc = trs_check_where(m);
    if (rc) trs_fail(rc, "factor %s: %s", name, trs_message());
    return rc;
}

static int check(const trs_mat *L, const trs_mat *U, const int64_t *Q, const double *scale)
{
    if (!L) return trs_fail(TRS_EARG, "import: L is NULL");
    int rc = check_triangle(L, TRS_LOWER, "L");
    if (rc) return rc;
    if (!U && (Q || scale || L->kind & TRS_UNIT))
        return trs_fail(TRS_EARG, "import: with L L^H there is no Q, no scaling, no TRS_UNIT");
    if (!U) return TRS_OK;
    if (U->n != L->n || U->dtype != L->dtype)
        return trs_fail(TRS_EARG, "import: L and U differ in n or dtype");
    return check_triangle(U, TRS_UPPER, "U");
}

/* ---- copies --------------------------------------------------------------------------------- */

/* *to = a copy of m on the host. */
static int copy_triangle(trs_lu *lu, const trs_mat *m, trs_mat *to, const char *name)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1, .device = m->device - 1};
    if (m->device <= 0) return trs_lu_mat_copy(lu, m, true, to, "a copy of a factor");
    int rc = trs_mat_fetch(&ctx, m, true, to); /* a copy, which has not been checked */
    if (!rc) rc = trs_check_mat(to);
    if (rc) trs_fail(rc, "factor %s: %s", name, trs_message());
    return rc;
}

/* *to = a copy of the permutation p, or the identity if p is NULL. */
static int copy_permutation(trs_lu *lu, const int64_t *p, int64_t n, int64_t **to, char name)
{
    *to = trs_lu_alloc(lu, n, sizeof **to, "a permutation");
    char *seen = trs_alloc_zero(&lu->mem, n, 1);
    int rc = TRS_OK;
    if (!(*to && seen)) rc = trs_fail(TRS_EMEM, "out of memory for a permutation");
    for (int64_t k = 0; k < n && !rc; k++) {
        const int64_t i = (*to)[k] = p ? p[k] : k;
        if (i < 0 || i >= n || seen[i])
            rc = trs_fail(TRS_EARG,
                          "import: %c is no permutation: %c[%" PRId64 "] = %" PRId64
                          " is out of range, or there twice",
                          name, name, k, i);
        else seen[i] = 1;
    }
    trs_lu_free(lu, seen);
    return rc;
}

static int copy_scale(const double *scale, int64_t n, double *to)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(scale[i]) || scale[i] == 0)
            return trs_fail(TRS_EARG, "import: scale[%" PRId64 "] = %g", i, scale[i]);
        to[i] = scale[i];
    }
    return TRS_OK;
}

static int fill(trs_lu *lu, const trs_mat *L, const trs_mat *U, const int64_t *P, const int64_t *Q,
                const double *scale, trs_factors *f)
{
    *f = (trs_factors){.cholesky = !U, .library = "imported", .ordering = "imported"};
    int rc = copy_triangle(lu, L, &f->L, "L");
    if (!rc && U) rc = copy_triangle(lu, U, &f->U, "U");
    if (!rc) rc = copy_permutation(lu, P, L->n, &f->P, 'P');
    if (!rc && U) rc = copy_permutation(lu, Q, L->n, &f->Q, 'Q');
    if (rc || !scale) return rc;
    f->scale = trs_lu_alloc(lu, L->n, sizeof *f->scale, "the row scaling");
    if (f->scale) return copy_scale(scale, L->n, f->scale);
    return TRS_EMEM;
}

/* ---- public --------------------------------------------------------------------------------- */

static int refuse_update(trs_lu *lu, const trs_mat *A)
{
    (void)lu, (void)A;
    return trs_fail(TRS_ESTATE, "update: who made these factors has to factor A: trs_lu_replace");
}

static int import(trs_lu **lu, const trs_mat *L, const trs_mat *U, const int64_t *P,
                  const int64_t *Q, const double *scale, const trs_options *opt)
{
    static const trs_options defaults = {0};
    trs_factors f;
    if (!lu) return trs_fail(TRS_EARG, "import: lu is NULL");
    *lu = NULL;
    int rc = check(L, U, Q, scale);
    if (!rc) rc = trs_lu_new(lu, L, opt ? opt : &defaults, 0);
    if (rc) return rc;
    (*lu)->base = L->base == 1;
    (*lu)->dtype = L->dtype;
    (*lu)->update = refuse_update;
    rc = fill(*lu, L, U, P, Q, scale, &f);
    if (!rc) rc = trs_lu_adopt(*lu, &f);
    trs_lu_factors_free(*lu, &f);
    return rc;
}

int trs_lu_import(trs_lu **lu, const trs_mat *L, const trs_mat *U, const int64_t *P,
                  const int64_t *Q, const double *scale, const trs_options *plan)
{
    return trs_call(import(lu, L, U, P, Q, scale, plan));
}

/* The values of m, wherever they are, become those of the copy. */
static int replace_values(trs_lu *lu, const trs_mat *m, trs_mat *copy, const char *name)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1, .device = m->device - 1};
    trs_mat host;
    if (!trs_same_arrays(copy, m) || m->kind != copy->kind)
        return trs_fail(TRS_EARG, "replace: factor %s has another n, nnz, dtype, format or kind",
                        name);
    int rc = trs_check_values(m);
    if (!rc) rc = trs_check_device(m->device);
    if (rc) return rc;
    TRS_ASSERT(copy->device <= 0 && copy->nnz == m->nnz);
    rc = trs_mat_fetch(&ctx, m, false, &host);
    if (!rc && m->nnz > 0) memcpy((void *)copy->val, host.val, (size_t)m->nnz * trs_size(m->dtype));
    trs_mat_fetched(&ctx, m, &host);
    return rc;
}

static int replace(trs_lu *lu, const trs_mat *L, const trs_mat *U, const double *scale)
{
    if (!lu || !L) return trs_fail(TRS_EARG, "replace: lu or L is NULL");
    if (lu->update != refuse_update || !lu->f.L.ptr)
        return trs_fail(TRS_ESTATE, "replace: these factors were not imported");
    if (!U != lu->f.cholesky || (scale && !lu->f.scale))
        return trs_fail(TRS_EARG, "replace: U or scale where there was none, or no U");
    lu->ready = false;
    int rc = replace_values(lu, L, &lu->f.L, "L");
    if (!rc && U) rc = replace_values(lu, U, &lu->f.U, "U");
    if (!rc && scale) rc = copy_scale(scale, L->n, lu->f.scale);
    if (!rc) rc = trs_lu_plan(lu, false);
    return rc;
}

int trs_lu_replace(trs_lu *lu, const trs_mat *L, const trs_mat *U, const double *scale)
{
    return trs_call(replace(lu, L, U, scale));
}
