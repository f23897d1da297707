/* sparse.c: trisolve-sparse MATRIX [RHS]: read, solve, report. */
#include "config.h"

#include "sparse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("trisolve-sparse: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int exit_code(int status)
{
    const int code = exit_of(status);
    return code < 0 ? EXIT_FAULT : code;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Run it once more than asked for when that is more than once: the first run warms up. */
times measure(int repeat, int (*run)(void *), void *user, int *status)
{
    times t = {.count = repeat};
    double *s = malloc((size_t)repeat * sizeof *s);
    *status = s ? TRS_OK : TRS_EMEM;
    for (int k = repeat > 1 ? -1 : 0; k < repeat && !*status; k++) {
        double start = now();
        *status = run(user);
        if (k >= 0) s[k] = now() - start;
    }
    if (!*status) {
        qsort(s, (size_t)repeat, sizeof *s, ascending);
        t.min = s[0];
        t.max = s[repeat - 1];
        t.median = 0.5 * (s[(repeat - 1) / 2] + s[repeat / 2]);
    }
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

static int run(const arguments *a, problem *p, report *r)
{
    double start = now();
    int code = problem_read(a, p);
    r->seconds_read = now() - start;
    if (code) return code;
    r->factored = p->factored;
    code = r->factored ? solve_factored(a, p, r) : solve_triangle(a, p, r);
    if (code) return code;
    int rc = r->pivots ? leave_out_rows(a, p) : TRS_OK;
    if (!rc)
        rc = trs_backward_error(&p->A, a->op, p->nrhs, p->B, p->A.n, p->X, p->A.n, TRS_COL_MAJOR,
                                &r->error);
    if (rc) return complain("%s", trs_message()), exit_code(rc);
    r->forward = forward_error(p);
    const double usual = is_single(p->A.dtype) ? 1e-4 : 1e-10;
    r->tolerance = a->tolerance > 0 ? a->tolerance : usual;
    if (!(r->error.omega <= r->tolerance)) explain_failure(r);
    rc = write_solution(a, p);
    if (rc) return exit_code(rc);
    if (a->json) code = print_json(r);
    else if (!a->quiet) print_text(r);
    if (code || !*r->failure) return code;
    complain("%s", r->failure);
    return EXIT_INACCURATE;
}

int main(int argc, char **argv)
{
    arguments a;
    problem p = {0};
    report r = {.args = &a, .problem = &p, .forward = NAN, .refined = -1};
    parse_arguments(argc, argv, &a);
    int code = run(&a, &p, &r);
    problem_free(&p);
    if (fflush(stdout))
        complain("cannot write to standard output"), code = code ? code : EXIT_USAGE;
    return code;
}
