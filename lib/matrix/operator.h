/* operator.h: op(T), the triangle that a solver solves with, wherever it is.
 *
 * An operator is a lower triangle in CSR with its level sets.  An upper triangle, or the transpose of a lower one, is a
 * lower triangle whose rows and columns are counted backwards (reversed); so solvers know one orientation only.
 *
 * Pattern, values and levels may be on the host, on the device, or on both.  Who needs them asks for them where he
 * needs them, by trs_operator_host and trs_operator_device: what is not there yet is copied on first demand and
 * kept.  New values come by trs_operator_take_values, which puts them where they were asked for before.  Nobody
 * else has to know where things are.
 *
 * An analysis is an object that is made of an operator on first demand, and kept with it: supernodes, row tiles, a
 * two-way cut.  Its module says how it is made (trs_analysis); its users ask for it by trs_operator_analysis. */
#ifndef TRS_OPERATOR_H
#define TRS_OPERATOR_H

#include "matrix.h"

typedef struct
    trs_levels { /* level sets: the rows of a level depend on rows of lower levels only */
    int32_t count;
    int32_t widest; /* rows */
    int32_t *topo;  /* [rows] level by level, ascending within one */
    int32_t *ptr;   /* [count+1] */
} trs_levels;

typedef struct trs_level_statistics {
    int64_t longest;     /* entries in the longest row */
    int64_t sum_longest; /* over the levels, of the longest row of each */
    int64_t thin;        /* entries in levels with fewer than TRS_THIN */
    int64_t wide;        /* levels with TRS_THIN entries or more */
} trs_level_statistics;

typedef struct trs_device_view { /* of an operator, on the device; what was not asked for is NULL */
    int64_t *ptr;                /* [n+1] */
    int32_t *idx;                /* [nnz] */
    void *val;                   /* [nnz]; of a general matrix [n*n] */
    int32_t *level;              /* [n] of each row */
    int32_t *topo;  /* [n] while lv.topo is NULL: the levels were found on the device */
    int64_t *src;   /* [nnz] as trs_tri.src */
    int64_t *found; /* [2] bad pivots, the first of them; other counts */
    void *block;    /* that found, ptr, idx and val are in when they came from there */
    void *stream;   /* that the values were last written on */
} trs_device_view;

enum { TRS_OP_PATTERN = 1, TRS_OP_VALUES = 2, TRS_OP_LEVELS = 4 };

typedef struct trs_operator {
    trs_context *ctx;
    bool used;
    bool transposed; /* op = T or H */
    bool reversed;   /* row i of tri is the caller's row n-1-i (before perm) */
    trs_tri tri;     /* on the host: ptr, idx and val are NULL while they are on the device only */
    void *full;      /* [n*n] by columns, of a general matrix: tri has n and dtype only */
    bool general;
    trs_levels lv;
    trs_level_statistics statistics;
    int32_t *perm;     /* plan order: row k of tri is the caller's row perm[k]; NULL: natural */
    int32_t *perm_dev; /* the same on the device, when the solver runs there */
    trs_device_view device;
    unsigned on_host, on_device; /* TRS_OP_PATTERN, ...: there, and up to date */
    unsigned held;               /* on the device: solvers read it at updates and solves, too */
    bool host_values_wanted;     /* by a solver, at its last update */
    struct trs_cached *analyses;
} trs_operator;

/* Pattern, values or levels (TRS_OP_PATTERN | ...) are on the host: tri, lv.  TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_operator_host(trs_operator *op, unsigned what);
/* The same for somebody who looks once: where the next values go does not follow from it. */
int trs_operator_show(trs_operator *op, unsigned what);
/* They are on the device: op->device.  Values are waited for on op->device.stream or written there. */
int trs_operator_device(trs_operator *op, unsigned what);
/* A solver goes on reading this on the device after it has been built: it is kept there, and is there, up to date, at
 * every update. */
void trs_operator_hold(trs_operator *op, unsigned what);
/* What has been copied to the host of an operator that came from the device is freed there. */
void trs_operator_leave_host(trs_operator *op);
/* What nobody holds and is on the host too is freed on the device. */
void trs_operator_drop(trs_operator *op, unsigned what);

/* New values from the caller's val, whose entry src [e] is value e of the operator; there: val is on the device,
 * and is read on the stream.  TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_operator_take_values(trs_operator *op, const void *val, bool there, void *stream);
/* The operator has the triangle and its values on the host, from now on. */
void trs_operator_from_host(trs_operator *op, trs_context *ctx, trs_tri *t);
/* Somebody has written to tri.val, or to the full matrix: what the device has of the values is out of date. */
void trs_operator_changed_on_host(trs_operator *op);
void trs_operator_free(trs_operator *op);

/* The caller's number of row k, from 0. */
int32_t trs_caller_row(const trs_operator *op, int32_t k);

/* ---- right-hand sides and solutions ------------------------------------------------------------ */

typedef struct trs_view { /* X or B: element (i, r) is p[i*rs + r*cs], in elements */
    void *p;
    int64_t rs, cs;
} trs_view;

/* The view of an operator that counts backwards, seen in the caller's order (rs > 0), and the other way round. */
trs_view trs_view_natural(const trs_operator *op, trs_view v);

/* ---- analyses --------------------------------------------------------------------------------- */

typedef struct trs_analysis {
    const char *name;
    size_t size; /* of the result */
    /* Fill the result, which is zero.  needed: a solver has been named that cannot do without; else *found = false says
     * that there is nothing of the kind, or that it is not worth its making.  After an error the result is released. */
    int (*make)(trs_operator *op, bool needed, void *result, bool *found);
    /* Free the arrays of a result; its numbers stay.  NULL: it has no arrays. */
    void (*trim)(trs_context *ctx, void *result);
    /* The numbers of a part of an operator with this share of its rows, guessed from those of the whole.  NULL: none. */
    void (*scale)(const void *whole, double share, void *part);
} trs_analysis;

/* *result: that of the operator, made now or before; NULL: there is none.  Without needed no error is returned. */
int trs_operator_analysis(trs_operator *op, const trs_analysis *a, bool needed,
                          const void **result);
/* The results are no longer read, but for their numbers: free the arrays. */
void trs_operator_trim(trs_operator *op);
/* Rows have another order now: forget the analyses and what is on the device. */
void trs_operator_forget(trs_operator *op);
/* The analyses made so far, one after the other, by k = 0, 1, ...; NULL: there is no number k.  Those with
 * nothing found are left out. */
const trs_analysis *trs_operator_analysis_at(const trs_operator *op, int k, const void **result);

#endif
