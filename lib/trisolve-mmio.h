/* trisolve-mmio.h: the C interface of NIST's mmio, for codes that were written against it.
 *
 * Include this in place of "mmio.h" and link libtrisolve-sparse.  The functions, macros and
 * codes are those of mmio; what differs is what goes wrong: no line is too long, a blank line
 * does not loop for ever, an index out of range, a missing value, a number cut short or a size
 * beyond int is an error, never a matrix.  Values are the nearest double, D exponents included;
 * those written are the shortest text that reads back.  Integer files are read as double.
 * Nothing is printed.
 *
 * To the linker the functions are trs_mmio_read_banner and so on, by macros: a program may hold mmio.c
 * besides, and sources that include "mmio.h" call that one.
 *
 * As in mmio, entries come as they stand in the file: counted from 1, in its order, a symmetric
 * file's lower triangle only.  trs_mm_read of trisolve-sparse.h reads in parallel, packed files
 * too, and gives CSR. */
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

/* object M | format C coordinate, A array | field R C P I | symmetry G S H K */
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

/* These take a pointer to the code. */
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

#define MM_COULD_NOT_READ_FILE  11
#define MM_PREMATURE_EOF        12 /* ends too early, or a line is not what it must be */
#define MM_NOT_MTX              13
#define MM_NO_HEADER            14
#define MM_UNSUPPORTED_TYPE     15 /* also: a size beyond int */
#define MM_LINE_TOO_LONG        16 /* never returned */
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

/* The names of the functions in the library. */
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

/* Everywhere: FILE *f is open, read or written from where it stands, and left open; no pointer may be NULL
 * but where that is said; numbers that are written to *M, *N, *nz are rows, columns, data lines.  Functions
 * that return int give 0 or one of the codes above. */

/* Is it a combination that the format has?  1 or 0. */
TRS_API int mm_is_valid(MM_typecode matcode);

/* "matrix coordinate real general"; free it.  NULL: not a code, or out of memory. */
TRS_API char *mm_typecode_to_str(MM_typecode matcode);

/* The first line; then the sizes, past comments and blank lines.
 * Return 0, MM_PREMATURE_EOF, MM_NO_HEADER, MM_UNSUPPORTED_TYPE. */
TRS_API int mm_read_banner(FILE *f, MM_typecode *matcode);
TRS_API int mm_read_mtx_crd_size(FILE *f, int *M, int *N, int *nz);
TRS_API int mm_read_mtx_array_size(FILE *f, int *M, int *N);

/* The first line; then the line of the sizes.  Return 0, MM_COULD_NOT_WRITE_FILE. */
TRS_API int mm_write_banner(FILE *f, MM_typecode matcode);
TRS_API int mm_write_mtx_crd_size(FILE *f, int M, int N, int nz);
TRS_API int mm_write_mtx_array_size(FILE *f, int M, int N);

/* The nz data lines into arrays of the caller: row [nz], col [nz] from 1; val [nz], complex [2*nz],
 * pattern: not touched, may be NULL.  An entry outside M x N is MM_PREMATURE_EOF.
 * Returns 0, MM_PREMATURE_EOF, MM_UNSUPPORTED_TYPE. */
TRS_API int mm_read_mtx_crd_data(FILE *f, int M, int N, int nz, int row[], int col[], double val[],
                                 MM_typecode matcode);

/* One data line: *row, *col from 1, *real, and *img for complex; neither value for pattern.
 * Returns 0, MM_PREMATURE_EOF, MM_UNSUPPORTED_TYPE. */
TRS_API int mm_read_mtx_crd_entry(FILE *f, int *row, int *col, double *real, double *img,
                                  MM_typecode matcode);

/* A whole coordinate file; fname "stdin" is standard input.  *row, *col [nz], *val [nz], complex [2*nz],
 * are the caller's to free; all NULL after an error, and *val for pattern.
 * Returns 0, MM_COULD_NOT_READ_FILE, or a code of the functions above. */
TRS_API int mm_read_mtx_crd(char *fname, int *M, int *N, int *nz, int **row, int **col,
                            double **val, MM_typecode *matcode);

/* A real general coordinate file, indices from 0.  *val, *row, *col [nz] are the caller's to free, NULL after
 * an error.  Returns 0, or -1. */
TRS_API int mm_read_unsymmetric_sparse(const char *fname, int *M, int *N, int *nz, double **val,
                                       int **row, int **col);

/* A whole coordinate file; fname "stdout" is standard output.  row, col [nz] in, from 1; val [nz] in, complex
 * [2*nz], pattern: not read, may be NULL.
 * Returns 0, MM_COULD_NOT_WRITE_FILE, MM_UNSUPPORTED_TYPE. */
TRS_API int mm_write_mtx_crd(char fname[], int M, int N, int nz, int row[], int col[], double val[],
                             MM_typecode matcode);

#ifdef __cplusplus
}
#endif
#endif
