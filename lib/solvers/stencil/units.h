/* units.h: a triangle cut into units of consecutive rows: runs of rows with one pattern, and all other rows.
 *
 * The rows of a run have their entries at the same distances from the diagonal: row i has the columns i - d for the
 * distances d of its pattern.
 *
 *     row 40   . 24 . . 39 40        distances 16, 1
 *     row 41     . 25 . . 40 41
 *     row 42       . 26 . . 41 42
 *
 * A unit is a part of a run, or a number of rows that belong to no run, with the same limit.  The first row of a run
 * may lack the column just before it, as the first point of a grid line does. */
#ifndef TRS_STENCIL_UNITS_H
#define TRS_STENCIL_UNITS_H

#include "solvers/solver.h"

typedef struct trs_run { /* the pattern of a run, whose columns ascend while distances descend */
    int64_t distances;   /* where its distances begin, without that of 1 if it follows */
    int32_t far, near;   /* how many are at least a vector's numbers; and how many are less */
    bool follows;        /* rows are links of a chain (cpu_row.h) */
} trs_run;

typedef struct trs_unit {
    int32_t begin, end; /* rows */
    int32_t run;        /* -1: it is of none */
    bool starts; /* its first row has no entry in the column just before, though the run follows */
} trs_unit;

typedef struct trs_units {
    int32_t lanes; /* numbers of a vector */
    int32_t count, runs;
    int64_t rows, entries; /* of the triangle in runs */
    int64_t values;        /* that all tiles have (trs_run_values) */
    trs_unit *unit;        /* [count] ascending; they have all rows */
    trs_run *run;          /* [runs] */
    int64_t distances;
    int32_t *distance; /* [distances] */
} trs_units;

/* shared: units are for several threads.  Free by trs_units_free, also after an error.  Returns TRS_OK, TRS_EMEM. */
int trs_units_find(trs_context *ctx, const trs_tri *L, bool shared, trs_units *u);
int trs_units_copy(trs_context *ctx, const trs_units *from, trs_units *to);
/* The numbers stay. */
void trs_units_free(trs_context *ctx, trs_units *u);

/* The tiles of a unit of a run have so many rows each, the last one of them perhaps fewer. */
static inline int32_t trs_unit_tiles(const trs_units *u, const trs_unit *unit)
{
    return (unit->end - unit->begin + u->lanes - 1) / u->lanes;
}

/* The values that a tile has for a row: one for each distance, L(i, i-1) r, and r. */
static inline int32_t trs_run_values(const trs_run *run)
{
    return run->far + run->near + run->follows + 1;
}

#endif
