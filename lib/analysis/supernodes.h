/* supernodes.h: a triangle cut into blocks of rows, to be solved by the inverses of their diagonal blocks.
 *
 * A block is a supernode (consecutive rows and columns with nearly one pattern, fundamental or relaxed), or
 * a slice of one with at most TRS_BLOCK rows.  What a block needs from earlier rows is stored in stages: the
 * rows of the block that have something in a set of at most TRS_BLOCK columns, as a dense matrix.  Zeros that
 * this stores, and those of relaxed supernodes, are the price for reading no index per entry.
 *
 *     wide block (more than TRS_NARROW rows):   early stages ..., the diagonal block, the latest stage
 *     narrow block:                             one stage with all its columns, the diagonal block
 *     wide block of a panel:                    early stages ..., its rows of D, its rows of S
 *
 * A panel is up to TRS_PANEL wide blocks, one after the other, of which each needs nearly all of those before.  D is its
 * diagonal block, a stage for each block, S what it needs of the latest blocks before, each a stage of all rows: so
 * that a panel is a step on the way from block to block, and not each of its blocks.
 *
 * Tasks stand in topological order: whoever takes them in this order can always go on.  A wide block with
 * many stages leaves the early ones to pieces: tasks that sum up some stages for it.  The early stages of a block of a
 * panel are a task of their own, its rest: b less all that its pieces and they come to. */
#ifndef TRS_SUPERNODE_H
#define TRS_SUPERNODE_H

#include "matrix/operator.h"

enum {
    TRS_BLOCK = 64,   /* rows of a block, and columns of a stage of a wide one */
    TRS_NARROW = 16,  /* a block with more rows is wide */
    TRS_BUNDLE = 8,   /* narrow blocks of a task */
    TRS_ALONE = 1024, /* values beside its diagonal block: one with more is alone in its bundle */
    TRS_STAGES = 24,  /* of a task, the diagonal block counted */
    TRS_PANEL = 4,    /* blocks of a panel */
    TRS_LATEST = 8, /* latest blocks before a panel, of the last two levels: those of two panels */
    TRS_SLICE = 16, /* rows of a block of a panel that are a task, where its level has few blocks */
};

/* A dense matrix of rows x columns; entry (i, k), i counting the rows that it has, stands at
 * place + (k/4)*4*rows + i*4 + k%4, the last columns being filled up with zeros. */
typedef struct trs_stage {
    int64_t place;   /* in the store of values */
    uint64_t rows;   /* bit i: it has row i of the block */
    int32_t first;   /* its columns are column[first ..] */
    int32_t columns; /* number of them */
    int32_t block;
    int32_t level; /* of the latest block that it waits for; -1: part of a diagonal block */
} trs_stage;

typedef struct trs_block {
    int32_t first, rows;
    int32_t stage, stages; /* with the diagonal block, without those of pieces and of the rest */
    int32_t diagonal;      /* which of all stages is the diagonal block */
    int32_t piece,
        pieces; /* numbers of the first one, and how many; the rest has the next number */
    int32_t member, members; /* which of how many blocks of a panel; 0 of 1 */
    int32_t slices;          /* tasks that share its rows, and those of its rest */
} trs_block;

typedef enum trs_task_kind {
    TRS_TASK_WIDE,
    TRS_TASK_PIECE,
    TRS_TASK_BUNDLE, /* narrow blocks of a level; one with more than TRS_ALONE values is alone in it */
    TRS_TASK_REST, /* a slice */
    TRS_TASK_PANEL /* a slice, once there are the rests of its block and of those before */
} trs_task_kind;

typedef struct trs_task {
    int32_t kind;
    int32_t block, blocks;   /* the first one, and how many: 1 unless a bundle */
    int32_t stage, stages;   /* of a wide block or a piece */
    int32_t piece;           /* number of a piece, or of a slice in its block */
    int32_t column, columns; /* of these stages together */
} trs_task;

typedef struct trs_supernodes {
    int32_t blocks, stages, tasks;
    int32_t pieces;      /* and rests */
    int32_t wide;        /* blocks */
    int32_t height;      /* levels of blocks; those of a panel have one level */
    int32_t wide_levels; /* of them: with a wide block */
    int32_t panels;
    int32_t chained;     /* over the levels, of the largest panel all blocks but one */
    int64_t narrow_rows; /* over the levels, of the narrow block that has most of them */
    int64_t columns;     /* of all stages */
    int64_t store;       /* values kept */
    trs_block *block;    /* in topological order */
    trs_stage *stage;    /* the ones of a block follow each other */
    int32_t *column;     /* rows of the triangle */
    trs_task *task;
} trs_supernodes;

/* Of an operator: a trs_supernodes, where it is worth while (supernode_analysis.c). */
extern const trs_analysis trs_supernode_analysis;

/* Does it look as if rows or columns had common patterns?  O(n + nnz), a fraction of a solve. */
bool trs_supernodes_likely(trs_context *ctx, const trs_tri *t);
/* The same from entries that were found in columns, and in rows, with the pattern of their neighbours. */
bool trs_supernodes_common(const trs_tri *t, int64_t columns, int64_t rows);

int trs_supernodes_make(trs_context *ctx, const trs_tri *t, trs_supernodes *s);
void trs_supernodes_free(trs_context *ctx, trs_supernodes *s); /* the numbers stay */

#endif
