/* supernodal.h: a triangle by dense blocks for a CPU: shared by the files of this module (README.md has a figure).
 *
 * The rows of the operator are cut into nodes, which are solved in their order.  A node is a supernode of at most WIDTH
 * rows, or a leaf, whose rows are sparse.  With columns of common pattern the triangle is solved by scatter, with rows of
 * common pattern by gather:
 *
 *     scatter   x_s = D_s^-1 x_s,  then x (list) = x (list) - B_s x_s           list: the rows below the node
 *     gather    x_s = D_s^-1 (b_s - B_s^T x (list))                             list: the columns left of it
 *
 * A supernode stores D_s by strips of LINE columns: the inverse of the diagonal block of the strip, then the rows
 * below it within the node; and after that B_s.  All of it is in tiles: LINE rows of each of some columns, column by
 * column, so a tile has one line for each column.  Columns of the tiles are the rows of the node; for gather a tile
 * of B_s has LINE of the columns left of the node.
 *
 *     D_s, width 20, LINE 8             strip 0     strip 1     strip 2
 *                                       M . .                                M = inverse of a diagonal block
 *                                       L           M .
 *                                       L           L           M
 *     B_s                               every tile has all 20 columns
 *
 * Where the inverse of a block would lose digits the block itself is stored (`substituted`). */
#ifndef TRS_CPU_SUPERNODAL_H
#define TRS_CPU_SUPERNODAL_H

#include "analysis/trapezoids.h"
#include "base/parallel.h"
#include "solvers/solver.h"

enum { WIDTH = 64, MOST_WORKERS = 64 };

typedef struct node {
    /* its rows are rows first .. first+width-1 of the operator */
    int32_t first, width;
    bool leaf;
    /* number of rows in `list`; 0 for a leaf in gather mode */
    int32_t rows;
    /* the first `own` of them are rows of x, the others rows of the shared top */
    int32_t own;
    /* number of workers that share its tiles */
    int32_t shares;
    /* its list is list [list ..] */
    int64_t list;
    /* its values are value [value ..] */
    int64_t value;
    /* leaf: its rows have count [count ..] entries, in column [entry ..] */
    int64_t count, entry;
    /* bit j: strip j stores its diagonal block; leaf: 1 if it stores diagonal entries */
    uint64_t substituted;
} node;

/* Nodes are given to workers, whole subtrees each.  What subtrees of several workers lead to is the shared top. */
typedef struct supernodal {
    bool gather;
    /* row i is number n-1-i in memory */
    bool reversed;
    /* gather: rows of leaves are links of a chain (cpu_row.h) */
    bool chained;
    /* gather: no x of a leaf is a quotient */
    bool scales;
    int32_t n, nodes;
    /* [nodes] */
    node *node;
    /* [listed] by number in memory; rows of the top in the list of a worker's node by their number in top */
    int32_t *list;
    /* [listed] scatter: the first entry of such a row in columns of the node */
    int32_t *from;
    /* [counted] entries without diagonal of each row of each leaf: its `width` rows, then those of its list */
    uint16_t *count;
    /* [entries] of each of these: its column less the first one of the leaf */
    uint16_t *column;
    int64_t listed, counted, entries, values;
    /* entries of all leaves, also in gather mode */
    int64_t sparse;
    /* the allocation of value */
    void *block;
    /* [values] */
    void *value;
    int workers;
    /* [nodes] the nodes of worker 0, 1, ..., then those of the top */
    int32_t *order;
    int32_t begin[MOST_WORKERS + 2];
    int32_t tops;
    /* [tops] numbers in memory of the rows of the top */
    int32_t *top;
} supernodal;

static inline int32_t in_memory(const supernodal *d, int32_t i)
{
    return d->reversed ? d->n - 1 - i : i;
}

typedef struct supernodal_pattern {
    supernodal d; /* node and order, and the numbers, which stay when the arrays are freed */
    trs_supernode_set set;
} supernodal_pattern;

/* Of an operator: a supernodal_pattern, where it has fundamental supernodes (tree.c). */
extern const trs_analysis supernodal_analysis;

/* Count what all nodes have together, and say where the data of each begin (lists.c). */
int supernodal_count(trs_context *ctx, supernodal *d, const trs_supernode_set *s, trs_dtype dtype);
/* Make the arrays that d has not yet. */
int supernodal_lists(trs_instance *inst, supernodal *d, const trs_supernode_set *s);
/* New values (fill.c). */
int supernodal_fill(trs_instance *inst, supernodal *d);

/* ---- a solve ------------------------------------------------------------------------------------ */

typedef struct solving {
    const supernodal *d;
    const trs_tri *L;
    /* [n] in the order of memory, or [n][lanes] */
    const void *b;
    /* the same; may be b */
    void *x;
    bool conj;
    /* right-hand sides of a row of x */
    int lanes;
    /* [workers][tops][lanes] what the subtrees of each worker add to the top */
    char *sum;
    /* [workers][WIDTH][lanes] what workers add up for a node of the top that they share */
    char *part;
    /* [workers] */
    trs_progress *progress;
    const struct kernels *kernels;
} solving;

/* What is done by number type, for one right-hand side (one.c) or many (many.c). */
typedef struct kernels {
    /* Solve these nodes; sum: where rows of the top go, by their numbers in it. */
    void (*run)(const solving *s, const int32_t *nodes, int32_t count, void *sum);
    /* x = b in the rows of these nodes. */
    void (*take)(const solving *s, const int32_t *nodes, int32_t count);
    /* x = b + sum in rows begin .. end-1 of the top. */
    void (*join)(const solving *s, int32_t begin, int32_t end);
    /* Scatter by a node of the top: x_s into held [WIDTH][lanes], and tiles begin .. end-1 of its list. */
    void (*spread)(const solving *s, const node *k, int32_t begin, int32_t end, void *held);
    void (*keep)(const solving *s, const node *k, const void *held); /* x_s = held */
    /* Gather by a node of the top: part [WIDTH][lanes] = tiles begin .. end-1 times x. */
    void (*collect)(const solving *s, const node *k, int32_t begin, int32_t end, void *part);
    /* x_s = D_s^-1 (b_s - the sum of the parts of its workers) */
    void (*finish)(const solving *s, const node *k);
} kernels;

extern const kernels *const supernodal_one[2][4], *const supernodal_many[2][4]; /* each_width.h */

/* Solve with all nodes, by up to so many threads (schedule.c). */
void supernodal_run(const solving *s, int threads);
int64_t supernodal_scratch(const supernodal *d, size_t size, int lanes);
/* The arrays of a solve in scratch. */
void supernodal_place(const supernodal *d, size_t size, char *scratch, solving *s);

static inline int32_t tiles_of(int32_t rows, int32_t lanes)
{
    return (rows + lanes - 1) / lanes;
}

/* Numbers of the strips and tiles of D_s before those of its list. */
static inline int64_t diagonal_numbers(int32_t width, int32_t lanes)
{
    int64_t numbers = 0;
    for (int32_t j = 0; j < width; j += lanes) {
        const int32_t columns = width - j < lanes ? width - j : lanes;
        numbers += (int64_t)lanes * columns * tiles_of(width - j, lanes);
    }
    return numbers;
}

#endif
