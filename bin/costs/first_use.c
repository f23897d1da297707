/* first_use.c: what steps cost on this CPU, measured in the first run of a program on it and kept for later ones.
 *
 * It does in a quarter of a second, for the CPU alone, what `trisolve-bench --calibrate` takes minutes for: single steps
 * first (cpu_steps.c), and then those of single solvers (cpu_solvers.c), with one right-hand side.
 *
 * The file appears complete or not at all (lib/io/output.h), so that programs may run for the first time at once: each
 * writes the file, and the last one stays. */
#include "config.h"

#include "first_use.h"

#include "bin/common/files.h"
#include "cpu_solvers.h"
#include "cpu_steps.h"
#include "io/output.h"
#include "select/predict.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* s: of the steps of all solvers, and of those of single ones: a quarter of a second in all */
static const double STEPS = 0.09, SOLVERS = 0.15;
enum { MOST_THREADS = 8 }; /* with more threads memory is the limit */

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

/* The costs that plans use so far: TRS_OK, or an error. */
static int costs_before(trs_machine *m)
{
    static const int64_t ptr[] = {0, 1};
    static const int32_t idx[] = {0};
    static const double val[] = {1};
    const trs_mat T = {.n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    const trs_options opt = {.solver = "cpu-serial"};
    trs_plan *plan = NULL;
    int rc = trs_plan_create(&plan, &T, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    if (!rc) rc = trs_plan_machine(plan, m);
    trs_plan_destroy(plan);
    return rc;
}

/* m, and which of its costs are known. */
static bool measure(trs_machine *m, bool known[COSTS])
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = online < MOST_THREADS ? (int)online : MOST_THREADS;
    trs_machine found = {0};
    if (costs_before(m)) return false;
    cpu_steps(threads, STEPS, &found, NULL, NULL);
    cost_take(&found, m, known);
    cpu_solver_steps(threads, SOLVERS, m, known);
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
