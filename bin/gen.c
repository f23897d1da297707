/* gen.c: trisolve-gen KIND SIZE: write a test triangle. */
#include "config.h"

#include "problems.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
         "size\n"
         "      --seed=N         of the random numbers (0)\n"
         "      --degree=N --dof=N --edges=N --entries=N --reach=N   as the kinds say\n"
         "  -h, --help           this text; then leave\n"
         "  -V, --version        the version; then leave\n\n"
         "Exit status: 0 written; 1 wrong use, not enough memory, or a file that cannot be "
         "written.");
}

static void wrong(const char *what, const char *value)
{
    fprintf(stderr, "trisolve-gen: %s%s%s\nTry 'trisolve-gen --help'.\n", what, value ? ": " : "",
            value ? value : "");
    exit(1);
}

static int64_t number(const char *text)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || v < 0) wrong("not a number", text);
    return v;
}

typedef struct arguments {
    const char *kind, *output;
    int64_t size;
    bool binary;
    problem_options opt;
} arguments;

static void parse(int argc, char **argv, arguments *a)
{
    int c;
    *a = (arguments){.output = "-"};
    while ((c = getopt_long(argc, argv, "o:hV", options, NULL)) != -1) switch (c) {
        case 'o':
            a->output = optarg;
            break;
        case BINARY:
            a->binary = true;
            break;
        case SEED:
            a->opt.seed = (uint64_t)number(optarg);
            break;
        case DEGREE:
            a->opt.degree = number(optarg);
            break;
        case DOF:
            a->opt.dof = number(optarg);
            break;
        case EDGES:
            a->opt.edges = number(optarg);
            break;
        case ENTRIES:
            a->opt.entries = number(optarg);
            break;
        case REACH:
            a->opt.reach = number(optarg);
            break;
        case 'h':
            print_help();
            exit(0);
        case 'V':
            printf("trisolve-gen %s\n", trs_version());
            exit(0);
        default:
            wrong("unknown option", NULL);
        }
    if (argc - optind != 2) wrong("a kind and a size are needed", NULL);
    a->kind = argv[optind];
    a->size = number(argv[optind + 1]);
    if (a->binary && !strcmp(a->output, "-")) wrong("--binary wants --output", NULL);
}

static int write_matrix(const arguments *a, const trs_mm *mm)
{
    char message[400] = "", comment[200];
    trs_mat A;
    int rc = trs_mm_mat(mm, TRS_LOWER, &A);
    snprintf(comment, sizeof comment, "trisolve-gen %s %lld --seed=%llu", a->kind,
             (long long)a->size, (unsigned long long)a->opt.seed);
    if (!rc && a->binary) rc = binary_write(a->output, mm, message, sizeof message);
    else if (!rc)
        rc = trs_mm_write(a->output, &A, A.n, A.n, TRS_GENERAL, comment, message, sizeof message);
    if (rc) fprintf(stderr, "trisolve-gen: %s\n", message);
    return rc;
}

int main(int argc, char **argv)
{
    arguments a;
    trs_mm mm;
    parse(argc, argv, &a);
    int rc = problem_make(a.kind, a.size, &a.opt, &mm);
    if (rc) fprintf(stderr, "trisolve-gen: %s\n", mm.message);
    else rc = write_matrix(&a, &mm);
    trs_mm_free(&mm);
    return rc != TRS_OK;
}
