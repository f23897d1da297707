/* steps.h: shared by the steps that make the supernodes of a triangle (supernodes.c). */
#ifndef TRS_SUPERNODAL_STEPS_H
#define TRS_SUPERNODAL_STEPS_H

#include "amalgamation.h"
#include "analysis/supernodes.h"

typedef struct trs_edge { /* of the supernodal DAG, into the supernode that keeps it */
    int32_t source;       /* the predecessor */
    int32_t level;        /* of the predecessor */
    uint64_t row_mask;    /* bit i: row i of the supernode needs one of its columns */
    uint64_t column_mask; /* bit k: its column k is needed */
} trs_edge;

typedef struct trs_panel_extent { /* of some panels: how many there are, or where they begin */
    int32_t panels;
    int64_t columns, stored;
} trs_panel_extent;

typedef struct trs_node { /* what is known of a supernode while panels are made */
    trs_edge *edge;       /* [edges] by source; once levels are known, by level and source */
    int32_t edges;
    int32_t early;                /* its early panels, which come first */
    trs_panel_extent size, begin; /* of all its panels */
} trs_node;

typedef struct trs_edge_finder trs_edge_finder; /* dag.c */

/* Supernodes have a number in the order of the rows, by which these arrays go, and another one in the order of the
 * tasks, by which those of trs_supernodes go. */
typedef struct trs_build {
    struct trs_context *ctx;
    const trs_run_pattern *pattern; /* until edges are known */
    int threads;
    int32_t n, count;
    trs_supernode *supernode; /* [count] */
    trs_node *node;           /* [count] */
    int32_t *level;           /* [count] */
    int32_t *of_row;          /* [n] supernode */
    int32_t *place;           /* [count] its number in the order of the tasks */
    int finders;
    trs_edge_finder *finder; /* [finders] */
    atomic_int leveled;      /* supernodes that have levels, from the first one on */
    atomic_bool failed;
    trs_panel *panel; /* [panels] */
    int32_t *column;  /* [columns] */
    /* [partials] the tasks that make partial sums and right-hand sides, by supernodes */
    trs_task *partial;
    int32_t *ordered_level; /* [count] levels in the order of the tasks */
    trs_supernode *ordered; /* [count] */
} trs_build;

enum { TRS_LATE_LEVELS = 2 }; /* before a chain: columns of supernodes of these levels are late */

/* How many supernodes a thread claims at a time: few, since the last ones of a factor have most of the entries, but
 * handing on levels from one claim to the next (dag.c) takes its time, too. */
static inline int64_t trs_claim(const trs_build *b)
{
    return 1 + b->count / (16 * (int64_t)b->threads);
}

static inline bool trs_is_large(const trs_supernode *k)
{
    return k->rows > TRS_SMALL;
}

static inline bool trs_in_chain(const trs_supernode *k)
{
    return k->chain_length > 1;
}

/* The lowest count bits. */
static inline uint64_t trs_low_bits(int32_t count)
{
    return count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

static inline int32_t trs_bits(uint64_t mask)
{
    return __builtin_popcountll(mask);
}

/* The steps, in this order.  TRS_OK, TRS_EMEM or TRS_ESUPPORT. */
int trs_find_edges(trs_build *b);                          /* dag.c: edges, levels, chains */
int trs_place_supernodes(trs_build *b, trs_supernodes *s); /* tasks.c: the order of the tasks */
int trs_make_panels(trs_build *b, trs_supernodes *s);      /* panels.c */
int trs_list_tasks(trs_build *b, trs_supernodes *s);       /* tasks.c */

void trs_finders_free(trs_build *b); /* dag.c: the edges */

#endif
