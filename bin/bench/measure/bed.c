/* bed.c: right-hand sides for which the solution is known, on the host and on the device. */
#include "config.h"

#include "bed.h"

#include "bin/common/numbers.h"

#include <stdlib.h>

/* Numbers in [-1, 1), the same in every run (splitmix64). */
static void fill(trs_dtype t, void *x, int64_t count)
{
    uint64_t state = SEED;
    for (int64_t k = 0; k < count * parts_of(t); k++) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        set_part(x, t, k, (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1);
    }
}

/* Where there is no GPU, or no room on it, device_B stays NULL. */
static void bed_device(bed *b)
{
    const int device = b->settings->device;
    if (device == TRS_HOST) return;
    int rc = trs_timer_create(&b->timer, device);
    if (!rc) rc = trs_device_new(device, b->bytes, &b->device_B);
    if (!rc) rc = trs_device_new(device, b->bytes, &b->device_X);
    if (!rc) rc = trs_device_put(device, b->device_B, b->B, b->bytes);
    if (!rc) return;
    trs_device_free(device, b->device_B);
    b->device_B = NULL;
}

static int bed_host(bed *b, const settings *s, int64_t count, trs_dtype t)
{
    *b = (bed){.settings = s, .bytes = (size_t)count * size_of_number(t)};
    b->B = malloc(b->bytes + 1);
    b->X = malloc(b->bytes + 1);
    return b->B && b->X ? TRS_OK : TRS_EMEM;
}

int bed_make_room(bed *b, const settings *s, int64_t n, trs_dtype t)
{
    const int64_t count = n * s->nrhs;
    if (bed_host(b, s, count, t)) return TRS_EMEM;
    fill(t, b->B, count);
    bed_device(b);
    return TRS_OK;
}

/* The solution has moderate numbers, so that the errors of solvers can be compared. */
int bed_make(bed *b, const settings *s, const trs_mat *T)
{
    const int64_t n = T->n, count = n * s->nrhs, ld = n > 0 ? n : 1;
    if (bed_host(b, s, count, T->dtype)) return TRS_EMEM;
    b->T = T;
    fill(T->dtype, b->X, count);
    int rc = trs_multiply(T, s->op, s->nrhs, b->X, ld, b->B, ld, TRS_COL_MAJOR);
    if (!rc) bed_device(b);
    return rc;
}

void bed_free(bed *b)
{
    trs_timer_destroy(b->timer);
    trs_device_free(b->settings->device, b->device_B);
    trs_device_free(b->settings->device, b->device_X);
    free(b->B);
    free(b->X);
}
