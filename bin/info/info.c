/* info.c: trisolve-info FILE...: what a matrix is, and how many levels its triangles have. */
#include "config.h"

#include "info.h"

#include "bin/common/options.h"

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
    "      --plot=FILE.svg    draw the width of every level; for one file; needs python3\n"
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

/* ---- the command line ------------------------------------------------------------------------ */

/* A whole number is wanted, which may be written as 1e3. */
static void take_threads(const option_row *row, const char *text, void *user)
{
    const int threads = (int)positive_number(row, text);
    if (threads < 1) wrong(row->what, text);
    ((arguments *)user)->threads = threads;
}

#define AT(name) .member = offsetof(arguments, name)

/* clang-format off */
static const option_row rows[] = {
    {"json", 0, NO_TEXT, take_flag, AT(json)},
    {"plot", 0, TEXT, take_text, AT(plot)},
    {"rhs", 0, NO_TEXT, take_flag, AT(rhs)},
    {"threads", 0, TEXT, take_threads, .most = 100001, .what = "--threads is not a positive number"},
    {"low-memory", 0, NO_TEXT, take_flag, AT(low_memory)},
    {"memory", 0, TEXT, take_gib, AT(memory), .most = 0x1.0000000000001p32,
     .what = "--memory is not a positive number"},
    {"help", 'h', NO_TEXT, leave_with_text, .what = help},
    {"version", 'V', NO_TEXT, leave_version, .what = NULL},
    {.what = "unknown option"},
};
/* clang-format on */

static void parse_arguments(int argc, char **argv, arguments *a)
{
    *a = (arguments){0};
    take_options(argc, argv, rows, a);
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
