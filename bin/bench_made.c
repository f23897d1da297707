/* bench_made.c: matrices that no Matrix Market file holds: KIND:SIZE, made on the spot. */
#include "config.h"

#include "bench.h"

#include <string.h>
#include <sys/stat.h>

/* KIND:SIZE, and no file of that name. */
bool is_made(const char *name)
{
    struct stat st;
    const char *colon = strchr(name, ':');
    return colon && colon > name && colon[1] && !strchr(name, '/') && stat(name, &st) != 0;
}

int make_matrix(const char *name, trs_mm *mm)
{
    memset(mm, 0, sizeof *mm);
    snprintf(mm->message, sizeof mm->message, "%s: no such kind of matrix", name);
    return TRS_ESUPPORT;
}
