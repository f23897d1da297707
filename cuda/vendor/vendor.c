/* vendor.c: cuSPARSE, cuBLAS and cuSOLVER are looked for where the loader finds libraries, then in $TRS_CUDA_LIBDIR,
 * then where configure has seen them. */
#include "config.h"

#include "vendor.h"

#include <stdlib.h>

static void *open_library(const char *soname, char *why, size_t size)
{
    const char *folder = getenv("TRS_CUDA_LIBDIR");
    void *h = trs_library_open(NULL, soname, why, size);
    if (!h && folder) h = trs_library_open(folder, soname, why, size);
    return h ? h : trs_library_open(CUDA_LIBDIR, soname, why, size);
}

cudaDataType trs_cuda_type(trs_dtype t)
{
    static const cudaDataType type[] = {[TRS_F64] = CUDA_R_64F,
                                        [TRS_F32] = CUDA_R_32F,
                                        [TRS_C64] = CUDA_C_64F,
                                        [TRS_C32] = CUDA_C_32F};
    return type[t];
}

/* For each library: find_... opens it and finds its functions, trs_..._library says whether that can be done, and
 * trs_..._open does it. */
#define VENDOR_LIBRARY(name, NAME)                                                                 \
    static int find_##name(trs_##name *lib, char *why, size_t size)                                \
    {                                                                                              \
        lib->library = open_library(NAME##_SONAME, why, size);                                     \
        int rc = lib->library ? TRS_OK : TRS_ELIBRARY;                                             \
        TRS_##NAME##_FUNCTIONS(TRS_LIBRARY_FIND);                                                  \
        return rc;                                                                                 \
    }                                                                                              \
    int trs_##name##_library(char *why, size_t size)                                               \
    {                                                                                              \
        trs_##name lib;                                                                            \
        int rc = find_##name(&lib, why, size);                                                     \
        trs_library_close(lib.library);                                                            \
        return rc;                                                                                 \
    }                                                                                              \
    int trs_##name##_open(trs_##name *lib)                                                         \
    {                                                                                              \
        char why[200];                                                                             \
        int rc = find_##name(lib, why, sizeof why);                                                \
        return rc ? trs_fail(rc, "%s", why) : TRS_OK;                                              \
    }

VENDOR_LIBRARY(cusparse, CUSPARSE)
VENDOR_LIBRARY(cublas, CUBLAS)
VENDOR_LIBRARY(cusolver, CUSOLVER)
