/* run.h: what the methods have in common while they run. */
#ifndef TRS_BIN_KRYLOV_RUN_H
#define TRS_BIN_KRYLOV_RUN_H

#include "krylov.h"

enum { MOST_VECTORS = 8 };

typedef struct run {
    const krylov_options *o;
    const krylov_system *s;
    vectors *v;
    const void *b;
    void *x;
    double norm_b;
    krylov_result *r;
    void *vector[MOST_VECTORS]; /* scratch, freed by krylov_solve */
    int count;
} run;

void *run_vector(run *k);
void multiply(run *k, const void *x, void *y);
void precondition(run *k, const void *x, void *y);
/* r = b - A x; returns |r| / |b| and keeps it as the residual. */
double true_residual(run *k, void *r);
/* Notes the relative residual of one more iteration.  Is this the end, for now? */
bool note(run *k, double relative);
/* Is it time to stop for good: converged, failed, broken down, or too many iterations? */
bool is_over(const run *k);
void break_down(run *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

void run_cg(run *k);
void run_gmres(run *k);
void run_bicgstab(run *k);

#endif
