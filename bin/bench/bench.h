/* bench.h: what the files of the program trisolve-bench share.
 *
 *     names (bench_list.c, bench_filter.c) -> triangles (bench_input.c, bench_factor.c) -> a cell a solver
 *     (bench_cell.c), a result a triangle (bench_run.c) -> reports: the screen (bench_table.c), CSV
 *     and JSON (bench_csv.c, bench_json.c), which share one list of columns (bench_columns.c),
 *     --choice (bench_choice.c), figures (bench_figures.h) as files or in a page (bench_plot.c, bench_html.c);
 *     what can be said of all results together (bench_summary.h) stands on that page.
 *
 * --dense has its own matrices (bench_dense.c), screen (bench_dense_table.c) and figures
 * (bench_dense_figures.c); --calibrate measures the machine instead (bench_calibrate.c).
 *
 * Of a directory each matrix runs in a process of its own (bench_child.c), which sends its results as
 * bytes (bench_wire.c); they are kept for a run that goes on (bench_resume.c).
 *
 * --io takes files as they are (bench_io.c), with columns and a screen of its own.
 *
 * A new figure is a member of `cell` and a line in bench_columns.c; a new kind of output is a file
 * that ends in its `report`, named in bench.c. */
#ifndef TRS_BIN_BENCH_H
#define TRS_BIN_BENCH_H

#include "bin/common/sentence.h"
#include "trisolve-sparse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXIT_GOOD = 0, EXIT_USAGE = 1, EXIT_INACCURATE = 3 };

enum { SEED = 20261121 }; /* of the solutions x that right-hand sides are made from */

typedef struct settings {
    char **names; /* [count] files, directories, KIND:SIZE; --dense: sizes; --calibrate: a file */
    int count;
    const char *solvers; /* names between commas; NULL: all of the table */
    const char *csv, *json, *html;
    const char *plot;   /* folder */
    const char *filter; /* which names, n and nnz; NULL: all */
    bool dense, choice, calibrate, io;
    bool measure;  /* the automatic choice is made by measuring */
    bool on_host;  /* B and X are on the host for GPU solvers as well */
    unsigned kind; /* TRS_LOWER or TRS_UPPER, TRS_UNIT, as asked for */
    bool factor;
    trs_op op;
    int nrhs;
    bool retype; /* values become this type: */
    trs_dtype dtype;
    double cell_seconds;
    int threads;
    int64_t memory_limit; /* bytes */
    bool low_memory;      /* files are read with little more than the matrix takes */
    int device;           /* TRS_CUDA(k), or TRS_HOST: no GPU */
    char no_gpu[200];     /* why none is used */
    bool quiet;
    char **argv; /* the command line: its options are 1..options */
    int options;
    bool apart;            /* every matrix in a process of its own */
    bool resume;           /* ... but for those that an earlier run has got to */
    double matrix_seconds; /* what such a process may take */
    int64_t matrix_memory; /* ... in bytes */
    int child;             /* this is one, and its results go to this descriptor; 0: it is none */
} settings;

typedef struct host { /* where this ran */
    char date[32], gpu[256], driver[64], cpu[128];
    int threads;
} host;

typedef struct spread {
    int count;
    double min, median, max;
} spread;

typedef struct cell { /* one solver on one triangle */
    trs_solver_info solver;
    bool auto_host, auto_device; /* the cost model's choice for B and X there */
    int status;                  /* of the first call that failed, and its sentence */
    char message[320];
    trs_info info;      /* without its strings */
    char levels_by[64]; /* trs_info.analysis */
    double analysis;    /* seconds: the vendor's own, or the level sets */
    double setup;       /* the rest of trs_plan_analyse */
    double update;
    double factor; /* of update, what made L and U; 0: nothing did */
    int block;     /* --dense: TRS_LU_BLOCK; 0: as it was */
    spread solve;
    trs_error error;
    bool accurate;
} cell;

typedef struct io_figures { /* --io: one file */
    int runs;
    int64_t bytes, packed, written;    /* of text, of the file, of its copy */
    double total, parse, build, write; /* seconds: reading, its two parts, writing */
} io_figures;

typedef struct result { /* one triangle, or why there is none */
    const char *name;
    const char *file;  /* its name with the folders, or KIND:SIZE; NULL: --dense */
    char trouble[400]; /* "": none */
    char problem[64];  /* trs_mm.problem */
    unsigned kind;
    trs_dtype dtype;
    int64_t n, nnz, levels, widest, longest;
    double sweep,
        sort; /* seconds: the levels by a sweep over the rows, by a topological sort of the columns; 0: not
                           measured */
    char costs[200]; /* where the cost model has its numbers from */
    double alloc;    /* --dense with a GPU: seconds to allocate A, b, x there; else 0 */
    double copy;     /* ... to copy A and b there, and x back */
    io_figures *io;  /* --io; else NULL */
    int count;
    cell *cells; /* [count] */
} result;

typedef struct kept { /* results, for what can only be made of all of them; refused: no cells */
    int count;
    result *r; /* [count] */
} kept;

/* ---- bench.c ------------------------------------------------------------------------------- */

/* A sentence to stderr as "trisolve-bench: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is being done, on one line of stderr when that is a terminal; NULL, NULL: wipe it. */
void progress(const settings *s, const char *name, const char *step);

int out_of_memory(void); /* says so; EXIT_USAGE */

/* ---- bench_args.c --------------------------------------------------------------------------- */

void parse_arguments(int argc, char **argv, settings *s); /* leaves on wrong use */
bool is_wanted(const settings *s, const trs_solver_info *solver);

/* ---- bench_filter.c: --filter 'GLOB,n<1e6,kind=GLOB' ------------------------------------------- */

bool filter_is_valid(const char *filter);
bool filter_takes_name(const char *filter, const char *name);   /* filter NULL: yes */
bool filter_takes_matrix(const char *filter, const trs_mm *mm); /* by its header */

/* ---- bench_list.c: directories become the files in them -------------------------------------- */

typedef struct name_list {
    char **name; /* [count] */
    int count;
    bool directory; /* some come from one */
} name_list;

int list_names(const settings *s, name_list *l); /* an exit code */
void list_free(name_list *l);

/* ---- bench_input.c: a name becomes one or two triangles -------------------------------------- */

typedef struct input {
    trs_mm file;
    trs_lu *lu;
    int count;
    trs_mat T[2];
    char name[2][512];
    void *converted[2]; /* values in another type */
    bool bad_file;      /* could not be read, as against: is not for this */
    bool left_out;      /* by --filter */
    char message[400];
} input;

const char *base_name(const char *name); /* what stands behind its last slash */
int input_open(const settings *s, const char *name, input *in); /* a trs_status */
void input_close(input *in);

/* ---- bench_made.c: what no Matrix Market file holds ------------------------------------------ */

bool is_made(const char *name);                /* KIND:SIZE, or a .trs file */
int make_matrix(const char *name, trs_mm *mm); /* a trs_status, with a sentence in said () */

/* ---- bench_factor.c -------------------------------------------------------------------------- */

/* L and U of A into in->T.  TRS_ESUPPORT: built without SuiteSparse. */
int factor_matrix(const trs_mat *A, input *in);
void factor_free(input *in);

/* ---- bench_cell.c ---------------------------------------------------------------------------- */

typedef struct bed { /* op(T) X = B on both sides */
    const settings *settings;
    const trs_mat *T;
    size_t bytes; /* of B, of X */
    void *B, *X;
    void *device_B, *device_X; /* NULL: no GPU, or no room */
    trs_timer *timer;
} bed;

double now(void); /* seconds of a steady clock */
int bed_make(bed *b, const settings *s, const trs_mat *T);
void bed_free(bed *b);
void measure_cell(const bed *b, cell *c);
/* A plan for B and X there; solver NULL: chosen.  Always destroy it. */
int make_plan(const bed *b, const char *solver, int device, trs_plan **plan);

/* ---- bench_run.c ----------------------------------------------------------------------------- */

void warm_up(const settings *s);
int measure_triangle(const settings *s, const char *name, const trs_mat *T, result *r);
void result_free(result *r);

/* The cell of a solver, and block, that was measured; NULL: there is none. */
const cell *find_cell(const result *r, const char *solver, int block);

/* Seconds over those of a reference in the same result; NaN when either did not run. */
double over_solve(const result *r, const cell *c, const char *reference);
double over_total(const result *r, const cell *c, const char *reference);
double total(const cell *c); /* analysis + one solve, as in the seed's table */

/* One cell for each solver that is to run: [*count]; NULL: no memory. */
cell *make_cells(const settings *s, int *count);

/* Copies of results. */
int keep(kept *k, const result *r); /* an exit code */
void kept_free(kept *k);

/* ---- bench_dense.c --------------------------------------------------------------------------- */

/* Every size and family of --dense; take gets the results.  An exit code. */
int run_dense(const settings *s, int (*take)(void *user, const result *), void *user);
bool is_size(const char *text);
/* Seconds from A and b to x where they are there: the solve, and the factorisation before it. */
double dense_seconds(const result *r, const cell *c);

/* ---- bench_io.c ------------------------------------------------------------------------------ */

/* Every file of --io; take gets the results.  An exit code. */
int run_io(const settings *s, const name_list *names, int (*take)(void *user, const result *),
           void *user);

/* ---- bench_calibrate.c ----------------------------------------------------------------------- */

int calibrate(const settings *s, const host *h); /* an exit code */

/* ---- bench_wire.c ---------------------------------------------------------------------------- */

typedef struct parcel { /* of bytes */
    char *p;            /* [size]; free it */
    size_t size, room;
} parcel;

typedef struct wire { /* how results end */
    bool ended;       /* properly */
    bool bad_file, left_out;
    size_t whole; /* bytes of whole records */
} wire;

int parcel_add(parcel *b, const void *p, size_t size); /* an exit code, as all of these */
int wire_result(parcel *b, const result *r);
int wire_end(parcel *b, bool bad_file, bool left_out);
int wire_take(const settings *s, const char *file, const parcel *b, wire *w,
              int (*take)(void *user, const result *), void *user);

/* ---- bench_child.c --------------------------------------------------------------------------- */

/* The results of a matrix, and always how they end: when not properly, a row says why. */
int run_child(const settings *s, const char *name, parcel *b);
int send_bytes(int fd, const parcel *b);

/* ---- bench_resume.c -------------------------------------------------------------------------- */

typedef struct journal {
    char name[4096];
    FILE *f;      /* NULL: there is no output to resume */
    parcel old;   /* what an earlier run has left */
    size_t first; /* where its first matrix begins */
} journal;

int journal_open(journal *j, const settings *s);
bool journal_find(const journal *j, const char *name, parcel *results); /* results->p is j's */
int journal_add(journal *j, const char *name, const parcel *results);
void journal_close(journal *j, bool complete); /* removes a complete one */

/* ---- reports --------------------------------------------------------------------------------- */

typedef struct report {
    int (*begin)(const settings *, const host *, void **data); /* *data NULL: not wanted */
    int (*add)(void *data, const result *);
    int (*end)(void *data, bool complete); /* closes; keeps the file only when complete */
} report;

extern const report report_table, report_dense, report_choice, report_csv, report_json, report_plot,
    report_html, report_io, report_wire;

/* Every figure of a cell, in order, under the name of its column. */
typedef struct sink {
    void (*text)(void *user, const char *column, const char *value);
    void (*whole)(void *user, const char *column, int64_t value);
    void (*real)(void *user, const char *column, double value); /* NaN: there is none */
    void *user;
} sink;

void print_host(const host *h); /* the head of a table */
void put_io_columns(const settings *s, const host *h, const result *r, const sink *to);
void put_columns(const settings *s, const host *h, const result *r, const cell *c, const sink *to);
const char *dtype_name(trs_dtype t);
const char *op_name(trs_op op);
const char *kind_name(unsigned kind);
char levels_mark(
    const cell *c); /* R, C, D: which analysis found the levels of a row of the table */
const char *number(char *text, size_t size, double v); /* four digits, a dash for a NaN */

/* A file under a temporary name, which file_close renames when complete. */
typedef struct output {
    const char *name;
    char temporary[4096];
    FILE *f;
} output;

int file_open(output *o, const char *name);
int file_close(output *o, bool complete);

#endif
