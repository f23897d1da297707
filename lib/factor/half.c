/* half.c: the matrix of which factors are made, where the caller stores one triangle of it (TRS_SELFADJOINT).
 *
 * The matrix is made whole on entry, so that no later step handles triangles.  The source of each of its values is stored:
 * new values are a gather, on the host, or on the device if they and the factors are there. */
#include "config.h"

#include "lu_mat.h"
#include "base/debug.h"
#include "base/device.h"
#include "core/plan.h"
#include "matrix/on_device.h"
#include "matrix/whole.h"

#include <string.h>

struct trs_lu_half {
    trs_mat shape;   /* of the triangle, without its arrays */
    trs_mat pattern; /* of complete factors: the triangle's, in arrays of the lu */
    trs_whole whole; /* on the host */
    trs_context ctx; /* of the device */
    int64_t *from;   /* on the device: whole.from; NULL: no values came there yet */
    void *val;       /* there: the values of the whole */
};

static void free_there(struct trs_lu_half *h)
{
    trs_gpu_free(&h->ctx, h->from);
    trs_gpu_free(&h->ctx, h->val);
    h->from = NULL, h->val = NULL;
}

void trs_lu_half_free(trs_lu *lu)
{
    struct trs_lu_half *h = lu->half;
    if (!h) return;
    free_there(h);
    trs_whole_free(&h->ctx, &h->whole);
    trs_lu_mat_free(lu, &h->pattern);
    trs_free(&lu->mem, h);
    lu->half = NULL;
}

static int new_half(trs_lu *lu, const trs_mat *A)
{
    struct trs_lu_half *h = lu->half = trs_alloc_zero(&lu->mem, 1, sizeof *h);
    if (!h) return trs_fail(TRS_EMEM, "out of memory for a handle");
    h->ctx = (trs_context){.mem = lu->mem, .device_memory = lu->opt.device_memory, .threads = 1};
    h->ctx.base = A->base == 1;
    h->ctx.device = lu->opt.device > 0 ? lu->opt.device - 1 : 0;
    return TRS_OK;
}

/* Keep the pattern of A, which is on the host, with its values. */
static int make(trs_lu *lu, const trs_mat *A)
{
    struct trs_lu_half *h = lu->half;
    free_there(h);
    trs_whole_free(&h->ctx, &h->whole);
    trs_lu_mat_free(lu, &h->pattern);
    h->shape = trs_lu_shape(A);
    const int rc = trs_whole_make(&h->ctx, A, &h->whole);
    if (rc || !lu->reads_pattern || A->format == TRS_DENSE) return rc;
    return trs_lu_mat_copy(lu, A, false, &h->pattern, "the pattern of a triangle");
}

/* Is this the triangle that was made whole, but for its values? */
static bool is_known(const struct trs_lu_half *h, const trs_mat *A)
{
    return h->pattern.ptr && h->pattern.base == A->base && trs_same_arrays(&h->pattern, A) &&
           trs_lu_same_pattern(&h->pattern, A);
}

/* Does A bring a pattern that has to be read? */
static bool brings_pattern(const trs_lu *lu, const trs_mat *A)
{
    return lu->reads_pattern && A->device <= 0 && A->ptr && !is_known(lu->half, A);
}

/* The values come to the host, wherever they are. */
static int take_here(trs_lu *lu, const trs_mat *A, bool pattern, void *stream)
{
    struct trs_lu_half *h = lu->half;
    trs_context ctx = {.mem = h->ctx.mem, .threads = 1, .device = A->device - 1};
    trs_mat host;
    if (A->device > 0 && trs_gpu_wait(stream)) /* it may still be writing them */
        return trs_fail(TRS_EDEVICE, "update: the stream has failed");
    int rc = trs_mat_fetch(&ctx, A, pattern, &host);
    if (!rc && pattern) rc = make(lu, &host);
    else if (!rc) trs_whole_values(&h->ctx, &h->whole, host.val);
    trs_mat_fetched(&ctx, A, &host);
    return rc;
}

static int prepare_there(struct trs_lu_half *h, void *stream)
{
    const int64_t count = trs_value_count(&h->whole.mat);
    if (h->val) return TRS_OK;
    if (trs_gpu_is_capturing(stream))
        return trs_fail(TRS_ESTATE, "update: the first one from values on the device cannot be "
                                    "captured");
    h->from = trs_gpu_new(&h->ctx, count, sizeof *h->from, "places of the values");
    if (h->from) h->val = trs_gpu_new(&h->ctx, count, trs_size(h->shape.dtype), "values");
    if (!h->val) return TRS_EMEM;
    const int rc = trs_gpu_put(&h->ctx, h->from, h->whole.from, (size_t)count * sizeof *h->from);
    trs_gpu_drop_ring(&h->ctx);
    return rc;
}

/* The values stay on the device of the factors, in the order of the stream. */
static int take_there(struct trs_lu_half *h, const trs_mat *A, void *stream, trs_mat *whole)
{
    int rc = trs_gpu_use(&h->ctx);
    if (!rc) rc = prepare_there(h, stream);
    whole->ptr = whole->idx = NULL;
    whole->val = h->val;
    whole->device = A->device;
    if (rc) return rc;
    return trs_gpu_whole_values(A->dtype, trs_value_count(whole), h->from, A->val, h->val, stream);
}

/* A is one triangle. */
static int take(trs_lu *lu, const trs_mat *A, bool first, void *stream, trs_mat *whole)
{
    struct trs_lu_half *h = lu->half;
    const bool pattern = first || brings_pattern(lu, A);
    const bool stays = !pattern && A->device > 0 && A->device == lu->opt.device;
    if (A->device > 0 && lu->opt.device <= 0)
        return trs_fail(TRS_ESUPPORT, "A must be in host memory");
    if (!(A->kind & (TRS_LOWER | TRS_UPPER)))
        return trs_fail(TRS_EARG, "update: the first A was one triangle (TRS_SELFADJOINT)");
    int rc = trs_check_device(A->device);
    if (rc) return rc;
    if (pattern) rc = trs_check_values(A);
    else rc = trs_lu_check_shape(&h->shape, A);
    if (!rc && !stays) rc = take_here(lu, A, pattern, stream);
    if (rc) return rc;
    *whole = h->whole.mat;
    TRS_ASSERT(whole->n == A->n);
    if (stays) return take_there(h, A, stream, whole);
    return TRS_OK;
}

int trs_lu_whole(trs_lu *lu, const trs_mat *A, bool first, void *stream, trs_mat *whole)
{
    *whole = *A;
    if (!lu->half && !trs_is_half(A)) return TRS_OK;
    if (lu->lower_only && A->kind & TRS_LOWER) {
        whole->kind = TRS_LOWER;
        return TRS_OK;
    }
    if (!lu->half && !first)
        return trs_fail(TRS_EARG, "update: the first A was not one triangle (TRS_SELFADJOINT)");
    int rc = TRS_OK;
    if (!lu->half) rc = new_half(lu, A);
    if (rc) return rc;
    return take(lu, A, first, stream, whole);
}
