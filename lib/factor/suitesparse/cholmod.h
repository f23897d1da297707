/* cholmod.h: CHOLMOD's orders, for its own factors and for static pivots. */
#ifndef TRS_SUITESPARSE_CHOLMOD_H
#define TRS_SUITESPARSE_CHOLMOD_H

#include "factor.h"

#ifdef HAVE_CHOLMOD
#include <cholmod.h>

/* A for CHOLMOD, which reads the lower triangle. */
cholmod_sparse trs_cholmod_view(const trs_csc *A);
/* The code and the sentence of an error of CHOLMOD while it was doing something. */
int trs_cholmod_failed(const cholmod_common *c, const char *doing);
/* The order of the next analysis; NULL: CHOLMOD's default.  TRS_OK, TRS_ESUPPORT. */
int trs_cholmod_set_ordering(cholmod_common *c, const char *name);
/* The order to begin with where the caller has named this one.  On a device that is AMD for NULL, since trs_cholmod_dissect tries
 * METIS; CHOLMOD's own default may try both. */
const char *trs_cholmod_first_ordering(const trs_lu *lu, const char *name);
const char *trs_cholmod_ordering_used(const cholmod_factor *L);
/* On a device, where the levels of L determine the time of a solve, METIS is used unless its fill is more than 1.5 times as
 * much: the elimination tree of a nested dissection is low.  For a single solve that has been announced it takes too long. */
int trs_cholmod_dissect(trs_lu *lu, cholmod_sparse *S, cholmod_common *c, cholmod_factor **L);

#endif
#endif
