/* parts.h: the triangles that the parts of a cut solve with, on the host. */
#ifndef TRS_SUBTREES_PARTS_H
#define TRS_SUBTREES_PARTS_H

#include "cut.h"

/* Entries of I, which are none of the whole. */
enum { TRS_SUBTREE_ONE = -1, TRS_SUBTREE_ZERO = -2 };

/* H of a part with its coupling B to the top, and I in the place of C; or C of the top. */
typedef struct trs_subtree_tri {
    trs_tri tri;      /* without values */
    int64_t *src;     /* [nnz] the entry of the whole that each entry is, or one of the above */
    int32_t rows, at; /* of H or C; the first of them */
} trs_subtree_tri;

/* Part k of the cut of T, `parts`: the top; number [n] is the inverse of cut->row.  Returns TRS_OK, TRS_EMEM; tri.ptr, tri.idx
 * and src are to be freed in any case. */
int trs_subtree_tri_make(trs_context *ctx, const trs_tri *T, const trs_subtrees *cut,
                         const int32_t *number, int k, trs_subtree_tri *part);
/* to [nnz] = its values, of val of the whole. */
void trs_subtree_tri_values(const trs_context *ctx, trs_dtype t, int64_t nnz, const int64_t *src,
                            const void *val, void *to);

#endif
