/* place_device.c: copies of a problem on a device. */
#include "config.h"

#include "place.h"

#include "bin/common/numbers.h"

#include <string.h>

static int64_t value_count(const trs_mat *A)
{
    return A->format == TRS_DENSE ? A->ld * A->n : A->nnz;
}

/* *copy = a copy of host memory on the device. */
static int copy_to(int device, const void *from, size_t bytes, const void **copy)
{
    void *there = NULL;
    *copy = NULL;
    if (!from) return TRS_OK;
    int rc = trs_device_new(device, bytes + 1, &there);
    if (!rc) rc = trs_device_put(device, there, from, bytes);
    *copy = there;
    return rc;
}

static size_t bytes_of_values(const trs_mat *A)
{
    return (size_t)value_count(A) * size_of_number(A->dtype);
}

int place_open(place *at, const problem *p, int device)
{
    const trs_mat *A = &p->A;
    *at = (place){.device = device, .A = *A, .B = p->B, .X = p->X};
    at->vectors = (size_t)(A->n * p->nrhs) * size_of_number(A->dtype);
    if (device <= 0) return TRS_OK;
    at->A.device = device;
    at->A.ptr = at->A.idx = at->A.val = at->B = at->X = NULL;
    const size_t p_size = A->ptr_bits == 32 ? 4 : 8, i_size = A->idx_bits == 64 ? 8 : 4;
    int rc = copy_to(device, A->ptr, (size_t)(A->n + 1) * p_size, &at->A.ptr);
    if (!rc) rc = copy_to(device, A->idx, (size_t)A->nnz * i_size, &at->A.idx);
    if (!rc) rc = copy_to(device, A->val, bytes_of_values(A), &at->A.val);
    if (!rc) rc = copy_to(device, p->B, at->vectors, (const void **)&at->B);
    if (!rc) rc = copy_to(device, p->X, at->vectors, (const void **)&at->X);
    return rc;
}

int place_put_values(place *at, const problem *p)
{
    if (at->device <= 0) return TRS_OK;
    return trs_device_put(at->device, (void *)at->A.val, p->A.val, bytes_of_values(&p->A));
}

int place_get_x(const place *at, problem *p)
{
    return at->device > 0 ? trs_device_get(at->device, p->X, at->X, at->vectors) : TRS_OK;
}

int place_wait(const place *at)
{
    char byte;
    return at->device > 0 ? trs_device_get(at->device, &byte, at->X, 1) : TRS_OK;
}

void place_close(place *at)
{
    const void *const all[] = {at->A.ptr, at->A.idx, at->A.val, at->B, at->X};
    for (size_t k = 0; at->device > 0 && k < sizeof all / sizeof all[0]; k++)
        trs_device_free(at->device, (void *)all[k]);
    memset(at, 0, sizeof *at);
}
