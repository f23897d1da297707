/* first_use.c: what steps cost on this CPU, measured in the first run of a program on it and kept for later ones.
 *
 * It is what `trisolve-bench --calibrate` does, in a quarter of a second: single steps first, and then the costs of each
 * CPU solver, fitted to its times on the first and smallest of the problems with one right-hand side.
 *
 * The file appears complete or not at all (lib/io/output.h), so that programs may run for the first time at once: each
 * writes the file, and the last one stays. */
#include "config.h"

#include "first_use.h"

#include "bin/bench/calibrate/groups.h"
#include "bin/bench/calibrate/problems.h"
#include "bin/common/files.h"
#include "bin/common/timing.h"
#include "costs.h"
#include "cpu_steps.h"
#include "io/output.h"
#include "select/predict.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* s: of the steps, to make problems, of a group of costs, of all groups and problems, and of the solves of one solver for
 * one problem: a quarter of a second in all */
static const double STEPS = 0.09, MAKING = 0.04, GROUP = 0.02, FITS = 0.15, ONE = 5e-4;
enum { SMALL = 13, MOST_THREADS = 8 }; /* problems; with more threads memory is the limit */

/* Can a file of that path be made? */
static bool is_writable(char *path)
{
    char *slash = strrchr(path, '/');
    if (make_folders(path)) return false;
    *slash = '\0';
    const bool writable = !access(path, W_OK | X_OK);
    *slash = '/';
    return writable;
}

/* m, and which of its costs are known. */
static bool measure(trs_machine *m, bool known[COSTS])
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const settings s = {.nrhs = 1,
                        .device = TRS_HOST,
                        .cell_seconds = ONE,
                        .threads = online < MOST_THREADS ? (int)online : MOST_THREADS};
    fit_problems *p = calloc(1, sizeof *p);
    trs_machine found = {0};
    const cost_group *g;
    fit_result unused;
    if (!p || costs_before(&s, "cpu-serial", TRS_HOST, m)) return free(p), false;
    cpu_steps(s.threads, STEPS, &found, NULL, NULL);
    cost_take(&found, m, known);
    const trs_machine before = *m;
    const double until = now() + FITS;
    problems_make(p, SMALL, MAKING);
    for (int k = 0; (g = cost_group_at(k)) != NULL && now() < until; k++) {
        cost_group one = *g;
        one.columns[1] = one.columns[2] = 0;
        if (is_of_cpu(g)) (void)group_fit(&s, &one, p, GROUP, &before, m, known, &unused);
    }
    problems_free(p);
    free(p);
    return true;
}

/* The text of the file, which the caller frees; NULL: there is none. */
static char *write_text(const char *about, trs_machine *m, const bool *known, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (!f) return NULL;
    cost_put_head(f);
    fprintf(f, "# measured in the first run of a program on this CPU: %s\n", about);
    for (int k = 0; k < COSTS; k++)
        if (known[k]) cost_put(f, k, m);
    return fclose(f) ? free(text), NULL : text;
}

static void keep(const char *path, const char *text, size_t size)
{
    trs_output out = {.file = path, .fd = -1};
    if (!trs_output_open(&out)) (void)trs_output_put(&out, text, (int64_t)size, 0);
    (void)trs_output_close(&out);
}

void know_this_cpu(void)
{
    char path[1000];
    const char *about;
    trs_machine m;
    bool known[COSTS] = {false};
    size_t size;
    if (getenv("TRISOLVE_NO_CALIBRATE") || strcmp(trs_version(), TRS_VERSION) ||
        !trs_cpu_costs_wanted(path, sizeof path, &about) || !is_writable(path))
        return;
    setenv("TRISOLVE_MACHINE", "", 1); /* a file that is to be replaced may be wrong */
    const bool measured = measure(&m, known);
    unsetenv("TRISOLVE_MACHINE");
    char *text = measured ? write_text(about, &m, known, &size) : NULL;
    if (text) keep(path, text, size);
    free(text);
}
