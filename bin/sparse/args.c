/* args.c: the command line of trisolve-sparse, and its help. */
#include "config.h"

#include "args.h"
#include "exits.h"
#include "report.h"

#include "bin/common/message.h"
#include "bin/common/options.h"

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
    "one beside the matrix in a .tar.gz is taken (NAME_b.mtx, NAME_rhs.mtx), or else\n"
    "b = A * ones is made, so that the error of x can be shown.  A file name - means standard\n"
    "input.\n"
    "\n"
    "What is solved:\n"
    "      --lower, --upper   solve with that triangle of MATRIX, whatever else it holds\n"
    "      --unit             its diagonal is 1, whatever is stored\n"
    "      --trans            solve with the transpose\n"
    "      --conj-trans       solve with the conjugate transpose\n"
    "      --factor[=METHOD]  factor, also a triangle; METHOD: auto, cholmod, klu, umfpack; or,\n"
    "                         incomplete with level of fill k, ilu0 .. ilu9, ic0 .. ic9: M x = b\n"
    "                         with M near A, then refinement or a Krylov method\n"
    "      --ordering=NAME    of complete factors: amd, colamd, metis, natural, best\n"
    "      --krylov=METHOD    cg, gmres or bicgstab, with the factors as preconditioner (default:\n"
    "                         ic0 with cg, else ilu0)\n"
    "      --steps=N          then N times: new values, update of the factors, solve\n"
    "      --precision=P      double (default) or single\n"
    "How:\n"
    "      --device=D         where matrix and vectors of factors are: cpu (default), cuda, "
    "cuda:K\n"
    "      --rtol=R           largest |b - A x| / |b| of a Krylov method (default 1e-8)\n"
    "      --maxit=N          iterations at most (default 1000)\n"
    "      --restart=N        vectors that gmres keeps (default 30)\n"
    "      --ilu-ordering=O   of incomplete factors: natural (default), rcm, multicolour\n"
    "      --perturb=E        each step takes each value times 1 + E u, u in [-1, 1] (default "
    "0.01)\n"
    "      --solver=NAME      a solver of --list-solvers; default: chosen by a cost model\n"
    "      --measure          choose by solving with the few that are predicted to be cheapest\n"
    "      --wisdom[=FILE]    choose by what earlier runs have measured of this pattern, as FILE\n"
    "                         says (default: in the user's cache); with --measure, add to it\n"
    "      --no-calibrate     by the costs that are known: do not measure those of this CPU, "
    "which\n"
    "                         takes a quarter of a second in the first run\n"
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
    "      --pivot=P          a pivot that is zero, missing or not finite: fail (default), skip\n"
    "                         (the row is left out, x = 0 there), or a number that replaces it\n"
    "      --bitwise          only solvers that give the same bits every time\n"
    "      --save-plan=FILE   keep the analysis of the triangle in FILE\n"
    "      --load-plan=FILE   take it from there; the pattern must be the same\n"
    "      --tolerance=T      largest backward error that counts as solved\n"
    "                         (default 1e-10; single precision 1e-4)\n"
    "What is printed and written:\n"
    "  -o, --output=FILE      write x as a Matrix Market array; - is standard output\n"
    "      --json             the report as JSON\n"
    "  -q, --quiet            no report\n"
    "      --list-solvers     name, needs, and whether it can run here; then leave\n"
    "  -h, --help             this text; then leave\n"
    "  -V, --version          the version; then leave\n";

/* ---- what single options mean ---------------------------------------------------------------- */

static void take_op(const option_row *row, const char *text, void *user)
{
    (void)text;
    ((arguments *)user)->op = (trs_op)row->value;
}

static void take_factor(const option_row *row, const char *text, void *user)
{
    arguments *a = user;
    (void)row;
    a->factor = true;
    a->method = text && strcmp(text, "auto") ? text : NULL;
}

static void take_krylov(const option_row *row, const char *text, void *user)
{
    if (!is_krylov(text)) wrong(row->what, text);
    ((arguments *)user)->krylov = text;
}

static void take_ilu_ordering(const option_row *row, const char *text, void *user)
{
    static const char *const name[] = {"natural", "rcm", "multicolour"};
    int k = 0;
    while (k < 3 && strcmp(text, name[k])) k++;
    if (k == 3) wrong(row->what, text);
    ((arguments *)user)->ilu_ordering = (trs_ilu_ordering)k;
}

static void take_device(const option_row *row, const char *text, void *user)
{
    arguments *a = user;
    const option_row number = {.least = 0, .most = 1000, .what = row->what};
    a->device = TRS_CUDA(0);
    if (!strcmp(text, "cpu")) a->device = TRS_HOST;
    else if (!strncmp(text, "cuda:", 5)) a->device = TRS_CUDA(whole_number(&number, text + 5));
    else if (strcmp(text, "cuda")) wrong(row->what, text);
}

static void take_wisdom(const option_row *row, const char *text, void *user)
{
    arguments *a = user;
    (void)row;
    a->use_wisdom = true;
    a->wisdom = text;
}

static void take_precision(const option_row *row, const char *text, void *user)
{
    arguments *a = user;
    a->single = !strcmp(text, "single") || !strcmp(text, "f32");
    if (!a->single && strcmp(text, "double") && strcmp(text, "f64")) wrong(row->what, text);
}

static void take_pivots(const option_row *row, const char *text, void *user)
{
    arguments *a = user;
    char *end;
    a->pivot_value = strtod(text, &end);
    if (!strcmp(text, "fail")) a->pivot = TRS_PIVOT_FAIL;
    else if (!strcmp(text, "skip")) a->pivot = TRS_PIVOT_SKIP;
    else if (end == text || *end) wrong(row->what, text);
    else a->pivot = TRS_PIVOT_REPLACE;
}

static void leave_list(const option_row *row, const char *text, void *user)
{
    (void)row, (void)text, (void)user;
    exit(list_solvers());
}

static void leave_help(const option_row *row, const char *text, void *user)
{
    (void)row, (void)text, (void)user;
    fputs(help, stdout);
    fputs("\nExit status:\n", stdout);
    for (int k = 0; exit_about(k); k++) printf("  %d  %s\n", k, exit_about(k));
    exit(EXIT_GOOD);
}

/* ---- the options ----------------------------------------------------------------------------- */

/* Which options were given, as far as others exclude them. */
enum {
    LOWER = 1,
    UPPER = 2,
    FACTOR = 4,
    PIVOT = 8,    /* other than "fail" */
    REFINED = 16, /* at least one step */
    COND = 32,
    DET = 64,
    PLAN_FILE = 128, /* is saved or loaded */
    MEASURE = 256,
    SOLVER = 512,
    WISDOM = 1024,
    KRYLOV = 2048,
    STEPS = 4096,
    DEVICE = 8192
};

#define AT(member)    offsetof(arguments, member)
#define NUMBERS(a, b) .least = a, .most = b

/* clang-format off */
static const option_row rows[] = {
    {"lower", 0, NO_TEXT, take_bits, .member = AT(kind), .bits = LOWER, .value = TRS_LOWER},
    {"upper", 0, NO_TEXT, take_bits, .member = AT(kind), .bits = UPPER, .value = TRS_UPPER},
    {"unit", 0, NO_TEXT, take_bits, .member = AT(kind), .value = TRS_UNIT},
    {"trans", 0, NO_TEXT, take_op, .value = TRS_T},
    {"conj-trans", 0, NO_TEXT, take_op, .value = TRS_H},
    {"factor", 0, MAY_TEXT, take_factor, .bits = FACTOR},
    {"ordering", 0, TEXT, take_text, .member = AT(ordering)},
    {"krylov", 0, TEXT, take_krylov, .bits = KRYLOV, .what = "--krylov is cg, gmres or bicgstab, not"},
    {"steps", 0, TEXT, take_whole, .member = AT(steps), .bits = STEPS, NUMBERS(1, 1e6)},
    {"perturb", 0, TEXT, take_positive, .member = AT(perturb), NUMBERS(0, 1e9)},
    {"device", 0, TEXT, take_device, .bits = DEVICE, .what = "--device is cpu, cuda or cuda:K, not"},
    {"rtol", 0, TEXT, take_positive, .member = AT(rtol), NUMBERS(0, 1e9)},
    {"maxit", 0, TEXT, take_whole, .member = AT(maxit), NUMBERS(1, 1e8)},
    {"restart", 0, TEXT, take_whole, .member = AT(restart), NUMBERS(1, 1e5)},
    {"ilu-ordering", 0, TEXT, take_ilu_ordering, .what = "--ilu-ordering is natural, rcm or multicolour, not"},
    {"precision", 0, TEXT, take_precision, .what = "--precision is double or single, not"},
    {"solver", 0, TEXT, take_text, .member = AT(solver), .bits = SOLVER},
    {"measure", 0, NO_TEXT, take_flag, .member = AT(measure), .bits = MEASURE},
    {"wisdom", 0, MAY_TEXT, take_wisdom, .bits = WISDOM},
    {"no-calibrate", 0, NO_TEXT, take_flag, .member = AT(no_calibrate)},
    {"threads", 0, TEXT, take_whole, .member = AT(threads), NUMBERS(1, 1e9)},
    {"low-memory", 0, NO_TEXT, take_flag, .member = AT(low_memory)},
    {"memory", 0, TEXT, take_gib, .member = AT(memory), NUMBERS(0, 1e9)},
    {"repeat", 0, TEXT, take_whole, .member = AT(repeat), NUMBERS(1, 1e9)},
    {"refine", 0, TEXT, take_whole, .member = AT(refine), NUMBERS(0, 1e9),
     .what = "--refine is not a number"},
    {"cond", 0, NO_TEXT, take_flag, .member = AT(cond), .bits = COND},
    {"det", 0, NO_TEXT, take_flag, .member = AT(det), .bits = DET},
    {"tolerance", 0, TEXT, take_positive, .member = AT(tolerance), NUMBERS(0, 1e9)},
    {"pivot", 0, TEXT, take_pivots, .what = "--pivot is fail, skip or a number, not"},
    {"bitwise", 0, NO_TEXT, take_flag, .member = AT(bitwise)},
    {"save-plan", 0, TEXT, take_text, .member = AT(save_plan), .bits = PLAN_FILE},
    {"load-plan", 0, TEXT, take_text, .member = AT(load_plan), .bits = PLAN_FILE},
    {"output", 'o', TEXT, take_text, .member = AT(output)},
    {"json", 0, NO_TEXT, take_flag, .member = AT(json)},
    {"quiet", 'q', NO_TEXT, take_flag, .member = AT(quiet)},
    {"list-solvers", 0, NO_TEXT, leave_list, .what = NULL},
    {"help", 'h', NO_TEXT, leave_help, .what = NULL},
    {"version", 'V', NO_TEXT, leave_version, .what = NULL},
    {.what = "unknown option"},
};
/* clang-format on */

static const exclusion exclusions[] = {
    {LOWER, UPPER, "--lower and --upper exclude each other"},
    {FACTOR, LOWER | UPPER, "--factor takes the whole matrix"},
    {FACTOR, PIVOT, "--pivot is for triangles"},
    {PIVOT, REFINED | COND | DET,
     "--pivot excludes --refine, --cond and --det: another matrix is solved"},
    {FACTOR, PLAN_FILE, "--save-plan and --load-plan are for triangles"},
    {MEASURE, SOLVER, "--measure and --solver exclude each other"},
    {WISDOM, SOLVER | PLAN_FILE,
     "--wisdom is for the choice of a solver: no --solver, no plan in a file"},
    {KRYLOV, REFINED | COND | LOWER | UPPER | PIVOT,
     "--krylov excludes --refine, --cond, --pivot, --lower and --upper"},
    {STEPS | DEVICE, LOWER | UPPER | PIVOT,
     "--steps and --device are for factors, not for triangles"},
    {0, 0, NULL},
};

bool is_incomplete(const char *method)
{
    if (!method) return false;
    const char *level = !strncmp(method, "ilu", 3) ? method + 3 : method + 2;
    return (!strncmp(method, "ilu", 3) || !strncmp(method, "ic", 2)) && *level >= '0' &&
           *level <= '9' && !level[1];
}

/* What the options mean together. */
static void complete(arguments *a, unsigned given)
{
    if (given & (KRYLOV | STEPS | DEVICE)) a->factor = true;
    if (a->krylov && !a->method) a->method = strcmp(a->krylov, "cg") ? "ilu0" : "ic0";
    if (is_incomplete(a->method)) a->level = a->method[strlen(a->method) - 1] - '0';
}

void parse_arguments(int argc, char **argv, arguments *a)
{
    *a = (arguments){
        .repeat = 1, .refine = -1, .rtol = 1e-8, .maxit = 1000, .restart = 30, .perturb = 0.01};
    unsigned given = take_options(argc, argv, rows, a);
    if (optind >= argc) wrong("no matrix was named", NULL);
    if (argc - optind > 2) wrong("more than a matrix and a right-hand side", argv[optind + 2]);
    a->matrix = argv[optind];
    a->rhs = argv[optind + 1];
    if (a->pivot) given |= PIVOT;
    if (a->refine > 0) given |= REFINED;
    check_exclusions(given, exclusions);
    complete(a, given);
    if (a->det && is_incomplete(a->method)) wrong("--det wants complete factors, not", a->method);
}
