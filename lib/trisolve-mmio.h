/* trisolve-mmio.h: the C interface of NIST's mmio, for programs that were written for it.
 *
 * Include this header instead of "mmio.h" and link libtrisolve-sparse.  Functions, macros and
 * codes are those of mmio.  Only the treatment of bad and unusual files differs:
 *
 * - Lines may have any length, and a blank line does not cause an endless loop.
 * - An index out of range, a missing value, a truncated number, or a size beyond int is an error.
 *   The functions never return a wrong matrix.
 * - Values are rounded to the nearest double, including those with D exponents.  Written values
 *   have the shortest text that reads back to the same number.
 * - Integer files are read as double.
 * - Nothing is printed.
 *
 * Macros rename the functions for the linker, to trs_mmio_read_banner and so on.  A program may
 * therefore also contain mmio.c: sources that include "mmio.h" call the original functions.
 *
 * As in mmio, entries are returned as in the file: counted from 1, in the order of the file, and
 * only the lower triangle of a symmetric file.  trs_mm_read of trisolve-sparse.h reads in
 * parallel, also packed files, and returns CSR. */
#ifndef TRISOLVE_MMIO_H
#define TRISOLVE_MMIO_H

#include <stdio.h>

#include "trisolve-sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the interface of mmio ------------------------------------------------------------- */

#define MM_MAX_LINE_LENGTH  1025
#define MM_MAX_TOKEN_LENGTH 64
#define MatrixMarketBanner  "%%MatrixMarket"

/* Four letters: object M; format C (coordinate) or A (array); field R, C, P or I (real, complex,
 * pattern, integer); symmetry G, S, H or K (general, symmetric, Hermitian, skew-symmetric). */
typedef char MM_typecode[4];

#define mm_is_matrix(t)     ((t)[0] == 'M')
#define mm_is_sparse(t)     ((t)[1] == 'C')
#define mm_is_coordinate(t) ((t)[1] == 'C')
#define mm_is_dense(t)      ((t)[1] == 'A')
#define mm_is_array(t)      ((t)[1] == 'A')
#define mm_is_complex(t)    ((t)[2] == 'C')
#define mm_is_real(t)       ((t)[2] == 'R')
#define mm_is_pattern(t)    ((t)[2] == 'P')
#define mm_is_integer(t)    ((t)[2] == 'I')
#define mm_is_symmetric(t)  ((t)[3] == 'S')
#define mm_is_general(t)    ((t)[3] == 'G')
#define mm_is_skew(t)       ((t)[3] == 'K')
#define mm_is_hermitian(t)  ((t)[3] == 'H')

/* The argument of these macros is a pointer to the code. */
#define mm_set_matrix(t)          ((*(t))[0] = 'M')
#define mm_set_coordinate(t)      ((*(t))[1] = 'C')
#define mm_set_array(t)           ((*(t))[1] = 'A')
#define mm_set_dense(t)           mm_set_array(t)
#define mm_set_sparse(t)          mm_set_coordinate(t)
#define mm_set_complex(t)         ((*(t))[2] = 'C')
#define mm_set_real(t)            ((*(t))[2] = 'R')
#define mm_set_pattern(t)         ((*(t))[2] = 'P')
#define mm_set_integer(t)         ((*(t))[2] = 'I')
#define mm_set_symmetric(t)       ((*(t))[3] = 'S')
#define mm_set_general(t)         ((*(t))[3] = 'G')
#define mm_set_skew(t)            ((*(t))[3] = 'K')
#define mm_set_hermitian(t)       ((*(t))[3] = 'H')
#define mm_clear_typecode(t)      ((*(t))[0] = (*(t))[1] = (*(t))[2] = ' ', (*(t))[3] = 'G')
#define mm_initialize_typecode(t) mm_clear_typecode(t)

/* Error codes.  MM_PREMATURE_EOF means that a file ends too early or that a line is wrong;
 * MM_UNSUPPORTED_TYPE also means a size beyond int; MM_LINE_TOO_LONG is never returned. */
#define MM_COULD_NOT_READ_FILE  11
#define MM_PREMATURE_EOF        12
#define MM_NOT_MTX              13
#define MM_NO_HEADER            14
#define MM_UNSUPPORTED_TYPE     15
#define MM_LINE_TOO_LONG        16
#define MM_COULD_NOT_WRITE_FILE 17

#define MM_MTX_STR        "matrix"
#define MM_ARRAY_STR      "array"
#define MM_DENSE_STR      "array"
#define MM_COORDINATE_STR "coordinate"
#define MM_SPARSE_STR     "coordinate"
#define MM_COMPLEX_STR    "complex"
#define MM_REAL_STR       "real"
#define MM_INT_STR        "integer"
#define MM_GENERAL_STR    "general"
#define MM_SYMM_STR       "symmetric"
#define MM_HERM_STR       "hermitian"
#define MM_SKEW_STR       "skew-symmetric"
#define MM_PATTERN_STR    "pattern"

/* Names of the functions in the library. */
#define mm_is_valid                trs_mmio_is_valid
#define mm_typecode_to_str         trs_mmio_typecode_to_str
#define mm_read_banner             trs_mmio_read_banner
#define mm_read_mtx_crd_size       trs_mmio_read_mtx_crd_size
#define mm_read_mtx_array_size     trs_mmio_read_mtx_array_size
#define mm_write_banner            trs_mmio_write_banner
#define mm_write_mtx_crd_size      trs_mmio_write_mtx_crd_size
#define mm_write_mtx_array_size    trs_mmio_write_mtx_array_size
#define mm_read_mtx_crd_data       trs_mmio_read_mtx_crd_data
#define mm_read_mtx_crd_entry      trs_mmio_read_mtx_crd_entry
#define mm_read_mtx_crd            trs_mmio_read_mtx_crd
#define mm_read_unsymmetric_sparse trs_mmio_read_unsymmetric_sparse
#define mm_write_mtx_crd           trs_mmio_write_mtx_crd

/* These rules apply to all functions below:
 *     - FILE *f is open.  It is read or written from its current position, and stays open.
 *     - Pointers must not be NULL unless the description allows it.
 *     - *M, *N and *nz are the numbers of rows, columns and data lines.
 *     - Functions that return int return 0 or one of the codes above. */

/* Test whether the format allows this combination.
 *     MM_typecode matcode ; in.
 * Returns 1 or 0. */
TRS_API int mm_is_valid(MM_typecode matcode);

/* Return the text of a code, such as "matrix coordinate real general".
 *     MM_typecode matcode ; in.
 * Returns a string that the caller frees; NULL: matcode is not a code, or out of memory. */
TRS_API char *mm_typecode_to_str(MM_typecode matcode);

/* Read the first line of a file; then its sizes, skipping comments and blank lines.
 *     FILE *f ; in.
 *     MM_typecode *matcode ; out.
 *     int *M, *N, *nz ; out.
 * Return 0, MM_PREMATURE_EOF, MM_NO_HEADER or MM_UNSUPPORTED_TYPE. */
TRS_API int mm_read_banner(FILE *f, MM_typecode *matcode);
TRS_API int mm_read_mtx_crd_size(FILE *f, int *M, int *N, int *nz);
TRS_API int mm_read_mtx_array_size(FILE *f, int *M, int *N);

/* Write the first line of a file; then the line of its sizes.
 *     FILE *f ; in.
 *     MM_typecode matcode ; in.
 *     int M, N, nz ; in.
 * Return 0 or MM_COULD_NOT_WRITE_FILE. */
TRS_API int mm_write_banner(FILE *f, MM_typecode matcode);
TRS_API int mm_write_mtx_crd_size(FILE *f, int M, int N, int nz);
TRS_API int mm_write_mtx_array_size(FILE *f, int M, int N);

/* Read nz data lines into arrays of the caller.
 *     FILE *f ; in.
 *     int M, N, nz ; in.  An entry outside M x N is MM_PREMATURE_EOF.
 *     int row[] ; out [nz].  From 1.
 *     int col[] ; out [nz].  From 1.
 *     double val[] ; out [nz]; complex [2*nz]; pattern: not changed, may be NULL.
 *     MM_typecode matcode ; in.
 * Returns 0, MM_PREMATURE_EOF or MM_UNSUPPORTED_TYPE. */
TRS_API int mm_read_mtx_crd_data(FILE *f, int M, int N, int nz, int row[], int col[], double val[],
                                 MM_typecode matcode);

/* Read one data line.
 *     FILE *f ; in.
 *     int *row, *col ; out.  From 1.
 *     double *real ; out.  Pattern: not changed.
 *     double *img ; out.  Imaginary part; only complex files set it.
 *     MM_typecode matcode ; in.
 * Returns 0, MM_PREMATURE_EOF or MM_UNSUPPORTED_TYPE. */
TRS_API int mm_read_mtx_crd_entry(FILE *f, int *row, int *col, double *real, double *img,
                                  MM_typecode matcode);

/* Read a whole coordinate file.
 *     char *fname ; in.  "stdin": standard input.
 *     int *M, *N, *nz ; out.
 *     int **row ; out [nz].  From 1.  The caller frees it.  NULL after an error.
 *     int **col ; out [nz].  From 1.  The caller frees it.  NULL after an error.
 *     double **val ; out [nz]; complex [2*nz].  The caller frees it.  NULL after an error and for
 *         pattern files.
 *     MM_typecode *matcode ; out.
 * Returns 0, MM_COULD_NOT_READ_FILE, or a code of the functions above. */
TRS_API int mm_read_mtx_crd(char *fname, int *M, int *N, int *nz, int **row, int **col,
                            double **val, MM_typecode *matcode);

/* Read a real general coordinate file.
 *     const char *fname ; in.
 *     int *M, *N, *nz ; out.
 *     double **val ; out [nz].  The caller frees it.  NULL after an error.
 *     int **row ; out [nz].  From 0.  The caller frees it.  NULL after an error.
 *     int **col ; out [nz].  From 0.  The caller frees it.  NULL after an error.
 * Returns 0 or -1. */
TRS_API int mm_read_unsymmetric_sparse(const char *fname, int *M, int *N, int *nz, double **val,
                                       int **row, int **col);

/* Write a whole coordinate file.
 *     char fname[] ; in.  "stdout": standard output.
 *     int M, N, nz ; in.
 *     int row[] ; in [nz].  From 1.
 *     int col[] ; in [nz].  From 1.
 *     double val[] ; in [nz]; complex [2*nz]; pattern: not read, may be NULL.
 *     MM_typecode matcode ; in.
 * Returns 0, MM_COULD_NOT_WRITE_FILE or MM_UNSUPPORTED_TYPE. */
TRS_API int mm_write_mtx_crd(char fname[], int M, int N, int nz, int row[], int col[], double val[],
                             MM_typecode matcode);

#ifdef __cplusplus
}
#endif
#endif
