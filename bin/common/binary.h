/* binary.h: a binary form of square real matrices in CSR, for sizes at which text is too slow.
 *
 * It is little endian, with base 0:
 *     "TRISOLV1"   8 bytes
 *     n, nnz       int64 each
 *     ptr [n+1]    int64
 *     idx [nnz]    int32, ascending within a row
 *     val [nnz]    double
 * and nothing behind. */
#ifndef TRS_BIN_BINARY_H
#define TRS_BIN_BINARY_H

#include "trisolve-sparse.h"

/* Does the file begin with that word?  Only regular files are read, so that no pipe loses its first
 * bytes. */
int binary_is(const char *file);

/* Both leave a sentence in said () after an error.  binary_read always sets mm; it returns TRS_OK,
 * TRS_EFILE, TRS_EFORMAT, TRS_EMEM or TRS_ESUPPORT.  binary_write makes a whole file or none:
 * TRS_OK, TRS_EFILE, TRS_EMEM or TRS_ESUPPORT. */
int binary_read(const char *file, int base, trs_mm *mm);
int binary_write(const char *file, const trs_mm *mm);

#endif
