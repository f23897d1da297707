/* filter.c: --filter: which matrices are run.  A filter has terms between commas:
 *
 *     GLOB            the name, or what stands behind its last slash, matches this or another GLOB
 *     n OP NUMBER     the number of rows is so large; OP is < <= > >= or =
 *     nnz OP NUMBER   ... and the number of entries
 *     kind=GLOB       the kind of problem that the file states, its field or its symmetry matches
 *                     this or another GLOB
 *
 * All sizes must hold, one GLOB where there are some, and one kind where there are some. */
#include "config.h"

#include "filter.h"

#include "bin/common/files.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { LESS = 1, EQUAL = 2, MORE = 4 };

typedef struct term {
    char glob[256];
    enum { NAME, KIND, ROWS, ENTRIES } of;
    int holds; /* of ROWS and ENTRIES: when the number is LESS, EQUAL, MORE than: */
    double bound;
} term;

/* Reads "nnz<=1e6". */
static bool read_bound(term *t)
{
    static const char *const ops[] = {
        [LESS] = "<", [LESS | EQUAL] = "<=", [EQUAL] = "=", [MORE] = ">", [MORE | EQUAL] = ">="};
    char of[4], op[3];
    int end = 0;
    sscanf(t->glob, "%3[nz]%2[<>=]%lf%n", of, op, &t->bound, &end);
    if (!end || t->glob[end] || (strcmp(of, "n") && strcmp(of, "nnz"))) return false;
    t->of = of[1] ? ENTRIES : ROWS;
    for (int k = LESS; k <= (MORE | EQUAL); k++)
        if (ops[k] && !strcmp(op, ops[k])) t->holds = k;
    return t->holds != 0;
}

/* Takes the next term off the filter; false: there is none.  *valid: it can be understood. */
static bool next_term(const char **filter, term *t, bool *valid)
{
    const char *p = *filter;
    if (!p || !*p) return false;
    const size_t length = strcspn(p, ",");
    const bool kind = !strncmp(p, "kind=", 5);
    *filter = p[length] ? p + length + 1 : NULL;
    *t = (term){.of = kind ? KIND : NAME};
    snprintf(t->glob, sizeof t->glob, "%.*s", (int)length - 5 * kind, p + 5 * kind);
    *valid = *t->glob && length < sizeof t->glob;
    if (!kind && strpbrk(t->glob, "<>=")) *valid = *valid && read_bound(t);
    return true;
}

bool filter_is_valid(const char *filter)
{
    const char *p = filter;
    term t;
    bool valid = *filter != '\0';
    while (valid && next_term(&p, &t, &valid)) continue;
    return valid;
}

bool filter_takes_name(const char *filter, const char *name)
{
    const char *slash = strrchr(name, '/');
    term t;
    bool valid, any = false;
    while (next_term(&filter, &t, &valid)) {
        if (t.of != NAME) continue;
        any = true;
        if (!fnmatch(t.glob, name, 0) || (slash && !fnmatch(t.glob, slash + 1, 0))) return true;
    }
    return !any;
}

static bool holds(const term *t, double value)
{
    if (value == t->bound) return (t->holds & EQUAL) != 0;
    return (t->holds & (value < t->bound ? LESS : MORE)) != 0;
}

static bool is_kind(const char *glob, const trs_mm *mm)
{
    return !fnmatch(glob, mm->problem, 0) || !fnmatch(glob, field_name(mm->field), 0) ||
           !fnmatch(glob, symmetry_name(mm->symmetry), 0);
}

bool filter_takes_matrix(const char *filter, const trs_mm *mm)
{
    /* what is made has no lines of a file */
    const int64_t stored = mm->stored ? mm->stored : mm->nnz;
    term t;
    bool valid, kinds = false, kind = false;
    while (next_term(&filter, &t, &valid)) {
        if (t.of == KIND) kinds = true, kind = kind || is_kind(t.glob, mm);
        if (t.of >= ROWS && !holds(&t, (double)(t.of == ROWS ? mm->rows : stored))) return false;
    }
    return kind || !kinds;
}
