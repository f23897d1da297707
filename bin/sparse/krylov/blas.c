/* blas.c: vector operations on a device. */
#include "config.h"

#include "blas.h"

#include "bin/common/message.h"

#ifdef HAVE_CUDA

#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(F)                                                                               \
    F(cublasCreate_v2)                                                                             \
    F(cublasDestroy_v2) F(cublasAxpyEx) F(cublasScalEx) F(cublasDotcEx) F(cublasNrm2Ex)
#define MEMBER(name) __typeof__(&name) name;

typedef struct blas {
    void *library;
    cublasHandle_t handle;
    FUNCTIONS(MEMBER)
} blas;

static void *open_library(void)
{
    char path[1000];
    const char *folder = getenv("TRS_CUDA_LIBDIR");
    void *library = dlopen(CUBLAS_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : CUDA_LIBDIR, CUBLAS_SONAME);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int blas_open(void **out)
{
    blas *b = *out = calloc(1, sizeof *b);
    if (!b) return TRS_EMEM;
    b->library = open_library();
    if (!b->library)
        return complain("Krylov methods on a GPU need cuBLAS: %s", dlerror()), TRS_ELIBRARY;
#define FIND(name)                                                                                 \
    *(void **)&b->name = dlsym(b->library, #name);                                                 \
    if (!b->name) return complain("cuBLAS has no %s", #name), TRS_ELIBRARY;
    FUNCTIONS(FIND)
    return b->cublasCreate_v2(&b->handle) ? TRS_EDEVICE : TRS_OK;
}

void blas_close(void *blas_or_null)
{
    blas *b = blas_or_null;
    if (b && b->handle) b->cublasDestroy_v2(b->handle);
    free(b); /* the library stays: its destructors and those of the CUDA runtime have no order */
}

static cudaDataType type_of(const vectors *v)
{
    static const cudaDataType type[] = {[TRS_F64] = CUDA_R_64F,
                                        [TRS_F32] = CUDA_R_32F,
                                        [TRS_C64] = CUDA_C_64F,
                                        [TRS_C32] = CUDA_C_32F};
    return type[v->dtype];
}

/* Of the real numbers. */
static cudaDataType real_type(const vectors *v)
{
    return v->dtype == TRS_F64 || v->dtype == TRS_C64 ? CUDA_R_64F : CUDA_R_32F;
}

typedef union scalar { /* as cuBLAS wants it for a type */
    double f64;
    float f32;
    double c64[2];
    float c32[2];
} scalar;

static scalar scalar_of(const vectors *v, double complex a)
{
    scalar s;
    if (v->dtype == TRS_F64) s.f64 = creal(a);
    else if (v->dtype == TRS_F32) s.f32 = (float)creal(a);
    else if (v->dtype == TRS_C64) s.c64[0] = creal(a), s.c64[1] = cimag(a);
    else s.c32[0] = (float)creal(a), s.c32[1] = (float)cimag(a);
    return s;
}

static double complex value_of(const vectors *v, const scalar *s)
{
    if (v->dtype == TRS_F64) return s->f64;
    if (v->dtype == TRS_F32) return s->f32;
    return v->dtype == TRS_C64 ? CMPLX(s->c64[0], s->c64[1]) : CMPLX(s->c32[0], s->c32[1]);
}

static int status_of(cublasStatus_t s)
{
    return s ? TRS_EDEVICE : TRS_OK;
}

int blas_add(const vectors *v, double complex alpha, const void *x, void *y)
{
    const blas *b = v->blas;
    const cudaDataType t = type_of(v);
    const scalar a = scalar_of(v, alpha);
    return status_of(b->cublasAxpyEx(b->handle, (int)v->n, &a, t, x, t, 1, y, t, 1, t));
}

int blas_scale(const vectors *v, double complex alpha, void *x)
{
    const blas *b = v->blas;
    const cudaDataType t = type_of(v);
    const scalar a = scalar_of(v, alpha);
    return status_of(b->cublasScalEx(b->handle, (int)v->n, &a, t, x, t, 1, t));
}

int blas_dot(const vectors *v, const void *x, const void *y, double complex *dot)
{
    const blas *b = v->blas;
    const cudaDataType t = type_of(v);
    scalar s = {.c64 = {0, 0}};
    const cublasStatus_t rc = b->cublasDotcEx(b->handle, (int)v->n, x, t, 1, y, t, 1, &s, t, t);
    *dot = value_of(v, &s);
    return status_of(rc);
}

int blas_norm(const vectors *v, const void *x, double *norm)
{
    const blas *b = v->blas;
    const cudaDataType t = type_of(v), r = real_type(v);
    scalar s = {.c64 = {0, 0}};
    const cublasStatus_t rc = b->cublasNrm2Ex(b->handle, (int)v->n, x, t, 1, &s, r, r);
    *norm = r == CUDA_R_64F ? s.f64 : (double)s.f32;
    return status_of(rc);
}

#else

int blas_open(void **blas)
{
    *blas = NULL;
    complain("this build has no CUDA");
    return TRS_EDEVICE;
}

void blas_close(void *blas)
{
    (void)blas;
}

int blas_add(const vectors *v, double complex alpha, const void *x, void *y)
{
    (void)v, (void)alpha, (void)x, (void)y;
    return TRS_EDEVICE;
}

int blas_scale(const vectors *v, double complex alpha, void *x)
{
    (void)v, (void)alpha, (void)x;
    return TRS_EDEVICE;
}

int blas_dot(const vectors *v, const void *x, const void *y, double complex *dot)
{
    (void)v, (void)x, (void)y, (void)dot;
    return TRS_EDEVICE;
}

int blas_norm(const vectors *v, const void *x, double *norm)
{
    (void)v, (void)x, (void)norm;
    return TRS_EDEVICE;
}

#endif
