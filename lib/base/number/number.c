/* number.c: reads and writes numbers of any of the four types. */
#include "config.h"

#include "number.h"

size_t trs_size(trs_dtype t)
{
    static const size_t size[] = {[TRS_F64] = 8, [TRS_F32] = 4, [TRS_C64] = 16, [TRS_C32] = 8};
    return size[t];
}

bool trs_is_complex(trs_dtype t)
{
    return t == TRS_C64 || t == TRS_C32;
}

bool trs_is_single(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32;
}

void trs_number_get(const void *a, trs_dtype t, int64_t k, double z[2])
{
    const double *d = a;
    const float *f = a;
    switch (t) {
    case TRS_F64:
        z[0] = d[k], z[1] = 0;
        break;
    case TRS_F32:
        z[0] = f[k], z[1] = 0;
        break;
    case TRS_C64:
        z[0] = d[2 * k], z[1] = d[2 * k + 1];
        break;
    case TRS_C32:
        z[0] = f[2 * k], z[1] = f[2 * k + 1];
        break;
    }
}

void trs_number_put(void *a, trs_dtype t, int64_t k, const double z[2])
{
    double *d = a;
    float *f = a;
    switch (t) {
    case TRS_F64:
        d[k] = z[0];
        break;
    case TRS_F32:
        f[k] = (float)z[0];
        break;
    case TRS_C64:
        d[2 * k] = z[0], d[2 * k + 1] = z[1];
        break;
    case TRS_C32:
        f[2 * k] = (float)z[0], f[2 * k + 1] = (float)z[1];
        break;
    }
}

int64_t trs_index(const void *a, int bits, int64_t k)
{
    return bits == 64 ? ((const int64_t *)a)[k] : ((const int32_t *)a)[k];
}
