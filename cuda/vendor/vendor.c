/* vendor.c: finds cuSPARSE, cuBLAS and cuSOLVER where the loader finds them, then in
 * $TRS_CUDA_LIBDIR, then where configure saw them. */
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
