/* fronts.c: complete factors with many products, which are computed on a device front by front.
 *
 * L and U have the patterns that the library has found, with what cancelled there (complete_factors.c), and their plans are
 * made of its values, as if the factors were to be made on the host.  A run writes new values in the order of these arrays,
 * and the plans take them from there. */
#include "config.h"

#include "lu_device.h"

static int analyse(trs_lu *lu, const trs_mat *A, double limit)
{
    const trs_factors *f = &lu->f;
    const trs_fronts_pattern p = {f->L.dtype, f->cholesky, A, &f->L, &f->U, f->P, f->Q, f->scale};
    int rc = trs_lu_device_new(lu, A, f->L.dtype, limit, lu->refactors || f->symbolic);
    trs_lu_device *d = lu->device;
    if (rc) return rc;
    d->first_u = (f->L.nnz + 63) / 64 * 64; /* a multiple of 256 bytes */
    d->numbers = d->first_u + f->U.nnz;
    if (f->cholesky) d->numbers = f->L.nnz;
    rc = trs_lu_device_values(lu, A);
    if (!rc) rc = trs_fronts_create(&d->ctx, &p, &d->fronts);
    return rc;
}

int trs_lu_fronts_make(trs_lu *lu, const trs_mat *A, double limit, bool *made)
{
    *made = false;
    const double start = trs_now(), library = lu->info.seconds_factor;
    int rc = analyse(lu, A, limit);
    const double analysed = trs_now() - start;
    if (!rc) rc = trs_lu_plan(lu, false);
    *made = !rc;
    if (!rc) rc = trs_lu_device_update(lu, A, NULL);
    lu->info.seconds_factor = library;
    lu->info.seconds_analyse += analysed;
    if (!rc) lu->info.kernel = "fronts";
    return rc;
}
