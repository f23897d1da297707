/* operator.h: op(T), the triangle that a solver solves with, wherever it is.
 *
 * An operator is a lower triangle in CSR with its level sets.  An upper triangle, or the transpose of a lower one, is
 * a lower triangle whose rows and columns are counted backwards (reversed); so solvers handle one orientation only.
 *
 * Pattern, values and levels may be on the host, on the device, or on both.  Code that needs them calls
 * trs_operator_host or trs_operator_device, which copy what is missing on first demand and retain the copy.
 * trs_operator_take_values takes new values, and stores them wherever they were requested before.  No other code has
 * to know where things are.
 *
 * An analysis is an object that is made from an operator on first demand and cached with it: supernodes, a two-way
 * cut.  Its module defines how to make it (trs_analysis); its users get it by trs_operator_analysis. */
#ifndef TRS_OPERATOR_H
#define TRS_OPERATOR_H

#include "matrix.h"

/* level sets: the rows of a level depend on rows of lower levels only */
typedef struct trs_levels {
    int32_t count;
    int32_t widest; /* rows of the largest level */
    int32_t *topo;  /* [n] the rows level by level, ascending within a level */
    int32_t *ptr;   /* [count+1] where each level begins in topo */
} trs_levels;

typedef struct trs_level_statistics {
    int64_t longest;     /* entries in the longest row */
    int64_t sum_longest; /* the sum over the levels of the entries in the longest row of each */
    int64_t thin;        /* entries in thin levels, which have fewer than TRS_THIN */
    int64_t wide;        /* levels with TRS_THIN entries or more */
} trs_level_statistics;

/* arrays of an operator on the device; what was not asked for is NULL */
typedef struct trs_device_view {
    int64_t *ptr;   /* [n+1] */
    int32_t *idx;   /* [nnz] */
    void *val;      /* [nnz]; of a general matrix [n*n] */
    int32_t *level; /* [n] of each row */
    int32_t *topo;  /* [n] while lv.topo is NULL, where the levels were found on the device */
    int64_t *src;   /* [nnz] as trs_tri.src */
    /* [2] what the last step counted for the host */
    int64_t *found;
    /* the allocation of found, ptr, idx, val and src of a matrix that came from the device */
    void *block;
    int64_t places; /* numbers in the caller's val of such a matrix */
    void *stream;   /* the stream that the values were last written on */
} trs_device_view;

enum { TRS_OP_PATTERN = 1, TRS_OP_VALUES = 2, TRS_OP_LEVELS = 4 };

typedef struct trs_operator {
    trs_context *ctx;
    bool transposed; /* op is T or H */
    bool reversed;   /* row i of tri is the caller's row n-1-i (before perm) */
    trs_tri tri;     /* on the host; ptr, idx and val are NULL while they are on the device only */
    void *full;      /* [n*n] a general matrix by columns, of which tri has n and dtype only */
    bool general;
    trs_levels lv;
    trs_level_statistics statistics;
    struct {
        bool known;
        double waiting, scattered, uneven, irregular;
    } samples; /* what solvers/prospect.c has found in samples of the rows: trs_shape says what */
    int32_t *perm;     /* plan order: row k of tri is the caller's row perm[k]; NULL: natural */
    int32_t *perm_dev; /* the same on the device, when the solver runs there */
    trs_device_view device;
    unsigned on_host, on_device; /* TRS_OP_PATTERN | ...: what is there, and up to date */
    unsigned held;               /* what the solver reads on the device after it was built */
    unsigned kept;               /* the same of solvers before it (core/grow.c) */
    bool host_values_wanted;     /* a solver asked for the values on the host at its last update */
    struct trs_cached *analyses;
} trs_operator;

/* Have pattern, values or levels (TRS_OP_PATTERN | ...) in tri and lv, on the host.
 * Returns TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_operator_host(trs_operator *op, unsigned what);
/* The same for one look: it does not count as a demand that decides where the next values go. */
int trs_operator_show(trs_operator *op, unsigned what);
/* Have them in op->device.  Values are written in the order of op->device.stream. */
int trs_operator_device(trs_operator *op, unsigned what);
/* A solver reads this on the device after it has been built: it stays there, and is up to date at every update. */
void trs_operator_hold(trs_operator *op, unsigned what);
/* Free on the device what no solver holds, and what is on the host too. */
void trs_operator_drop(trs_operator *op, unsigned what);

/* Have memory for values on the device, and the places that they are gathered from: after that they can be taken there
 * without an allocation.  Returns TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_operator_prepare(trs_operator *op);
/* Take new values from the caller's val, whose entry src [e] is value e of the operator.  there: val is on the device,
 * and is read on the stream.  Returns TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_operator_take_values(trs_operator *op, const void *val, bool there, void *stream);
/* Move t, with its values, to the operator, on the host. */
void trs_operator_from_host(trs_operator *op, trs_context *ctx, trs_tri *t);
/* After a write to tri.val, or to the full matrix: the values on the device are out of date. */
void trs_operator_changed_on_host(trs_operator *op);
/* Allocate op->device for a matrix of op->tri.n rows and op->tri.nnz entries that comes from the device, where val has so
 * many numbers; with src if its entries have other places there.  Returns TRS_OK, TRS_EMEM. */
int trs_operator_new_resident(trs_operator *op, int64_t places, bool src);
void trs_operator_free(trs_operator *op);

/* The caller's number of row k, from 0. */
int32_t trs_caller_row(const trs_operator *op, int32_t k);

/* ---- right-hand sides and solutions ------------------------------------------------------------ */

typedef struct trs_view { /* X or B: element (i, r) is p[i*rs + r*cs], in elements */
    void *p;
    int64_t rs, cs;
} trs_view;

/* B or X as the caller passes it. */
static inline trs_view trs_view_of(const void *p, int64_t ld, trs_layout layout)
{
    const trs_view columns = {(void *)p, 1, ld}, rows = {(void *)p, ld, 1};
    return layout == TRS_ROW_MAJOR ? rows : columns;
}

/* A view in the order of the operator's rows, of one in the caller's order, or the other way round: for a reversed
 * operator this is the view backwards, with -rs. */
trs_view trs_view_natural(const trs_operator *op, trs_view v);

/* ---- analyses --------------------------------------------------------------------------------- */

typedef struct trs_analysis {
    const char *name;
    size_t size; /* bytes of the result */
    /* Fill the result, which is zero before.  needed: a solver has been named that cannot do without it.  Otherwise
     * *found = false says that there is nothing of the kind, or that it is not worth making.  After an error the result
     * is released. */
    int (*make)(trs_operator *op, bool needed, void *result, bool *found);
    /* Free the arrays of a result; its numbers stay.  NULL: it has no arrays. */
    void (*trim)(trs_context *ctx, void *result);
    /* Estimate the numbers of a part of an operator with this share of its rows from those of the whole.  NULL: no
     * estimate is made. */
    void (*scale)(const void *whole, double share, void *part);
    bool stays; /* solves use its arrays: they are not trimmed */
} trs_analysis;

/* *result is the operator's, made now or before, or NULL if there is none.  Unless it is needed, no error is returned. */
int trs_operator_analysis(trs_operator *op, const trs_analysis *a, bool needed,
                          const void **result);
/* Free the arrays of all results; their numbers can still be read. */
void trs_operator_trim(trs_operator *op);
/* Forget the analyses and what is on the device, because the rows have another order now. */
void trs_operator_forget(trs_operator *op);
/* Analysis number k = 0, 1, ... of those that were made and found something; NULL if there are no more. */
const trs_analysis *trs_operator_analysis_at(const trs_operator *op, int k, const void **result);

#endif
