/* general.h: plans of general dense matrices.  Each side keeps op(A) as a full matrix (trs_side.full);
 * a solver of the family TRS_GENERAL_DENSE factors it in update, or eliminates in solve. */
#ifndef TRS_GENERAL_H
#define TRS_GENERAL_H

#include "internal.h"

/* A dense matrix of neither triangle? */
bool trs_is_general(const trs_mat *m);

/* The values of m, which is on the host, into every side in use; the first time with its memory. */
int trs_general_read(trs_plan *p, const trs_mat *m);

/* p->wanted, reason and info: named by the caller, or one that pivots. */
int trs_general_choose(trs_plan *p);

/* What an update found: growth = largest of U / largest of A; first = the first pivot that is no larger
 * than eps times the largest of A, or not finite, -1: none. */
int trs_general_judge(trs_part *part, double growth, int64_t first);

/* u [n] = the diagonal of lu [n*n], by rows or by columns; of one on the device, which is waited for. */
void trs_general_diagonal(const trs_part *part, const void *lu, void *u);
int trs_general_diagonal_there(const trs_part *part, const void *lu, void *u);

#endif
