/* merge.h: level rewriting, one pass at a time: the interface for the solver (merged.cu) and the tests.
 *
 * T is a lower triangle whose rows have levels: every entry (i, j) off the diagonal has level(j) < level(i).  A pass
 * merges some levels l with the level l - 1 before them.  Into a row i of such a level it substitutes the equations
 * of the rows j of level l - 1 that row i needs, so row i then waits for the operands of those rows.  In matrices:
 *
 *     T x = b,   N(i, j) = T(i, j) / T(j, j) for these i and j,   M = I - N,   T' = M T,   T' x = M b.
 *
 *     level 0  k | d                      k | d                level 0      k | 1
 *           1  j | a  d         T' = M T  j | a  d             1            j | .  1            M
 *           2  i | c  b  d                i | c' .  d          1            i | . -b/d  1
 *                  k  j  i                  k  j  i                           k   j    i
 *                                         c' = c - (b / T(j, j)) a
 *
 * T' is a lower triangle with the diagonal of T and with fewer levels.  A level that is merged follows one that is not,
 * hence rows of N have entries only in columns whose rows of N are empty, N N = 0, and M^-1 = I + N.
 *
 * Terms of this module:
 *   substituted row   a row j whose equation is substituted into row i; N has one entry for each
 *   rewritten row     a row i of a merged level that has substituted rows; all others are copied from T to T'
 *   term              a summand of a rewritten row: an entry of T that is not eliminated, or an entry of a
 *                     substituted row times -N(i, j).  Terms of one column make one entry of T'.  The diagonal of
 *                     the row is not a term.
 *   short, long row   a warp rewrites rows of at most MERGE_SHORT_TERMS terms, several at a time (merge_short.cuh); a
 *                     longer row has its own block (merge_long.cu)
 *   fill              entries of T' and N together less those of T; in a long row each counts MERGE_LONG_WEIGHT times
 *
 * The pattern alone decides which levels are merged, since the bits of x depend on it. */
#ifndef TRS_MERGE_H
#define TRS_MERGE_H

#include "cuda/dataflow/flow.h"

enum {
    MERGE_PASSES = 6, /* passes at most */
    MERGE_TIMES = 8,  /* T' and N of all passes have at most MERGE_TIMES nnz + MERGE_FEW entries */
    MERGE_FEW = 1 << 20,
};

enum {
    MERGE_SHORT_TERMS = 96, /* entries, and terms, of a short row at most */
    MERGE_SHORT_ROWS = 24,  /* rows that are substituted into a short row at most */
    MERGE_LONG_TERMS =
        1 << 20,            /* the same of a long row; the level of a longer one is not merged */
    MERGE_LONG_ROWS = 2048, /* likewise */
    MERGE_LEVEL_LONG_TERMS = 5000000, /* terms of the long rows of a merged level at most */
    MERGE_LONG_WEIGHT = 5,            /* of an entry of a long row in the fill */
};

/* So many entries of fill take as long as one dependency latency, and so many latencies a product with M takes: both
 * measured on an H200 (doc/performance.md).  They are no costs of the machine at hand, for the bits would depend on
 * it. */
static const double MERGE_LATENCY_ENTRIES = 7e4;
static inline double merge_product_latencies(double n)
{
    return 5 + n / 1.2e5;
}

enum { MERGE_NONE = -1 }; /* no column, no target */

typedef struct merge_long_row {
    int32_t row;          /* of T */
    int32_t substituted;  /* rows */
    int32_t terms;        /* entries of T that are eliminated are counted, too */
    int32_t columns;      /* entries of the row of T', without the diagonal */
    int64_t first_target; /* in merge_pass.target; MERGE_NONE: its level is not merged */
} merge_long_row;

/* What is added up in an entry of T': a value of T, times one of -N where there is a factor.  Of those of one entry, which
 * stand side by side, the last is marked by the sign of its place. */
typedef struct merge_term {
    int32_t place;  /* in T */
    int32_t factor; /* in N; MERGE_NONE: there is none */
} merge_term;

typedef struct merge_pass { /* one pass; arrays on the device */
    trs_pattern from, to;   /* T and T' */
    int64_t *to_ptr;        /* [n+1] of T', and */
    int32_t *to_idx;        /* [to.nnz] the diagonal last in each row */
    int32_t *to_level;      /* [n] */
    void *to_val;           /* [to.nnz] */
    int64_t *n_ptr;         /* [n+1] of N, whose rows are empty but for rewritten ones */
    int32_t *n_idx;         /* [n_nnz] */
    void *n_val;            /* [n_nnz] of -N */
    int64_t n_nnz;
    void *row_memory, *entry_memory; /* that the arrays above are in */
    int32_t long_rows, most_terms;   /* how many there are; terms of the longest */
    merge_long_row *long_row;        /* [long_rows] in any order */
    /* of each term of the long rows: the entry of its row of T' that it is added to; -1: none */
    int32_t *target;
    int32_t block_rows; /* rows of N with more than MERGE_SHORT_ROWS entries */
    int32_t *block_row; /* [long_rows] these rows, in any order */
    /* a recipe (merge_recipe.cu), or NULL: of each entry of T' its place in T if it is copied, or ~ its first term */
    int32_t *source;  /* [to.nnz] */
    int32_t *n_place; /* [n_nnz] of each entry of N its place in T */
    merge_term *term;
    void *recipe_memory;         /* that these three are in */
    int64_t bytes, listed_bytes; /* of all arrays but long_row, and of that one */
} merge_pass;

/* What is counted of T to decide on a pass, on the host and on the device. */
typedef struct merge_totals {
    int32_t listed;     /* rows of which it is not yet known whether a block can rewrite them */
    int32_t long_rows;  /* those of them that it can */
    int32_t most_terms; /* of one of these */
} merge_totals;

typedef struct merge_level {
    int64_t fill;
    int64_t long_terms; /* terms of its long rows */
    int32_t fixed;      /* 1: the level has a row that cannot be rewritten */
} merge_level;

typedef struct merge_counts { /* both in one block of memory, which begins with totals */
    merge_totals *totals;
    merge_level *level; /* [levels] */
} merge_counts;

typedef struct merge_survey {
    merge_counts host, device;
    int32_t *host_new_level; /* [levels] level in T' of each level of T */
    int32_t *new_level;      /* the same on the device */
    int32_t *to_count;       /* [n+1] on the device: entries of each row of T', and */
    int32_t *n_count;        /* [n+1] of N; both NULL until a pass counts all rows */
    void *host_memory, *device_memory, *row_memory;
} merge_survey;

/* For patterns of at most so many levels; s is zero before; whatever is returned, free it. */
int merge_survey_new(trs_context *ctx, int64_t levels, merge_survey *s);
void merge_survey_free(trs_context *ctx, merge_survey *s);

/* Merges those levels l with l % 2 == *odd that are worth it; where the pass is not worth its product, those of the
 * other parity, and *odd says so.  m->to.levels is 0 when neither is worth it, or when T' and N would have more than
 * most entries.  m is zero before; whatever is returned, free it. */
int merge_pass_new(trs_context *ctx, merge_survey *s, const trs_pattern *from, int *odd,
                   int64_t most, trs_dtype t, merge_pass *m);
void merge_pass_free(trs_context *ctx, merge_pass *m);
/* m->to_val and m->n_val from the values of T on the device.  growth, on the device and 0 before: the bits of the
 * largest sum of magnitudes of a row of N, where it is more than 1; infinity where T' has a number that is not finite,
 * or T a diagonal that is not near 1 (divide.cuh). */
int merge_pass_values(const merge_pass *m, trs_dtype t, const void *val, uint64_t *growth,
                      void *stream);
/* Keep where the values of all rows but long ones come from, so that merge_pass_values takes less time.  Where there is no
 * memory, or 32 bits are too few, the pass stays as it is.  TRS_OK, TRS_EDEVICE. */
int merge_recipe_new(trs_context *ctx, merge_pass *m);
/* to = M from for all columns of the job; to may be from (merge_product.cu). */
int merge_product(const merge_pass *m, trs_dtype t, const trs_job *job, trs_view from, trs_view to);

/* ---- what a solve takes (merge_cost.cu) ---- */

typedef struct merge_outcome { /* T', and how many passes have made it */
    double levels, nnz, passes;
} merge_outcome;

/* Before the analysis, of what the passes will probably do. */
void merge_cost(const trs_prospect *p, const trs_machine *m, trs_cost *c);
void merge_cost_of(const trs_shape *s, const merge_outcome *o, const trs_machine *m, trs_cost *c);

#endif
