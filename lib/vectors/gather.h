/* gather.h: right-hand sides and solutions in another order, type or layout, on the host.
 *
 *     gather     to(k, r) = u(r) s(k) from(p(k), r)        p a permutation, s a scaling, u a number for each column
 *     scatter    to(p(k), r) = from(k, r)
 *
 * Permutation, scaling and change of precision are one pass.  A gather writes consecutive numbers, so threads can
 * share it.  Threads that scatter wait for each other's cache lines and take ten times as long; if the inverse of p
 * is available, gather by that instead.  On a device, cuda/runtime/move.cu and vectors.cu do the same. */
#ifndef TRS_GATHER_H
#define TRS_GATHER_H

#include "matrix/operator.h"

typedef struct trs_gather {
    int64_t n;
    int nrhs;
    trs_dtype from, to;  /* both real, or both complex */
    const int32_t *perm; /* [n] p; NULL: the identity, where nothing is scaled or conjugated */
    const double *scale; /* [n] s; NULL: ones */
    const double *unit;  /* [nrhs] u; NULL: ones */
    bool conj;           /* the numbers are conjugated */
} trs_gather;

/* Products are in double precision, u (s from).  from and to may be the same numbers if p is the identity. */
void trs_gather_rows(const trs_gather *g, int threads, trs_view from, trs_view to);
/* The same for g->perm, with one type and nothing else, by one thread. */
void trs_scatter_rows(const trs_gather *g, trs_view from, trs_view to);

/* The largest |re| or |im| of s(k) from(p(k), r) for column r; a NaN does not count. */
double trs_gather_largest(const trs_gather *g, trs_view from, int r);

#endif
