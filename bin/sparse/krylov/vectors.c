/* vectors.c: vectors of four types, on the host or on a device.  Sums on the host are in double precision. */
#ifndef T

#include "config.h"

#include "blas.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <stdlib.h>
#include <string.h>

#define TRS_BODY "bin/sparse/krylov/vectors.c"
#include "base/each_type.h"

void vectors_close(vectors *v)
{
    blas_close(v->blas);
    v->blas = NULL;
}

static size_t bytes_of(const vectors *v)
{
    return (size_t)v->n * size_of_number(v->dtype);
}

/* Keeps the first error.  Is all well? */
static bool keep(vectors *v, int rc)
{
    if (rc && !v->status) {
        complain("%s", *trs_message() ? trs_message() : trs_strerror(rc));
        v->status = rc;
    }
    return !v->status;
}

void *vector_new(vectors *v)
{
    void *x = NULL;
    if (v->status) return NULL;
    void *zeros = calloc(bytes_of(v) + 1, 1);
    if (!keep(v, zeros ? TRS_OK : TRS_EMEM) || v->device <= 0) return zeros;
    if (keep(v, trs_device_new(v->device, bytes_of(v), &x)))
        keep(v, trs_device_put(v->device, x, zeros, bytes_of(v)));
    free(zeros);
    return x;
}

void vector_free(vectors *v, void *x)
{
    if (v->device > 0) trs_device_free(v->device, x);
    else free(x);
}

void vector_put(vectors *v, const void *host, void *x)
{
    if (v->status) return;
    if (v->device > 0) keep(v, trs_device_put(v->device, x, host, bytes_of(v)));
    else memcpy(x, host, bytes_of(v));
}

void vector_get(vectors *v, const void *x, void *host)
{
    if (v->status) return;
    if (v->device > 0) keep(v, trs_device_get(v->device, host, x, bytes_of(v)));
    else memcpy(host, x, bytes_of(v));
}

void vector_copy(vectors *v, const void *x, void *y)
{
    if (v->status) return;
    if (v->device > 0) keep(v, trs_device_copy(v->device, y, x, bytes_of(v), NULL));
    else memcpy(y, x, bytes_of(v));
}

void vector_add(vectors *v, double complex alpha, const void *x, void *y)
{
    static void (*const add[])(int64_t, double complex, const void *, void *) = TRS_PER_TYPE(add);
    if (v->status) return;
    if (v->device > 0) keep(v, blas_add(v, alpha, x, y));
    else add[v->dtype](v->n, alpha, x, y);
}

void vector_scale(vectors *v, double complex alpha, void *x)
{
    static void (*const scale[])(int64_t, double complex, void *) = TRS_PER_TYPE(scale);
    if (v->status) return;
    if (v->device > 0) keep(v, blas_scale(v, alpha, x));
    else scale[v->dtype](v->n, alpha, x);
}

double complex vector_dot(vectors *v, const void *x, const void *y)
{
    static double complex (*const dot[])(int64_t, const void *, const void *) = TRS_PER_TYPE(dot);
    double complex d = 0;
    if (v->status) return 0;
    if (v->device <= 0) return dot[v->dtype](v->n, x, y);
    keep(v, blas_dot(v, x, y, &d));
    return d;
}

double vector_norm(vectors *v, const void *x)
{
    double norm = 0;
    if (v->status) return 0;
    if (v->device <= 0) return sqrt(creal(vector_dot(v, x, x)));
    keep(v, blas_norm(v, x, &norm));
    return norm;
}

/* The first call of each function of cuBLAS loads its kernels, 50 to 90 ms in all, which are no part of a solve. */
static void warm_up(vectors *v)
{
    void *x = vector_new(v), *y = vector_new(v);
    vector_add(v, 1, x, y);
    vector_scale(v, 1, y);
    vector_dot(v, x, y);
    vector_norm(v, y);
    vector_free(v, x);
    vector_free(v, y);
}

int vectors_open(vectors *v, trs_dtype dtype, int64_t n, int device)
{
    *v = (vectors){.dtype = dtype, .n = n, .device = device};
    if (device <= 0) return TRS_OK;
    v->status = blas_open(&v->blas);
    warm_up(v);
    return v->status;
}

#else

static void FN(add)(int64_t n, double complex alpha, const void *from, void *to)
{
    const T *x = from, a = (T)alpha;
    T *y = to;
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void FN(scale)(int64_t n, double complex alpha, void *to)
{
    const T a = (T)alpha;
    T *x = to;
    for (int64_t i = 0; i < n; i++) x[i] *= a;
}

static double complex FN(dot)(int64_t n, const void *left, const void *right)
{
    const T *x = left, *y = right;
    double re = 0, im = 0;
    for (int64_t i = 0; i < n; i++) {
        const double a = creal(x[i]), b = cimag(x[i]), c = creal(y[i]), d = cimag(y[i]);
        re += a * c + b * d;
        im += a * d - b * c;
    }
    return CMPLX(re, im);
}

#endif
