/* dags.h: triangles that are awkward for solvers in which rows wait for one another: of any size, so that it is no
 * multiple of anything. */
#ifndef TRS_DAGS_H
#define TRS_DAGS_H

#include "model.h"

typedef struct dag {
    const char *name;
    int (*waits)(int n, int i, int *col); /* the columns that row i of n waits for, and how many */
} dag;

enum { DAGS = 16 };
extern const dag dags[DAGS];

/* Lower, entries by rows; those of a row are together at most about half its diagonal. */
model model_of(const dag *d, int n, bool is_complex, random_t *r);

#endif
