/* vendor.h: cuSPARSE, cuBLAS and cuSOLVER, opened at run time.
 *
 * The library links none of them, so a program that uses it starts on a machine without CUDA. */
#ifndef TRS_VENDOR_H
#define TRS_VENDOR_H

#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/device.h"
#include "matrix/on_device.h"
#include "solvers/solver.h"
#include "base/libraries/library.h"

/* The functions of each library that we call; vendor.c resolves them by name.  The formatter is off, for it changes
 * such lists anew every time. */
/* clang-format off */
#define TRS_CUSPARSE_FUNCTIONS(F)                                                                  \
    F(cusparseCreate)                                                                              \
    F(cusparseDestroy) F(cusparseSetStream) F(cusparseGetErrorString) F(cusparseCreateCsr)         \
        F(cusparseDestroySpMat) F(cusparseSpMatSetAttribute) F(cusparseCreateDnVec)                \
            F(cusparseDestroyDnVec) F(cusparseDnVecSetValues) F(cusparseCreateDnMat)               \
                F(cusparseDestroyDnMat) F(cusparseDnMatSetValues) F(cusparseSpSV_createDescr)      \
                    F(cusparseSpSV_destroyDescr) F(cusparseSpSV_bufferSize)                        \
                        F(cusparseSpSV_analysis) F(cusparseSpSV_solve)                             \
                            F(cusparseSpSV_updateMatrix) F(cusparseSpSM_createDescr)               \
                                F(cusparseSpSM_destroyDescr) F(cusparseSpSM_bufferSize)            \
                                    F(cusparseSpSM_analysis) F(cusparseSpSM_solve)                 \
                                        F(cusparseSpSM_updateMatrix)

#define TRS_CUBLAS_FUNCTIONS(F)                                                                    \
    F(cublasCreate_v2)                                                                             \
    F(cublasDestroy_v2) F(cublasSetStream_v2) F(cublasStrsv_v2_64) F(cublasDtrsv_v2_64)            \
        F(cublasCtrsv_v2_64) F(cublasZtrsv_v2_64) F(cublasStrsm_v2_64) F(cublasDtrsm_v2_64)        \
            F(cublasCtrsm_v2_64) F(cublasZtrsm_v2_64)

#define TRS_CUSOLVER_FUNCTIONS(F)                                                                  \
    F(cusolverDnCreate)                                                                            \
    F(cusolverDnDestroy) F(cusolverDnSetStream) F(cusolverDnCreateParams)                          \
        F(cusolverDnDestroyParams) F(cusolverDnXgetrf_bufferSize) F(cusolverDnXgetrf)              \
            F(cusolverDnXgetrs)
/* clang-format on */

typedef struct trs_cusparse {
    void *library;
    TRS_CUSPARSE_FUNCTIONS(TRS_LIBRARY_MEMBER)
} trs_cusparse;

typedef struct trs_cublas {
    void *library;
    TRS_CUBLAS_FUNCTIONS(TRS_LIBRARY_MEMBER)
} trs_cublas;

typedef struct trs_cusolver {
    void *library;
    TRS_CUSOLVER_FUNCTIONS(TRS_LIBRARY_MEMBER)
} trs_cusolver;

/* CUDA's name of a number type. */
cudaDataType trs_cuda_type(trs_dtype t);

/* Can it be opened?  TRS_OK, or TRS_ELIBRARY with the reason in why [size]: the `library` of a solver. */
int trs_cusparse_library(char *why, size_t size);
int trs_cublas_library(char *why, size_t size);
int trs_cusolver_library(char *why, size_t size);
/* TRS_OK, or TRS_ELIBRARY with a sentence.  trs_library_close (lib->library), also after an error. */
int trs_cusparse_open(trs_cusparse *lib);
int trs_cublas_open(trs_cublas *lib);
int trs_cusolver_open(trs_cusolver *lib);

#ifdef __cplusplus
}
#endif

#endif
