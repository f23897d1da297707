/* bench_made.c: matrices that no Matrix Market file holds: KIND:SIZE, made on the spot, and the
 * binary files of trisolve-gen. */
#include "config.h"

#include "bench.h"
#include "problems.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* KIND:SIZE, and no file of that name. */
static bool is_kind(const char *name)
{
    struct stat st;
    const char *colon = strchr(name, ':');
    return colon && colon > name && colon[1] && !strchr(name, '/') && stat(name, &st) != 0;
}

bool is_made(const char *name)
{
    return is_kind(name) || binary_is(name);
}

static int make_kind(const char *name, trs_mm *mm)
{
    static const problem_options defaults = {0};
    char kind[64], *end;
    const char *colon = strchr(name, ':');
    snprintf(kind, sizeof kind, "%.*s", (int)(colon - name), name);
    long long size = strtoll(colon + 1, &end, 10);
    if (!*end) return problem_make(kind, size, &defaults, mm);
    memset(mm, 0, sizeof *mm);
    snprintf(mm->message, sizeof mm->message, "%.200s: the size is not a number", name);
    return TRS_EARG;
}

/* mm is always set, and mm->message after an error. */
int make_matrix(const char *name, trs_mm *mm)
{
    return is_kind(name) ? make_kind(name, mm) : binary_read(name, 1, mm);
}
