/* args.c: the command line of trisolve-bench, and its help. */
#include "config.h"

#include "args.h"

#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/numbers.h"
#include "bin/common/options.h"
#include "collection/filter.h"
#include "measure/dense.h"
#include "measure/solvers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

static const char help[] =
    "Usage: trisolve-bench [OPTION]... FILE|DIRECTORY|KIND:SIZE[,SIZE...]...\n"
    "       trisolve-bench [OPTION]... --dense [N...]\n"
    "       trisolve-bench --calibrate [FILE|--save]\n"
    "       trisolve-bench [OPTION]... --io FILE|DIRECTORY...\n"
    "Run every solver on every triangle.  Show the times of analysis, update and\n"
    "solve, and the error.\n"
    "\n"
    "FILE is a Matrix Market file, which may be packed, or a .trs file of\n"
    "trisolve-gen.  DIRECTORY means all such files in it and below it, without\n"
    "the right-hand sides of matrices.  KIND:SIZE is generated, as by trisolve-gen\n"
    "KIND SIZE, for example grid5:500; with several sizes, as in grid5:500,1000,2000,\n"
    "figures show how times grow.\n"
    "\n"
    "Modes:\n"
    "      --dense            run solvers of full matrices (triangles, LU, Gauss) on\n"
    "                         random matrices of N rows (default: 256, 512, .. 8192)\n"
    "      --calibrate        measure the costs of this machine and write them to\n"
    "                         FILE (default: standard output); the environment\n"
    "                         variable TRISOLVE_MACHINE names this file later\n"
    "      --save             with --calibrate: save them in the user's cache, which\n"
    "                         is used if that variable is not set\n"
    "      --io               read and write each Matrix Market file, show MB/s\n"
    "What to solve:\n"
    "      --lower, --upper   solve with this triangle of the matrix, ignore the rest\n"
    "      --unit             the diagonal is 1, whatever is stored\n"
    "      --factor           solve with L and U of the matrix by UMFPACK or CHOLMOD\n"
    "      --trans            solve with the transpose\n"
    "      --precision=TYPE   f32, f64, c32 or c64 (default: f64, complex files: c64)\n"
    "      --nrhs=K           solve for K right-hand sides at once (default 1)\n"
    "      --filter=LIST      only matrices that match names, sizes and kinds:\n"
    "                         'bcs*,lp_*,n<1e5,nnz>=1e4,kind=*power*,kind=complex'\n"
    "How to solve:\n"
    "      --solvers=LIST     run only these solvers, separated by commas\n"
    "      --without=LIST     the automatic choice may not take these solvers\n"
    "      --device=N         CUDA device N (default: 0 if there is one)\n"
    "      --cpu              use no GPU\n"
    "      --host             B and X on the host for GPU solvers too, copies count\n"
    "      --measure          automatic choice: measure the solvers predicted fastest\n"
    "      --no-calibrate     do not measure the costs of this CPU, which takes a\n"
    "                         quarter of a second in the first run\n"
    "      --threads=N        threads of CPU solvers\n"
    "      --cell-seconds=S   time for the solves of one solver on one triangle\n"
    "                         (default 5)\n"
    "      --memory=GIB       memory limit of a solver (default: 8 for solvers that\n"
    "                         store a full matrix, else none)\n"
    "      --low-memory       read with little more memory than the matrix takes\n"
    "Each matrix of a DIRECTORY runs in its own process.  These options run every\n"
    "matrix in its own process:\n"
    "      --matrix-seconds=S  time limit of the process (default 3600)\n"
    "      --matrix-memory=GIB  memory limit (default: 9/10 of the machine's memory)\n"
    "      --resume           continue an interrupted run with the same options; its\n"
    "                         results are in FILE.resume for the first output FILE\n"
    "Output:\n"
    "      --csv=FILE         write all results, times in seconds, one line for each\n"
    "                         solver and triangle\n"
    "      --json=FILE        write the same as JSON\n"
    "      --html=FILE        write a page: summary, figures, tables; needs python3\n"
    "      --plot=DIR         draw figures as SVG files in DIR; needs python3\n"
    "                         FILE may be -, standard output, which implies --quiet\n"
    "      --choice           show the automatic choice relative to the fastest\n"
    "                         solver, and the share within 1.1 and 1.3\n"
    "  -q, --quiet            print no table\n"
    "  -h, --help             print this help and exit\n"
    "  -V, --version          print the version and exit\n"
    "\n"
    "Exit status:\n"
    "  0  all results were accurate\n"
    "  1  wrong use, a bad file, or nothing to run\n"
    "  3  some backward error is larger than 1e-10 (single precision: 1e-4)\n";

/* ---- what single options mean ---------------------------------------------------------------- */

static void take_precision(const option_row *row, const char *text, void *user)
{
    settings *s = &((arguments *)user)->session.settings;
    int t = TRS_F64;
    while (t <= TRS_C32 && strcmp(text, dtype_name((trs_dtype)t))) t++;
    if (t > TRS_C32) wrong(row->what, text);
    s->retype = true;
    s->dtype = (trs_dtype)t;
}

static void take_filter(const option_row *row, const char *text, void *user)
{
    if (!filter_is_valid(text)) wrong(row->what, text);
    ((arguments *)user)->wanted.filter = text;
}

static void take_solvers(const option_row *row, const char *text, void *user)
{
    char name[64];
    if (find_unknown_solver(text, name, sizeof name)) refuse_solver(row->what, name);
    ((arguments *)user)->session.settings.solvers = text;
}

/* The library reads it wherever a solver is chosen, also in child processes. */
static void take_without(const option_row *row, const char *text, void *user)
{
    char name[64];
    (void)user;
    if (find_unknown_solver(text, name, sizeof name)) refuse_solver(row->what, name);
    setenv("TRISOLVE_WITHOUT", text, 1);
}

static void take_device(const option_row *row, const char *text, void *user)
{
    ((arguments *)user)->session.settings.device = TRS_CUDA(whole_number(row, text));
}

/* Of collection/child.c.  A child ends with its parent. */
static void take_child(const option_row *row, const char *text, void *user)
{
    FILE *f = fdopen(whole_number(row, text), "ab");
    if (!f) wrong(row->what, text);
    ((arguments *)user)->session.outputs.child = f;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

/* ---- the options ----------------------------------------------------------------------------- */

/* Which options were given, as far as others exclude them. */
enum {
    LOWER = 1,
    UPPER = 2,
    KIND = 4, /* any of the two, and --unit */
    FACTOR = 8,
    FILTER = 16,
    DENSE = 32,
    CALIBRATE = 64,
    IO = 128,
    MEASURE = 256,
    CHOICE = 512,
    DATA = 1024,    /* --csv, --json */
    FIGURES = 2048, /* --html, --plot */
    APART = 4096,
    DEVICE = 8192,
    CPU = 16384,
    WITHOUT = 32768
};

#define AT(member)      offsetof(arguments, member)
#define SETTING(member) offsetof(arguments, session.settings.member)
#define OUTPUT(member)  offsetof(arguments, session.outputs.member)
#define NUMBERS(a, b)   .least = a, .most = b
#define NO_SOLVER       "no such solver in this build (trisolve-sparse --list-solvers lists them)"

/* clang-format off */
static const option_row rows[] = {
    {"lower", 0, NO_TEXT, take_bits, .member = AT(wanted.kind), .bits = LOWER | KIND,
     .value = TRS_LOWER},
    {"upper", 0, NO_TEXT, take_bits, .member = AT(wanted.kind), .bits = UPPER | KIND,
     .value = TRS_UPPER},
    {"unit", 0, NO_TEXT, take_bits, .member = AT(wanted.kind), .bits = KIND, .value = TRS_UNIT},
    {"factor", 0, NO_TEXT, take_flag, .member = AT(wanted.factor), .bits = FACTOR},
    {"trans", 0, NO_TEXT, take_bits, .member = SETTING(op), .value = TRS_T},
    {"precision", 0, TEXT, take_precision,
     .what = "--precision needs f32, f64, c32 or c64, but got"},
    {"nrhs", 0, TEXT, take_whole, .member = SETTING(nrhs), NUMBERS(1, 100000),
     .what = "--nrhs needs a number from 1 to 100000, but got"},
    {"solvers", 0, TEXT, take_solvers, .what = NO_SOLVER},
    {"without", 0, TEXT, take_without, .bits = WITHOUT, .what = NO_SOLVER},
    {"device", 0, TEXT, take_device, .bits = DEVICE, NUMBERS(0, 1000),
     .what = "--device needs the number of a device, but got"},
    {"cpu", 0, NO_TEXT, take_flag, .member = AT(cpu), .bits = CPU},
    {"threads", 0, TEXT, take_whole, .member = SETTING(threads), NUMBERS(1, 100000)},
    {"cell-seconds", 0, TEXT, take_positive, .member = SETTING(cell_seconds), NUMBERS(0, HUGE_VAL)},
    {"memory", 0, TEXT, take_gib, .member = SETTING(memory_limit), NUMBERS(0, HUGE_VAL)},
    {"low-memory", 0, NO_TEXT, take_flag, .member = SETTING(low_memory)},
    {"csv", 0, TEXT, take_text, .member = OUTPUT(csv), .bits = DATA},
    {"json", 0, TEXT, take_text, .member = OUTPUT(json), .bits = DATA},
    {"html", 0, TEXT, take_text, .member = OUTPUT(html), .bits = FIGURES},
    {"plot", 0, TEXT, take_text, .member = OUTPUT(plot), .bits = FIGURES},
    {"filter", 0, TEXT, take_filter, .bits = FILTER,
     .what = "--filter needs terms such as GLOB, n<NUMBER, nnz>=NUMBER, kind=GLOB, but got"},
    {"dense", 0, NO_TEXT, take_flag, .member = SETTING(dense), .bits = DENSE},
    {"calibrate", 0, NO_TEXT, take_flag, .member = AT(calibrate), .bits = CALIBRATE},
    {"save", 0, NO_TEXT, take_flag, .member = AT(save)},
    {"no-calibrate", 0, NO_TEXT, take_flag, .member = AT(no_calibrate)},
    {"io", 0, NO_TEXT, take_flag, .member = SETTING(io), .bits = IO},
    {"host", 0, NO_TEXT, take_flag, .member = SETTING(on_host)},
    {"measure", 0, NO_TEXT, take_flag, .member = SETTING(measure), .bits = MEASURE},
    {"choice", 0, NO_TEXT, take_flag, .member = OUTPUT(choice), .bits = CHOICE},
    {"matrix-seconds", 0, TEXT, take_positive, .member = AT(processes.seconds), .bits = APART,
     NUMBERS(0, HUGE_VAL)},
    {"matrix-memory", 0, TEXT, take_gib, .member = AT(processes.memory), .bits = APART,
     NUMBERS(0, 0x1p33)},
    {"resume", 0, NO_TEXT, take_flag, .member = AT(processes.resume), .bits = APART},
    {"child", 0, TEXT, take_child, .bits = APART, NUMBERS(1, 1 << 20),
     .what = "--child needs a file descriptor, but got"},
    {"quiet", 'q', NO_TEXT, take_flag, .member = OUTPUT(quiet)},
    {"help", 'h', NO_TEXT, leave_with_text, .what = help},
    {"version", 'V', NO_TEXT, leave_version, .what = NULL},
    {.what = "unknown option, or an option without its value"},
};
/* clang-format on */

static const exclusion exclusions[] = {
    {CALIBRATE, DENSE | DATA | FIGURES | CHOICE,
     "--calibrate excludes --dense, --choice and all other outputs"},
    {IO, DENSE | CALIBRATE | KIND | FACTOR | CHOICE | FIGURES,
     "--io excludes --dense, --calibrate, --choice, --html, --plot and options for triangles"},
    {DENSE, KIND | FACTOR | FILTER | CHOICE | MEASURE,
     "--dense generates its matrices; it excludes options for triangles and the choice"},
    {WITHOUT, IO | DENSE | CALIBRATE, "--without needs a choice among solvers"},
    {APART, IO | DENSE | CALIBRATE,
     "--matrix-seconds, --matrix-memory and --resume exclude --io, --dense and --calibrate"},
    {LOWER, UPPER, "--lower and --upper exclude each other"},
    {FACTOR, KIND, "--factor excludes --lower, --upper and --unit: it uses the whole matrix"},
    {CPU, DEVICE, "--cpu and --device exclude each other"},
    {0, 0, NULL},
};

/* ---- what follows from them ------------------------------------------------------------------ */

static void check_names(const arguments *a)
{
    const settings *s = &a->session.settings;
    if (!s->dense && !a->calibrate && s->count < 1) wrong("no matrix given", NULL);
    if (a->calibrate && s->count > 1) wrong("--calibrate writes only one file", s->names[1]);
    if (a->save && !a->calibrate) wrong("--save needs --calibrate", NULL);
    if (a->save && s->count > 0)
        wrong("--save writes to the user's cache, not to a file", s->names[0]);
    for (int k = 0; k < s->count && s->dense; k++)
        if (!is_size(s->names[k]))
            wrong("--dense needs sizes from 1 to 32768, but got", s->names[k]);
}

static bool is_output(const char *name)
{
    return name && (!strcmp(name, "-") || !strcmp(name, "/dev/stdout"));
}

static void check_values(arguments *a)
{
    const settings *s = &a->session.settings;
    outputs *o = &a->session.outputs;
    if (a->processes.resume && !o->csv && !o->json && !o->html)
        wrong("--resume needs --csv, --json or --html", NULL);
    const int printed = is_output(o->csv) + is_output(o->json) + is_output(o->html);
    if (printed && printed + o->choice > 1)
        wrong("only one of --csv, --json, --html and --choice can go to standard output", NULL);
    if (printed) o->quiet = true; /* the table would be in it */
    if (s->dense && s->retype && parts_of(s->dtype) > 1)
        wrong("--dense supports only f32 and f64", NULL);
}

/* The costs go to the user's cache: the only name is that of the file there. */
static void find_cache(settings *s)
{
    static char path[4096], *name = path;
    if (cache_file("machine", path, sizeof path)) exit(EXIT_USAGE);
    s->names = &name;
    s->count = 1;
}

/* A child leaves all output to its parent, and starts no children. */
static void be_a_child(arguments *a)
{
    a->session.outputs = (outputs){.quiet = true, .child = a->session.outputs.child};
    a->apart = false;
}

/* Leaves the GPU that was named, or else the first one, unless it is not there. */
static void find_device(arguments *a, bool named)
{
    settings *s = &a->session.settings;
    char name[sizeof s->no_gpu]; /* of the GPU, or why there is none */
    if (!a->cpu && trs_device_name(s->device, name, sizeof name) == TRS_OK) return;
    if (named) wrong("--device", name);
    if (!a->cpu) memcpy(s->no_gpu, name, sizeof name);
    s->device = TRS_HOST;
}

static void show_progress(const char *name, const char *step)
{
    if (name) fprintf(stderr, "\r\033[K%.60s: %s", name, step);
    else fprintf(stderr, "\r\033[K");
    fflush(stderr);
}

void parse_arguments(int argc, char **argv, arguments *a)
{
    const int64_t machine = 9 * (sysconf(_SC_PHYS_PAGES) / 10) * sysconf(_SC_PAGESIZE);
    settings *s = &a->session.settings;
    *a = (arguments){.processes = {.seconds = 3600, .memory = machine, .argv = argv}};
    *s = (settings){
        .nrhs = 1, .cell_seconds = 5, .device = TRS_CUDA(0), .no_gpu = "not used (--cpu)"};
    const unsigned given = take_options(argc, argv, rows, a);
    a->processes.options = optind - 1;
    a->apart = (given & APART) != 0;
    s->names = argv + optind;
    s->count = argc - optind;
    check_names(a);
    check_values(a);
    check_exclusions(given, exclusions);
    if (a->save) find_cache(s);
    if (a->session.outputs.child) be_a_child(a);
    find_device(a, (given & DEVICE) != 0);
    if (!a->session.outputs.quiet && isatty(STDERR_FILENO)) s->watch = show_progress;
}
