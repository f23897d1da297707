/* args.c: the command line of trisolve-sparse, and its help. */
#include "config.h"

#include "sparse.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: trisolve-sparse [OPTION]... MATRIX [RHS]\n"
    "Solve A x = b with the sparse matrix in the Matrix Market file MATRIX.\n"
    "\n"
    "A triangular matrix is solved directly, also one whose rows and columns were permuted; any\n"
    "other square one is factored first.\n"
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
    "                         (incomplete factors: all is single)\n"
    "      --cond             estimate the condition in the 1-norm\n"
    "      --det              the determinant of the matrix, or triangle, that is solved with\n"
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

static double positive(const char *text, const char *what)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0 && v < 1e9)) wrong(what, text);
    return v;
}

/* ---- the options ------------------------------------------------------------------------------ */

typedef struct option_row { /* what --name=text does to the arguments */
    const char *name;
    int letter; /* -o; 0: none */
    int has_text;
    void (*take)(const struct option_row *o, const char *text, arguments *a);
    size_t member; /* where it is kept */
    int value;     /* a bit, an op, or the least number */
    const char *what;
} option_row;

static void take_bit(const option_row *o, const char *text, arguments *a)
{
    (void)text;
    a->kind |= (unsigned)o->value;
}

static void take_op(const option_row *o, const char *text, arguments *a)
{
    (void)text;
    a->op = (trs_op)o->value;
}

static void take_flag(const option_row *o, const char *text, arguments *a)
{
    (void)text;
    *(bool *)((char *)a + o->member) = true;
}

static void take_text(const option_row *o, const char *text, arguments *a)
{
    *(const char **)((char *)a + o->member) = text;
}

static void take_number(const option_row *o, const char *text, arguments *a)
{
    *(int *)((char *)a + o->member) = number(text, o->value, o->what);
}

static void take_factor(const option_row *o, const char *text, arguments *a)
{
    (void)o;
    a->factor = true;
    a->method = text && strcmp(text, "auto") ? text : NULL;
}

static void take_precision(const option_row *o, const char *text, arguments *a)
{
    (void)o;
    a->single = !strcmp(text, "single") || !strcmp(text, "f32");
    if (!a->single && strcmp(text, "double") && strcmp(text, "f64"))
        wrong("--precision is double or single, not", text);
}

static void take_memory(const option_row *o, const char *text, arguments *a)
{
    a->memory = (int64_t)(positive(text, o->what) * 0x1p30);
}

static void take_tolerance(const option_row *o, const char *text, arguments *a)
{
    a->tolerance = positive(text, o->what);
}

static void take_pivots(const option_row *o, const char *text, arguments *a)
{
    char *end;
    a->pivot_value = strtod(text, &end);
    if (!strcmp(text, "fail")) a->pivot = TRS_PIVOT_FAIL;
    else if (!strcmp(text, "skip")) a->pivot = TRS_PIVOT_SKIP;
    else if (end == text || *end) wrong(o->what, text);
    else a->pivot = TRS_PIVOT_REPLACE;
}

static void leave_list(const option_row *o, const char *text, arguments *a)
{
    (void)o, (void)text, (void)a;
    exit(list_solvers());
}

static void leave_help(const option_row *o, const char *text, arguments *a)
{
    (void)o, (void)text, (void)a;
    fputs(help, stdout);
    fputs("\nExit status:\n", stdout);
    for (int k = 0; exit_about(k); k++) printf("  %d  %s\n", k, exit_about(k));
    exit(EXIT_GOOD);
}

static void leave_version(const option_row *o, const char *text, arguments *a)
{
    (void)o, (void)text, (void)a;
    printf("trisolve-sparse %s\n", trs_version());
    exit(EXIT_GOOD);
}

enum { NO = no_argument, MAY = optional_argument, MUST = required_argument };
#define AT(member) offsetof(arguments, member)

/* clang-format off */
static const option_row rows[] = {
    {"lower", 0, NO, take_bit, 0, TRS_LOWER, NULL},
    {"upper", 0, NO, take_bit, 0, TRS_UPPER, NULL},
    {"unit", 0, NO, take_bit, 0, TRS_UNIT, NULL},
    {"trans", 0, NO, take_op, 0, TRS_T, NULL},
    {"conj-trans", 0, NO, take_op, 0, TRS_H, NULL},
    {"factor", 0, MAY, take_factor, 0, 0, NULL},
    {"precision", 0, MUST, take_precision, 0, 0, NULL},
    {"solver", 0, MUST, take_text, AT(solver), 0, NULL},
    {"measure", 0, NO, take_flag, AT(measure), 0, NULL},
    {"threads", 0, MUST, take_number, AT(threads), 1, "--threads is not a positive number"},
    {"low-memory", 0, NO, take_flag, AT(low_memory), 0, NULL},
    {"memory", 0, MUST, take_memory, 0, 0, "--memory is not a positive number"},
    {"repeat", 0, MUST, take_number, AT(repeat), 1, "--repeat is not a positive number"},
    {"refine", 0, MUST, take_number, AT(refine), 0, "--refine is not a number"},
    {"cond", 0, NO, take_flag, AT(cond), 0, NULL},
    {"det", 0, NO, take_flag, AT(det), 0, NULL},
    {"tolerance", 0, MUST, take_tolerance, 0, 0, "--tolerance is not a positive number"},
    {"pivot", 0, MUST, take_pivots, 0, 0, "--pivot is fail, skip or a number, not"},
    {"bitwise", 0, NO, take_flag, AT(bitwise), 0, NULL},
    {"save-plan", 0, MUST, take_text, AT(save_plan), 0, NULL},
    {"load-plan", 0, MUST, take_text, AT(load_plan), 0, NULL},
    {"output", 'o', MUST, take_text, AT(output), 0, NULL},
    {"json", 0, NO, take_flag, AT(json), 0, NULL},
    {"quiet", 'q', NO, take_flag, AT(quiet), 0, NULL},
    {"list-solvers", 0, NO, leave_list, 0, 0, NULL},
    {"help", 'h', NO, leave_help, 0, 0, NULL},
    {"version", 'V', NO, leave_version, 0, 0, NULL},
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0], FIRST = 256 }; /* numbers beyond letters */

static void take_options(int argc, char **argv, arguments *a)
{
    struct option options[ROWS + 1] = {{NULL, 0, NULL, 0}};
    int c;
    for (int k = 0; k < ROWS; k++)
        options[k] = (struct option){rows[k].name, rows[k].has_text, NULL, FIRST + k};
    while ((c = getopt_long(argc, argv, "o:qhV", options, NULL)) != -1) {
        int k = c - FIRST;
        for (int r = 0; r < ROWS && c < FIRST; r++)
            if (rows[r].letter == c) k = r;
        if (k < 0) wrong("unknown option", NULL);
        rows[k].take(&rows[k], optarg, a);
    }
}

bool is_incomplete(const char *method)
{
    return method && (!strcmp(method, "ilu0") || !strcmp(method, "ic0"));
}

void parse_arguments(int argc, char **argv, arguments *a)
{
    *a = (arguments){.repeat = 1, .refine = -1};
    take_options(argc, argv, a);
    if (optind >= argc) wrong("no matrix was named", NULL);
    if (argc - optind > 2) wrong("more than a matrix and a right-hand side", argv[optind + 2]);
    a->matrix = argv[optind];
    a->rhs = argv[optind + 1];
    if ((a->kind & TRS_LOWER) && (a->kind & TRS_UPPER))
        wrong("--lower and --upper exclude each other", NULL);
    if (a->factor && (a->kind & ~(unsigned)TRS_UNIT))
        wrong("--factor takes the whole matrix", NULL);
    if (a->factor && a->pivot) wrong("--pivot is for triangles", NULL);
    if (a->pivot && (a->refine > 0 || a->cond || a->det))
        wrong("--pivot excludes --refine, --cond and --det: another matrix is solved", NULL);
    if (a->det && is_incomplete(a->method)) wrong("--det wants complete factors, not", a->method);
    if (a->factor && (a->save_plan || a->load_plan))
        wrong("--save-plan and --load-plan are for triangles", NULL);
    if (a->measure && a->solver) wrong("--measure and --solver exclude each other", NULL);
}
