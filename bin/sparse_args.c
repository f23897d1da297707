/* sparse_args.c: the command line of trisolve-sparse, and its help. */
#include "config.h"

#include "sparse.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: trisolve-sparse [OPTION]... MATRIX [RHS]\n"
    "Solve A x = b with the sparse matrix in the Matrix Market file MATRIX.\n"
    "\n"
    "A triangular matrix is solved directly; any other square one is factored first.\n"
    "RHS holds one or several right-hand sides, array or coordinate.  Without it the\n"
    "one beside the matrix in a .tar.gz is taken (NAME_b.mtx, NAME_rhs.mtx), or else b = A * ones "
    "is\n"
    "made, so that the error of x can be shown.  A file name - means standard input.\n"
    "\n"
    "What is solved:\n"
    "      --lower, --upper   solve with that triangle of MATRIX, whatever else it holds\n"
    "      --unit             its diagonal is 1, whatever is stored\n"
    "      --trans            solve with the transpose\n"
    "      --conj-trans       solve with the conjugate transpose\n"
    "      --factor[=METHOD]  factor, also a triangle; METHOD: auto, cholmod, umfpack; or, "
    "without\n"
    "                         fill, ilu0, ic0: M x = b with M near A, then refinement\n"
    "      --precision=P      double (default) or single\n"
    "How:\n"
    "      --solver=NAME      a solver of --list-solvers; default: chosen by a cost model\n"
    "      --measure          choose by solving with the few that are predicted to be cheapest\n"
    "      --threads=N        for CPU solvers\n"
    "      --low-memory       read with little more memory than the matrix takes\n"
    "      --memory=GIB       limit for a file's arrays and for its unpacked text (default: three\n"
    "                         quarters of the machine's memory)\n"
    "      --repeat=N         solve N times after one to warm up; report min, median, max\n"
    "      --refine=N         at most N steps of iterative refinement (default: 3 with factors, "
    "else\n"
    "                         0); with --precision=single b, x and residuals are double\n"
    "      --cond             estimate the condition in the 1-norm\n"
    "      --pivot=P          a pivot that is zero, missing or not finite: fail (default), skip "
    "(the\n"
    "                         row is left out, x = 0 there), or a number that replaces it\n"
    "      --bitwise          only solvers that give the same bits every time\n"
    "      --save-plan=FILE   keep the analysis of the triangle in FILE\n"
    "      --load-plan=FILE   take it from there instead of analysing; the pattern must be the "
    "same\n"
    "      --tolerance=T      largest backward error that counts as solved\n"
    "                         (default 1e-10; single precision 1e-4)\n"
    "What is printed and written:\n"
    "  -o, --output=FILE      write x as a Matrix Market array; - is standard output\n"
    "      --json             the report as JSON\n"
    "  -q, --quiet            no report\n"
    "      --list-solvers     name, needs, and whether it can run here; then leave\n"
    "  -h, --help             this text; then leave\n"
    "  -V, --version          the version; then leave\n";

enum {
    LOWER = 256,
    UPPER,
    UNIT,
    TRANS,
    CONJ,
    FACTOR,
    PRECISION,
    SOLVER,
    MEASURE,
    THREADS,
    LOW_MEMORY,
    MEMORY,
    REPEAT,
    REFINE,
    COND,
    TOLERANCE,
    PIVOT,
    BITWISE,
    SAVE,
    LOAD,
    JSON,
    LIST
};

static const struct option options[] = {
    {"lower", no_argument, NULL, LOWER},
    {"upper", no_argument, NULL, UPPER},
    {"unit", no_argument, NULL, UNIT},
    {"trans", no_argument, NULL, TRANS},
    {"conj-trans", no_argument, NULL, CONJ},
    {"factor", optional_argument, NULL, FACTOR},
    {"precision", required_argument, NULL, PRECISION},
    {"solver", required_argument, NULL, SOLVER},
    {"measure", no_argument, NULL, MEASURE},
    {"threads", required_argument, NULL, THREADS},
    {"low-memory", no_argument, NULL, LOW_MEMORY},
    {"memory", required_argument, NULL, MEMORY},
    {"repeat", required_argument, NULL, REPEAT},
    {"refine", required_argument, NULL, REFINE},
    {"cond", no_argument, NULL, COND},
    {"tolerance", required_argument, NULL, TOLERANCE},
    {"pivot", required_argument, NULL, PIVOT},
    {"bitwise", no_argument, NULL, BITWISE},
    {"save-plan", required_argument, NULL, SAVE},
    {"load-plan", required_argument, NULL, LOAD},
    {"output", required_argument, NULL, 'o'},
    {"json", no_argument, NULL, JSON},
    {"quiet", no_argument, NULL, 'q'},
    {"list-solvers", no_argument, NULL, LIST},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void wrong(const char *what, const char *value)
{
    complain("%s%s%s", what, value ? ": " : "", value ? value : "");
    fputs("Try 'trisolve-sparse --help'.\n", stderr);
    exit(EXIT_USAGE);
}

static int number(const char *text, int least, const char *what)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (end == text || *end || v < least || v > 1000000000) wrong(what, text);
    return (int)v;
}

static bool single(const char *text)
{
    if (!strcmp(text, "single") || !strcmp(text, "f32")) return true;
    if (strcmp(text, "double") && strcmp(text, "f64"))
        wrong("--precision is double or single, not", text);
    return false;
}

static double positive(const char *text, const char *what)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0 && v < 1e9)) wrong(what, text);
    return v;
}

static void pivots(const char *text, arguments *a)
{
    char *end;
    a->pivot_value = strtod(text, &end);
    if (!strcmp(text, "fail")) a->pivot = TRS_PIVOT_FAIL;
    else if (!strcmp(text, "skip")) a->pivot = TRS_PIVOT_SKIP;
    else if (end == text || *end) wrong("--pivot is fail, skip or a number, not", text);
    else a->pivot = TRS_PIVOT_REPLACE;
}

static void print_help(void)
{
    fputs(help, stdout);
    fputs("\nExit status:\n", stdout);
    for (int k = 0; exit_about(k); k++) printf("  %d  %s\n", k, exit_about(k));
}

static void take(int c, const char *value, arguments *a)
{
    switch (c) {
    case LOWER:
        a->kind |= TRS_LOWER;
        break;
    case UPPER:
        a->kind |= TRS_UPPER;
        break;
    case UNIT:
        a->kind |= TRS_UNIT;
        break;
    case TRANS:
        a->op = TRS_T;
        break;
    case CONJ:
        a->op = TRS_H;
        break;
    case FACTOR:
        a->factor = true;
        a->method = value && strcmp(value, "auto") ? value : NULL;
        break;
    case PRECISION:
        a->single = single(value);
        break;
    case SOLVER:
        a->solver = value;
        break;
    case MEASURE:
        a->measure = true;
        break;
    case THREADS:
        a->threads = number(value, 1, "--threads is not a positive number");
        break;
    case LOW_MEMORY:
        a->low_memory = true;
        break;
    case MEMORY:
        a->memory = (int64_t)(positive(value, "--memory is not a positive number") * 0x1p30);
        break;
    case REPEAT:
        a->repeat = number(value, 1, "--repeat is not a positive number");
        break;
    case REFINE:
        a->refine = number(value, 0, "--refine is not a number");
        break;
    case COND:
        a->cond = true;
        break;
    case TOLERANCE:
        a->tolerance = positive(value, "--tolerance is not a positive number");
        break;
    case PIVOT:
        pivots(value, a);
        break;
    case BITWISE:
        a->bitwise = true;
        break;
    case SAVE:
        a->save_plan = value;
        break;
    case LOAD:
        a->load_plan = value;
        break;
    case 'o':
        a->output = value;
        break;
    case JSON:
        a->json = true;
        break;
    case 'q':
        a->quiet = true;
        break;
    case LIST:
        exit(list_solvers());
    case 'h':
        print_help();
        exit(EXIT_GOOD);
    case 'V':
        printf("trisolve-sparse %s\n", trs_version());
        exit(EXIT_GOOD);
    default:
        wrong("unknown option", NULL);
    }
}

bool is_incomplete(const char *method)
{
    return method && (!strcmp(method, "ilu0") || !strcmp(method, "ic0"));
}

void parse_arguments(int argc, char **argv, arguments *a)
{
    int c;
    *a = (arguments){.repeat = 1, .refine = -1};
    while ((c = getopt_long(argc, argv, "o:qhV", options, NULL)) != -1) take(c, optarg, a);
    if (optind >= argc) wrong("no matrix was named", NULL);
    if (argc - optind > 2) wrong("more than a matrix and a right-hand side", argv[optind + 2]);
    a->matrix = argv[optind];
    a->rhs = argv[optind + 1];
    if ((a->kind & TRS_LOWER) && (a->kind & TRS_UPPER))
        wrong("--lower and --upper exclude each other", NULL);
    if (a->factor && (a->kind & ~(unsigned)TRS_UNIT))
        wrong("--factor takes the whole matrix", NULL);
    if (a->factor && a->pivot) wrong("--pivot is for triangles", NULL);
    if (a->pivot && (a->refine > 0 || a->cond))
        wrong("--pivot excludes --refine and --cond: another matrix is solved", NULL);
    if (a->factor && (a->save_plan || a->load_plan))
        wrong("--save-plan and --load-plan are for triangles", NULL);
    if (a->measure && a->solver) wrong("--measure and --solver exclude each other", NULL);
    if (a->factor && a->single && !is_incomplete(a->method))
        wrong("factors are solved in double precision", NULL);
}
