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
#include <stdlib.h>
#include <string.h>

typedef struct term {
    char glob[256];
    const char *of; /* "n", "nnz", "kind"; NULL: the name */
    char op[3];     /* of n and nnz, with: */
    double bound;
} term;

/* Reads "n<=1e6" when `of` is "n"; false: the text is no such bound. */
static bool read_bound(const char *text, const char *of, term *t)
{
    const size_t length = strlen(of);
    if (strncmp(text, of, length)) return false;
    const char *p = text + length;
    const size_t signs = strspn(p, "<>=");
    if (signs < 1 || signs > 2) return false;
    memcpy(t->op, p, signs);
    t->op[signs] = '\0';
    char *end;
    t->bound = strtod(p + signs, &end);
    t->of = of;
    return end > p + signs && !*end && (t->op[0] != '=' || signs == 1) &&
           (signs == 1 || t->op[1] == '=');
}

/* Takes the next term off the filter; false: there is none.  *valid: it can be understood. */
static bool next_term(const char **filter, term *t, bool *valid)
{
    const char *p = *filter;
    if (!p || !*p) return false;
    const size_t length = strcspn(p, ",");
    *filter = p[length] ? p + length + 1 : NULL;
    *t = (term){.of = NULL};
    *valid = length > 0 && length < sizeof t->glob;
    if (!*valid) return true;
    memcpy(t->glob, p, length);
    t->glob[length] = '\0';
    if (!strncmp(t->glob, "kind=", 5)) {
        memmove(t->glob, t->glob + 5, length - 4);
        t->of = "kind";
        *valid = length > 5;
        return true;
    }
    if (!strpbrk(t->glob, "<>=")) return true;
    *valid = read_bound(t->glob, "nnz", t) || read_bound(t->glob, "n", t);
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
        if (t.of) continue;
        any = true;
        if (!fnmatch(t.glob, name, 0) || (slash && !fnmatch(t.glob, slash + 1, 0))) return true;
    }
    return !any;
}

static bool holds(const term *t, double value)
{
    const bool equal = t->op[1] == '=' || t->op[0] == '=';
    if (value == t->bound) return equal;
    if (t->op[0] == '<') return value < t->bound;
    return t->op[0] == '>' && value > t->bound;
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
        if (!t.of) continue;
        if (!strcmp(t.of, "kind")) kinds = true, kind = kind || is_kind(t.glob, mm);
        else if (!holds(&t, (double)(strcmp(t.of, "n") ? stored : mm->rows))) return false;
    }
    return kind || !kinds;
}
