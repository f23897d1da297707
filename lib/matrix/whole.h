/* whole.h: all of a Hermitian matrix with one stored triangle (TRS_SELFADJOINT). */
#ifndef TRS_WHOLE_H
#define TRS_WHOLE_H

#include "matrix.h"

/* How a number of the whole is made of one that is stored. */
enum { TRS_STORED = 0, TRS_CONJUGATE = 1, TRS_REAL_PART = 2, TRS_WHOLE_BITS = 2 };

typedef struct trs_whole {
    /* of kind 0, on the host, by rows or columns as the triangle; blocks become numbers */
    trs_mat mat;
    /* [numbers of mat.val]: place in the val of the triangle << TRS_WHOLE_BITS | how */
    int64_t *from;
} trs_whole;

static inline bool trs_is_half(const trs_mat *m)
{
    return m->kind & TRS_SELFADJOINT;
}

/* Make the whole of m, which is on the host, with its values.  Rows ascend in it if they do in m.
 * Returns TRS_OK, TRS_EMEM, or as trs_check_mat; *w is empty after an error. */
int trs_whole_make(trs_context *ctx, const trs_mat *m, trs_whole *w);
/* Take new values from val, which is that of the triangle. */
void trs_whole_values(const trs_context *ctx, trs_whole *w, const void *val);
void trs_whole_free(trs_context *ctx, trs_whole *w);

/* *out is m, which is on the host and has been checked, or has its entries as a CSR or a matrix without kind when they are
 * stored as blocks or as one triangle.  Call trs_expand_done when it is no longer needed, unless this failed. */
int trs_expand(trs_context *ctx, const trs_mat *m, trs_mat *out);
void trs_expand_done(trs_context *ctx, const trs_mat *m, trs_mat *out);

#endif
