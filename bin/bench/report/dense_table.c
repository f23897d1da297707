/* dense_table.c: the screen of --dense: a table for each family, triangles and general matrices,
 * with a line for each solver and a column for each size. */
#include "config.h"

#include "report.h"
#include "screen.h"
#include "text.h"

#include "bin/common/exits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char legend[] =
    "Times are in ms: medians, warm, of getting x where the matrix, b and x are already there: the "
    "solve,\n"
    "and in LU the factorisation before it.  What that takes from host arrays on top:\n"
    "  allocate, copy   memory for A, b, x on the device; A, b there and x back\n"
    "  error            the largest over the sizes: componentwise, N: normwise\n"
    "  growth           largest of U over largest of A\n";

static int begin(const report *p)
{
    print_host(&p->session->host);
    fputs(legend, stdout);
    if (p->settings->device == TRS_HOST)
        printf("No GPU (%s): the solvers of the CPU alone, nothing to allocate or to copy.\n",
               p->session->host.gpu);
    return EXIT_GOOD;
}

static int add(const report *p, const result *r)
{
    (void)p;
    if (*r->trouble) printf("\n%s: %s\n", r->name, r->trouble);
    return EXIT_GOOD;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The sizes of a family: they follow each other. */
static result_list find_family(const result_list *all, bool triangle)
{
    const result *end = all->r + all->count;
    result_list f = {.r = all->r};
    while (f.r < end && is_triangle(f.r) != triangle) f.r++;
    while (f.r + f.count < end && is_triangle(f.r + f.count) == triangle) f.count++;
    return f;
}

/* NULL: k < 0, or the size was refused. */
static const cell *cell_at(const result *r, int k)
{
    return k >= 0 && k < r->count ? &r->cells[k] : NULL;
}

/* Prints a number for each size, of cell k; with a reference over that solver's. */
static void print_line(const result_list *family, const char *name, int k, quantity what,
                       const char *reference)
{
    printf("  %-22s", name);
    for (const result *r = family->r; r < family->r + family->count; r++) {
        const double of = reference ? quantity_of(r, find_cell(r, reference, 0), what) : 1;
        print_number(quantity_of(r, cell_at(r, k), what) / of);
    }
}

/* Prints the largest error and growth of cell k over the sizes. */
static void print_errors(const result_list *family, int k)
{
    double error = NAN, growth = 0;
    bool normwise = false, accurate = true;
    for (const result *r = family->r; r < family->r + family->count; r++) {
        const cell *c = cell_at(r, k);
        if (!c || c->status) continue;
        normwise = promises_normwise(c);
        error = fmax(error, promised_error(c));
        growth = fmax(growth, c->info.growth);
        accurate = accurate && c->accurate;
    }
    if (!isnan(error)) printf("  %8.1e%s", error, normwise ? "N" : " ");
    if (growth > 0) printf(" %7.2g", growth);
    if (!accurate) printf("  INACCURATE");
}

static const char *cell_name(const cell *c, char *name, size_t size)
{
    if (c->block) snprintf(name, size, "%s/%d", c->solver.name, c->block);
    else snprintf(name, size, "%s", c->solver.name);
    return name;
}

/* Says why there are numbers missing, each reason once. */
static void print_reasons(const result_list *family, int k)
{
    const char *last = "";
    char name[80];
    for (const result *r = family->r; r < family->r + family->count; r++) {
        const cell *c = cell_at(r, k);
        if (!c || !c->status || !strcmp(last, c->message)) continue;
        printf("  - %s, n %" PRId64 ": %s\n", cell_name(c, name, sizeof name), r->n, c->message);
        last = c->message;
    }
}

/* The first of the names that ran somewhere; NULL: none. */
static const char *find_reference(const result_list *family, const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; i < family->count; i++)
            if (find_cell(&family->r[i], *names, 0)) return *names;
    return NULL;
}

/* ---- a family -------------------------------------------------------------------------------- */

static void print_lines(const result_list *family, const result *first, const char *reference)
{
    char name[80];
    for (int k = 0; k < first->count; k++) {
        cell_name(&first->cells[k], name, sizeof name);
        print_line(family, name, k, SOLVE_MS, reference);
        if (!reference) print_errors(family, k);
        puts("");
    }
}

static void print_family(const settings *s, const result_list *all, bool triangle)
{
    static const char *const references[2][4] = {{"cusolver-getrf", "lapack-getrf", "lu-serial"},
                                                 {"cublas-dense", "dense-serial", "cpu-serial"}};
    const result_list family = find_family(all, triangle);
    const char *reference = find_reference(&family, references[triangle]);
    const result *first = first_solved(&family);
    const bool gpu = s->device != TRS_HOST;
    if (!first) return;
    printf("\n%-24s", triangle ? "Triangles" : "LU and Gauss");
    for (int i = 0; i < family.count; i++) printf(" %9" PRId64, family.r[i].n);
    puts(triangle ? "     error" : "     error  growth");
    print_lines(&family, first, NULL);
    if (gpu) print_line(&family, "(allocate)", -1, ALLOC_MS, NULL), puts("");
    if (gpu) print_line(&family, "(copy)", -1, COPY_MS, NULL), puts("");
    for (int k = 0; k < first->count; k++) print_reasons(&family, k);
    if (reference) printf("Over %s (below 1: faster)\n", reference);
    if (reference) print_lines(&family, first, reference);
    if (triangle || !gpu) return;
    print_line(&family, "fullgrid / submatrix", -1, SUBMATRIX_RATIO, NULL);
    puts("   (to factor; the paper has 23)");
}

static int end(const report *p)
{
    print_family(p->settings, p->all, true);
    print_family(p->settings, p->all, false);
    return EXIT_GOOD;
}

const reporter reporter_dense = {begin, add, end};
