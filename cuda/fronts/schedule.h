/* schedule.h: the launches for a tree of fronts, and where its numbers are stored.
 *
 * The numbers of a front, which has cols pivots and order = cols + rows:
 *
 *     lower     order x cols, by columns    entries (i, j), i >= j, of its columns: L, and the pivots
 *     upper     order x cols, by columns    entries (j, i), i > j, of its rows of U: U'; not of L L^H
 *     update    rows x rows, by columns     its update matrix S; of L L^H the lower triangle
 *     diagonal  PANEL x PANEL, by columns, for each panel of PANEL columns of a large front: L and U of the block on the
 *               diagonal, which lower and upper keep as it was before its elimination, because many blocks of threads
 *               read it at the same time
 *
 * With U' instead of U, everything below the pivots is a product X Y' of two panels of the same form.  lower, upper
 * and diagonal are in one array, the panels, until they are gathered into L and U.  Update matrices are in a pool,
 * which reuses the space of one once its parent has read it.
 *
 * The launches, level by level, are the following.  A large front does not fit into one SM.
 *
 *     SMALL     a block a small front: it reads, eliminates and writes the whole front
 *     ASSEMBLE  a block a tile of a large front: it adds the parts of the children's update matrices
 *     PANEL     step k of large fronts that have one: a block for PANEL_ROWS rows of lower or of upper factors the block
 *               on the diagonal for itself, and finds these rows of L or of U'
 *     TRAIL     a block a tile of lower or upper to the right of the panel: minus the product of the panels
 *     SCHUR     a block a tile of an update matrix: minus the product of all columns of L and U
 *
 * start [0 .. fronts] assigns the blocks of a launch to its fronts: front number f has the blocks from start [f]
 * on. */
#ifndef TRS_FRONTS_SCHEDULE_H
#define TRS_FRONTS_SCHEDULE_H

#include "elimination/front_tree.h"
#include "elimination/fronts.h"

enum {
    TRS_FRONT_PANEL = 32,       /* columns that are eliminated at a time */
    TRS_FRONT_PANEL_ROWS = 128, /* rows of a block of PANEL */
    TRS_FRONT_TILE = 64,        /* rows and columns of a tile */
    /* the order of the largest small front: it fits into registers and shared memory */
    TRS_FRONT_SMALL = 96
};

typedef enum trs_front_step {
    TRS_FRONT_STEP_SMALL,
    TRS_FRONT_STEP_ASSEMBLE,
    TRS_FRONT_STEP_PANEL,
    TRS_FRONT_STEP_TRAIL,
    TRS_FRONT_STEP_SCHUR
} trs_front_step;

typedef struct trs_front_launch {
    trs_front_step step;
    int32_t fronts; /* number of them */
    int32_t list;   /* the fronts are list [list ..] of the schedule */
    int64_t start;  /* its blocks are dealt by start [start .. start+fronts] of the schedule */
    int32_t blocks;
    int32_t panel; /* PANEL, TRAIL: number of the panel */
    int32_t order; /* SMALL: of its first front, which is the largest */
} trs_front_launch;

/* A front for the device.  Offsets count numbers. */
typedef struct trs_front_numbers {
    int64_t lower, upper, diagonal; /* in the panels; diagonal: -1 of a small front */
    int64_t update;                 /* in the pool */
    int64_t row;                    /* its rows' places in the parent are to [row ..] of the tree */
    int64_t strip;                  /* of a large front: its strips are strip_ptr [strip ..] */
    int32_t cols, rows, first;
    int32_t child, children;      /* child [child ..] of the tree */
    int32_t pivot_strips, strips; /* of its pivots; all of them */
} trs_front_numbers;

/* The rows of a large front are cut into strips of TILE rows, anew behind the pivots.  The rows begin .. end-1 of a child's
 * update matrix go to one of them. */
typedef struct trs_front_share {
    int32_t child, begin, end;
} trs_front_share;

typedef struct trs_front_schedule {
    int32_t launches;
    trs_front_launch *launch; /* [launches] */
    int32_t *list;            /* [count of the tree] fronts by level; the small ones first */
    int64_t starts;
    int32_t *start;             /* [starts] */
    trs_front_numbers *numbers; /* [count of the tree] */
    int64_t strips, shares;
    int64_t *strip_ptr;     /* [strips+1] shares of strip k, by child: share [strip_ptr [k] ..] */
    trs_front_share *share; /* [shares] */
    int64_t panels, pool;   /* lengths of these arrays, in numbers */
} trs_front_schedule;

int trs_front_schedule_make(trs_context *ctx, const trs_front_tree *t, bool cholesky,
                            trs_front_schedule *s);
void trs_front_schedule_free(trs_context *ctx, trs_front_schedule *s);

/* ---- where A goes, and where L and U come from (places.c) ------------------------------------------------- */

enum {
    TRS_FRONT_ONE = -1, /* the number 1 on the diagonal of L */
    TRS_FRONT_ZERO = -2 /* that of an entry of L S L^H which no values of A change */
};

typedef struct trs_front_places {
    int64_t entries; /* of A that are read */
    int64_t *from;   /* [entries] number of the value in A */
    /* [entries] offset in the panels; ~offset: there the conjugate of the value goes */
    int64_t *to;
    int32_t *row;   /* [entries] of A, for the scaling; NULL: there is none */
    int32_t *i, *j; /* [entries] the pivots of row and column; NULL unless indefinite */
    int64_t *l, *u; /* [nnz of L, of U] offsets in the panels, or one of these numbers */
    int64_t lnz, unz;
} trs_front_places;

/* The entries of A in the order of the pivots: trs_front_tree_make is given them.  *i, *j ; out [*entries], to be freed.
 * The numbers of the values are the order of the entries in A. */
int trs_front_entries(trs_context *ctx, const trs_fronts_pattern *p, int64_t *entries, int32_t **i,
                      int32_t **j);
/* i, j: what trs_front_entries found. */
int trs_front_places_make(trs_context *ctx, const trs_fronts_pattern *p, const trs_front_tree *t,
                          const trs_front_schedule *s, const int32_t *i, const int32_t *j,
                          trs_front_places *q);
void trs_front_places_free(trs_context *ctx, trs_front_places *q);

#endif
