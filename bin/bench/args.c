/* args.c: the command line of trisolve-bench, and its help. */
#include "config.h"

#include "bench.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: trisolve-bench [OPTION]... FILE|DIRECTORY|KIND:SIZE...\n"
    "       trisolve-bench [OPTION]... --dense [N...]\n"
    "       trisolve-bench --calibrate [FILE]\n"
    "       trisolve-bench [OPTION]... --io FILE|DIRECTORY...\n"
    "Run every solver on every triangle; show analysis, update and solve times and the error.\n"
    "\n"
    "FILE is Matrix Market, perhaps packed, or .trs as trisolve-gen writes; of a DIRECTORY, and "
    "of\n"
    "those below it, every such file is taken but for right-hand sides beside their matrix.\n"
    "KIND:SIZE is made on the spot, as by trisolve-gen KIND SIZE: grid5:500.\n"
    "\n"
    "      --dense            solvers of full matrices instead, triangles, LU and Gauss, on "
    "random\n"
    "                         ones of N rows (default 256 to 8192 by twos)\n"
    "      --calibrate        measure what single steps cost here, and write them to FILE "
    "(default:\n"
    "                         standard output); the library reads the file that the environment\n"
    "                         variable TRISOLVE_MACHINE names\n"
    "      --io               read each Matrix Market file and write it again, in MB/s\n"
    "\n"
    "What is solved:\n"
    "      --lower, --upper   that triangle of the matrix, whatever else it holds\n"
    "      --unit             its diagonal is 1, whatever is stored\n"
    "      --factor           L and U of the matrix, by UMFPACK or CHOLMOD\n"
    "      --trans            with the transpose\n"
    "      --precision=TYPE   f32, f64, c32, c64; default: as the file has it\n"
    "      --nrhs=K           K right-hand sides at once (default 1)\n"
    "      --filter=LIST      names by glob, sizes by range, kinds by glob:\n"
    "                         'bcs*,lp_*,n<1e5,nnz>=1e4,kind=*power*,kind=complex'\n"
    "Each matrix of a DIRECTORY runs in a process of its own; so do others when these are used:\n"
    "      --matrix-seconds=S what it may take (default 3600)\n"
    "      --matrix-memory=GIB likewise (default: 9/10 of the machine's)\n"
    "      --resume           go on with a run that was broken off, with the same options: its\n"
    "                         results are in FILE.resume beside the first output FILE\n"
    "How:\n"
    "      --solvers=LIST     only these, names between commas\n"
    "      --device=N         CUDA device N (default 0, if there is one)\n"
    "      --cpu              no GPU\n"
    "      --host             B and X on the host for GPU solvers too, their copies counted\n"
    "      --measure          the automatic choice tries the cheapest candidates\n"
    "      --threads=N        for CPU solvers\n"
    "      --cell-seconds=S   time for the solves of one solver on one triangle (default 5)\n"
    "      --memory=GIB       what a solver may take (default: 8 for those that store a full\n"
    "                         matrix, else no limit)\n"
    "      --low-memory       read with little more memory than the matrix takes\n"
    "Output:\n"
    "      --csv=FILE         all figures, times in seconds, a line a solver and triangle\n"
    "      --json=FILE        the same as JSON\n"
    "      --html=FILE        a page: summary, figures where gnuplot is installed, tables\n"
    "      --plot=DIR         figures: gnuplot scripts, and SVG where gnuplot is installed\n"
    "      --choice           the automatic choice over the best solver, and the share within 1.1\n"
    "                         and 1.3\n"
    "  -q, --quiet            no table on the screen\n"
    "  -h, --help             this text\n"
    "  -V, --version          name and version\n"
    "\n"
    "Exit status: 0 good; 1 wrong use, a bad file, or nothing to run; 3 the backward error of "
    "some\n"
    "solver is too large (1e-10, 1e-4 in single precision).\n";

enum {
    LOWER = 256,
    UPPER,
    UNIT,
    FACTOR,
    TRANS,
    PRECISION,
    NRHS,
    SOLVERS,
    DEVICE,
    CPU,
    THREADS,
    SECONDS,
    MEMORY,
    LOW_MEMORY,
    CSV,
    JSON,
    HTML,
    PLOT,
    FILTER,
    DENSE,
    CALIBRATE,
    IO,
    ON_HOST,
    MEASURE,
    CHOICE,
    MATRIX_SECONDS,
    MATRIX_MEMORY,
    RESUME,
    CHILD /* of bench_child.c */
};

static const struct option options[] = {
    {"lower", no_argument, NULL, LOWER},
    {"upper", no_argument, NULL, UPPER},
    {"unit", no_argument, NULL, UNIT},
    {"factor", no_argument, NULL, FACTOR},
    {"trans", no_argument, NULL, TRANS},
    {"precision", required_argument, NULL, PRECISION},
    {"nrhs", required_argument, NULL, NRHS},
    {"solvers", required_argument, NULL, SOLVERS},
    {"device", required_argument, NULL, DEVICE},
    {"cpu", no_argument, NULL, CPU},
    {"threads", required_argument, NULL, THREADS},
    {"cell-seconds", required_argument, NULL, SECONDS},
    {"memory", required_argument, NULL, MEMORY},
    {"low-memory", no_argument, NULL, LOW_MEMORY},
    {"csv", required_argument, NULL, CSV},
    {"json", required_argument, NULL, JSON},
    {"html", required_argument, NULL, HTML},
    {"plot", required_argument, NULL, PLOT},
    {"filter", required_argument, NULL, FILTER},
    {"dense", no_argument, NULL, DENSE},
    {"calibrate", no_argument, NULL, CALIBRATE},
    {"io", no_argument, NULL, IO},
    {"host", no_argument, NULL, ON_HOST},
    {"measure", no_argument, NULL, MEASURE},
    {"choice", no_argument, NULL, CHOICE},
    {"matrix-seconds", required_argument, NULL, MATRIX_SECONDS},
    {"matrix-memory", required_argument, NULL, MATRIX_MEMORY},
    {"resume", no_argument, NULL, RESUME},
    {"child", required_argument, NULL, CHILD},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static _Noreturn void wrong(const char *what, const char *value)
{
    if (value) complain("%s: %s", what, value);
    else complain("%s", what);
    fprintf(stderr, "Try 'trisolve-bench --help'.\n");
    exit(EXIT_USAGE);
}

static int whole(const char *text, int least, int most, const char *what)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (end == text || *end || v < least || v > most) wrong(what, text);
    return (int)v;
}

static double positive(const char *text, const char *what)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0) || isinf(v)) wrong(what, text);
    return v;
}

/* ---- solvers by name ------------------------------------------------------------------------- */

/* Is the name one of those between commas? */
static bool in_list(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (!strncmp(p, name, length) && (p[length] == ',' || p[length] == '\0')) return true;
    return false;
}

bool is_wanted(const settings *s, const trs_solver_info *solver)
{
    if (s->solvers) return in_list(s->solvers, solver->name);
    if (solver->general && !s->dense) return false;
    return !strcmp(solver->needs, "cpu") || s->device != TRS_HOST;
}

static bool is_solver(const char *name)
{
    trs_solver_info solver;
    for (int k = 0; trs_solver_get(k, &solver) == TRS_OK; k++)
        if (!strcmp(solver.name, name)) return true;
    return false;
}

static const char *solvers_known(const char *list)
{
    char name[64];
    for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
        if (!is_solver(name)) wrong("no solver of this build", name);
    }
    return list;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static trs_dtype precision(const char *text)
{
    for (int t = TRS_F64; t <= TRS_C32; t++)
        if (!strcmp(text, dtype_name((trs_dtype)t))) return (trs_dtype)t;
    wrong("--precision is none of f32, f64, c32, c64", text);
}

/* The triangle and the numbers. */
static bool take_problem(int c, const char *value, settings *s)
{
    switch (c) {
    case LOWER:
        s->kind |= TRS_LOWER;
        return true;
    case UPPER:
        s->kind |= TRS_UPPER;
        return true;
    case UNIT:
        s->kind |= TRS_UNIT;
        return true;
    case FACTOR:
        s->factor = true;
        return true;
    case TRANS:
        s->op = TRS_T;
        return true;
    case PRECISION:
        s->retype = true;
        s->dtype = precision(value);
        return true;
    case FILTER:
        s->filter = value;
        if (!filter_is_valid(value))
            wrong("--filter is not GLOB, n<NUMBER, nnz>=NUMBER, kind=GLOB ...", value);
        return true;
    case DENSE:
        return s->dense = true;
    case CALIBRATE:
        return s->calibrate = true;
    case IO:
        return s->io = true;
    case NRHS:
        s->nrhs = whole(value, 1, 100000, "--nrhs is not a number from 1 to 100000");
        return true;
    default:
        return false;
    }
}

/* Where results go. */
static bool take_output(int c, const char *value, settings *s)
{
    switch (c) {
    case CSV:
        s->csv = value;
        return true;
    case JSON:
        s->json = value;
        return true;
    case HTML:
        s->html = value;
        return true;
    case PLOT:
        s->plot = value;
        return true;
    case CHOICE:
        return s->choice = true;
    case 'q':
        return s->quiet = true;
    default:
        return false;
    }
}

/* Processes of their own. */
static bool take_apart(int c, const char *value, settings *s)
{
    switch (c) {
    case MATRIX_SECONDS:
        s->matrix_seconds = positive(value, "--matrix-seconds is not a positive number");
        return true;
    case MATRIX_MEMORY:
        s->matrix_memory =
            (int64_t)(positive(value, "--matrix-memory is not a positive number") * 0x1p30);
        return true;
    case RESUME:
        return s->resume = true;
    case CHILD:
        s->child = whole(value, 1, 1 << 20, "--child is not a descriptor");
        return true;
    default:
        return false;
    }
}

static void take(int c, const char *value, settings *s, bool *cpu, bool *device)
{
    switch (c) {
    case ON_HOST:
        s->on_host = true;
        break;
    case MEASURE:
        s->measure = true;
        break;
    case SOLVERS:
        s->solvers = solvers_known(value);
        break;
    case DEVICE:
        s->device = TRS_CUDA(whole(value, 0, 1000, "--device is not the number of a device"));
        *device = true;
        break;
    case CPU:
        *cpu = true;
        break;
    case THREADS:
        s->threads = whole(value, 1, 100000, "--threads is not a positive number");
        break;
    case SECONDS:
        s->cell_seconds = positive(value, "--cell-seconds is not a positive number");
        break;
    case MEMORY:
        s->memory_limit = (int64_t)(positive(value, "--memory is not a positive number") * 0x1p30);
        break;
    case LOW_MEMORY:
        s->low_memory = true;
        break;
    case 'h':
        fputs(help, stdout);
        exit(EXIT_GOOD);
    case 'V':
        printf("trisolve-bench %s\n", trs_version());
        exit(EXIT_GOOD);
    default: /* getopt has said it */
        wrong("wrong option", NULL);
    }
}

/* What --dense and --calibrate take, and go with. */
static void check_mode(const settings *s)
{
    if (!s->dense && !s->calibrate && s->count < 1) wrong("no matrix was named", NULL);
    if (s->calibrate && s->count > 1) wrong("--calibrate writes one file", s->names[1]);
    if (s->calibrate && (s->dense || s->csv || s->json || s->html || s->plot || s->choice))
        wrong("--calibrate goes with none of the other outputs", NULL);
    if (s->io &&
        (s->dense || s->calibrate || s->kind || s->factor || s->choice || s->html || s->plot))
        wrong("--io reads and writes whole files, and has no figures to draw", NULL);
    for (int k = 0; k < s->count && s->dense; k++)
        if (!is_size(s->names[k])) wrong("--dense: not a size from 1 to 32768", s->names[k]);
    if (s->dense && (s->kind || s->factor || s->filter || s->choice || s->measure))
        wrong("--dense has its own matrices and no choice among solvers", NULL);
    if (s->apart && (s->io || s->dense || s->calibrate))
        wrong("--matrix-seconds, --matrix-memory and --resume are for runs over matrices", NULL);
    if (s->resume && !s->csv && !s->json && !s->html)
        wrong("--resume goes on with a --csv, --json or --html file", NULL);
    if (s->dense && s->retype && s->dtype != TRS_F64 && s->dtype != TRS_F32)
        wrong("--dense is for f32 and f64", NULL);
}

/* All output is the parent's. */
static void be_a_child(settings *s)
{
    s->csv = s->json = s->html = s->plot = NULL;
    s->choice = s->apart = false;
    s->quiet = true;
}

void parse_arguments(int argc, char **argv, settings *s)
{
    int c;
    bool cpu = false, device = false;
    *s = (settings){.nrhs = 1,
                    .cell_seconds = 5,
                    .matrix_seconds = 3600,
                    .matrix_memory =
                        9 * ((int64_t)sysconf(_SC_PHYS_PAGES) / 10) * sysconf(_SC_PAGESIZE),
                    .device = TRS_CUDA(0),
                    .no_gpu = "none was to be used (--cpu)"};
    while ((c = getopt_long(argc, argv, "qhV", options, NULL)) != -1)
        if (take_apart(c, optarg, s)) s->apart = true;
        else if (!take_problem(c, optarg, s) && !take_output(c, optarg, s))
            take(c, optarg, s, &cpu, &device);
    s->argv = argv;
    s->options = optind - 1;
    s->names = argv + optind;
    s->count = argc - optind;
    check_mode(s);
    if (s->child) be_a_child(s);
    if ((s->kind & TRS_LOWER) && (s->kind & TRS_UPPER))
        wrong("--lower and --upper exclude each other", NULL);
    if (s->factor && s->kind) wrong("--factor takes the whole matrix", NULL);
    if (cpu && device) wrong("--cpu and --device exclude each other", NULL);
    if (!cpu && trs_device_name(s->device, s->no_gpu, sizeof s->no_gpu) == TRS_OK) return;
    if (device) wrong("--device", s->no_gpu);
    s->device = TRS_HOST;
}
