/* sparse.h: what the files of the program trisolve-sparse share. */
#ifndef TRS_BIN_SPARSE_H
#define TRS_BIN_SPARSE_H

#include "exits.h"
#include "trisolve-sparse.h"

#include <stdbool.h>

typedef struct arguments {
    const char *matrix, *rhs, *output;
    const char *solver; /* NULL: chosen */
    bool measure;       /* ... by solving */
    bool factor;        /* factor even a triangle */
    const char *method; /* NULL: chosen */
    unsigned kind;      /* TRS_LOWER or TRS_UPPER, TRS_UNIT, as asked for */
    trs_op op;
    bool single; /* solve in single precision */
    int repeat, threads;
    int refine;       /* steps at most; -1: not said */
    bool cond;        /* estimate the condition */
    bool det;         /* the determinant */
    double tolerance; /* 0: by precision */
    bool bitwise;
    const char *save_plan, *load_plan;
    trs_pivot pivot;
    double pivot_value;
    bool json, quiet;
    bool low_memory;
    int64_t memory; /* bytes that reading may take; 0: the default */
} arguments;

/* Parses, or prints help and leaves; wrong use leaves with EXIT_USAGE. */
void parse_arguments(int argc, char **argv, arguments *a);

bool is_incomplete(const char *method); /* ilu0 or ic0 */

typedef struct problem { /* op(A) X = B, all on the host */
    trs_mm file;         /* the matrix as read, base 1 */
    trs_mat A;
    int nrhs;
    const char *rhs;     /* the file that B came from; NULL: made */
    const char *made;    /* else what B is: "A * ones", ... */
    void *B, *X, *exact; /* [n*nrhs]; exact: NULL when B came from a file */
    unsigned found;      /* TRS_LOWER, TRS_UPPER, or 0: a general matrix */
    bool factored;       /* to be solved by sparse factors */
} problem;

typedef struct times {
    int count;
    double min, median, max;
} times;

typedef struct report {
    const arguments *args;
    const problem *problem;
    bool factored;
    trs_info l, u; /* of the triangle, or of both factors; without the plan's strings */
    char solver[64], reason[500], costs[200];
    bool has_u;
    char library[32], ordering[32];
    bool incomplete;             /* factors */
    int refined;                 /* steps; -1: was not tried */
    trs_stop stopped;            /* why no more */
    double omega_before;         /* the first step */
    double rcond;                /* a library's cheap estimate of 1 / condition; 0: none */
    double condition;            /* estimated on demand, in the 1-norm; 0: was not */
    trs_det det;                 /* of the matrix, on demand */
    int64_t pivots, first_pivot; /* that could not be divided by */
    double seconds_read, seconds_analyse, seconds_factor;
    times solve;
    trs_error error;
    double forward; /* max |x - exact| / max |exact|; NaN: not known */
    double tolerance;
    char failure[500]; /* why x is no solution; "": it is one */
} report;

/* Sentences go to stderr as "trisolve-sparse: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
int exit_code(int status);

int problem_read(const arguments *a, problem *p); /* an exit code */
void problem_free(problem *p);
int leave_out_rows(const arguments *a, problem *p);

bool is_single(trs_dtype t);
int parts_of(trs_dtype t);                             /* 1; complex: 2 */
double part_at(const void *a, trs_dtype t, int64_t k); /* part k of the numbers, counted through */

/* count numbers of one type as another; free them.  NULL: no memory. */
void *convert_numbers(const void *from, trs_dtype was, trs_dtype is, int64_t count);
double forward_error(const problem *p);

bool is_singular(const report *r); /* as far as its condition is known */
void explain_failure(report *r);

trs_options plan_options(const arguments *a, const problem *p);

/* The facts of a plan, its strings copied when info is r->l: they end with it. */
void keep_info(const trs_plan *plan, trs_info *info, report *r);

/* A triangle after permutations of its rows and columns?  Then p->A.kind is TRS_PERMUTED. */
bool find_permuted(const arguments *a, problem *p);
int solve_triangle(const arguments *a, problem *p, report *r);
int solve_factored(const arguments *a, problem *p, report *r);
times measure(int repeat, int (*run)(void *), void *user, int *status);

void print_text(const report *r);
int print_json(const report *r);
int list_solvers(void);

#endif
