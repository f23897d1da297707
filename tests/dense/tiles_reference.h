/* tiles_reference.h: what dense-blocked computes, one step after the other. */
#ifndef TRS_TILES_REFERENCE_H
#define TRS_TILES_REFERENCE_H

#include "tests/common/reference.h"

/* x = T^-1 b, by inverted and scaled tiles.  How many rows of tiles had to be substituted; *split: how many panels were
 * split. */
int solve_by_tiles(const trs_tri *t, const double *b, double *x, int *split);

#endif
