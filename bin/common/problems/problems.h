/* problems.h: test triangles of any size, made from a kind, a size and a seed. */
#ifndef TRS_BIN_PROBLEMS_H
#define TRS_BIN_PROBLEMS_H

#include "trisolve-sparse.h"

#include <stdbool.h>

typedef struct problem_options {
    uint64_t seed;
    int64_t degree;  /* rand: the entries of a row; 0: 10 */
    int64_t dof;     /* fem: the unknowns of a node; 0: 3 */
    int64_t edges;   /* rmat: the edges of the graph; 0: 8 * 2^size */
    int64_t entries; /* chain: the entries of a row besides the one before; 0: 4 */
    int64_t reach;   /* chain: how many rows back they may lie; 0: 5000 */
} problem_options;

typedef struct problem_kind {
    const char *name;
    const char *size;    /* the letter that stands for the size in the help */
    const char *options; /* the members of problem_options that the kind heeds, besides the seed */
    const char *about;
} problem_kind;

/* Kind number k = 0, 1, ...; NULL past the last. */
const problem_kind *problem_kind_at(int k);

/* A lower triangle in CSR with base 0; the columns of a row ascend, so that its diagonal entry is
 * the last. mm is always set and freed by trs_mm_free; said () is the sentence after an error.
 * Returns TRS_OK, TRS_EARG (the kind is unknown; the size or an option is negative, or too large
 * for this machine), TRS_EMEM, TRS_ESUPPORT (the kind needs CHOLMOD), TRS_ELIBRARY. */
int problem_make(const char *kind, int64_t size, const problem_options *opt, trs_mm *mm);

/* Is it KIND:SIZE or KIND:SIZE,SIZE..., and no file of that name? */
bool problem_is_name(const char *name);
/* The same for the text "KIND:SIZE", with all options at their defaults. */
int problem_named(const char *name, trs_mm *mm);

/* The L of the Laplacian of a 2D or 3D grid by CHOLMOD with AMD: kinds lu2d and lu3d. */
int problem_make_lu(int dimensions, int64_t size, trs_mm *mm);

#endif
