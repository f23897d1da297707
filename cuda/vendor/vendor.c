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

int trs_cusparse_open(trs_cusparse *lib, char *why, size_t size)
{
    lib->library = open_library(CUSPARSE_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    TRS_CUSPARSE_FUNCTIONS(TRS_LIBRARY_FIND)
    return rc;
}

int trs_cublas_open(trs_cublas *lib, char *why, size_t size)
{
    lib->library = open_library(CUBLAS_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    TRS_CUBLAS_FUNCTIONS(TRS_LIBRARY_FIND)
    return rc;
}

int trs_cusolver_open(trs_cusolver *lib, char *why, size_t size)
{
    lib->library = open_library(CUSOLVER_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    TRS_CUSOLVER_FUNCTIONS(TRS_LIBRARY_FIND)
    return rc;
}
