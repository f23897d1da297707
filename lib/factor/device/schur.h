/* schur.h: the Schur complement of some rows s of A on the device of factors of the other rows r (suitesparse/schur.c). */
#ifndef TRS_LU_SCHUR_H
#define TRS_LU_SCHUR_H

#include "factor/lu.h"

typedef struct trs_schur_task {
    const trs_csc *A;
    /* [n] row i of A is row to(i) of S, or, if that is negative, row ~to(i) of A(r, r) */
    const int64_t *to;
    /* rows of S, and of A(r, r) */
    int64_t count, rest;
    /* [ld*count] on the device, by columns */
    void *S;
    int64_t ld;
    /* S is Hermitian: the triangle below its diagonal is copied */
    bool hermitian;
} trs_schur_task;

/* C = A, all of it, which may be on a device if the lu is for one.  C and what it needs belong to the lu.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX, TRS_ESUPPORT, TRS_EDEVICE. */
int trs_lu_schur_import(trs_lu *lu, const trs_mat *A, trs_csc *C);
/* S, by the factors lu of A(r, r), whose plans are on a device.  It waits.
 * Returns TRS_OK, TRS_EMEM, TRS_EDEVICE, or what trs_lu_status and trs_lu_solve return. */
int trs_lu_schur(trs_lu *lu, const trs_schur_task *task);

#endif
