/* gen.c: trisolve-gen KIND SIZE: writes a test triangle. */
#include "config.h"

#include "base/nearest.h"
#include "bin/common/binary.h"
#include "bin/common/message.h"
#include "bin/common/options.h"
#include "bin/common/problems/problems.h"
#include "bin/common/sentence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "trisolve-gen";

typedef struct arguments {
    const char *kind, *output;
    int64_t size;
    bool binary;
    problem_options opt;
} arguments;

/* ---- the command line ------------------------------------------------------------------------ */

static void print_help(void)
{
    puts("Usage: trisolve-gen KIND SIZE [OPTION]...\n"
         "Write a lower triangular test matrix to standard output.  The same seed gives\n"
         "the same matrix.\n\n"
         "Kinds:");
    for (int k = 0; problem_kind_at(k); k++) {
        const problem_kind *p = problem_kind_at(k);
        printf("  %-8s %-2s  %s\n", p->name, p->size, p->about);
    }
    puts("\nOptions:\n"
         "  -o, --output=FILE    write to FILE, which appears complete or not at all\n"
         "      --binary         write the binary format that the other programs read\n"
         "                       too, fast at any size (default if FILE ends in .trs)\n"
         "      --seed=N         seed of the random numbers (default 0)\n"
         "      --degree=N --dof=N --edges=N --entries=N --reach=N\n"
         "                       options of single kinds, see above; 1 or more\n"
         "  -h, --help           print this help and exit\n"
         "  -V, --version        print the version and exit\n\n"
         "Exit status:\n"
         "  0  the matrix was written\n"
         "  1  wrong use, not enough memory, or the file cannot be written");
    print_address();
}

static int64_t number(const char *text)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || v < 0) wrong("not a number", text);
    if (errno) wrong("number too large", text);
    return v;
}

static int64_t *place(const option_row *row, arguments *a)
{
    return (int64_t *)((char *)a + row->member);
}

static void take_seed(const option_row *row, const char *text, void *user)
{
    (void)row;
    ((arguments *)user)->opt.seed = (uint64_t)number(text);
}

/* Takes an option that only some kinds heed; 0 stands for one that was not given. */
static void take_count(const option_row *row, const char *text, void *user)
{
    *place(row, user) = number(text);
    if (*place(row, user) == 0) wrong("options of a kind need a number of 1 or more", NULL);
}

static void leave_help(const option_row *row, const char *text, void *user)
{
    (void)row, (void)text, (void)user;
    print_help();
    exit(flush_output(EXIT_GOOD));
}

#define AT(name) .member = offsetof(arguments, name)

static const option_row rows[] = {
    {"output", 'o', TEXT, take_text, AT(output)},
    {"seed", 0, TEXT, take_seed, AT(opt.seed)},
    {"degree", 0, TEXT, take_count, AT(opt.degree)},
    {"dof", 0, TEXT, take_count, AT(opt.dof)},
    {"edges", 0, TEXT, take_count, AT(opt.edges)},
    {"entries", 0, TEXT, take_count, AT(opt.entries)},
    {"reach", 0, TEXT, take_count, AT(opt.reach)},
    {"binary", 0, NO_TEXT, take_flag, AT(binary)},
    {"help", 'h', NO_TEXT, leave_help, .what = NULL},
    {"version", 'V', NO_TEXT, leave_version, .what = NULL},
    {.what = "unknown option, or an option without its value"},
};

/* The next row, from this one on, of an option of kinds that was given; NULL: there is none. */
static const option_row *next_given(const option_row *row, arguments *a)
{
    while (row->name && (row->take != take_count || !*place(row, a))) row++;
    return row->name ? row : NULL;
}

/* Leaves when the kind does not heed an option that was given. */
static void check_options(arguments *a)
{
    const problem_kind *kind = problem_kind_at(0);
    const char *best = NULL;
    for (int k = 1; kind && strcmp(kind->name, a->kind); k++) {
        trs_nearer(a->kind, kind->name, &best);
        kind = problem_kind_at(k);
    }
    if (!kind) wrong_word("unknown kind", a->kind, best);
    for (const option_row *o = rows; (o = next_given(o, a)); o++)
        if (!strstr(kind->options, o->name)) {
            complain("%s has no option --%s", a->kind, o->name);
            exit(EXIT_USAGE);
        }
}

static bool ends_in_trs(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".trs");
}

static void parse(int argc, char **argv, arguments *a)
{
    *a = (arguments){.output = "-"};
    take_options(argc, argv, rows, a);
    if (argc - optind != 2) wrong("expected a kind and a size", NULL);
    a->kind = argv[optind];
    a->size = number(argv[optind + 1]);
    check_options(a);
    if (a->binary && !strcmp(a->output, "-")) wrong("--binary needs --output", NULL);
    if (ends_in_trs(a->output)) a->binary = true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Writes the command that makes the same file again. */
static void describe(arguments *a, char *text, size_t size)
{
    int n = snprintf(text, size, "trisolve-gen %s %" PRId64 " --seed=%" PRIu64, a->kind, a->size,
                     a->opt.seed);
    for (const option_row *o = rows; (o = next_given(o, a)) && n > 0 && (size_t)n < size; o++)
        n += snprintf(text + n, size - (size_t)n, " --%s=%" PRId64, o->name, *place(o, a));
}

static int write_matrix(arguments *a, const trs_mm *mm)
{
    char comment[300];
    trs_mat A;
    int rc = trs_mm_mat(mm, TRS_LOWER, &A);
    describe(a, comment, sizeof comment);
    if (!rc && a->binary) rc = binary_write(a->output, mm);
    else if (!rc) rc = trs_mm_write(a->output, &A, A.n, A.n, TRS_GENERAL, comment);
    if (rc) complain("%s", a->binary ? said() : trs_message());
    return rc;
}

int main(int argc, char **argv)
{
    arguments a;
    trs_mm mm;
    open_standard_streams();
    parse(argc, argv, &a);
    int rc = problem_make(a.kind, a.size, &a.opt, &mm);
    if (rc) complain("%s", said());
    else rc = write_matrix(&a, &mm);
    trs_mm_free(&mm);
    return rc ? EXIT_USAGE : EXIT_GOOD;
}
