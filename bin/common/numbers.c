/* numbers.c: arrays of real and complex numbers in single and double precision. */
#include "config.h"

#include "numbers.h"

#include <stdlib.h>

bool is_single(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32;
}

int parts_of(trs_dtype t)
{
    return t == TRS_C32 || t == TRS_C64 ? 2 : 1;
}

size_t size_of_number(trs_dtype t)
{
    return (size_t)parts_of(t) * (is_single(t) ? sizeof(float) : sizeof(double));
}

const char *dtype_name(trs_dtype t)
{
    static const char *const name[] = {
        [TRS_F64] = "f64", [TRS_F32] = "f32", [TRS_C64] = "c64", [TRS_C32] = "c32"};
    return name[t];
}

double part_at(const void *a, trs_dtype t, int64_t k)
{
    return is_single(t) ? (double)((const float *)a)[k] : ((const double *)a)[k];
}

void set_part(void *a, trs_dtype t, int64_t k, double x)
{
    if (is_single(t)) ((float *)a)[k] = (float)x;
    else ((double *)a)[k] = x;
}

void *convert_numbers(const void *from, trs_dtype was, trs_dtype is, int64_t count)
{
    const int step = parts_of(was), width = parts_of(is);
    void *to = calloc((size_t)count + 1, size_of_number(is));
    for (int64_t k = 0; to && k < count; k++)
        for (int part = 0; part < width && part < step; part++)
            set_part(to, is, k * width + part, part_at(from, was, k * step + part));
    return to;
}
