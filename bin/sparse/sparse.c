/* sparse.c: trisolve-sparse MATRIX [RHS]: reads, solves, reports. */
#include "config.h"

#include "exits.h"
#include "solve.h"

#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/numbers.h"
#include "bin/common/output/document.h"
#include "bin/common/output/progress.h"
#include "bin/costs/first_use.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

const char program_name[] = "trisolve-sparse";

spread measure(int repeat, int (*run)(void *), void *user, int *status)
{
    spread t = {.count = repeat};
    double *s = malloc((size_t)repeat * sizeof *s);
    *status = s ? TRS_OK : TRS_EMEM;
    if (!s) return complain("out of memory for the times of %d solves (--repeat)", repeat), t;
    progress_phase("solve");
    for (int k = repeat > 1 ? -1 : 0; k < repeat && !*status; k++) {
        const double start = now();
        *status = is_interrupted() ? TRS_ECANCELED : run(user);
        if (k >= 0) s[k] = now() - start;
    }
    if (*status) complain("%s", trs_message());
    else t = spread_of(s, repeat);
    free(s);
    return t;
}

static int write_solution(const arguments *a, const problem *p)
{
    trs_mat x = {.n = p->A.n, .ld = p->A.n, .val = p->X, .dtype = p->A.dtype, .format = TRS_DENSE};
    if (!a->output) return TRS_OK;
    int rc = trs_mm_write(a->output, &x, p->A.n, p->nrhs, TRS_GENERAL, NULL);
    if (rc) complain("%s", trs_message());
    return rc;
}

/* Finds the errors of X, and why it is no solution if it is none; returns a trs_status. */
static int find_errors(const arguments *a, problem *p, report *r)
{
    progress_phase("error of x");
    int rc = r->pivots ? leave_out_rows(a, p) : TRS_OK;
    if (rc) return rc;
    if (!r->judged || r->pivots) rc = backward_error(a, p, &r->error);
    if (rc) return complain("%s", trs_message()), rc;
    r->forward = forward_error(p);
    const double usual = a->single ? 1e-4 : 1e-10;
    r->tolerance = a->tolerance > 0 ? a->tolerance : usual;
    if (a->krylov) explain_divergence(r); /* it answers for the residual in the norm only */
    else if (!(r->error.omega <= r->tolerance)) explain_failure(r); /* also when it is a NaN */
    return TRS_OK;
}

/* ---- wisdom ---------------------------------------------------------------------------------- */

static int complain_of(int status)
{
    if (!status) return EXIT_GOOD;
    complain("%s", trs_message());
    return EXIT_USAGE;
}

/* Takes over what earlier runs have measured; there may be no file yet.  Returns an exit code. */
static int import_wisdom(const char *file)
{
    if (access(file, F_OK)) return EXIT_GOOD;
    if (file_is_lasting(file)) return complain_of(trs_wisdom_import(file));
    return complain("%s: no regular file", file), EXIT_USAGE;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int run(const arguments *a, problem *p, report *r)
{
    const double start = now();
    int code = problem_read(a, p);
    r->seconds_read = now() - start;
    if (code) return code;
    r->factored = p->factored;
    code = r->factored ? solve_factored(a, p, r) : solve_triangle(a, p, r);
    if (code) return code;
    int rc = find_errors(a, p, r);
    if (!rc && !r->steps.failed) rc = write_solution(a, p);
    progress_end();
    if (!rc && is_interrupted()) rc = TRS_ECANCELED;
    if (rc) return exit_code(rc);
    if (!a->json && !a->quiet) print_text(r);
    if (r->steps.failed) return exit_code(r->steps.failed);
    if (*r->failure) return complain("%s", r->failure), EXIT_INACCURATE;
    if (!is_singular(r)) return EXIT_GOOD;
    complain("the matrix is singular to working precision: x may have no correct digits");
    return EXIT_SINGULAR;
}

/* With what earlier runs have measured; what this one measures is added to it. */
static int run_with_wisdom(const arguments *a, problem *p, report *r)
{
    char cached[4096];
    const char *file = a->wisdom ? a->wisdom : cached;
    int code = a->wisdom ? EXIT_GOOD : cache_file("wisdom", cached, sizeof cached);
    if (!code) code = import_wisdom(file);
    if (code) return code;
    code = run(a, p, r);
    return a->measure && !code ? complain_of(trs_wisdom_export(file)) : code;
}

/* A program that solves once frees few arrays twice: the pages of one serve the next, instead of new ones that the system fills
 * with zeros, which takes a tenth of the time. */
static void keep_pages(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc accepts */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char **argv)
{
    arguments a;
    problem p = {0};
    report r = {.args = &a, .problem = &p, .forward = NAN, .refined = -1};
    keep_pages();
    open_standard_streams();
    document_for_wrong_use(argc, argv, "--json");
    parse_arguments(argc, argv, &a);
    catch_interrupts();
    /* one solve is over before costs would pay: a plan begins without them (doc/growing.md) */
    if (a.repeat > 1 && !a.solver && !a.no_calibrate) know_this_cpu();
    progress_begin(a.quiet);
    int code = a.use_wisdom ? run_with_wisdom(&a, &p, &r) : run(&a, &p, &r);
    progress_end();
    if (is_interrupted() && code) print_interrupted(&r);
    if (a.json) {
        const int printed = print_json(&r, is_interrupted() ? EXIT_INTERRUPTED : code);
        if (!code) code = printed;
    }
    problem_free(&p);
    report_free(&r);
    if (is_interrupted()) end_interrupted();
    return flush_output(code);
}
