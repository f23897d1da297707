/* time_device.c: what a plan for the GPU takes until it is ready, from a matrix on the host and from one on
 * the device, with cuSPARSE's own analysis beside it; milliseconds.
 *
 *     make tests/analysis/time_device && tests/analysis/time_device [-t] [-s SOLVER] [-r ROUNDS] grid7:100 ...
 *
 * Without -s the library chooses; with -t plans are of the transpose.  The rounds go through all phases in
 * turn; the smallest time of each counts, so a device that is warm.  "serial" is a solve of cpu-serial.  The last columns
 * are bytes on the device for each entry: of the plan and its work space, from the host and from the device, and the most
 * that there were while it was made. */
#include "config.h"

#include "base/device.h"
#include "core/plan.h"
#include "bin/common/problems/problems.h"
#include "tests/common/counter.h"
#include "trisolve-mmio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SERIAL,
    VENDOR,
    VENDOR_SOLVE,
    HOST_CREATE,
    HOST_READY, /* create too */
    HOST_UPDATE,
    CREATE,
    READY,
    UPDATE,
    SOLVE,
    PHASES
};

static const char *const name[PHASES] = {"serial", "cusparse", "its solve", "host crea", "ready",
                                         "update", "dev crea", "ready",     "update",    "solve"};

typedef struct timing {
    trs_mat L, device_L; /* on the host, on the device */
    double *b;           /* [2n] B and X */
    void *device_b;      /* the same on the device */
    const char *solver;
    trs_op op;
    char chosen[40];
    double best[PHASES];
} timing;

static void keep(timing *t, int phase, double seconds)
{
    if (t->best[phase] == 0 || seconds < t->best[phase]) t->best[phase] = seconds;
}

static void must(int rc, const char *what)
{
    if (!rc) return;
    fprintf(stderr, "%s: %s\n", what, trs_strerror(rc));
    exit(1);
}

/* Solve some times; kept is the fastest. */
static void solve(timing *t, const trs_plan *p, double *b, int phase)
{
    const int64_t n = t->L.n;
    for (int k = 0; k < 4; k++) {
        const double start = trs_now();
        must(trs_solve(p, t->op, 1, b, n, b + n, n, NULL), "solve");
        if (b == t->device_b) must(trs_gpu_wait(NULL), "solve");
        keep(t, phase, trs_now() - start);
    }
}

/* The life of a plan of one solver (NULL: the library chooses); create: the first of its phases, -1: only
 * the last is kept, that of the solve. */
static void live(timing *t, const char *solver, const trs_mat *m, int create, int phase)
{
    const bool serial = phase == SERIAL;
    const trs_options opt = {
        .solver = solver, .device = serial ? TRS_HOST : TRS_CUDA(0), .ops = 1u << t->op};
    trs_info info;
    trs_plan *p;
    double start = trs_now();
    must(trs_plan_create(&p, m, &opt), "create");
    if (create >= 0) keep(t, create, trs_now() - start);
    must(trs_plan_analyse(p), "analyse");
    if (create >= 0) keep(t, create + 1, trs_now() - start);
    start = trs_now();
    must(trs_plan_update(p, m, NULL), "update");
    if (create >= 0) keep(t, create + 2, trs_now() - start);
    must(trs_plan_info(p, &info), "info");
    if (phase == SOLVE) snprintf(t->chosen, sizeof t->chosen, "%s", info.solver);
    if (phase == VENDOR_SOLVE) keep(t, VENDOR, info.seconds_vendor);
    solve(t, p, serial ? t->b : t->device_b, phase);
    trs_plan_destroy(p);
}

static void one_round(timing *t)
{
    live(t, "cpu-serial", &t->L, -1, SERIAL);
    live(t, "cusparse", &t->L, -1, VENDOR_SOLVE);
    live(t, t->solver, &t->L, HOST_CREATE, SOLVE);
    live(t, t->solver, &t->device_L, CREATE, SOLVE);
}

static void print_bytes(const timing *t, const trs_mat *a)
{
    counter c = {.fail_at = -1};
    const trs_options opt = {.solver = t->solver,
                             .device = TRS_CUDA(0),
                             .ops = 1u << t->op,
                             .device_memory = counted_device_memory(&c)};
    trs_plan *p;
    must(trs_plan_create(&p, a, &opt), "create");
    must(trs_plan_analyse(p), "analyse");
    must(trs_plan_update(p, a, NULL), "update");
    printf(" %6.1f %6.1f", (double)c.device_bytes / (double)a->nnz,
           (double)c.device_most / (double)a->nnz);
    trs_plan_destroy(p);
}

static void *to_device(const void *from, size_t bytes)
{
    void *p;
    must(trs_device_new(TRS_CUDA(0), bytes, &p), "device memory");
    if (from) must(trs_device_put(TRS_CUDA(0), p, from, bytes), "device memory");
    return p;
}

static void one_problem(const char *spec, const char *solver, trs_op op, int rounds)
{
    trs_mm mm;
    must(problem_named(spec, &mm), spec);
    timing t = {.L = {.n = mm.rows,
                      .nnz = mm.nnz,
                      .ptr = mm.ptr,
                      .idx = mm.idx,
                      .val = mm.val,
                      .kind = TRS_LOWER},
                .solver = solver,
                .op = op};
    const size_t n = (size_t)mm.rows, nnz = (size_t)mm.nnz;
    t.device_L = t.L;
    t.device_L.device = TRS_CUDA(0);
    t.device_L.ptr = to_device(mm.ptr, (n + 1) * sizeof *mm.ptr);
    t.device_L.idx = to_device(mm.idx, nnz * sizeof *mm.idx);
    t.device_L.val = to_device(mm.val, nnz * sizeof(double));
    t.b = malloc(2 * n * sizeof *t.b);
    if (!t.b) must(TRS_EMEM, spec);
    for (size_t i = 0; i < 2 * n; i++) t.b[i] = 1;
    t.device_b = to_device(t.b, 2 * n * sizeof *t.b);
    for (int k = 0; k < rounds; k++) one_round(&t);
    printf("%-16s", spec);
    for (int k = 0; k < PHASES; k++) printf(" %9.2f", 1e3 * t.best[k]);
    print_bytes(&t, &t.L);
    print_bytes(&t, &t.device_L);
    printf("  %s\n", t.chosen);
    fflush(stdout);
    trs_device_free(TRS_CUDA(0), (void *)t.device_L.ptr);
    trs_device_free(TRS_CUDA(0), (void *)t.device_L.idx);
    trs_device_free(TRS_CUDA(0), (void *)t.device_L.val);
    trs_device_free(TRS_CUDA(0), t.device_b);
    free(t.b);
    trs_mm_free(&mm);
}

int main(int argc, char **argv)
{
    const char *solver = NULL;
    trs_op op = TRS_N;
    int rounds = 5;
    for (int c; (c = getopt(argc, argv, "ts:r:")) != -1;) {
        if (c == 't') op = TRS_T;
        else if (c == 's') solver = optarg;
        else if (c == 'r') rounds = atoi(optarg);
        else return 1;
    }
    printf("%-16s", "ms");
    for (int k = 0; k < PHASES; k++) printf(" %9.9s", name[k]);
    printf(" %6s %6s %6s %6s\n", "plan", "most", "plan", "most");
    for (; optind < argc; optind++) one_problem(argv[optind], solver, op, rounds);
    return 0;
}
