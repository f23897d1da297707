/* gen.c: trisolve-gen KIND SIZE: writes a test triangle. */
#include "config.h"

#include "bin/common/binary.h"
#include "bin/common/exits.h"
#include "bin/common/message.h"
#include "bin/common/problems.h"
#include "bin/common/sentence.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "trisolve-gen";

enum { SEED = 256, DEGREE, DOF, EDGES, ENTRIES, REACH, BINARY };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"seed", required_argument, NULL, SEED},
    {"degree", required_argument, NULL, DEGREE},
    {"dof", required_argument, NULL, DOF},
    {"edges", required_argument, NULL, EDGES},
    {"entries", required_argument, NULL, ENTRIES},
    {"reach", required_argument, NULL, REACH},
    {"binary", no_argument, NULL, BINARY},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("Usage: trisolve-gen KIND SIZE [OPTION]...\n"
         "Write a lower triangular test matrix, the same for the same seed, to standard output.\n\n"
         "Kinds:");
    for (int k = 0; problem_kind_at(k); k++) {
        const problem_kind *p = problem_kind_at(k);
        printf("  %-8s %-2s  %s\n", p->name, p->size, p->about);
    }
    puts("\nOptions:\n"
         "  -o, --output=FILE    write there; the file appears complete or not at all\n"
         "      --binary         in the binary form that the other programs read too, fast at any "
         "size;\n"
         "                       a FILE ending in .trs is written so without being asked\n"
         "      --seed=N         of the random numbers (0)\n"
         "      --degree=N --dof=N --edges=N --entries=N --reach=N   as the kinds say; 1 or more\n"
         "  -h, --help           this text; then leave\n"
         "  -V, --version        the version; then leave\n\n"
         "Exit status: 0 written; 1 wrong use, not enough memory, or a file that cannot be "
         "written.");
}

static int64_t number(const char *text)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || v < 0) wrong("not a number", text);
    if (errno) wrong("too large a number", text);
    return v;
}

typedef struct arguments {
    const char *kind, *output;
    int64_t size;
    bool binary;
    problem_options opt;
} arguments;

/* The place of option c, one that only some kinds heed; NULL: it is no such option. */
static int64_t *place(problem_options *o, int c)
{
    switch (c) {
    case DEGREE:
        return &o->degree;
    case DOF:
        return &o->dof;
    case EDGES:
        return &o->edges;
    case ENTRIES:
        return &o->entries;
    case REACH:
        return &o->reach;
    default:
        return NULL;
    }
}

static void parse_one(int c, arguments *a)
{
    int64_t *p = place(&a->opt, c);
    if (c == 'o') a->output = optarg;
    else if (c == BINARY) a->binary = true;
    else if (c == SEED) a->opt.seed = (uint64_t)number(optarg);
    else if (c == 'h') print_help(), exit(EXIT_GOOD);
    else if (c == 'V') printf("trisolve-gen %s\n", trs_version()), exit(EXIT_GOOD);
    else if (!p) wrong("unknown option, or one without its value", NULL);
    else if ((*p = number(optarg)) == 0) wrong("an option of a kind must be 1 or more", NULL);
}

/* Leaves when the kind does not heed an option that was given. */
static void check_options(arguments *a)
{
    const problem_kind *kind = problem_kind_at(0);
    for (int k = 1; kind && strcmp(kind->name, a->kind); k++) kind = problem_kind_at(k);
    if (!kind) wrong("no kind", a->kind);
    for (const struct option *o = options; o->name; o++) {
        const int64_t *p = place(&a->opt, o->val);
        if (p && *p && !strstr(kind->options, o->name)) {
            complain("%s does not take --%s", a->kind, o->name);
            exit(EXIT_USAGE);
        }
    }
}

static bool ends_in_trs(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".trs");
}

static void parse(int argc, char **argv, arguments *a)
{
    int c;
    *a = (arguments){.output = "-"};
    while ((c = getopt_long(argc, argv, "o:hV", options, NULL)) != -1) parse_one(c, a);
    if (argc - optind != 2) wrong("a kind and a size are needed", NULL);
    a->kind = argv[optind];
    a->size = number(argv[optind + 1]);
    check_options(a);
    if (a->binary && !strcmp(a->output, "-")) wrong("--binary wants --output", NULL);
    if (ends_in_trs(a->output)) a->binary = true;
}

/* Writes the command that makes the same file again. */
static void describe(const arguments *a, char *text, size_t size)
{
    problem_options o = a->opt;
    int n = snprintf(text, size, "trisolve-gen %s %" PRId64 " --seed=%" PRIu64, a->kind, a->size,
                     o.seed);
    for (const struct option *p = options; p->name; p++) {
        const int64_t *value = place(&o, p->val);
        if (value && *value && n > 0 && (size_t)n < size)
            n += snprintf(text + n, size - (size_t)n, " --%s=%" PRId64, p->name, *value);
    }
}

static int write_matrix(const arguments *a, const trs_mm *mm)
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
    parse(argc, argv, &a);
    int rc = problem_make(a.kind, a.size, &a.opt, &mm);
    if (rc) complain("%s", said());
    else rc = write_matrix(&a, &mm);
    trs_mm_free(&mm);
    return rc ? EXIT_USAGE : EXIT_GOOD;
}
