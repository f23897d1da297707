/* args.c: the command line of trisolve-sparse, and its help. */
#include "config.h"

#include "args.h"
#include "exits.h"
#include "report.h"

#include "base/nearest.h"
#include "bin/common/message.h"
#include "bin/common/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: trisolve-sparse [OPTION]... MATRIX [RHS]\n"
    "Solve A x = b with the sparse matrix A of the Matrix Market file MATRIX.\n"
    "\n"
    "A triangle is solved directly, even if its rows and columns were permuted.  Any\n"
    "other square matrix is factored first.\n"
    "\n"
    "RHS contains one or more right-hand sides, as an array or coordinate file.\n"
    "Without RHS, the one in the same .tar.gz as the matrix is used (NAME_b.mtx or\n"
    "NAME_rhs.mtx).  If there is none, b = A * ones, which shows the error of x.\n"
    "A file named - is standard input.\n"
    "\n"
    "What to solve:\n"
    "      --lower, --upper   solve with this triangle of MATRIX, ignore the rest\n"
    "      --unit             the diagonal is 1, whatever is stored\n"
    "      --trans            solve with the transpose\n"
    "      --conj-trans       solve with the conjugate transpose\n"
    "      --factor[=METHOD]  factor, even a triangle; METHOD is auto, cholmod, klu,\n"
    "                         umfpack, static, ldlt; or ilu0 to ilu9, ic0 to ic9\n"
    "                         for incomplete factors M near A with this level of\n"
    "                         fill, or ilut, ict with entries that are not small,\n"
    "                         or dilu, jacobi with the diagonal (blocks) alone;\n"
    "                         they solve M x = b, then refine or start a Krylov\n"
    "                         method\n"
    "      --block=B          block size of ilu0, ic0, dilu and jacobi; 1: numbers\n"
    "                         (default: that of the matrix)\n"
    "      --sweeps=K         solve with incomplete factors by K Jacobi sweeps each, which\n"
    "                         approximate it\n"
    "      --ordering=NAME    ordering of complete factors: amd, colamd, metis,\n"
    "                         nesdis, natural, best\n"
    "      --krylov=METHOD    cg, minres, gmres, fgmres or bicgstab, preconditioned by\n"
    "                         the factors (default: ic0 for cg and minres, else ilu0)\n"
    "      --ilu-ordering=O   ordering of incomplete factors: natural (default), rcm,\n"
    "                         multicolour\n"
    "      --drop-tol=T       ilut and ict drop entries smaller than T times the norm\n"
    "                         of their row or column (default 1e-4)\n"
    "      --fill=F           entries of incomplete factors at most, in multiples of\n"
    "                         those of A (default: ilut and ict 10, others 100)\n"
    "      --steps=N          after the solve, do N steps: new values, update of the\n"
    "                         factors, solve\n"
    "      --perturb=E        each step multiplies each value by 1 + E u, u random in\n"
    "                         [-1, 1] (default 0.01)\n"
    "      --precision=P      double (default) or single\n"
    "      --pivot=P          for a pivot that is zero, missing or not finite: fail\n"
    "                         (default), skip (leave out the row, x = 0 there), or a\n"
    "                         replacement value\n"
    "How to solve:\n"
    "      --device=D         device of the matrix and vectors, with factors: cpu\n"
    "                         (default), cuda, cuda:K\n"
    "      --solver=NAME      a solver of --list-solvers (default: predicted fastest)\n"
    "      --measure          measure the solvers predicted fastest, use the fastest\n"
    "      --wisdom[=FILE]    choose the solver by earlier measurements in FILE\n"
    "                         (default: in the user's cache); with --measure, add to\n"
    "                         FILE\n"
    "      --no-calibrate     do not measure the costs of this CPU, which takes a\n"
    "                         quarter of a second in the first run with --repeat\n"
    "      --bitwise          only solvers that give the same bits every time\n"
    "      --threads=N        threads of CPU solvers\n"
    "      --low-memory       read with little more memory than the matrix takes\n"
    "      --memory=GIB       limit for the arrays of a file and its unpacked text\n"
    "                         (default: three quarters of the machine's memory)\n"
    "      --save-plan=FILE   save the analysis of the triangle to FILE\n"
    "      --load-plan=FILE   load it from FILE; the pattern must be the same\n"
    "      --repeat=N         solve once to warm up, then N times; report minimum,\n"
    "                         median and maximum\n"
    "Accuracy:\n"
    "      --refine=N         at most N steps of iterative refinement (default: 3\n"
    "                         with factors, else 0); with --precision=single, b, x\n"
    "                         and residuals are double (incomplete factors: single)\n"
    "      --tolerance=T      largest backward error that counts as solved (default\n"
    "                         1e-10, with --precision=single 1e-4)\n"
    "      --rtol=R           tolerance of a Krylov method for |b - A x| / |b|\n"
    "                         (default 1e-8)\n"
    "      --maxit=N          maximum number of iterations (default 1000)\n"
    "      --restart=N        vectors of gmres before a restart (default 30)\n"
    "      --cond             estimate the condition in the 1-norm\n"
    "      --det              show the determinant of the matrix or triangle\n"
    "Output:\n"
    "  -o, --output=FILE      write x as a Matrix Market array; - is standard output\n"
    "      --json             print the report as JSON\n"
    "  -q, --quiet            print no report\n"
    "      --list-solvers     list the solvers and exit\n"
    "  -h, --help             print this help and exit\n"
    "  -V, --version          print the version and exit\n";

/* ---- what single options mean ---------------------------------------------------------------- */

static void take_op(const option_row *row, const char *text, void *user)
{
    (void)text;
    ((arguments *)user)->op = (trs_op)row->value;
}

bool is_incomplete(const char *method)
{
    if (!method) return false;
    if (!strcmp(method, "dilu") || !strcmp(method, "jacobi")) return true;
    const char *level = !strncmp(method, "ilu", 3) ? method + 3 : method + 2;
    return (!strncmp(method, "ilu", 3) || !strncmp(method, "ic", 2)) &&
           ((*level >= '0' && *level <= '9') || *level == 't') && !level[1];
}

static void take_factor(const option_row *row, const char *text, void *user)
{
    static const char *const method[] = {"auto", "cholmod", "klu", "umfpack", "static",
                                         "ldlt", "ilu0",    "ic0", "ilut",    "ict",
                                         "dilu", "jacobi",  NULL};
    arguments *a = user;
    if (text && !is_incomplete(text)) word_of(row, text, method);
    a->factor = true;
    a->method = text && strcmp(text, "auto") ? text : NULL;
}

static void take_ordering(const option_row *row, const char *text, void *user)
{
    static const char *const name[] = {"amd", "colamd", "metis", "nesdis", "natural", "best", NULL};
    word_of(row, text, name);
    ((arguments *)user)->ordering = text;
}

static void take_solver(const option_row *row, const char *text, void *user)
{
    trs_solver_info s;
    const char *best = NULL;
    bool known = false;
    for (int k = 0; trs_solver_get(k, &s) == TRS_OK && !known; k++) {
        known = !strcmp(s.name, text);
        trs_nearer(text, s.name, &best);
    }
    if (!known) wrong_word(row->what, text, best);
    ((arguments *)user)->solver = text;
}

const char *const krylov_methods[] = {
    [TRS_CG] = "cg",       [TRS_MINRES] = "minres", [TRS_BICGSTAB] = "bicgstab",
    [TRS_GMRES] = "gmres", [TRS_FGMRES] = "fgmres", NULL};

static void take_krylov(const option_row *row, const char *text, void *user)
{
    word_of(row, text, krylov_methods);
    ((arguments *)user)->krylov = text;
}

static void take_ilu_ordering(const option_row *row, const char *text, void *user)
{
    static const char *const name[] = {"natural", "rcm", "multicolour", NULL};
    ((arguments *)user)->ilu_ordering = (trs_ilu_ordering)word_of(row, text, name);
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
    static const char *const name[] = {"double", "f64", "single", "f32", NULL};
    a->single = word_of(row, text, name) >= 2;
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
    list_solvers();
    exit(flush_output(EXIT_GOOD));
}

static void leave_help(const option_row *row, const char *text, void *user)
{
    (void)row, (void)text, (void)user;
    fputs(help, stdout);
    fputs("\nExit status:\n", stdout);
    for (int k = 0; exit_about(k); k++) printf("  %d  %s\n", k, exit_about(k));
    printf("  %d  %s\n", EXIT_INTERRUPTED, exit_about(EXIT_INTERRUPTED));
    print_address();
    exit(flush_output(EXIT_GOOD));
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
    DEVICE = 8192,
    DROP_TOL = 16384,
    FILL = 32768,
    BLOCK = 65536,
    SWEEPS = 131072
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
    {"factor", 0, MAY_TEXT, take_factor, .bits = FACTOR,
     .what = "--factor needs auto, cholmod, klu, umfpack, static, ldlt, ilu0 to ilu9, ic0 to ic9, ilut, ict, dilu or jacobi, but got"},
    {"ordering", 0, TEXT, take_ordering,
     .what = "--ordering needs amd, colamd, metis, nesdis, natural or best, but got"},
    {"krylov", 0, TEXT, take_krylov, .bits = KRYLOV,
     .what = "--krylov needs cg, minres, gmres, fgmres or bicgstab, but got"},
    {"steps", 0, TEXT, take_whole, .member = AT(steps), .bits = STEPS, NUMBERS(1, 1e6)},
    {"perturb", 0, TEXT, take_positive, .member = AT(perturb), NUMBERS(0, 1e9)},
    {"device", 0, TEXT, take_device, .bits = DEVICE,
     .what = "--device needs cpu, cuda or cuda:K, but got"},
    {"rtol", 0, TEXT, take_positive, .member = AT(rtol), NUMBERS(0, 1e9)},
    {"maxit", 0, TEXT, take_whole, .member = AT(maxit), NUMBERS(1, 1e8)},
    {"restart", 0, TEXT, take_whole, .member = AT(restart), NUMBERS(1, 1e5)},
    {"ilu-ordering", 0, TEXT, take_ilu_ordering,
     .what = "--ilu-ordering needs natural, rcm or multicolour, but got"},
    {"drop-tol", 0, TEXT, take_positive, .member = AT(drop_tol), .bits = DROP_TOL, NUMBERS(0, 1e9)},
    {"block", 0, TEXT, take_whole, .member = AT(block), .bits = BLOCK, NUMBERS(1, 8)},
    {"sweeps", 0, TEXT, take_whole, .member = AT(sweeps), .bits = SWEEPS, NUMBERS(1, 1e6)},
    {"fill", 0, TEXT, take_positive, .member = AT(fill), .bits = FILL, NUMBERS(0, 1e18)},
    {"precision", 0, TEXT, take_precision, .what = "--precision needs double or single, but got"},
    {"solver", 0, TEXT, take_solver, .bits = SOLVER,
     .what = "no such solver in this build (--list-solvers lists them)"},
    {"measure", 0, NO_TEXT, take_flag, .member = AT(measure), .bits = MEASURE},
    {"wisdom", 0, MAY_TEXT, take_wisdom, .bits = WISDOM},
    {"no-calibrate", 0, NO_TEXT, take_flag, .member = AT(no_calibrate)},
    {"threads", 0, TEXT, take_whole, .member = AT(threads), NUMBERS(1, 1e9)},
    {"low-memory", 0, NO_TEXT, take_flag, .member = AT(low_memory)},
    {"memory", 0, TEXT, take_gib, .member = AT(memory), NUMBERS(0, 1e9)},
    {"repeat", 0, TEXT, take_whole, .member = AT(repeat), NUMBERS(1, 1e9)},
    {"refine", 0, TEXT, take_whole, .member = AT(refine), NUMBERS(0, 1e9),
     .what = "--refine needs a number of steps, 0 or more, but got"},
    {"cond", 0, NO_TEXT, take_flag, .member = AT(cond), .bits = COND},
    {"det", 0, NO_TEXT, take_flag, .member = AT(det), .bits = DET},
    {"tolerance", 0, TEXT, take_positive, .member = AT(tolerance), NUMBERS(0, 1e9)},
    {"pivot", 0, TEXT, take_pivots, .what = "--pivot needs fail, skip or a number, but got"},
    {"bitwise", 0, NO_TEXT, take_flag, .member = AT(bitwise)},
    {"save-plan", 0, TEXT, take_text, .member = AT(save_plan), .bits = PLAN_FILE},
    {"load-plan", 0, TEXT, take_text, .member = AT(load_plan), .bits = PLAN_FILE},
    {"output", 'o', TEXT, take_text, .member = AT(output)},
    {"json", 0, NO_TEXT, take_flag, .member = AT(json)},
    {"quiet", 'q', NO_TEXT, take_flag, .member = AT(quiet)},
    {"list-solvers", 0, NO_TEXT, leave_list, .what = NULL},
    {"help", 'h', NO_TEXT, leave_help, .what = NULL},
    {"version", 'V', NO_TEXT, leave_version, .what = NULL},
    {.what = "unknown option, or an option without its value"},
};
/* clang-format on */

static const exclusion exclusions[] = {
    {LOWER, UPPER, "--lower and --upper exclude each other"},
    {FACTOR, LOWER | UPPER, "--factor excludes --lower and --upper: it uses the whole matrix"},
    {FACTOR, PIVOT, "--pivot is only for triangles"},
    {PIVOT, REFINED | COND | DET,
     "--pivot excludes --refine, --cond and --det: it solves with another matrix"},
    {FACTOR, PLAN_FILE, "--save-plan and --load-plan are only for triangles"},
    {MEASURE, SOLVER, "--measure and --solver exclude each other"},
    {SWEEPS, SOLVER | MEASURE | WISDOM, "--sweeps excludes --solver, --measure and --wisdom"},
    {WISDOM, SOLVER | PLAN_FILE,
     "--wisdom excludes --solver, --save-plan and --load-plan: it chooses the solver"},
    {KRYLOV, REFINED | COND | LOWER | UPPER | PIVOT,
     "--krylov excludes --refine, --cond, --pivot, --lower and --upper"},
    {STEPS | DEVICE, LOWER | UPPER | PIVOT,
     "--steps and --device are only for factors, not for triangles"},
    {0, 0, NULL},
};

/* Options of incomplete factors alone. */
static void check_incomplete(const arguments *a, unsigned given)
{
    if (given & DROP_TOL && !a->drops) wrong("--drop-tol needs --factor=ilut or ict", NULL);
    if (is_incomplete(a->method)) return;
    if (given & FILL) wrong("--fill needs incomplete factors", NULL);
    if (given & BLOCK) wrong("--block needs incomplete factors", NULL);
    if (given & SWEEPS) wrong("--sweeps needs incomplete factors", NULL);
}

/* What the options mean together. */
static void complete(arguments *a, unsigned given)
{
    if (given & (KRYLOV | STEPS | DEVICE)) a->factor = true;
    if (a->krylov && !a->method) {
        const bool definite = !strcmp(a->krylov, "cg") || !strcmp(a->krylov, "minres");
        a->method = definite ? "ic0" : "ilu0";
    }
    const bool incomplete = is_incomplete(a->method);
    const char last = incomplete ? a->method[strlen(a->method) - 1] : 0;
    a->drops = last == 't';
    if (last >= '0' && last <= '9') a->level = last - '0';
    check_incomplete(a, given);
}

static bool is_standard_input(const char *file)
{
    return !strcmp(file, "-") || !strcmp(file, "/dev/stdin");
}

void parse_arguments(int argc, char **argv, arguments *a)
{
    *a = (arguments){.repeat = 1,
                     .refine = -1,
                     .rtol = 1e-8,
                     .maxit = 1000,
                     .restart = 30,
                     .perturb = 0.01,
                     .drop_tol = 1e-4};
    unsigned given = take_options(argc, argv, rows, a);
    if (optind >= argc) wrong("no matrix file given", NULL);
    if (argc - optind > 2)
        wrong("too many files; expected a matrix and a right-hand side", argv[optind + 2]);
    a->matrix = argv[optind];
    a->rhs = argv[optind + 1];
    if (a->rhs && is_standard_input(a->matrix) && is_standard_input(a->rhs))
        wrong("only one of matrix and right-hand side can be standard input", NULL);
    if (a->pivot) given |= PIVOT;
    if (a->refine > 0) given |= REFINED;
    check_exclusions(given, exclusions);
    complete(a, given);
    if (a->det && is_incomplete(a->method))
        wrong("--det needs complete factors, but got", a->method);
}
