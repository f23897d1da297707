/* args.h: the command line of trisolve-sparse. */
#ifndef TRS_BIN_SPARSE_ARGS_H
#define TRS_BIN_SPARSE_ARGS_H

#include "trisolve-sparse.h"

#include <stdbool.h>

typedef struct arguments {
    const char *matrix;
    const char *rhs;    /* the file of B; NULL: that in the archive of the matrix, or one is made */
    const char *output; /* the file that x is written to; NULL: none */
    const char *solver; /* NULL: it is chosen */
    bool measure;       /* ... by solving with the cheapest candidates */
    bool use_wisdom;    /* ... by what earlier runs have measured */
    const char *wisdom; /* the file of that; NULL: in the user's cache */
    bool no_calibrate;  /* costs of this CPU are not measured */
    bool factor;        /* even a triangle is factored */
    const char *method; /* of factoring; NULL: it is chosen */
    const char *ordering; /* of complete factors; NULL: it is chosen */
    unsigned kind;        /* TRS_LOWER or TRS_UPPER, TRS_UNIT, as asked for */
    trs_op op;
    bool single; /* solve in single precision */
    int repeat, threads;
    const char *krylov; /* the method; NULL: X is solved for directly */
    double rtol;        /* of the Krylov method, like the next two */
    int maxit, restart;
    int level;                     /* of fill of incomplete factors, from the method's name */
    bool drops;                    /* they drop small entries, from the method's name */
    double drop_tol, fill;         /* as in trs_ilu_options */
    int block;                     /* the same */
    int sweeps;                    /* of incomplete factors, as in trs_options */
    trs_ilu_ordering ilu_ordering; /* of incomplete factors */
    int device;       /* where the matrix and the vectors are: TRS_HOST or TRS_CUDA(k) */
    int steps;        /* of a time loop, after the first solve */
    double perturb;   /* by how much it changes values, relatively */
    int refine;       /* steps at most; -1: was not said */
    bool cond;        /* estimate the condition */
    bool det;         /* compute the determinant */
    double tolerance; /* of the backward error; 0: by precision */
    bool bitwise;
    const char *save_plan, *load_plan; /* files; NULL: none */
    trs_pivot pivot;
    double pivot_value; /* of TRS_PIVOT_REPLACE */
    bool json, quiet;
    bool low_memory;
    int64_t memory; /* bytes that reading may take; 0: the default */
} arguments;

/* Leaves after --help, --version and --list-solvers, and after wrong use with EXIT_USAGE. */
void parse_arguments(int argc, char **argv, arguments *a);

extern const char *const krylov_methods[]; /* by trs_krylov_method; NULL ends them */

bool is_incomplete(const char *method); /* ilu0 .. ilu9, ic0 .. ic9, ilut, ict, dilu, jacobi */

#endif
