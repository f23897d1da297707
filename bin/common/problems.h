/* problems.h: test triangles of any size, made from a kind, a size and a seed. */
#ifndef TRS_BIN_PROBLEMS_H
#define TRS_BIN_PROBLEMS_H

#include "trisolve-sparse.h"

typedef struct problem_options {
    uint64_t seed;
    int64_t degree;  /* rand: entries a row; 0: 10 */
    int64_t dof;     /* fem: unknowns a node; 0: 3 */
    int64_t edges;   /* rmat: 0: 8 * 2^size */
    int64_t entries; /* chain: besides the one before; 0: 4 */
    int64_t reach;   /* chain: how far back; 0: 5000 */
} problem_options;

typedef struct problem_kind {
    const char *name, *size;
    const char *options; /* the members of problem_options that it heeds, besides the seed */
    const char *about;
} problem_kind;

/* Kind number k = 0, 1, ...; NULL past the last. */
const problem_kind *problem_kind_at(int k);

/* A lower triangle in CSR, base 0, columns ascending, the diagonal last in every row.
 * mm is always set and freed by trs_mm_free; said () is the sentence after an error.
 * TRS_OK, TRS_EARG (kind; size or an option negative, or too large for this machine), TRS_EMEM,
 * TRS_ESUPPORT (needs CHOLMOD), TRS_ELIBRARY. */
int problem_make(const char *kind, int64_t size, const problem_options *opt, trs_mm *mm);
/* The same of "KIND:SIZE". */
int problem_named(const char *name, trs_mm *mm);

/* The L of the 2D or 3D grid Laplacian by CHOLMOD with AMD (problems_lu.c). */
int problem_make_lu(int dimensions, int64_t size, trs_mm *mm);

/* A binary form for size (binary.c), little endian, base 0, of a square real matrix in CSR:
 *     "TRISOLV1"   8 bytes
 *     n, nnz       int64 each
 *     ptr [n+1]    int64
 *     idx [nnz]    int32, ascending within a row
 *     val [nnz]    double
 * and nothing behind.  binary_is looks at regular files only: no pipe loses its first bytes.
 * binary_read sets mm always: TRS_EFILE, TRS_EFORMAT, TRS_EMEM.
 * binary_write makes a whole file or none: TRS_EFILE.  Both leave their sentence in said (). */
int binary_is(const char *file);
int binary_read(const char *file, int base, trs_mm *mm);
int binary_write(const char *file, const trs_mm *mm);

#endif
