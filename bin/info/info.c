/* info.c: trisolve-info FILE...: what a matrix is, and how many levels its triangles have. */
#include "config.h"

#include "info.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

const char program_name[] = "trisolve-info";

static const char help[] =
    "Usage: trisolve-info [OPTION]... FILE...\n"
    "Say what a matrix is: sizes, entries, sums, which triangle, and the levels of its triangles.\n"
    "\n"
    "FILE is Matrix Market, Rutherford-Boeing or Harwell-Boeing, perhaps packed (.gz, .xz, .zst,\n"
    ".bz2, .tar.gz), or .trs as trisolve-gen writes; - means standard input, Matrix Market only.\n"
    "\n"
    "      --json             as JSON: an object, for several files an array of them\n"
    "      --plot=FILE.svg    draw the width of every level by gnuplot; for one file\n"
    "      --rhs              of a .tar.gz, the right-hand side instead of the matrix\n"
    "      --threads=N        to read with\n"
    "      --low-memory       with little more memory than the matrix takes\n"
    "      --memory=GIB       limit of the arrays and of unpacked text (default: three quarters\n"
    "                         of the machine's memory)\n"
    "  -h, --help             this text; then leave\n"
    "  -V, --version          the version; then leave\n"
    "\n"
    "Exit status: 0 good; 1 wrong use, or a file that cannot be read or understood (the others\n"
    "are reported all the same).\n";

enum { JSON = 256, PLOT, RHS, THREADS, LOW_MEMORY, MEMORY };

static const struct option options[] = {
    {"json", no_argument, NULL, JSON},
    {"plot", required_argument, NULL, PLOT},
    {"rhs", no_argument, NULL, RHS},
    {"threads", required_argument, NULL, THREADS},
    {"low-memory", no_argument, NULL, LOW_MEMORY},
    {"memory", required_argument, NULL, MEMORY},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* ---- the command line ------------------------------------------------------------------------ */

static double number(const char *text, double most, const char *what)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0 && v <= most)) wrong(what, text);
    return v;
}

static void take(int c, const char *value, arguments *a)
{
    switch (c) {
    case JSON:
        a->json = true;
        break;
    case PLOT:
        a->plot = value;
        break;
    case RHS:
        a->rhs = true;
        break;
    case THREADS:
        a->threads = (int)number(value, 100000, "--threads is not a positive number");
        if (a->threads < 1) wrong("--threads is not a positive number", value);
        break;
    case LOW_MEMORY:
        a->low_memory = true;
        break;
    case MEMORY:
        a->memory = (int64_t)(number(value, 0x1p32, "--memory is not a positive number") * 0x1p30);
        break;
    case 'h':
        fputs(help, stdout);
        exit(EXIT_GOOD);
    case 'V':
        printf("trisolve-info %s\n", trs_version());
        exit(EXIT_GOOD);
    default:
        wrong("unknown option", NULL);
    }
}

static void parse_arguments(int argc, char **argv, arguments *a)
{
    int c;
    *a = (arguments){0};
    while ((c = getopt_long(argc, argv, "hV", options, NULL)) != -1) take(c, optarg, a);
    a->files = argv + optind;
    a->count = argc - optind;
    if (a->count < 1) wrong("no matrix was named", NULL);
    if (a->plot && a->count > 1) wrong("--plot is for one file", NULL);
}

/* ---- running --------------------------------------------------------------------------------- */

static int run(const arguments *a, facts *f)
{
    int code = EXIT_GOOD;
    for (int k = 0; k < a->count; k++) {
        int one = facts_read(a, a->files[k], &f[k]);
        if (one) code = one;
        else if (!a->json) printf(k ? "\n" : ""), print_text(&f[k]);
    }
    if (a->json && !(code && a->count == 1)) {
        int printed = print_json(f, a->count);
        if (printed) code = printed;
    }
    if (a->plot && !code) code = plot_widths(a->plot, f);
    return code;
}

int main(int argc, char **argv)
{
    arguments a;
    parse_arguments(argc, argv, &a);
    facts *f = calloc((size_t)a.count, sizeof *f);
    int code = f ? run(&a, f) : out_of_memory();
    for (int k = 0; f && k < a.count; k++) facts_free(&f[k]);
    free(f);
    if (fflush(stdout)) complain("cannot write to standard output"), code = EXIT_USAGE;
    return code;
}
