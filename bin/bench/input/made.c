/* made.c: KIND:SIZE, which is made on the spot, and the binary files of trisolve-gen. */
#include "config.h"

#include "sources.h"

#include "bin/common/binary.h"
#include "bin/common/problems.h"

#include <string.h>
#include <sys/stat.h>

/* Is it KIND:SIZE, and no file of that name? */
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

int make_matrix(const char *name, trs_mm *mm)
{
    return is_kind(name) ? problem_named(name, mm) : binary_read(name, 1, mm);
}
