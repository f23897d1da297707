/* info.c: trisolve-info FILE...: what a matrix is, and how many levels its triangles have. */
#include "config.h"

#include "info.h"

#include "bin/common/options.h"
#include "bin/common/output/document.h"

#include <stdio.h>
#include <stdlib.h>

const char program_name[] = "trisolve-info";

static const char help[] =
    "Usage: trisolve-info [OPTION]... FILE...\n"
    "Describe a matrix: sizes, entries, sums, its shape, and the levels of its\n"
    "triangles.\n"
    "\n"
    "FILE is a Matrix Market, Rutherford-Boeing or Harwell-Boeing file, which may be\n"
    "packed (.gz, .xz, .zst, .bz2, .tar.gz), or a .trs file of trisolve-gen.\n"
    "A file named - is standard input, Matrix Market only.\n"
    "\n"
    "      --json             print JSON: an object, or an array for several files\n"
    "      --plot=FILE.svg    draw the rows of every level; for one file; needs python3\n"
    "      --spy=FILE.svg     draw the pattern, as it is and sorted by levels; for one\n"
    "                         file; needs python3\n"
    "      --rhs              from a .tar.gz, read the right-hand side instead\n"
    "      --threads=N        threads of the reader\n"
    "      --low-memory       read with little more memory than the matrix takes\n"
    "      --memory=GIB       limit for the arrays and for unpacked text (default:\n"
    "                         three quarters of the machine's memory)\n"
    "  -h, --help             print this help and exit\n"
    "  -V, --version          print the version and exit\n"
    "\n"
    "Exit status:\n"
    "  0  every file was read\n"
    "  1  wrong use, or a file cannot be read or understood (others are reported)\n";

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
    {"spy", 0, TEXT, take_text, AT(spy)},
    {"rhs", 0, NO_TEXT, take_flag, AT(rhs)},
    {"threads", 0, TEXT, take_threads, .most = 100001,
     .what = "--threads needs a positive number, but got"},
    {"low-memory", 0, NO_TEXT, take_flag, AT(low_memory)},
    {"memory", 0, TEXT, take_gib, AT(memory), .most = 0x1.0000000000001p32,
     .what = "--memory needs a positive number, but got"},
    {"help", 'h', NO_TEXT, leave_with_text, .what = help},
    {"version", 'V', NO_TEXT, leave_version, .what = NULL},
    {.what = "unknown option, or an option without its value"},
};
/* clang-format on */

static void parse_arguments(int argc, char **argv, arguments *a)
{
    *a = (arguments){0};
    take_options(argc, argv, rows, a);
    a->files = argv + optind;
    a->count = argc - optind;
    if (a->count < 1) wrong("no file given", NULL);
    if ((a->plot || a->spy) && a->count > 1) wrong("--plot and --spy support only one file", NULL);
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
    if (a->json) {
        int printed = print_json(f, a->count);
        if (printed) code = printed;
    }
    if (!code) code = plot(a, f);
    return code;
}

int main(int argc, char **argv)
{
    arguments a;
    open_standard_streams();
    document_for_wrong_use(argc, argv, "--json");
    parse_arguments(argc, argv, &a);
    facts *f = calloc((size_t)a.count, sizeof *f);
    int code = f ? run(&a, f) : out_of_memory();
    for (int k = 0; f && k < a.count; k++) facts_free(&f[k]);
    free(f);
    return flush_output(code);
}
