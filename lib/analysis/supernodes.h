/* supernodes.h: a lower triangle cut into supernodes, for solves by the inverses of their diagonal blocks.
 *
 * A supernode is a set of consecutive rows and columns of nearly one pattern, fundamental or relaxed (trapezoids.h).
 * Supernodes of more than TRS_SUPERNODE rows are cut evenly, and the parts are called supernodes as well.  Supernode
 * s is a predecessor of t if rows of t have entries in columns of s:
 *
 *     x_t = L_tt^-1 (b_t - sum of L_ts x_s over the predecessors s)
 *
 * The edges s -> t are the supernodal DAG.  The level of t is one more than the deepest level of its predecessors,
 * and the number of levels is the depth of the DAG: for a factor 20 to 40 times fewer than levels of rows.
 *
 * Packed panels.  The columns that t needs are cut into panels.  A panel is a dense matrix of the rows of t that
 * have an entry in one of its columns, and of these columns, so that no index is read for an entry; the zeros that
 * it stores are the price.  A large supernode of five rows (say) with predecessors p, q, r, and r deeper than p and
 * q:
 *
 *                    p        q          r          t
 *     column       3 4 5    9 10     17 20 21    24 .. 28
 *                 -------  ------   ---------   ----------
 *     row 24       x x x    . .      x  x  x     d
 *         25       x x x    . .      x  x  x     d d
 *         26       . . .    x x      x  x  x     d d d
 *         27       . . .    x x      x  x  x     d d d d
 *         28       x x x    . .      x  x  x     d d d d d
 *     panel        0        1        3           2
 *     row_mask     10011    01100    11111       11111
 *                  early    early    late        diagonal block
 *
 * Entry (i, k) of a panel, where i counts its rows and k its columns, is at
 *
 *     offset + (k/4)*4*rows + i*4 + k%4
 *
 * among the stored entries: groups of four columns, the last group padded with zeros.  The analysis stores no values;
 * the solver decides what to store: cuda/supernodal fills panels with L, and makes M_tt = L_tt^-1 of diagonal blocks
 * and S = M_tt L of late panels.
 *
 *     large supernode (more than TRS_SMALL rows):  early panels, the diagonal block, one late panel
 *     small supernode:                             one panel of all columns that it needs, the diagonal block
 *     supernode of a chain:                        early panels, its rows of D, its late panels
 *
 * Late columns are those on the critical path: for a large supernode the columns of its deepest predecessors, as far
 * as they fit into one panel.  Early columns can be multiplied before the late x are known.
 *
 * Chains.  A chain is a sequence of up to TRS_CHAIN large supernodes, each of which needs nearly all of those before
 * it: for example, the parts of a large supernode.  Its supernodes share one level, because its diagonal block D,
 * which covers all its rows, is inverted as a whole.  A supernode of a chain stores its rows of D as one panel for
 * each supernode of the chain up to itself; the last panel is its diagonal block.  It has one late panel, with all
 * rows, for each of up to TRS_CHAIN_LATE predecessors of the chain from the two levels before it.
 *
 * Tasks are listed in a topological order: a task needs only what earlier tasks have published, so a solver that
 * takes them in this order can always proceed.
 *
 *     task          computes                                                      publishes
 *     PARTIAL_SUM   y = sum of some early panels times x                          y
 *     PARTIAL_RHS   r_t = b_t - early panels times x - partial sums of t          r_t (the partial right-hand side)
 *     LARGE         x_t = L_tt^-1 (b_t - early panels - partial sums - late x)    x_t
 *     CHAIN         x_t = rows t of D^-1 (r - late panels times x)                x_t
 *     SMALL         the same as LARGE for a batch of small supernodes             their x_t
 *
 * A task multiplies at most TRS_TASK_PANELS panels; further early panels go to PARTIAL_SUM tasks.  A supernode of a
 * chain may be cut into slices of TRS_SLICE rows, each of which is a CHAIN and a PARTIAL_RHS task. */
#ifndef TRS_SUPERNODES_H
#define TRS_SUPERNODES_H

#include "matrix/operator.h"

enum {
    TRS_SUPERNODE = 64, /* rows of a supernode, and columns of a panel of a large one */
    TRS_SMALL = 16,     /* a supernode with more rows is large */
    TRS_BATCH = 8,      /* small supernodes of a task */
    /* a small supernode with more off-diagonal entries is a batch by itself */
    TRS_BATCH_ENTRIES = 1024,
    TRS_TASK_PANELS = 24, /* panels of a task, the diagonal block counted */
    TRS_CHAIN = 4,        /* supernodes of a chain */
    TRS_CHAIN_LATE = 8,   /* late panels of a supernode of a chain */
    TRS_SLICE = 16,       /* rows of a slice */
};

/* A packed panel. */
typedef struct trs_panel {
    int64_t offset;    /* of its first stored entry */
    uint64_t row_mask; /* bit i: it has row i of its supernode */
    int32_t column;    /* its columns are column [column ..] of trs_supernodes */
    int32_t columns;   /* number of them */
    int32_t supernode; /* that the rows belong to */
    int32_t level;     /* of the deepest supernode whose x it needs; -1: part of a diagonal block */
} trs_panel;

typedef struct trs_supernode {
    int32_t first, rows;
    /* The panels of its LARGE, CHAIN or SMALL task.  Those of its partial sums and of its partial right-hand side
     * stand before them. */
    int32_t panel, panels;
    int32_t diagonal; /* number of the panel that is its diagonal block */
    /* Number of its first partial sum, and how many it has.  In a chain number partial + partials is its partial
     * right-hand side. */
    int32_t partial, partials;
    int32_t chain_place;  /* how many supernodes of its chain come before it */
    int32_t chain_length; /* supernodes of its chain; 1: it is in none */
    int32_t slices;       /* CHAIN tasks, and PARTIAL_RHS tasks, that share its rows; else 1 */
} trs_supernode;

typedef enum trs_task_kind {
    TRS_TASK_LARGE,
    TRS_TASK_PARTIAL_SUM,
    TRS_TASK_SMALL,
    TRS_TASK_PARTIAL_RHS,
    TRS_TASK_CHAIN
} trs_task_kind;

typedef struct trs_task {
    int32_t kind;
    int32_t supernode, supernodes; /* the first one, and how many; 1 unless the task is a batch */
    int32_t panel, panels; /* that it multiplies; 0, 0 for a batch, whose supernodes know theirs */
    union {
        int32_t partial; /* PARTIAL_SUM: its number */
        int32_t slice;   /* PARTIAL_RHS, CHAIN: its number in the supernode */
    };
    int32_t column, columns; /* of its panels together: column [column ..] */
} trs_task;

typedef struct trs_supernodes {
    int32_t count, panels, tasks;
    int32_t partials;     /* partial sums and partial right-hand sides */
    int32_t large;        /* supernodes */
    int32_t depth;        /* levels of the DAG */
    int32_t large_levels; /* levels that have a large supernode */
    int32_t chains;
    int32_t chain_links;      /* sum over the levels: supernodes of the longest chain, less one */
    int64_t small_rows;       /* sum over the levels: rows of the largest small supernode */
    int64_t columns;          /* of all panels */
    int64_t stored;           /* stored entries of all panels */
    trs_supernode *supernode; /* [count] in topological order */
    trs_panel *panel;         /* [panels] by supernodes in the order of their rows */
    int32_t *column;          /* [columns] columns of the triangle */
    trs_task *task;           /* [tasks] in topological order */
} trs_supernodes;

/* Of an operator: a trs_supernodes, where it is worth while (supernode_analysis.c). */
extern const trs_analysis trs_supernode_analysis;

/* Does it look as if rows or columns had common patterns?  O(n + nnz), a fraction of a solve. */
bool trs_supernodes_likely(trs_context *ctx, const trs_tri *t);
/* The same from entries that were found in columns, and in rows, with the pattern of their neighbours. */
bool trs_supernodes_common(const trs_tri *t, int64_t columns, int64_t rows);

struct trs_fundamental;

int trs_supernodes_of(trs_context *ctx, const struct trs_fundamental *f, trs_supernodes *s);
void trs_supernodes_free(trs_context *ctx, trs_supernodes *s); /* the numbers stay */

#endif
