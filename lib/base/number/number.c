/* number.c: reads and writes numbers of any of the four types. */
#include "config.h"

#include "number.h"

#include "clones.h"

size_t trs_size(trs_dtype t)
{
    static const size_t size[] = {[TRS_F64] = 8, [TRS_F32] = 4, [TRS_C64] = 16, [TRS_C32] = 8};
    return size[t];
}

int trs_lanes(trs_dtype t)
{
    return (int)(trs_vector_bytes(t) / (int64_t)trs_size(t));
}

bool trs_avx512(void)
{
#ifdef TRS_AVX512
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd");
#else
    return false;
#endif
}

bool trs_wide(trs_dtype t)
{
    return trs_avx512() && !trs_is_complex(t);
}

int64_t trs_vector_bytes(trs_dtype t)
{
    return trs_wide(t) ? TRS_LINE : TRS_NARROW;
}

int trs_line(trs_dtype t)
{
    return TRS_LINE / (int)trs_size(t);
}

bool trs_is_complex(trs_dtype t)
{
    return t == TRS_C64 || t == TRS_C32;
}

bool trs_is_single(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32;
}

/* Number k of an array of real numbers. */
static double get(const void *a, trs_dtype t, int64_t k)
{
    return trs_is_single(t) ? (double)((const float *)a)[k] : ((const double *)a)[k];
}

static void put(void *a, trs_dtype t, int64_t k, double x)
{
    if (trs_is_single(t)) ((float *)a)[k] = (float)x;
    else ((double *)a)[k] = x;
}

void trs_number_get(const void *a, trs_dtype t, int64_t k, double z[2])
{
    const bool pairs = trs_is_complex(t);
    z[0] = get(a, t, pairs ? 2 * k : k);
    z[1] = pairs ? get(a, t, 2 * k + 1) : 0;
}

void trs_number_put(void *a, trs_dtype t, int64_t k, const double z[2])
{
    const bool pairs = trs_is_complex(t);
    put(a, t, pairs ? 2 * k : k, z[0]);
    if (pairs) put(a, t, 2 * k + 1, z[1]);
}
