/* problem.h: op(A) X = B, all on the host. */
#ifndef TRS_BIN_SPARSE_PROBLEM_H
#define TRS_BIN_SPARSE_PROBLEM_H

#include "args.h"

typedef struct problem {
    trs_mm file; /* the matrix as it was read, base 1; it owns the arrays of A */
    trs_mat A;
    int nrhs;
    const char *rhs;  /* the file that B came from; NULL: B was made */
    const char *made; /* then what B is: "A * ones", ... */
    void *B, *X;      /* [n*nrhs] */
    void *exact;      /* [n*nrhs] the X that B was made from; NULL when B came from a file */
    unsigned found;   /* TRS_LOWER, TRS_UPPER, or 0: a general matrix */
    bool factored;    /* to be solved by sparse factors */
} problem;

int problem_read(const arguments *a, problem *p); /* an exit code */
void problem_free(problem *p);

/* B, from the file that was named, from the archive of the matrix, or made.  Return exit codes;
 * *dtype is the type of the numbers in a file.  read_rhs leaves p->B at NULL when there is no
 * file. */
int read_rhs(const arguments *a, problem *p, trs_dtype *dtype);
int make_rhs(const arguments *a, problem *p);

/* Reads a file's matrix, or the right-hand side beside it in an archive, which need not be there.
 * Returns a trs_status. */
int read_file(const arguments *a, const char *name, trs_mm_options opt, trs_mm *mm);

/* Complains, and returns the exit code. */
int no_memory(const char *what);

/* Is it a triangle after permutations of its rows and columns?  Then p->A.kind is TRS_PERMUTED. */
bool find_permuted(const arguments *a, problem *p);

/* Makes the rows whose pivot was left out or replaced such that they do not count in the error.
 * Returns a trs_status. */
int leave_out_rows(const arguments *a, problem *p);

/* That of X; returns a trs_status. */
int backward_error(const arguments *a, const problem *p, trs_error *e);

/* max |x - exact| / max |exact|, by real and imaginary parts; NaN: it is not known, or some x is
 * NaN. */
double forward_error(const problem *p);

#endif
