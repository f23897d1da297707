/* supernodal_reference.h: a triangle solved by its supernodes, one number after the other (supernodal_reference.c). */
#ifndef TRS_SUPERNODAL_REFERENCE_H
#define TRS_SUPERNODAL_REFERENCE_H

#include "matrix/matrix.h"
#include "analysis/supernodes.h"

/* stored [s->stored] ; output: the entries of the packed panels, inverted and scaled.  L has values in double. */
void reference_update(const trs_tri *L, const trs_supernodes *s, double *stored);

/* L x = b by the tasks in their order.  x [n], partial [s->partials * TRS_SUPERNODE] ; output. */
void reference_solve(const trs_supernodes *s, const double *stored, const double *b, double *x,
                     double *partial);

#endif
