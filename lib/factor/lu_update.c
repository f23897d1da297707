/* lu_update.c: new values into factors, on the device or on the host. */
#include "config.h"

#include "lu_first.h"
#include "lu_mat.h"
#include "again/lu_again.h"
#include "base/device.h"
#include "core/plan.h"
#include "device/inverse.h"
#include "device/lu_device.h"

#include <inttypes.h>

/* ---- on the host -------------------------------------------------------------------------------- */

/* Factors that wait in a library would be computed there from the beginning.  Those that were used leave it, so that this and
 * later updates keep their pivots. */
static int leave_library(trs_lu *lu)
{
    if (!lu->waits || lu->f.symbolic || lu->opt.solves == 1 || lu->solved == 0) return TRS_OK;
    const int rc = trs_lu_settle(lu);
    if (rc != TRS_EMEM) return rc;
    trs_forget();
    return TRS_OK;
}

/* With the pivots of the last values, or else by the library. */
static int update_here(trs_lu *lu, const trs_mat *A)
{
    bool done = false;
    int rc = leave_library(lu);
    if (!rc) rc = trs_lu_again(lu, A, &done);
    return rc || done ? rc : lu->update(lu, A);
}

/* Is A on the host, with its pattern, unless nothing could do without it? */
static bool is_here(const trs_lu *lu, const trs_mat *A)
{
    return A->device <= 0 && (A->ptr || lu->opt.device <= 0 || !lu->pattern.ptr);
}

static int update_on_host(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1};
    trs_mat host;
    if (is_here(lu, A)) return update_here(lu, A);
    if (lu->opt.device <= 0) return trs_fail(TRS_ESUPPORT, "A must be in host memory");
    const bool ours = !A->ptr && lu->reads_pattern; /* the stored pattern is that of A */
    int rc = trs_check_device(A->device);
    if (!rc) rc = trs_check_values(A);
    ctx.device = A->device > 0 ? A->device - 1 : 0;
    if (!rc && A->device > 0 && trs_gpu_wait(stream)) /* it may still be writing them */
        rc = trs_fail(TRS_EDEVICE, "update: the stream has failed");
    if (rc) return rc;
    rc = trs_mat_fetch(&ctx, A, lu->reads_pattern && !ours, &host);
    trs_mat whole = host;
    if (ours) {
        whole.ptr = lu->pattern.ptr, whole.idx = lu->pattern.idx;
        whole.ptr_bits = lu->pattern.ptr_bits, whole.idx_bits = lu->pattern.idx_bits;
        whole.base = lu->pattern.base;
    }
    if (!rc) rc = lu->update(lu, &whole);
    trs_mat_fetched(&ctx, A, &host);
    return rc;
}

int trs_lu_begin(trs_lu *lu, const trs_mat *A)
{
    trs_mat whole;
    int rc = trs_lu_whole(lu, A, true, NULL, &whole);
    if (!rc) rc = update_on_host(lu, &whole, NULL);
    if (rc || !lu->ready) return rc;
    return trs_lu_inverse_make(lu, &whole);
}

/* ---- where the factors are ---------------------------------------------------------------------- */

/* Is A of the pattern that the factors on the device have?  Arrays on a device and arrays that are NULL are not compared:
 * the caller promises that they have it.  Incomplete factors always rely on that promise. */
static bool has_pattern(const trs_lu *lu, const trs_mat *A)
{
    if (!lu->reads_pattern) return true;
    if (!trs_same_arrays(&lu->pattern, A) || lu->pattern.base != A->base) return false;
    return A->device > 0 || !A->ptr || trs_lu_same_pattern(&lu->pattern, A);
}

/* Values on another device are copied through the host. */
static int update_there(trs_lu *lu, const trs_mat *A, void *stream)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1, .device = A->device - 1};
    trs_mat host;
    if (A->device <= 0 || A->device == lu->opt.device) return trs_lu_device_update(lu, A, stream);
    int rc = trs_check_device(A->device);
    if (!rc) rc = trs_check_values(A);
    if (rc) return rc;
    rc = trs_mat_fetch(&ctx, A, false, &host);
    if (!rc) rc = trs_lu_device_update(lu, &host, stream);
    trs_mat_fetched(&ctx, A, &host);
    return rc;
}

static int update(trs_lu *lu, const trs_mat *A, void *stream)
{
    if (lu->device && has_pattern(lu, A)) {
        const int rc = update_there(lu, A, stream);
        const bool unsuited = rc == TRS_EPIVOT || rc == TRS_EGROWTH;
        if (!unsuited || !lu->refactors) return rc;
        trs_forget();
    } else if (lu->opt.device > 0 && trs_gpu_is_capturing(stream))
        return trs_fail(TRS_ESUPPORT,
                        "update: factors that are made on the host cannot be captured");
    return update_on_host(lu, A, stream);
}

static int update_whole(trs_lu *lu, const trs_mat *A, const trs_exec *exec)
{
    void *stream = exec ? exec->stream : NULL;
    trs_mat whole;
    int rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (rc) return rc;
    if (!lu || !A) return trs_fail(TRS_EARG, "update: lu or A is NULL");
    if (!lu->update) return trs_fail(TRS_ESTATE, "update: there is no pattern yet");
    rc = trs_lu_whole(lu, A, false, stream, &whole);
    if (!rc) {
        rc = update(lu, &whole, stream);
        return rc ? rc : trs_lu_inverse_renew(lu, &whole, stream);
    }
    lu->ready = false;
    trs_lu_stop_waiting(lu);
    return rc;
}

int trs_lu_update(trs_lu *lu, const trs_mat *A)
{
    return trs_call(update_whole(lu, A, NULL));
}

int trs_lu_update_on(trs_lu *lu, const trs_mat *A, const trs_exec *exec)
{
    return trs_call(update_whole(lu, A, exec));
}

static int status(trs_lu *lu, int64_t *bad, int64_t *first, double *growth)
{
    int64_t count = 0, row = -1;
    double grew = 0;
    int rc = TRS_OK;
    if (!lu) return trs_fail(TRS_EARG, "status: lu is NULL");
    if (lu->device) rc = trs_lu_device_status(lu, &count, &row, &grew);
    else if (!lu->ready && lu->bad) {
        count = lu->bad;
        row = lu->first_bad;
        rc = trs_fail(TRS_EPIVOT, "row %" PRId64 ": the first of %" PRId64 " bad pivots",
                      row + lu->base, count);
    } else if (!lu->ready) rc = trs_lu_no_factors(lu, "status");
    if (bad) *bad = count;
    if (first) *first = row;
    if (growth) *growth = grew;
    return rc;
}

int trs_lu_status(trs_lu *lu, int64_t *bad, int64_t *first, double *growth)
{
    return trs_call(status(lu, bad, first, growth));
}
