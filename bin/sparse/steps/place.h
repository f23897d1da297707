/* place.h: where a problem is solved: its matrix and vectors on the host, or their copies on a device. */
#ifndef TRS_BIN_SPARSE_PLACE_H
#define TRS_BIN_SPARSE_PLACE_H

#include "bin/sparse/problem.h"

typedef struct place {
    int device;     /* TRS_HOST or TRS_CUDA(k) */
    trs_mat A;      /* arrays of the problem, or their copies */
    void *B, *X;    /* likewise */
    size_t vectors; /* bytes of B, of X */
} place;

/* Return a trs_status, with a sentence in trs_message (). */
int place_open(place *at, const problem *p, int device);
int place_put_values(place *at, const problem *p); /* new values of A */
int place_get_x(const place *at, problem *p);
int place_wait(const place *at); /* until all is done that was enqueued there */
void place_close(place *at);

#endif
