/* solver.h: what a solver is, what it solves with, and the table of all of them. */
#ifndef TRS_SOLVER_H
#define TRS_SOLVER_H

#include "analysis/level.h"
#include "analysis/supernodes.h"
#include "matrix/matrix.h"

/* ---- what the cost model looks at --------------------------------------------------------- */

typedef struct trs_shape {
    int64_t n, nnz;
    int64_t levels, widest;
    int64_t longest;     /* entries in the longest row */
    double sum_longest;  /* over the levels, of the longest row of each */
    double thin_entries; /* entries in levels too small to share out */
    int64_t wide_levels; /* the others */
    double waiting; /* fraction of the rows that wait for the row just before, in natural order */
    double
        scattered; /* fraction of the rows that do not stand beside the row before them in level order */
    int64_t blocks;            /* of supernodes, 0: not looked for */
    int64_t height;            /* levels of blocks, panels being one block */
    int64_t chained;           /* blocks that follow another one of their panel, in all levels */
    int64_t store;             /* numbers that they keep */
    int64_t wide_blocks;       /* of them */
    int64_t wide_steps;        /* levels of blocks with a wide one */
    int64_t tasks;             /* of blocks */
    double narrow_rows;        /* over the levels of blocks, of the narrow one with most of them */
    int64_t strips;            /* 0: not looked for, or no good */
    const struct trs_cut *cut; /* in two; NULL: none was looked for, or none pays */
    double elem;               /* bytes of a number */
    bool is_complex;
    int nrhs;
} trs_shape;

enum { TRS_CACHE = 48 << 20 }; /* bytes of a matrix that stay near the core between solves */

enum {
    TRS_COMPLEX_TIMES = 8
}; /* so many times the arithmetic of an entry: no two are done at once */

/* Seconds one core takes to go through entries and rows that stream by. */
double trs_cpu_stream(const trs_machine *m, const trs_shape *s, double entries, double rows);
/* Seconds that one core takes for rows beyond their work, where this fraction of them waits for the row just before:
 * work of a row is done while its latency goes by. */
double trs_cpu_wait(const trs_machine *m, double waiting, double rows, double work);

typedef struct trs_cost { /* seconds of one solve, in its terms */
    double bytes;         /* data moved */
    double sync;          /* launches and barriers */
    double hops;          /* steps that wait for one another */
    double copies;        /* B and X between host and device */
} trs_cost;

typedef struct trs_cut { /* of a triangle in two, a head and a tail (cuda/segments/cut.h) */
    int32_t *row;        /* [n] rows of the head, ascending, then those of the tail; NULL: no cut */
    int32_t rank;        /* the head has the rows of all ranks below this one */
    int64_t coupling;    /* entries of the coupling block: rows of the tail, columns of the head */
    trs_shape shape[2];  /* of the head, of the tail; predicted, but for n and nnz */
    const struct trs_solver *solver[2]; /* likewise */
} trs_cut;

/* ---- sides and parts ---------------------------------------------------------------------- */

typedef struct trs_direct { /* a side on the device: what of it was needed there (direct.c) */
    void *ptr;              /* [n+1] int64_t */
    void *idx;              /* [nnz] int32_t, and */
    void *level;            /* [n] int32_t of each row: until the plan is settled */
    void *topo;             /* [n] int32_t, while lv.topo is NULL: of a far side */
    void *src;              /* [nnz] int64_t */
    void *val;              /* [nnz] */
    void *found;            /* [2] int64_t: bad pivots, the first of them; other counts */
    void *block; /* that found, ptr, idx and val are in when the side was far from the start */
} trs_direct;

typedef struct trs_side { /* op(T) as a lower triangle */
    bool used;
    bool reversed; /* row i of tri is the caller's row n-1-i (before perm) */
    trs_tri tri;
    void *
        full; /* [n*n] op(A) by columns, of a plan for a general matrix: tri has n and dtype only */
    trs_levels lv;
    trs_tally tally;      /* of the levels */
    trs_supernodes super; /* numbers only, once the plan is settled; all 0: not looked for */
    int32_t strip_rows;   /* of a strip; 0: not looked for, or no good */
    trs_cut cut;          /* in two; only its numbers, once the plan is analysed */
    int32_t *perm;        /* plan order: row k of tri is the caller's row perm[k]; NULL: natural */
    int32_t *perm_dev;    /* the same on the device, when the solver runs there */
    trs_direct direct;    /* once it was needed */
    int nparts;
    struct trs_part *part;
} trs_side;

typedef struct trs_part { /* rows from..to-1 of a side in plan order, and who solves them */
    trs_context *ctx;
    const trs_side *side;
    bool transposed; /* the side is op = T, H */
    int32_t from, to;
    const struct trs_solver *solver;
    const trs_levels *lv;  /* of these rows */
    trs_levels own;        /* lv points here unless the part is the whole side */
    double growth;         /* that update found; 0: the solver does not say */
    int64_t broken;        /* general matrices: the pivot at which LU broke down; -1: at none */
    double seconds_factor; /* that update took to factor, copies not counted; 0: likewise */
    void *data;            /* the solver's */
} trs_part;

/* X or B: element (i, r) is p[i*rs + r*cs], in elements. */
typedef struct trs_view {
    void *p;
    int64_t rs, cs;
} trs_view;

typedef struct trs_job { /* one solve of one part */
    int nrhs;
    trs_view b, x; /* b.p may be x.p, then with the same strides */
    bool conj;     /* solve with the conjugated values */
    int threads;
    void *stream;
    void *work; /* scratch of solver->work_bytes, or what solver->work_create made */
} trs_job;

/* The caller's number of row k of a side, from 0. */
int32_t trs_caller_row(const trs_side *s, int32_t k);

/* The view of a side that counts backwards, seen in the caller's order (rs > 0). */
trs_view trs_view_natural(const trs_side *s, trs_view v);

typedef enum trs_place { TRS_ON_CPU = 0, TRS_ON_CUDA = 1 } trs_place;
typedef enum trs_family { TRS_TRIANGLE = 0, TRS_GENERAL_DENSE = 1 } trs_family;

typedef struct trs_solver {
    const char *name, *about;
    trs_place place;
    trs_family family;
    unsigned caps;
    trs_accuracy accuracy;
    trs_order order; /* preferred plan order */
    bool full;       /* stores the triangle as a full matrix: has a memory limit by default */
    bool supernodes; /* works with the supernodes of its side */
    bool pattern;    /* reads ptr and idx of its side on the device at updates and solves, too */
    bool strips;     /* wants sides that fall into strips */
    bool cut;        /* wants sides that a two-way cut pays for */
    bool direct;     /* looks at its side on the device alone: trs_direct_pattern, update_direct */
    bool by_columns; /* named by the caller, it has the levels of its sides from trs_level_sets */
    bool guesses;    /* cost is what may become of a side, cost_now what did */
    bool
        twin; /* gives the bits of cpu-serial by another order of the rows, and has no other options:
                        large triangles are solved with both, and the faster one stays */
    int (*library)(char *why,
                   size_t size); /* can the library it calls be opened? NULL: it calls none */
    void (*cost)(const trs_shape *, const trs_machine *, trs_cost *);
    /* the same of a part with values; NULL: these make no difference */
    void (*cost_now)(const trs_part *, const trs_shape *, const trs_machine *, trs_cost *);
    int64_t (*bytes)(const trs_shape *); /* that analyse will take where it runs */
    int (*analyse)(trs_part *);          /* pattern -> data; NULL: nothing to do */
    int (*update)(trs_part *);           /* new values in side->tri.val; NULL: nothing to do */
    /* the same from values of the side on the device, on a stream; NULL: they pass the host */
    int (*update_direct)(trs_part *, const void *val, void *stream);
    int (*solve)(const trs_part *, const trs_job *);
    /* general matrices, n > 0: u [n] on the host = diag (U) of the last update; *odd: the parity of its row
     * exchanges, false before the call */
    int (*pivots)(const trs_part *, trs_context *, void *u, bool *odd);
    void (*release)(trs_part *); /* data, also half-made; NULL: nothing to do */
    /* scratch of a solve where the solver runs, shared with other parts and plans; NULL: see below */
    int64_t (*work_bytes)(const trs_part *, int nrhs);
    /* a work space of the solver's own, when plain scratch will not do; NULL: needs none */
    int (*work_create)(const trs_part *, trs_context *, int nrhs, void **);
    /* the part may be gone by then; the context has the memory that work_create was given */
    void (*work_destroy)(trs_context *, void *);
} trs_solver;

/* Does it invert, and not look at an update what becomes of it? */
static inline bool trs_inverts_blindly(const trs_solver *s)
{
    return s->accuracy == TRS_INVERTING && !s->cost_now;
}

/* The table: Makefile.am lists the files of the solvers and writes solvers.inc from that list. */
#define TRS_SOLVER(name) extern const trs_solver trs_solver_##name;
#include "solvers.inc"
#undef TRS_SOLVER
const trs_solver *trs_solver_at(int k);               /* NULL past the end */
const trs_solver *trs_solver_named(const char *name); /* NULL: none */
int trs_solver_available(const trs_solver *s, int device, char *why, size_t size);

#endif
