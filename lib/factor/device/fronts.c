/* fronts.c: complete factors with many products, which are computed on a device front by front.
 *
 * L and U have the patterns that the library has found, with what cancelled there (complete_factors.c), or those of symbolic
 * factors.  With pivots of two rows G (turned.h) is factored in the pattern of L, where both rows of a pair have the same columns,
 * and both columns the same rows.  A run writes their values in the order of these arrays.  The patterns go to the device for as
 * long as the plans are made of them. */
#include "config.h"

#include "lu_device.h"
#include "base/device.h"

static int put(trs_lu_device *d, int k, const void *from, int64_t count, size_t size)
{
    d->pattern[k] = trs_gpu_new(&d->ctx, count, size, "the patterns of factors");
    if (!d->pattern[k]) return TRS_EMEM;
    return trs_gpu_put(&d->ctx, d->pattern[k], from, (size_t)count * size);
}

static int put_pattern(trs_lu_device *d, int k, const trs_mat *m)
{
    const size_t ptr_size = m->ptr_bits == 32 ? 4 : 8, idx_size = m->idx_bits == 64 ? 8 : 4;
    const int rc = put(d, k, m->ptr, m->n + 1, ptr_size);
    return rc ? rc : put(d, k + 1, m->idx, m->nnz, idx_size);
}

static int analyse(trs_lu *lu, const trs_mat *A, const trs_turned *turned, double limit)
{
    const trs_factors *f = &lu->f;
    const trs_mat *const G = turned ? &turned->G : A;
    const trs_fronts_pattern p = {f->L.dtype, f->cholesky, f->sign != NULL, G, &f->L, &f->U,
                                  f->P,       f->Q,        f->scale};
    int rc = trs_lu_device_new(lu, A, f->L.dtype, limit, lu->refactors || f->symbolic);
    trs_lu_device *d = lu->device;
    if (rc) return rc;
    d->first_u = (f->L.nnz + 63) / 64 * 64; /* a multiple of 256 bytes */
    d->numbers = d->first_u + f->U.nnz;
    if (f->cholesky) d->numbers = f->L.nnz;
    rc = trs_lu_device_turns(d, turned);
    if (!rc) rc = trs_lu_device_values(lu, A);
    if (!rc) rc = trs_fronts_create(&d->ctx, &p, &d->fronts);
    if (!rc) rc = put_pattern(d, 0, &f->L);
    if (!rc && !f->cholesky) rc = put_pattern(d, 2, &f->U);
    return rc;
}

int trs_lu_fronts_make(trs_lu *lu, const trs_mat *A, const trs_turned *turned, double limit,
                       bool *made)
{
    *made = false;
    const double start = trs_now(), library = lu->info.seconds_factor;
    int rc = analyse(lu, A, turned, limit);
    const double analysed = trs_now() - start;
    *made = !rc;
    if (!rc) rc = trs_lu_device_update(lu, A, NULL);
    lu->info.seconds_factor = library;
    lu->info.seconds_analyse += analysed;
    if (!rc) lu->info.kernel = "fronts";
    return rc;
}
