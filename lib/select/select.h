/* select.h: the costs of single steps on this machine, the predicted time of a solve, and the choice of
 * a solver. */
#ifndef TRS_SELECT_H
#define TRS_SELECT_H

#include "base/device.h"
#include "solvers/solver.h"

/* ctx->machine and ctx->costs: from the file of TRISOLVE_MACHINE, else from the user's cache, else built in; gpu: for
 * ctx->device.  TRISOLVE_MACHINE set to nothing: built in.  TRS_OK, TRS_EFILE, TRS_EFORMAT. */
int trs_machine_find(trs_context *ctx, bool gpu);
/* The built-in table, of an H200 and its host. */
const trs_machine *trs_machine_table(void);
/* ctx->machine and ctx->costs: the table, scaled to this GPU unless it is the one that the table was measured on.
 * NULL: there is no GPU; chip->sms 0: nothing is known of it. */
void trs_machine_built_in(trs_context *ctx, const trs_chip *chip);
/* Costs and facts that the file names replace those of m.  TRS_OK, TRS_EFILE, TRS_EFORMAT. */
int trs_machine_read(trs_machine *m, const char *file);
/* Take back costs that are so far above the built-in ones that other programs must have had the CPU meanwhile. */
void trs_machine_doubt(trs_machine *m);
/* Is it the machine of that chip, as far as the chip says what it is? */
bool trs_machine_fits(const trs_machine *m, const trs_chip *chip);

/* Predicted seconds of a solve, and of an update in c alone, before it is built (built NULL) or after; NAN: not for this
 * solver, and *why says why. */
double trs_predict(const trs_prospect *p, const trs_machine *m, const trs_solver *s,
                   const trs_instance *built, bool on_device, trs_cost *c, const char **why);
size_t trs_describe_shape(char *text, size_t size, const trs_shape *s); /* characters written */

typedef struct trs_candidate {
    const trs_solver *solver;
    double seconds; /* predicted, with the share of an update */
    trs_cost cost;
    bool to_try; /* it is taken if it turns out to be faster than the first one */
} trs_candidate;

/* May the plan have this solver, as far as that is known without a prediction? */
bool trs_may_choose(const trs_prospect *p, const trs_solver *s, bool on_device);
/* This solver as a candidate; false: it cannot solve this, or not here. */
bool trs_candidate_of(const trs_prospect *p, const trs_solver *s, bool on_device, trs_candidate *c);

enum { TRS_CANDIDATES = 6, TRS_TRIED = 3 };
enum { TRS_TINY = 500 }; /* entries: solves of a microsecond are left to cpu-serial */

/* The cheapest available solvers for a prospect, the chosen one first; how many.  At most TRS_TRIED are to be tried, and
 * then cpu-serial is the first one.  reason: the shape, and what is predicted of the cheapest two. */
int trs_choose(const trs_prospect *p, bool on_device, trs_candidate c[TRS_CANDIDATES], char *reason,
               size_t size);

#endif
